/* machine/tile/compile/program, machine/tile/compile/slice: what of a kernel is compiled, and that control flow brings
 * values where they belong.
 */
#include "running.h"

#include "machine/tile/compile/program_internal.h"

#include <stdio.h>

/* ---- A value, made visible: the kernel arrives %r times --------------------------------------------- */

#define COUNTED                  INIT(bar, 1000) "    scf.for %k = %c0 to %r step %c1 : i32 {\n" ARRIVE(bar) "    }\n"
#define RESULT(parameters, body) ON_BARRIER(parameters, body COUNTED)

static int64_t result_of(Running *running) {
    assert_int_equal(run_eagerly(running), RUN_COMPLETE);
    return 1000 - (int64_t)barrier_named(running, "%bar[0]")->pending;
}

static int64_t result_with(const char *text, const char *argument) {
    Running *running = compile_whole(text);
    if (argument)
        give(running, argument);
    int64_t result = result_of(running);
    end_kernel(running);
    return result;
}

#define assert_result(text, argument, expected) assert_int_equal(result_with(text, argument), expected)

/* ---- The slice -------------------------------------------------------------------------------------- */

static unsigned count_compiled(const Running *running, const char *op) {
    unsigned count = 0;
    for (uint32_t i = 0; i < running->program->code_count; i++)
        count += str_is(running->program->ops[i]->name, op);
    return count;
}

static void only_that_is_compiled_which_synchronization_depends_on(void **state) {
    (void)state;
    Running *running = compile_whole(ON_BARRIER(
        "%n: i32, %f: f32",
        INIT(bar, 1) "    %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %f, %x = %c0) -> (f32, i32) : i32 {\n"
                     "      %more = arith.addf %sum, %f : f32\n"
                     "      %phase = arith.andi %i, %c1 : i32\n"
                     "      %idle = arith.muli %x, %i : i32\n" ARRIVE(
                         bar) "      ttng.wait_barrier %bar, %phase : !barrier\n"
                              "      scf.yield %more, %idle : f32, i32\n"
                              "    }\n"));
    assert_int_equal(count_compiled(running, "arith.addf"), 0);
    assert_int_equal(count_compiled(running, "arith.muli"), 0);
    assert_int_equal(count_compiled(running, "arith.andi"), 1);
    give(running, "n=3");
    assert_int_equal(run_eagerly(running), RUN_COMPLETE);
    end_kernel(running);
}

static void what_a_float_decides_is_compiled_and_chosen(void **state) {
    (void)state;
    Running *running = compile_whole(RESULT("%f: f32, %g: f32", "    %yes = arith.cmpf ogt, %f, %g : f32\n"
                                                                "    %r = arith.select %yes, %c2, %c1 : i32\n"
                                                                "    scf.if %yes {\n    }\n"));
    assert_int_equal(count_compiled(running, "arith.cmpf"), 1);
    end_kernel(running);

    running = compile_whole(ON_BARRIER("%f: f32, %g: f32", "    %yes = arith.cmpf ogt, %f, %g : f32\n" INIT(
                                                               bar, 2) "    scf.if %yes {\n" ARRIVE(bar) "    }\n"));
    for (unsigned havoc_choice = 0; havoc_choice < 2; havoc_choice++) {
        running->machine->havoc_choice = havoc_choice;
        assert_int_equal(run_eagerly(running), RUN_COMPLETE);
        assert_barrier(running, "%bar[0]", 0, 2 - havoc_choice, 0);
        assert_int_equal(running->machine->choices, 1);
    }
    end_kernel(running);
}

/* ---- Loops ------------------------------------------------------------------------------------------ */

static void a_loop_carries_values(void **state) {
    (void)state;
    static const char sum[] =
        RESULT("%n: i32", "    %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c1) -> (i32) : i32 {\n"
                          "      %y = arith.addi %x, %i : i32\n"
                          "      scf.yield %y : i32\n"
                          "    }\n");
    assert_result(sum, "n=5", 11);
    assert_result(sum, "n=0", 1);
    assert_result(sum, "n=-7", 1);
}

