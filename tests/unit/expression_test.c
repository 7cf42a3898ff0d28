/* model/expression: slots and phases as a person would write them.
 *
 * Each case is the body of a kernel whose "my.use" uses the value; "loop@1" is the first loop of the text. */
#include "running.h"

#include "model/number/expression.h"

typedef struct Case {
    const char *parameters, *body, *expected;
} Case;

static bool is_loop(const Op *op) {
    return str_is(op->name, "scf.for") || str_is(op->name, "scf.while");
}

/* The line that "loop@" is followed by, as the number of the loop. */
static unsigned loop_number(Reading *reading, unsigned long line) {
    unsigned number = 0;
    for (const Op *op = first_op(reading), *root = op; op; op = op_next_in_walk(op, root)) {
        number += is_loop(op);
        if (is_loop(op) && source_place(reading->source, op->offset).line == line)
            return number;
    }
    return 0;
}

static void number_loops(Reading *reading, const Text *found, Text *to) {
    for (size_t i = 0; i < found->size; i++) {
        text_char(to, found->data[i]);
        if (found->data[i] != '@')
            continue;
        char *end;
        text_addf(to, "%u", loop_number(reading, strtoul(found->data + i + 1, &end, 10)));
        i = (size_t)(end - found->data) - 1;
    }
    text_char(to, 0);
}

static bool delays(const char *parameters, const char *body, const char *expected) {
    Text kernel = {0}, found = {0}, numbered = {0};
    text_addf(&kernel, "module {\n  tt.func @kernel(%s) {\n%s%s    tt.return\n  }\n}\n", parameters, CONSTANTS, body);
    text_char(&kernel, 0);
    Reading *reading = read_text(kernel.data);
    for (size_t i = 0; i < reading->diagnostics.count; i++)
        if (reading->diagnostics.items[i].severity == SEVERITY_ERROR)
            print_error("%u: %s\n", reading->diagnostics.items[i].place.line, reading->diagnostics.items[i].message);
    assert_true(reading->ok);
    const Op *use = find_op(reading, "my.use", 0);
    assert_non_null(use);
    expression_print(&reading->module, use->operands[0], &found);
    text_char(&found, 0);
    found.size--;
    number_loops(reading, &found, &numbered);
    bool same = strcmp(numbered.data, expected) == 0;
    if (!same)
        print_error("%s\nfound    %s\nexpected %s\n", body, numbered.data, expected);
    text_free(&kernel);
    text_free(&found);
    text_free(&numbered);
    done(reading);
    return same;
}

#define assert_expressions(cases) assert_cases(cases, sizeof(cases) / sizeof *(cases))
static void assert_cases(const Case *cases, size_t count) {
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += !delays(cases[i].parameters, cases[i].body, cases[i].expected);
    assert_int_equal(wrong, 0);
}

#define USE(value, type) "      \"my.use\"(%" #value ") : (" #type ") -> ()\n"
#define WIDE                                                               \
    "    %w0 = arith.constant 0 : i64\n    %w1 = arith.constant 1 : i64\n" \
    "    %w2 = arith.constant 2 : i64\n    %w3 = arith.constant 3 : i64\n"
#define COUNTED(start, step, body)                                                                         \
    WIDE "    %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%cnt = %" #start ") -> (i64) : i32 {\n" body \
         "      %next = arith.addi %cnt, %" #step " : i64\n      scf.yield %next : i64\n    }\n"
#define QUOTIENT "      %q = arith.divui %cnt, %w3 : i64\n"
#define INDEX                                                                              \
    QUOTIENT "      %m = arith.muli %q, %w3 : i64\n      %s = arith.subi %cnt, %m : i64\n" \
             "      %idx = arith.trunci %s : i64 to i32\n"
#define PHASE QUOTIENT "      %b = arith.andi %q, %w1 : i64\n      %ph = arith.trunci %b : i64 to i1\n"

