/* model/names: what people call the buffers and barriers of a kernel. */
#include "reporting.h"

#include <stdio.h>

#define TILE(name)    "    %" name " = ttg.local_alloc : () -> !tile\n"
#define BARRIER(name) "    %" name " = ttg.local_alloc : () -> !barrier\n"
#define LOAD(desc, tile, bar)                                                                                 \
    "    ttng.async_tma_copy_global_to_local %" desc "[%c0] %" tile ", %" bar ", %true : !desc, !barrier -> " \
    "!tile\n"

static void locations_come_first(void **state) {
    (void)state;
    Reporting *reporting = start_report(
        "#loc = loc(\"kernel.py\":3:4)\n#loc1 = loc(\"keys\"(#loc))\n#loc2 = loc(callsite(#loc1 at #loc))\n" KERNEL(
            "", "    %0 = ttg.local_alloc : () -> !tile loc(#loc1)\n"
                "    %k = ttg.local_alloc : () -> !barrier loc(\"ready\"(#loc))\n"
                "    %1 = ttg.local_alloc : () -> !barrier loc(unknown)\n"
                "    %other = ttg.local_alloc : () -> !tile loc(#loc)\n"));
    assert_name(reporting, "0", "keys");
    assert_name(reporting, "k", "ready");
    assert_name(reporting, "1", "%1");
    assert_name(reporting, "other", "other");
    end_report(reporting);
}

static void values_lose_their_number_where_they_can(void **state) {
    (void)state;
    Reporting *reporting =
        start_report(KERNEL("", TILE("bars_5") TILE("bars_7") TILE("_0") TILE("arg3") TILE("x_y_12")));
    assert_name(reporting, "bars_5", "bars_5"); /* as there are two, neither does */
    assert_name(reporting, "bars_7", "bars_7");
    assert_name(reporting, "_0", "%_0");
    assert_name(reporting, "arg3", "%arg3");
    assert_name(reporting, "x_y_12", "x_y");
    end_report(reporting);
}

static void names_are_unique(void **state) {
    (void)state;
    Reporting *reporting = start_report("#loc = loc(\"buffer\")\n" KERNEL(
        "", "    %0 = ttg.local_alloc : () -> !tile loc(#loc)\n    %1 = ttg.local_alloc : () -> !tile loc(#loc)\n"
            "    %2 = ttg.local_alloc : () -> !tile loc(#loc)\n"));
    assert_name(reporting, "0", "buffer");
    assert_name(reporting, "1", "buffer(2)");
    assert_name(reporting, "2", "buffer(3)");
    end_report(reporting);
}

static void buffers_are_called_after_what_fills_them(void **state) {
    (void)state;
    Reporting *reporting = start_report(KERNEL(
        "%q_desc: !desc, %desc_k: !desc, %desc_v: !desc, %o_desc: !desc, %x_ptr: !tt.ptr<f16>",
        BARRIER("full") TILE("0") TILE("1") TILE("2") TILE("3") LOAD("q_desc", "0", "full") LOAD("desc_k", "1", "full")
            LOAD("desc_v", "1", "full") LOAD(
                "q_desc", "2", "full") "    ttng.async_tma_copy_local_to_global %o_desc[%c0] %3 : !desc, !tile\n"));
    assert_name(reporting, "0", "q");
    assert_name(reporting, "1", "k/v");
    assert_name(reporting, "3", "o_staging");
    assert_name(reporting, "2", "q(2)");
    end_report(reporting);
}

static void descriptors_are_found_through_partitions(void **state) {
    (void)state;
    Reporting *reporting = start_report(KERNEL(
        "%desc_a: !desc",
        BARRIER("full")
            TILE("0") "    ttg.warp_specialize(%desc_a, %0, %full)\n    default {\n      ttg.warp_yield\n    }\n"
                      "    partition0(%arg0: !desc, %arg1: !tile, %arg2: !barrier) num_warps(1) {\n" CONSTANTS LOAD(
                          "arg0", "arg1", "arg2") "      ttg.warp_return\n    } : (!desc, !tile, !barrier) -> ()\n"));
    assert_name(reporting, "0", "a");
    const Op *copy = find_op(reporting->reading, "ttng.async_tma_copy_global_to_local", 0);
    assert_string_equal(operand_name(reporting->builder.names, copy->operands[0]), "a");
    assert_ptr_equal(data_root(reporting->builder.module, copy->operands[3]), op_named(reporting, "0"));
    end_report(reporting);
}

