/* Layouts of tensors from their encodings.
 *
 * A layout is built as Triton builds it: a tile that one CTA's threads hold, made of runs of bits that each go along
 * one dimension; then more registers until the tile covers the part of the tensor that one CTA has (in the order in
 * which the encoding repeats), or less where the tile is larger (bits that leave the tensor become copies); then the
 * CTAs. */
#include "model/layout/distributed.h"

#include "ir/memo.h"
#include "model/layout/encoding.h"

const uint8_t distributed_most[HOLDERS] = {24, 8, 12, 12};

enum { DEEPEST = 12 /* encodings in encodings */ };

_Static_assert(CTAS_RANK == (int)DISTRIBUTED_RANK, "both are of the same tensors");

/* ---- Tiles ------------------------------------------------------------------------------------- */

typedef struct DistributedTile {
    Distributed *to;
    unsigned size[DISTRIBUTED_RANK];   /* bits that the tile covers so far */
    unsigned repeat[DISTRIBUTED_RANK]; /* dimensions in the order in which it is repeated */
    bool bad;
} DistributedTile;

static void add_basis(DistributedTile *tile, Holder holder, const uint32_t *basis) {
    Distributed *to = tile->to;
    if (to->count[holder] == distributed_most[holder]) {
        tile->bad = true;
        return;
    }
    memcpy(to->bases[holder][to->count[holder]++], basis, sizeof to->bases[0][0]);
}

/* The next `n` elements (a power of two) of a dimension to as many of the holder. */
static void add(DistributedTile *tile, Holder holder, unsigned dim, int64_t n) {
    if (n == 0) /* as Triton has it: nothing is left to repeat */
        n = 1;
    if (!is_power(n))
        tile->bad = true;
    for (unsigned k = bits_for(n); k-- > 0 && !tile->bad;) {
        uint32_t basis[DISTRIBUTED_RANK] = {0};
        if (tile->size[dim] >= DISTRIBUTED_BITS) {
            tile->bad = true;
            return;
        }
        basis[dim] = UINT32_C(1) << tile->size[dim]++;
        add_basis(tile, holder, basis);
    }
}

static void add_copies(DistributedTile *tile, Holder holder, int64_t n) {
    static const uint32_t zero[DISTRIBUTED_RANK];
    tile->bad |= !is_power(n);
    for (unsigned k = bits_for(n); k-- > 0 && !tile->bad;)
        add_basis(tile, holder, zero);
}

/* Dimensions from the last to the first, or with the last two swapped. */
static void matrix_order(unsigned rank, bool row_major, unsigned *order) {
    for (unsigned i = 0; i < rank; i++)
        order[i] = rank - 1 - i;
    if (!row_major && rank > 1) {
        order[0] = rank - 2;
        order[1] = rank - 1;
    }
}

static uint32_t below(unsigned bits) {
    return bits >= 32 ? UINT32_MAX : (UINT32_C(1) << bits) - 1;
}

/* Coordinates that leave the tensor become 0. */
static void clip(uint32_t *basis, unsigned rank, const unsigned *bits) {
    for (unsigned d = 0; d < rank; d++)
        if (basis[d] > below(bits[d]))
            basis[d] = 0;
}

