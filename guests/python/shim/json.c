/* Values to JSON text. Plain values are written here; every other object is
 * taken one step closer to them by the bootstrap (values.py). VALUES.md is
 * the specification. */
#define Py_BUILD_CORE 1
#include "shim.h"

#include "pycore_interp.h"
#include "pycore_long.h"
#include "pycore_pystate.h"

#include <stdlib.h>
#include <string.h>

/* What values.convert() answers: a code and a payload. */
enum {
    STEP_VALUE,    /* write the payload in the object's place */
    STEP_TAGGED,   /* (tag, value): an object with that one name, not escaped */
    STEP_UNSORTED, /* a list, to be written as an array in the order of its texts */
    STEP_REFUSED,  /* a sentence */
};

/* One container that is being written. */
typedef struct {
    PyObject *container; /* borrowed: the writer's caller holds it */
    PyObject *key;       /* borrowed str; NULL in an array */
    Py_ssize_t index;
} level;

typedef struct {
    buffer *out;
    level *levels;
    uint32_t depth, max_depth, cap;
    refusal *why;
} writer;

static json_status write_value(writer *w, PyObject *value);

static json_status no_memory(void)
{
    PyErr_NoMemory();
    return JSON_RAISED;
}

#define TRY_WRITE(expr)           \
    do {                          \
        if (!(expr)) {            \
            return no_memory();   \
        }                         \
    } while (0)

/* Appends one part of a JSON pointer. */
static bool add_part(PyObject *parts, const level *l)
{
    PyObject *part;
    if (l->key == NULL) {
        part = PyUnicode_FromFormat("/%zd", l->index);
    } else {
        PyObject *tilde = PyObject_CallMethod(l->key, "replace", "ss", "~", "~0");
        PyObject *slash = tilde == NULL ? NULL : PyObject_CallMethod(tilde, "replace", "ss", "/", "~1");
        part = slash == NULL ? NULL : PyUnicode_FromFormat("/%U", slash);
        Py_XDECREF(tilde);
        Py_XDECREF(slash);
    }
    bool ok = part != NULL && PyList_Append(parts, part) == 0;
    Py_XDECREF(part);
    return ok;
}

/* The JSON pointer of the place that is being written. */
static PyObject *pointer(const writer *w)
{
    PyObject *parts = PyList_New(0);
    for (uint32_t i = 0; parts != NULL && i < w->depth; i++) {
        if (!add_part(parts, &w->levels[i])) {
            Py_CLEAR(parts);
        }
    }
    PyObject *empty = parts == NULL ? NULL : PyUnicode_New(0, 0);
    PyObject *path = empty == NULL ? NULL : PyUnicode_Join(empty, parts);
    Py_XDECREF(parts);
    return path;
}

/* Takes the reference to reason. */
static json_status refuse(writer *w, PyObject *reason)
{
    PyObject *path = reason == NULL ? NULL : pointer(w);
    if (path == NULL) {
        return JSON_RAISED;
    }
    *w->why = (refusal){reason, path};
    return JSON_REFUSED;
}

static json_status enter(writer *w, PyObject *container)
{
    for (uint32_t i = w->depth; i-- > 0;) {
        if (w->levels[i].container == container) {
            return refuse(w, PyUnicode_FromString("the value contains itself here; JSON has no form for a cycle"));
        }
    }
    if (w->depth == w->max_depth) {
        return refuse(w, PyUnicode_FromFormat("the value nests deeper than %u levels here; return something flatter",
                                              w->max_depth));
    }
    if (w->depth == w->cap) {
        uint32_t cap = w->cap == 0 ? 16 : w->cap * 2;
        level *levels = realloc(w->levels, cap * sizeof *levels);
        if (levels == NULL) {
            return no_memory();
        }
        w->levels = levels;
        w->cap = cap;
    }
    w->levels[w->depth++] = (level){container, NULL, 0};
    return JSON_DONE;
}

static void leave(writer *w)
{
    w->depth--;
}

