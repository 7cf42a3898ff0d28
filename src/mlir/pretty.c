/* An op in a format of its row: the format's elements are matched one after the other.
 *
 * There is no backtracking within a format. An optional part is taken when its first one or two
 * elements are there; where a later element does not fit, the whole format does not, and the next
 * format of the row is tried. Nothing is looked up or made until the format has fitted, or until a
 * region starts: from there on what does not fit is an error. */
#include "mlir/internal.h"

void add_choice(Draft *draft, unsigned value, unsigned bits) {
    Op *op = draft->op;
    if (op->choice_count == 255 || op->choice_count + bits > 64) {
        op->choice_count = 255;
        return;
    }
    op->choices |= (uint64_t)value << op->choice_count;
    op->choice_count = (uint8_t)(op->choice_count + bits);
}

static bool match(MlirReader *r, Draft *draft, unsigned i, unsigned end);

/* ---- Looking ahead --------------------------------------------------------------------------- */

/* An operand, where there may be none: a name on the next line can be the next op's result. */
static bool operand_follows(MlirReader *r) {
    return next_is(r, '%') && !(first_on_line(r) && looks_like_results(r->p));
}

static uint32_t operands_read(const MlirReader *r, const Draft *draft, unsigned slot) {
    uint32_t count = 0;
    for (uint32_t i = draft->operand_mark; i < r->operands.count; i++)
        count += r->operands.items[i].slot == slot;
    return count;
}

static bool starts(MlirReader *r, const Draft *draft, unsigned i, unsigned end) {
    const Element *element = &draft->format->elements[i];
    switch (element->kind) {
    case ELEMENT_SPACE:
    case ELEMENT_LINE:
        return starts(r, draft, i + 1, end);
    case ELEMENT_LITERAL: {
        const char *before = r->p;
        bool here = take_text(r, element->text);
        if (here && i + 1 < end) {
            const Element *second = element + 1;
            if (second->kind == ELEMENT_LITERAL)
                here = next_is_text(r, second->text);
            else if (second->kind == ELEMENT_OPERAND && draft->row->operands[second->slot.index].arity != SLOT_MANY)
                here = next_is(r, '%');
            else if (second->kind == ELEMENT_ATTR)
                here = attr_may_start(r, &draft->row->attrs[second->slot.index]);
            else if (second->kind == ELEMENT_TYPE && second->slot.column == REF_OPERAND)
                here = operands_read(r, draft, second->slot.index) > 0;
        }
        r->p = before;
        return here;
    }
    case ELEMENT_OPERAND:
    case ELEMENT_OPERANDS:
    case ELEMENT_ASSIGN:
    case ELEMENT_BIND:
        return operand_follows(r);
    case ELEMENT_ATTR:
        return attr_may_start(r, &draft->row->attrs[element->slot.index]);
    case ELEMENT_REGION:
    case ELEMENT_DICT:
        return next_is(r, '{');
    case ELEMENT_SUCCESSOR:
        return next_is(r, '^');
    case ELEMENT_SIGNATURE:
    case ELEMENT_ARGS:
        return next_is(r, '(');
    default:
        return true;
    }
}

/* ---- Operands and types ---------------------------------------------------------------------- */

static bool read_operand(MlirReader *r, unsigned slot) {
    OperandRef ref;
    if (!read_operand_ref(r, &ref))
        return false;
    ref.slot = (uint8_t)slot;
    PUSH(r, r->operands) = ref;
    return true;
}

/* A comma that another operand follows. */
static bool more_operands(MlirReader *r) {
    const char *before = r->p;
    if (take(r, ',') && next_is(r, '%'))
        return true;
    r->p = before;
    return false;
}

static bool match_operand(MlirReader *r, const Draft *draft, const Element *element) {
    unsigned slot = element->slot.index;
    if (draft->row->operands[slot].arity == SLOT_ONE || element->single)
        return read_operand(r, slot);
    if (!operand_follows(r))
        return true;
    if (draft->row->operands[slot].arity == SLOT_OPTIONAL)
        return read_operand(r, slot);
    do
        if (!read_operand(r, slot))
            return false;
    while (more_operands(r));
    return true;
}

