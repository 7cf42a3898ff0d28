/* What every program writes the same: random kernels with buffers, branches and loops, each of which is also gone
 * through for several programs, with garbage of its own in each where nothing was written. If programs store different
 * numbers, neither the proof nor the checker of certificates may say that they are the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/diagnostics.h"
#include "check/certificate/certificate.h"
#include "check/prove/certificate.h"
#include "check/prove/prove.h"
#include "machine/tile/compile/program.h"
#include "mlir/reader.h"

#include "share.h"

enum { SLOTS = 4 /* two buffers of two */, MOST_VALUES = 24, PROGRAMS = 3, LOADED = 70 };

static uint64_t seed = 7;

static int64_t roll(int64_t from, int64_t to) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return from + (int64_t)((seed >> 33) % (uint64_t)(to - from + 1));
}

/* A kernel as text, and what each program makes of it at once. */
typedef struct Made {
    Text text;
    int64_t argument, values[PROGRAMS][MOST_VALUES], slots[PROGRAMS][SLOTS];
    unsigned count;
} Made;

#define TENSOR "tensor<128xf32, #blocked>"
#define MEMORY "!ttg.memdesc<128xf32, #shared, #smem, mutable>"
#define RING   "!ttg.memdesc<2x128xf32, #slots, #smem, mutable>"

static const char head[] =
    "#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>\n"
    "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"
    "#slots = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>\n"
    "#smem = #ttg.shared_memory\n"
    "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, ttg.target = \"cuda:90\", "
    "\"ttg.threads-per-warp\" = 32 : i32} {\n"
    "  tt.func public @kernel(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %n: i32) {\n"
    "    %x = tt.get_program_id x : i32\n    %c0 = arith.constant 0 : i32\n    %c1 = arith.constant 1 : i32\n"
    "    %c2 = arith.constant 2 : i32\n    %first = arith.cmpi eq, %x, %c0 : i32\n"
    "    %less = arith.cmpi slt, %n, %c2 : i32\n    %always = arith.cmpi slt, %c0, %c1 : i32\n"
    "    %lane = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked>\n"
    "    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #blocked>\n"
    "    %pe = tt.addptr %ps, %lane : tensor<128x!tt.ptr<f32>, #blocked>, tensor<128xi32, #blocked>\n"
    "    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #blocked>\n"
    "    %ra = ttg.local_alloc : () -> " RING "\n    %rb = ttg.local_alloc : () -> " RING "\n"
    "    %s0 = ttg.memdesc_index %ra[%c0] : " RING " -> " MEMORY "\n"
    "    %s1 = ttg.memdesc_index %ra[%c1] : " RING " -> " MEMORY "\n"
    "    %s2 = ttg.memdesc_index %rb[%c0] : " RING " -> " MEMORY "\n"
    "    %s3 = ttg.memdesc_index %rb[%c1] : " RING " -> " MEMORY "\n";

/* Something that is nowhere else. */
static int64_t garbage(void) {
    static int64_t next = 1000000;
    return next++;
}

/* Whether a condition holds in a program, and its name. */
static bool some_condition(const Made *made, unsigned which, unsigned program, const char **name) {
    static const char *const names[] = {"first", "less", "always"};
    *name = names[which];
    return which == 0 ? program == 0 : which == 1 ? made->argument < 2 : true;
}

static unsigned some_value(const Made *made) {
    return (unsigned)roll(0, made->count - 1);
}

static void give(Made *made, unsigned program, int64_t number) {
    made->values[program][made->count] = number;
}

static void add_store(Made *made, unsigned slot, unsigned value) {
    text_addf(&made->text, "    ttg.local_store %%v%u, %%s%u : " TENSOR " -> " MEMORY "\n", value, slot);
}

