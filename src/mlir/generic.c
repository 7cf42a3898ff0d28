/* MLIR's generic form: "name"(operands)[successors] <{properties}> ({regions}) {attributes} : (types) -> types */
#include "mlir/internal.h"

static inline bool expect(MlirReader *r, char c, const char *where) {
    return take(r, c) || fail(r, r->p, "expected '%c' %s", c, where);
}

static bool read_operands(MlirReader *r) {
    if (!expect(r, '(', "and the operands"))
        return false;
    if (take(r, ')'))
        return true;
    do {
        OperandRef ref;
        if (!read_operand_ref(r, &ref))
            return r->failed ? false : fail(r, r->p, "expected an operand");
        PUSH(r, r->operands) = ref;
    } while (take(r, ','));
    return expect(r, ')', "after the operands");
}

static bool read_successors(MlirReader *r, Op *op) {
    uint32_t mark = r->successors.count;
    do {
        if (!next_is(r, '^') || !op->block)
            return fail(r, r->p, "expected a block");
        const char *start = r->p++;
        Name *label = name_intern(r->module, &r->module->labels, take_suffix(r));
        PUSH(r, r->successors) = (Successor){block_named(r, op->block->region, label, offset_of(r, start)), 0};
    } while (take(r, ','));
    keep_successors(r, op, mark);
    return expect(r, ']', "after the successors");
}

static bool read_regions(MlirReader *r, Op *op) {
    bool closed = op->row && (op->row->traits & ISOLATED);
    do {
        Region *region = add_region(r, op);
        if (!read_region(r, op, region, r->pending.count, closed))
            return r->failed ? false : fail(r, r->p, "expected '{' and a region");
    } while (take(r, ','));
    return expect(r, ')', "after the regions");
}

/* `(T, U)`: as many types as there are operands, which are looked up as their types are read. The regions in between
 * cannot have changed what a name means here. */
static bool read_operand_types(MlirReader *r, Op *op, uint32_t operand_mark) {
    uint32_t count = r->operands.count - operand_mark, index = 0;
    if (count > LIMIT_COUNT)
        return fail(r, r->p, "more than %d operands", LIMIT_COUNT);
    op->operand_count = count;
    op->operands = count ? ARENA_ARRAY(&r->module->arena, Value *, count) : NULL;
    if (!expect(r, '(', "and the operands' types"))
        return false;
    r->odd_types = false;
    while (!next_is(r, ')')) {
        if (index && !expect(r, ',', "or ')' after a type"))
            return false;
        const char *at = (skip_space(r), r->p);
        const OperandRef *ref = index < count ? &r->operands.items[operand_mark + index] : NULL;
        const Type *type = read_type_like(r, ref ? type_of_ref(r, ref) : NULL);
        if (!type)
            return r->failed ? false : fail(r, r->p, "expected a type");
        if (!ref)
            return fail(r, at, "more types than operands: there %s %u", count == 1 ? "is" : "are", count);
        PUSH(r, r->spelled) = type;
        if (!resolve(r, *ref, op, index, type))
            return false;
        r->odd_types |= !op->operands[index] || op->operands[index]->type != type;
        index++;
    }
    if (index < count)
        return fail(r, r->p, "fewer types than operands: there %s %u", count == 1 ? "is" : "are", count);
    r->p++;
    return true;
}

/* `T` or `(T, U)`, onto `types`. */
static bool read_result_types(MlirReader *r, Op *op) {
    bool parens = take(r, '(');
    op->choices = parens;
    op->choice_count = 1;
    if (parens && take(r, ')'))
        return true;
    do {
        const Type *type = read_type_like(r, op->row ? r->result_guess[op->row->id] : NULL);
        if (!type)
            return r->failed ? false : fail(r, r->p, "expected a type");
        if (op->row)
            r->result_guess[op->row->id] = type;
        PUSH(r, r->types) = type;
        PUSH(r, r->spelled) = type;
    } while (parens && take(r, ','));
    return !parens || expect(r, ')', "after the types");
}

/* How many operands each entry of the column has, where that can be told. Releases differ in which entries
 * there are: sizes are given for all of them, or for all but the uncommon ones. */
static void find_segments(MlirReader *r, Op *op) {
    const OpRow *row = op->row;
    if (!row || (!row->varying && op->operand_count == row->operand_count))
        return; /* one operand an entry */
    unsigned varying = 0, fixed = 0, common = 0;
    for (unsigned i = 0; i < row->operand_count; i++) {
        fixed += row->operands[i].arity == SLOT_ONE;
        common += !row->operands[i].uncommon;
        varying += row->operands[i].arity != SLOT_ONE && !row->operands[i].uncommon;
    }
    const Attr *sizes = row->varying > 1 ? op_attr(op, "operandSegmentSizes") : NULL;
    bool sized = sizes && sizes->kind == ATTR_INTS && sizes->exact;
    bool all = sized && sizes->count == row->operand_count;
    if (sized ? !all && sizes->count != common
              : op->operand_count < fixed || varying > 1 || (!varying && op->operand_count != fixed))
        return;
    uint16_t *segments = ARENA_ARRAY(&r->module->arena, uint16_t, row->operand_count);
    int64_t sum = 0;
    for (unsigned i = 0, next = 0; i < row->operand_count; i++) {
        const Slot *slot = &row->operands[i];
        int64_t size = slot->arity == SLOT_ONE ? 1 : slot->uncommon ? 0 : op->operand_count - fixed;
        if (sized)
            size = !all && slot->uncommon ? 0 : sizes->ints[next++];
        if (size < 0 || size > LIMIT_COUNT)
            return;
        segments[i] = (uint16_t)size;
        sum += size;
    }
    if (sum == op->operand_count)
        op->segments = segments;
}

bool read_generic(MlirReader *r, Op *op, uint32_t name_mark) {
    uint32_t operand_mark = r->operands.count, spelled_mark = r->spelled.count, types_mark = r->types.count;
    if (!read_operands(r) || (take(r, '[') && !read_successors(r, op)))
        return false;
    if (next_is(r, '<') && r->p[1] == '{') {
        r->p++;
        if (!(op->properties = read_dict_of(r, op)) || !expect(r, '>', "after the properties"))
            return false;
    }
    if (take(r, '(') && !read_regions(r, op))
        return false;
    if (next_is(r, '{') && !(op->dict = read_dict_of(r, op)))
        return false;
    if (!expect(r, ':', "and the op's type") || !read_operand_types(r, op, operand_mark))
        return false;
    bool odd_types = r->odd_types;
    if (!take_text(r, STR("->")))
        return fail(r, r->p, "expected '->' and the results' types");
    if (!read_result_types(r, op))
        return false;
    find_segments(r, op);
    bool good = settle_notes(r, op, odd_types, r->notes.count, spelled_mark) &&
                make_results(r, op, name_mark, r->types.items + types_mark, r->types.count - types_mark) &&
                check_op(r, op, operand_mark) && check_yields(r, op);
    r->types.count = types_mark;
    r->operands.count = operand_mark;
    return good;
}
