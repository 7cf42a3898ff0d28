/* Takes the EFFECTS column of the op table apart, each row's when it is first asked for. docs/effects.md explains the
 * words. A column that is not well-formed is our own mistake; effect_table_problem lets a test say which. */
#include "model/effect/internal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* ---- Words ----------------------------------------------------------------------------------- */

#define VERB(id, word, columns, known_by) [EFFECT_##id] = word,
const char *const effect_verb_words[] = {
#include "model/effect/verbs.def"
};
#undef VERB
#define VERB(id, word, columns, known_by) [EFFECT_##id] = columns,
const uint8_t effect_verb_columns[] = {
#include "model/effect/verbs.def"
};
#undef VERB
const char *const effect_space_words[] = {NULL, "shared", "tensor", "global"};
const char *const effect_proxy_words[] = {"generic", "async", "tensormap", "texture", "surface", "alias"};
const char *const effect_order_words[] = {"weak", "relaxed", "acquire", "release", "acq_rel"};
const char *const effect_scope_words[] = {NULL, "cta", "cluster", "gpu", "sys"};
const char *const effect_group_words[] = {NULL,        "cp.async",   "bulk",        "wgmma",       "tma-store",
                                          "amd-async", "amd-tensor", "tensor-load", "tensor-store"};
const char *const effect_done_words[] = {
    [DONE_NOW] = "now",       [DONE_TX] = "tx",       [DONE_GROUP] = "group", [DONE_COMMIT] = "commit",
    [DONE_COPIES] = "copies", [DONE_TOKEN] = "token", [DONE_END] = "end"};
const char *const effect_helper_words[] = {NULL, "tma", "tensor", "clc"};
const char *const effect_side_words[] = {NULL, "full", "empty"};
const char *const effect_atomic_words[] = {
    [ATOMIC_ADD] = "add",
    [ATOMIC_EXCHANGE] = "exch",
    [ATOMIC_AND] = "and",
    [ATOMIC_OR] = "or",
    [ATOMIC_XOR] = "xor",
    [ATOMIC_MAXIMUM] = "max",
    [ATOMIC_MINIMUM] = "min",
    [ATOMIC_MAXIMUM_UNSIGNED] = "umax",
    [ATOMIC_MINIMUM_UNSIGNED] = "umin",
    [ATOMIC_OTHER] = NULL,
};

/* What LLVM and AMD call an order or a scope. */
typedef struct OtherWord {
    const char *word;
    int value;
} OtherWord;
static const OtherWord other_orders[] = {
    {"not_atomic", ORDER_WEAK}, {"unordered", ORDER_RELAXED}, {"monotonic", ORDER_RELAXED}, {"seq_cst", ORDER_ACQ_REL}};
static const OtherWord other_scopes[] = {{"singlethread", SCOPE_CTA},
                                         {"singlethread-one-as", SCOPE_CTA},
                                         {"wavefront", SCOPE_CTA},
                                         {"workgroup", SCOPE_CTA},
                                         {"workgroup-one-as", SCOPE_CTA},
                                         {"wavefront-one-as", SCOPE_CTA},
                                         {"block", SCOPE_CTA},
                                         {"cluster-one-as", SCOPE_CLUSTER},
                                         {"agent", SCOPE_GPU},
                                         {"agent-one-as", SCOPE_GPU},
                                         {"device", SCOPE_GPU},
                                         {"gl", SCOPE_GPU},
                                         {"system", SCOPE_SYS},
                                         {"one-as", SCOPE_SYS},
                                         {"", SCOPE_SYS}};

int effect_word(const char *const *words, size_t count, Str word) {
    for (size_t i = 0; i < count; i++)
        if (words[i] && word.size && *words[i] == *word.data && str_is(word, words[i]))
            return (int)i;
    return -1;
}

static int find_other(const OtherWord *words, size_t count, Str word) {
    for (size_t i = 0; i < count; i++)
        if (str_is(word, words[i].word))
            return words[i].value;
    return -1;
}

