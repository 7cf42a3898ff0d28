/* A report made up by hand, of a kernel that never was: five partitions, six barriers and more, a deadlock, a race that
 * coverage shows, long names and hostile ones. For tests of everything that writes reports. */
#ifndef TESTS_UNIT_SAMPLE_REPORT_H
#define TESTS_UNIT_SAMPLE_REPORT_H

#include "finding/report.h"

#define SAMPLE_COUNT(array) (sizeof(array) / sizeof *(array))
#define SAMPLE_PLACE(who, what, more, at, ir, often)                                                            \
    {                                                                                                           \
        .partition = who, .op = what, .detail = more, .file = "/home/someone/kernels/attention.py", .line = at, \
        .column = 8, .ir_line = ir, .times = often                                                              \
    }
#define SAMPLE_NOWHERE \
    { .partition = "", .op = "", .detail = "", .file = "" }

static const ReportCount sample_default_ops[] = {{"tmem_load", 3}, {"tmem_store", 1}, {"mulf", 4}};
static const ReportCount sample_mma_ops[] = {{"tc_gen5_mma", 2}, {"tc_gen5_commit", 1}};
static const ReportCount sample_load_ops[] = {{"async_tma_copy_global_to_local", 3}};
static const ReportCount sample_softmax_ops[] = {{"tmem_load", 1}, {"exp2", 2}, {"reduce", 2}, {"tmem_store", 1}};
static const ReportCount sample_store_ops[] = {{"async_tma_copy_local_to_global", 1}};

static const ReportPartition sample_partitions[] = {
    {"default", "accumulator correction", "", sample_default_ops, 3, 4, 152, -1, 30},
    {"partition0", "MMA", "gemm", sample_mma_ops, 2, 1, 24, -1, 70},
    {"partition1", "TMA load (q, k, v)", "load", sample_load_ops, 1, 1, 24, -1, 110},
    {"partition2", "softmax", "computation", sample_softmax_ops, 4, 8, 192, -1, 140},
    {"partition3", "epilogue store", "epilogue", sample_store_ops, 1, 1, -1, -1, 190},
};

/* ---- Barriers ---- */

static const ReportSite sample_full_arrives[] = {
    {SAMPLE_PLACE("partition1", "ttng.barrier_expect", "32768 bytes", 41, 118, 12), "TMA mbarrier",
     "accumCnt(loop@112) % 3", "", "%kv_idx", "", 0, 1, -1, false, 32768, 0, ""},
};
static const ReportSite sample_full_waits[] = {
    {SAMPLE_PLACE("partition0", "ttng.wait_barrier", "", 55, 78, 11), "", "accumCnt(loop@74) % 3",
     "(accumCnt(loop@74) / 3) & 1", "%71 remsi 3", "extui (%72 andi 1)", 0, 1, 0, false, -1, 0, ""},
};
static const ReportSite sample_empty_arrives[] = {
    {SAMPLE_PLACE("partition0", "ttng.tc_gen5_commit", "", 61, 90, 11), "tcgen05 commit", "accumCnt(loop@74) % 3", "",
     "%71 remsi 3", "", 0, 1, -1, false, 1, 0, ""},
};
static const ReportSite sample_empty_waits[] = {
    {SAMPLE_PLACE("partition1", "ttng.wait_barrier", "", 40, 116, 12), "", "accumCnt(loop@112) % 3",
     "NOT ((accumCnt(loop@112) / 3) & 1)", "%kv_idx", "%kv_phase xori true", 0, 1, 1, true, -1, 0, ""},
    {SAMPLE_PLACE("partition1", "ttng.wait_barrier", "", 43, 124, 12), "", "accumCnt(loop@112) % 3",
     "(accumCnt(loop@112) / 3) & 1", "%kv_idx", "%kv_phase", 1, 2, 0, false, -1, 0, ""},
};
static const ReportSite sample_qk_arrives[] = {
    {SAMPLE_PLACE("partition0", "ttng.tc_gen5_mma", "", 57, 84, 11), "MMA barrier operand", "0", "", "", "", 0, 0, -1,
     false, 1, 0, ""},
};
static const ReportSite sample_qk_waits[] = {
    {SAMPLE_PLACE("partition2", "ttng.wait_barrier", "", 70, 146, 11), "", "0", "accumCnt(loop@142) & 1", "%c0",
     "%arg77", 0, 0, 0, false, -1, 0, ""},
};
static const ReportSite sample_alpha_arrives[] = {
    {SAMPLE_PLACE("partition2", "ttng.arrive_barrier", "", 82, 168, 10), "explicit mbarrier", "0", "", "", "", 0, 0, -1,
     false, 1, 0, ""},
};
static const ReportSite sample_alpha_waits[] = {
    {SAMPLE_PLACE("default", "ttng.wait_barrier", "", 90, 41, 11), "", "0", "accumCnt(loop@36) & 1", "", "", 0, 0, 0,
     false, -1, 0, ""},
};
static const ReportSite sample_named_arrives[] = {
    {SAMPLE_PLACE("default", "ttng.arrive_barrier_named", "128 of 256 threads", 95, 57, 1), "named barrier", "", "", "",
     "", 0, 0, -1, false, 128, 0, ""},
};
static const ReportSite sample_named_waits[] = {
    {SAMPLE_PLACE("partition3", "ttng.wait_barrier_named", "256 threads", 99, 195, 1), "", "", "", "", "", 0, 0, -1,
     false, -1, 0, ""},
};
static const ReportSite sample_long_arrives[] = {
    {SAMPLE_PLACE("partition3", "ttng.async_tma_store_wait", "", 102, 204, 1), "TMA store group", "0", "", "", "", 0, 0,
     -1, false, -1, 0, ""},
};

