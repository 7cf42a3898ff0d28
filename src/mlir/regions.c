/* Regions and blocks. */
#include "mlir/internal.h"

bool read_block_args(MlirReader *r) {
    if (!take(r, '('))
        return mismatch(r, "'('");
    if (take(r, ')'))
        return true;
    do {
        OperandRef ref;
        PendingArg arg = {0};
        if (!read_operand_ref(r, &ref))
            return r->failed ? false : fail(r, r->p, "expected an argument's name");
        arg.name = ref.name;
        arg.at = ref.at;
        if (!take(r, ':'))
            return fail(r, r->p, "expected ':' and the argument's type");
        if (!(arg.type = read_type(r)))
            return r->failed ? false : fail(r, r->p, "expected a type");
        if (location_follows(r) && !(arg.location = read_location(r)))
            return false;
        PUSH(r, r->pending) = arg;
    } while (take(r, ','));
    return take(r, ')') || fail(r, r->p, "expected ',' or ')' after an argument");
}

/* Gives the block the arguments pending since the mark. */
static void take_args(MlirReader *r, Block *block, uint32_t pending_mark) {
    uint32_t count = r->pending.count - pending_mark;
    block->arg_count = count;
    block->args = count ? ARENA_ARRAY(&r->module->arena, Value, count) : NULL;
    for (uint32_t i = 0; i < count; i++) {
        PendingArg arg = r->pending.items[pending_mark + i];
        block->args[i] = (Value){.type = arg.type, .name = arg.name, .owner = block, .index = i, .pack = 1};
        if (arg.location && !block->arg_locations)
            block->arg_locations = ARENA_ARRAY(&r->module->arena, const Attr *, count);
        if (arg.location)
            block->arg_locations[i] = arg.location;
        bind_values(r, arg.name, &block->args[i], 1, arg.at);
    }
    r->failed = false; /* a name given twice is reported; the body can be read all the same */
    r->pending.count = pending_mark;
}

static void place_block(Region *region, Block *block) {
    block->order = region->block_count++;
    if (region->last)
        region->last->next = block;
    else
        region->first = block;
    region->last = block;
}

static Block *add_block(MlirReader *r, Region *region, const char *at) {
    Block *block = ARENA_NEW(&r->module->arena, Block);
    block->region = region;
    block->offset = offset_of(r, at);
    place_block(region, block);
    return block;
}

/* `^label(%args):`. After an error the block is there all the same, so that what follows finds its place. */
static Block *read_label(MlirReader *r, Region *region) {
    const char *start = r->p++;
    Str text = take_suffix(r);
    if (!text.size) {
        fail(r, start, "expected a block's name after '^'");
        return add_block(r, region, start);
    }
    Name *label = name_intern(r->module, &r->module->labels, text);
    Block *block = block_named(r, region, label, offset_of(r, start));
    if (block->order != UINT32_MAX) {
        fail(r, start, "block '^%.*s' is already defined at line %u", STR_ARG(text),
             source_place(r->source, block->offset).line);
        block = add_block(r, region, start);
    } else {
        block->offset = offset_of(r, start);
        place_block(region, block);
    }
    uint32_t mark = r->pending.count;
    if (next_is(r, '(') && !read_block_args(r))
        r->pending.count = mark;
    else if (!take(r, ':'))
        fail(r, r->p, "expected ':' after a block's label");
    bool failed = r->failed;
    take_args(r, block, mark);
    r->failed = failed;
    return block;
}

static void add_implicit_terminator(MlirReader *r, Block *block, unsigned id) {
    Op *op = ARENA_NEW(&r->module->arena, Op);
    op->row = op_row_by_id(id);
    op->name = op->row->name;
    op->block = block;
    op->implicit = true;
    op->offset = offset_of(r, r->p);
    op->segments = ARENA_ARRAY(&r->module->arena, uint16_t, op->row->operand_count);
    append_op(r, block, op);
}

/* Whether the last op is a terminator, or might be one for all we know. */
static bool ends_well(const Block *block) {
    const Op *last = block->last;
    return last && (!last->row || op_is(last, CLASS_ANYTHING) || op_is_terminator(last));
}

