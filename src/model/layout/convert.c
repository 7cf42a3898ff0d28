/* Layouts as matrices over GF(2): what a conversion moves, and how large the swizzled buffer between is.
 *
 * The buffer's size follows Triton's choice of bases: a vector that both sides move at once; segments, which are the
 * rows of the banks; and among the segments those that are registers on both sides, which are repetitions and take no
 * room of their own. Ties are broken as there, since which bases end up as segments decides the size. */
#include "model/layout/convert.h"

#include "model/layout/encoding.h"

/* ---- Flat layouts ------------------------------------------------------------------------------ */

typedef struct Flat {
    unsigned bits; /* of an element's number, in which the first dimension is the fastest */
    uint8_t count[HOLDERS];
    uint32_t bases[HOLDERS][DISTRIBUTED_BASES];
} Flat;

/* Bits of registers, lanes, warps and CTAs side by side in 64. */
static const uint8_t column[HOLDERS] = {0, 24, 32, 44};

static Flat flatten(const Distributed *layout) {
    Flat flat = {0};
    for (unsigned h = 0; h < HOLDERS; h++)
        flat.count[h] = layout->count[h];
    for (unsigned d = 0; d < layout->rank; d++) {
        for (unsigned h = 0; h < HOLDERS; h++)
            for (unsigned i = 0; i < layout->count[h]; i++)
                flat.bases[h][i] |= layout->bases[h][i][d] << flat.bits;
        flat.bits += layout->bits[d];
    }
    return flat;
}

static Flat without_copies(const Distributed *layout) {
    Distributed less = *layout;
    distributed_drop_copies(&less);
    return flatten(&less);
}

/* Vectors in echelon form, each with the columns that it is the sum of. */
typedef struct ConvertSpan {
    uint32_t vectors[32];
    uint64_t made_of[32];
} ConvertSpan;

/* What is left of `vector` after the span's, and in *made_of the columns that were taken away. */
static uint32_t reduce(const ConvertSpan *span, uint32_t vector, uint64_t *made_of) {
    *made_of = 0;
    for (unsigned k = 32; k-- > 0;)
        if (vector >> k & 1 && span->vectors[k]) {
            vector ^= span->vectors[k];
            *made_of ^= span->made_of[k];
        }
    return vector;
}

/* False if it is in the span already. */
static bool span_add(ConvertSpan *span, uint32_t vector, uint64_t name) {
    uint64_t made_of;
    uint32_t left = reduce(span, vector, &made_of);
    if (!left)
        return false;
    unsigned top = 31 - (unsigned)__builtin_clz(left);
    span->vectors[top] = left;
    span->made_of[top] = made_of ^ name;
    return true;
}

static bool same_bases(const Flat *a, const Flat *b, Holder holder) {
    return a->count[holder] == b->count[holder] &&
           memcmp(a->bases[holder], b->bases[holder], sizeof a->bases[0][0] * a->count[holder]) == 0;
}

/* For each bit of a holder's number under one layout: the bits under `other` that together hold the same element. */
typedef struct ConvertMapping {
    uint64_t image[HOLDERS][DISTRIBUTED_BASES];
} ConvertMapping;

/* Holders whose bases are the same in both stay where they are, copies included; for the others, the registers are
 * preferred to lanes, those to warps, those to CTAs. False if some element has no holder left. */
static bool map_onto(const Flat *layout, const Flat *other, ConvertMapping *mapping) {
    ConvertSpan span = {0};
    for (unsigned h = 0; h < HOLDERS; h++)
        if (!same_bases(layout, other, (Holder)h))
            for (unsigned i = 0; i < other->count[h]; i++)
                span_add(&span, other->bases[h][i], UINT64_C(1) << (column[h] + i));
    for (unsigned h = 0; h < HOLDERS; h++) {
        bool same = same_bases(layout, other, (Holder)h);
        for (unsigned i = 0; i < layout->count[h]; i++) {
            mapping->image[h][i] = UINT64_C(1) << (column[h] + i);
            if (!same && reduce(&span, layout->bases[h][i], &mapping->image[h][i]))
                return false;
        }
    }
    return true;
}

