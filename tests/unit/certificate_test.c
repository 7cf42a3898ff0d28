/* check/certificate: certificates of all kernels here that are proved hold, and those with a fault do not, nor those of
 * another kernel; and what is said of texts that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <glob.h>

#include "base/diagnostics.h"
#include "certified.h"
#include "check/certificate/certificate.h"
#include "check/pipeline/internal.h"
#include "check/prove/certificate.h"
#include "corrupting.h"
#include "machine/tile/compile/program.h"
#include "mlir/reader.h"
#include "share.h"

typedef struct Kernels {
    Source *source;
    Module module;
    Diagnostics diagnostics;
    const Op *all[16];
    size_t count;
} Kernels;

static jmp_buf out_of_memory;

static bool read_kernels(Kernels *kernels, Source *source) {
    *kernels = (Kernels){.source = source};
    Units units;
    assert_non_null(source);
    if (!units_find(source, &units))
        return false;
    bool good = units.count == 1 && read_unit(&kernels->module, source, &units.items[0],
                                              (ReadOptions){.dump = units.dump}, &kernels->diagnostics);
    units_free(&units);
    if (!good)
        return false;
    kernels->module.arena.budget = kernels->module.arena.held + ((size_t)1 << 29);
    kernels->module.arena.exhausted = &out_of_memory;
    kernels->count = program_kernels(&kernels->module, kernels->all, 16);
    kernels->count = kernels->count < 16 ? kernels->count : 16;
    return true;
}

static void free_kernels(Kernels *kernels) {
    module_free(&kernels->module);
    diagnostics_free(&kernels->diagnostics);
    source_free(kernels->source);
}

static CertificateVerdict check(Kernels *kernels, const Op *kernel, Str text, Arena *arena) {
    arena_reset(arena);
    return certificate_check(&kernels->module, kernel, text, true, arena);
}

/* False: the kernel is not proved. */
static bool certify(Kernels *kernels, const Op *kernel, Text *text) {
    Proof *proof = prove_kernel(&kernels->module, kernel, 10);
    text->size = 0;
    text_addf(text, "%s\n", certificate_first_line);
    if (proof->proved)
        proof_certificate(&kernels->module, kernel, proof, text);
    return proof->proved;
}

