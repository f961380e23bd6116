/* The tables that freeze.py writes, and the call that makes Python use them. */
#ifndef MAYFLY_FROZEN_H
#define MAYFLY_FROZEN_H

#include <Python.h>

struct mayfly_file {
    const char *name;
    const unsigned char *data;
    unsigned size;
    unsigned is_package; /* of a module */
};

/* Files, sorted by name. */
struct mayfly_files {
    const struct mayfly_file *files;
    unsigned count;
};

/* The standard library and the bootstrap; ends with a null name. */
extern const struct _frozen mayfly_frozen[];
/* Time zones. */
extern const struct mayfly_files mayfly_zones;
/* Modules of packages, as marshalled code, and the packages' data files; all
 * compressed. */
extern const struct mayfly_files mayfly_packages, mayfly_package_files;

/* Call once, before the interpreter is initialised. 0, or -1 without memory. */
int mayfly_frozen_install(void);

#endif
