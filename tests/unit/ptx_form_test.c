/* Forms of values in a warp: every operation, on forms made at random, against the same operation on the values of
 * lanes that have these forms; and how much is known where it should be. */
#include "ptx/value/operation.h"
#include "share.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

typedef __int128 Wide;

static uint64_t state = 88172645463325252u;
static uint64_t chance(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}
static unsigned below(unsigned n) {
    return (unsigned)(chance() >> 32) % n;
}

/* ---- What lanes give, computed here ------------------------------------------------------------------- */

typedef struct Case {
    unsigned width;
    bool is_signed;
} Case;

static Wide value_of(uint64_t bits, Case c) {
    bits &= low_ones(c.width);
    if (c.is_signed && bits >> (c.width - 1) & 1)
        return (Wide)bits - ((Wide)1 << c.width);
    return (Wide)bits;
}

#define DIRECT(name) static uint64_t name(Case c, const uint64_t *a)
DIRECT(do_add) {
    (void)c;
    return a[0] + a[1];
}
DIRECT(do_sub) {
    (void)c;
    return a[0] - a[1];
}
DIRECT(do_mul) {
    (void)c;
    return a[0] * a[1];
}
DIRECT(do_wide) {
    return (uint64_t)(value_of(a[0], c) * value_of(a[1], c));
}
DIRECT(do_high) {
    unsigned __int128 both = (unsigned __int128)value_of(a[0], c) * (unsigned __int128)value_of(a[1], c);
    return (uint64_t)(both >> c.width);
}
DIRECT(do_mad) {
    (void)c;
    return a[0] * a[1] + a[2];
}
DIRECT(do_mad_wide) {
    return do_wide(c, a) + a[2];
}
DIRECT(do_neg) {
    (void)c;
    return 0 - a[0];
}
DIRECT(do_abs) {
    Wide v = value_of(a[0], c);
    return (uint64_t)(v < 0 ? 0 - v : v);
}
DIRECT(do_min) {
    return value_of(a[0], c) < value_of(a[1], c) ? a[0] : a[1];
}
DIRECT(do_max) {
    return value_of(a[0], c) > value_of(a[1], c) ? a[0] : a[1];
}
DIRECT(do_div) {
    return (uint64_t)(value_of(a[0], c) / value_of(a[1], c));
}
DIRECT(do_rem) {
    return (uint64_t)(value_of(a[0], c) % value_of(a[1], c));
}
DIRECT(do_and) {
    (void)c;
    return a[0] & a[1];
}
DIRECT(do_or) {
    (void)c;
    return a[0] | a[1];
}
DIRECT(do_xor) {
    (void)c;
    return a[0] ^ a[1];
}
DIRECT(do_not) {
    (void)c;
    return ~a[0];
}
DIRECT(do_mov) {
    (void)c;
    return a[0];
}
DIRECT(do_popc) {
    (void)c;
    uint64_t n = 0, v = a[0];
    for (; v; v >>= 1)
        n += v & 1;
    return n;
}
DIRECT(do_clz) {
    uint64_t n = 0;
    while (n < c.width && !(a[0] >> (c.width - 1 - n) & 1))
        n++;
    return n;
}
DIRECT(do_brev) {
    uint64_t r = 0;
    for (unsigned i = 0; i < c.width; i++)
        if (a[0] >> i & 1)
            r |= UINT64_C(1) << (c.width - 1 - i);
    return r;
}
DIRECT(do_shl) {
    uint32_t by = (uint32_t)a[1];
    return by >= c.width ? 0 : a[0] << by;
}
DIRECT(do_shr) {
    uint32_t by = (uint32_t)a[1];
    Wide v = value_of(a[0], c);
    return (uint64_t)(v >> (by > 100 ? 100 : by));
}
DIRECT(do_bfe) {
    unsigned at = a[1] & 255, size = a[2] & 255;
    uint64_t r = 0;
    for (unsigned i = 0; i < c.width; i++) {
        unsigned last = at + size - 1 < c.width - 1 ? at + size - 1 : c.width - 1;
        bool sign = c.is_signed && size && a[0] >> last & 1;
        bool bit = i < size && at + i < c.width ? a[0] >> (at + i) & 1 : sign;
        r |= (uint64_t)bit << i;
    }
    return r;
}
DIRECT(do_bfi) {
    unsigned at = a[2] & 255, size = a[3] & 255;
    uint64_t r = a[1];
    for (unsigned i = 0; i < size && at + i < c.width; i++) {
        r &= ~(UINT64_C(1) << (at + i));
        r |= (a[0] >> i & 1) << (at + i);
    }
    return r;
}
DIRECT(do_prmt) {
    (void)c;
    uint8_t bytes[8];
    uint64_t r = 0;
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)((i < 4 ? a[0] : a[1]) >> 8 * (i & 3));
    for (unsigned i = 0; i < 4; i++) {
        unsigned n = a[2] >> 4 * i & 15;
        uint64_t byte = n & 8 ? (bytes[n & 7] & 128 ? 255 : 0) : bytes[n & 7];
        r |= byte << 8 * i;
    }
    return r;
}
DIRECT(do_lop3) {
    uint64_t r = 0;
    for (unsigned i = 0; i < c.width; i++) {
        unsigned term = (unsigned)((a[0] >> i & 1) << 2 | (a[1] >> i & 1) << 1 | (a[2] >> i & 1));
        r |= (a[3] >> term & 1) << i;
    }
    return r;
}
DIRECT(do_selp) {
    (void)c;
    return a[2] & 1 ? a[0] : a[1];
}
DIRECT(do_lt) {
    return value_of(a[0], c) < value_of(a[1], c);
}
DIRECT(do_eq) {
    (void)c;
    return a[0] == a[1];
}
DIRECT(do_funnel) {
    (void)c;
    unsigned by = a[2] & 31;
    return by ? a[1] << by | a[0] >> (32 - by) : a[1];
}

