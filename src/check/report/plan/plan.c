/* The report of a kernel that has no barriers yet: which ones its tasks, and what they share, will need.
 *
 * Each channel becomes a barrier that says "full" and one that says "empty". What was run is nothing, so slots and
 * phases are those that a counter of the channel will give. */
#include "check/report/plan/plan.h"

const char *plan_partitions(const Plan *plan, uint64_t mask) {
    return builder_partitions(plan->builder, (Partitions){plan->builder->form, mask});
}

/* ---- Mechanisms --------------------------------------------------------------------------------- */

static ReportMechanism written_in_words(const Plan *plan, const PlanChannel *channel) {
    PartitionForm form = plan->builder->form;
    if (plan->buffers[channel->buffer].aref || form == PARTITION_SCHEDULED)
        return MECHANISM_AREF;
    if (plan_written_by_tma(plan, channel))
        return MECHANISM_TMA;
    if (plan_written_by_mma(plan, channel))
        return channel->from_loop == channel->loop ? MECHANISM_MMA : MECHANISM_COMMIT;
    return form == PARTITION_TASKS ? MECHANISM_TOKEN : MECHANISM_ARRIVE;
}

static ReportMechanism read_in_words(const Plan *plan, const PlanChannel *channel) {
    PartitionForm form = plan->builder->form;
    if (plan->buffers[channel->buffer].aref || form == PARTITION_SCHEDULED)
        return MECHANISM_AREF;
    bool mma = true;
    for (uint32_t i = 0; i < channel->reads.count; i++)
        mma &= plan->accesses[channel->reads.items[i]].mma;
    if (mma)
        return channel->to_loop == channel->loop ? MECHANISM_MMA : MECHANISM_COMMIT;
    return form == PARTITION_TASKS ? MECHANISM_TOKEN : MECHANISM_ARRIVE;
}

static ReportMechanism mechanism_of(const Plan *plan, const PlanBarrier *barrier, const PlanChannel *channel) {
    return barrier->side == SIDE_FULL ? written_in_words(plan, channel) : read_in_words(plan, channel);
}

/* ---- Which barriers ----------------------------------------------------------------------------- */

/* Hardware arrives on one barrier, no matter which agent waits there; a token is made for each consumer. */
static unsigned consumers_of(const Plan *plan, const PlanChannel *channel, Side side) {
    ReportMechanism mechanism = written_in_words(plan, channel);
    bool one = side == SIDE_FULL &&
               (mechanism == MECHANISM_TMA || mechanism == MECHANISM_MMA || mechanism == MECHANISM_COMMIT);
    return one || mechanism == MECHANISM_AREF ? MOST_PARTITIONS : channel->to;
}

static bool fits(const Plan *plan, const PlanBarrier *barrier, const PlanChannel *channel, Side side) {
    if (barrier->side != side || barrier->to != consumers_of(plan, channel, side))
        return false;
    const PlanChannel *first = &plan->channels[barrier->channels.items[0]];
    const PlanBuffer *leader = &plan->buffers[barrier->leader];
    if (leader->turns > 1 || leader->aref)
        return true;
    bool tma = side == SIDE_FULL && plan_written_by_tma(plan, channel);
    return first->from == channel->from && first->from_loop == channel->from_loop &&
           (tma || first->to_loop == channel->to_loop);
}

static uint32_t barrier_for(Plan *plan, uint32_t index, Side side) {
    PlanChannel *channel = &plan->channels[index];
    PlanBuffer *leader = &plan->buffers[plan_leader(plan, channel->buffer)];
    for (uint32_t i = 0; i < leader->barriers.count; i++) {
        uint32_t known = leader->barriers.items[i];
        if (fits(plan, &plan->barriers[known], channel, side)) {
            list_add(plan->arena, &plan->barriers[known].channels, index);
            return known;
        }
    }
    uint32_t made = plan->barrier_count;
    PlanBarrier *barrier = ARENA_PUSH(plan->arena, plan->barriers, plan->barrier_count, plan->barrier_capacity);
    *barrier = (PlanBarrier){.leader = (uint32_t)(leader - plan->buffers), .side = side};
    barrier->to = consumers_of(plan, channel, side);
    list_add(plan->arena, &barrier->channels, index);
    list_add(plan->arena, &leader->barriers, made);
    builder_barrier(plan->builder, (Thing){.root = leader->op, .side = side, .id = made});
    barrier->report = plan->builder->barrier_count - 1;
    return made;
}

