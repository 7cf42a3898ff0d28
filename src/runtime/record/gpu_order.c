/* The clocks of streams, events and the host. A clock has, of each stream, the number of a launch: those before it are
 * over. One mutex of its own guards all of it. */
#include "runtime/record/gpu_order.h"

#include "engine/clock/vector.h"
#include "runtime/record/gpu.h"
#include "runtime/record/gpu_pairs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LEGACY = 1, MOST_FREED = 1024, EVENT_BUCKETS = 1024, MOST_COPIES = 1 << 18 };

typedef struct GpuOrderClock {
    uint64_t over[ORDER_STREAMS];   /* of each stream: launches before that number */
    uint32_t copies[ORDER_STREAMS]; /* ... and copies */
    bool open;                      /* something may be over that it does not have */
} GpuOrderClock;

typedef struct Stream {
    OrderStream name;
    pthread_t thread; /* of a stream of a thread */
    bool legacy, blocking, destroyed;
    bool launched; /* the last that it did is a launch */
    int device;
    uint64_t last;       /* the last launch, + 1; */
    uint64_t library;    /* ... of a kernel that has no PTX; */
    uint64_t looked_at;  /* ... that was recorded, or is equal to others that were */
    uint32_t last_copy;  /* the last copy, + 1 */
    GpuOrderClock now;   /* what is over when what comes next begins */
    GpuOrderClock begun; /* what was when the last launch began */
} Stream;

typedef struct GpuOrderEvent {
    struct GpuOrderEvent *next;
    Handle handle;
    GpuOrderClock *clock; /* NULL: never recorded */
} GpuOrderEvent;

typedef struct Freed {
    DevicePointer memory;
    uint64_t bytes;
    GpuOrderClock *clock;
} Freed;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static Stream *streams[ORDER_STREAMS];
static uint32_t stream_count;
static GpuOrderEvent *events[EVENT_BUCKETS];
static Freed freed[MOST_FREED];
static uint32_t freed_count;
static GpuOrderClock host, reported, pool; /* pool: what freed has no room for */
static bool elsewhere;                     /* events may be recorded by others */
static bool called;                        /* the host was, from a stream */
static uint64_t process, library_beside;
static uint32_t copy_count;
static uint64_t launched; /* the last launch, + 1 */
static FILE *copies;      /* NULL: none was made yet, or there is no file */

/* ---- Clocks -------------------------------------------------------------------------------------- */

static void join(GpuOrderClock *clock, const GpuOrderClock *other) {
    vector64_join(clock->over, other->over, stream_count);
    vector32_join(clock->copies, other->copies, stream_count);
    clock->open |= other->open;
}

/* Of streams that there are not, all clocks have nothing. */
static void set_clock(GpuOrderClock *clock, const GpuOrderClock *other) {
    memcpy(clock->over, other->over, stream_count * sizeof *clock->over);
    memcpy(clock->copies, other->copies, stream_count * sizeof *clock->copies);
    clock->open = other->open;
}

static GpuOrderClock *copied(const GpuOrderClock *clock) {
    GpuOrderClock *copy = malloc(sizeof *copy);
    if (copy)
        *copy = *clock;
    return copy;
}

/* ---- Streams ------------------------------------------------------------------------------------- */

Handle order_handle(OrderStream stream) {
    return stream.handle || !stream.per_thread ? stream.handle : (Handle)(uintptr_t)STREAM_PER_THREAD;
}

static bool is_legacy(OrderStream name) {
    return (uintptr_t)name.handle == LEGACY || (!name.handle && !name.per_thread);
}

static bool is_of_thread(OrderStream name) {
    return (uintptr_t)name.handle == STREAM_PER_THREAD || (!name.handle && name.per_thread);
}

