/* Which state space an address is in, and which variable: as the way that it was computed tells, and no more. */
#include "ptx/reader.h"
#include "ptx/value/value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define HEAD                                                                                                          \
    ".version 8.7\n.target sm_90a\n.address_size 64\n.global .align 4 .b8 there[64];\n.const .align 4 .b8 fix[64];\n" \
    ".entry k(.param .u64 .ptr .global pointer, .param .u64 number, .param .u64 .ptr .global other)\n{\n"             \
    ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<16>;\n.shared .align 4 .b8 here[64];\n"                        \
    ".local .align 4 .b8 own[64];\nld.param.u64 %rd1, [pointer]; ld.param.u64 %rd2, [number];\n"                      \
    "ld.param.u64 %rd3, [other]; ld.global.u64 %rd4, [%rd1]; mov.u32 %r1, %tid.x;\n"

/* What is said of the address of the last instruction: "shared here", "unknown -". */
static void look(const char *body, const char *expected) {
    Text text = {0};
    text_addf(&text, "%s%s\n}\n", HEAD, body);
    Source *source = source_copy("test.ptx", text.data, text.size);
    Diagnostics diagnostics = {0};
    PtxModule module;
    PtxFlow flow;
    PtxValues values;
    const PtxBlockShape shape = {0};
    const char *problem = NULL;
    if (!ptx_read(&module, source, false, &diagnostics))
        print_message("%s: %s\n", body, diagnostics.items[0].message);
    assert_int_equal(diagnostics.errors, 0);
    assert_true(ptx_flow(&flow, &module, 0, 64 << 20, &problem));
    assert_true(ptx_values(&values, &flow, &shape, 64 << 20, &problem));
    uint32_t statement = flow.instructions[flow.instruction_count - 1];
    uint32_t operand = module.statements[statement].first;
    while (module.operands[operand].kind != PTX_ADDRESS)
        operand++;
    PtxOrigin origin;
    ptx_address_form(&values, statement, operand, &origin);
    Text found = {0};
    text_str(&found, str_of(ptx_space_name(origin.space)));
    text_char(&found, ' ');
    if (origin.variable == PTX_NONE)
        text_char(&found, '-');
    else
        text_str(&found, ptx_name(&module, module.variables[origin.variable].name));
    text_char(&found, 0);
    if (strcmp(found.data, expected) != 0)
        print_message("%s\n", body);
    assert_string_equal(found.data, expected);
    text_free(&found);
    text_free(&text);
    ptx_values_free(&values);
    ptx_flow_free(&flow);
    ptx_free(&module);
    diagnostics_free(&diagnostics);
    source_free(source);
}

static void variables_and_windows(void **state) {
    (void)state;
    look("ld.shared.u32 %r2, [here+4];", "shared here");
    look("mov.u64 %rd5, here; ld.shared.u32 %r2, [%rd5];", "shared here");
    look("mov.u64 %rd5, there; ld.global.u32 %r2, [%rd5+8];", "global there");
    look("mov.u64 %rd5, own; cvta.local.u64 %rd6, %rd5; ld.u32 %r2, [%rd6];", "local own");
    look("mov.u64 %rd5, here; cvta.shared.u64 %rd6, %rd5; add.s64 %rd7, %rd6, 4; ld.u32 %r2, [%rd7];", "shared here");
    look("cvta.to.global.u64 %rd5, %rd4; ld.global.u32 %r2, [%rd5];", "global -");
    look("ld.u32 %r2, [%rd1];", "global pointer");
    look("mov.u32 %r3, here; mapa.shared::cluster.u32 %r4, %r3, %r1; ld.shared::cluster.u32 %r2, [%r4];",
         "shared::cluster here");
    look("cvta.const.u64 %rd5, fix; ld.u32 %r2, [%rd5];", "const fix");
}

