/* Calls of kernels that check themselves: what stands before, around or behind their instructions
 * (instrument/emit/shadow.c writes the calls). Included by a file for each layout of cells, behind its touch_cell. */
#ifndef DEVICE_CALLS_H
#define DEVICE_CALLS_H

#include "device/accesses.h"
#include "device/flags.h"

/* ---- Copies: all lanes that are there work for those of `want` ---- */

static inline View view_of_copy(const Here *here, uint32_t site, uint32_t how, bool flat) {
    bool writes = (how & 3) != KIND_READ;
    return flat ? view_flat(here, site, how >> HOW_SCOPE & 7)
                : view_clocked(here, site, how >> HOW_SCOPE & 7, writes && here->slot_shift);
}

/* The bytes of a granule that are in a range. */
static inline Touch touch_in(const View *view, uint64_t begin, uint64_t end, uint64_t granule, uint32_t site,
                             uint32_t how) {
    uint64_t first = begin > granule ? begin : granule, last = end < granule + 16 ? end : granule + 16;
    if (first >= last || first - view->here->real >= view->here->bytes)
        return (Touch){0};
    return (Touch){granule - view->here->real, mask_of(first, (uint32_t)(last - first)), site, how & 3,
                   view->scope ? 1 : 0};
}

/* Lines of a copy, by the lanes in turn: `offset` of a number gives them. */
static inline Touch line_of_copy(const View *view, uint64_t at, bool there, uint32_t site, uint32_t how) {
    uint64_t offset = at - view->here->real;
    return there && offset < view->here->bytes ? (Touch){offset, GRANULE_ALL, site, how & 3, 0} : (Touch){0};
}

static inline void copy_lines(const View *view, uint64_t begin, uint64_t end, uint32_t lanes, uint32_t site,
                              uint32_t how) {
    uint64_t step = SHADOW_LINE * (uint64_t)ones(lanes), own = SHADOW_LINE * (uint64_t)rank_in(lanes);
    for (uint64_t from = begin; from < end; from += step * BATCH) {
        Touch touches[BATCH];
#pragma unroll
        for (uint32_t i = 0; i < BATCH; i++) {
            uint64_t at = from + own + step * i;
            touches[i] = line_of_copy(view, at, at < end, site, how);
        }
        touch_lines(view, lanes, touches, (uint32_t)((end - from + step - 1) / step));
    }
}

static inline void copy_range(const Here *here, uint32_t want, uint64_t address, uint64_t length, uint32_t site,
                              uint32_t how, bool flat) {
    uint32_t lanes = active_lanes(), step = ones(lanes), rank = rank_in(lanes);
    View view = view_of_copy(here, site, how, flat);
    for (uint32_t left = ballot(lanes, want != 0); left; left &= left - 1) {
        uint32_t leader = lowest(left);
        uint64_t begin = from_lane64(lanes, address, leader), bytes = from_lane64(lanes, length, leader);
        bool is_outside = begin - here->real >= here->bytes;
        report_outside(here, lanes, is_outside && lane() == leader, site, begin);
        if (is_outside)
            continue;
        if (CELLS_COMPACT && !view.scope && !((begin | bytes) & (SHADOW_LINE - 1))) {
            copy_lines(&view, begin, begin + bytes, lanes, site, how);
            continue;
        }
        uint64_t first = begin & ~(uint64_t)15;
        for (uint64_t at = first; at < begin + bytes; at += 16 * (uint64_t)step * BATCH) {
            Touch touches[BATCH];
#pragma unroll
            for (uint32_t i = 0; i < BATCH; i++)
                touches[i] = touch_in(&view, begin, begin + bytes, at + 16 * (uint64_t)(step * i + rank), site, how);
            touch_cells(&view, lanes, touches);
        }
    }
    meet(lanes);
}

#if CELLS_COMPACT
DEVICE_CALL void weir_flat_range(uint32_t want, uint64_t address, uint64_t length, uint32_t site, uint32_t how, HERE) {
    Here here = HERE_IS;
    copy_range(&here, want, address, length, site, how, true);
}
#endif

