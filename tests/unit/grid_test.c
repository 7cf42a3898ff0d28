/* machine/tile/grid/grid: many CTAs on one global memory: locks, barriers, counters, flags, launches, hangs, and
 * repeating. */
#include "havoc_choice.h"
#include "share.h"

#include <time.h>

/* ---- Locks, barriers, counters -------------------------------------------------------------------- */

#define LOCKED(release)                                                                                           \
    SPIN("      %found = tt.atomic_cas acquire, gpu, %lock, %c0, %c1 : (!tt.ptr<i32>, i32, i32) -> i32\n", "i32", \
         "ne", "%c0")                                                                                             \
    "    %old = tt.load %count : !tt.ptr<i32>\n"                                                                  \
    "    %new = arith.addi %old, %c1 : i32\n" STORE("%count", "%new") release

static const char lock[] =
    KERNEL("%lock: !tt.ptr<i32>, %count: !tt.ptr<i32>",
           LOCKED("    %was = tt.atomic_rmw exch, release, gpu, %lock, %c0, %true : (!tt.ptr<i32>, i32, i1) -> i32\n"));

static void spin_lock(void **state) {
    (void)state;
    HavocChoice *havoc_choice = one_launch(lock, 64);
    for (unsigned i = 0; i < SCHEDULES; i++) {
        assert_int_equal(run_grid(havoc_choice, schedules[i]), RUN_COMPLETE);
        assert_int_equal(value_at(havoc_choice, 1, 0), 64);
        assert_int_equal(havoc_choice->begun, 64);
        assert_int_equal(havoc_choice->ended, 64);
        assert_true(grid_stats(havoc_choice->grid).communicates);
        assert_int_equal(grid_stats(havoc_choice->grid).clusters, 64);
    }
    end_havoc_choice(havoc_choice);
}

/* Nothing gives the lock back. */
static void lost_lock(void **state) {
    (void)state;
    HavocChoice *havoc_choice = one_launch(KERNEL("%lock: !tt.ptr<i32>, %count: !tt.ptr<i32>", LOCKED("")), 8);
    for (unsigned i = 0; i < SCHEDULES; i++) {
        assert_int_equal(run_grid(havoc_choice, schedules[i]), RUN_STUCK);
        assert_int_equal(value_at(havoc_choice, 1, 0), 1);
        Sleeper sleepers[8];
        assert_int_equal(grid_sleepers(havoc_choice->grid, sleepers, 8), 7);
        assert_str_equal(sleepers[0].op->name, "tt.atomic_cas");
        assert_int_equal(sleepers[0].address, global_address(0));
        assert_int_equal(sleepers[0].value.bits, 1);
        assert_int_equal(grid_never_begun(havoc_choice->grid), 0);
    }
    end_havoc_choice(havoc_choice);
}

#define GRID_BARRIER(load)                                                                      \
    PROGRAM_ID "    %n = tt.get_num_programs x : i32\n"                                         \
               "    %mine = tt.addptr %data, %pid : !tt.ptr<i32>, i32\n" STORE("%mine", "%pid") \
                   ADD("%was", "%bar", "%c1", "acq_rel")                                        \
                       SPIN(load, "i32", "slt",                                                 \
                            "%n") "    %last = arith.subi %n, %c1 : i32\n"                      \
                                  "    %other = arith.subi %last, %pid : i32\n"                 \
                                  "    %theirs = tt.addptr %data, %other : !tt.ptr<i32>, i32\n" \
                                  "    %value = tt.load %theirs : !tt.ptr<i32>\n"               \
                                  "    %to = tt.addptr %out, %pid : !tt.ptr<i32>, i32\n" STORE("%to", "%value")
#define BARRIER_ARGUMENTS "%bar: !tt.ptr<i32>, %data: !tt.ptr<i32>, %out: !tt.ptr<i32>"

static const char barrier_of_atomics[] = KERNEL(BARRIER_ARGUMENTS, GRID_BARRIER(ACQUIRE("%bar")));
static const char barrier_of_loads[] = KERNEL(BARRIER_ARGUMENTS, GRID_BARRIER(VOLATILE("%bar")));

