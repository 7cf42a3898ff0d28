/* Goes through an order log: each line moves a clock, or is an operation whose touches are held against those before
 * it. Memory is bounded by what is alive: an event's clock is kept until the event is gone, an allocation's marks until
 * it is freed and what used it is over; of operations nothing is kept but their sites. */
#include "check/program/internal.h"

#include "base/array.h"

#include <stdlib.h>

enum { LEGACY = 2, MOST_PIECES = 1 << 20 };

/* The line that says what this is; false: it is not there. */
static bool begins(OrderLog *log, OrderLine *line) {
    if (!order_log_next(log, line)) {
        log->problem = log->problem ? log->problem : "it is empty";
        return false;
    }
    if (line->verb != ORDER_BEGIN || line->numbers[0] != 1)
        log->problem = "this is no order log of version 1";
    return !log->problem;
}

static void report_problem(const OrderLog *log, Source *source, Diagnostics *diagnostics) {
    size_t end = source->size - log->rest.size, at = end && source->data[end - 1] == '\n' ? end - 1 : end;
    while (at && source->data[at - 1] != '\n')
        at--;
    diagnostics_add(diagnostics, SEVERITY_ERROR, source, at, "%s", log->problem);
}

bool program_log_read(Source *source, Diagnostics *diagnostics) {
    OrderLog log = {.rest = {source->data, source->size}};
    OrderLine line;
    for (bool more = begins(&log, &line); more;)
        more = order_log_next(&log, &line);
    if (log.problem)
        report_problem(&log, source, diagnostics);
    return !log.problem;
}

/* ---- Streams, events, sites ------------------------------------------------------------------------- */

static ProgramStream *add_stream(ProgramCheck *check, uint64_t id, bool legacy, bool blocking) {
    OrderLane *lane = order_lane(&check->order, 0, legacy, blocking);
    if (!lane || !ARRAY_ROOM(check->streams, check->stream_count, check->stream_capacity, 16)) {
        check->too_many = true;
        return NULL;
    }
    ProgramStream *stream = &check->streams[check->stream_count++];
    *stream =
        (ProgramStream){.id = id, .process = check->process, .where = STR(""), .lane = lane, .track = lane->index};
    return stream;
}

/* One that the log does not introduce is as those that torch.cuda.Stream makes; 0 is the default stream. */
static ProgramStream *stream_of(ProgramCheck *check, uint64_t id) {
    for (uint32_t i = 0; i < check->stream_count; i++)
        if (check->streams[i].id == id && check->streams[i].process == check->process)
            return &check->streams[i];
    return add_stream(check, id, id == 0, id == 0);
}

static OrderLane *lane_of(ProgramCheck *check, uint64_t id) {
    ProgramStream *stream = stream_of(check, id);
    return stream ? stream->lane : NULL;
}

static void introduce(ProgramCheck *check, const OrderLine *line) {
    ProgramStream *stream = stream_of(check, line->numbers[0]);
    if (!stream || !stream->lane)
        return;
    stream->where = line->texts[0];
    stream->legacy = line->numbers[1] == LEGACY;
    stream->context = line->number_count > 2 ? line->numbers[2] : 0;
    stream->lane->legacy = line->numbers[1] == LEGACY;
    stream->lane->blocking = line->numbers[1] != 0;
    stream->lane->context = line->number_count > 2 ? line->numbers[2] : 0;
}

/* Its lane may become another stream's. */
static void close_stream(ProgramCheck *check, uint64_t id) {
    ProgramStream *stream = stream_of(check, id);
    if (!stream || !stream->lane)
        return;
    stream->lane->gone = true;
    stream->lane = NULL;
}

/* NULL: there is no memory. */
static ProgramEvent *event_of(ProgramCheck *check, uint64_t id) {
    uint64_t key[] = {id, check->process};
    ProgramEvent *known = map_get(&check->event_map, (Str){(const char *)key, sizeof key});
    if (known)
        return known;
    ProgramEvent *event = ARENA_NEW(check->arena, ProgramEvent);
    *event = (ProgramEvent){.next = check->events, .key = {key[0], key[1]}};
    check->events = event;
    void **seat = map_put(&check->event_map, (Str){(const char *)event->key, sizeof event->key});
    check->races.failed |= !seat;
    if (seat)
        *seat = event;
    return seat ? event : NULL;
}

