/* The tables that freeze.py writes, and the call that makes Python use them. */
#ifndef MAYFLY_FROZEN_H
#define MAYFLY_FROZEN_H

#include <Python.h>

struct mayfly_file {
    const char *name;
    const unsigned char *data;
    unsigned size;
};

/* Every module that can be imported and is not written in C; ends with a null name. */
extern const struct _frozen mayfly_frozen[];
/* Data files, sorted by name. */
extern const struct mayfly_file mayfly_files[];
extern const unsigned mayfly_files_len;

/* Call once, before the interpreter is initialised. 0, or -1 without memory. */
int mayfly_frozen_install(void);

#endif
