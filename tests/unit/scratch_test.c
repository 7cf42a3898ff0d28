/* How much scratch memory ops take. The sizes are those that Triton's own allocator gives for the same text. */
#include "reading.h"

#include "model/memory/scratch.h"

#define ALIASES                                                                                                       \
    "#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>\n" \
    "#columns = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, "    \
    "1]}>\n"                                                                                                          \
    "#line = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>\n"            \
    "#thin = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>\n"            \
    "#wide = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [2, 2], order = [1, 0]}>\n" \
    "#cut = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], "    \
    "CGALayout = [[1, 0]]}>\n"                                                                                        \
    "#along = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], "  \
    "CGALayout = [[0, 1]]}>\n"                                                                                        \
    "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"                            \
    "#smem = #ttg.shared_memory\n"

static Reading *read_body(const char *target, unsigned ctas, const char *arguments, const char *body) {
    Text text = {0};
    text_addf(&text,
              ALIASES "module attributes {\"ttg.num-warps\" = 4 : i32, \"ttg.num-ctas\" = %u : i32, %s"
                      "\"ttg.threads-per-warp\" = 32 : i32} {\ntt.func @f(%s) {\n%s\n  tt.return\n}\n}\n",
              ctas, target, arguments, body);
    text_char(&text, 0);
    Reading *reading = read_good(text.data);
    text_free(&text);
    return reading;
}

static Scratch scratch_in(const char *target, unsigned ctas, const char *arguments, const char *body, const char *op) {
    Reading *reading = read_body(target, ctas, arguments, body);
    Op *found = find_op(reading, op, 0);
    assert_non_null(found);
    Scratch scratch = scratch_of(&reading->module, found);
    done(reading);
    return scratch;
}

static int64_t bytes_in(const char *arguments, const char *body, const char *op) {
    return scratch_in("ttg.target = \"cuda:90\", ", 1, arguments, body, op).bytes;
}

/* ---- Conversions ------------------------------------------------------------------------------- */

static Scratch converting(const char *target, unsigned ctas, const char *from, const char *to) {
    Text argument = {0}, body = {0};
    text_addf(&argument, "%%x: tensor<%s>%c", from, 0);
    text_addf(&body, "  %%0 = ttg.convert_layout %%x : tensor<%s> -> tensor<%s>%c", from, to, 0);
    Scratch scratch = scratch_in(target, ctas, argument.data, body.data, "ttg.convert_layout");
    text_free(&argument);
    text_free(&body);
    return scratch;
}

static void a_conversion_across_warps_has_a_buffer(void **state) {
    (void)state;
    const char *hopper = "ttg.target = \"cuda:90\", ";
    Scratch scratch = converting(hopper, 1, "64x64xf16, #rows", "64x64xf16, #columns");
    assert_int_equal(scratch.bytes, 2048);
    assert_int_equal(scratch.alignment, 128);
    assert_false(scratch.warp_synchronous);
    assert_false(scratch.crosses_ctas);
    assert_int_equal(converting(hopper, 1, "64x64x!tt.ptr<f16>, #rows", "64x64x!tt.ptr<f16>, #columns").bytes, 16384);
    assert_int_equal(converting(hopper, 1, "64x64xi1, #rows", "64x64xi1, #columns").bytes, 4096);
    assert_int_equal(converting(hopper, 1, "64x64xf16, #rows", "64x64xf16, #rows").bytes, 0);
}

/* What registers repeat in both layouts goes through the same bytes again. */
static void repetitions_share_the_buffer(void **state) {
    (void)state;
    const char *ampere = "ttg.target = \"cuda:80\", ";
    assert_int_equal(converting(ampere, 1, "256x64xf32, #rows", "256x64xf32, #wide").bytes, 4096);
}

