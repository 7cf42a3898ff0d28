/* A function as nodes: which of its ops touch memory or order accesses, and what exactly each of them does. */
#include "check/membar/internal.h"

#include <stdlib.h>

#include "base/order.h"
#include "model/flow/symbol.h"
#include "model/layout/layout.h"
#include "model/memory/views.h"

/* A storage of tensor memory begins this many columns after the one before it. */
static const int64_t storage_stride = INT64_C(1) << 32;

typedef struct MembarCompiler {
    Membar *membar;
    const Pointers *callees;
    Membar *const *analyses;
    Allocations allocations;
    Pointers used;   /* atomics whose results are used */
    OpFacts *facts;  /* by place in the flow */
    bool *later;     /* by place in the flow: a barrier follows before anything else happens */
    uint32_t *stops; /* by place in the flow: where such a search ends */
} MembarCompiler;

void membar_problem(Membar *membar, const Op *op, const char *sentence) {
    if (membar->problem)
        return;
    membar->problem = sentence;
    membar->problem_op = op;
}

/* ---- Buffers --------------------------------------------------------------------------------------------------- */

static void index_placements(Membar *membar) {
    Pointers *tables[] = {[PLACED_ALLOCATION] = &membar->allocated,
                          [PLACED_SCRATCH] = &membar->scratched,
                          [PLACED_CALL] = &membar->framed};
    for (uint32_t i = membar->placements.count; i-- > 0;) /* the first piece of each is found */
        pointers_set(tables[membar->placements.items[i].kind], membar->placements.items[i].op, i);
    if (membar->placements.problem)
        membar_problem(membar, NULL, membar->placements.problem);
}

static const Placed *placed_of(const Membar *membar, const Pointers *table, const Op *op) {
    uint32_t index = pointers_get(table, op);
    return index == NO_NUMBER ? NULL : &membar->placements.items[index];
}

uint32_t membar_add_buffer(Membar *membar, MembarBuffer buffer) {
    *MEMBAR_PUSH(membar, buffers, buffer) = buffer;
    return membar->buffer_count - 1;
}

uint32_t membar_somewhere(Membar *membar, Space space) {
    uint32_t *place = &membar->somewhere[space == SPACE_TENSOR];
    if (!*place)
        *place = 1 + membar_add_buffer(membar, (MembarBuffer){.space = space, .everywhere = true});
    return *place - 1;
}

static MembarBuffer tensor_buffer(MembarCompiler *compiler, const Op *op) {
    const Allocation *allocation = allocation_find(&compiler->allocations, op);
    if (!allocation)
        return (MembarBuffer){.op = op, .space = SPACE_TENSOR, .everywhere = true};
    const Layout *layout = op->result_count ? layout_of(compiler->membar->module, op->results[0].type) : NULL;
    int64_t column = allocation->offset.base & UINT16_MAX, half = allocation->offset.base >> 16 ? 1 : 0;
    int64_t begin = allocation->storage * storage_stride + column;
    bool sized = allocation->size > 0 && layout && layout->sized;
    return (MembarBuffer){.op = op,
                          .space = SPACE_TENSOR,
                          .begin = sized ? begin : allocation->storage * storage_stride,
                          .end = sized ? begin + allocation->size : (allocation->storage + 1) * storage_stride,
                          .rows = (uint8_t)(sized && layout->rows <= 64 ? 1 << half : 3)};
}

/* All pieces of it, and what is between them. */
static void set_place(const Membar *membar, const Placed *placed, MembarBuffer *buffer) {
    const Placed *end = membar->placements.items + membar->placements.count;
    buffer->begin = placed->begin;
    buffer->end = placed->end;
    for (const Placed *piece = placed; piece < end && piece->op == placed->op && piece->kind == placed->kind; piece++) {
        buffer->begin = piece->begin < buffer->begin ? piece->begin : buffer->begin;
        buffer->end = piece->end > buffer->end ? piece->end : buffer->end;
        buffer->everywhere |= piece->end == PLACED_ANYWHERE;
    }
}

