/* Names for buffers and barriers: from locations, from what the values were printed as, and from how they are used.
 *
 * Buffers are named first, then barriers, tokens and arefs, since those may be named after buffers, then views. Within
 * each, the first in the text gets the plain name. */
#include "model/names/internal.h"

#include "ir/memo.h"

/* ---- Texts ----------------------------------------------------------------------------------------------------- */

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static size_t digits_at_end(Str s) {
    size_t count = 0;
    while (count < s.size && is_digit(s.data[s.size - 1 - count]))
        count++;
    return count;
}

/* Names that say nothing: numbers, and those that printers give of themselves. */
static bool is_generic(Str s) {
    size_t digits = digits_at_end(s);
    if (!s.size || digits + (s.data[0] == '_') >= s.size)
        return true;
    Str stem = {s.data, s.size - digits};
    if (str_is(stem, "arg"))
        return true;
    if (digits && stem.data[stem.size - 1] == '_')
        stem.size--;
    return str_is(stem, "result") || str_is(stem, "token") || str_is(stem, "cst");
}

/* Without the number that makes it unique: "bars" of "bars_5". */
static Str without_number(Str s) {
    size_t digits = digits_at_end(s);
    if (digits && digits + 1 < s.size && s.data[s.size - digits - 1] == '_')
        return (Str){s.data, s.size - digits - 1};
    return s;
}

/* "q" of "q_desc", "desc_q", "q_ptr". */
static Str without_role(Str s) {
    static const char *const before[] = {"desc_", "ptr_", "tma_"};
    static const char *const after[] = {"_desc", "_ptr", "_ptrs", "_descriptor", "_tma", "_desc_or"};
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
            Str word = str_of(before[i]);
            if (s.size > word.size && str_starts(s, word)) {
                s = (Str){s.data + word.size, s.size - word.size};
                changed = true;
            }
        }
        for (size_t i = 0; i < sizeof after / sizeof *after; i++) {
            Str word = str_of(after[i]);
            if (s.size > word.size && str_ends(s, word)) {
                s.size -= word.size;
                changed = true;
            }
        }
    }
    return s;
}

const char *names_plain(Arena *arena, Str s) {
    Text text = {0};
    text_add_plain(&text, (Str){s.data, s.size > LONGEST_NAME ? LONGEST_NAME : s.size});
    return text_keep(&text, arena);
}

const char *value_text(Arena *arena, const Value *value) {
    Text text = {0};
    value_print(value, &text);
    return text_keep(&text, arena);
}

/* ---- Names that the text has ----------------------------------------------------------------------------------- */

static const Attr *value_location(const Value *value) {
    if (value->is_result)
        return ((const Op *)value->owner)->location;
    const Block *block = value->owner;
    return block->arg_locations ? block->arg_locations[value->index] : NULL;
}

Str names_given(Module *module, const Value *value) {
    const Attr *location = location_of_kind(module, value_location(value), LOC_NAME);
    Str name = location ? location_text(location) : (Str){"", 0};
    if (!is_generic(name))
        return name;
    if (value->name && !is_generic(value->name->text))
        return without_number(value->name->text);
    return (Str){"", 0};
}

bool is_renamed(Module *module, const Op *other, const Op *op) {
    Str name = op->result_count ? names_given(module, &op->results[0]) : (Str){"", 0};
    return name.size && other->result_count && !str_equal(name, names_given(module, &other->results[0]));
}

bool is_named(Module *module, const Value *value) {
    return names_given(module, value).size;
}

/* ---- Names of operands ----------------------------------------------------------------------------------------- */

const Op *data_root(Module *module, const Value *value) {
    const Op *root = origin_of(module, value);
    for (int step = 0; op_is(root, CLASS_AREF) && step < MOST_STEPS; step++) {
        const Op *op = value_op(value);
        bool forwarded_out = op_is(op, CLASS_AREF_ENTER);
        const Value *before = op != root && !forwarded_out ? view_source(module, value) : NULL;
        if (before) {
            value = before;
            continue;
        }
        uint32_t buffer = forwarded_out ? value->index : 0;
        if ((!forwarded_out && root->operand_count > 1) || buffer >= root->operand_count)
            break;
        value = root->operands[buffer];
        root = origin_of(module, value);
    }
    return root;
}

