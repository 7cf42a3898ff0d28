/* The tables of the HTML report. */
#include "render/html_sections.h"

#include "render/html_graph.h"

static void add(Html *html, const char *markup) {
    text_str(html->to, str_of(markup));
}

/* "<p class=...>", with words of the glossary as links; nothing if nothing is said. */
static void paragraph(Html *html, const char *class, const char *text) {
    if (!html_said(text))
        return;
    html_addf(html, "<p class=\"%s\">", class);
    html_prose(html, text);
    add(html, "</p>\n");
}

void html_section(Html *html, const char *id, const char *heading, size_t count, const char *one, const char *lead) {
    html_addf(html, "<details class=\"section\" id=\"%s\" open>\n<summary><h2>%s</h2>", id, heading);
    if (html_said(one)) {
        add(html, "<span class=\"count\">");
        text_number_of(html->to, count, one);
        add(html, "</span>");
    }
    add(html, "</summary>\n");
    paragraph(html, "lead", lead);
}

void html_section_end(Html *html) {
    add(html, "</details>\n");
}

/* "<p class="note">! it is so</p>", with lines of the IR as links. */
static void remark(Html *html, const char *element, const char *text) {
    html_addf(html, "<%s class=\"remark\">! ", element);
    html_words(html, text);
    html_addf(html, "</%s>", element);
}

static void nothing_here(Html *html, const char *sentence) {
    html_addf(html, "<p class=\"empty\">%s</p>\n", sentence);
}

/* ---- 1. Partitions ----------------------------------------------------------------------------- */

static void add_partition(Html *html, const ReportPartition *partition) {
    html_addf(html, "<tr><th scope=\"row\">%s</th>", partition->name);
    html_cell(html, partition->role);
    add(html, "<td class=\"ops\">");
    for (size_t i = 0; i < partition->key_op_count; i++) {
        html_addf(html, "%s<code>%s</code>", i ? " " : "", partition->key_ops[i].name);
        if (partition->key_ops[i].count > 1) {
            add(html, "<span class=\"times\">");
            text_number(html->to, partition->key_ops[i].count);
            add(html, "\xc3\x97</span>");
        }
    }
    if (!partition->key_op_count)
        html_none(html);
    add(html, "</td>");
    html_cell_number(html, partition->warps);
    html_cell_number(html, partition->registers);
    html_cell(html, partition->type);
    html_cell_number(html, partition->stage);
    html_cell_line(html, partition->ir_line);
    add(html, "</tr>\n");
}

void html_partitions(Html *html) {
    const Report *report = html->report;
    html_section(html, "partitions", "1 Partitions", report->partition_count, "partition",
                 "Who runs what: each partition with the ops that make it what it is.");
    if (report->partition_count) {
        html_table(html, "Partitions", "Partition|Role|Key ops|#Warps|#Registers|Type|#Stage|#IR line");
        for (size_t i = 0; i < report->partition_count; i++)
            add_partition(html, &report->partitions[i]);
        html_table_end(html);
    } else {
        nothing_here(html, "The kernel is not parted.");
    }
    html_section_end(html);
}

/* ---- 2. Dependencies --------------------------------------------------------------------------- */

/* The two partitions and the direction are what a line of the graph is about. */
static void add_edge(Html *html, size_t index) {
    const ReportEdge *edge = &html->report->edges[index];
    text_addf(html->to, "<tr id=\"edge-%zu\" ", index);
    html_addf(html, "data-pair=\"%s>%s>%s\">", edge->from, edge->to, edge->direction);
    html_addf(html, "<th scope=\"row\" class=\"pair\">%s <span class=\"to\">\xe2\x86\x92</span> %s", edge->from,
              edge->to);
    if (html_said(edge->note))
        remark(html, "span", edge->note);
    add(html, "</th><td>");
    html_barriers(html, edge->barrier);
    add(html, "</td>");
    html_cell(html, edge->mechanism);
    html_cell(html, edge->carries);
    html_cell_places(html, &edge->out, 1);
    html_cell_places(html, &edge->in, 1);
    add(html, "</tr>\n");
}

