/* Textures and surfaces, where the handle is that of a description (textures.h). Where it is not, which memory is
 * behind it is not known: what is read is marked so, and that it was is noted; one that is written could change
 * anything that others read: a run comes no further, and says why.
 *
 * Texels are read as what nothing may write while the kernel runs: a texture is not coherent with writes of its own
 * launch. A surface that a kernel reads and writes is noted as left out: CUDA does not define what comes of a read
 * behind a write. */
#include "machine/simt/memory/textures.h"
#include "machine/simt/core/internal.h"
#include "machine/simt/sync/barriers.h"

#include <math.h>

enum { MOST_TAPS = 8, MOST_COORDINATES = 4, FRACTION = 256, MOST_ELEMENT = 16 };

typedef enum TextureShape { SHAPE_1D, SHAPE_2D, SHAPE_3D, SHAPE_CUBE } TextureShape;

typedef struct TextureDetail {
    PtxAccess access;
    const PtxArgument *address, *list, *data; /* list: coordinates */
    TextureShape shape;
    bool layered, by_integers; /* its coordinates are integers */
    bool reads_float, reads_integer;
    uint8_t element, members; /* surfaces: bytes of a register, and how many */
    bool clamps, zeros;
    bool mixed; /* some surface is read in the kernel, and some written */
} TextureDetail;

/* What a lane reads: texels, each with its weight. */
typedef struct TextureTaps {
    unsigned count;
    uint64_t address[MOST_TAPS]; /* 0: the border */
    unsigned weight[MOST_TAPS];  /* of 256 */
} TextureTaps;

/* ---- Unknown ones ---- */

static void forget(PtxMachine *machine, PtxGroup *group, const PtxArgument *argument, uint32_t lanes) {
    static const Lanes nothing;
    if (argument->kind == ARGUMENT_PREDICATE)
        ptx_put_mask(machine, group, argument, 0, lanes, lanes);
    else if (argument->kind == ARGUMENT_ROW)
        ptx_put(machine, group, argument, 0, &nothing, lanes, lanes);
    for (uint32_t i = 0; argument->kind == ARGUMENT_MEMBERS && i < argument->count; ++i)
        forget(machine, group, argument_member(machine->program, argument, i), lanes);
}

static PtxStep read_unknown(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    if (machine->results)
        return ptx_stop(machine, code, "no launch says which memory is behind a texture");
    ptx_leave_out(machine, group, code);
    forget(machine, group, code_argument(machine->program, code, 0), lanes);
    return PTX_STEP_NEXT;
}

static PtxStep write_unknown(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    (void)group, (void)lanes;
    return ptx_stop(machine, code, "no launch says which memory is behind a surface");
}

/* ---- Handles and coordinates ---- */

static bool is_map(const TextureMap *map) {
    return map->magic == TEXTURE_MAGIC && map->channels - 1u < 4 &&
           (map->bits == 8 || map->bits == 16 || map->bits == 32) && map->kind <= TEXTURE_FLOAT &&
           map->mode[0] <= TEXTURE_BORDER && map->mode[1] <= TEXTURE_BORDER && map->mode[2] <= TEXTURE_BORDER;
}

/* The description of the handle that all lanes have; false: it is not known, or there is none. */
static bool find_map(PtxMachine *machine, PtxGroup *group, const TextureDetail *detail, uint32_t lanes,
                     TextureMap *map) {
    uint8_t bytes[TEXTURE_BYTES], states[TEXTURE_BYTES];
    Lanes scratch;
    uint32_t unknown = 0;
    const Lanes *handles = ptx_fetch_address(machine, group, detail->address, &scratch, &unknown);
    uint64_t handle = handles->at[__builtin_ctz(lanes)];
    PtxLocation location;
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        if (handles->at[__builtin_ctz(rest)] != handle)
            return false;
    if (unknown & lanes || handle % 16 || !memory_global(machine, handle, TEXTURE_BYTES, &location))
        return false;
    ptx_load_bytes(machine, location, TEXTURE_BYTES, bytes, states);
    memcpy(map, bytes, sizeof *map);
    return !memchr(states, BYTE_UNKNOWN, sizeof states) && !memchr(states, BYTE_NEVER, sizeof states) && is_map(map);
}

