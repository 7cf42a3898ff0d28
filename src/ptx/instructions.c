/* Instructions and labels of PTX. An opcode with its modifiers is looked up as a whole: a module has a few hundred of
 * them, and only a new one is taken apart. */
#include "ptx/internal.h"

/* ---- Forms --------------------------------------------------------------------------------------------- */

/* Which literals a type takes: 'f' those with a point, or written as bits; 's' and 'd' whole ones, and the bits of an
 * f32 or of an f64; 'i' whole ones; 'n' none; 0: it is not known. */
static char type_class(Str type) {
    if (word_place(type, "f32 f64") >= 0)
        return 'f';
    if (word_place(type, "b32 b64") >= 0)
        return type.data[1] == '3' ? 's' : 'd';
    if (word_place(type, "f16 bf16 f16x2 bf16x2 f32x2 u16x2 s16x2 b128") >= 0)
        return 'n';
    return word_place(type, "b8 b16 u8 u16 u32 u64 s8 s16 s32 s64") >= 0 ? 'i' : 0;
}

/* "f16x2" has 32. */
static unsigned type_bits(Str type) {
    unsigned bits = 0, times = 1;
    for (size_t i = 0; i < type.size; i++) {
        if (is_class(type.data[i], CLASS_DIGIT))
            bits = bits * 10 + (unsigned)(type.data[i] - '0');
        else if (type.data[i] == 'x' && i + 1 < type.size)
            times = (unsigned)(type.data[++i] - '0');
    }
    return bits * times;
}

/* 'p' of predicates; 'b', 'u', 's' and 'f'; 'h' of those that only bits and the same type go with; 0: none of these. */
static char type_letter(Str type) {
    char letter = type.size > 1 ? type.data[0] : 0;
    if (str_is(type, "pred"))
        return 'p';
    if (letter && (type.data[1] == 'f' || memchr(type.data, 'x', type.size)))
        return 'h';
    return letter && strchr("busf", letter) && is_class(type.data[1], CLASS_DIGIT) ? letter : 0;
}

/* The type of an operand, as its row gives it; `bits` of it. */
static Str operand_type(const PtxForm *form, Str said, unsigned *bits) {
    bool wide = str_is(said, "wide");
    Str type = ptx_form_modifier(form->row, form->text, wide ? STR("t") : said);
    if (!type.size)
        type = said;
    *bits = type_bits(type) << wide;
    return type;
}

static void describe_operand(const PtxForm *form, unsigned index, OperandFacts *facts) {
    PtxOperandRow row;
    if (!ptx_row_operand(form->row, index, &row))
        return;
    *facts = (OperandFacts){.known = true,
                            .typed = row.type.size > 0,
                            .written = row.written,
                            .address = row.address,
                            .label = str_is(row.type, "label"),
                            .special = row.special,
                            .vector = row.vector,
                            .members = row.vector ? ANY_MEMBERS : 1};
    if (!facts->typed || facts->label)
        return;
    if (row.members.size) {
        Str count = ptx_form_modifier(form->row, form->text, row.members);
        facts->members = 1;
        if (count.size) /* "v4", "x4" */
            facts->members = (uint8_t)type_bits(str_between(count.data + 1, count.data + count.size));
    }
    unsigned bits;
    Str type = operand_type(form, row.type, &bits);
    facts->type = type_class(type);
    if (facts->type || str_is(type, "pred")) {
        facts->letter = type_letter(type);
        facts->name = type;
        facts->bits = (uint8_t)bits;
        facts->loose = row.wider || form->row->operands[0] == '['; /* what is stored may be the lower part */
    }
}

/* Whether an address of the form needs 64 bits: those of shared memory and the like have 32, too. */
static bool has_wide_address(Str form) {
    Str left = form, opcode = next_part(&left);
    if (word_place(opcode, "ld st atom red ldu") < 0)
        return false;
    static const char *const narrow[] = {"shared", "shared::cta",  "shared::cluster", "local", "const",
                                         "param",  "param::entry", "param::func",     "async"};
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
        if (ptx_form_has(form, str_of(narrow[i])))
            return false;
    return true;
}

/* The state space of variables that a modifier means; NULL: it is none. */
static const char *named_space(Str modifier) {
    static const char *const spaces[] = {".global", ".shared", ".local", ".const", ".param"};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (modifier.size && str_starts(modifier, str_of(spaces[i] + 1)))
            return spaces[i];
    return NULL;
}

