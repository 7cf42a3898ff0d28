/* machine/tile/schedule/schedule: who makes the next step, and that the same schedule makes the same steps. */
#include "running.h"

/* ---- A run as text: "0 0 f1 0" ---------------------------------------------------------------------- */

static char *steps_of(Running *running, Schedule schedule, RunEnd expected) {
    Trail trail = {.arena = &running->reading->module.arena};
    schedule.record = &trail;
    assert_int_equal(run_schedule(running, schedule), expected);
    Text text = {0};
    for (size_t i = 0; i < trail.count; i++)
        text_addf(&text, "%s%s%u", i ? " " : "", trail.steps[i] & TRAIL_OUTSTANDING ? "f" : "",
                  trail.steps[i] & ~TRAIL_OUTSTANDING);
    text_char(&text, 0);
    return text.data;
}

static void assert_steps(const char *text, Schedule schedule, RunEnd end, const char *expected) {
    Running *running = compile_whole(text);
    for (int round = 0; round < 2; round++) { /* the same again */
        char *steps = steps_of(running, schedule, end);
        assert_string_equal(steps, expected);
        free(steps);
    }
    end_kernel(running);
}

/* A copy that is issued before it is expected, and a partition beside it. */
static const char copying[] =
    KERNEL("%desc: !desc", "    %tile = ttg.local_alloc : () -> !tile\n" SPECIALIZED(
                               INIT(a, 1) INIT(b, 1), COPY(a) EXPECT(a, 128) WAIT(a, 0), ARRIVE(b) WAIT(b, 0), ""));

static void eager_runs_each_agent_until_it_blocks_and_completes_at_once(void **state) {
    (void)state;
    assert_steps(copying, (Schedule){.kind = SCHEDULE_EAGER}, RUN_COMPLETE, "0 0 0 0 1 1 0");
    assert_true(schedule_is_immediate(&(Schedule){.kind = SCHEDULE_EAGER}));
}

static void lazy_completes_only_when_no_agent_can_go_on(void **state) {
    (void)state;
    assert_steps(copying, (Schedule){.kind = SCHEDULE_LAZY}, RUN_COMPLETE, "0 0 0 1 1 f1 0 0");
}

static void round_robin_gives_each_agent_and_one_completion_a_turn(void **state) {
    (void)state;
    assert_steps(copying, (Schedule){.kind = SCHEDULE_ROUND_ROBIN}, RUN_COMPLETE, "0 0 1 f1 0 1 0 0");
}

static void random_is_settled_by_its_seed(void **state) {
    (void)state;
    Running *running = compile_whole(copying);
    char *first = NULL;
    unsigned different = 0;
    for (uint64_t seed = 0; seed < 16; seed++) {
        Schedule schedule = {.kind = SCHEDULE_RANDOM, .seed = seed};
        char *steps = steps_of(running, schedule, RUN_COMPLETE), *again = steps_of(running, schedule, RUN_COMPLETE);
        assert_string_equal(steps, again);
        assert_int_equal(strlen(steps), strlen("0 0 0 1 1 f1 0 0")); /* as many steps in every order */
        different += first && strcmp(first, steps) != 0;
        free(again);
        if (first)
            free(steps);
        else
            first = steps;
    }
    assert_true(different > 4);
    free(first);
    end_kernel(running);
}

static void one_who_is_held_stands_still_while_any_other_can_move(void **state) {
    (void)state;
    static const char text[] = AGENTS(INIT(a, 1) INIT(b, 1), ARRIVE(a) ARRIVE(b), WAIT(a, 0) WAIT(b, 0));
    assert_steps(text, (Schedule){.kind = SCHEDULE_EAGER}, RUN_COMPLETE, "0 0 0 0 1 1 0");
    /* the default agent before its third effect, an arrive: the partition has the first wait behind it by then */
    assert_steps(text, (Schedule){.kind = SCHEDULE_DELAYED, .delays = {{.agent = 0, .tick = 3}}, .delay_count = 1},
                 RUN_COMPLETE, "0 0 0 1 0 1 0");
    assert_steps(text, (Schedule){.kind = SCHEDULE_DELAYED, .delays = {{.agent = 1, .tick = 1}}, .delay_count = 1},
                 RUN_COMPLETE, "0 0 0 0 1 1 0");
    assert_steps(text, (Schedule){.kind = SCHEDULE_DELAYED, .delays = {{.agent = 0, .tick = 0}}, .delay_count = 1},
                 RUN_COMPLETE, "0 0 0 0 1 1 0"); /* there was nothing else */
}

