/* Launches for kernels that no thread reports anything about: shapes that their directives allow, parameters that may
 * be numbers or pointers, and memory with something in it. */
#include "values.h"

#include <stdlib.h>

static uint64_t next(uint64_t *state) {
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* The numbers of a directive of the kernel's header. */
static bool directive(const PtxModule *module, uint32_t function, const char *name, uint32_t numbers[3]) {
    const PtxFunction *f = &module->functions[function];
    for (uint32_t s = f->begin; s < f->end && module->statements[s].kind != PTX_OPEN; s++) {
        const PtxStatement *at = &module->statements[s];
        if (at->kind != PTX_DIRECTIVE || !str_is(ptx_name(module, at->what), name))
            continue;
        for (uint32_t i = 0; i < 3; i++)
            numbers[i] = i < at->count ? (uint32_t)module->operands[at->first + i].value : 1;
        return true;
    }
    return false;
}

static void choose_block(const PtxModule *module, uint32_t function, bool shaped, uint64_t *state, uint32_t block[3]) {
    static const uint32_t rows[][3] = {{32, 1, 1}, {64, 1, 1}, {128, 1, 1}, {256, 1, 1}, {32, 4, 1}, {64, 2, 2}};
    static const uint32_t others[][3] = {{16, 16, 1}, {8, 8, 4},  {128, 1, 1}, {32, 8, 1},
                                         {16, 4, 1},  {96, 1, 1}, {48, 2, 1},  {40, 1, 1}};
    uint32_t most[3] = {1024, 1, 1};
    bool limited = directive(module, function, ".maxntid", most);
    for (unsigned tries = 0; tries < 16; tries++) {
        const uint32_t *choice = shaped ? others[next(state) % 8] : rows[next(state) % 6];
        memcpy(block, choice, 3 * sizeof *block);
        if (!limited || block[0] * block[1] * block[2] <= most[0] * most[1] * most[2])
            return;
    }
    block[0] = 32, block[1] = block[2] = 1;
}

static void choose_grid(const PtxModule *module, uint32_t function, uint64_t *state, Launch *launch) {
    uint32_t *cluster = launch->cluster;
    cluster[0] = cluster[1] = cluster[2] = 1;
    if (!directive(module, function, ".reqnctapercluster", cluster) && module->capability >= 90)
        cluster[0] = UINT32_C(1) << next(state) % 2;
    for (unsigned i = 0; i < 3; i++)
        launch->grid[i] = cluster[i] * (uint32_t)(i == 0 ? 1 + next(state) % 3 : 1 + next(state) % 4 / 3);
}

static uint64_t a_number(uint64_t *state, unsigned kind) {
    uint64_t any = next(state);
    switch (kind % 4) {
    case 0:
        return any % 256;
    case 1:
        return any % 64 * 16;
    case 2:
        return any % 5;
    default:
        return any;
    }
}

/* A pointer at a place of its own, with no more alignment than its declaration says. */
static uint64_t a_pointer(uint64_t *state, uint32_t index, uint32_t align, unsigned kind) {
    if (!align)
        align = kind % 3 == 0 ? 4 : 256;
    return ((uint64_t)(index + 1) << 36) + (next(state) % 4096 * 2 + 1) * align;
}

static void fill_parameter(const PtxVariable *v, uint32_t index, uint8_t *to, uint32_t bytes, uint64_t *state,
                           unsigned kind) {
    if (bytes == 8 && (v->pointer || next(state) % 4)) {
        uint64_t pointer = a_pointer(state, index, v->pointer ? v->pointer_align : 0, kind);
        memcpy(to, &pointer, 8);
        return;
    }
    unsigned own = bytes > 8 ? (unsigned)next(state) : kind;
    for (uint32_t at = 0; at < bytes; at += 4) {
        uint64_t number = a_number(state, own);
        memcpy(to + at, &number, bytes - at < 8 ? bytes - at : 8);
    }
}

bool make_up_launch(Machine *machine, const PtxModule *module, uint32_t function, bool shaped,
                    const PtxBlockShape *given, uint64_t seed, HavocDependent *made) {
    uint64_t state = seed;
    *made = (HavocDependent){
        .launch = {.function = function, .seed = next(&state), .contents = next(&state) % CONTENTS_COUNT}};
    Launch *launch = &made->launch;
    uint32_t required[3];
    bool requires = directive(module, function, ".reqntid", required);
    if (requires && (shaped || (uint64_t)required[0] * required[1] * required[2] > 1024))
        return false;
    if (requires)
        memcpy(launch->block, required, sizeof required);
    else
        choose_block(module, function, shaped, &state, launch->block);
    if (shaped && given && given->x)
        launch->block[0] = given->x, launch->block[1] = given->y, launch->block[2] = given->z;
    if (shaped)
        made->given = (PtxBlockShape){.x = launch->block[0], .y = launch->block[1], .z = launch->block[2]};
    choose_grid(module, function, &state, launch);
    uint32_t bytes = machine_parameter_bytes(machine, function);
    made->parameters = calloc(bytes + 8, 1);
    unsigned kind = (unsigned)next(&state);
    for (uint32_t i = 0; i < module->functions[function].parameter_count; i++) {
        uint32_t size, at = machine_parameter(machine, function, i, &size);
        const PtxVariable *v = &module->variables[module->functions[function].parameters + i];
        fill_parameter(v, i, made->parameters + at, size, &state, next(&state) % 3 ? kind : (unsigned)next(&state));
    }
    launch->parameters = made->parameters;
    return true;
}
