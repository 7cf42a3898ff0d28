/* ir: types: what is kept of them, when two are the same, and types made from others. */
#include "reading.h"

/* Result number `index` of the first op: how the tests below hand a type over. */
static const Type *type_at(const Reading *reading, uint32_t index) {
    assert_in_range(index, 0, first_op(reading)->result_count - 1);
    return first_op(reading)->results[index].type;
}

/* A module whose first op has results of these types. */
static Reading *read_types(const char *aliases, const char *types) {
    Text text = {0};
    text_addf(&text, "%s\"op\"() : () -> (%s)\n", aliases, types);
    text_char(&text, 0);
    Reading *reading = read_good(text.data);
    text_free(&text);
    return reading;
}

/* ---- What is kept of a type -------------------------------------------------------------------- */

static void takes_builtin_types_apart(void **state) {
    (void)state;
    static const struct {
        const char *text;
        TypeKind kind;
        char sign;
        unsigned width;
    } cases[] = {
        {"i1", TYPE_INTEGER, 0, 1},      {"i32", TYPE_INTEGER, 0, 32},   {"si8", TYPE_INTEGER, 's', 8},
        {"ui16", TYPE_INTEGER, 'u', 16}, {"i128", TYPE_INTEGER, 0, 128}, {"f16", TYPE_FLOAT, 0, 16},
        {"bf16", TYPE_FLOAT, 0, 16},     {"f32", TYPE_FLOAT, 0, 32},     {"f64", TYPE_FLOAT, 0, 64},
        {"tf32", TYPE_FLOAT, 0, 32},     {"f8E4M3FN", TYPE_FLOAT, 0, 8}, {"f8E5M2", TYPE_FLOAT, 0, 8},
        {"f4E2M1FN", TYPE_FLOAT, 0, 4},  {"index", TYPE_INDEX, 0, 64},   {"none", TYPE_NONE, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Reading *reading = read_types("", cases[i].text);
        const Type *type = type_at(reading, 0);
        assert_str_equal(type->text, cases[i].text);
        assert_int_equal(type->kind, cases[i].kind);
        assert_int_equal(type->sign, cases[i].sign);
        assert_int_equal(type->width, cases[i].width);
        done(reading);
    }
}

static void takes_shapes_apart(void **state) {
    (void)state;
    static const struct {
        const char *text;
        TypeKind kind;
        unsigned dim_count;
        int64_t first, last;
        const char *element, *encoding;
    } cases[] = {
        {"tensor<128x64xf16, #ttg.shared>", TYPE_TENSOR, 2, 128, 64, "f16", "#ttg.shared"},
        {"tensor<4xi1>", TYPE_TENSOR, 1, 4, 4, "i1", NULL},
        {"tensor<?x8xi32>", TYPE_TENSOR, 2, DIM_DYNAMIC, 8, "i32", NULL},
        {"tensor<f32>", TYPE_TENSOR, 0, 0, 0, "f32", NULL},
        {"tensor<16x!tt.ptr<f32>>", TYPE_TENSOR, 1, 16, 16, "!tt.ptr<f32>", NULL},
        {"tensor<2xtensor<3xf32>>", TYPE_TENSOR, 1, 2, 2, "tensor<3xf32>", NULL},
        {"vector<4x[8]xf32>", TYPE_VECTOR, 2, 4, 8, "f32", NULL},
        {"memref<2x?xi8, #x.map, 3>", TYPE_MEMREF, 2, 2, DIM_DYNAMIC, "i8", NULL},
        {"complex<f32>", TYPE_COMPLEX, 0, 0, 0, "f32", NULL},
        {"!tt.ptr<f32>", TYPE_DIALECT, 0, 0, 0, "f32", NULL},
        {"!tt.ptr<tensor<4xf32>, 3>", TYPE_DIALECT, 0, 0, 0, "tensor<4xf32>", NULL},
        {"!ttg.memdesc<2x8xf16, #ttg.s, #ttg.m, mutable>", TYPE_DIALECT, 2, 2, 8, "f16", NULL},
        {"!tt.tensordesc<tensor<4xf32>>", TYPE_DIALECT, 0, 0, 0, "tensor<4xf32>", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Reading *reading = read_types("", cases[i].text);
        const Type *type = type_at(reading, 0);
        assert_str_equal(type->text, cases[i].text);
        assert_int_equal(type->kind, cases[i].kind);
        assert_int_equal(type->dim_count, cases[i].dim_count);
        if (type->dim_count) {
            assert_int_equal(type->dims[0], cases[i].first);
            assert_int_equal(type->dims[type->dim_count - 1], cases[i].last);
        }
        assert_str_equal(type->element->text, cases[i].element);
        if (cases[i].encoding)
            assert_str_equal(type->encoding->text, cases[i].encoding);
        else
            assert_null(type->encoding);
        done(reading);
    }
}

static void takes_parameters_and_parts_apart(void **state) {
    (void)state;
    Reading *reading = read_types("", "!ttg.memdesc<2x8xf16, #ttg.s<{a = [1, 2]}>, mutable>, !ttg.async.token, "
                                      "tuple<i32, f32>, (i1, i2) -> (i3), tensor<*xf32>");
    const Type *memdesc = type_at(reading, 0);
    assert_str_equal(memdesc->name, "ttg.memdesc");
    assert_int_equal(memdesc->param_count, 3);
    assert_str_equal(memdesc->params[0], "2x8xf16");
    assert_str_equal(memdesc->params[1], "#ttg.s<{a = [1, 2]}>");
    assert_str_equal(memdesc->params[2], "mutable");
    const Type *token = type_at(reading, 1);
    assert_str_equal(token->name, "ttg.async.token");
    assert_int_equal(token->param_count, 0);
    const Type *tuple = type_at(reading, 2);
    assert_int_equal(tuple->kind, TYPE_TUPLE);
    assert_int_equal(tuple->part_count, 2);
    assert_str_equal(tuple->parts[1]->text, "f32");
    const Type *function = type_at(reading, 3);
    assert_int_equal(function->kind, TYPE_FUNCTION);
    assert_int_equal(function->input_count, 2);
    assert_int_equal(function->part_count, 3);
    assert_str_equal(function->parts[2]->text, "i3");
    assert_true(type_at(reading, 4)->unranked);
    done(reading);
}

/* A comment in a type is not part of it, whatever brackets, quotes and names it has. */
static void forgets_comments_and_line_ends(void **state) {
    (void)state;
    Reading *reading = read_types("", "tensor<4xf32, // [ #nothing\n  #ttg.a>, !ttg.memdesc<4xf16, // ( \"\n #ttg.s>");
    assert_str_equal(type_at(reading, 0)->text, "tensor<4xf32, #ttg.a>");
    assert_str_equal(type_at(reading, 1)->text, "!ttg.memdesc<4xf16, #ttg.s>");
    done(reading);
}

/* ---- When two types are the same --------------------------------------------------------------- */

/* One text, one handle, wherever it stands. */
static void interns_by_text(void **state) {
    (void)state;
    Reading *reading = read_types("", "tensor<4xi32, #x.y>, tensor<4xi32, #x.y>, tensor<4xi32,#x.y>");
    assert_ptr_equal(type_at(reading, 0), type_at(reading, 1));
    assert_ptr_not_equal(type_at(reading, 0), type_at(reading, 2));
    assert_ptr_equal(type_find(&reading->module, STR("tensor<4xi32, #x.y>")), type_at(reading, 0));
    assert_null(type_find(&reading->module, STR("tensor<5xi32, #x.y>")));
    done(reading);
}

/* Aliases, aliases of aliases, aliases inside, and spaces are only ways to write a type. */
static void spellings_share_one_canonical_type(void **state) {
    (void)state;
    Reading *reading =
        read_types("#e = #ttg.blocked<{order = [0]}>\n"
                   "#f = #e\n"
                   "!t = tensor<4xi32, #e>\n"
                   "!u = !t\n",
                   "!u, !t, tensor<4xi32, #e>, tensor<4xi32, #f>, "
                   "tensor<4xi32, #ttg.blocked<{order = [0]}>>, tensor<4xi32,#ttg.blocked<{order=[0]}>>");
    Module *module = &reading->module;
    const Type *canonical = type_canonical(module, type_at(reading, 0));
    assert_str_equal(canonical->text, "tensor<4xi32,#ttg.blocked<{order=[0]}>>");
    for (uint32_t i = 0; i < 6; i++)
        assert_ptr_equal(type_canonical(module, type_at(reading, i)), canonical);
    assert_ptr_equal(type_canonical(module, canonical), canonical);
    assert_int_equal(canonical->kind, TYPE_TENSOR);
    assert_str_equal(type_resolve(module, type_at(reading, 0))->text, "tensor<4xi32, #e>");
    done(reading);
}

/* A space between two words does count, and so does everything between quotes. */
static void other_texts_have_other_canonical_types(void **state) {
    (void)state;
    Reading *reading = read_types("", "!x.y<a b>, !x.y<ab>, !x.y<\"a b\">, !x.y<\"ab\">");
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t j = 0; j < 4; j++)
            assert_int_equal(type_agree(&reading->module, type_at(reading, i), type_at(reading, j)),
                             i == j ? AGREE : DIFFER);
    done(reading);
}

/* Some formats write `<...>` for `!name<...>`; it is the same type all the same. */
static void bare_form_is_the_same_type(void **state) {
    (void)state;
    Reading *reading = read_types("#s = #ttg.shared\n", "!ttg.memdesc<4xf16, #s>, !ttg.memdesc<4xf16, #ttg.shared>");
    Module *module = &reading->module;
    const Type *bare = type_bare(module, type_at(reading, 0));
    assert_str_equal(bare->text, "<4xf16, #s>");
    assert_true(bare->bare);
    assert_ptr_equal(type_bare(module, type_at(reading, 0)), bare);
    assert_int_equal(type_agree(module, bare, type_at(reading, 0)), AGREE);
    assert_int_equal(type_agree(module, bare, type_at(reading, 1)), AGREE);
    assert_str_equal(type_canonical(module, bare)->text, "!ttg.memdesc<4xf16,#ttg.shared>");
    done(reading);
}

/* However long its name is: only messages are cut. */
static void long_names_are_kept_whole(void **state) {
    (void)state;
    Text text = {0};
    text_addf(&text, "tt.func @f(%%x: !my.%0300d<4>) {\n  tlx.dump_layout %%x : <4>\n  tt.return\n}\n", 7);
    text_char(&text, 0);
    assert_prints(text.data, PRINT_AS_WRITTEN, text.data);
    text_free(&text);
}

/* The shape of a memory descriptor's allocation is left out where it is its own. */
static void own_allocation_shape_adds_nothing(void **state) {
    (void)state;
    Reading *reading = read_types("", "!ttg.memdesc<4x8xf16, #ttg.s, #ttg.m>, "
                                      "!ttg.memdesc<4x8xf16, #ttg.s, #ttg.m, 4x8>, "
                                      "!ttg.memdesc<4x8xf16, #ttg.s, #ttg.m, 2x4x8>");
    Module *module = &reading->module;
    assert_int_equal(type_agree(module, type_at(reading, 0), type_at(reading, 1)), AGREE);
    assert_int_equal(type_agree(module, type_at(reading, 0), type_at(reading, 2)), DIFFER);
    done(reading);
}

static void what_is_not_known_agrees_with_all(void **state) {
    (void)state;
    Reading *reading = read_types("", "i32, f32");
    Module *module = &reading->module;
    assert_int_equal(type_agree(module, type_at(reading, 0), NULL), AGREE);
    assert_int_equal(type_agree(module, NULL, NULL), AGREE);
    assert_int_equal(type_agree(module, type_at(reading, 0), type_at(reading, 1)), DIFFER);
    done(reading);
}

/* While an alias is not defined (or only by itself), whether types agree cannot be told. */
static void aliases_without_an_end_agree_later(void **state) {
    (void)state;
    Reading *reading = read_text("!a = !b\n!b = !a\n#c = #x.y<#d>\n#d = #x.y<#c>\n"
                                 "\"op\"() : () -> (!undefined, !a, tensor<4xi32, #c>, i32)\n");
    Module *module = &reading->module;
    for (uint32_t i = 0; i < 3; i++) {
        assert_null(type_canonical(module, type_at(reading, i)));
        assert_int_equal(type_agree(module, type_at(reading, i), type_at(reading, 3)), LATER);
    }
    assert_null(type_resolve(module, type_at(reading, 1)));
    done(reading);
}

static void aliases_may_come_after_their_use(void **state) {
    (void)state;
    Reading *reading = read_good("tt.func @f(%x: !t, %y: tensor<4xi32, #e>) {\n"
                                 "  %0 = arith.addi %x, %y : tensor<4xi32, #e>\n"
                                 "  tt.return\n"
                                 "}\n"
                                 "!t = tensor<4xi32, #x.y>\n"
                                 "#e = #x.y\n");
    done(reading);
    assert_error("tt.func @f(%x: !t) {\n"
                 "  %0 = tt.splat %x : i32 -> tensor<4xi32>\n"
                 "  tt.return\n"
                 "}\n"
                 "!t = i64\n",
                 2, 17, "'%x' is used as i32 but has type !t");
}

/* ---- Types made from others -------------------------------------------------------------------- */

static void makes_types_from_others(void **state) {
    (void)state;
    typedef const Type *Make(Module *, const Type *);
    static const struct {
        Make *make;
        const char *from, *to; /* NULL: there is no such type */
    } cases[] = {
        {type_i1_like, "i32", "i1"},
        {type_i1_like, "f16", "i1"},
        {type_i1_like, "index", "i1"},
        {type_i1_like, "!tt.ptr<f32>", "i1"},
        {type_i1_like, "tensor<4x8xf32, #e>", "tensor<4x8xi1, #e>"},
        {type_i1_like, "tensor<4x!tt.ptr<f16>>", "tensor<4xi1>"},
        {type_i1_like, "vector<4xf32>", "vector<4xi1>"},
        {type_i1_like, "!t", "tensor<?x4xi1, #e>"},
        {type_i1_like, "!tt.ptr<tensor<4xf32>>", NULL},
        {type_i1_like, "!ttg.async.token", NULL},
        {type_i1_like, "none", NULL},
        {type_i32_like, "f64", "i32"},
        {type_i32_like, "tensor<4xf16, #e>", "tensor<4xi32, #e>"},
        {type_pointee, "!tt.ptr<f32>", "f32"},
        {type_pointee, "!tt.ptr<i8, 3>", "i8"},
        {type_pointee, "!tt.ptr<tensor<4xf32>>", "tensor<4xf32>"},
        {type_pointee, "tensor<4x!tt.ptr<f16>, #e>", "tensor<4xf16, #e>"},
        {type_pointee, "tensor<4x!p>", "tensor<4xbf16>"},
        {type_pointee, "!p", "bf16"},
        {type_pointee, "i32", NULL},
        {type_pointee, "tensor<4xf32>", NULL},
        {type_pointee, "!ttg.memdesc<4xf32, #ttg.s>", NULL},
        {type_element, "tensor<4x8xf32>", "f32"},
        {type_element, "vector<4xi8>", "i8"},
        {type_element, "!t", "f32"},
        {type_element, "i32", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Reading *reading = read_types("#e = #x.y\n!t = tensor<?x4xf32, #e>\n!p = !tt.ptr<bf16>\n", cases[i].from);
        const Type *made = cases[i].make(&reading->module, type_at(reading, 0));
        if (cases[i].to) {
            if (!made)
                fail_msg("nothing is made from %s", cases[i].from);
            assert_str_equal(made->text, cases[i].to);
            assert_ptr_equal(cases[i].make(&reading->module, type_at(reading, 0)), made);
            assert_ptr_equal(type_find(&reading->module, made->text), made);
        } else {
            assert_null(made);
        }
        done(reading);
    }
}

static void names_types_that_were_never_written(void **state) {
    (void)state;
    Reading *reading = read_good("module {\n}\n");
    Module *module = &reading->module;
    const Type *token = type_named(module, "!ttg.async.token");
    assert_int_equal(token->kind, TYPE_DIALECT);
    assert_str_equal(token->name, "ttg.async.token");
    assert_int_equal(type_named(module, "i32")->width, 32);
    assert_int_equal(type_named(module, "index")->kind, TYPE_INDEX);
    assert_ptr_equal(type_named(module, "i32"), type_named(module, "i32"));
    done(reading);
}

/* memdesc was triton_gpu's, and before that tt's. */
static void knows_older_names(void **state) {
    (void)state;
    Reading *reading = read_types("", "!ttg.memdesc<4xf16>, !triton_gpu.memdesc<4xf16>, !tt.memdesc<4xf16>, "
                                      "!tt.ptr<f16>, tensor<4xf16>");
    static const bool is[] = {true, true, true, false, false};
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(type_is(type_at(reading, i), STR("ttg.memdesc")), is[i]);
    assert_true(type_is(type_at(reading, 3), STR("tt.ptr")));
    done(reading);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_builtin_types_apart),
        cmocka_unit_test(takes_shapes_apart),
        cmocka_unit_test(takes_parameters_and_parts_apart),
        cmocka_unit_test(forgets_comments_and_line_ends),
        cmocka_unit_test(interns_by_text),
        cmocka_unit_test(spellings_share_one_canonical_type),
        cmocka_unit_test(other_texts_have_other_canonical_types),
        cmocka_unit_test(bare_form_is_the_same_type),
        cmocka_unit_test(long_names_are_kept_whole),
        cmocka_unit_test(own_allocation_shape_adds_nothing),
        cmocka_unit_test(what_is_not_known_agrees_with_all),
        cmocka_unit_test(aliases_without_an_end_agree_later),
        cmocka_unit_test(aliases_may_come_after_their_use),
        cmocka_unit_test(makes_types_from_others),
        cmocka_unit_test(names_types_that_were_never_written),
        cmocka_unit_test(knows_older_names),
    };
    return cmocka_run_group_tests_name("types", tests, NULL, NULL);
}
