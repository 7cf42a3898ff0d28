/* Kernels that check themselves (mode shadow), run in the machine: memory with its cells beside it, slots and clocks as
 * a launch has them, and what was reported. */
#ifndef TESTS_SHADOWED_H
#define TESTS_SHADOWED_H

#include "instrument/emit/shadow.h"
#include "ptx_running.h"
#include "trace/shadow.h"

enum {
    SHADOWED_BYTES = 4096, /* of memory */
    SHADOWED_SLOTS = 64,
    SHADOWED_ROWS = 16,
    SHADOWED_STRIDE = 4 * 2 * SHADOWED_SLOTS,
    SHADOWED_CTAS = 1024,
};
#define SHADOWED_REAL  UINT64_C(0x200000000)
#define SHADOWED_CELLS UINT64_C(0x300000000)
#define SHADOWED_STATE UINT64_C(0x400000000)
#define SHADOWED_OTHER UINT64_C(0x500000000) /* the state that the launch before has left */

/* One block: the state, and behind it what it points to. */
typedef struct ShadowedState {
    ShadowState state;
    ShadowActor actors[SHADOWED_SLOTS];
    uint8_t vectors[SHADOWED_SLOTS * SHADOW_VECTORS * SHADOWED_STRIDE];
    uint16_t begun[SHADOWED_SLOTS];
    uint64_t clusters[SHADOWED_SLOTS];
    uint8_t rows[SHADOWED_ROWS * SHADOWED_STRIDE];
    ShadowFlag flags[SHADOW_BUCKETS * SHADOW_WAYS];
    uint32_t ctas[SHADOWED_CTAS], taken[SHADOWED_SLOTS / 32], waits[SHADOWED_CTAS / 32];
    uint32_t pairs[SHADOW_PAIRS];
    ShadowReport reports[SHADOW_REPORTS];
} ShadowedState;

typedef struct Shadowed {
    PtxRunning run;
    ShadowLaunch block;
    ShadowedState *state, *other;
    uint8_t *cells;
    uint8_t memory[SHADOWED_BYTES];
    uint32_t slots; /* 0: one for each CTA */
    uint32_t rows;  /* 0: all that there are */
    uint32_t tag;
    bool seed;
    uint32_t flags; /* of the mark */
    size_t cell_bytes;
    ShadowBeside *beside;
    bool dependent;
    PtxBuffer buffers[5];
} Shadowed;

#define STATE_FIELD(field) (SHADOWED_STATE + offsetof(ShadowedState, field))

static inline void shadowed_state(Shadowed *s, uint32_t ctas, uint32_t threads) {
    bool own = !s->slots;
    uint32_t slots = own ? ctas : s->slots, shift = !s->seed && (s->flags & SHADOW_MARK_COPIES) ? 1 : 0;
    assert_true(slots <= SHADOWED_SLOTS);
    memset(s->state, 0, sizeof *s->state);
    s->state->state = (ShadowState){.actors = STATE_FIELD(actors),
                                    .vectors = STATE_FIELD(vectors),
                                    .rows = STATE_FIELD(rows),
                                    .flags = STATE_FIELD(flags),
                                    .ctas = own ? 0 : STATE_FIELD(ctas),
                                    .taken = STATE_FIELD(taken),
                                    .reports = STATE_FIELD(reports),
                                    .pairs = STATE_FIELD(pairs),
                                    .slots = slots,
                                    .stride = SHADOWED_STRIDE,
                                    .row_count = s->rows ? s->rows : SHADOWED_ROWS,
                                    .row_bytes = SHADOWED_STRIDE,
                                    .threads = threads,
                                    .slot_shift = shift,
                                    .tag = s->tag,
                                    .slot_words = (slots + 31) / 32,
                                    .random = 1,
                                    .begun = s->seed ? STATE_FIELD(begun) : 0,
                                    .clusters = s->seed ? STATE_FIELD(clusters) : 0,
                                    .real = SHADOWED_REAL,
                                    .bytes = SHADOWED_BYTES,
                                    .cells = SHADOWED_CELLS,
                                    .waits = s->dependent ? STATE_FIELD(waits) : 0};
    for (uint32_t i = 0; i < SHADOWED_SLOTS; i++)
        s->state->clusters[i] = i;
    bool clocked = (s->flags & SHADOW_MARK_CLOCKED) != 0;
    uint32_t site_bits = s->seed ? 0 : 8, actor_bits = 7 + shift, epoch_bits = SHADOW_STAMP - site_bits - actor_bits;
    s->block = (ShadowLaunch){.real = SHADOWED_REAL,
                              .bytes = SHADOWED_BYTES,
                              .cells = SHADOWED_CELLS,
                              .state = SHADOWED_STATE,
                              .form = shadow_form(s->tag, site_bits,
                                                  s->seed   ? 16
                                                  : clocked ? epoch_bits
                                                            : 0),
                              .cluster = 1};
    shadow_clocks(&s->block, &s->state->state);
    s->beside->forms[s->tag] =
        site_bits | (clocked ? epoch_bits : 0) << 8 | shift << 16 | (uint32_t)own << SHADOW_BESIDE_OWN;
    s->beside->states[s->tag] = clocked ? SHADOWED_STATE : 0;
}

