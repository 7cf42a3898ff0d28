/* What loops carry from one iteration to the next, which looks the same for those that are ops and for those of
 * branches, and other values that are copies. */
#include "model/number/slots_internal.h"

/* ---- What is remembered --------------------------------------------------------------------------------------------
 */

TABLE(slots_entry, SlotsTable, SlotsEntry, SlotsEntry, 64, item->value, *item,
      table_fold(map_mix(map_seed ^ (uintptr_t)key.a, ((uint64_t)key.kind << 48 | 1) ^ (uintptr_t)key.b)),
      item->kind == key.kind && item->a == key.a && item->b == key.b)

void *slots_get(const Slots *slots, uint32_t kind, const void *a, const void *b) {
    const SlotsEntry *entry = slots_entry_find(&slots->entries, (SlotsEntry){kind, a, b, NULL});
    return entry ? entry->value : NULL;
}

void slots_put(Slots *slots, uint32_t kind, const void *a, const void *b, void *value) {
    SlotsEntry entry = {kind, a, b, value};
    *slots_entry_put(&slots->module->arena, &slots->entries, entry) = entry;
}

/* ---- Branches ------------------------------------------------------------------------------------------------------
 */

/* What a branch at the end of a block hands to an argument; the last block of the text first. */
typedef struct Incoming {
    const Block *from;
    const Value *value;
    const struct Incoming *next;
} Incoming;

typedef struct Leaving {
    Slots *slots;
    const Block *block;
} Leaving;

static void add_incoming(void *context, Forwarded how, const Value *from, const Value *to) {
    (void)how;
    const Leaving *leaving = context;
    Incoming *way = ARENA_NEW(&leaving->slots->module->arena, Incoming);
    *way = (Incoming){leaving->block, from, slots_get(leaving->slots, KEY_INCOMING, to, NULL)};
    slots_put(leaving->slots, KEY_INCOMING, to, NULL, way);
}

/* Whether it is known where the op goes, and that it hands over just what is taken there. */
static bool end_is_known(const Op *end, const Region *region) {
    if (!end || !end->row || end->form == FORM_OPAQUE)
        return false;
    const ControlColumn *control = &end->row->control;
    uint32_t count = op_successor_count(end);
    size_t taken = control->condition.column != REF_NONE || control->number.column != REF_NONE;
    for (uint32_t i = 0; i < count; i++) {
        const Block *to = end->extra->successors[i];
        if (to->region != region || to == region->first)
            return false;
        taken += to->arg_count;
    }
    return !count || (op_is_control(end, CONTROL_JUMP) && taken == end->operand_count);
}

static bool add_branches(Slots *slots, const Region *region) {
    for (const Block *block = region->first; block; block = block->next) {
        if (!end_is_known(block->last, region))
            return false;
        if (op_is_control(block->last, CONTROL_JUMP))
            op_hands_on(block->last, add_incoming, &(Leaving){slots, block});
    }
    return true;
}

Slots *slots_of(Module *module, const Op *function, const Flow *flow) {
    Slots *slots = ARENA_NEW(&module->arena, Slots);
    *slots = (Slots){.module = module, .flow = flow, .irreducible = flow->irreducible};
    for (const Op *op = function; op && !slots->irreducible; op = op_next_in_walk(op, function))
        for (uint32_t i = 0; i < op->region_count && !slots->irreducible; i++)
            if (op->regions[i].block_count > 1)
                slots->irreducible = !add_branches(slots, &op->regions[i]);
    return slots;
}

/* ---- What is handed on ---------------------------------------------------------------------------------------------
 */

const FlowLoop *loop_around(const Slots *slots, const Value *value) {
    const Op *op = value_op(value);
    return flow_loop_around(slots->flow, op ? op->block : value->owner);
}

static bool add_way(const Value **values, unsigned *count, const Value *value) {
    if (*count == MOST_WAYS)
        return false;
    values[(*count)++] = value;
    return true;
}

/* The loop of branches whose first block has the argument. */
static const FlowLoop *headed_by(const Slots *slots, const Value *argument) {
    const FlowLoop *loop = flow_loop_around(slots->flow, argument->owner);
    return loop && loop->first_block == argument->owner ? loop : NULL;
}

bool circulating_of(const Slots *slots, const Value *argument, Circulating *carried) {
    Carried structured;
    if (argument->is_result)
        return false;
    if (carried_of(argument, &structured)) {
        *carried =
            (Circulating){flow_loop_of(slots->flow, structured.loop), {structured.first}, {structured.next}, 1, 1};
        return true;
    }
    const Incoming *way = slots_get(slots, KEY_INCOMING, argument, NULL);
    *carried = (Circulating){.loop = headed_by(slots, argument)};
    for (; carried->loop && way; way = way->next) {
        bool back = loop_holds(carried->loop, flow_loop_around(slots->flow, way->from));
        if (!(back ? add_way(carried->next, &carried->next_count, way->value)
                   : add_way(carried->first, &carried->first_count, way->value)))
            return false;
    }
    return carried->first_count && carried->next_count;
}

unsigned merged_of(const Slots *slots, const Value *argument, const Value *values[MOST_WAYS]) {
    if (argument->is_result || headed_by(slots, argument))
        return 0;
    unsigned count = 0;
    for (const Incoming *way = slots_get(slots, KEY_INCOMING, argument, NULL); way; way = way->next)
        if (!add_way(values, &count, way->value))
            return 0;
    return count;
}

const Value *copied_from(const Slots *slots, const Value *value) {
    const Op *op = value_op(value);
    if (op)
        return op_is_control(op, CONTROL_ONCE) || op_is_control(op, CONTROL_FORK) ? forwarded_over(op, 0, value->index)
                                                                                  : NULL;
    const Value *values[MOST_WAYS];
    if (!value_holder(value))
        return merged_of(slots, value, values) == 1 ? values[0] : NULL;
    const Value *captured = value_forwarded(value, FORWARDED_CAPTURE);
    return captured ? captured : value_forwarded(value, FORWARDED_ACROSS);
}
