/* The places where a kernel's source code may lie, in turn. */
#include "base/code.h"

#include "base/dependencies.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGEST_CODE = 10 << 20 };

const char *path_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool has_ending(const char *path, const char *const *endings, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (str_ends(str_of(path), str_of(endings[i])))
            return true;
    return false;
}

bool code_is_cpp(const char *path) {
    static const char *const endings[] = {".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".inl"};
    return has_ending(path, endings, sizeof endings / sizeof *endings);
}

static bool is_source_code(const char *path) {
    static const char *const endings[] = {".py", ".mlir", ".ttir"};
    return code_is_cpp(path) || has_ending(path, endings, sizeof endings / sizeof *endings);
}

Source *code_read(const char *path) {
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat status;
    char *data = NULL;
    Source *source = NULL;
    if (fd < 0 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        dependency_add(path, DEPENDS_MISSING, NULL, 0);
    else if (status.st_size >= LARGEST_CODE || !(data = malloc((size_t)status.st_size + 1)))
        dependencies_spoil();
    if (fd < 0)
        return NULL;
    if (data) {
        ssize_t size = read(fd, data, (size_t)status.st_size);
        if (size >= 0)
            dependency_add(path, DEPENDS_TEXT, data, (size_t)size);
        if (size >= 0 && !memchr(data, 0, (size_t)size)) /* it is text */
            source = source_copy(path, data, (size_t)size);
    }
    free(data);
    close(fd);
    return source;
}

/* ---- Where it may be ----------------------------------------------------------------------------- */

/* One after the other; `take` returns true to stop. */
typedef bool TakePath(void *context, const char *path);

static bool try_path(Str folder, const char *name, TakePath *take, void *context) {
    char *path = NULL;
    if (asprintf(&path, "%.*s%s%s", (int)folder.size, folder.data, folder.size ? "/" : "", name) < 0)
        return false;
    bool taken = take(context, path);
    free(path);
    return taken;
}

static bool try_below(const char *root, const char *file, TakePath *take, void *context) {
    while (file) {
        if (*file && *file != '/' && try_path(str_of(root), file, take, context))
            return true;
        const char *slash = strchr(file, '/');
        file = slash ? slash + 1 : NULL;
    }
    return false;
}

static bool try_places(const char *ir, const char *root, const char *file, TakePath *take, void *context) {
    const char *slash = strrchr(ir, '/');
    Str beside = slash ? str_between(ir, slash) : STR("");
    if (!is_source_code(file))
        return false;
    if (slash == ir)
        beside = STR("/.");
    return (file[0] != '/' && try_path(beside, file, take, context)) ||
           (strchr(file, '/') && try_path(beside, path_name(file), take, context)) ||
           (root && try_below(root, file, take, context)) || take(context, file);
}

static bool take_read(void *context, const char *path) {
    Source **found = context;
    *found = code_read(path);
    return *found != NULL;
}

Source *code_find(const char *ir, const char *root, const char *file) {
    Source *found = NULL;
    try_places(ir, root, file, take_read, &found);
    return found;
}

/* ---- Below the root ------------------------------------------------------------------------------ */

/* A path without links and dots; of one that is not there, what its folder is. */
static char *real_path(const char *path) {
    char *whole = realpath(path, NULL), *folder = NULL, *real = NULL;
    const char *name = path_name(path);
    if (whole || !*name)
        return whole;
    if (asprintf(&folder, "%.*s.", (int)(name - path), path) >= 0)
        real = realpath(folder, NULL);
    if (real && asprintf(&whole, "%s/%s", strcmp(real, "/") == 0 ? "" : real, name) < 0)
        whole = NULL;
    free(folder);
    free(real);
    return whole;
}

char *path_below(const char *root, const char *path) {
    char *top = realpath(root, NULL), *whole = real_path(path), *below = NULL;
    if (top && whole) {
        size_t size = strcmp(top, "/") == 0 ? 0 : strlen(top);
        if (strncmp(whole, top, size) == 0 && whole[size] == '/' && whole[size + 1])
            below = strdup(whole + size + 1);
    }
    free(top);
    free(whole);
    return below;
}

typedef struct Below {
    const char *root;
    char *found;
} Below;

static bool take_below(void *context, const char *path) {
    Below *below = context;
    struct stat status;
    bool there = stat(path, &status) == 0 && S_ISREG(status.st_mode);
    dependency_add(path, there ? DEPENDS_THERE : DEPENDS_MISSING, NULL, 0);
    if (there)
        below->found = path_below(below->root, path);
    return below->found != NULL;
}

char *code_below(const char *ir, const char *root, const char *file) {
    Below below = {.root = root};
    try_places(ir, root, file, take_below, &below);
    return below.found;
}

/* ---- Lines --------------------------------------------------------------------------------------- */

/* How much of a line of Python stands before its comment: a '#' in a text is none. */
static size_t comment_start(Str line) {
    char quote = 0;
    for (size_t i = 0; i < line.size; i++) {
        char c = line.data[i];
        if (quote && c == '\\')
            i++;
        else if (quote)
            quote = c == quote ? 0 : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else if (c == '#')
            return i;
    }
    return line.size;
}

void code_line_plain(Str line, bool python, Text *to) {
    size_t size = python ? comment_start(line) : line.size;
    bool blank = false, any = false;
    for (size_t i = 0; i < size; i++) {
        if (isspace((unsigned char)line.data[i])) {
            blank = any;
            continue;
        }
        if (blank)
            text_char(to, ' ');
        text_char(to, line.data[i]);
        blank = false;
        any = true;
    }
}