static void add_edges(Html *html, const char *heading, const char *lead, const char *direction, bool is) {
    const Report *report = html->report;
    size_t count = 0;
    for (size_t i = 0; i < report->edge_count; i++)
        count += (strcmp(report->edges[i].direction, direction) == 0) == is;
    html_addf(html, "<details class=\"fold\" open><summary><h3>%s</h3><span class=\"count\">%zu</span></summary>\n",
              heading, count);
    paragraph(html, "lead", lead);
    if (count) {
        html_table(html, heading, "From \xe2\x86\x92 to|Barrier|Mechanism|Carries|Arrives|Waits");
        for (size_t i = 0; i < report->edge_count; i++)
            if ((strcmp(report->edges[i].direction, direction) == 0) == is)
                add_edge(html, i);
        html_table_end(html);
    } else {
        nothing_here(html, "There are none.");
    }
    html_section_end(html);
}

void html_dependencies(Html *html) {
    html_section(html, "dependencies", "2 Dependency graph", html->report->edge_count, "edge",
                 "Who waits for whom, through which barrier, and for what.");
    html_graph(html);
    add_edges(html, "Forward: data is ready", "", "backward", false);
    add_edges(html, "Backward: memory may be used again", "", "backward", true);
    html_section_end(html);
}

/* ---- 3. Index and phase ------------------------------------------------------------------------ */

static bool bytes_differ(const ReportBarrier *barrier) {
    return barrier->expect_bytes != barrier->data_bytes;
}

static void add_bytes_cell(Html *html, const ReportBarrier *barrier) {
    if (barrier->expect_bytes < 0 && barrier->data_bytes < 0) {
        html_cell_number(html, -1);
        return;
    }
    add(html, "<td class=\"number\">");
    text_number(html->to, (uint64_t)(barrier->expect_bytes < 0 ? 0 : barrier->expect_bytes));
    if (bytes_differ(barrier)) {
        add(html, " <span class=\"flag\" title=\"announced, and delivered\">\xe2\x89\xa0</span> ");
        text_number(html->to, (uint64_t)(barrier->data_bytes < 0 ? 0 : barrier->data_bytes));
    } else {
        add(html, " <span class=\"good\" title=\"as many are delivered\">\xe2\x9c\x93</span>");
    }
    add(html, "</td>");
}

static bool is_candidate(const ReportCandidate *candidate, const ReportBarrier *barrier) {
    return strcmp(candidate->verdict, "deadlock") == 0 && strcmp(candidate->barrier, barrier->name) == 0;
}

/* What is wrong with it, not only remarkable. */
static bool is_wrong(const Report *report, const ReportBarrier *barrier) {
    for (size_t i = 0; i < report->candidate_count; i++)
        if (is_candidate(&report->candidates[i], barrier))
            return true;
    return bytes_differ(barrier);
}

static void add_barrier_row(Html *html, size_t index) {
    const ReportBarrier *barrier = &html->report->barriers[index];
    text_addf(html->to, "<tr id=\"barrier-%zu\" data-barrier=\"%zu\"%s>", index, index,
              is_wrong(html->report, barrier) ? " class=\"flagged\"" : "");
    text_addf(html->to, "<th scope=\"row\"><a class=\"name\" href=\"#sites-%zu\">", index);
    html_addf(html, "%s</a>", barrier->name);
    if (barrier->issue_count)
        text_addf(html->to, " <span class=\"remarks\" title=\"remarks: see its name below\">!%zu</span>",
                  barrier->issue_count);
    add(html, "</th>");
    html_cell(html, barrier->direction);
    html_cell_number(html, barrier->depth);
    html_cell_number(html, barrier->count);
    html_cell_code(html, barrier->index);
    html_cell_code(html, barrier->phase);
    html_cell(html, barrier->inverted ? "passes" : "waits");
    add_bytes_cell(html, barrier);
    html_cell_number(html, (int64_t)barrier->iterations);
    html_cell_number(html, (int64_t)barrier->flips);
    add(html, "<td>");
    html_barriers(html, barrier->pair);
    add(html, "</td></tr>\n");
}

