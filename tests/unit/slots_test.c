/* model/slots: slots that differ in the same iteration, in every later one, and some iterations later.
 *
 * Each case is the body of a function. "my.use"(%a, %b) names the indices of the first access and of the second; the op
 * with the attribute `around` is the loop that lies between them. What is proved is written as letters: 'p' plainly,
 * 's' strongly, both in the same iteration; 'P' and 'S' the same around the loop; '1', '2', '3' so many iterations
 * later. */
#include "reading.h"

#include "model/number/slots.h"

static Slots *slots_in(Reading *reading) {
    Arena *arena = &reading->module.arena;
    const Op *function = find_op(reading, "tt.func", 0);
    Flow *flow = ARENA_NEW(arena, Flow);
    *flow = flow_of(function, arena);
    return slots_of(&reading->module, function, flow);
}

typedef struct Case {
    const char *parameters, *body, *proved;
} Case;

#define NUMBERS                                                                                               \
    "    %c0 = arith.constant 0 : i32\n    %c1 = arith.constant 1 : i32\n    %c2 = arith.constant 2 : i32\n"  \
    "    %c3 = arith.constant 3 : i32\n    %c4 = arith.constant 4 : i32\n    %m1 = arith.constant -1 : i32\n" \
    "    %w0 = arith.constant 0 : i64\n    %w1 = arith.constant 1 : i64\n    %w2 = arith.constant 2 : i64\n"  \
    "    %w3 = arith.constant 3 : i64\n    %true = arith.constant true\n    %false = arith.constant false\n"

static Reading *read_case(const char *parameters, const char *body) {
    Text text = {0};
    text_addf(&text, "module {\n  tt.func @kernel(%s) {\n%s%s    tt.return\n  }\n}\n", parameters, NUMBERS, body);
    text_char(&text, 0);
    Reading *reading = read_text(text.data);
    for (size_t i = 0; i < reading->diagnostics.count; i++)
        if (reading->diagnostics.items[i].severity == SEVERITY_ERROR)
            print_error("%s%u: %s\n", text.data, reading->diagnostics.items[i].place.line,
                        reading->diagnostics.items[i].message);
    assert_true(reading->ok);
    text_free(&text);
    return reading;
}

static const Op *loop_between(Reading *reading) {
    const Op *root = first_op(reading);
    for (const Op *op = root; op; op = op_next_in_walk(op, root))
        if (op_attr(op, "around"))
            return op;
    return NULL;
}

static void prove(Slots *slots, const Value *first, const Value *second, const Op *around, Text *to) {
    if (slots_differ(slots, first, second, NULL, SLOTS_PLAIN, NULL))
        text_char(to, 'p');
    if (slots_differ(slots, first, second, NULL, SLOTS_STRONG, NULL))
        text_char(to, 's');
    if (around && slots_differ(slots, first, second, around, SLOTS_PLAIN, NULL))
        text_char(to, 'P');
    if (around && slots_differ(slots, first, second, around, SLOTS_STRONG, NULL))
        text_char(to, 'S');
    for (int64_t i = 1; around && i <= 3; i++)
        if (slots_differ_after(slots, first, second, around, i, NULL))
            text_char(to, (char)('0' + i));
}

static bool holds(const Case *expected) {
    Reading *reading = read_case(expected->parameters, expected->body);
    const Op *use = find_op(reading, "my.use", 0), *around = loop_between(reading);
    assert_non_null(use);
    assert_int_equal(use->operand_count, 2);
    Text found = {0};
    Slots *slots = slots_in(reading);
    const Value *first = use->operands[0], *second = use->operands[1];
    prove(slots, first, second, around, &found);
    /* in the same iteration the order does not matter, nor does asking again */
    for (SlotStrength strength = SLOTS_PLAIN; strength <= SLOTS_STRONG; strength++)
        assert_int_equal(slots_differ(slots, first, second, NULL, strength, NULL),
                         slots_differ(slots, second, first, NULL, strength, NULL));
    text_char(&found, 0);
    bool same = strcmp(found.data, expected->proved) == 0;
    if (!same)
        print_error("%s\nfound \"%s\", expected \"%s\"\n", expected->body, found.data, expected->proved);
    text_free(&found);
    done(reading);
    return same;
}

#define assert_proved(cases) assert_cases(cases, sizeof(cases) / sizeof *(cases))
static void assert_cases(const Case *cases, size_t count) {
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += !holds(&cases[i]);
    assert_int_equal(wrong, 0);
}

