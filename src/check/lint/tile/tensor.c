/* Tensor memory: where there is some, how much, who reaches it, and who may commit. What orders accesses is in
 * tensor_order.c. */
#include "check/lint/tile/group.h"
#include "model/layout/layout.h"
#include "model/memory/lifetime.h"

#include <stdlib.h>

enum { COLUMNS = 512 /* of a CTA, where the target is not known */ };

static int64_t columns_of(const Lint *lint) {
    return lint->target && lint->target->tensor_columns ? lint->target->tensor_columns : COLUMNS;
}

/* ---- Target and sizes ----------------------------------------------------------------------------- */

static void check_target(Lint *lint, const Op *op) {
    if (lint->target && !lint->target->tensor_columns)
        lint_explain(lint_find(lint, RULE_TMEM_TARGET, op, "%s has no tensor memory", lint->target->name), "tensor",
                     "tcgen05 and tensor memory exist only on sm_100, sm_103 and sm_110.",
                     "Compile for one of these, or use the MMA of the target.");
}

static void check_size(Lint *lint, const Op *op, int64_t size) {
    bool known = size == 0 || (size >= 32 && size <= columns_of(lint) && !(size & (size - 1)));
    if (!known && (lint->target || size != 576)) /* 576 is for targets that Weir does not know */
        lint_explain(
            lint_find(lint, RULE_TMEM_SIZE, op, "%lld columns of tensor memory cannot be allocated", (long long)size),
            "tensor", "tcgen05.alloc takes 32, 64, 128, 256 or 512 columns.",
            "Round it up to the next of these, or use less.");
}

static void check_sizes(Lint *lint) {
    int64_t size;
    for (const Op *op = lint->function; op; op = op_parent(op))
        if (op_integer(op, "ttg.tensor_memory_size", &size))
            check_size(lint, op, size);
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function))
        if (op_is(op, CLASS_TENSOR_MEMORY) && op_integer(op, "tensor_memory_size", &size))
            check_size(lint, op, size);
}

/* ---- Buffers -------------------------------------------------------------------------------------- */

/* A buffer of tensor memory: how much of it, where, and from when to when. */
typedef struct TensorBuffer {
    const Allocation *allocation;
    Lifetime life;
    int64_t columns, halves; /* halves: of the 128 rows, 1 or 2 */
    bool placed;
    Bytes bytes; /* if it is placed */
} TensorBuffer;

typedef struct Buffers {
    TensorBuffer *items;
    uint32_t count, capacity, placed;
} Buffers;

/* Several names for one buffer (`buffer.id`): only one of them counts. */
static bool is_counted(const Buffers *buffers, const Allocation *allocation) {
    for (uint32_t i = 0; i < buffers->count; i++)
        if (!buffers->items[i].placed && buffers->items[i].allocation->storage == allocation->storage)
            return true;
    return false;
}

static void add_buffer(Lint *lint, Buffers *buffers, const Allocation *allocation, const Lifetimes *lifetimes) {
    int64_t offset;
    bool placed = op_integer(allocation->op, "tensor_memory_col_offset", &offset);
    const Value *value = &allocation->op->results[0];
    const Type *type = lint_type(lint, value);
    const Layout *layout = type ? layout_of(lint->module, type) : NULL;
    if (!layout || !layout->known || allocation->size <= 0 || (!placed && is_counted(buffers, allocation)))
        return;
    TensorBuffer buffer = {.allocation = allocation,
                           .life = lifetime_of(lifetimes, value),
                           .columns = allocation->size,
                           .halves = layout->rows > 64 ? 2 : 1,
                           .placed = placed};
    if (placed && !view_bytes(lint->module, type, allocation->offset, &lint->module->arena, &buffer.bytes))
        return;
    buffers->placed += placed;
    *ARENA_PUSH(&lint->module->arena, buffers->items, buffers->count, buffers->capacity) = buffer;
}

static Buffers buffers_of(Lint *lint) {
    enum { MOST_BUFFERS = 1000 };
    Allocations allocations = allocations_of(lint->module, lint->function);
    const Lifetimes *lifetimes = lifetimes_of(lint->module, lint->function);
    Buffers buffers = {0};
    for (uint32_t i = 0; i < allocations.count && buffers.count <= MOST_BUFFERS; i++)
        if (allocations.items[i].space == SPACE_TENSOR && op_is(allocations.items[i].op, CLASS_LOCAL_ALLOC))
            add_buffer(lint, &buffers, &allocations.items[i], lifetimes);
    if (buffers.count <= MOST_BUFFERS)
        return buffers;
    verdict_incomplete(lint->verdict, "", 0, "the kernel has too many tensor-memory buffers to compare");
    return (Buffers){0};
}

