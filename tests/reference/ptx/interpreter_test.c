/* The interpreter on instructions whose results were worked out by hand: each family, then what warps and CTAs do. */
#include "interpreter.h"

#include "ptx/reader.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { OUT = 0x40000000, IN = 0x50000000 };

typedef struct Run {
    Source *source;
    PtxModule module;
    Diagnostics diagnostics;
    Machine *machine;
    End end;
} Run;

static Run run_text(const char *text, uint32_t ctas, uint32_t threads, uint32_t cluster, const Watcher *watcher) {
    Run run = {.source = source_copy("test.ptx", text, strlen(text))};
    if (!ptx_read(&run.module, run.source, false, &run.diagnostics))
        fail_msg("%s\n%s", run.diagnostics.items[0].message, text);
    run.machine = machine_new(&run.module);
    uint64_t parameters[2] = {OUT, IN};
    uint32_t kernel = 0;
    while (!run.module.functions[kernel].entry)
        kernel++;
    assert_int_equal(machine_parameter_bytes(run.machine, kernel), 16);
    Launch launch = {.function = kernel,
                     .grid = {ctas, 1, 1},
                     .block = {threads, 1, 1},
                     .cluster = {cluster, 1, 1},
                     .parameters = (const uint8_t *)parameters,
                     .contents = CONTENTS_ZERO,
                     .steps = 100000};
    run.end = machine_run(run.machine, &launch, watcher);
    return run;
}

static void done(Run *run) {
    machine_free(run->machine);
    ptx_free(&run->module);
    diagnostics_free(&run->diagnostics);
    source_free(run->source);
}

#define HEAD   ".version 8.7\n.target sm_100a\n.address_size 64\n"
#define KERNEL ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n"
#define REGISTERS                                                                                                  \
    ".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<32>; .reg .b64 %rd<32>; .reg .f32 %f<8>; .reg .f64 %fd<8>;\n" \
    ".reg .b128 %rq<4>; .reg .b32 %warp, %lane;\n"
/* thread i of the grid has 8 bytes of its own at out */
#define START                                                                             \
    "ld.param.u64 %rd30, [out]; ld.param.u64 %rd29, [in]; mov.u32 %r30, %tid.x;\n"        \
    "mov.u32 %r29, %ctaid.x; mov.u32 %r28, %ntid.x; mad.lo.u32 %r31, %r29, %r28, %r30;\n" \
    "mad.wide.u32 %rd31, %r31, 8, %rd30;\n"
#define END "st.global.b64 [%rd31], %rd0;\nret;\n}\n"

static uint64_t out(Run *run, unsigned thread) {
    return machine_global(run->machine, OUT + 8 * thread, 8);
}

static Run run_body(const char *body, uint32_t ctas, uint32_t threads) {
    Text text = {0};
    text_addf(&text, "%s%s%s%s%s%s", HEAD, KERNEL, REGISTERS, START, body, END);
    Run run = run_text(text.data, ctas, threads, 1, NULL);
    text_free(&text);
    if (run.end.kind != END_REACHED)
        fail_msg("%s: ended as %d: %.*s", body, run.end.kind, STR_ARG(run.end.what));
    return run;
}

/* ---- One instruction ---- */

typedef struct Case {
    const char *code; /* %r1, %r2, %r3 and %rd1, %rd2, %rd3 are a, b and c; the result goes to %r0, %rd0, %p0, ... */
    uint64_t a, b, c, result;
} Case;

