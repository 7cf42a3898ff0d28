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

const Type *type_by_rule(MlirReader *r, const Op *op, const Slot *slot, uint32_t index) {
    const Type *of = type_of(op, slot->of, index);
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
        return of;
    case TYPE_I1_OF:
        return of ? type_i1_like(r->module, of) : NULL;
    case TYPE_I32_OF:
        return of ? type_i32_like(r->module, of) : NULL;
    case TYPE_POINTEE_OF:
        return of ? type_pointee(r->module, of) : NULL;
    case TYPE_ELEMENT_OF:
        return of ? type_element(r->module, of) : NULL;
    }
    return NULL;
}

/* A kind of type, not one type. */
static bool fits_class(MlirReader *r, const Slot *slot, const Type *type) {
    if (type->kind == TYPE_DIALECT && type->name.size == slot->text.size && type_is(type, slot->text))
        return true;
    const Type *resolved = type_resolve(r->module, type);
    if (!resolved)
        return true; /* an alias that is not defined yet; settled when it is used as something else */
    if (slot->rule == TYPE_TENSOR_ANY)
        return resolved->kind == TYPE_TENSOR;
    return slot->rule != TYPE_CLASS || type_is(resolved, slot->text);
}

/* Where the text names an operand: the references of the op are still on the stack. */
static const char *place_of(const MlirReader *r, const Op *op, uint32_t operand_mark, unsigned slot, uint32_t index) {
    uint32_t flat = index;
    for (unsigned i = 0; op->segments && i < slot; i++)
        flat += op->segments[i];
    if (!op->segments)
        flat += slot;
    for (uint32_t i = operand_mark, seen = 0; i < r->operands.count; i++) {
        const OperandRef *ref = &r->operands.items[i];
        if (op->form == FORM_PRETTY ? ref->slot == slot && seen++ == index : i - operand_mark == flat)
            return text_at(r, ref->at);
    }
    return text_at(r, op->offset);
}

/* An operand of entry `operand_slot`, or, if that is -1, a result. */
static bool check_value(MlirReader *r, const Op *op, const Slot *slot, const Value *value, uint32_t index,
                        uint32_t operand_mark, int operand_slot) {
    if (!value || !value->type)
        return true;
    bool class = slot->rule == TYPE_CLASS || slot->rule == TYPE_TENSOR_ANY;
    const Type *wanted = class ? NULL : type_by_rule(r, op, slot, index);
    bool result = operand_slot < 0;
    if (class ? fits_class(r, slot, value->type) : !wanted || wanted == value->type)
        return true;
    Agreement agreement = class ? DIFFER : type_agree(r->module, wanted, value->type);
    if (agreement == LATER && !result && value->name)
        PUSH(r, r->late) = (LateCheck){wanted, value->type, value->name,
                                       offset_of(r, place_of(r, op, operand_mark, (unsigned)operand_slot, index))};
    if (agreement != DIFFER)
        return true;
    const char *what = result ? "result" : "operand";
    const char *at = result ? text_at(r, op->offset) : place_of(r, op, operand_mark, (unsigned)operand_slot, index);
    if (class)
        return fail(r, at, "%s '%.*s' of %.*s must be a %.*s, not %.*s", what, STR_ARG(slot->name), STR_ARG(op->name),
                    STR_ARG(slot->rule == TYPE_CLASS ? slot->text : STR("tensor")), STR_ARG(value->type->text));
    return fail(r, at, "%s '%.*s' of %.*s must have type %.*s, not %.*s", what, STR_ARG(slot->name), STR_ARG(op->name),
                STR_ARG(wanted->text), STR_ARG(value->type->text));
}

/* A result that has the type of an operand: where the text gives it another, that is the operand's fault. */
static bool check_result(MlirReader *r, const Op *op, const Slot *slot, const Value *result, uint32_t index,
                         uint32_t operand_mark) {
    if (slot->rule != TYPE_SAME || slot->of.column != REF_OPERAND || !result->type)
        return check_value(r, op, slot, result, index, operand_mark, -1);
    const Type *operand = type_of(op, slot->of, index);
    uint32_t count;
    Value **values = op_operands_at(op, slot->of.index, &count);
    uint32_t which = count == 1 ? 0 : index;
    if (!operand && which < count && values[which])
        values[which]->type = result->type; /* of an op that the table does not know: its first use tells */
    if (!operand || operand == result->type || type_agree(r->module, operand, result->type) != DIFFER)
        return true;
    return fail(r, place_of(r, op, operand_mark, slot->of.index, which), "'%%%.*s' is used as %.*s but has type %.*s",
                STR_ARG(values[which]->name->text), STR_ARG(result->type->text), STR_ARG(operand->text));
}

/* How many operands and results the generic form gives, against what the row allows. */
static bool check_counts(MlirReader *r, const Op *op) {
    const OpRow *row = op->row;
    unsigned least = row->operand_count - row->varying, results = 0;
    bool open = row->varying > 0, open_results = false;
    for (unsigned i = 0; i < row->result_count; i++) {
        results += row->results[i].arity == SLOT_ONE;
        open_results |= row->results[i].arity != SLOT_ONE;
    }
    if (op->operand_count < least || (!open && op->operand_count > least))
        return fail(r, text_at(r, op->offset), "%.*s takes %s%u operand%s, not %u", STR_ARG(op->name),
                    open ? "at least " : "", least, least == 1 ? "" : "s", op->operand_count);
    if (op->result_count < results || (!open_results && op->result_count > results))
        return fail(r, text_at(r, op->offset), "%.*s has %s%u result%s, not %u", STR_ARG(op->name),
                    open_results ? "at least " : "", results, results == 1 ? "" : "s", op->result_count);
    return true;
}

