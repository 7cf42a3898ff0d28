/* Where a cluster meets after its mbarriers are set up: between the initializations and the uses, both taken for the
 * ops of the function's own blocks that they are in. */
#include "model/memory/handshake.h"

#include "ir/edit.h"
#include "ir/op.h"
#include "model/effect/effect.h"
#include "model/flow/origin.h"
#include "model/target/target.h"

enum { MOST_BLOCKS = 512 };

typedef struct HandshakeSearch {
    Module *module;
    const Op *function;
    const Region *body;
    Origins origins;
    bool *tracked;                   /* by origin: an mbarrier that CTAs share or signal in each other */
    bool *dominates, *postdominates; /* [a * blocks + b]: a does b; a block does itself */
    const Pointers *planned;
    Arena *arena;
} HandshakeSearch;

/* ---- Mbarriers ------------------------------------------------------------------------------------------------- */

static bool crosses(const Effect *effect) {
    return effect->rank || effect->multicast || effect->pair || effect->from_some || effect->to_ctas ||
           effect->helper == HELPER_CLC;
}

static void track(HandshakeSearch *search, const Value *barrier) {
    OriginSet set = barrier ? origins_find(&search->origins, barrier) : (OriginSet){0};
    for (uint32_t i = 0; i < set.count; i++)
        search->tracked[set.items[i]] = true;
}

/* One for each CTA has as many elements as there are CTAs. */
static bool is_shared(HandshakeSearch *search, const Value *barrier) {
    const Type *type = barrier->type ? type_canonical(search->module, barrier->type) : NULL;
    return type && type->dim_count && type->dims[0] != (int64_t)module_ctas(search->function);
}

static void find_tracked(HandshakeSearch *search) {
    Effect effects[EFFECTS_MOST];
    for (const Op *op = search->function; op; op = op_next_in_walk(op, search->function)) {
        unsigned count = effects_of(search->module, op, effects);
        /* one that says who does it may also say 0, the CTA that leads */
        bool far = op_attr(op, "fromCTA") || op_is(op, CLASS_CLUSTER);
        for (unsigned i = 0; i < count; i++)
            far |= crosses(&effects[i]);
        for (unsigned i = 0; i < count; i++) {
            const Effect *effect = &effects[i];
            bool barrier = effect_is_barrier(effect) && effect->side == SIDE_NONE && effect->on;
            if (barrier && (far || (effect->verb == EFFECT_INIT && is_shared(search, effect->on))))
                track(search, effect->on);
            if (far)
                track(search, effect->through);
        }
    }
}

static bool is_tracked(const HandshakeSearch *search, const Value *value) {
    OriginSet set = value ? origins_find(&search->origins, value) : (OriginSet){0};
    for (uint32_t i = 0; i < set.count; i++)
        if (search->tracked[set.items[i]])
            return true;
    return false;
}

typedef enum HandshakeUse { USE_NONE, USE_INIT, USE_OTHER } HandshakeUse;

static HandshakeUse use_of(const HandshakeSearch *search, const Op *op) {
    Effect effects[EFFECTS_MOST];
    for (unsigned i = 0, count = effects_of(search->module, op, effects); i < count; i++) {
        const Effect *effect = &effects[i];
        if (effect->verb == EFFECT_VIEW || effect->verb == EFFECT_ALLOCATE ||
            (!is_tracked(search, effect->on) && !is_tracked(search, effect->through)))
            continue;
        return effect->verb == EFFECT_INIT ? USE_INIT : USE_OTHER;
    }
    return USE_NONE;
}

/* Whether the op, or one inside it, uses a tracked mbarrier so. */
static bool has_use(const HandshakeSearch *search, const Op *op, HandshakeUse use) {
    for (const Op *inner = op; inner; inner = op_next_in_walk(inner, op))
        if (use_of(search, inner) == use)
            return true;
    return false;
}

/* ---- Dominance ------------------------------------------------------------------------------------------------- */

static const Block *successor(const Block *block, uint32_t index) {
    return block->last && index < op_successor_count(block->last) ? block->last->extra->successors[index] : NULL;
}

/* With `backward`, from the ends: which blocks every way from a block to an end goes through. Sets shrink until nothing
 * changes. */
