/* The checker: what a certificate says against what the kernel is, and each step by what follows from those before it.
 */
#include "check/certificate/reader.h"

#include "ir/op.h"
#include "model/flow/partition.h"

/* Two numbers that are equal wherever both accesses of a pair are made to the same element: of the first one, and of
 * the second one. */
typedef struct Equation {
    const Number *side[2];
    bool split; /* into levels */
} Equation;

enum { MOST_EQUATIONS = 256 };

typedef struct CheckedPair {
    CertificateChecker *checker;
    CertificateText *reading;
    const GlobalTouch *touch[2];
    Equation equations[MOST_EQUATIONS];
    uint32_t count;
    bool known[NUMBER_ATOMS]; /* the atom is the same in both */
    bool apart;               /* both are never to the same element */
    unsigned axes;            /* that were shown to be the same */
} CheckedPair;

/* ---- What is known -------------------------------------------------------------------------------- */

/* Numbers that are made of known ones are known: operands come before what is made of them. */
static void close_known(CheckedPair *pair) {
    const NumberTable *numbers = pair->checker->numbers;
    for (uint32_t i = 0; i < numbers->atom_count; i++) {
        const NumberAtom *atom = &numbers->atoms[i];
        bool all = atom->kind >= NUMBER_DIVIDE && atom->kind <= NUMBER_MAXIMUM;
        for (unsigned k = 0; all && k < 2; k++) {
            const Number *part = k ? atom->b : atom->a;
            for (uint32_t n = 0; n < part->count; n++)
                for (uint32_t m = 0; m < part->terms[n].count; m++)
                    all &= pair->known[part->terms[n].atoms[m]];
        }
        pair->known[i] |= !atom->varies || all;
    }
}

static bool is_known(const CheckedPair *pair, const Number *number) {
    for (uint32_t i = 0; number && i < number->count; i++)
        for (uint32_t k = 0; k < number->terms[i].count; k++)
            if (!pair->known[number->terms[i].atoms[k]])
                return false;
    return number != NULL;
}

static const char *equate(CheckedPair *pair, const Number *a, const Number *b) {
    uint32_t atom;
    if (pair->count == MOST_EQUATIONS)
        return "too many equations";
    pair->equations[pair->count++] = (Equation){.side = {a, b}};
    if (number_same(a, b) && number_is_atom(a, &atom))
        pair->known[atom] = true;
    return NULL;
}

/* ---- Nesting -------------------------------------------------------------------------------------- */

/* The part of a number that varies. */
static const Number *varying_part(NumberTable *numbers, const Number *number) {
    const Number *part = number_constant(numbers, 0);
    for (uint32_t i = 0; number && i < number->count; i++) {
        struct {
            Number number;
            NumberTerm term;
        } one = {{1}, number->terms[i]};
        if (number_is_varying(numbers, &one.number))
            part = number_add(numbers, part, &one.number, 1);
    }
    return part;
}

/* What conditions on the access say of a number that varies: v + c <= 0 and -v + c <= 0. */
static void limits(NumberTable *numbers, const GlobalTouch *touch, const Number *value, const Number **least,
                   const Number **most) {
    const Number *varying = varying_part(numbers, value), *fixed = number_add(numbers, value, varying, -1);
    const Number *zero = number_constant(numbers, 0);
    *least = *most = NULL;
    for (uint32_t i = 0; varying && varying->count && i < touch->held.count; i++) {
        const Number *part = varying_part(numbers, touch->held.all[i]);
        const Number *rest = number_add(numbers, touch->held.all[i], part, -1);
        bool above = number_same(part, varying), below = number_same(number_add(numbers, zero, part, -1), varying);
        const Number *limit = number_add(numbers, fixed, rest, above ? -1 : 1);
        const Number **kept = above ? most : least;
        if (above || below)
            *kept = *kept ? number_of_two(numbers, above ? NUMBER_MINIMUM : NUMBER_MAXIMUM, *kept, limit) : limit;
    }
}

static bool same_limit(const Number *a, const Number *b) {
    return (!a && !b) || number_same(a, b);
}

