/* Searches of strings, eight bytes at a time. wasi-libc's own take four or one,
 * and CPython calls them on long text: its tokenizer measures and copies all
 * of the source that is left at each expression in an f-string, and finding a
 * character in a str or bytes is memchr. */
#include <stdint.h>
#include <string.h>

#define WORD sizeof(uint64_t)
#define BLOCK (4 * WORD)
#define ONES 0x0101010101010101u
#define HIGHS 0x8080808080808080u

/* The compiler must not make a call of the function out of its own body. */
#define IS(name) __attribute__((no_builtin(name)))

static inline uint64_t word_at(const unsigned char *p)
{
    uint64_t w;
    __builtin_memcpy(&w, p, WORD);
    return w;
}

/* Not zero if a byte of w is; the lowest bit set belongs to the first such. */
static inline uint64_t zeros(uint64_t w)
{
    return (w - ONES) & ~w & HIGHS;
}

static inline size_t first(uint64_t found)
{
    return (size_t)__builtin_ctzll(found) / 8;
}

/* A block that is aligned to its size lies in memory if its first byte does. */
IS("strlen") size_t strlen(const char *s)
{
    const unsigned char *begin = (const unsigned char *)s, *p = begin;
    for (; (uintptr_t)p % WORD != 0; p++) {
        if (*p == 0) {
            return (size_t)(p - begin);
        }
    }
    for (; (uintptr_t)p % BLOCK != 0; p += WORD) {
        uint64_t found = zeros(word_at(p));
        if (found != 0) {
            return (size_t)(p - begin) + first(found);
        }
    }
    while ((zeros(word_at(p + 3 * WORD)) | zeros(word_at(p)) | zeros(word_at(p + WORD)) |
            zeros(word_at(p + 2 * WORD))) == 0) {
        p += BLOCK;
    }
    for (;; p += WORD) {
        uint64_t found = zeros(word_at(p));
        if (found != 0) {
            return (size_t)(p - begin) + first(found);
        }
    }
}

IS("memchr") void *memchr(const void *s, int c, size_t n)
{
    const unsigned char *p = s, *end = p + n;
    uint64_t mask = ONES * (unsigned char)c;
    for (; (size_t)(end - p) >= BLOCK; p += BLOCK) {
        if ((zeros(word_at(p + 3 * WORD) ^ mask) | zeros(word_at(p) ^ mask) | zeros(word_at(p + WORD) ^ mask) |
             zeros(word_at(p + 2 * WORD) ^ mask)) != 0) {
            break;
        }
    }
    for (; (size_t)(end - p) >= WORD; p += WORD) {
        uint64_t found = zeros(word_at(p) ^ mask);
        if (found != 0) {
            return (void *)(uintptr_t)(p + first(found));
        }
    }
    for (; p < end; p++) {
        if (*p == (unsigned char)c) {
            return (void *)(uintptr_t)p;
        }
    }
    return NULL;
}

IS("strncpy") char *strncpy(char *restrict to, const char *restrict from, size_t n)
{
    const char *end = memchr(from, 0, n);
    size_t len = end == NULL ? n : (size_t)(end - from);
    memcpy(to, from, len);
    memset(to + len, 0, n - len);
    return to;
}
