/* analyze/coverage: rings, packed columns, chains of partitions and asynchronous reads, each with its back edge and
 * without. */
#include "running.h"

#include "analyze/report/coverage.h"

/* ---- Kernels ---------------------------------------------------------------------------------------- */

#define HEAD                                                                                                           \
    "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"                             \
    "#tiles = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>\n"               \
    "#smem = #ttg.shared_memory\n"                                                                                     \
    "#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>\n"                                \
    "#column = #ttng.tensor_memory_encoding<blockM = 128, blockN = 1, colStride = 1>\n"                                \
    "#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>\n"          \
    "#rows = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>\n" \
    "!barrier = !ttg.memdesc<1xi64, #shared, #smem, mutable>\n"                                                        \
    "!barriers = !ttg.memdesc<2x1xi64, #shared, #smem, mutable>\n"                                                     \
    "!tile = !ttg.memdesc<64xf16, #shared, #smem, mutable>\n"                                                          \
    "!ring = !ttg.memdesc<2x64xf16, #shared, #smem, mutable>\n"                                                        \
    "!desc = !tt.tensordesc<tensor<64xf16, #shared>>\n"                                                                \
    "!operand = !ttg.memdesc<128x128xf16, #tiles, #smem, mutable>\n"                                                   \
    "!operand_desc = !tt.tensordesc<tensor<128x128xf16, #tiles>>\n"                                                    \
    "!acc = !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>\n"                                          \
    "!part = !ttg.memdesc<128x1xf32, #column, #ttng.tensor_memory, mutable, 128x128>\n"                                \
    "!column = !ttg.memdesc<128x1xf32, #column, #ttng.tensor_memory, mutable>\n"                                       \
    "!vector = tensor<128x1xf32, #rows>\n"                                                                             \
    "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, ttg.target = \"cuda:100\", "          \
    "\"ttg.threads-per-warp\" = 32 : i32} {\n"                                                                         \
    "  tt.func public @kernel(%desc: !desc, %wide: !operand_desc) {\n"
#define NUMBERS                           \
    "    %c0 = arith.constant 0 : i32\n"  \
    "    %c1 = arith.constant 1 : i32\n"  \
    "    %c2 = arith.constant 2 : i32\n"  \
    "    %c6 = arith.constant 6 : i32\n"  \
    "    %true = arith.constant true\n"   \
    "    %false = arith.constant false\n" \
    "    %data = arith.constant dense<0.0> : tensor<64xf16, #blocked>\n"
#define TAIL          "    tt.return\n  }\n}\n"
#define BARRIER(name) "    %" #name " = ttg.local_alloc : () -> !barrier\n" INIT(name, 1)

/* Slot and phase of iteration %i of a ring of two. */
#define TURN                                      \
    "    %slot = arith.remsi %i, %c2 : i32\n"     \
    "    %turn = arith.divsi %i, %c2 : i32\n"     \
    "    %phase = arith.remsi %turn, %c2 : i32\n" \
    "    %free = arith.xori %phase, %c1 : i32\n"
#define AT(name, of, from, to) "    %" #name " = ttg.memdesc_index %" #of "[%slot] : " from " -> " to "\n"

