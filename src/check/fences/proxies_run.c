/* Compiling, choosing launches, and running a few clusters of each eagerly. */
#include "check/fences/proxies_run.h"

#include "base/deadline.h"
#include "ir/op.h"
#include "machine/tile/launch/choose.h"
#include "machine/tile/schedule/classes.h"
#include "machine/tile/schedule/schedule.h"

enum { FEW_CLUSTERS = 4, MOST_HAVOC_CHOICES = 3 };
static const uint64_t usual_steps = 1000 * 1000, global_steps = 100 * 1000;
static const uint64_t launch_steps = 40 * 1000 * 1000; /* after which no more clusters of a launch are run */
static const size_t scratch_budget = (size_t)1 << 28;

/* Clusters of a launch that speak for all of it. */
typedef struct Representatives {
    uint64_t *clusters;
    uint32_t count, capacity;
} Representatives;

struct FenceRuns {
    Module *module;
    const Op *function;
    FenceLaunch given;
    Verdict *verdict;
    FenceWork *work;
    void *context;
    Machine *machine;
    Proxies *proxies;
    Launch *launches;
    size_t launch_count;
    Representatives *representatives; /* of each */
    uint64_t steps;
    bool complete;                /* all runs that were made last came to their end */
    bool (*until)(void *context); /* NULL: all are made */
    void *until_context;
    bool enough;       /* memory */
    uint64_t left_out; /* clusters of a launch */
    const Launch *left_out_of;
    bool hangs;            /* the one that `cut_short` is about */
    const char *cut_short; /* why a run did not finish; NULL: all did */
    Arena scratch;         /* tensors of one run */
};

/* ---- Whether there is anything to look at ----------------------------------------------------------- */

const Op *proxies_scope(const Op *function) {
    for (const Op *op = function; op; op = op_next_in_walk(op, function))
        if (op_is_control(op, CONTROL_CALL) && op_parent(function))
            return op_parent(function);
    return function;
}

bool proxies_matter(Module *module, const Op *function) {
    const Op *root = proxies_scope(function);
    Effect effects[EFFECTS_MOST];
    for (const Op *op = root; op; op = op_next_in_walk(op, root)) {
        unsigned count = op->row ? effects_of(module, op, effects) : 0;
        for (unsigned i = 0; i < count; i++)
            if (effect_is_access(&effects[i]) && effects[i].proxy != PROXY_GENERIC)
                return true;
    }
    return false;
}

/* Addresses of global memory matter where the kernel makes descriptors itself, so that two names can mean the same
 * memory; and where it tells others of what copies write. */
static bool needs_addresses(Module *module, const Op *root) {
    bool copies_out = false, flags = false;
    Effect effects[EFFECTS_MOST];
    for (const Op *op = root; op; op = op_next_in_walk(op, root)) {
        unsigned count = op->row ? effects_of(module, op, effects) : 0;
        if (op_describes(op) == DESCRIBE_TENSOR || op_describes(op) == DESCRIBE_MAP)
            return true;
        for (unsigned i = 0; i < count; i++) {
            const Effect *effect = &effects[i];
            copies_out |= effect->space == SPACE_GLOBAL && effect->proxy == PROXY_ASYNC &&
                          effect->verb != EFFECT_READ && effect_is_access(effect);
            flags |= effect->space == SPACE_GLOBAL && effect->proxy == PROXY_GENERIC && effect->verb == EFFECT_UPDATE;
        }
    }
    return copies_out && flags;
}

/* ---- Runs ----------------------------------------------------------------------------------------- */

static RunEnd run(FenceRuns *runs, uint64_t cluster, unsigned havoc_choice, bool same_launch, bool given) {
    Machine *machine = runs->machine;
    jmp_buf *exhausted = runs->scratch.exhausted;
    if (runs->scratch.held) {
        arena_free(&runs->scratch);
        arena_init(&runs->scratch, scratch_budget);
    }
    runs->scratch.exhausted = exhausted;
    machine->atomic_capacity = 0;
    machine->havoc_choice = havoc_choice;
    const FenceLaunch *from = &runs->given;
    machine_give_loads(machine, given && from->loads ? from->loads(from->loads_context, cluster) : NULL);
    proxies_start(runs->proxies, cluster, same_launch);
    machine->observe = proxies_observe;
    machine->observer = runs->proxies;
    RunEnd end = schedule_run(machine, cluster, &(Schedule){.kind = SCHEDULE_EAGER});
    machine->observe = NULL;
    runs->steps += machine->used;
    return end;
}

