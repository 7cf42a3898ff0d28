/* The checker of tests/membar on kernels whose races are known, and the generator: what it makes is read by Weir and by
 * the checker, and a barrier before every op leaves no race in it. */
#include "sound.h"

#include "mlir/reader.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define HEAD                                                                      \
    "%c0 = arith.constant 0 : i32\n"                                              \
    "%c1 = arith.constant 1 : i32\n"                                              \
    "%c2 = arith.constant 2 : i32\n"                                              \
    "%c3 = arith.constant 3 : i32\n"                                              \
    "%ring = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ring3\n"      \
    "%bar = ttg.local_alloc {allocation.offset = 65536 : i32} : () -> !barrier\n" \
    "%view = ttg.memdesc_index %ring[%c0] : !ring3 -> !tile\n"                    \
    "%other = ttg.memdesc_index %ring[%c1] : !ring3 -> !tile\n"

enum { HEAD_LINES = 8 };

#define LOAD         "%l = ttg.local_load %view : !tile -> !values\n"
#define LOAD_OTHER   "%m = ttg.local_load %other : !tile -> !values\n"
#define STORE        "ttg.local_store %values, %view : !values -> !tile\n"
#define STORE_OTHER  "ttg.local_store %values, %other : !values -> !tile\n"
#define BARRIER      "ttg.barrier local\n"
#define COPY         "%t = ttg.async_copy_global_to_local %pointers, %view : !pointers -> !tile\n"
#define COPY_OTHER   "%u = ttg.async_copy_global_to_local %pointers, %other : !pointers -> !tile\n"
#define COMMIT       "%g = ttg.async_commit_group\n"
#define AWAIT(left)  "%w = ttg.async_wait {num = " left " : i32}\n"
#define TDM          "%t = amdg.async_tdm_copy_global_to_local %desc[%c0, %c0] into %view, %true : !desc -> !tile\n"
#define TDM_OTHER    "%u = amdg.async_tdm_copy_global_to_local %desc[%c0, %c0] into %other, %true : !desc -> !tile\n"
#define TDM_OUT      "amdg.async_tdm_copy_local_to_global %desc[%c0, %c0] from %view : !tile -> !desc\n"
#define TDM_AWAIT(n) "%w = amdg.async_tdm_wait {num = " n " : i32}\n"
#define TMA          "ttng.async_tma_copy_global_to_local %desc[%c0, %c0] %view, %bar : !desc -> !tile\n"
#define TMA_OUT      "ttng.async_tma_copy_local_to_global %desc[%c0, %c0] %view : !desc, !tile\n"
#define TMA_AWAIT    "ttng.async_tma_store_wait {pendings = 0 : i32}\n"
#define INIT         "ttng.init_barrier %bar, 1 : !barrier\n"
#define INVALIDATE   "ttng.inval_barrier %bar : !barrier\n"
#define EXPECT       "ttng.barrier_expect %bar, 8192, %true : !barrier\n"
#define WAIT         "ttng.wait_barrier %bar, %c0 : !barrier\n"

static SoundResult judge(const char *body, const SoundPlacement *placement) {
    static SoundProgram program;
    static const SoundPlacement none;
    SoundResult result;
    Text text = {0};
    text_addf(&text, "%s%stt.return\n", HEAD, body);
    if (!sound_read((Str){text.data, text.size}, &program))
        fail_msg("line %u: %s\n%s", program.line_count, program.problem, body);
    sound_check(&program, placement ? placement : &none, &result);
    text_free(&text);
    return result;
}

/* Lines count from the first of the body. */
static void races(const char *body, unsigned first, unsigned second) {
    SoundResult result = judge(body, NULL);
    if (result.verdict != SOUND_RACE || result.first != HEAD_LINES + first || result.second != HEAD_LINES + second)
        fail_msg("verdict %d, lines %d and %d of\n%s", (int)result.verdict, (int)result.first - HEAD_LINES,
                 (int)result.second - HEAD_LINES, body);
}

static void clean(const char *body) {
    SoundResult result = judge(body, NULL);
    if (result.verdict != SOUND_CLEAN)
        fail_msg("verdict %d, lines %d and %d of\n%s", (int)result.verdict, (int)result.first - HEAD_LINES,
                 (int)result.second - HEAD_LINES, body);
}

