/* What writes or reads predicates: comparisons, choices by one, and logic of them. */
#include "machine/simt/arith/compute.h"

/* ---- Masks that are partly known ----------------------------------------------------------------------------- */

typedef struct Mask {
    uint32_t lanes, unknown;
} Mask;

static Mask combined(ComputeCombine combine, Mask a, Mask b) {
    uint32_t unknown = a.unknown | b.unknown;
    switch (combine) {
    case COMBINE_NONE:
        break;
    case COMBINE_AND:
        return (Mask){a.lanes & b.lanes, unknown & ~((~a.lanes & ~a.unknown) | (~b.lanes & ~b.unknown))};
    case COMBINE_OR:
        return (Mask){a.lanes | b.lanes, unknown & ~((a.lanes & ~a.unknown) | (b.lanes & ~b.unknown))};
    case COMBINE_XOR:
        return (Mask){a.lanes ^ b.lanes, unknown};
    }
    return a;
}

static Mask negated(Mask a) {
    return (Mask){~a.lanes, a.unknown};
}

static Mask fetched(PtxMachine *machine, PtxGroup *group, const PtxArgument *argument) {
    Mask mask = {0};
    mask.lanes = ptx_fetch_mask(machine, group, argument, &mask.unknown);
    return mask;
}

static void put(PtxMachine *machine, PtxGroup *group, const PtxArgument *to, Mask mask, uint32_t lanes) {
    if (to->kind != ARGUMENT_SINK)
        ptx_put_mask(machine, group, to, mask.lanes, lanes, mask.unknown);
}

/* ---- Comparisons --------------------------------------------------------------------------------------------- */

/* One half of packed operands, or the whole of others. */
static Mask compared(PtxMachine *machine, PtxGroup *group, const Compute *how, unsigned half) {
    Lanes scratch[2], part[2];
    const Lanes *in[2];
    Mask mask = {0};
    for (unsigned k = 0; k < how->count; k++) {
        uint32_t unknown;
        in[k] = compute_fetch(machine, group, &how->from[k], &scratch[k], &unknown);
        mask.unknown |= unknown;
        if (how->type.count > 1) {
            EACH_LANE part[k].at[i] = in[k]->at[i] >> half * how->type.bits & 0xffff;
            in[k] = &part[k];
        }
    }
    mask.lanes = how->mask(in, how);
    return mask;
}

static Mask with_chooser(PtxMachine *machine, PtxGroup *group, const Compute *how, Mask mask) {
    return how->combine ? combined((ComputeCombine)how->combine, mask, fetched(machine, group, &how->chooser)) : mask;
}

/* Of packed operands the second predicate is that of the upper half, of others what the comparison is not. */
static PtxStep run_compare(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const Compute *how = code->detail;
    Mask mask = compared(machine, group, how, 0), second = {0};
    bool pair = how->second.kind != ARGUMENT_SINK;
    if (pair)
        second =
            with_chooser(machine, group, how, how->type.count > 1 ? compared(machine, group, how, 1) : negated(mask));
    put(machine, group, &how->to, with_chooser(machine, group, how, mask), lanes);
    if (pair)
        put(machine, group, &how->second, second, lanes);
    return PTX_STEP_NEXT;
}

/* What set gives where it holds. */
static uint64_t set_value(PtxType type) {
    static const uint32_t one[FORMATS] = {[FORMAT_F16] = 0x3c00, [FORMAT_BF16] = 0x3f80, [FORMAT_F32] = 0x3f800000};
    return type.class == CLASS_REAL ? one[type.format] : (UINT64_C(1) << type.bits) - 1;
}

static PtxStep run_set(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const Compute *how = code->detail;
    PtxType to = how->types[0];
    Lanes result = {{0}};
    uint32_t unknown = 0;
    for (unsigned half = 0; half < how->type.count; half++) {
        Mask mask = with_chooser(machine, group, how, compared(machine, group, how, half));
        uint64_t value = set_value(how->type.count > 1 && to.class != CLASS_REAL ? (PtxType){to.class, 16, 2, 0} : to);
        EACH_LANE result.at[i] |= (mask.lanes >> i & 1 ? value : 0) << 16 * half;
        unknown |= mask.unknown;
    }
    ptx_put(machine, group, &how->to, 0, &result, lanes, unknown);
    return PTX_STEP_NEXT;
}

/* ---- Choices ------------------------------------------------------------------------------------------------- */

/* Where it is not known which one it is, it is known all the same if both are the same. */
static PtxStep choose(PtxMachine *machine, PtxGroup *group, const Compute *how, Mask mask, uint32_t lanes) {
    Lanes scratch[2], result;
    uint32_t unknown[2], same = 0;
    const Lanes *a = compute_fetch(machine, group, &how->from[0], &scratch[0], &unknown[0]);
    const Lanes *b = compute_fetch(machine, group, &how->from[1], &scratch[1], &unknown[1]);
    if (mask.unknown)
        for (unsigned i = 0; i < PTX_LANES; i++)
            same |= (uint32_t)(a->at[i] == b->at[i]) << i;
    same &= ~(unknown[0] | unknown[1]);
    uint32_t in_doubt = (mask.unknown & ~same) | (mask.lanes & unknown[0]) | (~mask.lanes & unknown[1]);
    bool in_place = lanes == UINT32_MAX && how->to.kind == ARGUMENT_ROW;
    Lanes *to = in_place ? &group->frame->rows[how->to.slot] : &result;
    EACH_LANE to->at[i] = mask.lanes >> i & 1 ? a->at[i] : b->at[i];
    if (in_place)
        group->frame->row_unknown[how->to.slot] = in_doubt;
    else
        ptx_put(machine, group, &how->to, 0, &result, lanes, in_doubt);
    return PTX_STEP_NEXT;
}

