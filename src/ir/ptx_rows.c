/* Finds the row of a PTX instruction by its opcode and modifiers. */
#include "ir/ptx_rows.h"

#include "base/map.h"

#include <ctype.h>
#include <pthread.h>

#define SINCE(version, capability)          version, capability, PTX_AND_LATER, 0
#define SPECIFIC(version, capability)       version, capability, PTX_WITH_LETTER, 0
#define FAMILY(version, capability, below)  version, capability, PTX_WITH_LETTER, below
#define BETWEEN(version, capability, below) version, capability, PTX_AND_LATER, below
#define ONLY(version, capability)           version, capability, PTX_ONLY_THIS, 0
static const PtxRow rows[] = {
#define PTX(name, modifiers, operands, since, evaluate, effects) \
    {name, modifiers, operands, evaluate, effects, since, false},
#define CONTROL(name, modifiers, operands, since, evaluate, effects) \
    {name, modifiers, operands, evaluate, effects, since, true},
#include "ir/ops/ptx.def"
};

/* The FORM lines, behind a line without a name for each row; prepare() gives them the name of theirs. */
static PtxRow lines[] = {
#define PTX(...)                         {0},
#define CONTROL(...)                     {0},
#define FORM(modifiers, operands, since) {"", modifiers, operands, "", "", since, false},
#include "ir/ops/ptx.def"
};

static const PtxRow word_rows[] = {
#define WORD(words, since) {words, "", "", "", "", since, false},
#include "ir/ops/ptx.def"
};
#undef SINCE
#undef SPECIFIC
#undef FAMILY
#undef BETWEEN
#undef ONLY

static const PtxSpecial specials[] = {
#define SPECIAL(name, parts, numbers, varies, bits) {name, parts, numbers, varies, bits},
#include "ir/ops/ptx.def"
};

static const struct {
    const char *name;
    unsigned version;
} targets[] = {
#define TARGET(name, version) {name, version},
#include "ir/ops/ptx.def"
};

enum {
    ROWS = sizeof rows / sizeof *rows,
    LINES = sizeof lines / sizeof *lines,
    SPECIALS = sizeof specials / sizeof *specials,
    MOST_GROUPS = 24
};

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

bool ptx_of_driver(Str name) {
#define PTX_CALLEE(callee, evaluate, what) \
    if (str_is(name, callee))              \
        return true;
#include "ir/ptx_callees.def"
#undef PTX_CALLEE
    return false;
}

PtxEvaluator ptx_callee(Str name) {
#define PTX_CALLEE(callee, evaluate, what) \
    if (str_is(name, callee))              \
        return evaluator_named(evaluate);
#include "ir/ptx_callees.def"
#undef PTX_CALLEE
    return PTX_EVALUATE_NONE;
}

/* Opcodes to their first row, modifiers to anything, special registers to their row: made when first asked for. Which
 * modifiers there are is asked for only where a form has no row, and takes long. */
static Map opcodes, words, registers, later_words;
static const PtxRow *row_lines[sizeof rows / sizeof *rows]; /* the first FORM line of each; NULL: it has none */
static pthread_once_t once = PTHREAD_ONCE_INIT, words_once = PTHREAD_ONCE_INIT;

