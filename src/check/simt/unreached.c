/* How much of a kernel was run, and what was not. */
#include "check/simt/internal.h"

#include "ptx/effects.h"

/* In some lane. */
static bool is_done(const ThreadsCheck *check, uint32_t at) {
    return check->ran[at] & PTX_RAN_YES;
}

/* ---- What data that is not known might lead to --------------------------------------------------- */

/* The code that control may come to behind a condition that is not known. */
enum { BEYOND = 1, BEYOND_SETTLED = 2 }; /* it may; but its guard does not hold whatever the data is */
typedef struct UnreachedBeyond {
    ThreadsCheck *check;
    uint8_t *codes; /* of the program: BEYOND... */
    bool changed;   /* other functions have to be looked at again */
} UnreachedBeyond;

static bool is_changing(const PtxOperand *operand) {
    return operand->kind == PTX_SPECIAL && !ptx_special_at(operand->a)->varies[0];
}

/* A parameter of the kernel, and not one that a call gives or takes. */
static bool loads_parameter(const PtxModule *module, const PtxStatement *statement) {
    for (uint32_t i = statement->first; i < statement->first + statement->count; i++) {
        const PtxOperand *operand = &module->operands[i];
        if (operand->kind == PTX_VARIABLE)
            return module->variables[operand->a].formal == PTX_PARAMETER;
    }
    return false;
}

/* Whether a value of the kernel is the same with any data: made of numbers, parameters and special registers alone.
 * What comes from two sides depends on the way, which may not be known. */
static bool is_settled(const PtxFlow *flow, uint32_t value, unsigned depth) {
    enum { DEEPEST = 32 };
    const PtxModule *module = flow->module;
    const FlowValue *at = value == PTX_NONE ? NULL : &flow->values[value];
    if (!at || at->kind != VALUE_RESULT || at->before != PTX_NONE || depth == DEEPEST)
        return false;
    const PtxStatement *statement = &module->statements[flow->instructions[at->instruction]];
    const PtxForm *form = &module->forms[statement->what];
    PtxEffect effects[PTX_EFFECTS_MOST];
    if (form->evaluator == PTX_EVALUATE_LOAD)
        return loads_parameter(module, statement);
    if (form->evaluator == PTX_EVALUATE_NONE || form->evaluator == PTX_EVALUATE_ACTIVEMASK ||
        ptx_effects_of(module, statement, effects))
        return false;
    for (uint32_t i = statement->first; i < statement->first + statement->count; i++) {
        uint32_t read = flow_value(flow, i);
        if (is_changing(&module->operands[i]) ||
            (read != PTX_NONE && read != value && !is_settled(flow, read, depth + 1)))
            return false;
    }
    return true;
}

/* Whether an instruction was run, and its guard is the same with any data. */
static bool has_settled_guard(const ThreadsCheck *check, const PtxFlow *flow, const PtxRoutine *routine, uint32_t at) {
    const PtxStatement *statement = &check->module->statements[flow->instructions[at]];
    return check->ran[routine->begin + at] && routine->function == check->entry && statement->flags & PTX_GUARDED &&
           is_settled(flow, flow_value(flow, statement->first), 0);
}

/* Whether control can go from the end of a block to its i-th successor with other data: it did, or what decides it
 * might be other then. */
static bool may_go(const UnreachedBeyond *beyond, const PtxFlow *flow, const PtxRoutine *routine,
                   const FlowBlock *block, uint32_t i) {
    if (block->ends != FLOW_BRANCH || !has_settled_guard(beyond->check, flow, routine, block->end - 1))
        return true;
    return beyond->check->ran[routine->begin + block->end - 1] &
           (i == 0 && block->successor_count > 1 ? PTX_RAN_YES : PTX_RAN_NO);
}

/* Marks the code of a block behind its first one that is reached, and functions that are called there. */
static bool mark_block(UnreachedBeyond *beyond, const PtxFlow *flow, const PtxRoutine *routine,
                       const FlowBlock *block) {
    const ThreadsCheck *check = beyond->check;
    bool on = false;
    for (uint32_t i = routine->begin + block->begin; i < routine->begin + block->end; i++) {
        const PtxCode *code = &check->program->code[i];
        on |= beyond->codes[i] || check->went[i];
        beyond->codes[i] |= on ? BEYOND : 0;
        if (on && !is_done(check, i) && has_settled_guard(check, flow, routine, i - routine->begin))
            beyond->codes[i] |= BEYOND_SETTLED;
        for (uint32_t k = 0; k < code->count; k++) {
            const PtxArgument *callee = code_argument(check->program, code, k);
            const PtxRoutine *called =
                callee->kind == ARGUMENT_ROUTINE ? &check->program->routines[callee->slot] : NULL;
            if (!called || !called->ready || called->begin == called->end)
                continue;
            bool back = beyond->codes[called->end - 1]; /* a condition in it is one of its caller */
            beyond->changed |= on && !beyond->codes[called->begin];
            beyond->codes[called->begin] |= on ? BEYOND : 0;
            on |= back;
        }
    }
    return on;
}

