/* Graphs: their nodes, capture from streams, and launches: nodes one after the other, in an order that their edges
 * allow. In the order log each branch is a stream of its own. */
#include "cuda/graphs.h"

#include <stdlib.h>
#include <string.h>

static Graph *graphs;
static uint64_t numbers = (uint64_t)1 << 32; /* of streams and events of graphs in the log */
static unsigned marks;

/* ---- Graphs and nodes ---- */

Graph *graph_new(void) {
    Graph *graph = calloc(1, sizeof *graph);
    if (!graph)
        return NULL;
    graph->end = &graph->nodes;
    graph->next = graphs;
    return graphs = graph;
}

Graph *graph_of(const void *handle, bool executable) {
    for (Graph *graph = graphs; graph; graph = graph->next)
        if (graph == handle)
            return graph->executable == executable ? graph : NULL;
    return NULL;
}

Node *node_of(const void *handle) {
    for (Graph *graph = graphs; graph; graph = graph->next)
        for (Node *node = graph->nodes; node; node = node->next)
            if (node == handle)
                return node;
    return NULL;
}

static void free_parameters(CudaLaunch *launch) {
    for (size_t i = 0; launch->parameters && i < launch->kernel->about.parameters; i++)
        free(launch->parameters[i]);
    free(launch->parameters);
    launch->parameters = NULL;
}

static void free_node(Node *node) {
    free_parameters(&node->launch);
    free(node->from);
    if (node->child)
        graph_destroy(node->child);
    free(node);
}

void graph_destroy(Graph *graph) {
    for (Graph **at = &graphs; *at; at = &(*at)->next)
        if (*at == graph) {
            *at = graph->next;
            break;
        }
    for (size_t i = 0; i < graph->lane_count; i++)
        log_line("closed %llu", (unsigned long long)graph->lanes[i]);
    while (graph->nodes) {
        Node *next = graph->nodes->next;
        free_node(graph->nodes);
        graph->nodes = next;
    }
    free(graph->lanes);
    free(graph);
}

void graph_forget_all(void) {
    while (graphs) {
        Graph *graph = graphs;
        while (graph && graph->part)
            graph = graph->next;
        if (!graph)
            break;
        graph_destroy(graph);
    }
}

bool node_depends(Node *node, Node *const *from, size_t count) {
    Node **more = realloc(node->from, (node->from_count + count + 1) * sizeof *more);
    if (!more)
        return false;
    node->from = more;
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < node->from_count && node->from[k] != from[i])
            k++;
        if (k == node->from_count)
            node->from[node->from_count++] = from[i];
    }
    return true;
}

Node *node_new(Graph *graph, NodeKind kind, Node *const *from, size_t count) {
    Node *node = calloc(1, sizeof *node);
    if (!node || !node_depends(node, from, count)) {
        free(node);
        return NULL;
    }
    node->graph = graph;
    node->kind = kind;
    node->caller = cuda_caller();
    node->event_number = ++numbers;
    *graph->end = node;
    graph->end = &node->next;
    graph->count++;
    return node;
}

void node_destroy(Node *node) {
    Graph *graph = node->graph;
    for (Node *other = graph->nodes; other; other = other->next)
        for (size_t i = 0; i < other->from_count; i++)
            if (other->from[i] == node)
                other->from[i--] = other->from[--other->from_count];
    Node **at = &graph->nodes;
    while (*at != node)
        at = &(*at)->next;
    *at = node->next;
    if (graph->end == &node->next)
        graph->end = at;
    graph->count--;
    free_node(node);
}

/* ---- Copies ---- */

static bool copy_parameters(CudaLaunch *to, const CudaLaunch *from) {
    size_t count = from->kernel->about.parameters;
    void **made = calloc(count + 1, sizeof *made);
    *to = *from;
    to->parameters = made;
    for (size_t i = 0; made && i < count; i++) {
        made[i] = malloc(from->kernel->sizes[i] + 1);
        if (!made[i])
            return false;
        memcpy(made[i], from->parameters[i], from->kernel->sizes[i]);
    }
    return made;
}

