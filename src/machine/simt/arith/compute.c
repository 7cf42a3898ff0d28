/* Instructions whose results are a function of the operands, lane by lane: picks how each is run, and runs it. */
#include "machine/simt/arith/compute.h"

/* ---- What a form says ---------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    PtxType type;
} type_names[] = {
    {"pred", {CLASS_PREDICATE, 1, 1, 0}},
    {"b8", {CLASS_UNSIGNED, 8, 1, 0}},
    {"b16", {CLASS_UNSIGNED, 16, 1, 0}},
    {"b32", {CLASS_UNSIGNED, 32, 1, 0}},
    {"b64", {CLASS_UNSIGNED, 64, 1, 0}},
    {"b128", {CLASS_UNSIGNED, 128, 1, 0}},
    {"u2", {CLASS_UNSIGNED, 2, 1, 0}},
    {"u4", {CLASS_UNSIGNED, 4, 1, 0}},
    {"u8", {CLASS_UNSIGNED, 8, 1, 0}},
    {"u16", {CLASS_UNSIGNED, 16, 1, 0}},
    {"u32", {CLASS_UNSIGNED, 32, 1, 0}},
    {"u64", {CLASS_UNSIGNED, 64, 1, 0}},
    {"s2", {CLASS_SIGNED, 2, 1, 0}},
    {"s4", {CLASS_SIGNED, 4, 1, 0}},
    {"s8", {CLASS_SIGNED, 8, 1, 0}},
    {"s16", {CLASS_SIGNED, 16, 1, 0}},
    {"s32", {CLASS_SIGNED, 32, 1, 0}},
    {"s64", {CLASS_SIGNED, 64, 1, 0}},
    {"u16x2", {CLASS_UNSIGNED, 16, 2, 0}},
    {"s16x2", {CLASS_SIGNED, 16, 2, 0}},
    {"f16", {CLASS_REAL, 16, 1, FORMAT_F16}},
    {"f16x2", {CLASS_REAL, 16, 2, FORMAT_F16}},
    {"bf16", {CLASS_REAL, 16, 1, FORMAT_BF16}},
    {"bf16x2", {CLASS_REAL, 16, 2, FORMAT_BF16}},
    {"f32", {CLASS_REAL, 32, 1, FORMAT_F32}},
    {"f32x2", {CLASS_REAL, 32, 2, FORMAT_F32}},
    {"f64", {CLASS_REAL, 64, 1, FORMAT_F64}},
    {"tf32", {CLASS_REAL, 32, 1, FORMAT_TF32}},
    {"e4m3x2", {CLASS_REAL, 8, 2, FORMAT_E4M3}},
    {"e5m2x2", {CLASS_REAL, 8, 2, FORMAT_E5M2}},
    {"e2m3x2", {CLASS_REAL, 8, 2, FORMAT_E2M3}},
    {"e3m2x2", {CLASS_REAL, 8, 2, FORMAT_E3M2}},
    {"e2m1x2", {CLASS_REAL, 4, 2, FORMAT_E2M1}},
    {"ue8m0x2", {CLASS_REAL, 8, 2, FORMAT_UE8M0}},
};

void compute_types(Str form, PtxType types[COMPUTE_TYPES]) {
    unsigned count = 0;
    memset(types, 0, COMPUTE_TYPES * sizeof *types);
    next_part(&form);
    while (form.size && count < COMPUTE_TYPES) {
        Str word = next_part(&form);
        for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++)
            if (str_is(word, type_names[i].name))
                types[count++] = type_names[i].type;
    }
}

static void read_rounding(Compute *how, Str form) {
    static const struct {
        const char *name;
        Round round;
        bool whole;
    } modes[] = {{"rn", ROUND_NEAREST, false}, {"rz", ROUND_ZERO, false},  {"rm", ROUND_DOWN, false},
                 {"rp", ROUND_UP, false},      {"rna", ROUND_AWAY, false}, {"rni", ROUND_NEAREST, true},
                 {"rzi", ROUND_ZERO, true},    {"rmi", ROUND_DOWN, true},  {"rpi", ROUND_UP, true}};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (ptx_form_has(form, str_of(modes[i].name))) {
            how->round = (uint8_t)modes[i].round;
            how->rounded = true;
            how->whole = modes[i].whole;
        }
}

static void read_compare(Compute *how, Str word) {
    static const struct {
        const char *name;
        uint8_t accepts;
    } names[] = {{"eq", IS_EQUAL},
                 {"ne", IS_LESS | IS_GREATER},
                 {"lt", IS_LESS},
                 {"le", IS_LESS | IS_EQUAL},
                 {"gt", IS_GREATER},
                 {"ge", IS_GREATER | IS_EQUAL},
                 {"lo", IS_LESS},
                 {"ls", IS_LESS | IS_EQUAL},
                 {"hi", IS_GREATER},
                 {"hs", IS_GREATER | IS_EQUAL},
                 {"equ", IS_EQUAL | IS_UNORDERED},
                 {"neu", IS_LESS | IS_GREATER | IS_UNORDERED},
                 {"ltu", IS_LESS | IS_UNORDERED},
                 {"leu", IS_LESS | IS_EQUAL | IS_UNORDERED},
                 {"gtu", IS_GREATER | IS_UNORDERED},
                 {"geu", IS_GREATER | IS_EQUAL | IS_UNORDERED},
                 {"num", IS_LESS | IS_EQUAL | IS_GREATER},
                 {"nan", IS_UNORDERED}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(word, names[i].name))
            how->accepts = names[i].accepts;
}

static void read_modifiers(Compute *how, const PtxForm *form) {
    Str text = form->text;
    how->ftz = ptx_form_has(text, STR("ftz"));
    how->saturates = ptx_form_has(text, STR("sat"));
    how->finite = ptx_form_has(text, STR("satfinite"));
    how->relu = ptx_form_has(text, STR("relu"));
    how->nan = ptx_form_has(text, STR("NaN"));
    how->xorsign = ptx_form_has(text, STR("xorsign"));
    how->absolute = ptx_form_has(text, STR("abs"));
    how->oob = ptx_form_has(text, STR("oob"));
    how->high = ptx_form_has(text, STR("hi"));
    how->wide = ptx_form_has(text, STR("wide"));
    how->left = ptx_form_has(text, STR("l"));
    how->wraps = ptx_form_has(text, STR("wrap"));
    how->shift_amount = ptx_form_has(text, STR("shiftamt"));
    how->approximate = ptx_form_has(text, STR("approx"));
    how->full = ptx_form_has(text, STR("full"));
    how->carry_in = how->evaluator == PTX_EVALUATE_CARRY || how->evaluator == PTX_EVALUATE_BORROW;
    how->carry_out = ptx_form_has(text, STR("cc"));
    how->combine = ptx_form_has(text, STR("and"))   ? COMBINE_AND
                   : ptx_form_has(text, STR("or"))  ? COMBINE_OR
                   : ptx_form_has(text, STR("xor")) ? COMBINE_XOR
                                                    : COMBINE_NONE;
    read_rounding(how, text);
    read_compare(how, ptx_form_modifier(form->row, text, STR("compare")));
}

/* ---- Operands ------------------------------------------------------------------------------------------------ */

