/* The flow of PTX functions: shapes one at a time, and everything that it says found again the slow way
 * (ptx_flow_brute.h), of these shapes, of the PTX files of the tests, and of functions made up at random. With files as
 * arguments, of those instead. */
#include "ptx/reader.h"
#include "ptx_flow_brute.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { BUDGET = 256 << 20 };

typedef struct Made {
    Source *source;
    PtxModule module;
    PtxFlow flow;
} Made;

/* The flow of the last function of a text, held against the slow way. */
static Made make(const char *text) {
    Made made = {.source = source_copy("test.ptx", text, strlen(text))};
    Diagnostics diagnostics = {0};
    const char *problem = NULL;
    assert_non_null(made.source);
    bool good = ptx_read(&made.module, made.source, false, &diagnostics);
    for (size_t i = 0; !good && i < diagnostics.count; i++)
        print_message("%s\n", diagnostics.items[i].message);
    assert_true(good);
    diagnostics_free(&diagnostics);
    uint32_t function = made.module.functions_count - 1;
    while (!made.module.functions[function].body)
        function--;
    assert_true(ptx_flow(&made.flow, &made.module, function, BUDGET, &problem));
    assert_int_equal(check_flow(&made.flow, 0), 0);
    return made;
}

static void unmake(Made *made) {
    ptx_flow_free(&made->flow);
    ptx_free(&made->module);
    source_free(made->source);
}

#define HEAD ".version 8.7\n.target sm_90a\n.address_size 64\n"
#define ENTRY(body)                                                                                                  \
    HEAD ".extern .func dies() .noreturn;\n.extern .func __assertfail() .noreturn;\n.func (.param .b32 r) g(.param " \
         ".b32 a) { ret; }\n"                                                                                        \
         ".visible .entry k(.param .u64 p0)\n{\n.reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<8>;\n" body "\n}\n"

static void describe(const PtxFlow *flow, Text *to) {
    for (uint32_t i = 0; i < flow->block_count; i++) {
        const FlowBlock *block = &flow->blocks[i];
        text_addf(to, "%s%u", i ? " " : "", block->end - block->begin);
        for (uint32_t k = 0; k < block->successor_count; k++)
            text_addf(to, "%c%u", k ? ',' : '>', flow->edges[block->successors + k]);
        if (block->dominator != PTX_NONE)
            text_addf(to, "d%u", block->dominator);
        if (block->meets != PTX_NONE)
            text_addf(to, "m%u", block->meets);
        if (block->loop != PTX_NONE)
            text_addf(to, "l%u", block->loop);
        if (!block->reached)
            text_char(to, '!');
    }
}

static void assert_flow(const Made *made, const char *body, const char *expected) {
    Text text = {0};
    describe(&made->flow, &text);
    text_char(&text, 0);
    if (strcmp(text.data, expected) != 0)
        print_message("%s\n", body);
    assert_string_equal(text.data, expected);
    text_free(&text);
}

