/* Any bytes as PTX, for fuzz targets that look at functions one by one. */
#ifndef FUZZ_PTX_FUNCTIONS_H
#define FUZZ_PTX_FUNCTIONS_H

#include "ptx/reader.h"

#include <stdlib.h>

/* Calls `check` for each function with a body of a module without errors, with how many came before; `kernels`: for
 * kernels alone. */
static inline void each_function(const uint8_t *data, size_t size, bool kernels,
                                 void (*check)(PtxModule *module, uint32_t function, uint32_t before)) {
    Source *source = source_copy("fuzz", (const char *)data, size);
    PtxModule module;
    Diagnostics diagnostics = {0};
    uint32_t before = 0;
    if (!source)
        abort();
    if (ptx_read(&module, source, false, &diagnostics))
        for (uint32_t i = 0; i < module.functions_count; i++)
            if (module.functions[i].body && (!kernels || module.functions[i].entry))
                check(&module, i, before++);
    ptx_free(&module);
    diagnostics_free(&diagnostics);
    source_free(source);
}

#endif
