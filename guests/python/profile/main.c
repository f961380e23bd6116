/* The program that is profiled: CPython with its frozen standard library, as a
 * WASI command that runs /train.py and then writes /guest.profraw. */
#include "frozen.h"
#include <stdio.h>

int profile_write(void);

int main(void)
{
    static const wchar_t *const empty = L"";
    PyConfig config;
    mayfly_frozen_install();
    PyConfig_InitIsolatedConfig(&config);
    config.site_import = 0;
    config.write_bytecode = 0;
    config.install_signal_handlers = 0;
    config.code_debug_ranges = 0;
    config.module_search_paths_set = 1;
    PyConfig_SetString(&config, &config.program_name, L"python");
    PyConfig_SetString(&config, &config.executable, empty);
    PyConfig_SetString(&config, &config.prefix, empty);
    PyConfig_SetString(&config, &config.exec_prefix, empty);
    PyConfig_SetString(&config, &config.base_prefix, empty);
    PyStatus status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status)) {
        fprintf(stderr, "main: %s\n", status.err_msg);
        return 1;
    }
    FILE *script = fopen("/train.py", "r");
    if (!script || PyRun_SimpleFile(script, "train.py") != 0) return 1;
    Py_Finalize();
    int failed = profile_write();
    if (failed) fprintf(stderr, "main: the profile could not be written (%d)\n", failed);
    return failed;
}
