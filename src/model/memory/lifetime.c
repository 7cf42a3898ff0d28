/* Two steps. First each value by itself: its block, and where it is used in other blocks, all blocks between, found
 * backwards from the uses. Then over names: a value lives as long as what its memory flows into, so beginnings and ends
 * spread against the flow, the earliest (latest) first, so that each value is visited once for each. */
#include "model/memory/lifetime.h"

#include "ir/optable.h"
#include "model/memory/views.h"

#include <stdlib.h>

/* Blocks to look at in all, so that a hostile file cannot make it quadratic. */
enum { MOST_STEPS = 20 * 1000 * 1000 };

static const uint32_t NOWHERE = UINT32_MAX;

typedef struct Numbered {
    const void *thing;
    uint32_t number;
} Numbered;

/* Lists of numbers, one for each of `count` things: those of thing i are items[first[i]] up to items[first[i + 1]]. */
typedef struct Lists {
    uint32_t *first, *items;
} Lists;

typedef struct Pair {
    uint32_t of, item;
} Pair;

struct Lifetimes {
    Module *module;
    const Op *function;
    Numbered *ops, *values, *blocks; /* sorted by address */
    uint32_t op_count, value_count, block_count;
    const Value **names; /* values by their number: those that may be memory */
    const Block **block_list;
    Lifetime *block_times; /* from the number of its first op to that of its last; NOWHERE if it has none */
    const Op **users;      /* of the uses */
    Lists uses;            /* of a value, as indices of `users` */
    Lists sources;         /* of a value: values whose memory it may be */
    Lists before;          /* of a block: those that branch to it */
    Lifetime *lives;
    /* while a value is followed */
    uint32_t *seen, stamp; /* by block */
    uint32_t *stack;
    int64_t left;
};

/* ---- Numbers ----------------------------------------------------------------------------------- */

static int by_address(const void *a, const void *b) {
    const Numbered *x = a, *y = b;
    return (x->thing > y->thing) - (x->thing < y->thing);
}

static uint32_t number_in(const Numbered *things, uint32_t count, const void *thing) {
    Numbered key = {.thing = thing};
    const Numbered *found = bsearch(&key, things, count, sizeof *things, by_address);
    return found ? found->number : NOWHERE;
}