/* Of each block: instructions, > successors, d dominator, m where it meets, l loop, ! if it is never reached. */
static void blocks_have_the_edges_of_the_text(void **state) {
    (void)state;
    static const struct {
        const char *body, *expected;
    } shapes[] = {
        {"", "0"},
        {"ret;", "1"},
        {"mov.u32 %r1, 1;", "1"}, /* falls off the end */
        {"@%p1 bra A; mov.u32 %r1, 1; A: ret;", "1>2,1m2 1>2d0m2 1d0"},
        {"@%p1 bra A; mov.u32 %r1, 1; bra B; A: mov.u32 %r1, 2; B: ret;", "1>2,1m3 2>3d0m3 1>3d0m3 1d0"},
        {"@%p1 bra A; A: ret;", "1>1,1m1 1d0"},
        {"A: bra A;", "0>1m1 1>1d0l0"},
        {"mov.u32 %r1, 0; A: add.u32 %r1, %r1, 1; @%p1 bra A; ret;", "1>1m1 2>1,2d0m2l0 1d1"},
        {"A: add.u32 %r1, %r1, 1; @%p1 bra A;", "0>1m1 2>1,2d0m2l0 0d1"}, /* an empty block before, and one behind */
        {"bra E; mov.u32 %r1, 1; E:", "1>2m2 1>2! 0d0"},                  /* a label before the end */
        {"@%p1 ret; ret;", "1>1 1d0"},
        {"@%p1 exit; mov.u32 %r1, 1; ret;", "1>1 2d0"},
        {"@%p1 trap; ret;", "1>1m1 1d0"}, /* after a trap nothing is left to meet */
        {"@%p1 bra T; mov.u32 %r1, 1; ret; T: trap;", "1>2,1m1 2d0 1d0"},
        {"@%p1 bra T; ret; T: call dies; mov.u32 %r1, 1;", "1>2,1 1d0 1d0 1!"},
        {"@%p1 call dies; ret;", "1>1 1d0"},
        {"@%p1 call __assertfail; ret;", "1>1m1 1d0"}, /* with it the grid is over */
        {"L: .branchtargets A, B, A; brx.idx %r1, L; A: mov.u32 %r2, 1; B: ret;", "1>1,2,1m2 1>2d0m2 1d0"},
        {"L: .branchtargets A, B; @%p1 brx.idx %r1, L; mov.u32 %r2, 1; A: B: ret;", "1>2,2,1m2 1>2d0m2 1d0"},
        {"P: .callprototype ()_ () .noreturn; call %rd1, P; ret;", "1 1!"},
        {"P: .callprototype ()_ (); call %rd1, P; ret;", "2"},
        /* a loop without a way out is taken to end at its header */
        {"A: @%p1 bra C; mov.u32 %r1, 1; bra D; C: mov.u32 %r1, 2; D: bra A;",
         "0>1m1 1>3,2d0l0 2>4d1m4l0 1>4d1m4l0 1>1d1m1l0"},
        {"@%p1 bra B; A: bra A; B: ret;", "1>2,1 1>1d0l0 1d0"},
        /* one that only a trap ends, likewise */
        {"A: @%p1 bra T; bra A; T: trap;", "0>1m1 1>3,2d0l0 1>1d1m1l0 1d1"},
        /* two loops, one in the other */
        {"A: mov.u32 %r1, 1; B: @%p1 bra B; @%p2 bra A; ret;", "0>1m1 1>2d0m2l0 1>2,3d1m3l1 1>1,4d2m4l0 1d3"},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        Text text = {0};
        text_str(&text, STR(ENTRY("")));
        text.size -= 3; /* "\n}\n" */
        text_addf(&text, "%s\n}\n", shapes[i].body);
        text_char(&text, 0);
        Made made = make(text.data);
        assert_flow(&made, shapes[i].body, shapes[i].expected);
        assert_int_equal(made.flow.unknown_count, 0);
        unmake(&made);
        text_free(&text);
    }
}

static void loops_nest_and_may_be_irreducible(void **state) {
    (void)state;
    Made made = make(ENTRY("@%p1 bra B; A: mov.u32 %r1, 1; B: @%p2 bra A; ret;"));
    assert_int_equal(made.flow.loop_count, 1);
    assert_true(made.flow.loops[0].irreducible);
    unmake(&made);
    /* an irreducible one in a loop that is entered at its header alone, with a plain one in it */
    made = make(ENTRY("O: @%p1 bra B; A: @%p3 bra A; B: @%p2 bra A; @%p4 bra O; ret;"));
    assert_int_equal(made.flow.loop_count, 3);
    unsigned irreducible = 0;
    for (uint32_t i = 0; i < 3; i++)
        irreducible += made.flow.loops[i].irreducible;
    assert_int_equal(irreducible, 1);
    assert_false(made.flow.loops[0].irreducible);
    assert_int_equal(made.flow.loops[0].outer, PTX_NONE);
    assert_int_equal(made.flow.loops[2].outer, 1);
    unmake(&made);
}

/* ---- Values ------------------------------------------------------------------------------------------------- */

/* The value of operand `k`, members of trees counted, of the last instruction but `back`. */
static const FlowValue *value_at(const Made *made, uint32_t back, uint32_t k) {
    uint32_t statement = made->flow.instructions[made->flow.instruction_count - 1 - back];
    uint32_t value = flow_value(&made->flow, made->module.statements[statement].first + k);
    return value == PTX_NONE ? NULL : &made->flow.values[value];
}

static void a_guard_makes_a_choice(void **state) {
    (void)state;
    Made made = make(ENTRY("mov.u32 %r1, 1; @%p1 mov.u32 %r1, 2; st.global.u32 [%rd1], %r1;"));
    const FlowValue *read = value_at(&made, 0, 2), *first = value_at(&made, 2, 0);
    assert_int_equal(read->kind, VALUE_RESULT);
    assert_int_equal(read->instruction, 1);
    assert_ptr_equal(&made.flow.values[read->before], first);
    assert_int_equal(first->before, PTX_NONE);
    assert_int_equal(value_at(&made, 1, 0)->kind, VALUE_UNDEFINED); /* the guard */
    assert_int_equal(value_at(&made, 0, 1)->kind, VALUE_UNDEFINED); /* in the address */
    unmake(&made);
    made = make(ENTRY("@%p1 mov.u32 %r1, 2; st.global.u32 [%rd1], %r1;"));
    assert_int_equal(made.flow.values[value_at(&made, 0, 2)->before].kind, VALUE_UNDEFINED);
    unmake(&made);
}

