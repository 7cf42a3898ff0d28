/* model/memory: how far the compiler has come with a module, and where a cluster has to meet. */
#include "reading.h"

#include "ir/op.h"
#include "model/memory/handshake.h"
#include "model/memory/stage.h"

#define TYPES                                                                            \
    "#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n" \
    "#smem = #ttg.shared_memory\n"                                                       \
    "#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>\n"
#define MODULE(attributes, body, location)                                                                    \
    TYPES "module attributes {\"ttg.num-ctas\" = 2 : i32, \"ttg.num-warps\" = 4 : i32, ttg.target = "         \
          "\"cuda:90\"" attributes "} {\n  tt.func public @kernel(%v: tensor<128xf32, #line>, %flag: i1) {\n" \
          "    %c0 = arith.constant 0 : i32\n" body "  }" location "\n}\n"
#define RETURN "    tt.return\n"

#define STORED                                                                                                      \
    "    %a = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<128xf32, #flat, #smem, mutable>\n" \
    "    ttg.local_store %v, %a : tensor<128xf32, #line> -> !ttg.memdesc<128xf32, #flat, #smem, mutable>\n"
#define LOADED "    %x = ttg.local_load %a : !ttg.memdesc<128xf32, #flat, #smem, mutable> -> tensor<128xf32, #line>\n"

#define HEADER(pass) "// -----// IR Dump Before " pass " ('builtin.module' operation) //----- //\n"

/* Of the last unit of the text. */
static Past past_of(const char *text, Past (*stage)(Module *module, const Op *function)) {
    Source *source = source_copy("t", text, strlen(text));
    Units units;
    Module module;
    Diagnostics diagnostics = {0};
    assert_true(units_find(source, &units));
    assert_true(
        read_unit(&module, source, &units.items[units.count - 1], (ReadOptions){.dump = units.dump}, &diagnostics));
    const Op *function = NULL;
    for (const Op *op = module_first_op(&module); op && !function; op = op_next_in_walk(op, NULL))
        function = op_is_control(op, CONTROL_FUNCTION) ? op : NULL;
    Past past = stage(&module, function);
    module_free(&module);
    diagnostics_free(&diagnostics);
    units_free(&units);
    source_free(source);
    return past;
}

static Past barriers_of(const char *text) {
    return past_of(text, stage_barriers);
}

static void barriers_come_after_memory_is_placed(void **state) {
    (void)state;
    const char *placed = MODULE(", ttg.shared = 512 : i32", STORED LOADED RETURN, "");
    assert_int_equal(barriers_of(MODULE("", RETURN, "")), PAST_NOT);
    assert_int_equal(barriers_of(placed), PAST_UNKNOWN);
    assert_int_equal(barriers_of(MODULE(", ttg.shared = 512 : i32, ttg.profile_scratch_memory_size = 0 : i32",
                                        STORED LOADED RETURN, "")),
                     PAST_YES);
    /* one that only that pass writes; others are of earlier ones, or the kernel's own */
    assert_int_equal(
        barriers_of(MODULE(", ttg.shared = 512 : i32", STORED "    ttg.barrier local\n" LOADED RETURN, "")), PAST_YES);
    assert_int_equal(barriers_of(MODULE(", ttg.shared = 512 : i32", STORED "    ttg.barrier all\n" LOADED RETURN, "")),
                     PAST_UNKNOWN);
    assert_int_equal(barriers_of(MODULE(", ttg.shared = 512 : i32",
                                        "    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #flat, #smem, mutable>\n"
                                        "    ttng.init_barrier %b, 1 : !ttg.memdesc<1xi64, #flat, #smem, mutable>\n"
                                        "    ttg.barrier local\n" STORED RETURN,
                                        "")),
                     PAST_UNKNOWN);
}

static void a_log_tells_whether_they_are_in(void **state) {
    (void)state;
#define PLACED MODULE(", ttg.shared = 512 : i32", STORED LOADED RETURN, "")
    assert_int_equal(barriers_of(HEADER("Lower (convert-triton-gpu-to-llvm)") PLACED), PAST_NOT);
    assert_int_equal(barriers_of(HEADER("Lower: convert-triton-gpu-to-llvm{a=1}") PLACED), PAST_NOT);
    assert_int_equal(barriers_of(HEADER("M: triton-nvidia-gpu-membar{a=1}") PLACED), PAST_NOT);
    assert_int_equal(barriers_of(HEADER("M: triton-nvidia-gpu-membar{a=1}") PLACED HEADER("W: wait") PLACED), PAST_YES);
    assert_int_equal(barriers_of(HEADER("M: triton-amdgpu-membar") PLACED HEADER("W: wait") PLACED), PAST_YES);
#undef PLACED
}

