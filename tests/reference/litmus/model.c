/* The axioms of PTX's memory model (PTX ISA, chapter 8) on one candidate execution: coherence, fence-SC, atomicity, no
 * thin air, causality, with proxies. Coherence order is partial; nothing asks for more of it than causality and morally
 * strong writes do, so for each direction of the latter the smallest order is looked at: more of it can only forbid. */
#include "litmus.h"

#include <string.h>

typedef struct Model {
    const Execution *execution;
    int count;
    uint64_t reads, writes, accesses, fences, barriers, strong, generic;
    Relation po, vloc, loc, proxy, cta, strongly, rf, observation, base, cause, dependency;
} Model;

static uint64_t bit(int event) {
    return UINT64_C(1) << event;
}

static bool has(const Relation *relation, int a, int b) {
    return (relation->rows[a] >> b & 1) != 0;
}

static void add(Relation *relation, int a, int b) {
    relation->rows[a] |= bit(b);
}

static Relation compose(const Relation *first, const Relation *second, int count) {
    Relation made = {{0}};
    for (int a = 0; a < count; a++) {
        for (uint64_t left = first->rows[a]; left != 0; left &= left - 1) {
            made.rows[a] |= second->rows[__builtin_ctzll(left)];
        }
    }
    return made;
}

static Relation invert(const Relation *relation, int count) {
    Relation made = {{0}};
    for (int a = 0; a < count; a++) {
        for (uint64_t left = relation->rows[a]; left != 0; left &= left - 1) {
            add(&made, __builtin_ctzll(left), a);
        }
    }
    return made;
}

static Relation either(const Relation *first, const Relation *second) {
    Relation made;
    for (int a = 0; a < MAX_EVENTS; a++) {
        made.rows[a] = first->rows[a] | second->rows[a];
    }
    return made;
}

static Relation both(const Relation *first, const Relation *second) {
    Relation made;
    for (int a = 0; a < MAX_EVENTS; a++) {
        made.rows[a] = first->rows[a] & second->rows[a];
    }
    return made;
}

/* From `from` to `to` alone. */
static Relation between(const Relation *relation, uint64_t from, uint64_t to) {
    Relation made;
    for (int a = 0; a < MAX_EVENTS; a++) {
        made.rows[a] = (from >> a & 1) != 0 ? relation->rows[a] & to : 0;
    }
    return made;
}

static void close(Relation *relation, int count) {
    for (int k = 0; k < count; k++) {
        for (int a = 0; a < count; a++) {
            if (has(relation, a, k)) {
                relation->rows[a] |= relation->rows[k];
            }
        }
    }
}

static bool irreflexive(const Relation *relation, int count) {
    for (int a = 0; a < count; a++) {
        if (has(relation, a, a)) {
            return false;
        }
    }
    return true;
}

/* ---- What an execution says by itself ---- */

static bool scope_has(const Test *test, const Event *event, int thread) {
    const Thread *own = &test->threads[event->thread], *other = &test->threads[thread];
    switch (event->scope) {
    case SCOPE_CTA:
        return own->cta == other->cta && own->gpu == other->gpu;
    case SCOPE_GPU:
        return own->gpu == other->gpu;
    case SCOPE_SYS:
        return true;
    default:
        return false;
    }
}

static bool is_access(const Event *event) {
    return event->kind == EVENT_READ || event->kind == EVENT_WRITE;
}

static void sort_events(Model *model) {
    for (int i = 0; i < model->count; i++) {
        const Event *event = &model->execution->events[i];
        model->reads |= event->kind == EVENT_READ ? bit(i) : 0;
        model->writes |= event->kind == EVENT_WRITE ? bit(i) : 0;
        model->fences |= event->kind == EVENT_FENCE ? bit(i) : 0;
        model->barriers |= event->kind == EVENT_BARRIER ? bit(i) : 0;
        bool strong = is_access(event) ? event->order != ORDER_WEAK : event->kind == EVENT_FENCE && event->memory;
        model->strong |= strong ? bit(i) : 0;
        bool generic = event->proxy == PROXY_GENERIC && (is_access(event) || strong);
        model->generic |= generic ? bit(i) : 0;
    }
    model->accesses = model->reads | model->writes;
}

