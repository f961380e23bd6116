/* The builtin module _mayfly_shim: what the bootstrap asks of the shim. */
#include "shim.h"
#include "table.h"

#include <stdlib.h>

__attribute__((import_module("mayfly"), import_name("host_call"))) int64_t mayfly_host_call(const uint8_t *data,
                                                                                           uint32_t len);
__attribute__((import_module("mayfly"), import_name("host_read"))) void mayfly_host_read(uint8_t *data);

static PyObject *source(PyObject *self, PyObject *unused)
{
    if (call.code == NULL) {
        return PyUnicode_FromString("");
    }
    return PyUnicode_DecodeUTF8(call.code, (Py_ssize_t)call.code_len, "replace");
}

static PyObject *granted(PyObject *self, PyObject *unused)
{
    return PyBool_FromLong(call.host_calls);
}

/* host_call(request) -> (ok, text), or (None, (reason, path)) when the request
 * has no JSON form. */
static PyObject *host_call(PyObject *self, PyObject *message)
{
    if (!call.host_calls) {
        PyErr_SetString(PyExc_PermissionError, "this call may not call host tools");
        return NULL;
    }
    buffer out = {0};
    refusal why = {0};
    switch (json_write(&out, message, call.max_depth, &why)) {
    case JSON_DONE:
        break;
    case JSON_REFUSED:
        free(out.data);
        return Py_BuildValue("(O(NN))", Py_None, why.reason, why.path);
    case JSON_RAISED:
        free(out.data);
        return NULL;
    }
    int64_t result = mayfly_host_call(out.data, (uint32_t)out.len);
    free(out.data);
    size_t len = (uint32_t)result;
    uint8_t *text = malloc(len + 1);
    if (text == NULL) {
        return PyErr_NoMemory();
    }
    mayfly_host_read(text);
    PyObject *string = PyUnicode_DecodeUTF8((const char *)text, (Py_ssize_t)len, "replace");
    free(text);
    return string == NULL ? NULL : Py_BuildValue("(NN)", PyBool_FromLong(result >> 32 & 1), string);
}

/* json(value) -> str, TypeError when it has no JSON form. */
static PyObject *json(PyObject *self, PyObject *value)
{
    buffer out = {0};
    refusal why = {0};
    PyObject *text = NULL;
    switch (json_write(&out, value, call.max_depth, &why)) {
    case JSON_DONE:
        text = PyUnicode_DecodeUTF8((const char *)out.data, (Py_ssize_t)out.len, NULL);
        break;
    case JSON_REFUSED:
        PyErr_SetObject(PyExc_TypeError, why.reason);
        break;
    case JSON_RAISED:
        break;
    }
    free(out.data);
    return text;
}

static PyMethodDef methods[] = {
    {"json", json, METH_O, PyDoc_STR("The JSON text of a value.")},
    {"source", source, METH_NOARGS, PyDoc_STR("The source of this call.")},
    {"granted", granted, METH_NOARGS, PyDoc_STR("Whether host tools may be called.")},
    {"host_call", host_call, METH_O, PyDoc_STR("Calls a host tool.")},
    {"sql_prepare", sql_prepare, METH_O, PyDoc_STR("Adds statistics to a connection of sqlite3.")},
    {"sql_bind", sql_bind, METH_VARARGS, PyDoc_STR("Makes rows a table of a connection.")},
    {"sql_unbind", sql_unbind, METH_VARARGS, PyDoc_STR("Takes a table away again.")},
    {"sql_records", sql_records, METH_VARARGS, PyDoc_STR("Dicts for rows.")},
    {0},
};

static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_mayfly_shim",
    .m_methods = methods,
};

PyObject *module_init(void)
{
    return PyModuleDef_Init(&definition);
}
