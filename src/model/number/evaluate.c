/* Evaluating: what an op's row, attributes and types say about its results, and doing it on scalars.
 *
 * Anything that a row's evaluator was not made for (floats, integers wider than 64 bits, shapes that are not fixed) has
 * no evaluation, and an unknown result. Tensors are in tensor.c. */
#include "model/number/evaluate.h"

#include "ir/op.h"
#include "model/number/tensor.h"

#include <assert.h>

/* ---- Types ----------------------------------------------------------------------------------- */

unsigned number_width(Module *module, const Type *type) {
    type = type_resolve(module, type);
    if (!type)
        return 0;
    if (type->kind == TYPE_INTEGER)
        return type->width <= 64 ? type->width : 0;
    if (type->kind == TYPE_INDEX || type_is(type, STR("llvm.ptr")))
        return 64;
    if (type_is(type, STR("tt.ptr"))) { /* a pointer to a tensor is more than an address */
        const Type *pointee = type_element(module, type);
        return pointee && type_resolve(module, pointee) && type_resolve(module, pointee)->kind != TYPE_TENSOR ? 64 : 0;
    }
    return 0;
}

static bool has_elements(const Type *type) {
    return type->kind == TYPE_TENSOR || type->kind == TYPE_VECTOR;
}

/* What a value of the type is, or is made of; NULL if that is not known. */
static const Type *element_of(Module *module, const Type *type) {
    type = type_resolve(module, type);
    return type && has_elements(type) ? type_resolve(module, type->element) : type;
}

static bool is_tensor(Module *module, const Type *type) {
    type = type_resolve(module, type);
    return type && has_elements(type);
}

static unsigned number_width_in(Module *module, const Type *type) {
    return number_width(module, element_of(module, type));
}

/* Bits of the type's elements, computed or not. */
static uint8_t width_in(Module *module, const Type *type) {
    const Type *element = element_of(module, type);
    unsigned width = number_width(module, element);
    if (element && !width && (element->kind == TYPE_INTEGER || element->kind == TYPE_FLOAT))
        width = element->width;
    return width <= UINT8_MAX ? (uint8_t)width : 0;
}

/* Sets the shape of the result. False if it is not one that can be computed. */
static bool set_shape(Evaluation *how, const Type *type) {
    how->tensor = has_elements(type);
    if (!how->tensor)
        return true;
    bool fixed = !type->unranked && type->dim_count <= TENSOR_MOST_DIMS;
    how->rank = (uint8_t)(type->dim_count < TENSOR_MOST_DIMS ? type->dim_count : TENSOR_MOST_DIMS);
    for (unsigned i = 0; i < how->rank; i++) {
        how->dims[i] = type->dims[i];
        fixed &= type->dims[i] > 0;
    }
    return fixed;
}

/* How far apart two neighbors of that type are in memory; 0 if that is not known. */
static int64_t bytes_of(Module *module, const Type *type) {
    type = type_resolve(module, type);
    if (!type)
        return 0;
    if (type->kind == TYPE_INTEGER || type->kind == TYPE_FLOAT)
        return (type->width + 7) / 8;
    return number_width(module, type) / 8;
}

/* ---- Comparisons ---------------------------------------------------------------------------- */

Comparison comparison_negated(Comparison comparison) {
    static const Comparison other[] = {COMPARE_NE,  COMPARE_EQ,  COMPARE_SGE, COMPARE_SGT, COMPARE_SLE,
                                       COMPARE_SLT, COMPARE_UGE, COMPARE_UGT, COMPARE_ULE, COMPARE_ULT};
    return other[comparison];
}

Comparison comparison_mirrored(Comparison comparison) {
    static const Comparison other[] = {COMPARE_EQ,  COMPARE_NE,  COMPARE_SGT, COMPARE_SGE, COMPARE_SLT,
                                       COMPARE_SLE, COMPARE_UGT, COMPARE_UGE, COMPARE_ULT, COMPARE_ULE};
    return other[comparison];
}

/* ---- Attributes ------------------------------------------------------------------------------ */

