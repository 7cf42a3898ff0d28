/* What python/weir says of operations, by functions that it finds in this library; and what captures keep of it. */
#include "runtime/record/gpu_named.h"

#include "base/array.h"
#include "base/text.h"
#include "runtime/hooks.h"
#include "runtime/record/gpu.h"
#include "runtime/record/gpu_log.h"
#include "runtime/record/gpu_peers.h"

#include <stdlib.h>
#include <string.h>

/* What a graph does, in the order in which it was captured: lines of the order log. */
typedef struct NamedStep {
    Handle stream;     /* that is captured */
    char *verb, *rest; /* an operation; NULL: an event */
    Handle event;
    bool waits;
} NamedStep;

/* A captured stream but the first, in launches. */
typedef struct NamedStream {
    Handle stream;
    uint64_t id;
} NamedStream;

struct NamedGraph {
    NamedGraph *next;
    Handle graph;  /* NULL: it is being captured, or its handle is another one's by now */
    Handle origin; /* the stream in which the capture began */
    NamedStep *steps;
    uint32_t count, capacity;
    NamedStream *streams;
    uint32_t stream_count, stream_capacity;
    uint64_t nodes; /* that are named */
    unsigned users;
    bool open, lacks; /* lacks: something of it is not named */
};

static bool on, said; /* said: there is an operation */
static bool several;  /* operations are in several streams, or may begin before the one before them has ended */
static void *first_stream;
static _Thread_local unsigned depth;
static _Thread_local struct {
    uint64_t process, number;
    unsigned launches, recorded;
} own;                     /* what the operation that this thread is in has launched */
static NamedGraph *graphs; /* those that are being captured, or have a handle */
static pthread_mutex_t graph_mutex = PTHREAD_MUTEX_INITIALIZER;

bool named_on(void) {
    return __atomic_load_n(&on, __ATOMIC_RELAXED);
}

bool named_said(void) {
    return __atomic_load_n(&said, __ATOMIC_RELAXED);
}

bool named_keeps(void) {
    return peers_on() || __atomic_load_n(&several, __ATOMIC_RELAXED);
}

bool named_here(void) {
    return depth != 0;
}

void named_enter(void) {
    depth++;
}

void named_leave(void) {
    depth--;
}

void named_recorded(const GpuOrder *order, uint64_t number) {
    own.process = order->order.process;
    own.number = number;
    own.recorded++;
}

void named_launch(void) {
    own.launches++;
}

/* ---- Captures ------------------------------------------------------------------------------------ */

static void release_graph(NamedGraph *graph) {
    if (--graph->users)
        return;
    for (uint32_t i = 0; i < graph->count; i++) {
        free(graph->steps[i].verb);
        free(graph->steps[i].rest);
    }
    free(graph->steps);
    free(graph->streams);
    free(graph);
}

/* The list of it. The mutex is held. */
static void unlist(NamedGraph *graph) {
    for (NamedGraph **at = &graphs; *at; at = &(*at)->next)
        if (*at == graph) {
            *at = graph->next;
            release_graph(graph);
            return;
        }
}

/* That which is being captured; of several it is not known which one it is, and none is whole. */
static NamedGraph *underway(void) {
    NamedGraph *found = NULL;
    unsigned count = 0;
    for (NamedGraph *graph = graphs; graph; graph = graph->next)
        if (graph->open) {
            found = graph;
            count++;
        }
    for (NamedGraph *graph = graphs; graph && count > 1; graph = graph->next)
        graph->lacks |= graph->open;
    return found;
}

void named_capture_begins(Handle stream) {
    NamedGraph *graph = named_on() ? calloc(1, sizeof *graph) : NULL;
    if (!graph)
        return;
    pthread_mutex_lock(&graph_mutex);
    *graph = (NamedGraph){.next = graphs, .origin = stream, .users = 1, .open = true};
    graphs = graph;
    underway();
    pthread_mutex_unlock(&graph_mutex);
}

