/* What the tensor cores do one after the other: products and copies that nothing orders, and peers that may leave.
 *
 * From each asynchronous operation all ways are followed as far as the next wait for a barrier, which may order it. */
#include "base/pointers.h"
#include "check/lint/tile/group.h"

/* What an op is to these rules, as bits. */
enum {
    IS_ASYNC = 1,   /* a product or copy that is not over when the next op comes */
    MAY_WAIT = 2,   /* it may wait for a barrier */
    MAY_GATHER = 4, /* it may wait for the cluster */
};

/* A view of tensor memory that was looked at. */
typedef struct TensorOrderView {
    KnownPlace place;
    bool exact; /* its words are known */
    Bytes words;
} TensorOrderView;

typedef struct TensorOrderWalk {
    Lint *lint;
    const Flow *flow;
    uint8_t *kinds; /* of the ops of `flow`, in its order */
    Pointers numbers;
    TensorOrderView *views;
    uint32_t view_count, view_capacity;
    /* of one walk */
    const Op *from;
    uint8_t ends;          /* ops of these kinds end a way */
    bool compares;         /* with the asynchronous ones on the way */
    uint32_t *seen, stamp; /* by piece: the walk that was there last */
    uint32_t *stack;
    uint64_t steps;
    bool returned; /* some way came to the end of the function */
} TensorOrderWalk;

static void compare(TensorOrderWalk *walk, const Op *first, const Op *second);

static void walk_piece(TensorOrderWalk *walk, uint32_t piece, uint32_t skip, uint32_t *depth) {
    const Flow *flow = walk->flow;
    const FlowPiece *at = &flow->pieces[piece];
    for (uint32_t i = at->first + skip; i < at->first + at->count; i++, walk->steps++) {
        if (walk->compares && (walk->kinds[i] & IS_ASYNC))
            compare(walk, walk->from, flow->ops[i].op);
        if (walk->kinds[i] & walk->ends)
            return;
    }
    walk->returned |= at->returns;
    for (uint32_t e = 0; e < at->edge_count; e++) {
        const FlowEdge *edge = &flow->edges[at->first_edge + e];
        if (walk->seen[edge->to] == walk->stamp || flow_starts_threads(flow, at, edge))
            continue;
        walk->seen[edge->to] = walk->stamp;
        walk->stack[(*depth)++] = edge->to;
    }
}

/* From behind the op `index` of a piece. */
static void walk_from(TensorOrderWalk *walk, uint32_t piece, uint32_t index) {
    uint32_t depth = 0;
    walk->from = walk->flow->ops[walk->flow->pieces[piece].first + index].op;
    walk->stamp++;
    walk->returned = false;
    walk_piece(walk, piece, index + 1, &depth);
    while (depth && walk->steps < LINT_STEPS)
        walk_piece(walk, walk->stack[--depth], 0, &depth);
}

/* ---- Products and copies -------------------------------------------------------------------------- */

static uint8_t kind_of(Lint *lint, const Op *op) {
    const Effect *access = tensor_access(lint, op);
    bool anything = op_is_control(op, CONTROL_CALL) || lint_effect(lint, op, EFFECT_ANYTHING);
    uint8_t kind = access && access->done == DONE_COMMIT ? IS_ASYNC : 0;
    if (anything || lint_effect(lint, op, EFFECT_WAIT))
        kind |= MAY_WAIT;
    if (anything || lint_effect(lint, op, EFFECT_CLUSTER_WAIT))
        kind |= MAY_GATHER;
    return kind;
}

typedef enum Meeting { APART, PERHAPS, SURELY } Meeting;

static const TensorOrderView *view_of(TensorOrderWalk *walk, const Value *value) {
    Arena *arena = &walk->lint->module->arena;
    uint32_t number = pointers_get(&walk->numbers, value);
    if (number != NO_NUMBER)
        return &walk->views[number];
    const Type *type = lint_type(walk->lint, value);
    TensorOrderView view = {.place = place_of(walk->lint->facts, value)};
    view.exact = type && view.place.allocation && view.place.byte.exact &&
                 view_bytes(walk->lint->module, type, (Offset){(int32_t)view.place.byte.least, 0}, arena, &view.words);
    pointers_set(&walk->numbers, value, walk->view_count);
    TensorOrderView *kept = ARENA_PUSH(arena, walk->views, walk->view_count, walk->view_capacity);
    *kept = view;
    return kept;
}