static bool match_operands(MlirReader *r, const Draft *draft) {
    /* All of them in order: a column of single operands, or one that a many-operand ends. */
    unsigned slot = 0, last = draft->row->operand_count;
    if (!operand_follows(r))
        return true;
    do {
        if (!read_operand(r, slot))
            return false;
        if (slot + 1 < last && draft->row->operands[slot].arity != SLOT_MANY)
            slot++;
    } while (more_operands(r));
    return true;
}

/* Reads a type that is likely to be `guess`. */
static bool note_type(MlirReader *r, const Type *guess, Str class, SlotRef slot, uint32_t index, bool flat,
                      bool of_result) {
    skip_space(r);
    uint32_t at = offset_of(r, r->p);
    bool bare = *r->p == '<' && class.size && !(guess && guess->bare_form);
    const Type *type = bare ? read_type_of(r, class) : read_type_like(r, guess);
    if (!type)
        return false;
    PUSH(r, r->spelled) = type;
    PUSH(r, r->notes) = (TypeNote){type, at, slot, index, flat, of_result};
    return true;
}

/* A bare type has the name of the type that its operand has: older releases had other names. */
static Str class_of(const Slot *slot, const Type *guess) {
    bool class = slot->rule == TYPE_CLASS;
    if (guess && guess->kind == TYPE_DIALECT && (!class || type_is(guess, slot->text)))
        return guess->name;
    return class ? slot->text : (Str){0};
}

static bool match_type(MlirReader *r, const Draft *draft, const Element *element) {
    SlotRef slot = element->slot;
    if (slot.column == REF_RESULT) {
        const Slot *result = &draft->row->results[slot.index];
        const Type **guess = &r->result_guess[draft->row->id];
        uint32_t index = 0;
        do {
            if (!note_type(r, *guess, class_of(result, NULL), slot, index++, false, true))
                return false;
            *guess = r->spelled.items[r->spelled.count - 1];
        } while (result->arity == SLOT_MANY && take(r, ','));
        return true;
    }
    const Slot *operand = &draft->row->operands[slot.index];
    uint32_t index = 0;
    for (uint32_t i = draft->operand_mark; i < r->operands.count; i++) {
        const OperandRef ref = r->operands.items[i];
        if (ref.slot != slot.index)
            continue;
        if (index && !take(r, ','))
            return mismatch(r, "','");
        const Type *guess = type_of_ref(r, &ref);
        if (!note_type(r, guess, class_of(operand, guess), slot, index++, false, false))
            return false;
    }
    return true;
}

/* Types separated by commas up to `close`, or, with no `close`, as long as there are commas. */
static bool match_types(MlirReader *r, char close, bool of_result) {
    if (close && next_is(r, close))
        return true;
    uint32_t index = 0;
    do
        if (!note_type(r, NULL, (Str){0}, (SlotRef){0}, index++, true, of_result))
            return false;
    while (take(r, ','));
    return true;
}

static bool match_signature(MlirReader *r, Draft *draft) {
    if (!take(r, '('))
        return mismatch(r, "'('");
    uint32_t first = r->notes.count;
    if (!match_types(r, ')', false))
        return false;
    uint32_t types = r->notes.count - first;
    uint32_t operands = draft->committed ? draft->op->operand_count : r->operands.count - draft->operand_mark;
    if (types < operands && next_is(r, ')'))
        return fail(r, r->p, "fewer types than operands: there %s %u", operands == 1 ? "is" : "are", operands);
    if (types > operands)
        return fail(r, text_at(r, r->notes.items[first + operands].at), "more types than operands: there %s %u",
                    operands == 1 ? "is" : "are", operands);
    if (!take(r, ')'))
        return mismatch(r, "')'");
    if (!take_text(r, STR("->")))
        return mismatch(r, "'->'");
    bool parens = take(r, '(');
    add_choice(draft, parens, 1);
    if (!parens)
        return note_type(r, NULL, (Str){0}, (SlotRef){0}, 0, true, true);
    return match_types(r, ')', true) && (take(r, ')') || mismatch(r, "')'"));
}

