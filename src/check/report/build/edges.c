/* Which buffers each barrier protects, which two barriers are the directions of one ring, and the edges along which
 * partitions hand over. */
#include "base/map.h"
#include "check/report/build/internal.h"

#include <limits.h>

static bool has_text(const char *const *list, size_t count, const char *text) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], text) == 0)
            return true;
    return false;
}

/* ---- Who told whom -------------------------------------------------------------------------------- */

/* Whether the agent that made the earlier access said so itself. */
static bool is_direct(const Sights *sights, const Protection *protection) {
    return cluster_threads_has(sights, protection->cluster_threads, protection->from);
}

/* ---- What barriers protect ------------------------------------------------------------------------ */

static void add_protected(Builder *builder, ReportBarrier *barrier, ReportBuffer *buffer) {
    if (!has_text(barrier->protects, barrier->protect_count, buffer->name))
        builder_add_text(builder, &barrier->protects, &barrier->protect_count, buffer->name);
    size_t length = strlen(barrier->name);
    for (const char *at = buffer->barrier; (at = strstr(at, barrier->name)); at++)
        if ((at[length] == 0 || at[length] == ',') && (at == buffer->barrier || at[-1] == ' '))
            return;
    buffer->barrier =
        *buffer->barrier ? verdict_text(builder->verdict, "%s, %s", buffer->barrier, barrier->name) : barrier->name;
}

/* What the compiler wrote on the barrier's ops: {WSBarrier = {direction = "backward"}}. */
static const char *written_direction(const Op *op) {
    const Attr *constraints = op_attr(op, "constraints");
    const Attr *barrier = constraints ? dict_get(constraints, STR("WSBarrier")) : NULL;
    const Attr *direction = barrier ? dict_get(barrier, STR("direction")) : NULL;
    if (!direction)
        return "";
    return memmem(direction->text.data, direction->text.size, "backward", 8) ? "backward" : "forward";
}

/* The rings that a barrier of the report is, + 1 each; 0: there is none. */
static uint32_t first_ring(const Builder *builder, size_t barrier) {
    return builder->sights ? builder->barrier_rings[barrier] : 0;
}

static const char *direction_written_at(const Builder *builder, size_t index) {
    for (uint32_t ring = first_ring(builder, index); ring; ring = builder->ring_next[ring - 1])
        for (const Seen *seen = seen_first(builder->sights, ring - 1); seen; seen = seen_next(builder->sights, seen)) {
            const char *direction = written_direction(seen->op);
            if (*direction)
                return direction;
        }
    return "";
}

/* Whether its first waits pass because the agent that made it arrived on it at once. */
static bool is_primed(const Builder *builder, size_t index) {
    for (uint32_t ring = first_ring(builder, index); ring; ring = builder->ring_next[ring - 1])
        if (builder->sights->rings[ring - 1].primed)
            return true;
    return false;
}

/* Whether no wait for it ever passed, and the IR inverts the phase of one: the first is meant to pass at once. */
static bool is_written_inverted(const ReportBarrier *barrier) {
    bool inverted = false;
    for (size_t i = 0; i < barrier->wait_count; i++) {
        if (barrier->waits[i].first_parity >= 0)
            return false;
        inverted |= strncmp(barrier->waits[i].phase_as_written, "NOT (", 5) == 0;
    }
    return inverted;
}

/* Where no access was seen to depend on it: what kind of barrier it is. */
static const char *likely_direction(const Builder *builder, size_t index) {
    const ReportBarrier *barrier = &builder->barriers[index];
    Side side = builder->barrier_things[index].side;
    const char *written = direction_written_at(builder, index);
    if (*written)
        return written;
    if (side != SIDE_NONE)
        return side == SIDE_FULL ? "forward" : "backward";
    if (strcmp(barrier->kind, "named") == 0)
        return "forward";
    if (!barrier->arrive_count && !barrier->wait_count)
        return "";
    return barrier->inverted || is_primed(builder, index) || is_written_inverted(barrier) ? "backward" : "forward";
}

/* An aref names the buffers that it hands over. */
static void protect_operands(Builder *builder, size_t index) {
    const Op *root = builder->barrier_things[index].root;
    if (strcmp(builder->barriers[index].kind, "aref") != 0)
        return;
    for (uint32_t i = 0; root && i < root->operand_count; i++) {
        const Op *data = data_root(builder->module, root->operands[i]);
        size_t buffer = data ? builder_find_buffer(builder, data) : SIZE_MAX;
        if (buffer != SIZE_MAX)
            add_protected(builder, &builder->barriers[index], &builder->buffers[buffer]);
    }
}