static void simple_sums_keep_few_parentheses(void **state) {
    (void)state;
    static const Case cases[] = {
        {"%n: i32", USE(c2, i32), "2"},
        {"%n: i32", USE(true, i1), "1"},
        {"%n: i32", USE(n, i32), "%n"},
        {"%n: i32", "    %a = arith.addi %n, %c1 : i32\n    %b = arith.addi %a, %c2 : i32\n" USE(b, i32), "%n + 3"},
        {"%n: i32", "    %a = arith.addi %n, %c1 : i32\n    %b = arith.subi %a, %c2 : i32\n" USE(b, i32), "%n - 1"},
        {"%n: i32", "    %a = arith.addi %n, %c1 : i32\n    %b = arith.subi %a, %c1 : i32\n" USE(b, i32), "%n"},
        {"%n: i32, %k: i32", "    %a = arith.addi %n, %k : i32\n    %b = arith.muli %a, %c2 : i32\n" USE(b, i32),
         "(%n + %k) * 2"},
        {"%n: i32, %k: i32", "    %a = arith.muli %n, %k : i32\n    %b = arith.addi %k, %a : i32\n" USE(b, i32),
         "%k + %n * %k"},
        {"%n: i32, %k: i32", "    %a = arith.subi %n, %k : i32\n    %b = arith.subi %k, %a : i32\n" USE(b, i32),
         "%k - (%n - %k)"},
        {"%n: i32", "    %a = arith.divsi %n, %c2 : i32\n    %b = arith.remsi %a, %c2 : i32\n" USE(b, i32),
         "(%n / 2) % 2"},
        {"%n: i32", "    %a = arith.divsi %n, %c1 : i32\n" USE(a, i32), "%n"},
        {"%n: i32", "    %a = arith.andi %n, %c1 : i32\n    %b = arith.xori %a, %c1 : i32\n" USE(b, i32),
         "NOT (%n & 1)"},
        {"%n: i32", "    %a = arith.xori %n, %c1 : i32\n    %b = arith.xori %a, %c1 : i32\n" USE(b, i32), "%n"},
        {"%n: i32, %k: i32", "    %a = arith.minsi %n, %k : i32\n" USE(a, i32), "min(%n, %k)"},
        {"%n: i32, %k: i32", "    %a = arith.cmpi slt, %n, %k : i32\n" USE(a, i1), "%n < %k"},
        {"%n: i32", "    %a = arith.shrui %n, %c2 : i32\n    %b = arith.andi %a, %c1 : i32\n" USE(b, i32),
         "(%n >> 2) & 1"},
        {"", "    %p = tt.get_program_id y : i32\n" USE(p, i32), "program_id(y)"},
        {"", "    %p = tt.get_num_programs x : i32\n" USE(p, i32), "num_programs(x)"},
        {"", "    %x:2 = \"my.op\"() : () -> (i32, i32)\n    \"my.use\"(%x#1) : (i32) -> ()\n", "%x#1"},
    };
    assert_expressions(cases);
}

static void casts_are_not_seen(void **state) {
    (void)state;
    static const Case cases[] = {
        {"%n: i64", "    %a = arith.trunci %n : i64 to i32\n" USE(a, i32), "%n"},
        {"%n: i32", "    %a = arith.extsi %n : i32 to i64\n    %b = arith.index_cast %a : i64 to index\n" USE(b, index),
         "%n"},
        /* one bit of many is not the whole number */
        {"%n: i32", "    %a = arith.trunci %n : i32 to i1\n    %b = arith.extui %a : i1 to i32\n" USE(b, i32),
         "%n & 1"},
        {"%n: i1", "    %b = arith.extsi %n : i1 to i32\n" USE(b, i32), "%b"},
    };
    assert_expressions(cases);
}

