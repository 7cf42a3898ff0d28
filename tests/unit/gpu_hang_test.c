/* exec/gpu_hang: launches that do not end, seen by what they recorded, and how they are ended. The device is memory of
 * this process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/watchdog/gpu_hang.c" /* not of the library */

enum { CHUNK = 256, WARPS = 3, MORE = 8, TAG = 9, LIMIT = 80 * MILLISECOND };
/* A barrier for all 96 threads that three warps have, one without a number, one to which some only arrive; lanes that
 * meet, by a mask in their records, or in the instruction, and by what they hand on; the cluster's barrier. */
enum {
    SITE_BARRIER,
    SITE_WAIT,
    SITE_STORE,
    SITE_ALL,
    SITE_ARRIVE,
    SITE_LANES,
    SITE_SHUFFLE,
    SITE_SAME_SHUFFLE,
    SITE_VOTE,
    SITE_COMES,
    SITE_AWAITS,
    SITES
};
static const RecordShape shapes[SITES] = {
    [SITE_BARRIER] = {.meets = RECORD_SYNCS_NAMED, .meets_at = {.given = true}, .meets_count = {true, 0, false, 96}},
    [SITE_WAIT] = {.parts = 1},
    [SITE_STORE] = {.parts = 1, .wide = 1},
    [SITE_ALL] = {.meets = RECORD_SYNCS_NAMED, .meets_at = {true, 0, false, 3}},
    [SITE_ARRIVE] = {.meets = RECORD_SYNCS_NAMED_ARRIVE,
                     .meets_at = {.given = true},
                     .meets_count = {true, 0, false, 96}},
    [SITE_LANES] = {.parts = 1, .meets = RECORD_SYNCS_LANES, .meets_at = {true, 1, false, 0}},
    [SITE_SHUFFLE] = {.parts = 1, .meets = RECORD_SYNCS_LANES, .meets_at = {true, 1, false, 0}, .meets_by = 5},
    [SITE_SAME_SHUFFLE] = {.parts = 1, .meets = RECORD_SYNCS_LANES, .meets_at = {true, 1, false, 0}, .meets_by = 5},
    [SITE_VOTE] = {.meets = RECORD_SYNCS_LANES, .meets_at = {true, 0, false, UINT32_MAX}, .meets_by = 6},
    [SITE_COMES] = {.meets = RECORD_SYNCS_CLUSTER_ARRIVE},
    [SITE_AWAITS] = {.meets = RECORD_SYNCS_CLUSTER_WAIT}};

typedef struct Device {
    RecordLaunch block;
    uint8_t first[WARPS][CHUNK], more[MORE][CHUNK];
    unsigned places[WARPS]; /* units that are written */
    RecordHost host;
    int ended; /* what an event says */
    HangEnd reported;
    unsigned times;
    RecordThreadStatus thread_status;
    uint32_t flags;
    HangLaunch launch;
} Device;

static Result fake_context(Handle context) {
    (void)context;
    return 0;
}
static Result fake_create(Handle *stream, unsigned flags) {
    *stream = (Handle)(uintptr_t)flags;
    return flags == STREAM_NON_BLOCKING ? 0 : 1;
}
static Result fake_stream(Handle stream) {
    (void)stream;
    return 0;
}
static Result fake_copy(void *to, DevicePointer from, size_t bytes, Handle stream) {
    (void)stream;
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return 0;
}
static Result fake_query(Handle event) {
    return ((const Device *)event)->ended;
}
static const HangDriver driver = {fake_context, fake_create, fake_stream, fake_stream, fake_copy, fake_query, NULL};

static void found(HangLaunch *launch, const Recording *recording, HangEnd end) {
    Device *device = launch->user;
    device->reported = end;
    device->times++;
    device->flags = recording->launch.flags;
    record_thread_status(&device->thread_status, recording, shapes, SITES);
}

static void put(Device *device, unsigned warp, RecordKind kind, uint32_t site, uint32_t lanes, uint32_t value) {
    uint32_t unit[4] = {record_word(TAG, kind, site), lanes, value, 0};
    memcpy(device->first[warp] + device->places[warp]++ * RECORD_UNIT, unit, sizeof unit);
}

