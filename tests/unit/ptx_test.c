/* PTX modules: every text of tests/ptx/cases.tsv is taken or refused as ptxas does; names, scopes, operands and values
 * are what they should be; what is printed is what was read. */
#include "ptx/edit.h"
#include "ptx/print.h"
#include "ptx/reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct Read {
    Source *source;
    PtxModule module;
    Diagnostics diagnostics;
    bool good;
} Read;

static Read read_text(const char *text, size_t size) {
    Read read = {.source = source_copy("test.ptx", text, size)};
    assert_non_null(read.source);
    read.good = ptx_read(&read.module, read.source, false, &read.diagnostics);
    return read;
}

static void done(Read *read) {
    ptx_free(&read->module);
    diagnostics_free(&read->diagnostics);
    source_free(read->source);
}

#define HEAD ".version 8.7\n.target sm_90a\n.address_size 64\n"
#define REGISTERS                                                                                             \
    ".reg .pred %p<8>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<8>;\n.shared .align 16 .b8 sm[256];\n" \
    "ld.param.u64 %rd1, [p0];\n"
#define BODY_START \
    HEAD ".file 1 \"x.c\"\n.func f(.param .b32 a) { ret; }\n.visible .entry k(.param .u64 p0)\n{\n" REGISTERS
#define BODY_END "\nret;\n}\n"

static Read read_body(const char *body) {
    Text text = {0};
    text_str(&text, STR(BODY_START));
    text_str(&text, str_of(body));
    text_str(&text, STR(BODY_END));
    Read read = read_text(text.data, text.size);
    text_free(&text);
    if (!read.good)
        print_message("%s: %s\n", body, read.diagnostics.items[0].message);
    return read;
}

/* The instruction before the final ret. */
static const PtxStatement *last(const Read *read) {
    uint32_t at = read->module.statements_count - 3;
    while (read->module.statements[at].kind != PTX_INSTRUCTION)
        at--;
    return &read->module.statements[at];
}

static const PtxOperand *operand(const Read *read, unsigned index) {
    uint32_t count;
    const PtxOperand *at = ptx_operands(&read->module, last(read), &count);
    while (index--)
        at += ptx_extent(at);
    return at;
}

/* ---- Cases ------------------------------------------------------------------------------------------ */

static void unescape(const char *at, Text *to) {
    for (; *at; at++) {
        unsigned code;
        if (at[0] == '\\' && strchr("nrt", at[1]) && at[1]) {
            text_char(to, at[1] == 'n' ? '\n' : at[1] == 'r' ? '\r' : '\t');
            at++;
        } else if (at[0] == '\\' && at[1] == 'x' && sscanf(at + 2, "%2x", &code) == 1) {
            text_char(to, (char)code);
            at += 3;
        } else {
            text_char(to, *at);
        }
    }
}

static void texts_are_taken_and_refused_as_ptxas_does(void **state) {
    (void)state;
    char line[4096];
    unsigned cases = 0, wrong = 0;
    FILE *file = fopen("tests/ptx/cases.tsv", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        char *where = strchr(line, '\t'), *text = where ? strchr(where + 1, '\t') : NULL;
        if (*line == '#' || !text)
            continue;
        *where++ = *text++ = 0;
        text[strcspn(text, "\n")] = 0;
        Text all = {0};
        bool whole = strcmp(where, "file") == 0, top = strcmp(where, "top") == 0;
        text_str(&all, str_of(whole ? "" : top ? HEAD : BODY_START));
        unescape(text, &all);
        text_str(&all, str_of(whole ? "" : top ? "\n.visible .entry k() { ret; }\n" : BODY_END));
        Read read = read_text(all.data, all.size);
        if (read.good != (strcmp(line, "accepted") == 0)) {
            print_message("%s: %s\n", line, text);
            wrong++;
        }
        cases++;
        done(&read);
        text_free(&all);
    }
    fclose(file);
    assert_true(cases > 150);
    assert_int_equal(wrong, 0);
}