static void assert_barrier(HavocChoice *havoc_choice, int64_t programs) {
    for (unsigned i = 0; i < SCHEDULES; i++) {
        assert_int_equal(run_grid(havoc_choice, schedules[i]), RUN_COMPLETE);
        assert_int_equal(value_at(havoc_choice, 0, 0), programs);
        for (int64_t k = 0; k < programs; k++)
            assert_int_equal(value_at(havoc_choice, 2, k), programs - 1 - k);
    }
}

static void grid_barrier(void **state) {
    (void)state;
    const int64_t many = share_of(1000);
    HavocChoice *havoc_choice = one_launch(barrier_of_atomics, 100);
    assert_barrier(havoc_choice, 100);
    end_havoc_choice(havoc_choice);
    havoc_choice = one_launch(barrier_of_loads, many);
    assert_barrier(havoc_choice, many);
    assert_int_equal(grid_stats(havoc_choice->grid).most_live, many);
    end_havoc_choice(havoc_choice);
}

/* One that cannot be met: some of its CTAs wait for room. */
static void barrier_without_room(void **state) {
    (void)state;
    HavocChoice *havoc_choice = one_launch(barrier_of_loads, 10);
    for (unsigned i = 0; i < SCHEDULES; i++) {
        GridOptions options = schedules[i];
        options.resident = 8;
        assert_int_equal(run_grid(havoc_choice, options), RUN_STUCK);
        assert_int_equal(grid_never_begun(havoc_choice->grid), 2);
        Sleeper sleeper;
        assert_int_equal(grid_sleepers(havoc_choice->grid, &sleeper, 1), 8);
        assert_str_equal(sleeper.op->name, "tt.load");
        assert_int_equal(sleeper.value.bits, 8);
        options.resident = 10;
        assert_int_equal(run_grid(havoc_choice, options), RUN_COMPLETE);
    }
    end_havoc_choice(havoc_choice);
}

/* Tiles are handed out by a counter until there are none left; each is counted. */
static const char counter[] =
    KERNEL("%next: !tt.ptr<i32>, %done: !tt.ptr<i32>",
           ADD("%first", "%next", "%c1",
               "relaxed") "    %last = scf.while (%tile = %first) : (i32) -> i32 {\n"
                          "      %more = arith.cmpi slt, %tile, %c64 : i32\n      scf.condition(%more) %tile : i32\n   "
                          " } do {\n"
                          "    ^bb0(%tile: i32):\n      %at = tt.addptr %done, %tile : !tt.ptr<i32>, i32\n"
                          "      %old = tt.load %at : !tt.ptr<i32>\n      %new = arith.addi %old, %c1 : i32\n"
                          "      tt.store %at, %new : !tt.ptr<i32>\n" ADD(
                              "%then", "%next", "%c1", "relaxed") "      scf.yield %then : i32\n    }\n");

static void work_counter(void **state) {
    (void)state;
    HavocChoice *havoc_choice = one_launch(counter, 7);
    for (unsigned i = 0; i < SCHEDULES; i++) {
        assert_int_equal(run_grid(havoc_choice, schedules[i]), RUN_COMPLETE);
        assert_int_equal(value_at(havoc_choice, 0, 0), 64 + 7);
        for (int64_t k = 0; k < 64; k++)
            assert_int_equal(value_at(havoc_choice, 1, k), 1);
    }
    end_havoc_choice(havoc_choice);
}

/* ---- Several launches ----------------------------------------------------------------------------- */

#define FLAGS "%flag: !tt.ptr<i32>, %data: !tt.ptr<i32>, %out: !tt.ptr<i32>"
#define PRODUCER                                                                                    \
    FUNCTION("producer", FLAGS,                                                                     \
             PROGRAM_ID "    %at = tt.addptr %data, %pid : !tt.ptr<i32>, i32\n" STORE("%at", "%c7") \
                 ADD("%was", "%flag", "%c1", "release"))