/* The coordinates of all lanes; lanes of which some is not known. */
static uint32_t fetch_coordinates(PtxMachine *machine, PtxGroup *group, const TextureDetail *detail,
                                  Lanes coordinates[MOST_COORDINATES]) {
    uint32_t unknown = 0;
    for (uint32_t i = 0; i < detail->list->count && i < MOST_COORDINATES; i++) {
        Lanes scratch;
        coordinates[i] =
            *ptx_fetch(machine, group, argument_member(machine->program, detail->list, i), 0, &scratch, &unknown);
    }
    return unknown;
}

static float float_of(uint64_t bits) {
    uint32_t word = (uint32_t)bits;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static uint64_t bits_of(float value) {
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

/* ---- Textures ---- */

/* A texel's index in its dimension; -1: the border. */
static int64_t place_index(int64_t index, int64_t size, unsigned mode) {
    int64_t turn;
    if (index >= 0 && index < size)
        return index;
    switch (mode) {
    case TEXTURE_WRAP:
        turn = index % size;
        return turn < 0 ? turn + size : turn;
    case TEXTURE_MIRROR:
        turn = index % (2 * size);
        turn = turn < 0 ? turn + 2 * size : turn;
        return turn < size ? turn : 2 * size - 1 - turn;
    case TEXTURE_BORDER:
        return -1;
    default:
        return index < 0 ? 0 : size - 1;
    }
}

/* The texels in one dimension: one, or two with the second's weight in parts of 256. */
static unsigned find_texels(const TextureMap *map, unsigned dimension, float coordinate, bool integer, int64_t index[2],
                            unsigned *fraction) {
    int64_t size = map->size[dimension] ? map->size[dimension] : 1, first;
    unsigned mode = map->mode[dimension];
    double at = map->normalized ? (double)coordinate * (double)size : (double)coordinate;
    const double most = 1 << 30;
    *fraction = 0;
    if (!map->normalized && (mode == TEXTURE_WRAP || mode == TEXTURE_MIRROR))
        mode = TEXTURE_CLAMP;
    at = at != at ? 0 : at < -most ? -most : at > most ? most : at;
    if (integer) {
        first = (int64_t)coordinate;
    } else if (!map->linear) {
        first = (int64_t)floor(at);
    } else {
        int64_t fixed = (int64_t)floor(at * FRACTION + 0.5) - FRACTION / 2;
        first = fixed >> 8;
        *fraction = (unsigned)(fixed & (FRACTION - 1));
    }
    index[0] = place_index(first, size, mode);
    index[1] = place_index(first + 1, size, mode);
    return *fraction ? 2 : 1;
}

static unsigned dimensions_of(TextureShape shape) {
    return shape == SHAPE_1D ? 1 : shape == SHAPE_3D ? 3 : 2;
}

static unsigned element_of(const TextureMap *map) {
    return map->channels * map->bits / 8u;
}

/* The face of a cube that a direction meets, and where. */
static unsigned find_face(float x, float y, float z, float place[2]) {
    float ax = fabsf(x), ay = fabsf(y), az = fabsf(z), m, s, t;
    unsigned face;
    if (ax >= ay && ax >= az) {
        face = x >= 0 ? 0 : 1;
        m = ax, s = x >= 0 ? -z : z, t = -y;
    } else if (ay >= az) {
        face = y >= 0 ? 2 : 3;
        m = ay, s = x, t = y >= 0 ? z : -z;
    } else {
        face = z >= 0 ? 4 : 5;
        m = az, s = z >= 0 ? x : -x, t = -y;
    }
    place[0] = (s / m + 1) / 2;
    place[1] = (t / m + 1) / 2;
    return face;
}

/* Of two in each dimension the weight of one, in parts of 256: of the last one the product is rounded, and the others
 * are what is left. An H200 has it so in one and two dimensions, bit for bit; in three it rounds in another way. */
static unsigned weight_of(const unsigned fractions[3], const unsigned which[3]) {
    unsigned both = (fractions[0] * fractions[1] + FRACTION / 2) / FRACTION;
    unsigned plane = which[0] && which[1] ? both
                     : which[0]           ? fractions[0] - both
                     : which[1]           ? fractions[1] - both
                                          : FRACTION - fractions[0] - fractions[1] + both;
    unsigned behind = (plane * fractions[2] + FRACTION / 2) / FRACTION;
    return which[2] ? behind : plane - behind;
}

/* False: texels of another face of a cube are part of it, which is not modeled. */
static bool find_taps(const TextureDetail *detail, const TextureMap *map, const Lanes coordinates[MOST_COORDINATES],
                      unsigned lane, TextureTaps *taps) {
    unsigned first = detail->layered ? 1 : 0, dimensions = dimensions_of(detail->shape), counts[3] = {1, 1, 1},
             fractions[3] = {0};
    int64_t index[3][2] = {{0}}, layer = detail->layered ? (int32_t)coordinates[0].at[lane] : 0;
    float at[3] = {0};
    for (unsigned i = 0; i < 3 && first + i < MOST_COORDINATES; i++)
        at[i] = detail->by_integers ? (float)(int32_t)coordinates[first + i].at[lane]
                                    : float_of(coordinates[first + i].at[lane]);
    if (layer < 0 || layer >= (int64_t)map->layers) /* the number of a layer has no sign */
        layer = map->layers ? (int64_t)map->layers - 1 : 0;
    if (detail->shape == SHAPE_CUBE)
        layer = layer * 6 + find_face(at[0], at[1], at[2], at);
    for (unsigned i = 0; i < dimensions; i++) {
        counts[i] = find_texels(map, i, at[i], detail->by_integers, index[i], &fractions[i]);
        if (detail->by_integers && map->is_buffer) {
            int64_t exact = (int32_t)coordinates[first + i].at[lane];
            index[i][0] = exact >= 0 && exact < map->size[i] ? exact : -1;
        }
        if (detail->shape == SHAPE_CUBE && counts[i] > 1 && index[i][1] != index[i][0] + 1)
            return false;
    }
    taps->count = 0;
    for (unsigned z = 0; z < counts[2]; z++)
        for (unsigned y = 0; y < counts[1]; y++)
            for (unsigned x = 0; x < counts[0]; x++) {
                const unsigned which[3] = {x, y, z};
                const uint64_t steps[3] = {element_of(map), map->pitch, map->slice};
                uint64_t address = map->address + (uint64_t)layer * map->slice;
                for (unsigned i = 0; i < dimensions; i++)
                    address =
                        index[i][which[i]] < 0 || !address ? 0 : address + (uint64_t)index[i][which[i]] * steps[i];
                taps->address[taps->count] = address;
                taps->weight[taps->count++] = weight_of(fractions, which);
            }
    return true;
}

/* One channel of a texel, as it is in memory: an integer, or a real. */
static int64_t integer_of(const TextureMap *map, const uint8_t *texel, unsigned channel) {
    uint32_t word = 0;
    memcpy(&word, texel + channel * map->bits / 8u, map->bits / 8u);
    unsigned unused = 32 - map->bits;
    return map->kind == TEXTURE_SIGNED ? (int32_t)(word << unused) >> unused : (int64_t)word;
}

static float half_of(uint32_t bits) {
    unsigned exponent = bits >> 10 & 31, mantissa = bits & 1023;
    float value = exponent ? ldexpf((float)(mantissa | 1024), (int)exponent - 25) : ldexpf((float)mantissa, -24);
    value = exponent == 31 ? (mantissa ? NAN : INFINITY) : value;
    return bits >> 15 ? -value : value;
}

static float real_of(const TextureMap *map, const uint8_t *texel, unsigned channel) {
    int64_t value = integer_of(map, texel, channel);
    if (map->kind == TEXTURE_FLOAT)
        return map->bits == 16 ? half_of((uint32_t)value) : float_of((uint64_t)value);
    float most = (float)((1u << (map->bits - (map->kind == TEXTURE_SIGNED))) - 1), real = (float)value / most;
    return real < -1 ? -1 : real;
}

static float border_of(const TextureMap *map, unsigned channel) {
    float least = map->kind == TEXTURE_SIGNED ? -1 : 0, border = map->border[channel];
    return map->kind == TEXTURE_FLOAT ? border : border < least ? least : border > 1 ? 1 : border;
}

/* To nearest, and away from zero between two. */
static float rounded(double value) {
    float near = (float)value;
    if (fabs(value) <= fabs((double)near) || !isfinite(near))
        return near;
    float next = nextafterf(near, value > 0 ? INFINITY : -INFINITY);
    return (double)next - value == value - (double)near ? next : near;
}

/* What a lane gets of a channel. */
static uint64_t filter(const TextureDetail *detail, const TextureMap *map, const TextureTaps *taps,
                       uint8_t texels[MOST_TAPS][MOST_ELEMENT], unsigned channel) {
    if (channel >= map->channels)
        return channel < 3 ? 0 : detail->reads_float ? bits_of(1) : 1;
    if (!detail->reads_float)
        return taps->address[0] ? (uint32_t)integer_of(map, texels[0], channel) : 0;
    if (taps->count == 1)
        return bits_of(taps->address[0] ? real_of(map, texels[0], channel) : border_of(map, channel));
    double sum = 0, most = map->kind == TEXTURE_FLOAT ? 0 : map->kind == TEXTURE_SIGNED ? 32767 : 65535;
    for (unsigned i = 0; i < taps->count; i++)
        sum += taps->weight[i] *
               (double)(taps->address[i] ? real_of(map, texels[i], channel) : border_of(map, channel)) / FRACTION;
    if (most > 0) /* integers have 16 bits there */
        return bits_of((float)(floor(sum * most + 0.5) / most));
    return bits_of(rounded(sum));
}

/* Of each lane the texel of that number; lanes that have one and know it not. False: machine->fault. */
static bool read_texels(PtxMachine *machine, PtxGroup *group, const PtxCode *code, const TextureMap *map,
                        const TextureTaps taps[PTX_LANES], unsigned number, uint32_t lanes,
                        uint8_t texels[PTX_LANES][MOST_TAPS][MOST_ELEMENT], uint32_t *unknown) {
    const TextureDetail *detail = code->detail;
    unsigned bytes = element_of(map);
    PtxLocation locations[PTX_LANES];
    Lanes addresses = {{0}};
    uint32_t there = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        if (number < taps[lane].count && taps[lane].address[number]) {
            addresses.at[lane] = taps[lane].address[number];
            there |= rest & -rest;
        }
    }
    if (!there)
        return true;
    if (!ptx_resolve(machine, group, code, PTX_SPACE_GLOBAL, &addresses, 0, bytes, 1, &there, locations))
        return false;
    CoreAccess access = {.access = detail->access, .space = PTX_SPACE_GLOBAL};
    access.access.bytes = bytes;
    access.access.element = map->bits / 8u;
    access.access.used = (1u << map->channels) - 1;
    access_emit(machine, group, code, &access, there, locations, 0);
    for (uint32_t rest = there; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint8_t states[MOST_ELEMENT] = {0};
        ptx_load_bytes(machine, locations[lane], bytes, texels[lane][number], states);
        for (unsigned i = 0; i < bytes; i++)
            *unknown |= states[i] != BYTE_KNOWN ? rest & -rest : 0;
        if (memchr(states, BYTE_NEVER, bytes))
            ptx_note_unset(machine, code, group->warp, lane, locations[lane]);
    }
    return true;
}

static bool is_readable(const TextureDetail *detail, const TextureMap *map) {
    return !map->is_surface && (detail->shape == SHAPE_CUBE) == map->is_cube && detail->layered == (map->layers > 0) &&
           (map->kind == TEXTURE_FLOAT || map->floats ? detail->reads_float : detail->reads_integer);
}

static PtxStep run_texture(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const TextureDetail *detail = code->detail;
    TextureMap map;
    Lanes coordinates[MOST_COORDINATES] = {{{0}}};
    TextureTaps taps[PTX_LANES] = {{0}};
    uint8_t texels[PTX_LANES][MOST_TAPS][MOST_ELEMENT];
    if (!find_map(machine, group, detail, lanes, &map))
        return read_unknown(machine, group, code, lanes);
    if (!is_readable(detail, &map))
        return ptx_stop(machine, code, "the texture is of another kind than the instruction");
    if (detail->shape == SHAPE_1D && map.linear && map.mode[0] == TEXTURE_BORDER)
        return ptx_stop(machine, code, "a line is filtered with a border, which is not modeled");
    uint32_t unknown = fetch_coordinates(machine, group, detail, coordinates) & lanes;
    if (unknown && !machine->results)
        return read_unknown(machine, group, code, lanes);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        if (!find_taps(detail, &map, coordinates, lane, &taps[lane]))
            return ptx_stop(machine, code, "a cube is filtered across an edge, which is not modeled");
    }
    for (unsigned i = 0; i < MOST_TAPS; i++)
        if (!read_texels(machine, group, code, &map, taps, i, lanes, texels, &unknown))
            return PTX_STEP_FAULT;
    for (unsigned i = 0; i < detail->data->count; i++) {
        Lanes values = {{0}};
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctz(rest);
            values.at[lane] = filter(detail, &map, &taps[lane], texels[lane], i);
        }
        ptx_put(machine, group, argument_member(machine->program, detail->data, i), 0, &values, lanes, unknown);
    }
    return PTX_STEP_NEXT;
}

