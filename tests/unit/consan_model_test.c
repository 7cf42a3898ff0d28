/* The race engine beside a slow model, on random histories of actors, helpers, barriers, groups and partitions.
 *
 * Happens-before, as it is defined: every access is an event, and an actor knows a set of events. A helper knows what
 * its base actor knows and what it learned itself. A phase of a barrier is a set, too, and there is a new one for each
 * phase, not for each parity. A read is legal if the last write and every update since then are known, an update if the
 * last write and every read since then are, and a write if all of these are, each by itself. In that the engine's one
 * bit a reader must be as good: a reader's earlier reads come before its latest one, so the one that knows that knows
 * all. Waits are for the phase that was completed last; groups are kept as numbers.
 *
 * Histories are of few agents, or of more than a set of them, whose spans lie in the memory of several CTAs. In the
 * latter, some agents meet more often than others do: or nothing would ever hear of anything.
 *
 * The model shares two simplifications with the rules: what happened before the last write of a span is forgotten, even
 * if it raced with that write; and an access that waits in a group happens when it is waited for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "engine/consan/consan.h"
#include "share.h"

enum { SPANS = 160, BARRIERS = 8, FEW = 4, STEPS = 500, HISTORIES = 4000, MANY_HISTORIES = 300 };
enum { MODEL_AGENTS = 100, MOST_ACTORS = (MODEL_AGENTS / CONSAN_SET + 1) * CONSAN_SET_ACTORS, MOST_HOMES = 16 };
enum { EVENTS = 1024, EVENT_WORDS = EVENTS / 64, NONE = UINT32_MAX };

typedef struct Known {
    uint64_t words[EVENT_WORDS];
} Known;

typedef struct ModelSpan {
    uint32_t write; /* event, or NONE */
    uint32_t read_count, update_count;
    uint32_t reads[EVENTS], updates[EVENTS];
    int32_t groups[CONSAN_GROUPS][MODEL_AGENTS]; /* that touch it: 0 none, -1 not committed, else its number */
    int32_t reported[MODEL_AGENTS];              /* the same of the copy that wrote it last, if that told a barrier */
} ModelSpan;

typedef struct Model {
    uint32_t agents, homes;
    uint32_t span_ids[SPANS]; /* that there are, home after home as they were made */
    uint32_t span_count;
    Known actors[MOST_ACTORS];
    Known now[BARRIERS], before[BARRIERS];
    uint32_t parity[BARRIERS];
    int32_t committed[CONSAN_GROUPS][MODEL_AGENTS]; /* groups so far */
    uint32_t events;
    uint64_t random;
    ModelSpan spans[SPANS * MOST_HOMES]; /* the last, and large: cleared one by one */
} Model;

static uint32_t choose(Model *model, uint32_t count) { /* xorshift64* */
    model->random ^= model->random >> 12;
    model->random ^= model->random << 25;
    model->random ^= model->random >> 27;
    return (uint32_t)(model->random * 0x2545f4914f6cdd1du >> 33) % count;
}

static bool known_has(const Known *known, uint32_t event) {
    return known->words[event / 64] >> event % 64 & 1;
}

static void known_put(Known *known, uint32_t event) {
    known->words[event / 64] |= UINT64_C(1) << event % 64;
}

static void known_add(Known *known, const Known *more) {
    for (uint32_t i = 0; i < EVENT_WORDS; i++)
        known->words[i] |= more->words[i];
}

static uint32_t base_of(uint32_t actor) {
    return consan_base(consan_agent(actor));
}

static bool knows(const Model *model, uint32_t actor, uint32_t event) {
    return known_has(&model->actors[actor], event) || known_has(&model->actors[base_of(actor)], event);
}

static bool is_pending(const ModelSpan *span, ConsanGroup group) {
    for (uint32_t agent = 0; agent < MODEL_AGENTS; agent++)
        if (span->groups[group][agent])
            return true;
    return false;
}

typedef enum Kind { READ, WRITE, UPDATE, KINDS } Kind;

static bool model_allows(const Model *model, uint32_t actor, const ModelSpan *span, Kind kind) {
    if ((span->write != NONE && !knows(model, actor, span->write)) || is_pending(span, CONSAN_COPY))
        return false;
    for (uint32_t i = 0; kind != READ && i < span->read_count; i++)
        if (!knows(model, actor, span->reads[i]))
            return false;
    for (uint32_t i = 0; kind != UPDATE && i < span->update_count; i++)
        if (!knows(model, actor, span->updates[i]))
            return false;
    return kind == READ || !(is_pending(span, CONSAN_WGMMA) || is_pending(span, CONSAN_STORE));
}