#define CONSUMER(wait)                                                               \
    FUNCTION("consumer", FLAGS,                                                      \
             PROGRAM_ID wait "    %at = tt.addptr %data, %pid : !tt.ptr<i32>, i32\n" \
                             "    %value = tt.load %at : !tt.ptr<i32>\n"             \
                             "    %to = tt.addptr %out, %pid : !tt.ptr<i32>, i32\n" STORE("%to", "%value"))

static void flags_between_streams(void **state) {
    (void)state;
    HavocChoice *havoc_choice =
        havoc_choice_of(MODULE("1", CONSUMER(SPIN(ACQUIRE("%flag"), "i32", "slt", "%c2")) PRODUCER));
    add_launch(havoc_choice, 0, 2);
    add_launch(havoc_choice, 1, 2);
    for (unsigned i = 0; i < SCHEDULES; i++) {
        assert_int_equal(run_grid(havoc_choice, schedules[i]), RUN_COMPLETE);
        assert_int_equal(value_at(havoc_choice, 2, 0), 7);
        assert_int_equal(value_at(havoc_choice, 2, 1), 7);
    }
    /* There is room for the consumers alone. */
    assert_int_equal(run_grid(havoc_choice, (GridOptions){.kind = GRID_FORWARD, .resident = 2}), RUN_STUCK);
    assert_int_equal(grid_never_begun(havoc_choice->grid), 2);
    end_havoc_choice(havoc_choice);
}

static void one_after_the_other(void **state) {
    (void)state;
    static const uint32_t first[] = {0};
    HavocChoice *havoc_choice = havoc_choice_of(MODULE("1", PRODUCER CONSUMER("")));
    add_launch(havoc_choice, 0, 3);
    GridLaunch *second = add_launch(havoc_choice, 1, 3);
    second->after = first;
    second->after_count = 1;
    for (unsigned i = 0; i < SCHEDULES; i++) {
        assert_int_equal(run_grid(havoc_choice, schedules[i]), RUN_COMPLETE);
        for (int64_t k = 0; k < 3; k++)
            assert_int_equal(value_at(havoc_choice, 2, k), 7);
    }
    end_havoc_choice(havoc_choice);
}

static void waits_for_launches(void **state) {
    (void)state;
    static const uint32_t first[] = {0};
    HavocChoice *havoc_choice = havoc_choice_of(MODULE("1", PRODUCER CONSUMER("    tt.grid_dependency_wait\n")));
    add_launch(havoc_choice, 0, 3);
    GridLaunch *second = add_launch(havoc_choice, 1, 3);
    second->awaited = first;
    second->awaited_count = 1;
    for (unsigned i = 0; i < SCHEDULES; i++) {
        assert_int_equal(run_grid(havoc_choice, schedules[i]), RUN_COMPLETE);
        for (int64_t k = 0; k < 3; k++)
            assert_int_equal(value_at(havoc_choice, 2, k), 7);
    }
    end_havoc_choice(havoc_choice);
}

static void wrong_launches(void **state) {
    (void)state;
    static const uint32_t itself[] = {0};
    const char *problem = NULL;
    HavocChoice *havoc_choice = one_launch(lock, 1);
    havoc_choice->launches[0].after = itself;
    havoc_choice->launches[0].after_count = 1;
    assert_null(grid_create(&havoc_choice->arena, havoc_choice->memory, havoc_choice->launches, 1, &problem));
    assert_non_null(problem);
    havoc_choice->launches[0].after_count = 0;
    havoc_choice->how[0].grid[0] = INT64_C(1) << 40;
    problem = NULL;
    assert_null(grid_create(&havoc_choice->arena, havoc_choice->memory, havoc_choice->launches, 1, &problem));
    assert_non_null(problem);
    havoc_choice->how[0].grid[0] = 1;
    assert_int_equal(run_grid(havoc_choice, (GridOptions){0}), RUN_COMPLETE);
    end_havoc_choice(havoc_choice);
}

/* ---- Hangs ---------------------------------------------------------------------------------------- */

