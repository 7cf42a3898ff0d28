/* Fragments of matrices in the registers of a warp. */
#include "machine/simt/mma/matrix_fragments.h"

#include <ctype.h>

static unsigned number_at(Str word, size_t *at) {
    unsigned number = 0;
    while (*at < word.size && isdigit((unsigned char)word.data[*at]))
        number = number * 10 + (unsigned)(word.data[(*at)++] - '0');
    return number;
}

/* "m16n8k16". */
static bool shape_of(Str word, MatrixShape *shape) {
    MatrixShape found = {0};
    uint16_t *const parts[] = {&found.m, &found.n, &found.k};
    size_t at = 0;
    for (unsigned i = 0; i < 3; ++i) {
        if (at >= word.size || word.data[at] != "mnk"[i])
            return false;
        ++at;
        *parts[i] = (uint16_t)number_at(word, &at);
        if (!*parts[i])
            return false;
    }
    *shape = found;
    return at == word.size;
}

void matrix_form(const PtxForm *form, MatrixForm *words) {
    *words = (MatrixForm){0};
    unsigned layouts = 0;
    for (size_t at = 0; at < form->text.size;) {
        size_t end = at;
        while (end < form->text.size && form->text.data[end] != '.')
            ++end;
        Str word = {form->text.data + at, end - at};
        MatrixType type = matrix_type(word);
        if (type != MATRIX_NONE && words->type_count < MATRIX_FORM_TYPES)
            words->types[words->type_count++] = type;
        else if ((str_is(word, "row") || str_is(word, "col")) && layouts < 2)
            words->column[layouts++] = str_is(word, "col");
        else
            shape_of(word, &words->shape);
        at = end + 1;
    }
}

uint32_t matrix_register_count(const PtxArgument *argument) {
    return argument->kind == ARGUMENT_MEMBERS ? argument->count : 1;
}

const PtxArgument *matrix_register(const PtxProgram *program, const PtxArgument *argument, uint32_t index) {
    if (argument->kind == ARGUMENT_MEMBERS)
        return index < argument->count ? argument_member(program, argument, index) : NULL;
    return index ? NULL : argument;
}

uint32_t matrix_fetch(PtxMachine *machine, PtxGroup *group, const PtxArgument *argument, uint32_t most, Lanes *scratch,
                      const Lanes **registers, uint32_t *unknown) {
    uint32_t count = matrix_register_count(argument);
    for (uint32_t i = 0; i < count && i < most; ++i) {
        unknown[i] = 0;
        const PtxArgument *one = matrix_register(machine->program, argument, i);
        registers[i] = ptx_fetch(machine, group, one, 0, &scratch[i], &unknown[i]);
    }
    return count < most ? count : most;
}

void matrix_forget(PtxMachine *machine, PtxGroup *group, const PtxArgument *argument, uint32_t lanes) {
    static const Lanes nothing;
    for (uint32_t i = 0; i < matrix_register_count(argument); ++i)
        ptx_put(machine, group, matrix_register(machine->program, argument, i), 0, &nothing, lanes, lanes);
}

void matrix_take_a(MatrixRegisters a, double *to, bool *unknown) {
    MatrixDecoder decoder = matrix_decoder(a.type);
    for (uint32_t r = 0; r < a.count; ++r, to += PTX_LANES * (32 / decoder.bits)) {
        matrix_decode_rows(&decoder, a.at[r]->at, to);
        for (uint32_t left = a.unknown[r]; left; left &= left - 1)
            unknown[(__builtin_ctz(left) >> 2) + 8 * (r & 1)] = true;
    }
}

void matrix_take_b(MatrixRegisters b, double *to, bool *unknown) {
    MatrixDecoder decoder = matrix_decoder(b.type);
    for (uint32_t r = 0; r < b.count; ++r, to += PTX_LANES * (32 / decoder.bits)) {
        matrix_decode_columns(&decoder, b.at[r]->at, to);
        for (uint32_t left = b.unknown[r]; left; left &= left - 1)
            unknown[__builtin_ctz(left) >> 2] = true;
    }
}