static bool lives_at(const TensorBuffer *buffer, uint32_t time) {
    return buffer->life.begin <= time && time < buffer->life.end;
}

/* Warps are to be specialized, and are not yet: a later pass may let buffers share their memory. */
static bool is_to_be_planned(const Lint *lint) {
    bool marked = false;
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function)) {
        if (op_is_control(op, CONTROL_FORK))
            return false;
        marked |= op_is_separated(op);
    }
    return marked;
}

/* What is in use when a buffer begins is the most that there is until the next begins. */
static void check_columns(Lint *lint, const Buffers *buffers) {
    for (uint32_t i = 0; i < buffers->count; i++) {
        int64_t halves = 0;
        uint32_t others = 0;
        for (uint32_t j = 0; j < buffers->count; j++)
            if (lives_at(&buffers->items[j], buffers->items[i].life.begin)) {
                halves += buffers->items[j].columns * buffers->items[j].halves;
                others += j != i;
            }
        if (halves <= 2 * columns_of(lint))
            continue;
        bool planned = is_to_be_planned(lint);
        lint_explain(lint_find(lint, planned ? RULE_TMEM_COLUMNS_PLANNED : RULE_TMEM_COLUMNS,
                               buffers->items[i].allocation->op,
                               "%s%lld columns of tensor memory are in use from here, with %u other buffer%s; there "
                               "are %lld",
                               planned ? "review: " : "", (long long)((halves + 1) / 2), others, others == 1 ? "" : "s",
                               (long long)columns_of(lint)),
                     "tensor", "A CTA has 128 lanes of 512 columns, and tcgen05.alloc for more never returns.",
                     "Use smaller tiles or fewer buffers, or reuse one buffer.");
        return;
    }
}

static void check_outside(Lint *lint, const TensorBuffer *buffer) {
    int64_t allocated = lint_module_integer(lint, "ttg.tensor_memory_size", 0);
    int64_t limit = allocated > 0 && allocated < columns_of(lint) ? allocated : columns_of(lint);
    int64_t first = buffer->allocation->offset.base & UINT16_MAX, end = first + buffer->columns;
    if (end > limit)
        lint_explain(lint_find(lint, RULE_TMEM_OUTSIDE, buffer->allocation->op,
                               "the buffer has columns %lld to %lld, and %lld are allocated", (long long)first,
                               (long long)end - 1, (long long)limit),
                     "tensor", "Access to columns that are not allocated is undefined behavior.",
                     "Allocate more columns, or place the buffer lower.");
}

static void check_overlap(Lint *lint, const TensorBuffer *a, const TensorBuffer *b) {
    const Op *first = a->allocation->op, *second = b->allocation->op;
    Partitions in_first = partitions_of(first), in_second = partitions_of(second);
    bool partitions =
        in_first.form == PARTITION_REGIONS && in_first.mask && in_second.mask && in_first.mask != in_second.mask;
    bool together = a->life.begin < b->life.end && b->life.begin < a->life.end;
    if ((!together && !partitions) || !bytes_overlap(&a->bytes, &b->bytes))
        return;
    uint32_t line = op_line(lint->module, first);
    Finding *finding =
        partitions
            ? lint_find(lint, RULE_TMEM_OVERLAP_PARTITIONS, second,
                        "review: the buffer shares tensor memory with the one at IR line %u, of another partition",
                        line)
            : lint_find(lint, RULE_TMEM_OVERLAP, second,
                        "the buffer shares tensor memory with the one at IR line %u, and both are live", line);
    lint_explain(finding, "tensor", "One overwrites the other.",
                 "Place one elsewhere, or end the use of one before the other starts.");
    lint_other_place(lint, finding, "allocates", first);
}

static void check_buffers(Lint *lint) {
    Buffers buffers = buffers_of(lint);
    if (!buffers.placed)
        check_columns(lint, &buffers);
    for (uint32_t i = 0; i < buffers.count; i++) {
        if (!buffers.items[i].placed)
            continue;
        check_outside(lint, &buffers.items[i]);
        for (uint32_t j = 0; j < i; j++)
            if (buffers.items[j].placed)
                check_overlap(lint, &buffers.items[j], &buffers.items[i]);
    }
}

/* ---- Who does it ---------------------------------------------------------------------------------- */

