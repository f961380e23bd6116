/* Statistics for SQL, with the names that other databases give them. All
 * compute in double precision and skip NULL, pairs of which one is NULL too. */
#include "table.h"

#include <math.h>
#include <stdlib.h>

typedef enum {
    VAR_SAMP,
    VAR_POP,
    STDDEV_SAMP,
    STDDEV_POP,
    COVAR_SAMP,
    COVAR_POP,
    CORR,
    REGR_SLOPE,
    REGR_INTERCEPT,
    REGR_R2,
    REGR_COUNT,
    MEDIAN,
    PERCENTILE,      /* of 0 to 100, between two values if need be */
    PERCENTILE_CONT, /* the same of 0 to 1 */
    PERCENTILE_DISC, /* of 0 to 1, always one of the values */
} statistic;

typedef struct {
    const char *name;
    int args;
    statistic which;
} aggregate;

static const aggregate aggregates[] = {
    {"variance", 1, VAR_SAMP},
    {"var_samp", 1, VAR_SAMP},
    {"var_pop", 1, VAR_POP},
    {"stddev", 1, STDDEV_SAMP},
    {"stddev_samp", 1, STDDEV_SAMP},
    {"stddev_pop", 1, STDDEV_POP},
    {"covar_samp", 2, COVAR_SAMP},
    {"covar_pop", 2, COVAR_POP},
    {"corr", 2, CORR},
    {"regr_slope", 2, REGR_SLOPE},
    {"regr_intercept", 2, REGR_INTERCEPT},
    {"regr_r2", 2, REGR_R2},
    {"regr_count", 2, REGR_COUNT},
    {"median", 1, MEDIAN},
    {"percentile", 2, PERCENTILE},
    {"percentile_cont", 2, PERCENTILE_CONT},
    {"percentile_disc", 2, PERCENTILE_DISC},
};

static const aggregate *which(sqlite3_context *context)
{
    return sqlite3_user_data(context);
}

static void refuse(sqlite3_context *context, const char *what)
{
    char *text = sqlite3_mprintf("%s: %s", which(context)->name, what);
    sqlite3_result_error(context, text == NULL ? what : text, -1);
    sqlite3_free(text);
}

/* Reads a number. False for NULL, and with an error for what is none. */
static bool number(sqlite3_context *context, sqlite3_value *value, double *out)
{
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
    case SQLITE_FLOAT:
        *out = sqlite3_value_double(value);
        return true;
    case SQLITE_NULL:
        return false;
    }
    refuse(context, "a value is not a number; take the others out with WHERE, or CAST them");
    return false;
}

/* Moments of pairs (y, x), updated so that large values that differ little
 * lose nothing; of single values, both are the value. */
typedef struct {
    int64_t count;
    double mean_x, mean_y, xx, yy, xy;
} moments;

