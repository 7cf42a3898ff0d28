/* Lists that grow, and places, for the parts of the barrier report. */
#include "check/report/build/internal.h"

#include "model/layout/layout.h"

#include "check/explain/place.h"

static const ReportPlace no_place = {.partition = "", .op = "", .detail = "", .file = ""};

static uint32_t chain_of(Thing thing) {
    uint64_t key = thing.root ? (uint64_t)((uintptr_t)thing.root >> 3) : (uint64_t)thing.id;
    return (uint32_t)((key * 4 + (unsigned)thing.side) * UINT64_C(0x9e3779b97f4a7c15) >> 32) % CHAINS;
}

ReportBarrier *builder_barrier(Builder *builder, Thing thing) {
    uint32_t *chain = &builder->barrier_chains[chain_of(thing)];
    thing.next = *chain;
    *chain = builder->barrier_count + 1;
    *ARENA_PUSH(builder->arena, builder->barrier_things, builder->barrier_thing_count,
                builder->barrier_thing_capacity) = thing;
    ReportBarrier *barrier =
        ARENA_PUSH(builder->arena, builder->barriers, builder->barrier_count, builder->barrier_capacity);
    *barrier = report_barrier_blank();
    return barrier;
}

ReportBuffer *builder_buffer(Builder *builder, const Op *root, const Value *value, const char *name, Space space) {
    static const char *const spaces[] = {"register", "shared", "tensor", "global"}; /* ORDER Space */
    const Type *type = value && value->type ? type_resolve(builder->module, value->type) : NULL;
    *ARENA_PUSH(builder->arena, builder->buffer_things, builder->buffer_thing_count, builder->buffer_thing_capacity) =
        (Thing){.root = root};
    ReportBuffer *buffer =
        ARENA_PUSH(builder->arena, builder->buffers, builder->buffer_count, builder->buffer_capacity);
    *buffer = (ReportBuffer){.name = name,
                             .value = value ? value_text(builder->arena, value) : "",
                             .space = spaces[space],
                             .storage = type ? verdict_text(builder->verdict, "%.*s", STR_ARG(type->text)) : "",
                             .id = -1,
                             .offset = -1,
                             .depth = 1,
                             .size = -1,
                             .barrier = ""};
    return buffer;
}

ReportEdge *builder_edge(Builder *builder) {
    ReportEdge *edge = ARENA_PUSH(builder->arena, builder->edges, builder->edge_count, builder->edge_capacity);
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
    uint32_t at = builder->barrier_chains[chain_of(thing)];
    for (; at; at = builder->barrier_things[at - 1].next) {
        const Thing *known = &builder->barrier_things[at - 1];
        if (known->root == thing.root && known->side == thing.side && (thing.root || known->id == thing.id))
            return at - 1;
    }
    return SIZE_MAX;
}

size_t builder_find_buffer(const Builder *builder, const Op *root) {
    for (size_t i = 0; i < builder->buffer_count; i++)
        if (builder->buffer_things[i].root == root)
            return i;
    return SIZE_MAX;
}

const char *builder_partitions(Builder *builder, Partitions partitions) {
    Text text = {0};
    for (size_t k = 0; k < MOST_PARTITIONS; k++) {
        if (!(partitions.mask >> k & 1))
            continue;
        text_addf(&text, "%s", text.size ? ", " : "");
        partition_print((Partitions){partitions.form, UINT64_C(1) << k}, &text);
    }
    return verdict_keep(builder->verdict, &text);
}

uint64_t builder_runners(const Builder *builder, const Op *op) {
    Partitions said = partitions_of(op);
    if (builder->form == PARTITION_NONE)
        return 1;
    if (said.form == builder->form)
        return said.mask;
    return builder->form == PARTITION_REGIONS; /* what stands outside is run by the warps of the default region */
}

const char *builder_partition(Builder *builder, const Op *op) {
    Partitions partitions = partitions_of(op);
    if (builder->form == PARTITION_NONE)
        return "kernel";
    if (!partitions.mask && builder->form == PARTITION_REGIONS)
        return "default";
    return builder_partitions(builder, partitions);
}