/* What an end that is none means; NULL: it is one. Runs on made-up data need not end. */
static const char *cut_short(const Machine *machine, RunEnd end) {
    switch (end) {
    case RUN_COMPLETE:
    case RUN_EXCLUDED:
        return NULL;
    case RUN_UNKNOWN:
        return machine->unknown;
    case RUN_BUDGET:
        return "they take more steps than this check runs";
    default:
        return "they hang or stop early (weir check says why)";
    }
}

static bool is_done(const FenceRuns *runs) {
    return runs->until && runs->until(runs->until_context);
}

/* One cluster, with whatever may be made up. */
static void run_cluster(FenceRuns *runs, uint64_t cluster, bool first, bool given) {
    Machine *machine = runs->machine;
    unsigned havoc_choices = 1;
    for (unsigned havoc_choice = 0; havoc_choice < havoc_choices && !is_done(runs); havoc_choice++) {
        RunEnd end = run(runs, cluster, havoc_choice, !first || havoc_choice, given);
        const char *why = cut_short(machine, end);
        runs->complete &= !why || havoc_choice;
        if (why && !havoc_choice && (!runs->cut_short || runs->hangs)) {
            runs->cut_short = why;
            runs->hangs = end != RUN_UNKNOWN && end != RUN_BUDGET;
        }
        if (machine->choices || machine->loads_chosen || machine->counted)
            havoc_choices = MOST_HAVOC_CHOICES;
    }
}

/* A cluster of each class, or all of them if they are few. They are found in the first round, which is made whole. */
static void run_classes(FenceRuns *runs, const Launch *launch, bool given, Representatives *of) {
    Machine *machine = runs->machine;
    Arena *arena = &runs->module->arena;
    uint64_t clusters = machine_clusters(machine), end = runs->steps + launch_steps, covered = 0, cluster;
    CtaClasses *classes =
        clusters > FEW_CLUSTERS ? classes_create(arena, machine, given && runs->given.loads != NULL) : NULL;
    while (covered < clusters && runs->steps < end && !deadline_look()) {
        cluster = covered;
        if (classes && !classes_next(classes, &cluster))
            break;
        run_cluster(runs, cluster, !of->count, given);
        covered = classes ? classes_covered(classes) : covered + 1;
        *ARENA_PUSH(arena, of->clusters, of->count, of->capacity) = cluster;
    }
    if (covered < clusters && !runs->left_out) {
        runs->left_out = clusters - covered;
        runs->left_out_of = launch;
    }
}

/* Where addresses are known the first few are run again, each beside what the others wrote. */
static void run_launch(FenceRuns *runs, size_t index) {
    Machine *machine = runs->machine;
    const Launch *launch = &runs->launches[index];
    Representatives *of = &runs->representatives[index];
    bool given = runs->given.launch && index + 1 == runs->launch_count;
    machine_launch(machine, launch);
    if (!of->count)
        run_classes(runs, launch, given, of);
    else
        for (uint32_t i = 0; i < of->count; i++)
            run_cluster(runs, of->clusters[i], !i, given);
    for (uint32_t i = 0; machine->program->global && of->count > 1 && i < of->count && i < FEW_CLUSTERS; i++)
        run_cluster(runs, of->clusters[i], false, given);
}

void fence_runs_until(FenceRuns *runs, bool (*enough)(void *context), void *context) {
    runs->complete = true;
    runs->until = enough;
    runs->until_context = context;
    for (size_t i = 0; i < runs->launch_count && !is_done(runs); i++)
        run_launch(runs, i);
}

void fence_runs_again(FenceRuns *runs) {
    fence_runs_until(runs, NULL, NULL);
}

