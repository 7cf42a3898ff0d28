/* Edges between the same two partitions in the same direction are one arrow with one label: data that is ready first,
 * in the order in which it flows, then memory that may be used again, then order that is missing. Each arrow has a
 * height of its own, so no label meets another. */
#include "render/html/html_graph.h"

#include "render/report/report_sections.h"

#include <stdlib.h>

enum {
    MOST_NODES = 64,
    MOST_ROWS = 400,
    MOST_NAMES = 16, /* in one label; the table has the others */
    MARGIN = 12,
    LETTER = 7,        /* the width of one, at most, in labels */
    LINE = 14,         /* the height of one, in labels */
    NODE_LETTERS = 18, /* of a partition's name and role, at least; and at most: */
    MOST_NODE_LETTERS = 60,
    NODE_TOP = 20,    /* of a partition: its name */
    LEAST_LABEL = 24, /* letters */
    LOOP = 28,        /* of an edge from a partition to itself */
    MANY_ROWS = 14,   /* from which on the partitions stand below them, too */
};

static const double SMALLEST = 0.8; /* of its size, in a narrow window; then it scrolls */

typedef enum RowKind { ROW_FORWARD, ROW_BACKWARD, ROW_MISSING, ROW_KINDS } RowKind;

typedef struct HtmlGraphRow {
    RowKind kind;
    size_t from, to; /* nodes */
    const ReportEdge *const *edges;
    size_t edge_count;          /* 0: an order that is missing */
    const ReportCoverage *lost; /* what is overwritten then */
    Text label;                 /* its lines */
    size_t lines, letters;      /* how many, and of the longest */
    double y;                   /* of the arrow */
} HtmlGraphRow;

typedef struct HtmlGraph {
    Html *html;
    const ReportEdge **edges; /* those of each kind, side by side */
    EdgeGroup *groups;
    HtmlGraphRow rows[MOST_ROWS];
    size_t row_count;
    bool too_many;
    size_t node_letters; /* that names and roles of partitions have room for */
    size_t role_lines;   /* of the partition that has most */
    double height;
} HtmlGraph;

/* ---- Labels ------------------------------------------------------------------------------------ */

/* A text broken at spaces into lines of so many letters; a longer word is a line by itself. */
static void wrap(Str text, size_t most, Text *to, size_t *lines, size_t *letters) {
    size_t used = 0;
    *lines = 1;
    *letters = 0;
    while (text.size) {
        const char *space = memchr(text.data, ' ', text.size);
        Str word = {text.data, space ? (size_t)(space - text.data) : text.size};
        size_t width = utf8_count(word);
        if (used && used + 1 + width > most) {
            text_char(to, '\n');
            ++*lines;
            used = 0;
        } else if (used) {
            text_char(to, ' ');
            used++;
        }
        text_str(to, word);
        used += width;
        *letters = used > *letters ? used : *letters;
        text = str_between(word.data + word.size + (space != NULL), text.data + text.size);
    }
}

static const char *edge_name(const ReportEdge *edge) {
    return html_said(edge->barrier) ? edge->barrier : edge->mechanism;
}

/* What its edges are called, or which buffers are overwritten. */
static void add_names(const HtmlGraphRow *row, Text *to) {
    for (size_t i = 0; i < row->edge_count && i < MOST_NAMES; i++)
        text_addf(to, "%s%s", i ? ", " : "", edge_name(row->edges[i]));
    if (row->edge_count > MOST_NAMES)
        text_addf(to, " and %zu more", row->edge_count - MOST_NAMES);
    if (!row->lost)
        return;
    text_str(to, STR("missing:"));
    for (size_t i = 0; i < row->lost->row_count; i++)
        if (row->lost->rows[i].order == COVERAGE_MISSING)
            text_addf(to, "%s %s", i && to->data[to->size - 1] != ':' ? "," : "", row->lost->rows[i].name);
}

static double node_width(const HtmlGraph *graph) {
    return (double)graph->node_letters * LETTER + 12;
}

/* From one partition to the next. */
static double pitch_of(const HtmlGraph *graph) {
    return node_width(graph) + 36;
}

static double column_of(const HtmlGraph *graph, size_t node) {
    return MARGIN + (double)node * pitch_of(graph) + node_width(graph) / 2;
}

static double middle_of(const HtmlGraph *graph, const HtmlGraphRow *row) {
    return row->from == row->to ? column_of(graph, row->from) + LOOP
                                : (column_of(graph, row->from) + column_of(graph, row->to)) / 2;
}

