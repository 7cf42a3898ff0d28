/* Takes the op table's text columns apart, each row when it is first asked for. A row that is not
 * well-formed is our own mistake; op_table_problem lets a test say which. */
#include "ir/optable.h"

#include "base/arena.h"
#include "base/map.h"
#include "ir/columns.h"
#include "ir/op_ids.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define OP(id_, name_, operands_, attrs_, results_, traits_, ...) \
    static const char *const formats_of_##id_[] = {__VA_ARGS__, NULL};
#include "ir/ops/all.def"
#undef OP

static OpRow rows[OP_COUNT] = {
#define OP(id_, name_, operands_, attrs_, results_, traits_, ...) \
    [OP_##id_] = {.id = OP_##id_,                                 \
                  .name = {name_, sizeof(name_) - 1},             \
                  .traits = (uint32_t)(traits_),                  \
                  .operand_column = operands_,                    \
                  .attr_column = attrs_,                          \
                  .result_column = results_,                      \
                  .format_column = formats_of_##id_,              \
                  .column_size = sizeof formats_of_##id_ / sizeof *formats_of_##id_},
#include "ir/ops/all.def"
#undef OP
};

_Static_assert((int)OP_COUNT <= (int)OP_MOST, "ids fit the tables that others keep by id");

static const EnumRow enums[] = {
#define ENUM(name_, generic_, words_) {#name_, generic_, words_},
#include "ir/ops/enums.def"
#undef ENUM
};

static Map by_name;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Guards what is below, and the parts of a row that are not there until it is ready. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Arena arena;
static char problem[256];
static atomic_bool ready[OP_COUNT];

static void complain(const OpRow *row, const char *what, Str where) {
    if (!problem[0])
        snprintf(problem, sizeof problem, "%.*s: %s: %.*s", STR_ARG(row->name), what, STR_ARG(where));
}

/* The next space-separated word; empty at the end. */
static Str word(const char **at) {
    while (**at == ' ')
        ++*at;
    const char *start = *at;
    while (**at && **at != ' ')
        ++*at;
    return str_between(start, *at);
}

static unsigned count_words(const char *column) {
    unsigned count = 0;
    while (word(&column).size)
        count++;
    return count;
}

int op_slot(const Slot *slots, unsigned count, Str name) {
    for (unsigned i = 0; i < count; i++)
        if (str_equal(slots[i].name, name))
            return (int)i;
    return -1;
}

SlotRef op_slot_ref(const OpRow *row, Str name) {
    int i;
    if ((i = op_slot(row->operands, row->operand_count, name)) >= 0)
        return (SlotRef){REF_OPERAND, (uint8_t)i};
    if ((i = op_slot(row->results, row->result_count, name)) >= 0)
        return (SlotRef){REF_RESULT, (uint8_t)i};
    if ((i = op_slot(row->attrs, row->attr_count, name)) >= 0)
        return (SlotRef){REF_ATTR, (uint8_t)i};
    return (SlotRef){REF_NONE, 0};
}

static SlotRef find_slot(const OpRow *row, Str name) {
    SlotRef ref = op_slot_ref(row, name);
    if (ref.column == REF_NONE)
        complain(row, "no such operand, result or attribute", name);
    return ref;
}

/* "name?" -> name and arity. */
static Str arity_of(Str name, Slot *slot) {
    if (name.size && name.data[name.size - 1] == '+') {
        slot->uncommon = true;
        name.size--;
    }
    if (name.size && name.data[name.size - 1] == '?')
        slot->arity = SLOT_OPTIONAL;
    else if (name.size && name.data[name.size - 1] == '*')
        slot->arity = SLOT_MANY;
    return (Str){name.data, name.size - (slot->arity != SLOT_ONE)};
}

/* "name(argument)" -> argument; false if `text` does not start so. */
static bool call(Str text, const char *name, Str *argument) {
    size_t size = strlen(name);
    if (text.size < size + 2 || memcmp(text.data, name, size) != 0 || text.data[size] != '(' ||
        text.data[text.size - 1] != ')')
        return false;
    *argument = (Str){text.data + size + 1, text.size - size - 2};
    return true;
}

static void read_constraint(const OpRow *row, Str text, Slot *slot) {
    static const struct {
        const char *word;
        int rule;
        const char *text;
    } words[] = {
        {"i1", TYPE_FIXED, "i1"},
        {"i8", TYPE_FIXED, "i8"},
        {"i16", TYPE_FIXED, "i16"},
        {"i32", TYPE_FIXED, "i32"},
        {"i64", TYPE_FIXED, "i64"},
        {"i128", TYPE_FIXED, "i128"},
        {"f32", TYPE_FIXED, "f32"},
        {"index", TYPE_FIXED, "index"},
        {"token", TYPE_FIXED, "!ttg.async.token"},
        {"memdesc", TYPE_CLASS, "ttg.memdesc"},
        {"ptr", TYPE_CLASS, "tt.ptr"},
        {"desc", TYPE_CLASS, "tt.tensordesc"},
        {"aref", TYPE_CLASS, "nvws.aref"},
        {"tensor", TYPE_TENSOR_ANY, ""},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_is(text, words[i].word)) {
            slot->rule = words[i].rule;
            slot->text = str_of(words[i].text);
            slot->fixed = (uint8_t)(i + 1);
            return;
        }
    if (str_is(text, "yielded")) {
        slot->rule = TYPE_YIELDED;
        return;
    }
    if (text.data[0] == '=') {
        slot->rule = TYPE_FIXED;
        slot->text = (Str){arena_copy(&arena, text.data + 1, text.size - 1), text.size - 1};
        return;
    }
    if (text.data[0] == '!') {
        slot->rule = TYPE_CLASS;
        slot->text = (Str){text.data + 1, text.size - 1};
        return;
    }
    static const struct {
        const char *word;
        int rule;
    } calls[] = {{"same", TYPE_SAME},
                 {"i1", TYPE_I1_OF},
                 {"i32", TYPE_I32_OF},
                 {"pointee", TYPE_POINTEE_OF},
                 {"element", TYPE_ELEMENT_OF}};
    Str argument;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (call(text, calls[i].word, &argument)) {
            slot->rule = calls[i].rule;
            slot->of = find_slot(row, argument);
            return;
        }
    complain(row, "unknown constraint", text);
}

static Slot *read_names(const char *column, char separator, uint8_t *count) {
    unsigned n = count_words(column);
    Slot *slots = ARENA_ARRAY(&arena, Slot, n ? n : 1);
    for (unsigned i = 0; i < n; i++) {
        Str entry = word(&column);
        const char *cut = memchr(entry.data, separator, entry.size);
        Str name = cut ? str_between(entry.data, cut) : entry;
        slots[i].name = arity_of(name, &slots[i]);
        slots[i].text = cut ? str_between(cut + 1, entry.data + entry.size) : (Str){"", 0};
    }
    *count = (uint8_t)n;
    return slots;
}

static void read_kind(const OpRow *row, Slot *slot) {
    static const struct {
        const char *word;
        AttrSyntax syntax;
        const char *type;
    } kinds[] = {
        {"i1", SYNTAX_INT, "i1"},           {"i8", SYNTAX_INT, "i8"},     {"i16", SYNTAX_INT, "i16"},
        {"i32", SYNTAX_INT, "i32"},         {"i64", SYNTAX_INT, "i64"},   {"f32", SYNTAX_REAL, "f32"},
        {"bool", SYNTAX_BOOL, NULL},        {"str", SYNTAX_STRING, NULL}, {"sym", SYNTAX_SYMBOL, NULL},
        {"name", SYNTAX_SYMBOL_NAME, NULL}, {"unit", SYNTAX_UNIT, NULL},  {"ints32", SYNTAX_INTS, "i32"},
        {"ints64", SYNTAX_INTS, "i64"},     {"dict", SYNTAX_ANY, NULL},   {"array", SYNTAX_ANY, NULL},
        {"type", SYNTAX_ANY, NULL},         {"any", SYNTAX_ANY, NULL},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_is(slot->text, kinds[i].word)) {
            slot->syntax = kinds[i].syntax;
            slot->int_type = kinds[i].type;
            return;
        }
    Str name = slot->text;
    if (str_starts(name, STR("enum."))) {
        slot->syntax = SYNTAX_ENUM;
        name = (Str){name.data + 5, name.size - 5};
    } else if (str_starts(name, STR("quoted."))) {
        slot->syntax = SYNTAX_QUOTED;
        name = (Str){name.data + 7, name.size - 7};
    } else if (str_starts(name, STR("flags."))) {
        slot->syntax = SYNTAX_FLAGS;
        name = (Str){name.data + 6, name.size - 6};
    } else {
        complain(row, "unknown kind of attribute", name);
        return;
    }
    for (size_t i = 0; i < sizeof enums / sizeof *enums; i++)
        if (str_is(name, enums[i].name)) {
            slot->enumeration = &enums[i];
            return;
        }
    complain(row, "unknown enumeration", name);
}

/* ---- Formats --------------------------------------------------------------------------------- */

typedef struct OptableCompiler {
    const OpRow *row;
    const char *at;
    Element *elements;
    unsigned count;
    unsigned repeats; /* depth of (* *) */
} OptableCompiler;

static Element *emit(OptableCompiler *compiler, ElementKind kind) {
    Element *element = &compiler->elements[compiler->count++];
    element->kind = kind;
    return element;
}

static void compile_word(OptableCompiler *compiler, Str text) {
    static const struct {
        const char *word;
        ElementKind kind;
    } words[] = {
        {"operands", ELEMENT_OPERANDS},
        {"type(operands)", ELEMENT_OPERAND_TYPES},
        {"type(results)", ELEMENT_RESULT_TYPES},
        {"signature", ELEMENT_SIGNATURE},
        {"attr-dict", ELEMENT_DICT},
        {"attributes", ELEMENT_ATTRIBUTES},
        {"region", ELEMENT_REGION},
        {"function", ELEMENT_FUNCTION},
        {"partitions", ELEMENT_PARTITIONS},
        {"groups", ELEMENT_GROUPS},
        {"_", ELEMENT_SPACE},
        {"/", ELEMENT_LINE},
        {"args", ELEMENT_ARGS},
    };
    static const struct {
        const char *word;
        ElementKind kind;
    } calls[] = {{"type", ELEMENT_TYPE},        {"bind", ELEMENT_BIND},   {"assign", ELEMENT_ASSIGN},
                 {"succ", ELEMENT_SUCCESSOR},   {"cases", ELEMENT_CASES}, {"mixed", ELEMENT_MIXED},
                 {"branches", ELEMENT_BRANCHES}};
    const OpRow *row = compiler->row;
    bool glue = text.size > 1 && text.data[0] == '~';
    if (glue)
        text = (Str){text.data + 1, text.size - 1};
    Element *element = NULL;
    Str argument = {0};
    if (text.size > 2 && text.data[0] == '\'') { /* a literal that looks like a directive */
        element = emit(compiler, ELEMENT_LITERAL);
        element->text = (Str){text.data + 1, text.size - 2};
        element->glue = glue;
        return;
    }
    for (size_t i = 0; !element && i < sizeof words / sizeof *words; i++)
        if (str_is(text, words[i].word))
            element = emit(compiler, words[i].kind);
    for (size_t i = 0; !element && i < sizeof calls / sizeof *calls; i++)
        if (call(text, calls[i].word, &argument)) {
            element = emit(compiler, calls[i].kind);
            if (argument.size && argument.data[0] == '$')
                argument = (Str){argument.data + 1, argument.size - 1};
            const char *second = memmem(argument.data, argument.size, ",$", 2);
            if (second) {
                element->other = find_slot(row, str_between(second + 2, argument.data + argument.size));
                argument = str_between(argument.data, second);
            }
            element->slot = find_slot(row, argument);
        }
    if (!element && text.size > 1 && text.data[0] == '$') {
        SlotRef slot = find_slot(row, (Str){text.data + 1, text.size - 1});
        element = emit(compiler, slot.column == REF_ATTR ? ELEMENT_ATTR : ELEMENT_OPERAND);
        element->slot = slot;
        element->single = compiler->repeats > 0;
        if (slot.column == REF_RESULT)
            complain(row, "a result cannot be read as an operand", text);
    } else if (!element && text.size > 1 && text.data[0] == '+') {
        element = emit(compiler, ELEMENT_PRESENT);
        element->slot = find_slot(row, (Str){text.data + 1, text.size - 1});
    } else if (!element) {
        element = emit(compiler, ELEMENT_LITERAL);
        element->text = text;
    }
    element->glue = glue;
}

/* Compiles up to one of the closing words, which is returned; empty at the end of the format. */
static Str compile_until(OptableCompiler *compiler, bool inside) {
    for (;;) {
        Str text = word(&compiler->at);
        if (!text.size) {
            if (inside)
                complain(compiler->row, "unclosed group in format", str_of(compiler->row->name.data));
            return text;
        }
        if (str_is(text, "?)") || str_is(text, "?:") || str_is(text, "*)") || str_is(text, "*}") ||
            (inside && str_is(text, "|"))) {
            if (!inside)
                complain(compiler->row, "unopened group in format", text);
            return text;
        }
        unsigned start = compiler->count;
        if (str_is(text, "(?")) {
            emit(compiler, ELEMENT_OPTIONAL);
            Str close = compile_until(compiler, true);
            compiler->elements[start].middle = (uint16_t)compiler->count;
            if (str_is(close, "?:"))
                close = compile_until(compiler, true);
            if (!str_is(close, "?)"))
                complain(compiler->row, "wrong end of optional group", close);
            compiler->elements[start].end = (uint16_t)compiler->count;
        } else if (str_is(text, "(*")) {
            emit(compiler, ELEMENT_REPEAT);
            compiler->repeats++;
            if (!str_is(compile_until(compiler, true), "*)"))
                complain(compiler->row, "wrong end of repetition", text);
            compiler->repeats--;
            compiler->elements[start].end = (uint16_t)compiler->count;
        } else if (str_is(text, "{*")) {
            emit(compiler, ELEMENT_ANY_ORDER);
            Str close;
            do {
                unsigned clause = compiler->count;
                emit(compiler, ELEMENT_CLAUSE);
                close = compile_until(compiler, true);
                compiler->elements[clause].end = (uint16_t)compiler->count;
                if (compiler->elements[clause + 1].kind != ELEMENT_LITERAL)
                    complain(compiler->row, "a clause must start with its word", close);
            } while (str_is(close, "|"));
            if (!str_is(close, "*}"))
                complain(compiler->row, "wrong end of clauses", close);
            compiler->elements[start].end = (uint16_t)compiler->count;
        } else {
            compile_word(compiler, text);
        }
    }
}

static Format compile(const OpRow *row, const char *text) {
    if (strcmp(text, "generic") == 0)
        return (Format){.generic_only = true};
    OptableCompiler compiler = {.row = row, .at = text};
    compiler.elements = ARENA_ARRAY(&arena, Element, count_words(text) * 2 + 1);
    compile_until(&compiler, false);
    return (Format){compiler.elements, (uint16_t)compiler.count, false};
}

/* ---- The table ------------------------------------------------------------------------------- */

/* EVALUATE(...), EFFECTS(...) and the like: a NULL, the column's name, its text. */
static void read_further_columns(OpRow *row, unsigned at) {
    const struct {
        const char *name, **column;
    } columns[] = {{"control", &row->control_column},
                   {"describes", &row->describes_column},
                   {"evaluate", &row->evaluate},
                   {"is", &row->is},
                   {"effects", &row->effects},
                   {"ptx", &row->ptx},
                   {"amd", &row->amd},
                   {"waits", &row->waits_column},
                   {"python", &row->python}};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    for (unsigned k = 0; k < COLUMNS; k++)
        *columns[k].column = "";
    for (; at + 2 < row->column_size; at += 3) {
        const char *name = row->format_column[at + 1];
        unsigned k = 0;
        while (k < COLUMNS && (!name || strcmp(name, columns[k].name) != 0))
            k++;
        if (k == COLUMNS || **columns[k].column)
            complain(row, "no such column, or given twice", str_of(name ? name : "a format after a column"));
        else
            *columns[k].column = row->format_column[at + 2];
    }
    Str where = {0};
    if (!columns_read(row, &where))
        complain(row, "a word that means nothing there", where);
}

static void take_apart(OpRow *row) {
    Slot *operands = read_names(row->operand_column, ':', &row->operand_count);
    Slot *attrs = read_names(row->attr_column, '=', &row->attr_count);
    Slot *results = read_names(row->result_column, ':', &row->result_count);
    row->operands = operands;
    for (unsigned i = 0; i < row->operand_count; i++)
        row->varying += operands[i].arity != SLOT_ONE;
    row->attrs = attrs;
    row->results = results;
    for (unsigned i = 0; i < row->operand_count; i++) {
        if (operands[i].text.size) {
            read_constraint(row, operands[i].text, &operands[i]);
            row->constrained = true;
        }
    }
    for (unsigned i = 0; i < row->result_count; i++) {
        if (results[i].text.size) {
            read_constraint(row, results[i].text, &results[i]);
            row->constrained = true;
        }
    }
    if (row->result_count > MAX_RESULT_SLOTS || row->operand_count > MAX_OPERAND_SLOTS)
        complain(row, "too many entries in a column", row->name);
    for (unsigned i = 0; i < row->attr_count; i++)
        read_kind(row, &attrs[i]);

    unsigned count = 0;
    while (row->format_column[count])
        count++;
    Format *formats = ARENA_ARRAY(&arena, Format, count ? count : 1);
    for (unsigned i = 0; i < count; i++)
        formats[i] = compile(row, row->format_column[i]);
    row->formats = formats;
    row->format_count = (uint8_t)count;
    read_further_columns(row, count);
}

static const OpRow *ready_row(OpRow *row) {
    atomic_bool *is_ready = &ready[row->id];
    if (!atomic_load_explicit(is_ready, memory_order_acquire)) {
        pthread_mutex_lock(&lock);
        if (!atomic_load_explicit(is_ready, memory_order_relaxed)) {
            take_apart(row);
            atomic_store_explicit(is_ready, true, memory_order_release);
        }
        pthread_mutex_unlock(&lock);
    }
    return row;
}

static void index_rows(void) {
    arena_init(&arena, SIZE_MAX);
    for (int i = 0; i < OP_COUNT; i++) {
        void **place = map_put(&by_name, rows[i].name);
        if (!place)
            abort();
        if (*place)
            complain(&rows[i], "two rows for one op", rows[i].name);
        *place = &rows[i];
    }
}

const OpRow *op_row(Str name) {
    pthread_once(&once, index_rows);
    OpRow *row = map_get(&by_name, name);
    if (row)
        return ready_row(row);
    /* Releases up to 3.2 (for AMD 3.5) had longer dialect names; ops at the top have none. */
    static const struct {
        const char *old, *new;
    } prefixes[] = {{"triton_gpu.", "ttg."},
                    {"triton_nvidia_gpu.", "ttng."},
                    {"amdgpu.", "amdg."},
                    {"", "builtin."},
                    {"", "func."}};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t cut = strlen(prefixes[i].old), size = strlen(prefixes[i].new);
        char renamed[96];
        if (!str_starts(name, str_of(prefixes[i].old)) || name.size - cut + size > sizeof renamed ||
            (!cut && memchr(name.data, '.', name.size)))
            continue;
        memcpy(renamed, prefixes[i].new, size);
        memcpy(renamed + size, name.data + cut, name.size - cut);
        row = map_get(&by_name, (Str){renamed, name.size - cut + size});
        if (row)
            return ready_row(row);
    }
    return NULL;
}

const OpRow *op_row_generic(Str name) {
    const OpRow *row = op_row(name);
    return !row && !memchr(name.data, '.', name.size) ? ready_row(&rows[OP_placeholder]) : row;
}

unsigned op_row_count(void) {
    return OP_COUNT;
}

const OpRow *op_row_by_id(unsigned id) {
    pthread_once(&once, index_rows);
    return ready_row(&rows[id]);
}

bool enum_value(const EnumRow *row, Str text, int64_t *value) {
    const char *at = row->words;
    int64_t next = 0;
    for (Str entry; (entry = word(&at)).size; next++) {
        const char *cut = memchr(entry.data, '=', entry.size);
        if (cut)
            str_to_int(str_between(cut + 1, entry.data + entry.size), &next);
        if (str_equal(cut ? str_between(entry.data, cut) : entry, text)) {
            *value = next;
            return true;
        }
    }
    return false;
}

const char *op_table_problem(void) {
    pthread_once(&once, index_rows);
    for (int i = 0; i < OP_COUNT; i++)
        ready_row(&rows[i]);
    return problem[0] ? problem : NULL;
}
