/* machine/tile/grid/scene: what launches of several kernels on several devices share, and which comes after which. */
#include "running.h"

#include <stdio.h>

#include "machine/tile/grid/launch_sequence.h"

/* "sent" and "kept" are i32, "half" is f16; "peers" holds pointers. */
static const char kernel_text[] = KERNEL("%sent: !tt.ptr<i32>, %kept: !tt.ptr<i32>, %half: !tt.ptr<f16>, "
                                         "%peers: !tt.ptr<i64>, %me: i32, %world: i32, %desc: !desc",
                                         "");

enum { MOST_INPUTS = 8 };

typedef struct Fixture {
    Running *running;
    Arena arena;
    LaunchSequenceInput inputs[MOST_INPUTS];
    Launch launches[MOST_INPUTS];
    Source *sources[MOST_INPUTS];
    uint32_t count;
    LaunchSequence launch_sequence;
    const char *problem;
} Fixture;

static int setup(void **state) {
    Fixture *fixture = calloc(1, sizeof *fixture);
    fixture->running = compile_kernel(kernel_text);
    arena_init(&fixture->arena, (size_t)1 << 30);
    *state = fixture;
    return 0;
}

static int teardown(void **state) {
    Fixture *fixture = *state;
    for (uint32_t i = 0; i < fixture->count; i++)
        source_free(fixture->sources[i]);
    arena_free(&fixture->arena);
    end_kernel(fixture->running);
    free(fixture);
    return 0;
}

/* One more launch of the kernel. */
static void add(Fixture *fixture, const char *json) {
    uint32_t i = fixture->count++;
    Diagnostics diagnostics = {0};
    fixture->sources[i] = source_copy("k.launch.json", json, strlen(json));
    assert_true(launch_read(&fixture->arena, fixture->sources[i], &fixture->launches[i], &diagnostics));
    fixture->inputs[i] = (LaunchSequenceInput){fixture->running->program, &fixture->launches[i]};
    diagnostics_free(&diagnostics);
}

static void build(Fixture *fixture, uint32_t devices) {
    if (!launch_sequence_build(&fixture->arena, fixture->inputs, fixture->count, devices, &fixture->launch_sequence,
                               &fixture->problem))
        fail_msg("%s", fixture->problem);
}

static void assert_problem(Fixture *fixture, uint32_t devices, const char *expected) {
    assert_false(launch_sequence_build(&fixture->arena, fixture->inputs, fixture->count, devices,
                                       &fixture->launch_sequence, &fixture->problem));
    assert_string_equal(fixture->problem, expected);
}

static const Argument *argument(const Fixture *fixture, uint32_t launch, const char *name) {
    const Argument *found = launch_find(fixture->launch_sequence.launches[launch].launch, str_of(name));
    assert_non_null(found);
    return found;
}

static int64_t address(const Fixture *fixture, uint32_t launch, const char *name) {
    int64_t found = argument(fixture, launch, name)->address;
    assert_true(found > 0);
    return found;
}

static const Area *area(const Fixture *fixture, uint32_t launch, const char *name) {
    int64_t offset;
    const Area *found = global_area(fixture->launch_sequence.memory, address(fixture, launch, name), &offset);
    assert_non_null(found);
    assert_int_equal(offset, 0);
    return found;
}

