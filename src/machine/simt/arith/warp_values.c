/* Values that the lanes of a warp hand to each other: shuffles, votes, matches, reductions.
 *
 * The lanes of a mask run such an instruction together; lanes of one group may have different masks, each of its own
 * set. What a lane would get from one that does not take part is not known. */
#include "machine/simt/arith/compute.h"

typedef enum Mode {
    SHUFFLE_UP,
    SHUFFLE_DOWN,
    SHUFFLE_ACROSS,
    SHUFFLE_INDEX,
    VOTE_ALL,
    VOTE_ANY,
    VOTE_SAME,
    VOTE_BALLOT,
    MATCH_ANY,
    MATCH_ALL,
    REDUCE_ADD,
    REDUCE_MIN,
    REDUCE_MAX,
    REDUCE_AND,
    REDUCE_OR,
    REDUCE_XOR,
} Mode;

typedef struct WarpValueTogether {
    Mode mode;
    bool masked;            /* .sync: its last operand is the mask */
    bool absolute, nan;     /* of f32 */
    PtxType type;           /* of what is reduced or matched */
    PtxArgument to, second; /* second: of a pair */
    PtxArgument a, b, c, mask;
} WarpValueTogether;

/* The lanes that have a mask, and those of it that are here. */
typedef struct Party {
    uint32_t own, sources;
} Party;

typedef struct Lookup {
    const WarpValueTogether *how;
    uint32_t lanes;     /* that run it */
    const Lanes *masks; /* of each lane */
} Lookup;

/* The next of the sets of lanes with one mask; `left` is what remains. */
static Party next_party(const Lookup *lookup, uint32_t *left) {
    uint32_t mask = lookup->how->masked ? (uint32_t)lookup->masks->at[__builtin_ctz(*left)] : lookup->lanes;
    Party party = {.sources = mask & lookup->lanes};
    for (uint32_t rest = *left; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        if (!lookup->how->masked || (uint32_t)lookup->masks->at[lane] == mask)
            party.own |= UINT32_C(1) << lane;
    }
    *left &= ~party.own;
    return party;
}

/* Masks are read, and all lanes of them are here; else *step says what comes of it. */
static bool gathered(PtxMachine *machine, PtxGroup *group, const PtxCode *code, Lookup *lookup, Lanes *scratch,
                     PtxStep *step) {
    uint32_t unknown = 0, all = 0, unnamed = 0;
    if (!lookup->how->masked)
        return true;
    lookup->masks = ptx_fetch(machine, group, &lookup->how->mask, 0, scratch, &unknown);
    if (unknown & lookup->lanes) {
        *step = ptx_stop(machine, code, "its mask is not known");
        return false;
    }
    for (uint32_t rest = lookup->lanes; rest; rest &= rest - 1) {
        uint32_t mask = (uint32_t)lookup->masks->at[__builtin_ctz(rest)];
        all |= mask;
        unnamed |= rest & -rest & ~mask;
    }
    if (unnamed) {
        *step = ptx_unnamed(machine, group, code, unnamed);
        return false;
    }
    *step = PTX_STEP_WAITS;
    return ptx_gather(machine, group, code, all);
}

/* ---- Shuffles ------------------------------------------------------------------------------------------------ */

/* The lane that `lane` reads from, by b and c; *there: it is one of its segment. */
static unsigned source_lane(Mode mode, unsigned lane, uint32_t b, uint32_t c, bool *there) {
    unsigned by = b & 31, segment = c >> 8 & 31, bound = (lane & segment) | (c & 31 & ~segment), from;
    if (mode == SHUFFLE_UP) {
        *there = (int)lane - (int)by >= (int)bound;
        return *there ? lane - by : lane;
    }
    from = mode == SHUFFLE_DOWN ? lane + by : mode == SHUFFLE_ACROSS ? lane ^ by : (lane & segment) | (by & ~segment);
    *there = from <= bound;
    return *there ? from : lane;
}