static const Case cases[] = {
    {"add.s32 %r0, %r1, %r2;", 0xffffffff, 3, 0, 2},
    {"add.sat.s32 %r0, %r1, %r2;", 0x7fffffff, 3, 0, 0x7fffffff},
    {"sub.sat.s32 %r0, %r1, %r2;", 0x80000000, 1, 0, 0x80000000},
    {"add.u64 %rd0, %rd1, %rd2;", UINT64_MAX, 3, 0, 2},
    {"add.u16x2 %r0, %r1, %r2;", 0x0001ffff, 0x00010001, 0, 0x00020000},
    {"sub.u32 %r0, %r1, %r2;", 1, 2, 0, 0xffffffff},
    {"add.cc.u32 %r4, %r1, %r2; addc.u32 %r0, %r3, 0;", 0xffffffff, 1, 7, 8},
    {"add.cc.u32 %r4, %r1, %r2; addc.u32 %r0, %r3, 0;", 0xfffffffe, 1, 7, 7},
    {"sub.cc.u32 %r4, %r1, %r2; subc.u32 %r0, %r3, 0;", 1, 2, 7, 6},
    {"mad.lo.cc.u32 %r4, %r1, %r2, %r1; madc.hi.u32 %r0, %r1, %r2, %r3;", 0xffffffff, 0xffffffff, 5, 4},
    {"mul.lo.s32 %r0, %r1, %r2;", 0x10001, 0x10001, 0, 0x20001},
    {"mul.hi.u32 %r0, %r1, %r2;", 0xffffffff, 0xffffffff, 0, 0xfffffffe},
    {"mul.hi.s32 %r0, %r1, %r2;", 0xffffffff, 0xffffffff, 0, 0},
    {"mul.hi.u64 %rd0, %rd1, %rd2;", UINT64_MAX, UINT64_MAX, 0, UINT64_MAX - 1},
    {"mul.wide.s32 %rd0, %r1, %r2;", 0xffffffff, 5, 0, UINT64_MAX - 4},
    {"mul.wide.u32 %rd0, %r1, %r2;", 0xffffffff, 5, 0, UINT64_C(0x4fffffffb)},
    {"mad.wide.s32 %rd0, %r1, %r2, %rd3;", 0xffffffff, 5, 100, 95},
    {"mad.lo.s32 %r0, %r1, %r2, %r3;", 3, 5, 100, 115},
    {"mad.hi.sat.s32 %r0, %r1, %r2, %r3;", 0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff},
    {"mul24.lo.u32 %r0, %r1, %r2;", 0xff000002, 3, 0, 6},
    {"mul24.hi.s32 %r0, %r1, %r2;", 0x800000, 0x10000, 0, 0xff800000},
    {"mad24.lo.s32 %r0, %r1, %r2, %r3;", 0xffffff, 3, 10, 7},
    {"sad.s32 %r0, %r1, %r2, %r3;", 0xffffffff, 3, 10, 14},
    {"sad.u32 %r0, %r1, %r2, %r3;", 0xffffffff, 3, 10, 0x00000006},
    {"div.s32 %r0, %r1, %r2;", (uint32_t)-7, 2, 0, (uint32_t)-3},
    {"rem.s32 %r0, %r1, %r2;", (uint32_t)-7, 2, 0, (uint32_t)-1},
    {"div.u32 %r0, %r1, %r2;", (uint32_t)-7, 2, 0, 0x7ffffffc},
    {"rem.u64 %rd0, %rd1, %rd2;", UINT64_MAX, 10, 0, 5},
    {"div.s32 %r0, %r1, %r2;", 0x80000000, 0xffffffff, 0, 0x80000000},
    {"abs.s32 %r0, %r1;", (uint32_t)-7, 0, 0, 7},
    {"neg.s32 %r0, %r1;", 7, 0, 0, (uint32_t)-7},
    {"min.s32 %r0, %r1, %r2;", (uint32_t)-7, 2, 0, (uint32_t)-7},
    {"max.u32 %r0, %r1, %r2;", (uint32_t)-7, 2, 0, (uint32_t)-7},
    {"max.relu.s32 %r0, %r1, %r2;", (uint32_t)-7, (uint32_t)-2, 0, 0},
    {"min.s16x2 %r0, %r1, %r2;", 0xffff0001, 0x00010002, 0, 0xffff0001},
    {"popc.b64 %r0, %rd1;", UINT64_C(0xf0000000000000f1), 0, 0, 9},
    {"clz.b32 %r0, %r1;", 0x00ffffff, 0, 0, 8},
    {"clz.b64 %r0, %rd1;", 0, 0, 0, 64},
    {"bfind.u32 %r0, %r1;", 0x100, 0, 0, 8},
    {"bfind.s32 %r0, %r1;", 0xfffffeff, 0, 0, 8},
    {"bfind.shiftamt.u32 %r0, %r1;", 0x100, 0, 0, 23},
    {"bfind.s32 %r0, %r1;", 0xffffffff, 0, 0, 0xffffffff},
    {"fns.b32 %r0, %r1, %r2, %r3;", 0xaaaaaaaa, 3, 1, 3},
    {"fns.b32 %r0, %r1, %r2, %r3;", 0xaaaaaaaa, 3, (uint32_t)-2, 1},
    {"fns.b32 %r0, %r1, %r2, %r3;", 0xaaaaaaaa, 4, 0, 0xffffffff},
    {"brev.b32 %r0, %r1;", 0x00000013, 0, 0, 0xc8000000},
    {"bfe.u32 %r0, %r1, %r2, %r3;", 0x12345678, 8, 12, 0x456},
    {"bfe.s32 %r0, %r1, %r2, %r3;", 0x12345878, 8, 4, 0xfffffff8},
    {"bfe.s32 %r0, %r1, %r2, %r3;", 0x80000000, 28, 10, 0xfffffff8},
    {"bfe.u32 %r0, %r1, %r2, %r3;", 0xffffffff, 3, 0, 0},
    {"bfi.b32 %r0, %r1, %r2, %r3, 8;", 0xab, 0x11111111, 4, 0x11111ab1},
    {"szext.wrap.s32 %r0, %r1, %r2;", 0xff, 8, 0, 0xffffffff},
    {"szext.clamp.u32 %r0, %r1, %r2;", 0xfff, 8, 0, 0xff},
    {"bmsk.clamp.b32 %r0, %r1, %r2;", 4, 8, 0, 0xff0},
    {"bmsk.wrap.b32 %r0, %r1, %r2;", 36, 8, 0, 0xff0},
    {"bmsk.clamp.b32 %r0, %r1, %r2;", 36, 8, 0, 0},
    {"dp4a.s32.s32 %r0, %r1, %r2, %r3;", 0xff020304, 0x01010101, 10, 10 - 1 + 2 + 3 + 4},
    {"dp4a.u32.u32 %r0, %r1, %r2, %r3;", 0xff020304, 0x01010101, 10, 10 + 255 + 2 + 3 + 4},
    {"dp2a.hi.s32.u32 %r0, %r1, %r2, %r3;", 0xffff0002, 0x02030000, 10, 10 - 2 + 6},
    {"and.b32 %r0, %r1, %r2;", 12, 10, 0, 8},
    {"or.b32 %r0, %r1, %r2;", 12, 10, 0, 14},
    {"xor.b64 %rd0, %rd1, %rd2;", 12, 10, 0, 6},
    {"not.b32 %r0, %r1;", 1, 0, 0, 0xfffffffe},
    {"cnot.b32 %r0, %r1;", 0, 0, 0, 1},
    {"lop3.b32 %r0, %r1, %r2, %r3, 0xe8;", 12, 10, 6, 14},
    {"lop3.b32 %r0, %r1, %r2, %r3, 0x1a;", 0xf0, 0xcc, 0xaa, 0x1a},
    {"shf.l.wrap.b32 %r0, %r1, %r2, %r3;", 0x80000001, 1, 33, 3},
    {"shf.l.clamp.b32 %r0, %r1, %r2, %r3;", 0x80000001, 1, 33, 0x80000001},
    {"shf.r.wrap.b32 %r0, %r1, %r2, %r3;", 0x80000001, 1, 1, 0xc0000000},
    {"shf.r.clamp.b32 %r0, %r1, %r2, %r3;", 5, 9, 40, 9},
    {"shl.b32 %r0, %r1, %r2;", 3, 31, 0, 0x80000000},
    {"shl.b32 %r0, %r1, %r2;", 3, 32, 0, 0},
    {"shr.s32 %r0, %r1, %r2;", 0x80000000, 40, 0, 0xffffffff},
    {"shr.u32 %r0, %r1, %r2;", 0x80000000, 31, 0, 1},
    {"shr.b64 %rd0, %rd1, %r2;", UINT64_C(1) << 63, 63, 0, 1},
    {"prmt.b32 %r0, %r1, %r2, %r3;", 0x33221100, 0x77665544, 0x7043, 0x77004433},
    {"prmt.b32 %r0, %r1, %r2, %r3;", 0x33221180, 0x77665544, 0x8888, 0xffffffff},
    {"prmt.b32.f4e %r0, %r1, %r2, %r3;", 0x33221100, 0x77665544, 1, 0x44332211},
    {"prmt.b32.b4e %r0, %r1, %r2, %r3;", 0x33221100, 0x77665544, 0, 0x55667700},
    {"prmt.b32.rc8 %r0, %r1, %r2, %r3;", 0x33221100, 0x77665544, 2, 0x22222222},
    {"prmt.b32.ecl %r0, %r1, %r2, %r3;", 0x33221100, 0x77665544, 1, 0x33221111},
    {"prmt.b32.ecr %r0, %r1, %r2, %r3;", 0x33221100, 0x77665544, 1, 0x11111100},
    {"prmt.b32.rc16 %r0, %r1, %r2, %r3;", 0x33221100, 0x77665544, 3, 0x33223322},
    {"set.lt.u32.s32 %r0, %r1, %r2;", (uint32_t)-7, 2, 0, 0xffffffff},
    {"set.lt.f32.u32 %r0, %r2, %r1;", (uint32_t)-7, 2, 0, 0x3f800000},
    {"setp.lt.s32 %p0, %r1, %r2;", (uint32_t)-7, 2, 0, 1},
    {"setp.lt.u32 %p0, %r1, %r2;", (uint32_t)-7, 2, 0, 0},
    {"setp.lo.u32 %p0, %r2, %r1;", (uint32_t)-7, 2, 0, 1},
    {"setp.eq.b64 %p0, %rd1, %rd2;", UINT64_C(1) << 40, 0, 0, 0},
    {"setp.gt.s32 %p1|%p0, %r1, %r2;", 7, 2, 0, 0},
    {"setp.eq.s32 %p2, %r1, %r1; setp.ge.and.s32 %p0, %r1, %r2, !%p2;", 7, 2, 0, 0},
    {"setp.ne.s32 %p2, %r1, %r1; setp.lt.xor.s32 %p0, %r2, %r1, %p2;", 7, 2, 0, 1},
    {"setp.gt.s32 %p1, %r1, %r2; selp.b32 %r0, %r1, %r3, %p1;", 1, 2, 9, 9},
    {"slct.u32.s32 %r0, %r1, %r2, %r3;", 1, 2, (uint32_t)-1, 2},
    {"slct.u32.f32 %r0, %r1, %r2, 0f00000000;", 1, 2, 0, 1},
    {"cvt.s64.s32 %rd0, %r1;", (uint32_t)-7, 0, 0, (uint64_t)-7},
    {"cvt.u64.u32 %rd0, %r1;", (uint32_t)-7, 0, 0, (uint32_t)-7},
    {"cvt.u32.u64 %r0, %rd1;", UINT64_C(0x123456789a), 0, 0, 0x3456789a},
    {"cvt.s32.s8 %r0, %r1;", 0x1ff, 0, 0, 0xffffffff},
    {"cvt.u16.u32 %h0, %r1; cvt.u32.u16 %r0, %h0;", 0x12345, 0, 0, 0x2345},
    {"cvt.sat.u8.s32 %r0, %r1;", (uint32_t)-5, 0, 0, 0},
    {"cvt.sat.s8.s32 %r0, %r1;", 1000, 0, 0, 127},
    {"cvt.rn.f32.s32 %f0, %r1; mov.b32 %r0, %f0;", (uint32_t)-2, 0, 0, 0xc0000000},
    {"mov.b32 %f0, %r1; cvt.rzi.s32.f32 %r0, %f0;", 0xc0200000, 0, 0, (uint32_t)-2},
    {"mov.b32 %f0, %r1; cvt.rni.s32.f32 %r0, %f0;", 0x40600000, 0, 0, 4},
    {"mov.b32 %f0, %r1; cvt.rpi.u32.f32 %r0, %f0;", 0xc0200000, 0, 0, 0},
    {"mov.b32 %f0, %r1; add.f32 %f1, %f0, 0f3F800000; mov.b32 %r0, %f1;", 0x40000000, 0, 0, 0x40400000},
    {"mov.b32 %f0, %r1; fma.rn.f32 %f1, %f0, %f0, 0f3F800000; mov.b32 %r0, %f1;", 0x40000000, 0, 0, 0x40a00000},
    {"mov.b64 %fd0, %rd1; mul.f64 %fd1, %fd0, 2.5; mov.b64 %rd0, %fd1;", UINT64_C(0x4000000000000000), 0, 0,
     UINT64_C(0x4014000000000000)},
    {"mov.b32 %f0, %r1; setp.ltu.f32 %p0, %f0, 0f00000000;", 0x7fc00000, 0, 0, 1},
    {"mov.b32 %f0, %r1; setp.ne.f32 %p0, %f0, 0f00000000;", 0x7fc00000, 0, 0, 0},
    {"mov.b32 %f0, %r1; testp.notanumber.f32 %p0, %f0;", 0x7fc00000, 0, 0, 1},
    {"mov.b64 %rd0, {%r1, %r2};", 5, 6, 0, UINT64_C(0x600000005)},
    {"mov.b64 {%r4, %r0}, %rd1;", UINT64_C(0x600000005), 0, 0, 6},
    {"mov.b64 {%r0, _}, %rd1;", UINT64_C(0x600000005), 0, 0, 5},
    {"mov.b32 {%h0, %h1}, %r1; mov.b32 %r0, {%h1, %h0};", 0x12345678, 0, 0, 0x56781234},
    {"mov.b128 %rq0, {%rd1, %rd2}; mov.b128 {%rd4, %rd0}, %rq0;", 5, 6, 0, 6},
    {"mov.pred %p0, -1;", 0, 0, 0, 1},
    {"setp.eq.s32 %p1, %r1, 1; @%p1 mov.b32 %r0, 4; @!%p1 mov.b32 %r0, 5;", 1, 0, 0, 4},
    {"setp.eq.s32 %p1, %r1, 1; not.pred %p0, %p1;", 1, 0, 0, 0},
    {"mov.u32 %r0, %ntid.x;", 0, 0, 0, 32},
    {"mov.u32 %r0, %nctaid.x;", 0, 0, 0, 1},
    {"mov.u32 %r0, WARP_SZ;", 0, 0, 0, 32},
};

