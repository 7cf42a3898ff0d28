/* What is to be looked at in the instructions of a form: its row, and what that says of each operand. */
#include "ptx/internal.h"

/* Which literals a type takes: 'f' those with a point, or written as bits; 's' and 'd' whole ones, and the bits of an
 * f32 or of an f64; 'i' whole ones; 'n' none; 0: it is not known. */
static char type_class(Str type) {
    if (word_place(type, "f32 f64") >= 0)
        return 'f';
    if (word_place(type, "b32 b64") >= 0)
        return type.data[1] == '3' ? 's' : 'd';
    if (word_place(type, "f16 bf16 f16x2 bf16x2 f32x2 u16x2 s16x2") >= 0)
        return 'n';
    return word_place(type, "b8 b128 b16 u8 u16 u32 u64 s8 s16 s32 s64") >= 0 ? 'i' : 0;
}

/* The type of an operand, as its row gives it; `bits` of it. */
static Str operand_type(const PtxRow *row, Str form, Str said, unsigned *bits) {
    bool wide = str_is(said, "wide");
    Str type = ptx_form_modifier(row, form, wide ? STR("t") : said);
    if (!type.size)
        type = said;
    *bits = ptx_type_bits(type) << wide;
    return type;
}

/* Whether a form has a modifier, or one of the group of that name. */
static bool has_modifier(const PtxRow *row, Str form, Str name) {
    return ptx_form_has(form, name) || ptx_form_modifier(row, form, name).size > 0;
}

/* Whether the results are computed lane by lane: then there is nothing to it where nothing wants them. */
static bool computes_lanes(const PtxRow *row) {
    PtxEvaluator evaluator = ptx_evaluator(row);
    return evaluator != PTX_EVALUATE_NONE && (evaluator < PTX_EVALUATE_MMA || evaluator > PTX_EVALUATE_TENSOR_MMA);
}

static void describe_operand(const PtxRow *row, Str form, const PtxOperandRow *said, OperandFacts *facts) {
    *facts = (OperandFacts){.typed = said->type.size > 0 && !said->address,
                            .written = said->written,
                            .sink = said->written && (said->pair || !computes_lanes(row)),
                            .optional = said->optional && !said->with.size,
                            .address = said->address,
                            .label = str_is(said->type, "label"),
                            .special = said->special,
                            .symbol = said->symbol,
                            .number = said->number,
                            .no_number = said->no_number,
                            .predicate = said->predicate,
                            .pair = said->pair,
                            .lone = said->lone,
                            .values = said->values,
                            .vector = said->vector};
    if (!said->type.size || facts->label)
        return;
    facts->members = said->address ? 0 : 1;
    if (said->vector)
        facts->members = said->members.size ? (uint16_t)ptx_row_members(row, form, said->members) : ANY_MEMBERS;
    bool counted = said->members.size && said->members.data[0] <= '9';
    facts->braces =
        said->vector && said->members.size && (counted || has_modifier(row, form, said->members) || facts->members > 1);
    unsigned bits;
    Str type = operand_type(row, form, said->type, &bits);
    facts->type = type_class(type);
    facts->letter = ptx_type_letter(type);
    facts->name = type;
    facts->bits = (uint8_t)bits;
    facts->loose = said->wider;
}

/* Whether an address of the form needs 64 bits: those of shared memory and the like have 32, too. */
static bool has_wide_address(Str form) {
    Str left = form, opcode = next_part(&left);
    if (word_place(opcode, "ld st atom red ldu multimem mbarrier prefetch prefetchu") < 0)
        return false;
    static const char *const narrow[] = {"shared", "shared::cta",  "shared::cluster", "local", "const",
                                         "param",  "param::entry", "param::func",     "async", "tensormap"};
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
        if (ptx_form_has(form, str_of(narrow[i])))
            return false;
    return true;
}

/* Whether the module's version and target have what a row is about. */
static bool has_row(const PtxModule *module, const PtxRow *row) {
    bool target = row->capability <= module->capability && (!row->below || module->capability < row->below);
    if (row->targets != PTX_AND_LATER)
        target &= module->variant != 0;
    if (row->targets == PTX_ONLY_THIS)
        target &= row->capability == module->capability;
    return row->version <= module->version && (target || !module->capability);
}

/* Which operands a row says are written. */
static void describe_writes(PtxForm *form) {
    PtxOperandRow operand;
    for (unsigned i = 0; i < 32 && ptx_row_operand(form->row, i, &operand); i++) {
        form->writes |= (uint32_t)operand.written << i;
        form->updates |= (uint32_t)operand.updated << i;
    }
}

