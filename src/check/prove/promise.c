/* From promises to facts about quantities, and from these to preconditions. */
#include "check/prove/promise.h"

#include <inttypes.h>
#include <stdlib.h>

/* `what` is 0, or at least 0. */
typedef struct Fact {
    Quantity what;
    bool zero;
} Fact;

/* `what` is of that remainder by `by`; by 0: it is that number. */
typedef struct Congruence {
    Quantity what;
    int64_t by, rest;
} Congruence;

enum { MOST_FACTS = 128, REFINEMENTS = 6 };

typedef struct Facts {
    const Proof *proof;
    Quantities *quantities; /* a copy of the proof's, with what the promises are about */
    Interval atoms[MOST_ATOMS];
    Fact facts[MOST_FACTS];
    Congruence congruences[MOST_FACTS];
    unsigned count, congruence_count;
} Facts;

/* ---- From texts to quantities --------------------------------------------------------------------- */

/* The parameter of that name; UINT32_MAX: there is none. */
static uint32_t parameter_named(const Proof *proof, Str name) {
    uint32_t at = 0;
    while (at < proof->name_count && !str_is(name, proof->names[at]))
        at++;
    return at < proof->name_count ? at : UINT32_MAX;
}

static Quantity quantity_of_name(Facts *facts, const RequiredTerm *term) {
    QuantityAtom atom = {.kind = ATOM_PROGRAMS, .axis = (uint8_t)term->axis};
    if (term->kind == TERM_BLOCK)
        return QUANTITY_NONE;
    if (term->kind != TERM_GRID) {
        atom.kind = term->kind == TERM_SHAPE ? ATOM_SHAPE : term->kind == TERM_STRIDE ? ATOM_STRIDE : ATOM_ARGUMENT;
        atom.of = parameter_named(facts->proof, term->name);
        atom.width = term->kind == TERM_ARGUMENT ? 64 : 0;
        if (term->kind == TERM_SIZE || atom.of == UINT32_MAX)
            return QUANTITY_NONE;
    }
    return quantity_atom(facts->quantities, &atom);
}

static Quantity quantity_of_term(Facts *facts, const RequiredTerm *term) {
    Quantities *quantities = facts->quantities;
    if (term->kind == TERM_NUMBER)
        return quantity_constant(quantities, term->number);
    if (term->kind < TERM_ADD)
        return quantity_of_name(facts, term);
    Quantity a = quantity_of_term(facts, term->a), b = quantity_of_term(facts, term->b);
    if (a == QUANTITY_NONE || b == QUANTITY_NONE)
        return QUANTITY_NONE;
    switch (term->kind) {
    case TERM_ADD:
        return quantity_add(quantities, a, b, 1);
    case TERM_SUBTRACT:
        return quantity_add(quantities, a, b, -1);
    case TERM_MULTIPLY:
        return quantity_multiply(quantities, a, b);
    case TERM_DIVIDE:
        return quantity_divide(quantities, a, b);
    case TERM_REMAINDER:
        return quantity_remainder(quantities, a, b);
    case TERM_MINIMUM:
        return quantity_minimum(quantities, a, b);
    case TERM_MAXIMUM:
        return quantity_maximum(quantities, a, b);
    default:
        return QUANTITY_NONE;
    }
}

static void add_fact(Facts *facts, Quantity what, bool zero) {
    if (what != QUANTITY_NONE && facts->count < MOST_FACTS)
        facts->facts[facts->count++] = (Fact){what, zero};
}

/* "K % 64 == 0" is about K, too. */
static void add_congruence(Facts *facts, const Requirement *promise) {
    int64_t by, rest;
    if (promise->relation != REQUIRES_EQUAL || promise->a->kind != TERM_REMAINDER ||
        facts->congruence_count == MOST_FACTS)
        return;
    Quantity what = quantity_of_term(facts, promise->a->a), divisor = quantity_of_term(facts, promise->a->b);
    if (what != QUANTITY_NONE && quantity_is_constant(facts->quantities, divisor, &by) && by > 0 &&
        quantity_is_constant(facts->quantities, quantity_of_term(facts, promise->b), &rest))
        facts->congruences[facts->congruence_count++] = (Congruence){what, by, rest};
}

