/* Reads rows of Python's into the columns of a table. */
#define Py_BUILD_CORE 1
#include "table.h"

#include "pycore_dict.h"
#include "pycore_long.h"

#include <stdlib.h>

/* SQLite's own bound on the columns of a table. */
#define MAX_COLUMNS 2000u

/* The rows while they are read. */
typedef struct {
    table *t;
    const char *name;
    PyObject *inexact;
    PyObject *places; /* dict: name of a column to its place */
    /* The keys that the last dict shared with others, and the column of each. */
    PyDictKeysObject *shared;
    uint32_t shared_columns[SHARED_KEYS_MAX_SIZE];
    PyObject *first; /* the first row's type, for errors */
} reading;

static PyObject *refuse_cell(const reading *r, PyObject *type, uint32_t row, uint32_t column, const char *reason)
{
    return PyErr_Format(type, "%s[%u][%R]: %s", r->name, row, r->t->columns[column].name, reason);
}

/* Text or JSON text for a value that SQL has no type for. */
static PyObject *as_text(const reading *r, PyObject *value, uint32_t row, uint32_t column)
{
    PyObject *step = PyObject_CallOneArg(boot.convert, value);
    if (step == NULL) {
        return NULL;
    }
    PyObject *text = PyTuple_GET_ITEM(step, 1);
    if (PyLong_AsLong(PyTuple_GET_ITEM(step, 0)) == 0 && PyUnicode_CheckExact(text)) {
        Py_INCREF(text);
        Py_DECREF(step);
        return text;
    }
    Py_DECREF(step);
    buffer out = {0};
    refusal why = {0};
    text = NULL;
    switch (json_write(&out, value, call.max_depth, &why)) {
    case JSON_DONE:
        text = PyUnicode_DecodeUTF8((const char *)out.data, (Py_ssize_t)out.len, NULL);
        break;
    case JSON_REFUSED:
        PyErr_Format(PyExc_TypeError, "%s[%u][%R]: %U", r->name, row, r->t->columns[column].name, why.reason);
        break;
    case JSON_RAISED:
        break;
    }
    free(out.data);
    return text;
}

/* Gives a new reference to what stands for a value: None, or an object of
 * exactly the types int (of 64 bits), bool, float, str and bytes. */
static PyObject *plain(const reading *r, PyObject *value, uint32_t row, uint32_t column)
{
    if (PyLong_Check(value)) {
        PyObject *number = PyLong_CheckExact(value) || PyBool_Check(value) ? Py_NewRef(value) : _PyLong_Copy((PyLongObject *)value);
        int overflow = 0;
        if (number != NULL && !_PyLong_IsCompact((PyLongObject *)number)) {
            (void)PyLong_AsLongLongAndOverflow(number, &overflow);
        }
        if (overflow != 0) {
            Py_DECREF(number);
            return refuse_cell(r, PyExc_OverflowError, row, column,
                               "an integer of more than 64 bits, which SQL cannot hold exactly; give str() or float() of it");
        }
        return number;
    }
    if (PyFloat_Check(value)) {
        return PyFloat_CheckExact(value) ? Py_NewRef(value) : PyFloat_FromDouble(PyFloat_AS_DOUBLE(value));
    }
    if (PyUnicode_Check(value)) {
        return PyUnicode_FromObject(value);
    }
    if (PyBytes_CheckExact(value)) {
        return Py_NewRef(value);
    }
    if (PyBytes_Check(value) || PyByteArray_Check(value) || PyMemoryView_Check(value)) {
        return PyBytes_FromObject(value);
    }
    switch (PyObject_IsInstance(value, r->inexact)) {
    case 0:
        return as_text(r, value, row, column);
    case 1:
        return refuse_cell(r, PyExc_TypeError, row, column,
                           "SQL would round this number; give str() of it to keep it as text, or float() of it, or whole cents as int");
    }
    return NULL;
}

