/* What ops become on AMD targets: every row of the table, widths of copies, instructions of ops. */
#include "ir/op_ids.h"
#include "reading.h"

#include "model/target/amd.h"

#include <stdio.h>

#define HEAD                                                                                                   \
    "#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = " \
    "[1, 0]}>\n"                                                                                               \
    "#down = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [64, 1], warpsPerCTA = [1, 4], order = "   \
    "[1, 0]}>\n"                                                                                               \
    "#narrow = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 64], warpsPerCTA = [4, 1], order = " \
    "[1, 0]}>\n"                                                                                               \
    "#copied = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [1, 4], order = "  \
    "[1, 0]}>\n"                                                                                               \
    "#rows = #ttg.slice<{dim = 0, parent = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [32, 1], "  \
    "warpsPerCTA = [1, 4], order = [1, 0]}>}>\n"                                                               \
    "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>\n"                  \
    "#swizzled = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>\n"                \
    "#padded = #ttg.padded_shared<[512:+16] {order = [1, 0], shape = [64, 64]}>\n"                             \
    "#often = #ttg.padded_shared<[64:+8] {order = [1, 0], shape = [64, 64]}>\n"                                \
    "#smem = #ttg.shared_memory\n"

static const Target *target(const char *name) {
    const Target *found = target_named(str_of(name));
    assert_non_null(found);
    return found;
}

/* ---- Forms ---------------------------------------------------------------------------------------- */

static void test_every_row_is_well_formed(void **state) {
    static const char *const names[] = {"gfx942", "gfx950", "gfx1250"};
    (void)state;
    for (int id = 0; id < OP_COUNT; id++) {
        const OpRow *row = op_row_by_id((OpId)id);
        Op op = {.row = row, .name = row->name};
        for (size_t i = 0; i < 3; i++) {
            AmdForm form = amd_form_of(&op, target(names[i]));
            bool good = form.class == AMD_NONE      ? form.remark.size && !form.form.size
                        : form.class == AMD_NOTHING ? !*row->amd
                                                    : form.form.size > 0;
            if (!good)
                print_error("%.*s on %s: \"%s\"\n", (int)row->name.size, row->name.data, names[i], row->amd);
            assert_true(good);
        }
    }
}

static void assert_form(OpId id, const char *name, AmdClass class, const char *form, const char *remark) {
    Op op = {.row = op_row_by_id(id)};
    AmdForm found = amd_form_of(&op, target(name));
    assert_int_equal(found.class, class);
    assert_str_equal(found.form, form);
    assert_str_equal(found.remark, remark);
}

static void test_forms_by_target(void **state) {
    (void)state;
    assert_form(OP_ttg_local_load, "gfx942", AMD_EXACT, "ds_read", "");
    assert_form(OP_ttng_async_tma_store_wait, "gfx950", AMD_NONE, "", "there is no tensor data mover");
    assert_form(OP_ttng_async_tma_store_wait, "gfx1250", AMD_STAGE, "s_wait_tensorcnt",
                "it covers all that came before");
    assert_form(OP_ttg_async_wait, "gfx950", AMD_STAGE, "wait_asyncmark", "it covers all that came before");
    assert_form(OP_ttg_async_wait, "gfx1250", AMD_STAGE, "s_wait_asynccnt", "it covers all that came before");
    assert_form(OP_amdg_buffer_load_to_local, "gfx950", AMD_EXACT, "buffer_load to LDS, vmcnt", "");
    assert_form(OP_amdg_buffer_load_to_local, "gfx1250", AMD_NONE, "", "only global loads go to LDS there");
    assert_form(OP_arith_addi, "gfx942", AMD_NOTHING, "", "");
}

static void test_counters_by_target(void **state) {
    (void)state;
    assert_string_equal(amd_counter_name(amd_copy_queue(target("gfx942")), target("gfx942")), "vmcnt");
    assert_string_equal(amd_counter_name(amd_copy_queue(target("gfx1250")), target("gfx1250")), "asynccnt");
    assert_string_equal(amd_counter_name(QUEUE_TENSOR, target("gfx1250")), "tensorcnt");
    assert_int_equal(amd_counter_limit(QUEUE_LOAD, target("gfx950")), 63);
    assert_int_equal(amd_counter_limit(QUEUE_GROUPS, target("gfx950")), 0);
}

/* ---- Copies --------------------------------------------------------------------------------------- */

/* A copy of 64x64 elements of f16 with that layout into that buffer. */
static Reading *read_copy(const char *layout, const char *buffer, const char *attributes) {
    char text[4096];
    snprintf(text, sizeof text,
             HEAD
             "module attributes {\"ttg.num-warps\" = 4 : i32, \"ttg.threads-per-warp\" = 64 : i32} {\n"
             "tt.func @f(%%p: tensor<64x64x!tt.ptr<f16>, %s>, %%m: !ttg.memdesc<64x64xf16, %s, #smem, mutable>) {\n"
             "  ttg.async_copy_global_to_local %%p, %%m %s: tensor<64x64x!tt.ptr<f16>, %s> -> "
             "!ttg.memdesc<64x64xf16, %s, #smem, mutable>\n  tt.return\n}\n}\n",
             layout, buffer, attributes, layout, buffer);
    return read_good(text);
}

