/* How many instructions lie between what is issued and what waits for it, over all paths. */
#include "reading.h"

#include "check/port/counters.h"

/* One copy is four instructions on gfx1250: 64x64 elements of f16, 16 bytes a lane. */
#define HEAD                                                                                                   \
    "#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = " \
    "[1, 0]}>\n"                                                                                               \
    "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>\n"                  \
    "#smem = #ttg.shared_memory\n"                                                                             \
    "!tile = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>\n"                                               \
    "!pointers = tensor<64x64x!tt.ptr<f16>, #blocked>\n"                                                       \
    "module attributes {\"ttg.num-warps\" = 4 : i32, \"ttg.threads-per-warp\" = 32 : i32} {\n"                 \
    "tt.func @f(%p: !pointers, %m: !tile, %k: !tile, %n: i32, %if: i1, %given: !ttg.async.token) {\n"          \
    "  %c0 = arith.constant 0 : i32\n  %c1 = arith.constant 1 : i32\n"
#define COPY(token, into) \
    token " = ttg.async_copy_global_to_local %p, " into " {contiguity = 8 : i32} : !pointers -> !tile\n"
#define FOOT "  tt.return\n}\n}\n"

typedef struct Counted {
    Reading *reading;
    Arena arena;
    jmp_buf exhausted;
    Counters *counters;
} Counted;

static Counted *count(const char *text) {
    Counted *counted = calloc(1, sizeof *counted);
    assert_non_null(counted);
    counted->reading = read_good(text);
    arena_init(&counted->arena, (size_t)1 << 28);
    if (setjmp(counted->exhausted))
        fail_msg("the arena is used up");
    counted->arena.exhausted = counted->reading->module.arena.exhausted = &counted->exhausted;
    counted->counters = counters_of(&counted->reading->module, find_op(counted->reading, "tt.func", 0),
                                    target_named(STR("gfx1250")), &counted->arena);
    assert_null(counters_problem(counted->counters));
    return counted;
}

static void finish(Counted *counted) {
    arena_free(&counted->arena);
    done(counted->reading);
    free(counted);
}

#define assert_distance(distance, low_, high_, most_) \
    do {                                              \
        Distance found = (distance);                  \
        assert_int_equal(found.low, (low_));          \
        assert_int_equal(found.high, (high_));        \
        assert_int_equal(found.most, (most_));        \
    } while (0)

static void assert_tokens(const char *text, unsigned wait, uint16_t low, uint16_t high, uint16_t most) {
    Counted *counted = count(text);
    const Op *op = find_op(counted->reading, "amdg.async_wait", wait);
    assert_distance(distance_of_tokens(counted->counters, op, QUEUE_ASYNC), low, high, most);
    finish(counted);
}

static void test_straight(void **state) {
    (void)state;
    assert_tokens(HEAD COPY("%a", "%m") COPY("%b", "%k") "%w = amdg.async_wait %a {num_inst = 0 : i32}\n"
                                                         "%v = amdg.async_wait %b {num_inst = 0 : i32}\n" FOOT,
                  0, 4, 4, 4);
    assert_tokens(HEAD COPY("%a", "%m") COPY("%b", "%k") "%w = amdg.async_wait %a, %b {num_inst = 0 : i32}\n" FOOT, 0,
                  0, 0, 0);
}

static void test_branch(void **state) {
    (void)state;
    assert_tokens(HEAD COPY("%a", "%m") "scf.if %if {\n" COPY("%b", "%k") "} else {\n" COPY("%c", "%k")
                      COPY("%d", "%k") "}\n%w = amdg.async_wait %a {num_inst = 0 : i32}\n" FOOT,
                  0, 4, 4, 8);
}

static void test_token_of_a_branch(void **state) {
    (void)state;
    assert_tokens(
        HEAD COPY("%a", "%m") "%t = scf.if %if -> (!ttg.async.token) {\n" COPY(
            "%b", "%k") "scf.yield %a : !ttg.async.token\n} else {\n" COPY("%c", "%k")
            COPY("%d", "%k") "scf.yield %c : !ttg.async.token\n}\n%w = amdg.async_wait %t {num_inst = 0 : i32}\n" FOOT,
        0, 4, 4, 4);
}

/* The token of the iteration before: its copy, then that of this iteration. */
static void test_carried_token(void **state) {
    (void)state;
    const char *text = HEAD COPY("%a", "%m") "%e = scf.for %i = %c0 to %n step %c1 iter_args(%t = %a) -> "
                                             "(!ttg.async.token) : i32 {\n" COPY(
                                                 "%b", "%k") "%w = amdg.async_wait %t {num_inst = 0 : i32}\n"
                                                             "scf.yield %b : !ttg.async.token\n}\n"
                                                             "%v = amdg.async_wait %e {num_inst = 0 : i32}\n" FOOT;
    assert_tokens(text, 0, 4, 4, 4);
    assert_tokens(text, 1, 0, 0, 0);
}

