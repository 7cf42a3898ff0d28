/* What threads write to global memory and copies then read, in one launch: the TMA unit reads through the async
 * proxy, and sees what threads wrote only behind a proxy fence for global memory, whatever orders the two in time.
 *
 * Writes are kept of areas that are copied from as well, which is known after a run; then it is made again. What was
 * written before the launch needs no fence. */
#include "check/tile/grid/internal.h"

enum {
    MOST_WRITES = 1 << 12,
    AREA_COPIED = 1,
    AREA_STORED = 2,
    FIRST_PROBE = 1 << 30 /* sites that no instruction has */
};
static const uint64_t probe_begin = UINT64_C(1) << 60, probe_size = 16; /* memory that no kernel has */

/* By threads, and not overwritten since. */
struct GlobalWrite {
    uint32_t launch, cta, agent, site;
    uint64_t cluster;
    Bytes bytes;
    bool live;
    bool fenced; /* by the threads that wrote */
    /* CTAs, modulo 64, that have executed a fence since: a reader does so behind what it has waited for. */
    uint64_t readers;
};

void proxies_set_up(GlobalCheck *run) {
    for (size_t i = 0; i < run->count; i++)
        for (uint32_t k = 0; k < run->programs[i]->effect_count; k++) {
            const Effect *effect = &run->programs[i]->effects[k].effect;
            run->copies_in |= effect_is_access(effect) && effect->space == SPACE_GLOBAL &&
                              effect->proxy == PROXY_ASYNC && effect->verb != EFFECT_WRITE;
        }
    run->proxied = ARENA_ARRAY(run->arena, uint8_t, area_count(run) + 1);
    run->mixed = ARENA_ARRAY(run->arena, bool, area_count(run) + 1);
}

bool proxies_left_out(GlobalCheck *run) {
    bool any = false;
    for (uint32_t i = 0; i < area_count(run); i++) {
        bool mixed = run->proxied[i] == (AREA_COPIED | AREA_STORED);
        any |= mixed && !run->mixed[i];
        run->mixed[i] |= mixed;
        run->proxied[i] = 0;
    }
    return any;
}

/* Whether it is an access to an area of which writes are kept. */
static bool is_kept(GlobalCheck *run, const Effect *effect, const Bytes *bytes) {
    uint32_t area = bytes->count ? area_number(run, bytes->runs[0].begin) : NO_AREA;
    if (!run->copies_in || effect->proxy == PROXY_TENSORMAP || area == NO_AREA)
        return false;
    if (effect->proxy == PROXY_ASYNC)
        run->proxied[area] |= effect->verb == EFFECT_WRITE ? 0 : AREA_COPIED;
    else
        run->proxied[area] |= effect->verb == EFFECT_READ ? 0 : AREA_STORED;
    return run->mixed[area];
}

/* ---- Writes --------------------------------------------------------------------------------------- */

/* An agent that sees the new bytes need not see the old ones. */
static void cover(GlobalCheck *run, const Bytes *bytes) {
    for (uint32_t i = 0; i < run->write_count; i++)
        if (run->writes[i].live && bytes_contain(bytes, &run->writes[i].bytes))
            run->writes[i].live = false;
}

static void keep(GlobalCheck *run, const GridEvent *event, const Bytes *bytes) {
    uint32_t at = 0;
    while (at < run->write_count && run->writes[at].live)
        at++;
    if (at == MOST_WRITES) {
        run->writes_left_out = true;
        return;
    }
    if (at == run->write_count)
        (void)ARENA_PUSH(run->arena, run->writes, run->write_count, run->write_capacity);
    GlobalWrite *write = &run->writes[at];
    *write = (GlobalWrite){.launch = event->launch,
                           .cta = event->cta,
                           .agent = event->event->agent,
                           .site = site_of(run, event),
                           .cluster = event->cluster,
                           .bytes = *bytes,
                           .live = true};
    write->bytes.runs = ARENA_ARRAY(run->arena, Run, bytes->count);
    memcpy(write->bytes.runs, bytes->runs, bytes->count * sizeof *bytes->runs);
}