static const Attr *attr_at(Module *module, const Op *op, unsigned slot) {
    Str name = op->row->attrs[slot].name;
    const Attr *attr = op->attrs ? op->attrs[slot] : NULL;
    if (!attr)
        attr = dict_get(op->dict, name);
    if (!attr)
        attr = dict_get(op->properties, name);
    return attr ? attr_resolve(module, attr) : NULL;
}

static const Attr *op_ints(Module *module, const Op *op, const char *name, unsigned count) {
    int slot = op_slot(op->row->attrs, op->row->attr_count, str_of(name));
    const Attr *attr = slot >= 0 ? attr_at(module, op, (unsigned)slot) : NULL;
    return attr && attr->kind == ATTR_INTS && attr->exact && attr->count == count ? attr : NULL;
}

/* ---- Identities ------------------------------------------------------------------------------ */

unsigned comparison_holds_for(const Op *op) {
    static const uint8_t integers[] = {
        STANDS_EQUAL,   STANDS_LESS | STANDS_GREATER,  STANDS_LESS, STANDS_LESS | STANDS_EQUAL,
        STANDS_GREATER, STANDS_GREATER | STANDS_EQUAL, STANDS_LESS, STANDS_LESS | STANDS_EQUAL,
        STANDS_GREATER, STANDS_GREATER | STANDS_EQUAL}; /* ORDER Comparison */
    static const uint8_t floats[] = {STANDS_EQUAL,
                                     STANDS_GREATER,
                                     STANDS_GREATER | STANDS_EQUAL,
                                     STANDS_LESS,
                                     STANDS_LESS | STANDS_EQUAL,
                                     STANDS_LESS | STANDS_GREATER}; /* ORDER CmpFPredicate, from oeq and from ueq on */
    enum { ORDERED = 1, UNORDERED = 8 };
    int64_t predicate;
    if (!op || op->operand_count != 2 || !op_number(op, "predicate", &predicate))
        return 0;
    if (op_evaluator(op) == EVALUATE_COMPARE)
        return predicate >= 0 && predicate < (int64_t)sizeof integers ? integers[predicate] : 0;
    int64_t place = predicate - (predicate >= UNORDERED ? UNORDERED : ORDERED);
    bool reported = op_is(op, CLASS_FLOAT_COMPARISON) && place >= 0 && place < (int64_t)sizeof floats;
    return reported ? floats[place] : 0;
}

static uint64_t mix_text(uint64_t identity, Str text) {
    identity = identity_mix(identity, text.size);
    for (size_t i = 0; i < text.size; i += 8) {
        uint64_t part = 0;
        memcpy(&part, text.data + i, text.size - i < 8 ? text.size - i : 8);
        identity = identity_mix(identity, part);
    }
    return identity;
}

/* The same for an attribute however its op was spelled. */
static uint64_t mix_attr(uint64_t identity, const Attr *attr, const Slot *slot) {
    int64_t value;
    if (attr_number(attr, slot, &value))
        return identity_mix(identity, (uint64_t)value);
    if (attr->kind == ATTR_INTS && attr->exact) {
        for (uint32_t i = 0; i < attr->count; i++)
            identity = identity_mix(identity, (uint64_t)attr->ints[i]);
        return identity;
    }
    return attr->kind == ATTR_UNIT ? identity : mix_text(identity, attr->text);
}

/* Of the op's name and of those attributes that its row names: the others (stages, partitions, hints of passes) say
 * where it runs rather than what it does. */
static uint64_t op_identity(Module *module, const Op *op) {
    if (!op->row) {
        uint64_t identity = mix_text(0, op->name);
        return op->properties ? mix_text(identity, op->properties->text) : identity;
    }
    uint64_t identity = mix_text(0, op->row->name);
    for (unsigned i = 0; i < op->row->attr_count; i++) {
        const Attr *attr = attr_at(module, op, i);
        if (attr)
            identity = mix_attr(identity_mix(identity, i), attr, &op->row->attrs[i]);
    }
    /* A region (of a reduction) says what the op does as much as an attribute. */
    for (const Op *inner = op->region_count ? op_next_in_walk(op, op) : NULL; inner;
         inner = op_next_in_walk(inner, op)) {
        identity = identity_mix(identity, inner->region_count ? 0 : op_identity(module, inner));
        for (uint32_t i = 0; i < inner->operand_count; i++)
            identity = identity_mix(identity, (uint64_t)inner->operands[i]->index << 1 | inner->operands[i]->is_result);
    }
    return identity;
}