/* Warps 0 to 2, the last with 16 threads; each has stored something. */
static void start(Device *device) {
    *device = (Device){.ended = 600};
    device->block = (RecordLaunch){.first = (uintptr_t)device->first,
                                   .more = (uintptr_t)device->more,
                                   .more_count = MORE,
                                   .tag = TAG << 24,
                                   .spin_timeout = record_spin_timeout(LIMIT)};
    for (unsigned i = 0; i < WARPS; i++) {
        put(device, i, RECORD_CHUNK, 1, i, 0);
        put(device, i, RECORD_WARP, SITE_STORE, i == 2 ? 0xffff : UINT32_MAX, 64);
    }
    RecordingLaunch about = {
        .grid = {1, 1, 1}, .block = {80, 1, 1}, .cluster = {1, 1, 1}, .chunk = CHUNK, .tag = TAG, .hang_after = LIMIT};
    device->launch = (HangLaunch){.recording = {.launch = about},
                                  .shapes = shapes,
                                  .site_count = SITES,
                                  .host = &device->host,
                                  .block = (uintptr_t)&device->block,
                                  .given = device->block,
                                  .first_count = WARPS,
                                  .found = found,
                                  .user = device};
    hang_watch(&device->launch, &driver);
    hang_made(&device->launch, device);
}

static uint32_t lanes_of(unsigned warp) {
    return warp == 2 ? 0xffff : UINT32_MAX;
}

/* A chunk of its own for it, as instrumented code has it. */
static void give_up(Device *device, unsigned warp) {
    uint32_t units[8] = {record_word(TAG, RECORD_CHUNK, 1),
                         warp,
                         0,
                         0x7fffffff,
                         record_word(TAG, RECORD_GIVES_UP, SITE_WAIT),
                         lanes_of(warp),
                         16,
                         0};
    memcpy(device->more[device->block.next++], units, sizeof units);
    device->host.gave_up++;
    __atomic_store_n(&device->host.hang, 1, __ATOMIC_SEQ_CST);
}

static void wait_until_reported(const Device *device) {
    for (unsigned i = 0; i < 400 && !*(volatile const unsigned *)&device->times; i++)
        pause_for(10 * MILLISECOND);
}

static void all_who_wait_exit(void **state) {
    (void)state;
    Device device;
    start(&device);
    give_up(&device, 0);
    give_up(&device, 1);
    put(&device, 2, RECORD_EXIT, 0, 0xffff, 0);
    wait_until_reported(&device);
    assert_int_equal(hang_release(&device.launch), HANG_EXITS);
    assert_int_equal(device.host.drained, 1);
    assert_int_equal(device.times, 1);
    assert_int_equal(device.flags, RECORDING_HUNG | RECORDING_CUT);
    assert_int_equal(device.thread_status.gave_up, 64);
    assert_int_equal(device.thread_status.ended, 16);
}

/* As where other processes have the device. */
static void who_gives_up_late_is_waited_for(void **state) {
    (void)state;
    Device device;
    start(&device);
    give_up(&device, 0);
    put(&device, 2, RECORD_EXIT, 0, 0xffff, 0);
    pause_for(grace + LIMIT / 8 + grace / 2);
    give_up(&device, 1);
    wait_until_reported(&device);
    assert_int_equal(hang_release(&device.launch), HANG_EXITS);
    assert_int_equal(device.thread_status.gave_up, 64);
}

static void who_never_gives_up_is_stopped(void **state) {
    (void)state;
    Device device;
    start(&device);
    give_up(&device, 0);
    put(&device, 2, RECORD_EXIT, 0, 0xffff, 0);
    wait_until_reported(&device);
    assert_int_equal(hang_release(&device.launch), HANG_TRAPS);
    assert_int_equal(device.thread_status.elsewhere, 32);
}

static void others_at_a_barrier_need_a_trap(void **state) {
    (void)state;
    Device device;
    start(&device);
    give_up(&device, 1);
    put(&device, 0, RECORD_PLAIN, SITE_BARRIER, UINT32_MAX, 0);
    put(&device, 2, RECORD_EXIT, 0, 0xffff, 0);
    wait_until_reported(&device);
    assert_int_equal(hang_release(&device.launch), HANG_TRAPS);
    assert_int_equal(device.host.drained, 2);
    assert_int_equal(device.thread_status.held, 32);
}

static void what_found_no_place_needs_a_trap(void **state) {
    (void)state;
    Device device;
    start(&device);
    device.block.dropped = 1;
    for (unsigned i = 0; i < WARPS; i++)
        give_up(&device, i);
    wait_until_reported(&device);
    assert_int_equal(hang_release(&device.launch), HANG_TRAPS);
}

