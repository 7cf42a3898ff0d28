/* What instructions compute where no recording says it: forms of later targets than the H200's, what is not known, and
 * forms that are not modeled. */
#include "ptx_running.h"

#include "machine/simt/decode/prepare.h"

/* ---- Forms of sm_100 and later ----------------------------------------------------------------------------------- */

static const struct {
    const char *body;
    uint32_t result; /* %r10 */
} forms[] = {
    /* two f32 in 64 bits: 1.5 + 1 and 2.5 + 2^24 */
    {"mov.b64 %rd6, {0x3fc00000, 0x40200000}; mov.b64 %rd7, {0x3f800000, 0x4b800000};"
     "add.rn.f32x2 %rd8, %rd6, %rd7; mov.b64 {%r10, _}, %rd8;",
     0x40200000},
    {"mov.b64 %rd6, {0x3fc00000, 0x40200000}; mov.b64 %rd7, {0x3f800000, 0x4b800000};"
     "add.rn.f32x2 %rd8, %rd6, %rd7; mov.b64 {_, %r10}, %rd8;",
     0x4b800001},
    {"mov.b64 %rd6, {0x3fc00000, 0x40200000}; mov.b64 %rd7, {0x3f800000, 0x4b800000};"
     "add.rp.f32x2 %rd8, %rd6, %rd7; mov.b64 {_, %r10}, %rd8;",
     0x4b800002},
    {"mov.b64 %rd6, {0x3fc00000, 0x40000000}; fma.rn.f32x2 %rd8, %rd6, %rd6, %rd6; mov.b64 {_, %r10}, %rd8;",
     0x40c00000},
    /* f16 and bf16 in sums of f32: 1.5 * 2 + 0.25, 1 + 2, 1 - 2 */
    {"mov.b16 %rs1, 0x3e00; mov.b16 %rs2, 0x4000; mov.f32 %f1, 0f3e800000; fma.rn.f32.f16 %f2, %rs1, %rs2, %f1;"
     "mov.b32 %r10, %f2;",
     0x40500000},
    {"mov.b16 %rs1, 0x3f80; mov.f32 %f1, 0f40000000; add.f32.bf16 %f2, %rs1, %f1; mov.b32 %r10, %f2;", 0x40400000},
    {"mov.b16 %rs1, 0x3f80; mov.f32 %f1, 0f40000000; sub.rz.f32.bf16 %f2, %rs1, %f1; mov.b32 %r10, %f2;", 0xbf800000},
    /* the smallest of three */
    {"mov.f32 %f1, 0f40400000; mov.f32 %f2, 0f3f800000; mov.f32 %f3, 0f40000000; min.f32 %f4, %f1, %f2, %f3;"
     "mov.b32 %r10, %f4;",
     0x3f800000},
    {"mov.f32 %f1, 0fc0400000; mov.f32 %f2, 0f3f800000; mov.f32 %f3, 0f40000000; max.abs.f32 %f4, %f1, %f2, %f3;"
     "mov.b32 %r10, %f4;",
     0x40400000},
    {"mov.f32 %f1, 0fc0400000; mov.f32 %f2, 0f7fc00000; mov.f32 %f3, 0f40000000; max.NaN.f32 %f4, %f1, %f2, %f3;"
     "mov.b32 %r10, %f4;",
     0x7fffffff},
    /* -1 + 5, where one operand alone has a sign */
    {"mov.u32 %r2, -1; mov.u32 %r3, 5; vadd.u32.s32.u32.sat %r10, %r2, %r3;", 4},
    {"mov.u32 %r2, -1; mov.u32 %r3, 5; vadd.u32.u32.s32.sat %r10, %r3, %r2;", 4},
    /* 2 * 3 + 5, which leaves the registers beside its result as they were, in the first lane, too: 2 + 3 + 11 + 5 + 7
     */
    {"mov.u32 %r2, 2; mov.u32 %r3, 3; mov.u32 %r5, 5; mov.u32 %r6, 7; vmad.u32.u32.u32 %r4, %r2, %r3, %r5;"
     "add.u32 %r7, %r2, %r3; add.u32 %r7, %r7, %r4; add.u32 %r7, %r7, %r5; add.u32 %r7, %r7, %r6;"
     "shfl.sync.idx.b32 %r10, %r7, 0, 31, -1;",
     28},
    /* formats of 4, 6 and 8 bits: the first operand is the upper one; 5 lies between 4 and 6, 100 is too great */
    {".reg .b8 %b<2>; mov.f32 %f1, 0f40a00000; mov.f32 %f2, 0f42c80000; cvt.rn.satfinite.e2m1x2.f32 %b0, %f1, %f2;"
     "mov.b32 %r10, {%b0, %b0, %b0, %b0};",
     0x67676767},
    {".reg .b8 %b<2>; mov.b32 %r8, 0x45005640; cvt.rn.satfinite.e2m1x2.f16x2 %b0, %r8;"
     "mov.b32 %r10, {%b0, %b0, %b0, %b0};",
     0x67676767},
    {".reg .b8 %b<2>; mov.b32 %r8, 0x4500d640; cvt.rn.satfinite.relu.e2m1x2.f16x2 %b0, %r8;"
     "mov.b32 %r10, {%b0, %b0, %b0, %b0};",
     0x60606060},
    {"mov.f32 %f1, 0f3fc00000; mov.f32 %f2, 0fc2c80000; cvt.rn.satfinite.e2m3x2.f32 %rs1, %f1, %f2;"
     "cvt.u32.u16 %r10, %rs1;",
     0x0c3f},
    {"mov.f32 %f1, 0f41e00000; mov.f32 %f2, 0f3d800000; cvt.rn.satfinite.e3m2x2.f32 %rs1, %f1, %f2;"
     "cvt.u32.u16 %r10, %rs1;",
     0x1f01},
    {"mov.f32 %f1, 0fc1e00000; mov.f32 %f2, 0f3d800000; cvt.rn.satfinite.relu.e3m2x2.f32 %rs1, %f1, %f2;"
     "cvt.u32.u16 %r10, %rs1;",
     0x0001},
    {"mov.b16 %rs1, 0x0c3f; cvt.rn.f16x2.e2m3x2 %r10, %rs1;", 0x3e00c780},
    {"mov.b16 %rs1, 0x1f01; cvt.rn.f16x2.e3m2x2 %r10, %rs1;", 0x4f002c00},
    /* powers of two: 3 up to 4, 3 down to 2; 2^-127, and what is no number */
    {"mov.f32 %f1, 0f40400000; cvt.rp.satfinite.ue8m0x2.f32 %rs1, %f1, %f1; cvt.u32.u16 %r10, %rs1;", 0x8181},
    {"mov.f32 %f1, 0f40400000; mov.f32 %f2, 0f7f800000; cvt.rz.satfinite.ue8m0x2.f32 %rs1, %f1, %f2;"
     "cvt.u32.u16 %r10, %rs1;",
     0x80fe},
    {"mov.b16 %rs1, 0x00ff; cvt.rn.bf16x2.ue8m0x2 %r10, %rs1;", 0x00407fff},
    {"mov.f32 %f1, 0f7f7fffff; cvt.rn.satfinite.tf32.f32 %r10, %f1;", 0x7f7fe000},
    /* reductions of f32: lanes have -16 to 15 */
    {"sub.s32 %r2, %r1, 16; cvt.rn.f32.s32 %f1, %r2; redux.sync.min.f32 %f2, %f1, -1; mov.b32 %r10, %f2;", 0xc1800000},
    {"sub.s32 %r2, %r1, 16; cvt.rn.f32.s32 %f1, %r2; redux.sync.max.abs.f32 %f2, %f1, -1; mov.b32 %r10, %f2;",
     0x41800000},
    {"cvt.rn.f32.s32 %f1, %r1; setp.eq.u32 %p1, %r1, 9; selp.f32 %f1, 0f7fc00000, %f1, %p1;"
     "redux.sync.max.NaN.f32 %f2, %f1, -1; mov.b32 %r10, %f2;",
     0x7fffffff},
};

