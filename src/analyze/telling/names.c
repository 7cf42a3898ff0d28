/* Names for buffers and barriers: from locations, from what the values were printed as, and from how they are used.
 *
 * Buffers are named first, then barriers, tokens and arefs, since those may be named after buffers, then views. Within
 * each, whoever comes first in the text gets the plain name. */
#include "analyze/telling/names.h"

#include "analyze/telling/place.h"
#include "ir/op.h"
#include "model/effect/effect.h"
#include "model/flow/handed.h"
#include "model/flow/origin.h"
#include "model/memory/views.h"

enum { MOST_STEPS = 64, MOST_USES = 4, LONGEST_NAME = 64 };

typedef enum Kind { KIND_BUFFER, KIND_BARRIER, KIND_TOKEN, KIND_AREF, KIND_VIEW } Kind;

/* What says that a barrier and a buffer go together; the best there is counts. ORDER: the better, the later. */
enum { EVIDENCE_NONE, EVIDENCE_NEAR, EVIDENCE_COPY, EVIDENCE_BYTES };

/* An op that has a name. */
typedef struct Entry {
    const Op *op;
    const char *name; /* NULL: not yet */
    Kind kind;
    bool accumulates;                /* a matrix product writes it */
    bool full, empty;                /* barriers: who waits for it reads, or writes, `uses` */
    int evidence;                    /* barriers: of `uses`, see Evidence */
    const Op *slot;                  /* the first view of a slot of it that has another name; NULL: none */
    const Value *fillers[MOST_USES]; /* buffers: descriptors that are copied into it */
    const Value *tensors[MOST_USES]; /* buffers: tensors that are stored into it */
    const Value *drains[MOST_USES];  /* buffers: descriptors that it is copied to */
    struct Entry *uses[MOST_USES];   /* barriers: buffers */
    uint32_t filler_count, tensor_count, drain_count, use_count;
} Entry;

/* Texts, and how often each came; the texts are not copied. */
typedef struct TextTable {
    struct {
        Str text;
        uint32_t count;
    } * items;
    size_t capacity, used;
} TextTable;

struct Names {
    Arena *arena;
    Module *module;
    Entry *entries; /* in the order of the text */
    uint32_t count, capacity;
    Pointers places; /* of ops: among the entries */
    TextTable taken; /* names that were given away */
    TextTable bases; /* what buffers are called before their names are unique */
    TextTable plain; /* the same of those that have no better name from their use */
    TextTable marks; /* what all else is called before its name is unique */
    TextTable other; /* what values are called that are no memory: a name of one of these says nothing of a barrier */
};

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