static void counters_of_loops_make_slots_and_phases(void **state) {
    (void)state;
    static const Case cases[] = {
        {"", COUNTED(w0, w1, USE(cnt, i64)), "accumCnt(loop@1)"},
        {"", COUNTED(w0, w1, INDEX USE(idx, i32)), "accumCnt(loop@1) % 3"},
        {"", COUNTED(w0, w1, PHASE USE(ph, i1)), "(accumCnt(loop@1) / 3) & 1"},
        {"",
         COUNTED(w0, w1,
                 PHASE "      %x = arith.xori %ph, %true : i1\n      %e = arith.extui %x : i1 to i32\n" USE(e, i32)),
         "NOT ((accumCnt(loop@1) / 3) & 1)"},
        {"", COUNTED(w0, w1, "      %x = arith.remui %cnt, %w3 : i64\n" USE(x, i64)), "accumCnt(loop@1) % 3"},
        {"",
         COUNTED(w0, w1, "      %b = arith.andi %cnt, %w1 : i64\n      %x = arith.trunci %b : i64 to i1\n" USE(x, i1)),
         "accumCnt(loop@1) & 1"},
        /* staggered: one ring for two tensors, two slots an iteration */
        {"",
         COUNTED(w0, w2, "      %a = arith.addi %cnt, %w1 : i64\n      %x = arith.remui %a, %w3 : i64\n" USE(x, i64)),
         "(2*n(loop@1) + 1) % 3"},
        {"", COUNTED(w2, w1, USE(cnt, i64)), "accumCnt(loop@1) + 2"},
        {"", COUNTED(w1, w2, "      %a = arith.addi %cnt, %w1 : i64\n" USE(a, i64)), "2*n(loop@1) + 2"},
        /* after the loop */
        {"", COUNTED(w0, w1, "") "    %l = arith.subi %r, %w1 : i64\n    %x = arith.remui %l, %w3 : i64\n" USE(x, i64),
         "(accumCnt(loop@1) - 1) % 3"},
        {"", COUNTED(w0, w1, "      %x = arith.remui %i, %c2 : i32\n" USE(x, i32)), "iv(loop@1) % 2"},
        /* not a counter */
        {"%n: i64", COUNTED(n, w1, USE(cnt, i64)), "%cnt"},
    };
    static const Case inner = {
        "",
        WIDE "    %r = scf.for %t = %c0 to %c2 step %c1 iter_args(%a = %w0) -> (i64) : i32 {\n"
             "      %s = scf.for %i = %c0 to %c2 step %c1 iter_args(%cnt = %a) -> (i64) : i32 {\n" INDEX USE(
                 idx, i32) "        %next = arith.addi %cnt, %w1 : i64\n        scf.yield %next : i64\n      }\n"
                           "      scf.yield %s : i64\n    }\n",
        "accumCnt(loop@2) % 3"};
    assert_expressions(cases);
    assert_true(delays(inner.parameters, inner.body, inner.expected));
}

static void a_count_goes_through_loops_around_it(void **state) {
    (void)state;
#define NEST(first, in, out)                                                                               \
    WIDE "    %r = scf.for %t = %c0 to %c2 step %c1 iter_args(%a = %w0) -> (i64) : i32 {\n"                \
         "      %s = scf.for %i = %c0 to %c2 step %c1 iter_args(%cnt = %" #first ") -> (i64) : i32 {\n" in \
         "        %next = arith.addi %cnt, %w1 : i64\n        scf.yield %next : i64\n      }\n" out        \
         "      scf.yield %s : i64\n    }\n"
    static const Case cases[] = {
        {"", NEST(a, "", USE(a, i64)), "accumCnt(loop@2)"},
        {"", NEST(a, "", USE(s, i64)), "accumCnt(loop@2)"},
        {"", NEST(w0, USE(cnt, i64), ""), "accumCnt(loop@2)"},
        {"", NEST(a, "", "") USE(r, i64), "accumCnt(loop@2)"},
        /* it starts with what the outer loop counts by other means */
        {"",
         WIDE "    %r = scf.for %t = %c0 to %c2 step %c1 iter_args(%a = %w0) -> (i64) : i32 {\n"
              "      %s = scf.for %i = %c0 to %c2 step %c1 iter_args(%cnt = %a) -> (i64) : i32 {\n" USE(
                  cnt, i64) "        %next = arith.addi %cnt, %w1 : i64\n        scf.yield %next : i64\n      }\n"
                            "      %u = arith.addi %a, %w3 : i64\n      scf.yield %u : i64\n    }\n",
         "%cnt"},
    };
    assert_expressions(cases);
}

/* Slot and phase as arefs have them: both advance before they are used. */
#define AREF(slot, phase, body)                                                                                        \
    "    %m1 = arith.constant -1 : i32\n"                                                                              \
    "    %r:2 = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %" #slot ", %p = %" #phase ") -> (i32, i32) : i32 {\n" \
    "      %n = arith.addi %s, %c1 : i32\n"                                                                            \
    "      %w = arith.cmpi eq, %n, %c2 : i32\n"                                                                        \
    "      %ns = arith.select %w, %c0, %n : i32\n"                                                                     \
    "      %x = arith.xori %p, %c1 : i32\n"                                                                            \
    "      %np = arith.select %w, %x, %p : i32\n" body "      scf.yield %ns, %np : i32, i32\n    }\n"

