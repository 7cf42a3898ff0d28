/* Forms: tables that are kept once, the shapes of offsets, what two forms have in common. */
#include "ptx/value/form.h"

#include "ptx/value/bits.h"

#include <inttypes.h>

/* ---- Tables -------------------------------------------------------------------------------------- */

typedef struct Table {
    uint64_t offsets[FORM_LANES];
} Table;

struct FormTables {
    Arena *arena;
    Table *tables;
    uint32_t count, capacity;
    uint32_t *slots; /* numbers of tables + 1, by their hash */
    uint32_t slot_count;
};

static uint64_t hash_offsets(const uint64_t offsets[FORM_LANES]) {
    uint64_t hash = 0x9e3779b97f4a7c15u;
    for (unsigned i = 0; i < FORM_LANES; i++)
        hash = (hash ^ offsets[i]) * 0xff51afd7ed558ccdu ^ hash >> 29;
    return hash ^ hash >> 32;
}

static uint32_t *find_slot(FormTables *tables, const uint64_t offsets[FORM_LANES]) {
    uint64_t at = hash_offsets(offsets);
    for (;; at++) {
        uint32_t *slot = &tables->slots[at & (tables->slot_count - 1)];
        if (!*slot || memcmp(tables->tables[*slot - 1].offsets, offsets, sizeof(Table)) == 0)
            return slot;
    }
}

static void grow_slots(FormTables *tables) {
    tables->slot_count = tables->slot_count ? tables->slot_count * 2 : 64;
    tables->slots = ARENA_ARRAY(tables->arena, uint32_t, tables->slot_count);
    for (uint32_t i = 0; i < tables->count; i++)
        *find_slot(tables, tables->tables[i].offsets) = i + 1;
}

uint32_t form_table(FormTables *tables, const uint64_t offsets[FORM_LANES]) {
    if (tables->count * 2 >= tables->slot_count)
        grow_slots(tables);
    uint32_t *slot = find_slot(tables, offsets);
    if (!*slot) {
        Table *table = ARENA_PUSH(tables->arena, tables->tables, tables->count, tables->capacity);
        memcpy(table->offsets, offsets, sizeof *table);
        *slot = tables->count;
    }
    return *slot - 1;
}

FormTables *form_tables(Arena *arena) {
    FormTables *tables = ARENA_NEW(arena, FormTables);
    tables->arena = arena;
    static const uint64_t none[FORM_LANES];
    form_table(tables, none);
    return tables;
}

const uint64_t *form_offsets(const FormTables *tables, uint32_t table) {
    return tables->tables[table].offsets;
}

FormShape offsets_shape(const uint64_t offsets[FORM_LANES], unsigned width) {
    uint64_t mask = form_mask(width);
    bool affine = true, bits = true;
    for (unsigned lane = 0; lane < FORM_LANES && bits; lane++) {
        uint64_t sum = 0;
        for (unsigned bit = 1; bit < FORM_LANES; bit *= 2)
            sum += lane & bit ? offsets[bit] : 0;
        bits = ((sum - offsets[lane]) & mask) == 0;
        affine = affine && ((lane * offsets[1] - offsets[lane]) & mask) == 0;
    }
    if (!bits)
        return SHAPE_OTHER;
    return !affine ? SHAPE_BITS : offsets[1] & mask ? SHAPE_AFFINE : SHAPE_UNIFORM;
}

FormShape form_shape(const FormTables *tables, const Form *form) {
    switch (form->kind) {
    case FORM_NEVER:
        return SHAPE_UNIFORM;
    case FORM_TABLE:
        return form->table ? offsets_shape(form_offsets(tables, form->table), form->width) : SHAPE_UNIFORM;
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
    return (Form){.kind = FORM_ANY, .span = SPAN_WARP, .width = (uint8_t)width};
}

Form form_number(unsigned width, uint64_t constant) {
    uint64_t mask = form_mask(width);
    return form_uniform(width, SPAN_GRID, ~constant & mask, constant & mask);
}

Form form_uniform(unsigned width, FormSpan span, uint64_t zeros, uint64_t ones) {
    bool wide = width > 64; /* of which the bits are not kept */
    uint64_t mask = form_mask(width);
    /* What is one constant is the same everywhere. */
    bool constant = !wide && (zeros | ones) == mask;
    return (Form){.kind = FORM_TABLE,
                  .span = (uint8_t)(constant ? SPAN_GRID : span),
                  .width = (uint8_t)width,
                  .zeros = wide ? 0 : zeros,
                  .ones = wide ? 0 : ones};
}

Form form_based(FormTables *tables, const Form *base, const uint64_t offsets[FORM_LANES]) {
    uint64_t mask = form_mask(base->width), first = offsets[0] & mask, rest[FORM_LANES];
    Bits sum = bits_add((Bits){base->zeros, base->ones}, bits_of(first, mask), 0, mask);
    for (unsigned lane = 0; lane < FORM_LANES; lane++)
        rest[lane] = (offsets[lane] - first) & mask;
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
        form.span = (uint8_t)span;
    }
    return form;
}

bool form_constant(const Form *form, uint64_t *value) {
    *value = form->ones;
    return !form->table && form_based_on_constant(form);
}