/* Every block ends in a terminator, written or implied. */
static bool check_blocks(MlirReader *r, const Op *op, Region *region) {
    const OpRow *row = op->row;
    if (!row || op->form == FORM_OPAQUE)
        return true;
    for (Block *block = region->first; block; block = block->next) {
        if (row_yields(row) >= 0 && op->form != FORM_GENERIC && !op_is_terminator(block->last))
            add_implicit_terminator(r, block, (unsigned)row_yields(row));
        if (!(row->traits & GRAPH) && !ends_well(block)) {
            const Op *named = op->implicit && op->block ? op->block->region->op : op;
            return fail(r, block->next ? text_at(r, block->next->offset) : r->p - 1,
                        "this block of %.*s ends without a terminator", STR_ARG(named->name));
        }
    }
    return true;
}

/* Blocks that were branched to but never came. */
static bool check_labels(MlirReader *r, uint32_t undo_mark) {
    bool good = true;
    for (uint32_t i = undo_mark; i < r->undo.count; i++) {
        const Name *name = r->undo.items[i].name;
        if (!name->bound || name->scope != r->labels || map_get(&r->module->labels, name->text) != name)
            continue;
        const Block *block = name->bound;
        if (block->order == UINT32_MAX)
            good =
                fail(r, text_at(r, block->offset), "block '^%.*s' is not defined in this region", STR_ARG(name->text));
    }
    return good;
}

/* Two functions of one module may not share a name. */
static bool check_symbols(MlirReader *r, const Region *region) {
    Map seen = {0};
    bool good = true;
    for (const Op *op = region->first ? region->first->first : NULL; op; op = op->next) {
        const Attr *symbol = op->attrs || op->properties ? op_attr(op, "sym_name") : NULL;
        if (!symbol)
            continue;
        Str name = symbol->text;
        if (name.size && (name.data[0] == '@' || name.data[0] == '"')) /* "f" and @f are one name */
            name = (Str){name.data + 1, name.size - 1 - (name.data[0] == '"')};
        void **place = map_put(&seen, name);
        if (!place)
            break;
        if (*place)
            good = fail(r, text_at(r, op->offset), "'@%.*s' is already defined at line %u", STR_ARG(name),
                        source_place(r->source, ((const Op *)*place)->offset).line);
        *place = (void *)op;
    }
    map_free(&seen);
    return good;
}

bool read_region(MlirReader *r, Op *op, Region *region, uint32_t pending_mark, bool closed) {
    skip_space(r);
    const char *open = r->p;
    if (!take(r, '{'))
        return mismatch(r, "'{'");
    if (r->depth >= LIMIT_REGION_DEPTH)
        return fail(r, open, "regions nested more than %d deep", LIMIT_REGION_DEPTH);
    r->depth++;
    uint32_t scope = r->scope, labels = r->labels;
    uint32_t undo_mark = r->undo.count, fixup_mark = r->fixups.count;
    if (closed)
        r->scope = ++r->last_scope;
    r->labels = ++r->last_labels;
    region->op = op;

    Block *block = NULL;
    bool has_args = r->pending.count > pending_mark;
    if (has_args || !(next_is(r, '^') || (next_is(r, '}') && op->form == FORM_GENERIC))) {
        block = add_block(r, region, open);
        take_args(r, block, pending_mark);
    }
    bool good = true;
    size_t errors = r->diagnostics->errors;
    for (;;) {
        skip_space(r);
        if (take(r, '}'))
            break;
        if (r->p >= r->end) { /* said once, of the innermost */
            good = false;
            r->failed = true;
            if (!r->brackets_broken || r->diagnostics->errors == 0)
                fail(r, open, "this region is never closed");
            r->brackets_broken |= !r->quiet;
            break;
        }
        if (*r->p == '^') {
            r->failed = false;
            block = read_label(r, region);
            if (r->failed && !first_on_line(r))
                skip_comment(r); /* to the end of the line */
            r->failed = false;
            continue;
        }
        if (!read_op(r, block))
            r->failed = false;
    }
    if (good) {
        /* Errors found now concern ops that are read: they count, but there is nothing to recover. An
         * op that could not be read may have been the terminator. */
        if (r->diagnostics->errors == errors)
            check_blocks(r, op, region);
        if (r->diagnostics->errors == errors)
            check_labels(r, undo_mark);
        if (op_is_control(op, CONTROL_MODULE))
            check_symbols(r, region);
        leave_region(r, region, undo_mark, fixup_mark, closed);
        for (const Block *at = region->first; at && r->diagnostics->errors == errors; at = at->next)
            if (at->last && at->last->extra)
                check_branches(r, at->last);
        r->failed = false;
    } else {
        leave_region(r, region, undo_mark, fixup_mark, false);
    }
    r->scope = scope;
    r->labels = labels;
    r->depth--;
    return good;
}
