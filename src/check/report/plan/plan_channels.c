/* What goes from one partition to another through a buffer, and which buffers go together.
 *
 * What a read sees was written by the last write before it in the text, or, where that write stands before the loop, by
 * the last one in the loop, an iteration ago. */
#include "check/report/plan/plan.h"

#include "base/bisect.h"
#include "base/order.h"

#include <stdlib.h>

enum { MOST_CHANNELS = 64 /* of one buffer */, MOST_BACK = 64 /* partial writes that one read sees */ };

/* ---- Channels ----------------------------------------------------------------------------------- */

/* The writes of one buffer, by their order. */
typedef struct Writes {
    Plan *plan;
    uint32_t *items;
    uint32_t count;
} Writes;

static const PlanAccess *write_at(const Writes *writes, uint32_t index) {
    return &writes->plan->accesses[writes->items[index]];
}

/* How many stand before `order`. */
static uint32_t writes_before(const Writes *writes, uint32_t order) {
    uint32_t low;
    BISECT(low, 0, writes->count, write_at(writes, low)->order < order);
    return low;
}

static PlanChannel *channel_between(Plan *plan, const PlanAccess *write, const PlanAccess *read, unsigned to) {
    PlanBuffer *buffer = &plan->buffers[read->buffer];
    for (uint32_t i = 0; i < buffer->channels; i++) {
        PlanChannel *known = &plan->channels[buffer->channel + i];
        if (known->from == write->mask && known->to == to && known->from_loop == write->loop &&
            known->to_loop == read->loop)
            return known;
    }
    if (buffer->channels == MOST_CHANNELS) {
        buffer->cut = true;
        return NULL;
    }
    PlanChannel *channel = ARENA_PUSH(plan->arena, plan->channels, plan->channel_count, plan->channel_capacity);
    *channel = (PlanChannel){.buffer = read->buffer,
                             .from = write->mask,
                             .to = to,
                             .from_loop = write->loop,
                             .to_loop = read->loop,
                             .loop = plan_common_loop(plan, write->loop, read->loop),
                             .full = NO_INDEX,
                             .empty = NO_INDEX};
    buffer->channels++;
    return channel;
}

/* The next write over what was read, around the loop if need be; NO_INDEX if there is none. */
static uint32_t next_write(const Writes *writes, const PlanAccess *read) {
    const Plan *plan = writes->plan;
    if (read->writes)
        return (uint32_t)(read - plan->accesses);
    uint32_t next = writes_before(writes, read->order + 1);
    for (uint32_t loop = read->loop; loop != NO_INDEX; loop = plan->loops[loop].parent) {
        if (next < writes->count && loop_delays(plan, loop, write_at(writes, next)->order))
            return writes->items[next];
        uint32_t first = writes_before(writes, plan->loops[loop].begin + 1);
        if (first < next)
            return writes->items[first];
    }
    return next < writes->count ? writes->items[next] : NO_INDEX;
}

static void add_pair(const Writes *writes, uint32_t write, uint32_t read, bool around) {
    Plan *plan = writes->plan;
    const PlanAccess *w = &plan->accesses[write], *r = &plan->accesses[read];
    if (!w->mask)
        return;
    for (unsigned to = 0; to < MOST_PARTITIONS; to++) {
        if (!((r->mask & ~w->mask) >> to & 1))
            continue;
        PlanChannel *channel = channel_between(plan, w, r, to);
        if (!channel)
            return;
        uint32_t next = next_write(writes, r);
        bool own = next == NO_INDEX || !plan->accesses[next].mask || plan->accesses[next].mask >> to & 1;
        channel->around |= around;
        list_add(plan->arena, &channel->writes, write);
        list_add(plan->arena, &channel->reads, read);
        list_add(plan->arena, &channel->overwrites, own ? write : next);
    }
}

/* Pairs a read with the writes from index `last` backwards, up to one that leaves nothing of those before it. */
static void add_pairs_back(const Writes *writes, uint32_t last, uint32_t from, uint32_t read, bool around) {
    for (uint32_t i = last + 1; i-- > 0 && last - i < MOST_BACK;) {
        if (write_at(writes, i)->order < from)
            return;
        add_pair(writes, writes->items[i], read, around);
        if (write_at(writes, i)->whole)
            return;
    }
}

static void add_read(const Writes *writes, uint32_t read) {
    const Plan *plan = writes->plan;
    const PlanAccess *r = &plan->accesses[read];
    uint32_t before = writes_before(writes, r->order);
    if (before)
        add_pairs_back(writes, before - 1, 0, read, false);
    for (uint32_t loop = r->loop; loop != NO_INDEX; loop = plan->loops[loop].parent) {
        if (before && loop_delays(plan, loop, write_at(writes, before - 1)->order))
            return;
        uint32_t end = writes_before(writes, plan->loops[loop].end + 1);
        if (end > before) {
            add_pairs_back(writes, end - 1, r->order, read, true);
            return;
        }
    }
}

