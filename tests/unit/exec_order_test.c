/* Which launches are over when another one begins: the clocks that libweir-gpu.so keeps while a program runs. The
 * driver is not there: what is asked of it is answered here. */
#include "runtime/record/gpu_order.c"
#include "runtime/record/gpu_pairs.c"

#include "runtime/record/gpu_log.c"
#include "runtime/record/gpu_named.c"
#include "runtime/record/gpu_order_names.c"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* ---- What the clocks ask ---- */

bool gpu_on(void) {
    return true;
}
bool gpu_checks(void) {
    return false;
}
void gpu_begin(void) {}
pthread_mutex_t hook_mutex = PTHREAD_MUTEX_INITIALIZER;
bool peers_on(void) {
    return false;
}
void peers_begin(void) {}
bool peers_has(DevicePointer address) {
    return address && false;
}
uint64_t gpu_now(void) {
    return 1;
}
/* Streams but the default one are captured while something is. */
static bool capturing;
bool capture_underway(void) {
    return capturing;
}
GpuCapture gpu_capture(Handle stream) {
    return stream ? CAPTURE_ACTIVE : CAPTURE_NONE;
}
const GpuOptions *gpu_options(void) {
    static const GpuOptions options = {.folder = "/nowhere"};
    return &options;
}
void gpu_unseen_program(const char *why, ...) {
    (void)why;
}
static Handle current;
static Result current_context(Handle *to) {
    *to = current;
    return 0;
}
static Result current_device(int *to) {
    *to = 0;
    return 0;
}
const GpuDriver *gpu_driver(const char **missing) {
    static const GpuDriver driver = {.context_current = current_context, .context_device = current_device};
    (void)missing;
    return &driver;
}
/* Streams with an odd handle do not wait for the default stream. */
static Result flags_of(Handle stream, unsigned *flags) {
    *flags = (uintptr_t)stream % 2;
    return 0;
}
void *driver_symbol(const char *name) {
    Result (*function)(Handle, unsigned *) = flags_of;
    void *symbol = NULL;
    if (strcmp(name, "cuStreamGetCtx") == 0 || strcmp(name, "cuDeviceGetUuid_v2") == 0)
        return NULL;
    assert_string_equal(name, "cuStreamGetFlags");
    memcpy(&symbol, &function, sizeof symbol);
    return symbol;
}

/* ---- A program ---- */

enum { DEFAULT = 0, THREAD = 2, ONE = 101, TWO = 103, THREE = 105, BLOCKING = 202, OTHER_BLOCKING = 204 };
static uint64_t next_number;
static GpuOrder made[32];

static OrderStream named(uintptr_t handle) {
    return (OrderStream){.handle = (Handle)handle};
}
static Handle event_named(uintptr_t handle) {
    return (Handle)(0x1000 + 16 * handle);
}

/* The number of the launch. */
static uint64_t launch_on(uintptr_t stream) {
    order_launch(&(OrderLaunch){.stream = named(stream), .number = next_number}, &made[next_number]);
    return next_number++;
}
static uint64_t launch_dependent(uintptr_t stream) {
    order_launch(&(OrderLaunch){.stream = named(stream), .number = next_number, .dependent = true}, &made[next_number]);
    return next_number++;
}

static RecordingKnown known_of(uint64_t first, uint64_t second) {
    for (uint32_t i = 0; i < made[second].order.known_count; i++)
        if (made[second].known[i].stream == made[first].order.stream)
            return made[second].known[i];
    return (RecordingKnown){0};
}
static bool is_before(uint64_t first, uint64_t second) {
    return known_of(first, second).begun > first;
}

/* All is forgotten. */
static int begin(void **state) {
    (void)state;
    order_free_all(&program);
    self.known = NULL;
    log_end(false);
    memset(memories, 0, sizeof memories);
    stream_ids = 0;
    copies_beside = default_named = false;
    for (uint32_t i = 0; i < EVENT_BUCKETS; i++)
        while (events[i])
            order_event_destroyed(events[i]->handle);
    for (uint32_t i = 0; i < freed.count; i++)
        free(freed.pieces[i].clock);
    freed = (OrderFreed){0};
    for (unsigned i = 0; i < sizeof made / sizeof *made; i++)
        order_free(&made[i]);
    reported = dropped = (OrderClock){0};
    shares = meets = any_elsewhere = unknown = crowded = late = remote = domains = false;
    library_beside = next_number = copy_count = 0;
    for (uint32_t i = 0; i < ORDER_STREAMS; i++)
        free(kinds[i].items);
    memset(kinds, 0, sizeof kinds);
    free(pairs);
    pairs = NULL;
    pair_count = extra = 0;
    untold = 0;
    called = false;
    current = (Handle)1;
    return 0;
}