/* A kernel k(.param .u64 p, .param .u32 n), instrumented. */
static inline void shadowed_read(Shadowed *s, const char *text, bool seed) {
    memset(s, 0, sizeof *s);
    s->seed = seed;
    s->tag = 1;
    PtxRunning plain;
    ptx_running_read(&plain, "sm_90a", text);
    ShadowSites sites;
    const char *problem = NULL;
    assert_true(shadow_sites(&sites, &plain.module, &problem));
    s->flags = (sites.clocked ? SHADOW_MARK_CLOCKED : 0) | (sites.copies ? SHADOW_MARK_COPIES : 0);
    shadow_sites_free(&sites);
    InstrumentOptions options = {.mode = INSTRUMENT_SHADOW, .spaces = RECORDING_GLOBAL, .seed_layout = seed};
    Text out = {0};
    if (!instrument_shadow(&plain.module, &options, &out, &problem))
        fail_msg("%s", problem);
    ptx_running_end(&plain);
    text_add(&out, "", 1);
    const char *body = strstr(out.data, ".address_size 64\n") + strlen(".address_size 64\n");
    ptx_running_read(&s->run, "sm_90a", body);
    text_free(&out);
    s->cell_bytes = seed ? SHADOWED_BYTES / SHADOW_WORD * SHADOW_SEED_CELL
                         : SHADOWED_BYTES + SHADOWED_BYTES / SHADOW_LINE * SHADOW_GRANULE;
    s->cells = calloc(1, s->cell_bytes);
    s->state = calloc(1, sizeof *s->state);
    s->other = calloc(1, sizeof *s->other);
    s->beside = calloc(1, sizeof *s->beside);
    s->buffers[0] = (PtxBuffer){.name = "p",
                                .address = SHADOWED_REAL,
                                .bytes = SHADOWED_BYTES,
                                .data = s->memory,
                                .data_bytes = SHADOWED_BYTES};
    s->buffers[1] = (PtxBuffer){.name = "cells",
                                .address = SHADOWED_CELLS,
                                .bytes = s->cell_bytes,
                                .data = s->cells,
                                .data_bytes = s->cell_bytes};
    s->buffers[2] = (PtxBuffer){.name = "state",
                                .address = SHADOWED_STATE,
                                .bytes = sizeof *s->state,
                                .data = (const uint8_t *)s->state,
                                .data_bytes = sizeof *s->state};
    s->buffers[3] = (PtxBuffer){.name = "beside",
                                .address = SHADOWED_REAL - sizeof *s->beside,
                                .bytes = sizeof *s->beside,
                                .data = (const uint8_t *)s->beside,
                                .data_bytes = sizeof *s->beside};
    s->run.launch.buffers = s->buffers;
    s->buffers[4] = (PtxBuffer){.name = "other",
                                .address = SHADOWED_OTHER,
                                .bytes = sizeof *s->other,
                                .data = (const uint8_t *)s->other,
                                .data_bytes = sizeof *s->other};
    s->run.launch.buffer_count = 5;
}

static inline const uint8_t *shadowed_block(Shadowed *s, uint64_t address) {
    for (uint32_t i = 0; i < s->run.machine->block_count; i++)
        if (s->run.machine->blocks[i].base == address)
            return s->run.machine->blocks[i].bytes;
    fail_msg("there is no memory at %#llx", (unsigned long long)address);
    return NULL;
}

static inline const ShadowedState *shadowed_left(Shadowed *s) {
    return (const ShadowedState *)(const void *)shadowed_block(s, SHADOWED_STATE);
}

/* The machine, about to run. */
static inline void shadowed_machine(Shadowed *s, uint32_t ctas, uint32_t threads, uint32_t n,
                                    const PtxSchedule *schedule) {
    shadowed_state(s, ctas, threads);
    uint64_t p = SHADOWED_REAL;
    memcpy(s->run.parameters, &p, 8);
    memcpy(s->run.parameters + 8, &n, 4);
    memcpy(s->run.parameters + 16, &s->block, sizeof s->block);
    s->run.launch.grid[0] = ctas;
    s->run.launch.block[0] = threads;
    s->run.schedule = *schedule;
    if (s->run.machine)
        ptx_machine_free(s->run.machine);
    const char *problem = NULL;
    s->run.machine = ptx_machine(s->run.program, &s->run.launch, COMPUTES_ALL, &problem);
    if (!s->run.machine)
        fail_msg("%s", problem);
}

static inline void shadowed_go(Shadowed *s, uint32_t ctas, uint32_t threads, uint32_t n, const PtxSchedule *schedule) {
    shadowed_machine(s, ctas, threads, n, schedule);
    ptx_running_expect(&s->run, PTX_END_COMPLETE);
}

/* The next launch finds the cells as this one has left them. It may run at the same time as launches of tags `begun`,
 * bits; once it has waited, as those of `waited`. */
static inline void shadowed_next(Shadowed *s, uint32_t begun, uint32_t waited) {
    memcpy(s->cells, shadowed_block(s, SHADOWED_CELLS), s->cell_bytes);
    memcpy(s->other, shadowed_block(s, SHADOWED_STATE), sizeof *s->other);
    s->other->state.flags = SHADOWED_OTHER + offsetof(ShadowedState, flags);
    s->beside->states[s->tag] = s->beside->states[s->tag] ? SHADOWED_OTHER : 0;
    s->tag++;
    s->beside->any |= begun != 0;
    s->beside->talks[0] |= begun;
    s->beside->begun[s->tag][0] = begun;
    s->beside->waited[s->tag][0] = waited;
}

static inline void shadowed_end(Shadowed *s) {
    ptx_running_end(&s->run);
    free(s->beside);
    free(s->other);
    free(s->cells);
    free(s->state);
}

#define SHADOW_KERNEL(body)                                                                          \
    ".visible .entry k(.param .u64 p, .param .u32 n)"                                                \
    "{ .reg .pred %p<20>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .b16 %rs<8>; .reg .f32 %f<8>;\n" \
    "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x;\n" body "ret; }"

#endif
