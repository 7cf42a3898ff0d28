/* emulate: which CTAs of a cluster an op is done by, and in whose memory and on whose barriers. */
#include "running.h"

/* Accesses to the memory of CTAs, and what comes to barriers: which CTA does it, what, and in which. The CTA that comes
 * last to the cluster's barrier goes on first. */
typedef struct Watch {
    Text text;
    const Machine *machine;
} Watch;

static void observe(void *observer, const Event *event) {
    static const char *const accesses[] = {"reads", "writes", "updates"};
    Watch *watch = observer;
    Text *text = &watch->text;
    const char *what = NULL;
    uint32_t where = event->barrier / watch->machine->slots_per_cta;
    switch (event->kind) {
    case EVENT_ACCESS:
        what = event->effect->effect.space == SPACE_GLOBAL ? NULL : accesses[event->effect->effect.verb];
        where = event->view.cta;
        break;
    case EVENT_EXPECT:
        what = "expects";
        break;
    case EVENT_ARRIVE:
        what = "arrives";
        break;
    case EVENT_SIGNAL:
        what = "signals";
        break;
    case EVENT_DELIVER:
        what = "delivers";
        break;
    default:
        break;
    }
    if (!what)
        return;
    text_addf(text, "%s%u %s %u", text->size ? ", " : "", event->agent, what, where);
    if (event->kind == EVENT_ACCESS && event->part)
        text_addf(text, " [%lld]", (long long)event->part->elements);
    if (event->kind == EVENT_DELIVER)
        text_addf(text, " (%lld)", (long long)event->amount);
}

static void assert_done(const char *text, const char *expected) {
    Running *running = compile_whole(text);
    Watch watch = {.machine = running->machine};
    running->machine->observe = observe;
    running->machine->observer = &watch;
    assert_int_equal(run_eagerly(running), RUN_COMPLETE);
    running->machine->observe = NULL;
    text_char(&watch.text, 0);
    assert_string_equal(watch.text.data, expected);
    text_free(&watch.text);
    end_kernel(running);
}

#define LAYOUTS                                                                                                       \
    "#each = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>\n"           \
    "#same = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = "     \
    "[[0, 0]]}>\n"                                                                                                    \
    "#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = "     \
    "[[1, 0]]}>\n"                                                                                                    \
    "#columns = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = "  \
    "[[0, 1]]}>\n"                                                                                                    \
    "#sum = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1, CGALayout = [[1, 0]], twoCTAs = " \
    "true>\n"                                                                                                         \
    "#all = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], "    \
    "CGALayout = [[0, 0]]}>\n"                                                                                        \
    "#own = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], "    \
    "CGALayout = [[1, 0]]}>\n"                                                                                        \
    "#cut = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], "    \
    "CGALayout = [[0, 1]]}>\n"                                                                                        \
    "#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = "  \
    "[[1]]}>\n"                                                                                                       \
    "#smem = #ttg.shared_memory\n"                                                                                    \
    "!bar = !ttg.memdesc<2xi64, #each, #smem, mutable>\n"                                                             \
    "!same = !ttg.memdesc<64x64xf16, #same, #smem, mutable>\n"                                                        \
    "!a = !ttg.memdesc<256x64xf16, #rows, #smem, mutable>\n"                                                          \
    "!part = !ttg.memdesc<128x64xf16, #rows, #smem, mutable, 256x64>\n"                                               \
    "!b = !ttg.memdesc<64x128xf16, #columns, #smem, mutable>\n"                                                       \
    "!d = !ttg.memdesc<256x128xf32, #sum, #ttng.tensor_memory, mutable>\n"                                            \
    "!desc = !tt.tensordesc<64x64xf16, #same>\n"

#define CLUSTER(body)                                                                                                 \
    LAYOUTS "module attributes {\"ttg.num-ctas\" = 2 : i32, \"ttg.num-warps\" = 4 : i32, ttg.target = \"cuda:100\", " \
            "\"ttg.threads-per-warp\" = 32 : i32} {\n"                                                                \
            "  tt.func public @kernel(%desc: !desc) attributes {noinline = false} {\n"                                \
            "    %c0 = arith.constant 0 : i32\n    %true = arith.constant true\n    %false = arith.constant false\n"  \
            "    %bar = ttg.local_alloc : () -> !bar\n    ttng.init_barrier %bar, 1 : !bar\n"                         \
            "    ttng.cluster_barrier\n" body "    ttng.cluster_barrier\n    tt.return\n  }\n}\n"
