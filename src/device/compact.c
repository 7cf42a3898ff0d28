/* Calls of kernels that check themselves, with compact cells. */
#define CELLS_COMPACT 1

#include "device/lines.h"
#include "device/touch.h"

/* ---- What is not over with one look: functions of their own, so that kernels have little of it in their code.
 * Numbers alone are handed over; `rest` has mask 16, kind 2, order 3, scope 3, whether it is of copies, whether it is
 * late ---- */

static inline uint32_t rest_of(const View *view, const Touch *touch) {
    return touch->mask | touch->kind << 16 | touch->order << 18 | view->scope << 21 | (uint32_t)view->of_groups << 24 |
           (uint32_t)view->late << 25;
}
static inline View view_of_rest(const Here *here, uint32_t rest, uint32_t site, bool flat) {
    View view = flat ? view_flat(here, site, rest >> 21 & 7) : view_clocked(here, site, rest >> 21 & 7, rest >> 24 & 1);
    view.late = rest >> 25 & 1;
    return view;
}
static inline Touch touch_of_rest(uint64_t offset, uint32_t rest, uint32_t site) {
    return (Touch){offset, rest & GRANULE_ALL, site, rest >> 16 & 3, rest >> 18 & 7};
}

static inline void judge_cell(const View *view, const Touch *touch, const Compact *cell) {
    uint32_t reader = touch->kind == KIND_READ ? 0 : compact_judge_readers(cell, view, touch->mask);
    uint32_t race = reader ? reader : compact_judge_write(cell, view, touch->mask);
    if (race)
        report(view, touch, compact_stamp(race), compact_scope(race), reader != 0,
               reader ? cell->masks >> 16 : cell->masks);
}

/* In the order in which they are printed: what is called first. */
#define JUDGE(name, flat)                                                                                   \
    static __attribute__((noinline)) void name(uint64_t low, uint64_t high, uint64_t offset, uint32_t rest, \
                                               uint32_t site, uint32_t epoch, HERE_FEW) {                   \
        Here here = HERE_FEW_IS;                                                                            \
        View view = view_of_rest(&here, rest, site, flat);                                                  \
        if (!flat)                                                                                          \
            view_at(&view, epoch, site);                                                                    \
        Touch touch = touch_of_rest(offset, rest, site);                                                    \
        Compact cell = compact_unpack((Wide){low, high}, here_tag(&here));                                  \
        judge_cell(&view, &touch, &cell);                                                                   \
    }
JUDGE(weir_tell_judged, false)
JUDGE(weir_tell_flat_judged, true)
#undef JUDGE

/* Up to which epoch of its actor the CTA comes after an access: all of them where nothing has to be looked up. */
static inline uint32_t known_of(const View *view, uint32_t access) {
    uint32_t stamp = compact_stamp(access);
    bool looks = access && !is_own(view, stamp);
    if (view->is_flat)
        return looks ? 0 : UINT32_MAX;
    uint64_t knows = vector_of(view->here, view->here->who, VECTOR_KNOWS);
    uint32_t known = own32_if(looks, knows + 4 * (uint64_t)stamp_actor(view, stamp));
    return looks ? known : UINT32_MAX;
}
static inline bool is_fine(const View *view, uint32_t access, uint32_t known) {
    uint32_t stamp = compact_stamp(access);
    return (known && stamp_epoch(view, stamp) <= known) || scopes_link(view, stamp, compact_scope(access));
}
/* No access that this one could race with: none, or one that comes before it. What is looked up is waited for once. */
static inline bool is_quiet(const View *view, const Touch *touch, const Compact *cell) {
    bool readers = touch->kind != KIND_READ && (cell->masks >> 16 & touch->mask);
    uint32_t write = cell->masks & touch->mask ? cell->write : 0;
    uint32_t first = readers ? cell->readers[0] : 0, second = readers ? cell->readers[1] : 0;
    uint32_t of_write = known_of(view, write), of_first = known_of(view, first), of_second = known_of(view, second);
    return is_fine(view, write, of_write) && is_fine(view, first, of_first) && is_fine(view, second, of_second);
}