static PtxStep run_shuffle(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const WarpValueTogether *how = code->detail;
    Lanes scratch[4], result = {{0}};
    Lookup lookup = {.how = how, .lanes = lanes};
    PtxStep step;
    if (!gathered(machine, group, code, &lookup, &scratch[3], &step))
        return step;
    uint32_t of_a = 0, of_choice = 0, unknown, in_segment = 0;
    const Lanes *a = ptx_fetch(machine, group, &how->a, 0, &scratch[0], &of_a);
    const Lanes *b = ptx_fetch(machine, group, &how->b, 0, &scratch[1], &of_choice);
    const Lanes *c = ptx_fetch(machine, group, &how->c, 0, &scratch[2], &of_choice);
    unknown = of_choice;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint32_t sources = how->masked ? (uint32_t)lookup.masks->at[lane] & lanes : lanes;
        bool there;
        unsigned from = source_lane(how->mode, lane, (uint32_t)b->at[lane], (uint32_t)c->at[lane], &there);
        result.at[lane] = a->at[from & 31];
        in_segment |= (uint32_t)there << lane;
        if (!(sources >> (from & 31) & 1) || of_a >> (from & 31) & 1)
            unknown |= UINT32_C(1) << lane;
    }
    ptx_put(machine, group, &how->to, 0, &result, lanes, unknown);
    if (how->second.kind != ARGUMENT_SINK)
        ptx_put_mask(machine, group, &how->second, in_segment, lanes, of_choice);
    return PTX_STEP_NEXT;
}

/* ---- Votes --------------------------------------------------------------------------------------------------- */

/* What a set of lanes comes to; *unknown: it depends on what is not known. */
static uint32_t voted(Mode mode, uint32_t yes, uint32_t not_known, uint32_t sources, bool *unknown) {
    uint32_t known_yes = yes & ~not_known & sources, known_no = ~yes & ~not_known & sources;
    *unknown = (not_known & sources) != 0;
    yes &= sources;
    switch (mode) {
    case VOTE_ALL:
        *unknown = *unknown && !known_no;
        return !known_no && yes == sources;
    case VOTE_ANY:
        *unknown = *unknown && !known_yes;
        return known_yes || yes;
    case VOTE_SAME:
        *unknown = *unknown && !(known_yes && known_no);
        return !yes || yes == sources;
    default:
        return yes;
    }
}

static PtxStep run_vote(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const WarpValueTogether *how = code->detail;
    Lanes scratch, result = {{0}};
    Lookup lookup = {.how = how, .lanes = lanes};
    PtxStep step;
    if (!gathered(machine, group, code, &lookup, &scratch, &step))
        return step;
    uint32_t of_a = 0, yes = ptx_fetch_mask(machine, group, &how->a, &of_a), left = lanes, holds = 0, unknown = 0;
    while (left) {
        Party party = next_party(&lookup, &left);
        bool not_known;
        uint32_t value = voted(how->mode, yes, of_a, party.sources, &not_known);
        holds |= value ? party.own : 0;
        unknown |= not_known ? party.own : 0;
        for (uint32_t rest = party.own; rest; rest &= rest - 1)
            result.at[__builtin_ctz(rest)] = value;
    }
    if (how->mode == VOTE_BALLOT)
        ptx_put(machine, group, &how->to, 0, &result, lanes, unknown);
    else
        ptx_put_mask(machine, group, &how->to, holds, lanes, unknown);
    return PTX_STEP_NEXT;
}

/* ---- Matches ------------------------------------------------------------------------------------------------- */

static uint32_t same_as(const Lanes *values, unsigned lane, uint32_t sources) {
    uint32_t same = 0;
    for (unsigned i = 0; i < PTX_LANES; i++)
        same |= (uint32_t)(values->at[i] == values->at[lane]) << i;
    return same & sources;
}

