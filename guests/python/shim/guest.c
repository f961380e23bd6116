/* The exports of the guest ABI, and the course of one call. */
#define Py_BUILD_CORE 1
#include "shim.h"

#include "pycore_interp.h"
#include "pycore_pystate.h"


/* The encoder recurses once for each level; this many fit its stack. */
#define MAX_MAX_DEPTH 10000u

bootstrap boot;

static PyObject *main_dict, *default_name;
/* What finish() compares with: how things were before user code ran. */
static struct {
    PyObject *name, *stream;
} streams[2];
static PyObject *log_handlers;
static Py_ssize_t log_handler_count;

/* sys.exit() and sys.exit(0) end the code as its last line would. */
static bool is_clean_exit(void)
{
    if (!PyErr_ExceptionMatches(PyExc_SystemExit)) {
        return false;
    }
    PyObject *exception = PyErr_GetRaisedException();
    PyObject *code = ((PySystemExitObject *)exception)->code;
    bool clean = code == NULL || code == Py_None ||
                 (PyLong_Check(code) && PyLong_AsLong(code) == 0 && !PyErr_Occurred());
    if (clean) {
        Py_DECREF(exception);
    } else {
        PyErr_Clear();
        PyErr_SetRaisedException(exception);
    }
    return clean;
}

static PyObject *source_name(void)
{
    if (call.name == NULL) {
        return default_name;
    }
    PyObject *text = PyUnicode_DecodeUTF8(call.name, (Py_ssize_t)call.name_len, "replace");
    if (text == NULL || PyUnicode_Compare(text, default_name) == 0) {
        return text;
    }
    PyObject *done = PyObject_CallOneArg(boot.rename, text);
    if (done == NULL) {
        return NULL;
    }
    Py_DECREF(done);
    return text;
}

/* User code may have left hooks and limits that would meet the shim's own
 * work: tracing, a recursion limit of five. */
static void end_user_code(void)
{
    if (memory_ran_out) {
        respond_make_room();
    }
    PyObject *exception = PyErr_GetRaisedException();
    PyThreadState *thread = PyThreadState_Get();
    if (thread->c_tracefunc != NULL) {
        PyEval_SetTrace(NULL, NULL);
    }
    if (thread->c_profilefunc != NULL) {
        PyEval_SetProfile(NULL, NULL);
    }
    Py_SetRecursionLimit(1000);
    PyErr_Clear();
    PyErr_SetRaisedException(exception);
}

/* Whether there are exit handlers, or log handlers, or streams that user code
 * put in the place of ours. Nearly no call has any. */
static bool has_loose_ends(void)
{
    PyInterpreterState *interp = _PyInterpreterState_GET();
    for (size_t i = 0; i < Py_ARRAY_LENGTH(streams); i++) {
        if (PyDict_GetItemWithError(interp->sysdict, streams[i].name) != streams[i].stream) {
            return true;
        }
    }
    return interp->atexit.ncallbacks > 0 || PyList_GET_SIZE(log_handlers) != log_handler_count;
}

static void finish(void)
{
    if (has_loose_ends()) {
        PyObject *done = PyObject_CallNoArgs(boot.finish);
        Py_XDECREF(done);
        PyErr_Clear();
    }
}

/* Runs call.code and writes the response. */
static uint64_t run(buffer *out, PyObject *name)
{
    PyObject *value = NULL;
    if (call.globals.data == NULL || globals_load(main_dict, call.globals.data, call.globals.len)) {
        value = code_run(name, main_dict);
    }
    end_user_code();
    if (value == NULL && is_clean_exit()) {
        value = Py_NewRef(Py_None);
    }
    uint64_t response = value == NULL ? respond_raised(out) : respond_value(out, value);
    finish();
    return response;
}

__attribute__((export_name("mayfly_run"))) uint64_t mayfly_run(uint8_t *data, uint32_t len)
{
    if (main_dict == NULL || !request_read(data, len, MAX_MAX_DEPTH)) {
        return 0;
    }
    buffer out = request_room(data, len);
    PyObject *name = source_name();
    if (name == NULL) {
        end_user_code();
        return respond_raised(&out);
    }
    return run(&out, name);
}

/* Binds the bootstrap's functions. */
static bool bind_bootstrap(void)
{
    PyObject *module = PyImport_ImportModule("_mayfly.boot");
    PyObject *functions = module == NULL ? NULL : PyObject_CallMethod(module, "prepare", NULL);
    if (functions == NULL || !PyArg_ParseTuple(functions, "OOOOOO!", &boot.convert, &boot.describe, &boot.drive,
                                               &boot.rename, &boot.finish, &PyTuple_Type, &boot.samples)) {
        return false;
    }
    PyObject *logging = PyImport_ImportModule("logging");
    log_handlers = logging == NULL ? NULL : PyObject_GetAttrString(logging, "_handlerList");
    if (log_handlers == NULL || !PyList_Check(log_handlers)) {
        return false;
    }
    log_handler_count = PyList_GET_SIZE(log_handlers);
    static const char *const names[] = {"stdout", "stderr"};
    for (size_t i = 0; i < Py_ARRAY_LENGTH(streams); i++) {
        streams[i].name = PyUnicode_InternFromString(names[i]);
        streams[i].stream = Py_XNewRef(PySys_GetObject(names[i]));
        if (streams[i].name == NULL || streams[i].stream == NULL) {
            return false;
        }
    }
    return true;
}

static bool bind_main(void)
{
    default_name = PyUnicode_InternFromString("main.py");
    PyObject *module = PyImport_AddModule("__main__");
    main_dict = module == NULL ? NULL : PyModule_GetDict(module);
    return default_name != NULL && main_dict != NULL;
}

/* Runs the samples, a few times each as CPython specialises what it has run
 * more than once, and takes every trace of them out of __main__. */
static bool warm_up(void)
{
    PyObject *before = PyDict_Copy(main_dict);
    if (before == NULL) {
        return false;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(boot.samples); i++) {
        for (int round = 0; round < 4; round++) {
            Py_ssize_t len;
            const char *code = PyUnicode_AsUTF8AndSize(PyTuple_GET_ITEM(boot.samples, i), &len);
            if (code == NULL) {
                return false;
            }
            request_own(code, (size_t)len);
            buffer out = request_room(NULL, 0);
            if (run(&out, default_name) == 0) {
                PyErr_SetString(PyExc_SystemError, "a sample got no response");
                return false;
            }
            PyErr_Clear();
            PyDict_Clear(main_dict);
            if (PyDict_Update(main_dict, before) < 0) {
                return false;
            }
        }
    }
    Py_DECREF(before);
    request_end_own();
    return true;
}

static bool init(void)
{
    return interp_start() && bind_main() && bind_bootstrap() && print_install(streams[0].stream) && code_prepare() && respond_prepare() && warm_up() && random_arm() &&
           image_settle() && nursery_open();
}

__attribute__((export_name("mayfly_init"))) uint64_t mayfly_init(uint8_t *data, uint32_t len)
{
    if (main_dict != NULL || !config_read(data, len)) {
        return 0;
    }
    if (!init()) {
        if (PyErr_Occurred()) {
            PyErr_Print();
        }
        return 0;
    }
    return info_result("python", PY_VERSION);
}
