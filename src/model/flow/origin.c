/* Collects the steps by which memory goes from one name to another, and lets the allocations run along them. */
#include "model/flow/origin.h"

#include <stdlib.h>

#include "base/order.h"
#include "model/effect/effect.h"
#include "model/flow/forwarded.h"

typedef struct OriginNode {
    const Value *value;
    uint32_t items[ORIGINS_MOST];
    uint32_t count;
    bool anything, queued, has_source;
    uint32_t first_step, step_count; /* to others */
} OriginNode;

typedef struct OriginStep {
    uint32_t from, to;
} OriginStep;

typedef struct OriginSearch {
    Module *module;
    Arena *arena;
    const Op *function;
    Origins found;
    uint32_t node_count, node_capacity, item_capacity;
    OriginStep *steps;
    uint32_t step_count, step_capacity;
    uint32_t *targets;
    bool up_to_views; /* what an op makes is not looked through */
} OriginSearch;

/* Whether it may be a name for memory: a descriptor, an aref, or of a type that is not known. */
static bool is_memory(OriginSearch *search, const Value *value) {
    const Type *type = value->type ? type_canonical(search->module, value->type) : NULL;
    if (!type)
        return true;
    return type->kind == TYPE_DIALECT && !type_is(type, STR("tt.ptr")) && !type_is_descriptor(type) &&
           !type_is(type, STR("ttg.async.token"));
}

static uint32_t node_of(OriginSearch *search, const Value *value) {
    uint32_t node = pointers_get(&search->found.values, value);
    if (node != NO_NUMBER)
        return node;
    node = search->node_count;
    ARENA_PUSH(search->arena, search->found.nodes, search->node_count, search->node_capacity)->value = value;
    pointers_set(&search->found.values, value, node);
    return node;
}

static void add_step(OriginSearch *search, const Value *from, const Value *to) {
    if (!from || !to || !is_memory(search, to))
        return;
    OriginStep step = {node_of(search, from), node_of(search, to)};
    *ARENA_PUSH(search->arena, search->steps, search->step_count, search->step_capacity) = step;
    search->found.nodes[step.from].step_count++;
    search->found.nodes[step.to].has_source = true;
}

static void add_origin(OriginSearch *search, const Value *value, Origin origin) {
    Origins *found = &search->found;
    uint32_t node = node_of(search, value);
    if (found->nodes[node].count) /* it is one already */
        return;
    origin.value = value;
    found->nodes[node].items[found->nodes[node].count++] = found->count;
    *ARENA_PUSH(search->arena, found->items, found->count, search->item_capacity) = origin;
    found->nodes[node].has_source = true;
}

/* ---- The steps of one op --------------------------------------------------------------------------------------- */

/* Result j is a slot of buffer j of the aref; of any of its buffers, if that cannot be seen. */
static void add_aref_view(OriginSearch *search, const Op *op) {
    const Op *create = op->operand_count ? origin_of(search->module, op->operands[0]) : NULL;
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (op_is(create, CLASS_AREF) && i < create->operand_count)
            add_step(search, create->operands[i], &op->results[i]);
        else if (op->operand_count)
            add_step(search, op->operands[0], &op->results[i]);
    }
}

static void add_effects(OriginSearch *search, const Op *op) {
    Effect effects[EFFECTS_MOST];
    unsigned count = op->result_count ? effects_of(search->module, op, effects) : 0;
    bool view = false;
    for (unsigned i = 0; i < count; i++)
        if (effects[i].verb == EFFECT_VIEW) {
            add_step(search, effects[i].amount, effects[i].on);
            view = true;
        }
    for (unsigned i = 0; i < count && !view; i++)
        if (effects[i].verb == EFFECT_ALLOCATE && is_memory(search, effects[i].on))
            add_origin(search, effects[i].on, (Origin){.op = op});
    if (op_is(op, CLASS_AREF)) /* one effect stands for all its buffers */
        for (uint32_t i = 1; i < op->operand_count && op->result_count; i++)
            add_step(search, op->operands[i], &op->results[0]);
}

static void hand_on(void *search, Forwarded how, const Value *from, const Value *to) {
    (void)how;
    add_step(search, from, to);
}

static void add_made(OriginSearch *search, const Op *op) {
    for (uint32_t i = 0; i < op->result_count; i++)
        if (is_memory(search, &op->results[i]))
            add_origin(search, &op->results[i], (Origin){.op = op});
}

static void add_op(OriginSearch *search, const Op *op) {
    if (op_hands_on(op, hand_on, search))
        return;
    if (search->up_to_views) {
        add_made(search, op);
        return;
    }
    bool same = op_is(op, CLASS_WGMMA_WAIT) || op_evaluator(op) == EVALUATE_SAME;
    for (uint32_t i = 0; same && i < op->operand_count && i < op->result_count; i++)
        add_step(search, op->operands[i], &op->results[i]);
    if (op_is(op, CLASS_AREF_ENTER))
        add_aref_view(search, op);
    else if (!same)
        add_effects(search, op);
}

