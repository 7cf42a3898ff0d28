/* TMA copies by tensor maps: tiles of up to five dimensions, images as columns, four rows at once; to shared memory of
 * one CTA or of several, from there, and reductions. */
#include "machine/simt/async/copies.h"
#include "machine/simt/async/tiles.h"
#include "machine/simt/core/play.h"

enum { BOX_ALIGN = 128, MAP_ALIGN = 64 }; /* an H200 faults at a box that is not at a multiple of 128 */

typedef struct TileDetail {
    const PtxArgument *map, *shared, *bar, *ctas, *offsets;
    PtxSpace shared_space, bar_space;
    TileMode mode;
    uint8_t group; /* GroupKind */
    bool loads, pair;
    ReduceAction action;
    PtxAccess map_read, read, write;
} TileDetail;

typedef struct TileCopy {
    Tile tile;
    PtxLocation map, shared;
} TileCopy;

/* ---- Landing ------------------------------------------------------------------------------------ */

/* A piece of a row in shared memory that stays together: from which byte of the row on; where it is. */
static PtxLocation piece_of(const TileCopy *copy, uint32_t row, uint32_t at) {
    const PtxBlock *block = copy->shared.block;
    uint64_t address = block->base + copy->shared.offset + (uint64_t)row * tile_pitch(&copy->tile) + at;
    return (PtxLocation){copy->shared.block, tile_swizzled(&copy->tile, address) - block->base};
}

/* The bytes in shared memory that it touches: swizzled, those of whole lines of 128 bytes are the same as without. */
static void add_shared(PtxMachine *machine, Pieces *pieces, const TileCopy *copy) {
    size_t bytes = tile_bytes(&copy->tile);
    uint32_t atom = tile_atom(&copy->tile), rows = tile_rows(&copy->tile), width = (uint32_t)(bytes / rows);
    if (!atom || (width == tile_pitch(&copy->tile) && bytes % 128 == 0)) {
        pieces_add(machine, pieces, copy->shared, (uint32_t)bytes);
        return;
    }
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t at = 0; at < width; at += atom)
            pieces_add(machine, pieces, piece_of(copy, row, at), width - at < atom ? width - at : atom);
}

/* Between shared memory and bytes in the order of the box. */
static void move_shared(PtxMachine *machine, const PtxOutstanding *outstanding, const TileCopy *copy,
                        CopyScratch *scratch, bool loads) {
    uint32_t rows = tile_rows(&copy->tile), width = (uint32_t)(tile_bytes(&copy->tile) / rows);
    uint32_t atom = tile_atom(&copy->tile), step = atom ? atom : width;
    for (uint32_t row = 0; row < rows && !machine->plays; row++)
        for (uint32_t at = 0; at < width; at += step) {
            size_t place = (size_t)row * width + at, count = width - at < step ? width - at : step;
            PtxLocation location = piece_of(copy, row, at);
            if (loads)
                copy_load(machine, outstanding->code, location, count, scratch->bytes + place, scratch->states + place);
            else
                ptx_store_bytes(machine, location, count, scratch->bytes + place, scratch->states + place);
        }
}

/* Where a row is in global memory; false: a fault, or nothing of it is in the tensor. */
static bool find_row(PtxMachine *machine, const PtxOutstanding *outstanding, const Tile *tile, uint32_t row,
                     PtxLocation *location, TileRow *found) {
    *found = tile_row(tile, row);
    return found->count &&
           ptx_resolve_one(machine, outstanding->code, outstanding->warp, outstanding->lane, PTX_SPACE_GLOBAL,
                           found->address, (uint64_t)found->count * tile_element_bytes(tile), 1, location);
}

static void report_map(PtxMachine *machine, const PtxOutstanding *outstanding, const TileCopy *copy) {
    const TileDetail *detail = outstanding->code->detail;
    uint32_t size = TENSORMAP_BYTES;
    PtxLocation location = copy->map;
    Pieces pieces = {.locations = &location, .sizes = &size, .count = 1};
    report_pieces(machine, outstanding, &detail->map_read, &pieces);
}

