/* The partitions of a barrier report and what leads from one to the other, as a graph for dot. */
#include "render/report/report.h"
#include "render/report/report_sections.h"

/* What may stand between quotes. Graphviz reads HTML's entities there, too. */
static void add_escaped(Text *to, const char *text) {
    for (size_t size; *text; text += size) {
        size = strcspn(text, "\"\\&\n\t");
        text_add_plain(to, (Str){text, size});
        if (size)
            continue;
        size = 1;
        if (*text == '&')
            text_addf(to, "&amp;");
        else if (*text == '\n' || *text == '\t')
            text_char(to, ' ');
        else
            text_addf(to, "\\%c", *text);
    }
}

static void add_quoted(Text *to, const char *text) {
    text_char(to, '"');
    add_escaped(to, text);
    text_char(to, '"');
}

/* The node that stands for an agent. */
static const char *node_of(const Report *report, const char *agent) {
    for (size_t i = 0; i < report->partition_count; i++)
        if (report_belongs(agent, report->partitions[i].name))
            return report->partitions[i].name;
    return agent;
}

static bool waits_forever(const Report *report, const char *name) {
    for (size_t i = 0; i < report->deadlock_count; i++)
        for (size_t k = 0; k < report->deadlocks[i].blocked_count; k++)
            if (report_belongs(report->deadlocks[i].blocked[k].place.partition, name))
                return true;
    return false;
}

static void add_node(const Report *report, const ReportPartition *partition, Text *to) {
    text_addf(to, "  ");
    add_quoted(to, partition->name);
    text_addf(to, " [label=\"");
    add_escaped(to, partition->name);
    if (*partition->role) {
        text_addf(to, "\\n");
        add_escaped(to, partition->role);
    }
    if (partition->warps >= 0)
        text_addf(to, "\\n%d warp%s", partition->warps, partition->warps == 1 ? "" : "s");
    bool stuck = waits_forever(report, partition->name);
    text_addf(to, "%s\"%s];\n", stuck ? "\\nwaits forever" : "", stuck ? ", color=red, fontcolor=red" : "");
}

static void add_ends(const char *from, const char *to_name, Text *to) {
    text_addf(to, "  ");
    add_quoted(to, from);
    text_addf(to, " -> ");
    add_quoted(to, to_name);
}

static void add_edge(const ReportEdge *edge, Text *to) {
    const char *const lines[] = {edge->barrier, edge->carries, edge->note};
    bool backward = report_is_backward(edge);
    add_ends(edge->from, edge->to, to);
    text_addf(to, " [label=\"");
    add_escaped(to, edge->mechanism);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (*lines[i]) {
            text_addf(to, "\\n");
            add_escaped(to, lines[i]);
        }
    text_addf(to, "\"%s%s];\n", backward ? ", style=dashed, constraint=false" : "",
              *edge->note ? ", color=darkorange, fontcolor=darkorange" : "");
}

/* From who reads to who overwrites: that is the order that should be there. */
static void add_missing(const Report *report, const ReportCoverage *coverage, const ReportRow *row, Text *to) {
    add_ends(node_of(report, row->consumer), node_of(report, coverage->writer.partition), to);
    text_addf(to, " [label=\"MISSING\\n");
    add_escaped(to, row->name);
    text_addf(to, "%s", *row->extent ? ", " : "");
    add_escaped(to, row->extent);
    text_addf(to, "\", style=dotted, constraint=false, color=red, fontcolor=red];\n");
}

void render_report_dot(const Report *report, Text *to) {
    Text title = {0};
    text_addf(&title, *report->kernel ? "%s: @%s: " : "%s: ", report->file, verdict_name(report->verdict));
    report_outcome(report, &title);
    text_char(&title, 0);
    text_addf(to, "digraph barriers {\n  fontname=\"sans-serif\";\n  label=");
    add_quoted(to, title.failed ? "" : title.data);
    text_addf(to, ";\n  labelloc=t;\n  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n"
                  "  edge [fontname=\"sans-serif\", fontsize=10];\n");
    for (size_t i = 0; i < report->partition_count; i++)
        add_node(report, &report->partitions[i], to);
    for (size_t i = 0; i < report->edge_count; i++)
        add_edge(&report->edges[i], to);
    for (size_t i = 0; i < report->coverage_count; i++)
        for (size_t k = 0; k < report->coverage[i].row_count; k++)
            if (report->coverage[i].rows[k].order == COVERAGE_MISSING)
                add_missing(report, &report->coverage[i], &report->coverage[i].rows[k], to);
    text_addf(to, "}\n");
    to->failed |= title.failed;
    text_free(&title);
}
