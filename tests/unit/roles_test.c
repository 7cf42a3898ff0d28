/* check/report/build/roles: section 1 of the barrier report. A partition is written "name: role; key ops; warps". */
#include "reporting.h"

#define TYPES                                                                                                 \
    "#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>\n"         \
    "#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>\n"                        \
    "#rows = #ttg.blocked<{sizePerThread = [1, 64], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = " \
    "[0, 1]}>\n"                                                                                              \
    "!acc = !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>\n"                                  \
    "!a = !ttg.memdesc<128x64xf16, #nv, #ttg.shared_memory, mutable>\n"                                       \
    "!b = !ttg.memdesc<64x64xf16, #nv, #ttg.shared_memory, mutable>\n"                                        \
    "!desc2 = !tt.tensordesc<tensor<128x64xf16, #nv>>\n"                                                      \
    "!values = tensor<128x64xf32, #rows>\n"
#define BUFFERS                                                                       \
    "    %x = ttg.local_alloc : () -> !a\n    %y = ttg.local_alloc : () -> !b\n"      \
    "    %qk = ttng.tmem_alloc : () -> !acc\n    %o = ttng.tmem_alloc : () -> !acc\n" \
    "    %bar = ttg.local_alloc : () -> !barrier\n    %cst = arith.constant dense<0.0> : !values\n"

#define LOAD          "      ttng.async_tma_copy_global_to_local %desc_q[%c0, %c0] %x, %bar, %true : !desc2, !barrier -> !a\n"
#define STORE         "      ttng.async_tma_copy_local_to_global %c_desc[%c0, %c0] %x : !desc2, !a\n"
#define MMA(d)        "      ttng.tc_gen5_mma %x, %y, %" #d ", %true, %true : !a, !b, !acc\n"
#define GET(v, d)     "      %" #v " = ttng.tmem_load %" #d " : !acc -> !values\n"
#define PUT(v, d)     "      ttng.tmem_store %" #v ", %" #d ", %true : !values -> !acc\n"
#define EXP(to, from) "      %" #to " = math.exp2 %" #from " : !values\n"
#define REDUCE(to, from)                                                                                         \
    "      %" #to " = \"tt.reduce\"(%" #from ") <{axis = 1 : i32}> ({\n      ^bb0(%l: f32, %r: f32):\n"          \
    "        %e = math.exp2 %l : f32\n        %s = arith.addf %e, %r : f32\n        tt.reduce.return %s : f32\n" \
    "      }) : (!values) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #rows}>>\n"

static const char *written(Reporting *reporting) {
    Text text = {0};
    for (size_t i = 0; i < reporting->report.partition_count; i++) {
        const ReportPartition *row = &reporting->report.partitions[i];
        text_addf(&text, "%s: %s;", row->name, row->role);
        for (size_t k = 0; k < row->key_op_count; k++)
            text_addf(&text, " %s x%u", row->key_ops[k].name, (unsigned)row->key_ops[k].count);
        text_addf(&text, "; %d\n", row->warps);
    }
    return verdict_keep(&reporting->verdict, &text);
}

static void assert_partitions(const char *text, const char *expected) {
    Reporting *reporting = start_report(text);
    report_partitions(&reporting->builder);
    assert_string_equal(written(reporting), expected);
    end_report(reporting);
}

#define KERNEL_OF(body) TYPES KERNEL("%desc_q: !desc2, %c_desc: !desc2, %p: !tt.ptr<f32>, %v: f32", BUFFERS body)
#define SPECIAL(first, second, third)                                                                                  \
    KERNEL_OF("    ttg.warp_specialize(%x, %y, %qk, %o, %bar, %desc_q, %c_desc) attributes {requestedRegisters = "     \
              "array<i32: 24, -1>}\n    default {\n" first "      ttg.warp_yield\n    }\n"                             \
              "    partition0(%x: !a, %y: !b, %qk: !acc, %o: !acc, %bar: !barrier, %desc_q: !desc2, %c_desc: !desc2) " \
              "num_warps(1) {\n" CONSTANTS "      %cst = arith.constant dense<0.0> : !values\n" second                 \
              "      ttg.warp_return\n    }\n"                                                                         \
              "    partition1(%x: !a, %y: !b, %qk: !acc, %o: !acc, %bar: !barrier, %desc_q: !desc2, %c_desc: !desc2) " \
              "num_warps(2) {\n" CONSTANTS "      %cst = arith.constant dense<0.0> : !values\n" third                  \
              "      ttg.warp_return\n"                                                                                \
              "    } : (!a, !b, !acc, !acc, !barrier, !desc2, !desc2) -> ()\n")