static void report_sides(PtxMachine *machine, const PtxOutstanding *outstanding, const TileCopy *copy,
                         const CopyScratch *scratch) {
    const TileDetail *detail = outstanding->code->detail;
    PtxAccess read = detail->read, write = detail->write;
    read.element = write.element = tile_element_bytes(&copy->tile);
    report_pieces(machine, outstanding, &read, &scratch->reads);
    report_pieces(machine, outstanding, &write, &scratch->writes);
}

/* What a row brings. */
static void load_row(PtxMachine *machine, const PtxOutstanding *outstanding, const Tile *tile, PtxLocation location,
                     size_t count, uint8_t *bytes, uint8_t *states) {
    copy_load(machine, outstanding->code, location, count, bytes, states);
    copy_note_unset(machine, outstanding, outstanding->lane, location, count, states);
    tile_convert(tile, bytes, count);
}

static void load_tile(PtxMachine *machine, const PtxOutstanding *outstanding, const TileCopy *copy) {
    const Tile *tile = &copy->tile;
    CopyScratch *scratch = copy_scratch(machine, tile_bytes(tile));
    uint32_t rows = tile_rows(tile), element = tile_element_bytes(tile), width = tile_row_elements(tile) * element;
    if (!machine->plays) {
        tile_fill(tile, scratch->bytes, tile_bytes(tile));
        memset(scratch->states, BYTE_KNOWN, tile_bytes(tile));
    }
    for (uint32_t row = 0; row < rows; row++) {
        PtxLocation location;
        TileRow found;
        if (find_row(machine, outstanding, tile, row, &location, &found)) {
            size_t at = (size_t)row * width + (size_t)found.first * element, count = (size_t)found.count * element;
            pieces_add(machine, &scratch->reads, location, found.count * element);
            if (!machine->plays)
                load_row(machine, outstanding, tile, location, count, scratch->bytes + at, scratch->states + at);
        }
        if (machine->fault.code)
            return;
    }
    add_shared(machine, &scratch->writes, copy);
    report_map(machine, outstanding, copy);
    report_sides(machine, outstanding, copy, scratch);
    move_shared(machine, outstanding, copy, scratch, false);
    copy_completes(machine, outstanding, outstanding->place, (int64_t)tile_bytes(tile));
}

/* CUtensorMapDataType. */
static ReduceType map_reduce_type(const TensorMap *map) {
    static const uint8_t types[] = {REDUCE_TYPES, REDUCE_TYPES, REDUCE_U32, REDUCE_S32,  REDUCE_U64, REDUCE_S64,
                                    REDUCE_F16,   REDUCE_F32,   REDUCE_F64, REDUCE_BF16, REDUCE_F32};
    return map->type < sizeof types ? (ReduceType)types[map->type] : REDUCE_TYPES;
}

static void store_tile(PtxMachine *machine, const PtxOutstanding *outstanding, const TileCopy *copy) {
    const TileDetail *detail = outstanding->code->detail;
    const Tile *tile = &copy->tile;
    CopyScratch *scratch = copy_scratch(machine, tile_bytes(tile));
    uint32_t rows = tile_rows(tile), element = tile_element_bytes(tile), width = tile_row_elements(tile) * element;
    PtxLocation location;
    TileRow found;
    move_shared(machine, outstanding, copy, scratch, true);
    add_shared(machine, &scratch->reads, copy);
    for (uint32_t row = 0; row < rows && !machine->fault.code; row++)
        if (find_row(machine, outstanding, tile, row, &location, &found))
            pieces_add(machine, &scratch->writes, location, found.count * element);
    if (machine->fault.code)
        return;
    report_map(machine, outstanding, copy);
    report_sides(machine, outstanding, copy, scratch);
    for (uint32_t row = 0; row < rows && !machine->plays; row++)
        if (find_row(machine, outstanding, tile, row, &location, &found)) {
            size_t at = (size_t)row * width + (size_t)found.first * element, count = (size_t)found.count * element;
            copy_note_unset(machine, outstanding, outstanding->lane, piece_of(copy, row, 0), count,
                            scratch->states + at);
            if (detail->action)
                reduce_memory(machine, detail->action, map_reduce_type(&tile->map), location, count,
                              scratch->bytes + at, scratch->states + at);
            ptx_store_bytes(machine, location, count, scratch->bytes + at, scratch->states + at);
        }
}

