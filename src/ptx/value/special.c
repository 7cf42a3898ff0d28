/* Special registers: over which threads they are the same; and where the threads of a warp lie in their CTA. */
#include "ptx/value/internal.h"

PtxBlockShape ptx_block_shape(const PtxModule *module, uint32_t function) {
    uint32_t sizes[3];
    if (!ptx_header_numbers(module, function, ".reqntid", sizes))
        return (PtxBlockShape){0};
    return (PtxBlockShape){.x = sizes[0], .y = sizes[1], .z = sizes[2]};
}

PtxBlockShape block_shape(const PtxFlow *flow, const PtxBlockShape *given) {
    if (given && given->x)
        return *given;
    PtxBlockShape shape = ptx_block_shape(flow->module, flow->function);
    shape.rows = given ? given->rows : ROWS_WHOLE;
    shape.unsteady = given && given->unsteady;
    return shape;
}

unsigned shape_threads(const PtxBlockShape *shape) {
    uint64_t threads = (uint64_t)shape->x * shape->y * shape->z;
    return threads > FORM_MOST_THREADS ? 0 : (unsigned)threads;
}

/* The part of a thread's place, by its number in the CTA. */
static uint32_t place_of(const PtxBlockShape *shape, unsigned axis, uint32_t thread) {
    if (axis == 0)
        return thread % shape->x;
    return axis == 1 ? thread / shape->x % shape->y : thread / shape->x / shape->y;
}

/* Where each thread lies is known; of threads that are not there anything may be said. */
static Form place_form(const PtxValues *values, unsigned axis) {
    uint64_t places[FORM_MOST_THREADS];
    for (uint32_t i = 0; i < form_threads(values->tables); i++)
        places[i] = place_of(&values->shape, axis, i);
    Form zero = form_number(32, 0);
    return form_based(values->tables, &zero, places);
}

/* A warp is a part of one row, and begins at a multiple of 32 threads of it. */
static Form row_form(const PtxValues *values, unsigned axis) {
    uint64_t lanes[FORM_MOST_THREADS], above = UINT32_MAX & ~UINT64_C(1023);
    Form base = form_uniform(32, SPAN_WARP, axis ? above : above | 31, 0);
    for (unsigned i = 0; i < form_threads(values->tables); i++)
        lanes[i] = axis ? 0 : i % FORM_LANES;
    return form_based(values->tables, &base, lanes);
}

static Form thread_form(const PtxValues *values, unsigned axis) {
    const PtxBlockShape *shape = &values->shape;
    if (axis > 2)
        return form_number(32, 0);
    if (shape_threads(shape))
        return place_form(values, axis);
    if (shape->x % FORM_LANES || shape->rows == ROWS_ANY)
        return form_any(32);
    return row_form(values, axis);
}

static Form shape_form(const PtxValues *values, unsigned axis) {
    const uint32_t sizes[4] = {values->shape.x, values->shape.y, values->shape.z, 0};
    if (axis > 2 || sizes[axis])
        return form_number(32, axis > 2 ? 0 : sizes[axis]);
    uint64_t above = UINT32_MAX & ~UINT64_C(2047);
    return form_uniform(32, SPAN_GRID, axis || values->shape.rows ? above : above | 31, 0);
}

static Form lanes_form(const PtxValues *values, Str which) {
    uint64_t masks[FORM_MOST_THREADS];
    for (unsigned i = 0; i < form_threads(values->tables); i++) {
        unsigned lane = i % FORM_LANES;
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
        masks[i] = mask;
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
            return form_uniform(width, (FormSpan)i, low_ones(width) & ~low_ones(special->bits), 0);
    return form_any(width);
}