static void check_lanes(Lint *lint, const Op *op) {
    Effects effects = lint_effects(lint, op);
    bool by_threads = false;
    for (const Effect *effect = effects.items; effect < effects.end; effect++)
        by_threads |= effect_is_access(effect) && effect->helper == HELPER_BASE;
    unsigned warps = partition_warps(op);
    int64_t start = partition_first_warp(op);
    if (by_threads && warps % 4)
        lint_explain(lint_find(lint, RULE_TMEM_LANES, op,
                               "%s has %u warp%s, and only a multiple of 4 reaches all lanes", partition_name(lint, op),
                               warps, warps == 1 ? "" : "s"),
                     "tensor", "Warp i of a warpgroup reaches only lanes 32 i to 32 i + 31 of tensor memory.",
                     "Give it a multiple of 4 warps.");
    if (by_threads && start >= 0 && start % 4)
        lint_explain(lint_find(lint, RULE_TMEM_START, op,
                               "%s starts at warp %lld: its first warp reaches lanes from "
                               "%lld",
                               partition_name(lint, op), (long long)start, (long long)(start % 4 * 32)),
                     "tensor", "Which lanes a warp reaches depends on its index modulo 4.",
                     "Start the partition at a multiple of 4 warps.");
}

static void check_cta_group(Lint *lint) {
    const Op *pair = NULL, *single = NULL, *outermost = lint->function;
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function)) {
        bool two = op_flag(op, "two_ctas") && op_is(op, CLASS_TENSOR_MEMORY);
        pair = pair || !two ? pair : op;
        single = single || two || !op_is(op, CLASS_TCGEN05) ? single : op;
    }
    while (op_parent(outermost))
        outermost = op_parent(outermost);
    const Attr *all = op_attr(outermost, "ttng.two-ctas");
    bool pairs = op_flag(outermost, "ttng.two-ctas");
    const Op *odd = pairs ? single : all ? pair : pair && single ? single : NULL;
    if (!odd)
        return;
    bool two = odd == pair;
    Finding *finding =
        all ? lint_find(lint, RULE_TMEM_CTA_GROUP, odd, "%s in a module whose ttng.two-ctas is %s",
                        two ? "a two-CTA operation" : "a one-CTA MMA", two ? "false" : "true")
            : lint_find(lint, RULE_TMEM_CTA_GROUP, odd, "a one-CTA MMA in a kernel that has two-CTA operations");
    lint_explain(finding, "tensor", "Every tcgen05 instruction of a kernel has the same cta_group.",
                 "Make all of them two-CTA operations, or none.");
    if (!all)
        lint_other_place(lint, finding, "of two CTAs", pair);
}

/* ---- Commits -------------------------------------------------------------------------------------- */

/* The partitions that may run an op. The threads of the default one are those around the partitions, too. */
static uint64_t who_runs(const Op *op) {
    Partitions partitions = partitions_of(op);
    if (partitions.mask)
        return partitions.mask;
    return partitions.form == PARTITION_NONE || partitions.form == PARTITION_REGIONS ? 1 : UINT64_MAX;
}

static bool may_issue(Lint *lint, const Op *op) {
    return op_is_control(op, CONTROL_CALL) || tensor_access(lint, op) || lint_effect(lint, op, EFFECT_ANYTHING);
}

static bool only_commits(Lint *lint, const Op *op) {
    const Effect *arrival = op_is(op, CLASS_TENSOR_MEMORY) ? lint_effect(lint, op, EFFECT_ARRIVE) : NULL;
    return arrival && arrival->done == DONE_COMMIT && !tensor_access(lint, op);
}

static void check_commits(Lint *lint) {
    uint64_t issue = 0;
    bool commits = false;
    for (const Op *op = op_next_in_walk(lint->function, lint->function); op; op = op_next_in_walk(op, lint->function)) {
        commits |= only_commits(lint, op);
        if (may_issue(lint, op))
            issue |= who_runs(op);
    }
    for (const Op *op = commits ? lint->function : NULL; op; op = op_next_in_walk(op, lint->function)) {
        if (!only_commits(lint, op) || (who_runs(op) & issue))
            continue;
        Finding *finding = lint_find(lint, RULE_TMEM_COMMIT, op, "review: %s commits, and issues no MMA or copy",
                                     partition_name(lint, op));
        lint_explain(
            finding, "tensor",
            "A commit tracks what its own thread has issued; here that is nothing, so it arrives at once.",
            "Commit (`ttng.tc_gen5_commit`) in the partition that issues the MMAs, or use `ttng.arrive_barrier`.");
    }
}

void lint_tensor(Lint *lint) {
    const Op *first = NULL;
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function)) {
        bool tensor = op_is(op, CLASS_TENSOR_MEMORY);
        first = first || !tensor ? first : op;
        if (tensor)
            check_lanes(lint, op);
    }
    if (!first)
        return;
    check_target(lint, first);
    check_sizes(lint);
    check_buffers(lint);
    check_cta_group(lint);
    check_commits(lint);
    Flow flow = flow_of(lint->function, &lint->module->arena);
    lint_tensor_order(lint, &flow);
}
