/* Memory with shadow memory beside it, and what launches of kernels that check themselves need. */
#include "runtime/shadow/gpu_shadow.h"

#include <stdlib.h>
#include <string.h>

typedef int ShadowGpuShadowResult;

enum { NON_BLOCKING = 1 };

#define DRIVER_CALLS(CALL)                                                                      \
    CALL(ShadowGpuShadowResult, cuMemAlloc_v2, (uint64_t *, size_t))                            \
    CALL(ShadowGpuShadowResult, cuMemFree_v2, (uint64_t))                                       \
    CALL(ShadowGpuShadowResult, cuMemsetD8Async, (uint64_t, unsigned char, size_t, void *))     \
    CALL(ShadowGpuShadowResult, cuMemcpyHtoDAsync_v2, (uint64_t, const void *, size_t, void *)) \
    CALL(ShadowGpuShadowResult, cuMemcpyDtoHAsync_v2, (void *, uint64_t, size_t, void *))       \
    CALL(ShadowGpuShadowResult, cuStreamCreate, (void **, unsigned))                            \
    CALL(ShadowGpuShadowResult, cuStreamDestroy_v2, (void *))                                   \
    CALL(ShadowGpuShadowResult, cuStreamSynchronize, (void *))                                  \
    CALL(ShadowGpuShadowResult, cuCtxSynchronize, (void))                                       \
    CALL(ShadowGpuShadowResult, cuDeviceTotalMem_v2, (size_t *, int))

typedef struct Driver {
#define CALL(result, name, parameters) result(*name) parameters;
    DRIVER_CALLS(CALL)
#undef CALL
} Driver;

/* A mapped part of the range, or a hole in it. */
typedef struct GpuShadowPiece {
    uint64_t address, bytes, asked; /* asked 0: a hole */
    unsigned long long handles[2];  /* of the memory, of its cells */
    struct GpuShadowPiece *next;    /* by address */
} GpuShadowPiece;

/* Memory of the device that grows when a launch needs more. */
typedef struct GpuShadowStore {
    uint64_t address, bytes;
} GpuShadowStore;

struct GpuShadow {
    Driver driver;
    void *stream; /* of our own: the default stream would wait for others, and others may be captured */
    GpuMap map;
    bool seed;
    uint64_t range, row_bytes, page;
    uint64_t reserved;              /* addresses of all of it */
    uint64_t real, cells;           /* where both parts begin */
    uint64_t cell_factor;           /* bytes of cells for a byte of memory */
    uint64_t lines;                 /* compact: where the cells of lines begin, behind all others */
    unsigned long long *line_pages; /* their memory, page by page; 0: nothing needed it yet */
    uint64_t line_page_count;
    GpuShadowPiece *pieces;
    uint32_t tag;
    GpuShadowStore state, actors, vectors, rows, flags, ctas, taken, reports, pairs, begun, clusters;
    uint64_t used_rows; /* bytes of rows that launches may have written */
    ShadowState header;
};

enum { NO_MEMORY = 2, BAD_VALUE = 1 }; /* CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_INVALID_VALUE */

