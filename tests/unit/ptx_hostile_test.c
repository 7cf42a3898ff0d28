/* PTX that is made to be slow, to take memory, or to use up the stack. Each text ends within seconds of the processor
 * and within the memory that a text of its size may take, read or refused; what is read prints and reads again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ptx/print.h"
#include "ptx/reader.h"
#include "share.h"

#include <time.h>

enum { MANY = 200000, MOST_SECONDS = 5 };

/* `first`, then `unit` so many times ('#' in it is the number), then `rest` as many times, then `last`. */
typedef struct Hostile {
    const char *name, *first, *unit, *middle, *rest, *last;
    uint32_t times;
    bool good;
} Hostile;

#define HEADER     ".version 8.7\n.target sm_90a\n.address_size 64\n"
#define BODY       HEADER ".entry k(.param .u64 p0)\n{\n.reg .pred %p<8>; .reg .b32 %r<8>; .reg .b64 %rd<8>;\n"
#define END        "\nret;\n}\n"
#define FUNCTION   HEADER ".func f(.param .b32 a) { ret; }\n.entry k { .reg .b32 %r<4>;\n"
#define WORD(text) text text text text text text text text text text
#define KILOBYTE   WORD(WORD(WORD("x")))

static const Hostile texts[] = {
    {"braces", BODY, "{", "", "}", END, MANY, false},
    {"braces that nothing closes", BODY, "{", "", "", END, MANY, false},
    {"closing braces", BODY, "}", "", "", END, MANY, false},
    {"errors before braces", BODY, "? {", "", "", END, MANY, false},
    {"errors before braces outside", HEADER, "? {", "", "", "", MANY, false},
    {"parentheses", BODY "mov.u32 %r1, ", "(", "1", ")", ";" END, MANY, false},
    {"unary operators", BODY "mov.u32 %r1, ", "~", "1", "", ";" END, MANY, false},
    {"ternary operators", BODY "mov.u32 %r1, ", "1?", "1", ":1", ";" END, MANY, false},
    {"a long sum", BODY "mov.u32 %r1, 1", "+1", "", "", ";" END, MANY, true},
    {"vectors in vectors", BODY "mov.u32 ", "{", "%r1", "}", ", 1;" END, MANY, false},
    {"pairs of pairs", BODY "mov.u32 ", "%r1|", "%r1", "", ", 1;" END, MANY, false},
    {"pairs of vectors", BODY "mov.u32 ", "{%r1}|", "%r1", "", ", 1;" END, MANY, false},
    {"addresses in addresses", BODY "ld.global.u32 %r1, ", "[", "%rd1", "]", ";" END, MANY, false},
    {"operands", BODY "mov.u32 %r1", ", %r1", "", "", ";" END, MANY, false},
    {"arguments", FUNCTION "call f, (%r1", ", %r1", "", "", ");" END, MANY, false},
    {"a range of registers", BODY ".reg .b32 %q<4000000000>; mov.u32 %r1, %q3999999999;", "", "", "", END, 1, true},
    {"a range without end", BODY ".reg .b32 %q<99999999999999999999>;", "", "", "", END, 1, false},
    {"ranges", BODY, ".reg .b32 %q#x<4000000000>;\n", "", "", END, MANY, true},
    {"registers with numbers", BODY, ".reg .b32 %s#;\n", "", "", END, MANY, true},
    {"registers that hide others", BODY, "{ .reg .b32 %r<5>; mov.u32 %r4, 1; }\n", "", "", END, MANY, true},
    {"an array of 2^120 bytes", HEADER ".global .b8 a[1073741824][1073741824][1073741824][1073741824];\n", "", "", "",
     "", 1, true},
    {"dimensions", HEADER ".global .b8 a", "[2]", "", "", ";\n", MANY, true},
    {"an initializer", HEADER ".global .u32 a[400000] = {1", ", 1", "", "", "};\n", MANY, true},
    {"initializers in initializers", HEADER ".global .u32 a[4] = ", "{", "1", "}", ";\n", MANY, false},
    {"labels", BODY, "L#:\n", "", "bra L#;\n", END, MANY, true},
    {"a label again and again", BODY, "L:\n", "", "", END, MANY, false},
    {"labels that are not there", BODY, "bra L#;\n", "", "", END, MANY, false},
    {"branches out of scopes", BODY, "{ bra L#; }\n", "", "L#:\n", END, MANY, true},
    {"targets", BODY "T: .branchtargets L", ", L", ";\nbrx.idx %r1, T;\nL: ", "", END, MANY, true},
    {"names of a megabyte", BODY "A", KILOBYTE, "B: bra A", KILOBYTE, "B;" END, 1000, true},
    {"a form of a megabyte", BODY "add", ".s32", "", "", " %r1, %r1, %r1;" END, MANY, false},
    {"forms of a later version", ".version 9.9\n.target sm_90a\n.entry k {\n.reg .b32 %r<2>;\n",
     "frob#.s32 %r1, %r1;\n", "", "", END, MANY / 100, true},
    {"errors", BODY, "add.s32 %zz, 1;\n", "", "", END, MANY, false},
    {"no PTX", "", "?\n", "", "", "", MANY, false},
    {"a comment without an end", HEADER "/*", KILOBYTE, "", "", "", 10000, false},
    {"a string without an end", HEADER ".file 1 \"", KILOBYTE, "", "", "", 10000, false},
    {"quotes", BODY, "\"", "", "", END, MANY, false},
    {"functions", HEADER, ".extern .func f#(.param .b32 a);\n", "", "", "", MANY, true},
    {"parameters", HEADER ".extern .func f(.param .b32 a", ", .param .b32 a#", "", "", ");\n", MANY, true},
    {"guards", BODY, "@", "%p1 ret;", "", END, MANY, false},
    {"empty statements", BODY, ";", "", "", END, MANY, false},
    {"places", HEADER ".file 1 \"a\"\n.entry k {\n", ".loc 1 # 1\n", "", "", END, MANY, true},
    {"sections", HEADER, ".section .s# { .b8 1 }\n", "", "", "", MANY, true},
    {"versions", "", ".version 8.7\n", "", "", "", MANY, false},
};

