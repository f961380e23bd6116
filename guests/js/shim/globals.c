/* Reads the globals section: the arguments of a call as values.
 *
 * guests/globals/GLOBALS.md describes the form. Keys are names of own
 * properties and nothing else: none of them is looked up in a prototype, so
 * __proto__, constructor and toJSON are keys like any other. */
#include "shim.h"

#include <stdlib.h>

#define FORMAT 1u
#define SLOTS 1024u
#define MAX_DEPTH 1000u
#define MAX_SAFE 9007199254740991

enum {
    TAG_NONE,
    TAG_TRUE,
    TAG_FALSE,
    TAG_INT,
    TAG_BIG_INT,
    TAG_FLOAT,
    TAG_ASCII,
    TAG_UTF8,
    TAG_BYTES,
    TAG_LIST,
    TAG_DICT,
    TAG_KEEP_ASCII,
    TAG_KEEP_UTF8,
    TAG_KEPT,
    TAG_SMALL_INT = 0x80, /* and up to 0xFF: 0 to 127 */
};

/* The keys that objects have in common. */
typedef struct {
    uint32_t count;
    JSAtom *keys;
    engine_shape *shape; /* NULL until wanted */
} shape;

typedef struct {
    const uint8_t *at, *end;
    uint32_t shape_count, depth;
    shape *shapes;
    JSValue slots[SLOTS];
} reader;

static JSValue read_value(reader *r);

/* The host writes this form, so a fault in it is a bug between the two. */
static JSValue damaged(void)
{
    return JS_ThrowInternalError(ctx, "the globals of this call are damaged; this is a fault of the host, please report it");
}

static JSValue no_memory(void)
{
    memory_ran_out = true;
    return JS_ThrowOutOfMemory(ctx);
}

static inline bool has(const reader *r, size_t len)
{
    return len <= (size_t)(r->end - r->at);
}

static inline bool read_uint(reader *r, uint64_t *value)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64 && r->at < r->end; shift += 7) {
        uint8_t c = *r->at++;
        v |= (uint64_t)(c & 0x7F) << shift;
        if (c < 0x80) {
            *value = v;
            return true;
        }
    }
    return false;
}

/* A count of things that take at least one byte each. */
static inline bool read_count(reader *r, uint32_t *count)
{
    uint64_t v;
    if (!read_uint(r, &v) || !has(r, v)) {
        return false;
    }
    *count = (uint32_t)v;
    return true;
}

static inline uint32_t get_u32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static JSValue read_text(reader *r, bool ascii)
{
    uint32_t len;
    if (!read_count(r, &len)) {
        return damaged();
    }
    JSValue text = ascii ? engine_latin1(ctx, r->at, len) : JS_NewStringLen(ctx, (const char *)r->at, len);
    r->at += len;
    return text;
}

static JSValue read_kept(reader *r, uint8_t tag)
{
    if (!has(r, 2)) {
        return damaged();
    }
    uint32_t slot = (uint32_t)r->at[0] | (uint32_t)r->at[1] << 8;
    r->at += 2;
    if (slot >= SLOTS) {
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
    if (!read_count(r, &count) || r->depth == MAX_DEPTH) {
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

static const shape *next_shape(reader *r)
{
    if (!has(r, 4)) {
        return NULL;
    }
    uint32_t index = get_u32(r->at);
    r->at += 4;
    return index < r->shape_count ? &r->shapes[index] : NULL;
}

static JSValue read_object(reader *r)
{
    shape *s = (shape *)next_shape(r);
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
    if (!has(r, 1)) {
        return damaged();
    }
    uint8_t tag = *r->at++;
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
        uint64_t v;
        if (!read_uint(r, &v)) {
            return damaged();
        }
        int64_t n = (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
        return n >= -MAX_SAFE && n <= MAX_SAFE ? JS_NewInt64(ctx, n) : JS_NewBigInt64(ctx, n);
    }
    case TAG_BIG_INT: {
        if (!read_count(r, &len)) {
            return damaged();
        }
        JSValue value = engine_new_bigint(ctx, r->at, len);
        r->at += len;
        return value;
    }
    case TAG_FLOAT: {
        double v;
        if (!has(r, sizeof v)) {
            return damaged();
        }
        memcpy(&v, r->at, sizeof v);
        r->at += sizeof v;
        return JS_NewFloat64(ctx, v);
    }
    case TAG_ASCII:
        return read_text(r, true);
    case TAG_UTF8:
        return read_text(r, false);
    case TAG_BYTES: {
        if (!read_count(r, &len)) {
            return damaged();
        }
        JSValue value = JS_NewUint8ArrayCopy(ctx, r->at, len);
        r->at += len;
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
    if (!read_count(r, &r->shape_count)) {
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
        if (!read_uint(r, &uses) || !read_count(r, &s->count)) {
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
            if (!read_count(r, &len)) {
                damaged();
                return false;
            }
            s->keys[k] = JS_NewAtomLen(ctx, (const char *)r->at, len);
            r->at += len;
            if (s->keys[k] == JS_ATOM_NULL) {
                return false;
            }
        }
    }
    if (r->at != r->end) {
        damaged();
        return false;
    }
    return true;
}

static bool define_all(reader *r)
{
    const shape *s = has(r, 1) && *r->at++ == TAG_DICT ? next_shape(r) : NULL;
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
    if (ok && r->at != r->end) {
        damaged();
        return false;
    }
    return ok;
}

bool globals_load(const uint8_t *data, size_t len)
{
    if (len < 8 || get_u32(data) != FORMAT || get_u32(data + 4) > len - 8) {
        damaged();
        return false;
    }
    reader *r = malloc(sizeof *r);
    if (r == NULL) {
        no_memory();
        return false;
    }
    memset(r, 0, offsetof(reader, slots));
    for (size_t i = 0; i < SLOTS; i++) {
        r->slots[i] = JS_UNDEFINED;
    }
    const uint8_t *values_end = data + 8 + get_u32(data + 4);
    r->at = values_end;
    r->end = data + len;
    if (!read_shapes(r)) {
        return false;
    }
    r->at = data + 8;
    r->end = values_end;
    /* Nothing of what is being made can be garbage. */
    size_t threshold = JS_GetGCThreshold(rt);
    JS_SetGCThreshold(rt, (size_t)-1);
    bool ok = define_all(r);
    size_t grown = engine_heap_size(rt) * 3 / 2;
    JS_SetGCThreshold(rt, grown > threshold ? grown : threshold);
    return ok;
}
