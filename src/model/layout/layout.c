/* Layouts from encodings; old releases' spellings are read beside the new. An encoding that is not understood gives a
 * layout that is not `known`. */
#include "model/layout/layout.h"

#include "ir/memo.h"
#include "model/layout/encoding.h"

#include <ctype.h>

Space memdesc_space(const Type *memdesc) {
    if (memdesc && memdesc->canonical)
        memdesc = memdesc->canonical;
    if (!memdesc || !type_is(memdesc, STR("ttg.memdesc")))
        return SPACE_NONE;
    /* The encodings of tensor memory have that name in them too. */
    return str_mentions(memdesc->text, STR("tensor_memory")) ? SPACE_TENSOR : SPACE_SHARED;
}

/* No GPU has that much memory, and products of these fit 64 bits. */
enum {
    LARGEST_BITS = 24,    /* of a place */
    MOST_STAGE_BITS = 16, /* of the number of a stage */
};

/* ---- Building ---------------------------------------------------------------------------------- */

typedef struct LayoutBuilder {
    Layout *layout;
    const Encoding *encoding;
    int64_t size[LAYOUT_RANK];   /* of the allocation in one CTA */
    unsigned bits[LAYOUT_RANK];  /* of a coordinate in one CTA */
    unsigned given[LAYOUT_RANK]; /* how many of them have a place */
    uint32_t next;               /* the first place not given; tensor memory: the first column */
} LayoutBuilder;

static bool give(LayoutBuilder *b, unsigned dim, uint32_t place) {
    if (b->given[dim] >= b->bits[dim] || b->next >> LARGEST_BITS)
        return false;
    b->layout->place[dim][b->given[dim]++] = place;
    return true;
}

/* The next places to the next `count` bits of a dimension, as far as it has them. */
static void give_bits(LayoutBuilder *b, unsigned dim, unsigned count) {
    for (unsigned i = 0; i < count && give(b, dim, b->next); i++)
        b->next <<= 1;
}

static void give_rest(LayoutBuilder *b) {
    for (unsigned d = 0; d < b->layout->rank; d++)
        give_bits(b, d, LAYOUT_BITS);
}

/* How the dimensions are cut between the CTAs, in any of the three ways in which that has been written. */
static void read_split(LayoutBuilder *b) {
    Layout *layout = b->layout;
    Numbers numbers;
    for (unsigned d = 0; d < layout->rank; d++)
        layout->split[d] = 1;
    if (encoding_list(b->encoding, "CGALayout", &numbers) && numbers.inner == layout->rank) {
        for (uint32_t i = 0; i < numbers.count; i++) {
            int64_t reach = (int64_t)1 << bits_for(numbers.items[i] + 1);
            if (reach > layout->split[i % layout->rank])
                layout->split[i % layout->rank] = reach;
        }
    } else if (encoding_list(b->encoding, "CTASplitNum", &numbers) && numbers.count == layout->rank) {
        for (unsigned d = 0; d < layout->rank; d++)
            layout->split[d] = numbers.items[d] > 0 ? numbers.items[d] : 1;
    } else if (layout->rank == 2) {
        layout->split[0] = encoding_int(b->encoding, "CTASplitM", 1);
        layout->split[1] = encoding_int(b->encoding, "CTASplitN", 1);
    }
    for (unsigned d = 0; d < layout->rank; d++)
        if (!is_power(layout->split[d]))
            layout->split[d] = 1;
}

static void cut(LayoutBuilder *b) {
    for (unsigned d = 0; d < b->layout->rank; d++) {
        b->size[d] = b->size[d] / b->layout->split[d] > 1 ? b->size[d] / b->layout->split[d] : 1;
        b->bits[d] = bits_for(b->size[d]);
    }
}