/* Flags of how an operation is to be tried. */
enum { WIDE = 1, HIGH = 2, TO_PRED = 4, TO_32 = 8, ONLY_32 = 16, NO_ZERO = 32, TO_64 = 64 };
typedef struct Tried {
    const char *name;
    PtxEvaluator evaluator;
    unsigned count, flags, compare;
    uint64_t (*direct)(Case c, const uint64_t *arguments);
} Tried;

static const Tried tried[] = {
    {"add", PTX_EVALUATE_ADD, 2, 0, 0, do_add},
    {"sub", PTX_EVALUATE_SUB, 2, 0, 0, do_sub},
    {"mul.lo", PTX_EVALUATE_MUL, 2, 0, 0, do_mul},
    {"mul.wide", PTX_EVALUATE_MUL, 2, WIDE, 0, do_wide},
    {"mul.hi", PTX_EVALUATE_MUL, 2, HIGH, 0, do_high},
    {"mad.lo", PTX_EVALUATE_MAD, 3, 0, 0, do_mad},
    {"mad.wide", PTX_EVALUATE_MAD, 3, WIDE, 0, do_mad_wide},
    {"neg", PTX_EVALUATE_NEG, 1, 0, 0, do_neg},
    {"abs", PTX_EVALUATE_ABS, 1, 0, 0, do_abs},
    {"min", PTX_EVALUATE_MIN, 2, 0, 0, do_min},
    {"max", PTX_EVALUATE_MAX, 2, 0, 0, do_max},
    {"div", PTX_EVALUATE_DIV, 2, NO_ZERO, 0, do_div},
    {"rem", PTX_EVALUATE_REM, 2, NO_ZERO, 0, do_rem},
    {"and", PTX_EVALUATE_AND, 2, 0, 0, do_and},
    {"or", PTX_EVALUATE_OR, 2, 0, 0, do_or},
    {"xor", PTX_EVALUATE_XOR, 2, 0, 0, do_xor},
    {"not", PTX_EVALUATE_NOT, 1, 0, 0, do_not},
    {"mov", PTX_EVALUATE_MOV, 1, 0, 0, do_mov},
    {"popc", PTX_EVALUATE_POPC, 1, TO_32, 0, do_popc},
    {"clz", PTX_EVALUATE_CLZ, 1, TO_32, 0, do_clz},
    {"brev", PTX_EVALUATE_BREV, 1, 0, 0, do_brev},
    {"shl", PTX_EVALUATE_SHL, 2, 0, 0, do_shl},
    {"shr", PTX_EVALUATE_SHR, 2, 0, 0, do_shr},
    {"bfe", PTX_EVALUATE_BFE, 3, 0, 0, do_bfe},
    {"bfi", PTX_EVALUATE_BFI, 4, 0, 0, do_bfi},
    {"prmt", PTX_EVALUATE_PRMT, 3, ONLY_32, 0, do_prmt},
    {"lop3", PTX_EVALUATE_LOP3, 4, ONLY_32, 0, do_lop3},
    {"shf", PTX_EVALUATE_SHF, 3, ONLY_32, 0, do_funnel},
    {"selp", PTX_EVALUATE_SELP, 3, 0, 0, do_selp},
    {"setp.lt", PTX_EVALUATE_SETP, 2, TO_PRED, COMPARE_LT, do_lt},
    {"setp.eq", PTX_EVALUATE_SETP, 2, TO_PRED, COMPARE_EQ, do_eq},
    {"cvt to 64", PTX_EVALUATE_CVT, 1, TO_64, 0, NULL},
    {"cvt to 32", PTX_EVALUATE_CVT, 1, TO_32, 0, NULL},
};

