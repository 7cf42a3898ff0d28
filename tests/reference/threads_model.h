/* What the engine for threads (engine/hb/threads.h) has to say, by a slow model that shares no code with it.
 *
 * Every access, wait and fence is an event with a number, and what a thread knows is the set of events that are before
 * it in base causality order; beside that, for each fence between proxies, the set of those that are before such a
 * fence. There are no clocks and no epochs. Every access is kept, and a new one is compared with each, byte by byte.
 * What a read has read is kept, too; what it observes and what it may acquire is looked up each time, by walking from
 * write to write. Lanes are threads like any others.
 *
 * Asked of each access: does it race with an earlier one? */
#ifndef TESTS_REFERENCE_THREADS_MODEL_H
#define TESTS_REFERENCE_THREADS_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    MODEL_EVENTS = 1536,
    MODEL_WORDS = MODEL_EVENTS / 64,
    MODEL_THREADS = 4 * 64,
    MODEL_OPERATIONS = 256,
    MODEL_OBJECTS = 16,
    MODEL_KEYS = 24,
    MODEL_NONE = -1
};

typedef struct ModelSet {
    uint64_t words[MODEL_WORDS];
} ModelSet;

static bool model_has(const ModelSet *set, int event) {
    return set->words[event / 64] >> event % 64 & 1;
}
static void model_put(ModelSet *set, int event) {
    set->words[event / 64] |= UINT64_C(1) << event % 64;
}
static void model_add(ModelSet *set, const ModelSet *more) {
    for (int i = 0; i < MODEL_WORDS; i++)
        set->words[i] |= more->words[i];
}

/* What something knows; [0] without a fence, the others behind the fence of that key. */
typedef struct Knowledge {
    ModelSet sets[MODEL_KEYS];
} Knowledge;

static void knowledge_add(Knowledge *to, const Knowledge *from) {
    for (int i = 0; i < MODEL_KEYS; i++)
        model_add(&to->sets[i], &from->sets[i]);
}

typedef struct Pattern { /* a release pattern: who began it, and what was before */
    Knowledge *known;
    int cta, level;
} Pattern;
typedef struct Patterns {
    Pattern *items;
    int count;
} Patterns;

static void patterns_put(Patterns *patterns, Pattern pattern) {
    patterns->items = realloc(patterns->items, (size_t)(patterns->count + 1) * sizeof(Pattern));
    patterns->items[patterns->count++] = pattern;
}

typedef struct ModelEvent {
    bool access;
    int thread, operation, instruction; /* operation: MODEL_NONE: the thread's own */
    int kind, proxy, level, element;    /* kind 0 reads, 1 writes, 2 both; level 0: weak */
    bool gives, inits;
    uint64_t begin, end;
    ModelSet before; /* of an operation: the accesses that were before it */
    int from;        /* the write that a strong read of one element reads, if they are morally strong (or its own) */
    Patterns patterns;
} ModelEvent;

typedef struct ModelThread {
    Knowledge known;
    Patterns fences; /* release fences so far */
    Patterns waited; /* what relaxed waits have seen */
    ModelSet waited_events;
    Knowledge *released; /* bits of fences in halves: by key */
} ModelThread;

typedef struct ModelOperation {
    int thread[64]; /* threads that issue it, each its own; or all */
    int count;
    bool together;
    Knowledge known[64];
    int after;
    struct {
        int event, part; /* part: thread that it is about; MODEL_NONE: all */
        bool reads_only;
    } done[1024];
    int done_count;
} ModelOperation;

typedef struct ModelObject {
    int phases;
    Patterns collecting, done;
    int marks[512]; /* the event of each phase, or MODEL_NONE; from 1 */
} ModelObject;

typedef struct Model {
    int ctas, cta_threads, cluster;
    ModelEvent events[MODEL_EVENTS];
    int count, instructions;
    ModelThread threads[MODEL_THREADS];
    ModelOperation operations[MODEL_OPERATIONS];
    int operation_count;
    ModelObject objects[MODEL_OBJECTS];
    Patterns sequential;
    bool order_matters;
    void *kept[65536]; /* to be freed */
    int kept_count;
} Model;