#define WAIT_OWN "    ttng.wait_barrier %bar, %c0 : !bar\n"

static void one_cta_makes_a_multicast_copy_for_all(void **state) {
    (void)state;
    assert_done(CLUSTER("    %tile = ttg.local_alloc : () -> !same\n"
                        "    ttng.barrier_expect %bar, 8192, %true : !bar\n"
                        "    ttng.async_tma_copy_global_to_local %desc[%c0, %c0] %tile, %bar, %true {multicast} : "
                        "!desc, !bar -> !same\n" WAIT_OWN),
                "1 expects 1, 0 expects 0, 0 writes 0, 0 writes 1, 0 delivers 0 (8192), 0 delivers 1 (8192)");
}

static void a_copy_that_is_not_multicast_is_each_ctas_own(void **state) {
    (void)state;
    assert_done(CLUSTER("    %tile = ttg.local_alloc : () -> !same\n"
                        "    ttng.barrier_expect %bar, 8192, %true : !bar\n"
                        "    ttng.async_tma_copy_global_to_local %desc[%c0, %c0] %tile, %bar, %true : !desc, !bar -> "
                        "!same\n" WAIT_OWN),
                "1 expects 1, 1 writes 1, 1 delivers 1 (8192), 0 expects 0, 0 writes 0, 0 delivers 0 (8192)");
}

static void a_product_of_two_ctas_is_in_both(void **state) {
    (void)state;
    assert_done(CLUSTER("    %a = ttg.local_alloc : () -> !a\n    %b = ttg.local_alloc : () -> !b\n"
                        "    %d = ttng.tmem_alloc : () -> !d\n"
                        "    ttng.tc_gen5_mma %a, %b, %d, %false, %true, %bar[%true] {is_async, two_ctas} : !a, !b, "
                        "!d, !bar\n" WAIT_OWN),
                "0 reads 0, 0 reads 1, 0 reads 0, 0 reads 1, 0 writes 0, 0 writes 1, 0 signals 0, 0 signals 1");
}

static void arrivals_go_to_others(void **state) {
    (void)state;
    assert_done(CLUSTER("    ttng.arrive_barrier %bar, 1 {fromCTA = 0 : i32} : !bar\n" WAIT_OWN),
                "0 arrives 0, 0 arrives 1");
    assert_done(CLUSTER("    ttng.arrive_barrier %bar, 1 {fromCTA = 1 : i32} : !bar\n" WAIT_OWN),
                "1 arrives 1, 0 arrives 0");
}

static void registers_may_lie_in_the_memory_of_others(void **state) {
    (void)state;
#define STORED(layout)                                                                                              \
    CLUSTER(                                                                                                        \
        "    %a = ttg.local_alloc : () -> !a\n    %values = arith.constant dense<1.0> : tensor<256x64xf16, " layout \
        ">\n    ttg.local_store %values, %a : tensor<256x64xf16, " layout "> -> !a\n")
    assert_done(STORED("#own"), "1 writes 1, 0 writes 0");
    assert_done(STORED("#all"), "1 writes 1, 1 writes 0, 0 writes 0, 0 writes 1");
}

static void parts_of_memory_lie_in_others(void **state) {
    (void)state;
    assert_done(STORED("#cut"), "1 writes 1 [4096], 1 writes 0 [4096], 0 writes 0 [4096], 0 writes 1 [4096]");
    assert_done(
        CLUSTER("    %a = ttg.local_alloc : () -> !a\n"
                "    %values = arith.constant dense<1.0> : tensor<256x64xf16, #cut>\n"
                "    ttng.barrier_expect %bar, 16384, %true : !bar\n"
                "    ttng.async_shared_store %values, %a, %bar : tensor<256x64xf16, #cut> -> !a, !bar\n" WAIT_OWN),
        "1 expects 1, 1 writes 1 [4096], 1 writes 0 [4096], 1 delivers 1 (8192), 1 delivers 0 (8192), "
        "0 expects 0, 0 writes 0 [4096], 0 writes 1 [4096], 0 delivers 0 (8192), 0 delivers 1 (8192)");
}

