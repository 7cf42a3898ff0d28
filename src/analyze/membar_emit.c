/* The IR with the barriers that it needs: they are put in, the module is printed, and all is put back as it was. */
#include "analyze/membar_report.h"

#include "ir/optable.h"
#include "ir/print.h"

/* A change of the IR: an op that was put in, or one that was taken out. */
typedef struct Edit {
    Op *op;
    bool added;
} Edit;

static void link_op(Op *op) {
    *(op->prev ? &op->prev->next : &op->block->first) = op;
    *(op->next ? &op->next->prev : &op->block->last) = op;
}

/* The op itself goes on to know its neighbours, so that link_op undoes it. */
static void unlink_op(Op *op) {
    *(op->prev ? &op->prev->next : &op->block->first) = op->next;
    *(op->next ? &op->next->prev : &op->block->last) = op->prev;
}

/* In the first format of its row, at the place in the kernel's source of the op that it is for. */
static Op *make_barrier(Module *module, MembarKind kind, const Op *at) {
    Op *op = ARENA_NEW(&module->arena, Op);
    op->row = op_row_by_id(kind == MEMBAR_CLUSTER ? OP_ttng_cluster_barrier : OP_ttg_barrier);
    op->name = op->row->name;
    op->block = at->block;
    op->location = at->location;
    op->offset = at->offset;
    op->attrs = ARENA_ARRAY(&module->arena, const Attr *, op->row->attr_count);
    if (kind != MEMBAR_CLUSTER) {
        Attr *space = ARENA_NEW(&module->arena, Attr);
        *space = (Attr){.text = STR("local"), .kind = ATTR_KEYWORD};
        op->attrs[op_slot(op->row->attrs, op->row->attr_count, STR("addrSpace"))] = space;
    }
    return op;
}

static void put_in(Op *op, const MembarNeed *need) {
    Op *at = (Op *)need->op;
    op->prev = need->after ? at : at->prev;
    op->next = need->after ? at->next : at;
    link_op(op);
}

void membar_emit(Module *module, const MembarResult *const *results, size_t count, bool prune, Text *to) {
    size_t most = 0, made = 0;
    for (size_t i = 0; i < count; i++)
        most += results[i]->need_count + results[i]->present_count;
    Edit *edits = ARENA_ARRAY(&module->arena, Edit, most + 1);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < results[i]->need_count; k++)
            edits[made++] =
                (Edit){make_barrier(module, results[i]->needs[k].kind, results[i]->needs[k].op), .added = true};
    /* From here on nothing allocates from the arena, which could jump and leave the module changed. */
    made = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < results[i]->need_count; k++)
            put_in(edits[made++].op, &results[i]->needs[k]);
    for (size_t i = 0; i < count && prune; i++)
        for (size_t k = 0; k < results[i]->present_count; k++)
            if (results[i]->present[k].needless) {
                edits[made++] = (Edit){.op = (Op *)results[i]->present[k].op};
                unlink_op(edits[made - 1].op);
            }
    print_module(module, PRINT_AS_WRITTEN, to);
    while (made-- > 0)
        if (edits[made].added)
            unlink_op(edits[made].op);
        else
            link_op(edits[made].op);
}
