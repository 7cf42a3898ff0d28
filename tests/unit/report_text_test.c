/* render/report/report: a made-up report for a terminal, as Markdown and as a graph; the glossary. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <strings.h>

#include <cmocka.h>

#include "render/report/report.h"
#include "render/table.h"
#include "sample_report.h"
#include "share.h"

/* ---- Helpers ----------------------------------------------------------------------------------- */

static char *finish(Text *to) {
    assert_false(to->failed);
    text_char(to, 0);
    return to->data;
}

static char *as_text(const Report *report, bool color, unsigned width) {
    Text to = {0};
    render_report_text(report, (ReportTextOptions){.color = color, .width = width}, &to);
    return finish(&to);
}

static char *as_markdown(const Report *report) {
    Text to = {0};
    render_report_markdown(report, &to);
    return finish(&to);
}

static char *as_dot(const Report *report) {
    Text to = {0};
    render_report_dot(report, &to);
    return finish(&to);
}

static void expect_in(const char *text, const char *part) {
    if (!strstr(text, part))
        fail_msg("there is no\n%s\nin\n%s", part, text);
}

/* Each of them, after the one before. */
static void expect_order(const char *text, const char *const *parts) {
    for (size_t i = 0; parts[i]; i++) {
        const char *at = strstr(text, parts[i]);
        if (!at)
            fail_msg("'%s' is not there, or not in its place", parts[i]);
        text = at;
    }
}

/* ---- Text -------------------------------------------------------------------------------------- */

static void reports_the_verdict_first(void **state) {
    (void)state;
    Report report = sample_report();
    char *text = as_text(&report, false, 80);
    const char first[] = "attention.ttgir: @attention: hangs; 2 findings; lowered; grid 32x1x1, N_CTX = 1024\n"
                         "  what        partition0 waits forever for full[0]: nothing arrives on it\n"
                         "  where       attention.py:55 (IR line 78), ttng.wait_barrier of partition0\n"
                         "  why         The wait needs phase 0 to complete.\n"
                         "  fix         Add the arrive.\n";
    assert_memory_equal(text, first, sizeof first - 1);
    expect_order(text, (const char *const[]){"\n6. Deadlocks\n", "\n1. Partitions\n", "\n2. Dependencies\n",
                                             "\n3. Index and phase\n", "\n4. Shared data\n", "\n5. Aliases\n",
                                             "\n7. Coverage\n", "\nLimits\n", "`weir report --glossary`", NULL});
    free(text);
}

static void draws_chains_of_edges(void **state) {
    (void)state;
    Report report = sample_report();
    char *text = as_text(&report, false, 80);
    expect_in(text, "    partition1 (TMA load (q, k, v))\n"
                    "      | TMA mbarrier: kv_full, carries k, v (3 x 64x128xf16)\n"
                    "      |   [IR line 118 (attention.py:41) -> IR line 78 (attention.py:55)]\n"
                    "      | error: deadlock.bytes at IR line 78, see above\n"
                    "      | TMA mbarrier: q_full, carries q (128x128xf16)\n"
                    "      |   [IR line 113 (attention.py:38) -> IR line 73 (attention.py:54)]\n"
                    "      v\n"
                    "    partition0 (MMA)\n"
                    "      | MMA barrier operand: qk_full, carries qk (128x128xf32)\n");
    expect_in(text, "\n  Backward: memory may be used again\n    partition0 (MMA)\n      | tcgen05 commit: kv_empty");
    expect_in(text, "      | unused token: that of the tmem_load of line 44 is not carried to the\n      |   next");
    free(text);
}

static void shows_slots_and_phases(void **state) {
    (void)state;
    Report report = sample_report();
    char *text = as_text(&report, false, 140);
    expect_in(text, "    inverted    its first waits pass on a fresh barrier\n");
    expect_in(text, "    bytes       MISMATCH: expects 32768 a phase, copies deliver 24576: k 64x128xf16 = 16384 (IR");
    expect_in(text, "seen over 12 uses, 11 flips over all slots; each slot flips once in 3 iterations");
    expect_in(text, "    wait        partition1, IR line 116 (attention.py:40), 12 times: ttng.wait_barrier\n"
                    "                index accumCnt(loop@112) % 3 (written %kv_idx)\n"
                    "                phase NOT ((accumCnt(loop@112) / 3) & 1) (written %kv_phase xori true); first "
                    "parity 1, passes at once\n");
    free(text);
}