static bool is_value(const PtxArgument *argument) {
    return argument->kind <= ARGUMENT_SYMBOL || argument->kind == ARGUMENT_ROUTINE;
}

/* The first is written, the others are read; a predicate among them chooses. */
static bool read_operands(Compute *how, const PtxProgram *program, const PtxCode *code) {
    how->to = *code_argument(program, code, 0);
    if (how->to.kind == ARGUMENT_MEMBERS) {
        if (how->to.count != 2)
            return false;
        how->second = *argument_member(program, &how->to, 1);
        how->to = *argument_member(program, &how->to, 0);
    } else {
        how->second.kind = ARGUMENT_SINK;
    }
    for (uint32_t i = 1; i < code->count; i++) {
        const PtxArgument *argument = code_argument(program, code, i);
        if (!is_value(argument))
            return false;
        if (argument->kind == ARGUMENT_PREDICATE || argument->bits == 1) {
            how->chooser = *argument;
            how->chosen = true;
        } else if (how->count < COMPUTE_OPERANDS) {
            how->from[how->count++] = *argument;
        } else {
            return false;
        }
    }
    how->same = how->count == 2 && how->from[0].kind == ARGUMENT_ROW && how->from[1].kind == ARGUMENT_ROW &&
                how->from[0].slot == how->from[1].slot;
    return true;
}

