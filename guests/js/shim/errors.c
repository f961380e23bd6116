/* Turns what was thrown into the error object of a response.
 *
 * An exception is data of the code that threw it, and may be anything at all.
 * Nothing of it is called: what a getter or a Proxy would have to say is left
 * out. Where it was thrown is what the engine noted, not its property `stack`. */
#include "shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The host keeps 16 KiB; the rest is room for the mark of a cut. */
#define MAX_MESSAGE (16 * 1024 - 64)
#define MAX_TRACEBACK (60 * 1024)
#define MAX_SOURCE 400
#define MAX_NAME 200
#define MAX_CAUSES 8
#define MAX_ERRORS 10

JSValue errors_peek(JSValueConst object, const char *name)
{
    JSValue value = JS_IsObject(object) ? engine_dom_text(ctx, object, name) : JS_UNDEFINED;
    if (!JS_IsUndefined(value)) {
        return value;
    }
    JSAtom atom = JS_NewAtom(ctx, name);
    JSValue at = JS_DupValue(ctx, object);
    for (int i = 0; i < 64 && JS_IsObject(at) && engine_kind_of(ctx, at) != KIND_PROXY; i++) {
        JSPropertyDescriptor found;
        int had = JS_GetOwnProperty(ctx, &found, at, atom);
        if (had > 0) {
            if (found.flags & JS_PROP_GETSET) {
                JS_FreeValue(ctx, found.getter);
                JS_FreeValue(ctx, found.setter);
            } else {
                value = found.value;
            }
        }
        if (had != 0) {
            break;
        }
        JSValue next = JS_GetPrototype(ctx, at);
        JS_FreeValue(ctx, at);
        at = next;
    }
    JS_FreeValue(ctx, at);
    JS_FreeAtom(ctx, atom);
    if (JS_HasException(ctx)) {
        JS_FreeValue(ctx, JS_GetException(ctx));
    }
    return value;
}

static bool is_text(JSValueConst value)
{
    return JS_IsString(value);
}

static bool same(JSValueConst string, const char *text)
{
    engine_text s;
    if (!is_text(string) || !engine_read_text(ctx, string, &s)) {
        return false;
    }
    bool is = s.narrow != NULL && s.len == strlen(text) && memcmp(s.narrow, text, s.len) == 0;
    JS_FreeValue(ctx, s.owner);
    return is;
}

/* The name of a class: what its prototype's constructor is called. */
static JSValue class_name(JSValueConst object)
{
    JSValue maker = errors_peek(object, "constructor"), name = JS_UNDEFINED;
    if (JS_IsObject(maker) && JS_IsFunction(ctx, maker)) {
        name = errors_peek(maker, "name");
    }
    JS_FreeValue(ctx, maker);
    return name;
}

/* What kind of thing was thrown: an error's name, unless it only inherited
 * that of Error and its class has a better one; else the class or the type. */
static JSValue type_of(JSValueConst thrown)
{
    if (!JS_IsObject(thrown)) {
        const char *type = JS_IsNull(thrown)        ? "null"
                           : JS_IsUndefined(thrown) ? "undefined"
                           : JS_IsString(thrown)    ? "string"
                           : JS_IsBool(thrown)      ? "boolean"
                           : JS_IsSymbol(thrown)    ? "symbol"
                           : JS_IsBigInt(thrown)    ? "bigint"
                                                    : "number";
        return JS_NewString(ctx, type);
    }
    JSValue class = class_name(thrown);
    if (engine_kind_of(ctx, thrown) == KIND_ERROR) {
        JSValue name = errors_peek(thrown, "name");
        if (is_text(name) && (!same(name, "Error") || !is_text(class) || same(class, ""))) {
            JS_FreeValue(ctx, class);
            return name;
        }
        JS_FreeValue(ctx, name);
    }
    if (is_text(class) && !same(class, "")) {
        return class;
    }
    JS_FreeValue(ctx, class);
    return JS_NewString(ctx, engine_kind_of(ctx, thrown) == KIND_PROXY ? "Proxy" : "Object");
}

/* Writes a string without quotes: as text, or for the inside of a JSON string. */
static bool put(buffer *out, JSValueConst string, size_t limit)
{
    size_t start = out->len;
    if (!text_write_json(out, string, limit)) {
        return false;
    }
    memmove(out->data + start, out->data + start + 1, out->len - start - 2);
    out->len -= 2;
    return true;
}