static void relate_pair(Model *model, int a, int b) {
    const Test *test = model->execution->test;
    const Event *first = &model->execution->events[a], *second = &model->execution->events[b];
    const Thread *one = &test->threads[first->thread], *other = &test->threads[second->thread];
    bool same_thread = first->thread == second->thread;
    bool accesses = is_access(first) && is_access(second);
    if (same_thread && a < b) {
        add(&model->po, a, b);
    }
    if (one->cta == other->cta && one->gpu == other->gpu) {
        add(&model->cta, a, b);
    }
    if (accesses && test->places[first->place].virtual == test->places[second->place].virtual) {
        add(&model->vloc, a, b);
    }
    if (accesses && test->places[first->place].location == test->places[second->place].location) {
        add(&model->loc, a, b);
    }
    bool same_proxy = first->proxy == second->proxy && first->proxy != PROXY_NONE;
    if (same_proxy) {
        add(&model->proxy, a, b);
    }
    bool scopes = (model->strong >> a & 1) != 0 && (model->strong >> b & 1) != 0 &&
                  scope_has(test, first, second->thread) && scope_has(test, second, first->thread);
    if (a != b && (same_thread || scopes) && same_proxy && (!accesses || has(&model->vloc, a, b))) {
        add(&model->strongly, a, b);
    }
}

static void relate(Model *model) {
    for (int a = 0; a < model->count; a++) {
        for (int b = 0; b < model->count; b++) {
            if (model->execution->events[a].kind != EVENT_INIT && model->execution->events[b].kind != EVENT_INIT) {
                relate_pair(model, a, b);
            }
        }
    }
    for (int i = 0; i < model->count; i++) {
        const Event *event = &model->execution->events[i];
        int first = event->kind == EVENT_INIT ? 0 : model->execution->first[event->thread];
        if (event->kind == EVENT_READ) {
            add(&model->rf, model->execution->from[i], i);
            if (event->partner >= 0) {
                add(&model->observation, i, first + event->partner);
            }
        }
        for (uint64_t left = event->depends; left != 0; left &= left - 1) {
            add(&model->dependency, first + __builtin_ctzll(left), i);
        }
    }
    Relation read = both(&model->rf, &model->strongly);
    model->observation = either(&model->observation, &read);
    close(&model->observation, model->count);
}

static uint64_t with_order(const Model *model, uint64_t of, Order one, Order other) {
    uint64_t made = 0;
    for (uint64_t left = of; left != 0; left &= left - 1) {
        int i = __builtin_ctzll(left);
        Order order = model->execution->events[i].order;
        made |= order == one || order == other ? bit(i) : 0;
    }
    return made;
}

/* Release patterns: a release, or one followed by a strong write of the same thread to the same place, or a fence that
 * is followed by a strong write. Acquire patterns are their mirror image. */
static Relation synchronizes(const Model *model) {
    int n = model->count;
    Relation same_place = both(&model->po, &model->vloc), sync = {{0}};
    for (int i = 0; i < n; i++) {
        add(&same_place, i, i);
    }
    uint64_t strong_writes = model->writes & model->strong, strong_reads = model->reads & model->strong;
    uint64_t fences = model->fences & model->strong;
    Relation release =
        between(&same_place, with_order(model, model->writes, ORDER_RELEASE, ORDER_RELEASE), strong_writes);
    Relation fenced = between(&model->po, fences, strong_writes);
    release = either(&release, &fenced);
    Relation acquire =
        between(&same_place, strong_reads, with_order(model, model->reads, ORDER_ACQUIRE, ORDER_ACQUIRE));
    fenced = between(&model->po, strong_reads, fences);
    acquire = either(&acquire, &fenced);
    sync = compose(&release, &model->observation, n);
    sync = compose(&sync, &acquire, n);
    return both(&sync, &model->strongly);
}

