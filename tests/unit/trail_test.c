/* check/tile/run/trail: witnesses as text: what is written, what is read, and what is said of what is no trail. */
#include "reading.h"

#include "check/tile/run/trail.h"

static const char kernel[] = "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"
                             "#smem = #ttg.shared_memory\n"
                             "!barrier = !ttg.memdesc<1xi64, #shared, #smem, mutable>\n"
                             "!tile = !ttg.memdesc<64xf16, #shared, #smem, mutable>\n"
                             "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32} {\n"
                             "  tt.func public @load(%desc: !tt.tensordesc<tensor<64xf16, #shared>>, %tiles: i32) {\n"
                             "    %c0 = arith.constant 0 : i32\n"
                             "    %true = arith.constant true\n"
                             "    %tile = ttg.local_alloc : () -> !tile\n"
                             "    %full = ttg.local_alloc : () -> !barrier\n"
                             "    ttng.init_barrier %full, 1 : !barrier\n"
                             "    ttng.barrier_expect %full, 128, %true : !barrier\n"
                             "    ttng.async_tma_copy_global_to_local %desc[%c0] %tile, %full, %true : "
                             "!tt.tensordesc<tensor<64xf16, #shared>>, !barrier -> !tile\n"
                             "    ttng.wait_barrier %full, %c0 : !barrier\n"
                             "    tt.return\n"
                             "  }\n"
                             "}\n";

static const char trail[] = "weir trail 1\n"
                            "kernel load\n"
                            "launch {\"kernel\": \"load\", \"grid\": [2, 1, 1], \"args\": {\"tiles\": 3}}\n"
                            "cluster 1\n"
                            "world 0\n"
                            "order issue\n"
                            "completion scheduled\n"
                            "agent 0 default ttng.init_barrier @11\n"
                            "agent 0 default ttng.barrier_expect @12\n"
                            "flight 1 default.tma ttng.async_tma_copy_global_to_local @13\n"
                            "agent 0 default ttng.wait_barrier @14\n";

typedef struct Fixture {
    Arena arena;
    Source *source;
    Diagnostics diagnostics;
    TrailFile file;
    bool good;
} Fixture;

static Fixture *read_trail(const char *text) {
    Fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    fixture->source = source_copy("k.trail", text, strlen(text));
    arena_init(&fixture->arena, (size_t)1 << 30);
    fixture->good = trail_read(&fixture->arena, fixture->source, &fixture->file, &fixture->diagnostics);
    return fixture;
}

static void end(Fixture *fixture) {
    diagnostics_free(&fixture->diagnostics);
    source_free(fixture->source);
    arena_free(&fixture->arena);
    free(fixture);
}

/* ---- Reading ------------------------------------------------------------------------------------ */

static void a_trail_is_read(void **state) {
    (void)state;
    Fixture *fixture = read_trail(trail);
    const TrailFile *file = &fixture->file;
    static const uint32_t steps[] = {0, 0, TRAIL_OUTSTANDING | 1, 0};
    assert_true(fixture->good);
    assert_true(str_is(file->kernel, "load"));
    assert_int_equal(file->launch.grid[0], 2);
    assert_int_equal(launch_find(&file->launch, STR("tiles"))->integer, 3);
    assert_int_equal(file->rerun.cluster, 1);
    assert_int_equal(file->rerun.havoc_choice, 0);
    assert_false(file->rerun.out_of_order);
    assert_ptr_equal(file->rerun.launch, &file->launch);
    assert_int_equal(file->rerun.schedule.kind, SCHEDULE_REPLAY);
    assert_ptr_equal(file->rerun.schedule.replay, &file->trail);
    assert_int_equal(file->trail.count, 4);
    assert_memory_equal(file->trail.steps, steps, sizeof steps);
    end(fixture);
}

/* What a person may do to one: reorder the head, leave out what is zero, part it with empty lines, cut off what is
 * written for people, use another system's ends of lines. */
