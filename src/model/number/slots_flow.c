/* The loops of a function: scf.for and scf.while, and those that branches make, found by dominance. What loops carry
 * from one iteration to the next looks the same for both. */
#include "model/number/slots_internal.h"

/* ---- What is remembered --------------------------------------------------------------------------------------------
 */

static uint32_t place_of(const Slots *slots, uint32_t kind, const void *a, const void *b) {
    uint64_t hash = map_mix(map_seed ^ (uintptr_t)a, ((uint64_t)kind << 48 | 1) ^ (uintptr_t)b);
    uint32_t i = (uint32_t)(hash ^ hash >> 32) & (slots->capacity - 1);
    for (;; i = (i + 1) & (slots->capacity - 1)) {
        const SlotsEntry *entry = &slots->entries[i];
        if (!entry->value || (entry->kind == kind && entry->a == a && entry->b == b))
            return i;
    }
}

void *slots_get(const Slots *slots, uint32_t kind, const void *a, const void *b) {
    return slots->entries[place_of(slots, kind, a, b)].value;
}

static void grow(Slots *slots) {
    SlotsEntry *old = slots->entries;
    uint32_t count = slots->capacity;
    slots->capacity = count ? count * 2 : 64;
    slots->entries = ARENA_ARRAY(&slots->module->arena, SlotsEntry, slots->capacity);
    for (uint32_t i = 0; i < count; i++)
        if (old[i].value)
            slots->entries[place_of(slots, old[i].kind, old[i].a, old[i].b)] = old[i];
}

void slots_put(Slots *slots, uint32_t kind, const void *a, const void *b, void *value) {
    if (slots->count >= slots->capacity / 2)
        grow(slots);
    uint32_t at = place_of(slots, kind, a, b);
    slots->count += !slots->entries[at].value;
    slots->entries[at] = (SlotsEntry){kind, a, b, value};
}

/* ---- Branches ------------------------------------------------------------------------------------------------------
 */

typedef struct Edge {
    const Block *from;
    uint32_t successor; /* of the branch at its end */
    bool back;          /* it leads to a block that it can only come from */
} Edge;

/* The blocks of a region. Those that control never comes to have no number. */
typedef struct Flow {
    const Region *region;
    uint32_t reached;
    const Block **in_order; /* by their number: before what they lead to, but for back edges */
    uint32_t *number;       /* by Block.order; UNREACHED */
    uint32_t *dominator;    /* by number: the nearest block that control must have come through */
    uint32_t *first_edge;   /* by Block.order: where the edges that lead to it begin; one more at the end */
    Edge *edges;
    Loop **loops; /* by Block.order: the innermost that holds it, of those that branches make */
    uint64_t work;
} Flow;

enum { UNREACHED = UINT32_MAX };
/* A file of hostile branches costs no more than this; it is then taken for one that is not understood. */
#define MOST_WORK (UINT64_C(1) << 22)

static Block *successor(const Block *block, uint32_t i) {
    return block->last->extra->successors[i];
}

static uint32_t successor_count(const Block *block) {
    return block->last ? op_successor_count(block->last) : 0;
}

/* False if a block ends in an op that is not known: it may lead anywhere. */
static bool ends_are_known(const Region *region) {
    for (const Block *block = region->first; block; block = block->next) {
        if (!block->last || !block->last->row || block->last->form == FORM_OPAQUE)
            return false;
        for (uint32_t i = 0; i < successor_count(block); i++)
            if (successor(block, i)->region != region || successor(block, i) == region->first)
                return false;
    }
    return true;
}

/* Numbers the blocks, the last to be left first. */
static void number_blocks(Slots *slots, Flow *flow) {
    uint32_t count = flow->region->block_count, depth = 0, left = count;
    const Block **path = ARENA_ARRAY(&slots->module->arena, const Block *, count);
    uint32_t *next = ARENA_ARRAY(&slots->module->arena, uint32_t, count);
    const Block **backwards = ARENA_ARRAY(&slots->module->arena, const Block *, count);
    for (uint32_t i = 0; i < count; i++)
        flow->number[i] = UNREACHED;
    path[depth++] = flow->region->first;
    flow->number[flow->region->first->order] = 0;
    while (depth) {
        const Block *block = path[depth - 1];
        if (next[depth - 1] == successor_count(block)) {
            backwards[--left] = block;
            depth--;
            continue;
        }
        const Block *to = successor(block, next[depth - 1]++);
        if (flow->number[to->order] != UNREACHED)
            continue;
        flow->number[to->order] = 0;
        next[depth] = 0;
        path[depth++] = to;
    }
    flow->reached = count - left;
    flow->in_order = backwards + left;
    for (uint32_t i = 0; i < flow->reached; i++)
        flow->number[flow->in_order[i]->order] = i;
}

