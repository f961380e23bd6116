#include "request.h"

#include <stdlib.h>

#define ABI 2u
#define DEFAULT_MAX_DEPTH 64u

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
    /* One more byte: sections are NUL-terminated where they lie. */
    return len < INT32_MAX ? malloc((size_t)len + 1) : NULL;
}

/* The byte behind a section is padding, or the tag of a section that has been
 * read already, or the byte that mayfly_alloc adds. */
static const char *terminated(section s)
{
    s.data[s.len] = 0;
    return (const char *)s.data;
}

static bool read_options(section s, uint32_t max_max_depth)
{
    call.max_depth = DEFAULT_MAX_DEPTH;
    call.max_value = UINT64_MAX;
    if (s.data == NULL) {
        return true;
    }
    uint32_t flags;
    if (s.len != sizeof call.max_depth + sizeof flags + sizeof call.max_value) {
        return false;
    }
    memcpy(&call.max_depth, s.data, 4);
    memcpy(&flags, s.data + 4, 4);
    memcpy(&call.max_value, s.data + 8, 8);
    call.host_calls = flags & OPTION_HOST_CALLS;
    return call.max_depth <= max_max_depth && (flags & ~(uint32_t)OPTION_HOST_CALLS) == 0;
}

bool request_read(uint8_t *data, uint32_t len, uint32_t max_max_depth)
{
    section sections[REQUEST_TAGS] = {0};
    if (!message_read(data, len, sections, REQUEST_TAGS)) {
        return false;
    }
    section code = sections[REQUEST_CODE - 1], name = sections[REQUEST_NAME - 1];
    call = (request){.globals = sections[REQUEST_GLOBALS - 1]};
    if (code.data == NULL || !read_options(sections[REQUEST_OPTIONS - 1], max_max_depth)) {
        return false;
    }
    call.code = terminated(code);
    call.code_len = code.len;
    if (name.data != NULL) {
        call.name = terminated(name);
        call.name_len = name.len;
    }
    return true;
}

void request_own(const char *code, size_t len)
{
    call = (request){.code = code, .code_len = len, .max_depth = DEFAULT_MAX_DEPTH, .max_value = UINT64_MAX};
}

void request_end_own(void)
{
    call = (request){0};
    memset(scratch, 0, sizeof scratch);
}

buffer request_room(const uint8_t *data, uint32_t len)
{
    if (data == scratch && len <= SCRATCH_REQUEST) {
        uint32_t used = (len + 1 + MESSAGE_ALIGN - 1) & ~(MESSAGE_ALIGN - 1);
        return (buffer){.data = scratch + used, .cap = sizeof scratch - used};
    }
    return (buffer){.data = scratch, .cap = sizeof scratch};
}

bool config_read(uint8_t *data, uint32_t len)
{
    section sections[CONFIG_TAGS] = {0};
    uint32_t abi;
    return message_read(data, len, sections, CONFIG_TAGS) && section_u32(sections[CONFIG_ABI - 1], &abi) && abi == ABI;
}

uint64_t info_result(const char *language, const char *version)
{
    uint32_t abi = ABI, room[2] = {(uint32_t)(uintptr_t)scratch, SCRATCH_REQUEST};
    buffer info = {0};
    if (!section_put(&info, INFO_ABI, &abi, sizeof abi) ||
        !section_put(&info, INFO_LANGUAGE, language, (uint32_t)strlen(language)) ||
        !section_put(&info, INFO_VERSION, version, (uint32_t)strlen(version)) ||
        !section_put(&info, INFO_SCRATCH, room, sizeof room)) {
        return 0;
    }
    return message_result(&info);
}