/* 0.0 and -0.0 of any type, which other numbers are compared with. */
enum { ZERO_IDENTITY = 0x0f10a7 };

static bool is_float_zero(Module *module, const Op *op) {
    int slot = op_evaluator(op) == EVALUATE_CONSTANT ? op_slot(op->row->attrs, op->row->attr_count, STR("value")) : -1;
    const Attr *attr = slot >= 0 ? attr_at(module, op, (unsigned)slot) : NULL;
    if (!attr || attr->kind != ATTR_FLOAT)
        return false;
    bool hex = str_starts(attr->text, STR("0x")); /* of its bits */
    for (size_t i = 0; i < attr->text.size && !strchr(hex ? " :" : " :eE", attr->text.data[i]); i++)
        if (!strchr("+-.0x", attr->text.data[i]))
            return false;
    return true;
}

static uint64_t evaluation_identity(Module *module, const Op *op, const Evaluation *how, const Type *type) {
    if (!how->tensor && is_float_zero(module, op))
        return ZERO_IDENTITY;
    uint64_t identity = identity_mix(op_identity(module, op), how->result);
    for (unsigned i = 0; i < how->rank; i++)
        identity = identity_mix(identity, (uint64_t)how->dims[i]);
    const Type *element = element_of(module, type);
    return element ? mix_text(identity, element->text) : identity;
}

/* ---- Constants ------------------------------------------------------------------------------- */

typedef struct EvaluateCursor {
    const char *at, *end;
} EvaluateCursor;

/* A number up to what 64 bits hold, signed or not; true and false are numbers, too. */
static bool take_integer(EvaluateCursor *cursor, int64_t *value) {
    Str rest = str_between(cursor->at, cursor->end);
    bool is_true = str_starts(rest, STR("true"));
    if (is_true || str_starts(rest, STR("false"))) {
        cursor->at += is_true ? 4 : 5;
        *value = is_true;
        return true;
    }
    bool negative = str_starts(rest, STR("-"));
    cursor->at += negative;
    bool hex = str_starts(str_between(cursor->at, cursor->end), STR("0x"));
    cursor->at += hex ? 2 : 0;
    const char *start = cursor->at;
    uint64_t number = 0, base = hex ? 16 : 10;
    for (; cursor->at < cursor->end; cursor->at++) {
        char c = *cursor->at;
        uint64_t digit = c >= '0' && c <= '9'                     ? (uint64_t)(c - '0')
                         : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (uint64_t)((c | 0x20) - 'a' + 10)
                                                                  : 16;
        if (digit >= base)
            break;
        if (__builtin_mul_overflow(number, base, &number) || __builtin_add_overflow(number, digit, &number))
            return false;
    }
    *value = (int64_t)(negative ? -number : number);
    return cursor->at > start;
}

/* Numbers between brackets, commas and spaces: `[[1, 2], [3, 4]]`. How many; at most `most` are kept, and what is no
 * number gives SIZE_MAX. The shape is in the type. */
static size_t read_elements(Str body, unsigned width, int64_t *elements, size_t most) {
    EvaluateCursor cursor = {body.data, body.data + body.size};
    size_t count = 0;
    while (cursor.at < cursor.end) {
        if (strchr(" \t\r\n[],", *cursor.at)) {
            cursor.at++;
            continue;
        }
        int64_t value;
        if (!take_integer(&cursor, &value))
            return SIZE_MAX;
        if (count < most)
            elements[count] = integer_wrap(value, width);
        count++;
    }
    return count;
}