static void add_unit(Text *to, const char *unit, uint32_t number) {
    const char *mark = strchr(unit, '#');
    if (!mark)
        text_str(to, str_of(unit));
    else
        text_addf(to, "%.*s%u%s", (int)(mark - unit), unit, number, mark + 1);
}

static Text made(const Hostile *hostile) {
    Text text = {0};
    text_str(&text, str_of(hostile->first));
    for (uint32_t i = 0; i < share_of(hostile->times); i++)
        add_unit(&text, hostile->unit, i);
    text_str(&text, str_of(hostile->middle));
    for (uint32_t i = 0; i < share_of(hostile->times); i++)
        add_unit(&text, hostile->rest, i);
    text_str(&text, str_of(hostile->last));
    return text;
}

typedef struct Read {
    Source *source;
    PtxModule module;
    Diagnostics diagnostics;
    bool good;
} Read;

static Read read_text(const Text *text) {
    Read read = {.source = source_copy("hostile", text->data, text->size)};
    assert_non_null(read.source);
    read.good = ptx_read(&read.module, read.source, false, &read.diagnostics);
    return read;
}

static void done(Read *read) {
    ptx_free(&read->module);
    diagnostics_free(&read->diagnostics);
    source_free(read->source);
}

static void ends_soon(void **state) {
    (void)state;
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        Text text = made(&texts[i]), printed = {0};
        clock_t start = clock();
        Read read = read_text(&text);
        if (read.good != texts[i].good) {
            print_error("%s: %s\n", texts[i].name, read.good ? "is read" : read.diagnostics.items[0].message);
            wrong++;
        }
        if (ptx_memory(&read.module) > ptx_budget(read.source))
            fail_msg("%s: takes %zu bytes", texts[i].name, ptx_memory(&read.module));
        if (read.good) {
            ptx_print(&read.module, &printed);
            Read again = read_text(&printed);
            if (!again.good || again.module.statements_count != read.module.statements_count)
                fail_msg("%s: does not read again", texts[i].name);
            done(&again);
        }
        double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        if (seconds > MOST_SECONDS)
            fail_msg("%s: %zu bytes take %.1f s", texts[i].name, text.size, seconds);
        done(&read);
        text_free(&text);
        text_free(&printed);
    }
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_soon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
