/* Executable graphs of the program: what each does, as far as is known, and how its launches are made. */
#include "runtime/hooks.h"
#include "runtime/record/gpu.h"
#include "runtime/record/gpu_named.h"

#include "base/hash.h"

#include <stdlib.h>

enum { MOST_SIGNS = 4096, MOST_APART = 4, FLAG_DEVICE_LAUNCH = 4 };

typedef struct GraphsGraph {
    struct GraphsGraph *next;
    Handle exec;
    Handle clone;    /* NULL: there is none */
    Handle of;       /* that of the program, whose nodes are changed for launches in place; NULL: they are not */
    bool kept;       /* ... which the program has destroyed */
    const char *why; /* kernels in it are not recorded; NULL: they can be */
    bool planned;
    bool stale;       /* some node is not what it was when it was made */
    bool untold;      /* the driver did not tell all that is in it */
    bool outside;     /* something in it orders it with what is outside it */
    bool libraries;   /* ... and it has kernels without PTX */
    bool seldom;      /* some of its kernels may not be run */
    const char *name; /* of one of its kernels */
    GraphPlan plan;
    uint64_t sign, exact, plain; /* plain: launches as it is that were not counted yet */
    GraphLanes lanes;
    NamedGraph *named; /* what was captured into it; NULL: it was not, or that is not known */
    Handle done;       /* an event behind its last launch, where `behind` says so */
    bool behind;       /* ... it is */
    bool moves;        /* it is launched in several streams, in turns */
    Handle last;       /* the stream of its last launch */
    bool launched;
    pthread_mutex_t mutex; /* of its launches */
} GraphsGraph;

static GraphsGraph *graphs;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of the list */
static struct { uint64_t sign, times; } seen[MOST_SIGNS];
static uint32_t seen_count;

static GraphsGraph *find(Handle exec) {
    pthread_mutex_lock(&mutex);
    GraphsGraph *graph = graphs;
    while (graph && graph->exec != exec)
        graph = graph->next;
    pthread_mutex_unlock(&mutex);
    return graph;
}

/* ---- What it does -------------------------------------------------------------------------------- */

/* Launches so far are of the kernels that it had. */
static void count(GraphsGraph *graph) {
    uint32_t copies = 0;
    for (uint32_t i = 0; i < graph->plan.count && graph->plain; i++) {
        int type = graph->plan.steps[i].type;
        if (type == NODE_KERNEL)
            gpu_ran_plain(graph->plan.steps[i].kernel, graph->plain, graph->why);
        copies += type == NODE_COPY || type == NODE_SET;
    }
    if (copies > 1 && graph->why && order_on())
        gpu_unseen_program("copies of a graph were not held against each other, and of each: %s", graph->why);
    if (graph->untold && graph->plain)
        gpu_unseen_times(graph->plain, "kernel_without_a_name", "%s", graph->why);
    graph->plain = 0;
}

static void make_plan(GraphsGraph *graph, Handle of) {
    graph_plan_free(&graph->plan);
    graph->untold = !graph_plan(&graph->plan, of);
    if (graph->untold && !graph->why)
        graph->why = "it is a node of a graph, of which the driver tells nothing";
    if (!graph->why)
        graph->why = graph->plan.why;
    graph->planned = true;
    graph->outside = false;
    graph->libraries = false;
    graph->seldom = false;
    graph->name = NULL;
    for (uint32_t i = 0; i < graph->plan.count; i++) {
        const GpuKernel *kernel = graph->plan.steps[i].kernel;
        int type = graph->plan.steps[i].type;
        graph->libraries |= gpu_is_library(kernel);
        graph->seldom |= graph->plan.steps[i].seldom;
        if (kernel && kernel->wanted && kernel->home->ptx)
            graph->name = kernel->name;
        graph->outside |= (type > NODE_KERNEL && type < NODE_CHILD) || (type > NODE_EMPTY && type != NODE_CONDITIONAL);
    }
    graph->sign = graph->why ? 0 : graph_sign(&graph->plan, &graph->exact);
}