static NumberRange value_range(const NumberTable *numbers, const NumberRange *atoms, const NestingLevel *level,
                               unsigned side) {
    NumberRange range = number_range(numbers, atoms, level->value[side]);
    int64_t most = level->most[side] ? number_range(numbers, atoms, level->most[side]).most : NUMBER_BEYOND;
    int64_t least = level->least[side] ? number_range(numbers, atoms, level->least[side]).least : -NUMBER_BEYOND;
    return (NumberRange){least > range.least ? least : range.least, most < range.most ? most : range.most};
}

/* Each factor is larger than all that those below it can add up to. */
static bool nests(const NumberTable *numbers, const NumberRange *atoms, const Precondition *asked) {
    __int128 factors[MOST_LEVELS_OF_NEST], widths[MOST_LEVELS_OF_NEST], sum = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < asked->count; i++) {
        NumberRange a = value_range(numbers, atoms, &asked->levels[i], 0),
                    b = value_range(numbers, atoms, &asked->levels[i], 1);
        NumberRange by = number_range(numbers, atoms, asked->levels[i].factor);
        bool bounded =
            a.least > -NUMBER_BEYOND && b.least > -NUMBER_BEYOND && a.most < NUMBER_BEYOND && b.most < NUMBER_BEYOND;
        __int128 up = (__int128)a.most - b.least, down = (__int128)b.most - a.least, width = up > down ? up : down;
        if (a.least > a.most || b.least > b.most) /* one of the two is never made */
            return true;
        if (bounded && width == 0) /* equal, whatever the factor is */
            continue;
        if (by.least != by.most || by.most >= NUMBER_BEYOND || by.most <= -NUMBER_BEYOND)
            return false;
        uint32_t at = count++;
        __int128 size = by.least < 0 ? -(__int128)by.least : by.least;
        for (; at && factors[at - 1] > size; at--) {
            factors[at] = factors[at - 1];
            widths[at] = widths[at - 1];
        }
        factors[at] = size;
        widths[at] = bounded ? width : NUMBER_BEYOND;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (factors[i] <= sum)
            return false;
        if (widths[i] >= NUMBER_BEYOND) /* nothing is larger than that */
            return i + 1 == count;
        sum += factors[i] * widths[i];
        if (sum >= NUMBER_BEYOND)
            return i + 1 == count;
    }
    return true;
}

static bool holds(const NumberTable *numbers, const NumberRange *atoms, const Precondition *asked) {
    if (asked->kind == ASKED_NEST)
        return nests(numbers, atoms, asked);
    NumberRange a = number_range(numbers, atoms, asked->a), b = number_range(numbers, atoms, asked->b);
    if (a.least <= -NUMBER_BEYOND || a.most >= NUMBER_BEYOND || b.least <= -NUMBER_BEYOND || b.most >= NUMBER_BEYOND)
        return false;
    return a.least >= b.most && (asked->kind == ASKED_LEAST || (a.least == a.most && a.most == b.least));
}

/* ---- Steps ---------------------------------------------------------------------------------------- */

/* Both sides of an equation are sums of factors that a launch has times values. If the factors nest, each value of one
 * side is equal to that of the other. */
static const char *step_by(CheckedPair *pair, const CertificateStep *step) {
    NumberTable *numbers = pair->checker->numbers;
    Precondition *asked = &pair->reading->asked[step->b];
    const Number *rest[2];
    if (step->a >= pair->count || asked->kind != ASKED_NEST)
        return "there is no such equation, or the condition is about something else";
    if (pair->equations[step->a].split)
        return "the equation was checked before";
    pair->equations[step->a].split = true;
    for (unsigned side = 0; side < 2; side++) {
        rest[side] = pair->equations[step->a].side[side];
        for (uint32_t i = 0; i < asked->count; i++) {
            const NestingLevel *level = &asked->levels[i];
            const Number *least, *most;
            limits(numbers, pair->touch[side], level->value[side], &least, &most);
            if (!same_limit(least, level->least[side]) || !same_limit(most, level->most[side]))
                return "the conditions on the access do not bound the level so";
            rest[side] =
                number_add(numbers, rest[side], number_multiply(numbers, level->factor, level->value[side]), -1);
            if (number_is_varying(numbers, level->factor))
                return "a factor of a level is not the same in the whole launch";
        }
    }
    if (!number_same(rest[0], rest[1]) || number_is_varying(numbers, rest[0]))
        return "the levels do not add up to the equation";
    asked->used = true;
    for (uint32_t i = 0; i < asked->count; i++) {
        const char *wrong = equate(pair, asked->levels[i].value[0], asked->levels[i].value[1]);
        if (wrong)
            return wrong;
    }
    return NULL;
}

