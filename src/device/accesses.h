/* Accesses of threads, weak ones: what stands before loads and stores. A warp most often has whole lines, all lanes as
 * many bytes: then there is one look at each line's cell, and no more if nothing was wrong. All else is done by a
 * function of its own, from the beginning: what the first look has changed is the access itself. */
#ifndef DEVICE_ACCESSES_H
#define DEVICE_ACCESSES_H

#include "device/touch.h"

/* `what` of a call: the site, and from bit 20 on the bytes. `how`: kind, order and scope; whether its cells are touched
 * behind it; whether the module has fences. */
enum { WHAT_BYTES = 20, HOW_ORDER = 2, HOW_SCOPE = 5, HOW_LATE = 8, HOW_FENCES = 9 };

static inline uint32_t what_site(uint32_t what) {
    return what & ((1u << WHAT_BYTES) - 1);
}

static inline uint32_t mask_of(uint64_t address, uint32_t bytes) {
    uint32_t all = bytes >= SHADOW_GRANULE ? GRANULE_ALL : (1u << bytes) - 1;
    return all << (address & (SHADOW_GRANULE - 1)) & GRANULE_ALL;
}

/* Bytes of one granule, by a lane that wants it: its cells are on their way. */
typedef struct Part {
    Touch touch; /* no bytes: nothing is touched */
    uint64_t address;
    Cells cells;
    bool is_outside;
} Part;

static inline Part part_begin(const Here *here, bool want, uint64_t address, uint32_t bytes, uint32_t site,
                              uint32_t scope) {
    bool wants = want && bytes, inside = wants && address - here->real < here->bytes;
    Touch touch = {(address - here->real) & ~(uint64_t)(SHADOW_GRANULE - 1), inside ? mask_of(address, bytes) : 0, site,
                   KIND_READ, scope ? 1 : 0};
    return (Part){touch, address, cells_begin(here, touch.offset, inside), wants && !inside};
}

/* By all lanes. Those that touch the same granule in the same way go as one: the lane that acts for them. */
static inline bool part_acts(const View *view, uint32_t lanes, Part *part, uint32_t kind) {
    Touch *touch = &part->touch;
    touch->kind = kind;
    report_outside(view->here, lanes, part->is_outside, touch->site, part->address);
    bool inside = touch->mask != 0;
    uint32_t all = ballot(lanes, inside), same = 1u << lane();
    /* Finding who is alike takes as long as there are different ones, and so does what they do together. */
    if (all & (all - 1)) {
        same = lanes_with(lanes, inside ? touch->offset | kind : UINT64_MAX);
        if (ballot(lanes, inside && (same & (same - 1))))
            touch->mask = or_of(same, touch->mask);
    }
    return inside && lane() == lowest(same);
}
static inline void part_end(const View *view, uint32_t lanes, Part *part, uint32_t kind) {
    bool acts = part_acts(view, lanes, part, kind);
    touch_part(view, lanes, acts, &part->touch, &part->cells);
}
/* A strong one in two steps: what changes its cell is on its way between them. */
typedef struct StrongPart {
    bool acts;
    Strong strong;
} StrongPart;

static inline StrongPart strong_part_begin(const View *view, uint32_t lanes, Part *part, uint32_t kind) {
    bool acts = part_acts(view, lanes, part, kind);
    return (StrongPart){acts, strong_begin(view, acts, &part->touch, &part->cells)};
}
static inline void strong_part_end(const View *view, uint32_t lanes, const Part *part, const StrongPart *begun) {
    strong_end(view, lanes, begun->acts, &part->touch, &part->cells, &begun->strong);
}

/* Four, of sites behind each other; or eight. */
#define FOUR \
    uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint32_t what_a, uint32_t what_b, uint32_t what_c, uint32_t what_d
#define EIGHT                                                                                                        \
    uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h, uint32_t what_a, \
        uint32_t what_b, uint32_t what_c, uint32_t what_d, uint32_t what_e, uint32_t what_f, uint32_t what_g,        \
        uint32_t what_h

enum { MOST_ACCESSES = 8 };

typedef struct Accesses {
    uint64_t offsets[MOST_ACCESSES]; /* of the addresses, in the memory that has cells */
    uint32_t whats[MOST_ACCESSES];
    uint32_t count, kinds; /* bits: which of them write */
} Accesses;

enum { ALL_READ = 0, ALL_WRITE = (1 << MOST_ACCESSES) - 1 };

