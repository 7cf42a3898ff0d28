/* Whether this machine has a CUDA driver that can record, known without loading it: what is said where nothing was
 * recorded. */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool lies_in(const char *folder, size_t size) {
    char path[4096];
    return size && snprintf(path, sizeof path, "%.*s/libcuda.so.1", (int)size, folder) < (int)sizeof path &&
           access(path, R_OK) == 0;
}

/* Whether the loader's cache has it: paths stand in it as they are, each with a zero behind it. */
static bool is_cached(void) {
    static const char name[] = "/libcuda.so.1";
    enum { MOST = 16 << 20 };
    FILE *file = fopen("/etc/ld.so.cache", "rb");
    char *cache = file ? malloc(MOST) : NULL;
    size_t size = cache ? fread(cache, 1, MOST, file) : 0;
    bool found = memmem(cache ? cache : "", size, name, sizeof name) != NULL;
    free(cache);
    if (file)
        fclose(file);
    return found;
}

/* Where the loader would find it: LD_LIBRARY_PATH, its cache, and where distributions and WSL put it. */
static bool has_driver(void) {
    static const char *const folders[] = {"/usr/lib",        "/usr/lib64",
                                          "/lib64",          "/usr/lib/x86_64-linux-gnu",
                                          "/usr/local/lib",  "/usr/lib/aarch64-linux-gnu",
                                          "/usr/lib/wsl/lib"};
    const char *given = getenv("LD_LIBRARY_PATH");
    for (size_t size; given && *given; given += size + (given[size] == ':')) {
        size = strcspn(given, ":");
        if (lies_in(given, size))
            return true;
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (lies_in(folders[i], strlen(folders[i])))
            return true;
    return is_cached();
}

/* "580.65.06", as the kernel's part of the driver says it; 0: it does not. */
static unsigned release_of_driver(void) {
    unsigned release = 0;
    char line[256] = "";
    FILE *file = fopen("/proc/driver/nvidia/version", "r");
    if (file && fgets(line, sizeof line, file))
        for (const char *at = line; *at && !release; at++)
            if (at[0] == ' ' && sscanf(at, " %u.%*u", &release) != 1)
                release = 0;
    if (file)
        fclose(file);
    return release;
}

const char *driver_trouble(void) {
    enum { FIRST_RELEASE = 550 }; /* of CUDA 12.4 */
    static char text[160];
    unsigned release = release_of_driver();
    if (!has_driver())
        return "there is no CUDA driver here (libcuda.so.1 was not found)";
    if (!release || release >= FIRST_RELEASE)
        return NULL;
    snprintf(text, sizeof text,
             "the CUDA driver here, release %u, is older than 12.4 (release %d), which weir exec requires", release,
             FIRST_RELEASE);
    return text;
}