/* It is what that graph is now. One that cannot be cloned may be gone when it is launched. */
static void follow(GraphsGraph *graph, Handle of) {
    const GraphDriver *driver = graph_driver();
    count(graph);
    named_drop(graph->named);
    graph->named = named_graph(of);
    if (graph->clone)
        driver->destroy(graph->clone);
    graph->clone = NULL;
    graph->planned = false;
    if (graph->of && !graph->why)
        graph->why = "it is a node of a graph that was changed in a way that is not followed";
    if (!graph->of && driver && graph_is_in_place(of)) {
        graph->of = of;
        make_plan(graph, of);
        return;
    }
    if (!driver || driver->clone(&graph->clone, of) != 0) {
        graph->clone = NULL;
        make_plan(graph, of);
        if (!graph->why)
            graph->why = "it is a node of a graph that cannot be cloned, which is not recorded";
        for (uint32_t i = 0; i < graph->plan.count; i++)
            if (graph->plan.steps[i].type == NODE_COPY || graph->plan.steps[i].type == NODE_SET)
                gpu_unseen_program(
                    "the program has copies in graphs that cannot be cloned: races with them were not checked");
    }
}

void graph_instantiated(Handle exec, Handle of, uint64_t flags) {
    GraphsGraph *graph = calloc(1, sizeof *graph);
    if (!graph)
        return;
    int mode = gpu_relax();
    pthread_mutex_init(&graph->mutex, NULL);
    graph->exec = exec;
    if (flags & FLAG_DEVICE_LAUNCH)
        graph->why = "it is a node of a graph that kernels can launch, which is not recorded";
    follow(graph, of);
    if (flags & FLAG_DEVICE_LAUNCH) { /* at least one launch, of which nothing is seen */
        make_plan(graph, of);
        graph->plain = 1;
    }
    pthread_mutex_lock(&mutex);
    graph->next = graphs;
    graphs = graph;
    pthread_mutex_unlock(&mutex);
    gpu_relaxed(mode);
}

void graph_updated(Handle exec, Handle of) {
    GraphsGraph *graph = find(exec);
    if (!graph)
        return;
    int mode = gpu_relax();
    pthread_mutex_lock(&graph->mutex);
    follow(graph, of);
    pthread_mutex_unlock(&graph->mutex);
    gpu_relaxed(mode);
}

Handle graph_variant(Handle exec, Handle node) {
    GraphsGraph *graph = find(exec);
    Handle variant = NULL;
    if (!graph || !graph->clone || graph_driver()->in_clone(&variant, node, graph->clone) != 0)
        return NULL;
    pthread_mutex_lock(&graph->mutex);
    count(graph);
    named_drop(graph->named); /* what was captured is not what it does */
    graph->named = NULL;
    graph->planned = false;
    pthread_mutex_unlock(&graph->mutex);
    return variant;
}

void graph_lost(Handle exec) {
    GraphsGraph *graph = find(exec);
    if (!graph)
        return;
    pthread_mutex_lock(&graph->mutex);
    if (graph->clone && !graph->planned)
        make_plan(graph, graph->clone);
    count(graph);
    if (!graph->why)
        graph->why = "it is a node of a graph that was changed in a way that is not followed";
    pthread_mutex_unlock(&graph->mutex);
}

void graph_node_changed(Handle node) {
    pthread_mutex_lock(&mutex);
    for (GraphsGraph *graph = graphs; graph; graph = graph->next)
        for (uint32_t i = 0; graph->of && i < graph->plan.count; i++)
            if (graph->plan.steps[i].node == node)
                graph->stale = true;
    pthread_mutex_unlock(&mutex);
}

bool graph_is_kept(Handle of) {
    bool kept = false;
    pthread_mutex_lock(&mutex);
    for (GraphsGraph *graph = graphs; graph; graph = graph->next)
        if (of && graph->of == of)
            kept = graph->kept = true;
    pthread_mutex_unlock(&mutex);
    return kept;
}

