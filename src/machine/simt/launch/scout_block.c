/* The block that a kernel is made for, as far as its arrays in shared memory show it: threads that index one with their
 * number store to different elements of it, and the array has an element for each. */
#include "machine/simt/launch/scout_internal.h"

enum { LEAST_THREADS = 32 };

static uint32_t power_below(uint64_t number) {
    uint32_t power = 1;
    while (2 * (uint64_t)power <= number && power < FORM_MOST_THREADS)
        power *= 2;
    return power;
}

/* How many bytes of its array are behind an address in shared memory; 0: it is in none of a known size. */
static uint64_t bytes_behind(const PtxProgram *program, uint64_t address) {
    for (uint32_t i = 0; i < program->module->variables_count; i++) {
        const PtxSymbolSlot *seat = &program->seats[i];
        if (program->used[i] && seat->space == PTX_SPACE_SHARED && address >= seat->at &&
            address < seat->at + seat->bytes)
            return seat->at + seat->bytes - address;
    }
    return 0;
}

/* By what threads 0, 1 in x and 1 in y store: how many there may be in x and y. */
static bool block_of(const PtxProgram *program, const Lanes *places, uint32_t known, bool rows, uint64_t block[2]) {
    uint64_t behind = bytes_behind(program, places->at[0]);
    uint64_t step = places->at[1] - places->at[0], row = places->at[2] - places->at[0];
    if ((known & 3) != 3 || !behind || places->at[1] <= places->at[0])
        return false;
    if (!rows) {
        block[0] = behind / step;
        block[1] = 1;
        return true;
    }
    if (!(known & 4) || places->at[2] <= places->at[0] || row <= step)
        return false;
    block[0] = power_below(row / step);
    block[1] = power_below(behind / row);
    return true;
}

bool ptx_scout_block(PtxScout *scout, uint32_t block[3]) {
    const PtxProgram *program = scout->program;
    const PtxLaunch *like = scout->machine->launch;
    bool rows = like->block[1] > 1, found = false;
    uint64_t best = UINT64_MAX;
    if (like->block[2] > 1 || scout->lanes < 3 || ptx_launch_uses(scout->arena, program).roles)
        return false;
    for (unsigned i = 0; i < 3; i++) {
        int64_t *to = scout->candidates[i];
        memset(to, 0, scout->count * sizeof *to);
        for (unsigned k = 0; k < 3; k++) {
            to[SCOUT_GRID + k] = like->grid[k];
            to[SCOUT_BLOCK + k] = like->block[k];
        }
        for (uint32_t k = SCOUT_NUMBERS; k < scout->count; k++)
            (void)ptx_launch_number(program, like, k - SCOUT_NUMBERS, &to[k]);
        to[SCOUT_THREAD] = i == 1;
        to[SCOUT_THREAD + 1] = rows && i == 2;
    }
    scout->sent = 3;
    scout_run(scout, 1);
    for (uint32_t i = 0; i < program->code_count; i++) {
        uint64_t shape[2];
        if (!scout->places[i] || !block_of(program, scout->places[i], scout->placed[i], rows, shape))
            continue;
        uint64_t threads = shape[0] * shape[1];
        if (threads < LEAST_THREADS || threads > FORM_MOST_THREADS || threads % LEAST_THREADS || threads >= best)
            continue;
        best = threads;
        block[0] = (uint32_t)shape[0];
        block[1] = (uint32_t)shape[1];
        block[2] = 1;
        found = true;
    }
    return found;
}