int effect_find_order(Str word) {
    int other = find_other(other_orders, COUNT_OF(other_orders), word);
    return other >= 0 ? other : effect_word(effect_order_words, COUNT_OF(effect_order_words), word);
}

int effect_find_scope(Str word) {
    int other = find_other(other_scopes, COUNT_OF(other_scopes), word);
    return other >= 0 ? other : effect_word(effect_scope_words, COUNT_OF(effect_scope_words), word);
}

AtomicKind effect_find_atomic(Str word) {
    int found = effect_word(effect_atomic_words, COUNT_OF(effect_atomic_words), word);
    return found < 0 ? ATOMIC_OTHER : (AtomicKind)found;
}

/* ---- Clauses --------------------------------------------------------------------------------- */

/* What a word of a clause is followed by. */
typedef enum Follower {
    FOLLOWED_BY_NOTHING,
    FOLLOWED_BY_VALUE,  /* an operand or result */
    FOLLOWED_BY_NUMBER, /* a number, an attribute or a value */
    FOLLOWED_BY_ATTR,
    FOLLOWED_BY_ORDER, /* a word of that kind, or an attribute that holds one */
    FOLLOWED_BY_SCOPE,
    FOLLOWED_BY_HELPER,
    FOLLOWED_BY_SPACE,
} Follower;

static const struct {
    const char *word;
    Field field;
    Follower follower;
    int value; /* of the field's enumeration, or a member of Effect */
} words[] = {
    {"shared", FIELD_SPACE, FOLLOWED_BY_NOTHING, SPACE_SHARED},
    {"tensor", FIELD_SPACE, FOLLOWED_BY_NOTHING, SPACE_TENSOR},
    {"global", FIELD_SPACE, FOLLOWED_BY_NOTHING, SPACE_GLOBAL},
    {"memory", FIELD_MEMORY, FOLLOWED_BY_NOTHING, 0},
    {"generic", FIELD_PROXY, FOLLOWED_BY_NOTHING, PROXY_GENERIC},
    {"async", FIELD_PROXY, FOLLOWED_BY_NOTHING, PROXY_ASYNC},
    {"tensormap", FIELD_PROXY, FOLLOWED_BY_NOTHING, PROXY_TENSORMAP},
    {"order", FIELD_ORDER, FOLLOWED_BY_ORDER, 0},
    {"scope", FIELD_SCOPE, FOLLOWED_BY_SCOPE, 0},
    {"by", FIELD_HELPER, FOLLOWED_BY_HELPER, 0},
    {"full", FIELD_SIDE, FOLLOWED_BY_NOTHING, SIDE_FULL},
    {"empty", FIELD_SIDE, FOLLOWED_BY_NOTHING, SIDE_EMPTY},
    {"inverted", FIELD_FLAG, FOLLOWED_BY_NOTHING, offsetof(Effect, inverted)},
    {"per-thread", FIELD_FLAG, FOLLOWED_BY_NOTHING, offsetof(Effect, per_thread)},
    {"per-warp", FIELD_FLAG, FOLLOWED_BY_NOTHING, offsetof(Effect, per_warp)},
    {"no-increment", FIELD_FLAG, FOLLOWED_BY_NOTHING, offsetof(Effect, no_increment)},
    {"relaxed", FIELD_FLAG, FOLLOWED_BY_NOTHING, offsetof(Effect, relaxed)},
    {"sources", FIELD_FLAG, FOLLOWED_BY_NOTHING, offsetof(Effect, sources)},
    {"tile", FIELD_FLAG, FOLLOWED_BY_NOTHING, offsetof(Effect, on_descriptor)},
    {"multicast", FIELD_FLAG, FOLLOWED_BY_NOTHING, offsetof(Effect, multicast)},
    {"like", FIELD_LIKE, FOLLOWED_BY_VALUE, 0},
    {"pair", FIELD_FLAG, FOLLOWED_BY_NOTHING, offsetof(Effect, pair)},
    {"count", FIELD_COUNT, FOLLOWED_BY_NUMBER, 0},
    {"bytes", FIELD_COUNT, FOLLOWED_BY_NUMBER, 0},
    {"parity", FIELD_VALUE, FOLLOWED_BY_VALUE, offsetof(Effect, amount)},
    {"threads", FIELD_VALUE, FOLLOWED_BY_VALUE, offsetof(Effect, amount)},
    {"of", FIELD_VALUE, FOLLOWED_BY_VALUE, offsetof(Effect, amount)},
    {"expecting", FIELD_VALUE, FOLLOWED_BY_VALUE, offsetof(Effect, expected)},
    {"at", FIELD_LIST, FOLLOWED_BY_VALUE, offsetof(Effect, at)},
    {"offsets", FIELD_LIST, FOLLOWED_BY_VALUE, offsetof(Effect, offsets)},
    {"rows", FIELD_VALUE, FOLLOWED_BY_VALUE, offsetof(Effect, rows)},
    {"into", FIELD_VALUE, FOLLOWED_BY_VALUE, offsetof(Effect, end)},
    {"from", FIELD_VALUE, FOLLOWED_BY_VALUE, offsetof(Effect, end)},
    {"boxes", FIELD_VALUE, FOLLOWED_BY_VALUE, offsetof(Effect, boxes)},
    {"value", FIELD_VALUE, FOLLOWED_BY_VALUE, offsetof(Effect, value)},
    {"compare", FIELD_COMPARE, FOLLOWED_BY_VALUE, 0},
    {"otherwise", FIELD_VALUE, FOLLOWED_BY_VALUE, offsetof(Effect, otherwise)},
    {"gives", FIELD_VALUE, FOLLOWED_BY_VALUE, offsetof(Effect, gives)},
    {"gives-up", FIELD_FLAG, FOLLOWED_BY_NOTHING, offsetof(Effect, gives_up)},
    {"action", FIELD_ACTION, FOLLOWED_BY_ATTR, 0},
    {"slot", FIELD_VALUE, FOLLOWED_BY_VALUE, offsetof(Effect, slot)},
    {"if", FIELD_PREDICATE, FOLLOWED_BY_VALUE, 0},
    {"mask", FIELD_VALUE, FOLLOWED_BY_VALUE, offsetof(Effect, mask)},
    {"rank", FIELD_VALUE, FOLLOWED_BY_VALUE, offsetof(Effect, rank)},
    {"from-ctas", FIELD_MASK, FOLLOWED_BY_ATTR, offsetof(Effect, from_ctas)},
    {"to-ctas", FIELD_MASK, FOLLOWED_BY_ATTR, offsetof(Effect, to_ctas)},
    {"orders", FIELD_ORDERS, FOLLOWED_BY_SPACE, 0},
};

