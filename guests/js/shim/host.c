/* What the bootstrap asks of the shim, and the modules that code can import. */
#include "shim.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

__attribute__((import_module("mayfly"), import_name("host_call"))) int64_t mayfly_host_call(const uint8_t *data,
                                                                                           uint32_t len);
__attribute__((import_module("mayfly"), import_name("host_read"))) void mayfly_host_read(uint8_t *data);

static double clock_start;

static double clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* The clock of the image's making ran in another process. */
void host_start_clock(void)
{
    clock_start = -1;
}

/* Counted from the first time that somebody asks: a call that never does
 * spares itself a call of the host. */
double host_now(void)
{
    double now = clock_now();
    if (clock_start < 0) {
        clock_start = now;
    }
    return now - clock_start;
}

static JSValue now(JSContext *c, JSValueConst self, int argc, JSValueConst *argv)
{
    return JS_NewFloat64(c, host_now());
}

/* write(descriptor, text) */
static JSValue write_text(JSContext *c, JSValueConst self, int argc, JSValueConst *argv)
{
    int32_t descriptor;
    buffer text = {0};
    if (JS_ToInt32(c, &descriptor, argv[0]) < 0) {
        return JS_EXCEPTION;
    }
    if (!text_write(&text, argv[1])) {
        free(text.data);
        return JS_HasException(c) ? JS_EXCEPTION : JS_ThrowOutOfMemory(c);
    }
    for (size_t done = 0; done < text.len;) {
        ssize_t n = write(descriptor, text.data + done, text.len - done);
        if (n <= 0) {
            break; /* the host keeps what it keeps */
        }
        done += (size_t)n;
    }
    free(text.data);
    return JS_UNDEFINED;
}

static JSValue granted(JSContext *c, JSValueConst self, int argc, JSValueConst *argv)
{
    return JS_NewBool(c, call.host_calls);
}

static bool write_call(buffer *out, JSValueConst tool, JSValueConst args, refusal *why, json_status *status)
{
    if (!buffer_literal(out, "{\"tool\":") || !text_write_json(out, tool, SIZE_MAX) || !buffer_literal(out, ",\"args\":")) {
        return false;
    }
    *status = json_write(out, args, call.max_depth, why);
    return *status != JSON_DONE || buffer_byte(out, '}');
}

/* call(tool, arguments): [ok, text], or what is wrong with the arguments. */
static JSValue host_call(JSContext *c, JSValueConst self, int argc, JSValueConst *argv)
{
    buffer out = {0};
    refusal why = {0};
    json_status status = JSON_DONE;
    if (!call.host_calls || !JS_IsString(argv[0])) {
        return JS_ThrowTypeError(c, "this call may not call host tools");
    }
    if (!write_call(&out, argv[0], argv[1], &why, &status)) {
        free(out.data);
        return JS_ThrowOutOfMemory(c);
    }
    if (status == JSON_RAISED) {
        free(out.data);
        return JS_EXCEPTION;
    }
    if (status == JSON_REFUSED) {
        free(out.data);
        JSValue path = JS_NewStringLen(c, (const char *)why.path.data, why.path.len);
        const char *text = JS_ToCString(c, path);
        JS_ThrowTypeError(c, "argument %s: %s", text != NULL ? text : "", why.reason);
        JS_FreeCString(c, text);
        JS_FreeValue(c, path);
        return JS_EXCEPTION;
    }
    int64_t result = mayfly_host_call(out.data, (uint32_t)out.len);
    free(out.data);
    size_t len = (uint32_t)result;
    char *text = malloc(len + 1);
    if (text == NULL) {
        memory_ran_out = true;
        return JS_ThrowOutOfMemory(c);
    }
    mayfly_host_read((uint8_t *)text);
    JSValue pair = JS_NewArray(c);
    JSValue string = JS_NewStringLen(c, text, len);
    free(text);
    if (JS_IsException(pair) || JS_IsException(string)) {
        return JS_EXCEPTION;
    }
    JS_SetPropertyUint32(c, pair, 0, JS_NewBool(c, result >> 32 & 1));
    JS_SetPropertyUint32(c, pair, 1, string);
    return pair;
}

