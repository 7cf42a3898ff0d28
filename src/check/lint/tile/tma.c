/* Rules of lint_tma.def: what a tensor copy is, and what is allowed of the op itself. */
#include "check/lint/tile/tma.h"

#include "model/flow/forwarded.h"

#include <inttypes.h>

/* ---- Blocks --------------------------------------------------------------------------------------- */

/* Between how many CTAs the dimensions are cut, from the list of what each bit of a CTA's number moves. */
static void read_ctas(const Encoding *encoding, TmaTile *tile) {
    Numbers numbers;
    for (unsigned d = 0; d < TILE_RANK; d++)
        tile->split[d] = 1;
    if (encoding_list(encoding, "CGALayout", &numbers) && numbers.inner == tile->rank) {
        for (uint32_t i = 0; i + tile->rank <= numbers.count; i += tile->rank) {
            bool moves = false;
            for (unsigned d = 0; d < tile->rank; d++) {
                moves |= numbers.items[i + d] != 0;
                tile->split[d] *= numbers.items[i + d] != 0 ? 2 : 1;
            }
            tile->broadcast_bits |= moves ? 0 : 1u << tile->cta_bits;
            tile->cta_bits++;
        }
    } else if (encoding_list(encoding, "CTASplitNum", &numbers) && numbers.count == tile->rank) {
        for (unsigned d = 0; d < tile->rank; d++)
            tile->split[d] = numbers.items[d] > 0 ? numbers.items[d] : 1;
    }
}

static void read_layout(const Encoding *encoding, TmaTile *tile) {
    Numbers order;
    tile->layout = TILE_ROWS;
    if (encoding_is(encoding, "nvmma_shared")) {
        tile->swizzle = encoding_int(encoding, "swizzlingByteWidth", 0);
        tile->transposed = encoding_true(encoding, "transposed");
        tile->fp4_padded = encoding_true(encoding, "fp4Padded");
        bool possible = tile->swizzle == 0 || tile->swizzle == 32 || tile->swizzle == 64 || tile->swizzle == 128;
        if (!possible || tile->transposed)
            tile->layout = TILE_OTHER;
    } else if (encoding_is(encoding, "swizzled_shared")) {
        bool ordered = encoding_list(encoding, "order", &order);
        for (uint32_t i = 0; ordered && i < order.count; i++)
            tile->transposed |= order.items[i] != (int64_t)(order.count - 1 - i);
        if (encoding_int(encoding, "maxPhase", 1) != 1 || tile->transposed)
            tile->layout = TILE_OTHER;
    } else {
        tile->layout = TILE_NOT_SAID;
    }
}

/* The text of the layout of a memory descriptor or tensor descriptor; empty if it has none. */
static Str layout_text(const Type *type, const Type *tensor) {
    if (tensor)
        return tensor->encoding ? tensor->encoding->text : (Str){"", 0};
    return type->param_count > 1 && type->params[1].size && type->params[1].data[0] == '#' ? type->params[1]
                                                                                           : (Str){"", 0};
}

TmaTile tma_tile(Module *module, const Type *type) {
    TmaTile tile = {.split = {1, 1, 1, 1, 1, 1, 1, 1}};
    type = type ? type_canonical(module, type) : NULL;
    bool descriptor = type && type_is(type, STR("tt.tensordesc"));
    tile.im2col = type && type_is(type, STR("ttng.tensordesc_im2col"));
    if (!type || !(descriptor || tile.im2col || memdesc_space(type) == SPACE_SHARED))
        return tile;
    const Type *inner = type->element ? type_resolve(module, type->element) : NULL; /* the form around a tensor */
    const Type *tensor = inner && inner->kind == TYPE_TENSOR ? inner : NULL, *shaped = tensor ? tensor : type;
    tile.element = shaped->element ? type_resolve(module, shaped->element) : NULL;
    bool number = tile.element && (tile.element->kind == TYPE_INTEGER || tile.element->kind == TYPE_FLOAT);
    if (!number || shaped->dim_count < 1 || shaped->dim_count > TILE_RANK)
        return tile;
    tile.bits = tile.element->width < 8 ? 8 : tile.element->width;
    tile.rank = (uint8_t)shaped->dim_count;
    tile.known = true;
    for (unsigned d = 0; d < tile.rank; d++) {
        tile.dims[d] = shaped->dims[d];
        tile.known &= tile.dims[d] > 0 && tile.dims[d] <= INT32_MAX;
    }
    Str text = layout_text(type, tensor);
    Encoding encoding = text.size ? encoding_read(module, text) : (Encoding){0};
    if (encoding.name.size) {
        read_layout(&encoding, &tile);
        read_ctas(&encoding, &tile);
    }
    return tile;
}

