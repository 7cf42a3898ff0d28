/* Edges between the same two partitions in the same direction are one line with one label. A line leaves its partition
 * upwards (downwards if it leads back), runs level, and comes down on the other. Lines whose ends or labels would touch
 * run on different levels; the shorter ones are nearer to the partitions. */
#include "render/html_graph.h"

#include "render/report_sections.h"

#include <stdlib.h>

enum {
    MOST_NODES = 24,
    MOST_LINES = 80,
    NODE_WIDTH = 128,
    NODE_HEIGHT = 48,
    PITCH = 166,
    MARGIN = 8,
    LEVEL = 26,
    LETTER = 7, /* the width of one, at most, in labels */
    LABEL_LETTERS = 24,
    NAME_LETTERS = 15,
    ROLE_LETTERS = 20,
};

static const double SMALLEST = 0.8; /* of its size, in a narrow window; then it scrolls */

typedef struct Line {
    uint32_t from, to; /* nodes */
    bool back;
    const ReportEdge *first, *second;
    size_t edges;
    double start, end; /* where it leaves, and arrives */
    uint32_t level;
    Text label;
} Line;

typedef struct Graph {
    Html *html;
    uint32_t nodes;
    Line lines[MOST_LINES];
    size_t line_count;
    uint32_t levels[2]; /* above and below */
} Graph;

/* ---- What is drawn ----------------------------------------------------------------------------- */

/* The partition, also if a helper of it is named; MOST_NODES if there is none. */
static uint32_t find_node(const Graph *graph, const char *name) {
    const Report *report = graph->html->report;
    size_t size = strlen(name), dot = strcspn(name, ".");
    for (size_t cut = size;; cut = dot) {
        for (uint32_t i = 0; i < graph->nodes; i++)
            if (str_equal(str_of(report->partitions[i].name), (Str){name, cut}))
                return i;
        if (cut == dot)
            return MOST_NODES;
    }
}

/* False if there are too many lines. */
static bool collect(Graph *graph) {
    const Report *report = graph->html->report;
    uint8_t known[MOST_NODES][MOST_NODES][2] = {0}; /* 1 + the line */
    for (size_t i = 0; i < report->edge_count; i++) {
        const ReportEdge *edge = &report->edges[i];
        uint32_t from = find_node(graph, edge->from), to = find_node(graph, edge->to);
        bool back = report_is_backward(edge);
        if (from == MOST_NODES || to == MOST_NODES)
            continue;
        uint8_t *line = &known[from][to][back];
        if (!*line && graph->line_count == MOST_LINES)
            return false;
        if (!*line) {
            graph->lines[graph->line_count++] = (Line){.from = from, .to = to, .back = back, .first = edge};
            *line = (uint8_t)graph->line_count;
        }
        Line *one = &graph->lines[*line - 1];
        if (one->edges++ == 1)
            one->second = edge;
    }
    return true;
}

static const char *edge_name(const ReportEdge *edge) {
    return html_said(edge->barrier) ? edge->barrier : edge->mechanism;
}

/* At most `most` letters of a text; the last is an ellipsis if it is cut. */
static void add_cut(Text *to, const char *text, size_t most) {
    Str whole = str_of(text);
    if (utf8_count(whole) <= most) {
        text_str(to, whole);
        return;
    }
    size_t size = 0;
    for (size_t count = 0; count < most; size += count < most)
        count += !utf8_continues(whole.data[size]);
    text_add(to, whole.data, size);
    text_str(to, STR("\xe2\x80\xa6"));
}

/* "full", "full, empty", "full +2" */
static void make_label(Line *line) {
    const char *one = edge_name(line->first), *two = line->second ? edge_name(line->second) : "";
    bool both = line->edges == 2 && strlen(one) + strlen(two) + 2 <= LABEL_LETTERS;
    add_cut(&line->label, one, line->edges > 1 && !both ? LABEL_LETTERS - 5 : LABEL_LETTERS);
    if (both)
        text_addf(&line->label, ", %s", two);
    else if (line->edges > 1)
        text_addf(&line->label, " +%zu", line->edges - 1);
}

/* ---- Where it is drawn ------------------------------------------------------------------------- */

static uint32_t span_of(const Line *line) {
    return line->from < line->to ? line->to - line->from : line->from - line->to;
}

typedef struct End {
    Line *line;
    bool leaves;
    int side; /* where the other end is: -1 left, 1 right, 0 the same node */
} End;

/* From left to right: those to the left, the nearest first; those to the node itself; those to the right, the nearest
 * last. So lines from one node do not cross. */
static int compare_ends(const void *a, const void *b) {
    const End *x = a, *y = b;
    if (x->side != y->side)
        return x->side < y->side ? -1 : 1;
    int span_x = (int)span_of(x->line), span_y = (int)span_of(y->line);
    if (span_x != span_y)
        return (span_x < span_y ? -1 : 1) * (x->side < 0 ? 1 : -1);
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return (int)y->leaves - (int)x->leaves;
}

static int side_of(uint32_t here, uint32_t other) {
    return other < here ? -1 : other > here;
}

