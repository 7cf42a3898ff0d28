/* Rules of lint_tma.def about time: from making a tensor map to using it, from a store to what it publishes.
 *
 * Along every path of the function is carried which maps were made and not acquired yet, and for each copy whether it
 * may still read its map or write its memory. Of a store that is known by how many groups came after it: a wait for all
 * but N groups ends the stores with N or more behind them. What a partition does is seen by those that come after it,
 * not by those beside it. */
#include "check/lint/tile/paths.h"
#include "check/lint/tile/tma.h"

enum {
    AGE_MOST = 30,           /* groups after a store; more are not told apart */
    YOUNGEST = AGE_MOST + 1, /* a state of a copy: 0: over; else YOUNGEST less its age, 1 at least */
    MOST_COPIES = 4096,
};

/* Memory that holds a map. */
typedef struct TmaLifeHolder {
    MapMemory memory;
    bool fixed; /* the same address whenever it is computed */
    bool acquired_in_partition;
    const Op *maker; /* the first that makes a map in it */
} TmaLifeHolder;

typedef struct TmaLifeMoving {
    const Op *op;
    uint32_t holder; /* of its map; NO_NUMBER: not made by the kernel */
    bool store;
    bool always;       /* it has no predicate, or one that holds */
    const Op *barrier; /* of a load: its allocation; NULL: not known */
} TmaLifeMoving;

typedef struct TileLife {
    Lint *lint;
    TilePaths paths;
    TmaLifeHolder *holders;
    uint32_t holder_count, holder_capacity;
    TmaLifeMoving *outstanding_ops;
    uint32_t outstanding_count, outstanding_capacity;
    Pointers outstanding_of; /* Op -> outstanding operation */
    Pointers holder_of;      /* an op that makes or acquires a map -> holder */
} TileLife;

/* One byte each: a holder's map is made and not acquired; an outstanding operation may read its map; an outstanding
 * operation may write its memory. */
typedef struct TmaLifeStanding {
    uint8_t *made, *reads, *writes;
} TmaLifeStanding;

static TmaLifeStanding state_at(const TileLife *life, uint8_t *bytes) {
    return (TmaLifeStanding){bytes, bytes + life->holder_count, bytes + life->holder_count + life->outstanding_count};
}

/* ---- What there is -------------------------------------------------------------------------------- */

static uint32_t find_holder(const TileLife *life, const Value *pointer) {
    if (!life->holder_count)
        return NO_NUMBER;
    MapMemory memory = tma_map_memory(life->lint, pointer);
    for (uint32_t i = 0; i < life->holder_count; i++)
        if (life->holders[i].memory.root == memory.root && life->holders[i].memory.offset == memory.offset)
            return i;
    return NO_NUMBER;
}

/* The memory of the map that a copy uses: behind the op that takes it for a descriptor, or the pointer itself. */
static const Value *map_memory(const Copy *copy) {
    const Op *taken = tma_taken(copy->descriptor);
    return taken ? taken->operands[0] : copy->descriptor;
}

static void add_maker(TileLife *life, const Op *op, const Value *pointer) {
    enum { MOST_HOLDERS = 256 }; /* a kernel has a few */
    uint32_t number = find_holder(life, pointer);
    if (number == NO_NUMBER && life->holder_count == MOST_HOLDERS) {
        verdict_incomplete(life->lint->verdict, "", 0, "more than %d tensor maps of a kernel are not tracked",
                           MOST_HOLDERS);
        return;
    }
    if (number == NO_NUMBER) {
        number = life->holder_count;
        MapMemory memory = tma_map_memory(life->lint, pointer);
        bool fixed = memory.known && (memory.scratch || parameter_of(life->lint->facts, memory.root));
        *ARENA_PUSH(&life->lint->module->arena, life->holders, life->holder_count, life->holder_capacity) =
            (TmaLifeHolder){.memory = memory, .fixed = fixed, .maker = op};
    }
    pointers_set(&life->holder_of, op, number);
}

static void add_outstanding(TileLife *life, const Copy *copy) {
    Lint *lint = life->lint;
    TmaLifeMoving outstanding = {
        .op = copy->op, .holder = find_holder(life, map_memory(copy)), .store = tma_stores(copy)};
    if (outstanding.holder == NO_NUMBER && !outstanding.store)
        return;
    int64_t delays = 1;
    outstanding.always = !copy->predicate || (value_constant(copy->predicate, &delays) && delays);
    outstanding.barrier = copy->barrier ? place_of(lint->facts, copy->barrier).allocation : NULL;
    pointers_set(&life->outstanding_of, copy->op, life->outstanding_count);
    *ARENA_PUSH(&lint->module->arena, life->outstanding_ops, life->outstanding_count, life->outstanding_capacity) =
        outstanding;
}