static bool is_blocking(OrderStream name) {
    void *symbol = driver_symbol("cuStreamGetFlags");
    Result (*flags_of)(Handle, unsigned *) = *(Result(**)(Handle, unsigned *)) & symbol;
    unsigned flags = 0;
    return is_legacy(name) || is_of_thread(name) || !flags_of || flags_of(name.handle, &flags) != 0 ||
           !(flags & STREAM_NON_BLOCKING);
}

static bool is_named(const Stream *stream, OrderStream name) {
    if (stream->destroyed || stream->name.context != name.context)
        return false;
    if (is_legacy(name))
        return stream->legacy;
    if (is_of_thread(name))
        return is_of_thread(stream->name) && pthread_equal(stream->thread, pthread_self());
    return stream->name.handle == name.handle;
}

/* That of a stream that is no more, whose launches are over for all that come; else a new one. NULL: there is none. */
static Stream **free_seat(void) {
    for (uint32_t i = 0; i < stream_count; i++)
        if (streams[i]->destroyed && host.over[i] >= streams[i]->last && host.copies[i] >= streams[i]->last_copy)
            return &streams[i];
    return stream_count < ORDER_STREAMS ? &streams[stream_count] : NULL;
}

/* NULL: nothing was put into it yet. */
static Stream *look_for(OrderStream *name) {
    if (!name->context && gpu_driver(NULL))
        gpu_driver(NULL)->context_current(&name->context);
    for (uint32_t i = 0; i < stream_count; i++)
        if (is_named(streams[i], *name))
            return streams[i];
    return NULL;
}

/* NULL: there are too many. */
static Stream *find(OrderStream name) {
    Stream *known = look_for(&name);
    if (known)
        return known;
    Stream **seat = free_seat(), *stream = seat ? calloc(1, sizeof *stream) : NULL;
    if (!stream)
        return NULL;
    stream->now = stream->begun = host;
    stream->name = name;
    stream->thread = pthread_self();
    stream->legacy = is_legacy(name);
    stream->blocking = is_blocking(name);
    if (gpu_driver(NULL))
        gpu_driver(NULL)->context_device(&stream->device);
    if (seat == &streams[stream_count])
        stream_count++;
    free(*seat);
    return *seat = stream;
}

static uint32_t number_of(const Stream *stream) {
    uint32_t number = 0;
    while (streams[number] != stream)
        number++;
    return number;
}

/* Something is about to be put into the stream: it waits for what streams wait for by themselves, and for what the host
 * has waited for. */
static void issue(Stream *stream) {
    for (uint32_t i = 0; stream->blocking && i < stream_count; i++)
        if (streams[i] != stream && streams[i]->blocking && streams[i]->name.context == stream->name.context &&
            (stream->legacy || streams[i]->legacy))
            join(&stream->now, &streams[i]->now);
    join(&stream->now, &host);
    stream->launched = false;
}

/* ---- Events -------------------------------------------------------------------------------------- */

static GpuOrderEvent **event_seat(Handle handle) {
    GpuOrderEvent **at = &events[(uintptr_t)handle / 16 % EVENT_BUCKETS];
    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    return at;
}

static GpuOrderEvent *event_of(Handle handle) {
    GpuOrderEvent **seat = event_seat(handle);
    if (!*seat && (*seat = calloc(1, sizeof **seat)))
        (*seat)->handle = handle;
    return *seat;
}

static void set_event(Handle handle, const GpuOrderClock *clock, bool open) {
    GpuOrderEvent *event = event_of(handle);
    if (!event)
        return;
    free(event->clock);
    event->clock = copied(clock);
    if (event->clock)
        event->clock->open |= open;
}

/* What is known where it has come; NULL: nothing, as it was never recorded. Where others may have: it is open. */
static const GpuOrderClock *event_clock(Handle handle) {
    static const GpuOrderClock order_not_known = {.open = true};
    const GpuOrderEvent *event = *event_seat(handle);
    return event ? event->clock : elsewhere ? &order_not_known : NULL;
}

bool order_on(void) {
    return gpu_on() && !gpu_checks();
}