/* Barriers: those that are waited for are before all that wait. */
static void add_barriers(const Model *model, Relation *to) {
    const Execution *execution = model->execution;
    for (uint64_t i = model->barriers & execution->synced; i != 0; i &= i - 1) {
        int a = __builtin_ctzll(i);
        const Event *first = &execution->events[a];
        int instance = execution->test->threads[first->thread].code[first->instruction].instance;
        for (uint64_t k = model->barriers; k != 0; k &= k - 1) {
            int b = __builtin_ctzll(k);
            const Event *second = &execution->events[b];
            const Instruction *code = &execution->test->threads[second->thread].code[second->instruction];
            if (a != b && has(&model->cta, a, b) && !code->arrive && code->instance == instance &&
                first->value == second->value) {
                add(to, a, b);
            }
        }
    }
}

static Relation fence_order(const Model *model) {
    const Execution *execution = model->execution;
    Relation made = {{0}};
    for (int i = 0; i < execution->fence_count; i++) {
        for (int k = i + 1; k < execution->fence_count; k++) {
            if (has(&model->strongly, execution->fences[i], execution->fences[k])) {
                add(&made, execution->fences[i], execution->fences[k]);
            }
        }
    }
    return made;
}

/* Base causality order, as far as proxies leave of it. */
static Relation preserved(const Model *model) {
    int n = model->count;
    const Relation *base = &model->base;
    uint64_t alias = 0, proxy_fences = model->fences & ~model->strong;
    for (uint64_t left = model->fences; left != 0; left &= left - 1) {
        int i = __builtin_ctzll(left);
        alias |= model->execution->events[i].alias ? bit(i) : 0;
    }
    Relation near = both(&model->proxy, &model->cta);
    Relation out = between(&near, model->accesses, proxy_fences), in = between(&near, proxy_fences, model->accesses);
    out = both(base, &out), in = both(base, &in);
    Relation from_proxy = compose(&out, base, n), to_proxy = compose(base, &in, n),
             across = compose(&from_proxy, &in, n);
    Relation generic = between(base, model->generic, model->generic);
    Relation same = both(&near, base);
    same = between(&same, model->accesses, model->accesses);
    from_proxy = between(&from_proxy, ~UINT64_C(0), model->generic);
    to_proxy = between(&to_proxy, model->generic, ~UINT64_C(0));
    Relation made = either(&generic, &same);
    made = either(&made, &from_proxy);
    made = either(&made, &to_proxy);
    made = either(&made, &across);
    made = both(&made, &model->vloc);
    /* with a fence of aliases between, any name of the location will do */
    Relation before = between(base, ~UINT64_C(0), alias), after = between(base, alias, ~UINT64_C(0));
    Relation start = between(&before, model->generic, ~UINT64_C(0)), leave = compose(&out, &before, n);
    start = either(&start, &leave);
    Relation end = between(&after, ~UINT64_C(0), model->generic), enter = compose(&after, &in, n);
    end = either(&end, &enter);
    Relation aliased = compose(&start, &end, n);
    aliased = both(&aliased, &model->loc);
    return either(&made, &aliased);
}

static void order(Model *model) {
    int n = model->count;
    Relation sync = synchronizes(model), fences = fence_order(model);
    model->base = either(&model->po, &sync);
    model->base = either(&model->base, &fences);
    add_barriers(model, &model->base);
    close(&model->base, n);
    /* Observation order begins with a write (of an atomic access: with its second half). */
    Relation kept = preserved(model), seen = between(&model->observation, model->writes, model->reads);
    seen = compose(&seen, &kept, n);
    model->cause = either(&kept, &seen);
}

/* ---- Axioms ---- */

static bool thin_air(const Model *model) {
    Relation all = either(&model->rf, &model->dependency);
    close(&all, model->count);
    return !irreflexive(&all, model->count);
}

static bool fences_contradict(const Model *model) {
    Relation fences = fence_order(model), around = compose(&fences, &model->base, model->count);
    return !irreflexive(&around, model->count);
}

