/* The engine for threads beside a slow model (tests/reference/threads_model.h), on random programs: of each access both
 * have to say the same, whether it races with an earlier one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../reference/threads_model.h"
#include "engine/hb/threads.h"
#include "share.h"

enum { CTA_THREADS = 40, CTA_WARPS = 2, OBJECTS = 4 };

static uint64_t state;
static uint32_t draw(uint32_t below) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % below;
}
static bool one_in(uint32_t chances) {
    return draw(chances) == 0;
}

/* THREADS_SEED=n: that program alone, step by step. */
#define SAY(...) (getenv("THREADS_SEED") ? (void)fprintf(stderr, __VA_ARGS__) : (void)0)

typedef struct Run {
    Model *model;
    Threads *engine;
    uint32_t ctas;
    uint32_t exited[4][CTA_WARPS];
    uint32_t operations[MODEL_OPERATIONS], warps[MODEL_OPERATIONS], lanes[MODEL_OPERATIONS];
    bool together[MODEL_OPERATIONS], generic[MODEL_OPERATIONS];
    uint32_t cta, warp, mask; /* who is drawn */
    int threads[32], count;
} Run;

static void draw_lanes(Run *run) {
    static const uint32_t masks[] = {1, 1, 1, 2, 2, 4, 3, 6, 5, 0xff, 0xff, 0xf};
    do {
        run->cta = draw(run->ctas);
        run->warp = draw(CTA_WARPS);
        run->mask = masks[draw(sizeof masks / sizeof *masks)] & ~run->exited[run->cta][run->warp];
    } while (!run->mask);
    run->count = 0;
    for (int lane = 0; lane < 32; lane++)
        if (run->mask >> lane & 1)
            run->threads[run->count++] = (int)(run->cta * CTA_THREADS + run->warp * 32) + lane;
}

static uint32_t warp_number(const Run *run) {
    return run->cta * CTA_WARPS + run->warp;
}

/* As real kernels do it: one step of all warps of a CTA. */
static void all_of_cta(Run *run, uint32_t cta, uint32_t warp) {
    run->cta = cta;
    run->warp = warp;
    run->mask = (warp ? 0xff : UINT32_MAX) & ~run->exited[cta][warp];
    run->count = 0;
    for (int lane = 0; lane < 32; lane++)
        if (run->mask >> lane & 1)
            run->threads[run->count++] = (int)(cta * CTA_THREADS + warp * 32) + lane;
}

static uint64_t races_of(const Threads *engine) {
    uint32_t count;
    uint64_t times = 0;
    const ThreadsRace *races = threads_races(engine, &count);
    for (uint32_t i = 0; i < count; i++)
        if (races[i].reason != THREADS_READ_ONLY && races[i].reason != THREADS_AT_EXIT)
            times += races[i].times;
    return times;
}

static uint64_t draw_address(const Run *run, uint32_t element) {
    uint64_t offset = draw(16 / element) * element;
    return one_in(2) ? 0x1000 + offset : threads_shared(one_in(4) ? draw(run->ctas) : run->cta, 0x400 + offset);
}

static ThreadsAccess draw_access(void) {
    static const uint8_t sizes[] = {4, 4, 4, 4, 2, 1, 8};
    ThreadsAccess access = {.kind = (uint8_t)draw(2), .element = sizes[draw(sizeof sizes)], .site = draw(50)};
    if (one_in(2)) {
        access.kind = (uint8_t)draw(3);
        static const uint8_t orders[3][4] = {{1, 1, 2, 2}, {1, 1, 3, 3}, {1, 2, 3, 4}};
        access.order = orders[access.kind][draw(4)];
        access.scope = (uint8_t)(1 + draw(4));
        access.gives = access.kind == KIND_READ || (access.kind == KIND_UPDATE && !one_in(3));
        if (!access.gives && access.order != ORDER_RELAXED)
            access.order = access.kind == KIND_UPDATE ? ORDER_RELEASE : access.order;
        if (one_in(2))
            access.element = 4;
    } else if (one_in(12)) {
        access.proxy = PROXY_ASYNC;
    } else if (one_in(12)) {
        access.kind = KIND_WRITE;
        access.inits = true;
    }
    access.bytes = access.element;
    /* A release of several elements is not looked at: the engine takes all of them as before each. */
    if (one_in(6) && access.element <= 4 && access.order < ORDER_RELEASE)
        access.bytes *= 2;
    return access;
}

