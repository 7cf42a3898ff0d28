/* Shared clocks: what only one owner has is changed in place, anything else is copied first. */
#include "engine/clock/gsan_clock.h"

#include <string.h>

/* ---- Sets of launches ---- */

static size_t set_size(uint32_t words) {
    return sizeof(LaunchSet) + words * sizeof(uint64_t);
}

static LaunchSet *new_set(Pool *pool, uint32_t words) {
    LaunchSet *set = gsan_pool_take(pool, set_size(words));
    set->references = 1;
    set->words = words;
    return set;
}

bool gsan_launches_has(const LaunchSet *set, uint32_t launch) {
    return set && launch / 64 < set->words && set->bits[launch / 64] >> launch % 64 & 1;
}

void gsan_launches_drop(Pool *pool, LaunchSet *set) {
    if (set && !--set->references)
        gsan_pool_give(pool, set, set_size(set->words));
}

static void add_bits(LaunchSet *to, const LaunchSet *from) {
    for (uint32_t i = 0; from && i < from->words; i++)
        to->bits[i] |= from->bits[i];
}

static uint32_t more(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

LaunchSet *gsan_launches_with(Pool *pool, const LaunchSet *set, uint32_t launch, const LaunchSet *before) {
    uint32_t words = more(launch / 64 + 1, more(set ? set->words : 0, before ? before->words : 0));
    LaunchSet *with = new_set(pool, words);
    add_bits(with, set);
    add_bits(with, before);
    with->bits[launch / 64] |= UINT64_C(1) << launch % 64;
    return with;
}

static bool includes(const LaunchSet *set, const LaunchSet *other) {
    for (uint32_t i = 0; i < other->words; i++)
        if (other->bits[i] & ~(set && i < set->words ? set->bits[i] : 0))
            return false;
    return true;
}

static void join_sets(Pool *pool, LaunchSet **set, LaunchSet *other) {
    if (!other || *set == other || includes(*set, other))
        return;
    LaunchSet *joined = other;
    if (*set && !includes(other, *set)) {
        joined = new_set(pool, more((*set)->words, other->words));
        add_bits(joined, *set);
        add_bits(joined, other);
    } else {
        joined->references++;
    }
    gsan_launches_drop(pool, *set);
    *set = joined;
}

/* ---- Leaves, branches and parts ---- */

static void drop_leaf(Pool *pool, ClockLeaf *leaf) {
    if (leaf && !--leaf->references)
        gsan_pool_give(pool, leaf, sizeof *leaf);
}

/* A leaf that may be changed. */
static ClockLeaf *own_leaf(Pool *pool, ClockLeaf **place) {
    ClockLeaf *leaf = *place;
    if (leaf && leaf->references == 1)
        return leaf;
    ClockLeaf *copy = POOL_NEW(pool, ClockLeaf);
    if (leaf)
        memcpy(copy->epochs, leaf->epochs, sizeof copy->epochs);
    copy->references = 1;
    drop_leaf(pool, leaf);
    return *place = copy;
}

static void drop_branch(Pool *pool, ClockBranch *branch) {
    if (!branch || --branch->references)
        return;
    for (uint32_t i = 0; i < CLOCK_BRANCH; i++)
        drop_leaf(pool, branch->leaves[i]);
    gsan_pool_give(pool, branch, sizeof *branch);
}

static ClockBranch *own_branch(Pool *pool, ClockBranch **place) {
    ClockBranch *branch = *place;
    if (branch && branch->references == 1)
        return branch;
    ClockBranch *copy = POOL_NEW(pool, ClockBranch);
    copy->references = 1;
    for (uint32_t i = 0; branch && i < CLOCK_BRANCH; i++)
        if ((copy->leaves[i] = branch->leaves[i]))
            copy->leaves[i]->references++;
    drop_branch(pool, branch);
    return *place = copy;
}

static size_t part_size(uint32_t branch_count) {
    return sizeof(ClockPart) + branch_count * sizeof(ClockBranch *);
}

static ClockPart *new_part(Pool *pool, uint32_t launch, uint32_t branch_count) {
    ClockPart *part = gsan_pool_take(pool, part_size(branch_count));
    *part = (ClockPart){.references = 1, .launch = launch, .branch_count = branch_count};
    return part;
}

static void drop_part(Pool *pool, ClockPart *part) {
    if (--part->references)
        return;
    for (uint32_t i = 0; i < part->branch_count; i++)
        drop_branch(pool, part->branches[i]);
    gsan_pool_give(pool, part, part_size(part->branch_count));
}

static ClockPart *own_part(Pool *pool, ClockPart **place) {
    ClockPart *part = *place;
    if (part->references == 1)
        return part;
    ClockPart *copy = new_part(pool, part->launch, part->branch_count);
    for (uint32_t i = 0; i < part->branch_count; i++)
        if ((copy->branches[i] = part->branches[i]))
            copy->branches[i]->references++;
    drop_part(pool, part);
    return *place = copy;
}

/* Which of two leaves has what the other one lacks: bit 0 the first, bit 1 the second. */
static unsigned compare_leaves(const ClockLeaf *a, const ClockLeaf *b) {
    unsigned lead = 0;
    for (uint32_t i = 0; i < CLOCK_LEAF; i++)
        lead |= (unsigned)(a->epochs[i] > b->epochs[i]) | (unsigned)(a->epochs[i] < b->epochs[i]) << 1;
    return lead;
}

/* What one leaf has and another lacks goes to `place`; `other` is not NULL. */
static void join_leaves(Pool *pool, ClockLeaf **place, ClockLeaf *other, bool keeps) {
    if (keeps) {
        ClockLeaf *mine = own_leaf(pool, place);
        for (uint32_t i = 0; i < CLOCK_LEAF; i++)
            mine->epochs[i] = more(mine->epochs[i], other->epochs[i]);
    } else {
        other->references++;
        drop_leaf(pool, *place);
        *place = other;
    }
}

/* As compare_leaves; either may be NULL. */
static unsigned leads(const ClockLeaf *mine, const ClockLeaf *other) {
    return !other || mine == other ? 0 : mine ? compare_leaves(mine, other) : 2;
}

static void join_branches(Pool *pool, ClockPart **part, uint32_t at, ClockBranch *other) {
    if (!other || (*part)->branches[at] == other)
        return;
    if (!(*part)->branches[at]) {
        other->references++;
        own_part(pool, part)->branches[at] = other;
        return;
    }
    for (uint32_t i = 0; i < CLOCK_BRANCH; i++) {
        unsigned lead = leads((*part)->branches[at]->leaves[i], other->leaves[i]);
        if (lead & 2)
            join_leaves(pool, &own_branch(pool, &own_part(pool, part)->branches[at])->leaves[i], other->leaves[i],
                        lead & 1);
    }
}

static void join_parts(Pool *pool, ClockPart **part, const ClockPart *other) {
    for (uint32_t i = 0; *part != other && i < other->branch_count; i++)
        join_branches(pool, part, i, other->branches[i]);
}

/* ---- Clocks ---- */

static size_t clock_size(uint32_t part_count) {
    return sizeof(Clock) + part_count * sizeof(ClockPart *);
}

Clock *gsan_clock_share(Clock *clock) {
    if (clock)
        clock->references++;
    return clock;
}

void gsan_clock_drop(Pool *pool, Clock *clock) {
    if (!clock || --clock->references)
        return;
    gsan_launches_drop(pool, clock->whole);
    for (uint32_t i = 0; i < clock->part_count; i++)
        drop_part(pool, clock->parts[i]);
    gsan_pool_give(pool, clock, clock_size(clock->part_count));
}

/* A clock that may be changed, with room for `added` more parts, which are NULL. */
static Clock *own_clock(Pool *pool, Clock **place, uint32_t added) {
    Clock *clock = *place;
    if (clock && clock->references == 1 && !added)
        return clock;
    uint32_t count = clock ? clock->part_count : 0;
    Clock *copy = gsan_pool_take(pool, clock_size(count + added));
    *copy = (Clock){.references = 1, .part_count = count + added};
    for (uint32_t i = 0; i < count; i++) {
        copy->parts[i] = clock->parts[i];
        copy->parts[i]->references++;
    }
    if (clock && (copy->whole = clock->whole))
        copy->whole->references++;
    gsan_clock_drop(pool, clock);
    return *place = copy;
}

static uint32_t find_part(const Clock *clock, uint32_t launch) {
    uint32_t i = 0;
    while (clock && i < clock->part_count && clock->parts[i]->launch != launch)
        i++;
    return clock && i < clock->part_count ? i : UINT32_MAX;
}

uint32_t gsan_clock_epoch(const Clock *clock, uint32_t launch, uint32_t cta) {
    if (!clock)
        return 0;
    if (gsan_launches_has(clock->whole, launch))
        return UINT32_MAX;
    uint32_t at = find_part(clock, launch);
    uint32_t place = cta / CLOCK_LEAF;
    const ClockBranch *branch = at == UINT32_MAX ? NULL : clock->parts[at]->branches[place / CLOCK_BRANCH];
    const ClockLeaf *leaf = branch ? branch->leaves[place % CLOCK_BRANCH] : NULL;
    return leaf ? leaf->epochs[cta % CLOCK_LEAF] : 0;
}

void gsan_clock_raise(Pool *pool, Clock **clock, uint32_t launch, uint32_t ctas, uint32_t cta, uint32_t epoch) {
    if (gsan_clock_epoch(*clock, launch, cta) >= epoch)
        return;
    uint32_t at = find_part(*clock, launch);
    bool is_new = at == UINT32_MAX;
    Clock *own = own_clock(pool, clock, is_new);
    if (is_new)
        own->parts[at = own->part_count - 1] = new_part(pool, launch, (ctas - 1) / (CLOCK_LEAF * CLOCK_BRANCH) + 1);
    ClockPart *part = own_part(pool, &own->parts[at]);
    uint32_t place = cta / CLOCK_LEAF;
    ClockBranch *branch = own_branch(pool, &part->branches[place / CLOCK_BRANCH]);
    own_leaf(pool, &branch->leaves[place % CLOCK_BRANCH])->epochs[cta % CLOCK_LEAF] = epoch;
}

void gsan_clock_join_whole(Pool *pool, Clock **clock, LaunchSet *launches) {
    if (!launches || (*clock && ((*clock)->whole == launches || includes((*clock)->whole, launches))))
        return;
    Clock *own = own_clock(pool, clock, 0);
    join_sets(pool, &own->whole, launches);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < own->part_count; i++)
        kept += !gsan_launches_has(own->whole, own->parts[i]->launch);
    if (kept == own->part_count)
        return;
    Clock *smaller = gsan_pool_take(pool, clock_size(kept));
    *smaller = (Clock){.references = 1, .whole = own->whole};
    own->whole->references++;
    for (uint32_t i = 0; i < own->part_count; i++)
        if (!gsan_launches_has(own->whole, own->parts[i]->launch)) {
            own->parts[i]->references++;
            smaller->parts[smaller->part_count++] = own->parts[i];
        }
    gsan_clock_drop(pool, own);
    *clock = smaller;
}