/* The mutex of the list is held. */
static bool is_used(Handle of) {
    const GraphsGraph *graph = graphs;
    while (graph && graph->of != of)
        graph = graph->next;
    return graph != NULL;
}

Handle graph_destroyed(Handle exec) {
    GraphsGraph *graph = find(exec);
    if (!graph)
        return NULL;
    int mode = gpu_relax();
    pthread_mutex_lock(&mutex);
    GraphsGraph **at = &graphs;
    while (*at != graph)
        at = &(*at)->next;
    *at = graph->next;
    Handle of = graph->kept && !is_used(graph->of) ? graph->of : NULL;
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&graph->mutex);
    count(graph);
    graph_plan_free(&graph->plan);
    graph_lanes_free(&graph->lanes);
    named_drop(graph->named);
    if (graph->clone)
        graph_driver()->destroy(graph->clone);
    if (graph->done)
        gpu_driver(NULL)->event_destroy(graph->done);
    pthread_mutex_unlock(&graph->mutex);
    free(graph);
    gpu_relaxed(mode);
    return of;
}

void graph_count_all(void) {
    pthread_mutex_lock(&mutex);
    for (GraphsGraph *graph = graphs; graph; graph = graph->next)
        count(graph);
    pthread_mutex_unlock(&mutex);
}

/* ---- Launches ------------------------------------------------------------------------------------ */

/* Whether its kernels may not have been recorded as often as launches are, in a stream of that number. */
static bool is_new(const GraphsGraph *graph, uint32_t stream) {
    uint64_t words[] = {graph->sign, stream < MOST_APART ? stream : MOST_APART};
    uint64_t sign = hash_bytes(HASH_START, words, sizeof words), times = 0;
    uint32_t i = 0;
    pthread_mutex_lock(&mutex);
    while (i < seen_count && seen[i].sign != sign)
        i++;
    if (i < MOST_SIGNS) {
        seen[i].sign = sign;
        times = seen[i].times++;
        seen_count += i == seen_count;
    }
    pthread_mutex_unlock(&mutex);
    return i == MOST_SIGNS || times < gpu_options()->launches;
}

/* Whether it is to be recorded; *again: for what runs beside it, though it was before. Among launches the graph stands
 * for all of its kernels, when it is launched as it is.
 */
static bool is_wanted(const GraphsGraph *graph, OrderStream stream, bool can_be, bool *again) {
    GpuOrder order = {0};
    uint64_t number = gpu_graph_number();
    order_launch(&(OrderLaunch){.stream = stream, .number = number, .may_poll = !named_here()}, &order);
    uint64_t words[] = {graph->exact, order.order.stream}, key = hash_bytes(HASH_START, words, sizeof words);
    bool looks = graph->sign && !graph->why;
    bool wanted = can_be && looks && (gpu_checks() || is_new(graph, order.order.stream) || graph->seldom);
    *again = can_be && looks && !wanted && graph->name && order_wants(&order, key);
    wanted |= *again;
    if (looks && graph->name)
        order_looked_at(&order, &(OrderKernel){graph->name, key, number, wanted});
    if (graph->libraries && !wanted && !named_here())
        order_library(&order, number);
    order_free(&order);
    return wanted;
}

/* Two launches of one graph do not run at the same time, whichever streams they are in. */
static bool waits_for_last(GraphsGraph *graph, OrderStream stream) {
    if (!graph->launched || graph->last == order_handle(stream))
        return true;
    graph->moves = true;
    return graph->behind && graph_wait(stream, graph->done) == 0;
}

static void launched(GraphsGraph *graph, OrderStream stream, bool mark) {
    graph->launched = true;
    graph->last = order_handle(stream);
    graph->behind = false;
    if (mark && (graph->done || gpu_driver(NULL)->event_create(&graph->done, EVENT_NO_TIMING) == 0))
        graph->behind = graph_mark(graph->done, stream) == 0;
}

