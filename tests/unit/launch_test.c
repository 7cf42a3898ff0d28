/* explore/launch/launch: launch files, arguments on the command line, and what is said of what is wrong with them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "explore/launch/launch.h"

typedef struct Fixture {
    Arena arena;
    Source *source;
    Diagnostics diagnostics;
    Launch launch;
    bool good;
} Fixture;

static Fixture read_bytes(const char *text, size_t size) {
    Fixture fixture = {.source = source_copy("k.launch.json", text, size)};
    arena_init(&fixture.arena, (size_t)1 << 30);
    fixture.good = launch_read(&fixture.arena, fixture.source, &fixture.launch, &fixture.diagnostics);
    return fixture;
}

static Fixture read_text(const char *text) {
    return read_bytes(text, strlen(text));
}

static void done(Fixture *fixture) {
    arena_free(&fixture->arena);
    source_free(fixture->source);
    diagnostics_free(&fixture->diagnostics);
}

/* What a launch is in words, and as JSON; the caller frees it. */
static char *shown(const Launch *launch, void show(const Launch *, Text *)) {
    Text text = {0};
    show(launch, &text);
    text_char(&text, 0);
    assert_false(text.failed);
    return text.data;
}

static void assert_shown(const Launch *launch, void show(const Launch *, Text *), const char *expected) {
    char *text = shown(launch, show);
    assert_string_equal(text, expected);
    free(text);
}

static void assert_same(const Launch *a, const Launch *b) {
    assert_true(str_equal(a->kernel, b->kernel));
    assert_memory_equal(a->grid, b->grid, sizeof a->grid);
    assert_int_equal(a->stream, b->stream);
    assert_int_equal(a->has_device, b->has_device);
    assert_int_equal(a->device, b->device);
    assert_int_equal(a->dependent, b->dependent);
    assert_int_equal(a->after_count, b->after_count);
    for (size_t i = 0; i < a->after_count; i++)
        assert_true(str_equal(a->after[i], b->after[i]));
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        Argument x = a->arguments[i], y = b->arguments[i];
        assert_true(str_equal(x.name, y.name));
        assert_int_equal(x.kind, y.kind);
        assert_int_equal(x.integer, y.integer);
        assert_int_equal(x.meaning, y.meaning);
        assert_true(str_equal(x.buffer, y.buffer));
        assert_int_equal(x.place, y.place);
        assert_int_equal(x.device, y.device);
        assert_int_equal(x.output, y.output);
        assert_int_equal(x.zero, y.zero);
        assert_int_equal(x.has_storage, y.has_storage);
        assert_memory_equal(x.storage, y.storage, sizeof x.storage);
        assert_memory_equal(&x.number, &y.number, sizeof x.number);
        assert_int_equal(x.rank, y.rank);
        assert_int_equal(x.element_bits, y.element_bits);
        assert_memory_equal(x.shape, y.shape, sizeof x.shape);
        assert_memory_equal(x.strides, y.strides, sizeof x.strides);
        assert_memory_equal(x.block, y.block, sizeof x.block);
        assert_int_equal(!x.data, !y.data);
        assert_int_equal(x.data_count, y.data_count);
        for (size_t k = 0; k < x.data_count; k++)
            assert_int_equal(x.data[k], y.data[k]);
    }
}

#define IN_ARGS(inside)   "{\"args\": {" inside "}}"
#define IN_TENSOR(inside) IN_ARGS("\"x\": {\"tensor\": {" inside "}}")

/* ---- Reading ------------------------------------------------------------------------------------ */