/* That event is the one that processes know by the key. */
static void share_event(ProgramCheck *check, const OrderLine *line) {
    void **seat = map_put(&check->event_key_map, line->texts[0]);
    ProgramEvent *own = event_of(check, line->numbers[0]);
    check->races.failed |= !seat || !own;
    if (!seat || !own)
        return;
    own->shared = true;
    if (!*seat)
        *seat = own;
    void **place = map_put(&check->event_map, (Str){(const char *)own->key, sizeof own->key});
    check->races.failed |= !place;
    if (place)
        *place = *seat;
}

static bool is_site(const ProgramCheck *check, uint32_t site, const OrderLine *line, uint32_t stream, Str name,
                    Str where) {
    const ProgramSite *is = &check->sites[site];
    return is->verb == line->verb && is->stream == stream && is->process == check->process &&
           str_equal(is->name, name) && str_equal(is->where, where);
}

static uint32_t find_site(ProgramCheck *check, const OrderLine *line, uint32_t stream, Str name, Str where) {
    const uint32_t numbers[] = {(uint32_t)line->verb, stream, check->process, (uint32_t)name.size};
    Text *key = &check->key;
    key->size = 0;
    text_add(key, (const char *)numbers, sizeof numbers);
    text_str(key, name);
    text_str(key, where);
    void *known = map_get(&check->site_map, (Str){key->data, key->size});
    if (known)
        return (uint32_t)((uintptr_t)known - 1);
    void **seat = map_put(&check->site_map, (Str){arena_copy(check->arena, key->data, key->size), key->size});
    if (!seat || !ARRAY_ROOM(check->sites, check->site_count, check->site_capacity, 64)) {
        check->races.failed = true;
        return 0; /* the first one stands for it */
    }
    check->sites[check->site_count] = (ProgramSite){.verb = line->verb,
                                                    .name = name,
                                                    .where = where,
                                                    .stream = stream,
                                                    .process = check->process,
                                                    .line = line->line};
    *seat = (void *)(uintptr_t)++check->site_count;
    return check->site_count - 1;
}

/* Most often it is the one that came after the last one before. */
static uint32_t site_of(ProgramCheck *check, const OrderLine *line, uint32_t stream, Str name, Str where) {
    uint32_t site = check->site_count ? check->sites[check->last_site].next : 0;
    if (!check->site_count || !is_site(check, site, line, stream, name, where))
        site = find_site(check, line, stream, name, where);
    if (check->site_count)
        check->sites[check->last_site].next = site;
    return check->last_site = site;
}

/* ---- Operations ------------------------------------------------------------------------------------- */

/* The thread as a lane: what it accesses, it does in its order, and after all that it has waited for. */
static OrderLane *host_lane(ProgramCheck *check) {
    uint32_t thread = 0;
    while (check->order.threads[thread] != check->thread)
        thread++;
    if (thread >= check->host_count) {
        OrderLane **hosts = ARENA_ARRAY(check->arena, OrderLane *, thread + 8);
        for (uint32_t i = 0; i < check->host_count; i++)
            hosts[i] = check->hosts[i];
        check->hosts = hosts;
        check->host_count = thread + 8;
    }
    if (!check->hosts[thread]) {
        check->hosts[thread] = order_lane(&check->order, 0, false, false);
        check->too_many |= !check->hosts[thread];
        if (check->hosts[thread])
            check->hosts[thread]->host = true;
    }
    return check->hosts[thread];
}

static void say_unknown(ProgramCheck *check, Str name, Str where) {
    verdict_incomplete(
        check->verdict, "", 0,
        "the accesses of %.*s (%.*s) are not known, and other operations can run at the same time: its races were "
        "not checked",
        STR_ARG(name), STR_ARG(where));
}

/* Of an operation that begins when `begun` is over: whether one of which that is not known can still run. */
static void look_at_unknown(ProgramCheck *check, const OrderClock *begun) {
    for (uint32_t i = 0; check->any_unknown && i < check->order.lane_count; i++)
        if (check->unknown[i] && !clock_has(begun, i, check->unknown[i] - 1)) {
            program_wants(check, check->unknown[i] - 1);
            say_unknown(check, check->sites[check->unknown_at[i]].name, check->sites[check->unknown_at[i]].where);
        }
}