static void collect(TileLife *life) {
    Lint *lint = life->lint;
    Copy copy;
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function)) {
        const Effect *fence = tma_map_fence(lint, op, ORDER_RELEASE);
        if (fence)
            add_maker(life, op, fence->on);
    }
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function)) {
        if (tma_copy(lint, op, &copy) && copy.lowered)
            add_outstanding(life, &copy);
        const Effect *fence = tma_map_fence(lint, op, ORDER_ACQUIRE);
        uint32_t holder = fence ? find_holder(life, fence->on) : NO_NUMBER;
        if (holder == NO_NUMBER)
            continue;
        pointers_set(&life->holder_of, op, holder);
        life->holders[holder].acquired_in_partition |= partition_region(op) != NULL;
    }
}

/* ---- Waits in the wrong place ---------------------------------------------------------------------- */

/* For all stores: one for a token knows whose it is. */
static bool is_store_wait(Lint *lint, const Op *op) {
    const Effect *wait = op_is(op, CLASS_INLINE_PTX) ? NULL : lint_effect(lint, op, EFFECT_AWAIT);
    return wait && wait->group == GROUP_TMA_STORE && !wait->amount;
}

static bool issues_stores(Lint *lint, const Op *op) {
    Copy copy;
    return op_is_control(op, CONTROL_CALL) || tma_bulk_store(lint, op) ||
           (tma_copy(lint, op, &copy) && tma_stores(&copy));
}

static void check_waits(Lint *lint) {
    static const char here; /* stands for the function itself, which has no region */
    Pointers storing = {.arena = &lint->module->arena};
    const Op *first = NULL;
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function))
        if (issues_stores(lint, op)) {
            const Region *partition = partition_region(op);
            pointers_set(&storing, partition ? (const void *)partition : &here, 1);
            first = first ? first : op;
        }
    for (const Op *op = lint->function; op && first; op = op_next_in_walk(op, lint->function)) {
        const Region *partition = partition_region(op);
        if (!is_store_wait(lint, op) ||
            pointers_get(&storing, partition ? (const void *)partition : &here) != NO_NUMBER)
            continue;
        Finding *finding = lint_find(lint, RULE_TMA_STORE_WAIT_ELSEWHERE, op,
                                     "this waits for TMA stores in a partition that issues none, so it waits for "
                                     "nothing");
        lint_other_place(lint, finding, "stores", first);
    }
}

/* ---- Along a path --------------------------------------------------------------------------------- */

static void report_not_acquired(const TileLife *life, const TmaLifeMoving *outstanding) {
    const TmaLifeHolder *holder = &life->holders[outstanding->holder];
    Finding *finding = NULL;
    if (holder->acquired_in_partition)
        finding =
            lint_find(life->lint, RULE_TMA_MAP_ACQUIRE_ELSEWHERE, outstanding->op,
                      "review: the map of this copy is acquired in a partition, but not on every path to this copy");
    else
        finding = lint_find(life->lint, RULE_TMA_MAP_ACQUIRE, outstanding->op,
                            "a path leads from the creation of this copy's map to the copy without an acquire");
    lint_other_place(life->lint, finding, "makes the map", holder->maker);
}

/* A copy under a predicate is left to the run: the loads before a pipelined loop go out only if its turns wait for
 * them, which no path shows. */
static void make_map(const TileLife *life, TmaLifeStanding state, const Op *op, uint32_t holder) {
    for (uint32_t i = 0; life->paths.reporting && life->holders[holder].fixed && i < life->outstanding_count; i++)
        if (life->outstanding_ops[i].holder == holder && life->outstanding_ops[i].always && state.reads[i]) {
            Finding *finding = lint_find(life->lint, RULE_TMA_MAP_REWRITE, op,
                                         "this rewrites a map while a copy that reads it may not be complete");
            lint_other_place(life->lint, finding, "reads the map", life->outstanding_ops[i].op);
        }
    state.made[holder] = 1;
}

static void fly(const TileLife *life, TmaLifeStanding state, uint32_t number) {
    const TmaLifeMoving *outstanding = &life->outstanding_ops[number];
    if (life->paths.reporting && outstanding->holder != NO_NUMBER && state.made[outstanding->holder])
        report_not_acquired(life, outstanding);
    for (uint32_t i = 0; outstanding->store && i < life->outstanding_count; i++) {
        if (!life->outstanding_ops[i].store)
            continue;
        state.reads[i] -= state.reads[i] > 1;
        state.writes[i] -= state.writes[i] > 1;
    }
    state.reads[number] = YOUNGEST;
    state.writes[number] = outstanding->store ? YOUNGEST : 0;
}

