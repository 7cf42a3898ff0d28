/* The clocks of streams and host threads (engine/order), of events and of memory that was freed, as calls of the driver
 * move them. A clock has, of each stream, the number of a launch: those before it are over. One mutex of its own guards
 * all of it. */
#include "runtime/record/gpu_order.h"

#include "engine/order/freed.h"
#include "runtime/record/gpu.h"
#include "runtime/record/gpu_log.h"
#include "runtime/record/gpu_named.h"
#include "runtime/record/gpu_order_names.h"
#include "runtime/record/gpu_pairs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_ENDED = 64, MOST_COPIES = 1 << 18, DELAY = 250000 /* microseconds */ };

typedef struct Stream {
    OrderStream name;
    uint64_t thread; /* of a stream of a thread */
    OrderLane *lane;
    uint64_t id; /* in the order log; 0: the default stream of the first context */
    int device;
    uint64_t library;   /* the last launch, + 1, of a kernel that has no PTX; */
    uint64_t looked_at; /* ... that was recorded, or is equal to others that were */
} Stream;

typedef struct EndedThread {
    uint64_t id;
    OrderClock *knew;
} EndedThread;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static ProgramOrder program;
static Stream streams[ORDER_STREAMS]; /* by their lanes */
static OrderFreed freed;
static OrderClock reported;
static OrderClock dropped;   /* what no launch is held against any more */
static bool called;          /* the host was, from a stream */
static bool unknown;         /* something that is not modeled may order anything */
static bool crowded;         /* there were too many streams */
static bool remote, domains; /* there are two domains; launches of both may have run at the same time */
static bool late;            /* something was made that is not known to come behind launches that were dropped */
static EndedThread ended[MOST_ENDED];
static uint32_t ended_count;
static uint64_t library_beside;
static uint32_t copy_count;
static uint64_t launched; /* the last launch, + 1 */
static FILE *copies;      /* NULL: none was made yet, or there is no file */
static uint64_t stream_ids;
static const Stream *issued;    /* the last line of the order log is that something was put into this stream */
static bool copies_beside;      /* two copies may have run at the same time */
static bool default_named;      /* a stream has the id 0 */
static bool shares;             /* other processes have memory or events of this one */
static bool meets;              /* ... and launches were made that no host has waited for */
static uint64_t unknown_launch; /* the last line of the order log is of that launch, + 1, of which nothing is known */

#define LOCKED(statement)             \
    do {                              \
        pthread_mutex_lock(&mutex);   \
        statement;                    \
        pthread_mutex_unlock(&mutex); \
    } while (0)

/* ---- Threads of the host ------------------------------------------------------------------------- */

typedef struct HostThread {
    uint64_t id;
    OrderClock *inherited; /* what the thread that made it knew then; NULL: nothing, or it is in `known` */
    OrderThread *known;    /* NULL: it has not called the driver */
    pid_t process;         /* where `known` is */
} HostThread;

static _Thread_local HostThread self;
static pthread_key_t ends; /* has a value in each thread that `program` has */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint64_t new_id(void) {
    static uint64_t count;
    return __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
}

static uint64_t self_id(void) {
    self.id = self.id ? self.id : new_id();
    return self.id;
}

#define LOG_BY(writer, ...) (issued = NULL, unknown_launch = 0, writer(self_id(), __VA_ARGS__))
#define LOG(...)            LOG_BY(log_line, __VA_ARGS__)
#define NUMBER(value)       ((unsigned long long)(value))

/* What it knew is for the thread that waits for its end. */
static void end_self(void) {
    if (ended_count == MOST_ENDED) {
        free(ended[0].knew);
        memmove(ended, ended + 1, --ended_count * sizeof *ended);
    }
    ended[ended_count++] = (EndedThread){self.id, clock_copy(&self.known->knows)};
    order_thread_ends(&program, self.known);
    self.known = NULL;
}

/* In a child that was forked, the mutex may be locked by a thread that is not there. */
static void thread_ends(void *unused) {
    (void)unused;
    if (self.known && self.process == getpid())
        LOCKED(end_self());
    free(self.inherited);
    self.inherited = NULL;
}

static void make_key(void) {
    pthread_key_create(&ends, thread_ends);
}

static OrderThread *begin_self(void) {
    static OrderThread no_memory;
    OrderThread *thread = order_thread(&program, self_id());
    if (!thread)
        return &no_memory;
    self.known = thread;
    self.process = getpid();
    if (self.inherited)
        lanes_join(&program, &thread->knows, self.inherited);
    free(self.inherited);
    self.inherited = NULL;
    pthread_once(&once, make_key);
    pthread_setspecific(ends, &ends);
    return thread;
}

