/* Parts of PTX: modules in a log, one kernel of a module, the operands that effects name. */
#include "ptx/effects.h"
#include "ptx/log.h"
#include "ptx/pick.h"
#include "ptx/reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- Logs ---------------------------------------------------------------------------------------- */

/* The texts that are found, each in brackets. */
static void assert_texts(const char *log, const char *expected) {
    Source *source = source_copy("log", log, strlen(log));
    PtxTexts texts = {0};
    Text found = {0};
    assert_true(ptx_log_find(source, &texts));
    for (uint32_t i = 0; i < texts.count; i++) {
        text_char(&found, '<');
        text_add(&found, log + texts.items[i].begin, texts.items[i].end - texts.items[i].begin);
        text_char(&found, '>');
    }
    text_char(&found, 0);
    assert_string_equal(found.data, expected);
    text_free(&found);
    free(texts.items);
    source_free(source);
}

#define HEAD ".version 8.7\n.target sm_90a\n"

static void logs_are_cut(void **state) {
    (void)state;
    assert_texts("", "");
    assert_texts("nothing here: .version 8.7\n", "");
    assert_texts(".version of the tool\n.target x\n", "");
    assert_texts(".version 8.7\nno target\n", "");
    assert_texts("start\n" HEAD ".entry k() { ret; }\n\nend\n", "<" HEAD ".entry k() { ret; }\n>");
    assert_texts(HEAD "a: line\n" HEAD, "<" HEAD "><" HEAD ">");
    assert_texts(HEAD HEAD, "<" HEAD "><" HEAD ">");
    assert_texts("x\n// made\n\n" HEAD, "<// made\n\n" HEAD ">");
    assert_texts("// -----// NVPTX Dump //----- //\n" HEAD "// -----// other\n.func\n", "<" HEAD ">");
    assert_texts(HEAD "/* } over\nlines */\n.file 1 \"a{b\"\nend", "<" HEAD "/* } over\nlines */\n.file 1 \"a{b\"\n>");
    /* In brackets anything goes on; outside, what a statement can go on with. */
    assert_texts(HEAD ".entry k(\n.param .u32 n\n)\n{\nadd: ret;\n}\nend",
                 "<" HEAD ".entry k(\n.param .u32 n\n)\n{\nadd: ret;\n}\n>");
    assert_texts(HEAD ".func (.param .b32 r)\n_f\n(\n)\n;\n/usr/lib: x\n",
                 "<" HEAD ".func (.param .b32 r)\n_f\n(\n)\n;\n>");
    assert_texts(HEAD ".func f()\n;\n(done)\n", "<" HEAD ".func f()\n;\n>");
}

/* ---- One kernel ------------------------------------------------------------------------------------ */

typedef struct Read {
    Source *source;
    PtxModule module;
    Diagnostics diagnostics;
} Read;

static Read *read_text(const char *text) {
    Read *read = calloc(1, sizeof *read);
    read->source = source_copy("test.ptx", text, strlen(text));
    bool good = ptx_read(&read->module, read->source, false, &read->diagnostics);
    if (!good)
        print_message("%s\n", read->diagnostics.items[0].message);
    assert_true(good);
    return read;
}

static void done(Read *read) {
    ptx_free(&read->module);
    diagnostics_free(&read->diagnostics);
    source_free(read->source);
    free(read);
}

static void assert_picked(const char *text, const char *kernel, const char *expected) {
    Read *read = read_text(text);
    Text found = {0};
    bool missing;
    bool *kept = ptx_pick(&read->module, str_of(kernel), &missing);
    if (kept)
        ptx_print_text(&read->module, kept, &found);
    else
        assert_true(missing);
    text_char(&found, 0);
    assert_string_equal(found.data, kept ? expected : "");
    assert_int_equal(kept != NULL, expected != NULL);
    free(kept);
    text_free(&found);
    done(read);
}