void named_capture_ends(Handle stream, Handle handle) {
    named_graph_gone(handle);
    pthread_mutex_lock(&graph_mutex);
    NamedGraph *graph = graphs;
    while (graph && !(graph->open && graph->origin == stream))
        graph = graph->next;
    if (graph) {
        graph->open = false;
        graph->graph = handle;
        if (!handle)
            unlist(graph);
    }
    pthread_mutex_unlock(&graph_mutex);
}

void named_node(void) {
    if (!named_on())
        return;
    pthread_mutex_lock(&graph_mutex);
    NamedGraph *graph = underway();
    if (graph) {
        graph->nodes += named_here();
        graph->lacks |= !named_here();
    }
    pthread_mutex_unlock(&graph_mutex);
}

/* The mutex is held. */
static void add_step(NamedGraph *graph, NamedStep step) {
    if (!graph || !ARRAY_ROOM(graph->steps, graph->count, graph->capacity, 64)) {
        free(step.verb);
        free(step.rest);
        if (graph)
            graph->lacks = true;
        return;
    }
    graph->steps[graph->count++] = step;
}

void named_outside(void) {
    pthread_mutex_lock(&graph_mutex);
    NamedGraph *graph = underway();
    if (graph)
        graph->lacks = true;
    pthread_mutex_unlock(&graph_mutex);
}

void named_event(Handle event, Handle stream, bool waits) {
    if (!named_on())
        return;
    pthread_mutex_lock(&graph_mutex);
    add_step(underway(), (NamedStep){.stream = stream, .event = event, .waits = waits});
    pthread_mutex_unlock(&graph_mutex);
}

void named_graph_gone(Handle handle) {
    pthread_mutex_lock(&graph_mutex);
    NamedGraph *graph = handle ? graphs : NULL;
    while (graph && graph->graph != handle)
        graph = graph->next;
    if (graph)
        unlist(graph);
    pthread_mutex_unlock(&graph_mutex);
}

NamedGraph *named_graph(Handle handle) {
    pthread_mutex_lock(&graph_mutex);
    NamedGraph *graph = handle ? graphs : NULL;
    while (graph && graph->graph != handle)
        graph = graph->next;
    if (graph)
        graph->users++;
    pthread_mutex_unlock(&graph_mutex);
    return graph;
}

void named_drop(NamedGraph *graph) {
    if (!graph)
        return;
    pthread_mutex_lock(&graph_mutex);
    release_graph(graph);
    pthread_mutex_unlock(&graph_mutex);
}

bool named_whole(const NamedGraph *graph, uint64_t nodes) {
    return graph && !graph->lacks && graph->nodes == nodes;
}

/* ---- Launches of graphs -------------------------------------------------------------------------- */

/* A stream that is captured stands for the one that the graph is launched in, or for one of the graph's own. The
 * graph_mutex of the log is held. */
static uint64_t stream_in(NamedGraph *graph, Handle stream, uint64_t thread, const OrderPlace *place) {
    if (stream == graph->origin)
        return place->stream;
    for (uint32_t i = 0; i < graph->stream_count; i++)
        if (graph->streams[i].stream == stream)
            return graph->streams[i].id;
    uint64_t id = order_new_stream();
    log_line(thread, "stream %llu 0 %llu \"captured in a graph\"", (unsigned long long)id,
             (unsigned long long)place->context);
    if (ARRAY_ROOM(graph->streams, graph->stream_count, graph->stream_capacity, 4))
        graph->streams[graph->stream_count++] = (NamedStream){stream, id};
    return id;
}

/* Numbers of its events are no handles, and not those of memory that is freed. */
static void write_step(NamedGraph *graph, const NamedStep *step, uint64_t thread, const OrderPlace *place) {
    unsigned long long stream = stream_in(graph, step->stream, thread, place);
    if (step->verb)
        log_line(thread, "%s %llu %s", step->verb, stream, step->rest);
    else
        log_line(thread, "%s %llu %llu", step->waits ? "wait" : "record",
                 (unsigned long long)((uintptr_t)step->event | 2), stream);
}

