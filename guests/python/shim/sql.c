/* What mayfly.sql() asks of the shim. */
#define Py_BUILD_CORE 1
#include "table.h"

#include "pycore_dict.h"

/* The start of sqlite3's Connection object (Modules/_sqlite/connection.h of the
 * version that the guest is built from). */
typedef struct {
    PyObject_HEAD
    sqlite3 *db;
} connection_head;

static sqlite3 *database_of(PyObject *connection)
{
    if (strcmp(Py_TYPE(connection)->tp_name, "sqlite3.Connection") != 0) {
        PyErr_SetString(PyExc_TypeError, "not a connection of sqlite3");
        return NULL;
    }
    sqlite3 *db = ((connection_head *)connection)->db;
    if (db == NULL) {
        PyErr_SetString(PyExc_ValueError, "the connection is closed");
    }
    return db;
}

static PyObject *done(sqlite3 *db, int rc)
{
    if (rc == SQLITE_NOMEM) {
        return PyErr_NoMemory();
    }
    if (rc != SQLITE_OK) {
        return PyErr_Format(PyExc_RuntimeError, "SQLite: %s", sqlite3_errmsg(db));
    }
    Py_RETURN_NONE;
}

/* sql_prepare(connection): adds the aggregates. */
PyObject *sql_prepare(PyObject *self, PyObject *connection)
{
    sqlite3 *db = database_of(connection);
    return db == NULL ? NULL : done(db, stats_register(db));
}

/* sql_bind(connection, name, rows, inexact): rows is a list, a tuple, or a dict
 * of them. */
PyObject *sql_bind(PyObject *self, PyObject *args)
{
    PyObject *connection, *rows, *inexact;
    const char *name;
    if (!PyArg_ParseTuple(args, "OsOO!", &connection, &name, &rows, &PyTuple_Type, &inexact)) {
        return NULL;
    }
    if (!PyList_Check(rows) && !PyTuple_Check(rows) && !PyDict_Check(rows)) {
        return PyErr_Format(PyExc_TypeError, "%s is of type %s; a table is a list of dicts", name, Py_TYPE(rows)->tp_name);
    }
    sqlite3 *db = database_of(connection);
    table *t = db == NULL ? NULL : table_read(rows, name, inexact);
    return t == NULL ? NULL : done(db, table_register(db, name, t));
}

/* sql_unbind(connection, name) */
PyObject *sql_unbind(PyObject *self, PyObject *args)
{
    PyObject *connection;
    const char *name;
    if (!PyArg_ParseTuple(args, "Os", &connection, &name)) {
        return NULL;
    }
    sqlite3 *db = database_of(connection);
    return db == NULL ? NULL : done(db, sqlite3_create_module_v2(db, name, NULL, NULL, NULL));
}

/* sql_records(names, rows): a dict for each row, a tuple as long as names. */
PyObject *sql_records(PyObject *self, PyObject *args)
{
    PyObject *names, *rows;
    if (!PyArg_ParseTuple(args, "O!O!", &PyTuple_Type, &names, &PyList_Type, &rows)) {
        return NULL;
    }
    Py_ssize_t count = PyList_GET_SIZE(rows), width = PyTuple_GET_SIZE(names);
    PyObject *records = PyList_New(count);
    for (Py_ssize_t i = 0; records != NULL && i < count; i++) {
        PyObject *row = PyList_GET_ITEM(rows, i), *record = NULL;
        if (!PyTuple_CheckExact(row) || PyTuple_GET_SIZE(row) != width) {
            PyErr_SetString(PyExc_TypeError, "a row is not a tuple as long as the names");
        } else {
            record = _PyDict_NewPresized(width);
        }
        for (Py_ssize_t k = 0; record != NULL && k < width; k++) {
            if (PyDict_SetItem(record, PyTuple_GET_ITEM(names, k), PyTuple_GET_ITEM(row, k)) < 0) {
                Py_CLEAR(record);
            }
        }
        if (record == NULL) {
            Py_CLEAR(records);
            break;
        }
        PyList_SET_ITEM(records, i, record);
    }
    return records;
}