static void nothing_ends_who_is_held(void **state) {
    (void)state;
    Device device;
    start(&device);
    for (unsigned i = 0; i < WARPS; i++)
        put(&device, i, i == 1 ? RECORD_EXIT : RECORD_PLAIN, SITE_BARRIER, lanes_of(i), 0);
    wait_until_reported(&device);
    assert_int_equal(hang_release(&device.launch), HANG_STAYS);
    assert_int_equal(device.host.drained, 0);
    assert_int_equal(device.thread_status.held, 48);
    assert_true(thread_status_still(&device.thread_status));
}

static void who_computes_is_left_alone(void **state) {
    (void)state;
    Device device;
    start(&device);
    put(&device, 0, RECORD_PLAIN, SITE_BARRIER, UINT32_MAX, 0);
    put(&device, 2, RECORD_PLAIN, SITE_BARRIER, 0xffff, 0);
    pause_for(6 * LIMIT);
    assert_int_equal(hang_release(&device.launch), HANG_NOT);
    assert_int_equal(device.times, 0);
}

static void who_records_is_left_alone(void **state) {
    (void)state;
    Device device;
    start(&device);
    for (unsigned i = 0; i < WARPS; i++)
        put(&device, i, RECORD_PLAIN, SITE_BARRIER, lanes_of(i), 0);
    for (unsigned i = 0; i < 10; i++) {
        pause_for(LIMIT / 4);
        put(&device, 0, RECORD_PLAIN, SITE_BARRIER, UINT32_MAX, 0);
    }
    assert_int_equal(hang_release(&device.launch), HANG_NOT);
    assert_int_equal(device.times, 0);
}

static void what_has_ended_is_not_looked_at(void **state) {
    (void)state;
    Device device;
    start(&device);
    device.ended = 0;
    for (unsigned i = 0; i < WARPS; i++)
        put(&device, i, RECORD_PLAIN, SITE_BARRIER, lanes_of(i), 0);
    pause_for(6 * LIMIT);
    assert_int_equal(hang_release(&device.launch), HANG_NOT);
}

static void no_limit_no_watch(void **state) {
    (void)state;
    Device device = {.host = {.hang = 1}};
    device.launch = (HangLaunch){.host = &device.host, .found = found, .user = &device};
    hang_watch(&device.launch, &driver);
    pause_for(3 * tick);
    assert_int_equal(hang_release(&device.launch), HANG_NOT);
    assert_int_equal(device.times, 0);
}

/* A record stands before its barrier: who met all others there computes now. */
static void who_met_the_others_is_left_alone(void **state) {
    (void)state;
    Device device;
    start(&device);
    for (unsigned i = 0; i < WARPS; i++)
        put(&device, i, RECORD_PLAIN, SITE_BARRIER, lanes_of(i), 0);
    pause_for(6 * LIMIT);
    assert_int_equal(hang_release(&device.launch), HANG_NOT);
    assert_int_equal(device.times, 0);
}

typedef struct Step {
    unsigned warp;
    RecordKind kind;
    uint32_t site, lanes, value;
} Step;

/* How many threads are held, and how many may go on, after these records. */
static void assert_thread_status(const Step *steps, unsigned count, uint64_t held, uint64_t elsewhere) {
    Device device;
    RecordThreadStatus thread_status;
    start(&device);
    hang_release(&device.launch);
    for (unsigned i = 0; i < count; i++)
        put(&device, steps[i].warp, steps[i].kind, steps[i].site, steps[i].lanes & lanes_of(steps[i].warp),
            steps[i].value);
    Recording recording = device.launch.recording;
    recording.first = device.first[0];
    recording.first_count = WARPS;
    assert_true(record_thread_status(&thread_status, &recording, shapes, SITES));
    assert_int_equal(thread_status.held, held);
    assert_int_equal(thread_status.elsewhere, elsewhere);
}
#define ASSERT_THREAD_STATUS(held, elsewhere, ...) \
    assert_thread_status((const Step[]){__VA_ARGS__}, sizeof(const Step[]){__VA_ARGS__} / sizeof(Step), held, elsewhere)