static void find_protected(Builder *builder) {
    const Sights *sights = builder->sights;
    size_t protections = sights ? sights->protection_count : 0;
    uint32_t *first = ARENA_ARRAY(builder->arena, uint32_t, builder->barrier_count + 1);
    uint32_t *next = ARENA_ARRAY(builder->arena, uint32_t, protections + 1);
    for (size_t k = protections; k-- > 0;) {
        uint32_t *last = &first[builder->ring_barriers[sights->protections[k].ring]];
        next[k] = *last;
        *last = (uint32_t)k + 1;
    }
    for (size_t i = 0; i < builder->barrier_count; i++) {
        ReportBarrier *barrier = &builder->barriers[i];
        bool forward = false, backward = false;
        for (uint32_t k = first[i]; k; k = next[k - 1]) {
            const Protection *protection = &sights->protections[k - 1];
            size_t buffer = builder_find_buffer(builder, protection->buffer);
            if (buffer == SIZE_MAX)
                continue;
            add_protected(builder, barrier, &builder->buffers[buffer]);
            forward |= !protection->backward;
            backward |= protection->backward;
        }
        protect_operands(builder, i);
        barrier->direction = forward && backward ? "both"
                             : forward           ? "forward"
                             : backward          ? "backward"
                                                 : likely_direction(builder, i);
    }
}

/* Whether an arrive of a barrier was only seen to let its first wait pass. */
static bool is_priming(const Builder *builder, size_t index, const ReportSite *arrive) {
    for (uint32_t ring = first_ring(builder, index); ring; ring = builder->ring_next[ring - 1])
        for (const Seen *seen = seen_first(builder->sights, ring - 1); seen; seen = seen_next(builder->sights, seen))
            if (seen_primes(seen) && op_line(builder->module, seen->op) == arrive->place.ir_line)
                return true;
    return false;
}

static void note_merged(Builder *builder) {
    for (size_t i = 0; i < builder->barrier_count; i++) {
        const ReportBarrier *barrier = &builder->barriers[i];
        if (barrier->byte_count < 2)
            continue;
        for (size_t k = 0; k < barrier->byte_count; k++)
            for (size_t b = 0; b < builder->buffer_count; b++) {
                ReportBuffer *buffer = &builder->buffers[b];
                if (strcmp(buffer->name, barrier->bytes[k].name) != 0)
                    continue;
                Text others = {0};
                for (size_t j = 0; j < barrier->byte_count; j++)
                    if (strcmp(barrier->bytes[j].name, buffer->name) != 0)
                        text_addf(&others, "%s%s", others.size ? ", " : "", barrier->bytes[j].name);
                const char *with = verdict_keep(builder->verdict, &others);
                const char *note = verdict_text(builder->verdict, "merged with %s: one barrier, %s, expects %lld bytes",
                                                with, barrier->name, (long long)barrier->expect_bytes);
                if (*with && !has_text(buffer->notes, buffer->note_count, note))
                    builder_note(builder, buffer, note);
            }
    }
}

/* ---- Edges ---------------------------------------------------------------------------------------- */

static const char *tile_text(Builder *builder, const Op *root) {
    return root->result_count ? builder_shape(builder, root->results[0].type, UINT32_MAX) : "";
}

/* All that a barrier protects, with shapes. */
static const char *protected_text(Builder *builder, size_t barrier) {
    const ReportBarrier *of = &builder->barriers[barrier];
    Text text = {0};
    for (size_t i = 0; i < builder->buffer_count; i++)
        if (has_text(of->protects, of->protect_count, builder->buffers[i].name))
            text_addf(&text, "%s%s (%s)", text.size ? ", " : "", builder->buffers[i].name,
                      tile_text(builder, builder->buffer_things[i].root));
    return verdict_keep(builder->verdict, &text);
}

/* Whether an agent's arrivals are what a protection is owed to. */
static bool is_owed_to(const Sights *sights, const Protection *protection, uint32_t agent) {
    if (protection->cluster_threads == NO_CLUSTER_THREADS || is_direct(sights, protection))
        return protection->from == agent;
    return cluster_threads_has(sights, protection->cluster_threads, agent);
}