/* All operand types, comma-separated; as many as there are operands. */
static bool match_operand_types(MlirReader *r, const Draft *draft) {
    uint32_t count = r->operands.count - draft->operand_mark;
    for (uint32_t i = 0; i < count; i++) {
        if (i && !take(r, ','))
            return mismatch(r, "','");
        if (!note_type(r, NULL, (Str){0}, (SlotRef){0}, i, true, false))
            return false;
    }
    return true;
}

/* ---- Regions and successors ------------------------------------------------------------------ */

bool commit(MlirReader *r, Draft *draft) {
    if (draft->committed)
        return true;
    draft->committed = true;
    draft->checked = r->notes.count;
    if (!make_operands(r, draft->op, draft->operand_mark, draft->note_mark))
        return false;
    draft->odd_types = r->odd_types;
    for (uint32_t i = draft->pending_mark; i < r->pending.count; i++) {
        PendingArg *arg = &r->pending.items[i];
        if (!arg->of_operand)
            continue;
        uint32_t count;
        Value **values = op_operands_at(draft->op, arg->slot, &count);
        if (arg->index < count && values[arg->index])
            arg->type = values[arg->index]->type;
    }
    return true;
}

bool read_next_region(MlirReader *r, Draft *draft, bool closed) {
    if (!next_is(r, '{'))
        return mismatch(r, "'{'");
    if (!commit(r, draft))
        return false;
    Region *region = add_region(r, draft->op);
    return read_region(r, draft->op, region, draft->pending_mark, closed) ||
           (!r->failed && fail(r, r->p, "expected '{'"));
}

static bool match_bind(MlirReader *r, const Element *element) {
    OperandRef ref;
    if (!read_operand_ref(r, &ref))
        return false;
    PUSH(r, r->pending) = (PendingArg){.name = ref.name, .at = ref.at, .of_operand = true, .slot = element->slot.index};
    return true;
}

static bool match_assign(MlirReader *r, const Element *element) {
    if (!next_is(r, '%'))
        return true;
    uint32_t index = 0;
    do {
        if (!match_bind(r, element))
            return false;
        r->pending.items[r->pending.count - 1].index = index++;
        if (!take(r, '='))
            return mismatch(r, "'='");
        if (!read_operand(r, element->slot.index))
            return false;
    } while (more_operands(r));
    return true;
}

static bool match_successor(MlirReader *r, const Draft *draft, const Element *element) {
    if (!next_is(r, '^'))
        return mismatch(r, "a block");
    const char *start = r->p++;
    Str text = take_suffix(r);
    if (!text.size)
        return fail(r, start, "expected a block's name after '^'");
    if (!draft->op->block)
        return fail(r, start, "there is no block to branch to outside a region");
    Name *label = name_intern(r->module, &r->module->labels, text);
    Block *block = block_named(r, draft->op->block->region, label, offset_of(r, start));
    uint32_t first = r->operands.count, before = operands_read(r, draft, element->slot.index);
    if (take(r, '(')) {
        do
            if (!read_operand(r, element->slot.index))
                return false;
        while (take(r, ','));
        if (!take(r, ':'))
            return mismatch(r, "':'");
        for (uint32_t i = first; i < r->operands.count; i++) {
            if (i > first && !take(r, ','))
                return mismatch(r, "','");
            const Type *guess = type_of_ref(r, &r->operands.items[i]);
            if (!note_type(r, guess, (Str){0}, element->slot, before + i - first, false, false))
                return false;
        }
        if (!take(r, ')'))
            return mismatch(r, "')'");
    }
    PUSH(r, r->successors) = (Successor){block, (uint16_t)(r->operands.count - first)};
    return true;
}