/* A ring that the default agent fills by copies and partition0 reads; `wait` and `release` are its back edge. */
#define RING(wait, release)                                                                                           \
    HEAD NUMBERS                                                                                                      \
        "    %ring = ttg.local_alloc : () -> !ring\n"                                                                 \
        "    %full = ttg.local_alloc : () -> !barriers\n"                                                             \
        "    %empty = ttg.local_alloc : () -> !barriers\n"                                                            \
        "    %f0 = ttg.memdesc_index %full[%c0] : !barriers -> !barrier\n"                                            \
        "    %f1 = ttg.memdesc_index %full[%c1] : !barriers -> !barrier\n"                                            \
        "    %e0 = ttg.memdesc_index %empty[%c0] : !barriers -> !barrier\n"                                           \
        "    %e1 = ttg.memdesc_index %empty[%c1] : !barriers -> !barrier\n" INIT(f0, 1) INIT(f1, 1) INIT(e0, 1) INIT( \
            e1,                                                                                                       \
            1) "    ttg.warp_specialize(%ring, %full, %empty)\n"                                                      \
               "    default {\n"                                                                                      \
               "    scf.for %i = %c0 to %c6 step %c1 : i32 {\n" TURN                                                  \
               AT(one, ring, "!ring", "!tile") AT(f, full, "!barriers", "!barrier") AT(e, empty, "!barriers",         \
                                                                                       "!barrier") wait               \
               EXPECT(                                                                                                \
                   f,                                                                                                 \
                   128) "    ttng.async_tma_copy_global_to_local %desc[%c0] %one, %f, %true : !desc, !barrier -> "    \
                        "!tile\n"                                                                                     \
                        "    }\n      ttg.warp_yield\n    }\n"                                                        \
                        "    partition0(%ring: !ring, %full: !barriers, %empty: !barriers) num_warps(4) {\n" NUMBERS  \
                        "    scf.for %i = %c0 to %c6 step %c1 : i32 {\n" TURN                                         \
                        AT(one, ring, "!ring", "!tile") AT(f, full, "!barriers", "!barrier") AT(                      \
                            e, empty, "!barriers",                                                                    \
                            "!barrier") "    ttng.wait_barrier %f, %phase : !barrier\n"                               \
                                        "    %x = ttg.local_load %one : !tile -> tensor<64xf16, #blocked>\n" release  \
                                        "    }\n      ttg.warp_return\n    } : (!ring, !barriers, !barriers) -> "     \
                                        "()\n" TAIL
#define RING_WAIT    "    ttng.wait_barrier %e, %free : !barrier\n"
#define RING_RELEASE "    ttng.arrive_barrier %e, 1 : !barrier\n"

/* One accumulator, with three columns of it under other names: partition0 writes all by a product that does not
 * accumulate, waiting for `waits` before; the default agent stores and reads the columns, each with a barrier. */
#define COLUMN(name, at)                                                                  \
    "    %" #name "_part = ttng.tmem_subslice %acc {N = " #at " : i32} : !acc -> !part\n" \
    "    %" #name " = ttg.memdesc_reinterpret %" #name "_part : !part -> !column\n"
#define LOAD(name) "    %" #name "_x = ttng.tmem_load %" #name " : !column -> !vector\n"
#define PACKED(releases, waits)                                                                                       \
    HEAD NUMBERS                                                                                                      \
        "    %acc = ttng.tmem_alloc : () -> !acc\n"                                                                   \
        "    %a = ttg.local_alloc : () -> !operand\n" BARRIER(done) BARRIER(alpha_free) BARRIER(m_free)               \
            BARRIER(l_free) "    ttg.warp_specialize(%acc, %a, %done, %alpha_free, %m_free, %l_free)\n"               \
                            "    default {\n" COLUMN(alpha, 64) COLUMN(m, 65) COLUMN(                                 \
                                l, 66) "    scf.for %i = %c0 to %c6 step %c1 : i32 {\n"                               \
                                       "    %phase = arith.remsi %i, %c2 : i32\n"                                     \
                                       "    ttng.wait_barrier %done, %phase : !barrier\n" releases                    \
                                       "    }\n      ttg.warp_yield\n    }\n"                                         \
                                       "    partition0(%acc: !acc, %a: !operand, %done: !barrier, %alpha_free: "      \
                                       "!barrier, %m_free: "                                                          \
                                       "!barrier, %l_free: !barrier) num_warps(1) {\n" NUMBERS                        \
                                       "    scf.for %i = %c0 to %c6 step %c1 : i32 {\n"                               \
                                       "    %next = arith.addi %i, %c1 : i32\n"                                       \
                                       "    %phase = arith.remsi %next, %c2 : i32\n" waits                            \
                                       "    ttng.tc_gen5_mma %a, %a, %acc, %false, %true, %done[%true] {is_async} : " \
                                       "!operand, !operand, "                                                         \
                                       "!acc, !barrier\n"                                                             \
                                       "    }\n      ttg.warp_return\n"                                               \
                                       "    } : (!acc, !operand, !barrier, !barrier, !barrier, !barrier) -> ()\n" TAIL
