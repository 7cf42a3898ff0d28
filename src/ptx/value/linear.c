/* Sums and multiples of forms, and forms that are cut or extended. */
#include "base/number.h"
#include "ptx/value/bits.h"
#include "ptx/value/operation.h"

static FormSpan worse(FormSpan a, FormSpan b) {
    return a > b ? a : b;
}

static Bits lanes_known(const FormTables *tables, const Form *form) {
    Bits known;
    form_known(tables, form, &known.zeros, &known.ones);
    return known;
}

Form form_sum(FormTables *tables, const Form *a, const Form *b) {
    uint64_t mask = low_ones(a->width);
    FormSpan span = worse(a->span, b->span);
    Form sum;
    if (a->kind == FORM_TABLE && b->kind == FORM_TABLE) {
        Bits base = bits_add((Bits){a->zeros, a->ones}, (Bits){b->zeros, b->ones}, 0, mask);
        sum = form_uniform(a->width, span, base.zeros, base.ones);
        if (a->table || b->table) {
            uint64_t offsets[FORM_MOST_THREADS];
            const uint64_t *of_a = form_offsets(tables, a->table), *of_b = form_offsets(tables, b->table);
            for (unsigned i = 0; i < form_threads(tables); i++)
                offsets[i] = (of_a[i] + of_b[i]) & mask;
            sum.table = form_table(tables, offsets);
        }
    } else {
        FormShape of_a = form_shape(tables, a), of_b = form_shape(tables, b);
        Bits known = bits_add(lanes_known(tables, a), lanes_known(tables, b), 0, mask);
        span = worse(form_span(a), form_span(b));
        sum = form_shaped(a->width, of_a > of_b ? of_a : of_b, span, known.zeros, known.ones);
        sum = form_depending(sum, form_lanes(tables, a) | form_lanes(tables, b));
    }
    sum.assumes = a->assumes | b->assumes;
    return sum;
}

Form form_not(FormTables *tables, const Form *a) {
    Form result = *a;
    result.zeros = a->ones;
    result.ones = a->zeros;
    if (a->kind == FORM_TABLE && a->table) {
        uint64_t offsets[FORM_MOST_THREADS];
        const uint64_t *of_a = form_offsets(tables, a->table);
        for (unsigned i = 0; i < form_threads(tables); i++)
            offsets[i] = -of_a[i] & low_ones(a->width);
        result.table = form_table(tables, offsets);
    }
    return result;
}

/* -a = ~a + 1 */
Form form_negate(FormTables *tables, const Form *a) {
    Form inverse = form_not(tables, a), one = form_number(a->width, 1);
    return form_sum(tables, &inverse, &one);
}

/* Times a constant the offsets are known; times what is the same in all lanes the shape is. */
static Form scale(FormTables *tables, const Form *a, const Form *by) {
    uint64_t mask = low_ones(a->width), factor;
    FormSpan span = worse(a->span, by->span);
    if (a->kind == FORM_TABLE && !by->table && (!a->table || form_constant(by, &factor))) {
        Bits base = bits_multiply((Bits){a->zeros, a->ones}, (Bits){by->zeros, by->ones}, mask);
        Form result = form_uniform(a->width, span, base.zeros, base.ones);
        if (a->table) {
            uint64_t offsets[FORM_MOST_THREADS];
            const uint64_t *of_a = form_offsets(tables, a->table);
            for (unsigned i = 0; i < form_threads(tables); i++)
                offsets[i] = of_a[i] * factor & mask;
            result.table = form_table(tables, offsets);
        }
        return result;
    }
    Bits known = bits_multiply(lanes_known(tables, a), lanes_known(tables, by), mask);
    return form_shaped(a->width, form_shape(tables, a), worse(form_span(a), form_span(by)), known.zeros, known.ones);
}

Form form_multiply(FormTables *tables, const Form *a, const Form *b) {
    Form result;
    if (a->width > 64) {
        result = form_pure(tables, (const Form[]){*a, *b}, 2, a->width);
    } else if (form_is_uniform(tables, b) && (!b->table || !form_is_uniform(tables, a))) {
        result = scale(tables, a, b);
    } else if (form_is_uniform(tables, a)) {
        result = scale(tables, b, a);
    } else {
        Bits known = bits_multiply(lanes_known(tables, a), lanes_known(tables, b), low_ones(a->width));
        result = form_shaped(a->width, SHAPE_OTHER, SPAN_WARP, known.zeros, known.ones);
    }
    result = form_depending(result, form_lanes(tables, a) | form_lanes(tables, b));
    result.assumes = a->assumes | b->assumes;
    return result;
}

/* ---- Other widths --------------------------------------------------------------------------------------- */