Str next_part(Str *name) {
    const char *end = name->data + name->size, *dot = name->data;
    while (dot < end && *dot != '.')
        dot++;
    Str part = str_between(name->data, dot);
    *name = str_between(dot < end ? dot + 1 : end, end);
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

typedef struct PtxRowGroup {
    Str name;  /* empty: it has none */
    Str words; /* "a|b" */
    Str with;  /* there is one exactly if that group has one; empty: nothing is said */
    bool optional, ordered;
} PtxRowGroup;

/* The next word of a column, up to a space; empty at its end. */
static Str next_of_column(const char **at) {
    const char *start = *at;
    while (*start == ' ')
        start++;
    const char *end = start;
    while (*end && *end != ' ')
        end++;
    *at = end;
    return str_between(start, end);
}

/* The next group of a column; false at its end. */
static bool next_group(const char **at, PtxRowGroup *group) {
    Str all = next_of_column(at);
    if (!all.size)
        return false;
    const char *start = all.data, *end = start + all.size;
    *group = (PtxRowGroup){.ordered = *start == '>', .optional = end[-1] == '?'};
    start += group->ordered;
    end -= group->optional;
    const char *equals = memchr(start, '=', (size_t)(end - start));
    if (equals)
        group->name = str_between(start, equals);
    group->words = str_between(equals ? equals + 1 : start, end);
    const char *with = memchr(group->words.data, '^', group->words.size);
    if (with) {
        group->with = str_between(with + 1, end);
        group->words = str_between(group->words.data, with);
    }
    return true;
}

/* Words are short: a call to find their end would take longer. */
static Str next_word_of(Str *words) {
    const char *end = words->data + words->size, *bar = words->data;
    while (bar < end && *bar != '|')
        bar++;
    Str word = str_between(words->data, bar);
    *words = str_between(bar < end ? bar + 1 : end, end);
    return word;
}

/* The number at `*at`, which is moved behind it; 0 if there is none. */
static unsigned take_number(Str word, size_t *at) {
    unsigned number = 0;
    for (; *at < word.size && isdigit((unsigned char)word.data[*at]); ++*at)
        number = number < 100000 ? number * 10 + (unsigned)(word.data[*at] - '0') : number;
    return number;
}

/* A word of a group, in which '#' stands for a number up to 256, and "#%8" for one that is a multiple of 8. */
static bool fits(Str pattern, Str word) {
    size_t at = 0;
    for (size_t i = 0; i < pattern.size; i++) {
        if (pattern.data[i] != '#') {
            if (at == word.size || word.data[at++] != pattern.data[i])
                return false;
            continue;
        }
        size_t start = at, of = i + 2;
        unsigned number = take_number(word, &at), multiple = 1;
        if (i + 1 < pattern.size && pattern.data[i + 1] == '%') {
            multiple = take_number(pattern, &of);
            i = of - 1;
        }
        if (at == start || number > 256 || number % multiple || (multiple > 1 && !number))
            return false;
    }
    return at == word.size;
}

static bool group_has(const PtxRowGroup *group, Str word) {
    Str left = group->words;
    while (left.size) {
        Str pattern = next_word_of(&left);
        if ((*pattern.data == *word.data || *pattern.data == '#') && fits(pattern, word))
            return true;
    }
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
    PtxRowGroup group;
    for (const char *at = row->modifiers; next_group(&at, &group);)
        while (group.words.size)
            put(&words, next_word_of(&group.words), row);
}

static void prepare_lines(void) {
    size_t begun = 0; /* rows: a line belongs to the last of them */
    for (size_t i = 0; i < LINES; i++) {
        if (!lines[i].name) {
            begun++;
            continue;
        }
        const PtxRow *row = &rows[begun - 1];
        lines[i].name = row->name;
        lines[i].control = row->control;
        lines[i].effects = row->effects;
        lines[i].evaluate = row->evaluate;
        if (!row_lines[row - rows])
            row_lines[row - rows] = &lines[i];
    }
    for (size_t i = 0; i < sizeof word_rows / sizeof *word_rows; i++)
        for (Str left = str_of(word_rows[i].name); left.size;)
            put(&later_words, next_word_of(&left), &word_rows[i]);
}

static void prepare(void) {
    prepare_lines();
    for (size_t i = ROWS; i-- > 0;) {
        Str name = str_of(rows[i].name);
        put(&opcodes, next_part(&name), &rows[i]);
    }
    for (size_t i = 0; i < SPECIALS; i++)
        put(&registers, str_of(specials[i].name), &specials[i]);
}

/* Behind prepare(). */
static void prepare_words(void) {
    for (size_t i = 0; i < LINES; i++)
        if (lines[i].name)
            add_words(&lines[i]);
    for (size_t i = 0; i < ROWS; i++)
        add_words(&rows[i]);
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

const PtxRow *ptx_word_since(Str modifier) {
    pthread_once(&once, prepare);
    return map_get(&later_words, modifier);
}

/* Whether a word is one of the table; those with numbers in them are looked for in their patterns. */
static bool word_known(Str word) {
    pthread_once(&once, prepare);
    pthread_once(&words_once, prepare_words);
    if (map_get(&words, word))
        return true;
    static const char *const patterns[] = {"m#n#k#", "x#"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (fits(str_of(patterns[i]), word))
            return true;
    return false;
}

bool ptx_is_opcode(Str word) {
    return first_row(word) != NULL;
}

bool ptx_is_modifier(Str word) {
    return word_known(word);
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

/* The groups of a row. */
typedef struct PtxRowGroups {
    const PtxRow *row;
    unsigned count;
    PtxRowGroup items[MOST_GROUPS];
} PtxRowGroups;

/* Of one row much is asked in turn: those that were read last are kept. */
static const PtxRowGroups *groups_of(const PtxRow *row) {
    static _Thread_local PtxRowGroups groups;
    if (groups.row == row)
        return &groups;
    groups.row = row;
    groups.count = 0;
    for (const char *at = row->modifiers; groups.count < MOST_GROUPS && next_group(&at, &groups.items[groups.count]);)
        groups.count++;
    return &groups;
}

/* Which group each modifier of a form goes to, told one by one. */
typedef struct Matching {
    const PtxRowGroup *groups;
    Str taken[MOST_GROUPS]; /* by which modifier */
    unsigned count;
    int last_ordered;
} Matching;

static bool take_word(Matching *matching, Str word) {
    for (unsigned i = 0; i < matching->count; i++) {
        const PtxRowGroup *group = &matching->groups[i];
        if (matching->taken[i].size || !group_has(group, word) || (group->ordered && (int)i < matching->last_ordered))
            continue;
        if (group->ordered)
            matching->last_ordered = (int)i;
        matching->taken[i] = word;
        return true;
    }
    return false;
}

/* The modifier that a group of a name has taken. */
static Str taken_by(const Matching *matching, Str group) {
    for (unsigned i = 0; group.size && i < matching->count; i++)
        if (str_equal(matching->groups[i].name, group))
            return matching->taken[i];
    return (Str){"", 0};
}

/* What is behind the name of a row in a form; false if it does not start with it. */
static bool skip_name(const PtxRow *row, Str form, Str *left) {
    size_t size = strlen(row->name);
    if (form.size < size || memcmp(form.data, row->name, size) != 0 || (form.size > size && form.data[size] != '.'))
        return false;
    *left = form.size == size ? (Str){"", 0} : (Str){form.data + size + 1, form.size - size - 1};
    return true;
}

/* ptxas takes these twice, and no others. */
static bool may_repeat(Str word) {
    return word_place(word, "sync uni cc sat approx satfinite") >= 0;
}

static bool match(Matching *matching, const PtxRow *row, Str form) {
    Str left;
    if (!skip_name(row, form, &left))
        return false;
    const PtxRowGroups *groups = groups_of(row);
    matching->groups = groups->items;
    matching->count = groups->count;
    matching->last_ordered = -1;
    for (unsigned i = 0; i < groups->count; i++)
        matching->taken[i] = (Str){"", 0};
    while (left.size) {
        Str word = next_part(&left);
        if (!take_word(matching, word) &&
            !(may_repeat(word) && ptx_form_has(str_between(form.data, word.data - 1), word)))
            return false;
    }
    for (unsigned i = 0; i < matching->count; i++) {
        bool taken = matching->taken[i].size > 0;
        Str with = matching->groups[i].with;
        if ((!taken && !matching->groups[i].optional) || (with.size && taken != (taken_by(matching, with).size > 0)))
            return false;
    }
    return true;
}

static const PtxRow *first_line_from(const PtxRow *line, Str form) {
    Matching matching;
    for (; line < lines + LINES && line->name; line++)
        if (match(&matching, line, form))
            return line;
    return NULL;
}

const PtxRow *ptx_row_line(const PtxRow *row, Str form) {
    const PtxRow *line = row_lines[row - rows];
    return line ? first_line_from(line, form) : row;
}

const PtxRow *ptx_next_line(const PtxRow *line, Str form) {
    return line >= lines && line < lines + LINES ? first_line_from(line + 1, form) : NULL;
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

/* Whether a row does more than to compute: that threads run it together, and with which registers, is not more. */
static bool row_acts(const PtxRow *row) {
    for (const char *at = row->effects; *at;) {
        if (word_place(str_next_word(&at), "converged warp-sync registers") < 0)
            return true;
        at += strcspn(at, ";");
        at += *at == ';';
    }
    return false;
}

PtxActs ptx_opcode_acts(Str opcode) {
    const PtxRow *row = first_row(opcode);
    PtxActs acts = row ? PTX_COMPUTES : PTX_NO_ROW;
    for (; row && row < rows + ROWS && same_opcode(row, opcode); row++) {
        if (row_acts(row))
            return PTX_ACTS;
        if (row->control || word_place(opcode, "trap brkpt") >= 0)
            acts = PTX_STEERS;
    }
    return acts;
}

/* The form that was asked about last, of which more will be asked: where in it what each group has taken is. */
typedef struct PtxRowLatest {
    const PtxRow *row;
    bool fits;
    unsigned count;
    uint8_t at[MOST_GROUPS], sizes[MOST_GROUPS];
    size_t size;
    char text[64];
} PtxRowLatest;

static void keep_latest(PtxRowLatest *latest, const PtxRow *row, Str form, const Matching *matching) {
    latest->row = row;
    latest->fits = matching != NULL;
    latest->count = matching ? matching->count : 0;
    latest->size = form.size;
    memcpy(latest->text, form.data, form.size);
    for (unsigned i = 0; i < latest->count; i++) {
        Str taken = matching->taken[i];
        latest->at[i] = taken.size ? (uint8_t)(taken.data - form.data) : 0;
        latest->sizes[i] = (uint8_t)taken.size;
    }
}

Str ptx_form_modifier(const PtxRow *row, Str form, Str group) {
    static _Thread_local PtxRowLatest latest;
    Matching matching;
    if (form.size > sizeof latest.text)
        return match(&matching, row, form) ? taken_by(&matching, group) : (Str){"", 0};
    if (latest.row != row || latest.size != form.size || memcmp(latest.text, form.data, form.size) != 0)
        keep_latest(&latest, row, form, match(&matching, row, form) ? &matching : NULL);
    const PtxRowGroups *groups = groups_of(row);
    for (unsigned i = 0; group.size && latest.fits && i < latest.count; i++)
        if (str_equal(groups->items[i].name, group))
            return latest.sizes[i] ? (Str){form.data + latest.at[i], latest.sizes[i]} : (Str){"", 0};
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

/* What stands behind the type of an operand: "*4", "+", "%", "!", "&", "#0-15", "@", "|pred" and "/pred", "^group". */
static void read_flags(const char *at, const char *end, PtxOperandRow *operand) {
    while (at < end) {
        const char *start = at + 1;
        size_t size = strcspn(start, "*+%!&@#|/^? ");
        if (*at == '*') {
            if (start[size] == '/' && isdigit((unsigned char)start[size + 1])) /* "n/2" is a number of members */
                size += 1 + strspn(start + size + 1, "0123456789");
            operand->members = (Str){start, size};
        }
        operand->vector |= *at == '*';
        operand->wider |= *at == '+';
        operand->special |= *at == '%';
        operand->no_number |= *at == '!';
        operand->symbol |= *at == '&';
        operand->predicate |= *at == '@';
        operand->pair |= *at == '|' || *at == '/';
        operand->lone |= *at == '/';
        operand->number |= *at == '#';
        if (*at == '#')
            operand->values = (Str){start, size};
        if (*at == '#' && size && start[size - 1] == '~') { /* a register will do, too */
            operand->number = false;
            operand->values.size--;
        }
        if (*at == '^')
            operand->with = (Str){start, size};
        at = start + size;
    }
}

bool ptx_next_operand(const char **at, PtxOperandRow *operand) {
    *at += strspn(*at, " ");
    size_t size = strcspn(*at, " ");
    if (!size)
        return false;
    const char *start = *at, *end = start + size, *type = memchr(start, ':', size);
    *at = end;
    size_t skipped = strspn(start, "=+");
    *operand = (PtxOperandRow){
        .written = skipped > 0, .updated = skipped > 1, .address = start[skipped] == '[', .optional = end[-1] == '?'};
    if (!type)
        return true;
    operand->type = (Str){type + 1, strcspn(type + 1, "*+%!&@#|/^? ")};
    read_flags(type + 1 + operand->type.size, end, operand);
    return true;
}

/* Operands that stand there exactly with a modifier. */
static const struct {
    const char *operand, *modifiers;
} brought[] = {
    {"policy", "L2::cache_hint"},
    {"mask", "multicast::cluster"},
    {"offsets", "im2col im2col::w im2col::w::128"},
};

/* Whether an operand that may be missing stands for itself, and not for a modifier; `there`: whether that is. */
static bool is_brought(Str operand, Str form, bool *there) {
    for (size_t i = 0; i < sizeof brought / sizeof *brought; i++) {
        if (!str_is(operand, brought[i].operand))
            continue;
        const char *at = brought[i].modifiers;
        *there = false;
        for (Str modifier; (modifier = str_next_word(&at)).size;)
            *there |= ptx_form_has(form, modifier);
        return true;
    }
    return false;
}

/* One word of a row's operands. */
static bool next_operand(const char **at, Str *name, bool *optional) {
    *at += strspn(*at, " ");
    size_t size = strcspn(*at, " "), skipped = strspn(*at, "=+[");
    *name = (Str){*at + skipped, strcspn(*at + skipped, "]:?* ")};
    *optional = size && (*at)[size - 1] == '?';
    *at += size;
    return size > 0;
}

int ptx_operand_place(const PtxRow *row, Str form, Str operand, unsigned count) {
    unsigned least, most, place = 0;
    Str name;
    bool optional, there;
    ptx_row_operands(row, &least, &most);
    for (const char *at = row->operands; next_operand(&at, &name, &optional);)
        if (optional && is_brought(name, form, &there))
            least += there;
    unsigned spare = count > least ? count - least : 0;
    for (const char *at = row->operands; next_operand(&at, &name, &optional); place += there) {
        there = true;
        if (optional && !is_brought(name, form, &there)) {
            there = spare > 0;
            spare -= there;
        }
        if (str_equal(name, operand))
            return there && place < count ? (int)place : -1;
    }
    return -1;
}

void ptx_row_operands(const PtxRow *row, unsigned *least, unsigned *most) {
    *least = *most = 0;
    const char *at = row->operands;
    PtxOperandRow operand;
    for (const char *start = at; ptx_next_operand(&at, &operand); start = at) {
        bool rest = str_ends(str_between(start, at), STR(".."));
        *least += !rest && !operand.optional;
        *most = rest ? UINT16_MAX : *most + 1;
    }
}

bool ptx_row_operand(const PtxRow *row, unsigned index, PtxOperandRow *operand) {
    bool missing = false;
    for (const char *at = row->operands; ptx_next_operand(&at, operand);) {
        if (missing && !operand->optional)
            return false;
        missing |= operand->optional;
        if (!index--)
            return at[-1] != '.';
    }
    return false;
}

/* 16 of "m64n16k8", 4 of "v4" and "x4", 2 of "2d". */
static unsigned number_in(Str word) {
    size_t at = 0;
    unsigned number = 0;
    if (word.size && word.data[0] == 'm')
        while (at < word.size && word.data[at] != 'n')
            at++;
    while (at < word.size && !isdigit((unsigned char)word.data[at]))
        at++;
    for (; at < word.size && isdigit((unsigned char)word.data[at]) && number < 1000; at++)
        number = number * 10 + (unsigned)(word.data[at] - '0');
    return number;
}

unsigned ptx_row_members(const PtxRow *row, Str form, Str members) {
    size_t digits = 0;
    unsigned times = 0;
    for (; digits < members.size && isdigit((unsigned char)members.data[digits]); digits++)
        times = times * 10 + (unsigned)(members.data[digits] - '0');
    if (digits == members.size)
        return times;
    Str group = {members.data + digits, members.size - digits};
    const char *slash = memchr(group.data, '/', group.size);
    unsigned parts = slash ? number_in(str_between(slash, members.data + members.size)) : 1;
    if (slash)
        group = str_between(group.data, slash);
    Str word = ptx_form_modifier(row, form, group);
    if (!word.size)
        return 1;
    return (digits ? times : 1) * number_in(word) / (parts ? parts : 1);
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
