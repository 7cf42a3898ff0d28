/* Accesses to global memory, as the checker finds them itself: the memory that each lies in, its offset there in
 * elements, and what holds where it is made. */
#include "check/certificate/internal.h"

#include "ir/op.h"
#include "model/effect/inline_ptx.h"
#include "model/flow/forwarded.h"
#include "model/layout/distributed.h"

enum { MOST_DIMS = 8 };

static const Type *element_of(CertificateChecker *checker, const Type *type) {
    type = type_resolve(checker->module, type);
    return type && type->kind == TYPE_TENSOR ? type_resolve(checker->module, type->element) : type;
}

/* What a pointer, tensors of pointers or a descriptor have elements of. */
static const Type *pointee_of(CertificateChecker *checker, const Value *value) {
    const Type *type = element_of(checker, value->type);
    return type && type->element ? type_resolve(checker->module, type->element) : NULL;
}

static int64_t pointee_bytes(CertificateChecker *checker, const Value *value) {
    const Type *pointee = pointee_of(checker, value), *element = pointee ? element_of(checker, pointee) : NULL;
    if (!element)
        return 0;
    bool plain = element->kind == TYPE_INTEGER || element->kind == TYPE_FLOAT;
    unsigned bits = plain ? element->width : number_width(checker->module, element);
    return bits == 1 ? 1 : bits / 8;
}

/* ---- Roots ---------------------------------------------------------------------------------------- */

static bool is_root(CertificateChecker *checker, const NumberAtom *atom, int32_t *root) {
    const Function *function = op_function(checker->function);
    const Op *op = atom->kind == NUMBER_DATA ? value_op(atom->key) : NULL;
    Effect effects[EFFECTS_MOST];
    const Effect *allocates =
        op ? effects_find(effects, effects_of(checker->module, op, effects), EFFECT_ALLOCATE) : NULL;
    if (allocates && allocates->space == SPACE_GLOBAL && !op_attr(op, "shared_cluster_state")) {
        *root = OWN_ROOT;
        return true;
    }
    if (atom->kind != NUMBER_ARGUMENT || !function || atom->of >= function->arg_count ||
        !type_is(type_resolve(checker->module, function->arg_types[atom->of]), STR("tt.ptr")))
        return false;
    *root = (int32_t)atom->of;
    return true;
}

/* The address without its pointer, of which there has to be one. */
static const Number *without_root(CertificateChecker *checker, const Number *address, int32_t *root) {
    NumberTable *numbers = checker->numbers;
    const Number *rest = address;
    unsigned roots = 0;
    int32_t found;
    for (uint32_t i = 0; address && i < address->count; i++)
        for (uint32_t k = 0; k < address->terms[i].count; k++) {
            const NumberAtom atom = numbers->atoms[address->terms[i].atoms[k]];
            if (!is_root(checker, &atom, &found))
                continue;
            roots += address->terms[i].count == 1 && address->terms[i].factor == 1 ? 1 : 2;
            rest = number_add(numbers, rest, number_atom(numbers, atom), -1);
        }
    if (roots == 1)
        for (uint32_t i = 0; i < address->count; i++)
            if (address->terms[i].count == 1)
                (void)is_root(checker, &numbers->atoms[address->terms[i].atoms[0]], root);
    *root = roots == 1 ? *root : ANY_ROOT;
    return roots == 1 ? rest : NULL;
}

/* ---- Descriptors ---------------------------------------------------------------------------------- */

typedef struct Tiled {
    uint32_t rank;
    const Number *base, *shape[MOST_DIMS], *strides[MOST_DIMS], *offsets[MOST_DIMS];
    int64_t box[MOST_DIMS]; /* copies are of whole ones; 0: of any size */
} Tiled;

static const Value *first_name(const Value *value) {
    const Value *same;
    for (unsigned i = 0; i < 64 && (same = value_always(value)); i++)
        value = same;
    return value;
}

