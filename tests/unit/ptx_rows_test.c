/* The rows of ops/ptx.def: each is well-formed, takes the forms that it should, and says what they do. */
#include "ir/ptx_rows.h"
#include "model/effect/ptx_column.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* A form with the name of a row, and of each group that has to be there the first word. */
static void shortest_form(const PtxRow *row, Text *to) {
    text_str(to, str_of(row->name));
    const char *at = row->modifiers;
    for (size_t size; at += strspn(at, " "), (size = strcspn(at, " ")); at += size) {
        const char *start = at + (*at == '>'), *equals = memchr(start, '=', size);
        if (at[size - 1] == '?')
            continue;
        start = equals ? equals + 1 : start;
        text_char(to, '.');
        for (; *start && !strchr("| ", *start); start++)
            text_char(to, *start == '#' ? '8' : *start);
    }
}

static void every_row_takes_its_shortest_form(void **state) {
    (void)state;
    unsigned wrong = 0;
    for (size_t i = 0; i < ptx_row_count(); i++) {
        Text form = {0};
        shortest_form(ptx_row_at(i), &form);
        bool known;
        const PtxRow *row = ptx_row_of((Str){form.data, form.size}, &known);
        if (!row) { /* another row may come before it, but one there must be */
            print_message("%s: %.*s\n", ptx_row_at(i)->name, (int)form.size, form.data);
            wrong++;
        }
        text_free(&form);
    }
    assert_true(ptx_row_count() > 150);
    assert_int_equal(wrong, 0);
}

static void every_evaluate_column_is_a_word(void **state) {
    (void)state;
    for (size_t i = 0; i < ptx_row_count(); i++)
        assert_int_not_equal(ptx_evaluator(ptx_row_at(i)), PTX_EVALUATORS);
}

static void every_effects_column_is_well_formed(void **state) {
    (void)state;
    unsigned wrong = 0;
    for (size_t i = 0; i < ptx_row_count(); i++) {
        const PtxRow *row = ptx_row_at(i);
        PtxEffect effects[8];
        unsigned count;
        Str problem;
        Text form = {0};
        shortest_form(row, &form);
        if (!ptx_effects(row, (Str){form.data, form.size}, effects, 8, &count, &problem)) {
            print_message("%s: %.*s\n", row->name, STR_ARG(problem));
            wrong++;
        }
        text_free(&form);
    }
    assert_int_equal(wrong, 0);
}

static PtxEffect only_effect(const char *form) {
    PtxEffect effects[4];
    unsigned count;
    Str problem;
    const PtxRow *row = ptx_row_of(str_of(form), NULL);
    assert_non_null(row);
    assert_true(ptx_effects(row, str_of(form), effects, 4, &count, &problem));
    assert_int_equal(count, 1);
    return effects[0];
}

static void modifiers_decide_what_an_instruction_does(void **state) {
    (void)state;
    PtxEffect effect = only_effect("ld.acquire.gpu.global.b32");
    assert_int_equal(effect.effect.verb, EFFECT_READ);
    assert_int_equal(effect.effect.space, SPACE_GLOBAL);
    assert_int_equal(effect.effect.order, ORDER_ACQUIRE);
    assert_int_equal(effect.effect.scope, SCOPE_GPU);
    assert_true(str_is(effect.on, "a"));
    effect = only_effect("ld.volatile.b32");
    assert_int_equal(effect.effect.order, ORDER_RELAXED);
    assert_int_equal(effect.effect.scope, SCOPE_SYS);
    assert_true(effect.memory);
    effect = only_effect("red.add.shared.u32");
    assert_int_equal(effect.effect.verb, EFFECT_UPDATE);
    assert_int_equal(effect.effect.space, SPACE_SHARED);
    assert_int_equal(effect.effect.scope, SCOPE_GPU);
    effect = only_effect("fence.sc.sys");
    assert_int_equal(effect.effect.verb, EFFECT_FENCE_ORDER);
    assert_int_equal(effect.effect.order, ORDER_ACQ_REL);
    effect = only_effect("cp.async.bulk.wait_group.read");
    assert_true(effect.effect.sources && str_is(effect.count, "n"));
    effect = only_effect("mbarrier.arrive.expect_tx.shared.b64");
    assert_int_equal(effect.effect.verb, EFFECT_EXPECT);
    effect = only_effect("barrier.cluster.arrive.relaxed.aligned");
    assert_true(effect.effect.relaxed);
}

static void order_matters_only_where_it_means_something(void **state) {
    (void)state;
    bool known;
    assert_non_null(ptx_row_of(STR("atom.u32.add.global"), NULL));
    assert_non_null(ptx_row_of(STR("cp.async.cg.shared.global"), NULL));
    assert_null(ptx_row_of(STR("cp.async.cg.global.shared"), &known));
    assert_true(known);
    assert_null(ptx_row_of(STR("membar.gpu"), &known));
    assert_true(known);
    assert_null(ptx_row_of(STR("membar.nowhere"), &known));
    assert_false(known);
    assert_null(ptx_row_of(STR("nothing.global"), &known));
    assert_false(known);
}

static void opcodes_act_or_compute(void **state) {
    (void)state;
    assert_int_equal(ptx_opcode_acts(STR("add")), PTX_COMPUTES);
    assert_int_equal(ptx_opcode_acts(STR("bra")), PTX_STEERS);
    assert_int_equal(ptx_opcode_acts(STR("call")), PTX_ACTS);
    assert_int_equal(ptx_opcode_acts(STR("mbarrier")), PTX_ACTS);
    assert_int_equal(ptx_opcode_acts(STR("frobnicate")), PTX_NO_ROW);
    unsigned number;
    assert_non_null(ptx_special(STR("%envreg31"), &number));
    assert_int_equal(number, 31);
    assert_null(ptx_special(STR("%envreg32"), &number));
    assert_null(ptx_special(STR("%envreg"), &number));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_takes_its_shortest_form),
        cmocka_unit_test(every_evaluate_column_is_a_word),
        cmocka_unit_test(every_effects_column_is_well_formed),
        cmocka_unit_test(modifiers_decide_what_an_instruction_does),
        cmocka_unit_test(order_matters_only_where_it_means_something),
        cmocka_unit_test(opcodes_act_or_compute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
