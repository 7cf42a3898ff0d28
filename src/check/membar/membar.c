/* Thread barriers: functions and what they call, and the result for one of them. */
#include "base/deadline.h"
#include "check/membar/internal.h"

#include "model/flow/symbol.h"
#include "model/target/target.h"

#include <stdlib.h>

static const size_t scratch_budget = (size_t)1 << 30;
enum { MOST_CALLEES = 1000 };

/* ---- Functions ------------------------------------------------------------------------------------------------- */

/* A function on the way down the calls, and the op to look at next. */
typedef struct MembarWalking {
    const Op *function, *next;
} MembarWalking;

typedef struct MembarProgram {
    Module *module;
    MembarModel model;
    ReleaseSet releases;
    Arena *arena, *run;
    Pointers callees;
    Membar **analyses;
    uint32_t count, capacity;
    const char *problem;
    const Op *problem_op;
} MembarProgram;

/* What the module says the kernel is for; where it says nothing, AMD's own ops say it. */
static bool is_amd(const Op *function) {
    Str said = target_text(function);
    const Target *target = said.size ? NULL : target_of(function);
    return str_starts(said, STR("hip:")) || (target && target->vendor == VENDOR_AMD);
}

/* What callers have to know, where the runs of others leave it alone. */
static void keep_summary(Membar *membar) {
    Notes notes;
    membar_run(membar, PASS_THREADS, RUN_NOTE, &notes);
    Summary *summary = &membar->summary;
    summary->entry = (uint32_t *)(void *)arena_copy(membar->arena, (const char *)summary->entry,
                                                    summary->entry_count * sizeof *summary->entry);
    if (summary->exit)
        summary->exit = (const MembarState *)(void *)arena_copy(
            membar->arena, (const char *)summary->exit, sizeof(MembarState) + summary->exit->count * sizeof(Entry));
}

/* Whether others may call it. Where it would take long to find out, they may. */
static bool may_be_called(const MembarProgram *program, const Op *function) {
    enum { MOST_FUNCTIONS = 100 };
    const Function *signature = op_function(function);
    const Attr *name = op_attr(function, "sym_name");
    uint32_t functions = 0;
    if ((signature && str_starts(signature->visibility, STR("private"))) || !name)
        return true;
    Str called = symbol_name(name);
    for (const Item *item = program->module->first; item; item = item->next)
        for (const Op *op = item->kind == ITEM_OP ? item->op : NULL; op; op = op_next_in_walk(op, item->op)) {
            const Attr *callee = op_is_control(op, CONTROL_CALL) ? op_attr(op, "callee") : NULL;
            functions += op_function(op) != NULL;
            if (functions > MOST_FUNCTIONS || (callee && str_equal(symbol_name(callee), called)))
                return true;
        }
    return false;
}

static void analyze_function(MembarProgram *program, const Op *function, bool called) {
    Membar *membar = ARENA_NEW(program->arena, Membar);
    const Function *signature = op_function(function);
    *membar = (Membar){.module = program->module,
                       .function = function,
                       .model = program->model,
                       .releases = program->releases,
                       .arena = program->arena,
                       .run = program->run,
                       .amd = is_amd(function),
                       .clusters = module_ctas(function) > 1,
                       .two_ctas = attr_is_true(op_attr_around(function, "ttng.two-ctas")),
                       .called = called,
                       .public = signature && !str_starts(signature->visibility, STR("private"))};
    membar_compile(membar, &program->callees, program->analyses);
    membar_place_barriers(membar);
    if (called)
        keep_summary(membar);
    if (membar->problem && !program->problem) {
        program->problem = membar->problem;
        program->problem_op = membar->problem_op ? membar->problem_op : function;
    }
    pointers_set(&program->callees, function, program->count);
    *ARENA_PUSH(program->arena, program->analyses, program->count, program->capacity) = membar;
}

/* Callees before callers. A function that is called while it is looked at is not looked into there. */
static void analyze_calls(MembarProgram *program, const Op *function) {
    MembarWalking *stack = NULL;
    uint32_t depth = 0, capacity = 0, seen_count = 0;
    Pointers seen = {.arena = program->arena};
    *ARENA_PUSH(program->arena, stack, depth, capacity) = (MembarWalking){function, function};
    pointers_set(&seen, function, seen_count++);
    while (depth) {
        MembarWalking *top = &stack[depth - 1];
        const Op *callee = NULL;
        for (; top->next && !callee; top->next = op_next_in_walk(top->next, top->function)) {
            callee = op_is_control(top->next, CONTROL_CALL) ? call_target(program->module, top->next) : NULL;
            if (callee && (pointers_get(&seen, callee) != NO_NUMBER || seen_count > MOST_CALLEES))
                callee = NULL;
        }
        if (callee) {
            pointers_set(&seen, callee, seen_count++);
            *ARENA_PUSH(program->arena, stack, depth, capacity) = (MembarWalking){callee, callee};
            continue;
        }
        depth--;
        analyze_function(program, stack[depth].function,
                         stack[depth].function != function || may_be_called(program, function));
    }
}

static Membar *prepare(MembarProgram program, const Op *function) {
    analyze_calls(&program, function);
    Membar *membar = program.analyses[program.count - 1];
    membar->problem = program.problem;
    membar->problem_op = program.problem_op;
    return membar;
}

/* ---- The result ------------------------------------------------------------------------------------------------ */

static const MembarHazard *copy_hazards(Module *module, const MembarHazard *hazards, uint32_t count) {
    return count ? (const MembarHazard *)(void *)arena_copy(&module->arena, (const char *)hazards,
                                                            count * sizeof *hazards)
                 : NULL;
}