static void rings_that_arefs_advance(void **state) {
    (void)state;
    static const Case cases[] = {
        {"", AREF(c1, c0, USE(ns, i32)), "accumCnt(loop@1) % 2"},
        {"", AREF(c1, c0, USE(np, i32)), "NOT ((accumCnt(loop@1) / 2) & 1)"}, /* put */
        {"", AREF(c1, c1, USE(np, i32)), "(accumCnt(loop@1) / 2) & 1"},       /* get */
        {"", AREF(c0, c0, USE(s, i32)), "accumCnt(loop@1) % 2"},
        {"", AREF(c0, c0, USE(p, i32)), "(accumCnt(loop@1) / 2) & 1"},
        {"", AREF(c1, c0, USE(s, i32)), "(accumCnt(loop@1) + 1) % 2"},
        {"", AREF(c1, c0, USE(p, i32)), "((accumCnt(loop@1) + 1) / 2) & 1"},
        {"", AREF(c0, c0, "      %m = arith.muli %p, %c2 : i32\n" USE(m, i32)), "((accumCnt(loop@1) / 2) & 1) * 2"},
        {"", AREF(c0, c1, "      %m = arith.muli %p, %c2 : i32\n" USE(m, i32)),
         "(NOT ((accumCnt(loop@1) / 2) & 1)) * 2"},
        {"", AREF(m1, c0, USE(ns, i32)), "accumCnt(loop@1) % 2"}, /* as a pipelined loop starts */
        {"", AREF(m1, c0, USE(np, i32)), "(accumCnt(loop@1) / 2) & 1"},
        {"", AREF(m1, c0, USE(s, i32)), "%s"},
        {"%n0: i32", AREF(n0, c0, USE(ns, i32)), "wrap(%s + 1, 2)"},
        {"%n0: i32", AREF(n0, c0, USE(p, i32)), "phase(loop@1)"},
        {"%n0: i32", AREF(n0, c0, "      %m = arith.xori %p, %c1 : i32\n" USE(m, i32)), "NOT phase(loop@1)"},
    };
    assert_expressions(cases);
}

#define HAND(next, flip, body)                                                                          \
    "    %r:2 = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %c0, %p = %c0) -> (i32, i32) : i32 {\n" \
    "      %c3 = arith.constant 3 : i32\n"                                                              \
    "      %n = arith.addi %s, %c1 : i32\n" next flip body "      scf.yield %ns, %np : i32, i32\n    }\n"
#define NEXT_REM  "      %ns = arith.remsi %n, %c3 : i32\n"
#define NEXT_LAST "      %l = arith.cmpi eq, %s, %c2 : i32\n      %ns = arith.select %l, %c0, %n : i32\n"
#define NEXT_LESS "      %l0 = arith.cmpi slt, %n, %c3 : i32\n      %ns = arith.select %l0, %n, %c0 : i32\n"
#define NEXT_IF                                                                                                        \
    "      %l = arith.cmpi sge, %n, %c3 : i32\n"                                                                       \
    "      %ns = scf.if %l -> (i32) {\n        scf.yield %c0 : i32\n      } else {\n        scf.yield %n : i32\n     " \
    " }\n"
#define FLIP_XOR                                                                        \
    "      %e = arith.cmpi eq, %s, %c2 : i32\n      %eu = arith.extui %e : i1 to i32\n" \
    "      %np = arith.xori %p, %eu : i32\n"
#define FLIP_LESS "      %pf = arith.xori %p, %c1 : i32\n      %np = arith.select %l0, %p, %pf : i32\n"
#define FLIP_IF                                                                                               \
    "      %np = scf.if %l -> (i32) {\n        %pf = arith.xori %p, %c1 : i32\n        scf.yield %pf : i32\n" \
    "      } else {\n        scf.yield %p : i32\n      }\n"
#define FLIP_ALWAYS "      %np = arith.xori %p, %c1 : i32\n"