/* The buffers that a ring hands over from one agent to another, in one direction. */
static const char *carried(Builder *builder, size_t barrier, uint32_t from, uint32_t to, bool backward) {
    const Sights *sights = builder->sights;
    Text text = {0};
    for (size_t b = 0; b < builder->buffer_count; b++)
        for (size_t k = 0; k < sights->protection_count; k++) {
            const Protection *protection = &sights->protections[k];
            if (builder->ring_barriers[protection->ring] != barrier || protection->backward != backward ||
                protection->buffer != builder->buffer_things[b].root || protection->to != to ||
                !is_owed_to(sights, protection, from))
                continue;
            text_addf(&text, "%s%s (%s)", text.size ? ", " : "", builder->buffers[b].name,
                      tile_text(builder, protection->buffer));
            break;
        }
    return verdict_keep(builder->verdict, &text);
}

/* The list of the edges of a barrier, among those of others: the last of them, + 1. */
static uint32_t edges_of(Builder *builder, const char *barrier) {
    for (; builder->edges_listed < builder->edge_count;) {
        uint32_t number = builder->edges_listed;
        uint32_t *last = &builder->edge_chains[map_hash(str_of(builder->edges[number].barrier)) % CHAINS];
        *ARENA_PUSH(builder->arena, builder->edge_next, builder->edges_listed, builder->edge_next_capacity) = *last;
        *last = number + 1;
    }
    return builder->edge_chains[map_hash(str_of(barrier)) % CHAINS];
}

/* The first of them that is so. */
static ReportEdge *find_edge(Builder *builder, const char *from, const char *to, const char *barrier,
                             const char *direction) {
    ReportEdge *found = NULL;
    for (uint32_t at = edges_of(builder, barrier); at; at = builder->edge_next[at - 1]) {
        ReportEdge *edge = &builder->edges[at - 1];
        if (strcmp(edge->from, from) == 0 && strcmp(edge->to, to) == 0 && strcmp(edge->barrier, barrier) == 0 &&
            (!direction || strcmp(edge->direction, direction) == 0))
            found = edge;
    }
    return found;
}

/* Whether the run had come to that when it hung. */
static bool happened(const Builder *builder, const Handing *handing) {
    const Sights *hung = builder->hung;
    const Seen *from = &builder->sights->seen[handing->from], *to = &builder->sights->seen[handing->to];
    for (size_t i = 0; i < hung->handing_count; i++) {
        const Seen *out = &hung->seen[hung->handings[i].from], *in = &hung->seen[hung->handings[i].to];
        if (out->op == from->op && out->agent == from->agent && in->op == to->op && in->agent == to->agent)
            return true;
    }
    return false;
}

static void add_edge(Builder *builder, const Handing *handing, bool backward, const char *carries, const char *note) {
    const Seen *from = &builder->sights->seen[handing->from], *to = &builder->sights->seen[handing->to];
    size_t index = builder->ring_barriers[to->ring];
    const ReportBarrier *barrier = &builder->barriers[index];
    const char *source = builder_runner(builder, from->agent, from->op);
    const char *target = builder_runner(builder, to->agent, to->op);
    const char *direction = backward ? "backward" : "forward";
    const char *mechanism = report_mechanism(effect_mechanism(builder->module, from->op, &from->effect->effect));
    ReportEdge *edge = find_edge(builder, source, target, barrier->name, direction);
    if (edge) {
        if (!strstr(edge->mechanism, mechanism))
            edge->mechanism = verdict_text(builder->verdict, "%s, %s", edge->mechanism, mechanism);
        return;
    }
    edge = builder_edge(builder);
    edge->from = source;
    edge->to = target;
    edge->barrier = barrier->name;
    edge->mechanism = mechanism;
    edge->direction = direction;
    edge->carries = carries;
    edge->note = note;
    edge->out = builder_place(builder, from->op);
    edge->in = builder_place(builder, to->op);
    edge->out.partition = source;
    edge->in.partition = target;
    edge->out.times = from->times;
    edge->in.times = to->times;
    if (builder->hung && !happened(builder, handing))
        edge->note = "not reached before the run hangs";
}