static void values_handed_over_crosswise_keep_apart(void **state) {
    (void)state;
    static const char fibonacci[] = RESULT(
        "%n: i32", "    %r, %s = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c0, %y = %c1) -> (i32, i32) : i32 {\n"
                   "      %z = arith.addi %x, %y : i32\n"
                   "      scf.yield %y, %z : i32, i32\n"
                   "    }\n");
    assert_result(fibonacci, "n=10", 55);
    static const char swapped[] = RESULT(
        "%n: i32", "    %r, %s = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c1, %y = %c2) -> (i32, i32) : i32 {\n"
                   "      scf.yield %y, %x : i32, i32\n"
                   "    }\n");
    assert_result(swapped, "n=4", 1);
    assert_result(swapped, "n=5", 2);
}

static void nested_loops_carry_values(void **state) {
    (void)state;
    static const char text[] =
        RESULT("%n: i32", "    %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c0) -> (i32) : i32 {\n"
                          "      %inner = scf.for %k = %c0 to %i step %c1 iter_args(%y = %x) -> (i32) : i32 {\n"
                          "        %z = arith.addi %y, %c1 : i32\n"
                          "        scf.yield %z : i32\n"
                          "      }\n"
                          "      scf.yield %inner : i32\n"
                          "    }\n");
    assert_result(text, "n=5", 0 + 1 + 2 + 3 + 4);
    Running *running = compile_whole(text);
    give(running, "n=5");
    result_of(running);
    assert_int_equal(running->program->loop_count, 3);
    assert_int_equal(running->program->loops[0].depth, 0);
    assert_int_equal(running->program->loops[1].depth, 1);
    assert_int_equal(running->machine->trips[0].most, 5);
    assert_int_equal(running->machine->trips[1].entered, 5);
    assert_int_equal(running->machine->trips[1].least, 0);
    assert_int_equal(running->machine->trips[1].most, 4);
    end_kernel(running);
}

static void a_loop_goes_by_its_step_and_its_bounds_are_read_once(void **state) {
    (void)state;
    assert_result(RESULT("%n: i32", "    %r, %s = scf.for %i = %c1 to %n step %c2 iter_args(%x = %c0, %y = %n) -> "
                                    "(i32, i32) : i32 {\n"
                                    "      %z = arith.addi %x, %c1 : i32\n"
                                    "      scf.yield %z, %c0 : i32, i32\n"
                                    "    }\n"),
                  "n=8", 4);
}

static void loops_over_index_and_unsigned_numbers(void **state) {
    (void)state;
    assert_result(RESULT("", "    %i0 = arith.constant 0 : index\n"
                             "    %i1 = arith.constant 1 : index\n"
                             "    %i6 = arith.constant 6 : index\n"
                             "    %r = scf.for %i = %i0 to %i6 step %i1 iter_args(%x = %c0) -> (i32) {\n"
                             "      %y = arith.index_cast %i : index to i32\n"
                             "      scf.yield %y : i32\n"
                             "    }\n"),
                  NULL, 5);
    static const char text[] =
        RESULT("%n: i8", "    %first = arith.constant -2 : i8\n"
                         "    %one = arith.constant 1 : i8\n"
                         "    %r = scf.for unsigned %i = %first to %n step %one iter_args(%x = %c0) -> (i32) : i8 {\n"
                         "      %y = arith.addi %x, %c1 : i32\n"
                         "      scf.yield %y : i32\n"
                         "    }\n");
    assert_result(text, "n=3", 0); /* 254 is not below 3 */
    assert_result(text, "n=-1", 1);
}

static void a_while_loop_carries_values_through_both_regions(void **state) {
    (void)state;
    static const char text[] = RESULT("%n: i32", "    %r = scf.while (%x = %c1) : (i32) -> i32 {\n"
                                                 "      %more = arith.cmpi slt, %x, %n : i32\n"
                                                 "      scf.condition(%more) %x : i32\n"
                                                 "    } do {\n"
                                                 "    ^bb0(%x: i32):\n"
                                                 "      %y = arith.muli %x, %c2 : i32\n"
                                                 "      scf.yield %y : i32\n"
                                                 "    }\n");
    assert_result(text, "n=20", 32);
    assert_result(text, "n=0", 1);
}

