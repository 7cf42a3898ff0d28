/* How values change from CTA to CTA, beside a run of one of them: see alike.h. */
#include "emulate/ptx/alike.h"

#include "model/effect/ptx_column.h"
#include "ptx/effects.h"

#include <stdlib.h>

/* How a register's value changes. */
typedef struct Change {
    int64_t by[3];
    bool kept; /* false: in a way that is not kept */
} Change;

/* What an instruction is, for this: found once. */
typedef struct About {
    uint8_t evaluator; /* PtxEvaluator */
    uint8_t bits;      /* of what is compared or computed; 0: no whole number */
    uint8_t from_bits; /* cvt, wide: of the sources */
    bool is_signed, from_signed;
    bool pure;         /* no effects */
    bool accesses;     /* memory */
    bool told;         /* barriers, counts, sizes: all that it reads decides */
    uint8_t compare;   /* Compare */
    bool synchronizes; /* a strong access, a fence of CTAs: others may see it */
} About;

typedef enum Compare { COMPARE_NO, COMPARE_EQ, COMPARE_NE, COMPARE_LT, COMPARE_LE, COMPARE_GT, COMPARE_GE } Compare;

struct Alike {
    Arena *arena;
    const PtxProgram *program;
    About *abouts;
    uint32_t warps, rows, masks, ctaid;
    Change *changes;    /* of each row of each warp */
    bool *mask_differs; /* of each mask of each warp */
    uint32_t cta[3];
    AlikeBound *bounds;
    uint32_t bound_count, bound_capacity;
    AlikeTouch *touches;
    uint32_t touch_count, touch_capacity, sorted;
    const PtxCode *alone;
    const char *why;
    Change address; /* of the access that the machine is about to tell */
};

static const Change same = {.kept = true}, differs = {.kept = false};

static bool is_same(const Change *change) {
    return change->kept && !change->by[0] && !change->by[1] && !change->by[2];
}

static bool equal(const Change *a, const Change *b) {
    return a->kept && b->kept && !memcmp(a->by, b->by, sizeof a->by);
}

/* ---- Instructions, once ---- */

static void take_type(Str name, uint8_t *bits, bool *is_signed) {
    *bits = 0;
    *is_signed = name.size && name.data[0] == 's';
    if (name.size < 2 || !strchr("bus", name.data[0]) || name.data[name.size - 2] == 'x')
        return;
    for (size_t i = 1; i < name.size; i++)
        *bits = (uint8_t)(*bits * 10 + (name.data[i] - '0'));
}

static uint8_t compare_of(Str word) {
    static const struct {
        const char *name;
        uint8_t compare;
    } words[] = {{"eq", COMPARE_EQ}, {"ne", COMPARE_NE}, {"lt", COMPARE_LT}, {"lo", COMPARE_LT}, {"le", COMPARE_LE},
                 {"ls", COMPARE_LE}, {"gt", COMPARE_GT}, {"hi", COMPARE_GT}, {"ge", COMPARE_GE}, {"hs", COMPARE_GE}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_is(word, words[i].name))
            return words[i].compare;
    return COMPARE_NO;
}

static About about_of(const PtxProgram *program, const PtxCode *code) {
    About about = {.evaluator = (uint8_t)code->form->evaluator};
    PtxEffect effects[PTX_EFFECTS_MOST];
    const PtxStatement *statement = &program->module->statements[code->statement];
    unsigned count = ptx_effects_of(program->module, statement, effects);
    about.pure = !count;
    for (unsigned i = 0; i < count; i++) {
        const Effect *effect = &effects[i].effect;
        if (effect_is_access(effect) && effect->order != ORDER_WEAK && effect->space != SPACE_SHARED)
            about.synchronizes = true;
        about.accesses |= effect_is_access(effect);
        about.told |=
            effects[i].limit.size || effects[i].ctas.size || effects[i].stride.size ||
            !(effect_is_access(effect) || effect->verb == EFFECT_WARP_SYNC || effect->verb == EFFECT_CONVERGED);
    }
    if (!code->form->row)
        return about;
    take_type(code_modifier(code, STR("t")), &about.bits, &about.is_signed);
    if (about.evaluator == PTX_EVALUATE_CVT) {
        take_type(code_modifier(code, STR("d")), &about.bits, &about.is_signed);
        take_type(code_modifier(code, STR("s")), &about.from_bits, &about.from_signed);
    } else if (code_has(code, STR("wide"))) {
        about.from_bits = about.bits;
        about.from_signed = about.is_signed;
        about.bits = (uint8_t)(about.bits * 2);
    }
    about.compare = compare_of(code_modifier(code, STR("compare")));
    return about;
}