/* The bytes of all elements in hex, "0x0100000002000000", as long lists are printed. */
static size_t read_hex_elements(Str body, unsigned width, int64_t *elements, size_t most) {
    size_t bytes = width / 8;
    if (!bytes || width % 8 || body.size % (2 * bytes))
        return SIZE_MAX;
    size_t count = body.size / (2 * bytes);
    for (size_t i = 0; i < count && i < most; i++) {
        uint64_t value = 0;
        for (size_t k = 0; k < bytes; k++) {
            char byte[] = {'0', 'x', body.data[2 * (i * bytes + k)], body.data[2 * (i * bytes + k) + 1]};
            EvaluateCursor cursor = {byte, byte + sizeof byte};
            int64_t part;
            if (!take_integer(&cursor, &part) || cursor.at != cursor.end)
                return SIZE_MAX;
            value |= (uint64_t)part << 8 * k;
        }
        elements[i] = integer_wrap((int64_t)value, width);
    }
    return count;
}

/* dense<...> as the tensor that it is. */
static bool dense_constant(Module *module, const Attr *attr, Evaluation *how) {
    size_t size = dims_size(how->dims, how->rank);
    if (!str_starts(attr->text, STR("dense<")) || !how->tensor || size > TENSOR_MOST_ELEMENTS)
        return false;
    /* No more elements are written than the body has characters. */
    size_t most = size < attr->body.size + 1 ? size : attr->body.size + 1;
    int64_t *elements = ARENA_ARRAY(&module->arena, int64_t, most + 1);
    Str body = attr->body;
    bool hex = str_starts(body, STR("\"0x")) && str_ends(body, STR("\""));
    size_t count = hex ? read_hex_elements((Str){body.data + 3, body.size - 4}, how->width, elements, most)
                       : read_elements(body, how->width, elements, most);
    if (count != 1 && count != size)
        return false;
    how->constant =
        count == 1 ? tensor_splat(how, elements[0], &module->arena) : tensor_dense(how, elements, &module->arena);
    return true;
}

static bool set_constant(Module *module, const Op *op, Evaluation *how) {
    int slot = op_slot(op->row->attrs, op->row->attr_count, STR("value"));
    const Attr *attr = slot >= 0 ? attr_at(module, op, (unsigned)slot) : NULL;
    if (attr && attr->kind == ATTR_DENSE)
        return dense_constant(module, attr, how);
    if (!attr || how->tensor || (attr->kind != ATTR_INTEGER && attr->kind != ATTR_BOOL))
        return false;
    int64_t value = attr->integer;
    EvaluateCursor cursor = {attr->text.data, attr->text.data + attr->text.size};
    if (!attr->exact && !take_integer(&cursor, &value))
        return false;
    how->constant = word_integer(integer_wrap(value, how->width));
    return true;
}

static bool set_range(Module *module, const Op *op, Evaluation *how) {
    int64_t start, end, size;
    if (!op_number(op, "start", &start) || !op_number(op, "end", &end) || how->rank != 1 ||
        __builtin_sub_overflow(end, start, &size) || size != how->dims[0] || size > (int64_t)TENSOR_MOST_ELEMENTS)
        return false;
    int64_t *elements = ARENA_ARRAY(&module->arena, int64_t, size);
    for (int64_t i = 0; i < size; i++)
        elements[i] = integer_wrap(start + i, how->width);
    how->constant = tensor_dense(how, elements, &module->arena);
    return true;
}

/* ---- Reductions ------------------------------------------------------------------------------ */

/* Whether two numbers can be put together by it in any order. */
static bool combines(Evaluator code) {
    switch (code) {
    case EVALUATE_ADD:
    case EVALUATE_MULTIPLY:
    case EVALUATE_MINIMUM_SIGNED:
    case EVALUATE_MINIMUM_UNSIGNED:
    case EVALUATE_MAXIMUM_SIGNED:
    case EVALUATE_MAXIMUM_UNSIGNED:
    case EVALUATE_AND:
    case EVALUATE_OR:
    case EVALUATE_XOR:
        return true;
    default:
        return false;
    }
}

static bool takes_both(const Op *op, unsigned first, const Block *block) {
    const Value *x = op->operands[first], *y = op->operands[first + 1], *args = block->args;
    return (x == &args[0] && y == &args[1]) || (x == &args[1] && y == &args[0]);
}

