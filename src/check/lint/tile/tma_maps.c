/* Rules of lint_tma.def about tensor maps: what the kernel makes them of, or the launch hands in. */
#include "check/lint/tile/tma.h"

#include <inttypes.h>

enum { STRIDE_UNIT = 16, WIDE_STRIDE_UNIT = 32, SWIZZLED_BASE = 128, INNER_UNIT = 16, STRIDE_MOST_BITS = 40 };

/* ---- Rules that all kinds of maps share ----------------------------------------------------------- */

static void check_base(Lint *lint, const Op *op, const Value *base, int64_t unit, bool swizzled) {
    IntDomain address = known_of(lint->facts, base);
    Tribool tribool = known_is_multiple(&address, unit);
    if (tribool == TRIBOOL_FALSE)
        lint_find(lint, RULE_TMA_BASE, op, "the tensor starts at an address that is %s, so not a multiple of %" PRId64,
                  tma_words(lint, &address), unit);
    else if (tribool == TRIBOOL_UNKNOWN)
        lint_find(lint, RULE_TMA_BASE_UNKNOWN, op,
                  "review: whether the tensor starts at a multiple of %" PRId64 " bytes is not known", unit);
    else if (swizzled && known_is_multiple(&address, SWIZZLED_BASE) == TRIBOOL_FALSE)
        lint_find(lint, RULE_TMA_BASE_BOUNDARY, op,
                  "the map is swizzled, and the tensor starts at an address that is %s, so not a multiple of %d",
                  tma_words(lint, &address), SWIZZLED_BASE);
}

/* A stride in bytes, of dimension `dim` in the order of the kernel. */
static void check_stride(Lint *lint, const Op *op, IntDomain bytes, unsigned dim, int64_t unit) {
    Tribool tribool = known_is_multiple(&bytes, unit);
    if (bytes.exact && bytes.least == 0)
        lint_find(lint, RULE_TMA_STRIDE_ZERO, op, "review: the stride of dimension %u is 0", dim);
    else if (bytes.most < 0 || bytes.least >> STRIDE_MOST_BITS > 0)
        lint_find(lint, RULE_TMA_STRIDE_RANGE, op, "the stride of dimension %u is %s%" PRId64 " bytes", dim,
                  bytes.exact      ? ""
                  : bytes.most < 0 ? "at most "
                                   : "at least ",
                  bytes.most < 0 ? bytes.most : bytes.least);
    else if (tribool == TRIBOOL_FALSE)
        lint_find(lint, RULE_TMA_STRIDE, op, "the stride of dimension %u is %s bytes, not a multiple of %" PRId64, dim,
                  tma_words(lint, &bytes), unit);
    else if (tribool == TRIBOOL_UNKNOWN)
        lint_find(lint, RULE_TMA_STRIDE_UNKNOWN, op,
                  "review: whether the stride of dimension %u is a multiple of %" PRId64 " bytes is not known", dim,
                  unit);
}

static void check_dimension(Lint *lint, const Op *op, const IntDomain *size, unsigned dim) {
    if (size->exact && size->least == 0)
        lint_find(lint, RULE_TMA_DIMENSION, op, "dimension %u of the tensor is empty", dim);
}

static void check_rank(Lint *lint, const Op *op, unsigned rank) {
    if (rank < 1 || rank > MAP_RANK)
        lint_find(lint, RULE_TMA_RANK, op, "a descriptor of %u dimensions; a tensor map has 1 to %d", rank, MAP_RANK);
}

/* The box that follows from the block and the layout of a descriptor's type. */
static void check_block(Lint *lint, const Op *op, const TmaTile *block) {
    if (!block->known || block->layout == TILE_OTHER)
        return;
    unsigned last = block->rank - 1u;
    int64_t size = block->dims[last] > block->split[last] ? block->dims[last] / block->split[last] : 1;
    int64_t bytes = size * block->bits / 8 * (block->fp4_padded ? 2 : 1);
    if (block->swizzle && bytes < block->swizzle)
        lint_find(lint, RULE_TMA_BOX_SWIZZLE, op,
                  "the rows of the block have %" PRId64 " bytes, less than the swizzle of %" PRId64, bytes,
                  block->swizzle);
    else if (!block->swizzle && (size < BOX_MOST ? bytes : BOX_MOST * (int64_t)block->bits / 8) % INNER_UNIT)
        lint_find(lint, RULE_TMA_BOX_INNER_BYTES, op,
                  "the rows of the block have %" PRId64 " bytes, which is not a multiple of %d", bytes, INNER_UNIT);
}

