/* Finds the row of a PTX instruction by its opcode and modifiers. */
#include "ir/ptx_rows.h"

#include "base/map.h"

#include <ctype.h>
#include <pthread.h>

#define SINCE(version, capability)    version, capability, PTX_AND_LATER
#define SPECIFIC(version, capability) version, capability, PTX_WITH_LETTER
#define ONLY(version, capability)     version, capability, PTX_ONLY_THIS
static const PtxRow rows[] = {
#define PTX(name, modifiers, operands, since, evaluate, effects) \
    {name, modifiers, operands, evaluate, effects, since, false},
#define CONTROL(name, modifiers, operands, since, evaluate, effects) \
    {name, modifiers, operands, evaluate, effects, since, true},
#define SPECIAL(name, parts, numbers, varies, bits)
#define TARGET(name, version)
#include "ir/ops/ptx.def"
#undef PTX
#undef CONTROL
#undef SPECIAL
#undef TARGET
};
#undef SINCE
#undef SPECIFIC
#undef ONLY

static const PtxSpecial specials[] = {
#define PTX(...)
#define CONTROL(...)
#define SPECIAL(name, parts, numbers, varies, bits) {name, parts, numbers, varies, bits},
#define TARGET(name, version)
#include "ir/ops/ptx.def"
#undef PTX
#undef CONTROL
#undef SPECIAL
#undef TARGET
};

static const struct {
    const char *name;
    unsigned version;
} targets[] = {
#define PTX(...)
#define CONTROL(...)
#define SPECIAL(name, parts, numbers, varies, bits)
#define TARGET(name, version) {name, version},
#include "ir/ops/ptx.def"
#undef PTX
#undef CONTROL
#undef SPECIAL
#undef TARGET
};

enum { ROWS = sizeof rows / sizeof *rows, SPECIALS = sizeof specials / sizeof *specials, MOST_GROUPS = 24 };

static const char *const evaluators[] = {
    [PTX_EVALUATE_NONE] = "",
#define PTX_EVALUATOR(id, name, what) [PTX_EVALUATE_##id] = name,
#include "ir/ptx_evaluators.def"
#undef PTX_EVALUATOR
};

static PtxEvaluator evaluator_named(const char *name) {
    int i = 0;
    while (i < PTX_EVALUATORS && strcmp(name, evaluators[i]) != 0)
        i++;
    return (PtxEvaluator)i;
}

PtxEvaluator ptx_evaluator(const PtxRow *row) {
    return evaluator_named(row->evaluate);
}

PtxEvaluator ptx_callee(Str name) {
#define PTX_CALLEE(callee, evaluate, what) \
    if (str_is(name, callee))              \
        return evaluator_named(evaluate);
#include "ir/ptx_callees.def"
#undef PTX_CALLEE
    return PTX_EVALUATE_NONE;
}

/* Opcodes to their first row, modifiers to anything, special registers to their row: made when first asked for. */
static Map opcodes, words, registers;
static pthread_once_t once = PTHREAD_ONCE_INIT;

Str next_part(Str *name) {
    const char *end = name->data + name->size, *dot = name->size ? memchr(name->data, '.', name->size) : NULL;
    Str part = dot ? str_between(name->data, dot) : *name;
    *name = dot ? str_between(dot + 1, end) : str_between(end, end);
    return part;
}

int word_place(Str word, const char *list) {
    int place = 0;
    for (Str entry; (entry = str_next_word(&list)).size; place++)
        if (str_equal(entry, word))
            return place;
    return -1;
}

/* ---- Groups of modifiers ----------------------------------------------------------------------- */

typedef struct Group {
    Str name;  /* empty: it has none */
    Str words; /* "a|b" */
    bool optional, ordered;
} Group;

/* The next group of a column; false at its end. */
static bool next_group(const char **at, Group *group) {
    *at += strspn(*at, " ");
    size_t size = strcspn(*at, " ");
    if (!size)
        return false;
    const char *start = *at, *end = start + size;
    *at = end;
    *group = (Group){.ordered = *start == '>', .optional = end[-1] == '?'};
    start += group->ordered;
    end -= group->optional;
    const char *equals = memchr(start, '=', (size_t)(end - start));
    if (equals)
        group->name = str_between(start, equals);
    group->words = str_between(equals ? equals + 1 : start, end);
    return true;
}