/* ---- Running ------------------------------------------------------------------------------------------------- */

static PtxStep run_row(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const Compute *how = code->detail;
    Lanes scratch[COMPUTE_OPERANDS];
    const Lanes *in[COMPUTE_OPERANDS];
    uint32_t unknowns[COMPUTE_OPERANDS], unknown = 0;
    for (unsigned i = 0; i < how->count; i++) {
        in[i] = compute_fetch(machine, group, &how->from[i], &scratch[i], &unknowns[i]);
        unknown |= unknowns[i];
    }
    if (how->unknown)
        unknown = how->unknown(in, unknowns, how);
    if (lanes == UINT32_MAX && how->to.kind == ARGUMENT_ROW) {
        how->row(&group->frame->rows[how->to.slot], in, how);
        group->frame->row_unknown[how->to.slot] = unknown;
        return PTX_STEP_NEXT;
    }
    Lanes result;
    how->row(&result, in, how);
    ptx_put(machine, group, &how->to, 0, &result, lanes, unknown);
    return PTX_STEP_NEXT;
}

/* ---- Picking ------------------------------------------------------------------------------------------------- */

static bool is_video(PtxEvaluator evaluator) {
    return evaluator >= PTX_EVALUATE_VADD && evaluator <= PTX_EVALUATE_VAVRG4;
}

/* Rows that an evaluator reads; 0: its family looks itself. The text may have any number. */
static const uint8_t operands[PTX_EVALUATORS] = {
    [PTX_EVALUATE_ABS] = 1,   [PTX_EVALUATE_NEG] = 1,   [PTX_EVALUATE_POPC] = 1,  [PTX_EVALUATE_CLZ] = 1,
    [PTX_EVALUATE_BFIND] = 1, [PTX_EVALUATE_BREV] = 1,  [PTX_EVALUATE_NOT] = 1,   [PTX_EVALUATE_CNOT] = 1,
    [PTX_EVALUATE_RCP] = 1,   [PTX_EVALUATE_SQRT] = 1,  [PTX_EVALUATE_RSQRT] = 1, [PTX_EVALUATE_SIN] = 1,
    [PTX_EVALUATE_COS] = 1,   [PTX_EVALUATE_LG2] = 1,   [PTX_EVALUATE_EX2] = 1,   [PTX_EVALUATE_TANH] = 1,
    [PTX_EVALUATE_ADD] = 2,   [PTX_EVALUATE_SUB] = 2,   [PTX_EVALUATE_MUL] = 2,   [PTX_EVALUATE_MUL24] = 2,
    [PTX_EVALUATE_DIV] = 2,   [PTX_EVALUATE_REM] = 2,   [PTX_EVALUATE_MIN] = 2,   [PTX_EVALUATE_MAX] = 2,
    [PTX_EVALUATE_SHL] = 2,   [PTX_EVALUATE_SHR] = 2,   [PTX_EVALUATE_AND] = 2,   [PTX_EVALUATE_OR] = 2,
    [PTX_EVALUATE_XOR] = 2,   [PTX_EVALUATE_SZEXT] = 2, [PTX_EVALUATE_BMSK] = 2,  [PTX_EVALUATE_COPYSIGN] = 2,
    [PTX_EVALUATE_MAD] = 3,   [PTX_EVALUATE_MAD24] = 3, [PTX_EVALUATE_SAD] = 3,   [PTX_EVALUATE_FNS] = 3,
    [PTX_EVALUATE_BFE] = 3,   [PTX_EVALUATE_SHF] = 3,   [PTX_EVALUATE_PRMT] = 3,  [PTX_EVALUATE_LOP3] = 3,
    [PTX_EVALUATE_DP4A] = 3,  [PTX_EVALUATE_DP2A] = 3,  [PTX_EVALUATE_FMA] = 3,   [PTX_EVALUATE_BFI] = 4};

