/* PTX in a log: the texts of modules between other lines, as compilers write them when they are told to dump what they
 * make. */
#ifndef PTX_LOG_H
#define PTX_LOG_H

#include "base/source.h"

typedef struct PtxText {
    size_t begin, end;
} PtxText;

typedef struct PtxTexts {
    PtxText *items; /* for free() */
    uint32_t count, capacity;
} PtxTexts;

/* A module begins with a line ".version 8.7" before one with .target, and the comments above it. It ends before the
 * next, or before a line outside of all brackets that cannot be PTX. False: there is no memory. */
bool ptx_log_find(const Source *source, PtxTexts *texts);

#endif