typedef struct WidthCase {
    const char *layout, *buffer, *attributes, *target;
    int64_t least, most;
    bool scattered;
    unsigned low, high;
} WidthCase;

static void test_widths(void **state) {
    static const WidthCase cases[] = {
        {"#blocked", "#shared", "", "gfx950", 4, 16, false, 2, 16},
        {"#blocked", "#shared", "{contiguity = 8 : i32} ", "gfx950", 16, 16, false, 2, 2},
        {"#blocked", "#shared", "{contiguity = 4 : i32} ", "gfx950", 4, 4, true, 8, 8},
        {"#blocked", "#shared", "", "gfx942", 4, 4, true, 8, 8},
        {"#blocked", "#shared", "{contiguity = 4 : i32} ", "gfx1250", 8, 8, false, 8, 8},
        {"#blocked", "#swizzled", "", "gfx950", 4, 16, false, 2, 16},
        {"#blocked", "#padded", "", "gfx950", 4, 16, false, 2, 16},
        {"#blocked", "#often", "", "gfx950", 4, 16, true, 2, 16},
        {"#down", "#shared", "", "gfx950", 4, 16, true, 2, 16},
        {"#narrow", "#shared", "", "gfx950", 0, 0, false, 0, AMD_MANY},
        {"#copied", "#shared", "{contiguity = 8 : i32} ", "gfx950", 16, 16, false, 0, 8},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const WidthCase *c = &cases[i];
        Reading *reading = read_copy(c->layout, c->buffer, c->attributes);
        const Op *op = find_op(reading, "ttg.async_copy_global_to_local", 0);
        AmdWidth width = amd_width_of(&reading->module, op, target(c->target));
        AmdCount counts[QUEUE_COUNT];
        amd_issues(&reading->module, op, target(c->target), counts);
        AmdCount count = counts[amd_copy_queue(target(c->target))];
        bool same = width.known && width.least == c->least && width.most == c->most &&
                    width.scattered == c->scattered && count.low == c->low && count.high == c->high;
        if (!same)
            print_error("case %zu: %d to %d bytes%s, %u to %u instructions\n", i, (int)width.least, (int)width.most,
                        width.scattered ? ", scattered" : "", count.low, count.high);
        assert_true(same);
        done(reading);
    }
}

/* ---- Other ops ------------------------------------------------------------------------------------ */

static void test_issues(void **state) {
    (void)state;
    Reading *reading = read_good(
        HEAD "!tile = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>\n"
             "!desc = !tt.tensordesc<64x64xf16, #shared>\n"
             "module attributes {\"ttg.num-warps\" = 4 : i32, \"ttg.threads-per-warp\" = 32 : i32} {\n"
             "tt.func @f(%d: !desc, %m: !tile, %r: tensor<64xi32, #rows>, %p: tensor<64x64x!tt.ptr<f16>, #blocked>) {\n"
             "  %t = amdg.async_tdm_copy_global_to_local %d into %m : !desc -> !tile\n"
             "  %g = amdg.async_tdm_gather %d[%r] to %m : tensor<64xi32, #rows>, !tile -> !desc\n"
             "  %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>\n"
             "  tt.store %p, %x : tensor<64x64x!tt.ptr<f16>, #blocked>\n"
             "  %c = ttg.async_commit_group\n"
             "  tt.return\n}\n}\n");
    AmdCount counts[QUEUE_COUNT];
    amd_issues(&reading->module, find_op(reading, "amdg.async_tdm_copy_global_to_local", 0), target("gfx1250"), counts);
    assert_int_equal(counts[QUEUE_TENSOR].low, 1);
    assert_int_equal(counts[QUEUE_MOVES].high, 1);
    assert_int_equal(counts[QUEUE_LOAD].high, 0);
    amd_issues(&reading->module, find_op(reading, "amdg.async_tdm_gather", 0), target("gfx1250"), counts);
    assert_int_equal(counts[QUEUE_TENSOR].low, 2); /* 16 rows a wave, 8 an instruction */
    assert_int_equal(counts[QUEUE_TENSOR].high, 2);
    amd_issues(&reading->module, find_op(reading, "tt.load", 0), target("gfx1250"), counts);
    assert_int_equal(counts[QUEUE_LOAD].high, AMD_MANY);
    assert_int_equal(counts[QUEUE_ASYNC].high, 0);
    amd_issues(&reading->module, find_op(reading, "tt.store", 0), target("gfx1250"), counts);
    assert_int_equal(counts[QUEUE_LOAD].high, 0); /* stores have a counter of their own */
    amd_issues(&reading->module, find_op(reading, "tt.store", 0), target("gfx950"), counts);
    assert_int_equal(counts[QUEUE_LOAD].high, AMD_MANY);
    amd_issues(&reading->module, find_op(reading, "ttg.async_commit_group", 0), target("gfx950"), counts);
    assert_int_equal(counts[QUEUE_GROUPS].low, 1);
    done(reading);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row_is_well_formed),
        cmocka_unit_test(test_forms_by_target),
        cmocka_unit_test(test_counters_by_target),
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_issues),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