static bool numbers_of(CertificateChecker *checker, const Op *op, SlotRef ref, uint32_t rank, bool turned,
                       const Number **to) {
    uint32_t count;
    Value **values = op_operands_of(op, ref, &count);
    for (uint32_t i = 0; i < rank && count == rank; i++)
        to[turned ? rank - 1 - i : i] = value_number(checker, values[i]);
    return count == rank;
}

/* The only op that writes a descriptor there. */
static const Op *writer_of(CertificateChecker *checker, const Value *memory) {
    const Op *found = NULL;
    for (uint32_t i = 0; i < checker->op_count; i++) {
        const Op *op = checker->ops[i];
        if (op_describes(op) != DESCRIBE_MAP || first_name(op_operand_of(op, op->row->describes.at)) != memory)
            continue;
        if (found)
            return NULL;
        found = op;
    }
    return found;
}

static bool tiled_by_op(CertificateChecker *checker, const Op *op, int64_t bytes, Tiled *tiled, int32_t *root) {
    const DescribeColumn *row = &op->row->describes;
    bool map = row->kind == DESCRIBE_MAP;
    const Number *box[MOST_DIMS];
    op_operands_of(op, row->shape, &tiled->rank);
    uint32_t rank = tiled->rank;
    if (!rank || rank > MOST_DIMS || op_operand_of(op, row->predicate) ||
        !numbers_of(checker, op, row->shape, rank, map, tiled->shape) ||
        !numbers_of(checker, op, row->strides, map ? rank - 1 : rank, map, tiled->strides) ||
        (map && !numbers_of(checker, op, row->box, rank, true, box)))
        return false;
    for (uint32_t i = 0; map && i < rank; i++) {
        tiled->strides[i] = i + 1 < rank ? number_shrink(checker->numbers, tiled->strides[i], bytes)
                                         : number_constant(checker->numbers, 1);
        if (!number_is_constant(box[i], &tiled->box[i]) || tiled->box[i] <= 0)
            return false;
    }
    for (uint32_t i = 0; i < rank; i++)
        tiled->offsets[i] = number_constant(checker->numbers, 0);
    if (row->kind == DESCRIBE_BLOCK && !numbers_of(checker, op, row->offsets, rank, false, tiled->offsets))
        return false;
    const Number *address = value_number(checker, op_operand_of(op, row->base));
    tiled->base = number_shrink(checker->numbers, without_root(checker, address, root), bytes);
    return tiled->base != NULL;
}

static bool tiled_at(CertificateChecker *checker, const Value *descriptor, const Type *block, int64_t bytes,
                     Tiled *tiled, int32_t *root) {
    const Value *value = first_name(descriptor);
    const Op *op = value_op(value);
    if (op) {
        op = op_describes(op) == DESCRIBE_TAKEN
                 ? writer_of(checker, first_name(op_operand_of(op, op->row->describes.at)))
                 : op;
        Describe kind = op_describes(op);
        bool known = kind == DESCRIBE_TENSOR || kind == DESCRIBE_BLOCK || kind == DESCRIBE_MAP;
        return known && bytes > 0 && tiled_by_op(checker, op, bytes, tiled, root);
    }
    if (value_holder(value) != checker->function || block->dim_count > MOST_DIMS)
        return false;
    *root = (int32_t)value->index;
    tiled->rank = block->dim_count;
    tiled->base = number_constant(checker->numbers, 0);
    for (uint32_t i = 0; i < tiled->rank; i++) {
        NumberAtom atom = {.kind = NUMBER_SHAPE, .of = value->index, .axis = i};
        tiled->shape[i] = number_atom(checker->numbers, atom);
        atom.kind = NUMBER_STRIDE;
        tiled->strides[i] = number_atom(checker->numbers, atom);
        tiled->offsets[i] = tiled->base;
    }
    return true;
}

static void hold(GlobalTouch *touch, const Number *left) {
    if (left && touch->held.count < MOST_HELD)
        touch->held.all[touch->held.count++] = left;
}

