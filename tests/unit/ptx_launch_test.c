/* Launches of PTX: from a launch file's values to the bytes of parameters and memory; those that are chosen; trails. */
#include "ptx_running.h"

#include "check/simt/check.h"
#include "check/simt/trail.h"
#include "machine/simt/async/tensormap.h"
#include "machine/simt/core/scout.h"

static const char *const kernel =
    ".visible .entry k(.param .u64 p, .param .u32 n, .param .f32 x, .param .align 8 .b8 s[24],\n"
    "  .param .align 64 .b8 map[128])\n"
    "{\n"
    "  .reg .b64 %rd<4>;\n"
    "  .reg .b32 %r<4>;\n"
    "  ld.param.u64 %rd1, [p];\n"
    "  ld.param.u32 %r1, [n];\n"
    "  st.global.u32 [%rd1], %r1;\n"
    "  ret;\n"
    "}\n";

typedef struct Bound {
    PtxRunning running;
    Source *json;
    Diagnostics diagnostics;
    Launch given;
    PtxLaunch launch;
    const char *problem;
    bool good;
} Bound;

static void bind_to(Bound *bound, const char *text, const char *json) {
    ptx_running_read(&bound->running, "sm_90a", text);
    bound->diagnostics = (Diagnostics){0};
    bound->problem = NULL;
    bound->json = source_copy("k.launch.json", json, strlen(json));
    if (!launch_read(&bound->running.arena, bound->json, &bound->given, &bound->diagnostics))
        fail_msg("%s", bound->diagnostics.items[0].message);
    bound->good =
        ptx_launch_bind(&bound->running.arena, bound->running.program, &bound->given, &bound->launch, &bound->problem);
}

static void done(Bound *bound) {
    diagnostics_free(&bound->diagnostics);
    source_free(bound->json);
    ptx_running_end(&bound->running);
}

static uint64_t word(const PtxLaunch *launch, uint64_t at, size_t size) {
    uint64_t value = 0;
    memcpy(&value, launch->parameters + at, size);
    return value;
}

static uint64_t seat(const Bound *bound, uint32_t parameter) {
    const PtxModule *module = &bound->running.module;
    return bound->running.program->seats[module->functions[bound->running.program->entry].parameters + parameter].at;
}

/* ---- What fits ----------------------------------------------------------------------------------- */

static void arguments_by_number_and_by_name(void **state) {
    (void)state;
    static const char *const texts[] = {
        "{\"block\": [64, 1, 1], \"args\": [{\"tensor\": {\"shape\": [4], \"dtype\": \"i32\"}}, -1, 2, {\"bytes\": "
        "\"01 02 0300 00000000 0000000000000000 0000000000000000\"}]}",
        "{\"block\": [64, 1, 1], \"args\": {\"3\": {\"bytes\": "
        "\"010203000000000000000000000000000000000000000000\"}, \"x\": 2.0, \"n\": 4294967295, \"p\": "
        "{\"tensor\": {\"shape\": [4], \"dtype\": \"i32\"}}}}",
    };
    for (size_t i = 0; i < 2; i++) {
        Bound bound;
        bind_to(&bound, kernel, texts[i]);
        if (!bound.good)
            fail_msg("%s", bound.problem);
        assert_int_equal(bound.launch.block[0], 64);
        assert_int_equal(bound.launch.buffer_count, 1);
        assert_int_equal(bound.launch.buffers[0].bytes, 16);
        assert_string_equal(bound.launch.buffers[0].name, "argument 0");
        assert_int_equal(word(&bound.launch, seat(&bound, 0), 8), bound.launch.buffers[0].address);
        assert_int_equal(word(&bound.launch, seat(&bound, 1), 4), 0xffffffff);
        assert_int_equal(word(&bound.launch, seat(&bound, 2), 4), 0x40000000);
        assert_int_equal(word(&bound.launch, seat(&bound, 3), 2), 0x0201);
        assert_int_equal(bound.launch.known[seat(&bound, 3)], BYTE_KNOWN);
        assert_int_equal(bound.launch.known[seat(&bound, 3) + 23], BYTE_KNOWN);
        assert_int_equal(bound.launch.known[seat(&bound, 4)], BYTE_UNKNOWN);
        done(&bound);
    }
}

