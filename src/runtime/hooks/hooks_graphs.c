/* Entry points of the driver that capture streams, and that make executable graphs, change them and launch them. (Those
 * that make nodes of kernels are in hooks_launch.c.) */
#include "runtime/hooks.h"
#include "runtime/record/gpu.h"
#include "runtime/record/gpu_named.h"

#include <stdlib.h>

/* ---- Captures ------------------------------------------------------------------------------------ */

/* A stream in which one began. */
typedef struct Capture {
    struct Capture *next;
    Handle stream;
    pthread_t thread; /* of a stream of a thread */
} Capture;

static Capture *captures;

static bool is_of(const Capture *capture, Handle stream) {
    return capture->stream == stream &&
           ((uintptr_t)stream != STREAM_PER_THREAD || pthread_equal(capture->thread, pthread_self()));
}

static void add_capture(Handle stream) {
    Capture *capture = calloc(1, sizeof *capture);
    if (!capture)
        return;
    *capture = (Capture){captures, stream, pthread_self()};
    captures = capture;
}

static void remove_capture(Handle stream) {
    for (Capture **at = &captures; *at; at = &(*at)->next)
        if (is_of(*at, stream)) {
            Capture *capture = *at;
            *at = capture->next;
            free(capture);
            return;
        }
}

bool capture_underway(void) {
    return __atomic_load_n(&captures, __ATOMIC_RELAXED) != NULL;
}

static Handle named(Handle stream, bool per_thread) {
    return order_handle((OrderStream){.handle = stream, .per_thread = per_thread});
}

static Result begun(Result result, Handle stream) {
    if (!result) {
        GUARDED(add_capture(stream));
        named_capture_begins(stream);
    }
    return result;
}

/* It may have ended though it failed. */
static Result ended(Result result, Handle stream, Handle graph) {
    if (gpu_capture(stream) != CAPTURE_ACTIVE) {
        GUARDED(remove_capture(stream));
        named_capture_ends(stream, result ? NULL : graph);
    }
    return result;
}

#define BEGIN_CAPTURE(exported, per_thread)                                                   \
    EXPORTED Result exported(Handle stream, int mode) {                                       \
        return begun(NEXT(exported, (Handle, int), stream, mode), named(stream, per_thread)); \
    }
/* The first form has no mode. */
BEGIN_CAPTURE(cuStreamBeginCapture, false)
BEGIN_CAPTURE(cuStreamBeginCapture_ptsz, true)
BEGIN_CAPTURE(cuStreamBeginCapture_v2, false)
BEGIN_CAPTURE(cuStreamBeginCapture_v2_ptsz, true)

#define BEGIN_TO_GRAPH(exported, per_thread)                                                                     \
    EXPORTED Result exported(Handle stream, Handle graph, const Handle *before, const void *edges, size_t count, \
                             int mode) {                                                                         \
        return begun(NEXT(exported, (Handle, Handle, const Handle *, const void *, size_t, int), stream, graph,  \
                          before, edges, count, mode),                                                           \
                     named(stream, per_thread));                                                                 \
    }
BEGIN_TO_GRAPH(cuStreamBeginCaptureToGraph, false)
BEGIN_TO_GRAPH(cuStreamBeginCaptureToGraph_ptsz, true)

#define END_CAPTURE(exported, per_thread)                                       \
    EXPORTED Result exported(Handle stream, Handle *graph) {                    \
        Result result = NEXT(exported, (Handle, Handle *), stream, graph);      \
        return ended(result, named(stream, per_thread), graph ? *graph : NULL); \
    }
END_CAPTURE(cuStreamEndCapture, false)
END_CAPTURE(cuStreamEndCapture_ptsz, true)

/* ---- Executable graphs --------------------------------------------------------------------------- */

static Result made(Result result, const Handle *exec, Handle graph, uint64_t flags) {
    if (!result && gpu_on() && gpu_driver(NULL))
        graph_instantiated(*exec, graph, flags);
    return result;
}

#define INSTANTIATE(exported)                                                                                     \
    EXPORTED Result exported(Handle *exec, Handle graph, Handle *wrong, char *log, size_t bytes) {                \
        return made(NEXT(exported, (Handle *, Handle, Handle *, char *, size_t), exec, graph, wrong, log, bytes), \
                    exec, graph, 0);                                                                              \
    }
INSTANTIATE(cuGraphInstantiate)
INSTANTIATE(cuGraphInstantiate_v2)

EXPORTED Result cuGraphInstantiateWithFlags(Handle *exec, Handle graph, unsigned long long flags) {
    return made(NEXT(cuGraphInstantiateWithFlags, (Handle *, Handle, unsigned long long), exec, graph, flags), exec,
                graph, flags);
}

/* CUDA_GRAPH_INSTANTIATE_PARAMS begins with the flags. */
#define INSTANTIATE_WITH(exported)                                                                          \
    EXPORTED Result exported(Handle *exec, Handle graph, uint64_t *with) {                                  \
        uint64_t flags = with ? *with : 0;                                                                  \
        return made(NEXT(exported, (Handle *, Handle, uint64_t *), exec, graph, with), exec, graph, flags); \
    }
