/* Names of a PTX module: each once, with what it stands for in the scope at hand.
 *
 * A register may be one of a range, "%r<8>" for %r0 to %r7: it is looked up by what stands before its number. Names
 * that are declared by themselves may shadow such a one, and be shadowed; the innermost of both is meant. */
#include "ptx/internal.h"

/* ---- The table ------------------------------------------------------------------------------------ */

static inline const PtxName *name_at(const NumberTable *table, uint32_t number) {
    return &table->module->names[number - 1];
}

TABLE(names, NumberTable, uint32_t, PtxName, 1024, *item, *name_at(table, *item), key.hash,
      name_at(table, *item)->hash == key.hash && str_equal(name_at(table, *item)->text, key.text))

static const PtxName *find_name(const Reader *r, Str text) {
    const uint32_t *number = names_find(&r->names, (PtxName){.text = text, .hash = map_hash(text)});
    return number ? name_at(&r->names, *number) : NULL;
}

uint32_t intern(Reader *r, Str text) {
    PtxName name = {.text = text, .hash = map_hash(text)};
    uint32_t *number = names_put(&r->stacks, &r->names, name);
    if (!*number) {
        *PUSH(r, names) = name;
        *number = r->module->names_count;
    }
    return *number - 1;
}

/* ---- Scopes ---------------------------------------------------------------------------------------- */

static void push_undo(Reader *r, Undo undo) {
    *ARENA_PUSH(&r->stacks, r->undos, r->undo_count, r->undo_capacity) = undo;
}

void open_scope(Reader *r) {
    uint32_t scope = r->module->scopes_count;
    *PUSH(r, scopes) = (PtxScope){.parent = r->scope, .open = r->module->statements_count};
    r->scope = scope;
    r->scopes_open++;
    *ARENA_PUSH(&r->stacks, r->marks, r->mark_count, r->mark_capacity) = r->undo_count;
}

void close_scope(Reader *r) {
    uint32_t mark = r->marks[--r->mark_count];
    while (r->undo_count > mark) {
        Undo undo = r->undos[--r->undo_count];
        PtxName *name = &r->module->names[undo.name];
        if (undo.kind == UNDO_SINGLE) {
            name->singles--;
        } else if (undo.kind == UNDO_RANGE) {
            name->range = undo.bound;
        } else {
            name->bound = undo.bound;
            name->bound_kind = undo.bound_kind;
        }
    }
    r->scope = r->module->scopes[r->scope].parent;
    r->scopes_open--;
}

TABLE(label, LabelTable, LabelSlot, LabelSlot, 256, item->name, *item,
      map_mix(((uint64_t)key.name << 32 | key.scope) ^ map_seed, 0x9e3779b97f4a7c15u),
      item->name == key.name && item->scope == key.scope)

/* ---- Declarations ------------------------------------------------------------------------------------ */

/* "%r12" without its number; the number, or -1 if it has none that a range could have. */
static Str prefix_of(Str text, int64_t *number) {
    size_t size = text.size;
    while (size && is_class(text.data[size - 1], CLASS_DIGIT))
        size--;
    *number = -1;
    if (size && size < text.size && text.size - size <= 10) {
        *number = 0;
        for (size_t i = size; i < text.size; i++)
            *number = *number * 10 + (text.data[i] - '0');
    }
    return (Str){text.data, size};
}

static bool fail_twice(Reader *r, const char *at, Str name) {
    return ptx_fail(r, at, "'%.*s' is declared twice in this scope", STR_ARG(name));
}

bool check_name(Reader *r, Str name, const char *at) {
    bool lone = name.size == 1 && (*name.data == '_' || *name.data == '$');
    return (!lone && !str_is(name, "WARP_SZ")) ||
           ptx_fail(r, at, "'%.*s' is a word of PTX, and no name", STR_ARG(name));
}

static void bind(Reader *r, uint32_t name, BindingKind kind, uint32_t bound) {
    PtxName *entry = &r->module->names[name];
    if (r->scope != PTX_NONE)
        push_undo(r, (Undo){name, entry->bound, UNDO_BINDING, entry->bound_kind});
    entry->bound = bound;
    entry->bound_kind = (uint8_t)kind;
}

/* Whether a name of the range is declared by itself in the same scope; of a long one the first names are looked at. */
static bool has_single(Reader *r, const PtxVariable *range) {
    Text text = {0};
    bool found = false;
    for (uint32_t i = 0; !found && i < range->range && i < 256; i++) {
        text.size = 0;
        text_str(&text, r->module->names[range->name].text);
        text_number(&text, i);
        const PtxName *name = find_name(r, (Str){text.data, text.size});
        found = name && name->bound_kind == BOUND_VARIABLE && r->module->variables[name->bound].scope == r->scope;
    }
    text_free(&text);
    return found;
}