static PtxStep run_match(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const WarpValueTogether *how = code->detail;
    Lanes scratch[2], result = {{0}};
    Lookup lookup = {.how = how, .lanes = lanes};
    PtxStep step;
    if (!gathered(machine, group, code, &lookup, &scratch[1], &step))
        return step;
    uint32_t of_a = 0, left = lanes, unknown = 0, symmetry = 0;
    const Lanes *a = ptx_fetch(machine, group, &how->a, 0, &scratch[0], &of_a);
    while (left) {
        Party party = next_party(&lookup, &left);
        unknown |= of_a & party.sources ? party.own : 0;
        for (uint32_t rest = party.own; rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctz(rest);
            uint32_t same = same_as(a, lane, party.sources);
            symmetry |= (uint32_t)(same == party.sources) << lane;
            result.at[lane] = how->mode == MATCH_ALL && same != party.sources ? 0 : same;
        }
    }
    ptx_put(machine, group, &how->to, 0, &result, lanes, unknown);
    if (how->second.kind != ARGUMENT_SINK)
        ptx_put_mask(machine, group, &how->second, symmetry, lanes, unknown);
    return PTX_STEP_NEXT;
}

/* ---- Reductions ---------------------------------------------------------------------------------------------- */

/* The smaller or greater of two f32; what is no number loses, or with .NaN wins. */
static uint32_t extreme_real(const WarpValueTogether *how, uint32_t a, uint32_t b) {
    uint32_t sign = UINT32_C(1) << 31;
    if (how->absolute)
        a &= ~sign, b &= ~sign;
    bool not_a = (a & ~sign) > 0x7f800000, not_b = (b & ~sign) > 0x7f800000;
    if ((not_a && not_b) || (how->nan && (not_a || not_b)))
        return SINGLE_NAN;
    if (not_a || not_b)
        return not_a ? b : a;
    int32_t x = a & sign ? -(int32_t)(a & ~sign) - 1 : (int32_t)a,
            y = b & sign ? -(int32_t)(b & ~sign) - 1 : (int32_t)b;
    return (x < y) == (how->mode == REDUCE_MIN) ? a : b;
}

static uint32_t reduced(const WarpValueTogether *how, uint32_t a, uint32_t b) {
    bool is_signed = how->type.class == CLASS_SIGNED, less = is_signed ? (int32_t)a < (int32_t)b : a < b;
    if (how->type.class == CLASS_REAL)
        return extreme_real(how, a, b);
    switch (how->mode) {
    case REDUCE_ADD:
        return a + b;
    case REDUCE_MIN:
        return less ? a : b;
    case REDUCE_MAX:
        return less ? b : a;
    case REDUCE_AND:
        return a & b;
    case REDUCE_OR:
        return a | b;
    default:
        return a ^ b;
    }
}

static uint32_t reduced_party(const WarpValueTogether *how, const Lanes *values, uint32_t sources) {
    uint32_t rest = sources, value = 0;
    if (!rest)
        return 0;
    value = (uint32_t)values->at[__builtin_ctz(rest)];
    if (how->type.class == CLASS_REAL)
        value = extreme_real(how, value, value);
    for (rest &= rest - 1; rest; rest &= rest - 1)
        value = reduced(how, value, (uint32_t)values->at[__builtin_ctz(rest)]);
    return value;
}

static PtxStep run_reduce(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const WarpValueTogether *how = code->detail;
    Lanes scratch[2], result = {{0}};
    Lookup lookup = {.how = how, .lanes = lanes};
    PtxStep step;
    if (!gathered(machine, group, code, &lookup, &scratch[1], &step))
        return step;
    uint32_t of_a = 0, left = lanes, unknown = 0;
    const Lanes *a = ptx_fetch(machine, group, &how->a, 0, &scratch[0], &of_a);
    while (left) {
        Party party = next_party(&lookup, &left);
        uint32_t value = reduced_party(how, a, party.sources);
        unknown |= of_a & party.sources ? party.own : 0;
        for (uint32_t rest = party.own; rest; rest &= rest - 1)
            result.at[__builtin_ctz(rest)] = value;
    }
    ptx_put(machine, group, &how->to, 0, &result, lanes, unknown);
    return PTX_STEP_NEXT;
}