/* A comparison of both arguments and a select of one of them: the smaller or the greater. */
static Evaluator chosen_by(const Op *compare, const Op *select, const Block *block) {
    int64_t predicate;
    if (op_evaluator(compare) != EVALUATE_COMPARE || compare->operand_count != 2 || !takes_both(compare, 0, block) ||
        !op_number(compare, "predicate", &predicate) || op_evaluator(select) != EVALUATE_SELECT ||
        select->operand_count != 3 || select->operands[0] != compare->results || !takes_both(select, 1, block))
        return EVALUATE_NONE;
    bool same_order = compare->operands[0] == select->operands[1];
    switch ((Comparison)predicate) {
    case COMPARE_SLT:
    case COMPARE_SLE:
        return same_order ? EVALUATE_MINIMUM_SIGNED : EVALUATE_MAXIMUM_SIGNED;
    case COMPARE_SGT:
    case COMPARE_SGE:
        return same_order ? EVALUATE_MAXIMUM_SIGNED : EVALUATE_MINIMUM_SIGNED;
    case COMPARE_ULT:
    case COMPARE_ULE:
        return same_order ? EVALUATE_MINIMUM_UNSIGNED : EVALUATE_MAXIMUM_UNSIGNED;
    case COMPARE_UGT:
    case COMPARE_UGE:
        return same_order ? EVALUATE_MAXIMUM_UNSIGNED : EVALUATE_MINIMUM_UNSIGNED;
    default:
        return EVALUATE_NONE;
    }
}

/* How the op's region puts its two arguments together; EVALUATE_NONE if that is no one evaluator. */
static Evaluator combiner_of(const Op *op) {
    const Block *block = op->region_count == 1 ? op->regions[0].first : NULL;
    if (!block || block->next || block->arg_count != 2 || !block->last || !block->last->prev)
        return EVALUATE_NONE;
    const Op *end = block->last, *last = end->prev, *first = block->first;
    if (end->operand_count != 1 || last->result_count != 1 || end->operands[0] != last->results || !last->row ||
        !first->row)
        return EVALUATE_NONE;
    if (first == last) {
        Evaluator code = op_evaluator(last);
        return combines(code) && last->operand_count == 2 && takes_both(last, 0, block) ? code : EVALUATE_NONE;
    }
    return first->next == last && first->result_count == 1 ? chosen_by(first, last, block) : EVALUATE_NONE;
}

/* ---- The evaluation of an op ----------------------------------------------------------------- */

/* Whether the op's types are those that its evaluator of NUMBERS works on. */
static bool has_numbers(Module *module, const Op *op, const Evaluation *how) {
    bool select = how->code == EVALUATE_SELECT; /* which hands on what it is given */
    if (!select && !number_width_in(module, op->results[how->result].type))
        return false;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const Type *type = op->operands[i]->type;
        if (select && i > 0)
            continue;
        if (!number_width_in(module, type) || (!select && is_tensor(module, type) != how->tensor))
            return false;
    }
    return true;
}