DEVICE_CALL void weir_range(uint32_t want, uint64_t address, uint64_t length, uint32_t site, uint32_t how, HERE) {
    Here here = HERE_IS;
    copy_range(&here, want, address, length, site, how, false);
}

/* The map of a parameter; 0: it was not given. */
static inline uint64_t map_of(const Here *here, uint32_t parameter) {
    for (uint32_t i = 0; i < SHADOW_MAPS; i++) {
        uint64_t at = here->state + offsetof(ShadowState, maps) + i * sizeof(ShadowMap);
        if (constant32(at) == parameter + 1)
            return at;
    }
    return 0;
}

/* (Loads that stay where they are: there may be no map.) */
#define MAP32(map, field, i) fixed32((map) + offsetof(ShadowMap, field) + 4 * (uint64_t)(i))
#define MAP64(map, field, i) fixed64((map) + offsetof(ShadowMap, field) + 8 * (uint64_t)(i))

/* A box, with what is needed of its map in registers. */
typedef struct CallBox {
    uint64_t address, stride[SHADOW_DIMS];
    uint32_t box[SHADOW_DIMS], size[SHADOW_DIMS];
    int32_t corner[SHADOW_DIMS];
} CallBox;

/* Where the matrix `number` of a box begins, one for each place in dimensions 2 and up; false: it is outside of the
 * tensor. Dimensions that it does not have are of size 1. */
static inline bool matrix_begin(const CallBox *box, uint32_t number, uint64_t *at) {
    bool inside = true;
#pragma unroll
    for (uint32_t i = 2; i < SHADOW_DIMS; i++) {
        uint32_t index = (uint32_t)box->corner[i] + number % box->box[i];
        number /= box->box[i];
        inside &= index < box->size[i];
        *at += (uint64_t)index * box->stride[i];
    }
    return inside;
}

/* Where a row of it begins, likewise. */
static inline bool row_begin(const CallBox *box, uint32_t row, uint64_t *at) {
    uint32_t index = (uint32_t)box->corner[1] + row;
    *at += (uint64_t)index * box->stride[1];
    return row < box->box[1] && index < box->size[1];
}

/* Rows that begin and end with lines, `units` of them each. */
static inline void matrix_lines(const View *view, const CallBox *box, uint64_t begin, uint32_t units, uint32_t lanes,
                                uint32_t site, uint32_t how) {
    uint32_t count = box->box[1] * units, step = ones(lanes);
    for (uint32_t from = 0; from < count; from += step * BATCH) {
        Touch touches[BATCH];
#pragma unroll
        for (uint32_t i = 0; i < BATCH; i++) {
            uint32_t unit = from + i * step + rank_in(lanes), row = units == 1 ? unit : unit / units;
            uint64_t at = begin;
            bool inside = row_begin(box, row, &at);
            touches[i] = line_of_copy(view, at + SHADOW_LINE * (uint64_t)(unit - row * units), inside, site, how);
        }
        touch_lines(view, lanes, touches, (count - from + step - 1) / step);
    }
}

static inline void matrix_granules(const View *view, const CallBox *box, uint64_t begin, uint64_t bytes, uint32_t lanes,
                                   uint32_t site, uint32_t how) {
    uint32_t units = (uint32_t)(bytes / SHADOW_GRANULE + 2), step = ones(lanes);
    for (uint32_t from = 0; from < box->box[1] * units; from += step * BATCH) {
        Touch touches[BATCH];
#pragma unroll
        for (uint32_t i = 0; i < BATCH; i++) {
            uint32_t unit = from + i * step + rank_in(lanes), row = unit / units;
            uint64_t at = begin;
            bool inside = row_begin(box, row, &at);
            touches[i] = touch_in(view, at, inside ? at + bytes : at,
                                  (at & ~(uint64_t)15) + 16 * (uint64_t)(unit - row * units), site, how);
        }
        touch_cells(view, lanes, touches);
    }
}