Node *node_in(const Graph *copy, const Node *of) {
    Node *node = copy->nodes;
    while (node && node->origin != of && node != of)
        node = node->next;
    return node;
}

static bool copy_node(Graph *to, const Node *from) {
    Node *node = node_new(to, from->kind, NULL, 0);
    if (!node)
        return false;
    Node made = *from;
    made.next = NULL;
    made.graph = to;
    made.origin = from;
    made.from = node->from;
    made.from_count = 0;
    made.launch.parameters = NULL;
    made.event_number = node->event_number;
    made.child = from->child ? graph_copy_of(from->child) : NULL;
    *node = made;
    if (node->child)
        node->child->part = true;
    return (!from->child || node->child) &&
           (from->kind != NODE_KERNEL || copy_parameters(&node->launch, &from->launch));
}

Graph *graph_copy_of(const Graph *graph) {
    Graph *made = graph_new();
    bool good = made;
    for (const Node *node = graph->nodes; good && node; node = node->next)
        good = copy_node(made, node);
    for (Node *node = good ? made->nodes : NULL; good && node; node = node->next)
        for (size_t i = 0; good && i < node->origin->from_count; i++) {
            Node *before = node_in(made, node->origin->from[i]);
            good = !before || node_depends(node, &before, 1);
        }
    if (!good && made)
        graph_destroy(made);
    return good ? made : NULL;
}

Error node_set_kernel(Node *node, const KernelNode *given) {
    CudaLaunch launch = {.shared = given->shared, .parameters = given->parameters, .stream = stream_of((void *)1)};
    void *places[MOST_PARAMETERS];
    Error error = given->function ? registered_kernel(given->function, &launch.kernel) : CUDA_INVALID_FUNCTION;
    error = error ? error : launch_parameters(&launch, given->extra, places);
    if (error)
        return error;
    unsigned grid[3] = {given->grid.x, given->grid.y, given->grid.z};
    unsigned block[3] = {given->block.x, given->block.y, given->block.z};
    memcpy(launch.grid, grid, sizeof grid);
    memcpy(launch.block, block, sizeof block);
    launch.cooperative = node->launch.cooperative;
    launch.dependent = node->launch.dependent;
    memcpy(launch.cluster, node->launch.cluster, sizeof launch.cluster);
    error = launch_fits(&launch);
    if (error)
        return error;
    CudaLaunch made;
    if (!copy_parameters(&made, &launch))
        return CUDA_NO_MEMORY;
    free_parameters(&node->launch);
    node->launch = made;
    node->as_given = *given;
    node->as_given.parameters = made.parameters;
    node->as_given.extra = NULL;
    return 0;
}

/* ---- Capture ---- */

/* The next node of the stream. */
static Node *captured(Stream *stream, NodeKind kind) {
    if (stream->capture_status == 2)
        return NULL;
    Node *node = node_new(stream->capture, kind, stream->last, stream->last_count);
    Node **last = node ? realloc(stream->last, sizeof *last) : NULL;
    if (!last)
        return NULL;
    stream->last = last;
    stream->last[0] = node;
    stream->last_count = 1;
    return node;
}

static Error lost(const Stream *stream) {
    return stream->capture_status == 2 ? CUDA_CAPTURE_INVALIDATED : CUDA_NO_MEMORY;
}

Error graph_launch(Stream *stream, const CudaLaunch *launch) {
    Node *node = captured(stream, NODE_KERNEL);
    if (!node || !copy_parameters(&node->launch, launch))
        return lost(stream);
    node->as_given = (KernelNode){launch->kernel,
                                  {launch->grid[0], launch->grid[1], launch->grid[2]},
                                  {launch->block[0], launch->block[1], launch->block[2]},
                                  (unsigned)launch->shared,
                                  node->launch.parameters,
                                  NULL};
    return 0;
}

Error graph_copy(const Copy *copy) {
    Node *node = captured(copy->stream, NODE_COPY);
    if (!node)
        return lost(copy->stream);
    node->copy = *copy;
    return 0;
}

