/* A graph as a list of steps in lanes: streams in which they follow each other. Two steps are in one lane only if the
 * later depends on the earlier, so that issuing them orders no two that the graph does not. Graphs within the graph are
 * spread out. */
#include "base/order.h"
#include "runtime/record/gpu.h"

#include <stdlib.h>

typedef struct Edge {
    uint32_t from, to;
    bool programmatic;
} Edge;

/* A node of one graph, and the steps that it begins and ends with. */
typedef struct Seat {
    Handle node;
    uint32_t first, last;
    bool has_before, has_behind;
} Seat;

typedef struct Building {
    GraphPlan *plan;
    Edge *edges;
    uint32_t edge_count;
    bool seldom, loops; /* in the body of a conditional node; of one that may be run several times */
} Building;

typedef struct Bodies {
    struct Bodies *next;
    Handle node;
    bool loops;
    uint32_t count;
    Handle graphs[];
} Bodies;

static const uint32_t none = UINT32_MAX;
static Bodies *all_bodies; /* the newest first: a handle may be used again */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static GraphDriver driver;
static bool lacks;

static void look_up(void) {
#define LOOK_UP(field, exported, types)              \
    do {                                             \
        void *symbol = driver_symbol(#exported);     \
        driver.field = *(Result(**) types) & symbol; \
        lacks |= !symbol;                            \
    } while (0);
    GRAPH_DRIVER(LOOK_UP)
#undef LOOK_UP
}

const GraphDriver *graph_driver(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look_up);
    return lacks ? NULL : &driver;
}

void graph_bodies(Handle node, const Handle *graphs, uint32_t count, bool loops) {
    Bodies *bodies = calloc(1, sizeof *bodies + count * sizeof *graphs);
    if (!bodies)
        return;
    bodies->node = node;
    bodies->loops = loops;
    bodies->count = count;
    memcpy(bodies->graphs, graphs, count * sizeof *graphs);
    pthread_mutex_lock(&mutex);
    bodies->next = all_bodies;
    all_bodies = bodies;
    pthread_mutex_unlock(&mutex);
}

static const Bodies *bodies_of(Handle node) {
    pthread_mutex_lock(&mutex);
    const Bodies *bodies = all_bodies;
    while (bodies && bodies->node != node)
        bodies = bodies->next;
    pthread_mutex_unlock(&mutex);
    return bodies;
}

/* ---- What there is ------------------------------------------------------------------------------- */

static bool add_step(Building *building, Handle node, int type) {
    GraphPlan *plan = building->plan;
    GraphStep *more = realloc(plan->steps, (plan->count + 1) * sizeof *more);
    if (!more)
        return false;
    plan->steps = more;
    more[plan->count++] = (GraphStep){.node = node, .type = type, .seldom = building->seldom, .loops = building->loops};
    return true;
}

static bool add_edge(Building *building, uint32_t from, uint32_t to, bool programmatic) {
    Edge *more = realloc(building->edges, (building->edge_count + 1) * sizeof *more);
    if (!more)
        return false;
    building->edges = more;
    more[building->edge_count++] = (Edge){from, to, programmatic};
    return true;
}

static bool add_graph(Building *building, Handle graph, uint32_t begin, uint32_t end);

/* One of them is run, at most: as if they were run one behind the other, no two at the same time. */
static bool add_bodies(Building *building, Handle node, uint32_t begin, uint32_t end) {
    const Bodies *bodies = bodies_of(node);
    bool seldom = building->seldom, loops = building->loops, good = bodies != NULL;
    if (!bodies)
        building->plan->why = "it is a node of a graph with a conditional node whose making was not seen";
    building->seldom = true;
    building->loops |= bodies && bodies->loops;
    for (uint32_t i = 0; good && i < bodies->count; i++) {
        uint32_t behind = i + 1 < bodies->count ? building->plan->count : end;
        good = (behind == end || add_step(building, NULL, NODE_EMPTY)) &&
               add_graph(building, bodies->graphs[i], begin, behind);
        begin = behind;
    }
    building->seldom = seldom;
    building->loops = loops;
    return good || !bodies;
}

/* Nodes that a graph alone can run. */
static bool is_in_place(int type) {
    return type > NODE_RECORD_EVENT;
}

