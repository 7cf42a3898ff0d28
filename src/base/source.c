/* Reading files, and finding lines and columns in them when it is asked for. */
#include "base/source.h"

#include "base/bisect.h"
#include "base/dependencies.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PADDING = 16, LARGE = 2 << 20 };

static Source *new_source(const char *name) {
    Source *source = calloc(1, sizeof *source);
    if (source && !(source->name = strdup(name))) {
        free(source);
        return NULL;
    }
    return source;
}

Source *source_copy(const char *name, const char *data, size_t size) {
    if (size > SOURCE_LARGEST)
        return NULL;
    Source *source = new_source(name);
    if (!source)
        return NULL;
    source->data = malloc(size + PADDING);
    if (!source->data) {
        source_free(source);
        return NULL;
    }
    if (size)
        memcpy(source->data, data, size);
    memset(source->data + size, 0, PADDING);
    source->size = size;
    return source;
}

/* Reads to the end of `fd`; the size that fstat tells is only a first guess, since a pipe has none. */
static const char *read_all(int fd, Source *source) {
    struct stat status;
    if (fstat(fd, &status) != 0)
        return strerror(errno);
    if (S_ISDIR(status.st_mode))
        return "it is a directory";
    size_t capacity = 64 << 10;
    if (S_ISREG(status.st_mode)) {
        if ((uint64_t)status.st_size > SOURCE_LARGEST)
            return "it is larger than 4 GiB";
        capacity = (size_t)status.st_size + 1;
    }
    if (capacity >= LARGE) /* on large pages, as in arena.c */
        source->data = aligned_alloc(LARGE, (capacity + PADDING + LARGE - 1) & ~(size_t)(LARGE - 1));
    if (source->data)
        madvise(source->data, capacity, MADV_HUGEPAGE);
    for (bool first = true;; first = false) {
        char *data = first && source->data ? source->data : realloc(source->data, capacity + PADDING);
        if (!data)
            return "there is not enough memory for it";
        source->data = data;
        while (source->size < capacity) {
            ssize_t got = read(fd, data + source->size, capacity - source->size);
            if (got < 0 && errno == EINTR)
                continue;
            if (got < 0)
                return strerror(errno);
            if (got == 0) {
                memset(data + source->size, 0, PADDING);
                return NULL;
            }
            source->size += (size_t)got;
        }
        if (capacity >= SOURCE_LARGEST)
            return "it is larger than 4 GiB";
        capacity = capacity > SOURCE_LARGEST / 2 ? SOURCE_LARGEST : capacity * 2;
    }
}

Source *source_read(const char *path, const char **problem) {
    bool standard_input = strcmp(path, "-") == 0;
    int fd = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        *problem = strerror(errno);
        dependencies_spoil();
        return NULL;
    }
    struct stat status;
    bool again = !standard_input && fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    Source *source = new_source(standard_input ? "<stdin>" : path);
    *problem = source ? read_all(fd, source) : "there is not enough memory for it";
    if (!standard_input)
        close(fd);
    if (again && !*problem)
        dependency_add(path, DEPENDS_TEXT, source->data, source->size);
    else
        dependencies_spoil();
    if (*problem) {
        source_free(source);
        return NULL;
    }
    return source;
}

void source_free(Source *source) {
    if (!source)
        return;
    free(source->name);
    free(source->data);
    free(source->line_starts);
    free(source);
}

static bool index_lines(Source *source) {
    uint32_t count = 1;
    for (const char *at = source->data; (at = memchr(at, '\n', source->size - (size_t)(at - source->data))); at++)
        count++;
    source->line_starts = malloc(sizeof *source->line_starts * count);
    if (!source->line_starts)
        return false;
    source->line_starts[0] = 0;
    for (const char *at = source->data; (at = memchr(at, '\n', source->size - (size_t)(at - source->data))); at++)
        source->line_starts[++source->line_count] = (uint32_t)(at - source->data) + 1;
    source->line_count++;
    return true;
}

Place source_place(Source *source, size_t offset) {
    if (!source->line_starts && !index_lines(source))
        return (Place){1 + source->lines_before, 1};
    uint32_t next; /* the line that starts first behind offset */
    BISECT(next, 1, source->line_count, source->line_starts[next] <= offset);
    return (Place){next + source->lines_before, (uint32_t)offset - source->line_starts[next - 1] + 1};
}

Str source_line(Source *source, uint32_t line) {
    if (line <= source->lines_before || line - source->lines_before > source->line_count)
        return (Str){"", 0};
    line -= source->lines_before;
    uint32_t start = source->line_starts[line - 1];
    size_t end = line < source->line_count ? source->line_starts[line] - 1 : source->size;
    if (end > start && source->data[end - 1] == '\r')
        end--;
    return (Str){source->data + start, end - start};
}
