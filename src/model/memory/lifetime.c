/* Two steps. First each value by itself: its block, and where it is used in other blocks, all blocks between, found
 * backwards from the uses. Then over names: a value lives as long as what its memory flows into, so beginnings and ends
 * spread against the flow, the earliest (latest) first, so that each value is visited once for each. */
#include "model/memory/lifetime.h"

#include "base/order.h"
#include "base/pointers.h"
#include "model/flow/forwarded.h"
#include "model/memory/stage.h"
#include "model/memory/views.h"

#include <stdlib.h>

/* Blocks to look at in all, so that a hostile file cannot make it quadratic. */
enum { MOST_STEPS = 20 * 1000 * 1000 };

enum { NOWHERE = NO_NUMBER };

/* Lists of numbers, one for each of `count` things: those of thing i are items[first[i]] up to items[first[i + 1]]. */
typedef struct Lists {
    uint32_t *first, *items;
} Lists;

typedef struct LifetimePair {
    uint32_t of, item;
} LifetimePair;

struct Lifetimes {
    Module *module;
    const Op *function;
    Pointers numbers; /* of ops, of blocks, and of values that may be memory */
    const Op **ops;   /* by number */
    const Value **values;
    const Block **blocks;
    uint32_t op_count, value_count, block_count, op_capacity, value_capacity, block_capacity;
    Lifetime *block_times; /* from the number of its first op to that of its last; NOWHERE if it has none */
    Lists uses;            /* of a value: ops */
    Lists sources;         /* of a value: values whose memory it may be */
    Lists before;          /* of a block: those that branch to it */
    Lifetime *lives;
    /* while a value is followed */
    uint32_t *seen, stamp; /* by block */
    uint32_t *stack;
    int64_t left;
};

/* ---- Numbers ----------------------------------------------------------------------------------- */

uint32_t lifetime_number(const Lifetimes *l, const Op *op) {
    return pointers_get(&l->numbers, op);
}

/* The first op inside, of that the first inside, and so on. */
static const Op *innermost(const Op *op) {
    for (const Op *inside; (inside = op_next_in_walk(op, op)); op = inside) {
    }
    return op;
}

static const Op *after_inner(const Op *op, const Op *root) {
    if (op == root)
        return NULL;
    if (op->next)
        return innermost(op->next);
    for (const Block *block = op->block->next; block; block = block->next)
        if (block->first)
            return innermost(block->first);
    const Op *parent = op_parent(op);
    for (uint32_t r = (uint32_t)(op->block->region - parent->regions) + 1; r < parent->region_count; r++)
        for (const Block *block = parent->regions[r].first; block; block = block->next)
            if (block->first)
                return innermost(block->first);
    return parent;
}

static bool may_be_memory(Module *module, const Value *value) {
    const Type *type = value->type ? type_canonical(module, value->type) : NULL;
    return type && (memdesc_space(type) != SPACE_NONE || type_is(type, STR("nvws.aref")) ||
                    type_is(type, STR("nvws.token")) || type_is(type, STR("tlx.storage_alias_spec")));
}

static void number_values(Lifetimes *l, Value *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (may_be_memory(l->module, &values[i])) {
            pointers_set(&l->numbers, &values[i], l->value_count);
            *ARENA_PUSH(&l->module->arena, l->values, l->value_count, l->value_capacity) = &values[i];
        }
}

static void number_things(Lifetimes *l) {
    Arena *arena = &l->module->arena;
    l->numbers.arena = arena;
    for (const Op *op = innermost(l->function); op; op = after_inner(op, l->function)) {
        pointers_set(&l->numbers, op, l->op_count);
        *ARENA_PUSH(arena, l->ops, l->op_count, l->op_capacity) = op;
        number_values(l, op->results, op->result_count);
        for (uint32_t r = 0; r < op->region_count; r++)
            for (const Block *block = op->regions[r].first; block; block = block->next) {
                pointers_set(&l->numbers, block, l->block_count);
                *ARENA_PUSH(arena, l->blocks, l->block_count, l->block_capacity) = block;
                number_values(l, block->args, block->arg_count);
            }
    }
}

/* ---- Edges ------------------------------------------------------------------------------------- */