/* Reads the attributes that the evaluator needs. False if they, or the types, are not what it was made for. */
static bool set_attributes(Module *module, const Op *op, Evaluation *how) {
    const Type *type = op->results[how->result].type;
    const Attr *ints;
    int64_t stage;
    switch (how->code) {
    case EVALUATE_COMPARE:
        return op_number(op, "predicate", &how->a);
    case EVALUATE_PREDICATE_STAGE:
        if (!op_number(op, "maxStage", &how->a) || !op_number(op, "stage", &stage))
            return false;
        return !__builtin_sub_overflow(how->a, stage, &how->a);
    case EVALUATE_ADD_POINTER: {
        const Type *pointer = element_of(module, type);
        how->a = bytes_of(module, type_element(module, pointer));
        return how->a > 0;
    }
    case EVALUATE_CONSTANT:
        return number_width_in(module, type) && set_constant(module, op, how);
    case EVALUATE_ZERO:
        if (!number_width_in(module, type))
            return false;
        how->constant = how->tensor ? tensor_splat(how, 0, &module->arena) : word_integer(0);
        return true;
    case EVALUATE_RANGE:
        return number_width_in(module, type) && set_range(module, op, how);
    case EVALUATE_SAME:
        return op->result_count == 1;
    case EVALUATE_EXPAND:
    case EVALUATE_GATHER:
        return op_number(op, "axis", &how->a);
    case EVALUATE_SCAN:
        if (!op_number(op, "reverse", &stage))
            return false;
        how->reverse = stage != 0;
        /* fallthrough */
    case EVALUATE_REDUCE:
        how->b = combiner_of(op);
        return how->b != EVALUATE_NONE && number_width_in(module, type) && op_number(op, "axis", &how->a);
    case EVALUATE_TRANSPOSE:
        if (!(ints = op_ints(module, op, "order", how->rank)))
            return false;
        for (unsigned i = 0; i < how->rank; i++) {
            if (ints->ints[i] < 0 || ints->ints[i] >= how->rank)
                return false;
            how->order[i] = (int8_t)ints->ints[i];
        }
        return true;
    case EVALUATE_SLICE:
        if (!(ints = op_ints(module, op, "static_offsets", how->rank)))
            return false;
        how->offsets = ints->ints;
        return true;
    default:
        return true;
    }
}

Evaluation evaluation_of(Module *module, const Op *op, unsigned index) {
    Evaluation how = {.result = (uint8_t)index, .constant = {.kind = WORD_NOTHING}};
    const Type *type = index < op->result_count ? op->results[index].type : NULL;
    type = type_resolve(module, type);
    bool shaped = type && set_shape(&how, type);
    how.width = width_in(module, type);
    how.operand_width = op->operand_count ? width_in(module, op->operands[0]->type) : 0;
    how.identity = evaluation_identity(module, op, &how, type);
    how.sign = op_is(op, CLASS_DIFFERENCE) && op->operand_count == 2 ? SIGN_DIFFERENCE
               : op_is(op, CLASS_NEGATION) && op->operand_count == 1 ? SIGN_TURNED
                                                                     : SIGN_NONE;
    how.code = index <= UINT8_MAX ? op_evaluator_at(op, index) : EVALUATE_NONE;
    int operands = evaluators[how.code].operands;
    bool counted = operands == ANY ? op->operand_count > 0 : op->operand_count == (uint32_t)operands;
    bool any_shape = how.code == EVALUATE_SAME || how.code == EVALUATE_SELECT;
    if (how.code == EVALUATE_NONE || evaluators[how.code].kind == MACHINE || !counted || !type ||
        (!shaped && !any_shape) || (evaluators[how.code].kind == NUMBERS && !has_numbers(module, op, &how)) ||
        !set_attributes(module, op, &how))
        how.code = EVALUATE_NONE;
    return how;
}

/* ---- Doing it -------------------------------------------------------------------------------- */

uint64_t word_identity(Word word) {
    if (word_is(word, WORD_TENSOR))
        return word.tensor->identity;
    uint64_t identity = identity_mix(word.kind, (uint64_t)word.bits);
    if (word.cta && word_is(word, WORD_INTEGER)) /* the number of a product, which is its cluster's own */
        return identity_mix(identity, word.cta);
    return word_is(word, WORD_INTEGER) || word_is(word, WORD_UNKNOWN)
               ? identity
               : identity_mix(identity, (uint64_t)word.meta << 16 | word.cta);
}

uint64_t result_identity(const Evaluation *how, const Word *operands, unsigned count) {
    uint64_t identity = how->identity;
    for (unsigned i = 0; i < count; i++)
        identity = identity_mix(identity, word_identity(operands[i]));
    return identity;
}

static bool is_zero(Word word) {
    return word_is(word, WORD_UNKNOWN) && (word.bits == ZERO_IDENTITY || word.bits == ~(int64_t)ZERO_IDENTITY);
}

uint64_t difference_identity(Word a, Word b) {
    if (is_zero(b) && word_is(a, WORD_UNKNOWN))
        return (uint64_t)a.bits;
    if (is_zero(a) && word_is(b, WORD_UNKNOWN))
        return ~(uint64_t)b.bits;
    uint64_t first = word_identity(a), second = word_identity(b);
    return first > second ? ~(identity_mix(second, first) >> 1) : identity_mix(first, second) >> 1;
}