INSTANTIATE_WITH(cuGraphInstantiateWithParams)
INSTANTIATE_WITH(cuGraphInstantiateWithParams_ptsz)

static Result updated(Result result, Handle exec, Handle graph) {
    if (!result && gpu_on() && gpu_driver(NULL))
        graph_updated(exec, graph);
    return result;
}

EXPORTED Result cuGraphExecUpdate(Handle exec, Handle graph, Handle *wrong, int *why) {
    return updated(NEXT(cuGraphExecUpdate, (Handle, Handle, Handle *, int *), exec, graph, wrong, why), exec, graph);
}

EXPORTED Result cuGraphExecUpdate_v2(Handle exec, Handle graph, void *why) {
    return updated(NEXT(cuGraphExecUpdate_v2, (Handle, Handle, void *), exec, graph, why), exec, graph);
}

EXPORTED Result cuGraphExecDestroy(Handle exec) {
    Handle kept = gpu_on() && gpu_driver(NULL) ? graph_destroyed(exec) : NULL;
    Result result = NEXT(cuGraphExecDestroy, (Handle), exec);
    if (kept)
        NEXT(cuGraphDestroy, (Handle), kept);
    return result;
}

EXPORTED Result cuGraphDestroy(Handle graph) {
    named_graph_gone(graph);
    if (gpu_on() && gpu_driver(NULL) && graph_is_kept(graph))
        return 0;
    return NEXT(cuGraphDestroy, (Handle), graph);
}

EXPORTED Result cuGraphDestroyNode(Handle node) {
    if (gpu_on() && gpu_driver(NULL))
        graph_node_changed(node);
    return NEXT(cuGraphDestroyNode, (Handle), node);
}

/* ---- Nodes of an executable graph that are changed ----------------------------------------------- */

Result graph_follow(Result result, Handle exec, Handle node, const char *set, const void *value) {
    if (result || !gpu_on() || !gpu_driver(NULL))
        return result;
    int mode = gpu_relax();
    Handle variant = set ? graph_variant(exec, node) : NULL;
    void *symbol = variant ? driver_symbol(set) : NULL;
    if (!symbol || (*(Result(**)(Handle, const void *)) & symbol)(variant, value) != 0)
        graph_lost(exec);
    gpu_relaxed(mode);
    return result;
}

/* Name, and that of the entry point which does the same to a node of a graph; NULL: it is not followed. */
#define CHANGE(exported, set)                                                                                   \
    EXPORTED Result exported(Handle exec, Handle node, const void *value) {                                     \
        return graph_follow(NEXT(exported, (Handle, Handle, const void *), exec, node, value), exec, node, set, \
                            value);                                                                             \
    }
#define CHANGE_IN(exported, set)                                                                                      \
    EXPORTED Result exported(Handle exec, Handle node, const void *value, Handle context) {                           \
        return graph_follow(NEXT(exported, (Handle, Handle, const void *, Handle), exec, node, value, context), exec, \
                            node, set, value);                                                                        \
    }
CHANGE_IN(cuGraphExecMemcpyNodeSetParams, "cuGraphMemcpyNodeSetParams")
CHANGE_IN(cuGraphExecMemsetNodeSetParams, "cuGraphMemsetNodeSetParams")
CHANGE(cuGraphExecHostNodeSetParams, "cuGraphHostNodeSetParams")
CHANGE(cuGraphExecChildGraphNodeSetParams, NULL)
CHANGE(cuGraphExecEventRecordNodeSetEvent, "cuGraphEventRecordNodeSetEvent")
CHANGE(cuGraphExecEventWaitNodeSetEvent, "cuGraphEventWaitNodeSetEvent")

EXPORTED Result cuGraphNodeSetEnabled(Handle exec, Handle node, unsigned enabled) {
    return graph_follow(NEXT(cuGraphNodeSetEnabled, (Handle, Handle, unsigned), exec, node, enabled), exec, node, NULL,
                        NULL);
}

/* ---- Launches ------------------------------------------------------------------------------------ */

#define LAUNCH_GRAPH(exported, of_thread)                             \
    static Result go_##exported(Handle exec, Handle stream) {         \
        return NEXT(exported, (Handle, Handle), exec, stream);        \
    }                                                                 \
    EXPORTED Result exported(Handle exec, Handle stream) {            \
        OrderStream in = {.handle = stream, .per_thread = of_thread}; \
        if (!gpu_on() || !gpu_driver(NULL))                           \
            return go_##exported(exec, stream);                       \
        hold_for_room(order_handle(in), 1);                           \
        return graph_launch(exec, in, go_##exported, stream);         \
    }
LAUNCH_GRAPH(cuGraphLaunch, false)
LAUNCH_GRAPH(cuGraphLaunch_ptsz, true)
