/* check/tile/grid: large launches decided from one CTA of each class, beside runs of the whole grid: random kernels
 * whose addresses are affine in the program ids, with masks, quotients, rests, loops and branches, right and wrong. */
#include "running.h"

#include "check/tile/grid/check.h"
#include "random_text.h"
#include "share.h"

#include <stdio.h>

/* ---- Kernels -------------------------------------------------------------------------------------- */

/* A number that depends on the program: %x or %y, or a part of one. */
static void put_coordinate(char *text, int at, char axis) {
    int by = roll(2, 6);
    put(text, "    %%by%d%c = arith.constant %d : i32\n", at, axis, by);
    switch (roll(0, 7)) {
    case 0:
        put(text, "    %%n%d%c = arith.divsi %%%c, %%by%d%c : i32\n", at, axis, axis, at, axis);
        break;
    case 1:
        put(text, "    %%n%d%c = arith.remsi %%%c, %%by%d%c : i32\n", at, axis, axis, at, axis);
        break;
    case 2:
        put(text, "    %%n%d%c = arith.minsi %%%c, %%by%d%c : i32\n", at, axis, axis, at, axis);
        break;
    default:
        put(text, "    %%n%d%c = arith.addi %%%c, %%c0 : i32\n", at, axis, axis);
        break;
    }
}

/* %oN made of %eN, by a number that is the same everywhere, or in two parts. */
static void put_twist(char *text, int at) {
    static const char *const ops[] = {"remsi", "divsi", "minsi", "maxsi", "muli", "subi"};
    int which = roll(0, 12);
    put(text, "      %%z%d = arith.constant dense<%d> : tensor<8xi32, #blocked>\n", at, which < 4 ? roll(1, 40) : 1);
    if (which < 6)
        put(text, "      %%o%d = arith.%s %%e%d, %%z%d : tensor<8xi32, #blocked>\n", at, ops[which], at, at);
    else if (which == 6)
        put(text,
            "      %%h%d = arith.cmpi slt, %%e%d, %%limit%d : tensor<8xi32, #blocked>\n"
            "      %%o%d = arith.select %%h%d, %%e%d, %%limit%d : tensor<8xi1, #blocked>, tensor<8xi32, #blocked>\n",
            at, at, at, at, at, at, at);
    else if (which == 7)
        put(text, "      %%o%d = arith.shli %%e%d, %%z%d : tensor<8xi32, #blocked>\n", at, at, at);
    else
        put(text, "      %%o%d = arith.addi %%e%d, %%zeros : tensor<8xi32, #blocked>\n", at, at);
}

/* Or a box of 64, clipped at the end of its tensor. */
static void put_box(char *text, int at) {
    put_coordinate(text, at, 'x');
    put_coordinate(text, at, 'y');
    put(text, "    %%a%d = arith.constant %d : i32\n", at, roll(0, 3) ? 64 : roll(60, 70));
    put(text, "    %%b%d = arith.constant %d : i32\n", at, roll(0, 3) ? 64 * 24 : roll(0, 3000));
    put(text, "    %%ax%d = arith.muli %%n%dx, %%a%d : i32\n", at, at, at);
    put(text, "    %%by%d = arith.muli %%n%dy, %%b%d : i32\n", at, at, at);
    put(text, "    %%s%d = arith.addi %%ax%d, %%by%d : i32\n", at, at, at);
    put(text, "    ttng.async_tma_copy_local_to_global %%desc[%%s%d] %%tile : !desc, !tile\n", at);
    put(text, "    ttng.async_tma_store_wait {pendings = 0 : i32}\n");
}

