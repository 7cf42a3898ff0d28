/* The global race engine beside a slow model, on random programs; and its two modes beside each other.
 *
 * The model is happens-before as it is defined. Every access is an event, and a thread knows a set of events. Every
 * access is kept, and a new one is compared with each of them, byte by byte. Each byte has the releases that a read of
 * it would acquire, each with its set, its thread and its scope. There are no clocks, and nothing is ever forgotten.
 * What a read has observed is looked up whenever it matters: the last write before it, and what that has read.
 *
 * The exact mode must say of each access the same as the model: whether it races with any earlier one. The sampled mode
 * must not find a race where the exact one has none; and where its cells lose nothing, it must find the first one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/hb/gsan.h"
#include "engine/shadow/gsan_cell.h"
#include "share.h"

enum { PROGRAMS = 6000, STEPS = 120, EVENTS = 512, WORDS = EVENTS / 64, BYTES = 96, FLAGS = 80, BASE = 0x7ff0 };
enum { THREADS = 24, LAUNCHES = 6, TICKETS = 128, OBJECTS = 3, MOST_RELEASES = 64, NONE = UINT32_MAX };

typedef struct Set {
    uint64_t words[WORDS];
} Set;

static bool has(const Set *set, uint32_t event) {
    return set->words[event / 64] >> event % 64 & 1;
}
static void put(Set *set, uint32_t event) {
    set->words[event / 64] |= UINT64_C(1) << event % 64;
}
static void add(Set *set, const Set *more) {
    for (int i = 0; i < WORDS; i++)
        set->words[i] |= more->words[i];
}

typedef struct Released {
    Set set;
    uint32_t thread;
    int scope, read_scope; /* read_scope: of who has observed it */
} Released;

typedef struct Releases {
    Released items[MOST_RELEASES];
    uint32_t count;
} Releases;

typedef struct ModelThread {
    uint32_t launch, cta, device;
    bool alive;
    Set known, recent; /* recent: its own events that no release has covered */
    Set awaited;       /* what a fence of the scope of a cluster would bring */
    Releases fences, observed;
} ModelThread;

typedef struct ModelTicket {
    uint32_t thread, number;
    Set issued;
    uint32_t completions[4], completed_by[4], count;
} ModelTicket;

typedef struct ModelAccess {
    uint32_t thread, event, ticket, begin, end;
    AccessKind kind;
    Order order;
    int scope;
} ModelAccess;

typedef struct Byte {
    Releases releases;
    uint32_t writer, begin, end; /* of the last strong write; writer: NONE: there is none */
    int scope;
    uint32_t forgotten; /* accesses before that one are */
} Byte;

typedef struct ModelLaunch {
    uint32_t device, ctas, cluster, begun, ended;
    bool after[LAUNCHES];
    Set end;
} ModelLaunch;

typedef struct Model {
    ModelLaunch launches[LAUNCHES];
    ModelThread threads[THREADS];
    ModelTicket tickets[TICKETS];
    ModelAccess accesses[EVENTS];
    Byte bytes[BYTES];
    Set objects[OBJECTS];
    uint32_t launch_count, thread_count, ticket_count, access_count, event_count;
    uint32_t observed_count; /* accesses that do not race, because of an observation */
} Model;

/* ---- The model ---- */

static int needed(const Model *model, uint32_t a, uint32_t b) {
    const ModelThread *one = &model->threads[a], *other = &model->threads[b];
    if (a == b)
        return SCOPE_CTA;
    if (one->device != other->device)
        return SCOPE_SYS;
    uint32_t cluster = model->launches[one->launch].cluster;
    return one->launch == other->launch && one->cta / cluster == other->cta / cluster ? SCOPE_CLUSTER : SCOPE_GPU;
}

static int least(int a, int b) {
    return a < b ? a : b;
}

static bool same_element(uint32_t begin, uint32_t end, uint32_t other_begin, uint32_t other_end) {
    return end - begin > 16 || other_end - other_begin > 16 || (begin == other_begin && end == other_end);
}

static void release_to(Releases *to, const Set *set, uint32_t thread, int scope) {
    for (uint32_t i = 0; i < to->count; i++)
        if (to->items[i].thread == thread && to->items[i].scope == scope) {
            add(&to->items[i].set, set);
            return;
        }
    assert_true(to->count < MOST_RELEASES);
    to->items[to->count++] = (Released){.set = *set, .thread = thread, .scope = scope};
}

