/* Reads the globals section: the arguments of a call as values.
 *
 * guests/globals/GLOBALS.md describes the form. Keys are names of own
 * properties and nothing else: none of them is looked up in a prototype, so
 * __proto__, constructor and toJSON are keys like any other. */
#include "globals.h"
#include "shim.h"

#include <stdlib.h>

#define MAX_DEPTH 1000u
#define MAX_SAFE 9007199254740991

/* The keys that objects have in common. */
typedef struct {
    uint32_t count;
    JSAtom *keys;
    engine_shape *shape; /* NULL until wanted */
} shape;

typedef struct {
    span in;
    uint32_t shape_count, depth;
    shape *shapes;
    JSValue slots[GLOBALS_SLOTS];
} reader;

static JSValue read_value(reader *r);

static JSValue damaged(void)
{
    return JS_ThrowInternalError(ctx, GLOBALS_DAMAGED);
}

static JSValue no_memory(void)
{
    memory_ran_out = true;
    return JS_ThrowOutOfMemory(ctx);
}

static JSValue read_text(reader *r, bool ascii)
{
    uint32_t len;
    if (!span_count(&r->in, &len)) {
        return damaged();
    }
    JSValue text = ascii ? engine_latin1(ctx, r->in.at, len) : JS_NewStringLen(ctx, (const char *)r->in.at, len);
    r->in.at += len;
    return text;
}

static JSValue read_kept(reader *r, uint8_t tag)
{
    uint32_t slot;
    if (!span_slot(&r->in, &slot)) {
        return damaged();
    }
    if (tag != TAG_KEPT) {
        JSValue text = read_text(r, tag == TAG_KEEP_ASCII);
        if (JS_IsException(text)) {
            return text;
        }
        JS_FreeValue(ctx, r->slots[slot]);
        r->slots[slot] = text;
    }
    return JS_IsUndefined(r->slots[slot]) ? damaged() : JS_DupValue(ctx, r->slots[slot]);
}

static JSValue read_list(reader *r)
{
    uint32_t count;
    if (!span_count(&r->in, &count) || r->depth == MAX_DEPTH) {
        return damaged();
    }
    JSValue *elements = NULL, list = engine_new_array(ctx, count, &elements);
    r->depth++;
    for (uint32_t i = 0; !JS_IsException(list) && i < count; i++) {
        JSValue item = read_value(r);
        if (JS_IsException(item)) {
            return item;
        }
        elements[i] = item;
    }
    r->depth--;
    return list;
}

static shape *next_shape(reader *r)
{
    uint32_t index;
    return span_u32(&r->in, &index) && index < r->shape_count ? &r->shapes[index] : NULL;
}

static JSValue read_object(reader *r)
{
    shape *s = next_shape(r);
    if (s == NULL || r->depth == MAX_DEPTH) {
        return damaged();
    }
    if (s->shape == NULL) {
        s->shape = engine_new_shape(ctx, s->keys, s->count);
        if (s->shape == NULL) {
            return JS_EXCEPTION;
        }
    }
    JSValue few[32], *values = few;
    if (s->count > sizeof few / sizeof *few) {
        values = malloc(s->count * sizeof *values);
        if (values == NULL) {
            return no_memory();
        }
    }
    r->depth++;
    for (uint32_t i = 0; i < s->count; i++) {
        values[i] = read_value(r);
        if (JS_IsException(values[i])) {
            return JS_EXCEPTION;
        }
    }
    r->depth--;
    JSValue object = engine_new_object(ctx, s->shape, values);
    if (values != few) {
        free(values);
    }
    return object;
}

