/* The fences that the compiler itself still inserts when it lowers IR: its pass proxy-fence-insertion, as each release
 * has it. Its rules are followed, not what they are for: what it inserts for one pair of accesses may cover another by
 * accident, and what it does not see is missing in the end. docs/fences.md has what was compiled to know them. */
#ifndef CHECK_FENCES_INSERTION_H
#define CHECK_FENCES_INSERTION_H

#include "check/fences/proxies.h"
#include "model/target/release.h"

/* Releases whose pass is the same. */
typedef enum InsertionKind {
    INSERTION_WRITES,  /* up to 3.7.0: before copies that overwrite what threads accessed, and no other operation */
    INSERTION_ALL,     /* 3.7.1, 3.8: before operations that read what threads wrote, too */
    INSERTION_REGIONS, /* from 3.9 on: bytes told apart, calls and the ends of partitions seen, fences of two widths */
    INSERTIONS
} InsertionKind;

/* The releases that have it. */
ReleaseSet insertion_releases(InsertionKind kind);

/* Where the pass puts fences into the function, and into those that it calls: each before its op. In the module's
 * arena. */
typedef struct Insertion {
    const FencePoint *points;
    size_t count;
} Insertion;
Insertion insertion_of(Module *module, const Op *function, InsertionKind kind);

#endif