static void accesses_of_threads(void **state) {
    (void)state;
    races(STORE LOAD, 1, 2);
    races(LOAD STORE, 1, 2);
    races(STORE STORE, 1, 2);
    clean(LOAD LOAD);
    clean(STORE LOAD_OTHER);
    clean(STORE BARRIER LOAD BARRIER STORE);
    races(STORE BARRIER LOAD STORE, 3, 4);
    races(STORE "ttg.barrier global_read\n" LOAD, 1, 3);
    clean(STORE "ttg.barrier all\n" LOAD);
    clean(STORE "gpu.barrier\n" LOAD);
}

static void memory_that_is_shared(void **state) {
    (void)state;
    races(STORE "%a = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !tile\n"
                "%l = ttg.local_load %a : !tile -> !values\n",
          1, 3);
    races(LOAD_OTHER "%a = ttg.local_alloc %values {allocation.offset = 8192 : i32} : (!values) -> !frozen\n", 1, 2);
    clean(LOAD "%a = ttg.local_alloc %values {allocation.offset = 8192 : i32} : (!values) -> !frozen\n");
    clean(STORE "%a = ttg.local_alloc {alignment = 16 : i32} : () -> !tile\n"
                "%l = ttg.local_load %a : !tile -> !values\n");
}

static void copies_in_groups(void **state) {
    (void)state;
    clean(COPY COMMIT LOAD);
    races(COPY COMMIT AWAIT("0") LOAD, 1, 4);
    clean(COPY COMMIT AWAIT("0") BARRIER LOAD);
    races(COPY COMMIT BARRIER AWAIT("0") LOAD, 1, 5);
    clean(COPY AWAIT("0") LOAD); /* no group has it yet */
    clean(COPY_OTHER COMMIT COPY COMMIT AWAIT("1") LOAD);
    races(COPY COMMIT COPY_OTHER COMMIT AWAIT("1") LOAD, 1, 6);
    races(COPY COPY_OTHER COMMIT AWAIT("0") LOAD, 1, 5);
    races(LOAD COPY, 1, 2);
    races(STORE COPY, 1, 2);
    clean(LOAD BARRIER COPY);
    clean(COPY COMMIT STORE);
    races(COPY COMMIT AWAIT("0") STORE, 1, 4);
    races(COPY COMMIT AWAIT("0") COPY, 1, 4);
}

static void tensor_data_mover(void **state) {
    (void)state;
    clean(TDM LOAD);
    races(TDM TDM_AWAIT("0") LOAD, 1, 3);
    clean(TDM TDM_AWAIT("0") BARRIER LOAD);
    races(TDM TDM_OTHER TDM_AWAIT("1") LOAD, 1, 4);
    clean(TDM_OTHER TDM TDM_AWAIT("1") LOAD);
    races(STORE TDM_OUT, 1, 2);
    clean(TDM_OUT LOAD);
    clean(TDM_OUT STORE);
    races(TDM_OUT TDM_AWAIT("0") STORE, 1, 3);
    clean(TDM_OUT TDM_AWAIT("0") LOAD);
    clean(TDM_OUT TDM_AWAIT("0") BARRIER STORE);
}

static void tensor_memory_accelerator(void **state) {
    (void)state;
    clean(EXPECT TMA WAIT LOAD);
    clean(EXPECT TMA WAIT STORE);
    races(LOAD TMA, 1, 2);
    clean(LOAD EXPECT TMA);
    races(EXPECT LOAD TMA, 2, 3);
    races(STORE TMA_OUT, 1, 2);
    clean(TMA_OUT STORE);
    races(TMA_OUT TMA_AWAIT STORE, 1, 3);
    clean(TMA_OUT TMA_AWAIT BARRIER STORE);
    clean(EXPECT TMA WAIT TMA_OUT);
    races(TMA_OUT TMA_AWAIT TMA, 1, 3); /* another warp may begin that part */
}

static void mbarriers(void **state) {
    (void)state;
    races(INIT WAIT, 1, 2);
    clean(INIT BARRIER WAIT);
    clean(INIT EXPECT WAIT);
    clean(EXPECT WAIT EXPECT WAIT);
    races(WAIT INVALIDATE, 1, 2);
    clean(WAIT BARRIER INVALIDATE INIT);
    races(INIT TMA, 1, 2);
    clean(INIT EXPECT TMA);
}

