/* Writes what -fprofile-generate counted, in LLVM's raw profile format.
 *
 * The compiler's own runtime does not exist for WASI, and it need not: the
 * format is a header, the compiler's per-function records, the counters, the
 * names and, for each function with value sites, the values seen there. The
 * instrumented guest is the wasm build itself, so every function's hash and
 * every #ifdef is the same as in the build that uses the profile.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KINDS 3 /* indirect call targets, sizes of memory operations, vtables */
#define NODES_PER_SITE 16

/* The compiler's record of one function (raw format version 10, wasm32). */
struct record {
    uint64_t name_hash;
    uint64_t cfg_hash;
    uint32_t counters; /* relative to the record */
    uint32_t bitmap;
    uint32_t function;
    struct node **values;
    uint32_t counter_count;
    uint16_t sites[KINDS];
    uint32_t bitmap_bytes;
};
_Static_assert(sizeof(struct record) == 48, "record layout of this compiler");

struct node {
    uint64_t value, count;
    struct node *next;
};

struct header {
    uint64_t magic, version, binary_ids, records, pad0, counters, pad1, bitmap_bytes, pad2, names_size,
        counters_delta, bitmap_delta, names_delta, vtables, vtable_names_size, last_kind;
};

/* Made by the linker around the compiler's sections. */
extern struct record __start___llvm_prf_data[], __stop___llvm_prf_data[];
extern uint64_t __start___llvm_prf_cnts[], __stop___llvm_prf_cnts[];
extern char __start___llvm_prf_names[], __stop___llvm_prf_names[];
extern const uint64_t __llvm_profile_raw_version;

int __llvm_profile_runtime; /* what makes the compiler's objects pull this in */

/* Counts a value at a site; when a site is full, a new value wears down the
 * least seen one and then takes its place. */
void __llvm_profile_instrument_target(uint64_t value, void *data, uint32_t site)
{
    struct record *r = data;
    if (!r->values) return;
    struct node **list = &r->values[site], *least = NULL;
    int n = 0;
    for (struct node *v = *list; v; v = v->next, n++) {
        if (v->value == value) {
            v->count++;
            return;
        }
        if (!least || v->count < least->count) least = v;
    }
    if (n < NODES_PER_SITE) {
        struct node *v = calloc(1, sizeof *v);
        if (!v) return;
        *v = (struct node){value, 1, *list};
        *list = v;
    } else if (--least->count == 0) {
        least->value = value;
        least->count = 1;
    }
}

/* Sizes are counted by class: each up to 8, then powers of two and the gaps
 * between them. */
void __llvm_profile_instrument_memop(uint64_t size, void *data, uint32_t site)
{
    if (size > 512)
        size = 513;
    else if (size > 8 && (size & (size - 1)))
        size = (UINT64_C(1) << (63 - __builtin_clzll(size))) + 1;
    __llvm_profile_instrument_target(size, data, site);
}

static const char zeros[8];

static int put(FILE *f, const void *p, size_t n)
{
    return n == 0 || fwrite(p, 1, n, f) == n;
}

static int pad(FILE *f, size_t n)
{
    return put(f, zeros, -n & 7);
}

/* The values of one function: a block for each kind that has sites. */
static int put_values(FILE *f, const struct record *r)
{
    uint32_t kinds = 0, total = 8, first = 0;
    static uint8_t count[65536]; /* too much for a small stack */
    for (int k = 0, s = 0; k < KINDS; k++) {
        if (!r->sites[k]) continue;
        kinds++;
        total += 8 + ((r->sites[k] + 7) & ~7u);
        for (int i = 0; i < r->sites[k]; i++, s++)
            for (struct node *v = r->values ? r->values[s] : NULL; v; v = v->next) total += 16;
    }
    if (!kinds) return 1;
    uint32_t head[2] = {total, kinds};
    if (!put(f, head, 8)) return 0;
    for (uint32_t k = 0; k < KINDS; first += r->sites[k], k++) {
        if (!r->sites[k]) continue;
        uint32_t block[2] = {k, r->sites[k]};
        for (int i = 0; i < r->sites[k]; i++) {
            count[i] = 0;
            for (struct node *v = r->values ? r->values[first + i] : NULL; v; v = v->next) count[i]++;
        }
        if (!put(f, block, 8) || !put(f, count, r->sites[k]) || !pad(f, r->sites[k])) return 0;
        for (int i = 0; i < r->sites[k]; i++)
            for (struct node *v = r->values ? r->values[first + i] : NULL; v; v = v->next)
                if (!put(f, &v->value, 8) || !put(f, &v->count, 8)) return 0;
    }
    return 1;
}

int profile_write(void)
{
    struct record *data = __start___llvm_prf_data;
    size_t n = __stop___llvm_prf_data - data;
    size_t counters = __stop___llvm_prf_cnts - __start___llvm_prf_cnts;
    size_t names = __stop___llvm_prf_names - __start___llvm_prf_names;
    struct header h = {
        .magic = UINT64_C(0xff6c70726f665281), /* "lprofR": 32-bit */
        .version = __llvm_profile_raw_version,
        .records = n,
        .counters = counters,
        .names_size = names,
        .counters_delta = n * sizeof *data,
        .names_delta = (uintptr_t)__start___llvm_prf_names,
        .last_kind = KINDS - 1,
    };
    FILE *f = fopen("/guest.profraw", "wb");
    if (!f) return 1;
    int ok = put(f, &h, sizeof h);
    for (size_t i = 0; ok && i < n; i++) {
        /* A reader takes counters_delta, less a record's size for each record
         * before, from this field: make the result the offset in counters. */
        struct record r = data[i];
        uint32_t at = (uint32_t)(uintptr_t)&data[i] + r.counters - (uint32_t)(uintptr_t)__start___llvm_prf_cnts;
        r.counters = at + (uint32_t)((n - i) * sizeof *data);
        ok = put(f, &r, sizeof r);
    }
    ok = ok && put(f, __start___llvm_prf_cnts, counters * 8) && put(f, __start___llvm_prf_names, names) && pad(f, names);
    for (size_t i = 0; ok && i < n; i++) ok = put_values(f, &data[i]);
    return fclose(f) == 0 && ok ? 0 : 2;
}