static void add_as_written(Html *html, const char *fitted, const char *written) {
    add(html, "<td>");
    if (html_said(fitted)) {
        add(html, "<code>");
        html_words(html, fitted);
        add(html, "</code>");
    } else {
        html_none(html);
    }
    if (html_said(written) && strcmp(written, fitted) != 0)
        html_addf(html, "<span class=\"written\" title=\"as the IR computes it\"><code>%s</code></span>", written);
    add(html, "</td>");
}

static void add_first_wait(Html *html, const ReportSite *site, bool wait) {
    if (!wait || site->first_parity < 0)
        html_cell(html, "");
    else
        html_addf(html, "<td>parity %u%s</td>", (unsigned)site->first_parity,
                  site->passes_at_once ? ", passes at once" : "");
}

static void add_site(Html *html, const ReportSite *site, bool wait) {
    text_addf(html->to, "<tr><td>%s</td>", wait ? "waits" : "arrives");
    html_cell_places(html, &site->place, 1);
    html_cell(html, site->mechanism);
    add_as_written(html, site->index, site->index_as_written);
    add_as_written(html, site->phase, site->phase_as_written);
    html_addf(html, "<td class=\"number\">%s%lld</td>", site->stagger > 0 ? "+" : "", (long long)site->stagger);
    html_addf(html, "<td class=\"number\">%lld</td>", (long long)site->stride);
    add_first_wait(html, site, wait);
    html_cell_number(html, site->amount);
    add(html, "</tr>\n");
}

static void add_sites(Html *html, const ReportBarrier *barrier) {
    if (!barrier->arrive_count && !barrier->wait_count)
        return;
    html_table(html, barrier->name, "|Op|Mechanism|Index|Phase|#Stagger|#Stride|First wait|#Arrivals or bytes");
    for (size_t i = 0; i < barrier->arrive_count; i++)
        add_site(html, &barrier->arrives[i], false);
    for (size_t i = 0; i < barrier->wait_count; i++)
        add_site(html, &barrier->waits[i], true);
    html_table_end(html);
}

static void add_byte_sum(Html *html, const ReportBarrier *barrier) {
    if (!barrier->byte_count)
        return;
    add(html, "<div><dt>Bytes of a phase</dt><dd>");
    for (size_t i = 0; i < barrier->byte_count; i++) {
        const ReportBytes *bytes = &barrier->bytes[i];
        add(html, i ? report_bytes_take_turns(barrier) ? " or " : " + " : "");
        html_buffers(html, bytes->name);
        if (html_said(bytes->text))
            html_addf(html, " <code>%s</code>", bytes->text);
        add(html, " ");
        text_number(html->to, bytes->bytes < 0 ? 0 : (uint64_t)bytes->bytes);
        if (bytes->ir_line) {
            add(html, " (");
            html_line(html, bytes->ir_line);
            add(html, ")");
        }
    }
    add(html, " = ");
    text_number(html->to, barrier->data_bytes < 0 ? 0 : (uint64_t)barrier->data_bytes);
    add(html, "; announced: ");
    text_number(html->to, barrier->expect_bytes < 0 ? 0 : (uint64_t)barrier->expect_bytes);
    add(html, "</dd></div>\n");
}

static void add_protects(Html *html, const ReportBarrier *barrier) {
    if (!barrier->protect_count)
        return;
    add(html, "<div><dt>Protects</dt><dd>");
    for (size_t i = 0; i < barrier->protect_count; i++) {
        add(html, i ? ", " : "");
        html_buffers(html, barrier->protects[i]);
    }
    add(html, "</dd></div>\n");
}

static void add_other_ops(Html *html, const ReportBarrier *barrier) {
    if (!barrier->other_count)
        return;
    add(html, "<div><dt>Made and ended</dt><dd>");
    for (size_t i = 0; i < barrier->other_count; i++)
        html_place(html, &barrier->others[i]);
    add(html, "</dd></div>\n");
}

