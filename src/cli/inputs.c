/* The files and modules that a command line means, and how the command complains. */
#include "cli/cli.h"

#include <errno.h>
#include <fts.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    flockfile(stderr);
    fputs("weir: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    funlockfile(stderr);
    va_end(arguments);
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

static int by_name(const FTSENT **a, const FTSENT **b) {
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static bool add_folder(Paths *paths, const char *path) {
    char *roots[] = {(char *)path, NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    if (!tree) {
        complain("%s: %s", path, strerror(errno));
        return false;
    }
    bool good = true;
    size_t before = paths->count;
    for (FTSENT *entry; (entry = fts_read(tree));) {
        if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS) {
            complain("%s: %s", entry->fts_path, strerror(entry->fts_errno));
            good = false;
        } else if (entry->fts_info == FTS_F && is_ir(entry->fts_name)) {
            good &= paths_append(paths, entry->fts_path);
        }
    }
    fts_close(tree);
    if (good && paths->count == before) {
        complain("%s: there is no .ttgir or .mlir file below this folder", path);
        return false;
    }
    return good;
}

bool paths_add(Paths *paths, const char *path) {
    struct stat status;
    if (strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return add_folder(paths, path);
    return paths_append(paths, path);
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
