/* The lines of a certificate. What they say is checked elsewhere (steps.c). */
#include "check/certificate/reader.h"

#include "ir/op.h"

static const char *const kind_words[NUMBER_KINDS] = {
    [NUMBER_ARGUMENT] = "argument", [NUMBER_SHAPE] = "shape",     [NUMBER_STRIDE] = "stride",
    [NUMBER_PROGRAMS] = "programs", [NUMBER_PROGRAM] = "program", [NUMBER_LANE] = "lane",
    [NUMBER_TRIP] = "trip",         [NUMBER_DIVIDE] = "divide",   [NUMBER_REMAINDER] = "remainder",
    [NUMBER_MINIMUM] = "minimum",   [NUMBER_MAXIMUM] = "maximum", [NUMBER_DATA] = "data"};

const char certificate_first_line[] = "weir certificate 1";

/* ---- Words ---------------------------------------------------------------------------------------- */

static void fail(CertificateText *reading, const char *why) {
    reading->wrong = reading->wrong ? reading->wrong : why;
}

static void skip_blanks(CertificateText *reading) {
    while (reading->at < reading->end && *reading->at == ' ')
        reading->at++;
}

static bool take(CertificateText *reading, char sign) {
    skip_blanks(reading);
    bool there = reading->at < reading->end && *reading->at == sign;
    reading->at += there;
    return there;
}

static void expect(CertificateText *reading, char sign) {
    if (!take(reading, sign))
        fail(reading, "a sign is missing between two numbers");
}

static Str word(CertificateText *reading) {
    skip_blanks(reading);
    const char *from = reading->at;
    while (reading->at < reading->end && *reading->at >= 'a' && *reading->at <= 'z')
        reading->at++;
    return str_between(from, reading->at);
}

static int64_t integer(CertificateText *reading) {
    skip_blanks(reading);
    const char *from = reading->at;
    int64_t value = 0;
    while (reading->at < reading->end &&
           ((*reading->at >= '0' && *reading->at <= '9') || (*reading->at == '-' && reading->at == from)))
        reading->at++;
    bool padded = reading->at - from > 1 && *from == '0'; /* there is one way to write it */
    if (padded || !str_to_int(str_between(from, reading->at), &value))
        fail(reading, "a whole number is expected");
    return value;
}

static uint32_t index_below(CertificateText *reading, uint32_t count) {
    int64_t value = integer(reading);
    if (value < 0 || value >= count)
        fail(reading, "a number is beyond what there is");
    return reading->wrong ? 0 : (uint32_t)value;
}

/* "12", or "a3": an atom. */
static const Number *factor(CertificateText *reading) {
    if (!take(reading, 'a'))
        return number_constant(reading->checker->numbers, integer(reading));
    uint32_t at = index_below(reading, reading->atom_count);
    return reading->wrong ? NULL : reading->atoms[at];
}

/* "128*a2+a3-1" */
static const Number *number(CertificateText *reading) {
    NumberTable *numbers = reading->checker->numbers;
    const Number *sum = number_constant(numbers, 0);
    int64_t sign = take(reading, '-') ? -1 : 1;
    do {
        const Number *product = factor(reading);
        while (!reading->wrong && take(reading, '*'))
            product = number_multiply(numbers, product, factor(reading));
        sum = number_add(numbers, sum, product, sign);
        sign = take(reading, '+') ? 1 : take(reading, '-') ? -1 : 0;
    } while (sign && !reading->wrong);
    if (!sum)
        fail(reading, "a number is too long");
    return sum;
}

static const Number *number_or_none(CertificateText *reading) {
    const char *from = reading->at;
    if (str_is(word(reading), "none"))
        return NULL;
    reading->at = from;
    return number(reading);
}

/* " : i, j", the coordinates of an element; none of a scalar. */
static uint32_t lanes(CertificateText *reading) {
    ElementLanes lanes = {.rank = 0};
    while (!reading->wrong && take(reading, lanes.rank ? ',' : ':')) {
        if (lanes.rank == TENSOR_MOST_DIMS)
            fail(reading, "too many coordinates");
        else
            lanes.at[lanes.rank++] = number(reading);
    }
    return reading->wrong ? NO_LANES : lanes_number(reading->checker, &lanes);
}

