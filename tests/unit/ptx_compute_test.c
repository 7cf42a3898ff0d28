/* What instructions compute, held against an H200: tests/reference/ptx/recorded has kernels that run every form on many
 * operands, and a hash of what the GPU stored for each (make.py and more.py say how). Approximations are held against
 * the GPU's own results, by as much as the ISA says that they may be off. */
#include "machine/simt/schedule/schedule.h"
#include "ptx/reader.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define OUT UINT64_C(0x200000000)
enum { MOST_FORMS = 1200, MOST_THREADS = 1024, NEAR_STEP = 3 };

typedef struct Ran {
    Source *source;
    PtxModule module;
    Diagnostics diagnostics;
    Arena arena;
    PtxBuffer buffer;
    PtxLaunch launch;
    uint64_t parameter;
    uint8_t known[8];
    PtxMachine *machine;
    uint32_t threads;
    char path[256];
} Ran;

static void run_recorded(Ran *r, const char *name, uint32_t threads) {
    const char *problem = NULL;
    memset(r, 0, sizeof *r);
    snprintf(r->path, sizeof r->path, "tests/reference/ptx/recorded/%s.ptx", name);
    r->source = source_read(r->path, &problem);
    assert_non_null(r->source);
    assert_true(ptx_read(&r->module, r->source, false, &r->diagnostics));
    arena_init(&r->arena, (size_t)256 << 20);
    uint32_t entry = 0;
    while (!r->module.functions[entry].entry)
        entry++;
    PtxProgram *program = ptx_program(&r->arena, &r->module, entry, (size_t)256 << 20, &problem);
    assert_non_null(program);
    r->threads = threads;
    r->parameter = OUT;
    memset(r->known, BYTE_KNOWN, sizeof r->known);
    r->buffer =
        (PtxBuffer){.name = "out", .address = OUT, .bytes = (uint64_t)MOST_FORMS * MOST_THREADS * 8, .output = true};
    r->launch = (PtxLaunch){.grid = {1, 1, 1},
                            .block = {threads, 1, 1},
                            .cluster = {1, 1, 1},
                            .parameters = (uint8_t *)&r->parameter,
                            .known = r->known,
                            .buffers = &r->buffer,
                            .buffer_count = 1};
    r->machine = ptx_machine(program, &r->launch, COMPUTES_ALL, &problem);
    assert_non_null(r->machine);
    r->machine->budget = 10000000;
    PtxSchedule schedule = {.kind = SCHEDULE_EAGER};
    PtxEnd end = ptx_schedule_run(r->machine, &schedule);
    if (end == PTX_END_UNKNOWN)
        fail_msg("%s: line %u, %.*s: not modeled", name, code_line(program, r->machine->unknown),
                 STR_ARG(r->machine->unknown->form->text));
    assert_int_equal(end, PTX_END_COMPLETE);
}

static void forget(Ran *r) {
    ptx_machine_free(r->machine);
    arena_free(&r->arena);
    ptx_free(&r->module);
    source_free(r->source);
    diagnostics_free(&r->diagnostics);
}

/* What a thread stored for a form; all of it is known. */
static uint64_t stored(Ran *r, uint32_t form, uint32_t thread) {
    PtxBlock *block = NULL;
    for (uint32_t i = 0; i < r->machine->block_count; i++)
        if (r->machine->blocks[i].base == OUT)
            block = &r->machine->blocks[i];
    assert_non_null(block);
    bool known = true;
    uint64_t value = ptx_load(r->machine, (PtxLocation){block, ((uint64_t)form * r->threads + thread) * 8}, 8, &known);
    if (!known)
        fail_msg("%s: form %u, thread %u is not known", r->path, form, thread);
    return value;
}

static FILE *recorded(Ran *r) {
    memcpy(strrchr(r->path, '.'), ".tsv", 5);
    FILE *file = fopen(r->path, "r");
    assert_non_null(file);
    return file;
}

/* For looking at what differs: PTX_COMPUTE_DUMP=DIRECTORY leaves NAME.bin there. */
static void dump(Ran *r, const char *name, uint32_t forms) {
    char path[512];
    const char *where = getenv("PTX_COMPUTE_DUMP");
    if (!where)
        return;
    snprintf(path, sizeof path, "%s/%s.bin", where, name);
    FILE *file = fopen(path, "wb");
    for (uint32_t form = 0; file && form < forms; form++)
        for (uint32_t thread = 0; thread < r->threads; thread++) {
            uint64_t value = stored(r, form, thread);
            fwrite(&value, sizeof value, 1, file);
        }
    if (file)
        fclose(file);
}

static void compare_hashes(const char *name, uint32_t threads, unsigned forms) {
    Ran r;
    char line[256];
    unsigned form = 0, wrong = 0;
    run_recorded(&r, name, threads);
    FILE *file = recorded(&r);
    dump(&r, name, forms);
    for (; fgets(line, sizeof line, file); form++) {
        char *tab = strchr(line, '\t');
        uint64_t hash = UINT64_C(0xCBF29CE484222325);
        for (uint32_t thread = 0; thread < threads; thread++) {
            uint64_t value = stored(&r, form, thread);
            for (unsigned byte = 0; byte < 8; byte++)
                hash = (hash ^ (value >> 8 * byte & 0xFF)) * UINT64_C(0x100000001B3);
        }
        assert_non_null(tab);
        if (hash == strtoull(tab + 1, NULL, 16))
            continue;
        wrong++;
        print_message("# %s, %.*s: other values than the GPU has\n", name, (int)(tab - line), line);
    }
    fclose(file);
    forget(&r);
    assert_int_equal(form, forms);
    assert_int_equal(wrong, 0);
}

