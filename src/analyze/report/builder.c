/* Lists that grow, and places, for the parts of the barrier report. */
#include "analyze/report/internal.h"

#include "analyze/telling/place.h"
#include "ir/optable.h"

/* Room for one more item in an array of the arena. */
static void *grow(Arena *arena, void *items, size_t count, size_t *capacity, size_t size) {
    if (count < *capacity)
        return items;
    *capacity = *capacity ? 2 * *capacity : 16;
    char *larger = arena_zalloc(arena, *capacity * size);
    if (count)
        memcpy(larger, items, count * size);
    return larger;
}

static const ReportPlace no_place = {.partition = "", .op = "", .detail = "", .file = ""};

ReportBarrier *builder_barrier(Builder *builder, Thing thing) {
    size_t capacity = builder->barrier_capacity;
    builder->barrier_things =
        grow(builder->arena, builder->barrier_things, builder->barrier_count, &capacity, sizeof(Thing));
    builder->barriers = grow(builder->arena, builder->barriers, builder->barrier_count, &builder->barrier_capacity,
                             sizeof(ReportBarrier));
    builder->barrier_things[builder->barrier_count] = thing;
    ReportBarrier *barrier = &builder->barriers[builder->barrier_count++];
    *barrier = (ReportBarrier){.name = "",
                               .value = "",
                               .kind = "",
                               .mechanism = "",
                               .direction = "",
                               .depth = -1,
                               .count = -1,
                               .participants = "",
                               .index = "",
                               .phase = "",
                               .offset = "",
                               .expect_bytes = -1,
                               .data_bytes = -1,
                               .cadence = "",
                               .pair = ""};
    return barrier;
}

ReportBuffer *builder_buffer(Builder *builder, Thing thing) {
    size_t capacity = builder->buffer_capacity;
    builder->buffer_things =
        grow(builder->arena, builder->buffer_things, builder->buffer_count, &capacity, sizeof(Thing));
    builder->buffers =
        grow(builder->arena, builder->buffers, builder->buffer_count, &builder->buffer_capacity, sizeof(ReportBuffer));
    builder->buffer_things[builder->buffer_count] = thing;
    ReportBuffer *buffer = &builder->buffers[builder->buffer_count++];
    *buffer = (ReportBuffer){.name = "",
                             .value = "",
                             .space = "",
                             .storage = "",
                             .id = -1,
                             .offset = -1,
                             .depth = 1,
                             .size = -1,
                             .barrier = ""};
    return buffer;
}

ReportEdge *builder_edge(Builder *builder) {
    builder->edges =
        grow(builder->arena, builder->edges, builder->edge_count, &builder->edge_capacity, sizeof(ReportEdge));
    ReportEdge *edge = &builder->edges[builder->edge_count++];
    *edge = (ReportEdge){.from = "",
                         .to = "",
                         .barrier = "",
                         .mechanism = "",
                         .direction = "",
                         .carries = "",
                         .note = "",
                         .out = no_place,
                         .in = no_place};
    return edge;
}

size_t builder_find_barrier(const Builder *builder, Thing thing) {
    for (size_t i = 0; i < builder->barrier_count; i++) {
        const Thing *known = &builder->barrier_things[i];
        if (known->root == thing.root && known->side == thing.side && (thing.root || known->id == thing.id))
            return i;
    }
    return SIZE_MAX;
}

size_t builder_find_buffer(const Builder *builder, const Op *root) {
    for (size_t i = 0; i < builder->buffer_count; i++)
        if (builder->buffer_things[i].root == root)
            return i;
    return SIZE_MAX;
}

const char *builder_partition(Builder *builder, const Op *op) {
    Partitions partitions = partitions_of(op);
    if (builder->form == PARTITION_NONE)
        return "kernel";
    if (!partitions.mask && builder->form == PARTITION_REGIONS)
        return "default"; /* what stands outside is run by the warps of the default region */
    Text text = {0};
    for (size_t k = 0; k < MOST_PARTITIONS; k++) {
        if (!(partitions.mask >> k & 1))
            continue;
        text_addf(&text, "%s", text.size ? ", " : "");
        partition_print((Partitions){partitions.form, UINT64_C(1) << k}, &text);
    }
    return verdict_keep(builder->verdict, &text);
}

ReportPlace builder_place(Builder *builder, const Op *op) {
    ReportPlace place = no_place;
    place.partition = builder_partition(builder, op);
    place.op = verdict_text(builder->verdict, "%.*s", STR_ARG(op->name));
    place.ir_line = source_place(builder->module->source, op->offset).line;
    const Attr *location = kernel_location(builder->module, op->location);
    if (location) {
        place.file = verdict_text(builder->verdict, "%.*s", STR_ARG(location_file(location)));
        place.line = location->line;
        place.column = location->column;
    }
    return place;
}

int64_t builder_planned_slots(Builder *builder, const Op *op) {
    enum { MOST_SLOTS = 1 << 16 };
    const Attr *copies = op_attr(op, "buffer.copy");
    const Type *type = op->result_count ? type_resolve(builder->module, op->results[0].type) : NULL;
    bool planned = copies && copies->kind == ATTR_INTEGER && copies->integer > 1 && copies->integer <= MOST_SLOTS;
    return planned && type && type->dim_count <= 2 ? copies->integer : 1;
}

void builder_add_text(Builder *builder, const char *const **list, size_t *count, const char *text) {
    const char **longer = ARENA_ARRAY(builder->arena, const char *, *count + 1);
    if (*count)
        memcpy(longer, *list, *count * sizeof *longer);
    longer[(*count)++] = text;
    *list = longer;
}

const Op *enclosing_loop(const Op *op) {
    for (const Op *parent = op_parent(op); parent && parent->row; parent = op_parent(parent)) {
        if (parent->row->id == OP_scf_for || parent->row->id == OP_scf_while)
            return parent;
        if (parent->row->id == OP_ttg_warp_specialize || parent->row->id == OP_ttg_warp_specialize_partitions)
            return NULL;
    }
    return NULL;
}

const char *builder_cadence(Builder *builder, const Op *op) {
    const Op *loop = enclosing_loop(op);
    if (!loop)
        return "once";
    return verdict_text(builder->verdict, "each iteration of the loop of line %u",
                        source_place(builder->module->source, loop->offset).line);
}

void builder_add_place(Builder *builder, const ReportPlace **places, size_t *count, ReportPlace place) {
    for (size_t i = 0; i < *count; i++)
        if ((*places)[i].ir_line == place.ir_line && strcmp((*places)[i].partition, place.partition) == 0)
            return;
    ReportPlace *longer = ARENA_ARRAY(builder->arena, ReportPlace, *count + 1);
    if (*count)
        memcpy(longer, *places, *count * sizeof *longer);
    longer[(*count)++] = place;
    *places = longer;
}
