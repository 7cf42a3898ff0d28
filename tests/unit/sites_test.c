/* trace/sites: the table of what records are of says the same after it was written and read, and one that is damaged is
 * refused, or leads nowhere beyond its records. */
#include "ptx_launched.h"

#include "instrument/instrument.h"
#include "ptx/places.h"
#include "trace/shapes.h"

#include <stdlib.h>

/* A loop that counts, lanes by a table, a barrier by its number, a strong access that polls, variables, a call. */
static const char text[] =
    ".version 8.7\n.target sm_90a\n.address_size 64\n"
    ".shared .align 4 .b8 tile[4096];\n.shared .align 4 .b8 other[64];\n.global .u32 done;\n"
    ".func called(.reg .u64 %a) {\n.reg .u32 %r;\nld.global.u32 %r, [%a];\nret;\n}\n"
    ".visible .entry first(.param .u64 to) {\n.reg .u64 %d<2>;\nld.param.u64 %d0, [to];\nst.global.u32 [%d0], "
    "1;\nret;\n}\n"
    ".visible .entry k(.param .u64 from, .param .u64 to, .param .u32 n)\n.reqntid 64\n{\n"
    ".reg .u64 %d<8>;\n.reg .u32 %r<10>;\n.reg .pred %p<3>;\n"
    "ld.param.u64 %d0, [from];\nld.param.u64 %d1, [to];\nld.param.u32 %r0, [n];\nmov.u32 %r1, %tid.x;\n"
    "xor.b32 %r2, %r1, 5;\nshl.b32 %r3, %r2, 2;\ncvt.u64.u32 %d2, %r3;\nadd.u64 %d3, %d0, %d2;\n"
    "mov.u32 %r4, 0;\nmov.u32 %r5, tile;\nadd.u32 %r6, %r5, %r3;\n"
    "again:\nld.global.u32 %r7, [%d3];\nst.shared.u32 [%r6], %r7;\nbar.sync 1, 64;\nadd.u64 %d3, %d3, 256;\n"
    "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p0, %r4, %r0;\n@%p0 bra again;\n"
    "st.shared.u32 [other], %r7;\n"
    "waits:\nld.acquire.gpu.global.u32 %r8, [done];\nsetp.ne.u32 %p1, %r8, 1;\n@%p1 bra waits;\n"
    "atom.global.add.u32 %r9, [%d1], 1;\n{\n.param .b64 p;\n}\nret;\n}\n";

enum { KERNEL = 2 };
typedef struct Both {
    PtxModule module;
    Source *source;
    Diagnostics diagnostics;
    Sites made, read;
    Text table;
    Arena arena;
} Both;

static void open(Both *both) {
    const char *problem = NULL;
    InstrumentOptions options = {.spaces = RECORDING_EVERYWHERE, .keep_registers = true};
    *both = (Both){.source = source_copy("k.ptx", text, sizeof text - 1)};
    arena_init(&both->arena, SIZE_MAX);
    assert_true(ptx_read(&both->module, both->source, true, &both->diagnostics));
    assert_true(instrument_sites(&both->made, &both->module, &options, &problem));
    instrument_table(&both->module, KERNEL, (uint32_t[]){64, 1, 1}, &both->made, &both->table);
}

static void end(Both *both) {
    instrument_sites_free(&both->made);
    ptx_free(&both->module);
    diagnostics_free(&both->diagnostics);
    source_free(both->source);
    text_free(&both->table);
    arena_free(&both->arena);
}

static bool take(Both *both, Str bytes, const char **problem) {
    SiteText of = ptx_site_text(&both->module);
    return sites_read(&both->read, bytes, &of, &both->arena, problem);
}

static void test_says_the_same(void **state) {
    (void)state;
    Both both;
    const char *problem;
    Text again = {0};
    SiteText of;
    open(&both);
    of = ptx_site_text(&both.module);
    assert_true(take(&both, (Str){both.table.data, both.table.size}, &problem));
    assert_int_equal(both.read.count, both.made.count);
    assert_true(both.read.fits);
    assert_int_equal(both.read.shared_count, 2);
    assert_int_equal(both.read.globals_count, 1);
    unsigned foreign = 0, tables = 0, slots = 0, syncs = 0, polls = 0;
    for (uint32_t i = 0; i < both.read.count; i++) {
        const Site *site = &both.read.items[i];
        foreign += site->foreign;
        slots += site->slot_count;
        syncs += site->syncs == RECORD_SYNCS_NAMED && site->syncs_count.value == 64;
        polls += site->polls;
        for (unsigned k = 0; k < site->part_count; k++)
            tables += site->parts[k].shape == PART_TABLE;
        if (!site->foreign)
            assert_int_equal(site->statement, both.made.items[i].statement);
    }
    assert_true(foreign && tables && slots && syncs && polls); /* it has something of all */
    sites_write(&both.read, &of, &again);
    assert_int_equal(again.size, both.table.size);
    assert_memory_equal(again.data, both.table.data, again.size);
    RecordShape *shapes = site_shapes(&both.read, &both.arena);
    assert_true(site_shapes_fit(shapes, &both.read, 2));
    text_free(&again);
    end(&both);
}

static void test_damaged(void **state) {
    (void)state;
    Both both;
    const char *problem;
    open(&both);
    for (size_t cut = 0; cut < both.table.size; cut++)
        assert_false(take(&both, (Str){both.table.data, cut}, &problem));
    both.table.data[0]++;
    assert_false(take(&both, (Str){both.table.data, both.table.size}, &problem));
    assert_non_null(strstr(problem, "newer Weir"));
    both.table.data[0]--;
    for (size_t at = 1; at < both.table.size; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            both.table.data[at] ^= (char)(1 << bit);
            if (take(&both, (Str){both.table.data, both.table.size}, &problem))
                site_shapes_fit(site_shapes(&both.read, &both.arena), &both.read, 2);
            both.table.data[at] ^= (char)(1 << bit);
        }
    end(&both);
}

/* Every statement and operand has a place of its own, and is found there. */
static void test_places(void **state) {
    (void)state;
    Both both;
    open(&both);
    SiteText of = ptx_site_text(&both.module);
    for (uint32_t i = 0; i < both.module.statements_count; i++) {
        const PtxStatement *statement = &both.module.statements[i];
        assert_int_equal(of.at_place(of.module, SITE_STATEMENT, of.place(of.module, SITE_STATEMENT, i)), i);
        for (uint32_t k = 0; statement->kind == PTX_INSTRUCTION && k < statement->count; k++)
            assert_int_equal(
                of.at_place(of.module, SITE_OPERAND, of.place(of.module, SITE_OPERAND, statement->first + k)),
                statement->first + k);
    }
    assert_int_equal(of.at_place(of.module, SITE_STATEMENT, sizeof text), SITE_NONE);
    assert_int_equal(of.at_place(of.module, SITE_VARIABLE, both.module.variables_count), SITE_NONE);
    end(&both);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_says_the_same),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