static void find_channels(Plan *plan, uint32_t index) {
    PlanBuffer *buffer = &plan->buffers[index];
    Writes writes = {.plan = plan, .items = ARENA_ARRAY(plan->arena, uint32_t, buffer->count + 1)};
    buffer->channel = plan->channel_count;
    for (uint32_t i = buffer->first; i < buffer->first + buffer->count; i++)
        if (plan->accesses[i].writes && !plan->accesses[i].listed_only)
            writes.items[writes.count++] = i;
    for (uint32_t i = buffer->first; i < buffer->first + buffer->count; i++)
        if (plan->accesses[i].reads && !plan->accesses[i].listed_only)
            add_read(&writes, i);
    for (uint32_t k = 0; k < buffer->channels; k++) {
        const List *reads = &plan->channels[buffer->channel + k].reads;
        for (uint32_t i = 0; i < reads->count; i++) {
            uint32_t use = plan->accesses[reads->items[i]].use->offset;
            buffer->first_use = use < buffer->first_use ? use : buffer->first_use;
        }
    }
}

/* ---- What goes together ------------------------------------------------------------------------- */

/* Only the plan of memory for tasks has ids; there a ring in shared memory is used by all buffers of an id in turn. */
static bool can_share(const Plan *plan, const PlanBuffer *buffer) {
    return plan->builder->form == PARTITION_TASKS && buffer->space == SPACE_SHARED && buffer->id >= 0 &&
           buffer->storage != NO_INDEX && !buffer->aref;
}

static void link_ids(Plan *plan) {
    uint32_t storages = plan->builder->allocations.storage_count;
    uint32_t *last = ARENA_ARRAY(plan->arena, uint32_t, storages + 1);
    for (uint32_t i = 0; i < storages; i++)
        last[i] = NO_INDEX;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        PlanBuffer *buffer = &plan->buffers[i];
        if (!can_share(plan, buffer) || buffer->storage >= storages)
            continue;
        uint32_t before = last[buffer->storage];
        last[buffer->storage] = i;
        if (before == NO_INDEX || plan->buffers[before].id != buffer->id)
            continue;
        plan->buffers[before].same_id = i;
        if (buffer->depth > 1 && buffer->depth == plan->buffers[before].depth)
            buffer->ring = plan->buffers[before].ring;
    }
}

static bool same_list(const Plan *plan, const List *a, const List *b) {
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (plan->accesses[a->items[i]].use != plan->accesses[b->items[i]].use)
            return false;
    return true;
}

/* Buffers that are filled in the same way and taken by the same ops are passed by one barrier. */
static bool pass_together(const Plan *plan, const PlanBuffer *a, const PlanBuffer *b) {
    if (!a->channels || a->channels != b->channels || a->depth != b->depth)
        return false;
    for (uint32_t i = 0; i < a->channels; i++) {
        const PlanChannel *x = &plan->channels[a->channel + i], *y = &plan->channels[b->channel + i];
        if (x->from != y->from || x->to != y->to || x->from_loop != y->from_loop || x->to_loop != y->to_loop ||
            plan_written_by_tma(plan, x) != plan_written_by_tma(plan, y) || plan_written_by_mma(plan, x) ||
            plan_written_by_mma(plan, y) || !same_list(plan, &x->reads, &y->reads))
            return false;
    }
    return true;
}

static void merge(Plan *plan) {
    enum { MOST_LOOKED_AT = 32 };
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        PlanBuffer *buffer = &plan->buffers[i];
        uint32_t next = buffer->merged == i ? buffer->same_id : NO_INDEX;
        for (int looked = 0; next != NO_INDEX && looked < MOST_LOOKED_AT; looked++) {
            PlanBuffer *other = &plan->buffers[next];
            if (other->merged == next && pass_together(plan, buffer, other))
                other->merged = i;
            next = other->same_id;
        }
    }
}

typedef struct PlanChannelTurn {
    uint32_t ring, first_use, buffer;
} PlanChannelTurn;

ORDER(by_turn, PlanChannelTurn, BY(ring) BY(first_use) BY(buffer))

/* The buffers of a ring take its slots in the order in which they are used. */
static void take_turns(Plan *plan) {
    PlanChannelTurn *turns = ARENA_ARRAY(plan->arena, PlanChannelTurn, plan->buffer_count + 1);
    size_t count = 0;
    for (uint32_t i = 0; i < plan->buffer_count; i++)
        if (can_share(plan, &plan->buffers[i]) && plan->buffers[i].merged == i && plan->buffers[i].channels)
            turns[count++] = (PlanChannelTurn){plan->buffers[i].ring, plan->buffers[i].first_use, i};
    qsort(turns, count, sizeof *turns, by_turn);
    uint32_t position = 0;
    for (size_t i = 0; i < count; i++) {
        position = i && turns[i].ring == turns[i - 1].ring ? position + 1 : 0;
        plan->buffers[turns[i].buffer].position = position;
        plan->buffers[turns[i].ring].turns = position + 1;
    }
    for (uint32_t i = 0; i < plan->buffer_count; i++)
        plan->buffers[i].position = plan->buffers[plan->buffers[i].merged].position;
}

void plan_channels(Plan *plan) {
    for (uint32_t i = 0; i < plan->buffer_count; i++)
        find_channels(plan, i);
    link_ids(plan);
    merge(plan);
    take_turns(plan);
}
