/* The steps of a graph, issued one by one: kernels as any launch of the program, with the attributes of their nodes;
 * copies, memsets and calls of the host each as a graph of its own, since a stream would read memory of the host
 * earlier than a graph does. */
#include "runtime/copy_areas.h"
#include "runtime/hooks.h"
#include "runtime/record/gpu.h"

#include "base/hash.h"

#include <stdlib.h>

/* CUlaunchAttributeID of those that nodes and launches both have, and that say something other than how fast. */
static const int attribute_ids[] = {1, 2, ATTRIBUTE_CLUSTER, 5, 9, 10, 11};
enum { ATTRIBUTES = sizeof attribute_ids / sizeof *attribute_ids, ATTRIBUTE_UPDATABLE = 13 };
enum { COPY_BYTES = 200, HOST_BYTES = 16 }; /* CUDA_MEMCPY3D, CUDA_HOST_NODE_PARAMS */

typedef union NodeBytes {
    uint64_t words[32];
    SetNode set;
} NodeBytes;

/* A kernel node as a launch. */
typedef struct StepLaunch {
    KernelNode node;
    LaunchAttribute attributes[ATTRIBUTES + 1];
    LaunchConfig config;
    SeenLaunch launch;
} StepLaunch;

static bool is_set(const LaunchAttribute *attribute) {
    for (size_t i = 0; i < sizeof attribute->value; i++)
        if (attribute->value.bytes[i])
            return true;
    return false;
}

static Result go_step(const SeenLaunch *launch, void **parameters, void **extra) {
    return NEXT(cuLaunchKernelEx, (const LaunchConfig *, Handle, void **, void **), launch->call, launch->function,
                parameters, extra);
}

static bool describe(const GraphStep *step, Handle stream, StepLaunch *to) {
    LaunchConfig *config = &to->config;
    *to = (StepLaunch){0};
    if (graph_driver()->kernel(step->node, &to->node) != 0)
        return false;
    for (unsigned i = 0; i < ATTRIBUTES; i++) {
        LaunchAttribute *attribute = &to->attributes[config->attribute_count];
        *attribute = (LaunchAttribute){.id = attribute_ids[i]};
        if (graph_driver()->attribute(step->node, attribute->id, &attribute->value) == 0 && is_set(attribute))
            config->attribute_count++;
    }
    if (step->dependent)
        to->attributes[config->attribute_count++] = (LaunchAttribute){.id = ATTRIBUTE_PROGRAMMATIC, .value.number = 1};
    config->attributes = to->attributes;
    config->stream = stream;
    config->shared = to->node.shared;
    memcpy(config->grid, to->node.grid, sizeof config->grid);
    memcpy(config->block, to->node.block, sizeof config->block);
    to->launch = (SeenLaunch){.function = to->node.function ? to->node.function : to->node.kernel,
                              .stream = stream,
                              .shared = to->node.shared,
                              .dependent = step->dependent,
                              .parameters = to->node.parameters,
                              .extra = to->node.extra,
                              .go = go_step,
                              .call = config};
    memcpy(to->launch.grid, to->node.grid, sizeof to->launch.grid);
    memcpy(to->launch.block, to->node.block, sizeof to->launch.block);
    for (unsigned i = 0; i < config->attribute_count; i++)
        if (to->attributes[i].id == ATTRIBUTE_CLUSTER)
            memcpy(to->launch.cluster, to->attributes[i].value.cluster, sizeof to->launch.cluster);
    return true;
}

static bool node_bytes(const GraphStep *step, NodeBytes *bytes) {
    *bytes = (NodeBytes){0};
    switch (step->type) {
    case NODE_COPY:
        return graph_driver()->copy(step->node, bytes->words) == 0;
    case NODE_SET:
        return graph_driver()->set(step->node, &bytes->set) == 0;
    default:
        return graph_driver()->host(step->node, bytes->words) == 0;
    }
}

static bool is_other(const GraphStep *step) {
    return step->type == NODE_COPY || step->type == NODE_SET || step->type == NODE_HOST;
}