Error graph_fill(const char *name, Span to, Extent extent, unsigned value, unsigned element, Stream *stream) {
    Node *node = extent.depth == 1 ? captured(stream, NODE_FILL) : NULL;
    (void)name;
    if (!node)
        return extent.depth == 1 ? lost(stream) : CUDA_CAPTURE_UNSUPPORTED;
    node->fill = (FillNode){to.at, to.pitch, value, element, extent.width / element, extent.height};
    return 0;
}

Error graph_host_function(Stream *stream, void *function, void *data) {
    Node *node = captured(stream, NODE_HOST);
    if (!node)
        return lost(stream);
    node->host = (HostNode){function, data};
    return 0;
}

/* The memory is there from now on. */
Error graph_allocate(Stream *stream, void **to, size_t bytes) {
    Node *node = captured(stream, NODE_ALLOCATE);
    if (!node)
        return lost(stream);
    *to = node->memory = memory_allocate(MEMORY_DEVICE, bytes, true);
    node->bytes = bytes;
    return *to ? 0 : CUDA_NO_MEMORY;
}

Error graph_free(Stream *stream, void *memory) {
    Node *node = captured(stream, NODE_FREE);
    if (!node)
        return lost(stream);
    node->memory = memory;
    return 0;
}

static bool set_last(Node ***to, size_t *count, Node *const *last, size_t last_count, bool keeps) {
    size_t had = keeps ? *count : 0;
    Node **more = realloc(*to, (had + last_count + 1) * sizeof *more);
    if (!more)
        return false;
    *to = more;
    *count = had;
    for (size_t i = 0; i < last_count; i++) {
        size_t k = 0;
        while (k < *count && more[k] != last[i])
            k++;
        if (k == *count)
            more[(*count)++] = last[i];
    }
    return true;
}

Error graph_event_recorded(Event *event, Stream *stream) {
    event->capture = stream->capture;
    event->recorded = false;
    return set_last(&event->last, &event->last_count, stream->last, stream->last_count, false) ? 0 : CUDA_NO_MEMORY;
}

Error graph_event_waited(Event *event, Stream *stream) {
    if (!event->capture) { /* it is of what runs, and not of the graph */
        if (event->recorded)
            stream->capture_status = 2;
        return event->recorded ? CUDA_CAPTURE_ISOLATION : 0;
    }
    if (stream->capture && stream->capture != event->capture)
        return CUDA_CAPTURE_MERGE;
    bool joins = !stream->capture;
    stream->capture = event->capture;
    stream->capture_status = 1;
    stream->origin &= !joins;
    return set_last(&stream->last, &stream->last_count, event->last, event->last_count, !joins) ? 0 : CUDA_NO_MEMORY;
}

Error graph_event_node(Event *event, Stream *stream, bool records) {
    Node *node = captured(stream, records ? NODE_RECORD : NODE_WAIT);
    if (!node)
        return lost(stream);
    node->event = event;
    return 0;
}

Error do_cudaStreamBeginCaptureToGraph(void *handle, void *graph, void *const *from, const void *edges, size_t count,
                                       int mode) {
    Stream *stream = stream_of(handle);
    Graph *to = graph_of(graph, false);
    if (!stream || !to || edges)
        return stream && to ? cuda_not_modeled("cudaStreamBeginCaptureToGraph with data of edges")
                            : CUDA_INVALID_HANDLE;
    if (mode < 0 || mode > 2 || (count && !from))
        return CUDA_INVALID_VALUE;
    if (stream == stream_of((void *)1))
        return CUDA_CAPTURE_UNSUPPORTED;
    if (stream->capture)
        return CUDA_ILLEGAL_STATE;
    for (size_t i = 0; i < count; i++)
        if (!node_of(from[i]))
            return CUDA_INVALID_VALUE;
    stream->capture = to;
    stream->capture_status = 1;
    stream->origin = true;
    stream->last_count = 0;
    return set_last(&stream->last, &stream->last_count, (Node *const *)from, count, false) ? 0 : CUDA_NO_MEMORY;
}

Error do_cudaStreamBeginCapture(void *stream, int mode) {
    Graph *graph = graph_new();
    Error error = graph ? do_cudaStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, mode) : CUDA_NO_MEMORY;
    if (error && graph)
        graph_destroy(graph);
    return error;
}