/* Whether a result is what the first operand is, elsewhere or in another form. */
static bool is_moved(const Op *op) {
    switch (op_evaluator(op)) {
    case EVALUATE_ADD_POINTER:
    case EVALUATE_WRAP:
    case EVALUATE_SAME:
    case EVALUATE_SPLAT:
    case EVALUATE_BROADCAST:
    case EVALUATE_EXPAND:
    case EVALUATE_RESHAPE:
    case EVALUATE_TRANSPOSE:
        return true;
    default:
        return op_describes(op) || op_is(op, CLASS_PRECISION);
    }
}

/* What a value without a name was made from; NULL if it is something of its own. */
static const Value *source_of(Module *module, const Value *value) {
    const Op *op = value_op(value);
    if (!op) {
        const Value *in = value_forwarded(value, FORWARDED_IN);
        return in ? in : value_forwarded(value, FORWARDED_CAPTURE);
    }
    if (is_moved(op))
        return op->operand_count ? op->operands[0] : NULL;
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(module, op, effects);
    for (unsigned i = 0; i < count; i++)
        if (effects[i].verb == EFFECT_READ && effects[i].space == SPACE_GLOBAL)
            return effects[i].on;
        else if (effects[i].verb == EFFECT_VIEW && effects[i].on == value)
            return effects[i].amount;
    return NULL;
}

/* Of a value, or of what it was made from; without "_desc" and its like. What a partition captures is called what it is
 * called outside. */
static Str origin_name(Module *module, const Value *value) {
    Str inside = {"", 0};
    for (int step = 0; value && step < MOST_STEPS; step++) {
        Str name = names_given(module, value);
        if (name.size && !op_is_control(value_holder(value), CONTROL_PARTITIONS))
            return without_role(name);
        if (name.size && !inside.size)
            inside = name;
        value = source_of(module, value);
    }
    return without_role(inside);
}

const char *operand_name(Names *names, const Value *value) {
    return names_plain(names->arena, origin_name(names->module, value));
}

const char *stored_name(Names *names, const Value *value) {
    Str found = {"", 0};
    for (int step = 0; value && step < MOST_STEPS; step++) {
        const Op *op = value_op(value);
        Str name = names_given(names->module, value);
        bool forwarded = op && (op_is_loop(op) || op_is_control(op, CONTROL_BRANCH));
        if (forwarded && op->result_count > 1)
            found = (Str){"", 0};
        else if (name.size && !found.size)
            found = name;
        value = forwarded ? forwarded_over(op, 0, value->index)
                : op      ? (is_moved(op) && op->operand_count ? op->operands[0] : NULL)
                          : value_forwarded(value, FORWARDED_CAPTURE);
    }
    return names_plain(names->arena, found);
}

/* ---- Counting texts -------------------------------------------------------------------------------------------- */

TABLE(texts, TextTable, CountedText, Str, 128, item->text.data, item->text, map_hash(key), str_equal(item->text, key))

/* How often a text was counted, this time included. */
static uint32_t table_count(Names *names, TextTable *table, Str text) {
    CountedText *item = texts_put(names->arena, table, text);
    item->text = text;
    return ++item->count;
}

static uint32_t table_get(const TextTable *table, Str text) {
    const CountedText *item = texts_find(table, text);
    return item ? item->count : 0;
}

/* ---- Who has a name -------------------------------------------------------------------------------------------- */

static void add_entry(Names *names, const Op *op, Kind kind) {
    pointers_set(&names->places, op, names->count);
    *ARENA_PUSH(names->arena, names->entries, names->count, names->capacity) = (NamesEntry){.op = op, .kind = kind};
}

NamesEntry *names_entry(Names *names, const Op *op) {
    uint32_t index = op ? pointers_get(&names->places, op) : NO_NUMBER;
    return index == NO_NUMBER ? NULL : &names->entries[index];
}

NamesEntry *names_entry_of(Names *names, const Value *value) {
    return value ? names_entry(names, data_root(names->module, value)) : NULL;
}

