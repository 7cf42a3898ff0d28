/* Runs on where a kernel hangs.
 *
 * Letting all agents through at once would mix up the phases: agents would run past each other. So one wait at a time
 * is let on, by completing the phase that it waits for, and only where nothing else moves; an agent that waits for what
 * comes after that goes on by itself. No finding comes of such a run. */
#include "check/report/build/beyond.h"

#include "check/report/build/coverage.h"
#include "ir/op.h"

enum { MOST_LET_ON = 4096, BEYOND_BUDGET = 400 * 1000 };

typedef struct Looker {
    Arena *arena;
    const Rerun *rerun;
    Watch *watch;
    Coverage *coverage; /* only tells the watch what accesses depend on */
} Looker;

static void observe(void *context, const Event *event) {
    const Looker *looker = context;
    watch_observe(looker->watch, event);
    coverage_observe(looker->coverage, event);
}

static void attach(void *context, Machine *machine) {
    Looker *looker = context;
    looker->watch = watch_create(looker->arena, machine);
    looker->coverage = coverage_create(looker->arena, machine, looker->watch);
    watch_start(looker->watch, looker->rerun);
    coverage_start(looker->coverage, looker->rerun);
    machine->observe = observe;
    machine->observer = looker;
}

static bool is_stuck(const Agent *agent) {
    return agent->status == AGENT_WAITS || agent->status == AGENT_NAMED || agent->status == AGENT_CLUSTER;
}

/* The agent that stands at a line of the IR and cannot go on; or (0) any; UINT32_MAX: there is none. */
static uint32_t stuck_at(const Machine *machine, uint32_t line) {
    const Program *program = machine->program;
    for (uint32_t i = 0; i < machine->agent_count; i++) {
        const Agent *agent = &machine->state->agents[i];
        if (is_stuck(agent) && (!line || op_line(program->module, program->ops[agent->pc]) == line))
            return i;
    }
    return UINT32_MAX;
}

/* Whose wait to let pass: those that findings name are in the order of who waits for whom. */
static uint32_t pick(const Machine *machine, const Verdict *verdict) {
    for (size_t i = 0; i < verdict->finding_count; i++)
        for (size_t k = 0; k < verdict->findings[i].blocked_count; k++) {
            uint32_t line = verdict->findings[i].blocked[k].place.ir_line;
            uint32_t agent = line ? stuck_at(machine, line) : UINT32_MAX;
            if (agent != UINT32_MAX)
                return agent;
        }
    return stuck_at(machine, 0);
}

Beyond beyond_run(Module *module, const Op *function, const Sights *hung, const Verdict *verdict) {
    Verdict ignored = {.arena = verdict->arena};
    Rerun rerun = hung->rerun;
    Looker looker = {.arena = &module->arena, .rerun = &rerun};
    Machine *machine;
    rerun.launch = &hung->launch;
    RunEnd end = check_rerun(module, function, &rerun, attach, &looker, &ignored, &machine);
    if (!machine || end != RUN_STUCK)
        return (Beyond){0};
    machine->observe = observe;
    machine->observer = &looker;
    machine->budget = machine->used + BEYOND_BUDGET;
    for (unsigned round = 0; end == RUN_STUCK && round < MOST_LET_ON; round++) {
        uint32_t agent = pick(machine, verdict);
        if (agent == UINT32_MAX)
            break;
        machine_let_on(machine, agent);
        end = schedule_continue(machine);
    }
    machine->observe = NULL;
    watch_end(looker.watch, end);
    return (Beyond){machine, watch_kept(looker.watch)};
}