/* ---- Forms and values that have them -------------------------------------------------------------------- */

/* Two warps. */
enum { THREADS = 2 * FORM_LANES };
typedef struct Sample {
    Form form;
    uint64_t values[THREADS];
} Sample;

static void random_lanes(uint64_t offsets[FORM_LANES], unsigned width) {
    uint64_t strides[5];
    unsigned kind = below(9), shift = below(width), few = below(5);
    for (unsigned b = 0; b < 5; b++)
        strides[b] = chance() >> below(64);
    for (unsigned lane = 0; lane < FORM_LANES; lane++) {
        uint64_t sum = 0;
        for (unsigned b = 0; b < 5; b++)
            sum += lane >> b & 1 ? strides[b] : 0;
        offsets[lane] = kind == 0   ? 0
                        : kind <= 2 ? (uint64_t)lane << shift
                        : kind == 3 ? lane * strides[0]
                        : kind == 4 ? (uint64_t)(lane >> few) << shift
                        : kind == 5 ? (uint64_t)(lane & 7) << shift
                        : kind == 6 ? sum
                        : kind == 7 ? (lane >> few & 1) * strides[0]
                                    : chance();
    }
}

/* Of both warps: the same, or each its own. */
static void random_offsets(uint64_t offsets[THREADS], unsigned width) {
    uint64_t mask = low_ones(width), step = below(2) ? chance() >> below(64) : (uint64_t)32 << below(width);
    bool same = below(3) != 0;
    random_lanes(offsets, width);
    random_lanes(offsets + FORM_LANES, width);
    for (unsigned i = THREADS; i-- > 0;) {
        uint64_t own = same ? offsets[i % FORM_LANES] : offsets[i];
        offsets[i] = (own - offsets[0] + (i >= FORM_LANES ? step : 0)) & mask;
    }
}