static void thread_status_at_barriers(void **state) {
    (void)state;
    const uint32_t all = UINT32_MAX;
    /* The second round lacks one. */
    ASSERT_THREAD_STATUS(48, 32, {0, RECORD_PLAIN, SITE_BARRIER, all, 0}, {1, RECORD_PLAIN, SITE_BARRIER, all, 0},
                         {2, RECORD_PLAIN, SITE_BARRIER, all, 0}, {0, RECORD_PLAIN, SITE_BARRIER, all, 0},
                         {2, RECORD_PLAIN, SITE_BARRIER, all, 0});
    /* One without a number waits for no thread that has ended; one with a number does. */
    ASSERT_THREAD_STATUS(0, 48, {0, RECORD_PLAIN, SITE_ALL, all, 0}, {1, RECORD_EXIT, 0, all, 0},
                         {2, RECORD_PLAIN, SITE_ALL, all, 0});
    ASSERT_THREAD_STATUS(48, 0, {0, RECORD_PLAIN, SITE_BARRIER, all, 0}, {1, RECORD_EXIT, 0, all, 0},
                         {2, RECORD_PLAIN, SITE_BARRIER, all, 0});
    /* Who only arrives is held nowhere, and lets the others go. */
    ASSERT_THREAD_STATUS(0, 80, {0, RECORD_PLAIN, SITE_BARRIER, all, 0}, {1, RECORD_PLAIN, SITE_ARRIVE, all, 0},
                         {2, RECORD_PLAIN, SITE_BARRIER, all, 0}, {1, RECORD_PLAIN, SITE_ARRIVE, all, 0});
    /* Two barriers, crosswise. */
    ASSERT_THREAD_STATUS(80, 0, {0, RECORD_PLAIN, SITE_ALL, all, 0}, {1, RECORD_PLAIN, SITE_BARRIER, all, 0},
                         {2, RECORD_PLAIN, SITE_ALL, all, 0});
    /* A part of a warp has come, the rest has not. */
    ASSERT_THREAD_STATUS(64, 16, {0, RECORD_PLAIN, SITE_ALL, 0xffff, 0}, {1, RECORD_PLAIN, SITE_ALL, all, 0},
                         {2, RECORD_PLAIN, SITE_ALL, all, 0});
}

static void thread_status_at_other_lanes(void **state) {
    (void)state;
    ASSERT_THREAD_STATUS(8, 72, {0, RECORD_UNIFORM, SITE_LANES, 0xff, 0xffff});
    ASSERT_THREAD_STATUS(0, 80, {0, RECORD_UNIFORM, SITE_LANES, 0xff, 0xffff},
                         {0, RECORD_UNIFORM, SITE_LANES, 0xff00, 0xffff});
    ASSERT_THREAD_STATUS(16, 64, {0, RECORD_UNIFORM, SITE_LANES, 0xff, 0xffff},
                         {0, RECORD_UNIFORM, SITE_LANES, 0xff00, 0x1ff00});
    ASSERT_THREAD_STATUS(0, 72, {0, RECORD_UNIFORM, SITE_LANES, 0xff, 0xffff}, {0, RECORD_EXIT, 0, 0xff00, 0});
}

/* Who waits for others at a shuffle does so while they are elsewhere: computing, at another barrier, or at a vote. */
static void thread_status_at_a_shuffle(void **state) {
    (void)state;
    const uint32_t all = UINT32_MAX, low = 0xffff, high = 0xffff0000;
    ASSERT_THREAD_STATUS(16, 64, {0, RECORD_UNIFORM, SITE_SHUFFLE, low, all});
    ASSERT_THREAD_STATUS(32, 48, {0, RECORD_UNIFORM, SITE_SHUFFLE, low, all},
                         {0, RECORD_UNIFORM, SITE_LANES, high, all});
    ASSERT_THREAD_STATUS(32, 48, {0, RECORD_UNIFORM, SITE_SHUFFLE, low, all}, {0, RECORD_PLAIN, SITE_VOTE, high, 0});
    ASSERT_THREAD_STATUS(32, 48, {0, RECORD_UNIFORM, SITE_SHUFFLE, low, all}, {0, RECORD_PLAIN, SITE_BARRIER, high, 0});
    /* They come, to that place or to another one of the same words; then all may be anywhere. */
    ASSERT_THREAD_STATUS(0, 80, {0, RECORD_UNIFORM, SITE_SHUFFLE, low, all},
                         {0, RECORD_UNIFORM, SITE_SHUFFLE, high, all});
    ASSERT_THREAD_STATUS(0, 80, {0, RECORD_UNIFORM, SITE_SHUFFLE, low, all},
                         {0, RECORD_UNIFORM, SITE_SAME_SHUFFLE, high, all});
    /* They end, or are not asked for. */
    ASSERT_THREAD_STATUS(0, 64, {0, RECORD_UNIFORM, SITE_SHUFFLE, low, all}, {0, RECORD_EXIT, 0, high, 0});
    ASSERT_THREAD_STATUS(0, 80, {0, RECORD_UNIFORM, SITE_SHUFFLE, low, low});
    /* What comes behind says that they got on, though it is not known how. */
    ASSERT_THREAD_STATUS(0, 80, {0, RECORD_UNIFORM, SITE_SHUFFLE, low, all}, {0, RECORD_WARP, SITE_STORE, low, 64});
}