static void a_launch_file_in_words_and_as_json(void **state) {
    (void)state;
    static const struct {
        const char *file, *words, *json;
    } cases[] = {
        {"{}", "grid 1x1x1", "{\"grid\": [1, 1, 1], \"args\": {}}"},
        {"{\"kernel\": \"add\", \"grid\": [32, 2, 1], \"args\": {\"N\": 128}}", "grid 32x2x1, N = 128",
         "{\"kernel\": \"add\", \"grid\": [32, 2, 1], \"args\": {\"N\": 128}}"},
        /* Booleans are integers; a float stays one, with no more digits than it needs. */
        {"{\"args\": {\"a\": true, \"b\": false, \"c\": -9223372036854775808, \"d\": 2.0, \"e\": 0.1, \"f\": -1e300}}",
         "grid 1x1x1, a = 1, b = 0, c = -9223372036854775808, d = 2.0, e = 0.1, f = -1e300",
         "{\"grid\": [1, 1, 1], \"args\": {\"a\": 1, \"b\": 0, \"c\": -9223372036854775808, \"d\": 2.0, \"e\": 0.1, "
         "\"f\": -1e300}}"},
        {"{\"args\": {\"x\": {\"tensor\": {\"shape\": [4, 2], \"strides\": [2, 1], \"dtype\": \"f16\"}}}}",
         "grid 1x1x1, x = tensor 4x2",
         "{\"grid\": [1, 1, 1], \"args\": {\"x\": {\"tensor\": {\"shape\": [4, 2], \"strides\": [2, 1], "
         "\"dtype\": \"f16\"}}}}"},
        /* Of no elements none is far away. */
        {"{\"args\": {\"x\": {\"tensor\": {\"shape\": [0], \"strides\": [281474976710656], \"dtype\": \"f16\"}}}}",
         "grid 1x1x1, x = tensor 0 strides 281474976710656",
         "{\"grid\": [1, 1, 1], \"args\": {\"x\": {\"tensor\": {\"shape\": [0], \"strides\": [281474976710656], "
         "\"dtype\": \"f16\"}}}}"},
        /* Of PTX: threads, arguments by number, bytes with pointers, tensor maps. */
        {"{\"block\": [128, 1, 1], \"cluster\": [2, 1, 1], \"shared\": 0, \"args\": [1, {\"bytes\": \"00 ff\", "
         "\"pointers\": {\"8\": {\"tensor\": {\"shape\": [2], \"dtype\": \"u8\"}}}}]}",
         "grid 1x1x1, block 128x1x1, cluster 2x1x1, 0 bytes of dynamic shared memory, 0 = 1, 1 = 2 bytes",
         "{\"grid\": [1, 1, 1], \"block\": [128, 1, 1], \"cluster\": [2, 1, 1], \"shared\": 0, \"args\": {\"0\": 1, "
         "\"1\": {\"bytes\": \"00ff\", \"pointers\": {\"8\": {\"tensor\": {\"shape\": [2], \"strides\": [1], "
         "\"dtype\": \"u8\"}}}}}}"},
        {IN_ARGS("\"m\": {\"descriptor\": {\"shape\": [8, 6, 4], \"block\": [2, 4], \"dtype\": \"bf16\", \"swizzle\": "
                 "128, \"interleave\": 16, \"fill\": \"nan\", \"element_strides\": [1, 2, 1], \"lower\": [-1], "
                 "\"upper\": [1]}}"),
         "grid 1x1x1, m = descriptor 8x6x4",
         "{\"grid\": [1, 1, 1], \"args\": {\"m\": {\"descriptor\": {\"shape\": [8, 6, 4], \"strides\": [24, 4, 1], "
         "\"block\": [2, 4], \"dtype\": \"bf16\", \"swizzle\": 3, \"interleave\": 1, \"fill\": \"nan\", "
         "\"element_strides\": "
         "[1, 2, 1], \"lower\": [-1], \"upper\": [1]}}}}"},
        /* Numbers become bits; where all are integers they are that already. */
        {IN_ARGS(
             "\"a\": {\"tensor\": {\"data\": [1.0, -2, 65504.0, 6e-8], \"dtype\": \"f16\"}}, \"b\": {\"tensor\": "
             "{\"data\": [1, 2], \"dtype\": \"f32\"}}, \"c\": {\"tensor\": {\"data\": \"0000803f 0001\", \"dtype\": "
             "\"u16\"}}, \"d\": {\"tensor\": {\"data\": [0.1, 448.0], \"dtype\": \"float8_e4m3fn\"}}, \"e\": "
             "{\"tensor\": {\"data\": [0.1], \"dtype\": \"f32\"}}"),
         "grid 1x1x1, a = tensor 4 [1.0, -2.0, 65504.0, 6e-08], b = tensor 2 [1e-45, 3e-45], "
         "c = tensor 3 [0, 16256, 256], d = tensor 2 [0.1, 448.0], e = tensor 1 [0.1]",
         "{\"grid\": [1, 1, 1], \"args\": {\"a\": {\"tensor\": {\"shape\": [4], \"strides\": [1], \"dtype\": \"f16\", "
         "\"data\": [15360, 49152, 31743, 1]}}, \"b\": {\"tensor\": {\"shape\": [2], \"strides\": [1], \"dtype\": "
         "\"f32\", \"data\": [1, 2]}}, \"c\": {\"tensor\": {\"shape\": [3], \"strides\": [1], \"dtype\": \"u16\", "
         "\"data\": [0, 16256, 256]}}, \"d\": {\"tensor\": {\"shape\": [2], \"strides\": [1], \"dtype\": \"f8e4m3\", "
         "\"data\": [29, 126]}}, \"e\": {\"tensor\": {\"shape\": [1], \"strides\": [1], \"dtype\": \"f32\", \"data\": "
         "[1036831949]}}}}"},
        /* Without strides the last dimension is dense; a size of 0 counts as 1 in that. */
        {"{\"args\": {\"x\": {\"tensor\": {\"shape\": [5, 0, 3]}}}}", "grid 1x1x1, x = tensor 5x0x3",
         "{\"grid\": [1, 1, 1], \"args\": {\"x\": {\"tensor\": {\"shape\": [5, 0, 3], \"strides\": [3, 3, 1]}}}}"},
        {"{\"args\": {\"x\": {\"tensor\": {\"shape\": [4, 2], \"strides\": [1, 4]}}, \"y\": {\"tensor\": "
         "{\"shape\": []}}}}",
         "grid 1x1x1, x = tensor 4x2 strides 1x4, y = tensor of one element",
         "{\"grid\": [1, 1, 1], \"args\": {\"x\": {\"tensor\": {\"shape\": [4, 2], \"strides\": [1, 4]}}, "
         "\"y\": {\"tensor\": {\"shape\": [], \"strides\": []}}}}"},
        {"{\"args\": {\"d\": {\"descriptor\": {\"shape\": [8192, 64], \"block\": [128, 64]}}, "
         "\"e\": {\"descriptor\": {\"shape\": [16]}}}}",
         "grid 1x1x1, d = descriptor 8192x64, e = descriptor 16",
         "{\"grid\": [1, 1, 1], \"args\": {\"d\": {\"descriptor\": {\"shape\": [8192, 64], \"strides\": [64, 1], "
         "\"block\": [128, 64]}}, \"e\": {\"descriptor\": {\"shape\": [16], \"strides\": [1]}}}}"},
        /* Memory that holds something needs no shape; if it has one, the list may be shorter. */
        {"{\"args\": {\"lens\": {\"tensor\": {\"data\": [3, -1], \"dtype\": \"torch.int32\"}}, "
         "\"more\": {\"tensor\": {\"shape\": [3, 4], \"data\": [1, 2, 3, 4, 5, 6, 7, 8, 9]}}}}",
         "grid 1x1x1, lens = tensor 2 [3, -1], more = tensor 3x4 [1, 2, 3, 4, 5, 6, 7, 8, ...]",
         "{\"grid\": [1, 1, 1], \"args\": {\"lens\": {\"tensor\": {\"shape\": [2], \"strides\": [1], \"dtype\": "
         "\"i32\", \"data\": [3, -1]}}, \"more\": {\"tensor\": {\"shape\": [3, 4], \"strides\": [4, 1], \"data\": "
         "[1, 2, 3, 4, 5, 6, 7, 8, 9]}}}}"},
        /* An unsigned integer is the signed one of the same bits. */
        {"{\"args\": {\"9223372036854775808\": 9223372036854775808, \"y\":18446744073709551615, \"z\": 1e20}}",
         "grid 1x1x1, 9223372036854775808 = -9223372036854775808, y = -1, z = 1e20",
         "{\"grid\": [1, 1, 1], \"args\": {\"9223372036854775808\": -9223372036854775808, \"y\": -1, \"z\": 1e20}}"},
        /* Names are JSON's, and what could move a cursor does not reach a terminal. */
        {"{\"args\": {\"a\\n\\\"\\u00e9\": 1}}", "grid 1x1x1, a?\"\xc3\xa9 = 1",
         "{\"grid\": [1, 1, 1], \"args\": {\"a\\n\\\"\xc3\xa9\": 1}}"},
        /* Where a launch runs, and what it comes after. */
        {"{\"stream\": 2, \"device\": 0, \"dependent\": true, \"after\": [\"fill\", \"a\\n\"]}",
         "grid 1x1x1, stream 2, device 0, dependent, after fill and a?",
         "{\"grid\": [1, 1, 1], \"stream\": 2, \"device\": 0, \"dependent\": true, \"after\": [\"fill\", \"a\\n\"], "
         "\"args\": {}}"},
        {"{\"stream\": 0, \"dependent\": false, \"after\": []}", "grid 1x1x1", "{\"grid\": [1, 1, 1], \"args\": {}}"},
        /* Whose memory it is, and what it held. */
        {IN_ARGS("\"f\": {\"tensor\": {\"shape\": [4], \"buffer\": \"flags\", \"device\": \"next\", \"zero\": true}}, "
                 "\"o\": {\"descriptor\": {\"shape\": [4], \"device\": 3, \"output\": true}}, "
                 "\"p\": {\"tensor\": {\"shape\": [4], \"buffer\": \"b\", \"offset\": 2, \"device\": \"previous\"}}"),
         "grid 1x1x1, f = tensor 4 (zeros, buffer flags of the next device), o = descriptor 4 (output, of device 3), "
         "p = tensor 4 (buffer b from 2 on of the previous device)",
         "{\"grid\": [1, 1, 1], \"args\": {\"f\": {\"tensor\": {\"shape\": [4], \"strides\": [1], \"buffer\": "
         "\"flags\", \"device\": \"next\", \"zero\": true}}, \"o\": {\"descriptor\": {\"shape\": [4], \"strides\": "
         "[1], \"device\": 3, \"output\": true}}, \"p\": {\"tensor\": {\"shape\": [4], \"strides\": [1], "
         "\"buffer\": \"b\", \"offset\": 2, \"device\": \"previous\"}}}}"},
        {IN_ARGS("\"f\": {\"tensor\": {\"shape\": [4], \"data\": [1], \"buffer\": \"b\", \"zero\": true, \"output\": "
                 "false}}, \"all\": {\"pointers\": \"b\"}, \"me\": {\"rank\": true}, \"n\": {\"devices\": true}"),
         "grid 1x1x1, f = tensor 4 [1] (zeros, buffer b), all = pointers to b, me = the device, n = the number of "
         "devices",
         "{\"grid\": [1, 1, 1], \"args\": {\"f\": {\"tensor\": {\"shape\": [4], \"strides\": [1], \"data\": [1], "
         "\"buffer\": \"b\", \"zero\": true}}, \"all\": {\"pointers\": \"b\"}, \"me\": {\"rank\": true}, \"n\": "
         "{\"devices\": true}}}"},
        {IN_ARGS("\"v\": {\"tensor\": {\"shape\": [4], \"storage\": [2, 8]}}, \"r\": {\"descriptor\": {\"shape\": "
                 "[281474976710656, 4], \"buffer\": \"b\", \"storage\": [0, 64]}}"),
         "grid 1x1x1, v = tensor 4 (in a storage of 10), r = descriptor 281474976710656x4 (in a storage of 64, buffer "
         "b)",
         "{\"grid\": [1, 1, 1], \"args\": {\"v\": {\"tensor\": {\"shape\": [4], \"strides\": [1], \"storage\": "
         "[2, 8]}}, \"r\": {\"descriptor\": {\"shape\": [281474976710656, 4], \"strides\": [4, 1], \"storage\": [0, "
         "64], \"buffer\": \"b\"}}}}"},
        /* What is the writer's own is passed over. */
        {"{\"from\": {\"a\": [null, {}]}, \"grid\": [2, 1, 1], \"args\": {\"x\": {\"tensor\": {\"shape\": [1], "
         "\"x-made-on\": \"cuda\"}, \"x-note\": null}}}",
         "grid 2x1x1, x = tensor 1",
         "{\"grid\": [2, 1, 1], \"args\": {\"x\": {\"tensor\": {\"shape\": [1], \"strides\": [1]}}}}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Fixture fixture = read_text(cases[i].file);
        assert_true(fixture.good);
        assert_int_equal(fixture.diagnostics.errors, 0);
        assert_shown(&fixture.launch, launch_describe, cases[i].words);
        assert_shown(&fixture.launch, launch_write, cases[i].json);
        Fixture again = read_text(cases[i].json);
        assert_true(again.good);
        assert_same(&fixture.launch, &again.launch);
        done(&again);
        done(&fixture);
    }
}

static void arguments_are_found_by_name(void **state) {
    (void)state;
    Fixture fixture = read_text("{\"args\": {\"M\": 1, \"N\": 2}}");
    assert_int_equal(launch_find(&fixture.launch, STR("N"))->integer, 2);
    assert_null(launch_find(&fixture.launch, STR("n")));
    assert_false(fixture.launch.chosen);
    done(&fixture);
}

static void element_types_by_all_their_names(void **state) {
    (void)state;
    static const struct {
        const char *name;
        unsigned bits;
    } cases[] = {
        {"f16", 16},
        {"bf16", 16},
        {"f32", 32},
        {"f64", 64},
        {"fp16", 16},
        {"i1", 8}, /* a byte in memory */
        {"i8", 8},
        {"i16", 16},
        {"i32", 32},
        {"i64", 64},
        {"u8", 8},
        {"u64", 64},
        {"ui32", 32},
        {"bool", 8},
        {"float16", 16},
        {"bfloat16", 16},
        {"int32", 32},
        {"uint8", 8},
        {"torch.float16", 16},
        {"torch.bool", 8},
        {"torch.float8_e4m3fn", 8},
        {"f8E4M3FN", 8},
        {"f8E5M2", 8},
        {"fp8e4nv", 8},
        {"fp8e5b16", 8},
        {"float8_e5m2fnuz", 8},
        {"e4m3", 8},
        {"e5m2", 8},
        {"f6E3M2FN", 6},
        {"f4E2M1FN", 4},
        {"torch.float4_e2m1fn_x2", 8},
        {"half", 16},
        {"tf32", 32},
        {"", 0},
        {"f", 0},
        {"f0", 0},
        {"32", 0},
        {"i32x", 0},
        {"f16e4m3", 0},
        {"i99999999999999999999", 0},
        {"q8", 0},
        {"complex64", 0},
        {"a name longer than that of any type", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        snprintf(text, sizeof text, "{\"args\": {\"x\": {\"tensor\": {\"shape\": [1], \"dtype\": \"%s\"}}}}",
                 cases[i].name);
        Fixture fixture = read_text(text);
        assert_true(fixture.good);
        if (fixture.launch.arguments[0].element_bits != cases[i].bits)
            fail_msg("'%s' has %u bits", cases[i].name, fixture.launch.arguments[0].element_bits);
        done(&fixture);
    }
}

/* ---- What is wrong, and where ------------------------------------------------------------------- */

static void assert_error(const char *text, size_t size, const char *expected) {
    Fixture fixture = read_bytes(text, size);
    assert_false(fixture.good);
    assert_int_equal(fixture.diagnostics.count, 1);
    Text rendered = {0};
    diagnostic_render(&fixture.diagnostics.items[0], fixture.source->name, false, &rendered);
    text_char(&rendered, 0);
    assert_string_equal(rendered.data, expected);
    text_free(&rendered);
    done(&fixture);
}

static void errors_have_a_place(void **state) {
    (void)state;
    static const struct {
        const char *text, *expected;
    } cases[] = {
        /* What is not JSON: at the token that Jansson stumbles over. */
        {"", "k.launch.json:1:1: error: this is not JSON: '[' or '{' expected near end of file\n"
             "    \n"
             "    ^\n"},
        {"{\n  \"grid\": [1, 2\n", "k.launch.json:3:1: error: this is not JSON: ']' expected near end of file\n"
                                   "    \n"
                                   "    ^\n"},
        {"{\n  \"grid\" [1]\n}", "k.launch.json:2:10: error: this is not JSON: ':' expected\n"
                                 "      \"grid\" [1]\n"
                                 "             ^\n"},
        {"{\"args\": {\"\xc3\xa9\": NaN}}", "k.launch.json:1:17: error: this is not JSON: invalid token\n"
                                            "    {\"args\": {\"\xc3\xa9\": NaN}}\n"
                                            "                   ^\n"},
        {"{\"args\": {\"x\": 1e999}}", "k.launch.json:1:16: error: this is not JSON: real number overflow\n"
                                       "    {\"args\": {\"x\": 1e999}}\n"
                                       "                   ^\n"},
        {"{\"args\": {\"x\": 18446744073709551616}}", "k.launch.json:1:16: error: this is not JSON: too big integer\n"
                                                      "    {\"args\": {\"x\": 18446744073709551616}}\n"
                                                      "                   ^\n"},
        {"{\"args\": {\"x\": 9223372036854775808, \"y\": 18446744073709551615, \"z\": -}}",
         "k.launch.json:1:69: error: this is not JSON: invalid token\n"
         "    {\"args\": {\"x\": 9223372036854775808, \"y\": 18446744073709551615, \"z\": -}}\n"
         "                                                                        ^\n"},
        {"{\"args\": {\"x\": 1, \"x\": 2}}", "k.launch.json:1:19: error: this is not JSON: duplicate object key\n"
                                             "    {\"args\": {\"x\": 1, \"x\": 2}}\n"
                                             "                      ^\n"},
        /* JSON of another shape: at the value. */
        {" [1]", "k.launch.json:1:2: error: a launch must be an object, {\"kernel\": ..., \"grid\": ..., \"args\": "
                 "...}\n     [1]\n     ^\n"},
        {"{\"kernel\": 1}", "k.launch.json:1:12: error: 'kernel' must be a name in quotes\n    {\"kernel\": "
                            "1}\n               ^\n"},
        {"{\"grid\": 4}", "k.launch.json:1:10: error: 'grid' must be a list of three positive integers\n    "
                          "{\"grid\": 4}\n             ^\n"},
        {"{\"grid\": [4, 4]}", "k.launch.json:1:10: error: 'grid' must be a list of three positive integers\n    "
                               "{\"grid\": [4, 4]}\n             ^\n"},
        {"{\"grid\": [4,\n 0, 1]}", "k.launch.json:2:2: error: 'grid' must have integers from 1 to 2147483647\n"
                                    "     0, 1]}\n"
                                    "     ^\n"},
        {"{\"grid\": [4, 1, 1.5]}", "k.launch.json:1:17: error: 'grid' must have integers from 1 to 2147483647\n"
                                    "    {\"grid\": [4, 1, 1.5]}\n"
                                    "                    ^\n"},
        {"{\"args\": 3}",
         "k.launch.json:1:10: error: 'args' must be an object of arguments by name, or a list of them\n"
         "    {\"args\": 3}\n"
         "             ^\n"},
        {"{\"block\": [32]}", "k.launch.json:1:11: error: 'block' must be a list of three positive integers\n"
                              "    {\"block\": [32]}\n"
                              "              ^\n"},
        {"{\"shared\": -1}", "k.launch.json:1:12: error: 'shared' must be an integer from 0 to 2147483647\n"
                             "    {\"shared\": -1}\n"
                             "               ^\n"},
        {IN_ARGS("\"x\": {\"bytes\": \"0g\"}"), "k.launch.json:1:26: error: bytes are pairs of hexadecimal digits\n"
                                                "    {\"args\": {\"x\": {\"bytes\": \"0g\"}}}\n"
                                                "                             ^\n"},
        {IN_ARGS("\"x\": {\"bytes\": \"\", \"pointers\": {\"a\": 1}}"),
         "k.launch.json:1:48: error: 'a' is no offset in bytes\n"
         "    {\"args\": {\"x\": {\"bytes\": \"\", \"pointers\": {\"a\": 1}}}}\n"
         "                                                   ^\n"},
        {IN_ARGS("\"x\": {\"bytes\": \"\", \"tensor\": {\"shape\": [1]}}"),
         "k.launch.json:1:16: error: 'x' must be a number, true, false, or an object with one of \"tensor\", "
         "\"descriptor\", \"pointers\", \"rank\", \"devices\" and \"bytes\"\n"
         "    {\"args\": {\"x\": {\"bytes\": \"\", \"tensor\": {\"shape\": [1]}}}}\n"
         "                   ^\n"},
        {IN_TENSOR("\"data\": \"00 01 02\", \"dtype\": \"i16\""),
         "k.launch.json:1:36: error: 'data' has 3 bytes, and an element has 2\n"
         "    {\"args\": {\"x\": {\"tensor\": {\"data\": \"00 01 02\", \"dtype\": \"i16\"}}}}\n"
         "                                       ^\n"},
        {IN_TENSOR("\"data\": [1.0, 70000.0], \"dtype\": \"f16\""),
         "k.launch.json:1:42: error: 70000 does not fit in an element of its type\n"
         "    {\"args\": {\"x\": {\"tensor\": {\"data\": [1.0, 70000.0], \"dtype\": \"f16\"}}}}\n"
         "                                             ^\n"},
        {IN_ARGS("\"x\": {\"descriptor\": {\"shape\": [4, 4], \"swizzle\": 48}}"),
         "k.launch.json:1:60: error: 'swizzle' must be one of 0 32 64 128, or its number in CUDA\n"
         "    {\"args\": {\"x\": {\"descriptor\": {\"shape\": [4, 4], \"swizzle\": 48}}}}\n"
         "                                                               ^\n"},
        {"{\"args\": {\"\": 1}}", "k.launch.json:1:15: error: an argument needs a name\n"
                                  "    {\"args\": {\"\": 1}}\n"
                                  "                  ^\n"},
        /* Before it: strings with brackets and quotes, and keys that look the same. */
        {"{\"from\": \"[{\\\"grid\\\\\", \"x-\": {\"grid\": [[], {}]}, \"g\\u0072id\" : null}",
         "k.launch.json:1:64: error: 'grid' must still be filled in\n"
         "    {\"from\": \"[{\\\"grid\\\\\", \"x-\": {\"grid\": [[], {}]}, \"g\\u0072id\" : null}\n"
         "                                                                   ^\n"},
        {"{\"args\": {\"x\": 1, \"y\": \"z\"}}", "k.launch.json:1:24: error: 'y' must be a number, true, false, or an "
                                                 "object with one of \"tensor\", \"descriptor\", "
                                                 "\"pointers\", \"rank\", \"devices\" and \"bytes\"\n"
                                                 "    {\"args\": {\"x\": 1, \"y\": \"z\"}}\n"
                                                 "                           ^\n"},
        {"{\"args\": {\"x\": {}}}",
         "k.launch.json:1:16: error: 'x' must be a number, true, false, or an object with one of "
         "\"tensor\", \"descriptor\", "
         "\"pointers\", \"rank\", \"devices\" and \"bytes\"\n"
         "    {\"args\": {\"x\": {}}}\n"
         "                   ^\n"},
        {"{\"args\": {\"x\": {\"tensor\": 3}}}", "k.launch.json:1:27: error: a tensor must be an object with a shape\n"
                                                 "    {\"args\": {\"x\": {\"tensor\": 3}}}\n"
                                                 "                              ^\n"},
        {"{\"args\": {\"x\": {\"descriptor\": {}}}}", "k.launch.json:1:31: error: a descriptor needs a shape\n"
                                                      "    {\"args\": {\"x\": {\"descriptor\": {}}}}\n"
                                                      "                                  ^\n"},
        {IN_TENSOR("\"shape\": 3"), "k.launch.json:1:37: error: 'shape' must be a list of at most 8 integers\n"
                                    "    {\"args\": {\"x\": {\"tensor\": {\"shape\": 3}}}}\n"
                                    "                                        ^\n"},
        {IN_TENSOR("\"shape\": [1,1,1,1,1,1,1,1,1]"),
         "k.launch.json:1:37: error: 'shape' must be a list of at most 8 integers\n"
         "    {\"args\": {\"x\": {\"tensor\": {\"shape\": [1,1,1,1,1,1,1,1,1]}}}}\n"
         "                                        ^\n"},
        {IN_TENSOR("\"shape\": [1, -1]"),
         "k.launch.json:1:41: error: 'shape' must have integers from 0 to 281474976710656\n"
         "    {\"args\": {\"x\": {\"tensor\": {\"shape\": [1, -1]}}}}\n"
         "                                            ^\n"},
        {IN_TENSOR("\"shape\": [2], \"strides\": [1, 1]"),
         "k.launch.json:1:53: error: 'strides' has 2 numbers, and 'shape' has 1\n"
         "    {\"args\": {\"x\": {\"tensor\": {\"shape\": [2], \"strides\": [1, 1]}}}}\n"
         "                                                        ^\n"},
        {"{\"args\": {\"x\": {\"descriptor\": {\"shape\": [2], \"block\": [0]}}}}",
         "k.launch.json:1:56: error: 'block' must have integers from 1 to 281474976710656\n"
         "    {\"args\": {\"x\": {\"descriptor\": {\"shape\": [2], \"block\": [0]}}}}\n"
         "                                                           ^\n"},
        {IN_TENSOR("\"shape\": [281474976710656, 281474976710656]"),
         "k.launch.json:1:27: error: this tensor spans more than 281474976710656 elements\n"
         "    {\"args\": {\"x\": {\"tensor\": {\"shape\": [281474976710656, 281474976710656]}}}}\n"
         "                              ^\n"},
        {IN_TENSOR("\"shape\": [3], \"strides\": [281474976710656]"),
         "k.launch.json:1:27: error: this tensor spans more than 281474976710656 elements\n"
         "    {\"args\": {\"x\": {\"tensor\": {\"shape\": [3], \"strides\": [281474976710656]}}}}\n"
         "                              ^\n"},
        {IN_TENSOR("\"data\": [1, 2.5]"), "k.launch.json:1:40: error: 'data' must be a list of integers\n    "
                                          "{\"args\": {\"x\": {\"tensor\": {\"data\": [1, "
                                          "2.5]}}}}\n                                           ^\n"},
        {IN_TENSOR("\"data\": [255, 256], \"dtype\": \"i8\""),
         "k.launch.json:1:42: error: 256 does not fit in an element of 8 bits\n"
         "    {\"args\": {\"x\": {\"tensor\": {\"data\": [255, 256], \"dtype\": \"i8\"}}}}\n"
         "                                             ^\n"},
        {IN_TENSOR("\"shape\": [1], \"data\": [1, 2]"),
         "k.launch.json:1:27: error: 'data' has 2 numbers, and this tensor spans 1\n"
         "    {\"args\": {\"x\": {\"tensor\": {\"shape\": [1], \"data\": [1, 2]}}}}\n"
         "                              ^\n"},
        {IN_TENSOR("\"shape\": [1], \"dtype\": 16"),
         "k.launch.json:1:51: error: 'dtype' must be a type name in quotes\n    {\"args\": {\"x\": {\"tensor\": "
         "{\"shape\": [1], \"dtype\": 16}}}}\n                                                      ^\n"},
        /* What several launches have to do with each other. */
        {"{\"stream\": -1}", "k.launch.json:1:12: error: 'stream' must be an integer from 0 to 2147483647\n"
                             "    {\"stream\": -1}\n"
                             "               ^\n"},
        {"{\"device\": \"next\"}", "k.launch.json:1:12: error: 'device' must be an integer from 0 to 63\n"
                                   "    {\"device\": \"next\"}\n"
                                   "               ^\n"},
        {"{\"device\": 256}", "k.launch.json:1:12: error: 'device' must be an integer from 0 to 63\n"
                              "    {\"device\": 256}\n"
                              "               ^\n"},
        {"{\"dependent\": 1}", "k.launch.json:1:15: error: 'dependent' must be true or false\n"
                               "    {\"dependent\": 1}\n"
                               "                  ^\n"},
        {"{\"after\": \"fill\"}", "k.launch.json:1:11: error: 'after' must be a list of at most 4096 kernel names\n"
                                  "    {\"after\": \"fill\"}\n"
                                  "              ^\n"},
        {"{\"after\": [\"fill\", 3]}", "k.launch.json:1:20: error: 'after' must have kernel names in quotes\n    "
                                       "{\"after\": [\"fill\", 3]}\n                       ^\n"},
        {"{\"after\": [\"\"]}", "k.launch.json:1:12: error: 'after' must have kernel names in quotes\n    "
                                "{\"after\": [\"\"]}\n               ^\n"},
        {"{\"args\": {\"x\": {\"tensor\": {\"shape\": [4], \"buffer\": 3}}}}",
         "k.launch.json:1:52: error: 'buffer' must be a name in quotes\n"
         "    {\"args\": {\"x\": {\"tensor\": {\"shape\": [4], \"buffer\": 3}}}}\n"
         "                                                       ^\n"},
        {"{\"args\": {\"x\": {\"tensor\": {\"shape\": [4], \"buffer\": \"\"}}}}",
         "k.launch.json:1:52: error: 'buffer' must be a name in quotes\n"
         "    {\"args\": {\"x\": {\"tensor\": {\"shape\": [4], \"buffer\": \"\"}}}}\n"
         "                                                       ^\n"},
        {"{\"args\": {\"x\": {\"tensor\": {\"shape\": [4], \"storage\": 8}}}}",
         "k.launch.json:1:53: error: 'storage' must be a list of two integers: the elements before the first one, and "
         "from the first one on\n    {\"args\": {\"x\": {\"tensor\": {\"shape\": [4], \"storage\": "
         "8}}}}\n                                                        ^\n"},
        {"{\"args\": {\"x\": {\"tensor\": {\"shape\": [4], \"storage\": [0, -1]}}}}",
         "k.launch.json:1:57: error: 'storage' must have integers from 0 to 281474976710656\n    {\"args\": {\"x\": "
         "{\"tensor\": {\"shape\": [4], \"storage\": [0, "
         "-1]}}}}\n                                                            ^\n"},
        {"{\"args\": {\"x\": {\"tensor\": {\"shape\": [4], \"storage\": [4, 3]}}}}",
         "k.launch.json:1:53: error: 'storage' has 3 elements from the first one on, and this tensor spans 4\n    "
         "{\"args\": {\"x\": {\"tensor\": {\"shape\": [4], \"storage\": [4, "
         "3]}}}}\n                                                        ^\n"},
        {"{\"args\": {\"x\": {\"tensor\": {\"shape\": [4], \"offset\": 2}}}}",
         "k.launch.json:1:52: error: 'offset' requires a 'buffer'\n    {\"args\": {\"x\": {\"tensor\": {\"shape\": "
         "[4], \"offset\": 2}}}}\n                                                       ^\n"},
        {"{\"args\": {\"x\": {\"tensor\": {\"shape\": [4], \"offset\": -2}}}}",
         "k.launch.json:1:52: error: 'offset' must be an integer from 0 to 2^48\n    {\"args\": {\"x\": {\"tensor\": "
         "{\"shape\": [4], \"offset\": -2}}}}\n                                                       ^\n"},
        {"{\"args\": {\"x\": {\"tensor\": {\"data\": [4], \"buffer\": \"b\", \"offset\": 2}}}}",
         "k.launch.json:1:66: error: 'data' gives a buffer from its start, and this tensor starts after that\n    "
         "{\"args\": {\"x\": {\"tensor\": {\"data\": [4], \"buffer\": \"b\", \"offset\": "
         "2}}}}\n                                                                     ^\n"},
        {"{\"args\": {\"x\": {\"tensor\": {\"shape\": [4], \"device\": \"cuda\"}}}}",
         "k.launch.json:1:52: error: 'device' must be an integer from 0 to 63, \"next\" or \"previous\"\n"
         "    {\"args\": {\"x\": {\"tensor\": {\"shape\": [4], \"device\": \"cuda\"}}}}\n"
         "                                                       ^\n"},
        {"{\"args\": {\"x\": {\"tensor\": {\"shape\": [4], \"device\": -1}}}}",
         "k.launch.json:1:52: error: 'device' must be an integer from 0 to 63, \"next\" or \"previous\"\n"
         "    {\"args\": {\"x\": {\"tensor\": {\"shape\": [4], \"device\": -1}}}}\n"
         "                                                       ^\n"},
        {"{\"args\": {\"x\": {\"tensor\": {\"shape\": [4], \"zero\": 1}}}}",
         "k.launch.json:1:50: error: 'zero' must be true or false\n"
         "    {\"args\": {\"x\": {\"tensor\": {\"shape\": [4], \"zero\": 1}}}}\n"
         "                                                     ^\n"},
        {"{\"args\": {\"x\": {\"tensor\": {\"shape\": [4], \"zero\": true, \"output\": true}}}}",
         "k.launch.json:1:66: error: an output has not been written yet: it takes no 'zero'\n    {\"args\": {\"x\": "
         "{\"tensor\": {\"shape\": [4], \"zero\": true, \"output\": "
         "true}}}}\n                                                                     ^\n"},
        {"{\"args\": {\"x\": {\"tensor\": {\"shape\": [4], \"output\": true, \"data\": [1]}}}}",
         "k.launch.json:1:52: error: an output has not been written yet: it takes no 'data'\n    {\"args\": {\"x\": "
         "{\"tensor\": {\"shape\": [4], \"output\": true, \"data\": "
         "[1]}}}}\n                                                       ^\n"},
        {"{\"args\": {\"x\": {\"pointers\": 3}}}", "k.launch.json:1:29: error: 'pointers' must be a name in quotes\n"
                                                   "    {\"args\": {\"x\": {\"pointers\": 3}}}\n"
                                                   "                                ^\n"},
        {"{\"args\": {\"x\": {\"rank\": false}}}", "k.launch.json:1:25: error: 'rank' must be true where it is given\n"
                                                   "    {\"args\": {\"x\": {\"rank\": false}}}\n"
                                                   "                            ^\n"},
        {"{\"args\": {\"x\": {\"devices\": 2}}}", "k.launch.json:1:28: error: 'devices' must be true or false\n"
                                                  "    {\"args\": {\"x\": {\"devices\": 2}}}\n"
                                                  "                               ^\n"},
        {"{\"args\": {\"x\": {\"rank\": true, \"devices\": true}}}",
         "k.launch.json:1:16: error: 'x' must be a number, true, false, or an object with one of \"tensor\", "
         "\"descriptor\", \"pointers\", \"rank\", \"devices\" and \"bytes\"\n"
         "    {\"args\": {\"x\": {\"rank\": true, \"devices\": true}}}\n"
         "                   ^\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_error(cases[i].text, strlen(cases[i].text), cases[i].expected);
    assert_error("{\0}", 3,
                 "k.launch.json:1:2: error: this is not JSON: string or '}' expected near end of file\n"
                 "    {?}\n"
                 "     ^\n");
}

/* The message about a text of `count` times `unit`, between `before` and `after`. */
static void assert_limit(const char *before, const char *unit, size_t count, const char *after, const char *message) {
    Text text = {0};
    text_str(&text, str_of(before));
    for (size_t i = 0; i < count; i++)
        text_str(&text, str_of(unit));
    text_str(&text, str_of(after));
    Fixture fixture = read_bytes(text.data, text.size);
    if (message) {
        assert_false(fixture.good);
        assert_string_equal(fixture.diagnostics.items[0].message, message);
    } else {
        assert_true(fixture.good);
    }
    done(&fixture);
    text_free(&text);
}

/* All that a template leaves open is told, a list once; what the writer keeps for itself may be null. */
static void what_is_open_is_named(void **state) {
    (void)state;
    Fixture fixture =
        read_text("{\"grid\": [null, 1, null], \"x-a\": null, \"args\": {\"n\": null, \"p\": {\"tensor\": "
                  "{\"shape\": [4, null], \"x-b\": null}}}, \"after\": [\"k\", null]}");
    static const char *const names[] = {"'grid'", "'n'", "'shape'", "'after'"};
    assert_false(fixture.good);
    assert_int_equal(fixture.diagnostics.count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_non_null(strstr(fixture.diagnostics.items[i].message, names[i]));
        assert_non_null(strstr(fixture.diagnostics.items[i].message, "must still be filled in"));
    }
    done(&fixture);
    fixture = read_text("{\"from\": null, \"x-a\": [null], \"args\": {\"n\": 0}}");
    assert_true(fixture.good);
    done(&fixture);
    /* Further in than anything is read: another fault. */
    fixture = read_text("{\"args\": {\"n\": [[[[[[[[null]]]]]]]]}}");
    assert_false(fixture.good);
    assert_int_equal(fixture.diagnostics.count, 1);
    done(&fixture);
}

static void limits(void **state) {
    (void)state;
    assert_limit("{", "                                ", 2 << 20, "}", "a launch file has at most 67108864 bytes");
    assert_limit("{\"x-a\":", "[", 63, "", "this is not JSON: ']' expected near end of file");
    assert_limit("{\"x-a\":", "[", 64, "", "a launch file has at most 64 nested lists and objects");
    assert_limit("{\"x-a\":[", "{},", 65534, "0]}", NULL);
    assert_limit("{\"x-a\":[", "{},", 65535, "0]}", "a launch file has at most 65536 lists and objects");
    assert_limit("{\"x-a\":[", "1,2,3,4,5,6,7,8,", 2 << 20, "1]}", "a launch file has at most 16777216 values");
    assert_limit("{\"x-a\":\"", ",[", 100000, "\"}", NULL);
}

static void at_most_so_many_arguments(void **state) {
    (void)state;
    for (size_t count = 4096; count <= 4097; count++) {
        Text text = {0};
        text_addf(&text, "{\"args\": {\"a\": 0");
        for (size_t i = 1; i < count; i++)
            text_addf(&text, ", \"a%zu\": 0", i);
        text_addf(&text, "}}");
        Fixture fixture = read_bytes(text.data, text.size);
        assert_int_equal(fixture.good, count == 4096);
        if (count == 4096) {
            assert_int_equal(fixture.launch.count, 4096);
            assert_null(launch_set(&fixture.arena, &fixture.launch, "a17=3"));
            assert_string_equal(launch_set(&fixture.arena, &fixture.launch, "b=3"), "there are too many arguments");
        } else {
            assert_string_equal(fixture.diagnostics.items[0].message,
                                "there are 4097 arguments, and at most 4096 are allowed");
        }
        done(&fixture);
        text_free(&text);
    }
}

/* The one that owns the arena gets the jump; the address sanitizer would see what Jansson had left behind. */
static void a_full_arena_is_its_owners_matter(void **state) {
    (void)state;
    const char text[] = "{\"args\": {\"a\": 1, \"b\": 2}}";
    Source *source = source_copy("t", text, strlen(text));
    Diagnostics diagnostics = {0};
    Launch launch;
    Arena arena;
    jmp_buf exhausted;
    arena_init(&arena, 16);
    arena.exhausted = &exhausted;
    if (setjmp(exhausted) == 0) {
        launch_read(&arena, source, &launch, &diagnostics);
        fail_msg("16 bytes were enough");
    }
    assert_ptr_equal(arena.exhausted, &exhausted);
    arena_free(&arena);
    diagnostics_free(&diagnostics);
    source_free(source);
}

/* ---- The command line --------------------------------------------------------------------------- */

static void arguments_on_the_command_line(void **state) {
    (void)state;
    static const struct {
        const char *text, *words; /* words after "grid 1x1x1, " */
    } cases[] = {
        {"N=128", "N = 128"},
        {"N=-0x10", "N = -16"},
        {" N = 7 ", "N = 7"},
        {"N=18446744073709551615", "N = -1"},
        {"flag=true", "flag = 1"},
        {"flag=False", "flag = 0"},
        {"x=1.5", "x = 1.5"},
        {"x=1e3", "x = 1000.0"},
        {"lens=[1,2,3]", "lens = tensor 3 [1, 2, 3]"},
        {"lens=[ -1 , 4294967295 ]", "lens = tensor 2 [-1, 4294967295]"},
        {"lens=[]", "lens = tensor 0 []"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena arena;
        Launch launch = {.grid = {1, 1, 1}};
        arena_init(&arena, 1 << 20);
        assert_null(launch_set(&arena, &launch, cases[i].text));
        char *words = shown(&launch, launch_describe), *json = shown(&launch, launch_write);
        assert_string_equal(words + strlen("grid 1x1x1, "), cases[i].words);
        Fixture again = read_text(json);
        assert_true(again.good);
        assert_same(&launch, &again.launch);
        done(&again);
        free(words);
        free(json);
        arena_free(&arena);
    }
}

static void a_list_is_memory_of_32_bits(void **state) {
    (void)state;
    Arena arena;
    Launch launch = {0};
    arena_init(&arena, 1 << 20);
    assert_null(launch_set(&arena, &launch, "lens=[1,2,3]"));
    const Argument *lens = launch_find(&launch, STR("lens"));
    assert_int_equal(lens->kind, ARGUMENT_TENSOR);
    assert_int_equal(lens->element_bits, 32);
    assert_int_equal(lens->rank, 1);
    assert_int_equal(lens->shape[0], 3);
    assert_int_equal(lens->strides[0], 1);
    assert_int_equal(lens->data_count, 3);
    arena_free(&arena);
}

static void a_later_argument_takes_the_place_of_an_earlier_one(void **state) {
    (void)state;
    Fixture fixture = read_text("{\"args\": {\"N\": 1, \"x\": {\"tensor\": {\"shape\": [2, 2]}}, \"y\": 3}}");
    assert_null(launch_set(&fixture.arena, &fixture.launch, "x=0.5"));
    for (int i = 0; i < 20; i++) {
        char text[16];
        snprintf(text, sizeof text, "z%d=%d", i % 10, i);
        assert_null(launch_set(&fixture.arena, &fixture.launch, text));
    }
    assert_shown(&fixture.launch, launch_describe,
                 "grid 1x1x1, N = 1, x = 0.5, y = 3, z0 = 10, z1 = 11, z2 = 12, z3 = 13, z4 = 14, z5 = 15, z6 = 16, "
                 "z7 = 17, z8 = 18, z9 = 19");
    done(&fixture);
}

static void wrong_arguments_on_the_command_line(void **state) {
    (void)state;
    static const char *const value =
        "an argument must be a 64-bit integer, a float, true, false, or a list of integers in brackets";
    static const char *const list = "a list must have 32-bit integers separated by commas";
    const struct {
        const char *text, *problem;
    } cases[] = {
        {"", "an argument must be NAME=VALUE"},
        {"N", "an argument must be NAME=VALUE"},
        {"=3", "an argument must be NAME=VALUE, and the name is missing"},
        {"a b=3", "an argument's name may have letters, digits, '_', '.', '$' and '-'"},
        {"\xe9=3", "an argument's name may have letters, digits, '_', '.', '$' and '-'"},
        {"N=", value},
        {"N=abc", value},
        {"N=nan", value},
        {"N=1e999", value},
        {"N=18446744073709551616", value},
        {"N=-9223372036854775809", value},
        {"N=3 4", value},
        {"N=\"3\"", value},
        {"N={}", value},
        {"N=[", "a list must end with ']'"},
        {"N=[1", "a list must end with ']'"},
        {"N=[1,]", list},
        {"N=[,]", list},
        {"N=[1 2]", list},
        {"N=[1.5]", list},
        {"N=[4294967296]", list},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena arena;
        Launch launch = {0};
        arena_init(&arena, 1 << 20);
        const char *problem = launch_set(&arena, &launch, cases[i].text);
        assert_non_null(problem);
        assert_string_equal(problem, cases[i].problem);
        assert_int_equal(launch.count, 0);
        arena_free(&arena);
    }
}

static void grids_on_the_command_line(void **state) {
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"32", "grid 32x1x1"},     {"32,2", "grid 32x2x1"},    {"32,2,3", "grid 32x2x3"},
        {"32x2x3", "grid 32x2x3"}, {" 32, 2 ", "grid 32x2x1"}, {"2147483647", "grid 2147483647x1x1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Launch launch = {0};
        assert_null(launch_set_grid(&launch, cases[i].text));
        assert_shown(&launch, launch_describe, cases[i].words);
    }
    static const char *const wrong[] = {"", ",", "0", "-1", "1,", "1,2,3,4", "1;2", "2147483648", "a", "1.5"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        Launch launch = {.grid = {7, 8, 9}};
        assert_string_equal(launch_set_grid(&launch, wrong[i]),
                            "a grid must be one, two or three positive integers separated by commas");
        assert_shown(&launch, launch_describe, "grid 7x8x9");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launch_file_in_words_and_as_json),
        cmocka_unit_test(arguments_are_found_by_name),
        cmocka_unit_test(element_types_by_all_their_names),
        cmocka_unit_test(errors_have_a_place),
        cmocka_unit_test(what_is_open_is_named),
        cmocka_unit_test(limits),
        cmocka_unit_test(at_most_so_many_arguments),
        cmocka_unit_test(a_full_arena_is_its_owners_matter),
        cmocka_unit_test(arguments_on_the_command_line),
        cmocka_unit_test(a_list_is_memory_of_32_bits),
        cmocka_unit_test(a_later_argument_takes_the_place_of_an_earlier_one),
        cmocka_unit_test(wrong_arguments_on_the_command_line),
        cmocka_unit_test(grids_on_the_command_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
