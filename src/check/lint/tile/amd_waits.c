/* Waits on AMD's counters: whether they cover what they are for, and whether their numbers fit. */
#include "check/lint/tile/amd.h"

#include "model/flow/origin.h"

#include <inttypes.h>

/* ---- Numbers -------------------------------------------------------------------------------------- */

/* An instruction is for one counter; what is for several, or for copies whatever they count on, is still to become
 * instructions. */
static bool is_instruction(const Op *op) {
    return op->row->waits[0].counter != WAITS_COPIES && op->row->waits[1].counter == WAITS_NOTHING;
}

/* An instruction holds its number; of others the compiler cuts it to what instructions hold. */
static void check_limit(Lint *lint, const Op *op, const char *counter, int64_t number, unsigned limit) {
    if (!limit || number <= limit)
        return;
    if (is_instruction(op))
        lint_find(lint, RULE_AMD_COUNTER_LIMIT, op, "%" PRId64 " does not fit %s of %s, which holds at most %u", number,
                  counter, lint->target->name, limit);
    else
        lint_find(lint, RULE_AMD_COUNTER_CLAMPED, op, "%" PRId64 " becomes %u, the maximum that %s of %s holds", number,
                  limit, counter, lint->target->name);
}

static void check_numbers(Lint *lint, const Op *op) {
    const Target *target = lint->target;
    const Attr *stores = counter_left(op, WAITS_STORE), *ds = counter_left(op, WAITS_DS);
    CounterWait wait = counter_wait_of(op, target);
    if (stores)
        check_limit(lint, op, "storecnt", stores->integer, target->store_counter);
    if (ds)
        check_limit(lint, op, "dscnt", ds->integer, target->ds_counter);
    if (wait.queue == QUEUE_TENSOR && target->tensor_counter && wait.leave > target->tensor_counter)
        lint_find(lint, RULE_AMD_COUNTER_LIMIT_UNKNOWN, op,
                  "review: whether tensorcnt can be waited on down to %" PRId64 " is not documented", wait.leave);
    else if (wait.written)
        check_limit(lint, op, amd_counter_name(wait.queue, target), wait.leave, amd_counter_limit(wait.queue, target));
    if (ds && !is_instruction(op) && !target->store_counter && ds->integer > 0)
        lint_find(lint, RULE_AMD_COUNTER_MIXED, op,
                  "review: %" PRId64 " may be left of lgkmcnt, which scalar loads also use and complete in any order",
                  ds->integer);
}

/* ---- Kinds ---------------------------------------------------------------------------------------- */

/* Whether it closes a group of that kind. Some waits do so, too, for what was not in any. */
static bool commits(Lint *lint, const Op *op, GroupKind kind) {
    const Effect *commit = lint_effect(lint, op, EFFECT_COMMIT);
    return commit && commit->group == kind && !lint_effect(lint, op, EFFECT_AWAIT);
}

static bool is_copy(Lint *lint, const Op *op) {
    AmdCopy copy;
    return amd_copy_of(lint->module, op, &copy) || commits(lint, op, GROUP_CP_ASYNC);
}

/* The op that made the token; of a group, the one that made its first. */
static const Op *maker(Lint *lint, const Value *token) {
    const Op *op = value_op(token);
    const Op *first = op && commits(lint, op, GROUP_CP_ASYNC) && op->operand_count ? value_op(op->operands[0]) : NULL;
    return first ? first : op;
}

static void check_kind(Lint *lint, const Op *op) {
    const Effect *wait = lint_effect(lint, op, EFFECT_AWAIT);
    bool of_moves = wait && wait->group == GROUP_AMD_TENSOR;
    if (!of_moves && !(wait && (wait->group == GROUP_AMD_ASYNC || wait->group == GROUP_CP_ASYNC)))
        return;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const Op *made = maker(lint, op->operands[i]);
        if (!made || (of_moves ? !is_copy(lint, made) : !commits(lint, made, GROUP_AMD_TENSOR)))
            continue;
        Finding *finding =
            lint_find(lint, RULE_AMD_WAIT_KIND, op, "it waits on %s for a copy that counts on %s",
                      amd_counter_name(of_moves ? QUEUE_TENSOR : amd_copy_queue(lint->target), lint->target),
                      amd_counter_name(of_moves ? amd_copy_queue(lint->target) : QUEUE_TENSOR, lint->target));
        lint_other_place(lint, finding, "copies", made);
    }
}