#define OP2(result, op, a, b)  "    %" #result " = arith." #op " %" #a ", %" #b " : i32\n"
#define OP2W(result, op, a, b) "    %" #result " = arith." #op " %" #a ", %" #b " : i64\n"
#define USE(a, b)              "    \"my.use\"(%" #a ", %" #b ") : (i32, i32) -> ()\n"
/* %next = x + 1, 0 where that would be `depth` */
#define WRAP(next, x, depth)                                                                                        \
    OP2(next##_sum, addi, x, c1)                                                                                    \
    "    %" #next "_end = arith.cmpi sge, %" #next "_sum, %" #depth " : i32\n    %" #next " = arith.select %" #next \
    "_end, %c0, %" #next "_sum : i32\n"

/* ---- Without loops, and what the compiler's own pass proves ---------------------------------------------------------
 */

static void plain_expressions(void **state) {
    (void)state;
    static const Case cases[] = {
        /* (n + 1) % 3 and n % 3, offsets on either side */
        {"%n: i32", OP2(x, addi, n, c1) OP2(a, remsi, x, c3) OP2(b, remsi, n, c3) USE(a, b), "ps"},
        {"%n: i32", OP2(x, addi, c2, n) OP2(a, remsi, x, c3) OP2(b, remsi, n, c3) USE(a, b), "ps"},
        {"%n: i32", OP2(x, addi, n, c3) OP2(a, remsi, x, c3) OP2(b, remsi, n, c3) USE(a, b), ""},
        {"%n: i32", OP2(x, addi, n, m1) OP2(a, remsi, x, c3) OP2(y, addi, n, c2) OP2(b, remsi, y, c3) USE(a, b), ""},
        {"%n: i32", OP2(x, addi, n, c1) OP2(y, addi, x, c1) OP2(a, remsi, y, c3) OP2(b, remsi, n, c3) USE(a, b), "ps"},
        {"", USE(c0, c1), "ps"},
        {"", USE(c1, c1), ""},
        {"%n: i32", OP2(x, addi, n, c1) USE(x, n), "ps"},
        /* the same expression, other bases, other moduli, a modulus of 0 or one that is not constant */
        {"%n: i32", OP2(a, remsi, n, c3) USE(a, a), ""},
        {"%n: i32, %k: i32", OP2(x, addi, n, c1) OP2(a, remsi, x, c3) OP2(b, remsi, k, c3) USE(a, b), ""},
        {"%n: i32", OP2(x, addi, n, c1) OP2(a, remsi, x, c3) OP2(b, remsi, n, c2) USE(a, b), ""},
        {"%n: i32", OP2(x, addi, n, c1) OP2(a, remsi, x, c0) OP2(b, remsi, n, c0) USE(a, b), ""},
        {"%n: i32, %k: i32", OP2(x, addi, n, c1) OP2(a, remsi, x, k) OP2(b, remsi, n, k) USE(a, b), ""},
        /* a remainder within a remainder: not plain; strongly only where the inner one is a multiple of the outer */
        {"%n: i32",
         OP2(x, addi, n, c1) OP2(y, remsi, x, c4) OP2(a, remsi, y, c2) OP2(z, remsi, n, c4) OP2(b, remsi, z, c2)
             USE(a, b),
         "s"},
        {"%n: i32",
         OP2(x, addi, n, c1) OP2(y, remsi, x, c4) OP2(a, remsi, y, c3) OP2(z, remsi, n, c4) OP2(b, remsi, z, c3)
             USE(a, b),
         ""},
        {"%n: i32", OP2(x, remsi, n, c3) OP2(y, addi, x, c1) OP2(a, remsi, y, c3) USE(a, x), "s"},
        /* a remainder plus one is no remainder */
        {"%n: i32", OP2(x, remsi, n, c3) OP2(a, addi, x, c1) USE(a, x), "s"},
        {"%n: i32", OP2(x, remsi, n, c3) OP2(y, addi, n, c1) OP2(a, remsi, y, c3) OP2(b, addi, x, c3) USE(a, b), "s"},
    };
    assert_proved(cases);
}

static void wraps(void **state) {
    (void)state;
    static const Case cases[] = {
        {"%n: i32", WRAP(a, n, c3) USE(a, n), ""}, /* n may be anything */
        {"", WRAP(a, c2, c3) USE(a, c1), "s"},     /* 0 and 1: one of them has a modulus */
        {"", WRAP(a, c2, c3) WRAP(b, c1, c3) USE(a, b), "ps"},
        {"", WRAP(a, m1, c3) WRAP(b, c1, c3) USE(a, b), "ps"},
        {"", WRAP(a, c4, c3) WRAP(b, c1, c3) USE(a, b), "s"}, /* out of range */
        {"",
         OP2(x, addi, c1, c2) "    %e = arith.cmpi slt, %x, %c4 : i32\n    %a = arith.select %e, %x, %c0 : i32\n"
                              "    %y = arith.addi %c2, %c1 : i32\n    %f = arith.cmpi slt, %y, %c4 : i32\n"
                              "    %b = arith.select %f, %y, %c1 : i32\n" USE(a, b),
         ""},
        /* it wraps to 1, or goes on by 2 */
        {"%n: i32",
         OP2(r, remsi, n, c3) OP2(x, addi, r, c1) "    %e = arith.cmpi sge, %x, %c3 : i32\n"
                                                  "    %a = arith.select %e, %c1, %x : i32\n" USE(a, c1),
         ""},
        {"%n: i32",
         OP2(r, remsi, n, c3) OP2(x, addi, r, c2) "    %e = arith.cmpi sge, %x, %c3 : i32\n"
                                                  "    %a = arith.select %e, %c0, %x : i32\n" USE(a, r),
         ""},
        /* by 2, right; and where x + 1 is 3 nothing has to be known about x */
        {"%n: i32",
         OP2(r, remsi, n, c3) OP2(x, addi, r, c2)
             OP2(y, subi, x, c3) "    %e = arith.cmpi sge, %x, %c3 : i32\n"
                                 "    %a = arith.select %e, %y, %x : i32\n" USE(a, r),
         "s"},
        {"%n: i32",
         OP2(x, addi, n, c1) "    %e = arith.cmpi eq, %x, %c3 : i32\n    %a = arith.select %e, %c0, %x : i32\n" USE(a,
                                                                                                                    n),
         "s"},
        {"%n: i32",
         OP2(x, addi, n, c1) "    %e = arith.cmpi ne, %n, %c2 : i32\n    %a = arith.select %e, %x, %c0 : i32\n" USE(a,
                                                                                                                    n),
         "s"},
        {"%n: i32", OP2(r, remui, n, c3) WRAP(a, r, c3) USE(a, r), "s"},
        /* by an scf.if, and downwards */
        {"%n: i32",
         OP2(r, remui, n, c3) OP2(x, addi, r, c1) "    %e = arith.cmpi uge, %x, %c3 : i32\n"
                                                  "    %a = scf.if %e -> (i32) {\n      scf.yield %c0 : i32\n"
                                                  "    } else {\n      scf.yield %x : i32\n    }\n" USE(a, r),
         "s"},
        {"%n: i32",
         OP2(r, remui, n, c3) OP2(x, subi, r, c1) "    %e = arith.cmpi slt, %x, %c0 : i32\n"
                                                  "    %a = arith.select %e, %c2, %x : i32\n" USE(a, r),
         "s"},
    };
    assert_proved(cases);
}

static void arithmetic(void **state) {
    (void)state;
    static const Case cases[] = {
        /* x - (x / 3) * 3 */
        {"%n: i32",
         OP2(q, divsi, n, c3) OP2(m, muli, q, c3) OP2(a, subi, n, m) OP2(x, addi, n, c2) OP2(r, divsi, x, c3)
             OP2(k, muli, c3, r) OP2(b, subi, x, k) USE(a, b),
         "s"},
        {"%n: i32",
         OP2(q, divsi, n, c3) OP2(m, muli, q, c3) OP2(a, subi, n, m) OP2(x, addi, n, c2) OP2(b, remsi, x, c3) USE(a, b),
         "s"},
        {"%n: i32", OP2(x, addi, n, c1) OP2(a, andi, x, c3) OP2(b, andi, c3, n) USE(a, b), "s"},
        {"%n: i32", OP2(x, addi, n, c4) OP2(a, andi, x, c3) OP2(b, andi, n, c3) USE(a, b), ""},
        {"%n: i32", OP2(x, addi, n, c1) OP2(a, andi, x, c4) OP2(b, andi, n, c4) USE(a, b),
         ""}, /* no mask of low bits */
        {"%n: i32", OP2(r, andi, n, c1) OP2(a, xori, r, c1) USE(a, r), "s"},
        {"%n: i32", OP2(r, andi, n, c1) OP2(a, subi, c1, r) USE(a, r), "s"},
        {"%n: i32", OP2(x, muli, n, c2) OP2(y, addi, x, c1) OP2(a, remsi, y, c4) OP2(b, remsi, x, c4) USE(a, b), "ps"},
        {"%n: i32", "    %x = arith.shli %n, %c1 : i32\n" OP2(y, addi, x, c1) OP2(k, muli, n, c4) USE(y, k), "s"},
        /* unsigned remainders of what may be negative: only of powers of two */
        {"%n: i32", OP2(x, addi, n, c1) OP2(a, remui, x, c3) OP2(b, remui, n, c3) USE(a, b), ""},
        {"%n: i32", OP2(x, addi, n, c1) OP2(a, remui, x, c4) OP2(b, remui, n, c4) USE(a, b), "s"},
        {"",
         "    %n = tt.get_program_id x : i32\n" OP2(x, addi, n, c1) OP2(a, remui, x, c3) OP2(b, remui, n, c3) USE(a, b),
         "s"},
        /* casts: an argument may be anything, a count fits */
        {"%n: i64",
         OP2W(x, addi, n, w1) OP2W(r, remsi, x, w3)
             OP2W(s, remsi, n, w3) "    %a = arith.trunci %r : i64 to i32\n"
                                   "    %b = arith.trunci %s : i64 to i32\n" USE(a, b),
         ""},
        {"%n: i64",
         OP2W(x, addi, n, w1) OP2W(r, remui, x, w2)
             OP2W(s, remui, n, w2) "    %a = arith.trunci %r : i64 to i32\n"
                                   "    %b = arith.trunci %s : i64 to i32\n" USE(a, b),
         "s"},
        {"%n: i64",
         OP2W(x, addi, n, w1) "    %t = arith.trunci %x : i64 to i1\n    %u = arith.trunci %n : i64 to i1\n"
                              "    %a = arith.extui %t : i1 to i32\n    %b = arith.extsi %u : i1 to i32\n" USE(a, b),
         "s"},
        /* two halves of a ring, whatever picks the slot in each */
        {"%n: i32, %k: i32", OP2(a, andi, n, c1) OP2(x, andi, k, c1) OP2(b, addi, x, c2) USE(a, b), "s"},
        {"%n: i32, %k: i32", OP2(a, andi, n, c1) OP2(x, andi, k, c1) OP2(b, addi, x, c1) USE(a, b), ""},
        {"%n: i32, %k: i32", OP2(a, remsi, n, c2) OP2(x, andi, k, c1) OP2(b, addi, x, c2) USE(a, b), "s"},
        {"%n: i32, %c: i1", "    %a = arith.select %c, %n, %n : i32\n" OP2(b, addi, n, c1) USE(a, b), "s"},
    };
    assert_proved(cases);
}

/* ---- Loops of scf ---------------------------------------------------------------------------------------------------
 */

/* Two counters, %p and %c, that go on to %pn and %cn. */
#define FOR2(p0, c0, body)                                                                                            \
    "    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %" #p0 ", %c = %" #c0 ") -> (i32, i32) : i32 {\n" body \
    "      scf.yield %pn, %cn : i32, i32\n    } {around}\n"
#define BY(p, step) OP2(p##n, addi, p, step)
#define MODULO3     OP2(a, remsi, p, c3) OP2(b, remsi, c, c3)

static void counters_keep_their_distance(void **state) {
    (void)state;
    static const Case cases[] = {
        /* the triple buffer: producer two ahead of the consumer */
        {"%n: i32", FOR2(c2, c0, MODULO3 USE(a, b) BY(p, c1) BY(c, c1)), "s13"},
        {"%n: i32", FOR2(c2, c0, MODULO3 USE(b, a) BY(p, c1) BY(c, c1)), "s23"},
        {"%n: i32", FOR2(c3, c0, MODULO3 USE(a, b) BY(p, c1) BY(c, c1)), "12"},
        {"%n: i32", FOR2(c2, c0, MODULO3 USE(a, b) BY(p, c1) BY(c, c2)), ""},
        {"%n: i32", FOR2(c2, c0, MODULO3 USE(a, b) BY(p, c4) BY(c, c1)), "s13"},
        /* the same base */
        {"%n: i32, %k: i32", OP2(k2, addi, k, c2) FOR2(k2, k, MODULO3 USE(a, b) BY(p, c1) BY(c, c1)), "s13"},
        {"%n: i32, %k: i32, %l: i32", FOR2(k, l, MODULO3 USE(a, b) BY(p, c1) BY(c, c1)), ""},
        /* a step that is not constant; under a condition */
        {"%n: i32, %k: i32", FOR2(c2, c0, MODULO3 USE(a, b) BY(p, k) BY(c, k)), "s"},
        {"%n: i32, %f: i1",
         FOR2(c2, c0,
              MODULO3 USE(a, b) "    %p_ = arith.addi %p, %c1 : i32\n    %c_ = arith.addi %c, %c1 : i32\n"
                                "    %pn = arith.select %f, %p_, %p : i32\n"
                                "    %cn = arith.select %f, %c_, %c : i32\n"),
         "s"},
        /* the counter and the induction variable */
        {"%n: i32", FOR2(c2, c0, OP2(a, remsi, p, c3) OP2(b, remsi, i, c3) USE(a, b) BY(p, c1) BY(c, c1)), "s13"},
        {"%n: i32",
         FOR2(c2, c0, OP2(x, addi, i, c2) OP2(a, remsi, x, c3) OP2(b, remsi, i, c3) USE(a, b) BY(p, c1) BY(c, c1)),
         "psP13"},
        {"%n: i32",
         FOR2(c0, c0,
              OP2(x, muli, i, c2) OP2(y, addi, x, c1) OP2(a, remsi, x, c4) OP2(b, remsi, y, c4) USE(a, b) BY(p, c1)
                  BY(c, c1)),
         "psPS123"},
        /* no ring at all: the index only grows */
        {"%n: i32", FOR2(c0, c0, USE(p, p) BY(p, c1) BY(c, c1)), "S123"},
        {"%n: i32", FOR2(c2, c0, USE(p, c) BY(p, c1) BY(c, c1)), "s13"},
        {"%n: i32", FOR2(c2, c0, USE(c, p) BY(p, c1) BY(c, c1)), "sS123"},
        /* unsigned, masks, divisions */
        {"%n: i32", FOR2(c2, c0, OP2(a, remui, p, c3) OP2(b, remui, c, c3) USE(a, b) BY(p, c1) BY(c, c1)), "s13"},
        {"%n: i32", FOR2(c2, m1, OP2(a, remui, p, c3) OP2(b, remui, c, c3) USE(a, b) BY(p, c1) BY(c, c1)), ""},
        {"%n: i32", FOR2(c2, c0, OP2(a, andi, p, c3) OP2(b, andi, c, c3) USE(a, b) BY(p, c1) BY(c, c1)), "s13"},
        {"%n: i32",
         FOR2(c2, c0,
              OP2(q, divui, p, c3) OP2(m, muli, q, c3) OP2(a, subi, p, m) OP2(b, remsi, c, c3) USE(a, b) BY(p, c1)
                  BY(c, c1)),
         "s13"},
        /* what does not depend on the loop */
        {"%n: i32", FOR2(c2, c0, USE(c0, c1) BY(p, c1) BY(c, c1)), "psPS123"},
        {"%n: i32", FOR2(c2, c0, OP2(x, addi, n, c1) USE(x, n) BY(p, c1) BY(c, c1)), "psPS123"},
    };
    assert_proved(cases);
}

static void rings(void **state) {
    (void)state;
    static const Case cases[] = {
        {"%n: i32", FOR2(c2, c0, USE(p, c) WRAP(pn, p, c3) WRAP(cn, c, c3)), "s13"},
        {"%n: i32", FOR2(c2, m1, WRAP(pn, p, c3) WRAP(cn, c, c3) USE(pn, cn)), "12"},
        {"%n: i32", FOR2(c1, m1, WRAP(pn, p, c3) WRAP(cn, c, c3) USE(pn, cn)), "s13"},
        {"%n: i32", FOR2(c1, m1, WRAP(pn, p, c3) WRAP(cn, c, c3) USE(pn, p)), "s23"},
        {"%n: i32", FOR2(c4, c0, USE(p, c) WRAP(pn, p, c3) WRAP(cn, c, c3)), ""}, /* starts out of range */
        {"%n: i32", FOR2(c2, c0, USE(p, c) WRAP(pn, p, c3) WRAP(cn, c, c4)), ""},
        {"%n: i32", FOR2(c2, c0, USE(p, c) WRAP(px, p, c3) WRAP(pn, px, c3) WRAP(cx, c, c3) WRAP(cn, cx, c3)), "s23"},
        /* below 0 an unsigned comparison is another one */
        {"%n: i32",
         "    %m2 = arith.constant -2 : i32\n" FOR2(
             m2, c0,
             OP2(x, addi, p, c1) "    %e = arith.cmpi ugt, %p, %c1 : i32\n"
                                 "    %pn = arith.select %e, %c0, %x : i32\n" BY(c, c1) USE(p, pn)),
         ""},
        /* a ring by its remainder, and a counter beside it */
        {"%n: i32",
         FOR2(c2, c0, USE(p, c) OP2(x, addi, p, c1) OP2(pn, remsi, x, c3) OP2(y, addi, c, c1) OP2(cn, remsi, y, c3)),
         "s13"},
        {"%n: i32", FOR2(c2, c0, OP2(b, remsi, c, c3) USE(p, b) WRAP(pn, p, c3) BY(c, c1)), "s13"},
        /* two slots by turns */
        {"%n: i32", FOR2(c1, c0, USE(p, c) OP2(pn, xori, p, c1) OP2(cn, xori, c, c1)), "s2"},
        {"%n: i32", FOR2(c1, c0, USE(p, p) OP2(pn, xori, p, c1) OP2(cn, xori, c, c1)), "13"},
        {"%n: i32", FOR2(c1, c0, USE(p, c) OP2(pn, subi, c1, p) OP2(cn, subi, c1, c)), "s2"},
        {"%n: i32", FOR2(c1, c0, USE(p, c) OP2(pn, xori, p, c1) OP2(cn, subi, c1, c)), "s2"},
        {"%n: i32", FOR2(c0, c0, USE(p, c) OP2(pn, xori, p, c1) OP2(cn, xori, c, c1)), "13"},
        /* one becomes what the other was */
        {"%n: i32", FOR2(c2, c1, OP2(a, remsi, p, c3) OP2(b, remsi, c, c3) USE(a, b) BY(p, c1) OP2(cn, addi, p, c0)),
         "s23"},
        {"%n: i32", FOR2(c2, c1, USE(p, c) WRAP(pn, p, c3) OP2(cn, addi, p, c0)), "s23"},
        {"%n: i32", FOR2(c2, c0, USE(p, c) WRAP(pn, p, c3) OP2(cn, addi, p, c0)), ""},
    };
    assert_proved(cases);
}

static void casts_in_loops(void **state) {
    (void)state;
#define FOR_WIDE(p0, body)                                                                            \
    "    %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %" #p0 ") -> (i64) : i32 {\n" body OP2W( \
        pn, addi, p, w1) "      scf.yield %pn : i64\n    } {around}\n"
    static const Case cases[] = {
        {"%n: i32",
         FOR_WIDE(w2, "    %x = arith.trunci %p : i64 to i32\n" OP2(a, remsi, x, c3) OP2(b, remsi, i, c3) USE(a, b)),
         "s13"},
        {"%n: i32",
         FOR_WIDE(w2, "    %x = arith.trunci %p : i64 to i8\n    %y = arith.extsi %x : i8 to i32\n" OP2(a, remsi, y, c3)
                          OP2(b, remsi, i, c3) USE(a, b)),
         ""},
        {"%n: i32",
         FOR_WIDE(w1, "    %x = arith.trunci %p : i64 to i8\n    %y = arith.extsi %x : i8 to i32\n" OP2(a, remsi, y, c4)
                          OP2(b, remsi, i, c4) USE(a, b)),
         "s23"},
        {"%n: i32",
         FOR_WIDE(w2,
                  "    %x = arith.extsi %i : i32 to i64\n" OP2W(u, remui, p, w3) OP2W(
                      v, remui, x,
                      w3) "    %a = arith.trunci %u : i64 to i32\n    %b = arith.trunci %v : i64 to i32\n" USE(a, b)),
         "s13"},
        {"%n: i32",
         FOR_WIDE(w2, "    %x = arith.index_cast %p : i64 to index\n    %y = arith.index_cast %x : index to i32\n" OP2(
                          a, remsi, y, c3) OP2(b, remsi, i, c3) USE(a, b)),
         "s13"},
    };
    assert_proved(cases);
}

