/* The form that arguments come in, as far as no interpreter has to be known.
 *
 * guests/globals/GLOBALS.md describes it. What reads a value is in globals.c
 * of each guest and on the way of every cell of a table, so this is inlined. */
#ifndef MAYFLY_GLOBALS_H
#define MAYFLY_GLOBALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* How many kept texts there can be. */
#define GLOBALS_SLOTS 1024u

/* The host writes this form, so a fault in it is a bug between the two. */
#define GLOBALS_DAMAGED "the globals of this call are damaged; this is a fault of the host, please report it"

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

/* What is left to be read. The functions below are false where that is not
 * what they read. */
typedef struct {
    const uint8_t *at, *end;
} span;

static inline bool span_has(const span *s, size_t len)
{
    return len <= (size_t)(s->end - s->at);
}

static inline bool span_uint(span *s, uint64_t *value)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64 && s->at < s->end; shift += 7) {
        uint8_t c = *s->at++;
        v |= (uint64_t)(c & 0x7F) << shift;
        if (c < 0x80) {
            *value = v;
            return true;
        }
    }
    return false;
}

static inline bool span_int(span *s, int64_t *value)
{
    uint64_t v;
    if (!span_uint(s, &v)) {
        return false;
    }
    *value = (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
    return true;
}

/* A count of things that take at least one byte each. */
static inline bool span_count(span *s, uint32_t *count)
{
    uint64_t v;
    if (!span_uint(s, &v) || !span_has(s, v)) {
        return false;
    }
    *count = (uint32_t)v;
    return true;
}

static inline bool span_u32(span *s, uint32_t *value)
{
    if (!span_has(s, sizeof *value)) {
        return false;
    }
    memcpy(value, s->at, sizeof *value); /* WebAssembly is little-endian, like the form */
    s->at += sizeof *value;
    return true;
}

static inline bool span_float(span *s, double *value)
{
    if (!span_has(s, sizeof *value)) {
        return false;
    }
    memcpy(value, s->at, sizeof *value);
    s->at += sizeof *value;
    return true;
}

static inline bool span_slot(span *s, uint32_t *slot)
{
    if (!span_has(s, 2)) {
        return false;
    }
    *slot = (uint32_t)s->at[0] | (uint32_t)s->at[1] << 8;
    s->at += 2;
    return *slot < GLOBALS_SLOTS;
}

/* Splits a globals section into the value and the shapes behind it. */
static inline bool globals_open(const uint8_t *data, size_t len, span *value, span *shapes)
{
    span all = {data, data + len};
    uint32_t format, size;
    if (!span_u32(&all, &format) || format != 1 || !span_u32(&all, &size) || !span_has(&all, size)) {
        return false;
    }
    *value = (span){all.at, all.at + size};
    *shapes = (span){all.at + size, all.end};
    return true;
}

#endif