/* Of what an op makes, by its effects; false: it is no memory. */
static bool kind_of(Module *module, const Op *op, Kind *kind) {
    Effect effects[EFFECTS_MOST];
    unsigned count = op->row && op->result_count ? effects_of(module, op, effects) : 0;
    bool allocates = false, views = false, sided = false;
    for (unsigned i = 0; i < count; i++) {
        allocates |= effects[i].verb == EFFECT_ALLOCATE && effects[i].space != SPACE_GLOBAL;
        views |= effects[i].verb == EFFECT_VIEW;
        sided |= effects[i].verb == EFFECT_INIT && effects[i].side != SIDE_NONE;
    }
    const Type *type = allocates ? type_canonical(module, op->results[0].type) : NULL;
    const Type *element = type && type_is(type, STR("ttg.memdesc")) ? type->element : NULL;
    bool barrier = element && element->kind == TYPE_INTEGER && element->width == 64;
    *kind = !allocates              ? KIND_VIEW
            : op_is(op, CLASS_AREF) ? KIND_AREF
            : sided                 ? KIND_TOKEN
            : barrier               ? KIND_BARRIER
                                    : KIND_BUFFER;
    return allocates || views;
}

static void collect(Names *names, const Op *function) {
    Kind kind;
    for (const Op *op = op_next_in_walk(function, function); op; op = op_next_in_walk(op, function))
        if (kind_of(names->module, op, &kind))
            add_entry(names, op, kind);
        else if (op->result_count && op_evaluator(op) != EVALUATE_CONSTANT)
            table_count(names, &names->other, names_given(names->module, &op->results[0]));
}

/* ---- Giving names ---------------------------------------------------------------------------------------------- */

/* Whether the name is still free; it is then given away. */
static bool take(Names *names, const char *text) {
    return table_count(names, &names->taken, str_of(text)) == 1;
}

static void join_names(Text *to, const char *text, const char *separator) {
    text_addf(to, "%s%s", to->size ? separator : "", text);
}

/* The names of descriptors and tensors, each once, "k/v"; empty if one of them has none. */
static const char *joined_sources(Names *names, const Value *const *values, uint32_t count) {
    Text text = {0};
    Str seen[MOST_USES];
    for (uint32_t i = 0; i < count; i++) {
        bool again = false;
        seen[i] = origin_name(names->module, values[i]);
        for (uint32_t k = 0; k < i; k++)
            again |= str_equal(seen[k], seen[i]);
        if (!seen[i].size) {
            text_free(&text);
            return "";
        }
        if (!again)
            join_names(&text, names_plain(names->arena, seen[i]), "/");
    }
    return text_keep(&text, names->arena);
}

static const char accumulator[] = "acc";

static const char *name_from_data(Names *names, const NamesEntry *entry) {
    const char *name = joined_sources(names, entry->fillers, entry->filler_count);
    if (*name || entry->accumulates)
        return *name ? name : accumulator;
    name = joined_sources(names, entry->drains, entry->drain_count);
    if (!*name)
        return joined_sources(names, entry->tensors, entry->tensor_count);
    Text text = {0};
    text_addf(&text, "%s_staging", name);
    return text_keep(&text, names->arena);
}

/* "full(a, b)"; "" if there is none, or one has no name of its own. */
static const char *named_after(Names *names, const char *word, const Use *uses, uint32_t count) {
    Text text = {0};
    for (uint32_t i = 0; i < count; i++) {
        const NamesEntry *buffer = uses[i].buffer;
        const char *name = uses[i].part ? uses[i].part : buffer ? buffer->name : NULL;
        if (!name || name[0] == '%') {
            text_free(&text);
            return "";
        }
        text_addf(&text, "%s%s%s", i ? "" : word, i ? ", " : "(", name);
    }
    text_addf(&text, count ? ")" : "");
    return text_keep(&text, names->arena);
}

/* What both who arrive and who wait say; if they agree in nothing, all of it. */
static uint32_t agreed_uses(const NamesEntry *entry, Use *agreed) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < entry->use_count; i++)
        if (entry->uses[i].said_by == (SAID_BY_ARRIVE | SAID_BY_WAIT))
            agreed[count++] = entry->uses[i];
    if (count)
        return count;
    memcpy(agreed, entry->uses, entry->use_count * sizeof *agreed);
    return entry->use_count;
}

static const char *name_from_uses(Names *names, const NamesEntry *entry) {
    const char *word = entry->kind == KIND_TOKEN ? "token" : entry->full ? "full" : "empty";
    bool unclear = entry->kind == KIND_BARRIER && entry->full == entry->empty;
    Use uses[MOST_USES];
    uint32_t count = agreed_uses(entry, uses);
    return unclear ? "" : named_after(names, word, uses, count);
}

