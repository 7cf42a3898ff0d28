/* Shifts through integer arithmetic: exact where the result is linear in n, else loose. Integers are taken not to wrap
 * around. */
#include "check/prove/shift.h"

static const Shift loose = {.kind = SHIFT_LOOSE}, none = {.kind = SHIFT_EXACT};

int64_t shift_divisor(int64_t a, int64_t b) {
    a = a < 0 ? -a : a;
    b = b < 0 ? -b : b;
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

bool shifts_are_none(const ShiftLanes *lanes, const Shifts *shifts) {
    for (uint32_t i = 0; i < lanes->count; i++)
        if (!shift_is_none(shifts->lanes[i]))
            return false;
    return true;
}

bool shifts_are_zero(const ShiftLanes *lanes, const Shifts *shifts) {
    for (uint32_t i = 0; i < lanes->count; i++)
        if (!shift_is_zero(shifts->lanes[i]))
            return false;
    return true;
}

int64_t shift_ends(int64_t a, int64_t b) {
    return a && b ? (a < b ? a : b) : a + b;
}

Shifts shifts_loose(const ShiftLanes *lanes) {
    Shifts shifts = {0};
    for (uint32_t i = 0; i < lanes->count; i++)
        shifts.lanes[i] = loose;
    return shifts;
}

Shift shift_add(Shift a, Shift b) {
    Shift sum = {.ends = shift_ends(a.ends, b.ends)};
    if (a.kind == SHIFT_LOOSE || b.kind == SHIFT_LOOSE)
        return loose;
    if (shift_is_zero(a) || shift_is_zero(b)) {
        const Shift *other = shift_is_zero(a) ? &b : &a;
        return (Shift){other->by, sum.ends, other->kind};
    }
    if (a.kind == SHIFT_EXACT && b.kind == SHIFT_EXACT)
        return __builtin_add_overflow(a.by, b.by, &sum.by) ? loose : sum;
    if (a.by < 0 || b.by < 0)
        return loose;
    return (Shift){shift_divisor(a.by, b.by), sum.ends, SHIFT_MULTIPLE};
}

static Shift negated(Shift shift) {
    if (shift_is_zero(shift))
        return shift;
    return shift.kind == SHIFT_EXACT && shift.by != INT64_MIN ? (Shift){-shift.by, shift.ends, SHIFT_EXACT} : loose;
}

/* Of a product with a number that is the same in all runs. */
static Shift scaled(Shift shift, int64_t factor) {
    Shift product = shift;
    if (shift_is_zero(shift) || factor == 0)
        return none;
    if (shift.kind == SHIFT_LOOSE || (shift.kind == SHIFT_MULTIPLE && factor < 0) ||
        __builtin_mul_overflow(shift.by, factor, &product.by))
        return loose;
    return product;
}

/* Of a quotient, or of a remainder, by a positive number that is the same in all runs. */
static Shift divided(Shift shift, int64_t value, int64_t by, bool remainder) {
    if (shift_is_zero(shift))
        return shift;
    if (shift.kind == SHIFT_LOOSE || by <= 0 || value < 0 || shift.by < 0 || shift.by % by)
        return loose;
    return remainder ? none : (Shift){shift.by / by, 0, shift.kind};
}

/* The lowest power of two above the mask. */
static int64_t above_mask(int64_t mask) {
    int64_t above = 1;
    while (above > 0 && above <= mask)
        above <<= 1;
    return above;
}

/* Of a & mask (0 then), a | mask and a ^ mask (its own), where the shift leaves the bits of the mask alone. */
static Shift masked(Shift shift, int64_t mask, bool keeps) {
    int64_t above = mask >= 0 ? above_mask(mask) : 0;
    if (shift_is_zero(shift))
        return shift;
    if (shift.kind == SHIFT_LOOSE || above <= 0 || shift.by % above)
        return loose;
    return keeps ? shift : none;
}

/* Of a number of so many bits: narrow ones wrap around after few trips. */
static Shift wrapped(Shift shift, unsigned width) {
    if (!width || width >= 32 || shift.kind == SHIFT_LOOSE || shift_is_zero(shift))
        return shift;
    return shift.by % (INT64_C(1) << width) ? loose : none;
}

/* ---- Decisions ------------------------------------------------------------------------------------ */

static void limit(ShiftLanes *lanes, uint32_t lane, int64_t most) {
    if (most < lanes->limits[lane])
        lanes->limits[lane] = most;
}

void shifts_decide(ShiftLanes *lanes, const Shifts *shifts, bool parity) {
    for (uint32_t i = 0; i < lanes->count; i++) {
        Shift shift = shifts->lanes[i];
        bool even = parity && shift.kind != SHIFT_LOOSE && shift.by % 2 == 0;
        if (!shift_is_zero(shift) && !even)
            limit(lanes, i, 0);
        else if (shift.ends)
            limit(lanes, i, shift.ends - 1);
    }
}

/* Up to which n a difference that is `by` more each time is on the same side of the threshold: `least` and above, or
 * below. */
static int64_t same_side(int64_t difference, int64_t by, int64_t least) {
    if (difference >= least)
        return by >= 0 ? SHIFT_NO_LIMIT : (difference - least) / -by;
    return by <= 0 ? SHIFT_NO_LIMIT : (least - 1 - difference) / by;
}

/* Up to which n the comparison comes out as it does here. */
static int64_t steady(Comparison how, int64_t difference, int64_t by) {
    switch (how) {
    case COMPARE_SLT:
    case COMPARE_ULT:
    case COMPARE_SGE:
    case COMPARE_UGE:
        return same_side(difference, by, 1);
    case COMPARE_SLE:
    case COMPARE_ULE:
    case COMPARE_SGT:
    case COMPARE_UGT:
        return same_side(difference, by, 0);
    default: {
        int64_t below = same_side(difference, by, 0), above = same_side(difference, by, 1);
        return below < above ? below : above;
    }
    }
}

static bool is_unsigned(Comparison how) {
    return how >= COMPARE_ULT;
}

/* The shift of the result, 0 or loose. */
static Shift compare_lane(Comparison how, int64_t x, Shift of_x, int64_t y, Shift of_y) {
    int64_t difference, by, ends = shift_ends(of_x.ends, of_y.ends);
    bool wraps = is_unsigned(how) && (x < 0 || y < 0 || of_x.by < 0 || of_y.by < 0);
    if (shift_is_zero(of_x) && shift_is_zero(of_y))
        return (Shift){0, ends, SHIFT_EXACT};
    if (of_x.kind != SHIFT_EXACT || of_y.kind != SHIFT_EXACT || __builtin_sub_overflow(y, x, &difference) ||
        __builtin_sub_overflow(of_y.by, of_x.by, &by) || by == INT64_MIN || wraps)
        return loose;
    int64_t most = steady(how, difference, by);
    return (Shift){0, most == SHIFT_NO_LIMIT ? ends : shift_ends(ends, most + 1), SHIFT_EXACT};
}

/* Two lanes that end some time may together come to the threshold before either does: of those, none goes on. */
static Shifts compared(const ShiftLanes *lanes, Comparison how, int64_t x, const Shifts *of_x, int64_t y,
                       const Shifts *of_y) {
    Shifts result = {0};
    uint32_t bounded = 0;
    for (uint32_t i = 0; i < lanes->count; i++) {
        result.lanes[i] = compare_lane(how, x, of_x->lanes[i], y, of_y->lanes[i]);
        bounded += i % 2 && of_x->lanes[i].by != of_y->lanes[i].by;
    }
    for (uint32_t i = 1; bounded > 1 && i < lanes->count; i += 2)
        result.lanes[i].ends = 1;
    return result;
}

void shifts_compare(ShiftLanes *lanes, Comparison how, int64_t x, const Shifts *of_x, int64_t y, const Shifts *of_y) {
    Shifts result = compared(lanes, how, x, of_x, y, of_y);
    shifts_decide(lanes, &result, false);
}

/* ---- Evaluators ----------------------------------------------------------------------------------- */

/* One of two, by a comparison. */
static Shifts extreme(const ShiftLanes *lanes, bool x_is_it, int64_t x, const Shifts *of_x, int64_t y,
                      const Shifts *of_y) {
    Shifts result = compared(lanes, COMPARE_SLT, x, of_x, y, of_y);
    for (uint32_t i = 0; i < lanes->count; i++)
        if (result.lanes[i].kind != SHIFT_LOOSE) {
            Shift of = x_is_it ? of_x->lanes[i] : of_y->lanes[i];
            result.lanes[i] = (Shift){of.by, shift_ends(of.ends, result.lanes[i].ends), of.kind};
        }
    return result;
}

static Shift lane_of(Evaluator code, unsigned width, int64_t attribute, const int64_t values[3], const Shift of[3]) {
    bool second = shift_is_zero(of[1]);
    switch (code) {
    case EVALUATE_ADD:
        return shift_add(of[0], of[1]);
    case EVALUATE_SUBTRACT:
        return shift_add(of[0], negated(of[1]));
    case EVALUATE_MULTIPLY:
        return second ? scaled(of[0], values[1]) : shift_is_zero(of[0]) ? scaled(of[1], values[0]) : loose;
    case EVALUATE_DIVIDE_SIGNED:
    case EVALUATE_DIVIDE_UNSIGNED:
    case EVALUATE_DIVIDE_FLOOR_SIGNED:
    case EVALUATE_DIVIDE_CEIL_SIGNED:
    case EVALUATE_DIVIDE_CEIL_UNSIGNED:
        return second ? divided(of[0], values[0], values[1], false) : loose;
    case EVALUATE_REMAINDER_SIGNED:
    case EVALUATE_REMAINDER_UNSIGNED:
        return second ? divided(of[0], values[0], values[1], true) : loose;
    case EVALUATE_AND:
        return second                 ? masked(of[0], values[1], false)
               : shift_is_zero(of[0]) ? masked(of[1], values[0], false)
                                      : loose;
    case EVALUATE_OR:
    case EVALUATE_XOR:
        return second ? masked(of[0], values[1], true) : shift_is_zero(of[0]) ? masked(of[1], values[0], true) : loose;
    case EVALUATE_SHIFT_LEFT:
        return second && values[1] >= 0 && values[1] < 32 ? scaled(of[0], INT64_C(1) << values[1]) : loose;
    case EVALUATE_SHIFT_RIGHT_SIGNED:
    case EVALUATE_SHIFT_RIGHT_UNSIGNED:
        return second && values[1] >= 0 && values[1] < 32 ? divided(of[0], values[0], INT64_C(1) << values[1], false)
                                                          : loose;
    case EVALUATE_SIGN_EXTEND:
        return of[0];
    case EVALUATE_ZERO_EXTEND:
        return values[0] >= 0 && of[0].by >= 0 ? of[0] : loose;
    case EVALUATE_WRAP:
        return width > 1 ? of[0] : masked(of[0], 1, false);
    case EVALUATE_ADD_POINTER:
        return shift_add(of[0], scaled(of[1], attribute));
    default:
        return loose;
    }
}

Shifts shifts_evaluate(const ShiftLanes *lanes, Evaluator code, unsigned width, int64_t attribute,
                       const int64_t values[3], const Shifts *const of[3], unsigned count) {
    Shifts result = {0};
    switch (code) {
    case EVALUATE_COMPARE:
        return compared(lanes, (Comparison)attribute, values[0], of[0], values[1], of[1]);
    case EVALUATE_MINIMUM_SIGNED:
        return extreme(lanes, values[0] < values[1], values[0], of[0], values[1], of[1]);
    case EVALUATE_MAXIMUM_SIGNED:
        return extreme(lanes, values[0] >= values[1], values[0], of[0], values[1], of[1]);
    case EVALUATE_SELECT:
        result = values[0] ? *of[1] : *of[2];
        for (uint32_t i = 0; i < lanes->count; i++)
            if (shift_is_zero(of[0]->lanes[i]))
                result.lanes[i].ends = shift_ends(result.lanes[i].ends, of[0]->lanes[i].ends);
            else
                result.lanes[i] = loose;
        return result;
    case EVALUATE_MULTIPLY: /* where both differ from run to run, in whichever lanes, the product is no sum of lanes */
        if (shifts_are_zero(lanes, of[0]) || shifts_are_zero(lanes, of[1]))
            break;
        for (uint32_t i = 0; i < lanes->count; i++)
            if (!shift_is_none(of[0]->lanes[i]) || !shift_is_none(of[1]->lanes[i]))
                result.lanes[i] = loose;
        return result;
    default:
        break;
    }
    for (uint32_t i = 0; i < lanes->count; i++) {
        Shift each[3] = {{0}};
        int64_t ends = 0;
        bool zero = true;
        for (unsigned k = 0; k < count; k++) {
            each[k] = of[k]->lanes[i];
            ends = shift_ends(ends, each[k].ends);
            zero &= shift_is_zero(each[k]);
        }
        result.lanes[i] = zero ? none : wrapped(lane_of(code, width, attribute, values, each), width);
        result.lanes[i].ends = ends;
    }
    return result;
}
