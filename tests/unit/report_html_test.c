/* render/html/report_html: the barrier report as a page.
 *
 * With arguments it writes a sample instead, for tests/browser:
 * report_html_test small|large|huge|barriers|hostile|nothing|unrun FILE */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render/report/report.h"
#include "report_sample.h"

#include <unistd.h>

static Text page_of(Sample *sample) {
    Text text = {0};
    render_report_html(&sample->report, &(ReportHtml){&sample->trace, sample->source, NULL}, &text);
    text_char(&text, 0);
    assert_false(text.failed);
    return text;
}

static size_t count_of(const char *text, const char *what) {
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
        count++;
    return count;
}

#define HAS(page, what)   assert_non_null(strstr((page).data, (what)))
#define LACKS(page, what) assert_null(strstr((page).data, (what)))

/* The page without its style and script, whose text is our own. */
static Text body_of(Sample *sample) {
    Text page = page_of(sample), body = {0};
    const char *start = strstr(page.data, "<body>"), *end = strstr(page.data, "</main>");
    assert_non_null(start);
    assert_non_null(end);
    text_str(&body, str_between(start, end));
    text_char(&body, 0);
    text_free(&page);
    return body;
}

static void the_page_needs_nothing_else(void **state) {
    (void)state;
    Sample *sample = sample_small();
    Text page = page_of(sample);
    assert_true(str_starts(str_of(page.data), STR("<!doctype html>")));
    HAS(page, "content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\"");
    assert_int_equal(count_of(page.data, "http://"), count_of(page.data, "\"http://www.w3.org/2000/svg\""));
    LACKS(page, "https://");
    LACKS(page, "@import");
    LACKS(page, " src=");
    assert_true(str_ends(str_of(page.data), STR("</html>\n")));
    text_free(&page);
    sample_free(sample);
}

static void the_verdict_comes_first(void **state) {
    (void)state;
    Sample *sample = sample_small();
    Text page = body_of(sample);
    const char *verdict = strstr(page.data, "<strong>1 finding</strong>"),
               *lanes = strstr(page.data, "id=\"timeline\"");
    assert_non_null(verdict);
    assert_true(verdict < lanes);
    HAS(page, "partition0 and partition1 wait for each other");
    HAS(page, "<code>deadlock.cycle</code>");
    HAS(page, "<dt>fix</dt><dd>let the first wait for empty[0] use parity 1, which a fresh barrier passes</dd>");
    HAS(page, "<dt>seen</dt><dd>4 times</dd>");
    HAS(page, "an op was passed over");
    text_free(&page);
    sample_free(sample);
}

static void every_section_is_there(void **state) {
    (void)state;
    static const char *const headings[] = {"6. Deadlocks", /* it hangs: that comes first */
                                           "1. Partitions",  "2. Dependencies", "3. Index and phase",
                                           "4. Shared data", "5. Aliases",      "7. Coverage",
                                           "Limits",         "Glossary"};
    Sample *sample = sample_small();
    Text page = body_of(sample);
    const char *last = page.data;
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
        Text heading = {0};
        text_addf(&heading, "<h2>%s<span%c", headings[i], 0);
        const char *at = strstr(page.data, heading.data);
        assert_non_null(at);
        assert_true(at > last);
        last = at;
        text_free(&heading);
    }
    HAS(page, "\xe2\x9c\x93 ordered");
    HAS(page, "\xe2\x9c\x97 MISSING");
    HAS(page, "unused token: nothing keeps the next MMA from writing before this load");
    HAS(page, "TOO MUCH</span>");
    assert_int_equal(count_of(page.data, "<details"), count_of(page.data, "</details>"));
    assert_int_equal(count_of(page.data, "<table>"), count_of(page.data, "</table>"));
    assert_int_equal(count_of(page.data, "<td"), count_of(page.data, "</td>"));
    text_free(&page);
    sample_free(sample);
}

static void names_are_links(void **state) {
    (void)state;
    Sample *sample = sample_small();
    Text page = body_of(sample);
    HAS(page, "<a class=\"name\" href=\"#barrier-0\">full</a>, <a class=\"name\" href=\"#barrier-1\">empty</a>");
    HAS(page, "<tr id=\"barrier-1\" data-barrier=\"1\"");
    HAS(page, "<a class=\"name\" href=\"#buffer-1\">b</a>");
    HAS(page, "<a class=\"term\" href=\"#term-phase\">phase</a>");
    HAS(page, "<div id=\"term-phase\">");
    text_free(&page);
    sample_free(sample);
}

