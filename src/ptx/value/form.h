/* What is known of a value across the lanes of a warp: its form.
 *
 *     value(thread) = base + offset(thread)    modulo 2^width
 *
 * base is the same in all lanes that run the instruction together; of base some bits may be known. offset is a table of
 * constants, one for each thread of the CTA, with that of thread 0 being 0; if it is not known how many threads a CTA
 * has, of 32, which are those of any warp. Tables are kept once (FormTables), so that a form is a few words. A table
 * that is the same number in each warp makes the value uniform; one with a single stride in each warp makes it affine
 * in the lane; else it is affine in the bits of the lane, or any table. Where offsets are the same multiple or sum of
 * unknown uniform values, the strides are not known, but the shape is: FORM_AFFINE and FORM_BITS without a table. All
 * operations are exact or say less: what cannot be told is FORM_ANY.
 *
 * Ops of the IR have one value for all threads, and no lanes: what is known of such a number is another lattice, of
 * bounds and remainders (model/number/known.h). Here a bound is a power of two at best, and there nothing is said of
 * single bits or of threads; what both compute with is base/number.h. */
#ifndef PTX_VALUE_FORM_H
#define PTX_VALUE_FORM_H

#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

/* From much known to little; the join of two is at least as low as both. */
typedef enum FormKind {
    FORM_NEVER,  /* not computed yet */
    FORM_TABLE,  /* base + a table of constants; uniform if the table is 0 */
    FORM_AFFINE, /* v(lane) = v(0) + lane * s; s is the same in all lanes */
    FORM_BITS,   /* v(lane) = v(0) + the sum of s[b] over the bits b of lane */
    FORM_ANY,
} FormKind;

/* Over which threads base, and unknown strides, are the same. ORDER: from many to few. */
typedef enum FormSpan {
    SPAN_GRID,
    SPAN_CLUSTER,
    SPAN_CTA,
    SPAN_WARP,
    SPAN_NONE, /* of control: not even the threads of a warp go the same way. No form has it */
} FormSpan;

/* What a form takes for granted. */
enum {
    FORM_NO_WRAP = 1, /* no index wraps between the lanes of a warp where it is extended: see PtxValues.assumed */
    FORM_STEADY = 2,  /* what lanes load together, by a weak load of one address, nothing changes in between */
};

typedef struct Form {
    uint8_t kind : 4, span : 4;
    uint8_t width;   /* 1 (a predicate), 8, 16, 32, 64, 128 */
    uint8_t assumes; /* FORM_NO_WRAP | FORM_STEADY */
    uint8_t lanes;   /* not of FORM_TABLE: lanes with the same of these bits of their number have the same value */
    uint32_t table;  /* FORM_TABLE; 0: all zeros; then base alone says over which threads it is the same */
    /* Bits that are known: FORM_TABLE: of base; all of them: it is a constant. Else: of the value in every lane. */
    uint64_t zeros, ones;
} Form;

enum { FORM_LANES = 32, FORM_MOST_THREADS = 1024, FORM_LANE_BITS = 31 };

/* ---- Tables ---- */

typedef struct FormTables FormTables;
/* For CTAs of so many threads: a multiple of 32. */
FormTables *form_tables(Arena *arena, unsigned threads);
unsigned form_threads(const FormTables *tables);
/* The number of a table with these offsets, one for each thread; that of zeros is 0. */
uint32_t form_table(FormTables *tables, const uint64_t *offsets);
const uint64_t *form_offsets(const FormTables *tables, uint32_t table);

/* How offsets depend on the lane. ORDER: each is a case of the next. */
typedef enum FormShape { SHAPE_UNIFORM, SHAPE_AFFINE, SHAPE_BITS, SHAPE_OTHER } FormShape;
FormShape lanes_shape(const uint64_t offsets[FORM_LANES], unsigned width);
/* The worst of all warps. */
FormShape offsets_shape(const FormTables *tables, const uint64_t *offsets, unsigned width);
/* Of any form; that of FORM_ANY is SHAPE_OTHER. */
FormShape form_shape(const FormTables *tables, const Form *form);

/* ---- Making forms ---- */

Form form_any(unsigned width);
Form form_number(unsigned width, uint64_t constant);
/* The same in the lanes, with some known bits. */
Form form_uniform(unsigned width, FormSpan span, uint64_t zeros, uint64_t ones);
/* A uniform form + these offsets. */
Form form_based(FormTables *tables, const Form *base, const uint64_t *offsets);
/* A shape without a table; with SHAPE_OTHER it is FORM_ANY. zeros, ones: bits of the value in every lane. */
Form form_shaped(unsigned width, FormShape shape, FormSpan span, uint64_t zeros, uint64_t ones);

/* Whether it is the same in all lanes of a warp. */
bool form_is_uniform(const FormTables *tables, const Form *form);
/* Over which threads it is the same, if it is uniform; else over which base and strides are. */
static inline FormSpan form_span(const Form *form) {
    return form->table ? SPAN_WARP : (FormSpan)form->span;
}
/* Bits of the lane's number that it depends on. */
unsigned form_lanes(const FormTables *tables, const Form *form);
/* What depends on no more than these bits: on none it is uniform, on one affine in bits. */
Form form_depending(Form form, unsigned lanes);
/* Whether it is one constant in all threads. */
bool form_constant(const Form *form, uint64_t *value);
/* Whether base is known, so that every thread's value is. */
static inline bool form_based_on_constant(const Form *form) {
    return form->kind == FORM_TABLE && form->width <= 64 && (form->zeros | form->ones) == low_ones(form->width);
}
static inline bool form_equal(const Form *a, const Form *b) {
    return a->kind == b->kind && a->span == b->span && a->width == b->width && a->assumes == b->assumes &&
           a->lanes == b->lanes && a->table == b->table && a->zeros == b->zeros && a->ones == b->ones;
}

/* ---- Bits of lanes ---- */

/* A value as bits: `vary` are those that base has, which are not known, but the same in all lanes; `mess` those of
 * which nothing is told; the others are known of each thread. */
typedef struct FormView {
    uint64_t vary, mess;
    unsigned count;                    /* of fixed: 1 if it is the same for all threads */
    uint64_t fixed[FORM_MOST_THREADS]; /* bits of neither */
} FormView;
static inline uint64_t view_fixed(const FormView *view, unsigned thread) {
    return view->fixed[view->count > 1 ? thread : 0];
}
void form_view(const FormTables *tables, const Form *form, FormView *view);
/* The form with these bits; span and assumes are of what it comes from. */
Form form_of_view(FormTables *tables, unsigned width, FormSpan span, unsigned assumes, const FormView *view);
/* Bits that are known of the value in every lane. */
void form_known(const FormTables *tables, const Form *form, uint64_t *zeros, uint64_t *ones);

/* ---- Joins ---- */

/* One of two, and which it is depends on what is the same over `control`; SPAN_NONE: lanes may choose differently. */
Form form_join(const FormTables *tables, const Form *a, const Form *b, FormSpan control);
/* What is left of it when base is the same over `span` only. */
Form form_narrowed(const FormTables *tables, const Form *form, FormSpan span);

/* For people: "uniform cta 32k+5", "lane * 4 + uniform warp", "any". */
void form_print(const FormTables *tables, const Form *form, Text *to);

#endif