#define FREE(name)      "    ttng.arrive_barrier %" #name "_free, 1 : !barrier\n"
#define WAIT_FREE(name) "    ttng.wait_barrier %" #name "_free, %phase : !barrier\n"
#define READ_COLUMNS    LOAD(alpha) FREE(alpha) LOAD(m) FREE(m) LOAD(l) FREE(l)

/* ---- Running ---------------------------------------------------------------------------------------- */

typedef struct Covered {
    Running *running;
    Coverage *coverage;
    Report report;
    const MissingEdge *missing;
    size_t missing_count;
    RunEnd end;
} Covered;

static PartitionForm form_of(const Op *function) {
    for (const Op *op = function; op; op = op_next_in_walk(op, function))
        if (partitions_of(op).form != PARTITION_NONE)
            return partitions_of(op).form;
    return PARTITION_NONE;
}

static void report(Covered *covered, Coverage *coverage) {
    Running *running = covered->running;
    Module *module = &running->reading->module;
    Builder builder = {.module = module,
                       .function = running->function,
                       .verdict = &running->verdict,
                       .arena = &module->arena,
                       .names = names_create(&module->arena, module, running->function),
                       .report = &covered->report,
                       .form = form_of(running->function),
                       .machine = running->machine};
    covered->missing = coverage_report(coverage, &builder, &covered->missing_count);
}

static Covered cover_with(const char *text, Schedule schedule, bool out_of_order) {
    Covered covered = {.running = compile_whole(text)};
    Machine *machine = covered.running->machine;
    machine->out_of_order = out_of_order;
    machine_launch(machine, &covered.running->launch);
    covered.coverage = coverage_create(&covered.running->reading->module.arena, machine, NULL);
    Rerun rerun = {.launch = &covered.running->launch, .schedule = schedule, .out_of_order = out_of_order};
    coverage_start(covered.coverage, &rerun);
    machine->observe = coverage_observe;
    machine->observer = covered.coverage;
    covered.end = schedule_run(machine, 0, &schedule);
    machine->observe = NULL;
    report(&covered, covered.coverage);
    return covered;
}

static Covered cover(const char *text) {
    Covered covered = cover_with(text, (Schedule){.kind = SCHEDULE_EAGER}, false);
    assert_int_equal(covered.end, RUN_COMPLETE);
    return covered;
}

/* One line for each row: what is written by whom, what is read by whom, and how it is ordered; IR lines are left out.
 */
static char *rows_of(const Covered *covered) {
    static const char *const orders[] = {"ordered", "MISSING", "planned", "unseen"}; /* ORDER ReportOrder */
    Text text = {0};
    for (size_t i = 0; i < covered->report.coverage_count; i++) {
        const ReportCoverage *table = &covered->report.coverage[i];
        text_addf(&text, "%s writes %s%s of %s\n", table->writer.partition, table->extent, table->whole ? ", all," : "",
                  table->storage);
        for (size_t k = 0; k < table->row_count; k++) {
            const ReportRow *row = &table->rows[k];
            text_addf(&text, "  %s %s, %s: %s", row->extent, row->name, row->read.partition, orders[row->order]);
            for (const char *at = row->order == COVERAGE_ORDERED ? row->by : ""; *at; at++) {
                text_addf(&text, "%s", at == row->by ? ", " : "");
                const char *line = strstr(at, ", IR line ");
                if (line == at) {
                    at += strlen(", IR line ");
                    at += strspn(at, "0123456789");
                }
                if (!*at)
                    break;
                text_char(&text, *at);
            }
            text_char(&text, '\n');
        }
    }
    text_char(&text, 0);
    return text.data;
}

