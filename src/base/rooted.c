/* Files opened so that what was checked is what is read. */
#include "base/rooted.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens each part of the path in the folder before it, and follows no link: a part that became one after the path was
 * found leads nowhere. */
static int open_parts(const char *root, const char *below) {
    char part[NAME_MAX + 1];
    int folder = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (folder >= 0) {
        const char *slash = strchr(below, '/');
        size_t size = slash ? (size_t)(slash - below) : strlen(below);
        bool bad = !size || size > NAME_MAX || (size <= 2 && strncmp(below, "..", size) == 0);
        memcpy(part, below, bad ? 0 : size);
        part[bad ? 0 : size] = 0;
        int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | (slash ? O_DIRECTORY : O_NONBLOCK | O_NOCTTY);
        int next = bad ? -1 : openat(folder, part, flags);
        close(folder);
        if (!slash || next < 0)
            return next;
        folder = next;
        below = slash + 1;
    }
    return folder;
}

Source *rooted_read(const char *root, const char *below) {
    struct stat status;
    char *data = NULL;
    Source *source = NULL;
    size_t size = 0;
    ssize_t got = 1;
    int fd = open_parts(root, below);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= ROOTED_LARGEST)
        data = malloc((size_t)status.st_size + 1);
    while (data && size < (size_t)status.st_size && got > 0) {
        got = read(fd, data + size, (size_t)status.st_size - size);
        size += got > 0 ? (size_t)got : 0;
    }
    if (data && got >= 0)
        source = source_copy(below, data, size);
    free(data);
    close(fd);
    return source;
}
