/* model/flow: functions as straight-line pieces, and the loops they are in.
 *
 * A piece is written as the numbers of its ops' names: in these texts every op that matters is "my.op" with a `name`,
 * and `pieces` prints them with where they lead: "a b -> c" is a piece of ops a and b that leads to the one of op c,
 * "~" marks an edge that goes back, "!" one at which all threads meet. */
#include "reading.h"

#include "model/flow/flow.h"

#define OP_(name)      "    \"my.op\"() {name = \"" #name "\"} : () -> ()\n"
#define FUNCTION(body) "tt.func @f(%c: i1, %n: i32) {\n    %zero = arith.constant 0 : i32\n" body "    tt.return\n}\n"

static void add_name(const Op *op, Text *to) {
    const Attr *name = op_attr(op, "name");
    if (name)
        text_addf(to, "%s%.*s", to->size && to->data[to->size - 1] != ' ' ? " " : "", (int)name->text.size - 2,
                  name->text.data + 1);
}

/* The first op with a name in a piece, or in the pieces that it leads to. */
static const Op *first_named(const Flow *flow, uint32_t piece, unsigned depth) {
    const FlowPiece *at = &flow->pieces[piece];
    for (uint32_t i = 0; i < at->count; i++)
        if (op_attr(flow->ops[at->first + i].op, "name"))
            return flow->ops[at->first + i].op;
    return at->edge_count && depth ? first_named(flow, flow->edges[at->first_edge].to, depth - 1) : NULL;
}

static char *pieces(const Flow *flow) {
    Text text = {0};
    for (uint32_t i = 0; i < flow->piece_count; i++) {
        const FlowPiece *piece = &flow->pieces[i];
        Text line = {0};
        for (uint32_t k = 0; k < piece->count; k++)
            add_name(flow->ops[piece->first + k].op, &line);
        if (!line.size)
            continue;
        text_addf(&text, "%s%.*s", text.size ? "; " : "", (int)line.size, line.data);
        text_free(&line);
        for (uint32_t e = 0; e < piece->edge_count; e++) {
            const FlowEdge *edge = &flow->edges[piece->first_edge + e];
            const Op *to = first_named(flow, edge->to, 4);
            text_addf(&text, "%s%s%s", e ? ", " : " -> ", edge->back ? "~" : "", edge->all_meet ? "!" : "");
            const Attr *name = to ? op_attr(to, "name") : NULL;
            text_addf(&text, "%.*s", name ? (int)name->text.size - 2 : 3, name ? name->text.data + 1 : "end");
        }
    }
    text_char(&text, 0);
    return text.data;
}

typedef struct Flowing {
    Reading *reading;
    Flow flow;
} Flowing;

static Flowing flow_in(const char *text) {
    Flowing flowing = {.reading = read_text(text)};
    assert_true(flowing.reading->ok);
    flowing.flow = flow_of(find_op(flowing.reading, "tt.func", 0), &flowing.reading->module.arena);
    return flowing;
}

#define assert_flow(text, expected) assert_flow_at(text, expected, __FILE__, __LINE__)
static void assert_flow_at(const char *text, const char *expected, const char *file, int line) {
    Flowing flowing = flow_in(text);
    char *found = pieces(&flowing.flow);
    if (strcmp(found, expected) != 0) {
        print_error("found    %s\nexpected %s\n", found, expected);
        _fail(file, line);
    }
    free(found);
    done(flowing.reading);
}

/* The op of that name, by its number. */
static uint32_t number_of(const Flow *flow, const char *name) {
    for (uint32_t i = 0; i < flow->op_count; i++) {
        const Attr *attr = op_attr(flow->ops[i].op, "name");
        if (attr && str_is((Str){attr->text.data + 1, attr->text.size - 2}, name))
            return flow->ops[i].number;
    }
    fail();
    return 0;
}

static void straight_code_is_one_piece(void **state) {
    (void)state;
    assert_flow(FUNCTION(OP_(a) OP_(b)), "a b");
}

static void an_if_branches(void **state) {
    (void)state;
    assert_flow(FUNCTION(OP_(a) "    scf.if %c {\n" OP_(b) "    }\n" OP_(d)), "a -> b, d; b -> d; d");
    assert_flow(FUNCTION(OP_(a) "    scf.if %c {\n" OP_(b) "    } else {\n" OP_(e) "    }\n" OP_(d)),
                "a -> b, e; b -> d; e -> d; d");
}

static void a_for_loop_goes_back_or_on(void **state) {
    (void)state;
    assert_flow(FUNCTION(OP_(a) "    scf.for %i = %zero to %n step %n : i32 {\n" OP_(b) "    }\n" OP_(d)),
                "a -> b, d; b -> ~b, d; d");
}

static void a_while_loop_asks_first(void **state) {
    (void)state;
    assert_flow(FUNCTION(OP_(a) "    scf.while : () -> () {\n" OP_(b) "      scf.condition(%c)\n    } do {\n" OP_(
                    d) "      scf.yield\n    }\n" OP_(e)),
                "a -> b; b -> d, e; d -> ~b; e");
}

