/* What is shared between partitions: buffers, who writes and reads them, which barriers protect them, and the edges
 * along which they are handed over. */
#include "analyze/coverage.h"
#include "analyze/report_internal.h"

#include "ir/optable.h"

/* ---- Buffers -------------------------------------------------------------------------------------- */

static bool is_barrier(const Builder *builder, const Op *root) {
    for (size_t i = 0; i < builder->barrier_count; i++)
        if (builder->barrier_things[i].root == root)
            return true;
    return false;
}

static int64_t integer_attr(const Op *op, const char *name) {
    const Attr *attr = op_attr(op, name);
    return attr && attr->kind == ATTR_INTEGER ? attr->integer : -1;
}

/* Slots of a buffer: what the compiler said, else its outermost dimension where there are more than a tile has. */
static int64_t depth_of(Builder *builder, const Op *root) {
    int64_t copies = integer_attr(root, "buffer.copy");
    const Type *type = root->result_count ? type_resolve(builder->module, root->results[0].type) : NULL;
    if (copies > 0)
        return copies;
    return type && type->dim_count > 2 && type->dims[0] > 0 ? type->dims[0] : 1;
}

static void add_buffer(Builder *builder, const Allocation *allocation) {
    const Op *op = allocation->op;
    ReportBuffer *buffer = builder_buffer(builder, (Thing){.root = op});
    buffer->name = name_of(builder->names, op);
    buffer->value = op->result_count ? value_text(builder->arena, &op->results[0]) : "";
    buffer->space = allocation->space == SPACE_TENSOR ? "tensor" : "shared";
    buffer->storage = op->result_count && op->results[0].type
                          ? verdict_text(builder->verdict, "%.*s", STR_ARG(op->results[0].type->text))
                          : "";
    buffer->id = integer_attr(op, "buffer.id");
    buffer->offset = integer_attr(op, "buffer.offset");
    buffer->depth = depth_of(builder, op);
    buffer->size = allocation->size;
}

/* Who writes and reads each, by what the ops say they do. */
static void find_users(Builder *builder, const Coverage *coverage) {
    Effect effects[EFFECTS_MOST];
    for (const Op *op = builder->function; op; op = op_next_in_walk(op, builder->function)) {
        unsigned count = effects_of(builder->module, op, effects);
        for (unsigned i = 0; i < count; i++) {
            const Effect *effect = &effects[i];
            bool reads = effect->verb == EFFECT_READ || effect->verb == EFFECT_UPDATE;
            bool writes = effect->verb == EFFECT_WRITE || effect->verb == EFFECT_UPDATE;
            if ((!reads && !writes) || (effect->space != SPACE_SHARED && effect->space != SPACE_TENSOR))
                continue;
            const Op *root = root_of(builder->module, effect->on);
            size_t index = root ? builder_find_buffer(builder, root) : SIZE_MAX;
            if (index == SIZE_MAX || coverage_is_part(coverage, op, effect->on))
                continue;
            ReportBuffer *buffer = &builder->buffers[index];
            ReportPlace place = builder_place(builder, op);
            if (writes)
                builder_add_place(builder, &buffer->writers, &buffer->writer_count, place);
            if (reads)
                builder_add_place(builder, &buffer->readers, &buffer->reader_count, place);
        }
    }
}

/* Allocations of one storage that overlap. */
static void find_shared_storage(Builder *builder) {
    for (size_t i = 0; i < builder->buffer_count; i++) {
        const Allocation *a = allocation_find(&builder->allocations, builder->buffer_things[i].root);
        for (size_t k = 0; k < builder->buffer_count; k++) {
            const Allocation *b = allocation_find(&builder->allocations, builder->buffer_things[k].root);
            bool tensor = a && a->space == SPACE_TENSOR;
            /* Tensor memory counts rows in the upper half of an offset: the columns are what is compared. */
            int64_t from = a ? tensor ? a->offset.base & 0xffff : a->offset.base : 0;
            int64_t other = b ? tensor ? b->offset.base & 0xffff : b->offset.base : 0;
            if (i == k || !a || !b || a->storage != b->storage || a->size <= 0 || b->size <= 0 ||
                from >= other + b->size || other >= from + a->size)
                continue;
            int64_t first = from > other ? from : other;
            int64_t last = (from + a->size < other + b->size ? from + a->size : other + b->size) - 1;
            builder_add_text(builder, &builder->buffers[i].notes, &builder->buffers[i].note_count,
                             verdict_text(builder->verdict, "shares %s %lld-%lld with %s", tensor ? "columns" : "bytes",
                                          (long long)(first - from), (long long)(last - from),
                                          builder->buffers[k].name));
        }
    }
}