static const ReportBytes sample_bytes[] = {{"k", "64x128xf16", 16384, 120}, {"v", "64x64xf16", 8192, 126}};

static const ReportAlias sample_full_aliases[] = {
    {"%kv_full", "allocation", "default", 12, 0},
    {"%arg35", "argument of partition1", "partition1", 110, 1},
    {"%kv_full_5", "iter_arg of the loop at line 112", "partition1", 112, 2},
    {"%bar_7", "view [%kv_idx]", "partition1", 117, 3},
    {"%arg21", "argument of partition0", "partition0", 70, 1},
};
static const ReportAlias sample_k_aliases[] = {
    {"%k_bufs", "allocation", "default", 10, 0},
    {"%arg33", "argument of partition1", "partition1", 110, 1},
};
static const ReportPlace sample_full_others[] = {
    SAMPLE_PLACE("default", "ttng.init_barrier", "count 1", 20, 14, 3),
    SAMPLE_PLACE("default", "ttng.inval_barrier", "", 110, 215, 3),
};

static const char *const sample_kv[] = {"k", "v"};
static const char *const sample_qk[] = {"qk"};
static const char *const sample_alpha[] = {"alpha", "m_ij", "l_i0"};
static const char *const sample_staging[] = {"output_staging_for_the_second_half_of_the_tile"};
static const char *const sample_bytes_issue[] = {
    "the announced bytes are not those of the copies: a phase that lacks 8192 bytes never completes"};
static const char *const sample_depth_issue[] = {"depth 1: nothing overlaps"};
static const char *const sample_unused_issue[] = {"its arrivals are never waited for"};