static void flag_never_set(void **state) {
    (void)state;
    HavocChoice *havoc_choice =
        one_launch(KERNEL("%flag: !tt.ptr<i32>", SPIN(VOLATILE("%flag"), "i32", "eq", "%c0")), 3);
    assert_int_equal(run_grid(havoc_choice, (GridOptions){.kind = GRID_FORWARD}), RUN_STUCK);
    Sleeper sleepers[3];
    assert_int_equal(grid_sleepers(havoc_choice->grid, sleepers, 3), 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(sleepers[i].cta, i);
        assert_int_equal(sleepers[i].address, global_address(0));
        assert_int_equal(sleepers[i].value.bits, 0);
        assert_str_equal(sleepers[i].op->name, "tt.load");
    }
    assert_true(grid_stats(havoc_choice->grid).instructions < 100);
    end_havoc_choice(havoc_choice);
}

/* A plain load that control depends on is looked at again, too. */
static void plain_flag(void **state) {
    (void)state;
    HavocChoice *havoc_choice =
        one_launch(KERNEL("%flag: !tt.ptr<i32>",
                          PROGRAM_ID "    %first = arith.cmpi eq, %pid, %c0 : i32\n    scf.if %first {\n" SPIN(
                              "      %found = tt.load %flag : !tt.ptr<i32>\n", "i32", "eq",
                              "%c0") "    } else {\n" STORE("%flag", "%c1") "    }\n"),
                   2);
    for (unsigned i = 0; i < SCHEDULES; i++)
        assert_int_equal(run_grid(havoc_choice, schedules[i]), RUN_COMPLETE);
    end_havoc_choice(havoc_choice);
}

/* A loop that counts never looks the same; it ends by the budget, and others have turns all the same. */
static void counting_spin(void **state) {
    (void)state;
    static const char text[] = KERNEL(
        "%flag: !tt.ptr<i32>, %out: !tt.ptr<i64>", PROGRAM_ID
        "    %zero = arith.constant 0 : i64\n    %one = arith.constant 1 : i64\n"
        "    %first = arith.cmpi eq, %pid, %c0 : i32\n    scf.if %first {\n"
        "    %n = scf.while (%i = %zero) : (i64) -> i64 {\n" VOLATILE(
            "%flag") "      %again = arith.cmpi eq, %found, %c0 : i32\n      scf.condition(%again) %i : i64\n    } do "
                     "{\n"
                     "    ^bb0(%i: i64):\n      %j = arith.addi %i, %one : i64\n      scf.yield %j : i64\n    }\n"
                     "    tt.store %out, %n : !tt.ptr<i64>\n    } else {\n" ADD("%was", "%flag", "%c1",
                                                                                "release") "    }\n");
    HavocChoice *havoc_choice = one_launch(text, 2);
    for (unsigned i = 0; i < SCHEDULES; i++)
        assert_int_equal(run_grid(havoc_choice, schedules[i]), RUN_COMPLETE);
    assert_int_equal(run_grid(havoc_choice, (GridOptions){.kind = GRID_FORWARD, .resident = 1, .budget = 100000}),
                     RUN_BUDGET);
    end_havoc_choice(havoc_choice);
}

static const char poll[] =
    KERNEL("%flag: !tt.ptr<i32>, %out: !tt.ptr<i32>",
           "    %time = arith.constant 1000 : i64\n" PROGRAM_ID
           "    %first = arith.cmpi eq, %pid, %c0 : i32\n    scf.if %first {\n"
           "      %ok = tt.atomic_poll acquire, gpu, %flag, %c2 timeout %time : !tt.ptr<i32>, i32 -> i1\n"
           "      %number = arith.extui %ok : i1 to i32\n"
           "      %more = arith.addi %number, %c1 : i32\n" STORE("%out", "%more") "    } else {\n" ADD(
               "%was", "%flag", "%c1", "release") "    }\n");

