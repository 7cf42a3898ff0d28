/* The backward slice: from a value to the values it is computed from, through blocks, loops, branches, calls and the
 * captures of partitions. */
#include "emulate/slice.h"

#include "ir/optable.h"
#include "model/flow/handed.h"

static size_t hash_of(const Value *value) {
    uint64_t bits = (uint64_t)(uintptr_t)value;
    return (size_t)((bits >> 4) * 0x9e3779b97f4a7c15u >> 20);
}

void slice_init(Slice *slice, Module *module) {
    *slice = (Slice){.module = module, .capacity = 1024};
    slice->table = ARENA_ARRAY(&module->arena, const Value *, slice->capacity);
}

static const Value **place_of(const Slice *slice, const Value *value) {
    size_t at = hash_of(value) & (slice->capacity - 1);
    while (slice->table[at] && slice->table[at] != value)
        at = (at + 1) & (slice->capacity - 1);
    return &slice->table[at];
}

bool slice_has(const Slice *slice, const Value *value) {
    return value && *place_of(slice, value) != NULL;
}

Slice slice_copy(const Slice *slice) {
    Slice copy = {.module = slice->module, .capacity = slice->capacity, .count = slice->count};
    copy.table = ARENA_ARRAY(&slice->module->arena, const Value *, copy.capacity);
    memcpy(copy.table, slice->table, copy.capacity * sizeof *copy.table);
    return copy;
}

static void grow(Slice *slice) {
    const Value **old = slice->table;
    size_t old_capacity = slice->capacity;
    slice->capacity *= 2;
    slice->table = ARENA_ARRAY(&slice->module->arena, const Value *, slice->capacity);
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i])
            *place_of(slice, old[i]) = old[i];
}

void slice_add(Slice *slice, const Value *value) {
    if (!value || slice_has(slice, value))
        return;
    if (slice->count * 2 >= slice->capacity)
        grow(slice);
    *place_of(slice, value) = value;
    slice->count++;
    if (slice->work_count == slice->work_capacity) {
        size_t capacity = slice->work_capacity ? slice->work_capacity * 2 : 256;
        const Value **work = ARENA_ARRAY(&slice->module->arena, const Value *, capacity);
        if (slice->work_count)
            memcpy(work, slice->work, slice->work_count * sizeof *work);
        slice->work = work;
        slice->work_capacity = capacity;
    }
    slice->work[slice->work_count++] = value;
}

static bool is(const Op *op, OpId id) {
    return op && op->row && op->row->id == id;
}

static void add_operand(Slice *slice, const Op *op, uint32_t index) {
    if (op && index < op->operand_count)
        slice_add(slice, op->operands[index]);
}

static void add_ends(Slice *slice, const Op *op, uint32_t index) {
    for (uint32_t r = 0; r < op->region_count; r++)
        for (const Block *block = op->regions[r].first; block; block = block->next)
            if (block->last && block->last->row && (block->last->row->traits & TERMINATOR) &&
                !op_successor_count(block->last))
                add_operand(slice, block->last, index);
}

static void add_returns(Slice *slice, const Op *function, uint32_t index) {
    for (const Op *op = function; op; op = op_next_in_walk(op, function))
        if (is(op, OP_tt_return) || is(op, OP_func_return))
            add_operand(slice, op, index);
}

