/* Accesses: who was the last to use each piece of shared memory, and by which barrier the next one knows of it. */
#include "check/report/trace/internal.h"

#include "base/bisect.h"

/* ---- What warps know of each other --------------------------------------------------------------- */

static Knows *knows_of(TraceReport *trace_report, uint32_t who, uint32_t whom) {
    return &trace_report->knows[(size_t)who * trace_report->actor_count + whom];
}

static Link *link_of(TraceReport *trace_report, uint32_t from, uint32_t to, uint32_t barrier_instance) {
    Knows *knows = knows_of(trace_report, to, from);
    for (uint32_t at = knows->link; at; at = trace_report->links[at - 1].next)
        if (trace_report->links[at - 1].barrier_instance == barrier_instance)
            return &trace_report->links[at - 1];
    Link *link =
        ARENA_PUSH(trace_report->arena, trace_report->links, trace_report->link_count, trace_report->link_capacity);
    *link = (Link){.from = from, .to = to, .barrier_instance = barrier_instance, .next = knows->link};
    knows->link = trace_report->link_count;
    return link;
}

void trace_report_learn(TraceReport *trace_report, const Arrival *arrival, uint32_t to, uint32_t barrier_instance,
                        const PtxCode *in) {
    Link *link = link_of(trace_report, arrival->actor, to, barrier_instance);
    Knows *knows = knows_of(trace_report, to, arrival->actor);
    if (!link->out || (arrival->flies && !link->flies)) /* a copy rather than who announces it */
        link->out = arrival->code;
    link->flies |= arrival->flies;
    link->in = link->in ? link->in : in;
    if (!knows->count || knows->items[knows->count - 1].order < arrival->order)
        *ARENA_PUSH(trace_report->arena, knows->items, knows->count, knows->capacity) =
            (TraceLearned){arrival->order, barrier_instance};
}

/* The barrier by which `to` first knew what `from` did then; NULL: none that both were at. */
static Link *link_since(TraceReport *trace_report, uint32_t from, uint32_t order, uint32_t to) {
    const Knows *knows = knows_of(trace_report, to, from);
    uint32_t low;
    BISECT(low, 0, knows->count, knows->items[low].order < order);
    return low < knows->count ? link_of(trace_report, from, to, knows->items[low].barrier_instance) : NULL;
}

static void carry(TraceReport *trace_report, uint32_t from, uint32_t order, uint32_t to, bool again, uint32_t granule) {
    Link *link = link_since(trace_report, from, order, to);
    if (!link)
        return;
    uint64_t **set = &link->carries[again];
    if (!*set)
        *set = ARENA_ARRAY(trace_report->arena, uint64_t, trace_report->granule_count / 64 + 1);
    (*set)[granule / 64] |= UINT64_C(1) << granule % 64;
}

/* ---- Granules ------------------------------------------------------------------------------------ */

static void touch(Touched *touched, uint32_t user) {
    uint8_t at = 0;
    while (at < touched->count && touched->users[at] < user)
        at++;
    if (touched->count == GRANULE_USERS || (at < touched->count && touched->users[at] == user))
        return;
    memmove(&touched->users[at + 1], &touched->users[at], (touched->count - at) * sizeof *touched->users);
    touched->users[at] = user;
    touched->count++;
}

static void read_granule(TraceReport *trace_report, Granule *granule, uint32_t number, uint32_t actor) {
    unsigned at = 0;
    if (granule->writer && (granule->writer != actor + 1 || granule->writer_flies))
        carry(trace_report, granule->writer - 1, granule->written, actor, false, number);
    while (at < GRANULE_USERS && granule->readers[at] != actor + 1 && granule->readers[at])
        at++;
    if (at == GRANULE_USERS)
        at = granule->next++ % GRANULE_USERS;
    granule->readers[at] = actor + 1;
    granule->reads[at] = trace_report->order;
}

static void write_granule(TraceReport *trace_report, Granule *granule, uint32_t number, uint32_t actor, bool flies) {
    for (unsigned i = 0; i < GRANULE_USERS && granule->readers[i]; i++)
        if (granule->readers[i] != actor + 1 || flies)
            carry(trace_report, granule->readers[i] - 1, granule->reads[i], actor, true, number);
    memset(granule->readers, 0, sizeof granule->readers);
    granule->writer = actor + 1;
    granule->written = trace_report->order;
    granule->writer_flies = flies;
}

static void access_shared(TraceReport *trace_report, const PtxEvent *event, const PtxLocation *location,
                          uint64_t bytes) {
    uint32_t actor = trace_report_actor(trace_report, event->warp), code = code_number(trace_report, event->code);
    uint32_t rank = location->block->cta % trace_report->check->machine->cluster_size;
    bool reads = event->access.kind != KIND_WRITE, writes = event->access.kind != KIND_READ;
    uint64_t begin = location->block->base + location->offset;
    for (uint64_t i = begin / GRANULE; i <= (begin + bytes - 1) / GRANULE && i < trace_report->granule_count; i++) {
        Granule *granule = &trace_report->granules[rank][i];
        if (reads) {
            touch(&trace_report->touched[i], 2 * code + 1);
            read_granule(trace_report, granule, (uint32_t)i, actor);
        }
        if (writes) {
            touch(&trace_report->touched[i], 2 * code + 2);
            write_granule(trace_report, granule, (uint32_t)i, actor, event->outstanding != NULL);
        }
    }
}

/* ---- Events -------------------------------------------------------------------------------------- */

static uint8_t does(const PtxEvent *event, const PtxBlock *block) {
    bool shared = block->space == PTX_SPACE_SHARED || block->space == PTX_SPACE_CLUSTER;
    uint8_t all = event->access.kind == KIND_READ    ? DOES_READ
                  : event->access.kind == KIND_WRITE ? DOES_WRITE
                                                     : DOES_READ | DOES_WRITE;
    if (!event->outstanding || !(all & DOES_WRITE))
        return all;
    return all | (shared ? DOES_COPY_IN : block->space == PTX_SPACE_TENSOR ? DOES_MULTIPLY : DOES_COPY_OUT);
}

void trace_report_access(TraceReport *trace_report, const PtxEvent *event) {
    uint32_t code = code_number(trace_report, event->code);
    bool by_lanes = !event->outstanding || event->outstanding->lanes;
    for (uint32_t i = 0; i < event->location_count; i++) {
        const PtxLocation *location = &event->locations[i];
        uint64_t bytes = event->sizes ? event->sizes[i] : event->access.bytes;
        if (!location->block || !bytes || (by_lanes && i < PTX_LANES && !(event->lanes >> i & 1)))
            continue;
        trace_report->does[code] |= does(event, location->block);
        if (location->block->space == PTX_SPACE_SHARED || location->block->space == PTX_SPACE_CLUSTER)
            access_shared(trace_report, event, location, bytes);
        else
            trace_report_reach(trace_report, event, location, bytes);
    }
    if (trace_report->found[code])
        trace_report_draw(trace_report, event, 0);
}
