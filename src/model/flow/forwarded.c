/* Values under other names, kind by kind of control flow. */
#include "model/flow/forwarded.h"

/* ---- Ends and loops --------------------------------------------------------------------------------- */

static const Block *entry_of(const Op *op, uint32_t region) {
    return op && region < op->region_count ? op->regions[region].first : NULL;
}

const Op *region_end(const Op *op, uint32_t region) {
    const Block *block = entry_of(op, region);
    return block ? block->last : NULL;
}

/* What an op at the end of a region hands over: all its operands but a condition. */
static Value **forwarded_values(const Op *end, uint32_t *count) {
    uint32_t skip = end && end->operand_count && op_is_control(end, CONTROL_CONDITION);
    *count = end ? end->operand_count - skip : 0;
    return *count ? end->operands + skip : NULL;
}

const Value *forwarded_over(const Op *op, uint32_t region, uint32_t index) {
    const Region *from = region < op->region_count ? &op->regions[region] : NULL;
    const Op *end = from && from->block_count == 1 ? from->first->last : NULL;
    uint32_t count;
    Value **values = forwarded_values(end && end->row ? end : NULL, &count);
    return index < count ? values[index] : NULL;
}

bool choice_of(const Value *value, Choice *choice) {
    const Op *op = value_made(value, EVALUATE_SELECT);
    if (op && op->operand_count == 3) {
        *choice = (Choice){op->operands[0], op->operands[1], op->operands[2]};
        return true;
    }
    op = value_op(value);
    if (!op_is_control(op, CONTROL_BRANCH) || !op->operand_count)
        return false;
    *choice = (Choice){op_operand_of(op, op->row->control.condition), forwarded_over(op, 0, value->index),
                       forwarded_over(op, 1, value->index)};
    return choice->yes && choice->no;
}

bool chooses_whole(const Op *op) {
    const Type *condition =
        op_evaluator(op) == EVALUATE_SELECT && op->operand_count == 3 ? op->operands[0]->type : NULL;
    return condition && condition->kind == TYPE_INTEGER;
}

const Op *captures_of(const Op *partitions) {
    return partitions->operand_count ? partitions : op_parent(partitions);
}

const Op *counted_by(const Value *value) {
    const Op *op = value_holder(value);
    return op_is_control(op, CONTROL_LOOP) && value->index == 0 ? op : NULL;
}

/* The operand of an entry, if there is one and no more. */
static const Value *only(const Op *op, SlotRef entry) {
    uint32_t count;
    Value **values = op_operands_of(op, entry, &count);
    return count == 1 ? values[0] : NULL;
}

bool loop_bounds(const Op *loop, Bounds *bounds) {
    if (!op_is_control(loop, CONTROL_LOOP))
        return false;
    const ControlColumn *control = &loop->row->control;
    *bounds = (Bounds){only(loop, control->from), only(loop, control->to), only(loop, control->step)};
    return bounds->from && bounds->to && bounds->step;
}

bool loop_carries(const Op *loop, uint32_t index, Carried *carried) {
    if (!op_is_loop(loop))
        return false;
    bool counts = op_is_control(loop, CONTROL_LOOP);
    const Block *body = entry_of(loop, 0);
    const Value *next = forwarded_over(loop, counts ? 0 : 1, index);
    uint32_t count;
    Value **first = op_operands_of(loop, loop->row->control.carries, &count);
    if (!body || index + counts >= body->arg_count || index >= count || !next)
        return false;
    *carried = (Carried){loop, index, first[index], &body->args[index + counts], next};
    return true;
}

bool carried_of(const Value *value, Carried *carried) {
    const Op *op = value_op(value);
    if (op)
        return op_is_control(op, CONTROL_LOOP) && loop_carries(op, value->index, carried);
    op = value_holder(value);
    if (!op_is_loop(op) || ((const Block *)value->owner)->region != &op->regions[0])
        return false;
    bool counts = op_is_control(op, CONTROL_LOOP);
    return value->index >= counts && loop_carries(op, value->index - counts, carried);
}

/* ---- Handing on ------------------------------------------------------------------------------------- */

typedef struct Hands {
    HandOn *hand_on;
    void *context;
    const Value *only; /* NULL: all; else what becomes of this one name */
} Hands;

