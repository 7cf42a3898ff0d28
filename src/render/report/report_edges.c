/* The edges of a report in an order to read them in: those between the same two partitions together, and each such
 * group followed by one that goes on where it ends. Takes n log n steps, whatever the edges are. */
#include "render/report/report_sections.h"

#include "base/bisect.h"
#include "base/order.h"

#include <stdlib.h>

/* By who it comes from, then by whom it goes to, then as in the report. */
ORDER_POINTERS(compare_edges, ReportEdge, BY_TEXT(from) BY_TEXT(to) BY_PLACE)

/* By who it comes from, then as in the report. */
ORDER(compare_starts, EdgeGroup, BY_TEXT(edges[0]->from) BY(edges[0]))

ORDER_POINTERS(compare_groups, EdgeGroup, BY(edges[0]))

/* The first group that comes from `name`, or `count`. */
static size_t first_from(const EdgeGroup *groups, size_t count, const char *name) {
    size_t low;
    BISECT(low, 0, count, strcmp(groups[low].edges[0]->from, name) < 0);
    return low < count && strcmp(groups[low].edges[0]->from, name) == 0 ? low : count;
}

/* Edges while they are sorted. */
typedef struct ReportEdgeGraph {
    EdgeGroup *groups;   /* sorted by compare_starts */
    EdgeGroup **by_edge; /* the same, as in the report */
    size_t *done;        /* of the groups from one partition, at the first of these: how many are in the chain */
    size_t count;        /* of groups */
} ReportEdgeGraph;

static bool graph_alloc(ReportEdgeGraph *graph, size_t edges) {
    graph->groups = calloc(edges + 1, sizeof *graph->groups);
    graph->by_edge = calloc(edges + 1, sizeof *graph->by_edge);
    graph->done = calloc(edges + 1, sizeof *graph->done);
    return graph->groups && graph->by_edge && graph->done;
}

static void graph_free(ReportEdgeGraph *graph) {
    free(graph->groups);
    free((void *)graph->by_edge);
    free(graph->done);
}

static void make_groups(ReportEdgeGraph *graph, const ReportEdge **edges, size_t count) {
    qsort((void *)edges, count, sizeof *edges, compare_edges);
    for (size_t i = 0; i < count; i++) {
        if (!i || strcmp(edges[i - 1]->from, edges[i]->from) != 0 || strcmp(edges[i - 1]->to, edges[i]->to) != 0)
            graph->groups[graph->count++] = (EdgeGroup){.edges = edges + i};
        graph->groups[graph->count - 1].count++;
    }
    qsort(graph->groups, graph->count, sizeof *graph->groups, compare_starts);
    for (size_t i = 0; i < graph->count; i++)
        graph->by_edge[i] = &graph->groups[i];
    qsort((void *)graph->by_edge, graph->count, sizeof *graph->by_edge, compare_groups);
}

/* The next group that leads on from `name`; NULL if there is none. Those from one partition are taken in their order,
 * so that a count says which are left. */
static EdgeGroup *next_from(ReportEdgeGraph *graph, const char *name) {
    size_t first = first_from(graph->groups, graph->count, name);
    if (first == graph->count)
        return NULL;
    size_t next = first + graph->done[first];
    if (next == graph->count || strcmp(graph->groups[next].edges[0]->from, name) != 0)
        return NULL;
    graph->done[first]++;
    return &graph->groups[next];
}

/* Each group is followed by one that goes on where it ends, as long as there is one. */
static void chain_groups(ReportEdgeGraph *graph, EdgeGroup *chain) {
    size_t chained = 0;
    for (size_t i = 0; i < graph->count; i++) {
        EdgeGroup *group = graph->by_edge[i];
        if (!group->count)
            continue;
        group = next_from(graph, group->edges[0]->from);
        for (bool goes_on = false; group; goes_on = true) {
            chain[chained] = *group;
            chain[chained++].goes_on = goes_on;
            group->count = 0;
            group = next_from(graph, group->edges[0]->to);
        }
    }
}

bool report_group_edges(const ReportEdge **edges, size_t count, EdgeGroup *groups, size_t *group_count) {
    ReportEdgeGraph graph = {0};
    bool good = graph_alloc(&graph, count);
    if (good) {
        make_groups(&graph, edges, count);
        chain_groups(&graph, groups);
        *group_count = graph.count;
    }
    graph_free(&graph);
    return good;
}