static void a_conversion_within_warps_needs_no_barrier(void **state) {
    (void)state;
    const char *from = "256xf32, #ttg.linear<{register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], "
                       "warp = [[128], [0]], block = []}>";
    const char *one = "256xf32, #ttg.linear<{register = [[1], [4]], lane = [[2], [8], [16], [32], [64]], "
                      "warp = [[128], [0]], block = []}>";
    const char *two = "256xf32, #ttg.linear<{register = [[8], [4]], lane = [[2], [1], [16], [32], [64]], "
                      "warp = [[128], [0]], block = []}>";
    assert_int_equal(converting("", 1, from, one).bytes, 0);
    assert_int_equal(converting("", 1, from, two).bytes, 1024);
    assert_false(converting("", 1, from, two).warp_synchronous);
    from = "256xf32, #ttg.linear<{register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128]], block = "
           "[]}>";
    two = "256xf32, #ttg.linear<{register = [[8], [4]], lane = [[2], [1], [16], [32], [64]], warp = [[128]], block = "
          "[]}>";
    assert_int_equal(converting("", 1, from, two).bytes, 1024);
    assert_true(converting("", 1, from, two).warp_synchronous);
    assert_int_equal(bytes_in("%x: tensor<64x64xf16, #rows>",
                              "  %0 = ttg.convert_layout %x {force_warp_shuffle} : tensor<64x64xf16, #rows> -> "
                              "tensor<64x64xf16, #columns>",
                              "ttg.convert_layout"),
                     0);
}

static void a_conversion_may_cross_ctas(void **state) {
    (void)state;
    const char *hopper = "ttg.target = \"cuda:90\", ";
    Scratch scratch = converting(hopper, 2, "64x64xf16, #cut", "64x64xf16, #along");
    assert_true(scratch.crosses_ctas);
    assert_int_equal(scratch.bytes, 4096); /* each CTA has its half */
}

static void what_cannot_be_computed_is_not_known(void **state) {
    (void)state;
    assert_int_equal(converting("", 1, "64x64xf16, #ttg.unheard_of<{}>", "64x64xf16, #rows").bytes, -1);
    assert_int_equal(converting("", 1, "48x64xf16, #columns", "48x64xf16, #rows").bytes, -1);
    assert_int_equal(converting("", 1, "64x64xf16, #ttg.unheard_of<{}>", "64x64xf16, #ttg.unheard_of<{}>").bytes, 0);
}

/* ---- Reductions, scans, gathers, histograms ---------------------------------------------------- */

static Scratch reducing(unsigned ctas, const char *layout, int axis) {
    Text argument = {0}, body = {0};
    text_addf(&argument, "%%x: tensor<64x64xf32, %s>%c", layout, 0);
    text_addf(&body,
              "  %%0 = \"tt.reduce\"(%%x) <{axis = %d : i32}> ({\n  ^bb0(%%a: f32, %%b: f32):\n"
              "    %%1 = arith.addf %%a, %%b : f32\n    tt.reduce.return %%1 : f32\n  }) : (tensor<64x64xf32, %s>) -> "
              "tensor<64xf32, #ttg.slice<{dim = %d, parent = %s}>>%c",
              axis, layout, axis, layout, 0);
    Scratch scratch = scratch_in("ttg.target = \"cuda:90\", ", ctas, argument.data, body.data, "tt.reduce");
    text_free(&argument);
    text_free(&body);
    return scratch;
}

static void a_reduction_exchanges_what_warps_have_left(void **state) {
    (void)state;
    assert_int_equal(reducing(1, "#rows", 1).bytes, 0);
    assert_int_equal(reducing(1, "#rows", 0).bytes, 256);
    assert_int_equal(reducing(1, "#wide", 1).bytes, 512);
    assert_false(reducing(2, "#cut", 1).crosses_ctas);
    assert_true(reducing(2, "#cut", 0).crosses_ctas);
}

static int64_t scanning(const char *type, int axis) {
    Text argument = {0}, body = {0};
    text_addf(&argument, "%%x: tensor<%s>%c", type, 0);
    text_addf(&body,
              "  %%0 = \"tt.scan\"(%%x) <{axis = %d : i32, reverse = false}> ({\n  ^bb0(%%a: f32, %%b: f32):\n"
              "    tt.scan.return %%a : f32\n  }) : (tensor<%s>) -> tensor<%s>%c",
              axis, type, type, 0);
    int64_t bytes = bytes_in(argument.data, body.data, "tt.scan");
    text_free(&argument);
    text_free(&body);
    return bytes;
}

