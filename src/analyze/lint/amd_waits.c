/* Waits on AMD's counters: whether they cover what they are for, and whether their numbers fit. */
#include "analyze/lint/amd.h"

#include "model/flow/origin.h"

#include <inttypes.h>

/* ---- Numbers -------------------------------------------------------------------------------------- */

typedef struct WaitNumber {
    OpId op;
    const char *attribute, *counter;
    size_t limit; /* where Target has it */
    bool instruction;
} WaitNumber;

#define LIMIT(member) offsetof(Target, member)
static const WaitNumber numbers[] = {
    {OP_rocdl_s_wait_loadcnt, "count", "loadcnt", LIMIT(load_counter), true},
    {OP_rocdl_s_wait_storecnt, "count", "storecnt", LIMIT(store_counter), true},
    {OP_rocdl_s_wait_dscnt, "count", "dscnt", LIMIT(ds_counter), true},
    {OP_rocdl_s_wait_asynccnt, "count", "asynccnt", LIMIT(async_counter), true},
    {OP_amdg_memory_counter_wait, "store", "storecnt", LIMIT(store_counter), false},
    {OP_amdg_memory_counter_wait, "ds", "dscnt", LIMIT(ds_counter), false},
};
#undef LIMIT

static void check_limit(Lint *lint, const Op *op, const char *counter, int64_t number, unsigned limit,
                        bool instruction) {
    if (!limit || number <= limit)
        return;
    if (instruction)
        lint_find(lint, RULE_AMD_COUNTER_LIMIT, op, "%" PRId64 " does not fit %s of %s, which holds %u at most", number,
                  counter, lint->target->name, limit);
    else
        lint_find(lint, RULE_AMD_COUNTER_CLAMPED, op, "%" PRId64 " becomes %u, the most that %s of %s holds", number,
                  limit, counter, lint->target->name);
}

static void check_numbers(Lint *lint, const Op *op) {
    int64_t number;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const WaitNumber *row = &numbers[i];
        if (!lint_is(op, row->op) || !lint_integer(op, row->attribute, &number))
            continue;
        unsigned limit;
        memcpy(&limit, (const char *)lint->target + row->limit, sizeof limit);
        check_limit(lint, op, row->counter, number, limit, row->instruction);
    }
    CounterWait wait = counter_wait_of(op, lint->target);
    if (wait.queue == QUEUE_TENSOR && lint->target->tensor_counter && wait.leave > lint->target->tensor_counter)
        lint_find(lint, RULE_AMD_COUNTER_LIMIT_UNKNOWN, op,
                  "review: whether tensorcnt can be waited for to go down to %" PRId64 " is documented nowhere",
                  wait.leave);
    if (wait.written && (lint_is(op, OP_amdg_memory_counter_wait) || lint_is(op, OP_amdg_async_wait)))
        check_limit(lint, op, amd_counter_name(wait.queue, lint->target), wait.leave,
                    amd_counter_limit(wait.queue, lint->target), false);
    if (lint_is(op, OP_amdg_memory_counter_wait) && !lint->target->store_counter && lint_integer(op, "ds", &number) &&
        number > 0)
        lint_find(lint, RULE_AMD_COUNTER_MIXED, op,
                  "review: %" PRId64 " may be left of lgkmcnt, on which scalar loads count, too, in any order", number);
}

/* ---- Kinds ---------------------------------------------------------------------------------------- */

static bool is_move(const Op *op) {
    switch (op->row ? op->row->id : OP_COUNT) {
    case OP_amdg_async_tdm_copy_global_to_local:
    case OP_amdg_async_tdm_copy_local_to_global:
    case OP_amdg_async_tdm_fused_copy_global_to_local:
    case OP_amdg_async_tdm_gather:
    case OP_amdg_async_tdm_scatter:
        return true;
    default:
        return false;
    }
}

static bool is_copy(Lint *lint, const Op *op) {
    AmdCopy copy;
    return amd_copy_of(lint->module, op, &copy) || lint_is(op, OP_ttg_async_commit_group);
}

/* The op that made the token; of a group, the one that made its first. */
static const Op *maker(const Value *token) {
    const Op *op = token->is_result ? token->owner : NULL;
    bool group = op && lint_is(op, OP_ttg_async_commit_group) && op->operand_count && op->operands[0]->is_result;
    return group ? op->operands[0]->owner : op;
}

static void check_kind(Lint *lint, const Op *op) {
    bool of_moves = lint_is(op, OP_amdg_async_tdm_wait) || lint_is(op, OP_amdg_async_tdm_intrinsic_wait);
    if (!of_moves && !lint_is(op, OP_amdg_async_wait) && !lint_is(op, OP_ttg_async_wait))
        return;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const Op *made = maker(op->operands[i]);
        if (!made || (of_moves ? !is_copy(lint, made) : !is_move(made)))
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
        return lint_text(lint, "%u or more", need.low);
    return need.high == need.low ? lint_text(lint, "%u", need.low) : lint_text(lint, "%u to %u", need.low, need.high);
}

static void check_tokens(Lint *lint, Counters *counters, const Op *op) {
    CounterWait wait = counter_wait_of(op, lint->target);
    bool marks = lint_is(op, OP_ttg_async_wait) && !lint->target->async_counter;
    bool ignored = lint_is(op, OP_amdg_async_tdm_wait); /* the number, where there are tokens */
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

static const Value *read_view(const Op *op) {
    switch (op->row ? op->row->id : OP_COUNT) {
    case OP_ttg_local_load:
    case OP_ttg_local_gather:
    case OP_amdg_local_load_packed_transposed:
    case OP_amdg_local_load_packed_tranposed:
        return lint_operand(op, "src");
    default:
        return NULL;
    }
}

static bool comes_before(const Op *first, const Op *second) {
    return first->block == second->block && first->offset < second->offset;
}

/* Whether the load surely reads what the latest execution of the copy writes. */
static bool reads_copy(Lint *lint, const Value *view, const Op *load, const Op *copy, const Value *target) {
    if (view == target && comes_before(copy, load))
        return true;
    const Op *root = origin_of(lint->module, view);
    return root && view == target && view->is_result && view->owner == root;
}

/* A load with a token is its wait's affair. */
static void check_read(Lint *lint, Counters *counters, const Op *op) {
    const Value *view = waits_for_tokens(op) ? NULL : read_view(op);
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