/* Rows are XORed with a phase that comes from their number; `rotating` mixes the next phase bits in too. */
static bool build_swizzled(LayoutBuilder *b, bool rotating) {
    int64_t vec = encoding_int(b->encoding, "vec", 1), per_phase = encoding_int(b->encoding, "perPhase", 1);
    int64_t max_phase = encoding_int(b->encoding, "maxPhase", 1);
    Numbers order;
    if (!is_power(vec) || !is_power(per_phase) || !is_power(max_phase) ||
        !encoding_list(b->encoding, "order", &order) || order.count != b->layout->rank)
        return false;
    for (unsigned i = 0; i < order.count; i++)
        if (order.items[i] < 0 || order.items[i] >= b->layout->rank)
            return false;
    unsigned column = (unsigned)order.items[0];
    give_bits(b, column, LAYOUT_BITS);
    int64_t columns = b->next;
    for (unsigned i = 1; i < order.count; i++)
        for (unsigned k = 0; k < b->bits[order.items[i]]; k++) {
            int64_t turn = ((int64_t)1 << k) / per_phase;
            int64_t phase = turn % max_phase ^ (rotating ? turn / max_phase % max_phase : 0);
            int64_t swizzle = i == 1 ? vec * phase % columns : 0;
            if (!give(b, (unsigned)order.items[i], b->next ^ (uint32_t)swizzle))
                return false;
            b->next <<= 1;
        }
    return true;
}

/* Panels of 8 rows of the swizzle's width, rows as far as one TMA copy reaches, then the next panels. */
static bool build_nvmma(LayoutBuilder *b, int64_t swizzle, int64_t element, bool transposed, bool padded) {
    enum { BOX = 256, CORE_ROWS = 3 };
    unsigned rank = b->layout->rank, contiguous = transposed ? 0 : rank - 1;
    if ((swizzle && (!is_power(swizzle) || swizzle < 16 || swizzle > 128)) || !is_power(element) || element > 128)
        return false;
    if (!swizzle) {
        for (unsigned d = rank; d-- > 0;)
            give_bits(b, d, bits_for(b->size[d] < BOX ? b->size[d] : BOX));
        give_rest(b);
        return true;
    }
    int64_t width = swizzle * 8 / element, vec = 128 / element;
    int64_t per_phase = 128 / swizzle, max_phase = swizzle / 16;
    if (rank < 2 || (transposed && rank > 2) || b->size[contiguous] * (padded ? 2 : 1) < width)
        return false;
    if (padded) { /* eight elements, then room for eight: bit 3 of a place chooses nothing */
        give_bits(b, contiguous, 3);
        b->layout->replicas[b->layout->replica_count++] = b->next;
        b->next <<= 1;
        give_bits(b, contiguous, bits_for(width) - 4);
    } else {
        give_bits(b, contiguous, bits_for(width));
    }
    unsigned row = 0;
    for (unsigned d = rank; d-- > 0;) {
        if (d == contiguous)
            continue;
        unsigned bits = bits_for(b->size[d] < BOX ? b->size[d] : BOX);
        for (unsigned k = 0; k < bits; k++, row++) {
            int64_t phase = row < CORE_ROWS ? ((int64_t)1 << row) / per_phase % max_phase : 0;
            if (!give(b, d, b->next ^ (uint32_t)(vec * phase)))
                return false;
            b->next <<= 1;
        }
    }
    give_rest(b);
    return true;
}