/* ---- tt.make_tensor_descriptor -------------------------------------------------------------------- */

static IntDomain in_bytes(IntDomain elements, uint32_t bits) {
    IntDomain size = known_exact(bits);
    IntDomain all = known_multiply(&elements, &size, 64);
    IntDomain byte = known_exact(8);
    return known_divide(&all, &byte, 0, 64);
}

static void check_inner_stride(Lint *lint, const Op *op, const IntDomain *stride) {
    if (stride->most < 1 || stride->least > 1)
        lint_find(lint, RULE_TMA_INNER_STRIDE, op, "the last stride is %s, not 1", tma_words(lint, stride));
    else if (!stride->exact)
        lint_find(lint, RULE_TMA_STRIDE_UNKNOWN, op, "review: whether the last stride is 1 is not known");
}

static void check_made(Lint *lint, const Op *op) {
    TmaTile block = tma_tile(lint->module, op->result_count ? op->results[0].type : NULL);
    uint32_t shape_count, stride_count;
    const DescribeColumn *made = &op->row->describes;
    Value **shape = op_operands_of(op, made->shape, &shape_count);
    Value **strides = op_operands_of(op, made->strides, &stride_count);
    int64_t unit = block.fp4_padded ? WIDE_STRIDE_UNIT : STRIDE_UNIT;
    check_rank(lint, op, stride_count);
    check_block(lint, op, &block);
    check_base(lint, op, op_operand_of(op, made->base), unit, block.swizzle != 0);
    for (uint32_t i = 0; i < shape_count; i++) {
        IntDomain size = known_of(lint->facts, shape[i]);
        check_dimension(lint, op, &size, i);
    }
    for (uint32_t i = 0; i + 1 < stride_count && block.known; i++)
        check_stride(lint, op, in_bytes(known_of(lint->facts, strides[i]), block.bits), i, unit);
    if (stride_count) {
        IntDomain stride = known_of(lint->facts, strides[stride_count - 1]);
        check_inner_stride(lint, op, &stride);
    }
    const Attr *padding = op_attr(op, "padding");
    bool nan =
        padding && (padding->kind == ATTR_INTEGER ? padding->integer == 2
                                                  : memmem(padding->text.data, padding->text.size, "nan", 3) != NULL);
    if (nan && block.element && block.element->kind == TYPE_INTEGER)
        lint_find(lint, RULE_TMA_FILL, op, "out-of-range elements are filled with NaN, but the elements are %.*s",
                  STR_ARG(block.element->text));
}

/* ---- ttng.tensormap_create ------------------------------------------------------------------------ */

/* As tensormap.replace numbers the types of elements. */
static const struct {
    uint8_t bits;
    bool floats;
} elements[] = {
    {8, false}, {16, false}, {32, false}, {32, false}, {64, false}, {64, false}, {16, true}, {32, true},
    {32, true}, {64, true},  {16, true},  {32, true},  {32, true},  {4, false},  {4, false}, {6, false},
};

enum { ELEMENT_PACKED = 13, ELEMENT_PADDED = 14, ELEMENT_COUNT = sizeof elements / sizeof *elements };

typedef struct TmaMapTensorMap {
    const Op *op;
    const Value *memory; /* that it is made in */
    int64_t element, interleave, swizzle, fill;
    Value **box, **dims, **strides, **steps;
    uint32_t box_count, dim_count, stride_count, step_count;
} TmaMapTensorMap;

static bool map_of(Lint *lint, const Op *op, TmaMapTensorMap *map) {
    const Effect *fence = tma_map_fence(lint, op, ORDER_RELEASE);
    if (!fence)
        return false;
    *map = (TmaMapTensorMap){.op = op, .memory = fence->on, .element = -1, .swizzle = -1};
    const DescribeColumn *made = &op->row->describes;
    op_integer(op, "elem_type", &map->element);
    op_integer(op, "interleave_layout", &map->interleave);
    op_integer(op, "swizzle_mode", &map->swizzle);
    op_integer(op, "fill_mode", &map->fill);
    map->box = op_operands_of(op, made->box, &map->box_count);
    map->dims = op_operands_of(op, made->shape, &map->dim_count);
    map->strides = op_operands_of(op, made->strides, &map->stride_count);
    map->steps = op_operands_of(op, made->steps, &map->step_count);
    return true;
}