static void from_result(Slice *slice, const Value *value) {
    const Op *op = value->owner;
    if (!op->row) {
        for (uint32_t i = 0; i < op->operand_count; i++)
            add_operand(slice, op, i);
        return;
    }
    switch (op->row->id) {
    case OP_scf_for:
        add_operand(slice, op, value->index + 3);
        add_ends(slice, op, value->index);
        if (op->region_count && op->regions[0].first && value->index + 1 < op->regions[0].first->arg_count)
            slice_add(slice, &op->regions[0].first->args[value->index + 1]);
        break;
    case OP_scf_while:
        add_operand(slice, region_end(op, 0), value->index + 1);
        break;
    case OP_scf_if:
    case OP_scf_index_switch:
    case OP_scf_execute_region:
    case OP_ttg_mask:
    case OP_nvws_warp_group:
        add_ends(slice, op, value->index);
        break;
    case OP_ttg_warp_specialize:
        add_operand(slice, region_end(op, 0), value->index);
        break;
    case OP_tt_call:
    case OP_func_call: {
        const Op *target = call_target(slice->module, op);
        if (target)
            add_returns(slice, target, value->index);
        break;
    }
    case OP_ttg_local_load:
    case OP_ttng_clc_load_result:
    case OP_ttng_clc_query_cancel:
        slice->reads_cells = true;
        add_operand(slice, op, 0);
        break;
    case OP_ttng_warp_group_dot: /* only its place among the products matters */
        break;
    case OP_ttng_warp_group_dot_wait:
        add_operand(slice, op, value->index);
        break;
    case OP_ttg_local_alloc: /* where it lies does not depend on what it is filled with */
    case OP_ttng_tmem_alloc:
        break;
    case OP_ttng_tmem_load: /* floats, and nothing that control can depend on is kept there */
        break;
    default:
        for (uint32_t i = 0; i < op->operand_count; i++)
            add_operand(slice, op, i);
    }
}

/* What every branch to `block` hands over for argument `index`. */
static void add_incoming(Slice *slice, const Block *block, uint32_t index) {
    for (const Block *from = block->region->first; from; from = from->next) {
        const Op *end = from->last;
        if (!end)
            continue;
        uint32_t first = is(end, OP_cf_cond_br) || is(end, OP_cf_switch) ? 1 : 0;
        uint32_t successors = op_successor_count(end);
        for (uint32_t s = 0; s < successors; s++) {
            const Block *to = end->extra->successors[s];
            if (to == block)
                add_operand(slice, end, first + index);
            first += to->arg_count;
        }
    }
}

static void from_argument(Slice *slice, const Value *value) {
    const Block *block = value->owner;
    const Op *op = block->region->op;
    if (block != block->region->first) {
        add_incoming(slice, block, value->index);
        return;
    }
    if (!op || !op->row)
        return;
    switch (op->row->id) {
    case OP_scf_for:
        if (value->index == 0) {
            for (uint32_t i = 0; i < 3; i++)
                add_operand(slice, op, i);
        } else {
            add_operand(slice, op, value->index + 2);
            add_ends(slice, op, value->index - 1);
        }
        break;
    case OP_scf_while:
        if (block->region == &op->regions[0]) {
            add_operand(slice, op, value->index);
            add_operand(slice, region_end(op, 1), value->index);
        } else {
            add_operand(slice, region_end(op, 0), value->index + 1);
        }
        break;
    case OP_ttg_warp_specialize_partitions: {
        const Op *specialize = op_parent(op);
        add_operand(slice, op->operand_count ? op : specialize, value->index);
        break;
    }
    case OP_ttng_subtiled_region: {
        const Attr *tiles = op_attr(op, "numTiles");
        int64_t count = tiles && tiles->kind == ATTR_INTEGER && tiles->integer > 0 ? tiles->integer : 1;
        uint32_t per_tile = 0;
        (void)op_operands_at(op, 0, &per_tile);
        if (value->index < per_tile / count)
            for (int64_t i = 0; i < count; i++)
                add_operand(slice, op, (uint32_t)(value->index * count + i));
        else
            add_operand(slice, op, (uint32_t)(per_tile + value->index - per_tile / count));
        break;
    }
    case OP_tt_func:
    case OP_func_func:
        for (const Item *item = slice->module->first; item; item = item->next)
            for (const Op *call = item->kind == ITEM_OP ? item->op : NULL; call; call = op_next_in_walk(call, item->op))
                if ((is(call, OP_tt_call) || is(call, OP_func_call)) && call_target(slice->module, call) == op)
                    add_operand(slice, call, value->index);
        add_incoming(slice, block, value->index);
        break;
    default:
        break;
    }
}

void slice_close(Slice *slice) {
    while (slice->work_count) {
        const Value *value = slice->work[--slice->work_count];
        if (value->is_result)
            from_result(slice, value);
        else
            from_argument(slice, value);
    }
}