/* "1 0" */
static void assert_launches(const uint32_t *launches, uint32_t count, const char *expected) {
    char text[200] = "";
    for (uint32_t i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u", i ? " " : "", launches[i]);
    assert_string_equal(text, expected);
}

static void assert_order(const Fixture *fixture, uint32_t launch, const char *after, const char *awaited) {
    const GridLaunch *found = &fixture->launch_sequence.launches[launch];
    assert_launches(found->after, found->after_count, after);
    assert_launches(found->awaited, found->awaited_count, awaited);
}

/* ---- Memory ------------------------------------------------------------------------------------- */

static void every_argument_has_memory_of_its_own(void **state) {
    Fixture *fixture = *state;
    add(fixture, "{\"args\": {\"sent\": {\"tensor\": {\"shape\": [4, 8], \"zero\": true}}, \"kept\": {\"tensor\": "
                 "{\"shape\": [4], \"output\": true}}, \"desc\": {\"descriptor\": {\"shape\": [128]}}, \"me\": 3}}");
    add(fixture, "{\"args\": {\"sent\": {\"tensor\": {\"data\": [7, 8], \"dtype\": \"i16\"}}}}");
    build(fixture, 2);
    assert_int_equal(fixture->launch_sequence.count, 4);
    const uint32_t inputs[] = {0, 0, 1, 1}, devices[] = {0, 1, 0, 1};
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(fixture->launch_sequence.inputs[i], inputs[i]);
        assert_int_equal(fixture->launch_sequence.launches[i].device, devices[i]);
        assert_int_equal(area(fixture, i, "sent")->device, devices[i]);
        for (uint32_t k = 0; k < i; k++)
            assert_int_not_equal(address(fixture, i, "sent"), address(fixture, k, "sent"));
    }
    assert_string_equal(area(fixture, 0, "sent")->name, "sent");
    assert_int_equal(area(fixture, 0, "sent")->bytes, 128);
    assert_true(area(fixture, 0, "sent")->zero);
    assert_true(area(fixture, 0, "sent")->written);
    assert_false(area(fixture, 0, "kept")->written);
    assert_int_equal(area(fixture, 0, "desc")->bytes, 256);
    assert_int_equal(area(fixture, 0, "desc")->element_bits, 16);
    assert_true(area(fixture, 0, "desc")->written);
    assert_int_equal(argument(fixture, 0, "me")->integer, 3);
    assert_int_equal(area(fixture, 2, "sent")->bytes, 4);
    assert_int_equal(global_read(fixture->launch_sequence.memory, address(fixture, 3, "sent") + 2, 16).bits, 8);
}

static void a_pointer_that_nothing_describes(void **state) {
    Fixture *fixture = *state;
    add(fixture, "{\"args\": {\"kept\": 5}}");
    build(fixture, 1);
    const char *const names[] = {"sent", "kept", "half", "peers"};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(area(fixture, 0, names[i])->bytes, -1);
        assert_true(area(fixture, 0, names[i])->written);
    }
    assert_int_equal(area(fixture, 0, "half")->element_bits, 16);
    assert_null(launch_find(fixture->launch_sequence.launches[0].launch, STR("desc")));
}