/* Nothing gets the name that is printed for something else. */
static void a_number_is_kept_where_another_value_has_the_rest(void **state) {
    (void)state;
    Reporting *reporting = start_report(KERNEL("", TILE("acc_1") TILE("acc_0") TILE("acc_1_11")));
    assert_name(reporting, "acc_1", "acc_1");
    assert_name(reporting, "acc_0", "acc_0");
    assert_name(reporting, "acc_1_11", "acc_1_11");
    end_report(reporting);
}

#define RING             "!ttg.memdesc<2x1xi64, #shared, #smem, mutable>"
#define SLOT(name, ring) "    %" name " = ttg.memdesc_index %" ring "[%c0] : " RING " -> !barrier\n"

/* Rings of one name are told apart by what a slot of them is called. */
static void rings_of_one_name_are_called_after_their_slots(void **state) {
    (void)state;
    Reporting *reporting = start_report(
        KERNEL("", "    %ready = ttg.local_alloc : () -> " RING "\n    %ready_3 = ttg.local_alloc : () -> " RING "\n"
                   "    %other = ttg.local_alloc : () -> " RING "\n" SLOT("q", "ready") SLOT("ready_4", "ready_3")
                       SLOT("k", "ready_3") SLOT("v", "other")));
    assert_name(reporting, "ready", "ready (q)");
    assert_name(reporting, "ready_3", "ready (k)");
    assert_name(reporting, "other", "other");
    end_report(reporting);
}

/* What bytes are copied to is surer than what happens to be read after a wait; the one that overwrites has waited for
 * all that were in the way. */
static void a_barrier_is_called_after_what_is_surest(void **state) {
    (void)state;
    Reporting *reporting = start_report(KERNEL(
        "%desc_a: !desc, %desc_b: !desc",
        TILE("a") TILE("b") BARRIER("0") BARRIER("1") BARRIER("2") BARRIER("3") WAIT(2, 1) WAIT(3, 1) EXPECT(0, 128)
            LOAD("desc_a", "a", "0") EXPECT(1, 128) LOAD("desc_b", "b", "1") WAIT(0, 0)
                WAIT(1, 0) "    %l = ttg.local_load %a : !tile -> tensor<64xf16, #blocked>\n"
                           "    %m = ttg.local_load %b : !tile -> tensor<64xf16, #blocked>\n" ARRIVE(2) ARRIVE(3)));
    assert_name(reporting, "0", "full(a)");
    assert_name(reporting, "1", "full(b)");
    assert_name(reporting, "2", "empty(a)");
    assert_name(reporting, "3", "empty(a, 2)");
    end_report(reporting);
}

/* Barriers whose name is that of a buffer, or none, are named after what they are waited for. */
static void barriers_are_called_after_their_use(void **state) {
    (void)state;
    Reporting *reporting = start_report(
        KERNEL("%desc_a: !desc, %t: tensor<64xf16, #blocked>",
               TILE("a") TILE("b") BARRIER("0") BARRIER("1") BARRIER("2") BARRIER("3") BARRIER("4") WAIT(1, 1)
                   EXPECT(0, 128) LOAD("desc_a", "a", "0") "    scf.if %true {\n" WAIT(
                       0, 0) "    %l = ttg.local_load %a : !tile -> tensor<64xf16, #blocked>\n" ARRIVE(1)
                       WAIT(3, 1) "    ttg.local_store %t, %b : tensor<64xf16, #blocked> -> !tile\n" ARRIVE(
                           2) "    }\n" WAIT(4, 0) ARRIVE(4)));
    assert_name(reporting, "0", "full(a)");
    assert_name(reporting, "1", "empty(a)");
    assert_name(reporting, "2", "full(b)");
    assert_name(reporting, "3", "empty(b)");
    assert_name(reporting, "4", "%4");
    end_report(reporting);
}

static void a_barrier_for_both_is_not_certain(void **state) {
    (void)state;
    Reporting *reporting = start_report(KERNEL(
        "%t: tensor<64xf16, #blocked>",
        TILE("a") BARRIER("0") WAIT(0, 0) "    %l = ttg.local_load %a : !tile -> tensor<64xf16, #blocked>\n" WAIT(
            0, 1) "    ttg.local_store %t, %a : tensor<64xf16, #blocked> -> !tile\n"));
    assert_name(reporting, "0", "%0");
    end_report(reporting);
}

