/* Addresses of the range that the program maps memory to, by handles of the driver: its cells come and go with it. And
 * what cells say of a launch that is over. */
#include "runtime/shadow/internal.h"

#include <stdlib.h>
#include <string.h>

static GpuShadowPiece *lent_at(const GpuShadow *shadow, uint64_t address) {
    GpuShadowPiece *piece = shadow->pieces;
    while (piece && !(piece->lent && address - piece->address < piece->bytes))
        piece = piece->next;
    return piece;
}

uint64_t gpu_shadow_reserve(GpuShadow *shadow, uint64_t bytes, uint64_t alignment) {
    GpuShadowPiece *piece = bytes && alignment <= shadow->page ? shadow_take(shadow, bytes) : NULL;
    if (!piece)
        return 0;
    piece->asked = bytes;
    piece->lent = true;
    return piece->address;
}

bool gpu_shadow_unreserve(GpuShadow *shadow, uint64_t address) {
    GpuShadowPiece *piece = lent_at(shadow, address);
    if (!piece || piece->address != address)
        return false;
    gpu_shadow_unmap(shadow, address, piece->bytes);
    shadow_give_back(shadow, piece);
    return true;
}

bool gpu_shadow_lends(const GpuShadow *shadow, uint64_t address) {
    return lent_at(shadow, address) != NULL;
}

static bool has_cells(const GpuShadow *shadow, uint64_t address) {
    const GpuShadowLent *lent = shadow->lent;
    while (lent && address - lent->address >= lent->bytes)
        lent = lent->next;
    return lent;
}

static int add_cells_at(GpuShadow *shadow, uint64_t address, uint64_t bytes) {
    GpuShadowLent *lent = calloc(1, sizeof *lent);
    if (!lent)
        return NO_MEMORY;
    *lent = (GpuShadowLent){.next = shadow->lent, .address = address, .bytes = bytes};
    int result = shadow_map_cells(shadow, address, bytes, &lent->cells);
    if (result)
        free(lent);
    else
        shadow->lent = lent;
    return result;
}

/* What is mapped may be less than a page, as memory of the host is: others have the rest of it. */
int gpu_shadow_map(GpuShadow *shadow, uint64_t address, uint64_t bytes) {
    uint64_t page = shadow->page, end = (address + bytes + page - 1) / page * page, at = address / page * page;
    int result = 0;
    while (at < end && !result) {
        uint64_t from = at;
        while (at < end && !has_cells(shadow, at))
            at += page;
        if (at > from)
            result = add_cells_at(shadow, from, at - from);
        while (at < end && has_cells(shadow, at))
            at += page;
    }
    return result;
}

static void remove_cells(GpuShadow *shadow, GpuShadowLent *lent) {
    mapping_remove(&shadow->map, shadow_cells_at(shadow, lent->address), lent->bytes * shadow->cell_factor,
                   lent->cells);
    free(lent);
}

void gpu_shadow_unmap(GpuShadow *shadow, uint64_t address, uint64_t bytes) {
    for (GpuShadowLent **at = &shadow->lent, *lent; (lent = *at);) {
        if (lent->address < address || lent->address + lent->bytes > address + bytes) {
            at = &lent->next;
            continue;
        }
        *at = lent->next;
        remove_cells(shadow, lent);
    }
}

bool lent_clear(GpuShadow *shadow) {
    for (const GpuShadowLent *lent = shadow->lent; lent; lent = lent->next)
        if (shadow->driver.cuMemsetD8Async(shadow_cells_at(shadow, lent->address), 0, lent->bytes * shadow->cell_factor,
                                           shadow->stream))
            return false;
    return true;
}

void lent_close(GpuShadow *shadow) {
    while (shadow->lent)
        gpu_shadow_unmap(shadow, shadow->lent->address, shadow->lent->bytes);
}

/* ---- What a launch has touched ------------------------------------------------------------------------------------
 */

/* Runs of bytes; one that goes on where the last of its way ends is the same. */
typedef struct TouchedRuns {
    RecordingTouched *to;
    uint32_t room, count, last[3]; /* last: of writes, and of both readers: + 1 */
    uint32_t tag; /* of the launch */
    bool full, lost;
} TouchedRuns;

enum { STAMP = (1 << SHADOW_STAMP) - 1 };

static void add_run(TouchedRuns *runs, uint32_t row, RecordingTouched run) {
    RecordingTouched *last = runs->last[row] ? &runs->to[runs->last[row] - 1] : NULL;
    if (last && last->begin + last->bytes == run.begin && last->how == run.how && last->stamp == run.stamp) {
        last->bytes += run.bytes;
    } else if (runs->count < runs->room) {
        runs->to[runs->count++] = run;
        runs->last[row] = runs->count;
    } else {
        runs->full = true;
    }
}