static void a_kernel_is_one_partition(void **state) {
    (void)state;
    assert_partitions(KERNEL_OF(LOAD MMA(o) MMA(o) STORE),
                      "kernel: MMA, TMA load (q), TMA store (c); async_tma_copy_global_to_local x1 tc_gen5_mma x2 "
                      "async_tma_copy_local_to_global x1; 4\n");
    assert_partitions(KERNEL_OF("      tt.store %p, %v : !tt.ptr<f32>\n"), "kernel: store; store x1; 4\n");
    assert_partitions(KERNEL_OF(""), "kernel: idle;; 4\n");
}

static void partitions_are_what_their_key_ops_are(void **state) {
    (void)state;
    assert_partitions(SPECIAL(GET(a, qk) EXP(b, a) REDUCE(c, b), MMA(qk) MMA(o), LOAD),
                      "default: softmax; tmem_load x1 exp2 x1 reduce x1; 4\n"
                      "partition0: MMA (qk, o); tc_gen5_mma x2; 1\n"
                      "partition1: TMA load (q); async_tma_copy_global_to_local x1; 2\n");
    assert_partitions(SPECIAL(GET(a, o) "      %b = arith.mulf %a, %cst : !values\n" PUT(b, o), "",
                              "      ttng.arrive_barrier %bar, 1 : !barrier\n"),
                      "default: accumulator correction; tmem_load x1 tmem_store x1; 4\n"
                      "partition0: idle;; 1\n"
                      "partition1: synchronization only;; 2\n");
    assert_partitions(SPECIAL(PUT(cst, o), REDUCE(c, cst), "      %b = arith.mulf %cst, %cst : !values\n"),
                      "default: accumulator initialization; tmem_store x1; 4\n"
                      "partition0: reduction; reduce x1; 1\n"
                      "partition1: compute;; 2\n");
}

/* An exponential alone may be an activation, and what goes to other memory is no correction. */
static void look_alikes(void **state) {
    (void)state;
    assert_partitions(SPECIAL(GET(a, qk) EXP(b, a) STORE,
                              GET(a, qk) "      %b = arith.mulf %a, %cst : !values\n" EXP(d, b) PUT(d, qk),
                              GET(a, qk) "      %b = arith.mulf %a, %cst : !values\n" PUT(b, o)),
                      "default: TMA store (c); tmem_load x1 exp2 x1 async_tma_copy_local_to_global x1; 4\n"
                      "partition0: compute 1; tmem_load x1 exp2 x1 tmem_store x1; 1\n"
                      "partition1: compute 2; tmem_load x1 tmem_store x1; 2\n");
}

static void partitions_of_one_role_are_told_apart(void **state) {
    (void)state;
    assert_partitions(SPECIAL("", GET(a, qk) EXP(b, a) REDUCE(c, b), GET(a, o) EXP(b, a) REDUCE(c, b)),
                      "default: idle;; 4\n"
                      "partition0: softmax (qk); tmem_load x1 exp2 x1 reduce x1; 1\n"
                      "partition1: softmax (o); tmem_load x1 exp2 x1 reduce x1; 2\n");
    assert_partitions(SPECIAL("", LOAD, LOAD), "default: idle;; 4\n"
                                               "partition0: TMA load (q) 1; async_tma_copy_global_to_local x1; 1\n"
                                               "partition1: TMA load (q) 2; async_tma_copy_global_to_local x1; 2\n");
}

/* Ops that say which task runs them, and loops that say what the partitions are. */
#define TAGGED(attribute, loop)                                                                                  \
    KERNEL_OF("    scf.for %i = %c0 to %c2 step %c1 : i32 {\n"                                                   \
              "      ttng.tc_gen5_mma %x, %y, %o, %true, %true {" attribute " = array<i32: 1>} : !a, !b, !acc\n" \
              "      %t = ttng.tmem_load %o {" attribute " = array<i32: 0>} : !acc -> !values\n    } {" loop "}\n")