static void rings_that_are_written_by_hand(void **state) {
    (void)state;
    static const Case cases[] = {
        {"", HAND(NEXT_REM, FLIP_XOR, USE(s, i32)), "accumCnt(loop@1) % 3"},
        {"", HAND(NEXT_REM, FLIP_XOR, USE(p, i32)), "(accumCnt(loop@1) / 3) & 1"},
        {"", HAND(NEXT_LAST, FLIP_XOR, USE(np, i32)), "((accumCnt(loop@1) + 1) / 3) & 1"},
        {"", HAND(NEXT_LESS, FLIP_LESS, USE(s, i32)), "accumCnt(loop@1) % 3"},
        {"", HAND(NEXT_LESS, FLIP_LESS, USE(p, i32)), "(accumCnt(loop@1) / 3) & 1"},
        {"", HAND(NEXT_IF, FLIP_IF, USE(ns, i32)), "(accumCnt(loop@1) + 1) % 3"},
        {"", HAND(NEXT_IF, FLIP_IF, USE(p, i32)), "(accumCnt(loop@1) / 3) & 1"},
        {"", HAND(NEXT_REM, FLIP_ALWAYS, USE(p, i32)), "accumCnt(loop@1) & 1"},
        {"", HAND(NEXT_REM, FLIP_ALWAYS, USE(np, i32)), "NOT (accumCnt(loop@1) & 1)"},
        /* (i / 64) % 2 */
        {"",
         "    %c64 = arith.constant 64 : i32\n    scf.for %i = %c0 to %c64 step %c64 : i32 {\n"
         "      %d = arith.divsi %i, %c64 : i32\n      %x = arith.remsi %d, %c2 : i32\n" USE(x, i32) "    }\n",
         "(iv(loop@1) / 64) % 2"},
    };
    assert_expressions(cases);
}

static void rings_that_advance_twice(void **state) {
    (void)state;
#define TWICE(body) TWICE_IN(3, body)
#define TWICE_IN(depth, body)                                                                           \
    "    %r:2 = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %c0, %p = %c0) -> (i32, i32) : i32 {\n" \
    "      %c3 = arith.constant " #depth " : i32\n"                                                     \
    "      %n = arith.addi %s, %c1 : i32\n      %w = arith.cmpi eq, %n, %c3 : i32\n"                    \
    "      %s1 = arith.select %w, %c0, %n : i32\n      %f = arith.xori %p, %c1 : i32\n"                 \
    "      %p1 = arith.select %w, %f, %p : i32\n"                                                       \
    "      %n1 = arith.addi %s1, %c1 : i32\n      %w1 = arith.cmpi eq, %n1, %c3 : i32\n"                \
    "      %s2 = arith.select %w1, %c0, %n1 : i32\n      %f1 = arith.xori %p1, %c1 : i32\n"             \
    "      %p2 = arith.select %w1, %f1, %p1 : i32\n" body "      scf.yield %s2, %p2 : i32, i32\n    }\n"
    static const Case cases[] = {
        {"", TWICE(USE(s, i32)), "(2*n(loop@1)) % 3"},
        {"", TWICE(USE(s1, i32)), "(2*n(loop@1) + 1) % 3"},
        {"", TWICE(USE(p, i32)), "((2*n(loop@1)) / 3) & 1"},
        {"", TWICE(USE(p1, i32)), "((2*n(loop@1) + 1) / 3) & 1"},
        /* as often as the ring is deep */
        {"", TWICE_IN(2, USE(s1, i32)), "1"},
        {"", TWICE_IN(2, USE(p1, i32)), "accumCnt(loop@1) & 1"},
        {"", TWICE("      %x = arith.xori %p1, %c1 : i32\n" USE(x, i32)), "NOT (((2*n(loop@1) + 1) / 3) & 1)"},
    };
    assert_expressions(cases);
}

static void what_has_no_formula_is_still_a_phase(void **state) {
    (void)state;
    static const Case cases[] = {
        /* it flips only sometimes */
        {"%g: i1",
         "    %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%p = %c0) -> (i32) : i32 {\n" USE(
             p, i32) "      %np = scf.if %g -> (i32) {\n        %f = arith.xori %p, %c1 : i32\n        scf.yield %f : "
                     "i32\n"
                     "      } else {\n        scf.yield %p : i32\n      }\n      scf.yield %np : i32\n    }\n",
         "phase(loop@1)"},
        /* an inner loop flips it, and the outer one once more */
        {"",
         "    %r = scf.for %t = %c0 to %c2 step %c1 iter_args(%a = %c0) -> (i32) : i32 {\n" USE(
             a, i32) "      %s = scf.for %i = %c0 to %c2 step %c1 iter_args(%p = %a) -> (i32) : i32 {\n"
                     "        %f = arith.xori %p, %c1 : i32\n        scf.yield %f : i32\n      }\n"
                     "      %g = arith.xori %s, %c1 : i32\n      scf.yield %g : i32\n    }\n",
         "phase(loop@1)"},
        /* one that never changes */
        {"",
         "    %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%p = %c0) -> (i32) : i32 {\n" USE(
             p, i32) "      scf.yield %c0 : i32\n    }\n",
         "0"},
    };
    assert_expressions(cases);
}

