/* Rules of lint_tma.def about time: from making a tensor map to using it, from a store to what it publishes.
 *
 * Along every path of the function is carried which maps were made and not acquired yet, and for each copy whether it
 * may still read its map or write its memory. Of a store that is known by how many groups came after it: a wait for all
 * but N groups ends the stores with N or more behind them. What a partition does is seen by those that come after it,
 * not by those beside it. */
#include "analyze/lint/tma.h"

#include "model/effect/inline_ptx.h"
#include "model/flow/flow.h"

enum {
    AGE_MOST = 30,           /* groups after a store; more are not told apart */
    YOUNGEST = AGE_MOST + 1, /* a state of a copy: 0: over; else YOUNGEST less its age, 1 at least */
    MOST_ROUNDS = 100,
    MOST_STATE = 16 << 20, /* bytes of all states */
    MOST_COPIES = 4096,
};

/* Memory that holds a map. */
typedef struct Holder {
    const Value *root; /* the pointer that others are made of */
    int64_t offset;
    bool fixed; /* the same address whenever it is computed */
    bool acquired_in_partition;
    const Op *maker; /* the first that makes a map in it */
} Holder;

typedef struct Moving {
    const Op *op;
    uint32_t holder; /* of its map; NO_NUMBER: not made by the kernel */
    bool store;
    const Op *barrier; /* of a load: its allocation; NULL: not known */
} Moving;

typedef struct Life {
    Lint *lint;
    Flow flow;
    Holder *holders;
    uint32_t holder_count, holder_capacity;
    Moving *flights;
    uint32_t flight_count, flight_capacity;
    Pointers flight_of; /* Op -> flight */
    Pointers holder_of; /* an op that makes or acquires a map -> holder */
    bool telling;
} Life;

/* One byte each: a holder's map is made and not acquired; a flight may read its map; a flight may write its memory. */
typedef struct Carried {
    uint8_t *made, *reads, *writes;
} Carried;

static Carried state_at(const Life *life, uint8_t *bytes) {
    return (Carried){bytes, bytes + life->holder_count, bytes + life->holder_count + life->flight_count};
}

static size_t state_size(const Life *life) {
    return life->holder_count + 2 * (size_t)life->flight_count;
}

/* ---- What there is -------------------------------------------------------------------------------- */

static Holder holder_at(Lint *lint, const Value *pointer) {
    enum { MOST_STEPS = 8 };
    Holder holder = {.root = tma_source(pointer)};
    const Op *add;
    for (int i = 0; i < MOST_STEPS && (add = tma_maker(holder.root, OP_tt_addptr)); i++) {
        Known moved = known_of(lint->facts, add->operands[1]);
        if (!moved.exact || moved.least < 0 || moved.least > INT32_MAX)
            return holder;
        holder.offset += moved.least;
        holder.root = tma_source(add->operands[0]);
    }
    holder.fixed = tma_maker(holder.root, OP_ttg_global_scratch_alloc) || parameter_of(lint->facts, holder.root);
    return holder;
}

static uint32_t find_holder(const Life *life, const Value *pointer) {
    if (!pointer || !life->holder_count)
        return NO_NUMBER;
    Holder holder = holder_at(life->lint, pointer);
    for (uint32_t i = 0; i < life->holder_count; i++)
        if (life->holders[i].root == holder.root && life->holders[i].offset == holder.offset)
            return i;
    return NO_NUMBER;
}

static bool is_making(const Op *op) {
    bool made = lint_is(op, OP_ttng_tensormap_create) || lint_is(op, OP_tt_experimental_tensormap_create);
    return made && op->form != FORM_OPAQUE;
}

/* The memory of the map that a copy uses: behind the op that takes it for a descriptor, or the pointer itself. */
static const Value *map_memory(const Copy *copy) {
    const Op *taken = tma_maker(copy->descriptor, OP_ttng_reinterpret_tensor_descriptor);
    return taken && taken->operand_count ? taken->operands[0] : copy->descriptor;
}

/* The partition that the op is in; NULL: the function itself, or the default region, which is the same warps. */
static const Region *partition_of(const Op *op) {
    for (const Op *at = op; at && at->block; at = op_parent(at)) {
        const Op *parent = op_parent(at);
        if (parent && lint_is(parent, OP_ttg_warp_specialize_partitions))
            return at->block->region;
    }
    return NULL;
}