/* Where the memory of an allocation or argument lies. What was not placed is on its own. */
static MembarBuffer buffer_of_origin(MembarCompiler *compiler, const Origin *origin, int64_t *beyond) {
    Membar *membar = compiler->membar;
    if (!origin->op)
        return (MembarBuffer){
            .space = memdesc_space(origin->argument->type), .of_caller = true, .argument = origin->argument->index};
    const Type *type = origin->op->result_count ? origin->op->results[0].type : NULL;
    if (type && memdesc_space(type) == SPACE_TENSOR)
        return tensor_buffer(compiler, origin->op);
    const Placed *placed = placed_of(membar, &membar->allocated, origin->op);
    MembarBuffer buffer = {.op = origin->op, .space = SPACE_SHARED, .begin = *beyond, .end = *beyond + 1};
    if (placed)
        set_place(membar, placed, &buffer);
    *beyond += !placed;
    return buffer;
}

static void make_buffers(MembarCompiler *compiler) {
    Membar *membar = compiler->membar;
    int64_t beyond = INT64_C(1) << 48; /* past every frame */
    membar->buffer_of = ARENA_ARRAY(membar->arena, uint32_t, membar->origins.count + 1);
    for (uint32_t i = 0; i < membar->origins.count; i++)
        membar->buffer_of[i] =
            membar_add_buffer(membar, buffer_of_origin(compiler, &membar->origins.items[i], &beyond));
}

ORDER_POINTERS(by_begin, MembarBuffer, BY(begin) BY_PLACE)

/* Buffers that touch, directly or through others. */
static void part_frame(Membar *membar, MembarBuffer **sorted, uint32_t count) {
    int64_t end = INT64_MIN;
    qsort(sorted, count, sizeof *sorted, by_begin);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || sorted[i]->begin >= end)
            membar->neighborhood_count++;
        end = sorted[i]->end > end ? sorted[i]->end : end;
        sorted[i]->neighborhood = membar->neighborhood_count - 1;
    }
}

static void part_space(Membar *membar, Space space, MembarBuffer **sorted) {
    uint32_t count = 0, caller = membar->neighborhood_count++;
    bool together = false; /* one that may be anywhere touches all */
    for (uint32_t i = 0; i < membar->buffer_count; i++)
        together |= membar->buffers[i].space == space && membar->buffers[i].everywhere;
    for (uint32_t i = 0; i < membar->buffer_count; i++) {
        MembarBuffer *buffer = &membar->buffers[i];
        if (buffer->space == space && (together || buffer->of_caller))
            buffer->neighborhood = caller;
        else if (buffer->space == space)
            sorted[count++] = buffer;
    }
    part_frame(membar, sorted, count);
}

static void make_neighborhoods(Membar *membar) {
    MembarBuffer **sorted = ARENA_ARRAY(membar->arena, MembarBuffer *, membar->buffer_count + 1);
    part_space(membar, SPACE_SHARED, sorted);
    part_space(membar, SPACE_TENSOR, sorted);
    membar->written = ARENA_ARRAY(membar->arena, bool, membar->neighborhood_count + 1);
    for (uint32_t i = 1; i < membar->access_count; i++)
        if (membar->accesses[i].kind & ACCESS_WRITE)
            membar->written[membar->buffers[membar->accesses[i].buffer].neighborhood] = true;
}

/* ---- Accesses -------------------------------------------------------------------------------------------------- */

uint32_t membar_add_access(Membar *membar, Access access) {
    const MembarBuffer *buffer = &membar->buffers[access.buffer];
    access.begin = buffer->begin;
    access.end = buffer->end;
    *MEMBAR_PUSH(membar, accesses, access) = access;
    return membar->access_count - 1;
}

/* An access to whatever the view may be a part of: one for each buffer. */
static void add_to_buffers(Membar *membar, const Value *view, Space space, Access access) {
    OriginSet set = origins_find(&membar->origins, view);
    if (set.anything) {
        access.buffer = membar_somewhere(membar, space);
        membar_add_access(membar, access);
        return;
    }
    for (uint32_t i = 0; i < set.count; i++) {
        access.buffer = membar->buffer_of[set.items[i]];
        uint32_t added = membar_add_access(membar, access);
        if (membar->model == MEMBAR_ASYNC && set.count == 1)
            membar_view_narrow(membar, view, &membar->accesses[added]);
    }
}

