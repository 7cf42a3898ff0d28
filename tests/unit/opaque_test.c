/* mlir/opaque: ops that the table does not know, or not in this spelling, are kept as they are written; their operands,
 * regions, attributes and result types are found all the same. */
#include "reading.h"

static Op *unknown_op(Reading *reading) {
    assert_true(reading->ok);
    assert_int_equal(reading->module.unknown_count, 1);
    for (const Item *item = reading->module.first; item; item = item->next)
        for (Op *op = item->kind == ITEM_OP ? item->op : NULL; op; op = op_next_in_walk(op, item->op))
            if (op->form == FORM_OPAQUE)
                return op;
    fail_msg("there is no opaque op");
    return NULL;
}

/* A function around the op, whose arguments are what it works on. */
static Reading *read_unknown(const char *op) {
    Text text = {0};
    text_addf(&text, "tt.func @f(%%a: i32, %%b: tensor<4xf32>, %%c: i1) {\n  %s\n  tt.return\n}\n", op);
    text_char(&text, 0);
    Reading *reading = read_text(text.data);
    text_free(&text);
    return reading;
}

static void operands_results_and_types_are_found(void **state) {
    (void)state;
    static const struct {
        const char *op, *operands, *results; /* names; types, or '?' where it cannot be told */
    } cases[] = {
        {"my.nothing", "", ""},
        {"my.op %a, %b : i32, tensor<4xf32>", "a b", ""},
        {"my.op(%a) [%b, %a] <{%c}> : ()", "a b a", ""},
        {"%0 = my.op %a : i32", "a", "?"}, /* whose type that is, only the op knows */
        {"%0 = my.op %a : i32 -> tensor<4xi1, #ttg.x>", "a", "tensor<4xi1, #ttg.x>"},
        {"%0 = my.op %a, %b : (i32, tensor<4xf32>) -> f32", "a b", "f32"},
        {"%0:2 = my.op %a : (i32) -> (f32, i1)", "a", "f32 i1"},
        {"%0, %1 = my.op %a : i32 -> f32, i1", "a", "f32 i1"},
        {"%0:2 = my.op %a", "a", "? ?"},
        {"%0 = my.op %a : some words", "a", "?"},
        {"%0:3 = my.op %a : (i32) -> (f32, i1)", "a", "? ? ?"},     /* two types for three results */
        {"my.op %a, \"%b\" : i32 // %c", "a", ""},                  /* strings and comments hold no operands */
        {"my.op %a,\n      %b,\n      %c : i1", "a b c", ""},       /* a line that ends in a comma goes on */
        {"%0 = arith.addi %a, %a but otherwise : i32", "a a", "?"}, /* a known op in no known spelling */
        {"tt.reduce %b : tensor<4xf32>", "b", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Reading *reading = read_unknown(cases[i].op);
        const Op *op = unknown_op(reading);
        Text operands = {0}, results = {0};
        for (uint32_t k = 0; k < op->operand_count; k++)
            text_addf(&operands, "%s%.*s", k ? " " : "", STR_ARG(op->operands[k]->name->text));
        for (uint32_t k = 0; k < op->result_count; k++)
            text_addf(&results, "%s%.*s", k ? " " : "",
                      STR_ARG(op->results[k].type ? op->results[k].type->text : STR("?")));
        assert_str_equal(((Str){operands.data, operands.size}), cases[i].operands);
        assert_str_equal(((Str){results.data, results.size}), cases[i].results);
        assert_null(op->row);
        text_free(&operands);
        text_free(&results);
        done(reading);
    }
}

/* A note says at which word the known spellings end, or that there is none. */
static void a_note_says_why(void **state) {
    (void)state;
    static const struct {
        const char *op;
        uint32_t column;
        const char *message;
    } cases[] = {
        {"my.op %a", 3, "my.op is not in the op table; it is kept as it is written"},
        {"%0 = my.op %a", 8, "my.op is not in the op table; it is kept as it is written"},
        {"arith.addi %a %a : i32", 17,
         "expected ',': no known spelling of arith.addi fits, so it is kept as it is written"},
        {"%0 = arith.addi %a, %a : wrong", 28,
         "expected a type: no known spelling of arith.addi fits, so it is kept as it is written"},
        {"tt.reduce %b", 12,
         "expected the generic form: no known spelling of tt.reduce fits, so it is kept as it is written"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Reading *reading = read_unknown(cases[i].op);
        assert_true(reading->ok);
        assert_int_equal(reading->diagnostics.count, 1);
        assert_int_equal(reading->diagnostics.items[0].severity, SEVERITY_NOTE);
        assert_string_equal(reading->diagnostics.items[0].message, cases[i].message);
        assert_int_equal(reading->diagnostics.items[0].place.line, 2);
        assert_int_equal(reading->diagnostics.items[0].place.column, cases[i].column);
        done(reading);
    }
}

/* Asked to be strict, the reader makes the same an error. */
static void strict_reading_fails(void **state) {
    (void)state;
    Reading *reading = read_text_with("my.op\n\"my.generic\"() : () -> ()\n\"placeholder\"() : () -> ()\n",
                                      (ReadOptions){.strict = true});
    assert_false(reading->ok);
    assert_int_equal(reading->diagnostics.errors, 2);
    assert_string_equal(reading->diagnostics.items[0].message, "my.op is not in the op table");
    assert_string_equal(reading->diagnostics.items[1].message, "my.generic is not in the op table");
    done(reading);
}

static void dictionary_and_location_are_found(void **state) {
    (void)state;
    Reading *reading = read_unknown("my.op %a {k = 3 : i32, flag} : i32 loc(\"x.py\":1:2)");
    const Op *op = unknown_op(reading);
    assert_str_equal(op_attr(op, "k")->text, "3 : i32");
    assert_non_null(op_attr(op, "flag"));
    assert_int_equal(op->location->line, 1);
    done(reading);
}

/* Braces that start with an op hold a region; what is in it is read as anywhere else. */
static void regions_are_read(void **state) {
    (void)state;
    Reading *reading = read_unknown("my.loop %a to %a (%i = %a, %x: i32) {\n"
                                    "    %0 = arith.addi %a, %i : i32\n"
                                    "    my.yield %0\n"
                                    "  } and {\n"
                                    "  ^bb0(%y: i32):\n"
                                    "    \"end\"(%y) : (i32) -> ()\n"
                                    "  } {k = 1 : i32}");
    assert_true(reading->ok);
    const Op *loop = find_op(reading, "my.loop", 0), *add = find_op(reading, "arith.addi", 0);
    assert_int_equal(loop->region_count, 2);
    assert_int_equal(loop->operand_count, 3);
    assert_ptr_equal(op_parent(add), loop);
    assert_non_null(add->row);
    assert_ptr_equal(add->operands[1], &loop->regions[0].first->args[0]); /* %i is an argument of the region */
    assert_int_equal(loop->regions[0].first->arg_count, 2);
    assert_int_equal(loop->regions[1].first->arg_count, 1);
    assert_str_equal(op_attr(loop, "k")->text, "1 : i32");
    assert_non_null(find_op(reading, "my.yield", 0));
    done(reading);
}

/* The text is printed as it stood, whatever it was. */
static void text_is_kept(void **state) {
    (void)state;
    static const char *const ops[] = {
        "my.op",
        "%0:2 = my.op %a, [%b]  {x=1} :  i32->f32,i1",
        "my.op loc(\"x\")",
        "my.region {\n    %0 = arith.addi %a, %a : i32\n  }",
        "my.long %a,\n      %b : i32",
        "my.op \"a string with } and // in it\" %a",
        "my.op affine_set<(d0) : (d0 >= 0)>",
        "my.compare %a -> %c",
    };
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        Text expected = {0};
        text_addf(&expected, "tt.func @f(%%a: i32, %%b: tensor<4xf32>, %%c: i1) {\n  %s\n  tt.return\n}\n", ops[i]);
        text_char(&expected, 0);
        Reading *reading = read_unknown(ops[i]);
        assert_true(reading->ok);
        char *found = printed(reading, PRINT_AS_WRITTEN);
        assert_string_equal(found, expected.data);
        free(found);
        text_free(&expected);
        done(reading);
    }
}

/* Its results can be used; where their type is not known, any use is taken to be right. */
static void results_can_be_used(void **state) {
    (void)state;
    Reading *reading = read_unknown("%0:2 = my.op %a : (i32) -> (i32, f32)\n"
                                    "  %1 = arith.addi %0#0, %a : i32\n"
                                    "  %2 = my.other\n"
                                    "  %3 = arith.addi %2, %a : i32");
    assert_true(reading->ok);
    assert_ptr_equal(find_op(reading, "arith.addi", 0)->operands[0], &find_op(reading, "my.op", 0)->results[0]);
    done(reading);
    assert_error("%0 = my.op -> f32\n%1 = tt.splat %0 : i32 -> tensor<4xi32>\n", 2, 15,
                 "'%0' is used as i32 but has type f32");
}

/* Whatever it means, its brackets must match: what is kept as it is written must be readable again. */
static void brackets_must_match(void **state) {
    (void)state;
    static const char *const texts[] = {"my.op (\n",
                                        "my.op )\n",
                                        "my.op [\n",
                                        "my.op ]\n",
                                        "my.op <\n",
                                        "my.op >\n",
                                        "my.op {a\n",
                                        "my.op }\n",
                                        "my.op (]\n",
                                        "my.op ([)]\n",
                                        "my.op \"a\n",
                                        "module {\n  my.op (\n}\n",
                                        "module {\n  my.op {b - 1\n}\n"};
    unsigned accepted = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        Reading *reading = read_text(texts[i]);
        if (reading->ok) {
            print_error("without an error: %s", texts[i]);
            accepted++;
        }
        done(reading);
    }
    assert_int_equal(accepted, 0);
}

/* In the generic form an op is known by its brackets alone, in the table or not. */
static void generic_forms_need_no_row(void **state) {
    (void)state;
    Reading *reading = read_text("%0 = \"my.op\"() <{p = 1 : i32}> ({\n}) {k} : () -> f32\n");
    assert_true(reading->ok);
    assert_int_equal(reading->diagnostics.notes, 1);
    assert_string_equal(reading->diagnostics.items[0].message, "my.op is not in the op table");
    const Op *op = first_op(reading);
    assert_int_equal(op->form, FORM_GENERIC);
    assert_null(op->row);
    assert_int_equal(op->region_count, 1);
    assert_str_equal(op->results[0].type->text, "f32");
    done(reading);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands_results_and_types_are_found),
        cmocka_unit_test(a_note_says_why),
        cmocka_unit_test(strict_reading_fails),
        cmocka_unit_test(dictionary_and_location_are_found),
        cmocka_unit_test(regions_are_read),
        cmocka_unit_test(text_is_kept),
        cmocka_unit_test(results_can_be_used),
        cmocka_unit_test(brackets_must_match),
        cmocka_unit_test(generic_forms_need_no_row),
    };
    return cmocka_run_group_tests_name("opaque", tests, NULL, NULL);
}
