/* Asking preconditions of a launch, and writing them. */
#include "check/prove/condition.h"

/* ---- Nesting -------------------------------------------------------------------------------------- */

/* A level in numbers: its factor, and by how much its two values can differ. */
typedef struct LevelNumbers {
    __int128 factor, width;
} LevelNumbers;

static Interval value_interval(const Quantities *quantities, const Interval *atoms, const NestLevel *level,
                               unsigned side) {
    Interval interval = quantity_interval(quantities, atoms, level->value[side]);
    if (level->most[side] != QUANTITY_NONE) {
        int64_t most = quantity_interval(quantities, atoms, level->most[side]).most;
        interval.most = most < interval.most ? most : interval.most;
    }
    if (level->least[side] != QUANTITY_NONE) {
        int64_t least = quantity_interval(quantities, atoms, level->least[side]).least;
        interval.least = least > interval.least ? least : interval.least;
    }
    return interval;
}

/* False: the factor is not one number. A width of BOUND_NONE and more: there is no bound. */
static bool level_numbers(const Quantities *quantities, const Interval *atoms, const NestLevel *level,
                          LevelNumbers *numbers) {
    Interval factor = quantity_interval(quantities, atoms, level->factor);
    Interval a = value_interval(quantities, atoms, level, 0), b = value_interval(quantities, atoms, level, 1);
    if (a.least > a.most || b.least > b.most) { /* one of the two accesses nothing */
        *numbers = (LevelNumbers){.width = -1};
        return true;
    }
    bool bounded = a.least > -BOUND_NONE && b.least > -BOUND_NONE && a.most < BOUND_NONE && b.most < BOUND_NONE;
    __int128 up = (__int128)a.most - b.least, down = (__int128)b.most - a.least;
    numbers->factor = factor.least < 0 ? -(__int128)factor.least : factor.least;
    numbers->width = bounded ? (up > down ? up : down) : BOUND_NONE;
    return factor.least == factor.most && factor.most < BOUND_NONE && factor.most > -BOUND_NONE;
}

static bool levels_nest(const Quantities *quantities, const Interval *atoms, const Condition *condition) {
    LevelNumbers levels[MOST_LEVELS];
    unsigned count = 0;
    for (uint32_t i = 0; i < condition->level_count; i++) {
        LevelNumbers level;
        bool exact = level_numbers(quantities, atoms, &condition->levels[i], &level);
        if (level.width < 0)
            return true;
        if (level.width == 0) /* they are equal, whatever the factor is */
            continue;
        if (!exact || count == MOST_LEVELS)
            return false;
        unsigned at = count++;
        for (; at && levels[at - 1].factor > level.factor; at--)
            levels[at] = levels[at - 1];
        levels[at] = level;
    }
    __int128 span = 0;
    for (unsigned i = 0; i < count; i++) {
        if (levels[i].factor <= span)
            return false;
        if (levels[i].width >= BOUND_NONE) /* nothing is larger than it can differ by */
            return i + 1 == count;
        span += levels[i].factor * levels[i].width;
        if (span >= BOUND_NONE)
            return i + 1 == count;
    }
    return true;
}

/* ---- Others --------------------------------------------------------------------------------------- */

static bool is_exact(Interval interval) {
    return interval.least == interval.most && interval.most < BOUND_NONE && interval.least > -BOUND_NONE;
}

bool condition_holds(const Quantities *quantities, const Interval *atoms, const Condition *condition) {
    Interval a = quantity_interval(quantities, atoms, condition->a);
    Interval b = quantity_interval(quantities, atoms, condition->b);
    switch (condition->kind) {
    case CONDITION_EQUAL:
        return condition->a == condition->b || (is_exact(a) && is_exact(b) && a.least == b.least);
    case CONDITION_AT_LEAST:
        return a.least > -BOUND_NONE && b.most < BOUND_NONE && a.least >= b.most;
    case CONDITION_MULTIPLE:
        return is_exact(a) && is_exact(b) && b.least > 0 && a.least % b.least == 0;
    case CONDITION_NEST:
        return levels_nest(quantities, atoms, condition);
    }
    return false;
}

/* ---- For people ----------------------------------------------------------------------------------- */