static Str next_word_of(Str *words) {
    const char *end = words->data + words->size, *bar = words->size ? memchr(words->data, '|', words->size) : NULL;
    Str word = bar ? str_between(words->data, bar) : *words;
    *words = bar ? str_between(bar + 1, end) : str_between(end, end);
    return word;
}

/* A word of a group, in which '#' stands for a number. */
static bool fits(Str pattern, Str word) {
    size_t at = 0;
    for (size_t i = 0; i < pattern.size; i++) {
        if (pattern.data[i] != '#') {
            if (at == word.size || word.data[at++] != pattern.data[i])
                return false;
            continue;
        }
        size_t start = at;
        while (at < word.size && isdigit((unsigned char)word.data[at]))
            at++;
        if (at == start)
            return false;
    }
    return at == word.size;
}

static bool group_has(const Group *group, Str word) {
    Str left = group->words;
    while (left.size)
        if (fits(next_word_of(&left), word))
            return true;
    return false;
}

/* ---- Which words there are ----------------------------------------------------------------------- */

/* Without memory for it a word is not known, which makes nothing legal. */
static void put(Map *map, Str key, const void *value) {
    void **place = map_put(map, key);
    if (place)
        *place = (void *)value;
}

static void add_words(const PtxRow *row) {
    Str name = str_of(row->name);
    next_part(&name);
    while (name.size)
        put(&words, next_part(&name), row);
    Group group;
    for (const char *at = row->modifiers; next_group(&at, &group);)
        while (group.words.size)
            put(&words, next_word_of(&group.words), row);
}

static void prepare(void) {
    for (size_t i = ROWS; i-- > 0;) {
        Str name = str_of(rows[i].name);
        put(&opcodes, next_part(&name), &rows[i]);
        add_words(&rows[i]);
    }
    for (size_t i = 0; i < SPECIALS; i++)
        put(&registers, str_of(specials[i].name), &specials[i]);
}

static const PtxRow *first_row(Str opcode) {
    pthread_once(&once, prepare);
    return map_get(&opcodes, opcode);
}

/* Rows of one opcode stand together. */
static bool same_opcode(const PtxRow *row, Str opcode) {
    Str name = str_of(row->name);
    return str_equal(next_part(&name), opcode);
}