static void place_ends(Graph *graph, uint32_t node, bool back) {
    End ends[2 * MOST_LINES];
    size_t count = 0;
    for (size_t i = 0; i < graph->line_count; i++) {
        Line *line = &graph->lines[i];
        if (line->back != back)
            continue;
        if (line->from == node)
            ends[count++] = (End){line, true, side_of(node, line->to)};
        if (line->to == node)
            ends[count++] = (End){line, false, side_of(node, line->from)};
    }
    qsort(ends, count, sizeof *ends, compare_ends);
    for (size_t i = 0; i < count; i++) {
        double x = MARGIN + (double)node * PITCH + NODE_WIDTH * ((double)i + 1) / ((double)count + 1);
        *(ends[i].leaves ? &ends[i].line->start : &ends[i].line->end) = x;
    }
}

static double middle_of(const Line *line) {
    return (line->start + line->end) / 2;
}

/* What a line takes of its level, its label included. */
static void extent_of(const Line *line, double *left, double *right) {
    double half = (double)(utf8_count((Str){line->label.data, line->label.size}) * LETTER) / 2 + 6;
    double low = line->start < line->end ? line->start : line->end;
    double high = line->start < line->end ? line->end : line->start;
    *left = low < middle_of(line) - half ? low : middle_of(line) - half;
    *right = high > middle_of(line) + half ? high : middle_of(line) + half;
}

static bool touch(const Line *a, const Line *b) {
    double a_left, a_right, b_left, b_right;
    extent_of(a, &a_left, &a_right);
    extent_of(b, &b_left, &b_right);
    return a_left < b_right + 4 && b_left < a_right + 4;
}

static void place_line(Graph *graph, Line *line, Line *const *placed, size_t count) {
    for (line->level = 0;; line->level++) {
        bool free = true;
        for (size_t i = 0; i < count && free; i++)
            free = placed[i]->back != line->back || placed[i]->level != line->level || !touch(placed[i], line);
        if (free)
            break;
    }
    if (graph->levels[line->back] <= line->level)
        graph->levels[line->back] = line->level + 1;
}

static void place_lines(Graph *graph) {
    Line *placed[MOST_LINES];
    size_t count = 0;
    for (uint32_t span = 0; span < graph->nodes; span++)
        for (size_t i = 0; i < graph->line_count; i++)
            if (span_of(&graph->lines[i]) == span) {
                place_line(graph, &graph->lines[i], placed, count);
                placed[count++] = &graph->lines[i];
            }
}

/* ---- Drawing ----------------------------------------------------------------------------------- */

static double top_of_nodes(const Graph *graph) {
    return MARGIN + graph->levels[0] * (double)LEVEL + (graph->levels[0] ? LEVEL / 2 : 0);
}

static double level_of(const Graph *graph, const Line *line) {
    double away = (line->level + 1) * (double)LEVEL;
    return line->back ? top_of_nodes(graph) + NODE_HEIGHT + away : top_of_nodes(graph) - away;
}

/* A line and its label lead to the row of its first edge; their tooltip has them all. The script marks the rows. One of
 * the two is enough for who goes by keyboard. */
static void open_edge(const Graph *graph, const Line *line, bool label) {
    enum { MOST = 16 };
    Html *html = graph->html;
    const Report *report = html->report;
    const ReportEdge *first = line->first;
    text_addf(html->to, "<a class=\"edge %s\" href=\"#edge-%zu\" ", line->back ? "backward" : "forward",
              (size_t)(first - report->edges));
    text_str(html->to, label ? STR("tabindex=\"-1\" ") : STR(""));
    html_addf(html, "data-pair=\"%s>%s>%s\"><title>", first->from, first->to, first->direction);
    html_addf(html, "%s \xe2\x86\x92 %s (%s):", first->from, first->to, first->direction);
    size_t told = 0;
    for (const ReportEdge *edge = first; edge < report->edges + report->edge_count && told < MOST; edge++) {
        if (find_node(graph, edge->from) != line->from || find_node(graph, edge->to) != line->to ||
            report_is_backward(edge) != line->back)
            continue;
        html_addf(html, "\n%s", edge_name(edge));
        if (html_said(edge->carries))
            html_addf(html, ": %s", edge->carries);
        told++;
    }
    if (told < line->edges)
        html_addf(html, "\nand %zu more", line->edges - told);
    text_str(html->to, STR("</title>"));
}

static void draw_line(const Graph *graph, const Line *line) {
    Html *html = graph->html;
    double node = top_of_nodes(graph) + (line->back ? NODE_HEIGHT : 0), level = level_of(graph, line);
    double turn = line->end < line->start ? -6 : 6, fall = line->back ? -6 : 6;
    if (line->end - line->start < 12 && line->start - line->end < 12)
        turn = (line->end - line->start) / 2;
    Text path = {0};
    text_addf(&path, "d=\"M%.1f %.1fV%.1fQ%.1f %.1f %.1f %.1fH%.1fQ%.1f %.1f %.1f %.1fV%.1f\"", line->start, node,
              level + fall, line->start, level, line->start + turn, level, line->end - turn, line->end, level,
              line->end, level + fall, node + (line->back ? 3 : -3));
    text_char(&path, 0);
    open_edge(graph, line, false);
    if (!path.failed)
        text_addf(html->to, "<path class=\"wide-line\" %s/><path %s marker-end=\"url(#%s)\"/></a>\n", path.data,
                  path.data, line->back ? "graph-back" : "graph-on");
    text_free(&path);
}

