/* Follows the chunks that an instrumented kernel has left. */
#include "walk.h"

#include "record/record.h"

#include <stdio.h>
#include <string.h>

enum { FURTHER = 1024, TAG = 0x5a };

typedef struct Walk {
    PtxMachine *machine;
    const Sites *sites;
    PtxBlock *launch, *first, *more;
    uint32_t chunk;
    uint64_t records;
} Walk;

static uint32_t threads_of(const PtxLaunch *launch) {
    return launch->block[0] * launch->block[1] * launch->block[2];
}

static uint64_t warps_of(const PtxLaunch *launch) {
    uint64_t ctas = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    return ctas * ((threads_of(launch) + RECORD_LANES - 1) / RECORD_LANES);
}

/* ---- Memory ---- */

static uint64_t add_buffer(PtxLaunch *launch, const char *name, uint64_t bytes, const uint8_t *data) {
    uint64_t address = PTX_BUFFERS_FIRST;
    for (uint32_t i = 0; i < launch->buffer_count; i++) {
        uint64_t end = launch->buffers[i].address + launch->buffers[i].bytes;
        while (address < end)
            address += PTX_BUFFERS_APART;
    }
    launch->buffers[launch->buffer_count++] = (PtxBuffer){.name = name,
                                                          .parameter = PTX_NONE,
                                                          .address = address,
                                                          .bytes = bytes,
                                                          .data = data,
                                                          .data_bytes = data ? bytes : 0,
                                                          .zero = true};
    return address;
}

bool add_recording(Arena *arena, const PtxProgram *program, PtxLaunch *launch, uint32_t chunk, const char **problem) {
    const PtxFunction *function = &program->module->functions[program->entry];
    PtxBuffer *buffers = ARENA_ARRAY(arena, PtxBuffer, launch->buffer_count + 4);
    RecordLaunch *block = ARENA_NEW(arena, RecordLaunch);
    if (launch->buffer_count)
        memcpy(buffers, launch->buffers, launch->buffer_count * sizeof *buffers);
    launch->buffers = buffers;
    uint64_t address = add_buffer(launch, "weir launch", sizeof *block, (const uint8_t *)block);
    block->first = add_buffer(launch, "weir first", warps_of(launch) * chunk, NULL);
    block->more_count = (uint32_t)warps_of(launch) * RECORD_LANES + FURTHER;
    block->more = add_buffer(launch, "weir more", (uint64_t)(block->more_count + 1) * chunk, NULL);
    block->tag = (uint32_t)TAG << 24;
    block->tickets = add_buffer(launch, "weir tickets", UINT64_C(8) << RECORD_TICKETS_LOG2, NULL);
    if (!function->parameter_count) {
        *problem = "it has no parameter";
        return false;
    }
    uint64_t at = program->seats[function->parameters + function->parameter_count - 1].at;
    memcpy(launch->parameters + at, &address, sizeof address);
    memset(launch->known + at, BYTE_KNOWN, sizeof address);
    return true;
}

static PtxBlock *block_named(PtxMachine *machine, const char *name) {
    for (uint32_t i = 0; i < machine->block_count; i++)
        if (machine->blocks[i].name && !strcmp(machine->blocks[i].name, name))
            return &machine->blocks[i];
    return NULL;
}

static uint32_t word_at(const Walk *walk, PtxBlock *block, uint64_t offset) {
    bool known = true;
    return offset + 4 <= block->size ? (uint32_t)ptx_load(walk->machine, (PtxSpot){block, offset}, 4, &known) : 0;
}

/* ---- Chunks ---- */

/* Units that stand behind a head. */
static uint32_t behind(const Walk *walk, uint32_t word, uint32_t mask, uint32_t parts_left) {
    const Site *site = &walk->sites->items[record_site(word)];
    uint32_t lanes = (uint32_t)__builtin_popcount(mask);
    switch (record_kind(word)) {
    case RECORD_LIST:
        return (lanes * site->parts[site->part_count - parts_left].bits / 8 + RECORD_UNIT - 1) / RECORD_UNIT;
    case RECORD_LANE:
        return (8 * (site->part_count + site->ticketed - 1) + RECORD_UNIT - 1) / RECORD_UNIT;
    case RECORD_MAP:
        return 128 / RECORD_UNIT;
    default:
        return 0;
    }
}

static const char *wrong(const char *what, uint32_t word) {
    static char text[120];
    snprintf(text, sizeof text, "record %08x: %s", word, what);
    return text;
}

typedef struct Chain {
    PtxBlock *block;
    uint64_t chunk;      /* where it begins */
    uint32_t at;         /* in it */
    uint32_t parts_left; /* of the site that is being told */
    uint32_t ended;      /* lanes */
} Chain;