static bool is_linked(const Model *model, const Byte *byte, const ModelAccess *access) {
    if (byte->writer == NONE)
        return false;
    int scope = needed(model, byte->writer, access->thread);
    return byte->scope >= scope && access->scope >= scope &&
           same_element(byte->begin, byte->end, access->begin, access->end);
}

static void model_read_releases(Model *model, const ModelAccess *access) {
    ModelThread *thread = &model->threads[access->thread];
    bool acquires = access->order == ORDER_ACQUIRE || access->order == ORDER_ACQ_REL;
    for (uint32_t at = access->begin; at < access->end; at++) {
        const Byte *byte = &model->bytes[at];
        for (uint32_t i = 0; is_linked(model, byte, access) && i < byte->releases.count; i++) {
            Released released = byte->releases.items[i];
            released.scope = least(released.scope, access->scope);
            if (released.scope < needed(model, released.thread, access->thread))
                continue;
            if (acquires)
                add(&thread->known, &released.set);
            else
                release_to(&thread->observed, &released.set, released.thread, released.scope);
        }
    }
}

static void model_write_releases(Model *model, const ModelAccess *access) {
    ModelThread *thread = &model->threads[access->thread];
    bool releases = access->ticket == NONE && (access->order == ORDER_RELEASE || access->order == ORDER_ACQ_REL);
    for (uint32_t at = access->begin; at < access->end; at++) {
        Byte *byte = &model->bytes[at];
        static Releases before;
        before = byte->releases;
        byte->releases.count = 0;
        if (access->order == ORDER_WEAK) {
            byte->writer = NONE;
            continue;
        }
        bool links = is_linked(model, byte, access);
        for (uint32_t i = 0; i < before.count; i++) {
            const Released *old = &before.items[i];
            if (access->kind == KIND_UPDATE && links)
                release_to(&byte->releases, &old->set, old->thread, old->scope);
            else if (access->kind == KIND_WRITE && old->thread == access->thread)
                release_to(&byte->releases, &old->set, old->thread, least(old->scope, access->scope));
        }
        for (uint32_t i = 0; !releases && i < thread->fences.count; i++)
            release_to(&byte->releases, &thread->fences.items[i].set, access->thread,
                       least(thread->fences.items[i].scope, access->scope));
        if (releases)
            release_to(&byte->releases, &thread->known, access->thread, access->scope);
        byte->writer = byte->releases.count ? access->thread : NONE;
        byte->begin = access->begin;
        byte->end = access->end;
        byte->scope = access->scope;
    }
}

static bool model_is_before(const Model *model, const ModelAccess *earlier, const ModelAccess *later) {
    const Set *known =
        later->ticket != NONE ? &model->tickets[later->ticket].issued : &model->threads[later->thread].known;
    if (earlier->ticket == NONE)
        return has(known, earlier->event);
    const ModelTicket *ticket = &model->tickets[earlier->ticket];
    for (uint32_t i = 0; i < ticket->count; i++)
        if (has(known, ticket->completions[i]))
            return true;
    return earlier->ticket == later->ticket;
}

static bool is_morally_strong(const Model *model, const ModelAccess *a, const ModelAccess *b) {
    int scope = needed(model, a->thread, b->thread);
    return a->order != ORDER_WEAK && b->order != ORDER_WEAK && a->scope >= scope && b->scope >= scope &&
           same_element(a->begin, a->end, b->begin, b->end);
}

static bool touches(const Model *model, uint32_t index, uint32_t at) {
    const ModelAccess *access = &model->accesses[index];
    return at >= access->begin && at < access->end && index >= model->bytes[at].forgotten;
}

/* Whether a read or update has the write before itself in observation order, at one byte: it has read what that wrote,
 * or what an update wrote that has it before itself. */
static bool model_observes(const Model *model, uint32_t write, uint32_t reader, uint32_t at) {
    for (uint32_t source = reader; touches(model, reader, at) && source-- > write;) {
        if (model->accesses[source].kind == KIND_READ || !touches(model, source, at))
            continue;
        if (model->accesses[reader].kind == KIND_WRITE ||
            !is_morally_strong(model, &model->accesses[source], &model->accesses[reader]))
            return false;
        return source == write || model_observes(model, write, source, at);
    }
    return false;
}