/* Stores in a branch, or in a loop of as many turns as a number says. */
static void add_region(Made *made) {
    unsigned slot = (unsigned)roll(0, SLOTS - 1), value = some_value(made), which = (unsigned)roll(0, 2);
    bool loop = roll(0, 2) == 0;
    static const char *const bounds[] = {"x", "n", "c2"};
    const char *name;
    for (unsigned program = 0; program < PROGRAMS; program++) {
        bool on = some_condition(made, which, program, &name);
        if (loop)
            on = which == 0 ? program > 0 : which == 1 ? made->argument > 0 : true;
        if (on)
            made->slots[program][slot] = made->values[program][value];
    }
    if (loop)
        text_addf(&made->text, "    scf.for %%k = %%c0 to %%%s step %%c1 : i32 {\n", bounds[which]);
    else
        text_addf(&made->text, "    scf.if %%%s {\n", name);
    add_store(made, slot, value);
    text_addf(&made->text, "    }\n");
}

/* A value of one of the kinds that there are; false: nothing was added. */
static void add_value(Made *made) {
    unsigned a = made->count ? some_value(made) : 0, b = made->count ? some_value(made) : 0, to = made->count;
    unsigned slot = (unsigned)roll(0, SLOTS - 1), which = (unsigned)roll(0, 2);
    int64_t number = roll(1, 9), kind = roll(0, made->count ? 7 : 2);
    bool other = roll(0, 2) != 0;
    const char *name = "";
    for (unsigned program = 0; program < PROGRAMS; program++) {
        bool on = some_condition(made, which, program, &name);
        const int64_t *values = made->values[program];
        const int64_t made_of[] = {
            number, made->argument,        (int64_t)program,           0,
            0,      values[a] + values[b], on ? values[a] : values[b], on ? LOADED : other ? values[a] : garbage()};
        give(made, program, kind == 3 || kind == 4 ? made->slots[program][slot] : made_of[kind]);
    }
    switch (kind) {
    case 0:
        text_addf(&made->text, "    %%v%u = arith.constant dense<%lld.0> : " TENSOR "\n", to, (long long)number);
        break;
    case 1:
    case 2:
        text_addf(&made->text,
                  "    %%f%u = arith.sitofp %%%s : i32 to f32\n    %%v%u = tt.splat %%f%u : f32 -> " TENSOR "\n", to,
                  kind == 1 ? "n" : "x", to, to);
        break;
    case 3:
    case 4:
        text_addf(&made->text, "    %%v%u = ttg.local_load %%s%u : " MEMORY " -> " TENSOR "\n", to, slot);
        break;
    case 5:
        text_addf(&made->text, "    %%v%u = arith.addf %%v%u, %%v%u : " TENSOR "\n", to, a, b);
        break;
    case 6:
        text_addf(&made->text, "    %%v%u = arith.select %%%s, %%v%u, %%v%u : " TENSOR "\n", to, name, a, b);
        break;
    default:
        text_addf(&made->text,
                  "    %%m%u = tt.splat %%%s : i1 -> tensor<128xi1, #blocked>\n"
                  "    %%v%u = tt.load %%qs, %%m%u",
                  to, name, to, to);
        text_addf(&made->text, other ? ", %%v%u" : "", a);
        text_addf(&made->text, " : tensor<128x!tt.ptr<f32>, #blocked>\n");
    }
    made->count++;
}

/* The same kernel for each seed; true: all programs store the same. */
static bool make(Made *made, uint64_t from, int64_t argument) {
    seed = from;
    made->text.size = 0;
    made->count = 0;
    made->argument = argument;
    for (unsigned program = 0; program < PROGRAMS; program++)
        for (unsigned slot = 0; slot < SLOTS; slot++)
            made->slots[program][slot] = garbage();
    text_addf(&made->text, "%s", head);
    add_value(made);
    for (int64_t left = roll(3, 14); left; left--) {
        unsigned slot = (unsigned)roll(0, SLOTS - 1), value = some_value(made);
        int64_t what = roll(0, 5);
        if (what < 2) {
            for (unsigned program = 0; program < PROGRAMS; program++)
                made->slots[program][slot] = made->values[program][value];
            add_store(made, slot, value);
        } else if (what == 2) {
            add_region(made);
        } else {
            add_value(made);
        }
    }
    unsigned stored = made->count - 1;
    text_addf(&made->text, "    tt.store %%pe, %%v%u : tensor<128x!tt.ptr<f32>, #blocked>\n    tt.return\n  }\n}\n",
              stored);
    bool same = true;
    for (unsigned program = 1; program < PROGRAMS; program++)
        same &= made->values[program][stored] == made->values[0][stored];
    return same;
}