/* The tile, as often as it needs to be, on each CTA's part of the tensor. */
static bool spread(DistributedTile *tile, Ctas *ctas) {
    Distributed *to = tile->to;
    unsigned rank = to->rank, cluster[DISTRIBUTED_RANK] = {0}, part[DISTRIBUTED_RANK], whole[DISTRIBUTED_RANK];
    for (unsigned d = 0; d < rank; d++) {
        whole[d] = to->bits[d];
        for (unsigned i = 0; i < ctas->count; i++) {
            unsigned bits = bits_for((int64_t)ctas->bases[i][d] + 1);
            cluster[d] = bits > cluster[d] ? bits : cluster[d];
        }
        cluster[d] = cluster[d] < whole[d] ? cluster[d] : whole[d];
        part[d] = whole[d] - cluster[d];
    }
    for (unsigned i = 0; i < rank; i++) {
        unsigned d = tile->repeat[i];
        if (tile->size[d] < part[d])
            add(tile, HOLD_REGISTER, d, (int64_t)1 << (part[d] - tile->size[d]));
    }
    for (unsigned h = HOLD_REGISTER; h < HOLD_BLOCK; h++)
        for (unsigned i = 0; i < to->count[h]; i++)
            clip(to->bases[h][i], rank, part);
    for (unsigned i = 0; i < ctas->count; i++) {
        clip(ctas->bases[i], rank, whole);
        for (unsigned d = 0; d < rank; d++)
            ctas->bases[i][d] <<= part[d];
        add_basis(tile, HOLD_BLOCK, ctas->bases[i]);
    }
    return !tile->bad;
}

/* ---- Encodings --------------------------------------------------------------------------------- */

static bool build(Module *module, Str text, Distributed *to, int depth);

static bool build_blocked(const Encoding *encoding, DistributedTile *tile) {
    static const char *const keys[] = {"sizePerThread", "threadsPerWarp", "warpsPerCTA"};
    unsigned rank = tile->to->rank;
    Numbers sizes;
    Ctas ctas;
    if (!encoding_order(encoding, "order", rank, tile->repeat) || !encoding_ctas(encoding, rank, &ctas))
        return false;
    for (unsigned h = HOLD_REGISTER; h < HOLD_BLOCK; h++) {
        if (!encoding_list_of(encoding, keys[h], rank, &sizes))
            return false;
        for (unsigned i = 0; i < rank; i++)
            add(tile, (Holder)h, tile->repeat[i], sizes.items[tile->repeat[i]]);
    }
    tile->to->blocked = true;
    return spread(tile, &ctas);
}

/* The parent's layout without one dimension. */
static bool build_slice(Module *module, const Encoding *encoding, Distributed *to, int depth) {
    int64_t dim = encoding_int(encoding, "dim", -1);
    if (dim < 0 || dim > to->rank || to->rank == DISTRIBUTED_RANK)
        return false;
    Distributed parent = {.rank = (uint8_t)(to->rank + 1)};
    for (unsigned d = 0; d < parent.rank; d++)
        parent.bits[d] = d == dim ? 0 : to->bits[d - (d > dim)];
    if (!build(module, encoding_field(encoding, "parent"), &parent, depth + 1))
        return false;
    for (unsigned h = 0; h < HOLDERS; h++) {
        to->count[h] = parent.count[h];
        for (unsigned i = 0; i < parent.count[h]; i++)
            for (unsigned d = 0; d < to->rank; d++)
                to->bases[h][i][d] = parent.bases[h][i][d + (d >= dim)];
    }
    distributed_drop_copies(to);
    return true;
}