static void collect_edges(Slots *slots, Flow *flow) {
    uint32_t count = flow->region->block_count;
    flow->first_edge = ARENA_ARRAY(&slots->module->arena, uint32_t, count + 1);
    for (uint32_t i = 0; i < flow->reached; i++)
        for (uint32_t s = 0; s < successor_count(flow->in_order[i]); s++)
            flow->first_edge[successor(flow->in_order[i], s)->order + 1]++;
    for (uint32_t i = 0; i < count; i++)
        flow->first_edge[i + 1] += flow->first_edge[i];
    uint32_t *filled = ARENA_ARRAY(&slots->module->arena, uint32_t, count);
    flow->edges = ARENA_ARRAY(&slots->module->arena, Edge, flow->first_edge[count]);
    for (uint32_t i = 0; i < flow->reached; i++)
        for (uint32_t s = 0; s < successor_count(flow->in_order[i]); s++) {
            uint32_t to = successor(flow->in_order[i], s)->order;
            flow->edges[flow->first_edge[to] + filled[to]++] = (Edge){.from = flow->in_order[i], .successor = s};
        }
}

/* The nearest block that dominates both. */
static uint32_t common(Flow *flow, uint32_t a, uint32_t b) {
    for (; a != b && flow->work < MOST_WORK; flow->work++) {
        if (a > b)
            a = flow->dominator[a];
        else
            b = flow->dominator[b];
    }
    return a < b ? a : b;
}

/* Cooper, Harvey and Kennedy: from the dominators of what leads to a block, until nothing changes. */
static void find_dominators(Slots *slots, Flow *flow) {
    flow->dominator = ARENA_ARRAY(&slots->module->arena, uint32_t, flow->reached);
    for (uint32_t i = 1; i < flow->reached; i++)
        flow->dominator[i] = UNREACHED;
    for (bool changed = true; changed && flow->work < MOST_WORK;) {
        changed = false;
        for (uint32_t i = 1; i < flow->reached; i++) {
            uint32_t order = flow->in_order[i]->order, found = UNREACHED;
            for (uint32_t e = flow->first_edge[order]; e < flow->first_edge[order + 1]; e++, flow->work++) {
                uint32_t from = flow->number[flow->edges[e].from->order];
                if (flow->dominator[from] != UNREACHED)
                    found = found == UNREACHED ? from : common(flow, found, from);
            }
            changed |= flow->dominator[i] != found;
            flow->dominator[i] = found;
        }
    }
}

static bool dominates(Flow *flow, uint32_t above, uint32_t below) {
    for (; below > above && flow->work < MOST_WORK; flow->work++)
        below = flow->dominator[below];
    return below == above;
}

/* False if an edge goes back to a block that can also be passed by: a loop with two entries. */
static bool mark_back_edges(Flow *flow) {
    for (uint32_t i = 0; i < flow->reached; i++) {
        uint32_t order = flow->in_order[i]->order;
        for (uint32_t e = flow->first_edge[order]; e < flow->first_edge[order + 1]; e++) {
            uint32_t from = flow->number[flow->edges[e].from->order];
            if (from < i)
                continue;
            if (!dominates(flow, i, from))
                return false;
            flow->edges[e].back = true;
        }
    }
    return flow->work < MOST_WORK;
}