static JSValue read_value(reader *r)
{
    uint32_t len;
    if (!span_has(&r->in, 1)) {
        return damaged();
    }
    uint8_t tag = *r->in.at++;
    if (tag >= TAG_SMALL_INT) {
        return JS_NewInt32(ctx, tag - TAG_SMALL_INT);
    }
    switch (tag) {
    case TAG_NONE:
        return JS_NULL;
    case TAG_TRUE:
        return JS_TRUE;
    case TAG_FALSE:
        return JS_FALSE;
    case TAG_INT: {
        int64_t n;
        if (!span_int(&r->in, &n)) {
            return damaged();
        }
        return n >= -MAX_SAFE && n <= MAX_SAFE ? JS_NewInt64(ctx, n) : JS_NewBigInt64(ctx, n);
    }
    case TAG_BIG_INT: {
        if (!span_count(&r->in, &len)) {
            return damaged();
        }
        JSValue value = engine_new_bigint(ctx, r->in.at, len);
        r->in.at += len;
        return value;
    }
    case TAG_FLOAT: {
        double v;
        if (!span_float(&r->in, &v)) {
            return damaged();
        }
        return JS_NewFloat64(ctx, v);
    }
    case TAG_ASCII:
        return read_text(r, true);
    case TAG_UTF8:
        return read_text(r, false);
    case TAG_BYTES: {
        if (!span_count(&r->in, &len)) {
            return damaged();
        }
        JSValue value = JS_NewUint8ArrayCopy(ctx, r->in.at, len);
        r->in.at += len;
        return value;
    }
    case TAG_LIST:
        return read_list(r);
    case TAG_DICT:
        return read_object(r);
    case TAG_KEEP_ASCII:
    case TAG_KEEP_UTF8:
    case TAG_KEPT:
        return read_kept(r, tag);
    default:
        return damaged();
    }
}

static bool read_shapes(reader *r)
{
    if (!span_count(&r->in, &r->shape_count)) {
        damaged();
        return false;
    }
    r->shapes = calloc(r->shape_count + 1, sizeof *r->shapes);
    if (r->shapes == NULL) {
        no_memory();
        return false;
    }
    for (uint32_t i = 0; i < r->shape_count; i++) {
        shape *s = &r->shapes[i];
        uint64_t uses;
        if (!span_uint(&r->in, &uses) || !span_count(&r->in, &s->count)) {
            damaged();
            return false;
        }
        s->keys = calloc(s->count + 1, sizeof *s->keys);
        if (s->keys == NULL) {
            no_memory();
            return false;
        }
        for (uint32_t k = 0; k < s->count; k++) {
            uint32_t len;
            if (!span_count(&r->in, &len)) {
                damaged();
                return false;
            }
            s->keys[k] = JS_NewAtomLen(ctx, (const char *)r->in.at, len);
            r->in.at += len;
            if (s->keys[k] == JS_ATOM_NULL) {
                return false;
            }
        }
    }
    if (r->in.at != r->in.end) {
        damaged();
        return false;
    }
    return true;
}

static bool define_all(reader *r)
{
    const shape *s = span_has(&r->in, 1) && *r->in.at++ == TAG_DICT ? next_shape(r) : NULL;
    if (s == NULL) {
        damaged();
        return false;
    }
    JSValue global = JS_GetGlobalObject(ctx);
    bool ok = true;
    for (uint32_t i = 0; ok && i < s->count; i++) {
        JSValue value = read_value(r);
        ok = !JS_IsException(value) && JS_DefinePropertyValue(ctx, global, s->keys[i], value, JS_PROP_C_W_E) >= 0;
    }
    JS_FreeValue(ctx, global);
    if (ok && r->in.at != r->in.end) {
        damaged();
        return false;
    }
    return ok;
}

bool globals_load(const uint8_t *data, size_t len)
{
    span value, shapes;
    if (!globals_open(data, len, &value, &shapes)) {
        damaged();
        return false;
    }
    reader *r = malloc(sizeof *r);
    if (r == NULL) {
        no_memory();
        return false;
    }
    memset(r, 0, offsetof(reader, slots));
    for (size_t i = 0; i < GLOBALS_SLOTS; i++) {
        r->slots[i] = JS_UNDEFINED;
    }
    r->in = shapes;
    if (!read_shapes(r)) {
        return false;
    }
    r->in = value;
    /* Nothing of what is being made can be garbage. */
    size_t threshold = JS_GetGCThreshold(rt);
    JS_SetGCThreshold(rt, (size_t)-1);
    bool ok = define_all(r);
    size_t grown = engine_heap_size(rt) * 3 / 2;
    JS_SetGCThreshold(rt, grown > threshold ? grown : threshold);
    return ok;
}
