/* Responses: a value or one of the ways to have none. */
#include "shim.h"

enum { RESPONSE_KIND = 1, RESPONSE_VALUE, RESPONSE_ERROR, RESPONSE_DROPPED };
enum { KIND_VALUE, KIND_RAISED, KIND_REFUSED, KIND_NO_MEMORY };

static bool begin(buffer *out, uint32_t kind, uint32_t tag, size_t *section)
{
    return section_put(out, RESPONSE_KIND, &kind, sizeof kind) && section_begin(out, tag, section);
}

static uint64_t respond_no_memory(buffer *out)
{
    size_t section;
    if (begin(out, KIND_NO_MEMORY, RESPONSE_ERROR, &section) &&
        buffer_literal(out, "{\"type\":\"InternalError\",\"message\":\"the call has used up its memory\"}") &&
        section_end(out, section)) {
        return message_result(out);
    }
    return 0;
}

uint64_t respond_raised(buffer *out, JSValueConst exception, JSValueConst stack)
{
    size_t start = out->len, section;
    uint32_t kind = memory_is_exception(exception) ? KIND_NO_MEMORY : KIND_RAISED;
    if (begin(out, kind, RESPONSE_ERROR, &section) && errors_describe(out, exception, stack) &&
        section_end(out, section)) {
        return message_result(out);
    }
    out->len = start;
    return respond_no_memory(out);
}

static uint64_t respond_refused(buffer *out, const refusal *why)
{
    size_t start = out->len, section;
    if (begin(out, KIND_REFUSED, RESPONSE_ERROR, &section) &&
        buffer_literal(out, "{\"type\":\"ConversionError\",\"message\":\"") &&
        text_write_json_bytes(out, why->reason, strlen(why->reason)) && buffer_literal(out, "\",\"path\":\"") &&
        text_write_json_bytes(out, (const char *)why->path.data, why->path.len) && buffer_literal(out, "\"}") &&
        section_end(out, section)) {
        return message_result(out);
    }
    out->len = start;
    return respond_no_memory(out);
}

uint64_t respond_value(buffer *out, JSValueConst value)
{
    size_t start = out->len, section;
    refusal why = {0};
    if (begin(out, KIND_VALUE, RESPONSE_VALUE, &section)) {
        buffer_bound(out, call.max_value);
        json_status status = json_write(out, value, call.max_depth, &why);
        buffer_unbound(out);
        switch (status) {
        case JSON_DONE:
            if (section_end(out, section) &&
                (out->dropped == 0 || section_put(out, RESPONSE_DROPPED, &out->dropped, sizeof out->dropped))) {
                return message_result(out);
            }
            break;
        case JSON_REFUSED:
            out->len = start;
            return respond_refused(out, &why);
        case JSON_RAISED: {
            out->len = start;
            JSValue exception = JS_GetException(ctx);
            uint64_t response = respond_raised(out, exception, JS_UNDEFINED);
            JS_FreeValue(ctx, exception);
            return response;
        }
        }
    }
    out->len = start;
    return respond_no_memory(out);
}