static uint64_t columns_of(const Flat *layout, Holder holder) {
    return ((UINT64_C(1) << layout->count[holder]) - 1) << column[holder];
}

/* Each bit of the holder stays itself, and no bit of another becomes one of its. */
static bool stays(const ConvertMapping *mapping, const Flat *layout, const Flat *other, Holder holder) {
    if (layout->count[holder] != other->count[holder])
        return false;
    uint64_t own = columns_of(other, holder);
    for (unsigned h = 0; h < HOLDERS; h++)
        for (unsigned i = 0; i < layout->count[h]; i++) {
            uint64_t image = mapping->image[h][i];
            if (h == holder ? image != UINT64_C(1) << (column[h] + i) : (image & own) != 0)
                return false;
        }
    return true;
}

/* ---- What a conversion moves ------------------------------------------------------------------- */

Reach convert_reach(const Distributed *from, const Distributed *to) {
    static const Reach reach[HOLDERS] = {REACH_REGISTERS, REACH_LANES, REACH_WARPS, REACH_CTAS};
    ConvertMapping mapping;
    if (!from || !to || !from->known || !to->known)
        return REACH_UNKNOWN;
    Flat source = flatten(from), target = flatten(to);
    if (source.bits != target.bits || !map_onto(&target, &source, &mapping))
        return REACH_UNKNOWN;
    for (unsigned h = HOLDERS; h-- > 0;)
        if (!stays(&mapping, &target, &source, (Holder)h))
            return reach[h];
    return REACH_NOWHERE;
}

/* Registers and lanes only, as many in both layouts. */
static void pad(Flat *a, Flat *b) {
    for (unsigned h = HOLD_REGISTER; h <= HOLD_LANE; h++) {
        uint8_t count = a->count[h] > b->count[h] ? a->count[h] : b->count[h];
        a->count[h] = b->count[h] = count;
    }
    for (unsigned h = HOLD_WARP; h < HOLDERS; h++)
        a->count[h] = b->count[h] = 0;
}

bool convert_by_shuffles(const Distributed *from, const Distributed *to) {
    Flat source = without_copies(from), target = without_copies(to);
    ConvertMapping mapping;
    pad(&source, &target);
    if (!map_onto(&source, &target, &mapping))
        return false;
    /* Copies on one side only are paired in their order, so that the mapping is a permutation. */
    struct {
        unsigned holder, index;
    } wanting[2 * DISTRIBUTED_BASES];
    unsigned count = 0, used = 0;
    for (unsigned h = HOLD_REGISTER; h <= HOLD_LANE; h++)
        for (unsigned i = 0; i < source.count[h]; i++) {
            if (source.bases[h][i])
                continue;
            if (!target.bases[h][i])
                mapping.image[h][i] = UINT64_C(1) << (column[h] + i);
            else if (count < 2 * DISTRIBUTED_BASES) {
                wanting[count].holder = h;
                wanting[count++].index = i;
            }
        }
    for (unsigned h = HOLD_REGISTER; h <= HOLD_LANE; h++)
        for (unsigned i = 0; i < source.count[h]; i++)
            if (source.bases[h][i] && !target.bases[h][i] && used < count) {
                mapping.image[wanting[used].holder][wanting[used].index] = UINT64_C(1) << (column[h] + i);
                used++;
            }
    unsigned crossing = 0;
    for (unsigned i = 0; i < source.count[HOLD_REGISTER]; i++)
        crossing += (mapping.image[HOLD_REGISTER][i] & columns_of(&target, HOLD_LANE)) != 0;
    return crossing < 2;
}

