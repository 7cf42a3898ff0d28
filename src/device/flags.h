/* Strong accesses: what releases hand over to acquires, by the address that both use (ShadowFlag).
 *
 * A flag has a row: of each actor the latest epoch that was released through it, by itself or by who knew of it. Rows
 * only grow. A release raises the row before its write is made, an acquire joins the row after its read: so it has all
 * that the write that it read has released, and maybe what is about to be released, or was released before a later
 * write. No thread waits for another, and no lock is held while the kernel's own instructions run. */
#ifndef DEVICE_FLAGS_H
#define DEVICE_FLAGS_H

#if CELLS_COMPACT
#include "device/beside.h"
#endif
#include "device/clocks.h"

static inline uint64_t bucket_of(const Here *here, uint64_t address) {
    return here->flags + (uint64_t)shadow_bucket(address) * SHADOW_WAYS * sizeof(ShadowFlag);
}

/* The flag of an address; row 0: it has none. */
typedef struct Flag {
    uint64_t at;
    uint32_t row, version;
} Flag;

static inline bool is_flag_of(const Here *here, Wide way, uint64_t address) {
    return way.low == address && (way.high >> 24 & 255) == here_tag(here);
}
static inline uint32_t way_row(Wide way) {
    return (uint32_t)way.high & 0xffffff;
}

/* By all lanes, each of which looks at one way, or at one after the other: they are taken from the first on, so there
 * is nothing behind one that is free. What is found is known to all. */
static inline Flag find_flag(const Here *here, uint32_t lanes, uint64_t address) {
    uint64_t bucket = bucket_of(here, address);
    uint32_t step = ones(lanes);
    for (uint32_t way = rank_in(lanes), first = 0; first < SHADOW_WAYS; way += step, first += step) {
        uint64_t at = bucket + way * sizeof(ShadowFlag);
        Wide found = way < SHADOW_WAYS ? wide_load(at) : (Wide){0, 0};
        uint32_t has = ballot(lanes, is_flag_of(here, found, address));
        if (has) {
            uint32_t source = lowest(has);
            return (Flag){from_lane64(lanes, at, source), from_lane(lanes, way_row(found), source),
                          from_lane(lanes, (uint32_t)(found.high >> 32), source)};
        }
        if (ballot(lanes, (found.high >> 24 & 255) != here_tag(here)))
            break;
    }
    return (Flag){0};
}

/* Ways are taken from the first on, and stay for the launch: two that come at the same time find each other. Row 0:
 * there is no room. */
static inline Flag add_flag(const Here *here, uint64_t address, uint32_t site) {
    uint32_t row = 1 + add32(here->state + offsetof(ShadowState, rows_used), 1);
    Wide mine = {address, row | (uint64_t)here_tag(here) << 24};
    uint64_t at = bucket_of(here, address), end = at + SHADOW_WAYS * sizeof(ShadowFlag);
    for (; at < end && row <= STATE32(here, row_count); at += sizeof(ShadowFlag)) {
        Wide old = wide_load(at);
        if ((old.high >> 24 & 255) != here_tag(here)) {
            Wide seen = wide_cas(at, old, mine);
            old = wide_equal(seen, old) ? mine : seen;
        }
        if (is_flag_of(here, old, address))
            return (Flag){at, way_row(old), (uint32_t)(old.high >> 32)};
    }
    store32(here->state + offsetof(ShadowState, flags_lost), 1);
    report_trouble(here, SHADOW_FLAGS_LOST, site);
    return (Flag){0};
}

static inline uint64_t row_at(const Here *here, uint32_t row) {
    return here->rows + (uint64_t)(row - 1) * (CELLS_COMPACT ? here->stride : STATE32(here, row_bytes));
}

/* ---- Releases ---- */

/* What a release hands over: the CTA's own epoch and groups, and what it knows, or knew at its last fence. */
typedef struct Release {
    uint32_t epoch, complete;
    bool by_fence;
} Release;

/* All that the CTA knows is in the row already, if nothing was learned since it was put there. */
static inline uint64_t published(uint32_t row, uint32_t changes) {
    return row | (uint64_t)changes << 32;
}

/* Of its actor what a release needs, on its way: changes, complete, published; fence_epoch, fence_complete. */
typedef struct Learned {
    Wide words, fenced;
} Learned;

static inline Learned learned_begin(const View *view) {
    return (Learned){wide_load(ACTOR(view->actor, changes)), wide_load(ACTOR(view->actor, fence_epoch))};
}

