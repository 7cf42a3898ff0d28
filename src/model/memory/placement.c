/* What a function has in shared memory: what the IR places is taken as it is, the rest goes to the allocator. */
#include "model/memory/placement.h"

#include "ir/memo.h"
#include "ir/op.h"
#include "model/flow/symbol.h"
#include "model/layout/layout.h"
#include "model/memory/allocator.h"
#include "model/memory/views.h"

enum {
    MOST_EXACT = 1024, /* buffers that are placed as Triton would */
    MOST_PIECES = LAYOUT_PIECES,
    CALL_ALIGNMENT = 128,
    USUAL_ALIGNMENT = 16,
};

static const int64_t LARGEST = INT64_C(1) << 40; /* of a buffer or an offset */
static const uint32_t GIVEN = UINT32_MAX;

/* A function on the way to be placed, and afterwards. */
typedef struct Frame {
    enum { FRAME_NEW, FRAME_OPEN, FRAME_DONE } state;
    const Op *function;
    struct Frame *caller; /* whose callees are being placed */
    const Op *next;       /* the op from which to look for another callee */
    Placements placements;
} Frame;

typedef struct Placer {
    Module *module;
    const Op *function;
    Placements *to;
    bool complete; /* the IR places everything: an op without an offset has no scratch memory */
    Lifetimes const *lifetimes;
    Buffer *buffers;
    uint32_t *buffer_of; /* by item: its buffer, or GIVEN */
    uint32_t *storages;  /* by storage: its buffer + 1 */
    uint32_t count;      /* of buffers */
} Placer;

static void problem(Placer *p, const char *sentence) {
    if (!p->to->problem)
        p->to->problem = sentence;
}

/* ---- What the IR says -------------------------------------------------------------------------- */

static bool number(const Attr *attr, int64_t *value) {
    if (!attr || attr->kind != ATTR_INTEGER || !attr->exact || attr->integer < 0 || attr->integer > LARGEST)
        return false;
    *value = attr->integer;
    return true;
}

/* The offsets that the IR has for an op: one, or one for each piece. */
static uint32_t offsets_of(const Op *op, int64_t offsets[MOST_PIECES]) {
    const Attr *attr = op_attr(op, "allocation.offset");
    if (number(attr, &offsets[0]))
        return 1;
    if (!attr || (attr->kind != ATTR_INTS && attr->kind != ATTR_ARRAY) || attr->count > MOST_PIECES)
        return 0;
    for (uint32_t i = 0; i < attr->count; i++) {
        if (attr->kind == ATTR_ARRAY ? !number(attr->items[i], &offsets[i])
                                     : !attr->exact || attr->ints[i] < 0 || attr->ints[i] > LARGEST)
            return 0;
        if (attr->kind == ATTR_INTS)
            offsets[i] = attr->ints[i];
    }
    return attr->count;
}

static bool has_size(const Op *function) {
    return op_attr_around(function, "ttg.shared") != NULL;
}

/* Whether the allocator has been here: the module says so, or scratch memory is placed. */
static bool is_complete(const Op *function) {
    if (has_size(function))
        return true;
    for (const Op *op = function; op; op = op_next_in_walk(op, function))
        if (op_attr(op, "allocation.size") && op_attr(op, "allocation.offset"))
            return true;
    return false;
}

bool memory_is_placed(const Op *function) {
    if (has_size(function))
        return true;
    for (const Op *op = function; op; op = op_next_in_walk(op, function))
        if (op_attr(op, "allocation.offset"))
            return true;
    return false;
}

/* ---- What is to be placed ---------------------------------------------------------------------- */

static Placed *add_item(Placer *p, const Op *op, PlacedKind kind) {
    Placed *placed = &p->to->items[p->to->count];
    p->buffer_of[p->to->count++] = GIVEN;
    *placed = (Placed){.op = op, .kind = kind, .end = PLACED_ANYWHERE, .given = true};
    return placed;
}

/* True if the IR says where it lies. */
static bool take_given(Placer *p, Placed *placed, int64_t size) {
    int64_t offsets[MOST_PIECES];
    uint32_t count = offsets_of(placed->op, offsets);
    for (uint32_t i = 0; i < count; i++) {
        Placed *piece = i ? add_item(p, placed->op, placed->kind) : placed;
        piece->begin = offsets[i];
        piece->end = offsets[i] + size / count;
        p->to->given = true;
    }
    return count > 0;
}

const Op *placement_partition(const Op *op, const Region **partition) {
    const Region *inside = NULL;
    for (; op; op = op_parent(op)) {
        if (inside && op_is_control(op, CONTROL_FORK)) {
            *partition = inside;
            return op;
        }
        /* Partitions are regions of an op of their own, which stands in a region of the op around. */
        if (!inside || !op_is_control(op, CONTROL_PARTITIONS))
            inside = op->block ? op->block->region : NULL;
    }
    return NULL;
}