static void spelling_is_free_where_it_can_be(void **state) {
    (void)state;
    Fixture *fixture = read_trail("weir trail 1\r\n"
                                  "order waits\r\n"
                                  "launch {}\r\n"
                                  "\r\n"
                                  "kernel a b\r\n"
                                  "world 3\r\n"
                                  "\r\n"
                                  "flight 7\r\n"
                                  "agent \t12");
    static const uint32_t steps[] = {TRAIL_OUTSTANDING | 7, 12};
    assert_true(fixture->good);
    assert_true(str_is(fixture->file.kernel, "a b"));
    assert_true(fixture->file.rerun.out_of_order);
    assert_int_equal(fixture->file.rerun.cluster, 0);
    assert_int_equal(fixture->file.rerun.havoc_choice, 3);
    assert_int_equal(fixture->file.trail.count, 2);
    assert_memory_equal(fixture->file.trail.steps, steps, sizeof steps);
    end(fixture);
}

#define HEAD "weir trail 1\nkernel k\nlaunch {}\n"
#define GRID "weir trail 2\nkernel k\nlaunch {}\n"

static void what_is_no_trail_is_told_at_its_place(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t line, column;
        const char *message;
    } cases[] = {
        {"", 1, 1, "this is not a trail: the first line must be 'weir trail 1'"},
        {"module {\n}\n", 1, 1, "this is not a trail: the first line must be 'weir trail 1'"},
        {"weir trail 3\n", 1, 12, "this is a trail of another version; Weir reads versions 1 and 2"},
        {HEAD "load 0 0 1\n", 4, 8, "expected a number from 1 to 4294967295"},
        {HEAD "load 0 2 -x\n", 4, 11, "expected a number from 0 to 9223372036854775808"},
        {"weir trail 1\n", 2, 1, "a trail needs a line 'kernel'"},
        {"weir trail 1\nkernel k\n", 3, 1, "a trail needs a line 'launch'"},
        {"weir trail 1\nkernel\n", 2, 7, "expected the kernel's name"},
        {"weir trail 1\nagent 0\n", 2, 1, "before the first step a trail needs a line 'kernel'"},
        {"weir trail 1\nkernel k\nagent 0\n", 3, 1, "before the first step a trail needs a line 'launch'"},
        {"weir trail 1\nkernel k\nkernel k\n", 3, 1, "'kernel' is given twice"},
        {"weir trail 1\nlaunch {\"grid\": [1, 0, 1]}\n", 2, 21, "'grid' must have integers from 1 to 2147483647"},
        {HEAD "cluster -1\n", 4, 9, "expected a number from 0 to 9223372036854775807"},
        {HEAD "cluster 1\n", 4, 9, "the launch has no cluster 1"},
        {HEAD "world 65536\n", 4, 7, "expected a number from 0 to 65535"},
        {HEAD "order random\n", 4, 7, "the order is 'issue' or 'waits'"},
        {HEAD "agent\n", 4, 6, "expected a number from 0 to 2147483647"},
        {HEAD "agent 2147483648\n", 4, 7, "expected a number from 0 to 2147483647"},
        {HEAD "agent 99999999999999999999\n", 4, 7, "expected a number from 0 to 2147483647"},
        {HEAD "flight 0\n", 4, 8, "expected a number from 1 to 2147483647"},
        {HEAD "agent 0\nworld 1\n", 5, 1, "'world' must come before the first step"},
        {HEAD "step 0\n", 4, 1,
         "a line of a trail starts with agent, flight, load, kernel, launch, cluster, world, order or completion"},
        {"weir trail 2\n", 2, 1, "a trail needs a kernel and its launch"},
        {"weir trail 2\nkernel k\n", 3, 1, "a trail needs a kernel and its launch"},
        {"weir trail 2\nlaunch {}\n", 2, 1, "a kernel must be followed by its launch"},
        {"weir trail 2\nkernel k\nkernel k\n", 3, 1, "a kernel must be followed by its launch"},
        {GRID "devices 0\n", 4, 9, "expected a number from 1 to 64"},
        {GRID "granule 0\n", 4, 9, "expected a number from 1 to 16"},
        {GRID "granule 8\n", 4, 9, "a granule has 1, 2, 4 or 16 bytes"},
        {GRID "granule 3\n", 4, 9, "a granule has 1, 2, 4 or 16 bytes"},
        {GRID "turns 0 0\n", 4, 10, "expected a number from 1 to 4294967295"},
        {GRID "agent 0\n", 4, 1,
         "a line of a grid's trail starts with turns, kernel, launch, devices, resident, granule or cancels"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Fixture *fixture = read_trail(cases[i].text);
        assert_false(fixture->good);
        assert_int_equal(fixture->diagnostics.count, 1);
        const Diagnostic *diagnostic = &fixture->diagnostics.items[0];
        assert_string_equal(diagnostic->message, cases[i].message);
        assert_int_equal(diagnostic->place.line, cases[i].line);
        assert_int_equal(diagnostic->place.column, cases[i].column);
        end(fixture);
    }
}