static void test_streams(void **state) {
    (void)state;
    uint64_t a = launch_on(ONE), b = launch_on(TWO), c = launch_on(ONE);
    assert_true(is_before(a, c));
    assert_false(is_before(a, b) || is_before(b, c));
    assert_int_equal(made[a].order.stream, made[c].order.stream);
    assert_int_equal(made[a].order.process, made[b].order.process);
    assert_true(made[a].order.process != 0);
}

static void test_default_stream(void **state) {
    (void)state;
    uint64_t a = launch_on(BLOCKING), aside = launch_on(ONE), b = launch_on(DEFAULT), c = launch_on(OTHER_BLOCKING);
    uint64_t free_one = launch_on(TWO), own = launch_on(THREAD), d = launch_on(DEFAULT);
    assert_true(is_before(a, b) && is_before(b, c) && is_before(a, c));
    assert_false(is_before(aside, b) || is_before(b, free_one));
    assert_true(is_before(b, own) && is_before(own, d) && is_before(c, d));
    assert_false(is_before(c, own));
}

static void test_per_thread_entry_points(void **state) {
    (void)state;
    order_launch(&(OrderLaunch){.stream = {.per_thread = true}, .number = 0}, &made[0]);
    next_number = 1;
    uint64_t same = launch_on(THREAD), legacy = launch_on(1);
    assert_true(is_before(0, same) && is_before(same, legacy));
    assert_int_equal(made[0].order.stream, made[same].order.stream);
}

static void test_events(void **state) {
    (void)state;
    uint64_t a = launch_on(ONE);
    order_event_recorded(event_named(1), named(ONE));
    uint64_t behind = launch_on(ONE);
    order_stream_waits(named(TWO), event_named(1));
    uint64_t b = launch_on(TWO);
    assert_true(is_before(a, b));
    assert_false(is_before(behind, b));
    order_event_recorded(event_named(2), named(TWO)); /* what it knows goes on */
    order_stream_waits(named(THREE), event_named(2));
    uint64_t c = launch_on(THREE);
    assert_true(is_before(a, c) && is_before(b, c));
    order_stream_waits(named(ONE), event_named(3)); /* never recorded: it waits for nothing */
    uint64_t d = launch_on(ONE);
    assert_false(is_before(b, d));
    assert_int_equal(made[d].order.flags, 0);
    order_event_recorded(event_named(1), named(THREE)); /* recorded again: the last one counts */
    order_stream_waits(named(ONE), event_named(1));
    assert_true(is_before(c, launch_on(ONE)));
}

static void test_host(void **state) {
    (void)state;
    uint64_t a = launch_on(ONE), b = launch_on(TWO);
    order_host_stream(named(ONE));
    uint64_t c = launch_on(THREE);
    assert_true(is_before(a, c));
    assert_false(is_before(b, c));
    order_event_recorded(event_named(1), named(TWO));
    order_host_event(event_named(1), false);
    uint64_t d = launch_on(ONE);
    assert_true(is_before(b, d));
    assert_false(is_before(c, d));
    order_host_context((Handle)1);
    assert_true(is_before(d, launch_on(TWO)) && is_before(c, launch_on(ONE)));
}

static void test_contexts(void **state) {
    (void)state;
    uint64_t a = launch_on(BLOCKING);
    current = (Handle)2;
    uint64_t b = launch_on(DEFAULT), c = launch_on(OTHER_BLOCKING);
    assert_false(is_before(a, b) || is_before(a, c));
    assert_true(is_before(b, c));
    order_host_context((Handle)2);
    current = (Handle)1;
    uint64_t d = launch_on(DEFAULT);
    assert_true(is_before(a, d) && is_before(c, d));
}

