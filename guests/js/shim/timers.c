/* setTimeout and its like. Time passes by sleeping, which the host ends at the
 * call's deadline. Functions run in the order in which they are due; those due
 * at one time, in the order in which they were set. */
#include "shim.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

typedef struct {
    double due, interval; /* milliseconds; interval < 0: once */
    uint64_t order;
    int64_t id;
    JSValue function;
    JSValue *args;
    int arg_count;
} timer;

/* A heap: each is due before timers[2i+1] and timers[2i+2]. */
static timer *timers;
static size_t count, cap;
static uint64_t next_order;
static int64_t next_id;

static bool before(const timer *a, const timer *b)
{
    return a->due < b->due || (a->due == b->due && a->order < b->order);
}

static void swap(size_t i, size_t k)
{
    timer t = timers[i];
    timers[i] = timers[k];
    timers[k] = t;
}

static void rise(size_t i)
{
    while (i > 0 && before(&timers[i], &timers[(i - 1) / 2])) {
        swap(i, (i - 1) / 2);
        i = (i - 1) / 2;
    }
}

static void sink(size_t i)
{
    for (;;) {
        size_t first = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < count; child++) {
            if (before(&timers[child], &timers[first])) {
                first = child;
            }
        }
        if (first == i) {
            return;
        }
        swap(i, first);
        i = first;
    }
}

static timer remove_at(size_t i)
{
    timer t = timers[i];
    timers[i] = timers[--count];
    if (i < count) {
        rise(i);
        sink(i);
    }
    return t;
}

static void release(timer *t)
{
    JS_FreeValue(ctx, t->function);
    for (int i = 0; i < t->arg_count; i++) {
        JS_FreeValue(ctx, t->args[i]);
    }
    free(t->args);
}

static bool insert(timer t)
{
    if (count == cap) {
        size_t more = cap * 2 + 8;
        timer *grown = realloc(timers, more * sizeof *grown);
        if (grown == NULL) {
            memory_ran_out = true;
            JS_ThrowOutOfMemory(ctx);
            return false;
        }
        timers = grown;
        cap = more;
    }
    t.order = next_order++;
    timers[count] = t;
    rise(count++);
    return true;
}

JSValue timers_set(JSContext *c, JSValueConst self, int argc, JSValueConst *argv, int repeats)
{
    double delay = 0;
    if (argc < 1 || !JS_IsFunction(c, argv[0])) {
        return JS_ThrowTypeError(c, "a timer needs a function to call");
    }
    if (argc > 1 && JS_ToFloat64(c, &delay, argv[1]) < 0) {
        return JS_EXCEPTION;
    }
    delay = delay >= 1 && delay <= 2147483647 ? trunc(delay) : 1; /* as everywhere: not at once, and not in a month */
    timer t = {.due = host_now() + delay, .interval = repeats ? delay : -1, .id = ++next_id};
    int extra = argc > 2 ? argc - 2 : 0;
    if (extra > 0) {
        t.args = malloc((size_t)extra * sizeof *t.args);
        if (t.args == NULL) {
            memory_ran_out = true;
            return JS_ThrowOutOfMemory(c);
        }
    }
    t.function = JS_DupValue(c, argv[0]);
    t.arg_count = extra;
    for (int i = 0; i < extra; i++) {
        t.args[i] = JS_DupValue(c, argv[i + 2]);
    }
    if (!insert(t)) {
        release(&t);
        return JS_EXCEPTION;
    }
    return JS_NewInt64(c, t.id);
}

JSValue timers_clear(JSContext *c, JSValueConst self, int argc, JSValueConst *argv)
{
    int64_t id;
    if (argc < 1 || !JS_IsNumber(argv[0]) || JS_ToInt64(c, &id, argv[0]) < 0) {
        return JS_UNDEFINED;
    }
    for (size_t i = 0; i < count; i++) {
        if (timers[i].id == id) {
            timer t = remove_at(i);
            release(&t);
            break;
        }
    }
    return JS_UNDEFINED;
}

static void sleep_until(double due)
{
    double left = due - host_now();
    if (left > 0) {
        struct timespec t = {.tv_sec = (time_t)(left / 1000)};
        t.tv_nsec = (long)((left - (double)t.tv_sec * 1000) * 1e6);
        nanosleep(&t, NULL);
    }
}

int timers_next(void)
{
    if (count == 0) {
        return 0;
    }
    sleep_until(timers[0].due);
    timer t = remove_at(0);
    if (t.interval >= 0) {
        /* Back in line before it runs, so that it can clear itself. */
        timer again = t;
        again.due = host_now() + t.interval;
        again.function = JS_DupValue(ctx, t.function);
        again.args = NULL;
        if (t.arg_count > 0) {
            again.args = malloc((size_t)t.arg_count * sizeof *again.args);
            if (again.args == NULL) {
                memory_ran_out = true;
                JS_ThrowOutOfMemory(ctx);
                return -1;
            }
        }
        for (int i = 0; i < t.arg_count; i++) {
            again.args[i] = JS_DupValue(ctx, t.args[i]);
        }
        if (!insert(again)) {
            return -1;
        }
    }
    JSValue result = JS_Call(ctx, t.function, JS_UNDEFINED, t.arg_count, t.args);
    release(&t);
    if (JS_IsException(result)) {
        return -1;
    }
    JS_FreeValue(ctx, result);
    return 1;
}