/* y % d written as y - d * (y / d). */
static const Number *opened(NumberTable *numbers, const Number *number) {
    const Number *result = number;
    for (uint32_t i = 0; number && i < number->count; i++) {
        const NumberTerm *term = &number->terms[i];
        const NumberAtom atom = term->count == 1 ? numbers->atoms[term->atoms[0]] : (NumberAtom){0};
        if (term->count != 1 || atom.kind != NUMBER_REMAINDER)
            continue;
        const Number *whole = number_multiply(numbers, atom.b, number_of_two(numbers, NUMBER_DIVIDE, atom.a, atom.b));
        const Number *more =
            number_add(numbers, number_add(numbers, atom.a, whole, -1), number_atom(numbers, atom), -1);
        result = number_add(numbers, result, more, term->factor);
    }
    return result;
}

/* x / d and y % d are known, d is, and y - x is: so x is. */
static const char *step_join(CheckedPair *pair, const CertificateStep *step) {
    NumberTable *numbers = pair->checker->numbers;
    uint32_t quotient, rest;
    if (!number_is_atom(step->joined[0], &quotient) || !number_is_atom(step->joined[1], &rest) ||
        numbers->atoms[quotient].kind != NUMBER_DIVIDE || numbers->atoms[rest].kind != NUMBER_REMAINDER ||
        !number_same(numbers->atoms[quotient].b, numbers->atoms[rest].b))
        return "it is no quotient and remainder by the same divisor";
    const Number *x = numbers->atoms[quotient].a, *y = numbers->atoms[rest].a;
    const Number *apart = number_same(x, y) ? number_constant(numbers, 0)
                                            : number_add(numbers, opened(numbers, y), opened(numbers, x), -1);
    close_known(pair);
    if (!pair->known[quotient] || !pair->known[rest] || !is_known(pair, numbers->atoms[quotient].b))
        return "the quotient, the remainder or the divisor is not known";
    if (!is_known(pair, apart))
        return "what the quotient and the remainder are of differs by what is not known";
    return equate(pair, x, x);
}

/* One number is a turn of a loop, times a factor, and more; the other is beyond all that its turns make of it. */
static bool is_beyond_turns(CheckedPair *pair, const Number *turning, const Number *other) {
    NumberTable *numbers = pair->checker->numbers;
    const Number *one = number_constant(numbers, 1);
    for (uint32_t i = 0; turning && other && i < turning->count; i++) {
        const NumberTerm *term = &turning->terms[i];
        const NumberAtom atom = numbers->atoms[term->atoms[0]];
        if (term->count != 1 || atom.kind != NUMBER_TRIP)
            continue;
        const Number *turn = number_atom(numbers, atom), *next = number_add(numbers, turn, one, 1);
        const Number *start = number_add(numbers, turning, turn, -term->factor);
        const Number *trips = loop_trips(pair->checker, atom.key);
        close_known(pair);
        if (!is_known(pair, start) || !is_known(pair, other) || !is_known(pair, trips) ||
            !number_same(number_replace(numbers, start, term->atoms[0], next), start) ||
            !number_same(number_replace(numbers, other, term->atoms[0], next), other))
            return false;
        const Number *ends[] = {number_add(numbers, start, other, -1), NULL};
        ends[1] = number_add(numbers, ends[0], number_add(numbers, trips, one, -1), term->factor);
        NumberRange low = number_range(numbers, NULL, ends[term->factor < 0]);
        NumberRange high = number_range(numbers, NULL, ends[term->factor > 0]);
        return ends[1] && (low.least > 0 || high.most < 0);
    }
    return false;
}

static const char *step_apart(CheckedPair *pair, const CertificateStep *step) {
    const NumberTable *numbers = pair->checker->numbers;
    if (step->a >= pair->count)
        return "there is no such equation";
    NumberRange a = number_range(numbers, NULL, pair->equations[step->a].side[0]);
    NumberRange b = number_range(numbers, NULL, pair->equations[step->a].side[1]);
    if (a.most >= b.least && b.most >= a.least &&
        !is_beyond_turns(pair, pair->equations[step->a].side[0], pair->equations[step->a].side[1]) &&
        !is_beyond_turns(pair, pair->equations[step->a].side[1], pair->equations[step->a].side[0]))
        return "both sides can be equal";
    pair->apart = true;
    return NULL;
}

