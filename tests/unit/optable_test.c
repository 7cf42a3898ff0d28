/* ir: the op table: every row is well-formed, and says what docs/op-table.md says it says. */
#include "ir/op_ids.h"
#include "reading.h"

static void every_row_is_well_formed(void **state) {
    (void)state;
    const char *problem = op_table_problem();
    if (problem)
        fail_msg("%s", problem);
    assert_true(OP_COUNT > 500);
}

static void every_row_is_found_by_its_name(void **state) {
    (void)state;
    for (int id = 0; id < OP_COUNT; id++) {
        const OpRow *row = op_row_by_id((OpId)id);
        assert_int_equal(row->id, id);
        assert_ptr_equal(op_row(row->name), row);
        assert_ptr_equal(op_row_generic(row->name), row);
    }
}

/* The ids are the names with underscores for dots, so that code can be read without the table at hand. */
static void ids_follow_from_names(void **state) {
    (void)state;
    static const char *const ids[] = {
#define OP(id, ...) #id,
#include "ir/ops/all.def"
#undef OP
    };
    for (int id = 0; id < OP_COUNT; id++) {
        if (id == OP_placeholder)
            continue;
        Str name = op_row_by_id((OpId)id)->name;
        assert_int_equal(strlen(ids[id]), name.size);
        for (size_t i = 0; i < name.size; i++)
            assert_int_equal(ids[id][i], name.data[i] == '.' ? '_' : name.data[i]);
    }
}

/* A column taken apart has the names of the column as written, and a constraint only names what there is. */
static void columns_are_taken_apart(void **state) {
    (void)state;
    const OpRow *row = op_row(STR("ttng.wait_barrier"));
    assert_string_equal(row->operand_column, "alloc:memdesc phase:i32 pred?:i1 deps*:memdesc");
    assert_int_equal(row->operand_count, 4);
    static const struct {
        const char *name, *text;
        int arity, rule;
    } operands[] = {
        {"alloc", "ttg.memdesc", SLOT_ONE, TYPE_CLASS},
        {"phase", "i32", SLOT_ONE, TYPE_FIXED},
        {"pred", "i1", SLOT_OPTIONAL, TYPE_FIXED},
        {"deps", "ttg.memdesc", SLOT_MANY, TYPE_CLASS},
    };
    for (unsigned i = 0; i < 4; i++) {
        assert_str_equal(row->operands[i].name, operands[i].name);
        assert_str_equal(row->operands[i].text, operands[i].text);
        assert_int_equal(row->operands[i].arity, operands[i].arity);
        assert_int_equal(row->operands[i].rule, operands[i].rule);
        assert_false(row->operands[i].uncommon);
        assert_int_equal(op_slot(row->operands, row->operand_count, str_of(operands[i].name)), i);
    }
    assert_int_equal(op_slot(row->operands, row->operand_count, STR("nothing")), -1);
}

static void constraints_refer_to_their_column(void **state) {
    (void)state;
    const OpRow *load = op_row(STR("tt.load"));
    assert_int_equal(load->operands[1].rule, TYPE_I1_OF);
    assert_int_equal(load->operands[1].of.column, REF_OPERAND);
    assert_int_equal(load->operands[1].of.index, 0);
    assert_int_equal(load->results[0].rule, TYPE_POINTEE_OF);

    const OpRow *constant = op_row(STR("arith.constant"));
    assert_int_equal(constant->results[0].rule, TYPE_SAME);
    assert_int_equal(constant->results[0].of.column, REF_ATTR);

    const OpRow *split = op_row(STR("tt.split"));
    assert_int_equal(split->results[1].of.column, REF_RESULT);
    assert_int_equal(op_row(STR("nvws.warp_group"))->results[0].rule, TYPE_YIELDED);
    assert_int_equal(op_row(STR("tt.unsplat"))->results[0].rule, TYPE_ELEMENT_OF);
    assert_int_equal(op_row(STR("tt.dot"))->operands[0].rule, TYPE_TENSOR_ANY);

    const OpRow *base = op_row(STR("nvg.tensor_memory_base"));
    assert_int_equal(base->results[0].rule, TYPE_FIXED);
    assert_str_equal(base->results[0].text, "!llvm.ptr<6>");

    const OpRow *segment = op_row(STR("proton_gpu.segment_alloc"));
    assert_int_equal(segment->results[0].rule, TYPE_CLASS);
    assert_str_equal(segment->results[0].text, "proton_gpu.segment");

    const OpRow *descriptor = op_row(STR("tt.make_tensor_descriptor")); /* descPtr?+ : only some releases */
    assert_true(descriptor->operands[3].uncommon);
    assert_int_equal(descriptor->operands[3].arity, SLOT_OPTIONAL);
}

