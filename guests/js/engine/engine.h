/* What the shim needs of QuickJS beyond its public interface.
 *
 * engine.c is compiled together with quickjs.c, so everything that knows how
 * an object, a string or a parse looks inside is in that one file. */
#ifndef MAYFLY_ENGINE_H
#define MAYFLY_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "quickjs.h"

/* Forbids the shadow stack below its last `size` bytes, counted from here. */
void engine_limit_stack(JSRuntime *rt, size_t size);

/* Bytes that the engine has allocated. */
size_t engine_heap_size(JSRuntime *rt);

/* Starts Math.random() afresh; the engine seeds it when a context is made. */
void engine_seed(JSContext *ctx, uint64_t seed);

/* Compiles a program whose top level may await. Its value, which is that of
 * its last statement if that is an expression, is passed to the function
 * `keep` when the program ends. A program with import or export declarations
 * is compiled as a module, any other as a script; both are run by
 * JS_EvalFunction, which gives a promise. source[len] must be 0. */
JSValue engine_compile(JSContext *ctx, const char *source, size_t len, const char *name, JSValueConst keep);

/* A string as its code units, which are valid as long as *owner is. */
typedef struct {
    JSValue owner;
    const uint8_t *narrow; /* Latin-1, or NULL */
    const uint16_t *wide;  /* UTF-16, or NULL */
    uint32_t len;
} engine_text;

bool engine_read_text(JSContext *ctx, JSValueConst string, engine_text *text);
JSValue engine_latin1(JSContext *ctx, const void *data, uint32_t len);

/* A BigInt from two's complement, least significant byte first. */
JSValue engine_new_bigint(JSContext *ctx, const uint8_t *bytes, uint32_t len);

/* What objects of one list of keys have in common. NULL with an exception. */
typedef struct JSShape engine_shape;
engine_shape *engine_new_shape(JSContext *ctx, const JSAtom *keys, uint32_t count);
/* Takes the values. */
JSValue engine_new_object(JSContext *ctx, engine_shape *shape, const JSValue *values);

/* An array of undefined, and where its elements are. */
JSValue engine_new_array(JSContext *ctx, uint32_t len, JSValue **elements);
/* The elements of an array that has no holes, accessors or the like, else
 * NULL. Any call into the engine may move them. */
const JSValue *engine_elements(JSValueConst array, uint32_t *len);

typedef enum {
    KIND_OBJECT, /* with properties and nothing else */
    KIND_ARRAY,
    KIND_BOXED, /* a Number, String, Boolean or BigInt object */
    KIND_DATE,
    KIND_MAP,
    KIND_SET,
    KIND_BYTES, /* Uint8Array, Uint8ClampedArray, DataView, ArrayBuffer */
    KIND_NUMBERS, /* any other typed array */
    KIND_FUNCTION,
    KIND_REGEXP,
    KIND_ERROR,
    KIND_PROMISE,
    KIND_PROXY,
    KIND_ITERATOR,
    KIND_SYMBOL,
    KIND_WEAK,
    KIND_OTHER,
} engine_kind;

engine_kind engine_kind_of(JSContext *ctx, JSValueConst object);

/* How many numbers a typed array has, whatever its length says; false for
 * everything else. */
bool engine_number_count(JSValueConst object, uint32_t *len);

/* The value in a Number, String, Boolean, BigInt or Date object. */
JSValue engine_unbox(JSContext *ctx, JSValueConst object);

/* Property number *at of an object whose properties can be read one by one
 * without running code of anybody's: plain data under names that are no array
 * indices. 1: there is one and *at is behind it; 0: there are no more. */
bool engine_is_plain(JSValueConst object);
int engine_next(JSContext *ctx, JSValueConst object, uint32_t *at, JSAtom *key, JSValue *value);

/* The keys and values of a Map, or the elements of a Set, in order. False with
 * an exception. The caller frees both the values and the array (js_free). */
bool engine_entries(JSContext *ctx, JSValueConst object, JSValue **items, uint32_t *count);

/* The bytes of an object of KIND_BYTES; none if it was detached. */
void engine_bytes(JSValueConst object, const uint8_t **data, size_t *len);
/* Whether an object is an array or a Proxy of one. */
bool engine_is_array(JSContext *ctx, JSValueConst object);

/* The name or the message of a DOMException, which keeps them behind getters;
 * undefined for everything else. */
JSValue engine_dom_text(JSContext *ctx, JSValueConst object, const char *name);

/* What an Error object remembers of where it was made, undefined if nothing;
 * whatever code put into a property of that name is another matter. */
JSValue engine_stack(JSContext *ctx, JSValueConst error);
/* The same of the latest throw, and forgets it. */
JSValue engine_thrown_from(JSContext *ctx);
/* Takes away Error.prepareStackTrace and stackTraceLimit: stacks are text of
 * the engine's own and of one length. */
bool engine_settle_stacks(JSContext *ctx);

#endif