static void polls(void **state) {
    (void)state;
    HavocChoice *havoc_choice = one_launch(poll, 3);
    for (unsigned i = 0; i < SCHEDULES; i++) {
        assert_int_equal(run_grid(havoc_choice, schedules[i]), RUN_COMPLETE);
        assert_int_equal(value_at(havoc_choice, 1, 0), 2);
    }
    end_havoc_choice(havoc_choice);
    /* It never comes: time runs out. */
    havoc_choice = one_launch(poll, 2);
    for (unsigned i = 0; i < SCHEDULES; i++) {
        assert_int_equal(run_grid(havoc_choice, schedules[i]), RUN_COMPLETE);
        assert_int_equal(value_at(havoc_choice, 1, 0), 1);
    }
    end_havoc_choice(havoc_choice);
    /* Without a timeout that is a hang. */
    havoc_choice = one_launch(KERNEL("%flag: !tt.ptr<i32>", "    %ok = tt.atomic_poll acquire, gpu, %flag, %c2 : "
                                                            "!tt.ptr<i32>, i32 -> i1\n"),
                              2);
    assert_int_equal(run_grid(havoc_choice, (GridOptions){0}), RUN_STUCK);
    Sleeper sleeper;
    assert_int_equal(grid_sleepers(havoc_choice->grid, &sleeper, 1), 2);
    assert_int_equal(sleeper.address, global_address(0));
    end_havoc_choice(havoc_choice);
}

/* ---- Repeating ------------------------------------------------------------------------------------ */

static void repeats(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t programs;
    } kernels[] = {{lock, 16}, {barrier_of_loads, 20}, {counter, 5}, {poll, 2}, {poll, 3}};
    for (unsigned i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        HavocChoice *havoc_choice = one_launch(kernels[i].text, kernels[i].programs);
        for (unsigned k = 0; k < SCHEDULES; k++) {
            Turns turns = {.arena = &havoc_choice->arena}, again = {.arena = &havoc_choice->arena};
            GridOptions options = schedules[k];
            options.record = &turns;
            assert_int_equal(run_grid(havoc_choice, options), RUN_COMPLETE);
            GridStats first = grid_stats(havoc_choice->grid);
            uint64_t events = havoc_choice->events;
            options = (GridOptions){.kind = GRID_REPLAY, .replay = &turns, .record = &again};
            assert_int_equal(run_grid(havoc_choice, options), RUN_COMPLETE);
            GridStats second = grid_stats(havoc_choice->grid);
            assert_int_equal(havoc_choice->events, events);
            assert_int_equal(first.turns, second.turns);
            assert_int_equal(first.instructions, second.instructions);
            assert_int_equal(turns.count, again.count);
            assert_memory_equal(turns.turns, again.turns, turns.count * sizeof *turns.turns);
            turns.count--;
            assert_int_equal(run_grid(havoc_choice, options), RUN_DIVERGED);
        }
        end_havoc_choice(havoc_choice);
    }
}

static void repeats_a_hang(void **state) {
    (void)state;
    HavocChoice *havoc_choice = one_launch(KERNEL("%lock: !tt.ptr<i32>, %count: !tt.ptr<i32>", LOCKED("")), 8);
    for (unsigned k = 0; k < SCHEDULES; k++) {
        Turns turns = {.arena = &havoc_choice->arena};
        GridOptions options = schedules[k];
        options.record = &turns;
        assert_int_equal(run_grid(havoc_choice, options), RUN_STUCK);
        assert_int_equal(run_grid(havoc_choice, (GridOptions){.kind = GRID_REPLAY, .replay = &turns}), RUN_STUCK);
        assert_int_equal(grid_sleepers(havoc_choice->grid, NULL, 0), 7);
    }
    end_havoc_choice(havoc_choice);
}