/* Whether a thread has observed it that is before the later access; of an asynchronous one nothing gets what it read.
 */
static bool model_is_observed(const Model *model, uint32_t write, const ModelAccess *later, uint32_t at) {
    for (uint32_t i = write + 1; i < model->access_count; i++) {
        const ModelAccess *reader = &model->accesses[i];
        if (reader->ticket == NONE && model_is_before(model, reader, later) && model_observes(model, write, i, at))
            return true;
    }
    return false;
}

/* `*observed`: there is at least one pair that only an observation orders. */
static bool model_races(const Model *model, const ModelAccess *later, bool *observed) {
    *observed = false;
    for (uint32_t i = 0; i < model->access_count; i++) {
        const ModelAccess *earlier = &model->accesses[i];
        if ((earlier->kind == KIND_READ && later->kind == KIND_READ) || is_morally_strong(model, earlier, later) ||
            model_is_before(model, earlier, later))
            continue;
        for (uint32_t at = later->begin; at < later->end; at++) {
            if (!touches(model, i, at))
                continue;
            if (!model_is_observed(model, i, later, at))
                return true;
            *observed = true;
        }
    }
    return false;
}

static uint32_t new_event(Model *model, uint32_t thread) {
    uint32_t event = model->event_count++;
    assert_true(event < EVENTS);
    put(&model->threads[thread].known, event);
    put(&model->threads[thread].recent, event);
    return event;
}

static bool model_access(Model *model, ModelAccess access) {
    ModelThread *thread = &model->threads[access.thread];
    bool is_synchronous = access.ticket == NONE;
    if (access.order != ORDER_WEAK && access.kind != KIND_WRITE && is_synchronous)
        model_read_releases(model, &access);
    bool observed, races = model_races(model, &access, &observed);
    model->observed_count += observed && !races;
    if (is_synchronous)
        access.event = new_event(model, access.thread);
    if (access.kind != KIND_READ)
        model_write_releases(model, &access);
    if (is_synchronous && access.kind != KIND_READ &&
        (access.order == ORDER_RELEASE || access.order == ORDER_ACQ_REL) && access.scope >= SCOPE_CLUSTER)
        thread->recent = (Set){{0}};
    model->accesses[model->access_count++] = access;
    return races;
}

static void model_complete(Model *model, uint32_t ticket, uint32_t thread) {
    ModelTicket *of = &model->tickets[ticket];
    for (uint32_t i = 0; i < of->count; i++)
        if (of->completed_by[i] == thread)
            return;
    if (of->count == 4)
        return;
    of->completed_by[of->count] = thread;
    of->completions[of->count++] = new_event(model, thread);
}

static void model_fence(Model *model, uint32_t number, Order order, int scope) {
    ModelThread *thread = &model->threads[number];
    for (uint32_t i = 0; order != ORDER_RELEASE && i < thread->observed.count; i++) {
        const Released *seen = &thread->observed.items[i];
        if (least(seen->scope, scope) >= needed(model, seen->thread, number))
            add(&thread->known, &seen->set);
    }
    if (order != ORDER_RELEASE && scope >= SCOPE_CLUSTER)
        add(&thread->known, &thread->awaited);
    if (order == ORDER_ACQUIRE)
        return;
    release_to(&thread->fences, &thread->known, number, scope);
    if (scope >= SCOPE_CLUSTER)
        thread->recent = (Set){{0}};
}

static void model_publish(Model *model, uint32_t number, uint32_t object, GsanExtent extent) {
    ModelThread *thread = &model->threads[number];
    for (uint32_t i = 0; extent == GSAN_FENCED && i < thread->fences.count; i++)
        if (thread->fences.items[i].scope >= SCOPE_CLUSTER)
            add(&model->objects[object], &thread->fences.items[i].set);
    if (extent == GSAN_FENCED)
        return;
    Set set = thread->known;
    for (int i = 0; extent == GSAN_CLOSED && i < WORDS; i++)
        set.words[i] &= ~thread->recent.words[i];
    if (extent == GSAN_WHOLE)
        thread->recent = (Set){{0}};
    add(&model->objects[object], &set);
}

