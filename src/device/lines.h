/* The cell of a line: 128 bytes of memory that a warp, or a copy, most often has as a whole. It is a compact cell whose
 * accesses are of all its bytes, and one bit more: split. The first access of a launch to a part of the line sets it;
 * what the cell says stays as it is then, and all that comes later looks at it and is kept by the granules.
 *
 * So nobody is missed, whoever comes first: two accesses to the whole line meet in its cell, two others in that of
 * their granule, and of one of each kind, the first is in the line's cell before it is split, or in the granule's after
 * it. */
#ifndef DEVICE_LINES_H
#define DEVICE_LINES_H

#include "device/compact.h"

enum { LINE_SPLIT = 29 };

typedef struct Line {
    Compact cell;
    bool split;
} Line;

static inline uint64_t line_at(const Here *here, uint64_t offset) {
    return here->cells + here->bytes + offset / SHADOW_LINE * SHADOW_GRANULE;
}

static inline Line line_unpack(Wide wide, uint32_t tag) {
    Line line = {compact_unpack(wide, tag), false};
    line.split = line.cell.write >> LINE_SPLIT & 1;
    line.cell.write &= ~(1u << LINE_SPLIT);
    return line;
}

static inline Wide line_pack(const Compact *cell, bool split, uint32_t tag) {
    Compact copy = *cell;
    copy.write |= (uint32_t)split << LINE_SPLIT;
    return compact_pack(&copy, tag);
}

#endif
