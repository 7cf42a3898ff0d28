/* Allocations, what views do to an offset, and the bytes of a view. */
#include "model/memory/views.h"

#include "ir/op.h"
#include "model/flow/origin.h"
#include "model/layout/share.h"
#include "model/memory/footprint.h"

/* ---- Types ------------------------------------------------------------------------------------- */

/* Bytes, or columns of tensor memory, of all stages. */
static int64_t extent(const Layout *layout) {
    if (!layout || !layout->sized)
        return -1;
    int64_t elements = layout->stages * layout->stage_elements;
    if (layout->space == SPACE_TENSOR)
        return elements;
    int64_t bytes = elements * (layout->element_bits / 8);
    return layout->padding_count ? layout_pad(layout, bytes - 1) + 1 : bytes;
}

int64_t memdesc_transfer_bytes(Module *module, const Type *memdesc) {
    const Layout *layout = layout_of(module, memdesc);
    if (!layout || !layout->sized)
        return -1;
    const Type *type = layout->type;
    int64_t elements = 1;
    for (unsigned d = 0; d < type->dim_count; d++) {
        unsigned inner = d + layout->rank - type->dim_count; /* wraps around for a stage */
        int64_t split = inner < layout->rank ? layout->split[inner] : 1;
        elements *= type->dims[d] > split ? type->dims[d] / split : 1;
    }
    return elements * layout->element_bits / 8;
}

/* ---- Allocations ------------------------------------------------------------------------------- */

/* What puts allocations into one storage. */
typedef struct ViewKey {
    enum { KEY_FRAME, KEY_BUFFER, KEY_SHARE } kind;
    Space space;
    const Op *function;
    int64_t number;
    uint32_t allocation; /* the first that has it */
} ViewKey;

typedef struct ViewCollector {
    Module *module;
    Allocation *items;
    uint32_t *leaders; /* another allocation of the same storage, itself if it leads */
    ViewKey *keys;
    uint32_t count, capacity, leader_count, leader_capacity, key_count, key_capacity;
    bool separated; /* its partitions are regions: what a plan shares is shared by views, and allocations are apart */
} ViewCollector;

static bool int_of(const Attr *attr, int64_t *value) {
    if (attr && attr->kind == ATTR_ARRAY && attr->count)
        attr = attr->items[0];
    if (attr && attr->kind == ATTR_INTS && attr->count && attr->exact) {
        *value = attr->ints[0];
        return true;
    }
    if (!attr || attr->kind != ATTR_INTEGER || !attr->exact)
        return false;
    *value = attr->integer;
    return true;
}

/* An enumeration's word, or in the generic form its number. */
static bool is_word(const Attr *attr, Str word, int64_t number) {
    int64_t value;
    return attr && (int_of(attr, &value) ? value == number : str_mentions(attr->text, word));
}

static uint32_t leader_of(ViewCollector *c, uint32_t i) {
    while (c->leaders[i] != i)
        i = c->leaders[i] = c->leaders[c->leaders[i]];
    return i;
}

static void join(ViewCollector *c, uint32_t allocation, ViewKey key) {
    for (uint32_t i = 0; i < c->key_count; i++) {
        const ViewKey *known = &c->keys[i];
        if (known->kind == key.kind && known->space == key.space && known->function == key.function &&
            known->number == key.number) {
            uint32_t a = leader_of(c, known->allocation), b = leader_of(c, allocation);
            c->leaders[a > b ? a : b] = a > b ? b : a;
            return;
        }
    }
    key.allocation = allocation;
    *ARENA_PUSH(&c->module->arena, c->keys, c->key_count, c->key_capacity) = key;
}

static const Op *function_around(const Op *op) {
    while (op && !op_function(op))
        op = op_parent(op);
    return op;
}