static void make_label(HtmlGraph *graph, HtmlGraphRow *row) {
    Text names = {0};
    size_t span = row->from < row->to ? row->to - row->from : row->from - row->to;
    size_t room = (size_t)((double)span * pitch_of(graph) / LETTER);
    add_names(row, &names);
    wrap((Str){names.data, names.size}, room > LEAST_LABEL ? room : LEAST_LABEL, &row->label, &row->lines,
         &row->letters);
    graph->html->to->failed |= names.failed || row->label.failed;
    text_free(&names);
}

/* ---- What is drawn ----------------------------------------------------------------------------- */

static void add_row(HtmlGraph *graph, HtmlGraphRow row, const char *from, const char *to) {
    const Report *report = graph->html->report;
    row.from = report_partition(report, from);
    row.to = report_partition(report, to);
    if (row.from == report->partition_count || row.to == report->partition_count)
        return;
    if (graph->row_count == MOST_ROWS) {
        graph->too_many = true;
        return;
    }
    graph->rows[graph->row_count] = row;
    make_label(graph, &graph->rows[graph->row_count++]);
}

/* `first`: how many edges of other kinds stand before these. */
static size_t collect(HtmlGraph *graph, RowKind kind, size_t first) {
    const Report *report = graph->html->report;
    size_t count = 0, groups = 0;
    for (size_t i = 0; i < report->edge_count; i++)
        if (report_is_backward(&report->edges[i]) == (kind == ROW_BACKWARD))
            graph->edges[first + count++] = &report->edges[i];
    if (!report_group_edges(graph->edges + first, count, graph->groups, &groups))
        graph->html->to->failed = true;
    for (size_t i = 0; i < groups; i++) {
        const EdgeGroup *group = &graph->groups[i];
        add_row(graph, (HtmlGraphRow){.kind = kind, .edges = group->edges, .edge_count = group->count},
                group->edges[0]->from, group->edges[0]->to);
    }
    return first + count;
}

/* From who reads to who overwrites, and does not wait. */
static void collect_missing(HtmlGraph *graph) {
    const Report *report = graph->html->report;
    for (size_t i = 0; i < report->coverage_count; i++) {
        const ReportCoverage *coverage = &report->coverage[i];
        const ReportRow *missing = NULL;
        for (size_t k = 0; k < coverage->row_count && !missing; k++)
            missing = coverage->rows[k].order == COVERAGE_MISSING ? &coverage->rows[k] : NULL;
        if (missing)
            add_row(graph, (HtmlGraphRow){.kind = ROW_MISSING, .lost = coverage}, missing->consumer,
                    coverage->writer.partition);
    }
}

/* ---- Where it is drawn ------------------------------------------------------------------------- */

static double node_height(const HtmlGraph *graph) {
    return NODE_TOP + 8 + (double)graph->role_lines * LINE;
}

static void place(HtmlGraph *graph) {
    const Report *report = graph->html->report;
    for (size_t i = 0; i < report->partition_count; i++) {
        Text role = {0};
        size_t lines, letters;
        wrap(str_of(report->partitions[i].role), graph->node_letters, &role, &lines, &letters);
        lines = role.size ? lines : 0;
        graph->role_lines = lines > graph->role_lines ? lines : graph->role_lines;
        text_free(&role);
    }
    double y = MARGIN + node_height(graph) + 6;
    for (size_t i = 0; i < graph->row_count; i++) {
        HtmlGraphRow *row = &graph->rows[i];
        y += (double)row->lines * LINE + 6;
        row->y = y;
        y += row->from == row->to ? 18 : 8;
    }
    graph->height = y + 8;
}

/* ---- Drawing ----------------------------------------------------------------------------------- */

static const char *const classes[] = {"forward", "backward", "missing"}; /* ORDER RowKind */
static const char *const markers[] = {"graph-on", "graph-back", "graph-missing"};

/* An arrow and its label lead to the row of its first edge; their tooltip has them all. The script marks the rows. One
 * of the two is enough for who goes by keyboard. */