static bool is_acquiring(const Op *op) {
    return (lint_is(op, OP_ttng_tensormap_fenceproxy_acquire) ||
            lint_is(op, OP_tt_experimental_tensormap_fenceproxy_acquire)) &&
           op->operand_count;
}

static void add_maker(Life *life, const Op *op) {
    enum { MOST_HOLDERS = 256 }; /* a kernel has a few */
    const Value *pointer = lint_operand(op, "desc_ptr");
    uint32_t number = find_holder(life, pointer);
    if (!pointer)
        return;
    if (number == NO_NUMBER && life->holder_count == MOST_HOLDERS) {
        verdict_incomplete(life->lint->verdict, "", 0, "more than %d tensor maps of a kernel are not followed",
                           MOST_HOLDERS);
        return;
    }
    if (number == NO_NUMBER) {
        life->holders = arena_grown(&life->lint->module->arena, life->holders, life->holder_count,
                                    &life->holder_capacity, sizeof *life->holders);
        number = life->holder_count++;
        life->holders[number] = holder_at(life->lint, pointer);
        life->holders[number].maker = op;
    }
    pointers_set(&life->holder_of, op, number);
}

static void add_flight(Life *life, const Copy *copy) {
    Lint *lint = life->lint;
    Moving flight = {.op = copy->op, .holder = find_holder(life, map_memory(copy)), .store = tma_stores(copy)};
    if (flight.holder == NO_NUMBER && !flight.store)
        return;
    flight.barrier = copy->barrier ? place_of(lint->facts, copy->barrier).allocation : NULL;
    life->flights = arena_grown(&lint->module->arena, life->flights, life->flight_count, &life->flight_capacity,
                                sizeof *life->flights);
    pointers_set(&life->flight_of, copy->op, life->flight_count);
    life->flights[life->flight_count++] = flight;
}

static void collect(Life *life) {
    const Op *function = life->lint->function;
    Copy copy;
    for (const Op *op = function; op; op = op_next_in_walk(op, function))
        if (is_making(op))
            add_maker(life, op);
    for (const Op *op = function; op; op = op_next_in_walk(op, function)) {
        if (tma_copy(op, &copy) && copy.lowered)
            add_flight(life, &copy);
        uint32_t holder = is_acquiring(op) ? find_holder(life, op->operands[0]) : NO_NUMBER;
        if (holder == NO_NUMBER)
            continue;
        pointers_set(&life->holder_of, op, holder);
        life->holders[holder].acquired_in_partition |= partition_of(op) != NULL;
    }
}

/* ---- Waits in the wrong place ---------------------------------------------------------------------- */

static bool is_store_wait(const Op *op) {
    return lint_is(op, OP_ttng_async_tma_store_wait);
}

static bool issues_stores(const Op *op) {
    Copy copy;
    return lint_is(op, OP_ttng_async_store) || lint_is(op, OP_tt_call) || (tma_copy(op, &copy) && tma_stores(&copy));
}

static void check_waits(Lint *lint) {
    static const char here; /* stands for the function itself, which has no region */
    Pointers storing = {.arena = &lint->module->arena};
    const Op *first = NULL;
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function))
        if (issues_stores(op)) {
            const Region *partition = partition_of(op);
            pointers_set(&storing, partition ? (const void *)partition : &here, 1);
            first = first ? first : op;
        }
    for (const Op *op = lint->function; op && first; op = op_next_in_walk(op, lint->function)) {
        const Region *partition = is_store_wait(op) ? partition_of(op) : NULL;
        if (!is_store_wait(op) || pointers_get(&storing, partition ? (const void *)partition : &here) != NO_NUMBER)
            continue;
        Finding *finding = lint_find(lint, RULE_TMA_STORE_WAIT_ELSEWHERE, op,
                                     "this waits for stores in a partition that issues none, and so for nothing");
        lint_other_place(lint, finding, "stores", first);
    }
}

/* ---- Along a path --------------------------------------------------------------------------------- */