/* Whether what a kernel does is of the kind that is kept: no calls, no CTAs that wait for one another. */
static bool is_plain(const PtxMachine *machine) {
    uint32_t ready = 0;
    for (uint32_t i = 0; i < machine->program->module->functions_count; i++)
        ready += machine->program->routines[i].ready;
    return ready == 1 && machine->cluster_size == 1;
}

Alike *alike_new(Arena *arena, const PtxMachine *machine) {
    if (!is_plain(machine))
        return NULL;
    const PtxProgram *program = machine->program;
    const PtxRoutine *routine = &program->routines[program->entry];
    Alike *alike = ARENA_NEW(arena, Alike);
    unsigned number;
    *alike = (Alike){.arena = arena,
                     .program = program,
                     .warps = (machine->threads_per_cta + PTX_LANES - 1) / PTX_LANES,
                     .rows = routine->rows,
                     .masks = routine->masks,
                     .ctaid = ptx_special_index(ptx_special(STR("%ctaid"), &number))};
    alike->abouts = ARENA_ARRAY(arena, About, program->code_count + 1);
    for (uint32_t i = routine->begin; i < routine->end; i++) {
        alike->abouts[i] = about_of(program, &program->code[i]);
        if (alike->abouts[i].synchronizes)
            return NULL;
    }
    alike->changes = ARENA_ARRAY(arena, Change, (size_t)alike->warps * alike->rows + 1);
    alike->mask_differs = ARENA_ARRAY(arena, bool, (size_t)alike->warps * alike->masks + 1);
    return alike;
}

void alike_start(Alike *alike, const uint32_t cta[3]) {
    memcpy(alike->cta, cta, sizeof alike->cta);
    for (size_t i = 0; i < (size_t)alike->warps * alike->rows; i++)
        alike->changes[i] = same;
    memset(alike->mask_differs, 0, (size_t)alike->warps * alike->masks);
    alike->bound_count = alike->touch_count = alike->sorted = 0;
    alike->alone = NULL;
    alike->why = NULL;
}

/* ---- Bounds ---- */

static void go_alone(Alike *alike, const PtxCode *code, const char *why) {
    if (!alike->alone) {
        alike->alone = code;
        alike->why = why;
    }
}

/* The change times d stays from `least` to `most`. */
static void bind(Alike *alike, const Change *change, int64_t least, int64_t most) {
    if (is_same(change))
        return;
    for (uint32_t i = 0; i < alike->bound_count; i++) {
        AlikeBound *bound = &alike->bounds[i];
        if (memcmp(bound->by, change->by, sizeof bound->by))
            continue;
        bound->least = least > bound->least ? least : bound->least;
        bound->most = most < bound->most ? most : bound->most;
        return;
    }
    AlikeBound *bound = ARENA_PUSH(alike->arena, alike->bounds, alike->bound_count, alike->bound_capacity);
    *bound = (AlikeBound){.least = least, .most = most};
    memcpy(bound->by, change->by, sizeof bound->by);
}

static int64_t as_number(uint64_t value, unsigned bits, bool is_signed) {
    if (bits >= 64)
        return (int64_t)value;
    return is_signed ? (int64_t)(value << (64 - bits)) >> (64 - bits) : (int64_t)(value & ((UINT64_C(1) << bits) - 1));
}