static void gaps_between_rows(void **state) {
    Fixture *fixture = *state;
    static const struct {
        const char *layout;
        bool sparse;
        int64_t bytes;
    } cases[] = {
        {"\"shape\": [4, 8], \"strides\": [8, 1]", false, 128}, {"\"shape\": [4, 8], \"strides\": [9, 1]", true, 140},
        {"\"shape\": [4, 8], \"strides\": [1, 4]", false, 128}, {"\"shape\": [4, 8], \"strides\": [1, 5]", true, 156},
        {"\"shape\": [4, 8], \"strides\": [4, 1]", false, 80},  {"\"shape\": [4], \"strides\": [2]", true, 28},
        {"\"shape\": [4, 2], \"strides\": [0, 1]", false, 8},   {"\"shape\": [1, 2], \"strides\": [99, 1]", false, 8},
        {"\"shape\": [], \"strides\": []", false, 4},           {"\"shape\": [0, 4], \"strides\": [9, 1]", false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char json[200];
        snprintf(json, sizeof json, "{\"args\": {\"sent\": {\"tensor\": {%s}}}}", cases[i].layout);
        fixture->count = 0;
        add(fixture, json);
        build(fixture, 1);
        assert_int_equal(area(fixture, 0, "sent")->sparse, cases[i].sparse);
        assert_int_equal(area(fixture, 0, "sent")->bytes, cases[i].bytes);
        source_free(fixture->sources[--fixture->count]);
    }
}

static void launches_share_a_buffer(void **state) {
    Fixture *fixture = *state;
    add(fixture, "{\"args\": {\"sent\": {\"tensor\": {\"shape\": [4], \"buffer\": \"b\", \"output\": true}}}}");
    add(fixture, "{\"args\": {\"kept\": {\"tensor\": {\"shape\": [2, 4], \"buffer\": \"b\"}}}}");
    build(fixture, 2);
    assert_int_equal(address(fixture, 0, "sent"), address(fixture, 2, "kept"));
    assert_int_equal(address(fixture, 1, "sent"), address(fixture, 3, "kept"));
    assert_int_not_equal(address(fixture, 0, "sent"), address(fixture, 1, "sent"));
    assert_string_equal(area(fixture, 0, "sent")->name, "b");
    /* The larger one counts, and what one of them knows. */
    assert_int_equal(area(fixture, 0, "sent")->bytes, 32);
    assert_int_equal(area(fixture, 0, "sent")->rank, 2);
    assert_false(area(fixture, 0, "sent")->written);
}

static void buffers_of_other_devices(void **state) {
    Fixture *fixture = *state;
    add(fixture, "{\"args\": {\"sent\": {\"tensor\": {\"shape\": [4], \"buffer\": \"b\", \"device\": \"next\"}}, "
                 "\"kept\": {\"tensor\": {\"shape\": [4], \"buffer\": \"b\"}}, \"half\": {\"tensor\": {\"shape\": "
                 "[2], \"device\": 1}}, \"peers\": {\"tensor\": {\"shape\": [4], \"dtype\": \"i32\", \"buffer\": "
                 "\"b\", \"device\": \"previous\"}}, \"me\": {\"rank\": true}, \"world\": {\"devices\": true}}}");
    build(fixture, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(address(fixture, i, "sent"), address(fixture, (i + 1) % 3, "kept"));
        assert_int_equal(address(fixture, i, "peers"), address(fixture, (i + 2) % 3, "kept"));
        assert_int_equal(area(fixture, i, "kept")->device, i);
        assert_int_equal(area(fixture, i, "half")->device, 1);
        assert_int_equal(address(fixture, i, "half"), address(fixture, 0, "half"));
        assert_int_equal(argument(fixture, i, "me")->integer, i);
        assert_int_equal(argument(fixture, i, "world")->integer, 3);
    }
}

#define PEERS(words) "{\"args\": {\"peers\": {\"tensor\": {\"shape\": [4], \"dtype\": \"i64\", " words "}}}}"

static Word peer(Fixture *fixture, uint32_t device, int64_t element) {
    return global_read(fixture->launch_sequence.memory, address(fixture, device, "peers") + 8 * element, 64);
}

static void memory_with_addresses_in_it(void **state) {
    Fixture *fixture = *state;
    add(fixture,
        "{\"args\": {\"peers\": {\"tensor\": {\"shape\": [4], \"dtype\": \"i64\", \"data\": [0, 7, 0], \"pointers\": "
        "{\"0\": {\"tensor\": {\"shape\": [4], \"dtype\": \"f16\"}}, \"16\": {\"tensor\": {\"shape\": [2], "
        "\"dtype\": \"i32\", \"buffer\": \"b\", \"offset\": 1}}}}}, "
        "\"sent\": {\"tensor\": {\"shape\": [4], \"buffer\": \"b\"}}}}");
    build(fixture, 2);
    for (uint32_t i = 0; i < 2; i++) {
        int64_t offset = 1;
        const Area *area = global_area(fixture->launch_sequence.memory, peer(fixture, i, 0).bits, &offset);
        assert_int_equal(offset, 0);
        assert_int_equal(area->bytes, 8);
        assert_int_equal(area->device, i);
        assert_string_equal(area->name, "peers[0]");
        assert_int_equal(peer(fixture, i, 1).bits, 7);
        assert_int_equal(peer(fixture, i, 2).bits, address(fixture, i, "sent") + 4);
        assert_false(word_is(peer(fixture, i, 3), WORD_INTEGER));
    }
}

static void memory_that_delays_addresses(void **state) {
    Fixture *fixture = *state;
    /* The buffer belongs to an argument that is no parameter. */
    add(fixture,
        "{\"args\": {\"peers\": {\"pointers\": \"flags\"}, \"flags\": {\"tensor\": {\"shape\": [2], \"dtype\": "
        "\"i32\", \"buffer\": \"flags\", \"zero\": true}}}}");
    build(fixture, 2);
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t k = 0; k < 2; k++) {
            Word word = global_read(fixture->launch_sequence.memory, address(fixture, i, "peers") + 8 * k, 64);
            assert_true(word_is(word, WORD_INTEGER));
            assert_int_equal(word.bits, address(fixture, k, "flags"));
        }
    assert_int_equal(area(fixture, 0, "peers")->bytes, 16);
    assert_int_equal(area(fixture, 1, "peers")->device, 1);
}