/* One cluster alone, with what its loads gave: it does its own tiles, in a program that has less of the kernel, too. */
static void given_loads(void **state) {
    (void)state;
    HavocChoice *havoc_choice = one_launch(counter, 3);
    assert_int_equal(run_grid(havoc_choice, (GridOptions){.kind = GRID_ROUND_ROBIN, .keep_loads = true}), RUN_COMPLETE);
    Verdict verdict = {.arena = &havoc_choice->arena};
    const Program *programs[] = {
        havoc_choice->launches[0].program,
        program_compile(&havoc_choice->reading->module, find_op(havoc_choice->reading, "tt.func", 0), 0, &verdict)};
    for (unsigned i = 0; i < 2; i++) {
        const char *problem = NULL;
        Machine *machine = machine_create(&havoc_choice->arena, programs[i], &problem);
        machine->budget = 10000;
        machine_launch(machine, &havoc_choice->how[0]);
        uint64_t alone = 0, together = 0;
        for (uint64_t cluster = 0; cluster < 3; cluster++) {
            machine_give_loads(machine, NULL);
            assert_int_equal(schedule_run(machine, cluster, &(Schedule){.kind = SCHEDULE_EAGER}), RUN_COMPLETE);
            alone += machine->used;
            machine_give_loads(machine, grid_loads(havoc_choice->grid, 0, cluster));
            assert_int_equal(schedule_run(machine, cluster, &(Schedule){.kind = SCHEDULE_EAGER}), RUN_COMPLETE);
            together += machine->used;
        }
        assert_true(together > 64 && 2 * together < alone);
    }
    assert_null(grid_loads(havoc_choice->grid, 0, 3));
    end_havoc_choice(havoc_choice);
}

/* ---- Size ----------------------------------------------------------------------------------------- */

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static const char elementwise[] =
    KERNEL("%x: !tt.ptr<f32>, %to: !tt.ptr<i32>",
           PROGRAM_ID "    %size = arith.constant 1024 : i32\n    %start = arith.muli %pid, %size : i32\n"
                      "    %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>\n"
                      "    %s = tt.splat %start : i32 -> tensor<1024xi32, #blocked>\n"
                      "    %at = arith.addi %s, %r : tensor<1024xi32, #blocked>\n"
                      "    %b = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>\n"
                      "    %p = tt.addptr %b, %at : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>\n"
                      "    %v = tt.load %p : tensor<1024x!tt.ptr<f32>, #blocked>\n"
                      "    %w = arith.addf %v, %v : tensor<1024xf32, #blocked>\n"
                      "    tt.store %p, %w : tensor<1024x!tt.ptr<f32>, #blocked>\n");

static void many_programs(void **state) {
    (void)state;
    HavocChoice *havoc_choice = one_launch(elementwise, 4096);
    for (unsigned i = 0; i < SCHEDULES; i++) {
        double before = seconds();
        assert_int_equal(run_grid(havoc_choice, schedules[i]), RUN_COMPLETE);
        if (getenv("VERBOSE"))
            print_message("%u: %.3f s\n", i, seconds() - before);
        assert_int_equal(havoc_choice->ended, 4096);
        assert_int_equal(grid_stats(havoc_choice->grid).most_live, 1);
        assert_false(grid_stats(havoc_choice->grid).communicates);
    }
    end_havoc_choice(havoc_choice);
}

/* A kernel that runs long throws away the tensors that it no longer needs. */
static void long_run(void **state) {
    (void)state;
    HavocChoice *havoc_choice =
        one_launch(KERNEL("%to: !tt.ptr<i32>",
                          TENSOR("    %n = arith.constant 100000 : i32\n"
                                 "    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %ones) -> (tensor<128xi32, "
                                 "#blocked>)  : i32 {\n"
                                 "      %t = arith.addi %s, %r : tensor<128xi32, #blocked>\n"
                                 "      scf.yield %t : tensor<128xi32, #blocked>\n    }\n"
                                 "    tt.store %p, %sum : tensor<128x!tt.ptr<i32>, #blocked>\n")),
                   1);
    assert_int_equal(run_grid(havoc_choice, (GridOptions){.memory = (size_t)8 << 20}), RUN_COMPLETE);
    assert_int_equal(value_at(havoc_choice, 0, 0), 1);
    assert_int_equal(value_at(havoc_choice, 0, 127), 1 + 127 * 100000);
    assert_int_equal(run_grid(havoc_choice, (GridOptions){.budget = 1000}), RUN_BUDGET);
    uint32_t launch = 7;
    uint64_t cluster = 7;
    assert_non_null(grid_ended_by(havoc_choice->grid, &launch, &cluster));
    assert_int_equal(launch, 0);
    assert_int_equal(cluster, 0);
    end_havoc_choice(havoc_choice);
}