static void assert_covered(Covered covered, const char *expected) {
    char *found = rows_of(&covered);
    assert_string_equal(found, expected);
    free(found);
    end_kernel(covered.running);
}

#define assert_rows(text, expected) assert_covered(cover(text), expected)

/* ---- Rings ------------------------------------------------------------------------------------------ */

static void a_ring_is_ordered_by_the_wait_for_its_empty_barrier(void **state) {
    (void)state;
    assert_rows(RING(RING_WAIT, RING_RELEASE),
                "default.tma writes bytes 0-127, all, of %ring (shared, 2 slots of 128 bytes)\n"
                "  bytes 0-127 ring, partition0: ordered, default waits for empty\n");
}

/* Nothing holds the writer: it overwrites what was read, or, where it is faster, what is about to be; and a wait by
 * parity may have gone on with the first of the phases that are complete by then. That the reader hangs in the end is
 * another matter. */
static void a_ring_without_back_edge_is_missing_it(void **state) {
    (void)state;
    static const char missing[] = "default.tma writes bytes 0-127, all, of %ring (shared, 2 slots of 128 bytes)\n"
                                  "  bytes 0-127 ring, partition0: MISSING\n";
    static const Schedule schedules[] = {{.kind = SCHEDULE_EAGER}, {.kind = SCHEDULE_ROUND_ROBIN, .immediate = true}};
    for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++) {
        assert_covered(cover_with(RING("", ""), schedules[i], false), missing);
        assert_covered(cover_with(RING("", RING_RELEASE), schedules[i], false), missing);
    }
}

static void a_release_before_the_read_is_none(void **state) {
    (void)state;
    const char *late = "    %x = ttg.local_load %one";
    char *text = strdup(RING(RING_WAIT, "    ttng.arrive_barrier %e, 1 : !barrier // release\n"));
    assert_non_null(text);
    /* The two lines change places. */
    char *load = strstr(text, late), *release = strstr(text, "    ttng.arrive_barrier %e");
    size_t load_size = (size_t)(release - load), release_size = (size_t)(strchr(release, '\n') + 1 - release);
    char *first = strndup(load, load_size);
    memmove(load, release, release_size);
    memcpy(load + release_size, first, load_size);
    assert_rows(text, "default.tma writes bytes 0-127, all, of %ring (shared, 2 slots of 128 bytes)\n"
                      "  bytes 0-127 ring, partition0: MISSING\n");
    free(first);
    free(text);
}

/* ---- Packed columns --------------------------------------------------------------------------------- */

#define PACKED_TABLE(alpha, m, l)                                                                                  \
    "partition0.tensor writes columns 0-127, all, of %acc (tensor, 128 columns)\n"                                 \
    "  columns 64-64 alpha, default: " alpha "\n  columns 65-65 m, default: " m "\n  columns 66-66 l, default: " l \
    "\n"
#define ORDERED_BY(name) "ordered, partition0 waits for " #name "_free[0]"

static void every_column_that_a_product_overwrites_has_a_row(void **state) {
    (void)state;
    assert_rows(PACKED(READ_COLUMNS, WAIT_FREE(alpha) WAIT_FREE(m) WAIT_FREE(l)),
                PACKED_TABLE(ORDERED_BY(alpha), ORDERED_BY(m), ORDERED_BY(l)));
}

static void exactly_the_column_without_back_wait_is_missing(void **state) {
    (void)state;
    assert_rows(PACKED(READ_COLUMNS, WAIT_FREE(alpha) WAIT_FREE(m)),
                PACKED_TABLE(ORDERED_BY(alpha), ORDERED_BY(m), "MISSING"));
    /* What is read before another's release is covered by that. */
    assert_rows(PACKED(READ_COLUMNS, WAIT_FREE(l)), PACKED_TABLE(ORDERED_BY(l), ORDERED_BY(l), ORDERED_BY(l)));
    assert_rows(PACKED(READ_COLUMNS, WAIT_FREE(m)), PACKED_TABLE(ORDERED_BY(m), ORDERED_BY(m), "MISSING"));
}