/* Of several, the last one is let go first. */
static void several_can_be_held(void **state) {
    (void)state;
    static const char text[] = AGENTS(INIT(a, 2), ARRIVE(a), ARRIVE(a));
    assert_steps(text, (Schedule){.kind = SCHEDULE_DELAYED, .delays = {{.agent = 0, .tick = 1}}, .delay_count = 1},
                 RUN_COMPLETE, "0 1 0 0");
    assert_steps(
        text, (Schedule){.kind = SCHEDULE_DELAYED, .delays = {{.agent = 0, .tick = 1}, {.agent = 1}}, .delay_count = 2},
        RUN_COMPLETE, "0 1 0 0");
    assert_steps(
        text, (Schedule){.kind = SCHEDULE_DELAYED, .delays = {{.agent = 1}, {.agent = 0, .tick = 1}}, .delay_count = 2},
        RUN_COMPLETE, "0 0 1 0");
}

static void holding_shows_who_can_be_lapped(void **state) {
    (void)state;
    static const char text[] = AGENTS(INIT(a, 1), ARRIVE(a) ARRIVE(a), WAIT(a, 0));
    Running *running = compile_whole(text);
    assert_int_equal(run_schedule(running, (Schedule){.kind = SCHEDULE_ROUND_ROBIN}), RUN_COMPLETE);
    assert_int_equal(
        run_schedule(running, (Schedule){.kind = SCHEDULE_DELAYED, .delays = {{.agent = 1}}, .delay_count = 1}),
        RUN_STUCK);
    end_kernel(running);
}

/* ---- How runs end ----------------------------------------------------------------------------------- */

static void every_schedule_says_how_it_ended(void **state) {
    (void)state;
    static const struct {
        const char *text;
        RunEnd end;
    } cases[] = {
        {AGENTS(INIT(a, 1), ARRIVE(a), WAIT(a, 0)), RUN_COMPLETE},
        {AGENTS(INIT(a, 1), WAIT(a, 0), WAIT(a, 0)), RUN_STUCK},
        {AGENTS(INIT(a, 1), ARRIVE_COUNT(a, 2), WAIT(a, 0)), RUN_FAULT},
        {ON_BARRIER("%n: i32", INIT(bar, 1) "    scf.for %i = %c0 to %n step %c1 : i32 {\n    }\n"), RUN_UNKNOWN},
        {KERNEL("", "    cf.br ^again\n  ^again:\n    cf.cond_br %true, ^again, ^end\n  ^end:\n"), RUN_BUDGET},
    };
    static const ScheduleKind kinds[] = {SCHEDULE_EAGER, SCHEDULE_LAZY, SCHEDULE_ROUND_ROBIN, SCHEDULE_RANDOM,
                                         SCHEDULE_DELAYED};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Running *running = compile_whole(cases[i].text);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            assert_int_equal(run_schedule(running, (Schedule){.kind = kinds[k]}), cases[i].end);
        end_kernel(running);
    }
}

/* ---- Replaying -------------------------------------------------------------------------------------- */

static Trail trail_of(Running *running, Schedule schedule, RunEnd end) {
    Trail trail = {.arena = &running->reading->module.arena};
    schedule.record = &trail;
    assert_int_equal(run_schedule(running, schedule), end);
    return trail;
}