/* ---- Calls --------------------------------------------------------------------------------------- */

#define LOCKED(statement)             \
    do {                              \
        pthread_mutex_lock(&mutex);   \
        statement;                    \
        pthread_mutex_unlock(&mutex); \
    } while (0)

static void work(OrderStream name, bool waits) {
    Stream *stream = find(name);
    if (!stream)
        return;
    issue(stream);
    if (waits)
        join(&host, &stream->now);
}
void order_work(OrderStream name, bool waits) {
    LOCKED(work(name, waits));
}

static void destroy(OrderStream name) {
    Stream *stream = look_for(&name); /* the driver does not know it any more */
    if (stream)
        stream->destroyed = true;
}
void order_destroyed(OrderStream name) {
    LOCKED(destroy(name));
}

static void record(Handle handle, OrderStream name) {
    Stream *stream = find(name);
    if (stream) {
        issue(stream);
        set_event(handle, &stream->now, false);
    } else {
        set_event(handle, &host, true);
    }
}
void order_event_recorded(Handle event, OrderStream stream) {
    LOCKED(record(event, stream));
}

static void forget(Handle handle) {
    GpuOrderEvent **seat = event_seat(handle), *event = *seat;
    if (!event)
        return;
    *seat = event->next;
    free(event->clock);
    free(event);
}
void order_event_destroyed(Handle event) {
    LOCKED(forget(event));
}

static void wait_for(OrderStream name, Handle handle) {
    Stream *stream = find(name);
    const GpuOrderClock *clock = event_clock(handle);
    if (!stream || !clock)
        return;
    issue(stream);
    join(&stream->now, clock);
}
void order_stream_waits(OrderStream stream, Handle event) {
    LOCKED(wait_for(stream, event));
}

static void host_waits(const GpuOrderClock *clock) {
    if (clock)
        join(&host, clock);
}
void order_host_event(Handle event) {
    LOCKED(host_waits(event_clock(event)));
}

void order_host_stream(OrderStream stream) {
    order_work(stream, true);
}

static void wait_for_all(Handle context) {
    for (uint32_t i = 0; i < stream_count; i++)
        if (!context || streams[i]->name.context == context)
            join(&host, &streams[i]->now);
}
void order_host_context(Handle context) {
    LOCKED(wait_for_all(context));
}

static void report_host(OrderStream name) {
    Stream *stream = find(name);
    if (!stream)
        return;
    issue(stream);
    join(&reported, &stream->now);
    called = true;
}
void order_host_called(OrderStream stream) {
    LOCKED(report_host(stream));
}

static void open_stream(OrderStream name) {
    Stream *stream = find(name);
    if (!stream)
        return;
    issue(stream);
    stream->now.open = true;
}
void order_opened(OrderStream stream) {
    LOCKED(open_stream(stream));
}

void order_events_elsewhere(void) {
    LOCKED(elsewhere = true);
}

void order_unknown(void) {
    LOCKED(host.open = true); /* which all that comes takes over */
}

/* ---- Memory that streams hand to each other ------------------------------------------------------ */

static void put_freed(DevicePointer memory, uint64_t bytes, OrderStream name) {
    Stream *stream = find(name);
    if (!stream)
        return;
    issue(stream);
    if (freed_count == MOST_FREED) {
        for (uint32_t i = 0; i < freed_count; i++) {
            if (freed[i].clock)
                join(&pool, freed[i].clock);
            free(freed[i].clock);
        }
        freed_count = 0;
    }
    freed[freed_count++] = (Freed){memory, bytes, copied(&stream->now)};
}
void order_freed(DevicePointer memory, uint64_t bytes, OrderStream stream) {
    LOCKED(put_freed(memory, bytes, stream));
}

