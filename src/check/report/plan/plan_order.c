/* Runs a plan with clocks, and answers from what was seen. */
#include "check/report/plan/plan_internal.h"

#include "engine/clock/vector.h"

enum { MOST_CLOCK_CELLS = 1 << 22 }; /* of all clocks together */

typedef uint32_t *PlanOrderClock; /* by chain, how much of it is known */

/* One time that an access happened. */
typedef struct Instance {
    uint32_t when, chain, stamp;
    uint64_t slot;
    PlanOrderClock clock;
    unsigned partition;
} Instance;

typedef struct Instances {
    Instance *items;
    uint32_t count, capacity;
} Instances;

/* When a chain became known to a partition. */
typedef struct Raised {
    uint32_t stamp, step;
} Raised;
typedef struct PlanOrderRaises {
    Raised *items;
    uint32_t count, capacity;
} PlanOrderRaises;

typedef struct PlanOrderArrived {
    PlanOrderClock *items;
    uint32_t count, capacity;
} PlanOrderArrived;

struct PlanOrder {
    Plan *plan;
    Arena *arena;
    PlanSteps *steps;
    Queue queues[MOST_PARTITIONS];
    bool open; /* too large, or it hangs */
    /* A chain is what is done one after the other: by a partition's threads, by its tensor core, by the copies of one
     * op. */
    uint32_t chains, partitions;
    unsigned number[MOST_PARTITIONS];  /* of those that do something */
    uint32_t *own;                     /* of each access that is done by a TMA unit: its chain; else NO_INDEX */
    PlanOrderClock *threads, *tensors; /* of each partition */
    PlanOrderRaises *raises;           /* of each partition and chain */
    Instances *done;                   /* of each access */
    PlanOrderArrived *arrived[2];      /* of each channel, [full, empty]: by round */
    uint64_t cells;
};

/* ---- Clocks --------------------------------------------------------------------------------------- */

static PlanOrderClock copy_clock(PlanOrder *o, PlanOrderClock clock) {
    PlanOrderClock copy = ARENA_ARRAY(o->arena, uint32_t, o->chains + 1);
    memcpy(copy, clock, o->chains * sizeof *copy);
    o->cells += o->chains;
    return copy;
}

static void join(PlanOrder *o, PlanOrderClock to, PlanOrderClock from) {
    vector32_join(to, from, o->chains);
}

/* A partition takes over what another partition knows. */
static void learn(PlanOrder *o, unsigned partition, PlanOrderClock from, uint32_t step) {
    for (uint32_t i = 0; i < o->chains; i++) {
        if (from[i] <= o->threads[partition][i])
            continue;
        PlanOrderRaises *raises = &o->raises[(size_t)partition * o->chains + i];
        *ARENA_PUSH(o->arena, raises->items, raises->count, raises->capacity) = (Raised){from[i], step};
        o->threads[partition][i] = from[i];
    }
}

/* ---- Steps ---------------------------------------------------------------------------------------- */

/* Which slot an access is in, by the count of its buffer. */
static uint64_t slot_of(const PlanOrder *o, const PlanAccess *access, uint32_t round) {
    const PlanBuffer *buffer = &o->plan->buffers[access->buffer];
    uint64_t turns = o->plan->buffers[buffer->ring].turns;
    return (round * turns + buffer->position) % (uint64_t)(buffer->depth > 0 ? buffer->depth : 1);
}

static void do_access(PlanOrder *o, unsigned partition, uint32_t index, const Time *time) {
    const PlanAccess *access = &o->plan->accesses[index];
    Instances *done = &o->done[index];
    PlanOrderClock thread = o->threads[partition], clock = thread;
    uint32_t chain = partition;
    if (access->mma) {
        chain = o->partitions + partition;
        clock = o->tensors[partition];
        join(o, clock, thread);
    } else if (o->own[index] != NO_INDEX) {
        chain = o->own[index];
        clock = copy_clock(o, thread);
        clock[chain] = done->count;
    }
    clock[chain]++;
    *ARENA_PUSH(o->arena, done->items, done->count, done->capacity) =
        (Instance){.when = time->when,
                   .chain = chain,
                   .stamp = clock[chain],
                   .slot = slot_of(o, access, time->round),
                   .clock = copy_clock(o, clock),
                   .partition = partition};
}

