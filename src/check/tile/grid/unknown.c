/* Accesses whose bytes are not known: addresses or masks that are data, numbers taken for pointers, descriptors that is
 * not described.
 *
 * Not each of them matters. Pointers to an argument stay in its memory, so that an access through one can only meet
 * what touches the same argument; and what is only read, by one CTA alone, or by atomics alone, cannot race. A write
 * through a number can hit anything that another CTA touches. Where only the mask is not known, the access can touch no
 * more than it would without one: if that is ordered with what others do, so is what it does. */
#include "check/tile/grid/internal.h"

/* Behind the areas: what lies in none; and the memory of each parameter that the launch does not describe, which is
 * taken to be its own. */
static uint32_t slot_elsewhere(const GlobalCheck *run) {
    return area_count(run);
}

uint32_t area_slots(const GlobalCheck *run) {
    return slot_elsewhere(run) + 1 + MOST_ROOTS;
}

static AreaUse *use_of(const GlobalCheck *run, uint32_t launch, uint32_t area) {
    return &run->uses[(size_t)launch * area_slots(run) + area];
}

void unknown_start(GlobalCheck *run) {
    run->uses = ARENA_ARRAY(run->arena, AreaUse, (size_t)run->launch_sequence.count * area_slots(run) + 1);
}

/* ---- Uses ----------------------------------------------------------------------------------------- */

uint8_t use_kind(const Event *event) {
    const Effect *effect = &event->effect->effect;
    bool reads = effect->verb == EFFECT_READ || (effect->verb == EFFECT_UPDATE && !event->stored);
    uint8_t how = effect->order != ORDER_WEAK && effect->scope >= SCOPE_GPU ? USE_ATOMIC : reads ? USE_READ : USE_WRITE;
    return (uint8_t)(how | (effect->done != DONE_NOW ? USE_ASYNC : 0));
}

/* A partition of a CTA: what two of them do is ordered no more than what two CTAs do. */
static uint64_t actor_of(const GridEvent *event) {
    return (uint64_t)event->cta << 32 | event->event->agent;
}

static void add_use(AreaUse *use, uint8_t how, uint64_t actor) {
    use->by_several |= use->how && use->actor != actor;
    if (!use->how)
        use->actor = actor;
    use->how |= how;
}

void unknown_use(GlobalCheck *run, const GridEvent *event, uint32_t area) {
    add_use(use_of(run, event->launch, area), use_kind(event->event), actor_of(event));
}

/* Those of the launch's own arguments. */
void visit_areas(GlobalCheck *run, const UnknownAccess *unknown, VisitArea *visit, void *context) {
    const GridLaunch *launch = &run->launch_sequence.launches[unknown->launch];
    if (unknown->roots.elsewhere)
        visit(run, slot_elsewhere(run), context);
    for (uint32_t i = 0; i < launch->program->parameter_count && i < MOST_ROOTS; i++) {
        if (!(unknown->roots.parameters >> i & 1))
            continue;
        const Argument *argument = launch_find(launch->launch, str_of(launch->program->parameters[i].name));
        visit(run, argument && argument->address ? global_area_number(argument->address) : slot_elsewhere(run) + 1 + i,
              context);
    }
}

typedef struct UnknownUse {
    uint32_t launch;
    uint64_t actor;
    uint8_t how;
} UnknownUse;

static void use_area(GlobalCheck *run, uint32_t area, void *context) {
    const UnknownUse *use = context;
    add_use(use_of(run, use->launch, area), use->how, use->actor);
}

static Roots roots_of(const GlobalCheck *run, const GridEvent *event) {
    const Program *program = run->programs[run->launch_sequence.inputs[event->launch]];
    return address_roots(program, event->event->effect->effect.on);
}

/* NULL: there are enough of them to tell. */
static UnknownAccess *unknown_at(GlobalCheck *run, const GridEvent *event, const char *reason) {
    uint32_t site = site_of(run, event), i = 0;
    while (i < run->unknown_count && (run->unknown[i].site != site || run->unknown[i].launch != event->launch))
        i++;
    if (i == MOST_FOUND)
        return NULL;
    UnknownAccess *unknown = &run->unknown[i];
    if (i == run->unknown_count)
        run->unknown[run->unknown_count++] =
            (UnknownAccess){.site = site, .launch = event->launch, .reason = reason, .roots = roots_of(run, event)};
    unknown->times++;
    unknown->how |= use_kind(event->event);
    return unknown;
}

UnknownAccess *unknown_keep(GlobalCheck *run, const GridEvent *event, const char *reason) {
    UnknownUse use = {event->launch, actor_of(event), use_kind(event->event)};
    UnknownAccess *unknown = unknown_at(run, event, reason);
    if (unknown) {
        unknown->loose = true;
        visit_areas(run, unknown, use_area, &use);
    }
    return unknown;
}