/* Whether the module's version and target have the instruction. */
static bool has_row(const PtxModule *module, const PtxRow *row) {
    bool target = row->capability <= module->capability;
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

static void describe_form(Reader *r, PtxForm *form, FormFacts *facts) {
    bool known;
    Str text = form->text;
    bool empty = str_mentions(text, STR("..")) || str_ends(text, STR(".")); /* a modifier without a name */
    form->row = empty ? NULL : ptx_row_of(text, &known);
    *facts = (FormFacts){.most = UINT16_MAX, .calls = str_is(next_part(&text), "call")};
    if (!form->row) {
        facts->wrong = empty || (known && r->module->version <= PTX_NEWEST);
        return;
    }
    form->evaluator = ptx_evaluator(form->row);
    describe_writes(form);
    facts->early = !has_row(r->module, form->row);
    facts->space = named_space(ptx_form_modifier(form->row, form->text, STR("space")));
    unsigned least, most;
    ptx_row_operands(form->row, &least, &most);
    facts->least = (uint16_t)least;
    facts->most = (uint16_t)most;
    for (unsigned i = 0; i < OPERANDS_LOOKED_AT; i++)
        describe_operand(form, i, &facts->operands[i]);
    facts->wide = r->module->capability >= 90 && has_wide_address(form->text);
}

static void grow_form_slots(Reader *r) {
    uint32_t count = r->form_slot_count ? 2 * r->form_slot_count : 1024;
    uint32_t *slots = ARENA_ARRAY(&r->stacks, uint32_t, count);
    for (uint32_t i = 0; i < r->module->forms_count; i++) {
        uint32_t at = map_hash(r->module->forms[i].text) & (count - 1);
        while (slots[at])
            at = (at + 1) & (count - 1);
        slots[at] = i + 1;
    }
    r->form_slots = slots;
    r->form_slot_count = count;
}

static uint32_t find_form(Reader *r, Str text) {
    if (2 * r->module->forms_count >= r->form_slot_count)
        grow_form_slots(r);
    uint32_t at = map_hash(text) & (r->form_slot_count - 1);
    for (; r->form_slots[at]; at = (at + 1) & (r->form_slot_count - 1))
        if (str_equal(r->module->forms[r->form_slots[at] - 1].text, text))
            return r->form_slots[at] - 1;
    uint32_t index = r->module->forms_count;
    PtxForm *form = PUSH(r, forms);
    *form = (PtxForm){.text = text};
    describe_form(r, form, ARENA_PUSH(&r->stacks, r->facts, r->fact_count, r->fact_capacity));
    r->form_slots[at] = index + 1;
    return index;
}

/* "ld.global" of a word that starts at `start`; the reader is behind "ld". */
static Str take_form(Reader *r, const char *start) {
    for (;;) {
        while (is_class(*r->p, CLASS_FORM))
            r->p++;
        if (r->p[0] != ':' || r->p[1] != ':')
            break;
        r->p += 2;
    }
    return str_between(start, r->p);
}

/* Modifiers may stand apart, with blanks and comments between them. */
static Str join_forms(Reader *r, Str first) {
    Text joined = {0};
    text_str(&joined, first);
    while (next_char(r) == '.' && is_class(r->p[1], CLASS_IDENTIFIER))
        text_str(&joined, take_form(r, r->p));
    const char *kept = arena_copy(&r->module->arena, joined.data, joined.size);
    Str all = {kept, joined.size};
    text_free(&joined);
    return all;
}

/* ---- Checks ---------------------------------------------------------------------------------------------- */

static bool check_literal(Reader *r, const OperandFacts *facts, const PtxOperand *operand, Str form, const char *at) {
    if (facts->type == 'f' && operand->kind == PTX_INTEGER)
        return ptx_fail(r, at, "'%.*s' takes a floating-point number here, such as 0f3F800000 or 1.0", STR_ARG(form));
    bool number = operand->kind == PTX_INTEGER || operand->kind == PTX_SINGLE || operand->kind == PTX_DOUBLE;
    if (number && facts->type == 'n')
        return ptx_fail(r, at, "'%.*s' takes no number here", STR_ARG(form));
    if ((operand->kind == PTX_SINGLE && facts->type != 'f' && facts->type != 's') ||
        (operand->kind == PTX_DOUBLE && facts->type != 'f' && facts->type != 'd'))
        return ptx_fail(r, at, "'%.*s' does not take this number: it is one of another type", STR_ARG(form));
    return true;
}

static bool check_address(Reader *r, const FormFacts *facts, const PtxOperand *operand, Str form, const char *at) {
    const PtxOperand *base = operand + 1;
    if (base->kind == PTX_VARIABLE && facts->space) {
        Str space = ptx_name(r->module, r->module->variables[base->a].space);
        if (!str_is(space, facts->space))
            return ptx_fail(r, at, "'%.*s' is about %s memory, and this is a variable of %.*s", STR_ARG(form),
                            facts->space, STR_ARG(space));
    }
    if (base->kind != PTX_REGISTER)
        return true;
    Str type = ptx_name(r->module, r->module->variables[base->a].type);
    if (type.size > 1 && (type.data[1] == 'p' || type.data[1] == 'f'))
        return ptx_fail(r, at, "a register of type %.*s is no address", STR_ARG(type));
    return !facts->wide || type_bits(type) != 32 ||
           ptx_fail(r, at, "an address of '%.*s' has 64 bits, and this register has 32", STR_ARG(form));
}

/* The type that a register was declared with, without its dot. */
static Str register_type(const Reader *r, const PtxOperand *operand) {
    Str type = ptx_name(r->module, r->module->variables[operand->a].type);
    return type.size ? (Str){type.data + 1, type.size - 1} : type;
}

/* A register against the type of the instruction: b fits all of its size, u and s each other. */
static bool check_register(Reader *r, const OperandFacts *facts, const PtxOperand *operand, Str form, const char *at) {
    Str type = register_type(r, operand);
    char letter = type_letter(type);
    if (!letter || operand->part || r->module->variables[operand->a].vector != PTX_NONE)
        return true;
    unsigned bits = type_bits(type);
    bool size =
        bits == facts->bits || (facts->loose && bits > facts->bits && (facts->letter == 'b' || !strchr("fh", letter)));
    bool kind = letter == 'b' || facts->letter == 'b' || str_equal(type, facts->name) ||
                (strchr("us", letter) && strchr("us", facts->letter));
    bool fits = letter == 'p' || facts->letter == 'p' ? letter == facts->letter : size && kind;
    return fits || ptx_fail(r, at, "'%.*s' does not take a register of type .%.*s here", STR_ARG(form), STR_ARG(type));
}

/* What is no vector, of the instruction's own type. */
static bool check_single(Reader *r, const OperandFacts *facts, const PtxOperand *operand, Str form, const char *at) {
    if (operand->negated && facts->letter != 'p')
        return ptx_fail(r, at, "only a predicate can be negated");
    switch (operand->kind) {
    case PTX_SINK:
        return facts->written || ptx_fail(r, at, "'%.*s' needs a value here", STR_ARG(form));
    case PTX_REGISTER:
        return !facts->letter || check_register(r, facts, operand, form, at);
    case PTX_SPECIAL:
        return facts->special || ptx_fail(r, at, "only mov reads special registers");
    case PTX_ADDRESS:
        return ptx_fail(r, at, "'%.*s' takes no address here", STR_ARG(form));
    default:
        return !facts->type || check_literal(r, facts, operand, form, at);
    }
}

/* A vector whose members make up a value: mov.b64 %rd, {%r1, %r2}. */
static bool check_packed(Reader *r, const OperandFacts *facts, const PtxOperand *operand, Str form, const char *at) {
    uint32_t count = 0;
    for (uint32_t i = 1; i <= operand->a; i += ptx_extent(operand + i))
        count++;
    if (facts->letter != 'b' || (count != 2 && count != 4))
        return ptx_fail(r, at, "'%.*s' takes no vector of %u here", STR_ARG(form), count);
    for (uint32_t i = 1; i <= operand->a; i += ptx_extent(operand + i))
        if (operand[i].kind == PTX_REGISTER && !operand[i].part &&
            type_bits(register_type(r, &operand[i])) * count != facts->bits)
            return ptx_fail(r, at, "the registers of this vector have not %u bits altogether", facts->bits);
    return true;
}

static bool check_members(Reader *r, const OperandFacts *facts, const PtxOperand *operand, Str form, const char *at) {
    uint32_t count = 0;
    unsigned bits = 0;
    for (uint32_t i = 1; i <= operand->a; i += ptx_extent(operand + i), count++) {
        if (operand[i].kind == PTX_SINK)
            continue;
        if (!check_single(r, facts, operand + i, form, at))
            return false;
        unsigned own = operand[i].kind == PTX_REGISTER ? type_bits(register_type(r, &operand[i])) : 0;
        if (own && bits && own != bits)
            return ptx_fail(r, at, "the registers of this vector are not of one size");
        bits = own ? own : bits;
    }
    return count == facts->members || ptx_fail(r, at, "'%.*s' takes a vector of %u here, and this one has %u",
                                               STR_ARG(form), facts->members, count);
}

static bool check_typed(Reader *r, const OperandFacts *facts, const PtxOperand *operand, Str form, const char *at) {
    if (operand->kind == PTX_PAIR)
        return true;
    if (operand->kind == PTX_VECTOR && !facts->vector)
        return ptx_fail(r, at, "'%.*s' takes no vector here", STR_ARG(form));
    if (operand->kind == PTX_VECTOR)
        return facts->members == ANY_MEMBERS ? check_packed(r, facts, operand, form, at)
                                             : check_members(r, facts, operand, form, at);
    bool vector = operand->kind == PTX_SINK || facts->members == ANY_MEMBERS ||
                  (operand->kind == PTX_REGISTER && r->module->variables[operand->a].vector != PTX_NONE);
    if (facts->members > 1 && !vector)
        return ptx_fail(r, at, "'%.*s' takes a vector of %u here", STR_ARG(form), facts->members);
    return check_single(r, facts, operand, form, at);
}

/* What can hold a result. */
static bool is_place(const PtxOperand *operand) {
    return operand->kind == PTX_REGISTER || operand->kind == PTX_SINK || operand->kind == PTX_VECTOR ||
           operand->kind == PTX_PAIR || operand->kind == PTX_ADDRESS || operand->kind == PTX_NAME;
}

static bool check_operand(Reader *r, uint32_t form, const FormFacts *facts, unsigned index, uint32_t head,
                          const char *at) {
    const PtxOperand *operand = &r->module->operands[head];
    Str text = r->module->forms[form].text;
    const OperandFacts *known = index < OPERANDS_LOOKED_AT ? &facts->operands[index] : NULL;
    if (known && known->written && !is_place(operand))
        return ptx_fail(r, at,
                        operand->kind == PTX_INTEGER || operand->kind == PTX_SINGLE || operand->kind == PTX_DOUBLE
                            ? "a number is no place for a result"
                            : "this is no place for a result");
    if (facts->calls && operand->kind == PTX_SINK)
        return ptx_fail(r, at, "a call names what it calls");
    if (known && known->label)
        return operand->kind == PTX_NAME || operand->kind == PTX_TARGET || ptx_fail(r, at, "this is no label");
    if (known && known->typed && !check_typed(r, known, operand, text, at))
        return false;
    if (known && known->address && operand->kind != PTX_ADDRESS && operand->kind != PTX_VARIABLE)
        return ptx_fail(r, at, "'%.*s' takes an address here", STR_ARG(text));
    return operand->kind != PTX_ADDRESS || check_address(r, facts, operand, text, at);
}

static bool fail_count(Reader *r, const char *at, uint32_t form, const FormFacts *facts, unsigned count) {
    Str text = r->module->forms[form].text;
    unsigned wanted = count < facts->least ? facts->least : facts->most;
    return ptx_fail(r, at, "'%.*s' has %u operand%s; it takes %s%u", STR_ARG(text), count, plural(count),
                    facts->least == facts->most ? ""
                    : count < facts->least      ? "at least "
                                                : "at most ",
                    wanted);
}

/* ---- Statements ------------------------------------------------------------------------------------------- */

static bool read_operands(Reader *r, uint32_t form, const char *start) {
    const FormFacts facts = r->facts[form];
    unsigned count = 0;
    r->calls = facts.calls;
    if (*r->p != ';' && next_char(r) != ';') {
        do {
            uint32_t head = r->module->operands_count;
            next_char(r);
            const char *at = r->p;
            if (!read_operand(r) || !check_operand(r, form, &facts, count, head, at))
                return false;
            count++;
        } while (*r->p == ',' ? r->p++ != NULL : take(r, ','));
        if (*r->p != ';' && next_char(r) != ';')
            return fail_expected(r, "',' or ';'");
    }
    r->p++;
    return (count >= facts.least && count <= facts.most) || fail_count(r, start, form, &facts, count);
}

/* @%p, @!p */
static bool read_guard(Reader *r, uint8_t *flags) {
    r->p++;
    *flags = PTX_GUARDED;
    if (take(r, '!'))
        *flags |= PTX_NEGATED;
    uint32_t head = r->module->operands_count;
    next_char(r);
    const char *at = r->p;
    bool good = *r->p == '%' ? read_register(r) : (add_name(r, take_identifier(r), at), true);
    if (!good || r->p == at)
        return fail_expected(r, "a predicate");
    const PtxOperand *guard = &r->module->operands[head];
    return (guard->kind == PTX_REGISTER && str_is(ptx_name(r->module, r->module->variables[guard->a].type), ".pred")) ||
           ptx_fail(r, at, "this is no predicate");
}

static bool read_label(Reader *r, Str name, const char *at) {
    uint32_t label = intern(r, name), statement = r->module->statements_count;
    r->p++;
    if (r->function == PTX_NONE && !r->in_section)
        return ptx_fail(r, at, "a label stands in a function or in a section");
    add_statement(r, PTX_LABEL, label, r->module->operands_count);
    return r->in_section || declare_label(r, label, statement, at);
}

static bool fail_early(Reader *r, const char *at, const PtxForm *form) {
    static const char *const letters[] = {
        [PTX_AND_LATER] = " or later", [PTX_WITH_LETTER] = "a or later, with a letter", [PTX_ONLY_THIS] = "a"};
    const PtxRow *row = form->row;
    if (row->version > r->module->version)
        return ptx_fail(r, at, "'%.*s' needs .version %u.%u or later", STR_ARG(form->text), row->version / 10,
                        row->version % 10);
    return ptx_fail(r, at, "'%.*s' needs .target sm_%u%s", STR_ARG(form->text), row->capability, letters[row->targets]);
}

static bool check_form(Reader *r, uint32_t form, Str opcode, const char *at) {
    PtxForm *found = &r->module->forms[form];
    for (size_t i = 0; i < opcode.size; i++)
        if ((opcode.data[i] >= 'A' && opcode.data[i] <= 'Z') || !is_class(opcode.data[i], CLASS_FORM) ||
            *opcode.data == '_')
            return ptx_fail(r, at, "there is no instruction '%.*s'", STR_ARG(opcode));
    if (r->facts[form].wrong)
        return ptx_fail(r, at, "'%.*s' does not take these modifiers", STR_ARG(opcode));
    if (r->facts[form].early)
        return fail_early(r, at, found);
    found->used++;
    r->module->instructions++;
    r->module->functions[r->function].instructions++;
    if (found->row)
        return true;
    r->module->without_row++;
    if (found->used == 1)
        diagnostics_add(r->diagnostics, r->strict ? SEVERITY_ERROR : SEVERITY_NOTE, r->source, offset_of(r, at),
                        "'%.*s' is in no row of the table: what it does is not known", STR_ARG(found->text));
    return true;
}

bool read_instruction(Reader *r) {
    uint32_t first = r->module->operands_count;
    uint8_t flags = 0;
    if (*r->p == '@' && !read_guard(r, &flags))
        return false;
    next_char(r);
    const char *start = r->p;
    Str opcode = take_identifier(r);
    if (!opcode.size)
        return fail_expected(r, flags ? "an instruction" : "a statement");
    char c = *r->p;
    if (c != '.' && !flags && next_char(r) == ':' && r->p[1] != ':')
        return read_label(r, opcode, start);
    if (r->function == PTX_NONE || r->header)
        return ptx_fail(r, start, "an instruction stands in the body of a function");
    Str text = c == '.' ? take_form(r, start) : opcode;
    if (*r->p != '\t' || is_class(r->p[1], CLASS_SPACE) || r->p[1] == '.')
        if (next_char(r) == '.')
            text = join_forms(r, text);
    uint32_t form = find_form(r, text);
    if (!check_form(r, form, opcode, start) || !read_operands(r, form, start))
        return false;
    add_statement(r, PTX_INSTRUCTION, form, first)->flags = flags;
    return true;
}