static bool declare_range(Reader *r, uint32_t variable, const char *at) {
    const PtxVariable *declared = &r->module->variables[variable];
    PtxName *name = &r->module->names[declared->name];
    if (name->range && r->module->variables[name->range - 1].scope == r->scope)
        return fail_twice(r, at, name->text);
    if (name->singles && has_single(r, declared))
        return fail_twice(r, at, name->text);
    if (r->scope != PTX_NONE)
        push_undo(r, (Undo){declared->name, name->range, UNDO_RANGE, 0});
    name->range = variable + 1;
    return true;
}

/* A variable that its name stood for before, in the same scope: one of both has to be elsewhere. */
static bool declare_again(Reader *r, uint32_t variable, uint32_t earlier, const char *at) {
    const PtxVariable *now = &r->module->variables[variable], *before = &r->module->variables[earlier];
    Str name = ptx_name(r->module, now->name);
    bool elsewhere = now->linkage == WORD_extern;
    if (!elsewhere && before->linkage != WORD_extern)
        return fail_twice(r, at, name);
    bool same = now->space == before->space && now->type == before->type && now->vector == before->vector &&
                now->dimension_count == before->dimension_count;
    uint64_t size = variable_size(r, now), other = variable_size(r, before);
    if (!same || (size && other && size != other) || (!elsewhere && now->linkage == PTX_NONE))
        return ptx_fail(r, at, "'%.*s' is declared above in another way", STR_ARG(name));
    if (!elsewhere)
        bind(r, now->name, BOUND_VARIABLE, variable);
    return true;
}

static bool is_special(Str name) {
    unsigned number;
    return name.data[0] == '%' && ptx_special(name, &number);
}

bool declare_variable(Reader *r, uint32_t variable, const char *at) {
    const PtxVariable *declared = &r->module->variables[variable];
    if (declared->name == PTX_NONE)
        return true;
    if (declared->ranged)
        return declare_range(r, variable, at);
    const PtxName *name = &r->module->names[declared->name];
    const PtxVariable *before = name->bound_kind == BOUND_VARIABLE ? &r->module->variables[name->bound] : NULL;
    if (before && before->scope == r->scope)
        return declare_again(r, variable, name->bound, at);
    if (r->scope == PTX_NONE && (name->bound_kind == BOUND_FUNCTION || is_special(name->text)))
        return fail_twice(r, at, name->text);
    if (r->scope != PTX_NONE && name->label && label_find(&r->labels, (LabelSlot){declared->name + 1, r->scope, 0}))
        return fail_twice(r, at, name->text);
    int64_t number;
    Str prefix = prefix_of(name->text, &number);
    if (number >= 0 && declared->space == WORD_reg) {
        uint32_t stem = intern(r, prefix), range = r->module->names[stem].range;
        const PtxVariable *all = range ? &r->module->variables[range - 1] : NULL;
        if (all && all->scope == r->scope && number < all->range)
            return fail_twice(r, at, name->text);
        r->module->names[stem].singles++;
        if (r->scope != PTX_NONE)
            push_undo(r, (Undo){stem, 0, UNDO_SINGLE, 0});
    }
    bind(r, r->module->variables[variable].name, BOUND_VARIABLE, variable);
    return true;
}

bool declare_function(Reader *r, uint32_t function, const char *at) {
    PtxName *name = &r->module->names[r->module->functions[function].name];
    if (name->bound_kind == BOUND_VARIABLE)
        return fail_twice(r, at, name->text);
    r->declared = name->bound_kind == BOUND_FUNCTION ? name->bound : PTX_NONE;
    name->bound = function; /* by no scope's end taken back: functions are the module's */
    name->bound_kind = BOUND_FUNCTION;
    return true;
}

bool define_function(Reader *r, const char *at) {
    PtxFunction *function = &r->module->functions[r->function];
    if (function->linkage == WORD_extern)
        return ptx_fail(r, at, "a function that is '.extern' has no body here");
    function->body = true;
    return true;
}

/* ---- Labels -------------------------------------------------------------------------------------------- */

bool declare_label(Reader *r, uint32_t name, uint32_t statement, const char *at) {
    LabelSlot label = {name + 1, r->scope, statement}, *slot = label_put(&r->stacks, &r->labels, label);
    const PtxName *entry = &r->module->names[name];
    bool variable = entry->bound_kind == BOUND_VARIABLE && r->module->variables[entry->bound].scope == r->scope;
    if (slot->name || variable)
        return fail_twice(r, at, r->module->names[name].text);
    *slot = label;
    r->module->names[name].label = true;
    return true;
}

uint32_t find_label(const Reader *r, uint32_t name, uint32_t scope) {
    for (;; scope = r->module->scopes[scope].parent) {
        const LabelSlot *slot = label_find(&r->labels, (LabelSlot){name + 1, scope, 0});
        if (slot)
            return slot->statement;
        if (scope == PTX_NONE)
            return PTX_NONE;
    }
}

/* ---- Uses ------------------------------------------------------------------------------------------------ */

/* Whether the range is nearer than what is bound to the whole name; PTX_NONE is the outermost scope. */
static bool is_nearer(uint32_t a, uint32_t b) {
    return a + 1 > b + 1; /* scopes are numbered as they are opened; PTX_NONE + 1 is 0 */
}