/* ---- Names -------------------------------------------------------------------------------------- */

/* The buffers of a barrier, each once, in the order of the text. */
static List buffers_of(Plan *plan, const PlanBarrier *barrier) {
    List found = {0};
    for (uint32_t i = 0; i < barrier->channels.count; i++) {
        uint32_t buffer = plan->channels[barrier->channels.items[i]].buffer;
        if (!found.count || found.items[found.count - 1] != buffer)
            list_add(plan->arena, &found, buffer);
    }
    return found;
}

static void add_names(const Plan *plan, const List *buffers, Text *text) {
    enum { MOST_NAMED = 8 };
    for (uint32_t i = 0; i < buffers->count && i < MOST_NAMED; i++)
        text_addf(text, "%s%s", i ? ", " : "", plan->buffers[buffers->items[i]].name);
    if (buffers->count > MOST_NAMED)
        text_addf(text, " and %u more", buffers->count - MOST_NAMED);
}

static void name_barrier(Plan *plan, PlanBarrier *barrier, bool alone, unsigned number) {
    const PlanChannel *channel = &plan->channels[barrier->channels.items[0]];
    List buffers = buffers_of(plan, barrier);
    Text text = {0};
    text_addf(&text, "%s(", barrier->side == SIDE_FULL ? "full" : "empty");
    add_names(plan, &buffers, &text);
    if (!alone)
        text_addf(&text, ", %s to %s", plan_partitions(plan, channel->from),
                  plan_partitions(plan, UINT64_C(1) << channel->to));
    if (number)
        text_addf(&text, ", %u", number + 1);
    text_addf(&text, ")");
    plan->builder->barriers[barrier->report].name = verdict_keep(plan->builder->verdict, &text);
}

/* Barriers of one list differ in who passes it to whom, and else by a number. */
static void name_barriers(Plan *plan, const List *list) {
    for (uint32_t i = 0; i < list->count; i++) {
        PlanBarrier *barrier = &plan->barriers[list->items[i]];
        const PlanChannel *channel = &plan->channels[barrier->channels.items[0]];
        bool alone = true;
        unsigned number = 0;
        for (uint32_t k = 0; k < list->count; k++) {
            const PlanBarrier *other = &plan->barriers[list->items[k]];
            const PlanChannel *its = &plan->channels[other->channels.items[0]];
            if (k == i || other->side != barrier->side)
                continue;
            alone = false;
            number += k < i && its->from == channel->from && its->to == channel->to;
        }
        name_barrier(plan, barrier, alone, number);
    }
}

/* ---- Index and phase ---------------------------------------------------------------------------- */

/* What a count of uses gives, from `position` on; a count that is "" stands still. */
static Fit fit_of(const char *count, int64_t depth, uint32_t position, bool inverted) {
    return (Fit){.found = true,
                 .constant = !*count,
                 .inverted = inverted,
                 .parity = inverted,
                 .start = position,
                 .stride = 1,
                 .depth = (uint32_t)depth};
}

static const char *count_text(Plan *plan, uint32_t loop) {
    return loop == NO_INDEX ? "" : verdict_text(plan->builder->verdict, "accumCnt(loop@%u)", plan->loops[loop].line);
}

/* ---- Sites -------------------------------------------------------------------------------------- */

static const char *arrive_words(ReportMechanism mechanism, Side side) {
    switch (mechanism) {
    case MECHANISM_TMA:
        return "will arrive with its bytes";
    case MECHANISM_MMA:
        return "will arrive when it is done";
    case MECHANISM_COMMIT:
        return "will commit";
    case MECHANISM_AREF:
        return side == SIDE_FULL ? "will put" : "will release it";
    default:
        return side == SIDE_FULL ? "will commit" : "will release";
    }
}

/* An op that takes several buffers that are passed together arrives, or waits, once. */
static bool is_there(const BuildSites *sites, const ReportSite *site) {
    enum { LOOK_BACK = 8 };
    for (uint32_t i = sites->count; i > 0 && i + LOOK_BACK > sites->count; i--) {
        const ReportSite *known = &sites->items[i - 1];
        if (known->place.ir_line == site->place.ir_line && known->stagger == site->stagger &&
            strcmp(known->place.op, site->place.op) == 0)
            return true;
    }
    return false;
}