/* kind(object): what it is, whatever its prototype says. */
static JSValue kind(JSContext *c, JSValueConst self, int argc, JSValueConst *argv)
{
    return JS_NewInt32(c, JS_IsObject(argv[0]) ? (int)engine_kind_of(c, argv[0]) : -1);
}

/* entries(map or set): its keys and values, or elements, as one array. */
static JSValue entries(JSContext *c, JSValueConst self, int argc, JSValueConst *argv)
{
    JSValue *items, *elements = NULL;
    uint32_t count;
    engine_kind k = JS_IsObject(argv[0]) ? engine_kind_of(c, argv[0]) : KIND_OTHER;
    if (k != KIND_MAP && k != KIND_SET) {
        return JS_ThrowTypeError(c, "neither a Map nor a Set");
    }
    if (!engine_entries(c, argv[0], &items, &count)) {
        return JS_EXCEPTION;
    }
    count *= k == KIND_MAP ? 2 : 1;
    JSValue array = engine_new_array(c, count, &elements);
    for (uint32_t i = 0; i < count; i++) {
        if (JS_IsException(array)) {
            JS_FreeValue(c, items[i]);
        } else {
            elements[i] = items[i];
        }
    }
    js_free(c, items);
    return array;
}

/* promise(p): [state, result] */
static JSValue promise(JSContext *c, JSValueConst self, int argc, JSValueConst *argv)
{
    JSValue *elements, array = engine_new_array(c, 2, &elements);
    if (!JS_IsException(array)) {
        JSPromiseStateEnum state = JS_PromiseState(c, argv[0]);
        elements[0] = JS_NewInt32(c, (int)state);
        elements[1] = state == JS_PROMISE_PENDING ? JS_UNDEFINED : JS_PromiseResult(c, argv[0]);
    }
    return array;
}

/* stack(error): the engine's note of where it was made. */
static JSValue stack(JSContext *c, JSValueConst self, int argc, JSValueConst *argv)
{
    return JS_IsObject(argv[0]) ? engine_stack(c, argv[0]) : JS_UNDEFINED;
}

/* domText(error, "name" or "message"), undefined unless it is a DOMException */
static JSValue dom_text(JSContext *c, JSValueConst self, int argc, JSValueConst *argv)
{
    const char *name = JS_ToCString(c, argv[1]);
    JSValue text = JS_IsObject(argv[0]) && name != NULL ? engine_dom_text(c, argv[0], name) : JS_UNDEFINED;
    JS_FreeCString(c, name);
    return text;
}

static JSValue unbox(JSContext *c, JSValueConst self, int argc, JSValueConst *argv)
{
    if (!JS_IsObject(argv[0])) {
        return JS_UNDEFINED;
    }
    engine_kind k = engine_kind_of(c, argv[0]);
    return k == KIND_BOXED || k == KIND_DATE || k == KIND_SYMBOL ? engine_unbox(c, argv[0]) : JS_UNDEFINED;
}

/* A generator that is in the image would give every call the same numbers: it
 * is seeded by the first call of it. */
static bool seeded;
static JSValue engine_random;

static JSValue random_number(JSContext *c, JSValueConst self, int argc, JSValueConst *argv)
{
    if (!seeded) {
        uint64_t seed = 0;
        if (getentropy(&seed, sizeof seed) != 0) {
            return JS_ThrowInternalError(c, "there is no randomness here");
        }
        engine_seed(c, seed);
        seeded = true;
    }
    return JS_Call(c, engine_random, JS_UNDEFINED, 0, NULL);
}

/* fill(bytes): random ones. */
static JSValue fill(JSContext *c, JSValueConst self, int argc, JSValueConst *argv)
{
    size_t len;
    uint8_t *data = JS_GetUint8Array(c, &len, argv[0]);
    if (data == NULL) {
        return JS_EXCEPTION;
    }
    for (size_t at = 0; at < len; at += 256) {
        if (getentropy(data + at, len - at < 256 ? len - at : 256) != 0) {
            return JS_ThrowInternalError(c, "there is no randomness here");
        }
    }
    return JS_UNDEFINED;
}