static const char *name_from_buffers(Names *names, const Op *aref) {
    Use buffers[MOST_USES] = {{0}};
    uint32_t count = aref->operand_count < MOST_USES ? aref->operand_count : MOST_USES;
    for (uint32_t i = 0; i < count; i++)
        buffers[i].buffer = names_entry_of(names, aref->operands[i]);
    return named_after(names, "aref", buffers, count);
}

static const char *name_from_use(Names *names, const NamesEntry *entry) {
    switch (entry->kind) {
    case KIND_BUFFER:
        return name_from_data(names, entry);
    case KIND_AREF:
        return name_from_buffers(names, entry->op);
    case KIND_BARRIER:
    case KIND_TOKEN:
        return name_from_uses(names, entry);
    case KIND_VIEW:
        break;
    }
    return "";
}

/* A name with something more in its parentheses: "full(acc, default to partition0)", "acc(q, k)". */
static const char *with_more(Names *names, const char *name, const char *more) {
    size_t size = strlen(name);
    bool closed = size && name[size - 1] == ')';
    Text text = {0};
    text_addf(&text, "%.*s%s%s)", (int)(size - closed), name, closed ? ", " : "(", more);
    return text_keep(&text, names->arena);
}

/* What tells a barrier from its namesakes: who arrives, and for whom. */
static const char *passed_text(Names *names, const NamesEntry *entry) {
    if (!entry->arrives.mask || !entry->waits.mask || entry->arrives.mask == entry->waits.mask)
        return "";
    Text text = {0};
    partition_print(entry->arrives, &text);
    text_addf(&text, " to ");
    partition_print(entry->waits, &text);
    return text_keep(&text, names->arena);
}

/* What tells a buffer from its namesakes: what is multiplied, or stored, into it. */
static const char *content_text(Names *names, const NamesEntry *entry) {
    Text text = {0};
    for (uint32_t i = 0; i < entry->operand_count && i < 2; i++) {
        const NamesEntry *operand = names_entry_of(names, entry->operands[i]);
        if (!operand || !operand->name || operand->name[0] == '%') {
            text_free(&text);
            return "";
        }
        join_names(&text, operand->name, ", ");
    }
    if (text.size)
        return text_keep(&text, names->arena);
    for (uint32_t i = 0; i < entry->tensor_count; i++) {
        const char *stored = stored_name(names, entry->tensors[i]);
        if (*stored)
            return stored;
    }
    return "";
}

/* With what it holds or who passes it to whom, and if that is not enough with a number. */
static const char *made_unique(Names *names, const NamesEntry *entry, const char *name) {
    bool buffer = entry->kind == KIND_BUFFER, other = entry->kind == KIND_VIEW;
    const char *more = other ? "" : buffer ? content_text(names, entry) : passed_text(names, entry);
    if (*more && strcmp(more, name) != 0) {
        name = with_more(names, name, more);
        if (take(names, name))
            return name;
    }
    for (unsigned number = 2;; number++) {
        Text text = {0};
        text_addf(&text, "%u", number);
        const char *tried = with_more(names, name, text_keep(&text, names->arena));
        if (take(names, tried))
            return tried;
    }
}

/* Whether its use says more of it than the text. */
static bool is_descriptive(const char *use, const char *given) {
    return *use && strcmp(use, accumulator) != 0 && strcmp(use, given) != 0;
}

/* Whether what the text calls it says what it is: several buffers of one name, or a barrier that has the name of
 * something else, are better called after their use. */
static bool is_reporting(const Names *names, const NamesEntry *entry, const char *given, bool descriptive) {
    if (!*given || entry->kind == KIND_VIEW || !descriptive)
        return *given;
    uint32_t buffers = table_get(&names->bases, str_of(given));
    return entry->kind == KIND_BUFFER ? buffers <= 1 : !buffers && !table_get(&names->other, str_of(given));
}

/* What tells it from its namesakes: "ready_bars (q_chnl)" by a view of a slot; "" if nothing does. */
static const char *name_from_slot(Names *names, const NamesEntry *entry, const char *given) {
    if (!entry->slot)
        return "";
    const char *slot = names_plain(names->arena, names_given(names->module, &entry->slot->results[0]));
    if (entry->kind == KIND_BUFFER)
        return slot;
    Text text = {0};
    text_addf(&text, "%s (%s)", given, slot);
    return text_keep(&text, names->arena);
}