static inline void touch_box(const View *view, uint64_t map, const CallBox *box, uint32_t lanes, uint32_t site,
                             uint32_t how) {
    uint32_t element = MAP32(map, element, 0);
    int64_t size = box->size[0], first = box->corner[0] > 0 ? box->corner[0] : 0;
    int64_t last = box->corner[0] + (int64_t)box->box[0];
    last = last < size ? last : size;
    if (first >= last)
        return;
    uint64_t bytes = (uint64_t)(last - first) * element, begin = box->address + (uint64_t)first * element;
    uint64_t odd = begin | bytes;
#pragma unroll
    for (uint32_t i = 1; i < SHADOW_DIMS; i++)
        odd |= box->stride[i];
    bool lines = CELLS_COMPACT && !view->scope && !(odd & (SHADOW_LINE - 1));
    uint32_t count = box->box[2] * box->box[3] * box->box[4];
    for (uint32_t i = 0; i < count; i++) {
        uint64_t at = begin;
        if (!matrix_begin(box, i, &at))
            continue;
        if (lines)
            matrix_lines(view, box, at, (uint32_t)(bytes / SHADOW_LINE), lanes, site, how);
        else
            matrix_granules(view, box, at, bytes, lanes, site, how);
    }
}

static inline void copy_tile(const Here *here, uint32_t want, uint32_t parameter, const int32_t *at, uint32_t site,
                             uint32_t how, bool flat) {
    uint32_t lanes = active_lanes(), all = ballot(lanes, want != 0);
    if (!all) /* most warps */
        return;
    View view = view_of_copy(here, site, how, flat);
    uint64_t map = map_of(here, parameter);
    for (uint32_t left = all; left; left &= left - 1) {
        uint32_t leader = lowest(left);
        CallBox box = {0};
#pragma unroll
        for (uint32_t i = 0; i < SHADOW_DIMS; i++) {
            bool there = map && i < MAP32(map, rank, 0);
            box.corner[i] = there ? (int32_t)from_lane(lanes, (uint32_t)at[i], leader) : 0;
            box.box[i] = there ? MAP32(map, box, i) : 1;
            box.size[i] = there ? MAP32(map, size, i) : 1;
            box.stride[i] = there ? MAP64(map, stride, i) : 0;
        }
        box.address = map ? MAP64(map, address, 0) : 0;
        bool is_outside = map && box.address - here->real >= here->bytes;
        report_outside(here, lanes, is_outside && lane() == leader, site, box.address);
        if (map && !is_outside)
            touch_box(&view, map, &box, lanes, site, how);
        else if (lane() == leader && !map)
            report_trouble(here, SHADOW_MAP_UNKNOWN, site);
        meet(lanes);
    }
}

#if CELLS_COMPACT
DEVICE_CALL void weir_flat_tile(uint32_t want, uint32_t parameter, int32_t a, int32_t b, int32_t c, int32_t d,
                                int32_t e, uint32_t site, uint32_t how, HERE) {
    Here here = HERE_IS;
    int32_t at[SHADOW_DIMS] = {a, b, c, d, e};
    copy_tile(&here, want, parameter, at, site, how, true);
}
#endif

DEVICE_CALL void weir_tile(uint32_t want, uint32_t parameter, int32_t a, int32_t b, int32_t c, int32_t d, int32_t e,
                           uint32_t site, uint32_t how, HERE) {
    Here here = HERE_IS;
    int32_t at[SHADOW_DIMS] = {a, b, c, d, e};
    copy_tile(&here, want, parameter, at, site, how, false);
}

/* ---- Strong accesses in kernels whose CTAs may be ordered: all lanes that are there come, for those that `want` ----
 */

/* The epoch of one that compares, and releases nothing: that in which its cells are touched. */
#define EPOCH_NOW UINT32_MAX

static inline bool flag_inside(const Here *here, uint64_t address) {
    return address - here->real < here->bytes;
}