static void wait_stores(const TileLife *life, TmaLifeStanding state, int64_t pending, bool sources_only) {
    for (uint32_t i = 0; i < life->outstanding_count; i++) {
        if (!life->outstanding_ops[i].store)
            continue;
        if (YOUNGEST - state.reads[i] >= pending)
            state.reads[i] = 0;
        if (!sources_only && YOUNGEST - state.writes[i] >= pending)
            state.writes[i] = 0;
    }
}

static void wait_barrier(const TileLife *life, TmaLifeStanding state, const Value *on) {
    const Op *barrier = place_of(life->lint->facts, on).allocation;
    for (uint32_t i = 0; i < life->outstanding_count; i++)
        if (!life->outstanding_ops[i].store &&
            (!barrier || !life->outstanding_ops[i].barrier || life->outstanding_ops[i].barrier == barrier))
            state.reads[i] = 0;
}

/* An atomic that releases, after a store whose sources alone were waited for. */
static void release(const TileLife *life, TmaLifeStanding state, const Op *op, Order order) {
    for (uint32_t i = 0; life->paths.reporting && order >= ORDER_RELEASE && i < life->outstanding_count; i++) {
        if (!state.writes[i] || state.reads[i])
            continue;
        Finding *finding =
            order == ORDER_RELEASE
                ? lint_find(life->lint, RULE_TMA_READ_ONLY_WAIT, op,
                            "this releases after a TMA store that was only waited for with .read")
                : lint_find(life->lint, RULE_TMA_READ_ONLY_WAIT_OPEN, op,
                            "review: this orders memory after a TMA store that was only waited for with .read");
        lint_other_place(life->lint, finding, "stores", life->outstanding_ops[i].op);
    }
}

/* Of text that is not known, or of what it fences: it may be any wait, or an acquire. */
static void pass_assembly(const TileLife *life, TmaLifeStanding state, const Effect *effect) {
    if (effect->verb == EFFECT_ANYTHING)
        wait_stores(life, state, 0, false);
    if (effect->verb == EFFECT_ANYTHING || (effect->verb == EFFECT_FENCE_PROXY && effect->proxy == PROXY_TENSORMAP))
        memset(state.made, 0, life->holder_count);
}

static void pass_effect(const TileLife *life, TmaLifeStanding state, const Op *op, const Effect *effect) {
    uint32_t holder = effect->verb == EFFECT_FENCE_PROXY ? pointers_get(&life->holder_of, op) : NO_NUMBER;
    if (effect->verb == EFFECT_AWAIT && effect->group == GROUP_TMA_STORE)
        wait_stores(life, state, effect->count, effect->sources);
    else if (op_is(op, CLASS_INLINE_PTX))
        pass_assembly(life, state, effect);
    else if (holder != NO_NUMBER && effect->order == ORDER_RELEASE)
        make_map(life, state, op, holder);
    else if (holder != NO_NUMBER)
        state.made[holder] = 0;
    else if (effect->verb == EFFECT_WAIT && effect->side == SIDE_NONE)
        wait_barrier(life, state, effect->on);
    else if (op_is(op, CLASS_ATOMIC) && effect->verb == EFFECT_UPDATE)
        release(life, state, op, effect->order);
}

static void pass(TilePaths *paths, const FlowOp *at, void *bytes) {
    const TileLife *life = paths->context;
    TmaLifeStanding state = state_at(life, bytes);
    uint32_t outstanding = pointers_get(&life->outstanding_of, at->op);
    Effects effects = lint_effects(life->lint, at->op);
    if (outstanding != NO_NUMBER) {
        fly(life, state, outstanding);
    } else if (op_is_control(at->op, CONTROL_CALL)) { /* what the callee waits for is not looked at */
        memset(state.reads, 0, life->outstanding_count);
        memset(state.writes, 0, life->outstanding_count);
    } else {
        for (const Effect *effect = effects.items; effect < effects.end; effect++)
            pass_effect(life, state, at->op, effect);
    }
}

void lint_tma_life(Lint *lint) {
    Arena *arena = &lint->module->arena;
    TileLife life = {.lint = lint, .outstanding_of = {.arena = arena}, .holder_of = {.arena = arena}};
    check_waits(lint);
    collect(&life);
    if (!life.outstanding_count)
        return;
    Flow flow = flow_of(lint->function, arena);
    life.paths = (TilePaths){.lint = lint,
                             .flow = &flow,
                             .context = &life,
                             .size = life.holder_count + 2 * (size_t)life.outstanding_count,
                             .pass = pass};
    if (life.outstanding_count > MOST_COPIES || !paths_follow(&life.paths))
        verdict_incomplete(lint->verdict, "", 0, "the kernel is too large to track its tensor maps on every path");
}