static PtxStep run_selp(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const Compute *how = code->detail;
    Mask mask = fetched(machine, group, &how->chooser);
    if (machine->ran)
        machine->ran[code - machine->program->code] |= (mask.lanes & lanes & ~mask.unknown ? PTX_RAN_FIRST : 0) |
                                                       (~mask.lanes & lanes & ~mask.unknown ? PTX_RAN_SECOND : 0);
    return choose(machine, group, how, mask, lanes);
}

static PtxStep run_slct(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const Compute *how = code->detail;
    bool real = how->type.class == CLASS_REAL;
    Lanes scratch;
    Mask mask = {0};
    const Lanes *c = compute_fetch(machine, group, &how->from[2], &scratch, &mask.unknown);
    for (unsigned i = 0; i < PTX_LANES; i++) {
        float value = as_single(c->at[i]);
        bool first = real ? value >= 0 || (how->ftz && value > -0x1p-126f) : (int32_t)c->at[i] >= 0;
        mask.lanes |= (uint32_t)first << i;
    }
    return choose(machine, group, how, mask, lanes);
}

/* ---- Logic of predicates ------------------------------------------------------------------------------------- */

static PtxStep run_logic(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const Compute *how = code->detail;
    Mask mask = fetched(machine, group, &how->from[0]);
    if (how->evaluator == PTX_EVALUATE_NOT)
        mask = negated(mask);
    else
        mask = combined((ComputeCombine)how->combine, mask, fetched(machine, group, &how->from[1]));
    put(machine, group, &how->to, mask, lanes);
    return PTX_STEP_NEXT;
}

static bool logic_prepare(const PtxProgram *program, const PtxCode *code, Compute *how) {
    how->combine = how->evaluator == PTX_EVALUATE_AND  ? COMBINE_AND
                   : how->evaluator == PTX_EVALUATE_OR ? COMBINE_OR
                                                       : COMBINE_XOR;
    for (uint32_t i = 1; i < code->count; i++)
        how->from[i - 1] = *code_argument(program, code, i);
    return code->count == (how->evaluator == PTX_EVALUATE_NOT ? 2 : 3);
}

/* lop3 with a predicate: whether any bit of the result is 1. */
static PtxStep run_lop3(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const Compute *how = code->detail;
    Lanes scratch[3], result;
    const Lanes *in[3];
    Mask mask = {0};
    for (unsigned k = 0; k < 3; k++) {
        uint32_t unknown;
        in[k] = compute_fetch(machine, group, &how->from[k], &scratch[k], &unknown);
        mask.unknown |= unknown;
    }
    how->row(&result, in, how);
    for (unsigned i = 0; i < PTX_LANES; i++)
        mask.lanes |= (uint32_t)(result.at[i] != 0) << i;
    Mask second = combined((ComputeCombine)how->combine, mask, fetched(machine, group, &how->chooser));
    ptx_put(machine, group, &how->to, 0, &result, lanes, mask.unknown);
    put(machine, group, &how->second, second, lanes);
    return PTX_STEP_NEXT;
}

/* ---- Picking ------------------------------------------------------------------------------------------------- */

static PtxRun *pick(const PtxProgram *program, const PtxCode *code, Compute *how) {
    bool pair = how->second.kind != ARGUMENT_SINK;
    switch (how->evaluator) {
    case PTX_EVALUATE_SETP:
    case PTX_EVALUATE_SET:
        how->mask = how->count == 2 && how->chosen == (how->combine != COMBINE_NONE) ? compare_mask(how) : NULL;
        return !how->mask ? NULL : how->evaluator == PTX_EVALUATE_SET ? run_set : run_compare;
    case PTX_EVALUATE_TESTP:
        how->mask = test_mask(how, code->form->text);
        how->combine = COMBINE_NONE;
        return how->count == 1 ? run_compare : NULL;
    case PTX_EVALUATE_SELP:
        return how->count == 2 && how->chosen ? run_selp : NULL;
    case PTX_EVALUATE_SLCT:
        return how->count == 3 ? run_slct : NULL;
    case PTX_EVALUATE_AND:
    case PTX_EVALUATE_OR:
    case PTX_EVALUATE_XOR:
    case PTX_EVALUATE_NOT:
        return how->type.class == CLASS_PREDICATE && logic_prepare(program, code, how) ? run_logic : NULL;
    case PTX_EVALUATE_LOP3:
        how->row = bits_row(how, code->form->text);
        return pair && how->chosen && how->combine ? run_lop3 : NULL;
    default:
        return NULL;
    }
}

bool choose_prepare(const PtxPrepare *about, PtxCode *code, Compute *how) {
    PtxRun *run = pick(about->program, code, how);
    if (!run)
        return false;
    Compute *kept = ARENA_NEW(about->program->arena, Compute);
    *kept = *how;
    code->detail = kept;
    code->run = run;
    return true;
}