/* Whether two views of tensor memory share words. */
static Meeting views_overlap(TensorOrderWalk *walk, const Value *a, const Value *b) {
    enum { WORK = 64 /* steps that it is worth */ };
    if (a == b)
        return SURELY;
    walk->steps += WORK;
    TensorOrderView first = *view_of(walk, a), second = *view_of(walk, b);
    if (!first.place.allocation || !second.place.allocation)
        return PERHAPS;
    if (first.place.allocation != second.place.allocation && !(first.place.placed && second.place.placed))
        return APART;
    if (!first.exact || !second.exact)
        return PERHAPS;
    return bytes_overlap(&first.words, &second.words) ? SURELY : APART;
}

/* What an operation writes in tensor memory. */
static const Value *written(const TensorOrderWalk *walk, const Op *op) {
    const Effect *write = lint_effect(walk->lint, op, EFFECT_WRITE);
    write = write ? write : lint_effect(walk->lint, op, EFFECT_UPDATE);
    return write ? write->on : NULL;
}

/* Whether `op` reads a part of `view`, its accumulator aside. */
static Meeting reads(TensorOrderWalk *walk, const Op *op, const Value *view) {
    Effects effects = lint_effects(walk->lint, op);
    Meeting most = APART;
    for (const Effect *effect = effects.items; effect < effects.end; effect++) {
        bool input = effect->verb == EFFECT_READ && effect->space == SPACE_TENSOR;
        Meeting meeting = input ? views_overlap(walk, effect->on, view) : APART;
        most = meeting > most ? meeting : most;
    }
    return most;
}

/* Of the same shape and kind: the same op on elements of the same types, of which the accumulator is one. */
static bool are_symmetry(Lint *lint, const Op *first, const Op *second) {
    static const char *const operands[] = {"a", "b", "d"};
    if (first->row != second->row)
        return false;
    for (unsigned i = 0; i < 3; i++) {
        const Type *x = lint_type(lint, op_operand_named(first, operands[i]));
        const Type *y = lint_type(lint, op_operand_named(second, operands[i]));
        if (!x || !y || x->dim_count < 2 || y->dim_count < 2)
            return true; /* not known: taken for alike */
        bool sized = i != 2 || (x->dims[x->dim_count - 1] == y->dims[y->dim_count - 1] &&
                                x->dims[x->dim_count - 2] == y->dims[y->dim_count - 2]);
        if (!sized || x->element->width != y->element->width || x->element->kind != y->element->kind)
            return false;
    }
    return true;
}

/* Two accumulators that share words without being the same: the second part of the first, or of another shape. */
static Meeting sums_overlap(TensorOrderWalk *walk, const Op *first, const Op *second) {
    const Value *a = written(walk, first), *b = written(walk, second);
    if (!a || !b)
        return APART;
    Meeting meeting = views_overlap(walk, a, b);
    if (meeting != SURELY || !are_symmetry(walk->lint, first, second))
        return meeting;
    return a == b || view_of(walk, a)->place.byte.least == view_of(walk, b)->place.byte.least ? APART : SURELY;
}

static void report_order(Lint *lint, RuleId rule, const Op *second, const Op *first, const char *what) {
    uint32_t line = op_line(lint->module, first);
    Finding *finding = lint_find(lint, rule, second, "%s%s at IR line %u, and nothing orders the two",
                                 rule == RULE_TMEM_ORDER ? "" : "review: ", what, line);
    lint_explain(finding, "tensor",
                 "Of two tcgen05 operations of one thread, only MMAs on the same accumulator, and an MMA after a "
                 "tcgen05.cp, execute in order.",
                 "Wait for the first on an mbarrier before issuing the second.");
    lint_other_place(lint, finding, "comes first", first);
}

