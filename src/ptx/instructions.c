/* Instructions and labels of PTX. An opcode with its modifiers is looked up as a whole: a module has a few hundred of
 * them, and only a new one is taken apart. */
#include "ptx/effects.h"
#include "ptx/internal.h"

#include <stdlib.h>

/* ---- Forms --------------------------------------------------------------------------------------------- */

TABLE(forms, NumberTable, uint32_t, Str, 1024, *item, table->module->forms[*item - 1].text, map_hash(key),
      str_equal(table->module->forms[*item - 1].text, key))

static uint32_t find_form(Reader *r, Str text) {
    uint32_t *number = forms_put(&r->stacks, &r->forms, text);
    if (!*number) {
        PtxForm *form = PUSH(r, forms);
        *form = (PtxForm){.text = text};
        describe_form(r, form, ARENA_PUSH(&r->stacks, r->facts, r->fact_count, r->fact_capacity));
        ptx_form_find_effects(form, &r->module->arena);
        *number = r->module->forms_count;
    }
    return *number - 1;
}

/* "ld.global" of a word that starts at `start`; the reader is behind "ld". */
static Str take_form(Reader *r, const char *start) {
    const char *at = r->p;
    for (;; at += 2) {
        while (is_class(*at, CLASS_FORM))
            at++;
        if (at[0] != ':' || at[1] != ':')
            break;
    }
    r->p = at;
    return str_between(start, at);
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

static bool is_number(const PtxOperand *operand) {
    return operand->kind == PTX_INTEGER || operand->kind == PTX_SINGLE || operand->kind == PTX_DOUBLE;
}

/* "0-15", "4,8,16", "1-" of all from there on, "16x" of all multiples, "16x0-64" of those in a range; a number of 32
 * bits may be written as a negative one. With a 'w' behind, the number is cut to 32 bits first. */
static bool value_fits(Str values, int64_t value) {
    if (!values.size)
        return true; /* any */
    const char *at = values.data, *end = at + values.size;
    if (values.size && end[-1] == 'w') {
        value &= UINT32_MAX;
        end--;
    }
    while (at < end) {
        char *rest;
        int64_t low = strtoll(at, &rest, 10), high = low;
        if (*rest == 'x' && (value & UINT32_MAX) % low != 0)
            return false;
        if (*rest == 'x' && rest + 1 == end)
            return true;
        if (*rest == 'x')
            low = strtoll(rest + 1, &rest, 10);
        if (*rest == '-' && rest + 1 == end)
            high = INT64_MAX, rest++;
        else if (*rest == '-')
            high = strtoll(rest + 1, &rest, 10);
        if (value >= low && value <= high)
            return true;
        at = rest + 1;
    }
    return false;
}

/* "unit": over 0, and up to 1. */
static bool is_in_unit(const PtxOperand *operand) {
    double value;
    float narrow;
    uint32_t low = (uint32_t)operand->bits;
    memcpy(&value, &operand->bits, sizeof value);
    memcpy(&narrow, &low, sizeof narrow);
    if (operand->kind == PTX_SINGLE)
        value = narrow;
    return value > 0 && value <= 1;
}

static bool check_literal(Reader *r, const OperandFacts *facts, const PtxOperand *operand, Str form, const char *at) {
    if (facts->no_number || (facts->type == 'n' && !facts->braces))
        return ptx_fail(r, at, "'%.*s' takes no number here", STR_ARG(form));
    if (facts->type == 'f' && operand->kind == PTX_INTEGER)
        return ptx_fail(r, at, "'%.*s' takes a floating-point number here, such as 0f3F800000 or 1.0", STR_ARG(form));
    bool other = (facts->number || facts->letter == 'p') && facts->type != 'f' && operand->kind != PTX_INTEGER;
    if (other || (operand->kind == PTX_SINGLE && facts->type && facts->type != 'f' && facts->type != 's') ||
        (operand->kind == PTX_DOUBLE && facts->type && facts->type != 'f' && facts->type != 'd'))
        return ptx_fail(r, at, "'%.*s' does not take this number: it is one of another type", STR_ARG(form));
    if (operand->kind == PTX_INTEGER && !value_fits(facts->values, operand->value))
        return ptx_fail(r, at, "'%.*s' takes no %lld here", STR_ARG(form), (long long)operand->value);
    if (operand->kind != PTX_INTEGER && str_is(facts->values, "unit") && !is_in_unit(operand))
        return ptx_fail(r, at, "'%.*s' takes a number over 0.0 here, and up to 1.0", STR_ARG(form));
    return true;
}

static bool fail_type(Reader *r, const TypeFacts *type, Str form, const char *at) {
    return ptx_fail(r, at, "'%.*s' does not take a register of type .%.*s here", STR_ARG(form), STR_ARG(type->name));
}

static bool check_register(Reader *r, const OperandFacts *facts, const PtxOperand *operand, Str form, const char *at) {
    const PtxVariable *variable = &r->module->variables[operand->a];
    const TypeFacts *type = type_of(r, variable);
    bool vector = variable->vector != PTX_NONE;
    if (operand->part && !vector && (operand->part <= PTX_W || *form.data != 'v'))
        return ptx_fail(r, at, "this register has no such part");
    if (operand->part || vector)
        return true;
    return type_fits(facts, type) || fail_type(r, type, form, at);
}

static bool check_address(Reader *r, const FormFacts *facts, uint32_t head, unsigned place, Str form, const char *at) {
    if (!check_base(r, &facts->addresses, head, place, at))
        return false;
    const PtxOperand *base = &r->module->operands[head + 1];
    if (!facts->wide || base->kind != PTX_REGISTER || r->module->variables[base->a].space != WORD_reg)
        return true;
    return type_of(r, &r->module->variables[base->a])->bits != 32 ||
           ptx_fail(r, at, "an address of '%.*s' has 64 bits, and this register has 32", STR_ARG(form));
}

/* Special registers have 32 bits, but for those that count, and one that is a predicate. */
static bool check_special(Reader *r, const OperandFacts *facts, const PtxOperand *operand, Str form, const char *at) {
    Str name = str_of(ptx_special_at(operand->a)->name);
    unsigned bits = 32;
    if (str_ends(name, STR("64")) || word_place(name, "%gridid %globaltimer %current_graph_exec") >= 0)
        bits = 64;
    bool logical = str_is(name, "%is_explicit_cluster"), either = str_is(name, "%gridid");
    bool fits = logical                ? facts->letter == 'p'
                : facts->letter == 'p' ? false
                : facts->loose         ? facts->bits <= bits || either
                                       : facts->bits == bits || (bits == 32 && facts->bits == 16) || either;
    return (fits && !strchr("fh", facts->letter)) ||
           ptx_fail(r, at, "'%.*s' does not read %.*s, which is of another type", STR_ARG(form), STR_ARG(name));
}

/* What is no vector, of the instruction's own type. */
static bool check_single(Reader *r, const OperandFacts *facts, const PtxOperand *operand, Str form, const char *at) {
    if (operand->negated && facts->letter != 'p')
        return ptx_fail(r, at, "only a predicate can be negated");
    if (facts->number && !is_number(operand))
        return ptx_fail(r, at, "'%.*s' takes a number here", STR_ARG(form));
    switch (operand->kind) {
    case PTX_SINK:
        return facts->sink || ptx_fail(r, at, "'%.*s' takes no '_' here", STR_ARG(form));
    case PTX_REGISTER:
        return check_register(r, facts, operand, form, at);
    case PTX_SPECIAL:
        return facts->special ? check_special(r, facts, operand, form, at)
                              : ptx_fail(r, at, "only mov reads special registers");
    case PTX_ADDRESS:
        return ptx_fail(r, at, "'%.*s' takes no address here", STR_ARG(form));
    case PTX_VARIABLE:
    case PTX_CALLEE:
        return facts->symbol || ptx_fail(r, at, "'%.*s' takes no name of a variable here", STR_ARG(form));
    case PTX_NAME:
    case PTX_TARGET: /* a register that is not declared is told of at the end */
        return (operand->kind == PTX_NAME && *ptx_name(r->module, operand->a).data == '%') ||
               ptx_fail(r, at, "'%.*s' takes no label here", STR_ARG(form));
    default:
        return !is_number(operand) || check_literal(r, facts, operand, form, at);
    }
}

/* The type of a vector: what is of bits goes with all of its size, and makes the whole one of bits. Of others, a member
 * and the one before it are of one kind: 'i' of whole numbers, 'f', 'h' or 'p'; ptxas looks no further. */
typedef struct VectorType {
    TypeFacts type;
    char before; /* the kind of the last member; 0: there was none */
} VectorType;

static bool add_kind(Reader *r, VectorType *all, char kind, const char *at) {
    char before = all->before;
    all->before = kind;
    return !before || before == kind || before == 'b' || kind == 'b' ||
           ptx_fail(r, at, "the members of this vector are not of one type");
}

static bool add_register(Reader *r, VectorType *all, const PtxOperand *member, const char *at) {
    TypeFacts own = *type_of(r, &r->module->variables[member->a]);
    if (!own.letter || member->part)
        return true;
    if (!add_kind(r, all, strchr("us", own.letter) ? 'i' : own.letter, at))
        return false;
    if (own.letter == 'p')
        return true;
    if (!all->type.letter)
        all->type = own;
    if (own.bits != all->type.bits)
        return ptx_fail(r, at, "the registers of this vector are not of one size");
    if (own.letter == 'b')
        all->type = own;
    return true;
}

/* A number takes the type of the register beside it, but ptxas has no whole ones for f32 in a store. */
static bool check_numbers(Reader *r, const OperandFacts *facts, const PtxOperand *vector, VectorType *type, Str form,
                          const char *at) {
    bool typed = type->type.letter != 0;
    for (uint32_t i = 1; i <= vector->a; i += ptx_extent(vector + i)) {
        const PtxOperand *member = vector + i;
        if (is_number(member) && (!typed || (facts->type == 'f' && !str_starts(form, STR("mma.")))) &&
            !check_literal(r, facts, member, form, at))
            return false;
    }
    return true;
}

static bool add_member(Reader *r, const OperandFacts *facts, VectorType *type, const PtxOperand *member, Str form,
                       const char *at) {
    if (member->kind == PTX_REGISTER)
        return add_register(r, type, member, at);
    if (member->kind == PTX_SINK && facts->written)
        return true;
    if (!is_number(member))
        return check_single(r, facts, member, form, at);
    if (facts->written)
        return ptx_fail(r, at, "a number is no place for a result");
    return add_kind(r, type, member->kind == PTX_INTEGER ? 'i' : 'f', at);
}

static bool read_vector_type(Reader *r, const OperandFacts *facts, const PtxOperand *vector, Str form, const char *at,
                             VectorType *type, uint32_t *count) {
    *count = 0;
    for (uint32_t i = 1; i <= vector->a; i += ptx_extent(vector + i), ++*count) {
        const PtxOperand *member = vector + i;
        if (!add_member(r, facts, type, member, form, at))
            return false;
        if (member->kind == PTX_REGISTER && !type->type.letter && facts->letter != 'p' && vector->a == *count + 1)
            return fail_type(r, type_of(r, &r->module->variables[member->a]), form, at);
    }
    return check_numbers(r, facts, vector, type, form, at);
}

/* A vector whose members make up a value: mov.b64 %rd, {%r1, %r2}. */
static bool check_packed(Reader *r, const OperandFacts *facts, const PtxOperand *operand, Str form, const char *at) {
    VectorType type = {0};
    uint32_t count;
    if (!read_vector_type(r, facts, operand, form, at, &type, &count))
        return false;
    bool one = count == 1 && operand[1].kind != PTX_SINK; /* which is as if it had no braces */
    if (facts->letter != 'b' || (!one && count != 2 && count != 4))
        return ptx_fail(r, at, "'%.*s' takes no vector of %u here", STR_ARG(form), count);
    return !type.type.letter || type.type.bits * count == facts->bits ||
           ptx_fail(r, at, "the registers of this vector have not %u bits altogether", facts->bits);
}

static bool check_members(Reader *r, const OperandFacts *facts, const PtxOperand *operand, Str form, const char *at) {
    VectorType type = {0};
    uint32_t count;
    if (!read_vector_type(r, facts, operand, form, at, &type, &count))
        return false;
    if (type.type.letter && !type_fits(facts, &type.type))
        return fail_type(r, &type.type, form, at);
    return count == facts->members || ptx_fail(r, at, "'%.*s' takes a vector of %u here, and this one has %u",
                                               STR_ARG(form), facts->members, count);
}

static bool check_whole(Reader *r, const OperandFacts *facts, const PtxOperand *operand, Str form, const char *at) {
    if (operand->kind == PTX_VECTOR && !facts->vector)
        return ptx_fail(r, at, "'%.*s' takes no vector here", STR_ARG(form));
    if (operand->kind == PTX_VECTOR)
        return facts->members == ANY_MEMBERS ? check_packed(r, facts, operand, form, at)
                                             : check_members(r, facts, operand, form, at);
    bool vector = operand->kind == PTX_SINK || facts->members == ANY_MEMBERS ||
                  (operand->kind == PTX_REGISTER && r->module->variables[operand->a].vector != PTX_NONE);
    if (facts->braces && !vector)
        return ptx_fail(r, at, "'%.*s' takes a vector of %u here", STR_ARG(form), facts->members);
    return check_single(r, facts, operand, form, at);
}

/* The vector behind the base of an address, as of a texture or a tensor. A texture or surface takes more than it has
 * dimensions, and a register alone. */
static bool check_coordinates(Reader *r, const FormFacts *form_facts, const OperandFacts *facts,
                              const PtxOperand *address, Str form, const char *at) {
    const PtxOperand *inner = NULL;
    bool image = form_facts->addresses.handle != NULL;
    for (uint32_t i = 1 + ptx_extent(address + 1); i <= address->a; i += ptx_extent(address + i))
        inner = address + i;
    if (inner && inner->kind == PTX_REGISTER && facts->members && image)
        return true;
    if (!inner || inner->kind != PTX_VECTOR)
        return (!facts->members && !inner) ||
               ptx_fail(r, at, facts->members ? "'%.*s' takes coordinates here" : "'%.*s' takes no coordinates here",
                        STR_ARG(form));
    VectorType type = {0};
    uint32_t count = 0;
    bool mixed = facts->letter == 'b'; /* an index of an array before what is real */
    for (uint32_t i = 1; mixed && i <= inner->a; i += ptx_extent(inner + i), count++)
        if (!(inner[i].kind == PTX_REGISTER ? check_register(r, facts, inner + i, form, at)
                                            : check_single(r, facts, inner + i, form, at)))
            return false;
    if (!mixed && !read_vector_type(r, facts, inner, form, at, &type, &count))
        return false;
    if (type.type.letter && !type_fits(facts, &type.type))
        return fail_type(r, &type.type, form, at);
    bool more = image && (count == 2 || count == 4) && count > facts->members;
    return count == facts->members || more ||
           ptx_fail(r, at, "'%.*s' takes %u coordinates here, and these are %u", STR_ARG(form), facts->members, count);
}

/* What can hold a result. */
static bool is_place(const PtxOperand *operand) {
    return operand->kind == PTX_REGISTER || operand->kind == PTX_SINK || operand->kind == PTX_VECTOR ||
           operand->kind == PTX_PAIR || operand->kind == PTX_ADDRESS || operand->kind == PTX_NAME;
}

/* d|p: the second is a predicate. */
static bool check_pair(Reader *r, const OperandFacts *facts, const PtxOperand *pair, Str form, const char *at) {
    static const OperandFacts predicate = {.typed = true, .written = true, .sink = true, .members = 1, .letter = 'p'};
    const PtxOperand *first = pair + 1, *second = first + ptx_extent(first);
    if (!facts->pair && facts->written && second->kind == PTX_SINK) /* which ptxas takes of all */
        return check_whole(r, facts, first, form, at);
    if (!facts->pair)
        return ptx_fail(r, at, "'%.*s' has one result, and no pair", STR_ARG(form));
    if (!is_place(first) || !is_place(second))
        return ptx_fail(r, at, "this is no place for a result");
    return check_whole(r, facts, first, form, at) && check_whole(r, &predicate, second, form, at);
}

static bool check_typed(Reader *r, const OperandFacts *facts, const PtxOperand *operand, Str form, const char *at) {
    if (operand->kind == PTX_PAIR)
        return check_pair(r, facts, operand, form, at);
    if (facts->pair && !facts->lone)
        return ptx_fail(r, at, "'%.*s' has two results, as in %%r1|%%p1", STR_ARG(form));
    return check_whole(r, facts, operand, form, at);
}

static bool check_operand(Reader *r, uint32_t form, const FormFacts *facts, const OperandFacts *known, uint32_t head,
                          unsigned index, unsigned *addresses, const char *at) {
    const PtxOperand *operand = &r->module->operands[head];
    Str text = r->module->forms[form].text;
    if (facts->calls && operand->kind == PTX_SINK)
        return ptx_fail(r, at, "a call names what it calls");
    if (known && known->written && !is_place(operand))
        return ptx_fail(r, at,
                        is_number(operand) ? "a number is no place for a result" : "this is no place for a result");
    if (known && known->label)
        return as_label(r, head, at);
    if (known && known->typed && !check_typed(r, known, operand, text, at))
        return false;
    if (known && known->address && operand->kind != PTX_ADDRESS &&
        !(operand->kind == PTX_VARIABLE && operand->written)) /* a[4] */
        return ptx_fail(r, at, "'%.*s' takes an address here", STR_ARG(text));
    bool row = r->module->forms[form].row != NULL;
    if (row && (operand->kind == PTX_CALLEE || (operand->kind == PTX_VARIABLE && !operand->written)))
        return check_symbol(r, &facts->addresses, operand, at);
    if (operand->kind != PTX_ADDRESS)
        return true;
    return check_address(r, facts, head, (*addresses)++, text, at) &&
           (!row || check_unified(r, &facts->addresses, head, index, at)) &&
           (!known || check_coordinates(r, facts, known, &r->module->operands[head], text, at));
}

/* Which labels the names that were not declared may be; from fixup `first` on. */
static void want_labels(Reader *r, const FormFacts *facts, bool row, unsigned index, uint32_t first) {
    const OperandFacts *known = index < facts->count ? &facts->operands[index] : NULL;
    for (uint32_t i = first; i < r->fixup_count; i++)
        r->fixups[i].wanted = facts->calls || !row    ? WANTED_ANY
                              : facts->tables         ? WANTED_TABLE
                              : known && known->label ? WANTED_LABEL
                                                      : WANTED_NONE;
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

static bool fail_early(Reader *r, const char *at, const PtxForm *form, const PtxRow *row) {
    static const char *const letters[] = {
        [PTX_AND_LATER] = " or later", [PTX_WITH_LETTER] = "a or later, with a letter", [PTX_ONLY_THIS] = "a"};
    if (row->version > r->module->version)
        return ptx_fail(r, at, "'%.*s' needs .version %u.%u or later", STR_ARG(form->text), row->version / 10,
                        row->version % 10);
    if (row->below)
        return ptx_fail(r, at, "'%.*s' needs a .target from sm_%u%s on, before sm_%u", STR_ARG(form->text),
                        row->capability, row->targets == PTX_WITH_LETTER ? "a" : "", row->below);
    return ptx_fail(r, at, "'%.*s' needs .target sm_%u%s", STR_ARG(form->text), row->capability, letters[row->targets]);
}

/* ---- Statements ------------------------------------------------------------------------------------------- */

/* What the row says of the next operand: those that may be missing are there from the left, `extra` of them. NULL: it
 * says nothing of it. */
static inline const OperandFacts *next_known(const FormFacts *facts, unsigned *next, unsigned *extra) {
    while (*next < facts->count && facts->operands[*next].optional && !*extra)
        ++*next;
    const OperandFacts *known = *next < facts->count ? &facts->operands[(*next)++] : NULL;
    *extra -= known && known->optional;
    return known;
}

/* A single register of a type that will do, or a number where all will. */
static inline bool is_easy(const Reader *r, const OperandFacts *known, const PtxOperand *operand) {
    if (operand->part || operand->negated || !known)
        return false;
    if (operand->kind != PTX_REGISTER)
        return operand->kind == PTX_INTEGER && known->integers;
    const PtxVariable *variable = &r->module->variables[operand->a];
    return variable->vector == PTX_NONE && (known->registers & type_of(r, variable)->bit);
}

/* Whether there are as many operands, with addresses and vectors where the row has them. */
static bool looks_like(const Reader *r, const FormFacts *facts, const uint32_t *heads, unsigned count) {
    if (count < facts->least || count > facts->most)
        return false;
    unsigned extra = count - facts->least, next = 0;
    for (unsigned i = 0; i < count && i < OPERANDS_LOOKED_AT; i++) {
        const OperandFacts *known = next_known(facts, &next, &extra);
        uint8_t kind = r->module->operands[heads[i]].kind;
        if (known && ((kind == PTX_ADDRESS) != known->address || (kind == PTX_VECTOR ? !known->vector : known->braces)))
            return false;
    }
    return true;
}

static bool check_operands(Reader *r, uint32_t form, const char *start, const uint32_t *heads,
                           const char *const *places, unsigned count) {
    const FormFacts *facts = &r->facts[form];
    for (const FormFacts *other = facts; facts->other && other; other = other->other)
        if (looks_like(r, other, heads, count)) {
            facts = other;
            break;
        }
    if (count < facts->least || count > facts->most)
        return fail_count(r, start, form, facts, count);
    if (facts->early)
        return fail_early(r, start, &r->module->forms[form], facts->early);
    unsigned extra = count - facts->least, next = 0, addresses = 0;
    for (unsigned i = 0; i < count && i < OPERANDS_LOOKED_AT; i++) {
        const OperandFacts *known = next_known(facts, &next, &extra);
        if (!is_easy(r, known, &r->module->operands[heads[i]]) &&
            !check_operand(r, form, facts, known, heads[i], i, &addresses, places[i]))
            return false;
    }
    return true;
}

/* Whether an instruction is over. Inline assembly may end without a semicolon. */
static inline bool at_end(Reader *r) {
    return *r->p == ';' || next_char(r) == ';' || (r->assembly && (*r->p == '}' || r->p == r->end));
}

static bool read_operands(Reader *r, uint32_t form, const char *start) {
    uint32_t heads[OPERANDS_LOOKED_AT], first = r->module->operands_count;
    const char *places[OPERANDS_LOOKED_AT];
    unsigned count = 0;
    r->calls = r->facts[form].calls;
    if (!at_end(r)) {
        do {
            uint32_t fixups = r->fixup_count;
            next_char(r);
            if (count < OPERANDS_LOOKED_AT) {
                heads[count] = r->module->operands_count;
                places[count] = r->p;
            }
            if (!read_operand(r))
                return false;
            if (r->fixup_count > fixups)
                want_labels(r, &r->facts[form], r->module->forms[form].row, count, fixups);
            count++;
        } while (*r->p == ',' ? r->p++ != NULL : take(r, ','));
        if (!at_end(r))
            return fail_expected(r, "',' or ';'");
    }
    if (!r->assembly && !check_operands(r, form, start, heads, places, count))
        return false;
    r->p += *r->p == ';';
    return !r->facts[form].calls || check_call(r, first, start);
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
    return r->assembly || (guard->kind == PTX_REGISTER && type_of(r, &r->module->variables[guard->a])->letter == 'p') ||
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

/* Of a form that no instruction had so far, or only ones that were wrong. */
static bool check_new_form(Reader *r, uint32_t form, Str opcode, const char *at) {
    const PtxForm *found = &r->module->forms[form];
    for (size_t i = 0; i < opcode.size; i++)
        if ((opcode.data[i] >= 'A' && opcode.data[i] <= 'Z') || !is_class(opcode.data[i], CLASS_FORM) ||
            *opcode.data == '_')
            return ptx_fail(r, at, "there is no instruction '%.*s'", STR_ARG(opcode));
    if (r->facts[form].wrong && ptx_opcode_acts(opcode) == PTX_NO_ROW)
        return ptx_fail(r, at, "there is no instruction '%.*s'", STR_ARG(opcode));
    if (r->facts[form].wrong && unknown_word(found->text).size)
        return ptx_fail(r, at, "PTX has no word '%.*s'", STR_ARG(unknown_word(found->text)));
    if (r->facts[form].wrong)
        return ptx_fail(r, at, "'%.*s' does not take these modifiers", STR_ARG(opcode));
    if (r->facts[form].early && !r->facts[form].other)
        return fail_early(r, at, found, r->facts[form].early);
    return true;
}

static bool check_form(Reader *r, uint32_t form, Str opcode, const char *at) {
    PtxForm *found = &r->module->forms[form];
    if (!found->used && !r->assembly && !check_new_form(r, form, opcode, at))
        return false;
    found->used++;
    r->module->instructions++;
    r->module->functions[r->function].instructions++;
    if (found->row)
        return true;
    r->module->without_row++;
    if (found->used == 1 && !r->assembly)
        diagnostics_add(r->diagnostics, r->strict ? SEVERITY_ERROR : SEVERITY_NOTE, r->source, offset_of(r, at),
                        "'%.*s' is in no row of the table: what it does is not known", STR_ARG(found->text));
    return true;
}

/* What is passed to a function is stored and loaded by all threads that call it. */
static bool check_guarded(Reader *r, uint32_t form, uint32_t first, const char *at) {
    const AddressFacts *addresses = &r->facts[form].addresses;
    if (!addresses->count || addresses->spaces[0] != WORD_param)
        return true;
    for (uint32_t i = first; i < r->module->operands_count; i++) {
        const PtxOperand *operand = &r->module->operands[i];
        const PtxVariable *variable = operand->kind == PTX_VARIABLE ? &r->module->variables[operand->a] : NULL;
        if (variable && variable->space == WORD_param && !variable->formal)
            return ptx_fail(r, at, "what is passed to a function is not stored or loaded under a predicate");
    }
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
    uint32_t form = r->form = find_form(r, text);
    if (!check_form(r, form, opcode, start) || !read_operands(r, form, start))
        return false;
    if (flags && !check_guarded(r, form, first, start))
        return false;
    add_statement(r, PTX_INSTRUCTION, form, first)->flags = flags;
    return true;
}
