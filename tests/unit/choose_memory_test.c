/* machine/tile/grid/choose_memory: numbers, descriptors and a grid for a kernel that nothing launches;
 * machine/tile/compile/roots: whose memory an address lies in. */
#include "running.h"

#include "machine/tile/compile/roots.h"
#include "machine/tile/grid/choose_memory.h"

#include <setjmp.h>

typedef struct Choosing {
    Running *running;
    Launch launch;
    Launch given;
    const Program *program;
    MemoryRequest request;
} Choosing;

static void choose_in(Choosing *choosing, const char *text, Room room) {
    static Verdict verdict;
    static jmp_buf exhausted;
    choosing->running = compile_whole(text);
    Module *module = &choosing->running->reading->module;
    verdict = (Verdict){.arena = &module->arena};
    choosing->program = program_compile(module, find_op(choosing->running->reading, "tt.func", 0),
                                        COMPILE_GLOBAL | COMPILE_DATA, &verdict);
    assert_non_null(choosing->program);
    choosing->request = (MemoryRequest){.program = choosing->program,
                                        .base = &choosing->launch,
                                        .given = &choosing->given,
                                        .room = room,
                                        .budget = 1 << 20};
    module->arena.exhausted = &exhausted;
    if (setjmp(exhausted))
        fail();
    Launch launch;
    assert_int_equal(choose_memory(&module->arena, &choosing->request, &launch), RUN_COMPLETE);
    module->arena.exhausted = NULL;
    choosing->launch = launch;
}

static int64_t number(const Choosing *choosing, const char *name) {
    const Argument *found = launch_find(&choosing->launch, str_of(name));
    assert_non_null(found);
    return found->integer;
}

#define POINTERS "tensor<32x!tt.ptr<f32>, #blocked>"
#define NUMBERS  "tensor<32xi32, #blocked>"
/* Stores 32 floats from %first on. */
#define STORE                                                                      \
    "    %range = tt.make_range {end = 32 : i32, start = 0 : i32} : " NUMBERS "\n" \
    "    %firsts = tt.splat %first : i32 -> " NUMBERS "\n"                         \
    "    %places = arith.addi %firsts, %range : " NUMBERS "\n"                     \
    "    %all = tt.splat %out : !tt.ptr<f32> -> " POINTERS "\n"                    \
    "    %at = tt.addptr %all, %places : " POINTERS ", " NUMBERS "\n"              \
    "    %zeros = arith.constant dense<0.0> : tensor<32xf32, #blocked>\n"          \
    "    tt.store %at, %zeros : " POINTERS "\n"
#define ROW_AND_HEAD                                                               \
    "    %x = tt.get_program_id x : i32\n    %y = tt.get_program_id y : i32\n"     \
    "    %a = arith.muli %y, %outer : i32\n    %b = arith.muli %x, %inner : i32\n" \
    "    %first = arith.addi %a, %b : i32\n"

static void strides_are_dense_and_the_last_is_the_innermost(void **state) {
    Choosing choosing = {0};
    (void)state;
    choose_in(&choosing, KERNEL("%out: !tt.ptr<f32>, %outer: i32, %inner: i32", ROW_AND_HEAD STORE), ROOM_PLENTY);
    assert_int_equal(choosing.launch.grid[0], 4);
    assert_int_equal(choosing.launch.grid[1], 2);
    assert_int_equal(number(&choosing, "inner"), 32);
    assert_int_equal(number(&choosing, "outer"), 4 * 32);
    end_kernel(choosing.running);
}

static void what_is_given_stays(void **state) {
    Argument arguments[] = {{.name = STR("inner"), .kind = ARGUMENT_INTEGER, .integer = 64}};
    Choosing choosing = {.given = {.grid = {3, 2, 1}, .arguments = arguments, .count = 1}};
    (void)state;
    choose_in(&choosing, KERNEL("%out: !tt.ptr<f32>, %outer: i32, %inner: i32", ROW_AND_HEAD STORE), ROOM_PLENTY);
    assert_int_equal(choosing.launch.grid[0], 3);
    assert_int_equal(number(&choosing, "inner"), 64);
    assert_int_equal(number(&choosing, "outer"), 2 * 64 + 32);
    assert_false(number_is_chosen(&choosing.request, 2));
    assert_true(number_is_chosen(&choosing.request, 1));
    end_kernel(choosing.running);
}

#define TILES "    %x = tt.get_program_id x : i32\n    %first = arith.remsi %x, %n : i32\n"

static void sizes_leave_room_or_are_one(void **state) {
    Choosing plenty = {0}, least = {0};
    (void)state;
    choose_in(&plenty, KERNEL("%out: !tt.ptr<f32>, %n: i32", TILES STORE), ROOM_PLENTY);
    choose_in(&least, KERNEL("%out: !tt.ptr<f32>, %n: i32", TILES STORE), ROOM_LEAST);
    assert_int_equal(plenty.launch.grid[0], 8);
    assert_true(number(&plenty, "n") >= 8);
    assert_int_equal(number(&least, "n"), 1);
    assert_int_equal(least.launch.grid[0], 2);
    assert_false(programs_are_symmetry(&plenty.request));
    end_kernel(plenty.running);
    end_kernel(least.running);
}

