/* The files that a result depends on, as a thread looks at them: what each held, or that it was not there. A result
 * that is kept holds for as long as that is so (api/kept.c).
 *
 * Whatever opens a file, or asks whether it is there, on the way to a result says so here. What no file decides, such
 * as a time that was up, spoils the result: it is not kept. */
#ifndef BASE_DEPENDENCIES_H
#define BASE_DEPENDENCIES_H

#include "base/digest.h"

typedef enum DependencyKind {
    DEPENDS_MISSING, /* there is no regular file that can be opened */
    DEPENDS_THERE,   /* a regular file, whatever it holds */
    DEPENDS_TEXT,    /* a regular file that holds this */
    DEPENDS_KINDS
} DependencyKind;

typedef struct Dependency {
    char *path;
    DependencyKind kind;
    Digest digest; /* TEXT */
} Dependency;

typedef struct Dependencies {
    Dependency *items;
    size_t count, capacity;
    bool spoiled;
} Dependencies;

/* Of this thread; NULL: they are not collected. */
extern _Thread_local Dependencies *dependencies;

/* `data`: of a text. */
void dependency_add(const char *path, DependencyKind kind, const void *data, size_t size);
/* The same of a text whose digest is known. */
void dependency_add_digest(const char *path, Digest digest);
/* What is there now: whether it is a regular file that can be read, and then its digest. */
typedef struct DependencyState {
    bool there;
    Digest digest;
} DependencyState;
DependencyState dependency_state(const char *path);
/* Whether it is as it was. */
bool dependency_holds(const Dependency *dependency, const DependencyState *state);
void dependencies_free(Dependencies *of);

static inline void dependencies_spoil(void) {
    if (dependencies)
        dependencies->spoiled = true;
}

#endif