uint64_t graph_sign(const GraphPlan *plan, uint64_t *exact) {
    uint64_t sign = HASH_START, looked_at = 0, of_step = 0;
    *exact = HASH_START;
    for (uint32_t i = 0; i < plan->count; i++) {
        const GraphStep *step = &plan->steps[i];
        uint64_t words[] = {(uint64_t)step->type, step->lane, step->wait_count, (uintptr_t)step->kernel, 0};
        StepLaunch launch;
        NodeBytes bytes;
        if (step->type == NODE_KERNEL && step->kernel && describe(step, NULL, &launch))
            looked_at += (words[4] = gpu_launch_key(step->kernel, &launch.launch, &of_step)) != 0;
        if ((step->type == NODE_COPY || step->type == NODE_SET) && node_bytes(step, &bytes)) {
            looked_at++;
            words[4] = of_step = hash_bytes(HASH_START, &bytes, sizeof bytes);
        }
        *exact = hash_bytes(*exact, &of_step, sizeof of_step);
        sign = hash_bytes(sign, words, sizeof words);
    }
    sign = hash_bytes(sign, plan->waits, plan->wait_count * sizeof *plan->waits);
    return looked_at ? sign | 1 : 0;
}

/* ---- What it takes ------------------------------------------------------------------------------- */

static bool make_alone(GraphStep *step, Handle context) {
    const GraphDriver *driver = graph_driver();
    Handle graph = NULL, node;
    NodeBytes bytes;
    if (!node_bytes(step, &bytes) || driver->create(&graph, 0) != 0)
        return false;
    Result result = step->type == NODE_COPY  ? driver->add_copy(&node, graph, NULL, 0, &bytes, context)
                    : step->type == NODE_SET ? driver->add_set(&node, graph, NULL, 0, &bytes.set, context)
                                             : driver->add_host(&node, graph, NULL, 0, &bytes);
    if (!result)
        result = driver->instantiate(&step->alone, graph, 0);
    driver->destroy(graph);
    if (result)
        step->alone = NULL;
    return !result;
}

static const char *check_kernel(const GraphStep *step, Handle context) {
    LaunchAttribute updatable = {0};
    StepLaunch launch;
    if (!describe(step, NULL, &launch))
        return "it is a node of a graph, of which the driver tells nothing";
    if (launch.node.context && launch.node.context != context)
        return "it is a node of a graph for several contexts, which is not recorded";
    if (graph_driver()->attribute(step->node, ATTRIBUTE_UPDATABLE, &updatable.value) == 0 && updatable.value.number)
        return "it is a node of a graph that kernels can change, which is not recorded";
    return NULL;
}

static bool make_lanes(GraphLanes *lanes, uint32_t count) {
    const GpuDriver *driver = gpu_driver(NULL);
    for (uint32_t i = 0; i < count && count > 1; i++)
        if ((i && !lanes->streams[i] && driver->stream_create(&lanes->streams[i], STREAM_NON_BLOCKING) != 0) ||
            (!lanes->ends[i] && driver->event_create(&lanes->ends[i], EVENT_NO_TIMING) != 0))
            return false;
    return true;
}

/* That of the stream; of no stream in particular, the thread's. */
static Handle context_of(Handle stream) {
    Handle context = NULL;
    if (!stream || (uintptr_t)stream <= STREAM_PER_THREAD || graph_driver()->stream_context(stream, &context) != 0)
        gpu_driver(NULL)->context_current(&context);
    return context;
}

bool graph_prepare(GraphPlan *plan, GraphLanes *lanes, Handle stream, const char **why) {
    Handle context = context_of(stream), current = NULL;
    gpu_driver(NULL)->context_current(&current);
    *why = current != context ? "it is a node of a graph that is launched in another context, which is not recorded"
           : make_lanes(lanes, plan->lanes) ? NULL
                                            : "it is a node of a graph, for which there were no streams";
    for (uint32_t i = 0; i < plan->count && !*why; i++) {
        GraphStep *step = &plan->steps[i];
        if (step->type == NODE_KERNEL)
            *why = check_kernel(step, context);
        else if (is_other(step) && !plan->in_place && !step->alone && !make_alone(step, context))
            *why = "it is a node of a graph, whose other nodes could not be issued one by one";
        if (step->marked && !step->event && gpu_driver(NULL)->event_create(&step->event, EVENT_NO_TIMING) != 0)
            *why = "it is a node of a graph, for which there were no events";
    }
    return !*why;
}