bool condition_is_two(const Quantities *quantities, const Condition *condition, Quantity *outer, Quantity *inner) {
    if (condition->kind != CONDITION_NEST || condition->level_count != 2)
        return false;
    unsigned unit = condition->levels[0].factor == QUANTITY_ONE ? 0 : 1;
    const NestLevel *level = &condition->levels[unit];
    *outer = condition->levels[1 - unit].factor;
    *inner = level->most[0];
    bool same = level->factor == QUANTITY_ONE && *inner != QUANTITY_NONE && *inner == level->most[1];
    for (unsigned side = 0; side < 2 && same; side++) /* then it is no more than that by which the two differ */
        same = quantity_interval(quantities, quantities->anywhere, level->value[side]).least >= 0;
    return same;
}

/* "stride > N - 1" */
static bool print_two(const Quantities *quantities, const Condition *condition, Text *to) {
    Quantity outer, inner;
    if (!condition_is_two(quantities, condition, &outer, &inner))
        return false;
    quantity_print(quantities, outer, to);
    text_addf(to, " > ");
    quantity_print(quantities, inner, to);
    return true;
}

const char *condition_text(const Quantities *quantities, const Condition *condition, const char *subject) {
    static const char *const signs[] = {[CONDITION_EQUAL] = " == ", [CONDITION_AT_LEAST] = " >= "};
    Text text = {0};
    if (condition->kind == CONDITION_NEST) {
        if (!print_two(quantities, condition, &text))
            text_addf(&text, "strides of %s nest", subject);
        return text_keep(&text, quantities->arena);
    }
    quantity_print(quantities, condition->a, &text);
    text_addf(&text, "%s", condition->kind == CONDITION_MULTIPLE ? " % " : signs[condition->kind]);
    quantity_print(quantities, condition->b, &text);
    text_addf(&text, "%s", condition->kind == CONDITION_MULTIPLE ? " == 0" : "");
    return text_keep(&text, quantities->arena);
}

/* ---- A launch ------------------------------------------------------------------------------------- */

/* Of bytes, as a number with a sign. */
static bool number_of_bytes(const Argument *argument, int64_t *number) {
    int32_t low;
    bool raw = argument->kind == ARGUMENT_RAW && !argument->part_count;
    if (!raw || (argument->byte_count != sizeof low && argument->byte_count != sizeof *number))
        return false;
    memcpy(&low, argument->bytes, sizeof low);
    *number = low;
    if (argument->byte_count == sizeof *number)
        memcpy(number, argument->bytes, sizeof *number);
    return true;
}

static LaunchNumber number_of(const Argument *argument) {
    LaunchNumber number = {.known = argument && argument->kind == ARGUMENT_INTEGER};
    if (number.known)
        number.value = argument->integer;
    else if (argument)
        number.known = number_of_bytes(argument, &number.value);
    if (!argument || argument->kind != ARGUMENT_DESCRIPTOR || argument->rank > LAUNCH_MOST_DIMS)
        return number;
    number.rank = argument->rank;
    for (unsigned i = 0; i < number.rank; i++) {
        number.shape[i] = argument->shape[i];
        number.strides[i] = argument->strides[i];
    }
    return number;
}

const Argument *launch_argument_of(const Launch *launch, const char *name, uint32_t index) {
    int64_t number;
    bool there = index < launch->count && str_is(launch->arguments[index].name, name);
    const Argument *named = there ? &launch->arguments[index] : launch_find(launch, str_of(name));
    for (uint32_t i = 0; i < launch->count && !named; i++)
        if (str_to_int(launch->arguments[i].name, &number) && number == index)
            named = &launch->arguments[i];
    return named;
}

LaunchNumbers launch_numbers(const Launch *launch, const char *const *names, uint32_t count, LaunchNumber *room) {
    LaunchNumbers numbers = {.arguments = room, .count = count};
    for (unsigned i = 0; i < 3; i++) {
        numbers.grid[i] = launch->grid[i];
        numbers.block[i] = launch->block[i];
    }
    for (uint32_t i = 0; i < count; i++)
        room[i] = number_of(launch_argument_of(launch, names[i], i));
    return numbers;
}