/* The mutex is held. */
static OrderThread *host(void) {
    return self.known ? self.known : begin_self();
}

void *order_thread_made(void) {
    HostThread *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->id = new_id();
    if (!self.known && self.inherited)
        made->inherited = clock_copy(self.inherited);
    else if (self.known)
        LOCKED(made->inherited = clock_copy(&self.known->knows); LOG("spawn %llu", NUMBER(made->id)));
    return made;
}

void order_thread_not_made(void *made) {
    HostThread *thread = made;
    if (thread)
        free(thread->inherited);
    free(thread);
}

uint64_t order_thread_begun(void *made) {
    if (made)
        self = *(HostThread *)made;
    free(made);
    pthread_once(&once, make_key);
    pthread_setspecific(ends, &ends);
    return self_id();
}

static void join_thread(uint64_t id) {
    for (uint32_t i = 0; i < ended_count; i++)
        if (ended[i].id == id) {
            if (ended[i].knew)
                thread_waits(&program, host(), ended[i].knew);
            LOG("learn %llu", NUMBER(id));
            free(ended[i].knew);
            ended[i] = ended[--ended_count];
            return;
        }
}
void order_thread_joined(uint64_t id) {
    LOCKED(join_thread(id));
}

OrderDoubts order_doubts(void) {
    return (OrderDoubts){.late = late, .crowded = crowded, .domains = domains};
}

void order_remote(void) {
    LOCKED(remote = true);
}

/* ---- Streams ------------------------------------------------------------------------------------- */

static bool is_named(const Stream *stream, OrderStream name) {
    if (stream->lane->gone)
        return false;
    if (stream_is_legacy(name))
        return stream->lane->legacy && stream->name.context == name.context;
    if (stream_is_of_thread(name))
        return stream_is_of_thread(stream->name) && stream->name.context == name.context && stream->thread == self_id();
    return stream->name.handle == name.handle;
}

/* NULL: nothing was put into it yet. */
static Stream *look_for(OrderStream *name) {
    stream_find_context(name);
    for (uint32_t i = 0; i < program.lane_count; i++)
        if (is_named(&streams[i], *name))
            return &streams[i];
    return NULL;
}

/* NULL: there are too many. */
static Stream *find(OrderStream name) {
    Stream *known = look_for(&name);
    if (known)
        return known;
    stream_find_own_context(&name);
    OrderLane *lane = order_lane(&program, (uintptr_t)name.context, stream_is_legacy(name), stream_is_blocking(name));
    crowded |= !lane;
    if (!lane)
        return NULL;
    Stream *stream = &streams[lane->index];
    bool first = lane->legacy && !default_named;
    *stream = (Stream){.name = name, .thread = self_id(), .lane = lane, .id = first ? 0 : ++stream_ids};
    default_named |= first;
    LOG("stream %llu %d %llu \"\"", NUMBER(stream->id), lane->legacy ? 2 : lane->blocking,
        NUMBER((uintptr_t)name.context));
    if (lane->now.open)
        LOG("open %llu", NUMBER(stream->id));
    if (gpu_driver(NULL))
        gpu_driver(NULL)->context_device(&stream->device);
    return stream;
}

/* Something is about to be put into the stream. */
static void issue(Stream *stream) {
    lane_issue(&program, stream->lane, host());
    stream->lane->now.open |= unknown;
}

/* For the log: streams that do not wait for the default stream order nothing by what is put into them. */
static void log_issued(const Stream *stream) {
    if (!stream->lane->blocking || issued == stream)
        return;
    LOG("launch %llu \"\" \"\"", NUMBER(stream->id));
    issued = stream;
}

uint64_t order_new_stream(void) {
    return ++stream_ids;
}

static void write_in(const OrderStream *name, OrderWrite *write, void *of) {
    Stream *stream = name ? find(*name) : NULL;
    host();
    issued = NULL;
    unknown_launch = 0;
    if (stream)
        write(self_id(), &(OrderPlace){stream->id, (uintptr_t)stream->name.context}, of);
    else if (!name)
        write(self_id(), NULL, of);
}
void order_write(const OrderStream *name, OrderWrite *write, void *of) {
    LOCKED(write_in(name, write, of));
}

bool order_on(void) {
    return gpu_on();
}

/* ---- Other processes ----------------------------------------------------------------------------- */