bool tma_box(const TmaTile *tile, int64_t box[TILE_RANK]) {
    enum { COLUMN_MOST = 1024 };
    if (!tile->known || tile->layout == TILE_OTHER)
        return false;
    for (unsigned d = 0; d < tile->rank; d++) {
        int64_t most = tile->im2col && d + 1 < tile->rank ? COLUMN_MOST : BOX_MOST;
        int64_t size = tile->dims[d] > tile->split[d] ? tile->dims[d] / tile->split[d] : 1;
        box[d] = size < most ? size : most;
    }
    if (tile->swizzle)
        box[tile->rank - 1] = 8 * tile->swizzle / tile->bits;
    return true;
}

/* ---- Copies --------------------------------------------------------------------------------------- */

/* Until it is lowered, the thread itself does it. A prefetch reads the descriptor alone. */
bool tma_copy(Lint *lint, const Op *op, Copy *copy) {
    static const CopyKind kinds[][2] = {[EFFECT_READ] = {COPY_LOAD, COPY_GATHER},
                                        [EFFECT_WRITE] = {COPY_STORE, COPY_SCATTER},
                                        [EFFECT_UPDATE] = {COPY_REDUCE, COPY_REDUCE}};
    Effects effects = lint_effects(lint, op);
    *copy = (Copy){.op = op, .kind = COPY_PREFETCH};
    for (const Effect *effect = effects.items; effect < effects.end; effect++) {
        bool engine = effect->helper == HELPER_TMA;
        if (!effect_is_access(effect) || effect->group == GROUP_AMD_TENSOR)
            continue;
        copy->lowered |= engine;
        if (effect->on_descriptor || (engine && effect->proxy == PROXY_TENSORMAP)) {
            copy->descriptor = effect->on;
            copy->barrier = effect->through;
            copy->rows = effect->rows;
            copy->predicate = effect->predicate;
            copy->coordinates = effect->at;
            copy->offsets = effect->offsets;
        } else if (engine && effect->space == SPACE_SHARED) {
            copy->memory = effect->on;
        }
        if (effect->on_descriptor)
            copy->kind = kinds[effect->verb][copy->rows != NULL];
    }
    return copy->descriptor != NULL;
}

const Effect *tma_bulk_store(Lint *lint, const Op *op) {
    const Effect *write = lint_effect(lint, op, EFFECT_WRITE);
    return write && write->group == GROUP_TMA_STORE && !write->on_descriptor ? write : NULL;
}

const Value *tma_source(const Value *value) {
    enum { MOST_STEPS = 256 };
    for (int step = 0; value && step < MOST_STEPS; step++) {
        Carried carried;
        const Value *before = value_forwarded(value, FORWARDED_CAPTURE);
        if (carried_of(value, &carried) && carried.next == carried.argument)
            before = carried.first;
        if (!before)
            return value;
        value = before;
    }
    return value;
}

const Op *tma_taken(const Value *descriptor) {
    const Op *op = value_op(tma_source(descriptor));
    return op_describes(op) == DESCRIBE_TAKEN && op->operand_count ? op : NULL;
}

MapMemory tma_map_memory(Lint *lint, const Value *pointer) {
    enum { MOST_STEPS = 8 };
    MapMemory memory = {.root = tma_source(pointer), .known = true};
    const Op *add;
    for (int i = 0; i < MOST_STEPS && (add = value_made(memory.root, EVALUATE_ADD_POINTER)); i++) {
        IntDomain moved = known_of(lint->facts, add->operands[1]);
        memory.known = moved.exact && moved.least >= 0 && moved.least <= INT32_MAX;
        if (!memory.known)
            return memory;
        memory.offset += moved.least;
        memory.root = tma_source(add->operands[0]);
    }
    const Op *made = value_op(memory.root);
    memory.scratch = made && lint_effect(lint, made, EFFECT_ALLOCATE) ? made : NULL;
    return memory;
}

