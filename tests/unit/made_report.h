/* A made-up barrier report in which every list has something in it: a product whose operands a TMA partition loads. */
#ifndef TESTS_UNIT_MADE_REPORT_H
#define TESTS_UNIT_MADE_REPORT_H

#include "finding/report.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* All that a test may want to change. */
typedef struct Made {
    Verdict verdict;
    Finding finding;
    FindingPlace place;
    Incomplete incomplete;
    ReportCount mma_ops[2], load_ops[1];
    ReportPartition partitions[3];
    ReportSite full_arrives[1], full_waits[1], empty_arrives[1], empty_waits[1];
    ReportBytes bytes[2];
    ReportPlace others[1], writers[1], readers[1], could[1];
    const char *protects[2], *issues[1], *notes[1];
    ReportAlias aliases[2];
    ReportBarrier barriers[2];
    ReportEdge edges[2];
    ReportBuffer buffers[2];
    ReportBlocked blocked[1];
    ReportDeadlock deadlocks[1];
    ReportCandidate candidates[1];
    ReportRow rows[2];
    ReportCoverage coverage[1];
    ReportLimit limits[2];
    Report report;
} Made;

static ReportPlace made_place(const char *partition, const char *op, uint32_t ir_line) {
    return (ReportPlace){.partition = partition,
                         .op = op,
                         .detail = "",
                         .file = "k.py",
                         .line = 7,
                         .column = 3,
                         .ir_line = ir_line,
                         .times = 4};
}

static ReportSite made_site(const char *partition, const char *op, uint32_t ir_line, const char *phase) {
    return (ReportSite){.place = made_place(partition, op, ir_line),
                        .mechanism = "explicit mbarrier",
                        .index = "accumCnt(loop@41) % 3",
                        .phase = phase,
                        .index_as_written = "%cnt % 3",
                        .phase_as_written = "",
                        .stride = 1,
                        .first_parity = -1,
                        .amount = -1};
}

static void make_verdict(Made *made) {
    made->place = (FindingPlace){
        .role = "waits", .agent = "default", .op = "ttng.wait_barrier", .note = "", .file = "", .ir_line = 70};
    made->finding = (Finding){.rule = RULE_DEADLOCK_CYCLE,
                              .space = "barrier",
                              .message = "default waits forever for %12[0], line 70",
                              .why = "why",
                              .fix = "fix",
                              .launch = "grid 1x1x1",
                              .witness = "",
                              .schedule = "in every schedule",
                              .places = &made->place,
                              .place_count = 1,
                              .times = 1};
    made->incomplete = (Incomplete){.reason = "the op is not known", .op = "other.op", .ir_line = 9};
    made->verdict = (Verdict){.kernel = "MMA",
                              .kind = VERDICT_FINDINGS,
                              .findings = &made->finding,
                              .finding_count = 1,
                              .incomplete = &made->incomplete,
                              .incomplete_count = 1};
}

static void make_partitions(Made *made) {
    made->mma_ops[0] = (ReportCount){"tc_gen5_mma", 2};
    made->mma_ops[1] = (ReportCount){"wait_barrier", 1};
    made->load_ops[0] = (ReportCount){"async_tma_copy_global_to_local", 2};
    made->partitions[0] = (ReportPartition){"default", "epilogue", "", NULL, 0, 4, -1, -1, 10};
    made->partitions[1] = (ReportPartition){"partition0", "MMA", "gemm", made->mma_ops, 2, 1, 24, 0, 20};
    made->partitions[2] = (ReportPartition){"partition1", "TMA load (a, b)", "load", made->load_ops, 1, 1, 24, 1, 60};
}

static void make_barriers(Made *made) {
    static const char full_phase[] = "(accumCnt(loop@41) / 3) & 1";
    made->full_arrives[0] = made_site("partition1.tma", "ttng.async_tma_copy_global_to_local", 64, "");
    made->full_waits[0] = made_site("partition0", "ttng.wait_barrier", 42, full_phase);
    made->empty_arrives[0] = made_site("partition0", "ttng.arrive_barrier", 50, "");
    made->empty_waits[0] = made_site("partition1", "ttng.wait_barrier", 62, "NOT ((accumCnt(loop@41) / 3) & 1)");
    made->bytes[0] = (ReportBytes){"a", "128x64xf16", 16384, 64};
    made->bytes[1] = (ReportBytes){"b", "64x128xf16", 16384, 65};
    made->others[0] = made_place("default", "ttng.init_barrier", 12);
    made->protects[0] = "a";
    made->protects[1] = "b";
    made->issues[0] = "depth 1: nothing overlaps";
    made->aliases[0] = (ReportAlias){"%12", "allocation", "default", 11, 0};
    made->aliases[1] = (ReportAlias){"%arg3", "argument of partition0", "partition0", 20, 1};
    made->barriers[0] = (ReportBarrier){.name = "full",
                                        .value = "%12",
                                        .kind = "mbarrier",
                                        .mechanism = "TMA mbarrier",
                                        .direction = "forward",
                                        .depth = 3,
                                        .count = 1,
                                        .index = "accumCnt(loop@41) % 3",
                                        .phase = full_phase,
                                        .offset = "",
                                        .expect_bytes = 32768,
                                        .data_bytes = 32768,
                                        .bytes = made->bytes,
                                        .byte_count = 2,
                                        .iterations = 6,
                                        .flips = 6,
                                        .cadence = "each slot flips once in 3 iterations of the loop at line 41",
                                        .arrives = made->full_arrives,
                                        .waits = made->full_waits,
                                        .arrive_count = 1,
                                        .wait_count = 1,
                                        .others = made->others,
                                        .other_count = 1,
                                        .protects = made->protects,
                                        .protect_count = 2,
                                        .pair = "empty",
                                        .aliases = made->aliases,
                                        .alias_count = 2,
                                        .issues = made->issues,
                                        .issue_count = 1,
                                        .participants = ""};
    made->barriers[1] = (ReportBarrier){.name = "empty",
                                        .value = "%13",
                                        .kind = "mbarrier",
                                        .mechanism = "explicit mbarrier",
                                        .direction = "backward",
                                        .depth = 3,
                                        .count = 1,
                                        .index = "accumCnt(loop@41) % 3",
                                        .phase = "",
                                        .inverted = true,
                                        .offset = "",
                                        .expect_bytes = -1,
                                        .data_bytes = -1,
                                        .cadence = "",
                                        .arrives = made->empty_arrives,
                                        .waits = made->empty_waits,
                                        .arrive_count = 1,
                                        .wait_count = 1,
                                        .protects = made->protects,
                                        .protect_count = 2,
                                        .pair = "full",
                                        .participants = ""};
    made->edges[0] = (ReportEdge){"partition1",
                                  "partition0",
                                  "full",
                                  "TMA mbarrier",
                                  "forward",
                                  "a, b (2 x 128x64xf16)",
                                  "",
                                  made->full_arrives[0].place,
                                  made->full_waits[0].place};
    made->edges[1] = (ReportEdge){"partition0",
                                  "partition1",
                                  "empty",
                                  "explicit mbarrier",
                                  "backward",
                                  "a, b",
                                  "",
                                  made->empty_arrives[0].place,
                                  made->empty_waits[0].place};
}