/* From what each bit of a place stands for to the place of each bit of a coordinate: elimination over GF(2). */
static bool invert(LayoutBuilder *b, const Numbers *offsets, const Numbers *blocks) {
    Layout *layout = b->layout;
    unsigned rank = layout->rank, shift[LAYOUT_RANK], width = 0;
    uint64_t pivots[64] = {0}, makers[64] = {0}; /* by highest bit: a vector, and which bits of a place make it */
    for (unsigned d = 0; d < rank; d++) {
        unsigned bits = layout->bits[d];
        for (uint32_t i = d; i < offsets->count; i += rank)
            bits = bits_for(offsets->items[i] + 1) > bits ? bits_for(offsets->items[i] + 1) : bits;
        for (uint32_t i = d; i < blocks->count; i += rank)
            bits = bits_for(blocks->items[i] + 1) > bits ? bits_for(blocks->items[i] + 1) : bits;
        shift[d] = width;
        width += bits;
    }
    unsigned offset_count = offsets->count / rank, block_count = blocks->count / rank;
    if (width > 63 || offset_count > LARGEST_BITS)
        return false;
    for (unsigned i = 0; i < offset_count + block_count; i++) {
        const int64_t *basis = i < offset_count ? &offsets->items[i * rank] : &blocks->items[(i - offset_count) * rank];
        uint64_t vector = 0, maker = (uint64_t)1 << (i < offset_count ? i : 32 + i - offset_count);
        for (unsigned d = 0; d < rank; d++)
            vector |= (uint64_t)basis[d] << shift[d];
        if (!vector && i < offset_count) {
            if (layout->replica_count == LAYOUT_REPLICAS)
                return false;
            layout->replicas[layout->replica_count++] = (uint32_t)maker;
        }
        for (unsigned k = 64; k-- > 0 && vector;) {
            if (!(vector >> k & 1))
                continue;
            if (!pivots[k]) {
                pivots[k] = vector;
                makers[k] = maker;
                break;
            }
            vector ^= pivots[k];
            maker ^= makers[k];
        }
    }
    for (unsigned d = 0; d < rank; d++)
        for (unsigned k = 0; k < layout->bits[d]; k++) {
            uint64_t vector = (uint64_t)1 << (shift[d] + k), maker = 0;
            for (unsigned p = 64; p-- > 0;)
                if (vector >> p & 1 && pivots[p]) {
                    vector ^= pivots[p];
                    maker ^= makers[p];
                }
            if (vector)
                return false;
            layout->place[d][k] = (uint32_t)maker;
        }
    b->next = (uint32_t)1 << offset_count;
    return true;
}

static bool build_linear(LayoutBuilder *b) {
    enum { MOST_BLOCKS = 16 };
    Numbers offsets, blocks;
    if (!encoding_list(b->encoding, "offset", &offsets) || (offsets.count && offsets.inner != b->layout->rank))
        return false;
    if (!encoding_list(b->encoding, "block", &blocks) && encoding_field(b->encoding, "block").size)
        return false;
    if ((blocks.count && blocks.inner != b->layout->rank) || blocks.count / b->layout->rank > MOST_BLOCKS)
        return false;
    for (unsigned d = 0; d < b->layout->rank; d++) { /* the blocks' bases say how it is cut; nothing else does */
        int64_t reach = 1;
        for (uint32_t i = d; i < blocks.count; i += b->layout->rank)
            reach *= blocks.items[i] ? 2 : 1;
        b->layout->split[d] = reach;
    }
    return invert(b, &offsets, &blocks);
}

/* The list before the fields: `[32:+4, 128:+8]` */
static bool read_paddings(const Encoding *encoding, Layout *layout) {
    Str body = str_trimmed(encoding->body);
    const char *at = body.data, *end = at + body.size;
    if (!body.size || *at++ != '[')
        return false;
    while (at < end && *at != ']') {
        int64_t numbers[2];
        for (unsigned i = 0; i < 2; i++) {
            while (at < end && !isdigit((unsigned char)*at) && *at != ']')
                at++;
            const char *digits = at;
            while (at < end && isdigit((unsigned char)*at))
                at++;
            if (!str_to_int(str_between(digits, at), &numbers[i]) || numbers[i] <= 0 || numbers[i] > ENCODING_LARGEST)
                return false;
        }
        if (layout->padding_count == LAYOUT_PADDINGS || !is_power(numbers[0]))
            return false;
        layout->paddings[layout->padding_count++] = (Padding){numbers[0], numbers[1]};
        while (at < end && isspace((unsigned char)*at))
            at++;
    }
    return true;
}

/* Paddings, then `{order, shape}` or `{offset, block}`. */
static bool build_padded(LayoutBuilder *b) {
    Layout *layout = b->layout;
    if (!read_paddings(b->encoding, layout))
        return false;
    if (encoding_field(b->encoding, "offset").size)
        return build_linear(b);
    Numbers order, shape;
    if (!encoding_list(b->encoding, "order", &order) || order.count != layout->rank ||
        !encoding_list(b->encoding, "shape", &shape) || shape.count != layout->rank)
        return false;
    for (unsigned i = 0; i < order.count; i++) {
        int64_t d = order.items[i];
        if (d < 0 || d >= layout->rank || shape.items[d] != b->size[d] * layout->split[d])
            return false;
        give_bits(b, (unsigned)d, LAYOUT_BITS);
    }
    return true;
}