ReportPlace builder_place(Builder *builder, const Op *op) {
    ReportPlace place = no_place;
    place.partition = builder_partition(builder, op);
    place.op = verdict_text(builder->verdict, "%.*s", STR_ARG(op->name));
    place.ir_line = op_line(builder->module, op);
    const Attr *location = kernel_location(builder->module, op->location);
    if (location) {
        place.file = verdict_text(builder->verdict, "%.*s", STR_ARG(location_text(location)));
        place.line = location->line;
        place.column = location->column;
    }
    return place;
}

const char *builder_shape(Builder *builder, const Type *type, unsigned rank) {
    Text text = {0};
    type = type ? type_resolve(builder->module, type) : NULL;
    for (unsigned d = type && type->dim_count > rank ? type->dim_count - rank : 0; type && d < type->dim_count; d++)
        text_addf(&text, "%lldx", (long long)type->dims[d]);
    const Type *element = type ? type_element(builder->module, type) : NULL;
    if (element)
        text_add_plain(&text, element->text);
    return verdict_keep(builder->verdict, &text);
}

const char *builder_extent(Builder *builder, Space space, int64_t begin, int64_t end) {
    Text text = {0};
    text_extent(&text, space == SPACE_TENSOR ? "column" : "byte", begin, end);
    return verdict_keep(builder->verdict, &text);
}

const char *builder_storage(Builder *builder, const char *name, Space space, int64_t slots, int64_t size) {
    bool tensor = space == SPACE_TENSOR;
    const char *several = slots > 1 ? verdict_text(builder->verdict, "%lld slots of ", (long long)slots) : "";
    return verdict_text(builder->verdict, "%s (%s, %s%lld %s)", name, tensor ? "tensor" : "shared", several,
                        (long long)size, tensor ? "columns" : "bytes");
}

int64_t builder_planned_slots(Builder *builder, const Op *op) {
    enum { MOST_SLOTS = 1 << 16 };
    int64_t copies;
    const Layout *layout = op->result_count ? layout_of(builder->module, op->results[0].type) : NULL;
    bool planned = op_integer(op, "buffer.copy", &copies) && copies > 1 && copies <= MOST_SLOTS;
    return planned && layout && layout->stages <= 1 ? copies : 1;
}

/* A copy of a list, with room for as many. */
static void *copied(Builder *builder, const void *list, size_t count, size_t room, size_t size) {
    char *copy = arena_zalloc(builder->arena, room * size);
    if (count)
        memcpy(copy, list, count * size);
    return copy;
}

void builder_add_text(Builder *builder, const char *const **list, size_t *count, const char *text) {
    const char **longer = copied(builder, *list, *count, *count + 1, sizeof *longer);
    longer[(*count)++] = text;
    *list = longer;
}

void builder_issue(Builder *builder, ReportBarrier *barrier, const char *text) {
    builder_add_text(builder, &barrier->issues, &barrier->issue_count, text);
}

void builder_note(Builder *builder, ReportBuffer *buffer, const char *text) {
    builder_add_text(builder, &buffer->notes, &buffer->note_count, text);
}

const Op *enclosing_loop(const Op *op) {
    for (const Op *parent = op_parent(op); parent && parent->row; parent = op_parent(parent)) {
        if (op_is_loop(parent))
            return parent;
        if (op_is_control(parent, CONTROL_FORK) || op_is_control(parent, CONTROL_PARTITIONS))
            return NULL;
    }
    return NULL;
}

const char *builder_cadence(Builder *builder, const Op *op) {
    const Op *loop = enclosing_loop(op);
    if (!loop)
        return "once";
    return verdict_text(builder->verdict, "each iteration of the loop at line %u", op_line(builder->module, loop));
}

void builder_add_place(Builder *builder, const ReportPlace **places, size_t *count, ReportPlace place) {
    for (size_t i = 0; i < *count; i++)
        if ((*places)[i].ir_line == place.ir_line && strcmp((*places)[i].partition, place.partition) == 0)
            return;
    builder_push_place(builder, places, count, place);
}

void builder_push_place(Builder *builder, const ReportPlace **places, size_t *count, ReportPlace place) {
    if ((*count & (*count - 1)) == 0) /* it is full at every power of two */
        *places = copied(builder, *places, *count, *count ? 2 * *count : 1, sizeof place);
    ((ReportPlace *)*places)[(*count)++] = place;
}
