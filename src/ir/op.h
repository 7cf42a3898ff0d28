/* Questions about one op or value, answered by its row and its attributes. NULL is no op, and has none of it. */
#ifndef IR_OP_H
#define IR_OP_H

#include "ir/ir.h"
#include "ir/optable.h"
#include "ir/ptx_module.h"

/* What it does to the flow of control; CONTROL_UNKNOWN for an op without a row. */
static inline Control op_control(const Op *op) {
    return !op ? CONTROL_NONE : op->row ? op->row->control.kind : CONTROL_UNKNOWN;
}
static inline bool op_is_control(const Op *op, Control kind) {
    return op_control(op) == kind;
}
/* Whether it runs a region again and again. */
static inline bool op_is_loop(const Op *op) {
    Control kind = op_control(op);
    return kind == CONTROL_LOOP || kind == CONTROL_WHILE;
}
/* Which descriptor or block pointer it makes. */
static inline Describe op_describes(const Op *op) {
    return op && op->row ? op->row->describes.kind : DESCRIBE_NONE;
}
static inline bool op_is_terminator(const Op *op) {
    return op && op->row && (op->row->traits & TERMINATOR);
}

/* How its result `index` is made. */
static inline Evaluator op_evaluator_at(const Op *op, unsigned index) {
    return op && op->row ? (Evaluator)op->row->evaluators[index < MAX_EVALUATORS ? index : MAX_EVALUATORS - 1]
                         : EVALUATE_NONE;
}
static inline Evaluator op_evaluator(const Op *op) {
    return op_evaluator_at(op, 0);
}

static inline bool op_is(const Op *op, OpClass class) {
    return op && op->row && op->row->classes[class / 64] >> class % 64 & 1;
}

/* The dialect that it is of, by today's name: "ttg"; empty for an op without a row. */
Str op_dialect(const Op *op);

/* The op that a value is a result of; NULL for an argument. */
static inline const Op *value_op(const Value *value) {
    return value && value->is_result ? value->owner : NULL;
}
/* The op whose region starts with the block that the value is an argument of; NULL if it is none of such a block. */
const Op *value_holder(const Value *value);
/* The op that made it, if that one is evaluated so; else NULL. */
const Op *value_made(const Value *value, Evaluator how);
/* Whether it is written as a number, and which. */
bool value_constant(const Value *value, int64_t *number);
/* The number of the slot of a ring that a view is of, as far as views of views show it; NULL if it is of none. */
const Value *value_slot(const Value *view);
/* As the text names it: %a, or %a#1 of several results. */
void value_print(const Value *value, Text *to);

/* The operands, or the first one, of the row's entry of that name; NULL if there is none. */
Value **op_operands_named(const Op *op, const char *name, uint32_t *count);
Value *op_operand_named(const Op *op, const char *name);
/* Those of an entry of the row: REF_NONE has none. */
Value **op_operands_of(const Op *op, SlotRef entry, uint32_t *count);
Value *op_operand_of(const Op *op, SlotRef entry);

/* The attribute of an entry of the row; NULL if there is none. */
const Attr *op_attr_of(const Op *op, SlotRef entry);
/* The entry of the row's WAITS column that is about the counter; NULL if none is. */
const WaitEntry *counter_entry(const Op *op, WaitCounter counter);
/* A number, a boolean, or a word of the enumeration that the row's entry names, as a number. */
bool attr_number(const Attr *attr, const Slot *slot, int64_t *value);
bool op_number(const Op *op, const char *name, int64_t *value);
/* The integers of 4 : i32, array<i32: 4, 5>, dense<4> : tensor<2xi32> or dense<[4, 5]>: how many are written, of which
 * at most `most` are kept, and counting ends past them; 0 if something else is among them. */
uint32_t attr_numbers(const Attr *attr, int64_t *numbers, uint32_t most);
/* An attribute that is an integer, or a boolean that is true (a unit is). */
bool op_integer(const Op *op, const char *name, int64_t *value);
bool attr_is_true(const Attr *attr);
bool op_flag(const Op *op, const char *name);
/* The attribute of the op, or of the nearest op around it that has one of that name; NULL if none has. */
const Attr *op_attr_around(const Op *op, const char *name);

/* The text of an attribute that is a string, without its quotes; empty if it is none. */
Str op_string(const Op *op, const char *name);
/* The statements of inline assembly. The front end has read them; all zero: it has not. */
PtxModule *op_assembly(Module *module, const Op *op);

/* The line of the file where it stands, from 1 on. */
uint32_t op_line(const Module *module, const Op *op);

#endif