static void nested_loops(void **state) {
    (void)state;
#define IN_OUTER(in, out)                                                                                 \
    "    %r:2 = scf.for %t = %c0 to %n step %c1 iter_args(%po = %c2, %co = %c0) -> (i32, i32) : i32 {\n"  \
    "    %s:2 = scf.for %i = %c0 to %k step %c1 iter_args(%p = %po, %c = %co) -> (i32, i32) : i32 {\n" in \
    BY(p, c1) BY(c, c1) "      scf.yield %pn, %cn : i32, i32\n    }" out
#define OUTER_AROUND " {around}\n      scf.yield %s#0, %s#1 : i32, i32\n    }\n"
#define OUTER        "\n      scf.yield %s#0, %s#1 : i32, i32\n    } {around}\n"
    static const Case cases[] = {
        {"%n: i32, %k: i32", IN_OUTER(MODULO3 USE(a, b), OUTER_AROUND), "s13"},
        {"%n: i32, %k: i32", IN_OUTER(MODULO3 USE(a, b), OUTER), "s"},
        {"%n: i32, %k: i32", IN_OUTER("", "\n" OP2(a, remsi, po, c3) OP2(b, remsi, co, c3) USE(a, b) OUTER), "s"},
        {"%n: i32, %k: i32",
         IN_OUTER("", "\n    %a = arith.remsi %s#0, %c3 : i32\n    %b = arith.remsi %s#1, %c3 : i32\n" USE(a, b) OUTER),
         "s"},
        {"%n: i32, %k: i32",
         IN_OUTER("", OUTER) "    %a = arith.remsi %r#0, %c3 : i32\n    %b = arith.remsi %r#1, %c3 : i32\n" USE(a, b),
         "s"}, /* the first of two is in the loop that is asked about, or there is nothing to say */
        /* before the inner loop and in it: as far apart as it has gone */
        {"%n: i32, %k: i32",
         "    %r:2 = scf.for %t = %c0 to %n step %c1 iter_args(%po = %c2, %co = %c0) -> (i32, i32) : i32 {\n" OP2(
             a, remsi, po, c3) "    %s:2 = scf.for %i = %c0 to %k step %c1 iter_args(%p = %po, %c = %co) -> (i32, i32) "
                               ": i32 {\n" OP2(b, remsi, c, c3) USE(a, b) BY(p, c1)
                                   BY(c, c1) "      scf.yield %pn, %cn : i32, i32\n    }" OUTER,
         ""},
        /* one after the other */
        {"%n: i32",
         "    %r:2 = scf.for %t = %c0 to %n step %c1 iter_args(%po = %c2, %co = %c0) -> (i32, i32) : i32 {\n"
         "      %pm = arith.addi %po, %c1 : i32\n      %cm = arith.addi %co, %c1 : i32\n"
         "      scf.yield %pm, %cm : i32, i32\n    }\n"
         "    %s:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %r#0, %c = %r#1) -> (i32, i32) : i32 {\n" MODULO3
             USE(a, b) BY(p, c1) BY(c, c1) "      scf.yield %pn, %cn : i32, i32\n    } {around}\n",
         "s13"},
        /* the outer loop adds one more to one of them */
        {"%n: i32, %k: i32",
         IN_OUTER(MODULO3 USE(a, b),
                  "\n    %s1 = arith.addi %s#1, %c1 : i32\n      scf.yield %s#0, %s1 : i32, i32\n    } {around}\n"),
         ""},
        {"%n: i32, %k: i32",
         IN_OUTER(MODULO3 USE(a, b),
                  "\n    %s1 = arith.addi %s#1, %c3 : i32\n      scf.yield %s#0, %s1 : i32, i32\n    } {around}\n"),
         "s"},
    };
    assert_proved(cases);
}