/* A view that was chosen, or that a loop carries, is one of those that were made: one access to each. Their indices
 * may have changed since, but for constants. */
static void add_accesses(Membar *membar, const Value *view, Space space, Access access) {
    access.type = view->type ? type_canonical(membar->module, view->type) : NULL;
    access.slot = membar->flow.irreducible ? NULL : slot_index(view);
    access.ring = access.slot ? slot_ring(view) : NULL;
    access.offsets = membar_view_offsets(membar, view);
    OriginSet made = {.anything = true};
    if (membar->model == MEMBAR_ASYNC && !access.slot)
        made = origins_find(&membar->views, view);
    if (made.anything)
        add_to_buffers(membar, view, space, access);
    for (uint32_t i = 0; i < made.count && !made.anything; i++)
        add_to_buffers(membar, membar->views.items[made.items[i]].value, space, access);
}

static const OriginSet *keep_set(Membar *membar, const Value *value) {
    OriginSet *set = ARENA_NEW(membar->arena, OriginSet);
    *set = origins_find(&membar->origins, value);
    return set;
}

/* What an effect on memory does there, and to an mbarrier. */
static const struct {
    uint8_t kind;
    MbarrierUse use;
} uses[] = {
    [EFFECT_READ] = {ACCESS_READ, MBARRIER_NONE},
    [EFFECT_WRITE] = {ACCESS_WRITE, MBARRIER_NONE},
    [EFFECT_UPDATE] = {ACCESS_READ | ACCESS_WRITE, MBARRIER_NONE},
    [EFFECT_INIT] = {ACCESS_WRITE, MBARRIER_LIFE},
    [EFFECT_INVALIDATE] = {ACCESS_WRITE, MBARRIER_LIFE},
    [EFFECT_EXPECT] = {ACCESS_WRITE, MBARRIER_SIGNAL},
    [EFFECT_ARRIVE] = {ACCESS_WRITE, MBARRIER_SIGNAL},
    [EFFECT_COMPLETE] = {ACCESS_WRITE, MBARRIER_SIGNAL},
    [EFFECT_WAIT] = {ACCESS_READ | ACCESS_WRITE, MBARRIER_WAIT},
    [EFFECT_AWAIT_LAUNCHES] = {0}, /* the last; those between touch nothing */
};

/* An arrival that is made at once looks at the barrier, too. */
static uint8_t kind_of(const Effect *effect) {
    bool looks = effect->verb == EFFECT_ARRIVE && effect->done == DONE_NOW;
    return uses[effect->verb].kind | (looks ? ACCESS_READ : 0);
}

static bool is_data(const Effect *effect) {
    return uses[effect->verb].use == MBARRIER_NONE;
}

/* What arrives at an mbarrier later, or brings bytes to it, is over when an agent waits for it. */
static void set_outstanding(Membar *membar, const Effect *effect, Access *access) {
    bool later = effect->verb == EFFECT_COMPLETE || (effect->verb == EFFECT_ARRIVE && effect->done != DONE_NOW);
    if (membar->model != MEMBAR_ASYNC)
        return;
    if (later || (is_data(effect) && (effect->done == DONE_TX || effect->done == DONE_COMMIT))) {
        access->outstanding = OUTSTANDING_MBARRIER;
        access->through = later             ? keep_set(membar, effect->on)
                          : effect->through ? keep_set(membar, effect->through)
                                            : NULL;
    } else if (is_data(effect) && effect->done == DONE_GROUP && effect->group != GROUP_NONE) {
        access->outstanding = OUTSTANDING_GROUP;
        access->group = (uint8_t)effect->group;
    }
}