static void test_integers(void **state) {
    (void)state;
    compare_hashes("integer", 256, 452);
}
static void test_lanes(void **state) {
    (void)state;
    compare_hashes("lanes", 256, 63);
}
static void test_reals(void **state) {
    (void)state;
    compare_hashes("real", 256, 161);
}
static void test_f32(void **state) {
    (void)state;
    compare_hashes("single", 1024, 379);
}
static void test_f64(void **state) {
    (void)state;
    compare_hashes("double", 1024, 160);
}
static void test_f16(void **state) {
    (void)state;
    compare_hashes("half", 1024, 284);
}
static void test_bf16(void **state) {
    (void)state;
    compare_hashes("brain", 1024, 124);
}
static void test_packed_and_video(void **state) {
    (void)state;
    compare_hashes("whole", 1024, 831);
}

static void test_what_is_flushed(void **state) {
    (void)state;
    compare_hashes("tiny", 1024, 74);
}
static void test_out_of_range(void **state) {
    (void)state;
    compare_hashes("oob", 1024, 132);
}

/* ---- Approximations -------------------------------------------------------------------------------------------- */

/* By how much results may be off the GPU's: the ISA's error, once for each of the two; both rounded. */
static const struct {
    const char *form;
    double relative, absolute;
} errors[] = {
    {"rcp.approx.ftz.f64", 0x1p-19, 0},
    {"rsqrt.approx.ftz.f64", 0x1p-19, 0},
    {"rsqrt.approx.f64", 0x1p-50, 0},
    {"ex2.approx.f16", 0x1p-9, 0},
    {"ex2.approx.ftz.bf16", 0x1p-6, 0},
    {"tanh.approx.f16", 0x1p-9, 0x1p-14},
    {"tanh.approx.bf16", 0x1p-6, 0},
    {"tanh.approx.f32", 0x1p-10, 0},
    {"rcp", 0x1p-22, 0},
    {"sqrt", 0x1p-22, 0},
    {"rsqrt", 0x1p-21, 0},
    {"lg2", 0x1p-21, 0x1p-21},
    {"ex2", 0x1p-20, 0},
    {"div", 0x1p-21, 0},
    /* in units of a turn the GPU has an error of its own, which grows with the operand */
    {"sin", 0, 0x1p-19},
    {"cos", 0, 0x1p-19},
};

static double number_of(const char *form, uint64_t bits) {
    double wide;
    float single;
    uint32_t low = (uint32_t)bits;
    if (strstr(form, "f64")) {
        memcpy(&wide, &bits, sizeof wide);
        return wide;
    }
    if (strstr(form, "bf16"))
        low <<= 16;
    memcpy(&single, &low, sizeof single);
    if (!strstr(form, ".f16"))
        return (double)single;
    int exponent = (int)(bits >> 10 & 31);
    double fraction = (double)(bits & 1023);
    double size = exponent == 31 ? (fraction > 0 ? (double)NAN : (double)INFINITY)
                  : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                 : ldexp(fraction, -24);
    return bits >> 15 & 1 ? -size : size;
}

static bool near_enough(const char *form, uint64_t ours, uint64_t theirs) {
    size_t i = 0;
    while (i + 1 < sizeof errors / sizeof *errors && strncmp(form, errors[i].form, strlen(errors[i].form)) != 0)
        i++;
    double a = number_of(form, ours), b = number_of(form, theirs);
    if (ours == theirs || (isnan(a) && isnan(b)))
        return true;
    double smallest = strstr(form, "f64") ? 0 : 0x1p-148; /* two of the last places of a subnormal number */
    return fabs(a - b) <= fabs(b) * errors[i].relative + errors[i].absolute + smallest;
}

static void test_approximations(void **state) {
    (void)state;
    Ran r;
    static char line[20000];
    unsigned form = 0, wrong = 0;
    run_recorded(&r, "near", 1024);
    FILE *file = recorded(&r);
    for (; fgets(line, sizeof line, file); form++) {
        char *at = strchr(line, '\t');
        assert_non_null(at);
        *at++ = '\0';
        for (uint32_t thread = 0; thread < 1024; thread += NEAR_STEP) {
            uint64_t theirs = strtoull(at, &at, 16), ours = stored(&r, form, thread);
            if (near_enough(line, ours, theirs))
                continue;
            if (wrong++ < 40)
                print_message("# %s, thread %u: %" PRIx64 " (%g), and %" PRIx64 " (%g) on the GPU\n", line, thread,
                              ours, number_of(line, ours), theirs, number_of(line, theirs));
        }
    }
    fclose(file);
    forget(&r);
    assert_int_equal(form, 32);
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_reals),
        cmocka_unit_test(test_f32),
        cmocka_unit_test(test_f64),
        cmocka_unit_test(test_f16),
        cmocka_unit_test(test_bf16),
        cmocka_unit_test(test_packed_and_video),
        cmocka_unit_test(test_what_is_flushed),
        cmocka_unit_test(test_out_of_range),
        cmocka_unit_test(test_approximations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