static void while_loops_and_regions(void **state) {
    (void)state;
#define WHILE(body, after)                                                                                   \
    "    %r:2 = scf.while (%p = %c2, %c = %c0) : (i32, i32) -> (i32, i32) {\n"                               \
    "      %more = arith.cmpi slt, %c, %n : i32\n      scf.condition(%more) %p, %c : i32, i32\n    } do {\n" \
    "    ^bb0(%q: i32, %d: i32):\n" body                                                                     \
    "      %qn = arith.addi %q, %c1 : i32\n      %dn = arith.addi %d, %c1 : i32\n"                           \
    "      scf.yield %qn, %dn : i32, i32\n    } attributes {around}\n" after
    static const Case cases[] = {
        {"%n: i32", WHILE(OP2(a, remsi, q, c3) OP2(b, remsi, d, c3) USE(a, b), ""), "s13"},
        {"%n: i32", WHILE("", "    %a = arith.remsi %r#0, %c3 : i32\n    %b = arith.remsi %r#1, %c3 : i32\n" USE(a, b)),
         "s"},
        /* a region that runs once */
        {"%n: i32",
         FOR2(c2, c0,
              "    %a = scf.execute_region -> i32 {\n      %x = arith.remsi %p, %c3 : i32\n"
              "      scf.yield %x : i32\n    }\n" OP2(b, remsi, c, c3) USE(a, b) BY(p, c1) BY(c, c1)),
         "s13"},
        {"%n: i32, %f: i1",
         FOR2(c2, c0,
              MODULO3 USE(a, b) "    %pn, %cn = scf.if %f -> (i32, i32) {\n      %x = arith.addi %p, %c1 : i32\n"
                                "      %y = arith.addi %c, %c1 : i32\n      scf.yield %x, %y : i32, i32\n"
                                "    } else {\n      scf.yield %p, %c : i32, i32\n    }\n"),
         "s"},
    };
    assert_proved(cases);
}

