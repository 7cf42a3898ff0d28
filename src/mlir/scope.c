/* Names and what they mean: SSA values and block labels.
 *
 * A name has one binding at a time. Binding it saves the old one on the undo stack, and leaving a region
 * takes everything back that was bound in it, so that looking a name up is one step. An isolated
 * region is a scope of its own: bindings of another scope do not count. */
#include "mlir/internal.h"

static void bind(MlirReader *r, Name *name, void *bound, uint32_t count, uint32_t scope) {
    PUSH(r, r->undo) = (MlirUndo){name, name->bound, name->bound_count, name->scope};
    name->bound = bound;
    name->bound_count = count;
    name->scope = scope;
}

bool bind_values(MlirReader *r, Name *name, Value *first, uint32_t count, uint32_t at) {
    bool again = name->bound && name->scope == r->scope;
    uint32_t offset = 0;
    if (again) {
        const Value *old = name->bound;
        offset = old->is_result ? ((Op *)old->owner)->offset : ((Block *)old->owner)->offset;
    }
    bind(r, name, first, count, r->scope); /* the newer one, so that uses below are judged by what stands above */
    return !again || fail(r, text_at(r, at), "'%%%.*s' is already defined at line %u", STR_ARG(name->text),
                          source_place(r->source, offset).line);
}

/* The name of a value. One that was met lately is found by a few of its bytes. */
static Name *value_name(MlirReader *r, Str text) {
    uint64_t tail;
    if (text.size >= 8) {
        memcpy(&tail, text.data + text.size - 8, 8);
    } else {
        memcpy(&tail, text.data, 8); /* the text is followed by READ_AHEAD bytes at least */
        tail &= (1ull << 8 * text.size) - 1;
    }
    Name **cached = &r->recent_names[tail * 0x9e3779b97f4a7c15u >> 54];
    if (!*cached || !str_equal((*cached)->text, text))
        *cached = name_intern(r->module, &r->module->values, text);
    return *cached;
}

bool read_operand_ref(MlirReader *r, OperandRef *ref) {
    if (!next_is(r, '%'))
        return mismatch(r, "an operand");
    const char *start = r->p++;
    Str text = take_suffix(r);
    if (!text.size && is_class(*r->p, CLASS_DIGIT))
        return fail(r, start, "a name that starts with a digit must be a number");
    if (!text.size)
        return fail(r, start, "expected a name after '%%'");
    *ref = (OperandRef){.name = value_name(r, text), .at = offset_of(r, start)};
    if (*r->p == '#' && is_class(r->p[1], CLASS_DIGIT)) {
        int64_t number;
        r->p++;
        if (!take_number(r, &number) || number > LIMIT_COUNT)
            return fail(r, start, "this result number is too large");
        ref->number = (uint32_t)number;
        ref->numbered = true;
    }
    return true;
}

const Type *type_of_ref(const MlirReader *r, const OperandRef *ref) {
    const Name *name = ref->name;
    if (!name->bound || name->scope != r->scope || ref->number >= name->bound_count)
        return NULL;
    return ((const Value *)name->bound)[ref->number].type;
}

bool check_type(MlirReader *r, const Type *wanted, const Type *found, const Name *name, uint32_t at) {
    switch (type_agree(r->module, wanted, found)) {
    case AGREE:
        return true;
    case LATER:
        PUSH(r, r->late) = (LateCheck){wanted, found, name, at};
        return true;
    case DIFFER:
        break;
    }
    return fail(r, text_at(r, at), "'%%%.*s' is used as %.*s but has type %.*s", STR_ARG(name->text),
                STR_ARG(wanted->text), STR_ARG(found->text));
}

bool settle_late_checks(MlirReader *r) {
    bool good = true;
    for (uint32_t i = 0, count = r->late.count; i < count; i++) {
        LateCheck check = r->late.items[i];
        good &= check_type(r, check.wanted, check.found, check.name, check.at);
    }
    return good;
}