static const ReportBarrier sample_barriers[] = {
    {.name = "kv_full",
     .value = "%kv_full",
     .kind = "mbarrier",
     .mechanism = "TMA mbarrier",
     .direction = "forward",
     .depth = 3,
     .count = 1,
     .index = "accumCnt % 3",
     .phase = "(accumCnt / 3) & 1",
     .offset = "",
     .expect_bytes = 32768,
     .data_bytes = 24576,
     .bytes = sample_bytes,
     .byte_count = 2,
     .iterations = 12,
     .flips = 11,
     .cadence = "each slot flips once in 3 iterations of the loop at line 112",
     .arrives = sample_full_arrives,
     .waits = sample_full_waits,
     .arrive_count = 1,
     .wait_count = 1,
     .others = sample_full_others,
     .other_count = 2,
     .protects = sample_kv,
     .protect_count = 2,
     .pair = "kv_empty",
     .participants = "",
     .aliases = sample_full_aliases,
     .alias_count = 5,
     .issues = sample_bytes_issue,
     .issue_count = 1},
    {.name = "kv_empty",
     .value = "%kv_empty",
     .kind = "mbarrier",
     .mechanism = "tcgen05 commit",
     .direction = "backward",
     .depth = 3,
     .count = 1,
     .index = "accumCnt % 3",
     .phase = "NOT ((accumCnt / 3) & 1)",
     .inverted = true,
     .offset = "k +0, v +1",
     .expect_bytes = -1,
     .data_bytes = -1,
     .iterations = 24,
     .flips = 11,
     .cadence = "each slot flips once in 3 iterations of the loop at line 74",
     .arrives = sample_empty_arrives,
     .waits = sample_empty_waits,
     .arrive_count = 1,
     .wait_count = 2,
     .protects = sample_kv,
     .protect_count = 2,
     .pair = "kv_full",
     .participants = ""},
    {.name = "qk_full",
     .value = "%17",
     .kind = "mbarrier",
     .mechanism = "MMA barrier operand",
     .direction = "forward",
     .depth = 1,
     .count = 1,
     .index = "0",
     .phase = "accumCnt & 1",
     .offset = "",
     .expect_bytes = -1,
     .data_bytes = -1,
     .iterations = 11,
     .flips = 11,
     .cadence = "the slot flips once in an iteration of the loop at line 74",
     .arrives = sample_qk_arrives,
     .waits = sample_qk_waits,
     .arrive_count = 1,
     .wait_count = 1,
     .protects = sample_qk,
     .protect_count = 1,
     .pair = "",
     .participants = "",
     .issues = sample_depth_issue,
     .issue_count = 1},
    {.name = "alpha_full",
     .value = "%19",
     .kind = "mbarrier",
     .mechanism = "explicit mbarrier",
     .direction = "forward",
     .depth = 1,
     .count = 1,
     .index = "0",
     .phase = "accumCnt & 1",
     .offset = "",
     .expect_bytes = -1,
     .data_bytes = -1,
     .iterations = 11,
     .flips = 10,
     .cadence = "",
     .arrives = sample_alpha_arrives,
     .waits = sample_alpha_waits,
     .arrive_count = 1,
     .wait_count = 1,
     .protects = sample_alpha,
     .protect_count = 3,
     .pair = "",
     .participants = ""},
    {.name = "named barrier 9",
     .value = "",
     .kind = "named",
     .mechanism = "named barrier",
     .direction = "both",
     .depth = -1,
     .count = 256,
     .index = "",
     .phase = "",
     .offset = "",
     .expect_bytes = -1,
     .data_bytes = -1,
     .iterations = 1,
     .flips = 1,
     .cadence = "once",
     .arrives = sample_named_arrives,
     .waits = sample_named_waits,
     .arrive_count = 1,
     .wait_count = 1,
     .protects = sample_staging,
     .protect_count = 1,
     .pair = "",
     .participants = ""},
    {.name = "output_staging_for_the_second_half_of_the_tile_is_stored",
     .value = "%output_staging_for_the_second_half_of_the_tile_is_stored_23",
     .kind = "planned",
     .mechanism = "TMA store group",
     .direction = "",
     .depth = 1,
     .count = -1,
     .index = "0",
     .phase = "",
     .offset = "",
     .expect_bytes = -1,
     .data_bytes = -1,
     .cadence = "",
     .arrives = sample_long_arrives,
     .arrive_count = 1,
     .protects = sample_staging,
     .protect_count = 1,
     .pair = "",
     .participants = "",
     .issues = sample_unused_issue,
     .issue_count = 1},
};

#define SAMPLE_EDGE(one, other, name, how, way, what, more, at, ir, at2, ir2)                                         \
    {                                                                                                                 \
        .from = one, .to = other, .barrier = name, .mechanism = how, .direction = way, .carries = what, .note = more, \
        .out = SAMPLE_PLACE(one, "", "", at, ir, 0), .in = SAMPLE_PLACE(other, "", "", at2, ir2, 0)                   \
    }