static void instructions_give_what_was_worked_out(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Case *c = &cases[i];
        Text body = {0};
        text_addf(&body,
                  "mov.b64 %%rd0, 0; mov.b32 %%r0, 0; setp.ne.s32 %%p0, %%r0, 0;\n"
                  "mov.b64 %%rd1, %" PRIu64 "; mov.b64 %%rd2, %" PRIu64 "; mov.b64 %%rd3, %" PRIu64 ";\n"
                  "mov.b32 %%r1, %u; mov.b32 %%r2, %u; mov.b32 %%r3, %u;\n%s\n",
                  c->a, c->b, c->c, (uint32_t)c->a, (uint32_t)c->b, (uint32_t)c->c, c->code);
        /* exactly one of the three is written */
        text_addf(&body, "cvt.u64.u32 %%rd5, %%r0; or.b64 %%rd0, %%rd0, %%rd5;\n"
                         "selp.b64 %%rd5, 1, 0, %%p0; or.b64 %%rd0, %%rd0, %%rd5;\n");
        text_char(&body, 0);
        Run run = run_body(body.data, 1, 32);
        for (unsigned lane = 0; lane < 32; lane += 31)
            if (out(&run, lane) != c->result)
                fail_msg("%s of %" PRIx64 ", %" PRIx64 ", %" PRIx64 ": %" PRIx64 ", expected %" PRIx64, c->code, c->a,
                         c->b, c->c, out(&run, lane), c->result);
        done(&run);
        text_free(&body);
    }
}

