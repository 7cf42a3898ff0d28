/* Numbered barriers: what those that use the same one have to agree on. */
#include "check/lint/ptx/internal.h"

#include <inttypes.h>

enum { IDS = 16, MOST_COUNTS = 8 };

/* All that waits at one barrier. */
typedef struct NamedBarrierUse {
    int64_t counts[MOST_COUNTS]; /* different ones */
    unsigned count;
    bool more;       /* there are others */
    bool plain;      /* one of them is no reduction */
    uint32_t waiter; /* the statement of one; PTX_NONE: nothing waits */
} NamedBarrierUse;

static bool is_named(const Act *act) {
    return effect_is_named(&act->effect->effect);
}

/* The barrier and the threads of an act; false: not known. */
static bool read_named(const PtxLint *lint, const Act *act, int64_t *id, int64_t *threads) {
    *threads = lint->header.threads;
    if (!number_of(lint, act->on, id) || *id < 0 || *id >= IDS)
        return false;
    return act->count == PTX_NONE ? *threads > 0 : number_of(lint, act->count, threads);
}

static void add_waiter(const PtxLint *lint, NamedBarrierUse *named, const Act *act, int64_t threads) {
    const PtxForm *form = ptx_form(lint, act->statement);
    unsigned i = 0;
    while (i < named->count && named->counts[i] != threads)
        i++;
    if (i == MOST_COUNTS)
        named->more = true;
    else if (i == named->count)
        named->counts[named->count++] = threads;
    named->plain |= ptx_form_modifier(form->row, form->text, STR("op")).size == 0;
    named->waiter = act->statement;
}

/* False: a number is not known, and it may be any of them. */
static bool gather(const PtxLint *lint, NamedBarrierUse named[IDS]) {
    for (unsigned i = 0; i < IDS; i++)
        named[i] = (NamedBarrierUse){.waiter = PTX_NONE};
    for (uint32_t i = 0; i < lint->act_count; i++) {
        int64_t id, threads;
        if (!is_named(&lint->acts[i]))
            continue;
        if (!read_named(lint, &lint->acts[i], &id, &threads))
            return false;
        if (lint->acts[i].effect->effect.verb == EFFECT_NAMED_SYNC)
            add_waiter(lint, &named[id], &lint->acts[i], threads);
    }
    return true;
}

static bool has_count(const NamedBarrierUse *named, int64_t threads) {
    for (unsigned i = 0; i < named->count; i++)
        if (named->counts[i] == threads)
            return true;
    return named->more;
}

void ptx_named(PtxLint *lint) {
    NamedBarrierUse named[IDS];
    if (lint->reach.unknown != PTX_NONE || lint->reach.calls || !gather(lint, named))
        return;
    for (uint32_t i = 0; i < lint->act_count; i++) {
        const Act *act = &lint->acts[i];
        int64_t id, threads;
        if (act->effect->effect.verb != EFFECT_NAMED_ARRIVE || !read_named(lint, act, &id, &threads) ||
            named[id].waiter == PTX_NONE)
            continue;
        Finding *finding = NULL;
        if (!has_count(&named[id], threads))
            finding = ptx_find(lint, RULE_NAMED_COUNT, act->statement,
                               "arrives at barrier %" PRId64 " for %" PRId64
                               " threads, and no wait at that barrier has this count",
                               id, threads);
        else if (!named[id].plain)
            finding = ptx_find(lint, RULE_NAMED_REDUCTION, act->statement,
                               "arrives at barrier %" PRId64 ", at which only reductions wait", id);
        ptx_other(lint, finding, "waits", named[id].waiter);
    }
}