static void hand(const Hands *hands, Forwarded how, const Value *from, const Value *to) {
    if (!hands->only || hands->only == to)
        hands->hand_on(hands->context, how, from, to);
}

/* From each of `from` to the one of `to` at the same place. */
static void hand_all(const Hands *hands, Forwarded how, Value *const *from, uint32_t from_count, Value *to,
                     uint32_t to_count) {
    uint32_t first = 0, end = from_count < to_count ? from_count : to_count;
    if (hands->only) { /* just the place of that one */
        if (hands->only < to || hands->only >= to + end)
            return;
        first = (uint32_t)(hands->only - to);
        end = first + 1;
    }
    for (uint32_t i = first; i < end; i++)
        hands->hand_on(hands->context, how, from[i], &to[i]);
}

static void hand_round(const Hands *hands, const Op *op) {
    const Block *body = entry_of(op, 0);
    if (!body || !body->arg_count)
        return;
    Value *args = body->args + 1;
    uint32_t count = body->arg_count - 1, carried, forwarded;
    Value **first = op_operands_of(op, op->row->control.carries, &carried),
          **next = forwarded_values(body->last, &forwarded);
    hand_all(hands, FORWARDED_IN, first, carried, args, count);
    hand_all(hands, FORWARDED_ROUND, next, forwarded, args, count);
    for (uint32_t i = 0; i < count && i < op->result_count; i++)
        hand(hands, FORWARDED_OUT, &args[i], &op->results[i]);
}

static void hand_round_while(const Hands *hands, const Op *op) {
    const Block *before = entry_of(op, 0), *after = entry_of(op, 1);
    if (!before || !after)
        return;
    uint32_t carried, forwarded;
    Value **first = op_operands_of(op, op->row->control.carries, &carried), **values;
    hand_all(hands, FORWARDED_IN, first, carried, before->args, before->arg_count);
    if (op_is_control(before->last, CONTROL_CONDITION)) {
        values = forwarded_values(before->last, &forwarded);
        hand_all(hands, FORWARDED_ACROSS, values, forwarded, after->args, after->arg_count);
        hand_all(hands, FORWARDED_OUT, values, forwarded, op->results, op->result_count);
    }
    values = forwarded_values(after->last, &forwarded);
    hand_all(hands, FORWARDED_ROUND, values, forwarded, before->args, before->arg_count);
}

/* What regions hand over at their ends becomes the op's results. */
static void hand_results(const Hands *hands, const Op *op) {
    for (uint32_t r = 0; r < op->region_count && op->result_count; r++)
        for (const Block *block = op->regions[r].first; block; block = block->next)
            if (op_is_terminator(block->last) && !op_successor_count(block->last) &&
                !op_is_control(block->last, CONTROL_PARTITIONS))
                hand_all(hands, FORWARDED_OVER, block->last->operands, block->last->operand_count, op->results,
                         op->result_count);
}

static void hand_captures(const Hands *hands, const Op *op) {
    const Op *holder = captures_of(op);
    for (uint32_t r = 0; holder && r < op->region_count; r++) {
        const Block *body = entry_of(op, r);
        if (body)
            hand_all(hands, FORWARDED_CAPTURE, holder->operands, holder->operand_count, body->args, body->arg_count);
    }
}

static void hand_branches(const Hands *hands, const Op *op) {
    const ControlColumn *control = &op->row->control;
    uint32_t first = control->condition.column != REF_NONE || control->number.column != REF_NONE;
    for (uint32_t s = 0; s < op_successor_count(op) && first <= op->operand_count; s++) {
        const Block *to = op->extra->successors[s];
        if (first < op->operand_count)
            hand_all(hands, FORWARDED_BRANCH, op->operands + first, op->operand_count - first, to->args, to->arg_count);
        first += to->arg_count;
    }
}

/* Argument j of each tile is one of the operands from j * tiles on. */
static void hand_subtiles(const Hands *hands, const Op *op) {
    const Attr *attr = op_attr(op, "numTiles");
    uint32_t per_tile, shared;
    Value **first = op_operands_at(op, 0, &per_tile), **others = op_operands_at(op, 1, &shared);
    const Block *body = entry_of(op, 0);
    if (!body || !attr || attr->kind != ATTR_INTEGER || attr->integer < 1 || attr->integer > per_tile + INT64_C(1))
        return;
    uint32_t tiles = (uint32_t)attr->integer;
    for (uint32_t i = 0; first && i < per_tile && i / tiles < body->arg_count; i++)
        hand(hands, FORWARDED_TILE, first[i], &body->args[i / tiles]);
    uint32_t from = per_tile / tiles;
    if (others && from < body->arg_count)
        hand_all(hands, FORWARDED_TILE, others, shared, body->args + from, body->arg_count - from);
}