/* ---- Warps ---- */

/* What thread i of 64 gives for a body that leaves it in %r0. */
static void expect(const char *body, uint64_t (*wanted)(unsigned thread)) {
    Text text = {0};
    text_addf(&text, "mov.u32 %%lane, %%laneid; mov.u32 %%warp, %%warpid;\n%s\ncvt.u64.u32 %%rd0, %%r0;\n", body);
    Run run = run_body(text.data, 2, 32);
    for (unsigned i = 0; i < 64; i++)
        if (out(&run, i) != wanted(i))
            fail_msg("%s: thread %u has %" PRIx64 ", expected %" PRIx64, body, i, out(&run, i), wanted(i));
    done(&run);
    text_free(&text);
}

static uint64_t from_neighbor(unsigned i) {
    return i % 32 == 31 ? 31 : i % 32 + 1;
}
static uint64_t from_partner(unsigned i) {
    return (i % 32) ^ 5;
}
static uint64_t from_before(unsigned i) {
    return i % 8 < 2 ? i % 32 + 100 : i % 32 - 2;
}
static uint64_t from_third(unsigned i) {
    return i % 32 / 8 * 8 + 3;
}
static uint64_t odd_lanes(unsigned i) {
    (void)i;
    return 0xaaaaaaaa;
}
static uint64_t own_parity(unsigned i) {
    return i & 1 ? 0xaaaaaaaa : 0x55555555;
}
static uint64_t sum_of_half(unsigned i) {
    return i % 32 < 16 ? 120 : 120 + 256;
}
static uint64_t one(unsigned i) {
    (void)i;
    return 1;
}
static uint64_t eight(unsigned i) {
    (void)i;
    return 8;
}
static uint64_t turns_of_lane(unsigned i) {
    return i % 32 * 3;
}
static uint64_t met_again(unsigned i) {
    return UINT32_MAX - (i & 1);
}
static uint64_t by_table(unsigned i) {
    return 10 + i % 3;
}
static uint64_t of_left(unsigned i) {
    return i % 32 < 4 ? 0xf : 0xfffffff0;
}