/* It may touch anything: nothing else may run at the same time. */
static void do_unknown(ProgramCheck *check, OrderLane *lane) {
    bool dependent = check->operation.number_count > 1 && check->operation.numbers[1];
    bool beside = lane_launch(&check->order, lane, check->thread, dependent);
    for (uint32_t i = 0; i < check->order.lane_count && !beside; i++)
        beside = i != lane->index && check->order.lanes[i]->last > lane->now.over[i];
    if (beside) {
        program_wants(check, check->number);
        say_unknown(check, check->operation.texts[0], check->operation.texts[1]);
    }
    program_timeline_operation(check->timeline, check, lane, &lane->begun);
    program_together_may_signal(check, lane);
    check->unknown[lane->index] = check->number + 1;
    check->unknown_at[lane->index] = check->site;
    check->any_unknown = true;
    lane_operation(lane, check->number);
}

static void access_by_host(ProgramCheck *check) {
    OrderLane *lane = host_lane(check);
    if (!lane)
        return;
    lanes_set(&check->order, &lane->now, &check->thread->knows);
    OrderedOperation made = {.lane = lane,
                             .number = check->number,
                             .site = check->site,
                             .begun = &lane->now,
                             .waited = &lane->now,
                             .touches = check->touches,
                             .touch_count = check->touch_count};
    look_at_unknown(check, &lane->now);
    program_timeline_operation(check->timeline, check, lane, &lane->now);
    program_together_operation(check, lane);
    races_operation(&check->races, &made); /* what is in no allocation is the host's own */
    lane_operation(lane, check->number);
    thread_waits(&check->order, check->thread, &lane->now);
}

static void do_operation(ProgramCheck *check, OrderLane *lane) {
    enum { WAITS = 1, WAITS_FIRST = 2 };
    const OrderClock *begun = &lane->now;
    uint64_t how = check->operation.verb == ORDER_DEPENDENT ? check->operation.numbers[1] : 0;
    bool dependent = check->operation.verb == ORDER_DEPENDENT, follows = false;
    if (dependent || check->operation.verb == ORDER_LAUNCH) {
        follows = lane_launch(&check->order, lane, check->thread, dependent);
        begun = &lane->begun;
        check->launches++;
    } else {
        lane_issue(&check->order, lane, check->thread);
    }
    OrderedOperation made = {.lane = lane,
                             .number = check->number,
                             .site = check->site,
                             .begun = begun,
                             .waited = &lane->now,
                             .touches = check->touches,
                             .touch_count = check->touch_count};
    look_at_unknown(check, begun);
    program_timeline_operation(check->timeline, check, lane, begun);
    program_stand(check, lane, begun);
    program_together_operation(check, lane);
    program_look_at_host_memory(check);
    if (races_operation(&check->races, &made))
        verdict_incomplete(check->verdict, "", 0,
                           "operations access memory without an allocation in the log: their races were not checked");
    if (follows && how < WAITS)
        program_report_no_wait(check);
    if (follows && how >= WAITS_FIRST)
        lanes_set(&check->order, &lane->begun,
                  &lane->now); /* the next launch begins when this one has triggered, and so has waited */
    lane_operation(lane, check->number);
}

static void close_operation(ProgramCheck *check) {
    if (!check->is_open)
        return;
    program_take_recorded(check);
    check->is_open = false;
    if (check->operation.verb == ORDER_ACCESS) {
        access_by_host(check);
    } else {
        OrderLane *lane = lane_of(check, check->operation.numbers[0]);
        if (lane && check->operation.verb == ORDER_UNKNOWN)
            do_unknown(check, lane);
        else if (lane)
            do_operation(check, lane);
        else
            verdict_incomplete(check->verdict, "", 0,
                               "an operation at line %u of the log is in an unknown stream: it was not checked",
                               check->operation.line);
    }
    program_learns(check);
    check->number++;
    check->operations++;
    check->touch_count = 0;
}

