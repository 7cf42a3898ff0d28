/* MLIR's generic form: "name"(operands)[successors] <{properties}> ({regions}) {attributes} : (types) -> types */
#include "mlir/internal.h"

static inline bool expect(Reader *r, char c, const char *where) {
    return take(r, c) || fail(r, r->p, "expected '%c' %s", c, where);
}

static bool read_operands(Reader *r) {
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

static bool read_successors(Reader *r, Op *op) {
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

static bool read_regions(Reader *r, Op *op) {
    bool closed = op->row && (op->row->traits & ISOLATED);
    do {
        Region *region = add_region(r, op);
        if (!read_region(r, op, region, r->pending.count, closed))
            return r->failed ? false : fail(r, r->p, "expected '{' and a region");
    } while (take(r, ','));
    return expect(r, ')', "after the regions");
}

/* What the next type is likely to be: that of the operand, or that of the result which the last such op had. */
static const Type *guess_type(const Reader *r, const Op *op, uint32_t operand_mark, uint32_t index, bool of_result) {
    if (of_result)
        return op->row ? r->result_guess[op->row->id] : NULL;
    return operand_mark + index < r->operands.count ? type_of_ref(r, &r->operands.items[operand_mark + index]) : NULL;
}

/* `(T, U)`, or a single type where `single` allows one. Types go to the notes. */
static bool read_types(Reader *r, const Op *op, uint32_t operand_mark, bool single, bool of_result) {
    bool parens = take(r, '(');
    uint32_t index = 0;
    if (!parens && !single)
        return fail(r, r->p, "expected '(' and the operands' types");
    if (parens && take(r, ')'))
        return true;
    do {
        skip_space(r);
        uint32_t at = offset_of(r, r->p);
        const Type *type = read_type_like(r, guess_type(r, op, operand_mark, index, of_result));
        if (!type)
            return r->failed ? false : fail(r, r->p, "expected a type");
        if (of_result && op->row)
            r->result_guess[op->row->id] = type;
        PUSH(r, r->spelled) = type;
        PUSH(r, r->notes) = (TypeNote){type, at, {0}, index++, true, of_result};
    } while (parens && take(r, ','));
    return !parens || expect(r, ')', "after the types");
}

/* How many operands each entry of the column has, where that can be told. Releases differ in which entries
 * there are: sizes are given for all of them, or for all but the uncommon ones. */
static void find_segments(Reader *r, Op *op) {
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

bool read_generic(Reader *r, Op *op, uint32_t name_mark) {
    uint32_t operand_mark = r->operands.count, note_mark = r->notes.count, spelled_mark = r->spelled.count;
    if (!read_operands(r) || (take(r, '[') && !read_successors(r, op)))
        return false;
    if (next_is(r, '<') && r->p[1] == '{') {
        r->p++;
        if (!(op->properties = read_dict(r)) || !expect(r, '>', "after the properties"))
            return false;
    }
    /* Types come after the regions, but operands must be known before them: nothing in the regions can
     * change what a name means here, so the names are looked up later, when the types are there. */
    if (take(r, '(') && !read_regions(r, op))
        return false;
    if (next_is(r, '{') && !(op->dict = read_dict(r)))
        return false;
    if (!expect(r, ':', "and the op's type") || !read_types(r, op, operand_mark, false, false))
        return false;
    if (!take_text(r, STR("->")))
        return fail(r, r->p, "expected '->' and the results' types");
    bool parens = next_is(r, '(');
    op->choices = parens;
    op->choice_count = 1;
    if (!read_types(r, op, operand_mark, true, true))
        return false;
    uint32_t operands = r->operands.count - operand_mark, types = 0;
    uint32_t types_mark = r->types.count;
    for (uint32_t i = note_mark; i < r->notes.count; i++) {
        types += !r->notes.items[i].of_result;
        if (r->notes.items[i].of_result)
            PUSH(r, r->types) = r->notes.items[i].type;
    }
    bool good = types == operands || fail(r, r->p, "%u operand%s but %u type%s", operands, operands == 1 ? "" : "s",
                                          types, types == 1 ? "" : "s");
    good = good && make_operands(r, op, operand_mark, note_mark) &&
           settle_notes(r, op, r->odd_types, r->notes.count, spelled_mark);
    if (good) {
        find_segments(r, op);
        good = make_results(r, op, name_mark, r->types.items + types_mark, r->types.count - types_mark) &&
               check_op(r, op);
    }
    r->types.count = types_mark;
    r->operands.count = operand_mark;
    r->notes.count = note_mark;
    return good;
}