/* ---- Branches -------------------------------------------------------------------------------------------------------
 */

/* Two counters in a loop of branches; the body ends by going back from ^body. */
#define BRANCHES(p0, c0, body, after)                                                                 \
    "    cf.br ^head(%c0, %" #p0 ", %" #c0 " : i32, i32, i32)\n  ^head(%i: i32, %p: i32, %c: i32):\n" \
    "    %more = arith.cmpi slt, %i, %n : i32\n    cf.cond_br %more, ^body, ^end\n  ^body:\n" body    \
    "    %in = arith.addi %i, %c1 : i32\n    cf.br ^head(%in, %pn, %cn : i32, i32, i32) {around}\n  ^end:\n" after

static void loops_of_branches(void **state) {
    (void)state;
    static const Case cases[] = {
        {"%n: i32", BRANCHES(c2, c0, MODULO3 USE(a, b) BY(p, c1) BY(c, c1), ""), "s13"},
        {"%n: i32",
         BRANCHES(c2, c0, OP2(x, addi, p, c2) OP2(a, remsi, x, c3) OP2(b, remsi, p, c3) USE(a, b) BY(p, c1) BY(c, c1),
                  ""),
         "ps13"},
        {"%n: i32", BRANCHES(c2, c0, OP2(a, remsi, p, c3) OP2(b, remsi, i, c3) USE(a, b) BY(p, c1) BY(c, c1), ""),
         "s13"},
        /* after the loop its values are those of the last iteration */
        {"%n: i32", BRANCHES(c2, c0, BY(p, c1) BY(c, c1), MODULO3 USE(a, b)), "s13"},
        /* the wrap is plain where its base is bounded, and only beside another remainder */
        {"%n: i32", BRANCHES(c2, m1, WRAP(pn, p, c3) WRAP(cn, c, c3) USE(p, pn), ""), "s13"},
        {"%n: i32", BRANCHES(c2, m1, WRAP(pn, p, c3) WRAP(cn, c, c3) OP2(a, remsi, p, c3) USE(a, pn), ""), "ps13"},
        {"%n: i32", BRANCHES(c2, m1, WRAP(pn, p, c3) WRAP(cn, c, c3) OP2(a, remsi, c, c3) USE(a, cn), ""), "ps13"},
        {"%n: i32", BRANCHES(c2, c3, WRAP(pn, p, c3) WRAP(cn, c, c3) OP2(a, remsi, c, c3) USE(a, cn), ""), ""},
        {"%n: i32", BRANCHES(c2, n, WRAP(pn, p, c3) WRAP(cn, c, c3) OP2(a, remsi, c, c3) USE(a, cn), ""), ""},
        {"%n: i32", BRANCHES(c2, c0, WRAP(pn, p, c3) WRAP(x, c, c3) BY(c, c1) OP2(a, remsi, c, c3) USE(a, x), ""), ""},
        {"%n: i32", BRANCHES(c2, c4, WRAP(pn, p, c3) WRAP(cn, c, c3) USE(c, cn), ""), ""},
        {"%n: i32", BRANCHES(c2, c0, WRAP(pn, p, c3) WRAP(cn, c, c3) USE(p, c), ""), "s13"},
        /* several ways back, that move both alike or not */
        {"%n: i32, %f: i1",
         "    cf.br ^head(%c2, %c0 : i32, i32)\n  ^head(%p: i32, %c: i32):\n" MODULO3 USE(a, b) BY(p, c1)
             BY(c, c1) "    cf.cond_br %f, ^one, ^two\n  ^one:\n    cf.br ^head(%pn, %cn : i32, i32) {around}\n"
                       "  ^two:\n    cf.cond_br %f, ^head(%p, %c : i32, i32), ^end\n  ^end:\n",
         "s"},
        {"%n: i32, %f: i1",
         "    cf.br ^head(%c2, %c0 : i32, i32)\n  ^head(%p: i32, %c: i32):\n" MODULO3 USE(a, b) BY(p, c1)
             BY(c, c1) "    cf.cond_br %f, ^one, ^two\n  ^one:\n    cf.br ^head(%pn, %cn : i32, i32) {around}\n"
                       "  ^two:\n    cf.cond_br %f, ^head(%pn, %c : i32, i32), ^end\n  ^end:\n",
         ""},
        /* ways that come together, without a loop */
        {"%n: i32, %f: i1",
         "    %x = arith.addi %n, %c1 : i32\n    cf.cond_br %f, ^one, ^two\n  ^one:\n    cf.br ^join(%n, %x : i32, "
         "i32)\n"
         "  ^two:\n    cf.br ^join(%x, %n : i32, i32)\n  ^join(%p: i32, %c: i32):\n" OP2(b, addi, n, c2) USE(p, b),
         ""},
        {"%n: i32, %f: i1",
         "    %x = arith.addi %n, %c3 : i32\n    cf.cond_br %f, ^one, ^two\n  ^one:\n    cf.br ^join(%n : i32)\n"
         "  ^two:\n    cf.br ^join(%x : i32)\n  ^join(%p: i32):\n" OP2(y, addi, n, c1) OP2(a, remsi, p, c3)
             OP2(b, remsi, y, c3) USE(a, b),
         "s"},
        /* a loop that can be entered in two places: nothing is proved, not even of constants */
        {"%n: i32, %f: i1",
         "    cf.cond_br %f, ^one, ^two\n  ^one:\n" USE(c0, c1) "    cf.cond_br %f, ^two, ^end\n"
                                                                "  ^two:\n    cf.br ^one\n  ^end:\n",
         ""},
    };
    assert_proved(cases);
}