static void share_event(Handle event, const char *key) {
    event_share(event);
    LOG("event %llu \"%s\"", NUMBER((uintptr_t)event), key);
}
void order_event_shared(Handle event, const char *key) {
    LOCKED(share_event(event, key));
}

/* Launches that run yet, by what this thread knows, are not in the log. */
static void begin_sharing(void) {
    bool before = false;
    log_timed();
    for (uint32_t i = 0; i < program.lane_count && !shares && !named_on(); i++)
        before |= program.lanes[i]->last > host()->knows.over[i];
    if (before)
        LOG("missing \"launches that were not known to be over when memory was shared with other processes were not "
            "held "
            "against what these do\"");
    shares = true;
}
void order_shares(void) {
    LOCKED(begin_sharing());
}

void order_timed(void) {
    LOCKED(log_timed());
}

/* Before the host knows that a launch is over, while other processes have memory of this one: what these put into their
 * streams meanwhile was not handed over to them. */
static void delay(void) {
    static unsigned left = 8;
    bool waits;
    LOCKED(waits = shares && meets && left; left -= waits; meets = false);
    if (waits)
        usleep(DELAY);
}

/* ---- Calls --------------------------------------------------------------------------------------- */

static void work(OrderStream name, bool waits) {
    Stream *stream = find(name);
    if (!stream)
        return;
    issue(stream);
    if (!waits) {
        log_issued(stream);
        return;
    }
    thread_waits(&program, host(), &stream->lane->now);
    LOG("await-stream %llu", NUMBER(stream->id));
}
void order_work(OrderStream name, bool waits) {
    if (waits)
        delay();
    LOCKED(work(name, waits));
}

static void destroy(OrderStream name) {
    Stream *stream = look_for(&name); /* the driver does not know it any more */
    if (!stream)
        return;
    stream->lane->gone = true;
    LOG("closed %llu", NUMBER(stream->id));
}
void order_destroyed(OrderStream name) {
    LOCKED(destroy(name));
}

static void record(Handle handle, OrderStream name) {
    Stream *stream = find(name);
    if (stream) {
        issue(stream);
        event_set(handle, &stream->lane->now, false);
        LOG("record %llu %llu", NUMBER((uintptr_t)handle), NUMBER(stream->id));
    } else {
        event_set(handle, &host()->knows, true);
    }
}
void order_event_recorded(Handle event, OrderStream stream) {
    LOCKED(record(event, stream));
}

void order_event_destroyed(Handle event) {
    LOCKED(if (event_forget(event)) LOG("gone %llu", NUMBER((uintptr_t)event)));
}

static void wait_for(OrderStream name, Handle handle) {
    Stream *stream = find(name);
    bool elsewhere;
    const OrderClock *clock = event_clock(handle, &elsewhere);
    if (!stream || !clock)
        return;
    lane_waits(&program, stream->lane, host(), clock);
    stream->lane->now.open |= unknown || elsewhere;
    LOG("wait %llu %llu", NUMBER((uintptr_t)handle), NUMBER(stream->id));
    if (clock->open)
        LOG("open %llu", NUMBER(stream->id));
}
void order_stream_waits(OrderStream stream, Handle event) {
    LOCKED(wait_for(stream, event));
}

static void host_waits(Handle event, bool asks) {
    bool elsewhere;
    const OrderClock *clock = event_clock(event, &elsewhere);
    if (!clock)
        return;
    thread_waits(&program, host(), clock);
    host()->knows.open |= elsewhere;
    if (asks && named_here()) /* for itself: an allocator, whose memory says so in the log */
        return;
    LOG("await-event %llu", NUMBER((uintptr_t)event));
    if (clock->open)
        LOG("open-all");
}
void order_host_event(Handle event, bool asks) {
    delay();
    LOCKED(host_waits(event, asks));
}

void order_host_stream(OrderStream stream) {
    order_work(stream, true);
}

static void wait_for_all(Handle context) {
    thread_waits_for_all(&program, host(), !context, (uintptr_t)context);
    if (context)
        LOG("await-all %llu", NUMBER((uintptr_t)context));
    else
        LOG("await-all");
}
void order_host_context(Handle context) {
    delay();
    LOCKED(wait_for_all(context));
}

static void report_host(OrderStream name) {
    Stream *stream = find(name);
    if (!stream)
        return;
    issue(stream);
    lanes_join(&program, &reported, &stream->lane->now);
    called = true;
    LOG("notifies %llu", NUMBER(stream->id));
}
void order_host_called(OrderStream stream) {
    LOCKED(report_host(stream));
}

