/* Parts from encodings. */
#include "model/layout/share.h"

#include "ir/memo.h"
#include "model/layout/distributed.h"
#include "model/layout/layout.h"

enum { MOST_VECTOR_BITS = 62 };

/* ---- Vectors -------------------------------------------------------------------------------------- */

static uint64_t reduced(const uint64_t *rows, uint64_t vector) {
    for (uint64_t left = vector; left;) {
        unsigned highest = 63u - (unsigned)__builtin_clzll(left);
        vector ^= rows[highest];
        left = vector & ((UINT64_C(1) << highest) - 1);
    }
    return vector;
}

/* False if the rows make it already. */
static bool add_row(uint64_t *rows, uint64_t vector) {
    vector = reduced(rows, vector);
    if (!vector)
        return false;
    rows[63 - __builtin_clzll(vector)] = vector;
    return true;
}

/* No row has the highest bit of another: from the lowest on, as these are reduced when a higher one needs them. */
static void reduce_rows(uint64_t *rows) {
    for (unsigned k = 0; k < 64; k++)
        if (rows[k])
            rows[k] = UINT64_C(1) << k | reduced(rows, rows[k] ^ UINT64_C(1) << k);
}

static uint64_t vector_of(const Share *share, const int64_t *coordinates) {
    uint64_t vector = 0;
    for (unsigned d = 0; d < share->rank; d++)
        vector |= (uint64_t)coordinates[d] << share->shift[d];
    return vector;
}

static uint64_t moved(const Share *share, uint32_t cta) {
    uint64_t vector = 0;
    for (unsigned i = 0; i < share->ctas; i++)
        vector ^= cta >> i & 1 ? share->moves[i] : 0;
    return vector;
}

/* ---- Shares --------------------------------------------------------------------------------------- */

static bool set_shape(Share *share, const int64_t *dims, unsigned rank) {
    unsigned bits = 0;
    if (!rank || rank > CTAS_RANK)
        return false;
    share->rank = (uint8_t)rank;
    for (unsigned d = rank; d-- > 0;) {
        if (!is_power(dims[d]))
            return false;
        share->size[d] = dims[d];
        share->shift[d] = (uint8_t)bits;
        bits += bits_for(dims[d]);
        if (bits > MOST_VECTOR_BITS)
            return false;
    }
    return true;
}

/* A basis that leaves the tensor is a copy. */
static uint64_t basis_vector(const Share *share, const int64_t *basis) {
    int64_t inside[CTAS_RANK];
    for (unsigned d = 0; d < share->rank; d++)
        inside[d] = basis[d] >= share->size[d] ? 0 : basis[d];
    return vector_of(share, inside);
}

static bool add_move(Share *share, uint64_t vector) {
    if (share->ctas == CTAS_BITS)
        return false;
    share->moves[share->ctas++] = vector;
    return true;
}

/* Whether what CTA 0 has is the lowest so many of each dimension. */
static bool is_box(const Share *share) {
    for (unsigned d = 0; d < share->rank; d++) {
        bool gap = false;
        for (unsigned k = 0; k < bits_for(share->size[d]); k++) {
            unsigned bit = share->shift[d] + k;
            bool has = share->rows[bit] != 0;
            if ((has && gap) || (has && share->rows[bit] != UINT64_C(1) << bit))
                return false;
            gap |= !has;
        }
    }
    return true;
}

/* Rows and moves are there; together they must reach every element. */
static void finish(Share *share) {
    uint64_t rows[64];
    unsigned wanted = 0, found = 0;
    reduce_rows(share->rows);
    memcpy(rows, share->rows, sizeof rows);
    for (unsigned i = 0; i < share->ctas; i++) {
        share->moves[i] = reduced(share->rows, share->moves[i]);
        if (!add_row(rows, share->moves[i]))
            share->copies |= 1u << i;
    }
    for (unsigned d = 0; d < share->rank; d++)
        wanted += bits_for(share->size[d]);
    for (unsigned k = 0; k < 64; k++)
        found += rows[k] != 0;
    share->boxes = is_box(share);
    share->known = found == wanted;
}

static void from_registers(const Distributed *layout, const int64_t *dims, Share *share) {
    if (!set_shape(share, dims, layout->rank))
        return;
    for (unsigned h = 0; h < HOLDERS; h++)
        for (unsigned i = 0; i < layout->count[h]; i++) {
            int64_t basis[CTAS_RANK];
            for (unsigned d = 0; d < layout->rank; d++)
                basis[d] = layout->bases[h][i][d];
            uint64_t vector = basis_vector(share, basis);
            if (h != HOLD_BLOCK)
                (void)add_row(share->rows, vector);
            else if (!add_move(share, vector))
                return;
        }
    finish(share);
}

/* The bases of an offset and of a block, as they are written. */
static void from_bases(const Encoding *encoding, Share *share) {
    Numbers offsets, blocks;
    if (!encoding_bases(encoding, "offset", share->rank, &offsets) ||
        !encoding_bases(encoding, "block", share->rank, &blocks))
        return;
    for (uint32_t i = 0; i < offsets.count; i += share->rank)
        (void)add_row(share->rows, basis_vector(share, &offsets.items[i]));
    for (uint32_t i = 0; i < blocks.count; i += share->rank)
        if (!add_move(share, basis_vector(share, &blocks.items[i])))
            return;
    finish(share);
}