/* ---- Structure ---------------------------------------------------------------------------------------- */

static void the_module_says_what_it_is_for(void **state) {
    (void)state;
    Read read = read_body("");
    assert_true(read.good);
    assert_int_equal(read.module.version, 87);
    assert_int_equal(read.module.capability, 90);
    assert_int_equal(read.module.variant, 'a');
    assert_int_equal(read.module.functions_count, 2);
    assert_true(read.module.functions[1].entry);
    assert_true(str_is(ptx_name(&read.module, read.module.functions[1].name), "k"));
    assert_int_equal(read.module.functions[1].instructions, 2);
    done(&read);
}

static void registers_are_found_in_the_innermost_scope(void **state) {
    (void)state;
    Read read = read_body("{ .reg .pred %p1; { mov.pred %p1, %p2; } }");
    assert_true(read.good);
    const PtxOperand *inner = operand(&read, 0), *outer = operand(&read, 1);
    assert_false(read.module.variables[inner->a].ranged);
    assert_true(read.module.variables[outer->a].ranged);
    assert_int_equal(outer->value, 2);
    done(&read);
    read = read_body("{ .reg .pred %p1; } mov.pred %p1, %p2;");
    assert_true(read.module.variables[operand(&read, 0)->a].ranged);
    done(&read);
}

static void labels_are_those_of_the_scope(void **state) {
    (void)state;
    Read read = read_body("a: { a: bra a; }");
    assert_true(read.good);
    const PtxOperand *to = operand(&read, 0);
    assert_int_equal(to->kind, PTX_TARGET);
    assert_ptr_equal(&read.module.statements[to->a], last(&read) - 1);
    done(&read);
    read = read_body("a: { bra a; }");
    assert_ptr_equal(&read.module.statements[operand(&read, 0)->a], last(&read) - 2);
    done(&read);
}

static int64_t value_of(const char *expression) {
    char text[200];
    snprintf(text, sizeof text, "mov.u64 %%rd2, %s;", expression);
    Read read = read_body(text);
    assert_true(read.good);
    assert_int_equal(operand(&read, 1)->kind, PTX_INTEGER);
    int64_t value = operand(&read, 1)->value;
    done(&read);
    return value;
}

static void constants_are_evaluated(void **state) {
    (void)state;
    assert_int_equal(value_of("0777"), 0777);
    assert_int_equal(value_of("0b101"), 5);
    assert_int_equal(value_of("0x10U"), 16);
    assert_int_equal(value_of("(3*4)+1"), 13);
    assert_int_equal(value_of("1?2:3"), 2);
    assert_int_equal(value_of("0?2:1?4:5"), 4);
    assert_int_equal(value_of("1 << 3 | 1"), 9);
    assert_int_equal(value_of("7 - 2 - 1"), 4);
    assert_int_equal(value_of("-7 / 2"), -3);
    assert_int_equal(value_of("~1"), -2);
    assert_int_equal(value_of("!1 == 0 && 3 >= 2"), 1);
    assert_int_equal(value_of("-8 >> 1"), -4);
    assert_int_equal(value_of("0xffffffffffffffff >> 63"), 1);
    assert_int_equal(value_of("WARP_SZ * 2"), 64);
    Read read = read_body("mov.f32 %f1, 1.5+1.5;");
    assert_int_equal(operand(&read, 1)->kind, PTX_DOUBLE);
    assert_int_equal(operand(&read, 1)->bits, UINT64_C(0x4008000000000000));
    done(&read);
    read = read_body("mov.f32 %f1, 0f3F800000;");
    assert_int_equal(operand(&read, 1)->kind, PTX_SINGLE);
    assert_int_equal(operand(&read, 1)->bits, 0x3F800000);
    done(&read);
}