static void an_execute_region_is_passed_through(void **state) {
    (void)state;
    assert_flow(FUNCTION(OP_(a) "    scf.execute_region {\n" OP_(b) "      scf.yield\n    }\n" OP_(d)),
                "a -> b; b -> d; d");
}

static void partitions_start_and_do_not_end(void **state) {
    (void)state;
    assert_flow(
        FUNCTION(OP_(a) "    ttg.warp_specialize()\n    default {\n" OP_(
            b) "      ttg.warp_yield\n    }\n    partition0() num_warps(4) {\n" OP_(d) "      ttg.warp_return\n"
                                                                                       "    } : () -> ()\n" OP_(e)),
        "a -> !b, !d; b -> e; d; e");
}

static void groups_of_warps_meet_first(void **state) {
    (void)state;
    assert_flow(
        FUNCTION(OP_(a) "    nvws.warp_group\n    partition0 num_warps(4) {\n" OP_(
            b) "      nvws.warp_group.return\n    }\n    partition1 num_warps(4) {\n" OP_(d) "      "
                                                                                             "nvws.warp_group.return\n "
                                                                                             "   }\n" OP_(e)),
        "a -> !b, !d; b -> e; d; e");
}

static void branches_between_blocks(void **state) {
    (void)state;
    assert_flow(FUNCTION(OP_(a) "    cf.cond_br %c, ^x, ^y\n  ^x:\n" OP_(b) "    cf.br ^y\n  ^y:\n" OP_(
                    d) "    cf.cond_br %c, ^x, ^z\n  ^z:\n" OP_(e)),
                "a -> b, d; b -> d; d -> ~b, e; e");
}

static void a_combiner_is_on_its_own(void **state) {
    (void)state;
    Flowing flowing = flow_in(
        "tt.func @f(%t: tensor<16xf32>) {\n" OP_(a) "    %r = \"tt.reduce\"(%t) <{axis = 0 : i32}> ({\n    ^bb0(%x: "
                                                    "f32, %y: f32):\n" OP_(b) "      tt.reduce.return "
                                                                              "%x : f32\n"
                                                                              "    }) : "
                                                                              "(tensor<16xf32>) "
                                                                              "-> f32\n" OP_(d) "    tt.return\n}\n");
    char *found = pieces(&flowing.flow);
    assert_string_equal(found, "a d; b");
    assert_true(flowing.flow.pieces[0].entry && flowing.flow.pieces[1].entry);
    assert_true(flowing.flow.pieces[0].returns && !flowing.flow.pieces[1].returns);
    free(found);
    done(flowing.reading);
}

static void an_op_that_is_not_known_may_loop(void **state) {
    (void)state;
    assert_flow(
        FUNCTION(OP_(a) "    \"my.loop\"() ({\n" OP_(b) "      \"my.end\"() : () -> ()\n    }) : () -> ()\n" OP_(d)),
        "a -> b, d; b -> ~b, d; d");
}

static void loops_lie_in_each_other(void **state) {
    (void)state;
    Flowing flowing = flow_in(FUNCTION(OP_(a) "    scf.for %i = %zero to %n step %n : i32 {\n" OP_(
        b) "    scf.for %j = %zero to %n step %n : i32 {\n" OP_(d) "    }\n" OP_(e) "    }\n" OP_(g)));
    const Flow *flow = &flowing.flow;
    assert_int_equal(flow->loop_count, 2);
    assert_int_equal(flow->loops[0].parent, FLOW_NONE);
    assert_int_equal(flow->loops[1].parent, 0);
    assert_false(flow_loop_holds(flow, 0, number_of(flow, "a")));
    assert_true(flow_loop_holds(flow, 0, number_of(flow, "b")));
    assert_true(flow_loop_holds(flow, 0, number_of(flow, "d")));
    assert_true(flow_loop_holds(flow, 0, number_of(flow, "e")));
    assert_false(flow_loop_holds(flow, 0, number_of(flow, "g")));
    assert_false(flow_loop_holds(flow, 1, number_of(flow, "b")));
    assert_true(flow_loop_holds(flow, 1, number_of(flow, "d")));
    assert_false(flow_loop_holds(flow, 1, number_of(flow, "e")));
    assert_true(flow_loop_has(flow, 0, 1) && !flow_loop_has(flow, 1, 0));
    done(flowing.reading);
}