static const char *check_head(const Walk *walk, Chain *chain, uint32_t word, uint32_t mask) {
    RecordKind kind = record_kind(word);
    if (kind < RECORD_CHUNK || kind > RECORD_GIVES_UP)
        return wrong("no such kind", word);
    if (kind == RECORD_CHUNK || kind == RECORD_NEXT)
        return NULL;
    if (kind == RECORD_STAMP)
        return chain->parts_left ? wrong("in the middle of a site", word) : NULL;
    if (record_site(word) >= walk->sites->count)
        return wrong("no such site", word);
    const Site *site = &walk->sites->items[record_site(word)];
    if (kind == RECORD_EXIT)
        chain->ended |= mask;
    if ((kind == RECORD_EXIT) != site->ends || (kind == RECORD_LANE) != site->each)
        return wrong("of another kind of site", word);
    if (kind == RECORD_MAP && !site->map)
        return wrong("a map that nobody has", word);
    return NULL;
}

/* One record; false at the end, or if something is wrong. */
static bool step(Walk *walk, Chain *chain, const char **problem) {
    uint64_t place = chain->chunk + chain->at;
    uint32_t word = word_at(walk, chain->block, place), mask = word_at(walk, chain->block, place + 4);
    if (chain->at >= walk->chunk || record_tag(word) != TAG)
        return false;
    if ((*problem = check_head(walk, chain, word, mask)))
        return false;
    RecordKind kind = record_kind(word);
    if (kind == RECORD_NEXT) {
        uint32_t number = word_at(walk, chain->block, place + 8);
        chain->block = walk->more;
        chain->chunk = (uint64_t)number * walk->chunk;
        chain->at = 0;
        if (number >= walk->more->size / walk->chunk - 1 ||
            record_kind(word_at(walk, walk->more, chain->chunk)) != RECORD_CHUNK)
            *problem = wrong("leads nowhere", word);
        return !*problem;
    }
    bool told = kind == RECORD_PLAIN || kind == RECORD_WARP || kind == RECORD_UNIFORM || kind == RECORD_LIST;
    if (told && !chain->parts_left)
        chain->parts_left = walk->sites->items[record_site(word)].part_count;
    chain->at += RECORD_UNIT * (1 + behind(walk, word, mask, chain->parts_left));
    chain->parts_left -= told && chain->parts_left;
    walk->records++;
    return true;
}

static const char *follow(Walk *walk, PtxBlock *block, uint64_t chunk, uint32_t *ended) {
    Chain chain = {.block = block, .chunk = chunk};
    const char *problem = NULL;
    while (step(walk, &chain, &problem))
        ;
    *ended |= chain.ended;
    return problem ? problem : chain.parts_left ? "a site ends before its last part" : NULL;
}

/* The chunks of one warp: lane 0's, and those that other lanes began with. */
static const char *follow_warp(Walk *walk, uint32_t warp, uint32_t lanes) {
    uint32_t ended = 0, asked = word_at(walk, walk->launch, offsetof(RecordLaunch, next));
    const char *problem = follow(walk, walk->first, (uint64_t)warp * walk->chunk, &ended);
    for (uint32_t i = 0; i < asked && !problem; i++) {
        uint64_t at = (uint64_t)i * walk->chunk;
        uint32_t word = word_at(walk, walk->more, at);
        if (word == record_word(TAG, RECORD_CHUNK, 1) && word_at(walk, walk->more, at + 4) == warp)
            problem = follow(walk, walk->more, at, &ended);
    }
    return problem ? problem : ended != lanes ? "not all lanes have ended" : NULL;
}

const char *walk_recording(PtxMachine *machine, const Sites *sites) {
    Walk walk = {.machine = machine, .sites = sites, .chunk = sites->chunk};
    walk.launch = block_named(machine, "weir launch");
    walk.first = block_named(machine, "weir first");
    walk.more = block_named(machine, "weir more");
    uint32_t threads = threads_of(machine->launch), warps = (threads + RECORD_LANES - 1) / RECORD_LANES;
    if (!walk.launch || !walk.first || !walk.more)
        return "there is no memory for records";
    if (word_at(&walk, walk.launch, offsetof(RecordLaunch, dropped)))
        return wrong("further chunks asked for, some dropped",
                     word_at(&walk, walk.launch, offsetof(RecordLaunch, next)));
    for (uint64_t i = 0; i < warps_of(machine->launch); i++) {
        uint32_t left = threads - (uint32_t)(i % warps) * RECORD_LANES;
        const char *problem = follow_warp(&walk, (uint32_t)i, left >= RECORD_LANES ? UINT32_MAX : (1u << left) - 1);
        if (problem)
            return problem;
    }
    return walk.records ? NULL : "there are no records";
}
