/* print() for streams that are not buffered.
 *
 * Standard output is not, so that a call which is stopped loses none of it;
 * but CPython's print() writes each argument, each separator and the end by
 * itself. This one joins what a call of it prints and writes that once. For
 * anything unusual it leaves the work to CPython's. */
#define Py_BUILD_CORE 1
#include "shim.h"

#include "pycore_interp.h"
#include "pycore_pystate.h"

/* Longer texts are not worth a copy. */
#define JOIN_UP_TO 65536

static PyObject *original, *standard_output, *name_stdout, *name_write, *name_flush;

typedef struct {
    PyObject *sep, *end, *flush; /* NULL for the default */
} options;

/* False when the call is not for us. */
static bool read_options(PyObject *const *values, PyObject *names, options *o)
{
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_GET_SIZE(names); i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i), *value = values[i];
        PyObject **option;
        if (PyUnicode_EqualToUTF8(name, "sep")) {
            option = &o->sep;
        } else if (PyUnicode_EqualToUTF8(name, "end")) {
            option = &o->end;
        } else if (PyUnicode_EqualToUTF8(name, "flush")) {
            o->flush = value;
            continue;
        } else if (PyUnicode_EqualToUTF8(name, "file") && value == Py_None) {
            continue;
        } else {
            return false;
        }
        if (value != Py_None) {
            if (!PyUnicode_CheckExact(value)) {
                return false;
            }
            *option = value;
        }
    }
    return true;
}

static bool join(_PyUnicodeWriter *text, PyObject *const *args, Py_ssize_t count, const options *o)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        if (i > 0 && (o->sep == NULL ? _PyUnicodeWriter_WriteChar(text, ' ')
                                     : _PyUnicodeWriter_WriteStr(text, o->sep)) < 0) {
            return false;
        }
        PyObject *part = PyObject_Str(args[i]);
        if (part == NULL) {
            return false;
        }
        int failed = _PyUnicodeWriter_WriteStr(text, part);
        Py_DECREF(part);
        if (failed) {
            return false;
        }
    }
    return (o->end == NULL ? _PyUnicodeWriter_WriteChar(text, '\n') : _PyUnicodeWriter_WriteStr(text, o->end)) == 0;
}

static PyObject *print(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    options o = {0};
    PyObject *stream = PyDict_GetItemWithError(_PyInterpreterState_GET()->sysdict, name_stdout);
    bool ours = stream == standard_output && read_options(args + count, names, &o);
    for (Py_ssize_t i = 0; ours && i < count; i++) {
        ours = !PyUnicode_Check(args[i]) || PyUnicode_GET_LENGTH(args[i]) < JOIN_UP_TO;
    }
    if (!ours) {
        return PyObject_Vectorcall(original, args, (size_t)count, names);
    }

    _PyUnicodeWriter writer;
    _PyUnicodeWriter_Init(&writer);
    writer.overallocate = 1;
    bool complete = join(&writer, args, count, &o);
    /* What comes before an argument that cannot be printed is printed. */
    PyObject *raised = PyErr_GetRaisedException();
    PyObject *text = _PyUnicodeWriter_Finish(&writer);
    PyObject *done = NULL;
    if (text != NULL) {
        done = PyUnicode_GET_LENGTH(text) == 0 ? Py_NewRef(Py_None)
                                               : PyObject_CallMethodOneArg(stream, name_write, text);
        Py_DECREF(text);
    }
    if (!complete) {
        Py_XDECREF(done);
        PyErr_Clear();
        PyErr_SetRaisedException(raised);
        return NULL;
    }
    if (done == NULL) {
        return NULL;
    }
    Py_DECREF(done);
    if (o.flush != NULL) {
        int flush = PyObject_IsTrue(o.flush);
        if (flush < 0) {
            return NULL;
        }
        if (flush) {
            done = PyObject_CallMethodNoArgs(stream, name_flush);
            if (done == NULL) {
                return NULL;
            }
            Py_DECREF(done);
        }
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(print_doc, "print($module, /, *args, sep=\' \', end=\'\\n\', file=None, flush=False)\n--\n\n"
                        "Writes the arguments as text, to a stream or to sys.stdout.");

bool print_install(PyObject *stdout_stream)
{
    static PyMethodDef definition = {
        "print", (PyCFunction)(void (*)(void))print, METH_FASTCALL | METH_KEYWORDS, print_doc,
    };
    PyObject *builtins = PyImport_ImportModule("builtins");
    PyObject *module_name = PyUnicode_InternFromString("builtins");
    original = builtins == NULL ? NULL : PyObject_GetAttrString(builtins, "print");
    standard_output = Py_NewRef(stdout_stream);
    name_stdout = PyUnicode_InternFromString("stdout");
    name_write = PyUnicode_InternFromString("write");
    name_flush = PyUnicode_InternFromString("flush");
    if (original == NULL || module_name == NULL || name_stdout == NULL || name_write == NULL || name_flush == NULL) {
        return false;
    }
    PyObject *function = PyCFunction_NewEx(&definition, builtins, module_name);
    return function != NULL && PyObject_SetAttrString(builtins, "print", function) == 0;
}