/* `42: ^bb2, 43: ^bb3(%x : T)` */
static bool match_branches(MlirReader *r, const Draft *draft, const Element *element) {
    uint32_t mark = r->ints.count, first = r->successors.count;
    while (!next_is(r, ']')) {
        int64_t value;
        if (!take_number(r, &value))
            return mismatch(r, "a number");
        PUSH(r, r->ints) = value;
        if (!take(r, ':'))
            return mismatch(r, "':'");
        if (!match_successor(r, draft, element))
            return false;
        if (!take(r, ','))
            break;
    }
    uint32_t count = r->ints.count - mark;
    const Type *type = draft->note_mark < r->notes.count ? r->notes.items[draft->note_mark].type : NULL;
    Text values = {0}, sizes = {0};
    text_str(&values, STR("dense<["));
    text_str(&sizes, STR("array<i32"));
    for (uint32_t i = 0; i < count; i++) {
        text_addf(&values, "%s%lld", i ? ", " : "", (long long)r->ints.items[mark + i]);
        text_addf(&sizes, "%s%u", i ? ", " : ": ", r->successors.items[first + i].operands);
    }
    text_addf(&values, "]> : vector<%ux%.*s>", count, type ? (int)type->text.size : 0, type ? type->text.data : "");
    text_char(&sizes, '>');
    *attr_place(r, draft->op, element->other.index) = make_int_list(r, &values, r->ints.items + mark, count);
    int slot = op_slot(draft->row->attrs, draft->row->attr_count, STR("case_operand_segments"));
    if (slot >= 0)
        *attr_place(r, draft->op, (unsigned)slot) = make_int_list(r, &sizes, NULL, 0);
    r->ints.count = mark;
    return true;
}

/* ---- Attributes ------------------------------------------------------------------------------ */

static bool match_attr(MlirReader *r, const Draft *draft, const Element *element) {
    const Slot *slot = &draft->row->attrs[element->slot.index];
    const Attr *attr = read_attr_for(r, slot);
    if (!attr)
        return false;
    *attr_place(r, draft->op, element->slot.index) = attr;
    return true;
}

/* `%i, 0, %j`: what is not a number is an operand. */
static bool match_mixed(MlirReader *r, const Draft *draft, const Element *element) {
    uint32_t mark = r->ints.count;
    if (!next_is(r, ']')) {
        do {
            int64_t value = INT32_MIN;
            if (next_is(r, '%') ? !read_operand(r, element->slot.index) : !take_number(r, &value))
                return r->failed ? false : mismatch(r, "an index");
            PUSH(r, r->ints) = value;
        } while (take(r, ','));
    }
    *attr_place(r, draft->op, element->other.index) = make_ints(r, "i32", r->ints.items + mark, r->ints.count - mark);
    r->ints.count = mark;
    return true;
}

static bool match_dict(MlirReader *r, Draft *draft, bool keyword) {
    bool here = keyword ? take_text(r, STR("attributes")) : next_is(r, '{');
    add_choice(draft, here, 1);
    if (!here)
        return true;
    draft->op->dict = read_dict_of(r, draft->op);
    return draft->op->dict != NULL;
}

/* ---- The elements ---------------------------------------------------------------------------- */

static bool match_any_order(MlirReader *r, Draft *draft, unsigned i) {
    const Element *elements = draft->format->elements;
    unsigned end = elements[i].end, seen = 0;
    for (;;) {
        unsigned number = 0, clause = i + 1;
        for (; clause < end; clause = elements[clause].end, number++)
            if (!(seen & 1u << number) && starts(r, draft, clause + 1, clause + 2))
                break;
        add_choice(draft, clause < end, 1);
        if (clause >= end)
            return true;
        seen |= 1u << number;
        add_choice(draft, number, 3);
        if (!match(r, draft, clause + 1, elements[clause].end))
            return false;
    }
}

static bool match_literal(MlirReader *r, Str text) {
    if (take_text(r, text))
        return true;
    char *quoted = arena_alloc(&r->module->arena, text.size + 3);
    memcpy(quoted + 1, text.data, text.size);
    quoted[0] = quoted[text.size + 1] = '\'';
    quoted[text.size + 2] = 0;
    return mismatch(r, quoted);
}