/* Each dimension is cut into as many pieces as the bases of the CTAs reach. */
static void from_ctas(const Encoding *encoding, Share *share) {
    Ctas ctas;
    unsigned inner[CTAS_RANK];
    if (!encoding_ctas(encoding, share->rank, &ctas))
        return;
    for (unsigned d = 0; d < share->rank; d++) {
        unsigned bits = bits_for(share->size[d]), cut = 0;
        for (unsigned i = 0; i < ctas.count; i++) {
            unsigned needed = bits_for((int64_t)ctas.bases[i][d] + 1);
            cut = needed > cut ? needed : cut;
        }
        inner[d] = bits - (cut < bits ? cut : bits);
        for (unsigned k = 0; k < inner[d]; k++)
            (void)add_row(share->rows, UINT64_C(1) << (share->shift[d] + k));
    }
    for (unsigned i = 0; i < ctas.count; i++) {
        int64_t basis[CTAS_RANK];
        for (unsigned d = 0; d < share->rank; d++)
            basis[d] = (int64_t)ctas.bases[i][d] << inner[d];
        (void)add_move(share, basis_vector(share, basis));
    }
    finish(share);
}

/* How many dimensions the encoding of shared memory is about: 0 if it does not say, and so is of one CTA. */
static unsigned rank_of(const Encoding *encoding) {
    Numbers numbers;
    if (encoding_list(encoding, "CTAsPerCGA", &numbers))
        return numbers.count;
    static const char *const keys[] = {"CGALayout", "block", "offset"};
    for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++)
        if (encoding_list(encoding, keys[i], &numbers) && numbers.inner)
            return numbers.inner;
    return 0;
}

static void from_memory(Module *module, Str text, const int64_t *dims, unsigned rank, Share *share) {
    Encoding encoding = encoding_read(module, text);
    if (encoding.name.size && encoding_is(&encoding, "user_layout")) /* around the encoding that the user asked for */
        encoding = encoding_read(module, str_trimmed(encoding.body));
    unsigned own = encoding.name.size ? rank_of(&encoding) : 0;
    if (!encoding.name.size || own > rank || !set_shape(share, dims + rank - (own ? own : rank), own ? own : rank))
        return;
    if (encoding_field(&encoding, "offset").size)
        from_bases(&encoding, share);
    else
        from_ctas(&encoding, share);
}

static void describe(Module *module, const Type *type, Share *share) {
    const Type *inner = type->kind == TYPE_DIALECT && type->element ? type_canonical(module, type->element) : NULL;
    if (inner && inner->kind == TYPE_TENSOR)
        type = inner;
    const Distributed *layout = distributed_of(module, type);
    if (layout && layout->known)
        from_registers(layout, type->dims, share);
    else if (type->kind == TYPE_TENSOR && type->encoding)
        from_memory(module, type->encoding->text, type->dims, type->dim_count, share);
    else if (type->kind == TYPE_DIALECT && type->param_count > 1)
        from_memory(module, type->params[1], type->dims, type->dim_count, share);
}

const Share *share_of(Module *module, const Type *type) {
    type = type ? type_canonical(module, type) : NULL;
    if (!type || (type->kind != TYPE_TENSOR && !(type->kind == TYPE_DIALECT && type->element)))
        return NULL;
    bool fresh;
    Share *share = module_memo(module, "share", type, sizeof *share, &fresh);
    if (fresh)
        describe(module, type, share);
    return share;
}

const Share *share_of_allocation(Module *module, const Type *memdesc) {
    int64_t sizes[LAYOUT_RANK];
    const Type *type = memdesc ? type_canonical(module, memdesc) : NULL;
    bool shaped = type && type->kind == TYPE_DIALECT && type->param_count > 1 && type->dim_count <= LAYOUT_RANK;
    Encoding encoding = shaped ? encoding_read(module, type->params[1]) : (Encoding){0};
    unsigned rank = shaped && encoding.name.size ? rank_of(&encoding) : 0;
    if (!rank || rank > type->dim_count || !memdesc_allocation(type, rank, sizes))
        return share_of(module, type);
    bool fresh;
    Share *share = module_memo(module, "whole", type, sizeof *share, &fresh);
    if (fresh)
        from_memory(module, type->params[1], sizes, rank, share);
    return share;
}

/* ---- Parts ---------------------------------------------------------------------------------------- */

void share_box(const Share *share, uint32_t cta, int64_t *begin, int64_t *end) {
    uint64_t vector = moved(share, cta);
    for (unsigned d = 0; d < share->rank; d++) {
        unsigned bits = bits_for(share->size[d]), inner = 0;
        while (inner < bits && share->rows[share->shift[d] + inner])
            inner++;
        begin[d] = (int64_t)(vector >> share->shift[d] & ((UINT64_C(1) << bits) - 1));
        end[d] = begin[d] + ((int64_t)1 << inner);
    }
}

bool share_has(const Share *share, uint32_t cta, const int64_t *coordinates) {
    return reduced(share->rows, vector_of(share, coordinates)) == moved(share, cta);
}

uint32_t share_holder(const Share *share, const int64_t *coordinates) {
    uint32_t cta = 0;
    while (cta < UINT32_C(1) << share->ctas && (cta & share->copies || !share_has(share, cta, coordinates)))
        cta++;
    return cta;
}