static inline void judge_anyway(const View *view, const Touch *touch, const Compact *cell) {
    Wide wide = compact_pack(cell, here_tag(view->here));
    if (view->is_flat)
        weir_tell_flat_judged(wide.low, wide.high, touch->offset, rest_of(view, touch), touch->site, view->epoch,
                              HERE_FEW_GIVEN(view->here));
    else
        weir_tell_judged(wide.low, wide.high, touch->offset, rest_of(view, touch), touch->site, view->epoch,
                         HERE_FEW_GIVEN(view->here));
}
static inline void judge(const View *view, const Touch *touch, const Compact *cell) {
    if (!is_quiet(view, touch, cell))
        judge_anyway(view, touch, cell);
}

/* What was found, as it was found: of this launch, or of one that may run at the same time. */
static inline void judge_found(const View *view, const Touch *touch, Wide found) {
    uint32_t other = beside_tag(view, found);
    if (other) {
        judge_beside(view, touch, found, other);
        return;
    }
    Compact cell = compact_unpack(found, here_tag(view->here));
    judge(view, touch, &cell);
}

/* A read that came at the same time as another one, which is kept: it is one of the readers that are not. */
static inline bool is_kept(const Touch *touch, const Compact *cell, uint32_t tries) {
    return tries && cell->readers[0] && !(touch->mask & ~(cell->masks >> 16));
}
static inline bool is_dropped(const View *view, const Touch *touch, const Compact *cell) {
    return is_kept(touch, cell, 1) && is_quiet(view, touch, cell);
}

/* Of what another launch left, nothing counts. `old`: what was found there. */
static inline void read_cell(const View *view, const Touch *touch, Wide old) {
    uint32_t tag = here_tag(view->here);
    uint64_t at = view->here->cells + touch->offset;
#pragma nounroll
    for (uint32_t i = 0; i < MOST_TRIES; i++) {
        uint32_t other = beside_tag(view, old);
        if (other) {
            judge_beside(view, touch, old, other);
            return;
        }
        Compact cell = compact_unpack(old, tag), now = cell;
        bool changes =
            !is_kept(touch, &cell, i) && compact_record_read(&now, view, touch->mask, (uint32_t)(touch->offset >> 4));
        if (view->scope)
            changes |= compact_observe(&now, view, touch->mask);
        Wide seen = changes ? wide_cas(at, old, compact_pack(&now, tag)) : old;
        if (wide_equal(seen, old)) {
            judge(view, touch, &cell);
            return;
        }
        old = seen;
    }
    report_trouble(view->here, SHADOW_CELL_BUSY, touch->site);
}

static inline void write_whole(const View *view, const Touch *touch) {
    uint32_t tag = here_tag(view->here);
    Compact now = {view->stamp, {0, 0}, GRANULE_ALL};
    Wide old = wide_exchange(view->here->cells + touch->offset, compact_pack(&now, tag));
    judge_found(view, touch, old);
}

/* A strong access that came at the same time as a strong write of its bytes, which is kept: as if it had come before
 * it. */
static inline bool is_covered(const View *view, const Touch *touch, const Compact *had, const Compact *cell) {
    return view->scope >= COMPACT_LINKS && compact_links(cell->write) && !(touch->mask & ~cell->masks) &&
           compact_stamp(cell->write) != compact_stamp(had->write) &&
           (touch->kind != KIND_READ || is_kept(touch, cell, 1));
}