static const char *plain(Arena *arena, Str s) {
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

/* The name that somebody gave a value; empty if nobody did. */
static Str given_name(Module *module, const Value *value) {
    const Attr *location = location_of_kind(module, value_location(value), LOC_NAME);
    Str name = location ? location_text(location) : (Str){"", 0};
    if (!is_generic(name))
        return name;
    if (value->name && !is_generic(value->name->text))
        return without_number(value->name->text);
    return (Str){"", 0};
}

bool is_renamed(Module *module, const Op *other, const Op *op) {
    Str name = op->result_count ? given_name(module, &op->results[0]) : (Str){"", 0};
    return name.size && other->result_count && !str_equal(name, given_name(module, &other->results[0]));
}

bool is_named(Module *module, const Value *value) {
    return given_name(module, value).size;
}

/* ---- Names of operands ----------------------------------------------------------------------------------------- */

const Op *data_root(Module *module, const Value *value) {
    const Op *root = origin_of(module, value);
    for (int step = 0; op_is(root, CLASS_AREF) && step < MOST_STEPS; step++) {
        const Op *op = value_op(value);
        bool handed_out = op_is(op, CLASS_AREF_ENTER);
        const Value *before = op != root && !handed_out ? view_source(module, value) : NULL;
        if (before) {
            value = before;
            continue;
        }
        uint32_t buffer = handed_out ? value->index : 0;
        if ((!handed_out && root->operand_count > 1) || buffer >= root->operand_count)
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
        const Value *in = value_handed(value, HANDED_IN);
        return in ? in : value_handed(value, HANDED_CAPTURE);
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
        Str name = given_name(module, value);
        if (name.size && !op_is_control(value_holder(value), CONTROL_PARTITIONS))
            return without_role(name);
        if (name.size && !inside.size)
            inside = name;
        value = source_of(module, value);
    }
    return without_role(inside);
}

const char *operand_name(Names *names, const Value *value) {
    return plain(names->arena, origin_name(names->module, value));
}

const char *stored_name(Names *names, const Value *value) {
    Str found = {"", 0};
    for (int step = 0; value && step < MOST_STEPS; step++) {
        const Op *op = value_op(value);
        Str name = given_name(names->module, value);
        bool handed = op && (op_is_loop(op) || op_is_control(op, CONTROL_BRANCH));
        if (handed && op->result_count > 1)
            found = (Str){"", 0};
        else if (name.size && !found.size)
            found = name;
        value = handed ? handed_over(op, 0, value->index)
                : op   ? (is_moved(op) && op->operand_count ? op->operands[0] : NULL)
                       : value_handed(value, HANDED_CAPTURE);
    }
    return plain(names->arena, found);
}

/* ---- Counting texts -------------------------------------------------------------------------------------------- */

static size_t table_place(const TextTable *table, Str text) {
    size_t at = map_hash(text) & (table->capacity - 1);
    while (table->items[at].text.data && !str_equal(table->items[at].text, text))
        at = (at + 1) & (table->capacity - 1);
    return at;
}

/* How often a text was counted, this time included. */
static uint32_t table_count(Names *names, TextTable *table, Str text) {
    if (2 * table->used >= table->capacity) {
        TextTable larger = {.capacity = table->capacity ? 2 * table->capacity : 128, .used = table->used};
        larger.items = arena_zalloc(names->arena, larger.capacity * sizeof *larger.items);
        for (size_t i = 0; i < table->capacity; i++)
            if (table->items[i].text.data)
                larger.items[table_place(&larger, table->items[i].text)] = table->items[i];
        *table = larger;
    }
    size_t at = table_place(table, text);
    table->used += !table->items[at].text.data;
    table->items[at].text = text;
    return ++table->items[at].count;
}

static uint32_t table_get(const TextTable *table, Str text) {
    return table->capacity ? table->items[table_place(table, text)].count : 0;
}

/* ---- Who has a name -------------------------------------------------------------------------------------------- */

static void add_entry(Names *names, const Op *op, Kind kind) {
    pointers_set(&names->places, op, names->count);
    *ARENA_PUSH(names->arena, names->entries, names->count, names->capacity) = (Entry){.op = op, .kind = kind};
}

static Entry *find_entry(Names *names, const Op *op) {
    uint32_t index = op ? pointers_get(&names->places, op) : NO_NUMBER;
    return index == NO_NUMBER ? NULL : &names->entries[index];
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
            table_count(names, &names->other, given_name(names->module, &op->results[0]));
}

/* ---- How they are used ----------------------------------------------------------------------------------------- */

typedef enum Access { ACCESS_NONE, ACCESS_READ, ACCESS_WRITE, ACCESS_COPY } Access;

/* What the last ops of a block did that says what a barrier is for: a wait, and the accesses after it. */
typedef struct Usage {
    const Block *block;
    const Value *waits[MOST_USES]; /* barriers, the last one last; none: something else came in between */
    uint32_t wait_count;
    const Value *accessed[MOST_USES];
    uint32_t access_count;
    Access access;
    const Value *copy_barrier;
} Usage;

/* The buffer behind a view. */
static Entry *entry_of(Names *names, const Value *value) {
    return value ? find_entry(names, data_root(names->module, value)) : NULL;
}

static const Value *index_of(const Value *view) {
    const Op *op = value_op(view);
    return op_is(op, CLASS_INDEX) && op->operand_count == 2 ? op->operands[1] : NULL;
}

/* That a barrier says when a buffer is full, or empty: they are used together, at the same slot. */
static void note_use(Names *names, const Value *barrier, const Value *buffer, bool full, int evidence) {
    const Value *slot = index_of(barrier), *other = index_of(buffer);
    Entry *of = find_entry(names, origin_of(names->module, barrier)), *used = entry_of(names, buffer);
    if (!of || !used || (slot && other && slot != other) || of->kind == KIND_BUFFER || used->kind != KIND_BUFFER ||
        evidence < of->evidence)
        return;
    if (evidence > of->evidence) {
        of->evidence = evidence;
        of->full = of->empty = false;
        of->use_count = 0;
    }
    of->full |= full;
    of->empty |= !full;
    for (uint32_t i = 0; i < of->use_count; i++)
        if (of->uses[i] == used)
            return;
    if (of->use_count < MOST_USES)
        of->uses[of->use_count++] = used;
}

static void add_source(const Value **list, uint32_t *count, const Value *value) {
    for (uint32_t i = 0; i < *count; i++)
        if (list[i] == value)
            return;
    if (*count < MOST_USES)
        list[(*count)++] = value;
}

static void see_access(Names *names, Usage *usage, const Value *on, Access access, const Value *through) {
    bool goes_on = usage->access == access && (access != ACCESS_COPY || usage->copy_barrier == through);
    if (usage->access != ACCESS_NONE && !goes_on)
        usage->wait_count = 0;
    if (!goes_on)
        usage->access_count = 0;
    usage->access = access;
    usage->copy_barrier = through;
    if (usage->access_count < MOST_USES)
        usage->accessed[usage->access_count++] = on;
    if (through)
        note_use(names, through, on, true, EVIDENCE_BYTES);
    /* Who reads has waited last for what he reads; who overwrites, for all that were in the way. */
    uint32_t first = access == ACCESS_COPY || !usage->wait_count ? 0 : usage->wait_count - 1;
    for (uint32_t i = first; i < usage->wait_count; i++)
        note_use(names, usage->waits[i], on, access == ACCESS_READ,
                 access == ACCESS_COPY ? EVIDENCE_COPY : EVIDENCE_NEAR);
}

static void see_wait(Usage *usage, const Value *barrier) {
    if (usage->access != ACCESS_NONE || usage->wait_count == MOST_USES)
        *usage = (Usage){.block = usage->block};
    usage->waits[usage->wait_count++] = barrier;
}

static void see_arrive(Names *names, Usage *usage, const Effect *effect) {
    bool plain_access = usage->access == ACCESS_READ || usage->access == ACCESS_WRITE;
    for (uint32_t i = 0; effect->done == DONE_NOW && plain_access && i < usage->access_count; i++)
        note_use(names, effect->on, usage->accessed[i], usage->access == ACCESS_WRITE, EVIDENCE_NEAR);
    *usage = (Usage){.block = usage->block};
}

/* Descriptors and tensors that go into a buffer, or come out of it. */
static void note_sources(Names *names, const Op *op, const Effect *effects, unsigned count) {
    const Value *descriptor = NULL, *source = NULL;
    bool to_global = false, allocates = op_is(op, CLASS_LOCAL_ALLOC);
    for (unsigned i = 0; i < count; i++) {
        bool global = effects[i].space == SPACE_GLOBAL && effects[i].on &&
                      (effects[i].on_descriptor || effects[i].group == GROUP_CP_ASYNC);
        if (allocates || (effects[i].space == SPACE_SHARED && effects[i].done == DONE_NOW && !effects[i].rank))
            source = effects[i].value ? effects[i].value : source;
        if (!global)
            continue;
        descriptor = effects[i].on;
        to_global = effects[i].verb != EFFECT_READ;
    }
    for (unsigned i = 0; i < count; i++) {
        Entry *entry = effect_is_local(&effects[i]) && (descriptor || source || effects[i].helper == HELPER_TENSOR)
                           ? entry_of(names, effects[i].on)
                           : NULL;
        if (!entry || entry->kind != KIND_BUFFER)
            continue;
        bool writes = effects[i].verb != EFFECT_READ;
        if (writes && effects[i].helper == HELPER_TENSOR && effects[i].space == SPACE_TENSOR)
            entry->accumulates |= op_is(op, CLASS_PRODUCT);
        else if (writes && descriptor)
            add_source(entry->fillers, &entry->filler_count, descriptor);
        else if (writes && source)
            add_source(entry->tensors, &entry->tensor_count, source);
        else if (!writes && to_global)
            add_source(entry->drains, &entry->drain_count, descriptor);
    }
}

static void see_effects(Names *names, Usage *usage, const Effect *effects, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        const Effect *effect = &effects[i];
        bool by_itself = effect->helper == HELPER_BASE && effect->done == DONE_NOW;
        if (effect->verb == EFFECT_WAIT)
            see_wait(usage, effect->on);
        else if (effect->verb == EFFECT_ARRIVE)
            see_arrive(names, usage, effect);
        else if (effect_is_local(effect) && effect->verb == EFFECT_WRITE && effect->helper == HELPER_TMA)
            see_access(names, usage, effect->on, ACCESS_COPY, effect->done == DONE_TX ? effect->through : NULL);
        else if (effect_is_local(effect) && by_itself && effect->verb != EFFECT_UPDATE)
            see_access(names, usage, effect->on, effect->verb == EFFECT_READ ? ACCESS_READ : ACCESS_WRITE, NULL);
        else if (effect_is_local(effect) && effect->helper == HELPER_TENSOR)
            *usage = (Usage){.block = usage->block};
    }
}

