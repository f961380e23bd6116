/* Gives Python its frozen standard library, and the module _mayfly_data: the
   data files that go with it, which have no file system to live in. */
#include "frozen.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *name, const void *file)
{
    return strcmp(name, ((const struct mayfly_file *)file)->name);
}

static PyObject *data_get(PyObject *Py_UNUSED(module), PyObject *arg)
{
    if (!PyUnicode_Check(arg)) {
        PyErr_SetString(PyExc_TypeError, "get() takes the name of a data file");
        return NULL;
    }
    Py_ssize_t length;
    const char *name = PyUnicode_AsUTF8AndSize(arg, &length);
    if (name == NULL) {
        /* A lone surrogate: no file is called that. */
        if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
            return NULL;
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    if (strlen(name) != (size_t)length)
        Py_RETURN_NONE;
    const struct mayfly_file *file =
        bsearch(name, mayfly_files, mayfly_files_len, sizeof mayfly_files[0], compare);
    if (file == NULL)
        Py_RETURN_NONE;
    return PyBytes_FromStringAndSize((const char *)file->data, file->size);
}

static PyObject *data_names(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    PyObject *names = PyTuple_New(mayfly_files_len);
    if (names == NULL)
        return NULL;
    for (unsigned i = 0; i < mayfly_files_len; i++) {
        PyObject *name = PyUnicode_FromString(mayfly_files[i].name);
        if (name == NULL) {
            Py_DECREF(names);
            return NULL;
        }
        PyTuple_SET_ITEM(names, i, name);
    }
    return names;
}

static PyMethodDef data_methods[] = {
    {"get", data_get, METH_O, "get(name): the bytes of a data file, or None."},
    {"names", data_names, METH_NOARGS, "names(): the names of all data files, sorted."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef data_module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_mayfly_data",
    .m_doc = "Data files that belong to the frozen standard library.",
    .m_size = 0,
    .m_methods = data_methods,
};

static PyObject *init_data(void)
{
    return PyModuleDef_Init(&data_module);
}

int mayfly_frozen_install(void)
{
    PyImport_FrozenModules = mayfly_frozen;
    return PyImport_AppendInittab("_mayfly_data", init_data);
}
