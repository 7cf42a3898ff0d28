/* emulate: tensors of integers: element by element, changes of shape, reductions, and what each of them costs. */
#include "evaluating.h"

/* The value that the function of this body returns as %r; it lives until done_evaluating. */
static Evaluating *start_body(const char *result, const char *body, const Word *arguments) {
    char text[4096];
    snprintf(text, sizeof text,
             "tt.func @f(%%s: i32, %%p: !tt.ptr<f16>, %%u: tensor<4xf32>) -> %s {\n%s\ntt.return %%r : %s\n}\n", result,
             body, result);
    return start_evaluating(text, arguments);
}

static const Word some_arguments[] = {
    {.bits = 5, .kind = WORD_INTEGER}, {.bits = 4096, .kind = WORD_INTEGER}, {.bits = 123, .kind = WORD_UNKNOWN}};

/* How many elements of data a known tensor has. */
static size_t data_of(const Tensor *tensor) {
    size_t size = 1;
    for (unsigned i = 0; i < tensor->rank; i++)
        size += tensor->strides[i] ? (size_t)((tensor->dims[i] - 1) * tensor->strides[i]) : 0;
    return size;
}

static void check(const char *result, const char *body, size_t count, const int64_t *expected, size_t data, int line) {
    Evaluating *evaluating = start_body(result, body, some_arguments);
    Word word = returned(evaluating, 0);
    if (!word_is(word, WORD_TENSOR) || !word.tensor->known)
        fail_msg("line %d: unknown: %s", line, body);
    if (tensor_size(word.tensor) != count)
        fail_msg("line %d: %zu elements", line, tensor_size(word.tensor));
    for (size_t i = 0; i < count; i++)
        if (tensor_linear(word.tensor, i) != expected[i])
            fail_msg("line %d: element %zu is %lld, expected %lld", line, i, (long long)tensor_linear(word.tensor, i),
                     (long long)expected[i]);
    if (data && data_of(word.tensor) != data)
        fail_msg("line %d: %zu elements of data, expected %zu", line, data_of(word.tensor), data);
    done_evaluating(evaluating);
}

/* The elements in row-major order, and of how many elements of data the tensor is made (0: whatever). */
#define CHECK(result, body, data, ...) \
    check(result, body, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__}, data, __LINE__)

static void check_unknown(const char *result, const char *body) {
    Evaluating *evaluating = start_body(result, body, some_arguments);
    Word word = returned(evaluating, 0);
    assert_true(word_is(word, WORD_TENSOR));
    assert_false(word.tensor->known);
    done_evaluating(evaluating);
}

#define RANGE_4   "%r4 = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>\n"
#define RANGE_6   "%r6 = tt.make_range {start = 0 : i32, end = 6 : i32} : tensor<6xi32>\n"
#define COLUMN    "%column = tt.expand_dims %r4 {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>\n"
#define TABLE_2x3 RANGE_6 "%table = tt.reshape %r6 : tensor<6xi32> -> tensor<2x3xi32>\n"
#define SPLAT(n)  "%x" #n " = tt.splat %s : i32 -> tensor<" #n "xi32>\n"

static void constants(void **state) {
    (void)state;
    CHECK("tensor<4xi32>", "%r = arith.constant dense<7> : tensor<4xi32>", 1, 7, 7, 7, 7);
    CHECK("tensor<2xi1>", "%r = arith.constant dense<true> : tensor<2xi1>", 1, 1, 1);
    CHECK("tensor<3xi8>", "%r = arith.constant dense<[1, -2, 255]> : tensor<3xi8>", 3, 1, -2, -1);
    CHECK("tensor<2x2xi64>", "%r = arith.constant dense<[[1, 2], [3, 0x10]]> : tensor<2x2xi64>", 4, 1, 2, 3, 16);
    CHECK("tensor<2xi1>", "%r = arith.constant dense<[true, false]> : tensor<2xi1>", 2, 1, 0);
    CHECK("tensor<2xi16>", "%r = arith.constant dense<\"0x0100FFFF\"> : tensor<2xi16>", 2, 1, -1);
    CHECK("tensor<2xi16>", "%r = arith.constant dense<\"0x0200\"> : tensor<2xi16>", 1, 2, 2);
    CHECK("tensor<i32>", "%r = arith.constant dense<3> : tensor<i32>", 1, 3);
    CHECK("tensor<4xi32>", "%r = tt.make_range {start = 2 : i32, end = 6 : i32} : tensor<4xi32>", 4, 2, 3, 4, 5);
    check_unknown("tensor<4xf32>", "%r = arith.constant dense<0.0> : tensor<4xf32>");
    check_unknown("tensor<3xi32>", "%r = arith.constant dense<[1, 2]> : tensor<3xi32>");
    check_unknown("tensor<4xi32>", "%r = ub.poison : tensor<4xi32>");
    check_unknown("tensor<2xi16>", "%r = arith.constant dense<\"0x01zz0000\"> : tensor<2xi16>");
}