uint32_t lifetime_number(const Lifetimes *l, const Op *op) {
    return number_in(l->ops, l->op_count, op);
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

static void count_things(Lifetimes *l) {
    l->op_count = l->value_count = l->block_count = 0;
    for (const Op *op = innermost(l->function); op; op = after_inner(op, l->function)) {
        if (l->ops)
            l->ops[l->op_count] = (Numbered){op, l->op_count};
        l->op_count++;
        for (uint32_t i = 0; i < op->result_count; i++)
            if (may_be_memory(l->module, &op->results[i])) {
                if (l->values)
                    l->values[l->value_count] = (Numbered){&op->results[i], l->value_count};
                l->value_count++;
            }
        for (uint32_t r = 0; r < op->region_count; r++)
            for (const Block *block = op->regions[r].first; block; block = block->next) {
                if (l->blocks)
                    l->blocks[l->block_count] = (Numbered){block, l->block_count};
                l->block_count++;
                for (uint32_t i = 0; i < block->arg_count; i++)
                    if (may_be_memory(l->module, &block->args[i])) {
                        if (l->values)
                            l->values[l->value_count] = (Numbered){&block->args[i], l->value_count};
                        l->value_count++;
                    }
            }
    }
}

static void number_things(Lifetimes *l) {
    Arena *arena = &l->module->arena;
    count_things(l);
    l->ops = ARENA_ARRAY(arena, Numbered, l->op_count);
    l->values = ARENA_ARRAY(arena, Numbered, l->value_count + 1);
    l->blocks = ARENA_ARRAY(arena, Numbered, l->block_count + 1);
    l->names = ARENA_ARRAY(arena, const Value *, l->value_count + 1);
    l->block_list = ARENA_ARRAY(arena, const Block *, l->block_count + 1);
    count_things(l);
    for (uint32_t i = 0; i < l->value_count; i++)
        l->names[i] = l->values[i].thing;
    for (uint32_t i = 0; i < l->block_count; i++)
        l->block_list[i] = l->blocks[i].thing;
    qsort(l->ops, l->op_count, sizeof *l->ops, by_address);
    qsort(l->values, l->value_count, sizeof *l->values, by_address);
    qsort(l->blocks, l->block_count, sizeof *l->blocks, by_address);
}

static uint32_t value_number(const Lifetimes *l, const Value *value) {
    return number_in(l->values, l->value_count, value);
}

/* ---- Edges ------------------------------------------------------------------------------------- */

/* Pairs, collected twice: once to count them, once to keep them. */
typedef struct Pairs {
    Pair *items; /* NULL while counting */
    uint32_t count;
} Pairs;

static void add_pair(Pairs *pairs, uint32_t of, uint32_t item) {
    if (of == NOWHERE || item == NOWHERE)
        return;
    if (pairs->items)
        pairs->items[pairs->count] = (Pair){of, item};
    pairs->count++;
}

static void collect(Lifetimes *l, void (*of_op)(const Lifetimes *, const Op *, Pairs *), uint32_t count, Lists *lists) {
    Arena *arena = &l->module->arena;
    Pairs pairs = {0};
    for (const Op *op = l->function; op; op = op_next_in_walk(op, l->function))
        of_op(l, op, &pairs);
    pairs.items = ARENA_ARRAY(arena, Pair, pairs.count + 1);
    pairs.count = 0;
    for (const Op *op = l->function; op; op = op_next_in_walk(op, l->function))
        of_op(l, op, &pairs);
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

static void uses_of_op(const Lifetimes *l, const Op *op, Pairs *pairs) {
    for (uint32_t i = 0; i < op->operand_count; i++)
        add_pair(pairs, value_number(l, op->operands[i]), lifetime_number(l, op));
}

static void branches_of_op(const Lifetimes *l, const Op *op, Pairs *pairs) {
    for (uint32_t s = 0; s < op_successor_count(op); s++)
        if (op->extra->successors[s] && op->block)
            add_pair(pairs, number_in(l->blocks, l->block_count, op->extra->successors[s]),
                     number_in(l->blocks, l->block_count, op->block));
}

/* The memory of `from` may be that of `to`. */
static void flow(const Lifetimes *l, Pairs *pairs, const Value *from, const Value *to) {
    uint32_t source = value_number(l, from);
    if (source != NOWHERE)
        add_pair(pairs, value_number(l, to), source);
}

/* Operands from `skip` on, to results or arguments from `first` on. */
static void flow_into(const Lifetimes *l, Pairs *pairs, const Op *from, uint32_t skip, Value *to, uint32_t count,
                      uint32_t first) {
    for (uint32_t i = skip; i < from->operand_count && i - skip + first < count; i++)
        flow(l, pairs, from->operands[i], &to[i - skip + first]);
}

static void flow_into_region(const Lifetimes *l, Pairs *pairs, const Op *from, uint32_t skip, const Region *region,
                             uint32_t first) {
    if (region->first)
        flow_into(l, pairs, from, skip, region->first->args, region->first->arg_count, first);
}

/* What the last op of a region hands to the op around it, or around again. */
static void flow_out(const Lifetimes *l, const Op *end, Pairs *pairs) {
    const Op *op = op_parent(end);
    if (!op || !op->row || !end->block || end->next)
        return;
    uint32_t skip = end->row->id == OP_scf_condition;
    bool again = op->row->id == OP_scf_while && end->block->region != &op->regions[0];
    if (op->row->id == OP_scf_for)
        flow_into_region(l, pairs, end, 0, &op->regions[0], 1);
    if (skip && op->region_count > 1)
        flow_into_region(l, pairs, end, skip, &op->regions[1], 0);
    if (again)
        flow_into_region(l, pairs, end, 0, &op->regions[0], 0);
    else
        flow_into(l, pairs, end, skip, op->results, op->result_count, 0);
}

static void flow_of_branch(const Lifetimes *l, const Op *op, Pairs *pairs) {
    uint32_t next = op->row && (op->row->id == OP_cf_cond_br || op->row->id == OP_cf_switch) ? 1 : 0;
    for (uint32_t s = 0; s < op_successor_count(op); s++) {
        const Block *to = op->extra->successors[s];
        for (uint32_t i = 0; to && i < to->arg_count && next < op->operand_count; i++)
            flow(l, pairs, op->operands[next++], &to->args[i]);
    }
}

static void flow_of_view(const Lifetimes *l, const Op *op, Pairs *pairs) {
    Effect effects[EFFECTS_MOST];
    unsigned count = 0;
    for (uint32_t i = 0; i < op->result_count && !count; i++)
        if (value_number(l, &op->results[i]) != NOWHERE)
            count = effects_of(l->module, op, effects);
    for (unsigned i = 0; i < count; i++)
        if (effects[i].verb == EFFECT_VIEW && effects[i].on && effects[i].amount)
            flow(l, pairs, effects[i].amount, effects[i].on);
}

static void flows_of_op(const Lifetimes *l, const Op *op, Pairs *pairs) {
    if (op_successor_count(op)) {
        flow_of_branch(l, op, pairs);
        return;
    }
    if (!op->row)
        return;
    switch (op->row->id) {
    case OP_arith_select:
        if (op->operand_count == 3 && op->result_count)
            flow_into(l, pairs, op, 1, op->results, 1, 0);
        if (op->operand_count == 3 && op->result_count)
            flow(l, pairs, op->operands[2], &op->results[0]);
        return;
    case OP_scf_for:
        flow_into_region(l, pairs, op, 3, &op->regions[0], 1);
        flow_into(l, pairs, op, 3, op->results, op->result_count, 0);
        return;
    case OP_scf_while:
        flow_into_region(l, pairs, op, 0, &op->regions[0], 0);
        return;
    case OP_ttg_warp_specialize_partitions: {
        const Op *captures = op->operand_count || !op_parent(op) ? op : op_parent(op);
        for (uint32_t r = 0; r < op->region_count; r++)
            flow_into_region(l, pairs, captures, 0, &op->regions[r], 0);
        return;
    }
    case OP_nvws_aref_create:
        for (uint32_t i = 0; i < op->operand_count && op->result_count; i++)
            flow(l, pairs, op->operands[i], &op->results[0]);
        return;
    default:
        flow_of_view(l, op, pairs);
        if (op->row->traits & TERMINATOR)
            flow_out(l, op, pairs);
    }
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
            const Block *from = l->block_list[previous];
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
    const Value *value = l->names[number];
    Lifetime life = {NOWHERE, 0};
    uint32_t first = l->uses.first[number], end = l->uses.first[number + 1];
    const Op *definer = value->is_result ? value->owner : NULL;
    const Block *home = definer ? definer->block : value->owner;
    if (!definer && first == end) /* nobody ever sees it */
        return life;
    uint32_t start = definer ? lifetime_number(l, definer) : home->first ? lifetime_number(l, home->first) : NOWHERE;
    extend(&life, start, start);
    l->stamp++;
    for (uint32_t i = first; i < end; i++) {
        const Op *user = l->users[l->uses.items[i]];
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
        uint32_t block = number_in(l->blocks, l->block_count, op->block);
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

static int by_time(const void *a, const void *b) {
    const Ranked *x = a, *y = b;
    return x->time != y->time ? (x->time > y->time) - (x->time < y->time)
                              : (x->value > y->value) - (x->value < y->value);
}

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
    l->users = ARENA_ARRAY(arena, const Op *, l->op_count);
    for (uint32_t i = 0; i < l->op_count; i++)
        l->users[l->ops[i].number] = l->ops[i].thing;
    l->block_times = ARENA_ARRAY(arena, Lifetime, l->block_count + 1);
    for (uint32_t i = 0; i < l->block_count; i++) {
        const Block *block = l->block_list[i];
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
    return l;
}

Lifetime lifetime_of(const Lifetimes *l, const Value *value) {
    uint32_t number = value_number(l, value);
    Lifetime whole = {0, l->op_count};
    return number != NOWHERE && l->lives[number].begin < l->lives[number].end ? l->lives[number] : whole;
}
