/* machine/tile/memory/transfer: what loads, stores, atomics and polls do to global memory, element by element. */
#include "havoc_choice.h"

#define ATOMIC(op, pointers, values, mask)                                                                             \
    " = tt.atomic_rmw " op ", relaxed, gpu, " pointers ", " values ", " mask                                           \
    " : (tensor<128x!tt.ptr<i32>, #blocked>, tensor<128xi32, #blocked>, tensor<128xi1, #blocked>) -> tensor<128xi32, " \
    "#blocked>\n"

static void tensor_atomics(void **state) {
    (void)state;
    HavocChoice *havoc_choice = one_launch(
        KERNEL("%to: !tt.ptr<i32>, %out: !tt.ptr<i32>",
               TENSOR("    %odd = arith.andi %r, %ones : tensor<128xi32, #blocked>\n"
                      "    %mask = arith.cmpi eq, %odd, %ones : tensor<128xi32, #blocked>\n"
                      "    %x" ATOMIC("add", "%p", "%r", "%mask") "    %y" ATOMIC(
                          "add", "%b", "%ones",
                          "%all") "    %ob = tt.splat %out : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #blocked>\n"
                                  "    %o = tt.addptr %ob, %r : tensor<128x!tt.ptr<i32>, #blocked>, tensor<128xi32, "
                                  "#blocked>\n"
                                  "    %z" ATOMIC("max", "%o", "%y", "%all"))),
        4);
    for (unsigned i = 0; i < SCHEDULES; i++) {
        assert_int_equal(run_grid(havoc_choice, schedules[i]), RUN_COMPLETE);
        assert_int_equal(value_at(havoc_choice, 0, 0), 4 * 128);
        assert_int_equal(value_at(havoc_choice, 0, 2), 0);
        assert_int_equal(value_at(havoc_choice, 0, 127), 4 * 127);
        assert_int_equal(value_at(havoc_choice, 1, 127), 4 * 128 - 1);
    }
    end_havoc_choice(havoc_choice);
}

/* Every operation on one integer; its address comes from memory, too. */
static void operations(void **state) {
    (void)state;
    HavocChoice *havoc_choice = one_launch(
        KERNEL(
            "%x: !tt.ptr<i32>, %y: !tt.ptr<i32>",
            "    %m1 = arith.constant -1 : i32\n" STORE(
                "%x",
                "%c7") "    %1 = tt.atomic_rmw and, relaxed, gpu, %x, %c2, %true : (!tt.ptr<i32>, i32, i1) -> i32\n"
                       "    %2 = tt.atomic_rmw or, relaxed, gpu, %x, %c64, %true : (!tt.ptr<i32>, i32, i1) -> i32\n"
                       "    %3 = tt.atomic_rmw xor, relaxed, gpu, %x, %c2, %true : (!tt.ptr<i32>, i32, i1) -> i32\n"
                       "    %4 = tt.atomic_rmw min, relaxed, gpu, %x, %m1, %true : (!tt.ptr<i32>, i32, i1) -> i32\n"
                       "    %5 = tt.atomic_rmw umin, relaxed, gpu, %x, %c64, %true : (!tt.ptr<i32>, i32, i1) -> i32\n"
                       "    %6 = tt.atomic_rmw umax, relaxed, gpu, %x, %m1, %true : (!tt.ptr<i32>, i32, i1) -> i32\n"
                       "    %7 = tt.atomic_rmw max, relaxed, gpu, %x, %c7, %true : (!tt.ptr<i32>, i32, i1) -> i32\n"
                       "    %8 = tt.atomic_cas relaxed, gpu, %x, %c7, %c1 : (!tt.ptr<i32>, i32, i32) -> i32\n"
                       "    %9 = tt.atomic_cas relaxed, gpu, %x, %c7, %c2 : (!tt.ptr<i32>, i32, i32) -> i32\n"
                       "    %address = tt.ptr_to_int %x : !tt.ptr<i32> -> i64\n"
                       "    %yy = tt.bitcast %y : !tt.ptr<i32> -> !tt.ptr<i64>\n"
                       "    tt.store %yy, %address : !tt.ptr<i64>\n"
                       "    %yp = tt.bitcast %y : !tt.ptr<i32> -> !tt.ptr<!tt.ptr<i32>>\n"
                       "    %xx = tt.load %yp : !tt.ptr<!tt.ptr<i32>>\n"
                       "    %10 = tt.load %xx : !tt.ptr<i32>\n    %y2 = tt.addptr %y, %c2 : !tt.ptr<i32>, i32\n"
                       "    tt.store %y2, %10 : !tt.ptr<i32>\n    %sum = arith.addi %9, %6 : i32\n"
                       "    %x1 = tt.addptr %x, %c1 : !tt.ptr<i32>, i32\n" STORE("%x1", "%sum")),
        1);
    assert_int_equal(run_grid(havoc_choice, (GridOptions){0}), RUN_COMPLETE);
    assert_int_equal(value_at(havoc_choice, 0, 0), 1);
    assert_int_equal(value_at(havoc_choice, 0, 1), 1 + 64);
    assert_int_equal(value_at(havoc_choice, 1, 2), 1);
    end_havoc_choice(havoc_choice);
}

