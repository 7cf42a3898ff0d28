/* Races between operations of a program, beside a slow reference: every operation, event and wait is a node of a graph,
 * what orders them an edge, and two operations race if neither is reached from the other. Then cases by hand: dependent
 * launches, memory that is given out again, logs that cannot be read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "check/program/check.h"
#include "engine/order/races.h"
#include "trace/order_merge.h"

enum { PROGRAMS = 3000, STEPS = 48, STREAMS = 4, HOST_THREADS = 2, EVENTS = 3, BYTES = 24, MOST_NODES = 64 };
static const uint64_t base = 4096;

/* ---- The reference ---- */

typedef struct Node {
    uint64_t before; /* nodes that are over when it begins */
    bool operation;
    uint32_t stream;
    uint32_t begin, end;
    uint8_t how;
} Node;

typedef struct Random {
    ProgramOrder order;
    Races races;
    OrderLane *lanes[STREAMS];
    OrderThread *threads[HOST_THREADS];
    OrderClock events[EVENTS];
    Node nodes[MOST_NODES];
    uint32_t count;
    uint64_t of_stream[STREAMS];      /* nodes that are over for what comes next in the stream */
    uint64_t of_thread[HOST_THREADS]; /* ... for what the thread puts into any stream */
    uint64_t of_event[EVENTS];
    uint64_t state;
    uint32_t expected, found; /* lanes that the operation races with */
} Random;

static uint32_t choose(Random *random, uint32_t count) {
    random->state = random->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random->state >> 33) % count;
}

/* Stream 0 is the legacy one, 1 is blocking, the others are not. */
static bool waits_for(uint32_t stream, uint32_t other) {
    return (stream == 0 && other == 1) || (stream == 1 && other == 0);
}

static uint64_t issued(Random *random, uint32_t stream, uint32_t thread) {
    for (uint32_t i = 0; i < STREAMS; i++)
        if (waits_for(stream, i))
            random->of_stream[stream] |= random->of_stream[i];
    return random->of_stream[stream] |= random->of_thread[thread];
}

static bool conflict(uint8_t one, uint8_t other) {
    bool strong = (one | other) <= TOUCH_WRITE ? false : one >= TOUCH_STRONG_READ && other >= TOUCH_STRONG_READ;
    return !strong && ((one | other) & (TOUCH_WRITE | TOUCH_STRONG_WRITE));
}

static void expect(Random *random, const Node *node) {
    random->expected = 0;
    for (uint32_t i = 0; i < random->count; i++) {
        const Node *other = &random->nodes[i];
        bool meets = other->operation && other->begin < node->end && node->begin < other->end;
        if (meets && conflict(other->how, node->how) && !(node->before >> i & 1))
            random->expected |= 1u << other->stream;
    }
}

static void note(void *context, const OrderRace *race) {
    Random *random = context;
    random->found |= 1u << race->earlier.lane;
}

static void operate(Random *random, uint32_t stream, uint32_t thread) {
    static const uint8_t ways[] = {TOUCH_READ, TOUCH_WRITE, TOUCH_STRONG_READ, TOUCH_STRONG_WRITE};
    uint32_t begin = choose(random, BYTES), number = random->count;
    Node node = {.before = issued(random, stream, thread),
                 .operation = true,
                 .stream = stream,
                 .begin = begin,
                 .end = begin + 1 + choose(random, BYTES - begin),
                 .how = ways[choose(random, 4)]};
    Touch touch = {.begin = base + begin, .bytes = node.end - begin, .count = 1, .how = node.how};
    OrderLane *lane = random->lanes[stream];
    expect(random, &node);
    random->found = 0;
    lane_issue(&random->order, lane, random->threads[thread]);
    OrderedOperation made = {
        .lane = lane, .number = number, .begun = &lane->now, .waited = &lane->now, .touches = &touch, .touch_count = 1};
    assert_int_equal(races_operation(&random->races, &made), 0);
    lane_operation(lane, number);
    /* A write that comes after what touched the bytes before stands for that. */
    assert_int_equal(random->found != 0, random->expected != 0);
    assert_int_equal(random->found & ~random->expected, 0);
    random->nodes[random->count++] = node;
    random->of_stream[stream] |= UINT64_C(1) << number;
}

static void step(Random *random) {
    uint32_t stream = choose(random, STREAMS), thread = choose(random, HOST_THREADS), event = choose(random, EVENTS);
    OrderLane *lane = random->lanes[stream];
    OrderThread *of = random->threads[thread];
    switch (choose(random, 8)) {
    case 0:
        random->of_event[event] = issued(random, stream, thread);
        lane_issue(&random->order, lane, of);
        random->events[event] = lane->now;
        break;
    case 1:
        issued(random, stream, thread);
        random->of_stream[stream] |= random->of_event[event];
        lane_waits(&random->order, lane, of, &random->events[event]);
        break;
    case 2:
        random->of_thread[thread] |= random->of_event[event];
        thread_waits(&random->order, of, &random->events[event]);
        break;
    case 3:
        if (choose(random, 4))
            break;
        for (uint32_t i = 0; i < STREAMS; i++)
            random->of_thread[thread] |= random->of_stream[i];
        thread_waits_for_all(&random->order, of, true, 0);
        break;
    default:
        operate(random, stream, thread);
        break;
    }
}

static void no_reuse(void *context, const RaceMemory *memory, uint32_t at, const TouchMark *user, bool open) {
    (void)context, (void)memory, (void)at, (void)user, (void)open;
    fail();
}

static void operations_race_if_no_path_orders_them(void **state) {
    (void)state;
    uint32_t racing = 0;
    for (uint32_t i = 0; i < PROGRAMS; i++) {
        Random random = {.state = i + 1};
        random.races = (Races){.order = &random.order, .report = note, .reused = no_reuse, .context = &random};
        for (uint32_t k = 0; k < STREAMS; k++)
            random.lanes[k] = order_lane(&random.order, 0, k == 0, k <= 1);
        for (uint32_t k = 0; k < HOST_THREADS; k++)
            random.threads[k] = order_thread(&random.order, k);
        races_allocate(&random.races, base, BYTES, random.lanes[0], random.threads[0], 0);
        for (uint32_t k = 0; k < STEPS; k++) {
            step(&random);
            racing += random.found != 0;
        }
        assert_false(random.races.failed);
        races_release(&random.races);
        order_free_all(&random.order);
    }
    assert_in_range(racing, PROGRAMS, PROGRAMS * STEPS);
}