static bool is_pinned(CheckedPair *pair, const Number *program) {
    const NumberTable *numbers = pair->checker->numbers;
    Precondition one = {
        .count = 1, .levels = {{.factor = number_constant(pair->checker->numbers, 0), .value = {program, program}}}};
    for (unsigned side = 0; side < 2; side++)
        limits(pair->checker->numbers, pair->touch[side], program, &one.levels[0].least[side],
               &one.levels[0].most[side]);
    return nests(numbers, NULL, &one);
}

/* Along the axis, both accesses are of the same program. */
static const char *step_axis(CheckedPair *pair, const CertificateStep *step) {
    NumberTable *numbers = pair->checker->numbers;
    const Number *program = number_atom(numbers, (NumberAtom){.kind = NUMBER_PROGRAM, .axis = step->a}), *programs;
    int64_t value;
    if (pair->axes >> step->a & 1)
        return "the axis was checked before";
    close_known(pair);
    if (step->how == AXIS_KNOWN && !is_known(pair, program))
        return "the program id is not known";
    if (step->how == AXIS_PINNED && !is_pinned(pair, program))
        return "conditions do not leave one program id";
    if (step->how == AXIS_ONE) {
        Precondition *asked = &pair->reading->asked[step->b];
        programs = number_atom(numbers, (NumberAtom){.kind = NUMBER_PROGRAMS, .axis = step->a});
        if (asked->kind != ASKED_EQUAL || !number_same(asked->a, programs) || !number_is_constant(asked->b, &value) ||
            value != 1)
            return "the condition does not say that there is one program";
        asked->used = true;
    }
    pair->axes |= 1u << step->a;
    return NULL;
}

/* The turns of all loops around the first access. */
static bool turns_are_known(const CheckedPair *pair) {
    const NumberTable *numbers = pair->checker->numbers;
    for (const Op *op = pair->touch[0]->op; op && op != pair->checker->function; op = op_parent(op)) {
        bool found = !op_is_loop(op);
        if (op->block && op->block->region->block_count > 1)
            return false;
        for (uint32_t i = 0; i < numbers->atom_count && !found; i++)
            found = numbers->atoms[i].kind == NUMBER_TRIP && numbers->atoms[i].key == op && pair->known[i];
        if (!found)
            return false;
    }
    return true;
}

static uint32_t open_lanes(CheckedPair *pair) {
    const NumberTable *numbers = pair->checker->numbers;
    uint32_t lanes = pair->touch[0]->lanes;
    close_known(pair);
    for (uint32_t i = 0; i < numbers->atom_count; i++)
        if (numbers->atoms[i].kind == NUMBER_LANE && pair->known[i])
            lanes &= ~(1u << numbers->atoms[i].axis);
    return lanes;
}

/* One write, of which the same element is the same in every program: they need not be of one program. */
static const char *step_alike(CheckedPair *pair) {
    if (pair->axes)
        return "an axis was looked at before";
    if (pair->touch[0] != pair->touch[1] || open_lanes(pair))
        return "two elements, or two writes, may differ";
    pair->axes = 7;
    return write_differs(pair->checker, pair->touch[0]);
}

/* Two accesses of one program to one element are made by one thread, one after the other; an asynchronous one is the
 * only one. */
static const char *step_ordered(CheckedPair *pair) {
    const GlobalTouch *a = pair->touch[0], *b = pair->touch[1];
    uint64_t first = partitions_of(a->op).mask, second = partitions_of(b->op).mask;
    if (first != second || (first & (first - 1)))
        return "two partitions make the accesses";
    if (open_lanes(pair))
        return "two elements of a tile may be the same";
    if (a->async || b->async)
        return a == b && turns_are_known(pair) ? NULL : "an asynchronous access may still be under way";
    if (a != b && (!a->mapping || a->mapping != b->mapping || (a->copies && !(a->writes && b->writes))))
        return "two threads may make the accesses";
    return NULL;
}