/* Whether the first wait has nothing to wait for: the writer finds the buffer free. Where what is read was written
 * an iteration ago, it is the reader who finds it there, and the writer waits for him. */
static bool starts_free(const PlanChannel *channel, Side side) {
    return (side == SIDE_EMPTY) != channel->around;
}

static void add_site(Plan *plan, BuildSites *sites, const PlanBarrier *barrier, const PlanChannel *channel,
                     uint32_t index, bool arrives) {
    const PlanAccess *access = &plan->accesses[index];
    const PlanBuffer *buffer = &plan->buffers[channel->buffer];
    Verdict *verdict = plan->builder->verdict;
    ReportMechanism mechanism = mechanism_of(plan, barrier, channel);
    const char *count = count_text(plan, channel->loop);
    bool empty = barrier->side == SIDE_EMPTY, at_once = starts_free(channel, barrier->side);
    Fit fit = fit_of(count, buffer->depth, buffer->position, at_once);
    ReportSite site = {.place = builder_place(plan->builder, access->op),
                       .mechanism = report_mechanism(mechanism),
                       .index = builder_fitted(plan->builder, &fit, NULL, 0, false, count),
                       .phase = "",
                       .part = "",
                       .index_as_written = "",
                       .phase_as_written = "",
                       .stagger = buffer->position,
                       .stride = *count ? plan->buffers[buffer->ring].turns : 0,
                       .first_parity = -1,
                       .amount = -1};
    bool consumer = arrives == empty;
    if (consumer && barrier->to != MOST_PARTITIONS) /* an op of several partitions: each has a barrier of its own */
        site.place.partition = plan_partitions(plan, UINT64_C(1) << channel->to);
    const char *words = arrives ? arrive_words(mechanism, barrier->side)
                        : empty ? "will wait before it writes"
                                : "will wait";
    if (!arrives) {
        site.phase = builder_fitted(plan->builder, &fit, NULL, 0, true, count);
        site.first_parity = at_once;
        site.passes_at_once = at_once;
    } else if (!empty && access->tma && access->bytes >= 0) {
        site.amount = access->expected >= 0 ? access->expected : access->bytes;
        words = verdict_text(verdict, "will arrive with %lld bytes", (long long)site.amount);
    }
    uint32_t inner = plan_loop_below(plan, access->loop, channel->loop);
    const char *where = arrives ? "after" : empty && plan_is_scheduled(access->op) ? "once in" : "before";
    site.place.detail =
        inner == NO_INDEX ? words
                          : verdict_text(verdict, "%s, %s the loop at line %u", words, where, plan->loops[inner].line);
    if (is_there(sites, &site))
        return;
    *ARENA_PUSH(plan->arena, sites->items, sites->count, sites->capacity) = site;
}

/* A consumer waits before its first read and gives the buffer back after its last; what does not arrive with bytes
 * arrives after the last write. */
static void add_sites(Plan *plan, PlanBarrier *barrier) {
    ReportBarrier *report = &plan->builder->barriers[barrier->report];
    BuildSites arrives = {0}, waits = {0};
    for (uint32_t i = 0; i < barrier->channels.count; i++) {
        const PlanChannel *channel = &plan->channels[barrier->channels.items[i]];
        bool full = barrier->side == SIDE_FULL;
        const List *out = full ? &channel->writes : &channel->reads;
        const List *in = full ? &channel->reads : &channel->overwrites;
        bool each = full && plan_written_by_tma(plan, channel);
        for (uint32_t k = each ? 0 : out->count - 1; k < out->count; k++)
            add_site(plan, &arrives, barrier, channel, out->items[k], true);
        for (uint32_t k = 0; k < (full ? 1 : in->count); k++)
            add_site(plan, &waits, barrier, channel, in->items[k], false);
    }
    builder_sites(report, &arrives, &waits);
}

/* ---- Bytes -------------------------------------------------------------------------------------- */

/* What copies bring into one buffer in one phase, and what the IR says of that. */
static void count_bytes(const Plan *plan, const PlanBuffer *buffer, int64_t *bytes, int64_t *expected,
                        const PlanAccess **copy) {
    *bytes = *expected = 0;
    *copy = NULL;
    for (uint32_t i = buffer->first; i < buffer->first + buffer->count; i++) {
        const PlanAccess *access = &plan->accesses[i];
        if (!access->tma || access->bytes < 0 || (*copy && access->whole))
            continue; /* another copy of all of it is another way to fill it */
        *copy = *copy ? *copy : access;
        *bytes += access->bytes;
        *expected += access->expected >= 0 ? access->expected : access->bytes;
    }
}

