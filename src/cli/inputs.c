/* The files and modules that a command line means, and how the command complains. */
#include "cli/cli.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names of files may have control characters, which would move the cursor, or start another line of a log. */
char *message_text(const char *format, va_list arguments) {
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0)
        return NULL;
    for (char *at = text; *at; at++)
        if (iscntrl((unsigned char)*at) && !(*at == '\n' && !at[1]))
            *at = '?';
    return text;
}

void complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = message_text(format, arguments);
    va_end(arguments);
    fprintf(stderr, "weir: %s\n", text ? text : "there is not enough memory");
    free(text);
}

bool paths_append(Paths *paths, const char *path) {
    if (paths->count == paths->capacity) {
        size_t capacity = paths->capacity ? paths->capacity * 2 : 16;
        char **items = realloc(paths->items, capacity * sizeof *items);
        if (!items)
            return false;
        paths->items = items;
        paths->capacity = capacity;
    }
    paths->items[paths->count] = strdup(path);
    return paths->items[paths->count] && ++paths->count;
}

static bool is_ir(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot && (strcmp(dot, ".ttgir") == 0 || strcmp(dot, ".mlir") == 0);
}

/* A kernel cache has the IR of a kernel beside its PTX, and the IR says more. */
static bool has_ir_beside(const char *path) {
    static const char *const endings[] = {".ttgir", ".mlir"};
    int stem = (int)(strrchr(path, '.') - path);
    bool found = false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings && !found; i++) {
        char *beside = NULL;
        found = asprintf(&beside, "%.*s%s", stem, path, endings[i]) >= 0 && access(beside, F_OK) == 0;
        free(beside);
    }
    return found;
}

/* What weir exec keeps of CUDA programs: a module, and how one of its kernels was launched. Other fatbins and cubins
 * are not looked for. */
static bool is_captured(const char *path, const char *dot) {
    char *beside = NULL;
    bool image = dot && (strcmp(dot, ".fatbin") == 0 || strcmp(dot, ".cubin") == 0);
    bool found =
        image && asprintf(&beside, "%.*s.launch.json", (int)(dot - path), path) >= 0 && access(beside, F_OK) == 0;
    free(beside);
    return found;
}

