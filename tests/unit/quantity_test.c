/* check/prove: quantities in normal form, and preconditions, beside the numbers that they stand for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "check/prove/condition.h"

static uint64_t seed = 1;

static int64_t roll(int64_t from, int64_t to) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return from + (int64_t)((seed >> 33) % (uint64_t)(to - from + 1));
}

/* ---- Values ---------------------------------------------------------------------------------------- */

enum { ARGUMENTS = 3 };

/* Numbers for all atoms that are not made of others. */
typedef struct Point {
    int64_t arguments[ARGUMENTS], grid[3], program[3], lanes[2];
} Point;

static int64_t value_at(const Quantities *quantities, Quantity quantity, const Point *point, bool *good);

static int64_t atom_at(const Quantities *quantities, const QuantityAtom *atom, const Point *point, bool *good) {
    int64_t a = 0, b = 0;
    if (atom->kind >= ATOM_DIVIDE && atom->kind <= ATOM_MAXIMUM) {
        a = value_at(quantities, atom->a, point, good);
        b = value_at(quantities, atom->b, point, good);
    }
    switch (atom->kind) {
    case ATOM_ARGUMENT:
        return point->arguments[atom->of];
    case ATOM_PROGRAMS:
        return point->grid[atom->axis];
    case ATOM_PROGRAM:
        return point->program[atom->axis];
    case ATOM_LANE:
        return point->lanes[atom->axis];
    case ATOM_DIVIDE:
    case ATOM_REMAINDER:
        *good &= b > 0 && a >= 0;
        return !*good ? 0 : atom->kind == ATOM_DIVIDE ? a / b : a % b;
    case ATOM_MINIMUM:
        return a < b ? a : b;
    case ATOM_MAXIMUM:
        return a > b ? a : b;
    default:
        fail();
        return 0;
    }
}

static int64_t value_at(const Quantities *quantities, Quantity quantity, const Point *point, bool *good) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < quantities->all[quantity].count; i++) {
        const Monomial *term = &quantities->all[quantity].terms[i];
        int64_t product = term->factor;
        for (unsigned k = 0; k < term->count; k++)
            product *= atom_at(quantities, &quantities->atoms[term->atoms[k]], point, good);
        sum += product;
    }
    return sum;
}

static const int64_t extents[2] = {4, 7};

static Point some_point(void) {
    Point point;
    for (unsigned i = 0; i < 3; i++) {
        point.arguments[i] = roll(-3, 12);
        point.grid[i] = roll(1, 6);
        point.program[i] = roll(0, point.grid[i] - 1);
    }
    for (unsigned i = 0; i < 2; i++)
        point.lanes[i] = roll(0, extents[i] - 1);
    return point;
}

/* A random expression as a quantity, and its value at a point; *good: nothing was divided that may not be. */
static Quantity some_quantity(Quantities *quantities, unsigned depth, const Point *point, int64_t *value, bool *good) {
    int64_t a, b;
    uint8_t axis = (uint8_t)roll(0, 2);
    if (!depth || roll(0, 4) == 0)
        switch (roll(0, 4)) {
        case 0:
            *value = roll(-4, 9);
            return quantity_constant(quantities, *value);
        case 1:
            *value = point->arguments[axis];
            return quantity_atom(quantities, &(QuantityAtom){.kind = ATOM_ARGUMENT, .of = axis, .width = 32});
        case 2:
            *value = point->grid[axis];
            return quantity_atom(quantities, &(QuantityAtom){.kind = ATOM_PROGRAMS, .axis = axis});
        case 3:
            *value = point->program[axis];
            return quantity_atom(quantities, &(QuantityAtom){.kind = ATOM_PROGRAM, .axis = axis});
        default:
            axis %= 2;
            *value = point->lanes[axis];
            return quantity_atom(quantities, &(QuantityAtom){.kind = ATOM_LANE, .axis = axis, .extent = extents[axis]});
        }
    int64_t how = roll(0, 6);
    Quantity x = some_quantity(quantities, depth - 1, point, &a, good);
    Quantity y = some_quantity(quantities, depth - 1, point, &b, good);
    switch (how) {
    case 0:
        *value = a - b;
        return quantity_add(quantities, x, y, -1);
    case 1:
        *value = a * b;
        return quantity_multiply(quantities, x, y);
    case 2:
    case 3:
        *good &= a >= 0 && b > 0;
        *value = !*good ? 0 : how == 2 ? a / b : a % b;
        return how == 2 ? quantity_divide(quantities, x, y) : quantity_remainder(quantities, x, y);
    case 4:
        *value = a < b ? a : b;
        return quantity_minimum(quantities, x, y);
    case 5:
        *value = a > b ? a : b;
        return quantity_maximum(quantities, x, y);
    default:
        *value = a + b;
        return quantity_add(quantities, x, y, 1);
    }
}

static LaunchNumbers launch_of(const Point *point, LaunchNumber *room) {
    LaunchNumbers launch = {.arguments = room, .count = ARGUMENTS};
    for (unsigned i = 0; i < 3; i++) {
        launch.grid[i] = point->grid[i];
        room[i] = (LaunchNumber){.known = true, .value = point->arguments[i]};
    }
    return launch;
}

static bool is_in(Interval interval, int64_t value) {
    return interval.least <= value && value <= interval.most;
}

