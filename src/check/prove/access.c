/* From effects on global memory to offsets in normal form. */
#include "check/prove/access.h"

#include "ir/op.h"
#include "model/effect/inline_ptx.h"
#include "model/flow/forwarded.h"
#include "model/layout/distributed.h"

#define DEPENDS_ON_DATA "the address depends on data"

static Quantities *quantities_of(Prover *prover) {
    return &prover->proof->quantities;
}

static const Type *element_type(Prover *prover, const Type *type) {
    type = type_resolve(prover->module, type);
    return type && type->kind == TYPE_TENSOR ? type_resolve(prover->module, type->element) : type;
}

/* Bytes of what a pointer, a tensor of them, or a descriptor has elements of; 0: not known. */
static int64_t bytes_of_pointee(Prover *prover, const Value *value) {
    const Type *type = element_type(prover, value->type);
    const Type *pointee = type && type->element ? element_type(prover, type->element) : NULL;
    if (!pointee)
        return 0;
    unsigned bits = pointee->kind == TYPE_INTEGER || pointee->kind == TYPE_FLOAT
                        ? pointee->width
                        : number_width(prover->module, pointee);
    return bits == 1 ? 1 : bits / 8; /* an access to a part of a byte is one to the byte */
}

/* ---- Roots ---------------------------------------------------------------------------------------- */

static bool is_own_memory(Prover *prover, const Op *op) {
    Effect effects[EFFECTS_MOST];
    unsigned count = op ? effects_of(prover->module, op, effects) : 0;
    const Effect *allocates = effects_find(effects, count, EFFECT_ALLOCATE);
    return allocates && allocates->space == SPACE_GLOBAL && !op_attr(op, "shared_cluster_state");
}

/* Whether a factor of an address is a pointer, and to what. */
static bool root_of_atom(Prover *prover, const QuantityAtom *atom, int32_t *root) {
    const Function *function = op_function(prover->function);
    if (atom->kind == ATOM_DATA && is_own_memory(prover, value_op(atom->key)))
        *root = ROOT_OWN;
    else if (atom->kind == ATOM_ARGUMENT && function && atom->of < function->arg_count &&
             type_is(type_resolve(prover->module, function->arg_types[atom->of]), STR("tt.ptr")))
        *root = (int32_t)atom->of;
    else
        return false;
    return true;
}

/* Takes the pointer off an address in bytes. */
static Quantity take_root(Prover *prover, Quantity address, int32_t *root) {
    Quantities *quantities = quantities_of(prover);
    unsigned found = 0;
    *root = ROOT_UNKNOWN;
    if (address == QUANTITY_NONE)
        return QUANTITY_NONE;
    const Polynomial of = quantities->all[address];
    for (uint32_t i = 0; i < of.count; i++) {
        const Monomial *term = &of.terms[i];
        int32_t one;
        for (unsigned k = 0; k < term->count; k++)
            if (root_of_atom(prover, &quantities->atoms[term->atoms[k]], &one)) {
                found++;
                if (term->factor != 1 || term->count != 1)
                    found = 2;
                *root = one;
                address = quantity_add(quantities, address,
                                       quantity_atom(quantities, &quantities->atoms[term->atoms[k]]), -1);
            }
    }
    if (found != 1)
        *root = ROOT_UNKNOWN;
    return found == 1 ? address : QUANTITY_NONE;
}

/* Bytes as elements; QUANTITY_NONE: it is no whole number of them. */
static Quantity in_elements(Prover *prover, Quantity bytes, int64_t size) {
    Quantities *quantities = quantities_of(prover);
    if (bytes == QUANTITY_NONE || size <= 0)
        return QUANTITY_NONE;
    const Polynomial of = quantities->all[bytes];
    Quantity sum = QUANTITY_ZERO;
    for (uint32_t i = 0; i < of.count; i++) {
        Quantity product = quantity_constant(quantities, of.terms[i].factor / size);
        for (unsigned k = 0; k < of.terms[i].count; k++)
            product = quantity_multiply(quantities, product,
                                        quantity_atom(quantities, &quantities->atoms[of.terms[i].atoms[k]]));
        if (of.terms[i].factor % size)
            return QUANTITY_NONE;
        sum = quantity_add(quantities, sum, product, 1);
    }
    return sum;
}

/* Dimensions with more than one element, a bit each. */
static uint32_t lanes_of(const Type *shaped) {
    uint32_t lanes = 0;
    for (unsigned i = 0; i < shaped->dim_count && i < 32; i++)
        lanes |= (uint32_t)(shaped->dims[i] > 1) << i;
    return lanes;
}

static void set_problem(ProofAccess *access, const char *problem) {
    access->problem = access->problem ? access->problem : problem;
    access->offset = QUANTITY_NONE;
}