const Effect *tma_map_fence(Lint *lint, const Op *op, Order order) {
    const Effect *fence = op_is(op, CLASS_INLINE_PTX) ? NULL : lint_effect(lint, op, EFFECT_FENCE_PROXY);
    return fence && fence->on && fence->proxy == PROXY_TENSORMAP && fence->order == order ? fence : NULL;
}

const char *tma_words(Lint *lint, const IntDomain *known) {
    if (known->exact)
        return verdict_text(lint->verdict, "%" PRId64, known->least);
    if (known->divisor > 1 && known->divisor == known->modulus)
        return verdict_text(lint->verdict, "a multiple of %" PRId64, known->divisor);
    if (known->modulus > 1)
        return verdict_text(lint->verdict, "%" PRId64 " more than a multiple of %" PRId64, known->remainder,
                            known->modulus);
    return "not known";
}

/* ---- What the op itself says ---------------------------------------------------------------------- */

static const char *copy_words(const Copy *copy) {
    static const char *const words[] = {"load", "store", "reduction", "gather", "scatter", "prefetch"};
    return words[copy->kind];
}

static void check_gather_target(Lint *lint, const Copy *copy) {
    if (!lint->target || copy->kind < COPY_GATHER || copy->kind == COPY_PREFETCH || lint->target->gather ||
        !lint->target->bulk)
        return;
    if (lint->target->number > 100 && copy->kind == COPY_GATHER)
        lint_find(lint, RULE_TMA_GATHER_TARGET_OPEN, copy->op,
                  "review: a row gather for %s, which supports it only into the memory of the executing CTA",
                  lint->target->name);
    else
        lint_find(lint, RULE_TMA_GATHER_TARGET, copy->op, "a row %s for %s, which has none", copy_words(copy),
                  lint->target->name);
}

static void check_gather(Lint *lint, const Copy *copy, const TmaTile *block) {
    if (!copy->rows)
        return;
    check_gather_target(lint, copy);
    const Type *rows = copy->rows->type ? type_resolve(lint->module, copy->rows->type) : NULL;
    if (block->known && block->rank != 2)
        lint_find(lint, RULE_TMA_GATHER, copy->op, "a row %s through a descriptor of %u dimension%s, not two",
                  copy_words(copy), block->rank, block->rank == 1 ? "" : "s");
    else if (block->known && block->dims[0] != 1)
        lint_find(lint, RULE_TMA_GATHER, copy->op, "a row %s through a descriptor whose box has %" PRId64 " rows",
                  copy_words(copy), block->dims[0]);
    else if (rows && rows->dim_count == 1 && rows->dims[0] % 4)
        lint_find(lint, RULE_TMA_GATHER, copy->op, "a %s of %" PRId64 " rows, which is not a multiple of four",
                  copy_words(copy), rows->dims[0]);
}

static void check_im2col(Lint *lint, const Copy *copy, const TmaTile *block) {
    static const int64_t most[] = {65535, 255, 31};
    enum { COLUMN_MOST = 1024, FEWEST = 3 };
    if (copy->coordinates.count < FEWEST || copy->coordinates.count > MAP_RANK) {
        lint_find(lint, RULE_TMA_IMAGE_COLUMNS, copy->op, "an im2col copy with %u coordinates, not 3 to 5",
                  copy->coordinates.count);
        return;
    }
    if (copy->offsets.count + 2 != copy->coordinates.count)
        lint_find(lint, RULE_TMA_IMAGE_COLUMNS, copy->op, "an im2col copy with %u coordinates and %u offsets, not %u",
                  copy->coordinates.count, copy->offsets.count, copy->coordinates.count - 2);
    if (block->known && block->rank == 2 && block->dims[0] / block->split[0] > COLUMN_MOST)
        lint_find(lint, RULE_TMA_IMAGE_COLUMNS, copy->op,
                  "an im2col copy of a column of %" PRId64 " pixels, more than %d", block->dims[0] / block->split[0],
                  COLUMN_MOST);
    for (uint32_t i = 0; i < copy->offsets.count; i++) {
        IntDomain offset = known_of(lint->facts, copy->offsets.items[i]);
        offset = known_unsigned(&offset, 16);
        int64_t limit = most[copy->coordinates.count - FEWEST];
        if (offset.least > limit)
            lint_find(lint, RULE_TMA_IMAGE_COLUMNS, copy->op,
                      "an im2col copy of %u dimensions with an offset of %" PRId64 ", more than %" PRId64,
                      copy->coordinates.count, offset.least, limit);
    }
}