/* Before a write or an update: what it releases, and its cells. One that compares has its cells touched behind it.
 * Gives the epoch that it is of. Whatever has to be loaded is on its way before any of it is waited for. */
DEVICE_CALL uint32_t weir_strong_begin(uint32_t want, uint64_t address, uint32_t what, uint32_t how, HERE) {
    Here here = HERE_IS;
    uint32_t lanes = active_lanes(), site = what_site(what), order = how >> HOW_ORDER & 7, scope = how >> HOW_SCOPE & 7;
    uint32_t wanted = ballot(lanes, want && flag_inside(&here, address));
    if (!ballot(lanes, want != 0))
        return 0;
    bool late = how >> HOW_LATE & 1, orders = wanted && scope >= SCOPE_GPU;
    bool releases = orders && order_releases(order), hands_over = releases || (orders && how >> HOW_FENCES & 1);
    if (late && !hands_over) /* whatever another warp closes meanwhile, this is not before it */
        return EPOCH_NOW;
    View view = view_begin(&here, scope, false);
    Part part = part_begin(&here, want && !late, address, what >> WHAT_BYTES, site, scope);
    Learned learned = {{0, 0}, {0, 0}};
    Flag flag = {0};
    if (hands_over)
        learned = learned_begin(&view);
    uint32_t closed = releases && lane() == lowest(lanes) ? close_epoch(&view) : 0;
    if (hands_over)
        flag = find_flag(&here, lanes, from_lane64(lanes, address, lowest(wanted)));
    view_settle(&view, site);
    if (releases)
        view_at(&view, closed_epoch(&view, from_lane(lanes, closed, lowest(lanes)), site), site);
    StrongPart begun = {0};
    if (!late)
        begun = strong_part_begin(&view, lanes, &part, (how & 3) == KIND_WRITE ? KIND_WRITE : KIND_UPDATE);
    Release release = release_of(&learned, releases, view.epoch);
    uint64_t reported = hands_over ? release_flags(&view, lanes, wanted, address, &release, &learned, flag, site) : 0;
    release_end(lanes, &release, reported);
    if (!late)
        strong_part_end(&view, lanes, &part, &begun);
    return view.epoch;
}

/* At the epoch of what has compared, if it has stored. */
static inline void strong_settle(View *view, uint32_t site, uint32_t stored, bool late) {
    view_settle(view, site);
    view->late = late && stored;
    if (view->late && stored != EPOCH_NOW)
        view_at(view, stored, site);
}

/* Behind a read, an update, or what compares: what it acquires, and the cells of what was only read. `stored`: the
 * epoch of one that compares, if it has stored; `seen`: what the lane got from the last call. */
DEVICE_CALL uint64_t weir_strong_end(uint32_t want, uint64_t address, uint32_t what, uint32_t how, uint32_t stored,
                                     uint64_t seen, HERE) {
    Here here = HERE_IS;
    uint32_t lanes = active_lanes(), site = what_site(what), order = how >> HOW_ORDER & 7, scope = how >> HOW_SCOPE & 7;
    uint32_t wanted = ballot(lanes, want && flag_inside(&here, address));
    if (!ballot(lanes, want != 0))
        return seen;
    bool late = how >> HOW_LATE & 1, touches = late || (how & 3) == KIND_READ, acquires = order_acquires(order);
    View view = view_begin(&here, scope, false);
    Part part = part_begin(&here, want && touches, address, what >> WHAT_BYTES, site, scope);
    Joined joined = {0, 0};
    Wide words = {0, 0};
    StrongPart begun = {0};
    if (wanted && scope >= SCOPE_GPU && (acquires || how >> HOW_FENCES & 1)) {
        if (!acquires)
            fence();
        words = wide_load(ACTOR(view.actor, changes));
        uint32_t lost = load32(here.state + offsetof(ShadowState, flags_lost));
        Flag flag = find_flag(&here, lanes, from_lane64(lanes, address, lowest(wanted)));
        strong_settle(&view, site, stored, late);
        if (touches)
            begun = strong_part_begin(&view, lanes, &part, view.late ? KIND_UPDATE : KIND_READ);
        seen = acquire_flags(&view, lanes, wanted, address, acquires, seen, flag, lost, words, &joined);
    } else if (touches) {
        strong_settle(&view, site, stored, late);
        begun = strong_part_begin(&view, lanes, &part, view.late ? KIND_UPDATE : KIND_READ);
    }
    if (touches)
        strong_part_end(&view, lanes, &part, &begun);
    joined_end(&view, lanes, joined, words);
#if CELLS_COMPACT
    bool takes = wanted && scope >= SCOPE_GPU && (acquires || how >> HOW_FENCES & 1);
    if (takes && signals_of(&here))
        signal_each(&here, lanes, wanted, address, acquires ? SHADOW_ACQUIRES : SHADOW_OBSERVES);
    if (takes && beside_any(&here)) {
        if (wanted >> lane() & 1)
            weir_slow_meet(address, HERE_FEW_GIVEN(&here));
        meet(lanes);
    }
#endif
    return seen;
}

