/* check/prove/promise: what follows from promises, and what does not; and random ones, whose launches are tried. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "check/prove/promise.h"

enum { NAMES = 4, MOST_TEXTS = 6 };
static const char *const names[NAMES] = {"M", "N", "K", "s"};

static uint64_t seed = 1;

static int64_t roll(int64_t from, int64_t to) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return from + (int64_t)((seed >> 33) % (uint64_t)(to - from + 1));
}

typedef struct Made {
    Arena arena;
    Proof proof;
    Condition where[MOST_TEXTS];
    Quantity arguments[NAMES], programs;
} Made;

static void begin(Made *made) {
    *made = (Made){.proof = {.names = names, .name_count = NAMES, .proved = true}};
    arena_init(&made->arena, 256 << 20);
    Quantities *quantities = &made->proof.quantities;
    quantities_init(quantities, &made->arena);
    quantities->parameters = names;
    for (uint32_t i = 0; i < NAMES; i++)
        made->arguments[i] = quantity_atom(quantities, &(QuantityAtom){.kind = ATOM_ARGUMENT, .of = i, .width = 32});
    made->programs = quantity_atom(quantities, &(QuantityAtom){.kind = ATOM_PROGRAMS, .axis = 1});
    made->proof.where = made->where;
}

static void ask(Made *made, ConditionKind kind, Quantity a, Quantity b) {
    Condition condition = {.kind = kind, .a = a, .b = b};
    condition.text = condition_text(&made->proof.quantities, &condition, "c");
    made->where[made->proof.where_count++] = condition;
}

static size_t read_all(Made *made, const char *text, Requirement *promises) {
    size_t count = 0, at;
    while (*text) {
        const char *end = strchr(text, ';');
        Str one = end ? str_between(text, end) : str_of(text);
        const char *problem = requirement_read(&made->arena, one, &promises[count++], &at);
        if (problem)
            fail_msg("%s: %s", text, problem);
        text = end ? end + 1 : text + strlen(text);
    }
    return count;
}

/* ---- Cases ---------------------------------------------------------------------------------------- */

static const struct {
    const char *promises, *where;
    bool follows;
} cases[] = {
    {"grid.y == 1", "grid.y == 1", true},
    {"grid.y <= 1", "grid.y == 1", true},
    {"grid.y < 3", "grid.y == 1", false},
    {"grid.x == 1", "grid.y == 1", false},
    {"grid.y == M; M == 1", "grid.y == 1", true},
    {"K % 64 == 0", "K % 64 == 0", true},
    {"K % 128 == 0", "K % 64 == 0", true},
    {"K % 32 == 0", "K % 64 == 0", false},
    {"K % 128 == 64", "K % 64 == 0", true},
    {"K % 64 == 1", "K % 64 == 0", false},
    {"K == 128", "K % 64 == 0", true},
    {"K == 64 * M", "K % 64 == 0", false}, /* products are not looked at */
    {"K % 64 == 0", "2 * K % 64 == 0", true},
    {"K % 16 == 0; M % 4 == 0", "M * K % 64 == 0", true},
    {"K % 16 == 0", "M * K % 64 == 0", false},
    {"K % 64 == 0; M % 64 == 0", "(K + M) % 64 == 0", true},
    {"K % 64 == 0; M % 64 == 1", "(K + M) % 64 == 0", false},
    {"s >= N", "s > N - 1", true},
    {"s > N", "s > N - 1", true},
    {"s == N", "s > N - 1", true},
    {"s == N + 3", "s > N - 1", true},
    {"s >= N - 1", "s > N - 1", false},
    {"s >= 100; N <= 100", "s > N - 1", true},
    {"s >= 100; N <= 101", "s > N - 1", false},
    {"N <= 100; s >= 2 * N", "s > N - 1", false}, /* N may be negative */
    {"1 <= N; s >= 2 * N", "s > N - 1", true},
    {"K >= 192", "(max(K, 0) + 63) // 64 >= 3", true},
    {"K >= 129", "(max(K, 0) + 63) // 64 >= 3", true},
    {"K >= 128", "(max(K, 0) + 63) // 64 >= 3", false},
    {"K // 64 >= 3", "(max(K, 0) + 63) // 64 >= 3", false}, /* of quotients, little is known */
    {"(max(K, 0) + 63) / 64 >= 3", "(max(K, 0) + 63) // 64 >= 3", true},
    {"K != 3", "K >= 4", false},
    {"other % 64 == 0", "K % 64 == 0", false},
    {"block.x == 1", "grid.y == 1", false},
    {"K == 1; K == 2", "grid.y == 1", false}, /* nothing follows from what no caller can keep */
    {"K % 4 == 0; K % 4 == 1", "K % 4 == 0", false},
    {"M > N; N > M", "grid.y == 1", false},
    {"grid.y == 0", "grid.y == 1", false},
};