static void land_tile(PtxMachine *machine, PtxOutstanding *outstanding) {
    const TileDetail *detail = outstanding->code->detail;
    TileCopy *copy = outstanding->detail;
    if (location_is_there(machine, outstanding, copy->shared)) {
        if (detail->loads)
            load_tile(machine, outstanding, copy);
        else
            store_tile(machine, outstanding, copy);
    }
    pool_give(machine, copy, sizeof *copy);
}

/* ---- Issue -------------------------------------------------------------------------------------- */

static bool find_map(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lane, TileCopy *copy) {
    const TileDetail *detail = code->detail;
    uint8_t bytes[TENSORMAP_BYTES], states[TENSORMAP_BYTES];
    if (!find_location(machine, group, code, detail->map, PTX_SPACE_UNKNOWN, lane, TENSORMAP_BYTES, MAP_ALIGN,
                       RULE_TMA_MAP_MEMORY, &copy->map))
        return false;
    if (machine->map)
        memcpy(bytes, machine->map, TENSORMAP_BYTES);
    else
        ptx_load_bytes(machine, copy->map, TENSORMAP_BYTES, bytes, states);
    for (unsigned i = 0; !machine->map && i < TENSORMAP_BYTES; i++)
        if (states[i] != BYTE_KNOWN) {
            ptx_stop(machine, code, "its tensor map is not known");
            return false;
        }
    if (!tensormap_decode(bytes, &copy->tile.map) &&
        !(machine->plays && tensormap_decode_driver(bytes, &copy->tile.map))) {
        ptx_fault(machine, group, RULE_TMA_MAP_MEMORY, code, 1u << lane, "there is no tensor map at its address");
        return false;
    }
    return true;
}

/* Numbers of a list in an instruction; how many there are. */
static uint32_t fetch_list(PtxMachine *machine, PtxGroup *group, const PtxCode *code, const PtxArgument *list,
                           uint32_t lane, int32_t *numbers, uint32_t most) {
    uint32_t count = 0, missing = 0;
    for (; list && count < list->count && count < most; count++) {
        Lanes scratch;
        uint32_t unknown = 0;
        const Lanes *values =
            ptx_fetch(machine, group, argument_member(machine->program, list, count), 0, &scratch, &unknown);
        numbers[count] = (int32_t)values->at[lane];
        missing |= unknown >> lane & 1;
    }
    if (missing && !machine->results)
        ptx_leave_out(machine, group, code);
    return count;
}

static const PtxArgument *list_in(const PtxProgram *program, const PtxArgument *address) {
    const PtxArgument *list = address->count > 1 ? argument_member(program, address, 1) : NULL;
    return list && list->kind == ARGUMENT_MEMBERS ? list : NULL;
}

static PtxStep not_this(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lane, RuleId rule,
                        const char *what) {
    return ptx_fault(machine, group, rule, code, 1u << lane, what);
}

/* The map, the coordinates, and whether the one fits the other. */
static PtxStep find_tile(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lane, TileCopy *copy) {
    const TileDetail *detail = code->detail;
    Tile *tile = &copy->tile;
    int32_t offsets[3] = {0};
    *copy = (TileCopy){.tile = {.mode = detail->mode}};
    if (!find_map(machine, group, code, lane, copy))
        return failed(machine);
    uint32_t given =
        fetch_list(machine, group, code, list_in(machine->program, detail->map), lane, tile->at, TENSORMAP_DIMS);
    fetch_list(machine, group, code, detail->offsets, lane, offsets, 3);
    for (unsigned i = 0; i < 3; i++)
        tile->offset[i] = (uint16_t)offsets[i];
    const char *problem = tile_problem(tile, !detail->loads, detail->action != REDUCE_NONE);
    if (problem)
        return ptx_stop(machine, code, problem);
    if ((detail->mode == TILE_IM2COL) != (tile->map.kind == TENSORMAP_IM2COL))
        return not_this(machine, group, code, lane, RULE_TMA_IMAGE_COLUMNS,
                        "one of the copy and its tensor map is im2col, the other is not");
    if (given != (detail->mode == TILE_ROWS ? 5u : tile->map.rank))
        return not_this(machine, group, code, lane, RULE_TMA_COORDINATES,
                        machine_sentence(machine, "it has %u coordinates, and its tensor map has %u dimensions", given,
                                         tile->map.rank));
    if ((int64_t)tile->at[0] * tile_element_bytes(tile) % 16) /* an H200 traps */
        return not_this(machine, group, code, lane, RULE_TMA_COORDINATES,
                        machine_sentence(machine,
                                         "it begins at element %d of a row, which is not a multiple of 16 bytes",
                                         tile->at[0]));
    if (detail->action && map_reduce_type(&tile->map) == REDUCE_TYPES)
        return not_this(machine, group, code, lane, RULE_TMA_REDUCE, "the elements of its tensor map are not reduced");
    for (unsigned i = 0; !detail->loads && i < tile->map.rank; i++)
        if (tile->at[i] < 0)
            return not_this(machine, group, code, lane, RULE_TMA_NEGATIVE_STORE,
                            machine_sentence(machine, "coordinate %u is %d", i, tile->at[i]));
    if (tile_start_problem(tile))
        return not_this(machine, group, code, lane, RULE_TMA_IMAGE_COLUMNS, tile_start_problem(tile));
    if (!tile_bytes(tile) || tile_bytes(tile) % 16)
        return not_this(machine, group, code, lane, RULE_TMA_BOX_INNER_BYTES,
                        machine_sentence(machine, "its box has %zu bytes", tile_bytes(tile)));
    return PTX_STEP_NEXT;
}

