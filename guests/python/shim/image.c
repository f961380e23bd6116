/* Prepares the heap for the snapshot. Every page of the image that a call
 * writes costs a page fault and a copy, and reference counts are what Python
 * writes most: so each object of the image is made immortal, which CPython
 * takes as "never count". None of them could be freed in a call anyway, as
 * modules hold them all. */
#define Py_BUILD_CORE 1
#include "shim.h"

#include "pycore_code.h"
#include "pycore_gc.h"
#include "pycore_interp.h"
#include "pycore_object.h"
#include "pycore_pystate.h"
#include "pycore_typeobject.h"
#include "pycore_unicodeobject.h"

#include <stdlib.h>

/* The objects met so far, and those whose references are still to be followed. */
typedef struct {
    PyObject **table, **todo;
    size_t mask, count, todo_count, todo_cap;
    bool failed;
} walk;

static bool walk_grow(walk *w)
{
    size_t mask = w->mask * 2 + 1;
    PyObject **table = calloc(mask + 1, sizeof *table);
    if (table == NULL) {
        return false;
    }
    for (size_t i = 0; w->table != NULL && i <= w->mask; i++) {
        if (w->table[i] != NULL) {
            size_t at = ((uintptr_t)w->table[i] >> 3) * 2654435761u & mask;
            while (table[at] != NULL) {
                at = (at + 1) & mask;
            }
            table[at] = w->table[i];
        }
    }
    free(w->table);
    w->table = table;
    w->mask = mask;
    return true;
}

static int meet(PyObject *object, void *arg)
{
    walk *w = arg;
    if (object == NULL || w->failed) {
        return 0;
    }
    size_t at = ((uintptr_t)object >> 3) * 2654435761u & w->mask;
    for (; w->table[at] != NULL; at = (at + 1) & w->mask) {
        if (w->table[at] == object) {
            return 0;
        }
    }
    w->table[at] = object;
    if (++w->count > w->mask / 2 && !walk_grow(w)) {
        w->failed = true;
        return 0;
    }
    if (w->todo_count == w->todo_cap) {
        size_t cap = w->todo_cap * 2 + 1024;
        PyObject **todo = realloc(w->todo, cap * sizeof *todo);
        if (todo == NULL) {
            w->failed = true;
            return 0;
        }
        w->todo = todo;
        w->todo_cap = cap;
    }
    w->todo[w->todo_count++] = object;
    return 0;
}

static int meet_tracked(PyObject *object, void *arg)
{
    meet(object, arg);
    return 1;
}

static void follow(walk *w, PyObject *object)
{
    if (PyCode_Check(object)) {
        /* Code objects hold references and are not the collector's business. */
        PyCodeObject *code = (PyCodeObject *)object;
        PyObject *parts[] = {
            code->co_consts,     code->co_names,    code->co_exceptiontable, code->co_localsplusnames,
            code->co_localspluskinds, code->co_filename, code->co_name,      code->co_qualname,
            code->co_linetable,
        };
        for (size_t i = 0; i < Py_ARRAY_LENGTH(parts); i++) {
            meet(parts[i], w);
        }
    } else if (PyObject_IS_GC(object) && Py_TYPE(object)->tp_traverse != NULL) {
        Py_TYPE(object)->tp_traverse(object, meet, w);
    }
}

static void make_immortal(PyObject *object)
{
    if (_Py_IsImmortal(object)) {
        return;
    }
    if (PyUnicode_CheckExact(object) && PyUnicode_CHECK_INTERNED(object) == SSTATE_INTERNED_MORTAL) {
        ((PyASCIIObject *)object)->state.interned = SSTATE_INTERNED_IMMORTAL;
    }
    object->ob_refcnt = _Py_IMMORTAL_REFCNT;
    if (PyType_Check(object)) {
        /* Assigned at the first look-up otherwise, which writes to the type. */
        PyUnstable_Type_AssignVersionTag((PyTypeObject *)object);
    }
}

bool image_settle(void)
{
    PyInterpreterState *interp = _PyInterpreterState_GET();
    PyGC_Collect();

    walk w = {.mask = (1u << 18) - 1};
    w.table = calloc(w.mask + 1, sizeof *w.table);
    if (w.table == NULL) {
        return false;
    }
    PyUnstable_GC_VisitObjects(meet_tracked, &w);
    PyObject *interned = interp->cached_objects.interned_strings, *key;
    Py_ssize_t at = 0;
    while (interned != NULL && PyDict_Next(interned, &at, &key, NULL)) {
        meet(key, &w);
    }
    while (w.todo_count > 0 && !w.failed) {
        follow(&w, w.todo[--w.todo_count]);
    }
    if (w.failed) {
        return false;
    }
    for (size_t i = 0; i <= w.mask; i++) {
        if (w.table[i] != NULL) {
            make_immortal(w.table[i]);
        }
    }
    free(w.table);
    free(w.todo);
    _PyGC_Freeze(interp);
    return true;
}