/* Whether some number of the holder has an element that lower holders, or lower bits of it, have already. */
static bool has_copies(const Flat *layout, Holder holder) {
    ConvertSpan span = {0};
    bool copies = false;
    for (unsigned h = 0; h <= holder; h++)
        for (unsigned i = 0; i < layout->count[h]; i++)
            if (!span_add(&span, layout->bases[h][i], 0) && h == holder)
                copies = true;
    return copies;
}

bool convert_within_ctas(const Distributed *from, const Distributed *to) {
    Flat source = flatten(from), target = flatten(to);
    ConvertMapping mapping;
    if (source.bits != target.bits || source.count[HOLD_BLOCK] != target.count[HOLD_BLOCK] ||
        !map_onto(&target, &source, &mapping))
        return false;
    uint64_t cut = columns_of(&source, HOLD_BLOCK); /* bits of a CTA's number that matter: the others hold copies */
    for (unsigned i = 0; i < source.count[HOLD_BLOCK]; i++)
        if (!source.bases[HOLD_BLOCK][i])
            cut &= ~(UINT64_C(1) << (column[HOLD_BLOCK] + i));
    for (unsigned h = 0; h < HOLDERS; h++)
        for (unsigned i = 0; i < target.count[h]; i++) {
            uint64_t own = h == HOLD_BLOCK ? UINT64_C(1) << (column[h] + i) : 0;
            if ((mapping.image[h][i] & cut) != (own & cut))
                return false;
        }
    return true;
}

bool convert_within_warps(const Distributed *from, const Distributed *to) {
    Flat source = flatten(from), target = flatten(to);
    ConvertMapping mapping;
    return convert_within_ctas(from, to) && map_onto(&target, &source, &mapping) &&
           stays(&mapping, &target, &source, HOLD_WARP) && !has_copies(&source, HOLD_WARP) &&
           !has_copies(&target, HOLD_WARP);
}

/* ---- Sets of bases ----------------------------------------------------------------------------- */

typedef struct Bases {
    uint32_t items[3 * DISTRIBUTED_BASES];
    unsigned count;
} Bases;

static void push(Bases *bases, uint32_t item) {
    if (bases->count < sizeof bases->items / sizeof *bases->items)
        bases->items[bases->count++] = item;
}

static void append(Bases *bases, const Bases *more) {
    for (unsigned i = 0; i < more->count; i++)
        push(bases, more->items[i]);
}

static bool contains(const Bases *bases, uint32_t item) {
    for (unsigned i = 0; i < bases->count; i++)
        if (bases->items[i] == item)
            return true;
    return false;
}

static void cut(Bases *bases, unsigned count) {
    if (bases->count > count)
        bases->count = count;
}

static Bases bases_of(const Flat *layout, Holder holder) {
    Bases bases = {0};
    for (unsigned i = 0; i < layout->count[holder]; i++)
        push(&bases, layout->bases[holder][i]);
    return bases;
}

static Bases without(const Bases *bases, const Bases *unwanted) {
    Bases left = {0};
    for (unsigned i = 0; i < bases->count; i++)
        if (!contains(unwanted, bases->items[i]))
            push(&left, bases->items[i]);
    return left;
}

static Bases not_zero(const Bases *bases) {
    return without(bases, &(Bases){.items = {0}, .count = 1});
}

/* Each once, and none that is zero. */
static Bases distinct(const Bases *bases) {
    Bases left = {0};
    for (unsigned i = 0; i < bases->count; i++)
        if (bases->items[i] && !contains(&left, bases->items[i]))
            push(&left, bases->items[i]);
    return left;
}

/* Reduced row echelon form: the lowest bit of a row that is not zero is in no other row. */
static void echelon(Bases *rows) {
    unsigned done = 0;
    for (unsigned bit = 0; bit < 32; bit++) {
        unsigned pivot = done;
        while (pivot < rows->count && !(rows->items[pivot] >> bit & 1))
            pivot++;
        if (pivot == rows->count)
            continue;
        uint32_t row = rows->items[pivot];
        rows->items[pivot] = rows->items[done];
        rows->items[done] = row;
        for (unsigned i = 0; i < rows->count; i++)
            if (i != done && rows->items[i] >> bit & 1)
                rows->items[i] ^= row;
        done++;
    }
}