static void model_acquire(Model *model, uint32_t number, uint32_t object) {
    ModelThread *thread = &model->threads[number];
    add(&thread->known, &model->objects[object]);
}

/* ---- Random programs, for some engines at once ---- */

enum { MOST_ENGINES = 2 };

typedef struct Program {
    Model model;
    Gsan *engines[MOST_ENGINES];
    uint32_t engine_count;
    uint32_t numbers[MOST_ENGINES][THREADS], tickets[MOST_ENGINES][TICKETS];
    uint64_t random;
    /* What a cell can hold: weak and strong accesses are apart, in whole words; all scopes are wide; nothing is
     * asynchronous; a strong store is a release, so that nothing's are passed on with its thread's own. */
    bool is_plain;
    bool is_careful;              /* fewer writes, wide scopes: not everything races */
    bool is_crowded;              /* nearly all of it on one flag */
    bool raced[MOST_ENGINES + 1]; /* the last access, in each engine and in the model */
} Program;

static uint32_t choose(Program *program, uint32_t count) { /* xorshift64* */
    program->random ^= program->random >> 12;
    program->random ^= program->random << 25;
    program->random ^= program->random >> 27;
    return (uint32_t)(program->random * 0x2545f4914f6cdd1du >> 33) % count;
}

static void ignore(void *context, const GsanRace *race) {
    (void)context;
    assert_true(race->begin < race->end);
}

static void add_engine(Program *program, GsanOptions options) {
    const char *problem = NULL;
    program->engines[program->engine_count++] = gsan_create(&options, ignore, NULL, &problem);
    assert_non_null(program->engines[program->engine_count - 1]);
}

static void begin_thread(Program *program, uint32_t launch) {
    Model *model = &program->model;
    ModelLaunch *of = &model->launches[launch];
    uint32_t number = model->thread_count++, cta = of->begun++;
    ModelThread *thread = &model->threads[number];
    *thread = (ModelThread){.launch = launch, .cta = cta, .device = of->device, .alive = true};
    for (uint32_t i = 0; i < model->launch_count; i++)
        if (of->after[i])
            add(&thread->known, &model->launches[i].end);
    for (uint32_t i = 0; i < program->engine_count; i++)
        program->numbers[i][number] = gsan_begin(program->engines[i], launch, cta);
}

/* All of its CTAs begin at once; it comes after the launches that have ended, or some of them. */
static void add_launch(Program *program, uint32_t device, uint32_t ctas, uint32_t cluster) {
    Model *model = &program->model;
    uint32_t number = model->launch_count, after[LAUNCHES], count = 0;
    ModelLaunch *launch = &model->launches[number];
    *launch = (ModelLaunch){.device = device, .ctas = ctas, .cluster = cluster};
    for (uint32_t i = 0; i < number; i++)
        if (model->launches[i].ended == model->launches[i].ctas && choose(program, 4)) {
            after[count++] = i;
            launch->after[i] = true;
        }
    GsanLaunch given = {.device = device, .ctas = ctas, .cluster = cluster, .after = after, .after_count = count};
    for (uint32_t i = 0; i < program->engine_count; i++)
        assert_int_equal(gsan_launch(program->engines[i], &given), number);
    model->launch_count++;
    for (uint32_t i = 0; i < ctas; i++)
        begin_thread(program, number);
}

static void end_thread(Program *program, uint32_t thread) {
    Model *model = &program->model;
    ModelLaunch *launch = &model->launches[model->threads[thread].launch];
    for (uint32_t i = 0; i < model->ticket_count; i++)
        if (model->tickets[i].thread == thread && !model->tickets[i].count)
            model_complete(model, i, thread);
    add(&launch->end, &model->threads[thread].known);
    launch->ended++;
    model->threads[thread].alive = false;
    for (uint32_t i = 0; i < program->engine_count; i++)
        gsan_end(program->engines[i], program->numbers[i][thread]);
}

static uint32_t some_thread(Program *program) {
    for (;;) {
        uint32_t thread = choose(program, program->model.thread_count);
        if (program->model.threads[thread].alive)
            return thread;
    }
}