UnknownAccess *unknown_keep_mask(GlobalCheck *run, const GridEvent *event) {
    UnknownAccess *unknown = unknown_at(run, event, "its mask is not known");
    if (unknown)
        unknown->masked = true;
    else /* one that is reported stands for it */
        run->unknown[0].met = true;
    return unknown;
}

bool unknown_meets(GlobalCheck *run, const GsanRace *race) {
    bool met = false;
    for (uint32_t i = 0; i < run->unknown_count; i++) {
        UnknownAccess *unknown = &run->unknown[i];
        bool is_it =
            unknown->masked && ((unknown->site == race->earlier.site && unknown->launch == race->earlier.launch) ||
                                (unknown->site == race->later.site && unknown->launch == race->later.launch));
        unknown->met |= is_it;
        met |= is_it;
    }
    return met;
}

/* ---- What matters --------------------------------------------------------------------------------- */

static bool has_ended_before(const GridLaunch *launch, uint32_t other) {
    for (uint32_t i = 0; i < launch->after_count; i++)
        if (launch->after[i] == other)
            return true;
    return false;
}

bool uses_can_race(uint8_t how) {
    return how & USE_WRITE || (how & USE_ATOMIC && how & USE_READ);
}

typedef struct UnknownBarrierInstance {
    const UnknownAccess *unknown;
    AreaUse all; /* that can meet it */
} UnknownBarrierInstance;

static void overlap_area(GlobalCheck *run, uint32_t area, void *context) {
    UnknownBarrierInstance *barrier_instance = context;
    uint32_t own = barrier_instance->unknown->launch;
    for (uint32_t i = 0; i < run->launch_sequence.count; i++) {
        const AreaUse *use = use_of(run, i, area);
        bool apart = i != own && (has_ended_before(&run->launch_sequence.launches[own], i) ||
                                  has_ended_before(&run->launch_sequence.launches[i], own));
        if (!use->how || apart)
            continue;
        barrier_instance->all.by_several |=
            use->by_several || (barrier_instance->all.how && (i != own || barrier_instance->all.actor != use->actor));
        /* One CTA's copies through a descriptor are taken to go to different places. */
        barrier_instance->all.how |= area > slot_elsewhere(run) ? use->how & ~USE_ASYNC : use->how;
        barrier_instance->all.actor = use->actor;
    }
}

static bool unknown_matters(GlobalCheck *run, const UnknownAccess *unknown) {
    UnknownBarrierInstance barrier_instance = {.unknown = unknown};
    if (!unknown->loose || unknown->met || unknown->threads)
        return unknown->met || unknown->threads;
    if (unknown->roots.elsewhere)
        for (uint32_t area = 0; area < area_slots(run); area++)
            overlap_area(run, area, &barrier_instance);
    else
        visit_areas(run, unknown, overlap_area, &barrier_instance);
    const Program *program = run->launch_sequence.launches[unknown->launch].program;
    if (run->options->uniform && barrier_instance.all.how == USE_WRITE && program->ctas == 1 &&
        program->agents_per_cta == 1)
        return false;
    return (barrier_instance.all.by_several || barrier_instance.all.how & USE_ASYNC) &&
           uses_can_race(barrier_instance.all.how);
}

static const char *unknown_text(const GlobalCheck *run, const UnknownAccess *unknown, bool more) {
    Verdict *verdict = run->kernels[site_kernel(run, unknown->site)].verdict;
    Text text = {0};
    site_name(run, unknown->site, &text);
    return verdict_text(verdict, "races in global memory were not checked in %s%s: %s", verdict_keep(verdict, &text),
                        more ? " and the like" : "", unknown->reason);
}

static bool report_one(GlobalCheck *run, size_t kernel, bool writes, bool matters) {
    const UnknownAccess *first = NULL;
    uint64_t times = 0;
    for (uint32_t i = 0; i < run->unknown_count; i++) {
        const UnknownAccess *unknown = &run->unknown[i];
        if (site_kernel(run, unknown->site) != kernel || !!(unknown->how & (USE_WRITE | USE_ATOMIC)) != writes ||
            unknown_matters(run, unknown) != matters)
            continue;
        first = first ? first : unknown;
        times += unknown->times;
    }
    if (!first)
        return false;
    const char *text = unknown_text(run, first, times > 1);
    if (matters)
        site_incomplete(
            run, first->site,
            verdict_text(run->kernels[kernel].verdict, "%s; give the data or the memory in a launch file", text));
    else
        verdict_note(run->kernels[kernel].verdict, "%s", text); /* and it does not matter */
    return true;
}

void unknown_report(GlobalCheck *run) {
    for (size_t kernel = 0; kernel < run->count; kernel++)
        if (!report_one(run, kernel, true, true) && !report_one(run, kernel, false, true) &&
            !report_one(run, kernel, false, false))
            report_one(run, kernel, true, false);
}