/* Buffers that take turns do not add up. */
static void reports_a_sum_from_turns(void **state) {
    (void)state;
    const ReportBytes bytes[] = {{"a", "64xf16", 128, 5}, {"b", "64xf16", 128, 6}};
    ReportBarrier barrier = {.data_bytes = 256, .bytes = bytes, .byte_count = 2};
    assert_false(report_bytes_take_turns(&barrier));
    barrier.data_bytes = 128;
    assert_true(report_bytes_take_turns(&barrier));
    barrier.byte_count = 1;
    assert_false(report_bytes_take_turns(&barrier));
}

static void shows_who_is_blocked(void **state) {
    (void)state;
    Report report = sample_report();
    char *text = as_text(&report, false, 80);
    expect_in(text, "  agent       at               waits for    wants   phase  pending  bytes  flips\n"
                    "                                           parity     now\n"
                    "  ----------  ---------------  ----------  ------  ------  -------  -----  -----\n"
                    "  partition0  IR line 78,      kv_full[2]       1       1        0   8192      3\n"
                    "              attention.py:55\n");
    expect_order(text, (const char *const[]){"DEADLOCK: slot 2 of kv_full", "could flip  partition1.tma, IR line 120",
                                             "could flip  none", "Candidates", "redundant", NULL});
    free(text);
}

static void shows_what_is_missing(void **state) {
    (void)state;
    Report report = sample_report();
    char *text = as_text(&report, false, 0);
    expect_in(text, "  1 MISSING: data may be overwritten before it is read\n");
    expect_in(text, "    ✓ ordered  qk ");
    expect_in(text, "    ✗ MISSING  m_ij    columns 65-65  default, IR line 60, attention.py:97 ");
    free(text);
    text = as_text(&report, true, 0);
    expect_in(text, "\033[1;31m✗ MISSING\033[0m");
    expect_in(text, "\033[1;32m✓ ordered\033[0m");
    free(text);
}

static void has_a_line_for_what_is_empty(void **state) {
    (void)state;
    Report report = sample_empty_report();
    char *text = as_text(&report, false, 80);
    assert_string_equal(text, "copy.ttgir: @copy: clean; plain; not run\n\n1. Partitions\n  no partitions\n\n2. "
                              "Dependencies\n  no edges between partitions\n\n3. Index and phase\n  no "
                              "barriers\n\n4. Shared data\n  no shared data\n\n5. Aliases\n  no aliases\n\n6. "
                              "Deadlocks\n  Decided by running the phases, not by counting arrives and waits.\n  no "
                              "deadlock\n\n7. Coverage\n  nothing is overwritten\n\n`weir report --glossary` "
                              "explains the terms.\n");
    free(text);
}

static void says_that_there_is_nothing(void **state) {
    (void)state;
    Report report = sample_report();
    report.nothing = "No barriers and no partitions: there is nothing to report.";
    char *text = as_text(&report, false, 20);
    assert_string_equal(text,
                        "attention.ttgir: @attention: No barriers and no partitions: there is nothing to report. "
                        "Not checked: the assembly is not understood (tt.elementwise_inline_asm, IR line 63).\n");
    free(text);
    text = as_markdown(&report);
    assert_string_equal(text,
                        "# Barrier report: `attention.ttgir`, `@attention`\n\n"
                        "No barriers and no partitions: there is nothing to report. "
                        "Not checked: the assembly is not understood (tt.elementwise\\_inline\\_asm, IR line 63).\n");
    free(text);
}

/* How often each character occurs, but for those that lay things out. */
static void count_characters(const char *text, size_t counts[256]) {
    memset(counts, 0, 256 * sizeof *counts);
    for (; *text; text++)
        if (!strchr(" \n-|", *text))
            counts[(unsigned char)*text]++;
}