static bool element_known(const TmaMapTensorMap *map) {
    return map->element >= 0 && map->element < ELEMENT_COUNT;
}

/* Bytes; 0: none, -1: not known. */
static int64_t swizzle_width(const TmaMapTensorMap *map) {
    static const int64_t widths[] = {0, 32, 64, 128, 96};
    return map->swizzle >= 0 && map->swizzle < 5 ? widths[map->swizzle] : -1;
}

static void check_inner_box(Lint *lint, const TmaMapTensorMap *map, int64_t size) {
    enum { PACKED_BOX = 128 };
    int64_t bits = size * elements[map->element].bits, width = swizzle_width(map);
    if (map->element >= ELEMENT_PADDED) {
        if (size != PACKED_BOX)
            lint_find(lint, RULE_TMA_BOX_INNER_BYTES, map->op,
                      "the box has %" PRId64 " padded elements in its innermost dimension, not %d", size, PACKED_BOX);
        return;
    }
    if (map->interleave == 0 && bits % (8 * INNER_UNIT))
        lint_find(lint, RULE_TMA_BOX_INNER_BYTES, map->op,
                  "the innermost dimension of the box has %" PRId64 " bytes, which is not a multiple of %d", bits / 8,
                  INNER_UNIT);
    if (map->interleave == 0 && width > 0 && bits / 8 > width)
        lint_find(lint, RULE_TMA_BOX_SWIZZLE, map->op,
                  "the innermost dimension of the box has %" PRId64 " bytes, more than the swizzle of %" PRId64,
                  bits / 8, width);
}

static void check_box(Lint *lint, const TmaMapTensorMap *map) {
    for (uint32_t i = 0; i < map->box_count; i++) {
        IntDomain size = known_of(lint->facts, map->box[i]);
        if (size.most < 1 || size.least > BOX_MOST)
            lint_find(lint, RULE_TMA_BOX_SIZE, map->op, "dimension %u of the box has %s elements, not 1 to %d",
                      map->box_count - 1 - i, tma_words(lint, &size), BOX_MOST);
        else if (!size.exact)
            lint_find(lint, RULE_TMA_BOX_UNKNOWN, map->op,
                      "review: the size of dimension %u of the box is not constant", map->box_count - 1 - i);
        else if (i == 0 && element_known(map))
            check_inner_box(lint, map, size.least);
    }
}

static void check_steps(Lint *lint, const TmaMapTensorMap *map) {
    enum { STEP_MOST = 8 };
    for (uint32_t i = 0; i < map->step_count; i++) {
        IntDomain step = known_of(lint->facts, map->steps[i]);
        if (step.most < 1 || step.least > STEP_MOST)
            lint_find(lint, RULE_TMA_ELEMENT_STRIDE, map->op, "the element stride of dimension %u is %s, not 1 to %d",
                      map->step_count - 1 - i, tma_words(lint, &step), STEP_MOST);
        else if (i == 0 && map->interleave == 0 && (step.least > 1 || step.most < 1))
            lint_find(lint, RULE_TMA_ELEMENT_STRIDE_INNER, map->op,
                      "review: the innermost element stride is %s, and the map is not interleaved",
                      tma_words(lint, &step));
    }
}

static void check_map_modes(Lint *lint, const TmaMapTensorMap *map) {
    enum { INTERLEAVE_32 = 2, SWIZZLE_32 = 1, INTERLEAVED_RANK = 3 };
    if (map->interleave == INTERLEAVE_32 && map->swizzle != SWIZZLE_32)
        lint_find(lint, RULE_TMA_INTERLEAVE_SWIZZLE, map->op,
                  "review: an interleave of 32 bytes without a swizzle of 32 bytes");
    if (map->interleave && map->dim_count < INTERLEAVED_RANK)
        lint_find(lint, RULE_TMA_INTERLEAVE, map->op, "an interleaved map of %u dimensions, fewer than %d",
                  map->dim_count, INTERLEAVED_RANK);
    if (map->fill && element_known(map) && !elements[map->element].floats)
        lint_find(lint, RULE_TMA_FILL, map->op, "out-of-range elements are filled with NaN, but the elements are %s",
                  map->element >= ELEMENT_PACKED ? "packed" : "integers");
}