static void tell_not_acquired(const Life *life, const Moving *flight) {
    const Holder *holder = &life->holders[flight->holder];
    Finding *finding = NULL;
    if (holder->acquired_in_partition)
        finding =
            lint_find(life->lint, RULE_TMA_MAP_ACQUIRE_ELSEWHERE, flight->op,
                      "review: the map of this copy is acquired in a partition, but not on every way to this copy");
    else
        finding = lint_find(life->lint, RULE_TMA_MAP_ACQUIRE, flight->op,
                            "a path leads from making the map of this copy to the copy without an acquire");
    lint_other_place(life->lint, finding, "makes the map", holder->maker);
}

static void make_map(const Life *life, Carried state, const Op *op) {
    uint32_t holder = pointers_get(&life->holder_of, op);
    if (holder == NO_NUMBER)
        return;
    for (uint32_t i = 0; life->telling && life->holders[holder].fixed && i < life->flight_count; i++)
        if (life->flights[i].holder == holder && state.reads[i]) {
            Finding *finding = lint_find(life->lint, RULE_TMA_MAP_REWRITE, op,
                                         "this makes a map anew while a copy that reads it may not be complete");
            lint_other_place(life->lint, finding, "reads the map", life->flights[i].op);
        }
    state.made[holder] = 1;
}

static void fly(const Life *life, Carried state, uint32_t number) {
    const Moving *flight = &life->flights[number];
    if (life->telling && flight->holder != NO_NUMBER && state.made[flight->holder])
        tell_not_acquired(life, flight);
    for (uint32_t i = 0; flight->store && i < life->flight_count; i++) {
        if (!life->flights[i].store)
            continue;
        state.reads[i] -= state.reads[i] > 1;
        state.writes[i] -= state.writes[i] > 1;
    }
    state.reads[number] = YOUNGEST;
    state.writes[number] = flight->store ? YOUNGEST : 0;
}

static void wait_stores(const Life *life, Carried state, int64_t pending, bool sources_only) {
    for (uint32_t i = 0; i < life->flight_count; i++) {
        if (!life->flights[i].store)
            continue;
        if (YOUNGEST - state.reads[i] >= pending)
            state.reads[i] = 0;
        if (!sources_only && YOUNGEST - state.writes[i] >= pending)
            state.writes[i] = 0;
    }
}

static void wait_barrier(const Life *life, Carried state, const Op *op) {
    const Op *barrier = op->operand_count ? place_of(life->lint->facts, op->operands[0]).allocation : NULL;
    for (uint32_t i = 0; i < life->flight_count; i++)
        if (!life->flights[i].store && (!barrier || !life->flights[i].barrier || life->flights[i].barrier == barrier))
            state.reads[i] = 0;
}

/* An atomic that releases, after a store whose sources alone were waited for. */
static void release(const Life *life, Carried state, const Op *op) {
    const Attr *order = op_attr(op, "sem");
    bool both = order && (order->kind == ATTR_INTEGER ? order->integer == 4 : str_is(order->text, "acq_rel"));
    bool releases = order && (order->kind == ATTR_INTEGER ? order->integer == 3 : str_is(order->text, "release"));
    for (uint32_t i = 0; life->telling && (both || releases) && i < life->flight_count; i++) {
        if (!state.writes[i] || state.reads[i])
            continue;
        Finding *finding =
            releases ? lint_find(life->lint, RULE_TMA_READ_ONLY_WAIT, op,
                                 "this releases after a store of which only the reading was waited for")
                     : lint_find(life->lint, RULE_TMA_READ_ONLY_WAIT_OPEN, op,
                                 "review: this orders memory after a store of which only the reading was waited for");
        lint_other_place(life->lint, finding, "stores", life->flights[i].op);
    }
}

/* Waits may be written in assembly; what is not known of it may be one, or an acquire. */
static void pass_assembly(const Life *life, Carried state, const Op *op) {
    Effect effects[EFFECTS_MOST];
    unsigned count = 0;
    Str unknown;
    if (!inline_ptx_effects(life->lint->module, op, effects, EFFECTS_MOST, &count, &unknown)) {
        wait_stores(life, state, 0, false);
        memset(state.made, 0, life->holder_count);
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        if (effects[i].verb == EFFECT_AWAIT && effects[i].group == GROUP_TMA_STORE)
            wait_stores(life, state, effects[i].count, effects[i].sources);
        if (effects[i].verb == EFFECT_FENCE_PROXY && effects[i].proxy == PROXY_TENSORMAP)
            memset(state.made, 0, life->holder_count);
    }
}