/* Whether a word is one of the table; those with numbers in them are looked for in their patterns. */
static bool word_known(Str word) {
    if (map_get(&words, word))
        return true;
    static const char *const patterns[] = {"m#n#k#", "x#"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (fits(str_of(patterns[i]), word))
            return true;
    return false;
}

/* ---- The row of a form ------------------------------------------------------------------------------ */

size_t ptx_row_count(void) {
    return ROWS;
}

const PtxRow *ptx_row_at(size_t index) {
    return index < ROWS ? &rows[index] : NULL;
}

bool ptx_form_has(Str form, Str modifier) {
    next_part(&form);
    while (form.size)
        if (str_equal(next_part(&form), modifier))
            return true;
    return false;
}

/* Which group each modifier of a form goes to, told one by one. */
typedef struct Matching {
    const PtxRow *row;
    Group groups[MOST_GROUPS];
    Str taken[MOST_GROUPS]; /* by which modifier */
    unsigned count;
    int last_ordered;
} Matching;

static bool take_word(Matching *matching, Str word) {
    for (unsigned i = 0; i < matching->count; i++) {
        Group *group = &matching->groups[i];
        if (matching->taken[i].size || !group_has(group, word) || (group->ordered && (int)i < matching->last_ordered))
            continue;
        if (group->ordered)
            matching->last_ordered = (int)i;
        matching->taken[i] = word;
        return true;
    }
    return false;
}

/* Whether the word is one of the row's own name, which may stand anywhere. */
static bool of_name(const PtxRow *row, Str word) {
    return ptx_form_has(str_of(row->name), word);
}

static bool match(Matching *matching, const PtxRow *row, Str form) {
    *matching = (Matching){.row = row, .last_ordered = -1};
    Str name = str_of(row->name);
    next_part(&name);
    while (name.size)
        if (!ptx_form_has(form, next_part(&name)))
            return false;
    for (const char *at = row->modifiers;
         matching->count < MOST_GROUPS && next_group(&at, &matching->groups[matching->count]);)
        matching->count++;
    Str left = form;
    next_part(&left);
    while (left.size) {
        Str word = next_part(&left);
        bool first = !ptx_form_has(str_between(form.data, word.data), word);
        if (!(first && of_name(row, word)) && !take_word(matching, word))
            return false;
    }
    for (unsigned i = 0; i < matching->count; i++)
        if (!matching->groups[i].optional && !matching->taken[i].size)
            return false;
    return true;
}

const PtxRow *ptx_row_of(Str form, bool *known) {
    Str left = form, opcode = next_part(&left);
    const PtxRow *row = first_row(opcode);
    Matching matching;
    if (known)
        *known = row != NULL;
    for (; row && row < rows + ROWS && same_opcode(row, opcode); row++)
        if (match(&matching, row, form))
            return row;
    while (known && *known && left.size)
        *known = word_known(next_part(&left));
    return NULL;
}

PtxActs ptx_opcode_acts(Str opcode) {
    const PtxRow *row = first_row(opcode);
    PtxActs acts = row ? PTX_COMPUTES : PTX_NO_ROW;
    for (; row && row < rows + ROWS && same_opcode(row, opcode); row++) {
        if (*row->effects)
            return PTX_ACTS;
        if (row->control)
            acts = PTX_STEERS;
    }
    return acts;
}

Str ptx_form_modifier(const PtxRow *row, Str form, Str group) {
    Matching matching;
    if (match(&matching, row, form))
        for (unsigned i = 0; i < matching.count; i++)
            if (group.size && str_equal(matching.groups[i].name, group))
                return matching.taken[i];
    return (Str){"", 0};
}

/* "=d", "[a]", "b:t?" without what is not their name. */
bool ptx_row_names(const PtxRow *row, Str operand) {
    const char *at = row->operands;
    for (size_t size; at += strspn(at, " "), (size = strcspn(at, " ")); at += size) {
        size_t skipped = strspn(at, "=+[");
        if (str_equal((Str){at + skipped, strcspn(at + skipped, "]:? ")}, operand))
            return true;
    }
    return false;
}

void ptx_row_operands(const PtxRow *row, unsigned *least, unsigned *most) {
    *least = *most = 0;
    const char *at = row->operands;
    for (size_t size; at += strspn(at, " "), (size = strcspn(at, " ")); at += size) {
        bool rest = size == 2 && at[0] == '.' && at[1] == '.';
        *least += !rest && at[size - 1] != '?';
        *most = rest ? UINT16_MAX : *most + 1;
    }
}

bool ptx_row_operand(const PtxRow *row, unsigned index, PtxOperandRow *operand) {
    const char *at = row->operands;
    bool missing = false;
    for (size_t size; at += strspn(at, " "), (size = strcspn(at, " ")); at += size) {
        bool optional = at[size - 1] == '?';
        if (missing && !optional)
            return false;
        missing |= optional;
        if (index--)
            continue;
        size_t skipped = strspn(at, "=+"), type = strcspn(at, ": "), plain;
        *operand = (PtxOperandRow){.written = skipped > 0, .updated = skipped > 1, .address = at[skipped] == '['};
        if (type >= size)
            return at[0] != '.';
        at += type + 1;
        plain = strcspn(at, "*+%? ");
        operand->type = (Str){at, plain};
        at += plain;
        if (*at == '*') {
            operand->vector = true;
            operand->members = (Str){at + 1, strcspn(at + 1, "+%? ")};
            at += 1 + operand->members.size;
        }
        operand->wider = *at == '+';
        operand->special = *at == '%';
        return true;
    }
    return false;
}

unsigned ptx_target_version(Str target) {
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (str_is(target, targets[i].name))
            return targets[i].version;
    return 0;
}

/* ---- Special registers -------------------------------------------------------------------------------- */

const PtxSpecial *ptx_special(Str name, unsigned *number) {
    pthread_once(&once, prepare);
    const PtxSpecial *special = map_get(&registers, name);
    *number = 0;
    if (special)
        return special->numbers ? NULL : special;
    size_t size = name.size;
    while (size && isdigit((unsigned char)name.data[size - 1]))
        size--;
    int64_t value;
    special = map_get(&registers, (Str){name.data, size});
    if (!special || !str_to_int((Str){name.data + size, name.size - size}, &value) || value >= special->numbers)
        return NULL;
    *number = (unsigned)value;
    return special;
}

const PtxSpecial *ptx_special_at(unsigned index) {
    return &specials[index];
}

unsigned ptx_special_index(const PtxSpecial *special) {
    return (unsigned)(special - specials);
}
