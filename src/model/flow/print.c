/* Effects with who runs them, and control flow, a line for each thing. */
#include "model/flow/print.h"

#include "ir/op.h"
#include "model/effect/effect.h"
#include "model/flow/flow.h"
#include "model/flow/partition.h"

static void print_place(const Module *module, const Op *op, Text *to) {
    text_addf(to, "%u: ", op_line(module, op));
    text_str(to, op->shorthand && op->row ? op->row->name : op->name);
}

void effects_print(Module *module, Text *to) {
    Effect effects[EFFECTS_MOST];
    for (const Op *op = module_first_op(module); op; op = op_next_in_walk(op, NULL)) {
        unsigned count = op->implicit ? 0 : effects_of(module, op, effects);
        Partitions partitions = partitions_of(op);
        if (!count)
            continue;
        print_place(module, op, to);
        if (partitions.mask) {
            text_addf(to, " [");
            partition_print(partitions, to);
            text_char(to, ']');
        }
        text_char(to, '\n');
        for (unsigned i = 0; i < count; i++) {
            text_addf(to, "    ");
            effect_print(&effects[i], to);
            text_char(to, '\n');
        }
    }
}

static void print_edge(const FlowEdge *edge, Text *to) {
    text_addf(to, "    to piece %u", edge->to);
    if (edge->enters != FLOW_NONE)
        text_addf(to, ", enters loop %u", edge->enters);
    if (edge->back)
        text_addf(to, ", back");
    if (edge->round)
        text_addf(to, ", ends a round");
    if (edge->loop != FLOW_NONE)
        text_addf(to, " of loop %u", edge->loop);
    if (edge->all_meet)
        text_addf(to, ", where all threads synchronize");
    text_char(to, '\n');
}

void flow_print(const Module *module, const Op *function, Arena *arena, Text *to) {
    Flow flow = flow_of(function, arena);
    for (uint32_t i = 0; i < flow.piece_count; i++) {
        const FlowPiece *piece = &flow.pieces[i];
        text_addf(to, "  piece %u%s%s\n", i, piece->entry ? ", entry" : "", piece->returns ? ", returns" : "");
        for (uint32_t k = 0; k < piece->count; k++) {
            text_addf(to, "    ");
            print_place(module, flow.ops[piece->first + k].op, to);
            text_char(to, '\n');
        }
        for (uint32_t k = 0; k < piece->edge_count; k++)
            print_edge(&flow.edges[piece->first_edge + k], to);
    }
    for (uint32_t i = 0; i < flow.loop_count; i++) {
        const FlowLoop *loop = &flow.loops[i];
        text_addf(to, "  loop %u%s", i, loop->first_block ? ", of branches" : "");
        if (loop->parent != FLOW_NONE)
            text_addf(to, ", in loop %u", loop->parent);
        text_addf(to, ": ");
        print_place(module, loop->op, to);
        text_char(to, '\n');
    }
    if (flow.irreducible)
        text_addf(to, "  an irreducible loop is entered in two places\n");
}
