/* mlir/units: a file is cut into modules before anything is parsed. */
#include "reading.h"

#include <stdio.h>

/* The units of a text, one line each: its text, with '/' for line ends. */
static char *cut(const char *text, bool *dump) {
    Source *source = source_copy("t", text, strlen(text));
    Units units;
    assert_true(units_find(source, &units));
    Text lines = {0};
    for (size_t i = 0; i < units.count; i++) {
        const Unit *unit = &units.items[i];
        assert_true(unit->begin <= unit->end && unit->end <= source->size);
        for (size_t at = unit->begin; at < unit->end; at++)
            text_char(&lines, source->data[at] == '\n' ? '/' : source->data[at]);
        text_char(&lines, '\n');
    }
    text_char(&lines, 0);
    if (dump)
        *dump = units.dump;
    units_free(&units);
    source_free(source);
    return lines.data;
}

static void cuts_at_separators(void **state) {
    (void)state;
    static const struct {
        const char *text, *units;
    } cases[] = {
        /* Without separators a file is one unit, even an empty one. */
        {"module {\n}\n", "module {/}/\n"},
        {"", "\n"},
        {"// only a comment\n", "// only a comment/\n"},
        /* `// -----` parts the modules of a test; the line itself is in none of them. */
        {"a\n// -----\nb\n", "a/\nb/\n"},
        {"a\n// -----", "a/\n"},
        {"a\n// -----  \nb", "a/\nb\n"},
        {"a\r\n// -----\r\nb\r\n", "a\r/\nb\r/\n"},
        /* What holds nothing but spaces and comments is no unit. */
        {"// RUN: tool\n\n// -----\na\n// -----\n\n// text\n// -----\nb\n", "a/\nb/\n"},
        {"// -----\n// -----\n", ""},
        /* `//--- name` parts the files in a test. */
        {"//--- one.mlir\na\n//--- two.mlir\nb\n", "a/\nb/\n"},
        /* Also where the line was commented out once more. */
        {"a\n// // -----\nb\n", "a/\nb/\n"},
        /* Not at the start of a line, or shorter: a comment like any other. */
        {"a\n  // -----\nb\n", "a/  // -----/b/\n"},
        {"a // -----\nb\n", "a // -----/b/\n"},
        {"a\n// ----\nb\n", "a/// ----/b/\n"},
        {"a\n// ----- with words\nb", "a/// ----- with words/b\n"},
        {"a\n//---\nb\n", "a///---/b/\n"},
        /* The start of an alias or a module parts nothing outside a pass log. */
        {"#a = 1\nmodule {\n}\n#b = 1\nmodule {\n}\n", "#a = 1/module {/}/#b = 1/module {/}/\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool dump;
        char *units = cut(cases[i].text, &dump);
        assert_string_equal(units, cases[i].units);
        assert_false(dump);
        free(units);
    }
}

/* In a pass log the dumps are the units; what holds no line that starts IR is noise. */
static void cuts_a_pass_log(void **state) {
    (void)state;
    bool dump;
    char *units = cut("noise\n"
                      "// -----// IR Dump Before One (one) ('builtin.module' operation) //----- //\n"
                      "#loc = loc(unknown)\n"
                      "module {\n"
                      "}\n"
                      "\n"
                      "// -----// IR Dump After One (one) ('builtin.module' operation) //----- //\n"
                      "module {\n"
                      "}\n"
                      "// -----// IR Dump After Two Failed (two) //----- //\n"
                      "nothing was printed\n",
                      &dump);
    assert_string_equal(units, "#loc = loc(unknown)/module {/}//\n"
                               "module {/}/\n");
    assert_true(dump);
    free(units);
}

/* Two dumps without a line between them: an alias defined again, or another module, starts the next. */
static void cuts_dumps_that_follow_each_other(void **state) {
    (void)state;
    char *units = cut("// -----// IR Dump After One (one) //----- //\n"
                      "#loc = loc(unknown)\n"
                      "module {\n"
                      "  #loc = x\n"
                      "}\n"
                      "#loc = loc(unknown)\n"
                      "module {\n"
                      "}\n"
                      "module {\n"
                      "}\n"
                      "!t = i32\n"
                      "\"builtin.module\"() ({\n"
                      "}) : () -> ()\n",
                      NULL);
    assert_string_equal(units, "#loc = loc(unknown)/module {/  #loc = x/}/\n"
                               "#loc = loc(unknown)/module {/}/\n"
                               "module {/}/!t = i32/\n"
                               "\"builtin.module\"() ({/}) : () -> ()/\n");
    free(units);
}

static void takes_headers_apart(void **state) {
    (void)state;
    static const struct {
        const char *line, *when, *pass, *argument;
        bool dump;
    } cases[] = {
        {"// -----// IR Dump After TritonGPUPipeline (tritongpu-pipeline) ('builtin.module' operation) //----- //",
         "After", "TritonGPUPipeline", "tritongpu-pipeline", true},
        {"// -----// IR Dump Before Canonicalizer (canonicalize) ('builtin.module' operation) //----- //", "Before",
         "Canonicalizer", "canonicalize", true},
        {"// -----// IR Dump After SymbolDCE (symbol-dce) //----- //", "After", "SymbolDCE", "symbol-dce", true},
        {"// -----// IR Dump After {anonymous}::Pass ('tt.func' operation: @f) //----- //", "After",
         "{anonymous}::Pass", "", true},
        {"// -----// IR Dump After (anonymous namespace)::Pass (name) ('tt.func' operation) //----- //", "After",
         "(anonymous namespace)::Pass", "name", true},
        {"// -----// IR Dump Before: Inliner //----- //", "Before", "Inliner", "", true},
        {"// -----// IR Dump Sometimes Inliner //----- //", "", "", "", false},
        {"// -----", "", "", "", false},
        {"//--- part.mlir", "", "", "", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text text = {0};
        text_addf(&text, "%s\r\nmodule {}\n", cases[i].line);
        Source *source = source_copy("t", text.data, text.size);
        Units units;
        assert_true(units_find(source, &units));
        assert_int_equal(units.count, 1);
        assert_int_equal(units.dump, cases[i].dump);
        assert_str_equal(units.items[0].when, cases[i].when);
        assert_str_equal(units.items[0].pass, cases[i].pass);
        assert_str_equal(units.items[0].argument, cases[i].argument);
        if (cases[i].dump)
            assert_str_equal(units.items[0].header, cases[i].line);
        units_free(&units);
        source_free(source);
        text_free(&text);
    }
}

/* What a compiler writes between two dumps is skipped; the same text in a plain file is an error. */
static void noise_in_a_pass_log_is_skipped(void **state) {
    (void)state;
    static const char text[] = "[triton] some message: {\n"
                               "remark: 3 > 2\n"
                               "#loc = loc(\"a.py\":1:1)\n"
                               "module {\n"
                               "} loc(#loc)\n"
                               "\n"
                               "another \"message\n"
                               "tt.func private @f()\n"
                               "#map = affine_map<(d0) -> (d0)>\n"
                               "// the end\n";
    Reading *reading = read_text_with(text, (ReadOptions){.dump = true});
    assert_true(reading->ok);
    assert_int_equal(reading->diagnostics.count, 0);
    char *found = printed(reading, PRINT_AS_WRITTEN);
    assert_string_equal(found, "#loc = loc(\"a.py\":1:1)\n"
                               "module {\n"
                               "} loc(#loc)\n"
                               "tt.func private @f()\n"
                               "#map = affine_map<(d0) -> (d0)>\n");
    free(found);
    done(reading);
    assert_error(text, 1, 1, "expected an operation");
}

/* Offsets and places are those of the file, whichever unit is read. */
static void places_are_those_of_the_file(void **state) {
    (void)state;
    static const char text[] = "module {\n}\n// -----\n\nmodule {\n  wrong\n}\n// -----\nmodule {\n}\n";
    Source *source = source_copy("t", text, sizeof text - 1);
    Units units;
    assert_true(units_find(source, &units));
    assert_int_equal(units.count, 3);
    Module module;
    Diagnostics diagnostics = {0};
    assert_false(read_unit(&module, source, &units.items[1], (ReadOptions){0}, &diagnostics));
    assert_int_equal(diagnostics.count, 1);
    assert_string_equal(diagnostics.items[0].message, "'wrong' is not an operation");
    assert_int_equal(diagnostics.items[0].place.line, 6);
    assert_int_equal(diagnostics.items[0].place.column, 3);
    module_free(&module);
    diagnostics_free(&diagnostics);
    units_free(&units);
    source_free(source);
}

/* "pass|argument|compilation|named|synced" of each unit. */
static char *passes(const char *text) {
    Source *source = source_copy("t", text, strlen(text));
    Units units;
    assert_true(units_find(source, &units));
    Text lines = {0};
    for (size_t i = 0; i < units.count; i++) {
        const Unit *unit = &units.items[i];
        text_addf(&lines, "%.*s|%.*s|%u|%d|%d\n", STR_ARG(unit->pass), STR_ARG(unit->argument), unit->compilation,
                  unit->named, unit->synced);
    }
    text_char(&lines, 0);
    units_free(&units);
    source_free(source);
    return lines.data;
}

#define BEFORE(pass) "// -----// IR Dump Before " pass " ('builtin.module' operation) //----- //\n"
#define DUMP(name)   "module {\n  tt.func public @" name "(%a: i32) {\n    tt.return\n  }\n}\n"
#define LOWERED      "module {\n  llvm.func @lowered()\n}\n"

static void reads_headers_of_every_release(void **state) {
    (void)state;
    static const struct {
        const char *header, *found;
    } cases[] = {
        {BEFORE("AllocateSharedMemoryNv (allocate-shared-memory-nv)"),
         "AllocateSharedMemoryNv|allocate-shared-memory-nv|0|0|0\n"},
        {BEFORE("AllocateSharedMemoryNv: allocate-shared-memory-nv{compute-capability=90 ptx-version=94}"),
         "AllocateSharedMemoryNv|allocate-shared-memory-nv|0|1|0\n"},
        {BEFORE("CSEPass: cse"), "CSEPass|cse|0|1|0\n"},
        {BEFORE("(anonymous namespace)::Verify: unknown<(anonymous namespace)::Verify>"),
         "(anonymous namespace)::Verify|unknown|0|1|0\n"},
        {BEFORE("(anonymous namespace)::Other (other)"), "(anonymous namespace)::Other|other|0|0|0\n"},
        {"// -----// SoftwarePipeliner internal IR Dump After: LowerLoops\n", "LowerLoops||0|0|0\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        snprintf(text, sizeof text, "%s%s", cases[i].header, DUMP("a"));
        char *found = passes(text);
        assert_string_equal(found, cases[i].found);
        free(found);
    }
}

/* One ends where its kernel is lowered, or where another kernel comes. */
static void parts_compilations(void **state) {
    (void)state;
    char *found = passes(BEFORE("A: a") DUMP("one") BEFORE("B: b") DUMP("one") BEFORE("A: a") DUMP("two") BEFORE("L: l")
                             LOWERED BEFORE("M: m") LOWERED BEFORE("A: a") DUMP("two"));
    assert_string_equal(found, "A|a|0|1|0\nB|b|0|1|0\nA|a|1|1|0\nL|l|1|1|0\nM|m|1|1|0\nA|a|2|1|0\n");
    free(found);
}

/* Behind the pass that puts barriers in, up to the end of the compilation. */
static void knows_where_barriers_are_in(void **state) {
    (void)state;
    char *found = passes(BEFORE("Alloc: alloc") DUMP("one") BEFORE("M: triton-nvidia-gpu-membar{ptx=1}") DUMP("one")
                             BEFORE("W: wait") DUMP("one") BEFORE("Alloc: alloc") DUMP("two"));
    assert_string_equal(found, "Alloc|alloc|0|1|0\nM|triton-nvidia-gpu-membar|0|1|0\nW|wait|0|1|1\n"
                               "Alloc|alloc|1|1|0\n");
    free(found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_at_separators),
        cmocka_unit_test(cuts_a_pass_log),
        cmocka_unit_test(cuts_dumps_that_follow_each_other),
        cmocka_unit_test(takes_headers_apart),
        cmocka_unit_test(noise_in_a_pass_log_is_skipped),
        cmocka_unit_test(places_are_those_of_the_file),
        cmocka_unit_test(reads_headers_of_every_release),
        cmocka_unit_test(parts_compilations),
        cmocka_unit_test(knows_where_barriers_are_in),
    };
    return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