static void structs_have_pointers_and_maps(void **state) {
    (void)state;
    Bound bound;
    bind_to(
        &bound, kernel,
        "{\"block\": [1, 1, 1], \"args\": {\"s\": {\"bytes\": \"\", \"pointers\": {\"8\": {\"tensor\": {\"shape\": "
        "[2], "
        "\"dtype\": \"i64\", \"buffer\": \"b\", \"offset\": 1, \"data\": [7, 8, 9]}}, \"16\": 5}}, "
        "\"p\": {\"tensor\": {\"shape\": [3], \"dtype\": \"i64\", \"buffer\": \"b\"}}, "
        "\"map\": {\"descriptor\": {\"shape\": [8, 64], \"block\": [4, 32], \"dtype\": \"f16\", \"swizzle\": 64}}}}");
    if (!bound.good)
        fail_msg("%s", bound.problem);
    const PtxBuffer *buffer = &bound.launch.buffers[0];
    assert_string_equal(buffer->name, "b");
    assert_int_equal(buffer->bytes, 24);
    assert_int_equal(buffer->data_bytes, 24);
    assert_int_equal(word(&bound.launch, seat(&bound, 0), 8), buffer->address);
    assert_int_equal(word(&bound.launch, seat(&bound, 3) + 8, 8), buffer->address + 8);
    assert_int_equal(word(&bound.launch, seat(&bound, 3) + 16, 8), 5);
    assert_int_equal(bound.launch.known[seat(&bound, 3) + 7], BYTE_UNKNOWN);
    assert_int_equal(bound.launch.known[seat(&bound, 3) + 8], BYTE_KNOWN);
    TensorMap map;
    assert_true(tensormap_decode(bound.launch.parameters + seat(&bound, 4), &map));
    assert_int_equal(map.rank, 2);
    assert_int_equal(map.size[0], 64);
    assert_int_equal(map.size[1], 8);
    assert_int_equal(map.stride[1], 128);
    assert_int_equal(map.box[0], 32);
    assert_int_equal(map.box[1], 4);
    assert_int_equal(map.type, 6);
    assert_int_equal(map.swizzle, 2);
    done(&bound);
}

/* A tensor map whose address is the parameter, and an array of pointers. */
static void memory_has_pointers_and_maps(void **state) {
    (void)state;
    Bound bound;
    bind_to(
        &bound, ".visible .entry k(.param .u64 m, .param .u64 list)\n{\n  ret;\n}\n",
        "{\"block\": [1, 1, 1], \"args\": [{\"descriptor\": {\"shape\": [64], \"block\": [16], \"dtype\": \"i32\"}}, "
        "{\"tensor\": {\"shape\": [2], \"dtype\": \"i64\", \"pointers\": {\"0\": {\"tensor\": {\"shape\": [4], "
        "\"dtype\": "
        "\"i32\"}}, \"8\": 0}}}]}");
    if (!bound.good)
        fail_msg("%s", bound.problem);
    assert_int_equal(bound.launch.buffer_count, 4);
    TensorMap map;
    assert_int_equal(bound.launch.buffers[0].data_bytes, TENSORMAP_BYTES);
    assert_true(tensormap_decode(bound.launch.buffers[0].data, &map));
    assert_int_equal(map.address, bound.launch.buffers[1].address);
    uint64_t pointers[2];
    assert_int_equal(bound.launch.buffers[2].data_bytes, 16);
    memcpy(pointers, bound.launch.buffers[2].data, 16);
    assert_int_equal(pointers[0], bound.launch.buffers[3].address);
    assert_int_equal(pointers[1], 0);
    done(&bound);
}

/* ---- What does not ------------------------------------------------------------------------------- */