typedef struct LifetimePairs {
    const Lifetimes *of;
    LifetimePair *items;
    uint32_t count, capacity;
} LifetimePairs;

static void add_pair(LifetimePairs *pairs, const void *of, const void *item) {
    LifetimePair pair = {pointers_get(&pairs->of->numbers, of), pointers_get(&pairs->of->numbers, item)};
    if (pair.of != NOWHERE && pair.item != NOWHERE)
        *ARENA_PUSH(&pairs->of->module->arena, pairs->items, pairs->count, pairs->capacity) = pair;
}

static void collect(Lifetimes *l, void (*of_op)(const Op *, LifetimePairs *), uint32_t count, Lists *lists) {
    Arena *arena = &l->module->arena;
    LifetimePairs pairs = {.of = l};
    for (const Op *op = l->function; op; op = op_next_in_walk(op, l->function))
        of_op(op, &pairs);
    lists->first = ARENA_ARRAY(arena, uint32_t, count + 2);
    lists->items = ARENA_ARRAY(arena, uint32_t, pairs.count + 1);
    for (uint32_t i = 0; i < pairs.count; i++)
        lists->first[pairs.items[i].of + 1]++;
    for (uint32_t i = 0; i < count; i++)
        lists->first[i + 1] += lists->first[i];
    uint32_t *next = ARENA_ARRAY(arena, uint32_t, count + 1);
    memcpy(next, lists->first, sizeof *next * (count + 1));
    for (uint32_t i = 0; i < pairs.count; i++)
        lists->items[next[pairs.items[i].of]++] = pairs.items[i].item;
}

static void uses_of_op(const Op *op, LifetimePairs *pairs) {
    for (uint32_t i = 0; i < op->operand_count; i++)
        add_pair(pairs, op->operands[i], op);
}

static void branches_of_op(const Op *op, LifetimePairs *pairs) {
    for (uint32_t s = 0; s < op_successor_count(op); s++)
        if (op->extra->successors[s] && op->block)
            add_pair(pairs, op->extra->successors[s], op->block);
}

/* The memory of `from` may be that of `to`. */
static void hand_on(void *pairs, Forwarded how, const Value *from, const Value *to) {
    (void)how;
    add_pair(pairs, to, from);
}

static void flows_of_op(const Op *op, LifetimePairs *pairs) {
    Effect effects[EFFECTS_MOST];
    unsigned count = 0;
    if (op_hands_on(op, hand_on, pairs))
        return;
    for (uint32_t i = 0; op_is(op, CLASS_AREF) && i < op->operand_count && op->result_count; i++)
        add_pair(pairs, &op->results[0], op->operands[i]);
    for (uint32_t i = 0; i < op->result_count && !count; i++)
        if (pointers_get(&pairs->of->numbers, &op->results[i]) != NOWHERE)
            count = effects_of(pairs->of->module, op, effects);
    for (unsigned i = 0; i < count; i++)
        if (effects[i].verb == EFFECT_VIEW && effects[i].on && effects[i].amount)
            add_pair(pairs, effects[i].on, effects[i].amount);
}

/* ---- One value --------------------------------------------------------------------------------- */

static void extend(Lifetime *life, uint32_t begin, uint32_t last) {
    if (begin != NOWHERE && begin < life->begin)
        life->begin = begin;
    if (last != NOWHERE && last + 1 > life->end)
        life->end = last + 1;
}

/* The op of `region` that is `op` or holds it; NULL if none does. */
static const Op *ancestor_in(const Op *op, const Region *region) {
    while (op && (!op->block || op->block->region != region))
        op = op_parent(op);
    return op;
}

/* Marks the blocks before `block` that the value passes on its way to it, none twice. */
static void follow_back(Lifetimes *l, const Block *home, uint32_t block, Lifetime *life) {
    uint32_t depth = 0;
    l->stack[depth++] = block;
    while (depth) {
        uint32_t at = l->stack[--depth];
        for (uint32_t i = l->before.first[at]; i < l->before.first[at + 1]; i++) {
            uint32_t previous = l->before.items[i];
            const Block *from = l->blocks[previous];
            l->left--;
            extend(life, NOWHERE, l->block_times[previous].end); /* the value leaves the block alive */
            if (from == home || l->seen[previous] == l->stamp)
                continue;
            l->seen[previous] = l->stamp;
            extend(life, l->block_times[previous].begin, NOWHERE);
            l->stack[depth++] = previous;
        }
    }
}