static void operands_are_trees(void **state) {
    (void)state;
    Read read = read_body("@!%p3 ld.shared.v4.u32 {%r1, _, %r2, %r3}, [sm+(4*3)];");
    assert_true(read.good);
    assert_int_equal(last(&read)->flags, PTX_GUARDED | PTX_NEGATED);
    assert_int_equal(read.module.operands[last(&read)->first].value, 3);
    const PtxOperand *vector = operand(&read, 0), *address = operand(&read, 1);
    assert_int_equal(vector->kind, PTX_VECTOR);
    assert_int_equal(vector->a, 4);
    assert_int_equal(vector[2].kind, PTX_SINK);
    assert_int_equal(address->kind, PTX_ADDRESS);
    assert_int_equal(address->value, 12);
    assert_int_equal(address[1].kind, PTX_VARIABLE);
    done(&read);
    read = read_body("setp.eq.and.u32 %p1|_, %r1, 0, !%p3;");
    assert_int_equal(operand(&read, 0)->kind, PTX_PAIR);
    assert_int_equal(operand(&read, 3)->negated, 1);
    done(&read);
    read = read_body("mov.u32 %r1, %ctaid.z; mov.u32 %r1, %envreg31;");
    assert_int_equal(operand(&read, 1)->kind, PTX_SPECIAL);
    assert_int_equal(operand(&read, 1)->value, 31);
    done(&read);
}

static void forms_have_rows(void **state) {
    (void)state;
    Read read = read_body("atom.u32.add.global %r1, [%rd1], 1;");
    const PtxForm *form = &read.module.forms[last(&read)->what];
    assert_non_null(form->row);
    assert_string_equal(form->row->name, "atom");
    assert_true(str_is(ptx_form_modifier(form->row, form->text, STR("op")), "add"));
    assert_int_equal(read.module.without_row, 0);
    done(&read);
    read = read_body("frobnicate.sync.b32 %r1, %r2;");
    assert_false(read.good); /* the table has all of the module's own ISA */
    done(&read);
    read = read_body("cctl.inv [%rd1];");
    assert_true(read.good); /* an opcode of ptxas that the ISA does not tell of: it is read, and counted */
    assert_int_equal(read.module.without_row, 1);
    done(&read);
    static const char later[] = ".version 9.9\n.target sm_90a\n.entry k()\n{\n.reg .b32 %r<3>;\n"
                                "frobnicate.sync.b32 %r1, %r2;\nret;\n}\n";
    read = read_text(later, sizeof later - 1);
    assert_true(read.good); /* of a later ISA, perhaps: it is read, and counted */
    assert_int_equal(read.module.without_row, 1);
    assert_int_equal(read.diagnostics.notes, 1);
    done(&read);
    read = read_body("frobnicate.sync.b32 %r1, %r2;");
    assert_false(read.good); /* PTX 8.7 has no such word */
    done(&read);
}

static void places_go_through_what_was_inlined(void **state) {
    (void)state;
    static const char text[] =
        HEAD ".entry k()\n{\n\t.loc 1 10 2\n\t.loc 2 20 4, function_name $S0, inlined_at 1 10 2\n"
             "\tret;\n}\n.file 1 \"a.cu\"\n.file 2 \"b.h\"\n"
             ".section .debug_str\n{\n$S0:\n.b8 104,105\n.b8 0\n}\n";
    Read read = read_text(text, sizeof text - 1);
    assert_true(read.good);
    PtxPlace places[4];
    uint32_t at = 0;
    while (read.module.statements[at].kind != PTX_INSTRUCTION)
        at++;
    assert_int_equal(ptx_places(&read.module, at, places, 4), 2);
    assert_true(str_is(places[0].file, "b.h") && str_is(places[0].function, "hi"));
    assert_int_equal(places[0].line, 20);
    assert_true(str_is(places[1].file, "a.cu") && !places[1].function.size);
    assert_int_equal(places[1].column, 2);
    done(&read);
}

/* ---- Errors --------------------------------------------------------------------------------------------- */

