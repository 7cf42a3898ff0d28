/* Reads the effects of a PTX row for one form: which clauses hold, and with which order, scope and memory. The words
 * are those of docs/effects.md. */
#include "model/effect/ptx_column.h"

#include "model/effect/internal.h"

#include <ctype.h>
#include <stddef.h>

typedef struct PtxColumnWords {
    const PtxRow *row;
    Str form;
    const char *at;
    Str problem;
} PtxColumnWords;

static Str peek(const PtxColumnWords *words) {
    const char *at = words->at;
    return str_next_word(&at);
}

static bool take(PtxColumnWords *words, const char *word) {
    if (!str_is(peek(words), word))
        return false;
    str_next_word(&words->at);
    return true;
}

static void complain(PtxColumnWords *words, Str word) {
    if (!words->problem.size)
        words->problem = word.size ? word : STR("the end");
}

/* A modifier that the form has, a group of the row of which it has one, or an operand of the row. */
static bool holds(const PtxColumnWords *words, Str name) {
    char group[32];
    if (ptx_form_has(words->form, name) || ptx_row_names(words->row, name))
        return true;
    if (name.size >= sizeof group)
        return false;
    memcpy(group, name.data, name.size);
    group[name.size] = 0;
    return ptx_form_modifier(words->row, words->form, str_of(group)).size > 0;
}

/* "when a or b unless c" */
static bool read_conditions(PtxColumnWords *words) {
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
static int read_choice(PtxColumnWords *words, const char *const *list, int count) {
    Str word = str_next_word(&words->at);
    int found = effect_word(list, count, word);
    if (found >= 0)
        return found;
    if (str_is(word, "sem") || str_is(word, "scope")) {
        Str modifier = ptx_form_modifier(words->row, words->form, str_is(word, "sem") ? STR("sem") : STR("scope"));
        return effect_word(list, count, modifier);
    }
    complain(words, word);
    return -1;
}

static void read_operand(PtxColumnWords *words, Str *to) {
    Str name = str_next_word(&words->at);
    if (!ptx_row_names(words->row, name))
        complain(words, name);
    *to = name;
}

static GroupKind read_group(PtxColumnWords *words) {
    Str word = str_next_word(&words->at);
    int group = effect_word(effect_group_words, GROUP_KINDS, word);
    if (group < 0)
        complain(words, word);
    return (GroupKind)(group < 0 ? 0 : group);
}

static void read_completion(PtxColumnWords *words, PtxEffect *to) {
    Str word = str_next_word(&words->at);
    int done = effect_word(effect_done_words, DONE_END + 1, word);
    if (done < 0)
        complain(words, word);
    to->effect.done = (Completion)(done < 0 ? 0 : done);
    if (done == DONE_TX)
        read_operand(words, &to->through);
    if (done == DONE_GROUP)
        to->effect.group = read_group(words);
}

/* ---- Words of a clause ------------------------------------------------------------------------- */

/* Words that stand alone, and what they set; those of ops, too (effect_flag). */
static const struct {
    const char *word;
    size_t member;
} flags[] = {
    {"memory", offsetof(PtxEffect, memory)},           {"matrix", offsetof(PtxEffect, matrix)},
    {"any-cta", offsetof(PtxEffect, any_cta)},         {"drops", offsetof(PtxEffect, drops)},
    {"no-complete", offsetof(PtxEffect, no_complete)}, {"read-only", offsetof(PtxEffect, read_only)},
    {"replicas", offsetof(PtxEffect, replicas)},       {"inits", offsetof(PtxEffect, inits)},
    {"sc", offsetof(PtxEffect, sequential)},           {"blocks", offsetof(PtxEffect, blocks)},
};

/* Words that an operand follows. */
static const struct {
    const char *word;
    size_t member;
} names[] = {
    {"value", offsetof(PtxEffect, value)},   {"compare", offsetof(PtxEffect, compare)},
    {"gives", offsetof(PtxEffect, gives)},   {"parity", offsetof(PtxEffect, phase)},
    {"state", offsetof(PtxEffect, phase)},   {"limit", offsetof(PtxEffect, limit)},
    {"ctas", offsetof(PtxEffect, ctas)},     {"stride", offsetof(PtxEffect, stride)},
    {"threads", offsetof(PtxEffect, count)}, {"boxes", offsetof(PtxEffect, boxes)},
};

static bool read_plain(Str word, PtxEffect *to) {
    int place;
    if ((place = effect_word(effect_space_words, 4, word)) >= 0) {
        to->effect.space = (Space)place;
        return true;
    }
    if ((place = effect_word(effect_proxy_words, PROXIES, word)) >= 0) {
        to->effect.proxy = (Proxy)place;
        return true;
    }
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (str_is(word, flags[i].word)) {
            *(bool *)((char *)to + flags[i].member) = true;
            return true;
        }
    long member = effect_flag(word);
    if (member >= 0)
        *(bool *)((char *)&to->effect + member) = true;
    return member >= 0;
}

static bool read_named(PtxColumnWords *words, Str word, PtxEffect *to) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(word, names[i].word)) {
            read_operand(words, (Str *)((char *)to + names[i].member));
            to->by_state |= str_is(word, "state");
            return true;
        }
    return false;
}