static Word unknown(const Evaluation *how, const Word *operands, unsigned count, Arena *arena) {
    if (how->sign == SIGN_DIFFERENCE && !how->tensor)
        return word_unknown(difference_identity(operands[0], operands[1]));
    if (how->sign == SIGN_TURNED && !how->tensor && word_is(operands[0], WORD_UNKNOWN))
        return word_unknown(~(uint64_t)operands[0].bits);
    uint64_t identity = result_identity(how, operands, count);
    return how->tensor ? tensor_unknown(how, identity, arena) : word_unknown(identity);
}

/* The integer that a word is, in every element if it is a tensor. */
static bool word_value(Word word, int64_t *value) {
    if (word_is(word, WORD_TENSOR))
        return tensor_uniform(word.tensor, value);
    *value = word.bits;
    return word_is(word, WORD_INTEGER);
}

/* Whether operand `position`, with this value, says what the result is whatever the other one is. */
static bool settles(const Evaluation *how, unsigned position, int64_t value, int64_t *result) {
    switch (how->code) {
    case EVALUATE_MULTIPLY:
    case EVALUATE_MULTIPLY_HIGH_SIGNED:
    case EVALUATE_MULTIPLY_HIGH_UNSIGNED:
    case EVALUATE_AND:
        *result = 0;
        return value == 0;
    case EVALUATE_OR:
        *result = value;
        return value == integer_wrap(-1, how->width);
    case EVALUATE_REMAINDER_SIGNED:
    case EVALUATE_REMAINDER_UNSIGNED:
        *result = 0;
        return position == 1 && value == 1 && how->width > 1;
    default:
        return false;
    }
}

static bool same_word(Word a, Word b) {
    return a.kind == b.kind && a.meta == b.meta && a.cta == b.cta &&
           (word_is(a, WORD_TENSOR) ? a.tensor->identity == b.tensor->identity : a.bits == b.bits);
}

static Word evaluate_numbers(const Evaluation *how, const Word *operands, unsigned count, Arena *arena) {
    int64_t value, result, values[3] = {0};
    bool integers = !how->tensor && how->width;
    for (unsigned i = 0; i < count; i++) {
        integers &= word_is(operands[i], WORD_INTEGER);
        values[i] = operands[i].bits;
    }
    if (integers &&
        evaluate_integers(how->code, how->width, how->operand_width, how->a, values[0], values[1], values[2], &result))
        return word_integer(result);
    if (how->code == EVALUATE_SELECT) {
        if (word_value(operands[0], &value))
            return operands[value ? 1 : 2];
        if (same_word(operands[1], operands[2]))
            return operands[1];
    }
    Word words;
    if (how->tensor && tensor_numbers(how, operands, count, arena, &words))
        return words;
    for (unsigned i = 0; i < count; i++)
        if (word_value(operands[i], &value) && settles(how, i, value, &result))
            return how->tensor ? tensor_splat(how, result, arena) : word_integer(result);
    return unknown(how, operands, count, arena);
}

Word evaluate(const Evaluation *how, const Word *operands, unsigned count, Arena *arena) {
    assert(evaluators[how->code].operands == ANY || count == (unsigned)evaluators[how->code].operands);
    Word result;
    if (!word_is(how->constant, WORD_NOTHING))
        return how->constant;
    if (how->code == EVALUATE_NONE || how->code == EVALUATE_POISON)
        return unknown(how, operands, count, arena);
    if (evaluators[how->code].kind == NUMBERS)
        return evaluate_numbers(how, operands, count, arena);
    bool fits = word_is(operands[0], WORD_TENSOR) ? how->tensor && tensor_fits(operands[0].tensor, how) : !how->tensor;
    if (how->code == EVALUATE_SAME && fits)
        return operands[0];
    return tensor_shapes(how, operands, count, arena, &result) ? result : unknown(how, operands, count, arena);
}