static void add_bytes(Plan *plan, const PlanBarrier *barrier) {
    ReportBarrier *report = &plan->builder->barriers[barrier->report];
    List buffers = buffers_of(plan, barrier);
    ReportBytes *rows = ARENA_ARRAY(plan->arena, ReportBytes, buffers.count + 1);
    uint32_t turns = plan->buffers[barrier->leader].turns;
    int64_t *sums = ARENA_ARRAY(plan->arena, int64_t, turns + 1),
            *announced = ARENA_ARRAY(plan->arena, int64_t, turns + 1);
    size_t count = 0;
    for (uint32_t i = 0; barrier->side == SIDE_FULL && i < buffers.count; i++) {
        const PlanBuffer *buffer = &plan->buffers[buffers.items[i]];
        int64_t bytes, expected;
        const PlanAccess *copy;
        count_bytes(plan, buffer, &bytes, &expected, &copy);
        if (!copy)
            continue;
        sums[buffer->position < turns ? buffer->position : 0] += bytes;
        announced[buffer->position < turns ? buffer->position : 0] += expected;
        rows[count++] = (ReportBytes){
            .name = buffer->name, .text = buffer->shape, .bytes = bytes, .ir_line = op_line(plan->module, copy->op)};
    }
    if (!count)
        return;
    report->bytes = rows;
    report->byte_count = count;
    bool even = true;
    for (uint32_t i = 1; i < turns; i++)
        even &= sums[i] == sums[0] && announced[i] == announced[0];
    if (even) {
        report->data_bytes = sums[0];
        report->expect_bytes = announced[0];
    } else {
        builder_issue(plan->builder, report, "its phases carry different numbers of bytes: each expects its own");
    }
    if (even && report->data_bytes != report->expect_bytes)
        builder_issue(plan->builder, report,
                      verdict_text(plan->builder->verdict, "%lld bytes are expected, but %lld are delivered",
                                   (long long)report->expect_bytes, (long long)report->data_bytes));
}

/* ---- Issues ------------------------------------------------------------------------------------- */

/* Over how many stages of a loop's pipeline one partition uses a buffer that is written in that loop; 1 if its ops are
 * in one stage. */
static int64_t stages_of(const Plan *plan, const PlanBuffer *buffer, unsigned partition, uint32_t loop) {
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (uint32_t i = buffer->first; i < buffer->first + buffer->count; i++) {
        const PlanAccess *access = &plan->accesses[i];
        bool its = access->mask >> partition & 1 && access->loop == loop;
        int64_t stage;
        if (!its || !op_integer(access->op, "loop.stage", &stage) || stage < 0 || stage > 1000)
            continue;
        least = stage < least ? stage : least;
        most = stage > most ? stage : most;
    }
    return most >= least ? most - least + 1 : 1;
}

static void add_depth_issue(Plan *plan, ReportBarrier *report, const PlanBuffer *buffer) {
    Verdict *verdict = plan->builder->verdict;
    uint32_t loop = NO_INDEX;
    for (uint32_t i = buffer->first; i < buffer->first + buffer->count; i++)
        if (plan->accesses[i].writes)
            loop = plan->accesses[i].loop; /* that of the last write: the one before the loop only starts it */
    for (unsigned k = 0; buffer->depth_said && loop != NO_INDEX && k < MOST_PARTITIONS; k++) {
        int64_t stages = stages_of(plan, buffer, k, loop);
        if (stages > buffer->depth)
            builder_issue(plan->builder, report,
                          verdict_text(verdict,
                                       "%s uses %s in %lld stages of the loop at line %u, but it has %lld slot%s: "
                                       "the next one is needed before this one is released",
                                       plan_partitions(plan, UINT64_C(1) << k), buffer->name, (long long)stages,
                                       plan->loops[loop].line, (long long)buffer->depth, plural(buffer->depth)));
    }
}