/* Numbers of other widths, masks, what is masked off, offsets from one pointer. */
static void elements(void **state) {
    (void)state;
    HavocChoice *havoc_choice = one_launch(
        KERNEL("%to: !tt.ptr<i32>, %x: !tt.ptr<i8>, %y: !tt.ptr<i32>, %z: !tt.ptr<i1>",
               TENSOR("    %limit = arith.constant dense<100> : tensor<128xi32, #blocked>\n"
                      "    %some = arith.cmpi slt, %r, %limit : tensor<128xi32, #blocked>\n"
                      "    %c3 = arith.constant dense<3> : tensor<128xi32, #blocked>\n"
                      "    %xb = tt.splat %x : !tt.ptr<i8> -> tensor<128x!tt.ptr<i8>, #blocked>\n"
                      "    %xp = tt.addptr %xb, %r : tensor<128x!tt.ptr<i8>, #blocked>, tensor<128xi32, #blocked>\n"
                      "    %m = arith.constant dense<-1> : tensor<128xi8, #blocked>\n"
                      "    tt.store %xp, %m, %some : tensor<128x!tt.ptr<i8>, #blocked>\n"
                      "    tt.store %p, %r, %some : tensor<128x!tt.ptr<i32>, #blocked>\n"
                      "    %v = tt.load %p, %some, %c3 : tensor<128x!tt.ptr<i32>, #blocked>\n"
                      "    amdg.buffer_store %v, %y[%r] : !tt.ptr<i32> -> tensor<128xi32, #blocked>\n"
                      "    %w = amdg.buffer_load %y[%r] : !tt.ptr<i32> -> tensor<128xi32, #blocked>\n"
                      "    %u = amdg.buffer_atomic_rmw add, relaxed, gpu, %w, %y[%r], %some : !tt.ptr<i32> -> "
                      "tensor<128xi32, #blocked>\n"
                      "    tt.store %z, %true : !tt.ptr<i1>\n    %b1 = tt.load %z : !tt.ptr<i1>\n"
                      "    %z1 = tt.addptr %z, %c1 : !tt.ptr<i1>, i32\n    tt.store %z1, %b1 : !tt.ptr<i1>\n")),
        1);
    assert_int_equal(run_grid(havoc_choice, (GridOptions){0}), RUN_COMPLETE);
    assert_int_equal(value_at(havoc_choice, 0, 99), 99);
    assert_int_equal(value_at(havoc_choice, 0, 100), 0);
    assert_int_equal(value_at(havoc_choice, 1, 24), -1);
    assert_int_equal(value_at(havoc_choice, 1, 25), 0);
    assert_int_equal(value_at(havoc_choice, 2, 99), 2 * 99);
    assert_int_equal(value_at(havoc_choice, 2, 100), 3);
    assert_int_equal(value_at(havoc_choice, 3, 0), 0x101);
    end_havoc_choice(havoc_choice);
}

