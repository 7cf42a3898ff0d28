/* Two barrier reports, compared (check/report/difference/compare.h): what a kernel does otherwise than another, or than
 * before.
 *
 * Partitions are matched by what they do, not by their number: by role, then by their key ops, then by their order.
 * Barriers and buffers are matched by name, then by who is at their two ends and what they are for. Lines, and how
 * often things happened, do not count: a kernel that was only moved within its file is the same. The levels are in the
 * order in which one difference brings about others, so the first that differs is where to look. */
#ifndef FINDING_DIFFERENCE_H
#define FINDING_DIFFERENCE_H

#include "finding/report.h"

/* id, name for programs, and what it is about */
#define DIFFERENCE_LEVELS(M)                                                               \
    M(FORM, "form", "form of the IR and target")                                           \
    M(PARTITIONS, "partitions", "partitions and their roles")                              \
    M(OPS, "ops", "key ops and their counts")                                              \
    M(WARPS, "warps", "warps and registers")                                               \
    M(COUNTS, "counts", "how many barriers take how many arrivals")                        \
    M(CHANNELS, "channels", "edges between partitions; barriers, their slots and phases")  \
    M(BUFFERS, "buffers", "shared data and memory used")                                   \
    M(COVERAGE, "coverage", "what is overwritten, and whether its readers are waited for") \
    M(VERDICT, "verdict", "deadlocks and findings")

typedef enum DifferenceLevel {
#define LEVEL(id, name, text) LEVEL_##id,
    DIFFERENCE_LEVELS(LEVEL)
#undef LEVEL
} DifferenceLevel;
const char *difference_level_name(DifferenceLevel level);
const char *difference_level_text(DifferenceLevel level);

typedef struct DifferenceRow {
    DifferenceLevel level;
    const char *what;      /* "barrier full: depth" */
    const char *thing;     /* that it is about: "full"; "" if it is about the kernel */
    const char *aspect;    /* of it: "depth", "slots and phases"; "": whether it is there at all */
    const char *old, *new; /* "" if it is not there at all */
} DifferenceRow;

/* Partitions that were compared with each other; a name is "" if there is none on that side. */
typedef struct DifferencePair {
    const char *role; /* what rows call it */
    const char *old, *new;
} DifferencePair;

typedef struct Difference {
    const char *old_file, *old_kernel, *new_file, *new_kernel;
    const char *protocol; /* in one line: what changed in how the kernel synchronizes; "" if nothing differs at all */
    const DifferencePair *pairs; /* in the order of the old report, then those that only the new one has */
    size_t pair_count;
    const DifferenceRow *rows; /* by level, then in the order of the reports */
    size_t row_count;
} Difference;

#endif