/* Where others change the cell, too, the write takes it, and forgets who read it before. */
static inline void write_cell(const View *view, const Touch *touch, Wide old) {
    if (touch->mask == GRANULE_ALL && !view->scope) {
        write_whole(view, touch);
        return;
    }
    uint32_t tag = here_tag(view->here);
    uint64_t at = view->here->cells + touch->offset;
    Compact alone = {view->stamp | view->scope << COMPACT_SCOPE, {0, 0}, touch->mask};
#pragma nounroll
    for (uint32_t i = 0;; i++) {
        Compact cell = compact_unpack(old, tag), now = cell;
        compact_record_write(&now, view, touch->mask);
        Wide next = compact_pack(&now, tag), seen = old;
        if (i == WRITE_TRIES)
            old = seen = wide_exchange(at, compact_pack(&alone, tag));
        else if (!wide_equal(next, old))
            seen = wide_cas(at, old, next);
        Compact had = cell;
        cell = compact_unpack(seen, tag);
        if (wide_equal(seen, old) || is_covered(view, touch, &had, &cell)) {
            judge_found(view, touch, seen);
            return;
        }
        old = seen;
    }
}

static inline void judge_line(const View *view, const Touch *touch, Wide found, const Line *line) {
    uint32_t other = beside_tag(view, found);
    if (other)
        judge_beside(view, touch, found, other);
    else
        judge(view, touch, &line->cell);
}

/* The line is split from here on, if it was not: what it says stays, and is judged with what its granules say. */
static inline bool split_line(const View *view, const Touch *touch, Wide old) {
    uint32_t tag = here_tag(view->here);
    uint64_t at = line_at(view->here, touch->offset);
#pragma nounroll
    for (uint32_t i = 0; i < MOST_TRIES; i++) {
        Line line = line_unpack(old, tag);
        bool stays = line.split || (touch->kind == KIND_READ && beside_tag(view, old));
        Wide seen = stays ? old : wide_cas(at, old, line_pack(&line.cell, true, tag));
        if (wide_equal(seen, old)) {
            judge_line(view, touch, old, &line);
            return true;
        }
        old = seen;
    }
    report_trouble(view->here, SHADOW_CELL_BUSY, touch->site);
    return false;
}

static inline void touch_granule(const View *view, const Touch *touch, Wide old) {
    if (touch->kind == KIND_READ)
        read_cell(view, touch, old);
    else
        write_cell(view, touch, old);
}

/* What an access to a part of a line has to look at, on its way. A granule's cell that was loaded before its line was
 * split is as good as one that was loaded later: it is changed only if it is still the same. */
typedef struct Cells {
    Wide line, granule;
    uint32_t any; /* launches may run at the same time */
} Cells;

static inline Cells cells_begin(const Here *here, uint64_t offset, bool there) {
    return there ? (Cells){wide_load(line_at(here, offset)), wide_load(here->cells + offset), beside_any(here)}
                 : (Cells){0};
}

/* Bytes of a granule, by some access that does not have the whole line. */
static inline void touch_cell(const View *view, const Touch *touch, Cells cells) {
    if (split_line(view, touch, cells.line))
        touch_granule(view, touch, cells.granule);
}

static inline void touch_granules(const View *view, const Touch *touch) {
    Touch part = *touch;
#pragma nounroll
    for (uint32_t k = 0; k < SHADOW_LINE / SHADOW_GRANULE; k++, part.offset += SHADOW_GRANULE)
        touch_granule(view, &part, wide_load(view->here->cells + part.offset));
}

/* A whole line that a launch has left which may run at the same time. False: it has changed meanwhile. */
static inline bool touch_line_beside(const View *view, const Touch *touch, Wide old, uint32_t other, Wide *seen) {
    uint32_t tag = here_tag(view->here);
    bool split = (uint32_t)old.low >> LINE_SPLIT & 1;
    Compact now = {0};
    if (!split)
        line_record_write(&now, view);
    *seen =
        touch->kind == KIND_READ ? old : wide_cas(line_at(view->here, touch->offset), old, line_pack(&now, split, tag));
    if (!wide_equal(*seen, old))
        return false;
    judge_beside(view, touch, old, other);
    if (split)
        touch_granules(view, touch);
    return true;
}

/* A whole line, weak. `touch` has its first granule; `old` is what was found there, if `lost` by who wanted to change
 * it. */