/* encode(text): its UTF-8. */
static JSValue encode(JSContext *c, JSValueConst self, int argc, JSValueConst *argv)
{
    buffer text = {0};
    JSValue bytes = text_write(&text, argv[0]) ? JS_NewUint8ArrayCopy(c, text.data, text.len) : JS_ThrowOutOfMemory(c);
    free(text.data);
    return bytes;
}

/* decode(bytes): the text whose UTF-8 they are; what is none becomes U+FFFD. */
static JSValue decode(JSContext *c, JSValueConst self, int argc, JSValueConst *argv)
{
    const uint8_t *data;
    size_t len;
    if (!JS_IsObject(argv[0]) || engine_kind_of(c, argv[0]) != KIND_BYTES) {
        return JS_ThrowTypeError(c, "bytes are a Uint8Array, an ArrayBuffer or a DataView");
    }
    engine_bytes(argv[0], &data, &len);
    return text_read(data, len);
}

JSValue host_functions(void)
{
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("write", 2, write_text),
        JS_CFUNC_DEF("now", 0, now),
        JS_CFUNC_DEF("granted", 0, granted),
        JS_CFUNC_DEF("call", 2, host_call),
        JS_CFUNC_DEF("artifact", 2, artifact_write),
        JS_CFUNC_DEF("kind", 1, kind),
        JS_CFUNC_DEF("entries", 1, entries),
        JS_CFUNC_DEF("promise", 1, promise),
        JS_CFUNC_DEF("stack", 1, stack),
        JS_CFUNC_DEF("domText", 2, dom_text),
        JS_CFUNC_DEF("unbox", 1, unbox),
        JS_CFUNC_DEF("fill", 1, fill),
        JS_CFUNC_DEF("encode", 1, encode),
        JS_CFUNC_DEF("decode", 1, decode),
    };
    static const JSCFunctionListEntry timers[] = {
        JS_CFUNC_MAGIC_DEF("setTimeout", 2, timers_set, 0),
        JS_CFUNC_MAGIC_DEF("setInterval", 2, timers_set, 1),
        JS_CFUNC_DEF("clearTimeout", 1, timers_clear),
        JS_CFUNC_DEF("clearInterval", 1, timers_clear),
    };
    JSValue object = JS_NewObject(ctx), global = JS_GetGlobalObject(ctx);
    JSValue functions_of_math = JS_GetPropertyStr(ctx, global, "Math");
    engine_random = JS_GetPropertyStr(ctx, functions_of_math, "random");
    JS_SetPropertyFunctionList(ctx, object, functions, sizeof functions / sizeof *functions);
    JS_SetPropertyFunctionList(ctx, global, timers, sizeof timers / sizeof *timers);
    JS_DefinePropertyValueStr(ctx, functions_of_math, "random", JS_NewCFunction(ctx, random_number, "random", 0),
                              JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
    JS_FreeValue(ctx, functions_of_math);
    JS_FreeValue(ctx, global);
    return object;
}

/* What the module exports, as the bootstrap made it. */
static JSValue module_object;

static int fill_module(JSContext *c, JSModuleDef *module)
{
    static const char *const names[] = {"artifact", "callTool", "ToolError"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        JS_SetModuleExport(c, module, names[i], JS_GetPropertyStr(c, module_object, names[i]));
    }
    JS_SetModuleExport(c, module, "default", JS_DupValue(c, module_object));
    return 0;
}

static JSModuleDef *load_module(JSContext *c, const char *name, void *opaque)
{
    if (strcmp(name, "mayfly") != 0) {
        JS_ThrowReferenceError(c, "cannot find module '%s': there are no modules here but 'mayfly'; "
                                  "what a program needs must be in it or in its arguments", name);
        return NULL;
    }
    JSModuleDef *module = JS_NewCModule(c, name, fill_module);
    if (module != NULL) {
        JS_AddModuleExport(c, module, "artifact");
        JS_AddModuleExport(c, module, "callTool");
        JS_AddModuleExport(c, module, "ToolError");
        JS_AddModuleExport(c, module, "default");
    }
    return module;
}

static char *module_name(JSContext *c, const char *base, const char *name, void *opaque)
{
    return js_strdup(c, name);
}

void host_install_modules(JSValueConst exports)
{
    module_object = JS_DupValue(ctx, exports);
    JS_SetModuleLoaderFunc(rt, module_name, load_module, NULL);
}