static void add_mask(TouchedRuns *runs, uint64_t granule, uint32_t mask, uint32_t row, uint32_t how, uint32_t access) {
    for (uint32_t first = 0; mask >> first;) {
        first += (uint32_t)__builtin_ctz(mask >> first);
        uint32_t count = (uint32_t)__builtin_ctz(~(mask >> first));
        add_run(runs, row, (RecordingTouched){granule + first, count, how, access & STAMP});
        first += count;
    }
}

typedef struct TouchedCell {
    uint64_t low, high;
} TouchedCell;

/* Of the scope of a device, or a wider one; of a write that was observed it is kept otherwise. */
static bool is_strongly(uint32_t access) {
    enum { DEVICE = 3, CLUSTER_OBSERVED = 5 };
    uint32_t scope = access >> SHADOW_STAMP & 7;
    return scope >= DEVICE && scope != CLUSTER_OBSERVED;
}

/* Of `units` granules, which a cell says the same of. */
static void add_cell(TouchedRuns *runs, const TouchedCell *cell, uint64_t address, uint32_t units) {
    uint32_t tag = shadow_cell_tag(cell->low, cell->high);
    runs->lost |= tag > runs->tag; /* tags go up from launch to launch until all cells are cleared */
    if (tag != runs->tag)
        return;
    uint32_t masks = (uint32_t)(cell->low >> 32), write = (uint32_t)cell->low;
    uint32_t readers[] = {(uint32_t)cell->high, (uint32_t)(cell->high >> 32)};
    for (uint32_t i = 0; i < units; i++) {
        uint64_t granule = address + i * (uint64_t)SHADOW_GRANULE;
        if (write & STAMP)
            add_mask(runs, granule, masks & 0xffff, 0,
                     is_strongly(write) ? RECORDING_STRONGLY_WRITTEN : RECORDING_WRITTEN, write);
        for (uint32_t k = 0; k < 2; k++)
            if (readers[k] & STAMP)
                add_mask(runs, granule, masks >> 16, 1 + k,
                         is_strongly(readers[k]) ? RECORDING_STRONGLY_READ : RECORDING_READ, readers[k]);
    }
}

static bool add_cells(const GpuShadow *shadow, TouchedRuns *runs, uint64_t address, uint64_t bytes,
                      TouchedCell *buffer) {
    enum { UNITS = SHADOW_LINE / SHADOW_GRANULE };
    uint64_t offset = address - shadow->real, lines = bytes / SHADOW_LINE, granules = bytes / SHADOW_GRANULE;
    if (shadow_copy_back(shadow, buffer, shadow->lines + offset / UNITS, lines * sizeof *buffer))
        return false;
    for (uint64_t i = 0; i < lines; i++)
        add_cell(runs, &buffer[i], address + i * SHADOW_LINE, UNITS);
    if (shadow_copy_back(shadow, buffer, shadow_cells_at(shadow, address), granules * sizeof *buffer))
        return false;
    for (uint64_t i = 0; i < granules; i++)
        add_cell(runs, &buffer[i], address + i * SHADOW_GRANULE, 1);
    return true;
}

uint32_t gpu_shadow_stamps(const GpuShadow *shadow, uint32_t tag) {
    return shadow->beside.forms[tag];
}

/* Whether another launch could run at the same time: of what both have touched, cells keep one. */
static bool has_beside(const GpuShadow *shadow, uint32_t tag) {
    uint32_t any = 0;
    for (unsigned i = 0; i < 8; i++)
        any |= shadow->beside.begun[tag][i];
    for (uint32_t other = 1; other <= SHADOW_TAGS; other++)
        any |= shadow->beside.begun[other][tag / 32] >> tag % 32 & 1;
    return any;
}

bool gpu_shadow_touched(const GpuShadow *shadow, uint32_t tag, uint64_t address, uint64_t bytes, RecordingTouched *to,
                        uint32_t room, uint32_t *count, bool *lost) {
    static const uint64_t step = 1 << 22;
    bool inside = address - shadow->real < shadow->range && bytes <= shadow->range - (address - shadow->real);
    TouchedCell *buffer = inside && !shadow->seed ? malloc(step / SHADOW_GRANULE * sizeof *buffer) : NULL;
    TouchedRuns runs = {.to = to, .room = room, .count = *count, .tag = tag};
    bool good = buffer;
    bytes = (bytes + SHADOW_LINE - 1) / SHADOW_LINE * SHADOW_LINE;
    for (uint64_t done = 0; good && !runs.full && done < bytes; done += step)
        good = add_cells(shadow, &runs, address + done, bytes - done < step ? bytes - done : step, buffer);
    free(buffer);
    *count = runs.count;
    *lost |= runs.lost || has_beside(shadow, tag);
    return good && !runs.full;
}