static inline void touch_line(const View *view, const Touch *touch, Wide old, bool lost) {
    uint32_t tag = here_tag(view->here), key = (uint32_t)(touch->offset / SHADOW_LINE);
    uint64_t at = line_at(view->here, touch->offset);
    bool reads = touch->kind == KIND_READ;
#pragma nounroll
    for (uint32_t i = 0; i < MOST_TRIES; i++) {
        uint32_t other = beside_tag(view, old);
        Wide found;
        if (other && touch_line_beside(view, touch, old, other, &found))
            return;
        if (other) {
            old = found;
            continue;
        }
        Line line = line_unpack(old, tag);
        if (line.split) {
            judge(view, touch, &line.cell);
            touch_granules(view, touch);
            return;
        }
        if (lost && reads && is_dropped(view, touch, &line.cell))
            return;
        Compact now = line.cell;
        bool changes = true;
        if (reads)
            changes = line_record_read(&now, view, key);
        else
            line_record_write(&now, view);
        Wide next = line_pack(&now, false, tag);
        Wide seen = !changes || wide_equal(next, old) ? old : wide_cas(at, old, next);
        if (wide_equal(seen, old)) {
            judge(view, touch, &line.cell);
            return;
        }
        old = seen;
        lost = true;
    }
    report_trouble(view->here, SHADOW_CELL_BUSY, touch->site);
}

/* All lanes come, of which some want it: none is left behind. */
#define SLOW_TOUCH(name, flat)                                                                                \
    static __attribute__((noinline)) void name(uint32_t lanes, uint32_t want, uint64_t offset, uint32_t rest, \
                                               uint32_t site, uint32_t epoch, HERE_FEW) {                     \
        Here here = HERE_FEW_IS;                                                                              \
        View view = view_of_rest(&here, rest, site, flat);                                                    \
        if (!flat)                                                                                            \
            view_at(&view, epoch, site);                                                                      \
        Touch touch = touch_of_rest(offset, rest, site);                                                      \
        if (want)                                                                                             \
            touch_cell(&view, &touch, cells_begin(&here, offset, true));                                      \
        meet(lanes);                                                                                          \
    }
SLOW_TOUCH(weir_slow_touch, false)
SLOW_TOUCH(weir_slow_flat_touch, true)
#undef SLOW_TOUCH
#define SLOW_LINE(name, flat)                                                                              \
    static __attribute__((noinline)) void name(uint32_t lanes, uint32_t want, uint64_t low, uint64_t high, \
                                               uint64_t offset, uint32_t rest, uint32_t site, HERE_FEW) {  \
        Here here = HERE_FEW_IS;                                                                           \
        View view = view_of_rest(&here, rest, site, flat);                                                 \
        Touch touch = touch_of_rest(offset, rest, site);                                                   \
        if (want)                                                                                          \
            touch_line(&view, &touch, (Wide){low, high}, want == LINE_LOST);                               \
        meet(lanes);                                                                                       \
    }
enum { LINE_HARD = 1, LINE_LOST };
SLOW_LINE(weir_slow_line, false)
SLOW_LINE(weir_slow_flat_line, true)
#undef SLOW_LINE

static inline void slow_touch(const View *view, uint32_t lanes, bool want, const Touch *touch) {
    if (view->is_flat)
        weir_slow_flat_touch(lanes, want, touch->offset, rest_of(view, touch), touch->site, 0,
                             HERE_FEW_GIVEN(view->here));
    else
        weir_slow_touch(lanes, want, touch->offset, rest_of(view, touch), touch->site, view->epoch,
                        HERE_FEW_GIVEN(view->here));
}
static inline void slow_line(const View *view, uint32_t lanes, uint32_t want, const Touch *touch, Wide old) {
    if (view->is_flat)
        weir_slow_flat_line(lanes, want, old.low, old.high, touch->offset, rest_of(view, touch), touch->site,
                            HERE_FEW_GIVEN(view->here));
    else
        weir_slow_line(lanes, want, old.low, old.high, touch->offset, rest_of(view, touch), touch->site,
                       HERE_FEW_GIVEN(view->here));
}

/* ---- Parts of lines, with one look ---- */