static void a_loop_that_never_ends_uses_up_its_budget(void **state) {
    (void)state;
    Running *running = compile_whole(RESULT("", "    %r = scf.while (%x = %c1) : (i32) -> i32 {\n"
                                                "      scf.condition(%true) %x : i32\n"
                                                "    } do {\n"
                                                "    ^bb0(%x: i32):\n"
                                                "      scf.yield %x : i32\n"
                                                "    }\n"));
    assert_int_equal(run_eagerly(running), RUN_BUDGET);
    end_kernel(running);
}

static void a_loop_whose_bounds_nothing_knows_ends_the_run(void **state) {
    (void)state;
    Running *running = compile_whole(RESULT("%r: i32", ""));
    assert_int_equal(run_eagerly(running), RUN_UNKNOWN);
    assert_non_null(strstr(running->machine->unknown, "trip count of the loop"));
    assert_true(str_is(running->machine->unknown_op->name, "scf.for"));
    end_kernel(running);
}

/* ---- Branches --------------------------------------------------------------------------------------- */

static void an_if_gives_the_values_of_the_branch_taken(void **state) {
    (void)state;
    static const char text[] = RESULT("%n: i32", "    %yes = arith.cmpi sgt, %n, %c1 : i32\n"
                                                 "    %r = scf.if %yes -> (i32) {\n"
                                                 "      %x = arith.addi %n, %c2 : i32\n"
                                                 "      scf.yield %x : i32\n"
                                                 "    } else {\n"
                                                 "      scf.yield %c1 : i32\n"
                                                 "    }\n");
    assert_result(text, "n=3", 5);
    assert_result(text, "n=1", 1);
}

static void an_if_without_else_is_passed_over(void **state) {
    (void)state;
    static const char text[] = ON_BARRIER("%yes: i1", INIT(bar, 2) "    scf.if %yes {\n" ARRIVE(bar) "    }\n");
    for (unsigned yes = 0; yes < 2; yes++) {
        Running *running = compile_whole(text);
        give(running, yes ? "yes=true" : "yes=false");
        assert_int_equal(run_eagerly(running), RUN_COMPLETE);
        assert_barrier(running, "%bar[0]", 0, 2 - yes, 0);
        end_kernel(running);
    }
}

static void a_switch_takes_its_case_or_the_default(void **state) {
    (void)state;
    static const char text[] = RESULT("%n: i32", "    %i = arith.index_cast %n : i32 to index\n"
                                                 "    %r = scf.index_switch %i -> i32\n"
                                                 "    case 2 {\n"
                                                 "      scf.yield %c1 : i32\n"
                                                 "    }\n"
                                                 "    case 7 {\n"
                                                 "      scf.yield %n : i32\n"
                                                 "    }\n"
                                                 "    default {\n"
                                                 "      scf.yield %c0 : i32\n"
                                                 "    }\n");
    assert_result(text, "n=2", 1);
    assert_result(text, "n=7", 7);
    assert_result(text, "n=3", 0);
}

static void blocks_hand_values_to_each_other(void **state) {
    (void)state;
    /* a loop of blocks: x doubles until it is n or more */
    static const char text[] = ON_BARRIER("%n: i32", "    cf.br ^head(%c1 : i32)\n"
                                                     "  ^head(%x: i32):\n"
                                                     "    %more = arith.cmpi slt, %x, %n : i32\n"
                                                     "    cf.cond_br %more, ^body(%x : i32), ^end(%x : i32)\n"
                                                     "  ^body(%y: i32):\n"
                                                     "    %z = arith.muli %y, %c2 : i32\n"
                                                     "    cf.br ^head(%z : i32)\n"
                                                     "  ^end(%r: i32):\n" COUNTED);
    assert_result(text, "n=100", 128);
    assert_result(text, "n=1", 1);
}

static void a_region_with_blocks_gives_the_value_it_ends_with(void **state) {
    (void)state;
    static const char text[] = RESULT("%n: i32", "    %yes = arith.cmpi sgt, %n, %c1 : i32\n"
                                                 "    %r = scf.execute_region -> i32 {\n"
                                                 "      cf.cond_br %yes, ^big, ^small\n"
                                                 "    ^big:\n"
                                                 "      scf.yield %n : i32\n"
                                                 "    ^small:\n"
                                                 "      scf.yield %c0 : i32\n"
                                                 "    }\n");
    assert_result(text, "n=6", 6);
    assert_result(text, "n=1", 0);
}

/* ---- Calls ------------------------------------------------------------------------------------------ */

