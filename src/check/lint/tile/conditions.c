/* What it depends on whether an op is run: a barrier must not depend on the thread, or for a whole cluster on the CTA;
 * a request for the next cluster must depend on the answer to the one before.
 *
 * Scalars of this IR are the same in all threads of a partition, unless they come from an op that says which thread or
 * CTA it is. Where one does, the condition is computed for every thread and CTA: only if they are known to disagree is
 * it an error. */
#include "check/lint/tile/signals.h"

#include "model/flow/forwarded.h"
#include "model/flow/partition.h"
#include "model/number/evaluate.h"

enum {
    MOST_ROUNDS = 50,
    MOST_COMPUTED = 1 << 22, /* ops of a kernel; who asks for more gets no answer */
    MOST_NODES = 64,         /* of one condition */
    MOST_OPERANDS = 4,
    MOST_THREADS = 1024,
    MOST_RANKS = 16,
    MOST_CONDITIONS = 3, /* of one op */
};

/* On what a value depends: the thread, the CTA's rank, the answer to a request for the next cluster. */
enum { BY_THREAD = 1, BY_RANK = 2, BY_ANSWER = 4 };

typedef struct Conditions {
    Lint *lint;
    uint32_t ctas;
    Pointers marks; /* values that depend on who computes them -> BY_* */
    bool changed;
    uint32_t computed;   /* ops, so far */
    Pointers answers[2]; /* conditions that were judged, for barriers of the CTA and of the cluster -> Answer */
} Conditions;

/* Who computes it. */
typedef struct ConditionWho {
    int64_t thread, rank;
    bool relative;  /* in a partition: threads of the CTA are counted otherwise */
    unsigned nodes; /* that may still be computed */
} ConditionWho;

/* ---- What depends on who computes it -------------------------------------------------------------- */

static unsigned source_mark(const Op *op) {
    switch (op_evaluator(op)) {
    case EVALUATE_THREAD_ID:
    case EVALUATE_WARP_ID:
    case EVALUATE_LANE_ID:
        return BY_THREAD;
    case EVALUATE_CTA_RANK:
        return BY_RANK;
    default:
        return op_is(op, CLASS_CLUSTER_ANSWER) ? BY_ANSWER : 0;
    }
}

static unsigned mark_of(const Conditions *conditions, const Value *value) {
    uint32_t mark = pointers_get(&conditions->marks, value);
    return mark == NO_NUMBER ? 0 : mark;
}

static void mark(Conditions *conditions, const Value *value, unsigned marks) {
    unsigned before = mark_of(conditions, value);
    if ((before | marks) == before)
        return;
    pointers_set(&conditions->marks, value, before | marks);
    conditions->changed = true;
}

static void mark_forwarded(void *context, Forwarded how, const Value *from, const Value *to) {
    (void)how;
    mark(context, to, mark_of(context, from));
}

static void mark_results(Conditions *conditions, const Op *op) {
    unsigned marks = source_mark(op);
    for (uint32_t i = 0; i < op->operand_count && !op->region_count; i++)
        marks |= mark_of(conditions, op->operands[i]);
    for (uint32_t i = 0; marks && i < op->result_count; i++)
        mark(conditions, &op->results[i], marks);
    op_hands_on(op, mark_forwarded, conditions);
}

static bool has_sources(const Op *function) {
    for (const Op *op = function; op; op = op_next_in_walk(op, function))
        if (source_mark(op))
            return true;
    return false;
}

static void mark_all(Conditions *conditions) {
    const Op *function = conditions->lint->function;
    conditions->changed = true;
    for (int round = 0; conditions->changed && round < MOST_ROUNDS; round++) {
        conditions->changed = false;
        for (const Op *op = function; op; op = op_next_in_walk(op, function))
            mark_results(conditions, op);
    }
}

/* ---- Computing it for one of them ----------------------------------------------------------------- */

static Word computed(Conditions *conditions, const Value *value, ConditionWho *who);

static Word source_value(const Op *op, const ConditionWho *who) {
    bool in_x = !op_attr(op, "dimension") || str_is(op_attr(op, "dimension")->text, "x");
    switch (op_evaluator(op)) {
    case EVALUATE_LANE_ID:
        return word_integer(who->thread % 32);
    case EVALUATE_THREAD_ID:
        return who->relative || !in_x ? word_unknown(0) : word_integer(who->thread);
    case EVALUATE_WARP_ID:
        return who->relative ? word_unknown(0) : word_integer(who->thread / 32);
    default:
        return word_integer(who->rank);
    }
}

static Word computed_op(Conditions *conditions, const Op *op, uint32_t result, ConditionWho *who) {
    Word operands[MOST_OPERANDS];
    Evaluation how = evaluation_of(conditions->lint->module, op, result);
    if (how.code == EVALUATE_NONE || how.tensor || op->operand_count > MOST_OPERANDS)
        return word_unknown(0);
    for (uint32_t i = 0; i < op->operand_count; i++)
        operands[i] = computed(conditions, op->operands[i], who);
    return evaluate(&how, operands, op->operand_count, &conditions->lint->module->arena);
}

static Word computed(Conditions *conditions, const Value *value, ConditionWho *who) {
    const Op *op = value_op(value);
    if (op && source_mark(op) & (BY_THREAD | BY_RANK))
        return source_value(op, who);
    IntDomain known = known_of(conditions->lint->facts, value);
    if (known.exact)
        return word_integer(known.least);
    if (!op || !who->nodes || conditions->computed == MOST_COMPUTED)
        return word_unknown(0);
    who->nodes--;
    conditions->computed++;
    return computed_op(conditions, op, value->index, who);
}