/* All blocks that lead back to the header without passing it, and the loops found before that are among them. */
static void fill_loop(Flow *flow, Loop *loop, const Block **todo) {
    uint32_t count = 0, order = loop->header->order;
    for (uint32_t e = flow->first_edge[order]; e < flow->first_edge[order + 1]; e++)
        if (flow->edges[e].back)
            todo[count++] = flow->edges[e].from;
    flow->loops[order] = loop;
    while (count) {
        const Block *block = todo[--count];
        Loop *inner = flow->loops[block->order];
        for (; inner && inner->outer && flow->work < MOST_WORK; flow->work++)
            inner = (Loop *)inner->outer;
        if (flow->work >= MOST_WORK)
            return;
        if (inner == loop)
            continue;
        if (inner) {
            inner->outer = loop;
            block = inner->header;
        } else {
            flow->loops[block->order] = loop;
        }
        for (uint32_t e = flow->first_edge[block->order]; e < flow->first_edge[block->order + 1]; e++)
            if (!flow->edges[e].back)
                todo[count++] = flow->edges[e].from;
    }
}

static void find_loops(Slots *slots, Flow *flow, const Loop *around) {
    uint32_t edges = flow->first_edge[flow->region->block_count];
    const Block **todo = ARENA_ARRAY(&slots->module->arena, const Block *, 2 * (size_t)edges + 1);
    flow->loops = ARENA_ARRAY(&slots->module->arena, Loop *, flow->region->block_count);
    for (uint32_t i = flow->reached; i-- > 0;) { /* inner loops are entered after the outer ones */
        const Block *header = flow->in_order[i];
        bool any = false;
        for (uint32_t e = flow->first_edge[header->order]; e < flow->first_edge[header->order + 1]; e++)
            any |= flow->edges[e].back;
        if (!any)
            continue;
        Loop *loop = ARENA_NEW(&slots->module->arena, Loop);
        loop->header = header;
        fill_loop(flow, loop, todo);
    }
    for (uint32_t i = 0; i < flow->reached; i++) {
        Loop *loop = flow->loops[flow->in_order[i]->order];
        if (!loop || loop->header != flow->in_order[i])
            continue;
        if (!loop->outer)
            loop->outer = around;
        loop->depth = loop->outer ? loop->outer->depth + 1 : 1;
    }
}

static bool add_flow(Slots *slots, const Region *region) {
    if (!ends_are_known(region))
        return false;
    Flow *flow = ARENA_NEW(&slots->module->arena, Flow);
    flow->region = region;
    flow->number = ARENA_ARRAY(&slots->module->arena, uint32_t, region->block_count);
    number_blocks(slots, flow);
    collect_edges(slots, flow);
    find_dominators(slots, flow);
    if (!mark_back_edges(flow))
        return false;
    const Op *op = region->op;
    const Loop *around = !op || op == slots->function ? NULL : loop_of(slots, op);
    if (!around && op && op != slots->function && op->block)
        around = loop_around(slots, op->block);
    find_loops(slots, flow, around);
    slots_put(slots, KEY_FLOW, region, NULL, flow);
    return flow->work < MOST_WORK;
}

Slots *slots_of(Module *module, const Op *function) {
    Slots *slots = ARENA_NEW(&module->arena, Slots);
    slots->module = module;
    slots->function = function;
    grow(slots);
    for (const Op *op = function; op && !slots->irreducible; op = op_next_in_walk(op, function))
        for (uint32_t i = 0; i < op->region_count && !slots->irreducible; i++)
            if (op->regions[i].block_count > 1)
                slots->irreducible = !add_flow(slots, &op->regions[i]);
    return slots;
}

static const Flow *flow_of(const Slots *slots, const Block *block) {
    return block->region->block_count > 1 ? slots_get(slots, KEY_FLOW, block->region, NULL) : NULL;
}

/* ---- Loops ---------------------------------------------------------------------------------------------------------
 */

static bool is_op(const Op *op, OpId id) {
    return op && op->row && op->row->id == id;
}

static const Loop *structured_loop(Slots *slots, const Op *op) {
    Loop *loop = slots_get(slots, KEY_LOOP, op, NULL);
    if (loop)
        return loop;
    loop = ARENA_NEW(&slots->module->arena, Loop);
    loop->op = op;
    loop->outer = op->block ? loop_around(slots, op->block) : NULL;
    loop->depth = loop->outer ? loop->outer->depth + 1 : 1;
    slots_put(slots, KEY_LOOP, op, NULL, loop);
    return loop;
}

