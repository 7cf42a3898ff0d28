/* An effect of PTX as one line of text, in the words that effects of ops are printed with. */
#include "model/effect/internal.h"
#include "model/effect/ptx_column.h"

typedef struct PtxPrintPrinting {
    const PtxEffect *effect;
    const PtxNames *names;
    Text *to;
} PtxPrintPrinting;

/* Nothing if there is no such operand. */
static bool add_operand(const PtxPrintPrinting *p, const char *before, Str name) {
    return name.size && p->names->print(p->names->context, name, before, p->to);
}

static void add_word(const PtxPrintPrinting *p, const char *word) {
    if (word)
        text_addf(p->to, " %s", word);
}

static void add_if(const PtxPrintPrinting *p, bool wanted, const char *text) {
    if (wanted)
        text_str(p->to, str_of(text));
}

/* "3", the operand that says it, or nothing if that is missing. */
static void add_count(const PtxPrintPrinting *p, const char *before, const char *unit) {
    bool any = add_operand(p, before, p->effect->count);
    if (!p->effect->count.size && p->effect->effect.count) {
        text_addf(p->to, "%s%lld", before, (long long)p->effect->effect.count);
        any = true;
    }
    add_word(p, any ? unit : NULL);
}

static void print_quantity(const PtxPrintPrinting *p) {
    const Effect *effect = &p->effect->effect;
    switch (effect->verb) {
    case EFFECT_READ:
    case EFFECT_WRITE:
    case EFFECT_UPDATE:
    case EFFECT_EXPECT:
    case EFFECT_EXPECT_BYTES:
    case EFFECT_COMPLETE:
        add_count(p, " ", "bytes");
        add_operand(p, ", no more than ", p->effect->limit);
        add_operand(p, " the bytes of a box of ", p->effect->boxes);
        break;
    case EFFECT_INIT:
    case EFFECT_ARRIVE:
        add_count(p, " count ", NULL);
        break;
    case EFFECT_WAIT:
        add_operand(p, p->effect->by_state ? " state " : " parity ", p->effect->phase);
        break;
    case EFFECT_AWAIT:
        if (!add_operand(p, " down to ", p->effect->count))
            text_addf(p->to, " down to %lld", (long long)effect->count);
        break;
    case EFFECT_NAMED_ARRIVE:
    case EFFECT_NAMED_SYNC:
        add_count(p, " threads ", NULL);
        break;
    case EFFECT_ALLOCATE:
    case EFFECT_FREE:
        add_count(p, " ", "columns");
        break;
    case EFFECT_REGISTERS:
        add_count(p, " ", NULL);
        break;
    default:
        break;
    }
}

static void print_subject(const PtxPrintPrinting *p) {
    const Effect *effect = &p->effect->effect;
    static const char *const spans[] = {[PTX_WARP] = "warp", [PTX_WARPGROUP] = "warpgroup"};
    text_str(p->to, str_of(effect_verb_words[effect->verb]));
    add_word(p, spans[p->effect->together]);
    if (effect->verb == EFFECT_COMMIT || effect->verb == EFFECT_AWAIT)
        add_word(p, effect_group_words[effect->group]);
    add_if(p, effect->on_descriptor, " the tile of");
    add_if(p, p->effect->matrix, " the matrix at");
    add_operand(p, " ", p->effect->on);
    if (!effect_is_barrier(effect))
        add_word(p, p->effect->memory ? "memory" : effect_space_words[effect->space]);
    if (effect->proxy != PROXY_GENERIC)
        add_word(p, effect_proxy_words[effect->proxy]);
    if (effect->order != ORDER_WEAK)
        add_word(p, effect_order_words[effect->order]);
    add_word(p, effect_scope_words[effect->scope]);
}

static void print_data(const PtxPrintPrinting *p) {
    static const char *const others[] = {
        [ATOMIC_CAS] = "cas", [ATOMIC_INCREMENT] = "inc", [ATOMIC_DECREMENT] = "dec", [ATOMIC_OTHER] = NULL};
    const char *word = effect_atomic_words[p->effect->effect.atomic];
    add_word(p, word ? word : others[p->effect->effect.atomic]);
    add_operand(p, " value ", p->effect->value);
    add_operand(p, " compare ", p->effect->compare);
    add_operand(p, " gives ", p->effect->gives);
    add_if(p, p->effect->effect.gives_up, " or gives up");
    add_operand(p, " stride ", p->effect->stride);
    if (p->effect->lanes)
        text_addf(p->to, " from the first %u lanes", p->effect->lanes);
}

static void print_orders(const PtxPrintPrinting *p) {
    for (int space = SPACE_SHARED, any = 0; space <= SPACE_GLOBAL; space++)
        if (p->effect->effect.spaces >> space & 1)
            text_addf(p->to, "%s %s", any++ ? "," : " orders", effect_space_words[space]);
}

static void print_completion(const PtxPrintPrinting *p) {
    const Effect *effect = &p->effect->effect;
    bool arrival = effect->verb == EFFECT_ARRIVE;
    if (effect->done == DONE_TX)
        add_operand(p, ", completes on ", p->effect->through);
    else if (effect->done == DONE_GROUP)
        text_addf(p->to, ", completes with its %s group", effect_group_words[effect->group]);
    add_if(p, effect->done == DONE_COMMIT,
           arrival ? ", once its tensor core work is done" : ", completes with a commit");
    add_if(p, effect->done == DONE_COPIES, ", once its copies are done");
    add_if(p, effect->no_increment, ", not announced");
    add_if(p, effect->done == DONE_END, ", completes with its CTA");
    if (effect->helper != HELPER_BASE)
        text_addf(p->to, ", by %s", effect_helper_words[effect->helper]);
}

static void print_flags(const PtxPrintPrinting *p) {
    const PtxEffect *effect = p->effect;
    add_if(p, effect->effect.sources, ", sources only");
    add_if(p, effect->effect.relaxed, ", relaxed");
    add_if(p, effect->sequential, ", sequentially consistent");
    add_if(p, effect->inits, ", of initializations");
    add_if(p, effect->drops, ", for the last time");
    add_if(p, effect->no_complete, ", not completing the phase");
    add_if(p, effect->read_only, ", read-only");
    add_if(p, effect->replicas, ", in all replicas");
    add_if(p, effect->any_cta, ", in any CTA");
    add_if(p, effect->effect.multicast, ", multicast");
    add_operand(p, " to ", effect->ctas);
    add_if(p, effect->effect.pair, ", by a pair of CTAs");
}

void ptx_effect_print(const PtxEffect *effect, const PtxNames *names, Text *to) {
    PtxPrintPrinting p = {effect, names, to};
    print_subject(&p);
    print_quantity(&p);
    print_data(&p);
    print_orders(&p);
    print_completion(&p);
    print_flags(&p);
}
