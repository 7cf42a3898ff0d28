/* Each kind of event in words, in columns that are as wide as the program needs. */
#include "check/explain/tile/steps.h"

#include "machine/tile/memory/access.h"

#include <stdlib.h>

enum { WIDEST_OP = 64, MOST_RUNS = 4 };

/* For the runs of one access to global memory. */
static const size_t access_budget = (size_t)1 << 28;

/* ---- Columns -------------------------------------------------------------------------------------- */

static int widest(int width, Text *text) {
    int size = (int)text->size;
    text->size = 0;
    return size > width ? size : width;
}

static void pad(Text *to, size_t start, int width) {
    for (size_t size = to->size - start; size < (size_t)width; size++)
        text_char(to, ' ');
}

void steps_start(Steps *steps, const Machine *machine, Text *to) {
    const Program *program = machine->program;
    *steps = (Steps){.machine = machine, .to = to, .agent_width = 5, .op_width = 2};
    bool helpers[HELPER_KINDS] = {[HELPER_BASE] = true};
    for (uint32_t i = 0; i < program->effect_count; i++)
        helpers[program->effects[i].effect.helper] = true;
    Text text = {0};
    for (uint32_t i = 0; i < machine->agent_count; i++)
        for (int helper = 0; helper < HELPER_KINDS; helper++)
            if (helpers[helper]) {
                agent_name(machine, i, (Helper)helper, &text);
                steps->agent_width = widest(steps->agent_width, &text);
            }
    for (uint32_t i = 0; i < program->code_count; i++)
        if (program->code[i].code == CODE_EFFECTS || program->code[i].code == CODE_FORK ||
            program->code[i].code == CODE_END) {
            op_place(machine, program->ops[i], &text);
            steps->op_width = widest(steps->op_width, &text);
        }
    steps->op_width = steps->op_width > WIDEST_OP ? WIDEST_OP : steps->op_width;
    text_free(&text);
    text_addf(to, "%6s  %-*s  %-*s  %s\n", "step", steps->agent_width, "agent", steps->op_width, "op", "what it does");
}

/* The first three columns. */
static void start_line(Steps *steps, uint64_t step, uint32_t agent, Helper helper, const Op *op) {
    Text line = {0};
    text_addf(&line, "%6llu  ", (unsigned long long)step);
    size_t start = line.size;
    agent_name(steps->machine, agent, helper, &line);
    pad(&line, start, steps->agent_width);
    text_addf(&line, "  ");
    start = line.size;
    op_place(steps->machine, op, &line);
    pad(&line, start, steps->op_width);
    text_addf(&line, "  ");
    text_add(steps->to, line.data ? line.data : "", line.size);
    text_free(&line);
}

/* ---- Words ---------------------------------------------------------------------------------------- */

/* ": 0 of 1 pending, 16384 bytes to come" */
static void report_state(Text *to, const Barrier *barrier) {
    text_addf(to, ": %u of %u pending", barrier->pending, barrier->count);
    if (barrier->bytes)
        text_addf(to, barrier->bytes > 0 ? ", %lld bytes outstanding" : ", %lld bytes too many",
                  (long long)llabs(barrier->bytes));
}

static void report_issue(const Machine *machine, const Event *event, Text *to) {
    const Outstanding *outstanding = event->outstanding;
    switch ((OutstandingKind)outstanding->kind) {
    case OUTSTANDING_BYTES:
        text_addf(to, "issues a copy of %lld byte%s to ", (long long)outstanding->amount, plural(outstanding->amount));
        barrier_name(machine, outstanding->barrier, to);
        break;
    case OUTSTANDING_ARRIVAL:
        text_addf(to, "issues %lld arrival%s on ", (long long)outstanding->amount, plural(outstanding->amount));
        barrier_name(machine, outstanding->barrier, to);
        text_addf(to, ", on completion of its work");
        break;
    case OUTSTANDING_WORK:
        text_addf(to, "issues work");
        break;
    }
    text_addf(to, " (flight %u)", outstanding->sequence);
}

static void report_arrival(const Machine *machine, const Event *event, Text *to) {
    const Barrier *barrier = &event->state->barriers[event->barrier];
    if (event->kind == EVENT_DELIVER)
        text_addf(to, "delivers %lld byte%s to ", (long long)event->amount, plural(event->amount));
    else if (event->kind != EVENT_EXPECT && event->amount != 1)
        text_addf(to, "arrives %lld times on ", (long long)event->amount);
    else
        text_addf(to, "arrives on ");
    barrier_name(machine, event->barrier, to);
    if (event->kind == EVENT_EXPECT)
        text_addf(to, ", expects %lld byte%s", (long long)event->amount, plural(event->amount));
    report_state(to, barrier);
}

static void report_wait(const Machine *machine, const Event *event, Text *to) {
    text_addf(to, "waits for ");
    barrier_name(machine, event->barrier, to);
    text_addf(to, ", parity %u: %s", event->parity, event->kind == EVENT_BLOCK ? "blocked" : "goes on");
}

/* "%a + 0..127, 512..639", or why that is not known. */
static void report_global(const Machine *machine, const Event *event, Text *to) {
    jmp_buf exhausted;
    Arena *const arena = ARENA_NEW(machine->arena, Arena);
    arena_init(arena, access_budget);
    arena->exhausted = &exhausted;
    if (setjmp(exhausted) == 0) {
        Bytes bytes;
        const char *reason;
        if (!access_ranges(machine, event, arena, &bytes, &reason))
            text_addf(to, "global memory: %s", reason);
        else if (!bytes.count && event->effect->effect.proxy == PROXY_TENSORMAP)
            text_addf(to, "its descriptor");
        else
            access_print(machine, &bytes, MOST_RUNS, to);
    } else {
        text_addf(to, "global memory: it has more pieces than there is memory for");
    }
    arena_free(arena);
}