long effect_flag(Str word) {
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (words[i].field == FIELD_FLAG && str_is(word, words[i].word))
            return words[i].value;
    return -1;
}

typedef struct ColumnCompiler {
    const OpRow *row;
    const char *at;
    Column *column;
    char *problem; /* the first stays */
} ColumnCompiler;

static void complain(ColumnCompiler *c, const char *what, Str where) {
    if (!c->problem[0])
        snprintf(c->problem, EFFECT_PROBLEM_SIZE, "%.*s: %s: '%.*s'", STR_ARG(c->row->name), what, STR_ARG(where));
}

static Str peek(const ColumnCompiler *c) {
    const char *at = c->at;
    return str_next_word(&at);
}

static SlotRef read_value(ColumnCompiler *c) {
    Str name = str_next_word(&c->at);
    SlotRef ref = op_slot_ref(c->row, name);
    if (!effect_ref_is_value(ref))
        complain(c, "no such operand or result", name);
    return ref;
}

static SlotRef read_attribute(ColumnCompiler *c) {
    Str name = str_next_word(&c->at);
    int i = op_slot(c->row->attrs, c->row->attr_count, name);
    if (i < 0)
        complain(c, "no such attribute", name);
    return (SlotRef){i < 0 ? REF_NONE : REF_ATTR, (uint8_t)(i < 0 ? 0 : i)};
}