static Sample random_table(FormTables *tables, unsigned width) {
    uint64_t mask = low_ones(width), offsets[THREADS], base = chance() & mask;
    unsigned how = below(6), cut = below(width);
    if (how == 0)
        base &= chance() & chance();
    if (how == 1)
        base >>= below(width);
    uint64_t known = how == 2 ? mask : how == 3 ? 0 : how == 4 ? low_ones(cut) : chance() | chance();
    if (how == 5) { /* a few bits that are not known */
        known = mask & ~(UINT64_C(3) << cut);
        base &= ~low_ones(cut);
    }
    known &= mask;
    random_offsets(offsets, width);
    if (below(4) == 0)
        memset(offsets, 0, sizeof offsets);
    Sample sample = {.form = form_uniform(width, SPAN_CTA, ~base & known, base & known)};
    sample.form.table = form_table(tables, offsets);
    for (unsigned i = 0; i < THREADS; i++)
        sample.values[i] = (base + offsets[i]) & mask;
    return sample;
}

static unsigned lanes_used(const uint64_t values[THREADS]) {
    unsigned lanes = 0;
    for (unsigned bit = 1; bit < FORM_LANES; bit *= 2)
        for (unsigned i = 0; i < THREADS; i++)
            lanes |= values[i] != values[i ^ bit] ? bit : 0;
    return lanes;
}

/* Shapes without tables: of the bits that are the same in all lanes some are known. */
static Sample random_shape(FormTables *tables, unsigned width) {
    uint64_t mask = low_ones(width), offsets[THREADS], zeros = mask, ones = mask, base = chance() & mask;
    Sample sample = {.form = {0}};
    do
        random_offsets(offsets, width);
    while (below(4) && offsets_shape(tables, offsets, width) == SHAPE_OTHER);
    FormShape shape = offsets_shape(tables, offsets, width);
    if (shape < SHAPE_OTHER && (shape == SHAPE_UNIFORM || below(4) == 0))
        shape++;
    if (below(2))
        base >>= below(width);
    for (unsigned i = 0; i < THREADS; i++) {
        sample.values[i] = (base + offsets[i]) & mask;
        ones &= sample.values[i];
        zeros &= ~sample.values[i];
    }
    uint64_t reported = chance() | chance();
    sample.form = form_shaped(width, shape, SPAN_WARP, zeros & reported, ones & reported);
    sample.form = form_depending(sample.form, lanes_used(sample.values) | (below(4) ? 0 : below(32)));
    return sample;
}

static Sample random_sample(FormTables *tables, unsigned width) {
    if (below(5) == 0)
        return random_shape(tables, width);
    if (below(4) == 0) {
        uint64_t value = below(2) ? below(80) : chance();
        Sample sample = {.form = form_number(width, value)};
        for (unsigned i = 0; i < THREADS; i++)
            sample.values[i] = value & low_ones(width);
        return sample;
    }
    return random_table(tables, width);
}

/* Whether threads have a base that is the same over the form's span, with its known bits. */
static bool has_table(const FormTables *tables, const Form *form, const uint64_t values[THREADS]) {
    uint64_t mask = low_ones(form->width);
    const uint64_t *offsets = form_offsets(tables, form->table);
    for (unsigned i = 0; i < THREADS; i++) {
        unsigned first = form->span == SPAN_WARP ? i / FORM_LANES * FORM_LANES : 0;
        uint64_t base = (values[first] - offsets[first]) & mask;
        if (((values[i] - offsets[i]) & mask) != base || base & form->zeros || ~base & form->ones)
            return false;
    }
    return true;
}

static bool has_form(const FormTables *tables, const Form *form, const uint64_t values[THREADS]) {
    if (form->kind == FORM_TABLE)
        return has_table(tables, form, values);
    for (unsigned i = 0; i < THREADS; i++)
        if (values[i] & form->zeros || ~values[i] & form->ones ||
            values[i] != values[i / FORM_LANES * FORM_LANES + (i & form->lanes)])
            return false;
    FormShape most = form->kind == FORM_AFFINE ? SHAPE_AFFINE : form->kind == FORM_BITS ? SHAPE_BITS : SHAPE_OTHER;
    return form->kind != FORM_NEVER && offsets_shape(tables, values, form->width) <= most;
}

/* ---- The trials -------------------------------------------------------------------------------------------- */

