/* What the partitions of a plan do one after the other, once its channels have barriers. */
#include "base/order.h"
#include "check/report/plan/plan_internal.h"

#include <stdlib.h>

enum {
    LEAST_TURNS = 3, /* of each loop: the first, one in the middle, the last */
    MOST_TURNS = 12, /* of the only loop, for rings that are deeper than that */
    MOST_TIMES = 1 << 16,
};

/* ---- What is done where --------------------------------------------------------------------------- */

static PlanStep *add_step(Plan *plan, PlanSteps *steps, PlanStep step) {
    PlanStep *added = ARENA_PUSH(plan->arena, steps->items, steps->count, steps->capacity);
    *added = step;
    return added;
}

/* What the schedule of its loop says of an op. */
static void schedule(PlanStep *step, const Op *op) {
    int64_t stage, cluster;
    step->scheduled = op_integer(op, "loop.stage", &stage) && op_integer(op, "loop.cluster", &cluster) && stage >= 0 &&
                      stage < MOST_TURNS && cluster >= 0 && cluster < UINT16_MAX;
    step->stage = step->scheduled ? (uint32_t)stage : 0;
    step->cluster = step->scheduled ? (uint32_t)cluster : 0;
}

bool plan_is_scheduled(const Op *op) {
    PlanStep step = {0};
    schedule(&step, op);
    return step.scheduled;
}

/* At an access, or, where it stands in a loop within the other one, at that loop. */
static PlanStep *add_step_at(Plan *plan, PlanSteps *steps, PlanStepKind kind, uint32_t access, uint32_t loop) {
    const PlanAccess *at = &plan->accesses[access];
    uint32_t both = plan_common_loop(plan, at->loop, loop), inner = plan_loop_below(plan, at->loop, both);
    PlanStep *step = add_step(plan, steps,
                              (PlanStep){.kind = kind,
                                         .loop = both,
                                         .order = inner == NO_INDEX ? at->order : plan->loops[inner].begin,
                                         .at = access,
                                         .mask = at->mask,
                                         .every_round = both == loop});
    if (inner == NO_INDEX)
        schedule(step, at->op);
    return step;
}

static void add_barrier(Plan *plan, PlanSteps *steps, PlanStepKind kind, uint32_t channel, Side side, uint32_t access) {
    const PlanChannel *its = &plan->channels[channel];
    bool consumer = (kind == STEP_WAIT) == (side == SIDE_FULL);
    /* In a loop that is pipelined, a writer acquires where it stands in the schedule, not before the loop. */
    bool late = kind == STEP_WAIT && side == SIDE_EMPTY && plan_is_scheduled(plan->accesses[access].op);
    PlanStep *step = add_step_at(plan, steps, kind, access, late ? plan->accesses[access].loop : its->loop);
    step->every_round &= step->loop == its->loop;
    step->index = channel;
    step->side = side;
    if (consumer)
        step->mask = UINT64_C(1) << its->to;
    else if (kind == STEP_ARRIVE)
        step->mask = its->from & -its->from; /* of those that do the same one arrives */
}

static void add_channel(Plan *plan, PlanSteps *steps, uint32_t index) {
    const PlanChannel *channel = &plan->channels[index];
    add_barrier(plan, steps, STEP_ARRIVE, index, SIDE_FULL, channel->writes.items[channel->writes.count - 1]);
    add_barrier(plan, steps, STEP_WAIT, index, SIDE_FULL, channel->reads.items[0]);
    add_barrier(plan, steps, STEP_ARRIVE, index, SIDE_EMPTY, channel->reads.items[channel->reads.count - 1]);
    for (uint32_t i = 0; i < channel->overwrites.count; i++)
        add_barrier(plan, steps, STEP_WAIT, index, SIDE_EMPTY, channel->overwrites.items[i]);
}

/* Buffers in one place take turns: the writer of the one waits for the readers of the other. Columns that are packed
 * beside each other do not. */
static void add_turns(Plan *plan, PlanSteps *steps, uint32_t access) {
    const PlanAccess *write = &plan->accesses[access];
    const PlanBuffer *written = &plan->buffers[write->buffer];
    if (!write->writes || !write->whole || write->accumulates || write->listed_only)
        return;
    for (uint32_t b = 0; b < plan->buffer_count; b++) {
        const PlanBuffer *other = &plan->buffers[b];
        bool ring = other->id == written->id && (other->depth > 1 || written->depth > 1);
        if (b == write->buffer || other->begin != written->begin || ring || !plan_overlap(plan, b, write->buffer))
            continue;
        for (uint32_t i = other->first; i < other->first + other->count; i++)
            if (plan->accesses[i].reads && plan->accesses[i].mask & ~write->mask)
                add_step_at(plan, steps, STEP_TURN, access, plan->accesses[i].loop)->index = i;
    }
}