static const ReportEdge sample_edges[] = {
    SAMPLE_EDGE("partition1", "partition0", "kv_full", "TMA mbarrier", "forward", "k, v (3 x 64x128xf16)", "", 41, 118,
                55, 78),
    SAMPLE_EDGE("partition1", "partition0", "q_full", "TMA mbarrier", "forward", "q (128x128xf16)", "", 38, 113, 54,
                73),
    SAMPLE_EDGE("partition0", "partition2", "qk_full", "MMA barrier operand", "forward", "qk (128x128xf32)", "", 57, 84,
                70, 146),
    SAMPLE_EDGE("partition2", "default", "alpha_full", "explicit mbarrier", "forward",
                "alpha, m_ij, l_i0 (128x1xf32 each)", "", 82, 168, 90, 41),
    SAMPLE_EDGE("default", "partition3", "named barrier 9", "named barrier", "forward",
                "output_staging_for_the_second_half_of_the_tile (128x64xf16)", "", 95, 57, 99, 195),
    SAMPLE_EDGE("partition0", "default", "", "SSA value", "forward", "%trip_count (i32)", "", 0, 71, 0, 33),
    SAMPLE_EDGE("partition0", "partition1", "kv_empty", "tcgen05 commit", "backward", "k, v (3 x 64x128xf16)", "", 61,
                90, 40, 116),
    SAMPLE_EDGE("partition0", "partition0", "", "TMEM token", "forward", "acc (128x128xf32)", "", 57, 84, 57, 84),
    SAMPLE_EDGE("default", "partition0", "", "TMEM token", "backward", "acc (128x128xf32)",
                "unused token: that of the tmem_load of line 44 is not carried to the next iteration", 92, 44, 57, 84),
};

/* ---- Shared data ---- */

static const ReportPlace sample_k_writers[] = {
    SAMPLE_PLACE("partition1.tma", "ttng.async_tma_copy_global_to_local", "16384 bytes", 42, 120, 12)};
static const ReportPlace sample_k_readers[] = {
    SAMPLE_PLACE("partition0.tensor", "ttng.tc_gen5_mma", "operand B", 57, 84, 11)};
static const ReportPlace sample_qk_readers[] = {SAMPLE_PLACE("partition2", "ttng.tmem_load", "", 71, 147, 11)};
static const ReportPlace sample_alpha_writers[] = {SAMPLE_PLACE("partition2", "ttng.tmem_store", "", 81, 167, 11)};
static const ReportPlace sample_alpha_readers[] = {SAMPLE_PLACE("default", "ttng.tmem_load", "", 91, 42, 10)};
static const char *const sample_k_notes[] = {"merged with v: one barrier, 32768 bytes"};
static const char *const sample_alpha_notes[] = {"shares its memory with qk (columns 64-64)"};

static const ReportBuffer sample_buffers[] = {
    {"k", "%k_bufs", "shared", "!ttg.memdesc<3x64x128xf16, #shared, #smem, mutable>", 0, -1, 3, 49152, sample_k_writers,
     sample_k_readers, 1, 1, "kv_full, kv_empty", sample_k_notes, 1, sample_k_aliases, 2},
    {"qk", "%qk", "tensor", "!ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>", 8, -1, 1, 128,
     sample_k_readers, sample_qk_readers, 1, 1, "qk_full", NULL, 0, NULL, 0},
    {"alpha", "%alpha", "tensor", "!ttg.memdesc<128x1xf32, #tmem, #ttng.tensor_memory, mutable>", 8, 64, 1, 1,
     sample_alpha_writers, sample_alpha_readers, 1, 1, "alpha_full", sample_alpha_notes, 1, NULL, 0},
    {"trip_count", "%trip_count", "register", "i32", -1, -1, 1, -1, NULL, NULL, 0, 0, "", NULL, 0, NULL, 0},
};

/* ---- Deadlocks ---- */

static const ReportPlace sample_could_full[] = {SAMPLE_PLACE("partition1.tma", "ttng.async_tma_copy_global_to_local",
                                                             "has delivered its 24576 bytes; 32768 were announced", 42,
                                                             120, 12)};
static const ReportPlace sample_could_qk[] = {
    SAMPLE_PLACE("partition0", "ttng.tc_gen5_mma", "waits itself for kv_full[2], at IR line 78", 57, 84, 11)};

static const ReportBlocked sample_blocked[] = {
    {SAMPLE_PLACE("partition0", "ttng.wait_barrier", "", 55, 78, 0), "kv_full[2]", 1, 1, 0, 8192, 3, sample_could_full,
     1, "its phase has all arrivals, but 8192 of the announced bytes do not come", ""},
    {SAMPLE_PLACE("partition2", "ttng.wait_barrier", "", 70, 146, 0), "qk_full[0]", 1, 1, 1, 0, 11, sample_could_qk, 1,
     "1 arrival is pending, that of the MMA of partition0", "partition0"},
    {SAMPLE_PLACE("partition3", "ttng.wait_barrier_named", "", 99, 195, 0), "named barrier 9", -1, -1, -1, 0, -1, NULL,
     0, "128 of 256 threads have arrived", ""},
};

