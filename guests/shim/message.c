#include "message.h"

#include <stdlib.h>
#include <string.h>

#define HEADER 8u

static uint32_t get_u32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v); /* WebAssembly is little-endian, like the format */
    return v;
}

bool message_read(uint8_t *data, uint32_t len, section *sections, uint32_t tags)
{
    if ((uintptr_t)data % MESSAGE_ALIGN != 0) {
        return false;
    }
    for (uint32_t at = 0; at < len;) {
        if (len - at < HEADER) {
            return false;
        }
        uint32_t tag = get_u32(data + at), size = get_u32(data + at + 4);
        at += HEADER;
        uint64_t padded = ((uint64_t)size + MESSAGE_ALIGN - 1) & ~(uint64_t)(MESSAGE_ALIGN - 1);
        if (tag == 0 || tag > tags || sections[tag - 1].data != NULL || padded > len - at) {
            return false;
        }
        sections[tag - 1] = (section){data + at, size};
        at += (uint32_t)padded;
    }
    return true;
}

bool section_u32(section s, uint32_t *value)
{
    if (s.data == NULL || s.len != sizeof *value) {
        return false;
    }
    *value = get_u32(s.data);
    return true;
}

static bool grow(buffer *b, size_t more)
{
    /* A message's length is a u32, and half of the address space is more than
     * any call may have. */
    if (more > INT32_MAX - b->len) {
        return false;
    }
    size_t cap = b->cap + b->cap / 2 + 1024;
    if (cap < b->len + more) {
        cap = b->len + more;
    }
    if (b->bounded && cap > b->end) {
        cap = b->end;
    }
    uint8_t *data;
    if (b->heap) {
        data = realloc(b->data, cap);
    } else {
        data = malloc(cap);
        if (data != NULL) {
            memcpy(data, b->data, b->len);
        }
    }
    if (data == NULL) {
        return false;
    }
    b->data = data;
    b->cap = b->lent = cap;
    b->heap = true;
    return true;
}

bool buffer_append(buffer *b, const void *data, size_t len)
{
    if (b->bounded && len > b->end - b->len) {
        b->dropped += len - (b->end - b->len);
        len = b->end - b->len;
    }
    if (len > b->cap - b->len && !grow(b, len)) {
        return false;
    }
    if (len > 0) {
        memcpy(b->data + b->len, data, len);
        b->len += len;
    }
    return true;
}

void buffer_bound(buffer *b, uint64_t max)
{
    b->bounded = true;
    b->dropped = 0;
    b->lent = b->cap;
    b->end = max < SIZE_MAX - b->len ? b->len + (size_t)max : SIZE_MAX;
    if (b->cap > b->end) {
        b->cap = b->end;
    }
}

void buffer_unbound(buffer *b)
{
    b->bounded = false;
    b->cap = b->lent;
}

bool section_begin(buffer *b, uint32_t tag, size_t *start)
{
    uint32_t header[2] = {tag, 0};
    *start = b->len;
    return buffer_write(b, header, sizeof header);
}

bool section_end(buffer *b, size_t start)
{
    static const uint8_t zero[MESSAGE_ALIGN];
    uint32_t len = (uint32_t)(b->len - start - HEADER);
    memcpy(b->data + start + 4, &len, sizeof len);
    return buffer_write(b, zero, -b->len & (MESSAGE_ALIGN - 1));
}

bool section_put(buffer *b, uint32_t tag, const void *data, uint32_t len)
{
    size_t start;
    return section_begin(b, tag, &start) && buffer_write(b, data, len) && section_end(b, start);
}

uint64_t message_result(const buffer *b)
{
    return (uint64_t)(uintptr_t)b->data << 32 | b->len;
}