static void find_partition(const Placer *p, const Op *op, Buffer *buffer) {
    const Region *partition = NULL;
    const Op *fork = placement_partition(op, &partition), *first = fork;
    if (!fork)
        return;
    for (const Op *inner; (inner = op_next_in_walk(first, first)); first = inner) {
    }
    buffer->specialize = fork;
    buffer->partition = partition;
    buffer->specialized = (Lifetime){lifetime_number(p->lifetimes, first), lifetime_number(p->lifetimes, fork) + 1};
}

/* When an item lives. */
static Lifetime life_of(Placer *p, const Placed *placed) {
    if (!p->lifetimes)
        p->lifetimes = lifetimes_of(p->module, p->function);
    if (placed->op == p->function)
        return (Lifetime){0, UINT32_MAX};
    if (placed->kind == PLACED_ALLOCATION)
        return lifetime_of(p->lifetimes, &placed->op->results[0]);
    uint32_t time = lifetime_number(p->lifetimes, placed->op);
    return (Lifetime){time, time + 1};
}

/* How large the item is is not known: it overlaps everything that it lives beside. */
static void leave_open(Placer *p, Placed *placed, const char *sentence) {
    const Region *partition = NULL;
    problem(p, sentence);
    placed->given = false;
    placed->life = life_of(p, placed);
    placed->specialize = placement_partition(placed->op, &partition);
    placed->partition = partition;
}

/* A buffer for the item that was added last. */
static Buffer *add_buffer(Placer *p, Placed *placed, int64_t size, int64_t alignment) {
    Lifetime life = life_of(p, placed);
    p->buffer_of[placed - p->to->items] = p->count;
    Buffer *buffer = &p->buffers[p->count++];
    *buffer = (Buffer){.size = size, .alignment = alignment, .life = life};
    find_partition(p, placed->op, buffer);
    placed->begin = 0; /* in the buffer, until that has a place */
    placed->end = size;
    return buffer;
}

static int64_t alignment_of(const Op *op, const Layout *layout) {
    int64_t alignment;
    if (number(op_attr(op, "alignment"), &alignment) && alignment > 0)
        return alignment;
    return layout && layout->alignment > 0 ? layout->alignment : USUAL_ALIGNMENT;
}

/* Allocations of one storage lie at fixed distances from each other: they are one buffer, which lives as long as any.
 */
static void add_allocation(Placer *p, const Allocation *allocation) {
    Placed *placed = add_item(p, allocation->op, PLACED_ALLOCATION);
    int64_t base = allocation->offset.base, size = allocation->size;
    if (size >= 0 && size <= LARGEST && take_given(p, placed, size))
        return;
    if (size < 0 || base < 0 || size > LARGEST) {
        leave_open(p, placed, "the size of an allocation is not known");
        return;
    }
    const Layout *layout = layout_of(p->module, allocation->op->results[0].type);
    int64_t alignment = alignment_of(allocation->op, layout), end = base + size;
    if (layout && layout->pieces > 1) {
        for (unsigned i = 0; i < layout->pieces; i++)
            add_buffer(p, i ? add_item(p, allocation->op, PLACED_ALLOCATION) : placed, size / layout->pieces,
                       alignment);
        return;
    }
    uint32_t *storage = &p->storages[allocation->storage];
    Buffer *own = add_buffer(p, placed, end, alignment);
    placed->begin = base;
    if (!*storage) {
        *storage = p->count;
        return;
    }
    Buffer *leader = &p->buffers[*storage - 1];
    leader->size = end > leader->size ? end : leader->size;
    leader->alignment = alignment > leader->alignment ? alignment : leader->alignment;
    leader->life.begin = own->life.begin < leader->life.begin ? own->life.begin : leader->life.begin;
    leader->life.end = own->life.end > leader->life.end ? own->life.end : leader->life.end;
    p->buffer_of[placed - p->to->items] = *storage - 1;
    p->count--;
}

static void add_scratch(Placer *p, const Op *op) {
    Scratch scratch = scratch_of(p->module, op);
    if (!scratch.bytes || (p->complete && !op_attr(op, "allocation.offset")))
        return;
    Placed *placed = add_item(p, op, PLACED_SCRATCH);
    placed->scratch = scratch;
    if (scratch.bytes < 0 || scratch.bytes > LARGEST)
        leave_open(p, placed, "how much scratch memory an op takes is not known, since the layout of a tensor is not");
    else if (!take_given(p, placed, scratch.bytes))
        add_buffer(p, placed, scratch.bytes, scratch.alignment);
}

static void add_call(Placer *p, const Op *call, const Frame *callee) {
    if (callee && callee->state == FRAME_DONE && !callee->placements.problem && !callee->placements.size)
        return;
    Placed *placed = add_item(p, call, PLACED_CALL);
    if (!callee)
        leave_open(p, placed, "a called function is not in the file");
    else if (callee->state != FRAME_DONE)
        leave_open(p, placed, "a function calls itself");
    else if (callee->placements.problem)
        leave_open(p, placed, callee->placements.problem);
    else if (!take_given(p, placed, callee->placements.size))
        add_buffer(p, placed, callee->placements.size, CALL_ALIGNMENT);
}

/* ---- One function ------------------------------------------------------------------------------ */