/* What nodes of it wait for comes before all that comes behind it, and what they tell comes behind all before it. */
static void report_nodes(const GraphsGraph *graph, OrderStream stream, bool waits) {
    for (uint32_t i = 0; graph->outside && i < graph->plan.count; i++) {
        const GraphStep *step = &graph->plan.steps[i];
        if (waits)
            graph_report_waits(step, stream);
        else if (graph->clone || graph->of || (step->type != NODE_COPY && step->type != NODE_SET))
            graph_report(step, stream); /* others may be gone: its kernels are named */
    }
}

/* Kernels, copies and calls of the host: what a capture makes nodes of. */
static uint64_t count_nodes(const GraphPlan *plan) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        int type = plan->steps[i].type;
        count += type != NODE_EMPTY && type != NODE_WAIT_EVENT && type != NODE_RECORD_EVENT;
    }
    return count;
}

static Result launch_one(GraphsGraph *graph, OrderStream stream, Result (*go)(Handle, Handle), Handle handle) {
    const char *why = NULL;
    int mode = gpu_relax();
    if (gpu_checks() && graph->plan.in_place && !graph->why) /* what a launch found is asked for behind it */
        graph->why = "it is a node of a graph that is launched as a whole, which is not checked";
    if (graph->stale && !graph->why) {
        count(graph);
        graph->why = "it is a node of a graph that was changed in a way that is not followed";
    }
    bool ordered = waits_for_last(graph, stream), again = false;
    bool issues = order_on() && is_wanted(graph, stream, ordered, &again);
    if (issues && !graph_prepare(&graph->plan, &graph->lanes, order_handle(stream), &why)) {
        graph->why = why;
        issues = false;
    }
    Result result = 0;
    bool in_place = issues && graph->plan.in_place;
    if (issues && !in_place)
        result = graph_issue(&graph->plan, &graph->lanes, stream, again);
    gpu_relaxed(mode);
    if (in_place)
        result =
            graph_issue_in_place(&graph->plan, &graph->lanes, &(GraphInPlace){stream, graph->exec, handle, go, again});
    else if (!issues)
        result = go(graph->exec, handle);
    if (result)
        return result;
    mode = gpu_relax();
    if (!issues) {
        graph->plain++;
        if (order_on()) {
            report_nodes(graph, stream, true);
            report_nodes(graph, stream, false);
        }
    }
    launched(graph, stream, issues || graph->moves);
    gpu_relaxed(mode);
    return 0;
}

/* What it does is named, where it was captured so. */
static Result launch(GraphsGraph *graph, OrderStream stream, Result (*go)(Handle, Handle), Handle handle) {
    int mode = gpu_relax();
    if (!graph->planned)
        make_plan(graph, graph->clone);
    gpu_relaxed(mode);
    bool whole = !graph->untold && named_whole(graph->named, count_nodes(&graph->plan));
    if (whole)
        named_enter();
    Result result = launch_one(graph, stream, go, handle);
    if (whole)
        named_leave();
    if (!result)
        named_launched(graph->named, stream, whole);
    return result;
}

/* One whose making was not seen. */
static Result launch_unknown(Handle exec, OrderStream stream, Result (*go)(Handle, Handle), Handle handle) {
    Result result = go(exec, handle);
    if (result)
        return result;
    gpu_unseen("kernel_without_a_name", "it is a node of a graph whose making was not seen");
    if (order_on()) {
        order_events_elsewhere();
        order_work(stream, false);
        named_launched(NULL, stream, false);
    }
    return 0;
}

Result graph_launch(Handle exec, OrderStream stream, Result (*go)(Handle, Handle), Handle handle) {
    if (gpu_capture(order_handle(stream)) != CAPTURE_NONE) /* a node of another graph */
        return go(exec, handle);
    GraphsGraph *graph = find(exec);
    if (!graph)
        return launch_unknown(exec, stream, go, handle);
    pthread_mutex_lock(&graph->mutex);
    Result result = launch(graph, stream, go, handle);
    pthread_mutex_unlock(&graph->mutex);
    return result;
}