/* ---- Surfaces ---- */

/* Where lanes access a surface; lanes that do not, being outside, are taken out of *lanes. False: some lane must not be
 * outside. */
static bool find_places(const TextureDetail *detail, const TextureMap *map, const Lanes coordinates[MOST_COORDINATES],
                        uint32_t *lanes, Lanes *addresses) {
    unsigned first = detail->layered ? 1 : 0, dimensions = dimensions_of(detail->shape);
    int64_t bytes = detail->element * detail->members;
    for (uint32_t rest = *lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        int64_t layer = detail->layered ? (int32_t)coordinates[0].at[lane] : 0;
        bool outside = layer < 0 || (detail->layered && layer >= map->layers);
        layer = layer < 0 ? 0 : detail->layered && layer >= map->layers ? map->layers - 1 : layer;
        uint64_t address = map->address + (uint64_t)layer * map->slice;
        const uint64_t steps[3] = {1, map->pitch, map->slice};
        for (unsigned i = 0; i < dimensions; i++) {
            int64_t at = (int32_t)coordinates[first + i].at[lane], size = map->size[i] ? map->size[i] : 1;
            int64_t last = i ? size - 1 : size * element_of(map) - bytes;
            if (last < 0 || (i == 0 && at % bytes))
                return false;
            outside |= at < 0 || at > last;
            at = at < 0 ? 0 : at > last ? last : at;
            address += (uint64_t)at * steps[i];
        }
        if (outside && !detail->clamps && !detail->zeros)
            return false;
        if (outside && detail->zeros)
            *lanes &= ~(rest & -rest);
        addresses->at[lane] = address;
    }
    return true;
}