/* ---- What comes after what ------------------------------------------------------------------------- */

/* The engine knows what is ordered, and is asked by an access to a word of each write: its fence writes there, and a
 * copy that comes behind the fence can read that without a race. */
static bool probe(GlobalCheck *run, const GlobalWrite *write, uint32_t thread, AccessKind kind) {
    uint64_t at = probe_begin + (uint64_t)(write - run->writes) * probe_size;
    run->probing = true;
    unsigned races = gsan_access(run->gsan, thread, FIRST_PROBE + run->probes++ % FIRST_PROBE, kind, ORDER_WEAK,
                                 SCOPE_NONE, GSAN_NO_TICKET, at, at + probe_size);
    run->probing = false;
    return !races;
}

static bool is_fenced(GlobalCheck *run, const GridEvent *event, const GlobalWrite *write, uint32_t thread) {
    if (write->readers >> event->cta % 64 & 1)
        return true;
    return write->fenced && (write->cta == event->cta || probe(run, write, thread, KIND_READ));
}

/* ---- Reads ---------------------------------------------------------------------------------------- */

static void find(GlobalCheck *run, const GridEvent *event, const GlobalWrite *write, const Bytes *bytes) {
    uint32_t site = site_of(run, event);
    step_is_wrong(run, RULE_FENCE_GLOBAL);
    for (uint32_t i = 0; i < run->found.unfenced_count; i++)
        if (run->found.unfenced[i].site == site && run->found.unfenced[i].write_site == write->site) {
            run->found.unfenced[i].times++;
            return;
        }
    if (run->found.unfenced_count < MOST_FOUND)
        run->found.unfenced[run->found.unfenced_count++] = (FoundUnfenced){.launch = event->launch,
                                                                           .cta = event->cta,
                                                                           .site = site,
                                                                           .write_cta = write->cta,
                                                                           .write_site = write->site,
                                                                           .address = bytes->runs[0].begin,
                                                                           .times = 1};
}

void proxies_access(GlobalCheck *run, const GridEvent *event, uint32_t thread, const Bytes *bytes) {
    const Effect *effect = &event->event->effect->effect;
    bool async = effect->proxy == PROXY_ASYNC;
    if (!is_kept(run, effect, bytes))
        return;
    for (uint32_t i = 0; async && effect->verb != EFFECT_WRITE && i < run->write_count; i++) {
        const GlobalWrite *write = &run->writes[i];
        if (write->live && write->launch == event->launch && bytes_overlap(&write->bytes, bytes) &&
            !is_fenced(run, event, write, thread))
            find(run, event, write, bytes);
    }
    if (effect->verb == EFFECT_READ || (effect->verb == EFFECT_UPDATE && !event->event->stored))
        return;
    cover(run, bytes);
    if (!async)
        keep(run, event, bytes);
}

void proxies_read(GlobalCheck *run, const Effect *effect, uint32_t area) {
    if (effect->proxy == PROXY_ASYNC)
        run->proxied[area] |= AREA_COPIED;
}

void proxies_fence(GlobalCheck *run, const GridEvent *event, uint32_t thread) {
    const Effect *effect = &event->event->effect->effect;
    if (effect->verb != EFFECT_FENCE_PROXY || effect->proxy != PROXY_ASYNC || effect->space == SPACE_SHARED)
        return;
    for (uint32_t i = 0; i < run->write_count; i++) {
        GlobalWrite *write = &run->writes[i];
        bool own =
            write->launch == event->launch && write->cluster == event->cluster && write->agent == event->event->agent;
        if (write->live && own && !write->fenced) {
            write->fenced = true;
            (void)probe(run, write, thread, KIND_WRITE);
        } else if (!own) {
            write->readers |= UINT64_C(1) << event->cta % 64;
        }
    }
}

bool proxies_raced(const GlobalCheck *run, const FoundUnfenced *found) {
    for (uint32_t i = 0; i < run->found.race_count; i++)
        if (run->found.races[i].race.earlier.site == found->write_site &&
            run->found.races[i].race.later.site == found->site)
            return true;
    return false;
}