/* The text of what was thrown, for the inside of a JSON string. */
static bool put_message(buffer *out, JSValueConst thrown)
{
    if (memory_is_exception(thrown)) {
        return buffer_literal(out, "the call has used up its memory");
    }
    if (JS_IsObject(thrown)) {
        JSValue message = errors_peek(thrown, "message");
        bool ok = true;
        if (is_text(message)) {
            ok = put(out, message, MAX_MESSAGE);
        } else if (engine_kind_of(ctx, thrown) == KIND_OBJECT && engine_is_plain(thrown)) {
            buffer json = {0};
            refusal why = {0};
            buffer_bound(&json, MAX_MESSAGE);
            if (json_write(&json, thrown, 4, &why) == JSON_DONE) {
                ok = text_write_json_bytes(out, (const char *)json.data, json.len);
            } else if (JS_HasException(ctx)) {
                JS_FreeValue(ctx, JS_GetException(ctx));
            }
            free(json.data);
        }
        JS_FreeValue(ctx, message);
        return ok;
    }
    if (JS_IsSymbol(thrown)) {
        return buffer_literal(out, "a symbol was thrown");
    }
    JSValue text = JS_ToString(ctx, thrown);
    bool ok = !JS_IsException(text) && put(out, text, MAX_MESSAGE);
    JS_FreeValue(ctx, text);
    return ok;
}

/* One line of an engine's stack: "    at FUNCTION (FILE:LINE:COLUMN)". */
typedef struct {
    const char *function, *place; /* place: FILE:LINE:COLUMN */
    size_t function_len, place_len;
    const char *file;
    size_t file_len;
    unsigned line, column;
} frame;

/* Splits FILE:LINE:COLUMN from its end. */
static bool read_place(frame *f)
{
    unsigned numbers[2] = {0, 0};
    size_t at = f->place_len;
    for (int n = 1; n >= 0; n--) {
        unsigned scale = 1;
        size_t digits = at;
        while (at > 0 && f->place[at - 1] >= '0' && f->place[at - 1] <= '9' && digits - at < 9) {
            numbers[n] += scale * (unsigned)(f->place[--at] - '0');
            scale *= 10;
        }
        if (at == digits || at == 0 || f->place[at - 1] != ':') {
            return false;
        }
        at--;
    }
    f->file = f->place;
    f->file_len = at;
    f->line = numbers[0];
    f->column = numbers[1];
    return true;
}

/* The frame in the next line of *text. A function may have any name, even one
 * with line breaks in it: what does not look like a frame is skipped, and what
 * does is only ever text. */
static bool next_frame(const char **text, frame *f)
{
    while (**text) {
        const char *line = *text, *end = strchr(line, '\n');
        if (end == NULL) {
            end = line + strlen(line);
        }
        *text = *end ? end + 1 : end;
        if (strncmp(line, "    at ", 7) != 0) {
            continue;
        }
        *f = (frame){.function = line + 7};
        const char *open = NULL;
        for (const char *c = f->function; c + 1 < end; c++) {
            if (c[0] == ' ' && c[1] == '(') {
                open = c;
            }
        }
        if (open != NULL && end[-1] == ')') {
            f->function_len = (size_t)(open - f->function);
            f->place = open + 2;
            f->place_len = (size_t)(end - 1 - f->place);
        } else {
            f->place = f->function;
            f->place_len = (size_t)(end - f->place);
        }
        if (!read_place(f) || (f->file_len > 7 && memcmp(f->file, "mayfly:", 7) == 0)) {
            continue;
        }
        if (f->function_len == 6 && memcmp(f->function, "<eval>", 6) == 0) {
            f->function_len = 0;
        }
        return true;
    }
    return false;
}

static bool in_source(const frame *f)
{
    return f->file_len == call.name_len && memcmp(f->file, call.name, f->file_len) == 0;
}

static bool same_frame(const frame *a, const frame *b)
{
    return a->function_len == b->function_len && a->place_len == b->place_len &&
           memcmp(a->function, b->function, a->function_len) == 0 && memcmp(a->place, b->place, a->place_len) == 0;
}