/* The precondition of a text, in the kinds that proofs have. */
static void ask_text(Made *made, const char *text) {
    Requirement one;
    size_t at;
    assert_null(requirement_read(&made->arena, str_of(text), &one, &at));
    Quantities *quantities = &made->proof.quantities;
    Quantity m = made->arguments[0], n = made->arguments[1], k = made->arguments[2], s = made->arguments[3];
    Quantity c64 = quantity_constant(quantities, 64), zero = QUANTITY_ZERO;
    if (strcmp(text, "grid.y == 1") == 0)
        ask(made, CONDITION_EQUAL, made->programs, QUANTITY_ONE);
    else if (strcmp(text, "K % 64 == 0") == 0)
        ask(made, CONDITION_MULTIPLE, k, c64);
    else if (strcmp(text, "K % 4 == 0") == 0)
        ask(made, CONDITION_EQUAL, quantity_remainder(quantities, k, quantity_constant(quantities, 4)), zero);
    else if (strcmp(text, "2 * K % 64 == 0") == 0)
        ask(made, CONDITION_MULTIPLE, quantity_add(quantities, k, k, 1), c64);
    else if (strcmp(text, "M * K % 64 == 0") == 0)
        ask(made, CONDITION_MULTIPLE, quantity_multiply(quantities, m, k), c64);
    else if (strcmp(text, "(K + M) % 64 == 0") == 0)
        ask(made, CONDITION_MULTIPLE, quantity_add(quantities, m, k, 1), c64);
    else if (strcmp(text, "s > N - 1") == 0)
        ask(made, CONDITION_AT_LEAST, s, n);
    else if (strcmp(text, "K >= 4") == 0)
        ask(made, CONDITION_AT_LEAST, k, quantity_constant(quantities, 4));
    else if (strcmp(text, "(max(K, 0) + 63) // 64 >= 3") == 0)
        ask(made, CONDITION_AT_LEAST, quantity_trips(quantities, k, c64), quantity_constant(quantities, 3));
    else
        fail_msg("no precondition for %s", text);
}

static void what_follows(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Made made;
        Requirement promises[MOST_TEXTS];
        bool promised[MOST_TEXTS];
        begin(&made);
        ask_text(&made, cases[i].where);
        size_t count = read_all(&made, cases[i].promises, promises);
        proof_promised(&made.proof, promises, count, &made.arena, promised);
        if (promised[0] != cases[i].follows)
            fail_msg("%s: %s %s", cases[i].promises, cases[i].where, promised[0] ? "follows" : "does not follow");
        arena_free(&made.arena);
    }
}

/* ---- Strides -------------------------------------------------------------------------------------- */

/* "s > N - 1" of rows of N, and "strides of c nest" of three levels. */
static void strides(void **state) {
    (void)state;
    static const struct {
        const char *promises;
        bool two, three;
    } lines[] = {{"s > N - 1", true, false},         {"s >= N", true, false},
                 {"strides of c nest", false, true}, {"strides of d nest", false, false},
                 {"s >= N - 1", false, false},       {"strides  of c nest; s > N", true, true}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        Made made;
        Requirement promises[MOST_TEXTS];
        bool promised[MOST_TEXTS];
        begin(&made);
        Quantities *quantities = &made.proof.quantities;
        Quantity x = quantity_atom(quantities, &(QuantityAtom){.kind = ATOM_PROGRAM});
        Quantity lane = quantity_atom(quantities, &(QuantityAtom){.kind = ATOM_LANE, .extent = 64});
        Quantity last = quantity_add(quantities, made.arguments[1], QUANTITY_ONE, -1);
        NestLevel levels[] = {
            {made.arguments[3], {x, x}, {QUANTITY_NONE, QUANTITY_NONE}, {QUANTITY_NONE, QUANTITY_NONE}},
            {QUANTITY_ONE, {lane, lane}, {QUANTITY_NONE, QUANTITY_NONE}, {last, last}},
            {made.arguments[2], {lane, lane}, {QUANTITY_NONE, QUANTITY_NONE}, {QUANTITY_NONE, QUANTITY_NONE}}};
        for (uint32_t k = 2; k <= 3; k++) {
            Condition nest = {.kind = CONDITION_NEST, .levels = levels, .level_count = k};
            nest.text = condition_text(quantities, &nest, "c");
            made.where[made.proof.where_count++] = nest;
        }
        assert_string_equal(made.where[0].text, "s > N - 1");
        assert_string_equal(made.where[1].text, "strides of c nest");
        size_t count = read_all(&made, lines[i].promises, promises);
        assert_true(proof_promised(&made.proof, promises, count, &made.arena, promised));
        if (promised[0] != lines[i].two || promised[1] != lines[i].three)
            fail_msg("%s: %d %d", lines[i].promises, promised[0], promised[1]);
        arena_free(&made.arena);
    }
}

/* ---- Random ones ---------------------------------------------------------------------------------- */