static void step_moments(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    moments *m = sqlite3_aggregate_context(context, sizeof *m);
    if (m == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    double y, x;
    if (!number(context, argv[0], &y) || !number(context, argv[argc - 1], &x)) {
        return;
    }
    m->count++;
    double dx = x - m->mean_x, dy = y - m->mean_y;
    m->mean_x += dx / (double)m->count;
    m->mean_y += dy / (double)m->count;
    m->xx += dx * (x - m->mean_x);
    m->yy += dy * (y - m->mean_y);
    m->xy += dx * (y - m->mean_y);
}

/* What a set of pairs gives; NAN, which is NULL, where there is nothing to say. */
static double evaluate(statistic s, const moments *m)
{
    double n = (double)m->count;
    switch (s) {
    case VAR_SAMP:
        return n < 2 ? NAN : m->xx / (n - 1);
    case VAR_POP:
        return n < 1 ? NAN : m->xx / n;
    case STDDEV_SAMP:
        return n < 2 ? NAN : sqrt(m->xx / (n - 1));
    case STDDEV_POP:
        return n < 1 ? NAN : sqrt(m->xx / n);
    case COVAR_SAMP:
        return n < 2 ? NAN : m->xy / (n - 1);
    case COVAR_POP:
        return n < 1 ? NAN : m->xy / n;
    case CORR:
        return m->xx > 0 && m->yy > 0 ? m->xy / (sqrt(m->xx) * sqrt(m->yy)) : NAN;
    case REGR_SLOPE:
        return m->xx > 0 ? m->xy / m->xx : NAN;
    case REGR_INTERCEPT:
        return m->xx > 0 ? m->mean_y - m->xy / m->xx * m->mean_x : NAN;
    case REGR_R2:
        return !(m->xx > 0) ? NAN : m->yy > 0 ? m->xy * m->xy / (m->xx * m->yy) : 1;
    default:
        return NAN;
    }
}

static void finish_moments(sqlite3_context *context)
{
    static const moments none;
    const moments *m = sqlite3_aggregate_context(context, 0);
    m = m == NULL ? &none : m;
    if (which(context)->which == REGR_COUNT) {
        sqlite3_result_int64(context, m->count);
    } else {
        sqlite3_result_double(context, evaluate(which(context)->which, m));
    }
}

/* All values of a group. */
typedef struct {
    double *values;
    uint32_t count, room;
    double fraction;
    bool has_fraction;
} collection;

/* Reads which percentile is asked for, the same for every row. */
static bool read_fraction(sqlite3_context *context, sqlite3_value *value, collection *c)
{
    double most = which(context)->which == PERCENTILE ? 100 : 1, fraction;
    int type = sqlite3_value_type(value);
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) {
        refuse(context, "the second argument says which percentile, and is not a number");
        return false;
    }
    fraction = sqlite3_value_double(value) / most;
    if (!(fraction >= 0 && fraction <= 1)) {
        refuse(context, most == 100 ? "the second argument is from 0 to 100" : "the second argument is from 0 to 1");
        return false;
    }
    if (c->has_fraction && c->fraction != fraction) {
        refuse(context, "the second argument must be the same for every row");
        return false;
    }
    c->fraction = fraction;
    c->has_fraction = true;
    return true;
}

static void step_collection(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    collection *c = sqlite3_aggregate_context(context, sizeof *c);
    double value;
    if (c == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    if ((argc == 2 && !read_fraction(context, argv[1], c)) || !number(context, argv[0], &value)) {
        return;
    }
    if (c->count == c->room) {
        uint32_t room = c->room == 0 ? 16 : c->room * 2;
        void *more = realloc(c->values, room * sizeof *c->values);
        if (more == NULL) {
            sqlite3_result_error_nomem(context);
            return;
        }
        c->values = more;
        c->room = room;
    }
    c->values[c->count++] = value;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void finish_collection(sqlite3_context *context)
{
    collection *c = sqlite3_aggregate_context(context, 0);
    if (c == NULL || c->count == 0) {
        return;
    }
    qsort(c->values, c->count, sizeof *c->values, compare_doubles);
    double fraction = which(context)->which == MEDIAN ? 0.5 : c->fraction;
    if (which(context)->which == PERCENTILE_DISC) {
        double at = ceil(fraction * c->count);
        sqlite3_result_double(context, c->values[at < 1 ? 0 : (uint32_t)at - 1]);
    } else {
        double at = fraction * (c->count - 1);
        uint32_t below = (uint32_t)at;
        double low = c->values[below], high = c->values[below + 1 < c->count ? below + 1 : below];
        sqlite3_result_double(context, low == high ? low : low + (high - low) * (at - below));
    }
    free(c->values);
    c->values = NULL;
}

int stats_register(sqlite3 *db)
{
    for (size_t i = 0; i < Py_ARRAY_LENGTH(aggregates); i++) {
        const aggregate *a = &aggregates[i];
        bool collects = a->which >= MEDIAN;
        int rc = sqlite3_create_function_v2(db, a->name, a->args, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, (void *)a, NULL,
                                            collects ? step_collection : step_moments, collects ? finish_collection : finish_moments, NULL);
        if (rc != SQLITE_OK) {
            return rc;
        }
    }
    return SQLITE_OK;
}