static void open_edge(const HtmlGraph *graph, const HtmlGraphRow *row, bool label) {
    enum { MOST = 16 };
    Html *html = graph->html;
    const Report *report = html->report;
    const char *from = row->lost ? report->partitions[row->from].name : row->edges[0]->from;
    const char *to = row->lost ? report->partitions[row->to].name : row->edges[0]->to;
    size_t target = row->lost ? (size_t)(row->lost - report->coverage) : (size_t)(row->edges[0] - report->edges);
    text_addf(html->to, "<a class=\"edge %s\" href=\"#%s-%zu\" ", classes[row->kind], row->lost ? "coverage" : "edge",
              target);
    text_str(html->to, label ? STR("tabindex=\"-1\" ") : STR(""));
    html_addf(html, "data-pair=\"%s>%s>%s\"><title>", from, to, classes[row->kind]);
    html_addf(html, "%s \xe2\x86\x92 %s (%s):", from, to, classes[row->kind]);
    for (size_t i = 0; i < row->edge_count && i < MOST; i++) {
        html_addf(html, "\n%s", edge_name(row->edges[i]));
        if (html_said(row->edges[i]->carries))
            html_addf(html, ": %s", row->edges[i]->carries);
    }
    if (row->edge_count > MOST)
        html_addf(html, "\nand %zu more", row->edge_count - MOST);
    if (row->lost)
        html_addf(html, "\n%s is overwritten, and nothing waits for its readers", row->lost->storage);
    text_str(html->to, STR("</title>"));
}

static void draw_arrow(const HtmlGraph *graph, const HtmlGraphRow *row) {
    Text path = {0};
    double start = column_of(graph, row->from), end = column_of(graph, row->to);
    if (row->from == row->to)
        text_addf(&path, "d=\"M%.1f %.1fH%.1fV%.1fH%.1f\"", start, row->y, start + LOOP, row->y + 12, start + 3);
    else
        text_addf(&path, "d=\"M%.1f %.1fH%.1f\"", start, row->y, end < start ? end + 3 : end - 3);
    text_char(&path, 0);
    open_edge(graph, row, false);
    if (!path.failed)
        text_addf(graph->html->to,
                  "<path class=\"wide-line\" %s/><circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/><path %s "
                  "marker-end=\"url(#%s)\"/></a>\n",
                  path.data, start, row->y, path.data, markers[row->kind]);
    text_free(&path);
}

/* Lines of a text, one below the other. */
static void draw_lines(Html *html, const char *class, double x, double y, Str text) {
    text_addf(html->to, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, x, y);
    for (size_t line = 0; text.size || !line; line++) {
        const char *end = memchr(text.data, '\n', text.size);
        Str one = end ? str_between(text.data, end) : text;
        if (line || end)
            text_addf(html->to, "<tspan x=\"%.1f\" y=\"%.1f\">", x, y + (double)line * LINE);
        html_text(html->to, one);
        if (line || end)
            text_str(html->to, STR("</tspan>"));
        text = end ? str_between(end + 1, text.data + text.size) : (Str){text.data, 0};
    }
    text_str(html->to, STR("</text>"));
}

/* Above its arrow, on a ground that hides the partitions' lines behind it. */
static void draw_label(const HtmlGraph *graph, const HtmlGraphRow *row) {
    double width = (double)(row->letters * LETTER) + 6, height = (double)row->lines * LINE, top = row->y - height - 4;
    open_edge(graph, row, true);
    text_addf(graph->html->to, "<rect class=\"label-back\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
              middle_of(graph, row) - width / 2, top, width, height);
    draw_lines(graph->html, "edge-label", middle_of(graph, row), top + 11, (Str){row->label.data, row->label.size});
    text_str(graph->html->to, STR("</a>\n"));
}

static void draw_node(const HtmlGraph *graph, size_t node, double top) {
    Html *html = graph->html;
    const ReportPartition *partition = &html->report->partitions[node];
    Text role = {0}, name = {0};
    size_t lines, letters;
    wrap(str_of(partition->role), graph->node_letters, &role, &lines, &letters);
    text_addf(&name, "%s", partition->name);
    html_addf(html, "<g class=\"node\"><title>%s%s%s</title>", partition->name, role.size ? ": " : "", partition->role);
    text_addf(html->to, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"6\"/>",
              column_of(graph, node) - node_width(graph) / 2, top, node_width(graph), node_height(graph));
    draw_lines(html, "node-name", column_of(graph, node), top + (role.size ? NODE_TOP - 3 : node_height(graph) / 2 + 4),
               (Str){name.data, name.size});
    if (role.size)
        draw_lines(html, "node-role", column_of(graph, node), top + NODE_TOP + 12, (Str){role.data, role.size});
    text_str(html->to, STR("</g>\n"));
    html->to->failed |= role.failed || name.failed;
    text_free(&role);
    text_free(&name);
}