static void reading_goes_on_after_an_error(void **state) {
    (void)state;
    static const char text[] = HEAD ".global .u32 g[2] = {1, oops};\n.entry k()\n{\n\t.reg .b32 %r<4>;\n"
                                    "\tadd.u32 %r1, %r2;\n\tmov.b32 {%r1, %r9}, %r2;\n\tbra nowhere;\n\tret;\n}\n"
                                    ".entry broken(.param .nothing a)\n{\n\tret;\n}\n.entry good()\n{\n\tret;\n}\n";
    Read read = read_text(text, sizeof text - 1);
    assert_false(read.good);
    assert_int_equal(read.diagnostics.errors, 5);
    static const unsigned lines[] = {4, 8, 9, 10, 13};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(read.diagnostics.items[i].place.line, lines[i]);
    assert_int_equal(read.module.functions_count, 2);
    done(&read);
}

static void what_is_nested_deeply_is_refused(void **state) {
    (void)state;
    Text text = {0};
    text_str(&text, STR(BODY_START "mov.u32 %r1, "));
    for (unsigned i = 0; i < 100000; i++)
        text_char(&text, '(');
    Read read = read_text(text.data, text.size);
    assert_false(read.good);
    done(&read);
    text.size = 0;
    text_str(&text, STR(BODY_START));
    for (unsigned i = 0; i < 100000; i++)
        text_char(&text, '{');
    read = read_text(text.data, text.size);
    assert_false(read.good);
    done(&read);
    text_free(&text);
}

/* ---- Printing and edits ----------------------------------------------------------------------------------- */

static const char kernel[] =
    "// a kernel\r\n" HEAD ".visible .entry k(\n\t.param .u64 p0 // the only one\n)\n.reqntid 128\n{\n"
    "\t.reg .b32 %r<3>; /* two are used */\n\n\tmov.u32 \t%r1, %tid.x;\n$L:\n\tadd.s32 %r1,%r1 , "
    "0x10;\n\tret;\n}\n\n// end";

static void without_edits_the_text_is_the_same(void **state) {
    (void)state;
    Read read = read_text(kernel, sizeof kernel - 1);
    PtxEdits edits;
    Text out = {0};
    assert_true(read.good);
    ptx_edits_init(&edits, &read.module);
    ptx_edit_print(&edits, &out);
    assert_int_equal(out.size, sizeof kernel - 1);
    assert_memory_equal(out.data, kernel, out.size);
    text_free(&out);
    ptx_edits_free(&edits);
    done(&read);
}

/* Nothing has to stand between the number that ends a .loc and a guard. */
static void edits_stand_apart(void **state) {
    (void)state;
    static const char text[] = ".version 8.0\n.target sm_90\n.file 1 \"a.c\"\n.entry k {\n.reg .pred %p<2>;\n"
                               ".loc 1 7 48@%p0 ret;\n.loc 1 8 3@!%p0 ret;\n}\n";
    Read read = read_text(text, sizeof text - 1);
    assert_true(read.good);
    PtxEdits edits;
    ptx_edits_init(&edits, &read.module);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < read.module.statements_count; i++)
        if (read.module.statements[i].kind == PTX_INSTRUCTION && seen++ == 0)
            ptx_edit_before(&edits, i, STR("exit;"));
        else if (read.module.statements[i].kind == PTX_INSTRUCTION)
            ptx_edit_replace(&edits, i, STR("trap;"));
    Text out = {0};
    ptx_edit_print(&edits, &out);
    text_char(&out, 0);
    assert_non_null(strstr(out.data, ".loc 1 7 48\n\texit;\n\t@%p0 ret;\n.loc 1 8 3\n\ttrap;\n}\n"));
    text_free(&out);
    ptx_edits_free(&edits);
    done(&read);
}

