/* What an object of Python's is to SQL. Nothing here needs the interpreter's
 * lock, which sqlite3 lets go while a query runs. */
#define Py_BUILD_CORE 1
#include "table.h"

#include "pycore_long.h"

#include <math.h>

cell cell_of(PyObject *object)
{
    if (object == NULL || object == Py_None) {
        return (cell){.kind = CELL_NULL};
    }
    PyTypeObject *type = Py_TYPE(object);
    if (type == &PyUnicode_Type) {
        return (cell){.kind = CELL_TEXT, .object = object};
    }
    if (type == &PyFloat_Type) {
        double f = PyFloat_AS_DOUBLE(object);
        /* SQL has no NaN; SQLite stores it as NULL. */
        return isnan(f) ? (cell){.kind = CELL_NULL} : (cell){.kind = CELL_FLOAT, .f = f};
    }
    if (type == &PyBytes_Type) {
        return (cell){.kind = CELL_BLOB, .object = object};
    }
    PyLongObject *number = (PyLongObject *)object;
    return (cell){.kind = CELL_INT,
                  .i = _PyLong_IsCompact(number) ? _PyLong_CompactValue(number) : PyLong_AsLongLong(object)};
}

static uint64_t mix(uint64_t h)
{
    h ^= h >> 32;
    h *= 0x9E3779B97F4A7C15u;
    h ^= h >> 29;
    return h;
}

/* A float that is a whole number of 64 bits counts as that number. */
static bool whole(double f, int64_t *i)
{
    if (!(f >= -9223372036854775808.0 && f < 9223372036854775808.0)) {
        return false;
    }
    *i = (int64_t)f;
    return (double)*i == f;
}

uint64_t cell_hash(cell c)
{
    switch (c.kind) {
    case CELL_NULL:
        return 1;
    case CELL_INT:
        return mix((uint64_t)c.i);
    case CELL_FLOAT: {
        int64_t i;
        if (whole(c.f, &i)) {
            return mix((uint64_t)i);
        }
        uint64_t bits;
        memcpy(&bits, &c.f, sizeof bits);
        return mix(bits + 1);
    }
    case CELL_TEXT:
    case CELL_BLOB:
        break;
    }
    return mix((uint64_t)PyObject_Hash(c.object)); /* both remember it */
}

static int compare_mixed(int64_t i, double f)
{
    if (f >= 9223372036854775808.0) {
        return -1;
    }
    if (f < -9223372036854775808.0) {
        return 1;
    }
    int64_t truncated = (int64_t)f;
    if (i != truncated) {
        return i < truncated ? -1 : 1;
    }
    double rest = f - (double)truncated;
    return rest > 0 ? -1 : rest < 0;
}

static bool same_text(PyObject *a, PyObject *b)
{
    if (a == b) {
        return true;
    }
    Py_ssize_t len = PyUnicode_GET_LENGTH(a);
    return len == PyUnicode_GET_LENGTH(b) && PyUnicode_KIND(a) == PyUnicode_KIND(b) &&
           memcmp(PyUnicode_DATA(a), PyUnicode_DATA(b), (size_t)len * PyUnicode_KIND(a)) == 0;
}

bool cell_equal(cell a, cell b)
{
    if (a.kind == CELL_TEXT && b.kind == CELL_TEXT) {
        return same_text(a.object, b.object);
    }
    return cell_compare(a, b) == 0;
}

static int rank(cell_kind kind)
{
    return kind == CELL_FLOAT ? CELL_INT : kind;
}

static int compare_blobs(PyObject *a, PyObject *b)
{
    Py_ssize_t left = PyBytes_GET_SIZE(a), right = PyBytes_GET_SIZE(b);
    int order = memcmp(PyBytes_AS_STRING(a), PyBytes_AS_STRING(b), (size_t)Py_MIN(left, right));
    return order != 0 ? order : (left > right) - (left < right);
}

int cell_compare(cell a, cell b)
{
    if (rank(a.kind) != rank(b.kind)) {
        return rank(a.kind) < rank(b.kind) ? -1 : 1;
    }
    switch (a.kind) {
    case CELL_NULL:
        break;
    case CELL_INT:
        return b.kind == CELL_FLOAT ? compare_mixed(a.i, b.f) : (a.i > b.i) - (a.i < b.i);
    case CELL_FLOAT:
        return b.kind == CELL_INT ? -compare_mixed(b.i, a.f) : (a.f > b.f) - (a.f < b.f);
    case CELL_TEXT:
        return PyUnicode_Compare(a.object, b.object); /* by code point, as UTF-8 sorts too */
    case CELL_BLOB:
        return compare_blobs(a.object, b.object);
    }
    return 0;
}

bool text_is_number_like(const char *text, size_t len)
{
    size_t i = 0;
    while (i < len && (text[i] == ' ' || (text[i] >= '\t' && text[i] <= '\r'))) {
        i++;
    }
    if (i < len && (text[i] == '+' || text[i] == '-')) {
        i++;
    }
    return i < len && (text[i] == '.' || (text[i] >= '0' && text[i] <= '9'));
}
