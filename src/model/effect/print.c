/* An effect as one line of text. */
#include "ir/print.h"
#include "model/effect/internal.h"

const char *effect_verb_name(EffectVerb verb) {
    return effect_verb_words[verb];
}

const char *effect_access_verb(unsigned kind) {
    return kind == KIND_READ ? "reads" : kind == KIND_WRITE ? "writes" : "updates";
}

const char *effect_access_noun(unsigned kind) {
    return kind == KIND_READ ? "read" : kind == KIND_WRITE ? "write" : "update";
}

const char *effect_order_name(Order order) {
    return effect_order_words[order];
}

const char *effect_scope_name(Scope scope) {
    return scope ? effect_scope_words[scope] : "no";
}

static void print_with(const char *before, const Value *value, Text *to) {
    if (!value)
        return;
    text_str(to, str_of(before));
    print_value_name(value, to);
}

static void print_word(const char *word, Text *to) {
    if (word)
        text_addf(to, " %s", word);
}

static void print_slot(const Effect *effect, Text *to) {
    print_with("[", effect->slot, to);
    if (effect->slot)
        text_char(to, ']');
}

/* "3", or the value that says it. */
static void print_count(const Effect *effect, const char *unit, Text *to) {
    if (effect->amount && effect->count < 0)
        print_with(" ", effect->amount, to);
    else
        text_addf(to, " %lld", (long long)effect->count);
    print_word(unit, to);
}

static void print_quantity(const Effect *effect, Text *to) {
    switch (effect->verb) {
    case EFFECT_INIT:
        text_addf(to, effect->count ? " count" : "");
        if (effect->count)
            print_count(effect, NULL, to);
        break;
    case EFFECT_ARRIVE:
        text_str(to, STR(" count"));
        print_count(effect, effect->per_thread ? "per thread" : effect->per_warp ? "per warp" : NULL, to);
        break;
    case EFFECT_EXPECT:
        print_count(effect, "bytes", to);
        break;
    case EFFECT_COMPLETE:
        if (effect->amount && effect->count == 0)
            print_with(" the bytes of ", effect->amount, to);
        else
            print_count(effect, "bytes", to);
        break;
    case EFFECT_WAIT:
        print_with(effect->inverted ? " parity not " : " parity ", effect->amount, to);
        break;
    case EFFECT_AWAIT:
        text_str(to, STR(" down to"));
        print_count(effect, NULL, to);
        print_with(", for ", effect->amount, to);
        break;
    case EFFECT_NAMED_ARRIVE:
    case EFFECT_NAMED_SYNC:
        print_with(" threads ", effect->amount, to);
        if (!effect->amount && effect->count)
            text_addf(to, " threads %lld", (long long)effect->count);
        break;
    case EFFECT_VIEW:
        print_with(" of ", effect->amount, to);
        print_slot(effect, to);
        break;
    default:
        break;
    }
}

static void print_completion(const Effect *effect, Text *to) {
    bool arrival = effect->verb == EFFECT_ARRIVE;
    switch (effect->done) {
    case DONE_NOW:
        break;
    case DONE_TX:
        print_with(", completes on ", effect->through, to);
        break;
    case DONE_GROUP:
        text_addf(to, arrival ? ", once its %s copies are done" : ", completes with its %s group",
                  effect_group_words[effect->group]);
        break;
    case DONE_COMMIT:
        text_addf(to, arrival ? ", once its tensor core work is done" : ", completes with a commit");
        break;
    case DONE_COPIES:
        text_addf(to, ", once its copies are done%s", effect->no_increment ? ", not announced" : "");
        break;
    case DONE_TOKEN:
        text_addf(to, ", completes with its token");
        break;
    case DONE_END:
        text_addf(to, ", completes with its CTA");
        break;
    }
}

static void print_list(const char *word, ValueList list, Text *to) {
    print_word(list.count ? word : NULL, to);
    for (uint32_t i = 0; i < list.count; i++)
        print_with(i ? ", " : " [", list.items[i], to);
    if (list.count)
        text_char(to, ']');
}

static void print_place(const Effect *effect, Text *to) {
    print_with(" rows ", effect->rows, to);
    print_list("at", effect->at, to);
    print_list("offsets", effect->offsets, to);
    if (effect->offset)
        text_addf(to, " at %+lld", (long long)effect->offset);
    print_with(effect->verb == EFFECT_READ ? " into " : " from ", effect->end, to);
    print_with(" in boxes of ", effect->boxes, to);
}

static void print_data(const Effect *effect, Text *to) {
    print_with(" until it is ", effect->expected, to);
    if (effect->gives_up)
        text_str(to, STR(" or gives up"));
    print_word(effect_atomic_words[effect->atomic], to);
    print_with(" value ", effect->value, to);
    print_with(" compare ", effect->compare, to);
    print_with(" gives ", effect->gives, to);
    print_with(" otherwise ", effect->otherwise, to);
}

void effect_print(const Effect *effect, Text *to) {
    bool shows_space = !effect_is_barrier(effect);
    text_str(to, str_of(effect_verb_words[effect->verb]));
    if (effect->on_descriptor)
        text_str(to, STR(" the tile of"));
    print_with(" ", effect->on, to);
    if (!effect->on && effect_is_named(effect))
        text_addf(to, " %lld", (long long)effect->number);
    if (effect->verb != EFFECT_VIEW)
        print_slot(effect, to);
    print_word(effect_side_words[effect->side], to);
    if (effect->verb == EFFECT_COMMIT || effect->verb == EFFECT_AWAIT)
        print_word(effect_group_words[effect->group], to);
    if (shows_space)
        print_word(effect_space_words[effect->space], to);
    if (effect->proxy != PROXY_GENERIC)
        print_word(effect_proxy_words[effect->proxy], to);
    if (effect->order != ORDER_WEAK)
        print_word(effect_order_words[effect->order], to);
    print_word(effect_scope_words[effect->scope], to);
    print_quantity(effect, to);
    print_place(effect, to);
    print_data(effect, to);
    if (effect->repeats)
        text_str(to, STR(" repeatedly"));
    if (effect->sources)
        text_str(to, STR(", sources only"));
    if (effect->relaxed)
        text_str(to, STR(", relaxed"));
    for (int space = SPACE_SHARED, any = 0; space <= SPACE_GLOBAL; space++)
        if (effect->spaces >> space & 1)
            text_addf(to, "%s %s", any++ ? "," : " orders", effect_space_words[space]);
    print_completion(effect, to);
    if (effect->helper != HELPER_BASE)
        text_addf(to, ", by %s", effect_helper_words[effect->helper]);
    if (effect->multicast)
        text_str(to, STR(", multicast"));
    for (uint8_t i = 0; i < effect->like_count && i < EFFECT_MOST_LIKE; i++)
        print_with(i ? " and " : " as ", effect->like[i], to);
    if (effect->pair)
        text_str(to, STR(", by a pair of CTAs"));
    print_with(", in CTA ", effect->rank, to);
    if (effect->from_some)
        text_addf(to, ", from CTAs %lld", (long long)effect->from_ctas);
    if (effect->to_ctas)
        text_addf(to, ", to CTAs %lld", (long long)effect->to_ctas);
    print_with(", where ", effect->mask, to);
    print_with(", if ", effect->predicate, to);
    print_with(" and ", effect->second_predicate, to);
}