DEVICE_CALL void weir_fence(uint32_t how, uint32_t site, HERE) {
    Here here = HERE_IS;
    uint32_t lanes = active_lanes(), order = how >> HOW_ORDER & 7;
    View view = view_clocked(&here, site, how >> HOW_SCOPE & 7, false);
    if (order_acquires(order))
        acquire_fence(&view, lanes);
    if (order_releases(order))
        release_fence(&view, lanes, site);
}

/* ---- Groups of bulk copies, by the threads that issue them ---- */

DEVICE_CALL void weir_commit(HERE) {
    Here here = HERE_IS;
    add32(ACTOR(actor_of(&here, here.who), groups), 1);
}

/* All but the last `left` groups are complete. */
DEVICE_CALL void weir_await(uint32_t left, HERE) {
    Here here = HERE_IS;
    uint64_t actor = actor_of(&here, here.who);
    uint32_t groups = load32(ACTOR(actor, groups));
    if (groups > left)
        max32(ACTOR(actor, complete), groups - left);
}

/* ---- Dependent launches ---- */

/* Behind griddepcontrol.wait: the CTA has waited for the launches before. */
static inline void wait_is_over(const View *view) {
    uint64_t waits = STATE64(view->here, waits);
    if (!waits || lane() != lowest(active_lanes()))
        return;
    uint32_t cta = own_cta(view), bit = 1u << cta % 32;
    if (!(or32(waits + 4 * (uint64_t)(cta / 32), bit) & bit))
        add32(view->here->state + offsetof(ShadowState, waited), 1);
}

#if CELLS_COMPACT
DEVICE_CALL void weir_flat_wait(HERE) {
    Here here = HERE_IS;
    View view = view_flat(&here, 0, 0);
    wait_is_over(&view);
}
#endif

DEVICE_CALL void weir_wait(HERE) {
    Here here = HERE_IS;
    View view = view_begin(&here, 0, false);
    wait_is_over(&view);
}

/* ---- CTAs ---- */

/* By all lanes, which look at a word of `taken` each. CTAs that begin at the same time begin to look at different bits.
 */
static inline uint32_t claim_slot(const Here *here, uint32_t lanes, uint32_t cta) {
    uint64_t taken = STATE64(here, taken);
    uint32_t words = STATE32(here, slot_words), slots = STATE32(here, slots), wished = cta % slots;
    for (uint32_t from = wished / 32;; from += ones(lanes)) {
        uint32_t word = (from + rank_in(lanes)) % words, rest = slots - 32 * word;
        uint32_t all = rest >= 32 ? ~0u : (1u << rest) - 1, free = ~load32(taken + 4 * (uint64_t)word) & all;
        uint32_t above = free & ~0u << wished % 32, bit = lowest(above ? above : free | 1u << 31);
        uint32_t leader = lowest(ballot(lanes, free != 0) | lanes), took = 0;
        if (lane() == leader && free)
            took = ~or32(taken + 4 * (uint64_t)word, 1u << bit) >> bit & 1;
        if (!from_lane(lanes, took, leader))
            continue;
        fence();
        return from_lane(lanes, 32 * word + bit, leader);
    }
}

