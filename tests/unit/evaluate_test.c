/* emulate: arithmetic on scalars: every evaluator at its edges, what is unknown, and what has the same identity. */
#include "evaluating.h"
#include "ir/op_ids.h"

#define LOWEST_32 INT64_C(-2147483648)

/* What has no value. */
#define UNKNOWN INT64_C(0x7ead)

/* The body of a function of %a, %b and %c, whose result is %r. */
static Word evaluate_body(const char *types[4], const char *body, const Word *arguments) {
    char text[2048];
    snprintf(text, sizeof text, "tt.func @f(%%a: %s, %%b: %s, %%c: %s) -> %s {\n%s\ntt.return %%r : %s\n}\n", types[0],
             types[1], types[2], types[3], body, types[3]);
    Evaluating *evaluating = start_evaluating(text, arguments);
    Word word = returned(evaluating, 0);
    done_evaluating(evaluating);
    assert_false(word_is(word, WORD_TENSOR));
    return word;
}

typedef struct Case {
    const char *op, *type;
    int64_t x, y, expected;
} Case;

static void check(Word found, const Case *expected) {
    bool good = expected->expected == UNKNOWN ? word_is(found, WORD_UNKNOWN)
                                              : word_is(found, WORD_INTEGER) && found.bits == expected->expected;
    if (!good)
        fail_msg("%s of %lld and %lld : %s is %s %lld", expected->op, (long long)expected->x, (long long)expected->y,
                 expected->type, word_is(found, WORD_UNKNOWN) ? "unknown" : "", (long long)found.bits);
}

/* An op on two operands of a type, or on one. */
static void check_all(const Case *cases, size_t count, bool unary) {
    for (size_t i = 0; i < count; i++) {
        char body[256];
        const char *type = cases[i].type, *types[] = {type, type, type, type};
        Word words[] = {word_integer(cases[i].x), word_integer(cases[i].y), word_integer(0)};
        snprintf(body, sizeof body, "%%r = %s %%a%s : %s", cases[i].op, unary ? "" : ", %b", type);
        check(evaluate_body(types, body, words), &cases[i]);
    }
}

#define CHECK_BINARY(cases) check_all(cases, sizeof(cases) / sizeof *(cases), false)
#define CHECK_UNARY(cases)  check_all(cases, sizeof(cases) / sizeof *(cases), true)

static void sums_and_products_wrap(void **state) {
    (void)state;
    static const Case cases[] = {
        {"arith.addi", "i32", 2, 3, 5},
        {"arith.addi", "i32", INT32_MAX, 1, LOWEST_32},
        {"arith.addi", "i8", 127, 1, -128},
        {"arith.addi", "i1", 1, 1, 0},
        {"arith.addi", "i64", INT64_MAX, 1, INT64_MIN},
        {"arith.addi", "index", 7, -8, -1},
        {"arith.addi", "i5", 15, 1, -16},
        {"arith.subi", "i32", LOWEST_32, 1, INT32_MAX},
        {"arith.subi", "i1", 0, 1, 1},
        {"arith.muli", "i32", 65536, 65536, 0},
        {"arith.muli", "i64", INT64_MAX, 2, -2},
        {"arith.muli", "i1", 1, 1, 1},
        {"tt.mulhiui", "i32", -1, -1, -2},
        {"tt.mulhiui", "i64", -1, 2, 1},
        {"llvm.add", "i16", 32767, 1, -32768},
        {"llvm.sub", "i32", 3, 5, -2},
        {"llvm.mul", "i32", 3, -5, -15},
    };
    CHECK_BINARY(cases);
}