static void open_operation(ProgramCheck *check, const OrderLine *line) {
    const ProgramStream *stream = line->verb == ORDER_ACCESS ? NULL : stream_of(check, line->numbers[0]);
    uint32_t number = stream ? (uint32_t)(stream - check->streams) : UINT32_MAX;
    check->operation = *line;
    check->is_open = true;
    check->site = site_of(check, line, number, line->texts[0], line->texts[1]);
}

static void say_not_taken(ProgramCheck *check) {
    verdict_incomplete(check->verdict, "", 0, "some accesses of an operation at line %u of the log could not be read",
                       check->operation.line);
}

static void add_piece(ProgramCheck *check, Touch touch) {
    bool known = program_address(check, &touch.begin, (touch.count - 1) * touch.stride + touch.bytes);
    if (!known || !ARRAY_ROOM(check->touches, check->touch_count, check->touch_capacity, 64))
        say_not_taken(check);
    else
        check->touches[check->touch_count++] = touch;
}

/* Whether all pieces of it are in one allocation: those of a recording are put together by their addresses alone, and
 * memory that processes share is elsewhere here. */
static bool is_in_one(ProgramCheck *check, const Touch *touch) {
    uint64_t begin = touch->begin, reach = (touch->count - 1) * touch->stride + touch->bytes;
    if (touch->count == 1 || !program_process(check)->mapping_count)
        return true;
    const RaceMemory *memory = program_address(check, &begin, reach) ? races_memory(&check->races, begin) : NULL;
    return memory && begin - memory->address + reach <= memory->bytes;
}

void program_touch(ProgramCheck *check, Touch touch) {
    Touch piece = touch;
    if (is_in_one(check, &touch)) {
        add_piece(check, touch);
        return;
    }
    piece.count = 1;
    for (uint64_t i = 0; i < touch.count && i < MOST_PIECES; i++) {
        piece.begin = touch.begin + i * touch.stride;
        add_piece(check, piece);
    }
    if (touch.count > MOST_PIECES)
        say_not_taken(check);
}

static void add_touch(ProgramCheck *check, const OrderLine *line) {
    static const uint8_t ways[] = {TOUCH_READ,     TOUCH_WRITE,     TOUCH_STRONG_READ, TOUCH_STRONG_WRITE,
                                   TOUCH_READ,     TOUCH_WRITE,     TOUCH_STRONG_READ, TOUCH_STRONG_WRITE,
                                   TOUCH_MAY_READ, TOUCH_MAY_WRITE, TOUCH_WRITE,       TOUCH_WRITE,
                                   TOUCH_UNSEEN}; /* ORDER order_log.def */
    Touch touch = {.begin = line->numbers[0],
                   .bytes = line->numbers[1],
                   .stride = line->number_count > 3 ? line->numbers[2] : 0,
                   .count = line->number_count > 3 ? line->numbers[3] : 1,
                   .how = ways[line->verb - ORDER_READS],
                   .early = line->verb >= ORDER_EARLY_READS && line->verb <= ORDER_EARLY_STRONG_WRITES};
    uint64_t end = touch.begin;
    if (!touch.bytes || !touch.count || !check->is_open)
        return;
    if (line->verb == ORDER_ALLOCATES || line->verb == ORDER_FREES)
        check->sites[check->site].lifetime = line->verb;
    bool odd = touch.count > MOST_PIECES || (touch.count > 1 && touch.stride < touch.bytes) ||
               __builtin_mul_overflow(touch.stride, touch.count, &end) ||
               __builtin_add_overflow(end, touch.begin, &end) || __builtin_add_overflow(end, touch.bytes, &end);
    if (odd)
        say_not_taken(check);
    else
        program_touch(check, touch);
}

/* ---- Lines ------------------------------------------------------------------------------------------ */

static void begin_thread(ProgramCheck *check, const OrderLine *line) {
    uint32_t count = check->order.thread_count;
    OrderThread *thread = order_thread(&check->order, line->numbers[0]);
    OrderThread *parent = line->number_count > 1 ? order_thread(&check->order, line->numbers[1]) : NULL;
    check->races.failed |= !thread || (line->number_count > 1 && !parent);
    if (!thread)
        return;
    thread->knows.open |= check->open;
    if (parent && check->order.thread_count > count)
        thread_waits(&check->order, thread, &parent->knows);
    check->thread = program_process(check)->thread = thread;
}

