/* Finds the rings in a loop: slots of memory that are chosen again in every turn, and barriers whose phases change. */
#include "machine/tile/launch/rings.h"

#include "machine/tile/compile/block_loops.h"

#include "ir/op.h"
#include "model/memory/views.h"

uint32_t slots_viewed(Module *module, const Op *op, const Effect *view) {
    const Type *type = view->amount ? type_resolve(module, view->amount->type) : NULL;
    int64_t number;
    if (!type || !type_is(type, STR("ttg.memdesc")) || type->dim_count < 2)
        return 0;
    ViewStep step = view_step_of_result(module, op, view->on->index);
    bool chosen = step.index && !value_constant(step.index, &number);
    return chosen && type->dims[0] > 0 && type->dims[0] < 1 << 16 ? (uint32_t)type->dims[0] : 0;
}

/* How many slots an op goes through, one a turn; 0: it is about none. */
static uint32_t slots_of(Module *module, const Op *op) {
    Effect effects[EFFECTS_MOST];
    unsigned count = op->row && *op->row->effects ? effects_of(module, op, effects) : 0;
    uint32_t most = 0;
    for (unsigned i = 0; i < count; i++) {
        bool phases =
            effect_is_barrier(&effects[i]) && effects[i].verb != EFFECT_INIT && effects[i].verb != EFFECT_INVALIDATE;
        uint32_t slots = effects[i].verb == EFFECT_VIEW ? slots_viewed(module, op, &effects[i]) : phases;
        most = slots > most ? slots : most;
    }
    return most;
}

/* The innermost loop around it, up to `loop`, that can run more or less often. */
static const Op *open_loop_around(Solver *solver, const Op *op, const Op *loop) {
    const Op *around = op_parent(op);
    while (around != loop && (!op_is_loop(around) || solver_same_trips(solver, around)))
        around = op_parent(around);
    return around;
}

uint32_t ring_in_blocks(Solver *solver, Module *module, const Block *head) {
    uint32_t most = 0;
    for (const Block *block = head; block; block = block->next) {
        if (block != head && !block_loop_has(head, block))
            continue;
        for (const Op *first = block->first; first; first = first->next)
            for (const Op *op = first; op; op = op_next_in_walk(op, first)) {
                uint32_t slots = slots_of(module, op);
                if (slots > most && open_loop_around(solver, op, op_parent(head->first)) == op_parent(head->first))
                    most = slots;
            }
    }
    return most;
}

uint32_t ring_in_loop(Solver *solver, Module *module, const Op *loop) {
    uint32_t most = 0;
    for (const Op *op = op_next_in_walk(loop, loop); op; op = op_next_in_walk(op, loop)) {
        uint32_t slots = slots_of(module, op);
        if (slots > most && open_loop_around(solver, op, loop) == loop)
            most = slots;
    }
    return most;
}