/* Which storage, and where in it, as the attributes of a placed or planned allocation say. */
static void place(ViewCollector *c, uint32_t index) {
    Allocation *a = &c->items[index];
    const Op *function = function_around(a->op);
    int64_t offset, row = 0, id, share;
    bool tensor = a->space == SPACE_TENSOR;
    if (int_of(op_attr(a->op, tensor ? "tensor_memory_col_offset" : "allocation.offset"), &offset)) {
        int_of(op_attr(a->op, "tensor_memory_row_offset"), &row);
        a->offset.base = (int32_t)(tensor ? row << 16 | offset : offset);
        join(c, index, (ViewKey){.kind = KEY_FRAME, .space = a->space, .function = function});
        return;
    }
    if (int_of(op_attr(a->op, "buffer.offset"), &offset))
        a->offset.base = (int32_t)offset;
    /* In shared memory one id may also mean one barrier for several buffers. */
    if ((tensor || !c->separated) && int_of(op_attr(a->op, "buffer.id"), &id))
        join(c, index, (ViewKey){.kind = KEY_BUFFER, .space = a->space, .function = function, .number = id});
    if (int_of(op_attr(a->op, "allocation.reuseTarget"), &id))
        join(c, index, (ViewKey){.kind = KEY_BUFFER, .space = a->space, .function = function, .number = id});
    if (int_of(op_attr(a->op, "allocation.shareGroup"), &share))
        join(c, index, (ViewKey){.kind = KEY_SHARE, .space = a->space, .function = function, .number = share});
}

static int64_t leading_dim(Module *module, const Type *type) {
    const Layout *layout = layout_of(module, type);
    if (!layout || layout->known)
        return layout ? layout->stages : 1;
    return layout->type->dim_count > 1 ? layout->type->dims[0] : 1;
}

/* The effect of that kind that makes a value. */
static bool made_by(Module *module, const Value *value, EffectVerb verb, Effect *found) {
    const Op *op = value->owner;
    Effect effects[EFFECTS_MOST];
    unsigned count = op->row && *op->row->effects ? effects_of(module, op, effects) : 0;
    for (unsigned i = 0; i < count; i++)
        if (effects[i].verb == verb && effects[i].on == value) {
            *found = effects[i];
            return true;
        }
    return false;
}

static bool has_type(Module *module, const Value *value, Str name) {
    const Type *type = value ? type_resolve(module, value->type) : NULL;
    return type && type_is(type, name);
}

/* Storage that several buffers lie in, under a name of its own. */
static bool is_storage(Module *module, const Value *value) {
    return has_type(module, value, STR("tlx.storage_alias_spec"));
}

/* A token and an aref are a full and an empty mbarrier for each slot. */
static int64_t ring_size(int64_t slots) {
    enum { RINGS = 2, MBARRIER = 8, MOST_SLOTS = 1 << 16 };
    return slots >= 0 && slots <= MOST_SLOTS ? slots * RINGS * MBARRIER : -1;
}

static void collect(ViewCollector *c, const Op *op, Space space) {
    Arena *arena = &c->module->arena;
    uint32_t index = c->count;
    Allocation *a = ARENA_PUSH(arena, c->items, c->count, c->capacity);
    *ARENA_PUSH(arena, c->leaders, c->leader_count, c->leader_capacity) = index;
    *a = (Allocation){.op = op, .space = space};
    if (is_storage(c->module, &op->results[0])) {
        int_of(op_attr(op, "buffer_size_bytes"), &a->size);
    } else if (has_type(c->module, &op->results[0], STR("ttg.memdesc"))) {
        const Layout *layout = layout_of(c->module, op->results[0].type);
        a->space = layout ? layout->space : SPACE_NONE;
        a->size = extent(layout);
        place(c, index);
    } else {
        int64_t slots = op->operand_count ? leading_dim(c->module, op->operands[0]->type) : 1;
        if (!int_of(op_attr(op, "numBuffers"), &slots))
            int_of(op_attr(op, "num"), &slots);
        a->size = ring_size(slots);
    }
}