/* ---- Order -------------------------------------------------------------------------------------- */

static void launches_of_a_stream_come_one_after_the_other(void **state) {
    Fixture *fixture = *state;
    add(fixture, "{}");
    add(fixture, "{\"stream\": 1}");
    add(fixture, "{}");
    add(fixture, "{\"device\": 1}");
    build(fixture, 2);
    assert_int_equal(fixture->launch_sequence.count, 7);
    assert_int_equal(fixture->launch_sequence.launches[6].device, 1);
    const char *const after[] = {"", "", "", "", "0", "1", "5"};
    for (uint32_t i = 0; i < 7; i++)
        assert_order(fixture, i, after[i], "");
}

static void dependent_launches_overtake(void **state) {
    Fixture *fixture = *state;
    add(fixture, "{}");
    add(fixture, "{}");
    add(fixture, "{\"dependent\": true}");
    add(fixture, "{\"dependent\": true}");
    add(fixture, "{}");
    build(fixture, 1);
    assert_order(fixture, 0, "", "");
    assert_order(fixture, 1, "0", "");
    assert_order(fixture, 2, "0", "1");
    assert_order(fixture, 3, "0", "2");
    assert_order(fixture, 4, "3 2 1", "");
}

static void launches_after_kernels_by_name(void **state) {
    Fixture *fixture = *state;
    add(fixture, "{\"kernel\": \"fill\"}");
    add(fixture, "{\"kernel\": \"other\", \"stream\": 1, \"dependent\": true}");
    add(fixture, "{\"kernel\": \"fill\", \"stream\": 1, \"dependent\": true}");
    add(fixture, "{\"stream\": 2, \"after\": [\"fill\", \"fill\"]}");
    build(fixture, 2);
    assert_order(fixture, 2, "", "");
    assert_order(fixture, 4, "", "2");
    assert_order(fixture, 6, "0 1 4 2 5 3", "");
    assert_order(fixture, 7, "0 1 4 2 5 3", "");
}

/* ---- Problems ----------------------------------------------------------------------------------- */

