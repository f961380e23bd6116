/* Writes a value as JSON text. VALUES.md in the folder above is the
 * specification.
 *
 * No method of a value is called, toJSON least of all. Code of the value's own
 * runs in two cases only: getters, and the traps of a Proxy. */
#include "shim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The value that is being written and those that it lies in. */
typedef struct place {
    const struct place *outer;
    JSValueConst object;
    JSAtom key;     /* JS_ATOM_NULL: index counts */
    uint32_t index; /* of the part that is being written */
} place;

typedef struct {
    buffer *out;
    uint32_t max_depth, depth;
    refusal *why;
} writer;

static json_status write_value(writer *w, place *outer, JSValueConst value);

/* Appends one part of a JSON pointer. */
static void point(buffer *path, const place *at)
{
    char number[16];
    if (at->key == JS_ATOM_NULL) {
        int n = snprintf(number, sizeof number, "/%u", (unsigned)at->index);
        buffer_write(path, number, (size_t)n);
        return;
    }
    buffer part = {0};
    JSValue name = JS_AtomToString(ctx, at->key);
    buffer_byte(path, '/');
    if (!JS_IsException(name) && text_write(&part, name)) {
        for (size_t i = 0; i < part.len; i++) {
            if (part.data[i] == '~') {
                buffer_literal(path, "~0");
            } else if (part.data[i] == '/') {
                buffer_literal(path, "~1");
            } else {
                buffer_byte(path, part.data[i]);
            }
        }
    }
    JS_FreeValue(ctx, name);
}

static void point_from(buffer *path, const place *at)
{
    if (at != NULL) {
        point_from(path, at->outer);
        point(path, at);
    }
}

static json_status refuse(writer *w, const place *at, const char *reason)
{
    w->why->reason = reason;
    point_from(&w->why->path, at);
    return JSON_REFUSED;
}

static json_status written(bool ok)
{
    if (ok) {
        return JSON_DONE;
    }
    JS_ThrowOutOfMemory(ctx);
    return JSON_RAISED;
}

/* What code of the value's own threw makes the value refused; that memory ran
 * out does not. */
static json_status raised(writer *w, const place *at)
{
    JSValue exception = JS_GetException(ctx);
    if (memory_is_exception(exception)) {
        JS_Throw(ctx, exception);
        return JSON_RAISED;
    }
    JS_FreeValue(ctx, exception);
    return refuse(w, at, "reading it threw an exception; return plain data instead");
}

#define TRY(expression)                          \
    do {                                         \
        json_status status_ = (expression);      \
        if (status_ != JSON_DONE) return status_; \
    } while (0)

static json_status enter(writer *w, const place *at)
{
    if (w->depth >= w->max_depth) {
        return refuse(w, at, "the value nests too deep; return a flatter one");
    }
    w->depth++;
    return JSON_DONE;
}

static bool has_lone_surrogate(const engine_text *text)
{
    if (text->wide == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < text->len; i++) {
        uint16_t c = text->wide[i];
        if (c < 0xD800 || c > 0xDFFF) {
            continue;
        }
        if (c > 0xDBFF || i + 1 == text->len || (text->wide[i + 1] & 0xFC00) != 0xDC00) {
            return true;
        }
        i++;
    }
    return false;
}