static uint32_t some_ticket(Program *program, uint32_t thread) {
    for (uint32_t i = 0; i < 4 && program->model.ticket_count; i++) {
        uint32_t ticket = choose(program, program->model.ticket_count);
        if (program->model.tickets[ticket].thread == thread && !program->model.tickets[ticket].count)
            return ticket;
    }
    return NONE;
}

static ModelAccess some_access(Program *program, uint32_t thread) {
    static const uint32_t sizes[] = {4, 4, 8, 1, 2, 3, 20};
    bool is_strong = choose(program, 5) < 2,
         is_apart = program->is_plain || (program->is_careful && choose(program, 20));
    uint32_t size = is_apart ? 4 : sizes[choose(program, is_strong ? 3 : 7)];
    uint32_t begin = choose(program, 3) ? choose(program, 4) * 4 : choose(program, BYTES - size);
    if (is_apart)
        begin = is_strong ? FLAGS + 4 * choose(program, 4) : 4 * choose(program, FLAGS / 4);
    else if (is_strong && choose(program, 4))
        begin = FLAGS + choose(program, 2) * 4;
    ModelAccess access = {.thread = thread,
                          .ticket = NONE,
                          .event = NONE,
                          .begin = begin,
                          .end = begin + size,
                          .kind = (AccessKind)choose(program, is_strong ? 3 : 2),
                          .order = ORDER_WEAK};
    if (is_strong) {
        access.order = (Order)(ORDER_RELAXED + choose(program, 4));
        access.scope = choose(program, 3) ? SCOPE_GPU + (int)choose(program, 2) : SCOPE_CTA + (int)choose(program, 4);
        if (is_apart)
            access.scope = SCOPE_SYS;
        if (program->is_plain && access.kind == KIND_WRITE)
            access.order = ORDER_RELEASE;
    } else if (program->is_careful && choose(program, 4)) {
        access.kind = KIND_READ;
    }
    return access;
}

/* Mostly relaxed updates and reads of one flag; now and then there is a weak access, mostly by who was there last. */
static ModelAccess crowded_access(Program *program, uint32_t thread) {
    static const AccessKind kinds[] = {KIND_UPDATE, KIND_UPDATE, KIND_UPDATE, KIND_UPDATE,
                                       KIND_READ,   KIND_READ,   KIND_READ,   KIND_WRITE};
    static const uint32_t sizes[] = {8, 2, 20};
    bool is_strong = choose(program, 8);
    uint32_t begin = FLAGS - 4 * !choose(program, 16);
    ModelAccess access = {.thread = thread,
                          .ticket = NONE,
                          .event = NONE,
                          .begin = begin,
                          .end = begin + (choose(program, 24) ? 4 : sizes[choose(program, 3)]),
                          .kind = choose(program, 6) ? KIND_READ : KIND_WRITE,
                          .order = ORDER_WEAK};
    access.end = access.end < BYTES ? access.end : BYTES;
    uint32_t last = program->model.access_count ? program->model.accesses[program->model.access_count - 1].thread : 0;
    if (!is_strong && program->model.threads[last].alive && choose(program, 4))
        access.thread = last;
    if (is_strong) {
        access.kind = kinds[choose(program, 8)];
        access.order = choose(program, 4) ? ORDER_RELAXED : (Order)(ORDER_RELAXED + choose(program, 4));
        access.scope = choose(program, 24) ? SCOPE_SYS : SCOPE_CTA + (int)choose(program, 4);
    }
    return access;
}

static void step_access(Program *program, uint32_t from) {
    ModelAccess access =
        program->is_crowded && choose(program, 16) ? crowded_access(program, from) : some_access(program, from);
    uint32_t thread = access.thread;
    uint32_t ticket = program->is_plain || choose(program, 3) ? NONE : some_ticket(program, thread);
    if (ticket != NONE) {
        access.ticket = ticket;
        if (access.order != ORDER_WEAK)
            access.order = ORDER_RELAXED;
    }
    uint32_t site = choose(program, 3); /* few, so that accesses are alike */
    for (uint32_t i = 0; i < program->engine_count; i++) {
        uint64_t before = gsan_stats(program->engines[i]).races;
        gsan_access(program->engines[i], program->numbers[i][thread], site, access.kind, access.order,
                    (Scope)access.scope, ticket == NONE ? GSAN_NO_TICKET : program->tickets[i][ticket],
                    BASE + access.begin, BASE + access.end);
        program->raced[i] = gsan_stats(program->engines[i]).races > before;
    }
    program->raced[MOST_ENGINES] = model_access(&program->model, access);
}