static ModelAccess for_model(const ThreadsAccess *access) {
    return (ModelAccess){.kind = access->kind,
                         .proxy = access->proxy,
                         .order = access->order,
                         .level = access->scope == SCOPE_SYS ? 3 : access->scope,
                         .element = access->element,
                         .gives = access->gives,
                         .inits = access->inits};
}

static bool step_access(Run *run, uint32_t operation) {
    ThreadsAccess access = draw_access();
    uint64_t addresses[32] = {0}, list[32];
    int index = MODEL_NONE;
    if (operation) {
        index = (int)operation - 1;
        access.order = one_in(8) && !run->together[index] ? ORDER_RELAXED : ORDER_WEAK;
        access.gives = access.inits = false;
        access.kind = (uint8_t)draw(2);
        access.proxy = run->generic[index] ? PROXY_GENERIC : PROXY_ASYNC;
        access.scope = access.order ? SCOPE_CLUSTER : 0;
        run->cta = run->warps[index] / CTA_WARPS;
        run->warp = run->warps[index] % CTA_WARPS;
        run->mask = run->together[index] ? run->lanes[index] & -run->lanes[index] : run->lanes[index];
        run->count = 0;
        for (int lane = 0; lane < 32; lane++)
            if (run->mask >> lane & 1)
                run->threads[run->count++] = (int)(run->cta * CTA_THREADS + run->warp * 32) + lane;
    }
    uint64_t first = draw_address(run, access.bytes);
    uint32_t pattern = draw(3);
    for (int i = 0; i < run->count; i++) {
        list[i] = pattern == 0   ? first
                  : pattern == 1 ? first + (uint64_t)i * access.bytes
                                 : draw_address(run, access.bytes);
        addresses[run->threads[i] % CTA_THREADS % 32] = list[i];
    }
    SAY("%u.%u %x: op %d kind %d order %d scope %d proxy %d inits %d gives %d element %d bytes %u:", run->cta,
        run->warp, run->mask, index, access.kind, access.order, access.scope, access.proxy, access.inits, access.gives,
        access.element, access.bytes);
    for (int i = 0; i < run->count; i++)
        SAY(" %llx", (unsigned long long)list[i]);
    uint64_t before = races_of(run->engine);
    if (operation && run->together[index])
        threads_piece(run->engine, run->operations[index], &access, list[0], access.bytes);
    else
        threads_access(run->engine, operation ? run->operations[index] : 0, warp_number(run), run->mask, &access,
                       addresses);
    ModelAccess model = for_model(&access);
    bool expected = model_access(run->model, index, run->threads, list, run->count, &model,
                                 (int)(access.bytes / access.element)) != 0;
    SAY(" -> expected %d, found %d; %d %d\n", expected, races_of(run->engine) > before, run->model->order_matters,
        threads_order_matters(run->engine) != THREADS_NONE);
    uint32_t count;
    const ThreadsRace *races = threads_races(run->engine, &count);
    for (uint32_t i = 0; i < count; i++)
        SAY("    %u.%u kind %d -> %u.%u kind %d reason %d at %llx, %llu times\n", races[i].first.warp,
            races[i].first.lane, races[i].first.access.kind, races[i].second.warp, races[i].second.lane,
            races[i].second.access.kind, races[i].reason, (unsigned long long)races[i].address,
            (unsigned long long)races[i].times);
    /* Behind a race, what the race stands for is not looked at again. */
    bool matters = threads_order_matters(run->engine) != THREADS_NONE, raced = races_of(run->engine) > 0;
    return expected == (races_of(run->engine) > before) && (!matters || run->model->order_matters) &&
           (raced || matters == run->model->order_matters);
}

static void step_fence(Run *run) {
    static const Order orders[] = {ORDER_ACQ_REL, ORDER_ACQ_REL, ORDER_RELEASE, ORDER_ACQUIRE};
    Order order = orders[draw(4)];
    Scope scope = (Scope)(1 + draw(4));
    bool sequential = one_in(4);
    SAY("%u.%u %x: fence %d scope %d sc %d\n", run->cta, run->warp, run->mask, order, scope, sequential);
    threads_fence(run->engine, warp_number(run), run->mask, order, scope, sequential);
    model_fence(run->model, run->threads, run->count, order, scope == SCOPE_SYS ? 3 : (int)scope, sequential);
}