static void pass_op(const Life *life, Carried state, const Op *op) {
    uint32_t flight = pointers_get(&life->flight_of, op), holder;
    int64_t pending = 0;
    if (flight != NO_NUMBER) {
        fly(life, state, flight);
        return;
    }
    switch (op->row && op->form != FORM_OPAQUE ? op->row->id : OP_COUNT) {
    case OP_ttng_tensormap_create:
    case OP_tt_experimental_tensormap_create:
        make_map(life, state, op);
        break;
    case OP_ttng_tensormap_fenceproxy_acquire:
    case OP_tt_experimental_tensormap_fenceproxy_acquire:
        holder = pointers_get(&life->holder_of, op);
        if (holder != NO_NUMBER)
            state.made[holder] = 0;
        break;
    case OP_ttng_async_tma_store_wait:
        lint_integer(op, "pendings", &pending);
        wait_stores(life, state, pending, op_attr(op, "read_only") != NULL);
        break;
    case OP_ttng_async_tma_store_token_wait:
        wait_stores(life, state, 0, false);
        break;
    case OP_tt_elementwise_inline_asm:
    case OP_llvm_inline_asm:
        pass_assembly(life, state, op);
        break;
    case OP_ttng_wait_barrier:
        wait_barrier(life, state, op);
        break;
    case OP_tt_atomic_rmw:
    case OP_tt_atomic_cas:
        release(life, state, op);
        break;
    case OP_tt_call: /* what the callee waits for is not looked at */
        memset(state.reads, 0, life->flight_count);
        memset(state.writes, 0, life->flight_count);
        break;
    default:
        break;
    }
}

static void pass_piece(const Life *life, const FlowPiece *piece, const uint8_t *before, uint8_t *scratch) {
    memcpy(scratch, before, state_size(life));
    for (uint32_t i = 0; i < piece->count; i++)
        pass_op(life, state_at(life, scratch), life->flow.ops[piece->first + i].op);
}

static bool join(uint8_t *to, const uint8_t *from, size_t size) {
    bool changed = false;
    for (size_t i = 0; i < size; i++)
        if (from[i] > to[i]) {
            to[i] = from[i];
            changed = true;
        }
    return changed;
}

static bool settle(const Life *life, uint8_t *states, uint8_t *scratch) {
    size_t size = state_size(life);
    bool changed = true;
    for (unsigned round = 0; changed && round < MOST_ROUNDS; round++) {
        changed = false;
        for (uint32_t p = 0; p < life->flow.piece_count; p++) {
            const FlowPiece *piece = &life->flow.pieces[p];
            pass_piece(life, piece, states + p * size, scratch);
            for (uint32_t e = 0; e < piece->edge_count; e++)
                changed |= join(states + life->flow.edges[piece->first_edge + e].to * size, scratch, size);
        }
    }
    return !changed;
}

void lint_tma_life(Lint *lint) {
    Arena *arena = &lint->module->arena;
    Life life = {.lint = lint, .flight_of = {.arena = arena}, .holder_of = {.arena = arena}};
    check_waits(lint);
    collect(&life);
    if (!life.flight_count)
        return;
    life.flow = flow_of(lint->function, arena);
    size_t size = state_size(&life);
    if (life.flight_count > MOST_COPIES || size > MOST_STATE / ((size_t)life.flow.piece_count + 1)) {
        verdict_incomplete(lint->verdict, "", 0, "the kernel is too large to follow its tensor maps on every path");
        return;
    }
    uint8_t *states = arena_zalloc(arena, size * life.flow.piece_count + 1), *scratch = arena_zalloc(arena, size + 1);
    if (!settle(&life, states, scratch)) {
        verdict_incomplete(lint->verdict, "", 0, "the tensor maps of the kernel change on too many paths");
        return;
    }
    life.telling = true;
    for (uint32_t p = 0; p < life.flow.piece_count; p++)
        pass_piece(&life, &life.flow.pieces[p], states + p * size, scratch);
}