static void later_targets(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        PtxRunning r;
        Text text = {0};
        text_addf(&text,
                  ".visible .entry k(.param .u64 in, .param .u64 out) { .reg .pred %%p<4>; .reg .b32 %%r<40>;"
                  ".reg .b64 %%rd<20>; .reg .b16 %%rs<8>; .reg .f32 %%f<8>; ld.param.u64 %%rd2, [out];"
                  "mov.u32 %%r1, %%tid.x; %s mul.wide.u32 %%rd4, %%r1, 4; add.s64 %%rd3, %%rd2, %%rd4;"
                  "st.global.u32 [%%rd3], %%r10; ret; }",
                  forms[i].body);
        ptx_running_read(&r, "sm_100a", text.data);
        ptx_running_expect(&r, PTX_END_COMPLETE);
        bool known = false;
        uint32_t word = ptx_running_word(&r, 5, &known);
        if (!known || word != forms[i].result)
            fail_msg("%s: %x%s, not %x", forms[i].body, word, known ? "" : ", not known", forms[i].result);
        ptx_running_end(&r);
        text_free(&text);
    }
}

/* ---- What is not known --------------------------------------------------------------------------------------------
 */

/* %r5 is not known, %p1 neither; %r6 is 0, %r7 all ones, %r1 the lane. */
static const struct {
    const char *body;
    bool known;      /* %r10 in lane 5 */
    uint32_t result; /* if so */
} doubts[] = {
    {"add.u32 %r10, %r5, %r1;", false, 0},
    {"and.b32 %r10, %r5, %r6;", true, 0},
    {"and.b32 %r10, %r5, %r1;", false, 0},
    {"or.b32 %r10, %r7, %r5;", true, 0xffffffff},
    {"or.b32 %r10, %r6, %r5;", false, 0},
    {"xor.b32 %r10, %r5, %r5;", true, 0},
    {"sub.s32 %r10, %r5, %r5;", true, 0},
    {"sub.s32 %r10, %r1, %r5;", false, 0},
    {"mul.lo.u32 %r10, %r6, %r5;", true, 0},
    {"mad.lo.u32 %r10, %r5, %r6, %r1;", true, 5},
    {"mad.lo.u32 %r10, %r6, %r6, %r5;", false, 0},
    {"setp.lt.u32 %p2, %r1, 8; selp.u32 %r10, 3, %r5, %p2;", true, 3},
    {"setp.gt.u32 %p2, %r1, 8; selp.u32 %r10, 3, %r5, %p2;", false, 0},
    {"selp.u32 %r10, 3, 4, %p1;", false, 0},
    {"selp.u32 %r10, %r1, %r1, %p1;", true, 5},
    {"setp.gt.u32 %p2, %r1, 8; and.pred %p3, %p1, %p2; selp.u32 %r10, 3, 4, %p3;", true, 4},
    {"setp.lt.u32 %p2, %r1, 8; or.pred %p3, %p1, %p2; selp.u32 %r10, 3, 4, %p3;", true, 3},
    {"setp.lt.u32 %p2, %r1, 8; xor.pred %p3, %p1, %p2; selp.u32 %r10, 3, 4, %p3;", false, 0},
    {"setp.gt.and.u32 %p3, %r1, 8, %p1; selp.u32 %r10, 3, 4, %p3;", true, 4},
    {"setp.eq.u32 %p3, %r5, 8; selp.u32 %r10, 3, 4, %p3;", false, 0},
    {"div.u32 %r10, %r1, %r6;", false, 0}, /* x / 0 is not specified */
    {"rem.s32 %r10, %r1, %r6;", false, 0},
    {"div.u32 %r10, %r1, 2;", true, 2},
    {"add.cc.u32 %r10, %r5, %r1; addc.u32 %r10, %r6, %r6;", false, 0},
    {"add.cc.u32 %r10, %r7, %r1; addc.u32 %r10, %r6, %r6;", true, 1},
    {"sub.cc.u32 %r10, %r1, 3; addc.u32 %r10, %r6, %r6;", true, 1}, /* nothing was borrowed */
    {"sub.cc.u32 %r10, %r1, 9; addc.u32 %r10, %r6, %r6;", true, 0},
    {"mov.b64 %rd6, {%r5, %r1}; mov.b64 {_, %r10}, %rd6;", false, 0}, /* of a register all or nothing */
    /* from lanes: those from 16 on have what is not known */
    {"setp.lt.u32 %p2, %r1, 16; selp.u32 %r2, %r1, %r5, %p2; shfl.sync.idx.b32 %r10, %r2, 3, 31, -1;", true, 3},
    {"setp.lt.u32 %p2, %r1, 16; selp.u32 %r2, %r1, %r5, %p2; shfl.sync.idx.b32 %r10, %r2, 20, 31, -1;", false, 0},
    {"setp.lt.u32 %p2, %r1, 16; mov.u32 %r10, 0; @%p2 shfl.sync.idx.b32 %r10, %r1, 20, 31, 0xffff;", false, 0},
    {"setp.lt.u32 %p2, %r1, 16; mov.u32 %r10, 0; @%p2 shfl.sync.idx.b32 %r10, %r1, 14, 31, 0xffff;", true, 14},
    {"vote.sync.any.pred %p2, %p1, -1; selp.u32 %r10, 3, 4, %p2;", false, 0},
    {"setp.eq.u32 %p2, %r1, 7; or.pred %p2, %p1, %p2; vote.sync.any.pred %p2, %p2, -1; selp.u32 %r10, 3, 4, %p2;", true,
     3},
    {"setp.eq.u32 %p2, %r1, 7; or.pred %p2, %p1, %p2; vote.sync.all.pred %p2, %p2, -1; selp.u32 %r10, 3, 4, %p2;",
     false, 0},
    {"vote.sync.ballot.b32 %r10, %p1, -1;", false, 0},
    {"redux.sync.add.u32 %r10, %r5, -1;", false, 0},
    {"redux.sync.add.u32 %r10, %r1, -1;", true, 496},
    {"match.any.sync.b32 %r10, %r5, -1;", false, 0},
    {"and.b32 %r2, %r1, 3; match.any.sync.b32 %r10, %r2, -1;", true, 0x22222222},
};

