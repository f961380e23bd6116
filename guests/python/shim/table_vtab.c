/* A table as a virtual table of SQLite, under its own name. */
#include "table.h"

#include <stdlib.h>

typedef struct {
    sqlite3_vtab base;
    table *t;
} virtual_table;

/* Where a query stands: it walks the rows in their order, in another one, or
 * along a chain of an index. */
typedef struct {
    sqlite3_vtab_cursor base;
    const uint32_t *order; /* NULL: as they are */
    const uint32_t *chain; /* NULL: no chain */
    uint32_t at;           /* of the order; with a chain: row + 1 */
    uint32_t end;
} walk;

static int connect_table(sqlite3 *db, void *data, int argc, const char *const *argv, sqlite3_vtab **out, char **error)
{
    table *t = data;
    int rc = sqlite3_declare_vtab(db, t->schema);
    if (rc != SQLITE_OK) {
        *error = sqlite3_mprintf("%s", sqlite3_errmsg(db));
        return rc;
    }
    sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
    virtual_table *v = sqlite3_malloc(sizeof *v);
    if (v == NULL) {
        return SQLITE_NOMEM;
    }
    *v = (virtual_table){.t = t};
    *out = &v->base;
    return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab *base)
{
    sqlite3_free(base);
    return SQLITE_OK;
}

/* Which column a query can be answered by, -1 if none: one that must equal
 * something, byte for byte. */
static int find_equal(const sqlite3_index_info *info, int *at)
{
    for (int i = 0; i < info->nConstraint; i++) {
        if (info->aConstraint[i].usable && info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ && info->aConstraint[i].iColumn >= 0 &&
            strcmp(sqlite3_vtab_collation((sqlite3_index_info *)info, i), "BINARY") == 0) {
            *at = i;
            return info->aConstraint[i].iColumn;
        }
    }
    return -1;
}

/* Writes the spec of the order that a query wants; NULL if it is not of
 * columns. */
static char *write_order(sqlite3_index_info *info)
{
    sqlite3_str *out = sqlite3_str_new(NULL);
    /* DISTINCT alone wants equal rows side by side. GROUP BY says that it does
     * too, and then relies on their order when ORDER BY has the same columns. */
    sqlite3_str_appendchar(out, 1, sqlite3_vtab_distinct(info) == 2 ? 'g' : 's');
    bool ok = info->nOrderBy > 0 && info->nOrderBy <= 64;
    for (int i = 0; ok && i < info->nOrderBy; i++) {
        ok = info->aOrderBy[i].iColumn >= 0;
        sqlite3_str_appendf(out, "%d%c", info->aOrderBy[i].iColumn, info->aOrderBy[i].desc ? '-' : '+');
    }
    char *spec = sqlite3_str_finish(out);
    if (!ok) {
        sqlite3_free(spec);
        return NULL;
    }
    return spec;
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const table *t = ((virtual_table *)base)->t;
    int at, column = find_equal(info, &at);
    if (column >= 0) {
        info->aConstraintUsage[at].argvIndex = 1;
        info->idxNum = column + 1;
        info->estimatedRows = t->rows / 100 + 1;
        info->estimatedCost = (double)info->estimatedRows + 4;
        return SQLITE_OK;
    }
    info->estimatedRows = t->rows;
    info->estimatedCost = (double)t->rows + 1;
    info->idxStr = write_order(info);
    if (info->idxStr != NULL) {
        info->needToFreeIdxStr = 1;
        info->orderByConsumed = 1;
    }
    return SQLITE_OK;
}

static int open_walk(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    walk *w = sqlite3_malloc(sizeof *w);
    if (w == NULL) {
        return SQLITE_NOMEM;
    }
    *w = (walk){0};
    *out = &w->base;
    return SQLITE_OK;
}

static int close_walk(sqlite3_vtab_cursor *base)
{
    sqlite3_free(base);
    return SQLITE_OK;
}

/* Finds the rows whose column may equal a value. SQLite looks at each again,
 * so more than those are no harm: number and text can be equal once one of
 * them is converted, and such columns are walked as a whole. */
