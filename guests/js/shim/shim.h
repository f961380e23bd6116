/* What the parts of the shim know of each other.
 *
 * The shim is linked with QuickJS as one WebAssembly module and serves one
 * call in each instance. What the call leaves behind goes with the instance,
 * so values are freed where that keeps the heap small, not for its own sake. */
#ifndef MAYFLY_SHIM_H
#define MAYFLY_SHIM_H

#include "engine.h"
#include "request.h"

extern JSRuntime *rt;
extern JSContext *ctx;

/* memory.c: the engine's allocator. */
JSRuntime *memory_new_runtime(void);
/* An allocation failed in this call. */
extern bool memory_ran_out;
/* Whether an exception says so, rather than something of user code's own. */
bool memory_is_exception(JSValueConst exception);

/* boot.c: starts the engine and the bootstrap. */
bool boot(void);
/* Functions of the engine as they were before user code could replace them. */
extern JSValue date_to_text;

/* course.c: compiles call.code and runs it until nothing is left to do. Gives
 * its value, or an exception that is set. *stack is where the exception was
 * thrown from if it is no Error. */
JSValue course_run(JSValue *stack);
bool course_open(void);

/* timers.c */
JSValue timers_set(JSContext *c, JSValueConst self, int argc, JSValueConst *argv, int repeats);
JSValue timers_clear(JSContext *c, JSValueConst self, int argc, JSValueConst *argv);
/* Sleeps until the next timer is due and calls its function. 1: done, 0: there
 * is none, -1: it threw. */
int timers_next(void);

/* host.c: what the bootstrap asks of the shim, as an object. */
JSValue host_functions(void);
/* The module "mayfly", and the refusal of every other one. */
void host_install_modules(JSValueConst exports);
double host_now(void); /* milliseconds of a clock that only goes forward */
void host_start_clock(void);

/* artifact.c: a function of those. */
JSValue artifact_write(JSContext *c, JSValueConst self, int argc, JSValueConst *argv);

/* globals.c: defines the variables of a globals section. */
bool globals_load(const uint8_t *data, size_t len);

/* text.c: strings as UTF-8. Lone surrogates become U+FFFD. */
bool text_write(buffer *out, JSValueConst string);
/* The same between quotes, as JSON. Never more than limit bytes of it, and
 * then a mark. */
bool text_write_json(buffer *out, JSValueConst string, size_t limit);
bool text_write_json_bytes(buffer *out, const char *data, size_t len);
bool text_write_number(buffer *out, double value);
/* The string whose UTF-8 these bytes are. What is none becomes U+FFFD, as the
 * Encoding Standard has it: one for each sequence that breaks off. */
JSValue text_read(const uint8_t *data, size_t len);

/* Why a value has no JSON form, and where. */
typedef struct {
    const char *reason;
    buffer path; /* a JSON pointer, UTF-8 */
} refusal;

typedef enum { JSON_DONE, JSON_REFUSED, JSON_RAISED } json_status;

/* json.c: appends a value's JSON text to out. */
json_status json_write(buffer *out, JSValueConst value, uint32_t max_depth, refusal *why);

/* errors.c: appends the error object of a response. */
bool errors_describe(buffer *out, JSValueConst exception, JSValueConst stack);
/* A data property of an object or of what it inherits from; undefined where
 * finding out would run code. */
JSValue errors_peek(JSValueConst object, const char *name);

/* respond.c: writes a response into out and gives the export's result, 0 when
 * there is no memory even for that. */
uint64_t respond_value(buffer *out, JSValueConst value);
uint64_t respond_raised(buffer *out, JSValueConst exception, JSValueConst stack);

#endif