static bool write_repeats(buffer *out, unsigned times)
{
    char text[64];
    int n = snprintf(text, sizeof text, "\\n    [the frame above %u more times]", times);
    return times == 0 || buffer_write(out, text, (size_t)n);
}

static bool write_frames(buffer *out, const char *text)
{
    frame f, last = {0};
    unsigned repeats = 0;
    bool ok = true;
    for (; ok && next_frame(&text, &f); last = f) {
        if (last.place != NULL && same_frame(&last, &f)) {
            repeats++;
            continue;
        }
        ok = write_repeats(out, repeats);
        repeats = 0;
        ok = ok && buffer_literal(out, "\\n    at ");
        if (f.function_len > 0) {
            size_t len = f.function_len < MAX_NAME ? f.function_len : MAX_NAME;
            while (len < f.function_len && len > 0 && (f.function[len] & 0xC0) == 0x80) {
                len--;
            }
            ok = ok && text_write_json_bytes(out, f.function, len) && buffer_literal(out, " (");
        }
        ok = ok && text_write_json_bytes(out, f.place, f.place_len) && (f.function_len == 0 || buffer_byte(out, ')'));
    }
    return ok && write_repeats(out, repeats);
}

/* A line of the code, without its end. */
static const char *source_line(unsigned number, size_t *len)
{
    const char *at = call.code, *end = call.code + call.code_len;
    for (unsigned line = 1; at < end; line++) {
        const char *stop = at;
        while (stop < end && *stop != '\n' && *stop != '\r') {
            stop++;
        }
        if (line == number) {
            *len = (size_t)(stop - at);
            return at;
        }
        if (stop + 1 < end && stop[0] == '\r' && stop[1] == '\n') {
            stop++;
        }
        at = stop + 1;
    }
    return NULL;
}

/* The excerpt at the top of a traceback, with a mark below the column. */
static bool write_excerpt(buffer *out, const frame *f, const char *source, size_t len)
{
    char number[24];
    int n = snprintf(number, sizeof number, ":%u\\n", f->line);
    bool ok = text_write_json_bytes(out, f->file, f->file_len) && buffer_write(out, number, (size_t)n) &&
              text_write_json_bytes(out, source, len) && buffer_literal(out, "\\n");
    size_t column = 1;
    for (size_t i = 0; ok && i < len && column < f->column; i++) {
        if ((source[i] & 0xC0) == 0x80) {
            continue;
        }
        ok = source[i] == '\t' ? buffer_literal(out, "\\t") : buffer_byte(out, ' ');
        column++;
    }
    return ok && buffer_literal(out, "^\\n\\n");
}

/* "Type: message" and the frames. */
static bool write_one(buffer *out, JSValueConst thrown, JSValueConst stack)
{
    JSValue type = type_of(thrown);
    size_t start;
    bool ok = put(out, type, MAX_NAME);
    JS_FreeValue(ctx, type);
    start = out->len;
    ok = ok && buffer_literal(out, ": ") && put_message(out, thrown);
    if (ok && out->len == start + 2) {
        out->len = start;
    }
    buffer text = {0};
    if (ok && JS_IsString(stack)) {
        ok = text_write(&text, stack) && buffer_byte(&text, 0) && write_frames(out, (const char *)text.data);
    }
    free(text.data);
    return ok;
}

static JSValue stack_of(JSValueConst thrown)
{
    return JS_IsObject(thrown) ? engine_stack(ctx, thrown) : JS_UNDEFINED;
}

static bool write_related(buffer *out, const char *label, JSValueConst related)
{
    JSValue stack = stack_of(related);
    bool ok = buffer_literal(out, "\\n") && buffer_write(out, label, strlen(label)) && write_one(out, related, stack);
    JS_FreeValue(ctx, stack);
    return ok;
}