void graph_lanes_free(GraphLanes *lanes) {
    void *destroy = driver_symbol("cuStreamDestroy_v2");
    for (uint32_t i = 0; i < GRAPH_LANES; i++) {
        if (lanes->streams[i] && destroy) {
            order_destroyed((OrderStream){.handle = lanes->streams[i]});
            (*(Result(**)(Handle)) & destroy)(lanes->streams[i]);
        }
        if (lanes->ends[i])
            gpu_driver(NULL)->event_destroy(lanes->ends[i]);
    }
    *lanes = (GraphLanes){0};
}

/* ---- Issuing ------------------------------------------------------------------------------------- */

Result graph_mark(Handle event, OrderStream stream) {
    Result result = gpu_driver(NULL)->event_record(event, order_handle(stream));
    if (!result)
        order_event_recorded(event, stream);
    return result;
}

Result graph_wait(OrderStream stream, Handle event) {
    Result result = gpu_driver(NULL)->stream_after(order_handle(stream), event, 0);
    if (!result)
        order_stream_waits(stream, event);
    return result;
}

void graph_report_waits(const GraphStep *step, OrderStream stream) {
    if (step->type == NODE_WAIT_EVENT)
        order_stream_waits(stream, step->outside);
    else if (step->type == NODE_WAIT_SEMAPHORE || step->type == NODE_MEMORY_CALLS)
        order_opened(stream);
}

void graph_report(const GraphStep *step, OrderStream stream) {
    OrderCopy copy = {.stream = stream, .name = step->type == NODE_COPY ? "memcpy node" : "memset node"};
    NodeBytes bytes;
    if (step->type == NODE_RECORD_EVENT)
        order_event_recorded(step->outside, stream);
    if (step->type == NODE_HOST || step->type == NODE_SIGNAL_SEMAPHORE || step->type == NODE_MEMORY_CALLS)
        order_host_called(stream);
    if (step->type != NODE_COPY && step->type != NODE_SET)
        return;
    if (!node_bytes(step, &bytes)) {
        gpu_unseen_program("the driver does not say what a %s of a graph copies: races with it were not checked",
                           copy.name);
        return;
    }
    if (step->type == NODE_COPY) {
        CopySides sides = copy_slices(&bytes);
        copy.reads = sides.reads;
        copy.writes = sides.writes;
    } else {
        copy.writes = set_rows(bytes.set.to, bytes.set.pitch, bytes.set.element, bytes.set.width, bytes.set.height);
    }
    hook_copied(&copy, true);
}

static Result issue_step(const GraphStep *step, OrderStream stream, bool again) {
    StepLaunch launch;
    switch (step->type) {
    case NODE_KERNEL:
        if (!describe(step, order_handle(stream), &launch))
            return INVALID_VALUE;
        launch.launch.again = again;
        return gpu_launch(&launch.launch);
    case NODE_RECORD_EVENT:
        return graph_mark(step->outside, stream);
    case NODE_WAIT_EVENT:
        return graph_wait(stream, step->outside);
    default:
        if (!step->alone)
            return 0;
        Result result = graph_driver()->launch(step->alone, order_handle(stream));
        if (!result)
            graph_report(step, stream);
        return result;
    }
}

static void name_lanes(const GraphPlan *plan, const GraphLanes *lanes, OrderStream stream,
                       OrderStream streams[GRAPH_LANES]) {
    streams[0] = stream;
    for (uint32_t i = 1; i < plan->lanes; i++)
        streams[i] = (OrderStream){.handle = lanes->streams[i]};
}

Result graph_issue(const GraphPlan *plan, const GraphLanes *lanes, OrderStream stream, bool again) {
    OrderStream streams[GRAPH_LANES];
    name_lanes(plan, lanes, stream, streams);
    Result result = plan->lanes > 1 ? graph_mark(lanes->ends[0], stream) : 0;
    for (uint32_t i = 1; i < plan->lanes && !result; i++)
        result = graph_wait(streams[i], lanes->ends[0]);
    for (uint32_t i = 0; i < plan->count && !result; i++) {
        const GraphStep *step = &plan->steps[i];
        for (uint32_t k = 0; k < step->wait_count && !result; k++)
            result = graph_wait(streams[step->lane], plan->steps[plan->waits[step->waits + k]].event);
        if (!result)
            result = issue_step(step, streams[step->lane], again);
        if (!result && step->marked)
            result = graph_mark(step->event, streams[step->lane]);
    }
    for (uint32_t i = 1; i < plan->lanes && !result; i++) {
        result = graph_mark(lanes->ends[i], streams[i]);
        if (!result)
            result = graph_wait(stream, lanes->ends[i]);
    }
    return result;
}