static bool set(reading *r, uint32_t column, uint32_t row, PyObject *value)
{
    table_column *c = &r->t->columns[column];
    if (value == Py_None) {
        Py_XSETREF(c->cells[row], Py_None);
        return true;
    }
    PyObject *own;
    if (PyUnicode_CheckExact(value) || PyFloat_CheckExact(value) ||
        (PyLong_CheckExact(value) && _PyLong_IsCompact((PyLongObject *)value))) {
        own = Py_NewRef(value);
    } else if ((own = plain(r, value, row, column)) == NULL) {
        return false;
    }
    cell_kind kind = cell_of(own).kind;
    c->kinds |= 1u << kind;
    if (kind == CELL_TEXT && !c->number_like && PyUnicode_IS_COMPACT_ASCII(own)) {
        c->number_like = text_is_number_like(PyUnicode_DATA(own), (size_t)PyUnicode_GET_LENGTH(own));
    } else if (kind == CELL_TEXT && !PyUnicode_IS_COMPACT_ASCII(own)) {
        c->number_like = true; /* not worth a look */
    }
    Py_XSETREF(c->cells[row], own);
    return true;
}

static bool add_column(reading *r, PyObject *name, uint32_t *column)
{
    table *t = r->t;
    if (t->width == MAX_COLUMNS) {
        PyErr_Format(PyExc_ValueError, "%s has more than %u columns", r->name, MAX_COLUMNS);
        return false;
    }
    if (t->width == t->room) {
        uint32_t room = t->room == 0 ? 16 : t->room * 2;
        void *more = realloc(t->columns, room * sizeof *t->columns);
        if (more == NULL) {
            PyErr_NoMemory();
            return false;
        }
        t->columns = more;
        t->room = room;
    }
    PyObject **cells = calloc((size_t)t->rows + 1, sizeof *cells);
    PyObject *place = cells == NULL ? PyErr_NoMemory() : PyLong_FromUnsignedLong(t->width);
    if (place == NULL || PyDict_SetItem(r->places, name, place) < 0) {
        Py_XDECREF(place);
        free(cells);
        return false;
    }
    Py_DECREF(place);
    *column = t->width++;
    t->columns[*column] = (table_column){.name = Py_NewRef(name), .cells = cells};
    return true;
}

/* The column of a name, which is made when it is not there. */
static bool find_column(reading *r, PyObject *name, uint32_t row, uint32_t *column)
{
    if (!PyUnicode_CheckExact(name)) {
        PyErr_Format(PyExc_TypeError, "%s[%u] has a key of type %s; the names of columns are str", r->name, row, Py_TYPE(name)->tp_name);
        return false;
    }
    PyObject *place = PyDict_GetItemWithError(r->places, name);
    if (place != NULL) {
        *column = (uint32_t)PyLong_AsUnsignedLong(place);
        return true;
    }
    return !PyErr_Occurred() && add_column(r, name, column);
}

/* Learns which columns the keys of a dict are that shares them. */
static bool learn_shared(reading *r, PyDictKeysObject *keys, uint32_t row)
{
    r->shared = NULL;
    for (Py_ssize_t i = 0; i < keys->dk_nentries; i++) {
        PyObject *name = DK_UNICODE_ENTRIES(keys)[i].me_key;
        if (name == NULL || !find_column(r, name, row, &r->shared_columns[i])) {
            return false;
        }
    }
    r->shared = keys;
    return true;
}

static bool read_dict(reading *r, PyObject *row_object, uint32_t row)
{
    PyDictObject *dict = (PyDictObject *)row_object;
    if (dict->ma_values != NULL && dict->ma_keys->dk_nentries == dict->ma_used) {
        if (dict->ma_keys != r->shared && !learn_shared(r, dict->ma_keys, row)) {
            return false;
        }
        for (Py_ssize_t i = 0; i < dict->ma_used; i++) {
            PyObject *value = dict->ma_values->values[i];
            if (value != NULL && !set(r, r->shared_columns[i], row, value)) {
                return false;
            }
        }
        return true;
    }
    PyObject *name, *value;
    Py_ssize_t at = 0;
    for (uint32_t i = 0; PyDict_Next(row_object, &at, &name, &value); i++) {
        uint32_t column = i;
        if ((i >= r->t->width || r->t->columns[i].name != name) && !find_column(r, name, row, &column)) {
            return false;
        }
        if (!set(r, column, row, value)) {
            return false;
        }
    }
    return true;
}