bool graph_is_in_place(Handle graph) {
    size_t count = 0;
    Handle child = NULL, *nodes = NULL;
    bool found = false;
    if (!graph_driver() || driver.nodes(graph, NULL, &count) != 0 || !(nodes = calloc(count + 1, sizeof *nodes)) ||
        driver.nodes(graph, nodes, &count) != 0)
        count = 0;
    for (size_t i = 0; i < count && !found; i++) {
        int type = -1;
        driver.node_type(nodes[i], &type);
        found = is_in_place(type) ||
                (type == NODE_CHILD && driver.child(nodes[i], &child) == 0 && graph_is_in_place(child));
    }
    free(nodes);
    return found;
}

static void find_kernel(GraphStep *step) {
    KernelNode node = {0};
    if (driver.kernel(step->node, &node) != 0)
        return;
    pthread_mutex_lock(&gpu_mutex);
    step->kernel = gpu_kernel(node.function ? node.function : node.kernel);
    pthread_mutex_unlock(&gpu_mutex);
}

static bool add_node(Building *building, Seat *seat) {
    int type = -1;
    Handle child = NULL;
    seat->first = seat->last = building->plan->count;
    if (driver.node_type(seat->node, &type) != 0 || !add_step(building, seat->node, type))
        return false;
    GraphStep *step = &building->plan->steps[seat->first];
    if (type == NODE_KERNEL)
        find_kernel(step);
    else if (type == NODE_RECORD_EVENT)
        driver.recorded_event(step->node, &step->outside);
    else if (type == NODE_WAIT_EVENT)
        driver.waited_event(step->node, &step->outside);
    building->plan->in_place |= is_in_place(type);
    if (type != NODE_CHILD && type != NODE_CONDITIONAL)
        return true;
    seat->last = building->plan->count;
    return add_step(building, NULL, NODE_EMPTY) &&
           (type == NODE_CHILD
                ? driver.child(seat->node, &child) == 0 && add_graph(building, child, seat->first, seat->last)
                : add_bodies(building, seat->node, seat->first, seat->last));
}

ORDER(compare_seats, Seat, BY(node))

/* Programmatic edges are what stream capture makes of dependent launches. */
static bool add_graph_edge(Building *building, Seat *from, Seat *to, const GraphEdge *data) {
    bool programmatic = data->type == EDGE_PROGRAMMATIC && data->from_port == PORT_PROGRAMMATIC;
    if ((data->type || data->from_port || data->to_port) && !programmatic)
        building->plan->why = "it is a node of a graph whose edges have ports, which is not recorded";
    from->has_behind = to->has_before = true;
    return add_edge(building, from->last, to->first, programmatic);
}

static bool add_edges(Building *building, Handle graph, Seat *seats, size_t count) {
    size_t edge_count = 0;
    if (driver.edges(graph, NULL, NULL, NULL, &edge_count) != 0)
        return false;
    Handle *from = calloc(edge_count + 1, sizeof *from), *to = calloc(edge_count + 1, sizeof *to);
    GraphEdge *data = calloc(edge_count + 1, sizeof *data);
    bool good = from && to && data && (!edge_count || driver.edges(graph, from, to, data, &edge_count) == 0);
    for (size_t i = 0; good && i < edge_count; i++) {
        Seat *one = bsearch(&(Seat){.node = from[i]}, seats, count, sizeof *seats, compare_seats);
        Seat *other = bsearch(&(Seat){.node = to[i]}, seats, count, sizeof *seats, compare_seats);
        good = one && other && add_graph_edge(building, one, other, &data[i]);
    }
    free(from);
    free(to);
    free(data);
    return good;
}

static bool add_graph(Building *building, Handle graph, uint32_t begin, uint32_t end) {
    size_t count = 0;
    if (driver.nodes(graph, NULL, &count) != 0)
        return false;
    Handle *nodes = calloc(count + 1, sizeof *nodes);
    Seat *seats = calloc(count + 1, sizeof *seats);
    bool good = nodes && seats && (!count || driver.nodes(graph, nodes, &count) == 0);
    for (size_t i = 0; good && i < count; i++) {
        seats[i].node = nodes[i];
        good = add_node(building, &seats[i]);
    }
    if (good) {
        qsort(seats, count, sizeof *seats, compare_seats);
        good = add_edges(building, graph, seats, count);
    }
    for (size_t i = 0; good && begin != none && i < count; i++)
        good = (seats[i].has_before || add_edge(building, begin, seats[i].first, false)) &&
               (seats[i].has_behind || add_edge(building, seats[i].last, end, false));
    if (good && begin != none && !count)
        good = add_edge(building, begin, end, false);
    free(nodes);
    free(seats);
    return good;
}