static void compile_accesses(MembarCompiler *compiler, const Op *op, const Effect *effects, unsigned count) {
    Membar *membar = compiler->membar;
    uint8_t roles = membar_roles(membar, op, &compiler->used);
    bool distributed = membar->clusters && membar_distributed(membar, op, effects, count);
    for (unsigned i = 0; i < count; i++) {
        const Effect *effect = &effects[i];
        bool memory = effect->space == SPACE_SHARED || effect->space == SPACE_TENSOR;
        if (!memory || !effect->on || effect->side != SIDE_NONE || effect->on_descriptor || !kind_of(effect))
            continue;
        Access access = {.op = op,
                         .kind = kind_of(effect),
                         .roles = roles,
                         .mbarrier = uses[effect->verb].use,
                         .atomic = effect->atomic,
                         .distributed = distributed,
                         .tensor_core = effect->space == SPACE_TENSOR && effect->helper == HELPER_TENSOR,
                         .copy = effect->space == SPACE_SHARED && effect->verb == EFFECT_WRITE &&
                                 (effect->done == DONE_GROUP || effect->done == DONE_TX)};
        set_outstanding(membar, effect, &access);
        add_accesses(membar, effect->on, effect->space, access);
    }
}

/* An op that is not known may do anything with the memory it is handed. */
static void compile_unknown(Membar *membar, const Op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        Space space = op->operands[i]->type ? memdesc_space(op->operands[i]->type) : SPACE_NONE;
        if (space == SPACE_SHARED || space == SPACE_TENSOR)
            add_accesses(membar, op->operands[i], space, (Access){.op = op, .kind = ACCESS_READ | ACCESS_WRITE});
    }
    membar_problem(membar, op, "what this op does to memory is not known");
}

static void compile_scratch(Membar *membar, const Op *op, Scratch scratch, MembarNode *node) {
    const Placed *placed = placed_of(membar, &membar->scratched, op);
    MembarBuffer buffer = {.op = op, .space = SPACE_SHARED, .scratch = true, .everywhere = !placed};
    if (placed)
        set_place(membar, placed, &buffer);
    Access access = {.op = op, .buffer = membar_add_buffer(membar, buffer), .kind = ACCESS_WRITE};
    node->scratch = membar->access_count;
    membar_add_access(membar, access);
    access.kind = ACCESS_READ;
    access.distributed = scratch.crosses_ctas; /* each CTA writes its own, and reads that of others */
    membar_add_access(membar, access);
}

/* ---- Flight ---------------------------------------------------------------------------------------------------- */

static void add_step(Membar *membar, OutstandingStep step) {
    *MEMBAR_PUSH(membar, steps, step) = step;
}

/* What a wait for instructions, not groups, leaves in flight depends on how many instructions a copy becomes. */
static void compile_await(Membar *membar, const Effect *effect) {
    OutstandingStep step = {
        .kind = STEP_AWAIT, .group = effect->group, .uncertain = effect->count < 0 || effect->amount};
    step.count = effect->count > AGE_MOST ? AGE_MOST : effect->count > 0 ? (uint32_t)effect->count : 0;
    if (effect->group == GROUP_AMD_ASYNC) {
        step.group = GROUP_CP_ASYNC;
        step.uncertain = true;
    }
    add_step(membar, step);
}

static void compile_steps(Membar *membar, const Effect *effects, unsigned count) {
    if (membar->model != MEMBAR_ASYNC)
        return;
    for (unsigned i = 0; i < count; i++) {
        const Effect *effect = &effects[i];
        if (effect->verb == EFFECT_COMMIT)
            add_step(membar, (OutstandingStep){.kind = STEP_COMMIT, .group = effect->group});
        else if (effect->verb == EFFECT_AWAIT)
            compile_await(membar, effect);
        else if (effect->verb == EFFECT_WAIT && effect->side == SIDE_NONE && effect->on)
            add_step(membar, (OutstandingStep){.kind = STEP_MBARRIER, .through = keep_set(membar, effect->on)});
    }
}

/* ---- Nodes ----------------------------------------------------------------------------------------------------- */

static Scratch scratch_at(Membar *membar, const Op *op) {
    const Placed *placed = placed_of(membar, &membar->scratched, op);
    if (placed)
        return placed->scratch;
    if (op_is_control(op, CONTROL_CALL)) /* the frame of the callee is no scratch memory */
        return (Scratch){0};
    if (op_attr_around(op, "ttg.shared")) /* the allocator was here, and gave it none */
        return (Scratch){0};
    return scratch_of(membar->module, op);
}