/* A row without names has its values in order. */
static bool read_sequence(reading *r, PyObject *items, uint32_t row)
{
    PyObject *names = PyTuple_CheckExact(items) || PyList_CheckExact(items) ? NULL : PyObject_GetAttrString(items, "_fields");
    PyErr_Clear();
    Py_ssize_t count = PySequence_Fast_GET_SIZE(items);
    bool named = names != NULL && PyTuple_CheckExact(names) && PyTuple_GET_SIZE(names) == count, ok = true;
    for (Py_ssize_t i = 0; ok && i < count; i++) {
        uint32_t column = (uint32_t)i;
        if (column >= r->t->width) {
            PyObject *name = named ? Py_NewRef(PyTuple_GET_ITEM(names, i)) : PyUnicode_FromFormat("column_%zd", i + 1);
            ok = name != NULL && add_column(r, name, &column);
            Py_XDECREF(name);
        }
        ok = ok && set(r, column, row, PySequence_Fast_GET_ITEM(items, i));
    }
    Py_XDECREF(names);
    return ok;
}

static bool read_row(reading *r, PyObject *object, uint32_t row)
{
    if (PyDict_Check(object)) {
        return read_dict(r, object, row);
    }
    if (PyTuple_Check(object) || PyList_Check(object)) {
        return read_sequence(r, object, row);
    }
    uint32_t column = 0;
    if (object == Py_None || PyLong_Check(object) || PyFloat_Check(object) || PyUnicode_Check(object) || PyBytes_Check(object)) {
        if (r->t->width == 0) {
            PyObject *name = PyUnicode_FromString("value");
            bool ok = name != NULL && add_column(r, name, &column);
            Py_XDECREF(name);
            if (!ok) {
                return false;
            }
        }
        return set(r, column, row, object);
    }
    /* Dataclasses, rows of sqlite3 and their like are dicts to JSON. */
    PyObject *step = PyObject_CallOneArg(boot.convert, object);
    bool ok = false;
    if (step != NULL && PyDict_CheckExact(PyTuple_GET_ITEM(step, 1))) {
        ok = read_dict(r, PyTuple_GET_ITEM(step, 1), row);
    } else if (step != NULL) {
        PyErr_Format(PyExc_TypeError, "%s[%u] is of type %s; the rows of a table are dicts", r->name, row, Py_TYPE(object)->tp_name);
    }
    Py_XDECREF(step);
    return ok;
}

/* What kind of row an object is: rows of one table are alike. */
static int shape_of(PyObject *row)
{
    return PyDict_Check(row) ? 0 : PyTuple_Check(row) || PyList_Check(row) ? 1 : 2;
}

static bool read_rows(reading *r, PyObject *rows)
{
    for (uint32_t row = 0; row < r->t->rows; row++) {
        if ((Py_ssize_t)row >= PySequence_Fast_GET_SIZE(rows)) {
            PyErr_Format(PyExc_RuntimeError, "%s became shorter while it was read", r->name);
            return false;
        }
        PyObject *object = Py_NewRef(PySequence_Fast_GET_ITEM(rows, row));
        bool ok = shape_of(object) == shape_of(PySequence_Fast_GET_ITEM(rows, 0));
        if (!ok) {
            PyErr_Format(PyExc_TypeError, "%s[%u] is of type %s, but %s[0] is of type %s", r->name, row, Py_TYPE(object)->tp_name,
                         r->name, Py_TYPE(PySequence_Fast_GET_ITEM(rows, 0))->tp_name);
        }
        ok = ok && read_row(r, object, row);
        Py_DECREF(object);
        if (!ok) {
            return false;
        }
    }
    return true;
}

