/* Names resolved below a root, and files opened so that what was checked is what is read. */
#include "base/rooted.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of two absolute paths without links. */
static bool is_below(const char *root, const char *path) {
    size_t size = strlen(root);
    return strcmp(root, "/") == 0 || (strncmp(root, path, size) == 0 && path[size] == '/');
}

/* FOLDER/NAME resolved, if it is a regular file below the root; to be freed. */
static char *resolve(const char *root, const char *folder, const char *name) {
    char *path = NULL, *real = NULL;
    struct stat status;
    if (asprintf(&path, "%s%s%s", folder, *folder ? "/" : "", name) < 0)
        return NULL;
    if (strlen(path) < PATH_MAX)
        real = realpath(path, NULL);
    free(path);
    if (real && is_below(root, real) && stat(real, &status) == 0 && S_ISREG(status.st_mode))
        return real;
    free(real);
    return NULL;
}

/* /home/somebody/project/kernels/a.py is kernels/a.py here. */
static char *resolve_end(const char *root, const char *name) {
    char *found = NULL;
    while (!found && (name = strchr(name, '/'))) {
        name += strspn(name, "/");
        if (*name)
            found = resolve(root, root, name);
    }
    return found;
}

char *rooted_find(const char *root, const char *beside, const char *name) {
    char *real_root = realpath(root, NULL), *found = NULL;
    struct stat status;
    if (!real_root || !*name)
        found = NULL;
    else if (*name != '/')
        found = resolve(real_root, real_root, name);
    else if (lstat(name, &status) == 0)
        found = resolve(real_root, "", name);
    else
        found = resolve_end(real_root, name);
    if (real_root && *name && *name != '/' && !found && beside)
        found = resolve(real_root, beside, name);
    free(real_root);
    return found;
}

/* The path of an open file as the system has it now; to be freed. */
static char *path_of(int fd) {
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    return realpath(link, NULL);
}

/* All of a regular file, if it is not too large. */
static Source *read_open(int fd, const char *name) {
    struct stat status;
    char *data = NULL;
    Source *source = NULL;
    size_t size = 0;
    ssize_t got = 1;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= ROOTED_LARGEST)
        data = malloc((size_t)status.st_size + 1);
    while (data && size < (size_t)status.st_size && got > 0) {
        got = read(fd, data + size, (size_t)status.st_size - size);
        size += got > 0 ? (size_t)got : 0;
    }
    if (data && got >= 0)
        source = source_copy(name, data, size);
    free(data);
    return source;
}

Source *rooted_read(const char *root, const char *path) {
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return NULL;
    /* Between the name and the file a folder may have become a link: what was opened has to be there. */
    char *real_root = realpath(root, NULL), *real = path_of(fd);
    Source *source = real_root && (!real || is_below(real_root, real)) ? read_open(fd, path) : NULL;
    free(real_root);
    free(real);
    close(fd);
    return source;
}