/* Calls `each` with the certificate of each kernel of the files that is proved. */
static unsigned walk(void (*each)(Kernels *kernels, const Op *kernel, Str text, Arena *arena)) {
    static const char *const patterns[] = {"examples/*.ttgir", "examples/*/*.ttgir", "tests/golden/*.mlir",
                                           "tests/golden/*.ttgir"};
    unsigned proved = 0;
    glob_t files = {0};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        assert_int_equal(glob(patterns[i], i ? GLOB_APPEND : 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        Kernels kernels;
        const char *problem;
        Text text = {0};
        Arena arena;
        arena_init(&arena, (size_t)1 << 29);
        arena.exhausted = &out_of_memory;
        if (setjmp(out_of_memory))
            fail_msg("%s: out of memory", files.gl_pathv[i]);
        bool good = read_kernels(&kernels, source_read(files.gl_pathv[i], &problem));
        for (size_t k = 0; good && k < kernels.count; k++)
            if (certify(&kernels, kernels.all[k], &text)) {
                each(&kernels, kernels.all[k], (Str){text.data, text.size}, &arena);
                proved++;
            }
        text_free(&text);
        arena_free(&arena);
        free_kernels(&kernels);
    }
    globfree(&files);
    return proved;
}

static void expect_good(Kernels *kernels, const Op *kernel, Str text, Arena *arena) {
    CertificateVerdict verdict = check(kernels, kernel, text, arena);
    if (verdict.answer != CERTIFICATE_HOLDS)
        fail_msg("%s: line %u: %s\n%.*s", kernels->source->name, verdict.line, verdict.why, (int)text.size, text.data);
}

static void certificates_hold(void **state) {
    (void)state;
    assert_true(walk(expect_good) > 100);
}

/* ---- Faults --------------------------------------------------------------------------------------- */

enum { EACH = 85 };
static unsigned made[CORRUPTIONS], refused, same;
static uint64_t seed = 42;

static void expect_refused(Kernels *kernels, const Op *kernel, Str text, Arena *arena) {
    Text bad = {0};
    for (unsigned i = 0; i < share_of(EACH); i++) {
        Corruption kind = (Corruption)corrupt_pick(&seed, CORRUPTIONS);
        if (!corrupt(text, kind, &seed, &bad))
            continue;
        made[kind]++;
        CertificateVerdict verdict = check(kernels, kernel, (Str){bad.data, bad.size}, arena);
        refused += verdict.answer != CERTIFICATE_HOLDS;
        if (verdict.answer == CERTIFICATE_HOLDS && !corrupt_same(text, (Str){bad.data, bad.size}))
            fail_msg("%s: %s:\n%.*s", kernels->source->name, corruption_names[kind], (int)bad.size, bad.data);
        same += verdict.answer == CERTIFICATE_HOLDS;
        if (verdict.answer != CERTIFICATE_HOLDS)
            assert_true(verdict.why && *verdict.why);
    }
    text_free(&bad);
}

/* Others than those that are refused prove the same in other words: the checker has looked at each of their steps. */
static void faults_are_refused(void **state) {
    (void)state;
    walk(expect_refused);
    print_message("%u certificates with a fault refused; %u prove the same\n", refused, same);
    assert_true(refused >= share_of(10000));
    assert_true(same < refused / 20);
    for (unsigned i = 0; i < CORRUPTIONS; i++)
        assert_true(made[i] > 10);
}

/* ---- Other kernels -------------------------------------------------------------------------------- */

/* The kernel with one part exchanged, against the certificate of the kernel. At most one of them cannot be read. */
static void refuse_others(const char *kernel, const char *const (*changes)[2], size_t count) {
    Kernels first;
    Text certificate = {0};
    Arena arena;
    arena_init(&arena, (size_t)1 << 29);
    arena.exhausted = &out_of_memory;
    if (setjmp(out_of_memory))
        fail_msg("out of memory");
    assert_true(read_kernels(&first, source_copy("kernel.ttgir", kernel, strlen(kernel))));
    assert_true(certify(&first, first.all[0], &certificate));
    const Str text = {certificate.data, certificate.size};
    expect_good(&first, first.all[0], text, &arena);
    size_t read = 0;
    for (size_t i = 0; i < count; i++) {
        Kernels other;
        Text changed = {0};
        const char *at = strstr(kernel, changes[i][0]);
        assert_non_null(at);
        corrupt_replace(str_of(kernel), (Str){at, strlen(changes[i][0])}, str_of(changes[i][1]), &changed);
        bool good = read_kernels(&other, source_copy("other.ttgir", changed.data, changed.size));
        read += good;
        if (good && check(&other, other.all[0], text, &arena).answer == CERTIFICATE_HOLDS)
            fail_msg("%s for %s", changes[i][1], changes[i][0]);
        text_free(&changed);
        free_kernels(&other);
    }
    assert_true(read + 1 >= count);
    text_free(&certificate);
    arena_free(&arena);
    free_kernels(&first);
}

static void other_kernels_are_refused(void **state) {
    static const char *const changes[][2] = {{"constant 128 : i32", "constant 64 : i32"},
                                             {"constant 128 : i32", "constant 129 : i32"},
                                             {"program_id x", "program_id z"},
                                             {"program_id y", "program_id x"},
                                             {"muli %x, %c128", "addi %x, %c128"},
                                             {"muli %y, %s", "muli %y, %n"},
                                             {"muli %y, %s", "muli %x, %s"},
                                             {"cmpi slt", "cmpi sle"},
                                             {"cmpi slt, %o, %ns", "cmpi slt, %ns, %o"},
                                             {"cmpi slt", "cmpi ne"},
                                             {"addi %t, %r", "subi %t, %r"},
                                             {"addi %t, %r", "addi %t, %t"},
                                             {"addptr %p, %b", "addptr %q, %b"},
                                             {"addptr %ps, %o", "addptr %ps, %r"},
                                             {"store %e, %v, %m", "store %e, %v"},
                                             {"@kernel", "@other"},
                                             {"%ns = tt.splat %n", "%ns = tt.splat %s"},
                                             {"%n: i32, %s: i32", "%s: i32, %n: i32"},
                                             {"start = 0", "start = 1"},
                                             {"end = 128 : i32, start = 0", "end = 129 : i32, start = 1"}};
    (void)state;
    refuse_others(KERNEL, changes, sizeof changes / sizeof *changes); /* one tensor gets another size */
}

#define TENSOR  "tensor<128xf32, #blocked>"
#define MEMORY  "!ttg.memdesc<128xf32, #shared, #smem, mutable>"
#define RING    "!ttg.memdesc<2x128xf32, #slots, #smem, mutable>"
#define STORE_H "    ttg.local_store %v, %h : " TENSOR " -> " MEMORY "\n"
#define LOAD_H  "    %i = ttg.local_load %h : " MEMORY " -> " TENSOR "\n"
/* Every program stores the same, through shared memory. */
static const char alike[] =
    "#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>\n"
    "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"
    "#slots = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>\n"
    "#smem = #ttg.shared_memory\n"
    "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 1 : i32, ttg.target = \"cuda:90\", "
    "\"ttg.threads-per-warp\" = 32 : i32} {\n"
    "  tt.func public @kernel(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %n: i32) {\n"
    "    %x = tt.get_num_programs x : i32\n    %y = tt.get_program_id y : i32\n"
    "    %c0 = arith.constant 0 : i32\n    %c1 = arith.constant 1 : i32\n"
    "    %v = arith.constant dense<1.0> : " TENSOR "\n"
    "    %own = arith.sitofp %y : i32 to f32\n    %u = tt.splat %own : f32 -> " TENSOR "\n"
    "    %f = arith.sitofp %n : i32 to f32\n    %w = tt.splat %f : f32 -> " TENSOR "\n"
    "    %less = arith.cmpi slt, %n, %x : i32\n    %mask = tt.splat %less : i1 -> tensor<128xi1, #blocked>\n"
    "    %lane = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked>\n"
    "    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #blocked>\n"
    "    %pe = tt.addptr %ps, %lane : tensor<128x!tt.ptr<f32>, #blocked>, tensor<128xi32, #blocked>\n"
    "    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #blocked>\n"
    "    %d = tt.load %qs, %mask, %v : tensor<128x!tt.ptr<f32>, #blocked>\n"
    "    %m = ttg.local_alloc %w : (" TENSOR ") -> " MEMORY "\n"
    "    %h = ttg.local_alloc : () -> " MEMORY "\n"
    "    %ring = ttg.local_alloc : () -> " RING "\n"
    "    %a = ttg.memdesc_index %ring[%c0] : " RING " -> " MEMORY "\n"
    "    %b = ttg.memdesc_index %ring[%c1] : " RING " -> " MEMORY "\n"
    "    ttg.local_store %v, %a : " TENSOR " -> " MEMORY "\n"
    "    ttg.local_store %d, %b : " TENSOR " -> " MEMORY "\n" STORE_H LOAD_H
    "    scf.if %less {\n      ttg.local_store %w, %a : " TENSOR " -> " MEMORY "\n    }\n"
    "    %j = ttg.local_load %m : " MEMORY " -> " TENSOR "\n"
    "    %k = ttg.local_load %a : " MEMORY " -> " TENSOR "\n"
    "    %l = ttg.local_load %b : " MEMORY " -> " TENSOR "\n"
    "    %ij = arith.addf %i, %j : " TENSOR "\n    %ijk = arith.addf %ij, %k : " TENSOR "\n"
    "    %sum = arith.addf %ijk, %l : " TENSOR "\n"
    "    tt.store %pe, %sum : tensor<128x!tt.ptr<f32>, #blocked>\n    tt.return\n  }\n}\n";

static void kernels_with_other_data_are_refused(void **state) {
    static const char *const changes[][2] = {
        {"get_num_programs x", "get_program_id x"},   /* a branch, and a mask, by which program it is */
        {"cmpi slt, %n, %x", "cmpi slt, %n, %y"},     /* the same */
        {"sitofp %n", "sitofp %y"},                   /* its number in a buffer */
        {"local_store %v, %a", "local_store %u, %a"}, /* the same */
        {"local_store %w, %a", "local_store %u, %a"}, /* the same in a branch */
        {"store %pe, %sum", "store %pe, %u"},         /* its number itself */
        {"addf %ijk, %l", "addf %ijk, %u"},           /* in a sum */
        {"%qs, %mask, %v", "%qs, %mask"},             /* elements that are not there */
        {"local_store %v, %a", "local_store %v, %b"}, /* a slot that a branch alone fills */
        {"local_store %d, %b", "local_store %d, %a"}, /* ... that nothing does */
        {"local_store %v, %h", "local_store %v, %m"}, /* a buffer that nothing does */
        {"local_alloc %w : (" TENSOR ")", "local_alloc : ()"},
        {STORE_H LOAD_H, LOAD_H STORE_H}, /* too late */
    };
    (void)state;
    refuse_others(alike, changes, sizeof changes / sizeof *changes);
}

/* ---- Wrong proofs --------------------------------------------------------------------------------- */

/* What the checker does not take for a proof is not written. */
static void expect_written(PipelineResult *like, bool good) {
    PipelineResult result = *like;
    Text written = {0};
    result.problem = "";
    result.question.prove_seconds = 10;
    arena_init(&result.arena, (size_t)1 << 28);
    assert_int_equal(result_certify(&result, &written), good);
    assert_int_equal(memmem(written.data, written.size, "\nkernel ", 8) != NULL, good);
    text_free(&written);
    arena_free(&result.arena);
    result.module->arena.exhausted = &out_of_memory;
}

/* Programs along y store to the same elements, which the proof says they do not. */
static void wrong_proofs_are_withdrawn(void **state) {
    Kernels kernels;
    Text changed = {0}, same = {0}, once = {0};
    const char *const constant = "%v = arith.constant dense<1.0> : ", *at = strstr(KERNEL, "to %n step");
    (void)state;
    corrupt_replace(str_of(KERNEL), (Str){at, 5}, str_of("to %c1"), &once); /* launches are run: that is quicker */
    text_char(&once, 0);
    at = strstr(once.data, "muli %y, %s");
    corrupt_replace(str_of(once.data), (Str){at, 11}, str_of("subi %s, %s"), &same);
    text_char(&same, 0);
    same.size--;
    at = strstr(same.data, constant);
    assert_non_null(at);
    corrupt_replace((Str){same.data, same.size}, (Str){at, strlen(constant)}, /* each stores something else */
                    STR("%f = arith.sitofp %y : i32 to f32\n    %v = tt.splat %f : f32 -> "), &changed);
    if (setjmp(out_of_memory))
        fail_msg("out of memory");
    assert_true(read_kernels(&kernels, source_copy("kernel.ttgir", changed.data, changed.size)));
    static const char *const said[] = {"cross-checked: its certificate holds",
                                       "a launch that it covers has a race: ", "its certificate does not hold: "};
    for (unsigned wrong = 0; wrong < 3; wrong++) {
        kernels.module.arena.exhausted = &out_of_memory;
        kernels.module.proofs = NULL;
        Proof *proof = (Proof *)proof_of_kernel(&kernels.module, kernels.all[0], 10);
        assert_true(proof->proved && proof->where_count == 2);
        if (wrong == 1) /* nothing is asked */
            proof->where_count = 0;
        if (wrong == 2) /* a step is left out */
            proof->taken_count--;
        PipelineResult result = {.module = &kernels.module, .functions = kernels.all, .count = 1};
        expect_written(&result, !wrong);
        result.question.cross_check = true;
        result.question.prove_seconds = 10;
        arena_init(&result.arena, (size_t)1 << 28);
        result_cross_check(&result, 0);
        assert_int_equal(proof->proved, !wrong);
        assert_int_equal(proof->open_count, wrong != 0);
        assert_non_null(strstr(wrong ? proof->withdrawn : proof->steps[proof->step_count - 1], said[wrong]));
        if (wrong)
            assert_non_null(strstr(proof->open[0].text, "internal error: the proof is wrong: "));
        arena_free(&result.arena);
    }
    text_free(&changed);
    text_free(&same);
    text_free(&once);
    free_kernels(&kernels);
}

/* ---- Texts that are none -------------------------------------------------------------------------- */

static void bad_texts_are_explained(void **state) {
    static const struct {
        const char *text;
        uint32_t line;
        const char *why;
    } cases[] = {
        {"", 1, "the first line of a certificate is \"weir certificate 1\""},
        {"weir certificate 2\n", 1, "the first line of a certificate is \"weir certificate 1\""},
        {"weir certificate 1\nkernel kernel\n", 3, "the certificate ends before its last line, \"end\""},
        {"weir certificate 1\nkernel kernel\nnonsense\nend\n", 3, "a line of a certificate begins with another word"},
        {"weir certificate 1\nkernel kernel\na1 argument 0\nend\n", 3, "atoms are not numbered one after the other"},
        {"weir certificate 1\nkernel kernel\na0 argument 99\nend\n", 3, "a number is beyond what there is"},
        {"weir certificate 1\nkernel kernel\na0 divide 1 2\nend\n", 3, "a sign is missing between two numbers"},
        {"weir certificate 1\nkernel kernel\na0 lane 0 12345678901234567890\nend\n", 3, "a whole number is expected"},
        {"weir certificate 1\nkernel kernel\nsame 1\nend\n", 3, "something is behind the end of what the line says"},
        {"weir certificate 1\nkernel kernel\nbound 0 none : a0\nend\n", 3, "a number is beyond what there is"},
        {"weir certificate 1\nkernel other\nend\n", 0, "it says nothing about the kernel"},
    };
    Kernels kernels;
    Arena arena;
    (void)state;
    arena_init(&arena, (size_t)1 << 28);
    arena.exhausted = &out_of_memory;
    if (setjmp(out_of_memory))
        fail_msg("out of memory");
    assert_true(read_kernels(&kernels, source_copy("kernel.ttgir", KERNEL, strlen(KERNEL))));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CertificateVerdict verdict = check(&kernels, kernels.all[0], str_of(cases[i].text), &arena);
        assert_string_equal(verdict.why, cases[i].why);
        assert_int_equal(verdict.line, cases[i].line);
        assert_int_equal(verdict.answer, cases[i].line ? CERTIFICATE_IS_NONE : CERTIFICATE_FAILS);
    }
    arena_free(&arena);
    free_kernels(&kernels);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(certificates_hold),          cmocka_unit_test(faults_are_refused),
        cmocka_unit_test(other_kernels_are_refused),  cmocka_unit_test(kernels_with_other_data_are_refused),
        cmocka_unit_test(wrong_proofs_are_withdrawn), cmocka_unit_test(bad_texts_are_explained)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