static void nested_loops_of_branches(void **state) {
    (void)state;
#define NEST(in, inner_mark, outer_mark, out)                                                                       \
    "    cf.br ^outer(%c0, %c2, %c0 : i32, i32, i32)\n  ^outer(%t: i32, %po: i32, %co: i32):\n"                     \
    "    %m = arith.cmpi slt, %t, %n : i32\n    cf.cond_br %m, ^start, ^end\n"                                      \
    "  ^start:\n    cf.br ^inner(%c0, %po, %co : i32, i32, i32)\n  ^inner(%i: i32, %p: i32, %c: i32):\n"            \
    "    %more = arith.cmpi slt, %i, %t : i32\n    cf.cond_br %more, ^body, ^last\n  ^body:\n" in                   \
    BY(p, c1)                                                                                                       \
        BY(c, c1) "    %in = arith.addi %i, %c1 : i32\n    cf.br ^inner(%in, %pn, %cn : i32, i32, i32) " inner_mark \
                  "\n  ^last:\n" out                                                                                \
                  "    %tn = arith.addi %t, %c1 : i32\n    cf.br ^outer(%tn, %p, %c : i32, i32, i32) " outer_mark   \
                  "\n  ^end:\n"
    static const Case cases[] = {
        {"%n: i32", NEST(MODULO3 USE(a, b), "{around}", "", ""), "s13"},
        {"%n: i32", NEST(MODULO3 USE(a, b), "", "{around}", ""), "s"},
        {"%n: i32", NEST("", "", "{around}", MODULO3 USE(a, b)), "s"},
        {"%n: i32", NEST("", "", "{around}", OP2(a, remsi, po, c3) OP2(b, remsi, co, c3) USE(a, b)), "s"},
        {"%n: i32", NEST("", "", "{around}", OP2(a, remsi, po, c3) OP2(b, remsi, c, c3) USE(a, b)), ""},
    };
    assert_proved(cases);
}

/* ---- Loops between two accesses -------------------------------------------------------------------------------------
 */

/* After how many trips, from 0 to 3, of the loop that was entered in between the two are told apart. */
static void assert_entered(const char *body, const char *expected) {
    Reading *reading = read_case("%n: i32", body);
    const Op *use = find_op(reading, "my.use", 0), *loop = loop_between(reading);
    Slots *slots = slots_in(reading);
    char found[5] = {0};
    for (int64_t trips = 0, count = 0; trips <= 3; trips++)
        if (slots_differ_on(slots, use->operands[0], use->operands[1], &(SlotsWay){.entered = {{loop, trips}}}, NULL))
            found[count++] = (char)('0' + trips);
    assert_string_equal(found, expected);
    done(reading);
}