static bool write_escape(buffer *out, uint8_t c)
{
    static const char hex[] = "0123456789abcdef";
    switch (c) {
    case '"':
        return buffer_literal(out, "\\\"");
    case '\\':
        return buffer_literal(out, "\\\\");
    case '\b':
        return buffer_literal(out, "\\b");
    case '\f':
        return buffer_literal(out, "\\f");
    case '\n':
        return buffer_literal(out, "\\n");
    case '\r':
        return buffer_literal(out, "\\r");
    case '\t':
        return buffer_literal(out, "\\t");
    default: {
        char text[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
        return buffer_write(out, text, sizeof text);
    }
    }
}

static inline bool is_plain(uint8_t c)
{
    return c >= 0x20 && c != '"' && c != '\\';
}

/* Appends the inside of a JSON string: UTF-8 with what JSON must escape. */
static bool write_utf8(buffer *out, const uint8_t *text, size_t len)
{
    size_t run = 0;
    for (size_t i = 0; i < len; i++) {
        if (is_plain(text[i])) {
            continue;
        }
        if (!buffer_write(out, text + run, i - run) || !write_escape(out, text[i])) {
            return false;
        }
        run = i + 1;
    }
    return buffer_write(out, text + run, len - run);
}

static bool write_code_point(buffer *out, Py_UCS4 c)
{
    uint8_t text[4];
    size_t len;
    if (c < 0x80) {
        return is_plain((uint8_t)c) ? buffer_byte(out, (uint8_t)c) : write_escape(out, (uint8_t)c);
    }
    if (c < 0x800) {
        text[0] = (uint8_t)(0xC0 | c >> 6);
        len = 2;
    } else if (c < 0x10000) {
        text[0] = (uint8_t)(0xE0 | c >> 12);
        text[1] = (uint8_t)(0x80 | (c >> 6 & 0x3F));
        len = 3;
    } else {
        text[0] = (uint8_t)(0xF0 | c >> 18);
        text[1] = (uint8_t)(0x80 | (c >> 12 & 0x3F));
        text[2] = (uint8_t)(0x80 | (c >> 6 & 0x3F));
        len = 4;
    }
    text[len - 1] = (uint8_t)(0x80 | (c & 0x3F));
    return buffer_write(out, text, len);
}

static bool has_surrogate(PyObject *text)
{
    if (PyUnicode_KIND(text) == PyUnicode_1BYTE_KIND) {
        return false;
    }
    Py_ssize_t len = PyUnicode_GET_LENGTH(text);
    for (Py_ssize_t i = 0; i < len; i++) {
        if (Py_UNICODE_IS_SURROGATE(PyUnicode_READ_CHAR(text, i))) {
            return true;
        }
    }
    return false;
}

/* The inside of a JSON string. The text has no surrogates. */
static bool write_text(buffer *out, PyObject *text)
{
    Py_ssize_t len = PyUnicode_GET_LENGTH(text);
    if (PyUnicode_IS_ASCII(text)) {
        return write_utf8(out, PyUnicode_1BYTE_DATA(text), (size_t)len);
    }
    int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    for (Py_ssize_t i = 0; i < len; i++) {
        if (!write_code_point(out, PyUnicode_READ(kind, data, i))) {
            return false;
        }
    }
    return true;
}

/* {"$str": text} with backslashes doubled and each surrogate as \uXXXX. */
static json_status write_surrogates(writer *w, PyObject *text)
{
    TRY_WRITE(buffer_literal(w->out, "{\"$str\":\""));
    Py_ssize_t len = PyUnicode_GET_LENGTH(text);
    for (Py_ssize_t i = 0; i < len; i++) {
        Py_UCS4 c = PyUnicode_READ_CHAR(text, i);
        if (Py_UNICODE_IS_SURROGATE(c)) {
            char escaped[8];
            snprintf(escaped, sizeof escaped, "\\\\u%04x", (unsigned)c);
            TRY_WRITE(buffer_write(w->out, escaped, 7));
        } else if (c == '\\') {
            TRY_WRITE(buffer_literal(w->out, "\\\\\\\\"));
        } else {
            TRY_WRITE(write_code_point(w->out, c));
        }
    }
    TRY_WRITE(buffer_literal(w->out, "\"}"));
    return JSON_DONE;
}

static json_status write_str(writer *w, PyObject *text)
{
    if (has_surrogate(text)) {
        /* The tag is a level of its own. */
        if (w->depth == w->max_depth) {
            return enter(w, text);
        }
        return write_surrogates(w, text);
    }
    TRY_WRITE(buffer_byte(w->out, '"') && write_text(w->out, text) && buffer_byte(w->out, '"'));
    return JSON_DONE;
}

static json_status write_int(writer *w, PyObject *value)
{
    int overflow;
    long long small = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (!overflow) {
        char text[24], *at = text + sizeof text;
        unsigned long long rest = small < 0 ? -(unsigned long long)small : (unsigned long long)small;
        do {
            *--at = (char)('0' + rest % 10);
            rest /= 10;
        } while (rest);
        if (small < 0) {
            *--at = '-';
        }
        TRY_WRITE(buffer_write(w->out, at, (size_t)(text + sizeof text - at)));
        return JSON_DONE;
    }
    PyObject *text = _PyLong_Format(value, 10);
    if (text == NULL) {
        return JSON_RAISED;
    }
    bool ok = buffer_write(w->out, PyUnicode_1BYTE_DATA(text), (size_t)PyUnicode_GET_LENGTH(text));
    Py_DECREF(text);
    return ok ? JSON_DONE : no_memory();
}

static json_status write_float(writer *w, double value)
{
    if (!isfinite(value)) {
        if (w->depth == w->max_depth) {
            return enter(w, Py_None);
        }
        TRY_WRITE(isnan(value) ? buffer_literal(w->out, "{\"$float\":\"nan\"}")
                  : value > 0  ? buffer_literal(w->out, "{\"$float\":\"inf\"}")
                               : buffer_literal(w->out, "{\"$float\":\"-inf\"}"));
        return JSON_DONE;
    }
    char *text = PyOS_double_to_string(value, 'r', 0, Py_DTSF_ADD_DOT_0, NULL);
    if (text == NULL) {
        return JSON_RAISED;
    }
    bool ok = buffer_write(w->out, text, strlen(text));
    PyMem_Free(text);
    return ok ? JSON_DONE : no_memory();
}

/* Writes a list or tuple in the place of container. Its items are read anew
 * each time: a hook of the value's may change the list meanwhile. */
static json_status write_array(writer *w, PyObject *container, PyObject *items)
{
    json_status status = enter(w, container);
    if (status != JSON_DONE) {
        return status;
    }
    TRY_WRITE(buffer_byte(w->out, '['));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items); i++) {
        if (i > 0) {
            TRY_WRITE(buffer_byte(w->out, ','));
        }
        w->levels[w->depth - 1].index = i;
        PyObject *item = Py_NewRef(PySequence_Fast_GET_ITEM(items, i));
        status = write_value(w, item);
        Py_DECREF(item);
        if (status != JSON_DONE) {
            return status;
        }
    }
    TRY_WRITE(buffer_byte(w->out, ']'));
    leave(w);
    return JSON_DONE;
}