void report_buffers(Builder *builder, const Coverage *coverage) {
    for (uint32_t i = 0; i < builder->allocations.count; i++) {
        const Allocation *allocation = &builder->allocations.items[i];
        if ((allocation->space == SPACE_SHARED || allocation->space == SPACE_TENSOR) &&
            !is_barrier(builder, allocation->op))
            add_buffer(builder, allocation);
    }
    find_users(builder, coverage);
    coverage_parts(coverage, builder);
    find_shared_storage(builder);
}

/* ---- What barriers protect ------------------------------------------------------------------------ */

static bool has_text(const char *const *list, size_t count, const char *text) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], text) == 0)
            return true;
    return false;
}

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

static const char *direction_written_at(const Builder *builder, size_t index) {
    for (size_t i = 0; builder->sights && i < builder->sights->seen_count; i++) {
        const Seen *seen = &builder->sights->seen[i];
        const char *direction = builder->ring_barriers[seen->ring] == index ? written_direction(seen->op) : "";
        if (*direction)
            return direction;
    }
    return "";
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
    return barrier->inverted ? "backward" : "forward";
}

static void find_protected(Builder *builder) {
    const Sights *sights = builder->sights;
    for (size_t i = 0; i < builder->barrier_count; i++) {
        ReportBarrier *barrier = &builder->barriers[i];
        bool forward = false, backward = false;
        for (size_t k = 0; sights && k < sights->protection_count; k++) {
            const Protection *protection = &sights->protections[k];
            size_t buffer = builder_find_buffer(builder, protection->buffer);
            if (builder->ring_barriers[protection->ring] != i || buffer == SIZE_MAX)
                continue;
            add_protected(builder, barrier, &builder->buffers[buffer]);
            forward |= !protection->backward;
            backward |= protection->backward;
        }
        barrier->direction = forward && backward ? "both"
                             : forward           ? "forward"
                             : backward          ? "backward"
                                                 : likely_direction(builder, i);
    }
}

/* The ring of the other direction: between the same partitions, for the same buffers. */
static void find_pairs(Builder *builder) {
    for (size_t i = 0; i < builder->barrier_count; i++) {
        ReportBarrier *barrier = &builder->barriers[i];
        for (size_t k = 0; k < builder->barrier_count && !*barrier->pair; k++) {
            const ReportBarrier *other = &builder->barriers[k];
            bool same = false;
            for (size_t p = 0; p < barrier->protect_count; p++)
                same |= has_text(other->protects, other->protect_count, barrier->protects[p]);
            bool sides = builder->barrier_things[i].root == builder->barrier_things[k].root &&
                         builder->barrier_things[i].side != builder->barrier_things[k].side;
            bool opposite = strcmp(barrier->direction, other->direction) != 0;
            if (i != k && (sides || (same && opposite)))
                barrier->pair = other->name;
        }
    }
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
                    builder_add_text(builder, &buffer->notes, &buffer->note_count, note);
            }
    }
}

/* ---- Edges ---------------------------------------------------------------------------------------- */

static const char *tile_text(Builder *builder, const Op *root) {
    const Type *type = root->result_count ? type_resolve(builder->module, root->results[0].type) : NULL;
    Text text = {0};
    for (uint16_t i = 0; type && i < type->dim_count; i++)
        text_addf(&text, "%lldx", (long long)type->dims[i]);
    const Type *element = type ? type_element(builder->module, type) : NULL;
    if (element)
        text_str(&text, element->text);
    return verdict_keep(builder->verdict, &text);
}