static Form cut(FormTables *tables, const Form *a, unsigned width) {
    uint64_t mask = low_ones(width);
    Form result = *a;
    result.width = (uint8_t)width;
    result.zeros &= mask;
    result.ones &= mask;
    if (a->kind == FORM_TABLE && a->table) {
        uint64_t offsets[FORM_MOST_THREADS];
        const uint64_t *of_a = form_offsets(tables, a->table);
        for (unsigned i = 0; i < form_threads(tables); i++)
            offsets[i] = of_a[i] & mask;
        result.table = form_table(tables, offsets);
    }
    if (form_based_on_constant(&result) && !result.table)
        result.span = SPAN_GRID;
    return result;
}

static Bits extend_known(Bits known, unsigned from, unsigned to, bool is_signed) {
    uint64_t above = low_ones(to) & ~low_ones(from), sign = UINT64_C(1) << (from - 1);
    if (!is_signed || known.zeros & sign)
        known.zeros |= above;
    else if (known.ones & sign)
        known.ones |= above;
    return known;
}

/* Whether no thread leaves the range of the type: then extended offsets are the offsets of what is extended. */
static bool never_wraps(const Form *a, const uint64_t *offsets, unsigned threads, bool is_signed) {
    uint64_t mask = low_ones(a->width), sign = mask ^ mask >> 1, most = ~a->zeros & mask;
    __int128 low = a->ones, high = most, least = 0, greatest = mask;
    if (is_signed) {
        low = sign_extended(a->zeros & sign ? a->ones : a->ones | sign, a->width);
        high = sign_extended(a->ones & sign ? most : most & ~sign, a->width);
        least = -(__int128)sign;
        greatest = sign - 1;
    }
    for (unsigned i = 0; i < threads; i++) {
        int64_t offset = sign_extended(offsets[i], a->width);
        if (low + offset < least || high + offset > greatest)
            return false;
    }
    return true;
}

/* Base and lanes that share no bits are extended each for itself; so are they if nothing wraps; else that is assumed.
 */
static Form extend_table(FormTables *tables, const Form *a, unsigned width, bool is_signed, bool *assumed) {
    FormView view;
    form_view(tables, a, &view);
    if (!view.mess) {
        uint64_t sign = UINT64_C(1) << (a->width - 1), above = low_ones(width) & ~low_ones(a->width);
        view.vary |= is_signed && view.vary & sign ? above : 0;
        for (unsigned i = 0; i < view.count; i++)
            view.fixed[i] |= is_signed && view.fixed[i] & sign ? above : 0;
        return form_of_view(tables, width, (FormSpan)a->span, a->assumes, &view);
    }
    const uint64_t *of_a = form_offsets(tables, a->table);
    bool proven = never_wraps(a, of_a, form_threads(tables), is_signed);
    uint64_t offsets[FORM_MOST_THREADS];
    for (unsigned i = 0; i < form_threads(tables); i++)
        offsets[i] = (uint64_t)sign_extended(of_a[i], a->width) & low_ones(width);
    Bits base = extend_known((Bits){a->zeros, a->ones}, a->width, width, is_signed);
    Form result = form_uniform(width, (FormSpan)a->span, base.zeros, base.ones);
    result.table = form_table(tables, offsets);
    result.assumes = a->assumes;
    *assumed |= !proven;
    return result;
}

/* Numbers that are far from the ends of their type do not wrap: the steps between lanes are short, then. */
static bool is_small(const Form *a, bool is_signed) {
    unsigned spare = is_signed ? 8 : 7;
    uint64_t mask = low_ones(a->width);
    return a->width > spare && (a->zeros | mask >> spare) == mask;
}

Form form_extend(FormTables *tables, const Form *a, unsigned width, bool is_signed, bool *assumed) {
    if (a->kind == FORM_NEVER || width == a->width) {
        Form same = *a;
        same.width = (uint8_t)width;
        return same;
    }
    if (width > 64 || a->width > 64) {
        Form result = form_pure(tables, a, 1, width);
        result.assumes = a->assumes;
        return result;
    }
    if (width < a->width)
        return cut(tables, a, width);
    bool assumes = false;
    Form result;
    if (a->kind == FORM_TABLE && a->table) {
        result = extend_table(tables, a, width, is_signed, &assumes);
    } else {
        Bits known = extend_known((Bits){a->zeros, a->ones}, a->width, width, is_signed);
        result = form_shaped(width, form_shape(tables, a), (FormSpan)a->span, known.zeros, known.ones);
        result = form_depending(result, form_lanes(tables, a));
        /* What depends on one bit of the lane alone is affine in it, whatever happens. */
        bool one = result.kind != FORM_TABLE && !(result.lanes & (result.lanes - 1));
        if (one && result.kind == FORM_AFFINE)
            result.kind = FORM_BITS;
        assumes = (a->kind == FORM_AFFINE || a->kind == FORM_BITS) && !one && !is_small(a, is_signed);
    }
    result.assumes = (uint8_t)(a->assumes | (assumes ? FORM_NO_WRAP : 0));
    *assumed |= assumes;
    return result;
}