static void learn(ProgramCheck *check, uint64_t id, bool ends) {
    OrderThread *other = order_thread(&check->order, id);
    check->races.failed |= !other;
    if (other)
        thread_waits(&check->order, check->thread, &other->knows);
    if (other && ends)
        other->knows = (OrderClock){0};
}

static void record(ProgramCheck *check, const OrderLine *line) {
    OrderLane *lane = lane_of(check, line->numbers[1]);
    ProgramEvent *event = event_of(check, line->numbers[0]);
    if (!lane || !event)
        return;
    if (!event->clock && !(event->clock = calloc(1, sizeof *event->clock))) {
        check->races.failed = true;
        return;
    }
    enum { WHILE_RUNS = 1, BETWEEN_NODES = 2 };
    uint64_t when = line->number_count > 2 ? line->numbers[2] : 0;
    bool while_runs = when == WHILE_RUNS && lane->launched;
    if (when != BETWEEN_NODES)
        lane_issue(&check->order, lane, check->thread);
    lanes_set(&check->order, event->clock, while_runs ? &lane->begun : &lane->now);
    event->lane = lane;
    event->clock->open |= when == WHILE_RUNS;
}

static void spawn(ProgramCheck *check, uint64_t id) {
    OrderThread *thread = order_thread(&check->order, id);
    check->races.failed |= !thread;
    if (thread)
        lanes_join(&check->order, &thread->knows, &check->thread->knows);
}

/* What every thread puts into streams from here on may come after something that is not seen. */
static void open_all(ProgramCheck *check) {
    for (uint32_t i = 0; i < check->order.thread_count; i++)
        check->order.threads[i]->knows.open = true;
    check->open = true;
}

static void open_stream(ProgramCheck *check, OrderLane *lane, bool notifies) {
    if (!lane)
        return;
    lane_issue(&check->order, lane, check->thread);
    lane->now.open |= !notifies;
    if (notifies)
        lanes_join(&check->order, &check->order.hosts, &lane->now);
}

static void join_lanes(ProgramCheck *check, uint64_t one, uint64_t other) {
    OrderLane *lane = lane_of(check, one), *from = lane_of(check, other);
    if (!lane || !from)
        return;
    lane_issue(&check->order, from, check->thread); /* a graph waits as an operation of its stream does */
    lane_waits(&check->order, lane, check->thread, &from->now);
    program_timeline_waits(check->timeline, lane, from);
}

static void allocate(ProgramCheck *check, const OrderLine *line, OrderLane *lane, Str where) {
    uint32_t site = site_of(check, line, UINT32_MAX, STR(""), where);
    uint64_t address = line->numbers[0];
    if (program_has_key(check, address))
        return; /* it is there for all processes */
    if (program_address(check, &address, line->numbers[1]))
        races_allocate(&check->races, address, line->numbers[1], lane, check->thread, site);
    RaceMemory *memory = check->several_devices ? races_memory(&check->races, address) : NULL;
    if (memory && program_together(check))
        memory->shared = true;
    check->sites[site].of_host |= line->verb == ORDER_HOST_MEMORY && line->number_count > 2;
    check->any_host_memory |= check->sites[site].of_host;
}

static void free_memory(ProgramCheck *check, const OrderLine *line) {
    uint64_t address = line->numbers[0];
    if (!program_unmap(check, address) && program_address(check, &address, 1))
        races_free(&check->races, address, check->thread, site_of(check, line, UINT32_MAX, STR(""), line->texts[0]));
}

static void use_memory(ProgramCheck *check, const OrderLine *line) {
    OrderLane *lane = lane_of(check, line->numbers[1]);
    uint64_t address = line->numbers[0];
    if (lane && program_address(check, &address, 1))
        races_use(&check->races, address, lane);
}