const Loop *loop_around(Slots *slots, const Block *block) {
    while (block) {
        const Flow *flow = flow_of(slots, block);
        if (flow && flow->loops[block->order])
            return flow->loops[block->order];
        const Op *op = block->region->op;
        if (!op || op == slots->function)
            return NULL;
        if (is_op(op, OP_scf_for) || is_op(op, OP_scf_while))
            return structured_loop(slots, op);
        block = op->block;
    }
    return NULL;
}

const Loop *loop_of(Slots *slots, const Op *op) {
    if (is_op(op, OP_scf_for) || is_op(op, OP_scf_while))
        return structured_loop(slots, op);
    const Flow *flow = op->block && op == op->block->last ? flow_of(slots, op->block) : NULL;
    const Loop *found = NULL, *around = flow ? flow->loops[op->block->order] : NULL;
    for (uint32_t i = 0; around && i < op_successor_count(op); i++) {
        const Block *to = op->extra->successors[i];
        const Loop *loop = flow->loops[to->order];
        if (!loop || loop->header != to || !loop_holds(loop, around))
            continue;
        if (found && found != loop) /* it goes back to two loops: which one is not said */
            return NULL;
        found = loop;
    }
    return found;
}

bool loop_holds(const Loop *outer, const Loop *inner) {
    while (inner && inner->depth > outer->depth)
        inner = inner->outer;
    return inner == outer;
}

uint32_t loop_line(const Slots *slots, const Loop *loop) {
    return source_place(slots->module->source, loop->op ? loop->op->offset : loop->header->offset).line;
}

const Block *block_of(const Value *value) {
    return value->is_result ? ((const Op *)value->owner)->block : value->owner;
}

/* ---- What is handed on ---------------------------------------------------------------------------------------------
 */

/* What an edge hands to an argument of the block that it leads to; NULL if that is not known. */
static const Value *handed_by(const Edge *edge, uint32_t argument) {
    const Op *branch = edge->from->last;
    if (!is_op(branch, OP_cf_br) && !is_op(branch, OP_cf_cond_br) && !is_op(branch, OP_cf_switch))
        return NULL;
    size_t first = is_op(branch, OP_cf_br) ? 0 : 1, total = first;
    for (uint32_t i = 0; i < op_successor_count(branch); i++) {
        first += i < edge->successor ? branch->extra->successors[i]->arg_count : 0;
        total += branch->extra->successors[i]->arg_count;
    }
    return total == branch->operand_count ? branch->operands[first + argument] : NULL;
}

static bool add_way(const Value **values, unsigned *count, const Value *value) {
    if (!value || *count == MOST_WAYS)
        return false;
    values[(*count)++] = value;
    return true;
}

static bool carried_by_branches(const Flow *flow, const Value *argument, Circulating *carried) {
    const Block *block = argument->owner;
    const Loop *loop = flow->loops[block->order];
    if (!loop || loop->header != block)
        return false;
    *carried = (Circulating){.loop = loop};
    for (uint32_t e = flow->first_edge[block->order]; e < flow->first_edge[block->order + 1]; e++) {
        const Value *value = handed_by(&flow->edges[e], argument->index);
        bool added = flow->edges[e].back ? add_way(carried->next, &carried->next_count, value)
                                         : add_way(carried->first, &carried->first_count, value);
        if (!added)
            return false;
    }
    return carried->first_count && carried->next_count;
}

bool circulating_of(Slots *slots, const Value *argument, Circulating *carried) {
    if (argument->is_result)
        return false;
    const Block *block = argument->owner;
    const Flow *flow = flow_of(slots, block);
    if (flow)
        return carried_by_branches(flow, argument, carried);
    const Op *op = block->region->op;
    bool counts = is_op(op, OP_scf_for);
    if ((!counts && !is_op(op, OP_scf_while)) || block->region != &op->regions[0] || argument->index < counts)
        return false;
    uint32_t index = argument->index - counts, operand = index + (counts ? 3 : 0);
    const Value *next = handed_over(op, counts ? 0 : 1, index);
    if (operand >= op->operand_count || !next)
        return false;
    *carried = (Circulating){structured_loop(slots, op), {op->operands[operand]}, {next}, 1, 1};
    return true;
}

