/* What rows and attributes say of one op. */
#include "ir/op.h"

#include "ir/memo.h"

Str op_dialect(const Op *op) {
    Str name = op && op->row ? op->row->name : (Str){"", 0};
    const char *dot = memchr(name.data, '.', name.size);
    return dot ? str_between(name.data, dot) : (Str){"", 0};
}

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

const Value *value_slot(const Value *view) {
    enum { MOST_VIEWS = 16 };
    for (int step = 0; value_op(view) && step < MOST_VIEWS; step++) {
        const Op *op = view->owner;
        if (op_is(op, CLASS_INDEX))
            return op->operand_count > 1 ? op->operands[1] : NULL;
        view = op->operand_count ? op->operands[0] : NULL;
    }
    return NULL;
}

void value_print(const Value *value, Text *to) {
    const Value *first = value;
    while (first->is_result && first->pack == 0 && first->index > 0)
        first--;
    text_char(to, '%');
    if (first->name)
        text_add_plain(to, first->name->text);
    if (first->pack > 1)
        text_addf(to, "#%u", (unsigned)(value - first));
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

static Str without_quotes(Str text) {
    bool quoted = text.size >= 2 && text.data[0] == '"' && text.data[text.size - 1] == '"';
    return quoted ? (Str){text.data + 1, text.size - 2} : text;
}

bool attr_number(const Attr *attr, const Slot *slot, int64_t *value) {
    if (!attr)
        return false;
    if (attr->kind == ATTR_INTEGER || attr->kind == ATTR_BOOL) {
        *value = attr->integer;
        return attr->exact;
    }
    return (attr->kind == ATTR_KEYWORD || attr->kind == ATTR_STRING) && slot->enumeration &&
           enum_value(slot->enumeration, without_quotes(attr->text), value);
}

bool op_number(const Op *op, const char *name, int64_t *value) {
    int slot = op->row ? op_slot(op->row->attrs, op->row->attr_count, str_of(name)) : -1;
    return slot >= 0 && attr_number(op_attr(op, name), &op->row->attrs[slot], value);
}

static uint32_t dense_numbers(Str body, int64_t *numbers, uint32_t most) {
    const char *at = body.data, *end = at + body.size;
    uint32_t count = 0;
    int64_t number;
    while (at < end && count <= most) {
        const char *start = at;
        while (at < end && !strchr(" ,[]", *at))
            at++;
        if (at == start) {
            at++;
            continue;
        }
        if (!str_to_int(str_between(start, at), &number))
            return 0;
        if (count < most)
            numbers[count] = number;
        count++;
    }
    return count;
}

uint32_t attr_numbers(const Attr *attr, int64_t *numbers, uint32_t most) {
    if (attr->kind == ATTR_DENSE && str_starts(attr->text, STR("dense<")))
        return dense_numbers(attr->body, numbers, most);
    bool one = attr->kind == ATTR_INTEGER;
    uint32_t count = one ? 1 : attr->kind == ATTR_INTS ? attr->count : 0;
    for (uint32_t i = 0; i < count && i < most; i++)
        numbers[i] = one ? attr->integer : attr->ints[i];
    return count;
}

bool op_integer(const Op *op, const char *name, int64_t *value) {
    const Attr *attr = op_attr(op, name);
    if (!attr || attr->kind != ATTR_INTEGER)
        return false;
    *value = attr->integer;
    return true;
}

bool attr_is_true(const Attr *attr) {
    return attr && (attr->kind == ATTR_UNIT || (attr->kind == ATTR_BOOL && attr->integer));
}

bool op_flag(const Op *op, const char *name) {
    return attr_is_true(op_attr(op, name));
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

Str op_string(const Op *op, const char *name) {
    const Attr *attr = op_attr(op, name);
    return attr && attr->kind == ATTR_STRING ? without_quotes(attr->text) : (Str){"", 0};
}

PtxModule *op_assembly(Module *module, const Op *op) {
    bool fresh;
    return module_memo(module, "asm", op_attr(op, "asm_string"), sizeof(PtxModule), &fresh);
}