/* ---- Logs ---- */

static ProgramRecordings recordings; /* that the next check gets */

static Verdict *check(const char *text, Arena *arena, Trace *trace) {
    static jmp_buf here;
    Source *source = source_copy("p.weirlog", text, strlen(text));
    Diagnostics diagnostics = {0};
    arena_init(arena, (size_t)64 << 20);
    arena->exhausted = &here;
    assert_false(setjmp(here));
    Verdict *verdict = ARENA_NEW(arena, Verdict);
    *verdict = (Verdict){.arena = arena, .kernel = "program"};
    assert_true(program_log_read(source, &diagnostics));
    program_check(source, &recordings, verdict, trace, &diagnostics);
    assert_int_equal(diagnostics.errors, 0);
    verdict_close(verdict);
    diagnostics_free(&diagnostics);
    source_free(source);
    return verdict;
}

#define TWO_STREAMS                      \
    "weirlog 1\nstream 1 0 \"a.py:1\"\n" \
    "stream 2 0 \"a.py:2\"\nalloc 4096 64 1 \"a.py:3\"\n"

/* Both have memory "k"; the first one writes half of it. */
#define TWO_PROCESSES                                                                             \
    "weirlog 1\nprocess 7\nalloc 4096 128 0 \"a.py:3\"\nshared 4096 128 0 128 \"k\"\nprocess 8\n" \
    "shared 9000 128 0 128 \"k\"\nprocess 7\nlaunch 0 \"p\" \"a.py:4\"\nw 4096 64\n"

#define SHARED_LATE                                                                                           \
    "shared 4096 128 0 128 \"k\"\nprocess 8\nshared 9000 128 0 128 \"k\"\nlaunch 0 \"c\" \"b.py:5\"\nr 9000 " \
    "128\nend\n"

/* Kernels of both processes: the first one writes, by its first warp, and then signals; the second one reads that. */
#define SHARED_ALONE                                                                              \
    "weirlog 1\nprocess 7\nalloc 4096 128 0 \"a.py:3\"\nshared 4096 128 0 128 \"k\"\nprocess 8\n" \
    "shared 9000 128 0 128 \"k\"\nprocess 7\n"
#define PRODUCER(device) \
    SHARED_ALONE "at 5\nlaunch 0 \"p\" \"a.py:4\"\ngrid 1 2 1 " device "\nstep 6 0 1 4096 64 \"k.py:2\"\n"
#define WRITES(signal, device) PRODUCER(device) "step " signal " \"k.py:3\"\nw 4096 64\nW 4160 4\nprocess 8\n"
#define READER(how, device)                                                                                          \
    "at 4\nlaunch 0 \"c\" \"b.py:5\"\ngrid 1 1 1 " device "\nstep 20 0 " how " 9064 4 \"k.py:6\"\nstep 21 0 0 9000 " \
    "64 \"k.py:7\"\nr 9000 64\nR 9064 4\n"
#define READS(how, device) "process 8\n" READER(how, device) "end\n"
#define DEVICES(how, device, other_how, other_device)                                                           \
    "weirlog 1\ndevices 2\nstream 5 2 1 \"\"\nalloc 4096 64 0 \"a.py:1\"\nlaunch 0 \"p\" \"a.py:4\"\ngrid 1 1 " \
    "1 " device "\nstep 5 0 " how                                                                               \
    " 4096 4 \"k.py:2\"\nR 4096 4\nW 4096 4\nlaunch 5 \"q\" \"a.py:5\"\ngrid 1 1 1 " other_device               \
    "\nstep 6 0 " other_how " 4096 4 \"k.py:2\"\nR 4096 4\nW 4096 4\nend\n"
#define FREED(before)                                                                                                \
    "weirlog 1\ndevices 2\nstream 5 0 1 \"\"\nalloc 4096 64 0 \"a.py:1\"\nlaunch 5 \"p\" \"a.py:4\"\ngrid 1 1 1 0\n" \
    "step 5 0 0 4096 64 \"k.py:2\"\nr 4096 64\n" before                                                              \
    "free 4096 \"\"\nalloc 4096 64 0 \"a.py:6\"\nlaunch 0 \"q\" \"a.py:7\"\nw 4096 64\nend\n"
/* By signals whose address and time alone are known. */
#define RELEASES(time, warp, address) PRODUCER("0") "release " time " " warp " " address "\nw 4096 64\nprocess 8\n"
#define PRODUCED "at 5\nlaunch 0 \"p\" \"a.py:4\"\ngrid 1 2 1 0\nstep 6 0 1 4096 64 \"k.py:2\"\n"
#define RELEASED "process 7\n" PRODUCED "release 10 0 4160\nw 4096 64\n"
#define CALLED   SHARED_ALONE "process 8\ncalls\n"
#define ACQUIRES(time, address, read)                                                                               \
    "process 8\nat 4\nlaunch 0 \"c\" \"b.py:5\"\ngrid 1 1 1 0\nacquire " time " 0 " address "\nstep " read " 0 0 9000 64 \"k.py:7\"\n" \
    "r 9000 64\nend\n"
#define WRITES_THEN "at 5\nlaunch 0 \"q\" \"a.py:6\"\ngrid 1 1 1 0\nstep 10 0 431 4160 4 \"k.py:3\"\nW 4160 4\n"

/* What a log shows: its verdict, how many findings, and the rule of the first. */
typedef struct Case {
    const char *text;
    VerdictKind kind;
    size_t findings;
    RuleId rule;
} Case;