static void what_does_not_fit_is_said(void **state) {
    (void)state;
    static const struct {
        const char *text, *problem;
    } cases[] = {
        {"{\"args\": {\"q\": 1}}", "there is no parameter 'q'; there are 5, by name or from 0 on"},
        {"{\"args\": {\"n\": 1, \"1\": 2}}", "parameter 'n' is given twice"},
        {"{\"args\": {\"n\": 4294967296}}", "'n' has 32 bits, and 4294967296 does not fit"},
        {"{\"args\": {\"n\": 1.5}}", "'n' is an integer, .u32, and the launch gives 1.5"},
        {"{\"args\": {\"x\": 1e39}}", "'x': 1e+39 does not fit in 32 bits"},
        {"{\"args\": {\"n\": {\"tensor\": {\"shape\": [1], \"dtype\": \"i8\"}}}}",
         "'n' is a scalar, .u32, and the launch gives memory"},
        {"{\"args\": {\"p\": {\"tensor\": {\"shape\": [1]}}}}",
         "'p' needs a 'dtype': PTX does not say what pointers point to"},
        {"{\"args\": {\"s\": 3}}", "'s' has 24 bytes: the launch gives them as {\"bytes\": ...}"},
        {"{\"args\": {\"n\": {\"bytes\": \"0000000000\"}}}", "'n' has 4 bytes, and the launch gives 5"},
        {"{\"args\": {\"s\": {\"bytes\": \"0102\"}}}", "'s' has 24 bytes, and the launch gives 2"},
        {"{\"shared\": 232449}", "a CTA has at most 232448 bytes of shared memory, and the launch has 232449"},
        {"{\"args\": {\"s\": {\"bytes\": \"\", \"pointers\": {\"20\": 1}}}}", "'s': byte 27 is behind its end"},
        {"{\"args\": {\"map\": {\"descriptor\": {\"shape\": [4], \"dtype\": \"i32\"}}}}",
         "'map' is a tensor map: it needs a 'block'"},
        {"{\"block\": [1025, 1, 1]}", "a block has at most 1024 threads"},
        {"{\"grid\": [3, 1, 1], \"block\": [1, 1, 1], \"cluster\": [2, 1, 1]}",
         "the grid is not a whole number of clusters: 3 CTAs along x, 2 in a cluster"},
        {"{\"args\": {\"p\": {\"tensor\": {\"shape\": [2], \"dtype\": \"i64\", \"pointers\": {\"8\": 1}}}}}",
         "'p' has pointers: what is between them needs 'data', or 'zero'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Bound bound;
        bind_to(&bound, kernel, cases[i].text);
        assert_false(bound.good);
        assert_string_equal(bound.problem, cases[i].problem);
        done(&bound);
    }
}

static void headers_say_shapes(void **state) {
    (void)state;
    static const char *const text =
        ".visible .entry k()\n.reqntid 32, 2, 1\n.reqnctapercluster 2, 1, 1\n{\n  ret;\n}\n";
    Bound bound;
    bind_to(&bound, text, "{\"grid\": [4, 1, 1]}");
    if (!bound.good)
        fail_msg("%s", bound.problem);
    assert_int_equal(bound.launch.block[1], 2);
    assert_int_equal(bound.launch.cluster[0], 2);
    done(&bound);
    bind_to(&bound, text, "{\"grid\": [4, 1, 1], \"block\": [64, 1, 1]}");
    assert_false(bound.good);
    assert_string_equal(bound.problem,
                        "the kernel needs a block of 32x2x1 threads (.reqntid), and the launch has 64x1x1");
    done(&bound);
}

/* Two arguments of one buffer say the same of it, or it is not known what is in it. */
static void a_buffer_has_one_content(void **state) {
    (void)state;
    static const char *const numbers[] = {"7, 8", "7, 9", "7"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        Bound bound;
        Text json = {0};
        text_addf(&json,
                  "{\"block\": [1, 1, 1], \"args\": {\"s\": {\"bytes\": \"\", \"pointers\": {\"8\": {\"tensor\": "
                  "{\"shape\": [2], \"dtype\": \"i64\", \"buffer\": \"b\", \"data\": [%s]}}}}, \"p\": {\"tensor\": "
                  "{\"shape\": [2], \"dtype\": \"i64\", \"buffer\": \"b\", \"data\": [7, 8]}}}}",
                  numbers[i]);
        text_char(&json, 0);
        bind_to(&bound, kernel, json.data);
        assert_int_equal(bound.good, i == 0);
        if (i)
            assert_string_equal(bound.problem, "buffer 'b' is given different data");
        done(&bound);
        text_free(&json);
    }
}

/* ---- What is chosen ------------------------------------------------------------------------------ */

static void launches_are_chosen(void **state) {
    (void)state;
    PtxRunning running;
    PtxLaunch launches[16];
    const char *problem = NULL;
    ptx_running_read(&running, "sm_90a", kernel);
    uint32_t count = ptx_launch_choose(&running.arena, running.program, NULL, launches, 16, &problem);
    assert_true(count > 4);
    bool none = false, one = false;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t number = word(&launches[i], 8, 4);
        none |= number == 0;
        one |= number == 1;
        assert_true(launches[i].chosen && launches[i].buffers[0].chosen);
        assert_int_equal(word(&launches[i], 0, 8), launches[i].buffers[0].address);
    }
    assert_true(one && !none); /* sizes of 0 are tried when all else is done */
    /* Larger, and so in words and as a file. */
    assert_true(ptx_launch_grow(&running.arena, running.program, &launches[0], 0, 1 << 22));
    assert_int_equal(launches[0].buffers[0].bytes, 1 << 22);
    assert_non_null(strstr(launches[0].text, "p = tensor 4194304"));
    assert_false(ptx_launch_grow(&running.arena, running.program, &launches[0], 0, 1 << 20));
    /* What is fixed stays. */
    Launch fixed = {0};
    assert_null(launch_set(&running.arena, &fixed, "n=7"));
    assert_null(launch_set_block(&fixed, "96"));
    assert_int_equal(ptx_launch_choose(&running.arena, running.program, &fixed, launches, 16, &problem), 1);
    assert_int_equal(word(&launches[0], 8, 4), 7);
    assert_int_equal(launches[0].block[0], 96);
    ptx_running_end(&running);
}