static const char *find_driver(Driver *driver, GpuResolve *resolve) {
#define CALL(result, name, parameters)                                       \
    {                                                                        \
        void *function = resolve(#name);                                     \
        if (!function)                                                       \
            return "the driver has no " #name ", which shadow memory needs"; \
        memcpy(&driver->name, &function, sizeof function);                   \
    }
    DRIVER_CALLS(CALL)
#undef CALL
    return NULL;
}

static GpuShadowPiece *new_piece(uint64_t address, uint64_t bytes, GpuShadowPiece *next) {
    GpuShadowPiece *piece = calloc(1, sizeof *piece);
    if (piece) {
        piece->address = address;
        piece->bytes = bytes;
        piece->next = next;
    }
    return piece;
}

static const char *reserve(GpuShadow *shadow) {
    size_t total = 0;
    uint64_t page = shadow->map.page;
    if (shadow->driver.cuDeviceTotalMem_v2(&total, shadow->map.device))
        return "the driver does not tell how much memory there is";
    shadow->page = page;
    shadow->range = shadow->range ? shadow->range : 4 * (uint64_t)total;
    shadow->range = shadow->range < SHADOW_MOST_BYTES ? shadow->range : SHADOW_MOST_BYTES;
    shadow->range = (shadow->range + page - 1) / page * page;
    shadow->cell_factor = shadow->seed ? SHADOW_SEED_CELL / SHADOW_WORD : 1;
    uint64_t line_bytes = shadow->seed ? 0 : shadow->range / SHADOW_LINE * SHADOW_GRANULE;
    shadow->line_page_count = (line_bytes + page - 1) / page;
    shadow->line_pages = calloc(shadow->line_page_count + 1, sizeof *shadow->line_pages);
    if (!shadow->line_pages)
        return "there is no memory";
    shadow->reserved = shadow->range * (1 + shadow->cell_factor) + shadow->line_page_count * page;
    if (shadow->map.cuMemAddressReserve(&shadow->real, shadow->reserved, page, 0, 0))
        return "the addresses for shadow memory could not be reserved";
    shadow->cells = shadow->real + shadow->range;
    shadow->lines = shadow->cells + shadow->range * shadow->cell_factor;
    shadow->pieces = new_piece(shadow->real, shadow->range, NULL);
    return shadow->pieces ? NULL : "there is no memory";
}

GpuShadow *gpu_shadow_open(GpuResolve *resolve, int device, const GpuShadowOptions *options, const char **problem) {
    GpuShadow *shadow = calloc(1, sizeof *shadow);
    *problem = shadow ? find_driver(&shadow->driver, resolve) : "there is no memory";
    if (!*problem)
        *problem = mapping_open(&shadow->map, resolve, device);
    if (*problem) {
        free(shadow);
        return NULL;
    }
    shadow->seed = options->seed_layout;
    shadow->range = options->range;
    shadow->row_bytes = options->row_bytes ? options->row_bytes : (uint64_t)1 << 26;
    *problem = shadow->driver.cuStreamCreate(&shadow->stream, NON_BLOCKING) ? "there is no stream for shadow memory"
                                                                            : reserve(shadow);
    if (*problem) {
        free(shadow->line_pages);
        free(shadow);
        return NULL;
    }
    return shadow;
}

/* ---- Allocations ------------------------------------------------------------------------------------------------ */

static uint64_t cells_at(const GpuShadow *shadow, uint64_t address) {
    return shadow->cells + (address - shadow->real) * shadow->cell_factor;
}

/* A page of lines' cells is for many pages of memory: it stays once it is there. */
static ShadowGpuShadowResult map_lines(GpuShadow *shadow, const GpuShadowPiece *piece) {
    uint64_t begin = (piece->address - shadow->real) / SHADOW_LINE * SHADOW_GRANULE / shadow->page;
    uint64_t end = ((piece->address + piece->bytes - 1 - shadow->real) / SHADOW_LINE + 1) * SHADOW_GRANULE;
    for (uint64_t i = begin; !shadow->seed && i * shadow->page < end; i++) {
        uint64_t at = shadow->lines + i * shadow->page;
        if (shadow->line_pages[i])
            continue;
        ShadowGpuShadowResult result = mapping_add(&shadow->map, at, shadow->page, &shadow->line_pages[i]);
        if (result) {
            shadow->line_pages[i] = 0;
            return result;
        }
        result = shadow->driver.cuMemsetD8Async(at, 0, shadow->page, shadow->stream);
        if (result)
            return result;
    }
    return 0;
}

static ShadowGpuShadowResult map_piece(GpuShadow *shadow, GpuShadowPiece *piece) {
    uint64_t cells = cells_at(shadow, piece->address), cell_bytes = piece->bytes * shadow->cell_factor;
    ShadowGpuShadowResult result = map_lines(shadow, piece);
    if (!result)
        result = mapping_add(&shadow->map, piece->address, piece->bytes, &piece->handles[0]);
    if (result)
        return result;
    result = mapping_add(&shadow->map, cells, cell_bytes, &piece->handles[1]);
    if (result) {
        mapping_remove(&shadow->map, piece->address, piece->bytes, piece->handles[0]);
        return result;
    }
    result = shadow->driver.cuMemsetD8Async(cells, 0, cell_bytes, shadow->stream);
    return result ? result : shadow->driver.cuStreamSynchronize(shadow->stream);
}

int gpu_shadow_allocate(GpuShadow *shadow, uint64_t bytes, uint64_t *address) {
    uint64_t whole = (bytes + shadow->page - 1) / shadow->page * shadow->page;
    GpuShadowPiece *piece = shadow->pieces;
    while (piece && (piece->asked || piece->bytes < whole))
        piece = piece->next;
    if (!bytes || !piece)
        return bytes ? NO_MEMORY : BAD_VALUE;
    if (piece->bytes > whole) {
        GpuShadowPiece *rest = new_piece(piece->address + whole, piece->bytes - whole, piece->next);
        if (!rest)
            return NO_MEMORY;
        piece->next = rest;
        piece->bytes = whole;
    }
    ShadowGpuShadowResult result = map_piece(shadow, piece);
    if (!result) {
        piece->asked = bytes;
        *address = piece->address;
    }
    return result;
}

/* Holes beside each other become one. */
static void close_holes(GpuShadow *shadow) {
    for (GpuShadowPiece *piece = shadow->pieces; piece && piece->next;) {
        GpuShadowPiece *next = piece->next;
        if (piece->asked || next->asked) {
            piece = next;
            continue;
        }
        piece->bytes += next->bytes;
        piece->next = next->next;
        free(next);
    }
}

int gpu_shadow_release(GpuShadow *shadow, uint64_t address) {
    GpuShadowPiece *piece = shadow->pieces;
    while (piece && (!piece->asked || piece->address != address))
        piece = piece->next;
    if (!piece)
        return BAD_VALUE;
    ShadowGpuShadowResult result = shadow->driver.cuCtxSynchronize();
    mapping_remove(&shadow->map, piece->address, piece->bytes, piece->handles[0]);
    mapping_remove(&shadow->map, cells_at(shadow, piece->address), piece->bytes * shadow->cell_factor,
                   piece->handles[1]);
    piece->asked = 0;
    close_holes(shadow);
    return result;
}

bool gpu_shadow_holds(const GpuShadow *shadow, uint64_t address, uint64_t *base, uint64_t *bytes) {
    for (const GpuShadowPiece *piece = shadow->pieces; piece; piece = piece->next)
        if (piece->asked && address - piece->address < piece->bytes) {
            *base = piece->address;
            *bytes = piece->asked;
            return true;
        }
    return false;
}

void gpu_shadow_close(GpuShadow *shadow) {
    if (!shadow)
        return;
    for (GpuShadowPiece *piece = shadow->pieces, *next; piece; piece = next) {
        next = piece->next;
        if (piece->asked) {
            mapping_remove(&shadow->map, piece->address, piece->bytes, piece->handles[0]);
            mapping_remove(&shadow->map, cells_at(shadow, piece->address), piece->bytes * shadow->cell_factor,
                           piece->handles[1]);
        }
        free(piece);
    }
    GpuShadowStore *stores[] = {&shadow->state, &shadow->actors, &shadow->vectors, &shadow->rows,
                                &shadow->flags, &shadow->ctas,   &shadow->taken,   &shadow->reports,
                                &shadow->pairs, &shadow->begun,  &shadow->clusters};
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++)
        if (stores[i]->address)
            shadow->driver.cuMemFree_v2(stores[i]->address);
    for (uint64_t i = 0; i < shadow->line_page_count; i++)
        if (shadow->line_pages[i])
            mapping_remove(&shadow->map, shadow->lines + i * shadow->page, shadow->page, shadow->line_pages[i]);
    shadow->map.cuMemAddressFree(shadow->real, shadow->reserved);
    shadow->driver.cuStreamDestroy_v2(shadow->stream);
    free(shadow->line_pages);
    free(shadow);
}