static bool write_causes(buffer *out, JSValueConst thrown)
{
    JSValue at = JS_DupValue(ctx, thrown);
    bool ok = true;
    for (int i = 0; ok && JS_IsObject(at) && out->dropped == 0; i++) {
        JSValue errors = errors_peek(at, "errors");
        uint32_t len;
        if (engine_kind_of(ctx, at) == KIND_ERROR && JS_IsObject(errors) && engine_elements(errors, &len) != NULL) {
            for (uint32_t k = 0; ok && k < len && k < MAX_ERRORS; k++) {
                ok = write_related(out, "[errors] ", engine_elements(errors, &len)[k]);
            }
            if (ok && len > MAX_ERRORS) {
                ok = buffer_literal(out, "\\n[further errors are left out]");
            }
        }
        JS_FreeValue(ctx, errors);
        JSValue cause = engine_kind_of(ctx, at) == KIND_ERROR ? errors_peek(at, "cause") : JS_UNDEFINED;
        JS_FreeValue(ctx, at);
        at = cause;
        if (JS_IsUndefined(at)) {
            break;
        }
        ok = ok && (i < MAX_CAUSES ? write_related(out, "[cause] ", at) : buffer_literal(out, "\\n[earlier causes are left out]"));
        if (i == MAX_CAUSES) {
            break;
        }
    }
    JS_FreeValue(ctx, at);
    return ok;
}

/* Whether a frame is a constructor of the error's own class or of one that it
 * extends: where the error was made is who called that. */
static bool is_own_constructor(const frame *f, JSValueConst error)
{
    JSValue at = JS_GetPrototype(ctx, error);
    bool is = false;
    for (int i = 0; i < 8 && !is && JS_IsObject(at) && engine_kind_of(ctx, at) != KIND_PROXY; i++) {
        JSValue name = class_name(at);
        buffer text = {0};
        is = is_text(name) && text_write(&text, name) && text.len == f->function_len && text.len > 0 &&
             memcmp(text.data, f->function, text.len) == 0;
        free(text.data);
        JS_FreeValue(ctx, name);
        JSValue next = JS_GetPrototype(ctx, at);
        JS_FreeValue(ctx, at);
        at = next;
    }
    JS_FreeValue(ctx, at);
    return is;
}

/* The frame of the source that an exception is put down to. */
static void find_frame(const char *text, JSValueConst exception, frame *user)
{
    bool is_error = JS_IsObject(exception) && engine_kind_of(ctx, exception) == KIND_ERROR;
    frame f;
    while (next_frame(&text, &f)) {
        if (!in_source(&f)) {
            continue;
        }
        *user = f;
        if (!is_error || !is_own_constructor(&f, exception)) {
            return;
        }
    }
}

bool errors_describe(buffer *out, JSValueConst exception, JSValueConst thrown_from)
{
    JSValue stack = stack_of(exception);
    if (JS_IsUndefined(stack)) {
        stack = JS_DupValue(ctx, thrown_from);
    }
    buffer text = {0};
    bool ok = (!JS_IsString(stack) || text_write(&text, stack)) && buffer_byte(&text, 0);
    frame user = {0};
    if (ok) {
        find_frame((const char *)text.data, exception, &user);
    }

    JSValue type = type_of(exception);
    ok = ok && buffer_literal(out, "{\"type\":\"") && put(out, type, MAX_NAME) && buffer_literal(out, "\",\"message\":\"") &&
         put_message(out, exception) && buffer_byte(out, '"');
    JS_FreeValue(ctx, type);

    size_t len = 0;
    const char *source = user.file != NULL ? source_line(user.line, &len) : NULL;
    if (ok && user.file != NULL) {
        char number[24];
        int n = snprintf(number, sizeof number, ",\"line\":%u", user.line);
        ok = buffer_write(out, number, (size_t)n);
    }
    if (ok && source != NULL && len <= MAX_SOURCE) {
        size_t end = len;
        while (end > 0 && (source[end - 1] == ' ' || source[end - 1] == '\t')) {
            end--;
        }
        ok = buffer_literal(out, ",\"source\":\"") && text_write_json_bytes(out, source, end) && buffer_byte(out, '"');
    }
    if (ok) {
        buffer trace = {0};
        buffer_bound(&trace, MAX_TRACEBACK);
        bool traced = (source == NULL || len > MAX_SOURCE || write_excerpt(&trace, &user, source, len)) &&
                      write_one(&trace, exception, stack) && write_causes(&trace, exception);
        /* Cut text could end in the middle of an escape. */
        if (traced && trace.dropped == 0) {
            ok = buffer_literal(out, ",\"traceback\":\"") && buffer_write(out, trace.data, trace.len) &&
                 buffer_literal(out, "\\n\"");
        }
        free(trace.data);
    }
    JS_FreeValue(ctx, stack);
    free(text.data);
    return ok && buffer_byte(out, '}');
}
