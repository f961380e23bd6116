/* Rows grouped, sorted and found by value, so that SQLite neither copies a
 * table to sort it nor walks all of it for each row of another. */
#include "table.h"

#include <stdlib.h>

#define MAX_KEYS 64

typedef struct {
    uint32_t column;
    bool descending;
} key;

typedef struct {
    const table *t;
    key keys[MAX_KEYS];
    uint32_t count;
    uint32_t *reps; /* one row of each group */
} grouping;

/* A spec is "s" (sorted) or "g" (grouped is enough), then for each key its
 * column and + or -, such as "s0+3-". */
static bool parse(const char *spec, grouping *g)
{
    for (const char *c = spec + 1; *c != 0;) {
        if (g->count == MAX_KEYS) {
            return false;
        }
        char *end;
        g->keys[g->count].column = (uint32_t)strtoul(c, &end, 10);
        g->keys[g->count].descending = *end == '-';
        g->count++;
        c = end + 1;
    }
    return true;
}

static uint64_t hash_row(const grouping *g, uint32_t row)
{
    uint64_t h = 0;
    for (uint32_t k = 0; k < g->count; k++) {
        h = h * 31 + cell_hash(table_cell(g->t, g->keys[k].column, row));
    }
    return h;
}

static bool equal_rows(const grouping *g, uint32_t a, uint32_t b)
{
    for (uint32_t k = 0; k < g->count; k++) {
        PyObject **cells = g->t->columns[g->keys[k].column].cells;
        if (cells[a] != cells[b] && !cell_equal(cell_of(cells[a]), cell_of(cells[b]))) {
            return false;
        }
    }
    return true;
}

/* qsort has no room for a context; there is one thread. */
static const grouping *sorting;

static int compare_groups(const void *a, const void *b)
{
    uint32_t left = sorting->reps[*(const uint32_t *)a], right = sorting->reps[*(const uint32_t *)b];
    for (uint32_t k = 0; k < sorting->count; k++) {
        key by = sorting->keys[k];
        int order = cell_compare(table_cell(sorting->t, by.column, left), table_cell(sorting->t, by.column, right));
        if (order != 0) {
            return by.descending ? -order : order;
        }
    }
    return 0;
}

/* Gives every row the number of its group. */
static bool number_groups(grouping *g, uint32_t *groups, uint32_t *count)
{
    uint32_t size = 64, used = 0;
    uint32_t *slots = calloc(size, sizeof *slots); /* group + 1 */
    uint64_t *hashes = NULL;
    uint32_t room = 0;
    bool ok = slots != NULL;
    for (uint32_t row = 0; ok && row < g->t->rows; row++) {
        uint64_t h = hash_row(g, row);
        uint32_t at = (uint32_t)h & (size - 1);
        while (slots[at] != 0 && !(hashes[slots[at] - 1] == h && equal_rows(g, g->reps[slots[at] - 1], row))) {
            at = (at + 1) & (size - 1);
        }
        if (slots[at] != 0) {
            groups[row] = slots[at] - 1;
            continue;
        }
        if (used == room) {
            room = room == 0 ? 64 : room * 2;
            void *more = realloc(g->reps, room * sizeof *g->reps);
            g->reps = more != NULL ? more : g->reps;
            void *wider = realloc(hashes, room * sizeof *hashes);
            hashes = wider != NULL ? wider : hashes;
            if (more == NULL || wider == NULL) {
                ok = false;
                break;
            }
        }
        g->reps[used] = row;
        hashes[used] = h;
        groups[row] = used;
        slots[at] = ++used;
        if (used * 2 > size) {
            size *= 2;
            free(slots);
            slots = calloc(size, sizeof *slots);
            ok = slots != NULL;
            for (uint32_t i = 0; ok && i < used; i++) {
                at = (uint32_t)hashes[i] & (size - 1);
                while (slots[at] != 0) {
                    at = (at + 1) & (size - 1);
                }
                slots[at] = i + 1;
            }
        }
    }
    free(slots);
    free(hashes);
    *count = used;
    return ok;
}

/* Puts the rows of each group side by side, in the order that they had. */
static bool place(const grouping *g, const uint32_t *groups, uint32_t count, bool sorted, uint32_t *order)
{
    uint32_t *sequence = malloc((count + 1) * sizeof *sequence), *starts = calloc(count + 1, sizeof *starts);
    bool ok = sequence != NULL && starts != NULL;
    if (ok) {
        for (uint32_t i = 0; i < count; i++) {
            sequence[i] = i;
        }
        if (sorted) {
            sorting = g;
            qsort(sequence, count, sizeof *sequence, compare_groups);
        }
        for (uint32_t row = 0; row < g->t->rows; row++) {
            starts[groups[row]]++;
        }
        uint32_t at = 0;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t size = starts[sequence[i]];
            starts[sequence[i]] = at;
            at += size;
        }
        for (uint32_t row = 0; row < g->t->rows; row++) {
            order[starts[groups[row]]++] = row;
        }
    }
    free(sequence);
    free(starts);
    return ok;
}

const uint32_t *table_sort(table *t, const char *spec)
{
    for (const table_order *o = t->orders; o != NULL; o = o->next) {
        if (strcmp(o->spec, spec) == 0) {
            return o->rows;
        }
    }
    grouping g = {.t = t};
    uint32_t count, *groups = malloc((t->rows + 1) * sizeof *groups);
    table_order *o = calloc(1, sizeof *o);
    bool ok = groups != NULL && o != NULL && (o->spec = strdup(spec)) != NULL &&
              (o->rows = malloc((t->rows + 1) * sizeof *o->rows)) != NULL && parse(spec, &g) && number_groups(&g, groups, &count) &&
              place(&g, groups, count, spec[0] == 's', o->rows);
    free(groups);
    free(g.reps);
    if (!ok) {
        if (o != NULL) {
            free(o->rows);
            free(o->spec);
        }
        free(o);
        return NULL;
    }
    o->next = t->orders;
    t->orders = o;
    return o->rows;
}

bool table_build_index(table *t, uint32_t column)
{
    table_column *c = &t->columns[column];
    if (c->index.heads != NULL) {
        return true;
    }
    uint32_t size = 64;
    while (size < t->rows) {
        size *= 2;
    }
    uint32_t *heads = calloc(size, sizeof *heads), *next = malloc((t->rows + 1) * sizeof *next);
    if (heads == NULL || next == NULL) {
        free(heads);
        free(next);
        return false;
    }
    for (uint32_t row = t->rows; row-- > 0;) { /* from the end, so that chains go forward */
        uint32_t at = (uint32_t)cell_hash(table_cell(t, column, row)) & (size - 1);
        next[row] = heads[at];
        heads[at] = row + 1;
    }
    c->index = (table_index){.heads = heads, .next = next, .mask = size - 1};
    return true;
}