/* Keys: 1 global, 2 shared of the cluster, 3 + CTA its own shared; 8 + 4 * level + CTA released; 21 acquired; 22 inits.
 * One other proxy is enough to tell them apart. */
enum {
    KEY_MODEL_GLOBAL = 1,
    KEY_MODEL_CLUSTER = 2,
    KEY_MODEL_OWN = 3,
    KEY_MODEL_RELEASED = 7,
    KEY_MODEL_ACQUIRED = 21,
    KEY_MODEL_INITS = 22
};

static Knowledge *model_copy(Model *model, const Knowledge *known) {
    Knowledge *copy = malloc(sizeof *copy);
    *copy = *known;
    model->kept[model->kept_count++] = copy;
    return copy;
}

static void model_begin(Model *model, int ctas, int cta_threads, int cluster) {
    memset(model, 0, sizeof *model);
    model->ctas = ctas;
    model->cta_threads = cta_threads;
    model->cluster = cluster;
    for (int i = 0; i < MODEL_OBJECTS; i++)
        for (int j = 0; j < 512; j++)
            model->objects[i].marks[j] = MODEL_NONE;
}

static void model_end(Model *model) {
    for (int i = 0; i < model->kept_count; i++)
        free(model->kept[i]);
    for (int i = 0; i < model->count; i++)
        free(model->events[i].patterns.items);
    for (int i = 0; i < MODEL_THREADS; i++) {
        free(model->threads[i].fences.items);
        free(model->threads[i].waited.items);
    }
    for (int i = 0; i < MODEL_OBJECTS; i++) {
        free(model->objects[i].collecting.items);
        free(model->objects[i].done.items);
    }
    free(model->sequential.items);
}

static int model_cta(const Model *model, int thread) {
    return thread / model->cta_threads;
}
static bool model_scope_has(const Model *model, int level, int from, int to) {
    return level >= 3 || from == to || (level == 2 && from / model->cluster == to / model->cluster);
}
static bool model_strong_pair(const Model *model, const ModelEvent *a, const ModelEvent *b) {
    int from = model_cta(model, a->thread), to = model_cta(model, b->thread);
    return a->level && b->level && a->proxy == b->proxy && a->element == b->element &&
           model_scope_has(model, a->level, from, to) && model_scope_has(model, b->level, to, from);
}

static int model_event(Model *model, int thread) {
    int event = model->count++;
    model->events[event] = (ModelEvent){.thread = thread, .operation = MODEL_NONE, .from = MODEL_NONE};
    return event;
}

/* ---- Whether one access is before another ---- */

/* Whether what is known has the access: itself, or, of an operation, that it is over. */
static bool model_in(const Model *model, const ModelSet *known, int event, int by_operation, int by) {
    const ModelEvent *e = &model->events[event];
    if (e->operation == MODEL_NONE)
        return model_has(known, event);
    if (e->operation == by_operation)
        return e->thread == by;
    for (int op = by_operation; op != MODEL_NONE; op = model->operations[op].after)
        if (op == e->operation)
            return true;
    const ModelOperation *operation = &model->operations[e->operation];
    for (int i = 0; i < operation->done_count; i++)
        if ((operation->done[i].part == MODEL_NONE || operation->done[i].part == e->thread) &&
            !(operation->done[i].reads_only && e->kind != 0) && model_has(known, operation->done[i].event))
            return true;
    return false;
}

static bool model_observes(const Model *model, int reader, int write) {
    for (int at = model->events[reader].from; at != MODEL_NONE; at = model->events[at].from) {
        if (at == write)
            return true;
        if (model->events[at].kind != 2)
            return false;
    }
    return false;
}