/* Marks what the nodes come behind, and themselves. */
static void mark_before(Node *const *nodes, size_t count, unsigned mark) {
    for (size_t i = 0; i < count; i++)
        if (nodes[i]->mark != mark) {
            nodes[i]->mark = mark;
            mark_before(nodes[i]->from, nodes[i]->from_count, mark);
        }
}

Error do_cudaStreamEndCapture(void *handle, void **graph) {
    Stream *stream = stream_of(handle);
    if (!stream || !graph)
        return stream ? CUDA_INVALID_VALUE : CUDA_INVALID_HANDLE;
    *graph = NULL;
    if (!stream->capture)
        return CUDA_ILLEGAL_STATE;
    if (!stream->origin)
        return CUDA_CAPTURE_UNMATCHED;
    Graph *made = stream->capture;
    bool good = stream->capture_status == 1, joined = true;
    mark_before(stream->last, stream->last_count, ++marks);
    for (Stream *other = stream_next(NULL); other; other = stream_next(other)) {
        if (other->capture != made)
            continue;
        for (size_t i = 0; i < other->last_count; i++)
            joined &= other->last[i]->mark == marks;
        good &= other->capture_status == 1;
        other->capture = NULL;
        other->capture_status = 0;
        other->last_count = 0;
        other->origin = false;
    }
    stream_forget_capture(made);
    if (!good || !joined) {
        graph_destroy(made);
        return good ? CUDA_CAPTURE_UNJOINED : CUDA_CAPTURE_INVALIDATED;
    }
    *graph = made;
    return 0;
}

Error do_cudaStreamIsCapturing(void *handle, int *status) {
    const Stream *stream = stream_of(handle);
    if (!stream || !status)
        return stream ? CUDA_INVALID_VALUE : CUDA_INVALID_HANDLE;
    *status = stream->capture ? stream->capture_status : 0;
    return 0;
}

/* As CUDA 12 has it, and CUDA 13. */
Error do_cudaStreamGetCaptureInfo_v2(void *handle, int *status, unsigned long long *id, void **graph, void ***from,
                                     size_t *count) {
    Stream *stream = stream_of(handle);
    Error error = do_cudaStreamIsCapturing(handle, status);
    if (error || !*status)
        return error;
    if (id)
        *id = (uintptr_t)stream->capture;
    if (graph)
        *graph = stream->capture;
    if (from)
        *from = (void **)stream->last;
    if (count)
        *count = stream->last_count;
    return 0;
}

Error do_cudaStreamGetCaptureInfo_v3(void *handle, int *status, unsigned long long *id, void **graph, void ***from,
                                     void **edges, size_t *count) {
    if (edges)
        *edges = NULL;
    return do_cudaStreamGetCaptureInfo_v2(handle, status, id, graph, from, count);
}

Error do_cudaThreadExchangeStreamCaptureMode(int *mode) {
    static _Thread_local int current;
    if (!mode || *mode < 0 || *mode > 2)
        return CUDA_INVALID_VALUE;
    int before = current;
    current = *mode;
    *mode = before;
    return 0;
}

/* ---- Launches ---- */

/* Nodes in an order in which each comes behind those that it depends on; false: there is a circle. */
static bool bring_to_order(Node *node, unsigned mark, Node **order, size_t *count) {
    if (node->mark == mark)
        return true;
    if (node->mark == mark - 1) /* it is on the way */
        return false;
    node->mark = mark - 1;
    for (size_t i = 0; i < node->from_count; i++)
        if (!bring_to_order(node->from[i], mark, order, count))
            return false;
    node->mark = mark;
    order[(*count)++] = node;
    return true;
}

static const Node *last_in(uint64_t lane, Node *const *order, size_t count) {
    while (count-- > 0)
        if (order[count]->lane == lane)
            return order[count];
    return NULL;
}