/* A string with lone surrogates: each as \udXXX, each backslash doubled. */
static bool write_odd_string(buffer *out, const engine_text *text)
{
    bool ok = buffer_literal(out, "{\"$str\":\"");
    for (uint32_t i = 0; ok && i < text->len; i++) {
        uint16_t c = text->wide[i];
        char escaped[9];
        if (c == '\\') {
            ok = buffer_literal(out, "\\\\\\\\");
        } else if ((c & 0xF800) == 0xD800) {
            bool pair = c < 0xDC00 && i + 1 < text->len && (text->wide[i + 1] & 0xFC00) == 0xDC00;
            if (pair) {
                uint32_t full = 0x10000u + ((uint32_t)(c - 0xD800) << 10) + (uint32_t)(text->wide[++i] - 0xDC00);
                uint8_t bytes[4] = {0xF0 | full >> 18, 0x80 | (full >> 12 & 0x3F), 0x80 | (full >> 6 & 0x3F), 0x80 | (full & 0x3F)};
                ok = buffer_write(out, bytes, 4);
            } else {
                snprintf(escaped, sizeof escaped, "\\\\u%04x", c);
                ok = buffer_write(out, escaped, 7);
            }
        } else {
            char bytes[3] = {(char)(0xE0 | c >> 12), (char)(0x80 | (c >> 6 & 0x3F)), (char)(0x80 | (c & 0x3F))};
            if (c >= 0x800) {
                ok = buffer_write(out, bytes, 3);
            } else if (c >= 0x80) {
                bytes[0] = (char)(0xC0 | c >> 6);
                bytes[1] = bytes[2];
                ok = buffer_write(out, bytes, 2);
            } else {
                bytes[0] = (char)c;
                ok = text_write_json_bytes(out, bytes, 1);
            }
        }
    }
    return ok && buffer_literal(out, "\"}");
}

static json_status write_string(writer *w, const place *at, JSValueConst value)
{
    engine_text text;
    if (!engine_read_text(ctx, value, &text)) {
        return JSON_RAISED;
    }
    json_status status = JSON_DONE;
    if (has_lone_surrogate(&text)) {
        status = enter(w, at);
        if (status == JSON_DONE) {
            status = written(write_odd_string(w->out, &text));
            w->depth--;
        }
    } else {
        status = written(text_write_json(w->out, text.owner, SIZE_MAX));
    }
    JS_FreeValue(ctx, text.owner);
    return status;
}

static json_status write_digits(writer *w, JSValueConst value)
{
    JSValue text = JS_ToString(ctx, value);
    if (JS_IsException(text)) {
        return JSON_RAISED;
    }
    json_status status = written(text_write(w->out, text));
    JS_FreeValue(ctx, text);
    return status;
}

static json_status write_number(writer *w, const place *at, double value)
{
    bool tagged = isnan(value) || isinf(value);
    if (tagged) {
        TRY(enter(w, at));
    }
    json_status status = written(text_write_number(w->out, value));
    w->depth -= tagged;
    return status;
}

static json_status write_date(writer *w, const place *at, JSValueConst value)
{
    JSValue time = engine_unbox(ctx, value);
    double milliseconds;
    JS_ToFloat64(ctx, &milliseconds, time);
    JS_FreeValue(ctx, time);
    if (isnan(milliseconds)) {
        return refuse(w, at, "an invalid Date has no JSON form");
    }
    JSValue text = JS_Call(ctx, date_to_text, value, 0, NULL);
    if (JS_IsException(text)) {
        return raised(w, at);
    }
    json_status status = write_string(w, at, text);
    JS_FreeValue(ctx, text);
    return status;
}

static json_status write_bytes(writer *w, const place *at, JSValueConst value)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *data;
    size_t len;
    engine_bytes(value, &data, &len);
    TRY(enter(w, at));
    buffer *out = w->out;
    bool ok = buffer_literal(out, "{\"$bytes\":\"");
    for (size_t i = 0; ok && i < len; i += 3) {
        uint32_t group = (uint32_t)data[i] << 16 | (i + 1 < len ? (uint32_t)data[i + 1] << 8 : 0) | (i + 2 < len ? data[i + 2] : 0);
        char text[4] = {
            digits[group >> 18], digits[group >> 12 & 63],
            i + 1 < len ? digits[group >> 6 & 63] : '=', i + 2 < len ? digits[group & 63] : '=',
        };
        ok = buffer_write(out, text, 4);
    }
    w->depth--;
    return written(ok && buffer_literal(out, "\"}"));
}