/* The type that has the sizes of a copy: that of its memory in the CTA, if it has as many dimensions. */
static const Type *copied_type(CertificateChecker *checker, const Type *block, const Effect *effect) {
    const Type *data = effect->end ? type_resolve(checker->module, effect->end->type) : NULL;
    const Type *element = data && data->element ? type_resolve(checker->module, data->element) : NULL;
    const Type *own = block->element ? type_resolve(checker->module, block->element) : NULL;
    bool fits = element && own && element->width == own->width && type_is(data, STR("ttg.memdesc")) &&
                data->dim_count == block->dim_count;
    return fits ? data : block;
}

static void touch_tile(CertificateChecker *checker, const Value *descriptor, ValueList at, GlobalTouch *touch) {
    NumberTable *numbers = checker->numbers;
    const Type *type = element_of(checker, descriptor->type), *inner = pointee_of(checker, descriptor);
    const Type *block = inner && inner->kind == TYPE_TENSOR ? inner : type;
    Tiled tiled = {.rank = 0};
    if (!block || !tiled_at(checker, descriptor, block, touch->bytes, &tiled, &touch->root) ||
        tiled.rank != block->dim_count || (at.count && at.count != tiled.rank))
        return;
    const Type *tile = copied_type(checker, block, &touch->effect);
    touch->offset = tiled.base;
    for (uint32_t i = 0; i < tiled.rank; i++) {
        const Number *place = at.count ? value_number(checker, at.items[i]) : tiled.offsets[i];
        int64_t box = tiled.box[i], extent = box ? (tile->dims[i] + box - 1) / box * box : tile->dims[i];
        if (extent > 1) {
            NumberAtom lane = {.kind = NUMBER_LANE, .axis = i, .extent = extent};
            place = number_add(numbers, place, number_atom(numbers, lane), 1);
            touch->lanes |= 1u << i;
        }
        place = extent < 1 ? NULL : place;
        if (at.count) {
            hold(touch, number_add(numbers, number_constant(numbers, 0), place, -1));
            hold(touch,
                 number_add(numbers, number_add(numbers, place, tiled.shape[i], -1), number_constant(numbers, 1), 1));
        }
        touch->offset = number_add(numbers, touch->offset, number_multiply(numbers, place, tiled.strides[i]), 1);
    }
}

/* ---- Pointers ------------------------------------------------------------------------------------- */

static void map_threads(CertificateChecker *checker, const Value *value, GlobalTouch *touch) {
    const Type *type = type_resolve(checker->module, value->type);
    bool tensor = type && type->kind == TYPE_TENSOR;
    const Distributed *layout = tensor ? distributed_of(checker->module, type) : NULL;
    touch->mapping = layout && layout->known ? type : NULL;
    touch->copies = false;
    touch->lanes = 0;
    for (uint32_t i = 0; tensor && i < type->dim_count && i < 32; i++)
        touch->lanes |= (uint32_t)(type->dims[i] > 1) << i;
    for (unsigned holder = HOLD_LANE; touch->mapping && holder < HOLDERS; holder++)
        for (unsigned i = 0; i < layout->count[holder]; i++)
            touch->copies |= distributed_is_copy(layout, (Holder)holder, i);
}

/* What the value's elements are, each at its own coordinates. */
static const Number *element(CertificateChecker *checker, const Value *value) {
    const Type *type = type_resolve(checker->module, value->type);
    if (type && type->kind == TYPE_TENSOR && type->dim_count > TENSOR_MOST_DIMS)
        return NULL;
    return value_at(checker, value, lanes_of_type(checker, type));
}