static void what_is_not_known(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof doubts / sizeof *doubts; i++) {
        PtxRunning r;
        Text text = {0};
        text_addf(&text,
                  ".visible .entry k(.param .u64 in, .param .u64 out) { .reg .pred %%p<4>; .reg .b32 %%r<40>;"
                  ".reg .b64 %%rd<20>; ld.param.u64 %%rd2, [out]; mov.u32 %%r1, %%tid.x; mov.u32 %%r5, %%clock;"
                  "setp.eq.u32 %%p1, %%r5, 77; mov.u32 %%r6, 0; mov.u32 %%r7, -1; %s mul.wide.u32 %%rd4, %%r1, 4;"
                  "add.s64 %%rd3, %%rd2, %%rd4; st.global.u32 [%%rd3], %%r10; ret; }",
                  doubts[i].body);
        ptx_running_read(&r, "sm_90a", text.data);
        ptx_running_expect(&r, PTX_END_COMPLETE);
        bool known = true;
        uint32_t word = ptx_running_word(&r, 5, &known);
        if (known != doubts[i].known || (known && word != doubts[i].result))
            fail_msg("%s: %x, %s", doubts[i].body, word, known ? "known" : "not known");
        ptx_running_end(&r);
        text_free(&text);
    }
}

/* What is known in spite of an operand that is not, is known in all lanes. */
static void knows_zero(PtxRunning *r) {
    for (uint32_t lane = 0; lane < 32; lane++)
        ptx_running_is(r, lane, 0);
}