static void add_promise(Facts *facts, const Requirement *promise) {
    Quantities *quantities = facts->quantities;
    if (promise->relation == REQUIRES_NEST)
        return;
    Quantity a = quantity_of_term(facts, promise->a), b = quantity_of_term(facts, promise->b);
    Quantity up = quantity_add(quantities, a, b, -1), down = quantity_add(quantities, b, a, -1);
    switch (promise->relation) {
    case REQUIRES_EQUAL:
        add_fact(facts, up, true);
        add_fact(facts, down, true);
        add_congruence(facts, promise);
        break;
    case REQUIRES_AT_LEAST:
        add_fact(facts, up, false);
        break;
    case REQUIRES_GREATER:
        add_fact(facts, quantity_add(quantities, up, QUANTITY_ONE, -1), false);
        break;
    case REQUIRES_AT_MOST:
        add_fact(facts, down, false);
        break;
    case REQUIRES_LESS:
        add_fact(facts, quantity_add(quantities, down, QUANTITY_ONE, -1), false);
        break;
    default:
        break;
    }
}

/* ---- Remainders ------------------------------------------------------------------------------------ */

static int64_t divisor_of_both(int64_t a, int64_t b) {
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

/* What is known of nothing: by 1. */
static const Congruence any_number = {.by = 1};

static Congruence sum_of(Congruence a, Congruence b) {
    Congruence sum = {.by = divisor_of_both(a.by, b.by)};
    return __builtin_add_overflow(a.rest, b.rest, &sum.rest) ? any_number : sum;
}

/* (m s + r) (n t + q) = r q + multiples of m q, n r and m n. */
static Congruence product_of(Congruence a, Congruence b) {
    int64_t left, right, both;
    Congruence product = {0};
    if (__builtin_mul_overflow(a.by, b.rest, &left) || __builtin_mul_overflow(b.by, a.rest, &right) ||
        __builtin_mul_overflow(a.by, b.by, &both) || __builtin_mul_overflow(a.rest, b.rest, &product.rest))
        return any_number;
    product.by = divisor_of_both(divisor_of_both(left, right), both);
    return product;
}

static Congruence congruence_of(const Facts *facts, Quantity quantity);

static Congruence congruence_of_atom(const Facts *facts, uint32_t at) {
    Interval interval = facts->atoms[at];
    if (interval.least == interval.most && interval.most < BOUND_NONE && interval.least > -BOUND_NONE)
        return (Congruence){.rest = interval.least};
    for (unsigned i = 0; i < facts->congruence_count; i++) {
        const Polynomial *of = &facts->quantities->all[facts->congruences[i].what];
        if (of->count == 1 && of->terms[0].factor == 1 && of->terms[0].count == 1 && of->terms[0].atoms[0] == at)
            return facts->congruences[i];
    }
    return any_number;
}

static Congruence congruence_of(const Facts *facts, Quantity quantity) {
    Congruence sum = {0};
    if (quantity == QUANTITY_NONE)
        return any_number;
    for (unsigned i = 0; i < facts->congruence_count; i++)
        if (facts->congruences[i].what == quantity)
            return facts->congruences[i];
    const Polynomial *of = &facts->quantities->all[quantity];
    for (uint32_t i = 0; i < of->count; i++) {
        Congruence product = {.rest = of->terms[i].factor};
        for (unsigned k = 0; k < of->terms[i].count; k++)
            product = product_of(product, congruence_of_atom(facts, of->terms[i].atoms[k]));
        sum = sum_of(sum, product);
    }
    return sum;
}

/* The remainder of a number by `by`, if that is known. */
static bool remainder_is_known(const Facts *facts, Quantity quantity, int64_t by, int64_t *rest) {
    Congruence known = congruence_of(facts, quantity);
    if (by <= 0 || known.by % by != 0)
        return false;
    *rest = (known.rest % by + by) % by;
    return true;
}

/* ---- Bounds ---------------------------------------------------------------------------------------- */

static int64_t rounded_up(int64_t a, int64_t b) { /* b > 0 */
    return a / b + (a % b > 0);
}

/* fact >= 0: bounds of each atom that is by itself in it. */
static void bound_atoms(Facts *facts, Quantity what) {
    Quantities *quantities = facts->quantities;
    const Polynomial of = quantities->all[what];
    for (uint32_t i = 0; i < of.count; i++) {
        const Monomial term = of.terms[i];
        if (term.count != 1 || term.factor == INT64_MIN)
            continue;
        Quantity own = quantity_multiply(quantities, quantity_constant(quantities, term.factor),
                                         quantity_atom(quantities, &quantities->atoms[term.atoms[0]]));
        Quantity others = quantity_add(quantities, what, own, -1);
        int64_t most = quantity_interval(quantities, facts->atoms, others).most;
        if (others == QUANTITY_NONE || most >= BOUND_NONE || most <= -BOUND_NONE)
            continue;
        Interval *atom = &facts->atoms[term.atoms[0]];
        int64_t bound = term.factor > 0 ? rounded_up(-most, term.factor) : -rounded_up(-most, -term.factor);
        if (term.factor > 0 && bound > atom->least)
            atom->least = bound;
        if (term.factor < 0 && bound < atom->most)
            atom->most = bound;
    }
}

/* Bounds and remainders, until little more follows. False: no number is left of one. */
static bool refine(Facts *facts) {
    Quantities *quantities = facts->quantities;
    for (unsigned round = 0; round < REFINEMENTS; round++) {
        for (unsigned i = 0; i < facts->count; i++)
            bound_atoms(facts, facts->facts[i].what);
        quantities_refine(quantities, facts->atoms);
        for (uint32_t i = 0; i < quantities->atom_count; i++) {
            const QuantityAtom *atom = &quantities->atoms[i];
            int64_t by, rest;
            if (atom->kind == ATOM_REMAINDER && quantity_is_constant(quantities, atom->b, &by) &&
                remainder_is_known(facts, atom->a, by, &rest)) {
                facts->atoms[i].least = rest > facts->atoms[i].least ? rest : facts->atoms[i].least;
                facts->atoms[i].most = rest < facts->atoms[i].most ? rest : facts->atoms[i].most;
            }
        }
    }
    for (uint32_t i = 0; i < quantities->atom_count; i++)
        if (facts->atoms[i].least > facts->atoms[i].most)
            return false;
    return true;
}

/* ---- Preconditions --------------------------------------------------------------------------------- */

/* Whether what >= 0 follows. */
static bool is_not_negative(const Facts *facts, Quantity what) {
    if (what == QUANTITY_NONE)
        return false;
    if (quantity_interval(facts->quantities, facts->atoms, what).least >= 0)
        return true;
    for (unsigned i = 0; i < facts->count; i++) {
        Quantity rest = quantity_add(facts->quantities, what, facts->facts[i].what, -1);
        if (rest != QUANTITY_NONE && quantity_interval(facts->quantities, facts->atoms, rest).least >= 0)
            return true;
    }
    return false;
}

static bool follows(const Facts *facts, const Condition *condition) {
    Quantities *quantities = facts->quantities;
    Quantity outer, inner;
    int64_t by, rest;
    if (condition_holds(quantities, facts->atoms, condition))
        return true;
    Quantity difference =
        condition->kind == CONDITION_NEST ? QUANTITY_NONE : quantity_add(quantities, condition->a, condition->b, -1);
    switch (condition->kind) {
    case CONDITION_EQUAL:
        return is_not_negative(facts, difference) &&
               is_not_negative(facts, quantity_add(quantities, condition->b, condition->a, -1));
    case CONDITION_AT_LEAST:
        return is_not_negative(facts, difference);
    case CONDITION_MULTIPLE:
        return quantity_is_constant(quantities, condition->b, &by) &&
               remainder_is_known(facts, condition->a, by, &rest) && rest == 0;
    case CONDITION_NEST:
        return condition_is_two(quantities, condition, &outer, &inner) &&
               is_not_negative(facts,
                               quantity_add(quantities, quantity_add(quantities, outer, inner, -1), QUANTITY_ONE, -1));
    }
    return false;
}

/* Whether a promise about strides has the words of the precondition. */
static bool has_words(const Requirement *promise, const Condition *condition) {
    return promise->relation == REQUIRES_NEST && condition->kind == CONDITION_NEST &&
           strcmp(promise->text, condition->text) == 0;
}

/* ---- A launch -------------------------------------------------------------------------------------- */

/* Promises are looked up in a launch file, or in numbers that were made up. */
typedef struct Numbers {
    const Proof *proof;
    const LaunchNumbers *numbers;
} Numbers;

static bool number_of_name(const void *context, const RequiredTerm *term, int64_t *value) {
    const Numbers *of = context;
    uint32_t parameter = parameter_named(of->proof, term->name);
    const LaunchNumber *number = parameter < of->numbers->count ? &of->numbers->arguments[parameter] : NULL;
    if (term->kind == TERM_GRID) {
        *value = of->numbers->grid[term->axis];
        return true;
    }
    bool dimension = number && term->axis < number->rank;
    if (term->kind == TERM_ARGUMENT && number)
        *value = number->value;
    else if (term->kind == TERM_SHAPE && dimension)
        *value = number->shape[term->axis];
    else if (term->kind == TERM_STRIDE && dimension)
        *value = number->strides[term->axis];
    else
        return false;
    return true;
}

static bool argument_of_name(const void *context, const RequiredTerm *term, int64_t *value) {
    const Launch *launch = context;
    if (term->kind == TERM_GRID || term->kind == TERM_BLOCK) {
        *value = (term->kind == TERM_GRID ? launch->grid : launch->block)[term->axis];
        return *value > 0;
    }
    const Argument *argument = launch_find(launch, term->name);
    bool memory = argument && (argument->kind == ARGUMENT_TENSOR || argument->kind == ARGUMENT_DESCRIPTOR);
    bool dimension = memory && term->axis < argument->rank;
    if (term->kind == TERM_ARGUMENT && argument && argument->kind == ARGUMENT_INTEGER)
        *value = argument->integer;
    else if (term->kind == TERM_SIZE && memory)
        *value = argument->has_storage ? argument->storage[1] : argument_elements(argument);
    else if (term->kind == TERM_SHAPE && dimension)
        *value = argument->shape[term->axis];
    else if (term->kind == TERM_STRIDE && dimension)
        *value = argument->strides[term->axis];
    else
        return false;
    return term->kind != TERM_SIZE || *value >= 0;
}

static PromiseAnswer strides_nest(const Requirement *promise, const Proof *proof, const Launch *launch) {
    enum { MOST_ARGUMENTS = 256 };
    LaunchNumber room[MOST_ARGUMENTS];
    Interval atoms[MOST_ATOMS];
    PromiseAnswer answer = PROMISE_UNKNOWN;
    if (!proof || !proof->proved || proof->name_count > MOST_ARGUMENTS)
        return PROMISE_UNKNOWN;
    LaunchNumbers numbers = launch_numbers(launch, proof->names, proof->name_count, room);
    quantities_at(&proof->quantities, &numbers, atoms);
    for (uint32_t i = 0; i < proof->where_count && answer != PROMISE_BROKEN; i++)
        if (has_words(promise, &proof->where[i]))
            answer = condition_holds(&proof->quantities, atoms, &proof->where[i]) ? PROMISE_KEPT : PROMISE_BROKEN;
    return answer;
}

PromiseAnswer promise_kept(const Requirement *promise, const Proof *proof, const Launch *launch) {
    bool holds;
    if (promise->relation == REQUIRES_NEST)
        return strides_nest(promise, proof, launch);
    if (!requirement_value(promise, argument_of_name, launch, &holds))
        return PROMISE_UNKNOWN;
    return holds ? PROMISE_KEPT : PROMISE_BROKEN;
}

typedef struct PromiseValues {
    const Launch *launch;
    Text *to;
    size_t begin;
} PromiseValues;

static void print_name(const RequiredTerm *name, Text *to) {
    if (name->kind == TERM_GRID || name->kind == TERM_BLOCK) {
        text_addf(to, "%s.%c", name->kind == TERM_GRID ? "grid" : "block", "xyz"[name->axis]);
        return;
    }
    text_addf(to, "%s", name->kind == TERM_SIZE ? "size of " : "");
    text_add_plain(to, name->name);
    if (name->kind == TERM_SHAPE || name->kind == TERM_STRIDE)
        text_addf(to, ".%s[%u]", name->kind == TERM_SHAPE ? "shape" : "strides", name->axis);
}

static void print_value(void *context, const RequiredTerm *name) {
    PromiseValues *values = context;
    Text one = {0};
    int64_t value;
    print_name(name, &one);
    if (argument_of_name(values->launch, name, &value))
        text_addf(&one, " is %" PRId64, value);
    Text *to = values->to;
    const char *known = to->size > values->begin && one.size
                            ? memmem(to->data + values->begin, to->size - values->begin, one.data, one.size)
                            : NULL;
    if (!known) {
        text_addf(to, "%s", to->size > values->begin ? ", " : "");
        text_add(to, one.data, one.size);
    }
    text_free(&one);
}

void promise_values(const Requirement *promise, const Launch *launch, Text *to) {
    PromiseValues values = {.launch = launch, .to = to, .begin = to->size};
    requirement_names(promise, print_value, &values);
}

/* ---- All of them ----------------------------------------------------------------------------------- */

/* A number of an atom that fits what is known of it, near one that was made up. */
static int64_t fitting(const Facts *facts, const QuantityAtom *wanted, int64_t number) {
    for (uint32_t i = 0; i < facts->quantities->atom_count; i++) {
        const QuantityAtom *atom = &facts->quantities->atoms[i];
        if (atom->kind != wanted->kind || atom->of != wanted->of || atom->axis != wanted->axis)
            continue;
        Interval interval = facts->atoms[i];
        Congruence known = congruence_of_atom(facts, i);
        number = number < interval.least ? interval.least : number > interval.most ? interval.most : number;
        if (known.by > 1) {
            number += ((known.rest - number) % known.by + known.by) % known.by;
            number -= number > interval.most ? known.by : 0;
        }
    }
    return number;
}

/* "s == N + 3": then it is. */
static void make_equal(const Facts *facts, const Requirement *promise, LaunchNumber *room,
                       const LaunchNumbers *launch) {
    const RequiredTerm *sides[] = {promise->a, promise->b};
    Numbers numbers = {facts->proof, launch};
    for (unsigned side = 0; side < 2 && promise->relation == REQUIRES_EQUAL; side++) {
        uint32_t parameter =
            sides[side]->kind == TERM_ARGUMENT ? parameter_named(facts->proof, sides[side]->name) : UINT32_MAX;
        int64_t value;
        if (parameter < launch->count && term_value(sides[1 - side], number_of_name, &numbers, &value)) {
            room[parameter].value = value;
            return;
        }
    }
}

static bool are_kept(const Facts *facts, const Requirement *promises, size_t count, const LaunchNumbers *launch) {
    Numbers numbers = {facts->proof, launch};
    for (size_t i = 0; i < count; i++) {
        bool holds = true;
        if (promises[i].relation != REQUIRES_NEST &&
            requirement_value(&promises[i], number_of_name, &numbers, &holds) && !holds)
            return false;
    }
    return true;
}

/* Whether there is a launch that the proof covers and that keeps all promises. */
static bool can_be_kept(const Facts *facts, const Requirement *promises, size_t count, Arena *arena) {
    enum { TRIES = 3000 };
    const Proof *proof = facts->proof;
    uint64_t seed = 7;
    LaunchNumbers launch;
    LaunchNumber *room = ARENA_ARRAY(arena, LaunchNumber, proof->name_count + 1);
    for (unsigned n = 0; n < TRIES; n++) {
        proof_some_launch(proof, &seed, INT64_MAX, room, &launch);
        for (unsigned axis = 0; axis < 3; axis++)
            launch.grid[axis] =
                fitting(facts, &(QuantityAtom){.kind = ATOM_PROGRAMS, .axis = (uint8_t)axis}, launch.grid[axis]);
        for (uint32_t i = 0; i < proof->name_count; i++) {
            room[i].value = fitting(facts, &(QuantityAtom){.kind = ATOM_ARGUMENT, .of = i}, room[i].value);
            for (unsigned axis = 0; axis < room[i].rank; axis++) {
                QuantityAtom atom = {.kind = ATOM_SHAPE, .of = i, .axis = (uint8_t)axis};
                room[i].shape[axis] = fitting(facts, &atom, room[i].shape[axis]);
                atom.kind = ATOM_STRIDE;
                room[i].strides[axis] = fitting(facts, &atom, room[i].strides[axis]);
            }
        }
        for (size_t i = 0; i < count; i++)
            make_equal(facts, &promises[i], room, &launch);
        if (are_kept(facts, promises, count, &launch) && proof_covers_numbers(proof, &launch, NULL))
            return true;
    }
    return false;
}

bool proof_promised(const Proof *proof, const Requirement *promises, size_t count, Arena *arena, bool *promised) {
    Facts *facts = ARENA_NEW(arena, Facts);
    memset(promised, 0, proof->where_count * sizeof *promised);
    if (!count)
        return true;
    facts->proof = proof;
    facts->quantities = quantities_copy(&proof->quantities, arena);
    for (size_t i = 0; i < count; i++)
        add_promise(facts, &promises[i]);
    quantities_at(facts->quantities, NULL, facts->atoms);
    if (!refine(facts) || !can_be_kept(facts, promises, count, arena))
        return false;
    for (uint32_t i = 0; i < proof->where_count; i++) {
        promised[i] = follows(facts, &proof->where[i]);
        for (size_t k = 0; k < count; k++)
            promised[i] |= has_words(&promises[k], &proof->where[i]);
    }
    return true;
}