/* A barrier that waits for so many threads is run with at least as many. */
static void blocks_have_the_threads_of_a_barrier(void **state) {
    (void)state;
    static const char *const bodies[] = {"bar.sync 1, 384;", "mov.u32 %r1, 384; barrier.sync 1, %r1;"};
    for (size_t k = 0; k < sizeof bodies / sizeof *bodies; k++) {
        PtxRunning running;
        PtxLaunch launches[16];
        const char *problem = NULL;
        Text text = {0};
        text_addf(&text, ".visible .entry k(.param .u64 p) { .reg .b32 %%r<4>; %s ret; }", bodies[k]);
        text_char(&text, 0);
        ptx_running_read(&running, "sm_90a", text.data);
        uint32_t count = ptx_launch_choose(&running.arena, running.program, NULL, launches, 16, &problem);
        assert_true(count > 0);
        for (uint32_t i = 0; i < count; i++)
            assert_true(launches[i].block[0] * launches[i].block[1] * launches[i].block[2] >= 384);
        ptx_running_end(&running);
        text_free(&text);
    }
}

/* A condition on a thread's place in its block: some block has a thread that goes that way, or none has. */
static void ways_that_no_thread_goes(void **state) {
    (void)state;
    static const struct {
        const char *axis;
        unsigned place;
        bool never;
    } cases[] = {{"y", 77, false}, {"y", 2000, true}, {"x", 999, false}, {"x", 1024, true}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        PtxRunning running;
        PtxLaunch launches[16];
        const char *problem = NULL;
        Text text = {0};
        text_addf(&text,
                  ".visible .entry k(.param .u64 p) { .reg .pred %%p; .reg .b32 %%r; .reg .b64 %%rd;\n"
                  "ld.param.u64 %%rd, [p]; mov.u32 %%r, %%tid.%s; setp.eq.u32 %%p, %%r, %u;\n"
                  "@%%p st.global.u32 [%%rd], 1; ret; }",
                  cases[k].axis, cases[k].place);
        text_char(&text, 0);
        ptx_running_read(&running, "sm_90a", text.data);
        assert_true(ptx_launch_choose(&running.arena, running.program, NULL, launches, 16, &problem) > 0);
        PtxScout *scout = ptx_scout(&running.arena, running.program, &launches[0], NULL, 1 << 20);
        assert_non_null(scout);
        ptx_scout_send(scout, &launches[0]);
        uint32_t guarded = 0;
        while (running.program->code[guarded].guard == PTX_NONE)
            guarded++;
        assert_int_equal(ptx_scout_never(scout, guarded, true), cases[k].never);
        assert_false(ptx_scout_never(scout, guarded, false));
        ptx_scout_free(scout);
        ptx_running_end(&running);
        text_free(&text);
    }
}

/* A finding names the launch as it was when it was made, with a buffer that had to grow. */
static void findings_name_what_grew(void **state) {
    (void)state;
    PtxRunning running;
    ptx_running_read(&running, "sm_90a",
                     ".visible .entry k(.param .u64 p)\n"
                     ".reqntid 64\n"
                     "{\n"
                     "  .reg .b32 %r<2>;\n"
                     "  .reg .b64 %rd<4>;\n"
                     "  .shared .align 4 .b8 word[4];\n"
                     "  ld.param.u64 %rd1, [p];\n"
                     "  mov.u32 %r1, %tid.x;\n"
                     "  mul.wide.u32 %rd2, %r1, 4;\n"
                     "  add.u64 %rd3, %rd1, %rd2;\n"
                     "  st.global.u32 [%rd3+4194304], %r1;\n"
                     "  st.shared.u32 [word], %r1;\n"
                     "  ret;\n"
                     "}\n");
    Verdict verdict = {.arena = &running.arena, .kernel = "k"};
    threads_check(&running.module, 0, &(ThreadsOptions){.computes = COMPUTES_NEEDED}, &verdict);
    assert_int_equal(verdict.finding_count, 1);
    assert_int_equal(verdict.findings[0].rule, RULE_RACE_WAW);
    assert_non_null(strstr(verdict.findings[0].launch, "p = tensor 8388608"));
    assert_non_null(strstr(verdict.launches[0].text, "p = tensor 8388608"));
    ptx_running_end(&running);
}

