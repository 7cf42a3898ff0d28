/* Special registers: over which threads they are the same; and where the threads of a warp lie in their CTA. */
#include "ptx/value/internal.h"

PtxBlockShape block_shape(const PtxFlow *flow, const PtxBlockShape *given) {
    if (given && given->x)
        return *given;
    const PtxModule *module = flow->module;
    const PtxFunction *function = &module->functions[flow->function];
    PtxBlockShape shape = {0, 0, 0};
    for (uint32_t i = function->begin; i < function->end; i++) {
        const PtxStatement *statement = &module->statements[i];
        if (statement->kind == PTX_OPEN)
            break;
        if (statement->kind != PTX_DIRECTIVE || !str_is(ptx_name(module, statement->what), ".reqntid") ||
            !statement->count)
            continue;
        const PtxOperand *sizes = module->operands + statement->first;
        shape.x = (uint32_t)sizes[0].value;
        shape.y = statement->count > 1 ? (uint32_t)sizes[1].value : 1;
        shape.z = statement->count > 2 ? (uint32_t)sizes[2].value : 1;
    }
    return shape;
}

/* The part of a thread's place, by its number in the CTA. */
static uint32_t place_of(const PtxBlockShape *shape, unsigned axis, uint32_t thread) {
    if (axis == 0)
        return thread % shape->x;
    return axis == 1 ? thread / shape->x % shape->y : thread / shape->x / shape->y;
}

typedef struct Places {
    bool any, same;
    FormShape shape;
    uint64_t base_zeros, base_ones, zeros, ones; /* of 32 bits */
    uint64_t offsets[FORM_LANES];
} Places;

static void note_warp(Places *places, const PtxBlockShape *shape, unsigned axis, uint32_t first, uint32_t threads) {
    uint32_t base = place_of(shape, axis, first);
    uint64_t offsets[FORM_LANES];
    places->base_zeros &= ~base;
    places->base_ones &= base;
    for (uint32_t lane = 0; lane < FORM_LANES; lane++) {
        if (places->any && first + lane >= threads) { /* there is no such thread */
            offsets[lane] = places->offsets[lane];
            continue;
        }
        uint32_t place = place_of(shape, axis, first + lane);
        places->zeros &= ~place;
        places->ones &= place;
        offsets[lane] = (place - base) & UINT32_MAX;
    }
    if (!places->any)
        memcpy(places->offsets, offsets, sizeof offsets);
    places->same = places->same && memcmp(places->offsets, offsets, sizeof offsets) == 0;
    places->any = true;
    FormShape own = offsets_shape(offsets, 32);
    places->shape = own > places->shape ? own : places->shape;
}

/* All warps have to have the same table; else what is left is the shape that all have. */
static Form place_form(const PtxValues *values, unsigned axis) {
    const PtxBlockShape *shape = &values->shape;
    uint64_t threads = (uint64_t)shape->x * shape->y * shape->z;
    Places places = {
        .same = true, .base_zeros = UINT32_MAX, .base_ones = UINT32_MAX, .zeros = UINT32_MAX, .ones = UINT32_MAX};
    if (threads > 1024)
        return form_any(32);
    for (uint32_t first = 0; first < threads; first += FORM_LANES)
        note_warp(&places, shape, axis, first, (uint32_t)threads);
    if (!places.same)
        return form_shaped(32, places.shape, SPAN_WARP, places.zeros, places.ones);
    Form base = form_uniform(32, SPAN_WARP, places.base_zeros, places.base_ones);
    return form_based(values->tables, &base, places.offsets);
}

/* A warp is a part of one row, which is a multiple of 32 threads long. */
static Form row_form(const PtxValues *values, unsigned axis) {
    uint64_t lanes[FORM_LANES], above = UINT32_MAX & ~UINT64_C(1023);
    Form base = form_uniform(32, SPAN_WARP, axis ? above : above | 31, 0);
    for (unsigned lane = 0; lane < FORM_LANES; lane++)
        lanes[lane] = axis ? 0 : lane;
    return form_based(values->tables, &base, lanes);
}

static Form thread_form(const PtxValues *values, unsigned axis) {
    const PtxBlockShape *shape = &values->shape;
    if (axis > 2)
        return form_number(32, 0);
    if (shape->x && shape->y && shape->z)
        return place_form(values, axis);
    if (shape->x % FORM_LANES)
        return form_any(32);
    return row_form(values, axis);
}

static Form shape_form(const PtxValues *values, unsigned axis) {
    const uint32_t sizes[4] = {values->shape.x, values->shape.y, values->shape.z, 0};
    if (axis > 2 || sizes[axis])
        return form_number(32, axis > 2 ? 0 : sizes[axis]);
    uint64_t above = UINT32_MAX & ~UINT64_C(2047);
    return form_uniform(32, SPAN_GRID, axis ? above : above | 31, 0);
}

static Form lanes_form(const PtxValues *values, Str which) {
    uint64_t masks[FORM_LANES];
    for (unsigned lane = 0; lane < FORM_LANES; lane++) {
        uint64_t own = UINT64_C(1) << lane, lower = own - 1, mask = lane;
        if (str_is(which, "lanes-eq"))
            mask = own;
        else if (str_is(which, "lanes-le"))
            mask = lower | own;
        else if (str_is(which, "lanes-lt"))
            mask = lower;
        else if (str_is(which, "lanes-ge"))
            mask = UINT32_MAX & ~lower;
        else if (str_is(which, "lanes-gt"))
            mask = UINT32_MAX & ~(lower | own);
        masks[lane] = mask;
    }
    Form zero = form_number(32, 0);
    return form_based(values->tables, &zero, masks);
}

Form special_form(const PtxValues *values, const PtxOperand *operand) {
    static const char *const spans[] = {"grid", "cluster", "cta", "warp"};
    const PtxSpecial *special = ptx_special_at(operand->a);
    Str varies = str_of(special->varies);
    unsigned axis = operand->part >= PTX_X && operand->part <= PTX_W ? operand->part - PTX_X : 0;
    unsigned width = special->bits > 32 ? 64 : 32;
    if (special->parts && operand->part == PTX_WHOLE)
        return form_any(width);
    if (str_is(varies, "thread"))
        return thread_form(values, axis);
    if (str_is(varies, "shape"))
        return shape_form(values, axis);
    if (str_starts(varies, STR("lane")))
        return lanes_form(values, varies);
    for (unsigned i = 0; i < sizeof spans / sizeof *spans; i++)
        if (str_is(varies, spans[i]))
            return form_uniform(width, (FormSpan)i, form_mask(width) & ~form_mask(special->bits), 0);
    return form_any(width);
}
