/* The interpreter against an H200: recorded/NAME.ptx runs every form of an instruction on many operands, and NAME.tsv
 * has, form by form, a hash of what the GPU stored. recorded/make.py writes and records them. */
#include "interpreter.h"

#include "ptx/reader.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { OUT = 0x40000000, THREADS = 256 };

static uint64_t hash_of(Machine *machine, uint64_t form) {
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (uint64_t thread = 0; thread < THREADS; thread++) {
        uint64_t value = machine_global(machine, OUT + (form * THREADS + thread) * 8, 8);
        for (unsigned byte = 0; byte < 8; byte++)
            hash = (hash ^ (value >> 8 * byte & 0xFF)) * UINT64_C(0x100000001B3);
    }
    return hash;
}

/* How many forms differ; each is printed. */
static unsigned compare(Machine *machine, FILE *recorded) {
    char line[256];
    unsigned wrong = 0;
    for (uint64_t form = 0; fgets(line, sizeof line, recorded); form++) {
        char *tab = strchr(line, '\t');
        assert_non_null(tab);
        if (hash_of(machine, form) == strtoull(tab + 1, NULL, 16))
            continue;
        wrong++;
        printf("# %.*s: other values than the GPU has; thread 0: %016" PRIx64 ", thread 100: %016" PRIx64 "\n",
               (int)(tab - line), line, machine_global(machine, OUT + form * THREADS * 8, 8),
               machine_global(machine, OUT + (form * THREADS + 100) * 8, 8));
    }
    return wrong;
}

static void run_recorded(const char *name) {
    char path[256];
    snprintf(path, sizeof path, "tests/reference/ptx/recorded/%s.ptx", name);
    Diagnostics diagnostics = {0};
    PtxModule module;
    const char *problem = NULL;
    Source *source = source_read(path, &problem);
    assert_non_null(source);
    assert_true(ptx_read(&module, source, false, &diagnostics));
    Machine *machine = machine_new(&module);
    uint64_t parameter = OUT;
    uint32_t kernel = 0;
    while (!module.functions[kernel].entry)
        kernel++;
    Launch launch = {.function = kernel,
                     .grid = {1, 1, 1},
                     .block = {THREADS, 1, 1},
                     .cluster = {1, 1, 1},
                     .parameters = (const uint8_t *)&parameter,
                     .steps = 1000000};
    End end = machine_run(machine, &launch, NULL);
    if (end.kind != END_REACHED)
        fail_msg("%s: stopped at %.*s", name, STR_ARG(end.what));
    snprintf(path, sizeof path, "tests/reference/ptx/recorded/%s.tsv", name);
    FILE *recorded = fopen(path, "r");
    assert_non_null(recorded);
    assert_int_equal(compare(machine, recorded), 0);
    fclose(recorded);
    machine_free(machine);
    ptx_free(&module);
    source_free(source);
    diagnostics_free(&diagnostics);
}

static void test_integers(void **state) {
    (void)state;
    run_recorded("integer");
}

static void test_lanes(void **state) {
    (void)state;
    run_recorded("lanes");
}

static void test_real_numbers(void **state) {
    (void)state;
    run_recorded("real");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_real_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