unsigned merged_of(Slots *slots, const Value *argument, const Value *values[MOST_WAYS]) {
    const Block *block = argument->owner;
    const Flow *flow = argument->is_result ? NULL : flow_of(slots, block);
    if (!flow || (flow->loops[block->order] && flow->loops[block->order]->header == block))
        return 0;
    unsigned count = 0;
    for (uint32_t e = flow->first_edge[block->order]; e < flow->first_edge[block->order + 1]; e++)
        if (!add_way(values, &count, handed_by(&flow->edges[e], argument->index)))
            return 0;
    return count;
}

const Value *captured(const Value *argument) {
    const Block *block = argument->owner;
    const Op *op = block->region->op;
    if (!is_op(op, OP_ttg_warp_specialize_partitions) || block != block->region->first)
        return NULL;
    const Op *holder = op->operand_count ? op : op_parent(op);
    return holder && argument->index < holder->operand_count ? holder->operands[argument->index] : NULL;
}

const Value *copied_from(Slots *slots, const Value *value) {
    if (value->is_result) {
        const Op *op = value->owner;
        bool once = is_op(op, OP_scf_execute_region) || is_op(op, OP_ttg_warp_specialize);
        return once ? handed_over(op, 0, value->index) : NULL;
    }
    const Value *before = captured(value), *values[MOST_WAYS];
    if (before)
        return before;
    const Block *block = value->owner;
    const Op *op = block->region->op;
    if (is_op(op, OP_scf_while) && op->region_count > 1 && block == op->regions[1].first)
        return handed_over(op, 0, value->index);
    return merged_of(slots, value, values) == 1 ? values[0] : NULL;
}

const Value *last_of(const Value *result) {
    const Op *op = made_by(result, OP_scf_while);
    if (op)
        return handed_over(op, 0, result->index);
    op = made_by(result, OP_scf_for);
    const Block *body = op && op->region_count ? op->regions[0].first : NULL;
    return body && result->index + 1 < body->arg_count ? &body->args[result->index + 1] : NULL;
}

/* ---- Values --------------------------------------------------------------------------------------------------------
 */

const Op *made_by(const Value *value, OpId id) {
    const Op *op = value && value->is_result ? value->owner : NULL;
    return is_op(op, id) && op->form != FORM_OPAQUE ? op : NULL;
}

bool number_of(const Value *value, int64_t *number) {
    const Op *op = made_by(value, OP_arith_constant);
    const Attr *attr = op ? op_attr(op, "value") : NULL;
    if (!attr || (attr->kind != ATTR_INTEGER && attr->kind != ATTR_BOOL) || !attr->exact)
        return false;
    *number = attr->kind == ATTR_BOOL || (attr->type && attr->type->width == 1) ? attr->integer != 0 : attr->integer;
    return true;
}

unsigned width_of(Slots *slots, const Value *value) {
    const Type *type = value->type ? type_resolve(slots->module, value->type) : NULL;
    if (!type || (type->kind != TYPE_INTEGER && type->kind != TYPE_INDEX))
        return 0;
    return type->kind == TYPE_INDEX ? 64 : type->width;
}

const Value *split_sum(const Value *value, int64_t *add) {
    enum { MOST_TERMS = 16 };
    *add = 0;
    for (int term = 0; term < MOST_TERMS; term++) {
        const Op *sum = made_by(value, OP_arith_addi), *op = sum ? sum : made_by(value, OP_arith_subi);
        int64_t number, total;
        if (!op || op->operand_count != 2)
            break;
        bool left = sum && number_of(op->operands[0], &number);
        if ((!left && !number_of(op->operands[1], &number)) || number == INT64_MIN ||
            __builtin_add_overflow(*add, sum ? number : -number, &total))
            break;
        *add = total;
        value = op->operands[left ? 1 : 0];
    }
    return value;
}

bool comparison_of(const Value *condition, Comparison *comparison) {
    static const char *const words[] = {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"};
    const Op *op = made_by(condition, OP_arith_cmpi);
    const Attr *attr = op && op->operand_count == 2 ? op_attr(op, "predicate") : NULL;
    for (size_t i = 0; attr && i < sizeof words / sizeof *words; i++)
        if (attr->kind == ATTR_INTEGER ? attr->integer == (int64_t)i : str_is(attr->text, words[i])) {
            *comparison = (Comparison){op->operands[0], op->operands[1], (Predicate)i};
            return true;
        }
    return false;
}