static void what_is_missing_becomes_a_finding(void **state) {
    (void)state;
    Covered covered = cover(PACKED(READ_COLUMNS, WAIT_FREE(alpha) WAIT_FREE(m)));
    const Verdict *verdict = &covered.running->verdict;
    assert_int_equal(covered.missing_count, 1);
    assert_int_equal(verdict->finding_count, 1);
    assert_int_equal(covered.missing[0].finding, 0);
    assert_ptr_equal(covered.missing[0].rerun.launch, &covered.running->launch);
    const Finding *finding = &verdict->findings[0];
    assert_string_equal(rule_of(finding->rule)->id, "coverage.missing-back-edge");
    assert_string_equal(finding->space, "tensor");
    assert_int_equal(finding->place_count, 2);
    assert_string_equal(finding->places[0].op, "ttng.tc_gen5_mma");
    assert_string_equal(finding->places[0].agent, "partition0.tensor");
    assert_string_equal(finding->places[1].op, "ttng.tmem_load");
    assert_string_equal(finding->places[1].agent, "default");
    const ReportRow *row = &covered.report.coverage[0].rows[2];
    assert_int_equal(finding->places[1].ir_line, row->read.ir_line);
    assert_int_equal(finding->places[0].ir_line, covered.report.coverage[0].writer.ir_line);
    assert_non_null(strstr(finding->message, "columns 66-66 of %acc"));
    assert_non_null(strstr(finding->why, "different names of the same memory"));
    assert_non_null(strstr(finding->fix, "Make partition0 wait"));
    assert_non_null(strstr(row->by, "no wait of partition0 before IR line"));
    end_kernel(covered.running);
}

/* The race that was found already says it. */
static void a_race_of_the_same_two_ops_is_not_told_again(void **state) {
    (void)state;
    Covered covered = cover(PACKED(READ_COLUMNS, WAIT_FREE(alpha) WAIT_FREE(m)));
    Verdict *verdict = &covered.running->verdict;
    Finding first = verdict->findings[0];
    verdict->findings[0].rule = RULE_RACE_WAR;
    Covered again = {.running = covered.running};
    report(&again, covered.coverage);
    assert_int_equal(again.missing_count, 0);
    assert_int_equal(verdict->finding_count, 1);
    verdict->findings[0].rule = RULE_DEADLOCK_PARITY;
    report(&again, covered.coverage);
    assert_int_equal(again.missing_count, 1);
    assert_string_equal(verdict->findings[1].message, first.message);
    end_kernel(covered.running);
}

/* Never overwritten after its read, but it would be. */
static void a_sibling_that_is_only_read_last_is_not_seen(void **state) {
    (void)state;
    assert_rows(
        HEAD NUMBERS
        "    %acc = ttng.tmem_alloc : () -> !acc\n"
        "    %a = ttg.local_alloc : () -> !operand\n" BARRIER(done) COLUMN(
            alpha,
            64) "    ttng.tc_gen5_mma %a, %a, %acc, %false, %true, %done[%true] {is_async} : !operand, !operand, "
                "!acc, !barrier\n" WAIT(done, 0) LOAD(alpha) TAIL,
        "kernel.tensor writes columns 0-127, all, of %acc (tensor, 128 columns)\n"
        "  columns 64-64 alpha, kernel: unseen\n");
}

/* ---- Chains ----------------------------------------------------------------------------------------- */

