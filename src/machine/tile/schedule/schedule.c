/* The schedules: loops that pick the next step among those the machine allows. */
#include "machine/tile/schedule/schedule.h"

#include "ir/op.h"

static void record(const Schedule *schedule, uint32_t step) {
    if (schedule->record)
        trail_push(schedule->record, step);
}

static StepResult step(Machine *machine, const Schedule *schedule, uint32_t agent) {
    record(schedule, agent);
    return machine_step(machine, agent);
}

/* The agent whose turn comes in that place. */
static uint32_t agent_in_turn(const Machine *machine, const Schedule *schedule, uint32_t turn) {
    return schedule->mirrored ? machine->agent_count - 1 - turn : turn;
}

static StepResult complete(Machine *machine, const Schedule *schedule, uint32_t outstanding) {
    record(schedule, TRAIL_OUTSTANDING | machine->state->outstanding_ops[outstanding].sequence);
    return machine_complete(machine, outstanding);
}

RunEnd schedule_end_of(StepResult result) {
    switch (result) {
    case STEP_FAULT:
        return RUN_FAULT;
    case STEP_UNKNOWN:
        return RUN_UNKNOWN;
    case STEP_EXCLUDED:
        return RUN_EXCLUDED;
    default:
        return RUN_BUDGET;
    }
}

RunEnd schedule_end(const Machine *machine) {
    for (uint32_t i = 0; i < machine->agent_count; i++) {
        uint8_t status = machine->state->agents[i].status;
        if (status != AGENT_ENDED && status != AGENT_IDLE)
            return RUN_STUCK;
    }
    return RUN_COMPLETE;
}

/* Whether the agent is to stand still now, by the first `held` holds. */
static bool agent_is_held(const Machine *machine, const Schedule *schedule, uint32_t held, uint32_t agent) {
    for (uint32_t i = 0; i < held; i++) {
        const Delay *delay = &schedule->delays[i];
        if (!delay->outstanding && delay->agent == agent && delay->tick == machine->state->agents[agent].ticks)
            return true;
    }
    return false;
}

static bool outstanding_is_held(const Outstanding *outstanding, const Schedule *schedule, uint32_t held) {
    for (uint32_t i = 0; i < held; i++) {
        const Delay *delay = &schedule->delays[i];
        if (delay->outstanding && delay->agent == outstanding->agent && delay->pc == outstanding->pc &&
            delay->tick == outstanding->tick)
            return true;
    }
    return false;
}

/* Everything in flight that can complete does, but for what is held. */
static StepResult land(Machine *machine, const Schedule *schedule, uint32_t held) {
    State *state = machine->state;
    for (uint32_t i = 0; i < state->outstanding_count;) {
        if (!machine_can_complete(machine, i) || outstanding_is_held(&state->outstanding_ops[i], schedule, held)) {
            i++;
            continue;
        }
        StepResult result = complete(machine, schedule, i);
        if (result != STEP_DONE)
            return result;
        i = 0;
    }
    return STEP_DONE;
}

StepResult schedule_land(Machine *machine) {
    return land(machine, &(Schedule){.kind = SCHEDULE_EAGER}, 0);
}

static RunEnd run_eagerly(Machine *machine, const Schedule *schedule) {
    uint32_t held = schedule->delay_count;
    StepResult result = land(machine, schedule, held);
    if (result != STEP_DONE)
        return schedule_end_of(result);
    for (;;) {
        bool moved = false;
        for (uint32_t turn = 0; turn < machine->agent_count; turn++) {
            uint32_t i = agent_in_turn(machine, schedule, turn);
            while (machine_can_step(machine, i) && !agent_is_held(machine, schedule, held, i)) {
                if ((result = step(machine, schedule, i)) != STEP_DONE ||
                    (machine->state->outstanding_count && (result = land(machine, schedule, held)) != STEP_DONE))
                    return schedule_end_of(result);
                moved = true;
            }
        }
        if (moved)
            continue;
        if (!held)
            return schedule_end(machine);
        held--; /* nothing else can move: it may go on */
        if ((result = land(machine, schedule, held)) != STEP_DONE)
            return schedule_end_of(result);
    }
}

static RunEnd run_lazily(Machine *machine, const Schedule *schedule) {
    for (;;) {
        bool moved = false;
        for (uint32_t turn = 0; turn < machine->agent_count; turn++)
            while (machine_can_step(machine, agent_in_turn(machine, schedule, turn))) {
                StepResult result = step(machine, schedule, agent_in_turn(machine, schedule, turn));
                if (result != STEP_DONE)
                    return schedule_end_of(result);
                moved = true;
            }
        if (moved)
            continue;
        /* One after the other, until a phase is complete: before that nothing can go on. */
        for (uint64_t flips = machine->flips; flips == machine->flips;) {
            uint32_t outstanding = 0;
            while (outstanding < machine->state->outstanding_count && !machine_can_complete(machine, outstanding))
                outstanding++;
            if (outstanding == machine->state->outstanding_count)
                return schedule_end(machine);
            StepResult result = complete(machine, schedule, outstanding);
            if (result != STEP_DONE)
                return schedule_end_of(result);
        }
    }
}

static RunEnd run_in_turn(Machine *machine, const Schedule *schedule) {
    for (;;) {
        bool moved = false;
        for (uint32_t i = 0; i <= machine->agent_count; i++) {
            StepResult result = STEP_DONE;
            if (i < machine->agent_count) {
                uint32_t agent = agent_in_turn(machine, schedule, i);
                if (!machine_can_step(machine, agent))
                    continue;
                result = step(machine, schedule, agent);
            } else {
                uint32_t outstanding = 0;
                while (outstanding < machine->state->outstanding_count && !machine_can_complete(machine, outstanding))
                    outstanding++;
                if (outstanding == machine->state->outstanding_count)
                    continue;
                result = complete(machine, schedule, outstanding);
            }
            if (result != STEP_DONE)
                return schedule_end_of(result);
            moved = true;
        }
        if (!moved)
            return schedule_end(machine);
    }
}