static void lanes_see_each_other(void **state) {
    (void)state;
    expect("shfl.sync.down.b32 %r0, %lane, 1, 31, -1;", from_neighbor);
    expect("shfl.sync.bfly.b32 %r0, %lane, 5, 31, -1;", from_partner);
    expect("shfl.sync.up.b32 %r0|%p1, %lane, 2, 0x1800, -1; @!%p1 add.s32 %r0, %r0, 100;", from_before);
    expect("shfl.sync.idx.b32 %r0, %lane, 3, 0x181f, -1;", from_third);
    expect("and.b32 %r1, %lane, 1; setp.ne.s32 %p1, %r1, 0; vote.sync.ballot.b32 %r0, %p1, -1;", odd_lanes);
    expect("and.b32 %r1, %lane, 1; match.any.sync.b32 %r0, %r1, -1;", own_parity);
    expect("match.all.sync.b32 %r1|%p1, %warp, -1; selp.b32 %r0, 1, 0, %p1;", one);
    expect("setp.lt.s32 %p1, %lane, 16; @%p1 bra A; redux.sync.add.u32 %r0, %lane, 0xffff0000; bra B;\n"
           "A: redux.sync.add.u32 %r0, %lane, 0xffff; B:",
           sum_of_half);
    /* one lane is elected, and the same again */
    expect("elect.sync %r1|%p1, -1; elect.sync %r2|%p2, -1; vote.sync.ballot.b32 %r3, %p1, -1; popc.b32 %r0, %r3;\n"
           "setp.ne.s32 %p3, %r1, %r2; xor.pred %p4, %p1, %p2; or.pred %p3, %p3, %p4; @%p3 mov.b32 %r0, 77;",
           one);
}