/* The normal form has the value of the expression, and lies in the bounds of its launch and of all launches. */
static void forms_are_what_they_stand_for(void **state) {
    (void)state;
    unsigned looked_at = 0;
    for (unsigned round = 0; round < 20000; round++) {
        Arena arena;
        Quantities quantities;
        Interval here[MOST_ATOMS], anywhere[MOST_ATOMS];
        LaunchNumber room[ARGUMENTS];
        arena_init(&arena, 8 << 20);
        quantities_init(&quantities, &arena);
        Point point = some_point();
        int64_t value;
        bool good = true, fits = true;
        Quantity quantity = some_quantity(&quantities, 4, &point, &value, &good);
        LaunchNumbers launch = launch_of(&point, room);
        if (good && quantity != QUANTITY_NONE) {
            quantities_at(&quantities, &launch, here);
            quantities_at(&quantities, NULL, anywhere);
            assert_int_equal(value_at(&quantities, quantity, &point, &fits), value);
            assert_true(fits);
            assert_true(is_in(quantity_interval(&quantities, here, quantity), value));
            assert_true(is_in(quantity_interval(&quantities, anywhere, quantity), value));
            looked_at++;
        }
        arena_free(&arena);
    }
    assert_true(looked_at > 5000);
}

/* Every quotient has its bounds: where they hold at a launch, no operand of a division is bad. */
static void bounds_keep_quotients_good(void **state) {
    (void)state;
    unsigned kept = 0, refused = 0;
    for (unsigned round = 0; round < 20000; round++) {
        Arena arena;
        Quantities quantities;
        Interval here[MOST_ATOMS];
        LaunchNumber room[ARGUMENTS];
        arena_init(&arena, 8 << 20);
        quantities_init(&quantities, &arena);
        Point point = some_point();
        int64_t value;
        bool good = true, hold = true;
        bool known = some_quantity(&quantities, 4, &point, &value, &good) != QUANTITY_NONE;
        LaunchNumbers launch = launch_of(&point, room);
        quantities_at(&quantities, &launch, here);
        for (uint32_t i = 0; i < quantities.bound_count; i++) {
            Interval interval = quantity_interval(&quantities, here, quantities.bounds[i].what);
            hold &= interval.least >= quantities.bounds[i].least && interval.most <= quantities.bounds[i].most;
        }
        if (!good && known)
            assert_false(hold);
        kept += hold;
        refused += !hold;
        arena_free(&arena);
    }
    assert_true(kept > 1000 && refused > 1000);
}

/* ---- Nesting --------------------------------------------------------------------------------------- */

/* Whether two different lists of values have the same sum. */
static bool two_meet(const int64_t *factors, const int64_t *sizes, unsigned count, int64_t shift) {
    int64_t combinations = 1;
    for (unsigned i = 0; i < count; i++)
        combinations *= sizes[i];
    for (int64_t a = 0; a < combinations; a++)
        for (int64_t b = 0; b < combinations; b++) {
            int64_t left = 0, right = shift, x = a, y = b;
            for (unsigned i = 0; i < count; x /= sizes[i], y /= sizes[i], i++) {
                left += factors[i] * (x % sizes[i]);
                right += factors[i] * (y % sizes[i]);
            }
            if (left == right && (a != b || shift))
                return true;
        }
    return false;
}

static void levels_that_nest_never_meet(void **state) {
    (void)state;
    unsigned held = 0, met = 0;
    for (unsigned round = 0; round < 20000; round++) {
        Arena arena;
        Quantities quantities;
        Interval here[MOST_ATOMS];
        arena_init(&arena, 1 << 20);
        quantities_init(&quantities, &arena);
        NestLevel levels[3];
        int64_t factors[3], sizes[3];
        unsigned count = (unsigned)roll(1, 3);
        for (unsigned i = 0; i < count; i++) {
            factors[i] = roll(-20, 20);
            sizes[i] = roll(1, 4);
            Quantity lane = quantity_atom(
                &quantities, &(QuantityAtom){.kind = ATOM_LANE, .axis = (uint8_t)i, .extent = sizes[i] + roll(0, 2)});
            Quantity most = quantity_constant(&quantities, sizes[i] - 1);
            levels[i] = (NestLevel){
                quantity_constant(&quantities, factors[i]), {lane, lane}, {QUANTITY_NONE, QUANTITY_NONE}, {most, most}};
        }
        quantities_at(&quantities, NULL, here);
        Condition nest = {.kind = CONDITION_NEST, .levels = levels, .level_count = count};
        bool holds = condition_holds(&quantities, here, &nest), meet = two_meet(factors, sizes, count, 0);
        if (holds)
            assert_false(meet);
        held += holds;
        met += meet;
        arena_free(&arena);
    }
    assert_true(held > 1000 && met > 1000);
}

static void texts_are_readable(void **state) {
    (void)state;
    Arena arena;
    Quantities quantities;
    const char *const names[] = {"M", "K", "stride"};
    arena_init(&arena, 1 << 20);
    quantities_init(&quantities, &arena);
    quantities.parameters = names;
    Quantity k = quantity_atom(&quantities, &(QuantityAtom){.kind = ATOM_ARGUMENT, .of = 1, .width = 32});
    Quantity sixty_four = quantity_constant(&quantities, 64);
    Quantity up = quantity_add(&quantities, k, quantity_constant(&quantities, 63), 1);
    Text text = {0};
    quantity_print(&quantities, quantity_divide(&quantities, up, sixty_four), &text);
    assert_string_equal(text_keep(&text, &arena), "((K + 63) / 64)");
    Condition even = {.kind = CONDITION_MULTIPLE, .a = k, .b = sixty_four};
    assert_string_equal(condition_text(&quantities, &even, "c"), "K % 64 == 0");
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_are_what_they_stand_for),
        cmocka_unit_test(bounds_keep_quotients_good),
        cmocka_unit_test(levels_that_nest_never_meet),
        cmocka_unit_test(texts_are_readable),
    };
    return cmocka_run_group_tests_name("quantity", tests, NULL, NULL);
}