static const char *take_step(CheckedPair *pair, const CertificateStep *step) {
    NumberTable *numbers = pair->checker->numbers;
    switch (step->kind) {
    case STEP_BY:
        return step_by(pair, step);
    case STEP_JOIN:
        return step_join(pair, step);
    case STEP_APART:
        return step_apart(pair, step);
    case STEP_AXIS:
        return step_axis(pair, step);
    case STEP_ALIKE:
        return step_alike(pair);
    case STEP_SAME:
        if (pair->axes != 7)
            return "an axis of the grid is left out";
        for (uint32_t i = 0; i < numbers->atom_count; i++)
            pair->known[i] |= numbers->atoms[i].kind == NUMBER_PROGRAM;
        pair->axes = 8;
        return NULL;
    case STEP_ORDERED:
        return pair->axes == 8 ? step_ordered(pair) : "the accesses are not shown to be of one program";
    case STEP_PAIR:
        break;
    }
    return "it is no step of a pair";
}

/* ---- Pairs ---------------------------------------------------------------------------------------- */

/* Both are to memory that each program has of its own. */
static bool is_own(const GlobalTouch *a, const GlobalTouch *b) {
    return a->root == OWN_ROOT && b->root == OWN_ROOT;
}

/* Whether two accesses could be to one element, and are not both atomic. */
static bool needs_proof(const GlobalTouch *a, const GlobalTouch *b) {
    if (!a->writes && !b->writes)
        return false;
    if (a->root != ANY_ROOT && b->root != ANY_ROOT && a->root != b->root)
        return false;
    if (is_own(a, b) && op_describes(a->op) == DESCRIBE_MAP && op_describes(b->op) == DESCRIBE_MAP)
        return false; /* descriptors, each of which one thread writes */
    return !(a->strong && b->strong && a->bytes == b->bytes && effect_is_access(&a->effect) &&
             effect_is_access(&b->effect));
}

void certificate_refuse(CertificateText *reading, uint32_t line, const char *why) {
    if (!reading->wrong) {
        reading->wrong = why;
        reading->line = line;
    }
}

/* The steps about one pair, from its first line on; the number of the next step. */
static uint32_t check_pair(CertificateChecker *checker, CertificateText *reading, uint32_t a, uint32_t b, uint32_t at) {
    CheckedPair *pair = ARENA_NEW(checker->arena, CheckedPair);
    *pair =
        (CheckedPair){.checker = checker, .reading = reading, .touch = {&checker->touches[a], &checker->touches[b]}};
    pair->axes = is_own(pair->touch[0], pair->touch[1]) ? 7 : 0;
    bool done = false;
    const CertificateStep *head = at < reading->step_count ? &reading->steps[at] : NULL;
    if (!head || head->kind != STEP_PAIR || head->a != a || head->b != b) {
        certificate_refuse(reading, head ? head->line : 0,
                           "a pair of accesses is left out, or is not where it belongs");
        return at;
    }
    if (!pair->touch[0]->offset || !pair->touch[1]->offset || pair->touch[0]->bytes != pair->touch[1]->bytes) {
        certificate_refuse(reading, head->line, "an address of the pair is not known, or elements have two sizes");
        return at;
    }
    for (unsigned side = 0; side < 2; side++)
        number_need(checker->numbers, pair->touch[side]->offset, -NUMBER_BEYOND + 1, NUMBER_BEYOND - 1);
    const char *wrong = equate(pair, pair->touch[0]->offset, pair->touch[1]->offset);
    for (at++; at < reading->step_count && reading->steps[at].kind != STEP_PAIR && !wrong; at++) {
        wrong = done ? "the pair is proved before this" : take_step(pair, &reading->steps[at]);
        done = pair->apart || reading->steps[at].kind == STEP_ORDERED;
        if (wrong)
            certificate_refuse(reading, reading->steps[at].line, wrong);
    }
    if (!done)
        certificate_refuse(reading, head->line, "the steps do not show that the pair is in order");
    return at;
}

static bool has_clusters(const CertificateChecker *checker) {
    static const char *const names[] = {"ttg.num-ctas", "ttg.cluster-dim-x", "ttg.cluster-dim-y", "ttg.cluster-dim-z"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        const Attr *attr = op_attr_around(checker->function, names[i]);
        if (attr && (attr->kind != ATTR_INTEGER || attr->integer != 1))
            return true;
    }
    return false;
}