static void step_ticket(Program *program, uint32_t thread) {
    Model *model = &program->model;
    uint32_t ticket = some_ticket(program, thread);
    if (ticket != NONE && choose(program, 2)) {
        uint32_t by = choose(program, 4) ? thread : some_thread(program);
        model_complete(model, ticket, by);
        for (uint32_t i = 0; i < program->engine_count; i++)
            gsan_complete(program->engines[i], program->tickets[i][ticket], program->numbers[i][by]);
    } else if (model->ticket_count < TICKETS) {
        model->tickets[model->ticket_count] = (ModelTicket){.thread = thread, .issued = model->threads[thread].known};
        for (uint32_t i = 0; i < program->engine_count; i++)
            program->tickets[i][model->ticket_count] = gsan_issue(program->engines[i], program->numbers[i][thread]);
        model->ticket_count++;
    }
}

static void step_fence(Program *program, uint32_t thread) {
    Order order = (Order)(ORDER_ACQUIRE + choose(program, 3));
    int scope = program->is_plain ? SCOPE_SYS : SCOPE_CTA + (int)choose(program, 4);
    model_fence(&program->model, thread, order, scope);
    for (uint32_t i = 0; i < program->engine_count; i++)
        gsan_fence(program->engines[i], program->numbers[i][thread], 1, order, (Scope)scope);
}

static void step_object(Program *program, uint32_t thread) {
    uint32_t object = choose(program, OBJECTS), what = choose(program, 7);
    GsanExtent extent = (GsanExtent)choose(program, 3);
    for (uint32_t i = 0; i < program->engine_count; i++) {
        if (what < 3)
            gsan_publish(program->engines[i], program->numbers[i][thread], object, extent);
        else if (what < 6)
            gsan_acquire(program->engines[i], program->numbers[i][thread], object);
        else
            gsan_retire(program->engines[i], object);
    }
    if (what < 3)
        model_publish(&program->model, thread, object, extent);
    else if (what < 6)
        model_acquire(&program->model, thread, object);
    else
        program->model.objects[object] = (Set){{0}};
}

static void step_forget(Program *program) {
    Model *model = &program->model;
    uint32_t begin = choose(program, BYTES / 4) * 4, end = begin + 4 * (1 + choose(program, 4));
    if ((program->is_careful || program->is_crowded) && choose(program, 2))
        begin = 0, end = BYTES;
    end = end < BYTES ? end : BYTES;
    for (uint32_t at = begin; at < end; at++) {
        model->bytes[at].forgotten = model->access_count;
        model->bytes[at].releases.count = 0;
        model->bytes[at].writer = NONE;
    }
    for (uint32_t i = 0; i < program->engine_count; i++)
        gsan_forget(program->engines[i], BASE + begin, BASE + end);
}

/* A launch on device 0 ends, and the next one begins. */
static void step_launch(Program *program) {
    Model *model = &program->model;
    if (model->launch_count == LAUNCHES || model->thread_count + 4 > THREADS)
        return;
    for (uint32_t i = 0; i < model->thread_count; i++)
        if (model->threads[i].alive && model->threads[i].device == 0)
            end_thread(program, i);
    add_launch(program, 0, 4, 1 + choose(program, 2));
}

static void begin_program(Program *program, uint64_t seed) {
    program->random = seed * 0x9e3779b97f4a7c15u + 1;
    program->is_crowded = !program->is_plain && seed % 3 == 0;
    program->is_careful = seed % 4;
    for (int i = 0; i < BYTES; i++)
        program->model.bytes[i].writer = NONE;
    add_launch(program, 0, 4, 2);
    add_launch(program, 1, 2, 1);
}