static bool connect(MlirReader *r, OperandRef ref, Op *op, uint32_t operand, const Type *type) {
    Value *first = ref.name->bound;
    if (ref.number >= ref.name->bound_count)
        return fail(r, text_at(r, ref.at),
                    ref.name->bound_count == 1 ? "'%%%.*s' is %u value, so there is no #%u"
                                               : "'%%%.*s' has %u results, so there is no #%u",
                    STR_ARG(ref.name->text), ref.name->bound_count, ref.number);
    op->operands[operand] = first + ref.number;
    if (!first[ref.number].type)
        first[ref.number].type = type;
    if (ref.numbered != (ref.name->bound_count > 1)) {
        OpExtra *extra = op_extra(r->module, op);
        if (!extra->odd_refs)
            extra->odd_refs = ARENA_ARRAY(&r->module->arena, bool, op->operand_count);
        extra->odd_refs[operand] = true;
    }
    return check_type(r, type, first[ref.number].type, ref.name, ref.at);
}

bool resolve(MlirReader *r, OperandRef ref, Op *op, uint32_t operand, const Type *type) {
    const Name *name = ref.name;
    if (name->bound && name->scope == r->scope && name->bound_count == 1 && !ref.numbered) { /* nearly all */
        Value *value = name->bound;
        op->operands[operand] = value;
        if (!value->type) /* of an op that the table does not know: its first use tells */
            value->type = type;
        return !type || type == value->type || check_type(r, type, value->type, name, ref.at);
    }
    if (ref.name->bound && ref.name->scope == r->scope)
        return connect(r, ref, op, operand, type);
    PUSH(r, r->fixups) = (MlirFixup){op, operand, ref, type};
    return true;
}

/* An operand whose name was bound later in `region`: fine if the definition is in another block (the
 * control flow may well come by there first), wrong if it is further down the same block. */
static bool connect_late(MlirReader *r, const MlirFixup *fixup, const Region *region) {
    const Value *value = fixup->ref.name->bound;
    const Op *use = fixup->op;
    while (use->block && use->block->region != region)
        use = op_parent(use);
    const Block *defined_in = value->is_result ? ((const Op *)value->owner)->block : value->owner;
    bool graph = !region->op || !region->op->row || (region->op->row->traits & GRAPH); /* may come in any order */
    if (!graph && use->block == defined_in)
        return fail(
            r, text_at(r, fixup->ref.at), "'%%%.*s' is used before it is defined at line %u",
            STR_ARG(fixup->ref.name->text),
            source_place(r->source, value->is_result ? ((const Op *)value->owner)->offset : defined_in->offset).line);
    return connect(r, fixup->ref, fixup->op, fixup->operand, fixup->type);
}

static bool report_undefined(MlirReader *r, OperandRef ref) {
    const Value *outside = ref.name->bound;
    if (ref.name->reported)
        return false;
    ref.name->reported = true;
    if (!outside)
        return fail(r, text_at(r, ref.at), "'%%%.*s' is not defined", STR_ARG(ref.name->text));
    uint32_t offset = outside->is_result ? ((Op *)outside->owner)->offset : ((Block *)outside->owner)->offset;
    return fail(r, text_at(r, ref.at), "'%%%.*s' is defined at line %u, and is out of scope here",
                STR_ARG(ref.name->text), source_place(r->source, offset).line);
}

bool leave_region(MlirReader *r, const Region *region, uint32_t undo_mark, uint32_t fixup_mark, bool closed) {
    bool good = true;
    uint32_t kept = fixup_mark;
    for (uint32_t i = fixup_mark; i < r->fixups.count; i++) {
        MlirFixup fixup = r->fixups.items[i];
        if (fixup.ref.name->bound && fixup.ref.name->scope == r->scope)
            good &= connect_late(r, &fixup, region);
        else if (closed)
            good = report_undefined(r, fixup.ref);
        else
            r->fixups.items[kept++] = fixup;
    }
    r->fixups.count = kept;
    while (r->undo.count > undo_mark) {
        MlirUndo undo = r->undo.items[--r->undo.count];
        undo.name->bound = undo.bound;
        undo.name->bound_count = undo.bound_count;
        undo.name->scope = undo.scope;
    }
    return good;
}

Block *block_named(MlirReader *r, Region *region, Name *label, uint32_t at) {
    if (label->bound && label->scope == r->labels)
        return label->bound;
    Block *block = ARENA_NEW(&r->module->arena, Block);
    block->region = region;
    block->label = label;
    block->offset = at;
    block->order = UINT32_MAX; /* not placed yet */
    bind(r, label, block, 1, r->labels);
    return block;
}
