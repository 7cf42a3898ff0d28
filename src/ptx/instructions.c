/* Instructions and labels of PTX. An opcode with its modifiers is looked up as a whole: a module has a few hundred of
 * them, and only a new one is taken apart. */
#include "ptx/internal.h"

/* ---- Forms --------------------------------------------------------------------------------------------- */

/* Which literals a type takes: 'f' those with a point, or written as bits; 's' and 'd' whole ones, and the bits of an
 * f32 or of an f64; 'i' whole ones; 0: it is not known. */
static char type_class(Str type) {
    if (word_place(type, "f32 f64") >= 0)
        return 'f';
    if (word_place(type, "b32 b64") >= 0)
        return type.data[1] == '3' ? 's' : 'd';
    return word_place(type, "b8 b16 u8 u16 u32 u64 s8 s16 s32 s64") >= 0 ? 'i' : 0;
}

static unsigned type_bits(Str type) {
    unsigned bits = 0;
    for (size_t i = 0; i < type.size; i++)
        if (is_class(type.data[i], CLASS_DIGIT))
            bits = bits * 10 + (unsigned)(type.data[i] - '0');
    return bits;
}

/* Bit i: operand i of the row is said to have the type of the instruction. */
static uint32_t typed_operands(const PtxRow *row) {
    uint32_t typed = 0;
    const char *at = row->operands;
    for (unsigned i = 0; i < 32; i++) {
        at += strspn(at, " ");
        size_t size = strcspn(at, " ");
        if (!size)
            break;
        if (memmem(at, size, ":t", 2))
            typed |= 1u << i;
        at += size;
    }
    return typed;
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
    facts->writes = form->row->operands[0] == '=';
    unsigned least, most;
    ptx_row_operands(form->row, &least, &most);
    facts->least = (uint16_t)least;
    facts->most = (uint16_t)most;
    facts->typed = typed_operands(form->row);
    Str type = facts->typed ? ptx_form_modifier(form->row, form->text, "t") : (Str){"", 0};
    facts->type = type_class(type);
    if (facts->type || str_is(type, "pred")) {
        facts->letter = type.data[0];
        facts->bits = (uint8_t)type_bits(type);
        facts->loose = form->row->operands[0] == '['; /* what is stored may be the lower part */
    }
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

static bool check_literal(Reader *r, const FormFacts *facts, const PtxOperand *operand, Str form, const char *at) {
    if (facts->type == 'f' && operand->kind == PTX_INTEGER)
        return ptx_fail(r, at, "'%.*s' takes a floating-point number here, such as 0f3F800000 or 1.0", STR_ARG(form));
    if ((operand->kind == PTX_SINGLE && facts->type != 'f' && facts->type != 's') ||
        (operand->kind == PTX_DOUBLE && facts->type != 'f' && facts->type != 'd'))
        return ptx_fail(r, at, "'%.*s' does not take this number: it is one of another type", STR_ARG(form));
    return true;
}

static bool check_address(Reader *r, const PtxOperand *operand, Str form, const char *at) {
    const PtxOperand *base = operand + 1;
    if (base->kind != PTX_REGISTER)
        return true;
    Str type = ptx_name(r->module, r->module->variables[base->a].type);
    return type_bits(type) != 32 ||
           ptx_fail(r, at, "an address of '%.*s' has 64 bits, and this register has 32", STR_ARG(form));
}

/* A register against the type of the instruction: b fits all of its size, u and s each other. */
static bool check_register(Reader *r, const FormFacts *facts, const PtxOperand *operand, Str form, const char *at) {
    const PtxVariable *variable = &r->module->variables[operand->a];
    Str type = ptx_name(r->module, variable->type);
    char letter = type.size > 1 ? type.data[1] : 0;
    bool plain = letter && (str_is(type, ".pred") || is_class(type.data[2], CLASS_DIGIT));
    if (!plain || operand->part || variable->vector != PTX_NONE || memchr(type.data, 'x', type.size))
        return true;
    unsigned bits = type_bits(type);
    bool fits = letter == 'p' || facts->letter == 'p' ? letter == facts->letter
                                                      : bits == facts->bits || (facts->loose && bits > facts->bits);
    bool floats = (letter == 'f' && strchr("us", facts->letter)) || (facts->letter == 'f' && strchr("us", letter));
    return (fits && !floats) ||
           ptx_fail(r, at, "'%.*s' does not take a register of type %.*s here", STR_ARG(form), STR_ARG(type));
}

/* An operand of the instruction's own type. */
static bool check_typed(Reader *r, const FormFacts *facts, const PtxOperand *operand, Str form, const char *at) {
    if (operand->kind == PTX_SINK)
        return ptx_fail(r, at, "'%.*s' needs a value here", STR_ARG(form));
    if (operand->kind == PTX_REGISTER && facts->letter)
        return check_register(r, facts, operand, form, at);
    return !facts->type || check_literal(r, facts, operand, form, at);
}

static bool check_operand(Reader *r, uint32_t form, const FormFacts *facts, unsigned index, uint32_t head,
                          const char *at) {
    const PtxOperand *operand = &r->module->operands[head];
    Str text = r->module->forms[form].text;
    if (facts->writes && index == 0 && operand->kind >= PTX_INTEGER && operand->kind <= PTX_DOUBLE)
        return ptx_fail(r, at, "a number is no place for a result");
    if (facts->calls && operand->kind == PTX_SINK)
        return ptx_fail(r, at, "a call names what it calls");
    if (index < 32 && facts->typed >> index & 1)
        return check_typed(r, facts, operand, text, at);
    return !facts->wide || operand->kind != PTX_ADDRESS || check_address(r, operand, text, at);
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
    return r->module->operands[head].kind == PTX_REGISTER || ptx_fail(r, at, "this is no predicate");
}

static bool read_label(Reader *r, Str name, const char *at) {
    uint32_t label = intern(r, name), statement = r->module->statements_count;
    r->p++;
    if (r->function == PTX_NONE && !r->in_section)
        return ptx_fail(r, at, "a label stands in a function or in a section");
    add_statement(r, PTX_LABEL, label, r->module->operands_count);
    return r->in_section || declare_label(r, label, statement, at);
}

static bool check_form(Reader *r, uint32_t form, Str opcode, const char *at) {
    PtxForm *found = &r->module->forms[form];
    for (size_t i = 0; i < opcode.size; i++)
        if ((opcode.data[i] >= 'A' && opcode.data[i] <= 'Z') || !is_class(opcode.data[i], CLASS_FORM) ||
            *opcode.data == '_')
            return ptx_fail(r, at, "there is no instruction '%.*s'", STR_ARG(opcode));
    if (r->facts[form].wrong)
        return ptx_fail(r, at, "'%.*s' does not take these modifiers", STR_ARG(opcode));
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