static void check_coordinates(Lint *lint, const Copy *copy, const TmaTile *block) {
    if (!block->known)
        return;
    if (block->rank > MAP_RANK)
        lint_find(lint, RULE_TMA_RANK, copy->op, "a %s through a descriptor of %u dimensions, more than %d",
                  copy_words(copy), block->rank, MAP_RANK);
    const Attr *mode = op_attr(copy->op, "tensorMode");
    if (block->im2col || (mode && memmem(mode->text.data, mode->text.size, "im2col", 6))) {
        check_im2col(lint, copy, block);
        return;
    }
    if (!copy->rows && copy->coordinates.count != block->rank)
        lint_find(lint, RULE_TMA_COORDINATES, copy->op,
                  "a %s with %u coordinate%s through a descriptor of %u dimension%s", copy_words(copy),
                  copy->coordinates.count, copy->coordinates.count == 1 ? "" : "s", block->rank,
                  block->rank == 1 ? "" : "s");
}

static void check_negative(Lint *lint, const Copy *copy) {
    for (uint32_t i = 0; tma_stores(copy) && i < copy->coordinates.count; i++) {
        IntDomain at = known_of(lint->facts, copy->coordinates.items[i]);
        if (at.most < 0)
            lint_find(lint, RULE_TMA_NEGATIVE_STORE, copy->op,
                      "a %s whose coordinate %u is %s%" PRId64 ": it starts before the tensor", copy_words(copy), i,
                      at.exact ? "" : "at most ", at.most);
    }
}

static void check_fp4(Lint *lint, const Copy *copy, const TmaTile *block) {
    enum { STEP = 128 };
    if (!block->fp4_padded)
        return;
    if (copy->kind != COPY_LOAD && copy->kind != COPY_PREFETCH)
        lint_find(lint, RULE_TMA_PACKED, copy->op, "a %s of padded 4-bit elements, which can only be loaded",
                  copy_words(copy));
    else if (block->swizzle != 128)
        lint_find(lint, RULE_TMA_PACKED, copy->op,
                  "a load of padded 4-bit elements with a swizzle of %" PRId64 " bytes, not 128", block->swizzle);
    if (!copy->coordinates.count || copy->rows)
        return;
    /* Until it is lowered, a coordinate counts bytes, of two elements each. */
    int64_t step = copy->lowered ? STEP : STEP / 2;
    IntDomain at = known_of(lint->facts, copy->coordinates.items[copy->coordinates.count - 1]);
    Tribool tribool = known_is_multiple(&at, step);
    if (tribool == TRIBOOL_FALSE)
        lint_find(lint, RULE_TMA_PACKED_COORDINATE, copy->op,
                  "a load of padded 4-bit elements from coordinate %s, not a multiple of %" PRId64,
                  tma_words(lint, &at), step);
    else if (tribool == TRIBOOL_UNKNOWN)
        lint_find(
            lint, RULE_TMA_PACKED_COORDINATE_UNKNOWN, copy->op,
            "review: a load of padded 4-bit elements from a coordinate that is not known to be a multiple of %" PRId64,
            step);
}

/* ---- Reductions ----------------------------------------------------------------------------------- */

static bool is_float(const Type *type, unsigned width) {
    return type->kind == TYPE_FLOAT && type->width == width;
}

static bool reduces(Str kind, const Type *type) {
    bool integer = type->kind == TYPE_INTEGER, wide = integer && type->width == 64;
    bool word = integer && type->width == 32;
    bool half = type->kind == TYPE_FLOAT && (str_is(type->text, "f16") || str_is(type->text, "bf16"));
    if (str_is(kind, "add"))
        return word || (wide && type->sign != 's') || half || (is_float(type, 32) && str_is(type->text, "f32"));
    if (str_is(kind, "min") || str_is(kind, "max"))
        return word || wide || half;
    if (str_is(kind, "and") || str_is(kind, "or") || str_is(kind, "xor"))
        return word || wide;
    return word; /* inc, dec */
}