#define TWICE_AND_MORE                                              \
    "  tt.func private @more(%x: i32, %y: i32) -> (i32, i32) {\n"   \
    "    %0 = arith.addi %x, %y : i32\n"                            \
    "    tt.return %0, %x : i32, i32\n"                             \
    "  }\n"                                                         \
    "  tt.func private @twice(%x: i32) -> i32 {\n"                  \
    "    %0:2 = tt.call @more(%x, %x) : (i32, i32) -> (i32, i32)\n" \
    "    tt.return %0#0 : i32\n"                                    \
    "  }\n"                                                         \
    "  tt.func private @least(%x: i32, %y: i32) -> i32 {\n"         \
    "    %less = arith.cmpi slt, %x, %y : i32\n"                    \
    "    cf.cond_br %less, ^first, ^second\n"                       \
    "  ^first:\n"                                                   \
    "    tt.return %x : i32\n"                                      \
    "  ^second:\n"                                                  \
    "    tt.return %y : i32\n"                                      \
    "  }\n"
#define CALLING(body) \
    MODULE_OF(1, TWICE_AND_MORE FUNCTION("%n: i32", "    %bar = ttg.local_alloc : () -> !barrier\n" body COUNTED))

static void a_call_takes_arguments_and_gives_results(void **state) {
    (void)state;
    assert_result(CALLING("    %x = tt.call @twice(%n) : (i32) -> i32\n"
                          "    %r = tt.call @twice(%x) : (i32) -> i32\n"),
                  "n=3", 12);
    assert_result(CALLING("    %x:2 = tt.call @more(%n, %c1) : (i32, i32) -> (i32, i32)\n"
                          "    %y:2 = tt.call @more(%x#1, %x#0) : (i32, i32) -> (i32, i32)\n"
                          "    %r = arith.addi %y#0, %y#1 : i32\n"),
                  "n=3", 3 + 4 + 3);
}

static void a_call_may_return_from_several_places(void **state) {
    (void)state;
    assert_result(CALLING("    %r = tt.call @least(%n, %c2) : (i32, i32) -> i32\n"), "n=1", 1);
    assert_result(CALLING("    %r = tt.call @least(%n, %c2) : (i32, i32) -> i32\n"), "n=9", 2);
}

static void a_call_synchronizes_as_if_it_stood_in_place(void **state) {
    (void)state;
    Running *running = compile_whole(
        MODULE_OF(1, "  tt.func private @meet(%x: !barrier, %n: i32) {\n" ARRIVE(
                         x) "    ttng.wait_barrier %x, %n : !barrier\n"
                            "    tt.return\n  }\n" FUNCTION(
                                "", "    %bar = ttg.local_alloc : () -> !barrier\n" INIT(
                                        bar, 1) "    tt.call @meet(%bar, %c0) : (!barrier, i32) -> ()\n"
                                                "    tt.call @meet(%bar, %c1) : (!barrier, i32) -> ()\n")));
    assert_int_equal(run_eagerly(running), RUN_COMPLETE);
    assert_int_equal(barrier_named(running, "%bar[0]")->generation, 2);
    end_kernel(running);
}

static void kernels_are_the_functions_that_nothing_calls(void **state) {
    (void)state;
    Reading *reading = read_good(CALLING("    %r = tt.call @twice(%n) : (i32) -> i32\n"));
    const Op *functions[4];
    assert_int_equal(program_kernels(&reading->module, functions, 4), 2);
    assert_string_equal(program_name(&reading->module, functions[0]), "least");
    assert_string_equal(program_name(&reading->module, functions[1]), "kernel");
    done(reading);
}

/* ---- Partitions ------------------------------------------------------------------------------------- */