/* Triton counts allocations first, then scratch memory, then calls: that decides between buffers of one size. */
static void in_order(Placer *p, Buffer *sorted, uint32_t *place) {
    uint32_t count = 0;
    for (unsigned kind = PLACED_ALLOCATION; kind <= PLACED_CALL; kind++)
        for (uint32_t i = 0; i < p->to->count; i++) {
            uint32_t buffer = p->buffer_of[i];
            if (p->to->items[i].kind != kind || buffer == GIVEN || place[buffer])
                continue;
            sorted[count++] = p->buffers[buffer];
            place[buffer] = count;
        }
}

/* The first byte above what the IR places, for buffers of every alignment. */
static int64_t first_free(const Placer *p) {
    int64_t free = 0, alignment = 1;
    for (uint32_t i = 0; i < p->to->count; i++) {
        const Placed *placed = &p->to->items[i];
        if (p->buffer_of[i] == GIVEN && placed->end != PLACED_ANYWHERE && placed->end > free)
            free = placed->end;
    }
    for (uint32_t i = 0; i < p->count; i++)
        if (p->buffers[i].alignment > alignment)
            alignment = p->buffers[i].alignment;
    return (free + alignment - 1) / alignment * alignment;
}

static void place_rest(Placer *p) {
    Arena *arena = &p->module->arena;
    Placements *to = p->to;
    int64_t free = first_free(p);
    Buffer *sorted = ARENA_ARRAY(arena, Buffer, p->count + 1);
    uint32_t *place = ARENA_ARRAY(arena, uint32_t, p->count + 1);
    in_order(p, sorted, place);
    allocator_place(arena, sorted, p->count, MOST_EXACT);
    for (uint32_t i = 0; i < to->count; i++) {
        Placed *placed = &to->items[i];
        if (p->buffer_of[i] != GIVEN) {
            const Buffer *buffer = &sorted[place[p->buffer_of[i]] - 1];
            placed->begin += free + buffer->offset;
            placed->end += free + buffer->offset;
            placed->given = false;
            placed->life = buffer->life;
            placed->specialize = buffer->specialize;
            placed->partition = buffer->partition;
        }
        if (placed->end != PLACED_ANYWHERE && placed->end > to->size)
            to->size = placed->end;
    }
}

static Frame *frame_of(Module *module, const Op *function) {
    bool fresh;
    Frame *frame = module_memo(module, "frame", function, sizeof *frame, &fresh);
    if (fresh)
        frame->function = function;
    return frame;
}

static void place(Module *module, Frame *frame) {
    const Op *function = frame->function;
    Allocations allocations = allocations_of(module, function);
    Placer p = {.module = module, .function = function, .to = &frame->placements, .complete = is_complete(function)};
    size_t most = (size_t)allocations.count * MOST_PIECES;
    for (const Op *op = function; op; op = op_next_in_walk(op, function)) {
        int64_t offsets[MOST_PIECES];
        most += 1 + offsets_of(op, offsets);
    }
    p.to->items = ARENA_ARRAY(&module->arena, Placed, most);
    p.buffers = ARENA_ARRAY(&module->arena, Buffer, most);
    p.buffer_of = ARENA_ARRAY(&module->arena, uint32_t, most);
    p.storages = ARENA_ARRAY(&module->arena, uint32_t, allocations.storage_count + 1);
    uint32_t next = 0;
    for (const Op *op = function; op; op = op_next_in_walk(op, function)) {
        if (next < allocations.count && allocations.items[next].op == op) {
            if (allocations.items[next].space == SPACE_SHARED)
                add_allocation(&p, &allocations.items[next]);
            next++;
        } else if (op_is_control(op, CONTROL_CALL)) {
            const Op *target = call_target(module, op);
            add_call(&p, op, target ? frame_of(module, target) : NULL);
        } else {
            add_scratch(&p, op);
        }
    }
    place_rest(&p);
}

/* ---- Callees first ----------------------------------------------------------------------------- */

/* Opens the next callee of a function that nothing has opened yet; NULL if there is none. */
static Frame *next_callee(Module *module, Frame *frame) {
    while (frame->next) {
        const Op *op = frame->next;
        frame->next = op_next_in_walk(op, frame->function);
        const Op *target = op_is_control(op, CONTROL_CALL) ? call_target(module, op) : NULL;
        Frame *callee = target ? frame_of(module, target) : NULL;
        if (callee && callee->state == FRAME_NEW)
            return callee;
    }
    return NULL;
}

static void open_frame(Frame *frame, Frame *caller) {
    frame->state = FRAME_OPEN;
    frame->caller = caller;
    frame->next = frame->function;
}

Placements placements_of(Module *module, const Op *function) {
    Frame *first = frame_of(module, function), *frame = first;
    if (first->state == FRAME_DONE)
        return first->placements;
    open_frame(first, NULL);
    while (frame) {
        Frame *callee = next_callee(module, frame);
        if (callee) {
            open_frame(callee, frame);
            frame = callee;
            continue;
        }
        place(module, frame);
        frame->state = FRAME_DONE;
        frame = frame->caller;
    }
    return first->placements;
}
