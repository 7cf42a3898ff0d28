/* model: what inline assembly does, as its text says. */
#include "reading.h"

#include "model/effect/inline_ptx.h"

#include <stdio.h>

/* ---- Texts ----------------------------------------------------------------------------------- */

/* `text` on operands of every kind. $0 is the result; $1 to $5 are a pointer, a number, a flag, pointers and flags. */
#define HEAD                                                                                                     \
    "tt.func @k(%ptr: !tt.ptr<i32>, %n: i32, %flag: i1, %ptrs: tensor<8x!tt.ptr<i32>>, %mask: tensor<8xi1>) {\n" \
    "  %r = tt.elementwise_inline_asm \""
#define TAIL                                                                                                \
    "\" {constraints = \"=r,l,r,b,l,b,~{memory}\", packed_element = 1 : i32, pure = false}"                 \
    " %ptr, %n, %flag, %ptrs, %mask : !tt.ptr<i32>, i32, i1, tensor<8x!tt.ptr<i32>>, tensor<8xi1> -> i32\n" \
    "  tt.return\n}\n"

static Op *assembly_of(const Reading *reading) {
    Op *op = find_op(reading, "tt.elementwise_inline_asm", 0);
    op = op ? op : find_op(reading, "llvm.inline_asm", 0);
    assert_non_null(op);
    return op;
}

static Reading *read_assembly(const char *assembly) {
    Text text = {0};
    text_str(&text, STR(HEAD));
    text_str(&text, str_of(assembly));
    text_str(&text, STR(TAIL));
    text_char(&text, 0);
    Reading *reading = read_good(text.data);
    text_free(&text);
    return reading;
}

static void assert_effects_of(Reading *reading, const char *expected, const char *file, int line) {
    Effect effects[EFFECTS_MOST];
    unsigned count;
    Str what;
    Text text = {0};
    if (inline_ptx_effects(&reading->module, assembly_of(reading), effects, EFFECTS_MOST, &count, &what)) {
        for (unsigned i = 0; i < count; i++) {
            effect_print(&effects[i], &text);
            text_char(&text, '\n');
        }
    } else {
        text_str(&text, STR("unknown: "));
        text_str(&text, what);
    }
    text_char(&text, 0);
    if (strcmp(text.data, expected) != 0) {
        print_error("found:\n%s\nexpected:\n%s\n", text.data, expected);
        _fail(file, line);
    }
    text_free(&text);
    done(reading);
}
#define assert_does(assembly, expected) assert_effects_of(read_assembly(assembly), expected, __FILE__, __LINE__)

