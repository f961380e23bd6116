/* The engine's allocator: malloc, with two duties more. It notes that memory
 * ran out, and it keeps a reserve so that the exception about it can be made. */
#include "shim.h"

#include <malloc.h>
#include <stdlib.h>

/* Given back at the first failure. Its pages are never touched, so it costs
 * address space only. */
#define RESERVE (128 * 1024)

bool memory_ran_out;
static void *reserve;

static void *failed(void)
{
    memory_ran_out = true;
    free(reserve);
    reserve = NULL;
    return NULL;
}

static void *engine_calloc(void *opaque, size_t count, size_t size)
{
    void *block = calloc(count, size);
    return block != NULL ? block : failed();
}

static void *engine_malloc(void *opaque, size_t size)
{
    void *block = malloc(size);
    return block != NULL ? block : failed();
}

static void *engine_realloc(void *opaque, void *old, size_t size)
{
    void *block = realloc(old, size);
    return block != NULL ? block : failed();
}

static void engine_free(void *opaque, void *block)
{
    free(block);
}

static size_t engine_usable_size(const void *block)
{
    return malloc_usable_size((void *)block);
}

JSRuntime *memory_new_runtime(void)
{
    static const JSMallocFunctions functions = {
        engine_calloc, engine_malloc, engine_free, engine_realloc, engine_usable_size,
    };
    reserve = malloc(RESERVE);
    return reserve == NULL ? NULL : JS_NewRuntime2(&functions, NULL);
}

/* The engine throws an InternalError, or null when there is no room for one. */
bool memory_is_exception(JSValueConst exception)
{
    if (!memory_ran_out) {
        return false;
    }
    if (JS_IsNull(exception) || JS_IsUninitialized(exception)) {
        return true;
    }
    if (!JS_IsObject(exception) || engine_kind_of(ctx, exception) != KIND_ERROR) {
        return false;
    }
    JSValue message = errors_peek(exception, "message");
    engine_text text;
    bool is = JS_IsString(message) && engine_read_text(ctx, message, &text) && text.narrow != NULL &&
              text.len == sizeof "out of memory" - 1 && memcmp(text.narrow, "out of memory", text.len) == 0;
    JS_FreeValue(ctx, message);
    return is;
}
