/* Chains of TMEM tokens: the order that ops on tensor memory are written with before barriers make it.
 *
 * A token is followed from the op that takes it back to those that make it: through loops, where it may come from the
 * iteration before, conditions, and what partitions capture. */
#include "check/report/build/internal.h"

#include "base/order.h"
#include "model/flow/forwarded.h"

#include <stdlib.h>

bool value_is_token(Module *module, const Value *value) {
    const Type *type = value && value->type ? type_resolve(module, value->type) : NULL;
    return type && type_is(type, STR("ttg.async.token"));
}

const Value *token_made(Module *module, const Op *op) {
    for (uint32_t i = 0; i < op->result_count; i++)
        if (value_is_token(module, &op->results[i]))
            return &op->results[i];
    return NULL;
}

/* What an op does to tensor memory: where, and how. */
typedef struct ChainTouch {
    const Op *root; /* that allocates it; NULL: nothing, or it cannot be seen */
    bool reads, writes;
    bool by_threads; /* no tensor core does it */
} ChainTouch;

static ChainTouch touch_of(Module *module, const Op *op) {
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(module, op, effects);
    ChainTouch touch = {0};
    for (unsigned i = 0; i < count; i++) {
        if (!effect_is_local(&effects[i]) || effects[i].space != SPACE_TENSOR)
            continue;
        bool writes = effects[i].verb != EFFECT_READ;
        if (touch.root && (touch.writes || !writes))
            continue; /* an MMA may read tensor memory besides; its token is that of the accumulator */
        touch = (ChainTouch){.root = origin_of(module, effects[i].on),
                             .reads = effects[i].verb != EFFECT_WRITE,
                             .writes = writes,
                             .by_threads = effects[i].helper == HELPER_BASE};
    }
    return touch;
}

static bool is_load(const ChainTouch *touch) {
    return touch->reads && !touch->writes && touch->by_threads;
}

/* Whether a write may leave nothing of what was there: all but an MMA that always accumulates. */
static bool may_overwrite(const Op *op, const ChainTouch *touch) {
    int64_t accumulates;
    if (!op_is(op, CLASS_TCGEN05))
        return touch->writes && touch->by_threads;
    return !value_constant(op_operand_named(op, "useD"), &accumulates) || !accumulates;
}

/* ---- Where a token comes from ------------------------------------------------------------------- */

enum { MOST_SEEN = 64 };

typedef struct TokenPath {
    const Value *value;
    bool around; /* by way of the next iteration */
} TokenPath;

/* What one op's token is made by. */
typedef struct TokenTrace {
    TokenPath seen[MOST_SEEN];
    size_t count;
} TokenTrace;

static void look_at(TokenTrace *trace, const Value *value, bool around) {
    if (!value || trace->count == MOST_SEEN)
        return;
    for (size_t i = 0; i < trace->count; i++)
        if (trace->seen[i].value == value && trace->seen[i].around == around)
            return;
    trace->seen[trace->count++] = (TokenPath){value, around};
}

/* A step back. */
typedef struct TokenStep {
    TokenTrace *trace;
    bool around;
} TokenStep;

static void step_back(void *context, Forwarded how, const Value *from, const Value *to) {
    (void)to;
    TokenStep *step = context;
    look_at(step->trace, from, step->around || how == FORWARDED_ROUND);
}

/* Adds where a value that is only handed on comes from; false if its op makes it. */
static bool look_before(TokenTrace *trace, const Value *value, bool around) {
    Carried carried;
    if (value->is_result && carried_of(value, &carried)) { /* of the last turn: it is not the next one's */
        look_at(trace, carried.next, around);
        return true;
    }
    return value_sources(value, step_back, &(TokenStep){trace, around}) || !value->is_result;
}

/* ---- Edges -------------------------------------------------------------------------------------- */

static void add_edge(Builder *builder, const Op *from, const Op *to, const Op *root, bool around) {
    ReportEdge *edge = builder_edge(builder);
    edge->from = builder_partition(builder, from);
    edge->to = builder_partition(builder, to);
    edge->mechanism = report_mechanism(MECHANISM_TMEM_TOKEN);
    edge->direction = around ? "backward" : "forward";
    edge->carries = root ? name_of(builder->names, root) : "";
    edge->out = builder_place(builder, from);
    edge->in = builder_place(builder, to);
}

/* Between partitions every step of a chain counts; within one, only that what was read is written over. */
static bool matters(Builder *builder, const Op *from, const Op *to, bool around) {
    uint64_t made = builder_runners(builder, from), taken = builder_runners(builder, to);
    if (!made || !taken)
        return false;
    if (!(made & taken))
        return true;
    ChainTouch before = touch_of(builder->module, from), after = touch_of(builder->module, to);
    return made == taken && around && is_load(&before) && after.writes && may_overwrite(to, &after);
}

static void follow(Builder *builder, const Op *op, const Value *token) {
    TokenTrace trace = {.count = 0};
    const Op *made[MOST_SEEN];
    size_t made_count = 0;
    look_at(&trace, token, false);
    for (size_t i = 0; i < trace.count; i++) {
        const Value *value = trace.seen[i].value;
        bool around = trace.seen[i].around;
        if (look_before(&trace, value, around))
            continue;
        const Op *from = value->owner;
        ChainTouch touch = touch_of(builder->module, from);
        bool known = !touch.root;
        for (size_t k = 0; k < made_count && !known; k++)
            known = made[k] == from;
        if (known)
            continue;
        made[made_count++] = from;
        if (matters(builder, from, op, around))
            add_edge(builder, from, op, touch.root, around);
    }
}