static inline uint32_t kind_of(uint32_t kinds, uint32_t i) {
    return kinds == ALL_READ ? KIND_READ : kinds == ALL_WRITE ? KIND_WRITE : kinds >> i & 1;
}

#define EACH_ACCESS _Pragma("unroll") for (uint32_t i = 0; i < MOST_ACCESSES; i++) if (i < accesses->count)

#if CELLS_COMPACT

/* How many lanes, less 1, have a line together, if each has so many bytes of it; 0: they cannot have it whole. */
static inline uint32_t lanes_of_line(uint32_t bytes) {
    return bytes == 16 ? 7 : bytes == 8 ? 15 : bytes == 4 ? 31 : 0;
}

/* ---- All that is not over with one look, one access after the other ---- */

/* Lanes beside each other that have the bytes of a line one after the other. */
typedef struct AccessShare {
    uint32_t source; /* the first of them */
    uint64_t base;   /* the line, if it is one */
    bool whole;
} AccessShare;

static inline AccessShare share_of(const Here *here, uint32_t lanes, uint64_t offset, uint32_t bytes) {
    uint32_t span = lanes_of_line(bytes), number = lane() & span, group = (2u << span) - 1;
    AccessShare share = {lane() & ~span, offset - bytes * number, false};
    bool alike = ballot(lanes, bytes == from_lane(lanes, bytes, lowest(lanes))) == ~0u; /* none is missing */
    uint32_t line = (uint32_t)(share.base / SHADOW_LINE);
    uint32_t first = from_lane(lanes, line, alike ? share.source : lowest(lanes));
    bool has = span && line == first && offset < here->bytes && !(share.base & (SHADOW_LINE - 1));
    share.whole = alike && (ballot(lanes, has) >> share.source & group) == group;
    return share;
}

static inline void access_slowly(const View *view, uint32_t lanes, uint64_t offset, uint32_t what, uint32_t kind) {
    const Here *here = view->here;
    uint32_t bytes = what >> WHAT_BYTES, site = what_site(what);
    AccessShare share = share_of(here, lanes, offset, bytes);
    bool acts = share.whole && lane() == share.source;
    Touch touch = {share.base, GRANULE_ALL, site, kind, 0};
    Wide old = acts ? wide_load(line_at(here, share.base)) : (Wide){0, 0};
    uint32_t splits = ballot(lanes, acts && line_unpack(old, here_tag(here)).split);
    if (acts && !(splits >> lane() & 1))
        touch_line(view, &touch, old, false);
    meet(lanes);
    bool in_parts = bytes && (!share.whole || (splits >> share.source & 1));
    if (!ballot(lanes, in_parts))
        return;
    Part part = part_begin(here, in_parts, here->real + offset, bytes, site, 0);
    if (part_acts(view, lanes, &part, kind))
        touch_cell(view, &part.touch, part.cells);
    meet(lanes);
}

#define SLOW_ACCESSES(name, flat)                                                                                \
    static __attribute__((noinline)) void name(FOUR, uint32_t kinds, HERE_FEW) {                                 \
        Here here = HERE_FEW_IS;                                                                                 \
        uint32_t lanes = active_lanes();                                                                         \
        View view = flat ? view_flat(&here, 0, 0) : view_clocked(&here, 0, 0, false);                            \
        _Pragma("nounroll") for (uint32_t i = 0; i < BATCH; i++) {                                               \
            uint32_t what = i < 2 ? i ? what_b : what_a : i == 2 ? what_c : what_d;                              \
            if (!ballot(lanes, what >> WHAT_BYTES != 0))                                                         \
                continue;                                                                                        \
            view_settle(&view, what_site(what));                                                                 \
            access_slowly(&view, lanes, (i < 2 ? i ? b : a : i == 2 ? c : d) - here.real, what, kinds >> i & 1); \
        }                                                                                                        \
    }
SLOW_ACCESSES(weir_slow_accesses, false)
SLOW_ACCESSES(weir_slow_flat_accesses, true)
#undef SLOW_ACCESSES

/* ---- One look ---- */

/* What has to be the same for all lanes: the bytes of the accesses, one number for all of them, and from bit 8 on which
 * of them the lane makes. Not one number: none that can be that of a line. */
static inline uint32_t shape_of(const Accesses *accesses) {
    uint32_t bytes = 0, made = 0;
    bool odd = false;
    EACH_ACCESS {
        uint32_t own = accesses->whats[i] >> WHAT_BYTES;
        bytes = own > bytes ? own : bytes;
        made |= own ? 1u << (8 + i) : 0;
    }
    EACH_ACCESS
    odd = odd || (accesses->whats[i] >> WHAT_BYTES && accesses->whats[i] >> WHAT_BYTES != bytes);
    return (odd ? 1 : bytes) | made;
}