/* What is orthogonal to all of them. */
static Bases orthogonal(Bases rows, unsigned bits) {
    uint32_t pivots = 0;
    Bases found = {0};
    echelon(&rows);
    for (unsigned i = 0; i < rows.count; i++)
        pivots |= rows.items[i] & -rows.items[i];
    for (unsigned bit = 0; bit < bits; bit++) {
        if (pivots >> bit & 1)
            continue;
        uint32_t vector = UINT32_C(1) << bit;
        for (unsigned i = 0; i < rows.count; i++)
            if (rows.items[i] >> bit & 1)
                vector ^= rows.items[i] & -rows.items[i];
        push(&found, vector);
    }
    return found;
}

/* Bases of what both span; in the order of the first where all are single bits. */
static Bases common(const Bases *a, const Bases *b, unsigned bits) {
    Bases found = {0};
    bool single = true;
    for (unsigned i = 0; i < a->count; i++)
        single &= is_power(a->items[i]);
    for (unsigned i = 0; i < b->count; i++)
        single &= is_power(b->items[i]);
    if (!single) {
        found = orthogonal(*a, bits);
        Bases second = orthogonal(*b, bits);
        append(&found, &second);
        return orthogonal(found, bits);
    }
    for (unsigned i = 0; i < a->count; i++)
        if (contains(b, a->items[i]))
            push(&found, a->items[i]);
    return found;
}

static void sort(Bases *bases) {
    for (unsigned i = 1; i < bases->count; i++) {
        uint32_t item = bases->items[i];
        unsigned k = i;
        for (; k > 0 && bases->items[k - 1] > item; k--)
            bases->items[k] = bases->items[k - 1];
        bases->items[k] = item;
    }
}

/* ---- The swizzled buffer ----------------------------------------------------------------------- */

typedef struct Swizzle {
    const Flat *from, *to;
    unsigned element_bits, banks;
    Bases blocks; /* that choose the CTA */
} Swizzle;

typedef struct ConvertBuffer {
    unsigned repetitions; /* bits */
    Bases segments;       /* that are none */
} ConvertBuffer;

/* Bases that change the row of the banks: such as neither side moves in one phase; else, of those that one side moves,
 * each added to one of the other, so that both find different banks. */
static Bases segments_of(const Swizzle *swizzle, const Bases *stored, const Bases *loaded, unsigned count) {
    Bases source = *stored, target = *loaded, segments = {0};
    append(&source, &swizzle->blocks);
    append(&target, &swizzle->blocks);
    source = distinct(&source);
    target = distinct(&target);
    for (unsigned bit = 0; bit < swizzle->from->bits; bit++) {
        uint32_t basis = UINT32_C(1) << bit;
        if (!contains(&source, basis) && !contains(&target, basis))
            push(&segments, basis);
    }
    if (segments.count >= count) {
        cut(&segments, count);
        return segments;
    }
    Bases few = without(&source, &target), many = without(&target, &source);
    sort(&few);
    sort(&many);
    if (few.count > many.count) {
        Bases other = few;
        few = many;
        many = other;
    }
    int missing = (int)count - (int)few.count - (int)segments.count;
    unsigned conflicts = missing > 0 ? (unsigned)missing : 0;
    conflicts = conflicts < few.count ? conflicts : few.count;
    for (unsigned i = conflicts; i < few.count; i++)
        push(&segments, few.items[i] ^ many.items[i]);
    for (unsigned i = 0; i < conflicts; i++)
        push(&segments, few.items[i]);
    for (unsigned i = 0; i < conflicts; i++)
        push(&segments, many.items[i]);
    cut(&segments, count);
    return segments;
}