static void open_stream(OrderStream name) {
    Stream *stream = find(name);
    if (!stream)
        return;
    issue(stream);
    stream->lane->now.open = true;
    LOG("open %llu", NUMBER(stream->id));
}
void order_opened(OrderStream stream) {
    LOCKED(open_stream(stream));
}

void order_unknown(void) {
    LOCKED(unknown = true; LOG("open-all"));
}

static bool lacks_dropped(const OrderClock *clock) {
    for (uint32_t i = 0; i < program.lane_count; i++)
        if (clock->over[i] < dropped.over[i])
            return true;
    return false;
}

static bool has_copies_beside(const Stream *stream) {
    for (uint32_t i = 0; i < program.lane_count; i++)
        if (program.lanes[i] != stream->lane && program.lanes[i]->last_copy > stream->lane->now.copies[i])
            return true;
    return false;
}

/* ---- Copies -------------------------------------------------------------------------------------- */

/* `now`: of what comes behind what the clock has, in which launches begin. */
static uint32_t flags_now(const OrderClock *clock) {
    uint32_t flags = (clock->open ? RECORDING_ORDER_OPEN : 0) | (called ? RECORDING_ORDER_CALLED : 0);
    for (uint32_t i = 0; i < program.lane_count && !(flags & RECORDING_ORDER_THREADS); i++)
        if (program.hosts.over[i] > clock->over[i] || program.hosts.copies[i] > clock->copies[i])
            flags |= RECORDING_ORDER_THREADS;
    return flags;
}

static uint64_t larger(uint64_t one, uint64_t other) {
    return one > other ? one : other;
}

/* What is known of each stream; returns of how many. Another thread of the host may know more. */
static uint32_t put_known(const Stream *stream, const OrderClock *begun, RecordingKnown *known) {
    const OrderClock *now = &stream->lane->now;
    uint32_t count = 0;
    for (uint32_t i = 0; i < program.lane_count; i++) {
        uint64_t maybe = larger(now->over[i], larger(reported.over[i], program.hosts.over[i]));
        if (maybe || now->copies[i])
            known[count++] = (RecordingKnown){
                .stream = i, .copies = now->copies[i], .begun = begun->over[i], .waited = now->over[i], .maybe = maybe};
    }
    return count;
}

/* What was made already goes to the file, whatever becomes of the program. */
static bool write_copy(const Stream *stream, const OrderCopy *made, uint32_t flags) {
    RecordingKnown known[ORDER_STREAMS];
    RecordingCopy copy = {.number = copy_count,
                          .launches = launched,
                          .reads = made->reads,
                          .writes = made->writes,
                          .device = (uint32_t)stream->device,
                          .stream = stream->lane->index,
                          .flags = flags_now(&stream->lane->now) | flags,
                          .known_count = put_known(stream, &stream->lane->now, known)};
    char path[4096];
    snprintf(copy.name, sizeof copy.name, "%s", made->name);
    if (!copy_count) {
        recording_copies_name(path, sizeof path, gpu_options()->folder, strlen(gpu_options()->folder),
                              process_number());
        copies = fopen(path, "wb");
    }
    return copies && copy_count < MOST_COPIES && recording_copy_write(copies, &copy, known) && !fflush(copies);
}

static void log_clock_copy(const Stream *stream, const OrderCopy *made) {
    if (!named_on() && !shares) { /* else memory is in the log as the program has it */
        log_memory(self_id(), made->read);
        log_memory(self_id(), made->written);
    }
    LOG("copy %llu \"%.*s\" \"\"", NUMBER(stream->id), (int)strcspn(made->name, "_"), made->name);
    if (made->read.bytes)
        log_touches(&made->reads, false);
    if (made->written.bytes)
        log_touches(&made->writes, true);
}

static void log_copy(const Stream *stream, const OrderCopy *made) {
    named_here() ? named_launch() : log_clock_copy(stream, made);
    if (made->host == HOST_WAITS)
        LOG("await-stream %llu", NUMBER(stream->id));
    else if (made->host == HOST_MAY_WAIT)
        LOG("notifies %llu", NUMBER(stream->id));
}