/* Labels may reach past the partitions on either side. */
static void draw_start(const HtmlGraph *graph, double height) {
    double left = 0, right = 2 * MARGIN + (double)(graph->html->report->partition_count - 1) * pitch_of(graph) +
                             node_width(graph);
    for (size_t i = 0; i < graph->row_count; i++) {
        const HtmlGraphRow *row = &graph->rows[i];
        double half = (double)(row->letters * LETTER) / 2 + 8;
        left = middle_of(graph, row) - half < left ? middle_of(graph, row) - half : left;
        right = middle_of(graph, row) + half > right ? middle_of(graph, row) + half : right;
    }
    text_addf(graph->html->to,
              "<figure class=\"graph\"><div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Graph\">"
              "<svg viewBox=\"%.1f 0 %.1f %.1f\" width=\"%.0f\" height=\"%.0f\" style=\"min-width: %.0fpx\" "
              "role=\"document\" aria-label=\"Dependency graph; its edges are in the tables below\">\n",
              left, right - left, height, right - left, height, (right - left) * SMALLEST);
    for (size_t i = 0; i < ROW_KINDS; i++)
        text_addf(graph->html->to,
                  "<marker id=\"%s\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
                  "orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker>\n",
                  markers[i]);
}

static void draw_key(const HtmlGraph *graph) {
    text_str(graph->html->to,
             STR("</svg></div><figcaption><span class=\"key forward\"></span>forward: data is ready <span class=\"key "
                 "backward\"></span>backward: memory may be used again"));
    if (graph->row_count && graph->rows[graph->row_count - 1].kind == ROW_MISSING)
        text_str(graph->html->to, STR(" <span class=\"key missing\"></span>missing: data may be overwritten before it "
                                      "is read"));
    text_str(graph->html->to, STR("</figcaption></figure>\n"));
}

static void draw(const HtmlGraph *graph) {
    size_t nodes = graph->html->report->partition_count;
    bool twice = graph->row_count > MANY_ROWS;
    double top = MARGIN + node_height(graph);
    draw_start(graph, graph->height + MARGIN + (twice ? node_height(graph) : 0));
    for (size_t i = 0; i < nodes; i++)
        text_addf(graph->html->to, "<path class=\"lifeline\" d=\"M%.1f %.1fV%.1f\"/>\n", column_of(graph, i), top,
                  graph->height);
    for (size_t i = 0; i < graph->row_count; i++)
        draw_arrow(graph, &graph->rows[i]);
    for (size_t i = 0; i < nodes; i++)
        draw_node(graph, i, MARGIN);
    for (size_t i = 0; twice && i < nodes; i++)
        draw_node(graph, i, graph->height);
    for (size_t i = 0; i < graph->row_count; i++)
        draw_label(graph, &graph->rows[i]);
    draw_key(graph);
}

/* Names of partitions are not broken. */
static size_t letters_of_nodes(const Report *report) {
    size_t most = NODE_LETTERS;
    for (size_t i = 0; i < report->partition_count; i++) {
        size_t letters = utf8_count(str_of(report->partitions[i].name)) + 1;
        most = letters > most ? letters : most;
    }
    return most < MOST_NODE_LETTERS ? most : MOST_NODE_LETTERS;
}

static void make_graph(HtmlGraph *graph) {
    graph->node_letters = letters_of_nodes(graph->html->report);
    size_t first = collect(graph, ROW_FORWARD, 0);
    collect(graph, ROW_BACKWARD, first);
    collect_missing(graph);
    if (graph->too_many) {
        text_str(graph->html->to,
                 STR("<p class=\"empty\">These are too many to draw; the tables have them all.</p>\n"));
    } else {
        place(graph);
        draw(graph);
    }
    for (size_t i = 0; i < graph->row_count; i++)
        text_free(&graph->rows[i].label);
}

void html_graph(Html *html) {
    const Report *report = html->report;
    if (!report->edge_count || !report->partition_count)
        return;
    if (report->partition_count > MOST_NODES) {
        text_str(html->to, STR("<p class=\"empty\">These are too many to draw; the tables have them all.</p>\n"));
        return;
    }
    HtmlGraph *graph = calloc(1, sizeof *graph);
    if (graph) {
        graph->html = html;
        graph->edges = calloc(report->edge_count + 1, sizeof *graph->edges);
        graph->groups = calloc(report->edge_count + 1, sizeof *graph->groups);
    }
    if (graph && graph->edges && graph->groups)
        make_graph(graph);
    else
        html->to->failed = true;
    if (graph) {
        free((void *)graph->edges);
        free(graph->groups);
    }
    free(graph);
}