/* Looks for an op in what a reuse group names: its members lie one beside the other, or all at the same place. */
typedef struct GroupSearch {
    Module *module;
    const Op *target;
    int64_t found;   /* where the target lies */
    int depth, left; /* groups may name groups, and a hostile file the same one again and again */
} GroupSearch;

/* The size of an element that lies at `base`. */
static int64_t search_group(GroupSearch *search, const Value *element, int64_t base) {
    enum { DEEPEST = 16 };
    const Op *op = value_op(element);
    if (!op || !op->row || search->depth == DEEPEST || search->left-- <= 0)
        return 0;
    if (op == search->target)
        search->found = base;
    const Attr *group = op_attr(op, "group_kind");
    if (!group) {
        int64_t size = extent(layout_of(search->module, element->type));
        return size > 0 ? size : 0;
    }
    bool beside = is_word(group, STR("distinct"), 1);
    int64_t total = 0;
    search->depth++;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        int64_t size = search_group(search, op->operands[i], base + (beside ? total : 0));
        total = beside ? total + size : size > total ? size : total;
    }
    search->depth--;
    return total;
}

/* Where a buffer lies in the storage that its operand names: another op tells which groups lie there. */
static int64_t place_in_storage(Module *module, const Op *alias) {
    const Op *function = function_around(alias);
    GroupSearch search = {.module = module, .target = alias, .left = 10000};
    for (const Op *op = function; op; op = op_next_in_walk(op, function))
        if (op->operand_count == 2 && op->operands[0] == alias->operands[0])
            search_group(&search, op->operands[1], 0);
    return search.found;
}

/* A storage without a size of its own is as large as what lies in it. */
static void widen(ViewCollector *c, const Op *alias) {
    int64_t end = place_in_storage(c->module, alias) + extent(layout_of(c->module, alias->results[0].type));
    for (uint32_t i = 0; i < c->count; i++)
        if (c->items[i].op == value_op(alias->operands[0]) && c->items[i].size < end)
            c->items[i].size = end;
}

/* memdesc_space has no module to look aliases up in, so types get their canonical form here. */
static void settle_types(Module *module, const Op *op) {
    for (uint32_t i = 0; i < op->result_count; i++)
        if (op->results[i].type)
            type_canonical(module, op->results[i].type);
    for (uint32_t i = 0; i < op->region_count; i++)
        for (const Block *block = op->regions[i].first; block; block = block->next)
            for (uint32_t k = 0; k < block->arg_count; k++)
                if (block->args[k].type)
                    type_canonical(module, block->args[k].type);
}

Allocations allocations_of(Module *module, const Op *root) {
    ViewCollector c = {.module = module};
    for (const Op *op = root; op; op = op_next_in_walk(op, root)) {
        settle_types(module, op);
        c.separated |= op_is_control(op, CONTROL_FORK);
    }
    for (const Op *op = root; op; op = op_next_in_walk(op, root)) {
        Effect effect;
        if (!op->result_count)
            continue;
        if (made_by(module, &op->results[0], EFFECT_ALLOCATE, &effect) && effect.space != SPACE_GLOBAL)
            collect(&c, op, effect.space);
        else if (op->operand_count && is_storage(module, op->operands[0]))
            widen(&c, op);
    }
    Allocations found = {.items = c.items, .count = c.count};
    for (uint32_t i = 0; i < c.count; i++) {
        found.moved |= i && c.items[i - 1].op->offset > c.items[i].op->offset;
        uint32_t leader = leader_of(&c, i);
        c.items[i].storage = leader == i ? found.storage_count++ : c.items[leader].storage;
    }
    return found;
}