static void report_stored(void *observer, const GridEvent *event) {
    Text *text = observer;
    if (event->kind == GRID_EVENT && event->event->kind == EVENT_ACCESS)
        text_addf(text, "%c", event->event->stored ? 'w' : 'r');
}

static void stored(void **state) {
    (void)state;
    HavocChoice *havoc_choice = one_launch(
        KERNEL("%x: !tt.ptr<i32>",
               "    %a = tt.atomic_cas relaxed, gpu, %x, %c0, %c1 : (!tt.ptr<i32>, i32, i32) -> i32\n"
               "    %b = tt.atomic_cas relaxed, gpu, %x, %c0, %c1 : (!tt.ptr<i32>, i32, i32) -> i32\n"
               "    %c = tt.load %x : !tt.ptr<i32>\n"
               "    %d = tt.atomic_poll relaxed, gpu, %x, %c1 : !tt.ptr<i32>, i32 -> i1\n" STORE("%x", "%c0")),
        1);
    const char *problem = NULL;
    havoc_choice->grid = grid_create(&havoc_choice->arena, havoc_choice->memory, havoc_choice->launches, 1, &problem);
    Text text = {0};
    assert_int_equal(grid_run(havoc_choice->grid, &(GridOptions){.observe = report_stored, .observer = &text}),
                     RUN_COMPLETE);
    text_char(&text, 0);
    assert_string_equal(text.data, "wrrrw");
    text_free(&text);
    end_havoc_choice(havoc_choice);
}

/* The CTAs of a cluster that share a program make one atomic together. */
static void cluster_atomic(void **state) {
    (void)state;
    HavocChoice *havoc_choice = one_launch(
        MODULE("2",
               FUNCTION("kernel", "%x: !tt.ptr<i32>, %y: !tt.ptr<i32>",
                        ADD("%was", "%x", "%c1", "relaxed") "    %at = tt.addptr %y, %was : !tt.ptr<i32>, i32\n" ADD(
                            "%more", "%at", "%c1", "relaxed"))),
        6);
    for (unsigned i = 0; i < SCHEDULES; i++) {
        assert_int_equal(run_grid(havoc_choice, schedules[i]), RUN_COMPLETE);
        assert_int_equal(havoc_choice->begun, 12);
        assert_int_equal(value_at(havoc_choice, 0, 0), 6);
        for (int64_t k = 0; k < 6; k++)
            assert_int_equal(value_at(havoc_choice, 1, k), 1);
    }
    end_havoc_choice(havoc_choice);
}

/* One partition waits for a flag, the other sets it. */
static void partitions(void **state) {
    (void)state;
    HavocChoice *havoc_choice = one_launch(
        KERNEL(
            "%flag: !tt.ptr<i32>",
            "    ttg.warp_specialize(%flag)\n    default {\n" SPIN(
                VOLATILE("%flag"), "i32", "eq",
                "%c0") "      ttg.warp_yield\n    }\n    partition0(%f: !tt.ptr<i32>) num_warps(1) {\n"
                       "      %one = arith.constant 1 : i32\n      %yes = arith.constant true\n"
                       "      %w = tt.atomic_rmw add, release, gpu, %f, %one, %yes : (!tt.ptr<i32>, i32, i1) -> i32\n"
                       "      ttg.warp_return\n    } : (!tt.ptr<i32>) -> ()\n"),
        3);
    for (unsigned i = 0; i < SCHEDULES; i++)
        assert_int_equal(run_grid(havoc_choice, schedules[i]), RUN_COMPLETE);
    end_havoc_choice(havoc_choice);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensor_atomics), cmocka_unit_test(operations),     cmocka_unit_test(elements),
        cmocka_unit_test(stored),         cmocka_unit_test(cluster_atomic), cmocka_unit_test(partitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
