/* How the capturing library finds the real driver: dlsym of the C library by its version, since the name is its own. */
#include "runtime/capture/capture.h"

#include <dlfcn.h>

typedef void *Dlsym(void *handle, const char *name);

void *next_dlsym(void *handle, const char *name) {
    static Dlsym *next;
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
    for (size_t i = 0; !next && i < sizeof versions / sizeof *versions; i++) {
        void *found = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
        next = *(Dlsym **)&found;
    }
    if (!next)
        return NULL;
    JUMP next(handle, name);
}

void *driver_symbol(const char *name) {
    static void *driver;
    if (!driver)
        driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    return driver ? next_dlsym(driver, name) : NULL;
}