/* Whether it is hardware that arrives: a copy, or an MMA when it is done. */
static bool arrives_by_itself(const PlanOrder *o, const PlanChannel *channel, Side side) {
    const List *out = side == SIDE_FULL ? &channel->writes : &channel->reads;
    bool all = true;
    for (uint32_t i = 0; i < out->count; i++) {
        const PlanAccess *access = &o->plan->accesses[out->items[i]];
        all &= access->mma || (side == SIDE_FULL && access->tma);
    }
    return all;
}

/* What is known once the last that a partition did of an access is done. */
static void join_last(PlanOrder *o, uint32_t access, unsigned partition, PlanOrderClock to) {
    const Instances *done = &o->done[access];
    for (uint32_t i = done->count; i-- > 0;)
        if (done->items[i].partition == partition) {
            join(o, to, done->items[i].clock);
            return;
        }
}

static void do_arrive(PlanOrder *o, unsigned partition, const PlanStep *step) {
    const PlanChannel *channel = &o->plan->channels[step->index];
    bool full = step->side == SIDE_FULL, itself = arrives_by_itself(o, channel, step->side);
    const List *out = full ? &channel->writes : &channel->reads;
    PlanOrderClock clock = ARENA_ARRAY(o->arena, uint32_t, o->chains + 1);
    for (uint32_t i = 0; i < out->count; i++)
        join_last(o, out->items[i], partition, clock);
    if (!itself) { /* a thread arrives, once it has seen its copies out */
        learn(o, partition, clock, NO_INDEX);
        join(o, clock, o->threads[partition]);
    }
    PlanOrderArrived *arrived = &o->arrived[!full][step->index];
    *ARENA_PUSH(o->arena, arrived->items, arrived->count, arrived->capacity) = clock;
    o->cells += o->chains;
}

static void do_await(PlanOrder *o, unsigned partition, const PlanStep *step) {
    for (uint32_t i = 0; i < o->plan->access_count; i++) {
        const Instances *done = &o->done[i];
        bool awaited = o->own[i] != NO_INDEX && (step->index == NO_INDEX || step->index == i);
        if (awaited && done->count > step->left && done->items[0].partition == partition)
            learn(o, partition, done->items[done->count - 1 - step->left].clock, NO_INDEX);
    }
}

/* The arrive of a channel, by its number, that a wait is for; false: it passes at once. */
typedef struct PlanOrderWanted {
    uint64_t ring; /* turns: the one that has this count of the ring; else UINT64_MAX */
    uint64_t arrive;
} PlanOrderWanted;

static bool wanted_by(const PlanOrder *o, const PlanStep *step, const Time *time, PlanOrderWanted *wanted) {
    const PlanChannel *channel = &o->plan->channels[step->index];
    const PlanBuffer *buffer = &o->plan->buffers[channel->buffer];
    uint64_t turns = o->plan->buffers[buffer->ring].turns, round = time->round, depth = (uint64_t)buffer->depth;
    *wanted = (PlanOrderWanted){.ring = UINT64_MAX};
    if (!step->every_round) {
        wanted->arrive = time->before - UINT64_C(1);
        return time->before;
    }
    if (step->side == SIDE_FULL) {
        wanted->arrive = round - channel->around;
        return round >= channel->around;
    }
    uint64_t count = round * turns + buffer->position + channel->around;
    if (count < depth)
        return false;
    wanted->arrive = (count - depth) / turns;
    wanted->ring = turns > 1 ? (count - depth) % turns : UINT64_MAX;
    return true;
}

