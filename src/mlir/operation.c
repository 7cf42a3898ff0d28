/* One operation: its results' names, its name, then whatever its form is. */
#include "mlir/internal.h"
#include "ptx/reader.h"

void append_op(MlirReader *r, Block *block, Op *op) {
    r->module->op_count += !op->implicit;
    if (!block) {
        add_item(r, ITEM_OP, op->offset)->op = op;
        op->prev = r->module->last_op;
        if (op->prev)
            op->prev->next = op;
        r->module->last_op = op;
        return;
    }
    op->prev = block->last;
    if (block->last)
        block->last->next = op;
    else
        block->first = op;
    block->last = op;
}

/* `%a, %b:2 =` */
static bool read_result_names(MlirReader *r) {
    do {
        OperandRef ref;
        if (!read_operand_ref(r, &ref))
            return r->failed ? false : fail(r, r->p, "expected a result's name");
        int64_t count = 1;
        bool counted = take(r, ':');
        const char *at = r->p;
        if (counted && (!take_number(r, &count) || count < 1 || count > LIMIT_COUNT))
            return fail(r, at, "expected a number of results from 1 to %d", LIMIT_COUNT);
        PUSH(r, r->names) = (ResultName){ref.name, (uint32_t)count, ref.at, counted};
    } while (take(r, ','));
    return take(r, '=') || fail(r, r->p, "expected '=' after the results' names");
}

bool make_operands(MlirReader *r, Op *op, uint32_t operand_mark, uint32_t note_mark) {
    const OpRow *row = op->row;
    const OperandRef *refs = r->operands.items + operand_mark;
    uint32_t count = r->operands.count - operand_mark;
    if (count > LIMIT_COUNT)
        return fail(r, r->p, "more than %d operands", LIMIT_COUNT);
    Arena *arena = &r->module->arena;
    op->operand_count = count;
    op->operands = count ? ARENA_ARRAY(arena, Value *, count) : NULL;

    /* Where each entry of the column starts. A format may read them in another order. */
    uint16_t starts[MAX_OPERAND_SLOTS];
    bool plain = true;
    unsigned slots = op->form == FORM_PRETTY ? row->operand_count : 0;
    if (slots) {
        uint16_t sizes[MAX_OPERAND_SLOTS];
        memset(sizes, 0, sizeof *sizes * slots);
        for (uint32_t i = 0; i < count; i++)
            sizes[refs[i].slot]++;
        uint16_t sum = 0;
        for (unsigned i = 0; i < slots; i++) {
            if (row->operands[i].arity == SLOT_ONE && sizes[i] != 1)
                return mismatch(r, "another operand");
            plain &= row->operands[i].arity == SLOT_ONE;
            starts[i] = sum;
            sum = (uint16_t)(sum + sizes[i]);
        }
        if (!plain) {
            op->segments = arena_alloc(arena, sizeof *op->segments * slots);
            memcpy(op->segments, sizes, sizeof *op->segments * slots);
        }
    }

    /* The type that the text gives to each operand, found by the operand's final place. */
    uint32_t types_mark = r->types.count;
    for (uint32_t i = 0; i < count; i++)
        PUSH(r, r->types) = NULL;
    uint32_t flat = 0, last_at = 0;
    for (uint32_t i = note_mark; i < r->notes.count; i++) {
        TypeNote note = r->notes.items[i];
        if (note.of_result)
            continue;
        flat += note.flat;
        last_at = note.at;
        uint32_t place = note.flat ? note.index : starts[note.slot.index] + note.index;
        if (place >= count)
            return fail(r, text_at(r, note.at), "more types than operands: there %s %u", count == 1 ? "is" : "are",
                        count);
        r->types.items[types_mark + place] = note.type;
    }
    if (flat && flat < count)
        return fail(r, text_at(r, last_at), "fewer types than operands: there are %u", count);
    bool good = true;
    r->odd_types = false;
    for (uint32_t i = 0; good && i < count; i++) {
        uint32_t place = slots ? starts[refs[i].slot]++ : i;
        const Type *type = r->types.items[types_mark + place];
        good = resolve(r, refs[i], op, place, type);
        r->odd_types |= type && !(op->operands[place] && op->operands[place]->type == type);
    }
    r->types.count = types_mark;
    return good;
}

bool make_results(MlirReader *r, Op *op, uint32_t name_mark, const Type *const *types, uint32_t count) {
    uint32_t named = 0;
    for (uint32_t i = name_mark; i < r->names.count; i++)
        named += r->names.items[i].count;
    if (r->names.count > name_mark && named != count)
        return fail(r, text_at(r, op->offset), "%.*s has %u result%s, but %u %s named", STR_ARG(op->name), count,
                    count == 1 ? "" : "s", named, named == 1 ? "is" : "are");
    op->result_count = count;
    op->results = count ? ARENA_ARRAY(&r->module->arena, Value, count) : NULL;
    for (uint32_t i = 0; i < count; i++)
        op->results[i] = (Value){.type = types[i], .owner = op, .index = i, .pack = 1, .is_result = true};
    uint32_t first = 0;
    bool good = true;
    for (uint32_t i = name_mark; i < r->names.count; i++) {
        ResultName name = r->names.items[i];
        for (uint32_t k = 0; k < name.count; k++) {
            op->results[first + k].name = name.name;
            op->results[first + k].pack = k ? 0 : (uint16_t)name.count;
        }
        op->results[first].counted = name.counted;
        good &= bind_values(r, name.name, &op->results[first], name.count, name.at);
        first += name.count;
    }
    return good;
}