static PtxStep run_surface(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const TextureDetail *detail = code->detail;
    bool writes = detail->access.kind == KIND_WRITE;
    unsigned bytes = detail->element * detail->members;
    TextureMap map;
    Lanes coordinates[MOST_COORDINATES] = {{{0}}}, addresses = {{0}}, values[4] = {{{0}}};
    PtxLocation locations[PTX_LANES];
    uint32_t there = lanes, unknown[4] = {0};
    if (!find_map(machine, group, detail, lanes, &map))
        return writes ? write_unknown(machine, group, code, lanes) : read_unknown(machine, group, code, lanes);
    if (!map.is_surface || map.is_cube || detail->layered != (map.layers > 0))
        return ptx_stop(machine, code, "the surface is of another kind than the instruction");
    if (fetch_coordinates(machine, group, detail, coordinates) & lanes && !machine->results)
        return writes ? write_unknown(machine, group, code, lanes) : read_unknown(machine, group, code, lanes);
    if (detail->mixed && !machine->results)
        ptx_leave_out(machine, group, code);
    if (!find_places(detail, &map, coordinates, &there, &addresses))
        return ptx_fault(machine, group, RULE_ACCESS_INVALID, code, lanes,
                         "a thread is outside of the surface, or at an address that is no multiple of its access");
    if (there && !ptx_resolve(machine, group, code, PTX_SPACE_GLOBAL, &addresses, 0, bytes, 1, &there, locations))
        return PTX_STEP_FAULT;
    CoreAccess access = {.access = detail->access, .space = PTX_SPACE_GLOBAL};
    uint8_t stored[PTX_LANES][MOST_ELEMENT * 2];
    for (unsigned i = 0; writes && i < detail->members; i++) {
        Lanes scratch;
        values[i] =
            *ptx_fetch(machine, group, argument_member(machine->program, detail->data, i), 0, &scratch, &unknown[i]);
        for (uint32_t rest = there; rest; rest &= rest - 1)
            memcpy(stored[__builtin_ctz(rest)] + i * detail->element, &values[i].at[__builtin_ctz(rest)],
                   detail->element);
    }
    uint32_t any = unknown[0] | unknown[1] | unknown[2] | unknown[3];
    if (there)
        access_emit(
            machine, group, code, &access, there, locations,
            writes ? memory_changes(machine, code, there, any & there, locations, bytes, stored[0], sizeof stored[0])
                   : 0);
    for (uint32_t rest = there; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint8_t states[MOST_ELEMENT * 2] = {0};
        if (writes) {
            for (unsigned i = 0; i < detail->members; i++)
                memset(states + i * detail->element, unknown[i] >> lane & 1 ? BYTE_UNKNOWN : BYTE_KNOWN,
                       detail->element);
            ptx_store_bytes(machine, locations[lane], bytes, stored[lane], any >> lane & 1 ? states : NULL);
            continue;
        }
        ptx_load_bytes(machine, locations[lane], bytes, stored[lane], states);
        if (memchr(states, BYTE_NEVER, bytes))
            ptx_note_unset(machine, code, group->warp, lane, locations[lane]);
        for (unsigned i = 0; i < detail->members; i++) {
            memcpy(&values[i].at[lane], stored[lane] + i * detail->element, detail->element);
            for (unsigned k = 0; k < detail->element; k++)
                unknown[i] |= states[i * detail->element + k] != BYTE_KNOWN ? rest & -rest : 0;
        }
    }
    for (unsigned i = 0; !writes && i < detail->members; i++)
        ptx_put(machine, group, argument_member(machine->program, detail->data, i), 0, &values[i], lanes, unknown[i]);
    return PTX_STEP_NEXT;
}

