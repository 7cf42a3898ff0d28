/* check/intervals: kernels that are clean at every launch, and others that nearly are; random kernels, of which
 * launches that are covered are made on the machine; and systems of linear conditions beside all whole numbers of a
 * box. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check/intervals/linear.h"
#include "ptx_covered.h"
#include "share.h"

/* ---- Kernels by hand ------------------------------------------------------------------------------- */

/* %r1 tid.x, %r2 ntid.x, %r3 ctaid.x, %r4 n, %r5 ctaid.x * ntid.x + tid.x; %rd1 a parameter, %rd2 where its word %r5
 * is, %r6 where word %r1 of s is. */
#define HEAD                                                                                             \
    ".version 9.0\n.target sm_90\n.address_size 64\n"                                                    \
    ".visible .entry k(.param .u64 p, .param .u32 n) {\n"                                                \
    ".reg .pred %p<10>;\n.reg .b32 %r<60>;\n.reg .b64 %rd<20>;\n.shared .align 4 .b8 s[4096];\n"         \
    "ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd1, %rd1; ld.param.u32 %r4, [n];\n"                    \
    "mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %ctaid.x; mad.lo.u32 %r5, %r3, %r2, %r1;\n" \
    "mul.wide.u32 %rd2, %r5, 4; add.s64 %rd2, %rd1, %rd2;\n"                                             \
    "shl.b32 %r6, %r1, 2; mov.u32 %r7, s; add.u32 %r6, %r7, %r6;\n"

static void describe(const Proof *proof, char *room, size_t size) {
    size_t used = (size_t)snprintf(room, size, "%s", proof->proved ? "" : "open: ");
    for (uint32_t i = 0; proof->proved && i < proof->where_count && used < size; i++)
        used += (size_t)snprintf(room + used, size - used, "%s%s", i ? "; " : "", proof->where[i].text);
    if (!proof->proved)
        snprintf(room + used, size - used, "%s", proof->open[0].reason);
}