/* What an update makes of what is there: the modifier in the group "op", and whether the type has a sign. */
static AtomicKind atomic_of(const PtxColumnWords *words) {
    static const char *const actions[] = {"add", "exch", "cas", "and", "or", "xor", "max", "min", "inc", "dec"};
    static const AtomicKind kinds[] = {ATOMIC_ADD, ATOMIC_EXCHANGE, ATOMIC_CAS,     ATOMIC_AND,       ATOMIC_OR,
                                       ATOMIC_XOR, ATOMIC_MAXIMUM,  ATOMIC_MINIMUM, ATOMIC_INCREMENT, ATOMIC_DECREMENT};
    Str type = ptx_form_modifier(words->row, words->form, STR("t"));
    int place = effect_word(actions, 10, ptx_form_modifier(words->row, words->form, STR("op")));
    if (place < 0 || !type.size || !memchr("bus", type.data[0], 3) || str_starts(type, STR("bf")))
        return ATOMIC_OTHER;
    if (type.data[0] != 's' && (kinds[place] == ATOMIC_MAXIMUM || kinds[place] == ATOMIC_MINIMUM))
        return kinds[place] == ATOMIC_MAXIMUM ? ATOMIC_MAXIMUM_UNSIGNED : ATOMIC_MINIMUM_UNSIGNED;
    return kinds[place];
}

/* A number, or an operand that says it. */
static void read_number(PtxColumnWords *words, Str *name, int64_t *number) {
    if (str_to_int(peek(words), number))
        str_next_word(&words->at);
    else
        read_operand(words, name);
}

static void read_setting(PtxColumnWords *words, PtxEffect *to) {
    Str word = str_next_word(&words->at);
    int place;
    if (read_plain(word, to) || read_named(words, word, to))
        return;
    if (str_is(word, "order")) {
        if ((place = read_choice(words, effect_order_words, 5)) >= 0)
            to->effect.order = (Order)place;
    } else if (str_is(word, "scope")) {
        if ((place = read_choice(words, effect_scope_words, 5)) >= 0)
            to->effect.scope = (Scope)place;
    } else if (str_is(word, "orders")) {
        if ((place = effect_word(effect_space_words, 4, str_next_word(&words->at))) >= 0)
            to->effect.spaces |= (uint8_t)(1u << place);
    } else if (str_is(word, "by")) {
        place = effect_word(effect_helper_words, 4, str_next_word(&words->at));
        to->effect.helper = (Helper)(place < 0 ? 0 : place);
    } else if (str_is(word, "count") || str_is(word, "bytes")) {
        read_number(words, &to->count, &to->effect.count);
    } else if (str_is(word, "lanes")) {
        int64_t lanes = 0;
        Str none;
        read_number(words, &none, &lanes);
        to->lanes = (uint8_t)lanes;
    } else if (str_is(word, "action")) {
        to->effect.atomic = atomic_of(words);
    } else if (str_is(word, "done")) {
        read_completion(words, to);
    } else {
        complain(words, word);
    }
}

/* "[order sem unless sc]": the conditions stand behind the words that they are about, which are read into a copy. */
static void read_bracket(PtxColumnWords *words, PtxEffect *to) {
    PtxEffect changed = *to;
    Str problem = words->problem;
    while (peek(words).size && !str_is(peek(words), "]") && !str_is(peek(words), "when") &&
           !str_is(peek(words), "unless"))
        read_setting(words, &changed);
    if (read_conditions(words))
        *to = changed;
    else /* operands may be named that only other rows have */
        words->problem = problem;
    if (!take(words, "]"))
        complain(words, peek(words));
}

