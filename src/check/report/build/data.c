/* What is shared between partitions: buffers, who writes and reads them, and which of them are the same memory. */
#include "check/report/build/coverage.h"
#include "check/report/build/internal.h"
#include "model/layout/layout.h"

/* ---- Buffers -------------------------------------------------------------------------------------- */

static bool is_barrier(const Builder *builder, const Op *root) {
    for (size_t i = 0; i < builder->barrier_count; i++)
        if (builder->barrier_things[i].root == root)
            return true;
    return false;
}

/* Slots of a buffer: what the compiler said, else its outermost dimension where there are more than a tile has. */
static int64_t depth_of(Builder *builder, const Op *root) {
    int64_t copies;
    const Type *type = root->result_count ? root->results[0].type : NULL;
    const Layout *layout = type ? layout_of(builder->module, type) : NULL;
    if (op_integer(root, "buffer.copy", &copies) && copies > 0)
        return copies;
    return layout && layout->stages > 0 ? layout->stages : 1;
}

/* The buffers of an aref are a ring, whatever their layout takes for a tile. */
static void find_aref_rings(Builder *builder) {
    for (const Op *op = builder->function; op; op = op_next_in_walk(op, builder->function))
        for (uint32_t i = 0; op_is(op, CLASS_AREF) && i < op->operand_count; i++) {
            const Op *root = data_root(builder->module, op->operands[i]);
            size_t index = root ? builder_find_buffer(builder, root) : SIZE_MAX;
            const Type *type = type_resolve(builder->module, op->operands[i]->type);
            if (index != SIZE_MAX && type && type->dim_count && type->dims[0] > 0)
                builder->buffers[index].depth = type->dims[0];
        }
}

static void add_buffer(Builder *builder, const Allocation *allocation) {
    const Op *op = allocation->op;
    const Value *value = op->result_count ? &op->results[0] : NULL;
    ReportBuffer *buffer = builder_buffer(builder, op, value, name_of(builder->names, op), allocation->space);
    op_integer(op, "buffer.id", &buffer->id);
    op_integer(op, "buffer.offset", &buffer->offset);
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
            const Op *root = effect_is_local(effect) ? data_root(builder->module, effect->on) : NULL;
            size_t index = root ? builder_find_buffer(builder, root) : SIZE_MAX;
            if (index == SIZE_MAX)
                continue;
            ReportBuffer *buffer = &builder->buffers[index];
            ReportPlace place = builder_place(builder, op);
            if (effect->verb != EFFECT_READ)
                builder_add_place(builder, &buffer->writers, &buffer->writer_count, place);
            if (effect->verb != EFFECT_WRITE)
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
            if (i == k || !a || !b || a->storage != b->storage || a->size <= 0 || b->size <= 0)
                continue;
            int64_t offset = allocation_begin(b) - allocation_begin(a);
            int64_t begin = offset > 0 ? offset : 0, end = a->size < offset + b->size ? a->size : offset + b->size;
            if (begin < end)
                builder_note(builder, &builder->buffers[i],
                             verdict_text(builder->verdict, "shares %s with %s",
                                          builder_extent(builder, a->space, begin, end), builder->buffers[k].name));
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
    find_aref_rings(builder);
    find_users(builder);
    report_fences(builder);
    coverage_parts(coverage, builder);
    find_shared_storage(builder);
}