static void threads_part_and_meet(void **state) {
    (void)state;
    /* as many turns as the lane's number says */
    expect("mov.b32 %r0, 0; mov.b32 %r1, 0; L: setp.ge.s32 %p1, %r1, %lane; @%p1 bra D; add.s32 %r0, %r0, 3;\n"
           "add.s32 %r1, %r1, 1; bra L; D:",
           turns_of_lane);
    /* behind it they run together again; the last block of one way stands before the branch in the text */
    expect("and.b32 %r1, %lane, 1; setp.eq.s32 %p1, %r1, 1; mov.b32 %r2, 0; bra S;\nO: mov.b32 %r2, 1; bra M;\n"
           "S: @%p1 bra O; add.s32 %r2, %r2, 0; M: activemask.b32 %r0; sub.u32 %r0, %r0, %r2;",
           met_again);
    expect("rem.u32 %r1, %r31, 3; \nT: .branchtargets A, B, C;\nbrx.idx %r1, T;\nA: mov.b32 %r0, 10; bra D;\n"
           "B: mov.b32 %r0, 11; bra D;\nC: mov.b32 %r0, 12;\nD:",
           by_table);
    /* a loop that some leave early: those that stay run it together */
    expect("mov.b32 %r1, 0; L: setp.ge.s32 %p1, %lane, 4; setp.eq.and.s32 %p2, %r1, 2, %p1; @%p2 bra D; "
           "add.s32 %r1, %r1, 1; setp.lt.s32 %p3, %r1, 5; activemask.b32 %r0; @%p3 bra L; bra E; D: activemask.b32 "
           "%r0; E:",
           of_left);
}