static int seek(walk *w, table *t, uint32_t column, sqlite3_value *value)
{
    const table_column *c = &t->columns[column];
    const uint32_t numbers = 1u << CELL_INT | 1u << CELL_FLOAT;
    cell wanted;
    PyObject *object = NULL;
    switch (sqlite3_value_type(value)) {
    case SQLITE_NULL:
        w->end = 0;
        return SQLITE_OK;
    case SQLITE_INTEGER:
        wanted = (cell){.kind = CELL_INT, .i = sqlite3_value_int64(value)};
        break;
    case SQLITE_FLOAT:
        wanted = (cell){.kind = CELL_FLOAT, .f = sqlite3_value_double(value)};
        break;
    case SQLITE_BLOB:
        return SQLITE_OK;
    default: {
        const char *text = (const char *)sqlite3_value_text(value);
        size_t len = (size_t)sqlite3_value_bytes(value);
        if (c->kinds & numbers && text_is_number_like(text, len)) {
            return SQLITE_OK;
        }
        PyGILState_STATE lock = PyGILState_Ensure();
        object = PyUnicode_DecodeUTF8(text, (Py_ssize_t)len, "surrogatepass");
        PyErr_Clear();
        PyGILState_Release(lock);
        if (object == NULL) {
            return SQLITE_OK;
        }
        wanted = (cell){.kind = CELL_TEXT, .object = object};
    }
    }
    bool walk_all = wanted.kind != CELL_TEXT && c->kinds & 1u << CELL_TEXT && c->number_like;
    if (!walk_all && !table_build_index(t, column)) {
        return SQLITE_NOMEM;
    }
    if (!walk_all) {
        w->chain = c->index.next;
        w->at = c->index.heads[(uint32_t)cell_hash(wanted) & c->index.mask];
    }
    if (object != NULL) {
        PyGILState_STATE lock = PyGILState_Ensure();
        Py_DECREF(object);
        PyGILState_Release(lock);
    }
    return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int column, const char *spec, int argc, sqlite3_value **argv)
{
    walk *w = (walk *)base;
    table *t = ((virtual_table *)base->pVtab)->t;
    w->order = w->chain = NULL;
    w->at = 0;
    w->end = t->rows;
    if (column > 0) {
        return seek(w, t, (uint32_t)column - 1, argv[0]);
    }
    if (spec != NULL) {
        w->order = table_sort(t, spec);
        if (w->order == NULL) {
            return SQLITE_NOMEM;
        }
    }
    return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *base)
{
    walk *w = (walk *)base;
    w->at = w->chain != NULL ? w->chain[w->at - 1] : w->at + 1;
    return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor *base)
{
    const walk *w = (const walk *)base;
    return w->chain != NULL ? w->at == 0 : w->at >= w->end;
}

static uint32_t row_of(const walk *w)
{
    return w->chain != NULL ? w->at - 1 : w->order != NULL ? w->order[w->at] : w->at;
}

static void result_text(sqlite3_context *context, PyObject *text)
{
    const char *bytes;
    Py_ssize_t len;
    if (PyUnicode_IS_COMPACT_ASCII(text)) {
        bytes = PyUnicode_DATA(text);
        len = PyUnicode_GET_LENGTH(text);
    } else {
        /* The first time it is encoded, and the object keeps that. */
        PyGILState_STATE lock = PyGILState_Ensure();
        bytes = PyUnicode_AsUTF8AndSize(text, &len);
        PyErr_Clear();
        PyGILState_Release(lock);
        if (bytes == NULL) {
            sqlite3_result_error(context, "a text cannot be written as UTF-8; it holds half of a surrogate pair", -1);
            return;
        }
    }
    sqlite3_result_text64(context, bytes, (sqlite3_uint64)len, SQLITE_STATIC, SQLITE_UTF8);
}

static int read_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const walk *w = (const walk *)base;
    cell c = table_cell(((virtual_table *)base->pVtab)->t, (uint32_t)column, row_of(w));
    switch (c.kind) {
    case CELL_NULL:
        break; /* what a result is unless it is set */
    case CELL_INT:
        sqlite3_result_int64(context, c.i);
        break;
    case CELL_FLOAT:
        sqlite3_result_double(context, c.f);
        break;
    case CELL_TEXT:
        result_text(context, c.object);
        break;
    case CELL_BLOB:
        sqlite3_result_blob64(context, PyBytes_AS_STRING(c.object), (sqlite3_uint64)PyBytes_GET_SIZE(c.object), SQLITE_STATIC);
        break;
    }
    return SQLITE_OK;
}

static int read_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
    *rowid = (sqlite3_int64)row_of((const walk *)base) + 1;
    return SQLITE_OK;
}

static const sqlite3_module functions = {
    .iVersion = 0,
    .xConnect = connect_table,
    .xBestIndex = best_index,
    .xDisconnect = disconnect_table,
    .xOpen = open_walk,
    .xClose = close_walk,
    .xFilter = filter,
    .xNext = next_row,
    .xEof = at_end,
    .xColumn = read_column,
    .xRowid = read_rowid,
};

static void destroy(void *data)
{
    PyGILState_STATE lock = PyGILState_Ensure();
    table_free(data);
    PyGILState_Release(lock);
}

/* Without xCreate a module is a table by itself, under the module's name. */
int table_register(sqlite3 *db, const char *name, table *t)
{
    return sqlite3_create_module_v2(db, name, &functions, t, destroy);
}