static bool issue(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lane, const TileCopy *copy,
                  uint64_t place) {
    const TileDetail *detail = code->detail;
    TileCopy *kept = pool_take(machine, sizeof *kept);
    *kept = *copy;
    return ptx_fly(machine, &(PtxOutstanding){.code = code,
                                              .warp = group->warp,
                                              .lane = lane,
                                              .group = detail->group,
                                              .place = place,
                                              .land = land_tile,
                                              .detail = kept});
}

/* The mbarrier of a CTA that gets the tile: at the same place there; of a pair, in the one of the two that has the
 * parity of the CTA that is named. */
static bool find_barrier(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lane, PtxLocation bar,
                         uint32_t rank, PtxLocation *there) {
    const TileDetail *detail = code->detail;
    uint32_t named = bar.block->cta % machine->cluster_size;
    return location_in_cta(machine, code, group->warp, lane, bar, detail->pair ? (rank & ~1u) | (named & 1) : rank,
                           there);
}

static PtxStep multicast(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lane, TileCopy *copy,
                         PtxLocation bar) {
    const TileDetail *detail = code->detail;
    PtxStep step = PTX_STEP_NEXT;
    PtxLocation to = copy->shared, there;
    uint64_t ctas;
    if (!lane_value(machine, group, code, detail->ctas, lane, &ctas, &step))
        return step;
    for (uint32_t left = (uint32_t)ctas & 0xffff; left; left &= left - 1) {
        uint32_t rank = (uint32_t)__builtin_ctz(left);
        if (!location_in_cta(machine, code, group->warp, lane, to, rank, &copy->shared) ||
            !find_barrier(machine, group, code, lane, bar, rank, &there) ||
            !issue(machine, group, code, lane, copy, ptx_place(there)))
            return PTX_STEP_FAULT;
    }
    return step;
}

static PtxStep tile_lane(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lane) {
    const TileDetail *detail = code->detail;
    TileCopy copy;
    PtxLocation bar = {0};
    PtxStep step = find_tile(machine, group, code, lane, &copy);
    if (step != PTX_STEP_NEXT)
        return step;
    if (!find_location(machine, group, code, detail->shared, detail->shared_space, lane,
                       (uint64_t)tile_rows(&copy.tile) * tile_pitch(&copy.tile), BOX_ALIGN, RULE_TMA_BOX_ADDRESS,
                       &copy.shared) ||
        (detail->bar && !find_location(machine, group, code, detail->bar, detail->bar_space, lane, 8, 8,
                                       RULE_MBARRIER_ALIGNMENT, &bar)))
        return failed(machine);
    if (detail->ctas)
        return multicast(machine, group, code, lane, &copy, bar);
    bool apart = detail->bar && bar.block != copy.shared.block;
    if (apart && !(detail->pair && (bar.block->cta ^ copy.shared.block->cta) == 1))
        return not_this(machine, group, code, lane, RULE_TMA_BARRIER_CTA,
                        "its mbarrier is not in the CTA that it copies to");
    return issue(machine, group, code, lane, &copy, detail->bar ? ptx_place(bar) : PTX_NO_PLACE) ? PTX_STEP_NEXT
                                                                                                 : PTX_STEP_FAULT;
}