static void add_barrier(Html *html, size_t index) {
    const ReportBarrier *barrier = &html->report->barriers[index];
    text_addf(html->to, "<details class=\"fold barrier\" id=\"sites-%zu\" data-barrier=\"%zu\"%s>", index, index,
              html->report->barrier_count <= 4 || is_wrong(html->report, barrier) ? " open" : "");
    html_addf(html, "<summary><h3>%s</h3><span class=\"count\">%s", barrier->name, barrier->kind);
    if (html_said(barrier->direction))
        html_addf(html, ", %s", barrier->direction);
    if (barrier->depth > 0)
        html_addf(html, ", depth %lld", (long long)barrier->depth);
    add(html, "</span>");
    if (barrier->issue_count)
        text_addf(html->to, "<span class=\"remarks\">!%zu</span>", barrier->issue_count);
    add(html, "</summary>\n");
    for (size_t i = 0; i < barrier->issue_count; i++)
        remark(html, "p", barrier->issues[i]);
    add(html, "<dl class=\"facts\">\n");
    html_fact(html, "Value", barrier->value);
    html_fact(html, "Mechanism", barrier->mechanism);
    html_fact(html, "Offset", barrier->offset);
    html_fact(html, "Threads", barrier->participants);
    html_fact(html, "Cadence", barrier->cadence);
    add_byte_sum(html, barrier);
    add_protects(html, barrier);
    add_other_ops(html, barrier);
    add(html, "</dl>\n");
    add_sites(html, barrier);
    html_section_end(html);
}

void html_index_and_phase(Html *html) {
    const Report *report = html->report;
    html_section(html, "phases", "3 Index and phase", report->barrier_count, "barrier",
                 "Which slot of a barrier is used when, and which phase is waited for: fitted to what was seen in the "
                 "run. The first wait on a fresh barrier passes at once, or waits for an arrival.");
    if (report->barrier_count) {
        html_table(html, "Index and phase",
                   "Barrier|Direction|#Depth|#Count|Index|Phase|First wait|#Bytes|#Seen|#Flips|Pair");
        for (size_t i = 0; i < report->barrier_count; i++)
            add_barrier_row(html, i);
        html_table_end(html);
        add(html, "<h3 class=\"sub\">Each barrier, op by op</h3>\n");
        for (size_t i = 0; i < report->barrier_count; i++)
            add_barrier(html, i);
    } else {
        nothing_here(html, "There is no barrier.");
    }
    html_section_end(html);
}

/* ---- 4. Shared data ---------------------------------------------------------------------------- */

static void add_buffer(Html *html, size_t index) {
    const ReportBuffer *buffer = &html->report->buffers[index];
    text_addf(html->to, "<tr id=\"buffer-%zu\"><th scope=\"row\">", index);
    html_addf(html, "%s", buffer->name);
    if (html_said(buffer->value))
        html_addf(html, "<code class=\"below\">%s</code>", buffer->value);
    add(html, "</th>");
    html_addf(html, "<td>%s<code class=\"below\">%s</code></td>", buffer->space, buffer->storage);
    html_cell_number(html, buffer->id);
    html_cell_number(html, buffer->offset);
    html_cell_number(html, buffer->depth);
    html_cell_number(html, buffer->size);
    html_cell_places(html, buffer->writers, buffer->writer_count);
    html_cell_places(html, buffer->readers, buffer->reader_count);
    add(html, "<td>");
    html_barriers(html, buffer->barrier);
    for (size_t i = 0; i < buffer->note_count; i++) {
        add(html, "<span class=\"note\">");
        html_words(html, buffer->notes[i]);
        add(html, "</span>");
    }
    add(html, "</td></tr>\n");
}

void html_shared_data(Html *html) {
    const Report *report = html->report;
    html_section(html, "shared", "4 Shared data", report->buffer_count, "buffer",
                 "What the barriers protect: who writes it, who reads it. Sizes are bytes, in tensor memory columns.");
    if (report->buffer_count) {
        html_table(html, "Shared data",
                   "Buffer|Space and type|#buffer.id|#Offset|#Depth|#Size|Writers|Readers|Barrier");
        for (size_t i = 0; i < report->buffer_count; i++)
            add_buffer(html, i);
        html_table_end(html);
    } else {
        nothing_here(html, "Nothing is shared between partitions.");
    }
    html_section_end(html);
}

/* ---- 5. Aliases -------------------------------------------------------------------------------- */

