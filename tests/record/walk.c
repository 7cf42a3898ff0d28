/* Reads what an instrumented kernel has left. */
#include "walk.h"

#include "instrument/instrument.h"
#include "trace/shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FURTHER = 1024, TAG = 0x5a };

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
    block->spin_timeout = record_spin_timeout(0);
    block->sample.run = UINT32_MAX;
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

/* The first bytes of a block; an array for free(). */
static uint8_t *bytes_of(PtxMachine *machine, const char *name, size_t count) {
    PtxBlock *block = block_named(machine, name);
    uint8_t *bytes = calloc(count + 8, 1);
    if (block && block->bytes && bytes) /* else nothing has written it */
        memcpy(bytes, block->bytes, count < block->size ? count : block->size);
    return bytes;
}

/* ---- Reading ---- */

typedef struct Walk {
    const Sites *sites;
    RecordReader reader;
    uint32_t threads;
    uint64_t records;
} Walk;

/* Whether a lane has had one with that number, or a later one; of several that looked at the same the last counts. */
static bool late(uint32_t lanes, uint32_t number, uint32_t *numbers) {
    bool late = false;
    for (; lanes; lanes &= lanes - 1) {
        uint32_t *before = &numbers[__builtin_ctz(lanes)];
        late |= number <= *before;
        *before = number;
    }
    return late;
}

/* One warp: what is wrong with it. */
static const char *walk_warp(Walk *walk, uint32_t warp) {
    static char text[120];
    RecordCursor *room = calloc(record_reader_leaders(&walk->reader, warp), sizeof *room);
    RecordStream stream;
    Record record;
    uint32_t ended = 0, left = walk->threads - warp % walk->reader.warps * RECORD_LANES;
    uint32_t lanes = left >= RECORD_LANES ? UINT32_MAX : (1u << left) - 1;
    uint32_t numbers[RECORD_LANES] = {0};
    const char *problem = NULL;
    record_stream(&stream, &walk->reader, warp, room);
    for (; !problem && record_next(&stream, &record); walk->records++) {
        const Site *site = &walk->sites->items[record.site];
        snprintf(text, sizeof text, "record %u of warp %u, of site %u: ", record.number, warp, record.site);
        if (record.lanes & ended)
            problem = strcat(text, "a lane has ended before");
        else if (record.lanes & ~lanes)
            problem = strcat(text, "there is no such lane");
        else if ((record.kind == RECORD_EXIT) != site->ends || (record.kind == RECORD_LANE) != site->each)
            problem = strcat(text, "it is of another kind");
        else if (late(record.lanes, record.number, numbers))
            problem = strcat(text, "it comes too late");
        ended |= record.kind == RECORD_EXIT ? record.lanes : 0;
    }
    free(room);
    return problem ? problem : ended != lanes ? "not all lanes have ended" : NULL;
}

static const char *walk_all(Walk *walk, const Recording *recording, const RecordShape *shapes, Arena *arena) {
    if (!record_reader(&walk->reader, recording, shapes, walk->sites->count, arena))
        return walk->reader.problem;
    for (uint32_t i = 0; i < recording->first_count; i++) {
        const char *problem = walk_warp(walk, i);
        if (problem || walk->reader.problem)
            return walk->reader.problem ? walk->reader.problem : problem;
    }
    if (walk->reader.missing || record_reader_unseen(&walk->reader))
        return "a chunk is missing, or nobody leads to it";
    return walk->records ? NULL : "there are no records";
}

const char *walk_recording(PtxMachine *machine, const Sites *sites) {
    const PtxLaunch *launch = machine->launch;
    Arena arena;
    Recording recording = {.launch = {.chunk = sites->chunk, .tag = TAG}, .first_count = warps_of(launch)};
    uint8_t *block = bytes_of(machine, "weir launch", sizeof(RecordLaunch));
    RecordLaunch left;
    memcpy(&left, block, sizeof left);
    for (unsigned i = 0; i < 3; i++) {
        recording.launch.grid[i] = launch->grid[i];
        recording.launch.block[i] = launch->block[i];
    }
    recording.more_count = left.next;
    uint8_t *first = bytes_of(machine, "weir first", recording.first_count * sites->chunk);
    uint8_t *more = bytes_of(machine, "weir more", recording.more_count * sites->chunk);
    recording.first = first;
    recording.more = more;
    Walk walk = {.sites = sites, .threads = threads_of(launch)};
    arena_init(&arena, SIZE_MAX);
    const char *problem = record_dropped(&left)
                              ? "records were dropped"
                              : walk_all(&walk, &recording, site_shapes(sites, &arena), &arena);
    arena_free(&arena);
    free(block);
    free(first);
    free(more);
    return problem;
}