/* Bits of "b32", "f16x2", "bf16", "e4m3x4"; 0: it is no such word. */
static int64_t type_bits(Str type) {
    size_t at = 0;
    int64_t bits = 0, times = 1;
    const char *x = type.size ? memchr(type.data, 'x', type.size) : NULL;
    Str one = x ? str_between(type.data, x) : type;
    if (x && !str_to_int(str_between(x + 1, type.data + type.size), &times))
        return 0;
    if (str_starts(type, STR("e"))) /* e4m3 and the like */
        return 8 * times;
    while (at < one.size && isalpha((unsigned char)one.data[at]))
        at++;
    return str_to_int((Str){one.data + at, one.size - at}, &bits) ? bits * times : 0;
}

/* Bytes of what one thread touches, by the groups "t" and "vec"; 0: they do not say. */
static int64_t bytes_of(const PtxColumnWords *words) {
    Str vector = ptx_form_modifier(words->row, words->form, STR("vec"));
    int64_t members = vector.size == 2 ? vector.data[1] - '0' : 1;
    return type_bits(ptx_form_modifier(words->row, words->form, STR("t"))) / 8 * members;
}

/* What follows the verb at once: a kind of group, who is together, what it is about. */
static void read_subject(PtxColumnWords *words, PtxEffect *to) {
    static const char *const spans[] = {[PTX_WARP] = "warp", [PTX_WARPGROUP] = "warpgroup"};
    if (to->effect.verb == EFFECT_COMMIT || to->effect.verb == EFFECT_AWAIT) {
        to->effect.group = read_group(words);
    } else if (to->effect.verb == EFFECT_CONVERGED) {
        Str word = str_next_word(&words->at);
        int span = effect_word(spans, 3, word);
        if (span < 0)
            complain(words, word);
        to->together = (PtxTogether)(span < 0 ? 0 : span);
    } else if (to->effect.verb != EFFECT_REGISTERS && ptx_row_names(words->row, peek(words))) {
        read_operand(words, &to->on);
    } else if (verb_is(to->effect.verb, VERB_ACCESS | VERB_BARRIER)) {
        complain(words, peek(words)); /* it is about something */
    }
}

static bool read_clause(PtxColumnWords *words, PtxEffect *to) {
    Str word = str_next_word(&words->at);
    int verb = effect_word(effect_verb_words, EFFECT_VERBS, word);
    *to = (PtxEffect){.callee = str_is(word, "callee")};
    if (to->callee)
        verb = EFFECT_ANYTHING;
    if (verb < 0) {
        complain(words, word);
        return false;
    }
    to->effect.verb = (EffectVerb)verb;
    read_subject(words, to);
    while (!words->problem.size) {
        Str next = peek(words);
        if (!next.size || str_is(next, ";") || str_is(next, "when") || str_is(next, "unless"))
            break;
        if (take(words, "["))
            read_bracket(words, to);
        else
            read_setting(words, to);
    }
    bool typed = verb == EFFECT_COMPLETE ? !to->boxes.size : effect_is_access(&to->effect) && !to->matrix;
    if (typed && !to->effect.on_descriptor && !to->count.size && !to->effect.count)
        to->effect.count = bytes_of(words);
    return read_conditions(words);
}

bool ptx_effect_is_common(const PtxEffect *effect) {
    const Effect *common = &effect->effect;
    return common->verb < EFFECT_OP_VERBS && common->proxy <= PROXY_TENSORMAP && common->group < GROUP_OP_KINDS &&
           common->done != DONE_END && !effect->phase.size && !effect->limit.size && !effect->ctas.size &&
           !effect->stride.size && !effect->boxes.size && !effect->lanes && !effect->matrix && !effect->any_cta &&
           !effect->by_state && !effect->drops && !effect->no_complete && !effect->replicas && !effect->callee &&
           !common->multicast && !common->pair && !common->gives_up && !common->on_descriptor;
}

bool ptx_effects(const PtxRow *row, Str form, PtxEffect *effects, unsigned most, unsigned *count, Str *problem) {
    PtxColumnWords words = {.row = row, .form = form, .at = row->effects};
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