/* ---- Bits of lanes -------------------------------------------------------------------------------------- */

static int64_t as_signed(uint64_t value, unsigned width) {
    return width >= 64 ? (int64_t)value : (int64_t)(value << (64 - width)) >> (64 - width);
}

/* All bits above the greatest value there can be are zeros, if no lane wraps. */
static uint64_t bits_below_top(const Form *form, const uint64_t offsets[FORM_LANES]) {
    uint64_t mask = form_mask(form->width);
    __int128 least = 0, most = 0;
    for (unsigned lane = 0; lane < FORM_LANES; lane++) {
        int64_t offset = as_signed(offsets[lane], form->width);
        least = offset < least ? offset : least;
        most = offset > most ? offset : most;
    }
    most += ~form->zeros & mask;
    if (least + form->ones < 0 || most > (__int128)mask)
        return mask;
    return most ? UINT64_MAX >> __builtin_clzll((uint64_t)most) : 0;
}

/* A base without its known ones, and lanes with them: where no unknown bit of the one meets a bit of the others, sum
 * and bits are the same; from the lowest bit where they meet on, nothing is told. */
static void view_table(const FormTables *tables, const Form *form, FormView *view) {
    uint64_t mask = form_mask(form->width), met = 0;
    const uint64_t *offsets = form_offsets(tables, form->table);
    view->vary = ~(form->zeros | form->ones) & mask;
    for (unsigned lane = 0; lane < FORM_LANES; lane++) {
        view->fixed[lane] = (offsets[lane] + form->ones) & mask;
        met |= view->fixed[lane] & view->vary;
    }
    if (!met)
        return;
    view->mess = bits_below_top(form, offsets) & ~((met & -met) - 1);
    uint64_t kept = (met & -met) - 1;
    view->vary &= kept;
    for (unsigned lane = 0; lane < FORM_LANES; lane++)
        view->fixed[lane] &= kept;
}

void form_view(const FormTables *tables, const Form *form, FormView *view) {
    view->vary = view->mess = 0;
    if (form->kind == FORM_TABLE && form->table) {
        view_table(tables, form, view);
        return;
    }
    uint64_t unknown = ~(form->zeros | form->ones) & form_mask(form->width);
    *(form->kind == FORM_TABLE ? &view->vary : &view->mess) = unknown;
    for (unsigned lane = 0; lane < FORM_LANES; lane++)
        view->fixed[lane] = form->ones;
}

static Bits known_of_view(const FormView *view, unsigned width) {
    uint64_t sure = ~(view->vary | view->mess) & form_mask(width);
    Bits known = {sure, sure};
    for (unsigned lane = 0; lane < FORM_LANES; lane++) {
        known.ones &= view->fixed[lane];
        known.zeros &= ~view->fixed[lane];
    }
    return known;
}

Form form_of_view(FormTables *tables, unsigned width, FormSpan span, unsigned assumes, const FormView *view) {
    uint64_t mask = form_mask(width);
    Form form;
    if (view->mess) {
        Bits known = known_of_view(view, width);
        form = form_shaped(width, SHAPE_OTHER, span, known.zeros, known.ones);
    } else {
        /* Of base all bits but those that vary are zeros: then the lanes are their offsets. */
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
        form = join_shapes(tables, a, b, shape, span);
    }
    form.assumes = a->assumes | b->assumes;
    return form;
}

Form form_narrowed(const FormTables *tables, const Form *form, FormSpan span) {
    Form narrowed = *form;
    if (form->kind == FORM_NEVER || form->kind == FORM_ANY || form_based_on_constant(form) || span <= form->span)
        return narrowed;
    if (span != SPAN_NONE) {
        narrowed.span = (uint8_t)span;
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
    int64_t number = as_signed(value, width);
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

static void print_offsets(const uint64_t offsets[FORM_LANES], unsigned width, Text *to) {
    FormShape shape = offsets_shape(offsets, width);
    if (shape == SHAPE_AFFINE) {
        text_addf(to, " + lane * ");
        print_number(offsets[1], width, to);
        return;
    }
    text_addf(to, shape == SHAPE_BITS ? " + bits [" : " + table [");
    for (unsigned i = shape == SHAPE_BITS ? 1 : 0; i < FORM_LANES; i = shape == SHAPE_BITS ? i * 2 : i + 1) {
        text_addf(to, i > 1 || (i && shape != SHAPE_BITS) ? " " : "");
        print_number(offsets[i], width, to);
    }
    text_addf(to, "]");
}

void form_print(const FormTables *tables, const Form *form, Text *to) {
    static const char *const names[] = {"never", "", "affine", "affine in bits", "any"};
    text_addf(to, "%s", names[form->kind]);
    if (form->kind == FORM_TABLE) {
        print_base(form, to);
        if (form->table)
            print_offsets(form_offsets(tables, form->table), form->width, to);
    } else if (form->zeros || form->ones) {
        text_addf(to, "(ones 0x%" PRIx64 " of 0x%" PRIx64 ")", form->ones, form->zeros | form->ones);
    }
    if (form->assumes & FORM_NO_WRAP)
        text_addf(to, ", if nothing wraps");
    if (form->assumes & FORM_STEADY)
        text_addf(to, ", if memory is steady");
}