static bool awaits_copies(const Effect *effect) {
    return effect->verb == EFFECT_AWAIT;
}

/* The access whose token an op waits for; NO_INDEX if it has none. */
static uint32_t awaited_access(const Plan *plan, const Op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++)
        for (uint32_t k = 0; k < plan->access_count; k++)
            if (plan->accesses[k].op == value_op(op->operands[i]))
                return k;
    return NO_INDEX;
}

static void add_awaits(Plan *plan, PlanSteps *steps) {
    const Op *function = plan->builder->function;
    for (const Op *op = function; op; op = op_next_in_walk(op, function)) {
        Effect effects[EFFECTS_MOST];
        unsigned count = op_any_effect(plan->module, op, awaits_copies) ? effects_of(plan->module, op, effects) : 0;
        for (unsigned i = 0; i < count; i++) {
            if (!awaits_copies(&effects[i]))
                continue;
            const Op *loop = enclosing_loop(op);
            uint32_t access = awaited_access(plan, op);
            PlanStep *step = add_step(plan, steps,
                                      (PlanStep){.kind = STEP_AWAIT,
                                                 .loop = loop ? pointers_get(&plan->loop_numbers, loop) : NO_INDEX,
                                                 .order = op->offset,
                                                 .index = access,
                                                 .mask = builder_runners(plan->builder, op),
                                                 .left = effects[i].count > 0 ? effects[i].count : 0});
            schedule(step, op);
            break;
        }
    }
}

/* ---- In order ------------------------------------------------------------------------------------- */

/* In the order of the text. */
static int by_place(const void *a, const void *b) {
    const PlanStep *x = a, *y = b;
    COMPARE(x->loop + 1, y->loop + 1);
    COMPARE(x->order, y->order);
    PlanStepKind kind = x->kind == STEP_LOOP ? STEP_ACCESS : x->kind,
                 other = y->kind == STEP_LOOP ? STEP_ACCESS : y->kind;
    COMPARE(kind, other);
    COMPARE(x->index, y->index);
    return x->side < y->side ? -1 : x->side > y->side;
}

/* What the schedule leaves open goes with what stands before it. */
static void inherit_schedule(PlanSteps *steps) {
    for (uint32_t i = 1; i < steps->count; i++) {
        PlanStep *step = &steps->items[i];
        if (!step->scheduled && step[-1].loop == step->loop) {
            step->stage = step[-1].stage;
            step->cluster = step[-1].cluster;
        }
    }
}

/* How a pipeline goes through a loop: by cluster, and else in the order of the text. */
typedef struct PlanStepTurn {
    uint32_t cluster, step;
} PlanStepTurn;

ORDER(by_cluster, PlanStepTurn, BY(cluster) BY(step))

static void collect_steps(Plan *plan, PlanSteps *steps) {
    for (uint32_t i = 0; i < plan->loop_count; i++)
        add_step(
            plan, steps,
            (PlanStep){.kind = STEP_LOOP, .loop = plan->loops[i].parent, .order = plan->loops[i].begin, .index = i});
    for (uint32_t i = 0; i < plan->access_count; i++) {
        const PlanAccess *access = &plan->accesses[i];
        schedule(add_step(plan, steps,
                          (PlanStep){.kind = STEP_ACCESS,
                                     .loop = access->loop,
                                     .order = access->order,
                                     .index = i,
                                     .mask = access->mask}),
                 access->op);
        add_turns(plan, steps, i);
    }
    for (uint32_t i = 0; i < plan->channel_count; i++)
        add_channel(plan, steps, i);
    add_awaits(plan, steps);
    qsort(steps->items, steps->count, sizeof *steps->items, by_place);
    inherit_schedule(steps);
    steps->first = ARENA_ARRAY(plan->arena, uint32_t, plan->loop_count + 2);
    for (uint32_t i = 0, loop = 0; loop <= plan->loop_count + 1; loop++) {
        while (i < steps->count && steps->items[i].loop + 1 < loop)
            i++;
        steps->first[loop] = i;
    }
}

/* ---- Times ---------------------------------------------------------------------------------------- */

static uint32_t round_of(const PlanSteps *steps, uint32_t loop) {
    return loop == NO_INDEX ? 0 : steps->rounds[loop] - 1;
}

/* The loop by whose iterations a step's barrier, or its buffer, is counted. */
static uint32_t counted_by(const Plan *plan, const PlanStep *step) {
    if (step->kind == STEP_WAIT || step->kind == STEP_ARRIVE)
        return plan->channels[step->index].loop;
    if (step->kind != STEP_ACCESS)
        return step->loop;
    const PlanAccess *access = &plan->accesses[step->index];
    const PlanBuffer *buffer = &plan->buffers[access->buffer];
    return buffer->channels ? plan->channels[buffer->channel].loop : access->loop;
}