/* Whether the arrive has come; it is then taken over. */
static bool take_arrive(PlanOrder *o, unsigned partition, const PlanStep *step, uint32_t channel, uint64_t arrive) {
    const PlanOrderArrived *arrived = &o->arrived[step->side != SIDE_FULL][channel];
    if (arrive >= arrived->count)
        return false;
    learn(o, partition, arrived->items[arrive], (uint32_t)(step - o->steps->items));
    return true;
}

static bool do_wait(PlanOrder *o, unsigned partition, const PlanStep *step, const Time *time) {
    const Plan *plan = o->plan;
    PlanOrderWanted wanted;
    if (!wanted_by(o, step, time, &wanted))
        return true;
    if (wanted.ring == UINT64_MAX)
        return take_arrive(o, partition, step, step->index, wanted.arrive);
    const PlanBuffer *buffer = &plan->buffers[plan->channels[step->index].buffer];
    bool all = true;
    for (uint32_t i = 0; i < plan->channel_count; i++) {
        const PlanBuffer *other = &plan->buffers[plan->channels[i].buffer];
        if (other->ring == buffer->ring && other->position == wanted.ring)
            all &= take_arrive(o, partition, step, i, wanted.arrive);
    }
    return all;
}

static bool do_turn(PlanOrder *o, unsigned partition, const PlanStep *step, const Time *time) {
    const Instances *done = &o->done[step->index];
    if (done->count < time->before)
        return false;
    if (time->before)
        learn(o, partition, done->items[time->before - 1].clock, (uint32_t)(step - o->steps->items));
    return true;
}

/* Whether it could be done; if not, its partition waits. */
static bool do_task(PlanOrder *o, unsigned partition, const PlanTask *task) {
    const PlanStep *step = &o->steps->items[task->step];
    const Time *time = &step->times[task->time];
    switch (step->kind) {
    case STEP_WAIT:
        return do_wait(o, partition, step, time);
    case STEP_TURN:
        return do_turn(o, partition, step, time);
    case STEP_ACCESS:
        do_access(o, partition, step->index, time);
        break;
    case STEP_AWAIT:
        do_await(o, partition, step);
        break;
    case STEP_ARRIVE:
        do_arrive(o, partition, step);
        break;
    case STEP_LOOP:
        break;
    }
    return true;
}

/* All partitions, each as far as it gets; it hangs if none gets further. */
static void run(PlanOrder *o) {
    bool left = true, went = true;
    while (left && went && !o->open) {
        left = went = false;
        for (unsigned bit = 0; bit < MOST_PARTITIONS; bit++) {
            Queue *queue = &o->queues[bit];
            while (queue->done < queue->count && do_task(o, o->number[bit], &queue->items[queue->done])) {
                queue->done++;
                went = true;
            }
            left |= queue->done < queue->count;
            o->open |= o->cells > MOST_CLOCK_CELLS;
        }
    }
    o->open |= left;
}

/* ---- All of it ------------------------------------------------------------------------------------ */

/* Whether something other than the thread does it, which is neither waited for nor in any order: a TMA unit. */
static bool is_copied(const PlanAccess *access) {
    return !access->mma && ((access->writes && access->tma) || (access->reads && access->asynchronous));
}