static void mark_routine(UnreachedBeyond *beyond, const PtxRoutine *routine) {
    const char *problem;
    PtxFlow flow;
    bool more = true;
    if (!ptx_flow(&flow, beyond->check->module, routine->function, ptx_flow_budget(beyond->check->module), &problem)) {
        verdict_incomplete(beyond->check->verdict, "", 0,
                           "Weir does not know which instructions did not run: "
                           "%s",
                           problem);
        return;
    }
    while (more) {
        more = false;
        for (uint32_t i = 0; i < flow.order_count; i++) {
            const FlowBlock *block = &flow.blocks[flow.order[i]];
            if (!mark_block(beyond, &flow, routine, block))
                continue;
            uint8_t *over = &beyond->codes[routine->end - 1];
            beyond->changed |= !*over;
            *over = BEYOND;
            for (uint32_t k = 0; k < block->successor_count; k++) {
                const FlowBlock *next = &flow.blocks[flow.edges[block->successors + k]];
                uint8_t *first = &beyond->codes[routine->begin + next->begin];
                if (*first || (block->end > block->begin && !may_go(beyond, &flow, routine, block, k)))
                    continue;
                *first = BEYOND;
                more = true;
            }
        }
    }
    ptx_flow_free(&flow);
}

static const uint8_t *find_beyond(ThreadsCheck *check) {
    const PtxProgram *program = check->program;
    UnreachedBeyond beyond = {.check = check, .codes = ARENA_ARRAY(&check->arena, uint8_t, program->code_count + 1)};
    for (uint32_t i = 0; i < program->code_count; i++)
        beyond.changed |= check->went[i] != 0;
    while (beyond.changed) {
        beyond.changed = false;
        for (uint32_t i = 0; i < check->module->functions_count; i++)
            if (program->routines[i].ready)
                mark_routine(&beyond, &program->routines[i]);
    }
    return beyond.codes;
}

/* ---- What is said -------------------------------------------------------------------------------- */

/* The first few of a kind that were not run, each by its line. */
typedef struct Missing {
    uint32_t count, first;
} Missing;

static void add_missing(Missing *missing, uint32_t at) {
    if (!missing->count++)
        missing->first = at;
}

static void say_missing(const ThreadsCheck *check, const Missing *missing, const char *what) {
    const PtxCode *code = &check->program->code[missing->first];
    const char *op = verdict_text(check->verdict, "%.*s", STR_ARG(code->form->text));
    if (missing->count && !check->options->launch && !check->options->placed)
        verdict_unreached(check->verdict, op, code_line(check->program, code),
                          "%u %s never run in the launches that Weir chose, this one first: give a launch that runs "
                          "them",
                          missing->count, what);
    else if (missing->count)
        verdict_unreached(check->verdict, op, code_line(check->program, code),
                          "%u %s never run, this one first, but may run with other data than Weir tried: give the "
                          "data in the launch file",
                          missing->count, what);
}

/* Conditions that were come to, and never went one of their ways. */
static void say_ways(ThreadsCheck *check) {
    for (uint32_t i = 0; i < check->program->code_count; i++)
        if (check->went[i] == PTX_RAN_YES || check->went[i] == PTX_RAN_NO)
            verdict_unreached(check->verdict, "", code_line(check->program, &check->program->code[i]),
                              "a condition depends on unknown data, and was never tried as %s: give the data in the "
                              "launch file",
                              check->went[i] == PTX_RAN_YES ? "false" : "true");
}

/* Coverage is of what launches can come to: the kernel, and the functions that it may call. */
void threads_coverage(ThreadsCheck *check, bool asked) {
    const PtxProgram *program = check->program;
    RunCoverage *coverage = &check->verdict->coverage;
    Missing barriers = {0}, accesses = {0};
    const uint8_t *beyond = asked && (check->options->launch || check->options->placed) ? find_beyond(check) : NULL;
    for (uint32_t i = 0; i < program->code_count; i++) {
        const PtxCode *code = &program->code[i];
        CodeRole role = code_role(check, code);
        bool missing = !is_done(check, i) && (!beyond || beyond[i] == BEYOND);
        if (check->dead && check->dead[i] && !is_done(check, i)) {
            coverage->unreachable += role != ROLE_OTHER;
            continue;
        }
        if (role == ROLE_SYNCHRONIZES) {
            coverage->barrier_ops++;
            coverage->barrier_ops_run += is_done(check, i);
            if (missing)
                add_missing(&barriers, i);
        } else if (role == ROLE_ACCESSES) {
            coverage->accesses++;
            coverage->accesses_run += is_done(check, i);
            if (missing)
                add_missing(&accesses, i);
        } else if (role == ROLE_BRANCHES) {
            coverage->branches += 2;
            coverage->branches_taken += (check->ran[i] & PTX_RAN_YES ? 1u : 0) + (check->ran[i] & PTX_RAN_NO ? 1u : 0);
        }
    }
    if (!asked)
        return;
    say_ways(check);
    say_missing(check, &barriers,
                barriers.count == 1 ? "synchronizing instruction was" : "synchronizing instructions were");
    say_missing(check, &accesses, accesses.count == 1 ? "access was" : "accesses were");
}