static void ctas_meet_at_barriers(void **state) {
    (void)state;
    const char *text =
        HEAD ".shared .align 4 .b32 words[64];\n" KERNEL REGISTERS START
             "mov.u32 %r1, words; shl.b32 %r2, %r30, 2; add.s32 %r3, %r1, %r2; st.shared.b32 [%r3], %r30; bar.sync 0;\n"
             "xor.b32 %r2, %r30, 63; shl.b32 %r2, %r2, 2; add.s32 %r3, %r1, %r2; ld.shared.b32 %r0, [%r3];\n"
             "setp.lt.s32 %p1, %r30, 8; bar.red.popc.u32 %r4, 0, %p1; shl.b32 %r4, %r4, 16; or.b32 %r0, %r0, %r4;\n"
             /* shared memory of the other CTA, as it left it */
             "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
             "mov.u32 %r5, %cluster_ctarank; xor.b32 %r6, %r5, 1; mapa.shared::cluster.u32 %r7, %r1, %r6;\n"
             "st.shared::cluster.b32 [%r7+4], %r5; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
             "ld.shared.b32 %r8, [%r1+4]; shl.b32 %r8, %r8, 24; or.b32 %r0, %r0, %r8; cvt.u64.u32 %rd0, %r0;\n" END;
    Run run = run_text(text, 2, 64, 2, NULL);
    assert_int_equal(run.end.kind, END_REACHED);
    assert_int_equal(run.end.forced, 0);
    for (unsigned i = 0; i < 128; i++)
        assert_int_equal(out(&run, i), ((i % 64) ^ 63) | 8 << 16 | (i < 64 ? 1u : 0u) << 24);
    done(&run);
}

static void memory_holds_bytes(void **state) {
    (void)state;
    expect(".local .align 8 .b8 buffer[16]; st.local.b32 [buffer+4], %lane; st.local.b8 [buffer+5], 1;\n"
           "mov.b64 %rd1, buffer; cvta.local.u64 %rd2, %rd1; ld.b32 %r0, [%rd2+4]; sub.u32 %r0, %r0, %lane; shr.u32 "
           "%r0, %r0, 5;",
           eight);
    /* an atomic of 32 lanes on one word, signed bytes, vectors */
    expect(
        "atom.global.add.u32 %r1, [%rd29], 1; bar.warp.sync -1; ld.global.u32 %r2, [%rd29]; and.b32 %r2, %r2, 31; "
        "st.global.v2.b32 [%rd29+8], {1, -2}; ld.global.s8 %r3, [%rd29+12]; ld.global.v2.u32 {%r4, %r5}, [%rd29+8];\n"
        "add.s32 %r0, %r3, %r4; add.s32 %r0, %r0, 2; add.s32 %r0, %r0, %r2;",
        one);
    expect("mov.b32 %r1, 5; st.global.b32 [%rd29], %r1; atom.global.cas.b32 %r2, [%rd29], 5, 7; bar.warp.sync -1;\n"
           "ld.global.b32 %r0, [%rd29]; add.s32 %r0, %r0, 1;",
           eight);
}

static void functions_are_called(void **state) {
    (void)state;
    const char *text =
        HEAD ".func (.param .b32 result) times(.param .b32 left, .param .b32 n);\n"
             ".func (.param .b32 result) add3(.param .b32 x)\n{ .reg .b32 %r<3>; ld.param.b32 %r1, [x]; add.s32 %r1, "
             "%r1, 3;\n"
             "st.param.b32 [result], %r1; ret; }\n" KERNEL REGISTERS START
             "{ .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], %r31; st.param.b32 [b], 5;\n"
             "call.uni (c), times, (a, b); ld.param.b32 %r0, [c]; }\n"
             "mov.u64 %rd1, add3; { .param .b32 a; .param .b32 b; st.param.b32 [a], %r0;\n"
             "P : .callprototype (.param .b32 _) _ (.param .b32 _);\ncall (b), %rd1, (a), P; ld.param.b32 %r0, [b]; }\n"
             "cvt.u64.u32 %rd0, %r0;\n" END
             /* left * n by recursion, to a depth that is different in each lane */
             ".func (.param .b32 result) times(.param .b32 left, .param .b32 n)\n{ .reg .pred %p<2>; .reg .b32 %r<8>;\n"
             "ld.param.b32 %r1, [left]; ld.param.b32 %r2, [n]; and.b32 %r3, %r1, 7; setp.eq.s32 %p1, %r3, 0; mov.b32 "
             "%r4, 0;\n"
             "@%p1 bra D; sub.s32 %r5, %r3, 1; { .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], %r5;\n"
             "st.param.b32 [b], %r2; call.uni (c), times, (a, b); ld.param.b32 %r4, [c]; } add.s32 %r4, %r4, %r2;\n"
             "D: st.param.b32 [result], %r4; ret; }\n";
    Run run = run_text(text, 1, 64, 1, NULL);
    assert_int_equal(run.end.kind, END_REACHED);
    for (unsigned i = 0; i < 64; i++)
        assert_int_equal(out(&run, i), (i & 7) * 5 + 3);
    done(&run);
}

