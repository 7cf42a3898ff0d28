/* The rows of ops/ptx.def: each is well-formed, takes the forms that it should, and says what they do. */
#include "ir/ptx_rows.h"
#include "model/effect/ptx_column.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* A form with the name of a row, of each group that has to be there the first word, and of group `chosen` the word of
 * that number; false: it has not so many. */
static bool form_with(const PtxRow *row, unsigned chosen, unsigned number, Text *to) {
    text_str(to, str_of(row->name));
    const char *at = row->modifiers;
    unsigned group = 0;
    for (size_t size; at += strspn(at, " "), (size = strcspn(at, " ")); at += size, group++) {
        const char *start = at + (*at == '>'), *equals = memchr(start, '=', size), *end = at + size;
        if (at[size - 1] == '?' && group != chosen)
            continue;
        start = equals && equals < end ? equals + 1 : start;
        for (unsigned skip = group == chosen ? number : 0; skip; skip--) {
            const char *bar = memchr(start, '|', (size_t)(end - start));
            if (!bar)
                return false;
            start = bar + 1;
        }
        text_char(to, '.');
        for (; *start && !strchr("|? ", *start); start++)
            text_char(to, *start == '#' ? '8' : *start);
    }
    return chosen < group;
}

static void shortest_form(const PtxRow *row, Text *to) {
    form_with(row, 1000, 0, to);
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

static bool effects_are_well_formed(const PtxRow *row, const Text *form) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    unsigned count;
    Str problem;
    bool good = ptx_effects(row, (Str){form->data, form->size}, effects, PTX_EFFECTS_MOST, &count, &problem);
    if (!good)
        print_message("%.*s: %.*s\n", (int)form->size, form->data, STR_ARG(problem));
    return good;
}

/* With each modifier that the row takes: a condition may bring in other words. */
static void every_effects_column_is_well_formed(void **state) {
    (void)state;
    unsigned wrong = 0, forms = 0;
    for (size_t i = 0; i < ptx_row_count(); i++) {
        bool more = true;
        for (unsigned group = 0; more; group++) {
            bool any = true;
            more = false;
            for (unsigned number = 0; any; number++) {
                Text form = {0};
                any = form_with(ptx_row_at(i), group, number, &form);
                more |= any;
                wrong += (any || (!group && !number)) && !effects_are_well_formed(ptx_row_at(i), &form);
                forms += any;
                text_free(&form);
            }
        }
    }
    assert_true(forms > 3000);
    assert_int_equal(wrong, 0);
}

/* What is not known of an instruction makes its kernel incomplete: of a call it is known what does it. */
static void no_row_does_anything(void **state) {
    (void)state;
    for (size_t i = 0; i < ptx_row_count(); i++)
        if (strstr(ptx_row_at(i)->effects, "anything"))
            fail_msg("%s: nobody says what it does", ptx_row_at(i)->name);
}

static unsigned effects_of_form(const char *form, PtxEffect *effects) {
    unsigned count;
    Str problem;
    const PtxRow *row = ptx_row_of(str_of(form), NULL);
    if (!row)
        fail_msg("%s has no row", form);
    assert_true(ptx_effects(row, str_of(form), effects, PTX_EFFECTS_MOST, &count, &problem));
    return count;
}

static PtxEffect only_effect(const char *form) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    assert_int_equal(effects_of_form(form, effects), 1);
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
    effect = only_effect("barrier.cluster.arrive.relaxed");
    assert_true(effect.effect.relaxed);
}

static void accesses_have_bytes(void **state) {
    (void)state;
    assert_int_equal(only_effect("ld.global.v4.b32").effect.count, 16);
    assert_int_equal(only_effect("st.shared.b16").effect.count, 2);
    assert_int_equal(only_effect("ld.shared.b128").effect.count, 16);
    assert_int_equal(only_effect("atom.global.add.noftz.f16x2").effect.count, 4);
    assert_int_equal(only_effect("multimem.ld_reduce.global.add.v4.e4m3x4").effect.count, 16);
    assert_int_equal(only_effect("tensormap.replace.tile.rank.global.b1024.b32").effect.count, 128);
    PtxEffect effects[PTX_EFFECTS_MOST];
    assert_int_equal(effects_of_form("ldmatrix.sync.aligned.m8n8.x2.shared.b16", effects), 2);
    assert_int_equal(effects[0].effect.count, 16);
    assert_int_equal(effects[0].lanes, 16);
    effects_of_form("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", effects);
    assert_int_equal(effects[0].lanes, 0);
    effects_of_form("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8", effects);
    assert_int_equal(effects[0].lanes, 16);
    assert_int_equal(effects_of_form("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32", effects), 2);
    assert_int_equal(effects[1].effect.verb, EFFECT_COMPLETE);
    assert_int_equal(effects[1].effect.count, 8);
}

/* Who has to run an instruction together; PTX_APART: nothing. */
static PtxTogether together(const char *form) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    unsigned count = effects_of_form(form, effects);
    for (unsigned i = 0; i < count; i++)
        if (effects[i].effect.verb == EFFECT_CONVERGED)
            return effects[i].together;
    return PTX_APART;
}