static void a_scan_has_a_value_for_each_warp(void **state) {
    (void)state;
    assert_int_equal(scanning("512xf32, #line", 0), 16);
    assert_int_equal(scanning("1024xf32, #line", 0), 32);
    assert_int_equal(scanning("64x64xf32, #rows", 1), 0);
    assert_int_equal(scanning("64x64xf32, #rows", 0), 2048);
}

static void gathers_and_histograms(void **state) {
    (void)state;
    const char *gather =
        "  %0 = tt.gather %x[%i] {axis = 1 : i32} : (tensor<64x64xf32, #rows>, tensor<64x64xi32, #rows>)"
        " -> tensor<64x64xf32, #rows>";
    const char *across =
        "  %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<64x64xf32, #rows>, tensor<64x64xi32, #rows>)"
        " -> tensor<64x64xf32, #rows>";
    const char *arguments = "%x: tensor<64x64xf32, #rows>, %i: tensor<64x64xi32, #rows>";
    assert_int_equal(bytes_in(arguments, gather, "tt.gather"), 0);
    assert_int_equal(bytes_in(arguments, across, "tt.gather"), 16384);
    assert_int_equal(bytes_in("%x: tensor<512xi32, #line>",
                              "  %0 = tt.histogram %x : tensor<512xi32, #line> -> tensor<16xi32, #line>",
                              "tt.histogram"),
                     128);
    assert_int_equal(bytes_in("%x: tensor<512xi32, #line>",
                              "  %0 = tt.histogram %x : tensor<512xi32, #line> -> tensor<256xi32, #line>",
                              "tt.histogram"),
                     1024);
}

/* ---- Atomics ----------------------------------------------------------------------------------- */

#define ADD "  %0 = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v, %m : (!tt.ptr<f32>, f32, i1) -> f32\n"
#define ADDS(size, layout)                                                                                           \
    "  %0 = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v, %m : (tensor<" size "x!tt.ptr<f16>, " layout ">, tensor<" size \
    "xf16, " layout ">, tensor<" size "xi1, " layout ">) -> tensor<" size "xf16, " layout ">\n"
#define MANY(size, layout)                                                                                  \
    "%p: tensor<" size "x!tt.ptr<f16>, " layout ">, %v: tensor<" size "xf16, " layout ">, %m: tensor<" size \
    "xi1, " layout ">, %q: tensor<" size "x!tt.ptr<f16>, " layout ">"
#define STORE(size, layout) "  tt.store %q, %0 : tensor<" size "x!tt.ptr<f16>, " layout ">"

static void an_atomic_hands_on_a_result_that_is_used(void **state) {
    (void)state;
    const char *one = "%p: !tt.ptr<f32>, %v: f32, %m: i1, %q: !tt.ptr<f32>";
    assert_int_equal(bytes_in(one, ADD, "tt.atomic_rmw"), 0);
    assert_int_equal(bytes_in(one, ADD "  tt.store %q, %0 : !tt.ptr<f32>", "tt.atomic_rmw"), 4);
    assert_int_equal(bytes_in(MANY("512", "#line"), ADDS("512", "#line") STORE("512", "#line"), "tt.atomic_rmw"), 0);
    /* 64 elements for 128 threads: some wait for others */
    assert_int_equal(bytes_in(MANY("64", "#thin"), ADDS("64", "#thin") STORE("64", "#thin"), "tt.atomic_rmw"), 128);
    assert_int_equal(bytes_in(MANY("64", "#thin"), ADDS("64", "#thin"), "tt.atomic_rmw"), 0);
    assert_true(scratch_in("", 2, one, ADD "  tt.store %q, %0 : !tt.ptr<f32>", "tt.atomic_rmw").crosses_ctas);
    assert_false(scratch_in("", 1, one, ADD "  tt.store %q, %0 : !tt.ptr<f32>", "tt.atomic_rmw").crosses_ctas);
}