static Operation operation(const Tried *t, unsigned width, bool is_signed) {
    Operation op = {.evaluator = (uint8_t)t->evaluator, .numbers = true, .width = (uint8_t)width};
    op.is_signed = op.result_signed = is_signed;
    op.wide = t->flags & WIDE;
    op.high = t->flags & HIGH;
    op.left = op.wraps = true;
    op.compare = (uint8_t)t->compare;
    op.result = (uint8_t)(t->flags & WIDE      ? width * 2
                          : t->flags & TO_PRED ? 1
                          : t->flags & TO_32   ? 32
                          : t->flags & TO_64   ? 64
                                               : width);
    return op;
}

typedef struct Counts {
    unsigned tried, assumed, reported;
} Counts;

static void try_once(FormTables *tables, const Tried *t, unsigned width, bool is_signed, Counts *counts) {
    Case c = {width, is_signed};
    Operation op = operation(t, width, is_signed);
    Sample samples[MOST_ARGUMENTS];
    Form forms[MOST_ARGUMENTS];
    assert_int_equal(operation_arguments(&op), t->count);
    for (unsigned i = 0; i < t->count; i++) {
        samples[i] = random_sample(tables, operation_argument_width(&op, i));
        forms[i] = samples[i].form;
    }
    uint64_t results[THREADS], arguments[MOST_ARGUMENTS];
    for (unsigned lane = 0; lane < THREADS; lane++) {
        for (unsigned i = 0; i < t->count; i++)
            arguments[i] = samples[i].values[lane];
        Wide second = t->count > 1 ? value_of(arguments[1], c) : 1;
        if (t->flags & NO_ZERO && (!second || second == -1))
            return;
        results[lane] = t->direct ? t->direct(c, arguments) : (uint64_t)value_of(arguments[0], c);
        results[lane] &= low_ones(op.result);
        uint64_t own;
        assert_true(operation_evaluate(&op, arguments, &own));
        assert_int_equal(own, results[lane]);
    }
    bool assumed = false;
    Form form = operation_apply(tables, &op, forms, t->count, &assumed);
    counts->tried++;
    counts->assumed += assumed;
    counts->reported += form.kind < FORM_ANY;
    assert_int_equal(form.width, op.result);
    if (!has_form(tables, &form, results) && !assumed) {
        Text text = {0};
        for (unsigned i = 0; i <= t->count; i++) {
            text_addf(&text, i < t->count ? "\n  " : "\n= ");
            form_print(tables, i < t->count ? &forms[i] : &form, &text);
        }
        fail_msg("%s, %u bits, %s:%.*s", t->name, width, is_signed ? "signed" : "unsigned", (int)text.size, text.data);
    }
}

static void test_operations(void **unused) {
    (void)unused;
    static const unsigned widths[] = {8, 16, 32, 64};
    for (unsigned k = 0; k < sizeof tried / sizeof *tried; k++) {
        Counts counts = {0};
        for (unsigned n = 0; n < share_of(5000); n++) {
            unsigned width = tried[k].flags & ONLY_32 ? 32 : widths[below(4)];
            if ((tried[k].flags & WIDE && width == 64) ||
                (tried[k].flags & (TO_32 | TO_64) && !tried[k].direct && width > 32))
                width = 32;
            Arena arena;
            arena_init(&arena, 1 << 20);
            try_once(form_tables(&arena, THREADS), &tried[k], width, below(2), &counts);
            arena_free(&arena);
        }
        assert_true(counts.tried > share_of(2000));
        /* Only what is extended can wrap. */
        assert_true(tried[k].flags & WIDE || !tried[k].direct ? counts.assumed < counts.tried * 3 / 4
                                                              : !counts.assumed);
        assert_true(counts.reported > counts.tried / 40);
    }
}