/* As a number of that type it does not wrap, in any of the lanes: then it changes as a whole number does. */
static void bind_type(Alike *alike, const Change *change, const Lanes *values, uint32_t lanes, unsigned bits,
                      bool is_signed) {
    if (is_same(change))
        return;
    int64_t low = is_signed ? bits >= 64 ? INT64_MIN : -(INT64_C(1) << (bits - 1)) : 0;
    int64_t high = bits >= 64 ? INT64_MAX : (INT64_C(1) << (bits - (is_signed ? 1 : 0))) - 1;
    int64_t least = INT64_MIN, most = INT64_MAX;
    for (unsigned lane = 0; lane < PTX_LANES; lane++) {
        if (!(lanes >> lane & 1))
            continue;
        int64_t value = as_number(values->at[lane], bits, is_signed), down, up;
        if (!__builtin_sub_overflow(low, value, &down) && down > least)
            least = down;
        if (!__builtin_sub_overflow(high, value, &up) && up < most)
            most = up;
    }
    bind(alike, change, least, most);
}

/* ---- Operands ---- */

static Change *row_of(Alike *alike, const PtxGroup *group, const PtxArgument *argument) {
    return &alike->changes[(size_t)group->warp->index * alike->rows + argument->slot];
}

static bool *mask_of(Alike *alike, const PtxGroup *group, const PtxArgument *argument) {
    return &alike->mask_differs[(size_t)group->warp->index * alike->masks + argument->slot];
}

static Change change_of(Alike *alike, const PtxGroup *group, const PtxArgument *argument) {
    Change change = same;
    if (argument->kind == ARGUMENT_ROW)
        return *row_of(alike, group, argument);
    if (argument->kind == ARGUMENT_PREDICATE)
        return *mask_of(alike, group, argument) ? differs : same;
    if (argument->kind == ARGUMENT_READ_ONLY) {
        const PtxSpecial *special = ptx_special_at(argument->slot);
        if (argument->slot == alike->ctaid && argument->part >= PTX_X && argument->part <= PTX_Z)
            change.by[argument->part - PTX_X] = 1;
        else if (str_is(str_of(special->varies), "cta") || str_is(str_of(special->varies), "cluster") ||
                 !*special->varies)
            return differs;
    }
    return change;
}

/* Of all arguments that are read, and of their members: same, or not kept. */
static bool all_same(Alike *alike, const PtxGroup *group, const PtxArgument *argument) {
    if (argument->kind == ARGUMENT_MEMBERS || argument->kind == ARGUMENT_ADDRESS) {
        for (uint32_t i = 0; i < argument->count; i++)
            if (!all_same(alike, group, argument_member(alike->program, argument, i)))
                return false;
        return true;
    }
    Change change = change_of(alike, group, argument);
    return is_same(&change);
}

/* A register gets a new value in some lanes. */
static void set(Alike *alike, const PtxGroup *group, const PtxArgument *to, Change change, uint32_t lanes) {
    if (to->kind == ARGUMENT_MEMBERS) {
        for (uint32_t i = 0; i < to->count; i++)
            set(alike, group, argument_member(alike->program, to, i), change, lanes);
    } else if (to->kind == ARGUMENT_ROW) {
        bool whole = lanes == group->warp->launched || (group->frame->row_unknown[to->slot] | lanes) == UINT32_MAX;
        for (uint32_t i = 0; i < (to->bits > 64 ? 2u : 1u); i++) {
            Change *row = row_of(alike, group, to) + i;
            *row = whole || equal(row, &change) ? change : differs;
        }
    } else if (to->kind == ARGUMENT_PREDICATE) {
        bool *mask = mask_of(alike, group, to);
        *mask = !is_same(&change) || (*mask && lanes != group->warp->launched);
    }
}

static bool uniform(const Lanes *values, uint32_t lanes, uint64_t *value) {
    *value = values->at[__builtin_ctz(lanes)];
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        if (lanes >> lane & 1 && values->at[lane] != *value)
            return false;
    return true;
}