/* False if the bases leave no room for each other. */
static bool lay_out(const Swizzle *swizzle, const Bases *vector, const Bases *store_tile, const Bases *load_tile,
                    unsigned kept, ConvertBuffer *buffer) {
    Bases stored = *vector, loaded = *vector;
    append(&stored, store_tile);
    append(&loaded, load_tile);
    unsigned row = swizzle->banks * 32, vector_bits = swizzle->element_bits << vector->count;
    int left = (int)swizzle->from->bits - (int)vector->count - (int)swizzle->blocks.count;
    if (left < 0 || vector_bits > row)
        return false;
    unsigned bank = bits_for(row / vector_bits);
    bank = bank < (unsigned)left ? bank : (unsigned)left;
    Bases segments = segments_of(swizzle, &stored, &loaded, (unsigned)left - bank);
    Bases from = bases_of(swizzle->from, HOLD_REGISTER), to = bases_of(swizzle->to, HOLD_REGISTER);
    *buffer = (ConvertBuffer){0};
    for (unsigned i = 0; i < segments.count; i++) {
        bool repeats = contains(&from, segments.items[i]) && contains(&to, segments.items[i]);
        if (repeats && !kept) {
            buffer->repetitions++;
            continue;
        }
        kept -= repeats;
        push(&buffer->segments, segments.items[i]);
    }
    return true;
}

/* ---- Loads and stores -------------------------------------------------------------------------- */

/* The widest vector, at most 128 bits, that both sides have in registers. Below 32 bits it is filled up to a bank with
 * what one side has in registers and the other in warps, then with warps. */
static Bases vector_of(const Swizzle *swizzle) {
    unsigned bits = swizzle->from->bits, element = swizzle->element_bits;
    Bases stored = bases_of(swizzle->from, HOLD_REGISTER), loaded = bases_of(swizzle->to, HOLD_REGISTER);
    Bases vector = common(&stored, &loaded, bits), blocks = bases_of(swizzle->from, HOLD_BLOCK);
    cut(&vector, bits_for(128 / element));
    if (element << vector.count >= 32)
        return vector;
    unsigned bank = bits_for(32 / element);
    Bases from = bases_of(swizzle->from, HOLD_WARP), to = bases_of(swizzle->to, HOLD_WARP);
    from = not_zero(&from);
    to = not_zero(&to);
    Bases own = without(&stored, &vector), others = without(&loaded, &vector);
    own = common(&own, &to, bits);
    others = common(&others, &from, bits);
    bool source = own.count > others.count;
    if (own.count == others.count && own.count) {
        Bases a = own, b = others;
        sort(&a);
        sort(&b);
        source = a.items[0] < b.items[0];
    }
    append(&vector, source ? &own : &others);
    if (vector.count < bank) {
        Bases both = common(&from, &to, bits);
        append(&vector, &both);
    }
    for (unsigned i = 0; vector.count < bank && (i < from.count || i < to.count); i++) {
        if (i < from.count && !contains(&vector, from.items[i]))
            push(&vector, from.items[i]);
        if (vector.count < bank && i < to.count && !contains(&vector, to.items[i]) && !contains(&blocks, to.items[i]))
            push(&vector, to.items[i]);
    }
    cut(&vector, bank);
    return vector;
}

/* The lanes that move in one phase. */
static Bases phase_of(const Swizzle *swizzle, const Flat *layout, const Bases *vector, const uint8_t *lanes,
                      unsigned lane_count) {
    Bases all = bases_of(layout, HOLD_LANE), tile = {0};
    unsigned words = swizzle->element_bits << vector->count;
    int later = (int)bits_for(words > 32 ? words / 32 : 1) + (int)all.count - (int)bits_for(swizzle->banks);
    if (!lanes)
        cut(&all, later > 0 ? (later < (int)all.count ? all.count - (unsigned)later : 0) : all.count);
    for (unsigned i = 0; i < (lanes ? lane_count : all.count); i++) {
        unsigned lane = lanes ? lanes[i] : i;
        if (lane < all.count)
            push(&tile, all.items[lane]);
    }
    return tile;
}