/* Line 20 is quoted with 18 and 19, 21 and 22, each once. */
static void lines_of_the_ir_are_quoted_once(void **state) {
    (void)state;
    Sample *sample = sample_small();
    Text page = body_of(sample);
    HAS(page, "<a class=\"ir\" href=\"#L20\">IR line 20</a>");
    for (unsigned line = 18; line <= 22; line++) {
        char id[32];
        snprintf(id, sizeof id, "id=\"L%u\"", line);
        assert_int_equal(count_of(page.data, id), 1);
    }
    LACKS(page, "id=\"L50\"");
    text_free(&page);
    sample_free(sample);
}

/* Where the source is not there, they stand beside the timeline, and the page says why. */
static void lines_of_the_ir_take_the_place_of_a_source(void **state) {
    (void)state;
    Sample *sample = sample_small();
    const TraceCodeLine code[] = {{"no/such/matmul.py", 20, 20, true}};
    sample->trace.code = code;
    sample->trace.code_count = 1;
    Text page = body_of(sample);
    const char *timeline = strstr(page.data, "id=\"timeline\""), *panel = strstr(page.data, "<div class=\"code\""),
               *line = strstr(page.data, "<li id=\"L20\""), *next = strstr(page.data, "<h2>1. Partitions<span");
    assert_true(timeline && timeline < panel && panel < line && line < next);
    HAS(page, "<code>no/such/matmul.py</code> cannot be read here.");
    LACKS(page, "<h2>Lines of the IR<span");
    text_free(&page);
    sample_free(sample);
}

static void the_source_stands_beside_the_timeline(void **state) {
    (void)state;
    char path[] = "/tmp/weir-report-XXXXXX.py", line[64];
    int fd = mkstemps(path, 3);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    assert_non_null(file);
    for (unsigned i = 1; i <= 60; i++)
        fprintf(file, i == 22 ? "attacked = \"</code><script>\"\n" : "line_%u()\n", i);
    fclose(file);
    Sample *sample = sample_small();
    const TraceCodeLine code[] = {
        {path, 20, 30, true}, {path, 24, 31, true}, {path, 50, 1, true}, {path, 55, 2, false}};
    FindingPlace place = sample->verdict.findings[0].places[0];
    place.file = path;
    place.line = 24;
    sample->verdict.findings[0].places = &place;
    sample->verdict.findings[0].place_count = 1;
    sample->trace.code = code;
    sample->trace.code_count = sizeof code / sizeof *code;
    Text page = body_of(sample);
    HAS(page, "<li id=\"S0-20\" value=\"20\" data-ir=\"30\"><code>line_20()</code></li>"); /* a step is at line 30 */
    HAS(page, "<li id=\"S0-24\" value=\"24\" class=\"at error\" data-ir=\"31\"><code>line_24()</code>"
              "<span class=\"marks\"><a class=\"tag tag-error\" href=\"#finding-0\"");
    HAS(page, "<code>attacked = &quot;&lt;/code&gt;&lt;script&gt;&quot;</code>");
    HAS(page, "<li id=\"S0-50\" value=\"50\" class=\"gap\"><code>"); /* no step is there */
    LACKS(page, "id=\"S0-19\"");
    LACKS(page, "id=\"S0-25\"");
    LACKS(page, "id=\"S0-55\""); /* another function's, and nothing happened there */
    HAS(page, "<h2>Lines of the IR<span");
    snprintf(line, sizeof line, "<a class=\"src\" href=\"#S0-24\">%s:24</a>", path + strlen("/tmp/"));
    HAS(page, line);
    unlink(path);
    text_free(&page);
    sample_free(sample);
}

/* A line that does not exist is no link; a long one is cut; there are at most 2000. */
static void quotes_are_bounded(void **state) {
    (void)state;
    Sample *sample = sample_create("long.ttgir", "long");
    Text source = {0};
    for (unsigned i = 0; i < 30000; i++) {
        for (unsigned k = 0; i == 9 && k < 500; k++)
            text_str(&source, STR("\xc3\xa9"));
        text_str(&source, STR("x\n"));
    }
    sample->source = source_copy("long.ttgir", source.data, source.size);
    ReportPartition *partitions = ARENA_ARRAY(&sample->arena, ReportPartition, 3000);
    for (uint32_t i = 0; i < 3000; i++)
        partitions[i] = (ReportPartition){.name = "p", .role = "", .type = "", .ir_line = i * 10};
    partitions[2].ir_line = 4000000;
    sample->report.partitions = partitions;
    sample->report.partition_count = 3000;
    Text page = body_of(sample);
    assert_int_equal(count_of(page.data, "<li id=\"L"), 2000);
    HAS(page, "<td class=\"number\" data-of=\"IR line\">4000000</td>");
    const char *cut = strstr(page.data, "<li id=\"L10\"");
    assert_non_null(cut);
    assert_int_equal(strstr(cut, " \xe2\x80\xa6</code>") - strchr(cut, '\xc3'), 400);
    text_free(&source);
    text_free(&page);
    sample_free(sample);
}