static void phis_stand_where_ways_join_and_something_is_read(void **state) {
    (void)state;
    Made made = make(ENTRY("@%p1 bra A; mov.u32 %r1, 1; mov.u32 %r2, 1; bra B; A: mov.u32 %r1, 2; mov.u32 %r2, 2;"
                           " B: st.global.u32 [%rd1], %r1;"));
    const FlowValue *read = value_at(&made, 0, 2);
    assert_int_equal(read->kind, VALUE_PHI);
    assert_int_equal(made.flow.blocks[3].phi_count, 1); /* none of %r2, which nothing reads */
    assert_int_equal(made.flow.values[made.flow.inputs[read->inputs]].block, 1);
    assert_int_equal(made.flow.values[made.flow.inputs[read->inputs + 1]].block, 2);
    unmake(&made);
    /* written once, above all that reads it: no phi in the loop */
    made = make(ENTRY("A: mov.u32 %r1, 1; @%p1 bra B; st.global.u32 [%rd1], %r1; B: @%p2 bra A; "
                      "st.global.u32 [%rd1], %r1;"));
    assert_int_equal(value_at(&made, 0, 2)->kind, VALUE_RESULT);
    for (uint32_t i = 0; i < made.flow.block_count; i++)
        assert_int_equal(made.flow.blocks[i].phi_count, 0);
    unmake(&made);
    /* written once, but read before it in the loop: what the turn before left, or nothing */
    made = make(ENTRY("A: st.global.u32 [%rd1], %r1; mov.u32 %r1, 1; @%p2 bra A;"));
    read = value_at(&made, 2, 2);
    assert_int_equal(read->kind, VALUE_PHI);
    assert_int_equal(made.flow.values[made.flow.inputs[read->inputs]].kind, VALUE_UNDEFINED);
    assert_int_equal(made.flow.values[made.flow.inputs[read->inputs + 1]].kind, VALUE_RESULT);
    unmake(&made);
}

static void all_operands_of_an_instruction_have_values(void **state) {
    (void)state;
    Made made = make(ENTRY("mov.u32 %r1, %tid.x; mov.u32 %r2, 2; setp.eq.s32 %p1|%p2, %r1, %r2;"));
    assert_int_equal(value_at(&made, 0, 1)->kind, VALUE_RESULT);
    assert_int_equal(value_at(&made, 0, 2)->operand - value_at(&made, 0, 1)->operand, 1);
    assert_int_equal(value_at(&made, 0, 3)->instruction, 0);
    unmake(&made);
    made = make(ENTRY("ld.global.v4.b32 {%r1, _, %r2, %r3}, [%rd1+16]; st.global.v2.b32 [%rd2], {%r1, %r3};"));
    assert_int_equal(value_at(&made, 0, 3)->instruction, 0); /* [, %rd2, {, %r1 */
    assert_null(value_at(&made, 1, 2));                      /* _ */
    unmake(&made);
    made = make(ENTRY("call (%r1), g, (%r2); add.u32 %r2, %r1, %r2;"));
    assert_int_equal(value_at(&made, 0, 1)->kind, VALUE_RESULT);
    assert_int_equal(value_at(&made, 0, 1)->instruction, 0);
    assert_int_equal(value_at(&made, 0, 2)->kind, VALUE_UNDEFINED);
    assert_ptr_equal(value_at(&made, 0, 2), value_at(&made, 1, 4)); /* (, %r1, g, (, %r2 */
    unmake(&made);
    /* a state that need not be there is not taken for the address that is */
    made = make(ENTRY("mbarrier.arrive.shared.b64 %rd1, [%r1]; mbarrier.arrive.shared.b64 _, [%r1];"));
    assert_int_equal(value_at(&made, 1, 0)->kind, VALUE_RESULT);
    assert_int_equal(value_at(&made, 0, 2)->kind, VALUE_UNDEFINED);
    unmake(&made);
    made = make(ENTRY("mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 16; mov.u32 %r2, %r1;"));
    assert_int_equal(value_at(&made, 0, 1)->kind, VALUE_UNDEFINED);
    unmake(&made);
    /* the same register read and written */
    made = make(ENTRY("mov.u32 %r1, 1; add.u32 %r1, %r1, %r1;"));
    assert_int_equal(value_at(&made, 0, 0)->instruction, 1);
    assert_int_equal(value_at(&made, 0, 1)->instruction, 0);
    unmake(&made);
}