/* Bases as they are written; the tensor may have another shape than they cover. */
static bool build_linear(const Encoding *encoding, Distributed *to) {
    static const char *const keys[] = {"register", "lane", "warp", "block"};
    DistributedTile tile = {.to = to};
    unsigned rank = to->rank, order = 0, bits[DISTRIBUTED_RANK], given;
    for (unsigned h = 0; h < HOLDERS; h++) {
        Numbers numbers;
        if (!encoding_bases(encoding, keys[h], rank, &numbers))
            return false;
        for (uint32_t i = 0; i < numbers.count; i += rank) {
            uint32_t basis[DISTRIBUTED_RANK] = {0};
            for (unsigned d = 0; d < rank; d++) {
                basis[d] = (uint32_t)numbers.items[i + d];
                unsigned needed = bits_for(numbers.items[i + d] + 1);
                tile.size[d] = needed > tile.size[d] ? needed : tile.size[d];
                if (h == HOLD_REGISTER && basis[d] && !(order >> d & 1)) {
                    tile.repeat[__builtin_popcount(order)] = d;
                    order |= 1u << d;
                }
            }
            add_basis(&tile, (Holder)h, basis);
        }
    }
    for (unsigned d = rank; d-- > 0;)
        if (!(order >> d & 1)) {
            tile.repeat[__builtin_popcount(order)] = d;
            order |= 1u << d;
        }
    for (unsigned i = 0; i < rank; i++) {
        unsigned d = tile.repeat[i];
        bits[d] = to->bits[d];
        if (tile.size[d] < bits[d])
            add(&tile, HOLD_REGISTER, d, (int64_t)1 << (bits[d] - tile.size[d]));
    }
    given = to->count[HOLD_REGISTER];
    to->count[HOLD_REGISTER] = 0;
    for (unsigned h = 0; h < HOLDERS; h++)
        for (unsigned i = 0; i < (h == HOLD_REGISTER ? given : to->count[h]); i++) {
            uint32_t *basis = to->bases[h][i], was = 0, is = 0;
            for (unsigned d = 0; d < rank; d++)
                was |= basis[d];
            clip(basis, rank, bits);
            for (unsigned d = 0; d < rank; d++)
                is |= basis[d];
            /* A register that leaves the tensor is not there; one that was a copy stays one. */
            if (h == HOLD_REGISTER && (is || !was))
                memmove(to->bases[h][to->count[h]++], basis, sizeof to->bases[0][0]);
        }
    return !tile.bad;
}

/* ---- Matrix products --------------------------------------------------------------------------- */

/* What 32 lanes of an NVIDIA mma hold: 4 lanes of `width` elements along a row, 8 rows, and again. */
static void add_mma(DistributedTile *tile, unsigned inner, unsigned outer, int64_t rows, int64_t columns,
                    int64_t width) {
    if (rows % 8 || width <= 0 || columns % (width * 4)) {
        tile->bad = true;
        return;
    }
    add(tile, HOLD_REGISTER, inner, width);
    add(tile, HOLD_LANE, inner, 4);
    add(tile, HOLD_LANE, outer, 8);
    add(tile, HOLD_REGISTER, outer, rows / 8);
    add(tile, HOLD_REGISTER, inner, columns / (width * 4));
}

/* Warps in that order; along `shared` (rank: none) all warps hold the same. */
static bool add_warps(const Encoding *encoding, DistributedTile *tile, const unsigned *order, unsigned shared,
                      Holder holder, const char *key) {
    Numbers sizes;
    unsigned rank = tile->to->rank;
    if (!encoding_list_of(encoding, key, rank, &sizes))
        return false;
    for (unsigned i = 0; i < rank; i++)
        if (order[i] == shared)
            add_copies(tile, holder, sizes.items[order[i]]);
        else
            add(tile, holder, order[i], sizes.items[order[i]]);
    return true;
}

static bool build_nvidia(const Encoding *encoding, DistributedTile *tile) {
    unsigned rank = tile->to->rank, order[DISTRIBUTED_RANK];
    int64_t version = encoding_int(encoding, "versionMajor", 0);
    Numbers shape;
    Ctas ctas;
    if (rank < 2 || (version != 2 && version != 3) || !encoding_list(encoding, "instrShape", &shape) ||
        !encoding_ctas(encoding, rank, &ctas))
        return false;
    unsigned first = version == 2 && shape.count >= rank ? rank - 2 : 0; /* after the batch */
    if (shape.count < first + 2)
        return false;
    matrix_order(rank, true, tile->repeat);
    add_mma(tile, rank - 1, rank - 2, shape.items[first], shape.items[first + 1], 2);
    matrix_order(rank, version != 3, order);
    return add_warps(encoding, tile, order, rank, HOLD_WARP, "warpsPerCTA") && spread(tile, &ctas);
}

static void share(Ctas *ctas, unsigned dim) {
    for (unsigned i = 0; i < ctas->count; i++)
        ctas->bases[i][dim] = 0;
}