/* ---- Which there are ---- */

static bool has(const PtxCode *code, const char *word) {
    return code_has(code, str_of(word));
}

static bool find_shape(const PtxCode *code, TextureDetail *detail) {
    detail->layered = has(code, "a1d") || has(code, "a2d") || has(code, "acube");
    detail->shape = has(code, "1d") || has(code, "a1d")   ? SHAPE_1D
                    : has(code, "2d") || has(code, "a2d") ? SHAPE_2D
                    : has(code, "3d")                     ? SHAPE_3D
                                                          : SHAPE_CUBE;
    return detail->shape != SHAPE_CUBE || has(code, "cube") || has(code, "acube");
}

/* [handle, {coordinates}], without a sampler of its own. */
static bool find_operands(const PtxProgram *program, const PtxCode *code, TextureDetail *detail) {
    detail->address = code_named(program, code, STR("a"));
    if (!detail->address || detail->address->kind != ARGUMENT_ADDRESS || detail->address->count != 2)
        return false;
    detail->list = argument_member(program, detail->address, 1);
    return detail->list->kind == ARGUMENT_MEMBERS && detail->list->count &&
           argument_member(program, detail->address, 0)->kind == ARGUMENT_ROW && detail->data &&
           detail->data->kind == ARGUMENT_MEMBERS && detail->data->count <= 4;
}