static void attributes_have_kinds(void **state) {
    (void)state;
    static const struct {
        const char *op, *name;
        int syntax, arity;
        const char *int_type;
    } cases[] = {
        {"ttng.init_barrier", "count", SYNTAX_INT, SLOT_ONE, "i32"},
        {"llvm.load", "alignment", SYNTAX_INT, SLOT_OPTIONAL, "i64"},
        {"tt.load", "isVolatile", SYNTAX_BOOL, SLOT_OPTIONAL, NULL},
        {"tt.assert", "message", SYNTAX_STRING, SLOT_ONE, NULL},
        {"tt.call", "callee", SYNTAX_SYMBOL, SLOT_ONE, NULL},
        {"tt.func", "sym_name", SYNTAX_SYMBOL_NAME, SLOT_ONE, NULL},
        {"tt.reshape", "allow_reorder", SYNTAX_UNIT, SLOT_OPTIONAL, NULL},
        {"tt.trans", "order", SYNTAX_INTS, SLOT_ONE, "i32"},
        {"scf.index_switch", "cases", SYNTAX_INTS, SLOT_ONE, "i64"},
        {"arith.constant", "value", SYNTAX_ANY, SLOT_ONE, NULL},
        {"tt.load", "cache", SYNTAX_ENUM, SLOT_OPTIONAL, NULL},
        {"arith.addf", "fastmath", SYNTAX_FLAGS, SLOT_OPTIONAL, NULL},
        {"llvm.icmp", "predicate", SYNTAX_QUOTED, SLOT_ONE, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const OpRow *row = op_row(str_of(cases[i].op));
        assert_non_null(row);
        int slot = op_slot(row->attrs, row->attr_count, str_of(cases[i].name));
        assert_true(slot >= 0);
        assert_int_equal(row->attrs[slot].syntax, cases[i].syntax);
        assert_int_equal(row->attrs[slot].arity, cases[i].arity);
        if (cases[i].int_type)
            assert_string_equal(row->attrs[slot].int_type, cases[i].int_type);
        else
            assert_null(row->attrs[slot].int_type);
    }
}

/* A value of an enumeration is what the dialects' own C++ has, since the generic form writes the number. */
static void enumerations_have_values(void **state) {
    (void)state;
    static const struct {
        const char *op, *attribute, *word;
        int64_t value; /* -1: no such word */
    } cases[] = {
        {"tt.load", "cache", "none", 1},
        {"tt.load", "cache", "ca", 2},
        {"tt.load", "cache", "cv", 7},
        {"tt.load", "cache", "CA", -1},
        {"tt.load", "evict", "evict_last", 3},
        {"tt.load", "padding", "nan", 2},
        {"tt.atomic_rmw", "sem", "acq_rel", 4},
        {"tt.atomic_rmw", "scope", "sys", 3},
        {"tt.atomic_rmw", "atomic_rmw_op", "exch", 10},
        {"tt.get_program_id", "axis", "x", 0},
        {"tt.get_program_id", "axis", "z", 2},
        {"tt.clampf", "propagateNan", "all", 65535},
        {"tt.dot", "inputPrecision", "tf32x3", 1},
        {"tt.dot_scaled", "a_elem_type", "fp16", 6},
        {"ttg.barrier", "addrSpace", "global_write", 4},
        {"arith.cmpi", "predicate", "eq", 0},
        {"arith.cmpi", "predicate", "uge", 9},
        {"arith.cmpf", "predicate", "true", 15},
        {"arith.addf", "fastmath", "contract", 32},
        {"arith.addi", "overflowFlags", "nuw", 2},
        {"arith.addi", "overflowFlags", "", -1},
        {"llvm.icmp", "predicate", "sgt", 4},
        {"llvm.atomicrmw", "bin_op", "udec_wrap", 16},
        {"llvm.fence", "ordering", "seq_cst", 7},
        {"llvm.fence", "ordering", "seq", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const OpRow *row = op_row(str_of(cases[i].op));
        assert_non_null(row);
        int slot = op_slot(row->attrs, row->attr_count, str_of(cases[i].attribute));
        assert_true(slot >= 0);
        int64_t value = -1;
        bool known = enum_value(row->attrs[slot].enumeration, str_of(cases[i].word), &value);
        if (known != (cases[i].value >= 0) || (known && value != cases[i].value))
            fail_msg("%s %s is %lld", cases[i].op, cases[i].word, (long long)value);
    }
}

/* Older releases had longer dialect names; at the top of a file an op may have none. */
static void older_and_shorter_names_find_the_same_row(void **state) {
    (void)state;
    static const struct {
        const char *name;
        OpId id;
    } cases[] = {
        {"triton_gpu.local_load", OP_ttg_local_load},
        {"triton_gpu.async_wait", OP_ttg_async_wait},
        {"triton_nvidia_gpu.wait_barrier", OP_ttng_wait_barrier},
        {"amdgpu.buffer_load", OP_amdg_buffer_load},
        {"module", OP_builtin_module},
        {"unrealized_conversion_cast", OP_builtin_unrealized_conversion_cast},
        {"return", OP_func_return},
        {"call", OP_func_call},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_ptr_equal(op_row(str_of(cases[i].name)), op_row_by_id(cases[i].id));
}

static void other_names_have_no_row(void **state) {
    (void)state;
    static const char *const names[] = {"tt.nothing", "triton_gpu.nothing", "triton_gpu.", "tt",      "",
                                        "nothing",    "builtin.",           "ttg.memdesc", "tt.load "};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_null(op_row(str_of(names[i])));
    char longest[500];
    memset(longest, 'x', sizeof longest);
    memcpy(longest, "triton_gpu.", 11);
    assert_null(op_row((Str){longest, sizeof longest}));
}

/* In the generic form an op that no dialect owns uses one row for all such ops. */
static void placeholder_is_for_names_without_a_dialect(void **state) {
    (void)state;
    const OpRow *placeholder = op_row_by_id(OP_placeholder);
    assert_ptr_equal(op_row_generic(STR("use")), placeholder);
    assert_ptr_equal(op_row_generic(STR("some_op")), placeholder);
    assert_null(op_row_generic(STR("my.op")));
    assert_null(op_row(STR("use")));
    assert_int_equal(placeholder->operands[0].arity, SLOT_MANY);
    assert_int_equal(placeholder->results[0].arity, SLOT_MANY);
    assert_true(placeholder->formats[0].generic_only);
}

static void traits_say_how_regions_behave(void **state) {
    (void)state;
    assert_true(op_row(STR("tt.func"))->traits & ISOLATED);
    assert_true(op_row(STR("module"))->traits & ISOLATED);
    assert_true(op_row(STR("module"))->traits & GRAPH);
    assert_false(op_row(STR("scf.for"))->traits & ISOLATED);
    assert_true(op_row(STR("scf.yield"))->traits & TERMINATOR);
    assert_true(op_row(STR("tt.return"))->traits & TERMINATOR);
    assert_false(op_row(STR("tt.load"))->traits & TERMINATOR);
    assert_int_equal(row_yields(op_row(STR("scf.for"))), OP_scf_yield);
    assert_int_equal(row_yields(op_row(STR("scf.if"))), OP_scf_yield);
    assert_int_equal(row_yields(op_row(STR("scf.while"))), -1);
    assert_int_equal(row_yields(op_row(STR("tt.func"))), -1);
}

/* ---- Formats ----------------------------------------------------------------------------------- */

static void check_group(const OpRow *row, const Format *format, unsigned begin, unsigned end) {
    assert_true(begin <= end && end <= format->count);
    for (unsigned i = begin; i < end; i++) {
        const Element *element = &format->elements[i];
        switch (element->kind) {
        case ELEMENT_LITERAL:
            assert_true(element->text.size > 0);
            break;
        case ELEMENT_OPERAND:
        case ELEMENT_BIND:
        case ELEMENT_ASSIGN:
        case ELEMENT_SUCCESSOR:
            assert_int_equal(element->slot.column, REF_OPERAND);
            assert_true(element->slot.index < row->operand_count);
            break;
        case ELEMENT_ATTR:
        case ELEMENT_CASES:
            assert_int_equal(element->slot.column, REF_ATTR);
            assert_true(element->slot.index < row->attr_count);
            break;
        case ELEMENT_TYPE:
            assert_true(element->slot.column == REF_OPERAND || element->slot.column == REF_RESULT);
            break;
        case ELEMENT_PRESENT: /* only of a result that may be absent */
            assert_int_equal(element->slot.column, REF_RESULT);
            assert_int_equal(row->results[element->slot.index].arity, SLOT_OPTIONAL);
            break;
        case ELEMENT_OPTIONAL:
            assert_true(element->middle > i + 1);
            assert_true(element->end >= element->middle);
            check_group(row, format, i + 1, element->middle);
            check_group(row, format, element->middle, element->end);
            i = element->end - 1u;
            break;
        case ELEMENT_REPEAT:
        case ELEMENT_ANY_ORDER:
        case ELEMENT_CLAUSE:
            assert_true(element->end > i + 1);
            check_group(row, format, i + 1, element->end);
            i = element->end - 1u;
            break;
        default:
            break;
        }
    }
}

/* Every format compiles to elements that lie within each other and refer to entries that exist. */
static void every_format_compiles(void **state) {
    (void)state;
    for (int id = 0; id < OP_COUNT; id++) {
        const OpRow *row = op_row_by_id((OpId)id);
        assert_true(row->format_count > 0);
        assert_null(row->format_column[row->format_count]);
        for (unsigned i = 0; i < row->format_count; i++) {
            if (row->formats[i].generic_only)
                assert_string_equal(row->format_column[i], "generic");
            else
                assert_true(row->formats[i].count > 0);
            check_group(row, &row->formats[i], 0, row->formats[i].count);
        }
    }
}

/* What one format becomes, element by element. */
static void a_format_becomes_elements(void **state) {
    (void)state;
    const OpRow *row = op_row(STR("arith.cmpf"));
    assert_string_equal(row->format_column[0], "$predicate , $lhs , $rhs (? fastmath ~< $fastmath ~> ?) attr-dict "
                                               ": type($lhs)");
    static const struct {
        ElementKind kind;
        const char *text;
        bool glue;
    } elements[] = {
        {ELEMENT_ATTR, "", false},
        {ELEMENT_LITERAL, ",", false},
        {ELEMENT_OPERAND, "", false},
        {ELEMENT_LITERAL, ",", false},
        {ELEMENT_OPERAND, "", false},
        {ELEMENT_OPTIONAL, "", false},
        {ELEMENT_LITERAL, "fastmath", false},
        {ELEMENT_LITERAL, "<", true},
        {ELEMENT_ATTR, "", false},
        {ELEMENT_LITERAL, ">", true},
        {ELEMENT_DICT, "", false},
        {ELEMENT_LITERAL, ":", false},
        {ELEMENT_TYPE, "", false},
    };
    const Format *format = &row->formats[0];
    assert_int_equal(format->count, sizeof elements / sizeof *elements);
    for (unsigned i = 0; i < format->count; i++) {
        assert_int_equal(format->elements[i].kind, elements[i].kind);
        assert_str_equal(format->elements[i].text, elements[i].text);
        assert_int_equal(format->elements[i].glue, elements[i].glue);
    }
    assert_int_equal(format->elements[5].middle, 10);
    assert_int_equal(format->elements[5].end, 10);
}

/* A quoted literal is a literal, even if the word is a directive's. */
static void quoted_literals_are_no_directives(void **state) {
    (void)state;
    const OpRow *row = op_row(STR("amdg.register_resident"));
    bool found = false;
    for (unsigned i = 0; i < row->formats[0].count; i++) {
        const Element *element = &row->formats[0].elements[i];
        assert_true(element->kind != ELEMENT_GROUPS);
        found |= element->kind == ELEMENT_LITERAL && str_is(element->text, "groups");
    }
    assert_true(found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_well_formed),
        cmocka_unit_test(every_row_is_found_by_its_name),
        cmocka_unit_test(ids_follow_from_names),
        cmocka_unit_test(columns_are_taken_apart),
        cmocka_unit_test(constraints_refer_to_their_column),
        cmocka_unit_test(attributes_have_kinds),
        cmocka_unit_test(enumerations_have_values),
        cmocka_unit_test(older_and_shorter_names_find_the_same_row),
        cmocka_unit_test(other_names_have_no_row),
        cmocka_unit_test(placeholder_is_for_names_without_a_dialect),
        cmocka_unit_test(traits_say_how_regions_behave),
        cmocka_unit_test(every_format_compiles),
        cmocka_unit_test(a_format_becomes_elements),
        cmocka_unit_test(quoted_literals_are_no_directives),
    };
    return cmocka_run_group_tests_name("optable", tests, NULL, NULL);
}