static void write_graph(uint64_t thread, const OrderPlace *place, void *of) {
    NamedGraph *graph = of;
    for (uint32_t i = 0; i < graph->count; i++)
        write_step(graph, &graph->steps[i], thread, place);
}

static void write_unknown(uint64_t thread, const OrderPlace *place, void *of) {
    (void)of;
    log_line(thread, "unknown %llu \"a graph\" \"\"", (unsigned long long)place->stream);
}

void named_launched(NamedGraph *graph, OrderStream stream, bool whole) {
    if (!named_on())
        return;
    if (graph)
        order_write(&stream, write_graph, graph);
    if (!whole)
        order_write(&stream, write_unknown, NULL);
}

/* ---- What python/weir calls ---------------------------------------------------------------------- */

#define EXPORTED __attribute__((visibility("default")))

/* A line about a stream: its first word, and what comes behind the stream's number. */
typedef struct NamedLine {
    const char *verb, *rest;
} NamedLine;

static void write_line(uint64_t thread, const OrderPlace *place, void *of) {
    const NamedLine *line = of;
    log_line(thread, "%s %llu %s", line->verb, (unsigned long long)place->stream, line->rest);
}

static void write_text(uint64_t thread, const OrderPlace *place, void *of) {
    (void)place;
    log_line(thread, "%s", (const char *)of);
}

/* From now on operations are named. False: there is no order log. */
EXPORTED int weir_order_begin(void);
EXPORTED int weir_order_begin(void) {
    __atomic_store_n(&on, order_on(), __ATOMIC_RELAXED);
    return on;
}

EXPORTED void weir_order_enter(void);
EXPORTED void weir_order_enter(void) {
    if (!depth++)
        own.launches = own.recorded = 0;
}

EXPORTED void weir_order_leave(void);
EXPORTED void weir_order_leave(void) {
    depth -= depth > 0;
}

/* Lines that are about no stream, with no end of line behind the last. */
EXPORTED void weir_order_lines(const char *text);
EXPORTED void weir_order_lines(const char *text) {
    order_write(NULL, write_text, (void *)(uintptr_t)text);
}

static bool is_captured(Handle stream) {
    return capture_underway() && gpu_capture(stream) != CAPTURE_NONE;
}

/* An operation in the stream: "launch", "copy", ...; its name, its place, and behind them lines of what it touches. */
EXPORTED void weir_order_operation(void *stream, const char *verb, const char *rest);
EXPORTED void weir_order_operation(void *stream, const char *verb, const char *rest) {
    OrderStream in = {.handle = stream};
    if (is_captured(stream)) {
        pthread_mutex_lock(&graph_mutex);
        add_step(underway(), (NamedStep){.stream = stream, .verb = strdup(verb), .rest = strdup(rest)});
        pthread_mutex_unlock(&graph_mutex);
        return;
    }
    gpu_begin();
    if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        first_stream = stream;
    if (stream != first_stream || strcmp(verb, "unknown") == 0)
        __atomic_store_n(&several, true, __ATOMIC_RELAXED);
    order_write(&in, write_line, &(NamedLine){verb, rest});
}

/* The same of one kernel: a recording says what it touches, if there is one. */
EXPORTED void weir_order_launch(void *stream, const char *verb, const char *rest);
EXPORTED void weir_order_launch(void *stream, const char *verb, const char *rest) {
    Text text = {0};
    text_addf(&text, "%s", rest);
    if (own.launches == 1 && own.recorded == 1)
        text_addf(&text, "\nrecorded %llu %llu", (unsigned long long)own.process, (unsigned long long)own.number);
    text_char(&text, 0);
    weir_order_operation(stream, verb, text.data);
    text_free(&text);
}

/* An operation failed: what it has launched until then may access anything. */
EXPORTED void weir_order_failed(void *stream, const char *rest);
EXPORTED void weir_order_failed(void *stream, const char *rest) {
    if (own.launches)
        weir_order_operation(stream, "unknown", rest);
}