/* The same for descriptors; each is used, and the first one to the end. */
static void many_descriptors(void **state) {
    (void)state;
    HavocChoice *havoc_choice = one_launch(
        KERNEL("%to: !tt.ptr<i32>, %other: !tt.ptr<i32>",
               "    %n = arith.constant 6000 : i32\n    %size = arith.constant 64 : i32\n"
               "    %stride = arith.constant 1 : i64\n    %ones = arith.constant dense<1> : tensor<64xi32, #blocked>\n"
               "    %first = tt.make_tensor_descriptor %other, [%size], [%stride] : !tt.ptr<i32>, "
               "!tt.tensordesc<tensor<64xi32, #flat>>\n"
               "    scf.for %i = %c0 to %n step %c1  : i32 {\n"
               "      %p = tt.addptr %to, %i : !tt.ptr<i32>, i32\n"
               "      %d = tt.make_tensor_descriptor %p, [%size], [%stride] : !tt.ptr<i32>, "
               "!tt.tensordesc<tensor<64xi32, #flat>>\n"
               "      tt.descriptor_store %d[%c0], %ones : !tt.tensordesc<tensor<64xi32, #flat>>, tensor<64xi32, "
               "#blocked>\n    }\n"
               "    tt.descriptor_store %first[%c0], %ones : !tt.tensordesc<tensor<64xi32, #flat>>, tensor<64xi32, "
               "#blocked>\n"),
        1);
    assert_int_equal(run_grid(havoc_choice, (GridOptions){.memory = (size_t)4 << 20}), RUN_COMPLETE);
    assert_int_equal(global_read(havoc_choice->memory, global_address(0), 32).kind, WORD_UNKNOWN);
    assert_int_equal(global_read(havoc_choice->memory, global_address(0) + 4 * (5999 + 63), 32).kind, WORD_UNKNOWN);
    assert_int_equal(value_at(havoc_choice, 0, 5999 + 64), 0);
    assert_int_equal(global_read(havoc_choice->memory, global_address(1) + 4 * 63, 32).kind, WORD_UNKNOWN);
    assert_int_equal(value_at(havoc_choice, 1, 64), 0);
    end_havoc_choice(havoc_choice);
}

/* With less memory than its CTAs need at once, a run ends; the next one has more. */
static void out_of_memory(void **state) {
    (void)state;
    HavocChoice *havoc_choice = one_launch(barrier_of_loads, 500);
    for (unsigned i = 0; i < SCHEDULES; i++)
        for (size_t memory = (size_t)1 << 14; memory < (size_t)1 << 23; memory += memory / 3) {
            GridOptions options = schedules[i];
            options.memory = memory;
            options.keep_loads = true;
            RunEnd end = run_grid(havoc_choice, options);
            assert_true(end == RUN_BUDGET || (end == RUN_COMPLETE && memory > 500 * 1000));
        }
    assert_int_equal(run_grid(havoc_choice, (GridOptions){0}), RUN_COMPLETE);
    end_havoc_choice(havoc_choice);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spin_lock),
        cmocka_unit_test(lost_lock),
        cmocka_unit_test(grid_barrier),
        cmocka_unit_test(barrier_without_room),
        cmocka_unit_test(work_counter),
        cmocka_unit_test(flags_between_streams),
        cmocka_unit_test(one_after_the_other),
        cmocka_unit_test(waits_for_launches),
        cmocka_unit_test(wrong_launches),
        cmocka_unit_test(flag_never_set),
        cmocka_unit_test(plain_flag),
        cmocka_unit_test(counting_spin),
        cmocka_unit_test(polls),
        cmocka_unit_test(repeats),
        cmocka_unit_test(repeats_a_hang),
        cmocka_unit_test(given_loads),
        cmocka_unit_test(many_programs),
        cmocka_unit_test(long_run),
        cmocka_unit_test(many_descriptors),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