static void partitions_have_what_they_capture_as_it_was(void **state) {
    (void)state;
    Running *running = compile_whole(ON_BARRIER(
        "%n: i32", INIT(bar, 100) "    %x = arith.addi %n, %c1 : i32\n"
                                  "    ttg.warp_specialize(%x, %bar, %n)\n"
                                  "    default {\n      ttg.warp_yield\n    }\n"
                                  "    partition0(%y: i32, %q: !barrier, %unused: i32) num_warps(2) {\n" CONSTANTS
                                  "      scf.for %i = %c0 to %y step %c1 : i32 {\n" ARRIVE(
                                      q) "      }\n"
                                         "      ttg.warp_return\n    }\n"
                                         "    partition1(%y: i32, %q: !barrier, %m: i32) num_warps(8) {\n" CONSTANTS
                                         "      scf.for %i = %c0 to %m step %c1 : i32 {\n" ARRIVE(
                                             q) "      }\n"
                                                "      ttg.warp_return\n    } : (i32, !barrier, i32) -> ()\n"));
    give(running, "n=10");
    assert_int_equal(run_eagerly(running), RUN_COMPLETE);
    assert_barrier(running, "%bar[0]", 0, 100 - 11 - 10, 0);
    assert_int_equal(running->program->strand_count, 3);
    assert_string_equal(running->program->strands[1].name, "partition0");
    assert_int_equal(running->program->strands[1].warps, 2);
    assert_int_equal(running->program->strands[2].warps, 8);
    assert_int_equal(running->program->agents_per_cta, 3);
    end_kernel(running);
}

static void the_default_region_gives_results(void **state) {
    (void)state;
    assert_result(RESULT("%n: i32", "    %r = ttg.warp_specialize()\n"
                                    "    default {\n"
                                    "      %x = arith.addi %n, %c2 : i32\n"
                                    "      ttg.warp_yield %x : i32\n"
                                    "    }\n"
                                    "    partition0() num_warps(1) {\n"
                                    "      ttg.warp_return\n"
                                    "    } : () -> i32\n"),
                  "n=4", 6);
}

/* ---- Parameters ------------------------------------------------------------------------------------- */

static void parameters_that_steer_are_told_from_others(void **state) {
    (void)state;
    Running *running =
        compile_whole(ON_BARRIER("%d: !desc, %d_0: i64, %d_1: i64, %n: i32 {tt.divisibility = 16 : i32}, %phase: i32, "
                                 "%m: i32 {tt.divisibility = 0 : i32}",
                                 INIT(bar, 1) "    %x = arith.trunci %d_0 : i64 to i32\n"
                                              "    scf.for %i = %x to %n step %c1 : i32 {\n    }\n" ARRIVE(
                                                  bar) "    ttng.wait_barrier %bar, %phase : !barrier\n"));
    const Parameter *parameters = running->program->parameters;
    static const struct {
        bool steers, kept;
        int32_t descriptor;
        int64_t divisibility;
    } expected[] = {{false, false, -1, 1}, {true, true, 0, 1},  {false, false, 0, 1},
                    {true, true, -1, 16},  {true, true, -1, 1}, {false, false, -1, 1}};
    assert_int_equal(running->program->parameter_count, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(parameters[i].steers, expected[i].steers);
        assert_int_equal(parameters[i].reg != NO_REGISTER, expected[i].kept);
        assert_int_equal(parameters[i].descriptor, expected[i].descriptor);
        assert_int_equal(parameters[i].divisibility, expected[i].divisibility);
    }
    end_kernel(running);
}

