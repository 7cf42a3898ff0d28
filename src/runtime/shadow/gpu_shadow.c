/* Memory with shadow memory beside it, and what launches of kernels that check themselves need. */
#include "runtime/shadow/internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    shadow->beside_bytes = (sizeof(ShadowBeside) + page - 1) / page * page;
    shadow->reserved =
        shadow->beside_bytes + shadow->range * (1 + shadow->cell_factor) + shadow->line_page_count * page;
    if (shadow->map.cuMemAddressReserve(&shadow->beside_at, shadow->reserved, page, 0, 0))
        return "the addresses for shadow memory could not be reserved";
    shadow->real = shadow->beside_at + shadow->beside_bytes;
    if (mapping_add(&shadow->map, shadow->beside_at, shadow->beside_bytes, &shadow->beside_page) ||
        shadow->driver.cuMemsetD8Async(shadow->beside_at, 0, shadow->beside_bytes, shadow->stream))
        return "there is no memory for shadow memory";
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
    shadow->over = options->over;
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

uint64_t shadow_cells_at(const GpuShadow *shadow, uint64_t address) {
    return shadow->cells + (address - shadow->real) * shadow->cell_factor;
}

/* A page of lines' cells is for many pages of memory: it stays once it is there. */
static ShadowGpuShadowResult map_lines(GpuShadow *shadow, uint64_t address, uint64_t bytes) {
    uint64_t begin = (address - shadow->real) / SHADOW_LINE * SHADOW_GRANULE / shadow->page;
    uint64_t end = ((address + bytes - 1 - shadow->real) / SHADOW_LINE + 1) * SHADOW_GRANULE;
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

ShadowGpuShadowResult shadow_map_cells(GpuShadow *shadow, uint64_t address, uint64_t bytes, GpuMapped *cells) {
    uint64_t at = shadow_cells_at(shadow, address), cell_bytes = bytes * shadow->cell_factor;
    ShadowGpuShadowResult result = map_lines(shadow, address, bytes);
    if (!result)
        result = mapping_add(&shadow->map, at, cell_bytes, cells);
    if (result)
        return result;
    result = shadow->driver.cuMemsetD8Async(at, 0, cell_bytes, shadow->stream);
    result = result ? result : shadow->driver.cuStreamSynchronize(shadow->stream);
    if (result)
        mapping_remove(&shadow->map, at, cell_bytes, *cells);
    return result;
}

static void unmap_piece(GpuShadow *shadow, GpuShadowPiece *piece) {
    mapping_remove(&shadow->map, piece->address, piece->bytes, piece->handles[0]);
    mapping_remove(&shadow->map, shadow_cells_at(shadow, piece->address), piece->bytes * shadow->cell_factor,
                   piece->handles[1]);
}

/* `file`: of memory of another process; -1: it is new. */
ShadowGpuShadowResult shadow_fill(GpuShadow *shadow, GpuShadowPiece *piece, uint64_t bytes, int file) {
    ShadowGpuShadowResult result =
        file < 0 ? mapping_add_shared(&shadow->map, piece->address, piece->bytes, &piece->handles[0])
                 : mapping_import(&shadow->map, piece->address, piece->bytes, file, &piece->handles[0]);
    if (result)
        return result;
    result = shadow_map_cells(shadow, piece->address, piece->bytes, &piece->handles[1]);
    if (result)
        mapping_remove(&shadow->map, piece->address, piece->bytes, piece->handles[0]);
    else
        piece->asked = bytes;
    return result;
}

GpuShadowPiece *shadow_take(GpuShadow *shadow, uint64_t bytes) {
    uint64_t whole = (bytes + shadow->page - 1) / shadow->page * shadow->page;
    GpuShadowPiece *piece = shadow->pieces;
    while (piece && (piece->asked || piece->bytes < whole))
        piece = piece->next;
    if (piece && piece->bytes > whole) {
        GpuShadowPiece *rest = new_piece(piece->address + whole, piece->bytes - whole, piece->next);
        if (!rest)
            return NULL;
        piece->next = rest;
        piece->bytes = whole;
    }
    return piece;
}

int gpu_shadow_allocate(GpuShadow *shadow, uint64_t bytes, uint64_t *address) {
    GpuShadowPiece *piece = bytes ? shadow_take(shadow, bytes) : NULL;
    if (!piece)
        return bytes ? NO_MEMORY : BAD_VALUE;
    ShadowGpuShadowResult result = shadow_fill(shadow, piece, bytes, -1);
    if (!result)
        *address = piece->address;
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

void shadow_give_back(GpuShadow *shadow, GpuShadowPiece *piece) {
    if (piece->file)
        close(piece->file - 1);
    piece->asked = 0;
    piece->lent = false;
    piece->file = 0;
    piece->opened = 0;
    close_holes(shadow);
}

int gpu_shadow_release(GpuShadow *shadow, uint64_t address) {
    GpuShadowPiece *piece = shadow_piece(shadow, address);
    if (!piece || piece->address != address)
        return BAD_VALUE;
    ShadowGpuShadowResult result = shadow->driver.cuCtxSynchronize();
    unmap_piece(shadow, piece);
    shadow_give_back(shadow, piece);
    return result;
}

GpuShadowPiece *shadow_piece(const GpuShadow *shadow, uint64_t address) {
    GpuShadowPiece *piece = shadow->pieces;
    while (piece && (!piece->asked || piece->lent || address - piece->address >= piece->bytes))
        piece = piece->next;
    return piece;
}

bool gpu_shadow_holds(const GpuShadow *shadow, uint64_t address, uint64_t *base, uint64_t *bytes) {
    const GpuShadowPiece *piece = shadow_piece(shadow, address);
    if (piece) {
        *base = piece->address;
        *bytes = piece->asked;
    }
    return piece;
}

static void close_seat(GpuShadow *shadow, GpuShadowSeat *seat) {
    GpuShadowStore *stores[] = {&seat->state, &seat->actors, &seat->vectors,  &seat->rows,
                                &seat->flags, &seat->ctas,   &seat->taken,    &seat->reports,
                                &seat->pairs, &seat->begun,  &seat->clusters, &seat->waits,
                                &seat->signals};
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++)
        if (stores[i]->address)
            shadow->driver.cuMemFree_v2(stores[i]->address);
    if (seat->event)
        shadow->driver.cuEventDestroy_v2(seat->event);
}

void gpu_shadow_close(GpuShadow *shadow) {
    if (!shadow)
        return;
    for (GpuShadowPiece *piece = shadow->pieces, *next; piece; piece = next) {
        next = piece->next;
        if (piece->asked && !piece->lent)
            unmap_piece(shadow, piece);
        free(piece);
    }
    lent_close(shadow);
    for (unsigned i = 0; i < SEATS; i++)
        close_seat(shadow, &shadow->seats[i]);
    for (unsigned i = 0; i < shadow->old_count; i++)
        shadow->driver.cuMemFree_v2(shadow->old[i].address);
    for (unsigned i = 0; i <= SHADOW_TAGS; i++)
        free(shadow->about[i]);
    for (uint64_t i = 0; i < shadow->line_page_count; i++)
        if (shadow->line_pages[i])
            mapping_remove(&shadow->map, shadow->lines + i * shadow->page, shadow->page, shadow->line_pages[i]);
    mapping_remove(&shadow->map, shadow->beside_at, shadow->beside_bytes, shadow->beside_page);
    shadow->map.cuMemAddressFree(shadow->beside_at, shadow->reserved);
    shadow->driver.cuStreamDestroy_v2(shadow->stream);
    free(shadow->line_pages);
    free(shadow);
}

/* ---- Launches --------------------------------------------------------------------------------------------------- */

/* At least so many bytes; what is new is zero. What is too small stays for a while: the driver waits for all that runs
 * when it takes memory back. */
static bool make_room(GpuShadow *shadow, GpuShadowStore *store, uint64_t bytes) {
    if (store->bytes >= bytes)
        return true;
    if (store->address && shadow->old_count == MOST_OLD && shadow->driver.cuMemFree_v2(store->address))
        return false;
    if (store->address && shadow->old_count < MOST_OLD)
        shadow->old[shadow->old_count++] = *store;
    *store = (GpuShadowStore){0};
    if (shadow->driver.cuMemAlloc_v2(&store->address, bytes))
        return false;
    store->bytes = bytes;
    return !shadow->driver.cuMemsetD8Async(store->address, 0, bytes, shadow->stream);
}

static bool clear(GpuShadow *shadow, const GpuShadowStore *store, uint64_t bytes) {
    return !bytes || !shadow->driver.cuMemsetD8Async(store->address, 0, bytes, shadow->stream);
}

static bool clear_cells(GpuShadow *shadow) {
    for (const GpuShadowPiece *piece = shadow->pieces; piece; piece = piece->next)
        if (piece->asked && !piece->lent &&
            shadow->driver.cuMemsetD8Async(shadow_cells_at(shadow, piece->address), 0,
                                           piece->bytes * shadow->cell_factor, shadow->stream))
            return false;
    for (uint64_t i = 0; i < shadow->line_page_count; i++)
        if (shadow->line_pages[i] &&
            shadow->driver.cuMemsetD8Async(shadow->lines + i * shadow->page, 0, shadow->page, shadow->stream))
            return false;
    return lent_clear(shadow);
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

static uint64_t wait_bytes(const GpuShadowPlan *plan) {
    return 4 * ((uint64_t)plan->actors / 32 + 1);
}

static bool wants_signals(const GpuShadow *shadow, const GpuShadowPlan *plan, const GpuShadowShape *shape) {
    return shape->signals && plan->clocked && !shadow->seed;
}

static bool make_stores(GpuShadow *shadow, GpuShadowSeat *seat, const GpuShadowPlan *plan,
                        const GpuShadowShape *shape) {
    uint64_t slots = plan->slots;
    if (!make_room(shadow, &seat->state, sizeof(ShadowState)) ||
        !make_room(shadow, &seat->reports, SHADOW_REPORTS * sizeof(ShadowReport)) ||
        !make_room(shadow, &seat->pairs, SHADOW_PAIRS * 4) ||
        (shape->dependent && !make_room(shadow, &seat->waits, wait_bytes(plan))))
        return false;
    if (!plan->clocked)
        return true;
    if (wants_signals(shadow, plan, shape) &&
        !make_room(shadow, &seat->signals, SHADOW_SIGNALS * sizeof(ShadowSignal)))
        return false;
    return make_room(shadow, &seat->actors, slots * sizeof(ShadowActor)) &&
           make_room(shadow, &seat->vectors, slots * SHADOW_VECTORS * plan->stride) &&
           make_room(shadow, &seat->rows, plan->rows * plan->row_bytes) &&
           make_room(shadow, &seat->flags, SHADOW_BUCKETS * SHADOW_WAYS * sizeof(ShadowFlag)) &&
           make_room(shadow, &seat->ctas, 4 * (uint64_t)plan->actors) &&
           make_room(shadow, &seat->taken, 4 * ((slots + 31) / 32)) &&
           (!shadow->seed ||
            (make_room(shadow, &seat->begun, 2 * slots) && make_room(shadow, &seat->clusters, 8 * slots)));
}

/* CTAs of one cluster are one actor, so each slot is a cluster of its own. */
static bool number_slots(GpuShadow *shadow, const GpuShadowSeat *seat, const GpuShadowPlan *plan) {
    static uint64_t numbers[SHADOW_MOST_SLOTS];
    for (uint32_t i = 0; i < SHADOW_MOST_SLOTS; i++)
        numbers[i] = i;
    const Driver *driver = &shadow->driver;
    return !driver->cuMemsetD8Async(seat->begun.address, 0, 2 * (uint64_t)plan->slots, shadow->stream) &&
           !driver->cuMemcpyHtoDAsync_v2(seat->clusters.address, numbers, 8 * (uint64_t)plan->slots, shadow->stream);
}

static bool clear_launch(GpuShadow *shadow, GpuShadowSeat *seat, const GpuShadowPlan *plan, bool dependent) {
    if (!clear(shadow, &seat->pairs, SHADOW_PAIRS * 4) ||
        !clear(shadow, &seat->reports, SHADOW_REPORTS * sizeof(ShadowReport)) ||
        (dependent && !clear(shadow, &seat->waits, wait_bytes(plan))))
        return false;
    if (!plan->clocked)
        return true;
    uint64_t used = seat->used_rows < seat->rows.bytes ? seat->used_rows : seat->rows.bytes;
    seat->used_rows = plan->rows * plan->row_bytes;
    return clear(shadow, &seat->actors, plan->slots * sizeof(ShadowActor)) &&
           clear(shadow, &seat->vectors, plan->slots * SHADOW_VECTORS * plan->stride) &&
           clear(shadow, &seat->rows, used) &&
           (plan->own || (clear(shadow, &seat->ctas, 4 * (uint64_t)plan->actors) &&
                          clear(shadow, &seat->taken, 4 * ((plan->slots + 31) / 32))));
}

static void fill_header(GpuShadow *shadow, GpuShadowSeat *seat, const GpuShadowPlan *plan,
                        const GpuShadowShape *shape) {
    seat->header = (ShadowState){.actors = seat->actors.address,
                                 .vectors = seat->vectors.address,
                                 .rows = seat->rows.address,
                                 .flags = seat->flags.address,
                                 .ctas = plan->own ? 0 : seat->ctas.address,
                                 .taken = seat->taken.address,
                                 .reports = seat->reports.address,
                                 .pairs = seat->pairs.address,
                                 .slots = plan->slots,
                                 .stride = (uint32_t)plan->stride,
                                 .row_count = plan->rows,
                                 .row_bytes = (uint32_t)plan->row_bytes,
                                 .threads = plan->threads,
                                 .slot_shift = plan->shift,
                                 .tag = shadow->tag,
                                 .random = shadow->tag * 0x9e3779b97f4a7c15u,
                                 .slot_words = (plan->slots + 31) / 32,
                                 .begun = shadow->seed ? seat->begun.address : 0,
                                 .real = shadow->real,
                                 .bytes = shadow->range,
                                 .cells = shadow->cells,
                                 .waits = shape->dependent ? seat->waits.address : 0,
                                 .signals = wants_signals(shadow, plan, shape) ? seat->signals.address : 0};
    if (shadow->seed)
        seat->header.clusters = seat->clusters.address;
    uint32_t count = shape->map_count < SHADOW_MAPS ? shape->map_count : SHADOW_MAPS;
    if (count)
        memcpy(seat->header.maps, shape->maps, count * sizeof *shape->maps);
}

/* ---- Launches that are over ---------------------------------------------------------------------------------------
 */

ShadowGpuShadowResult shadow_copy_back(const GpuShadow *shadow, void *to, uint64_t from, size_t bytes) {
    ShadowGpuShadowResult result = shadow->driver.cuMemcpyDtoHAsync_v2(to, from, bytes, shadow->stream);
    return result ? result : shadow->driver.cuStreamSynchronize(shadow->stream);
}

static ShadowGpuShadowResult fetch(GpuShadow *shadow, GpuShadowSeat *seat, GpuShadowResult *result) {
    ShadowGpuShadowResult status = shadow_copy_back(shadow, &result->state, seat->state.address, sizeof result->state);
    if (status)
        return status;
    uint64_t used = (uint64_t)result->state.rows_used * result->state.row_bytes;
    if (used < seat->used_rows)
        seat->used_rows = used;
    uint32_t signals = !shadow->seed && result->state.signals ? result->state.signal_count : 0;
    result->signal_count = signals < SHADOW_SIGNALS ? signals : SHADOW_SIGNALS;
    if (result->signal_count)
        status = shadow_copy_back(shadow, result->signals, seat->signals.address,
                                  result->signal_count * sizeof *result->signals);
    if (status)
        return status;
    result->count = result->state.report_count < SHADOW_REPORTS ? result->state.report_count : SHADOW_REPORTS;
    return result->count
               ? shadow_copy_back(shadow, result->reports, seat->reports.address, result->count * sizeof(ShadowReport))
               : 0;
}

static void end_seat(GpuShadow *shadow, GpuShadowSeat *seat, ShadowGpuShadowResult status) {
    static GpuShadowResult result;
    uint32_t tag = seat->was = seat->tag;
    if (!status)
        status = fetch(shadow, seat, &result);
    seat->tag = 0;
    if (shadow->over)
        shadow->over(shadow->about[tag], status, status ? NULL : &result);
}

/* The one that was made first. */
static GpuShadowSeat *first_seat(GpuShadow *shadow) {
    GpuShadowSeat *first = NULL;
    for (unsigned i = 0; i < SEATS; i++)
        if (shadow->seats[i].made && (!first || shadow->seats[i].number < first->number))
            first = &shadow->seats[i];
    return first;
}

static void await_seat(GpuShadow *shadow, GpuShadowSeat *seat) {
    seat->made = false;
    end_seat(shadow, seat, shadow->driver.cuEventSynchronize(seat->event));
}

void gpu_shadow_look(GpuShadow *shadow, bool waits) {
    for (GpuShadowSeat *first; waits && (first = first_seat(shadow));)
        await_seat(shadow, first);
    for (unsigned i = 0; i < SEATS; i++) {
        GpuShadowSeat *seat = &shadow->seats[i];
        ShadowGpuShadowResult status = seat->made ? shadow->driver.cuEventQuery(seat->event) : NOT_READY;
        if (status == NOT_READY)
            continue;
        seat->made = false;
        end_seat(shadow, seat, status);
    }
    for (; !first_seat(shadow) && shadow->old_count; shadow->old_count--)
        shadow->driver.cuMemFree_v2(shadow->old[shadow->old_count - 1].address);
}

const void *gpu_shadow_about(const GpuShadow *shadow, uint32_t tag) {
    return tag <= SHADOW_TAGS ? shadow->about[tag] : NULL;
}

void gpu_shadow_made(GpuShadow *shadow, void *stream) {
    GpuShadowSeat *seat = shadow->last;
    ShadowGpuShadowResult status = seat->event ? 0 : shadow->driver.cuEventCreate(&seat->event, NO_TIMING);
    if (!status)
        status = shadow->driver.cuEventRecord(seat->event, stream);
    seat->number = shadow->launches++;
    seat->made = !status;
    if (status) /* a stream of another context */
        end_seat(shadow, seat, shadow->driver.cuStreamSynchronize(stream));
}

int gpu_shadow_collect(GpuShadow *shadow, void *stream, GpuShadowResult *result) {
    GpuShadowSeat *seat = shadow->last;
    ShadowGpuShadowResult status = shadow->driver.cuStreamSynchronize(stream);
    if (!status)
        status = fetch(shadow, seat, result);
    seat->tag = 0;
    seat->made = false;
    return status;
}

/* ---- Which may run at the same time -------------------------------------------------------------------------------
 */

static void set_bit(uint32_t row[8], uint32_t tag) {
    row[tag / 32] |= 1u << tag % 32;
}
static bool has_any(const uint32_t row[8], const uint32_t of[8]) {
    uint32_t any = 0;
    for (unsigned i = 0; i < 8; i++)
        any |= row[i] & of[i];
    return any;
}

/* Whether a launch that is not over may run at the same time as another one, over or not. */
static bool some_beside(const GpuShadow *shadow) {
    uint32_t open[8] = {0}, all[8];
    bool any = false;
    memset(all, 0xff, sizeof all);
    for (unsigned i = 0; i < SEATS; i++)
        if (shadow->seats[i].tag)
            set_bit(open, shadow->seats[i].tag);
    for (uint32_t tag = 1; tag <= SHADOW_TAGS && !any; tag++)
        any = has_any(shadow->beside.begun[tag], open[tag / 32] >> tag % 32 & 1 ? all : open);
    return any;
}

static bool is_pair(const ShadowBeside *beside, uint32_t one, uint32_t other) {
    return (beside->begun[one][other / 32] >> other % 32 & 1) || (beside->begun[other][one / 32] >> one % 32 & 1);
}

/* Launches whose signals one that is not over may read. */
static void find_talks(GpuShadow *shadow) {
    ShadowBeside *beside = &shadow->beside;
    memset(beside->talks, 0, sizeof beside->talks);
    for (unsigned i = 0; i < SEATS; i++) {
        uint32_t tag = shadow->seats[i].tag;
        for (uint32_t other = 1; other <= SHADOW_TAGS && tag; other++)
            if (beside->states[other] && is_pair(beside, tag, other))
                set_bit(beside->talks, other);
    }
}

static void forget_tag(GpuShadow *shadow, uint32_t tag) {
    ShadowBeside *beside = &shadow->beside;
    for (uint32_t i = 0; i <= SHADOW_TAGS; i++) {
        beside->begun[i][tag / 32] &= ~(1u << tag % 32);
        beside->waited[i][tag / 32] &= ~(1u << tag % 32);
    }
    memset(beside->begun[tag], 0, sizeof beside->begun[tag]);
    memset(beside->waited[tag], 0, sizeof beside->waited[tag]);
    beside->states[tag] = 0;
    free(shadow->about[tag]);
    shadow->about[tag] = NULL;
}

/* The device has to know of it before the launch begins; of launches that are all one after the other it knows nothing.
 */
static bool place_launch(GpuShadow *shadow, GpuShadowSeat *seat, const GpuShadowMark *mark, const GpuShadowShape *shape,
                         const GpuShadowPlan *plan, uint32_t form) {
    enum { WAITS_ELSEWHERE = 8 };
    ShadowBeside *beside = &shadow->beside;
    uint32_t tag = shadow->tag;
    forget_tag(shadow, tag);
    shadow->about[tag] = shape->about;
    for (uint32_t i = 1; i <= SHADOW_TAGS && shape->beside; i++) {
        unsigned how = i != tag && shadow->about[i] ? shape->beside(shape->about, shadow->about[i]) : 0;
        if (how & (mark->flags & WAITS_ELSEWHERE ? GPU_SHADOW_WAITED : GPU_SHADOW_BEGUN))
            set_bit(beside->begun[tag], i);
        if (how & GPU_SHADOW_WAITED)
            set_bit(beside->waited[tag], i);
    }
    beside->forms[tag] =
        (form >> 8 & 255) | (form >> 16 & 255) << 8 | plan->shift << 16 | (uint32_t)plan->own << SHADOW_BESIDE_OWN;
    for (uint32_t i = 1; i <= SHADOW_TAGS; i++)
        beside->states[i] = beside->states[i] == seat->state.address ? SHADOW_BESIDE_UNKNOWN : beside->states[i];
    beside->states[tag] = plan->clocked ? seat->state.address : 0;
    seat->tag = tag;
    beside->any = some_beside(shadow);
    find_talks(shadow);
    if (!beside->any && !shadow->beside_there)
        return true;
    shadow->beside_there = beside->any;
    return !shadow->driver.cuMemcpyHtoDAsync_v2(shadow->real - sizeof *beside, beside, sizeof *beside, shadow->stream);
}

void gpu_shadow_undo(GpuShadow *shadow) {
    forget_tag(shadow, shadow->last->tag);
    shadow->last->tag = 0;
}

/* ---- Making one ---------------------------------------------------------------------------------------------------
 */

/* Whether the signals of the launch that had the seat may still be read: by the one that gets a seat, or by another. */
static bool is_asked_for(const GpuShadow *shadow, const GpuShadowSeat *seat, const GpuShadowShape *shape) {
    const void *about = shadow->beside.states[seat->was] ? shadow->about[seat->was] : NULL;
    bool asked = about && shape->beside && shape->beside(shape->about, about);
    for (unsigned i = 0; i < SEATS && about && !asked; i++)
        asked = shadow->seats[i].tag && is_pair(&shadow->beside, shadow->seats[i].tag, seat->was);
    return asked;
}

/* NULL: launches have all of them that are prepared, and not made. */
static GpuShadowSeat *free_seat(GpuShadow *shadow, const GpuShadowShape *shape) {
    gpu_shadow_look(shadow, shadow->seed);
    for (;;) {
        GpuShadowSeat *found = NULL;
        for (unsigned i = 0; i < SEATS; i++)
            if (!shadow->seats[i].tag && !is_asked_for(shadow, &shadow->seats[i], shape))
                return &shadow->seats[i];
            else if (!shadow->seats[i].tag)
                found = &shadow->seats[i];
        GpuShadowSeat *first = found ? NULL : first_seat(shadow);
        if (!first)
            return found;
        await_seat(shadow, first);
    }
}

/* Tags are used again when all have been: nothing with one may be left then. */
static bool next_tag(GpuShadow *shadow) {
    if (shadow->tag == SHADOW_TAGS || shadow->seed) {
        gpu_shadow_look(shadow, true);
        for (uint32_t tag = 1; tag <= SHADOW_TAGS; tag++)
            forget_tag(shadow, tag);
        shadow->tag = 0;
        if (!clear_cells(shadow))
            return false;
        for (unsigned i = 0; i < SEATS; i++)
            if (shadow->seats[i].flags.address && !clear(shadow, &shadow->seats[i].flags, shadow->seats[i].flags.bytes))
                return false;
    }
    shadow->tag++;
    return true;
}

static const char *prepare(GpuShadow *shadow, const GpuShadowMark *mark, const GpuShadowShape *shape,
                           ShadowLaunch *launch) {
    GpuShadowPlan plan;
    GpuShadowSeat *seat = free_seat(shadow, shape);
    const char *problem = !seat                     ? "too many launches are prepared, and none of them is made"
                          : mark->abi == SHADOW_ABI ? plan_launch(shadow, mark, shape, &plan)
                                                    : "the kernel was instrumented by another version of Weir";
    if (problem)
        return problem;
    if (!make_stores(shadow, seat, &plan, shape) || !next_tag(shadow) ||
        !clear_launch(shadow, seat, &plan, shape->dependent) || (shadow->seed && !number_slots(shadow, seat, &plan)))
        return "there is not enough memory on the device for clocks and reports";
    uint32_t form = shadow_split(shadow->tag, (plan.clocked ? plan.slots : plan.actors + 1) << plan.shift, plan.actors,
                                 mark->sites, plan.clocked);
    form = shadow->seed ? shadow_form(shadow->tag, 0, 16) : form;
    if (!form)
        return "the grid has more CTAs than a cell can tell apart";
    fill_header(shadow, seat, &plan, shape);
    if (!place_launch(shadow, seat, mark, shape, &plan, form) ||
        shadow->driver.cuMemcpyHtoDAsync_v2(seat->state.address, &seat->header, sizeof seat->header, shadow->stream) ||
        shadow->driver.cuStreamSynchronize(shadow->stream)) {
        if (seat->tag)
            shadow->about[seat->tag] = NULL; /* the caller's */
        seat->tag = 0;
        return "the device does not take the launch's block";
    }
    uint32_t cluster = shape->cluster[0] * shape->cluster[1] * shape->cluster[2];
    *launch = (ShadowLaunch){.real = shadow->real,
                             .bytes = shadow->range,
                             .cells = shadow->cells,
                             .state = seat->state.address,
                             .form = form,
                             .cluster = cluster ? cluster : 1};
    shadow_clocks(launch, &seat->header);
    shadow->last = seat;
    return NULL;
}

bool gpu_shadow_prepare(GpuShadow *shadow, const GpuShadowMark *mark, const GpuShadowShape *shape, ShadowLaunch *launch,
                        const char **problem) {
    *problem = prepare(shadow, mark, shape, launch);
    if (*problem)
        free(shape->about);
    return !*problem;
}