static void a_poll_hands_on_whether_time_was_up(void **state) {
    (void)state;
    const char *arguments = "%p: !tt.ptr<i32>, %v: i32, %t: i64, %q: !tt.ptr<i32>";
    const char *patient = "  %0 = tt.atomic_poll acquire, gpu, %p, %v : !tt.ptr<i32>, i32 -> i1\n"
                          "  tt.store %q, %v, %0 : !tt.ptr<i32>";
    const char *timed = "  %0 = tt.atomic_poll acquire, gpu, %p, %v timeout %t : !tt.ptr<i32>, i32 -> i1\n"
                        "  tt.store %q, %v, %0 : !tt.ptr<i32>";
    const char *unused = "  %0 = tt.atomic_poll acquire, gpu, %p, %v timeout %t : !tt.ptr<i32>, i32 -> i1";
    assert_int_equal(bytes_in(arguments, patient, "tt.atomic_poll"), 0);
    assert_int_equal(bytes_in(arguments, timed, "tt.atomic_poll"), 1);
    assert_int_equal(bytes_in(arguments, unused, "tt.atomic_poll"), 0);
}

/* ---- Partitions, and what is written ----------------------------------------------------------- */

static void partitions_are_forwarded_their_captures(void **state) {
    (void)state;
    const char *body = "  %a = ttg.local_alloc : () -> !ttg.memdesc<16xf32, #shared, #smem, mutable>\n"
                       "  ttg.warp_specialize(%a, %p, %n)\n  default {\n    ttg.warp_yield\n  }\n"
                       "  partition0(%b: !ttg.memdesc<16xf32, #shared, #smem, mutable>, %q: !tt.ptr<f32>, %k: i1) "
                       "num_warps(2) {\n    ttg.warp_return\n  }\n"
                       "  partition1(%b: !ttg.memdesc<16xf32, #shared, #smem, mutable>, %q: !tt.ptr<f32>, %k: i1) "
                       "num_warps(4) {\n    ttg.warp_return\n  } : (!ttg.memdesc<16xf32, #shared, #smem, mutable>, "
                       "!tt.ptr<f32>, i1) -> ()";
    Scratch scratch = scratch_in("", 1, "%p: !tt.ptr<f32>, %n: i1", body, "ttg.warp_specialize");
    assert_int_equal(scratch.bytes, 8 + 4 + 8 + 1);
    assert_int_equal(scratch.alignment, 8);
    Scratch function = scratch_in("", 1, "%p: !tt.ptr<f32>, %n: i1", body, "tt.func");
    assert_int_equal(function.bytes, 6);
    assert_int_equal(function.alignment, 4);
    assert_int_equal(bytes_in("%n: i1", "", "tt.func"), 0);
}

static void a_size_that_is_written_goes_before(void **state) {
    (void)state;
    Scratch scratch = scratch_in("", 1, "%x: tensor<64x64xf16, #rows>",
                                 "  %0 = ttg.convert_layout %x {allocation.offset = 512 : i32, allocation.size = 96 : "
                                 "i32} : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>",
                                 "ttg.convert_layout");
    assert_int_equal(scratch.bytes, 96);
    assert_false(scratch.warp_synchronous);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_conversion_across_warps_has_a_buffer),
        cmocka_unit_test(repetitions_share_the_buffer),
        cmocka_unit_test(a_conversion_within_warps_needs_no_barrier),
        cmocka_unit_test(a_conversion_may_cross_ctas),
        cmocka_unit_test(what_cannot_be_computed_is_not_known),
        cmocka_unit_test(a_reduction_exchanges_what_warps_have_left),
        cmocka_unit_test(a_scan_has_a_value_for_each_warp),
        cmocka_unit_test(gathers_and_histograms),
        cmocka_unit_test(an_atomic_hands_on_a_result_that_is_used),
        cmocka_unit_test(a_poll_hands_on_whether_time_was_up),
        cmocka_unit_test(partitions_are_forwarded_their_captures),
        cmocka_unit_test(a_size_that_is_written_goes_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
