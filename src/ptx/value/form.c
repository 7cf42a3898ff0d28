/* Forms: tables that are kept once, the shapes of offsets, what two forms have in common. */
#include "ptx/value/form.h"

#include "base/number.h"
#include "base/table.h"
#include "ptx/value/bits.h"

#include <inttypes.h>

/* ---- Tables -------------------------------------------------------------------------------------- */

enum { WIDTHS = 5 }; /* 1, 8, 16, 32, 64 */

typedef struct FormTable {
    const uint64_t *offsets;
    uint8_t lanes;          /* bits of the lane that it depends on */
    uint8_t shapes[WIDTHS]; /* FormShape + 1 of each width; 0: not looked at */
} FormTable;

/* Numbers of tables + 1, by what is in them. */
typedef struct FormNumbers {
    uint32_t *items;
    uint32_t count, capacity;
    const FormTables *of;
} FormNumbers;

struct FormTables {
    Arena *arena;
    unsigned threads;
    FormTable *tables;
    uint32_t count, capacity;
    FormNumbers numbers;
};

static uint64_t hash_offsets(const uint64_t *offsets, unsigned count) {
    uint64_t hash = 0x9e3779b97f4a7c15u;
    for (unsigned i = 0; i < count; i++)
        hash = (hash ^ offsets[i]) * 0xff51afd7ed558ccdu ^ hash >> 29;
    return hash ^ hash >> 32;
}

TABLE(form_numbers, FormNumbers, uint32_t, const uint64_t *, 64, *item, table->of->tables[*item - 1].offsets,
      hash_offsets(key, table->of->threads),
      memcmp(table->of->tables[*item - 1].offsets, key, sizeof *key * table->of->threads) == 0)

static unsigned lanes_of(const uint64_t *offsets, unsigned count) {
    unsigned lanes = 0;
    for (unsigned bit = 1; bit < FORM_LANES; bit *= 2)
        for (unsigned i = 0; i < count && !(lanes & bit); i++)
            lanes |= offsets[i] != offsets[i ^ bit] ? bit : 0;
    return lanes;
}

uint32_t form_table(FormTables *tables, const uint64_t *offsets) {
    uint32_t *number = form_numbers_put(tables->arena, &tables->numbers, offsets);
    if (!*number) {
        size_t size = sizeof *offsets * tables->threads;
        uint64_t *kept = arena_alloc(tables->arena, size);
        memcpy(kept, offsets, size);
        FormTable *table = ARENA_PUSH(tables->arena, tables->tables, tables->count, tables->capacity);
        *table = (FormTable){.offsets = kept, .lanes = (uint8_t)lanes_of(offsets, tables->threads)};
        *number = tables->count;
    }
    return *number - 1;
}

FormTables *form_tables(Arena *arena, unsigned threads) {
    FormTables *tables = ARENA_NEW(arena, FormTables);
    tables->arena = arena;
    tables->threads = threads;
    tables->numbers.of = tables;
    static const uint64_t none[FORM_MOST_THREADS];
    form_table(tables, none);
    return tables;
}

unsigned form_threads(const FormTables *tables) {
    return tables->threads;
}

const uint64_t *form_offsets(const FormTables *tables, uint32_t table) {
    return tables->tables[table].offsets;
}

bool form_is_uniform(const FormTables *tables, const Form *form) {
    return form->kind == FORM_TABLE && !tables->tables[form->table].lanes;
}

unsigned form_lanes(const FormTables *tables, const Form *form) {
    return form->kind == FORM_TABLE ? tables->tables[form->table].lanes : form->kind == FORM_NEVER ? 0 : form->lanes;
}

Form form_depending(Form form, unsigned lanes) {
    if (form.kind <= FORM_TABLE)
        return form;
    form.lanes &= lanes;
    if (!form.lanes) {
        Form uniform =
            form_uniform(form.width, form.kind == FORM_ANY ? SPAN_WARP : (FormSpan)form.span, form.zeros, form.ones);
        uniform.assumes = form.assumes;
        return uniform;
    }
    if (form.kind == FORM_ANY && !(form.lanes & (form.lanes - 1))) {
        form.kind = FORM_BITS;
        form.span = SPAN_WARP;
    }
    return form;
}

FormShape lanes_shape(const uint64_t offsets[FORM_LANES], unsigned width) {
    uint64_t mask = low_ones(width), first = offsets[0], step = offsets[1] - first;
    bool affine = true;
    for (unsigned lane = 0; lane < FORM_LANES; lane++) {
        /* Of the lane without its lowest bit, and that bit. */
        unsigned low = lane & -lane, rest = lane ^ low;
        uint64_t sum = offsets[rest] + offsets[low] - first;
        if (lane && (sum - offsets[lane]) & mask)
            return SHAPE_OTHER;
        affine = affine && ((lane * step + first - offsets[lane]) & mask) == 0;
    }
    return !affine ? SHAPE_BITS : step & mask ? SHAPE_AFFINE : SHAPE_UNIFORM;
}