static bool build_nvidia_operand(const Encoding *mma, DistributedTile *tile, unsigned operand, int64_t width) {
    unsigned rank = tile->to->rank, order[DISTRIBUTED_RANK], k = operand ? rank - 2 : rank - 1;
    int64_t version = encoding_int(mma, "versionMajor", 0);
    Numbers shape;
    Ctas ctas;
    if (rank < 2 || (version != 2 && (version != 3 || operand)) || !encoding_list(mma, "instrShape", &shape) ||
        !encoding_ctas(mma, rank, &ctas) || shape.count <= rank - 2)
        return false;
    int64_t rows = shape.items[rank - 2], depth = width * (rows == 8 ? 4 : 8);
    matrix_order(rank, operand == 0, tile->repeat);
    add_mma(tile, tile->repeat[0], tile->repeat[1], operand ? 8 : rows, depth, width);
    matrix_order(rank, version != 3, order);
    share(&ctas, k);
    return add_warps(mma, tile, order, k, HOLD_WARP, "warpsPerCTA") && spread(tile, &ctas);
}

/* An operand of a product by threads: each holds all of K. */
static bool build_blocked_operand(const Encoding *blocked, DistributedTile *tile, unsigned operand) {
    unsigned rank = tile->to->rank, k = operand ? rank - 2 : rank - 1;
    Numbers sizes;
    Ctas ctas;
    if (rank < 2 || !encoding_order(blocked, "order", rank, tile->repeat) ||
        !encoding_list_of(blocked, "sizePerThread", rank, &sizes) || !encoding_ctas(blocked, rank, &ctas))
        return false;
    for (unsigned i = 0; i < rank; i++) {
        unsigned d = tile->repeat[i];
        add(tile, HOLD_REGISTER, d, d == k ? (int64_t)1 << tile->to->bits[d] : sizes.items[d]);
    }
    share(&ctas, k);
    return add_warps(blocked, tile, tile->repeat, k, HOLD_LANE, "threadsPerWarp") &&
           add_warps(blocked, tile, tile->repeat, k, HOLD_WARP, "warpsPerCTA") && spread(tile, &ctas);
}

enum { AMD_LANES = 64, WMMA_LANES = 32, WMMA_SIDE = 16 };

typedef struct Mfma {
    Numbers shape, warps, tiles;
    Ctas ctas;
} Mfma;

static bool read_mfma(const Encoding *encoding, unsigned rank, Mfma *mfma) {
    if (rank < 2 || rank > 3 || !encoding_list(encoding, "instrShape", &mfma->shape) || mfma->shape.count < 2 ||
        !encoding_list_of(encoding, "warpsPerCTA", rank, &mfma->warps) || !encoding_ctas(encoding, rank, &mfma->ctas))
        return false;
    for (unsigned i = 0; i < 2; i++)
        if (!is_power(mfma->shape.items[i]) || mfma->shape.items[i] > AMD_LANES)
            return false;
    if (!encoding_list_of(encoding, "tilesPerWarp", rank, &mfma->tiles))
        for (unsigned d = 0; d < rank; d++)
            mfma->tiles.items[d] = 1;
    return true;
}

static bool build_mfma(const Encoding *encoding, DistributedTile *tile) {
    unsigned rank = tile->to->rank, m = rank - 2, n = rank - 1;
    Mfma mfma;
    if (!read_mfma(encoding, rank, &mfma))
        return false;
    bool transposed = encoding_true(encoding, "isTransposed");
    unsigned high = transposed ? n : m, wide = transposed ? m : n;
    int64_t rows = mfma.shape.items[0], columns = mfma.shape.items[1], across = transposed ? rows : columns;
    int64_t height = encoding_int(encoding, "elementBitWidth", 32) == 64 ? 1 : 4;
    add(tile, HOLD_REGISTER, high, height);
    add(tile, HOLD_LANE, wide, across);
    add(tile, HOLD_LANE, high, AMD_LANES / across);
    add(tile, HOLD_REGISTER, high, rows * columns / (AMD_LANES * height));
    /* Tiles lie side by side along N over the whole tensor, and only then along M. */
    int64_t warps = mfma.warps.items[n], tiles = mfma.tiles.items[n];
    add(tile, HOLD_REGISTER, n, tiles);
    add(tile, HOLD_WARP, n, warps);
    if (tile->bad || !is_power(warps) || !is_power(tiles))
        return false;
    add(tile, HOLD_REGISTER, n, ((int64_t)1 << tile->to->bits[n]) / (columns * warps * tiles));
    add(tile, HOLD_REGISTER, m, mfma.tiles.items[m]);
    add(tile, HOLD_WARP, m, mfma.warps.items[m]);
    if (rank == 3)
        add(tile, HOLD_WARP, 0, mfma.warps.items[0]);
    matrix_order(rank, true, tile->repeat);
    return spread(tile, &mfma.ctas);
}