static void a_splat_costs_one_element(void **state) {
    (void)state;
    CHECK("tensor<4xi32>", "%r = tt.splat %s : i32 -> tensor<4xi32>", 1, 5, 5, 5, 5);
    CHECK("tensor<4xi32>", SPLAT(4) "%r = arith.addi %x4, %x4 : tensor<4xi32>", 1, 10, 10, 10, 10);
    CHECK("tensor<4xi32>", SPLAT(4) RANGE_4 "%r = arith.muli %x4, %r4 : tensor<4xi32>", 4, 0, 5, 10, 15);
    CHECK("tensor<4xi1>",
          SPLAT(4) RANGE_4 "%k = arith.constant dense<2> : tensor<4xi32>\n"
                           "%r = arith.cmpi slt, %r4, %k : tensor<4xi32>",
          4, 1, 1, 0, 0);
    CHECK("tensor<2x2xi32>", "%r = tt.splat %s : i32 -> tensor<2x2xi32>", 1, 5, 5, 5, 5);
}

/* Rows plus columns: data only where the operands have some. */
static void broadcasting_keeps_repeats(void **state) {
    (void)state;
    const char *rows = RANGE_4 COLUMN "%wide = tt.broadcast %column : tensor<4x1xi32> -> tensor<4x2xi32>\n";
    char body[2048];
    snprintf(body, sizeof body, "%s%%r = arith.addi %%wide, %%wide : tensor<4x2xi32>", rows);
    CHECK("tensor<4x2xi32>", body, 4, 0, 0, 2, 2, 4, 4, 6, 6);
    snprintf(body, sizeof body,
             "%s%%r2 = tt.make_range {start = 0 : i32, end = 2 : i32} : tensor<2xi32>\n"
             "%%row = tt.expand_dims %%r2 {axis = 0 : i32} : tensor<2xi32> -> tensor<1x2xi32>\n"
             "%%tall = tt.broadcast %%row : tensor<1x2xi32> -> tensor<4x2xi32>\n"
             "%%ten = arith.constant dense<10> : tensor<4x2xi32>\n"
             "%%tens = arith.muli %%wide, %%ten : tensor<4x2xi32>\n"
             "%%r = arith.addi %%tens, %%tall : tensor<4x2xi32>",
             rows);
    CHECK("tensor<4x2xi32>", body, 8, 0, 1, 10, 11, 20, 21, 30, 31);
}

static void pointers_and_masks(void **state) {
    (void)state;
    CHECK("tensor<4x!tt.ptr<f16>>",
          RANGE_4 "%q = tt.splat %p : !tt.ptr<f16> -> tensor<4x!tt.ptr<f16>>\n"
                  "%r = tt.addptr %q, %r4 : tensor<4x!tt.ptr<f16>>, tensor<4xi32>",
          4, 4096, 4098, 4100, 4102);
    CHECK("tensor<4xi32>",
          RANGE_4 SPLAT(4) "%m = arith.constant dense<[true, false, false, true]> : tensor<4xi1>\n"
                           "%r = arith.select %m, %r4, %x4 : tensor<4xi1>, tensor<4xi32>",
          4, 0, 5, 5, 3);
    CHECK("tensor<4xi32>", RANGE_4 SPLAT(4) "%t = arith.constant true\n%r = arith.select %t, %r4, %x4 : tensor<4xi32>",
          4, 0, 1, 2, 3);
    CHECK("tensor<4xi64>", RANGE_4 "%r = arith.extsi %r4 : tensor<4xi32> to tensor<4xi64>", 4, 0, 1, 2, 3);
    CHECK("tensor<4xi1>", RANGE_4 "%r = arith.trunci %r4 : tensor<4xi32> to tensor<4xi1>", 4, 0, 1, 0, 1);
}

static void one_bad_element_makes_all_unknown(void **state) {
    (void)state;
    check_unknown("tensor<4xi32>", RANGE_4 SPLAT(4) "%r = arith.divsi %x4, %r4 : tensor<4xi32>");
    CHECK("tensor<4xi32>", RANGE_4 SPLAT(4) "%r = arith.remsi %r4, %x4 : tensor<4xi32>", 4, 0, 1, 2, 3);
}