static json_status write_item(writer *w, place *here, JSValueConst value)
{
    if (here->index > 0 && !buffer_byte(w->out, ',')) {
        return written(false);
    }
    /* A hole and undefined are what JSON has null for. */
    return JS_IsUndefined(value) ? written(buffer_literal(w->out, "null")) : write_value(w, here, value);
}

static json_status write_array(writer *w, place *here)
{
    uint32_t fast;
    int64_t len;
    TRY(written(buffer_byte(w->out, '[')));
    if (engine_elements(here->object, &fast) != NULL || engine_number_count(here->object, &fast)) {
        len = fast;
    } else if (JS_GetLength(ctx, here->object, &len) < 0) {
        return raised(w, here->outer);
    }
    for (int64_t i = 0; i < len; i++) {
        here->index = (uint32_t)i;
        const JSValue *elements = engine_elements(here->object, &fast);
        JSValue value = elements != NULL && i < fast ? JS_DupValue(ctx, elements[i])
                                                     : JS_GetPropertyInt64(ctx, here->object, i);
        if (JS_IsException(value)) {
            return raised(w, here);
        }
        json_status status = write_item(w, here, value);
        JS_FreeValue(ctx, value);
        TRY(status);
    }
    return written(buffer_byte(w->out, ']'));
}

static json_status write_set(writer *w, place *here)
{
    JSValue *items;
    uint32_t count;
    if (!engine_entries(ctx, here->object, &items, &count)) {
        return JSON_RAISED;
    }
    TRY(written(buffer_byte(w->out, '[')));
    json_status status = JSON_DONE;
    for (uint32_t i = 0; i < count; i++) {
        if (status == JSON_DONE) {
            here->index = i;
            status = write_item(w, here, items[i]);
        }
        JS_FreeValue(ctx, items[i]);
    }
    js_free(ctx, items);
    TRY(status);
    return written(buffer_byte(w->out, ']'));
}

/* One property. first says whether it is the first that is written, only
 * whether there will be no other. */
static json_status write_member(writer *w, place *here, JSValueConst value, bool first, bool only)
{
    if (!first) {
        TRY(written(buffer_byte(w->out, ',')));
    }
    JSValue name = JS_AtomToString(ctx, here->key);
    engine_text text;
    if (JS_IsException(name) || !engine_read_text(ctx, name, &text)) {
        return JSON_RAISED;
    }
    json_status status = JSON_DONE;
    if (has_lone_surrogate(&text)) {
        status = refuse(w, here, "its name has half of a surrogate pair, which JSON cannot write");
    } else {
        bool dollar = text.len > 0 && (text.narrow != NULL ? text.narrow[0] : text.wide[0]) == '$';
        bool ok;
        if (only && dollar) {
            /* An object with one name that begins with $ is a tag. */
            buffer quoted = {0};
            ok = text_write_json(&quoted, text.owner, SIZE_MAX) && buffer_literal(w->out, "\"$") &&
                 buffer_write(w->out, quoted.data + 1, quoted.len - 1);
            free(quoted.data);
        } else {
            ok = text_write_json(w->out, text.owner, SIZE_MAX);
        }
        status = written(ok && buffer_byte(w->out, ':'));
    }
    JS_FreeValue(ctx, text.owner);
    JS_FreeValue(ctx, name);
    TRY(status);
    return write_value(w, here, value);
}

/* Whether an object has exactly one property that would be written. */
static bool has_one(JSValueConst object)
{
    uint32_t at = 0, count = 0;
    JSAtom key;
    JSValue value;
    while (count < 2 && engine_next(ctx, object, &at, &key, &value)) {
        count += !JS_IsUndefined(value);
        JS_FreeAtom(ctx, key);
        JS_FreeValue(ctx, value);
    }
    return count == 1;
}