static const CallEffect *compile_call(MembarCompiler *compiler, const Op *op) {
    const Op *callee = call_target(compiler->membar->module, op);
    uint32_t number = callee ? pointers_get(compiler->callees, callee) : NO_NUMBER;
    if (number != NO_NUMBER)
        return membar_call(compiler->membar, op, compiler->analyses[number]);
    membar_problem(compiler->membar, op,
                   callee ? "recursive functions are not looked into" : "the function that it calls has no body here");
    return NULL;
}

static bool matters(const MembarNode *node) {
    return node->count || node->scratch || node->step_count || node->is.stages || node->call || node->is.present ||
           node->is.waits || node->is.cluster || node->returns || flow_branches(node->op);
}

static void compile_op(MembarCompiler *compiler, uint32_t place) {
    Membar *membar = compiler->membar;
    const FlowOp *at = &membar->flow.ops[place];
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(membar->module, at->op, effects);
    Scratch scratch = scratch_at(membar, at->op);
    MembarNode node = {.op = at->op,
                       .number = at->number,
                       .first = membar->access_count,
                       .first_step = membar->step_count,
                       .is = compiler->facts[place],
                       .deferred = compiler->later[place],
                       .returns = op_is_control(at->op, CONTROL_RETURN) && membar->clusters};
    if (count == 1 && effects[0].verb == EFFECT_ANYTHING)
        compile_unknown(membar, at->op);
    else
        compile_accesses(compiler, at->op, effects, count);
    node.count = membar->access_count - node.first;
    for (uint32_t i = node.first; i < membar->access_count; i++)
        membar->accesses[i].number = at->number;
    if (scratch.bytes)
        compile_scratch(membar, at->op, scratch, &node);
    compile_steps(membar, effects, count);
    node.step_count = membar->step_count - node.first_step;
    if (op_is_control(at->op, CONTROL_CALL))
        node.call = compile_call(compiler, at->op);
    if (op_is(at->op, CLASS_WGMMA_WAIT) && node.deferred)
        node.is.stages = 0; /* the later barrier does for its own */
    if (matters(&node))
        *MEMBAR_PUSH(membar, nodes, node) = node;
}

/* From the end of a piece to its start: whether a barrier comes before anything else does. */
static void look_ahead(MembarCompiler *compiler, const FlowPiece *piece) {
    const Flow *flow = &compiler->membar->flow;
    bool later = false;
    uint32_t stop = FLOW_NONE;
    for (uint32_t i = piece->first + piece->count; i-- > piece->first;) {
        compiler->later[i] = later;
        compiler->stops[i] = stop;
        Later found = membar_later(flow->ops[i].op, &compiler->facts[i]);
        if (found == LATER_LOOK_ON)
            continue;
        later = found == LATER_YES;
        stop = i;
    }
}

static void find_facts(MembarCompiler *compiler) {
    Membar *membar = compiler->membar;
    Effect effects[EFFECTS_MOST];
    compiler->facts = ARENA_ARRAY(membar->arena, OpFacts, membar->flow.op_count + 1);
    compiler->later = ARENA_ARRAY(membar->arena, bool, membar->flow.op_count + 1);
    compiler->stops = ARENA_ARRAY(membar->arena, uint32_t, membar->flow.op_count + 1);
    for (uint32_t i = 0; i < membar->flow.op_count; i++) {
        const Op *op = membar->flow.ops[i].op;
        unsigned count = effects_of(membar->module, op, effects);
        compiler->facts[i] = membar_facts(membar, op, effects, count, scratch_at(membar, op));
    }
    for (uint32_t i = 0; i < membar->flow.piece_count; i++)
        look_ahead(compiler, &membar->flow.pieces[i]);
}

/* Which atomics have a result that is used. */
static void find_used(MembarCompiler *compiler) {
    const Op *function = compiler->membar->function;
    for (const Op *op = function; op; op = op_next_in_walk(op, function))
        for (uint32_t i = 0; i < op->operand_count; i++) {
            const Value *value = op->operands[i];
            if (op_is(value_op(value), CLASS_LOCAL_ATOMIC))
                pointers_set(&compiler->used, value->owner, 0);
        }
}

