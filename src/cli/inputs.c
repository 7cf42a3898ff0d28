/* The files and modules that a command line means, and how the command complains. */
#include "cli/cli.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
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
    bool ptx = dot && strcmp(dot, ".ptx") == 0, recording = dot && strcmp(dot, RECORDINGS_END) == 0;
    return is_ir(path) || (recording && paths->ptx != PTX_NOT) || (paths->ptx != PTX_NOT && is_captured(path, dot) && !has_ir_beside(path)) ||
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

static bool add_below(Paths *paths, Failures *unread, const char *folder);

/* Links are not followed, so that no folder comes twice. */
static bool add_entry(Paths *paths, Failures *unread, const char *folder, const char *name) {
    char *path = NULL;
    struct stat status;
    size_t size = strlen(folder);
    bool good = asprintf(&path, "%s%s%s", folder, size && folder[size - 1] == '/' ? "" : "/", name) >= 0;
    if (good && lstat(path, &status) != 0)
        good = add_failure(unread, path, strerror(errno));
    else if (good && S_ISDIR(status.st_mode))
        good = add_below(paths, unread, path);
    else if (good && S_ISREG(status.st_mode) && is_read(paths, path))
        good = paths_append(paths, path);
    free(path);
    return good;
}

static bool add_below(Paths *paths, Failures *unread, const char *folder) {
    struct dirent **entries;
    int count = scandir(folder, &entries, is_entry, by_name);
    if (count < 0)
        return add_failure(unread, folder, strerror(errno));
    bool good = true;
    for (int i = 0; i < count; i++) {
        good = good && add_entry(paths, unread, folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
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
    if (!add_below(paths, unread, path))
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