/* ---- What instructions do to changes ---- */

/* What an instruction reads, fetched. */
typedef struct Read {
    Change change;
    const Lanes *values;
    Lanes scratch;
} Read;

typedef struct Step {
    Alike *alike;
    PtxMachine *machine;
    PtxGroup *group;
    const PtxCode *code;
    const About *about;
    uint32_t lanes;
    Read in[3];
} Step;

static void read_in(Step *s, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        uint32_t unknown = 0;
        const PtxArgument *argument = code_argument(s->alike->program, s->code, i + 1);
        s->in[i].change = change_of(s->alike, s->group, argument);
        s->in[i].values = ptx_fetch(s->machine, s->group, argument, 0, &s->in[i].scratch, &unknown);
        if (unknown & s->lanes)
            s->in[i].change = differs;
    }
}

static Change sum(Change a, Change b, int64_t sign) {
    if (!a.kept || !b.kept)
        return differs;
    for (unsigned i = 0; i < 3; i++) {
        int64_t more;
        if (__builtin_mul_overflow(b.by[i], sign, &more) || __builtin_add_overflow(a.by[i], more, &a.by[i]))
            return differs;
    }
    return a;
}

static Change times(const Step *s, const Read *a, const Read *by) {
    uint64_t factor;
    Change change = a->change;
    if (!is_same(&by->change) || !uniform(by->values, s->lanes, &factor))
        return differs;
    int64_t number = as_number(factor, s->about->from_bits ? s->about->from_bits : s->about->bits, true);
    if (s->about->from_bits && !s->about->from_signed)
        number = as_number(factor, s->about->from_bits, false);
    for (unsigned i = 0; i < 3; i++)
        if (__builtin_mul_overflow(change.by[i], number, &change.by[i]))
            return differs;
    return change;
}

static Change multiplied(Step *s) {
    const Read *a = &s->in[0], *b = &s->in[1];
    if (is_same(&a->change) && is_same(&b->change))
        return same;
    if (!a->change.kept || !b->change.kept || code_has(s->code, STR("hi")))
        return differs;
    const Read *changes = is_same(&a->change) ? b : a;
    if (s->about->from_bits)
        bind_type(s->alike, &changes->change, changes->values, s->lanes, s->about->from_bits, s->about->from_signed);
    return times(s, changes, changes == a ? b : a);
}

/* The lowest bit that a change has in any direction: what is below it stays. */
static unsigned low_bits(const Change *change) {
    uint64_t all = (uint64_t)(change->by[0] | change->by[1] | change->by[2]);
    return all ? (unsigned)__builtin_ctzll(all) : 64;
}

/* Whether all lanes have nothing above (or below) that bit. */
static bool fits(const Lanes *values, uint32_t lanes, unsigned bit, bool below) {
    if (bit >= 64)
        return below;
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        if (lanes >> lane & 1 && (below ? values->at[lane] >> bit : values->at[lane] & ((UINT64_C(1) << bit) - 1)))
            return false;
    return true;
}

/* a | b or a ^ b, of which one changes in bits that the other has not. */
static Change merged(const Step *s) {
    for (unsigned i = 0; i < 2; i++) {
        const Read *a = &s->in[i], *b = &s->in[1 - i];
        unsigned bit = low_bits(&a->change);
        if (a->change.kept && is_same(&b->change) && fits(b->values, s->lanes, bit, true) &&
            fits(a->values, s->lanes, bit, false))
            return a->change;
    }
    return differs;
}

/* a & b, where b has only bits below those that change, or all from there on. */
static Change masked(const Step *s) {
    for (unsigned i = 0; i < 2; i++) {
        const Read *a = &s->in[i], *b = &s->in[1 - i];
        unsigned bit = low_bits(&a->change);
        uint64_t mask;
        if (!a->change.kept || !is_same(&b->change) || !uniform(b->values, s->lanes, &mask))
            continue;
        if (bit >= 64 || !(mask >> bit))
            return same;
        uint64_t top = s->about->bits >= 64 ? UINT64_MAX : (UINT64_C(1) << s->about->bits) - 1;
        if ((mask | ((UINT64_C(1) << bit) - 1)) == top)
            return a->change;
    }
    return differs;
}

