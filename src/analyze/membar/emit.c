/* The IR with the barriers that it needs. */
#include "analyze/membar/report.h"

#include "ir/edit.h"
#include "ir/op_ids.h"
#include "ir/optable.h"

static Op *make_barrier(Module *module, MembarKind kind, const Op *at) {
    Op *op = edit_new_op(module, kind == MEMBAR_CLUSTER ? OP_ttng_cluster_barrier : OP_ttg_barrier, at);
    if (kind != MEMBAR_CLUSTER) {
        Attr *space = ARENA_NEW(&module->arena, Attr);
        *space = (Attr){.text = STR("local"), .kind = ATTR_KEYWORD};
        op->attrs[op_slot(op->row->attrs, op->row->attr_count, STR("addrSpace"))] = space;
    }
    return op;
}

void membar_emit(Module *module, const MembarResult *const *results, size_t count, bool prune, Text *to) {
    size_t most = 0, made = 0;
    for (size_t i = 0; i < count; i++)
        most += results[i]->need_count + results[i]->present_count;
    Edit *edits = ARENA_ARRAY(&module->arena, Edit, most + 1);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < results[i]->need_count; k++) {
            const MembarNeed *need = &results[i]->needs[k];
            edits[made++] = (Edit){make_barrier(module, need->kind, need->op), need->op, need->after};
        }
    for (size_t i = 0; i < count && prune; i++)
        for (size_t k = 0; k < results[i]->present_count; k++)
            if (results[i]->present[k].needless)
                edits[made++] = (Edit){.op = (Op *)results[i]->present[k].op};
    edits_print(module, edits, made, to);
}
