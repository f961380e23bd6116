/* Gives Python its frozen standard library, and the module _mayfly_data: the
   time zones and the packages, which have no file system to live in. */
#include "frozen.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *name, const void *file)
{
    return strcmp(name, ((const struct mayfly_file *)file)->name);
}

/* find gives 1 and the file of that name; 0: there is none; -1: an exception. */
static int find(const struct mayfly_files *in, PyObject *arg, const struct mayfly_file **file)
{
    if (!PyUnicode_Check(arg)) {
        PyErr_SetString(PyExc_TypeError, "a name is a str");
        return -1;
    }
    Py_ssize_t length;
    const char *name = PyUnicode_AsUTF8AndSize(arg, &length);
    if (name == NULL) {
        /* A lone surrogate: no file is called that. */
        if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
            return -1;
        PyErr_Clear();
        return 0;
    }
    if (strlen(name) != (size_t)length)
        return 0;
    *file = bsearch(name, in->files, in->count, sizeof in->files[0], compare);
    return *file != NULL;
}

static PyObject *get(const struct mayfly_files *in, PyObject *arg)
{
    const struct mayfly_file *file;
    int found = find(in, arg, &file);
    if (found < 0)
        return NULL;
    if (!found)
        Py_RETURN_NONE;
    return PyBytes_FromStringAndSize((const char *)file->data, file->size);
}

static PyObject *names(const struct mayfly_files *in)
{
    PyObject *all = PyTuple_New(in->count);
    if (all == NULL)
        return NULL;
    for (unsigned i = 0; i < in->count; i++) {
        PyObject *name = PyUnicode_FromString(in->files[i].name);
        if (name == NULL) {
            Py_DECREF(all);
            return NULL;
        }
        PyTuple_SET_ITEM(all, i, name);
    }
    return all;
}

static PyObject *data_get(PyObject *Py_UNUSED(module), PyObject *arg)
{
    return get(&mayfly_zones, arg);
}

static PyObject *data_names(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return names(&mayfly_zones);
}

static PyObject *data_file(PyObject *Py_UNUSED(module), PyObject *arg)
{
    return get(&mayfly_package_files, arg);
}

static PyObject *data_files(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return names(&mayfly_package_files);
}

static PyObject *data_modules(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return names(&mayfly_packages);
}

static PyObject *data_kind(PyObject *Py_UNUSED(module), PyObject *arg)
{
    const struct mayfly_file *file;
    int found = find(&mayfly_packages, arg, &file);
    if (found < 0)
        return NULL;
    if (!found)
        Py_RETURN_NONE;
    return PyBool_FromLong(file->is_package);
}

static PyObject *data_code(PyObject *Py_UNUSED(module), PyObject *arg)
{
    return get(&mayfly_packages, arg);
}

static PyMethodDef data_methods[] = {
    {"get", data_get, METH_O, "get(name): the bytes of a time zone, or None."},
    {"names", data_names, METH_NOARGS, "names(): the names of all time zones, sorted."},
    {"kind", data_kind, METH_O, "kind(name): of a packages' module, whether it is a package itself; None: no such module."},
    {"code", data_code, METH_O, "code(name): a packages' module, marshalled and compressed, or None."},
    {"modules", data_modules, METH_NOARGS, "modules(): the names of all modules of packages, sorted."},
    {"file", data_file, METH_O, "file(name): a packages' data file, compressed, or None."},
    {"files", data_files, METH_NOARGS, "files(): the names of all data files of packages, sorted."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef data_module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_mayfly_data",
    .m_doc = "What Python finds in files elsewhere: time zones, and the packages.",
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