static Change shifted_right(Step *s) {
    uint64_t by;
    Change change = s->in[0].change;
    if (!change.kept || !is_same(&s->in[1].change) || !uniform(s->in[1].values, s->lanes, &by) ||
        by > low_bits(&change))
        return differs;
    bind_type(s->alike, &change, s->in[0].values, s->lanes, s->about->bits, s->about->is_signed);
    for (unsigned i = 0; i < 3; i++)
        change.by[i] >>= by;
    return change;
}

/* a / b or a % b, of a change by multiples of b. */
static Change divided(Step *s, bool remainder) {
    uint64_t by;
    Change change = s->in[0].change;
    if (!change.kept || !is_same(&s->in[1].change) || !uniform(s->in[1].values, s->lanes, &by))
        return differs;
    int64_t number = as_number(by, s->about->bits, s->about->is_signed);
    for (unsigned i = 0; i < 3; i++)
        if (number <= 0 || change.by[i] % number)
            return differs;
    /* Only from 0 on: below it division rounds the other way. */
    int64_t least = INT64_MIN, most = INT64_MAX;
    for (unsigned lane = 0; lane < PTX_LANES; lane++) {
        if (!(s->lanes >> lane & 1))
            continue;
        int64_t value = as_number(s->in[0].values->at[lane], s->about->bits, s->about->is_signed);
        if (value < 0)
            return differs;
        least = -value > least ? -value : least;
        int64_t top =
            s->about->bits >= 64 ? INT64_MAX : (INT64_C(1) << (s->about->bits - (s->about->is_signed ? 1 : 0))) - 1;
        most = top - value < most ? top - value : most;
    }
    bind(s->alike, &s->in[0].change, least, most);
    for (unsigned i = 0; i < 3; i++)
        change.by[i] = remainder ? 0 : change.by[i] / number;
    return change;
}

static Change converted(Step *s) {
    const Read *a = &s->in[0];
    if (!s->about->bits || !s->about->from_bits || code_has(s->code, STR("sat")))
        return is_same(&a->change) ? same : differs;
    if (s->about->bits > s->about->from_bits)
        bind_type(s->alike, &a->change, a->values, s->lanes, s->about->from_bits, s->about->from_signed);
    return a->change;
}

/* ---- Comparisons ---- */

/* What the comparison of a with b says stays as it is: bounds for t = a - b, which changes by `change`. */
static bool bind_difference(Alike *alike, const Change *change, uint8_t compare, const int64_t *t, uint32_t lanes) {
    int64_t least = INT64_MIN, most = INT64_MAX; /* of t over those below, and from 0 on */
    bool below = false, equal_there = false, above = false;
    int64_t most_below = INT64_MIN, least_above = INT64_MAX;
    for (unsigned lane = 0; lane < PTX_LANES; lane++) {
        if (!(lanes >> lane & 1))
            continue;
        if (t[lane] < 0) {
            below = true;
            most_below = t[lane] > most_below ? t[lane] : most_below;
        } else if (t[lane] > 0) {
            above = true;
            least_above = t[lane] < least_above ? t[lane] : least_above;
        } else {
            equal_there = true;
        }
    }
    /* Each of three kinds stays what it is, but that which the comparison does not tell apart may mix. */
    bool with_below = compare == COMPARE_LE || compare == COMPARE_GT,
         with_above = compare == COMPARE_LT || compare == COMPARE_GE;
    if (compare == COMPARE_EQ || compare == COMPARE_NE) {
        if (equal_there)
            least = most = 0;
    } else if (equal_there) {
        if (with_below)
            most = 0;
        if (with_above)
            least = 0;
    }
    if (below) {
        int64_t limit = -most_below - (with_below ? 0 : 1);
        most = limit < most ? limit : most;
    }
    if (above) {
        int64_t limit = -least_above + (with_above ? 0 : 1);
        least = limit > least ? limit : least;
    }
    bind(alike, change, least, most);
    return true;
}