/* Joins hold both; what is joined under control that differs between lanes holds every mixture. */
static void test_joins(void **unused) {
    (void)unused;
    for (unsigned n = 0; n < share_of(12000); n++) {
        Arena arena;
        arena_init(&arena, 1 << 20);
        FormTables *tables = form_tables(&arena, THREADS);
        unsigned width = below(2) ? 32 : 64;
        Sample a = random_sample(tables, width), b = below(8) ? random_sample(tables, width) : a;
        Form together = form_join(tables, &a.form, &b.form, SPAN_CTA),
             apart = form_join(tables, &a.form, &b.form, SPAN_NONE);
        assert_true(has_form(tables, &together, a.values) && has_form(tables, &together, b.values));
        uint64_t mixed[THREADS];
        for (unsigned lane = 0; lane < THREADS; lane++)
            mixed[lane] = below(2) ? a.values[lane] : b.values[lane];
        assert_true(has_form(tables, &apart, mixed));
        Form never = {.width = (uint8_t)width};
        Form only = form_join(tables, &never, &a.form, SPAN_NONE);
        assert_true(form_equal(&only, &a.form));
        Form narrowed = form_narrowed(tables, &a.form, SPAN_NONE);
        assert_true(has_form(tables, &narrowed, a.values));
        arena_free(&arena);
    }
}

/* Each lane's choice, packing, and parts. */
static void test_parts(void **unused) {
    (void)unused;
    for (unsigned n = 0; n < share_of(12000); n++) {
        Arena arena;
        arena_init(&arena, 1 << 20);
        FormTables *tables = form_tables(&arena, THREADS);
        Sample a = random_sample(tables, 32), b = random_sample(tables, 32), p = random_sample(tables, 1);
        Form chosen = form_select(tables, &p.form, &a.form, &b.form);
        Form packed = form_pack(tables, (const Form[]){a.form, b.form}, 2, 64);
        uint64_t selected[THREADS], both[THREADS], high[THREADS];
        Sample whole = random_sample(tables, 64);
        Form part = form_part(tables, &whole.form, 32, 32);
        for (unsigned lane = 0; lane < THREADS; lane++) {
            selected[lane] = p.values[lane] & 1 ? a.values[lane] : b.values[lane];
            both[lane] = a.values[lane] | b.values[lane] << 32;
            high[lane] = whole.values[lane] >> 32;
        }
        assert_true(has_form(tables, &chosen, selected));
        assert_true(has_form(tables, &packed, both));
        assert_true(has_form(tables, &part, high));
        arena_free(&arena);
    }
}

/* ---- What is told ---------------------------------------------------------------------------------------------- */

typedef struct Reported {
    Arena arena;
    FormTables *tables;
    Form thread; /* %tid.x of a CTA of 128 */
} Reported;

static void start(Reported *reported) {
    arena_init(&reported->arena, 1 << 20);
    reported->tables = form_tables(&reported->arena, FORM_LANES);
    uint64_t lanes[FORM_LANES];
    for (unsigned lane = 0; lane < FORM_LANES; lane++)
        lanes[lane] = lane;
    Form warp = form_uniform(32, SPAN_WARP, 0xffffff9f, 0);
    reported->thread = form_based(reported->tables, &warp, lanes);
}

static Form apply(Reported *reported, PtxEvaluator evaluator, Form a, Form b) {
    Operation op = {.evaluator = (uint8_t)evaluator, .numbers = true, .width = a.width, .result = a.width};
    op.compare = COMPARE_LT;
    if (evaluator == PTX_EVALUATE_SETP)
        op.result = 1;
    bool assumed = false;
    Form result = operation_apply(reported->tables, &op, (const Form[]){a, b}, 2, &assumed);
    assert_false(assumed);
    return result;
}