static void variables_have_their_values(void **state) {
    (void)state;
    const char *text = HEAD ".global .align 4 .b32 table[4] = {1, 2, 3};\n.const .align 8 .u64 where[2] = "
                            "{generic(table), table+4};\n" KERNEL REGISTERS START
                            "ld.const.u64 %rd1, [where]; ld.u32 %r1, [%rd1]; ld.const.u64 %rd2, [where+8];\n"
                            "ld.global.v2.u32 {%r2, %r3}, [%rd2]; ld.global.u32 %r4, [table+12]; shl.b32 %r2, %r2, 8; "
                            "shl.b32 %r3, %r3, 16;\n"
                            "or.b32 %r0, %r1, %r2; or.b32 %r0, %r0, %r3; or.b32 %r0, %r0, %r4; cvt.u64.u32 %rd0, %r0;\n"
                            "mov.b64 %rd5, in; cvta.param.u64 %rd6, %rd5; ld.b64 %rd7, [%rd6]; sub.s64 %rd7, %rd7, "
                            "%rd29; add.s64 %rd0, %rd0, %rd7;\n" END;
    Run run = run_text(text, 1, 32, 1, NULL);
    assert_int_equal(run.end.kind, END_REACHED);
    assert_int_equal(out(&run, 0), 0x30201);
    done(&run);
}

static void unknown_instructions_stop_the_launch(void **state) {
    (void)state;
    Run run =
        run_text(HEAD KERNEL REGISTERS START
                 "mov.b128 %rq1, {%rd1, %rd2}; mov.b128 %rq2, %rq1; atom.global.exch.b128 %rq1, [%rd29], %rq2;\n" END,
                 1, 32, 1, NULL);
    assert_int_equal(run.end.kind, END_STOPPED);
    assert_true(str_is(run.end.what, "atom.global.exch.b128"));
    done(&run);
    run = run_text(HEAD KERNEL REGISTERS START "L: bra L;\n" END, 1, 32, 1, NULL);
    assert_int_equal(run.end.kind, END_STEPS);
    done(&run);
    run = run_text(HEAD KERNEL REGISTERS START "setp.eq.s32 %p1, %r30, 3; @%p1 trap;\n" END, 1, 32, 1, NULL);
    assert_int_equal(run.end.kind, END_TRAP);
    done(&run);
}

/* ---- Watchers ---- */

typedef struct Seen {
    unsigned adds, together;
    uint32_t undefined;
    uint64_t instances[8];
} Seen;

static void see(void *to, const Step *step) {
    Seen *seen = to;
    const uint32_t *written;
    uint64_t values[LANES];
    if (step_written(step, &written) != 1)
        return;
    uint32_t defined = step_values(step, written[0], values);
    if (values[0] == 1000) { /* the marked one, in a loop of two turns */
        seen->instances[seen->adds++ & 7] = step->instance;
        seen->together |= step->lanes == UINT32_MAX;
    }
    if (values[0] == 2000)
        seen->undefined = ~defined;
}

static void watchers_see_steps(void **state) {
    (void)state;
    Seen seen = {0};
    Watcher watcher = {.to = &seen, .after = see};
    const char *text =
        HEAD KERNEL REGISTERS START "mov.b32 %r1, 0; setp.lt.s32 %p2, %r30, 4; L: mov.b32 %r2, 1000; add.s32 %r1, %r1, "
                                    "1; setp.lt.s32 %p1, %r1, 2;\n"
                                    "@%p1 bra L; @%p2 mov.b32 %r5, 1999; add.s32 %r6, %r5, 1; mov.b64 %rd0, 0;\n" END;
    Run run = run_text(text, 1, 64, 1, &watcher);
    assert_int_equal(seen.adds, 4); /* two turns of two warps, which take turns at branches */
    assert_true(seen.together);
    assert_int_equal(seen.instances[0], seen.instances[1]);
    assert_int_not_equal(seen.instances[0], seen.instances[2]);
    assert_int_equal(seen.undefined, 0xfffffff0);
    done(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_give_what_was_worked_out),
        cmocka_unit_test(lanes_see_each_other),
        cmocka_unit_test(threads_part_and_meet),
        cmocka_unit_test(ctas_meet_at_barriers),
        cmocka_unit_test(memory_holds_bytes),
        cmocka_unit_test(functions_are_called),
        cmocka_unit_test(variables_have_their_values),
        cmocka_unit_test(unknown_instructions_stop_the_launch),
        cmocka_unit_test(watchers_see_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
