/* Kernels that Triton takes from its cache, which were assembled in another run: their text lies beside their image
 * there. It says the lines of the source, which the text that ptxas keeps in an image does not. */
#include "runtime/record/gpu.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { NAME_MOST = 150 }; /* characters of a kernel's name that a file of the cache has */

/* As Triton looks for it; false: nowhere. */
static bool cache_folder(char *path, size_t size) {
    const char *own = getenv("TRITON_CACHE_DIR"), *home = getenv("TRITON_HOME");
    home = home && *home ? home : getenv("HOME");
    int length = own && *own ? snprintf(path, size, "%s", own)
                 : home      ? snprintf(path, size, "%s/.triton/cache", home)
                             : -1;
    return length > 0 && (size_t)length < size;
}

static bool holds(const char *path, const void *image, size_t bytes) {
    char *there = module_read(path);
    bool same = there && memcmp(there, image, bytes) == 0;
    free(there);
    return same;
}

/* The text of a kernel beside its image, in whichever folder of the cache has both. */
static char *find_text(int cache, DIR *folders, const char *at, const char *kernel, const void *image, size_t bytes) {
    char *text = NULL, name[NAME_MAX + NAME_MOST + 16], path[4096];
    struct stat of;
    rewinddir(folders);
    for (const struct dirent *entry; !text && (entry = readdir(folders));) {
        snprintf(name, sizeof name, "%s/%.*s.cubin", entry->d_name, NAME_MOST, kernel);
        if (*entry->d_name == '.' || fstatat(cache, name, &of, 0) != 0 || (uint64_t)of.st_size != bytes ||
            snprintf(path, sizeof path, "%s/%s", at, name) >= (int)sizeof path || !holds(path, image, bytes))
            continue;
        strcpy(path + strlen(path) - strlen("cubin"), "ptx");
        text = module_read(path);
    }
    return text;
}

/* What ptxas notes in its images of the options that it was given. */
static const char not_fused[] = "-fmad false";
static const char was_not_fused[] = "it is from Triton's cache, and was compiled with enable_fp_fusion=False, which "
                                    "the driver cannot do where it compiles "
                                    "what records it; TRITON_ALWAYS_COMPILE=1 has Triton compile it again";

char *gpu_cached_text(const void *image, size_t bytes, const char **why) {
    static const char prefix[] = ".text.";
    char path[2048], *text = NULL;
    DIR *folders = cache_folder(path, sizeof path) ? opendir(path) : NULL;
    const char *name;
    for (unsigned i = 0; folders && !text && gpu_section(image, bytes, i, &name); i++)
        if (strncmp(name, prefix, strlen(prefix)) == 0)
            text = find_text(dirfd(folders), folders, path, name + strlen(prefix), image, bytes);
    if (folders)
        closedir(folders);
    if (text && memmem(image, bytes, not_fused, strlen(not_fused))) {
        free(text);
        text = NULL;
        *why = was_not_fused;
    }
    return text;
}