static void who_is_converged(void **state) {
    (void)state;
    assert_int_equal(together("bar.sync"), PTX_WARP);
    assert_int_equal(together("bar.red.popc.u32"), PTX_WARP);
    assert_int_equal(together("barrier.sync"), PTX_APART);
    assert_int_equal(together("barrier.sync.aligned"), PTX_WARP);
    assert_int_equal(together("barrier.cluster.wait.aligned"), PTX_WARP);
    assert_int_equal(together("barrier.cluster.wait"), PTX_APART);
    assert_int_equal(together("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"), PTX_WARP);
    assert_int_equal(together("wgmma.fence.sync.aligned"), PTX_WARPGROUP);
    assert_int_equal(together("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16"), PTX_WARPGROUP);
    assert_int_equal(together("setmaxnreg.inc.sync.aligned.u32"), PTX_WARPGROUP);
    assert_int_equal(together("tcgen05.wait::ld.sync.aligned"), PTX_WARP);
    assert_int_equal(together("tcgen05.mma.cta_group::1.kind::f16"), PTX_APART);
    assert_int_equal(together("shfl.sync.idx.b32"), PTX_APART);
    PtxEffect effect = only_effect("shfl.sync.idx.b32");
    assert_int_equal(effect.effect.verb, EFFECT_WARP_SYNC);
    assert_true(effect.effect.relaxed && str_is(effect.on, "mask"));
    assert_false(only_effect("bar.warp.sync").effect.relaxed);
}

static void barriers_say_how(void **state) {
    (void)state;
    PtxEffect effect = only_effect("mbarrier.try_wait.parity.shared.b64");
    assert_int_equal(effect.effect.verb, EFFECT_WAIT);
    assert_int_equal(effect.effect.order, ORDER_ACQUIRE);
    assert_int_equal(effect.effect.scope, SCOPE_CTA);
    assert_true(effect.effect.gives_up && str_is(effect.gives, "p") && str_is(effect.phase, "parity"));
    assert_true(only_effect("mbarrier.test_wait.shared.b64").by_state);
    assert_int_equal(only_effect("mbarrier.expect_tx.relaxed.cta.shared::cta.b64").effect.verb, EFFECT_EXPECT_BYTES);
    effect = only_effect("mbarrier.arrive_drop.noComplete.shared.b64");
    assert_true(effect.drops && effect.no_complete);
    effect = only_effect("mbarrier.arrive.release.cluster.shared::cluster.b64");
    assert_true(effect.any_cta);
    assert_int_equal(effect.effect.scope, SCOPE_CLUSTER);
    assert_true(only_effect("call.uni").callee);
}

static void fences_say_of_what(void **state) {
    (void)state;
    assert_true(only_effect("fence.sc.gpu").sequential);
    assert_false(only_effect("fence.acq_rel.gpu").sequential);
    assert_true(only_effect("fence.mbarrier_init.release.cluster").inits);
    PtxEffect effect = only_effect("fence.release.sync_restrict::shared::cta.cluster");
    assert_false(effect.inits);
    assert_int_equal(effect.effect.spaces, 1u << SPACE_SHARED);
    assert_int_equal(only_effect("fence.proxy.alias").effect.proxy, PROXY_ALIAS);
    assert_int_equal(only_effect("tcgen05.fence::before_thread_sync").effect.order, ORDER_RELEASE);
    assert_int_equal(only_effect("tex.2d.v4.f32.f32").effect.proxy, PROXY_TEXTURE);
}

static void tensor_cores_read_descriptors(void **state) {
    (void)state;
    PtxEffect effects[PTX_EFFECTS_MOST];
    assert_int_equal(effects_of_form("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16", effects), 3);
    assert_true(effects[0].effect.on_descriptor && effects[0].memory && str_is(effects[0].on, "a"));
    assert_int_equal(effects[1].effect.proxy, PROXY_ASYNC);
    assert_int_equal(effects[1].effect.group, GROUP_WGMMA);
    assert_int_equal(effects_of_form("tcgen05.mma.cta_group::1.kind::f16", effects), 3);
    assert_int_equal(effects_of_form("tcgen05.mma.cta_group::2.kind::mxf4.block_scale.scale_vec::2X", effects), 4);
    assert_true(effects[0].effect.pair && str_is(effects[2].on, ".."));
    assert_int_equal(effects[3].effect.done, DONE_COMMIT);
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
    assert_int_equal(ptx_opcode_acts(STR("shfl")), PTX_COMPUTES);
    assert_int_equal(ptx_opcode_acts(STR("mma")), PTX_COMPUTES);
    assert_int_equal(ptx_opcode_acts(STR("setmaxnreg")), PTX_COMPUTES);
    assert_int_equal(ptx_opcode_acts(STR("wgmma")), PTX_ACTS);
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
        cmocka_unit_test(no_row_does_anything),
        cmocka_unit_test(modifiers_decide_what_an_instruction_does),
        cmocka_unit_test(accesses_have_bytes),
        cmocka_unit_test(who_is_converged),
        cmocka_unit_test(barriers_say_how),
        cmocka_unit_test(fences_say_of_what),
        cmocka_unit_test(tensor_cores_read_descriptors),
        cmocka_unit_test(order_matters_only_where_it_means_something),
        cmocka_unit_test(opcodes_act_or_compute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