static void touch_pointers(CertificateChecker *checker, const Value *pointers, GlobalTouch *touch) {
    NumberTable *numbers = checker->numbers;
    const Number *address = element(checker, pointers);
    map_threads(checker, pointers, touch);
    address = without_root(checker, address, &touch->root);
    if (touch->effect.offsets.count == 1 && address) {
        const Value *offsets = touch->effect.offsets.items[0];
        const Number *bytes =
            number_multiply(numbers, element(checker, offsets), number_constant(numbers, touch->bytes));
        map_threads(checker, offsets, touch);
        if (!number_has_data(numbers, bytes))
            number_need(numbers, bytes, INT32_MIN, INT32_MAX);
        address = number_add(numbers, address, bytes, 1);
    } else if (touch->effect.offsets.count) {
        address = NULL;
    }
    touch->offset = number_shrink(numbers, address, touch->bytes);
}

/* ---- Accesses ------------------------------------------------------------------------------------- */

static void hold_branches(CertificateChecker *checker, const Op *op, GlobalTouch *touch) {
    const Block *block = op->block;
    for (const Op *around = op_parent(op); around && around != checker->function; around = op_parent(around)) {
        if (op_is_control(around, CONTROL_BRANCH) && block)
            held_where(checker, op_operand_of(around, around->row->control.condition),
                       block->region == &around->regions[0], &touch->held);
        block = around->block;
    }
}

static void look(CertificateChecker *checker, const Op *op, const Effect *effect, GlobalTouch *touch) {
    *touch = (GlobalTouch){.op = op,
                           .effect = *effect,
                           .root = ANY_ROOT,
                           .writes = effect->verb != EFFECT_READ,
                           .strong = effect->order != ORDER_WEAK && effect->scope >= SCOPE_GPU,
                           .async = effect->done != DONE_NOW};
    if (!effect_is_access(effect) || is_inline_ptx(op) || !effect->on)
        return;
    touch->bytes = effect->element_bytes ? effect->element_bytes : pointee_bytes(checker, effect->on);
    if (touch->bytes <= 0)
        return;
    const Type *type = element_of(checker, effect->on->type), *inner = pointee_of(checker, effect->on);
    bool block = type && type_is(type, STR("tt.ptr")) && inner && inner->kind == TYPE_TENSOR;
    if (effect->on_descriptor || block)
        touch_tile(checker, effect->on, effect->on_descriptor ? effect->at : (ValueList){0}, touch);
    else
        touch_pointers(checker, effect->on, touch);
    if (effect->offset || effect->rows || number_has_data(checker->numbers, touch->offset) ||
        (effect->on_descriptor ? effect->offsets.count != 0 : effect->amount || effect->count > 0))
        touch->offset = NULL;
    if (effect->mask)
        held_where(checker, effect->mask, true, &touch->held);
    if (effect->predicate)
        held_where(checker, effect->predicate, true, &touch->held);
    hold_branches(checker, op, touch);
}

void find_touches(CertificateChecker *checker) {
    for (uint32_t n = 0; n < checker->op_count; n++) {
        const Op *op = checker->ops[n];
        Effect effects[EFFECTS_MOST];
        unsigned count = effects_of(checker->module, op, effects);
        uint32_t before = checker->touch_count;
        for (unsigned i = 0; i < count; i++) {
            const Effect *effect = &effects[i];
            bool global = effect_is_access(effect) && effect->space == SPACE_GLOBAL &&
                          (effect->verb != EFFECT_READ || effect->proxy != PROXY_TENSORMAP);
            if (global || effect->verb == EFFECT_ANYTHING)
                look(checker, op, effect,
                     ARENA_PUSH(checker->arena, checker->touches, checker->touch_count, checker->touch_capacity));
        }
        if (op_is_control(op, CONTROL_CALL) || op_is_control(op, CONTROL_UNKNOWN))
            *ARENA_PUSH(checker->arena, checker->touches, checker->touch_count, checker->touch_capacity) =
                (GlobalTouch){.op = op, .root = ANY_ROOT, .writes = true};
        for (uint32_t i = before; i < checker->touch_count; i++)
            checker->touches[i].number = i - before;
    }
}