static void check_reduction(Lint *lint, const Copy *copy, const TmaTile *block) {
    static const char *const words[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};
    const Attr *attr = op_attr(copy->op, "kind");
    attr = attr ? attr : op_attr(copy->op, "reduce_kind");
    if (copy->kind != COPY_REDUCE || !attr || !block->element)
        return;
    Str kind = attr->text;
    if (attr->kind == ATTR_INTEGER && attr->integer >= 1 && attr->integer <= 8)
        kind = str_of(words[attr->integer - 1]);
    if (!reduces(kind, block->element))
        lint_find(lint, RULE_TMA_REDUCE, copy->op, "a reduction by '%.*s' of %.*s, which TMA does not support",
                  STR_ARG(kind), STR_ARG(block->element->text));
}

/* ---- Clusters ------------------------------------------------------------------------------------- */

static void check_multicast(Lint *lint, const Copy *copy, const TmaTile *memory) {
    bool by_layout = op_flag(copy->op, "multicast");
    const Value *mask = op_operand_named(copy->op, "multicastTargets");
    int64_t ctas = lint_ctas(lint);
    if (!by_layout && !mask)
        return;
    if (ctas == 1) {
        lint_find(lint, RULE_TMA_MULTICAST, copy->op, "a multicast copy in a kernel whose clusters have one CTA");
        return;
    }
    if (!mask && copy->lowered && memory->known && memory->layout != TILE_NOT_SAID && !memory->broadcast_bits)
        lint_find(lint, RULE_TMA_MULTICAST, copy->op,
                  "a multicast copy to a buffer of which every CTA of the cluster holds a different part");
    IntDomain targets = mask ? known_of(lint->facts, mask) : known_exact(1);
    if (targets.exact && ctas > 0 && ctas < 63 && (targets.least == 0 || targets.least >> ctas))
        lint_find(lint, RULE_TMA_MULTICAST, copy->op,
                  "a multicast copy with mask 0x%" PRIx64 " in a cluster of %" PRId64 " CTAs", (uint64_t)targets.least,
                  ctas);
}

/* The bits of a CTA's number that change nothing of where the barrier is: those CTAs share it. Older IR writes the same
 * for a barrier in each CTA, but then has as many as there are CTAs. */
static unsigned sharing_bits(Lint *lint, const Value *barrier) {
    const Type *type = lint_type(lint, barrier);
    Encoding encoding = {0};
    Numbers numbers;
    if (!type || type->param_count < 2 || !type->dim_count || lint->module->own_barriers)
        return 0;
    encoding = encoding_read(lint->module, type->params[1]);
    if (!encoding.name.size || !encoding_list(&encoding, "CGALayout", &numbers) || numbers.inner != 1)
        return 0;
    unsigned bits = 0;
    for (uint32_t i = 0; i < numbers.count && i < 16; i++)
        bits |= numbers.items[i] ? 0 : 1u << i;
    int64_t barriers = type->dims[type->dim_count - 1], ctas = lint_ctas(lint);
    return barriers > 0 && ctas % barriers == 0 && ctas / barriers == (int64_t)1 << __builtin_popcount(bits) ? bits : 0;
}

static bool is_for_pairs(const Lint *lint, const Copy *copy) {
    return op_flag(copy->op, "two_cta") || attr_is_true(op_attr_around(lint->function, "ttng.two-ctas"));
}

static void check_barrier(Lint *lint, const Copy *copy) {
    if (!copy->barrier || !copy->memory || lint_ctas(lint) == 1)
        return;
    bool pairs = is_for_pairs(lint, copy);
    unsigned shared = sharing_bits(lint, copy->barrier);
    if (shared & ~1u)
        lint_find(lint, RULE_TMA_BARRIER_CTA, copy->op,
                  "the mbarrier of this copy is shared by CTAs that are not a pair, and is in one of them");
    else if (shared && !pairs)
        lint_find(lint, RULE_TMA_BARRIER_CTA, copy->op,
                  "the mbarrier of this copy is in the even CTA of each pair, but the copy is not a two-CTA copy");
    bool far_memory = place_of(lint->facts, copy->memory).remote, far = place_of(lint->facts, copy->barrier).remote;
    if (far_memory != far && !pairs)
        lint_find(lint, RULE_TMA_BARRIER_CTA, copy->op, "the %s of this copy is in another CTA, its %s is not",
                  far ? "barrier" : "destination", far ? "destination" : "barrier");
}

/* ---- Descriptor and memory ------------------------------------------------------------------------ */

/* Bytes that one instruction moves; -1 if that cannot be said. */
static int64_t box_bytes(const TmaTile *tile) {
    int64_t box[TILE_RANK], bytes = tile->bits;
    if (!tma_box(tile, box))
        return -1;
    for (unsigned d = 0; d < tile->rank; d++)
        if (__builtin_mul_overflow(bytes, box[d], &bytes))
            return -1;
    return bytes / 8;
}