static void division_rounds_as_it_says(void **state) {
    (void)state;
    static const Case cases[] = {
        {"arith.divsi", "i32", 7, 2, 3},
        {"arith.divsi", "i32", -7, 2, -3},
        {"arith.divsi", "i32", 7, 0, UNKNOWN},
        {"arith.divsi", "i32", LOWEST_32, -1, UNKNOWN},
        {"arith.divsi", "i64", INT64_MIN, -1, UNKNOWN},
        {"arith.divsi", "i64", LOWEST_32, -1, -LOWEST_32},
        {"arith.divsi", "index", INT64_MIN, -1, UNKNOWN},
        {"arith.divsi", "i1", 1, 1, UNKNOWN}, /* -1 / -1 is no number of 1 bit */
        {"arith.divsi", "i1", 0, 1, 0},
        {"arith.divui", "i32", -1, 2, INT32_MAX},
        {"arith.divui", "i32", 1, 0, UNKNOWN},
        {"arith.divui", "i64", -1, 2, INT64_MAX},
        {"arith.divui", "i1", 1, 1, 1},
        {"arith.ceildivsi", "i32", 7, 2, 4},
        {"arith.ceildivsi", "i32", -7, 2, -3},
        {"arith.ceildivsi", "i32", -7, -2, 4},
        {"arith.ceildivsi", "i32", 8, 2, 4},
        {"arith.ceildivsi", "i32", 8, 0, UNKNOWN},
        {"arith.ceildivsi", "i32", LOWEST_32, -1, UNKNOWN},
        {"arith.ceildivui", "i32", 7, 2, 4},
        {"arith.ceildivui", "i32", 0, 5, 0},
        {"arith.ceildivui", "i64", -1, 2, INT64_MIN},
        {"arith.ceildivui", "i32", 7, 0, UNKNOWN},
        {"arith.floordivsi", "i32", 7, 2, 3},
        {"arith.floordivsi", "i32", -7, 2, -4},
        {"arith.floordivsi", "i32", 7, -2, -4},
        {"arith.floordivsi", "i32", -8, 2, -4},
        {"arith.floordivsi", "i64", INT64_MIN, -1, UNKNOWN},
        {"arith.remsi", "i32", 7, -4, 3},
        {"arith.remsi", "i32", -7, 4, -3},
        {"arith.remsi", "i32", 7, 0, UNKNOWN},
        {"arith.remsi", "i64", INT64_MIN, -1, UNKNOWN},
        {"arith.remui", "i32", -1, 10, 5},
        {"arith.remui", "i32", 1, 0, UNKNOWN},
        {"arith.remui", "index", 12, 5, 2},
        {"llvm.sdiv", "i32", -9, 2, -4},
        {"llvm.udiv", "i32", 9, 2, 4},
        {"llvm.srem", "i32", -9, 2, -1},
        {"llvm.urem", "i32", 9, 2, 1},
    };
    CHECK_BINARY(cases);
}

static void the_smaller_and_the_greater(void **state) {
    (void)state;
    static const Case cases[] = {
        {"arith.minsi", "i32", -1, 1, -1},   {"arith.minui", "i32", -1, 1, 1}, {"arith.maxsi", "i32", -1, 1, 1},
        {"arith.maxui", "i32", -1, 1, -1},   {"arith.minsi", "i1", 0, 1, 1},   {"arith.minui", "i1", 0, 1, 0},
        {"arith.maxsi", "i1", 0, 1, 0},      {"arith.maxui", "i1", 0, 1, 1},   {"arith.maxui", "index", -1, 1, -1},
        {"arith.minsi", "index", -1, 1, -1},
    };
    CHECK_BINARY(cases);
}

static void bits_and_shifts(void **state) {
    (void)state;
    static const Case cases[] = {
        {"arith.andi", "i32", 12, 10, 8},
        {"arith.ori", "i32", 12, 10, 14},
        {"arith.xori", "i32", 12, 10, 6},
        {"arith.xori", "i1", 1, 1, 0},
        {"arith.ori", "i1", 1, 0, 1},
        {"arith.shli", "i32", 1, 31, LOWEST_32},
        {"arith.shli", "i32", 1, 32, UNKNOWN},
        {"arith.shli", "i32", 1, -1, UNKNOWN},
        {"arith.shli", "i64", 1, 63, INT64_MIN},
        {"arith.shli", "i64", 1, 64, UNKNOWN},
        {"arith.shli", "i1", 1, 0, 1},
        {"arith.shli", "i1", 1, 1, UNKNOWN},
        {"arith.shrsi", "i32", -8, 1, -4},
        {"arith.shrsi", "i32", -8, 31, -1},
        {"arith.shrsi", "i32", -8, 32, UNKNOWN},
        {"arith.shrui", "i32", -8, 1, INT32_MAX - 3},
        {"arith.shrui", "i8", -1, 7, 1},
        {"arith.shrui", "i64", -1, 63, 1},
        {"arith.shrui", "i64", -1, 100, UNKNOWN},
        {"llvm.and", "i32", 12, 10, 8},
        {"llvm.or", "i32", 12, 10, 14},
        {"llvm.xor", "i32", 12, 10, 6},
        {"llvm.shl", "i32", 3, 2, 12},
        {"llvm.lshr", "i32", -1, 28, 15},
        {"llvm.ashr", "i32", -16, 2, -4},
    };
    CHECK_BINARY(cases);
}