/* Whether the outcome is the same in all CTAs for which the bounds hold. */
static bool compared(Step *s) {
    Change change = sum(s->in[0].change, s->in[1].change, -1);
    if (is_same(&s->in[0].change) && is_same(&s->in[1].change))
        return true;
    if (!change.kept || !s->about->bits || !s->about->compare)
        return false;
    int64_t t[PTX_LANES];
    for (unsigned i = 0; i < 2; i++)
        bind_type(s->alike, &s->in[i].change, s->in[i].values, s->lanes, s->about->bits, s->about->is_signed);
    for (unsigned lane = 0; lane < PTX_LANES; lane++) {
        int64_t a = as_number(s->in[0].values->at[lane], s->about->bits, s->about->is_signed);
        int64_t b = as_number(s->in[1].values->at[lane], s->about->bits, s->about->is_signed);
        if (s->lanes >> lane & 1 && (__builtin_sub_overflow(a, b, &t[lane]) || t[lane] == INT64_MIN))
            return false;
    }
    return is_same(&change) || bind_difference(s->alike, &change, s->about->compare, t, s->lanes);
}

/* ---- One instruction ---- */

static Change chosen(Step *s) {
    uint32_t unknown = 0;
    const PtxArgument *by = code_argument(s->alike->program, s->code, 3);
    Change how = change_of(s->alike, s->group, by);
    uint32_t mask = ptx_fetch_mask(s->machine, s->group, by, &unknown) & s->lanes;
    if (!is_same(&how) || unknown & s->lanes)
        return differs;
    if (equal(&s->in[0].change, &s->in[1].change) || mask == s->lanes)
        return s->in[0].change;
    return mask ? differs : s->in[1].change;
}

/* How the result of a computation changes. */
static Change result_of(Step *s) {
    switch (s->about->evaluator) {
    case PTX_EVALUATE_ADD:
    case PTX_EVALUATE_SUB:
        read_in(s, 2);
        return s->about->bits && !code_has(s->code, STR("sat")) && !code_has(s->code, STR("cc"))
                   ? sum(s->in[0].change, s->in[1].change, s->about->evaluator == PTX_EVALUATE_ADD ? 1 : -1)
                   : differs;
    case PTX_EVALUATE_MUL:
        read_in(s, 2);
        return s->about->bits ? multiplied(s) : differs;
    case PTX_EVALUATE_MAD:
        read_in(s, 3);
        return s->about->bits && !code_has(s->code, STR("cc")) ? sum(multiplied(s), s->in[2].change, 1) : differs;
    case PTX_EVALUATE_SHL: {
        uint64_t by;
        read_in(s, 2);
        if (!s->in[0].change.kept || !is_same(&s->in[1].change) || !uniform(s->in[1].values, s->lanes, &by) || by > 31)
            return differs;
        Change change = s->in[0].change;
        for (unsigned i = 0; i < 3; i++)
            if (__builtin_mul_overflow(change.by[i], INT64_C(1) << by, &change.by[i]))
                return differs;
        return change;
    }
    case PTX_EVALUATE_SHR:
        read_in(s, 2);
        return shifted_right(s);
    case PTX_EVALUATE_OR:
    case PTX_EVALUATE_XOR:
        read_in(s, 2);
        return s->about->bits ? merged(s) : differs;
    case PTX_EVALUATE_AND:
        read_in(s, 2);
        return s->about->bits ? masked(s) : differs;
    case PTX_EVALUATE_DIV:
    case PTX_EVALUATE_REM:
        read_in(s, 2);
        return s->about->bits ? divided(s, s->about->evaluator == PTX_EVALUATE_REM) : differs;
    case PTX_EVALUATE_NEG:
        read_in(s, 1);
        return s->about->bits ? sum(same, s->in[0].change, -1) : differs;
    case PTX_EVALUATE_CVT:
        read_in(s, 1);
        return converted(s);
    case PTX_EVALUATE_SELP:
        read_in(s, 2);
        return chosen(s);
    case PTX_EVALUATE_SHUFFLE:
    case PTX_EVALUATE_MOV:
    case PTX_EVALUATE_CVTA:
    case PTX_EVALUATE_CVTA_TO:
        read_in(s, 1);
        return s->in[0].change;
    default:
        return differs;
    }
}