static Lifetime follow(Lifetimes *l, uint32_t number) {
    const Value *value = l->values[number];
    Lifetime life = {NOWHERE, 0};
    uint32_t first = l->uses.first[number], end = l->uses.first[number + 1];
    const Op *definer = value->is_result ? value->owner : NULL;
    const Block *home = definer ? definer->block : value->owner;
    if (!definer && first == end) /* nothing ever sees it */
        return life;
    uint32_t start = definer ? lifetime_number(l, definer) : home->first ? lifetime_number(l, home->first) : NOWHERE;
    extend(&life, start, start);
    l->stamp++;
    for (uint32_t i = first; i < end; i++) {
        const Op *user = l->ops[l->uses.items[i]];
        const Op *op = home ? ancestor_in(user, home->region) : NULL;
        l->left--;
        if (!op)
            continue;
        extend(&life, NOWHERE, lifetime_number(l, op));
        if (user != op && user->block->first)
            extend(&life, lifetime_number(l, user->block->first), NOWHERE);
        if (op->block == home)
            continue;
        if (home->last)
            extend(&life, NOWHERE, lifetime_number(l, home->last));
        uint32_t block = pointers_get(&l->numbers, op->block);
        if (block == NOWHERE || l->seen[block] == l->stamp)
            continue;
        l->seen[block] = l->stamp;
        extend(&life, lifetime_number(l, op->block->first), NOWHERE);
        follow_back(l, home, block, &life);
    }
    return life;
}

/* ---- Under all names --------------------------------------------------------------------------- */

typedef struct Ranked {
    uint32_t time, value;
} Ranked;

ORDER(by_time, Ranked, BY(time) BY(value))

/* Gives each value the earliest beginning, or the latest end, of all that its memory flows into. */
static void spread(Lifetimes *l, bool ends) {
    Arena *arena = &l->module->arena;
    Ranked *ranked = ARENA_ARRAY(arena, Ranked, l->value_count + 1);
    bool *done = ARENA_ARRAY(arena, bool, l->value_count + 1);
    uint32_t *stack = ARENA_ARRAY(arena, uint32_t, l->value_count + 1);
    for (uint32_t i = 0; i < l->value_count; i++)
        ranked[i] = (Ranked){ends ? UINT32_MAX - l->lives[i].end : l->lives[i].begin, i};
    qsort(ranked, l->value_count, sizeof *ranked, by_time);
    for (uint32_t k = 0; k < l->value_count; k++) {
        uint32_t depth = 0;
        if (done[ranked[k].value])
            continue;
        done[ranked[k].value] = true;
        stack[depth++] = ranked[k].value;
        while (depth) {
            uint32_t at = stack[--depth];
            if (ends)
                l->lives[at].end = UINT32_MAX - ranked[k].time;
            else
                l->lives[at].begin = ranked[k].time;
            for (uint32_t i = l->sources.first[at]; i < l->sources.first[at + 1]; i++) {
                uint32_t source = l->sources.items[i];
                if (!done[source])
                    stack[depth++] = source;
                done[source] = true;
            }
        }
    }
}

/* ---- Meta's fork ------------------------------------------------------------------------------- */

/* What is among the ops that an op's results lead to: their users, what these hold, and the users of those. */
typedef struct Leads {
    bool whole;     /* a store to another CTA's memory, or the setup of an mbarrier */
    bool stores;    /* a TMA store */
    uint32_t waits; /* the end of the last wait for a TMA store by its token; 0: there is none */
} Leads;

static void lead(Leads *from, const Leads *to) {
    from->whole |= to->whole;
    from->stores |= to->stores;
    from->waits = to->waits > from->waits ? to->waits : from->waits;
}

static void leads_of_op(const Lifetimes *l, uint32_t number, Leads *leads) {
    Effect effects[EFFECTS_MOST];
    for (unsigned i = 0, count = effects_of(l->module, l->ops[number], effects); i < count; i++) {
        const Effect *effect = &effects[i];
        leads->whole |= effect->verb == EFFECT_INIT || (effect->verb == EFFECT_WRITE && effect->rank);
        leads->stores |= effect->verb == EFFECT_WRITE && effect->done == DONE_GROUP && effect->group == GROUP_TMA_STORE;
        if (effect->verb == EFFECT_AWAIT && effect->group == GROUP_TMA_STORE && effect->amount)
            leads->waits = number + 1;
    }
}