static bool lay_out_plain(const Swizzle *swizzle, const ConvertMeans *means, ConvertBuffer *buffer) {
    Bases vector = vector_of(swizzle);
    Bases store_tile = phase_of(swizzle, swizzle->from, &vector, NULL, 0);
    Bases load_tile = phase_of(swizzle, swizzle->to, &vector, means->load_lanes, means->load_lane_count);
    return lay_out(swizzle, &vector, &store_tile, &load_tile, 0, buffer);
}

/* ---- Instructions of 128 bits a lane ----------------------------------------------------------- */

/* An instruction: which of a lane's bits are in the row that it moves, and which choose the row. */
typedef struct ConvertInstruction {
    uint8_t row[3], rows[3];
    uint8_t row_count, rows_count;
} ConvertInstruction;

static const ConvertInstruction vectors = {.rows = {0, 1, 2}, .rows_count = 3};
static const ConvertInstruction matrices = {.row = {0, 1}, .row_count = 2, .rows = {2, 3, 4}, .rows_count = 3};
static const ConvertInstruction transposed = {.row = {2, 3, 4}, .row_count = 3, .rows = {0, 1}, .rows_count = 2};

/* The bases of a row that both instructions move whole; `a` has more of it in registers. */
static bool common_row(const Flat *a, const Flat *b, unsigned a_registers, unsigned b_registers,
                       const ConvertInstruction *a_by, const ConvertInstruction *b_by, Bases *row) {
    ConvertMapping mapping;
    Bases first = bases_of(a, HOLD_REGISTER), second = bases_of(b, HOLD_REGISTER);
    *row = common(&first, &second, a->bits);
    if (row->count < b_registers || !map_onto(b, a, &mapping))
        return false;
    cut(row, b_registers);
    for (unsigned i = 0; i < a_by->row_count; i++)
        if (!a->bases[HOLD_LANE][a_by->row[i]])
            return false;
    unsigned lanes_first = a_registers - b_registers;
    for (unsigned i = 0; i < b_by->row_count; i++) {
        uint8_t lane = b_by->row[i];
        uint64_t image = mapping.image[HOLD_LANE][lane];
        if (!b->bases[HOLD_LANE][lane])
            return false;
        if (i < lanes_first
                ? !(image & columns_of(a, HOLD_REGISTER))
                : (image & columns_of(a, HOLD_LANE)) != UINT64_C(1) << (column[HOLD_LANE] + a_by->row[i - lanes_first]))
            return false;
        push(row, b->bases[HOLD_LANE][lane]);
    }
    return true;
}

/* What the instruction moves in one phase besides a row: registers that are not in it, then lanes. */
static bool tile_of(const Flat *layout, const ConvertInstruction *by, const Bases *row, Bases *tile) {
    unsigned wanted = 3 - by->rows_count;
    *tile = (Bases){0};
    for (unsigned i = 0; i < layout->count[HOLD_REGISTER] && wanted; i++)
        if (!contains(row, layout->bases[HOLD_REGISTER][i])) {
            push(tile, layout->bases[HOLD_REGISTER][i]);
            wanted--;
        }
    for (unsigned i = 0; i < by->rows_count; i++)
        push(tile, layout->bases[HOLD_LANE][by->rows[i]]);
    return wanted == 0;
}