/* In proxy-preserved base causality order. */
static bool model_before_plain(const Model *model, const Knowledge *known, int event, const ModelEvent *x) {
    const ModelEvent *e = &model->events[event];
    bool fence = e->proxy == x->proxy ? e->proxy && model_cta(model, e->thread) != model_cta(model, x->thread)
                                      : !(e->operation != MODEL_NONE && x->proxy == 0);
    if (!fence) {
        if (model_in(model, &known->sets[0], event, x->operation, x->thread))
            return true;
        if (e->inits && model_in(model, &known->sets[KEY_MODEL_INITS], event, x->operation, x->thread))
            return true;
    } else {
        bool shared = e->begin >> 62;
        int home = (int)(e->begin >> 28 & 0xff);
        int keys[] = {shared ? KEY_MODEL_CLUSTER : KEY_MODEL_GLOBAL, shared ? KEY_MODEL_OWN + home : KEY_MODEL_GLOBAL,
                      KEY_MODEL_ACQUIRED};
        for (int i = 0; i < 3; i++)
            if (model_in(model, &known->sets[keys[i]], event, x->operation, x->thread))
                return true;
    }
    return false;
}

static bool model_before(const Model *model, const Knowledge *known, int event, const ModelEvent *x) {
    const ModelEvent *e = &model->events[event];
    if (model_before_plain(model, known, event, x))
        return true;
    /* A strong write that something before has observed: in the generic proxy. */
    for (int z = 0; z < model->count && e->level && e->kind != 0 && e->operation == MODEL_NONE; z++) {
        const ModelEvent *reader = &model->events[z];
        if (reader->access && reader->operation == MODEL_NONE && model_observes(model, z, event) &&
            model_before_plain(model, known, z, x))
            return true;
    }
    return false;
}

/* ---- Accesses ---- */

typedef struct ModelAccess {
    int kind, proxy, order, level, element; /* order: 0 weak, 1 relaxed, 2 acquire, 3 release, 4 both */
    bool gives, inits;
    uint64_t address;
    uint64_t bytes;
} ModelAccess;

/* What may be acquired from the write that `event` reads: its patterns and those of the chain that it ends. Writes of
 * the same instruction count for nothing. */
static void model_collect(const Model *model, int event, Patterns *to) {
    for (int at = model->events[event].from; at != MODEL_NONE; at = model->events[at].from) {
        if (model->events[at].instruction != model->events[event].instruction)
            for (int i = 0; i < model->events[at].patterns.count; i++)
                patterns_put(to, model->events[at].patterns.items[i]);
        if (model->events[at].kind != 2)
            return;
    }
}

static void model_take(Model *model, int thread, const Patterns *patterns, int level) {
    for (int i = 0; i < patterns->count; i++) {
        const Pattern *pattern = &patterns->items[i];
        int cta = model_cta(model, thread);
        if (model_scope_has(model, level, cta, pattern->cta) &&
            model_scope_has(model, pattern->level, pattern->cta, cta))
            knowledge_add(&model->threads[thread].known, pattern->known);
    }
}

static void model_release_patterns(Model *model, int event, const ModelAccess *access) {
    ModelEvent *write = &model->events[event];
    int thread = write->thread, cta = model_cta(model, thread);
    for (int i = 0; i < model->threads[thread].fences.count; i++)
        patterns_put(&write->patterns, model->threads[thread].fences.items[i]);
    for (int i = 0; i < event; i++) {
        const ModelEvent *e = &model->events[i];
        if (!e->access || e->thread != thread || e->operation != MODEL_NONE || e->begin != write->begin ||
            e->element != write->element || e->kind == 0 || !e->level)
            continue;
        for (int j = 0; j < e->patterns.count; j++)
            if (e->patterns.items[j].known && e->patterns.items[j].level < 0)
                patterns_put(&write->patterns, (Pattern){e->patterns.items[j].known, cta, -e->patterns.items[j].level});
    }
    if (access->order >= 3) {
        Knowledge *known = model_copy(model, &model->threads[thread].known);
        model_put(&known->sets[0], event);
        patterns_put(&write->patterns, (Pattern){known, cta, access->level});
        patterns_put(&write->patterns, (Pattern){known, cta, -access->level}); /* marks its own release */
    }
}

/* What an operation does is behind what was before it, and so is, at the same bytes, what comes behind the operation:
 * each byte of the two is one that such an operation has touched in between. */