/* Whether partitions start, in the block of `op`, at a time when the value lives. */
static bool meets_partitions(const Lifetimes *l, const Op *op, Lifetime life) {
    for (; op; op = op->next)
        if (op_is_control(op, CONTROL_FORK) && lifetime_number(l, op) >= life.begin &&
            lifetime_number(l, op) < life.end)
            return true;
    return false;
}

/* The fork keeps more apart: for the whole function what other CTAs write to and mbarriers, and all that leads to such
 * an op; until the wait for its token what a TMA store reads; and from the begin what lives when partitions start. */
static void keep_as_fork(Lifetimes *l) {
    Arena *arena = &l->module->arena;
    Leads *leads = ARENA_ARRAY(arena, Leads, l->op_count + 1);
    const Op **walk = ARENA_ARRAY(arena, const Op *, l->op_count + 1);
    uint32_t count = 0;
    for (const Op *op = op_next_in_walk(l->function, l->function); op; op = op_next_in_walk(op, l->function))
        walk[count++] = op;
    while (count-- > 0) { /* what an op leads to comes behind it in the text */
        const Op *op = walk[count], *parent = op_parent(op);
        uint32_t number = lifetime_number(l, op);
        leads_of_op(l, number, &leads[number]);
        lead(&leads[lifetime_number(l, parent)], &leads[number]);
        for (uint32_t i = 0; i < op->operand_count; i++)
            if (op->operands[i] && value_op(op->operands[i]))
                lead(&leads[lifetime_number(l, value_op(op->operands[i]))], &leads[number]);
    }
    for (uint32_t i = 0; i < l->value_count; i++) {
        const Op *op = value_op(l->values[i]);
        const Type *type = type_canonical(l->module, l->values[i]->type);
        if (!op || memdesc_space(type) != SPACE_SHARED)
            continue;
        const Leads *to = &leads[lifetime_number(l, op)];
        if (to->whole)
            l->lives[i] = (Lifetime){0, l->op_count};
        if (to->stores && to->waits > l->lives[i].end)
            l->lives[i].end = to->waits;
        if (meets_partitions(l, op, l->lives[i]))
            l->lives[i].begin = 0;
    }
}

const Lifetimes *lifetimes_of(Module *module, const Op *function) {
    Arena *arena = &module->arena;
    Lifetimes *l = ARENA_NEW(arena, Lifetimes);
    l->module = module;
    l->function = function;
    l->left = MOST_STEPS;
    number_things(l);
    collect(l, uses_of_op, l->value_count, &l->uses);
    collect(l, flows_of_op, l->value_count, &l->sources);
    collect(l, branches_of_op, l->block_count, &l->before);
    l->block_times = ARENA_ARRAY(arena, Lifetime, l->block_count + 1);
    for (uint32_t i = 0; i < l->block_count; i++) {
        const Block *block = l->blocks[i];
        l->block_times[i].begin = block->first ? lifetime_number(l, block->first) : NOWHERE;
        l->block_times[i].end = block->last ? lifetime_number(l, block->last) : NOWHERE;
    }
    l->lives = ARENA_ARRAY(arena, Lifetime, l->value_count + 1);
    l->seen = ARENA_ARRAY(arena, uint32_t, l->block_count + 1);
    l->stack = ARENA_ARRAY(arena, uint32_t, l->block_count + 1);
    for (uint32_t i = 0; i < l->value_count; i++)
        l->lives[i] = l->left > 0 ? follow(l, i) : (Lifetime){0, l->op_count};
    spread(l, false);
    spread(l, true);
    if (stage_is_fork(function))
        keep_as_fork(l);
    return l;
}

Lifetime lifetime_of(const Lifetimes *l, const Value *value) {
    uint32_t number = pointers_get(&l->numbers, value);
    Lifetime whole = {0, l->op_count};
    return number != NOWHERE && l->lives[number].begin < l->lives[number].end ? l->lives[number] : whole;
}
