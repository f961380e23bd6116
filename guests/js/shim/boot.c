/* Brings the engine into the state that the image keeps. */
#include "shim.h"

#include <stdio.h>

JSRuntime *rt;
JSContext *ctx;
JSValue date_to_text;



static const char inspect_js[] = {
#embed "inspect.js" suffix(, 0)
};
static const char console_js[] = {
#embed "console.js" suffix(, 0)
};
static const char world_js[] = {
#embed "world.js" suffix(, 0)
};
static const char warm_js[] = {
#embed "warm.js" suffix(, 0)
};

static void report(void)
{
    JSValue exception = JS_GetException(ctx);
    const char *text = JS_ToCString(ctx, exception);
    JSValue where = JS_IsObject(exception) ? engine_stack(ctx, exception) : JS_UNDEFINED;
    const char *stack = JS_ToCString(ctx, where);
    fprintf(stderr, "js: %s\n%s\n", text != NULL ? text : "out of memory", stack != NULL ? stack : "");
}

/* Evaluates a script, which is an expression. */
static JSValue evaluate(const char *name, const char *source, size_t len)
{
    return JS_Eval(ctx, source, len - 1, name, JS_EVAL_TYPE_GLOBAL | JS_EVAL_FLAG_STRICT);
}

#define EVALUATE(script) evaluate("mayfly:" #script, script##_js, sizeof script##_js)

static bool apply(JSValue function, JSValueConst a, JSValueConst b, JSValue *result)
{
    if (JS_IsException(function)) {
        return false;
    }
    JSValueConst args[] = {a, b};
    *result = JS_Call(ctx, function, JS_UNDEFINED, 2, args);
    JS_FreeValue(ctx, function);
    return !JS_IsException(*result);
}

static bool bind(void)
{
    JSValue global = JS_GetGlobalObject(ctx), date = JS_GetPropertyStr(ctx, global, "Date");
    JSValue proto = JS_GetPropertyStr(ctx, date, "prototype");
    date_to_text = JS_GetPropertyStr(ctx, proto, "toISOString");
    JS_FreeValue(ctx, proto);
    JS_FreeValue(ctx, date);
    JS_FreeValue(ctx, global);
    return !JS_IsException(date_to_text);
}

static bool start(void)
{
    rt = memory_new_runtime();
    if (rt == NULL) {
        return false;
    }
    ctx = JS_NewContext(rt);
    if (ctx == NULL) {
        return false;
    }
    JSValue host = host_functions(), inspect, done, exports;
    if (!bind() || !engine_settle_stacks(ctx) || !course_open() || !apply(EVALUATE(inspect), host, JS_UNDEFINED, &inspect) ||
        !apply(EVALUATE(console), host, inspect, &done) || !apply(EVALUATE(world), host, JS_UNDEFINED, &exports)) {
        return false;
    }
    host_install_modules(exports);
    return true;
}

bool boot(void)
{
    /* The bootstrap knows the engine's kinds by number. */
    _Static_assert(KIND_OBJECT == 0 && KIND_ARRAY == 1 && KIND_BOXED == 2 && KIND_DATE == 3 && KIND_MAP == 4 &&
                       KIND_SET == 5 && KIND_BYTES == 6 && KIND_NUMBERS == 7 && KIND_FUNCTION == 8 && KIND_REGEXP == 9 &&
                       KIND_ERROR == 10 && KIND_PROMISE == 11 && KIND_PROXY == 12 && KIND_ITERATOR == 13 &&
                       KIND_SYMBOL == 14 && KIND_WEAK == 15 && KIND_OTHER == 16,
                   "inspect.js has the same list");
    JSValue warm;
    if (!start() || !apply(EVALUATE(warm), JS_UNDEFINED, JS_UNDEFINED, &warm)) {
        if (ctx != NULL) {
            report();
        }
        return false;
    }
    JS_FreeValue(ctx, warm);
    /* What it left to be done must not be done in a call. */
    JSContext *c;
    int ran;
    while ((ran = JS_ExecutePendingJob(rt, &c)) > 0) {
    }
    if (ran < 0) {
        report();
        return false;
    }
    JS_RunGC(rt);
    host_start_clock();
    return true;
}