/* The row or the modifier of a form that needs another version or target; NULL: none does. */
static const PtxRow *needs_later(const PtxModule *module, const PtxRow *row, Str form) {
    if (!has_row(module, row))
        return row;
    next_part(&form);
    while (form.size) {
        const PtxRow *word = ptx_word_since(next_part(&form));
        if (word && !has_row(module, word))
            return word;
    }
    return NULL;
}

/* The operands that the form has, in the order of its row. */
static void describe_operands(const PtxRow *row, Str form, FormFacts *facts) {
    const char *at = row->operands;
    PtxOperandRow said;
    while (facts->count < OPERANDS_LOOKED_AT && ptx_next_operand(&at, &said)) {
        if (at[-1] == '.') {
            facts->most = UINT16_MAX;
            return;
        }
        if (said.with.size && !has_modifier(row, form, said.with))
            continue;
        OperandFacts *operand = &facts->operands[facts->count++];
        describe_operand(row, form, &said, operand);
        facts->least += !operand->optional;
    }
    facts->most = facts->count;
}

/* Of a form that no line takes: whether that is the text's fault. An opcode of ptxas that the ISA does not tell of, and
 * what a later ISA may have, are read all the same. */
static bool is_wrong(const PtxModule *module, Str opcode, Str form) {
    return module->version <= PTX_NEWEST && (ptx_opcode_acts(opcode) != PTX_NO_ROW || unknown_word(form).size);
}

/* Whether a register of a type fits the type of the instruction: b fits all of its size, u and s each other. A register
 * of f16x2 is as good as one of u32. */
bool type_fits(const OperandFacts *facts, const TypeFacts *type) {
    char letter = str_is(type->name, "f16x2") && facts->letter != 'h' ? 'u' : type->letter;
    if (!letter || !facts->letter)
        return true;
    if (letter == 'p' || facts->letter == 'p')
        return letter == facts->letter || (letter == 'p' && facts->predicate);
    bool size = type->bits == facts->bits ||
                (facts->loose && type->bits > facts->bits && (facts->letter == 'b' || !strchr("fh", letter)));
    bool kind = letter == 'b' || facts->letter == 'b' || str_equal(type->name, facts->name) ||
                (strchr("us", letter) && strchr("us", facts->letter));
    return size && kind;
}

/* Which operands need no more than a look at their kind and type: nearly all that there are. */
static void describe_easy(const Reader *r, FormFacts *facts) {
    for (unsigned i = 0; i < facts->count; i++) {
        OperandFacts *operand = &facts->operands[i];
        bool braces = operand->braces && operand->members != ANY_MEMBERS;
        if (operand->address || operand->label || braces || (operand->pair && !operand->lone))
            continue;
        operand->integers = !operand->written && !operand->no_number && !operand->values.size && operand->type != 'f' &&
                            operand->type != 'n';
        for (uint32_t type = 0; type < r->names_of_types && !operand->number; type++)
            if (!operand->typed || type_fits(operand, &r->types[type]))
                operand->registers |= r->types[type].bit;
    }
}

void describe_form(Reader *r, PtxForm *form, FormFacts *facts) {
    Str text = form->text;
    bool empty = str_mentions(text, STR("..")) || str_ends(text, STR(".")); /* a modifier without a name */
    form->row = empty ? NULL : ptx_row_of(text, NULL);
    Str opcode = next_part(&text);
    *facts = (FormFacts){.most = UINT16_MAX,
                         .calls = str_is(opcode, "call"),
                         .tables = str_is(opcode, "brx"),
                         .addresses = address_facts(form->text)};
    const PtxRow *line = form->row ? ptx_row_line(form->row, form->text) : NULL;
    if (form->row) {
        form->evaluator = ptx_evaluator(form->row);
        describe_writes(form);
    }
    if (!line) {
        facts->wrong = empty || is_wrong(r->module, opcode, form->text);
        return;
    }
    facts->wide = r->module->capability >= 90 && has_wide_address(form->text);
    for (;;) {
        const FormFacts empty_facts = *facts;
        describe_operands(line, form->text, facts);
        describe_easy(r, facts);
        facts->early = needs_later(r->module, line, form->text);
        line = ptx_next_line(line, form->text);
        if (!line)
            return;
        facts->other = ARENA_ARRAY(&r->stacks, FormFacts, 1);
        *facts->other = empty_facts;
        facts = facts->other;
    }
}
