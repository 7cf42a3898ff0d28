/* Reads the effects of a PTX row for one form: which clauses hold, and with which order, scope and memory. The words
 * are those of docs/effects.md. */
#include "model/effect/ptx_column.h"

#include "model/effect/internal.h"

typedef struct Words {
    const PtxRow *row;
    Str form;
    const char *at;
    Str problem;
} Words;

static Str peek(const Words *words) {
    const char *at = words->at;
    return str_next_word(&at);
}

static bool take(Words *words, const char *word) {
    if (!str_is(peek(words), word))
        return false;
    str_next_word(&words->at);
    return true;
}

static void complain(Words *words, Str word) {
    if (!words->problem.size)
        words->problem = word.size ? word : STR("the end");
}

static int find(const char *const *list, int count, Str word) {
    for (int i = 0; i < count; i++)
        if (list[i] && str_is(word, list[i]))
            return i;
    return -1;
}

/* A modifier that the form has, or a group of the row of which it has one. */
static bool holds(const Words *words, Str name) {
    char group[32];
    if (ptx_form_has(words->form, name))
        return true;
    if (name.size >= sizeof group)
        return false;
    memcpy(group, name.data, name.size);
    group[name.size] = 0;
    return ptx_form_modifier(words->row, words->form, str_of(group)).size > 0;
}

/* "when a or b unless c" */
static bool read_conditions(Words *words) {
    bool all = true;
    for (;;) {
        bool when = take(words, "when");
        if (!when && !take(words, "unless"))
            return all;
        bool any = holds(words, str_next_word(&words->at));
        while (take(words, "or"))
            any |= holds(words, str_next_word(&words->at));
        all &= any == when;
    }
}

/* An order or a scope: a word of its own, or the modifier in the group of that name; -1: there is none. */
static int read_choice(Words *words, const char *const *list, int count) {
    Str word = str_next_word(&words->at);
    int found = find(list, count, word);
    if (found >= 0)
        return found;
    if (str_is(word, "sem") || str_is(word, "scope")) {
        Str modifier = ptx_form_modifier(words->row, words->form, str_is(word, "sem") ? STR("sem") : STR("scope"));
        return find(list, count, modifier);
    }
    complain(words, word);
    return -1;
}

static void read_operand(Words *words, Str *to) {
    Str name = str_next_word(&words->at);
    if (!ptx_row_names(words->row, name))
        complain(words, name);
    *to = name;
}

static void read_completion(Words *words, PtxEffect *to) {
    Str word = str_next_word(&words->at);
    if (str_is(word, "tx")) {
        to->effect.done = DONE_TX;
        read_operand(words, &to->through);
    } else if (str_is(word, "group")) {
        to->effect.done = DONE_GROUP;
        int group = find(effect_group_words, 7, str_next_word(&words->at));
        to->effect.group = (GroupKind)(group < 0 ? 0 : group);
    } else if (str_is(word, "commit") || str_is(word, "copies")) {
        to->effect.done = str_is(word, "commit") ? DONE_COMMIT : DONE_COPIES;
    } else {
        complain(words, word);
    }
}

static bool read_plain(Str word, PtxEffect *to) {
    int place;
    if ((place = find(effect_space_words, 4, word)) >= 0)
        to->effect.space = (Space)place;
    else if ((place = find(effect_proxy_words, 3, word)) >= 0)
        to->effect.proxy = (Proxy)place;
    else if (str_is(word, "memory"))
        to->memory = true;
    else if (str_is(word, "relaxed"))
        to->effect.relaxed = true;
    else if (str_is(word, "sources"))
        to->effect.sources = true;
    else if (str_is(word, "no-increment"))
        to->effect.no_increment = true;
    else if (str_is(word, "tile"))
        to->effect.on_descriptor = true;
    else
        return false;
    return true;
}

static void read_setting(Words *words, PtxEffect *to) {
    Str word = str_next_word(&words->at);
    int place;
    if (read_plain(word, to))
        return;
    if (str_is(word, "order")) {
        if ((place = read_choice(words, effect_order_words, 5)) >= 0)
            to->effect.order = (Order)place;
    } else if (str_is(word, "scope")) {
        if ((place = read_choice(words, effect_scope_words, 5)) >= 0)
            to->effect.scope = (Scope)place;
    } else if (str_is(word, "orders")) {
        if ((place = find(effect_space_words, 4, str_next_word(&words->at))) >= 0)
            to->effect.spaces |= (uint8_t)(1u << place);
    } else if (str_is(word, "by")) {
        place = find(effect_helper_words, 4, str_next_word(&words->at));
        to->effect.helper = (Helper)(place < 0 ? 0 : place);
    } else if (str_is(word, "count") || str_is(word, "bytes") || str_is(word, "threads")) {
        read_operand(words, &to->count);
    } else if (str_is(word, "done")) {
        read_completion(words, to);
    } else {
        complain(words, word);
    }
}

/* "[order sem unless sc]": the conditions stand behind the words that they are about, which are read into a copy. */
static void read_bracket(Words *words, PtxEffect *to) {
    PtxEffect changed = *to;
    while (peek(words).size && !str_is(peek(words), "]") && !str_is(peek(words), "when") &&
           !str_is(peek(words), "unless") && !words->problem.size)
        read_setting(words, &changed);
    if (read_conditions(words))
        *to = changed;
    if (!take(words, "]"))
        complain(words, peek(words));
}

static bool read_clause(Words *words, PtxEffect *to) {
    Str word = str_next_word(&words->at);
    int verb = find(effect_verb_words, EFFECT_AWAIT_LAUNCHES + 1, word);
    *to = (PtxEffect){0};
    if (verb < 0) {
        complain(words, word);
        return false;
    }
    to->effect.verb = (EffectVerb)verb;
    if (verb == EFFECT_COMMIT || verb == EFFECT_AWAIT) {
        int group = find(effect_group_words, 7, str_next_word(&words->at));
        to->effect.group = (GroupKind)(group < 0 ? 0 : group);
    } else if (ptx_row_names(words->row, peek(words))) {
        read_operand(words, &to->on);
    }
    while (!words->problem.size) {
        Str next = peek(words);
        if (!next.size || str_is(next, ";") || str_is(next, "when") || str_is(next, "unless"))
            break;
        if (take(words, "["))
            read_bracket(words, to);
        else
            read_setting(words, to);
    }
    return read_conditions(words);
}

bool ptx_effects(const PtxRow *row, Str form, PtxEffect *effects, unsigned most, unsigned *count, Str *problem) {
    Words words = {.row = row, .form = form, .at = row->effects};
    *count = 0;
    while (peek(&words).size && !words.problem.size) {
        PtxEffect effect;
        if (read_clause(&words, &effect)) {
            if (*count == most)
                return false;
            effects[(*count)++] = effect;
        }
        if (peek(&words).size && !take(&words, ";"))
            complain(&words, peek(&words));
    }
    *problem = words.problem;
    return !words.problem.size;
}