static bool build_mfma_operand(const Encoding *encoding, DistributedTile *tile, unsigned operand, int64_t width) {
    unsigned rank = tile->to->rank, k = operand ? rank - 2 : rank - 1, other = operand ? rank - 1 : rank - 2;
    Mfma mfma;
    if (!read_mfma(encoding, rank, &mfma) || !is_power(width))
        return false;
    int64_t side = mfma.shape.items[operand], opposite = mfma.shape.items[1 - operand];
    int64_t deep = AMD_LANES / side * width, depth = (int64_t)1 << tile->to->bits[k];
    add(tile, HOLD_REGISTER, k, width);
    add(tile, HOLD_LANE, other, side);
    add(tile, HOLD_LANE, k, AMD_LANES / side);
    if (side == AMD_LANES && opposite == 4) {
        add(tile, HOLD_REGISTER, k, 16);
        deep *= 16;
    }
    if (depth > deep)
        add(tile, HOLD_REGISTER, k, depth / deep);
    add(tile, HOLD_REGISTER, other, mfma.tiles.items[other]);
    unsigned order[DISTRIBUTED_RANK];
    matrix_order(rank, true, order);
    matrix_order(rank, operand == 0, tile->repeat);
    /* Along K every warp holds the same: its bits leave the tensor, and become copies. */
    return add_warps(encoding, tile, order, rank, HOLD_WARP, "warpsPerCTA") && spread(tile, &mfma.ctas);
}

/* The warps of a wmma: bases in `ctaLayout`, or a size in each dimension; `shared` is a dimension along which they hold
 * the same. */
static bool add_wmma_warps(const Encoding *encoding, DistributedTile *tile, unsigned shared) {
    unsigned rank = tile->to->rank, order[DISTRIBUTED_RANK], bits[DISTRIBUTED_RANK] = {0};
    static const char *const keys[] = {"register", "lane", "warp"};
    matrix_order(rank, true, order);
    if (encoding_field(encoding, "warpsPerCTA").size)
        return add_warps(encoding, tile, order, shared, HOLD_WARP, "warpsPerCTA");
    Encoding inner = {.body = encoding_field(encoding, "ctaLayout")};
    for (unsigned h = HOLD_REGISTER; h < HOLD_BLOCK; h++) {
        Numbers numbers;
        if (!encoding_bases(&inner, keys[h], rank, &numbers))
            return false;
        for (uint32_t i = 0; i < numbers.count; i += rank) {
            uint32_t basis[DISTRIBUTED_RANK] = {0}, any = 0;
            for (unsigned d = 0; d < rank; d++) {
                uint32_t at = d == shared ? 0 : (uint32_t)numbers.items[i + d];
                unsigned needed = bits_for((int64_t)at + 1);
                if (needed + tile->size[d] > DISTRIBUTED_BITS)
                    return false;
                bits[d] = needed > bits[d] ? needed : bits[d];
                any |= basis[d] = at << tile->size[d];
            }
            if (any || h != HOLD_REGISTER || shared == rank)
                add_basis(tile, (Holder)h, basis);
        }
    }
    for (unsigned d = 0; d < rank; d++)
        tile->size[d] += bits[d];
    return true;
}