static bool has_plain_keys(PyObject *dict)
{
    PyObject *key;
    Py_ssize_t at = 0;
    while (PyDict_Next(dict, &at, &key, NULL)) {
        if (!PyUnicode_CheckExact(key)) {
            return false;
        }
    }
    return true;
}

static json_status write_name(writer *w, PyObject *name, bool only)
{
    if (has_surrogate(name)) {
        leave(w);
        return refuse(w, PyUnicode_FromString("a key holds a lone surrogate, which no JSON text can; encode it first"));
    }
    TRY_WRITE(buffer_byte(w->out, '"'));
    if (only && PyUnicode_GET_LENGTH(name) > 0 && PyUnicode_READ_CHAR(name, 0) == '$') {
        TRY_WRITE(buffer_byte(w->out, '$'));
    }
    TRY_WRITE(write_text(w->out, name) && buffer_literal(w->out, "\":"));
    return JSON_DONE;
}

/* Writes a dict whose keys are exactly str in the place of container. */
static json_status write_object(writer *w, PyObject *container, PyObject *dict)
{
    json_status status = enter(w, container);
    if (status != JSON_DONE) {
        return status;
    }
    TRY_WRITE(buffer_byte(w->out, '{'));
    PyObject *key, *value;
    Py_ssize_t at = 0;
    bool first = true, only = PyDict_GET_SIZE(dict) == 1;
    uint64_t version = ((PyDictObject *)dict)->ma_version_tag;
    while (PyDict_Next(dict, &at, &key, &value)) {
        if (!first) {
            TRY_WRITE(buffer_byte(w->out, ','));
        }
        first = false;
        Py_INCREF(key);
        Py_INCREF(value);
        w->levels[w->depth - 1].key = key;
        status = write_name(w, key, only);
        if (status == JSON_DONE) {
            status = write_value(w, value);
        }
        Py_DECREF(value);
        Py_DECREF(key);
        if (status != JSON_DONE) {
            return status;
        }
        /* Only a hook of some value in it can have done that. */
        if (((PyDictObject *)dict)->ma_version_tag != version) {
            leave(w);
            return refuse(w, PyUnicode_FromString("the dict changed while it was converted; return a copy of it"));
        }
    }
    TRY_WRITE(buffer_byte(w->out, '}'));
    leave(w);
    return JSON_DONE;
}

static json_status write_tagged(writer *w, PyObject *container, PyObject *tagged)
{
    json_status status = enter(w, container);
    if (status != JSON_DONE) {
        return status;
    }
    PyObject *tag = PyTuple_GET_ITEM(tagged, 0);
    w->levels[w->depth - 1].key = tag;
    TRY_WRITE(buffer_literal(w->out, "{\"") && write_text(w->out, tag) && buffer_literal(w->out, "\":"));
    status = write_value(w, PyTuple_GET_ITEM(tagged, 1));
    if (status != JSON_DONE) {
        return status;
    }
    TRY_WRITE(buffer_byte(w->out, '}'));
    leave(w);
    return JSON_DONE;
}

typedef struct {
    const uint8_t *text;
    size_t len;
} slice;