static void make_chains(PlanOrder *o) {
    const Plan *plan = o->plan;
    for (unsigned bit = 0; bit < MOST_PARTITIONS; bit++)
        if (o->queues[bit].count)
            o->number[bit] = o->partitions++;
    o->chains = 2 * o->partitions;
    o->own = ARENA_ARRAY(o->arena, uint32_t, plan->access_count + 1);
    for (uint32_t i = 0; i < plan->access_count; i++)
        o->own[i] = is_copied(&plan->accesses[i]) ? o->chains++ : NO_INDEX;
    o->threads = ARENA_ARRAY(o->arena, PlanOrderClock, o->partitions + 1);
    o->tensors = ARENA_ARRAY(o->arena, PlanOrderClock, o->partitions + 1);
    for (uint32_t i = 0; i < o->partitions; i++) {
        o->threads[i] = ARENA_ARRAY(o->arena, uint32_t, o->chains + 1);
        o->tensors[i] = ARENA_ARRAY(o->arena, uint32_t, o->chains + 1);
    }
    o->raises = ARENA_ARRAY(o->arena, PlanOrderRaises, (size_t)o->partitions * o->chains + 1);
    o->done = ARENA_ARRAY(o->arena, Instances, plan->access_count + 1);
    for (int side = 0; side < 2; side++)
        o->arrived[side] = ARENA_ARRAY(o->arena, PlanOrderArrived, plan->channel_count + 1);
}

PlanOrder *plan_order_create(Plan *plan) {
    PlanOrder *order = ARENA_NEW(plan->arena, PlanOrder);
    order->plan = plan;
    order->arena = plan->arena;
    order->steps = plan_steps(plan, order->queues);
    order->open = order->steps->too_many;
    make_chains(order);
    run(order);
    return order;
}

/* ---- Questions ------------------------------------------------------------------------------------ */

/* The barrier by which the end of a read is told; NO_INDEX if the plan has none. */
static uint32_t reported_by(const Plan *plan, uint32_t read) {
    for (uint32_t i = 0; i < plan->channel_count; i++) {
        const List *reads = &plan->channels[i].reads;
        for (uint32_t k = 0; k < reads->count; k++)
            if (reads->items[k] == read)
                return plan->channels[i].empty;
    }
    return NO_INDEX;
}

static void note_wait(const PlanOrder *o, PlanDecision *decision, const PlanStep *step) {
    PlanWait wait = {.mask = step->mask, .order = step->order};
    if (step->kind == STEP_TURN) {
        wait.barrier = reported_by(o->plan, step->index);
        wait.from = o->plan->accesses[step->index].mask;
    } else {
        const PlanChannel *channel = &o->plan->channels[step->index];
        wait.barrier = step->side == SIDE_FULL ? channel->full : channel->empty;
    }
    for (uint32_t i = 0; i < decision->wait_count; i++)
        if (decision->waits[i].barrier == wait.barrier && decision->waits[i].order == wait.order)
            return;
    if (decision->wait_count < MOST_PLAN_WAITS)
        decision->waits[decision->wait_count++] = wait;
}

/* How the writer came to know of a read. */
static PlanWay way_of(const PlanOrder *o, const Instance *write, const Instance *read, PlanDecision *decision) {
    if (write->clock[read->chain] < read->stamp)
        return PLAN_MISSING;
    if (read->chain == write->partition)
        return PLAN_PROGRAM;
    if (read->chain == write->chain)
        return PLAN_ISSUE;
    const PlanOrderRaises *raises = &o->raises[(size_t)write->partition * o->chains + read->chain];
    uint32_t i = 0;
    while (i < raises->count && raises->items[i].stamp < read->stamp)
        i++;
    if (i == raises->count || raises->items[i].step == NO_INDEX)
        return PLAN_PROGRAM; /* it has waited for its own copies */
    note_wait(o, decision, &o->steps->items[raises->items[i].step]);
    return PLAN_WAIT;
}

PlanDecision plan_order_decide(const PlanOrder *o, uint32_t write, uint32_t read) {
    PlanDecision decision = {.way = o->open ? PLAN_OPEN : PLAN_NEVER};
    const Instances *writes = &o->done[write], *reads = &o->done[read];
    for (uint32_t w = 0; w < writes->count && !o->open; w++)
        for (uint32_t r = 0; r < reads->count; r++) {
            const Instance *after = &writes->items[w], *before = &reads->items[r];
            if (before->when >= after->when || before->slot != after->slot)
                continue;
            PlanWay way = way_of(o, after, before, &decision);
            decision.way = way > decision.way ? way : decision.way;
        }
    return decision;
}