static void give_name(Names *names, NamesEntry *entry) {
    const Value *value = &entry->op->results[0];
    const char *given = names_plain(names->arena, names_given(names->module, value));
    const char *text = value_text(names->arena, value), *use = name_from_use(names, entry);
    bool printed = value->name && !is_generic(value->name->text);
    bool reporting = is_reporting(names, entry, given, is_descriptive(use, given));
    const TextTable *namesakes = entry->kind == KIND_BUFFER ? &names->plain : &names->marks;
    bool shared = reporting && entry->kind != KIND_VIEW && table_get(namesakes, str_of(given)) > 1;
    const char *first = !reporting ? use : shared ? name_from_slot(names, entry, given) : given;
    const char *tries[] = {first, shared && printed ? text + 1 : "", *given ? given : "", printed ? text + 1 : "",
                           *given || *use ? "" : text};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++)
        if (*tries[i] && take(names, tries[i])) {
            entry->name = tries[i];
            if (tries[i] == use && strcmp(given, text + 1) == 0)
                take(names, given); /* nothing else is to have the name that is printed for this one */
            return;
        }
    entry->name = made_unique(names, entry, *given ? given : *use ? use : text);
}

static void count_bases(Names *names) {
    for (size_t i = 0; i < names->count; i++) {
        const NamesEntry *entry = &names->entries[i];
        bool buffer = entry->kind == KIND_BUFFER;
        const char *base = names_plain(names->arena, names_given(names->module, &entry->op->results[0]));
        if (entry->kind == KIND_VIEW || !*base)
            continue;
        table_count(names, buffer ? &names->bases : &names->marks, str_of(base));
        if (buffer && !is_descriptive(name_from_data(names, entry), base))
            table_count(names, &names->plain, str_of(base));
    }
}

/* Views of slots that are called something else than what they are views of. */
static void find_slots(Names *names) {
    for (size_t i = 0; i < names->count; i++) {
        const Op *view = names->entries[i].op;
        bool slot = op_is(view, CLASS_INDEX) && view->operand_count;
        NamesEntry *of = slot ? names_entry(names, value_op(view->operands[0])) : NULL;
        if (!of || of->kind == KIND_VIEW || of->slot)
            continue;
        Str name = names_given(names->module, &view->results[0]);
        if (name.size && !str_equal(name, names_given(names->module, &of->op->results[0])))
            of->slot = view;
    }
}

Names *names_create(Arena *arena, Module *module, const Op *function) {
    Names *names = ARENA_NEW(arena, Names);
    names->arena = names->places.arena = arena;
    names->module = module;
    collect(names, function);
    names_look_at_uses(names, function);
    count_bases(names);
    find_slots(names);
    for (Kind kind = KIND_BUFFER; kind <= KIND_VIEW; kind++)
        for (size_t i = 0; i < names->count; i++)
            if (names->entries[i].kind == kind)
                give_name(names, &names->entries[i]);
    return names;
}

const char *name_of(Names *names, const Op *op) {
    const NamesEntry *entry = names_entry(names, op);
    if (entry)
        return entry->name;
    return op->result_count ? value_text(names->arena, &op->results[0]) : "";
}

const char *given_name_of(Names *names, const Op *op) {
    return op->result_count ? names_plain(names->arena, names_given(names->module, &op->results[0])) : "";
}

/* The function that an op is in. */
static const Op *function_around(const Op *op) {
    while (op && !op_function(op))
        op = op_parent(op);
    return op;
}

Names *names_of(Module *module, const Op *function) {
    bool fresh;
    Names **kept = module_memo(module, "names", function, sizeof *kept, &fresh);
    if (fresh)
        *kept = names_create(&module->arena, module, function);
    return *kept;
}

void name_print(Module *module, const Op *op, Text *to) {
    const Op *function = op->result_count ? function_around(op) : NULL;
    const char *name = function ? name_of(names_of(module, function), op) : "";
    Str printed = op->result_count && op->results[0].name ? op->results[0].name->text : (Str){"", 0};
    if (*name && name[0] != '%' && is_generic(printed))
        text_addf(to, "%s", name);
    else if (op->result_count)
        value_print(&op->results[0], to);
}