/* Whether all threads, or for `marks` with BY_RANK all CTAs, get the same. */
static Tribool is_uniform(Conditions *conditions, const Value *value, const Op *at, unsigned marks) {
    Partitions partition = partitions_of(at);
    bool relative = partition.form != PARTITION_NONE && partition.mask != 1;
    int64_t threads = marks & BY_THREAD ? 32 * (int64_t)partition_warps(at) : 1;
    int64_t ranks = marks & BY_RANK ? conditions->ctas : 1, first = 0;
    bool any = false;
    for (int64_t rank = 0; rank < ranks && rank < MOST_RANKS; rank++)
        for (int64_t thread = 0; thread < threads && thread < MOST_THREADS; thread++) {
            ConditionWho who = {thread, rank, relative, MOST_NODES};
            Word word = computed(conditions, value, &who);
            if (!word_is(word, WORD_INTEGER))
                return TRIBOOL_UNKNOWN;
            if (any && word.bits != first)
                return TRIBOOL_FALSE;
            first = word.bits;
            any = true;
        }
    return TRIBOOL_TRUE;
}

/* ---- Findings ------------------------------------------------------------------------------------- */

/* The values that decide whether, and how often, the op's regions are run. */
static unsigned conditions_of(const Op *op, const Value *values[MOST_CONDITIONS]) {
    const Op *decides = op_is_control(op, CONTROL_WHILE) ? region_end(op, 0) : op;
    Bounds bounds;
    if (loop_bounds(op, &bounds)) {
        values[0] = bounds.from;
        values[1] = bounds.to;
        values[2] = bounds.step;
        return MOST_CONDITIONS;
    }
    if (!decides || !decides->row)
        return 0;
    const Value *condition = op_operand_of(decides, decides->row->control.condition);
    values[0] = condition ? condition : op_operand_of(decides, decides->row->control.number);
    return values[0] != NULL;
}

static void report(Conditions *conditions, const Op *barrier, const Op *around, Tribool tribool, unsigned marks) {
    const char *who = marks & BY_THREAD ? "thread" : "CTA of the cluster";
    Finding *finding = NULL;
    if (tribool == TRIBOOL_FALSE)
        finding = lint_find(conditions->lint, RULE_THREADS_DIVERGENT, barrier,
                            "the barrier is under a condition that is not the same in every %s", who);
    else if (tribool == TRIBOOL_UNKNOWN)
        finding = lint_find(conditions->lint, RULE_THREADS_DIVERGENT_UNKNOWN, barrier,
                            "review: the barrier is under an unknown condition that depends on the %s", who);
    lint_other_place(conditions->lint, finding, "decides", around);
}

static void judge_barrier(Conditions *conditions, const Op *barrier, bool cluster) {
    for (const Op *op = op_parent(barrier); op && op != conditions->lint->function; op = op_parent(op)) {
        const Value *values[MOST_CONDITIONS];
        unsigned count = conditions_of(op, values);
        for (unsigned i = 0; i < count; i++) {
            unsigned marks = mark_of(conditions, values[i]) & (cluster ? BY_THREAD | BY_RANK : BY_THREAD);
            uint32_t tribool = pointers_get(&conditions->answers[cluster], values[i]);
            if (!marks)
                continue;
            if (tribool == NO_NUMBER)
                tribool = (uint32_t)is_uniform(conditions, values[i], op, marks);
            pointers_set(&conditions->answers[cluster], values[i], tribool);
            report(conditions, barrier, op, (Tribool)tribool, marks);
        }
    }
}

/* A request in a loop that goes on whatever the answer is: after one that failed there must be no other. */
static void judge_request(Conditions *conditions, const Op *request) {
    for (const Op *op = op_parent(request); op && op != conditions->lint->function; op = op_parent(op)) {
        const Value *values[MOST_CONDITIONS];
        unsigned count = conditions_of(op, values), marks = 0;
        for (unsigned i = 0; i < count; i++)
            marks |= mark_of(conditions, values[i]);
        if (marks & BY_ANSWER)
            return;
        if (!op_is_loop(op))
            continue;
        lint_other_place(conditions->lint,
                         lint_find(conditions->lint, RULE_CLC_AFTER_FAILURE, request,
                                   "review: it is issued again in every iteration, whatever the previous response was"),
                         "repeats", op);
        return;
    }
}

static void judge(Conditions *conditions, const Op *op) {
    Lint *lint = conditions->lint;
    Effects effects = lint_effects(lint, op);
    bool request = false;
    for (const Effect *effect = effects.items; effect < effects.end; effect++)
        request |= effect->helper == HELPER_CLC;
    bool cluster = lint_effect(lint, op, EFFECT_CLUSTER_ARRIVE) || lint_effect(lint, op, EFFECT_CLUSTER_WAIT);
    if (cluster || lint_effect(lint, op, EFFECT_CTA_BARRIER))
        judge_barrier(conditions, op, cluster);
    if (request)
        judge_request(conditions, op);
}

void lint_conditions(Lint *lint) {
    Arena *arena = &lint->module->arena;
    Conditions conditions = {.lint = lint,
                             .ctas = lint_ctas(lint),
                             .marks = {.arena = arena},
                             .answers = {{.arena = arena}, {.arena = arena}}};
    if (has_sources(lint->function))
        mark_all(&conditions);
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function))
        judge(&conditions, op);
}
