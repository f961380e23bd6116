/* Reads the globals section: the arguments of a call as Python objects.
 *
 * The form is ours (guests/globals describes and writes it). It differs from marshal in one thing that pays: the keys of a
 * dict stand once for all dicts that have the same ones, so a row costs an
 * allocation and its values. */
#define Py_BUILD_CORE 1
#include "globals.h"
#include "shim.h"

#include "pycore_dict.h"
#include "pycore_gc.h"
#include "pycore_long.h"
#include "pycore_object.h"

#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 10000u

/* Arguments from this many bytes on are hidden from the collector, which would
 * otherwise walk all of them again and again. */
#define FREEZE_FROM 4096u

/* A shape that this many dicts have is worth a shared key table. */
#define SHARE_FROM 4u

/* The keys that dicts have in common. */
typedef struct {
    uint32_t count, uses;
    PyObject **keys;
    PyDictKeysObject *shared; /* NULL until wanted, and for what cannot share */
} shape;

typedef struct {
    span in;
    uint32_t shape_count, depth;
    shape *shapes;
    PyObject *slots[GLOBALS_SLOTS];
} reader;

static PyObject *read_value(reader *r);

static PyObject *damaged(void)
{
    PyErr_SetString(PyExc_SystemError, GLOBALS_DAMAGED);
    return NULL;
}

static bool no_memory(void)
{
    PyErr_NoMemory();
    return false;
}

static bool is_damaged(void)
{
    damaged();
    return false;
}

static inline PyObject *read_ascii(reader *r)
{
    uint32_t len;
    if (!span_count(&r->in, &len)) {
        return damaged();
    }
    PyObject *text;
    if (len <= 1) {
        text = PyUnicode_FromStringAndSize((const char *)r->in.at, len); /* the immortal ones */
    } else {
        text = PyUnicode_New((Py_ssize_t)len, 127);
        if (text != NULL) {
            memcpy(PyUnicode_1BYTE_DATA(text), r->in.at, len);
        }
    }
    r->in.at += len;
    return text;
}

static PyObject *read_utf8(reader *r)
{
    uint32_t len;
    if (!span_count(&r->in, &len)) {
        return damaged();
    }
    PyObject *text = PyUnicode_DecodeUTF8((const char *)r->in.at, (Py_ssize_t)len, NULL);
    r->in.at += len;
    return text;
}

static PyObject *read_kept(reader *r, uint8_t tag)
{
    uint32_t slot;
    if (!span_slot(&r->in, &slot)) {
        return damaged();
    }
    if (tag != TAG_KEPT) {
        PyObject *text = tag == TAG_KEEP_ASCII ? read_ascii(r) : read_utf8(r);
        if (text == NULL) {
            return NULL;
        }
        Py_XSETREF(r->slots[slot], text);
    }
    return r->slots[slot] == NULL ? damaged() : Py_NewRef(r->slots[slot]);
}

static PyObject *read_list(reader *r)
{
    uint32_t count;
    if (!span_count(&r->in, &count) || r->depth == MAX_DEPTH) {
        return damaged();
    }
    r->depth++;
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (uint32_t i = 0; list != NULL && i < count; i++) {
        PyObject *item = read_value(r);
        if (item == NULL) {
            Py_CLEAR(list);
            break;
        }
        PyList_SET_ITEM(list, i, item);
    }
    r->depth--;
    return list;
}

/* Builds a table for dicts that keep only their values to themselves, as
 * CPython does for the attributes of a class's instances. */
static PyDictKeysObject *share_keys(const shape *s)
{
    PyDictKeysObject *keys = _PyDict_NewKeysForClass();
    if (keys == NULL) {
        return NULL;
    }
    int8_t *indices = (int8_t *)keys->dk_indices;
    PyDictUnicodeEntry *entries = DK_UNICODE_ENTRIES(keys);
    size_t mask = (size_t)DK_SIZE(keys) - 1;
    for (uint32_t i = 0; i < s->count; i++) {
        /* CPython's probe sequence. */
        size_t hash = (size_t)PyObject_Hash(s->keys[i]), at = hash & mask;
        for (size_t perturb = hash; indices[at] != DKIX_EMPTY;) {
            perturb >>= 5;
            at = (at * 5 + perturb + 1) & mask;
        }
        indices[at] = (int8_t)i;
        entries[i].me_key = Py_NewRef(s->keys[i]);
    }
    keys->dk_nentries = (Py_ssize_t)s->count;
    /* No room for more: a dict that gets another key leaves the table. */
    keys->dk_usable = 0;
    return keys;
}

static PyObject *read_shared(reader *r, shape *s)
{
    size_t order = _Py_SIZE_ROUND_UP(s->count, sizeof(PyObject *));
    PyDictValues *values = PyMem_Malloc(offsetof(PyDictValues, values) + s->count * sizeof(PyObject *) + order);
    if (values == NULL) {
        return PyErr_NoMemory();
    }
    *values = (PyDictValues){.capacity = (uint8_t)s->count, .size = (uint8_t)s->count};
    uint8_t *insertion_order = get_insertion_order_array(values);
    bool track = false;
    for (uint32_t i = 0; i < s->count; i++) {
        PyObject *value = read_value(r);
        if (value == NULL) {
            while (i-- > 0) {
                Py_DECREF(values->values[i]);
            }
            PyMem_Free(values);
            return NULL;
        }
        track |= _PyObject_GC_MAY_BE_TRACKED(value);
        values->values[i] = value;
        insertion_order[i] = (uint8_t)i;
    }
    PyDictObject *dict = PyObject_GC_New(PyDictObject, &PyDict_Type);
    if (dict == NULL) {
        return NULL;
    }
    s->shared->dk_refcnt++;
    dict->ma_used = (Py_ssize_t)s->count;
    dict->ma_version_tag = DICT_NEXT_VERSION(_PyInterpreterState_GET());
    dict->ma_keys = s->shared;
    dict->ma_values = values;
    if (track) {
        _PyObject_GC_TRACK(dict);
    }
    return (PyObject *)dict;
}