static bool model_stood_for(const Model *model, const Knowledge *known, int event, const ModelEvent *x) {
    const ModelEvent *e = &model->events[event];
    uint64_t begin = e->begin > x->begin ? e->begin : x->begin, end = e->end < x->end ? e->end : x->end;
    for (uint64_t at = begin; at < end; at++) {
        bool covered = false;
        for (int i = event + 1; i < model->count && !covered; i++) {
            const ModelEvent *o = &model->events[i];
            covered = o->access && o->operation != MODEL_NONE && !o->level && o->begin <= at && at < o->end &&
                      (o->kind != 0 || e->kind == 0) && model_has(&o->before, event) &&
                      model_before(model, known, i, x);
        }
        if (!covered)
            return false;
    }
    return true;
}

/* Of one scalar by one thread, as part of an instruction: whether it races; the event is its number. */
static bool model_one(Model *model, int thread, int operation, const Knowledge *known, const ModelAccess *access,
                      int *made) {
    int event = model->count;
    ModelEvent x = {.access = true,
                    .thread = thread,
                    .operation = operation,
                    .instruction = model->instructions,
                    .kind = access->kind,
                    .proxy = access->proxy,
                    .level = access->order ? access->level : 0,
                    .element = access->element,
                    .gives = access->gives && access->kind != 1,
                    .inits = access->inits,
                    .begin = access->address,
                    .end = access->address + access->bytes,
                    .from = MODEL_NONE};
    bool races = false;
    int newest[16];
    memset(newest, 0xff, sizeof newest);
    for (int i = 0; i < event; i++) {
        const ModelEvent *e = &model->events[i];
        if (!e->access || e->begin >= x.end || x.begin >= e->end)
            continue;
        for (uint64_t at = x.begin; at < x.end && at < x.begin + 16; at++)
            if (e->kind != 0 && at >= e->begin && at < e->end)
                newest[at - x.begin] = i;
        bool before = model_before(model, known, i, &x);
        if (before && operation != MODEL_NONE)
            model_put(&x.before, i);
        if ((e->kind == 0 && x.kind == 0) || before || model_stood_for(model, known, i, &x))
            continue;
        if (!model_strong_pair(model, e, &x))
            races = true;
        else if ((x.gives && e->kind != 0) || (e->gives && x.kind != 0))
            model->order_matters = true;
    }
    bool one = newest[0] != MODEL_NONE;
    for (int i = 1; i < access->element; i++)
        one = one && newest[i] == newest[0];
    if (access->order && x.kind != 1 && one) {
        const ModelEvent *w = &model->events[newest[0]];
        bool own = w->thread == thread && w->operation == MODEL_NONE && operation == MODEL_NONE && w->level &&
                   w->element == x.element;
        if (w->level && w->begin == x.begin && (model_strong_pair(model, w, &x) || own))
            x.from = newest[0];
    }
    model->events[model->count++] = x;
    *made = event;
    return races;
}

/* ---- What threads do ---- */

/* Threads of one instruction, each at its address, of `count` scalars. A bit for each that races. */
static uint64_t model_access(Model *model, int operation, const int *threads, const uint64_t *addresses, int count,
                             const ModelAccess *access, int vector) {
    uint64_t races = 0;
    int events[256];
    model->instructions++;
    for (int i = 0; i < count; i++) {
        const Knowledge *known = &model->threads[threads[i]].known;
        for (int j = 0; operation != MODEL_NONE && j < model->operations[operation].count; j++)
            if (model->operations[operation].thread[j] == threads[i])
                known = &model->operations[operation].known[model->operations[operation].together ? 0 : j];
        Knowledge before = *known;
        for (int j = 0; j < vector; j++) {
            ModelAccess scalar = *access;
            scalar.address = addresses[i] + (uint64_t)(j * access->element);
            scalar.bytes = (uint64_t)access->element;
            races |= (uint64_t)model_one(model, threads[i], operation, &before, &scalar, &events[i * vector + j]) << i;
            int event = events[i * vector + j];
            if (operation == MODEL_NONE && access->order && access->kind != 0)
                model_release_patterns(model, event, &scalar);
        }
    }
    for (int i = 0; operation == MODEL_NONE && i < count * vector; i++) {
        int thread = threads[i / vector], event = events[i];
        bool acquires = access->order == 2 || access->order == 4;
        if (acquires && (access->kind == 0 || access->gives) && access->kind != 1)
            for (int j = 0; j <= event; j++) {
                const ModelEvent *e = &model->events[j];
                Patterns found = {0};
                if (e->access && e->thread == thread && e->operation == MODEL_NONE &&
                    e->begin == model->events[event].begin && (e->kind == 0 || e->gives)) {
                    model_collect(model, j, &found);
                    model_take(model, thread, &found, access->level);
                }
                free(found.items);
            }
        model_put(&model->threads[thread].known.sets[0], event);
    }
    return races;
}