static const Op *op(CertificateText *reading) {
    uint32_t at = index_below(reading, reading->checker->op_count);
    return reading->checker->ops[at];
}

/* An op and an argument of its first block, or, of `result`, one of its results. */
static const Value *value(CertificateText *reading, bool result) {
    const Op *of = op(reading);
    if (result)
        return of->result_count ? &of->results[index_below(reading, of->result_count)]
                                : (fail(reading, "the op has no result"), NULL);
    const Block *block = of->region_count ? of->regions[0].first : NULL;
    if (!block || !block->arg_count)
        fail(reading, "the op's region has no arguments");
    return reading->wrong ? NULL : &block->args[index_below(reading, block->arg_count)];
}

/* ---- Lines ---------------------------------------------------------------------------------------- */

static const Number *atom_line(CertificateText *reading) {
    NumberTable *numbers = reading->checker->numbers;
    Str name = word(reading);
    NumberAtom atom = {.kind = NUMBER_ARGUMENT};
    while (atom.kind < NUMBER_KINDS && !str_is(name, kind_words[atom.kind]))
        atom.kind++;
    switch (atom.kind) {
    case NUMBER_ARGUMENT:
        atom.of = index_below(reading, reading->checker->parameter_count);
        return value_at(reading->checker, &reading->checker->function->regions[0].first->args[atom.of], NO_LANES);
    case NUMBER_SHAPE:
    case NUMBER_STRIDE:
        atom.of = index_below(reading, reading->checker->parameter_count);
        atom.axis = index_below(reading, TENSOR_MOST_DIMS);
        break;
    case NUMBER_PROGRAMS:
    case NUMBER_PROGRAM:
        atom.axis = index_below(reading, 3);
        break;
    case NUMBER_LANE:
        atom.axis = index_below(reading, 32);
        atom.extent = 1 + (int64_t)index_below(reading, UINT32_MAX);
        break;
    case NUMBER_DATA: {
        bool result = !take(reading, '@');
        const Value *of = value(reading, result);
        return reading->wrong ? NULL : value_data(reading->checker, of, lanes(reading));
    }
    case NUMBER_KINDS:
        fail(reading, "an atom of an unknown kind");
        return NULL;
    default:
        atom.key = atom.kind == NUMBER_TRIP ? op(reading) : NULL;
        atom.a = number(reading);
        expect(reading, ',');
        atom.b = number(reading);
        if (!reading->wrong && atom.kind != NUMBER_TRIP)
            return number_of_two(numbers, atom.kind, atom.a, atom.b);
        break;
    }
    return reading->wrong ? NULL : number_atom(numbers, atom);
}

static void level_line(CertificateText *reading, NestingLevel *level) {
    level->factor = number(reading);
    for (unsigned side = 0; side < 2; side++) {
        expect(reading, ',');
        level->value[side] = number(reading);
        expect(reading, ',');
        level->least[side] = number_or_none(reading);
        expect(reading, ',');
        level->most[side] = number_or_none(reading);
    }
}

static void asked_line(CertificateText *reading, bool is_free) {
    Precondition *asked =
        ARENA_PUSH(reading->checker->arena, reading->asked, reading->asked_count, reading->asked_capacity);
    Str kind = word(reading);
    *asked = (Precondition){.kind = ASKED_NEST, .free = is_free, .line = reading->line};
    if (str_is(kind, "nest")) {
        do {
            if (asked->count == MOST_LEVELS_OF_NEST)
                fail(reading, "too many levels");
            else
                level_line(reading, &asked->levels[asked->count++]);
        } while (!reading->wrong && take(reading, ';'));
        return;
    }
    asked->kind = str_is(kind, "equal") ? ASKED_EQUAL : ASKED_LEAST;
    if (is_free || (!str_is(kind, "equal") && !str_is(kind, "least")))
        fail(reading, "nest, equal or least is expected");
    asked->a = number(reading);
    expect(reading, ',');
    asked->b = number(reading);
}

static int64_t limit(CertificateText *reading, int64_t none) {
    const char *from = reading->at;
    if (str_is(word(reading), "none"))
        return none;
    reading->at = from;
    return integer(reading);
}

