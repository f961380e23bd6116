/* Strings of the engine, which are Latin-1 or UTF-16, as UTF-8. */
#include "shim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "dtoa.h"

typedef bool writer(buffer *out, uint32_t c);

static bool write_code_point(buffer *out, uint32_t c)
{
    uint8_t bytes[4];
    size_t n;
    if (c < 0x80) {
        return buffer_byte(out, (uint8_t)c);
    }
    if (c < 0x800) {
        bytes[0] = (uint8_t)(0xC0 | c >> 6);
        n = 2;
    } else if (c < 0x10000) {
        bytes[0] = (uint8_t)(0xE0 | c >> 12);
        n = 3;
    } else {
        bytes[0] = (uint8_t)(0xF0 | c >> 18);
        n = 4;
    }
    for (size_t i = n - 1; i > 0; i--) {
        bytes[i] = (uint8_t)(0x80 | (c & 0x3F));
        c >>= 6;
    }
    return buffer_write(out, bytes, n);
}

static bool write_escaped(buffer *out, uint32_t c)
{
    static const char short_form[] = "\bb\ff\nn\rr\tt\"\"\\\\";
    if (c >= 0x20 && c != '"' && c != '\\') {
        return write_code_point(out, c);
    }
    for (const char *s = short_form; *s; s += 2) {
        if ((uint32_t)(uint8_t)*s == c) {
            char pair[2] = {'\\', s[1]};
            return buffer_write(out, pair, 2);
        }
    }
    char text[7];
    snprintf(text, sizeof text, "\\u%04x", (unsigned)c);
    return buffer_write(out, text, 6);
}

static inline bool is_lead(uint32_t c)
{
    return c >= 0xD800 && c < 0xDC00;
}

static inline bool is_trail(uint32_t c)
{
    return c >= 0xDC00 && c < 0xE000;
}

/* The code point at *at, which moves behind it. */
static inline uint32_t next_code_point(const engine_text *text, uint32_t *at)
{
    uint32_t c = text->wide[(*at)++];
    if (is_lead(c) && *at < text->len && is_trail(text->wide[*at])) {
        return 0x10000 + ((c - 0xD800) << 10) + (text->wide[(*at)++] - 0xDC00u);
    }
    return is_lead(c) || is_trail(c) ? 0xFFFD : c;
}

static inline bool is_simple(uint8_t c)
{
    return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
}

/* Writes code points while out is shorter than end; gives how far it came. */
static bool write_units(buffer *out, const engine_text *text, writer *write, size_t end, uint32_t *done)
{
    uint32_t at = 0;
    while (at < text->len && out->len < end) {
        if (text->narrow != NULL) {
            uint32_t start = at;
            while (at < text->len && is_simple(text->narrow[at])) {
                at++;
            }
            if (at > start) {
                if (out->len + (at - start) > end) {
                    at = start + (uint32_t)(end - out->len);
                }
                if (!buffer_write(out, text->narrow + start, at - start)) {
                    return false;
                }
                continue;
            }
            if (!write(out, text->narrow[at++])) {
                return false;
            }
        } else if (!write(out, next_code_point(text, &at))) {
            return false;
        }
    }
    *done = at;
    return true;
}

bool text_write(buffer *out, JSValueConst string)
{
    engine_text text;
    uint32_t done;
    if (!engine_read_text(ctx, string, &text)) {
        return false;
    }
    bool ok = write_units(out, &text, write_code_point, SIZE_MAX, &done);
    JS_FreeValue(ctx, text.owner);
    return ok;
}