static bool fits(const Compute *how) {
    unsigned wanted = operands[how->evaluator];
    bool third = how->count == 3 && (how->evaluator == PTX_EVALUATE_MIN || how->evaluator == PTX_EVALUATE_MAX);
    if (!wanted)
        return true;
    if (how->type.class != CLASS_REAL &&
        (how->type.class == CLASS_PREDICATE || (how->type.bits != 16 && how->type.bits != 32 && how->type.bits != 64)))
        return false;
    return how->count == wanted || (third && how->type.class == CLASS_REAL);
}

static ComputeRow *plain_row(Compute *how, Str form) {
    if (!fits(how))
        return NULL;
    if (is_video(how->evaluator))
        return video_row(how, form);
    if (how->evaluator == PTX_EVALUATE_CVT || how->evaluator == PTX_EVALUATE_CVT_PACK)
        return convert_row(how);
    if (how->type.class == CLASS_REAL)
        return how->approximate || how->full ? approximate_row(how) : real_row(how);
    ComputeRow *row = integer_row(how);
    return row ? row : bits_row(how, form);
}

static ComputeRow *pick_row(Compute *how, Str form) {
    PtxType type = how->type;
    bool packed = type.count > 1 && how->evaluator != PTX_EVALUATE_CVT;
    if (packed)
        how->type.count = 1;
    ComputeRow *row = plain_row(how, form);
    return row && packed ? packed_row(how, row) : row;
}

/* add and fma of f32 with f16: the first type is the result's and that of what is added. */
static void read_formats(Compute *how) {
    bool sum =
        how->evaluator == PTX_EVALUATE_ADD || how->evaluator == PTX_EVALUATE_SUB || how->evaluator == PTX_EVALUATE_FMA;
    bool mixed = sum && how->types[1].class == CLASS_REAL;
    how->type = how->types[mixed ? 0 : how->types[2].class ? 2 : how->types[1].class ? 1 : 0];
    for (unsigned i = 0; i < how->count; i++)
        how->formats[i] = how->type.format;
    if (mixed)
        for (unsigned i = 0; i + 1 < how->count; i++)
            how->formats[i] = how->types[1].format;
}

/* The table of lop3 is a number. */
static bool read_table(Compute *how, const PtxProgram *program) {
    if (how->count != 4 || how->from[3].kind != ARGUMENT_CONSTANT)
        return false;
    how->table = (uint8_t)program->constants[how->from[3].slot].at[0];
    how->count = 3;
    return true;
}

bool compute_prepare(const PtxPrepare *about, PtxCode *code) {
    PtxProgram *program = about->program;
    if (about->effect_count || !code->form->row || !code->count)
        return false;
    if (about->evaluator == PTX_EVALUATE_MOV)
        return move_prepare(about, code);
    Compute how = {.evaluator = about->evaluator};
    compute_types(code->form->text, how.types);
    if (about->evaluator == PTX_EVALUATE_PURE || !how.types[0].class || !read_operands(&how, program, code))
        return false;
    read_modifiers(&how, code->form);
    read_formats(&how);
    if (about->evaluator == PTX_EVALUATE_LOP3 && !read_table(&how, program))
        return false;
    if (how.carry_in || how.carry_out)
        return carry_prepare(about, code, &how);
    if (choose_prepare(about, code, &how))
        return true;
    how.row = how.chosen || how.second.kind != ARGUMENT_SINK ? NULL : pick_row(&how, code->form->text);
    if (!how.row)
        return false;
    Compute *kept = ARENA_NEW(program->arena, Compute);
    *kept = how;
    code->detail = kept;
    code->run = run_row;
    return true;
}