FormShape offsets_shape(const FormTables *tables, const uint64_t *offsets, unsigned width) {
    FormShape worst = SHAPE_UNIFORM;
    for (unsigned i = 0; i < tables->threads && worst < SHAPE_OTHER; i += FORM_LANES) {
        FormShape own = lanes_shape(offsets + i, width);
        worst = own > worst ? own : worst;
    }
    return worst;
}

static FormShape table_shape(const FormTables *tables, uint32_t table, unsigned width) {
    unsigned which = width <= 1 ? 0 : width <= 8 ? 1 : width <= 16 ? 2 : width <= 32 ? 3 : 4;
    FormTable *of = &tables->tables[table];
    if (!of->shapes[which])
        of->shapes[which] = (uint8_t)(offsets_shape(tables, of->offsets, width) + 1);
    return (FormShape)(of->shapes[which] - 1);
}

FormShape form_shape(const FormTables *tables, const Form *form) {
    switch (form->kind) {
    case FORM_NEVER:
        return SHAPE_UNIFORM;
    case FORM_TABLE:
        return table_shape(tables, form->table, form->width);
    case FORM_AFFINE:
        return SHAPE_AFFINE;
    case FORM_BITS:
        return SHAPE_BITS;
    default:
        return SHAPE_OTHER;
    }
}

/* ---- Making forms ----------------------------------------------------------------------------------- */

Form form_any(unsigned width) {
    return (Form){.kind = FORM_ANY, .span = SPAN_WARP, .width = (uint8_t)width, .lanes = FORM_LANE_BITS};
}

Form form_number(unsigned width, uint64_t constant) {
    uint64_t mask = low_ones(width);
    return form_uniform(width, SPAN_GRID, ~constant & mask, constant & mask);
}

Form form_uniform(unsigned width, FormSpan span, uint64_t zeros, uint64_t ones) {
    bool wide = width > 64; /* of which the bits are not kept */
    uint64_t mask = low_ones(width);
    /* What is one constant is the same everywhere. */
    bool constant = !wide && (zeros | ones) == mask;
    return (Form){.kind = FORM_TABLE,
                  .span = (constant ? SPAN_GRID : span) & 15,
                  .width = (uint8_t)width,
                  .zeros = wide ? 0 : zeros,
                  .ones = wide ? 0 : ones};
}

Form form_based(FormTables *tables, const Form *base, const uint64_t *offsets) {
    uint64_t mask = low_ones(base->width), first = offsets[0] & mask, rest[FORM_MOST_THREADS];
    Bits sum = bits_add((Bits){base->zeros, base->ones}, bits_of(first, mask), 0, mask);
    for (unsigned i = 0; i < tables->threads; i++)
        rest[i] = (offsets[i] - first) & mask;
    Form form = form_uniform(base->width, base->span, sum.zeros, sum.ones);
    form.assumes = base->assumes;
    form.table = form_table(tables, rest);
    return form;
}

Form form_shaped(unsigned width, FormShape shape, FormSpan span, uint64_t zeros, uint64_t ones) {
    if (shape == SHAPE_UNIFORM)
        return form_uniform(width, span, zeros, ones);
    Form form = form_any(width);
    if (width <= 64) {
        form.zeros = zeros;
        form.ones = ones;
    }
    if (shape != SHAPE_OTHER) {
        form.kind = shape == SHAPE_AFFINE ? FORM_AFFINE : FORM_BITS;
        form.span = span & 15;
    }
    return form;
}

bool form_constant(const Form *form, uint64_t *value) {
    *value = form->ones;
    return !form->table && form_based_on_constant(form);
}

/* ---- Bits of lanes -------------------------------------------------------------------------------------- */

/* All bits above the greatest value there can be are zeros, if nothing wraps. */
static uint64_t bits_below_top(const FormTables *tables, const Form *form) {
    uint64_t mask = low_ones(form->width);
    const uint64_t *offsets = form_offsets(tables, form->table);
    __int128 least = 0, most = 0;
    for (unsigned i = 0; i < tables->threads; i++) {
        int64_t offset = sign_extended(offsets[i], form->width);
        least = offset < least ? offset : least;
        most = offset > most ? offset : most;
    }
    most += ~form->zeros & mask;
    if (least + form->ones < 0 || most > (__int128)mask)
        return mask;
    return most ? UINT64_MAX >> __builtin_clzll((uint64_t)most) : 0;
}