static void test_kernels(void **state) {
    static const struct {
        const char *body, *said;
    } kernels[] = {
        /* each thread has its word */
        {"st.global.u32 [%rd2], %r1; ret;", "block.z == 1; block.y == 1; grid.z == 1; grid.y == 1"},
        {"st.shared.u32 [%r6], %r1; ret;", "block.z == 1; block.y == 1"},
        /* all have one */
        {"st.global.u32 [%rd1], %r1; ret;", "open: two threads may access the same bytes between two barriers"},
        {"st.global.u32 [%rd1], 1; ret;", "open: two threads may access the same bytes between two barriers"},
        {"setp.ne.u32 %p1, %r1, 0; @%p1 bra L; st.shared.u32 [s], 1; L: ret;", "block.z == 1; block.y == 1"},
        {"setp.ne.u32 %p1, %r1, 0; @%p1 bra L; st.global.u32 [%rd1], 1; L: ret;",
         "block.z == 1; block.y == 1; grid.z == 1; grid.y == 1; grid.x == 1"},
        /* one thread too many */
        {"setp.gt.u32 %p1, %r1, 1; @%p1 bra L; st.shared.u32 [s], 1; L: ret;",
         "open: two threads may access the same bytes between two barriers"},
        /* atomics meet, but not with others */
        {"red.global.add.u32 [%rd1], 1; ret;", ""},
        {"red.global.add.u32 [%rd1], 1; ld.global.u32 %r8, [%rd1]; ret;",
         "open: two threads may access the same bytes between two barriers"},
        {"red.global.cta.add.u32 [%rd1], 1; ret;", "open: two threads may access the same bytes between two barriers"},
        {"red.shared.add.u32 [s], 1; bar.sync 0; ld.shared.u32 %r8, [s]; st.global.u32 [%rd2], %r8; ret;",
         "block.z == 1; block.y == 1; grid.z == 1; grid.y == 1"},
        {"red.shared.add.u32 [s], 1; ld.shared.u32 %r8, [s]; ret;",
         "open: two threads may access the same bytes between two barriers"},
        /* the neighbor's word, with and without a barrier between */
        {"st.shared.u32 [%r6], %r1; bar.sync 0; ld.shared.u32 %r8, [%r6+4]; ret;",
         "block.x <= 1023; block.z == 1; block.y == 1"},
        {"st.shared.u32 [%r6], %r1; ld.shared.u32 %r8, [%r6+4]; ret;",
         "open: two threads may access the same bytes between two barriers"},
        {"st.volatile.shared.u32 [%r6], %r1; ld.volatile.shared.u32 %r8, [%r6+4]; ret;",
         "open: two threads may access the same bytes between two barriers"},
        {"st.shared.u32 [%r6], %r1; bar.warp.sync -1; ld.shared.u32 %r8, [%r6+4]; ret;",
         "open: two threads may access the same bytes between two barriers"},
        /* words of two, of which the second overlaps the next thread's first */
        {"shr.u32 %r8, %r1, 1; shl.b32 %r8, %r8, 3; add.u32 %r8, %r8, %r7; st.shared.v2.u32 [%r8], {%r1, %r1}; ret;",
         "open: two threads may access the same bytes between two barriers"},
        /* a barrier that some threads do not come to */
        {"setp.gt.u32 %p1, %r1, 31; @%p1 bra L; bar.sync 0; L: ret;", "open: barrier"},
        {"setp.gt.u32 %p1, %r5, %r4; @%p1 ret; bar.sync 0; ret;", "open: barrier"},
        {"setp.gt.u32 %p1, %r1, 31; @%p1 bar.sync 0; ret;", "open: instruction"},
        {"bar.sync 0, 64; ret;", "open: instruction"},
        {"bar.sync 1; ret;", "open: instruction"},
        /* one that all of them come to, or none */
        {"setp.gt.s32 %p1, %r4, 31; @%p1 bra L; bar.sync 0; L: ret;", ""},
        {"setp.gt.u32 %p1, %r3, 31; @%p1 bra L; bar.sync 0; L: ret;", ""},
        /* that depends on data, which threads may read differently */
        {"ld.global.u32 %r8, [%rd1]; setp.gt.u32 %p1, %r8, 31; @%p1 bra L; bar.sync 0; L: ret;", "open: barrier"},
        /* an address from data */
        {"ld.global.u32 %r8, [%rd2]; mul.wide.u32 %rd3, %r8, 4; add.s64 %rd3, %rd1, %rd3; st.global.u32 [%rd3], 1; "
         "ret;",
         "open: the address depends on data"},
        /* the ring of two words for each thread, a barrier in each turn, or in none */
        {"mov.u32 %r10, 0; L: bar.sync 0; ld.shared.u32 %r8, [%r6+4]; bar.sync 0; st.shared.u32 [%r6], %r8;"
         "add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, %r4; @%p1 bra L; ret;",
         "block.x <= 1023; block.z == 1; block.y == 1"},
        /* the barrier at the loop's end is missing: the store of a turn meets the load of the next */
        {"mov.u32 %r10, 0; L: ld.shared.u32 %r8, [%r6+4]; bar.sync 0; st.shared.u32 [%r6], %r8;"
         "add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, %r4; @%p1 bra L; ret;",
         "open: two threads may access the same bytes between two barriers"},
        /* the sum by halves; threads up to the half, and one more */
        {"shr.u32 %r10, %r2, 1; L: setp.ge.u32 %p1, %r1, %r10; @%p1 bra M; shl.b32 %r11, %r10, 2; add.u32 %r12, %r6, "
         "%r11;"
         "ld.shared.u32 %r8, [%r12]; st.shared.u32 [%r6], %r8; M: bar.sync 0; shr.u32 %r10, %r10, 1; setp.ne.u32 %p2, "
         "%r10, 0;"
         "@%p2 bra L; ret;",
         "block.z == 1; block.y == 1"},
        {"setp.gt.u32 %p3, %r2, 512; @%p3 ret; shr.u32 %r10, %r2, 1; L: setp.gt.u32 %p1, %r1, %r10; @%p1 bra M;"
         "shl.b32 %r11, %r10, 2; add.u32 %r12, %r6, %r11; ld.shared.u32 %r8, [%r12]; st.shared.u32 [%r6], %r8; M: "
         "bar.sync 0; shr.u32 %r10, %r10, 1; setp.ne.u32 %p2, %r10, 0;"
         "@%p2 bra L; ret;",
         "open: two threads may access the same bytes between two barriers"},
        {"shr.u32 %r10, %r2, 1; L: setp.ge.u32 %p1, %r1, %r10; @%p1 bra M; shl.b32 %r11, %r10, 2; add.u32 %r12, %r6, "
         "%r11;"
         "ld.shared.u32 %r8, [%r12]; st.shared.u32 [%r6], %r8; M: shr.u32 %r10, %r10, 1; setp.ne.u32 %p2, %r10, 0;"
         "@%p2 bra L; ret;",
         "open: two threads may access the same bytes between two barriers"},
        /* a barrier in some turns alone */
        {"mov.u32 %r10, 0; L: setp.eq.u32 %p2, %r10, 3; @%p2 bra M; bar.sync 0; M: add.u32 %r10, %r10, 1;"
         "setp.lt.u32 %p1, %r10, %r4; @%p1 bra L; ret;",
         "open: loop"},
        /* a loop that waits for another thread, and one that counts beside it */
        {"L: ld.volatile.global.u32 %r8, [%rd1]; setp.eq.u32 %p1, %r8, 0; @%p1 bra L; st.global.u32 [%rd2+4096], %r8; "
         "ret;",
         "open: loop"},
        /* a tile of 8 words a row: rows of more threads run into each other */
        {"mov.u32 %r20, %tid.y; mad.lo.u32 %r21, %r20, 32, %r7; shl.b32 %r22, %r1, 2; add.u32 %r21, %r21, %r22;"
         "st.shared.u32 [%r21], 1; ret;",
         "block.x <= 8; block.y <= 64; block.z == 1"},
        /* shuffles of all lanes, of some, and where some lanes are not */
        {"shfl.sync.down.b32 %r8, %r1, 1, 31, -1; ret;", ""},
        {"shfl.sync.down.b32 %r8, %r1, 1, 31, 255; ret;", "open: warp"},
        {"setp.gt.u32 %p1, %r1, 31; @%p1 bra L; shfl.sync.down.b32 %r8, %r1, 1, 31, -1; L: ret;", "block.x % 32 == 0"},
        {"setp.gt.u32 %p1, %r1, 15; @%p1 bra L; shfl.sync.down.b32 %r8, %r1, 1, 31, -1; L: ret;", "open: warp"},
        /* copies that are under way */
        {"cp.async.ca.shared.global [%r6], [%rd2], 4; ret;", "open: instruction"},
        /* out of the variable */
        {"st.shared.u32 [%r6+4096], 1; ret;", "open: bounds"},
        /* a number of 32 bits that wraps around: 2^30 tid.x is one of four */
        {"shl.b32 %r8, %r1, 30; shr.u32 %r8, %r8, 28; add.u32 %r8, %r8, %r7; st.shared.u32 [%r8], 1; ret;",
         "open: bounds"},
        {"not.b32 %r8, %r1; and.b32 %r8, %r8, 1; shl.b32 %r8, %r8, 2; add.u32 %r8, %r8, %r7; st.shared.u32 [%r8], 1; "
         "ret;",
         "open: bounds"},
        {"st.shared.u32 [%r1], 1; ret;", "open: bounds"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        char said[400];
        Text text = {0};
        CoveredKernel kernel;
        text_addf(&text, "%s%s\n}\n", HEAD, kernels[i].body);
        if (!covered_open(&kernel, text.data, text.size))
            fail_msg("%s: %s", kernels[i].body, kernel.diagnostics.count ? kernel.diagnostics.items[0].message : "?");
        describe(kernel.proof, said, sizeof said);
        if (strcmp(said, kernels[i].said) != 0)
            fail_msg("%s\nsays \"%s\", and not \"%s\"", kernels[i].body, said, kernels[i].said);
        covered_close(&kernel);
        text_free(&text);
    }
}

/* ---- Random kernels -------------------------------------------------------------------------------- */

/* %r30: an index that is made of the thread's place and others. */
static void put_index(Text *to) {
    static const char *const firsts[] = {
        "mov.u32 %r30, %r1;",       "mov.u32 %r30, %r1;",      "mov.u32 %r30, %r5;",
        "mov.u32 %r30, %r3;",       "sub.u32 %r30, %r2, %r1;", "mov.u32 %r30, %r40;",
        "add.u32 %r30, %r1, %r40;", "mov.u32 %r30, %tid.y;",   "mad.lo.u32 %r30, %r40, %r2, %r1;"};
    text_addf(to, "%s ", firsts[covered_roll(8)]);
    for (unsigned i = covered_roll(2); i > 0; i--) {
        static const char *const ops[] = {"add.u32", "mul.lo.u32", "shl.b32", "shr.u32", "and.b32", "rem.u32",
                                          "div.u32", "xor.b32",    "min.u32", "sub.u32", "or.b32"};
        static const unsigned most[] = {40, 5, 3, 4, 63, 33, 9, 8, 60, 3, 1};
        unsigned which = covered_roll(10), by = covered_roll(most[which]);
        text_addf(to, "%s %%r30, %%r30, %u; ", ops[which], which == 5 || which == 6 ? by + 1 : by);
    }
}

static void put_access(Text *to) {
    static const char *const accesses[] = {"st.shared.u32 [%r31], %r1;", "ld.shared.u32 %r33, [%r31];",
                                           "red.shared.add.u32 [%r31], 1;"};
    static const char *const globals[] = {"st.global.u32 [%rd5], %r1;", "ld.global.u32 %r33, [%rd5];",
                                          "red.global.add.u32 [%rd5], 1;"};
    put_index(to);
    if (covered_roll(2))
        text_addf(to, "shl.b32 %%r31, %%r30, 2; add.u32 %%r31, %%r31, %%r7; %s\n", accesses[covered_roll(5) / 2 % 3]);
    else
        text_addf(to, "mul.wide.u32 %%rd5, %%r30, 4; add.s64 %%rd5, %%rd5, %%rd1; %s\n",
                  globals[covered_roll(5) / 2 % 3]);
}

static void put_statements(Text *to, unsigned depth, unsigned *labels);

static void put_guarded(Text *to, unsigned depth, unsigned *labels) {
    static const char *const compares[] = {"lt.u32", "ge.u32", "ne.u32", "eq.u32", "gt.s32", "le.s32"};
    static const char *const lefts[] = {"%r1", "%r1", "%r5", "%r3", "%r4", "%r40"};
    unsigned label = (*labels)++;
    static const char *const rights[] = {"%r4", "%r2", "0", "1", "16", "32", "%r41"};
    text_addf(to, "setp.%s %%p3, %s, %s; @%%p3 bra L%u;\n", compares[covered_roll(5)], lefts[covered_roll(5)],
              rights[covered_roll(6)], label);
    put_statements(to, depth + 1, labels);
    text_addf(to, "L%u:\n", label);
}

/* A loop whose number is %r40 (counts), or %r41 (halves). */
static void put_loop(Text *to, unsigned depth, unsigned *labels) {
    unsigned label = (*labels)++;
    bool halves = !covered_roll(2);
    if (halves)
        text_addf(to, "shr.u32 %%r41, %%r2, 1;\nL%u:\n", label);
    else
        text_addf(to, "mov.u32 %%r40, %s;\nL%u:\n", covered_roll(2) ? "0" : "%r1", label);
    put_statements(to, depth + 1, labels);
    if (covered_roll(3))
        text_addf(to, "bar.sync 0;\n");
    if (halves)
        text_addf(to, "shr.u32 %%r41, %%r41, 1; setp.ne.u32 %%p4, %%r41, 0; @%%p4 bra L%u;\n", label);
    else
        text_addf(to, "add.u32 %%r40, %%r40, %s; setp.lt.u32 %%p4, %%r40, %s; @%%p4 bra L%u;\n",
                  covered_roll(2) ? "1" : "%r2", covered_roll(1) ? "8" : "%r4", label);
}

static void put_statements(Text *to, unsigned depth, unsigned *labels) {
    for (unsigned i = 1 + covered_roll(2); i > 0; i--) {
        unsigned kind = covered_roll(9);
        if (kind < 4 || depth > 2)
            put_access(to);
        else if (kind < 6)
            text_addf(to, "bar.sync 0;\n");
        else if (kind < 8)
            put_guarded(to, depth, labels);
        else
            put_loop(to, depth, labels);
    }
}

static void test_random_kernels(void **state) {
    (void)state;
    unsigned proved = 0, made = 0, rounds = share_of(600);
    for (unsigned i = 0; i < rounds; i++) {
        Text text = {0};
        CoveredKernel kernel;
        unsigned labels = 0;
        covered_seed = i * 7919 + 1;
        text_addf(&text, "%smov.u32 %%r40, 0; mov.u32 %%r41, 4;\n", HEAD);
        put_statements(&text, 0, &labels);
        text_addf(&text, "ret;\n}\n");
        if (!covered_open(&kernel, text.data, text.size))
            fail_msg("%.*s", (int)text.size, text.data);
        proved += kernel.proof->proved;
        for (unsigned n = 0; n < 4 && kernel.proof->proved; n++) {
            LaunchNumbers launch;
            LaunchNumber arguments[4];
            bool complete;
            Arena arena;
            Text json = {0};
            if (!covered_launch(&kernel, &launch, arguments))
                break;
            arena_init(&arena, SIZE_MAX);
            covered_print(&kernel, &launch, &json);
            const char *broken = covered_broken(&kernel, &json, &arena, &complete);
            if (broken)
                fail_msg("%.*s\n%.*s: %s", (int)text.size, text.data, (int)json.size, json.data, broken);
            made++;
            text_free(&json);
            arena_free(&arena);
        }
        covered_close(&kernel);
        text_free(&text);
    }
    assert_in_range(proved, rounds / 20, rounds);
    assert_in_range(made, rounds / 10, 4 * rounds);
}

/* ---- Linear conditions ----------------------------------------------------------------------------- */

static bool fulfills(const LinearRow *rows, unsigned count, const int64_t *values) {
    for (unsigned i = 0; i < count; i++) {
        int64_t sum = rows[i].constant;
        for (uint32_t k = 0; k < rows[i].count; k++)
            sum += rows[i].terms[k].factor * values[rows[i].terms[k].variable];
        if (rows[i].equal ? sum != 0 : sum > 0)
            return false;
    }
    return true;
}

/* Whether whole numbers from -5 to 5 fulfill all rows. */
static bool has_point(const LinearRow *rows, unsigned count) {
    enum { MOST = 5 };
    int64_t values[3];
    for (values[0] = -MOST; values[0] <= MOST; values[0]++)
        for (values[1] = -MOST; values[1] <= MOST; values[1]++)
            for (values[2] = -MOST; values[2] <= MOST; values[2]++)
                if (fulfills(rows, count, values))
                    return true;
    return false;
}

static void test_linear(void **state) {
    (void)state;
    unsigned refuted = 0, missed = 0, rounds = share_of(5000);
    for (unsigned i = 0; i < rounds; i++) {
        Arena arena, scratch;
        LinearSystem system = {0};
        LinearTerm terms[13][3];
        LinearRow rows[13];
        unsigned count = 2 + covered_roll(5);
        arena_init(&arena, (size_t)1 << 26);
        arena_init(&scratch, (size_t)1 << 26);
        for (unsigned n = 0; n < count + 6; n++) {
            bool box = n >= count; /* so that there is a point outside of the box only if there is one inside */
            for (unsigned k = 0; k < 3; k++)
                terms[n][k] = (LinearTerm){k, box ? (k == (n - count) / 2 ? ((n - count) % 2 ? -1 : 1) : 0)
                                                  : (int64_t)covered_roll(8) - 4};
            rows[n] = (LinearRow){terms[n], 3, box ? -5 : (int64_t)covered_roll(12) - 6, !box && !covered_roll(4)};
            linear_add(&system, &arena, terms[n], 3, rows[n].constant, rows[n].equal);
        }
        bool none = linear_refuted(&system, &scratch), point = has_point(rows, count + 6);
        if (none && point)
            fail_msg("a system that has a solution is refuted (%u)", i);
        refuted += none;
        missed += !none && !point;
        arena_free(&arena);
        arena_free(&scratch);
    }
    assert_in_range(refuted, rounds / 20, rounds);
    assert_in_range(missed, 0, rounds / 5); /* whole numbers are not looked for */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_random_kernels),
        cmocka_unit_test(test_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