static const uint32_t ROW = 1u << 16;

/* Rows hold M, columns N; the blocks beyond the first go right of it, down before right. */
static bool build_tensor(LayoutBuilder *b) {
    enum { M, N };
    unsigned element = b->layout->element_bits;
    int64_t block_m = encoding_int(b->encoding, "blockM", 128), block_n = encoding_int(b->encoding, "blockN", 1);
    int64_t stride = encoding_int(b->encoding, "colStride", encoding_true(b->encoding, "unpacked") ? 32 / element : 1);
    if ((block_m != 64 && block_m != 128) || !is_power(block_n) || !is_power(stride) || stride > 32)
        return false;
    bool pair = encoding_true(b->encoding, "twoCTAs");
    unsigned n_bits = bits_for(block_n < b->size[N] ? block_n : b->size[N]);
    b->next = (uint32_t)stride << encoding_true(b->encoding, "fp4Padded");
    if (block_m == 64 && !pair) {
        /* Each 32 rows hold 16; the other 16 are for a second block. */
        give_bits(b, N, n_bits);
        for (unsigned k = 0; k < 4; k++)
            give(b, M, ROW << k);
        give(b, M, ROW << 5);
        give(b, M, ROW << 6);
        if (!give(b, M, ROW << 4))
            give(b, N, ROW << 4);
    } else {
        for (unsigned k = 0; k < bits_for(block_m); k++)
            give(b, M, ROW << k);
        bool folded = block_m == 64 && n_bits > 0;
        give_bits(b, N, n_bits - folded);
        if (folded)
            give(b, N, ROW << 6);
    }
    give_rest(b);
    return true;
}

/* Scales of 8 bits: 32 rows, the same in each quarter of the rows, and 4 along K to a word. */
static bool build_scales(LayoutBuilder *b) {
    enum { MN, K };
    for (unsigned k = 0; k < 5; k++)
        give(b, MN, ROW << k);
    b->layout->replicas[b->layout->replica_count++] = ROW << 5;
    b->layout->replicas[b->layout->replica_count++] = ROW << 6;
    give_bits(b, K, 2);
    b->next = 4;
    give_bits(b, MN, 2);
    bool k_first = str_is(encoding_field(b->encoding, "blockRepOrder"), "kThenMn");
    give_bits(b, k_first ? K : MN, LAYOUT_BITS);
    give_bits(b, k_first ? MN : K, LAYOUT_BITS);
    return true;
}

/* ---- Which encoding ---------------------------------------------------------------------------- */

typedef enum LayoutKind {
    KIND_UNKNOWN,
    KIND_DENSE, /* mbarriers, and whatever has one dimension */
    KIND_SWIZZLED,
    KIND_ROTATING,
    KIND_NVMMA,
    KIND_LEADING, /* nvmma as release 3.2 wrote it */
    KIND_LINEAR,
    KIND_PADDED,
    KIND_TENSOR,
    KIND_SCALES,
} LayoutKind;

static LayoutKind kind_of(const Encoding *encoding) {
    static const struct {
        const char *name;
        LayoutKind kind;
    } kinds[] = {{"swizzled_shared", KIND_SWIZZLED},
                 {"amd_rotating_shared", KIND_ROTATING},
                 {"nvmma_shared", KIND_NVMMA},
                 {"shared_linear", KIND_LINEAR},
                 {"padded_shared", KIND_PADDED},
                 {"tensor_memory_encoding", KIND_TENSOR},
                 {"tensor_memory_scales_encoding", KIND_SCALES}};
    if (encoding_is(encoding, "shared"))
        return encoding_true(encoding, "hasLeadingOffset") ? KIND_LEADING : KIND_SWIZZLED;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (encoding_is(encoding, kinds[i].name))
            return kinds[i].kind;
    return KIND_UNKNOWN;
}