/* What is left of a line when its granules have all that was done to it. */
static inline bool is_only_split(const Here *here, Wide wide) {
    return wide_equal(wide, line_pack(&(Compact){0}, true, here_tag(here)));
}

/* Cells of flags have most often nothing but strong accesses, which do not race with each other: of a strong access
 * nothing has to be looked up then. */
static inline bool is_strong(const Compact *cell) {
    return compact_links(cell->write) && compact_links(cell->readers[0]) && compact_links(cell->readers[1]);
}

/* What a strong write does to a cell of strong accesses, on its way. Who comes as a second reader meanwhile does not
 * make it begin again: it takes the place of the write, and the readers are looked at afterwards. */
typedef struct Strong {
    bool issued;
    Wide old, after;
    uint64_t seen;
} Strong;

static inline Strong strong_write(const View *view, const Touch *touch, Wide old) {
    uint32_t tag = here_tag(view->here);
    uint64_t at = view->here->cells + touch->offset;
    Compact cell = compact_unpack(old, tag), now = cell;
    Strong strong = {is_strong(&cell) && cell.masks, old, old, 0}; /* of another launch: all of it has to be changed */
    compact_record_write(&now, view, touch->mask);
    if (strong.issued) {
        strong.seen = cas64(at, old.low, compact_pack(&now, tag).low);
        strong.after = wide_load(at);
    }
    return strong;
}

static inline Strong strong_begin(const View *view, bool acts, const Touch *touch, const Cells *cells) {
    bool tries =
        acts && touch->kind != KIND_READ && view->scope >= COMPACT_LINKS && is_only_split(view->here, cells->line);
    return tries ? strong_write(view, touch, cells->granule) : (Strong){0};
}

/* False: there is more to do. */
static inline bool write_strongly(const View *view, const Touch *touch, Strong strong) {
    uint32_t tag = here_tag(view->here);
#pragma nounroll
    for (uint32_t i = 0; i < STRONG_TRIES && strong.issued; i++) {
        Compact cell = compact_unpack(strong.old, tag), found = compact_unpack(strong.after, tag);
        bool took = strong.seen == strong.old.low;
        if (took && !is_strong(&(Compact){0, {found.readers[0], found.readers[1]}, 0}))
            judge_anyway(view, touch, &(Compact){0, {found.readers[0], found.readers[1]}, found.masks});
        if (took || (is_strong(&found) && is_covered(view, touch, &cell, &found)))
            return true;
        if (i + 1 < STRONG_TRIES)
            strong = strong_write(view, touch, strong.after);
    }
    return false;
}

/* One that was observed meanwhile, or has another one in its place, is none of this read's. */
static inline bool read_strongly(const View *view, const Touch *touch, const Compact *cell) {
    uint32_t tag = here_tag(view->here);
    uint64_t at = view->here->cells + touch->offset;
    Compact now = *cell, read = *cell;
    if (compact_record_read(&read, view, touch->mask, (uint32_t)(touch->offset >> 4)))
        return false;
    if (!compact_observe(&now, view, touch->mask))
        return true;
    uint64_t old = compact_pack(cell, tag).low, seen = cas64(at, old, compact_pack(&now, tag).low);
    return seen == old || (uint32_t)seen != (uint32_t)old;
}

/* False: there is more to do. */
static inline bool strong_quickly(const View *view, const Touch *touch, const Cells *cells, const Strong *strong) {
    if (touch->kind != KIND_READ)
        return write_strongly(view, touch, *strong);
    Compact cell = compact_unpack(cells->granule, here_tag(view->here));
    if (view->scope < COMPACT_LINKS || !is_only_split(view->here, cells->line) || !is_strong(&cell))
        return false;
    return read_strongly(view, touch, &cell);
}