static void shape_and_strides_are_parts_of_their_descriptor(void **state) {
    (void)state;
    static const struct {
        const char *arguments;
        int32_t of[3]; /* for the three behind the first: whose part they are */
    } cases[] = {
        {"%d: !desc, %d_0: i32, %d_1: i64, %n: i32", {0, 0, -1}},
        {"%d: !desc, %d.shape.0: i32, %d.stride.0: i64, %n: i32", {0, 0, -1}},
        {"%d: !ttng.tensordesc_im2col<64x64xf16>, %d.shape.0: i32, %d.stride.0: i64, %n: i32", {0, 0, -1}},
        {"%d: !desc, %d.shape.0: i32, %d.shape.: i32, %d.stride.0: i64", {0, -1, -1}},
        {"%d: !desc, %d.shape: i32, %d.padding.0: i32, %dd.shape.0: i32", {-1, -1, -1}},
        {"%d: !tt.ptr<f16>, %d.shape.0: i32, %d.stride.0: i64, %n: i32", {-1, -1, -1}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[2048];
        snprintf(text, sizeof text,
                 "#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>\n"
                 "!desc = !tt.tensordesc<64x64xf16, #shared>\n"
                 "module attributes {\"ttg.num-warps\" = 4 : i32} {\n"
                 "  tt.func public @kernel(%s) {\n    tt.return\n  }\n}\n",
                 cases[k].arguments);
        Running *running = compile_whole(text);
        assert_int_equal(running->program->parameter_count, 4);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(running->program->parameters[i + 1].descriptor, cases[k].of[i]);
        end_kernel(running);
    }
}

static void a_launch_that_breaks_an_assumption_does_not_count(void **state) {
    (void)state;
    Running *running = compile_whole(RESULT("%r: i32", "    %yes = arith.cmpi sgt, %r, %c0 : i32\n"
                                                       "    llvm.intr.assume %yes : i1\n"));
    give(running, "r=1");
    assert_int_equal(run_eagerly(running), RUN_COMPLETE);
    give(running, "r=0");
    assert_int_equal(run_eagerly(running), RUN_EXCLUDED);
    end_kernel(running);
}

static void program_ids_differ_from_cluster_to_cluster(void **state) {
    (void)state;
    Running *running = compile_whole(RESULT("", "    %x = tt.get_program_id x : i32\n"
                                                "    %y = tt.get_program_id y : i32\n"
                                                "    %all = tt.get_num_programs x : i32\n"
                                                "    %row = arith.muli %y, %all : i32\n"
                                                "    %r = arith.addi %row, %x : i32\n"));
    running->launch.grid[0] = 3;
    running->launch.grid[1] = 2;
    machine_launch(running->machine, &running->launch);
    assert_int_equal(machine_clusters(running->machine), 6);
    for (uint64_t cluster = 0; cluster < 6; cluster++) {
        assert_int_equal(schedule_run(running->machine, cluster, &(Schedule){.kind = SCHEDULE_EAGER}), RUN_COMPLETE);
        assert_barrier(running, "%bar[0]", 0, 1000 - (unsigned)cluster, 0);
    }
    end_kernel(running);
}

/* Tickets of a work queue: the answer has a register of its own, beside all that is kept for later. */
static void an_answer_of_launch_control_leaves_other_values_alone(void **state) {
    (void)state;
    static const char text[] = RESULT(
        "%n: i32",
        "    %response = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #shared, #smem, mutable>\n"
        "    %asked = ttg.local_alloc : () -> !barrier\n" INIT(asked, 1) EXPECT(
            asked, 16) "    ttng.async_clc_try_cancel %asked, %response : !barrier, !ttg.memdesc<2xi64, #shared, "
                       "#smem, mutable>\n" WAIT(
                           asked,
                           0) "    %kept = arith.addi %n, %c1 : i32\n"
                              "    %next:3 = ttng.clc_query_cancel %response : (!ttg.memdesc<2xi64, #shared, #smem, "
                              "mutable>) -> (i32, i32, i32)\n"
                              "    %is = arith.cmpi eq, %next#0, %c0 : i32\n    scf.if %is {\n" ARRIVE(
                                  asked) "    }\n"
                                         "    %r = arith.addi %kept, %c1 : i32\n");
    assert_result(text, "n=7", 9);
}

/* One that looks 16 times at what it has counted itself, and finds nothing new, waits for another CTA. */
static void a_counter_that_is_looked_at_again_and_again_goes_on(void **state) {
    (void)state;
#define LOOK(by) " = tt.atomic_rmw add, relaxed, gpu, %p, " by ", %true : (!tt.ptr<i32>, i32, i1) -> i32\n"
    static const char text[] = RESULT(
        "%p: !tt.ptr<i32>, %n: i32",
        "    %first" LOOK("%c1") "    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %first) -> (i32) : "
                                 "i32 {\n      %x" LOOK(
                                     "%c0") "      %t = arith.addi %s, %x : i32\n      scf.yield %t : i32\n    }\n");
    assert_result(text, "n=16", 16);
    assert_result(text, "n=17", 16 + 2);
#undef LOOK
}

/* ---- Data that is stored ------------------------------------------------------------------------------ */

static bool stores_what_is_followed(const char *text) {
    Running *running = compile_whole(text);
    const Program *program =
        program_compile(&running->reading->module, running->function, COMPILE_GLOBAL | COMPILE_DATA, &running->verdict);
    bool followed = false;
    for (uint32_t i = 0; i < program->effect_count; i++)
        if (program->effects[i].effect.verb == EFFECT_WRITE && program->effects[i].transfer != NO_TRANSFER)
            followed = program->transfers[program->effects[i].transfer].followed;
    end_kernel(running);
    return followed;
}

#define STORED(values) KERNEL("%p: !tt.ptr<i32>, %v0: i32", values "    tt.store %p, %r : !tt.ptr<i32>\n")

/* An argument that is doubled so often. */
static bool follows_doubled(unsigned times) {
    static const char head[] = KERNEL("%p: !tt.ptr<i32>, %v0: i32", "");
    const char *end = strstr(head, "    tt.return");
    Text text = {0};
    text_add(&text, head, (size_t)(end - head));
    for (unsigned i = 0; i < times; i++)
        text_addf(&text, "    %%v%u = arith.addi %%v%u, %%v%u : i32\n", i + 1, i, i);
    text_addf(&text, "    tt.store %%p, %%v%u : !tt.ptr<i32>\n%s", times, end);
    bool follows = stores_what_is_followed(text.data);
    text_free(&text);
    return follows;
}

/* By what arguments and loads it is made of; where that is too much, by nothing. */
static void what_is_stored_is_followed_a_while(void **state) {
    (void)state;
    assert_true(follows_doubled(1));
    assert_true(follows_doubled(40));
    assert_true(follows_doubled(255));
    assert_false(follows_doubled(256));
    assert_false(stores_what_is_followed(
        STORED("    %r = scf.for %i = %c0 to %v0 step %c1 iter_args(%s = %c0) -> (i32) : i32 {\n"
               "      %t = arith.addi %s, %i : i32\n      scf.yield %t : i32\n    }\n")));
}

/* ---- What is not understood ------------------------------------------------------------------------- */

static void assert_incomplete(const char *text, const char *op, const char *reason) {
    Running *running = compile_kernel(text);
    bool found = false;
    for (size_t i = 0; i < running->verdict.incomplete_count; i++)
        found |= strcmp(running->verdict.incomplete[i].op, op) == 0 &&
                 strcmp(running->verdict.incomplete[i].reason, reason) == 0 && running->verdict.incomplete[i].ir_line;
    if (!found)
        print_error("not said of %s: %s\n", op, reason);
    assert_true(found);
    end_kernel(running);
}

static void what_could_matter_and_is_not_known_makes_a_verdict_incomplete(void **state) {
    (void)state;
    assert_incomplete(ON_BARRIER("", "    \"my.op\"(%bar) : (!barrier) -> ()\n"), "my.op", "the op is not known");
    assert_incomplete(KERNEL("", "    \"my.op\"() : () -> ()\n"), "my.op", "the op is not known");
    assert_incomplete(KERNEL("", "    tt.call @elsewhere() : () -> ()\n"), "tt.call",
                      "the function that it calls has no body here");
    assert_incomplete(
        MODULE_OF(1, "  tt.func private @again() {\n    tt.call @again() : () -> ()\n    tt.return\n  }\n" FUNCTION(
                         "", "    tt.call @again() : () -> ()\n")),
        "tt.call", "calls are nested too deeply");
    assert_incomplete(KERNEL("%n: i32", "    \"scf.for\"(%n, %n, %n) ({\n    }) : (i32, i32, i32) -> ()\n"), "scf.for",
                      "its regions are malformed");
    assert_incomplete(KERNEL("%n: i32",
                             "    \"scf.for\"(%n, %n, %n) ({\n    ^bb0(%i: i32):\n      scf.yield\n    ^bb1:\n"
                             "      scf.yield\n    }) : (i32, i32, i32) -> ()\n"),
                      "scf.for", "its regions are malformed");
    assert_incomplete(KERNEL("%p: !tt.ptr<i32>",
                             "    %x = tt.elementwise_inline_asm \"fence.acq_rel.gpu; again: ld.acquire.gpu.global.b32 "
                             "$0, [$1]; setp.ne.u32 p, $0, 1; @p bra again;\" {constraints = \"=r,l\", packed_element "
                             "= 1 : i32, pure = false} %p : !tt.ptr<i32> -> i32\n"),
                      "tt.elementwise_inline_asm", "it polls memory in its own loop");
}

static void an_unknown_op_on_numbers_alone_gives_an_unknown_value(void **state) {
    (void)state;
    Running *running = compile_whole(RESULT("%n: i32", "    %r = \"arith.newest\"(%n) : (i32) -> i32\n"));
    give(running, "n=1");
    assert_int_equal(run_eagerly(running), RUN_UNKNOWN);
    end_kernel(running);
}

static void a_kernel_that_grows_without_end_is_given_up(void **state) {
    (void)state;
    static const char text[] =
        MODULE_OF(1, "  tt.func private @again(%x: i32) {\n    tt.call @again(%x) : (i32) -> ()\n"
                     "    tt.call @again(%x) : (i32) -> ()\n    tt.return\n  }\n" FUNCTION(
                         "", "    tt.call @again(%c0) : (i32) -> ()\n"));
    assert_incomplete(text, "tt.call", "the kernel is too large to be emulated");
    Running *running = compile_kernel(text);
    assert_null(running->program);
    end_kernel(running);
}

static void as_much_is_compiled_as_is_emulated(void **state) {
    (void)state;
    Running *running = compile_whole(KERNEL("", ""));
    Program program = {.code_count = MOST_INSTRUCTIONS - 1, .code_capacity = MOST_INSTRUCTIONS + 1};
    Compiler compiler = {.module = &running->reading->module, .program = &program, .verdict = &running->verdict};
    program.code = calloc(program.code_capacity, sizeof *program.code);
    program.ops = calloc(program.code_capacity, sizeof *program.ops);
    assert_true(program.code && program.ops);
    emit_code(&compiler, CODE_JUMP, running->function);
    assert_int_equal(running->verdict.incomplete_count, 0);
    emit_code(&compiler, CODE_JUMP, running->function);
    assert_int_equal(running->verdict.incomplete_count, 1);
    assert_string_equal(running->verdict.incomplete[0].reason, "the kernel is too large to be emulated");
    free(program.code);
    free(program.ops);
    end_kernel(running);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_that_is_compiled_which_synchronization_depends_on),
        cmocka_unit_test(what_a_float_decides_is_compiled_and_chosen),
        cmocka_unit_test(a_loop_carries_values),
        cmocka_unit_test(values_handed_over_crosswise_keep_apart),
        cmocka_unit_test(nested_loops_carry_values),
        cmocka_unit_test(a_loop_goes_by_its_step_and_its_bounds_are_read_once),
        cmocka_unit_test(loops_over_index_and_unsigned_numbers),
        cmocka_unit_test(a_while_loop_carries_values_through_both_regions),
        cmocka_unit_test(a_loop_that_never_ends_uses_up_its_budget),
        cmocka_unit_test(a_loop_whose_bounds_nothing_knows_ends_the_run),
        cmocka_unit_test(an_if_gives_the_values_of_the_branch_taken),
        cmocka_unit_test(an_if_without_else_is_passed_over),
        cmocka_unit_test(a_switch_takes_its_case_or_the_default),
        cmocka_unit_test(blocks_hand_values_to_each_other),
        cmocka_unit_test(a_region_with_blocks_gives_the_value_it_ends_with),
        cmocka_unit_test(a_call_takes_arguments_and_gives_results),
        cmocka_unit_test(a_call_may_return_from_several_places),
        cmocka_unit_test(a_call_synchronizes_as_if_it_stood_in_place),
        cmocka_unit_test(kernels_are_the_functions_that_nothing_calls),
        cmocka_unit_test(partitions_have_what_they_capture_as_it_was),
        cmocka_unit_test(the_default_region_gives_results),
        cmocka_unit_test(parameters_that_steer_are_told_from_others),
        cmocka_unit_test(shape_and_strides_are_parts_of_their_descriptor),
        cmocka_unit_test(a_launch_that_breaks_an_assumption_does_not_count),
        cmocka_unit_test(program_ids_differ_from_cluster_to_cluster),
        cmocka_unit_test(an_answer_of_launch_control_leaves_other_values_alone),
        cmocka_unit_test(a_counter_that_is_looked_at_again_and_again_goes_on),
        cmocka_unit_test(what_is_stored_is_followed_a_while),
        cmocka_unit_test(as_much_is_compiled_as_is_emulated),
        cmocka_unit_test(what_could_matter_and_is_not_known_makes_a_verdict_incomplete),
        cmocka_unit_test(an_unknown_op_on_numbers_alone_gives_an_unknown_value),
        cmocka_unit_test(a_kernel_that_grows_without_end_is_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
