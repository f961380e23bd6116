/* Messages of the guest ABI, and the buffer they are built in.
 *
 * ARCHITECTURE.md at the top of the repository is the specification. */
#ifndef MAYFLY_MESSAGE_H
#define MAYFLY_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MESSAGE_ALIGN 8u

/* One section of a message; data is NULL when the message has none. */
typedef struct {
    uint8_t *data;
    uint32_t len;
} section;

/* Reads a message into sections[tag - 1]. False for an unknown or repeated
 * tag and for anything that does not fit: such a message is the host's bug. */
bool message_read(uint8_t *data, uint32_t len, section *sections, uint32_t tags);

/* A u32 section, false unless it is exactly that. */
bool section_u32(section s, uint32_t *value);

/* A growing byte buffer. It begins in room lent to it and moves to the heap
 * when that is full. Nothing here frees: the instance dies with its call. */
typedef struct {
    uint8_t *data;
    size_t len, cap;
    bool heap;
    bool bounded;     /* what goes past end is counted instead of kept */
    size_t end, lent; /* while bounded: the bound, and cap without it */
    uint64_t dropped;
} buffer;

/* Both are false when there is no memory; no exception of the guest language is set. */
bool buffer_append(buffer *b, const void *data, size_t len);

static inline bool buffer_write(buffer *b, const void *data, size_t len)
{
    if (len > b->cap - b->len) {
        return buffer_append(b, data, len);
    }
    memcpy(b->data + b->len, data, len);
    b->len += len;
    return true;
}

static inline bool buffer_byte(buffer *b, uint8_t c)
{
    if (b->len == b->cap) {
        return buffer_append(b, &c, 1);
    }
    b->data[b->len++] = c;
    return true;
}

/* Keeps at most the next max bytes and counts what is dropped. */
void buffer_bound(buffer *b, uint64_t max);
void buffer_unbound(buffer *b);

#define buffer_literal(b, text) buffer_write((b), (text), sizeof(text) - 1)

/* Sections are written in place: begin, write the content, end. */
bool section_begin(buffer *b, uint32_t tag, size_t *start);
bool section_end(buffer *b, size_t start);
bool section_put(buffer *b, uint32_t tag, const void *data, uint32_t len);

/* What an export returns for the message in b. */
uint64_t message_result(const buffer *b);

#endif