static void add_alias(Html *html, const ReportAlias *alias) {
    text_addf(html->to, "<tr><td class=\"level level-%u\">", alias->level < 12 ? alias->level : 12);
    html_addf(html, "<code>%s</code></td>", alias->value);
    html_cell(html, alias->how);
    html_cell(html, alias->partition);
    html_cell_line(html, alias->ir_line);
    add(html, "</tr>\n");
}

static void add_alias_group(Html *html, const char *kind, const char *name, const ReportAlias *aliases, size_t count,
                            bool open) {
    html_addf(html, "<details class=\"fold\"%s><summary><h3>%s</h3><span class=\"count\">%s, %zu ", open ? " open" : "",
              name, kind, count);
    html_addf(html, "%s</span></summary>\n", count == 1 ? "value" : "values");
    html_table(html, name, "Value|How|Partition|#IR line");
    for (size_t i = 0; i < count; i++)
        add_alias(html, &aliases[i]);
    html_table_end(html);
    html_section_end(html);
}

void html_aliases(Html *html) {
    const Report *report = html->report;
    size_t groups = 0;
    for (size_t i = 0; i < report->barrier_count; i++)
        groups += report->barriers[i].alias_count > 0;
    for (size_t i = 0; i < report->buffer_count; i++)
        groups += report->buffers[i].alias_count > 0;
    html_section(html, "aliases", "5 Alias map", groups, "group",
                 "Every value that means the same barrier or buffer, from its allocation on.");
    if (!groups)
        nothing_here(html, "No value has another name.");
    for (size_t i = 0; i < report->barrier_count; i++)
        if (report->barriers[i].alias_count)
            add_alias_group(html, "barrier", report->barriers[i].name, report->barriers[i].aliases,
                            report->barriers[i].alias_count, groups <= 4);
    for (size_t i = 0; i < report->buffer_count; i++)
        if (report->buffers[i].alias_count)
            add_alias_group(html, "buffer", report->buffers[i].name, report->buffers[i].aliases,
                            report->buffers[i].alias_count, groups <= 4);
    html_section_end(html);
}

/* ---- 6. Deadlocks ------------------------------------------------------------------------------ */

/* What the barrier is like for as long as it is waited for. */
static void add_state(Html *html, const ReportBlocked *blocked) {
    add(html, "<td class=\"state\">");
    if (blocked->parity >= 0)
        html_addf(html, "<span>waits for parity %u, its phase bit is %u</span>", (unsigned)blocked->parity,
                  (unsigned)(blocked->phase < 0 ? 0 : blocked->phase));
    if (blocked->pending >= 0) {
        add(html, "<span>");
        text_number_of(html->to, (uint64_t)blocked->pending, blocked->parity < 0 ? "thread" : "arrival");
        add(html, " to come</span>");
    }
    if (blocked->bytes) {
        add(html, "<span>");
        html_addf(html, "%lld bytes to come</span>", (long long)blocked->bytes);
    }
    if (blocked->flips >= 0) {
        add(html, "<span>");
        text_number_of(html->to, (uint64_t)blocked->flips, "phase");
        add(html, " completed</span>");
    }
    add(html, "</td>");
}

static void add_blocked(Html *html, const ReportBlocked *blocked) {
    html_addf(html, "<tr><th scope=\"row\">%s</th><td>", blocked->place.partition);
    html_addf(html, "<code>%s</code> ", blocked->place.op);
    html_words(html, blocked->place.detail);
    add(html, " ");
    html_line(html, blocked->place.ir_line);
    add(html, "</td><td><code>");
    html_slot(html, blocked->waits_for);
    add(html, "</code></td>");
    add_state(html, blocked);
    html_cell_places(html, blocked->could, blocked->could_count);
    add(html, "<td class=\"sentence\">");
    html_words(html, blocked->why);
    add(html, "</td></tr>\n");
}