/* An arrival that only lets the first wait pass is an edge where there is no other between the two. */
static void add_priming_edge(Builder *builder, const Handing *handing) {
    const Seen *from = &builder->sights->seen[handing->from], *to = &builder->sights->seen[handing->to];
    const char *source = builder_runner(builder, from->agent, from->op);
    const char *target = builder_runner(builder, to->agent, to->op);
    const char *name = builder->barriers[builder->ring_barriers[to->ring]].name;
    if (!find_edge(builder, source, target, name, NULL))
        add_edge(builder, handing, true, "", "it lets the first wait pass, and orders no data");
}

static void add_seen_edge(Builder *builder, const Handing *handing) {
    const Sights *sights = builder->sights;
    const Seen *from = &sights->seen[handing->from], *to = &sights->seen[handing->to];
    size_t barrier = builder->ring_barriers[to->ring];
    const char *data = carried(builder, barrier, from->agent, to->agent, false);
    const char *memory = carried(builder, barrier, from->agent, to->agent, true);
    bool aref = strcmp(builder->barriers[barrier].kind, "aref") == 0;
    const char *protects = aref ? protected_text(builder, barrier) : "";
    bool likely_backward = strcmp(builder->barriers[barrier].direction, "backward") == 0;
    const char *note = *protects || sights->end != RUN_COMPLETE
                           ? ""
                           : "in this run no access to shared or tensor memory depends on it";
    if (*data)
        add_edge(builder, handing, false, data, "");
    if (*memory)
        add_edge(builder, handing, true, memory, "");
    if (!*data && !*memory)
        add_edge(builder, handing, likely_backward, protects, note);
}

static void add_seen_edges(Builder *builder) {
    const Sights *sights = builder->sights;
    for (int priming = 0; priming < 2; priming++)
        for (size_t i = 0; i < sights->handing_count; i++) {
            const Handing *handing = &sights->handings[i];
            const Seen *from = &sights->seen[handing->from];
            bool primes = seen_primes(from);
            if (agent_cta(builder->machine, sights->seen[handing->to].agent) || primes != priming)
                continue;
            if (primes)
                add_priming_edge(builder, handing);
            else
                add_seen_edge(builder, handing);
        }
}

static void add_unseen_edge(Builder *builder, size_t index, const char *from, const char *direction,
                            const ReportSite *arrive, const ReportSite *wait) {
    const ReportBarrier *barrier = &builder->barriers[index];
    const char *to = *wait->place.partition ? wait->place.partition : OUTSIDE;
    if (find_edge(builder, from, to, barrier->name, direction))
        return;
    ReportEdge *edge = builder_edge(builder);
    edge->from = from;
    edge->to = to;
    edge->barrier = barrier->name;
    edge->mechanism = arrive->mechanism;
    edge->direction = direction;
    edge->carries = protected_text(builder, index);
    edge->note =
        builder->sights ? "read from the IR: in this run it releases no wait" : "read from the IR: nothing was run";
    edge->out = arrive->place;
    edge->in = wait->place;
}

/* The one that arrives on a barrier, and was not seen to let any agent go on: to the one that waits for it. */
static void add_unseen_edges(Builder *builder) {
    size_t seen = builder->edge_count;
    for (size_t i = 0; i < builder->barrier_count; i++) {
        const ReportBarrier *barrier = &builder->barriers[i];
        const char *direction = strcmp(barrier->direction, "backward") == 0 ? "backward" : "forward";
        for (size_t a = 0; a < barrier->arrive_count; a++) {
            const ReportPlace *out = &barrier->arrives[a].place;
            const char *from = *out->partition ? out->partition : OUTSIDE;
            bool known = is_priming(builder, i, &barrier->arrives[a]);
            uint32_t at = known ? 0 : edges_of(builder, barrier->name);
            for (; at && !known; at = builder->edge_next[at - 1])
                known = at <= seen && strcmp(builder->edges[at - 1].barrier, barrier->name) == 0 &&
                        strcmp(builder->edges[at - 1].from, from) == 0;
            for (size_t w = 0; !known && w < barrier->wait_count; w++)
                add_unseen_edge(builder, i, from, direction, &barrier->arrives[a], &barrier->waits[w]);
        }
    }
}

void report_edges(Builder *builder) {
    find_protected(builder);
    report_pairs(builder);
    note_merged(builder);
    if (builder->sights)
        add_seen_edges(builder);
    add_unseen_edges(builder);
}