static void step_proxy(Run *run) {
    ThreadsSpace space = (ThreadsSpace)draw(4);
    Order order = one_in(2) ? ORDER_ACQ_REL : one_in(2) ? ORDER_RELEASE : ORDER_ACQUIRE;
    Scope scope = (Scope)(1 + draw(3));
    SAY("%u.%u %x: proxy fence space %d order %d scope %d\n", run->cta, run->warp, run->mask, space, order, scope);
    if (one_in(5)) {
        SAY("  no: of inits\n");
        threads_fence_inits(run->engine, warp_number(run), run->mask);
        model_fence_inits(run->model, run->threads, run->count);
        return;
    }
    threads_fence_proxy(run->engine, warp_number(run), run->mask, PROXY_ASYNC, space, order, scope, 0);
    model_fence_proxy(run->model, run->threads, run->count, (int)space, order, (int)scope);
}

static void step_object(Run *run) {
    uint32_t object = draw(OBJECTS);
    bool relaxed = one_in(4);
    Scope scope = (Scope)(1 + draw(4));
    int level = scope == SCOPE_SYS ? 3 : (int)scope;
    uint32_t what = draw(5);
    SAY("%u.%u %x: object %u what %u relaxed %d scope %d\n", run->cta, run->warp, run->mask, object, what, relaxed,
        scope);
    switch (what) {
    case 0:
    case 1:
        threads_arrive(run->engine, 100 + object, object % run->ctas, warp_number(run), run->mask,
                       relaxed ? ORDER_RELAXED : ORDER_RELEASE, scope);
        model_arrive(run->model, (int)object, run->threads, run->count, relaxed, level);
        break;
    case 2:
        if (run->model->objects[object].phases < 500) {
            threads_arrive(run->engine, 100 + object, object % run->ctas, 0, 0, ORDER_RELEASE, scope);
            threads_flip(run->engine, 100 + object);
            model_flip(run->model, (int)object);
        }
        break;
    default:
        threads_wait(run->engine, 100 + object, warp_number(run), run->mask, relaxed ? ORDER_RELAXED : ORDER_ACQUIRE,
                     scope);
        model_wait(run->model, (int)object, run->threads, run->count, relaxed, level);
    }
}

/* bar.sync of a CTA, of all of its threads or of its first warp. */
static void step_barrier(Run *run) {
    uint32_t cta = draw(run->ctas), warps = one_in(3) ? 1 : CTA_WARPS, name = 1 + cta;
    SAY("bar.sync %u, %u warps\n", cta, warps);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t warp = 0; warp < warps; warp++) {
            all_of_cta(run, cta, warp);
            if (!run->mask)
                continue;
            if (pass == 0) {
                threads_arrive(run->engine, name, cta, warp_number(run), run->mask, ORDER_RELEASE, SCOPE_CTA);
                model_arrive(run->model, 8 + (int)cta, run->threads, run->count, false, 1);
            } else {
                threads_wait(run->engine, name, warp_number(run), run->mask, ORDER_ACQUIRE, SCOPE_CTA);
                model_wait(run->model, 8 + (int)cta, run->threads, run->count, false, 1);
            }
        }
        if (pass == 0) {
            threads_arrive(run->engine, name, cta, 0, 0, ORDER_RELEASE, SCOPE_CTA);
            threads_flip(run->engine, name);
            model_flip(run->model, 8 + (int)cta);
        }
    }
}

static void step_issue(Run *run) {
    int index = run->model->operation_count;
    if (index == MODEL_OPERATIONS)
        return;
    bool together = one_in(3);
    int after = index && one_in(4) ? (int)draw((uint32_t)index) : MODEL_NONE;
    SAY("%u.%u %x: issue %d together %d after %d\n", run->cta, run->warp, run->mask, index, together, after);
    run->together[index] = together;
    run->generic[index] = one_in(2);
    run->warps[index] = warp_number(run);
    run->lanes[index] = run->mask;
    run->operations[index] = threads_issue(run->engine, warp_number(run), run->mask, together,
                                           after == MODEL_NONE ? 0 : run->operations[after], 60);
    model_issue(run->model, run->threads, run->count, together, after);
}