static void scopes_have_registers_of_their_own(void **state) {
    (void)state;
    Made made = make(ENTRY("mov.u32 %r1, 1; { .reg .b32 %r<4>; mov.u32 %r1, 2; } st.global.u32 [%rd1], %r1;"));
    assert_int_equal(value_at(&made, 0, 2)->instruction, 0);
    unmake(&made);
    made = make(HEAD ".func f(.reg .b32 a, .param .b32 b) { .reg .b32 a1; add.u32 a1, a, a; ret; }");
    assert_int_equal(value_at(&made, 1, 1)->kind, VALUE_ARGUMENT);
    unmake(&made);
}

static void parts_of_a_vector_keep_the_others(void **state) {
    (void)state;
    Made made =
        make(HEAD ".entry k() { .reg .v4 .b32 v; .reg .b32 r; mov.b32 v.x, 1; mov.b32 v.y, 2; mov.b32 r, v.x; }");
    const FlowValue *read = value_at(&made, 0, 1);
    assert_int_equal(read->instruction, 1);
    assert_int_equal(made.flow.values[read->before].instruction, 0);
    unmake(&made);
}

static void an_accumulator_is_read_and_written(void **state) {
    (void)state;
    Made made = make(ENTRY("mov.u32 %r1, 0; mov.u32 %r2, 0; wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%r1, "
                           "%r2}, %rd1, %rd2, %p1, 1, 1, 0, 0;"));
    assert_int_equal(value_at(&made, 0, 1)->instruction, 2);
    assert_int_equal(made.flow.values[value_at(&made, 0, 1)->before].instruction, 0);
    assert_int_equal(made.flow.values[value_at(&made, 0, 2)->before].instruction, 1);
    unmake(&made);
}

static void what_has_no_row_may_do_anything_to_its_operands(void **state) {
    (void)state;
    Made made = make(ENTRY("mov.u32 %r1, 1; cctl.inv %r1, [%rd1]; st.global.u32 [%rd1], %r1;"));
    assert_int_equal(made.flow.unknown_count, 1);
    assert_int_equal(made.flow.first_unknown, 1);
    assert_int_equal(value_at(&made, 0, 2)->instruction, 1);
    assert_int_equal(made.flow.values[value_at(&made, 0, 2)->before].instruction, 0);
    assert_int_equal(value_at(&made, 0, 1)->instruction, 1); /* %rd1, too */
    unmake(&made);
}

/* ---- Limits ----------------------------------------------------------------------------------------------------- */

static void a_budget_is_kept(void **state) {
    (void)state;
    Made made = make(ENTRY("mov.u32 %r1, 1;"));
    PtxFlow flow;
    const char *problem = NULL;
    assert_false(ptx_flow(&flow, &made.module, made.module.functions_count - 1, 1000, &problem));
    assert_non_null(problem);
    ptx_flow_free(&flow);
    unmake(&made);
    /* of a range only what is used counts */
    made = make(HEAD ".entry k() { .reg .b32 %r<1000000000>; mov.u32 %r5, 1; }");
    unmake(&made);
}

/* ---- At random -------------------------------------------------------------------------------------------------- */

static void add_random_statement(Brute *dice, uint32_t labels, Text *to) {
    uint32_t a = 1 + next_random(dice, 5), b = 1 + next_random(dice, 5), p = 1 + next_random(dice, 3);
    uint32_t label = next_random(dice, labels), other = next_random(dice, labels);
    switch (next_random(dice, 16)) {
    case 0 ... 2:
        text_addf(to, "mov.u32 %%r%u, %u;\n", a, b);
        return;
    case 3 ... 4:
        text_addf(to, "add.u32 %%r%u, %%r%u, %%r%u;\n", a, b, p);
        return;
    case 5:
        text_addf(to, "@!%%p%u mov.u32 %%r%u, %%r%u;\n", p, a, b);
        return;
    case 6:
        text_addf(to, "setp.eq.u32 %%p%u|%%p%u, %%r%u, 0;\n", p, 1 + p % 3, a);
        return;
    case 7 ... 11:
        text_addf(to, "@%%p%u bra L%u;\n", p, label);
        return;
    case 12:
        text_addf(to, "bra L%u;\n", label);
        return;
    case 13:
        text_addf(to, "{ T: .branchtargets L%u, L%u, L%u; %s brx.idx %%r%u, T; }\n", label, other,
                  next_random(dice, labels), a > 3 ? "@%p1" : "", b);
        return;
    case 14:
        text_addf(to, "%s %s;\n", p > 1 ? "@%p1" : "", a > 3 ? "ret" : a > 1 ? "exit" : "trap");
        return;
    default:
        text_addf(to, "ld.global.v2.b32 {%%r%u, %%r%u}, [%%rd1];\n", a, b);
    }
}

