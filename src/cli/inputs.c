/* The files and modules that a command line means, and how the command complains. */
#include "cli/cli.h"

#include <dirent.h>
#include <errno.h>
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

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_entry(const struct dirent *entry) {
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static bool add_below(Paths *paths, const char *folder);

/* Links are not followed, so that no folder comes twice. */
static bool add_entry(Paths *paths, const char *folder, const char *name) {
    char *path = NULL;
    struct stat status;
    size_t size = strlen(folder);
    bool good = asprintf(&path, "%s%s%s", folder, size && folder[size - 1] == '/' ? "" : "/", name) >= 0;
    if (good && lstat(path, &status) != 0) {
        complain("%s: %s", path, strerror(errno));
        good = false;
    } else if (good && S_ISDIR(status.st_mode)) {
        good = add_below(paths, path);
    } else if (good && S_ISREG(status.st_mode) && is_ir(name)) {
        good = paths_append(paths, path);
    }
    free(path);
    return good;
}

/* All that can be read is added, even if it is not all. */
static bool add_below(Paths *paths, const char *folder) {
    struct dirent **entries;
    int count = scandir(folder, &entries, is_entry, by_name);
    if (count < 0) {
        complain("%s: %s", folder, strerror(errno));
        return false;
    }
    bool good = true;
    for (int i = 0; i < count; i++) {
        good &= add_entry(paths, folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return good;
}

static bool add_folder(Paths *paths, const char *path) {
    size_t before = paths->count;
    bool good = add_below(paths, path);
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