/* partition0 reads and tells partition1, which tells the default agent, which overwrites. */
#define CHAIN(told)                                                                                                    \
    HEAD NUMBERS "    %one = ttg.local_alloc : () -> !tile\n" BARRIER(full) BARRIER(read) BARRIER(                     \
        go) "    ttg.warp_specialize(%one, %full, %read, %go)\n"                                                       \
            "    default {\n"                                                                                          \
            "    ttg.local_store %data, %one : tensor<64xf16, #blocked> -> !tile\n" ARRIVE(full)                       \
                WAIT(go, 0) "    ttg.local_store %data, %one : tensor<64xf16, #blocked> -> !tile\n"                    \
                            "      ttg.warp_yield\n    }\n"                                                            \
                            "    partition0(%one: !tile, %full: !barrier, %read: !barrier, %go: !barrier) "            \
                            "num_warps(4) {\n" NUMBERS                                                                 \
                            WAIT(full, 0) "    %x = ttg.local_load %one : !tile -> tensor<64xf16, #blocked>\n" ARRIVE( \
                                read) "      ttg.warp_return\n    }\n"                                                 \
                                      "    partition1(%one: !tile, %full: !barrier, %read: !barrier, %go: !barrier) "  \
                                      "num_warps(4) {\n" NUMBERS told                                                  \
                                      ARRIVE(go) "      ttg.warp_return\n"                                             \
                                                 "    } : (!tile, !barrier, !barrier, !barrier) -> ()\n" TAIL

static void an_order_through_a_third_partition_is_one(void **state) {
    (void)state;
    assert_rows(CHAIN(WAIT(read, 0)),
                "default writes bytes 0-127, all, of %one (shared, 128 bytes)\n"
                "  bytes 0-127 one, partition0: ordered, default waits for go[0], through partition1\n");
    assert_rows(CHAIN(""), "default writes bytes 0-127, all, of %one (shared, 128 bytes)\n"
                           "  bytes 0-127 one, partition0: MISSING\n");
}

/* ---- One agent, asynchronous reads ------------------------------------------------------------------ */

/* A product reads what a copy of the same agent fills again. */
#define PRODUCT(between)                                                                                             \
    HEAD NUMBERS                                                                                                     \
        "    %acc = ttng.tmem_alloc : () -> !acc\n"                                                                  \
        "    %a = ttg.local_alloc : () -> !operand\n" BARRIER(full) BARRIER(                                         \
            done) "    ttng.tc_gen5_mma %a, %a, %acc, %false, %true, %done[%true] {is_async} : !operand, !operand, " \
                  "!acc, !barrier\n" between                                                                         \
                  EXPECT(full, 32768) "    ttng.async_tma_copy_global_to_local %wide[%c0, %c0] %a, %full, %true : "  \
                                      "!operand_desc, "                                                              \
                                      "!barrier -> !operand\n" TAIL

static void a_product_of_the_same_agent_is_not_over_by_program_order(void **state) {
    (void)state;
    static const char table[] = "kernel.tma writes bytes 0-32767, all, of %a (shared, 32768 bytes)\n"
                                "  bytes 0-32767 a, kernel.tensor: ";
    Text ordered = {0};
    text_addf(&ordered, "%sordered, kernel waits for done[0]\n", table);
    text_char(&ordered, 0);
    assert_rows(PRODUCT(WAIT(done, 0)), ordered.data);
    text_free(&ordered);
    Text missing = {0};
    text_addf(&missing, "%sMISSING\n", table);
    text_char(&missing, 0);
    assert_rows(PRODUCT(""), missing.data);
    text_free(&missing);
}