static void loops_with_a_condition(void **state) {
    (void)state;
#define WHILE(body)                                                                            \
    "    %r = scf.while (%a = %c0) : (i32) -> (i32) {\n"                                       \
    "      %g = arith.cmpi slt, %a, %c2 : i32\n      scf.condition(%g) %a : i32\n    } do {\n" \
    "    ^bb0(%b: i32):\n" body "      %n = arith.addi %b, %c1 : i32\n      scf.yield %n : i32\n    }\n"
    static const Case cases[] = {
        {"", WHILE("      %x = arith.remsi %b, %c2 : i32\n" USE(x, i32)), "accumCnt(loop@1) % 2"},
        {"", WHILE("") USE(r, i32), "accumCnt(loop@1)"},
    };
    assert_expressions(cases);
}

static void partitions_see_what_they_capture(void **state) {
    (void)state;
    static const Case cases[] = {
        {"%K: i32",
         "    ttg.warp_specialize(%c1, %K)\n    default {\n      ttg.warp_yield\n    }\n"
         "    partition0(%arg0: i32, %arg1: i32) num_warps(1) {\n      %x = arith.addi %arg1, %arg0 : i32\n" USE(
             x, i32) "      ttg.warp_return\n    } : (i32, i32) -> ()\n",
         "%K + 1"},
        /* what a loop hands on without changing it */
        {"%K: i32",
         "    %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %K) -> (i32) : i32 {\n" USE(
             a, i32) "      scf.yield %a : i32\n    }\n",
         "%K"},
        {"%K: i32",
         "    ttng.subtiled_region per_tile(%c0, %c1 : i32, i32) shared(%K : i32) {numTiles = 2 : i32} tile {\n"
         "    ^bb0(%a: i32, %b: i32, %t: i32):\n      %x = arith.addi %b, %t : i32\n" USE(
             x, i32) "      ttng.subtiled_region_yield\n    }\n",
         "%K + tileIdx"},
    };
    assert_expressions(cases);
}

static void long_expressions_end(void **state) {
    (void)state;
    Text body = {0};
    text_addf(&body, "    %%x0 = arith.muli %%a_very_long_name_of_a_value, %%k : i32\n");
    for (int i = 1; i < 40; i++)
        text_addf(&body, "    %%x%d = arith.muli %%x%d, %%x%d : i32\n", i, i - 1, i - 1);
    text_addf(&body, "    \"my.use\"(%%x39) : (i32) -> ()\n");
    text_char(&body, 0);
    Text kernel = {0}, found = {0};
    text_addf(&kernel,
              "module {\n  tt.func @kernel(%%a_very_long_name_of_a_value: i32, %%k: i32) {\n%s    tt.return\n  }\n}\n",
              body.data);
    text_char(&kernel, 0);
    Reading *reading = read_text(kernel.data);
    assert_true(reading->ok);
    expression_print(&reading->module, find_op(reading, "my.use", 0)->operands[0], &found);
    assert_true(found.size <= 200);
    assert_true(str_ends((Str){found.data, found.size}, STR("...")));
    text_free(&body);
    text_free(&kernel);
    text_free(&found);
    done(reading);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simple_sums_keep_few_parentheses),
        cmocka_unit_test(casts_are_not_seen),
        cmocka_unit_test(counters_of_loops_make_slots_and_phases),
        cmocka_unit_test(a_count_goes_through_loops_around_it),
        cmocka_unit_test(rings_that_arefs_advance),
        cmocka_unit_test(rings_that_are_written_by_hand),
        cmocka_unit_test(rings_that_advance_twice),
        cmocka_unit_test(what_has_no_formula_is_still_a_phase),
        cmocka_unit_test(loops_with_a_condition),
        cmocka_unit_test(partitions_see_what_they_capture),
        cmocka_unit_test(long_expressions_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