/* How many dimensions the encoding lays out; 0 if it does not say. */
static unsigned encoding_rank(const Encoding *encoding, LayoutKind kind) {
    Numbers numbers;
    switch (kind) {
    case KIND_DENSE:
        return 1;
    case KIND_SWIZZLED:
    case KIND_ROTATING:
    case KIND_LEADING:
        return encoding_list(encoding, "order", &numbers) ? numbers.count : 0;
    case KIND_NVMMA:
        if (encoding_list(encoding, "CGALayout", &numbers) && numbers.inner)
            return numbers.inner;
        if (encoding_list(encoding, "CTASplitNum", &numbers))
            return numbers.count;
        return (unsigned)encoding_int(encoding, "rank", 2);
    case KIND_LINEAR:
        return encoding_list(encoding, "offset", &numbers) ? numbers.inner : 0;
    case KIND_PADDED:
        if (encoding_list(encoding, "order", &numbers))
            return numbers.count;
        return encoding_list(encoding, "offset", &numbers) ? numbers.inner : 0;
    case KIND_TENSOR:
    case KIND_SCALES:
        return 2;
    case KIND_UNKNOWN:
        break;
    }
    return 0;
}

/* What the start of an allocation is a multiple of, in bytes of shared memory: the swizzle of nvmma counts from 0. */
static int64_t alignment_of(const Encoding *encoding, LayoutKind kind) {
    enum { USUAL = 16, NVMMA_PHASE = 128 };
    int64_t phases = 1, alignment;
    switch (kind) {
    case KIND_NVMMA:
        phases = encoding_int(encoding, "swizzlingByteWidth", 0) / USUAL;
        return NVMMA_PHASE * (phases > 1 ? phases : 1);
    case KIND_LEADING:
        phases = encoding_int(encoding, "maxPhase", 1);
        return NVMMA_PHASE * (phases > 1 ? phases : 1);
    case KIND_LINEAR:
        alignment = encoding_int(encoding, "alignment", USUAL);
        return alignment > 0 ? alignment : USUAL;
    default:
        return USUAL;
    }
}

static bool build(LayoutBuilder *b, LayoutKind kind) {
    switch (kind) {
    case KIND_DENSE:
        give_rest(b);
        return true;
    case KIND_SWIZZLED:
    case KIND_ROTATING:
        return build_swizzled(b, kind == KIND_ROTATING);
    case KIND_NVMMA:
        return build_nvmma(b, encoding_int(b->encoding, "swizzlingByteWidth", 0),
                           encoding_int(b->encoding, "elementBitWidth", b->layout->element_bits),
                           encoding_true(b->encoding, "transposed"), encoding_true(b->encoding, "fp4Padded"));
    case KIND_LEADING: {
        Numbers order;
        bool given = encoding_list(b->encoding, "order", &order);
        return given && build_nvmma(b, encoding_int(b->encoding, "maxPhase", 1) * 16, b->layout->element_bits,
                                    order.items[0] == 0, false);
    }
    case KIND_LINEAR:
        return build_linear(b);
    case KIND_PADDED:
        return build_padded(b);
    case KIND_TENSOR:
        return build_tensor(b);
    case KIND_SCALES:
        return build_scales(b);
    case KIND_UNKNOWN:
        break;
    }
    return false;
}

/* ---- The layout of a type ---------------------------------------------------------------------- */

static uint32_t highest_bit(uint32_t n) {
    while (n & (n - 1))
        n &= n - 1;
    return n;
}

/* How many elements a stage takes. A size that is no power of two leaves no holes only in the slowest dimension. */
static bool measure(const LayoutBuilder *b, int64_t *elements) {
    *elements = b->next;
    bool odd = false;
    for (unsigned d = 0; d < b->layout->rank; d++) {
        if (is_power(b->size[d]))
            continue;
        uint32_t unit = highest_bit(b->layout->place[d][0]);
        if (odd || b->layout->space == SPACE_TENSOR || (uint64_t)unit << b->bits[d] != b->next)
            return false;
        *elements = unit * b->size[d];
        odd = true;
    }
    return true;
}