static void texts_cannot_break_out(void **state) {
    (void)state;
    Sample *sample = sample_hostile();
    Text page = body_of(sample);
    LACKS(page, "<script>");
    LACKS(page, "<img");
    LACKS(page, "<!--");
    LACKS(page, "' onfocus");
    LACKS(page, "\x01");
    LACKS(page, "\x1b");
    LACKS(page, "\xff");
    LACKS(page, "\xe2\x80\xa8");
    LACKS(page, "\xe2\x80\xae");
    HAS(page, "&lt;/script&gt;&lt;script&gt;attacked=1");
    HAS(page, "\\u003c/script\\u003e");
    HAS(page, "&quot;&#39; onfocus=&#39;");
    HAS(page, "&amp;amp; \xef\xbf\xbd\xef\xbf\xbd[31m \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd \xef\xbf\xbd");
    assert_int_equal(count_of(page.data, "<script"), 1);
    text_free(&page);
    sample_free(sample);
}

static void events_know_their_barriers(void **state) {
    (void)state;
    Sample *sample = sample_small();
    Text page = body_of(sample);
    HAS(page, "\"barriers\":[[\"full\",1],\n[\"empty\",1],\n[\"named barrier 9\",0]]");
    HAS(page, "\n[1,3,3,4,");  /* the wait */
    HAS(page, ",30,4,0,0],");  /* released by the fourth event, on slot 0 of the first barrier */
    HAS(page, ",30,0,0,1],");  /* blocked forever on slot 1 */
    HAS(page, ",31,0,2,-1],"); /* a barrier that the report does not have, and that has no slots */
    text_free(&page);
    sample_free(sample);
}

/* A token is one value and two barriers. */
static void tokens_are_two_barriers(void **state) {
    (void)state;
    ReportBarrier barriers[2];
    static const TraceBarrier empty = {"%tok.empty", 2};
    static const TraceEvent events[] = {
        {TRACE_STEP, 0, 1, 1, "nvws.consumer_release", "%tok.empty[2], phase 0", 0, 0, &empty, 1}};
    static const TraceTrack tracks[] = {{0, "cta 0 (0,0,0)", "default"}};
    Sample *sample = sample_small();
    for (size_t i = 0; i < 2; i++) {
        barriers[i] = sample->report.barriers[i];
        barriers[i].name = i ? "x.empty" : "x.full";
        barriers[i].value = "%tok";
        barriers[i].kind = "token";
    }
    sample->report.barriers = barriers;
    sample->report.barrier_count = 2;
    sample->trace.tracks = tracks;
    sample->trace.events = events;
    sample->trace.track_count = sample->trace.event_count = 1;
    Text page = body_of(sample);
    HAS(page, "\"barriers\":[[\"x.full\",1],\n[\"x.empty\",1]]");
    HAS(page, "\"events\":[[0,0,1,1,0,1,0,0,1,2]]");
    text_free(&page);
    sample_free(sample);
}

static void blocked_slices_say_who_could_release_them(void **state) {
    (void)state;
    Sample *sample = sample_small();
    Text page = body_of(sample);
    HAS(page, "\"blocked\":[[8,\"nobody can use slot 0 before partition1 has read it\",[[3,33,\"partition1.tensor\","
              "\"ttng.tc_gen5_mma\",\"would, but is blocked at IR line 30\"]]],\n[9,");
    HAS(page, "<a class=\"name\" href=\"#barrier-1\">empty[0]</a>");
    HAS(page, "partition1.tensor, <a class=\"ir\" href=\"#L33\">IR line 33</a>");
    text_free(&page);
    sample_free(sample);
}

static void lines_in_sentences_are_links(void **state) {
    (void)state;
    Sample *sample = sample_small();
    Text page = body_of(sample);
    HAS(page, "each iteration of the loop at <a class=\"ir\" href=\"#L19\">line 19</a>");
    HAS(page, "partition1 waits for empty, <a class=\"ir\" href=\"#L30\">IR line 30</a>");
    HAS(page, "would, but is blocked at <a class=\"ir\" href=\"#L30\">IR line 30</a>");
    LACKS(page, "href=\"#L900");
    text_free(&page);
    sample_free(sample);
}

static void what_is_missing_is_said_first(void **state) {
    (void)state;
    Sample *sample = sample_small();
    Text page = body_of(sample);
    HAS(page, "This kernel hangs: 1 deadlock.");
    HAS(page, "<a href=\"#coverage\">Coverage <span class=\"flag\">");
    HAS(page, "href=\"#coverage-0\">\xe2\x9c\x97</a> alpha (column 64): default reads it at <a class=\"ir\" "
              "href=\"#L13\">IR line "
              "13</a>, partition1.tensor overwrites it at <a class=\"ir\" href=\"#L33\">IR line 33</a>");
    text_free(&page);
    sample_free(sample);
}