static void look_at_uses(Names *names, const Op *function) {
    Effect effects[EFFECTS_MOST];
    Usage usage = {0};
    for (const Op *op = op_next_in_walk(function, function); op; op = op_next_in_walk(op, function)) {
        unsigned count = op->row ? effects_of(names->module, op, effects) : 0;
        if (!count)
            continue;
        if (usage.block != op->block)
            usage = (Usage){.block = op->block};
        note_sources(names, op, effects, count);
        see_effects(names, &usage, effects, count);
    }
}

/* ---- Giving names ---------------------------------------------------------------------------------------------- */

/* Whether nobody has the name yet; it is then given away. */
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
            join_names(&text, plain(names->arena, seen[i]), "/");
    }
    return text_keep(&text, names->arena);
}

static const char accumulator[] = "acc";

static const char *name_from_data(Names *names, const Entry *entry) {
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

/* "full (a, b)"; "" if there is none, or one has no name of its own. */
static const char *named_after(Names *names, const char *word, Entry *const *buffers, uint32_t count) {
    Text text = {0};
    for (uint32_t i = 0; i < count; i++) {
        if (!buffers[i] || !buffers[i]->name || buffers[i]->name[0] == '%') {
            text_free(&text);
            return "";
        }
        text_addf(&text, "%s%s%s", i ? "" : word, i ? ", " : " (", buffers[i]->name);
    }
    text_addf(&text, count ? ")" : "");
    return text_keep(&text, names->arena);
}

static const char *name_from_uses(Names *names, const Entry *entry) {
    const char *word = entry->kind == KIND_TOKEN ? "token" : entry->full ? "full" : "empty";
    bool unclear = entry->kind == KIND_BARRIER && entry->full == entry->empty;
    return unclear ? "" : named_after(names, word, entry->uses, entry->use_count);
}

static const char *name_from_buffers(Names *names, const Op *aref) {
    Entry *buffers[MOST_USES];
    uint32_t count = aref->operand_count < MOST_USES ? aref->operand_count : MOST_USES;
    for (uint32_t i = 0; i < count; i++)
        buffers[i] = entry_of(names, aref->operands[i]);
    return named_after(names, "aref", buffers, count);
}

static const char *name_from_use(Names *names, const Entry *entry) {
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

/* With the place where it stands, and if that is not enough with a number of its own. */
static const char *made_unique(Names *names, const Entry *entry, const char *name) {
    Place at = source_place(names->module->source, entry->op->offset);
    for (unsigned attempt = 0;; attempt++) {
        Text text = {0};
        text_addf(&text, "%s (line %u", name, at.line);
        if (attempt)
            text_addf(&text, ", column %u", at.column);
        if (attempt > 1)
            text_addf(&text, ", %zu", names->taken.used + attempt);
        text_char(&text, ')');
        const char *tried = text_keep(&text, names->arena);
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
static bool is_telling(const Names *names, const Entry *entry, const char *given, bool descriptive) {
    if (!*given || entry->kind == KIND_VIEW || !descriptive)
        return *given;
    uint32_t buffers = table_get(&names->bases, str_of(given));
    return entry->kind == KIND_BUFFER ? buffers <= 1 : !buffers && !table_get(&names->other, str_of(given));
}

/* What tells it from its namesakes: "ready_bars (q_chnl)" by a view of a slot; "" if nothing does. */
static const char *name_from_slot(Names *names, const Entry *entry, const char *given) {
    if (!entry->slot)
        return "";
    const char *slot = plain(names->arena, given_name(names->module, &entry->slot->results[0]));
    if (entry->kind == KIND_BUFFER)
        return slot;
    Text text = {0};
    text_addf(&text, "%s (%s)", given, slot);
    return text_keep(&text, names->arena);
}

static void give_name(Names *names, Entry *entry) {
    const Value *value = &entry->op->results[0];
    const char *given = plain(names->arena, given_name(names->module, value));
    const char *text = value_text(names->arena, value), *use = name_from_use(names, entry);
    bool printed = value->name && !is_generic(value->name->text);
    bool telling = is_telling(names, entry, given, is_descriptive(use, given));
    const TextTable *namesakes = entry->kind == KIND_BUFFER ? &names->plain : &names->marks;
    bool shared = telling && entry->kind != KIND_VIEW && table_get(namesakes, str_of(given)) > 1;
    const char *first = !telling ? use : shared ? name_from_slot(names, entry, given) : given;
    const char *tries[] = {first, shared && printed ? text + 1 : "", *given ? given : "", printed ? text + 1 : "",
                           *given || *use ? "" : text};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++)
        if (*tries[i] && take(names, tries[i])) {
            entry->name = tries[i];
            if (tries[i] == use && strcmp(given, text + 1) == 0)
                take(names, given); /* nobody else is to have the name that is printed for this one */
            return;
        }
    entry->name = made_unique(names, entry, *given ? given : *use ? use : text);
}

static void count_bases(Names *names) {
    for (size_t i = 0; i < names->count; i++) {
        const Entry *entry = &names->entries[i];
        bool buffer = entry->kind == KIND_BUFFER;
        const char *base = plain(names->arena, given_name(names->module, &entry->op->results[0]));
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
        Entry *of = slot ? find_entry(names, value_op(view->operands[0])) : NULL;
        if (!of || of->kind == KIND_VIEW || of->slot)
            continue;
        Str name = given_name(names->module, &view->results[0]);
        if (name.size && !str_equal(name, given_name(names->module, &of->op->results[0])))
            of->slot = view;
    }
}

Names *names_create(Arena *arena, Module *module, const Op *function) {
    Names *names = ARENA_NEW(arena, Names);
    names->arena = names->places.arena = arena;
    names->module = module;
    collect(names, function);
    look_at_uses(names, function);
    count_bases(names);
    find_slots(names);
    for (Kind kind = KIND_BUFFER; kind <= KIND_VIEW; kind++)
        for (size_t i = 0; i < names->count; i++)
            if (names->entries[i].kind == kind)
                give_name(names, &names->entries[i]);
    return names;
}

const char *name_of(Names *names, const Op *op) {
    const Entry *entry = find_entry(names, op);
    if (entry)
        return entry->name;
    return op->result_count ? value_text(names->arena, &op->results[0]) : "";
}

const char *given_name_of(Names *names, const Op *op) {
    return op->result_count ? plain(names->arena, given_name(names->module, &op->results[0])) : "";
}
