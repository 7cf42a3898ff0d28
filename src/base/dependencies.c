/* Collecting dependencies, and looking at them again. */
#include "base/dependencies.h"

#include "base/array.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

_Thread_local Dependencies *dependencies;

/* What cannot be written down is not kept. */
static Dependency *add(const char *path, DependencyKind kind) {
    Dependencies *to = dependencies;
    if (!to || to->spoiled)
        return NULL;
    for (size_t i = 0; i < to->count; i++)
        if (to->items[i].kind == kind && strcmp(to->items[i].path, path) == 0)
            return &to->items[i];
    char *copy = ARRAY_ROOM(to->items, to->count, to->capacity, 16) ? strdup(path) : NULL;
    if (!copy) {
        to->spoiled = true;
        return NULL;
    }
    to->items[to->count] = (Dependency){.path = copy, .kind = kind};
    return &to->items[to->count++];
}

void dependency_add_digest(const char *path, Digest digest) {
    size_t before = dependencies ? dependencies->count : 0;
    Dependency *added = add(path, DEPENDS_TEXT);
    if (added && dependencies->count == before) /* it changed while it was looked at */
        dependencies->spoiled |= !digest_equal(added->digest, digest);
    else if (added)
        added->digest = digest;
}

void dependency_add(const char *path, DependencyKind kind, const void *data, size_t size) {
    if (!dependencies)
        return;
    if (kind == DEPENDS_TEXT)
        dependency_add_digest(path, digest_of(data, size));
    else
        add(path, kind);
}

/* False: it cannot be read. */
static bool digest_file(int fd, Digest *digest) {
    static _Thread_local char part[64 << 10];
    Digesting digesting;
    ssize_t got;
    digest_start(&digesting);
    while ((got = read(fd, part, sizeof part)) > 0)
        digest_add(&digesting, part, (size_t)got);
    *digest = digest_end(&digesting);
    return got == 0;
}

DependencyState dependency_state(const char *path) {
    struct stat status;
    DependencyState state = {.there = false};
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0) {
        state.there = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && digest_file(fd, &state.digest);
        close(fd);
    }
    return state;
}

bool dependency_holds(const Dependency *dependency, const DependencyState *state) {
    return state->there == (dependency->kind != DEPENDS_MISSING) &&
           (dependency->kind != DEPENDS_TEXT || digest_equal(state->digest, dependency->digest));
}

void dependencies_free(Dependencies *of) {
    for (size_t i = 0; i < of->count; i++)
        free(of->items[i].path);
    free(of->items);
    *of = (Dependencies){0};
}