static void branches(void **state) {
    (void)state;
    races(STORE "%f = tt.load %flag2 : !tt.ptr<i1>\n"
                "scf.if %f {\n" BARRIER "}\n" LOAD,
          1, 6);
    clean(STORE "%f = tt.load %flag2 : !tt.ptr<i1>\n"
                "scf.if %f {\n" BARRIER "} else {\n" BARRIER "}\n" LOAD);
    races(STORE "%f = tt.load %flag2 : !tt.ptr<i1>\n"
                "%v = scf.if %f -> (!tile) {\nscf.yield %view : !tile\n} else {\nscf.yield %other : !tile\n}\n"
                "%l = ttg.local_load %v : !tile -> !values\n",
          1, 8);
    races(STORE "%f = tt.load %flag2 : !tt.ptr<i1>\n"
                "cf.cond_br %f, ^one(%view : !tile), ^two\n"
                "^one(%v: !tile):\n"
                "%l = ttg.local_load %v : !tile -> !values\n"
                "cf.br ^two\n"
                "^two:\n",
          1, 5);
    clean("scf.execute_region {\n"
          "%f = tt.load %flag2 : !tt.ptr<i1>\n"
          "cf.cond_br %f, ^one, ^two\n"
          "^one:\nscf.yield\n"
          "^two:\n" STORE BARRIER "scf.yield\n}\n" LOAD);
}

#define FOR(end) "scf.for %i = %c0 to " end " step %c1 : i32 {\n"

static void loops(void **state) {
    (void)state;
    races(FOR("%c2") STORE "}\n", 2, 2);
    clean(FOR("%c1") STORE "}\n");
    races(FOR("%c2") LOAD BARRIER STORE "}\n", 4, 2);
    clean(STORE FOR("%c1") BARRIER "}\n" LOAD);
    races(STORE "%n = tt.load %trips3 : !tt.ptr<i32>\n" FOR("%n") BARRIER "}\n" LOAD, 1, 6);
    /* slot i % 3 comes again after three rounds, not before */
    clean(FOR("%c3") "%x = arith.remsi %i, %c3 : i32\n"
                     "%v = ttg.memdesc_index %ring[%x] : !ring3 -> !tile\n"
                     "ttg.local_store %values, %v : !values -> !tile\n}\n");
    races("%n = tt.load %trips5 : !tt.ptr<i32>\n" FOR("%n") "%x = arith.remsi %i, %c3 : i32\n"
                                                            "%v = ttg.memdesc_index %ring[%x] : !ring3 -> !tile\n"
                                                            "ttg.local_store %values, %v : !values -> !tile\n}\n",
          5, 5);
}

static void values_that_loops_carry(void **state) {
    (void)state;
    /* two views change places: the second round loads what the first has stored */
    races("%r:2 = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %view, %b = %other) -> (!tile, !tile) : i32 {\n"
          "ttg.local_store %values, %a : !values -> !tile\n"
          "%l = ttg.local_load %b : !tile -> !values\n"
          "scf.yield %b, %a : !tile, !tile\n}\n",
          3, 2);
    races("%r:2 = scf.for %i = %c0 to %c1 step %c1 iter_args(%a = %view, %b = %other) -> (!tile, !tile) : i32 {\n"
          "scf.yield %b, %a : !tile, !tile\n}\n" STORE "%l = ttg.local_load %r#1 : !tile -> !values\n",
          4, 5);
    clean("cf.br ^head(%c0, %view : i32, !tile)\n"
          "^head(%i: i32, %a: !tile):\n"
          "ttg.local_store %values, %a : !values -> !tile\n"
          "%n = arith.addi %i, %c1 : i32\n"
          "%t = arith.cmpi slt, %n, %c2 : i32\n"
          "cf.cond_br %t, ^head(%n, %other : i32, !tile), ^exit\n"
          "^exit:\n");
}