/* ---- Trails -------------------------------------------------------------------------------------- */

static void a_trail_is_read_as_it_was_written(void **state) {
    (void)state;
    static const PtxSchedule schedules[] = {
        {.kind = SCHEDULE_EAGER},
        {.kind = SCHEDULE_EAGER, .mirrored = true},
        {.kind = SCHEDULE_LAZY},
        {.kind = SCHEDULE_RANDOM, .seed = 12345678901234},
        {.kind = SCHEDULE_DELAYED, .held = 32, .held_count = 32, .delayed_pc = 7},
    };
    for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++) {
        Arena arena;
        arena_init(&arena, 1 << 20);
        ThreadsTrail trail = {.kernel = STR("k"),
                              .launch = {.kernel = STR("k"), .grid = {2, 1, 1}, .block = {32, 1, 1}},
                              .schedule = schedules[i],
                              .computes = COMPUTES_NEEDED,
                              .havoc_choice = 3,
                              .volatile_races = true},
                     read;
        Text text = {0}, again = {0};
        threads_trail_write(&trail, &text);
        text_char(&text, 0);
        assert_true(threads_trail_read_text(&arena, text.data, &read));
        threads_trail_write(&read, &again);
        text_char(&again, 0);
        assert_string_equal(text.data, again.data);
        assert_int_equal(read.schedule.kind, schedules[i].kind);
        assert_int_equal(read.schedule.mirrored, schedules[i].mirrored);
        assert_int_equal(read.schedule.seed, schedules[i].seed);
        assert_int_equal(read.schedule.delayed_pc, schedules[i].delayed_pc);
        text_free(&text);
        text_free(&again);
        arena_free(&arena);
    }
}

static void what_is_no_trail(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"weir trail 1\n", "this is a trail of Triton GPU IR, not of PTX"},
        {"something\n", "this is not a trail: the first line must be 'weir trail 3'"},
        {"weir trail 3\nlaunch {}\n", "a trail needs a line 'kernel'"},
        {"weir trail 3\nkernel k\n", "a trail needs a line 'launch'"},
        {"weir trail 3\nkernel k\nlaunch {\"grid\": [0, 1, 1]}\n", "'grid' must have integers from 1 to 2147483647"},
        {"weir trail 3\nagent 1\n",
         "a line of such a trail starts with kernel, launch, gear, world, volatile, gives-up, schedule, steps or only"},
        {"weir trail 3\nschedule often\n",
         "a schedule is eager, mirrored, lazy, round-robin, random SEED, held THREAD COUNT CODE, or explored"},
        {"weir trail 3\nschedule random\n", "expected a number"},
        {"weir trail 3\nworld 1 2\n", "expected the end of the line"},
        {"weir trail 3\ngear fast\n", "the gear is 'data' or 'slice'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena arena;
        Diagnostics diagnostics = {0};
        ThreadsTrail trail;
        arena_init(&arena, 1 << 20);
        Source *source = source_copy("k.trail", cases[i].text, strlen(cases[i].text));
        assert_false(threads_trail_read(&arena, source, &trail, &diagnostics));
        assert_int_equal(diagnostics.count, 1);
        assert_string_equal(diagnostics.items[0].message, cases[i].message);
        diagnostics_free(&diagnostics);
        source_free(source);
        arena_free(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_by_number_and_by_name),
        cmocka_unit_test(structs_have_pointers_and_maps),
        cmocka_unit_test(memory_has_pointers_and_maps),
        cmocka_unit_test(what_does_not_fit_is_said),
        cmocka_unit_test(headers_say_shapes),
        cmocka_unit_test(a_buffer_has_one_content),
        cmocka_unit_test(launches_are_chosen),
        cmocka_unit_test(blocks_have_the_threads_of_a_barrier),
        cmocka_unit_test(ways_that_no_thread_goes),
        cmocka_unit_test(findings_name_what_grew),
        cmocka_unit_test(a_trail_is_read_as_it_was_written),
        cmocka_unit_test(what_is_no_trail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
