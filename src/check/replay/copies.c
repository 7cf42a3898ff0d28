/* Copies, memsets, allocations and frees that may have run at the same time as the launch that is played: whether it
 * accesses their memory. And memory that was freed before.
 *
 * A kernel that reads memory by strong accesses which a copy writes may wait for that one so; and launches that run
 * beside each other may order each other: then it is not known whether the two race. */
#include "check/replay/concurrent.h"
#include "check/replay/internal.h"

#include "trace/copies.h"

enum { MOST_HITS = 64, MOST_RANGES = 1024 };

/* Memory of a copy. */
typedef struct CopyRange {
    RecordingArea area;
    uint64_t end;
    uint32_t copy;
    bool writes, freed; /* freed: before the launch, which is to access nothing of it */
} CopyRange;

typedef struct CopyHit {
    uint32_t range;
    OutsideRace race;
} CopyHit;

typedef struct PlayCopies {
    const RecordingCopies *all;
    CopyRange *ranges;
    uint32_t count, capacity;
    CopyHit *hits; /* one for each range and instruction */
    uint32_t hit_count, hit_capacity;
    bool polled; /* memory that one of them writes is read strongly */
    bool maybe;  /* something could order them that nothing has seen */
    bool full;   /* there are more */
} PlayCopies;

/* ---- Which ones ----------------------------------------------------------------------------------- */

static void add_range(PlayCopies *copies, Arena *arena, uint32_t copy, const RecordingArea *area, bool writes) {
    CopyRange range = {*area, recording_area_end(area), copy, writes, false};
    for (uint32_t i = 0; i < copies->count; i++) /* the first of those that are alike is enough */
        if (memcmp(&copies->ranges[i].area, area, sizeof *area) == 0 && copies->ranges[i].writes == writes)
            return;
    copies->full |= copies->count == MOST_RANGES;
    if (area->bytes && !copies->full)
        *ARENA_PUSH(arena, copies->ranges, copies->count, copies->capacity) = range;
}

/* Memory of a pool, by the last call that was about it. */
typedef struct CopyPooled {
    RecordingMemory memory;
    uint32_t copy;
    bool freed, allocated; /* allocated: by a call before that */
} CopyPooled;

static bool overlap(const RecordingMemory *one, const RecordingMemory *other) {
    return one->base < other->base + other->bytes && other->base < one->base + one->bytes;
}

static CopyPooled *pooled_at(CopyPooled *pooled, uint32_t count, const RecordingMemory *memory) {
    for (uint32_t i = 0; i < count; i++)
        if (overlap(&pooled[i].memory, memory))
            return &pooled[i];
    return NULL;
}

static bool is_there(const Recording *recording, const RecordingMemory *memory) {
    for (size_t i = 0; i < recording->memory_count; i++)
        if (overlap(&recording->memory[i], memory))
            return true;
    return false;
}

/* What streams have freed last, and nothing has allocated again: from the last call back to that which had allocated
 * it. */
static void find_freed(const Recording *recording, PlayCopies *copies, Arena *arena) {
    enum { MOST_BACK = 4096, MOST_POOLED = 256 };
    CopyPooled *pooled = ARENA_ARRAY(arena, CopyPooled, MOST_POOLED);
    uint32_t count = 0, calls = 0;
    for (uint32_t i = copies->all->count; i-- > 0 && calls < MOST_BACK;) {
        const RecordingCopy *copy = &copies->all->items[i];
        bool frees = copy->flags & RECORDING_COPY_FREES, allocates = copy->flags & RECORDING_COPY_ALLOCATES;
        if ((!frees && !allocates) || copy->launches > recording->launch.number)
            continue;
        calls++;
        RecordingMemory memory = {copy->writes.base, copy->writes.bytes};
        CopyPooled *known = pooled_at(pooled, count, &memory);
        if (known)
            known->allocated |= allocates && known->memory.base == memory.base;
        else if (count < MOST_POOLED && (allocates || recording_behind_copy(recording, copy)))
            pooled[count++] = (CopyPooled){memory, i, frees, false};
    }
    for (uint32_t i = 0; i < count && copies->count < MOST_RANGES; i++)
        if (pooled[i].freed && pooled[i].allocated && !is_there(recording, &pooled[i].memory)) {
            const RecordingArea *area = &copies->all->items[pooled[i].copy].writes;
            *ARENA_PUSH(arena, copies->ranges, copies->count, copies->capacity) =
                (CopyRange){*area, recording_area_end(area), pooled[i].copy, true, true};
        }
}

void copies_find(Player *player) {
    const Recording *recording = player->recording;
    const RecordingCopies *all = recording->copies;
    Arena *arena = &player->check->arena;
    PlayCopies *copies = all && recording->order ? ARENA_NEW(arena, PlayCopies) : NULL;
    if (!copies)
        return;
    *copies = (PlayCopies){.all = all};
    if (all->broken)
        verdict_incomplete(
            player->check->verdict, "", 0,
            "the file with the copies of the program cannot be read to its end: races with them were not "
            "all looked for");
    for (uint32_t i = 0; i < all->count; i++) {
        Beside beside = recording_beside_copy(recording, &all->items[i], all->known[i]);
        if (beside != BESIDE_BOTH && beside != BESIDE_MAYBE)
            continue;
        copies->maybe |= beside == BESIDE_MAYBE;
        add_range(copies, arena, i, &all->items[i].reads, false);
        add_range(copies, arena, i, &all->items[i].writes, true);
    }
    find_freed(recording, copies, arena);
    player->copies = copies->count ? copies : NULL;
}

