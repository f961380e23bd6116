/* What the exports of the guest ABI do in every guest: where messages lie, what
 * a request and a config must be, and the info message.
 *
 * ARCHITECTURE.md at the top of the repository is the specification. */
#ifndef MAYFLY_REQUEST_H
#define MAYFLY_REQUEST_H

#include "message.h"

/* The request that is being served. */
typedef struct {
    const char *code; /* NUL-terminated in place */
    size_t code_len;
    const char *name; /* what tracebacks call the source, likewise; NULL: the guest's own name */
    size_t name_len;
    section globals; /* what globals_load takes; data is NULL when there is none */
    uint32_t max_depth;
    uint64_t max_value; /* bytes of the value's JSON text that are kept */
    bool host_calls;    /* the caller granted host calls */
} request;

extern request call;

/* Reads a request into call. max_max_depth is the depth of a value that the
 * guest's encoder can write: it recurses once for each level. False for what
 * no host of this version sends. */
bool request_read(uint8_t *data, uint32_t len, uint32_t max_max_depth);

/* Makes call one without a host behind it, for the guest's own code. */
void request_own(const char *code, size_t len);
/* Forgets that there were any. */
void request_end_own(void);

/* The room for the response to the request at data; NULL for the guest's own. */
buffer request_room(const uint8_t *data, uint32_t len);

/* Whether the config message asks for this version of the ABI. */
bool config_read(uint8_t *data, uint32_t len);

/* The info message as mayfly_init returns it; 0 when there is no memory. */
uint64_t info_result(const char *language, const char *version);

#endif
