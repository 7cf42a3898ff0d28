/* One run of one cluster, seen by an observer, if there is one, and by the race engine. */
#include "check/tile/run/rerun.h"

#include "check/explain/place.h"
#include "check/explain/tile/blocked.h"
#include "check/tile/run/races.h"
#include "ir/op.h"

/* Hands events on to the observer, and to the race engine, whose tables it prints before the first event of a later
 * step than was asked for. */
typedef struct StateWatch {
    Observe *observe; /* NULL: none */
    void *observer;
    Races *races; /* NULL: it does not watch such a run */
    const Machine *machine;
    Text *to; /* NULL: printed already, or not asked for */
    uint64_t wanted, last;
    StepCount count;
} StateWatch;

static void print_state(StateWatch *watch) {
    if (!watch->to || !watch->races)
        return;
    text_addf(watch->to, "after step %llu: ", (unsigned long long)watch->last);
    races_print(watch->races, watch->machine, watch->to);
    watch->to = NULL;
}

static void watch_state(void *observer, const Event *event) {
    StateWatch *watch = observer;
    if (watch->observe)
        watch->observe(watch->observer, event);
    if (!watch->races)
        return;
    uint64_t step = step_of(&watch->count, watch->machine, event);
    if (step > watch->wanted)
        print_state(watch);
    watch->last = step;
    races_observe(watch->races, event);
}

/* The op of the program that loads at a line of the IR; NULL if there is none. */
static const Op *load_on_line(const Program *program, uint32_t line) {
    for (uint32_t i = 0; i < program->code_count; i++)
        if (program->code[i].code == CODE_LOAD && op_line(program->module, program->ops[i]) == line)
            return program->ops[i];
    return NULL;
}

static void give_loads(Machine *machine, Arena *arena, const Rerun *rerun) {
    LoadLog *log = loads_start(arena, machine->agent_count);
    for (size_t i = 0; i < rerun->load_count; i++) {
        const Op *op = load_on_line(machine->program, rerun->loads[i].ir_line);
        if (op)
            loads_add(log, rerun->loads[i].agent, op, rerun->loads[i].value);
    }
    machine_give_loads(machine, log);
}

RunEnd check_rerun(Module *module, const Op *function, const Rerun *rerun,
                   void (*attach)(void *context, Machine *machine), void *context, Verdict *verdict, Machine **made) {
    const char *problem = NULL, *launch = launch_text(rerun->launch, verdict->arena);
    verdict->kernel = program_name(module, function);
    const Program *program = program_compile(module, function, rerun->global ? COMPILE_GLOBAL : 0, verdict);
    Machine *machine = *made = program ? machine_create(&module->arena, program, &problem) : NULL;
    if (!machine) {
        verdict_incomplete(verdict, "", 0, "%s", problem ? problem : "there is nothing to run");
        return RUN_UNKNOWN;
    }
    machine->budget = rerun->budget ? rerun->budget : RERUN_BUDGET;
    machine->out_of_order = rerun->out_of_order;
    machine_launch(machine, rerun->launch);
    if (rerun->load_count)
        give_loads(machine, &module->arena, rerun);
    if (attach)
        attach(context, machine);
    machine->havoc_choice = rerun->havoc_choice;
    StateWatch watch = {.observe = machine->observe,
                        .observer = machine->observer,
                        .machine = machine,
                        .to = rerun->state,
                        .wanted = rerun->state_step};
    watch.races = races_create(&module->arena, machine, rerun->out_of_order, &problem);
    if (watch.races)
        races_start(watch.races, rerun->cluster, rerun->havoc_choice, false);
    machine->observe = watch_state;
    machine->observer = &watch;
    RunEnd end = schedule_run(machine, rerun->cluster, &rerun->schedule);
    machine->observe = NULL;
    print_state(&watch);
    uint32_t count = 0;
    if (watch.races)
        (void)races_found(watch.races, &count);
    for (uint32_t i = 0; i < count; i++) {
        Finding *finding = races_report(watch.races, machine, i, verdict);
        if (finding)
            finding->launch = launch;
    }
    *verdict_launch(verdict) = (LaunchRun){.text = launch, .ctas = 1, .schedules = 1, .events = machine->events};
    return end;
}

/* ---- How it ended ------------------------------------------------------------------------------- */

Finding *end_explain(Machine *machine, const History *history, RunEnd end, Verdict *verdict) {
    const Op *unknown = history_doubt(history, end == RUN_FAULT); /* while the state is as it was */
    Finding *finding = end == RUN_STUCK      ? blocked_explain(machine, history, verdict)
                       : end == RUN_FAULT    ? fault_explain(machine, history, verdict)
                       : end == RUN_COMPLETE ? leftover_explain(machine, history, verdict)
                                             : NULL;
    if (!finding || !unknown)
        return finding;
    op_may_prevent(machine->program->module, unknown, finding, verdict);
    verdict->finding_count--; /* which it is the last of */
    return NULL;
}

void unknown_explain(const Machine *machine, Verdict *verdict) {
    op_incomplete(machine->program->module, machine->unknown_op, machine->unknown, verdict);
}

/* ---- A trail -------------------------------------------------------------------------------------- */

typedef struct RerunWatch {
    Arena *arena;
    History *history;
} RerunWatch;

static void attach_history(void *context, Machine *machine) {
    RerunWatch *watch = context;
    watch->history = history_create(watch->arena, machine);
    machine->observe = history_observe;
    machine->observer = watch->history;
}

const char *check_replay(Module *module, const Op *function, const Rerun *rerun, const char *name, Verdict *verdict) {
    Trail made = {.arena = verdict->arena};
    RerunWatch watch = {.arena = verdict->arena};
    Rerun recorded = *rerun;
    Machine *machine;
    recorded.schedule.record = &made;
    RunEnd end = check_rerun(module, function, &recorded, attach_history, &watch, verdict, &machine);
    if (end == RUN_DIVERGED && made.count < rerun->schedule.replay->count)
        return verdict_text(verdict, "the trail does not fit this kernel: its step %u is not possible", made.count + 1);
    if (end == RUN_DIVERGED)
        return "the trail does not fit this kernel: after its last step some agent can still make progress";
    if (!machine)
        return NULL;
    Finding *finding = end_explain(machine, watch.history, end, verdict);
    if (end == RUN_UNKNOWN)
        unknown_explain(machine, verdict);
    else if (end == RUN_BUDGET)
        verdict_incomplete(verdict, "", 0, "the run was stopped: its budget is exhausted (raise --budget)");
    else if (end != RUN_COMPLETE && end != RUN_STUCK && end != RUN_FAULT)
        verdict_incomplete(verdict, "", 0, "the launch breaks an assumption of the kernel");
    if (finding)
        finding->launch = verdict->launch_count ? verdict->launches[0].text : "";
    for (size_t i = 0; i < verdict->finding_count; i++)
        verdict->findings[i].schedule = verdict_text(verdict, "that of %s", name);
    return NULL;
}