bool fence_runs_complete(const FenceRuns *runs) {
    return runs->complete;
}

uint64_t fence_runs_left_out(const FenceRuns *runs, const Launch **launch) {
    *launch = runs->left_out_of;
    return runs->left_out;
}

const char *fence_runs_unfinished(const FenceRuns *runs) {
    return runs->hangs ? NULL : runs->cut_short;
}

const char *fence_runs_cut_short(const FenceRuns *runs) {
    return runs->cut_short;
}

uint64_t fence_runs_steps(const FenceRuns *runs) {
    return runs->steps;
}

const Machine *fence_runs_machine(const FenceRuns *runs) {
    return runs->machine;
}

/* ---- All of it ------------------------------------------------------------------------------------ */

static void report_problem(FenceRuns *runs) {
    Verdict *verdict = runs->verdict;
    const Op *op;
    const char *unknown = proxies_problem(runs->proxies, &op);
    if (unknown && op)
        verdict_incomplete(verdict, verdict_text(verdict, "%.*s", STR_ARG(op->name)), op_line(runs->module, op), "%s",
                           unknown);
    else if (unknown)
        verdict_incomplete(verdict, "", 0, "fences are not checked further: %s", unknown);
}

static void prepare_and_work(FenceRuns *runs, bool addresses) {
    Module *module = runs->module;
    const char *problem = NULL;
    Verdict *verdict = runs->verdict;
    const char *kernel = verdict->kernel;
    Program *program = program_compile(module, runs->function, addresses ? COMPILE_GLOBAL : 0, verdict);
    verdict->kernel = kernel;
    runs->machine = program ? machine_create(&module->arena, program, &problem) : NULL;
    runs->proxies = runs->machine ? proxies_create(&module->arena, runs->machine, &problem) : NULL;
    if (!runs->proxies) {
        verdict_incomplete(verdict, "", 0, "fences are not checked: %s",
                           problem ? problem : "the kernel cannot be run");
        return;
    }
    runs->machine->arena = &runs->scratch;
    runs->machine->budget = addresses ? global_steps : usual_steps;
    /* Chosen launches wrap every ring more than once, which a given one need not. */
    runs->launches = ARENA_ARRAY(&module->arena, Launch, MOST_CHOSEN + 1);
    const Launch *given = runs->given.launch;
    runs->launch_count = choose_launches(program, &module->arena, given, NULL, runs->given.chosen, runs->launches);
    if (given)
        runs->launches[runs->launch_count++] = *given;
    runs->representatives = ARENA_ARRAY(&module->arena, Representatives, runs->launch_count + 1);
    runs->work(runs, runs->proxies, runs->context);
    report_problem(runs);
}

/* False: it takes more memory than it may. */
static bool try_with(FenceRuns *const runs, bool addresses) {
    Arena *arena = &runs->module->arena;
    jmp_buf out_of_memory, *outer = arena->exhausted;
    arena_init(&runs->scratch, scratch_budget);
    runs->scratch.exhausted = arena->exhausted = &out_of_memory;
    runs->enough = false;
    if (setjmp(out_of_memory) == 0) {
        prepare_and_work(runs, addresses);
        runs->enough = true;
    }
    arena->exhausted = outer;
    arena_free(&runs->scratch);
    return runs->enough;
}

void fence_runs(Module *module, const Op *function, FenceLaunch given, Verdict *verdict, FenceWork *work,
                void *context) {
    FenceRuns *runs = ARENA_NEW(&module->arena, FenceRuns);
    *runs = (FenceRuns){
        .module = module, .function = function, .given = given, .verdict = verdict, .work = work, .context = context};
    bool addresses = needs_addresses(module, proxies_scope(function));
    if (try_with(runs, addresses) || deadline_look())
        return;
    if (addresses && try_with(runs, false))
        verdict_incomplete(verdict, "", 0,
                           "fences for global memory are not checked: that needs more memory than the limit");
    else
        verdict_incomplete(verdict, "", 0, "looking at fences needs more memory than the limit");
}