static InlineAccess access_of(Reading *reading, unsigned effect) {
    InlineAccess access = {0};
    assert_true(inline_ptx_access(&reading->module, assembly_of(reading), effect, &access));
    return access;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void arithmetic_does_nothing(void **state) {
    (void)state;
    assert_does("", "");
    assert_does("mov.u32 $0, %globaltimer;", "");
    assert_does("{ .reg .b32 t<2>;\\0A\\09mov.b32 t0, $2; @p add.s32 $0, t0, 1; /* st; */ // ld;\\0A}", "");
    assert_does("cvt.rn.bf16x2.f32 $0, $2, $2; lop3.b32 $0, $2, 0, 0, 0x33; nanosleep.u32 100;", "");
    assert_does(
        "mul.rn.f32x2 $0, $2, $2; fma.rn.f32x2 $0, $2, $2, $2; ex2.approx.ftz.f32 $0, $2; tanh.approx.f32 $0, $2;", "");
    assert_does("elect.sync $0|p, -1; setmaxnreg.inc.sync.aligned.u32 232; bar.warp.sync -1;", "");
    assert_does("v_cvt_pk_bf16_f32 $0, $2, $2;", "");
    assert_does("s_nop 3", "");
    assert_does("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, a, b, c}, {d, e}, {f}, {g};", "");
    assert_does("shfl.sync.bfly.b32 $0, $2, 1, 31, -1; prefetch.global.L2 [$1]; ld.param.u32 $0, [p];", "");
}

static void loads_and_stores_have_order_and_scope(void **state) {
    (void)state;
    assert_does("ld.global.u32 $0, [$1];", "read %ptr global\n");
    assert_does("ld.acquire.gpu.global.u32 $0, [$1];", "read %ptr global acquire gpu\n");
    assert_does("ld.global.relaxed.sys.b32 $0, [ $1 + 0 ];", "read %ptr global relaxed sys\n");
    assert_does("ld.volatile.global.u32 $0, [$1];", "read %ptr global relaxed sys\n");
    assert_does("ld.b32 $0, [$1];", "read %ptr global\n");
    assert_does("ld.global.nc.L1::no_allocate.L2::128B.v4.b32 {a, b, c, d}, [$1+16];", "read %ptr global at +16\n");
    assert_does("st.release.cluster.global.s32 [$1], $2;", "write %ptr global release cluster\n");
    assert_does("st.global.wt.u32 [$4], 1;", "write %ptrs global\n");
    assert_does("st.volatile.u32 [$1+-4], 1", "write %ptr global relaxed sys at -4\n");
}

static void updates_are_relaxed_at_the_gpu_if_nothing_is_said(void **state) {
    (void)state;
    assert_does("atom.global.add.u32 $0, [$1], 1;", "update %ptr global relaxed gpu\n");
    assert_does("atom.global.sys.acquire.cas.b32 $0, [$4], 1, 0;", "update %ptrs global acquire sys\n");
    assert_does("atom.add.release.cta.global.f32 $0, [$1], 0f3F800000;", "update %ptr global release cta\n");
    assert_does("red.release.gpu.global.add.s32 [$1], 1;", "update %ptr global release gpu\n");
    assert_does("red.global.add.noftz.bf16x2 [$1], $2;", "update %ptr global relaxed gpu\n");
    assert_does("atom.acq_rel.sys.exch.b32 _, [$1], $2;", "update %ptr global acq_rel sys\n");
}

static void fences_and_waits(void **state) {
    (void)state;
    assert_does("fence.acq_rel.gpu;", "fence-order acq_rel gpu\n");
    assert_does("fence.sc.sys; fence.acquire.cluster; fence.release.cta;",
                "fence-order acq_rel sys\nfence-order acquire cluster\nfence-order release cta\n");
    assert_does("membar.gl; membar.sys; membar.cta;",
                "fence-order acq_rel gpu\nfence-order acq_rel sys\nfence-order acq_rel cta\n");
    assert_does("fence.proxy.async; fence.proxy.async.global; fence.proxy.async.shared::cta; fence.proxy.alias;",
                "fence-proxy async\nfence-proxy global async\nfence-proxy shared async cta\n");
    assert_does("fence.proxy.tensormap::generic.acquire.gpu [$1], 128;",
                "fence-proxy %ptr global tensormap acquire gpu\n");
    assert_does("fence.proxy.tensormap::generic.release.sys;", "fence-proxy global tensormap release sys\n");
    assert_does("griddepcontrol.launch_dependents; griddepcontrol.wait;", "await-launches\n");
    assert_does("cp.async.commit_group; cp.async.wait_group 2; cp.async.wait_all;",
                "commit cp.async\nawait cp.async down to 2\ncommit cp.async\nawait cp.async down to 0\n");
    assert_does("cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 1; cp.async.bulk.wait_group 0;",
                "commit tma-store\nawait tma-store down to 1, sources only\nawait tma-store down to 0\n");
    assert_does("barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.acquire.aligned;",
                "cluster-arrive, relaxed\ncluster-wait\n");
    assert_does("bar.sync 0;", "cta-barrier orders shared, global\n");
    assert_does("barrier.cta.sync.aligned $2;", "named-sync %n\n");
    assert_does("bar.arrive $2, $2;", "named-arrive %n threads %n\n");
    assert_does("bar.sync 5, 256;", "named-sync 5 threads 256\n");
    assert_does("bar.arrive 0x5, $2;", "named-arrive 5 threads %n\n");
    assert_does("barrier.cta.sync.aligned $2, 64;", "named-sync %n threads 64\n");
    assert_does("{ .reg .b32 id; mov.b32 id, 7; barrier.sync id, 128; }", "named-sync 7 threads 128\n");
    assert_does("@$3 bar.sync 5, 256;", "named-sync 5 threads 256, if %flag\n");
    assert_does("bar.sync 0, 64;", "named-sync 0 threads 64\n");
    assert_does("bar.sync 1;", "named-sync 1\n"); /* of all threads of the CTA */
    assert_does("bar.red.popc.u32 $0, 1, 64, p;", "named-sync 1 threads 64\n");
    assert_does("barrier.cta.red.and.aligned.pred q, 1, p;", "named-sync 1\n");
}

static void predicates_are_operands(void **state) {
    (void)state;
    assert_does("@$3 st.global.u32 [$1], 1;", "write %ptr global, if %flag\n");
    assert_does("@$5 st.global.u32 [$4], 1;", "write %ptrs global, where %mask\n");
    assert_does("setp.ne.s32 %p, $2, 0; @%p red.global.add.u32 [$1], 1;", "update %ptr global relaxed gpu, if %n\n");
    assert_does("setp.eq.s32 %p, $2, 0; @!%p fence.acq_rel.gpu;", "fence-order acq_rel gpu, if %n\n");
    assert_does("setp.eq.u32 p, $3, 1; @p st.global.u32 [$1], 1;", "write %ptr global, if %flag\n");
    assert_does("mov.u32 t, %tid.x; setp.eq.u32 p, t, 0; @p st.global.u32 [$1], 1;", "write %ptr global\n");
    assert_does("setp.eq.u32 p, $2, 1; @p st.global.u32 [$1], 1;", "unknown: @p st.global.u32 [$1], 1");
    assert_does("@!$3 st.global.u32 [$1], 1;", "unknown: @!$3 st.global.u32 [$1], 1");
    assert_does("setp.eq.u32 p, %tid.x, 7; @p st.global.u32 [$1], 1;", "unknown: @p st.global.u32 [$1], 1");
    assert_does("@$5 fence.acq_rel.gpu;", "unknown: @$5 fence.acq_rel.gpu");
    assert_does("mov.u32 %p, $2; setp.ne.s32 %p, %laneid, 0; @%p st.global.u32 [$1], 1;",
                "unknown: @%p st.global.u32 [$1], 1");
}

static void addresses_go_through_registers(void **state) {
    (void)state;
    assert_does("{ .reg .u64 %a; cvta.to.global.u64 %a, $1; add.s64 %a, %a, 8; ld.global.u32 $0, [%a+4]; }",
                "read %ptr global at +12\n");
    assert_does("mov.b64 %a, $1; @p mov.b64 %a, $4; ld.global.u32 $0, [%a];", "unknown: ld.global.u32 $0, [%a]");
    assert_does("mov.b64 %a, $1; { mov.b64 %a, $4; } ld.global.u32 $0, [%a];", "read %ptrs global\n");
    assert_does("{ .reg .b64 a; mov.b64 a, $1; { .reg .b64 a; mov.b64 a, $4; } ld.global.u32 $0, [a]; }",
                "read %ptr global\n");
    assert_does("ld .global\\0A.u32 $0, [ ${1:h}+0x10+4 ]", "read %ptr global at +20\n");
    assert_does("ld.global.u32 $0, [${1];", "unknown: ld.global.u32 $0, [$");
    assert_does("add.u64 $1, $1, %r; ld.global.u32 $0, [$1];", "unknown: ld.global.u32 $0, [$1]");
    assert_does("cvta.shared.u64 %a, $4; ld.u32 $0, [%a];", "unknown: ld.u32 $0, [%a]");
    assert_does("mov.b64 {%a, %b}, $1; ld.global.u32 $0, [%a];", "unknown: ld.global.u32 $0, [%a]");
    assert_does("mad.lo.u64 %a, $2, 4, $1; ld.global.u32 $0, [%a];", "unknown: ld.global.u32 $0, [%a]");
    assert_does("ld.global.u32 $0, [$9];", "unknown: ld.global.u32 $0, [$9]");
    assert_does("ld.global.u32 $0, [$0];", "unknown: ld.global.u32 $0, [$0]");
    assert_does("ld.u32 $0, [$2];", "unknown: ld.u32 $0, [$2]"); /* an address of 32 bits is one of shared memory */
}

static void what_is_not_known_is_said(void **state) {
    (void)state;
    assert_does("add.s32 $0, $2, 1; ld.shared.u32 $0, [$2]; add.s32 $0, $0, 1;", "unknown: ld.shared.u32 $0, [$2]");
    assert_does("atom.shared::cta.add.u32 $0, [$1], 1;", "unknown: atom.shared::cta.add.u32 $0, [$1], 1");
    assert_does("multimem.red.global.add.u32 [$1], 1;", "unknown: multimem.red.global.add.u32 [$1], 1");
    assert_does("ld.acquire.global.u32 $0, [$1];", "unknown: ld.acquire.global.u32 $0, [$1]");
    assert_does("ld.release.gpu.global.u32 $0, [$1];", "unknown: ld.release.gpu.global.u32 $0, [$1]");
    assert_does("ld.global.proxy.u32 $0, [$1];", "unknown: ld.global.proxy.u32 $0, [$1]");
    assert_does("ld.global $0, [$1];", "unknown: ld.global $0, [$1]");
    assert_does("atom.global.u32 $0, [$1], 1;", "unknown: atom.global.u32 $0, [$1], 1");
    assert_does("fence.weak.gpu;", "unknown: fence.weak.gpu");
    assert_does("fence.acquire.sync_restrict::shared::cluster.cluster;",
                "unknown: fence.acquire.sync_restrict::shared::cluster.cluster");
    assert_does("mbarrier.arrive.shared.b64 _, [$2];", "unknown: mbarrier.arrive.shared.b64 _, [$2]");
    assert_does("cp.async.wait_group $2;", "unknown: cp.async.wait_group $2");
    assert_does("s_barrier", "unknown: s_barrier");
    assert_does("v_mov_b32 $0, $2\\0Ads_read_b32 $0, $2", "unknown: v_mov_b32 $0, $2\\0Ads_read_b32 $0, $2");
    assert_does("bar.sync;", "unknown: bar.sync");
    assert_does("bar.sync 1, 2, 3;", "unknown: bar.sync 1, 2, 3");
    assert_does("bar.sync %r, 64;", "unknown: bar.sync %r, 64");
    assert_does("bar.sync 1, [$1];", "unknown: bar.sync 1, [$1]");
    assert_does("setp.eq.u32 p, %tid.x, 0; @p bar.sync 1, 32;", "unknown: @p bar.sync 1, 32");
    assert_does("bar.red.popc.u32 $0, 1, !p;", "unknown: bar.red.popc.u32 $0, 1, !p");
    assert_does("cp.async.cg.shared.global [$2], [$1], 16;", "unknown: cp.async.cg.shared.global [$2], [$1], 16");
    assert_does("clusterlaunchcontrol.try_cancel.async.b128 [$2], [$2];",
                "unknown: clusterlaunchcontrol.try_cancel.async.b128 [$2], [$2]");
    assert_does("tensormap.replace.tile.rank.global.b1024.b32 [$1], 1;",
                "unknown: tensormap.replace.tile.rank.global.b1024.b32 [$1], 1");
    assert_does("exit;", "unknown: exit");
    assert_does("s_nop 3\\0As_waitcnt vmcnt(0)", "unknown: s_nop 3\\0As_waitcnt vmcnt(0)");
    assert_does("call (r), f, (a);", "unknown: call (r), f, (a)");
    assert_does("\\41dd.s32 $0, $2, 1;", "unknown: \\41dd.s32 $0, $2, 1");
    assert_does(";;@;", "unknown: @");
    assert_does("{ add.s32 $0, $2, 1; } }", "unknown: }");
    assert_does(".shared .b32 s;", "unknown: .shared .b32 s");
    assert_does("l: ld.global.u32 t, [$1]; l: fence.acq_rel.gpu;", "unknown: l:");
    assert_does("ld.global.u32 $0, [$1", "unknown: ld.global.u32 $0, [$1");
}

/* A branch back repeats an access until it finds what it waits for; any other one is not followed. */
static void a_loop_waits_for_memory(void **state) {
    (void)state;
    static const char spin[] = "{ .reg .u32 %t<1>; .reg .pred %p<1>;\\0A"
                               "wait: atom.global.sys.acquire.cas.b32 %t0, [$4], 1, 0;\\0A"
                               "setp.eq.u32 %p0, %t0, 1; @!%p0 bra wait; }";
    static const char leave[] = "again: ld.acquire.sys.global.b32 $0, [$1]; setp.ge.s32 p, $0, $2;\\0A"
                                "@p bra done_${:uid}; bra.uni again; done_${:uid}:";
    assert_does(spin, "update %ptrs global acquire sys repeatedly\n");
    assert_does(leave, "read %ptr global acquire sys repeatedly\n");
    assert_does("l: ld.relaxed.gpu.global.u32 t, [$1]; setp.ne.u32 p, t, $2; @p bra l; fence.acquire.gpu;",
                "read %ptr global relaxed gpu until it is %n repeatedly\nfence-order acquire gpu\n");
    Reading *reading = read_assembly(spin);
    InlineAccess access = access_of(reading, 0);
    assert_int_equal(access.action, INLINE_COMPARE);
    assert_int_equal(access.compare.number, 1);
    assert_true(access.operand.known && !access.operand.value && access.operand.number == 0);
    assert_int_equal(access.until, RELATION_EQUAL);
    assert_true(access.until_number.known && access.until_number.number == 1);
    done(reading);
    reading = read_assembly(leave);
    access = access_of(reading, 0);
    assert_int_equal(access.until, RELATION_AT_LEAST);
    assert_true(access.until_signed);
    assert_ptr_equal(access.until_number.value, assembly_of(reading)->operands[1]);
    done(reading);

    assert_does("l: bra l;", "unknown: bra l");
    assert_does("@p bra l; l:", "unknown: l:");
    assert_does("@p bra l; mov.u32 $0, 1; l:", "unknown: mov.u32 $0, 1");
    assert_does("@p bra l;", "unknown: @p bra l");
    assert_does("l: ld.global.u32 t, [$1]; st.global.u32 [$1], 1; setp.ne.u32 p, t, 1; @p bra l;", "unknown: @p bra l");
    assert_does("l: ld.global.u32 t, [$1]; setp.ne.u32 p, $2, 1; @p bra l;", "unknown: @p bra l");
    assert_does("l: ld.global.u32 t, [$1]; add.s64 $1, $1, 4; setp.ne.u32 p, t, 1; @p bra l;", "unknown: @p bra l");
    assert_does("mov.b64 a, $1; l: ld.global.u32 t, [a]; add.s64 a, a, 4; setp.ne.u32 p, t, 1; @p bra l;",
                "unknown: ld.global.u32 t, [a]");
}

static void what_an_access_does_with_values_is_told(void **state) {
    (void)state;
    Reading *reading = read_assembly("mov.u32 t, 5; st.global.v2.u32 [$1], {t, t}; st.global.u32 [$1], t;"
                                     "setp.eq.u32 p, %tid.x, 0; @p red.global.max.s32 [$1], $2;"
                                     "ld.global.u64 t, [$1]; mov.u32 $0, t; fence.sc.gpu;");
    InlineAccess access = access_of(reading, 0);
    assert_int_equal(access.action, INLINE_STORE);
    assert_int_equal(access.elements, 2);
    assert_false(access.operand.known);
    access = access_of(reading, 1);
    assert_true(access.operand.known && access.operand.number == 5 && !access.once);
    access = access_of(reading, 2);
    assert_int_equal(access.action, INLINE_MAXIMUM);
    assert_int_equal(access.type, 's');
    assert_ptr_equal(access.operand.value, assembly_of(reading)->operands[1]);
    assert_true(access.once);
    access = access_of(reading, 3);
    assert_int_equal(access.bits, 64);
    assert_ptr_equal(access.result, &assembly_of(reading)->results[0]);
    assert_false(inline_ptx_access(&reading->module, assembly_of(reading), 4, &access));
    assert_false(inline_ptx_access(&reading->module, assembly_of(reading), 5, &access));
    Effect effects[EFFECTS_MOST];
    assert_int_equal(effects_of(&reading->module, assembly_of(reading), effects), 5);
    assert_int_equal(effects[0].element_bytes, 8); /* the pointer is one to 4 bytes */
    assert_int_equal(effects[0].count, 8);
    assert_int_equal(effects[1].element_bytes, 0);
    done(reading);
}

static void a_load_is_one_that_does_nothing_else(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int load;
    } cases[] = {
        {"ld.acquire.gpu.global.u32 $0, [$1];", 0},
        {"{ .reg .u32 t; ld.volatile.global.u32 t, [$1]; mov.u32 $0, t; }", 0},
        {"ld.global.u32 t, [$1]; add.u32 $0, t, 1;", -1},
        {"ld.global.u8 $0, [$1];", -1},
        {"ld.global.u32 $0, [$1+4];", -1},
        {"@$3 ld.global.u32 $0, [$1];", -1},
        {"ld.global.u32 $0, [$1]; fence.acquire.gpu;", -1},
        {"atom.global.add.u32 $0, [$1], 0;", -1},
        {"mov.u32 $0, 1;", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Reading *reading = read_assembly(cases[i].text);
        assert_int_equal(inline_ptx_load(&reading->module, assembly_of(reading)), cases[i].load);
        done(reading);
    }
}

#define assert_ir_does(ir, expected) assert_effects_of(read_good(ir), expected, __FILE__, __LINE__)

static void constraints_say_which_operand_is_which(void **state) {
    (void)state;
    assert_ir_does("tt.func @k(%a: i64) {\n  %0 = tt.elementwise_inline_asm \"ld.global.b64 $0, [$0];\" "
                   "{constraints = \"=l, 0\", packed_element = 1 : i32, pure = false} %a : i64 -> i64\n  tt.return\n}",
                   "read %a global\n");
    assert_ir_does("tt.func @k(%a: i64) {\n  %0 = tt.elementwise_inline_asm \"mov.u64 $0, 0; ld.global.b64 $0, [$0];\" "
                   "{constraints = \"=l,0\", packed_element = 1 : i32, pure = false} %a : i64 -> i64\n  tt.return\n}",
                   "unknown: ld.global.b64 $0, [$0]");
    assert_ir_does(
        "tt.func @k(%a: i64) {\n  %0 = tt.elementwise_inline_asm \"ld.global.b64 $0, [$1];\" "
        "{constraints = \"=l,=l,l\", packed_element = 1 : i32, pure = false} %a : i64 -> i64\n  tt.return\n}",
        "unknown: ld.global.b64 $0, [$1]");
    assert_ir_does("tt.func @k(%a: tensor<8xi64>) {\n  %0 = tt.elementwise_inline_asm \"ld.global.b64 $0, [$2];\" "
                   "{constraints = \"=l,=l,l,l\", packed_element = 2 : i32, pure = false} %a : tensor<8xi64> -> "
                   "tensor<8xi64>\n  tt.return\n}",
                   "unknown: ld.global.b64 $0, [$2]");
    assert_ir_does(
        "llvm.func @k(%a: !llvm.ptr<1>, %p: i1) {\n  %0 = llvm.inline_asm has_side_effects asm_dialect = att "
        "\"mov.u64 $0, 0x0;\\0A\\09@$2 atom.global.acq_rel.cta.exch.b64 $0, [ ${1:h} + 0 ], 3;\", \"=l,l,b\" "
        "%a, %p : (!llvm.ptr<1>, i1) -> i64\n  llvm.return\n}",
        "update %a global acq_rel cta, if %p\n");
    assert_ir_does("llvm.func @k(%a: !llvm.ptr) {\n  llvm.inline_asm has_side_effects asm_dialect = att "
                   "\"st.u32 [$0], 1;\", \"l,~{memory}\" %a : (!llvm.ptr) -> ()\n  llvm.return\n}",
                   "unknown: st.u32 [$0], 1");
}

/* More than is kept, deep, long: it ends, and says that it is not known. */
static void large_texts_end(void **state) {
    (void)state;
    Text text = {0};
    for (int i = 0; i < 100; i++)
        text_str(&text, STR("membar.gl;"));
    text_char(&text, 0);
    assert_does(text.data, "unknown: membar.gl");
    text.size = 0;
    for (int i = 0; i < 2000; i++) {
        text_addf(&text, "{mov.u32 r%d, %d;", i, i);
        if (i != 100)
            continue;
        text_char(&text, 0);
        assert_does(text.data, "");
        text.size--;
    }
    text_char(&text, 0);
    assert_does(text.data, "unknown: {mov.u32 r199, 199"); /* scopes are nested too deeply */
    text_free(&text);
}

/* Words that only rows of PTX have make a text unknown, unless they are no matter for tensors. */
static void what_only_ptx_has_is_unknown(void **state) {
    (void)state;
    static const char *const unknown[] = {
        "fence.release.sync_restrict::shared::cta.cluster",
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster",
        "multimem.ld_reduce.relaxed.gpu.global.add.f32 $0, [$1]",
        "multimem.st.global.f32 [$1], $2",
        "mbarrier.try_wait.parity.shared.b64 p, [$2], 0",
        "mbarrier.test_wait.shared.b64 p, [$2], $1",
        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$2], 64",
        "mbarrier.arrive_drop.shared.b64 _, [$2]",
        "mbarrier.arrive.noComplete.shared.b64 _, [$2], 1",
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [$2], 32",
        "tcgen05.dealloc.cta_group::1.sync.aligned.b32 $2, 32",
        "tcgen05.ld.sync.aligned.32x32b.x1.b32 {$0}, [$2]",
        "tcgen05.st.sync.aligned.32x32b.x1.b32 [$2], {$2}",
        "tcgen05.cp.cta_group::1.128x256b [$2], $1",
        "tcgen05.shift.cta_group::1.down [$2]",
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [$2]",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0}, $1, $1, 1, 1, 1, 0, 0",
        "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {$0}, [$1]",
        "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [$1], {$2}",
        "tensormap.replace.tile.rank.global.b1024.b32 [$1], 1",
        "tex.2d.v4.f32.f32 {$0, a, b, c}, [$1, {d, e}]",
        "suld.b.2d.b32.trap {$0}, [$1, {d, e}]",
        "st.async.mmio.release.gpu.global.b32 [$1], $2",
        "red.async.mmio.release.gpu.global.add.u32 [$1], $2",
        "discard.global.L2 [$1], 128",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {$0}, [$2]",
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [$2], [$2]",
        "call f, ()",
    };
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        char text[160], expected[160];
        snprintf(text, sizeof text, "%s;", unknown[i]);
        snprintf(expected, sizeof expected, "unknown: %s", unknown[i]);
        assert_does(text, expected);
    }
    assert_does("tcgen05.wait::ld.sync.aligned; tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync; "
                "tcgen05.fence::after_thread_sync; tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;",
                "");
    assert_does("wgmma.fence.sync.aligned; fence.proxy.alias; membar.proxy.alias; vote.sync.ballot.b32 $0, p, -1;", "");
    assert_does("fence.sc.gpu;", "fence-order acq_rel gpu\n");
    assert_does("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1;",
                "commit wgmma\nawait wgmma down to 1\n");
    assert_does("ld.global.nc.b32 $0, [$1];", "read %ptr global\n");
    assert_does("fence.mbarrier_init.release.cluster;", "fence-order release cluster orders shared\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_does_nothing),
        cmocka_unit_test(what_only_ptx_has_is_unknown),
        cmocka_unit_test(loads_and_stores_have_order_and_scope),
        cmocka_unit_test(updates_are_relaxed_at_the_gpu_if_nothing_is_said),
        cmocka_unit_test(fences_and_waits),
        cmocka_unit_test(predicates_are_operands),
        cmocka_unit_test(addresses_go_through_registers),
        cmocka_unit_test(what_is_not_known_is_said),
        cmocka_unit_test(a_loop_waits_for_memory),
        cmocka_unit_test(what_an_access_does_with_values_is_told),
        cmocka_unit_test(a_load_is_one_that_does_nothing_else),
        cmocka_unit_test(constraints_say_which_operand_is_which),
        cmocka_unit_test(large_texts_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