static void report_access(const Machine *machine, const Event *event, Text *to) {
    text_addf(to, "%s ", effect_access_verb(event->effect->effect.verb));
    if (event->effect->effect.space == SPACE_GLOBAL)
        report_global(machine, event, to);
    else
        access_name(machine, event->effect, event->view, to);
}

static void report_group(const Event *event, Text *to) {
    static const char *const groups[] = {"", "cp.async", "bulk", "wgmma", "TMA store", "AMD async", "AMD tensor"};
    const char *group = groups[event->effect->effect.group]; /* ORDER GroupKind */
    if (event->kind == EVENT_COMMIT)
        text_addf(to, "commits a %s group", group);
    else
        text_addf(to,
                  event->amount == 1 ? "waits until at most %lld %s group is pending"
                                     : "waits until at most %lld %s groups are pending",
                  (long long)event->amount, group);
}

/* What has come so far, this event included. */
static void report_named(const Machine *machine, const Event *event, Text *to) {
    const Agent *agent = &event->state->agents[event->agent];
    text_addf(to, "arrives at named barrier %u: %u more threads of %lld", event->barrier % NAMED_BARRIERS,
              machine->program->strands[agent->strand].warps * machine->program->warp_threads,
              (long long)event->amount);
}

/* What some kinds of events are, whatever they are about. */
static const char *const in_words[] = {
    [EVENT_FINISH] = "finishes work",
    [EVENT_CLUSTER_ARRIVE] = "arrives at the cluster barrier",
    [EVENT_CLUSTER_COMPLETE] = "the cluster barrier completes",
    [EVENT_CLUSTER_WAIT] = "continues after the cluster barrier",
    [EVENT_CTA_BARRIER] = "its threads synchronize",
    [EVENT_UNFINISHED] = "uses the result of an MMA that was not waited for",
    [EVENT_UNKNOWN] = "has an unknown effect",
    [EVENT_AWAIT_LAUNCHES] = "continues: the preceding launches have finished",
    [EVENT_JOIN] = "continues: the partitions have finished",
    [EVENT_END] = "ends",
};

static void report(const Machine *machine, const Event *event, Text *to) {
    switch (event->kind) {
    case EVENT_ACCESS:
        report_access(machine, event, to);
        break;
    case EVENT_INIT:
        text_addf(to, "initializes ");
        barrier_name(machine, event->barrier, to);
        text_addf(to, ", count %lld", (long long)event->amount);
        break;
    case EVENT_INVALIDATE:
        text_addf(to, "invalidates ");
        barrier_name(machine, event->barrier, to);
        break;
    case EVENT_EXPECT:
    case EVENT_ARRIVE:
    case EVENT_DELIVER:
    case EVENT_SIGNAL:
        report_arrival(machine, event, to);
        break;
    case EVENT_ISSUE:
        report_issue(machine, event, to);
        break;
    case EVENT_FLIP: {
        const Barrier *barrier = &event->state->barriers[event->barrier];
        text_addf(to, "phase %u of ", barrier->generation - barrier->born - 1);
        barrier_name(machine, event->barrier, to);
        text_addf(to, " completes");
        break;
    }
    case EVENT_BLOCK:
    case EVENT_WAIT:
        report_wait(machine, event, to);
        break;
    case EVENT_COMMIT:
    case EVENT_AWAIT:
        report_group(event, to);
        break;
    case EVENT_NAMED_ARRIVE:
        report_named(machine, event, to);
        break;
    case EVENT_NAMED_COMPLETE:
        text_addf(to, "named barrier %u completes", event->barrier % NAMED_BARRIERS);
        break;
    case EVENT_NAMED_SYNC:
        text_addf(to, "continues after named barrier %u", event->barrier % NAMED_BARRIERS);
        break;
    case EVENT_FREE:
    case EVENT_FENCE:
        effect_print(&event->effect->effect, to);
        break;
    case EVENT_FORK:
        text_addf(to, "starts %lld partition%s", (long long)event->amount, plural(event->amount));
        break;
    default:
        text_addf(to, "%s", in_words[event->kind]);
        break;
    }
}

void steps_observe(void *observer, const Event *event) {
    Steps *steps = observer;
    steps->last = step_of(&steps->count, steps->machine, event);
    if (event->kind == EVENT_FLIP)
        text_addf(steps->to, "%*s", 6 + 2 + steps->agent_width + 2 + steps->op_width + 2, "");
    else
        start_line(steps, steps->last, event->agent, event_helper(event), event->op);
    report(steps->machine, event, steps->to);
    text_char(steps->to, '\n');
}

void steps_finish(Steps *steps, RunEnd end) {
    static const char *const ends[] = {
        "every agent has finished",
        "no agent can make progress",
        "a barrier was misused",
        "control flow depends on an unknown value",
        "the budget is exhausted",
        "the launch breaks an assumption of the kernel",
        "the next step of the trail is not possible",
    }; /* ORDER RunEnd */
    const Machine *machine = steps->machine;
    for (uint32_t i = 0; end == RUN_STUCK && i < machine->agent_count; i++) {
        const Agent *agent = &machine->state->agents[i];
        if (agent->status == AGENT_IDLE || agent->status == AGENT_ENDED)
            continue;
        start_line(steps, steps->last, i, HELPER_BASE, machine->program->ops[agent->pc]);
        text_addf(steps->to, "waits forever for ");
        wait_name(machine, agent, steps->to);
        text_char(steps->to, '\n');
    }
    text_addf(steps->to, "%llu step%s; %s\n", (unsigned long long)steps->last, plural((int64_t)steps->last), ends[end]);
}