/* An allocation in the stream, or its use there: the number of the stream comes behind others. Memory of a graph lives
 * as long as that. */
typedef struct NamedMemory {
    unsigned long long address, bytes;
    const char *where;
} NamedMemory;

static void write_allocation(uint64_t thread, const OrderPlace *place, void *of) {
    const NamedMemory *memory = of;
    if (place)
        log_line(thread, "alloc %llu %llu %llu %s", memory->address, memory->bytes, (unsigned long long)place->stream,
                 memory->where);
    else
        log_line(thread, "host %llu %llu %s", memory->address, memory->bytes, memory->where);
}

EXPORTED void weir_order_allocated(void *stream, unsigned long long address, unsigned long long bytes,
                                   const char *where);
EXPORTED void weir_order_allocated(void *stream, unsigned long long address, unsigned long long bytes,
                                   const char *where) {
    OrderStream in = {.handle = stream};
    order_write(is_captured(stream) ? NULL : &in, write_allocation, &(NamedMemory){address, bytes, where});
}

static void write_use(uint64_t thread, const OrderPlace *place, void *of) {
    log_line(thread, "use %llu %llu", *(const unsigned long long *)of, (unsigned long long)place->stream);
}

EXPORTED void weir_order_used(void *stream, unsigned long long address);
EXPORTED void weir_order_used(void *stream, unsigned long long address) {
    OrderStream in = {.handle = stream};
    if (!is_captured(stream))
        order_write(&in, write_use, &address);
}

/* Whether memory at the address is known by a key, and so not the program's to allocate or free. */
EXPORTED int weir_order_has_key(unsigned long long address);
EXPORTED int weir_order_has_key(unsigned long long address) {
    bool has = false;
    if (peers_on()) {
        pthread_mutex_lock(&hook_mutex);
        has = peers_has(address);
        pthread_mutex_unlock(&hook_mutex);
    }
    return has;
}

/* Lines about other processes will follow; and this one shares memory with them. */
EXPORTED void weir_order_timed(void);
EXPORTED void weir_order_timed(void) {
    order_timed();
}

EXPORTED void weir_order_shares(void);
EXPORTED void weir_order_shares(void) {
    pthread_mutex_lock(&hook_mutex);
    peers_begin();
    pthread_mutex_unlock(&hook_mutex);
}

/* A signal that the stream sets, and another process waits for; or the other way around. */
typedef struct NamedSignal {
    const char *key;
    bool waits;
} NamedSignal;

static void write_signal(uint64_t thread, const OrderPlace *place, void *of) {
    enum { EVENT = 4 }; /* its number: none of the driver's, nor of memory or graphs */
    const NamedSignal *signal = of;
    log_line(thread, "event %d \"%s\"", EVENT, signal->key);
    log_more("%s %d %llu%s", signal->waits ? "wait" : "record", EVENT, (unsigned long long)place->stream,
             signal->waits ? " 1" : "");
    log_more("gone %d", EVENT);
}

EXPORTED void weir_order_signal(void *stream, const char *key, int waits);
EXPORTED void weir_order_signal(void *stream, const char *key, int waits) {
    OrderStream in = {.handle = stream};
    order_write(&in, write_signal, &(NamedSignal){key, waits});
}

/* The host waits for the stream, in a way that the driver does not see by this thread. */
EXPORTED void weir_order_waited(void *stream);
EXPORTED void weir_order_waited(void *stream) {
    order_host_stream((OrderStream){.handle = stream});
}

/* Of this thread, in the log. */
static void write_thread(uint64_t thread, const OrderPlace *place, void *of) {
    (void)place;
    *(uint64_t *)of = thread;
}

EXPORTED unsigned long long weir_order_thread(void);
EXPORTED unsigned long long weir_order_thread(void) {
    uint64_t thread = 0;
    order_write(NULL, write_thread, &thread);
    return thread;
}