static uint32_t model_access(Model *model, uint32_t actor, const uint32_t *spans, uint32_t count, Kind kind) {
    uint32_t event = model->events++;
    assert_true(event < EVENTS);
    known_put(&model->actors[actor], event);
    for (uint32_t i = 0; i < count; i++) {
        ModelSpan *span = &model->spans[spans[i]];
        if (kind == WRITE) {
            span->write = event;
            span->read_count = span->update_count = 0;
            memset(span->reported, 0, sizeof span->reported);
        } else if (kind == UPDATE) {
            span->updates[span->update_count++] = event;
        } else {
            span->reads[span->read_count++] = event;
        }
    }
    return event;
}

/* An access that a group was open for happens, in the engine at the next call. */
static uint32_t settle(Consan *engine, Model *model, ConsanGroup group, uint32_t agent, uint32_t actor, uint32_t span) {
    uint32_t event = model_access(model, actor, &span, 1, group == CONSAN_COPY ? WRITE : READ);
    model->spans[span].groups[group][agent] = 0;
    engine->words[span / CONSAN_LANES].staged[group][agent]->places[span % CONSAN_LANES] = event;
    return event;
}

/* The engine and the model say the same of the access; and if they object, it is to an access that is not known. True
 * if they do not. */
static bool compare(const Consan *engine, const Model *model, uint32_t actor, const uint32_t *spans, uint32_t count,
                    Kind kind) {
    ConsanConflict conflict = kind == WRITE    ? consan_verify_write(engine, actor, spans, count)
                              : kind == UPDATE ? consan_verify_update(engine, actor, spans, count, 4)
                                               : consan_verify_read(engine, actor, spans, count);
    uint32_t first = 0;
    while (first < count && model_allows(model, actor, &model->spans[spans[first]], kind))
        first++;
    if (first == count) {
        assert_int_equal(conflict.kind, CONSAN_CLEAN);
        return true;
    }
    assert_int_not_equal(conflict.kind, CONSAN_CLEAN);
    assert_int_equal(conflict.span, spans[first]);
    const ModelSpan *span = &model->spans[spans[first]];
    if (conflict.kind == CONSAN_PENDING_GROUP) {
        assert_int_not_equal(span->groups[conflict.group][consan_agent(conflict.actor)], 0);
        return false;
    }
    assert_false(knows(model, actor, conflict.place));
    bool found = conflict.kind == CONSAN_OUTSTANDING_WRITE && conflict.place == span->write;
    for (uint32_t i = 0; conflict.kind == CONSAN_OUTSTANDING_READ && i < span->read_count; i++)
        found |= span->reads[i] == conflict.place;
    for (uint32_t i = 0; conflict.kind == CONSAN_OUTSTANDING_WRITE && i < span->update_count; i++)
        found |= span->updates[i] == conflict.place;
    assert_true(found);
    return false;
}

static uint32_t choose_agent(Model *model) {
    if (model->agents <= FEW || !choose(model, 4))
        return choose(model, model->agents);
    return choose(model, FEW) * (model->agents - 1) / (FEW - 1);
}

static uint32_t choose_actor(Model *model) {
    return consan_base(choose_agent(model)) + CONSAN_SET * (choose(model, 2) ? 0 : choose(model, 4));
}

/* Some neighbors: they lie in one word, or in two, or in the last one. */
static uint32_t choose_spans(Model *model, uint32_t *spans) {
    static const uint32_t starts[] = {0, 2, 3, 62, 63};
    uint32_t start = starts[choose(model, 5)], count = 1 + choose(model, 3), kept = 0;
    if (!choose(model, 3))
        start = model->span_count - 1;
    for (uint32_t i = 0; i < count; i++)
        if (start + i < model->span_count)
            spans[kept++] = model->span_ids[start + i];
    if (kept == 2 && choose(model, 2)) {
        uint32_t span = spans[0];
        spans[0] = spans[1];
        spans[1] = span;
    }
    return kept;
}