/* The slot had another CTA before: its epochs go on. By all lanes. */
static inline void take_over(const Here *here, uint32_t lanes, uint32_t slot, uint32_t cta) {
    uint64_t actor = actor_of(here, slot);
    uint32_t epoch = load32(ACTOR(actor, epoch)) + 1, groups = load32(ACTOR(actor, groups));
    uint32_t most = most_epoch(here->form >> 16 & 255) - 1;
    for (uint32_t i = 8 * rank_in(lanes); i < SHADOW_VECTORS * here->stride; i += 8 * ones(lanes))
        store64(vector_of(here, slot, VECTOR_KNOWS) + i, 0);
    meet(lanes);
    if (lane() == lowest(lanes)) {
        if (epoch > most)
            report_trouble(here, SHADOW_EPOCHS_OVER, 0);
        epoch = epoch > most ? most : epoch;
        store32(ACTOR(actor, epoch), epoch);
        store32(ACTOR(actor, begun), epoch);
        store32(ACTOR(actor, old_groups), groups);
        store32(ACTOR(actor, complete), groups);
        store32(ACTOR(actor, changes), 0);
        store32(ACTOR(actor, fenced), 0);
        store64(ACTOR(actor, fence_epoch), 0);
        store32(ACTOR(actor, observed), 0);
        store32(ACTOR(actor, taken_in), 0);
        store64(ACTOR(actor, published), 0);
        store32(ACTOR(actor, cta), cta);
        if (STATE64(here, begun))
            store16(STATE64(here, begun) + 2 * (uint64_t)slot, (uint16_t)(epoch + 1));
    }
    fence();
    meet(lanes);
}

/* The slot of a CTA, which the first of its warps takes. */
static inline uint32_t slot_of(const Here *here, uint32_t lanes, uint32_t cta, uint64_t ctas) {
    uint64_t at = ctas + 4 * (uint64_t)cta;
    uint32_t leader = lowest(lanes), known = from_lane(lanes, lane() == leader ? cas32(at, 0, 1) : 0, leader);
    if (!known) {
        uint32_t slot = claim_slot(here, lanes, cta);
        take_over(here, lanes, slot, cta);
        if (lane() == leader)
            store32(at, slot + 2);
        return slot;
    }
    while (ballot(lanes, known == 1))
        known = load32(at);
    fence();
    return known - 2;
}

DEVICE_CALL uint32_t weir_enter(uint32_t cta, uint64_t state, uint32_t form) {
    Here here = here_again(state, 0, form);
    uint64_t ctas = STATE64(&here, ctas);
    uint32_t lanes = active_lanes();
    if (ctas)
        return slot_of(&here, lanes, cta, ctas);
    if (lane() == lowest(lanes))
        store32(ACTOR(actor_of(&here, cta), cta), cta);
    return cta;
}

/* Threads end, those that `want` to; with the last one the slot is free. All lanes that are there come: those that stay
 * must not be separated from each other, or from the others, by it. */
DEVICE_CALL void weir_exit(uint32_t want, HERE) {
    Here here = HERE_IS;
    if (!STATE64(&here, ctas))
        return;
    uint32_t lanes = active_lanes(), count = ones(ballot(lanes, want != 0));
    if (!count || lane() != lowest(lanes))
        return;
    uint64_t actor = actor_of(&here, here.who);
    fence();
    uint32_t ended = add32(ACTOR(actor, ended), count) + count;
    if (ended != STATE32(&here, threads))
        return;
    store32(ACTOR(actor, ended), 0);
    fence();
    and32(STATE64(&here, taken) + 4 * (uint64_t)(here.who / 32), ~(1u << here.who % 32));
}

#endif