static bool is_read(const Paths *paths, const char *path) {
    const char *dot = strrchr(path, '.');
    bool ptx = dot && strcmp(dot, ".ptx") == 0;
    bool recording =
        dot && (strcmp(dot, RECORDINGS_END) == 0 || strcmp(dot, ORDER_LOGS_END) == 0 || strcmp(dot, LAUNCHES_END) == 0);
    return is_ir(path) || (recording && paths->ptx != PTX_NOT) ||
           (paths->ptx != PTX_NOT && is_captured(path, dot) && !has_ir_beside(path)) ||
           (ptx && (paths->ptx == PTX_ALL || (paths->ptx == PTX_ALONE && !has_ir_beside(path))));
}

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_entry(const struct dirent *entry) {
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static bool add_failure(Failures *unread, const char *path, const char *reason) {
    return paths_append(&unread->paths, path) && paths_append(&unread->reasons, reason);
}

/* The folders that one folder of the command line leads to: what was found below it, and the way down to the present
 * one. A file or folder is known by its path without links: two hard links are two files, with launches of their own.
 */
typedef struct Descent {
    Paths *paths;
    Failures *unread;
    void *seen; /* tsearch's tree of paths */
    const struct Above {
        const struct Above *above;
        const char *path;
    } * way;
} Descent;

static int by_path(const void *left, const void *right) {
    return strcmp(left, right);
}

/* Takes the path into the tree, and returns whether it is there for the first time. */
static bool is_first(Descent *descent, char *real, bool *good) {
    char *const *kept = tsearch(real, &descent->seen, by_path);
    *good = kept;
    if (kept && *kept == real)
        return true;
    free(real);
    return false;
}

static void forget(Descent *descent) {
    while (descent->seen) {
        char *path = *(char **)descent->seen;
        tdelete(path, &descent->seen, by_path);
        free(path);
    }
}

static bool is_above(const Descent *descent, const char *real) {
    for (const struct Above *at = descent->way; at; at = at->above)
        if (strcmp(at->path, real) == 0)
            return true;
    return false;
}

static bool add_below(Descent *descent, const char *folder, const char *real);

/* Links are followed, and what several lead to is taken once. What is neither a file nor a folder could hold a kernel,
 * and it could not be said whether it does. */
static bool add_entry(Descent *descent, const char *path) {
    struct stat status, link;
    bool read = is_read(descent->paths, path), good = true;
    if (stat(path, &status) != 0) {
        bool dangling = errno == ENOENT && lstat(path, &link) == 0 && S_ISLNK(link.st_mode);
        return (dangling && !read) ||
               add_failure(descent->unread, path,
                           dangling ? "it is a link to a file that does not exist" : strerror(errno));
    }
    bool folder = S_ISDIR(status.st_mode);
    if (!folder && !S_ISREG(status.st_mode))
        return add_failure(descent->unread, path,
                           "it is neither a file nor a folder; name it on the command line to have it read");
    if (!folder && !read)
        return true;
    char *real = realpath(path, NULL);
    if (!real)
        return add_failure(descent->unread, path, strerror(errno));
    if (folder && is_above(descent, real)) {
        complain("%s: it leads back to a folder that it lies in, and is not followed", path);
        free(real);
    } else if (is_first(descent, real, &good)) {
        good = folder ? add_below(descent, path, real) : paths_append(descent->paths, path);
    }
    return good;
}

static bool add_below(Descent *descent, const char *folder, const char *real) {
    struct dirent **entries;
    int count = scandir(folder, &entries, is_entry, by_name);
    if (count < 0)
        return add_failure(descent->unread, folder, strerror(errno));
    const struct Above here = {descent->way, real};
    size_t size = strlen(folder);
    bool good = true;
    descent->way = &here;
    for (int i = 0; i < count; i++) {
        char *path = NULL;
        good = good &&
               asprintf(&path, "%s%s%s", folder, size && folder[size - 1] == '/' ? "" : "/", entries[i]->d_name) >= 0;
        good = good && add_entry(descent, path);
        free(path);
        free(entries[i]);
    }
    descent->way = here.above;
    free(entries);
    return good;
}

static bool add_folder(Paths *paths, Failures *unread, const char *folder) {
    Descent descent = {.paths = paths, .unread = unread};
    char *real = realpath(folder, NULL);
    bool good = real ? add_below(&descent, folder, real) : add_failure(unread, folder, strerror(errno));
    forget(&descent);
    free(real);
    return good;
}

static bool is_python(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot, ".py") == 0;
}

/* A kernel is there only once its program has compiled it. */
static bool add_python(Failures *unread, const char *path) {
    char *reason = NULL;
    bool good = asprintf(&reason,
                         "this is Python, not IR; 'weir exec -- python3 %s' checks the kernels that it compiles or "
                         "launches",
                         path) >= 0 &&
                add_failure(unread, path, reason);
    free(reason);
    return good;
}

bool paths_add(Paths *paths, Failures *unread, const char *path) {
    struct stat status;
    size_t before = paths->count, failures = unread->paths.count;
    bool there = strcmp(path, "-") != 0 && stat(path, &status) == 0;
    if (there && S_ISREG(status.st_mode) && is_python(path))
        return add_python(unread, path);
    if (!there || !S_ISDIR(status.st_mode))
        return paths_append(paths, path);
    if (!add_folder(paths, unread, path))
        return false;
    if (paths->count > before || unread->paths.count > failures)
        return true;
    return add_failure(unread, path,
                       paths->ptx ? "there is no .ttgir, .mlir or .ptx file below this folder"
                                  : "there is no .ttgir or .mlir file below this folder");
}

void paths_free(Paths *paths) {
    for (size_t i = 0; i < paths->count; i++)
        free(paths->items[i]);
    free(paths->items);
    *paths = (Paths){0};
}

static bool same(weir_string text, const char *other) {
    return text.size == strlen(other) && memcmp(text.data, other, text.size) == 0;
}

bool module_picked(weir_file *file, size_t index, const char *wanted) {
    if (!wanted)
        return true;
    char *end;
    unsigned long number = strtoul(wanted, &end, 10);
    if (*wanted && !*end)
        return number == index + 1;
    weir_module_info info = weir_module_info_of(file, index);
    return same(info.pass, wanted) || same(info.argument, wanted);
}