/* A base without its known ones, and threads with them: where no unknown bit of the one meets a bit of the others, sum
 * and bits are the same; from the lowest bit where they meet on, nothing is told. */
static void view_table(const FormTables *tables, const Form *form, FormView *view) {
    uint64_t mask = low_ones(form->width), met = 0;
    const uint64_t *offsets = form_offsets(tables, form->table);
    view->vary = ~(form->zeros | form->ones) & mask;
    view->count = tables->threads;
    for (unsigned i = 0; i < view->count; i++) {
        view->fixed[i] = (offsets[i] + form->ones) & mask;
        met |= view->fixed[i] & view->vary;
    }
    if (!met)
        return;
    uint64_t kept = (met & -met) - 1;
    view->mess = bits_below_top(tables, form) & ~kept;
    view->vary &= kept;
    for (unsigned i = 0; i < view->count; i++)
        view->fixed[i] &= kept;
}

void form_view(const FormTables *tables, const Form *form, FormView *view) {
    view->vary = view->mess = 0;
    if (form->kind == FORM_TABLE && form->table) {
        view_table(tables, form, view);
        return;
    }
    uint64_t unknown = ~(form->zeros | form->ones) & low_ones(form->width);
    *(form->kind == FORM_TABLE ? &view->vary : &view->mess) = unknown;
    view->count = 1;
    view->fixed[0] = form->ones;
}

static Bits known_of_view(const FormView *view, unsigned width) {
    uint64_t sure = ~(view->vary | view->mess) & low_ones(width);
    Bits known = {sure, sure};
    for (unsigned i = 0; i < view->count; i++) {
        known.ones &= view->fixed[i];
        known.zeros &= ~view->fixed[i];
    }
    return known;
}

Form form_of_view(FormTables *tables, unsigned width, FormSpan span, unsigned assumes, const FormView *view) {
    uint64_t mask = low_ones(width);
    Form form;
    if (view->mess) {
        Bits known = known_of_view(view, width);
        form = form_shaped(width, SHAPE_OTHER, span, known.zeros, known.ones);
    } else if (view->count == 1) {
        form = form_uniform(width, span, ~(view->vary | view->fixed[0]) & mask, view->fixed[0] & mask);
    } else {
        /* Of base all bits but those that vary are zeros: then the threads' bits are their offsets. */
        Form base = form_uniform(width, span, ~view->vary & mask, 0);
        form = form_based(tables, &base, view->fixed);
    }
    form.assumes = (uint8_t)assumes;
    return form;
}

void form_known(const FormTables *tables, const Form *form, uint64_t *zeros, uint64_t *ones) {
    Bits known = {form->zeros, form->ones};
    if (form->kind == FORM_TABLE && form->table) {
        FormView view;
        form_view(tables, form, &view);
        known = known_of_view(&view, form->width);
    }
    *zeros = known.zeros;
    *ones = known.ones;
}

/* ---- Joins --------------------------------------------------------------------------------------------------- */

static FormShape worse_shape(FormShape a, FormShape b) {
    return a > b ? a : b;
}

static FormSpan worse_span(FormSpan a, FormSpan b) {
    return a > b ? a : b;
}

/* What the lanes of both have in common, as a shape without a table. */
static Form join_shapes(const FormTables *tables, const Form *a, const Form *b, FormShape shape, FormSpan span) {
    Bits of_a, of_b;
    form_known(tables, a, &of_a.zeros, &of_a.ones);
    form_known(tables, b, &of_b.zeros, &of_b.ones);
    Bits common = bits_common(of_a, of_b);
    return form_shaped(a->width, shape, span, common.zeros, common.ones);
}

/* The same constants in all lanes: then it does not matter which it is. */
static bool same_constants(const Form *a, const Form *b) {
    return form_based_on_constant(a) && form_based_on_constant(b) && a->ones == b->ones && a->table == b->table;
}

Form form_join(const FormTables *tables, const Form *a, const Form *b, FormSpan control) {
    if (a->kind == FORM_NEVER || b->kind == FORM_NEVER)
        return a->kind == FORM_NEVER ? *b : *a;
    Form form;
    FormSpan span = worse_span(worse_span(a->span, b->span), control);
    if (same_constants(a, b)) {
        form = *a;
    } else if (control == SPAN_NONE) {
        form = join_shapes(tables, a, b, SHAPE_OTHER, SPAN_WARP);
    } else if (a->kind == FORM_TABLE && b->kind == FORM_TABLE && a->table == b->table) {
        form = form_uniform(a->width, span, a->zeros & b->zeros, a->ones & b->ones);
        form.table = a->table;
    } else {
        FormShape shape = worse_shape(form_shape(tables, a), form_shape(tables, b));
        form = join_shapes(tables, a, b, shape, a->table || b->table ? SPAN_WARP : span);
        form = form_depending(form, form_lanes(tables, a) | form_lanes(tables, b));
    }
    form.assumes = a->assumes | b->assumes;
    return form;
}