static PyObject *read_dict(reader *r)
{
    uint32_t index;
    if (!span_u32(&r->in, &index) || index >= r->shape_count || r->depth == MAX_DEPTH) {
        return damaged();
    }
    shape *s = &r->shapes[index];
    r->depth++;
    PyObject *dict = NULL;
    if (s->shared == NULL && s->uses >= SHARE_FROM && s->count > 0 && s->count <= SHARED_KEYS_MAX_SIZE) {
        s->shared = share_keys(s);
    }
    if (s->shared != NULL) {
        dict = read_shared(r, s);
    } else {
        dict = _PyDict_NewPresized((Py_ssize_t)s->count);
        for (uint32_t i = 0; dict != NULL && i < s->count; i++) {
            PyObject *value = read_value(r);
            if (value == NULL || PyDict_SetItem(dict, s->keys[i], value) < 0) {
                Py_CLEAR(dict);
            }
            Py_XDECREF(value);
        }
    }
    r->depth--;
    return dict;
}

static PyObject *read_value(reader *r)
{
    if (!span_has(&r->in, 1)) {
        return damaged();
    }
    uint8_t tag = *r->in.at++;
    if (tag >= TAG_SMALL_INT) {
        return PyLong_FromLong(tag - TAG_SMALL_INT);
    }
    switch (tag) {
    case TAG_NONE:
        return Py_None;
    case TAG_TRUE:
        return Py_True;
    case TAG_FALSE:
        return Py_False;
    case TAG_INT: {
        int64_t v;
        if (!span_int(&r->in, &v)) {
            return damaged();
        }
        return PyLong_FromLongLong(v);
    }
    case TAG_BIG_INT: {
        uint32_t len;
        if (!span_count(&r->in, &len)) {
            return damaged();
        }
        PyObject *value = _PyLong_FromByteArray(r->in.at, len, 1, 1);
        r->in.at += len;
        return value;
    }
    case TAG_FLOAT: {
        double v;
        if (!span_float(&r->in, &v)) {
            return damaged();
        }
        return PyFloat_FromDouble(v);
    }
    case TAG_ASCII:
        return read_ascii(r);
    case TAG_UTF8:
        return read_utf8(r);
    case TAG_BYTES: {
        uint32_t len;
        if (!span_count(&r->in, &len)) {
            return damaged();
        }
        PyObject *value = PyBytes_FromStringAndSize((const char *)r->in.at, (Py_ssize_t)len);
        r->in.at += len;
        return value;
    }
    case TAG_LIST:
        return read_list(r);
    case TAG_DICT:
        return read_dict(r);
    case TAG_KEEP_ASCII:
    case TAG_KEEP_UTF8:
    case TAG_KEPT:
        return read_kept(r, tag);
    default:
        return damaged();
    }
}

static bool read_shapes(reader *r)
{
    if (!span_count(&r->in, &r->shape_count)) {
        return is_damaged();
    }
    r->shapes = calloc(r->shape_count + 1, sizeof *r->shapes);
    if (r->shapes == NULL) {
        return no_memory();
    }
    for (uint32_t i = 0; i < r->shape_count; i++) {
        shape *s = &r->shapes[i];
        uint64_t uses;
        if (!span_uint(&r->in, &uses) || !span_count(&r->in, &s->count)) {
            return is_damaged();
        }
        s->uses = uses > UINT32_MAX ? UINT32_MAX : (uint32_t)uses;
        s->keys = calloc(s->count + 1, sizeof *s->keys);
        if (s->keys == NULL) {
            return no_memory();
        }
        for (uint32_t k = 0; k < s->count; k++) {
            s->keys[k] = read_utf8(r);
            if (s->keys[k] == NULL) {
                return false;
            }
            PyUnicode_InternInPlace(&s->keys[k]);
        }
    }
    return r->in.at == r->in.end || is_damaged();
}

bool globals_load(PyObject *namespace, const uint8_t *data, size_t len)
{
    span value, shapes;
    if (!globals_open(data, len, &value, &shapes)) {
        return is_damaged();
    }
    reader *r = calloc(1, sizeof *r);
    if (r == NULL) {
        return no_memory();
    }
    r->in = shapes;
    if (!read_shapes(r)) {
        return false;
    }
    r->in = value;

    int enabled = PyGC_Disable();
    PyObject *globals = read_value(r);
    bool ok = globals != NULL;
    if (ok && (r->in.at != r->in.end || !PyDict_CheckExact(globals))) {
        ok = is_damaged();
    }
    if (ok) {
        ok = PyDict_Update(namespace, globals) == 0;
    }
    if (len > FREEZE_FROM) {
        _PyGC_Freeze(_PyInterpreterState_GET());
    }
    if (enabled) {
        PyGC_Enable();
    }
    return ok;
}