static bool transposed_wmma(const Encoding *encoding) {
    return encoding_true(encoding, "isTranspose") || encoding_true(encoding, "isTransposed");
}

static bool build_wmma(const Encoding *encoding, DistributedTile *tile) {
    unsigned rank = tile->to->rank, order[DISTRIBUTED_RANK];
    int64_t version = encoding_int(encoding, "version", 0);
    Numbers shape;
    Ctas ctas;
    if (rank < 2 || rank > 3 || version < 1 || version > 3 || !encoding_ctas(encoding, rank, &ctas))
        return false;
    matrix_order(rank, !transposed_wmma(encoding), order);
    unsigned wide = order[0], high = order[1];
    if (version == 1) { /* a thread has every second row */
        add(tile, HOLD_LANE, wide, WMMA_SIDE);
        add(tile, HOLD_LANE, high, 2);
        add(tile, HOLD_REGISTER, high, 8);
    } else {
        add(tile, HOLD_LANE, wide, WMMA_SIDE);
        add(tile, HOLD_REGISTER, high, 8);
        add(tile, HOLD_LANE, high, 2);
        bool tall = encoding_list(encoding, "instrShape", &shape) && shape.count >= 2 && shape.items[0] == 32 &&
                    shape.items[1] == WMMA_SIDE;
        if (tall)
            add(tile, HOLD_REGISTER, high, 2);
    }
    matrix_order(rank, true, tile->repeat);
    return add_wmma_warps(encoding, tile, rank) && spread(tile, &ctas);
}

static bool build_wmma_operand(const Encoding *encoding, DistributedTile *tile, unsigned operand, int64_t width) {
    unsigned rank = tile->to->rank, k = operand ? rank - 2 : rank - 1, other = operand ? rank - 1 : rank - 2;
    int64_t version = encoding_int(encoding, "version", 0), deep = WMMA_LANES / WMMA_SIDE;
    Numbers shape = {.items = {WMMA_SIDE, WMMA_SIDE, WMMA_SIDE}, .count = 3};
    Ctas ctas;
    if (rank < 2 || rank > 3 || version < 1 || version > 3 || !is_power(width) || !encoding_ctas(encoding, rank, &ctas))
        return false;
    if (encoding_field(encoding, "instrShape").size &&
        (!encoding_list(encoding, "instrShape", &shape) || shape.count != 3))
        return false;
    bool flipped = transposed_wmma(encoding) && shape.items[0] != shape.items[1];
    int64_t side = shape.items[flipped ? 1 - operand : operand];
    add(tile, HOLD_REGISTER, k, width);
    add(tile, HOLD_LANE, other, WMMA_SIDE);
    if (version == 1)
        add_copies(tile, HOLD_LANE, deep);
    else
        add(tile, HOLD_LANE, k, deep);
    add(tile, HOLD_REGISTER, k, shape.items[2] / (deep * width));
    if (side > WMMA_SIDE)
        add(tile, HOLD_REGISTER, other, side / WMMA_SIDE);
    share(&ctas, k);
    matrix_order(rank, operand == 0, tile->repeat);
    return add_wmma_warps(encoding, tile, k) && spread(tile, &ctas);
}

static bool build_operand(Module *module, const Encoding *encoding, DistributedTile *tile) {
    Encoding parent = encoding_read(module, encoding_field(encoding, "parent"));
    int64_t operand = encoding_int(encoding, "opIdx", -1), width = encoding_int(encoding, "kWidth", 0);
    if (!parent.name.size || operand < 0 || operand > 1)
        return false;
    if (encoding_is(&parent, "blocked"))
        return build_blocked_operand(&parent, tile, (unsigned)operand);
    if (encoding_is(&parent, "nvidia_mma"))
        return build_nvidia_operand(&parent, tile, (unsigned)operand, width);
    if (encoding_is(&parent, "amd_mfma"))
        return build_mfma_operand(&parent, tile, (unsigned)operand, width);
    return encoding_is(&parent, "amd_wmma") && build_wmma_operand(&parent, tile, (unsigned)operand, width);
}