Form form_narrowed(const FormTables *tables, const Form *form, FormSpan span) {
    Form narrowed = *form;
    if (form->kind == FORM_ANY && span == SPAN_NONE)
        narrowed.lanes = FORM_LANE_BITS;
    if (form->kind == FORM_NEVER || form->kind == FORM_ANY || form_based_on_constant(form) || span <= form->span)
        return narrowed;
    if (span != SPAN_NONE) {
        narrowed.span = span & 15;
        return narrowed;
    }
    Bits known;
    form_known(tables, form, &known.zeros, &known.ones);
    narrowed = form_shaped(form->width, SHAPE_OTHER, SPAN_WARP, known.zeros, known.ones);
    narrowed.assumes = form->assumes;
    return narrowed;
}

/* ---- For people ------------------------------------------------------------------------------------------------ */

static void print_number(uint64_t value, unsigned width, Text *to) {
    int64_t number = sign_extended(value, width);
    if (number > -0x10000 && number < 0x10000)
        text_addf(to, "%" PRId64, number);
    else
        text_addf(to, "0x%" PRIx64, value);
}

static void print_base(const Form *form, Text *to) {
    static const char *const spans[] = {"grid", "cluster", "cta", "warp"};
    if (form_based_on_constant(form)) {
        print_number(form->ones, form->width, to);
        return;
    }
    text_addf(to, "uniform(%s", spans[form->span]);
    if (form->zeros || form->ones)
        text_addf(to, ", ones 0x%" PRIx64 " of 0x%" PRIx64, form->ones, form->zeros | form->ones);
    text_addf(to, ")");
}

/* Of a warp's lanes, from its first on. */
static void print_lanes(const uint64_t *offsets, unsigned width, Text *to) {
    FormShape shape = lanes_shape(offsets, width);
    if (shape == SHAPE_AFFINE) {
        text_addf(to, "lane * ");
        print_number((offsets[1] - offsets[0]) & low_ones(width), width, to);
    } else if (shape != SHAPE_UNIFORM) {
        text_addf(to, shape == SHAPE_BITS ? "bits [" : "table [");
        for (unsigned i = shape == SHAPE_BITS ? 1 : 0, first = i; i < FORM_LANES;
             i = shape == SHAPE_BITS ? i * 2 : i + 1) {
            text_addf(to, i > first ? " " : "");
            print_number((offsets[i] - offsets[0]) & low_ones(width), width, to);
        }
        text_addf(to, "]");
    } else {
        text_addf(to, "0");
    }
}

/* Of each warp, if they differ: where it begins, and its lanes. */
static void print_offsets(const FormTables *tables, const Form *form, Text *to) {
    const uint64_t *offsets = form_offsets(tables, form->table);
    bool starts = false, lanes = false;
    for (unsigned i = 0; i < tables->threads; i++) {
        unsigned first = i & ~(FORM_LANES - 1u);
        starts |= offsets[first] != 0;
        lanes |= ((offsets[i] - offsets[first] - offsets[i - first]) & low_ones(form->width)) != 0;
    }
    if (tables->tables[form->table].lanes || lanes) {
        text_addf(to, " + ");
        print_lanes(offsets, form->width, to);
    }
    for (unsigned i = FORM_LANES; starts && i < tables->threads; i += FORM_LANES) {
        text_addf(to, i > FORM_LANES ? ", " : "; warps from ");
        print_number(offsets[i], form->width, to);
        if (lanes) {
            text_addf(to, " + ");
            print_lanes(offsets + i, form->width, to);
        }
    }
}

void form_print(const FormTables *tables, const Form *form, Text *to) {
    static const char *const names[] = {"never", "", "affine", "affine in bits", "any"};
    text_addf(to, "%s", names[form->kind]);
    if (form->kind == FORM_TABLE) {
        print_base(form, to);
        if (form->table)
            print_offsets(tables, form, to);
    } else if (form->zeros || form->ones) {
        text_addf(to, "(ones 0x%" PRIx64 " of 0x%" PRIx64 ")", form->ones, form->zeros | form->ones);
    }
    if (form->assumes & FORM_NO_WRAP)
        text_addf(to, ", if nothing wraps");
    if (form->assumes & FORM_STEADY)
        text_addf(to, ", if memory is steady");
}