/* Weak. */
static inline bool part_quickly(const View *view, const Touch *touch, const Cells *cells) {
    uint32_t tag = here_tag(view->here);
    Compact cell = compact_unpack(cells->granule, tag), now = cell;
    if (!is_only_split(view->here, cells->line) || is_foreign(cells->granule, tag, cells->any) ||
        !is_quiet(view, touch, &cell))
        return false;
    if (touch->kind != KIND_READ)
        compact_record_write(&now, view, touch->mask);
    else if (!compact_record_read(&now, view, touch->mask, (uint32_t)(touch->offset >> 4)))
        return true;
    Wide next = compact_pack(&now, tag);
    return wide_equal(next, cells->granule) ||
           wide_equal(cells->granule, wide_cas(view->here->cells + touch->offset, cells->granule, next));
}

static inline void touch_part(const View *view, uint32_t lanes, bool acts, const Touch *touch, const Cells *cells) {
    bool done = !acts || part_quickly(view, touch, cells);
    if (ballot(lanes, !done))
        slow_touch(view, lanes, !done, touch);
}
static inline void strong_end(const View *view, uint32_t lanes, bool acts, const Touch *touch, const Cells *cells,
                              const Strong *strong) {
    bool done = !acts || strong_quickly(view, touch, cells, strong);
    if (ballot(lanes, !done))
        slow_touch(view, lanes, !done, touch);
}

/* What becomes of a line that was loaded, with one look: most often nothing, or it is the first access of the launch.
 */
typedef struct CompactLook {
    Wide next;
    bool stores;
    bool hard; /* more has to be done than that */
} CompactLook;

static inline CompactLook look_at_line(const View *view, const Touch *touch, Wide old, uint32_t any) {
    Line line = line_unpack(old, here_tag(view->here));
    Compact now = line.cell;
    bool quiet = touch->mask && !line.split && !is_foreign(old, here_tag(view->here), any) &&
                 is_quiet(view, touch, &line.cell),
         changes = true;
    if (touch->kind == KIND_READ)
        changes = line_record_read(&now, view, (uint32_t)(touch->offset / SHADOW_LINE));
    else
        line_record_write(&now, view);
    CompactLook look = {.next = line_pack(&now, false, here_tag(view->here)), .hard = touch->mask && !quiet};
    look.stores = quiet && changes && !wide_equal(look.next, old);
    return look;
}

#define BATCH_EACH _Pragma("unroll") for (uint32_t i = 0; i < BATCH; i++)

/* Something else was faster, and it is not enough to leave it at that. */
static inline bool is_lost(const View *view, const Touch *touch, Wide old, Wide seen) {
    if (wide_equal(seen, old))
        return false;
    Line line = line_unpack(seen, here_tag(view->here));
    return touch->kind != KIND_READ || line.split || !is_dropped(view, touch, &line.cell);
}

/* Up to BATCH lines of a copy, by each lane, `count` of them by some; those of mask 0 are none. */
static inline void touch_lines(const View *view, uint32_t lanes, const Touch *touches, uint32_t count) {
    Wide old[BATCH];
    uint32_t wants[BATCH] = {0}, any = 0, beside = beside_any(view->here);
    BATCH_EACH old[i] = touches[i].mask ? wide_load(line_at(view->here, touches[i].offset)) : (Wide){0, 0};
    BATCH_EACH if (i < count) {
        CompactLook look = look_at_line(view, &touches[i], old[i], beside);
        Wide seen = look.stores ? wide_cas(line_at(view->here, touches[i].offset), old[i], look.next) : old[i];
        wants[i] = look.hard ? LINE_HARD : is_lost(view, &touches[i], old[i], seen) ? LINE_LOST : 0;
        old[i] = seen;
        any |= wants[i];
    }
    if (ballot(lanes, any != 0)) {
        BATCH_EACH if (ballot(lanes, wants[i] != 0)) slow_line(view, lanes, wants[i], &touches[i], old[i]);
    }
}

/* BATCH parts of lines. */
static inline void touch_cells(const View *view, uint32_t lanes, const Touch *touches) {
    BATCH_EACH if (ballot(lanes, touches[i].mask != 0)) slow_touch(view, lanes, touches[i].mask != 0, &touches[i]);
}

#include "device/calls.h"