static inline Release release_of(const Learned *learned, bool releases, uint32_t epoch) {
    return releases ? (Release){epoch, (uint32_t)(learned->words.low >> 32), false}
                    : (Release){(uint32_t)learned->fenced.low, (uint32_t)(learned->fenced.low >> 32), true};
}

static inline void raise_row(const View *view, uint32_t lanes, const Release *release, const Learned *learned,
                             uint32_t row) {
    uint64_t at = row_at(view->here, row), vector = own_vector(view, release->by_fence ? VECTOR_FENCE : VECTOR_KNOWS);
    uint32_t changes = (uint32_t)learned->words.low, count = entries_of(view), step = ones(lanes);
    bool has_all = !release->by_fence && (!changes || learned->words.high == published(row, changes));
    uint32_t own = view->here->who << view->slot_shift;
    if (ballot(lanes, has_all) != lanes)
        for (uint32_t i = rank_in(lanes); i < count; i += step) {
            uint32_t epoch = vector_entry(vector, i);
            if (epoch && (i >> view->slot_shift) != view->here->who)
                raise32(at + 4 * (uint64_t)i, epoch);
        }
    if (lane() == lowest(lanes)) {
        raise32(at + 4 * (uint64_t)own, release->epoch);
        if (view->slot_shift)
            raise32(at + 4 * (uint64_t)(own | 1), release->complete);
        if (!release->by_fence && !has_all)
            store64(ACTOR(view->actor, published), published(row, changes));
    }
    meet(lanes);
}

/* Before a write of a lane of `want`, all of one instruction. `flag` is that of the lowest of them. Rows are on their
 * way then; gives the flag that release_end has to tell of it, 0: none. */
static inline uint64_t release_flags(const View *view, uint32_t lanes, uint32_t want, uint64_t address,
                                     const Release *release, const Learned *learned, Flag flag, uint32_t site) {
    uint64_t reported = 0;
    want = release->epoch ? want : 0;
    for (bool first = true; want; first = false) {
        uint32_t leader = lowest(want);
        uint64_t one = from_lane64(lanes, address, leader);
        if (!first)
            flag = find_flag(view->here, lanes, one);
        if (lane() == leader && !flag.row)
            flag = add_flag(view->here, one, site);
        if (lane() == leader && signals_of(view->here))
            weir_slow_signal(one, SHADOW_RELEASES, release->epoch, release->complete, HERE_FEW_GIVEN(view->here));
        flag.row = from_lane(lanes, flag.row, leader);
        flag.at = from_lane64(lanes, flag.at, leader);
        if (flag.row) {
            raise_row(view, lanes, release, learned, flag.row);
            reported = lane() == leader ? flag.at : reported;
        }
        want &= ~ballot(lanes, address == one);
    }
    meet(lanes);
    return reported;
}
/* Who finds the flag changed finds its row raised. */
static inline void release_end(uint32_t lanes, const Release *release, uint64_t reported) {
    if (!ballot(lanes, reported != 0))
        return;
    fence();
    meet(lanes);
    if (reported)
        raise_version(reported + offsetof(ShadowFlag, version));
    if (release->by_fence)
        fence();
    meet(lanes);
}

/* ---- Acquires ---- */

/* Everything that any agent has closed so far: for flags that there was no room for. */
static inline void know_all(const View *view, uint32_t lanes) {
    uint64_t vector = own_vector(view, VECTOR_KNOWS);
    uint32_t count = STATE32(view->here, slots), step = ones(lanes);
    for (uint32_t i = rank_in(lanes); i < count; i += step) {
        uint64_t at = actor_of(view->here, i);
        if (i == view->here->who)
            continue;
        vector_raise(vector, i << view->slot_shift, load32(ACTOR(at, epoch)));
        if (view->slot_shift)
            vector_raise(vector, i << 1 | 1, load32(ACTOR(at, complete)));
    }
    fence();
    if (lane() == lowest(lanes))
        add32(ACTOR(view->actor, changes), 1);
    meet(lanes);
}

/* A row that was joined last, and how often the CTA had learned something before: on its way. */
typedef struct Joined {
    uint32_t row, before; /* row 0: none */
} Joined;

static inline Joined join_flag(const View *view, uint32_t lanes, uint32_t row, bool acquires) {
    join(view, lanes, own_vector(view, acquires ? VECTOR_KNOWS : VECTOR_OBSERVED), row_at(view->here, row), true);
    uint32_t before = 0;
    if (lane() == lowest(lanes))
        before = add32(acquires ? ACTOR(view->actor, changes) : ACTOR(view->actor, observed), 1);
    return (Joined){acquires ? row : 0, before};
}

