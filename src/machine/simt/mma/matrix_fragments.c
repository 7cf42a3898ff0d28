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

void matrix_take_a(const Lanes *const *registers, const uint32_t *unknown, uint32_t count, MatrixType type, unsigned k,
                   MatrixOperand a) {
    unsigned per = 32 / matrix_type_bits(type);
    for (uint32_t r = 0; r < count; ++r)
        for (unsigned lane = 0; lane < PTX_LANES; ++lane) {
            unsigned row = (lane >> 2) + 8 * (r & 1), column = (lane & 3) * per + (r >> 1) * 4 * per;
            uint32_t word = (uint32_t)registers[r]->at[lane];
            a.unknown[row] |= unknown[r] >> lane & 1;
            float *to = &a.to[row * k + column];
            if (type == MATRIX_F16) {
                to[0] = matrix_half((uint16_t)word);
                to[1] = matrix_half((uint16_t)(word >> 16));
            } else
                matrix_floats(type, (const uint8_t *)&word, 0, per, to, 1);
        }
}

void matrix_take_b(const Lanes *const *registers, const uint32_t *unknown, uint32_t count, MatrixType type, unsigned n,
                   MatrixOperand b) {
    unsigned per = 32 / matrix_type_bits(type);
    for (uint32_t r = 0; r < count; ++r)
        for (unsigned lane = 0; lane < PTX_LANES; ++lane) {
            unsigned column = lane >> 2, row = (lane & 3) * per + r * 4 * per;
            uint32_t word = (uint32_t)registers[r]->at[lane];
            b.unknown[column] |= unknown[r] >> lane & 1;
            float *to = &b.to[row * n + column];
            if (type == MATRIX_F16) {
                to[0] = matrix_half((uint16_t)word);
                to[n] = matrix_half((uint16_t)(word >> 16));
            } else
                matrix_floats(type, (const uint8_t *)&word, 0, per, to, n);
        }
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