/* ---- Writing ------------------------------------------------------------------------------------ */

static void what_is_written_runs_again(void **state) {
    (void)state;
    Reading *reading = read_good(kernel);
    Module *module = &reading->module;
    Verdict verdict = {.arena = &module->arena};
    const char *problem = NULL;
    const Program *program = program_compile(module, find_op(reading, "tt.func", 0), 0, &verdict);
    assert_non_null(program);
    assert_int_equal(verdict.incomplete_count, 0);
    Machine *machine = machine_create(&module->arena, program, &problem);
    assert_non_null(machine);
    machine->budget = 1000;

    Fixture *fixture = read_trail(trail);
    Trail made = {.arena = &module->arena};
    Rerun rerun = {.launch = &fixture->file.launch, .cluster = 1, .schedule = {.kind = SCHEDULE_LAZY, .record = &made}};
    machine_launch(machine, rerun.launch);
    assert_int_equal(schedule_run(machine, 1, &rerun.schedule), RUN_COMPLETE);
    Text text = {0};
    trail_write(machine, &rerun, &made, &text);
    text_char(&text, 0);
    assert_string_equal(text.data, trail);
    assert_int_equal(machine->budget, 1000);
    assert_int_equal(schedule_run(machine, 1, &fixture->file.rerun.schedule), RUN_COMPLETE);

    /* Cut short it leaves an agent that can go on; with another step it asks for what is not possible. */
    fixture->file.trail.count--;
    assert_int_equal(schedule_run(machine, 1, &fixture->file.rerun.schedule), RUN_DIVERGED);
    fixture->file.trail.steps[2] = TRAIL_OUTSTANDING | 2;
    assert_int_equal(schedule_run(machine, 1, &fixture->file.rerun.schedule), RUN_DIVERGED);
    text_free(&text);
    end(fixture);
    done(reading);
}

static void too_long_a_trail_is_not_written(void **state) {
    (void)state;
    Trail huge = {.count = TRAIL_MOST_STEPS + 1};
    Text text = {0};
    trail_write(NULL, NULL, &huge, &text);
    assert_int_equal(text.size, 0);
}

/* ---- Of a whole grid ---------------------------------------------------------------------------- */

static void a_trail_of_a_grid_is_read_and_written(void **state) {
    (void)state;
    static const char grid[] = "weir trail 2\n"
                               "devices 2\n"
                               "resident 3\n"
                               "granule 4\n"
                               "kernel first\n"
                               "launch {\"kernel\": \"first\", \"grid\": [2, 1, 1], \"args\": {\"n\": 3}}\n"
                               "kernel second\n"
                               "launch {\"kernel\": \"second\", \"grid\": [1, 1, 1], \"args\": {}}\n"
                               "turns 0 1 17\n"
                               "turns 1 0 2\n";
    Fixture *fixture = read_trail(grid);
    const GridTrail *read = &fixture->file.grid;
    assert_true(fixture->good && fixture->file.whole);
    assert_int_equal(read->count, 2);
    assert_int_equal(read->devices, 2);
    assert_int_equal(read->resident, 3);
    assert_int_equal(read->granule, 4);
    assert_int_equal(read->turns.count, 2);
    assert_int_equal(read->turns.turns[0].cluster, 1);
    assert_int_equal(read->turns.turns[0].count, 17);
    Text text = {0};
    grid_trail_write(read, &text);
    text_char(&text, 0);
    assert_string_equal(text.data, grid);
    text_free(&text);
    end(fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trail_is_read),
        cmocka_unit_test(spelling_is_free_where_it_can_be),
        cmocka_unit_test(what_is_no_trail_is_told_at_its_place),
        cmocka_unit_test(what_is_written_runs_again),
        cmocka_unit_test(too_long_a_trail_is_not_written),
        cmocka_unit_test(a_trail_of_a_grid_is_read_and_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