/* A product reads the columns that the next one writes: ordered where the tensor core works in the order of issue. */
static void products_follow_each_other_unless_only_waits_order_them(void **state) {
    (void)state;
    static const char text[] =
        HEAD NUMBERS "    %acc = ttng.tmem_alloc : () -> !acc\n"
                     "    %p = ttng.tmem_alloc : () -> !ttg.memdesc<128x128xf16, #tmem, #ttng.tensor_memory, mutable>\n"
                     "    %a = ttg.local_alloc : () -> !operand\n" BARRIER(
                         done) "    %q = ttg.memdesc_reinterpret %acc : !acc -> !ttg.memdesc<128x128xf16, #tmem, "
                               "#ttng.tensor_memory, "
                               "mutable>\n"
                               "    %other = ttng.tmem_alloc : () -> !acc\n"
                               "    ttng.tc_gen5_mma %q, %a, %other, %false, %true {is_async} : "
                               "!ttg.memdesc<128x128xf16, #tmem, #ttng.tensor_memory, mutable>, !operand, !acc\n"
                               "    ttng.tc_gen5_mma %a, %a, %acc, %false, %true, %done[%true] {is_async} : !operand, "
                               "!operand, !acc, "
                               "!barrier\n" TAIL;
    Schedule eager = {.kind = SCHEDULE_EAGER};
    assert_covered(cover_with(text, eager, false),
                   "kernel.tensor writes columns 0-127, all, of %acc (tensor, 128 columns)\n"
                   "  columns 0-63 q, kernel.tensor: ordered, order of issue on the tensor core\n");
    assert_covered(cover_with(text, eager, true),
                   "kernel.tensor writes columns 0-127, all, of %acc (tensor, 128 columns)\n"
                   "  columns 0-63 q, kernel.tensor: MISSING\n");
}

/* Two stores from one buffer each; the second wait leaves `pendings` of them. */
#define STORES(pendings)                                                                    \
    HEAD NUMBERS "    %one = ttg.local_alloc : () -> !tile\n"                               \
                 "    %two = ttg.local_alloc : () -> !tile\n"                               \
                 "    ttng.async_tma_copy_local_to_global %desc[%c0] %one : !desc, !tile\n" \
                 "    ttng.async_tma_copy_local_to_global %desc[%c0] %two : !desc, !tile\n" \
                 "    ttng.async_tma_store_wait {pendings = " #pendings " : i32}\n"         \
                 "    ttg.local_store %data, %one : tensor<64xf16, #blocked> -> !tile\n" TAIL

static void a_store_is_over_when_few_enough_are_pending(void **state) {
    (void)state;
    static const char ordered[] = "kernel writes bytes 0-127, all, of %one (shared, 128 bytes)\n"
                                  "  bytes 0-127 one, kernel.tma: ordered, kernel waits for its TMA stores\n";
    assert_rows(STORES(0), ordered);
    assert_rows(STORES(1), ordered);
    assert_rows(STORES(2), "kernel writes bytes 0-127, all, of %one (shared, 128 bytes)\n"
                           "  bytes 0-127 one, kernel.tma: MISSING\n");
}

static void what_an_agent_reads_itself_is_over_by_program_order(void **state) {
    (void)state;
    assert_rows(HEAD NUMBERS "    %one = ttg.local_alloc : () -> !tile\n"
                             "    %x = ttg.local_load %one : !tile -> tensor<64xf16, #blocked>\n"
                             "    ttg.local_store %x, %one : tensor<64xf16, #blocked> -> !tile\n" TAIL,
                "kernel writes bytes 0-127, all, of %one (shared, 128 bytes)\n"
                "  bytes 0-127 one, kernel: ordered, program order\n");
}

/* ---- Allocations that share memory ------------------------------------------------------------------ */

static void allocations_of_one_buffer_id_are_one_storage(void **state) {
    (void)state;
    assert_rows(HEAD NUMBERS
                "    %one = ttg.local_alloc {buffer.id = 3 : i32} : () -> !ring\n"
                "    %two = ttg.local_alloc {buffer.id = 3 : i32, buffer.offset = 128 : i32} : () -> !tile\n"
                "    %x = ttg.local_load %two : !tile -> tensor<64xf16, #blocked>\n"
                "    %slot0 = ttg.memdesc_index %one[%c0] : !ring -> !tile\n"
                "    %slot1 = ttg.memdesc_index %one[%c1] : !ring -> !tile\n"
                "    ttg.local_store %x, %slot0 : tensor<64xf16, #blocked> -> !tile\n"
                "    ttg.local_store %x, %slot1 : tensor<64xf16, #blocked> -> !tile\n" TAIL,
                "kernel writes bytes 0-127, all, of buffer.id 3 (shared, 2 slots of 128 bytes)\n"
                "  bytes 0-127 two, kernel: ordered, program order\n");
}