/* False: it could not be written down. */
static bool make_copy(const OrderCopy *made) {
    Stream *stream = find(made->stream);
    if (!stream)
        return false;
    issue(stream);
    bool good = write_copy(stream, made, 0);
    copies_beside |= has_copies_beside(stream);
    late |= lacks_dropped(&stream->lane->now);
    log_copy(stream, made);
    lane_copy(stream->lane, copy_count++);
    if (made->host == HOST_WAITS)
        thread_waits(&program, host(), &stream->lane->now);
    else if (made->host == HOST_MAY_WAIT)
        lanes_join(&program, &program.hosts, &stream->lane->now);
    return good;
}
static void say_copied(bool good) {
    if (!good)
        gpu_unseen_program("not all copies could be written down: races with them were not checked");
}
void order_copy(const OrderCopy *made) {
    bool good;
    if (made->host == HOST_WAITS)
        delay();
    LOCKED(good = make_copy(made));
    say_copied(good);
}

/* ---- Memory that streams hand to each other ------------------------------------------------------ */

/* Who gets the memory comes behind all that has freed some of it. */
static void log_stream_wait(uint64_t memory, const void *stream) {
    LOG("wait %llu %llu", NUMBER(memory | 1), NUMBER(((const Stream *)stream)->id));
}

static void log_host_wait(uint64_t memory, const void *unused) {
    (void)unused;
    LOG("await-event %llu", NUMBER(memory | 1));
}

static void give(DevicePointer memory, uint64_t bytes) {
    OrderClock got = {0};
    freed_take(&freed, &program, memory, bytes, &got, log_host_wait, NULL);
    thread_waits(&program, host(), &got);
}
void order_given(DevicePointer memory, uint64_t bytes) {
    LOCKED(if (freed.count) give(memory, bytes));
}

/* What threads free that do not wait is in a lane of its own: it comes behind what its thread knows. */
static Stream *host_lane(void) {
    static OrderLane *lane;
    if (!lane && (lane = order_lane(&program, 0, false, false)))
        streams[lane->index] = (Stream){.name.handle = &lane, .lane = lane};
    crowded |= !lane;
    if (lane)
        lanes_set(&program, &lane->now, &host()->knows);
    return lane ? &streams[lane->index] : NULL;
}

/* In the log, memory that is freed is known by an event of an odd number, which no handle has. */
static void log_pooled(const Stream *stream, const OrderPooled *what) {
    if (!named_on() && !shares)
        log_memory(self_id(), what->memory);
    LOG_BY(log_lifetime, &(OrderLifetime){.stream = what->host ? NULL : &stream->id,
                                          .name = what->name,
                                          .where = "",
                                          .address = what->memory.base,
                                          .bytes = what->memory.bytes,
                                          .frees = what->frees});
    if (what->frees && !what->host)
        LOG("record %llu %llu", NUMBER(what->memory.base | 1), NUMBER(stream->id));
}

/* False: it could not be written down. */
static bool make_pooled(const OrderPooled *what) {
    Stream *stream = what->host ? host_lane() : find(what->stream);
    OrderCopy made = {.name = what->name, .writes = recording_area(what->memory.base, what->memory.bytes)};
    if (!stream || !what->memory.bytes)
        return true;
    if (!what->host)
        issue(stream);
    if (!what->frees) {
        freed_take(&freed, &program, what->memory.base, what->memory.bytes, &stream->lane->now, log_stream_wait,
                   stream);
        if (freed.full)
            LOG("open %llu", NUMBER(stream->id));
    }
    bool good = write_copy(stream, &made, what->frees ? RECORDING_COPY_FREES : RECORDING_COPY_ALLOCATES);
    copies_beside |= has_copies_beside(stream);
    late |= lacks_dropped(&stream->lane->now);
    if (what->frees || !named_on()) /* the program's own allocator says when it has memory */
        log_pooled(stream, what);
    lane_copy(stream->lane, copy_count++);
    if (what->frees)
        freed_keep(&freed, &program, what->memory.base, what->memory.bytes, &stream->lane->now);
    if (what->host)
        thread_waits(&program, host(), &stream->lane->now);
    return good;
}
void order_pooled(const OrderPooled *what) {
    bool good;
    LOCKED(good = make_pooled(what));
    say_copied(good);
}

/* ---- Launches ------------------------------------------------------------------------------------ */

static void describe(const Stream *stream, const OrderClock *begun, GpuOrder *order) {
    order->known = calloc(program.lane_count, sizeof *order->known);
    if (!order->known)
        return;
    order->order = (RecordingOrder){.process = process_number(),
                                    .device = (uint32_t)stream->device,
                                    .unit = device_unit(stream->device),
                                    .stream = stream->lane->index,
                                    .flags = flags_now(&stream->lane->now) | (begun->open ? RECORDING_ORDER_OPEN : 0),
                                    .known_count = put_known(stream, begun, order->known)};
    order->there = true;
}