void matrix_steps(MatrixType type, unsigned k, MatrixSteps *steps) {
    unsigned per = 32 / matrix_type_bits(type), size = per * PTX_LANES; /* numbers of a register */
    steps->a_half = (uint16_t)size;
    for (unsigned j = 0; j < k; ++j) {
        unsigned element = j % per, lane = j / per % 4, r = j / per / 4;
        steps->a[j] = (uint16_t)(2 * r * size + element * PTX_LANES + lane);
        steps->b[j] = (uint16_t)(r * size + element * PTX_LANES + lane * 8);
    }
}

void matrix_read_sums(MatrixType type, const Lanes *from, double (*to)[PTX_LANES]) {
    if (type == MATRIX_F32) {
        matrix_widen(from->at, *to);
        return;
    }
    for (unsigned e = 0; e < matrix_per_register(type); ++e)
        for (unsigned lane = 0; lane < PTX_LANES; ++lane)
            to[e][lane] = matrix_accumulator(type, from->at[lane] >> (16 * e));
}

void matrix_write_sums(MatrixType type, bool saturate, double (*from)[PTX_LANES], Lanes *to) {
    if (type == MATRIX_F32 && !saturate) {
        matrix_narrow(*from, to->at);
        return;
    }
    for (unsigned lane = 0; lane < PTX_LANES; ++lane) {
        to->at[lane] = 0;
        for (unsigned e = 0; e < matrix_per_register(type); ++e)
            to->at[lane] |= matrix_result(type, from[e][lane], saturate) << (16 * e);
    }
}

uint32_t matrix_unknown_sums(MatrixType type, unsigned index, const bool *rows, const bool *columns) {
    unsigned per = matrix_per_register(type);
    uint32_t unknown = 0;
    for (unsigned lane = 0; lane < PTX_LANES; ++lane)
        for (unsigned i = index * per; i < (index + 1) * per; ++i)
            unknown |= (uint32_t)(rows[matrix_row(lane, i)] || columns[matrix_column(lane, i)]) << lane;
    return unknown;
}

/* ---- Sparse A ---- */

/* Stored elements for which one chunk's four bits are. */
static unsigned chunk_stored(MatrixType type) {
    return type == MATRIX_TF32 ? 1 : matrix_type_bits(type) == 4 ? 4 : 2;
}

/* Where the four bits of a chunk are: lanes of a quad that have them, and from which bit on. With 16 bits or more along
 * k, a lane has those of row r in its lower, and of row r + 8 in its upper half. Of 8 and 4 bits a lane has 32 bits of
 * one row. */
static void chunk_place(MatrixType type, unsigned k, unsigned selector, unsigned row, unsigned chunk, unsigned *lane,
                        unsigned *bit) {
    unsigned chunks = k / 2 / chunk_stored(type);
    if (matrix_type_bits(type) >= 16) {
        *lane = 4 * (row & 7) + (chunks > 4 ? 2 * selector + chunk / 4 : selector);
        *bit = 16 * (row >> 3) + 4 * (chunk & 3);
        return;
    }
    *lane = 4 * (row & 7) + (chunks > 8 ? 2 * (chunk / 8) : 2 * selector) + (row >> 3);
    *bit = 4 * (chunk & 7);
}

unsigned matrix_sparse_lane(MatrixType type, unsigned k, unsigned selector, unsigned row, unsigned column) {
    unsigned lane, bit;
    chunk_place(type, k, selector, row, column / chunk_stored(type), &lane, &bit);
    return lane;
}

unsigned matrix_sparse_k(MatrixType type, unsigned k, const Lanes *metadata, unsigned selector, unsigned row,
                         unsigned column) {
    unsigned stored = chunk_stored(type), chunk = column / stored, within = column % stored, lane, bit;
    chunk_place(type, k, selector, row, chunk, &lane, &bit);
    unsigned four = (unsigned)(metadata->at[lane] >> bit) & 15;
    if (stored == 1)
        return 2 * chunk + (four >> 1 & 1);
    if (stored == 2)
        return 4 * chunk + (four >> (2 * within) & 3);
    return 8 * chunk + 2 * (four >> (2 * (within / 2)) & 3) + within % 2;
}