/* Edges between the same two partitions are one line, which has them all in its tooltip. */
static void edges_are_bundled(void **state) {
    (void)state;
    Sample *sample = sample_large(10);
    Text page = body_of(sample);
    HAS(page, ">q0_full, q1_full,</tspan>");
    HAS(page, ">v_scale_full</tspan></text>");
    HAS(page, "<title>partition0 \xe2\x86\x92 partition1 (forward):\nq0_full");
    HAS(page, "\nv_scale_full");
    text_free(&page);
    sample_free(sample);
}

static void the_picture_ends_somewhere(void **state) {
    (void)state;
    Sample *sample = sample_large(20001);
    Text page = body_of(sample);
    HAS(page, "The picture ends after 20,000 events of 20,001; the run went on.");
    const char *events = strstr(page.data, "\"events\":[");
    assert_non_null(events);
    const char *end = strstr(events, "\"blocked\":");
    size_t lines = 0;
    for (const char *at = events; at < end; at++)
        lines += *at == '\n';
    assert_int_equal(lines, 20000);
    text_free(&page);
    sample_free(sample);
}

static void nothing_is_a_small_page(void **state) {
    (void)state;
    Sample *sample = sample_nothing();
    Text page = body_of(sample);
    HAS(page, "Nothing to report");
    HAS(page, "The kernel has no barrier and is not parted");
    LACKS(page, "<table>");
    assert_true(page.size < 2000);
    text_free(&page);
    sample_free(sample);
}

static void an_empty_report_says_so(void **state) {
    (void)state;
    Sample *sample = sample_create("a.ttgir", "a");
    verdict_close(&sample->verdict);
    Text page = body_of(sample);
    HAS(page, "Nothing was run, so there is no picture.");
    HAS(page, "no barriers");
    HAS(page, "nothing is overwritten");
    LACKS(page, "<h2>Limits<");
    text_free(&page);
    sample_free(sample);
}

static void pages_are_the_same_each_time(void **state) {
    (void)state;
    Sample *sample = sample_large(3000);
    Text one = page_of(sample), two = page_of(sample);
    assert_int_equal(one.size, two.size);
    assert_memory_equal(one.data, two.data, one.size);
    text_free(&one);
    text_free(&two);
    sample_free(sample);
}

static bool write_file(void *to, const char *data, size_t size) {
    return fwrite(data, 1, size, to) == size;
}

static int write_sample(const char *name, const char *path) {
    Sample *sample = strcmp(name, "small") == 0      ? sample_small()
                     : strcmp(name, "large") == 0    ? sample_large(3000)
                     : strcmp(name, "huge") == 0     ? sample_large(25000)
                     : strcmp(name, "barriers") == 0 ? sample_rings(5000, 20000)
                     : strcmp(name, "hostile") == 0  ? sample_hostile()
                     : strcmp(name, "unrun") == 0    ? sample_unrun()
                                                     : sample_nothing();
    FILE *file = fopen(path, "wb");
    Text text = {.sink = write_file, .to = file};
    if (file)
        render_report_html(&sample->report, &(ReportHtml){&sample->trace, sample->source, NULL}, &text);
    bool good = file && text_flush(&text);
    good &= file && fclose(file) == 0;
    text_free(&text);
    sample_free(sample);
    return good ? 0 : 1;
}

int main(int count, char **arguments) {
    if (count == 3)
        return write_sample(arguments[1], arguments[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_needs_nothing_else),
        cmocka_unit_test(the_verdict_comes_first),
        cmocka_unit_test(every_section_is_there),
        cmocka_unit_test(names_are_links),
        cmocka_unit_test(lines_of_the_ir_are_quoted_once),
        cmocka_unit_test(lines_of_the_ir_take_the_place_of_a_source),
        cmocka_unit_test(the_source_stands_beside_the_timeline),
        cmocka_unit_test(quotes_are_bounded),
        cmocka_unit_test(texts_cannot_break_out),
        cmocka_unit_test(events_know_their_barriers),
        cmocka_unit_test(the_picture_ends_somewhere),
        cmocka_unit_test(nothing_is_a_small_page),
        cmocka_unit_test(an_empty_report_says_so),
        cmocka_unit_test(pages_are_the_same_each_time),
        cmocka_unit_test(tokens_are_two_barriers),
        cmocka_unit_test(blocked_slices_say_who_could_release_them),
        cmocka_unit_test(lines_in_sentences_are_links),
        cmocka_unit_test(what_is_missing_is_said_first),
        cmocka_unit_test(edges_are_bundled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
