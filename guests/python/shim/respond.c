/* Responses: a value or one of the ways to have none. */
#include "shim.h"

#include <stdlib.h>
#include <string.h>

enum { RESPONSE_KIND = 1, RESPONSE_VALUE, RESPONSE_ERROR, RESPONSE_DROPPED };
enum { KIND_VALUE, KIND_RAISED, KIND_REFUSED, KIND_NO_MEMORY };

/* Given back when an allocation fails, so that the failure can be reported.
 * Its pages are never touched, so it costs address space only. */
#define BALLAST (512 * 1024)
static void *ballast;

bool respond_prepare(void)
{
    ballast = malloc(BALLAST);
    return ballast != NULL;
}

/* Writes an error object without the help of Python code. */
static bool write_plain_error(buffer *out, const char *type, const char *message)
{
    return buffer_literal(out, "{\"type\":\"") && buffer_write(out, type, strlen(type)) &&
           buffer_literal(out, "\",\"message\":\"") && buffer_write(out, message, strlen(message)) &&
           buffer_literal(out, "\"}");
}

static bool write_exception(buffer *out, PyObject *exception)
{
    size_t start = out->len;
    PyObject *error = PyObject_CallOneArg(boot.describe, exception);
    if (error != NULL) {
        refusal why = {0};
        if (json_write(out, error, 4, &why) == JSON_DONE) {
            return true;
        }
    }
    PyErr_Clear();
    out->len = start;
    /* A type's name is checked by nothing; only a plain one is repeated. */
    const char *type = Py_TYPE(exception)->tp_name;
    for (const char *c = type; *c; c++) {
        if (!Py_ISALNUM(*c) && *c != '_' && *c != '.') {
            type = "Exception";
            break;
        }
    }
    return write_plain_error(out, type, "");
}

static uint64_t respond_error(buffer *out, uint32_t kind, PyObject *exception)
{
    size_t start = out->len, section;
    for (int attempt = 0; attempt < 2; attempt++) {
        out->len = start;
        if (section_put(out, RESPONSE_KIND, &kind, sizeof kind) && section_begin(out, RESPONSE_ERROR, &section) &&
            (exception != NULL && attempt == 0 ? write_exception(out, exception)
                                               : write_plain_error(out, "MemoryError", "")) &&
            section_end(out, section)) {
            return message_result(out);
        }
        PyErr_Clear();
        kind = KIND_NO_MEMORY;
    }
    return 0;
}

void respond_make_room(void)
{
    free(ballast);
    ballast = NULL;
}

/* Whether an exception means that memory ran out. A MemoryError with a text is
 * the parser's, for a source too deeply nested, or user code's own; and when no
 * memory is left at all, CPython may have been unable to raise one. */
static bool is_no_memory(PyObject *exception)
{
    if (PyErr_GivenExceptionMatches(exception, PyExc_MemoryError)) {
        PyObject *args = ((PyBaseExceptionObject *)exception)->args;
        return memory_ran_out || args == NULL || PyTuple_GET_SIZE(args) == 0;
    }
    return memory_ran_out && PyErr_GivenExceptionMatches(exception, PyExc_SystemError);
}

/* Takes the reference and gives one, to the same exception if need be. */
static PyObject *as_memory_error(PyObject *exception)
{
    if (PyErr_GivenExceptionMatches(exception, PyExc_MemoryError)) {
        return exception;
    }
    PyObject *error = PyObject_CallNoArgs(PyExc_MemoryError);
    PyObject *traceback = PyException_GetTraceback(exception);
    if (error == NULL || (traceback != NULL && PyException_SetTraceback(error, traceback) < 0)) {
        PyErr_Clear();
        Py_XDECREF(error);
        error = Py_NewRef(exception);
    }
    Py_XDECREF(traceback);
    Py_DECREF(exception);
    return error;
}

/* Answers for the exception that is set. */
uint64_t respond_raised(buffer *out)
{
    PyObject *exception = PyErr_GetRaisedException();
    uint32_t kind = KIND_RAISED;
    if (is_no_memory(exception)) {
        kind = KIND_NO_MEMORY;
        respond_make_room();
        exception = as_memory_error(exception);
    }
    return respond_error(out, kind, exception);
}

static uint64_t respond_refused(buffer *out, size_t start, refusal why)
{
    size_t section;
    uint32_t kind = KIND_REFUSED;
    PyObject *error = Py_BuildValue("{sssOsO}", "type", "ConversionError", "message", why.reason, "path", why.path);
    out->len = start;
    if (error == NULL) {
        return respond_raised(out);
    }
    if (section_put(out, RESPONSE_KIND, &kind, sizeof kind) && section_begin(out, RESPONSE_ERROR, &section) &&
        json_write(out, error, 1, &why) == JSON_DONE && section_end(out, section)) {
        return message_result(out);
    }
    out->len = start;
    return respond_error(out, KIND_NO_MEMORY, NULL);
}

uint64_t respond_value(buffer *out, PyObject *value)
{
    size_t start = out->len, section;
    uint32_t kind = KIND_VALUE;
    refusal why = {0};
    if (section_put(out, RESPONSE_KIND, &kind, sizeof kind) && section_begin(out, RESPONSE_VALUE, &section)) {
        buffer_bound(out, call.max_value);
        json_status status = json_write(out, value, call.max_depth, &why);
        buffer_unbound(out);
        switch (status) {
        case JSON_DONE:
            if (section_end(out, section) &&
                (out->dropped == 0 || section_put(out, RESPONSE_DROPPED, &out->dropped, sizeof out->dropped))) {
                return message_result(out);
            }
            break;
        case JSON_REFUSED:
            return respond_refused(out, start, why);
        case JSON_RAISED:
            out->len = start;
            return respond_raised(out);
        }
    }
    out->len = start;
    PyErr_NoMemory();
    return respond_raised(out);
}
