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

/* The objects met so far, a bit for each address that one can have, and those
 * whose references are still to be followed. Whatever this takes is free room
 * in the image afterwards, so it is little. */
typedef struct {
    uint32_t *met;
    PyObject **todo;
    size_t memory, todo_count, todo_cap;
    bool failed;
} walk;

/* Objects of the interpreter's own are aligned as pointers are. */
#define SLOT sizeof(void *)
#define WASM_PAGE 65536u

static int meet(PyObject *object, void *arg)
{
    walk *w = arg;
    if (object == NULL || w->failed) {
        return 0;
    }
    size_t slot = (uintptr_t)object / SLOT;
    if ((uintptr_t)object % SLOT != 0 || (uintptr_t)object >= w->memory) {
        w->failed = true;
        return 0;
    }
    uint32_t bit = UINT32_C(1) << slot % 32;
    if ((w->met[slot / 32] & bit) != 0) {
        return 0;
    }
    w->met[slot / 32] |= bit;
    if (!PyCode_Check(object) && !PyObject_IS_GC(object)) {
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

static void meet_all(walk *w, PyObject *object)
{
    meet(object, w);
    while (w->todo_count > 0 && !w->failed) {
        follow(w, w->todo[--w->todo_count]);
    }
}

static int meet_tracked(PyObject *object, void *arg)
{
    meet_all(arg, object);
    return 1;
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

    walk w = {.memory = __builtin_wasm_memory_size(0) * WASM_PAGE};
    size_t words = w.memory / SLOT / 32;
    w.met = calloc(words, sizeof *w.met);
    if (w.met == NULL) {
        return false;
    }
    PyUnstable_GC_VisitObjects(meet_tracked, &w);
    PyObject *interned = interp->cached_objects.interned_strings, *key;
    Py_ssize_t at = 0;
    while (interned != NULL && PyDict_Next(interned, &at, &key, NULL)) {
        meet_all(&w, key);
    }
    for (size_t i = 0; i < words && !w.failed; i++) {
        for (uint32_t bits = w.met[i]; bits != 0; bits &= bits - 1) {
            make_immortal((PyObject *)((i * 32 + (size_t)__builtin_ctz(bits)) * SLOT));
        }
    }
    free(w.met);
    free(w.todo);
    if (w.failed) {
        return false;
    }
    _PyGC_Freeze(interp);
    return true;
}