static bool *dominators(const HandshakeSearch *search, bool backward) {
    uint32_t count = search->body->block_count;
    bool *sets = ARENA_ARRAY(search->arena, bool, (size_t)count *count), changed = true;
    for (const Block *block = search->body->first; block; block = block->next)
        for (uint32_t a = 0; a < count; a++)
            sets[a * count + block->order] = backward ? successor(block, 0) != NULL : block != search->body->first;
    for (uint32_t a = 0; a < count; a++)
        sets[a * count + a] = true;
    while (changed) {
        changed = false;
        for (const Block *from = search->body->first; from; from = from->next)
            for (uint32_t s = 0; successor(from, s); s++) {
                uint32_t of = backward ? from->order : successor(from, s)->order;
                uint32_t by = backward ? successor(from, s)->order : from->order;
                for (uint32_t a = 0; a < count; a++)
                    if (a != of && sets[a * count + of] && !sets[a * count + by]) {
                        sets[a * count + of] = false;
                        changed = true;
                    }
            }
    }
    return sets;
}

/* The block nearest to all marked ones that dominates each of them. */
static const Block *nearest(const HandshakeSearch *search, const bool *sets, const bool *marked) {
    uint32_t count = search->body->block_count;
    const Block *found = NULL;
    for (const Block *block = search->body->first; block; block = block->next) {
        bool all = true;
        for (uint32_t b = 0; b < count; b++)
            all &= !marked[b] || sets[block->order * count + b];
        if (all && (!found || sets[found->order * count + block->order]))
            found = block;
    }
    return found;
}

static bool comes_before(const Op *a, const Op *b) {
    while (a && a != b)
        a = a->next;
    return a != NULL;
}

/* Whether every way to `b` goes through `a`; whether every way from `b` to an end goes through `a`. */
static bool op_dominates(const HandshakeSearch *search, const Op *a, const Op *b) {
    return a->block == b->block ? comes_before(a, b)
                                : search->dominates[a->block->order * search->body->block_count + b->block->order];
}
static bool op_postdominates(const HandshakeSearch *search, const Op *a, const Op *b) {
    return a->block == b->block ? comes_before(b, a)
                                : search->postdominates[a->block->order * search->body->block_count + b->block->order];
}

/* ---- The place ------------------------------------------------------------------------------------------------- */

static bool is_planned(const HandshakeSearch *search, const Op *op) {
    return search->planned && pointers_get(search->planned, op) != NO_NUMBER;
}

static bool is_cluster_barrier(const HandshakeSearch *search, const Op *op) {
    return is_planned(search, op) || (op_has_effect(search->module, op, EFFECT_CLUSTER_ARRIVE, GROUP_NONE) &&
                                      op_has_effect(search->module, op, EFFECT_CLUSTER_WAIT, GROUP_NONE));
}

static bool is_relaxed(const HandshakeSearch *search, const Op *op) {
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(search->module, op, effects);
    const Effect *arrive = effects_find(effects, count, EFFECT_CLUSTER_ARRIVE);
    return arrive && arrive->relaxed;
}

/* A fence that publishes to the cluster, before the op and in its block. */
static bool is_published(const HandshakeSearch *search, const Op *before) {
    for (const Op *op = before->prev; op; op = op->prev) {
        if (use_of(search, op) == USE_INIT)
            return false;
        Effect effects[EFFECTS_MOST];
        const Effect *fence = effects_find(effects, effects_of(search->module, op, effects), EFFECT_FENCE_ORDER);
        if (fence && fence->scope == SCOPE_CLUSTER)
            return true;
    }
    return false;
}

/* The latest barrier of the cluster between the two. */
static const Op *barrier_between(const HandshakeSearch *search, const Op *first, const Op *last) {
    const Op *found = NULL;
    for (const Block *block = search->body->first; block; block = block->next)
        for (const Op *op = block->first; op; op = op->next)
            if (is_cluster_barrier(search, op) && op_postdominates(search, op, first) &&
                op_dominates(search, op, last) && (!found || op_dominates(search, found, op)))
                found = op;
    return found;
}

static Handshake place(const HandshakeSearch *search, const Op *first, const Op *last) {
    if (!first || !last || !op_dominates(search, first, last))
        return (Handshake){0};
    const Op *barrier = barrier_between(search, first, last);
    if (!barrier)
        return (Handshake){.at = last, .barrier = true};
    if (is_published(search, barrier))
        return (Handshake){0};
    return (Handshake){.at = is_relaxed(search, barrier) ? barrier : last};
}