static bool reads_all_same(const Step *s, uint32_t first) {
    for (uint32_t i = first; i < s->code->count; i++)
        if (!all_same(s->alike, s->group, code_argument(s->alike->program, s->code, i)))
            return false;
    return true;
}

static void compute(Step *s) {
    const PtxProgram *program = s->alike->program;
    const PtxArgument *to = code_argument(program, s->code, 0);
    bool packs = s->code->count > 1 &&
                 (to->kind == ARGUMENT_MEMBERS || code_argument(program, s->code, 1)->kind == ARGUMENT_MEMBERS);
    if (reads_all_same(s, 1)) {
        set(s->alike, s->group, to, same, s->lanes);
    } else if (s->about->evaluator == PTX_EVALUATE_SETP) {
        read_in(s, 2);
        bool held = s->code->count <= 3 || all_same(s->alike, s->group, code_argument(program, s->code, 3));
        set(s->alike, s->group, to, compared(s) && held ? same : differs, s->lanes);
    } else if (packs) {
        set(s->alike, s->group, to, differs, s->lanes);
    } else {
        set(s->alike, s->group, to, result_of(s), s->lanes);
    }
}

/* An access, a barrier: what decides must be the same, or an address in global memory that changes. */
static void act(Step *s) {
    const PtxProgram *program = s->alike->program;
    const PtxForm *form = s->code->form;
    s->alike->address = same;
    if (s->about->told && !reads_all_same(s, form->writes & 1))
        go_alone(s->alike, s->code, "what it is told changes from CTA to CTA");
    for (uint32_t i = 0; i < s->code->count; i++) {
        const PtxArgument *argument = code_argument(program, s->code, i);
        if (argument->kind != ARGUMENT_ADDRESS)
            continue;
        Change base = argument->count ? change_of(s->alike, s->group, argument_member(program, argument, 0)) : same;
        if (!base.kept || argument->count > 1)
            s->alike->address = argument->count > 1 && all_same(s->alike, s->group, argument) ? same : differs;
        else if (!is_same(&base))
            s->alike->address = base;
        if (!s->alike->address.kept)
            go_alone(s->alike, s->code, "an address changes from CTA to CTA in a way that is not followed");
    }
    for (uint32_t i = 0; i < s->code->count; i++)
        if (form->writes >> i & 1 && code_argument(program, s->code, i)->kind != ARGUMENT_ADDRESS) {
            bool load = s->about->evaluator == PTX_EVALUATE_LOAD;
            bool fixed = load && (code_has(s->code, STR("param")) || code_has(s->code, STR("const"))) &&
                         is_same(&s->alike->address);
            set(s->alike, s->group, code_argument(program, s->code, i), fixed || !s->about->accesses ? same : differs,
                s->lanes);
        }
}

void alike_step(Alike *alike, PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    Step s = {.alike = alike,
              .machine = machine,
              .group = group,
              .code = code,
              .about = &alike->abouts[code - alike->program->code],
              .lanes = lanes};
    if (alike->alone)
        return;
    if (group->frame->caller)
        go_alone(alike, code, "functions that are called are not followed");
    else if (code->guard != PTX_NONE && alike->mask_differs[(size_t)group->warp->index * alike->masks + code->guard])
        go_alone(alike, code, "a condition changes from CTA to CTA in a way that is not followed");
    else if (!lanes)
        return;
    else if (s.about->evaluator >= PTX_EVALUATE_SHUFFLE && s.about->evaluator <= PTX_EVALUATE_ACTIVEMASK)
        compute(&s);
    else if (!s.about->pure)
        act(&s);
    else if (code->form->row && code->form->row->control) {
        if (!reads_all_same(&s, 0))
            go_alone(alike, code, "where threads go on changes from CTA to CTA");
    } else if (code->count)
        compute(&s);
}