static void ops_on_one_number(void **state) {
    (void)state;
    static const Case cases[] = {
        {"math.absi", "i32", -5, 0, 5},
        {"math.absi", "i32", LOWEST_32, 0, LOWEST_32},
        {"math.absi", "i64", INT64_MIN, 0, INT64_MIN},
        {"math.absi", "i1", 1, 0, 1},
        {"math.ctlz", "i32", 1, 0, 31},
        {"math.ctlz", "i32", 0, 0, 32},
        {"math.ctlz", "i64", 0, 0, 64},
        {"math.ctlz", "i8", -1, 0, 0},
        {"math.cttz", "i32", 8, 0, 3},
        {"math.cttz", "i16", 0, 0, 16},
        {"math.ctpop", "i32", -1, 0, 32},
        {"math.ctpop", "i8", 7, 0, 3},
        {"math.ctpop", "i1", 1, 0, 1},
    };
    CHECK_UNARY(cases);
}

static void powers(void **state) {
    (void)state;
    static const Case cases[] = {
        {"math.ipowi", "i32", 3, 4, 81},          {"math.ipowi", "i32", 2, 32, 0},
        {"math.ipowi", "i32", 5, 0, 1},           {"math.ipowi", "i32", 2, -1, 0},
        {"math.ipowi", "i32", -1, -3, -1},        {"math.ipowi", "i32", -1, -2, 1},
        {"math.ipowi", "i32", 1, -7, 1},          {"math.ipowi", "i32", 0, -1, UNKNOWN},
        {"math.ipowi", "i64", -2, 63, INT64_MIN},
    };
    CHECK_BINARY(cases);
}

static void comparisons(void **state) {
    (void)state;
    static const struct {
        const char *predicate, *type;
        int64_t x, y;
        bool expected;
    } cases[] = {
        {"eq", "i32", 1, 1, true},      {"eq", "i32", 1, 2, false},   {"ne", "i32", 1, 2, true},
        {"ne", "i32", 2, 2, false},     {"slt", "i32", -1, 1, true},  {"slt", "i32", 1, 1, false},
        {"sle", "i32", 1, 1, true},     {"sle", "i32", 2, 1, false},  {"sgt", "i32", -1, 1, false},
        {"sgt", "i32", 1, -1, true},    {"sge", "i32", 1, 1, true},   {"sge", "i32", 0, 1, false},
        {"ult", "i32", -1, 1, false},   {"ult", "i32", 1, -1, true},  {"ule", "i32", 1, 1, true},
        {"ule", "i32", -1, 1, false},   {"ugt", "i32", -1, 1, true},  {"ugt", "i32", 1, 1, false},
        {"uge", "i32", -1, -1, true},   {"uge", "i32", 1, -1, false}, {"slt", "i1", 1, 0, true},
        {"ult", "i1", 1, 0, false},     {"ult", "i64", 1, -1, true},  {"slt", "index", -1, 0, true},
        {"ult", "index", -1, 0, false},
    };
    static const char *const spellings[] = {"%%r = arith.cmpi %s, %%a, %%b : %s",
                                            "%%r = llvm.icmp \"%s\" %%a, %%b : %s"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned k = 0; k < 2; k++) {
            char body[256];
            const char *type = cases[i].type, *types[] = {type, type, type, "i1"};
            Word words[] = {word_integer(cases[i].x), word_integer(cases[i].y), word_integer(0)};
            snprintf(body, sizeof body, spellings[k], cases[i].predicate, type);
            Case expected = {cases[i].predicate, type, cases[i].x, cases[i].y, cases[i].expected};
            check(evaluate_body(types, body, words), &expected);
        }
}

