/* The exports of the guest ABI, and the course of one call. */
#include "shim.h"

#include <stdlib.h>

#define ABI 2u
#define DEFAULT_MAX_DEPTH 64u
/* The encoder recurses once for each level; this many fit its stack. */
#define MAX_MAX_DEPTH 1000u
/* Of the stack that the linker gives (flags.env), what code may use. The rest
 * is for what the engine does without looking. */
#define STACK_FOR_CODE (1u << 20)

enum { CONFIG_ABI = 1, CONFIG_TAGS = CONFIG_ABI };
enum { INFO_ABI = 1, INFO_LANGUAGE, INFO_VERSION, INFO_SCRATCH };
enum { REQUEST_CODE = 1, REQUEST_NAME, REQUEST_GLOBALS, REQUEST_OPTIONS, REQUEST_TAGS = REQUEST_OPTIONS };
enum { OPTION_HOST_CALLS = 1 };

/* A small call lives here: its request, and behind that its response, so that
 * both dirty one page. */
static _Alignas(4096) uint8_t scratch[64 * 1024];
/* What is said to fit leaves room for the response and a terminating NUL. */
#define SCRATCH_REQUEST (sizeof scratch - 4096)

request call;

__attribute__((export_name("mayfly_alloc"))) void *mayfly_alloc(uint32_t len)
{
    /* One more byte: the code is NUL-terminated where it lies. */
    return len < INT32_MAX ? malloc((size_t)len + 1) : NULL;
}

/* The byte behind a section is padding, or the tag of a section that has been
 * read already, or the byte that mayfly_alloc adds. */
static const char *terminated(section s)
{
    s.data[s.len] = 0;
    return (const char *)s.data;
}

static bool read_request(uint8_t *data, uint32_t len, section *sections)
{
    if (!message_read(data, len, sections, REQUEST_TAGS)) {
        return false;
    }
    section code = sections[REQUEST_CODE - 1], name = sections[REQUEST_NAME - 1], options = sections[REQUEST_OPTIONS - 1];
    if (code.data == NULL) {
        return false;
    }
    call.max_depth = DEFAULT_MAX_DEPTH;
    call.max_value = UINT64_MAX;
    if (options.data != NULL) {
        uint32_t flags;
        if (options.len != 16) {
            return false;
        }
        memcpy(&call.max_depth, options.data, 4);
        memcpy(&flags, options.data + 4, 4);
        memcpy(&call.max_value, options.data + 8, 8);
        if (call.max_depth > MAX_MAX_DEPTH || flags & ~(uint32_t)OPTION_HOST_CALLS) {
            return false;
        }
        call.host_calls = flags & OPTION_HOST_CALLS;
    }
    call.code = terminated(code);
    call.code_len = code.len;
    if (call.code_len >= 3 && memcmp(call.code, "\xEF\xBB\xBF", 3) == 0) {
        call.code += 3;
        call.code_len -= 3;
    }
    call.name = name.data != NULL ? terminated(name) : "main.js";
    return true;
}

static uint64_t run(buffer *out, section globals)
{
    JSValue value = JS_EXCEPTION, stack = JS_UNDEFINED;
    if (globals.data == NULL || globals_load(globals.data, globals.len)) {
        value = course_run(&stack);
    }
    if (!JS_IsException(value)) {
        return respond_value(out, value);
    }
    return respond_raised(out, JS_GetException(ctx), stack);
}

__attribute__((export_name("mayfly_run"))) uint64_t mayfly_run(uint8_t *data, uint32_t len)
{
    section sections[REQUEST_TAGS] = {0};
    if (ctx == NULL || !read_request(data, len, sections)) {
        return 0;
    }
    buffer out = {0};
    if (data == scratch && len <= SCRATCH_REQUEST) {
        uint32_t used = (len + 1 + MESSAGE_ALIGN - 1) & ~(MESSAGE_ALIGN - 1);
        out = (buffer){.data = scratch + used, .cap = sizeof scratch - used};
    } else {
        out = (buffer){.data = scratch, .cap = sizeof scratch};
    }
    engine_limit_stack(rt, STACK_FOR_CODE);
    return run(&out, sections[REQUEST_GLOBALS - 1]);
}

__attribute__((export_name("mayfly_init"))) uint64_t mayfly_init(uint8_t *data, uint32_t len)
{
    section sections[CONFIG_TAGS] = {0};
    uint32_t abi;
    if (ctx != NULL || !message_read(data, len, sections, CONFIG_TAGS) ||
        !section_u32(sections[CONFIG_ABI - 1], &abi) || abi != ABI || !boot()) {
        return 0;
    }
    static const char language[] = "javascript", version[] = LANGUAGE_VERSION;
    uint32_t room[2] = {(uint32_t)(uintptr_t)scratch, SCRATCH_REQUEST};
    buffer info = {0};
    if (!section_put(&info, INFO_ABI, &abi, sizeof abi) ||
        !section_put(&info, INFO_LANGUAGE, language, sizeof language - 1) ||
        !section_put(&info, INFO_VERSION, version, sizeof version - 1) ||
        !section_put(&info, INFO_SCRATCH, room, sizeof room)) {
        return 0;
    }
    return message_result(&info);
}