static void tasks_and_scheduled_partitions(void **state) {
    (void)state;
    assert_partitions(TAGGED("async_task_id", ""), "task 0: epilogue; tmem_load x1; 4\n"
                                                   "task 1: MMA; tc_gen5_mma x1; 4\n");
    Reporting *reporting = start_report(TAGGED("ttg.partition", "ttg.partition.stages = [0 : i32, 2 : i32], "
                                                                "ttg.partition.types = [\"epilogue\", \"gemm\"]"));
    report_partitions(&reporting->builder);
    assert_string_equal(written(reporting), "partition 0: epilogue; tmem_load x1; 4\n"
                                            "partition 1: MMA; tc_gen5_mma x1; 4\n");
    assert_string_equal(reporting->builder.partitions[1].type, "gemm");
    assert_int_equal(reporting->builder.partitions[1].stage, 2);
    assert_int_equal(reporting->builder.form, PARTITION_SCHEDULED);
    end_report(reporting);
}

static void what_the_specialized_op_says(void **state) {
    (void)state;
    Reporting *reporting = start_report(SPECIAL(LOAD, MMA(o), STORE));
    report_partitions(&reporting->builder);
    const ReportPartition *rows = reporting->report.partitions;
    assert_int_equal(reporting->report.partition_count, 3);
    assert_int_equal(rows[0].registers, -1);
    assert_int_equal(rows[1].registers, 24);
    assert_int_equal(rows[2].registers, -1);
    assert_int_equal(rows[1].stage, -1);
    assert_string_equal(rows[1].type, "");
    assert_int_equal(reporting->builder.partition_index[0], 0);
    assert_int_equal(reporting->builder.partition_index[2], 2);
    assert_true(reporting->builder.partition_index[3] == SIZE_MAX);
    assert_true(rows[1].ir_line > rows[0].ir_line && rows[2].ir_line > rows[1].ir_line);
    end_report(reporting);
}

static const ReportLimit *limit(const Reporting *reporting, const char *name) {
    for (size_t i = 0; i < reporting->report.limit_count; i++)
        if (strcmp(reporting->report.limits[i].name, name) == 0)
            return &reporting->report.limits[i];
    return NULL;
}

static void limits_of_the_hardware(void **state) {
    (void)state;
    Reporting *reporting = start_report(SPECIAL(LOAD, MMA(o), ""));
    report_partitions(&reporting->builder);
    assert_int_equal(limit(reporting, "shared memory")->used, 128 * 64 * 2 + 64 * 64 * 2 + 8);
    assert_int_equal(limit(reporting, "shared memory")->most, 232448);
    assert_int_equal(limit(reporting, "tensor memory")->used, 128);
    assert_int_equal(limit(reporting, "warps")->used, 7);
    assert_int_equal(limit(reporting, "warps")->most, 16);
    end_report(reporting);
}

/* Memory that is used one after the other is not used together. */
static void memory_is_counted_while_it_lives(void **state) {
    (void)state;
    Reporting *reporting =
        start_report(KERNEL("%desc: !desc, %t: tensor<64xf16, #blocked>",
                            "    %a = ttg.local_alloc %t : (tensor<64xf16, #blocked>) -> !tile\n"
                            "    scf.for %i = %c0 to %c2 step %c1 : i32 {\n"
                            "      %x = ttg.local_load %a : !tile -> tensor<64xf16, #blocked>\n    }\n"
                            "    %b = ttg.local_alloc %t : (tensor<64xf16, #blocked>) -> !tile\n"
                            "    %y = ttg.local_load %b : !tile -> tensor<64xf16, #blocked>\n"));
    report_partitions(&reporting->builder);
    assert_int_equal(limit(reporting, "shared memory")->used, 128);
    assert_null(limit(reporting, "warps"));
    assert_null(limit(reporting, "tensor memory"));
    end_report(reporting);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_is_one_partition),
        cmocka_unit_test(partitions_are_what_their_key_ops_are),
        cmocka_unit_test(look_alikes),
        cmocka_unit_test(partitions_of_one_role_are_told_apart),
        cmocka_unit_test(tasks_and_scheduled_partitions),
        cmocka_unit_test(what_the_specialized_op_says),
        cmocka_unit_test(limits_of_the_hardware),
        cmocka_unit_test(memory_is_counted_while_it_lives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