static void products_wait_for_themselves_in_logs_from_before_memory_is_placed(void **state) {
    (void)state;
#define COMMITTED                                                                   \
    "    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #flat, #smem, mutable>\n" \
    "    ttng.tc_gen5_commit %b : !ttg.memdesc<1xi64, #flat, #smem, mutable>\n"
    const char *before = HEADER("L (triton-nvidia-mma-lowering)") MODULE("", RETURN, "");
    assert_int_equal(past_of(MODULE("", RETURN, ""), stage_mmas), PAST_YES);
    assert_int_equal(past_of(before, stage_mmas), PAST_NOT);
    assert_int_equal(past_of(HEADER("L (triton-nvidia-mma-lowering)") MODULE("", COMMITTED RETURN, ""), stage_mmas),
                     PAST_YES);
    assert_int_equal(past_of(HEADER("L (convert)") MODULE(", ttg.shared = 512 : i32", STORED RETURN, ""), stage_mmas),
                     PAST_YES);
#undef COMMITTED
}

static void columns_are_counted_from_0_up_to_37(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool from_one;
    } cases[] = {
        {MODULE("", RETURN, " loc(\"k.py\":3:0)"), false},
        {MODULE("", RETURN, " loc(\"k.py\":3:1)"), true},
        {MODULE("", "    tt.return loc(\"k.py\":4:0)\n", " loc(\"k.py\":3:1)"), false},
        {MODULE("", "    tt.return loc(\"k.py\":4:4)\n", ""), false}, /* nothing tells */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Reading *reading = read_good(cases[i].text);
        assert_int_equal(stage_columns_from_one(&reading->module), cases[i].from_one);
        done(reading);
    }
}

/* ---- Clusters ---------------------------------------------------------------------------------- */

#define ALLOCATED(type) "    %b = ttg.local_alloc : () -> !ttg.memdesc<" type ", #flat, #smem, mutable>\n"
#define SET_UP(type)    "    ttng.init_barrier %b, 1 : !ttg.memdesc<" type ", #flat, #smem, mutable>\n"
#define WAITED(type)    "    ttng.wait_barrier %b, %c0 : !ttg.memdesc<" type ", #flat, #smem, mutable>\n"
#define FENCED          "    ttng.fence_mbarrier_init_release_cluster\n"
#define MET             "    ttng.cluster_barrier {relaxed = true}\n"

/* "fence before ttng.wait_barrier", "fence and barrier before ...", "". */
static void assert_handshake(const char *text, const char *expected) {
    Reading *reading = read_good(text);
    const Op *function = find_op(reading, "tt.func", 0);
    Arena arena;
    arena_init(&arena, SIZE_MAX);
    Handshake found = handshake_of(&reading->module, function, NULL, &arena);
    Text said = {0};
    if (found.at)
        text_addf(&said, "fence%s before %.*s", found.barrier ? " and barrier" : "", STR_ARG(found.at->name));
    text_char(&said, 0);
    assert_string_equal(said.data, expected);
    text_free(&said);
    arena_free(&arena);
    done(reading);
}

static void a_cluster_meets_before_shared_mbarriers_are_used(void **state) {
    (void)state;
    assert_handshake(MODULE("", ALLOCATED("1xi64") SET_UP("1xi64") WAITED("1xi64") RETURN, ""),
                     "fence and barrier before ttng.wait_barrier");
    assert_handshake(MODULE("", ALLOCATED("1xi64") SET_UP("1xi64") MET WAITED("1xi64") RETURN, ""),
                     "fence before ttng.cluster_barrier");
    assert_handshake(MODULE("", ALLOCATED("1xi64") SET_UP("1xi64") FENCED MET WAITED("1xi64") RETURN, ""), "");
    /* the barrier comes too early, or each CTA has its own mbarrier, or nothing uses it */
    assert_handshake(MODULE("", ALLOCATED("1xi64") FENCED MET SET_UP("1xi64") WAITED("1xi64") RETURN, ""),
                     "fence and barrier before ttng.wait_barrier");
    assert_handshake(MODULE("", ALLOCATED("2xi64") SET_UP("2xi64") WAITED("2xi64") RETURN, ""), "");
    assert_handshake(MODULE("", ALLOCATED("1xi64") SET_UP("1xi64") RETURN, ""), "");
}

static void branches_are_followed(void **state) {
    (void)state;
    assert_handshake(
        MODULE("",
               ALLOCATED("1xi64") "    cf.cond_br %flag, ^one, ^two\n  ^one:\n" SET_UP(
                   "1xi64") "    cf.br ^end\n  ^two:\n" SET_UP("1xi64") "    cf.br ^end\n  ^end:\n" WAITED("1xi64")
                   RETURN,
               ""),
        "fence and barrier before ttng.wait_barrier");
    /* the use is on one way alone: before the branch */
    assert_handshake(MODULE("",
                            ALLOCATED("1xi64") SET_UP("1xi64") "    cf.cond_br %flag, ^one, ^two\n  ^one:\n" WAITED(
                                "1xi64") "    cf.br ^two\n  ^two:\n" RETURN,
                            ""),
                     "fence and barrier before ttng.wait_barrier");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(barriers_come_after_memory_is_placed),
        cmocka_unit_test(a_log_tells_whether_they_are_in),
        cmocka_unit_test(products_wait_for_themselves_in_logs_from_before_memory_is_placed),
        cmocka_unit_test(columns_are_counted_from_0_up_to_37),
        cmocka_unit_test(a_cluster_meets_before_shared_mbarriers_are_used),
        cmocka_unit_test(branches_are_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