static void conversions(void **state) {
    (void)state;
    static const struct {
        const char *op, *from, *to;
        int64_t x, expected;
    } cases[] = {
        {"arith.extsi %a : i8 to i32", "i8", "i32", -1, -1},
        {"arith.extsi %a : i1 to i32", "i1", "i32", 1, -1},
        {"arith.extui %a : i8 to i32", "i8", "i32", -1, 255},
        {"arith.extui %a : i1 to i32", "i1", "i32", 1, 1},
        {"arith.extui %a : i32 to i64", "i32", "i64", -1, UINT32_MAX},
        {"arith.trunci %a : i32 to i8", "i32", "i8", 255, -1},
        {"arith.trunci %a : i32 to i1", "i32", "i1", 6, 0},
        {"arith.trunci %a : i64 to i32", "i64", "i32", INT64_C(0x180000000), LOWEST_32},
        {"arith.index_cast %a : i32 to index", "i32", "index", -3, -3},
        {"arith.index_cast %a : index to i32", "index", "i32", UINT32_MAX, -1},
        {"arith.index_castui %a : i32 to index", "i32", "index", -1, UINT32_MAX},
        {"arith.bitcast %a : i32 to i32", "i32", "i32", -7, -7},
        {"arith.bitcast %a : i32 to f32", "i32", "f32", -7, UNKNOWN},
        {"tt.int_to_ptr %a : i64 -> !tt.ptr<i8>", "i64", "!tt.ptr<i8>", 4096, 4096},
        {"tt.ptr_to_int %a : !tt.ptr<i8> -> i64", "!tt.ptr<i8>", "i64", 4096, 4096},
        {"tt.bitcast %a : !tt.ptr<i1> -> !tt.ptr<i8>", "!tt.ptr<i1>", "!tt.ptr<i8>", 64, 64},
        {"llvm.sext %a : i8 to i32", "i8", "i32", -1, -1},
        {"llvm.zext %a : i8 to i32", "i8", "i32", -1, 255},
        {"llvm.trunc %a : i32 to i8", "i32", "i8", 384, -128},
        {"llvm.ptrtoint %a : !llvm.ptr<3> to i32", "!llvm.ptr<3>", "i32", 1024, 1024},
        {"builtin.unrealized_conversion_cast %a : index to i64", "index", "i64", 5, 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[256];
        const char *types[] = {cases[i].from, "i32", "i32", cases[i].to};
        Word words[] = {word_integer(cases[i].x), word_integer(0), word_integer(0)};
        snprintf(body, sizeof body, "%%r = %s", cases[i].op);
        Case expected = {cases[i].op, cases[i].from, cases[i].x, 0, cases[i].expected};
        check(evaluate_body(types, body, words), &expected);
    }
}

static void constants_of_all_spellings(void **state) {
    (void)state;
    static const struct {
        const char *op, *type;
        int64_t expected;
    } cases[] = {
        {"arith.constant 42 : i32", "i32", 42},
        {"arith.constant -42 : i32", "i32", -42},
        {"arith.constant 4294967295 : i32", "i32", -1},
        {"arith.constant 0xFF : i8", "i8", -1},
        {"arith.constant 18446744073709551615 : i64", "i64", -1},
        {"arith.constant 7 : index", "index", 7},
        {"arith.constant true", "i1", 1},
        {"arith.constant false", "i1", 0},
        {"arith.constant 1 : i1", "i1", 1},
        {"arith.constant -1 : i1", "i1", 1},
        {"arith.constant 1.0 : f32", "f32", UNKNOWN},
        {"arith.constant 7 : i128", "i128", UNKNOWN},
        {"\"arith.constant\"() <{value = 9 : i16}> : () -> i16", "i16", 9},
        {"llvm.mlir.constant(5 : i32) : i32", "i32", 5},
        {"llvm.mlir.zero : !llvm.ptr", "!llvm.ptr", 0},
        {"ub.poison : i32", "i32", UNKNOWN},
        {"llvm.mlir.undef : i32", "i32", UNKNOWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[256];
        const char *types[] = {"i32", "i32", "i32", cases[i].type};
        Word words[3] = {word_integer(0), word_integer(0), word_integer(0)};
        snprintf(body, sizeof body, "%%r = %s", cases[i].op);
        Case expected = {cases[i].op, cases[i].type, 0, 0, cases[i].expected};
        check(evaluate_body(types, body, words), &expected);
    }
}

/* The program's constants need no evaluating at all. */
static void a_constant_is_in_its_evaluation(void **state) {
    (void)state;
    Reading *reading = read_good("%a = arith.constant 3 : i32\n%b = arith.addi %a, %a : i32\n");
    Evaluation constant = evaluation_of(&reading->module, find_op(reading, "arith.constant", 0), 0);
    assert_int_equal(constant.constant.kind, WORD_INTEGER);
    assert_int_equal(constant.constant.bits, 3);
    Evaluation sum = evaluation_of(&reading->module, find_op(reading, "arith.addi", 0), 0);
    assert_int_equal(sum.constant.kind, WORD_NOTHING);
    assert_int_equal(sum.code, EVALUATE_ADD);
    assert_int_equal(sum.width, 32);
    assert_false(sum.tensor);
    done(reading);
}

static void each_result_has_its_own_way(void **state) {
    (void)state;
    static const struct {
        const char *op, *type, *second;
        int64_t x, y, results[2];
    } cases[] = {
        {"arith.addui_extended %a, %b : i32, i1", "i32", "i1", -1, 2, {1, 1}},
        {"arith.addui_extended %a, %b : i32, i1", "i32", "i1", 1, 2, {3, 0}},
        {"arith.addui_extended %a, %b : i64, i1", "i64", "i1", -1, 1, {0, 1}},
        {"arith.mulsi_extended %a, %b : i32", "i32", "i32", -1, 2, {-2, -1}},
        {"arith.mului_extended %a, %b : i32", "i32", "i32", -1, 2, {-2, 1}},
        {"arith.mulsi_extended %a, %b : i64", "i64", "i64", INT64_MIN, 2, {0, -1}},
        {"arith.mului_extended %a, %b : i64", "i64", "i64", INT64_MIN, 2, {0, 1}},
        {"arith.mulsi_extended %a, %b : i1", "i1", "i1", 1, 1, {1, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        const char *type = cases[i].type, *second = cases[i].second;
        snprintf(text, sizeof text,
                 "tt.func @f(%%a: %s, %%b: %s) -> (%s, %s) {\n%%r:2 = %s\ntt.return %%r#0, %%r#1 : %s, %s\n}\n", type,
                 type, type, second, cases[i].op, type, second);
        Evaluating *evaluating = start_evaluating(text, (Word[]){word_integer(cases[i].x), word_integer(cases[i].y)});
        for (unsigned k = 0; k < 2; k++) {
            Case expected = {cases[i].op, type, cases[i].x, cases[i].y, cases[i].results[k]};
            check(returned(evaluating, k), &expected);
        }
        done_evaluating(evaluating);
    }
}

static void pointers_move_by_what_they_point_to(void **state) {
    (void)state;
    static const struct {
        const char *pointee;
        int64_t bytes;
    } cases[] = {{"i1", 1},  {"i8", 1},  {"f16", 2},          {"bf16", 2},
                 {"f32", 4}, {"i64", 8}, {"!tt.ptr<i32>", 8}, {"f8E4M3FN", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int wide = 0; wide < 2; wide++) {
            char pointer[64], body[256];
            const char *offset = wide ? "i64" : "i32", *types[] = {pointer, offset, "i32", pointer};
            snprintf(pointer, sizeof pointer, "!tt.ptr<%s>", cases[i].pointee);
            snprintf(body, sizeof body, "%%r = tt.addptr %%a, %%b : %s, %s", pointer, offset);
            Word words[] = {word_integer(4096), word_integer(-3), word_integer(0)};
            Case expected = {body, pointer, 4096, -3, 4096 - 3 * cases[i].bytes};
            check(evaluate_body(types, body, words), &expected);
        }
}

/* iv < ub - (maxStage - stage) * step */
static void a_stage_runs_while_later_ones_have_work(void **state) {
    (void)state;
    static const int64_t cases[][4] = {{0, 10, 1, 1}, {7, 10, 1, 1}, {8, 10, 1, 0},
                                       {9, 10, 1, 0}, {0, 4, 2, 0},  {-1, 4, 2, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *types[] = {"i32", "i32", "i32", "i1"};
        Word words[] = {word_integer(cases[i][0]), word_integer(cases[i][1]), word_integer(cases[i][2])};
        const char *body = "%r = ttg.predicate_stage %a, %b, %c maxStage 3 stage 1 : i32 -> i1";
        Case expected = {body, "i32", cases[i][0], cases[i][1], cases[i][3]};
        check(evaluate_body(types, body, words), &expected);
    }
}

static void a_select_hands_on_what_it_chooses(void **state) {
    (void)state;
    const char *body = "%r = arith.select %a, %b, %c : f32", *types[] = {"i1", "f32", "f32", "f32"};
    Word one = word_unknown(1), two = word_unknown(2);
    Word found = evaluate_body(types, body, (Word[]){word_integer(1), one, two});
    assert_int_equal(found.kind, WORD_UNKNOWN);
    assert_int_equal(found.bits, one.bits);
    found = evaluate_body(types, body, (Word[]){word_integer(0), one, two});
    assert_int_equal(found.bits, two.bits);
    found = evaluate_body(types, body, (Word[]){word_unknown(3), one, one});
    assert_int_equal(found.bits, one.bits);
    found = evaluate_body(types, body, (Word[]){word_unknown(3), one, two});
    assert_int_equal(found.kind, WORD_UNKNOWN);
    assert_int_not_equal(found.bits, one.bits);
    assert_int_not_equal(found.bits, two.bits);

    const char *integers[] = {"i1", "i32", "i32", "i32"};
    found = evaluate_body(integers, "%r = arith.select %a, %b, %c : i32",
                          (Word[]){word_unknown(3), word_integer(5), word_integer(5)});
    assert_int_equal(found.kind, WORD_INTEGER);
    assert_int_equal(found.bits, 5);
}

/* A view of memory, or anything else that is no number, goes through a cast as it is. */
static void a_cast_hands_on_what_it_is_given(void **state) {
    (void)state;
    Word view = {.bits = 64, .meta = 7, .cta = 1, .kind = WORD_VIEW};
    const char *types[] = {"!a.view", "i32", "i32", "!b.view"};
    Word found = evaluate_body(types, "%r = builtin.unrealized_conversion_cast %a : !a.view to !b.view",
                               (Word[]){view, word_integer(0), word_integer(0)});
    assert_memory_equal(&found, &view, sizeof view);
}

static void what_does_not_depend_on_an_unknown_is_known(void **state) {
    (void)state;
    static const struct {
        const char *op;
        int64_t value, left, right; /* with the value on that side of the unknown one */
    } cases[] = {
        {"arith.muli", 0, 0, 0},
        {"arith.muli", 1, UNKNOWN, UNKNOWN},
        {"arith.andi", 0, 0, 0},
        {"arith.andi", 1, UNKNOWN, UNKNOWN},
        {"arith.ori", -1, -1, -1},
        {"arith.ori", 0, UNKNOWN, UNKNOWN},
        {"arith.remsi", 1, UNKNOWN, 0},
        {"arith.remui", 1, UNKNOWN, 0},
        {"arith.remui", 2, UNKNOWN, UNKNOWN},
        {"arith.addi", 0, UNKNOWN, UNKNOWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[128];
        const char *types[] = {"i32", "i32", "i32", "i32"};
        snprintf(body, sizeof body, "%%r = %s %%a, %%b : i32", cases[i].op);
        Word value = word_integer(cases[i].value), order_not_known = word_unknown(99);
        Case left = {body, "value, unknown", cases[i].value, 0, cases[i].left};
        check(evaluate_body(types, body, (Word[]){value, order_not_known, order_not_known}), &left);
        Case right = {body, "unknown, value", cases[i].value, 0, cases[i].right};
        check(evaluate_body(types, body, (Word[]){order_not_known, value, order_not_known}), &right);
    }
}

/* What a row does not say how to evaluate, or says of other types, is unknown; never an error. */
static void floats_and_wide_integers_are_unknown(void **state) {
    (void)state;
    static const Case cases[] = {
        {"arith.addf", "f32", 1, 2, UNKNOWN},
        {"arith.addi", "i128", 1, 2, UNKNOWN},
    };
    CHECK_BINARY(cases);
    const char *types[] = {"f32", "f32", "f32", "i1"};
    Word words[] = {word_integer(0), word_integer(0), word_integer(0)};
    Word found = evaluate_body(types, "%r = arith.cmpf oeq, %a, %b : f32", words);
    assert_int_equal(found.kind, WORD_UNKNOWN);
}

/* ---- Identities ------------------------------------------------------------------------------ */

static int64_t identity_of(const char *result, const char *body, Word x, Word y) {
    const char *types[] = {"i32", "i32", "f32", result};
    Word found = evaluate_body(types, body, (Word[]){x, y, word_unknown(77)});
    assert_int_equal(found.kind, WORD_UNKNOWN);
    return found.bits;
}

static void the_same_expression_has_the_same_identity(void **state) {
    (void)state;
    Word x = word_unknown(11), y = word_unknown(12);
    static const char *const same[][2] = {
        {"%r = arith.addi %a, %b : i32",
         "%r = arith.addi %a, %b {ttg.partition = array<i32: 1>, loop.stage = 2 : i32} : i32"},
        {"%r = arith.addi %a, %b : i32", "%z = arith.constant 1 : i32\n%r = arith.addi %a, %b : i32"},
        {"%r = arith.addi %a, %b : i32", "%r = \"arith.addi\"(%a, %b) : (i32, i32) -> i32"},
        {"%k = arith.constant 3 : i32\n%r = arith.addi %a, %k : i32",
         "%i = arith.constant 1 : i32\n%j = arith.constant 2 : i32\n%k = arith.addi %i, %j : i32\n%r = arith.addi %a, "
         "%k : i32"},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        assert_int_equal(identity_of("i32", same[i][0], x, y), identity_of("i32", same[i][1], x, y));
    assert_int_equal(identity_of("i1", "%r = arith.cmpi slt, %a, %b : i32", x, y),
                     identity_of("i1", "%r = \"arith.cmpi\"(%a, %b) <{predicate = 2 : i64}> : (i32, i32) -> i1", x, y));
}

static void different_expressions_have_different_identities(void **state) {
    (void)state;
    static const struct {
        const char *result, *body;
    } expressions[] = {
        {"i32", "%r = arith.addi %a, %b : i32"},
        {"i32", "%r = arith.addi %b, %b : i32"},
        {"i32", "%r = arith.subi %a, %b : i32"},
        {"i32", "%r = arith.subi %b, %a : i32"},
        {"i32", "%z = arith.constant 0 : i32\n%r = arith.divsi %a, %z : i32"},
        {"i32", "%k = arith.constant 3 : i32\n%r = arith.addi %a, %k : i32"},
        {"i32", "%k = arith.constant 4 : i32\n%r = arith.addi %a, %k : i32"},
        {"i1", "%r = arith.cmpi slt, %a, %b : i32"},
        {"i1", "%r = arith.cmpi sgt, %a, %b : i32"},
        {"i64", "%r = arith.extsi %a : i32 to i64"},
        {"i64", "%r = arith.extui %a : i32 to i64"},
        {"i8", "%r = arith.trunci %a : i32 to i8"},
        {"i16", "%r = arith.trunci %a : i32 to i16"},
        {"f32", "%r = arith.constant 1.0 : f32"},
        {"f32", "%r = arith.constant 2.0 : f32"},
        {"f32", "%r = arith.addf %c, %c : f32"},
        {"f32", "%r = arith.mulf %c, %c : f32"},
        {"f32", "%r = math.exp2 %c : f32"},
        {"i32", "%r = ub.poison : i32"},
    };
    enum { COUNT = sizeof expressions / sizeof *expressions };
    int64_t found[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        found[i] = identity_of(expressions[i].result, expressions[i].body, word_unknown(11), word_unknown(12));
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(found[i], found[k]);
    }
    /* Nor does it do to be the same number and not the same unknown thing. */
    const char *body = "%r = arith.addi %a, %b : i32";
    assert_int_not_equal(identity_of("i32", body, word_unknown(11), word_unknown(12)),
                         identity_of("i32", body, word_unknown(11), word_integer(12)));
}

/* ---- The tables ------------------------------------------------------------------------------ */

static void every_row_names_a_known_evaluator(void **state) {
    (void)state;
    bool used[EVALUATOR_COUNT] = {false};
    for (int id = 0; id < OP_COUNT; id++) {
        const OpRow *row = op_row_by_id((OpId)id);
        char column[128], *rest = column;
        snprintf(column, sizeof column, "%s", row->evaluate);
        for (char *name = strtok_r(column, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
            Evaluator code = evaluator_named(str_of(name));
            if (code == EVALUATE_NONE)
                fail_msg("%.*s: no evaluator is called %s", STR_ARG(row->name), name);
            used[code] = true;
        }
    }
    for (int code = EVALUATE_NONE + 1; code < EVALUATOR_COUNT; code++)
        if (!used[code])
            fail_msg("no row uses evaluator number %d", code);
    assert_int_equal(evaluator_named(STR("nothing like that")), EVALUATE_NONE);
    assert_int_equal(evaluator_named(STR("")), EVALUATE_NONE);
}

/* The predicates' numbers here are the op table's. */
static void comparisons_follow_the_op_table(void **state) {
    (void)state;
    static const char *const words[] = {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"};
    static const char *const ops[] = {"arith.cmpi", "llvm.icmp"};
    for (unsigned k = 0; k < 2; k++) {
        const OpRow *row = op_row(str_of(ops[k]));
        const Slot *slot = &row->attrs[op_slot(row->attrs, row->attr_count, STR("predicate"))];
        for (int i = COMPARE_EQ; i <= COMPARE_UGE; i++) {
            int64_t value;
            assert_true(enum_value(slot->enumeration, str_of(words[i]), &value));
            assert_int_equal(value, i);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_products_wrap),
        cmocka_unit_test(division_rounds_as_it_says),
        cmocka_unit_test(the_smaller_and_the_greater),
        cmocka_unit_test(bits_and_shifts),
        cmocka_unit_test(ops_on_one_number),
        cmocka_unit_test(powers),
        cmocka_unit_test(comparisons),
        cmocka_unit_test(conversions),
        cmocka_unit_test(constants_of_all_spellings),
        cmocka_unit_test(a_constant_is_in_its_evaluation),
        cmocka_unit_test(each_result_has_its_own_way),
        cmocka_unit_test(pointers_move_by_what_they_point_to),
        cmocka_unit_test(a_stage_runs_while_later_ones_have_work),
        cmocka_unit_test(a_select_hands_on_what_it_chooses),
        cmocka_unit_test(a_cast_hands_on_what_it_is_given),
        cmocka_unit_test(what_does_not_depend_on_an_unknown_is_known),
        cmocka_unit_test(floats_and_wide_integers_are_unknown),
        cmocka_unit_test(the_same_expression_has_the_same_identity),
        cmocka_unit_test(different_expressions_have_different_identities),
        cmocka_unit_test(every_row_names_a_known_evaluator),
        cmocka_unit_test(comparisons_follow_the_op_table),
    };
    return cmocka_run_group_tests_name("evaluate", tests, NULL, NULL);
}