static PtxStep tile_run(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    return ptx_lane_by_lane(machine, group, code, lanes, tile_lane);
}

bool play_tile(const PtxProgram *program, const PtxCode *code, PlayTile *tile) {
    const TileDetail *detail = code->detail;
    if (code->run != tile_run || detail->mode != TILE_BOX || detail->action || detail->map->kind != ARGUMENT_ADDRESS ||
        !detail->map->count || !list_in(program, detail->map))
        return false;
    *tile = (PlayTile){argument_member(program, detail->map, 0), detail->map->offset, list_in(program, detail->map),
                       detail->loads};
    return true;
}

/* ---- Preparing ---------------------------------------------------------------------------------- */

static TileMode mode_of(const PtxCode *code) {
    if (code_has(code, STR("im2col")) || code_has(code, STR("im2col_no_offs")))
        return TILE_IM2COL;
    if (code_has(code, STR("tile::gather4")) || code_has(code, STR("tile::scatter4")))
        return TILE_ROWS;
    return code_has(code, STR("im2col::w")) || code_has(code, STR("im2col::w::128")) ? TILE_UNKNOWN : TILE_BOX;
}

/* The effect on the tensor, that on shared memory, and the read of the map. */
static bool find_effects(const PtxPrepare *about, const PtxEffect **tensor, const PtxEffect **shared,
                         const PtxEffect **map) {
    *tensor = *shared = *map = NULL;
    for (unsigned i = 0; i < about->effect_count; i++) {
        const PtxEffect *effect = &about->effects[i];
        if (!effect_is_access(&effect->effect) || effect->effect.helper != HELPER_TMA)
            continue;
        if (effect->effect.on_descriptor)
            *tensor = effect;
        else if (effect->effect.proxy == PROXY_TENSORMAP)
            *map = effect;
        else
            *shared = effect;
    }
    return *tensor && *shared && *map;
}

static PtxAccess access_of(const PtxEffect *effect) {
    return (PtxAccess){.kind = (uint8_t)effect->effect.verb,
                       .proxy = (uint8_t)effect->effect.proxy,
                       .order = (uint8_t)effect->effect.order,
                       .scope = (uint8_t)effect->effect.scope,
                       .strong = effect->effect.order != ORDER_WEAK,
                       .element = 16,
                       .used = ~0u};
}

bool tile_prepare(const PtxPrepare *about, PtxCode *code) {
    const PtxEffect *tensor, *shared, *map, *complete = effect_with(about, EFFECT_COMPLETE);
    if (!find_effects(about, &tensor, &shared, &map))
        return false;
    TileDetail detail = {.map = named_argument(about, code, tensor->on),
                         .shared = named_argument(about, code, shared->on),
                         .bar = complete ? named_argument(about, code, complete->on) : NULL,
                         .shared_space = effect_space(shared),
                         .bar_space = complete ? effect_space(complete) : PTX_SPACE_UNKNOWN,
                         .mode = mode_of(code),
                         .group = (uint8_t)tensor->effect.group,
                         .loads = tensor->effect.verb == EFFECT_READ,
                         .pair = shared->effect.pair,
                         .action = tensor->effect.verb == EFFECT_UPDATE ? reduce_action(code) : REDUCE_NONE};
    if (!detail.map || !detail.shared || (complete && !detail.bar))
        return false;
    detail.map_read = access_of(map);
    detail.read = access_of(detail.loads ? tensor : shared);
    detail.write = access_of(detail.loads ? shared : tensor);
    /* [d], [map], [bar], offsets?, mask?, policy?: what is missing is in the middle */
    uint32_t next = 3;
    if (detail.loads && next < code->count && code_argument(about->program, code, next)->kind == ARGUMENT_MEMBERS)
        detail.offsets = code_argument(about->program, code, next++);
    if (shared->effect.multicast && next < code->count)
        detail.ctas = code_argument(about->program, code, next);
    return take_code(about, code, tile_run, &detail, sizeof detail);
}