/* ---- In place ------------------------------------------------------------------------------------ */

/* A kernel node of an executable graph, as the program has it. */
typedef struct InPlaceStep {
    Handle exec, node;
    StepLaunch own;
    GpuOutstanding *held; /* NULL: it is not recorded */
} InPlaceStep;

static Result set_kernel(const InPlaceStep *step, const KernelNode *kernel) {
    return NEXT(cuGraphExecKernelNodeSetParams_v2, (Handle, Handle, const KernelNode *), step->exec, step->node,
                kernel);
}

static Result go_in_place(const SeenLaunch *launch, void **parameters, void **extra) {
    const InPlaceStep *step = launch->call;
    KernelNode kernel = step->own.node;
    if (launch->function == step->own.launch.function) /* as it is */
        return 0;
    kernel.function = launch->function;
    kernel.kernel = NULL;
    kernel.parameters = parameters;
    kernel.extra = extra;
    return set_kernel(step, &kernel);
}

static void place_kernel(const GraphStep *step, InPlaceStep *to, const GraphInPlace *graph, OrderStream stream) {
    if (!describe(step, order_handle(stream), &to->own)) {
        gpu_ran_plain(step->kernel, 1, "it is a node of a graph, of which the driver tells nothing");
        return;
    }
    SeenLaunch launch = to->own.launch;
    to->exec = graph->exec;
    to->node = step->node;
    launch.again = graph->again;
    launch.maybe = step->seldom;
    launch.loops = step->loops;
    launch.go = go_in_place;
    launch.call = to;
    launch.held = &to->held;
    launch.in = order_handle(graph->stream);
    gpu_launch(&launch);
}

/* Where steps are among others, in streams in which nothing is done; and what their kernels are. */
static void place_steps(const GraphPlan *plan, const GraphLanes *lanes, const GraphInPlace *graph, InPlaceStep *to) {
    OrderStream streams[GRAPH_LANES];
    name_lanes(plan, lanes, graph->stream, streams);
    if (plan->lanes > 1)
        order_event_recorded(lanes->ends[0], graph->stream);
    for (uint32_t i = 1; i < plan->lanes; i++)
        order_stream_waits(streams[i], lanes->ends[0]);
    for (uint32_t i = 0; i < plan->count; i++) {
        const GraphStep *step = &plan->steps[i];
        OrderStream stream = streams[step->lane];
        for (uint32_t k = 0; k < step->wait_count; k++)
            order_stream_waits(stream, plan->steps[plan->waits[step->waits + k]].event);
        graph_report_waits(step, stream);
        if (step->type == NODE_KERNEL)
            place_kernel(step, &to[i], graph, stream);
        graph_report(step, stream);
        if (step->marked)
            order_event_recorded(step->event, stream);
    }
    for (uint32_t i = 1; i < plan->lanes; i++) {
        order_event_recorded(lanes->ends[i], streams[i]);
        order_stream_waits(graph->stream, lanes->ends[i]);
    }
}

Result graph_issue_in_place(const GraphPlan *plan, const GraphLanes *lanes, const GraphInPlace *graph) {
    InPlaceStep *steps = calloc(plan->count + 1, sizeof *steps);
    if (!steps)
        return graph->go(graph->exec, graph->handle);
    over_making(1);
    place_steps(plan, lanes, graph, steps);
    Result result = graph->go(graph->exec, graph->handle);
    for (uint32_t i = 0; i < plan->count; i++)
        if (steps[i].held) {
            if (set_kernel(&steps[i], &steps[i].own.node))
                gpu_unseen_program("the driver did not take the own kernel of a graph's node back: later launches of "
                                   "the graph run one that records, and are not checked");
            if (result)
                gpu_held_failed(steps[i].held, order_handle(graph->stream));
            else
                gpu_held(steps[i].held, order_handle(graph->stream), true);
        }
    over_making(-1);
    free(steps);
    return result;
}