/* A small sum of arguments, and the same as a text. */
static Quantity some_sum(Made *made, char *text) {
    Quantities *quantities = &made->proof.quantities;
    Quantity sum = QUANTITY_ZERO;
    *text = 0;
    for (int64_t terms = roll(1, 2); terms; terms--) {
        int64_t factor = roll(-2, 3), at = roll(0, NAMES - 1), add = roll(-3, 3);
        factor += !factor;
        sum = quantity_add(quantities, sum, made->arguments[at], factor);
        sum = quantity_add(quantities, sum, QUANTITY_ONE, add);
        sprintf(text + strlen(text), "%s%d * %s + %d", *text ? " + " : "", (int)factor, names[at], (int)add);
    }
    return sum;
}

static void some_where(Made *made) {
    char unused[200];
    Quantity a = some_sum(made, unused), b = some_sum(made, unused);
    int64_t kind = roll(0, 2);
    if (kind == 2)
        ask(made, CONDITION_MULTIPLE, a, quantity_constant(&made->proof.quantities, roll(2, 6)));
    else
        ask(made, kind ? CONDITION_AT_LEAST : CONDITION_EQUAL, a,
            roll(0, 1) ? b : quantity_constant(&made->proof.quantities, roll(-3, 6)));
}

static void some_promise(Made *made, Requirement *promise) {
    static const char *const signs[] = {"==", "<", "<=", ">", ">=", "!="};
    char text[600], side[2][200];
    size_t at;
    some_sum(made, side[0]);
    some_sum(made, side[1]);
    int64_t kind = roll(0, 3);
    if (kind == 0)
        sprintf(text, "(%s) %% %d == %d", side[0], (int)roll(2, 6), (int)roll(0, 1));
    else if (kind == 1)
        sprintf(text, "%s %% %d == %d", names[roll(0, NAMES - 1)], (int)roll(2, 12), (int)roll(0, 2));
    else if (kind == 2)
        sprintf(text, "%s %s %d", names[roll(0, NAMES - 1)], signs[roll(0, 5)], (int)roll(-4, 12));
    else
        sprintf(text, "%s %s %s", side[0], signs[roll(0, 5)], side[1]);
    const char *problem = requirement_read(&made->arena, str_of(text), promise, &at);
    if (problem)
        fail_msg("%s: %s", text, problem);
}

/* Arguments that are not negative, as proofs assume where they divide. */
static bool is_kept(const Requirement *promises, size_t count, const Launch *launch) {
    for (size_t i = 0; i < count; i++)
        if (promise_kept(&promises[i], NULL, launch) != PROMISE_KEPT)
            return false;
    return true;
}

/* No launch that keeps all promises breaks a precondition that is promised. */
static void launches_keep_what_follows(void **state) {
    (void)state;
    unsigned followed = 0, held = 0;
    for (unsigned n = 0; n < 3000; n++) {
        Made made;
        Requirement promises[MOST_TEXTS];
        bool promised[MOST_TEXTS];
        begin(&made);
        for (int64_t i = roll(1, 3); i; i--)
            some_where(&made);
        size_t count = (size_t)roll(1, 3);
        for (size_t i = 0; i < count; i++)
            some_promise(&made, &promises[i]);
        proof_promised(&made.proof, promises, count, &made.arena, promised);
        Argument arguments[NAMES];
        Launch launch = {.grid = {4, 1, 1}, .arguments = arguments, .count = NAMES};
        LaunchNumber room[NAMES];
        for (unsigned i = 0; i < made.proof.where_count; i++)
            followed += promised[i];
        for (unsigned tries = 0; tries < 200; tries++) {
            Interval atoms[MOST_ATOMS];
            for (unsigned i = 0; i < NAMES; i++)
                arguments[i] =
                    (Argument){.name = str_of(names[i]), .kind = ARGUMENT_INTEGER, .integer = roll(0, roll(2, 14))};
            if (!is_kept(promises, count, &launch))
                continue;
            LaunchNumbers numbers = launch_numbers(&launch, names, NAMES, room);
            quantities_at(&made.proof.quantities, &numbers, atoms);
            for (unsigned i = 0; i < made.proof.where_count; i++) {
                held += promised[i];
                if (promised[i] && !condition_holds(&made.proof.quantities, atoms, &made.where[i]))
                    fail_msg("%s does not hold at M = %d, N = %d, K = %d, s = %d, and was promised by %s, ...",
                             made.where[i].text, (int)arguments[0].integer, (int)arguments[1].integer,
                             (int)arguments[2].integer, (int)arguments[3].integer, promises[0].text);
            }
        }
        arena_free(&made.arena);
    }
    print_message("%u follow, held %u times\n", followed, held);
    assert_true(followed > 50 && held > 1500); /* the test tries something */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_follows), cmocka_unit_test(strides),
                                       cmocka_unit_test(launches_keep_what_follows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