/* The certificate of a proof for one grid, made to say that every program stores the same. */
static void say_alike(Str certificate, Text *to) {
    bool said = false;
    for (const char *at = certificate.data, *end = at + certificate.size; at < end;) {
        const char *newline = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
        Str line = str_between(at, newline);
        at = newline;
        if (memmem(line.data, line.size, " programs ", 10) || str_starts(line, STR("where equal")))
            continue;
        if (str_starts(line, STR("launch 1 1 1"))) {
            text_addf(to, "launch 6 5 3");
            line.data += 12;
            line.size -= 12;
        }
        if (str_starts(line, STR("axis"))) {
            text_addf(to, "%s", said ? "" : "alike\n");
            said = true;
            continue;
        }
        text_str(to, line);
    }
}

/* The checker agrees with the proof on whether every program stores the same, and says why not. */
static void judge(Module *module, const Op *kernel, const Proof *proof, const Made *made, Arena *arena) {
    bool every = proof->where_count == 0;
    Text certificate = {0}, claim = {0};
    text_addf(&certificate, "%s\n", certificate_first_line);
    proof_certificate(module, kernel, proof, &certificate);
    say_alike((Str){certificate.data, certificate.size}, &claim);
    CertificateVerdict verdict = certificate_check(module, kernel, (Str){claim.data, claim.size}, true, arena);
    if (every != (verdict.answer == CERTIFICATE_HOLDS))
        fail_msg("%s: line %u: %s\n%.*s%.*s", every ? "refused" : "accepted", verdict.line,
                 verdict.why ? verdict.why : "", (int)made->text.size, made->text.data, (int)claim.size, claim.data);
    if (!every && !strstr(verdict.why, "program") && !strstr(verdict.why, "know") && !strstr(verdict.why, "written"))
        fail_msg("line %u: %s\n%.*s", verdict.line, verdict.why, (int)claim.size, claim.data);
    text_free(&certificate);
    text_free(&claim);
}

static void what_differs_is_never_said_to_be_the_same(void **state) {
    unsigned proved = 0, refused = 0, differ = 0, open = 0;
    Made made = {0};
    (void)state;
    for (unsigned i = 0; i < share_of(2500); i++) {
        bool same = true;
        jmp_buf out;
        for (int64_t argument = 0; argument < 4; argument++)
            same &= make(&made, 1000 + i, argument);
        Source *source = source_copy("kernel.ttgir", made.text.data, made.text.size);
        Unit unit = {.end = source->size};
        Module module;
        Diagnostics diagnostics = {0};
        Arena arena;
        const Op *kernel;
        if (!read_unit(&module, source, &unit, (ReadOptions){0}, &diagnostics))
            fail_msg("%.*s", (int)made.text.size, made.text.data);
        module.arena.budget = module.arena.held + ((size_t)1 << 28);
        module.arena.exhausted = &out;
        arena_init(&arena, (size_t)1 << 28);
        arena.exhausted = &out;
        if (setjmp(out))
            fail_msg("out of memory");
        assert_int_equal(program_kernels(&module, &kernel, 1), 1);
        Proof *proof = prove_kernel(&module, kernel, 10);
        open += !proof->proved;
        bool every = proof->proved && proof->where_count == 0;
        if (every && !same)
            fail_msg("programs differ:\n%.*s", (int)made.text.size, made.text.data);
        if (proof->proved)
            judge(&module, kernel, proof, &made, &arena);
        proved += every;
        refused += proof->proved && !every && same;
        differ += !same;
        arena_free(&arena);
        module_free(&module);
        diagnostics_free(&diagnostics);
        source_free(source);
    }
    text_free(&made.text);
    print_message("%u kernels proved, %u not though programs store the same, %u whose programs differ, %u open\n",
                  proved, refused, differ, open);
    assert_true(proved >= share_of(250) && differ >= share_of(800) && open < share_of(300));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_differs_is_never_said_to_be_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