static void test_dependent(void **state) {
    (void)state;
    uint64_t a = launch_on(ONE), b = launch_on(ONE), c = launch_dependent(ONE), d = launch_dependent(ONE);
    assert_true(is_before(a, c));
    assert_false(is_before(b, c) || is_before(c, d) || is_before(b, d));
    assert_true(known_of(b, c).waited > b && known_of(c, d).waited > c);
    uint64_t e = launch_on(ONE);
    assert_true(is_before(b, e) && is_before(d, e));
    order_work(named(ONE), false); /* a copy between them: it is waited for */
    assert_true(is_before(e, launch_dependent(ONE)));
}

static void test_what_nothing_sees(void **state) {
    (void)state;
    uint64_t a = launch_on(ONE);
    order_host_called(named(ONE));
    uint64_t b = launch_on(TWO);
    assert_false(is_before(a, b));
    assert_true(known_of(a, b).maybe > a);
    order_opened(named(TWO));
    uint64_t c = launch_on(TWO);
    assert_int_equal(made[b].order.flags, RECORDING_ORDER_CALLED);
    assert_int_equal(made[c].order.flags, RECORDING_ORDER_CALLED | RECORDING_ORDER_OPEN);
    order_events_elsewhere();
    order_stream_waits(named(THREE), event_named(9));
    assert_true(made[launch_on(THREE)].order.flags & RECORDING_ORDER_OPEN);
    order_launch(&(OrderLaunch){.stream = named(ONE), .number = next_number, .triggered = {event_named(5)}},
                 &made[next_number]);
    order_stream_waits(named(107), event_named(5)); /* it comes while the kernel runs */
    next_number++;
    assert_true(made[launch_on(107)].order.flags & RECORDING_ORDER_OPEN);
}

/* Other processes may have recorded it: what waits for it may come behind more than was seen. */
static void test_shared_event(void **state) {
    (void)state;
    uint64_t a = launch_on(ONE);
    order_event_recorded(event_named(1), named(ONE));
    order_event_shared(event_named(1), "key");
    order_stream_waits(named(TWO), event_named(1));
    uint64_t b = launch_on(TWO);
    assert_true(is_before(a, b));
    assert_int_equal(made[b].order.flags, RECORDING_ORDER_OPEN);
    order_event_shared(event_named(2), "other"); /* opened */
    order_stream_waits(named(THREE), event_named(2));
    assert_int_equal(made[launch_on(THREE)].order.flags, RECORDING_ORDER_OPEN);
    order_event_destroyed(event_named(2));
    order_stream_waits(named(107), event_named(2));
    assert_int_equal(made[launch_on(107)].order.flags, 0);
}

static void pool(uintptr_t stream, bool frees, uint64_t memory, uint64_t bytes) {
    order_pooled(&(OrderPooled){
        .stream = named(stream), .frees = frees, .memory = {memory, bytes}, .name = frees ? "cuMemFreeAsync" : "cuMemAllocAsync"});
}

static void test_memory(void **state) {
    (void)state;
    uint64_t a = launch_on(ONE);
    pool(ONE, true, 0x1000, 0x100);
    pool(TWO, false, 0x2000, 0x100);
    uint64_t b = launch_on(TWO);
    assert_false(is_before(a, b));
    pool(TWO, false, 0x1080, 0x10);
    assert_true(is_before(a, launch_on(TWO)));
    for (unsigned i = 0; i < 2 * MOST_FREED; i++)
        pool(ONE, true, 0x100000 + i * 0x1000, 0x100);
    pool(THREE, false, 0x100000, 0x100); /* of so many all are waited for */
    assert_true(is_before(a, launch_on(THREE)));
}

/* Who gets memory from the driver itself knows that what has freed it is over. */
static void test_memory_of_threads(void **state) {
    (void)state;
    uint64_t a = launch_on(ONE);
    pool(ONE, true, 0x1000, 0x100);
    order_given(0x8000, 0x100);
    assert_false(is_before(a, launch_on(TWO)));
    order_given(0x1000, 0x100);
    assert_true(is_before(a, launch_on(TWO)));
}