static void thread_status_at_the_cluster(void **state) {
    (void)state;
    const uint32_t all = UINT32_MAX;
    ASSERT_THREAD_STATUS(32, 48, {0, RECORD_PLAIN, SITE_COMES, all, 0}, {1, RECORD_PLAIN, SITE_COMES, all, 0},
                         {0, RECORD_PLAIN, SITE_AWAITS, all, 0});
    ASSERT_THREAD_STATUS(0, 80, {0, RECORD_PLAIN, SITE_COMES, all, 0}, {1, RECORD_PLAIN, SITE_COMES, all, 0},
                         {0, RECORD_PLAIN, SITE_AWAITS, all, 0}, {2, RECORD_PLAIN, SITE_COMES, all, 0});
    ASSERT_THREAD_STATUS(0, 64, {0, RECORD_PLAIN, SITE_COMES, all, 0}, {1, RECORD_PLAIN, SITE_COMES, all, 0},
                         {0, RECORD_PLAIN, SITE_AWAITS, all, 0}, {2, RECORD_EXIT, 0, all, 0});
}

/* Of each lane the last counts; CTAs that have not begun count nowhere; a damaged recording tells nothing. */
static void thread_status_by_lanes(void **state) {
    (void)state;
    Device device;
    RecordThreadStatus thread_status;
    start(&device);
    hang_release(&device.launch);
    put(&device, 0, RECORD_EXIT, 0, 0xff, 0);
    put(&device, 0, RECORD_PLAIN, SITE_BARRIER, 0xff00, 0);
    memset(device.first[1], 0, CHUNK);
    Recording recording = device.launch.recording;
    recording.first = device.first[0];
    recording.first_count = WARPS;
    assert_true(record_thread_status(&thread_status, &recording, shapes, SITES));
    assert_int_equal(thread_status.ended, 8);
    assert_int_equal(thread_status.held, 8);
    assert_int_equal(thread_status.elsewhere, 64); /* a warp that has not begun may yet */
    assert_int_equal(thread_status.gave_up, 0);
    assert_false(thread_status_still(&thread_status));
    put(&device, 0, RECORD_PLAIN, SITES + 1, 1, 0);
    assert_false(record_thread_status(&thread_status, &recording, shapes, SITES));
    recording.launch.sample_stride = 2;
    recording.launch.sample_run = 1;
    assert_false(record_thread_status(&thread_status, &recording, shapes, SITES));
}

static void every_end_has_its_words(void **state) {
    (void)state;
    for (HangEnd end = HANG_EXITS; end <= HANG_STAYS; end++)
        assert_true(strlen(hang_means(end)) > 20);
    assert_string_equal(hang_means(HANG_NOT), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_who_wait_exit),
        cmocka_unit_test(who_gives_up_late_is_waited_for),
        cmocka_unit_test(who_never_gives_up_is_stopped),
        cmocka_unit_test(others_at_a_barrier_need_a_trap),
        cmocka_unit_test(what_found_no_place_needs_a_trap),
        cmocka_unit_test(nothing_ends_who_is_held),
        cmocka_unit_test(who_computes_is_left_alone),
        cmocka_unit_test(who_records_is_left_alone),
        cmocka_unit_test(what_has_ended_is_not_looked_at),
        cmocka_unit_test(no_limit_no_watch),
        cmocka_unit_test(who_met_the_others_is_left_alone),
        cmocka_unit_test(thread_status_at_barriers),
        cmocka_unit_test(thread_status_at_other_lanes),
        cmocka_unit_test(thread_status_at_a_shuffle),
        cmocka_unit_test(thread_status_at_the_cluster),
        cmocka_unit_test(thread_status_by_lanes),
        cmocka_unit_test(every_end_has_its_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