static void known_in_all_lanes(void **state) {
    (void)state;
    run_text("sm_90",
             KERNEL(OWN "mov.u32 %r5, %clock; mov.u32 %r6, 0; and.b32 %r2, %r5, %r6; mul.lo.u32 %r3, %r6, %r5;"
                        "or.b32 %r4, %r2, %r3;" GIVE("%r4") "ret;"),
             1, 32, 0, PTX_END_COMPLETE, knows_zero);
}

/* ---- Lanes ----------------------------------------------------------------------------------------------------------
 */

/* A guard writes in its lanes alone; both halves of a warp have masks of their own. */
static void has_halves(PtxRunning *r) {
    for (uint32_t lane = 0; lane < 32; lane++)
        ptx_running_is(r, lane, lane < 16 ? 120 : 376 + 1000 * (lane & 1));
}

static void masks_of_parts(void **state) {
    (void)state;
    run_text("sm_90",
             KERNEL(OWN "setp.lt.u32 %p1, %r1, 16; @%p1 bra LOW;"
                        "redux.sync.add.u32 %r2, %r1, 0xffff0000; bra.uni BOTH;"
                        "LOW: redux.sync.add.u32 %r2, %r1, 0xffff;"
                        "BOTH: and.b32 %r3, %r1, 17; setp.eq.u32 %p2, %r3, 17; @%p2 add.u32 %r2, %r2, 1000;" GIVE(
                            "%r2") "ret;"),
             1, 32, 0, PTX_END_COMPLETE, has_halves);
}