/* Access number `at`: a row of eight, from x * a + y * b + c on, every d-th, below a limit; twice or more in a loop. */
static void put_access(char *text, int at, int columns) {
    static const char *const comparisons[] = {"slt", "sle", "ult"};
    int row = roll(0, 3) ? 8 : roll(5, 9), step = roll(0, 5) ? 1 : 2, loop = roll(0, 3) ? 1 : roll(2, 3);
    char area = roll(0, 2) ? 'p' : 'q';
    put_coordinate(text, at, 'x');
    put_coordinate(text, at, 'y');
    put(text, "    %%a%d = arith.constant %d : i32\n", at, row * step * loop);
    put(text, "    %%b%d = arith.constant %d : i32\n", at,
        row * step * loop * columns + (roll(0, 5) ? 0 : roll(-9, 9)));
    put(text, "    %%k%d = arith.constant %d : i32\n", at, roll(0, 3) ? 0 : roll(0, 9));
    put(text, "    %%ax%d = arith.muli %%n%dx, %%a%d : i32\n", at, at, at);
    put(text, "    %%by%d = arith.muli %%n%dy, %%b%d : i32\n", at, at, at);
    put(text, "    %%s%d = arith.addi %%ax%d, %%by%d : i32\n", at, at, at);
    put(text, "    %%t%d = arith.addi %%s%d, %%k%d : i32\n", at, at, at);
    put(text, "    %%trips%d = arith.constant %d : i32\n    %%row%d = arith.constant %d : i32\n", at, loop, at,
        8 * step);
    put(text, "    %%d%d = arith.constant dense<%d> : tensor<8xi32, #blocked>\n", at, step);
    put(text, "    %%limit%d = arith.constant dense<%d> : tensor<8xi32, #blocked>\n", at,
        roll(0, 2) ? 1000000 : roll(40, 400));
    put(text, "    %%r%d = arith.muli %%range, %%d%d : tensor<8xi32, #blocked>\n", at, at);
    put(text, "    scf.for %%i%d = %%c0 to %%trips%d step %%c1 : i32 {\n", at, at);
    put(text, "      %%j%d = arith.muli %%i%d, %%row%d : i32\n      %%u%d = arith.addi %%t%d, %%j%d : i32\n", at, at,
        at, at, at, at);
    put(text, "      %%w%d = tt.splat %%u%d : i32 -> tensor<8xi32, #blocked>\n", at, at);
    put(text, "      %%e%d = arith.addi %%w%d, %%r%d : tensor<8xi32, #blocked>\n", at, at, at);
    put_twist(text, at);
    put(text, "      %%m%d = arith.cmpi %s, %%o%d, %%limit%d : tensor<8xi32, #blocked>\n", at, comparisons[roll(0, 2)],
        at, at);
    put(text, "      %%at%d = tt.addptr %%%cs, %%o%d : tensor<8x!tt.ptr<i32>, #blocked>, tensor<8xi32, #blocked>\n", at,
        area, at);
    if (at == 0 || roll(0, 1))
        put(text, "      tt.store %%at%d, %%value, %%m%d : tensor<8x!tt.ptr<i32>, #blocked>\n", at, at);
    else
        put(text, "      %%v%d = tt.load %%at%d, %%m%d : tensor<8x!tt.ptr<i32>, #blocked>\n", at, at, at);
    put(text, "    }\n");
}

static char *any_kernel(int columns) {
    char *text = calloc(1, TEXT), *body = calloc(1, TEXT);
    assert_true(text && body);
    put(body, "    %%x = tt.get_program_id x : i32\n    %%y = tt.get_program_id y : i32\n"
              "    %%c1000 = arith.constant 1000 : i32\n    %%x1000 = arith.muli %%x, %%c1000 : i32\n"
              "    %%id = arith.addi %%x1000, %%y : i32\n"
              "    %%zeros = arith.constant dense<0> : tensor<8xi32, #blocked>\n"
              "    %%tile = ttg.local_alloc : () -> !tile\n"
              "    %%ids = tt.splat %%id : i32 -> tensor<8xi32, #blocked>\n"
              "    %%range = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32, #blocked>\n"
              "    %%value = arith.addi %%ids, %%range : tensor<8xi32, #blocked>\n"
              "    %%ps = tt.splat %%p : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>, #blocked>\n"
              "    %%qs = tt.splat %%q : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>, #blocked>\n");
    int count = roll(1, 3);
    for (int i = 0; i < count; i++) {
        bool some = roll(0, 4) == 0;
        if (some)
            put(body,
                "    %%some%d = arith.constant %d : i32\n    %%if%d = arith.cmpi ne, %%x, %%some%d : i32\n"
                "    scf.if %%if%d {\n",
                i, roll(0, 9), i, i, i);
        if (roll(0, 5))
            put_access(body, i, columns);
        else
            put_box(body, i);
        if (some)
            put(body, "    }\n");
    }
    put(text, "%s", MODULE_OF(1, "@"));
    char *end = strchr(text, '@');
    char rest[8];
    snprintf(rest, sizeof rest, "%s", end + 1);
    *end = 0;
    put(text,
        "  tt.func public @kernel(%%p: !tt.ptr<i32>, %%q: !tt.ptr<i32>, %%desc: !desc) {\n%s%s    tt.return\n  }\n%s",
        CONSTANTS, body, rest);
    free(body);
    return text;
}