static json_status write_plain(writer *w, place *here)
{
    TRY(written(buffer_byte(w->out, '{')));
    uint32_t at = 0;
    JSAtom key;
    JSValue value;
    bool first = true, only = has_one(here->object);
    while (engine_next(ctx, here->object, &at, &key, &value)) {
        json_status status = JSON_DONE;
        if (!JS_IsUndefined(value)) {
            here->key = key;
            status = write_member(w, here, value, first, only);
            first = false;
        }
        JS_FreeAtom(ctx, key);
        JS_FreeValue(ctx, value);
        TRY(status);
    }
    here->key = JS_ATOM_NULL;
    return written(buffer_byte(w->out, '}'));
}

/* Properties that take code to read, or sorting. All are read before any is
 * written. */
static json_status write_properties(writer *w, place *here)
{
    JSPropertyEnum *names;
    uint32_t count, kept = 0;
    if (JS_GetOwnPropertyNames(ctx, &names, &count, here->object, JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY) < 0) {
        return raised(w, here->outer);
    }
    JSValue *values = js_malloc(ctx, (count + 1) * sizeof *values);
    if (values == NULL) {
        return JSON_RAISED;
    }
    json_status status = JSON_DONE;
    uint32_t read = 0;
    for (; read < count && status == JSON_DONE; read++) {
        values[read] = JS_GetProperty(ctx, here->object, names[read].atom);
        if (JS_IsException(values[read])) {
            here->key = names[read].atom;
            status = raised(w, here);
        }
        kept += !JS_IsUndefined(values[read]);
    }
    if (status == JSON_DONE) {
        status = written(buffer_byte(w->out, '{'));
    }
    bool first = true;
    for (uint32_t i = 0; i < read; i++) {
        if (status == JSON_DONE && !JS_IsUndefined(values[i])) {
            here->key = names[i].atom;
            status = write_member(w, here, values[i], first, kept == 1);
            first = false;
        }
        JS_FreeValue(ctx, values[i]);
    }
    js_free(ctx, values);
    here->key = JS_ATOM_NULL;
    JS_FreePropertyEnum(ctx, names, count);
    TRY(status);
    return written(buffer_byte(w->out, '}'));
}

/* A Map is an object of its entries; a name is a string, or what has one
 * obvious text. */
static json_status write_map(writer *w, place *here)
{
    JSValue *items;
    uint32_t count, kept = 0;
    if (!engine_entries(ctx, here->object, &items, &count)) {
        return JSON_RAISED;
    }
    JSValue seen = JS_NewObjectProto(ctx, JS_NULL);
    json_status status = JS_IsException(seen) ? JSON_RAISED : written(buffer_byte(w->out, '{'));
    for (uint32_t i = 0; i < count; i++) {
        kept += !JS_IsUndefined(items[2 * i + 1]);
    }
    bool first = true;
    for (uint32_t i = 0; i < count; i++) {
        JSValue key = items[2 * i], value = items[2 * i + 1];
        if (status == JSON_DONE && !JS_IsUndefined(value)) {
            here->key = JS_ATOM_NULL;
            here->index = i;
            if (JS_IsObject(key) || JS_IsSymbol(key) || JS_IsUndefined(key)) {
                status = refuse(w, here, "a Map with such a key has no JSON form; use strings or numbers for keys");
            } else {
                here->key = JS_ValueToAtom(ctx, key);
                int had = here->key == JS_ATOM_NULL ? -1 : JS_HasProperty(ctx, seen, here->key);
                if (had < 0 || JS_SetProperty(ctx, seen, here->key, JS_TRUE) < 0) {
                    status = JSON_RAISED;
                } else if (had) {
                    status = refuse(w, here, "two keys of a Map become the same name");
                } else {
                    status = write_member(w, here, value, first, kept == 1);
                    first = false;
                }
                JS_FreeAtom(ctx, here->key);
                here->key = JS_ATOM_NULL;
            }
        }
        JS_FreeValue(ctx, key);
        JS_FreeValue(ctx, value);
    }
    js_free(ctx, items);
    JS_FreeValue(ctx, seen);
    TRY(status);
    return written(buffer_byte(w->out, '}'));
}