/* ---- Descriptors ---------------------------------------------------------------------------------- */

/* A tensor in memory: one of each dimension, the outermost first. */
typedef struct TensorPlace {
    uint32_t rank;
    int32_t root;
    Quantity base; /* elements from the root on */
    Quantity shape[LAUNCH_MOST_DIMS], strides[LAUNCH_MOST_DIMS], offsets[LAUNCH_MOST_DIMS];
    int64_t box[LAUNCH_MOST_DIMS]; /* copies are of whole ones; 0: of any size */
} TensorPlace;

/* The value behind its other names. */
static const Value *original(const Value *value) {
    const Value *same;
    for (unsigned i = 0; i < 64 && (same = value_always(value)); i++)
        value = same;
    return value;
}

static const Op *map_at(Prover *prover, const Value *memory) {
    const Op *found = NULL;
    for (const Op *op = prover->function; op; op = op_next_in_walk(op, prover->function))
        if (op_describes(op) == DESCRIBE_MAP && original(op_operand_of(op, op->row->describes.at)) == memory) {
            if (found)
                return NULL;
            found = op;
        }
    return found;
}

static bool place_of_parameter(Prover *prover, const Value *value, const Type *block, TensorPlace *place) {
    Quantities *quantities = quantities_of(prover);
    place->root = (int32_t)value->index;
    place->rank = block->dim_count;
    place->base = QUANTITY_ZERO;
    for (unsigned i = 0; i < place->rank && place->rank <= LAUNCH_MOST_DIMS; i++) {
        QuantityAtom atom = {.kind = ATOM_SHAPE, .of = value->index, .axis = (uint8_t)i};
        place->shape[i] = quantity_atom(quantities, &atom);
        atom.kind = ATOM_STRIDE;
        place->strides[i] = quantity_atom(quantities, &atom);
        place->offsets[i] = QUANTITY_ZERO;
    }
    return place->rank <= LAUNCH_MOST_DIMS;
}

static bool number_list(Prover *prover, const Op *op, SlotRef ref, uint32_t rank, bool inverted, Quantity *numbers) {
    uint32_t count;
    Value **values = op_operands_of(op, ref, &count);
    if (count != rank)
        return false;
    for (uint32_t i = 0; i < rank; i++)
        numbers[inverted ? rank - 1 - i : i] = prover_quantity(prover, values[i]);
    return true;
}

static bool place_of_op(Prover *prover, const Op *op, int64_t bytes, TensorPlace *place) {
    const DescribeColumn *row = &op->row->describes;
    uint32_t rank;
    bool map = row->kind == DESCRIBE_MAP;
    op_operands_of(op, row->shape, &rank);
    place->rank = rank;
    if (!rank || rank > LAUNCH_MOST_DIMS || op_operand_of(op, row->predicate) || bytes <= 0 ||
        !number_list(prover, op, row->shape, rank, map, place->shape))
        return false;
    if (map) {
        Quantity box[LAUNCH_MOST_DIMS];
        if (!number_list(prover, op, row->strides, rank - 1, true, place->strides) ||
            !number_list(prover, op, row->box, rank, true, box))
            return false;
        for (uint32_t i = 0; i < rank; i++)
            if (!quantity_is_constant(quantities_of(prover), box[i], &place->box[i]) || place->box[i] <= 0)
                return false;
        for (uint32_t i = 0; i + 1 < rank; i++)
            place->strides[i] = in_elements(prover, place->strides[i], bytes);
        place->strides[rank - 1] = QUANTITY_ONE;
    } else if (!number_list(prover, op, row->strides, rank, false, place->strides)) {
        return false;
    }
    for (uint32_t i = 0; i < rank; i++)
        place->offsets[i] = QUANTITY_ZERO;
    if (row->kind == DESCRIBE_BLOCK && !number_list(prover, op, row->offsets, rank, false, place->offsets))
        return false;
    Quantity address = prover_quantity(prover, op_operand_of(op, row->base));
    place->base = in_elements(prover, take_root(prover, address, &place->root), bytes);
    return place->base != QUANTITY_NONE;
}

/* Where the tensor of a descriptor or block pointer lies. */
static bool place_of(Prover *prover, const Value *descriptor, const Type *block, int64_t bytes, TensorPlace *place) {
    const Value *value = original(descriptor);
    const Op *op = value_op(value);
    if (!op)
        return value_holder(value) == prover->function && place_of_parameter(prover, value, block, place);
    if (op_describes(op) == DESCRIBE_TAKEN)
        op = map_at(prover, original(op_operand_of(op, op->row->describes.at)));
    Describe kind = op_describes(op);
    return (kind == DESCRIBE_TENSOR || kind == DESCRIBE_BLOCK || kind == DESCRIBE_MAP) &&
           place_of_op(prover, op, bytes, place);
}