static void access_line(CertificateText *reading) {
    Listed *listed =
        ARENA_PUSH(reading->checker->arena, reading->listed, reading->listed_count, reading->listed_capacity);
    *listed = (Listed){.line = reading->line, .op = index_below(reading, reading->checker->op_count)};
    listed->effect = index_below(reading, UINT32_MAX);
    listed->root = integer(reading);
    listed->bytes = integer(reading);
    expect(reading, ':');
    listed->offset = number_or_none(reading);
    while (!reading->wrong && take(reading, ';')) {
        if (listed->held.count == MOST_HELD)
            fail(reading, "too many conditions");
        else
            listed->held.all[listed->held.count++] = number(reading);
    }
}

static void launch_line(CertificateText *reading) {
    if (reading->given_line)
        fail(reading, "a second launch");
    reading->given_line = reading->line;
    for (unsigned i = 0; i < 3; i++)
        reading->grid[i] = integer(reading);
    while (!reading->wrong && take(reading, ';')) {
        GivenArgument *given =
            ARENA_PUSH(reading->checker->arena, reading->given, reading->given_count, reading->given_capacity);
        *given = (GivenArgument){.value = integer(reading)};
        given->rank = index_below(reading, 9);
        for (uint32_t i = 0; i < given->rank; i++)
            given->shape[i] = integer(reading);
        for (uint32_t i = 0; i < given->rank; i++)
            given->strides[i] = integer(reading);
    }
}

/* One of two words. */
static bool one_of(CertificateText *reading, const char *yes, const char *no) {
    Str which = word(reading);
    if (!str_is(which, yes) && !str_is(which, no))
        fail(reading, "one of two words is expected");
    return str_is(which, yes);
}

static void count_line(CertificateText *reading) {
    if (reading->count_count == MOST_COUNTS || reading->run_count) {
        fail(reading, "too many trip counts");
        return;
    }
    TripNumber *count = &reading->counts[reading->count_count++];
    int64_t *const numbers[] = {&count->factor, &count->more,  &count->step,    &count->from,
                                &count->period, &count->least, &count->fastest, &count->limit};
    *count = (TripNumber){
        .line = reading->line, .op = index_below(reading, reading->checker->op_count), .asked = UINT32_MAX};
    count->turns = one_of(reading, "turns", "number");
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        *numbers[i] = integer(reading);
        if (*numbers[i] > INT32_MAX || *numbers[i] < INT32_MIN)
            fail(reading, "a number is beyond 32 bits");
    }
    skip_blanks(reading);
    if (reading->at < reading->end && str_is(word(reading), "where"))
        count->asked = index_below(reading, reading->asked_count);
}

static void run_line(CertificateText *reading) {
    MadeRun *run = ARENA_PUSH(reading->checker->arena, reading->runs, reading->run_count, reading->run_capacity);
    *run = (MadeRun){.line = reading->line};
    run->conditions = index_below(reading, 1u << reading->condition_count);
    for (uint32_t i = 0; i < reading->count_count; i++) {
        expect(reading, ';');
        run->of[i].down = one_of(reading, "down", "up");
        run->of[i].value = integer(reading);
        run->of[i].reach = limit(reading, INT64_MAX);
        run->of[i].speaks = one_of(reading, "speaks", "alone");
        if (run->of[i].value > INT32_MAX || run->of[i].value < INT32_MIN || run->of[i].reach < 0)
            fail(reading, "a number is beyond 32 bits");
    }
}

static void step_line(CertificateText *reading, CertificateStepKind kind) {
    static const char *const ways[] = {"known", "pinned", "one"};
    CertificateStep *step =
        ARENA_PUSH(reading->checker->arena, reading->steps, reading->step_count, reading->step_capacity);
    *step = (CertificateStep){.kind = kind, .line = reading->line};
    if (kind == STEP_PAIR || kind == STEP_BY) {
        step->a = index_below(reading, UINT32_MAX);
        step->b = index_below(reading, kind == STEP_PAIR ? reading->listed_count : reading->asked_count);
    } else if (kind == STEP_APART) {
        step->a = index_below(reading, UINT32_MAX);
    } else if (kind == STEP_JOIN) {
        step->joined[0] = number(reading);
        expect(reading, ',');
        step->joined[1] = number(reading);
    } else if (kind == STEP_AXIS) {
        step->a = index_below(reading, 3);
        Str way = word(reading);
        while (step->how < AXIS_ONE && !str_is(way, ways[step->how]))
            step->how++;
        if (!str_is(way, ways[step->how]))
            fail(reading, "known, pinned or one is expected");
        if (step->how == AXIS_ONE)
            step->b = index_below(reading, reading->asked_count);
    }
}