/* Whether it was an access. */
static bool step(Program *program) {
    uint32_t thread = some_thread(program), what = choose(program, 64);
    if (what < (program->is_careful ? 36 : 42)) {
        step_access(program, thread);
        return true;
    }
    if (what < 46 && !program->is_plain)
        step_ticket(program, thread);
    else if (what < 50)
        step_fence(program, thread);
    else if (what < 60)
        step_object(program, thread);
    else if (what < 62 && !program->is_plain)
        step_forget(program);
    else if (what == 63)
        step_launch(program);
    return false;
}

/* Once memory is forgotten, the exact mode has nothing left of it but its last access. */
static void end_program(Program *program) {
    uint32_t thread = some_thread(program);
    for (uint32_t i = 0; i < program->engine_count; i++) {
        gsan_access(program->engines[i], program->numbers[i][thread], 99, KIND_READ, ORDER_WEAK, SCOPE_NONE, 0, 0, 4);
        gsan_forget(program->engines[i], 0, UINT64_MAX);
        assert_true(i || gsan_stats(program->engines[i]).shadow_bytes < 1024);
        gsan_free(program->engines[i]);
    }
    memset(program, 0, sizeof *program);
}

/* ---- Tests ---- */

static void the_exact_mode_and_the_model_agree(void **state) {
    (void)state;
    static Program program;
    uint32_t races = 0, accesses = 0, observed = 0;
    for (uint64_t seed = 0; seed < share_of(PROGRAMS); seed++) {
        add_engine(&program, (GsanOptions){.mode = GSAN_EXACT, .devices = 2});
        begin_program(&program, seed);
        for (int i = 0; i < STEPS; i++) {
            if (!step(&program))
                continue;
            accesses++;
            races += program.raced[MOST_ENGINES];
            if (program.raced[0] != program.raced[MOST_ENGINES])
                fail_msg("program %u, step %d: the engine says %d", (unsigned)seed, i, program.raced[0]);
        }
        observed += program.model.observed_count;
        end_program(&program);
    }
    assert_true(races > accesses / 10 && races < accesses * 3 / 4); /* both happen often */
    assert_true(observed > share_of(PROGRAMS) / 4);
}

static void the_sampled_mode_makes_nothing_up(void **state) {
    (void)state;
    static Program program;
    uint32_t found = 0, raced = 0;
    for (uint64_t seed = 0; seed < share_of(PROGRAMS); seed++) {
        add_engine(&program, (GsanOptions){.mode = GSAN_EXACT, .devices = 2, .granule = 4});
        add_engine(&program, (GsanOptions){.mode = GSAN_SAMPLED,
                                           .devices = 2,
                                           .threads_per_device = 4,
                                           .slots = 1 + seed % 4,
                                           .ring = seed % 3 ? 128 : 2,
                                           .seed = seed});
        begin_program(&program, seed);
        for (int i = 0; i < STEPS; i++) {
            step(&program);
            uint64_t exact = gsan_stats(program.engines[0]).races, sampled = gsan_stats(program.engines[1]).races;
            if (sampled && !exact)
                fail_msg("program %u, step %d: the sampled mode has a race", (unsigned)seed, i);
        }
        raced += gsan_stats(program.engines[0]).races > 0;
        found += gsan_stats(program.engines[1]).races > 0;
        end_program(&program);
    }
    assert_true(found > raced * 9 / 10);
}

static void the_sampled_mode_finds_all_that_its_cells_can_hold(void **state) {
    (void)state;
    static Program program;
    uint32_t races = 0;
    for (uint64_t seed = 0; seed < share_of(PROGRAMS); seed++) {
        add_engine(&program, (GsanOptions){.mode = GSAN_EXACT, .devices = 2, .granule = 4});
        add_engine(
            &program,
            (GsanOptions){
                .mode = GSAN_SAMPLED, .devices = 2, .threads_per_device = THREADS, .slots = 2 * THREADS, .ring = 256});
        program.is_plain = true;
        begin_program(&program, seed);
        for (int i = 0; i < STEPS && !program.raced[0]; i++)
            if (step(&program) && program.raced[0] != program.raced[1])
                fail_msg("program %u, step %d: the exact mode says %d", (unsigned)seed, i, program.raced[0]);
        races += program.raced[0];
        end_program(&program);
    }
    assert_true(races > share_of(PROGRAMS) / 2);
}

/* ---- The sample ---- */