/* A present barrier that stands for the one after a wait is there for it. */
static void mark_servers(MembarCompiler *compiler) {
    Membar *membar = compiler->membar;
    Pointers serving = {.arena = membar->arena};
    for (uint32_t i = 0; i < membar->flow.op_count; i++)
        if (compiler->facts[i].waits && compiler->later[i])
            pointers_set(&serving, membar->flow.ops[compiler->stops[i]].op, 0);
    for (uint32_t i = 0; i < membar->node_count; i++)
        membar->nodes[i].serves = pointers_get(&serving, membar->nodes[i].op) != NO_NUMBER;
}

static void find_loop_nodes(Membar *membar) {
    Pointers nodes = {.arena = membar->arena};
    for (uint32_t i = 0; i < membar->node_count; i++)
        if (flow_branches(membar->nodes[i].op))
            pointers_set(&nodes, membar->nodes[i].op, i);
    membar->loop_nodes = ARENA_ARRAY(membar->arena, uint32_t, membar->flow.loop_count + 1);
    for (uint32_t i = 0; i < membar->flow.loop_count; i++)
        membar->loop_nodes[i] = pointers_get(&nodes, membar->flow.loops[i].op);
}

/* What is older than any wait leaves in flight is as good as one older than that. */
static void find_age_most(Membar *membar) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < membar->step_count; i++) {
        const OutstandingStep *step = &membar->steps[i];
        if (step->kind == STEP_AWAIT && step->count > most)
            most = step->count;
    }
    membar->age_most = most < AGE_MOST ? (int32_t)most + 1 : (int32_t)AGE_MOST;
}

static uint32_t add_foreign(Membar *membar, Access access) {
    access.op = membar->function;
    access.buffer = membar_somewhere(membar, SPACE_SHARED);
    access.kind = ACCESS_READ | ACCESS_WRITE;
    access.foreign = true;
    return membar_add_access(membar, access);
}

/* What a caller did before, and what it has in flight, of any kind that is waited for here: any memory. */
static void add_callers(Membar *membar) {
    if (!membar->called)
        return;
    membar->callers = add_foreign(membar, (Access){0});
    for (uint32_t i = 0; i < membar->step_count; i++) {
        GroupKind group = membar->steps[i].group;
        if (membar->steps[i].kind == STEP_AWAIT && !membar->foreign[group])
            membar->foreign[group] =
                add_foreign(membar, (Access){.outstanding = OUTSTANDING_GROUP, .group = (uint8_t)group});
    }
}

void membar_compile(Membar *membar, const Pointers *callees, Membar *const *analyses) {
    MembarCompiler compiler = {
        .membar = membar, .callees = callees, .analyses = analyses, .used = {.arena = membar->arena}};
    membar->flow = flow_of(membar->function, membar->arena);
    compiler.allocations = allocations_of(membar->module, membar->function);
    membar->slots = slots_of(membar->module, membar->function, &membar->flow);
    membar->origins = origins_of(membar->module, membar->function, membar->arena);
    if (membar->model == MEMBAR_ASYNC)
        membar->views = views_of(membar->module, membar->function, membar->arena);
    membar->placements = placements_of(membar->module, membar->function);
    membar->allocated.arena = membar->scratched.arena = membar->framed.arena = membar->arena;
    index_placements(membar);
    *MEMBAR_PUSH(membar, accesses, access) = (Access){0};
    make_buffers(&compiler);
    find_used(&compiler);
    find_facts(&compiler);
    membar->piece_nodes = ARENA_ARRAY(membar->arena, uint32_t, membar->flow.piece_count + 1);
    for (uint32_t i = 0; i < membar->flow.piece_count; i++) {
        const FlowPiece *piece = &membar->flow.pieces[i];
        membar->piece_nodes[i] = membar->node_count;
        for (uint32_t k = 0; k < piece->count; k++)
            compile_op(&compiler, piece->first + k);
    }
    membar->piece_nodes[membar->flow.piece_count] = membar->node_count;
    add_callers(membar);
    find_age_most(membar);
    membar_find_alike(membar);
    mark_servers(&compiler);
    find_loop_nodes(membar);
    make_neighborhoods(membar);
}