static void test_streams_come_and_go(void **state) {
    (void)state;
    uint64_t a = launch_on(ONE);
    order_destroyed(named(ONE));
    uint64_t b = launch_on(ONE); /* another stream at the same place in memory */
    assert_false(is_before(a, b));
    assert_true(made[a].order.stream != made[b].order.stream);
    order_host_context(NULL);
    order_destroyed(named(ONE));
    uint64_t c = launch_on(TWO); /* has the number of one whose launches are over */
    assert_true(is_before(a, c) && is_before(b, c));
    assert_int_equal(program.lane_count, 2);
    for (uintptr_t i = 0; i < ORDER_STREAMS + 10; i++)
        order_work(named(1001 + 2 * i), false);
    uint64_t d = launch_on(3); /* too many to be told apart */
    assert_false(made[d].there);
}

/* What one thread of the host has waited for another may know, or not. */
static void test_threads(void **state) {
    (void)state;
    launch_on(TWO);
    uint64_t a = launch_on(ONE);
    HostThread first = self;
    void *known = order_thread_made();
    self = (HostThread){0};
    uint64_t id = order_thread_begun(known);
    order_host_stream(named(ONE)); /* the second thread waits */
    assert_false(order_is_over(made[a].order.stream, a, false));
    uint64_t b = launch_on(TWO);
    assert_true(is_before(a, b));
    assert_int_equal(made[b].order.flags, 0);
    HostThread second = self;
    self = first;
    uint64_t c = launch_on(THREE);
    assert_false(is_before(a, c));
    assert_true(known_of(a, c).maybe > a);
    assert_int_equal(made[c].order.flags, RECORDING_ORDER_THREADS);
    self = second;
    thread_ends(NULL);
    self = first;
    order_thread_joined(id);
    assert_true(is_before(a, launch_on(THREE)));
    assert_true(order_is_over(made[a].order.stream, a, false));
    assert_false(order_doubts().late);
    self = (HostThread){0}; /* one that knows less than what was dropped */
    launch_on(ONE);
    assert_false(order_doubts().late);
    launch_on(THREE + 2);
    assert_true(order_doubts().late);
    thread_ends(NULL);
    self = first;
}

/* Of one stream all that comes is behind what one thread has waited for; what is put into another one is not. */
static void test_dropped(void **state) {
    (void)state;
    uint64_t a = launch_on(ONE);
    HostThread first = self;
    self = (HostThread){0};
    order_host_stream(named(ONE));
    thread_ends(NULL);
    self = first;
    assert_true(order_is_over(made[a].order.stream, a, false));
    uint64_t b = launch_on(ONE);
    assert_false(order_doubts().late);
    launch_on(TWO);
    assert_true(order_doubts().late);
    order_host_context(NULL);
    assert_true(order_is_over(made[b].order.stream, b, false));
}

static void test_copies_that_may_be_waited_for(void **state) {
    (void)state;
    uint64_t a = launch_on(ONE);
    order_copy(&(OrderCopy){.stream = named(ONE), .host = HOST_MAY_WAIT, .name = "first"});
    uint64_t b = launch_on(TWO);
    assert_true(!is_before(a, b) && known_of(a, b).maybe > a);
}

/* A stream is the same one whichever context is current. */
static void test_other_context(void **state) {
    (void)state;
    uint64_t a = launch_on(ONE);
    current = (Handle)2;
    order_host_stream(named(ONE));
    assert_true(is_before(a, launch_on(TWO)));
}

static void test_unknown(void **state) {
    (void)state;
    launch_on(ONE);
    order_unknown();
    assert_int_equal(made[launch_on(TWO)].order.flags, RECORDING_ORDER_OPEN);
}

static uint64_t missed;

static void add_missed(const char *kernel, const char *other, uint64_t launches) {
    assert_true(kernel && other);
    missed += launches;
}

static uint64_t count_missed(void) {
    missed = 0;
    order_each_missed(add_missed);
    return missed;
}

static void look(uint64_t launch, uint64_t key, bool recorded) {
    order_looked_at(&made[launch], &(OrderKernel){.name = "k", .key = key, .number = launch, .recorded = recorded});
}