bool check_op(MlirReader *r, Op *op, uint32_t operand_mark) {
    const OpRow *row = op->row;
    if (!row || (op->form == FORM_GENERIC && !check_counts(r, op)))
        return !row;
    if (!row->constrained)
        return true;
    bool spread = op->segments || (!row->varying && op->operand_count == row->operand_count);
    /* Results only where each entry is exactly one, or mirrors the operands: others are told apart by their
     * format alone. */
    for (unsigned slot = 0; spread && slot < row->result_count && slot < op->result_count; slot++) {
        const Slot *result = &row->results[slot];
        bool mirror = result->arity == SLOT_MANY && result->rule == TYPE_SAME && row->result_count == 1;
        if (result->arity != SLOT_ONE && !mirror)
            break;
        for (uint32_t i = 0; result->rule != TYPE_ANY && i < (mirror ? op->result_count : 1); i++)
            if (!check_result(r, op, result, &op->results[slot + i], i, operand_mark))
                return false;
    }
    Value **values = op->operands;
    for (unsigned slot = 0; spread && slot < row->operand_count; slot++) {
        uint32_t count = op->segments ? op->segments[slot] : 1;
        for (uint32_t i = 0; row->operands[slot].rule != TYPE_ANY && i < count; i++)
            if (!check_value(r, op, &row->operands[slot], values[i], i, operand_mark, (int)slot))
                return false;
        values = count ? values + count : values;
    }
    return true;
}

/* ---- What regions hand over ------------------------------------------------------------------ */

/* The values that a terminator hands over, against the types that are waited for. */
static bool check_forwarded(MlirReader *r, const Op *last, uint32_t count, const Type *const *types,
                            const Value *values, const Op *to) {
    if (last->operand_count != count)
        return fail(r, text_at(r, last->offset), "%.*s passes %u value%s, but %.*s needs %u", STR_ARG(last->name),
                    last->operand_count, last->operand_count == 1 ? "" : "s", STR_ARG(to->name), count);
    for (uint32_t i = 0; i < count; i++) {
        const Type *wanted = types ? types[i] : values[i].type;
        const Value *value = last->operands[i];
        if (value && type_agree(r->module, wanted, value->type) == DIFFER)
            return fail(r, text_at(r, last->offset), "'%%%.*s' has type %.*s, but %.*s needs %.*s here",
                        STR_ARG(value->name->text), STR_ARG(value->type->text), STR_ARG(to->name),
                        STR_ARG(wanted->text));
    }
    return true;
}

bool check_yields(MlirReader *r, Op *op) {
    const OpRow *row = op->row;
    const Function *function = op_function(op);
    int yields = row ? row_yields(row) : -1;
    if (yields < 0 && !function)
        return true;
    for (uint32_t i = 0; i < op->region_count; i++) {
        for (const Block *block = op->regions[i].first; block; block = block->next) {
            const Op *last = block->last;
            bool good = true;
            if (function && op_is_control(last, CONTROL_RETURN))
                good = check_forwarded(r, last, function->result_count, function->result_types, NULL, op);
            else if (!function && last && last->row && (int)last->row->id == yields)
                good = check_forwarded(r, last, op->result_count, NULL, op->results, op);
            if (!good)
                return false;
        }
    }
    return true;
}

bool check_branches(MlirReader *r, const Op *op) {
    const OpExtra *extra = op->extra;
    if (!extra || !extra->successor_sizes || op->form != FORM_PRETTY)
        return true; /* the generic form does not say which operands go where */
    uint32_t total = 0;
    for (uint32_t i = 0; i < extra->successor_count; i++)
        total += extra->successor_sizes[i];
    uint32_t next = op->operand_count - total; /* they come last */
    for (uint32_t i = 0; i < extra->successor_count; i++) {
        const Block *to = extra->successors[i];
        if (extra->successor_sizes[i] != to->arg_count)
            return fail(r, text_at(r, op->offset), "block '^%.*s' has %u argument%s, but %u value%s passed to it",
                        STR_ARG(to->label->text), to->arg_count, to->arg_count == 1 ? "" : "s",
                        extra->successor_sizes[i], extra->successor_sizes[i] == 1 ? " is" : "s are");
        for (uint32_t k = 0; k < to->arg_count; k++) {
            const Value *value = op->operands[next++];
            if (value && type_agree(r->module, to->args[k].type, value->type) == DIFFER)
                return fail(r, text_at(r, op->offset),
                            "'%%%.*s' has type %.*s, but '%%%.*s' of block '^%.*s' has type %.*s",
                            STR_ARG(value->name->text), STR_ARG(value->type->text), STR_ARG(to->args[k].name->text),
                            STR_ARG(to->label->text), STR_ARG(to->args[k].type->text));
        }
    }
    return true;
}