/* ---- Picking ------------------------------------------------------------------------------------------------- */

static const struct {
    PtxEvaluator evaluator;
    const char *word;
    Mode mode;
} modes[] = {
    {PTX_EVALUATE_SHUFFLE, "up", SHUFFLE_UP},       {PTX_EVALUATE_SHUFFLE, "down", SHUFFLE_DOWN},
    {PTX_EVALUATE_SHUFFLE, "bfly", SHUFFLE_ACROSS}, {PTX_EVALUATE_SHUFFLE, "idx", SHUFFLE_INDEX},
    {PTX_EVALUATE_VOTE, "all", VOTE_ALL},           {PTX_EVALUATE_VOTE, "any", VOTE_ANY},
    {PTX_EVALUATE_VOTE, "uni", VOTE_SAME},          {PTX_EVALUATE_VOTE, "ballot", VOTE_BALLOT},
    {PTX_EVALUATE_MATCH, "any", MATCH_ANY},         {PTX_EVALUATE_MATCH, "all", MATCH_ALL},
    {PTX_EVALUATE_REDUCE, "add", REDUCE_ADD},       {PTX_EVALUATE_REDUCE, "min", REDUCE_MIN},
    {PTX_EVALUATE_REDUCE, "max", REDUCE_MAX},       {PTX_EVALUATE_REDUCE, "and", REDUCE_AND},
    {PTX_EVALUATE_REDUCE, "or", REDUCE_OR},         {PTX_EVALUATE_REDUCE, "xor", REDUCE_XOR},
};

static bool read_mode(WarpValueTogether *how, PtxEvaluator evaluator, Str form) {
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (modes[i].evaluator == evaluator && ptx_form_has(form, str_of(modes[i].word))) {
            how->mode = modes[i].mode;
            return true;
        }
    return false;
}

/* d[|p], a, of shuffles b and c, and the mask. */
static bool read_operands(WarpValueTogether *how, const PtxProgram *program, const PtxCode *code, bool shuffle) {
    uint32_t others = shuffle ? 4 : 2;
    how->masked = ptx_form_has(code->form->text, STR("sync"));
    if (code->count != others + how->masked)
        return false;
    how->to = *code_argument(program, code, 0);
    how->second.kind = ARGUMENT_SINK;
    if (how->to.kind == ARGUMENT_MEMBERS) {
        if (how->to.count != 2)
            return false;
        how->second = *argument_member(program, &how->to, 1);
        how->to = *argument_member(program, &how->to, 0);
    }
    how->a = *code_argument(program, code, 1);
    if (shuffle) {
        how->b = *code_argument(program, code, 2);
        how->c = *code_argument(program, code, 3);
    }
    if (how->masked)
        how->mask = *code_argument(program, code, others);
    return true;
}

bool warp_prepare(const PtxPrepare *about, PtxCode *code) {
    WarpValueTogether how = {0};
    PtxType types[COMPUTE_TYPES];
    bool shuffle = about->evaluator == PTX_EVALUATE_SHUFFLE;
    if (!code->form->row || !read_mode(&how, about->evaluator, code->form->text) ||
        !read_operands(&how, about->program, code, shuffle))
        return false;
    compute_types(code->form->text, types);
    how.type = types[0];
    how.absolute = ptx_form_has(code->form->text, STR("abs"));
    how.nan = ptx_form_has(code->form->text, STR("NaN"));
    WarpValueTogether *kept = ARENA_NEW(about->program->arena, WarpValueTogether);
    *kept = how;
    code->detail = kept;
    code->run = shuffle                                  ? run_shuffle
                : about->evaluator == PTX_EVALUATE_VOTE  ? run_vote
                : about->evaluator == PTX_EVALUATE_MATCH ? run_match
                                                         : run_reduce;
    return true;
}