/* One that holds no others. */
static bool match_element(MlirReader *r, Draft *draft, const Element *element) {
    switch (element->kind) {
    case ELEMENT_LITERAL:
        return match_literal(r, element->text);
    case ELEMENT_OPERAND:
        return match_operand(r, draft, element);
    case ELEMENT_ATTR:
        return match_attr(r, draft, element);
    case ELEMENT_TYPE:
        return match_type(r, draft, element);
    case ELEMENT_OPERANDS:
        return match_operands(r, draft);
    case ELEMENT_OPERAND_TYPES:
        return match_operand_types(r, draft);
    case ELEMENT_RESULT_TYPES:
        return match_types(r, ')', true);
    case ELEMENT_SIGNATURE:
        return match_signature(r, draft);
    case ELEMENT_DICT:
    case ELEMENT_ATTRIBUTES:
        return match_dict(r, draft, element->kind == ELEMENT_ATTRIBUTES);
    case ELEMENT_PRESENT:
        draft->present |= 1ull << element->slot.index;
        return true;
    case ELEMENT_REGION:
        return read_next_region(r, draft, (draft->row->traits & ISOLATED) != 0);
    case ELEMENT_ARGS:
        return read_block_args(r);
    case ELEMENT_MIXED:
        return match_mixed(r, draft, element);
    case ELEMENT_BIND:
        return match_bind(r, element);
    case ELEMENT_ASSIGN:
        return match_assign(r, element);
    case ELEMENT_SUCCESSOR:
        return match_successor(r, draft, element);
    case ELEMENT_BRANCHES:
        return match_branches(r, draft, element);
    case ELEMENT_FUNCTION:
        return read_function(r, draft);
    case ELEMENT_PARTITIONS:
    case ELEMENT_GROUPS:
        return read_partitions(r, draft, element->kind == ELEMENT_PARTITIONS);
    case ELEMENT_CASES:
        return read_cases(r, draft, element->slot.index);
    default: /* for the printer alone */
        return true;
    }
}

static bool match_optional(MlirReader *r, Draft *draft, const Element *element, unsigned i) {
    bool here = starts(r, draft, i, element->middle);
    add_choice(draft, here, 1);
    for (unsigned k = i; !here && k < element->middle; k++) /* a region that is not written is empty */
        if (draft->format->elements[k].kind == ELEMENT_REGION)
            add_region(r, draft->op);
    return here ? match(r, draft, i, element->middle) : match(r, draft, element->middle, element->end);
}

static bool match_repeat(MlirReader *r, Draft *draft, const Element *element, unsigned i) {
    for (;;) {
        bool here = starts(r, draft, i, element->end);
        add_choice(draft, here, 1);
        if (!here || !match(r, draft, i, element->end))
            return !here;
    }
}

static bool match(MlirReader *r, Draft *draft, unsigned i, unsigned end) {
    const Element *elements = draft->format->elements;
    while (i < end) {
        const Element *element = &elements[i++];
        bool fits;
        switch (element->kind) {
        case ELEMENT_OPTIONAL:
            fits = match_optional(r, draft, element, i);
            i = element->end;
            break;
        case ELEMENT_REPEAT:
            fits = match_repeat(r, draft, element, i);
            i = element->end;
            break;
        case ELEMENT_ANY_ORDER:
            fits = match_any_order(r, draft, i - 1);
            i = element->end;
            break;
        default:
            fits = match_element(r, draft, element);
            break;
        }
        if (!fits)
            return false;
    }
    return true;
}

/* ---- Results --------------------------------------------------------------------------------- */

static uint32_t named_results(const MlirReader *r, const Draft *draft) {
    uint32_t named = 0;
    for (uint32_t i = draft->name_mark; i < r->names.count; i++)
        named += r->names.items[i].count;
    return named;
}