static void take_freed(DevicePointer memory, uint64_t bytes, OrderStream name) {
    Stream *stream = find(name);
    if (!stream)
        return;
    issue(stream);
    join(&stream->now, &pool);
    for (uint32_t i = 0; i < freed_count;) {
        Freed *piece = &freed[i];
        bool overlaps = memory < piece->memory + piece->bytes && piece->memory < memory + bytes;
        if (overlaps && piece->clock)
            join(&stream->now, piece->clock);
        if (overlaps && memory <= piece->memory && piece->memory + piece->bytes <= memory + bytes) {
            free(piece->clock);
            *piece = freed[--freed_count];
        } else {
            i++;
        }
    }
}
void order_allocated(DevicePointer memory, uint64_t bytes, OrderStream stream) {
    LOCKED(take_freed(memory, bytes, stream));
}

/* ---- Copies -------------------------------------------------------------------------------------- */

static uint64_t make_process(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (uint64_t)time.tv_sec << 32 ^ (uint64_t)time.tv_nsec << 20 ^ (uint64_t)getpid();
}

static void begin_process(void) {
    process = process ? process : make_process();
}

static uint32_t flags_now(const GpuOrderClock *clock) {
    return (clock->open ? RECORDING_ORDER_OPEN : 0) | (called ? RECORDING_ORDER_CALLED : 0);
}

/* What is known of each stream; returns of how many. */
static uint32_t put_known(const Stream *stream, const GpuOrderClock *begun, RecordingKnown *known) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < stream_count; i++) {
        uint64_t waited = stream->now.over[i], maybe = reported.over[i] > waited ? reported.over[i] : waited;
        if (maybe || stream->now.copies[i])
            known[count++] = (RecordingKnown){.stream = i,
                                              .copies = stream->now.copies[i],
                                              .begun = begun->over[i],
                                              .waited = waited,
                                              .maybe = maybe};
    }
    return count;
}

/* What was made already goes to the file, whatever becomes of the program. */
static bool write_copy(const Stream *stream, const OrderCopy *made) {
    RecordingKnown known[ORDER_STREAMS];
    RecordingCopy copy = {.number = copy_count,
                          .launches = launched,
                          .reads = made->reads,
                          .writes = made->writes,
                          .device = (uint32_t)stream->device,
                          .stream = number_of(stream),
                          .flags = flags_now(&stream->now),
                          .known_count = put_known(stream, &stream->now, known)};
    char path[4096];
    snprintf(copy.name, sizeof copy.name, "%s", made->name);
    begin_process();
    if (!copy_count) {
        recording_copies_name(path, sizeof path, gpu_options()->folder, strlen(gpu_options()->folder), process);
        copies = fopen(path, "wb");
    }
    return copies && copy_count < MOST_COPIES && recording_copy_write(copies, &copy, known) && !fflush(copies);
}

/* False: it could not be written down. */
static bool make_copy(const OrderCopy *made) {
    Stream *stream = find(made->stream);
    if (!stream)
        return false;
    issue(stream);
    bool good = write_copy(stream, made);
    stream->last_copy = stream->now.copies[number_of(stream)] = ++copy_count;
    if (made->host_waits)
        join(&host, &stream->now);
    return good;
}
void order_copy(const OrderCopy *made) {
    bool good;
    LOCKED(good = make_copy(made));
    if (!good)
        gpu_unseen_program("not all copies could be written down: races with them were not looked for");
}

/* ---- Launches ------------------------------------------------------------------------------------ */

static void describe(const Stream *stream, const GpuOrderClock *begun, GpuOrder *order) {
    order->known = calloc(stream_count, sizeof *order->known);
    if (!order->known)
        return;
    order->order = (RecordingOrder){.process = process,
                                    .device = (uint32_t)stream->device,
                                    .stream = number_of(stream),
                                    .flags = flags_now(begun) | flags_now(&stream->now),
                                    .known_count = put_known(stream, begun, order->known)};
    order->there = true;
}

