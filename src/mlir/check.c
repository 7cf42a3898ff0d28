/* What the table says about the types of an op's operands and results. */
#include "mlir/internal.h"

/* The type of operand, result or attribute `ref`; NULL if it is not known. */
static const Type *type_of(const Op *op, SlotRef ref, uint32_t index) {
    if (ref.column == REF_OPERAND) {
        uint32_t count;
        Value **values = op_operands_at(op, ref.index, &count);
        if (count == 1)
            index = 0; /* many may follow one */
        return index < count && values[index] ? values[index]->type : NULL;
    }
    if (ref.column == REF_RESULT)
        return ref.index < op->result_count ? op->results[ref.index].type : NULL;
    if (ref.column == REF_ATTR && op->attrs && op->attrs[ref.index])
        return op->attrs[ref.index]->type;
    return NULL;
}

const Type *type_by_rule(Reader *r, const Op *op, const Slot *slot, uint32_t index) {
    const Type *of;
    switch (slot->rule) {
    case TYPE_ANY:
    case TYPE_CLASS:
    case TYPE_TENSOR_ANY:
        return NULL;
    case TYPE_YIELDED: {
        const Block *block = op->region_count ? op->regions[0].last : NULL;
        const Op *last = block ? block->last : NULL;
        return last && index < last->operand_count && last->operands[index] ? last->operands[index]->type : NULL;
    }
    case TYPE_FIXED:
        if (!r->fixed[slot->fixed] || !slot->fixed)
            r->fixed[slot->fixed] = type_named(r->module, slot->text.data);
        return r->fixed[slot->fixed];
    case TYPE_SAME:
        return type_of(op, slot->of, index);
    case TYPE_I1_OF:
        of = type_of(op, slot->of, index);
        return of ? type_i1_like(r->module, of) : NULL;
    case TYPE_I32_OF:
        of = type_of(op, slot->of, index);
        return of ? type_i32_like(r->module, of) : NULL;
    case TYPE_POINTEE_OF:
        of = type_of(op, slot->of, index);
        return of ? type_pointee(r->module, of) : NULL;
    case TYPE_ELEMENT_OF:
        of = type_of(op, slot->of, index);
        return of ? type_element(r->module, of) : NULL;
    }
    return NULL;
}

/* A kind of type, not one type. */
static bool fits_class(Reader *r, const Slot *slot, const Type *type) {
    if (type->kind == TYPE_DIALECT && type->name.size == slot->text.size && type_is(type, slot->text))
        return true;
    const Type *resolved = type_resolve(r->module, type);
    if (!resolved)
        return true; /* an alias that is not defined yet; settled when it is used as something else */
    if (slot->rule == TYPE_TENSOR_ANY)
        return resolved->kind == TYPE_TENSOR;
    return slot->rule != TYPE_CLASS || type_is(resolved, slot->text);
}

static const char *place_of(const Reader *r, const Op *op) {
    return r->base + (op->offset - r->base_offset);
}

static bool check_value(Reader *r, const Op *op, const Slot *slot, const Value *value, uint32_t index,
                        const char *what) {
    if (!value || !value->type)
        return true;
    bool class = slot->rule == TYPE_CLASS || slot->rule == TYPE_TENSOR_ANY;
    if (class && !fits_class(r, slot, value->type))
        return fail(r, place_of(r, op), "%s '%.*s' of %.*s must be a %.*s, not %.*s", what, STR_ARG(slot->name),
                    STR_ARG(op->name), STR_ARG(slot->rule == TYPE_CLASS ? slot->text : STR("tensor")),
                    STR_ARG(value->type->text));
    const Type *wanted = class ? NULL : type_by_rule(r, op, slot, index);
    if (!wanted || wanted == value->type || type_agree(r->module, wanted, value->type) != DIFFER)
        return true;
    return fail(r, place_of(r, op), "%s '%.*s' of %.*s must have type %.*s, not %.*s", what, STR_ARG(slot->name),
                STR_ARG(op->name), STR_ARG(wanted->text), STR_ARG(value->type->text));
}

bool check_op(Reader *r, Op *op) {
    const OpRow *row = op->row;
    if (!row || !row->constrained)
        return true;
    bool spread = op->segments || op->operand_count == row->operand_count;
    for (unsigned slot = 0; spread && slot < row->operand_count; slot++) {
        if (row->operands[slot].rule == TYPE_ANY)
            continue;
        uint32_t count;
        Value **values = op_operands_at(op, slot, &count);
        for (uint32_t i = 0; i < count; i++)
            if (!check_value(r, op, &row->operands[slot], values[i], i, "operand"))
                return false;
    }
    /* Results only where each entry is exactly one: others are told apart by their format alone. */
    for (unsigned slot = 0; slot < row->result_count && slot < op->result_count; slot++) {
        if (row->results[slot].arity != SLOT_ONE)
            break;
        if (row->results[slot].rule != TYPE_ANY &&
            !check_value(r, op, &row->results[slot], &op->results[slot], 0, "result"))
            return false;
    }
    return true;
}