/* Where a map lies: an allocation of global memory, and how far from its start. */
static void check_map_memory(Lint *lint, const Op *op, const Value *pointer) {
    IntDomain address = known_of(lint->facts, pointer);
    Tribool tribool = known_is_multiple(&address, MAP_ALIGNMENT);
    if (tribool == TRIBOOL_FALSE)
        lint_find(lint, RULE_TMA_MAP_MEMORY, op, "the map is at an address that is %s, so not a multiple of %d",
                  tma_words(lint, &address), MAP_ALIGNMENT);
    else if (tribool == TRIBOOL_UNKNOWN)
        lint_find(lint, RULE_TMA_MAP_MEMORY_UNKNOWN, op,
                  "review: whether the map is at a multiple of %d bytes is not known", MAP_ALIGNMENT);
    MapMemory memory = tma_map_memory(lint, pointer);
    int64_t bytes;
    if (memory.scratch && op_integer(memory.scratch, "nbytes", &bytes) && memory.offset + MAP_BYTES > bytes) {
        Finding *finding = lint_find(lint, RULE_TMA_MAP_MEMORY, op,
                                     "the map takes %d bytes from byte %" PRId64 " on, of an allocation of %" PRId64,
                                     MAP_BYTES, memory.offset, bytes);
        lint_other_place(lint, finding, "allocates", memory.scratch);
    }
}

static void check_created(Lint *lint, const TmaMapTensorMap *map) {
    bool wide = map->interleave == 2 || map->element >= ELEMENT_PADDED;
    int64_t unit = wide ? WIDE_STRIDE_UNIT : STRIDE_UNIT;
    check_rank(lint, map->op, map->dim_count);
    check_box(lint, map);
    check_steps(lint, map);
    check_map_modes(lint, map);
    check_base(lint, map->op, op_operand_of(map->op, map->op->row->describes.base), unit, map->swizzle > 0);
    for (uint32_t i = 0; i < map->dim_count; i++) {
        IntDomain size = known_of(lint->facts, map->dims[i]);
        check_dimension(lint, map->op, &size, map->dim_count - 1 - i);
    }
    for (uint32_t i = 0; i < map->stride_count; i++)
        check_stride(lint, map->op, known_of(lint->facts, map->strides[i]), map->stride_count - 1 - i, unit);
    check_map_memory(lint, map->op, map->memory);
}

/* ---- A map and the descriptor that it is taken for ------------------------------------------------ */

/* `map` is NULL if it is not known. */
static void check_taken(Lint *lint, const Op *taken, const TmaMapTensorMap *map) {
    TmaTile block = tma_tile(lint->module, taken->result_count ? taken->results[0].type : NULL);
    int64_t box[TILE_RANK], width = map ? swizzle_width(map) : -1;
    Finding *finding = NULL;
    check_block(lint, taken, &block);
    if (!map || !tma_box(&block, box) || block.layout == TILE_NOT_SAID || block.im2col)
        return;
    uint32_t bits = element_known(map) && map->element < ELEMENT_PACKED ? elements[map->element].bits : block.bits;
    if (map->box_count != block.rank)
        finding = lint_find(lint, RULE_TMA_TILE, taken, "a map of %u dimensions is used for a block of %u",
                            map->box_count, block.rank);
    else if (bits != block.bits)
        finding = lint_find(lint, RULE_TMA_TILE, taken,
                            "a map of %u-bit elements is used for a block of %u-bit "
                            "elements",
                            bits, block.bits);
    else if (width >= 0 && width != block.swizzle)
        finding =
            lint_find(lint, RULE_TMA_TILE, taken,
                      "a map with a swizzle of %" PRId64 " bytes is used as one of %" PRId64, width, block.swizzle);
    for (uint32_t i = 0; !finding && i < map->box_count && map->box_count == block.rank; i++) {
        IntDomain size = known_of(lint->facts, map->box[i]);
        int64_t meant = box[block.rank - 1u - i];
        if (size.most < meant || size.least > meant)
            finding =
                lint_find(lint, RULE_TMA_TILE, taken,
                          "dimension %u of the map's box has %s elements, but copies of this block assume %" PRId64,
                          block.rank - 1u - i, tma_words(lint, &size), meant);
    }
    lint_other_place(lint, finding, "makes the map", map->op);
}

/* The maps that the kernel makes, by the memory that they are made in. */
typedef struct Maps {
    TmaMapTensorMap *items;
    uint32_t count, capacity;
    Pointers by_memory; /* the pointer -> its map, or SEVERAL */
    Pointers latest;    /* the pointer -> the map that was made there last, on the second walk */
} Maps;