/* The result types: those that the text gives, else those that the row's rules tell. Pushed on `types`. */
static void push_result_types(MlirReader *r, const Draft *draft) {
    const OpRow *row = draft->row;
    uint32_t types_mark = r->types.count;
    bool flat = false;
    for (uint32_t i = draft->note_mark; i < r->notes.count; i++)
        if (r->notes.items[i].of_result && r->notes.items[i].flat) {
            PUSH(r, r->types) = r->notes.items[i].type;
            flat = true;
        }
    draft->op->result_slots = (uint16_t)draft->present;
    for (unsigned slot = 0; slot < row->result_count; slot++)
        if (row->results[slot].arity != SLOT_OPTIONAL)
            draft->op->result_slots |= (uint16_t)(1u << slot);
    if (flat) { /* optional ones are there as far as the types go */
        uint32_t left = r->types.count - types_mark, needed = 0;
        for (unsigned slot = 0; slot < row->result_count; slot++)
            needed += row->results[slot].arity == SLOT_ONE;
        for (unsigned slot = 0; slot < row->result_count; slot++)
            if (row->results[slot].arity == SLOT_OPTIONAL && needed < left) {
                draft->op->result_slots |= (uint16_t)(1u << slot);
                needed++;
            }
        return;
    }
    uint32_t starts[MAX_RESULT_SLOTS];
    for (unsigned slot = 0; slot < row->result_count; slot++) {
        const Slot *result = &row->results[slot];
        uint32_t written = 0;
        starts[slot] = r->types.count;
        for (uint32_t i = draft->note_mark; i < r->notes.count; i++) {
            TypeNote note = r->notes.items[i];
            if (note.of_result && !note.flat && note.slot.index == slot) {
                PUSH(r, r->types) = note.type;
                written++;
            }
        }
        if (written) {
            draft->op->result_slots |= (uint16_t)(1u << slot);
            continue;
        }
        if (result->rule == TYPE_SAME && result->of.column == REF_RESULT && result->of.index < slot) {
            const Type *type = r->types.items[starts[result->of.index]];
            PUSH(r, r->types) = type;
        } else if (result->arity == SLOT_ONE || (result->arity == SLOT_OPTIONAL && draft->present >> slot & 1)) {
            PUSH(r, r->types) = type_by_rule(r, draft->op, result, 0);
        } else if (result->arity == SLOT_MANY && result->rule == TYPE_SAME && result->of.column == REF_OPERAND) {
            uint32_t count;
            op_operands_at(draft->op, result->of.index, &count);
            for (uint32_t i = 0; i < count; i++)
                PUSH(r, r->types) = type_by_rule(r, draft->op, result, i);
        } else if (result->arity == SLOT_MANY && result->rule == TYPE_YIELDED) {
            for (uint32_t i = 0; i < named_results(r, draft); i++)
                PUSH(r, r->types) = type_by_rule(r, draft->op, result, i);
        }
    }
}

/* Two formats may differ only in how many results they have. */
static bool results_fit(const MlirReader *r, const Draft *draft) {
    uint32_t named = named_results(r, draft), fixed = 0, written = 0, flat = 0;
    bool open = false;
    if (!named || draft->op->format + 1u >= draft->row->format_count)
        return true; /* what is wrong then is reported when the results are made */
    for (uint32_t i = draft->note_mark; i < r->notes.count; i++) {
        flat += r->notes.items[i].of_result && r->notes.items[i].flat;
        written += r->notes.items[i].of_result && !r->notes.items[i].flat;
    }
    if (flat)
        return flat == named;
    for (unsigned slot = 0; slot < draft->row->result_count; slot++) {
        const Slot *result = &draft->row->results[slot];
        open |= result->arity == SLOT_MANY;
        fixed += result->arity == SLOT_ONE || draft->present >> slot & 1;
    }
    return open || named == (fixed > written ? fixed : written);
}

bool read_pretty(MlirReader *r, Op *op, const Format *format, uint32_t name_mark) {
    Draft draft = {.op = op,
                   .row = op->row,
                   .format = format,
                   .operand_mark = r->operands.count,
                   .note_mark = r->notes.count,
                   .spelled_mark = r->spelled.count,
                   .pending_mark = r->pending.count,
                   .name_mark = name_mark,
                   .successor_mark = r->successors.count};
    if (!match(r, &draft, 0, format->count))
        return draft.committed && !r->failed ? fail(r, r->far, "expected %s", r->expected) : false;
    if (!draft.committed && !at_op_boundary(r))
        return mismatch(r, "the end of the op");
    if (!draft.committed && !results_fit(r, &draft))
        return mismatch(r, "another number of results");
    if (!commit(r, &draft))
        return false;
    keep_successors(r, op, draft.successor_mark);
    if (!settle_notes(r, op, draft.odd_types, draft.checked, draft.spelled_mark))
        return false;
    uint32_t types_mark = r->types.count;
    push_result_types(r, &draft);
    bool good = make_results(r, op, name_mark, r->types.items + types_mark, r->types.count - types_mark) &&
                check_op(r, op, draft.operand_mark) && check_yields(r, op);
    r->types.count = types_mark;
    r->operands.count = draft.operand_mark;
    r->notes.count = draft.note_mark;
    return good;
}