bool memdesc_allocation(const Type *type, unsigned rank, int64_t *sizes) {
    Str text = type->params[type->param_count - 1];
    int64_t found[LAYOUT_RANK * 2];
    unsigned count = 0;
    if (type->param_count < 3 || !text.size || !isdigit((unsigned char)text.data[0]))
        return false;
    for (const char *at = text.data, *end = at + text.size; at <= end; at++) {
        const char *digits = at;
        while (at < end && *at != 'x')
            at++;
        if (count == LAYOUT_RANK * 2 || !str_to_int(str_trimmed(str_between(digits, at)), &found[count++]))
            return false;
    }
    if (count < rank)
        return false;
    memcpy(sizes, found + count - rank, sizeof *sizes * rank);
    return true;
}

static uint32_t storage_bits(Module *module, const Type *element, Space space) {
    element = type_resolve(module, element);
    uint32_t bits = element && (element->kind == TYPE_INTEGER || element->kind == TYPE_FLOAT) ? element->width : 64;
    uint32_t stored = 8;
    while (stored < bits)
        stored *= 2;
    return space == SPACE_TENSOR && stored > 32 ? 32 : stored;
}

/* What can be said without the encoding: dense elements, all of them in this CTA. */
static void assume_dense(Layout *layout, const Type *type) {
    layout->known = false;
    layout->rank = layout->padding_count = layout->replica_count = 0;
    layout->stages = layout->stage_elements = 1;
    unsigned stage_dims = type->dim_count;
    if (layout->space == SPACE_TENSOR) { /* M rows, and as many columns to the right as need be */
        int64_t m = stage_dims > 1 ? type->dims[stage_dims - 2] : 1, n = type->dims[stage_dims - 1];
        stage_dims -= stage_dims > 1 ? 2 : 1;
        layout->rows = 128;
        layout->sized &= m < (int64_t)1 << 20 && n < (int64_t)1 << 20;
        layout->stage_elements = layout->sized ? ((m + 127) / 128 * n * layout->element_bits + 31) / 32 : 1;
    }
    for (unsigned d = 0; d < stage_dims; d++)
        if (__builtin_mul_overflow(layout->stage_elements, type->dims[d], &layout->stage_elements))
            layout->sized = false;
    layout->sized &= layout->stage_elements >> 40 == 0;
}

/* Of what is cut into pieces that do not lie beside each other, only sizes are known. */
static void read_pieces(Module *module, const Encoding *encoding, Layout *layout) {
    int64_t pieces = encoding->name.size && encoding_is(encoding, "partitioned_shared")
                         ? encoding_int(encoding, "numPartitions", 1)
                         : 1;
    if (pieces < 2 || pieces > LAYOUT_PIECES)
        return;
    Encoding inner = encoding_read(module, encoding_field(encoding, "partitionLayout"));
    LayoutKind kind = inner.name.size ? kind_of(&inner) : KIND_UNKNOWN;
    layout->pieces = (uint8_t)pieces;
    layout->alignment = alignment_of(&inner, kind);
    if (kind == KIND_PADDED && !read_paddings(&inner, layout))
        layout->padding_count = 0;
}