/* ---- Launches --------------------------------------------------------------------------------------------------- */

/* At least so many bytes; what is new is zero. */
static bool make_room(GpuShadow *shadow, GpuShadowStore *store, uint64_t bytes, void *stream) {
    if (store->bytes >= bytes)
        return true;
    if (store->address && shadow->driver.cuMemFree_v2(store->address)) /* nothing runs: a launch is waited for */
        return false;
    *store = (GpuShadowStore){0};
    if (shadow->driver.cuMemAlloc_v2(&store->address, bytes))
        return false;
    store->bytes = bytes;
    return !shadow->driver.cuMemsetD8Async(store->address, 0, bytes, stream);
}

static bool clear(GpuShadow *shadow, const GpuShadowStore *store, uint64_t bytes, void *stream) {
    return !bytes || !shadow->driver.cuMemsetD8Async(store->address, 0, bytes, stream);
}

static bool clear_cells(GpuShadow *shadow, void *stream) {
    for (const GpuShadowPiece *piece = shadow->pieces; piece; piece = piece->next)
        if (piece->asked && shadow->driver.cuMemsetD8Async(cells_at(shadow, piece->address), 0,
                                                           piece->bytes * shadow->cell_factor, stream))
            return false;
    for (uint64_t i = 0; i < shadow->line_page_count; i++)
        if (shadow->line_pages[i] &&
            shadow->driver.cuMemsetD8Async(shadow->lines + i * shadow->page, 0, shadow->page, stream))
            return false;
    return true;
}

