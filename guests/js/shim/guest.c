/* The exports of the guest ABI, and the course of one call. */
#include "shim.h"

/* The encoder recurses once for each level; this many fit its stack. */
#define MAX_MAX_DEPTH 1000u
/* Of the stack that the linker gives (flags.env), what code may use. The rest
 * is for what the engine does without looking. */
#define STACK_FOR_CODE (1u << 20)

/* A byte order mark is not code, and a source without a name has this one. */
static void settle_request(void)
{
    if (call.code_len >= 3 && memcmp(call.code, "\xEF\xBB\xBF", 3) == 0) {
        call.code += 3;
        call.code_len -= 3;
    }
    if (call.name == NULL) {
        call.name = "main.js";
        call.name_len = strlen(call.name);
    }
}

static uint64_t run(buffer *out)
{
    JSValue value = JS_EXCEPTION, stack = JS_UNDEFINED;
    if (call.globals.data == NULL || globals_load(call.globals.data, call.globals.len)) {
        value = course_run(&stack);
    }
    if (!JS_IsException(value)) {
        return respond_value(out, value);
    }
    return respond_raised(out, JS_GetException(ctx), stack);
}

__attribute__((export_name("mayfly_run"))) uint64_t mayfly_run(uint8_t *data, uint32_t len)
{
    if (ctx == NULL || !request_read(data, len, MAX_MAX_DEPTH)) {
        return 0;
    }
    settle_request();
    buffer out = request_room(data, len);
    engine_limit_stack(rt, STACK_FOR_CODE);
    return run(&out);
}

__attribute__((export_name("mayfly_init"))) uint64_t mayfly_init(uint8_t *data, uint32_t len)
{
    if (ctx != NULL || !config_read(data, len) || !boot()) {
        return 0;
    }
    return info_result("javascript", LANGUAGE_VERSION);
}