static void model_fence(Model *model, const int *threads, int count, int order, int level, bool sequential) {
    Patterns seen = {0};
    for (int i = 0; i < model->sequential.count; i++)
        patterns_put(&seen, model->sequential.items[i]);
    if (sequential)
        order = 4;
    for (int i = 0; i < count; i++) {
        ModelThread *thread = &model->threads[threads[i]];
        if (order == 2 || order == 4) {
            Patterns found = {0};
            for (int j = 0; j < model->count; j++) {
                const ModelEvent *e = &model->events[j];
                if (e->access && e->thread == threads[i] && e->operation == MODEL_NONE && (e->kind == 0 || e->gives))
                    model_collect(model, j, &found);
            }
            model_take(model, threads[i], &found, level);
            model_take(model, threads[i], &thread->waited, level);
            model_add(&thread->known.sets[0], &thread->waited_events);
            free(found.items);
        }
        if (sequential)
            model_take(model, threads[i], &seen, level);
    }
    for (int i = 0; i < count && order >= 3; i++) {
        ModelThread *thread = &model->threads[threads[i]];
        Pattern pattern = {model_copy(model, &thread->known), model_cta(model, threads[i]), level};
        patterns_put(&thread->fences, pattern);
        if (sequential)
            patterns_put(&model->sequential, pattern);
    }
    free(seen.items);
}

/* space: 0 everywhere, 1 global, 2 own shared, 3 shared of the cluster; order: 2, 3, 4 */
static void model_fence_proxy(Model *model, const int *threads, int count, int space, int order, int level) {
    for (int i = 0; i < count; i++) {
        Knowledge *known = &model->threads[threads[i]].known;
        int cta = model_cta(model, threads[i]);
        if (order == 3) {
            model_add(&known->sets[KEY_MODEL_RELEASED + (level - 1) * 4 + cta], &known->sets[0]);
        } else if (order == 2) {
            for (int from = 0; from < 3; from++)
                for (int of = 0; of < model->ctas; of++)
                    if (model_scope_has(model, from + 1, of, cta) && model_scope_has(model, level, cta, of))
                        model_add(&known->sets[KEY_MODEL_ACQUIRED], &known->sets[KEY_MODEL_RELEASED + from * 4 + of]);
        } else {
            if (space == 0 || space == 1)
                model_add(&known->sets[KEY_MODEL_GLOBAL], &known->sets[0]);
            if (space == 0 || space == 3)
                model_add(&known->sets[KEY_MODEL_CLUSTER], &known->sets[0]);
            if (space == 2)
                model_add(&known->sets[KEY_MODEL_OWN + cta], &known->sets[0]);
        }
    }
}

static void model_fence_inits(Model *model, const int *threads, int count) {
    for (int i = 0; i < count; i++) {
        Knowledge *known = &model->threads[threads[i]].known;
        for (int j = 0; j < model->count; j++)
            if (model->events[j].thread == threads[i] && model->events[j].access &&
                model->events[j].operation == MODEL_NONE)
                model_put(&known->sets[KEY_MODEL_INITS], j);
    }
}