/* How many CTAs (clusters) there are, and how many of them have slots. */
typedef struct GpuShadowPlan {
    uint32_t actors, slots, shift, rows, threads;
    uint64_t stride, row_bytes;
    bool own, clocked;
} GpuShadowPlan;

static const char *plan_launch(const GpuShadow *shadow, const GpuShadowMark *mark, const GpuShadowShape *shape,
                               GpuShadowPlan *plan) {
    uint64_t ctas = (uint64_t)shape->grid[0] * shape->grid[1] * shape->grid[2];
    uint32_t cluster = shape->cluster[0] * shape->cluster[1] * shape->cluster[2];
    cluster = cluster ? cluster : 1;
    if (!ctas || ctas > (1u << SHADOW_STAMP) - 2)
        return "the grid has more CTAs than a cell can tell apart";
    *plan = (GpuShadowPlan){.actors = (uint32_t)(ctas / cluster), .clocked = shadow->seed || (mark->flags & 1)};
    plan->threads = shape->block[0] * shape->block[1] * shape->block[2] * cluster;
    plan->shift = plan->clocked && !shadow->seed && (mark->flags & 2) ? 1 : 0;
    uint32_t resident = shape->resident / cluster;
    resident = resident ? resident : 1;
    plan->own = plan->actors <= resident;
    plan->slots = plan->own ? plan->actors : resident;
    if (plan->slots > SHADOW_MOST_SLOTS)
        return "more CTAs run at the same time than there are slots for";
    if (!plan->clocked)
        return NULL;
    uint64_t entries = (uint64_t)plan->slots << plan->shift;
    plan->stride = ((shadow->seed ? 2 : 4) * entries + 15) / 16 * 16;
    plan->row_bytes = (4 * entries + 15) / 16 * 16;
    for (plan->rows = SHADOW_ROWS; plan->rows > SHADOW_ROWS_LEAST; plan->rows /= 2)
        if (plan->rows * plan->row_bytes <= shadow->row_bytes)
            break;
    return NULL;
}