/* ---- The order, and the lanes -------------------------------------------------------------------- */

/* Of each step, edges to it or from it: those of step i are at starts[i] to starts[i + 1]. */
typedef struct GpuGraphPlanLinks {
    uint32_t *starts, *edges;
} GpuGraphPlanLinks;

static GpuGraphPlanLinks link_edges(const Building *building, bool to) {
    uint32_t count = building->plan->count;
    GpuGraphPlanLinks links = {calloc(count + 2, sizeof(uint32_t)), calloc(building->edge_count + 1, sizeof(uint32_t))};
    if (!links.starts || !links.edges)
        return links;
    for (uint32_t i = 0; i < building->edge_count; i++)
        links.starts[(to ? building->edges[i].to : building->edges[i].from) + 2]++;
    for (uint32_t i = 0; i < count; i++)
        links.starts[i + 2] += links.starts[i + 1];
    for (uint32_t i = 0; i < building->edge_count; i++)
        links.edges[links.starts[(to ? building->edges[i].to : building->edges[i].from) + 1]++] = i;
    return links;
}

/* Where a step stands, and how many steps of each lane are before it for sure. */
typedef struct GpuGraphPlanStanding {
    uint32_t lane, position, at; /* at: in the new order */
    uint32_t before[GRAPH_LANES];
} GpuGraphPlanStanding;

typedef struct Laying {
    const Building *building;
    GpuGraphPlanLinks to, from;
    GpuGraphPlanStanding *places;
    GraphStep *steps; /* in the new order */
    uint32_t count;
    uint32_t lengths[GRAPH_LANES], lasts[GRAPH_LANES]; /* of each lane: steps so far, and the last of them */
} Laying;

static uint32_t pred(const Laying *laying, uint32_t i) {
    return laying->building->edges[laying->to.edges[i]].from;
}

/* One whose last step is before this one, of a step that it depends on if there is one; a new one otherwise. */
static uint32_t choose_lane(Laying *laying, uint32_t step) {
    const GpuGraphPlanStanding *place = &laying->places[step];
    uint32_t lanes = laying->building->plan->lanes;
    for (uint32_t i = laying->to.starts[step]; i < laying->to.starts[step + 1]; i++) {
        const GpuGraphPlanStanding *before = &laying->places[pred(laying, i)];
        if (before->position + 1 == laying->lengths[before->lane])
            return before->lane;
    }
    for (uint32_t lane = 0; lane < lanes; lane++)
        if (laying->lengths[lane] <= place->before[lane])
            return lane;
    return laying->building->plan->lanes++;
}

/* The last step that it depends on in each other lane, unless what is before it in its own has waited for that. */
static bool add_waits(Laying *laying, uint32_t step, GraphStep *to) {
    GraphPlan *plan = laying->building->plan;
    GpuGraphPlanStanding *place = &laying->places[step];
    uint32_t last[GRAPH_LANES];
    const GpuGraphPlanStanding *own = laying->lengths[place->lane] ? &laying->places[laying->lasts[place->lane]] : NULL;
    memset(last, 0xff, sizeof last);
    for (uint32_t i = laying->to.starts[step]; i < laying->to.starts[step + 1]; i++) {
        uint32_t before = pred(laying, i), lane = laying->places[before].lane;
        if (last[lane] == none || laying->places[last[lane]].position < laying->places[before].position)
            last[lane] = before;
    }
    to->waits = plan->wait_count;
    for (uint32_t lane = 0; lane < plan->lanes; lane++) {
        if (last[lane] == none || lane == place->lane ||
            (own && own->before[lane] > laying->places[last[lane]].position))
            continue;
        uint32_t *more = realloc(plan->waits, (plan->wait_count + 1) * sizeof *more);
        if (!more)
            return false;
        plan->waits = more;
        more[plan->wait_count++] = laying->places[last[lane]].at;
        laying->steps[laying->places[last[lane]].at].marked = true;
        to->wait_count++;
    }
    return true;
}