/* The buffers that a ring hands over to an agent, in one direction: from one agent, or, with `any`, from whomever. */
static const char *carried(Builder *builder, size_t barrier, uint32_t from, uint32_t to, bool any, bool backward) {
    const Sights *sights = builder->sights;
    Text text = {0};
    for (size_t b = 0; b < builder->buffer_count; b++)
        for (size_t k = 0; k < sights->protection_count; k++) {
            const Protection *protection = &sights->protections[k];
            if (builder->ring_barriers[protection->ring] != barrier || protection->backward != backward ||
                protection->buffer != builder->buffer_things[b].root || protection->to != to ||
                (!any && protection->from != from))
                continue;
            text_addf(&text, "%s%s (%s)", text.size ? ", " : "", builder->buffers[b].name,
                      tile_text(builder, protection->buffer));
            break;
        }
    return verdict_keep(builder->verdict, &text);
}

static ReportEdge *find_edge(Builder *builder, const char *from, const char *to, const char *barrier,
                             const char *direction) {
    for (size_t i = 0; i < builder->edge_count; i++) {
        ReportEdge *edge = &builder->edges[i];
        if (strcmp(edge->from, from) == 0 && strcmp(edge->to, to) == 0 && strcmp(edge->barrier, barrier) == 0 &&
            strcmp(edge->direction, direction) == 0)
            return edge;
    }
    return NULL;
}

static void add_edge(Builder *builder, const Handing *handing, bool backward, const char *carries) {
    const Seen *from = &builder->sights->seen[handing->from], *to = &builder->sights->seen[handing->to];
    size_t index = builder->ring_barriers[to->ring];
    const ReportBarrier *barrier = &builder->barriers[index];
    const char *source = builder_agent(builder, from->agent), *target = builder_agent(builder, to->agent);
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
    if (!*carries && builder->sights->end == RUN_COMPLETE)
        edge->note = "no access to shared or tensor memory was seen to need it: what it orders is ordered already";
    edge->out = builder_place(builder, from->op);
    edge->in = builder_place(builder, to->op);
    edge->out.partition = source;
    edge->in.partition = target;
    edge->out.times = from->times;
    edge->in.times = to->times;
}

static void add_seen_edges(Builder *builder) {
    const Sights *sights = builder->sights;
    for (size_t i = 0; i < sights->handing_count; i++) {
        const Handing *handing = &sights->handings[i];
        const Seen *from = &sights->seen[handing->from], *to = &sights->seen[handing->to];
        if (agent_cta(builder->machine, to->agent))
            continue;
        size_t barrier = builder->ring_barriers[to->ring];
        const char *data = carried(builder, barrier, from->agent, to->agent, false, false);
        const char *memory = carried(builder, barrier, from->agent, to->agent, false, true);
        if (!*data && !*memory) { /* it passes on what it was told by others */
            data = carried(builder, barrier, from->agent, to->agent, true, false);
            memory = carried(builder, barrier, from->agent, to->agent, true, true);
        }
        bool likely_backward = strcmp(builder->barriers[barrier].direction, "backward") == 0;
        if (*data || (!*memory && !likely_backward))
            add_edge(builder, handing, false, data);
        if (*memory || (!*data && likely_backward))
            add_edge(builder, handing, true, memory);
    }
}

/* A barrier that nobody was seen to pass: whoever arrives, and whoever waits. */
static void add_unseen_edges(Builder *builder) {
    for (size_t i = 0; i < builder->barrier_count; i++) {
        const ReportBarrier *barrier = &builder->barriers[i];
        bool known = false;
        for (size_t k = 0; k < builder->edge_count && !known; k++)
            known = strcmp(builder->edges[k].barrier, barrier->name) == 0;
        const char *direction = strcmp(barrier->direction, "backward") == 0 ? "backward" : "forward";
        for (size_t a = 0; !known && a < barrier->arrive_count; a++)
            for (size_t w = 0; w < barrier->wait_count; w++) {
                const ReportPlace *out = &barrier->arrives[a].place, *in = &barrier->waits[w].place;
                if (find_edge(builder, out->partition, in->partition, barrier->name, direction))
                    continue;
                ReportEdge *edge = builder_edge(builder);
                edge->from = out->partition;
                edge->to = in->partition;
                edge->barrier = barrier->name;
                edge->mechanism = barrier->arrives[a].mechanism;
                edge->direction = direction;
                edge->note = "not seen to happen: read off the IR";
                edge->out = *out;
                edge->in = *in;
            }
    }
}

void report_edges(Builder *builder) {
    find_protected(builder);
    find_pairs(builder);
    note_merged(builder);
    if (builder->sights)
        add_seen_edges(builder);
    add_unseen_edges(builder);
}