static bool hands_on(const Hands *hands, const Op *op) {
    switch (op_control(op)) {
    case CONTROL_LOOP:
        hand_round(hands, op);
        return true;
    case CONTROL_WHILE:
        hand_round_while(hands, op);
        return true;
    case CONTROL_BRANCH:
    case CONTROL_SWITCH:
    case CONTROL_ONCE:
    case CONTROL_GUARD:
    case CONTROL_FORK:
    case CONTROL_GROUPS:
        hand_results(hands, op);
        return true;
    case CONTROL_PARTITIONS:
        hand_captures(hands, op);
        return true;
    case CONTROL_JUMP:
        hand_branches(hands, op);
        return true;
    case CONTROL_TILES:
        hand_subtiles(hands, op);
        return true;
    default:
        if (op_evaluator(op) != EVALUATE_SELECT)
            return false;
        for (uint32_t i = 1; i < op->operand_count && op->result_count; i++)
            hand(hands, FORWARDED_CHOICE, op->operands[i], &op->results[0]);
        return true;
    }
}

bool op_hands_on(const Op *op, HandOn *hand_on, void *context) {
    return hands_on(&(Hands){hand_on, context, NULL}, op);
}

/* ---- Backward --------------------------------------------------------------------------------------- */

typedef struct ForwardedCounting {
    HandOn *hand_on;
    void *context;
    uint32_t count;
} ForwardedCounting;

static void count_hand(void *context, Forwarded how, const Value *from, const Value *to) {
    ForwardedCounting *counting = context;
    counting->count++;
    counting->hand_on(counting->context, how, from, to);
}

bool value_sources(const Value *value, HandOn *hand_on, void *context) {
    ForwardedCounting counting = {hand_on, context, 0};
    Hands hands = {count_hand, &counting, value};
    const Op *op = value_op(value);
    op = op ? op : value_holder(value);
    if (op) {
        hands_on(&hands, op);
    } else if (!value->is_result) { /* of a block that is branched to */
        const Block *block = value->owner;
        for (const Block *from = block->region->first; from; from = from->next)
            if (op_is_control(from->last, CONTROL_JUMP))
                hand_branches(&hands, from->last);
    }
    return counting.count > 0;
}

void value_walk_to(ValueWalk *walk, const Value *value) {
    if (!value || value_walk_has(walk, value))
        return;
    pointers_set(&walk->seen, value, 0);
    *ARENA_PUSH(walk->seen.arena, walk->items, walk->count, walk->capacity) = value;
}

static void walk_source(void *walk, Forwarded how, const Value *from, const Value *to) {
    (void)how;
    (void)to;
    value_walk_to(walk, from);
}

bool value_walk_sources(ValueWalk *walk, const Value *value) {
    return value_sources(value, walk_source, walk);
}

typedef struct First {
    bool any;
    Forwarded how;
    const Value *found;
} First;

static void take_first(void *context, Forwarded how, const Value *from, const Value *to) {
    (void)to;
    First *first = context;
    if (!first->found && (first->any || first->how == how))
        first->found = from;
}

const Value *value_forwarded(const Value *value, Forwarded how) {
    First first = {.how = how};
    value_sources(value, take_first, &first);
    return first.found;
}

const Value *value_source(const Value *value) {
    First first = {.any = true};
    value_sources(value, take_first, &first);
    return first.found;
}

typedef struct Only {
    const Value *found;
    bool several;
} Only;

static void take_only(void *context, Forwarded how, const Value *from, const Value *to) {
    (void)how;
    Only *only = context;
    if (from == to)
        return;
    only->several |= only->found && only->found != from;
    only->found = from;
}

const Value *value_always(const Value *value) {
    Only only = {0};
    value_sources(value, take_only, &only);
    return only.several ? NULL : only.found;
}