static void compare(TensorOrderWalk *walk, const Op *first, const Op *second) {
    enum { WORK = 8 /* steps that it is worth */ };
    Lint *lint = walk->lint;
    walk->steps += WORK;
    const Value *was = written(walk, first), *is = written(walk, second);
    if (!was || !is || partitions_of(first).mask != partitions_of(second).mask)
        return;
    bool copies = !op_is(second, CLASS_PRODUCT);
    if (copies && op_is(first, CLASS_PRODUCT)) {
        if (reads(walk, first, is) == SURELY || views_overlap(walk, was, is) == SURELY)
            report_order(lint, RULE_TMEM_OVERWRITES, second, first, "overwrites an operand of the MMA");
        return;
    }
    if (copies) {
        if (first != second && views_overlap(walk, was, is) == SURELY)
            report_order(lint, RULE_TMEM_OVERWRITES, second, first, "overwrites the destination of the copy");
        return;
    }
    if (!op_is(first, CLASS_PRODUCT)) /* a product after a copy is in order */
        return;
    Meeting result = reads(walk, second, was);
    if (result == SURELY)
        report_order(lint, RULE_TMEM_ORDER, second, first, "reads the result of the MMA");
    else if (result == PERHAPS)
        report_order(lint, RULE_TMEM_ORDER_UNKNOWN, second, first, "may read the result of the MMA");
    else if (reads(walk, first, is) == SURELY)
        report_order(lint, RULE_TMEM_OVERWRITES, second, first, "overwrites what is read by the MMA");
    else if (sums_overlap(walk, first, second) == SURELY)
        report_order(lint, RULE_TMEM_ORDER, second, first, "writes a part of the accumulator of the MMA");
}

/* ---- Peers ---------------------------------------------------------------------------------------- */

static void check_peer(TensorOrderWalk *walk, uint32_t piece, uint32_t index) {
    walk->ends = MAY_GATHER;
    walk->compares = false;
    walk_from(walk, piece, index);
    if (walk->returned)
        lint_explain(lint_find(walk->lint, RULE_TMEM_PEER, walk->from,
                               "review: no cluster barrier keeps the CTA from exiting while its peer's MMA runs"),
                     "tensor",
                     "A two-CTA MMA uses the memory of both CTAs; Triton adds the barrier when it lowers "
                     "the IR.",
                     "Insert `ttng.cluster_barrier` before the return, unless the compiler does.");
}

void lint_tensor_order(Lint *lint, const Flow *flow) {
    Arena *arena = &lint->module->arena;
    TensorOrderWalk walk = {.lint = lint,
                            .flow = flow,
                            .kinds = ARENA_ARRAY(arena, uint8_t, flow->op_count + 1),
                            .numbers = {.arena = arena},
                            .seen = ARENA_ARRAY(arena, uint32_t, flow->piece_count + 1),
                            .stack = ARENA_ARRAY(arena, uint32_t, flow->piece_count + 1)};
    bool pairs = false;
    for (uint32_t i = 0; i < flow->op_count; i++)
        walk.kinds[i] = kind_of(lint, flow->ops[i].op);
    for (uint32_t piece = 0; piece < flow->piece_count; piece++)
        for (uint32_t i = 0; i < flow->pieces[piece].count && walk.steps < LINT_STEPS; i++) {
            uint32_t at = flow->pieces[piece].first + i;
            bool pair = (walk.kinds[at] & IS_ASYNC) && op_attr(flow->ops[at].op, "two_ctas");
            if (!(walk.kinds[at] & IS_ASYNC))
                continue;
            walk.ends = MAY_WAIT;
            walk.compares = true;
            walk_from(&walk, piece, i);
            if (pair && !pairs)
                check_peer(&walk, piece, i);
            pairs |= pair;
        }
    if (walk.steps >= LINT_STEPS)
        verdict_incomplete(lint->verdict, "", 0, "the kernel is too large to track the order of its tensor-core work");
}
