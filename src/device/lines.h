/* The cell of a line: 128 bytes of memory that a warp, or a copy, most often has as a whole. It is a compact cell whose
 * accesses are of all its bytes, and one bit more: split. The first access of a launch to a part of the line sets it;
 * what the cell says stays as it is then, and all that comes later looks at it and is kept by the granules.
 *
 * So no race is missed, in any order: two accesses to the whole line meet in its cell, two others in that of
 * their granule, and of one of each kind, the first is in the line's cell before it is split, or in the granule's after
 * it. */
#ifndef DEVICE_LINES_H
#define DEVICE_LINES_H

#include "device/beside.h"

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

/* compact_record_read of a line, whose accesses are weak and of all its bytes. False: it stays as it is. */
static inline bool line_record_read(Compact *cell, const View *view, uint32_t key) {
    uint32_t first = cell->readers[0], second = cell->readers[1], reader = view->stamp;
    if (compact_is_same(view, cell->write) || compact_is_same(view, first) || compact_is_same(view, second))
        return false;
    bool at_first = !first || is_own(view, first), at_second = !second || is_own(view, second);
    if (!at_first && !at_second) {
        if (!compact_is_candidate(view, reader, key))
            return false;
        at_first = !compact_goes_before(view, first, second, key);
        if (!compact_goes_before(view, reader, at_first ? first : second, key))
            return false;
    }
    cell->readers[0] = at_first ? reader : first;
    cell->readers[1] = at_first ? second : reader;
    cell->masks |= (uint32_t)COMPACT_ALL << 16;
    return true;
}

static inline void line_record_write(Compact *cell, const View *view) {
    *cell = (Compact){view->stamp, {0, 0}, COMPACT_ALL};
}

#endif