/* What an event has when it is waited for: nothing, if it was never recorded. */
static void wait_for_event(ProgramCheck *check, const OrderLine *line) {
    const ProgramEvent *event = event_of(check, line->numbers[0]);
    OrderLane *lane = line->verb == ORDER_WAIT ? lane_of(check, line->numbers[1]) : NULL;
    if (!event || !event->clock)
        return;
    if (lane) {
        lane_waits(&check->order, lane, check->thread, event->clock);
        program_timeline_waits(check->timeline, lane, event->lane);
    } else if (line->verb == ORDER_AWAIT_EVENT) {
        thread_waits(&check->order, check->thread, event->clock);
    }
}

static void forget_event(ProgramCheck *check, uint64_t id) {
    uint64_t key[] = {id, check->process};
    ProgramEvent *event = event_of(check, id);
    void **place = event && event->shared ? map_put(&check->event_map, (Str){(const char *)key, sizeof key}) : NULL;
    if (place)
        *place = NULL; /* other processes may have it */
    if (!event || event->shared)
        return;
    free(event->clock);
    event->clock = NULL;
}

/* Whether this thread of the host knows more behind it. */
static bool is_wait(OrderVerb verb) {
    return verb == ORDER_AWAIT_EVENT || verb == ORDER_AWAIT_STREAM || verb == ORDER_AWAIT_ALL || verb == ORDER_LEARN ||
           verb == ORDER_RECEIVE;
}

static void do_line(ProgramCheck *check, const OrderLine *line) {
    OrderLane *lane;
    if (line->verb >= ORDER_READS && line->verb <= ORDER_UNSEEN) {
        add_touch(check, line);
        return;
    }
    if (line->verb == ORDER_RECORDED) {
        program_recorded(check, line);
        return;
    }
    if (line->verb >= ORDER_GRID && line->verb <= ORDER_PASS) {
        program_together_line(check, line);
        return;
    }
    close_operation(check);
    if (is_wait(line->verb))
        program_learns(check);
    switch (line->verb) {
    case ORDER_PROCESS:
        check->too_many |= !program_enter(check, line->numbers[0]);
        break;
    case ORDER_AT:
        program_process(check)->time = line->numbers[0];
        break;
    case ORDER_CALLED:
        program_process(check)->name = line->texts[0];
        break;
    case ORDER_DEVICES:
        check->several_devices |= line->numbers[0] > 1;
        break;
    case ORDER_STREAM:
        introduce(check, line);
        break;
    case ORDER_CLOSED:
        close_stream(check, line->numbers[0]);
        break;
    case ORDER_OPEN:
    case ORDER_NOTIFIES:
        open_stream(check, lane_of(check, line->numbers[0]), line->verb == ORDER_NOTIFIES);
        break;
    case ORDER_OPEN_ALL:
        open_all(check);
        break;
    case ORDER_SPAWN:
        spawn(check, line->numbers[0]);
        break;
    case ORDER_THREAD:
        begin_thread(check, line);
        break;
    case ORDER_ALLOCATE:
        if ((lane = lane_of(check, line->numbers[2])))
            allocate(check, line, lane, line->texts[0]);
        break;
    case ORDER_HOST_MEMORY:
        allocate(check, line, NULL, line->texts[0]);
        break;
    case ORDER_FREE:
        free_memory(check, line);
        break;
    case ORDER_LEFT:
        program_left(check, line->numbers[0]);
        break;
    case ORDER_SHARED:
        program_share(check, line, site_of(check, line, UINT32_MAX, STR(""), STR("")));
        break;
    case ORDER_USE:
        use_memory(check, line);
        break;
    case ORDER_CALLS:
        program_calls(check);
        break;
    case ORDER_LAUNCH:
    case ORDER_DEPENDENT:
    case ORDER_UNKNOWN:
    case ORDER_COPY:
    case ORDER_ACCESS:
        open_operation(check, line);
        break;
    case ORDER_RECORD:
        record(check, line);
        break;
    case ORDER_WAIT:
    case ORDER_AWAIT_EVENT:
        wait_for_event(check, line);
        break;
    case ORDER_SHARED_EVENT:
        share_event(check, line);
        break;
    case ORDER_SEND:
        program_send(check, line);
        break;
    case ORDER_RECEIVE:
        program_receive(check, line);
        break;
    case ORDER_EVENT_GONE:
        forget_event(check, line->numbers[0]);
        break;
    case ORDER_AWAIT_STREAM:
        if ((lane = lane_of(check, line->numbers[0]))) {
            lane_issue(&check->order, lane, check->thread);
            thread_waits(&check->order, check->thread, &lane->now);
        }
        break;
    case ORDER_AWAIT_ALL:
        thread_waits_for_all(&check->order, check->thread, !line->number_count, line->numbers[0]);
        break;
    case ORDER_LEARN:
        learn(check, line->numbers[0], line->number_count > 1);
        break;
    case ORDER_FORK:
        join_lanes(check, line->numbers[0], line->numbers[1]);
        break;
    case ORDER_JOIN:
        join_lanes(check, line->numbers[1], line->numbers[0]);
        break;
    case ORDER_MISSING:
        verdict_incomplete(check->verdict, "", 0, "%.*s", STR_ARG(line->texts[0]));
        break;
    case ORDER_END:
        check->ended = true;
        break;
    default:
        break;
    }
}