static void describe(Module *module, const Type *type, Layout *layout) {
    layout->type = type;
    layout->space = memdesc_space(type);
    layout->element_bits = storage_bits(module, type->element, layout->space);
    layout->sized = true;
    layout->pieces = 1;
    bool shaped = type->dim_count > 0 && type->param_count > 1;
    for (unsigned d = 0; d < type->dim_count; d++)
        shaped &= type->dims[d] > 0 && type->dims[d] >> 40 == 0;
    if (!shaped) {
        layout->sized = false;
        return;
    }
    Encoding encoding = encoding_read(module, type->params[1]);
    if (encoding.name.size && encoding_is(&encoding, "user_layout")) /* around the encoding that the user asked for */
        encoding = encoding_read(module, str_trimmed(encoding.body));
    LayoutKind kind = encoding.name.size ? kind_of(&encoding) : KIND_UNKNOWN;
    layout->alignment = alignment_of(&encoding, kind);
    const Type *element = type_resolve(module, type->element);
    bool numbers = element && element->kind == TYPE_INTEGER && element->width == 64;
    bool barriers = numbers && (type->dim_count == 1 || type->dims[type->dim_count - 1] == 1);
    bool line = type->dim_count == 1 && (kind == KIND_SWIZZLED || kind == KIND_ROTATING || kind == KIND_NVMMA);
    if (layout->space == SPACE_SHARED && (barriers || line))
        kind = KIND_DENSE;
    unsigned rank = encoding_rank(&encoding, kind);
    bool tensor = kind == KIND_TENSOR || kind == KIND_SCALES;
    bool possible = rank > 0 && rank <= LAYOUT_RANK && rank <= type->dim_count && layout->space != SPACE_NONE &&
                    tensor == (layout->space == SPACE_TENSOR);
    if (!possible) {
        assume_dense(layout, type);
        read_pieces(module, &encoding, layout);
        return;
    }
    layout->rank = (uint8_t)rank;
    layout->shape = type->dims + type->dim_count - rank;
    layout->stages = 1;
    for (unsigned d = 0; d + rank < type->dim_count; d++)
        if (__builtin_mul_overflow(layout->stages, type->dims[d], &layout->stages) || layout->stages >> MOST_STAGE_BITS)
            possible = false;
    LayoutBuilder builder = {.layout = layout, .encoding = &encoding, .next = 1};
    if (!memdesc_allocation(type, rank, builder.size))
        memcpy(builder.size, layout->shape, sizeof *builder.size * rank);
    for (unsigned d = 0; d < rank; d++) {
        possible &= builder.size[d] >= layout->shape[d] && bits_for(builder.size[d]) <= LARGEST_BITS;
        layout->bits[d] = (uint8_t)bits_for(builder.size[d]);
    }
    if (possible) {
        read_split(&builder);
        cut(&builder);
    }
    if (!possible || !build(&builder, kind) || builder.next >> (tensor ? 16 : LARGEST_BITS) ||
        !measure(&builder, &layout->stage_elements)) {
        assume_dense(layout, type);
        return;
    }
    layout->known = true;
    if (layout->space == SPACE_TENSOR) {
        layout->stage_elements = (layout->stage_elements * layout->element_bits + 31) / 32;
        uint32_t rows = 0;
        for (unsigned d = 0; d < rank; d++)
            for (unsigned k = 0; k < layout->bits[d]; k++)
                rows |= layout->place[d][k] >> 16;
        for (unsigned i = 0; i < layout->replica_count; i++)
            rows |= layout->replicas[i] >> 16;
        layout->rows = (int64_t)1 << __builtin_popcount(rows);
    }
}

Layout *layout_of(Module *module, const Type *memdesc) {
    const Type *type = memdesc ? type_canonical(module, memdesc) : NULL;
    if (!type || !type_is(type, STR("ttg.memdesc")))
        return NULL;
    bool fresh;
    Layout *layout = module_memo(module, "layout", type, sizeof *layout, &fresh);
    if (fresh)
        describe(module, type, layout);
    return layout;
}

uint32_t layout_place(const Layout *layout, const int64_t *coordinates) {
    uint32_t place = 0;
    for (unsigned d = 0; d < layout->rank; d++)
        for (unsigned k = 0; k < layout->bits[d]; k++)
            if (coordinates[d] >> k & 1)
                place ^= layout->place[d][k];
    return place;
}

int64_t layout_pad(const Layout *layout, int64_t byte) {
    int64_t element = layout->element_bits / 8, padded = byte;
    for (unsigned i = 0; i < layout->padding_count; i++)
        padded += byte / (layout->paddings[i].interval * element) * layout->paddings[i].amount * element;
    return padded;
}

int64_t layout_stage_stride(const Layout *layout) {
    if (layout->space == SPACE_TENSOR)
        return layout->stage_elements;
    for (unsigned i = 0; i < layout->padding_count; i++)
        if (layout->stage_elements % layout->paddings[i].interval)
            return -1;
    return layout_pad(layout, layout->stage_elements * (layout->element_bits / 8));
}