/* Coherence that must be: the first value before all others, and causality. */
static Relation coherence_start(const Model *model) {
    Relation made = between(&model->cause, model->writes, model->writes);
    made = both(&made, &model->loc);
    const Execution *execution = model->execution;
    for (int i = 0; i < model->count; i++) {
        if (execution->events[i].kind != EVENT_INIT) {
            continue;
        }
        for (uint64_t left = model->writes; left != 0; left &= left - 1) {
            int write = __builtin_ctzll(left);
            const Place *places = execution->test->places;
            if (places[execution->events[write].place].location == execution->events[i].place) {
                add(&made, i, write);
            }
        }
    }
    return made;
}

static bool consistent(const Model *model, const Relation *coherence) {
    int n = model->count;
    Relation back = invert(&model->rf, n), fr = compose(&back, coherence, n);
    Relation eye = either(&model->rf, &fr), round = compose(&eye, &model->cause, n);
    if (!irreflexive(&round, n)) {
        return false;
    }
    Relation first = both(&fr, &model->strongly), second = both(coherence, &model->strongly);
    Relation between_halves = compose(&first, &second, n);
    for (int i = 0; i < n; i++) {
        const Event *event = &model->execution->events[i];
        if (event->kind == EVENT_READ && event->partner >= 0 &&
            has(&between_halves, i, model->execution->first[event->thread] + event->partner)) {
            return false;
        }
    }
    return true;
}

/* Gives each pair of morally strong writes that is still open a direction. */
static bool orient(const Model *model, Relation coherence, ModelFound *found, void *context) {
    close(&coherence, model->count);
    if (!irreflexive(&coherence, model->count)) {
        return false;
    }
    for (uint64_t i = model->writes; i != 0; i &= i - 1) {
        int a = __builtin_ctzll(i);
        uint64_t open = model->strongly.rows[a] & model->writes & model->loc.rows[a] & ~coherence.rows[a];
        for (; open != 0; open &= open - 1) {
            int b = __builtin_ctzll(open);
            if (has(&coherence, b, a)) {
                continue;
            }
            Relation one = coherence, other = coherence;
            add(&one, a, b);
            add(&other, b, a);
            return orient(model, one, found, context) || orient(model, other, found, context);
        }
    }
    Coherence made = {coherence};
    return consistent(model, &coherence) && found(context, model->execution, &made);
}

/* The event, and the other half of an atomic access: for causality order they are one operation. */
static uint64_t operation(const Model *model, int event) {
    const Event *at = &model->execution->events[event];
    return bit(event) | (at->partner >= 0 ? bit(model->execution->first[at->thread] + at->partner) : 0);
}

static bool caused(const Model *model, uint64_t from, uint64_t to) {
    for (; from != 0; from &= from - 1) {
        if ((model->cause.rows[__builtin_ctzll(from)] & to) != 0) {
            return true;
        }
    }
    return false;
}

/* Conflicts that are neither morally strong nor in causality order. */
static void find_races(const Model *model, Relation *races) {
    *races = (Relation){{0}};
    for (int a = 0; a < model->count; a++) {
        for (int b = a + 1; b < model->count; b++) {
            bool conflict = has(&model->loc, a, b) && ((model->writes >> a | model->writes >> b) & 1) != 0;
            if (!conflict || has(&model->strongly, a, b)) {
                continue;
            }
            uint64_t first = operation(model, a), second = operation(model, b);
            if (!caused(model, first, second) && !caused(model, second, first)) {
                add(races, a, b);
            }
        }
    }
}

bool model_check(const Execution *execution, ModelFound *found, void *context, Relation *races) {
    Model model = {.execution = execution, .count = execution->count};
    sort_events(&model);
    relate(&model);
    if (thin_air(&model)) {
        return false;
    }
    order(&model);
    if (fences_contradict(&model)) {
        return false;
    }
    if (races != NULL) {
        find_races(&model, races);
    }
    return orient(&model, coherence_start(&model), found, context);
}