static EffectSetting *add_setting(ColumnCompiler *c, Field field, int64_t number) {
    EffectSetting *setting = &c->column->settings[c->column->setting_count++];
    *setting = (EffectSetting){.field = field, .number = number};
    return setting;
}

/* "when a or b=c unless d": until a word that is none of those. */
static Tests read_tests(ColumnCompiler *c) {
    Tests tests = {.first = c->column->test_count};
    while (str_is(peek(c), "when") || str_is(peek(c), "unless") || (tests.count && str_is(peek(c), "or"))) {
        Str word = str_next_word(&c->at), text = str_next_word(&c->at);
        const char *cut = memchr(text.data, '=', text.size);
        Str name = cut ? str_between(text.data, cut) : text;
        Test *test = &c->column->tests[c->column->test_count++];
        test->of = op_slot_ref(c->row, name);
        test->value = cut ? str_between(cut + 1, text.data + text.size) : (Str){"", 0};
        test->negated = str_is(word, "unless");
        test->alternative = str_is(word, "or");
        if (test->of.column == REF_NONE)
            complain(c, "no such operand, result or attribute", name);
        tests.count++;
    }
    return tests;
}

static void read_group(ColumnCompiler *c) {
    Str kind = str_next_word(&c->at);
    int group = effect_word(effect_group_words, GROUP_OP_KINDS, kind);
    if (group < 0)
        complain(c, "no such kind of group", kind);
    add_setting(c, FIELD_GROUP, group);
}

static void read_completion(ColumnCompiler *c) {
    Str word = str_next_word(&c->at);
    int done = effect_word(effect_done_words, DONE_TOKEN + 1, word);
    if (done < 0)
        complain(c, "no such completion", word);
    add_setting(c, FIELD_DONE, done);
    if (done == DONE_TX)
        add_setting(c, FIELD_VALUE, offsetof(Effect, through))->from = read_value(c);
    if (done == DONE_GROUP)
        read_group(c);
}

static void read_setting(ColumnCompiler *c, Str word) {
    if (str_is(word, "done")) {
        read_completion(c);
        return;
    }
    size_t i = 0;
    while (i < COUNT_OF(words) && !str_is(word, words[i].word))
        i++;
    if (i == COUNT_OF(words)) {
        complain(c, "no such word", word);
        return;
    }
    EffectSetting *setting = add_setting(c, words[i].field, words[i].value);
    int (*find)(Str) = NULL;
    switch (words[i].follower) {
    case FOLLOWED_BY_NOTHING:
        return;
    case FOLLOWED_BY_VALUE:
        setting->from = read_value(c);
        return;
    case FOLLOWED_BY_ATTR:
        setting->from = read_attribute(c);
        return;
    case FOLLOWED_BY_ORDER:
        find = effect_find_order;
        break;
    case FOLLOWED_BY_SCOPE:
        find = effect_find_scope;
        break;
    case FOLLOWED_BY_NUMBER:
    case FOLLOWED_BY_HELPER:
    case FOLLOWED_BY_SPACE:
        break;
    }
    Str argument = str_next_word(&c->at);
    setting->from = op_slot_ref(c->row, argument);
    bool good = setting->from.column != REF_NONE;
    if (words[i].follower == FOLLOWED_BY_NUMBER) {
        good = good || str_to_int(argument, &setting->number);
    } else if (find) {
        good = setting->from.column == REF_ATTR || (!good && (setting->number = find(argument)) >= 0);
    } else {
        const char *const *table = words[i].follower == FOLLOWED_BY_HELPER ? effect_helper_words : effect_space_words;
        setting->from = (SlotRef){REF_NONE, 0};
        setting->number = effect_word(table, 4, argument);
        good = setting->number >= 0;
    }
    if (!good || !argument.size)
        complain(c, "this cannot follow that word", argument);
}

/* Whether another setting follows: else conditions, or the end of the clause. */
static bool goes_on(Str word) {
    return word.size && !str_is(word, ";") && !str_is(word, "when") && !str_is(word, "unless");
}