static void a_kernel_without_an_id_has_two_programs(void **state) {
    Choosing choosing = {0};
    (void)state;
    choose_in(&choosing, KERNEL("%out: !tt.ptr<f32>", "    %first = arith.constant 0 : i32\n" STORE), ROOM_PLENTY);
    assert_int_equal(choosing.launch.grid[0], 2);
    assert_true(programs_are_symmetry(&choosing.request));
    end_kernel(choosing.running);
}

static bool is_uniform(const char *text) {
    Running *running = compile_kernel(text);
    bool uniform = program_is_uniform(running->program);
    end_kernel(running);
    return uniform;
}

#define ASSEMBLY(text)                                                     \
    "    %x = tt.elementwise_inline_asm \"" text                           \
    "\" {constraints = \"=r,r\", packed_element = 1 : i32, pure = false} " \
    "%c0 : i32 -> i32\n"
#define RANK "    %rank = nvg.cluster_id\n"

/* By registers of the hardware, or by their place in a cluster, if each CTA of it is a program. */
static void programs_may_tell_themselves_apart_without_an_id(void **state) {
    (void)state;
    assert_true(is_uniform(KERNEL("", "")));
    assert_true(is_uniform(KERNEL("", ASSEMBLY("mov.u32 $0, $1;"))));
    assert_false(is_uniform(KERNEL("", ASSEMBLY("mov.u32 $0, %smid;"))));
    assert_true(is_uniform(MODULE_OF(2, FUNCTION("", RANK))));
    assert_false(is_uniform(CLUSTERS(2, 1, "", RANK)));
}

static void a_kernel_of_clusters_has_several_along_the_first_axis(void **state) {
    Choosing choosing = {0};
    (void)state;
    choose_in(&choosing, CLUSTERS(1, 2, "%out: !tt.ptr<f32>", "    %first = tt.get_program_id x : i32\n" STORE),
              ROOM_PLENTY);
    assert_int_equal(choosing.launch.grid[0], 4);
    assert_int_equal(choosing.launch.grid[1], 4);
    assert_int_equal(choosing.launch.grid[2], 1);
    end_kernel(choosing.running);
}

/* How often the sum is taken matters to no store; whichever argument says it. */
#define SUM                                                                             \
    "    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0) -> (i32) : i32 {\n" \
    "      %t = arith.addi %s, %i : i32\n      scf.yield %t : i32\n    }\n"             \
    "    %first = arith.constant 0 : i32\n" STORE "    tt.store %into, %sum : !tt.ptr<i32>\n"

static void loops_that_matter_to_no_store_are_short(void **state) {
    Choosing first = {0}, last = {0};
    (void)state;
    choose_in(&first, KERNEL("%n: i32, %out: !tt.ptr<f32>, %into: !tt.ptr<i32>", SUM), ROOM_PLENTY);
    choose_in(&last, KERNEL("%out: !tt.ptr<f32>, %into: !tt.ptr<i32>, %n: i32", SUM), ROOM_PLENTY);
    assert_int_equal(number(&first, "n"), number(&last, "n"));
    end_kernel(first.running);
    end_kernel(last.running);
}

static void addresses_are_of_the_argument_that_they_point_to(void **state) {
    Choosing choosing = {0};
    (void)state;
    choose_in(&choosing,
              KERNEL("%other: !tt.ptr<f32>, %out: !tt.ptr<f32>, %number: i64",
                     "    %first = arith.constant 0 : i32\n" STORE
                     "    %there = tt.int_to_ptr %number : i64 -> !tt.ptr<f32>\n"
                     "    %zero = arith.constant 0.0 : f32\n    tt.store %there, %zero : !tt.ptr<f32>\n"),
              ROOM_PLENTY);
    const Op *store = find_op(choosing.running->reading, "tt.store", 0),
             *elsewhere = find_op(choosing.running->reading, "tt.store", 1);
    Roots roots = address_roots(choosing.program, store->operands[0]);
    assert_int_equal(roots.parameters, 1 << 1);
    assert_false(roots.elsewhere);
    roots = address_roots(choosing.program, elsewhere->operands[0]);
    assert_int_equal(roots.parameters, 0);
    assert_true(roots.elsewhere);
    end_kernel(choosing.running);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strides_are_dense_and_the_last_is_the_innermost),
        cmocka_unit_test(what_is_given_stays),
        cmocka_unit_test(sizes_leave_room_or_are_one),
        cmocka_unit_test(a_kernel_without_an_id_has_two_programs),
        cmocka_unit_test(programs_may_tell_themselves_apart_without_an_id),
        cmocka_unit_test(a_kernel_of_clusters_has_several_along_the_first_axis),
        cmocka_unit_test(loops_that_matter_to_no_store_are_short),
        cmocka_unit_test(addresses_are_of_the_argument_that_they_point_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