static void add_issues(Plan *plan, const PlanBarrier *barrier) {
    ReportBarrier *report = &plan->builder->barriers[barrier->report];
    const PlanBuffer *leader = &plan->buffers[barrier->leader];
    const PlanChannel *channel = &plan->channels[barrier->channels.items[0]];
    Verdict *verdict = plan->builder->verdict;
    List buffers = buffers_of(plan, barrier);
    bool repeats = channel->loop != NO_INDEX;
    if (barrier->side == SIDE_EMPTY)
        return; /* its pair says the same */
    if (repeats && leader->depth_said && leader->depth == 1)
        builder_issue(plan->builder, report, "depth 1: producer and consumer never overlap");
    if (repeats && !leader->depth_said)
        builder_issue(plan->builder, report, "how many slots it gets is not planned yet; one is assumed");
    if (leader->turns > leader->depth)
        builder_issue(plan->builder, report,
                      verdict_text(verdict, "%u buffers share %lld slots: not all of them fit at once", leader->turns,
                                   (long long)leader->depth));
    for (uint32_t i = 0; i < buffers.count; i++)
        add_depth_issue(plan, report, &plan->buffers[buffers.items[i]]);
}

/* ---- Barriers ----------------------------------------------------------------------------------- */

static const char *cadence_text(Plan *plan, const PlanChannel *channel, const PlanBuffer *leader) {
    Verdict *verdict = plan->builder->verdict;
    if (channel->loop == NO_INDEX)
        return "it flips once";
    unsigned line = plan->loops[channel->loop].line;
    if (leader->depth == 1)
        return verdict_text(verdict, "it flips once in each iteration of the loop at line %u", line);
    if (leader->turns == leader->depth)
        return verdict_text(verdict, "each slot flips once in each iteration of the loop at line %u", line);
    if (leader->turns > 1)
        return verdict_text(verdict, "each slot flips %u times in %lld iterations of the loop at line %u",
                            leader->turns, (long long)leader->depth, line);
    return verdict_text(verdict, "each slot flips once in %lld iterations of the loop at line %u",
                        (long long)leader->depth, line);
}

static const char *offset_text(Plan *plan, const List *buffers) {
    Text text = {0};
    for (uint32_t i = 0; i < buffers->count; i++) {
        const PlanBuffer *buffer = &plan->buffers[buffers->items[i]];
        if (buffer->position)
            text_addf(&text, "%s%s +%u", text.size ? ", " : "", buffer->name, buffer->position);
    }
    return verdict_keep(plan->builder->verdict, &text);
}

static const char *mechanisms_text(Plan *plan, const PlanBarrier *barrier) {
    Text text = {0};
    unsigned seen = 0;
    for (uint32_t i = 0; i < barrier->channels.count; i++) {
        ReportMechanism mechanism = mechanism_of(plan, barrier, &plan->channels[barrier->channels.items[i]]);
        if (!(seen >> mechanism & 1))
            text_addf(&text, "%s%s", text.size ? ", " : "", report_mechanism(mechanism));
        seen |= 1u << mechanism;
    }
    return verdict_keep(plan->builder->verdict, &text);
}

/* An aref is given back by each of its consumers. */
static int64_t arrivals(const Plan *plan, const PlanBarrier *barrier) {
    uint64_t consumers = 0;
    for (uint32_t i = 0; i < barrier->channels.count; i++) {
        const PlanChannel *channel = &plan->channels[barrier->channels.items[i]];
        consumers |= UINT64_C(1) << channel->to;
        if (plan->buffers[channel->buffer].aref) /* its producer may read it too */
            consumers |= plan->accesses[channel->reads.items[0]].mask;
    }
    return barrier->side == SIDE_EMPTY && barrier->to == MOST_PARTITIONS ? __builtin_popcountll(consumers) : 1;
}

static void fill_barrier(Plan *plan, PlanBarrier *barrier) {
    ReportBarrier *report = &plan->builder->barriers[barrier->report];
    const PlanBuffer *leader = &plan->buffers[barrier->leader];
    const PlanChannel *channel = &plan->channels[barrier->channels.items[0]];
    const char *count = channel->loop == NO_INDEX ? "" : "accumCnt";
    List buffers = buffers_of(plan, barrier);
    report->kind = "planned";
    report->mechanism = mechanisms_text(plan, barrier);
    report->direction = barrier->side == SIDE_FULL ? "forward" : "backward";
    report->depth = leader->depth;
    report->count = arrivals(plan, barrier);
    report->inverted = starts_free(channel, barrier->side);
    Fit fit = fit_of(count, leader->depth, 0, report->inverted);
    report->index = builder_fitted(plan->builder, &fit, NULL, 0, false, count);
    report->phase = builder_fitted(plan->builder, &fit, NULL, 0, true, count);
    report->offset = offset_text(plan, &buffers);
    report->cadence = cadence_text(plan, channel, leader);
    uint32_t other = barrier->side == SIDE_FULL ? channel->empty : channel->full;
    report->pair = plan->builder->barriers[plan->barriers[other].report].name;
    const char **protects = ARENA_ARRAY(plan->arena, const char *, buffers.count + 1);
    for (uint32_t i = 0; i < buffers.count; i++)
        protects[i] = plan->buffers[buffers.items[i]].name;
    report->protects = protects;
    report->protect_count = buffers.count;
    add_sites(plan, barrier);
    add_bytes(plan, barrier);
    add_issues(plan, barrier);
}