static void add_deadlock(Html *html, const ReportDeadlock *deadlock) {
    add(html, "<article class=\"finding error\">\n<h3><span class=\"tag tag-error\">\xe2\x9c\x97 deadlock</span> ");
    html_words(html, deadlock->message);
    html_addf(html, "</h3><p class=\"rule\"><code>%s</code></p>\n<dl class=\"facts\">\n", deadlock->rule);
    html_fact(html, "Why", deadlock->why);
    html_fact(html, "Fix", deadlock->fix);
    html_fact(html, "Schedule", deadlock->schedule);
    html_fact(html, "Launch", deadlock->launch);
    add(html, "</dl>\n");
    if (deadlock->blocked_count) {
        html_table(html, "Who waits for ever", "Who|Waits at|For|State|Who could flip it|Why it stays");
        for (size_t i = 0; i < deadlock->blocked_count; i++)
            add_blocked(html, &deadlock->blocked[i]);
        html_table_end(html);
    }
    add(html, "</article>\n");
}

static void add_candidate(Html *html, const ReportCandidate *candidate) {
    bool bad = strcmp(candidate->verdict, "deadlock") == 0;
    add(html, "<tr><th scope=\"row\">");
    html_barriers(html, candidate->barrier);
    add(html, "</th>");
    html_cell(html, candidate->counts);
    html_addf(html, "<td><span class=\"tag %s\">%s%s</span></td><td>", bad ? "tag-error" : "tag-plain",
              bad ? "\xe2\x9c\x97 " : "", candidate->verdict);
    html_prose(html, candidate->why);
    add(html, "</td>");
    html_cell_places(html, candidate->places, candidate->place_count);
    add(html, "</tr>\n");
}

static void add_candidates(Html *html) {
    const Report *report = html->report;
    html_addf(html, "<details class=\"fold\" open><summary><h3>Candidates by count</h3><span class=\"count\">%zu",
              report->candidate_count);
    add(html, "</span></summary>\n");
    paragraph(html, "lead",
              "What a count of arrives and waits would call suspicious, and what it is by the phases themselves.");
    if (report->candidate_count) {
        html_table(html, "Candidates", "Barrier|Counts|Is|Why|Ops");
        for (size_t i = 0; i < report->candidate_count; i++)
            add_candidate(html, &report->candidates[i]);
        html_table_end(html);
    } else {
        nothing_here(html, "There are none.");
    }
    html_section_end(html);
}

void html_deadlocks(Html *html) {
    const Report *report = html->report;
    bool found = strcmp(report->deadlock_verdict, "found") == 0, none = strcmp(report->deadlock_verdict, "none") == 0;
    html_section(html, "deadlocks", "6 Deadlocks", report->deadlock_count, "deadlock",
                 "Whether any wait is never answered, by the phases of the barriers, not by counts.");
    html_addf(html, "<p class=\"answer\"><span class=\"tag %s\">%s %s</span> ",
              found  ? "tag-error"
              : none ? "tag-good"
                     : "tag-warning",
              found  ? "\xe2\x9c\x97"
              : none ? "\xe2\x9c\x93"
                     : "?",
              report->deadlock_verdict);
    html_prose(html, report->deadlock_reason);
    add(html, "</p>\n");
    for (size_t i = 0; i < report->deadlock_count; i++)
        add_deadlock(html, &report->deadlocks[i]);
    add_candidates(html);
    html_section_end(html);
}

/* ---- 7. Coverage ------------------------------------------------------------------------------- */

static const struct {
    const char *class, *mark, *word;
} orders[] = {{"tag-good", "\xe2\x9c\x93", "ordered"}, /* ORDER ReportOrder */
              {"tag-error", "\xe2\x9c\x97", "MISSING"},
              {"tag-warning", "\xe2\x97\x8b", "planned"},
              {"tag-plain", "\xe2\x80\x93", "unseen"}};
enum { ORDERS = sizeof orders / sizeof *orders };

static void count_orders(const ReportCoverage *coverage, size_t counts[ORDERS]) {
    for (size_t i = 0; i < coverage->row_count; i++)
        counts[coverage->rows[i].order]++;
}

size_t html_missing(const Report *report) {
    size_t counts[ORDERS] = {0};
    for (size_t i = 0; i < report->coverage_count; i++)
        count_orders(&report->coverage[i], counts);
    return counts[COVERAGE_MISSING];
}