static bool lay_step(Laying *laying, uint32_t step) {
    GraphPlan *plan = laying->building->plan;
    GpuGraphPlanStanding *place = &laying->places[step];
    uint32_t edges = laying->to.starts[step + 1] - laying->to.starts[step];
    for (uint32_t i = laying->to.starts[step]; i < laying->to.starts[step + 1]; i++) {
        const GpuGraphPlanStanding *before = &laying->places[pred(laying, i)];
        for (uint32_t lane = 0; lane < plan->lanes; lane++)
            if (before->before[lane] > place->before[lane])
                place->before[lane] = before->before[lane];
        if (before->position + 1 > place->before[before->lane])
            place->before[before->lane] = before->position + 1;
    }
    uint32_t lane = place->lane = choose_lane(laying, step);
    if (lane >= GRAPH_LANES) {
        plan->lanes = GRAPH_LANES;
        plan->why = "it is a node of a graph with more branches beside each other than are recorded";
        return true;
    }
    GraphStep *to = &laying->steps[place->at = laying->count++];
    *to = plan->steps[step];
    to->lane = lane;
    bool good = add_waits(laying, step, to);
    for (uint32_t i = laying->to.starts[step]; i < laying->to.starts[step + 1]; i++)
        if (laying->building->edges[laying->to.edges[i]].programmatic) {
            to->dependent = true;
            if (edges != 1 || laying->places[pred(laying, i)].lane != lane)
                plan->why = "it is a node of a graph in which a launch depends on another one programmatically, and on "
                            "others, which is not recorded";
        }
    place->position = laying->lengths[lane]++;
    laying->lasts[lane] = step;
    return good;
}

/* A kernel that begins before the one before it has ended must follow it at once. */
static void check_dependent(GraphPlan *plan) {
    uint32_t last[GRAPH_LANES];
    memset(last, 0xff, sizeof last);
    for (uint32_t i = 0; i < plan->count; i++) {
        const GraphStep *step = &plan->steps[i];
        if (step->dependent && (last[step->lane] == none || plan->steps[last[step->lane]].marked))
            plan->why = "it is a node of a graph in which a launch depends on another one programmatically, and others "
                        "do so as well, which is not recorded";
        last[step->lane] = i;
    }
}

static bool lay(Laying *laying) {
    GraphPlan *plan = laying->building->plan;
    uint32_t *missing = calloc(plan->count + 1, sizeof *missing), *ready = calloc(plan->count + 1, sizeof *ready);
    uint32_t begin = 0, end = 0;
    bool good = missing && ready && laying->to.starts && laying->to.edges && laying->from.starts &&
                laying->from.edges && laying->places && laying->steps;
    for (uint32_t i = 0; good && i < plan->count; i++)
        if (!(missing[i] = laying->to.starts[i + 1] - laying->to.starts[i]))
            ready[end++] = i;
    while (good && begin < end && !plan->why) {
        uint32_t step = ready[begin++];
        good = lay_step(laying, step);
        for (uint32_t i = laying->from.starts[step]; i < laying->from.starts[step + 1]; i++) {
            uint32_t next = laying->building->edges[laying->from.edges[i]].to;
            if (!--missing[next])
                ready[end++] = next;
        }
    }
    free(missing);
    free(ready);
    return good;
}

static bool lay_out(const Building *building) {
    GraphPlan *plan = building->plan;
    Laying laying = {.building = building,
                     .to = link_edges(building, true),
                     .from = link_edges(building, false),
                     .places = calloc(plan->count + 1, sizeof *laying.places),
                     .steps = calloc(plan->count + 1, sizeof *laying.steps)};
    bool good = lay(&laying);
    if (good && !plan->why) {
        free(plan->steps);
        plan->steps = laying.steps;
        laying.steps = NULL;
        check_dependent(plan);
    }
    free(laying.steps);
    free(laying.places);
    free(laying.to.starts);
    free(laying.to.edges);
    free(laying.from.starts);
    free(laying.from.edges);
    return good;
}

bool graph_plan(GraphPlan *plan, Handle graph) {
    Building building = {.plan = plan};
    *plan = (GraphPlan){0};
    bool good = graph_driver() && add_graph(&building, graph, none, none);
    if (good && !plan->why)
        good = lay_out(&building);
    free(building.edges);
    return good;
}

void graph_plan_free(GraphPlan *plan) {
    for (uint32_t i = 0; i < plan->count; i++) {
        if (plan->steps[i].alone)
            driver.destroy_exec(plan->steps[i].alone);
        if (plan->steps[i].event)
            gpu_driver(NULL)->event_destroy(plan->steps[i].event);
    }
    free(plan->steps);
    free(plan->waits);
    *plan = (GraphPlan){0};
}