static void model_meet(Model *model, const int *threads, int count) {
    Knowledge all = {0};
    for (int i = 0; i < count; i++)
        knowledge_add(&all, &model->threads[threads[i]].known);
    for (int i = 0; i < count; i++)
        knowledge_add(&model->threads[threads[i]].known, &all);
}

static void model_arrive(Model *model, int object, const int *threads, int count, bool relaxed, int level) {
    ModelObject *to = &model->objects[object];
    for (int i = 0; i < count; i++) {
        ModelThread *thread = &model->threads[threads[i]];
        int cta = model_cta(model, threads[i]);
        if (!relaxed) {
            patterns_put(&to->collecting, (Pattern){model_copy(model, &thread->known), cta, level});
            continue;
        }
        for (int j = 0; j < thread->fences.count; j++)
            patterns_put(&to->collecting, thread->fences.items[j]);
        Knowledge inits = {0}; /* its own alone */
        for (int j = 0; j < model->count; j++)
            if (model->events[j].thread == threads[i] && model_has(&thread->known.sets[KEY_MODEL_INITS], j))
                model_put(&inits.sets[KEY_MODEL_INITS], j);
        patterns_put(&to->collecting, (Pattern){model_copy(model, &inits), cta, 2});
    }
}

static void model_flip(Model *model, int object) {
    ModelObject *o = &model->objects[object];
    for (int i = 0; i < o->collecting.count; i++)
        patterns_put(&o->done, o->collecting.items[i]);
    o->collecting.count = 0;
    o->phases++;
}

static void model_wait(Model *model, int object, const int *threads, int count, bool relaxed, int level) {
    const ModelObject *o = &model->objects[object];
    for (int i = 0; i < count; i++) {
        ModelThread *thread = &model->threads[threads[i]];
        if (!relaxed)
            model_take(model, threads[i], &o->done, level);
        for (int j = 0; relaxed && j < o->done.count; j++)
            patterns_put(&thread->waited, o->done.items[j]);
        for (int phase = 1; phase <= o->phases && phase < 512; phase++)
            if (o->marks[phase] != MODEL_NONE)
                model_put(relaxed ? &thread->waited_events : &thread->known.sets[0], o->marks[phase]);
    }
}

/* ---- Operations ---- */

static int model_issue(Model *model, const int *threads, int count, bool together, int after) {
    ModelOperation *operation = &model->operations[model->operation_count];
    memset(operation, 0, sizeof *operation);
    operation->count = count;
    operation->together = together;
    operation->after = after;
    for (int i = 0; i < count; i++) {
        operation->thread[i] = threads[i];
        knowledge_add(&operation->known[together ? 0 : i], &model->threads[threads[i]].known);
    }
    for (int i = 0; after != MODEL_NONE && i < (together ? 1 : count); i++)
        for (int j = 0; j < (model->operations[after].together ? 1 : model->operations[after].count); j++)
            knowledge_add(&operation->known[i], &model->operations[after].known[j]);
    return model->operation_count++;
}

/* What it comes after is over, too, all of it. */
static void model_put_done(Model *model, int operation, int event, int part, bool reads_only) {
    for (; operation != MODEL_NONE; operation = model->operations[operation].after) {
        ModelOperation *o = &model->operations[operation];
        o->done[o->done_count].event = event;
        o->done[o->done_count].part = part;
        o->done[o->done_count++].reads_only = reads_only;
        part = MODEL_NONE;
        reads_only = false;
    }
}

static void model_done(Model *model, int operation, bool reads_only, const int *threads, int count, bool own) {
    for (int i = 0; i < count; i++) {
        int event = model_event(model, threads[i]);
        model_put(&model->threads[threads[i]].known.sets[0], event);
        model_put_done(model, operation, event, own ? threads[i] : MODEL_NONE, reads_only);
    }
}

static void model_done_by(Model *model, int operation, bool reads_only, int object) {
    int *mark = &model->objects[object].marks[model->objects[object].phases + 1];
    if (*mark == MODEL_NONE)
        *mark = model_event(model, model->operations[operation].thread[0]);
    model_put_done(model, operation, *mark, MODEL_NONE, reads_only);
}

#endif