static void make_barriers(Plan *plan) {
    for (uint32_t i = 0; i < plan->channel_count; i++) {
        uint32_t full = barrier_for(plan, i, SIDE_FULL), empty = barrier_for(plan, i, SIDE_EMPTY);
        plan->channels[i].full = full;
        plan->channels[i].empty = empty;
    }
    for (size_t i = 0; i < plan->buffer_count; i++)
        name_barriers(plan, &plan->buffers[i].barriers);
    for (size_t i = 0; i < plan->barrier_count; i++)
        fill_barrier(plan, &plan->barriers[i]);
}

/* ---- Edges -------------------------------------------------------------------------------------- */

/* Who passes what to whom, through one barrier. */
typedef struct Passing {
    uint64_t from, to;
    uint32_t channel, out, in;
    List buffers;
} Passing;

typedef struct Passings {
    Passing items[MOST_PARTITIONS];
    size_t count;
} Passings;

static void pass(Plan *plan, Passings *passings, uint64_t from, uint64_t to, Passing found) {
    Passing *passing = NULL;
    for (size_t i = 0; i < passings->count && !passing; i++)
        if (passings->items[i].from == from && passings->items[i].to == to)
            passing = &passings->items[i];
    if (!passing && passings->count == MOST_PARTITIONS)
        return;
    if (!passing) {
        passing = &passings->items[passings->count++];
        *passing = found;
        passing->from = from;
        passing->to = to;
    }
    list_add(plan->arena, &passing->buffers, plan->channels[found.channel].buffer);
}

/* "a, b (2 x 128x64xf16)", "a (128x64xf16), b (64x256xf16)" */
static const char *carries_text(Plan *plan, const List *buffers) {
    enum { MOST_NAMED = 8 };
    Text text = {0};
    bool same = true;
    for (uint32_t i = 1; i < buffers->count; i++)
        same &= strcmp(plan->buffers[buffers->items[i]].shape, plan->buffers[buffers->items[0]].shape) == 0;
    for (uint32_t i = 0; !same && i < buffers->count && i < MOST_NAMED; i++)
        text_addf(&text, "%s%s (%s)", i ? ", " : "", plan->buffers[buffers->items[i]].name,
                  plan->buffers[buffers->items[i]].shape);
    if (!same && buffers->count > MOST_NAMED)
        text_addf(&text, " and %u more", buffers->count - MOST_NAMED);
    if (same) {
        const char *shape = plan->buffers[buffers->items[0]].shape;
        add_names(plan, buffers, &text);
        if (*shape && buffers->count > 1)
            text_addf(&text, " (%u x %s)", buffers->count, shape);
        else if (*shape)
            text_addf(&text, " (%s)", shape);
    }
    return verdict_keep(plan->builder->verdict, &text);
}

static void add_edge(Plan *plan, const PlanBarrier *barrier, const Passing *passing) {
    const PlanChannel *channel = &plan->channels[passing->channel];
    const ReportBarrier *report = &plan->builder->barriers[barrier->report];
    ReportEdge *edge = builder_edge(plan->builder);
    edge->from = plan_partitions(plan, passing->from);
    edge->to = plan_partitions(plan, passing->to);
    edge->barrier = report->name;
    edge->mechanism = report_mechanism(mechanism_of(plan, barrier, channel));
    edge->direction = report->direction;
    edge->carries = carries_text(plan, &passing->buffers);
    edge->out = builder_place(plan->builder, plan->accesses[passing->out].op);
    edge->in = builder_place(plan->builder, plan->accesses[passing->in].op);
    if (plan->buffers[channel->buffer].value)
        edge->note = "an SSA value now: it needs memory to cross partitions";
    else if (barrier->side == SIDE_FULL && channel->around)
        edge->note = "what is read was written in the previous iteration";
}