static bool has_launches_beside(const Stream *stream, const OrderClock *begun) {
    for (uint32_t i = 0; i < program.lane_count; i++)
        if (program.lanes[i] != stream->lane && program.lanes[i]->last > begun->over[i])
            return true;
    return false;
}

/* What it touches is not known yet. */
static void log_launch(const Stream *stream, const OrderLaunch *made) {
    if (named_here())
        return;
    if (!made->name || !(named_on() || shares)) {
        log_issued(stream);
        return;
    }
    LOG("unknown %llu %d \"%s\" \"\"", NUMBER(stream->id), made->dependent, made->name);
    unknown_launch = made->number + 1;
}

/* If another thread has put something into the log since, it stays unknown. */
void order_recorded(const GpuOrder *order, uint64_t number) {
    LOCKED(if (unknown_launch == number + 1)
               log_more("recorded %llu %llu", NUMBER(order->order.process), NUMBER(number)));
}

static void launch(const OrderLaunch *made, GpuOrder *order) {
    Stream *stream = find(made->stream);
    if (!stream)
        return;
    lane_launch(&program, stream->lane, host(), made->dependent);
    OrderClock begun = stream->lane->begun;
    begun.open |= unknown;
    stream->lane->now.open |= unknown;
    late |= lacks_dropped(&begun);
    describe(stream, &begun, order);
    for (unsigned i = 0; i < sizeof made->triggered / sizeof *made->triggered; i++)
        if (made->triggered[i]) {
            event_set(made->triggered[i], &begun, true);
            LOG("record %llu %llu 1", NUMBER((uintptr_t)made->triggered[i]), NUMBER(stream->id));
        }
    log_launch(stream, made);
    meets |= made->has_text;
    remote |= made->remote;
    domains |= remote && made->may_poll && has_launches_beside(stream, &begun);
    if (made->may_poll && has_launches_beside(stream, &begun))
        LOG("open %llu", NUMBER(stream->id)); /* what comes behind it may be ordered by what it reads */
    lane_operation(stream->lane, made->number);
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
    memset(begun, 0, program.lane_count * sizeof *begun);
    for (uint32_t i = 0; i < order->order.known_count; i++)
        begun[order->known[i].stream] = order->known[i].begun;
}

static bool wants(const GpuOrder *order, uint64_t key) {
    uint64_t begun[ORDER_STREAMS];
    begun_of(order, begun);
    bool wanted = false;
    for (uint32_t i = 0; i < program.lane_count; i++)
        if (streams[i].lane->last > begun[i])
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
    for (uint32_t i = 0; i < program.lane_count; i++) {
        beside |= streams[i].library > begun[i];
        if (streams[i].lane->last > begun[i])
            pairs_meet(i, begun[i], kernel);
    }
    pairs_add(order->order.stream, kernel);
    library_beside += beside;
    streams[order->order.stream].looked_at = kernel->number + 1;
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
        for (uint32_t i = 0; i < program.lane_count; i++)
            beside |= streams[i].looked_at > begun[i];
        streams[order->order.stream].library = number + 1;
    }
    library_beside += beside;
}
void order_library(const GpuOrder *order, uint64_t number) {
    LOCKED(add_library(order, number));
}

static bool has_one_lane(void) {
    uint32_t used = 0;
    for (uint32_t i = 0; i < program.lane_count; i++)
        used += program.lanes[i]->last || program.lanes[i]->last_copy;
    return used == 1;
}

/* A thread that does not know it may still put something into another stream. */
static bool is_over(uint32_t stream, uint64_t number, bool hurries) {
    bool known = stream < program.lane_count && clock_has(&program.hosts, stream, number);
    bool over = known && (hurries || has_one_lane() || threads_know(&program, stream, number));
    if (over)
        dropped.over[stream] = larger(dropped.over[stream], number + 1);
    return over;
}
bool order_is_over(uint32_t stream, uint64_t number, bool hurries) {
    bool over = false;
    LOCKED(over = is_over(stream, number, hurries));
    return over;
}

uint64_t order_library_beside(void) {
    return library_beside;
}

void order_log_end(bool alone) {
    if (alone && copies_beside && !named_on())
        LOCKED(LOG("missing \"what kernels without PTX access is not known\""));
    LOCKED(log_end(copies_beside || named_said() || shares || (copy_count && !launched)));
}