static void logs_have_verdicts(void **state) {
    (void)state;
    static const Case cases[] = {
        {TWO_STREAMS "launch 1 \"p\" \"a.py:4\"\nw 4096 64\nlaunch 2 \"c\" \"a.py:5\"\nr 4096 64\nend\n",
         VERDICT_FINDINGS, 1, RULE_PROGRAM_RACE},
        {TWO_STREAMS
         "launch 1 \"p\" \"a.py:4\"\nw 4096 64\nrecord 7 1\nwait 7 2\nlaunch 2 \"c\" \"a.py:5\"\nr 4096 64\nend\n",
         VERDICT_CLEAN, 0, 0},
        /* recorded before what it is to cover */
        {TWO_STREAMS
         "record 7 1\nlaunch 1 \"p\" \"a.py:4\"\nw 4096 64\nwait 7 2\nlaunch 2 \"c\" \"a.py:5\"\nr 4096 64\nend\n",
         VERDICT_FINDINGS, 1, RULE_PROGRAM_RACE},
        /* other bytes; pieces that lie between each other */
        {TWO_STREAMS "launch 1 \"p\" \"a.py:4\"\nw 4096 4 8 8\nlaunch 2 \"c\" \"a.py:5\"\nw 4100 4 8 7\nend\n",
         VERDICT_CLEAN, 0, 0},
        {TWO_STREAMS "launch 1 \"p\" \"a.py:4\"\nw 4096 4 8 8\nlaunch 2 \"c\" \"a.py:5\"\nw 4099 4 8 7\nend\n",
         VERDICT_FINDINGS, 1, RULE_PROGRAM_RACE},
        /* memory that a launch may access: ordered; beside what reads, and what writes; freed */
        {TWO_STREAMS "launch 1 \"p\" \"a.py:4\"\nmw 4096 64\nrecord 7 1\nwait 7 2\nlaunch 2 \"c\" \"a.py:5\"\nmr "
                     "4096 64\nend\n",
         VERDICT_CLEAN, 0, 0},
        {TWO_STREAMS "launch 1 \"p\" \"a.py:4\"\nmr 4096 64\nlaunch 2 \"c\" \"a.py:5\"\nmr 4096 64\nr 4096 "
                     "64\nR 4096 4\nend\n",
         VERDICT_CLEAN, 0, 0},
        {TWO_STREAMS "launch 1 \"p\" \"a.py:4\"\nmr 4096 64\nlaunch 2 \"c\" \"a.py:5\"\nw 4096 4\nend\n",
         VERDICT_INCOMPLETE, 0, 0},
        {TWO_STREAMS "launch 1 \"p\" \"a.py:4\"\nr 4096 64\nlaunch 2 \"c\" \"a.py:5\"\nmw 4096 64\nend\n",
         VERDICT_INCOMPLETE, 0, 0},
        {TWO_STREAMS "launch 1 \"p\" \"a.py:4\"\nmw 4096 64\nlaunch 2 \"c\" \"a.py:5\"\nmw 4096 64\nend\n",
         VERDICT_INCOMPLETE, 0, 0},
        {TWO_STREAMS "launch 1 \"p\" \"a.py:4\"\nW 4096 4\nlaunch 2 \"c\" \"a.py:5\"\nmr 4096 64\nend\n",
         VERDICT_INCOMPLETE, 0, 0},
        {TWO_STREAMS "launch 2 \"c\" \"a.py:5\"\nmr 4096 64\nfree 4096 \"\"\nalloc 4096 64 1 \"a.py:7\"\nend\n",
         VERDICT_INCOMPLETE, 0, 0},
        /* atomics; and a plain access beside them */
        {TWO_STREAMS "launch 1 \"p\" \"a.py:4\"\nW 4096 4\nlaunch 2 \"c\" \"a.py:5\"\nW 4096 4\nend\n", VERDICT_CLEAN,
         0, 0},
        {TWO_STREAMS "launch 1 \"p\" \"a.py:4\"\nW 4096 4\nlaunch 2 \"c\" \"a.py:5\"\nr 4096 4\nend\n",
         VERDICT_FINDINGS, 1, RULE_PROGRAM_RACE},
        /* a flag may order them */
        {TWO_STREAMS
         "launch 1 \"p\" \"a.py:4\"\nW 4096 4\nw 4100 4\nlaunch 2 \"c\" \"a.py:5\"\nR 4096 4\nr 4100 4\nend\n",
         VERDICT_INCOMPLETE, 0, 0},
        /* what another thread has waited for may; a thread that was started by it knows; one that was joined, too */
        {TWO_STREAMS
         "launch 1 \"p\" \"a.py:4\"\nw 4096 64\nawait-stream 1\nthread 1\nlaunch 2 \"c\" \"a.py:5\"\nr 4096 64\nend\n",
         VERDICT_INCOMPLETE, 0, 0},
        {TWO_STREAMS "launch 1 \"p\" \"a.py:4\"\nw 4096 64\nawait-stream 1\nthread 1 0\nlaunch 2 \"c\" \"a.py:5\"\nr "
                     "4096 64\nend\n",
         VERDICT_CLEAN, 0, 0},
        {TWO_STREAMS "thread 1\nlaunch 1 \"p\" \"a.py:4\"\nw 4096 64\nawait-stream 1\nthread 0\nlearn 1\nlaunch 2 "
                     "\"c\" \"a.py:5\"\n"
                     "r 4096 64\nend\n",
         VERDICT_CLEAN, 0, 0},
        /* dependent launches: before the wait, after it, never; behind one that waits before it triggers */
        {TWO_STREAMS "launch 1 \"p\" \"a.py:4\"\nw 4096 64\ndependent 1 1 \"c\" \"a.py:5\"\ner 4096 64\nend\n",
         VERDICT_FINDINGS, 1, RULE_PROGRAM_EARLY},
        {TWO_STREAMS "launch 1 \"p\" \"a.py:4\"\nw 4096 64\ndependent 1 1 \"c\" \"a.py:5\"\nr 4096 64\nend\n",
         VERDICT_CLEAN, 0, 0},
        {TWO_STREAMS "launch 1 \"p\" \"a.py:4\"\nw 4096 64\ndependent 1 0 \"c\" \"a.py:5\"\nend\n", VERDICT_FINDINGS, 1,
         RULE_GLOBAL_DEPENDENCY_WAIT},
        {TWO_STREAMS "launch 1 \"p\" \"a.py:4\"\nw 4096 64\ndependent 1 1 \"b\" \"a.py:5\"\ndependent 1 1 \"c\" "
                     "\"a.py:6\"\ner 4096 64\nend\n",
         VERDICT_FINDINGS, 1, RULE_PROGRAM_EARLY},
        {TWO_STREAMS "launch 1 \"p\" \"a.py:4\"\nw 4096 64\ndependent 1 2 \"b\" \"a.py:5\"\ndependent 1 1 \"c\" "
                     "\"a.py:6\"\ner 4096 64\nend\n",
         VERDICT_CLEAN, 0, 0},
        /* memory that is given out again; with record_stream; after a wait; to an allocation that does not fit */
        {TWO_STREAMS "launch 2 \"c\" \"a.py:5\"\nr 4096 64\nfree 4096 \"\"\nalloc 4096 64 1 \"a.py:7\"\nend\n",
         VERDICT_FINDINGS, 1, RULE_PROGRAM_REUSE},
        {TWO_STREAMS
         "launch 2 \"c\" \"a.py:5\"\nr 4096 64\nuse 4096 2\nfree 4096 \"\"\nalloc 4096 64 1 \"a.py:7\"\nend\n",
         VERDICT_CLEAN, 0, 0},
        {TWO_STREAMS "launch 2 \"c\" \"a.py:5\"\nr 4096 64\nrecord 1 2\nwait 1 1\nfree 4096 \"\"\nalloc 4096 64 1 "
                     "\"a.py:7\"\nend\n",
         VERDICT_CLEAN, 0, 0},
        {TWO_STREAMS "launch 2 \"c\" \"a.py:5\"\nr 4096 64\nfree 4096 \"\"\nalloc 8192 128 1 \"a.py:7\"\nend\n",
         VERDICT_CLEAN, 0, 0},
        /* the host: reads what a copy writes, waits first */
        {TWO_STREAMS "host 9000 64 \"a.py:4\"\ncopy 1 \"copy\" \"a.py:5\"\nr 4096 64\nw 9000 64\naccess \"item\" "
                     "\"a.py:6\"\nr 9000 4\nend\n",
         VERDICT_FINDINGS, 1, RULE_PROGRAM_RACE},
        {TWO_STREAMS "host 9000 64 \"a.py:4\"\ncopy 1 \"copy\" \"a.py:5\"\nr 4096 64\nw 9000 64\nawait-stream "
                     "1\naccess \"item\" \"a.py:6\"\n"
                     "r 9000 4\nend\n",
         VERDICT_CLEAN, 0, 0},
        {TWO_STREAMS "host 9000 64 \"a.py:4\"\ncopy 1 \"copy\" \"a.py:5\"\nr 9000 64\nw 4096 64\naccess \"fill_\" "
                     "\"a.py:6\"\nw 9000 4\nend\n",
         VERDICT_FINDINGS, 1, RULE_PROGRAM_RACE},
        /* the streams of a graph */
        {TWO_STREAMS "fork 1 0\nfork 2 0\nlaunch 1 \"p\" \"a.py:4\"\nw 4096 64\nlaunch 2 \"c\" \"a.py:5\"\nr 4096 "
                     "64\njoin 1 0\njoin 2 0\nend\n",
         VERDICT_FINDINGS, 1, RULE_PROGRAM_RACE},
        {TWO_STREAMS
         "fork 1 0\nlaunch 1 \"p\" \"a.py:4\"\nw 4096 64\njoin 1 0\nlaunch 0 \"c\" \"a.py:5\"\nr 4096 64\nend\n",
         VERDICT_CLEAN, 0, 0},
        /* a stream that is destroyed, and an operation in it all the same */
        {TWO_STREAMS
         "launch 1 \"p\" \"a.py:4\"\nw 4096 64\nawait-stream 1\nclosed 1\nlaunch 2 \"c\" \"a.py:5\"\nr 4096 64\nend\n",
         VERDICT_CLEAN, 0, 0},
        {TWO_STREAMS "await-stream 1\nclosed 1\nlaunch 1 \"p\" \"a.py:4\"\nw 4096 64\nend\n", VERDICT_INCOMPLETE, 0, 0},
        /* a launch of which it is not known what it touches: alone in its stream, beside another one, behind it */
        {TWO_STREAMS "launch 1 \"p\" \"a.py:4\"\nw 4096 64\nunknown 1 \"u\" \"a.py:5\"\nlaunch 1 \"c\" \"a.py:6\"\nr "
                     "4096 64\nend\n",
         VERDICT_CLEAN, 0, 0},
        {TWO_STREAMS "launch 1 \"p\" \"a.py:4\"\nw 4096 64\nunknown 2 \"u\" \"a.py:5\"\nend\n", VERDICT_INCOMPLETE, 0,
         0},
        {TWO_STREAMS "unknown 2 \"u\" \"a.py:5\"\nlaunch 1 \"p\" \"a.py:4\"\nw 4096 64\nend\n", VERDICT_INCOMPLETE, 0,
         0},
        {TWO_STREAMS "unknown 2 \"u\" \"a.py:5\"\nawait-stream 2\nlaunch 1 \"p\" \"a.py:4\"\nw 4096 64\nend\n",
         VERDICT_CLEAN, 0, 0},
        {TWO_STREAMS "launch 1 \"p\" \"a.py:4\"\nw 4096 64\nunknown 1 1 \"u\" \"a.py:5\"\nend\n", VERDICT_INCOMPLETE, 0,
         0},
        /* two processes and memory with a key: nothing orders them; a host that has waited could; a message does; an
           event that both know; other bytes, at another address; the same, mapped twice in one process */
        {TWO_PROCESSES "process 8\nlaunch 0 \"c\" \"b.py:5\"\nr 9000 64\nend\n", VERDICT_FINDINGS, 1,
         RULE_PROGRAM_RACE},
        {TWO_PROCESSES "await-all\nprocess 8\nlaunch 0 \"c\" \"b.py:5\"\nr 9000 64\nend\n", VERDICT_INCOMPLETE, 0, 0},
        {TWO_PROCESSES "await-all\nsend 1 \"m\"\nprocess 8\nreceive \"m\"\nlaunch 0 \"c\" \"b.py:5\"\nr 9000 "
                       "64\nend\n",
         VERDICT_CLEAN, 0, 0},
        {TWO_PROCESSES "record 3 0\nevent 3 \"e\"\ngone 3\nprocess 8\nevent 9 \"e\"\nwait 9 0\nlaunch 0 \"c\" "
                       "\"b.py:5\"\nr 9000 64\nend\n",
         VERDICT_CLEAN, 0, 0},
        {TWO_PROCESSES "record 3 0\nprocess 8\nwait 3 0\nlaunch 0 \"c\" \"b.py:5\"\nr 9000 64\nend\n", VERDICT_FINDINGS,
         1, RULE_PROGRAM_RACE},
        {TWO_PROCESSES "process 8\nlaunch 0 \"c\" \"b.py:5\"\nr 9064 64\nend\n", VERDICT_CLEAN, 0, 0},
        {TWO_PROCESSES "process 8\nhost 4096 64 \"b.py:3\"\nlaunch 0 \"c\" \"b.py:5\"\nr 4096 64\nend\n", VERDICT_CLEAN,
         0, 0},
        {TWO_PROCESSES "shared 5000 32 32 128 \"k\"\nstream 1 0 \"a.py:6\"\nlaunch 1 \"c\" \"a.py:7\"\nr 5000 "
                       "4\nend\n",
         VERDICT_FINDINGS, 1, RULE_PROGRAM_RACE},
        {TWO_PROCESSES "process 8\nfree 9000 \"\"\nlaunch 0 \"c\" \"b.py:5\"\nr 9000 64\nend\n", VERDICT_INCOMPLETE, 0,
         0},
        /* ... memory that no process has allocated, and all have mapped; of which they say different sizes */
        {"weirlog 1\nshared 100 8 8 64 \"v\"\nlaunch 0 \"p\" \"a.py:4\"\nw 104 4\nprocess 8\nprocess 9\nshared 100 "
         "16 0 64 \"v\"\nlaunch 0 \"c\" \"b.py:5\"\nr 112 4\nend\n",
         VERDICT_FINDINGS, 1, RULE_PROGRAM_RACE},
        {"weirlog 1\nshared 100 8 8 64 \"v\"\nprocess 8\nprocess 9\nshared 100 16 0 32 \"v\"\nlaunch 0 \"c\" "
         "\"b.py:5\"\nr 112 4\nend\n",
         VERDICT_INCOMPLETE, 0, 0},
        {TWO_PROCESSES "process 8\nlaunch 0 \"c\" \"b.py:5\"\nr 9100 64\nend\n", VERDICT_INCOMPLETE, 0, 0},
        /* what was written before it was shared: by its own memory, by memory that is a part of it, and behind what a
           host knows; memory that is there by its key is not allocated again; atomics of both, with no steps */
        {"weirlog 1\nprocess 7\nalloc 4096 128 0 \"a.py:3\"\nlaunch 0 \"p\" \"a.py:4\"\nw 4096 64\n" SHARED_LATE,
         VERDICT_FINDINGS, 1, RULE_PROGRAM_RACE},
        {"weirlog 1\nprocess 7\nalloc 4160 64 0 \"a.py:3\"\nlaunch 0 \"p\" \"a.py:4\"\nw 4160 64\n" SHARED_LATE,
         VERDICT_FINDINGS, 1, RULE_PROGRAM_RACE},
        {"weirlog 1\nprocess 7\nalloc 4160 64 0 \"a.py:3\"\nlaunch 0 \"p\" \"a.py:4\"\nw 4160 64\nawait-all\nsend 1 "
         "\"end-7\"\nprocess 8\nreceive \"end-7\"\nprocess 7\n" SHARED_LATE,
         VERDICT_CLEAN, 0, 0},
        {TWO_PROCESSES "process 8\nhost 9000 64 \"b.py:4\"\nlaunch 0 \"c\" \"b.py:5\"\nr 9000 64\nend\n",
         VERDICT_FINDINGS, 1, RULE_PROGRAM_RACE},
        {TWO_PROCESSES "process 8\nlaunch 0 \"c\" \"b.py:5\"\nmr 9000 64\nend\n", VERDICT_INCOMPLETE, 0, 0},
        {TWO_PROCESSES "process 8\nalloc 8000 64 0 \"b.py:4\"\nlaunch 0 \"c\" \"b.py:5\"\nr 8000 4 1000 2\nend\n",
         VERDICT_FINDINGS, 1, RULE_PROGRAM_RACE},
        {TWO_PROCESSES "W 4160 4\nprocess 8\nlaunch 0 \"c\" \"b.py:5\"\nR 9064 4\nr 9000 64\nend\n", VERDICT_INCOMPLETE,
         0, 0},
        /* kernels of both that signal each other, on two devices: of scope sys; of scope gpu, on two and on one; by a
           relaxed write; by fences */
        {WRITES("10 0 431 4160 4", "0") READS("420", "1"), VERDICT_CLEAN, 0, 0},
        {WRITES("10 0 331 4160 4", "0") READS("320", "1"), VERDICT_FINDINGS, 1, RULE_PROGRAM_RACE},
        {WRITES("10 0 331 4160 4", "1") READS("320", "1"), VERDICT_CLEAN, 0, 0},
        {WRITES("10 0 411 4160 4", "0") READS("420", "1"), VERDICT_FINDINGS, 1, RULE_PROGRAM_RACE},
        {WRITES("10 0 411 4160 4", "0") READS("410", "1"), VERDICT_FINDINGS, 1, RULE_PROGRAM_RACE},
        {PRODUCER("0") "fence 9 0 440 \"k.py:3\"\nstep 10 0 411 4160 4 \"k.py:3\"\nw 4096 64\nW 4160 4\n" READS("420",
                                                                                                                "1"),
         VERDICT_CLEAN, 0, 0},
        /* an acquire that comes behind the release; before it; at another address; by another warp */
        {RELEASES("10", "0", "4160") ACQUIRES("20", "9064", "21"), VERDICT_CLEAN, 0, 0},
        {RELEASES("10", "0", "4160") ACQUIRES("9", "9064", "21"), VERDICT_FINDINGS, 1, RULE_PROGRAM_RACE},
        {RELEASES("10", "0", "4160") ACQUIRES("20", "9060", "21"), VERDICT_FINDINGS, 1, RULE_PROGRAM_RACE},
        {RELEASES("10", "1", "4160") ACQUIRES("20", "9064", "21"), VERDICT_FINDINGS, 1, RULE_PROGRAM_RACE},
        /* the host of the first knows that it is over when the second is launched: when that call begins, or only then;
           or the caller has waited meanwhile */
        {SHARED_ALONE RELEASED "await-stream 0\nprocess 8\ncalls\n" ACQUIRES("9", "9064", "21"), VERDICT_INCOMPLETE, 0, 0},
        {CALLED RELEASED "await-stream 0\n" ACQUIRES("9", "9064", "21"), VERDICT_FINDINGS, 1, RULE_PROGRAM_RACE},
        {CALLED RELEASED "await-stream 0\nprocess 8\nawait-all\n" ACQUIRES("9", "9064", "21"), VERDICT_INCOMPLETE, 0, 0},
        /* by a warp that does not know that the other one has written; behind a barrier of the CTA */
        {WRITES("10 1 431 4160 4", "0") READS("420", "1"), VERDICT_FINDINGS, 1, RULE_PROGRAM_RACE},
        {PRODUCER("0") "arrive 7 0 1\narrive 7 1 1\npass 8 0 1\npass 8 1 1\nstep 10 1 431 4160 4 \"k.py:3\"\nw 4096 "
                       "64\nW 4160 4\n" READS("420", "1"),
         VERDICT_CLEAN, 0, 0},
        /* what comes before the one and after the other in their streams; and in another stream */
        {TWO_PROCESSES WRITES_THEN "process 8\n" READER("420", "1") "launch 0 \"y\" \"b.py:9\"\nr 9000 64\nend\n",
         VERDICT_CLEAN, 0, 0},
        {TWO_PROCESSES WRITES_THEN "process 8\n" READER("420", "1") "launch 3 \"y\" \"b.py:9\"\nr 9000 64\nend\n",
         VERDICT_FINDINGS, 1, RULE_PROGRAM_RACE},
        /* written again, while the other one may still read; after a message */
        {WRITES("10 0 431 4160 4", "0")
             READER("420", "1") "process 7\nat 30\nlaunch 0 \"z\" \"a.py:9\"\nw 4096 64\nend\n",
         VERDICT_FINDINGS, 1, RULE_PROGRAM_RACE},
        {WRITES("10 0 431 4160 4", "0")
             READER("420", "1") "await-all\nsend 1 \"m\"\nprocess 7\nat 30\nreceive \"m\"\nlaunch "
                                "0 \"z\" \"a.py:9\"\nw 4096 64\nend\n",
         VERDICT_CLEAN, 0, 0},
        /* atomics of two devices of one process: with scope gpu, with scope sys; on one device */
        {DEVICES("312", "0", "312", "1"), VERDICT_FINDINGS, 1, RULE_PROGRAM_RACE},
        {DEVICES("412", "0", "412", "1"), VERDICT_CLEAN, 0, 0},
        {DEVICES("312", "1", "312", "1"), VERDICT_CLEAN, 0, 0},
        /* given out again at the same address, once the other stream is done: memory of its own; and a race before that
         */
        {FREED("use 4096 5\n"), VERDICT_CLEAN, 0, 0},
        {FREED("launch 0 \"r\" \"a.py:5\"\ngrid 1 1 1 0\nstep 5 0 1 4096 4 \"k.py:4\"\nw 4096 4\nuse 4096 5\n"),
         VERDICT_FINDINGS, 1, RULE_PROGRAM_RACE},
        /* an access that reaches into the next allocation */
        {"weirlog 1\ndevices 2\nstream 5 0 1 \"\"\nalloc 4096 64 0 \"a.py:1\"\nalloc 4160 64 0 \"a.py:2\"\nlaunch 5 "
         "\"p\" \"a.py:4\"\ngrid 1 1 1 0\nstep 5 0 412 4156 8 \"k.py:2\"\nW 4156 8\nlaunch 0 \"q\" \"a.py:5\"\ngrid 1 "
         "1 "
         "1 1\nstep 6 0 312 4160 4 \"k.py:2\"\nW 4160 4\nend\n",
         VERDICT_FINDINGS, 1, RULE_PROGRAM_RACE},
        /* steps that do not fit */
        {PRODUCER("0") "step 9 2 1 4096 4 \"\"\nw 4096 64\nend\n", VERDICT_INCOMPLETE, 0, 0},
        {PRODUCER("0") "step 2 0 1 4096 4 \"\"\nw 4096 64\nend\n", VERDICT_INCOMPLETE, 0, 0},
        {PRODUCER("0") "step 9 0 999 4096 4 \"\"\nw 4096 64\nend\n", VERDICT_INCOMPLETE, 0, 0},
        /* what is not known */
        {TWO_STREAMS "launch 1 \"p\" \"a.py:4\"\nw 4096 64\n", VERDICT_INCOMPLETE, 0, 0},
        {TWO_STREAMS "end\n", VERDICT_INCOMPLETE, 0, 0},
        {TWO_STREAMS "launch 1 \"p\" \"a.py:4\"\nw 4096 64\nmissing \"something\"\nend\n", VERDICT_INCOMPLETE, 0, 0},
        {TWO_STREAMS "launch 1 \"p\" \"a.py:4\"\nw 100 64\nend\n", VERDICT_INCOMPLETE, 0, 0},
        {TWO_STREAMS "launch 1 \"p\" \"a.py:4\"\nw 4096 65\nend\n", VERDICT_INCOMPLETE, 0, 0},
        {TWO_STREAMS "unknown 1 \"u\" \"a.py:4\"\ndependent 1 1 \"c\" \"a.py:5\"\nr 4096 64\nend\n", VERDICT_INCOMPLETE,
         0, 0},
        {TWO_STREAMS "launch 1 \"p\" \"a.py:4\"\nw 4096 18446744073709551615\nend\n", VERDICT_INCOMPLETE, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena arena;
        Trace trace;
        const Verdict *verdict = check(cases[i].text, &arena, &trace);
        if (verdict->kind != cases[i].kind || verdict->finding_count != cases[i].findings)
            print_error("%s", cases[i].text);
        assert_int_equal(verdict->kind, cases[i].kind);
        assert_int_equal(verdict->finding_count, cases[i].findings);
        if (cases[i].findings)
            assert_int_equal(verdict->findings[0].rule, cases[i].rule);
        arena_free(&arena);
    }
}

static void what_is_no_log_is_an_error(void **state) {
    (void)state;
    static const char *const texts[] = {"",
                                        "weirlog 2\n",
                                        "weirlog\n",
                                        "stream 1 0 \"\"\n",
                                        "weirlog 1\nnonsense\n",
                                        "weirlog 1\nwait 1\n",
                                        "weirlog 1\nwait 1 x\n",
                                        "weirlog 1\nwait 1 2 3 4\n",
                                        "weirlog 1\nlaunch 1 \"p\n",
                                        "weirlog 1\nlaunch 1 p q\n",
                                        "weirlog 1\nrecord 18446744073709551616 1\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        Diagnostics diagnostics = {0};
        Source *source = source_copy("p.weirlog", texts[i], strlen(texts[i]));
        Arena arena;
        arena_init(&arena, (size_t)64 << 20);
        Verdict verdict = {.arena = &arena, .kernel = "program"};
        assert_false(program_log_read(source, &diagnostics));
        assert_int_equal(diagnostics.errors, 1);
        program_check(source, &recordings, &verdict, NULL, &diagnostics);
        assert_int_equal(diagnostics.errors, 2);
        assert_string_equal(diagnostics.items[1].message, diagnostics.items[0].message);
        assert_int_equal(diagnostics.items[1].place.line, diagnostics.items[0].place.line);
        arena_free(&arena);
        diagnostics_free(&diagnostics);
        source_free(source);
    }
}

/* Streams, events and allocations come and go; what is kept stays small. */
static void many_operations_need_no_more_memory(void **state) {
    (void)state;
    Text text = {0};
    text_addf(&text, "weirlog 1\nstream 1 0 \"a.py:1\"\n");
    for (unsigned i = 0; i < 20000; i++)
        text_addf(
            &text,
            "alloc %u 64 0 \"a.py:2\"\nlaunch 0 \"p\" \"a.py:3\"\nw %u 64\nrecord %u 0\nwait %u 1\nlaunch 1 \"c\" "
            "\"a.py:4\"\nr %u 64\nuse %u 1\nfree %u \"\"\ngone %u\n",
            4096 + i % 7 * 64, 4096 + i % 7 * 64, i % 5, i % 5, 4096 + i % 7 * 64, 4096 + i % 7 * 64, 4096 + i % 7 * 64,
            i % 5);
    text_addf(&text, "end\n");
    text_add(&text, "", 1);
    Arena arena;
    const Verdict *verdict = check(text.data, &arena, NULL);
    assert_int_equal(verdict->kind, VERDICT_CLEAN);
    assert_in_range(arena.held, 0, 1 << 20);
    arena_free(&arena);
    text_free(&text);
}

#define RECORDED \
    TWO_STREAMS "launch 1 \"p\" \"a.py:4\"\nw 4096 4\nlaunch 2 \"c\" \"a.py:5\"\nmw 4096 64\nrecorded 5 9\nend\n"
#define RECORDED_DEPENDENT \
    TWO_STREAMS "launch 1 \"p\" \"a.py:4\"\nw 4096 4\nunknown 1 1 \"c\" \"a.py:5\"\nrecorded 5 9\nend\n"

/* What matters is asked for; what a recording says of it decides. */
static void recordings_decide(void **state) {
    (void)state;
    Arena arena;
    Touch same = {.begin = 4096, .bytes = 4, .count = 1, .how = TOUCH_READ}, other = same, early = same;
    other.begin = 4100;
    early.early = true;
    struct {
        const char *text;
        Touch *touch;
        bool dependent;
        unsigned waits;
        VerdictKind kind;
        RuleId rule;
    } cases[] = {{RECORDED, &same, false, 0, VERDICT_FINDINGS, RULE_PROGRAM_RACE},
                 {RECORDED, &other, false, 0, VERDICT_CLEAN, 0},
                 {RECORDED_DEPENDENT, &same, true, 1, VERDICT_CLEAN, 0},
                 {RECORDED_DEPENDENT, &early, true, 1, VERDICT_FINDINGS, RULE_PROGRAM_EARLY},
                 {RECORDED_DEPENDENT, &other, true, 0, VERDICT_FINDINGS, RULE_GLOBAL_DEPENDENCY_WAIT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        recordings = (ProgramRecordings){0};
        assert_int_equal(check(cases[i].text, &arena, NULL)->kind, VERDICT_INCOMPLETE);
        assert_int_equal(recordings.count, 1);
        assert_int_equal(recordings.items[0].process, 5);
        assert_int_equal(recordings.items[0].number, 9);
        ProgramRecording known = {.process = 5,
                                  .number = 9,
                                  .known = true,
                                  .dependent = cases[i].dependent,
                                  .waits = cases[i].waits,
                                  .touches = cases[i].touch,
                                  .touch_count = 1};
        arena_free(&arena);
        recordings = (ProgramRecordings){.items = &known, .count = 1, .capacity = 1};
        const Verdict *verdict = check(cases[i].text, &arena, NULL);
        assert_int_equal(verdict->kind, cases[i].kind);
        if (verdict->finding_count)
            assert_int_equal(verdict->findings[0].rule, cases[i].rule);
        arena_free(&arena);
    }
    recordings = (ProgramRecordings){0};
    check(TWO_STREAMS "launch 1 \"p\" \"a.py:4\"\nmw 4096 64\nrecorded 5 9\nend\n", &arena, NULL);
    assert_int_equal(recordings.count, 0); /* it does not matter */
    arena_free(&arena);
}

#define SIGNAL_OF(process, verb) "process " process "\nlaunch 0 \"s\" \"a.py:6\"\n" verb " 4\n"
#define SEND                     SIGNAL_OF("7", "W 4160")
#define RECEIVE                  SIGNAL_OF("8", "R 9064")
#define UNKNOWN                  "process 7\nunknown 0 0 \"s\" \"a.py:6\"\n"
#define SHADOWED(before, between, behind)                                                          \
    SHARED_ALONE before "process 7\nlaunch 0 \"p\" \"a.py:4\"\nmw 4096 64\nrecorded 5 9\n" between \
                        "process 8\nlaunch 0 \"c\" \"b.py:5\"\nmr 9000 64\nmw 9064 64\nrecorded 6 3\n" behind "end\n"

/* Of launches in mode shadow it is known what they touch of memory that processes share, and whether signals may order
 * them: their own, or those of others before and after. */
static void shadow_decides(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t read;
        bool signals[2];
        size_t findings;
    } cases[] = {
        {SHADOWED("", "", ""), 9000, {false, false}, 1},
        {SHADOWED("", "", ""), 9004, {false, false}, 0},
        {SHADOWED("", "", ""), 9000, {true, false}, 1},
        {SHADOWED("", "", ""), 9000, {false, true}, 1},
        {SHADOWED("", "", ""), 9000, {true, true}, 0},
        {SHADOWED("", SEND RECEIVE, ""), 9000, {false, false}, 0},
        {SHADOWED("", RECEIVE, SEND), 9000, {false, false}, 0}, /* it may wait for that */
        {SHADOWED("", "", SEND), 9000, {false, true}, 0},
        {SHADOWED(SEND, RECEIVE, ""), 9000, {false, false}, 1},
        {SHADOWED("", SEND, RECEIVE), 9000, {false, false}, 1},
        {SHADOWED(UNKNOWN, "", ""), 9000, {false, true}, 0},
        {SHADOWED(UNKNOWN "await-all\nsend 1 \"x\"\nprocess 8\nreceive \"x\"\n", "", ""), 9000, {false, true}, 1},
        {SHADOWED("", UNKNOWN, ""), 9000, {false, true}, 0},
    };
    enum { APART = 1 }; /* the case in which the two touch other bytes: it is clean, unless something was lost */
    for (size_t k = 0; k < 2 * sizeof cases / sizeof *cases; k++) {
        size_t i = k / 2;
        bool lost = k % 2;
        Arena arena;
        Touch write = {.begin = 4096, .bytes = 4, .count = 1, .how = TOUCH_WRITE};
        Touch read = {.begin = cases[i].read, .bytes = 4, .count = 1, .how = TOUCH_READ};
        Touch own[] = {{.begin = 4096, .bytes = 128, .count = 1}, {.begin = 9000, .bytes = 128, .count = 1}};
        recordings = (ProgramRecordings){0};
        const Verdict *verdict = check(cases[i].text, &arena, NULL);
        assert_int_equal(verdict->finding_count, 0);
        assert_int_equal(recordings.count, 2);
        arena_free(&arena);
        ProgramRecording known[] = {{.process = 5,
                                     .number = 9,
                                     .known = true,
                                     .of_shared = true,
                                     .looked_at = own,
                                     .looked_at_count = 1,
                                     .signals = cases[i].signals[0],
                                     .lost = lost,
                                     .touches = &write,
                                     .touch_count = 1},
                                    {.process = 6,
                                     .number = 3,
                                     .known = true,
                                     .of_shared = true,
                                     .looked_at = &own[1],
                                     .looked_at_count = 1,
                                     .signals = cases[i].signals[1],
                                     .touches = &read,
                                     .touch_count = 1}};
        recordings = (ProgramRecordings){.items = known, .count = 2, .capacity = 2};
        verdict = check(cases[i].text, &arena, NULL);
        if (verdict->finding_count != cases[i].findings)
            fail_msg("case %zu: %zu findings", i, (size_t)verdict->finding_count);
        assert_int_equal(verdict->kind, cases[i].findings      ? VERDICT_FINDINGS
                                        : i == APART && !lost ? VERDICT_CLEAN
                                                              : VERDICT_INCOMPLETE);
        assert_true(verdict->incomplete_count >= lost);
        arena_free(&arena);
        own[1].bytes = 32; /* not all of what it may touch */
        known[1].touch_count = 0;
        verdict = check(cases[i].text, &arena, NULL);
        assert_int_equal(verdict->finding_count, 0);
        assert_true(verdict->incomplete_count > lost);
        arena_free(&arena);
    }
    recordings = (ProgramRecordings){0};
}

static bool take(void *to, const char *data, size_t size) {
    text_add(to, data, size);
    return true;
}

/* What a stream waits for until it is recorded comes first, whatever the times say; where that never is, or each waits
 * for the other one, times count. */
static void signals_come_before_waits(void **state) {
    static const struct {
        const char *one, *other, *merged;
    } cases[] = {
        {"weirlog 1\nprocess 7\nat 5\nevent 4 \"s\"\nwait 4 0 1\nat 6\nclosed 3\nend\n",
         "weirlog 1\nprocess 8\nat 9\nevent 4 \"s\"\nrecord 4 0\nend\n",
         "process 8\nat 9\nevent 4 \"s\"\nrecord 4 0\nprocess 7\nat 5\nevent 4 \"s\"\nwait 4 0 1\nat 6\nclosed "
         "3\nend\n"},
        {"weirlog 1\nprocess 7\nat 5\nevent 4 \"s\"\nwait 4 0 1\nend\n",
         "weirlog 1\nprocess 8\nat 9\nevent 4 \"t\"\nrecord 4 0\nend\n",
         "process 7\nat 5\nevent 4 \"s\"\nwait 4 0 1\nprocess 8\nat 9\nevent 4 \"t\"\nrecord 4 0\nend\n"},
        {"weirlog 1\nprocess 7\nat 5\nevent 4 \"s\"\nwait 4 0 1\nat 6\nevent 4 \"t\"\nrecord 4 0\nend\n",
         "weirlog 1\nprocess 8\nat 9\nevent 4 \"t\"\nwait 4 0 1\nat 10\nevent 4 \"s\"\nrecord 4 0\nend\n",
         "process 7\nat 5\nevent 4 \"s\"\nwait 4 0 1\nat 6\nevent 4 \"t\"\nrecord 4 0\nprocess 8\nat 9\nevent 4 "
         "\"t\"\nwait 4 0 1\n"
         "at 10\nevent 4 \"s\"\nrecord 4 0\nend\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OrderPart parts[] = {{.text = str_of(cases[i].one)}, {.text = str_of(cases[i].other)}};
        Text merged = {0};
        const char *problem;
        uint32_t wrong;
        assert_true(order_merge(parts, 2, take, &merged, &problem, &wrong));
        text_char(&merged, 0);
        const char *end = strstr(merged.data, cases[i].merged);
        assert_non_null(end);
        assert_int_equal(strlen(end), strlen(cases[i].merged));
        text_free(&merged);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_race_if_no_path_orders_them),
        cmocka_unit_test(logs_have_verdicts),
        cmocka_unit_test(recordings_decide),
        cmocka_unit_test(shadow_decides),
        cmocka_unit_test(signals_come_before_waits),
        cmocka_unit_test(what_is_no_log_is_an_error),
        cmocka_unit_test(many_operations_need_no_more_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