static void make_data(Made *made) {
    made->writers[0] = made_place("partition1.tma", "ttng.async_tma_copy_global_to_local", 64);
    made->readers[0] = made_place("partition0", "ttng.tc_gen5_mma", 44);
    made->notes[0] = "merged with b: one barrier, 32768 bytes";
    made->buffers[0] = (ReportBuffer){.name = "a",
                                      .value = "%a",
                                      .space = "shared",
                                      .storage = "!ttg.memdesc<3x128x64xf16>",
                                      .id = 8,
                                      .offset = -1,
                                      .depth = 3,
                                      .size = 49152,
                                      .writers = made->writers,
                                      .readers = made->readers,
                                      .writer_count = 1,
                                      .reader_count = 1,
                                      .barrier = "full, empty",
                                      .notes = made->notes,
                                      .note_count = 1,
                                      .aliases = made->aliases,
                                      .alias_count = 2};
    made->buffers[1] = made->buffers[0];
    made->buffers[1].name = "b";
    made->buffers[1].id = -1;
    made->rows[0] = (ReportRow){"bytes 0-16383",
                                "a",
                                "partition0",
                                made->readers[0],
                                "each iteration of the loop at line 41",
                                COVERAGE_ORDERED,
                                "partition1 waits for empty, IR line 62",
                                3};
    made->rows[1] = (ReportRow){"bytes 0-16383",
                                "b",
                                "default",
                                made->readers[0],
                                "once",
                                COVERAGE_MISSING,
                                "an edge from default to partition1",
                                1};
    made->coverage[0] = (ReportCoverage){
        "buffer.id 8 (shared, 16384 bytes)", "a", made->writers[0], "bytes 0-16383", true, made->rows, 2};
    made->limits[0] = (ReportLimit){"shared memory", "bytes", 98304, 232448};
    made->limits[1] = (ReportLimit){"warps", "", 6, 16};
}

static void make_deadlocks(Made *made) {
    made->could[0] = made_place("partition1", "ttng.arrive_barrier", 64);
    made->blocked[0] = (ReportBlocked){.place = made_place("default", "ttng.wait_barrier", 70),
                                       .waits_for = "full[1]",
                                       .parity = 0,
                                       .phase = 0,
                                       .pending = 1,
                                       .bytes = 0,
                                       .flips = -1,
                                       .could = made->could,
                                       .could_count = 1,
                                       .why = "nobody arrives",
                                       .held_by = ""};
    made->deadlocks[0] =
        (ReportDeadlock){"deadlock.cycle", "message", "why", "fix", "schedule", "launch", made->blocked, 1};
    made->candidates[0] = (ReportCandidate){"full", "2 waits and 1 arrive", "redundant", "why", made->could, 1};
}

/* `made` must stay where it is. */
static const Report *make_report(Made *made) {
    *made = (Made){0};
    make_verdict(made);
    make_partitions(made);
    make_barriers(made);
    make_data(made);
    make_deadlocks(made);
    made->report =
        (Report){.head = {"hangs", "deadlock.cycle", "default waits forever", "IR line 70", "a circle", "break it"},
                 .file = "k.ttgir",
                 .kernel = "MMA",
                 .form = "lowered",
                 .form_text = "form",
                 .target = "cuda:100",
                 .module = "3: after Pass",
                 .nothing = "",
                 .verdict = &made->verdict,
                 .launch = "grid 1x1x1",
                 .cluster = 0,
                 .partitions = made->partitions,
                 .partition_count = 3,
                 .barriers = made->barriers,
                 .barrier_count = 2,
                 .edges = made->edges,
                 .edge_count = 2,
                 .buffers = made->buffers,
                 .buffer_count = 2,
                 .deadlock_verdict = "found",
                 .deadlock_reason = "reason",
                 .deadlocks = made->deadlocks,
                 .deadlock_count = 1,
                 .candidates = made->candidates,
                 .candidate_count = 1,
                 .coverage = made->coverage,
                 .coverage_count = 1,
                 .coverage_note = "note",
                 .limits = made->limits,
                 .limit_count = 2};
    return &made->report;
}

#endif