static void add_edges(Plan *plan, const PlanBarrier *barrier) {
    Passings passings;
    passings.count = 0;
    for (uint32_t i = 0; i < barrier->channels.count; i++) {
        uint32_t index = barrier->channels.items[i];
        const PlanChannel *channel = &plan->channels[index];
        uint64_t consumer = UINT64_C(1) << channel->to;
        Passing found = {.channel = index, .out = channel->writes.items[0], .in = channel->reads.items[0]};
        if (barrier->side == SIDE_FULL)
            pass(plan, &passings, channel->from, consumer, found);
        for (uint32_t k = 0; barrier->side == SIDE_EMPTY && k < channel->overwrites.count; k++) {
            found.out = channel->reads.items[channel->reads.count - 1];
            found.in = channel->overwrites.items[k];
            pass(plan, &passings, consumer, plan->accesses[found.in].mask, found);
        }
    }
    for (size_t i = 0; i < passings.count; i++)
        add_edge(plan, barrier, &passings.items[i]);
}

/* ---- Buffers ------------------------------------------------------------------------------------ */

static ReportPlace *places_of(Plan *plan, const PlanBuffer *buffer, bool writers, size_t *count) {
    ReportPlace *places = ARENA_ARRAY(plan->arena, ReportPlace, buffer->count + 1);
    *count = 0;
    for (uint32_t i = buffer->first; i < buffer->first + buffer->count; i++) {
        const PlanAccess *access = &plan->accesses[i];
        if (!(writers ? access->writes : access->reads))
            continue;
        ReportPlace *place = &places[(*count)++];
        *place = builder_place(plan->builder, access->op);
        if (access->tma && writers)
            place->detail = "TMA load";
        else if (access->mma && !writers)
            place->detail = access->accumulates ? "MMA accumulator" : "MMA operand";
        else if (access->mma)
            place->detail = access->accumulates ? "MMA result, accumulated" : "MMA result, not accumulated";
    }
    return places;
}

static void add_buffer_to_report(Plan *plan, PlanBuffer *buffer) {
    const Value *value = buffer->value ? buffer->value : &buffer->op->results[0];
    ReportBuffer *report = builder_buffer(plan->builder, buffer->op, value, buffer->name, buffer->space);
    buffer->report = plan->builder->buffer_count - 1;
    report->id = buffer->id;
    report->offset = buffer->offset;
    report->depth = buffer->depth;
    report->size = buffer->size;
    if (buffer->size >= 0 && buffer->size <= INT32_MAX && !buffer->value)
        report->size *= builder_planned_slots(plan->builder, buffer->op);
    report->writers = places_of(plan, buffer, true, &report->writer_count);
    report->readers = places_of(plan, buffer, false, &report->reader_count);
}

static void name_protectors(Plan *plan, const PlanBuffer *buffer) {
    Text text = {0};
    List seen = {0};
    for (uint32_t i = 0; i < buffer->channels; i++) {
        const PlanChannel *channel = &plan->channels[buffer->channel + i];
        uint32_t both[] = {channel->full, channel->empty};
        for (int k = 0; k < 2; k++) {
            uint32_t before = seen.count;
            list_add(plan->arena, &seen, both[k]);
            if (seen.count > before)
                text_addf(&text, "%s%s", text.size ? ", " : "",
                          plan->builder->barriers[plan->barriers[both[k]].report].name);
        }
    }
    plan->builder->buffers[buffer->report].barrier = verdict_keep(plan->builder->verdict, &text);
}

void report_plan(Builder *builder) {
    if (builder->form == PARTITION_NONE)
        return;
    Plan *plan = ARENA_NEW(builder->arena, Plan);
    plan->builder = builder;
    plan->module = builder->module;
    plan->arena = plan->loop_numbers.arena = builder->arena;
    plan_collect(plan);
    plan_channels(plan);
    for (size_t i = 0; i < plan->buffer_count; i++)
        add_buffer_to_report(plan, &plan->buffers[i]);
    make_barriers(plan);
    for (size_t i = 0; i < plan->barrier_count; i++)
        add_edges(plan, &plan->barriers[i]);
    for (size_t i = 0; i < plan->buffer_count; i++)
        name_protectors(plan, &plan->buffers[i]);
    plan_coverage(plan);
}