/* Lanes of one instruction have different masks. */
static void has_groups(PtxRunning *r) {
    for (uint32_t lane = 0; lane < 32; lane++)
        ptx_running_is(r, lane, 112 + lane % 4 * 8);
}

static void masks_side_by_side(void **state) {
    (void)state;
    run_text("sm_90",
             KERNEL(OWN "and.b32 %r2, %r1, 3; shl.b32 %r3, 0x11111111, %r2; redux.sync.add.u32 %r4, %r1, %r3;" GIVE(
                 "%r4") "ret;"),
             1, 32, 0, PTX_END_COMPLETE, has_groups);
}

/* ---- What is not modeled
 * ---------------------------------------------------------------------------------------------- */

static void some_forms_are_not_run(void **state) {
    (void)state;
    static const char *const bodies[] = {
        "mov.f32 %f1, 0f3f800000; cvt.rs.f16x2.f32 %r10, %f1, %f1, %r1;",
        "vadd.u32.u32.u32.min %r10, %r1, %r1, %r1;",
        "vadd.u32.u32.u32.sat %r10, %r1, %r1;",
        "mov.u32 %r5, %clock; shfl.sync.idx.b32 %r10, %r1, 3, 31, %r5;",
        "vadd.u32.u32.u32 %r10.h1, %r1, %r1, %r1;",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        PtxRunning r;
        Text text = {0};
        text_addf(&text,
                  ".visible .entry k(.param .u64 in, .param .u64 out) { .reg .b32 %%r<40>; .reg .f32 %%f<8>;"
                  "mov.u32 %%r1, %%tid.x; %s ret; }",
                  bodies[i]);
        ptx_running_read(&r, "sm_100a", text.data);
        ptx_running_go(&r);
        if (r.end != PTX_END_UNKNOWN)
            fail_msg("%s: ended with %d", bodies[i], (int)r.end);
        ptx_running_end(&r);
        text_free(&text);
    }
}

/* ---- Every form of the table
 * ------------------------------------------------------------------------------------------ */

/* A form with the first word of each group that has to be there, and of group `chosen` the word of that number; false:
 * there is no such word. */
static bool form_with(const PtxRow *row, unsigned chosen, unsigned number, Text *to) {
    text_str(to, str_of(row->name));
    const char *at = row->modifiers;
    unsigned group = 0;
    for (size_t size; at += strspn(at, " "), (size = strcspn(at, " ")); at += size, group++) {
        const char *start = at + (*at == '>'), *equals = memchr(start, '=', size), *end = at + size;
        if (at[size - 1] == '?' && group != chosen)
            continue;
        start = equals && equals < end ? equals + 1 : start;
        for (unsigned skip = group == chosen ? number : 0; skip; skip--) {
            const char *bar = memchr(start, '|', (size_t)(end - start));
            if (!bar)
                return false;
            start = bar + 1;
        }
        text_char(to, '.');
        for (; *start && !strchr("|? ", *start); start++)
            text_char(to, *start);
    }
    return chosen < group;
}