enum { SEVERAL = NO_NUMBER - 1 };

static void add_map(Lint *lint, Maps *maps, const TmaMapTensorMap *map) {
    const Value *memory = tma_source(map->memory);
    pointers_set(&maps->by_memory, memory, pointers_get(&maps->by_memory, memory) == NO_NUMBER ? maps->count : SEVERAL);
    *ARENA_PUSH(&lint->module->arena, maps->items, maps->count, maps->capacity) = *map;
}

/* The map that is in the memory that `taken` takes for a descriptor: the only one that is made there, or else the one
 * that was made last, if that was in the same block. NULL if it is neither. */
static const TmaMapTensorMap *map_taken(const Maps *maps, const Op *taken) {
    const Value *memory = taken ? tma_source(taken->operands[0]) : NULL;
    uint32_t number = memory ? pointers_get(&maps->by_memory, memory) : NO_NUMBER;
    if (number == SEVERAL)
        number = pointers_get(&maps->latest, memory);
    const TmaMapTensorMap *map = number < maps->count ? &maps->items[number] : NULL;
    bool alone = map && pointers_get(&maps->by_memory, memory) != SEVERAL;
    return map && (alone || map->op->block == taken->block) ? map : NULL;
}

/* Interleaved maps cannot be used for single rows. */
static void check_gathered(Lint *lint, const Copy *copy, const Maps *maps) {
    const TmaMapTensorMap *map = map_taken(maps, tma_taken(copy->descriptor));
    if (!copy->rows || !map || !map->interleave)
        return;
    Finding *finding = lint_find(lint, RULE_TMA_INTERLEAVE, copy->op, "rows are copied through an interleaved map");
    lint_other_place(lint, finding, "makes the map", map->op);
}

/* ---- Maps that the launch hands in ---------------------------------------------------------------- */

static void check_forwarded_in(Lint *lint, const Copy *copy, const Parameter *parameter) {
    TmaTile block = tma_tile(lint->module, copy->descriptor->type);
    const Argument *argument = argument_of(lint->facts, parameter);
    check_block(lint, copy->op, &block);
    if (!argument || argument->kind != ARGUMENT_DESCRIPTOR || !block.known)
        return;
    int64_t unit = block.fp4_padded ? WIDE_STRIDE_UNIT : STRIDE_UNIT;
    uint32_t bits = argument->element_bits ? argument->element_bits : block.bits;
    check_rank(lint, copy->op, argument->rank);
    for (unsigned i = 0; i < argument->rank; i++) {
        IntDomain size = known_exact(argument->shape[i]), stride = known_exact(argument->strides[i]);
        check_dimension(lint, copy->op, &size, i);
        if (i + 1 < argument->rank)
            check_stride(lint, copy->op, in_bytes(stride, bits), i, unit);
        else
            check_inner_stride(lint, copy->op, &stride);
    }
}

/* ---- All of it ------------------------------------------------------------------------------------ */

/* Of the copies through a descriptor that is a parameter, the first stands for all. */
static void check_parameter(Lint *lint, const Copy *copy, Pointers *seen) {
    const Parameter *parameter = parameter_of(lint->facts, tma_source(copy->descriptor));
    if (!parameter || pointers_get(seen, parameter) != NO_NUMBER)
        return;
    pointers_set(seen, parameter, 1);
    check_forwarded_in(lint, copy, parameter);
}

void lint_tma_maps(Lint *lint) {
    Arena *arena = &lint->module->arena;
    Maps maps = {.by_memory = {.arena = arena}, .latest = {.arena = arena}};
    Pointers seen = {.arena = arena};
    uint32_t passed = 0;
    TmaMapTensorMap map;
    Copy copy;
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function)) {
        if (op_describes(op) == DESCRIBE_TENSOR && op->form != FORM_OPAQUE)
            check_made(lint, op);
        if (!map_of(lint, op, &map))
            continue;
        check_created(lint, &map);
        add_map(lint, &maps, &map);
    }
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function)) {
        if (passed < maps.count && maps.items[passed].op == op) {
            pointers_set(&maps.latest, tma_source(maps.items[passed].memory), passed);
            passed++;
        }
        if (op->result_count && tma_taken(&op->results[0]) == op)
            check_taken(lint, op, map_taken(&maps, op));
        if (tma_copy(lint, op, &copy)) {
            check_gathered(lint, &copy, &maps);
            check_parameter(lint, &copy, &seen);
        }
    }
}