/* ---- The search ------------------------------------------------------------------------------------------------ */

/* Puts the steps of each node beside each other. */
static void order_steps(OriginSearch *search) {
    uint32_t at = 0;
    search->targets = ARENA_ARRAY(search->arena, uint32_t, search->step_count + 1);
    for (uint32_t i = 0; i < search->node_count; i++) {
        OriginNode *node = &search->found.nodes[i];
        node->first_step = at;
        at += node->step_count;
        node->step_count = 0;
    }
    for (uint32_t i = 0; i < search->step_count; i++) {
        OriginNode *from = &search->found.nodes[search->steps[i].from];
        search->targets[from->first_step + from->step_count++] = search->steps[i].to;
    }
}

static bool has_item(const OriginNode *node, uint32_t item) {
    for (uint32_t i = 0; i < node->count; i++)
        if (node->items[i] == item)
            return true;
    return false;
}

/* Adds what `from` may be to `to`; true if that is new. */
static bool join(const OriginNode *from, OriginNode *to) {
    bool changed = from->anything && !to->anything;
    to->anything |= from->anything;
    for (uint32_t i = 0; i < from->count && !to->anything; i++) {
        if (has_item(to, from->items[i]))
            continue;
        changed = true;
        if (to->count == ORIGINS_MOST)
            to->anything = true;
        else
            to->items[to->count++] = from->items[i];
    }
    return changed;
}

static void spread(OriginSearch *search) {
    OriginNode *nodes = search->found.nodes;
    uint32_t *queue = ARENA_ARRAY(search->arena, uint32_t, search->node_count + 1);
    uint32_t head = 0, waiting = 0, capacity = search->node_count + 1;
    for (uint32_t i = 0; i < search->node_count; i++) {
        nodes[i].anything |= !nodes[i].has_source; /* what gives it is not known */
        nodes[i].queued = true;
        queue[waiting++] = i;
    }
    while (waiting) {
        OriginNode *node = &nodes[queue[head]];
        head = (head + 1) % capacity;
        waiting--;
        node->queued = false;
        for (uint32_t s = 0; s < node->step_count; s++) {
            uint32_t to = search->targets[node->first_step + s];
            if (!join(node, &nodes[to]) || nodes[to].queued)
                continue;
            nodes[to].queued = true;
            queue[(head + waiting++) % capacity] = to;
        }
    }
}

static Origins found_by(OriginSearch search) {
    const Op *function = search.function;
    search.found.values.arena = search.arena;
    const Block *entry = function->region_count ? function->regions[0].first : NULL;
    for (uint32_t i = 0; entry && i < entry->arg_count; i++)
        if (is_memory(&search, &entry->args[i]))
            add_origin(&search, &entry->args[i], (Origin){.argument = &entry->args[i]});
    for (const Op *op = op_next_in_walk(function, function); op; op = op_next_in_walk(op, function))
        add_op(&search, op);
    order_steps(&search);
    spread(&search);
    return search.found;
}

Origins origins_of(Module *module, const Op *function, Arena *arena) {
    return found_by((OriginSearch){.module = module, .arena = arena, .function = function});
}

Origins views_of(Module *module, const Op *function, Arena *arena) {
    return found_by((OriginSearch){.module = module, .arena = arena, .function = function, .up_to_views = true});
}

ORDER_NUMBERS(compare_items, uint32_t)

OriginSet origins_find(const Origins *origins, const Value *value) {
    uint32_t index = pointers_get(&origins->values, value);
    if (index == NO_NUMBER)
        return (OriginSet){.anything = true};
    OriginNode *node = &origins->nodes[index];
    qsort(node->items, node->count, sizeof *node->items, compare_items);
    return (OriginSet){node->items, node->count, node->anything};
}

/* ---- The first ------------------------------------------------------------------------------------------------- */

enum { MOST_STEPS = 256 };

/* What `value` is another name of, or a part of. */
static const Value *before(Module *module, const Value *value, bool *allocated) {
    const Value *source = value_source(value);
    const Op *op = value_op(value);
    if (source || !op || !op->row)
        return source;
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(module, op, effects);
    for (unsigned i = 0; i < count; i++)
        if (effects[i].verb == EFFECT_ALLOCATE && effects[i].on == value)
            *allocated = true;
    for (unsigned i = 0; i < count; i++)
        if (effects[i].verb == EFFECT_VIEW && effects[i].on == value)
            source = source ? source : effects[i].amount;
    return *allocated ? value : source;
}

const Op *origin_of(Module *module, const Value *value) {
    bool found = false;
    for (int step = 0; value && step < MOST_STEPS; step++) {
        value = before(module, value, &found);
        if (found)
            return value->owner;
    }
    return NULL;
}