static const ReportDeadlock sample_deadlocks[] = {
    {.rule = "deadlock.bytes",
     .message = "partition0 waits forever for slot 2 of kv_full",
     .why = "the expect at IR line 118 announces 32768 bytes, the copies at IR lines 120 and 126 bring 24576",
     .fix = "announce 24576 bytes",
     .schedule = "in every schedule",
     .launch = "grid 32x1x1, N_CTX = 1024",
     .blocked = sample_blocked,
     .blocked_count = 3},
};

static const ReportPlace sample_redundant_places[] = {SAMPLE_PLACE("partition1", "ttng.wait_barrier", "", 40, 116, 12),
                                                      SAMPLE_PLACE("partition1", "ttng.wait_barrier", "", 43, 124, 12)};
static const ReportPlace sample_full_places[] = {SAMPLE_PLACE("partition0", "ttng.wait_barrier", "", 55, 78, 11)};

static const ReportCandidate sample_candidates[] = {
    {"kv_empty", "2 waits and 1 arrive in an iteration", "redundant",
     "the wait at IR line 116 asks for the phase that IR line 124 asked for an iteration before, and passes at once",
     sample_redundant_places, 2},
    {"kv_full", "12 arrives and 11 waits", "deadlock", "see deadlock.bytes", sample_full_places, 1},
};

/* ---- Coverage ---- */

static const ReportRow sample_qk_rows[] = {
    {"columns 0-127", "qk", "partition2", SAMPLE_PLACE("partition2", "ttng.tmem_load", "", 71, 147, 11),
     "each iteration of the loop at line 142", COVERAGE_ORDERED, "partition0 waits for p_full, IR line 80", 10},
    {"columns 64-64", "alpha", "default", SAMPLE_PLACE("default", "ttng.tmem_load", "", 91, 42, 10),
     "each iteration of the loop at line 36", COVERAGE_ORDERED, "partition0 waits for alpha_empty, IR line 81", 10},
    {"columns 65-65", "m_ij", "default", SAMPLE_PLACE("default", "ttng.tmem_load", "", 97, 60, 4),
     "each iteration of the loop at line 32", COVERAGE_MISSING,
     "no backward edge from default, after IR line 60, to partition0, before IR line 84", 3},
    {"columns 66-66", "l_i0", "default", SAMPLE_PLACE("default", "ttng.tmem_load", "", 98, 62, 4), "once",
     COVERAGE_UNSEEN, "", 0},
};
static const ReportRow sample_k_rows[] = {
    {"bytes 0-16383", "k", "partition0.tensor", SAMPLE_PLACE("partition0", "ttng.tc_gen5_mma", "", 57, 84, 11),
     "each iteration of the loop at line 74", COVERAGE_ORDERED, "partition1 waits for kv_empty, IR line 116", 9},
    {"bytes 0-8191", "output_staging_for_the_second_half_of_the_tile", "partition3",
     SAMPLE_PLACE("partition3", "ttng.async_tma_copy_local_to_global", "", 101, 200, 1), "once", COVERAGE_PLANNED,
     "a backward edge from partition3 to partition1", 0},
};
static const ReportCoverage sample_coverage[] = {
    {"buffer.id 8 (tensor, 128 columns)", "qk",
     SAMPLE_PLACE("partition0.tensor", "ttng.tc_gen5_mma", "overwrites: useD is false", 57, 84, 11), "columns 0-127",
     true, sample_qk_rows, 4},
    {"%k_bufs (shared, 3 x 16384 bytes)", "k",
     SAMPLE_PLACE("partition1.tma", "ttng.async_tma_copy_global_to_local", "", 42, 120, 12), "bytes 0-16383", true,
     sample_k_rows, 2},
};

static const ReportLimit sample_limits[] = {{"shared memory", "bytes", 180224, 232448},
                                            {"tensor memory", "columns", 384, 512},
                                            {"warps", "", 15, 16},
                                            {"registers", "", 66048, 65536}};

/* ---- All of it ---- */

