/* What is shared between partitions: buffers, who writes and reads them, and which of them are the same memory. */
#include "analyze/report/coverage.h"
#include "analyze/report/internal.h"

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
    buffer->storage =
        op->result_count && op->results[0].type
            ? verdict_text(builder->verdict, "%.*s", STR_ARG(type_resolve(builder->module, op->results[0].type)->text))
            : "";
    buffer->id = integer_attr(op, "buffer.id");
    buffer->offset = integer_attr(op, "buffer.offset");
    buffer->depth = depth_of(builder, op);
    buffer->size = allocation->size;
}

/* Who writes and reads each, by what the ops say they do. */
static void find_users(Builder *builder) {
    Effect effects[EFFECTS_MOST];
    for (const Op *op = builder->function; op; op = op_next_in_walk(op, builder->function)) {
        unsigned count = effects_of(builder->module, op, effects);
        for (unsigned i = 0; i < count; i++) {
            const Effect *effect = &effects[i];
            bool reads = effect->verb == EFFECT_READ || effect->verb == EFFECT_UPDATE;
            bool writes = effect->verb == EFFECT_WRITE || effect->verb == EFFECT_UPDATE;
            if ((!reads && !writes) || (effect->space != SPACE_SHARED && effect->space != SPACE_TENSOR))
                continue;
            const Op *root = effect->on ? data_root(builder->module, effect->on) : NULL;
            size_t index = root ? builder_find_buffer(builder, root) : SIZE_MAX;
            if (index == SIZE_MAX)
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
            builder_note(builder, &builder->buffers[i],
                         verdict_text(builder->verdict, "shares %s %lld-%lld with %s", tensor ? "columns" : "bytes",
                                      (long long)(first - from), (long long)(last - from), builder->buffers[k].name));
        }
    }
}

void report_buffers(Builder *builder, Coverage *coverage) {
    for (uint32_t i = 0; i < builder->allocations.count; i++) {
        const Allocation *allocation = &builder->allocations.items[i];
        if ((allocation->space == SPACE_SHARED || allocation->space == SPACE_TENSOR) &&
            !is_barrier(builder, allocation->op))
            add_buffer(builder, allocation);
    }
    find_users(builder);
    coverage_parts(coverage, builder);
    find_shared_storage(builder);
}