/* A block may be larger than the memory, and is then copied in parts; what one instruction copies must agree. */
static void check_tile(Lint *lint, const Copy *copy, const TmaTile *described, const TmaTile *memory) {
    if (!described->known || !memory->known || memory->layout != TILE_ROWS)
        return;
    TmaTile block = *described, held_tile = *memory;
    held_tile.im2col = block.im2col; /* whose columns may be longer than a box */
    if (copy->rows)                  /* each instruction copies single rows */
        block.dims[0] = held_tile.dims[0] = 1;
    if (block.layout == TILE_NOT_SAID) { /* it will be that of the memory */
        block.layout = memory->layout;
        block.swizzle = memory->swizzle;
        if (block.rank == memory->rank)
            memcpy(block.split, memory->split, sizeof block.split);
    }
    int64_t moved = box_bytes(&block), held = box_bytes(&held_tile);
    if (block.swizzle != memory->swizzle)
        lint_find(lint, RULE_TMA_TILE, copy->op,
                  "the descriptor swizzles by %" PRId64 " bytes, the shared memory is laid out for %" PRId64,
                  block.swizzle, memory->swizzle);
    else if (moved >= 0 && moved != held)
        lint_find(lint, RULE_TMA_TILE, copy->op,
                  "an instruction moves %" PRId64 " bytes by the descriptor, but %" PRId64 " by the shared memory",
                  moved, held);
}

static void check_layout(Lint *lint, const Copy *copy, const TmaTile *memory) {
    if (memory->known && memory->layout == TILE_OTHER)
        lint_find(lint, RULE_TMA_LAYOUT, copy->op, "a %s %s shared memory %s", copy_words(copy),
                  tma_stores(copy) ? "from" : "to",
                  memory->transposed ? "whose last dimension is not the innermost"
                                     : "with a swizzle that no tensor map has");
}

void lint_tma_copy(Lint *lint, const Copy *copy) {
    TmaTile block = tma_tile(lint->module, copy->descriptor->type);
    TmaTile memory = tma_tile(lint->module, copy->memory && copy->lowered ? copy->memory->type : NULL);
    check_coordinates(lint, copy, &block);
    check_gather(lint, copy, &block);
    check_negative(lint, copy);
    check_fp4(lint, copy, memory.known ? &memory : &block);
    check_reduction(lint, copy, &block);
    check_multicast(lint, copy, &memory);
    check_barrier(lint, copy);
    check_layout(lint, copy, &memory);
    if (memory.layout != TILE_OTHER)
        check_tile(lint, copy, &block, &memory);
}

/* ---- All of it ------------------------------------------------------------------------------------ */

static bool needs_tma(Lint *lint, const Op *op) {
    Copy copy;
    return tma_copy(lint, op, &copy) || tma_bulk_store(lint, op) || tma_map_fence(lint, op, ORDER_RELEASE);
}

static void check_target(Lint *lint, const Op *op) {
    if (lint->target && !lint->target->bulk && needs_tma(lint, op))
        lint_find(lint, RULE_TMA_TARGET, op, "%.*s requires sm_90 or later, and this is %s", STR_ARG(op->name),
                  lint->target->name);
}

/* Descriptors are another thing on AMD. Where no target is known, ops that only NVIDIA has show it. */
static bool is_for_nvidia(const Lint *lint) {
    if (lint->target)
        return lint->target->vendor == VENDOR_NVIDIA;
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function))
        if (str_is(op_dialect(op), "ttng") || str_is(op_dialect(op), "nvws"))
            return true;
    return false;
}

void lint_tma(Lint *lint) {
    if (!is_for_nvidia(lint))
        return;
    Arena *arena = &lint->module->arena;
    SharedUsers users = {.copied = {.arena = arena}, .others = {.arena = arena}};
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function)) {
        Copy copy;
        check_target(lint, op);
        if (tma_copy(lint, op, &copy)) {
            lint_tma_copy(lint, &copy);
            lint_tma_shared(lint, &copy, &users);
        }
        lint_tma_bulk(lint, op);
    }
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function))
        lint_tma_operands(lint, op, &users);
    lint_tma_maps(lint);
    lint_tma_life(lint);
}