/* What is missing comes first. */
static void add_order_tags(Html *html, const size_t counts[ORDERS]) {
    static const ReportOrder sequence[ORDERS] = {COVERAGE_MISSING, COVERAGE_ORDERED, COVERAGE_PLANNED, COVERAGE_UNSEEN};
    for (size_t i = 0; i < ORDERS; i++) {
        ReportOrder order = sequence[i];
        if (counts[order])
            text_addf(html->to, "<span class=\"tag %s\">%s %zu %s</span> ", orders[order].class, orders[order].mark,
                      counts[order], orders[order].word);
    }
}

static void add_coverage_row(Html *html, const ReportRow *row) {
    html_addf(html, "<tr class=\"%s\">", row->order == COVERAGE_MISSING ? "flagged" : "");
    html_cell(html, row->extent);
    add(html, "<td>");
    html_buffers(html, row->name);
    add(html, "</td>");
    html_cell(html, row->consumer);
    html_cell_places(html, &row->read, 1);
    html_cell(html, row->cadence);
    html_addf(html, "<td><span class=\"tag %s\">%s %s</span></td>", orders[row->order].class, orders[row->order].mark,
              orders[row->order].word);
    add(html, "<td class=\"sentence\">");
    html_words(html, row->by);
    add(html, "</td>");
    html_cell_number(html, (int64_t)row->times);
    add(html, "</tr>\n");
}

/* Where there are many tables, those that miss nothing are folded. */
static void add_coverage(Html *html, size_t index) {
    enum { MOST_OPEN = 6 };
    const ReportCoverage *coverage = &html->report->coverage[index];
    size_t counts[ORDERS] = {0};
    count_orders(coverage, counts);
    bool open = counts[COVERAGE_MISSING] || html->report->coverage_count <= MOST_OPEN;
    text_addf(html->to, "<details class=\"fold\" id=\"coverage-%zu\"%s><summary><h3>", index, open ? " open" : "");
    html_addf(html, "%s</h3><span class=\"count\">overwritten by %s", coverage->storage, coverage->writer.partition);
    if (coverage->writer.ir_line)
        html_addf(html, ", IR line %u", coverage->writer.ir_line);
    if (html_said(coverage->owner))
        html_addf(html, "; owner: %s", coverage->owner);
    add(html, "</span><span class=\"orders\">");
    add_order_tags(html, counts);
    add(html, "</span></summary>\n<p class=\"lead\">Overwritten by ");
    html_place(html, &coverage->writer);
    html_addf(html, ": %s%s</p>\n", coverage->extent, coverage->whole ? ", all of it" : "");
    html_table(html, coverage->storage, "Extent|Buffer|Read by|Read|Cadence|Order|By|#Times");
    for (size_t i = 0; i < coverage->row_count; i++)
        add_coverage_row(html, &coverage->rows[i]);
    html_table_end(html);
    html_section_end(html);
}

/* "m (columns 65-65 of %qk): default reads it at IR line 133, partition0.tensor overwrites it at IR line 184" */
static void add_missing(Html *html, size_t index, const ReportRow *row) {
    const ReportCoverage *coverage = &html->report->coverage[index];
    text_addf(html->to, "<li><a class=\"name\" href=\"#coverage-%zu\">", index);
    html_addf(html, "%s</a> (%s): <b>%s</b> reads it", row->name, row->extent, row->consumer);
    add(html, row->read.ir_line ? " at " : "");
    html_line(html, row->read.ir_line);
    html_addf(html, ", <b>%s</b> overwrites it", coverage->writer.partition);
    add(html, coverage->writer.ir_line ? " at " : "");
    html_line(html, coverage->writer.ir_line);
    add(html, ", and nothing makes it wait.</li>\n");
}

static void add_coverage_answer(Html *html) {
    enum { MOST = 12 };
    const Report *report = html->report;
    size_t counts[ORDERS] = {0}, shown = 0;
    for (size_t i = 0; i < report->coverage_count; i++)
        count_orders(&report->coverage[i], counts);
    add(html, "<p class=\"answer\">");
    add_order_tags(html, counts);
    add(html, counts[COVERAGE_MISSING] ? "</p>\n<ul class=\"reasons missing\">\n" : "</p>\n");
    for (size_t i = 0; i < report->coverage_count; i++)
        for (size_t k = 0; k < report->coverage[i].row_count; k++)
            if (report->coverage[i].rows[k].order == COVERAGE_MISSING && shown++ < MOST)
                add_missing(html, i, &report->coverage[i].rows[k]);
    if (shown > MOST)
        html_addf(html, "<li>and %zu more</li>\n", shown - MOST);
    add(html, counts[COVERAGE_MISSING] ? "</ul>\n" : "");
}

