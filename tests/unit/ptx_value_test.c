/* What is known of the values of small PTX functions: constants, uniform and affine values, special registers of CTAs
 * of several shapes, guards, joins under branches that part a warp or not, loops that lanes leave in different turns,
 * what lanes give each other, loads, and where addresses come from. */
#include "ptx/reader.h"
#include "ptx/value/sum.h"
#include "ptx/value/value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct Found {
    Source *source;
    PtxModule module;
    Diagnostics diagnostics;
    PtxFlow flow;
    PtxValues values;
} Found;

#define HEAD ".version 8.7\n.target sm_90a\n.address_size 64\n.const .align 4 .b32 table[8];\n"
#define BODY                                                                                         \
    "{\n.reg .pred %p<12>; .reg .b16 %h<8>; .reg .b32 %r<40>; .reg .b64 %rd<16>; .reg .f32 %f<4>;\n" \
    ".shared .align 16 .b8 sm[4096];\n.local .align 8 .b8 stack[64];\n"

/* The last thing of a body is what is asked for: an operand of an instruction `st.shared.b32 [0], ...`. */
static Found *find(const char *header, const char *body, const PtxBlockShape *shape) {
    Found *found = calloc(1, sizeof *found);
    assert_non_null(found);
    Text text = {0};
    const char *const parts[] = {HEAD ".visible .entry k(.param .u64 a, .param .u32 n, .param .u64 .ptr .global "
                                      ".align 4 g)",
                                 header, "\n" BODY, body, "\nret;\n}\n"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        text_str(&text, str_of(parts[i]));
    found->source = source_copy("test.ptx", text.data, text.size);
    text_free(&text);
    if (!ptx_read(&found->module, found->source, false, &found->diagnostics))
        fail_msg("%s: %s", body, found->diagnostics.items[0].message);
    const char *problem;
    uint32_t function = 0;
    while (!found->module.functions[function].entry)
        function++;
    assert_true(ptx_flow(&found->flow, &found->module, function, 1 << 24, &problem));
    assert_true(ptx_values(&found->values, &found->flow, shape, 1 << 24, &problem));
    return found;
}

static void done(Found *found) {
    ptx_values_free(&found->values);
    ptx_flow_free(&found->flow);
    ptx_free(&found->module);
    diagnostics_free(&found->diagnostics);
    source_free(found->source);
    free(found);
}

/* The form of the last operand of the last st that there is. */
static Form last_stored(const Found *found) {
    for (uint32_t i = found->flow.instruction_count; i-- > 0;) {
        const PtxStatement *statement = &found->module.statements[found->flow.instructions[i]];
        if (str_starts(found->module.forms[statement->what].text, STR("st.")))
            return ptx_operand_form(&found->values, statement->first + statement->count - 1);
    }
    fail_msg("nothing is stored");
    return (Form){0};
}

static void expect(const char *header, const char *body, const PtxBlockShape *shape, const char *expected) {
    Found *found = find(header, body, shape);
    Form form = last_stored(found);
    Text text = {0};
    form_print(found->values.tables, &form, &text);
    if (text.size != strlen(expected) || memcmp(text.data, expected, text.size) != 0)
        fail_msg("%s\n  is:        %.*s\n  should be: %s", body, (int)text.size, text.data, expected);
    text_free(&text);
    done(found);
}

#define STORE(r) "st.shared.b32 [sm], " r ";"
#define TID      "mov.u32 %r1, %tid.x; mov.u32 %r2, %laneid; ld.param.u32 %r3, [n];\n"

/* ---- Straight lines ------------------------------------------------------------------------------------- */

static void test_constants(void **unused) {
    (void)unused;
    expect("", "mov.u32 %r1, 5; add.s32 %r2, %r1, 7; shl.b32 %r3, %r2, 2;" STORE("%r3"), NULL, "48");
    expect("", "mov.u32 %r1, -3; shr.s32 %r2, %r1, 1; cvt.u16.u32 %h1, %r2; cvt.s32.s16 %r3, %h1;" STORE("%r3"), NULL,
           "-2");
    expect("", "mov.b32 %r1, 0f3F800000; prmt.b32 %r2, %r1, 0, 0x7632;" STORE("%r2"), NULL, "16256");
    expect("", "mov.b64 %rd1, {3, 4}; shr.u64 %rd2, %rd1, 31; cvt.u32.u64 %r2, %rd2;" STORE("%r2"), NULL, "8");
    expect("", "mov.u32 %r1, 9; mov.b64 %rd1, {%r1, %r1}; mov.b64 {%r2, %r3}, %rd1;" STORE("%r3"), NULL, "9");
    expect("", "mov.u32 %r1, 1; setp.gt.s32 %p1|%p2, %r1, 2; selp.b32 %r2, 10, 20, %p2;" STORE("%r2"), NULL, "10");
    expect("", TID "and.b32 %r4, %r1, 0; mul.lo.s32 %r5, %r3, %r4;" STORE("%r5"), NULL, "0");
    expect("", "mov.u32 %r1, 12; lop3.b32 %r2, %r1, 10, 3, 0x96;" STORE("%r2"), NULL, "5");
    expect("", "mov.u32 %r1, %ntid.x;" STORE("%r1"), &(PtxBlockShape){.x = 96, .y = 2, .z = 1}, "96");
    expect(".reqntid 64", "mov.u32 %r1, %ntid.y;" STORE("%r1"), NULL, "1");
}

static void test_threads(void **unused) {
    (void)unused;
    expect("", TID STORE("%r1"), NULL, "uniform(warp, ones 0x0 of 0xfffffc1f) + lane * 1");
    expect("", TID STORE("%r2"), NULL, "0 + lane * 1");
    expect("", TID "mov.u32 %r4, %tid.y;" STORE("%r4"), NULL, "uniform(warp, ones 0x0 of 0xfffffc00)");
    expect(".reqntid 64", TID STORE("%r1"), NULL, "0 + lane * 1; warps from 32");
    expect("", TID STORE("%r1"), &(PtxBlockShape){.x = 16, .y = 4, .z = 1}, "0 + bits [1 2 4 8 0]");
    expect("", "mov.u32 %r4, %tid.y;" STORE("%r4"), &(PtxBlockShape){.x = 16, .y = 4, .z = 1},
           "0 + bits [0 0 0 0 1]; warps from 2");
    /* Rows of 24: each warp begins elsewhere in one. */
    Found *found = find("", TID STORE("%r1"), &(PtxBlockShape){.x = 24, .y = 8, .z = 1});
    Form form = last_stored(found);
    assert_int_equal(form.kind, FORM_TABLE);
    for (unsigned thread = 0; thread < 192; thread++)
        assert_int_equal(form_offset(&found->values, &form, thread), thread % 24);
    uint64_t stride;
    assert_false(form_stride(&found->values, &form, &stride));
    done(found);
    expect("", TID STORE("%r1"), &(PtxBlockShape){.x = 24, .y = 0, .z = 0}, "any");
    expect("", "mov.u32 %r1, %lanemask_lt; popc.b32 %r2, %r1;" STORE("%r2"), NULL, "0 + lane * 1");
    expect("", "mov.u32 %r1, %ctaid.x;" STORE("%r1"), NULL, "uniform(cta, ones 0x0 of 0x80000000)");
    expect("", "mov.u32 %r1, %clock;" STORE("%r1"), NULL, "any");
}

static void test_arithmetic(void **unused) {
    (void)unused;
    expect("", TID "mad.lo.s32 %r4, %r2, 12, %r3;" STORE("%r4"), NULL, "uniform(grid) + lane * 12");
    expect("", TID "sub.s32 %r4, %r3, %r2;" STORE("%r4"), NULL, "uniform(grid) + lane * -1");
    expect("", TID "mul.lo.s32 %r4, %r2, %r3;" STORE("%r4"), NULL, "affine");
    expect("", TID "shr.u32 %r4, %r2, 2; mul.lo.s32 %r5, %r4, %r3; add.s32 %r6, %r5, %r2;" STORE("%r6"), NULL,
           "affine in bits");
    expect("", TID "mul.lo.s32 %r4, %r2, %r2;" STORE("%r4"), NULL,
           "0 + table [0 1 4 9 16 25 36 49 64 81 100 121 144 169 196 225 256 289 324 361 400 441 484 529 576 625 676 "
           "729 784 841 900 961]");
    expect("", TID "shr.u32 %r4, %r1, 5;" STORE("%r4"), NULL, "uniform(warp, ones 0x0 of 0xffffffe0)");
    expect("", TID "and.b32 %r4, %r1, 31; rem.u32 %r5, %r4, 3;" STORE("%r5"), NULL,
           "0 + table [0 1 2 0 1 2 0 1 2 0 1 2 0 1 2 0 1 2 0 1 2 0 1 2 0 1 2 0 1 2 0 1]");
    /* What depends on one bit of the lane is affine in it, whatever is done with it. */
    expect("", TID "and.b32 %r4, %r2, 16; add.s32 %r5, %r4, %r3; rem.s32 %r6, %r5, %r3;" STORE("%r6"), NULL,
           "affine in bits");
    expect("", "ld.param.u32 %r3, [n]; cvt.rn.f32.s32 %f1, %r3; mul.f32 %f2, %f1, %f1; mov.b32 %r1, %f2;" STORE("%r1"),
           NULL, "uniform(grid)");
}

/* Extensions that are proven not to wrap, and those that are not. */
static void test_extension(void **unused) {
    (void)unused;
#define STORE64(r) "st.shared.b64 [sm], " r ";"
    expect("", TID "mul.wide.u32 %rd1, %r1, 4;" STORE64("%rd1"), NULL,
           "uniform(warp, ones 0x0 of 0xfffffffffffff07f) + lane * 4");
    expect("", TID "add.s32 %r4, %r2, %r3; mul.wide.s32 %rd1, %r4, 4;" STORE64("%rd1"), NULL,
           "uniform(grid, ones 0x0 of 0x3) + lane * 4, if nothing wraps");
    expect("", TID "add.s32 %r4, %r2, %r3; cvt.u64.u32 %rd1, %r4;" STORE64("%rd1"), NULL,
           "uniform(grid, ones 0x0 of 0xffffffff00000000) + lane * 1, if nothing wraps");
    expect("", TID "shl.b32 %r4, %r3, 5; or.b32 %r5, %r4, %r2; cvt.s64.s32 %rd1, %r5;" STORE64("%rd1"), NULL,
           "uniform(grid, ones 0x0 of 0x1f) + lane * 1");
    Found *found = find("", TID "add.s32 %r4, %r2, %r3; cvt.s64.s32 %rd1, %r4;" STORE64("%rd1"), NULL);
    unsigned assumed = 0;
    for (uint32_t i = 0; i < found->flow.instruction_count; i++)
        assumed += found->values.assumed[i];
    assert_int_equal(assumed, 1);
    done(found);
}

/* ---- Control -------------------------------------------------------------------------------------------------- */

static void test_guards(void **unused) {
    (void)unused;
    expect("", TID "setp.lt.s32 %p1, %r3, 5; mov.u32 %r4, 1; @%p1 mov.u32 %r4, 3;" STORE("%r4"), NULL,
           "uniform(grid, ones 0x1 of 0xfffffffd)");
    expect("", TID "setp.lt.s32 %p1, %r1, 5; mov.u32 %r4, 1; @%p1 mov.u32 %r4, 3;" STORE("%r4"), NULL,
           "any(ones 0x1 of 0xfffffffd)");
    expect("", TID "setp.lt.s32 %p1, %r1, 5; mov.u32 %r4, 1; @!%p1 mov.u32 %r4, 1;" STORE("%r4"), NULL, "1");
    expect("", TID "setp.ge.u32 %p1, %r2, 16; mov.u32 %r4, 0; @%p1 mov.u32 %r4, %r3;" STORE("%r4"), NULL,
           "affine in bits");
    expect("", TID "setp.lt.u32 %p1, %r1, 64; selp.b32 %r4, %r3, 0, %p1;" STORE("%r4"), NULL, "uniform(warp)");
}

static void test_joins(void **unused) {
    (void)unused;
    expect("", TID "setp.lt.s32 %p1, %r3, 5; mov.u32 %r4, 1; @%p1 bra A; mov.u32 %r4, 2; A:" STORE("%r4"), NULL,
           "uniform(grid, ones 0x0 of 0xfffffffc)");
    expect("", TID "setp.lt.s32 %p1, %r1, 5; mov.u32 %r4, 1; @%p1 bra A; mov.u32 %r4, 2; A:" STORE("%r4"), NULL,
           "any(ones 0x0 of 0xfffffffc)");
    /* Lanes that separated have come together before B, where a branch that is the same for all joins. */
    expect("",
           TID "setp.lt.s32 %p1, %r1, 5; setp.lt.s32 %p2, %r3, 5; @%p1 bra A; st.shared.b32 [sm], %r1; A:\n"
               "mov.u32 %r4, 1; @%p2 bra B; mov.u32 %r4, 2; B:" STORE("%r4"),
           NULL, "uniform(grid, ones 0x0 of 0xfffffffc)");
    /* What is behind a return of some lanes is a join of nothing. */
    expect("",
           TID "setp.lt.s32 %p1, %r1, 5; setp.lt.s32 %p2, %r3, 5; @%p1 ret;\n"
               "mov.u32 %r4, 1; @%p2 bra B; mov.u32 %r4, 2; B:" STORE("%r4"),
           NULL, "uniform(grid, ones 0x0 of 0xfffffffc)");
    /* Tables that differ, chosen by all alike. */
    expect("", TID "setp.lt.s32 %p1, %r3, 5; mov.u32 %r4, %r2; @%p1 bra A; shl.b32 %r4, %r2, 2; A:" STORE("%r4"), NULL,
           "affine(ones 0x0 of 0xffffff80)");
    /* The index of a branch table. */
    expect("",
           TID "mov.u32 %r4, 0; T: .branchtargets A, B; brx.idx %r3, T; A: mov.u32 %r4, 8; bra C; B: mov.u32 %r4, 16;\n"
               "C:" STORE("%r4"),
           NULL, "uniform(grid, ones 0x0 of 0xffffffe7)");
    expect("",
           TID "mov.u32 %r4, 0; T: .branchtargets A, B; brx.idx %r2, T; A: mov.u32 %r4, 8; bra C; B: mov.u32 %r4, 16;\n"
               "C:" STORE("%r4"),
           NULL, "any(ones 0x0 of 0xffffffe7)");
}

#define LOOP(bound, behind)                                                                  \
    TID "mov.u32 %r4, 0; mov.u32 %r5, %r2;\nL: add.s32 %r4, %r4, 4; add.s32 %r5, %r5, 32;\n" \
        "setp.lt.s32 %p1, %r4, " bound "; @%p1 bra L;\n" behind

static void test_loops(void **unused) {
    (void)unused;
    expect("", LOOP("%r3", STORE("%r4")), NULL, "uniform(grid, ones 0x0 of 0x3)");
    expect("", LOOP("%r3", STORE("%r5")), NULL, "uniform(grid, ones 0x0 of 0x1f) + lane * 1");
    /* Lanes leave in different turns: within the loop it is the same in all that are there, behind it is not. */
    expect("", LOOP("%r1", STORE("%r4")), NULL, "any(ones 0x0 of 0x3)");
    expect("", LOOP("%r1", STORE("%r5")), NULL, "any");
    Found *found = find("", LOOP("%r1", STORE("%r4")), NULL);
    bool within = false;
    for (uint32_t v = 0; v < found->flow.value_count; v++)
        within |= found->flow.values[v].kind == VALUE_PHI && found->values.forms[v].kind == FORM_TABLE;
    assert_true(within);
    assert_int_equal(found->values.turns[0], SPAN_NONE);
    done(found);
    /* Two ways out of a loop that lanes take in different turns meet. */
    expect("",
           TID "mov.u32 %r4, 0; L: add.s32 %r4, %r4, 1; setp.eq.s32 %p1, %r4, %r1; @%p1 bra A; setp.lt.s32 %p2, %r4, "
               "%r3; @%p2 bra L; mov.u32 %r6, 1; bra B; A: mov.u32 %r6, 2; B:" STORE("%r6"),
           NULL, "any(ones 0x0 of 0xfffffffc)");
    /* A loop whose turns lanes part in, and come together in again. */
    expect("",
           TID "mov.u32 %r4, 0; L: setp.eq.s32 %p1, %r4, %r1; @%p1 bra A; st.shared.b32 [sm+4], %r1; A: add.s32 %r4, "
               "%r4, 1; setp.lt.s32 %p2, %r4, %r3; @%p2 bra L;" STORE("%r4"),
           NULL, "uniform(grid)");
}

static void expect_blocks(const char *body, unsigned parting, unsigned divergent) {
    Found *found = find("", body, NULL);
    unsigned parts = 0, apart = 0;
    for (uint32_t i = 0; i < found->flow.block_count; i++) {
        parts += found->values.parts[i];
        apart += found->values.divergent[i];
    }
    if (parts != parting || apart != divergent)
        fail_msg("%s: %u blocks part a warp, %u are divergent", body, parts, apart);
    done(found);
}

static void test_divergence(void **unused) {
    (void)unused;
    expect_blocks(TID "setp.lt.s32 %p1, %r3, 5; @%p1 bra A; st.shared.b32 [sm], %r1; A:", 0, 0);
    expect_blocks(TID "setp.lt.s32 %p1, %r1, 5; @%p1 bra A; st.shared.b32 [sm], %r1; A:", 1, 1);
    expect_blocks(TID "setp.lt.s32 %p1, %r1, 64; @%p1 bra A; st.shared.b32 [sm], %r1; A:", 0, 0);
    /* A branch in a part that a part of the warp runs: both of its ways. */
    expect_blocks(TID "setp.lt.s32 %p1, %r1, 5; setp.lt.s32 %p2, %r3, 5; @%p1 bra A; @%p2 bra A; st.shared.b32 [sm], "
                      "%r1; A:",
                  1, 2);
    expect_blocks(TID "setp.lt.s32 %p1, %r1, 5; @%p1 exit; st.shared.b32 [sm], %r1;", 1, 1);
    expect_blocks(TID "setp.lt.s32 %p1, %r1, 5; @!%p1 bra A; trap; A:", 1, 1);
    /* .uni is a promise. */
    expect_blocks(TID "setp.lt.s32 %p1, %r1, 5; @%p1 bra.uni A; st.shared.b32 [sm], %r1; A:", 0, 0);
    expect_blocks(LOOP("%r1", ""), 1, 1);
}

/* ---- Lanes and memory ------------------------------------------------------------------------------------------- */

static void test_lanes(void **unused) {
    (void)unused;
    expect("", TID "shfl.sync.idx.b32 %r4, %r1, 0, 31, -1;" STORE("%r4"), NULL,
           "uniform(warp, ones 0x0 of 0xfffffc1f)");
    expect("", TID "shfl.sync.bfly.b32 %r4, %r2, 16, 31, -1; sub.s32 %r5, %r4, %r2;" STORE("%r5"), NULL,
           "16 + bits [0 0 0 0 -32]");
    expect("",
           TID "ld.shared.b32 %r6, [sm]; add.s32 %r6, %r6, %r2; mul.lo.s32 %r6, %r6, %r6;\n"
               "shfl.sync.idx.b32 %r4, %r6, %r3, 31, -1;" STORE("%r4"),
           NULL, "uniform(warp), if memory is steady");
    expect("", TID "shfl.sync.down.b32 %r4|%p1, %r2, 1, 31, -1; selp.b32 %r5, 1, 0, %p1;" STORE("%r5"), NULL,
           "1 + table [0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 -1]");
    expect("", TID "setp.lt.s32 %p1, %r1, 5; vote.sync.ballot.b32 %r4, %p1, -1;" STORE("%r4"), NULL, "uniform(warp)");
    expect("", TID "setp.lt.s32 %p1, %r1, 5; vote.sync.ballot.b32 %r4, %p1, %r2;" STORE("%r4"), NULL, "any");
    expect("", TID "redux.sync.add.u32 %r4, %r1, -1;" STORE("%r4"), NULL, "uniform(warp)");
    expect("", TID "elect.sync %r4|%p1, -1; selp.b32 %r5, 1, 0, %p1;" STORE("%r5"), NULL,
           "any(ones 0x0 of 0xfffffffe)");
    expect("", TID "match.any.sync.b32 %r4, %r3, -1;" STORE("%r4"), NULL, "any");
    expect("", "activemask.b32 %r4;" STORE("%r4"), NULL, "any");
}

/* With the same operands in all lanes a lane still has a part of its own of a matrix. */
static void test_matrices(void **unused) {
    (void)unused;
    expect("", "mov.u32 %r1, 1024; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];" STORE("%r2"), NULL, "any");
    expect("", "mov.u32 %r1, 9; movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r1;" STORE("%r2"), NULL, "any");
    expect("",
           "mov.u32 %r1, 9; mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r2, %r3}, {%r1}, {%r1}, {%r1, %r1};" STORE(
               "%r2"),
           NULL, "any");
}

static void test_loads(void **unused) {
    (void)unused;
    expect("", "ld.param.u32 %r1, [n];" STORE("%r1"), NULL, "uniform(grid)");
    expect("", "ld.const.b32 %r1, [table+4];" STORE("%r1"), NULL, "uniform(grid)");
    expect("",
           TID "mov.u64 %rd1, table; mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2;\n"
               "ld.const.b32 %r4, [%rd3];" STORE("%r4"),
           NULL, "any");
    expect("", "ld.param.u64 %rd1, [g]; ld.global.nc.u8 %r1, [%rd1];" STORE("%r1"), NULL,
           "uniform(grid, ones 0x0 of 0xffffff00)");
    expect("", "ld.param.u64 %rd1, [g]; ld.global.b32 %r1, [%rd1];" STORE("%r1"), NULL,
           "uniform(warp), if memory is steady");
    expect("", "ld.param.u64 %rd1, [g]; ld.relaxed.gpu.global.b32 %r1, [%rd1];" STORE("%r1"), NULL, "any");
    expect("", "ld.local.b32 %r1, [stack];" STORE("%r1"), NULL, "any");
    expect("", "mov.u64 %rd1, stack; cvta.local.u64 %rd2, %rd1; ld.b32 %r1, [%rd2];" STORE("%r1"), NULL, "any");
    expect("", "ld.param.u64 %rd1, [g]; atom.global.add.u32 %r1, [%rd1], 1;" STORE("%r1"), NULL, "any");
}

static void expect_origin(const char *body, PtxSpace space, const char *variable) {
    Found *found = find("", body, NULL);
    uint32_t at = found->flow.instruction_count - 2, operand = PTX_NONE;
    uint32_t statement = found->flow.instructions[at];
    const PtxStatement *of = &found->module.statements[statement];
    for (uint32_t i = of->first; i < of->first + of->count && operand == PTX_NONE; i++)
        if (found->module.operands[i].kind == PTX_ADDRESS)
            operand = i;
    PtxOrigin origin;
    ptx_address_form(&found->values, statement, operand, &origin);
    assert_int_equal(origin.space, space);
    Str name = {"", 0};
    if (origin.variable != PTX_NONE)
        name = ptx_name(&found->module, found->module.variables[origin.variable].name);
    if (!str_is(name, variable))
        fail_msg("%s: of '%.*s'", body, (int)name.size, name.data);
    done(found);
}

static void test_origins(void **unused) {
    (void)unused;
    expect_origin("ld.shared.b32 %r1, [sm+4];", PTX_SPACE_SHARED, "sm");
    expect_origin(TID "mov.u32 %r4, sm; mad.lo.s32 %r5, %r1, 4, %r4; ld.shared.b32 %r6, [%r5];", PTX_SPACE_SHARED,
                  "sm");
    expect_origin("ld.param.u64 %rd1, [g]; add.s64 %rd2, %rd1, 8; ld.b32 %r6, [%rd2];", PTX_SPACE_GLOBAL, "g");
    expect_origin("ld.param.u64 %rd1, [a]; ld.b32 %r6, [%rd1];", PTX_SPACE_UNKNOWN, "a");
    expect_origin("ld.param.u64 %rd1, [a]; cvta.to.global.u64 %rd2, %rd1; ld.global.b32 %r6, [%rd2];", PTX_SPACE_GLOBAL,
                  "a");
    expect_origin("mov.u64 %rd1, sm; cvta.shared.u64 %rd2, %rd1; ld.b32 %r6, [%rd2];", PTX_SPACE_SHARED, "sm");
    expect_origin("mov.u32 %r1, sm; mapa.shared::cluster.u32 %r2, %r1, 1; ld.shared::cluster.b32 %r6, [%r2];",
                  PTX_SPACE_CLUSTER, "sm");
    expect_origin("mov.u32 %r1, sm; ld.param.u64 %rd1, [g]; cp.async.ca.shared.global [%r1], [%rd1], 16;",
                  PTX_SPACE_SHARED, "sm");
}

/* ---- Sums ------------------------------------------------------------------------------------------------ */

/* How much the last operand of the last st is more than that of the one before it; false: it is not known. */
static bool stored_apart(Found *found, PtxSum *apart) {
    PtxSum sums[2];
    unsigned have = 0;
    for (uint32_t i = found->flow.instruction_count; i-- > 0 && have < 2;) {
        const PtxStatement *statement = &found->module.statements[found->flow.instructions[i]];
        if (str_starts(found->module.forms[statement->what].text, STR("st.")))
            sums[have++] =
                ptx_sum_of(&found->values, flow_value(&found->flow, statement->first + statement->count - 1));
    }
    assert_int_equal(have, 2);
    return ptx_sum_apart(&sums[1], &sums[0], apart);
}

static void expect_apart(const char *body, int64_t constant, unsigned terms) {
    Found *found = find(".reqntid 64", body, NULL);
    PtxSum apart;
    if (!stored_apart(found, &apart))
        fail_msg("%s: not known", body);
    if (apart.constant != ((uint64_t)constant & low_ones(apart.width)) || apart.term_count != terms)
        fail_msg("%s: %llu and %u parameters", body, (unsigned long long)apart.constant, apart.term_count);
    done(found);
}

static void expect_not_apart(const char *body) {
    Found *found = find(".reqntid 64", body, NULL);
    PtxSum apart;
    if (stored_apart(found, &apart))
        fail_msg("%s: %llu", body, (unsigned long long)apart.constant);
    done(found);
}

#define STORE_TWO(a, b) "st.shared.b64 [sm], " a "; st.shared.b64 [sm], " b ";"

static void test_sums(void **unused) {
    (void)unused;
    expect_apart(TID "add.s32 %r4, %r1, 8; add.s32 %r5, %r4, -12;" STORE("%r1") STORE("%r5"), -4, 0);
    expect_apart(TID "shl.b32 %r4, %r1, 2; or.b32 %r5, %r4, 3;" STORE("%r4") STORE("%r5"), 3, 0);
    expect_apart(TID "sub.s32 %r4, %r1, 5; mov.b32 %r5, %r4;" STORE("%r5") STORE("%r1"), 5, 0);
    /* Parameters are known at the launch; the same one on both sides is nothing. */
    expect_apart(TID "mul.wide.u32 %rd1, %r1, 4; ld.param.u64 %rd2, [a]; ld.param.u64 %rd3, [g]; add.s64 %rd4, %rd2, "
                     "%rd1; add.s64 %rd5, %rd1, %rd3; add.s64 %rd6, %rd5, 64;" STORE_TWO("%rd4", "%rd6"),
                 64, 2);
    expect_apart(TID "mul.wide.u32 %rd1, %r1, 4; ld.param.u64 %rd2, [a]; ld.param.u64 %rd3, [a]; add.s64 %rd4, %rd2, "
                     "%rd1; cvta.to.global.u64 %rd5, %rd3; add.s64 %rd6, %rd5, %rd1;" STORE_TWO("%rd4", "%rd6"),
                 0, 0);
    /* Bits that may be in both, other roots, a guard, a register that is narrower, what is loaded from memory. */
    expect_not_apart(TID "or.b32 %r5, %r1, 3;" STORE("%r1") STORE("%r5"));
    expect_not_apart(TID "add.s32 %r4, %r1, %r2; add.s32 %r5, %r1, %r1;" STORE("%r4") STORE("%r5"));
    expect_not_apart(TID "setp.eq.s32 %p1, %r1, 0; mov.b32 %r5, %r1; @%p1 add.s32 %r5, %r1, 4;" STORE("%r1")
                         STORE("%r5"));
    expect_not_apart(TID
                     "add.s32 %r4, %r1, 4; cvt.u64.u32 %rd1, %r1; cvt.u64.u32 %rd2, %r4;" STORE_TWO("%rd1", "%rd2"));
    expect_not_apart("ld.shared.b32 %r4, [sm]; ld.shared.b32 %r5, [sm];" STORE("%r4") STORE("%r5"));
}

/* A sum of sums of sums takes no longer than it is allowed to. */
static void test_sum_of_sums(void **unused) {
    (void)unused;
    Text body = {0};
    text_str(&body, STR(TID));
    for (unsigned i = 0; i < 30; i++)
        text_str(&body, STR("add.s32 %r1, %r1, %r1;\n"));
    text_str(&body, STR("add.s32 %r5, %r1, 1;" STORE("%r1") STORE("%r5")));
    text_add(&body, "", 1);
    Found *found = find(".reqntid 64", body.data, NULL);
    PtxSum apart;
    if (stored_apart(found, &apart))
        assert_int_equal(apart.constant, 1);
    done(found);
    text_free(&body);
}

/* A budget that does not do is said, and nothing is left behind. */
static void test_budget(void **unused) {
    (void)unused;
    Found *found = find("", TID STORE("%r1"), NULL);
    PtxValues values;
    const char *problem = NULL;
    assert_false(ptx_values(&values, &found->flow, NULL, 1000, &problem));
    assert_non_null(problem);
    ptx_values_free(&values);
    done(found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants), cmocka_unit_test(test_threads),    cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_extension), cmocka_unit_test(test_guards),     cmocka_unit_test(test_joins),
        cmocka_unit_test(test_loops),     cmocka_unit_test(test_divergence), cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_matrices),  cmocka_unit_test(test_loads),      cmocka_unit_test(test_origins),
        cmocka_unit_test(test_budget),    cmocka_unit_test(test_sums),       cmocka_unit_test(test_sum_of_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