/* A dict of lists is a table by columns. */
static bool read_columns(reading *r, PyObject *columns)
{
    PyObject *name, *values;
    Py_ssize_t at = 0;
    bool first = true;
    while (PyDict_Next(columns, &at, &name, &values)) {
        if (!PyList_Check(values) && !PyTuple_Check(values)) {
            PyErr_Format(PyExc_TypeError, "%s is a dict whose %R is of type %s; a dict is a table when it holds a list for each column",
                         r->name, name, Py_TYPE(values)->tp_name);
            return false;
        }
        Py_ssize_t count = PySequence_Fast_GET_SIZE(values);
        if (first) {
            r->t->rows = (uint32_t)count;
            first = false;
        } else if (count != (Py_ssize_t)r->t->rows) {
            PyErr_Format(PyExc_ValueError, "%s has %u values in its first column and %zd in %R", r->name, r->t->rows, count, name);
            return false;
        }
        uint32_t column;
        if (!find_column(r, name, 0, &column)) {
            return false;
        }
        for (uint32_t row = 0; row < r->t->rows; row++) {
            if ((Py_ssize_t)row >= PySequence_Fast_GET_SIZE(values) || !set(r, column, row, PySequence_Fast_GET_ITEM(values, row))) {
                return false;
            }
        }
    }
    return true;
}

static const char *affinity(const table_column *c)
{
    switch (c->kinds & ~(1u << CELL_NULL)) {
    case 1u << CELL_INT:
        return " INTEGER";
    case 1u << CELL_FLOAT:
        return " REAL";
    case 1u << CELL_INT | 1u << CELL_FLOAT:
        return " NUMERIC";
    case 1u << CELL_TEXT:
        return " TEXT";
    }
    return "";
}

static bool write_schema(reading *r)
{
    sqlite3_str *out = sqlite3_str_new(NULL);
    PyObject *seen = PySet_New(NULL);
    bool ok = seen != NULL;
    sqlite3_str_appendall(out, "CREATE TABLE t(");
    for (uint32_t i = 0; ok && i < r->t->width; i++) {
        table_column *c = &r->t->columns[i];
        const char *name = PyUnicode_AsUTF8(c->name); /* refuses NUL */
        PyObject *folded = name == NULL ? NULL : PyObject_CallMethod(c->name, "lower", NULL);
        int known = folded == NULL ? -1 : PySet_Contains(seen, folded);
        if (known > 0) {
            PyErr_Format(PyExc_ValueError, "%s has two columns %R that differ in case only, which are one to SQL; rename one", r->name, c->name);
        }
        ok = known == 0 && PySet_Add(seen, folded) == 0;
        Py_XDECREF(folded);
        if (ok) {
            sqlite3_str_appendf(out, "%s\"%w\"%s", i == 0 ? "" : ",", name, affinity(c));
        }
    }
    sqlite3_str_appendall(out, ")");
    Py_XDECREF(seen);
    char *text = sqlite3_str_finish(out);
    r->t->schema = text == NULL ? NULL : strdup(text);
    sqlite3_free(text);
    if (ok && r->t->schema == NULL) {
        PyErr_NoMemory();
    }
    return ok && r->t->schema != NULL;
}

table *table_read(PyObject *rows, const char *name, PyObject *inexact)
{
    reading r = {.t = calloc(1, sizeof(table)), .name = name, .inexact = inexact, .places = PyDict_New()};
    if (r.t == NULL || r.places == NULL) {
        Py_XDECREF(r.places);
        free(r.t);
        PyErr_NoMemory();
        return NULL;
    }
    bool ok;
    if (PyDict_Check(rows)) {
        ok = read_columns(&r, rows);
    } else {
        r.t->rows = (uint32_t)PySequence_Fast_GET_SIZE(rows);
        ok = read_rows(&r, rows);
    }
    if (ok && r.t->width == 0) {
        PyErr_Format(PyExc_ValueError, "%s has no rows, so that its columns are not known; look whether it is empty first", name);
        ok = false;
    }
    ok = ok && write_schema(&r);
    Py_DECREF(r.places);
    if (!ok) {
        table_free(r.t);
        return NULL;
    }
    return r.t;
}

void table_free(table *t)
{
    for (uint32_t i = 0; i < t->width; i++) {
        table_column *c = &t->columns[i];
        for (uint32_t row = 0; row < t->rows; row++) {
            Py_XDECREF(c->cells[row]);
        }
        free(c->cells);
        free(c->index.heads);
        free(c->index.next);
        Py_DECREF(c->name);
    }
    free(t->columns);
    free(t->schema);
    while (t->orders != NULL) {
        table_order *o = t->orders;
        t->orders = o->next;
        free(o->rows);
        free(o->spec);
        free(o);
    }
    free(t);
}