void keep_successors(MlirReader *r, Op *op, uint32_t successor_mark) {
    uint32_t count = r->successors.count - successor_mark;
    if (count) {
        OpExtra *extra = op_extra(r->module, op);
        extra->successor_count = count;
        extra->successors = ARENA_ARRAY(&r->module->arena, Block *, count);
        extra->successor_sizes = ARENA_ARRAY(&r->module->arena, uint16_t, count);
        for (uint32_t i = 0; i < count; i++) {
            extra->successors[i] = r->successors.items[successor_mark + i].block;
            extra->successor_sizes[i] = r->successors.items[successor_mark + i].operands;
        }
    }
    r->successors.count = successor_mark;
}

/* The operand that a note is about; NULL if it is not known yet. */
static const Value *noted_operand(const Op *op, const TypeNote *note) {
    uint32_t count = op->operand_count;
    Value **values = op->operands;
    if (!note->flat)
        values = op_operands_at(op, note->slot.index, &count);
    return note->index < count ? values[note->index] : NULL;
}

bool settle_notes(MlirReader *r, Op *op, bool odd_types, uint32_t checked, uint32_t spelled_mark) {
    for (uint32_t i = checked; i < r->notes.count; i++) {
        TypeNote note = r->notes.items[i];
        if (note.of_result)
            continue;
        const Value *value = noted_operand(op, &note);
        odd_types |= !value || value->type != note.type;
        if (value && !check_type(r, note.type, value->type, value->name, note.at))
            return false;
    }
    uint32_t count = r->spelled.count - spelled_mark;
    if (odd_types && count) {
        OpExtra *extra = op_extra(r->module, op);
        extra->spelled_count = count;
        extra->spelled = KEEP(r, r->spelled, spelled_mark);
    }
    r->spelled.count = spelled_mark;
    return true;
}

/* What a failed attempt left on the stacks and in the op. */
typedef struct Marks {
    const char *p;
    uint32_t operands, notes, spelled, pending, types, attrs, entries, ints, slices, successors;
} Marks;

static Marks marks_of(const MlirReader *r) {
    return (Marks){
        r->p,           r->operands.count, r->notes.count, r->spelled.count, r->pending.count,   r->types.count,
        r->attrs.count, r->entries.count,  r->ints.count,  r->slices.count,  r->successors.count};
}

static void go_back(MlirReader *r, Marks marks, Op *op) {
    r->p = marks.p;
    r->operands.count = marks.operands;
    r->notes.count = marks.notes;
    r->spelled.count = marks.spelled;
    r->pending.count = marks.pending;
    r->types.count = marks.types;
    r->attrs.count = marks.attrs;
    r->entries.count = marks.entries;
    r->ints.count = marks.ints;
    r->slices.count = marks.slices;
    r->successors.count = marks.successors;
    *op = (Op){.row = op->row,
               .name = op->name,
               .block = op->block,
               .offset = op->offset,
               .shorthand = op->shorthand,
               .form = op->form};
}

/* An op that the table does not know, or not in this spelling. */
static bool read_unknown(MlirReader *r, Op *op, const char *start, const char *name_at, uint32_t name_mark) {
    if (!op->row && r->options.strict)
        fail(r, name_at, "%.*s is not in the op table", STR_ARG(op->name));
    else if (!op->row)
        note(r, name_at, "%.*s is not in the op table; it is kept as it is written", STR_ARG(op->name));
    else if (r->options.strict)
        fail(r, r->far, "expected %s: no known spelling of %.*s fits", r->expected, STR_ARG(op->name));
    else
        note(r, r->far, "expected %s: no known spelling of %.*s fits, so it is kept as it is written", r->expected,
             STR_ARG(op->name));
    r->failed = false; /* the error of --strict is counted; the op itself can be read */
    op->form = FORM_OPAQUE;
    r->module->unknown_count++;
    return read_opaque(r, op, start, name_mark);
}

/* The row of an op by its name, remembered from the last time: a kernel has few kinds of ops. */
static const OpRow *cached_row(MlirReader *r, Str name) {
    uint64_t tail = 0;
    if (name.size >= 8)
        memcpy(&tail, name.data + name.size - 8, 8);
    RowCache *cache = &r->rows[(tail * 0x9e3779b97f4a7c15u + name.size) >> 32 & (ROW_CACHE - 1)];
    if (!cache->row || !str_equal(cache->name, name)) {
        const OpRow *row = op_row_generic(name);
        if (!row)
            return NULL;
        *cache = (RowCache){name, row};
    }
    return cache->row;
}