/* ---- What is said and what is so ------------------------------------------------------------------- */

static void check_accesses(CertificateChecker *checker, CertificateText *reading) {
    bool writes = false;
    for (uint32_t i = 0; i < checker->touch_count && !reading->wrong; i++) {
        const GlobalTouch *touch = &checker->touches[i];
        const Listed *listed = i < reading->listed_count ? &reading->listed[i] : NULL;
        writes |= touch->writes;
        if (!listed || checker->ops[listed->op] != touch->op || listed->effect != touch->number ||
            listed->root != touch->root || listed->bytes != touch->bytes) {
            certificate_refuse(reading, listed ? listed->line : 0,
                               "an access of the kernel is left out, or is another one");
            return;
        }
        if (!same_limit(listed->offset, touch->offset))
            certificate_refuse(reading, listed->line, "the kernel's address is another one");
        bool same = listed->held.count == touch->held.count;
        for (uint32_t k = 0; same && k < touch->held.count; k++)
            same = number_same(listed->held.all[k], touch->held.all[k]);
        if (!same)
            certificate_refuse(reading, listed->line, "the kernel's conditions on the access are others");
    }
    if (reading->listed_count > checker->touch_count)
        certificate_refuse(reading, reading->listed[checker->touch_count].line, "the kernel has no such access");
    if (writes && has_clusters(checker))
        certificate_refuse(reading, 0, "the kernel has clusters, whose CTAs are not distinguished");
}

static void check_bounds(CertificateChecker *checker, CertificateText *reading) {
    const NumberTable *numbers = checker->numbers;
    uint32_t open = 0;
    NumberRange asked;
    for (uint32_t i = 0; i < numbers->need_count && !reading->wrong; i++) {
        if (!number_need_is_open(numbers, &numbers->needs[i], &asked))
            continue;
        uint32_t found = 0;
        for (uint32_t k = 0; k < reading->bound_count; k++) {
            const AskedBound *bound = &reading->bounds[k];
            if (!number_same(bound->what, numbers->needs[i].what))
                continue;
            found++;
            if (found > 1 || bound->range.least != asked.least || bound->range.most != asked.most)
                certificate_refuse(reading, bound->line, "the bound is not the one that the kernel's numbers need");
        }
        open++;
        if (!found)
            certificate_refuse(reading, 0, "a number of the kernel needs a bound that is left out");
    }
    if (reading->bound_count > open)
        certificate_refuse(reading, reading->bounds[0].line, "bounds are asked for that nothing needs");
}

/* The ranges of all atoms at the launch that is given. */
static NumberRange *at_launch(CertificateChecker *checker, CertificateText *reading) {
    const NumberTable *numbers = checker->numbers;
    NumberRange *ranges = ARENA_ARRAY(checker->arena, NumberRange, numbers->atom_count + 1);
    for (uint32_t i = 0; i < numbers->atom_count; i++) {
        const NumberAtom *atom = &numbers->atoms[i];
        const GivenArgument *given = atom->of < reading->given_count ? &reading->given[atom->of] : NULL;
        bool argument = given && atom->kind == NUMBER_ARGUMENT && given->value >= atom->range.least &&
                        given->value <= atom->range.most;
        bool part = given && (atom->kind == NUMBER_SHAPE || atom->kind == NUMBER_STRIDE) && atom->axis < given->rank;
        int64_t value = argument ? given->value
                        : part   ? (atom->kind == NUMBER_SHAPE ? given->shape : given->strides)[atom->axis]
                                 : reading->grid[atom->axis % 3];
        ranges[i] = number_atom_range(numbers, ranges, atom);
        if (atom->kind == NUMBER_PROGRAM)
            ranges[i] = (NumberRange){0, value - 1};
        else if (argument || part || atom->kind == NUMBER_PROGRAMS)
            ranges[i] = (NumberRange){value, value};
    }
    return ranges;
}