static void add_time(Plan *plan, PlanSteps *steps, PlanStep *step) {
    uint32_t loop = counted_by(plan, step);
    Time time = {.when = steps->when++, .round = loop == NO_INDEX || steps->rounds[loop] ? round_of(steps, loop) : 0};
    bool empty = step->side != SIDE_FULL;
    if (step->kind == STEP_WAIT)
        time.before = steps->arrives[empty][step->index];
    else if (step->kind == STEP_ARRIVE)
        steps->arrives[empty][step->index]++;
    else if (step->kind == STEP_TURN)
        time.before = steps->reads[step->index];
    else if (step->kind == STEP_ACCESS)
        steps->reads[step->index]++;
    *ARENA_PUSH(plan->arena, step->times, step->time_count, step->time_capacity) = time;
    steps->too_many |= steps->when > MOST_TIMES;
}

static void time_steps(Plan *plan, PlanSteps *steps, uint32_t loop) {
    for (uint32_t i = steps->first[loop + 1]; i < steps->count && steps->items[i].loop == loop; i++) {
        PlanStep *step = &steps->items[i];
        if (step->kind != STEP_LOOP) {
            add_time(plan, steps, step);
            continue;
        }
        for (uint32_t turn = 0; turn < steps->turns && !steps->too_many; turn++) {
            steps->rounds[step->index]++;
            time_steps(plan, steps, step->index);
        }
    }
}

/* ---- Queues --------------------------------------------------------------------------------------- */

static void queue_loop(Plan *plan, PlanSteps *steps, Queue *queues, uint32_t loop);

static void queue_step(Plan *plan, PlanSteps *steps, Queue *queues, uint32_t index) {
    PlanStep *step = &steps->items[index];
    if (step->kind == STEP_LOOP) {
        queue_loop(plan, steps, queues, step->index);
        return;
    }
    PlanTask task = {index, step->queued++};
    for (unsigned bit = 0; bit < MOST_PARTITIONS; bit++)
        if (step->mask >> bit & 1 && task.time < step->time_count)
            *ARENA_PUSH(plan->arena, queues[bit].items, queues[bit].count, queues[bit].capacity) = task;
}

/* What is in stage S of a pipeline is S iterations behind. */
static void queue_loop(Plan *plan, PlanSteps *steps, Queue *queues, uint32_t loop) {
    uint32_t first = steps->first[loop + 1], count = 0, stages = 0;
    while (first + count < steps->count && steps->items[first + count].loop == loop) {
        uint32_t stage = steps->items[first + count++].stage;
        stages = stage > stages ? stage : stages;
    }
    PlanStepTurn *turns = ARENA_ARRAY(plan->arena, PlanStepTurn, count + 1);
    for (uint32_t i = 0; i < count; i++)
        turns[i] = (PlanStepTurn){steps->items[first + i].cluster, first + i};
    qsort(turns, count, sizeof *turns, by_cluster);
    for (uint32_t turn = 0; turn < steps->turns + stages; turn++)
        for (uint32_t i = 0; i < count; i++) {
            uint32_t stage = steps->items[turns[i].step].stage;
            if (turn >= stage && turn - stage < steps->turns)
                queue_step(plan, steps, queues, turns[i].step);
        }
}

/* ---- All of it ------------------------------------------------------------------------------------ */

/* A ring has to come round: in a nest the loops together see to that. */
static uint32_t turns_of(const Plan *plan) {
    int64_t deepest = 1;
    bool nested = false;
    for (uint32_t i = 0; i < plan->buffer_count; i++)
        deepest = plan->buffers[i].depth > deepest ? plan->buffers[i].depth : deepest;
    for (uint32_t i = 0; i < plan->loop_count; i++)
        nested |= plan->loops[i].parent != NO_INDEX;
    if (nested || deepest + 2 < LEAST_TURNS)
        return LEAST_TURNS;
    return deepest + 2 > MOST_TURNS ? MOST_TURNS : (uint32_t)deepest + 2;
}

PlanSteps *plan_steps(Plan *plan, Queue *queues) {
    PlanSteps *steps = ARENA_NEW(plan->arena, PlanSteps);
    steps->turns = turns_of(plan);
    steps->rounds = ARENA_ARRAY(plan->arena, uint32_t, plan->loop_count + 1);
    steps->reads = ARENA_ARRAY(plan->arena, uint32_t, plan->access_count + 1);
    for (int side = 0; side < 2; side++)
        steps->arrives[side] = ARENA_ARRAY(plan->arena, uint32_t, plan->channel_count + 1);
    collect_steps(plan, steps);
    time_steps(plan, steps, NO_INDEX);
    for (uint32_t i = 0; i < steps->first[1] && !steps->too_many; i++)
        queue_step(plan, steps, queues, i);
    return steps;
}