static void functions_at_random(void **state) {
    (void)state;
    Brute dice = {.random = 0x9e3779b97f4a7c15u};
    unsigned irreducible = 0, phis = 0, endless = 0;
    for (unsigned round = 0; round < 400; round++) {
        Text text = {0};
        uint32_t labels = 1 + next_random(&dice, round % 4 ? 8 : 30),
                 statements = next_random(&dice, 4 * labels) + labels;
        text_str(&text, STR(HEAD ".entry k() { .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<2>;\n"));
        for (uint32_t i = 0, label = 0; i < statements || label < labels; i++) {
            if (label < labels && next_random(&dice, statements) <= labels)
                text_addf(&text, "L%u:\n", label++);
            if (i < statements)
                add_random_statement(&dice, labels, &text);
        }
        text_str(&text, STR("}\n"));
        text_char(&text, 0);
        Made made = make(text.data);
        for (uint32_t i = 0; i < made.flow.loop_count; i++)
            irreducible += made.flow.loops[i].irreducible;
        for (uint32_t i = 0; i < made.flow.block_count; i++) {
            phis += made.flow.blocks[i].phi_count;
            endless += made.flow.blocks[i].reached && made.flow.blocks[i].meets == PTX_NONE;
        }
        unmake(&made);
        text_free(&text);
    }
    assert_true(irreducible > 100 && phis > 1000 && endless > 100);
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/* How many functions there were; -1 if something was wrong. */
static int check_file(const char *path, uint32_t most) {
    const char *problem = NULL;
    Source *source = source_read(path, &problem);
    Diagnostics diagnostics = {0};
    PtxModule module;
    int functions = 0;
    if (!source)
        return -1;
    bool good = ptx_read(&module, source, false, &diagnostics);
    if (!good)
        printf("%s: not read\n", path);
    for (uint32_t i = 0; good && functions >= 0 && i < module.functions_count; i++) {
        PtxFlow flow;
        if (!module.functions[i].body)
            continue;
        functions++;
        if (!ptx_flow(&flow, &module, i, (size_t)4 << 30, &problem) || check_flow(&flow, most)) {
            printf("%s: function %u\n", path, i);
            functions = -1;
        }
        ptx_flow_free(&flow);
    }
    ptx_free(&module);
    diagnostics_free(&diagnostics);
    source_free(source);
    return functions;
}

static void files_of_the_tests(void **state) {
    (void)state;
    static const char *const files[] = {
        "tests/golden/module.ptx",     "tests/golden/later.ptx",           "tests/ptx/mutants/memory.ptx",
        "tests/ptx/mutants/async.ptx", "tests/ptx/mutants/arithmetic.ptx",
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_true(check_file(files[i], 0) > 0);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_have_the_edges_of_the_text),
        cmocka_unit_test(loops_nest_and_may_be_irreducible),
        cmocka_unit_test(a_guard_makes_a_choice),
        cmocka_unit_test(phis_stand_where_ways_join_and_something_is_read),
        cmocka_unit_test(all_operands_of_an_instruction_have_values),
        cmocka_unit_test(scopes_have_registers_of_their_own),
        cmocka_unit_test(parts_of_a_vector_keep_the_others),
        cmocka_unit_test(an_accumulator_is_read_and_written),
        cmocka_unit_test(what_has_no_row_may_do_anything_to_its_operands),
        cmocka_unit_test(a_budget_is_kept),
        cmocka_unit_test(functions_at_random),
        cmocka_unit_test(files_of_the_tests),
    };
    if (argc < 2)
        return cmocka_run_group_tests(tests, NULL, NULL);
    long functions = 0, wrong = 0;
    for (int i = 1; i < argc; i++) {
        int found = check_file(argv[i], 150);
        functions += found > 0 ? found : 0;
        wrong += found < 0;
    }
    printf("%d files, %ld functions, %ld wrong\n", argc - 1, functions, wrong);
    return wrong != 0;
}
