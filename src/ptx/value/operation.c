/* From the modifiers of an instruction's form to what it computes. */
#include "ptx/value/operation.h"

/* A whole number's or bits' type; of others the width is 0. */
static unsigned type_width(Str type, bool *is_signed) {
    static const struct {
        const char *name;
        uint8_t width;
        bool is_signed;
    } types[] = {{"pred", 1, false}, {"b8", 8, false},   {"u8", 8, false},   {"s8", 8, true},    {"b16", 16, false},
                 {"u16", 16, false}, {"s16", 16, true},  {"b32", 32, false}, {"u32", 32, false}, {"s32", 32, true},
                 {"b64", 64, false}, {"u64", 64, false}, {"s64", 64, true}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (str_is(type, types[i].name)) {
            *is_signed = types[i].is_signed;
            return types[i].width;
        }
    *is_signed = false;
    return 0;
}

/* Of what moves bits and does not look at them. */
static unsigned moved_width(Str type) {
    static const struct {
        const char *name;
        uint8_t width;
    } types[] = {{"f16", 16}, {"bf16", 16}, {"f16x2", 32}, {"bf16x2", 32}, {"f32", 32}, {"f64", 64}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (str_is(type, types[i].name))
            return types[i].width;
    return 0;
}

static void read_compare(Operation *op, Str name) {
    static const struct {
        const char *name;
        Compare compare;
    } names[] = {{"eq", COMPARE_EQ}, {"ne", COMPARE_NE}, {"lt", COMPARE_LT}, {"le", COMPARE_LE}, {"gt", COMPARE_GT},
                 {"ge", COMPARE_GE}, {"lo", COMPARE_LT}, {"ls", COMPARE_LE}, {"hi", COMPARE_GT}, {"hs", COMPARE_GE}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(name, names[i].name)) {
            op->compare = (uint8_t)names[i].compare;
            return;
        }
    op->numbers = false;
}

static void read_shuffle(Operation *op, Str form) {
    op->shuffle = SHUFFLE_INDEX;
    if (ptx_form_has(form, STR("up")))
        op->shuffle = SHUFFLE_UP;
    else if (ptx_form_has(form, STR("down")))
        op->shuffle = SHUFFLE_DOWN;
    else if (ptx_form_has(form, STR("bfly")))
        op->shuffle = SHUFFLE_ACROSS;
    op->width = op->result = 32;
}

/* The two types of a conversion, of which the second is the source's. */
static void read_conversion(Operation *op, const PtxRow *row, Str form) {
    op->result = (uint8_t)type_width(ptx_form_modifier(row, form, STR("d")), &op->result_signed);
    op->width = (uint8_t)type_width(ptx_form_modifier(row, form, STR("s")), &op->is_signed);
    op->numbers = op->result && op->width;
}

/* set.CMP.dtype.stype has two types that no group names. */
static void read_set(Operation *op, Str form) {
    Str left = form, word;
    bool is_signed;
    unsigned width;
    next_part(&left);
    while ((word = next_part(&left)).size)
        if ((width = type_width(word, &is_signed)) != 0) {
            if (!op->result)
                op->result = (uint8_t)width;
            op->width = (uint8_t)width;
            op->is_signed = is_signed;
        } else if (word.data[0] == 'f' || str_starts(word, STR("bf"))) {
            op->numbers = false;
        }
}

static void read_widths(Operation *op, const PtxRow *row, Str form) {
    op->width = op->result = (uint8_t)type_width(ptx_form_modifier(row, form, STR("t")), &op->is_signed);
    op->numbers = op->width > 0;
    op->result_signed = op->is_signed;
    switch (op->evaluator) {
    case PTX_EVALUATE_MOV:
    case PTX_EVALUATE_SELP:
    case PTX_EVALUATE_SLCT:
        if (!op->width)
            op->width = op->result = (uint8_t)moved_width(ptx_form_modifier(row, form, STR("t")));
        op->numbers = op->width > 0;
        break;
    case PTX_EVALUATE_CVT:
        read_conversion(op, row, form);
        break;
    case PTX_EVALUATE_SET:
        op->result = op->width = 0, op->numbers = true, read_set(op, form);
        break;
    case PTX_EVALUATE_SETP:
        op->result = 1;
        break;
    case PTX_EVALUATE_POPC:
    case PTX_EVALUATE_CLZ:
    case PTX_EVALUATE_BFIND:
        op->result = 32;
        break;
    case PTX_EVALUATE_SHUFFLE:
        read_shuffle(op, form);
        break;
    default:
        op->result = (uint8_t)(op->wide ? op->width * 2 : op->width);
    }
}

/* Those that operation_evaluate has, and whether their modifiers leave it at that. */
static bool evaluated(const Operation *op, Str form) {
    switch (op->evaluator) {
    case PTX_EVALUATE_SLCT:
        return str_ends(form, STR("s32")); /* of the third */
    case PTX_EVALUATE_PRMT: {
        static const char *const modes[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
        for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
            if (ptx_form_has(form, str_of(modes[i])))
                return false;
        return true;
    }
    case PTX_EVALUATE_MAD:
        return !(op->saturates && !op->high);
    default:
        return operation_arguments(op) > 0;
    }
}

Operation operation_of(const PtxRow *row, Str form) {
    Operation op = {.evaluator = (uint8_t)ptx_evaluator(row), .numbers = true};
    op.high = ptx_form_has(form, STR("hi"));
    op.wide = ptx_form_has(form, STR("wide"));
    op.saturates = ptx_form_has(form, STR("sat"));
    op.to_zero = ptx_form_has(form, STR("relu"));
    op.shift_amount = ptx_form_has(form, STR("shiftamt"));
    op.left = ptx_form_has(form, STR("l"));
    op.wraps = ptx_form_has(form, STR("wrap"));
    read_widths(&op, row, form);
    if (op.evaluator == PTX_EVALUATE_SET || op.evaluator == PTX_EVALUATE_SETP)
        read_compare(&op, ptx_form_modifier(row, form, STR("compare")));
    op.combine = ptx_form_has(form, STR("and"))   ? COMBINE_AND
                 : ptx_form_has(form, STR("or"))  ? COMBINE_OR
                 : ptx_form_has(form, STR("xor")) ? COMBINE_XOR
                                                  : COMBINE_NOTHING;
    op.numbers = op.numbers && evaluated(&op, form);
    return op;
}

unsigned operation_arguments(const Operation *op) {
    switch (op->evaluator) {
    case PTX_EVALUATE_ABS:
    case PTX_EVALUATE_NEG:
    case PTX_EVALUATE_POPC:
    case PTX_EVALUATE_CLZ:
    case PTX_EVALUATE_BFIND:
    case PTX_EVALUATE_BREV:
    case PTX_EVALUATE_NOT:
    case PTX_EVALUATE_CNOT:
    case PTX_EVALUATE_MOV:
    case PTX_EVALUATE_CVT:
        return 1;
    case PTX_EVALUATE_ADD:
    case PTX_EVALUATE_SUB:
    case PTX_EVALUATE_MUL:
    case PTX_EVALUATE_MUL24:
    case PTX_EVALUATE_DIV:
    case PTX_EVALUATE_REM:
    case PTX_EVALUATE_MIN:
    case PTX_EVALUATE_MAX:
    case PTX_EVALUATE_AND:
    case PTX_EVALUATE_OR:
    case PTX_EVALUATE_XOR:
    case PTX_EVALUATE_SHL:
    case PTX_EVALUATE_SHR:
        return 2;
    case PTX_EVALUATE_SET:
    case PTX_EVALUATE_SETP:
        return op->combine ? 3 : 2;
    case PTX_EVALUATE_MAD:
    case PTX_EVALUATE_MAD24:
    case PTX_EVALUATE_SAD:
    case PTX_EVALUATE_BFE:
    case PTX_EVALUATE_SHF:
    case PTX_EVALUATE_PRMT:
    case PTX_EVALUATE_SELP:
    case PTX_EVALUATE_SLCT:
        return 3;
    case PTX_EVALUATE_BFI:
    case PTX_EVALUATE_LOP3:
        return 4;
    default:
        return 0;
    }
}

unsigned operation_argument_width(const Operation *op, unsigned index) {
    switch (op->evaluator) {
    case PTX_EVALUATE_SHL:
    case PTX_EVALUATE_SHR:
        return index ? 32 : op->width;
    case PTX_EVALUATE_BFE:
        return index ? 32 : op->width;
    case PTX_EVALUATE_BFI:
        return index > 1 ? 32 : op->width;
    case PTX_EVALUATE_SELP:
        return index == 2 ? 1 : op->width;
    case PTX_EVALUATE_SLCT:
        return index == 2 ? 32 : op->width;
    case PTX_EVALUATE_SET:
    case PTX_EVALUATE_SETP:
        return index == 2 ? 1 : op->width;
    case PTX_EVALUATE_MAD:
        return index == 2 ? op->result : op->width;
    case PTX_EVALUATE_LOP3:
        return index == 3 ? 8 : op->width;
    default:
        return op->width;
    }
}