/* ---- Reads whose end is not signaled ---------------------------------------------------------- */

typedef struct ChainLoad {
    const Op *op;
    bool used;
} ChainLoad;

typedef struct ChainOverwrite {
    const Op *op, *root;
} ChainOverwrite;

typedef struct Loads {
    ChainLoad *items;
    ChainOverwrite *overwrites; /* by root, then in the order of the text */
    uint32_t count, capacity, overwrite_count, overwrite_capacity;
    Pointers tokens; /* of loads: among the items */
    Pointers roots;  /* where the overwrites of each begin */
} Loads;

ORDER(by_root, ChainOverwrite, BY(root->offset) BY(op->offset))

static bool is_within(const Op *op, const Op *loop) {
    while (op && op != loop && op->offset > loop->offset)
        op = enclosing_loop(op);
    return op == loop;
}

/* False if the kernel has barriers: then it is not tokens that order things. */
static bool collect(Builder *builder, Loads *loads) {
    const Op *function = builder->function;
    for (const Op *op = function; op; op = op_next_in_walk(op, function)) {
        if (op_any_effect(builder->module, op, effect_is_barrier))
            return false;
        ChainTouch touch = touch_of(builder->module, op);
        const Value *token = is_load(&touch) && enclosing_loop(op) ? token_made(builder->module, op) : NULL;
        if (token) {
            pointers_set(&loads->tokens, token, loads->count);
            *ARENA_PUSH(builder->arena, loads->items, loads->count, loads->capacity) = (ChainLoad){.op = op};
        }
        if (touch.root && may_overwrite(op, &touch) && !op_is(op, CLASS_LOCAL_ALLOC))
            *ARENA_PUSH(builder->arena, loads->overwrites, loads->overwrite_count, loads->overwrite_capacity) =
                (ChainOverwrite){op, touch.root};
    }
    if (loads->overwrite_count)
        qsort(loads->overwrites, loads->overwrite_count, sizeof *loads->overwrites, by_root);
    for (uint32_t i = loads->overwrite_count; i-- > 0;)
        pointers_set(&loads->roots, loads->overwrites[i].root, i);
    return true;
}

static void mark_used(Builder *builder, Loads *loads) {
    const Op *function = builder->function;
    for (const Op *op = function; op; op = op_next_in_walk(op, function)) {
        for (uint32_t i = 0; i < op->operand_count; i++) {
            uint32_t load = pointers_get(&loads->tokens, op->operands[i]);
            if (load != NO_NUMBER)
                loads->items[load].used = true;
        }
    }
}

/* The next write over what a load reads, around the innermost loop that has one; NULL if none has. */
static const Op *next_overwrite(const Loads *loads, const Op *load, const Op *root) {
    enum { MOST_LOOKED_AT = 64 };
    uint32_t begin = pointers_get(&loads->roots, root);
    for (const Op *loop = enclosing_loop(load); loop && begin != NO_NUMBER; loop = enclosing_loop(loop)) {
        const Op *first = NULL;
        for (uint32_t i = begin; i < loads->overwrite_count && i < begin + MOST_LOOKED_AT; i++) {
            const ChainOverwrite *overwrite = &loads->overwrites[i];
            if (overwrite->root != root)
                break;
            if (!is_within(overwrite->op, loop))
                continue;
            if (overwrite->op->offset > load->offset)
                return overwrite->op;
            first = first ? first : overwrite->op;
        }
        if (first)
            return first;
    }
    return NULL;
}

static void report_unused(Builder *builder) {
    Loads loads = {.tokens.arena = builder->arena, .roots.arena = builder->arena};
    if (builder->form != PARTITION_TASKS && builder->form != PARTITION_SCHEDULED)
        return;
    if (!collect(builder, &loads))
        return;
    mark_used(builder, &loads);
    for (uint32_t i = 0; i < loads.count; i++) {
        const Op *load = loads.items[i].op, *root = loads.items[i].used ? NULL : touch_of(builder->module, load).root;
        const Op *writer = root ? next_overwrite(&loads, load, root) : NULL;
        uint64_t reads = builder_runners(builder, load), writes = writer ? builder_runners(builder, writer) : 0;
        if (!reads || !writes)
            continue;
        add_edge(builder, load, writer, root, true);
        builder->edges[builder->edge_count - 1].note =
            reads & writes ? "unused token: nothing carries the end of this read to the next write; both are in one "
                             "partition, and only program order separates them"
                           : "unused token: nothing carries the end of this read to the next write; once barriers "
                             "are inserted, one of them must";
    }
}

void report_token_chains(Builder *builder) {
    const Op *function = builder->function;
    if (builder->form == PARTITION_NONE)
        return;
    for (const Op *op = function; op; op = op_next_in_walk(op, function)) {
        ChainTouch touch = touch_of(builder->module, op);
        for (uint32_t i = 0; i < op->operand_count && (touch.reads || touch.writes); i++)
            if (value_is_token(builder->module, op->operands[i]))
                follow(builder, op, op->operands[i]);
    }
    report_unused(builder);
}