static void kernels_have_what_they_need(void **state) {
    (void)state;
    assert_picked(HEAD ".entry a() { ret; }\n.entry b() { ret; }\n", "a", HEAD ".entry a() { ret; }\n");
    assert_picked(HEAD ".entry a() { ret; }\n.entry b() { ret; }\n", "b", HEAD ".entry b() { ret; }\n");
    assert_picked(HEAD ".func a() { ret; }\n", "a", NULL);  /* it is no kernel */
    assert_picked(HEAD ".extern .entry a();\n", "a", NULL); /* it is not defined */
    /* Recursion, and functions that call each other. */
    assert_picked(
        HEAD ".func f();\n.func g() { call f; ret; }\n.func f() { call g; ret; }\n.func h() { ret; }\n"
             ".entry k() { call f; ret; }\n",
        "k", HEAD ".func f();\n.func g() { call f; ret; }\n.func f() { call g; ret; }\n.entry k() { call f; ret; }\n");
    /* A variable of a function has the name of one of the module. */
    assert_picked(HEAD ".global .u32 x;\n.entry k() { .reg .u32 x; mov.u32 x, 0; ret; }\n", "k",
                  HEAD ".entry k() { .reg .u32 x; mov.u32 x, 0; ret; }\n");
    /* Another name of a function. */
    assert_picked(HEAD ".func f() { ret; }\n.func g();\n.func h();\n.alias g, f;\n.alias h, f;\n"
                       ".entry k() { call g; ret; }\n",
                  "k", HEAD ".func f() { ret; }\n.func g();\n.alias g, f;\n.entry k() { call g; ret; }\n");
}

/* ---- Operands ---------------------------------------------------------------------------------------- */

static int place(const char *form, const char *name, unsigned count) {
    const PtxRow *row = ptx_row_of(str_of(form), NULL);
    assert_non_null(row);
    return ptx_operand_place(row, str_of(form), str_of(name), count);
}

static void operands_are_found_by_name(void **state) {
    (void)state;
    assert_int_equal(place("ld.global.b32", "d", 2), 0);
    assert_int_equal(place("ld.global.b32", "a", 2), 1);
    assert_int_equal(place("ld.global.b32", "policy", 2), -1);
    assert_int_equal(place("ld.global.L2::cache_hint.b32", "policy", 3), 2);
    assert_int_equal(place("ld.global.b32", "nothing", 2), -1);
    assert_int_equal(place("mbarrier.arrive.shared.b64", "bar", 2), 1);
    assert_int_equal(place("mbarrier.arrive.shared.b64", "n", 2), -1);
    assert_int_equal(place("mbarrier.arrive.shared.b64", "n", 3), 2);
    assert_int_equal(place("bar.sync", "threads", 1), -1);
    assert_int_equal(place("bar.sync", "threads", 2), 1);
    static const char load[] = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes";
    assert_int_equal(place(load, "mask", 3), -1);
    char multicast[160];
    snprintf(multicast, sizeof multicast, "%s.multicast::cluster.L2::cache_hint", load);
    assert_int_equal(place(multicast, "mask", 5), 3);
    assert_int_equal(place(multicast, "policy", 5), 4);
    assert_int_equal(place("cp.async.ca.shared.global", "source", 4), 3);
    assert_int_equal(place("cp.async.cg.shared.global.L2::cache_hint", "source", 4), -1);
    assert_int_equal(place("cp.async.cg.shared.global.L2::cache_hint", "policy", 4), 3);
}

/* An instruction that is in no row could do anything. */
static void unknown_instructions_do_anything(void **state) {
    (void)state;
    Read *read = read_text(".version 9.9\n.target sm_90a\n.entry k() { frobnicate.global; ret; }\n");
    PtxEffect effects[PTX_EFFECTS_MOST];
    unsigned found = 0;
    for (uint32_t i = 0; i < read->module.statements_count; i++) {
        const PtxStatement *statement = &read->module.statements[i];
        if (statement->kind == PTX_INSTRUCTION && ptx_effects_of(&read->module, statement, effects)) {
            assert_int_equal(effects[0].effect.verb, EFFECT_ANYTHING);
            found++;
        }
    }
    assert_int_equal(found, 1);
    done(read);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logs_are_cut),
        cmocka_unit_test(kernels_have_what_they_need),
        cmocka_unit_test(operands_are_found_by_name),
        cmocka_unit_test(unknown_instructions_do_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