/* A swizzled offset, as Triton computes it: ((t & 7) << 4 ^ (t & 16)) | (t & 15) << 7, plus a base and a step. */
static void test_swizzle(void **unused) {
    (void)unused;
    Reported reported;
    start(&reported);
    Form column = apply(&reported, PTX_EVALUATE_AND, reported.thread, form_number(32, 7));
    column = apply(&reported, PTX_EVALUATE_SHL, column, form_number(32, 4));
    Form half = apply(&reported, PTX_EVALUATE_AND, reported.thread, form_number(32, 16));
    column = apply(&reported, PTX_EVALUATE_XOR, column, half);
    Form row = apply(&reported, PTX_EVALUATE_AND, reported.thread, form_number(32, 15));
    row = apply(&reported, PTX_EVALUATE_SHL, row, form_number(32, 7));
    Form offset = apply(&reported, PTX_EVALUATE_OR, row, column);
    assert_int_equal(offset.kind, FORM_TABLE);
    assert_true(form_based_on_constant(&offset));
    Form memory = form_uniform(32, SPAN_GRID, 15, 0);
    Form address =
        apply(&reported, PTX_EVALUATE_ADD, memory, apply(&reported, PTX_EVALUATE_XOR, offset, form_number(32, 32)));
    assert_int_equal(address.kind, FORM_TABLE);
    for (unsigned lane = 0; lane < FORM_LANES; lane++) {
        unsigned expected = (((lane & 7) << 4 ^ (lane & 16)) | (lane & 15) << 7) ^ 32;
        assert_int_equal(form_offsets(reported.tables, address.table)[lane], (uint32_t)(expected - 32));
    }
    arena_free(&reported.arena);
}

/* The warp's number is uniform; whether it is below 64 is uniform; what the warp turns around is affine in bits. */
static void test_warps(void **unused) {
    (void)unused;
    Reported reported;
    start(&reported);
    Form warp = apply(&reported, PTX_EVALUATE_SHR, reported.thread, form_number(32, 5));
    assert_true(form_is_uniform(reported.tables, &warp));
    assert_int_equal(warp.zeros, 0xfffffffc);
    Form first = apply(&reported, PTX_EVALUATE_SETP, reported.thread, form_number(32, 64));
    assert_true(form_is_uniform(reported.tables, &first));
    Form middle = apply(&reported, PTX_EVALUATE_SETP, reported.thread, form_number(32, 40));
    assert_int_equal(middle.kind, FORM_ANY);
    Form turned = apply(&reported, PTX_EVALUATE_XOR, reported.thread, warp);
    assert_int_equal(turned.kind, FORM_BITS);
    Form pointer = form_uniform(32, SPAN_GRID, 0, 0);
    Form odd = apply(&reported, PTX_EVALUATE_XOR,
                     apply(&reported, PTX_EVALUATE_AND, reported.thread, form_number(32, 12)), pointer);
    assert_int_equal(odd.kind, FORM_BITS);
    arena_free(&reported.arena);
}

/* A stride that is not known, and an index that is extended. */
static void test_strides(void **unused) {
    (void)unused;
    Reported reported;
    start(&reported);
    Form stride = form_uniform(32, SPAN_GRID, 0, 0);
    Form rows = apply(&reported, PTX_EVALUATE_MUL, reported.thread, stride);
    assert_int_equal(rows.kind, FORM_AFFINE);
    assert_int_equal(rows.span, SPAN_WARP);
    Form part = apply(&reported, PTX_EVALUATE_SHR, reported.thread, form_number(32, 2));
    part = apply(&reported, PTX_EVALUATE_MUL, part, stride);
    assert_int_equal(part.kind, FORM_BITS);
    bool assumed = false;
    Form whole = form_extend(reported.tables, &reported.thread, 64, true, &assumed);
    assert_false(assumed);
    assert_int_equal(whole.kind, FORM_TABLE);
    Form index = apply(&reported, PTX_EVALUATE_ADD, reported.thread, stride);
    whole = form_extend(reported.tables, &index, 64, true, &assumed);
    assert_true(assumed);
    assert_int_equal(whole.kind, FORM_TABLE);
    assert_int_equal(whole.assumes, FORM_NO_WRAP);
    arena_free(&reported.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations), cmocka_unit_test(test_joins), cmocka_unit_test(test_parts),
        cmocka_unit_test(test_swizzle),    cmocka_unit_test(test_warps), cmocka_unit_test(test_strides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