static void fits_any_terminal_and_loses_nothing(void **state) {
    (void)state;
    Report report = sample_report();
    char *widest = as_text(&report, false, 0);
    size_t all[256], some[256];
    count_characters(widest, all);
    free(widest);
    for (unsigned width = 80; width <= 240; width += 161 / share_of(161)) {
        char *text = as_text(&report, false, width);
        for (const char *line = strchr(text, '\n'); line[1]; line = strchr(line + 1, '\n'))
            assert_true(text_width(str_between(line + 1, strchr(line + 1, '\n'))) <= width);
        count_characters(text, some);
        assert_memory_equal(some, all, sizeof all);
        assert_null(strchr(text, '\033'));
        assert_null(strstr(text, " \n"));
        free(text);
    }
    for (unsigned width = 1; width < 80; width++)
        free(as_text(&report, true, width));
}

/* ---- The summary ------------------------------------------------------------------------------- */

static char *as_summary(const Report *report, unsigned width) {
    Text to = {0};
    render_report_text(report, (ReportTextOptions){.summary = true, .width = width}, &to);
    return finish(&to);
}

/* Whatever the terminal, lines fit, and nothing is cut but what has a place in a section. */
static void sums_up_on_a_screen(void **state) {
    (void)state;
    enum { MOST_LINES = 66 };
    Report report = sample_report();
    for (unsigned width = 60; width <= 200; width += 141 / share_of(141)) {
        char *text = as_summary(&report, width);
        size_t lines = 0;
        for (const char *line = strchr(text, '\n'); line[1]; line = strchr(line + 1, '\n')) {
            assert_true(text_width(str_between(line + 1, strchr(line + 1, '\n'))) <= width);
            lines++;
        }
        assert_true(width < 80 || lines <= MOST_LINES);
        assert_null(strstr(text, " \n"));
        free(text);
    }
    for (unsigned width = 1; width < 60; width++)
        free(as_summary(&report, width));
}

static void draws_arrows_between_partitions(void **state) {
    (void)state;
    static const char *const order[] = {"\nPartitions\n",
                                        "partition1  TMA load (q, k, v)",
                                        "\nEdges: ---> data is ready",
                                        "kv_full, q_full",
                                        "\nHazards\n",
                                        "[deadlock.bytes]",
                                        "deadlocks   found",
                                        "\nOverwrites after a read: ",
                                        "MISSING",
                                        "--section",
                                        NULL};
    Report report = sample_report();
    char *text = as_summary(&report, 100);
    expect_order(text, order);
    free(text);
}

static void tells_no_section_that_was_not_asked_for(void **state) {
    (void)state;
    Report report = sample_report();
    Text to = {0};
    render_report_text(&report, (ReportTextOptions){.width = 80, .sections = 1u << 6 | 1u << 0}, &to);
    const char *text = finish(&to);
    expect_in(text, "\n1. Partitions\n");
    expect_in(text, "\n7. Coverage\n");
    assert_null(strstr(text, "2. Dependencies"));
    assert_null(strstr(text, "target"));
    text_free(&to);
}

/* A verdict without a run is no good news. */
static void does_not_call_good_what_was_not_run(void **state) {
    (void)state;
    Verdict verdict = {.kernel = "k"};
    Report report = report_blank("k.ttgir", &verdict);
    report.kernel = "k";
    report.form = "lowered";
    Text to = {0};
    render_report_text(&report, (ReportTextOptions){.color = true, .width = 80, .summary = true}, &to);
    const char *text = finish(&to);
    expect_in(text, "clean; lowered; not run");
    assert_null(strstr(text, "\033[32m"));
    expect_in(text, "nothing\n");
    text_free(&to);
}

/* ---- What nothing should trust ------------------------------------------------------------------ */

static const char hostile[] = "x\033[31m|`*_<b>\"\\\n&\xff";