static bool add_bound(Reader *r, uint32_t name) {
    const PtxName *entry = &r->module->names[name];
    if (entry->bound_kind == BOUND_FUNCTION)
        add_operand(r, PTX_CALLEE, entry->bound, 0);
    else if (entry->bound_kind == BOUND_VARIABLE && r->module->variables[entry->bound].space == WORD_reg)
        add_operand(r, PTX_REGISTER, entry->bound, 0);
    else if (entry->bound_kind == BOUND_VARIABLE)
        add_operand(r, PTX_VARIABLE, entry->bound, 0);
    return entry->bound_kind != BOUND_NOTHING;
}

static bool add_special(Reader *r, Str text) {
    unsigned number;
    const PtxSpecial *special = text.data[0] == '%' ? ptx_special(text, &number) : NULL;
    if (special)
        add_operand(r, PTX_SPECIAL, ptx_special_index(special), number);
    return special != NULL;
}

/* The range that a name with a number may be one of, + 1; 0: there is none. */
static uint32_t range_of(Reader *r, uint32_t name, Str prefix) {
    uint32_t stem = r->module->names[name].stem;
    if (!stem) {
        stem = intern(r, prefix) + 1;
        r->module->names[name].stem = stem;
    }
    return r->module->names[stem - 1].range;
}

void add_name(Reader *r, Str text, const char *at) {
    int64_t number;
    Str prefix = prefix_of(text, &number);
    uint32_t name = intern(r, text), range = number >= 0 ? range_of(r, name, prefix) : 0;
    const PtxName *entry = &r->module->names[name];
    if (range && number < r->module->variables[range - 1].range &&
        (entry->bound_kind != BOUND_VARIABLE ||
         is_nearer(r->module->variables[range - 1].scope, r->module->variables[entry->bound].scope))) {
        add_operand(r, PTX_REGISTER, range - 1, number);
        return;
    }
    if (add_bound(r, name) || add_special(r, text))
        return;
    *ARENA_PUSH(&r->stacks, r->fixups, r->fixup_count, r->fixup_capacity) =
        (Fixup){r->module->operands_count, r->scope, offset_of(r, at), WANTED_ANY};
    add_operand(r, PTX_NAME, name, 0);
}

bool as_label(Reader *r, uint32_t head, const char *at) {
    PtxOperand *operand = &r->module->operands[head];
    uint32_t name = PTX_NONE;
    if (operand->kind == PTX_NAME)
        return true;
    if (operand->kind == PTX_CALLEE)
        name = r->module->functions[operand->a].name;
    else if (operand->kind == PTX_VARIABLE && r->module->variables[operand->a].scope == PTX_NONE && !operand->value)
        name = r->module->variables[operand->a].name;
    if (name == PTX_NONE)
        return ptx_fail(r, at, "this is no label");
    *operand = (PtxOperand){.kind = PTX_NAME, .a = name};
    *ARENA_PUSH(&r->stacks, r->fixups, r->fixup_count, r->fixup_capacity) =
        (Fixup){head, r->scope, offset_of(r, at), WANTED_LABEL};
    return true;
}

/* Whether a label is one of what is wanted: what stands behind it says what it is. */
static bool fits_label(const Reader *r, const Fixup *fixup, uint32_t label) {
    const PtxStatement *next = label + 1 < r->module->statements_count ? &r->module->statements[label + 1] : NULL;
    uint32_t word = next && next->kind == PTX_DIRECTIVE ? next->what : WORD_COUNT;
    switch (fixup->wanted) {
    case WANTED_LABEL:
        return !next || (next->kind != PTX_PROTOTYPE && word != WORD_branchtargets && word != WORD_calltargets);
    case WANTED_TABLE:
        return word == WORD_branchtargets && next->begin < fixup->at;
    default:
        return fixup->wanted == WANTED_ANY;
    }
}

void settle_fixups(Reader *r) {
    for (uint32_t i = 0; i < r->fixup_count; i++) {
        const Fixup *fixup = &r->fixups[i];
        if (fixup->operand >= r->module->operands_count)
            continue; /* its statement was wrong, and has none */
        PtxOperand *operand = &r->module->operands[fixup->operand];
        uint32_t label = find_label(r, operand->a, fixup->scope);
        if (label == PTX_NONE) {
            ptx_fail(r, r->base + fixup->at, "'%.*s' is not declared", STR_ARG(r->module->names[operand->a].text));
        } else if (!fits_label(r, fixup, label)) {
            ptx_fail(r, r->base + fixup->at,
                     fixup->wanted == WANTED_TABLE  ? "this is no label of a .branchtargets above"
                     : fixup->wanted == WANTED_NONE ? "a label is no value"
                                                    : "this label is no place to branch to");
        } else {
            operand->kind = PTX_TARGET;
            operand->a = label;
        }
    }
    r->fixup_count = 0;
}