static void set_hazards(const Membar *membar, const MembarBarrier *barrier, const MembarNode *node, MembarNeed *need) {
    need->hazards = copy_hazards(membar->module, barrier->hazards, barrier->kept);
    need->hazard_count = barrier->alone;
    if (!barrier->alone && !need->after && node->placing.reason) {
        need->hazards = copy_hazards(membar->module, &membar->reasons[node->placing.reason - 1], 1);
        need->hazard_count = 1;
    }
}

static MembarKind kind_of(const Membar *membar, uint8_t bits, const MembarBarrier *barrier) {
    if (bits & PASS_CLUSTER)
        return MEMBAR_CLUSTER;
    bool tensor = membar->model == MEMBAR_ASYNC ? barrier->alone && barrier->tensor_only : bits == PASS_TENSOR;
    return tensor ? MEMBAR_TENSOR : MEMBAR_LOCAL;
}

static void add_need(const Membar *membar, MembarResult *result, uint32_t index, bool after, const Notes *notes) {
    const MembarNode *node = &membar->nodes[index];
    const MembarBarrier *barrier = &notes->barriers[2 * index + after];
    MembarNeed *need = &result->needs[result->need_count++];
    *need = (MembarNeed){
        .op = node->op, .after = after, .automatic = after && node->automatic && membar->model != MEMBAR_ASYNC};
    need->kind = kind_of(membar, after ? node->placing.after : node->placing.before, barrier);
    set_hazards(membar, barrier, node, need);
}

static void add_handshake(const Membar *membar, MembarResult *result) {
    const Handshake *handshake = &membar->handshake;
    if (!handshake->at)
        return;
    size_t at = result->need_count++;
    for (; at > 0 && result->needs[at - 1].op->offset > handshake->at->offset; at--)
        result->needs[at] = result->needs[at - 1];
    result->needs[at] = (MembarNeed){.op = handshake->at, .kind = handshake->barrier ? MEMBAR_INIT : MEMBAR_INIT_FENCE};
}

static void collect_needs(Membar *membar, MembarResult *result, const Notes *notes) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < membar->node_count; i++)
        count += (membar->nodes[i].placing.before != 0) + (membar->nodes[i].placing.after != 0);
    result->needs = ARENA_ARRAY(&membar->module->arena, MembarNeed, count + 2);
    for (uint32_t i = 0; i < membar->node_count; i++) {
        if (membar->nodes[i].placing.before)
            add_need(membar, result, i, false, notes);
        if (membar->nodes[i].placing.after)
            add_need(membar, result, i, true, notes);
    }
    add_handshake(membar, result);
}

static void collect_present(Membar *membar, MembarResult *result, const Notes *notes, const Needless *needless) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < membar->node_count; i++)
        count += membar->nodes[i].is.present;
    result->present = ARENA_ARRAY(&membar->module->arena, MembarPresent, count + 1);
    for (uint32_t i = 0; i < membar->node_count; i++) {
        const MembarNode *node = &membar->nodes[i];
        if (!node->is.present)
            continue;
        const MembarBarrier *barrier = &notes->barriers[2 * i];
        result->present[result->present_count++] =
            (MembarPresent){.op = node->op,
                            .needless = node->removed,
                            .covered_by = needless[i].covered_by,
                            .why = needless[i].why,
                            .hazards = copy_hazards(membar->module, barrier->hazards, barrier->kept),
                            .hazard_count = barrier->alone};
    }
}

static void analyze(Membar *membar, void *context) {
    MembarResult *result = context;
    Notes notes;
    Needless *needless = membar_find_needless(membar);
    membar_run(membar, PASS_THREADS, RUN_NOTE, &notes);
    collect_needs(membar, result, &notes);
    collect_present(membar, result, &notes, needless);
    result->proofs = (MembarProof *)(void *)arena_copy(&membar->module->arena, (const char *)membar->proofs,
                                                       membar->proof_count * sizeof *membar->proofs);
    result->proof_count = membar->proof_count;
    result->problem = membar->problem;
    result->problem_op = membar->problem_op;
}

/* ---- Memory ---------------------------------------------------------------------------------------------------- */

/* Calls `work` with the function's analysis, in an arena of its own. False if that took more memory than it may. */
static bool with_analysis(Module *module, const MembarResult *asked, void (*work)(Membar *membar, void *context),
                          void *context) {
    Arena scratch, run;
    jmp_buf out_of_memory, *outer = module->arena.exhausted;
    volatile bool done = false;
    arena_init(&scratch, scratch_budget);
    arena_init(&run, scratch_budget);
    scratch.exhausted = run.exhausted = module->arena.exhausted = &out_of_memory;
    if (setjmp(out_of_memory) == 0) {
        MembarProgram program = {.module = module,
                                 .model = asked->model,
                                 .releases = asked->releases,
                                 .arena = &scratch,
                                 .run = &run,
                                 .callees = {.arena = &scratch}};
        work(prepare(program, asked->function), context);
        done = true;
    }
    module->arena.exhausted = outer;
    arena_free(&scratch);
    arena_free(&run);
    return done;
}

const MembarResult *membar_analyze(Module *module, const Op *function, MembarModel model, ReleaseSet releases) {
    MembarResult *result = ARENA_NEW(&module->arena, MembarResult);
    MembarResult empty = {
        .function = function, .model = model, .releases = releases, .inserted = stage_barriers(module, function)};
    *result = empty;
    if (!with_analysis(module, &empty, analyze, result)) {
        *result = empty;
        result->problem = deadline_look() ? membar_too_late : "it needs more memory than the limit";
        result->problem_op = function;
    }
    return result;
}

void membar_why(Module *module, const MembarResult *result, const Op *op, Text *to) {
    WhyQuestion question = {op, to};
    if (!with_analysis(module, result, membar_report_why, &question))
        text_addf(to, "it needs more memory than the limit\n");
}