/* Launches that are equal to recorded ones, and can run at the same time as others. */
static void test_not_recorded(void **state) {
    (void)state;
    uint64_t a = launch_on(ONE), b = launch_on(TWO);
    look(a, 1, true);
    look(b, 2, true);
    assert_int_equal(count_missed(), 0);
    uint64_t c = launch_on(TWO); /* as b beside a, which were recorded */
    assert_false(order_wants(&made[c], 2));
    look(c, 2, false);
    assert_int_equal(count_missed(), 0);
    uint64_t d = launch_on(THREE);
    assert_true(order_wants(&made[d], 3)); /* nothing like it was beside these */
    look(d, 3, false);
    assert_int_equal(count_missed(), 2);
    uint64_t e = launch_on(ONE);
    assert_true(order_wants(&made[e], 1)); /* d wants that */
    look(e, 1, true);
    uint64_t f = launch_on(THREE);
    look(f, 3, true); /* beside a and b, and beside e */
    assert_int_equal(count_missed(), 0);
    order_host_context(NULL);
    uint64_t g = launch_on(ONE); /* behind all of them */
    assert_false(order_wants(&made[g], 9));
    look(g, 9, false);
    assert_int_equal(count_missed(), 0);
    assert_true(is_before(a, g));
}

/* Two that are made at the same time by two threads: one is still being prepared when the other is decided on. */
static void test_chosen(void **state) {
    (void)state;
    order_host_context(NULL);
    uint64_t missed = count_missed(), a = launch_on(ONE), b = launch_on(TWO);
    order_chosen(&made[a], &(OrderKernel){.name = "k", .key = 21, .number = a});
    assert_true(order_wants(&made[b], 22)); /* a is beside it, and will be recorded */
    look(b, 22, true);
    look(a, 21, true);
    assert_int_equal(count_missed(), missed);
    order_host_context(NULL);
    uint64_t c = launch_on(ONE);
    order_chosen(&made[c], &(OrderKernel){.name = "k", .key = 23, .number = c});
    look(c, 23, true); /* not beside itself */
    assert_int_equal(count_missed(), missed);
}

/* Kernels without PTX are ordered with all that was looked at, or are not. */
static void test_libraries(void **state) {
    (void)state;
    uint64_t before = order_library_beside(), a = launch_on(ONE);
    look(a, 1, true);
    uint64_t b = launch_on(ONE);
    order_library(&made[b], b); /* in its stream */
    order_event_recorded(event_named(1), named(ONE));
    order_stream_waits(named(TWO), event_named(1));
    uint64_t c = launch_on(TWO); /* behind an event */
    order_library(&made[c], c);
    assert_int_equal(order_library_beside(), before);
    uint64_t d = launch_on(ONE); /* c may still run */
    look(d, 1, true);
    assert_int_equal(order_library_beside(), before + 1);
    uint64_t e = launch_on(THREE); /* so may d */
    order_library(&made[e], e);
    assert_int_equal(order_library_beside(), before + 2);
    uint64_t f = launch_on(TWO); /* d may run, but f is of a library, and so is e */
    order_host_context(NULL);
    uint64_t g = launch_on(TWO), h = launch_on(ONE);
    order_library(&made[g], g);
    order_library(&made[h], h);
    assert_int_equal(order_library_beside(), before + 2);
    assert_true(is_before(f, g));
}

/* Copies count by themselves, and are known as launches are. */
static void test_copies(void **state) {
    (void)state;
    uint64_t a = launch_on(ONE);
    order_copy(&(OrderCopy){.stream = named(ONE), .name = "first"});
    order_copy(&(OrderCopy){.stream = named(TWO), .name = "second"});
    uint64_t b = launch_on(ONE), c = launch_on(TWO), d = launch_on(THREE);
    assert_int_equal(known_of(a, b).copies, 1);
    assert_int_equal(known_of(c, c).copies, 2);
    assert_int_equal(made[d].order.known_count, 0);
    order_copy(&(OrderCopy){.stream = named(ONE), .host = HOST_WAITS, .name = "third"});
    uint64_t e = launch_on(THREE);
    assert_true(is_before(b, e));
    assert_int_equal(known_of(a, e).copies, 3);
    assert_int_equal(known_of(c, e).copies, 0);
}

/* ---- Operations that are named ---- */

/* The lines since this was called last. */
static void expect(const char *text) {
    text_char(&log.text, 0);
    assert_string_equal(log.text.data, text);
    log.text.size = 0;
}