static void views_begin_in_others(void **state) {
    (void)state;
#define STORED_AT(row, rows, layout)                                                                         \
    CLUSTER("    %a = ttg.local_alloc : () -> !a\n    %view = ttg.memdesc_subslice %a[" row                  \
            ", 0] : !a -> !ttg.memdesc<" rows "x64xf16, #rows, #smem, mutable, 256x64>\n"                    \
            "    %values = arith.constant dense<1.0> : tensor<" rows "x64xf16, " layout ">\n"                \
            "    ttg.local_store %values, %view : tensor<" rows "x64xf16, " layout "> -> !ttg.memdesc<" rows \
            "x64xf16, #rows, #smem, mutable, 256x64>\n")
    assert_done(STORED_AT("128", "128", "#all"), "1 writes 1 [8192], 0 writes 1 [8192]");
    assert_done(STORED_AT("128", "128", "#own"), "1 writes 1 [4096], 0 writes 1 [4096]");
    assert_done(STORED_AT("192", "64", "#all"), "1 writes 1 [4096], 0 writes 1 [4096]");
    assert_done(STORED_AT("64", "64", "#own"), "1 writes 0 [2048], 0 writes 0 [2048]");
    assert_done(CLUSTER("    %a = ttg.local_alloc : () -> !a\n"
                        "    %first = ttg.memdesc_subslice %a[0, 0] : !a -> !part\n"
                        "    %second = ttg.memdesc_subslice %a[128, 0] : !a -> !part\n"
                        "    %one = arith.select %false, %first, %second : !part\n"
                        "    %values = ttg.local_load %one : !part -> tensor<128x64xf16, #own>\n"),
                "1 reads 1 [4096], 0 reads 1 [4096]");
}

static void rows_say_in_whose_memory_a_gather_is(void **state) {
    (void)state;
#define GATHERED(index)                                                                                           \
    CLUSTER("    %line = ttg.local_alloc : () -> !ttg.memdesc<256xi32, #each, #smem, mutable>\n"                  \
            "    %range = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #line>\n"            \
            "    %number = arith.constant dense<" index "> : tensor<256xi32, #line>\n"                            \
            "    %rows = arith.xori %range, %number : tensor<256xi32, #line>\n"                                   \
            "    %values = ttg.local_gather %line[%rows] {axis = 0 : i32} : !ttg.memdesc<256xi32, #each, #smem, " \
            "mutable>, tensor<256xi32, #line> -> tensor<256xi32, #line>\n")
    assert_done(GATHERED("0"), "1 reads 1 [128], 0 reads 0 [128]");
    assert_done(GATHERED("255"), "1 reads 0 [128], 0 reads 1 [128]");
    assert_done(CLUSTER("    %line = ttg.local_alloc : () -> !ttg.memdesc<256xi32, #each, #smem, mutable>\n"
                        "    %rows = arith.constant dense<3> : tensor<256xi32, #line>\n"
                        "    ttg.local_scatter %line[%rows], %rows {axis = 0 : i32} : !ttg.memdesc<256xi32, #each, "
                        "#smem, mutable>, tensor<256xi32, #line>, tensor<256xi32, #line>\n"),
                "1 writes 0 [128], 0 writes 0 [128]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_cta_makes_a_multicast_copy_for_all),
        cmocka_unit_test(a_copy_that_is_not_multicast_is_each_ctas_own),
        cmocka_unit_test(a_product_of_two_ctas_is_in_both),
        cmocka_unit_test(arrivals_go_to_others),
        cmocka_unit_test(registers_may_lie_in_the_memory_of_others),
        cmocka_unit_test(parts_of_memory_lie_in_others),
        cmocka_unit_test(views_begin_in_others),
        cmocka_unit_test(rows_say_in_whose_memory_a_gather_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