bool copies_spare_arrays(const Player *player) {
    const Recording *recording = player->recording;
    const PlayCopies *copies = player->copies;
    bool spares = recording->copies && !recording->copies->broken && recording->order && !(copies && copies->full);
    for (uint32_t i = 0; copies && i < copies->count && spares; i++)
        spares = !copies->ranges[i].writes || copies->ranges[i].area.base < RECORDING_OF_ARRAYS;
    return spares;
}

bool copies_near(const Player *player, uint64_t least, uint64_t end) {
    const PlayCopies *copies = player->copies;
    for (uint32_t i = 0; i < copies->count; i++)
        if (least < copies->ranges[i].end && end > copies->ranges[i].area.base)
            return true;
    return false;
}

/* ---- What it accesses ----------------------------------------------------------------------------- */

static CopyHit *hit_of(Player *player, uint32_t range, const PtxEvent *event) {
    PlayCopies *copies = player->copies;
    for (uint32_t i = 0; i < copies->hit_count; i++)
        if (copies->hits[i].range == range && copies->hits[i].race.side.code == event->code)
            return &copies->hits[i];
    if (copies->hit_count == MOST_HITS)
        return NULL;
    CopyHit *hit = ARENA_PUSH(&player->check->arena, copies->hits, copies->hit_count, copies->hit_capacity);
    *hit = (CopyHit){.range = range};
    return hit;
}

static void see_bytes(Player *player, const PtxEvent *event, uint32_t lane, PtxLocation location, uint32_t bytes) {
    PlayCopies *copies = player->copies;
    uint64_t begin = location.block->base + location.offset, end = begin + bytes;
    for (uint32_t i = 0; i < copies->count; i++) {
        const CopyRange *range = &copies->ranges[i];
        bool reads = event->access.kind == KIND_READ;
        RecordingMemory both;
        if ((reads && !range->writes) || !recording_area_meets(&range->area, begin, end, &both))
            continue;
        copies->polled |= !range->freed && event->access.strong && event->access.kind != KIND_WRITE && range->writes;
        CopyHit *hit = hit_of(player, i, event);
        if (hit && !hit->race.times++) {
            PtxBlock *block = ARENA_NEW(&player->check->arena, PtxBlock);
            ptx_anchored(player->machine, both.base, block);
            hit->race.side = (RaceSide){.code = event->code,
                                        .cta = event->warp->cta->number,
                                        .thread = event->warp->index * PTX_LANES + lane,
                                        .asynchronous = event->outstanding != NULL,
                                        .access = event->access};
            hit->race.location = (PtxLocation){block, both.base - block->base};
            hit->race.bytes = (uint32_t)both.bytes;
            hit->race.writes = range->writes;
        }
    }
}

void copies_see(Player *player, const PtxEvent *event) {
    bool own = !event->outstanding || event->outstanding->group == GROUP_CP_ASYNC;
    for (uint32_t i = 0; i < (own ? PTX_LANES : event->location_count); i++) {
        uint32_t bytes = event->sizes ? event->sizes[i] : event->access.bytes;
        if ((own && !(event->lanes >> i & 1)) || !bytes || event->locations[i].block->space != PTX_SPACE_GLOBAL)
            continue;
        see_bytes(player, event, own ? i : event->outstanding->lane, event->locations[i], bytes);
    }
}

/* ---- What is told --------------------------------------------------------------------------------- */

void copies_report(const Player *player) {
    PlayCopies *copies = player->copies;
    const ThreadsCheck *check = player->check;
    if (copies && copies->full)
        verdict_incomplete(check->verdict, "", 0,
                           "there are too many copies that may have run at the same time: not all of them were "
                           "checked");
    for (uint32_t i = 0; copies && i < copies->hit_count; i++) {
        OutsideRace *race = &copies->hits[i].race;
        const RecordingCopy *copy = &copies->all->items[copies->ranges[copies->hits[i].range].copy];
        race->returned = !strstr(copy->name, "Async");
        race->freed = copies->ranges[copies->hits[i].range].freed;
        race->later = copy->launches > player->recording->launch.number;
        race->noun = copy->flags & RECORDING_COPY_ALLOCATES ? "allocation"
                     : copy->flags & RECORDING_COPY_FREES   ? "free"
                                                            : NULL;
        race->what = verdict_text(check->verdict, "%s %llu of the program (%.*s)", race->noun ? "call" : "copy",
                                  (unsigned long long)copy->number, (int)strcspn(copy->name, "_"), copy->name);
        if (race->freed)
            threads_race_outside(check, race);
        else if (copies->polled || copies->maybe || check->options->together == TOGETHER_PLAYED)
            verdict_incomplete(
                check->verdict, verdict_text(check->verdict, "%.*s", STR_ARG(race->side.code->form->text)),
                code_line(check->program, race->side.code),
                "it accesses memory of %s, and whether the two can run at the same time is not known", race->what);
        else
            threads_race_outside(check, race);
    }
}