static void add_bound(ProofAccess *access, Quantity left) {
    if (left != QUANTITY_NONE && access->guards.count < MOST_GUARDS)
        access->guards.all[access->guards.count++].left = left;
}

/* The type whose sizes a copy has: that of its memory in the CTA, which may be less than a block. */
static const Type *tile_type(Prover *prover, const Type *block, const Effect *effect) {
    const Type *data = effect->end ? type_resolve(prover->module, effect->end->type) : NULL;
    const Type *element = data && data->element ? type_resolve(prover->module, data->element) : NULL;
    const Type *own = block->element ? type_resolve(prover->module, block->element) : NULL;
    bool same = element && own && element->width == own->width && type_is(data, STR("ttg.memdesc")) &&
                data->dim_count == block->dim_count;
    return same ? data : block;
}

/* Coordinate `i` of an element of the tile. */
static Quantity tile_coordinate(Prover *prover, Quantity from, unsigned i, int64_t size, int64_t box,
                                ProofAccess *access) {
    Quantities *quantities = quantities_of(prover);
    int64_t extent = box ? (size + box - 1) / box * box : size;
    if (extent < 1)
        return QUANTITY_NONE;
    if (extent == 1)
        return from;
    access->lanes |= 1u << i;
    QuantityAtom lane = {.kind = ATOM_LANE, .axis = (uint8_t)i, .extent = extent};
    return quantity_add(quantities, from, quantity_atom(quantities, &lane), 1);
}

/* The tile of a descriptor at coordinates `at`. */
static void set_tile(Prover *prover, const Value *descriptor, ValueList at, ProofAccess *access) {
    Quantities *quantities = quantities_of(prover);
    const Type *type = element_type(prover, descriptor->type);
    const Type *inner = type && type->element ? type_resolve(prover->module, type->element) : NULL;
    const Type *block = inner && inner->kind == TYPE_TENSOR ? inner : type;
    TensorPlace place = {.root = ROOT_UNKNOWN};
    if (!block || !place_of(prover, descriptor, block, access->bytes, &place) || place.rank != block->dim_count ||
        (at.count && at.count != place.rank)) {
        access->root = place.root;
        set_problem(access, "its descriptor is not understood");
        return;
    }
    const Type *tile = tile_type(prover, block, &access->effect);
    access->root = place.root;
    access->offset = place.base;
    for (uint32_t i = 0; i < place.rank; i++) {
        Quantity from = at.count ? prover_quantity(prover, at.items[i]) : place.offsets[i];
        Quantity coordinate = tile_coordinate(prover, from, i, tile->dims[i], place.box[i], access);
        if (at.count) { /* of a block pointer, not all dimensions need be held against the shape */
            add_bound(access, quantity_add(quantities, QUANTITY_ZERO, coordinate, -1));
            add_bound(access, quantity_add(quantities, quantity_add(quantities, coordinate, place.shape[i], -1),
                                           QUANTITY_ONE, 1));
        }
        access->offset =
            quantity_add(quantities, access->offset, quantity_multiply(quantities, coordinate, place.strides[i]), 1);
    }
    if (access->offset == QUANTITY_NONE)
        set_problem(access, "the address is not understood");
}

/* ---- Accesses ------------------------------------------------------------------------------------- */

/* Conditions of branches around the op. */
static void add_conditions(Prover *prover, const Op *op, ProofAccess *access) {
    const Block *block = op->block;
    for (const Op *around = op_parent(op); around && around != prover->function; around = op_parent(around)) {
        if (op_is_control(around, CONTROL_BRANCH) && block)
            prover_guards(prover, op_operand_of(around, around->row->control.condition),
                          block->region == &around->regions[0], &access->guards);
        block = around->block;
    }
}

/* The tensor whose layout says which thread makes which part of the access. */
static void set_mapping(Prover *prover, const Value *value, ProofAccess *access) {
    const Type *type = type_resolve(prover->module, value->type);
    const Distributed *layout = type && type->kind == TYPE_TENSOR ? distributed_of(prover->module, type) : NULL;
    access->mapping = layout && layout->known ? type : NULL;
    access->copies = false;
    for (unsigned holder = HOLD_LANE; access->mapping && holder < HOLDERS; holder++)
        for (unsigned i = 0; i < layout->count[holder]; i++)
            access->copies |= distributed_is_copy(layout, (Holder)holder, i);
}

