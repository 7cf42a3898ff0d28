/* ir: looking at ops: walking them, their parents, their attributes and operands. */
#include "reading.h"

static const char nested[] = "module {\n"
                             "  tt.func @f(%c: i1) {\n"
                             "    scf.if %c {\n"
                             "      gpu.barrier\n"
                             "    } else {\n"
                             "      nvvm.barrier0\n"
                             "    }\n"
                             "    cf.br ^end\n"
                             "  ^end:\n"
                             "    \"c\"() ({\n"
                             "    }, {\n"
                             "      \"d\"() : () -> ()\n"
                             "    }) : () -> ()\n"
                             "    tt.return\n"
                             "  }\n"
                             "  \"e\"() : () -> ()\n"
                             "}\n";

/* The names of what a walk from `from` below `root` comes by; an op that is not in the text in brackets. */
static char *walk(const Op *from, const Op *root) {
    Text names = {0};
    for (const Op *op = from; op; op = op_next_in_walk(op, root))
        text_addf(&names, op->implicit ? " [%.*s]" : " %.*s", STR_ARG(op->name));
    text_char(&names, 0);
    return names.data;
}

/* Outer before inner, region by region, block by block; the yields that the text leaves out are there too. */
static void walks_in_the_order_of_the_text(void **state) {
    (void)state;
    Reading *reading = read_good(nested);
    char *names = walk(first_op(reading), first_op(reading));
    assert_string_equal(
        names, " module tt.func scf.if gpu.barrier [scf.yield] nvvm.barrier0 [scf.yield] cf.br c d tt.return e");
    free(names);
    done(reading);
}