static void launch(const OrderLaunch *made, GpuOrder *order) {
    Stream *stream = find(made->stream);
    begin_process();
    if (!stream)
        return;
    /* What it would wait for if nothing stood between it and the launch before it. */
    GpuOrderClock before;
    bool dependent = made->dependent && stream->launched;
    if (dependent) {
        GpuOrderClock until = stream->now;
        before = stream->begun;
        issue(stream);
        dependent = memcmp(&until, &stream->now, sizeof until) == 0; /* or it waits for others as well */
    } else {
        issue(stream);
    }
    const GpuOrderClock *begun = dependent ? &before : &stream->now;
    describe(stream, begun, order);
    for (unsigned i = 0; i < sizeof made->triggered / sizeof *made->triggered; i++)
        if (made->triggered[i])
            set_event(made->triggered[i], begun, true);
    set_clock(&stream->begun, begun);
    stream->last = stream->now.over[number_of(stream)] = made->number + 1;
    stream->launched = true;
    launched = made->number + 1 > launched ? made->number + 1 : launched;
}

void order_launch(const OrderLaunch *made, GpuOrder *order) {
    *order = (GpuOrder){0};
    LOCKED(launch(made, order));
}

void order_free(GpuOrder *order) {
    free(order->known);
    *order = (GpuOrder){0};
}

/* Of each stream: launches before that number are over when the launch begins. */
static void begun_of(const GpuOrder *order, uint64_t begun[ORDER_STREAMS]) {
    memset(begun, 0, stream_count * sizeof *begun);
    for (uint32_t i = 0; i < order->order.known_count; i++)
        begun[order->known[i].stream] = order->known[i].begun;
}

static bool wants(const GpuOrder *order, uint64_t key) {
    uint64_t begun[ORDER_STREAMS];
    begun_of(order, begun);
    bool wanted = false;
    for (uint32_t i = 0; i < stream_count; i++)
        if (streams[i]->last > begun[i])
            wanted |= pairs_wanted(i, begun[i], order->order.stream, key);
    wanted |= pairs_wanted_by_others(order->order.stream, key);
    if (wanted)
        pairs_extra(order->order.stream, key);
    return wanted;
}
bool order_wants(const GpuOrder *order, uint64_t key) {
    bool wanted = false;
    if (order->there)
        LOCKED(wanted = wants(order, key));
    return wanted;
}

void order_chosen(const GpuOrder *order, const OrderKernel *kernel) {
    if (order->there)
        LOCKED(pairs_choose(order->order.stream, kernel));
}

static void look_at(const GpuOrder *order, const OrderKernel *kernel) {
    uint64_t begun[ORDER_STREAMS];
    bool beside = false;
    begun_of(order, begun);
    for (uint32_t i = 0; i < stream_count; i++) {
        beside |= streams[i]->library > begun[i];
        if (streams[i]->last > begun[i])
            pairs_meet(i, begun[i], kernel);
    }
    pairs_add(order->order.stream, kernel);
    library_beside += beside;
    streams[order->order.stream]->looked_at = kernel->number + 1;
}
void order_looked_at(const GpuOrder *order, const OrderKernel *kernel) {
    if (order->there)
        LOCKED(look_at(order, kernel));
}

void order_each_missed(void (*report)(const char *kernel, const char *other, uint64_t launches)) {
    LOCKED(pairs_each_missed(report));
}

static void add_library(const GpuOrder *order, uint64_t number) {
    uint64_t begun[ORDER_STREAMS];
    bool beside = !order->there;
    if (order->there) {
        begun_of(order, begun);
        for (uint32_t i = 0; i < stream_count; i++)
            beside |= streams[i]->looked_at > begun[i];
        streams[order->order.stream]->library = number + 1;
    }
    library_beside += beside;
}
void order_library(const GpuOrder *order, uint64_t number) {
    LOCKED(add_library(order, number));
}

bool order_is_over(uint32_t stream, uint64_t number) {
    bool over = false;
    LOCKED(over = stream < stream_count && number < host.over[stream]);
    return over;
}

uint64_t order_library_beside(void) {
    return library_beside;
}