static void line(CertificateText *reading) {
    static const char *const steps[] = {"pair", "by", "apart", "join", "axis", "alike", "same", "ordered"};
    Arena *arena = reading->checker->arena;
    const char *from = reading->at;
    Str name = word(reading);
    if (str_is(name, "a")) {
        reading->at = from + 1;
        if (integer(reading) != reading->atom_count)
            fail(reading, "atoms are not numbered one after the other");
        const Number *atom = reading->wrong ? NULL : atom_line(reading);
        if (!atom)
            fail(reading, "the atom is too long");
        *ARENA_PUSH(arena, reading->atoms, reading->atom_count, reading->atom_capacity) = atom;
    } else if (str_is(name, "turns")) {
        Claim *claim = ARENA_PUSH(arena, reading->checker->claims, reading->checker->claim_count,
                                  reading->checker->claim_capacity);
        expect(reading, '@');
        claim->argument = value(reading, false);
        claim->lanes = lanes(reading);
        expect(reading, '=');
        claim->number = number(reading);
        *ARENA_PUSH(arena, reading->claim_lines, reading->claim_line_count, reading->claim_line_capacity) =
            reading->line;
    } else if (str_is(name, "bound")) {
        AskedBound *bound = ARENA_PUSH(arena, reading->bounds, reading->bound_count, reading->bound_capacity);
        *bound = (AskedBound){.line = reading->line, .range.least = limit(reading, -NUMBER_BEYOND)};
        bound->range.most = limit(reading, NUMBER_BEYOND);
        expect(reading, ':');
        bound->what = number(reading);
    } else if (str_is(name, "where") || str_is(name, "free")) {
        asked_line(reading, str_is(name, "free"));
    } else if (str_is(name, "access")) {
        access_line(reading);
    } else if (str_is(name, "launch")) {
        launch_line(reading);
    } else if (str_is(name, "count")) {
        count_line(reading);
    } else if (str_is(name, "runs") && !reading->runs_line) {
        reading->condition_count = index_below(reading, MOST_OPEN_CONDITIONS + 1);
        reading->runs_line = reading->line;
    } else if (str_is(name, "run") && reading->runs_line) {
        run_line(reading);
    } else {
        unsigned kind = STEP_PAIR;
        while (kind <= STEP_ORDERED && !str_is(name, steps[kind]))
            kind++;
        if (kind <= STEP_ORDERED)
            step_line(reading, (CertificateStepKind)kind);
        else
            fail(reading, "a line of a certificate begins with another word");
    }
    skip_blanks(reading);
    if (reading->at != reading->end)
        fail(reading, "something is behind the end of what the line says");
}

/* ---- The text ------------------------------------------------------------------------------------- */

static bool next_line(CertificateText *reading) {
    const char *end = reading->text.data + reading->text.size;
    if (reading->end == end)
        return false;
    reading->at = reading->line++ ? reading->end + 1 : reading->text.data;
    const char *newline = memchr(reading->at, '\n', (size_t)(end - reading->at));
    reading->end = newline ? newline : end;
    return newline || reading->at < end;
}

bool certificate_read(CertificateText *reading, Str kernel) {
    static const Str of = {"kernel ", 7};
    bool found = false, complete = true;
    reading->end = NULL;
    if (!next_line(reading) || !str_is(str_between(reading->at, reading->end), certificate_first_line)) {
        fail(reading, "the first line of a certificate is \"weir certificate 1\"");
        return false;
    }
    while (!reading->wrong && next_line(reading)) {
        Str all = str_between(reading->at, reading->end);
        if (str_starts(all, of)) {
            Str name = str_between(all.data + of.size, all.data + all.size);
            bool again = found && str_equal(name, kernel);
            if (found || again) {
                if (again)
                    fail(reading, "the kernel is there twice");
                break;
            }
            found = str_equal(name, kernel);
            complete = !found;
        } else if (found && str_is(all, "end")) {
            complete = true;
            break;
        } else if (found) {
            line(reading);
        }
    }
    if (!reading->wrong && !complete)
        fail(reading, "the certificate ends before its last line, \"end\"");
    return found && !reading->wrong;
}