static void set_pointers(Prover *prover, const Value *pointers, ProofAccess *access) {
    Quantities *quantities = quantities_of(prover);
    const Type *type = type_resolve(prover->module, pointers->type);
    Quantity address = prover_element(prover, pointers);
    access->lanes = type && type->kind == TYPE_TENSOR ? lanes_of(type) : 0;
    set_mapping(prover, pointers, access);
    address = take_root(prover, address, &access->root);
    if (access->effect.offsets.count == 1 && address != QUANTITY_NONE) { /* of a buffer: elements from there on */
        const Value *offsets = access->effect.offsets.items[0];
        const Type *tensor = type_resolve(prover->module, offsets->type);
        access->lanes = tensor && tensor->kind == TYPE_TENSOR ? lanes_of(tensor) : 0;
        set_mapping(prover, offsets, access);
        Quantity bytes = quantity_multiply(quantities, prover_element(prover, offsets),
                                           quantity_constant(quantities, access->bytes));
        if (bytes != QUANTITY_NONE && !quantity_has_data(quantities, bytes)) /* the hardware counts in 32 bits */
            quantity_bound(quantities, bytes, INT32_MIN, INT32_MAX);
        address = quantity_add(quantities, address, bytes, 1);
    } else if (access->effect.offsets.count) {
        address = QUANTITY_NONE;
    }
    access->offset = in_elements(prover, address, access->bytes);
    if (access->offset == QUANTITY_NONE)
        set_problem(access, access->root == ROOT_UNKNOWN ? "it is not known in which tensor the address lies"
                                                         : "the address is not understood");
}

static void look_at(Prover *prover, const Op *op, const Effect *effect, ProofAccess *access) {
    Quantities *quantities = quantities_of(prover);
    *access = (ProofAccess){.op = op,
                            .effect = *effect,
                            .root = ROOT_UNKNOWN,
                            .writes = effect->verb != EFFECT_READ,
                            .strong = effect->order != ORDER_WEAK && effect->scope >= SCOPE_GPU,
                            .async = effect->done != DONE_NOW,
                            .offset = QUANTITY_NONE};
    if (!effect_is_access(effect) || is_inline_ptx(op) || !effect->on) {
        set_problem(access, "it is not known what it accesses");
        return;
    }
    access->bytes = effect->element_bytes ? effect->element_bytes : bytes_of_pointee(prover, effect->on);
    if (access->bytes <= 0) {
        set_problem(access, "the size of its elements is not known");
        return;
    }
    const Type *element = element_type(prover, effect->on->type);
    bool block = element && type_is(element, STR("tt.ptr")) && element->element &&
                 type_resolve(prover->module, element->element) &&
                 type_resolve(prover->module, element->element)->kind == TYPE_TENSOR;
    if (effect->on_descriptor || block)
        set_tile(prover, effect->on, effect->on_descriptor ? effect->at : (ValueList){0}, access);
    else
        set_pointers(prover, effect->on, access);
    if (effect->offset || (effect->on_descriptor && effect->offsets.count) ||
        (!effect->on_descriptor && (effect->amount || effect->count > 0)))
        set_problem(access, "the address is not understood");
    if (effect->rows)
        set_problem(access, DEPENDS_ON_DATA);
    if (!access->problem && quantity_has_data(quantities, access->offset))
        set_problem(access, DEPENDS_ON_DATA);
    if (effect->mask)
        prover_guards(prover, effect->mask, true, &access->guards);
    if (effect->predicate)
        prover_guards(prover, effect->predicate, true, &access->guards);
    add_conditions(prover, op, access);
}

/* Whether it is about global memory that others could see. */
static bool concerns(const Effect *effect) {
    if (effect->verb == EFFECT_ANYTHING)
        return true;
    return effect_is_access(effect) && effect->space == SPACE_GLOBAL &&
           !(effect->verb == EFFECT_READ && effect->proxy == PROXY_TENSORMAP);
}

ProofAccesses proof_accesses(Prover *prover) {
    ProofAccesses accesses = {0};
    for (const Op *op = prover->function; op && !prover_is_late(prover); op = op_next_in_walk(op, prover->function)) {
        Effect effects[EFFECTS_MOST];
        unsigned count = effects_of(prover->module, op, effects);
        for (unsigned i = 0; i < count; i++)
            if (concerns(&effects[i])) {
                ProofAccess *access = ARENA_PUSH(prover->arena, accesses.all, accesses.count, accesses.capacity);
                look_at(prover, op, &effects[i], access);
            }
        if (op_is_control(op, CONTROL_CALL) || op_is_control(op, CONTROL_UNKNOWN)) {
            ProofAccess *access = ARENA_PUSH(prover->arena, accesses.all, accesses.count, accesses.capacity);
            *access = (ProofAccess){.op = op, .root = ROOT_UNKNOWN, .writes = true, .offset = QUANTITY_NONE};
            access->problem = "what it calls is not checked";
        }
    }
    return accesses;
}