static void what_a_loop_carries_is_known_at_first(void **state) {
    (void)state;
    assert_entered(FOR2(c2, c0, OP2(a, remsi, p, c3) USE(c1, a) BY(p, c1) BY(c, c1)), "013");
    assert_entered(FOR2(c2, c0, USE(c1, p) WRAP(pn, p, c3) BY(c, c1)), "013");
    /* one that is behind the other by an iteration */
    assert_entered(FOR2(c2, c0, USE(c1, c) BY(p, c1) OP2(cn, addi, p, c0)), "0");
    /* after the loop, where it ran so often; and what another loop makes of that */
    assert_entered(FOR2(c2, c0, BY(p, c1) BY(c, c1)) "    %a = arith.remsi %r#0, %c3 : i32\n" USE(c2, a), "12");
    assert_entered(FOR2(c2, c0,
                        BY(p, c1)
                            BY(c, c1)) "    %s = scf.for %k = %c0 to %n step %c1 iter_args(%x = %r#1) -> (i32) : i32 "
                                       "{\n" OP2(xn, addi, x, c3) OP2(a, remsi, x, c3)
                                           USE(c1, a) "      scf.yield %xn : i32\n    }\n",
                   "023");
}

/* Two iterations of a loop lie between its value and its result where it is used in the last but one. */
static void what_a_loop_leaves_is_of_its_last_iteration(void **state) {
    (void)state;
    Reading *reading = read_case("%n: i32", FOR2(c2, c0,
                                                 OP2(a, remsi, p, c3) USE(a, a) BY(p, c1)
                                                     BY(c, c1)) "    %b = arith.remsi %r#0, %c3 : i32\n" USE(b, b));
    Slots *slots = slots_in(reading);
    const Value *a = find_op(reading, "my.use", 0)->operands[0], *b = find_op(reading, "my.use", 1)->operands[0];
    const Op *loop = loop_between(reading);
    assert_true(slots_differ_after(slots, a, b, loop, 1, NULL));
    assert_true(slots_differ_after(slots, a, b, loop, 2, NULL));
    assert_false(slots_differ_after(slots, a, b, loop, 3, NULL));
    assert_false(slots_differ(slots, a, b, loop, SLOTS_STRONG, NULL));
    done(reading);
}

/* ---- Proofs ---------------------------------------------------------------------------------------------------------
 */

static void assert_proof(const char *body, int64_t iterations, const char *expected) {
    Reading *reading = read_case("%n: i32", body);
    const Op *use = find_op(reading, "my.use", 0), *around = loop_between(reading);
    Slots *slots = slots_in(reading);
    Text proof = {0};
    bool proved = iterations < 0
                      ? slots_differ(slots, use->operands[0], use->operands[1], around, SLOTS_STRONG, &proof)
                      : slots_differ_after(slots, use->operands[0], use->operands[1], around, iterations, &proof);
    text_char(&proof, 0);
    assert_true(proved);
    assert_string_equal(proof.data, expected);
    text_free(&proof);
    done(reading);
}

static void a_proof_names_the_loops_that_were_entered(void **state) {
    (void)state;
    Reading *reading = read_case("%n: i32", FOR2(c2, c0, USE(c0, p) WRAP(pn, p, c3) BY(c, c1)));
    const Op *use = find_op(reading, "my.use", 0), *loop = loop_between(reading);
    Slots *slots = slots_in(reading);
    static const char *const expected[] = {
        "%p = 0 + 2 when the loop at line 15 has not run yet",
        NULL,
        "%p = 0 + 4 plus a multiple of 3 when the loop at line 15 has run 2 iterations, and 4 is not a multiple of 3",
    };
    for (int64_t trips = 0; trips < 3; trips++) {
        Text proof = {0};
        SlotsWay way = {.entered = {{loop, trips}}};
        bool proved = slots_differ_on(slots, use->operands[0], use->operands[1], &way, &proof);
        text_char(&proof, 0);
        assert_int_equal(proved, expected[trips] != NULL);
        assert_string_equal(proof.data, proved ? expected[trips] : "");
        text_free(&proof);
    }
    done(reading);
}

static void a_proof_is_a_sentence(void **state) {
    (void)state;
    assert_proof(USE(c0, c1), 0, "the slots are always 0 and 1");
    assert_proof(OP2(x, addi, n, c2) OP2(a, remsi, x, c3) OP2(b, remsi, n, c3) USE(a, b), 0,
                 "%n + 2 and %n are 2 apart, and 2 is not a multiple of 3");
    assert_proof(OP2(r, remui, n, c3) WRAP(a, r, c3) USE(a, r), 0,
                 "%a = %r + 1 plus a multiple of 3, and 1 is not a multiple of 3");
    assert_proof(OP2(a, andi, n, c1) OP2(x, remui, n, c2) OP2(b, addi, x, c2) USE(a, b), 0,
                 "%a is never above 1, and %x + 2 never below 2");
    assert_proof(
        FOR2(c2, c0, MODULO3 USE(a, b) BY(p, c1) BY(c, c1)), 0,
        "%p = %c + 2 in every iteration of the loop at line 15 (both start there and advance by 1), and 2 is not a "
        "multiple of 3");
    assert_proof(FOR2(c2, c0, MODULO3 USE(a, b) BY(p, c1) BY(c, c1)), 1,
                 "%c in the next iteration of the loop at line 15 = %p - 1, and 1 is not a multiple of 3");
    assert_proof(FOR2(c2, c0, MODULO3 USE(a, b) BY(p, c1) BY(c, c1)), 3,
                 "%c 3 iterations of the loop at line 15 later = %p + 1, and 1 is not a multiple of 3");
    assert_proof(
        FOR2(c2, c0, USE(p, c) WRAP(pn, p, c3) WRAP(cn, c, c3)), 0,
        "%p = %c + 2 plus a multiple of 3 in every iteration of the loop at line 15, and 2 is not a multiple of 3");
    assert_proof(FOR2(c0, c0,
                      OP2(x, muli, i, c2) OP2(y, addi, x, c1) OP2(a, remsi, x, c4) OP2(b, remsi, y, c4) USE(a, b)
                          BY(p, c1) BY(c, c1)),
                 -1,
                 "%x + 1 any number of iterations of the loop at line 15 later = %x + 1 plus a multiple of 2, and 1 is "
                 "not a multiple of 2");
    assert_proof(FOR2(c0, c0, USE(p, p) BY(p, c1) BY(c, c1)), -1,
                 "%p advances by 1 in each iteration of the loop at line 15, and does not return to %p");
}

/* ---- Views ----------------------------------------------------------------------------------------------------------
 */