/* A node goes on in the stream of one that it comes behind, if that is the last there. */
static bool choose_lanes(Graph *graph, Node *const *order, size_t count) {
    if (graph->lanes)
        return true;
    graph->lanes = calloc(count + 1, sizeof *graph->lanes);
    for (size_t i = 0; graph->lanes && i < count; i++) {
        Node *node = order[i];
        node->lane = 0;
        for (size_t k = 0; k < node->from_count && !node->lane; k++)
            if (last_in(node->from[k]->lane, order, i) == node->from[k])
                node->lane = node->from[k]->lane;
        if (node->lane)
            continue;
        node->lane = graph->lanes[graph->lane_count++] = ++numbers;
        log_line("stream %llu 0 0 \"%s\"", (unsigned long long)node->lane, cuda_where());
    }
    return graph->lanes;
}

static Error run_node(Node *node, Stream *lane) {
    HostNode host = node->host;
    bool on_event = node->kind == NODE_WAIT || node->kind == NODE_RECORD;
    if (on_event && !event_of(node->event)) /* the program has destroyed it */
        return 0;
    switch (node->kind) {
    case NODE_KERNEL:
        node->launch.stream = lane;
        return launch_run(&node->launch);
    case NODE_COPY:
        node->copy.stream = lane;
        return copy_bytes(&node->copy);
    case NODE_FILL:
        return copy_fill("cudaMemsetNode", (Span){node->fill.to, node->fill.pitch, 0},
                         (Extent){node->fill.width * node->fill.element, node->fill.height, 1}, node->fill.value,
                         node->fill.element, lane, false);
    case NODE_HOST:
        log_host_function(lane);
        cuda_unlock();
        (*(void (**)(void *)) & host.function)(host.data);
        cuda_relock();
        return 0;
    case NODE_GRAPH:
        return graph_run(node->child, lane);
    case NODE_WAIT:
        if (node->event->recorded)
            log_line("wait %llu %llu", (unsigned long long)node->event->number, (unsigned long long)lane->number);
        return 0;
    case NODE_RECORD:
        node->event->recorded = true;
        node->event->at = cuda_seconds();
        log_line("record %llu %llu", (unsigned long long)node->event->number, (unsigned long long)lane->number);
        return 0;
    case NODE_ALLOCATE: /* the same memory, if the program has freed it */
        if (!memory_of(node->memory) && !memory_again(node->memory, node->bytes))
            return CUDA_NO_MEMORY;
        log_lifetime(lane, "cudaMallocAsync", false, memory_of(node->memory));
        return 0;
    case NODE_FREE: /* what a graph frees is given to no one else */
        if (memory_of(node->memory))
            log_lifetime(lane, "cudaFreeAsync", true, memory_of(node->memory));
        return 0;
    default:
        return 0;
    }
}

Error graph_run(Graph *graph, Stream *stream) {
    Node **order = calloc(graph->count + 1, sizeof *order);
    size_t count = 0;
    bool good = order;
    marks += 2;
    for (Node *node = graph->nodes; good && node; node = node->next)
        good = bring_to_order(node, marks, order, &count);
    Error error = good && choose_lanes(graph, order, count) ? 0 : CUDA_INVALID_VALUE;
    unsigned long long into = stream->number;
    stream->busy = true;
    const void *caller = cuda_caller();
    for (size_t i = 0; !error && i < graph->lane_count; i++)
        log_line("fork %llu %llu", (unsigned long long)graph->lanes[i], into);
    for (size_t i = 0; !error && i < count; i++) {
        Node *node = order[i];
        Stream lane = {.number = node->lane, .flags = 1};
        for (size_t k = 0; k < node->from_count; k++)
            if (node->from[k]->lane != node->lane)
                log_line("wait %llu %llu", (unsigned long long)node->from[k]->event_number,
                         (unsigned long long)node->lane);
        cuda_came_from(node->caller);
        error = node->off ? 0 : run_node(node, &lane);
        /* 2: a dependent launch may begin before it. */
        log_line("record %llu %llu 2", (unsigned long long)node->event_number, (unsigned long long)node->lane);
    }
    cuda_came_from(caller);
    for (size_t i = 0; !error && i < graph->lane_count; i++)
        log_line("join %llu %llu", (unsigned long long)graph->lanes[i], into);
    free(order);
    return error;
}