static FindingPlace sample_finding_places[] = {
    {"waits", "partition0", "ttng.wait_barrier", "", "attention.py", 55, 8, 78, 5, NULL},
    {"writes", "partition0.tensor", "ttng.tc_gen5_mma", "", "attention.py", 57, 8, 84, 5, NULL},
};
static Finding sample_findings[] = {
    {.rule = RULE_DEADLOCK_BYTES,
     .space = "barrier",
     .message = "partition0 waits forever for slot 2 of kv_full",
     .why = "32768 bytes are announced, 24576 come",
     .fix = "announce 24576 bytes",
     .launch = "grid 32x1x1, N_CTX = 1024",
     .witness = "",
     .fingerprint = "",
     .schedule = "in every schedule",
     .places = &sample_finding_places[0],
     .place_count = 1,
     .times = 1},
    {.rule = RULE_RACE_WAR,
     .space = "tensor",
     .message = "partition0.tensor overwrites columns 65-65 of m_ij, which default may still read",
     .why = "no chain of barriers leads from the read to the write",
     .fix = "let partition0 wait for default before IR line 74",
     .launch = "grid 32x1x1, N_CTX = 1024",
     .witness = "",
     .fingerprint = "",
     .schedule = "",
     .places = &sample_finding_places[1],
     .place_count = 1,
     .times = 3},
};
static Incomplete sample_incomplete[] = {
    {.reason = "the assembly is not understood", .op = "tt.elementwise_inline_asm", .ir_line = 63}};
static const char *sample_notes[] = {"loads from memory at line 12 were given 3 values each"};
static LaunchRun sample_launches[] = {
    {.text = "grid 32x1x1, N_CTX = 1024", .chosen = true, .ctas = 32, .schedules = 4, .events = 12345}};
static const Verdict sample_verdict = {.kernel = "attention",
                                       .kind = VERDICT_FINDINGS,
                                       .findings = sample_findings,
                                       .finding_count = 2,
                                       .incomplete = sample_incomplete,
                                       .incomplete_count = 1,
                                       .launches = sample_launches,
                                       .launch_count = 1,
                                       .notes = sample_notes,
                                       .note_count = 1};

static const ReportHead sample_head = {.verdict = "hangs",
                                       .rule = "deadlock.no-producer",
                                       .what = "partition0 waits forever for full[0]: nothing arrives on it",
                                       .where = "attention.py:55 (IR line 78), ttng.wait_barrier of partition0",
                                       .why = "The wait needs phase 0 to complete.",
                                       .fix = "Add the arrive."};

static inline Report sample_report(void) {
    return (Report){
        .head = sample_head,
        .file = "attention.ttgir",
        .kernel = "attention",
        .form = "lowered",
        .form_text = "Barriers are mbarriers in shared memory; slots, phases and edges are those that the run showed.",
        .target = "cuda:100",
        .module = "3: after TritonGPUPipeline",
        .nothing = "",
        .verdict = &sample_verdict,
        .launch = "grid 32x1x1, N_CTX = 1024",
        .cluster = 2,
        .partitions = sample_partitions,
        .partition_count = SAMPLE_COUNT(sample_partitions),
        .barriers = sample_barriers,
        .barrier_count = SAMPLE_COUNT(sample_barriers),
        .edges = sample_edges,
        .edge_count = SAMPLE_COUNT(sample_edges),
        .buffers = sample_buffers,
        .buffer_count = SAMPLE_COUNT(sample_buffers),
        .deadlock_verdict = "found",
        .deadlock_reason = "slot 2 of kv_full never completes its phase 3: its bytes do not come to zero, and everyone "
                           "else waits for what partition0 would do next",
        .deadlocks = sample_deadlocks,
        .deadlock_count = SAMPLE_COUNT(sample_deadlocks),
        .candidates = sample_candidates,
        .candidate_count = SAMPLE_COUNT(sample_candidates),
        .coverage = sample_coverage,
        .coverage_count = SAMPLE_COUNT(sample_coverage),
        .coverage_note = "Made over 4 schedules of 1 launch.",
        .limits = sample_limits,
        .limit_count = SAMPLE_COUNT(sample_limits),
    };
}

/* Of a kernel of which all sections are empty. */
static inline Report sample_empty_report(void) {
    static const Verdict clean = {.kernel = "copy", .kind = VERDICT_CLEAN};
    return (Report){.head = {"clean", "", "", "", "", ""},
                    .file = "copy.ttgir",
                    .kernel = "copy",
                    .form = "plain",
                    .form_text = "",
                    .target = "",
                    .module = "",
                    .nothing = "",
                    .verdict = &clean,
                    .launch = "",
                    .cluster = 1,
                    .deadlock_verdict = "none",
                    .deadlock_reason = "",
                    .coverage_note = ""};
}

#endif
