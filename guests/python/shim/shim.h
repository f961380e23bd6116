/* What the parts of the shim know of each other.
 *
 * The shim is linked with CPython as one WebAssembly module and serves one
 * call in each instance. Nothing is freed for the sake of freeing: what the
 * call leaves behind goes with the instance. */
#ifndef MAYFLY_SHIM_H
#define MAYFLY_SHIM_H

#include <Python.h>

#include "request.h"

/* Functions of the bootstrap (guests/python/bootstrap). They are bound when
 * the image is made, so that nothing user code assigns can replace them. */
typedef struct {
    PyObject *convert;  /* values.convert(object): one step towards JSON */
    PyObject *describe; /* errors.describe(exception): the error object */
    PyObject *drive;    /* loop.drive(coroutine): its result */
    PyObject *rename;   /* boot.rename(name): a source name other than the default */
    PyObject *finish;   /* boot.finish(): exit handlers and streams */
    PyObject *samples;  /* sources to run before the snapshot */
} bootstrap;

extern bootstrap boot;

/* interp.c: starts CPython. False after printing why. */
bool interp_start(void);

/* image.c: makes the heap that the snapshot takes one that calls read and do
 * not write. */
bool image_settle(void);

/* nursery.c: gives the call's own objects a dense place to live in. */
bool nursery_open(void);

/* An allocation failed in this call. */
extern bool memory_ran_out;

/* code.c: compiles call.code and runs it in namespace. Gives the value of the
 * last statement, None unless that is an expression; NULL with an exception. */
PyObject *code_run(PyObject *filename, PyObject *namespace);

bool code_prepare(void);

/* respond.c: writes a response into out and gives the export's result, 0 when
 * there is no memory even for that. */
bool respond_prepare(void);
uint64_t respond_value(buffer *out, PyObject *value);
uint64_t respond_raised(buffer *out); /* for the exception that is set */
void respond_make_room(void); /* after memory ran out, for the report of it */

/* globals.c: defines the names of a globals section in namespace. */
bool globals_load(PyObject *namespace, const uint8_t *data, size_t len);

/* Why a value has no JSON form, and where. */
typedef struct {
    PyObject *reason; /* str */
    PyObject *path;   /* str, a JSON pointer */
} refusal;

typedef enum { JSON_DONE, JSON_REFUSED, JSON_RAISED } json_status;

/* json.c: appends a value's JSON text to out. */
json_status json_write(buffer *out, PyObject *value, uint32_t max_depth, refusal *why);

/* print.c: replaces print() for the unbuffered standard output. */
bool print_install(PyObject *stdout_stream);

/* random.c: makes every generator of the image seed itself afresh in the call
 * that first uses it. */
bool random_arm(void);

/* module.c: the builtin module _mayfly_shim, what the bootstrap asks of the shim. */
PyObject *module_init(void);

#endif