static void close_check(ProgramCheck *check) {
    Verdict *verdict = check->verdict;
    close_operation(check);
    program_together_end(check);
    program_report_leaks(check);
    program_report_host_memory(check);
    if (!check->ended)
        verdict_incomplete(verdict, "", 0, "the log ends early: later operations of the program were not checked");
    if (!check->operations)
        verdict_incomplete(verdict, "", 0, "the program did nothing on the device");
    if (check->too_many)
        verdict_incomplete(verdict, "", 0,
                           "the program has more than %d streams, or too many processes to check together: some "
                           "were not checked",
                           ORDER_LANES);
    if (check->races.failed)
        verdict_incomplete(verdict, "", 0, "there was not enough memory to check all operations");
    Text text = {0};
    text_number_of(&text, check->operations, "operation");
    text_addf(&text, " on ");
    text_number_of(&text, check->stream_count, "stream");
    if (check->process_count > 1) {
        text_addf(&text, " of ");
        text_number_of(&text, check->process_count, "process");
    }
    *verdict_launch(verdict) =
        (LaunchRun){.text = verdict_keep(verdict, &text), .events = check->operations, .schedules = 1};
    verdict->only_launch = verdict->program = true;
}

static void release(ProgramCheck *check) {
    for (ProgramEvent *event = check->events; event; event = event->next)
        free(event->clock);
    races_release(&check->races);
    order_free_all(&check->order);
    map_free(&check->site_map);
    map_free(&check->event_map);
    map_free(&check->event_key_map);
    map_free(&check->pair_map);
    program_together_release(check);
    program_release_processes(check);
    free(check->streams);
    free(check->sites);
    free(check->touches);
    text_free(&check->key);
}

static void go_through(ProgramCheck *check, Source *source, Diagnostics *diagnostics) {
    OrderLog log = {.rest = {source->data, source->size}};
    OrderLine line;
    bool begun = program_enter(check, 0);
    if (begun)
        check->processes[0].named = false;
    for (bool more = begun && begins(&log, &line); more; more = order_log_next(&log, &line))
        do_line(check, &line);
    if (log.problem)
        report_problem(&log, source, diagnostics);
    close_check(check);
}

void program_check(Source *source, ProgramRecordings *recordings, Verdict *verdict, Trace *trace,
                   Diagnostics *diagnostics) {
    for (uint32_t i = 0; i < recordings->count; i++)
        recordings->items[i].begun = false;
    ProgramCheck check = {.verdict = verdict, .arena = verdict->arena, .recordings = recordings};
    jmp_buf here, *outer = verdict->arena->exhausted;
    check.races = (Races){.order = &check.order,
                          .report = program_report_race,
                          .reused = program_report_reuse,
                          .gone = program_together_gone,
                          .context = &check};
    verdict->arena->exhausted = &here;
    bool enough = !setjmp(here);
    if (enough) {
        check.timeline = trace ? program_timeline(check.arena) : NULL;
        go_through(&check, source, diagnostics);
        if (trace)
            program_timeline_close(&check, source->name, trace);
    }
    release(&check);
    verdict->arena->exhausted = outer;
    if (!enough)
        longjmp(*outer, 1);
}
