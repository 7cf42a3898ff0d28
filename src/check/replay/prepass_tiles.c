/* TMA copies in a prepass: what of global memory they touch. What they touch of shared memory, and what they complete,
 * does not depend on their coordinates, or on the address of bytes that lie beside each other.
 *
 * One that loads a box is taken for a read of the whole tensor, which is added once. One that stores is added row by
 * row, and touches each byte once. */
#include "check/replay/prepass.h"

#include "machine/simt/async/tiles.h"

/* What an argument of the instruction is in a lane; *part: which part of the record says so, + 1. */
static bool value_of(const Player *player, const PlaySite *site, const Record *record, const PrepassFrom *from,
                     const PtxArgument *argument, unsigned lane, uint64_t *value, unsigned *part) {
    *part = 0;
    if (argument->kind == ARGUMENT_CONSTANT) {
        *value = player->check->program->constants[argument->slot].at[lane];
        return true;
    }
    for (unsigned i = 0; i < site->site->part_count; i++)
        if (site->arguments[i] == argument) {
            Lanes values;
            play_values(player, site, record, i, from->index, &values);
            *value = values.at[lane];
            *part = i + 1;
            return true;
        }
    return false;
}

/* The map's bytes: what the record has of them, or those of a parameter. NULL: they are not known. */
static const uint8_t *map_at(Prepass *prepass, const Record *record, uint64_t address) {
    static const uint64_t window = PLAY_WINDOWS + 3 * PTX_WINDOW_SIZE;
    const Player *player = prepass->player;
    if (record->map && address < PTX_GLOBAL_END) /* and that is read itself */
        footprint_add_readers(prepass->footprint, address, address + TENSORMAP_BYTES);
    if (record->map)
        return record->map;
    uint64_t at = address - window, size = player->check->program->parameter_bytes;
    bool inside = address >= window && at <= size && size - at >= TENSORMAP_BYTES;
    return inside ? player->machine->launch->parameters + at : NULL;
}

/* As the machine asks for it: where something is wrong, it says so. */
static bool is_sound(const Tile *tile, uint32_t given, bool loads) {
    bool sound = !tile_problem(tile, !loads, false) && tile->map.kind == TENSORMAP_TILED && given == tile->map.rank &&
                 (int64_t)tile->at[0] * tile_element_bytes(tile) % 16 == 0 && !tile_start_problem(tile) &&
                 tile_bytes(tile) && tile_bytes(tile) % 16 == 0;
    for (unsigned i = 0; !loads && sound && i < tile->map.rank; i++)
        sound = tile->at[i] >= 0;
    return sound;
}

static bool find_tensor(const Player *player, const Tile *tile, uint64_t *first, uint64_t *end) {
    uint64_t bytes = tile_element_bytes(tile), more;
    for (unsigned i = 0; i < tile->map.rank; i++)
        if (__builtin_mul_overflow(tile->map.size[i] - UINT64_C(1), tile->map.stride[i], &more) ||
            __builtin_add_overflow(bytes, more, &bytes))
            return false;
    *first = tile->map.address;
    return !__builtin_add_overflow(*first, bytes, end) && *first < PTX_GLOBAL_END && prepass_has(player, *first, *end);
}

static void add_tensor(Prepass *prepass, uint64_t first, uint64_t end) {
    for (uint32_t i = 0; i < prepass->tensor_count && i < PREPASS_TENSORS; i++)
        if (prepass->tensors[i].first <= first && end <= prepass->tensors[i].end)
            return;
    prepass->tensors[prepass->tensor_count++ % PREPASS_TENSORS] = (struct PrepassTensor){first, end};
    footprint_add_readers(prepass->footprint, first, end);
}

static void add_row(Prepass *prepass, const PrepassFrom *from, uint64_t first, uint64_t end) {
    enum { QUARTER = FOOTPRINT_LINE / 4 };
    for (uint64_t line = first / FOOTPRINT_LINE * FOOTPRINT_LINE; line < end; line += FOOTPRINT_LINE) {
        uint64_t low = first > line ? (first - line) / QUARTER : 0;
        uint64_t high = end - line < FOOTPRINT_LINE ? (end - line + QUARTER - 1) / QUARTER : 4;
        footprint_add(prepass->footprint, from->number, true, line, footprint_quarters((1U << high) - (1U << low)));
    }
}

/* Bytes that lie beside each other. */
static bool read_bulk(Prepass *prepass, const PlaySite *site, const Record *record, const PrepassFrom *from,
                      unsigned lane, const PlayBulk *copy, uint32_t *left_out) {
    const Player *player = prepass->player;
    uint64_t first, size;
    unsigned part, ignored;
    if (!value_of(player, site, record, from, copy->global.base, lane, &first, &part) || !part ||
        !value_of(player, site, record, from, copy->size, lane, &size, &ignored))
        return false;
    first += (uint64_t)copy->global.offset;
    size = (uint32_t)size;
    if (first % copy->global.align || size % copy->global.align || first >= PTX_GLOBAL_END ||
        (size && !prepass_has(player, first, first + size)))
        return false;
    *left_out |= 1U << (part - 1);
    if (size && copy->loads)
        footprint_add_readers(prepass->footprint, first, first + size);
    else if (size)
        add_row(prepass, from, first, first + size);
    return true;
}

static bool read_lane(Prepass *prepass, const PlaySite *site, const Record *record, const PrepassFrom *from,
                      unsigned lane, PrepassSum *sum, uint32_t *left_out) {
    const Player *player = prepass->player;
    const PtxProgram *program = player->check->program;
    PlayTile copy;
    PlayBulk bulk;
    uint64_t value, first, end;
    unsigned part;
    if (play_bulk(program, site->code, &bulk))
        return read_bulk(prepass, site, record, from, lane, &bulk, left_out);
    if (!play_tile(program, site->code, &copy) || copy.list->count > TENSORMAP_DIMS ||
        !value_of(player, site, record, from, copy.map, lane, &value, &part))
        return false;
    const uint8_t *map = map_at(prepass, record, value + (uint64_t)copy.offset);
    Tile tile = {.mode = TILE_BOX};
    if (!map || (!tensormap_decode(map, &tile.map) && !tensormap_decode_driver(map, &tile.map)))
        return false;
    for (uint32_t i = 0; i < copy.list->count; i++) {
        if (!value_of(player, site, record, from, argument_member(program, copy.list, i), lane, &value, &part))
            return false;
        tile.at[i] = (int32_t)value;
        *left_out |= part ? 1U << (part - 1) : 0;
    }
    if (!is_sound(&tile, copy.list->count, copy.loads) || !find_tensor(player, &tile, &first, &end))
        return false;
    if (copy.loads)
        add_tensor(prepass, first, end);
    bool any = false;
    for (uint32_t i = 0; i < tile_rows(&tile) && !(any && copy.loads); i++) {
        TileRow row = tile_row(&tile, i);
        any |= row.count != 0;
        if (row.count && !copy.loads)
            add_row(prepass, from, row.address, row.address + (uint64_t)row.count * tile_element_bytes(&tile));
    }
    prepass_mix(sum, any); /* of a box outside the tensor nothing is recorded */
    return true;
}

bool prepass_tile(Prepass *prepass, const PlaySite *site, const Record *record, const PrepassFrom *from,
                  PrepassSum *sum, uint32_t *left_out) {
    for (uint32_t rest = record->lanes; rest; rest &= rest - 1)
        if (!read_lane(prepass, site, record, from, (unsigned)__builtin_ctz(rest), sum, left_out))
            return false;
    return true;
}