/* An argument of that type: a predicate, or a row; of a pair both. */
static PtxArgument argument_of(PtxProgram *program, const PtxRow *row, Str form, const PtxOperandRow *operand) {
    Str type = ptx_form_modifier(row, form, operand->type);
    PtxArgument row_of = {.kind = ARGUMENT_ROW, .bits = 64}, predicate = {.kind = ARGUMENT_PREDICATE, .bits = 1};
    PtxArgument made = str_is(type.size ? type : operand->type, "pred") ? predicate : row_of;
    if (operand->number && !operand->no_number)
        made = (PtxArgument){.kind = ARGUMENT_CONSTANT, .bits = 32};
    if (!operand->pair || operand->lone)
        return made;
    program->arguments[0] = made;
    program->arguments[1] = predicate;
    return (PtxArgument){.kind = ARGUMENT_MEMBERS, .first = 0, .count = 2};
}

/* Whether the machine has a way to run it, with as many operands as it can have. */
static bool is_run(PtxProgram *program, const PtxRow *row, const PtxForm *form) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    PtxPrepare about = {.program = program, .evaluator = form->evaluator, .effects = effects};
    PtxCode code = {.form = form, .first = 2};
    const char *at = row->operands;
    PtxOperandRow operand;
    Str problem;
    assert_true(ptx_effects(row, form->text, effects, PTX_EFFECTS_MOST, &about.effect_count, &problem));
    while (ptx_next_operand(&at, &operand))
        program->arguments[2 + code.count++] = argument_of(program, row, form->text, &operand);
    return compute_prepare(&about, &code) || warp_prepare(&about, &code);
}

/* What is not run, by a word of the form. */
static bool is_left_out(const PtxForm *form) {
    bool video = form->evaluator >= PTX_EVALUATE_VADD && form->evaluator < PTX_EVALUATE_VADD2;
    return ptx_form_has(form->text, STR("rs")) ||
           (video && (ptx_form_has(form->text, STR("min")) || ptx_form_has(form->text, STR("max")) ||
                      ptx_form_has(form->text, STR("sat"))));
}

/* Those of other families stand between them. */
static bool computes(PtxEvaluator evaluator) {
    return (evaluator >= PTX_EVALUATE_ADD && evaluator <= PTX_EVALUATE_CVT) ||
           (evaluator >= PTX_EVALUATE_SHUFFLE && evaluator <= PTX_EVALUATE_REDUCE) ||
           (evaluator >= PTX_EVALUATE_CVT_PACK && evaluator <= PTX_EVALUATE_VAVRG4);
}

static void try_form(PtxProgram *program, const PtxRow *row, Str text, unsigned *taken) {
    const PtxRow *own = ptx_row_of(text, NULL), *line = own ? ptx_row_line(own, text) : NULL;
    PtxForm form = {.text = text, .row = own, .evaluator = own ? ptx_evaluator(own) : PTX_EVALUATE_NONE};
    if (own != row || !line || !computes(form.evaluator) || is_left_out(&form))
        return;
    if (!is_run(program, line, &form))
        fail_msg("%.*s is not run", STR_ARG(text));
    ++*taken;
}

static void every_form_is_run(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena, (size_t)64 << 20);
    PtxArgument arguments[16];
    Lanes zero = {{0}};
    PtxProgram program = {.arena = &arena, .arguments = arguments, .constants = &zero, .constant_count = 1};
    unsigned taken = 0;
    for (size_t i = 0; i < ptx_row_count(); i++)
        for (unsigned group = 0; group < 16; group++)
            for (unsigned number = 0; number < 24; number++) {
                Text text = {0};
                bool there = form_with(ptx_row_at(i), group, number, &text);
                if (there)
                    try_form(&program, ptx_row_at(i), (Str){text.data, text.size}, &taken);
                text_free(&text);
                if (!there)
                    break;
            }
    arena_free(&arena);
    assert_true(taken > 800);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(later_targets),      cmocka_unit_test(what_is_not_known),
        cmocka_unit_test(masks_of_parts),     cmocka_unit_test(masks_side_by_side),
        cmocka_unit_test(known_in_all_lanes), cmocka_unit_test(some_forms_are_not_run),
        cmocka_unit_test(every_form_is_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
