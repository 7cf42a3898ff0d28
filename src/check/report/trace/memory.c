/* Accesses: who was the last to use each piece of shared memory, and by which barrier the next one knows of it. */
#include "check/report/trace/internal.h"

#include "base/bisect.h"

/* ---- What warps know of each other --------------------------------------------------------------- */

static Knows *knows_of(Portrait *portrait, uint32_t who, uint32_t whom) {
    return &portrait->knows[(size_t)who * portrait->actor_count + whom];
}

static Link *link_of(Portrait *portrait, uint32_t from, uint32_t to, uint32_t meeting) {
    Knows *knows = knows_of(portrait, to, from);
    for (uint32_t at = knows->link; at; at = portrait->links[at - 1].next)
        if (portrait->links[at - 1].meeting == meeting)
            return &portrait->links[at - 1];
    Link *link = ARENA_PUSH(portrait->arena, portrait->links, portrait->link_count, portrait->link_capacity);
    *link = (Link){.from = from, .to = to, .meeting = meeting, .next = knows->link};
    knows->link = portrait->link_count;
    return link;
}

void portrait_learn(Portrait *portrait, const Arrival *arrival, uint32_t to, uint32_t meeting, const PtxCode *in) {
    Link *link = link_of(portrait, arrival->actor, to, meeting);
    Knows *knows = knows_of(portrait, to, arrival->actor);
    if (!link->out || (arrival->flies && !link->flies)) /* a copy rather than who announces it */
        link->out = arrival->code;
    link->flies |= arrival->flies;
    link->in = link->in ? link->in : in;
    if (!knows->count || knows->items[knows->count - 1].order < arrival->order)
        *ARENA_PUSH(portrait->arena, knows->items, knows->count, knows->capacity) = (Learned){arrival->order, meeting};
}

/* The barrier by which `to` first knew what `from` did then; NULL: none that both were at. */
static Link *link_since(Portrait *portrait, uint32_t from, uint32_t order, uint32_t to) {
    const Knows *knows = knows_of(portrait, to, from);
    uint32_t low;
    BISECT(low, 0, knows->count, knows->items[low].order < order);
    return low < knows->count ? link_of(portrait, from, to, knows->items[low].meeting) : NULL;
}

static void carry(Portrait *portrait, uint32_t from, uint32_t order, uint32_t to, bool again, uint32_t granule) {
    Link *link = link_since(portrait, from, order, to);
    if (!link)
        return;
    uint64_t **set = &link->carries[again];
    if (!*set)
        *set = ARENA_ARRAY(portrait->arena, uint64_t, portrait->granule_count / 64 + 1);
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

static void read_granule(Portrait *portrait, Granule *granule, uint32_t number, uint32_t actor) {
    unsigned at = 0;
    if (granule->writer && (granule->writer != actor + 1 || granule->writer_flies))
        carry(portrait, granule->writer - 1, granule->written, actor, false, number);
    while (at < GRANULE_USERS && granule->readers[at] != actor + 1 && granule->readers[at])
        at++;
    if (at == GRANULE_USERS)
        at = granule->next++ % GRANULE_USERS;
    granule->readers[at] = actor + 1;
    granule->reads[at] = portrait->order;
}

static void write_granule(Portrait *portrait, Granule *granule, uint32_t number, uint32_t actor, bool flies) {
    for (unsigned i = 0; i < GRANULE_USERS && granule->readers[i]; i++)
        if (granule->readers[i] != actor + 1 || flies)
            carry(portrait, granule->readers[i] - 1, granule->reads[i], actor, true, number);
    memset(granule->readers, 0, sizeof granule->readers);
    granule->writer = actor + 1;
    granule->written = portrait->order;
    granule->writer_flies = flies;
}

static void access_shared(Portrait *portrait, const PtxEvent *event, const PtxSpot *spot, uint64_t bytes) {
    uint32_t actor = portrait_actor(portrait, event->warp), code = code_number(portrait, event->code);
    uint32_t rank = spot->block->cta % portrait->check->machine->cluster_size;
    bool reads = event->access.kind != EFFECT_WRITE, writes = event->access.kind != EFFECT_READ;
    uint64_t begin = spot->block->base + spot->offset;
    for (uint64_t i = begin / GRANULE; i <= (begin + bytes - 1) / GRANULE && i < portrait->granule_count; i++) {
        Granule *granule = &portrait->granules[rank][i];
        if (reads) {
            touch(&portrait->touched[i], 2 * code + 1);
            read_granule(portrait, granule, (uint32_t)i, actor);
        }
        if (writes) {
            touch(&portrait->touched[i], 2 * code + 2);
            write_granule(portrait, granule, (uint32_t)i, actor, event->flight != NULL);
        }
    }
}

/* ---- Events -------------------------------------------------------------------------------------- */

static uint8_t does(const PtxEvent *event, const PtxBlock *block) {
    bool shared = block->space == PTX_SPACE_SHARED || block->space == PTX_SPACE_CLUSTER;
    uint8_t all = event->access.kind == EFFECT_READ    ? DOES_READ
                  : event->access.kind == EFFECT_WRITE ? DOES_WRITE
                                                       : DOES_READ | DOES_WRITE;
    if (!event->flight || !(all & DOES_WRITE))
        return all;
    return all | (shared ? DOES_COPY_IN : block->space == PTX_SPACE_TENSOR ? DOES_MULTIPLY : DOES_COPY_OUT);
}

void portrait_access(Portrait *portrait, const PtxEvent *event) {
    uint32_t code = code_number(portrait, event->code);
    bool by_lanes = !event->flight || event->flight->lanes;
    for (uint32_t i = 0; i < event->spot_count; i++) {
        const PtxSpot *spot = &event->spots[i];
        uint64_t bytes = event->sizes ? event->sizes[i] : event->access.bytes;
        if (!spot->block || !bytes || (by_lanes && i < PTX_LANES && !(event->lanes >> i & 1)))
            continue;
        portrait->does[code] |= does(event, spot->block);
        if (spot->block->space == PTX_SPACE_SHARED || spot->block->space == PTX_SPACE_CLUSTER)
            access_shared(portrait, event, spot, bytes);
        else
            portrait_reach(portrait, event, spot, bytes);
    }
    if (portrait->found[code])
        portrait_draw(portrait, event, 0);
}