static void a_walk_stays_below_its_root(void **state) {
    (void)state;
    Reading *reading = read_good(nested);
    static const struct {
        const char *root, *names;
    } cases[] = {
        {"tt.func", " tt.func scf.if gpu.barrier [scf.yield] nvvm.barrier0 [scf.yield] cf.br c d tt.return"},
        {"scf.if", " scf.if gpu.barrier [scf.yield] nvvm.barrier0 [scf.yield]"},
        {"c", " c d"},
        {"d", " d"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Op *root = find_op(reading, cases[i].root, 0);
        char *names = walk(root, root);
        assert_string_equal(names, cases[i].names);
        free(names);
    }
    done(reading);
}

static void ops_know_their_parents(void **state) {
    (void)state;
    Reading *reading = read_good(nested);
    static const struct {
        const char *op, *parent;
    } cases[] = {
        {"tt.func", "module"}, {"scf.if", "tt.func"}, {"nvvm.barrier0", "scf.if"}, {"c", "tt.func"}, {"d", "c"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_ptr_equal(op_parent(find_op(reading, cases[i].op, 0)), find_op(reading, cases[i].parent, 0));
    assert_null(op_parent(first_op(reading)));
    done(reading);
}

/* Values know who makes them; blocks know their region and their place in it. */
static void values_know_their_owners(void **state) {
    (void)state;
    Reading *reading = read_good("tt.func @f(%x: i32, %y: i32) {\n"
                                 "  %a:2 = \"make\"() : () -> (i32, f32)\n"
                                 "  cf.br ^next(%y : i32)\n"
                                 "^next(%z: i32):\n"
                                 "  \"use\"(%x, %a#1, %z) : (i32, f32, i32) -> ()\n"
                                 "  tt.return\n"
                                 "}\n");
    const Op *function = first_op(reading), *make = find_op(reading, "make", 0), *use = find_op(reading, "use", 0);
    const Region *body = &function->regions[0];
    assert_int_equal(body->block_count, 2);
    assert_ptr_equal(body->op, function);
    assert_int_equal(body->first->order, 0);
    assert_int_equal(body->first->next->order, 1);
    assert_null(body->first->label);
    assert_str_equal(body->last->label->text, "next");

    const Value *x = use->operands[0], *a1 = use->operands[1], *z = use->operands[2];
    assert_ptr_equal(x, &body->first->args[0]);
    assert_ptr_equal(x->owner, body->first);
    assert_false(x->is_result);
    assert_ptr_equal(a1, &make->results[1]);
    assert_ptr_equal(a1->owner, make);
    assert_true(a1->is_result);
    assert_int_equal(a1->index, 1);
    assert_str_equal(a1->name->text, "a");
    assert_str_equal(a1->type->text, "f32");
    assert_ptr_equal(z->owner, body->last);
    done(reading);
}

/* An attribute is found wherever it was written: by the format, in {...}, or in <{...}>. */
static void finds_attributes_by_name(void **state) {
    (void)state;
    Reading *reading =
        read_good("tt.func @f(%p: !tt.ptr<f32>) {\n"
                  "  %0 = tt.load %p cacheModifier = ca {isVolatile = true, tag} : !tt.ptr<f32>\n"
                  "  %1 = \"tt.load\"(%p) <{cache = 2 : i32, operandSegmentSizes = array<i32: 1, 0, 0>}> "
                  "{other = \"x\"} : (!tt.ptr<f32>) -> f32\n"
                  "  tt.return\n"
                  "}\n");
    static const struct {
        unsigned op;
        const char *name, *text; /* NULL: it has none */
    } cases[] = {
        {0, "cache", "ca"},   {0, "isVolatile", "true"}, {0, "tag", ""},        {0, "evict", NULL},
        {0, "nothing", NULL}, {1, "cache", "2 : i32"},   {1, "other", "\"x\""}, {1, "tag", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Op *op = find_op(reading, "tt.load", cases[i].op);
        const Attr *attr = op_attr(op, cases[i].name);
        if (cases[i].text)
            assert_str_equal(attr->text, cases[i].text);
        else
            assert_null(attr);
    }
    assert_str_equal(op_attr(first_op(reading), "sym_name")->text, "@f");
    done(reading);
}

/* The entries of the operand column, however few of them the text writes. */
static void finds_operands_by_their_entry(void **state) {
    (void)state;
    Reading *reading = read_good("tt.func @f(%b: !ttg.memdesc<1xi64, #ttg.s, #ttg.m>, %i: i32, %p: i1) {\n"
                                 "  ttng.wait_barrier %b, %i deps %b, %b : !ttg.memdesc<1xi64, #ttg.s, #ttg.m>, "
                                 "!ttg.memdesc<1xi64, #ttg.s, #ttg.m>, !ttg.memdesc<1xi64, #ttg.s, #ttg.m>\n"
                                 "  \"ttng.wait_barrier\"(%b, %i, %p) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> "
                                 ": (!ttg.memdesc<1xi64, #ttg.s, #ttg.m>, i32, i1) -> ()\n"
                                 "  %0 = arith.addi %i, %i : i32\n"
                                 "  tt.return\n"
                                 "}\n");
    static const struct {
        const char *op;
        unsigned index, sizes[4];
    } cases[] = {
        {"ttng.wait_barrier", 0, {1, 1, 0, 2}},
        {"ttng.wait_barrier", 1, {1, 1, 1, 0}},
        {"arith.addi", 0, {1, 1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Op *op = find_op(reading, cases[i].op, cases[i].index);
        uint32_t first = 0, count;
        for (unsigned slot = 0; slot < op->row->operand_count; slot++) {
            Value **values = op_operands_at(op, slot, &count);
            assert_int_equal(count, cases[i].sizes[slot]);
            if (count)
                assert_ptr_equal(values, op->operands + first);
            first += count;
        }
        assert_int_equal(first, op->operand_count);
    }
    done(reading);
}

static void attributes_are_taken_apart(void **state) {
    (void)state;
    Reading *reading =
        read_good("#alias = #ttg.blocked<{order = [0]}>\n"
                  "\"op\"() {i = -4 : i8, big = 18446744073709551615 : ui64, f = 0x7F800000 : f32, b = true, "
                  "s = \"a\\22b\", list = [1, \"x\"], d = {k = 2}, ints = array<i32: 0, -1>, y = @a::@b, "
                  "e = #alias, p = #x.y<[1]>, t = tensor<4xf32>, u, dense = dense<0> : tensor<2xi32>, "
                  "m = affine_map<(d0) -> (d0)>, l = loc(\"f\":1:2), plain = 7, real = 1.5} : () -> ()\n");
    const Op *op = first_op(reading);
    static const struct {
        const char *name;
        AttrKind kind;
        const char *type; /* NULL: it has none */
    } kinds[] = {
        {"i", ATTR_INTEGER, "i8"},      {"big", ATTR_INTEGER, "ui64"},
        {"f", ATTR_FLOAT, "f32"},       {"b", ATTR_BOOL, "i1"},
        {"s", ATTR_STRING, NULL},       {"list", ATTR_ARRAY, NULL},
        {"d", ATTR_DICT, NULL},         {"ints", ATTR_INTS, "i32"},
        {"y", ATTR_SYMBOL, NULL},       {"e", ATTR_ALIAS, NULL},
        {"p", ATTR_DIALECT, NULL},      {"t", ATTR_TYPE, "tensor<4xf32>"},
        {"u", ATTR_UNIT, NULL},         {"dense", ATTR_DENSE, "tensor<2xi32>"},
        {"m", ATTR_OTHER, NULL},        {"l", ATTR_LOCATION, NULL},
        {"plain", ATTR_INTEGER, "i64"}, {"real", ATTR_FLOAT, "f64"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const Attr *attr = op_attr(op, kinds[i].name);
        assert_int_equal(attr->kind, kinds[i].kind);
        if (kinds[i].type)
            assert_str_equal(attr->type->text, kinds[i].type);
        else
            assert_null(attr->type);
    }
    assert_int_equal(op_attr(op, "i")->integer, -4);
    assert_true(op_attr(op, "i")->exact);
    assert_false(op_attr(op, "big")->exact);
    assert_int_equal(op_attr(op, "b")->integer, 1);
    assert_int_equal(op_attr(op, "list")->count, 2);
    assert_str_equal(op_attr(op, "list")->items[1]->text, "\"x\"");
    assert_str_equal(dict_get(op_attr(op, "d"), STR("k"))->text, "2");
    assert_int_equal(op_attr(op, "ints")->ints[1], -1);
    assert_str_equal(op_attr(op, "p")->name, "x.y");
    assert_str_equal(op_attr(op, "p")->body, "[1]");
    assert_str_equal(attr_resolve(&reading->module, op_attr(op, "e"))->text, "#ttg.blocked<{order = [0]}>");
    done(reading);
}

static void locations_are_taken_apart(void **state) {
    (void)state;
    Reading *reading = read_good("#loc = loc(\"kernel.py\":12:4)\n"
                                 "\"a\"() : () -> () loc(\"kernel.py\":7:9)\n"
                                 "\"b\"() : () -> () loc(\"name\"(\"kernel.py\":1:2))\n"
                                 "\"c\"() : () -> () loc(callsite(\"f\" at #loc))\n"
                                 "\"d\"() : () -> () loc(fused<\"x\">[\"y\":3:4, unknown])\n"
                                 "\"e\"() : () -> () loc(#loc)\n"
                                 "\"f\"() : () -> () loc(unknown)\n"
                                 "\"g\"() : () -> ()\n");
    const Attr *file = find_op(reading, "a", 0)->location;
    assert_int_equal(file->location, LOC_FILE);
    assert_str_equal(file->name, "kernel.py");
    assert_int_equal(file->line, 7);
    assert_int_equal(file->column, 9);
    const Attr *name = find_op(reading, "b", 0)->location;
    assert_int_equal(name->location, LOC_NAME);
    assert_str_equal(name->name, "name");
    assert_int_equal(name->inner->line, 1);
    const Attr *call = find_op(reading, "c", 0)->location;
    assert_int_equal(call->location, LOC_CALLSITE);
    assert_str_equal(call->inner->name, "f");
    assert_int_equal(call->caller->location, LOC_ALIAS);
    const Attr *fused = find_op(reading, "d", 0)->location;
    assert_int_equal(fused->location, LOC_FUSED);
    assert_int_equal(fused->inner->line, 3);
    assert_int_equal(find_op(reading, "e", 0)->location->location, LOC_ALIAS);
    assert_int_equal(find_op(reading, "f", 0)->location->location, LOC_UNKNOWN);
    assert_null(find_op(reading, "g", 0)->location);
    done(reading);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walks_in_the_order_of_the_text), cmocka_unit_test(a_walk_stays_below_its_root),
        cmocka_unit_test(ops_know_their_parents),         cmocka_unit_test(values_know_their_owners),
        cmocka_unit_test(finds_attributes_by_name),       cmocka_unit_test(finds_operands_by_their_entry),
        cmocka_unit_test(attributes_are_taken_apart),     cmocka_unit_test(locations_are_taken_apart),
    };
    return cmocka_run_group_tests_name("walk", tests, NULL, NULL);
}
