/* Reports made by hand, for tests of what writes them out: a small one with a deadlock, a large one (8 partitions, 60
 * barriers, thousands of events), one whose texts are hostile, and one that has nothing to say. */
#ifndef TESTS_UNIT_REPORT_SAMPLE_H
#define TESTS_UNIT_REPORT_SAMPLE_H

#include "base/source.h"
#include "finding/report.h"
#include "render/trace.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Sample {
    Arena arena;
    Verdict verdict;
    Report report;
    Trace trace;
    Source *source;
} Sample;

#define COUNTED(array) (array), sizeof(array) / sizeof *(array)
/* An op at a line of the IR; what it does there; and where the kernel's author wrote it, how often it was seen. */
#define PLACE(who, name, at) PLACE_DOES(who, name, at, "")
#define PLACE_DOES(who, name, at, what) \
    { (who), (name), (what), "", 0, 0, (at), false, 0 }
#define PLACE_SEEN(who, name, at, source_line, seen) \
    { (who), (name), "", "matmul.py", (source_line), 9, (at), false, (seen) }

static const ReportHead sample_head = {.verdict = "hangs",
                                       .rule = "deadlock.no-producer",
                                       .what = "partition1 waits forever for full[0]: nothing arrives on it",
                                       .where = "kernel.py:30 (IR line 55), ttng.wait_barrier of partition1",
                                       .why = "The wait needs phase 0 to complete.",
                                       .fix = "Arrive on <full>."};

static inline Sample *sample_create(const char *file, const char *kernel) {
    Sample *sample = calloc(1, sizeof *sample);
    arena_init(&sample->arena, (size_t)256 << 20);
    sample->verdict = (Verdict){.arena = &sample->arena, .kernel = kernel};
    sample->report = (Report){.head = sample_head,
                              .file = file,
                              .kernel = kernel,
                              .form = "lowered",
                              .form_text = "barriers are in memory and partitions are regions, so everything was run.",
                              .target = "cuda:100",
                              .module = "",
                              .nothing = "",
                              .verdict = &sample->verdict,
                              .launch = "grid 4x1x1, K = 256",
                              .cluster = 1,
                              .deadlock_verdict = "none",
                              .deadlock_reason = "Each wait is answered by a phase that completes.",
                              .coverage_note = ""};
    sample->trace = (Trace){.file = file, .kernel = kernel, .launch = sample->report.launch};
    return sample;
}

static inline void sample_free(Sample *sample) {
    arena_free(&sample->arena);
    source_free(sample->source);
    free(sample);
}

/* An IR of `lines` lines, one op each. */
static inline void sample_source(Sample *sample, const char *name, unsigned lines) {
    static const char *const ops[] = {
        "ttng.wait_barrier %8, %9, %true : !ttg.memdesc<1xi64, #shared1, #smem, mutable> loc(#loc77)",
        "%10 = ttg.memdesc_index %arg20[%slot] : !ring -> !ttg.memdesc<1xi64, #shared1, #smem, mutable> loc(#loc78)",
        "ttng.barrier_expect %10, 32768, %true : !ttg.memdesc<1xi64, #shared1, #smem, mutable> loc(#loc79)",
        "%11 = arith.muli %i, %c64_i32 : i32 loc(#loc80)",
        "ttng.arrive_barrier %8, 1 : !ttg.memdesc<1xi64, #shared1, #smem, mutable> loc(#loc81)",
    };
    Text text = {0};
    for (unsigned i = 1; i <= lines; i++)
        text_addf(&text, "      %s\n", ops[i % (sizeof ops / sizeof *ops)]);
    sample->source = source_copy(name, text.data, text.size);
    text_free(&text);
}