/* How often a cell with some slots still has each of its readers, in so many trials. */
static void count_kept(uint32_t readers, uint32_t slots, uint32_t trials, uint32_t *kept) {
    uint16_t clock[64] = {0}, begun[64];
    uint32_t tokens[64] = {0};
    uint64_t clusters[64] = {0};
    memset(begun, 0, sizeof begun);
    CellThreads threads = {
        .count = 64, .per_device = 64, .ring = 1, .tokens = tokens, .begun = begun, .clusters = clusters};
    uint32_t space[2 + 64];
    for (uint32_t trial = 0; trial < trials; trial++) {
        GsanCell *cell = memset(space, 0, sizeof space);
        for (uint32_t i = 0; i < readers; i++) {
            CellView view = {.threads = &threads, .clock = clock, .thread = i, .own = 1};
            cell_record_read(cell, slots, &view, cell_clock(1, i, 0, false), cell_random(trial, i, 0));
        }
        for (uint32_t i = 0; i < slots; i++)
            kept[cell_thread(cell->readers[i])]++;
    }
}

/* Each is there with a probability of slots to readers, and none more than the others: chi-square, with as many degrees
 * of freedom as there are readers but one; the limits leave five standard deviations. */
static void every_reader_is_as_likely_to_be_kept(void **state) {
    (void)state;
    static const struct { uint32_t readers, slots; } cases[] = {{5, 4}, {8, 4}, {20, 4}, {64, 4}, {20, 1}, {20, 8}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        enum { TRIALS = 20000 };
        uint32_t kept[64] = {0}, readers = cases[k].readers;
        double expected = (double)TRIALS * cases[k].slots / readers, sum = 0;
        count_kept(readers, cases[k].slots, TRIALS, kept);
        for (uint32_t i = 0; i < readers; i++) {
            double off = kept[i] - expected;
            assert_true(off * off < 25 * expected);
            sum += off * off / expected;
        }
        assert_true(sum < readers + 5 * 1.5 * readers / 3 + 10);
    }
}

/* Of `readers` CTAs all but one hand on to a writer: how often its race with that one is found. */
static double detection_rate(uint32_t readers, uint32_t slots, uint32_t silent, uint32_t trials) {
    uint32_t found = 0;
    for (uint32_t trial = 0; trial < trials; trial++) {
        GsanOptions options = {
            .mode = GSAN_SAMPLED, .seed = trial, .slots = slots, .ring = 2, .threads_per_device = readers + 1};
        const char *problem = NULL;
        Gsan *gsan = gsan_create(&options, ignore, NULL, &problem);
        uint32_t launch = gsan_launch(gsan, &(GsanLaunch){.ctas = readers + 1});
        for (uint32_t i = 0; i <= readers; i++)
            gsan_begin(gsan, launch, i);
        for (uint32_t i = 0; i < readers; i++) {
            gsan_access(gsan, i, 1, KIND_READ, ORDER_WEAK, SCOPE_NONE, 0, BASE, BASE + 4);
            if (i != silent)
                gsan_publish(gsan, i, 1, GSAN_WHOLE);
        }
        gsan_acquire(gsan, readers, 1);
        found += gsan_access(gsan, readers, 2, KIND_WRITE, ORDER_WEAK, SCOPE_NONE, 0, BASE, BASE + 4);
        gsan_free(gsan);
    }
    return (double)found / trials;
}

static void a_race_is_found_as_often_as_its_reader_is_kept(void **state) {
    (void)state;
    for (uint32_t silent = 0; silent < 16; silent += 5) {
        double rate = detection_rate(16, 4, silent, 1500);
        assert_true(rate > 0.25 - 0.05 && rate < 0.25 + 0.05);
    }
    assert_true(detection_rate(4, 4, 2, 50) == 1.0);
    assert_true(detection_rate(1, 1, 0, 50) == 1.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_exact_mode_and_the_model_agree),
        cmocka_unit_test(the_sampled_mode_makes_nothing_up),
        cmocka_unit_test(the_sampled_mode_finds_all_that_its_cells_can_hold),
        cmocka_unit_test(every_reader_is_as_likely_to_be_kept),
        cmocka_unit_test(a_race_is_found_as_often_as_its_reader_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