static int begin_named(void **state) {
    begin(state);
    while (graphs)
        unlist(graphs);
    capturing = said = several = false;
    depth = 0;
    assert_true(weir_order_begin());
    order_work(named(ONE), false); /* streams 1 and 2 */
    order_work(named(TWO), false);
    log.text.size = 0;
    return 0;
}

static int end_named(void **state) {
    on = false;
    return begin(state);
}

static void test_named(void **state) {
    (void)state;
    assert_false(named_said());
    weir_order_operation((Handle)ONE, "launch", "\"add\" \"a.py:1\"\nr 4096 64");
    weir_order_allocated((Handle)ONE, 4096, 64, "\"a.py:2\"");
    weir_order_used((Handle)TWO, 4096);
    weir_order_lines("free 4096 \"\"");
    expect("launch 1 \"add\" \"a.py:1\"\nr 4096 64\nalloc 4096 64 1 \"a.py:2\"\nuse 4096 2\nfree 4096 \"\"\n");
    assert_true(named_said() && !named_keeps());
    weir_order_operation((Handle)TWO, "launch", "\"add\" \"\"");
    assert_true(named_keeps());
    assert_int_equal(weir_order_thread(), self_id());
}

/* Launches and copies outside of operations are not known, but for what copies access; what the host asks within them
 * is an allocator's. */
static void test_within_operations(void **state) {
    (void)state;
    OrderStream stream = named(ONE);
    order_launch(&(OrderLaunch){.stream = stream, .number = next_number++, .name = "first"}, &made[0]);
    order_copy(
        &(OrderCopy){.stream = stream, .reads = recording_area(4096, 64), .read = {4096, 128}, .name = "second"});
    expect("unknown 1 0 \"first\" \"\"\ncopy 1 \"second\" \"\"\nr 4096 64 64 1\n");
    weir_order_enter();
    order_launch(&(OrderLaunch){.stream = stream, .number = next_number++, .name = "third"}, &made[1]);
    order_copy(&(OrderCopy){.stream = stream, .host = HOST_WAITS, .name = "fourth"});
    order_event_recorded(event_named(1), stream);
    order_host_event(event_named(1), true);
    expect("await-stream 1\nrecord 4112 1\n");
    order_host_event(event_named(1), false);
    weir_order_leave();
    expect("await-event 4112\n");
}

/* A kernel that was recorded says so, if it is the only one of the operation. */
static void test_kernels(void **state) {
    (void)state;
    GpuOrder order = {.order.process = 5};
    for (int count = 0; count < 3; count++) {
        weir_order_enter();
        for (int i = 0; i < count; i++) {
            named_launch();
            named_recorded(&order, 9);
        }
        weir_order_launch((Handle)ONE, "launch", "\"k\" \"\"");
        weir_order_leave();
        expect(count == 1 ? "launch 1 \"k\" \"\"\nrecorded 5 9\n" : "launch 1 \"k\" \"\"\n");
    }
    assert_false(named_here());
}

/* The default stream is the same one in a thread that has no context yet. */
static void test_no_context(void **state) {
    (void)state;
    weir_order_operation(NULL, "launch", "\"a\" \"\"");
    log.text.size = 0;
    current = NULL;
    weir_order_operation(NULL, "launch", "\"b\" \"\"");
    expect("launch 0 \"b\" \"\"\n");
}

/* One that fails may have launched something before. */
static void test_failed(void **state) {
    (void)state;
    for (int count = 0; count < 2; count++) {
        weir_order_enter();
        if (count)
            named_launch();
        weir_order_failed((Handle)ONE, "\"add\" \"a.py:1\"");
        weir_order_leave();
        expect(count ? "unknown 1 \"add\" \"a.py:1\"\n" : "");
    }
}

static void capture(bool second_is_named) {
    Handle one = (Handle)ONE, two = (Handle)TWO;
    capturing = true;
    named_capture_begins(one);
    weir_order_enter();
    named_node();
    weir_order_leave();
    weir_order_operation(one, "launch", "\"add\" \"a.py:1\"");
    named_event(event_named(1), one, false);
    named_event(event_named(1), two, true);
    if (second_is_named)
        weir_order_enter();
    named_node();
    if (second_is_named)
        weir_order_leave();
    weir_order_operation(two, "launch", "\"mul\" \"a.py:2\"");
    weir_order_allocated(two, 4096, 64, "\"a.py:3\"");
    weir_order_used(two, 4096);
    named_capture_ends(one, (Handle)1000);
    capturing = false;
    expect("host 4096 64 \"a.py:3\"\n");
}