bool text_write_json(buffer *out, JSValueConst string, size_t limit)
{
    engine_text text;
    if (!engine_read_text(ctx, string, &text)) {
        return false;
    }
    uint32_t done = 0;
    size_t end = limit == SIZE_MAX ? SIZE_MAX : out->len + limit;
    bool ok = buffer_byte(out, '"') && write_units(out, &text, write_escaped, end, &done);
    if (ok && done < text.len) {
        char mark[64];
        int n = snprintf(mark, sizeof mark, "… [cut: %u characters in all]", (unsigned)text.len);
        ok = buffer_write(out, mark, (size_t)n);
    }
    JS_FreeValue(ctx, text.owner);
    return ok && buffer_byte(out, '"');
}

bool text_write_json_bytes(buffer *out, const char *data, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        uint8_t c = (uint8_t)data[i];
        if (c >= 0x80 ? !buffer_byte(out, c) : !write_escaped(out, c)) {
            return false;
        }
    }
    return true;
}

/* How long the sequence at p is; *valid tells whether it is UTF-8. If not, it is
 * what one U+FFFD stands for. */
static size_t sequence(const uint8_t *p, size_t left, bool *valid)
{
    uint8_t lead = p[0], low = 0x80, high = 0xBF;
    size_t more;
    *valid = true;
    if (lead < 0x80) {
        return 1;
    }
    if (lead >= 0xC2 && lead <= 0xDF) {
        more = 1;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
        more = 2;
        low = lead == 0xE0 ? 0xA0 : low;
        high = lead == 0xED ? 0x9F : high; /* surrogates */
    } else if (lead >= 0xF0 && lead <= 0xF4) {
        more = 3;
        low = lead == 0xF0 ? 0x90 : low;
        high = lead == 0xF4 ? 0x8F : high;
    } else {
        *valid = false;
        return 1;
    }
    for (size_t i = 1; i <= more; i++) {
        if (i == left || p[i] < low || p[i] > high) {
            *valid = false;
            return i;
        }
        low = 0x80;
        high = 0xBF;
    }
    return more + 1;
}

JSValue text_read(const uint8_t *data, size_t len)
{
    buffer text = {0};
    size_t kept = 0; /* what lies before this is in text */
    for (size_t at = 0; at < len;) {
        bool valid;
        size_t n = sequence(data + at, len - at, &valid);
        if (!valid) {
            if (!buffer_write(&text, data + kept, at - kept) || !buffer_literal(&text, "\xEF\xBF\xBD")) {
                free(text.data);
                memory_ran_out = true;
                return JS_ThrowOutOfMemory(ctx);
            }
            kept = at + n;
        }
        at += n;
    }
    if (kept == 0) {
        return JS_NewStringLen(ctx, (const char *)data, len);
    }
    bool ok = buffer_write(&text, data + kept, len - kept);
    JSValue string = ok ? JS_NewStringLen(ctx, (const char *)text.data, text.len) : JS_ThrowOutOfMemory(ctx);
    memory_ran_out |= !ok;
    free(text.data);
    return string;
}

/* A number that is no integer which every double can hold exactly is written
 * with a fraction or an exponent, so that whoever reads it takes it for the
 * approximation that it is. */
bool text_write_number(buffer *out, double value)
{
    char text[64];
    int n;
    if (isnan(value)) {
        return buffer_literal(out, "{\"$float\":\"nan\"}");
    }
    if (isinf(value)) {
        return value > 0 ? buffer_literal(out, "{\"$float\":\"inf\"}") : buffer_literal(out, "{\"$float\":\"-inf\"}");
    }
    if (value == 0) {
        return signbit(value) ? buffer_literal(out, "-0.0") : buffer_byte(out, '0');
    }
    if (value == trunc(value) && fabs(value) <= 9007199254740991.0) {
        n = snprintf(text, sizeof text, "%lld", (long long)value);
    } else {
        JSDTOATempMem memory;
        int flags = JS_DTOA_FORMAT_FREE | (value == trunc(value) ? JS_DTOA_EXP_ENABLED : JS_DTOA_EXP_AUTO);
        n = js_dtoa(text, value, 10, 0, flags, &memory);
    }
    return buffer_write(out, text, (size_t)n);
}