static void barriers_that_are_placed(void **state) {
    (void)state;
    SoundPlacement placement = {0};
    placement.marks[HEAD_LINES + 2] = SOUND_BEFORE;
    assert_int_equal(judge(STORE LOAD, &placement).verdict, SOUND_CLEAN);
    assert_int_equal(judge(STORE LOAD, &placement).barriers[0], 1);
    placement.marks[HEAD_LINES + 2] = SOUND_AFTER;
    assert_int_equal(judge(STORE LOAD, &placement).verdict, SOUND_RACE);
    assert_int_equal(judge(STORE LOAD_OTHER LOAD, &placement).verdict, SOUND_CLEAN);
    placement.marks[HEAD_LINES + 2] = SOUND_LEFT_OUT;
    assert_int_equal(judge(STORE BARRIER LOAD, &placement).verdict, SOUND_RACE);
    placement.marks[HEAD_LINES + 2] = 0;
    placement.marks[HEAD_LINES + 4] = SOUND_AFTER; /* the loop's end, however often it ran */
    assert_int_equal(judge(STORE FOR("%c0") LOAD_OTHER "}\n" LOAD, &placement).verdict, SOUND_CLEAN);
    assert_int_equal(judge(STORE FOR("%c3") LOAD_OTHER "}\n" LOAD, &placement).barriers[0], 1);
}

static void what_it_cannot_judge(void **state) {
    (void)state;
    assert_int_equal(judge("%v = ttg.memdesc_index %ring[%c3] : !ring3 -> !tile\n", NULL).verdict, SOUND_UNDEFINED);
    SoundResult result =
        judge("%n = tt.load %trips5 : !tt.ptr<i32>\n" FOR("%n") "%f = tt.load %flag2 : !tt.ptr<i1>\n}\n", NULL);
    assert_int_equal(result.verdict, SOUND_CLEAN);
    assert_int_equal(result.path_count, 1 + 2 + 4 + 8 + 16);
    SoundProgram program;
    assert_false(sound_read(STR("ttg.local_gather %m[%i]\n"), &program));
    assert_string_equal(program.problem, "this op is not known");
}

/* ---- The generator ----------------------------------------------------------------------------------------------- */

enum { GENERATED = 500 };

static void weir_reads_what_is_generated(void **state) {
    (void)state;
    for (unsigned seed = 0; seed < GENERATED; seed++) {
        Module module;
        Diagnostics diagnostics = {0};
        Text text = {0};
        sound_generate(seed, &text);
        Source *source = source_copy("kernel.mlir", text.data, text.size);
        Unit unit = {.end = text.size};
        bool good = read_unit(&module, source, &unit, (ReadOptions){.strict = true}, &diagnostics);
        if (!good)
            fail_msg("kernel %u: %s\n%.*s", seed, diagnostics.items[0].message, (int)text.size, text.data);
        module_free(&module);
        diagnostics_free(&diagnostics);
        source_free(source);
        text_free(&text);
    }
}

/* Most kernels race without more barriers, and none does with one before every op that is run. */
static void a_barrier_everywhere_is_enough(void **state) {
    (void)state;
    unsigned racing = 0, large = 0;
    SoundPlacement everywhere, nowhere = {0};
    memset(&everywhere, SOUND_BEFORE, sizeof everywhere);
    for (unsigned seed = 0; seed < GENERATED; seed++) {
        static SoundProgram program;
        SoundResult result;
        Text text = {0};
        sound_generate(seed, &text);
        if (!sound_read((Str){text.data, text.size}, &program))
            fail_msg("kernel %u, line %u: %s\n%.*s", seed, program.line_count, program.problem, (int)text.size,
                     text.data);
        sound_check(&program, &nowhere, &result);
        racing += result.verdict == SOUND_RACE;
        sound_check(&program, &everywhere, &result);
        large += result.verdict == SOUND_TOO_LARGE;
        if (result.verdict == SOUND_RACE || result.verdict == SOUND_UNDEFINED)
            fail_msg("kernel %u: verdict %d, lines %u and %u\n%.*s", seed, (int)result.verdict, result.first,
                     result.second, (int)text.size, text.data);
        text_free(&text);
    }
    assert_true(racing > GENERATED / 2);
    assert_true(large < GENERATED / 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accesses_of_threads),
        cmocka_unit_test(memory_that_is_shared),
        cmocka_unit_test(copies_in_groups),
        cmocka_unit_test(tensor_data_mover),
        cmocka_unit_test(tensor_memory_accelerator),
        cmocka_unit_test(mbarriers),
        cmocka_unit_test(branches),
        cmocka_unit_test(loops),
        cmocka_unit_test(values_that_loops_carry),
        cmocka_unit_test(barriers_that_are_placed),
        cmocka_unit_test(what_it_cannot_judge),
        cmocka_unit_test(weir_reads_what_is_generated),
        cmocka_unit_test(a_barrier_everywhere_is_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
