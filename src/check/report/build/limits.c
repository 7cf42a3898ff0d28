/* Section 1 of the barrier report: what the kernel takes of the hardware, and how much there is. */
#include "check/report/build/internal.h"

#include "base/order.h"
#include "model/target/target.h"

#include <stdlib.h>

enum {
    SHARED_MOST = 232448, /* bytes of shared memory of a CTA of compute capability 9.0 and 10.0 */
    TENSOR_MOST = 512,    /* columns of tensor memory */
    WARPS_MOST = 16
};

/* When a storage is in use, by offsets in the text, and how much of it. */
typedef struct LimitLifetime {
    uint32_t begin, end;
    int64_t size;
} LimitLifetime;

/* Buffers of one storage that have a type in common: only those are laid over each other. One id for buffers of
 * different types is one barrier for them, and they live side by side. */
typedef struct Kin {
    struct Kin *next;
    const Type *type;
    int64_t size;
} Kin;

static uint32_t offset_after(const Op *op) {
    return op->next ? op->next->offset : op->offset + 1;
}

/* Where a use of an allocation is over: with the op of the allocation's own block that it stands in; in a specialized
 * op with that, as partitions run side by side. */
static uint32_t use_end(const Op *allocation, const Op *use) {
    const Op *within = use;
    for (const Op *op = use; op; op = op_parent(op)) {
        if (op->block == allocation->block || op_is_control(op, CONTROL_FORK) || op_is_control(op, CONTROL_GROUPS))
            within = op;
    }
    return offset_after(within);
}

ORDER(compare_begins, LimitLifetime, BY(begin))

ORDER(compare_ends, LimitLifetime, BY(end))

static int64_t most_at_once(Arena *arena, LimitLifetime *lifetimes, uint32_t count) {
    LimitLifetime *ending = ARENA_ARRAY(arena, LimitLifetime, count + 1);
    int64_t now = 0, most = 0;
    memcpy(ending, lifetimes, count * sizeof *ending);
    qsort(lifetimes, count, sizeof *lifetimes, compare_begins);
    qsort(ending, count, sizeof *ending, compare_ends);
    for (uint32_t i = 0, ended = 0; i < count; i++) {
        for (; ended < count && ending[ended].end <= lifetimes[i].begin; ended++)
            now -= ending[ended].size;
        now += lifetimes[i].size;
        most = now > most ? now : most;
    }
    return most;
}

static void extend_by_uses(Builder *builder, Space space, LimitLifetime *lifetimes) {
    for (const Op *op = builder->function; op; op = op_next_in_walk(op, builder->function))
        for (uint32_t i = 0; i < op->operand_count; i++) {
            const Value *value = memdesc_space(op->operands[i]->type) == space ? op->operands[i] : NULL;
            const Allocation *used = allocation_of(&builder->allocations, builder->module, value);
            uint32_t end = used ? use_end(used->op, op) : 0;
            if (used && lifetimes[used->storage].end < end)
                lifetimes[used->storage].end = end;
        }
}

/* Whether a storage is an id of a plan, and not a place. */
static bool is_planned(const Builder *builder, const Allocation *item) {
    bool marked = builder->form == PARTITION_TASKS || builder->form == PARTITION_SCHEDULED;
    return marked && item->space == SPACE_SHARED && op_attr(item->op, "buffer.id") &&
           !op_attr(item->op, "allocation.reuseTarget") && !op_attr(item->op, "allocation.shareGroup");
}

/* What a storage takes with one more buffer in it. */
static int64_t size_with(Builder *builder, const LimitLifetime *life, Kin **kin, const Allocation *item, int64_t size) {
    if (!is_planned(builder, item))
        return life->size > size ? life->size : size;
    const Type *type = type_canonical(builder->module, item->op->results[0].type);
    Kin *known = *kin;
    while (known && known->type != type)
        known = known->next;
    if (!known) {
        known = ARENA_NEW(builder->arena, Kin);
        *known = (Kin){.next = *kin, .type = type};
        *kin = known;
    }
    int64_t more = size > known->size ? size - known->size : 0;
    known->size += more;
    return life->size + more;
}

/* The most that is in use at one time. Nothing is known of where a compiler will put what. */
static int64_t allocated(Builder *builder, Space space) {
    const Allocations *allocations = &builder->allocations;
    uint32_t count = allocations->storage_count;
    LimitLifetime *lifetimes = ARENA_ARRAY(builder->arena, LimitLifetime, count + 1);
    Kin **kin = ARENA_ARRAY(builder->arena, Kin *, count + 1);
    for (uint32_t i = 0; i < allocations->count; i++) {
        const Allocation *item = &allocations->items[i];
        LimitLifetime *life = &lifetimes[item->storage];
        uint32_t begin = item->op->offset, end = use_end(item->op, item->op);
        if (item->space != space || item->size <= 0)
            continue;
        life->begin = life->size && life->begin < begin ? life->begin : begin;
        life->end = life->end > end ? life->end : end;
        int64_t size = allocation_begin(item) + item->size, slots = builder_planned_slots(builder, item->op);
        size = size <= INT32_MAX ? size * slots : size;
        life->size = size_with(builder, life, &kin[item->storage], item, size);
    }
    extend_by_uses(builder, space, lifetimes);
    return most_at_once(builder->arena, lifetimes, count);
}

static bool has_shared_limit(const Builder *builder) {
    Str target = target_text(builder->function);
    return str_is(target, "cuda:90") || str_is(target, "cuda:100");
}

/* What is used of shared or tensor memory; 0 if that is not decided yet: it would be too much, and ops still stand
 * together that will not stay so, or the compiler has columns to put on top of each other. */
static int64_t memory_used(Builder *builder, const char *attribute, Space space, int64_t most) {
    const Op *module = op_parent(builder->function);
    int64_t used;
    if (module && op_integer(module, attribute, &used))
        return used;
    used = allocated(builder, space);
    bool decided = space == SPACE_SHARED && (builder->form == PARTITION_NONE || builder->form == PARTITION_REGIONS);
    return used <= most || decided ? used : 0;
}

static int64_t warps_used(Builder *builder) {
    int64_t used = builder->form == PARTITION_NONE ? 0 : module_total_warps(builder->function, 0);
    if (builder->form == PARTITION_NONE || used)
        return used;
    for (size_t i = 0; i < builder->report->partition_count && builder->form <= PARTITION_GROUPS; i++)
        used += builder->partitions[i].warps;
    return used;
}

void report_limits(Builder *builder) {
    ReportLimit *limits = ARENA_ARRAY(builder->arena, ReportLimit, 3);
    size_t count = 0;
    int64_t shared = memory_used(builder, "ttg.shared", SPACE_SHARED, SHARED_MOST);
    int64_t tensor = memory_used(builder, "ttg.tensor_memory_size", SPACE_TENSOR, TENSOR_MOST);
    int64_t warps = warps_used(builder);
    if (shared > 0 && has_shared_limit(builder))
        limits[count++] = (ReportLimit){"shared memory", "bytes", shared, SHARED_MOST};
    if (tensor > 0)
        limits[count++] = (ReportLimit){"tensor memory", "columns", tensor, TENSOR_MOST};
    if (warps > 0)
        limits[count++] = (ReportLimit){"warps", "", warps, WARPS_MOST};
    builder->report->limits = limits;
    builder->report->limit_count = count;
}