/* The row still has all that the CTA knows, if it had it before. `words`: changes and published, as they were loaded.
 */
static inline void joined_end(const View *view, uint32_t lanes, Joined joined, Wide words) {
    if (joined.row && lane() == lowest(lanes)) {
        bool same = (uint32_t)words.low == joined.before;
        uint64_t had = same || !joined.before ? words.high : load64(ACTOR(view->actor, published));
        if (!joined.before || had == published(joined.row, joined.before))
            store64(ACTOR(view->actor, published), published(joined.row, joined.before + 1));
    }
    meet(lanes);
}

/* Behind a read of a lane of `want`. `seen`: what the lane has joined last; who polls finds it again. `flag`: of the
 * lowest of them; `joined`: what has to be ended. */
static inline uint64_t acquire_flags(const View *view, uint32_t lanes, uint32_t want, uint64_t address, bool acquires,
                                     uint64_t seen, Flag flag, uint32_t flags_lost, Wide words, Joined *joined) {
    for (bool first = true; want; first = false) {
        uint32_t leader = lowest(want);
        uint64_t one = from_lane64(lanes, address, leader);
        if (!first) {
            joined_end(view, lanes, *joined, words);
            *joined = (Joined){0, 0};
            flag = find_flag(view->here, lanes, one);
        }
        bool lost = !flag.row && from_lane(lanes, flags_lost, leader);
        uint64_t now = flag.row | (uint64_t)acquires << 31 | (uint64_t)flag.version << 32;
        bool is_new = from_lane64(lanes, seen, leader) != now;
        if (lost)
            know_all(view, lanes);
        else if (flag.row && is_new)
            *joined = join_flag(view, lanes, flag.row, acquires);
        uint32_t same = ballot(lanes, address == one);
        if (flag.row && (want & same) >> lane() & 1)
            seen = now;
        want &= ~same;
    }
    return seen;
}

/* ---- Signals of launches that may run at the same time ---- */

#if CELLS_COMPACT

/* Whether the launch has released through the address; or it is not known any more. */
static inline bool has_released(uint64_t state, uint32_t tag, uint64_t address) {
    if (state == SHADOW_BESIDE_UNKNOWN || load32(state + offsetof(ShadowState, flags_lost)))
        return true;
    uint64_t bucket = load64(state + offsetof(ShadowState, flags)) +
                      (uint64_t)shadow_bucket(address) * SHADOW_WAYS * sizeof(ShadowFlag);
    for (uint32_t way = 0; way < SHADOW_WAYS; way++) {
        Wide found = wide_load(bucket + way * sizeof(ShadowFlag));
        if (found.low == address && (found.high >> 24 & 255) == tag)
            return true;
    }
    return false;
}

/* It may be ordered after the other launch from here on, and after all that this one has met, or may come after. */
static inline void meet_launch(const View *view, uint32_t other, uint64_t state) {
    uint64_t met = view->here->state + offsetof(ShadowState, met);
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t beside = load32(beside_at(view->here) + offsetof(ShadowBeside, begun) + 32 * (uint64_t)other + 4 * i);
        uint32_t has = state == SHADOW_BESIDE_UNKNOWN ? 0 : load32(state + offsetof(ShadowState, met) + 4 * i);
        or32(met + 4 * i, ~beside | has | (i == other / 32 ? 1u << other % 32 : 0));
    }
    fence();
}

/* By a lane that has read an address: launches that have released through it. A function of its own: there are few. */
static __attribute__((noinline)) void weir_slow_meet(uint64_t address, HERE_FEW) {
    Here here = HERE_FEW_IS;
    View view = view_clocked(&here, 0, 0, false);
    uint64_t at = beside_at(&here), met = here.state + offsetof(ShadowState, met);
    for (uint32_t word = 0; word < 8; word++) {
        uint32_t left = load32(at + offsetof(ShadowBeside, talks) + 4 * word) & ~load32(met + 4 * word);
        for (; left; left &= left - 1) {
            uint32_t other = 32 * word + lowest(left);
            uint64_t state = load64(at + offsetof(ShadowBeside, states) + 8 * (uint64_t)other);
            if (other != here_tag(&here) && state && is_beside(&view, other) && has_released(state, other, address))
                meet_launch(&view, other, state);
        }
    }
}

#endif

#endif