static bool is_mixed(const PtxProgram *program) {
    bool reads = false, writes = false;
    for (uint32_t i = 0; i < program->code_count; i++) {
        const PtxForm *form = program->code[i].form;
        reads |= form->row && str_starts(form->text, STR("suld"));
        writes |= form->row && (str_starts(form->text, STR("sust")) || str_starts(form->text, STR("sured")));
    }
    return reads && writes;
}

static bool prepare_texture(const PtxPrepare *about, PtxCode *code, TextureDetail *detail) {
    const char *name = code->form->row->name;
    const PtxProgram *program = about->program;
    detail->data = code_named(program, code, STR("d"));
    if ((strcmp(name, "tex") != 0 && strcmp(name, "tex.base") != 0 && strcmp(name, "tex.level") != 0) ||
        !find_shape(code, detail) || !find_operands(program, code, detail) || !has(code, "v4"))
        return false;
    Str text = code->form->text;
    detail->by_integers = str_ends(text, STR(".s32"));
    detail->reads_float = str_ends(text, STR(".f32.f32")) || str_ends(text, STR(".f32.s32"));
    detail->reads_integer = !detail->reads_float && !has(code, "f16") && !has(code, "f16x2");
    detail->access.read_only = true;
    return detail->reads_float || detail->reads_integer;
}