static void read_clause(ColumnCompiler *c) {
    Str word = str_next_word(&c->at);
    int verb = effect_word(effect_verb_words, EFFECT_OP_VERBS, word);
    bool assembly = str_is(word, "assembly"), external = str_is(word, "external");
    if (verb < 0) {
        if (!assembly && !external)
            complain(c, "no such verb", word);
        verb = EFFECT_ANYTHING;
    }
    Clause *clause = &c->column->clauses[c->column->clause_count++];
    *clause = (Clause){
        .verb = (EffectVerb)verb, .assembly = assembly, .external = external, .first = c->column->setting_count};
    if (verb == EFFECT_COMMIT || verb == EFFECT_AWAIT)
        read_group(c);
    else if (verb_is(clause->verb, VERB_ACCESS | VERB_BARRIER | VERB_LIFE) ||
             effect_ref_is_value(op_slot_ref(c->row, peek(c)))) /* which named barrier, the fence of what */
        clause->on = read_value(c);
    while (goes_on(word = peek(c))) {
        str_next_word(&c->at);
        if (!str_is(word, "[")) {
            read_setting(c, word);
            continue;
        }
        unsigned first = c->column->setting_count;
        while (goes_on(word = peek(c)) && !str_is(word, "]")) {
            str_next_word(&c->at);
            read_setting(c, word);
        }
        Tests tests = read_tests(c);
        for (unsigned i = first; i < c->column->setting_count; i++)
            c->column->settings[i].tests = tests;
        if (!tests.count || !str_is(str_next_word(&c->at), "]"))
            complain(c, "words in brackets need a condition and an end", word);
    }
    clause->tests = read_tests(c);
    clause->count = (uint16_t)(c->column->setting_count - clause->first);
    for (unsigned i = clause->first; clause->on.column == REF_NONE && i < c->column->setting_count; i++)
        if (c->column->settings[i].field == FIELD_MEMORY)
            complain(c, "nothing is named that could be", STR("memory"));
    if ((word = str_next_word(&c->at)).size && !str_is(word, ";"))
        complain(c, "only conditions may follow a condition", word);
}

/* Takes a column apart into `arena`. `problem` is left alone if all is well. */
static Column read_column(Arena *arena, const OpRow *row, const char *text, char *problem) {
    unsigned count = 0;
    for (const char *at = text; str_next_word(&at).size;)
        count++;
    Column column = {.clauses = ARENA_ARRAY(arena, Clause, count + 1),
                     .settings = ARENA_ARRAY(arena, EffectSetting, 2 * count + 1),
                     .tests = ARENA_ARRAY(arena, Test, count + 1)};
    ColumnCompiler compiler = {.row = row, .at = text, .column = &column, .problem = problem};
    while (peek(&compiler).size)
        read_clause(&compiler);
    return column;
}

/* Guards the arena, the problem, and the columns that are not ready. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Arena arena;
static char problem[EFFECT_PROBLEM_SIZE];
static Column columns[OP_MOST];
static atomic_bool ready[OP_MOST];

const Column *effect_column_of(const OpRow *row) {
    atomic_bool *is_ready = &ready[row->id];
    if (!atomic_load_explicit(is_ready, memory_order_acquire)) {
        pthread_mutex_lock(&lock);
        if (!arena.budget)
            arena_init(&arena, SIZE_MAX);
        if (!atomic_load_explicit(is_ready, memory_order_relaxed)) {
            columns[row->id] = read_column(&arena, row, row->effects, problem);
            atomic_store_explicit(is_ready, true, memory_order_release);
        }
        pthread_mutex_unlock(&lock);
    }
    return &columns[row->id];
}

void effect_column_check(const OpRow *row, const char *column, char found[EFFECT_PROBLEM_SIZE]) {
    Arena scratch;
    found[0] = 0;
    arena_init(&scratch, SIZE_MAX);
    read_column(&scratch, row, column, found);
    arena_free(&scratch);
}

const char *effect_table_problem(void) {
    for (unsigned i = 0; i < op_row_count(); i++)
        effect_column_of(op_row_by_id(i));
    return problem[0] ? problem : NULL;
}