static bool step_operation(Run *run) {
    if (!run->model->operation_count || one_in(3)) {
        step_issue(run);
        return true;
    }
    uint32_t index = draw((uint32_t)run->model->operation_count);
    if (one_in(2) || run->model->operations[index].done_count > 200)
        return step_access(run, index + 1);
    bool reads_only = one_in(3);
    ThreadsDone done = reads_only ? THREADS_READS_DONE : THREADS_ALL_DONE;
    if (one_in(2)) {
        uint32_t object = draw(OBJECTS);
        SAY("op %u done by object %u, reads %d\n", index, object, reads_only);
        threads_done_by(run->engine, run->operations[index], done, 100 + object, object % run->ctas, UINT32_MAX);
        model_done_by(run->model, (int)index, reads_only, (int)object);
        return true;
    }
    bool own = !run->together[index] && one_in(2);
    if (own) {
        run->cta = run->warps[index] / CTA_WARPS;
        run->warp = run->warps[index] % CTA_WARPS;
        run->mask = run->lanes[index] & (one_in(2) ? UINT32_MAX : 5);
        run->count = 0;
        for (int lane = 0; lane < 32; lane++)
            if (run->mask >> lane & 1)
                run->threads[run->count++] = (int)(run->cta * CTA_THREADS + run->warp * 32) + lane;
        if (!run->mask)
            return true;
    }
    SAY("%u.%u %x: op %u done, reads %d own %d\n", run->cta, run->warp, run->mask, index, reads_only, own);
    threads_done(run->engine, run->operations[index], done, warp_number(run), run->mask, own);
    model_done(run->model, (int)index, reads_only, run->threads, run->count, own);
    return true;
}

static bool step(Run *run, uint32_t mix) {
    draw_lanes(run);
    switch (draw(mix)) {
    default:
        return step_access(run, 0);
    case 0:
        step_fence(run);
        break;
    case 1:
        step_object(run);
        break;
    case 2:
        SAY("%u.%u %x: warp sync\n", run->cta, run->warp, run->mask);
        threads_warp_sync(run->engine, warp_number(run), run->mask);
        model_meet(run->model, run->threads, run->count);
        break;
    case 3:
        step_barrier(run);
        break;
    case 4:
        step_proxy(run);
        break;
    case 5:
        return step_operation(run);
    case 6:
        if (one_in(12)) {
            SAY("%u.%u %x: exit\n", run->cta, run->warp, run->mask & 6);
            threads_exit(run->engine, warp_number(run), run->mask & 6);
            run->exited[run->cta][run->warp] |= run->mask & 6;
        }
        break;
    }
    return true;
}

static Model model; /* large */

/* The number of the step at which they differ; 0: they do not. */
static int program(uint64_t seed, int steps, uint32_t sweep_at) {
    state = seed * 977 + 12345;
    static const uint32_t ctas[] = {1, 2, 2, 4};
    Run run = {.ctas = ctas[draw(4)], .model = &model};
    uint32_t cluster = run.ctas > 1 && one_in(2) ? 2 : 1;
    const char *problem;
    ThreadsShape shape = {.ctas = run.ctas, .cta_threads = CTA_THREADS, .cluster = cluster, .sweep_at = sweep_at};
    run.engine = threads_create(&shape, &problem);
    assert_non_null(run.engine);
    model_begin(&model, (int)run.ctas, CTA_THREADS, (int)cluster);
    uint32_t mix = 9 + draw(12);
    int differs = 0;
    for (int i = 1; i <= steps && !differs && model.count < MODEL_EVENTS - 300; i++)
        if (!step(&run, mix))
            differs = i;
    assert_null(threads_trouble(run.engine));
    threads_free(run.engine);
    model_end(&model);
    return differs;
}

static void agree(int programs, int steps, uint32_t sweep_at, uint64_t first) {
    const char *only = getenv("THREADS_SEED");
    programs = (int)share_of((unsigned)programs);
    for (int i = 0; i < (only ? 1 : programs); i++) {
        uint64_t seed = only ? strtoull(only, NULL, 10) : first + (uint64_t)i;
        int differs = program(seed, only ? 200 : steps, sweep_at);
        if (differs)
            fprintf(stderr, "seed %llu: step %d differs\n", (unsigned long long)seed, differs);
        assert_int_equal(differs, 0);
    }
}

static void agree_on_short_programs(void **context) {
    (void)context;
    agree(400, 30, 0, 1);
}
static void agree_on_long_programs(void **context) {
    (void)context;
    agree(25, 150, 0, 100000);
}
static void agree_when_it_sweeps(void **context) {
    (void)context;
    agree(25, 120, 8, 200000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agree_on_short_programs),
        cmocka_unit_test(agree_on_long_programs),
        cmocka_unit_test(agree_when_it_sweeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