static bool read_any_form(MlirReader *r, Op *op, const char *start, uint32_t name_mark) {
    skip_space(r);
    const char *name_at = r->p;
    if (*r->p == '"') {
        const char *end = r->p + 1;
        while (is_class(*end, CLASS_ID))
            end++;
        if (*end == '"')
            end++;
        else if (!(end = string_end(r, r->p)))
            return false;
        op->name = str_between(r->p + 1, end - 1);
        op->row = cached_row(r, op->name);
        op->form = FORM_GENERIC;
        r->p = end;
        if (!op->row && r->options.strict)
            fail(r, name_at, "%.*s is not in the op table", STR_ARG(op->name));
        else if (!op->row)
            note(r, name_at, "%.*s is not in the op table", STR_ARG(op->name));
        r->failed = false;
        r->module->unknown_count += !op->row;
        return read_generic(r, op, name_mark);
    }
    op->name = take_id(r);
    if (*r->p == 0 && r->p < r->end)
        return fail_at_zero(r, r->p);
    if (!op->name.size && r->brackets_broken)
        return !(r->failed = true); /* the rest of what a missing bracket has spoiled */
    if (!op->name.size)
        return fail(r, r->p, "expected an operation");
    op->shorthand = !memchr(op->name.data, '.', op->name.size);
    op->row = op->shorthand ? op_row(op->name) : cached_row(r, op->name);
    /* In a region of an op that is not known, a name may be short for one of that op's dialect. */
    bool foreign = op->block && op->block->region->op && !op->block->region->op->row;
    if (op->shorthand && !op->row && !foreign)
        return fail(r, name_at, "'%.*s' is not an operation", STR_ARG(op->name));
    r->far = r->p;
    r->expected = "the generic form";
    for (unsigned i = 0; op->row && i < op->row->format_count; i++) {
        if (op->row->formats[i].generic_only)
            continue;
        Marks marks = marks_of(r);
        op->format = (uint8_t)i;
        op->form = FORM_PRETTY;
        if (read_pretty(r, op, &op->row->formats[i], name_mark))
            return true;
        if (r->failed)
            return false;
        go_back(r, marks, op);
    }
    r->p = name_at + op->name.size;
    return read_unknown(r, op, start, name_at, name_mark);
}

/* After an error: go on behind this op, with its results known but without types, so that one error
 * does not become many. */
static void recover(MlirReader *r, const char *start, uint32_t name_mark, bool broken) {
    r->quiet = true;
    const char *end = r->end; /* where an op within has taken all, there is nothing to look for */
    if (r->p < r->end)
        end = broken ? extent_by_indent(r, start) : op_extent(r, start);
    r->p = end > r->p || end <= start ? end : r->p;
    if (r->p <= start)
        r->p = start + 1;
    for (uint32_t i = name_mark; i < r->names.count; i++) {
        ResultName name = r->names.items[i];
        if (name.name->bound && name.name->scope == r->scope)
            continue;
        Op *lost = ARENA_NEW(&r->module->arena, Op);
        lost->offset = name.at;
        Value *values = ARENA_ARRAY(&r->module->arena, Value, name.count);
        for (uint32_t k = 0; k < name.count; k++)
            values[k] = (Value){.name = name.name, .owner = lost, .index = k, .is_result = true};
        bind_values(r, name.name, values, name.count, name.at);
    }
    r->quiet = false;
    r->failed = true;
}

bool read_op(MlirReader *r, Block *block) {
    skip_space(r);
    const char *start = r->p;
    Marks marks = marks_of(r);
    uint32_t name_mark = r->names.count;
    Op *op = ARENA_NEW(&r->module->arena, Op);
    op->block = block;
    op->offset = offset_of(r, start);
    r->failed = false;
    const char *outer_start = r->op_start;
    bool broken_before = r->brackets_broken;
    r->op_start = start;

    bool good = (*r->p != '%' || read_result_names(r)) && read_any_form(r, op, start, name_mark);
    if (good && location_follows(r)) {
        op->location = read_location(r);
        good = op->location != NULL;
    }
    if (good && block && op_is_terminator(block->last) && block->last->form != FORM_OPAQUE)
        good = fail(r, text_at(r, block->last->offset), "%.*s must be the last op of its block",
                    STR_ARG(block->last->name));
    if (good) {
        op->result_names = r->names.count > name_mark;
        append_op(r, block, op);
        if (op_is(op, CLASS_INLINE_PTX) && !op_assembly(r->module, op)->version)
            ptx_read_assembly(op_assembly(r->module, op), op_string(op, "asm_string"), &r->module->arena);
    } else {
        if (!r->failed)
            fail(r, r->far ? r->far : r->p, "expected %s", r->expected ? r->expected : "something else");
        const char *reached = r->p;
        Op scratch = {0};
        go_back(r, marks, &scratch);
        r->p = reached;
        recover(r, start, name_mark, r->brackets_broken && !broken_before);
    }
    r->names.count = name_mark;
    r->op_start = outer_start;
    return good;
}