/* ---- Tokens --------------------------------------------------------------------------------------- */

static const char *issued(Lint *lint, Distance need) {
    if (need.high == DISTANCE_NONE || need.high >= AMD_MANY)
        return verdict_text(lint->verdict, "%u or more", need.low);
    return need.high == need.low ? verdict_text(lint->verdict, "%u", need.low)
                                 : verdict_text(lint->verdict, "%u to %u", need.low, need.high);
}

static void check_tokens(Lint *lint, Counters *counters, const Op *op) {
    CounterWait wait = counter_wait_of(op, lint->target);
    bool marks = wait.queue == QUEUE_GROUPS && !lint->target->async_counter;
    bool ignored = wait.queue == QUEUE_MOVES; /* the number, where there are tokens */
    if (wait.queue == QUEUE_NONE || !waits_for_tokens(op) || (!wait.written && !marks && !ignored))
        return;
    Distance need;
    PortCover cover = counter_cover(counters, op, &wait, &need);
    if (distance_is_none(need))
        return;
    const char *units = marks ? "groups" : ignored ? "copies" : "instructions";
    const char *since = issued(lint, need);
    if (cover == PORT_TOO_LITTLE)
        lint_find(lint, marks ? RULE_AMD_WAIT_TOKEN : RULE_AMD_WAIT_COUNT, op,
                  "it leaves up to %" PRId64 " %s, but only %s came after what its tokens stand for", wait.leave, units,
                  since);
    else if (cover == PORT_UNKNOWN)
        lint_find(lint, RULE_AMD_WAIT_UNDECIDED, op,
                  "review: it leaves up to %" PRId64 " %s, and %s came after what its tokens stand for%s", wait.leave,
                  units, since, ignored ? "; the number does not count where there are tokens" : "");
    else if (cover == PORT_MORE)
        lint_find(lint, RULE_AMD_WAIT_MORE, op,
                  "it leaves up to %" PRId64 " %s, though %u or more came after what its tokens stand for", wait.leave,
                  units, need.low);
}

/* ---- Reads ---------------------------------------------------------------------------------------- */

static bool comes_before(const Op *first, const Op *second) {
    return first->block == second->block && first->offset < second->offset;
}

/* Whether the load surely reads what the latest execution of the copy writes. */
static bool reads_copy(Lint *lint, const Value *view, const Op *load, const Op *copy, const Value *target) {
    if (view == target && comes_before(copy, load))
        return true;
    const Op *root = origin_of(lint->module, view);
    return root && view == target && value_op(view) == root;
}

/* A load with a token is its wait's affair. */
static void check_read(Lint *lint, Counters *counters, const Op *op) {
    const Value *view = waits_for_tokens(op) ? NULL : lds_read(lint, op);
    for (uint32_t i = 0; view && i < counters_copies(counters); i++) {
        const Op *made = counters_copy(counters, i);
        AmdCopy copy;
        if (counters_queue(counters, i) != QUEUE_ASYNC || !amd_copy_of(lint->module, made, &copy) || copy.store ||
            !reads_copy(lint, view, op, made, copy.local))
            continue;
        Distance distance = distance_of_copy(counters, op, i, 0);
        if (distance_is_none(distance) || distance.high == DISTANCE_NONE)
            continue;
        Finding *finding =
            lint_find(lint, RULE_AMD_READ_IN_FLIGHT, op, "it reads a buffer before a wait covers the copy into it");
        lint_other_place(lint, finding, "copies", made);
    }
}

/* ---- All of them ---------------------------------------------------------------------------------- */

void lint_amd_waits(Lint *lint) {
    Counters *counters = counters_of(lint->module, lint->function, lint->target, &lint->module->arena);
    const char *problem = counters_problem(counters);
    if (problem)
        verdict_incomplete(lint->verdict, "", 0, "%s", problem);
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function)) {
        check_numbers(lint, op);
        check_kind(lint, op);
        if (problem)
            continue;
        check_tokens(lint, counters, op);
        check_read(lint, counters, op);
    }
}