Handshake handshake_of(Module *module, const Op *function, const Pointers *planned, Arena *arena) {
    Vendor vendor;
    unsigned number;
    HandshakeSearch search = {.module = module, .function = function, .planned = planned, .arena = arena};
    search.body = function->region_count ? &function->regions[0] : NULL;
    if (module_ctas(function) < 2 || !search.body || !search.body->first || search.body->block_count > MOST_BLOCKS ||
        (target_said(function, &vendor, &number) && vendor != VENDOR_NVIDIA))
        return (Handshake){0};
    search.origins = origins_of(module, function, arena);
    search.tracked = ARENA_ARRAY(arena, bool, search.origins.count + 1);
    find_tracked(&search);
    bool *inits = ARENA_ARRAY(arena, bool, search.body->block_count);
    bool *uses = ARENA_ARRAY(arena, bool, search.body->block_count), any_init = false, any_use = false;
    for (const Block *block = search.body->first; block; block = block->next)
        for (const Op *op = block->first; op; op = op->next) {
            any_init |= inits[block->order] |= has_use(&search, op, USE_INIT);
            any_use |= uses[block->order] |= has_use(&search, op, USE_OTHER);
        }
    if (!any_init || !any_use)
        return (Handshake){0};
    search.dominates = dominators(&search, false);
    search.postdominates = dominators(&search, true);
    const Block *from = nearest(&search, search.postdominates, inits), *to = nearest(&search, search.dominates, uses);
    const Op *init = NULL, *use = NULL;
    for (const Op *op = from ? from->first : NULL; op; op = op->next)
        init = has_use(&search, op, USE_INIT) ? op : init;
    for (const Op *op = to ? to->last : NULL; op; op = op->prev)
        use = has_use(&search, op, USE_OTHER) ? op : use;
    return place(&search, init ? init->next : from ? from->first : NULL, use ? use : to ? to->last : NULL);
}

static bool has_crossing(Module *module, const Op *function) {
    for (const Op *op = function; op; op = op_next_in_walk(op, function))
        if (op_any_effect(module, op, crosses))
            return true;
    return false;
}

/* Whether the kernel has it there already, with its fence or without. */
static bool meets_at(Module *module, const Op *op) {
    return op && (op_has_effect(module, op, EFFECT_CLUSTER_ARRIVE, GROUP_NONE) ||
                  (op->next && op_has_effect(module, op->next, EFFECT_CLUSTER_ARRIVE, GROUP_NONE)));
}

static bool initializes(Module *module, const Op *op) {
    return op_has_effect(module, op, EFFECT_INIT, GROUP_NONE);
}

/* The ops that initialize mbarriers, and those of their block whose results they need, go to its begin, in order. */
static void hoist_inits(Module *module, Block *block) {
    Pointers needed = {.arena = &module->arena};
    for (const Op *op = block->last; op; op = op->prev) {
        if (!initializes(module, op) && pointers_get(&needed, op) == NO_NUMBER)
            continue;
        pointers_set(&needed, op, 1);
        for (uint32_t i = 0; i < op->operand_count; i++)
            if (op->operands[i] && value_op(op->operands[i]))
                pointers_set(&needed, value_op(op->operands[i]), 1);
    }
    Op *at = block->first;
    for (Op *op = block->first, *next; op; op = next) {
        next = op->next;
        if (pointers_get(&needed, op) == NO_NUMBER)
            continue;
        if (op == at)
            at = next;
        else
            edit_move(op, at);
    }
}

/* The last one that initializes in the block; *late: something before it reaches into another CTA. */
static const Op *last_init(Module *module, const Block *block, bool *late) {
    const Op *last = NULL;
    bool crossed = false;
    *late = false;
    for (const Op *op = block->first; op; op = op->next)
        if (initializes(module, op)) {
            last = op;
            *late = crossed;
        } else {
            crossed |= has_crossing(module, op);
        }
    return last;
}

Handshake handshake_of_fork(Module *module, const Op *function) {
    Block *block = function->region_count ? function->regions[0].first : NULL;
    bool late = false;
    const Op *last = block ? last_init(module, block, &late) : NULL;
    if (late)
        hoist_inits(module, block);
    bool needed = last && has_crossing(module, function) && !meets_at(module, last->next);
    return needed ? (Handshake){.at = last->next, .barrier = true} : (Handshake){0};
}