/* ---- Both checks ---------------------------------------------------------------------------------- */

typedef struct Answer {
    bool race, outside, incomplete, representatives;
} Answer;

static Answer check_kernel(const char *text, int64_t x, int64_t y, int64_t elements, ClassesMode classes) {
    Running *running = compile_whole(text);
    Module *module = &running->reading->module;
    Arena arena;
    jmp_buf exhausted;
    Answer answer = {.race = false};
    arena_init(&arena, (size_t)1 << 30);
    if (setjmp(exhausted))
        fail_msg("it takes more memory than it may");
    arena.exhausted = module->arena.exhausted = &exhausted;
    Argument arguments[3] = {[2] = {.name = STR("desc"),
                                    .kind = ARGUMENT_DESCRIPTOR,
                                    .rank = 1,
                                    .shape = {elements},
                                    .strides = {1},
                                    .block = {64},
                                    .element_bits = 16}};
    for (unsigned i = 0; i < 2; i++)
        arguments[i] = (Argument){.name = str_of(i ? "q" : "p"),
                                  .kind = ARGUMENT_TENSOR,
                                  .rank = 1,
                                  .shape = {elements},
                                  .strides = {1},
                                  .element_bits = 32};
    Launch launch = {.grid = {x, y, 1}, .arguments = arguments, .count = 3};
    Verdict verdict = {.arena = &arena};
    GlobalKernel kernel = {.module = module, .function = running->function, .launch = &launch, .verdict = &verdict};
    GlobalOptions options = {.classes = classes};
    GlobalCheck *check = global_check_new(&arena);
    global_check_run(check, &kernel, 1, &options);
    for (size_t i = 0; i < verdict.finding_count; i++) {
        bool outside = verdict.findings[i].rule == RULE_GLOBAL_OUT_OF_RANGE;
        answer.outside |= outside;
        answer.race |= !outside && finding_severity(&verdict.findings[i]) == SEVERITY_ERROR;
    }
    answer.incomplete = verdict.incomplete_count > 0;
    for (size_t i = 0; i < verdict.note_count; i++)
        answer.representatives |= strncmp(verdict.notes[i], "global memory: ", 15) == 0;
    global_check_free(check);
    module->arena.exhausted = NULL;
    end_kernel(running);
    arena_free(&arena);
    return answer;
}

static void classes_say_what_the_whole_grid_says(void **state) {
    (void)state;
    unsigned representatives = 0, races = 0, outside = 0, clean = 0;
    for (unsigned round = 0; round < share_of(400); round++) {
        int64_t x = roll(1, 24), y = roll(1, 4), elements = roll(0, 3) ? 100000 : x * y * 8 * roll(1, 2);
        char *text = any_kernel((int)x);
        Answer whole = check_kernel(text, x, y, elements, CLASSES_NEVER);
        Answer few = check_kernel(text, x, y, elements, CLASSES_ALWAYS);
        assert_false(whole.representatives || whole.incomplete || few.incomplete);
        if (whole.race != few.race || whole.outside != few.outside)
            fail_msg("round %u, grid %lldx%lld, %lld elements: races %d and %d, outside %d and %d:\n%s", round,
                     (long long)x, (long long)y, (long long)elements, whole.race, few.race, whole.outside, few.outside,
                     text);
        representatives += few.representatives;
        races += few.representatives && few.race;
        outside += few.representatives && few.outside;
        clean += few.representatives && !few.race && !few.outside;
        free(text);
    }
    print_message("of %u: %u by classes, of which %u race, %u leave their tensor, %u are clean\n", share_of(400),
                  representatives, races, outside, clean);
    assert_in_range(representatives, share_of(250), share_of(400));
    assert_in_range(races, share_of(50), share_of(400));
    assert_in_range(outside, share_of(20), share_of(400));
    assert_in_range(clean, share_of(50), share_of(400));
}

/* ---- Tiles that are numbered in groups ------------------------------------------------------------ */

/* Tiles of eight elements in `rows` x `columns`, numbered down a group of so many rows, then along; and what may be
 * wrong: the last group is taken for a whole one, a divisor is off, or a row is too short. */