/* ---- Global memory ---- */

void alike_access(Alike *alike, const PtxEvent *event) {
    if (event->kind != PTX_EVENT_ACCESS || alike->alone)
        return;
    for (uint32_t i = 0; i < event->spot_count; i++) {
        bool there = event->flight ? true : event->lanes >> i & 1;
        const PtxSpot *spot = &event->spots[i];
        if (!there || !spot->block || spot->block->space != PTX_SPACE_GLOBAL) {
            if (there && spot->block && !is_same(&alike->address) && spot->block->space != PTX_SPACE_GLOBAL)
                go_alone(alike, event->code, "an address that is not in global memory changes from CTA to CTA");
            continue;
        }
        uint32_t bytes = event->sizes ? event->sizes[i] : event->access.bytes;
        AlikeTouch touch = {.begin = spot->block->base + spot->offset,
                            .end = spot->block->base + spot->offset + bytes,
                            .writes = event->access.kind != EFFECT_READ,
                            .code = event->code};
        memcpy(touch.by, alike->address.by, sizeof touch.by);
        bind(alike, &alike->address, (int64_t)(spot->block->base - touch.begin),
             (int64_t)(spot->block->base + spot->block->size - touch.end));
        AlikeTouch *last = alike->touch_count ? &alike->touches[alike->touch_count - 1] : NULL;
        if (last && last->code == touch.code && last->end == touch.begin &&
            !memcmp(last->by, touch.by, sizeof touch.by))
            last->end = touch.end;
        else
            *ARENA_PUSH(alike->arena, alike->touches, alike->touch_count, alike->touch_capacity) = touch;
    }
}

static int by_place(const void *a, const void *b) {
    const AlikeTouch *x = a, *y = b;
    int changes = memcmp(x->by, y->by, sizeof x->by);
    if (changes || x->writes != y->writes)
        return changes ? changes : x->writes ? 1 : -1;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Those that touch or overlap become one. */
const AlikeTouch *alike_touches(Alike *alike, uint32_t *count) {
    if (alike->touch_count > 1 && !alike->sorted) {
        uint32_t kept = 0;
        qsort(alike->touches, alike->touch_count, sizeof *alike->touches, by_place);
        for (uint32_t i = 1; i < alike->touch_count; i++) {
            AlikeTouch *last = &alike->touches[kept], *next = &alike->touches[i];
            if (!memcmp(last->by, next->by, sizeof last->by) && last->writes == next->writes &&
                next->begin <= last->end)
                last->end = next->end > last->end ? next->end : last->end;
            else
                alike->touches[++kept] = *next;
        }
        alike->touch_count = kept + 1;
        alike->sorted = 1;
    }
    *count = alike->touch_count;
    return alike->touches;
}

const PtxCode *alike_alone(const Alike *alike, const char **why) {
    *why = alike->why;
    return alike->alone;
}

bool alike_speaks(const Alike *alike, const uint32_t cta[3]) {
    int64_t d[3];
    for (unsigned i = 0; i < 3; i++)
        d[i] = (int64_t)cta[i] - (int64_t)alike->cta[i];
    if (!d[0] && !d[1] && !d[2])
        return true;
    if (alike->alone)
        return false;
    for (uint32_t i = 0; i < alike->bound_count; i++) {
        const AlikeBound *bound = &alike->bounds[i];
        __int128 moved = (__int128)bound->by[0] * d[0] + (__int128)bound->by[1] * d[1] + (__int128)bound->by[2] * d[2];
        if (moved < bound->least || moved > bound->most)
            return false;
    }
    return true;
}