/* ---- Which encoding ---------------------------------------------------------------------------- */

/* `to` has its rank and bits. */
static bool build(Module *module, Str text, Distributed *to, int depth) {
    Encoding encoding = encoding_read(module, text);
    DistributedTile tile = {.to = to};
    if (!encoding.name.size || depth > DEEPEST)
        return false;
    if (encoding_is(&encoding, "user_layout")) /* around the encoding that the user asked for */
        return build(module, str_trimmed(encoding.body), to, depth + 1);
    if (encoding_is(&encoding, "blocked"))
        return build_blocked(&encoding, &tile);
    if (encoding_is(&encoding, "slice"))
        return build_slice(module, &encoding, to, depth);
    if (encoding_is(&encoding, "linear") || encoding_is(&encoding, "generic_linear"))
        return build_linear(&encoding, to);
    if (encoding_is(&encoding, "nvidia_mma"))
        return build_nvidia(&encoding, &tile);
    if (encoding_is(&encoding, "dot_op"))
        return build_operand(module, &encoding, &tile);
    if (encoding_is(&encoding, "amd_mfma"))
        return build_mfma(&encoding, &tile);
    return encoding_is(&encoding, "amd_wmma") && build_wmma(&encoding, &tile);
}

static void describe(Module *module, const Type *type, Distributed *to) {
    unsigned total = 0;
    if (type->dim_count > DISTRIBUTED_RANK || type->unranked || !type->encoding || type->dim_count == 0)
        return;
    to->rank = (uint8_t)type->dim_count;
    for (unsigned d = 0; d < to->rank; d++) {
        if (!is_power(type->dims[d]) || type->dims[d] >> DISTRIBUTED_BITS)
            return;
        to->bits[d] = (uint8_t)bits_for(type->dims[d]);
        total += to->bits[d];
    }
    to->known = total <= DISTRIBUTED_BITS && build(module, type->encoding->text, to, 0);
}

const Distributed *distributed_of(Module *module, const Type *tensor) {
    const Type *type = tensor ? type_canonical(module, tensor) : NULL;
    if (!type || type->kind != TYPE_TENSOR)
        return NULL;
    bool fresh;
    Distributed *layout = module_memo(module, "threads", type, sizeof *layout, &fresh);
    if (fresh)
        describe(module, type, layout);
    return layout;
}

/* ---- Asking ------------------------------------------------------------------------------------ */

int64_t distributed_along(const Distributed *layout, Holder holder, unsigned dim) {
    int64_t along = 1;
    for (unsigned i = 0; i < layout->count[holder]; i++)
        if (layout->bases[holder][i][dim])
            along *= 2;
    return along;
}

bool distributed_is_copy(const Distributed *layout, Holder holder, unsigned index) {
    for (unsigned d = 0; d < layout->rank; d++)
        if (layout->bases[holder][index][d])
            return false;
    return true;
}

void distributed_drop_copies(Distributed *layout) {
    unsigned kept = 0;
    for (unsigned i = 0; i < layout->count[HOLD_REGISTER]; i++)
        if (!distributed_is_copy(layout, HOLD_REGISTER, i))
            memmove(layout->bases[HOLD_REGISTER][kept++], layout->bases[HOLD_REGISTER][i], sizeof layout->bases[0][0]);
    layout->count[HOLD_REGISTER] = (uint8_t)kept;
}

void distributed_shrink(Distributed *layout) {
    for (unsigned d = 0; d < layout->rank; d++) {
        unsigned bits = 0;
        for (unsigned h = 0; h < HOLDERS; h++)
            for (unsigned i = 0; i < layout->count[h]; i++) {
                unsigned needed = bits_for((int64_t)layout->bases[h][i][d] + 1);
                bits = needed > bits ? needed : bits;
            }
        layout->bits[d] = (uint8_t)bits;
    }
}
