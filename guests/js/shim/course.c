/* The course of a program: its own code, then whatever it left to be done
 * (reactions of promises, timers) until there is no more of it. Only then is
 * its value looked at, so nothing of the program runs behind its end. */
#include "shim.h"

#include <stdlib.h>

static JSValue kept, keep_function;

/* Rejected promises that nothing handles so far, oldest first. */
typedef struct {
    JSValue promise, reason, stack;
} rejection;

static rejection *rejections;
static size_t rejection_count, rejection_cap;

static JSValue keep(JSContext *c, JSValueConst self, int argc, JSValueConst *argv)
{
    JS_FreeValue(c, kept);
    kept = argc > 0 ? JS_DupValue(c, argv[0]) : JS_UNDEFINED;
    return JS_UNDEFINED;
}

static void on_rejection(JSContext *c, JSValueConst promise, JSValueConst reason, bool is_handled, void *opaque)
{
    if (!is_handled) {
        if (rejection_count == rejection_cap) {
            size_t cap = rejection_cap * 2 + 8;
            rejection *more = realloc(rejections, cap * sizeof *more);
            if (more == NULL) {
                memory_ran_out = true;
                return;
            }
            rejections = more;
            rejection_cap = cap;
        }
        rejections[rejection_count++] = (rejection){
            JS_DupValue(c, promise), JS_DupValue(c, reason), engine_thrown_from(c),
        };
        return;
    }
    for (size_t i = rejection_count; i-- > 0;) {
        if (JS_VALUE_GET_PTR(rejections[i].promise) == JS_VALUE_GET_PTR(promise)) {
            JS_FreeValue(c, rejections[i].promise);
            JS_FreeValue(c, rejections[i].reason);
            JS_FreeValue(c, rejections[i].stack);
            rejection_count--;
            memmove(&rejections[i], &rejections[i + 1], (rejection_count - i) * sizeof *rejections);
            return;
        }
    }
}

bool course_open(void)
{
    kept = JS_UNDEFINED;
    keep_function = JS_NewCFunction(ctx, keep, "", 1);
    JS_SetHostPromiseRejectionTracker(rt, on_rejection, NULL);
    return !JS_IsException(keep_function);
}

/* Throws the reason of a rejection that nobody handled: that of the program
 * itself, else the first. */
static bool throw_rejection(JSValueConst program, JSValue *stack)
{
    if (rejection_count == 0) {
        return false;
    }
    rejection *r = &rejections[0];
    for (size_t i = 0; i < rejection_count; i++) {
        if (JS_VALUE_GET_PTR(rejections[i].promise) == JS_VALUE_GET_PTR(program)) {
            r = &rejections[i];
        }
    }
    *stack = JS_DupValue(ctx, r->stack);
    JS_Throw(ctx, JS_DupValue(ctx, r->reason));
    return true;
}

/* Runs what is left to be done. False with an exception. */
static bool drain(JSValueConst program, JSValue *stack)
{
    for (;;) {
        JSContext *c;
        int ran;
        while ((ran = JS_ExecutePendingJob(rt, &c)) > 0) {
        }
        if (ran < 0) {
            *stack = engine_thrown_from(ctx);
            return false;
        }
        if (throw_rejection(program, stack)) {
            return false;
        }
        int fired = timers_next();
        if (fired < 0) {
            *stack = engine_thrown_from(ctx);
            return false;
        }
        if (fired == 0) {
            return true;
        }
    }
}

static JSValue deadlock(void)
{
    return JS_ThrowPlainError(ctx, "deadlock: the code waits for a promise that nothing is left to settle");
}

JSValue course_run(JSValue *stack)
{
    *stack = JS_UNDEFINED;
    JSValue function = engine_compile(ctx, call.code, call.code_len, call.name, keep_function);
    if (JS_IsException(function)) {
        return JS_EXCEPTION;
    }
    JSValue end = JS_EvalFunction(ctx, function);
    if (JS_IsException(end)) {
        *stack = engine_thrown_from(ctx);
        return JS_EXCEPTION;
    }
    if (!drain(end, stack)) {
        return JS_EXCEPTION;
    }
    if (JS_PromiseState(ctx, end) != JS_PROMISE_FULFILLED) {
        return deadlock();
    }
    /* A last line such as main() stands for what it will come to. */
    while (JS_IsObject(kept) && engine_kind_of(ctx, kept) == KIND_PROMISE) {
        if (JS_PromiseState(ctx, kept) == JS_PROMISE_PENDING) {
            return deadlock();
        }
        JSValue result = JS_PromiseResult(ctx, kept);
        if (JS_PromiseState(ctx, kept) == JS_PROMISE_REJECTED) {
            return JS_Throw(ctx, result); /* handled elsewhere, and still its outcome */
        }
        JS_FreeValue(ctx, kept);
        kept = result;
    }
    return JS_DupValue(ctx, kept);
}