static void changes_of_shape_share_data(void **state) {
    (void)state;
    CHECK("tensor<2x3xi32>", TABLE_2x3 "%r = ttg.convert_layout %table : tensor<2x3xi32> -> tensor<2x3xi32>", 6, 0, 1,
          2, 3, 4, 5);
    CHECK("tensor<3x2xi32>",
          TABLE_2x3 "%r = tt.trans %table {order = array<i32: 1, 0>} : tensor<2x3xi32> -> tensor<3x2xi32>", 6, 0, 3, 1,
          4, 2, 5);
    CHECK("tensor<1x6x1xi32>", TABLE_2x3 "%r = tt.reshape %table : tensor<2x3xi32> -> tensor<1x6x1xi32>", 6, 0, 1, 2, 3,
          4, 5);
    CHECK("tensor<3x2xi32>", TABLE_2x3 "%r = tt.reshape %table allow_reorder : tensor<2x3xi32> -> tensor<3x2xi32>", 6,
          0, 1, 2, 3, 4, 5);
    /* One that does not fit the strides is copied. */
    CHECK("tensor<6xi32>",
          TABLE_2x3 "%t = tt.trans %table {order = array<i32: 1, 0>} : tensor<2x3xi32> -> tensor<3x2xi32>\n"
                    "%r = tt.reshape %t : tensor<3x2xi32> -> tensor<6xi32>",
          6, 0, 3, 1, 4, 2, 5);
    /* A repeated dimension may be cut up, or must be written out when it is made one with another. */
    const char *wide = RANGE_4 COLUMN "%wide = tt.broadcast %column : tensor<4x1xi32> -> tensor<4x4xi32>\n";
    char body[2048];
    snprintf(body, sizeof body, "%s%%r = tt.reshape %%wide : tensor<4x4xi32> -> tensor<2x2x2x2xi32>", wide);
    CHECK("tensor<2x2x2x2xi32>", body, 4, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    snprintf(body, sizeof body, "%s%%r = tt.reshape %%wide : tensor<4x4xi32> -> tensor<16xi32>", wide);
    CHECK("tensor<16xi32>", body, 16, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    CHECK("tensor<2x2xi32>", SPLAT(4) "%r = tt.reshape %x4 : tensor<4xi32> -> tensor<2x2xi32>", 1, 5, 5, 5, 5);
}

static void joining_and_splitting(void **state) {
    (void)state;
    const char *joined = RANGE_4 SPLAT(4) "%j = tt.join %r4, %x4 : tensor<4xi32> -> tensor<4x2xi32>\n";
    char body[2048];
    snprintf(body, sizeof body, "%s%%r = ttg.convert_layout %%j : tensor<4x2xi32> -> tensor<4x2xi32>", joined);
    CHECK("tensor<4x2xi32>", body, 8, 0, 5, 1, 5, 2, 5, 3, 5);
    snprintf(body, sizeof body, "%s%%r, %%other = tt.split %%j : tensor<4x2xi32> -> tensor<4xi32>", joined);
    CHECK("tensor<4xi32>", body, 0, 0, 1, 2, 3);
    snprintf(body, sizeof body, "%s%%other, %%r = tt.split %%j : tensor<4x2xi32> -> tensor<4xi32>", joined);
    CHECK("tensor<4xi32>", body, 0, 5, 5, 5, 5);
    CHECK("tensor<8xi32>", RANGE_4 SPLAT(4) "%r = tt.cat %r4, %x4 : tensor<4xi32> -> tensor<8xi32>", 8, 0, 1, 2, 3, 5,
          5, 5, 5);
    CHECK("tensor<2x6xi32>",
          TABLE_2x3 "%r = amdg.concat %table, %table : tensor<2x3xi32>, tensor<2x3xi32> -> tensor<2x6xi32>", 12, 0, 1,
          2, 0, 1, 2, 3, 4, 5, 3, 4, 5);
    CHECK("tensor<1x2xi32>", TABLE_2x3 "%r = amdg.extract_slice %table [1, 1] : tensor<2x3xi32> to tensor<1x2xi32>", 0,
          4, 5);
    check_unknown("tensor<1x2xi32>",
                  TABLE_2x3 "%r = amdg.extract_slice %table [1, 2] : tensor<2x3xi32> to tensor<1x2xi32>");
}

static void gathering(void **state) {
    (void)state;
    CHECK("tensor<2x2xi32>",
          TABLE_2x3
          "%i = arith.constant dense<[[2, 0], [1, 1]]> : tensor<2x2xi32>\n"
          "%r = tt.gather %table[%i] {axis = 1 : i32} : (tensor<2x3xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>",
          4, 2, 0, 4, 4);
    CHECK("tensor<1x3xi32>",
          TABLE_2x3
          "%i = arith.constant dense<1> : tensor<1x3xi32>\n"
          "%r = tt.gather %table[%i] {axis = 0 : i32} : (tensor<2x3xi32>, tensor<1x3xi32>) -> tensor<1x3xi32>",
          3, 3, 4, 5);
    check_unknown("tensor<2x1xi32>", TABLE_2x3
                  "%i = arith.constant dense<3> : tensor<2x1xi32>\n"
                  "%r = tt.gather %table[%i] {axis = 1 : i32} : (tensor<2x3xi32>, tensor<2x1xi32>) -> tensor<2x1xi32>");
}

#define REDUCE(axis, body, to)                                                                                \
    TABLE_2x3 "%r = \"tt.reduce\"(%table) <{axis = " #axis " : i32}> ({\n^bb0(%a: i32, %b: i32):\n" body "\n" \
              "tt.reduce.return %c : i32\n}) : (tensor<2x3xi32>) -> " to
#define SCAN(axis, reverse, body)                                                                \
    TABLE_2x3 "%r = \"tt.scan\"(%table) <{axis = " #axis " : i32, reverse = " #reverse "}> ({\n" \
              "^bb0(%a: i32, %b: i32):\n" body "\ntt.scan.return %c : i32\n}) : (tensor<2x3xi32>) -> tensor<2x3xi32>"

static void reductions(void **state) {
    (void)state;
    CHECK("tensor<2xi32>", REDUCE(1, "%c = arith.addi %a, %b : i32", "tensor<2xi32>"), 2, 3, 12);
    CHECK("tensor<3xi32>", REDUCE(0, "%c = arith.addi %a, %b : i32", "tensor<3xi32>"), 3, 3, 5, 7);
    CHECK("tensor<3xi32>", REDUCE(0, "%c = arith.muli %a, %b : i32", "tensor<3xi32>"), 3, 0, 4, 10);
    CHECK("tensor<2xi32>", REDUCE(1, "%c = arith.maxsi %b, %a : i32", "tensor<2xi32>"), 2, 2, 5);
    CHECK("tensor<2xi32>", REDUCE(1, "%c = arith.minui %a, %b : i32", "tensor<2xi32>"), 2, 0, 3);
    CHECK("tensor<2xi32>", REDUCE(1, "%c = arith.xori %a, %b : i32", "tensor<2xi32>"), 2, 3, 2);
    CHECK("tensor<2xi32>", REDUCE(1, "%c = arith.ori %a, %b : i32", "tensor<2xi32>"), 2, 3, 7);
    CHECK("tensor<2xi32>", REDUCE(1, "%c = arith.andi %a, %b : i32", "tensor<2xi32>"), 2, 0, 0);
    CHECK("tensor<2xi32>",
          REDUCE(1, "%g = arith.cmpi sgt, %a, %b : i32\n%c = arith.select %g, %a, %b : i32", "tensor<2xi32>"), 2, 2, 5);
    CHECK("tensor<2xi32>",
          REDUCE(1, "%g = arith.cmpi sgt, %a, %b : i32\n%c = arith.select %g, %b, %a : i32", "tensor<2xi32>"), 2, 0, 3);
    CHECK("tensor<2xi32>",
          REDUCE(1, "%g = arith.cmpi ult, %a, %b : i32\n%c = arith.select %g, %a, %b : i32", "tensor<2xi32>"), 2, 0, 3);
    check_unknown("tensor<2xi32>", REDUCE(1, "%c = arith.subi %a, %b : i32", "tensor<2xi32>"));
    check_unknown("tensor<2xi32>", REDUCE(1, "%c = arith.addi %a, %a : i32", "tensor<2xi32>"));
    check_unknown("tensor<2xi32>",
                  REDUCE(1, "%d = arith.addi %a, %b : i32\n%c = arith.addi %d, %b : i32", "tensor<2xi32>"));
}

static void a_reduction_of_a_vector_is_a_scalar(void **state) {
    (void)state;
    const char *body = RANGE_4 "%r = \"tt.reduce\"(%r4) <{axis = 0 : i32}> ({\n^bb0(%a: i32, %b: i32):\n"
                               "%c = arith.addi %a, %b : i32\ntt.reduce.return %c : i32\n}) : (tensor<4xi32>) -> i32";
    Evaluating *evaluating = start_body("i32", body, some_arguments);
    Word word = returned(evaluating, 0);
    assert_int_equal(word.kind, WORD_INTEGER);
    assert_int_equal(word.bits, 6);
    done_evaluating(evaluating);
}

static void scans(void **state) {
    (void)state;
    CHECK("tensor<2x3xi32>", SCAN(1, false, "%c = arith.addi %a, %b : i32"), 6, 0, 1, 3, 3, 7, 12);
    CHECK("tensor<2x3xi32>", SCAN(1, true, "%c = arith.addi %a, %b : i32"), 6, 3, 3, 2, 12, 9, 5);
    CHECK("tensor<2x3xi32>", SCAN(0, false, "%c = arith.maxsi %a, %b : i32"), 6, 0, 1, 2, 3, 4, 5);
    CHECK("tensor<2x3xi32>", SCAN(0, true, "%c = arith.addi %a, %b : i32"), 6, 3, 5, 7, 3, 4, 5);
}

static void a_repeated_axis_is_reduced_as_often_as_it_repeats(void **state) {
    (void)state;
    CHECK("tensor<2xi32>",
          "%x = tt.splat %s : i32 -> tensor<2x3xi32>\n%r = \"tt.reduce\"(%x) <{axis = 1 : i32}> ({\n^bb0(%a: i32, %b: "
          "i32):\n"
          "%c = arith.addi %a, %b : i32\ntt.reduce.return %c : i32\n}) : (tensor<2x3xi32>) -> tensor<2xi32>",
          1, 15, 15);
    CHECK("tensor<2x3xi32>",
          "%x = tt.splat %s : i32 -> tensor<2x3xi32>\n%r = \"tt.scan\"(%x) <{axis = 1 : i32, reverse = false}> ({\n"
          "^bb0(%a: i32, %b: i32):\n%c = arith.addi %a, %b : i32\ntt.scan.return %c : i32\n}) : (tensor<2x3xi32>) -> "
          "tensor<2x3xi32>",
          3, 5, 10, 15, 5, 10, 15);
}

static void back_to_a_scalar(void **state) {
    (void)state;
    Evaluating *evaluating = start_body(
        "i32", "%x1 = tt.splat %s : i32 -> tensor<1xi32>\n%r = tt.unsplat %x1 : tensor<1xi32>", some_arguments);
    Word word = returned(evaluating, 0);
    assert_int_equal(word.kind, WORD_INTEGER);
    assert_int_equal(word.bits, 5);
    done_evaluating(evaluating);
}

/* An unknown tensor has the shape of its type; a product with 0, or a select that is decided, is known all the same. */
static void unknown_tensors(void **state) {
    (void)state;
    Evaluating *evaluating = start_body("tensor<4xf32>", "%r = arith.addf %u, %u : tensor<4xf32>", some_arguments);
    Word word = returned(evaluating, 0);
    assert_true(word_is(word, WORD_TENSOR));
    assert_false(word.tensor->known);
    assert_int_equal(word.tensor->rank, 1);
    assert_int_equal(word.tensor->dims[0], 4);
    assert_int_equal(word.tensor->width, 32);
    done_evaluating(evaluating);

    const char *loaded = "%z = arith.constant dense<0> : tensor<4xi32>\n%k = arith.constant dense<1> : tensor<4xi32>\n"
                         "%l = arith.fptosi %u : tensor<4xf32> to tensor<4xi32>\n";
    char body[1024];
    snprintf(body, sizeof body, "%s%%r = arith.muli %%l, %%z : tensor<4xi32>", loaded);
    CHECK("tensor<4xi32>", body, 1, 0, 0, 0, 0);
    snprintf(body, sizeof body, "%s%%r = arith.remsi %%l, %%k : tensor<4xi32>", loaded);
    CHECK("tensor<4xi32>", body, 1, 0, 0, 0, 0);
    snprintf(body, sizeof body, "%s%%r = arith.muli %%l, %%k : tensor<4xi32>", loaded);
    check_unknown("tensor<4xi32>", body);
    snprintf(body, sizeof body,
             "%s%%f = arith.constant dense<false> : tensor<4xi1>\n%%r = arith.select %%f, %%l, %%k : tensor<4xi1>, "
             "tensor<4xi32>",
             loaded);
    CHECK("tensor<4xi32>", body, 1, 1, 1, 1, 1);
}

/* Shapes of which too much data would have to be kept, or that no tensor here can have, are unknown and cost nothing.
 */
static void large_and_odd_shapes_are_unknown(void **state) {
    (void)state;
    static const char *const large =
        "%a = tt.make_range {start = 0 : i32, end = 65536 : i32} : tensor<65536xi32>\n"
        "%c = tt.expand_dims %a {axis = 1 : i32} : tensor<65536xi32> -> tensor<65536x1xi32>\n"
        "%w = tt.broadcast %c : tensor<65536x1xi32> -> tensor<65536x65536xi32>\n"
        "%o = tt.expand_dims %a {axis = 0 : i32} : tensor<65536xi32> -> tensor<1x65536xi32>\n"
        "%t = tt.broadcast %o : tensor<1x65536xi32> -> tensor<65536x65536xi32>\n"
        "%r = arith.addi %w, %t : tensor<65536x65536xi32>";
    check_unknown("tensor<65536x65536xi32>", large);
    check_unknown("tensor<9999999999xi32>",
                  "%r = tt.make_range {start = 0 : i32, end = 9999999999 : i32} : tensor<9999999999xi32>");
    check_unknown("tensor<?xi32>", "%r = tt.splat %s : i32 -> tensor<?xi32>");
    check_unknown("tensor<0xi32>", "%r = tt.splat %s : i32 -> tensor<0xi32>");
    check_unknown("tensor<1x1x1x1x1x1x1x1x1x1x1x1x2xi32>",
                  "%r = tt.splat %s : i32 -> tensor<1x1x1x1x1x1x1x1x1x1x1x1x2xi32>");
    check_unknown("tensor<99999999999x99999999999xi32>",
                  "%x = tt.splat %s : i32 -> tensor<99999999999x99999999999xi32>\n"
                  "%r = tt.reshape %x : tensor<99999999999x99999999999xi32> -> tensor<99999999999x99999999999xi32>");
    check_unknown("tensor<4294967296xi32>", "%x = tt.splat %s : i32 -> tensor<4294967296xi32>\n"
                                            "%r = \"tt.scan\"(%x) <{axis = 0 : i32, reverse = false}> ({\n"
                                            "^bb0(%a: i32, %b: i32):\n%c = arith.addi %a, %b : i32\n"
                                            "tt.scan.return %c : i32\n}) : (tensor<4294967296xi32>) -> "
                                            "tensor<4294967296xi32>");
}

/* Ops whose types do not go together, as a file may have them, are unknown rather than anything worse. */
static void shapes_that_do_not_agree_are_unknown(void **state) {
    (void)state;
    static const struct {
        const char *result, *body;
    } cases[] = {
        {"tensor<8xi32>", RANGE_4 "%r = tt.reshape %r4 : tensor<4xi32> -> tensor<8xi32>"},
        {"tensor<4x3xi32>", RANGE_4 "%r = tt.broadcast %r4 : tensor<4xi32> -> tensor<4x3xi32>"},
        {"tensor<8xi32>", RANGE_4 "%r = tt.broadcast %r4 : tensor<4xi32> -> tensor<8xi32>"},
        {"tensor<4x2xi32>", RANGE_4 "%r = tt.expand_dims %r4 {axis = 1 : i32} : tensor<4xi32> -> tensor<4x2xi32>"},
        {"tensor<1x4xi32>", RANGE_4 "%r = tt.expand_dims %r4 {axis = 9 : i32} : tensor<4xi32> -> tensor<1x4xi32>"},
        {"tensor<2x3xi32>",
         TABLE_2x3 "%r = tt.trans %table {order = array<i32: 1, 0>} : tensor<2x3xi32> -> tensor<2x3xi32>"},
        {"tensor<2x2xi32>", RANGE_4 "%q = tt.reshape %r4 : tensor<4xi32> -> tensor<2x2xi32>\n"
                                    "%r = tt.trans %q {order = array<i32: 0, 0>} : tensor<2x2xi32> -> tensor<2x2xi32>"},
        {"tensor<2x3xi32>",
         TABLE_2x3 "%r = tt.trans %table {order = array<i32: 0, 5>} : tensor<2x3xi32> -> tensor<2x3xi32>"},
        {"tensor<9xi32>", RANGE_4 "%r = tt.cat %r4, %r4 : tensor<4xi32> -> tensor<9xi32>"},
        {"tensor<4x3xi32>", RANGE_4 "%r = tt.join %r4, %r4 : tensor<4xi32> -> tensor<4x3xi32>"},
        {"tensor<2xi32>", TABLE_2x3 "%r, %o = tt.split %table : tensor<2x3xi32> -> tensor<2xi32>"},
        {"tensor<2xi32>", REDUCE(7, "%c = arith.addi %a, %b : i32", "tensor<2xi32>")},
        {"tensor<5xi32>", REDUCE(1, "%c = arith.addi %a, %b : i32", "tensor<5xi32>")},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_unknown(cases[i].result, cases[i].body);
}

/* ---- Against element by element, with strides of all kinds ------------------------------------- */

static uint64_t random_state = 1;

static uint64_t next_random(void) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return random_state >> 33;
}

static void any_strides_give_what_the_elements_give(void **state) {
    (void)state;
    static const Evaluator codes[] = {EVALUATE_ADD, EVALUATE_SUBTRACT,       EVALUATE_MULTIPLY,
                                      EVALUATE_XOR, EVALUATE_MINIMUM_SIGNED, EVALUATE_SELECT};
    int64_t numbers[4096];
    for (size_t i = 0; i < 4096; i++)
        numbers[i] = (int64_t)next_random() % 100 - 50;
    Arena arena;
    arena_init(&arena, (size_t)1 << 26);
    for (unsigned round = 0; round < 2000; round++) {
        Evaluation how = {.code = codes[next_random() % 6],
                          .width = 8,
                          .operand_width = 8,
                          .tensor = true,
                          .rank = (uint8_t)(next_random() % 5),
                          .constant = {.kind = WORD_NOTHING}};
        unsigned count = how.code == EVALUATE_SELECT ? 3 : 2;
        Tensor tensors[3];
        Word words[3];
        for (unsigned i = 0; i < how.rank; i++)
            how.dims[i] = 1 + (int64_t)(next_random() % 4);
        for (unsigned k = 0; k < count; k++) {
            tensors[k] = (Tensor){.known = true, .rank = how.rank, .width = 8, .identity = k, .data = numbers};
            memcpy(tensors[k].dims, how.dims, sizeof how.dims);
            for (unsigned i = 0; i < how.rank; i++)
                tensors[k].strides[i] = how.dims[i] > 1 && next_random() % 3 ? (int64_t)(next_random() % 70) : 0;
            words[k] = (Word){.tensor = &tensors[k], .kind = WORD_TENSOR};
        }
        Word result = evaluate(&how, words, count, &arena);
        assert_true(word_is(result, WORD_TENSOR) && result.tensor->known);
        for (size_t i = 0; i < tensor_size(&tensors[0]); i++) {
            int64_t x = tensor_linear(&tensors[0], i), y = tensor_linear(&tensors[1], i), expected;
            int64_t z = count > 2 ? tensor_linear(&tensors[2], i) : 0;
            assert_true(evaluate_integers(how.code, 8, 8, 0, x, y, z, &expected));
            assert_int_equal(tensor_linear(result.tensor, i), expected);
        }
    }
    arena_free(&arena);
}

/* A reshape, in place or not, keeps the row-major order. */
static void a_reshape_of_any_strides_keeps_the_order(void **state) {
    (void)state;
    static const int64_t shapes[][4] = {{16, 1, 1, 1}, {4, 4, 1, 1}, {2, 2, 2, 2},  {1, 8, 1, 2},
                                        {2, 8, 1, 1},  {8, 1, 2, 1}, {1, 1, 16, 1}, {4, 1, 2, 2}};
    int64_t numbers[4096];
    for (size_t i = 0; i < 4096; i++)
        numbers[i] = (int64_t)i;
    Arena arena;
    arena_init(&arena, (size_t)1 << 26);
    for (unsigned round = 0; round < 2000; round++) {
        static const int64_t strides[] = {0, 1, 2, 4, 8, 16, 64};
        Evaluation how = {
            .code = EVALUATE_RESHAPE, .width = 32, .tensor = true, .rank = 4, .constant = {.kind = WORD_NOTHING}};
        Tensor from = {.known = true, .rank = 4, .width = 32, .data = numbers};
        memcpy(how.dims, shapes[next_random() % 8], 4 * sizeof *how.dims);
        memcpy(from.dims, shapes[next_random() % 8], 4 * sizeof *from.dims);
        for (unsigned i = 0; i < 4; i++)
            from.strides[i] = from.dims[i] > 1 ? strides[next_random() % 7] : 0;
        Word word = {.tensor = &from, .kind = WORD_TENSOR};
        Word result = evaluate(&how, &word, 1, &arena);
        assert_true(result.tensor->known);
        for (size_t i = 0; i < 16; i++)
            assert_int_equal(tensor_linear(result.tensor, i), tensor_linear(&from, i));
    }
    arena_free(&arena);
}

/* ---- Identities ------------------------------------------------------------------------------ */

static uint64_t identity_of(const char *result, const char *body) {
    Evaluating *evaluating = start_body(result, body, some_arguments);
    Word word = returned(evaluating, 0);
    assert_true(word_is(word, WORD_TENSOR));
    uint64_t identity = word.tensor->identity;
    done_evaluating(evaluating);
    return identity;
}

static void identities(void **state) {
    (void)state;
    static const struct {
        const char *result, *body;
    } different[] = {
        {"tensor<4xf32>", "%r = arith.addf %u, %u : tensor<4xf32>"},
        {"tensor<4xf32>", "%r = arith.mulf %u, %u : tensor<4xf32>"},
        {"tensor<4xf32>", "%r = arith.constant dense<0.0> : tensor<4xf32>"},
        {"tensor<4xf32>", "%r = arith.constant dense<1.0> : tensor<4xf32>"},
        {"tensor<2x2xf32>", "%r = tt.reshape %u : tensor<4xf32> -> tensor<2x2xf32>"},
        {"tensor<4xi32>", "%r = arith.constant dense<0> : tensor<4xi32>"},
        {"tensor<4xi64>", "%r = arith.constant dense<0> : tensor<4xi64>"},
        {"tensor<8xi32>", "%r = arith.constant dense<0> : tensor<8xi32>"},
        {"tensor<2x2xi32>", "%r = arith.constant dense<0> : tensor<2x2xi32>"},
        {"tensor<4xi32>", "%r = arith.constant dense<1> : tensor<4xi32>"},
        {"tensor<4xi32>", "%r = arith.constant dense<[0, 1, 2, 4]> : tensor<4xi32>"},
        {"tensor<4xi32>", "%r = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>"},
        {"tensor<4xi32>", "%r = tt.make_range {start = 1 : i32, end = 5 : i32} : tensor<4xi32>"},
        {"tensor<2xi32>", REDUCE(1, "%c = arith.addi %a, %b : i32", "tensor<2xi32>")},
        {"tensor<2xi32>", REDUCE(1, "%c = arith.subi %a, %b : i32", "tensor<2xi32>")},
        {"tensor<2xi32>", REDUCE(1, "%c = arith.subi %b, %a : i32", "tensor<2xi32>")},
    };
    enum { COUNT = sizeof different / sizeof *different };
    uint64_t found[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        found[i] = identity_of(different[i].result, different[i].body);
        for (size_t k = 0; k < i; k++)
            if (found[i] == found[k])
                fail_msg("%s\nand\n%s", different[i].body, different[k].body);
        assert_int_equal(found[i], identity_of(different[i].result, different[i].body));
    }
    /* The same in every element, however it came about; and a layout is no part of what a tensor is. */
    assert_int_equal(identity_of("tensor<4xi32>", SPLAT(4) "%r = arith.addi %x4, %x4 : tensor<4xi32>"),
                     identity_of("tensor<4xi32>", "%r = arith.constant dense<10> : tensor<4xi32>"));
    assert_int_equal(
        identity_of("tensor<4xi32, #a.b>", "%r = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32, #a.b>"),
        identity_of("tensor<4xi32>", "%r = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>"));
    assert_int_equal(identity_of("tensor<4xf32, #a.b>",
                                 "%v = ttg.convert_layout %u : tensor<4xf32> -> tensor<4xf32, #a.b>\n"
                                 "%r = arith.addf %v, %v : tensor<4xf32, #a.b>"),
                     identity_of("tensor<4xf32>", "%v = ttg.convert_layout %u : tensor<4xf32> -> tensor<4xf32>\n"
                                                  "%r = arith.addf %v, %v : tensor<4xf32>"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants),
        cmocka_unit_test(a_splat_costs_one_element),
        cmocka_unit_test(broadcasting_keeps_repeats),
        cmocka_unit_test(pointers_and_masks),
        cmocka_unit_test(one_bad_element_makes_all_unknown),
        cmocka_unit_test(changes_of_shape_share_data),
        cmocka_unit_test(joining_and_splitting),
        cmocka_unit_test(gathering),
        cmocka_unit_test(reductions),
        cmocka_unit_test(a_reduction_of_a_vector_is_a_scalar),
        cmocka_unit_test(scans),
        cmocka_unit_test(a_repeated_axis_is_reduced_as_often_as_it_repeats),
        cmocka_unit_test(back_to_a_scalar),
        cmocka_unit_test(unknown_tensors),
        cmocka_unit_test(large_and_odd_shapes_are_unknown),
        cmocka_unit_test(shapes_that_do_not_agree_are_unknown),
        cmocka_unit_test(any_strides_give_what_the_elements_give),
        cmocka_unit_test(a_reshape_of_any_strides_keeps_the_order),
        cmocka_unit_test(identities),
    };
    return cmocka_run_group_tests_name("tensor", tests, NULL, NULL);
}