static char *grouped_kernel(int rows, int columns, int group) {
    char *text = calloc(1, TEXT);
    bool clamped = roll(0, 3) != 0;
    assert_true(text);
    put(text, "%s", MODULE_OF(1, "@"));
    *strchr(text, '@') = 0;
    put(text,
        "  tt.func public @kernel(%%p: !tt.ptr<i32>, %%q: !tt.ptr<i32>, %%desc: !desc) {\n%s"
        "    %%x = tt.get_program_id x : i32\n"
        "    %%all = arith.constant %d : i32\n    %%group = arith.constant %d : i32\n",
        CONSTANTS, group * columns + (roll(0, 7) ? 0 : roll(-1, 1)), group);
    put(text,
        "    %%rows = arith.constant %d : i32\n    %%pitch = arith.constant %d : i32\n"
        "    %%eight = arith.constant 8 : i32\n",
        rows, 8 * columns - (roll(0, 7) ? 0 : roll(1, 9)));
    put(text, "    %%g = arith.divsi %%x, %%all : i32\n    %%r = arith.remsi %%x, %%all : i32\n"
              "    %%first = arith.muli %%g, %%group : i32\n    %%left = arith.subi %%rows, %%first : i32\n");
    put(text, "    %%high = arith.%s : i32\n", clamped ? "minsi %left, %group" : "addi %group, %c0");
    put(text, "    %%down = arith.remsi %%r, %%high : i32\n    %%across = arith.divsi %%r, %%high : i32\n"
              "    %%row = arith.addi %%first, %%down : i32\n    %%at = arith.muli %%row, %%pitch : i32\n"
              "    %%along = arith.muli %%across, %%eight : i32\n    %%begin = arith.addi %%at, %%along : i32\n"
              "    %%range = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32, #blocked>\n"
              "    %%ids = tt.splat %%x : i32 -> tensor<8xi32, #blocked>\n"
              "    %%value = arith.addi %%ids, %%range : tensor<8xi32, #blocked>\n"
              "    %%begins = tt.splat %%begin : i32 -> tensor<8xi32, #blocked>\n"
              "    %%there = arith.addi %%begins, %%range : tensor<8xi32, #blocked>\n"
              "    %%ps = tt.splat %%p : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>, #blocked>\n"
              "    %%ats = tt.addptr %%ps, %%there : tensor<8x!tt.ptr<i32>, #blocked>, tensor<8xi32, #blocked>\n"
              "    tt.store %%ats, %%value : tensor<8x!tt.ptr<i32>, #blocked>\n"
              "    tt.return\n  }\n}\n");
    return text;
}

static void so_they_do_of_tiles_in_groups(void **state) {
    (void)state;
    unsigned representatives = 0, races = 0, outside = 0, clean = 0;
    for (unsigned round = 0; round < share_of(300); round++) {
        int rows = roll(3, 40), columns = roll(3, 40), group = roll(2, 9);
        int64_t programs = rows * columns + (roll(0, 5) ? 0 : roll(-columns, columns));
        char *text = grouped_kernel(rows, columns, group);
        Answer whole = check_kernel(text, programs, 1, (int64_t)rows * columns * 8, CLASSES_NEVER);
        Answer few = check_kernel(text, programs, 1, (int64_t)rows * columns * 8, CLASSES_ALWAYS);
        assert_false(whole.representatives || whole.incomplete != few.incomplete); /* programs too many divide by 0 */
        if (whole.race != few.race || whole.outside != few.outside)
            fail_msg("round %u, %d rows, %d columns, %lld programs: races %d and %d, outside %d and %d:\n%s", round,
                     rows, columns, (long long)programs, whole.race, few.race, whole.outside, few.outside, text);
        representatives += few.representatives;
        races += few.representatives && few.race;
        outside += few.representatives && few.outside;
        clean += few.representatives && !few.race && !few.outside;
        free(text);
    }
    print_message("of %u: %u by classes, of which %u race, %u leave their tensor, %u are clean\n", share_of(300),
                  representatives, races, outside, clean);
    assert_in_range(representatives, share_of(250), share_of(300));
    assert_in_range(races, share_of(30), share_of(300));
    assert_in_range(outside, share_of(30), share_of(300));
    assert_in_range(clean, share_of(100), share_of(300));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(classes_say_what_the_whole_grid_says),
                                       cmocka_unit_test(so_they_do_of_tiles_in_groups)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