const Allocation *allocation_find(const Allocations *allocations, const Op *op) {
    uint32_t low = 0, high = op ? allocations->count : 0;
    for (; allocations->moved && low < high; low++)
        if (allocations->items[low].op == op)
            return &allocations->items[low];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const Op *there = allocations->items[middle].op;
        if (there == op)
            return &allocations->items[middle];
        if (there->offset < op->offset)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const Allocation *allocation_of(const Allocations *allocations, Module *module, const Value *value) {
    return value ? allocation_find(allocations, origin_of(module, value)) : NULL;
}

/* ---- Views ------------------------------------------------------------------------------------- */

/* An offset in each dimension of the source, of which one at most is a value that is not a constant. */
typedef struct ViewSlice {
    int64_t offsets[LAYOUT_RANK * 2];
    unsigned count;
    const Value *moving;
    unsigned moving_dim;
} ViewSlice;

static unsigned bits_below(int64_t size) {
    unsigned bits = 0;
    while (bits < LAYOUT_BITS && (int64_t)1 << bits < size)
        bits++;
    return bits;
}

/* How far, in elements, one step of a coordinate moves a slice of these sizes, where every step of the slice's size is
 * as far as the others and changes no bit that an element of the slice has; else -1. */
static int64_t even_stride(const Layout *layout, unsigned dim, const int64_t *sizes) {
    unsigned first = bits_below(sizes[dim]), end = bits_below(layout->shape[dim]);
    if (first >= end)
        return 0;
    uint32_t unit = layout->place[dim][first], moved = 0;
    for (unsigned k = first; k < end; k++) {
        if (layout->place[dim][k] != unit << (k - first))
            return -1;
        moved |= layout->place[dim][k];
    }
    for (unsigned d = 0; d < layout->rank; d++)
        for (unsigned k = 0; k < bits_below(sizes[d]) && k < layout->bits[d]; k++)
            if (layout->place[d][k] & moved)
                return -1;
    bool even = (unit & (unit - 1)) == 0 && unit >> first;
    return even ? (int64_t)(unit >> first) : -1;
}

/* The bits of a coordinate that choose the CTA have no place. */
static bool crosses_ctas(const Layout *layout, const int64_t *offsets) {
    for (unsigned d = 0; d < layout->rank; d++)
        for (unsigned k = 0; k < layout->bits[d]; k++)
            if (offsets[d] >> k & 1 && !layout->place[d][k])
                return true;
    return false;
}

/* How far away (XOR) the CTA is that has the element at these offsets. */
static bool find_cta(Module *module, const Layout *layout, const int64_t *offsets, uint32_t *cta) {
    *cta = 0;
    if (!crosses_ctas(layout, offsets))
        return true;
    const Share *share = share_of_allocation(module, layout->type);
    if (!share || !share->known || share->rank != layout->rank)
        return false;
    *cta = share_holder(share, offsets);
    return *cta < UINT32_C(1) << share->ctas;
}

static ViewStep step_to_slice(Module *module, const Type *source_type, const Type *result_type,
                              const ViewSlice *slice) {
    const Layout *source = layout_of(module, source_type);
    const Type *result = result_type ? type_canonical(module, result_type) : NULL;
    if (!source || !source->known || !result)
        return (ViewStep){.problem = "the encoding of the source is not understood"};
    const Type *type = source->type;
    if (slice->count != type->dim_count || result->dim_count == 0)
        return (ViewStep){.problem = "the view needs one offset for each dimension"};
    for (unsigned d = 0; d < slice->count; d++)
        if (slice->offsets[d] < 0 || slice->offsets[d] >= type->dims[d])
            return (ViewStep){.problem = "the view starts outside its source"};
    unsigned outer = type->dim_count - source->rank;
    ViewStep step = {0};
    int64_t stage = 0, stage_stride = layout_stage_stride(source);
    for (unsigned d = 0; d < outer; d++)
        stage = stage * type->dims[d] + slice->offsets[d];
    if (!find_cta(module, source, slice->offsets + outer, &step.cta))
        return (ViewStep){.problem = "the view starts in another CTA, and which one is not known"};
    uint32_t at = layout_place(source, slice->offsets + outer);
    int64_t unit = source->space == SPACE_TENSOR ? 1 : source->element_bits / 8;
    if (source->space == SPACE_TENSOR)
        step.add = (at & ~0xffffu) + (int64_t)(at & 0xffff) * source->element_bits / 32;
    else
        step.flip = at * unit;
    if (stage && stage_stride < 0)
        return (ViewStep){.problem = "the padding makes the stages differ"};
    step.add += stage ? stage * stage_stride : 0;
    if (!slice->moving)
        return step;
    if (slice->moving_dim + 1 == outer) {
        step.stride = stage_stride;
    } else {
        int64_t sizes[LAYOUT_RANK], stride = -1;
        for (unsigned d = 0; d < source->rank; d++) { /* a view of fewer dimensions has lost the first ones */
            unsigned back = source->rank - d;
            sizes[d] = back <= result->dim_count ? result->dims[result->dim_count - back] : 1;
        }
        if (slice->moving_dim >= outer && !source->padding_count && source->space == SPACE_SHARED)
            stride = even_stride(source, slice->moving_dim - outer, sizes);
        step.stride = stride < 0 ? -1 : stride * unit;
    }
    if (step.stride < 0)
        return (ViewStep){.problem = "an offset that is not constant moves through the layout unevenly"};
    unsigned behind = type->dim_count - slice->moving_dim;
    int64_t size = behind <= result->dim_count ? result->dims[result->dim_count - behind] : 1;
    step.index = slice->moving;
    step.limit = type->dims[slice->moving_dim] - size + 1;
    return step;
}

/* The offsets are an attribute. */
static ViewStep subslice(Module *module, const Op *op, const Attr *attr) {
    ViewSlice slice = {0};
    if (attr->kind != ATTR_INTS || !attr->exact || attr->count > LAYOUT_RANK * 2)
        return (ViewStep){.problem = "the offsets of the view are not known"};
    memcpy(slice.offsets, attr->ints, sizeof *slice.offsets * attr->count);
    slice.count = attr->count;
    return step_to_slice(module, op->operands[0]->type, op->results[0].type, &slice);
}

/* They are operands. */
static ViewStep subview(Module *module, const Op *op, Value *const *offsets, uint32_t count) {
    ViewSlice slice = {.count = count};
    if (slice.count > LAYOUT_RANK * 2)
        return (ViewStep){.problem = "the offsets of the view are not known"};
    for (unsigned d = 0; d < slice.count; d++) {
        const Value *offset = offsets[d];
        if (value_constant(offset, &slice.offsets[d]))
            continue;
        if (slice.moving)
            return (ViewStep){.problem = "more than one offset of the view is not constant"};
        slice.moving = offset;
        slice.moving_dim = d;
    }
    return step_to_slice(module, op->operands[0]->type, op->results[0].type, &slice);
}

/* There is one, along a dimension. */
static ViewStep subslice_along(Module *module, const Op *op) {
    const Layout *source = layout_of(module, op->operands[0]->type);
    int64_t offset = 0, dim = 0;
    if (!int_of(op_attr(op, "offset"), &offset) && !int_of(op_attr(op, "N"), &offset))
        return (ViewStep){.problem = "the offset of the view is not known"};
    if (!source)
        return (ViewStep){.problem = "the source of the view is not known"};
    const Type *type = source->type;
    if (!int_of(op_attr(op, "dim"), &dim))
        dim = type->dim_count - 1;
    if (dim < 0 || dim >= type->dim_count || type->dim_count > LAYOUT_RANK * 2)
        return (ViewStep){.problem = "the view is not along a dimension of its source"};
    ViewSlice slice = {.count = type->dim_count};
    slice.offsets[dim] = offset;
    return step_to_slice(module, op->operands[0]->type, op->results[0].type, &slice);
}

/* The slot of a ring: each takes as much as the view, in the allocation. `ring`: its type, or NULL. */
static ViewStep slot(Module *module, const Type *ring, const Type *result, const Value *index) {
    const Layout *layout = layout_of(module, result);
    if (!layout || !layout->sized)
        return (ViewStep){.problem = "the size of the view is not known"};
    int64_t stride = layout_stage_stride(layout);
    if (stride < 0)
        return (ViewStep){.problem = "the padding makes the stages differ"};
    ring = ring ? type_resolve(module, ring) : NULL;
    bool counted = ring && ring->dim_count == layout->type->dim_count + 1;
    return (ViewStep){.index = index, .stride = stride * layout->stages, .limit = counted ? ring->dims[0] : 0};
}

static ViewStep part(Module *module, const Op *op) {
    uint32_t count;
    Value **offsets = op_operands_named(op, "offsets", &count);
    const Attr *attr = op_attr(op, "offsets");
    return attr      ? subslice(module, op, attr)
           : offsets ? subview(module, op, offsets, count)
                     : subslice_along(module, op);
}

ViewStep view_step_of_result(Module *module, const Op *op, uint32_t result) {
    Effect view;
    if (!op->row || op->form == FORM_OPAQUE || !op->operand_count || result >= op->result_count)
        return (ViewStep){.problem = "the op is not known"};
    const Value *value = &op->results[result];
    if (op_is(op, CLASS_WGMMA_WAIT))
        return (ViewStep){0};
    if (op_is(op, CLASS_AREF) || !made_by(module, value, EFFECT_VIEW, &view))
        return (ViewStep){.problem = "the op is not known as a view"};
    if (op_is(op, CLASS_AREF_ENTER) && !view.slot)
        return (ViewStep){.problem = "the aref has no stage yet"};
    if (op_is(op, CLASS_AREF_ENTER))
        return slot(module, NULL, value->type, view.slot);
    if (is_storage(module, view.amount))
        return (ViewStep){.add = place_in_storage(module, op)};
    if (op_is(op, CLASS_INDEX))
        return slot(module, op_operand_named(op, "src")->type, value->type, op_operand_named(op, "index"));
    return op_is(op, CLASS_PART) ? part(module, op) : (ViewStep){.rank = view.rank};
}

ViewStep view_step_of(Module *module, const Op *op) {
    return view_step_of_result(module, op, 0);
}

const Value *view_source(Module *module, const Value *value) {
    Effect view;
    return value_op(value) && made_by(module, value, EFFECT_VIEW, &view) ? view.amount : NULL;
}

/* ---- Bytes of a view --------------------------------------------------------------------------- */

bool view_part_bytes(Module *module, const Type *memdesc, Offset at, const ViewPart *part, Arena *arena, Bytes *bytes) {
    const Layout *layout = layout_of(module, memdesc);
    *bytes = (Bytes){0};
    if (!part)
        return view_bytes(module, memdesc, at, arena, bytes);
    if (!layout || !layout->known || !footprint_of_part(layout, part, at.affine, arena, bytes))
        return false;
    for (uint32_t i = 0; i < bytes->count; i++)
        bytes->runs[i] = (Run){bytes->runs[i].begin + at.base, bytes->runs[i].end + at.base};
    return true;
}

bool view_bytes(Module *module, const Type *memdesc, Offset at, Arena *arena, Bytes *bytes) {
    Layout *layout = layout_of(module, memdesc);
    const LayoutFootprint *footprint = layout && layout->known ? footprint_of(module, layout, at.affine) : NULL;
    *bytes = (Bytes){0};
    if (!footprint)
        return false;
    bytes->count = footprint->bytes.count;
    bytes->runs = ARENA_ARRAY(arena, Run, bytes->count);
    for (uint32_t i = 0; i < bytes->count; i++) {
        Run run = footprint->bytes.runs[i];
        bytes->runs[i] = (Run){run.begin + at.base, run.end + at.base};
    }
    return true;
}

int64_t memdesc_bytes(Module *module, const Type *memdesc) {
    Layout *layout = layout_of(module, memdesc);
    const LayoutFootprint *footprint = layout && layout->known ? footprint_of(module, layout, 0) : NULL;
    if (footprint)
        return bytes_size(&footprint->bytes);
    int64_t size = extent(layout);
    return size < 0 || layout->space != SPACE_TENSOR ? size : size * layout->rows;
}