void html_coverage(Html *html) {
    const Report *report = html->report;
    html_section(html, "coverage", "7 Coverage", report->coverage_count, "table",
                 "Every write over memory that others read, and what makes it wait until they have read it.");
    paragraph(html, "lead", report->coverage_note);
    if (report->coverage_count)
        add_coverage_answer(html);
    for (size_t i = 0; i < report->coverage_count; i++)
        add_coverage(html, i);
    if (!report->coverage_count && !html_said(report->coverage_note))
        nothing_here(html, "Nothing is overwritten after it was read.");
    html_section_end(html);
}

/* ---- Limits, glossary, excerpts ---------------------------------------------------------------- */

static void add_limit(Html *html, const ReportLimit *limit) {
    bool known = limit->used >= 0 && limit->most > 0, over = known && limit->used > limit->most;
    unsigned percent = !known ? 0 : over ? 100 : (unsigned)((double)limit->used * 100 / (double)limit->most);
    html_addf(html, "<tr class=\"%s\"><th scope=\"row\">%s</th>", over ? "flagged" : "", limit->name);
    html_cell_number(html, limit->used);
    html_cell_number(html, limit->most);
    html_cell(html, limit->unit);
    add(html, "<td>");
    if (known)
        text_addf(html->to, "<span class=\"share\"><span style=\"width: %u%%\"></span></span> ", percent);
    if (over)
        add(html, "<span class=\"tag tag-error\">\xe2\x9c\x97 too much</span>");
    else if (known)
        text_addf(html->to, "%u%%", percent);
    add(html, "</td></tr>\n");
}

void html_limits(Html *html) {
    const Report *report = html->report;
    if (!report->limit_count)
        return;
    html_section(html, "limits", "Limits", 0, "", "What the kernel takes of what the device has.");
    html_table(html, "Limits", "What|#Used|#At most|Unit|Share");
    for (size_t i = 0; i < report->limit_count; i++)
        add_limit(html, &report->limits[i]);
    html_table_end(html);
    html_section_end(html);
}

void html_glossary(Html *html) {
    html_section(html, "glossary", "Glossary", html->term_count, "word", "");
    add(html, "<dl class=\"glossary\">\n");
    for (size_t i = 0; i < html->term_count; i++) {
        const Term *term = &html->terms[i];
        html_addf(html, "<div id=\"term-%s\"><dt>%s</dt><dd>%s</dd></div>\n", term->id, term->word, term->text);
    }
    add(html, "</dl>\n");
    html_section_end(html);
}

/* As many bytes of a line as are quoted: whole characters. */
static Str cut_line(Str line, bool *cut) {
    enum { MOST = 400 };
    *cut = line.size > MOST;
    if (!*cut)
        return line;
    line.size = MOST;
    while (line.size && ((unsigned char)line.data[line.size] & 0xc0) == 0x80)
        line.size--;
    return line;
}

void html_excerpts(Html *html) {
    if (!html->line_count)
        return;
    html_addf(html,
              "<details class=\"section\" id=\"excerpts\"><summary><h2>Lines of the IR</h2><span "
              "class=\"count\">%zu quoted</span></summary>\n<ol class=\"lines\">\n",
              html->line_count);
    for (size_t i = 0; i < html->line_count; i++) {
        uint32_t number = html->lines[i];
        bool cut, gap = i && html->lines[i - 1] + 1 != number;
        Str line = cut_line(source_line(html->source, number), &cut);
        text_addf(html->to, "<li id=\"L%u\" value=\"%u\"%s><code>", number, number, gap ? " class=\"gap\"" : "");
        html_text(html->to, line);
        text_addf(html->to, "%s</code></li>\n", cut ? " \xe2\x80\xa6" : "");
    }
    add(html, "</ol>\n");
    html_section_end(html);
}