/* Which lines the lanes have: of those that share one, that with the number of the access has the work. */
typedef struct Work {
    uint32_t line; /* its number */
    uint32_t site;
    bool acts;
    bool whole; /* all that the lane has is of whole lines */
} Work;

static inline Work find_lines(const Here *here, const Accesses *accesses, uint32_t lanes, uint32_t shape) {
    uint32_t bytes = shape & 255, span = lanes_of_line(bytes), number = lane() & span, source = lane() & ~span;
    Work work = {.whole = span};
    EACH_ACCESS {
        uint64_t offset = accesses->offsets[i], base = offset - bytes * number;
        uint32_t line = (uint32_t)(base / SHADOW_LINE), first = from_lane(lanes, line, source);
        bool has = line == first && offset < here->bytes && !((uint32_t)base & (SHADOW_LINE - 1));
        work.whole = work.whole && (has || !(shape >> (8 + i) & 1));
        work.line = number == i ? line : work.line;
        work.site = number == i ? what_site(accesses->whats[i]) : work.site;
    }
    work.acts = number < MOST_ACCESSES && (shape >> (8 + number) & 1);
    if (accesses->kinds == ALL_READ || accesses->kinds == ALL_WRITE)
        return work;
    /* What races with a read races with a write of the same line, too: that is enough. */
    EACH_ACCESS {
        uint32_t line = (uint32_t)((accesses->offsets[i] - bytes * number) / SHADOW_LINE);
        if (!(accesses->kinds >> number & 1) && (accesses->kinds & shape >> 8) >> i & 1 && line == work.line)
            work.acts = false;
    }
    return work;
}

/* Whether that was all, or they are parts of lines, or there is more to do with lines. */
typedef enum Left { LEFT_NOTHING, LEFT_PARTS, LEFT_LINES } Left;

static inline Left access_quickly(View *view, const Accesses *accesses) {
    const Here *here = view->here;
    uint32_t lanes = active_lanes(), own = shape_of(accesses), shape = from_lane(lanes, own, lowest(lanes));
    /* A lane that is not there has nothing to compare with. */
    if (ballot(lanes, own == shape) != ~0u)
        return LEFT_PARTS;
    if (!shape) /* a warp that has nothing to do here */
        return LEFT_NOTHING;
    Work work = find_lines(here, accesses, lanes, shape);
    if (ballot(lanes, work.whole) != ~0u)
        return LEFT_PARTS;
    uint32_t kind = kind_of(accesses->kinds, lane() & (MOST_ACCESSES - 1));
    Touch touch = {(uint64_t)work.line * SHADOW_LINE, GRANULE_ALL, work.site, kind, 0};
    bool done = true;
    if (work.acts) {
        Wide old = wide_load(line_at(here, touch.offset));
        uint32_t any = beside_any(here);
        view_settle(view, work.site);
        CompactLook look = look_at_line(view, &touch, old, any);
        Wide seen = look.stores ? wide_cas(line_at(here, touch.offset), old, look.next) : old;
        done = !look.hard && !is_lost(view, &touch, old, seen);
    }
    return ballot(lanes, !done) ? LEFT_LINES : LEFT_NOTHING;
}

static inline void access_four_slowly(const View *view, const Accesses *accesses, uint32_t i) {
    uint64_t real = view->here->real;
    uint64_t a = accesses->offsets[i] + real, b = accesses->offsets[i + 1] + real, c = accesses->offsets[i + 2] + real,
             d = accesses->offsets[i + 3] + real;
    const uint32_t *whats = &accesses->whats[i];
    if (view->is_flat)
        weir_slow_flat_accesses(a, b, c, d, whats[0], whats[1], whats[2], whats[3], accesses->kinds >> i,
                                HERE_FEW_GIVEN(view->here));
    else
        weir_slow_accesses(a, b, c, d, whats[0], whats[1], whats[2], whats[3], accesses->kinds >> i,
                           HERE_FEW_GIVEN(view->here));
}

