/* model/flow/origin: all allocations that a memory descriptor may be a part of. */
#include "running.h"

#include "model/flow/origin.h"

/* The names of what "my.use" uses may come from, sorted; "anything" if it is not known. */
static char *origins_named(Reading *reading, Origins find(Module *, const Op *, Arena *)) {
    Module *module = &reading->module;
    const Op *use = find_op(reading, "my.use", 0);
    assert_non_null(use);
    Origins origins = find(module, find_op(reading, "tt.func", 0), &module->arena);
    OriginSet set = origins_find(&origins, use->operands[0]);
    Text text = {0};
    for (uint32_t i = 0; i < set.count; i++) {
        const Origin *origin = &origins.items[set.items[i]];
        assert_ptr_equal(origin->value, origin->op ? &origin->op->results[0] : origin->argument);
        text_addf(&text, "%s%.*s", i ? " " : "", STR_ARG(origin->value->name->text));
    }
    if (set.anything)
        text_addf(&text, "%sanything", text.size ? " " : "");
    text_char(&text, 0);
    return text.data;
}

#define assert_origins(text, expected) assert_found(text, origins_of, expected)
static void assert_found(const char *text, Origins find(Module *, const Op *, Arena *), const char *expected) {
    Reading *reading = read_text(text);
    assert_true(reading->ok);
    char *found = origins_named(reading, find);
    assert_string_equal(found, expected);
    free(found);
    done(reading);
}

#define USE(value) "    \"my.use\"(%" #value ") : (!barrier) -> ()\n"
#define TWO                                       \
    "    %x = ttg.local_alloc : () -> !barrier\n" \
    "    %y = ttg.local_alloc : () -> !barrier\n"
#define IN_RING                                   \
    "    %ring = ttg.local_alloc : () -> !ring\n" \
    "    %slot = ttg.memdesc_index %ring[%c1] : !ring -> !barrier\n"

static void an_allocation_is_its_own(void **state) {
    (void)state;
    assert_origins(KERNEL("", TWO USE(y)), "y");
}

static void views_lead_back(void **state) {
    (void)state;
    assert_origins(KERNEL("", TWO IN_RING USE(slot)), "ring");
}

static void a_select_is_either(void **state) {
    (void)state;
    assert_origins(KERNEL("%c: i1", TWO "    %s = arith.select %c, %x, %y : !barrier\n" USE(s)), "x y");
}

static void a_view_can_be_the_end(void **state) {
    (void)state;
    const char *text = KERNEL("%c: i1", TWO IN_RING "    %s = arith.select %c, %x, %slot : !barrier\n" USE(s));
    assert_found(text, views_of, "x slot");
    assert_origins(text, "x ring");
}

static void loops_carry_several(void **state) {
    (void)state;
#define CARRY(use)                                                                                               \
    TWO "    %r:2 = scf.for %i = %c0 to %c2 step %c1 iter_args(%p = %x, %q = %y) -> (!barrier, !barrier) : i32 " \
        "{\n" use "      scf.yield %q, %p : !barrier, !barrier\n    }\n"
    assert_origins(KERNEL("", CARRY(USE(p))), "x y");
    assert_origins(KERNEL("", CARRY("") "    \"my.use\"(%r#1) : (!barrier) -> ()\n"), "x y");
#undef CARRY
}

static void branches_hand_over(void **state) {
    (void)state;
    assert_origins(KERNEL("%c: i1", TWO "    cf.cond_br %c, ^one(%x : !barrier), ^one(%y : !barrier)\n  ^one(%z: "
                                        "!barrier):\n" USE(z)),
                   "x y");
}

static void an_if_gives_one_of_two(void **state) {
    (void)state;
    assert_origins(KERNEL("%c: i1", TWO "    %z = scf.if %c -> (!barrier) {\n      scf.yield %x : !barrier\n    } else "
                                        "{\n      scf.yield %y : !barrier\n    }\n" USE(z)),
                   "x y");
}

static void captures_lead_out_of_a_partition(void **state) {
    (void)state;
    assert_origins(KERNEL("", TWO "    ttg.warp_specialize(%y)\n    default {\n      ttg.warp_yield\n    }\n"
                                  "    partition0(%z: !barrier) num_warps(1) {\n" USE(
                                      z) "      ttg.warp_return\n    } : (!barrier) -> ()\n"),
                   "y");
}

static void an_argument_is_an_origin(void **state) {
    (void)state;
    assert_origins(KERNEL("%z: !barrier", USE(z)), "z");
}

static void what_an_unknown_op_gives_is_anything(void **state) {
    (void)state;
    assert_origins(KERNEL("", "    %z = \"my.make\"() : () -> !barrier\n" USE(z)), "anything");
}

/* More than is kept. */
static void too_many_are_anything(void **state) {
    (void)state;
    Text text = {0};
    text_addf(&text, "%s", MODULE_OF(1, "  tt.func @kernel(%c: i1) {\n    %s0 = ttg.local_alloc : () -> !barrier\n"));
    text.size -= 2; /* the end of the module */
    for (int i = 1; i <= ORIGINS_MOST; i++)
        text_addf(
            &text,
            "    %%a%d = ttg.local_alloc : () -> !barrier\n    %%s%d = arith.select %%c, %%s%d, %%a%d : !barrier\n", i,
            i, i - 1, i);
    text_addf(&text, "    \"my.use\"(%%s%d) : (!barrier) -> ()\n    tt.return\n  }\n}\n", ORIGINS_MOST);
    text_char(&text, 0);
    Reading *reading = read_text(text.data);
    assert_true(reading->ok);
    char *found = origins_named(reading, origins_of);
    assert_non_null(strstr(found, "anything"));
    free(found);
    done(reading);
    text_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_allocation_is_its_own), cmocka_unit_test(views_lead_back),
        cmocka_unit_test(a_select_is_either),       cmocka_unit_test(a_view_can_be_the_end),
        cmocka_unit_test(loops_carry_several),      cmocka_unit_test(branches_hand_over),
        cmocka_unit_test(an_if_gives_one_of_two),   cmocka_unit_test(captures_lead_out_of_a_partition),
        cmocka_unit_test(an_argument_is_an_origin), cmocka_unit_test(what_an_unknown_op_gives_is_anything),
        cmocka_unit_test(too_many_are_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