static int compare_slices(const void *a, const void *b)
{
    const slice *x = a, *y = b;
    int order = memcmp(x->text, y->text, x->len < y->len ? x->len : y->len);
    return order ? order : (x->len > y->len) - (x->len < y->len);
}

/* Writes the items after another, then puts them in the order of their texts. */
static json_status write_unsorted(writer *w, PyObject *container, PyObject *items)
{
    json_status status = enter(w, container);
    if (status != JSON_DONE) {
        return status;
    }
    Py_ssize_t count = PyList_GET_SIZE(items);
    slice *slices = calloc((size_t)count + 1, sizeof *slices);
    buffer scratch = {0}, *out = w->out;
    TRY_WRITE(slices != NULL);
    w->out = &scratch;
    for (Py_ssize_t i = 0; i < count; i++) {
        size_t start = scratch.len;
        w->levels[w->depth - 1].index = i;
        status = write_value(w, PyList_GET_ITEM(items, i));
        if (status != JSON_DONE) {
            return status;
        }
        slices[i] = (slice){(const uint8_t *)start, scratch.len - start};
    }
    w->out = out;
    for (Py_ssize_t i = 0; i < count; i++) {
        slices[i].text = scratch.data + (size_t)slices[i].text;
    }
    qsort(slices, (size_t)count, sizeof *slices, compare_slices);
    TRY_WRITE(buffer_byte(out, '['));
    for (Py_ssize_t i = 0; i < count; i++) {
        if (i > 0) {
            TRY_WRITE(buffer_byte(out, ','));
        }
        TRY_WRITE(buffer_write(out, slices[i].text, slices[i].len));
    }
    TRY_WRITE(buffer_byte(out, ']'));
    free(slices);
    free(scratch.data);
    leave(w);
    return JSON_DONE;
}

/* Writes what values.convert() makes of an object. */
static json_status write_converted(writer *w, PyObject *value)
{
    PyObject *step = PyObject_CallOneArg(boot.convert, value);
    if (step == NULL) {
        if (PyErr_ExceptionMatches(PyExc_MemoryError)) {
            return JSON_RAISED;
        }
        /* Code of the value's own class raised. */
        PyObject *exception = PyErr_GetRaisedException();
        json_status status = refuse(w, PyUnicode_FromFormat("converting a value of type %s raised %s; return plain data instead",
                                                            Py_TYPE(value)->tp_name, Py_TYPE(exception)->tp_name));
        Py_DECREF(exception);
        return status;
    }
    long code = PyLong_AsLong(PyTuple_GET_ITEM(step, 0));
    PyObject *payload = PyTuple_GET_ITEM(step, 1);
    json_status status;
    switch (code) {
    case STEP_TAGGED:
        status = write_tagged(w, value, payload);
        break;
    case STEP_UNSORTED:
        status = write_unsorted(w, value, payload);
        break;
    case STEP_REFUSED:
        status = refuse(w, Py_NewRef(payload));
        break;
    default:
        if (PyList_CheckExact(payload)) {
            status = write_array(w, value, payload);
        } else if (PyDict_CheckExact(payload)) {
            status = write_object(w, value, payload);
        } else {
            status = write_value(w, payload); /* None, bool, int, float or str, exactly */
        }
    }
    Py_DECREF(step);
    return status;
}

static json_status write_value(writer *w, PyObject *value)
{
    if (value == Py_None) {
        TRY_WRITE(buffer_literal(w->out, "null"));
        return JSON_DONE;
    }
    if (value == Py_True) {
        TRY_WRITE(buffer_literal(w->out, "true"));
        return JSON_DONE;
    }
    if (value == Py_False) {
        TRY_WRITE(buffer_literal(w->out, "false"));
        return JSON_DONE;
    }
    PyTypeObject *type = Py_TYPE(value);
    if (type == &PyUnicode_Type) {
        return write_str(w, value);
    }
    if (type == &PyLong_Type) {
        return write_int(w, value);
    }
    if (type == &PyFloat_Type) {
        return write_float(w, PyFloat_AS_DOUBLE(value));
    }
    if (type == &PyList_Type || type == &PyTuple_Type) {
        return write_array(w, value, value);
    }
    if (type == &PyDict_Type && has_plain_keys(value)) {
        return write_object(w, value, value);
    }
    return write_converted(w, value);
}

json_status json_write(buffer *out, PyObject *value, uint32_t max_depth, refusal *why)
{
    /* The limit on int digits guards against slow conversions. Ours are
     * bounded by the call's own limits, and a result must stay exact. */
    int *max_digits = &_PyInterpreterState_GET()->long_state.max_str_digits, limit = *max_digits;
    *max_digits = 0;
    writer w = {.out = out, .max_depth = max_depth, .why = why};
    json_status status = write_value(&w, value);
    *max_digits = limit;
    free(w.levels);
    return status;
}