static bool make_stores(GpuShadow *shadow, const GpuShadowPlan *plan, void *stream) {
    uint64_t slots = plan->slots;
    if (!make_room(shadow, &shadow->state, sizeof(ShadowState), stream) ||
        !make_room(shadow, &shadow->reports, SHADOW_REPORTS * sizeof(ShadowReport), stream) ||
        !make_room(shadow, &shadow->pairs, SHADOW_PAIRS * 4, stream))
        return false;
    if (!plan->clocked)
        return true;
    return make_room(shadow, &shadow->actors, slots * sizeof(ShadowActor), stream) &&
           make_room(shadow, &shadow->vectors, slots * SHADOW_VECTORS * plan->stride, stream) &&
           make_room(shadow, &shadow->rows, plan->rows * plan->row_bytes, stream) &&
           make_room(shadow, &shadow->flags, SHADOW_BUCKETS * SHADOW_WAYS * sizeof(ShadowFlag), stream) &&
           make_room(shadow, &shadow->ctas, 4 * (uint64_t)plan->actors, stream) &&
           make_room(shadow, &shadow->taken, 4 * ((slots + 31) / 32), stream) &&
           (!shadow->seed || (make_room(shadow, &shadow->begun, 2 * slots, stream) &&
                              make_room(shadow, &shadow->clusters, 8 * slots, stream)));
}

/* CTAs of one cluster are one actor, so each slot is a cluster of its own. */
static bool number_slots(GpuShadow *shadow, const GpuShadowPlan *plan, void *stream) {
    static uint64_t numbers[SHADOW_MOST_SLOTS];
    for (uint32_t i = 0; i < SHADOW_MOST_SLOTS; i++)
        numbers[i] = i;
    const Driver *driver = &shadow->driver;
    return !driver->cuMemsetD8Async(shadow->begun.address, 0, 2 * (uint64_t)plan->slots, stream) &&
           !driver->cuMemcpyHtoDAsync_v2(shadow->clusters.address, numbers, 8 * (uint64_t)plan->slots, stream);
}

/* Tags are used again when all have been: nothing with one may be left then. */
static bool next_tag(GpuShadow *shadow, void *stream) {
    if (shadow->tag == SHADOW_TAGS || shadow->seed) {
        shadow->tag = 0;
        if (!clear_cells(shadow, stream))
            return false;
        if (shadow->flags.address && !clear(shadow, &shadow->flags, shadow->flags.bytes, stream))
            return false;
    }
    shadow->tag++;
    return true;
}

static bool clear_launch(GpuShadow *shadow, const GpuShadowPlan *plan, void *stream) {
    if (!clear(shadow, &shadow->pairs, SHADOW_PAIRS * 4, stream) ||
        !clear(shadow, &shadow->reports, SHADOW_REPORTS * sizeof(ShadowReport), stream))
        return false;
    if (!plan->clocked)
        return true;
    uint64_t used = shadow->used_rows < shadow->rows.bytes ? shadow->used_rows : shadow->rows.bytes;
    shadow->used_rows = plan->rows * plan->row_bytes;
    return clear(shadow, &shadow->actors, plan->slots * sizeof(ShadowActor), stream) &&
           clear(shadow, &shadow->vectors, plan->slots * SHADOW_VECTORS * plan->stride, stream) &&
           clear(shadow, &shadow->rows, used, stream) &&
           (plan->own || (clear(shadow, &shadow->ctas, 4 * (uint64_t)plan->actors, stream) &&
                          clear(shadow, &shadow->taken, 4 * ((plan->slots + 31) / 32), stream)));
}