static bool lay_out_rows(const Swizzle *swizzle, const ConvertInstruction *store, const ConvertInstruction *load,
                         ConvertBuffer *buffer, unsigned *conflicts) {
    unsigned whole = bits_for(128 / swizzle->element_bits), bits = swizzle->from->bits;
    if (whole < store->row_count || whole < load->row_count)
        return false;
    unsigned stored = whole - store->row_count, loaded = whole - load->row_count;
    Bases row, store_tile, load_tile;
    bool found = stored >= loaded ? common_row(swizzle->from, swizzle->to, stored, loaded, store, load, &row)
                                  : common_row(swizzle->to, swizzle->from, loaded, stored, load, store, &row);
    if (!found || !tile_of(swizzle->from, store, &row, &store_tile) || !tile_of(swizzle->to, load, &row, &load_tile))
        return false;
    unsigned store_kept = store->row_count + store->rows_count - 3u,
             load_kept = load->row_count + load->rows_count - 3u;
    if (!lay_out(swizzle, &row, &store_tile, &load_tile, store_kept < load_kept ? store_kept : load_kept, buffer))
        return false;
    *conflicts = (1u << common(&buffer->segments, &store_tile, bits).count) +
                 (1u << common(&buffer->segments, &load_tile, bits).count);
    return true;
}

/* Of all pairs of instructions that there are, the one with the fewest conflicts, then with the most repetitions. */
static bool lay_out_best(const Swizzle *swizzle, const ConvertMeans *means, ConvertBuffer *best) {
    enum { MATRIX_LANES = 5 };
    const ConvertInstruction *stores[3] = {&vectors}, *loads[3] = {&vectors};
    unsigned store_count = 1, load_count = 1, fewest = 0;
    bool found = false;
    if (swizzle->from->count[HOLD_LANE] < MATRIX_LANES || swizzle->to->count[HOLD_LANE] < MATRIX_LANES)
        return false;
    if (swizzle->element_bits <= 32) {
        if (means->store_matrix)
            stores[store_count++] = &matrices;
        if (means->load_matrix)
            loads[load_count++] = &matrices;
    }
    if (swizzle->element_bits == 16) {
        if (means->store_matrix)
            stores[store_count++] = &transposed;
        if (means->load_matrix)
            loads[load_count++] = &transposed;
    }
    for (unsigned s = 0; s < store_count; s++)
        for (unsigned l = 0; l < load_count; l++) {
            ConvertBuffer buffer;
            unsigned conflicts;
            if (!lay_out_rows(swizzle, stores[s], loads[l], &buffer, &conflicts))
                continue;
            bool better =
                !found || conflicts < fewest || (conflicts == fewest && buffer.repetitions > best->repetitions);
            if (better) {
                *best = buffer;
                fewest = conflicts;
            }
            found = true;
        }
    return found;
}

/* ---- Asking ------------------------------------------------------------------------------------ */

static bool can_exchange(const Distributed *from, const Distributed *to, unsigned element_bits) {
    return from && to && from->known && to->known && is_power(element_bits) && element_bits >= 8 && element_bits <= 128;
}

unsigned convert_vector_bits(const Distributed *from, const Distributed *to, unsigned element_bits) {
    if (!can_exchange(from, to, element_bits))
        return 0;
    Flat source = flatten(from), target = flatten(to);
    Swizzle swizzle = {.from = &source, .to = &target, .element_bits = element_bits};
    return element_bits << vector_of(&swizzle).count;
}

int64_t convert_elements(const Distributed *from, const Distributed *to, unsigned element_bits, ConvertMeans means) {
    if (!can_exchange(from, to, element_bits))
        return -1;
    Flat source = without_copies(from), target = without_copies(to);
    Swizzle swizzle = {.from = &source, .to = &target, .element_bits = element_bits, .banks = means.banks};
    ConvertBuffer buffer;
    if (source.bits != target.bits)
        return -1;
    Bases blocks = bases_of(&source, HOLD_BLOCK);
    swizzle.blocks = not_zero(&blocks);
    bool done = !means.plain && lay_out_best(&swizzle, &means, &buffer);
    if (!done && !lay_out_plain(&swizzle, &means, &buffer))
        return -1;
    int bits = (int)source.bits - (int)buffer.repetitions - (int)swizzle.blocks.count;
    return bits >= 0 ? (int64_t)1 << bits : -1;
}