static void tokens_and_arefs_are_called_after_their_buffers(void **state) {
    (void)state;
    Reporting *reporting = start_report(KERNEL(
        "%t: tensor<64xf16, #blocked>",
        TILE("a") "    %0 = nvws.create_token {loadType = 1 : i32, numBuffers = 1 : i32} : tensor<1x!nvws.token>\n"
                  "    nvws.producer_acquire %0, %c0, %false : tensor<1x!nvws.token>, i32, i1\n"
                  "    ttg.local_store %t, %a : tensor<64xf16, #blocked> -> !tile\n"
                  "    nvws.producer_commit %0, %c0 : tensor<1x!nvws.token>, i32\n"
                  "    %b = ttg.local_alloc : () -> !ttg.memdesc<1x64xf16, #shared, #smem, mutable>\n"
                  "    %1 = nvws.aref.create %b : <[!ttg.memdesc<1x64xf16, #shared, #smem, mutable>]>\n"
                  "    %buffers, %token = nvws.aref.put.enter %1[%c0, %c0] : <[!ttg.memdesc<1x64xf16, #shared, #smem, "
                  "mutable>]> "
                  "-> !tile, !ttg.async.token\n"));
    assert_name(reporting, "0", "token(a)");
    assert_name(reporting, "1", "aref(b)");
    const Op *enter = op_named(reporting, "buffers");
    assert_ptr_equal(data_root(reporting->builder.module, &enter->results[0]), op_named(reporting, "b"));
    end_report(reporting);
}

static void accumulators_are_called_so(void **state) {
    (void)state;
#define MMA_TYPES                                                                                     \
    "#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>\n" \
    "#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>\n"                \
    "!acc = !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>\n"                          \
    "!a = !ttg.memdesc<128x64xf16, #nv, #ttg.shared_memory, mutable>\n"                               \
    "!b = !ttg.memdesc<64x64xf16, #nv, #ttg.shared_memory, mutable>\n"
    Reporting *reporting = start_report(MMA_TYPES KERNEL(
        "", "    %x = ttg.local_alloc : () -> !a\n    %y = ttg.local_alloc : () -> !b\n"
            "    %result = ttng.tmem_alloc : () -> !acc\n    %result_0 = ttng.tmem_alloc : () -> !acc\n"
            "    ttng.tc_gen5_mma %x, %y, %result, %true, %true : !a, !b, !acc\n"));
    assert_name(reporting, "result", "acc");
    assert_name(reporting, "result_0", "%result_0");
    end_report(reporting);
}

static void views_have_names_too(void **state) {
    (void)state;
    Reporting *reporting = start_report(KERNEL("", "    %ring = ttg.local_alloc : () -> !ring\n"
                                                   "    %slot = ttg.memdesc_index %ring[%c0] : !ring -> !barrier\n"
                                                   "    %7 = ttg.memdesc_index %ring[%c1] : !ring -> !barrier\n"));
    assert_name(reporting, "slot", "slot");
    assert_name(reporting, "7", "%7");
    assert_name(reporting, "c1", "%c1");
    end_report(reporting);
}

static void values_are_written_as_they_stand(void **state) {
    (void)state;
    Reporting *reporting = start_report(KERNEL("", "    %x:2 = \"my.op\"() : () -> (i32, i32)\n"));
    const Op *op = op_named(reporting, "x");
    assert_string_equal(value_text(reporting->builder.arena, &op->results[1]), "%x#1");
    assert_string_equal(value_text(reporting->builder.arena, &op_named(reporting, "c2")->results[0]), "%c2");
    end_report(reporting);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(locations_come_first),
        cmocka_unit_test(values_lose_their_number_where_they_can),
        cmocka_unit_test(names_are_unique),
        cmocka_unit_test(buffers_are_called_after_what_fills_them),
        cmocka_unit_test(descriptors_are_found_through_partitions),
        cmocka_unit_test(a_number_is_kept_where_another_value_has_the_rest),
        cmocka_unit_test(rings_of_one_name_are_called_after_their_slots),
        cmocka_unit_test(a_barrier_is_called_after_what_is_surest),
        cmocka_unit_test(barriers_are_called_after_their_use),
        cmocka_unit_test(a_barrier_for_both_is_not_certain),
        cmocka_unit_test(tokens_and_arefs_are_called_after_their_buffers),
        cmocka_unit_test(accumulators_are_called_so),
        cmocka_unit_test(views_have_names_too),
        cmocka_unit_test(values_are_written_as_they_stand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
