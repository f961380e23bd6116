/* Where the small objects of a call live.
 *
 * CPython's allocator keeps a page for each size of object and fills the gaps
 * that earlier objects left. In an instance that maps its image copy-on-write,
 * each of those pages costs a fault: a call that allocates forty sizes pays
 * forty times. So the first few hundred kilobytes of small objects come from
 * one dense region in which all sizes lie side by side; once that is full,
 * CPython's allocator has the rest. */
#include "shim.h"

#include <stdlib.h>
#include <string.h>

/* Not static in obmalloc.c, though in no public header. */
void *_PyObject_Malloc(void *ctx, size_t size);
void *_PyObject_Calloc(void *ctx, size_t count, size_t size);
void *_PyObject_Realloc(void *ctx, void *p, size_t size);
void _PyObject_Free(void *ctx, void *p);

#define PAGE 4096u
#define REGION (256u * 1024u)
#define SMALL 512u
/* A block is a u32, its size, and then the object, aligned to 8. */
#define HEADER sizeof(uint32_t)
#define CLASSES ((SMALL + HEADER + 7) / 8 + 1)

static uint8_t *begin, *next, *end;
static void *free_blocks[CLASSES];

static inline bool is_ours(const void *p)
{
    return (uintptr_t)p - (uintptr_t)begin < REGION;
}

static inline uint32_t *header_of(void *p)
{
    return (uint32_t *)p - 1;
}

static inline size_t room_of(void *p)
{
    return *header_of(p) * 8 - HEADER;
}

static void retire(void);

static void *nursery_malloc(void *ctx, size_t size)
{
    if (size <= SMALL) {
        uint32_t class = (uint32_t)(size + HEADER + 7) / 8;
        void *p = free_blocks[class];
        if (p != NULL) {
            memcpy(&free_blocks[class], p, sizeof(void *));
            return p;
        }
        if ((size_t)(end - next) >= class * 8) {
            p = next + HEADER;
            *header_of(p) = class;
            next += class * 8;
            return p;
        }
        retire();
    }
    return _PyObject_Malloc(ctx, size);
}

static void nursery_free(void *ctx, void *p)
{
    if (!is_ours(p)) {
        _PyObject_Free(ctx, p);
        return;
    }
    uint32_t class = *header_of(p);
    memcpy(p, &free_blocks[class], sizeof(void *));
    free_blocks[class] = p;
}

static void *nursery_calloc(void *ctx, size_t count, size_t size)
{
    if (size != 0 && count > SMALL / size) {
        return _PyObject_Calloc(ctx, count, size);
    }
    void *p = nursery_malloc(ctx, count * size);
    return p == NULL ? NULL : memset(p, 0, count * size);
}

static void *nursery_realloc(void *ctx, void *p, size_t size)
{
    if (p == NULL) {
        return nursery_malloc(ctx, size);
    }
    if (!is_ours(p)) {
        return _PyObject_Realloc(ctx, p, size);
    }
    size_t room = room_of(p);
    if (size <= room && size >= room / 2) {
        return p;
    }
    void *q = nursery_malloc(ctx, size);
    if (q == NULL) {
        return size <= room ? p : NULL;
    }
    memcpy(q, p, size < room ? size : room);
    nursery_free(ctx, p);
    return q;
}

static const PyMemAllocatorEx growing = {NULL, nursery_malloc, nursery_calloc, nursery_realloc, nursery_free};
/* What is in the region stays there; all else goes where it would without it. */
static const PyMemAllocatorEx full = {NULL, _PyObject_Malloc, _PyObject_Calloc, nursery_realloc, nursery_free};

static const PyMemAllocatorDomain domains[] = {PYMEM_DOMAIN_OBJ, PYMEM_DOMAIN_MEM};

/* Takes the check for room out of the way of every later allocation, unless
 * somebody (tracemalloc) has put an allocator of their own before ours. */
static void retire(void)
{
    for (size_t i = 0; i < Py_ARRAY_LENGTH(domains); i++) {
        PyMemAllocatorEx now;
        PyMem_GetAllocator(domains[i], &now);
        if (now.malloc == nursery_malloc) {
            PyMemAllocatorEx plain = full;
            PyMem_SetAllocator(domains[i], &plain);
        }
    }
}

/* Takes every gap below the heap's end, so that what malloc gives from now on
 * is contiguous. The gaps are lost; their pages were in the image anyway. */
static bool fill_gaps(void)
{
    uint8_t *top = malloc(1024 * 1024);
    if (top == NULL) {
        return false;
    }
    free(top);
    for (size_t size = 512 * 1024; size >= 8; size = size > 1024 ? size / 2 : size - 8) {
        uint8_t *p;
        while ((p = malloc(size)) != NULL && p < top) {
        }
        free(p);
    }
    return true;
}

/* Memory that cannot be had is noted, since what user code gets to see of it
 * is not always a MemoryError. */
bool memory_ran_out;

static void *note(void *p)
{
    if (p == NULL) {
        memory_ran_out = true;
    }
    return p;
}

static void *raw_malloc(void *ctx, size_t size)
{
    return note(malloc(size != 0 ? size : 1));
}

static void *raw_calloc(void *ctx, size_t count, size_t size)
{
    return note(count != 0 && size != 0 ? calloc(count, size) : calloc(1, 1));
}

static void *raw_realloc(void *ctx, void *p, size_t size)
{
    return note(realloc(p, size != 0 ? size : 1));
}

static void raw_free(void *ctx, void *p)
{
    free(p);
}

static void *arena_alloc(void *ctx, size_t size)
{
    return note(malloc(size));
}

static void arena_free(void *ctx, void *p, size_t size)
{
    free(p);
}

bool nursery_open(void)
{
    if (!fill_gaps()) {
        return false;
    }
    uint8_t *region = malloc(REGION + PAGE);
    if (region == NULL) {
        return false;
    }
    begin = next = (uint8_t *)(((uintptr_t)region + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
    end = begin + REGION;
    PyMemAllocatorEx raw = {NULL, raw_malloc, raw_calloc, raw_realloc, raw_free};
    PyMem_SetAllocator(PYMEM_DOMAIN_RAW, &raw);
    PyObjectArenaAllocator arenas = {NULL, arena_alloc, arena_free};
    PyObject_SetArenaAllocator(&arenas);
    for (size_t i = 0; i < Py_ARRAY_LENGTH(domains); i++) {
        PyMemAllocatorEx ours = growing;
        PyMem_SetAllocator(domains[i], &ours);
    }
    return true;
}