static void step_access(Consan *engine, Model *model) {
    uint32_t spans[3], count = choose_spans(model, spans), actor = choose_actor(model);
    Kind kind = (Kind)choose(model, KINDS);
    bool legal = compare(engine, model, actor, spans, count, kind);
    if (legal ? choose(model, 4) == 0 : choose(model, 8) > 0) /* few races, or there would be nothing else */
        return;
    uint32_t event = model_access(model, actor, spans, count, kind);
    if (kind == WRITE)
        consan_set_write(engine, actor, spans, count, event);
    else if (kind == UPDATE)
        consan_set_update(engine, actor, spans, count, 4, event);
    else
        consan_set_read(engine, actor, spans, count, event);
}

static void step_barrier(Consan *engine, Model *model) {
    uint32_t barrier = choose(model, BARRIERS), actor = choose_actor(model), parity = model->parity[barrier];
    uint32_t spans[3], count;
    switch (choose(model, 7)) {
    case 0:
    case 1:
        consan_track_frontier(engine, actor, barrier, parity);
        known_add(&model->now[barrier], &model->actors[actor]);
        known_add(&model->now[barrier], &model->actors[base_of(actor)]);
        break;
    case 2: /* a copy, and its completion */
        count = choose_spans(model, spans);
        if (!compare(engine, model, actor, spans, count, WRITE))
            break;
        uint32_t event = model_access(model, actor, spans, count, WRITE);
        consan_set_write(engine, actor, spans, count, event);
        consan_track_writes(engine, spans, count, barrier, parity);
        known_put(&model->now[barrier], event);
        break;
    case 3:
    case 4:
        model->before[barrier] = model->now[barrier];
        memset(&model->now[barrier], 0, sizeof model->now[barrier]);
        model->parity[barrier] = !parity;
        consan_begin_phase(engine, barrier, !parity);
        break;
    default:
        consan_transfer(engine, actor, barrier, !parity);
        known_add(&model->actors[actor], &model->before[barrier]);
    }
}

/* The agent's copies report to a barrier; their group still counts them. */
static void report(Consan *engine, Model *model, uint32_t agent, uint32_t barrier) {
    uint32_t base = consan_base(agent);
    for (uint32_t i = 0; i < model->span_count; i++) {
        ModelSpan *span = &model->spans[model->span_ids[i]];
        int32_t number = span->groups[CONSAN_COPY][agent];
        if (number) {
            (void)settle(engine, model, CONSAN_COPY, agent, CONSAN_TMA + base, model->span_ids[i]);
            span->reported[agent] = number;
        }
        if (span->reported[agent])
            known_put(&model->now[barrier], span->write);
    }
    consan_track_copies(engine, base, barrier, model->parity[barrier]);
}

static bool is_over(const Model *model, ConsanGroup group, uint32_t agent, int32_t number, uint32_t left) {
    return number > 0 && number + (int32_t)left <= model->committed[group][agent];
}

static void clear(Consan *engine, Model *model, ConsanGroup group, uint32_t agent, uint32_t left) {
    uint32_t base = consan_base(agent);
    for (uint32_t i = 0; i < model->span_count; i++) {
        ModelSpan *span = &model->spans[model->span_ids[i]];
        if (is_over(model, group, agent, span->groups[group][agent], left))
            (void)settle(engine, model, group, agent, base, model->span_ids[i]);
        if (group == CONSAN_COPY && is_over(model, group, agent, span->reported[agent], left)) {
            known_put(&model->actors[base], span->write);
            span->reported[agent] = 0;
        }
    }
    consan_clear(engine, group, base, left);
}

static void commit(Consan *engine, Model *model, ConsanGroup group, uint32_t agent) {
    consan_commit(engine, group, consan_base(agent));
    int32_t number = ++model->committed[group][agent];
    for (uint32_t i = 0; i < model->span_count; i++) {
        ModelSpan *span = &model->spans[model->span_ids[i]];
        if (span->groups[group][agent] < 0)
            span->groups[group][agent] = number;
        if (group == CONSAN_COPY && span->reported[agent] < 0)
            span->reported[agent] = number;
    }
}