static void fill_header(GpuShadow *shadow, const GpuShadowPlan *plan, const GpuShadowShape *shape) {
    shadow->header = (ShadowState){.actors = shadow->actors.address,
                                   .vectors = shadow->vectors.address,
                                   .rows = shadow->rows.address,
                                   .flags = shadow->flags.address,
                                   .ctas = plan->own ? 0 : shadow->ctas.address,
                                   .taken = shadow->taken.address,
                                   .reports = shadow->reports.address,
                                   .pairs = shadow->pairs.address,
                                   .slots = plan->slots,
                                   .stride = (uint32_t)plan->stride,
                                   .row_count = plan->rows,
                                   .row_bytes = (uint32_t)plan->row_bytes,
                                   .threads = plan->threads,
                                   .slot_shift = plan->shift,
                                   .tag = shadow->tag,
                                   .random = shadow->tag * 0x9e3779b97f4a7c15u,
                                   .slot_words = (plan->slots + 31) / 32,
                                   .begun = shadow->seed ? shadow->begun.address : 0,
                                   .clusters = shadow->seed ? shadow->clusters.address : 0,
                                   .real = shadow->real,
                                   .bytes = shadow->range,
                                   .cells = shadow->cells};
    uint32_t count = shape->map_count < SHADOW_MAPS ? shape->map_count : SHADOW_MAPS;
    if (count)
        memcpy(shadow->header.maps, shape->maps, count * sizeof *shape->maps);
}

bool gpu_shadow_prepare(GpuShadow *shadow, const GpuShadowMark *mark, const GpuShadowShape *shape, ShadowLaunch *launch,
                        const char **problem) {
    GpuShadowPlan plan;
    *problem = mark->abi == SHADOW_ABI ? plan_launch(shadow, mark, shape, &plan)
                                       : "the kernel was instrumented by another version of Weir";
    if (*problem)
        return false;
    *problem = "there is not enough memory on the device for clocks and reports";
    if (!make_stores(shadow, &plan, shape->stream) || !next_tag(shadow, shape->stream) ||
        !clear_launch(shadow, &plan, shape->stream) || (shadow->seed && !number_slots(shadow, &plan, shape->stream)))
        return false;
    uint32_t form = shadow_split(shadow->tag, (plan.clocked ? plan.slots : plan.actors + 1) << plan.shift, plan.actors,
                                 mark->sites, plan.clocked);
    form = shadow->seed ? shadow_form(shadow->tag, 0, 16) : form;
    *problem = "the grid has more CTAs than a cell can tell apart";
    if (!form)
        return false;
    fill_header(shadow, &plan, shape);
    *problem = "the device does not take the launch's block";
    if (shadow->driver.cuMemcpyHtoDAsync_v2(shadow->state.address, &shadow->header, sizeof shadow->header,
                                            shape->stream))
        return false;
    uint32_t cluster = shape->cluster[0] * shape->cluster[1] * shape->cluster[2];
    *launch = (ShadowLaunch){.real = shadow->real,
                             .bytes = shadow->range,
                             .cells = shadow->cells,
                             .state = shadow->state.address,
                             .form = form,
                             .cluster = cluster ? cluster : 1};
    shadow_clocks(launch, &shadow->header);
    *problem = NULL;
    return true;
}

static ShadowGpuShadowResult copy_back(const GpuShadow *shadow, void *to, uint64_t from, size_t bytes) {
    ShadowGpuShadowResult result = shadow->driver.cuMemcpyDtoHAsync_v2(to, from, bytes, shadow->stream);
    return result ? result : shadow->driver.cuStreamSynchronize(shadow->stream);
}

int gpu_shadow_collect(GpuShadow *shadow, void *stream, GpuShadowResult *result) {
    const Driver *driver = &shadow->driver;
    ShadowGpuShadowResult status = driver->cuStreamSynchronize(stream);
    if (!status)
        status = copy_back(shadow, &result->state, shadow->state.address, sizeof result->state);
    if (status)
        return status;
    uint64_t used = (uint64_t)result->state.rows_used * result->state.row_bytes;
    if (used < shadow->used_rows)
        shadow->used_rows = used;
    result->count = result->state.report_count < SHADOW_REPORTS ? result->state.report_count : SHADOW_REPORTS;
    return result->count
               ? copy_back(shadow, result->reports, shadow->reports.address, result->count * sizeof(ShadowReport))
               : 0;
}