static json_status write_nested(writer *w, place *outer, JSValueConst object, json_status (*write)(writer *, place *))
{
    for (const place *p = outer; p != NULL; p = p->outer) {
        if (JS_VALUE_GET_PTR(p->object) == JS_VALUE_GET_PTR(object)) {
            return refuse(w, outer, "the value contains itself");
        }
    }
    TRY(enter(w, outer));
    place here = {.outer = outer, .object = object, .key = JS_ATOM_NULL};
    json_status status = write(w, &here);
    w->depth--;
    return status;
}

static json_status write_object(writer *w, place *outer, JSValueConst value)
{
    switch (engine_kind_of(ctx, value)) {
    case KIND_OBJECT:
        return write_nested(w, outer, value, engine_is_plain(value) ? write_plain : write_properties);
    case KIND_ARRAY:
    case KIND_NUMBERS:
        return write_nested(w, outer, value, write_array);
    case KIND_PROXY:
        if (JS_IsFunction(ctx, value)) {
            return refuse(w, outer, "a function has no JSON form; call it, and return the result");
        }
        return write_nested(w, outer, value, engine_is_array(ctx, value) ? write_array : write_properties);
    case KIND_BOXED: {
        JSValue inner = engine_unbox(ctx, value);
        json_status status = write_value(w, outer, inner);
        JS_FreeValue(ctx, inner);
        return status;
    }
    case KIND_DATE:
        return write_date(w, outer, value);
    case KIND_MAP:
        return write_nested(w, outer, value, write_map);
    case KIND_SET:
        return write_nested(w, outer, value, write_set);
    case KIND_BYTES:
        return write_bytes(w, outer, value);
    case KIND_FUNCTION:
        return refuse(w, outer, "a function has no JSON form; call it, and return the result");
    case KIND_REGEXP:
        return refuse(w, outer, "a RegExp has no JSON form; return its source");
    case KIND_ERROR:
        return refuse(w, outer, "an Error has no JSON form; return its message, or throw it");
    case KIND_PROMISE:
        return refuse(w, outer, "a Promise has no JSON form; await it, and return the result");
    case KIND_ITERATOR:
        return refuse(w, outer, "an iterator has no JSON form; return [...it]");
    case KIND_SYMBOL:
        return refuse(w, outer, "a Symbol has no JSON form; return its description");
    case KIND_WEAK:
    case KIND_OTHER:
        break;
    }
    return refuse(w, outer, "such an object has no JSON form; return plain data");
}

static json_status write_value(writer *w, place *outer, JSValueConst value)
{
    switch (JS_VALUE_GET_NORM_TAG(value)) {
    case JS_TAG_NULL:
    case JS_TAG_UNDEFINED:
        return written(buffer_literal(w->out, "null"));
    case JS_TAG_BOOL:
        return written(JS_VALUE_GET_BOOL(value) ? buffer_literal(w->out, "true") : buffer_literal(w->out, "false"));
    case JS_TAG_INT: {
        char text[16];
        int n = snprintf(text, sizeof text, "%d", JS_VALUE_GET_INT(value));
        return written(buffer_write(w->out, text, (size_t)n));
    }
    case JS_TAG_FLOAT64:
        return write_number(w, outer, JS_VALUE_GET_FLOAT64(value));
    case JS_TAG_STRING:
    case JS_TAG_STRING_ROPE:
        return write_string(w, outer, value);
    case JS_TAG_BIG_INT:
    case JS_TAG_SHORT_BIG_INT:
        return write_digits(w, value);
    case JS_TAG_OBJECT:
        return write_object(w, outer, value);
    case JS_TAG_SYMBOL:
        return refuse(w, outer, "a Symbol has no JSON form; return its description");
    default:
        return refuse(w, outer, "the value has no JSON form");
    }
}

json_status json_write(buffer *out, JSValueConst value, uint32_t max_depth, refusal *why)
{
    writer w = {.out = out, .max_depth = max_depth, .why = why};
    return write_value(&w, NULL, value);
}