static Report hostile_report(void) {
    static ReportPartition partition;
    static ReportBarrier barrier;
    static ReportEdge edge;
    static ReportRow row;
    static ReportCoverage coverage;
    static Verdict verdict;
    Report report = sample_report();
    verdict = *report.verdict;
    verdict.kernel = hostile;
    report.verdict = &verdict;
    partition = sample_partitions[0];
    partition.name = partition.role = partition.type = hostile;
    barrier = sample_barriers[0];
    barrier.name = barrier.value = barrier.index = barrier.cadence = hostile;
    edge = sample_edges[8];
    edge.from = edge.to = edge.barrier = edge.carries = edge.note = hostile;
    row = sample_qk_rows[2];
    row.name = row.consumer = row.extent = row.by = hostile;
    coverage = sample_coverage[0];
    coverage.rows = &row;
    coverage.row_count = 1;
    coverage.storage = coverage.writer.partition = hostile;
    report.file = report.kernel = report.form_text = report.launch = hostile;
    report.partitions = &partition;
    report.barriers = &barrier;
    report.edges = &edge;
    report.coverage = &coverage;
    report.partition_count = report.barrier_count = report.edge_count = report.coverage_count = 1;
    return report;
}

static void keeps_controls_from_terminals(void **state) {
    (void)state;
    Report report = hostile_report();
    for (unsigned width = 0; width <= 120; width += 40) {
        char *text = as_text(&report, false, width);
        for (const char *at = text; *at; at++)
            assert_true((unsigned char)*at >= ' ' || *at == '\n');
        assert_null(strchr(text, '\xff'));
        free(text);
        text = as_summary(&report, width);
        for (const char *at = text; *at; at++)
            assert_true((unsigned char)*at >= ' ' || *at == '\n');
        assert_null(strchr(text, '\xff'));
        free(text);
    }
}

/* Of a line of a table: the pipes that part cells. */
static size_t count_pipes(const char *line, const char *end) {
    size_t count = 0;
    for (; line < end; line++) {
        count += *line == '|';
        line += *line == '\\';
    }
    return count;
}

static void expect_good_tables(const char *text) {
    size_t pipes = 0;
    for (const char *line = text; *line;) {
        const char *end = strchr(line, '\n');
        size_t count = *line == '|' ? count_pipes(line, end) : 0;
        if (count && pipes)
            assert_int_equal(count, pipes);
        pipes = count;
        line = end + 1;
    }
}

static void keeps_markdown_tables_whole(void **state) {
    (void)state;
    Report reports[] = {sample_report(), hostile_report()};
    for (size_t i = 0; i < SAMPLE_COUNT(reports); i++) {
        char *text = as_markdown(&reports[i]);
        expect_good_tables(text);
        assert_null(strstr(strchr(text, '\n'), "<b>")); /* the title has it as code */
        assert_null(strchr(text, '\033'));
        free(text);
    }
    char *text = as_markdown(&reports[1]);
    expect_in(text, "### x?\\[31m\\|\\`\\*\\_&lt;b\\>\"\\\\<br>&amp;?\n");
    expect_in(text, "`` @x?[31m|`*_<b>\"\\?&? ``");
    free(text);
}

static void escapes_for_dot(void **state) {
    (void)state;
    Report report = hostile_report();
    char *text = as_dot(&report);
    expect_in(text, "  \"x?[31m|`*_<b>\\\"\\\\ &amp;?\" -> \"x?[31m|`*_<b>\\\"\\\\ &amp;?\" [label=\"TMEM token\\n");
    free(text);
}

/* ---- Markdown and dot -------------------------------------------------------------------------- */

static void links_words_that_are_explained(void **state) {
    (void)state;
    Report report = sample_report();
    char *text = as_markdown(&report);
    expect_order(text, (const char *const[]){"\n## 6. ", "[phases](#phase)",
                                             "\n## 1. Partitions\n\nA [partition](#partition) is", "\n## 2. ",
                                             "\n## 3. ", "\n## 4. ", "\n## 5. ", "\n## 7. ", "\n## Glossary\n",
                                             "<a id=\"phase\"></a>**phase**: ", NULL});
    size_t links = 0;
    for (const char *at = text; (at = strstr(at, "](#")); links++) {
        at += 3;
        Text anchor = {0};
        text_addf(&anchor, "<a id=\"%.*s\"></a>", (int)strcspn(at, ")"), at);
        expect_in(text, finish(&anchor));
        text_free(&anchor);
    }
    assert_true(links >= 12);
    free(text);
}