/* On the far side of its line, on a ground that hides the lines that rise behind it. */
static void draw_label(const Graph *graph, const Line *line) {
    Str label = {line->label.data, line->label.size};
    double width = (double)(utf8_count(label) * LETTER) + 6, y = level_of(graph, line) + (line->back ? 13 : -5);
    open_edge(graph, line, true);
    text_addf(graph->html->to,
              "<rect class=\"label-back\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"14\"/><text "
              "class=\"edge-label\" x=\"%.1f\" y=\"%.1f\">",
              middle_of(line) - width / 2, y - 11, width, middle_of(line), y);
    html_text(graph->html->to, label);
    text_str(graph->html->to, STR("</text></a>\n"));
}

static void draw_node_text(Html *html, const char *class, double x, double y, const char *text, size_t most) {
    Text cut = {0};
    add_cut(&cut, text, most);
    text_addf(html->to, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, x, y);
    html_text(html->to, (Str){cut.data, cut.size});
    text_str(html->to, STR("</text>"));
    text_free(&cut);
}

static void draw_node(const Graph *graph, uint32_t node) {
    Html *html = graph->html;
    const ReportPartition *partition = &html->report->partitions[node];
    double x = MARGIN + (double)node * PITCH, y = top_of_nodes(graph);
    bool role = html_said(partition->role);
    html_addf(html, "<g class=\"node\"><title>%s%s%s</title>", partition->name, role ? ": " : "", partition->role);
    text_addf(html->to, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" rx=\"6\"/>", x, y, NODE_WIDTH,
              NODE_HEIGHT);
    draw_node_text(html, "node-name", x + NODE_WIDTH / 2.0, y + (role ? 20 : 28), partition->name, NAME_LETTERS);
    if (role)
        draw_node_text(html, "node-role", x + NODE_WIDTH / 2.0, y + 36, partition->role, ROLE_LETTERS);
    text_str(html->to, STR("</g>\n"));
}

/* Labels may reach past the partitions on either side. */
static void draw_start(const Graph *graph) {
    double left = 0, right = 2 * MARGIN + (graph->nodes - 1) * (double)PITCH + NODE_WIDTH;
    for (size_t i = 0; i < graph->line_count; i++) {
        double from, to;
        extent_of(&graph->lines[i], &from, &to);
        left = from - 4 < left ? from - 4 : left;
        right = to + 4 > right ? to + 4 : right;
    }
    double height = top_of_nodes(graph) + NODE_HEIGHT + graph->levels[1] * (double)LEVEL + MARGIN +
                    (graph->levels[1] ? LEVEL / 2 : 0);
    text_addf(graph->html->to,
              "<figure class=\"graph\"><div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Graph\">"
              "<svg viewBox=\"%.1f 0 %.1f %.1f\" width=\"%.0f\" height=\"%.0f\" style=\"min-width: %.0fpx\" "
              "role=\"group\" aria-label=\"Dependency "
              "graph; its edges are in the tables below\">\n",
              left, right - left, height, right - left, height, (right - left) * SMALLEST);
    static const char *const markers[] = {"graph-on", "graph-back"};
    for (size_t i = 0; i < 2; i++)
        text_addf(graph->html->to,
                  "<marker id=\"%s\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
                  "orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker>\n",
                  markers[i]);
}

static void draw(const Graph *graph) {
    draw_start(graph);
    for (size_t i = 0; i < graph->line_count; i++)
        draw_line(graph, &graph->lines[i]);
    for (uint32_t i = 0; i < graph->nodes; i++)
        draw_node(graph, i);
    for (size_t i = 0; i < graph->line_count; i++)
        draw_label(graph, &graph->lines[i]);
    text_str(graph->html->to,
             STR("</svg></div><figcaption><span class=\"key forward\"></span>forward: data is ready <span class=\"key "
                 "backward\"></span>backward: memory may be used again</figcaption></figure>\n"));
}

void html_graph(Html *html) {
    const Report *report = html->report;
    if (!report->edge_count || !report->partition_count)
        return;
    Graph graph = {.html = html, .nodes = (uint32_t)report->partition_count};
    if (report->partition_count > MOST_NODES || !collect(&graph)) {
        text_str(html->to, STR("<p class=\"empty\">These are too many to draw; the tables have them all.</p>\n"));
        return;
    }
    for (size_t i = 0; i < graph.line_count; i++)
        make_label(&graph.lines[i]);
    for (uint32_t i = 0; i < graph.nodes; i++) {
        place_ends(&graph, i, false);
        place_ends(&graph, i, true);
    }
    place_lines(&graph);
    draw(&graph);
    for (size_t i = 0; i < graph.line_count; i++)
        text_free(&graph.lines[i].label);
}