/* Two tokens that change places: what is yielded is what was there before. */
static void test_swapped_tokens(void **state) {
    (void)state;
    const char *text =
        HEAD COPY("%a", "%m") COPY("%b", "%k") "%e:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a, %t = %b) -> "
                                               "(!ttg.async.token, !ttg.async.token) : i32 {\n"
                                               "%w = amdg.async_wait %s {num_inst = 0 : i32}\n"
                                               "scf.yield %t, %s : !ttg.async.token, !ttg.async.token\n}\n"
                                               "%v = amdg.async_wait %e#1 {num_inst = 0 : i32}\n" FOOT;
    assert_tokens(text, 0, 0, 0, 4);
    assert_tokens(text, 1, 0, 0, 4);
}

static void test_branches_of_blocks(void **state) {
    (void)state;
    assert_tokens(HEAD COPY("%a", "%m") "cf.br ^head(%a : !ttg.async.token)\n^head(%t: !ttg.async.token):\n" COPY(
                      "%b", "%k") "%w = amdg.async_wait %t {num_inst = 0 : i32}\n"
                                  "cf.cond_br %if, ^head(%b : !ttg.async.token), ^end\n^end:\n"
                                  "%v = amdg.async_wait %t {num_inst = 0 : i32}\n" FOOT,
                  1, 4, 4, 4);
}

static void test_given_token(void **state) {
    (void)state;
    assert_tokens(HEAD COPY("%a", "%m") "%w = amdg.async_wait %given {num_inst = 0 : i32}\n" FOOT, 0, 4, DISTANCE_NONE,
                  AMD_MANY);
}

static void test_groups(void **state) {
    (void)state;
    Counted *counted = count(HEAD COPY("%a", "%m") "%g = ttg.async_commit_group\n" COPY(
        "%b", "%k") "%h = ttg.async_commit_group\n" COPY("%c", "%k") "ttg.async_wait {num = 2 : i32}\n" FOOT);
    const Op *wait = find_op(counted->reading, "ttg.async_wait", 0);
    assert_distance(distance_of_group(counted->counters, wait, 0, QUEUE_ASYNC), 4, 4, 4);
    assert_distance(distance_of_group(counted->counters, wait, 1, QUEUE_ASYNC), 8, 8, 8);
    assert_true(distance_is_none(distance_of_group(counted->counters, wait, 2, QUEUE_ASYNC)));
    /* Back to an earlier place. */
    const Op *commit = find_op(counted->reading, "ttg.async_commit_group", 1);
    assert_distance(distance_of_group(counted->counters, commit, 0, QUEUE_ASYNC), 4, 4, 4);
    finish(counted);
}

static void test_copies_until_a_wait(void **state) {
    (void)state;
    Counted *counted = count(HEAD COPY("%a", "%m") COPY("%b", "%k") "amdg.async_wait {num_inst = 5 : i32}\n"
                                                                    "amdg.async_wait {num_inst = 4 : i32}\n" FOOT);
    const Op *first = find_op(counted->reading, "amdg.async_wait", 0),
             *second = find_op(counted->reading, "amdg.async_wait", 1);
    const Op *end = find_op(counted->reading, "tt.return", 0);
    assert_int_equal(counters_copies(counted->counters), 2);
    assert_distance(distance_of_copy(counted->counters, first, 0, 0), 4, 4, 4);
    assert_distance(distance_of_copy(counted->counters, second, 0, 0), 4, 4, 4);
    assert_true(distance_is_none(distance_of_copy(counted->counters, end, 0, 0)));
    assert_distance(distance_of_copy(counted->counters, end, 1, 0), 0, 0, 0);
    finish(counted);
}

static void test_executions_of_a_copy(void **state) {
    (void)state;
    Counted *counted = count(HEAD "scf.for %i = %c0 to %n step %c1 : i32 {\n"
                                  "%w = amdg.async_wait {num_inst = 60 : i32}\n" COPY("%a", "%m") "}\n" FOOT);
    const Op *wait = find_op(counted->reading, "amdg.async_wait", 0);
    assert_distance(distance_of_copy(counted->counters, wait, 0, 0), 0, 0, 0);
    assert_distance(distance_of_copy(counted->counters, wait, 0, 2), 8, 8, 8);
    finish(counted);
}

static void test_covers(void **state) {
    (void)state;
    Distance distance = {4, 8, 20}, none = {DISTANCE_NONE, DISTANCE_NONE, DISTANCE_NONE};
    assert_int_equal(distance_cover(distance, 3), PORT_MORE);
    assert_int_equal(distance_cover(distance, 4), PORT_ENOUGH);
    assert_int_equal(distance_cover(distance, 8), PORT_UNKNOWN);
    assert_int_equal(distance_cover(distance, 9), PORT_TOO_LITTLE);
    assert_int_equal(distance_cover(none, 9), PORT_ENOUGH);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_straight),
        cmocka_unit_test(test_branch),
        cmocka_unit_test(test_token_of_a_branch),
        cmocka_unit_test(test_carried_token),
        cmocka_unit_test(test_swapped_tokens),
        cmocka_unit_test(test_branches_of_blocks),
        cmocka_unit_test(test_given_token),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_copies_until_a_wait),
        cmocka_unit_test(test_executions_of_a_copy),
        cmocka_unit_test(test_covers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
