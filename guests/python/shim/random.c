/* A snapshot holds the state of the random generators that were made with it,
 * so every instance would draw the same numbers. They are seeded again in the
 * call that first uses one. Doing so only then costs the other calls neither
 * time nor memory, and cannot be missed: a generator's state is reached
 * through five C functions, whose table entries are replaced here. */
#include "shim.h"

#include <string.h>

#define MAX_GENERATORS 8

static struct {
    const char *name;
    int kind;
    PyCFunction original;
} methods[] = {
    {"random", METH_NOARGS, NULL},   {"getrandbits", METH_O, NULL}, {"getstate", METH_NOARGS, NULL},
    {"setstate", METH_O, NULL},      {"seed", METH_FASTCALL, NULL},
};

enum { RANDOM, GETRANDBITS, GETSTATE, SETSTATE, SEED };

static PyTypeObject *generator_type;
static PyObject *generators[MAX_GENERATORS];
static size_t generator_count;
static bool stale;

static bool reseed(void)
{
    stale = false;
    for (size_t i = 0; i < generator_count; i++) {
        PyObject *done = ((PyCFunctionFast)(void (*)(void))methods[SEED].original)(generators[i], NULL, 0);
        if (done == NULL) {
            return false;
        }
        Py_DECREF(done);
    }
    return true;
}

static PyObject *call_plain(int method, PyObject *self, PyObject *arg)
{
    if (stale && !reseed()) {
        return NULL;
    }
    return methods[method].original(self, arg);
}

static PyObject *hooked_random(PyObject *self, PyObject *arg)
{
    return call_plain(RANDOM, self, arg);
}

static PyObject *hooked_getrandbits(PyObject *self, PyObject *arg)
{
    return call_plain(GETRANDBITS, self, arg);
}

static PyObject *hooked_getstate(PyObject *self, PyObject *arg)
{
    return call_plain(GETSTATE, self, arg);
}

static PyObject *hooked_setstate(PyObject *self, PyObject *arg)
{
    return call_plain(SETSTATE, self, arg);
}

static PyObject *hooked_seed(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    if (stale && !reseed()) {
        return NULL;
    }
    return ((PyCFunctionFast)(void (*)(void))methods[SEED].original)(self, args, count);
}

static int find_generator(PyObject *object, void *found)
{
    if (PyObject_TypeCheck(object, generator_type)) {
        if (generator_count == MAX_GENERATORS) {
            *(bool *)found = false;
            return 0;
        }
        generators[generator_count++] = Py_NewRef(object);
    }
    return 1;
}

bool random_arm(void)
{
    static const PyCFunction hooks[] = {
        hooked_random, hooked_getrandbits, hooked_getstate, hooked_setstate, (PyCFunction)(void (*)(void))hooked_seed,
    };
    PyObject *module = PyImport_ImportModule("_random");
    PyObject *type = module == NULL ? NULL : PyObject_GetAttrString(module, "Random");
    if (type == NULL) {
        return false;
    }
    generator_type = (PyTypeObject *)type;
    for (size_t i = 0; i < Py_ARRAY_LENGTH(methods); i++) {
        PyObject *descriptor = PyObject_GetAttrString(type, methods[i].name);
        if (descriptor == NULL) {
            return false;
        }
        PyMethodDef *entry = ((PyMethodDescrObject *)descriptor)->d_method;
        if (!Py_IS_TYPE(descriptor, &PyMethodDescr_Type) || entry->ml_flags != methods[i].kind) {
            PyErr_Format(PyExc_SystemError, "_random.Random.%s is not what random.c replaces", methods[i].name);
            return false;
        }
        methods[i].original = entry->ml_meth;
        entry->ml_meth = hooks[i];
    }
    bool all = true;
    PyUnstable_GC_VisitObjects(find_generator, &all);
    if (!all) {
        PyErr_SetString(PyExc_SystemError, "the image holds more random generators than random.c has room for");
    }
    stale = true;
    return all;
}