static void step_group(Consan *engine, Model *model) {
    ConsanGroup group = (ConsanGroup)choose(model, CONSAN_GROUPS);
    uint32_t agent = choose_agent(model), base = consan_base(agent), barrier = choose(model, BARRIERS);
    uint32_t spans[3], count = choose_spans(model, spans), left = choose(model, 3);
    switch (choose(model, 8)) {
    case 0:
    case 1:
        consan_stage(engine, group, base, spans, count, 0);
        for (uint32_t i = 0; i < count; i++)
            model->spans[spans[i]].groups[group][agent] = -1;
        break;
    case 2:
    case 3:
    case 4:
        commit(engine, model, group, agent);
        break;
    case 5:
        if (group == CONSAN_COPY)
            report(engine, model, agent, barrier);
        break;
    default:
        clear(engine, model, group, agent, left);
    }
}

static void step_other(Consan *engine, Model *model) {
    uint32_t parent = 0, child = consan_base(1 + choose(model, model->agents - 1));
    uint32_t span = model->span_ids[choose(model, model->span_count)];
    switch (choose(model, 3)) {
    case 0: /* it begins again after it has ended */
    case 1:
        consan_join(engine, parent, child);
        known_add(&model->actors[parent], &model->actors[child]);
        if (choose(model, 2))
            break;
        consan_fork(engine, parent, child);
        model->actors[child] = model->actors[parent];
        break;
    default: {
        uint32_t half = consan_split(engine, span);
        if (half == UINT32_MAX || model->span_count == SPANS)
            break;
        assert_true(half < SPANS * MOST_HOMES);
        model->spans[half] = model->spans[span];
        model->span_ids[model->span_count++] = half;
    }
    }
}

static void *take(void *context, size_t size) {
    return arena_zalloc(context, size);
}

static void play(Consan *engine, Model *model, bool grouped) {
    for (uint32_t step = 0; step < STEPS && model->events < EVENTS - SPANS; step++) {
        uint32_t what = choose(model, 40);
        if (what == 0)
            step_other(engine, model);
        else if (what < 6 && grouped)
            step_group(engine, model);
        else if (what < 22)
            step_barrier(engine, model);
        else
            step_access(engine, model);
    }
}

static void clear_span(ModelSpan *span) {
    span->write = NONE;
    span->read_count = span->update_count = 0;
    memset(span->groups, 0, sizeof span->groups);
    memset(span->reported, 0, sizeof span->reported);
}

/* Enough spans for more than a word, in one home; in several, a third of a word in each. */
static uint32_t make_spans(Consan *engine, Model *model) {
    for (uint32_t home = 0; home < model->homes; home++)
        for (uint32_t i = 0; i < (model->homes > 1 ? 21 : 66) && model->span_count < SPANS / 2; i++)
            model->span_ids[model->span_count++] = consan_span(engine, home);
    return model->span_count;
}

static void compare_histories(uint32_t agents, uint32_t homes, uint32_t histories) {
    Arena arena;
    Consan engine;
    arena_init(&arena, (size_t)1 << 28);
    Model *model = ARENA_NEW(&arena, Model);
    ConsanSize size = {.agents = agents, .homes = homes, .spans = SPANS, .barriers = BARRIERS};
    assert_true(consan_create(&engine, &size, take, &arena));
    uint32_t ids[SPANS], count = 0;
    for (uint32_t history = 0; history < histories; history++) {
        memset(model, 0, offsetof(Model, spans));
        model->agents = agents;
        model->homes = homes;
        model->random = 0x9e3779b97f4a7c15u * (history + 1);
        if (history) {
            memcpy(model->span_ids, ids, sizeof ids);
            model->span_count = count;
        } else {
            (void)make_spans(&engine, model);
        }
        for (uint32_t i = 0; i < engine.word_count * CONSAN_LANES; i++)
            clear_span(&model->spans[i]);
        play(&engine, model, history % 2);
        assert_false(engine.exhausted);
        memcpy(ids, model->span_ids, sizeof ids); /* with those that were split */
        count = model->span_count;
        consan_reset(&engine);
    }
    arena_free(&arena);
}

static void test_it_objects_iff_happens_before_does(void **state) {
    (void)state;
    compare_histories(FEW, 1, share_of(HISTORIES));
}

static void test_so_it_does_with_more_than_a_set_of_agents(void **state) {
    (void)state;
    static const struct { uint32_t agents, homes; } sizes[] = {{17, 1}, {20, 4}, {33, 3}, {40, 8}, {80, 16}, {100, 2}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        compare_histories(sizes[i].agents, sizes[i].homes, share_of(MANY_HISTORIES));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_it_objects_iff_happens_before_does),
                                       cmocka_unit_test(test_so_it_does_with_more_than_a_set_of_agents)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