static void arithmetic_stays_where_it_is(void **state) {
    (void)state;
    look("mul.wide.u32 %rd5, %r1, 4; add.s64 %rd6, %rd1, %rd5; ld.u32 %r2, [%rd6];", "global pointer");
    look("mul.wide.u32 %rd5, %r1, 4; add.s64 %rd6, %rd5, %rd1; ld.u32 %r2, [%rd6];", "global pointer");
    look("mad.wide.u32 %rd5, %r1, 4, %rd1; ld.u32 %r2, [%rd5];", "global pointer");
    look("add.s64 %rd5, %rd1, %rd4; ld.u32 %r2, [%rd5];", "global pointer"); /* a number that was loaded */
    look("sub.s64 %rd5, %rd1, 16; ld.u32 %r2, [%rd5];", "global pointer");
    look("and.b64 %rd5, %rd1, -16; ld.u32 %r2, [%rd5];", "global pointer");
    look("setp.eq.u32 %p1, %r1, 0; selp.b64 %rd5, %rd1, %rd3, %p1; ld.u32 %r2, [%rd5];", "global -");
    look("setp.eq.u32 %p1, %r1, 0; mov.u64 %rd5, %rd1; @%p1 mov.u64 %rd5, %rd4; ld.u32 %r2, [%rd5];", "generic -");
    look("mov.u64 %rd5, %rd1; A: ld.u32 %r2, [%rd5]; add.s64 %rd5, %rd5, 4; setp.eq.u32 %p1, %r2, 0; @%p1 bra A;"
         " ld.u32 %r2, [%rd5];",
         "global pointer");
    look("mov.u64 %rd5, %rd1; setp.eq.u32 %p1, %r1, 0; @%p1 bra A; mov.u64 %rd5, %rd4; A: ld.u32 %r2, [%rd5];",
         "generic -");
}

/* From one variable to another by how far they are apart: it is in the other one. */
static void distances_lead_elsewhere(void **state) {
    (void)state;
    look("sub.s64 %rd5, %rd4, %rd1; add.s64 %rd6, %rd1, %rd5; ld.u32 %r2, [%rd6];", "generic -");
    look("sub.s64 %rd5, %rd3, %rd1; add.s64 %rd6, %rd5, %rd1; ld.u32 %r2, [%rd6];", "generic -");
    look("sub.s64 %rd5, %rd1, %rd3; add.s64 %rd6, %rd4, %rd5; ld.u32 %r2, [%rd6];", "generic -");
    look("sub.s64 %rd5, %rd4, %rd1; shr.s64 %rd6, %rd5, 2; shl.b64 %rd7, %rd6, 2; add.s64 %rd8, %rd1, %rd7;"
         " ld.u32 %r2, [%rd8];",
         "generic -");
    look("neg.s64 %rd5, %rd1; add.s64 %rd6, %rd4, %rd5; add.s64 %rd7, %rd6, %rd1; ld.u32 %r2, [%rd7];", "generic -");
    /* how far an address is into its line is no address */
    look("and.b64 %rd5, %rd1, 15; add.s64 %rd6, %rd4, %rd5; ld.u32 %r2, [%rd6];", "generic -");
}

/* A parameter that is not said to be a pointer may be a number. */
static void numbers_are_no_addresses(void **state) {
    (void)state;
    look("add.s64 %rd5, %rd4, %rd2; ld.u32 %r2, [%rd5];", "generic -");
    look("mul.wide.u32 %rd5, %r1, 4; add.s64 %rd6, %rd2, %rd5; ld.u32 %r2, [%rd6];", "generic number");
    look("add.s64 %rd5, %rd1, %rd2; ld.u32 %r2, [%rd5];", "global pointer");
    look("ld.u32 %r2, [%rd4];", "generic -");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_and_windows),
        cmocka_unit_test(arithmetic_stays_where_it_is),
        cmocka_unit_test(distances_lead_elsewhere),
        cmocka_unit_test(numbers_are_no_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