static inline void access_all(View *view, const Accesses *accesses) {
    Left left = access_quickly(view, accesses);
    if (left == LEFT_NOTHING)
        return;
    if (left == LEFT_PARTS && accesses->count == 1) {
        uint32_t site = what_site(accesses->whats[0]), bytes = accesses->whats[0] >> WHAT_BYTES;
        Part part = part_begin(view->here, true, view->here->real + accesses->offsets[0], bytes, site, 0);
        view_settle(view, site);
        part_end(view, active_lanes(), &part, kind_of(accesses->kinds, 0));
        return;
    }
    access_four_slowly(view, accesses, 0);
    if (accesses->count > BATCH)
        access_four_slowly(view, accesses, BATCH);
}

#else

static inline void access_all(View *view, const Accesses *accesses) {
    EACH_ACCESS {
        uint32_t site = what_site(accesses->whats[i]), bytes = accesses->whats[i] >> WHAT_BYTES;
        Part part = part_begin(view->here, true, view->here->real + accesses->offsets[i], bytes, site, 0);
        view_settle(view, site);
        part_end(view, active_lanes(), &part, kind_of(accesses->kinds, i));
    }
}

#endif

static inline void access_four(View *view, FOUR, uint32_t kinds) {
    uint64_t real = view->here->real;
    Accesses accesses = {{a - real, b - real, c - real, d - real}, {what_a, what_b, what_c, what_d}, BATCH, kinds};
    access_all(view, &accesses);
}

static inline void access_eight(View *view, EIGHT, uint32_t kinds) {
    uint64_t real = view->here->real;
    Accesses accesses = {{a - real, b - real, c - real, d - real, e - real, f - real, g - real, h - real},
                         {what_a, what_b, what_c, what_d, what_e, what_f, what_g, what_h},
                         MOST_ACCESSES,
                         kinds};
    access_all(view, &accesses);
}

static inline void access_one(View *view, uint64_t address, uint32_t what, uint32_t kinds) {
    Accesses accesses = {{address - view->here->real}, {what}, 1, kinds};
    access_all(view, &accesses);
}

#define ACCESS_CALLS(prefix, made, kinds, name)                                                                     \
    DEVICE_CALL void prefix##name(uint64_t address, uint32_t what, HERE) {                                          \
        Here here = HERE_IS;                                                                                        \
        View view = made;                                                                                           \
        access_one(&view, address, what, kinds);                                                                    \
    }                                                                                                               \
    DEVICE_CALL void prefix##name##s(FOUR, HERE) {                                                                  \
        Here here = HERE_IS;                                                                                        \
        View view = made;                                                                                           \
        access_four(&view, a, b, c, d, what_a, what_b, what_c, what_d, kinds);                                      \
    }                                                                                                               \
    DEVICE_CALL void prefix##many_##name##s(EIGHT, HERE) {                                                          \
        Here here = HERE_IS;                                                                                        \
        View view = made;                                                                                           \
        access_eight(&view, a, b, c, d, e, f, g, h, what_a, what_b, what_c, what_d, what_e, what_f, what_g, what_h, \
                     kinds);                                                                                        \
    }

/* Some of them read, and some write. */
#define MIXED_CALL(prefix, made)                                                                                    \
    DEVICE_CALL void prefix##mixed(EIGHT, uint32_t kinds, HERE) {                                                   \
        Here here = HERE_IS;                                                                                        \
        View view = made;                                                                                           \
        access_eight(&view, a, b, c, d, e, f, g, h, what_a, what_b, what_c, what_d, what_e, what_f, what_g, what_h, \
                     kinds);                                                                                        \
    }

ACCESS_CALLS(weir_, view_begin(&here, 0, false), ALL_READ, read)
ACCESS_CALLS(weir_, view_begin(&here, 0, false), ALL_WRITE, write)
MIXED_CALL(weir_, view_begin(&here, 0, false))

#if CELLS_COMPACT
ACCESS_CALLS(weir_flat_, view_flat(&here, 0, 0), ALL_READ, read)
ACCESS_CALLS(weir_flat_, view_flat(&here, 0, 0), ALL_WRITE, write)
MIXED_CALL(weir_flat_, view_flat(&here, 0, 0))

/* A strong access in a kernel whose CTAs nothing orders. */
DEVICE_CALL void weir_flat_strong(uint64_t address, uint32_t what, uint32_t how, HERE) {
    Here here = HERE_IS;
    uint32_t scope = how >> HOW_SCOPE & 7;
    Part part = part_begin(&here, true, address, what >> WHAT_BYTES, what_site(what), scope);
    View view = view_flat(&here, what_site(what), scope);
    StrongPart begun = strong_part_begin(&view, active_lanes(), &part, how & 3);
    strong_part_end(&view, active_lanes(), &part, &begun);
}
#endif

#endif