static uint64_t next_random(uint64_t *state) { /* xorshift64* */
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * 0x2545f4914f6cdd1du;
}

static RunEnd run_randomly(Machine *machine, const Schedule *schedule) {
    uint64_t random = schedule->seed * 0x9e3779b97f4a7c15u + 0x1234567;
    if (!random)
        random = 1;
    for (;;) {
        uint32_t choices = 0, pick = 0;
        bool outstanding = false;
        for (uint32_t i = 0; i < machine->agent_count; i++)
            if (machine_can_step(machine, i) && next_random(&random) % ++choices == 0)
                pick = i;
        for (uint32_t i = 0; i < machine->state->outstanding_count; i++)
            if (machine_can_complete(machine, i) && next_random(&random) % ++choices == 0) {
                pick = i;
                outstanding = true;
            }
        if (!choices)
            return schedule_end(machine);
        StepResult result = outstanding ? complete(machine, schedule, pick) : step(machine, schedule, pick);
        if (result != STEP_DONE)
            return schedule_end_of(result);
    }
}

static RunEnd run_again(Machine *machine, const Schedule *schedule) {
    for (size_t i = 0; i < schedule->replay->count; i++) {
        uint32_t what = schedule->replay->steps[i];
        StepResult result;
        if (what & TRAIL_OUTSTANDING) {
            uint32_t outstanding = 0;
            while (outstanding < machine->state->outstanding_count &&
                   machine->state->outstanding_ops[outstanding].sequence != (what & ~TRAIL_OUTSTANDING))
                outstanding++;
            if (outstanding == machine->state->outstanding_count || !machine_can_complete(machine, outstanding))
                return RUN_DIVERGED;
            result = complete(machine, schedule, outstanding);
        } else {
            if (what >= machine->agent_count || !machine_can_step(machine, what))
                return RUN_DIVERGED;
            result = step(machine, schedule, what);
        }
        if (result != STEP_DONE)
            return i + 1 == schedule->replay->count ? schedule_end_of(result) : RUN_DIVERGED;
    }
    for (uint32_t i = 0; i < machine->agent_count; i++)
        if (machine_can_step(machine, i))
            return RUN_DIVERGED;
    return machine->state->outstanding_count ? RUN_DIVERGED : schedule_end(machine);
}

bool schedule_is_immediate(const Schedule *schedule) {
    for (uint32_t i = 0; i < schedule->delay_count; i++)
        if (schedule->delays[i].outstanding)
            return false;
    return schedule->kind == SCHEDULE_EAGER || schedule->kind == SCHEDULE_DELAYED ||
           ((schedule->kind == SCHEDULE_REPLAY || schedule->kind == SCHEDULE_ROUND_ROBIN) && schedule->immediate);
}

RunEnd schedule_run(Machine *machine, uint64_t cluster, const Schedule *schedule) {
    machine->immediate = schedule_is_immediate(schedule);
    StepResult result = machine_start(machine, cluster);
    if (result != STEP_DONE)
        return schedule_end_of(result);
    switch (schedule->kind) {
    case SCHEDULE_LAZY:
        return run_lazily(machine, schedule);
    case SCHEDULE_ROUND_ROBIN:
        return run_in_turn(machine, schedule);
    case SCHEDULE_RANDOM:
        return run_randomly(machine, schedule);
    case SCHEDULE_REPLAY:
        return run_again(machine, schedule);
    default:
        return run_eagerly(machine, schedule);
    }
}

RunEnd schedule_continue(Machine *machine) {
    return run_eagerly(machine, &(Schedule){.kind = SCHEDULE_EAGER});
}

/* Whether one before it says the same: that this agent is slow. */
static bool is_said(const Schedule *schedule, uint32_t index) {
    for (uint32_t i = 0; i < index; i++)
        if (!schedule->delays[i].outstanding && !schedule->delays[index].outstanding &&
            schedule->delays[i].agent == schedule->delays[index].agent)
            return true;
    return false;
}

void schedule_describe_delays(const Machine *machine, const Schedule *schedule, Text *to) {
    const char *between = "";
    for (uint32_t i = 0; i < schedule->delay_count; i++) {
        const Delay *delay = &schedule->delays[i];
        const Op *op = machine->program->ops[delay->pc];
        if (is_said(schedule, i))
            continue;
        text_addf(to, "%s", between);
        between = ", and ";
        if (delay->outstanding) {
            text_addf(to, "what %.*s at IR line %u starts completes late", STR_ARG(op->name),
                      op_line(machine->program->module, op));
        } else {
            agent_name(machine, delay->agent, HELPER_BASE, to);
            text_addf(to, " is slow");
        }
    }
}

void schedule_describe(const Machine *machine, const Schedule *schedule, Text *to) {
    static const char *const names[] = {"eager", "lazy", "round robin", "random", "held", "replay"};
    if (schedule->kind == SCHEDULE_RANDOM) {
        text_addf(to, "random, seed %llu", (unsigned long long)schedule->seed);
    } else if (schedule->kind == SCHEDULE_DELAYED) {
        text_addf(to, "one in which ");
        schedule_describe_delays(machine, schedule, to);
    } else {
        text_addf(to, "%s", names[schedule->kind]);
    }
}