/* Some launch fulfills what is asked. */
static void check_launch(CertificateChecker *checker, CertificateText *reading) {
    const NumberTable *numbers = checker->numbers;
    if (!reading->given_line || reading->grid[0] < 1 || reading->grid[1] < 1 || reading->grid[2] < 1) {
        certificate_refuse(reading, reading->given_line, "no launch is given that fulfills what is asked");
        return;
    }
    const NumberRange *ranges = at_launch(checker, reading);
    for (uint32_t i = 0; i < reading->asked_count; i++)
        if (!holds(numbers, ranges, &reading->asked[i]))
            certificate_refuse(reading, reading->asked[i].line, "the launch that is given does not fulfill this");
    for (uint32_t i = 0; i < reading->bound_count; i++) {
        NumberRange range = number_range(numbers, ranges, reading->bounds[i].what);
        if (range.least < reading->bounds[i].range.least || range.most > reading->bounds[i].range.most)
            certificate_refuse(reading, reading->bounds[i].line, "the launch that is given does not fulfill this");
    }
}

static void check_all(CertificateChecker *checker, CertificateText *reading) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < checker->claim_count && !reading->wrong; i++) {
        const char *wrong = claim_fails(checker, &checker->claims[i]);
        for (uint32_t k = 0; k < i && !wrong; k++)
            if (checker->claims[k].argument == checker->claims[i].argument &&
                checker->claims[k].lanes == checker->claims[i].lanes)
                wrong = "it is said twice";
        if (wrong)
            certificate_refuse(reading, reading->claim_lines[i], wrong);
    }
    if (!reading->wrong)
        find_touches(checker);
    check_accesses(checker, reading);
    for (uint32_t i = 0; i < checker->touch_count; i++)
        for (uint32_t k = i; k < checker->touch_count && !reading->wrong; k++)
            if (needs_proof(&checker->touches[i], &checker->touches[k]))
                at = check_pair(checker, reading, i, k, at);
    if (at < reading->step_count)
        certificate_refuse(reading, reading->steps[at].line, "the kernel has no such pair");
    if (reading->runs_line && !reading->wrong)
        certificate_runs(checker, reading);
    for (uint32_t i = 0; i < reading->asked_count && !reading->wrong; i++) {
        const Precondition *asked = &reading->asked[i];
        if (!asked->used)
            certificate_refuse(reading, asked->line, "no step needs this");
        else if (asked->free != holds(checker->numbers, NULL, asked))
            certificate_refuse(reading, asked->line,
                               asked->free ? "it does not hold at every launch"
                                           : "it holds at every launch, and need not be asked");
    }
    if (!reading->wrong)
        check_bounds(checker, reading);
    if (!reading->wrong)
        check_launch(checker, reading);
}

CertificateVerdict certificate_check(Module *module, const Op *function, Str text, bool whole, Arena *arena) {
    CertificateChecker *checker = ARENA_NEW(arena, CertificateChecker);
    CertificateText reading = {.checker = checker, .text = text};
    *checker = (CertificateChecker){
        .module = module, .function = function, .arena = arena, .numbers = ARENA_NEW(arena, NumberTable)};
    checker->numbers->arena = checker->arena;
    lanes_number(checker, &(ElementLanes){.rank = 0});
    checker->parameters = program_parameters(module, function, &checker->parameter_count);
    for (const Op *op = function; op; op = op_next_in_walk(op, function))
        *ARENA_PUSH(checker->arena, checker->ops, checker->op_count, checker->op_capacity) = op;
    CertificateVerdict verdict = {.answer = CERTIFICATE_IS_NONE};
    if (certificate_read(&reading, str_of(program_name(module, function)))) {
        check_all(checker, &reading);
        if (whole && !reading.runs_line)
            certificate_refuse(&reading, 0, "it says nothing about synchronization");
        verdict.answer = reading.wrong ? CERTIFICATE_FAILS : CERTIFICATE_HOLDS;
    } else if (!reading.wrong) {
        verdict.answer = CERTIFICATE_FAILS;
        reading.wrong = "it says nothing about the kernel";
        reading.line = 0;
    }
    verdict.line = reading.wrong ? reading.line : 0;
    verdict.why = reading.wrong;
    verdict.accesses = checker->touch_count;
    verdict.steps = reading.step_count;
    verdict.preconditions = reading.asked_count;
    verdict.bounds = reading.bound_count;
    verdict.runs = reading.run_count;
    return verdict;
}