static inline const char *sample_text(Sample *sample, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline const char *sample_text(Sample *sample, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return arena_copy(&sample->arena, text, strlen(text));
}

/* ---- The small one --------------------------------------------------------------------------- */

static inline void small_findings(Verdict *verdict) {
    Finding *finding = verdict_finding(verdict);
    *finding = (Finding){.rule = RULE_DEADLOCK_CYCLE,
                         .space = "barrier",
                         .message = "partition0 and partition1 wait for each other",
                         .why = "partition0 waits for empty[0], parity 0, which partition1 arrives on after its wait "
                                "for full[1]; full[1] is filled by partition0 after its own wait.",
                         .fix = "let the first wait for empty[0] use parity 1, which a fresh barrier passes",
                         .launch = "grid 4x1x1, K = 256",
                         .witness = "weir trail 1\nkernel matmul\nstep partition0\nstep partition1\n",
                         .schedule = "in every schedule",
                         .times = 4};
    FindingPlace *places = finding_places(verdict, finding, 2);
    places[0] = (FindingPlace){
        "waits", "partition0", "ttng.wait_barrier", "slot 0 of %empty, parity 0, phase 0", "matmul.py", 41, 9, 20,
        7,       NULL};
    places[1] = (FindingPlace){
        "waits", "partition1", "ttng.wait_barrier", "slot 1 of %full, parity 0, phase 0", "matmul.py", 55, 9, 30,
        7,       NULL};
    verdict_incomplete(verdict, "ttng.fence_async_shared", 36, "%s", "an op was passed over");
    verdict_note(verdict, "%s", "loads from memory at line 12 were given 3 values each");
    *verdict_launch(verdict) =
        (LaunchRun){.text = "grid 4x1x1, K = 256", .chosen = true, .ctas = 4, .schedules = 12, .events = 1234};
    verdict_close(verdict);
}

static inline void small_partitions(Report *report) {
    static const ReportCount loads[] = {{"async_tma_copy_global_to_local", 2}, {"barrier_expect", 1}};
    static const ReportCount mma[] = {{"tc_gen5_mma", 1}, {"tc_gen5_commit", 1}};
    static const ReportCount store[] = {{"tmem_load", 1}, {"async_tma_copy_local_to_global", 1}};
    static const ReportPartition partitions[] = {
        {"default", "epilogue store", "epilogue", COUNTED(store), 4, -1, 2, 5},
        {"partition0", "TMA load (a, b)", "load", COUNTED(loads), 1, 24, 0, 18},
        {"partition1", "MMA", "mma", COUNTED(mma), 1, 24, 1, 28},
    };
    report->partitions = partitions;
    report->partition_count = 3;
}

static inline void small_barriers(Report *report) {
    static const ReportSite fills[] = {{PLACE_SEEN("partition0.tma", "ttng.async_tma_copy_global_to_local", 24, 44, 4),
                                        "TMA mbarrier", "i % 2", "", "%slot", "", 0, 1, -1, false, 16384, 0, ""}};
    static const ReportSite drains[] = {{PLACE_SEEN("partition1", "ttng.wait_barrier", 30, 55, 2), "TMA mbarrier",
                                         "i % 2", "(i / 2) & 1", "%slot_1", "%phase_2", 1, 1, 0, false, -1, 0, ""}};
    static const ReportSite frees[] = {{PLACE_SEEN("partition1.tensor", "ttng.tc_gen5_mma", 33, 47, 1),
                                        "MMA barrier operand", "i % 2", "", "", "", 0, 1, -1, false, 1, 0, ""}};
    static const ReportSite reuses[] = {{PLACE_SEEN("partition0", "ttng.wait_barrier", 20, 47, 2),
                                         "MMA barrier operand", "i % 2", "(i / 2) & 1", "", "", 0, 1, 0, false, -1, 0,
                                         ""}};
    static const ReportPlace made[] = {PLACE_DOES("default", "ttng.init_barrier", 8, "count 1")};
    static const ReportBytes bytes[] = {{"a", "128x64xf16", 16384, 24}, {"b", "64x128xf16", 16384, 26}};
    static const char *const tiles[] = {"a", "b"};
    static const ReportAlias aliases[] = {{"%full", "allocation", "", 6, 0},
                                          {"%arg20", "argument of partition0", "partition0", 18, 1},
                                          {"%10", "view [%slot]", "partition0", 21, 2}};
    static const char *const issues[] = {"the first wait does not pass on a fresh barrier: nobody arrives before it"};
    static const ReportBarrier barriers[] = {
        {"full",
         "%full",
         "mbarrier",
         "TMA mbarrier",
         "forward",
         2,
         1,
         "i % 2",
         "(i / 2) & 1",
         false,
         "partition1 +1",
         32768,
         32768,
         COUNTED(bytes),
         4,
         2,
         "each slot flips once in 2 iterations of the loop at line 19",
         fills,
         drains,
         1,
         1,
         COUNTED(made),
         COUNTED(tiles),
         "empty",
         COUNTED(aliases),
         NULL,
         0,
         "",
         0},
        {"empty",
         "%empty",
         "mbarrier",
         "MMA barrier operand",
         "backward",
         2,
         1,
         "i % 2",
         "(i / 2) & 1",
         false,
         "",
         -1,
         -1,
         NULL,
         0,
         2,
         1,
         "",
         frees,
         reuses,
         1,
         1,
         NULL,
         0,
         COUNTED(tiles),
         "full",
         NULL,
         0,
         COUNTED(issues),
         "",
         0},
    };
    report->barriers = barriers;
    report->barrier_count = 2;
}

static inline void small_edges(Report *report) {
    static const ReportEdge edges[] = {
        {"partition0", "partition1", "full", "TMA mbarrier", "forward", "a, b (2 x 128x64xf16)", "",
         PLACE("partition0.tma", "ttng.async_tma_copy_global_to_local", 24),
         PLACE("partition1", "ttng.wait_barrier", 30)},
        {"partition1", "default", "", "TMEM token", "forward", "acc (128x128xf32)", "",
         PLACE("partition1", "ttng.tc_gen5_commit", 35), PLACE("default", "ttng.tmem_load", 12)},
        {"partition1", "partition0", "empty", "MMA barrier operand", "backward", "a, b", "",
         PLACE("partition1.tensor", "ttng.tc_gen5_mma", 33), PLACE("partition0", "ttng.wait_barrier", 20)},
        {"default", "partition1", "", "TMEM token", "backward", "acc",
         "unused token: nothing keeps the next MMA from writing before this load",
         PLACE("default", "ttng.tmem_load", 12), PLACE("partition1", "ttng.tc_gen5_mma", 33)},
    };
    report->edges = edges;
    report->edge_count = 4;
}

static inline void small_data(Report *report) {
    static const ReportPlace copies[] = {PLACE("partition0.tma", "ttng.async_tma_copy_global_to_local", 24)};
    static const ReportPlace products[] = {PLACE("partition1.tensor", "ttng.tc_gen5_mma", 33)};
    static const ReportPlace reads[] = {PLACE("default", "ttng.tmem_load", 12)};
    static const char *const merged[] = {"merged with b: one barrier, 32768 bytes"};
    static const ReportAlias aliases[] = {{"%a_ring", "allocation", "", 3, 0},
                                          {"%arg18", "argument of partition0", "partition0", 18, 1}};
    static const ReportBuffer buffers[] = {
        {"a", "%a_ring", "shared", "!ttg.memdesc<2x128x64xf16, #shared, #smem, mutable>", 0, -1, 2, 32768, copies,
         products, 1, 1, "full, empty", COUNTED(merged), COUNTED(aliases)},
        {"b", "%b_ring", "shared", "!ttg.memdesc<2x64x128xf16, #shared, #smem, mutable>", 0, -1, 2, 32768, copies,
         products, 1, 1, "full, empty", NULL, 0, NULL, 0},
        {"acc", "%sum", "tensor", "!ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>", 1, 0, 1, 128,
         products, reads, 1, 1, "", NULL, 0, NULL, 0},
    };
    report->buffers = buffers;
    report->buffer_count = 3;
}

static inline void small_deadlock(Report *report) {
    static const ReportPlace could[] = {
        PLACE_DOES("partition1.tensor", "ttng.tc_gen5_mma", 33, "would, but is blocked at IR line 30")};
    static const ReportPlace others[] = {
        PLACE_DOES("partition0.tma", "ttng.async_tma_copy_global_to_local", 24, "would, but is blocked at IR line 20")};
    static const ReportBlocked blocked[] = {
        {PLACE("partition0", "ttng.wait_barrier", 20), "empty[0]", 0, 0, 1, 0, 0, COUNTED(could),
         "nobody can use slot 0 before partition1 has read it", "partition1"},
        {PLACE("partition1", "ttng.wait_barrier", 30), "full[1]", 0, 0, 1, 32768, 0, COUNTED(others),
         "slot 1 is filled after slot 0", "partition0"},
    };
    static const ReportDeadlock deadlocks[] = {{"deadlock.cycle", "partition0 and partition1 wait for each other",
                                                "The arrival that each waits for comes after the wait of the other.",
                                                "start the first wait with parity 1", "in every schedule",
                                                "grid 4x1x1, K = 256", COUNTED(blocked)}};
    static const ReportPlace extra[] = {PLACE("partition1", "ttng.wait_barrier", 30)};
    static const ReportCandidate candidates[] = {
        {"full", "2 waits and 1 arrive in an iteration", "redundant",
         "The second wait passes on the phase that the first one saw.", COUNTED(extra)},
        {"empty", "1 wait before the first arrive", "deadlock", "Its parity is that of the phase that is still open.",
         COUNTED(extra)}};
    report->deadlock_verdict = "found";
    report->deadlock_reason = "Two partitions wait for phases that only the other could complete.";
    report->deadlocks = deadlocks;
    report->deadlock_count = 1;
    report->candidates = candidates;
    report->candidate_count = 2;
}

static inline void small_coverage(Report *report) {
    static const ReportRow rows[] = {
        {"columns 0-63", "acc", "default", PLACE("default", "ttng.tmem_load", 12),
         "each iteration of the loop at line 19", COVERAGE_ORDERED, "partition1 waits for empty, IR line 30", 3},
        {"column 64", "alpha", "default", PLACE("default", "ttng.tmem_load", 13), "once", COVERAGE_MISSING,
         "no edge from default back to partition1", 3},
        {"column 65", "m_i", "partition1", PLACE("partition1", "ttng.tmem_load", 34), "once", COVERAGE_PLANNED,
         "a back edge will be needed", 0},
        {"column 66", "l_i", "default", PLACE("default", "ttng.tmem_load", 14), "once", COVERAGE_UNSEEN, "", 0},
    };
    static const ReportCoverage coverage[] = {{"buffer.id 1 (tensor, 128 columns)", "acc",
                                               PLACE("partition1.tensor", "ttng.tc_gen5_mma", 33), "columns 0-127",
                                               true, COUNTED(rows)}};
    static const ReportLimit limits[] = {
        {"shared memory", "bytes", 65600, 232448}, {"tensor memory", "columns", 640, 512}, {"warps", "", 6, 16}};
    report->coverage = coverage;
    report->coverage_count = 1;
    report->coverage_note = "Made over 12 runs.";
    report->limits = limits;
    report->limit_count = 3;
}

static inline void small_trace(Trace *trace) {
    static const TraceTrack tracks[] = {{0, "cta 0 (0,0,0)", "default"},        {0, "cta 0 (0,0,0)", "partition0"},
                                        {0, "cta 0 (0,0,0)", "partition0.tma"}, {0, "cta 0 (0,0,0)", "partition1"},
                                        {1, "cta 1 (1,0,0)", "default"},        {1, "cta 1 (1,0,0)", "partition0"}};
    static const TraceBarrier full = {"%full", 0}, full_1 = {"%full", 1}, empty = {"%empty", 0},
                              named = {"named barrier 9", -1};
    static const TraceEvent events[] = {
        {TRACE_STEP, 0, 1, 1, "ttng.init_barrier", "%full[0] of cta0, count 1", 8, 0, &full, 1},
        {TRACE_STEP, 0, 2, 1, "ttng.init_barrier", "%empty[0] of cta0, count 1", 9, 0, &empty, 1},
        {TRACE_STEP, 1, 3, 1, "ttng.barrier_expect", "%full[0] of cta0, 32768 bytes, phase 0", 22, 0, &full, 1},
        {TRACE_STEP, 2, 4, 1, "ttng.async_tma_copy_global_to_local", "%full[0] of cta0, 32768 bytes, phase 0", 24, 0,
         &full, 1},
        {TRACE_FLIP, 2, 4, 0, "phase 0 of %full[0] of cta0", "completes", 24, 0, &full, 1},
        {TRACE_WAIT, 3, 3, 4, "ttng.wait_barrier", "%full[0] of cta0, parity 0, phase 0 is over", 30, 4, &full, 1},
        {TRACE_STEP, 3, 7, 1, "ttng.arrive_barrier", "named barrier 9", 31, 0, &named, 1},
        {TRACE_STEP, 4, 5, 1, "ttng.init_barrier", "%full[0] of cta1, count 1", 8, 0, &full, 1},
        {TRACE_BLOCKED, 1, 5, 6, "ttng.wait_barrier", "%empty[0] of cta0, parity 0, forever", 20, 0, &empty, 1},
        {TRACE_BLOCKED, 3, 8, 3, "ttng.wait_barrier", "%full[1] of cta0, parity 0, forever", 30, 0, &full_1, 1},
        {TRACE_STEP, 5, 6, 1, "ttg.warp_specialize", "the partitions", 10, 0, NULL, 0},
        {TRACE_ACCESS, 0, 3, 0, "ttng.tmem_load", "reads %acc at row 0, column 0", 12, 0, NULL, 0},
    };
    trace->tracks = tracks;
    trace->track_count = sizeof tracks / sizeof *tracks;
    trace->events = events;
    trace->event_count = sizeof events / sizeof *events;
}

static inline Sample *sample_small(void) {
    Sample *sample = sample_create("matmul.ttgir", "matmul");
    sample_source(sample, "matmul.ttgir", 60);
    small_findings(&sample->verdict);
    small_partitions(&sample->report);
    small_barriers(&sample->report);
    small_edges(&sample->report);
    small_data(&sample->report);
    small_deadlock(&sample->report);
    small_coverage(&sample->report);
    small_trace(&sample->trace);
    return sample;
}

/* ---- The large one --------------------------------------------------------------------------- */

enum { RINGS = 30, AGENTS = 8, DEPTH = 3 };

/* Who fills a ring, who empties it. Every agent goes through its rings in this order, again and again. */
static const struct {
    const char *name;
    uint8_t from, to;
} large_rings[RINGS] = {
    {"q0", 1, 2},        {"q1", 1, 2},        {"k0", 1, 2},      {"k1", 1, 2},        {"v0", 1, 2},
    {"v1", 1, 2},        {"k_scale", 1, 2},   {"v_scale", 1, 2}, {"qk0", 2, 3},       {"qk1", 2, 4},
    {"qk0_hi", 2, 3},    {"qk1_hi", 2, 4},    {"qk0_lo", 2, 3},  {"qk1_lo", 2, 4},    {"p0", 3, 2},
    {"p1", 4, 2},        {"p0_hi", 3, 2},     {"p1_hi", 4, 2},   {"row_max_0", 3, 5}, {"row_max_1", 4, 5},
    {"row_sum_0", 3, 5}, {"row_sum_1", 4, 5}, {"alpha0", 3, 5},  {"alpha1", 4, 5},    {"acc0", 2, 6},
    {"acc1", 2, 6},      {"scaled0", 5, 6},   {"scaled1", 5, 6}, {"out", 6, 7},       {"done", 7, 0},
};
static const char *const large_names[AGENTS] = {"default",    "partition0", "partition1", "partition2",
                                                "partition3", "partition4", "partition5", "partition6"};
static const char *const large_roles[AGENTS] = {"tile scheduler",   "TMA load (q, k, v)", "MMA",
                                                "softmax (qk0)",    "softmax (qk1)",      "correction",
                                                "epilogue convert", "epilogue store"};

typedef struct LargeRun {
    Sample *sample;
    TraceEvent *events;
    uint32_t count, most;
    uint64_t now;
    uint32_t filled[RINGS], emptied[RINGS];
    uint32_t last_fill[RINGS], last_free[RINGS]; /* 1 + the event */
    int ring[AGENTS];                            /* that the agent is at */
    bool inside[AGENTS];                         /* it has passed the wait */
    uint64_t blocked_since[AGENTS];              /* 0: it is not */
} LargeRun;

static inline void large_event(LargeRun *run, TraceKind kind, uint32_t track, uint64_t time, const char *name,
                               const char *detail, uint32_t line, uint32_t from, const TraceBarrier *barrier) {
    if (run->count == run->most)
        return;
    uint64_t duration = kind == TRACE_FLIP ? 0 : run->now - time + 1;
    run->events[run->count++] = (TraceEvent){kind, track, time, duration, name, detail, line, from, barrier, 1};
}

static inline const TraceBarrier *large_barrier(LargeRun *run, int ring, const char *which, uint32_t done) {
    TraceBarrier *barrier = ARENA_NEW(&run->sample->arena, TraceBarrier);
    barrier->ring = sample_text(run->sample, "%%%s_%s", large_rings[ring].name, which);
    barrier->slot = done % DEPTH;
    return barrier;
}

/* Helpers have tracks of their own: 8 the copies of partition0, 9 the tensor core of partition1. */
static inline uint32_t large_track(uint32_t agent, bool fills) {
    return fills && agent == 1 ? 8 : fills && agent == 2 ? 9 : agent;
}

static inline void large_wait(LargeRun *run, uint32_t agent, int ring, bool fills) {
    uint32_t done = fills ? run->filled[ring] : run->emptied[ring],
             from = fills ? run->last_free[ring] : run->last_fill[ring];
    bool free = fills ? run->filled[ring] - run->emptied[ring] < DEPTH : run->filled[ring] > run->emptied[ring];
    if (!free) {
        run->blocked_since[agent] = run->blocked_since[agent] ? run->blocked_since[agent] : run->now;
        return;
    }
    uint64_t since = run->blocked_since[agent];
    const char *detail =
        sample_text(run->sample, "%%%s_%s[%u], parity %u, phase %u is complete", large_rings[ring].name,
                    fills ? "empty" : "full", done % DEPTH, done / DEPTH % 2, done / DEPTH);
    large_event(run, since ? TRACE_WAIT : TRACE_STEP, agent, since ? since : run->now, "ttng.wait_barrier", detail,
                40 + (uint32_t)ring * 8 + fills, since ? from : 0,
                large_barrier(run, ring, fills ? "empty" : "full", done));
    run->blocked_since[agent] = 0;
    run->inside[agent] = true;
}

static inline void large_arrive(LargeRun *run, uint32_t agent, int ring, bool fills) {
    static const char *const fill[AGENTS] = {"ttng.arrive_barrier", "ttng.async_tma_copy_global_to_local",
                                             "ttng.tc_gen5_mma",    "ttng.arrive_barrier",
                                             "ttng.arrive_barrier", "ttng.arrive_barrier",
                                             "ttng.arrive_barrier", "ttng.arrive_barrier"};
    uint32_t *done = fills ? &run->filled[ring] : &run->emptied[ring], track = large_track(agent, fills);
    const char *name = large_rings[ring].name, *which = fills ? "full" : "empty";
    const char *detail = sample_text(run->sample, "%%%s_%s[%u], phase %u", name, which, *done % DEPTH, *done / DEPTH);
    uint32_t line = 40 + (uint32_t)ring * 8 + 4 + fills;
    const TraceBarrier *barrier = large_barrier(run, ring, which, *done);
    large_event(run, TRACE_STEP, track, run->now, fills ? fill[agent] : "ttng.arrive_barrier", detail, line, 0,
                barrier);
    *(fills ? &run->last_fill[ring] : &run->last_free[ring]) = run->count;
    large_event(run, TRACE_FLIP, track, run->now,
                sample_text(run->sample, "phase %u of %%%s_%s[%u]", *done / DEPTH, name, which, *done % DEPTH),
                "completes", line, 0, barrier);
    ++*done;
    run->inside[agent] = false;
}

static inline void large_step(LargeRun *run, uint32_t agent) {
    int ring = run->ring[agent];
    while (large_rings[ring].from != agent && large_rings[ring].to != agent)
        ring = (ring + 1) % RINGS;
    run->ring[agent] = ring;
    bool fills = large_rings[ring].from == agent;
    if (!run->inside[agent]) {
        large_wait(run, agent, ring, fills);
        return;
    }
    large_arrive(run, agent, ring, fills);
    run->ring[agent] = (ring + 1) % RINGS;
}

static inline void large_trace(Sample *sample, uint32_t most) {
    LargeRun run = {.sample = sample, .events = ARENA_ARRAY(&sample->arena, TraceEvent, most), .most = most};
    for (uint32_t random = 1; run.count < most; run.now++) {
        random = random * 1664525 + 1013904223;
        for (uint32_t i = 0; i < AGENTS; i++)
            if ((random >> (8 + i)) & 1)
                large_step(&run, i);
    }
    TraceTrack *tracks = ARENA_ARRAY(&sample->arena, TraceTrack, AGENTS + 2);
    static const uint8_t order[AGENTS + 2] = {0, 1, 8, 2, 9, 3, 4, 5, 6, 7};
    uint8_t place[AGENTS + 2];
    for (uint32_t i = 0; i < AGENTS + 2; i++) {
        place[order[i]] = (uint8_t)i;
        tracks[i] = (TraceTrack){0, "cta 0 (0,0,0)",
                                 order[i] == 8   ? "partition0.tma"
                                 : order[i] == 9 ? "partition1.tensor core"
                                                 : large_names[order[i]]};
    }
    for (uint32_t i = 0; i < run.count; i++)
        run.events[i].track = place[run.events[i].track];
    sample->trace.tracks = tracks;
    sample->trace.track_count = AGENTS + 2;
    sample->trace.events = run.events;
    sample->trace.event_count = run.count;
}

static inline ReportPlace large_place(uint32_t agent, const char *op, uint32_t line) {
    return (ReportPlace)PLACE_SEEN(large_names[agent], op, line, line / 2, 120);
}

static inline void large_ring(Sample *sample, int ring, ReportBarrier *pair, ReportEdge *edges, ReportBuffer *buffer) {
    Arena *arena = &sample->arena;
    int kind = ring % RINGS;
    const char *base =
        ring < RINGS ? large_rings[kind].name : sample_text(sample, "%s_%d", large_rings[kind].name, ring / RINGS);
    uint32_t line = 40 + (uint32_t)ring * 8;
    const char **protects = ARENA_ARRAY(arena, const char *, 1);
    *protects = base;
    for (int back = 0; back < 2; back++) {
        uint32_t from = back ? large_rings[kind].to : large_rings[kind].from;
        uint32_t to = back ? large_rings[kind].from : large_rings[kind].to;
        bool copies = !back && from == 1;
        ReportSite *arrives = ARENA_ARRAY(arena, ReportSite, 1), *waits = ARENA_ARRAY(arena, ReportSite, 1);
        const char *mechanism = copies ? "TMA mbarrier" : "explicit mbarrier";
        *arrives = (ReportSite){large_place(from, "ttng.arrive_barrier", line + 4 + !back),
                                mechanism,
                                "accumCnt % 3",
                                "",
                                "%slot",
                                "",
                                0,
                                1,
                                -1,
                                false,
                                copies ? 16384 : 1,
                                0,
                                ""};
        *waits = (ReportSite){large_place(to, "ttng.wait_barrier", line + (uint32_t)back),
                              mechanism,
                              "accumCnt % 3",
                              back ? "NOT ((accumCnt / 3) & 1)" : "(accumCnt / 3) & 1",
                              "%slot",
                              "%phase",
                              0,
                              1,
                              back,
                              back,
                              -1,
                              0,
                              ""};
        ReportAlias *aliases = ARENA_ARRAY(arena, ReportAlias, 2);
        aliases[0] = (ReportAlias){sample_text(sample, "%%%s_%s", base, back ? "empty" : "full"), "allocation", "",
                                   10 + (uint32_t)ring, 0};
        aliases[1] = (ReportAlias){sample_text(sample, "%%arg%d", 20 + ring), "argument of the partition",
                                   large_names[to], line, 1};
        pair[back] = (ReportBarrier){sample_text(sample, "%s_%s", base, back ? "empty" : "full"),
                                     aliases[0].value,
                                     "mbarrier",
                                     mechanism,
                                     back ? "backward" : "forward",
                                     DEPTH,
                                     1,
                                     "accumCnt % 3",
                                     waits->phase,
                                     back,
                                     "",
                                     copies ? 16384 : -1,
                                     copies ? 16384 : -1,
                                     NULL,
                                     0,
                                     120,
                                     119,
                                     "each slot flips once in 3 iterations of the loop at line 38",
                                     arrives,
                                     waits,
                                     1,
                                     1,
                                     NULL,
                                     0,
                                     protects,
                                     1,
                                     sample_text(sample, "%s_%s", base, back ? "full" : "empty"),
                                     aliases,
                                     2,
                                     NULL,
                                     0,
                                     "",
                                     0};
        edges[back] = (ReportEdge){large_names[from],
                                   large_names[to],
                                   pair[back].name,
                                   mechanism,
                                   pair[back].direction,
                                   sample_text(sample, "%s (3 x 128x64xf16)", base),
                                   "",
                                   arrives->place,
                                   waits->place};
    }
    *buffer = (ReportBuffer){base,
                             sample_text(sample, "%%%s", base),
                             "shared",
                             "!ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>",
                             ring,
                             -1,
                             DEPTH,
                             49152,
                             &pair[0].arrives->place,
                             &pair[0].waits->place,
                             1,
                             1,
                             sample_text(sample, "%s_full, %s_empty", base, base),
                             NULL,
                             0,
                             NULL,
                             0};
}

/* Each ring is overwritten by who fills it, after a read. */
static inline void large_coverage(Sample *sample, int rings) {
    ReportCoverage *coverage = ARENA_ARRAY(&sample->arena, ReportCoverage, (size_t)rings);
    for (int i = 0; i < rings; i++) {
        const ReportBuffer *buffer = &sample->report.buffers[i];
        ReportRow *row = ARENA_NEW(&sample->arena, ReportRow);
        *row = (ReportRow){"bytes 0-16383",
                           buffer->name,
                           buffer->readers->partition,
                           *buffer->readers,
                           "each iteration",
                           COVERAGE_ORDERED,
                           sample_text(sample, "waits for %s_empty", buffer->name),
                           117};
        coverage[i] = (ReportCoverage){sample_text(sample, "%%%s (shared, 3 slots of 16384 bytes)", buffer->name),
                                       buffer->name,
                                       *buffer->writers,
                                       "bytes 0-16383",
                                       true,
                                       row,
                                       1};
    }
    sample->report.coverage = coverage;
    sample->report.coverage_count = (size_t)rings;
}

/* Two barriers a ring; those of the run are of the first rings. */
static inline Sample *sample_rings(int rings, uint32_t events) {
    Sample *sample = sample_create("attention_persistent.ttgir", "attention_persistent");
    Report *report = &sample->report;
    sample_source(sample, "attention_persistent.ttgir", rings > RINGS ? 60 + 8 * (unsigned)rings : 400);
    *verdict_launch(&sample->verdict) = (LaunchRun){
        .text = "grid 148x1x1, N_CTX = 1024", .chosen = false, .ctas = 148, .schedules = 6, .events = 1996951};
    report->launch = "grid 148x1x1, N_CTX = 1024";
    verdict_close(&sample->verdict);
    ReportPartition *partitions = ARENA_ARRAY(&sample->arena, ReportPartition, AGENTS);
    static const ReportCount ops[] = {{"wait_barrier", 12}, {"arrive_barrier", 12}, {"tmem_load", 2}};
    for (int i = 0; i < AGENTS; i++)
        partitions[i] = (ReportPartition){large_names[i], large_roles[i], "", COUNTED(ops),
                                          i ? 4 : 8,      i ? 96 : -1,    -1, 36 + (uint32_t)i * 40};
    ReportBarrier *barriers = ARENA_ARRAY(&sample->arena, ReportBarrier, 2 * (size_t)rings);
    ReportEdge *edges = ARENA_ARRAY(&sample->arena, ReportEdge, 2 * (size_t)rings);
    ReportBuffer *buffers = ARENA_ARRAY(&sample->arena, ReportBuffer, (size_t)rings);
    for (int i = 0; i < rings; i++)
        large_ring(sample, i, &barriers[2 * i], &edges[2 * i], &buffers[i]);
    report->partitions = partitions, report->partition_count = AGENTS;
    report->barriers = barriers, report->barrier_count = 2 * (size_t)rings;
    report->edges = edges, report->edge_count = 2 * (size_t)rings;
    report->buffers = buffers, report->buffer_count = (size_t)rings;
    report->coverage_note = "Every write waits for the reads before it, in all of 6 runs.";
    if (rings > RINGS)
        large_coverage(sample, rings);
    large_trace(sample, events);
    return sample;
}

static inline Sample *sample_large(uint32_t events) {
    return sample_rings(RINGS, events);
}

/* ---- The others ------------------------------------------------------------------------------ */

#define HOSTILE                                                                                                      \
    "</script><script>attacked=1</script><img src=x onerror=attacked=1>\"' onfocus='attacked=1' &amp; \x01\x1b[31m " \
    "\xff\xc0\xaf \xe2\x80\xa8 \xe2\x80\xae<!--"

static inline Sample *sample_hostile(void) {
    Sample *sample = sample_small();
    Report *report = &sample->report;
    source_free(sample->source);
    Text lines = {0};
    for (int i = 0; i < 60; i++)
        text_addf(&lines, "line %d " HOSTILE "\n", i);
    sample->source = source_copy(HOSTILE, lines.data, lines.size);
    text_free(&lines);
    sample->verdict.kernel = report->kernel = report->file = report->form = report->form_text = report->target =
        report->module = HOSTILE;
    report->launch = report->deadlock_reason = report->coverage_note = HOSTILE;
    sample->verdict.findings[0].message = sample->verdict.findings[0].why = sample->verdict.findings[0].witness =
        HOSTILE;
    sample->verdict.findings[0].places[0].file = sample->verdict.findings[0].places[0].agent = HOSTILE;
    ReportPartition *partitions = ARENA_ARRAY(&sample->arena, ReportPartition, 3);
    memcpy(partitions, report->partitions, 3 * sizeof *partitions);
    partitions[0].name = partitions[1].role = HOSTILE;
    report->partitions = partitions;
    ReportBarrier *barriers = ARENA_ARRAY(&sample->arena, ReportBarrier, 2);
    memcpy(barriers, report->barriers, 2 * sizeof *barriers);
    barriers[0].name = barriers[0].index = HOSTILE;
    report->barriers = barriers;
    ReportEdge *edges = ARENA_ARRAY(&sample->arena, ReportEdge, 4);
    memcpy(edges, report->edges, 4 * sizeof *edges);
    edges[0].barrier = edges[0].carries = edges[3].from = HOSTILE;
    report->edges = edges;
    TraceEvent *events = ARENA_ARRAY(&sample->arena, TraceEvent, sample->trace.event_count);
    memcpy(events, sample->trace.events, sample->trace.event_count * sizeof *events);
    static const TraceBarrier hostile = {HOSTILE, 7};
    events[0].name = events[1].detail = events[3].detail = HOSTILE;
    events[1].barriers = &hostile;
    sample->trace.events = events;
    TraceTrack *tracks = ARENA_ARRAY(&sample->arena, TraceTrack, sample->trace.track_count);
    memcpy(tracks, sample->trace.tracks, sample->trace.track_count * sizeof *tracks);
    tracks[0].agent = tracks[0].cta_name = HOSTILE;
    sample->trace.tracks = tracks;
    return sample;
}

/* Clean as far as it was read, but never run. */
static inline Sample *sample_unrun(void) {
    Sample *sample = sample_large(10);
    sample->verdict.launch_count = 0;
    sample->report.launch = "";
    sample->trace.event_count = 0;
    return sample;
}

static inline Sample *sample_nothing(void) {
    Sample *sample = sample_create("softmax.ttgir", "softmax_rows");
    sample->report.nothing = "The kernel has no barrier and is not parted, so there is nothing to wait for.";
    verdict_close(&sample->verdict);
    return sample;
}

#endif