/* What was captured is done at each launch: in the stream of that, and in one more for each other that was captured. */
static void test_graph(void **state) {
    (void)state;
    capture(true);
    NamedGraph *graph = named_graph((Handle)1000);
    assert_true(named_whole(graph, 2));
    assert_false(named_whole(graph, 3)); /* it has a node that was not captured */
    named_graph_gone((Handle)1000);
    assert_null(named_graph((Handle)1000));
    named_launched(graph, named(TWO), true);
    expect("launch 2 \"add\" \"a.py:1\"\nrecord 4114 2\nstream 3 0 1 \"captured in a graph\"\nwait 4114 3\n"
           "launch 3 \"mul\" \"a.py:2\"\n");
    named_launched(graph, named(ONE), true);
    expect("launch 1 \"add\" \"a.py:1\"\nrecord 4114 1\nwait 4114 3\nlaunch 3 \"mul\" \"a.py:2\"\n");
    named_drop(graph);
    assert_false(named_whole(NULL, 0));
    named_launched(NULL, named(ONE), false);
    expect("unknown 1 \"a graph\" \"\"\n");
}

/* A node that nothing names; two captures at a time, of which it is not known what is whose; one that fails. */
static void test_graph_that_is_not_known(void **state) {
    (void)state;
    capture(false);
    NamedGraph *graph = named_graph((Handle)1000);
    assert_false(named_whole(graph, 2));
    named_drop(graph);
    named_capture_begins((Handle)ONE);
    named_capture_begins((Handle)TWO);
    named_capture_ends((Handle)TWO, (Handle)2000);
    named_capture_ends((Handle)ONE, NULL);
    graph = named_graph((Handle)2000);
    assert_false(named_whole(graph, 0));
    named_drop(graph);
    named_capture_begins((Handle)ONE);
    named_outside();
    named_capture_ends((Handle)ONE, (Handle)3000);
    graph = named_graph((Handle)3000);
    assert_false(named_whole(graph, 0));
    named_drop(graph);
    named_node(); /* in none */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_streams, begin),
        cmocka_unit_test_setup(test_default_stream, begin),
        cmocka_unit_test_setup(test_per_thread_entry_points, begin),
        cmocka_unit_test_setup(test_events, begin),
        cmocka_unit_test_setup(test_host, begin),
        cmocka_unit_test_setup(test_contexts, begin),
        cmocka_unit_test_setup(test_dependent, begin),
        cmocka_unit_test_setup(test_what_nothing_sees, begin),
        cmocka_unit_test_setup(test_shared_event, begin),
        cmocka_unit_test_setup(test_memory, begin),
        cmocka_unit_test_setup(test_memory_of_threads, begin),
        cmocka_unit_test_setup(test_copies, begin),
        cmocka_unit_test_setup(test_threads, begin),
        cmocka_unit_test_setup(test_dropped, begin),
        cmocka_unit_test_setup(test_copies_that_may_be_waited_for, begin),
        cmocka_unit_test_setup(test_other_context, begin),
        cmocka_unit_test_setup(test_unknown, begin),
        cmocka_unit_test_setup(test_streams_come_and_go, begin),
        cmocka_unit_test_setup_teardown(test_not_recorded, begin, begin),
        cmocka_unit_test_setup_teardown(test_chosen, begin, begin),
        cmocka_unit_test_setup_teardown(test_libraries, begin, begin),
        cmocka_unit_test_setup_teardown(test_named, begin_named, end_named),
        cmocka_unit_test_setup_teardown(test_within_operations, begin_named, end_named),
        cmocka_unit_test_setup_teardown(test_kernels, begin_named, end_named),
        cmocka_unit_test_setup_teardown(test_no_context, begin_named, end_named),
        cmocka_unit_test_setup_teardown(test_failed, begin_named, end_named),
        cmocka_unit_test_setup_teardown(test_graph, begin_named, end_named),
        cmocka_unit_test_setup_teardown(test_graph_that_is_not_known, begin_named, end_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
