/* Lays out what a kernel that checks itself is launched with. */
#include "cells.h"

#include "instrument/emit/shadow.h"
#include "trace/shadow.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { SLOTS = 64, ROWS = 4096, STRIDE = SLOTS * 8 };
#define CELLS UINT64_C(0x500000000000)
#define STATE UINT64_C(0x400000000000)

typedef struct Everything {
    ShadowState state;
    ShadowActor actors[SLOTS];
    uint8_t vectors[SLOTS * SHADOW_VECTORS * STRIDE];
    uint8_t rows[ROWS * STRIDE];
    ShadowFlag flags[SHADOW_BUCKETS * SHADOW_WAYS];
    uint32_t taken[SLOTS / 32], pairs[SHADOW_PAIRS];
    uint16_t begun[SLOTS];
    uint64_t clusters[SLOTS];
    ShadowReport reports[SHADOW_REPORTS];
    uint32_t ctas[]; /* behind all others */
} Everything;
#define AT(field) (STATE + offsetof(Everything, field))

static void fill_state(Everything *all, uint32_t actors, uint32_t threads, bool copies, bool seed) {
    bool own = actors <= SLOTS;
    uint32_t slots = own ? actors : SLOTS;
    all->state = (ShadowState){.actors = AT(actors),
                               .vectors = AT(vectors),
                               .rows = AT(rows),
                               .flags = AT(flags),
                               .ctas = own ? 0 : AT(ctas),
                               .taken = AT(taken),
                               .reports = AT(reports),
                               .pairs = AT(pairs),
                               .slots = slots,
                               .stride = STRIDE,
                               .row_count = ROWS,
                               .row_bytes = STRIDE,
                               .threads = threads,
                               .slot_shift = copies && !seed,
                               .tag = 1,
                               .random = 1,
                               .slot_words = (slots + 31) / 32,
                               .begun = seed ? AT(begun) : 0,
                               .clusters = seed ? AT(clusters) : 0};
    for (uint32_t i = 0; i < SLOTS; i++)
        all->clusters[i] = i;
}

static bool set_block(const PtxProgram *program, PtxLaunch *launch, const ShadowLaunch *block) {
    const PtxFunction *function = &program->module->functions[program->entry];
    const PtxSymbolSlot *seat = &program->seats[function->parameters + function->parameter_count - 1];
    if (!function->parameter_count || seat->bytes != sizeof *block)
        return false;
    memcpy(launch->parameters + seat->at, block, sizeof *block);
    memset(launch->known + seat->at, BYTE_KNOWN, sizeof *block);
    return true;
}

/* Buffers from the first to the last, with the room between them, are the range. */
static void add_buffers(PtxLaunch *launch, PtxBuffer *buffers, const ShadowLaunch *block, uint64_t factor,
                        Everything *all, size_t size) {
    uint32_t count = launch->buffer_count;
    for (uint32_t i = 0; i < count; i++) {
        buffers[i] = launch->buffers[i];
        buffers[count + i] = (PtxBuffer){.name = "weir cells",
                                         .parameter = PTX_NONE,
                                         .address = CELLS + (buffers[i].address - block->real) * factor,
                                         .bytes = (buffers[i].bytes + 31) / 16 * 16 * factor,
                                         .zero = true};
        /* Those of the seed have no lines; the memory is not used then. */
        buffers[2 * count + 1 + i] =
            (PtxBuffer){.name = "weir lines",
                        .parameter = PTX_NONE,
                        .address = CELLS + block->bytes * factor +
                                   (buffers[i].address - block->real) / SHADOW_LINE * SHADOW_GRANULE,
                        .bytes = (buffers[i].bytes / SHADOW_LINE + 1) * SHADOW_GRANULE,
                        .zero = true};
    }
    buffers[2 * count] = (PtxBuffer){.name = "weir state",
                                     .parameter = PTX_NONE,
                                     .address = STATE,
                                     .bytes = size,
                                     .data = (const uint8_t *)all,
                                     .data_bytes = size};
    /* Of which launches may run at the same time: of none. */
    buffers[3 * count + 1] = (PtxBuffer){.name = "weir launches",
                                         .parameter = PTX_NONE,
                                         .address = block->real - sizeof(ShadowBeside),
                                         .bytes = sizeof(ShadowBeside),
                                         .zero = true};
    launch->buffers = buffers;
    launch->buffer_count = 3 * count + 2;
}

bool add_cells(Arena *arena, const PtxProgram *program, PtxLaunch *launch, PtxModule *plain, bool seed,
               const char **problem) {
    ShadowSites sites;
    if (!shadow_sites(&sites, plain, problem))
        return false;
    uint32_t ctas = launch->grid[0] * launch->grid[1] * launch->grid[2];
    uint32_t cluster = launch->cluster[0] * launch->cluster[1] * launch->cluster[2], actors = ctas / cluster;
    uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2] * cluster;
    bool clocked = sites.clocked || seed;
    size_t size = sizeof(Everything) + 4 * (size_t)actors;
    Everything *all = arena_zalloc(arena, size);
    PtxBuffer *buffers = ARENA_ARRAY(arena, PtxBuffer, 3 * launch->buffer_count + 2);
    uint64_t real = PTX_BUFFERS_FIRST, end = real;
    for (uint32_t i = 0; i < launch->buffer_count; i++)
        if (launch->buffers[i].address + launch->buffers[i].bytes > end)
            end = launch->buffers[i].address + launch->buffers[i].bytes;
    fill_state(all, actors, threads, sites.copies && sites.clocked, seed);
    uint32_t most = clocked ? (uint32_t)SLOTS << all->state.slot_shift : actors + 1;
    all->state.real = real;
    all->state.bytes = (end - real + 4095) / 4096 * 4096;
    all->state.cells = CELLS;
    ShadowLaunch block = {.real = real,
                          .bytes = all->state.bytes,
                          .cells = CELLS,
                          .state = STATE,
                          .form = seed ? shadow_form(1, 0, 16) : shadow_split(1, most, actors, sites.count, clocked),
                          .cluster = cluster};
    shadow_clocks(&block, &all->state);
    add_buffers(launch, buffers, &block, seed ? SHADOW_SEED_CELL / SHADOW_WORD : 1, all, size);
    shadow_sites_free(&sites);
    *problem = "it has no launch block";
    if (!set_block(program, launch, &block))
        return false;
    *problem = NULL;
    return true;
}

const char *cells_trouble(PtxMachine *machine) {
    static char text[80];
    for (uint32_t i = 0; i < machine->block_count; i++)
        if (machine->blocks[i].base == STATE) {
            const ShadowState *state = (const ShadowState *)(const void *)machine->blocks[i].bytes;
            snprintf(text, sizeof text, "shadow memory could not follow it (%#x)", state->trouble);
            /* Maps are not told here. */
            return state->trouble & ~(uint32_t)SHADOW_MAP_UNKNOWN ? text : NULL;
        }
    return "it left no state";
}