/* ^x holds ^y, which goes back to itself; a loop that is an op stands in ^y. */
static void loops_of_branches_lie_in_each_other(void **state) {
    (void)state;
    Flowing flowing = flow_in(FUNCTION(OP_(a) "    cf.br ^x\n  ^x:\n" OP_(b) "    cf.br ^y\n  ^y:\n" OP_(
        d) "    scf.for %i = %zero to %n step %n : i32 {\n" OP_(e) "    }\n    cf.cond_br %c, ^y, ^z\n  "
                                                                   "^z:\n" OP_(g) "    cf.cond_br %c, ^x, "
                                                                                  "^out\n  ^out:\n" OP_(h)));
    const Flow *flow = &flowing.flow;
    assert_false(flow->irreducible);
    assert_int_equal(flow->loop_count, 3);
    uint32_t op = flow->loop_of[number_of(flow, "e")], inner = flow->loop_of[number_of(flow, "d")];
    uint32_t outer = flow->loop_of[number_of(flow, "b")];
    assert_false(flow->loops[op].first_block);
    assert_true(flow->loops[inner].first_block && flow->loops[outer].first_block);
    assert_int_equal(flow->loops[op].parent, inner);
    assert_int_equal(flow->loops[inner].parent, outer);
    assert_int_equal(flow->loops[outer].parent, FLOW_NONE);
    assert_int_equal(flow->loop_of[number_of(flow, "g")], outer);
    assert_int_equal(flow->loop_of[number_of(flow, "a")], FLOW_NONE);
    assert_int_equal(flow->loop_of[number_of(flow, "h")], FLOW_NONE);
    for (uint32_t i = 0; i < flow->edge_count; i++)
        assert_true(!flow->edges[i].back || flow->edges[i].loop != FLOW_NONE);
    done(flowing.reading);
}

/* Where loops start, and where an iteration of one is over. */
static void edges_report_about_loops(void **state) {
    (void)state;
    Flowing flowing = flow_in(FUNCTION("    %x = arith.constant 0 : index\n    scf.for %i = %x to %x step %x {\n" OP_(
        a) "    }\n" OP_(b) "    cf.br ^l\n  ^l:\n" OP_(d) "    cf.cond_br %c, ^l, ^z\n  ^z:\n" OP_(e)));
    const Flow *flow = &flowing.flow;
    uint32_t counting = flow->loop_of[number_of(flow, "a")], branching = flow->loop_of[number_of(flow, "d")];
    unsigned entered[2] = {0}, rounds[2] = {0}, back[2] = {0};
    for (uint32_t i = 0; i < flow->edge_count; i++) {
        const FlowEdge *edge = &flow->edges[i];
        for (unsigned k = 0; k < 2; k++) {
            uint32_t loop = k ? branching : counting;
            entered[k] += edge->enters == loop;
            rounds[k] += edge->round && edge->loop == loop;
            back[k] += edge->back && edge->loop == loop;
        }
    }
    assert_int_equal(entered[0], 2); /* into it, or past it */
    assert_int_equal(rounds[0], 2);  /* back, or out of it */
    assert_int_equal(back[0], 1);
    assert_int_equal(entered[1], 1);
    assert_int_equal(rounds[1], 1);
    assert_int_equal(back[1], 1);
    done(flowing.reading);
}

static void a_loop_with_two_entries_is_noticed(void **state) {
    (void)state;
    Flowing flowing = flow_in(FUNCTION(OP_(a) "    cf.cond_br %c, ^x, ^y\n  ^x:\n" OP_(b) "    cf.br ^y\n  ^y:\n" OP_(
        d) "    cf.cond_br %c, ^x, ^z\n  ^z:\n" OP_(e)));
    assert_true(flowing.flow.irreducible);
    done(flowing.reading);
}

/* Every block may leave the chain: dominators of the last one are asked for again and again. */
static void a_long_ladder_does_not_take_long(void **state) {
    (void)state;
    enum { RUNGS = 20000 };
    Text text = {0};
    text_addf(&text, "tt.func @f(%%c: i1) {\n    cf.br ^b0\n");
    for (int i = 0; i < RUNGS; i++)
        text_addf(&text, "  ^b%d:\n    cf.cond_br %%c, ^b%d, ^out\n", i, i + 1);
    text_addf(&text, "  ^b%d:\n    cf.br ^out\n  ^out:\n    tt.return\n}\n", RUNGS);
    text_char(&text, 0);
    Flowing flowing = flow_in(text.data);
    assert_int_equal(flowing.flow.piece_count, RUNGS + 3);
    text_free(&text);
    done(flowing.reading);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(straight_code_is_one_piece),
        cmocka_unit_test(an_if_branches),
        cmocka_unit_test(a_for_loop_goes_back_or_on),
        cmocka_unit_test(a_while_loop_asks_first),
        cmocka_unit_test(an_execute_region_is_passed_through),
        cmocka_unit_test(partitions_start_and_do_not_end),
        cmocka_unit_test(groups_of_warps_meet_first),
        cmocka_unit_test(branches_between_blocks),
        cmocka_unit_test(a_combiner_is_on_its_own),
        cmocka_unit_test(an_op_that_is_not_known_may_loop),
        cmocka_unit_test(loops_lie_in_each_other),
        cmocka_unit_test(loops_of_branches_lie_in_each_other),
        cmocka_unit_test(edges_report_about_loops),
        cmocka_unit_test(a_loop_with_two_entries_is_noticed),
        cmocka_unit_test(a_long_ladder_does_not_take_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