static void a_view_has_the_index_of_its_slot(void **state) {
    (void)state;
    Reading *reading = read_text(
        "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>\n"
        "#turned = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>\n"
        "#smem = #ttg.shared_memory\n!ring = !ttg.memdesc<3x32x16xf16, #shared, #smem, mutable>\n"
        "!tile = !ttg.memdesc<32x16xf16, #shared, #smem, mutable>\n"
        "module attributes {\"ttg.num-warps\" = 4 : i32} {\n  tt.func @kernel(%i: i32, %n: i32) {\n"
        "    %c0 = arith.constant 0 : i32\n    %c1 = arith.constant 1 : i32\n"
        "    %ring = ttg.local_alloc : () -> !ring\n"
        "    %slot = ttg.memdesc_index %ring[%i] : !ring -> !tile\n"
        "    %part = ttg.memdesc_subslice %slot[0, 0] : !tile -> !ttg.memdesc<16x16xf16, #shared, #smem, mutable, "
        "32x16>\n"
        "    %view = ttg.memdesc_trans %slot {order = array<i32: 1, 0>} : !tile -> !ttg.memdesc<16x32xf16, #turned, "
        "#smem, mutable>\n"
        "    \"my.use\"(%slot, %part, %view, %ring) : (!tile, !ttg.memdesc<16x16xf16, #shared, #smem, mutable, 32x16>, "
        "!ttg.memdesc<16x32xf16, #turned, #smem, mutable>, !ring) -> ()\n"
        "    %r = scf.for %k = %c0 to %n step %c1 iter_args(%carried = %slot) -> (!tile) : i32 {\n"
        "      \"my.carried\"(%carried) : (!tile) -> ()\n      scf.yield %carried : !tile\n    }\n"
        "    ttg.warp_specialize(%ring, %slot, %i)\n    default {\n      ttg.warp_yield\n    }\n"
        "    partition0(%ring2: !ring, %slot2: !tile, %i2: i32) num_warps(1) {\n"
        "      %other = ttg.memdesc_index %ring2[%i2] : !ring -> !tile\n"
        "      \"my.captured\"(%slot2, %other) : (!tile, !tile) -> ()\n      ttg.warp_return\n"
        "    } : (!ring, !tile, i32) -> ()\n    tt.return\n  }\n}\n");
    for (size_t i = 0; i < reading->diagnostics.count; i++)
        if (reading->diagnostics.items[i].severity == SEVERITY_ERROR)
            print_error("%u: %s\n", reading->diagnostics.items[i].place.line, reading->diagnostics.items[i].message);
    assert_true(reading->ok);
    const Op *use = find_op(reading, "my.use", 0), *inside = find_op(reading, "my.captured", 0);
    const Value *index = find_op(reading, "ttg.memdesc_index", 0)->operands[1];
    const Value *ring = find_op(reading, "ttg.local_alloc", 0)->results;
    for (unsigned i = 0; i < 3; i++) {
        assert_ptr_equal(slot_index(use->operands[i]), index);
        assert_ptr_equal(slot_ring(use->operands[i]), ring);
    }
    assert_null(slot_index(use->operands[3]));
    assert_null(slot_ring(use->operands[3]));
    assert_null(slot_index(find_op(reading, "my.carried", 0)->operands[0]));
    assert_ptr_equal(slot_index(inside->operands[0]), index);
    assert_ptr_equal(slot_index(inside->operands[1]), find_op(reading, "ttg.memdesc_index", 1)->operands[1]);
    assert_ptr_equal(slot_ring(inside->operands[1]), ring);
    done(reading);
}

/* ---- Hostile input --------------------------------------------------------------------------------------------------
 */

static void long_chains_and_deep_sums_end(void **state) {
    (void)state;
    enum { LENGTH = 20000 };
    Text text = {0};
    text_addf(&text, "module {\n  tt.func @kernel(%%x0: i32) {\n    %%one = arith.constant 1 : i32\n");
    for (unsigned i = 0; i < LENGTH; i++)
        text_addf(&text, "    %%x%u = arith.addi %%x%u, %%%s : i32\n", i + 1, i, i % 2 ? "one" : "x0");
    text_addf(&text, "    \"my.use\"(%%x%u, %%x%u) : (i32, i32) -> ()\n    tt.return\n  }\n}\n", LENGTH, LENGTH - 1);
    text_char(&text, 0);
    Reading *reading = read_text(text.data);
    assert_true(reading->ok);
    const Op *use = find_op(reading, "my.use", 0);
    Slots *slots = slots_in(reading);
    assert_true(slots_differ(slots, use->operands[0], use->operands[1], NULL, SLOTS_STRONG, NULL));
    text_free(&text);
    done(reading);
}

/* Blocks that all lead back to the first of them, each through all before it. */
static void many_branches_end(void **state) {
    (void)state;
    enum { BLOCKS = 4000 };
    Text text = {0};
    text_addf(&text, "module {\n  tt.func @kernel(%%f: i1, %%n: i32) {\n    cf.br ^b0(%%n : i32)\n");
    for (unsigned i = 0; i < BLOCKS; i++)
        text_addf(&text, "  ^b%u(%%x%u: i32):\n    cf.cond_br %%f, ^b%u(%%x%u : i32), ^b%u(%%x%u : i32)\n", i, i, i + 1,
                  i, i % 2 ? i / 2 : i, i);
    text_addf(&text, "  ^b%u(%%x%u: i32):\n    \"my.use\"(%%x%u, %%x0) : (i32, i32) -> ()\n    tt.return\n  }\n}\n",
              BLOCKS, BLOCKS, BLOCKS);
    text_char(&text, 0);
    Reading *reading = read_text(text.data);
    assert_true(reading->ok);
    const Op *use = find_op(reading, "my.use", 0);
    Slots *slots = slots_in(reading);
    assert_false(slots_differ(slots, use->operands[0], use->operands[1], NULL, SLOTS_STRONG, NULL));
    text_free(&text);
    done(reading);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_expressions),
        cmocka_unit_test(wraps),
        cmocka_unit_test(arithmetic),
        cmocka_unit_test(counters_keep_their_distance),
        cmocka_unit_test(rings),
        cmocka_unit_test(casts_in_loops),
        cmocka_unit_test(nested_loops),
        cmocka_unit_test(while_loops_and_regions),
        cmocka_unit_test(loops_of_branches),
        cmocka_unit_test(nested_loops_of_branches),
        cmocka_unit_test(what_a_loop_carries_is_known_at_first),
        cmocka_unit_test(what_a_loop_leaves_is_of_its_last_iteration),
        cmocka_unit_test(a_proof_names_the_loops_that_were_entered),
        cmocka_unit_test(a_proof_is_a_sentence),
        cmocka_unit_test(a_view_has_the_index_of_its_slot),
        cmocka_unit_test(long_chains_and_deep_sums_end),
        cmocka_unit_test(many_branches_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