static void edits_leave_the_rest_alone(void **state) {
    (void)state;
    Read read = read_text(kernel, sizeof kernel - 1);
    const PtxModule *module = &read.module;
    uint32_t add = 0;
    while (module->statements[add].kind != PTX_INSTRUCTION ||
           !str_starts(module->forms[module->statements[add].what].text, STR("add")))
        add++;
    PtxEdits edits;
    ptx_edits_init(&edits, module);
    Str made = ptx_edit_register(&edits, 0, ".b64");
    assert_true(str_is(made, "%weir_0"));
    ptx_edit_after(&edits, add - 2, STR("mov.u64 %weir_0, 1;"));
    ptx_edit_before(&edits, add, STR("before;"));
    ptx_edit_replace(&edits, add, STR("add.s32 %r1, %r1, 17;"));
    ptx_edit_top(&edits, STR(".global .u32 seen;"));
    ptx_edit_parameter(&edits, 0, STR(".param .u64 more"));
    Text out = {0};
    ptx_edit_print(&edits, &out);
    text_char(&out, 0);
    assert_non_null(strstr(out.data, ".address_size 64\n\t.global .u32 seen;\n.visible"));
    assert_non_null(strstr(out.data,
                           "\t.param .u64 p0 // the only one\n,\n\t.param .u64 more\n)\n.reqntid 128\n{\n\t.reg "
                           ".b64 %weir_0;\n\t.reg .b32 %r<3>; /* two are used */\n"));
    assert_non_null(strstr(out.data, "\tmov.u32 \t%r1, %tid.x;\n\tmov.u64 %weir_0, 1;\n$L:\n\tbefore;\n\t"
                                     "add.s32 %r1, %r1, 17;\n\tret;\n}\n\n// end"));
    text_free(&out);
    ptx_edits_free(&edits);
    done(&read);
}

/* A kernel that has no list of parameters gets one. */
static void lists_of_parameters_are_made(void **state) {
    (void)state;
    static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n.entry k {\n\tret;\n}\n";
    Read read = read_text(text, sizeof text - 1);
    PtxEdits edits;
    ptx_edits_init(&edits, &read.module);
    ptx_edit_parameter(&edits, 0, STR(".param .u64 one"));
    ptx_edit_parameter(&edits, 0, STR(".param .u64 two"));
    Text out = {0};
    ptx_edit_print(&edits, &out);
    text_char(&out, 0);
    assert_non_null(strstr(out.data, ".entry k(\n\t.param .u64 one\n,\n\t.param .u64 two\n) {\n\tret;\n}\n"));
    text_free(&out);
    ptx_edits_free(&edits);
    done(&read);
}

/* What is printed from the structure is read as the same structure. */
static void what_is_printed_reads_the_same(void **state) {
    (void)state;
    Read first = read_text(kernel, sizeof kernel - 1);
    Text once = {0}, twice = {0};
    ptx_print(&first.module, &once);
    Read second = read_text(once.data, once.size);
    assert_true(second.good);
    ptx_print(&second.module, &twice);
    assert_int_equal(once.size, twice.size);
    assert_memory_equal(once.data, twice.data, once.size);
    text_char(&once, 0);
    assert_non_null(strstr(once.data, "\tadd.s32 %r1, %r1, 16;\n"));
    text_free(&once);
    text_free(&twice);
    done(&first);
    done(&second);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_taken_and_refused_as_ptxas_does),
        cmocka_unit_test(the_module_says_what_it_is_for),
        cmocka_unit_test(registers_are_found_in_the_innermost_scope),
        cmocka_unit_test(labels_are_those_of_the_scope),
        cmocka_unit_test(constants_are_evaluated),
        cmocka_unit_test(operands_are_trees),
        cmocka_unit_test(forms_have_rows),
        cmocka_unit_test(places_go_through_what_was_inlined),
        cmocka_unit_test(reading_goes_on_after_an_error),
        cmocka_unit_test(what_is_nested_deeply_is_refused),
        cmocka_unit_test(without_edits_the_text_is_the_same),
        cmocka_unit_test(edits_stand_apart),
        cmocka_unit_test(edits_leave_the_rest_alone),
        cmocka_unit_test(lists_of_parameters_are_made),
        cmocka_unit_test(what_is_printed_reads_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