static bool prepare_surface(const PtxPrepare *about, PtxCode *code, TextureDetail *detail) {
    const char *name = code->form->row->name;
    const PtxProgram *program = about->program;
    bool reads = strcmp(name, "suld.b") == 0;
    detail->data = code_named(program, code, reads ? STR("d") : STR("b"));
    if ((!reads && strcmp(name, "sust.b") != 0) || !find_shape(code, detail) || !find_operands(program, code, detail))
        return false;
    detail->element = has(code, "b8") ? 1 : has(code, "b16") ? 2 : has(code, "b32") ? 4 : 8;
    detail->members = has(code, "v2") ? 2 : has(code, "v4") ? 4 : 1;
    detail->clamps = has(code, "clamp");
    detail->zeros = has(code, "zero");
    detail->mixed = is_mixed(program);
    detail->access.element = detail->element;
    detail->access.bytes = (uint32_t)detail->element * detail->members;
    detail->access.used = (1u << detail->members) - 1;
    return detail->data->count == detail->members;
}

bool texture_prepare(const PtxPrepare *about, PtxCode *code) {
    for (unsigned i = 0; i < about->effect_count; ++i) {
        const Effect *effect = &about->effects[i].effect;
        if (effect->proxy != PROXY_TEXTURE && effect->proxy != PROXY_SURFACE)
            continue;
        bool reads = effect->verb == EFFECT_READ && code->count;
        TextureDetail *detail = ARENA_NEW(about->program->arena, TextureDetail);
        *detail = (TextureDetail){.access = {.kind = reads ? KIND_READ : KIND_WRITE, .proxy = PROXY_GENERIC}};
        code->run = prepare_texture(about, code, detail)   ? run_texture
                    : prepare_surface(about, code, detail) ? run_surface
                    : reads                                ? read_unknown
                                                           : write_unknown;
        code->detail = detail;
        code->visible = true;
        return true;
    }
    return false;
}