static bool branch_includes(const ClockBranch *branch, const ClockBranch *other) {
    for (uint32_t i = 0; other && branch != other && i < CLOCK_BRANCH; i++)
        if (leads(branch ? branch->leaves[i] : NULL, other->leaves[i]) & 2)
            return false;
    return true;
}

/* A clock that another one includes is worth a look: most acquires bring nothing new. */
static bool part_includes(const ClockPart *part, const ClockPart *other) {
    for (uint32_t i = 0; part != other && i < other->branch_count; i++)
        if (!branch_includes(part->branches[i], other->branches[i]))
            return false;
    return true;
}

void gsan_clock_join(Pool *pool, Clock **clock, Clock *other) {
    if (!other || *clock == other)
        return;
    if (!*clock) {
        *clock = gsan_clock_share(other);
        return;
    }
    gsan_clock_join_whole(pool, clock, other->whole);
    for (uint32_t i = 0; i < other->part_count; i++) {
        ClockPart *theirs = other->parts[i];
        if (gsan_launches_has((*clock)->whole, theirs->launch))
            continue;
        uint32_t at = find_part(*clock, theirs->launch);
        if (at == UINT32_MAX) {
            Clock *own = own_clock(pool, clock, 1);
            own->parts[own->part_count - 1] = theirs;
            theirs->references++;
        } else if (!part_includes((*clock)->parts[at], theirs)) {
            join_parts(pool, &own_clock(pool, clock, 0)->parts[at], theirs);
        }
    }
}