/* ---- Notes ------------------------------------------------------------------------------------------ */

static void what_was_not_run_is_said(void **state) {
    (void)state;
    Covered nothing = {.running = compile_whole(CHAIN(""))};
    report(&nothing, NULL);
    assert_int_equal(nothing.report.coverage_count, 0);
    assert_non_null(strstr(nothing.report.coverage_note, "Nothing was run"));
    Coverage *coverage = coverage_create(&nothing.running->reading->module.arena, nothing.running->machine, NULL);
    Rerun lazy = {.launch = &nothing.running->launch, .schedule = {.kind = SCHEDULE_LAZY}};
    coverage_start(coverage, &lazy);
    report(&nothing, coverage);
    assert_non_null(strstr(nothing.report.coverage_note, "Nothing was run"));
    end_kernel(nothing.running);
    Covered covered = cover(CHAIN(WAIT(read, 0)));
    assert_string_equal(covered.report.coverage_note, "Decided by happens-before over 1 run of 1 launch.");
    assert_string_equal(covered.report.coverage[0].owner, "one");
    assert_string_equal(covered.report.coverage[0].rows[0].cadence, "once");
    assert_string_equal(covered.report.coverage[0].rows[0].consumer, "partition0");
    assert_int_equal(covered.report.coverage[0].rows[0].times, 1);
    end_kernel(covered.running);
}

/* A second run of the same machine begins with nothing read. */
static void runs_do_not_see_each_other(void **state) {
    (void)state;
    Covered covered = {.running = compile_whole(RING(RING_WAIT, RING_RELEASE))};
    Machine *machine = covered.running->machine;
    machine_launch(machine, &covered.running->launch);
    Coverage *coverage = coverage_create(&covered.running->reading->module.arena, machine, NULL);
    Rerun rerun = {.launch = &covered.running->launch, .schedule = {.kind = SCHEDULE_EAGER}};
    machine->observe = coverage_observe;
    machine->observer = coverage;
    for (int i = 0; i < 3; i++) {
        coverage_start(coverage, &rerun);
        assert_int_equal(schedule_run(machine, 0, &rerun.schedule), RUN_COMPLETE);
    }
    machine->observe = NULL;
    report(&covered, coverage);
    assert_string_equal(covered.report.coverage_note, "Decided by happens-before over 3 runs of 1 launch.");
    assert_int_equal(covered.report.coverage[0].rows[0].times, 3 * 4); /* six copies, of which four overwrite */
    assert_int_equal(covered.missing_count, 0);
    end_kernel(covered.running);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ring_is_ordered_by_the_wait_for_its_empty_barrier),
        cmocka_unit_test(a_ring_without_back_edge_is_missing_it),
        cmocka_unit_test(a_release_before_the_read_is_none),
        cmocka_unit_test(every_column_that_a_product_overwrites_has_a_row),
        cmocka_unit_test(exactly_the_column_without_back_wait_is_missing),
        cmocka_unit_test(what_is_missing_becomes_a_finding),
        cmocka_unit_test(a_race_of_the_same_two_ops_is_not_told_again),
        cmocka_unit_test(a_sibling_that_is_only_read_last_is_not_seen),
        cmocka_unit_test(an_order_through_a_third_partition_is_one),
        cmocka_unit_test(a_product_of_the_same_agent_is_not_over_by_program_order),
        cmocka_unit_test(products_follow_each_other_unless_only_waits_order_them),
        cmocka_unit_test(a_store_is_over_when_few_enough_are_pending),
        cmocka_unit_test(what_an_agent_reads_itself_is_over_by_program_order),
        cmocka_unit_test(allocations_of_one_buffer_id_are_one_storage),
        cmocka_unit_test(what_was_not_run_is_said),
        cmocka_unit_test(runs_do_not_see_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