static void what_does_not_fit_together(void **state) {
    Fixture *fixture = *state;
#define SENT(inside) "{\"args\": {\"sent\": {\"tensor\": {" inside "}}}}"
    static const struct {
        const char *first, *second;
        uint32_t devices;
        const char *problem;
    } cases[] = {
        {"{}", "{}", 0, "there are from 1 to 64 devices"},
        {"{}", "{}", 257, "there are from 1 to 64 devices"},
        {"{\"device\": 2}", "{}", 2, "the launch of kernel is on device 2, and there are only 2"},
        {SENT("\"shape\": [1], \"device\": 1"), "{}", 1, "'sent' of kernel is on device 1, and there is only 1"},
        {SENT("\"shape\": [4], \"buffer\": \"b\""),
         "{\"args\": {\"half\": {\"tensor\": {\"shape\": [4], \"buffer\": \"b\"}}}}", 1,
         "buffer 'b' has elements of 32 bits in one launch and of 16 bits in another"},
        {SENT("\"data\": [4], \"buffer\": \"b\\u001b\""), SENT("\"data\": [5], \"buffer\": \"b\\u001b\""), 1,
         "buffer 'b?' holds different data in two launches"},
        {SENT("\"data\": [4], \"buffer\": \"b\""), SENT("\"shape\": [5], \"output\": true, \"buffer\": \"b\""), 1,
         "buffer 'b' is an output in one launch, and holds data in another"},
        {SENT("\"shape\": [1], \"output\": true, \"buffer\": \"b\""),
         SENT("\"shape\": [5], \"zero\": true, \"buffer\": "
              "\"b\""),
         1, "buffer 'b' is an output in one launch, and holds data in another"},
        {SENT("\"shape\": [137438953473]"), "{}", 1, "'sent' spans more than 2^39 bytes"},
        {"{\"args\": {\"peers\": {\"pointers\": \"b\"}}}", "{}", 1,
         "'peers' of kernel points to buffer 'b', which no launch describes"},
        {SENT("\"shape\": [4], \"pointers\": {\"0\": {\"tensor\": {\"shape\": [4], \"dtype\": \"f16\"}}}"), "{}", 1,
         "'sent' of kernel holds pointers, so that its elements must have 64 bits, and no output is there"},
        {PEERS("\"pointers\": {\"4\": {\"tensor\": {\"shape\": [4], \"dtype\": \"f16\"}}}"), "{}", 1,
         "'pointers' of 'peers' of kernel must be tensors, at multiples of 8 bytes inside of it"},
        {PEERS("\"pointers\": {\"8\": 7}"), "{}", 1,
         "'pointers' of 'peers' of kernel must be tensors, at multiples of 8 bytes inside of it"},
        {PEERS("\"pointers\": {\"32\": {\"tensor\": {\"shape\": [4], \"dtype\": \"f16\"}}}"), "{}", 1,
         "'pointers' of 'peers' of kernel must be tensors, at multiples of 8 bytes inside of it"},
        {PEERS("\"pointers\": {\"8\": {\"tensor\": {\"shape\": [4], \"dtype\": \"f16\"}}}"), "{}", 1,
         "'peers' has 'pointers' and elements before the last of them that are not given: 'data' can give them"},
        {PEERS("\"pointers\": {\"0\": {\"tensor\": {\"shape\": [4], \"dtype\": \"i64\", \"pointers\": {\"8\": "
               "{\"tensor\": "
               "{\"shape\": [4], \"dtype\": \"f16\"}}}}}}"),
         "{}", 1,
         "'peers[0]' has 'pointers' and elements before the last of them that are not given: 'data' can give them"},
        {PEERS("\"buffer\": \"b\", \"pointers\": {\"0\": {\"tensor\": {\"shape\": [4], \"dtype\": \"i64\", \"buffer\": "
               "\"b\"}}}"),
         "{}", 1, "'b' leads to memory that leads back to it"},
        {"{\"after\": [\"kernel\"]}", "{}", 1,
         "the launch of kernel is after 'kernel', and no launch before it is of that kernel"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture->count = 0;
        add(fixture, cases[i].first);
        add(fixture, cases[i].second);
        assert_problem(fixture, cases[i].devices, cases[i].problem);
        source_free(fixture->sources[0]);
        source_free(fixture->sources[1]);
        fixture->count = 0;
    }
}

static void the_same_data_twice_is_no_problem(void **state) {
    Fixture *fixture = *state;
    add(fixture, SENT("\"data\": [4, 5], \"buffer\": \"b\""));
    add(fixture, SENT("\"data\": [4, 5], \"buffer\": \"b\""));
    build(fixture, 1);
    assert_int_equal(global_read(fixture->launch_sequence.memory, address(fixture, 1, "sent") + 4, 32).bits, 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(every_argument_has_memory_of_its_own),
        TEST(a_pointer_that_nothing_describes),
        TEST(gaps_between_rows),
        TEST(launches_share_a_buffer),
        TEST(buffers_of_other_devices),
        TEST(memory_that_delays_addresses),
        TEST(memory_with_addresses_in_it),
        TEST(launches_of_a_stream_come_one_after_the_other),
        TEST(dependent_launches_overtake),
        TEST(launches_after_kernels_by_name),
        TEST(what_does_not_fit_together),
        TEST(the_same_data_twice_is_no_problem),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
