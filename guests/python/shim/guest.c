/* The exports of the guest ABI, and the course of one call. */
#define Py_BUILD_CORE 1
#include "shim.h"

#include "pycore_interp.h"
#include "pycore_pystate.h"

#include <stdlib.h>
#include <string.h>

#define ABI 2u
#define DEFAULT_MAX_DEPTH 64u
/* The encoder recurses once for each level; this many fit its stack. */
#define MAX_MAX_DEPTH 10000u

enum { CONFIG_ABI = 1, CONFIG_TAGS = CONFIG_ABI };
enum { INFO_ABI = 1, INFO_LANGUAGE, INFO_VERSION, INFO_SCRATCH };
enum { REQUEST_CODE = 1, REQUEST_NAME, REQUEST_GLOBALS, REQUEST_OPTIONS, REQUEST_TAGS = REQUEST_OPTIONS };
enum { OPTION_HOST_CALLS = 1 };

/* A small call lives here: its request, and behind that its response, so that
 * both dirty one page. */
static _Alignas(4096) uint8_t scratch[64 * 1024];
/* What is said to fit leaves room for the response and a terminating NUL. */
#define SCRATCH_REQUEST (sizeof scratch - 4096)

bootstrap boot;
request call;

static PyObject *main_dict, *default_name;
/* What finish() compares with: how things were before user code ran. */
static struct {
    PyObject *name, *stream;
} streams[2];
static PyObject *log_handlers;
static Py_ssize_t log_handler_count;

__attribute__((export_name("mayfly_alloc"))) void *mayfly_alloc(uint32_t len)
{
    /* One more byte: the code is NUL-terminated where it lies. */
    return len < INT32_MAX ? malloc((size_t)len + 1) : NULL;
}

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

static bool read_request(uint8_t *data, uint32_t len, section *sections)
{
    if (!message_read(data, len, sections, REQUEST_TAGS)) {
        return false;
    }
    section code = sections[REQUEST_CODE - 1], options = sections[REQUEST_OPTIONS - 1];
    if (code.data == NULL) {
        return false;
    }
    call.max_depth = DEFAULT_MAX_DEPTH;
    call.max_value = UINT64_MAX;
    if (options.data != NULL) {
        uint32_t flags;
        if (options.len != 16) {
            return false;
        }
        memcpy(&call.max_depth, options.data, 4);
        memcpy(&flags, options.data + 4, 4);
        memcpy(&call.max_value, options.data + 8, 8);
        if (call.max_depth > MAX_MAX_DEPTH || flags & ~(uint32_t)OPTION_HOST_CALLS) {
            return false;
        }
        call.host_calls = flags & OPTION_HOST_CALLS;
    }
    /* The byte behind the code is padding, or the tag of a section that has
     * been read already, or the byte that mayfly_alloc adds. */
    code.data[code.len] = 0;
    call.code = (const char *)code.data;
    call.code_len = code.len;
    return true;
}

static PyObject *source_name(section name)
{
    if (name.data == NULL) {
        return default_name;
    }
    PyObject *text = PyUnicode_DecodeUTF8((const char *)name.data, name.len, "replace");
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
static uint64_t run(buffer *out, PyObject *name, section globals)
{
    PyObject *value = NULL;
    if (globals.data == NULL || globals_load(main_dict, globals.data, globals.len)) {
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
    section sections[REQUEST_TAGS] = {0};
    if (main_dict == NULL || !read_request(data, len, sections)) {
        return 0;
    }
    buffer out = {0};
    if (data == scratch && len <= SCRATCH_REQUEST) {
        uint32_t used = (len + 1 + MESSAGE_ALIGN - 1) & ~(MESSAGE_ALIGN - 1);
        out = (buffer){.data = scratch + used, .cap = sizeof scratch - used};
    } else {
        out = (buffer){.data = scratch, .cap = sizeof scratch};
    }
    PyObject *name = source_name(sections[REQUEST_NAME - 1]);
    if (name == NULL) {
        end_user_code();
        return respond_raised(&out);
    }
    return run(&out, name, sections[REQUEST_GLOBALS - 1]);
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
            call.code = PyUnicode_AsUTF8AndSize(PyTuple_GET_ITEM(boot.samples, i), &len);
            if (call.code == NULL) {
                return false;
            }
            call.code_len = (size_t)len;
            call.max_depth = DEFAULT_MAX_DEPTH;
            call.max_value = UINT64_MAX;
            buffer out = {.data = scratch, .cap = sizeof scratch};
            if (run(&out, default_name, (section){0}) == 0) {
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
    call = (request){0};
    memset(scratch, 0, sizeof scratch);
    return true;
}

static bool init(void)
{
    return interp_start() && bind_main() && bind_bootstrap() && print_install(streams[0].stream) && code_prepare() && respond_prepare() && warm_up() && random_arm() &&
           image_settle() && nursery_open();
}

__attribute__((export_name("mayfly_init"))) uint64_t mayfly_init(uint8_t *data, uint32_t len)
{
    section sections[CONFIG_TAGS] = {0};
    uint32_t abi;
    if (main_dict != NULL || !message_read(data, len, sections, CONFIG_TAGS) ||
        !section_u32(sections[CONFIG_ABI - 1], &abi) || abi != ABI) {
        return 0;
    }
    if (!init()) {
        if (PyErr_Occurred()) {
            PyErr_Print();
        }
        return 0;
    }
    static const char language[] = "python";
    uint32_t room[2] = {(uint32_t)(uintptr_t)scratch, SCRATCH_REQUEST};
    buffer info = {0};
    if (!section_put(&info, INFO_ABI, &abi, sizeof abi) ||
        !section_put(&info, INFO_LANGUAGE, language, sizeof language - 1) ||
        !section_put(&info, INFO_VERSION, PY_VERSION, sizeof PY_VERSION - 1) ||
        !section_put(&info, INFO_SCRATCH, room, sizeof room)) {
        return 0;
    }
    return message_result(&info);
}