static void writes_markdown_tables(void **state) {
    (void)state;
    Report report = sample_report();
    char *text = as_markdown(&report);
    expect_in(text,
              "| partition | role | key ops | warps | registers | type | IR line |\n"
              "| --- | --- | --- | ---: | ---: | --- | ---: |\n"
              "| **default** | accumulator correction | tmem\\_load x3, tmem\\_store, mulf x4 | 4 | 152 |  | 30 |\n");
    expect_in(text, "| **✗ MISSING** | **m\\_ij** | columns 65-65 | default, IR line 60, attention.py:97 |");
    expect_in(text, "| &nbsp;&nbsp;%arg33 | argument of partition1 |");
    free(text);
}

static void draws_a_graph(void **state) {
    (void)state;
    Report report = sample_report();
    char *text = as_dot(&report);
    expect_in(text, "digraph barriers {\n");
    expect_in(text, "  \"partition1\" [label=\"partition1\\nTMA load (q, k, v)\\n1 warp\"];\n");
    expect_in(text,
              "  \"partition0\" [label=\"partition0\\nMMA\\n1 warp\\nwaits forever\", color=red, fontcolor=red];\n");
    expect_in(text, "  \"partition0\" -> \"partition1\" [label=\"tcgen05 commit\\nkv_empty\\nk, v (3 x 64x128xf16)\", "
                    "style=dashed, constraint=false];\n");
    expect_in(text, "  \"default\" -> \"partition0\" [label=\"MISSING\\nm_ij, columns 65-65\", style=dotted,");
    free(text);
}

/* Many edges between few partitions: each is drawn once, and it takes no time. */
static void draws_each_edge_once(void **state) {
    (void)state;
    enum { MANY = 20000 };
    ReportEdge *edges = calloc(MANY, sizeof *edges);
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g"};
    for (size_t i = 0; i < MANY; i++) {
        edges[i] = sample_edges[5];
        edges[i].from = names[i * 5 % 7];
        edges[i].to = names[i * i % 7];
    }
    Report report = sample_empty_report();
    report.edges = edges;
    report.edge_count = MANY;
    char *text = as_text(&report, false, 80);
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, "SSA value")); at++)
        count++;
    assert_int_equal(count, MANY);
    free(text);
    free(edges);
}

/* ---- The glossary ------------------------------------------------------------------------------ */

static void explains_its_words(void **state) {
    (void)state;
    size_t count;
    const Term *terms = glossary(&count);
    assert_true(count >= 30);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(strspn(terms[i].id, "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(terms[i].id));
        assert_null(strpbrk(terms[i].text, "\"\\\n"));
        assert_int_equal(terms[i].text[strlen(terms[i].text) - 1], '.');
        if (i)
            assert_true(strcasecmp(terms[i - 1].word, terms[i].word) < 0);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(terms[i].id, terms[k].id);
    }
    Text to = {0};
    render_glossary_text(&to, 60);
    expect_in(finish(&to),
              "\nphase\n    One cycle of a barrier's slot, from all arrivals pending\n    to all arrivals made");
    text_free(&to);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_the_verdict_first),
        cmocka_unit_test(draws_chains_of_edges),
        cmocka_unit_test(shows_slots_and_phases),
        cmocka_unit_test(reports_a_sum_from_turns),
        cmocka_unit_test(shows_who_is_blocked),
        cmocka_unit_test(shows_what_is_missing),
        cmocka_unit_test(has_a_line_for_what_is_empty),
        cmocka_unit_test(says_that_there_is_nothing),
        cmocka_unit_test(fits_any_terminal_and_loses_nothing),
        cmocka_unit_test(sums_up_on_a_screen),
        cmocka_unit_test(draws_arrows_between_partitions),
        cmocka_unit_test(tells_no_section_that_was_not_asked_for),
        cmocka_unit_test(does_not_call_good_what_was_not_run),
        cmocka_unit_test(keeps_controls_from_terminals),
        cmocka_unit_test(keeps_markdown_tables_whole),
        cmocka_unit_test(escapes_for_dot),
        cmocka_unit_test(links_words_that_are_explained),
        cmocka_unit_test(writes_markdown_tables),
        cmocka_unit_test(draws_a_graph),
        cmocka_unit_test(draws_each_edge_once),
        cmocka_unit_test(explains_its_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