static void a_replay_repeats_a_run(void **state) {
    (void)state;
    static const struct {
        const char *text;
        RunEnd end;
    } cases[] = {{copying, RUN_COMPLETE},
                 {AGENTS(INIT(a, 1), ARRIVE(a), WAIT(a, 0) WAIT(a, 1)), RUN_STUCK},
                 {AGENTS(INIT(a, 1), ARRIVE_COUNT(a, 2), WAIT(a, 0)), RUN_FAULT}};
    static const Schedule schedules[] = {{.kind = SCHEDULE_EAGER},
                                         {.kind = SCHEDULE_LAZY},
                                         {.kind = SCHEDULE_ROUND_ROBIN},
                                         {.kind = SCHEDULE_RANDOM, .seed = 7}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Running *running = compile_whole(cases[i].text);
        State *last = state_new(running->machine, &running->reading->module.arena);
        for (size_t k = 0; k < sizeof schedules / sizeof *schedules; k++) {
            Trail trail = trail_of(running, schedules[k], cases[i].end);
            state_save(running->machine, last);
            Schedule again = {
                .kind = SCHEDULE_REPLAY, .replay = &trail, .immediate = schedule_is_immediate(&schedules[k])};
            assert_int_equal(run_schedule(running, again), cases[i].end);
            assert_true(state_equal(running->machine, running->machine->state, last));
        }
        end_kernel(running);
    }
}

static void a_replay_that_is_not_possible_says_so(void **state) {
    (void)state;
    Running *running = compile_whole(copying);
    Trail trail = trail_of(running, (Schedule){.kind = SCHEDULE_LAZY}, RUN_COMPLETE);
    Schedule again = {.kind = SCHEDULE_REPLAY, .replay = &trail};
    assert_int_equal(trail.count, 8);

    trail.count = 7; /* someone can still go on */
    assert_int_equal(run_schedule(running, again), RUN_DIVERGED);
    trail.count = 5; /* something is still in flight */
    assert_int_equal(run_schedule(running, again), RUN_DIVERGED);
    trail.count = 8;

    static const struct {
        size_t at;
        uint32_t step;
    } wrong[] = {{0, 1},                     /* the partition is not running yet */
                 {0, 2},                     /* there is no such agent */
                 {5, 0},                     /* it is blocked */
                 {5, TRAIL_OUTSTANDING | 2}, /* was never issued */
                 {7, TRAIL_OUTSTANDING | 1}, /* is complete */
                 {7, 1}};                    /* has ended */
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint32_t right = trail.steps[wrong[i].at];
        trail.steps[wrong[i].at] = wrong[i].step;
        assert_int_equal(run_schedule(running, again), RUN_DIVERGED);
        trail.steps[wrong[i].at] = right;
    }
    assert_int_equal(run_schedule(running, again), RUN_COMPLETE);
    end_kernel(running);
}

static void a_run_goes_on_eagerly_from_where_it_is(void **state) {
    (void)state;
    Running *running = start_kernel(copying);
    take_steps(running, 0, 1);
    assert_int_equal(schedule_continue(running->machine), RUN_COMPLETE);
    end_kernel(running);
}

/* ---- Words ------------------------------------------------------------------------------------------ */

static void schedules_have_names(void **state) {
    (void)state;
    Running *running = start_kernel(copying);
    static const struct {
        Schedule schedule;
        const char *words;
    } cases[] = {
        {{.kind = SCHEDULE_EAGER}, "eager"},
        {{.kind = SCHEDULE_ROUND_ROBIN}, "round robin"},
        {{.kind = SCHEDULE_RANDOM, .seed = 3}, "random, seed 3"},
        {{.kind = SCHEDULE_DELAYED, .delays = {{.agent = 1}}, .delay_count = 1}, "one in which partition0 is slow"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text text = {0};
        schedule_describe(running->machine, &cases[i].schedule, &text);
        text_char(&text, 0);
        assert_string_equal(text.data, cases[i].words);
        text_free(&text);
    }
    end_kernel(running);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eager_runs_each_agent_until_it_blocks_and_completes_at_once),
        cmocka_unit_test(lazy_completes_only_when_no_agent_can_go_on),
        cmocka_unit_test(round_robin_gives_each_agent_and_one_completion_a_turn),
        cmocka_unit_test(random_is_settled_by_its_seed),
        cmocka_unit_test(one_who_is_held_stands_still_while_any_other_can_move),
        cmocka_unit_test(several_can_be_held),
        cmocka_unit_test(holding_shows_who_can_be_lapped),
        cmocka_unit_test(every_schedule_says_how_it_ended),
        cmocka_unit_test(a_replay_repeats_a_run),
        cmocka_unit_test(a_replay_that_is_not_possible_says_so),
        cmocka_unit_test(a_run_goes_on_eagerly_from_where_it_is),
        cmocka_unit_test(schedules_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
