/* Ops linked in and out of their blocks. */
#include "ir/edit.h"

#include "ir/optable.h"
#include "ir/print.h"

Op *edit_new_op(Module *module, unsigned row, const Op *at) {
    Op *op = ARENA_NEW(&module->arena, Op);
    op->row = op_row_by_id(row);
    op->name = op->row->name;
    op->block = at->block;
    op->location = at->location;
    op->offset = at->offset;
    op->attrs = ARENA_ARRAY(&module->arena, const Attr *, op->row->attr_count);
    return op;
}

static void link_op(Op *op) {
    *(op->prev ? &op->prev->next : &op->block->first) = op;
    *(op->next ? &op->next->prev : &op->block->last) = op;
}

/* The op itself goes on to know its neighbors, so that link_op undoes it. */
static void unlink_op(Op *op) {
    *(op->prev ? &op->prev->next : &op->block->first) = op->next;
    *(op->next ? &op->next->prev : &op->block->last) = op->prev;
}

static void insert(const Edit *edit) {
    Op *op = edit->op, *at = (Op *)edit->at;
    op->prev = edit->after ? at : at->prev;
    op->next = edit->after ? at->next : at;
    link_op(op);
}

void edit_insert(Op *op, const Op *before) {
    op->implicit = true;
    insert(&(Edit){.op = op, .at = before});
}

void edit_move(Op *op, const Op *before) {
    unlink_op(op);
    insert(&(Edit){.op = op, .at = before});
}

/* Nothing in here allocates from the arena, which could jump and leave the module changed. */
void edits_print(Module *module, const Edit *edits, size_t count, Text *to) {
    for (size_t i = 0; i < count; i++)
        if (edits[i].at)
            insert(&edits[i]);
        else
            unlink_op(edits[i].op);
    print_module(module, PRINT_AS_WRITTEN, to);
    while (count-- > 0)
        if (edits[count].at)
            unlink_op(edits[count].op);
        else
            link_op(edits[count].op);
}
