/* Runs of records that do not access global memory: the prepass needs no record of them. They are identified by their
 * bytes and by the values of the slots that they use, of which there are few.
 *
 * A run is digested if none of its sites accesses global memory, is strong, stores what is recorded, or waits by a
 * token. Which runs are is the same for all clusters, so that equal sums still mean equal records. */
#include "check/replay/prepass.h"

/* Of the site that a run begins with. */
typedef struct PrepassRun {
    bool digested;
    uint32_t count, capacity;
    RecordFrom *uses; /* slots, and what is added by where the warp is: each once */
} PrepassRun;

static bool is_quiet(const PlaySite *site) {
    PtxSpace space = site->access.space;
    return site->code && !site->site->strong && !site->data && !site->copies && !site->state_part &&
           (site->plain ? space != PTX_SPACE_GLOBAL && space != PTX_SPACE_UNKNOWN : !site->global);
}

static bool same_place(const RecordPlaced *one, const RecordPlaced *other) {
    return one == other ||
           (one && other && one->rank == other->rank && memcmp(one->ctaid, other->ctaid, sizeof one->ctaid) == 0 &&
            one->warps == other->warps &&
            (!one->warps || memcmp(one->of_warp, other->of_warp, one->warps * sizeof *one->of_warp) == 0));
}

static void add_use(PrepassRun *run, Arena *arena, RecordFrom use) {
    for (uint32_t i = 0; i < run->count; i++)
        if (run->uses[i].source == use.source && run->uses[i].place == use.place &&
            same_place(run->uses[i].placed, use.placed))
            return;
    *ARENA_PUSH(arena, run->uses, run->count, run->capacity) = use;
}

static void add_uses(PrepassRun *run, Arena *arena, const RecordFrom *from) {
    if (from->source == RECORD_FROM_SLOT)
        add_use(run, arena, (RecordFrom){.source = RECORD_FROM_SLOT, .place = from->place});
    if (from->source == RECORD_FROM_SLOT && from->also)
        add_use(run, arena, (RecordFrom){.source = RECORD_FROM_SLOT, .place = from->also - 1});
    if (from->placed)
        add_use(run, arena, (RecordFrom){.source = RECORD_FROM_LAUNCH, .placed = from->placed});
}

const struct PrepassRun *prepass_runs(const Prepass *prepass) {
    const PlaySites *sites = prepass->player->sites;
    Arena *arena = &prepass->player->arena;
    PrepassRun *runs = ARENA_ARRAY(arena, PrepassRun, sites->sites.count + 1);
    for (uint32_t i = 0; i < sites->sites.count && !prepass->fetches; i++) {
        const RecordShape *shape = &sites->shapes[i];
        runs[i].digested = shape->run && shape->run <= sites->sites.count - i;
        for (uint32_t k = i; runs[i].digested && k < i + shape->run; k++) {
            runs[i].digested = is_quiet(&sites->items[k]);
            for (unsigned part = 0; part < sites->shapes[k].parts && sites->shapes[k].from; part++)
                add_uses(&runs[i], arena, &sites->shapes[k].from[part]);
        }
    }
    return runs;
}

static void mix_bytes(PrepassSum *sum, const uint8_t *bytes, uint32_t count) {
    for (uint32_t i = 0; i < count; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, sizeof word);
        prepass_mix(sum, word);
    }
}

bool prepass_read_run(const Prepass *prepass, RecordStream *stream, PrepassSum *sum) {
    RecordRunBytes bytes;
    if (!record_peek_run(stream, &bytes) || !prepass->runs[bytes.first].digested)
        return false;
    const PrepassRun *run = &prepass->runs[bytes.first];
    PrepassSum now = *sum;
    for (uint32_t i = 0; i < run->count; i++) {
        uint64_t value;
        const uint8_t *corners;
        if (!record_run_value(stream, &run->uses[i], &value, &corners))
            return false;
        prepass_mix(&now, value);
        if (corners)
            mix_bytes(&now, corners, RECORD_CORNER_LANES * 8);
    }
    if (prepass->compares)
        mix_bytes(&now, bytes.bytes, bytes.size);
    *sum = now;
    record_pass_run(stream);
    return true;
}
