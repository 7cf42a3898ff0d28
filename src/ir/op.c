/* What rows and attributes say of one op. */
#include "ir/op.h"

const Op *value_holder(const Value *value) {
    if (!value || value->is_result)
        return NULL;
    const Block *block = value->owner;
    return block->region && block == block->region->first ? block->region->op : NULL;
}

const Op *value_made(const Value *value, Evaluator how) {
    const Op *op = value_op(value);
    return op && op->form != FORM_OPAQUE && op_evaluator_at(op, value->index) == how ? op : NULL;
}

bool value_constant(const Value *value, int64_t *number) {
    const Op *op = value_made(value, EVALUATE_CONSTANT);
    const Attr *attr = op ? op_attr(op, "value") : NULL;
    if (!attr || (attr->kind != ATTR_INTEGER && attr->kind != ATTR_BOOL) || !attr->exact)
        return false;
    *number = attr->kind == ATTR_BOOL || (attr->type && attr->type->width == 1) ? attr->integer != 0 : attr->integer;
    return true;
}

Value **op_operands_of(const Op *op, SlotRef entry, uint32_t *count) {
    *count = 0;
    return op && entry.column == REF_OPERAND ? op_operands_at(op, entry.index, count) : NULL;
}

Value *op_operand_of(const Op *op, SlotRef entry) {
    uint32_t count;
    Value **values = op_operands_of(op, entry, &count);
    return count ? values[0] : NULL;
}

static SlotRef operand_entry(const Op *op, const char *name) {
    int slot = op && op->row ? op_slot(op->row->operands, op->row->operand_count, str_of(name)) : -1;
    return slot < 0 ? (SlotRef){REF_NONE, 0} : (SlotRef){REF_OPERAND, (uint8_t)slot};
}

Value **op_operands_named(const Op *op, const char *name, uint32_t *count) {
    return op_operands_of(op, operand_entry(op, name), count);
}

Value *op_operand_named(const Op *op, const char *name) {
    return op_operand_of(op, operand_entry(op, name));
}

const Attr *op_attr_of(const Op *op, SlotRef entry) {
    if (!op || entry.column != REF_ATTR)
        return NULL;
    const Attr *attr = op->attrs ? op->attrs[entry.index] : NULL;
    attr = attr ? attr : dict_get(op->dict, op->row->attrs[entry.index].name);
    return attr ? attr : dict_get(op->properties, op->row->attrs[entry.index].name);
}

const WaitEntry *counter_entry(const Op *op, WaitCounter counter) {
    for (unsigned i = 0; op->row && i < MAX_WAITS; i++)
        if (op->row->waits[i].counter == counter)
            return &op->row->waits[i];
    return NULL;
}

bool op_integer(const Op *op, const char *name, int64_t *value) {
    const Attr *attr = op_attr(op, name);
    if (!attr || attr->kind != ATTR_INTEGER)
        return false;
    *value = attr->integer;
    return true;
}

bool op_flag(const Op *op, const char *name) {
    const Attr *attr = op_attr(op, name);
    return attr && (attr->kind == ATTR_UNIT || (attr->kind == ATTR_BOOL && attr->integer));
}

const Attr *op_attr_around(const Op *op, const char *name) {
    const Attr *attr = NULL;
    for (; op && !attr; op = op_parent(op))
        attr = op_attr(op, name);
    return attr;
}

uint32_t op_line(const Module *module, const Op *op) {
    return source_place(module->source, op->offset).line;
}
