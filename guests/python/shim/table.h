/* Python rows as tables of SQLite: nothing is copied into the database, its
 * queries read the objects themselves. */
#ifndef MAYFLY_TABLE_H
#define MAYFLY_TABLE_H

#include "shim.h"

#include <sqlite3.h>

/* The kinds of a cell, in the order in which SQLite sorts them; INT and FLOAT
 * sort as one. */
typedef enum { CELL_NULL, CELL_INT, CELL_FLOAT, CELL_TEXT, CELL_BLOB } cell_kind;

/* A value as SQL sees it. */
typedef struct {
    cell_kind kind;
    union {
        int64_t i;
        double f;
        PyObject *object; /* str or bytes, borrowed */
    };
} cell;

/* A column by value: chains of rows whose values have the same hash. */
typedef struct {
    uint32_t *heads, *next; /* row + 1; 0 ends a chain */
    uint32_t mask;
} table_index;

typedef struct {
    PyObject *name;   /* str */
    PyObject **cells; /* one owned reference for each row; NULL where a row has none */
    uint32_t kinds;   /* 1 << cell_kind for each kind that occurs */
    bool number_like; /* some text may equal a number */
    table_index index;
} table_column;

typedef struct {
    uint32_t rows, width, room; /* room: columns allocated */
    table_column *columns;
    char *schema; /* what SQLite is told of it */
    struct table_order *orders; /* those that queries asked for */
} table;

/* The rows in one order. */
typedef struct table_order {
    struct table_order *next;
    char *spec;
    uint32_t *rows;
} table_order;

/* table_read.c: reads rows, an object of Python's, into a table. NULL with an
 * exception that names the row and the column. inexact is a tuple of number
 * types that SQL would round. */
table *table_read(PyObject *rows, const char *name, PyObject *inexact);
void table_free(table *t);

/* table_cell.c: what a stored object is to SQL. */
cell cell_of(PyObject *object);
uint64_t cell_hash(cell c);
bool cell_equal(cell a, cell b);
int cell_compare(cell a, cell b);
/* Whether text may be equal to a number once SQLite has converted one of them. */
bool text_is_number_like(const char *text, size_t len);

static inline cell table_cell(const table *t, uint32_t column, uint32_t row)
{
    return cell_of(t->columns[column].cells[row]);
}

/* table_order.c: both keep what they build in t, for as long as t lives.
 * spec is a list of columns as best_index wrote it; NULL, or false, when there
 * is no memory. */
const uint32_t *table_sort(table *t, const char *spec);
bool table_build_index(table *t, uint32_t column);

/* table_vtab.c: makes t a table of that name; takes t over. */
int table_register(sqlite3 *db, const char *name, table *t);

/* stats.c: adds median, stddev, corr and their like. */
int stats_register(sqlite3 *db);

/* sql.c: functions for module.c. */
PyObject *sql_prepare(PyObject *self, PyObject *connection);
PyObject *sql_bind(PyObject *self, PyObject *args);
PyObject *sql_unbind(PyObject *self, PyObject *args);
PyObject *sql_records(PyObject *self, PyObject *args);

#endif
