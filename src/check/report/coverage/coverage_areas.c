/* Where accesses are: from a view that the emulator has to the exact bytes, and to the buffer that they are of. */
#include "check/report/coverage/coverage_internal.h"

#include "check/explain/place.h"
#include "model/flow/forwarded.h"
#include "model/layout/layout.h"
#include "model/names/names.h"

enum { MOST_STEPS = 128 };
static const uint64_t most_compared = UINT64_C(1) << 27;

/* ---- Boxes ---------------------------------------------------------------------------------------- */

static CoverageBox box_of(const Bytes *bytes, bool tensor) {
    CoverageBox box = {INT64_MAX, 0, INT64_MAX, 0};
    for (uint32_t i = 0; i < bytes->count; i++) {
        Run run = bytes->runs[i];
        int64_t row = tensor ? run.begin >> 16 : 0;
        if (tensor)
            run = (Run){run.begin & 0xffff, run.end - (row << 16)};
        box.begin = run.begin < box.begin ? run.begin : box.begin;
        box.end = run.end > box.end ? run.end : box.end;
        box.first_row = row < box.first_row ? row : box.first_row;
        box.end_row = row + 1 > box.end_row ? row + 1 : box.end_row;
    }
    return box;
}

static bool boxes_overlap(const CoverageBox *a, const CoverageBox *b) {
    return a->begin < b->end && b->begin < a->end && a->first_row < b->end_row && b->first_row < a->end_row;
}

CoverageBox box_overlap(const CoverageArea *a, const CoverageArea *b, Arena *arena) {
    Bytes both = {ARENA_ARRAY(arena, Run, a->bytes.count + b->bytes.count), 0};
    for (uint32_t i = 0, k = 0; i < a->bytes.count && k < b->bytes.count;) {
        Run x = a->bytes.runs[i], y = b->bytes.runs[k];
        Run run = {x.begin > y.begin ? x.begin : y.begin, x.end < y.end ? x.end : y.end};
        if (run.begin < run.end)
            both.runs[both.count++] = run;
        if (x.end < y.end)
            i++;
        else
            k++;
    }
    return box_of(&both, a->buffer->backing->allocation->space == SPACE_TENSOR);
}

static CoverageBox box_moved(CoverageBox box, int64_t by) {
    box.begin += by;
    box.end += by;
    return box;
}

/* ---- Carriers ------------------------------------------------------------------------------------- */

static const Backing *new_backing(Coverage *coverage, const Op *op, const Allocation *allocation, int32_t offset) {
    for (const Backing *known = coverage->backings; known; known = known->next)
        if (known->op == op)
            return known;
    Backing *backing = ARENA_NEW(coverage->arena, Backing);
    *backing = (Backing){.next = coverage->backings, .op = op, .allocation = allocation, .size = -1};
    backing->offset = (Offset){allocation->offset.base + offset, allocation->offset.affine};
    Bytes bytes;
    if (op->result_count &&
        view_bytes(coverage->module, op->results[0].type, backing->offset, coverage->arena, &bytes)) {
        backing->box = box_of(&bytes, allocation->space == SPACE_TENSOR);
        backing->size = bytes_size(&bytes);
    }
    coverage->backings = backing;
    return backing;
}

/* What the op carries: an allocation, or a part of one in its own name. */
static const Backing *backing_at(Coverage *coverage, const Op *op) {
    const Allocations *allocations = &coverage->machine->program->allocations;
    const Allocation *allocation = allocation_find(allocations, op);
    if (allocation)
        return new_backing(coverage, op, allocation, 0);
    allocation = op->operand_count ? allocation_find(allocations, value_op(op->operands[0])) : NULL;
    return allocation ? new_backing(coverage, op, allocation, (int32_t)view_step_of(coverage->module, op).add) : NULL;
}

/* The backing allocation that the IR names, if the access went there; else what lies there. NULL: it is no data. */
static const Backing *backing_of(Coverage *coverage, const Provenance *origin, Word view) {
    const Allocations *allocations = &coverage->machine->program->allocations;
    const Backing *backing = origin->backing;
    if (!backing || backing->allocation->storage != view.meta) {
        coverage->compared += allocations->count;
        const Allocation *there = allocation_at(allocations, view.meta, (int32_t)(view.bits & UINT32_MAX));
        backing = there ? new_backing(coverage, there->op, there, 0) : NULL;
    }
    return backing && !coverage->barriers[backing->allocation - allocations->items] ? backing : NULL;
}

/* ---- Origins -------------------------------------------------------------------------------------- */

/* Whether a view is something that deserves a name: not a slot of a ring, not the same in another order. */
static bool is_part(const Op *op, const ViewStep *step) {
    return (op_is(op, CLASS_PART) || op_is(op, CLASS_REUSE)) && !step->index && !step->rank;
}

/* What a value is another name for. What branches hand over is left open: the run says which of them it was. */
static const Value *forwarded_from(const Value *value) {
    static const Forwarded ways[] = {FORWARDED_IN, FORWARDED_CAPTURE, FORWARDED_OUT, FORWARDED_CHOICE};
    const Value *found = NULL;
    for (size_t i = 0; i < sizeof ways / sizeof *ways && !found; i++)
        found = value_forwarded(value, ways[i]);
    return found;
}

/* What a value is another name for, or a view of; NULL if it is none. Notes slots and names on the way. */
static const Value *viewed(Coverage *coverage, const Value *value, Provenance *origin) {
    const Value *before = forwarded_from(value);
    const Op *op = value_op(value);
    Effect effects[EFFECTS_MOST];
    unsigned count = op && !before ? effects_of(coverage->module, op, effects) : 0;
    for (unsigned i = 0; i < count; i++) {
        if (effects[i].verb != EFFECT_VIEW || effects[i].on != value)
            continue;
        ViewStep step = view_step_of_result(coverage->module, op, value->index);
        if (!origin->stride && step.index && step.stride > 0) {
            const Layout *ring = layout_of(coverage->module, effects[i].amount->type);
            origin->stride = step.stride;
            origin->slots = ring && ring->stages > 0 ? ring->stages : 0;
        } else if (origin->stride && !step.index) {
            origin->base += step.add;
        }
        if (!origin->label && op->result_count && is_named(coverage->module, &op->results[0]))
            origin->label = op;
        if (!origin->view && is_part(op, &step))
            origin->view = op;
        if (op_is(op, CLASS_REUSE))
            origin->reuse = op;
        return effects[i].amount;
    }
    return before;
}

/* Whether an op gives a part of memory that several share a life of its own, under its own type. */
static bool makes_own(Module *module, const Op *op) {
    const Type *type = op->operand_count ? type_resolve(module, op->operands[0]->type) : NULL;
    return type && type_is(type, STR("tlx.storage_alias_spec"));
}

static const Provenance *provenance_of(Coverage *coverage, const CompiledEffect *effect) {
    const Program *program = coverage->machine->program;
    Provenance *origin = &coverage->origins[effect - program->effects];
    if (origin->known)
        return origin;
    origin->known = true;
    const Value *value = effect->effect.on;
    for (int step = 0; value && step < MOST_STEPS; step++) {
        const Op *op = value_op(value);
        if (op && (makes_own(coverage->module, op) || allocation_find(&program->allocations, op))) {
            origin->backing = backing_at(coverage, op);
            origin->renamed =
                origin->view && origin->backing && is_renamed(coverage->module, origin->backing->op, origin->view);
            return origin;
        }
        value = viewed(coverage, value, origin);
    }
    return origin;
}

/* ---- Buffers -------------------------------------------------------------------------------------- */

static void add_view(CoverageBuffer *buffer, const Op *view) {
    for (uint32_t i = 0; i < buffer->view_count; i++)
        if (buffer->views[i] == view)
            return;
    if (view && buffer->view_count < MOST_BUFFER_VIEWS)
        buffer->views[buffer->view_count++] = view;
}

static bool boxes_equal(const CoverageBox *a, const CoverageBox *b) {
    return a->begin == b->begin && a->end == b->end && a->first_row == b->first_row && a->end_row == b->end_row;
}

static CoverageBuffer *buffer_of(Coverage *coverage, const Backing *backing, const Provenance *origin, CoverageBox box,
                                 int64_t size) {
    int64_t length = backing->box.end - backing->box.begin, slots = origin->slots;
    if (origin->stride && !slots) /* an aref's: all of the backing allocation */
        slots = (length + origin->stride - 1) / origin->stride;
    bool whole = backing->size >= 0 && size >= backing->size / (slots > 0 ? slots : 1);
    bool alias = whole && origin->renamed;
    for (CoverageBuffer *known = coverage->buffers; known; known = known->next)
        if (known->backing == backing && known->size == size && known->alias == alias && boxes_equal(&known->box, &box))
            return known;
    CoverageBuffer *buffer = ARENA_NEW(coverage->arena, CoverageBuffer);
    *buffer = (CoverageBuffer){.next = coverage->buffers,
                               .backing = backing,
                               .box = box,
                               .size = size,
                               .whole = whole,
                               .alias = alias,
                               .reuse = origin->reuse};
    coverage->buffers = buffer;
    return buffer;
}

/* ---- Areas ---------------------------------------------------------------------------------------- */

static void add_meet(Coverage *coverage, CoverageArea *area, CoverageArea *other, bool covered) {
    *ARENA_PUSH(coverage->arena, area->overlaps, area->overlap_count, area->overlap_capacity) =
        (CoverageOverlap){other, covered};
}

/* Finds out which areas of the same memory have bytes in common with a new one. */
static bool add_area(Coverage *coverage, CoverageArea **memory, CoverageArea *area) {
    for (CoverageArea *other = *memory; other; other = other->next) {
        if (!boxes_overlap(&area->box, &other->box))
            continue;
        coverage->compared += area->bytes.count + other->bytes.count;
        if (coverage->compared > most_compared)
            return false;
        if (!bytes_overlap(&area->bytes, &other->bytes))
            continue;
        add_meet(coverage, area, other, bytes_contain(&area->bytes, &other->bytes));
        add_meet(coverage, other, area, bytes_contain(&other->bytes, &area->bytes));
    }
    add_meet(coverage, area, area, true);
    area->next = *memory;
    *memory = area;
    return true;
}

static void give_up(Coverage *coverage, const Op *op, const char *why) {
    if (coverage->unknown)
        return;
    coverage->unknown = why;
    coverage->unknown_op = op;
}

static CoverageArea *new_area(Coverage *coverage, const Event *access, const Provenance *origin, const Backing *backing,
                              CoverageArea **memory) {
    Word view = access->view;
    bool tensor = backing->allocation->space == SPACE_TENSOR;
    Offset offset = {(int32_t)(view.bits & UINT32_MAX), (int32_t)(view.bits >> 32)};
    CoverageArea *area = ARENA_NEW(coverage->arena, CoverageArea);
    *area = (CoverageArea){.type = access->effect->type, .view = view, .renamed = origin->renamed};
    if (!view_bytes(coverage->module, area->type, offset, coverage->arena, &area->bytes) || !area->bytes.count) {
        give_up(coverage, access->op, "where it lies in memory is not known");
        return NULL;
    }
    area->box = box_of(&area->bytes, tensor);
    int64_t from =
        tensor ? (offset.base & 0xffff) - (backing->offset.base & 0xffff) : offset.base - backing->offset.base;
    from -= tensor ? origin->base & 0xffff : origin->base;
    area->slot = origin->stride && from > 0 ? from / origin->stride * origin->stride : 0;
    area->buffer = buffer_of(coverage, backing, origin, box_moved(area->box, -area->slot), bytes_size(&area->bytes));
    if (++coverage->area_count > MOST_AREAS || !add_area(coverage, memory, area)) {
        coverage->stopped = "memory is accessed in more pieces than are kept";
        return NULL;
    }
    return area;
}

static CoverageArea *area_of(Coverage *coverage, const Event *access) {
    const Program *program = coverage->machine->program;
    Word view = access->view;
    if (!word_is(view, WORD_VIEW) || !access->effect->type || view.meta >= program->allocations.storage_count ||
        view.cta >= program->ctas) {
        give_up(coverage, access->op, "the memory that it touches is not known, or outside of its buffer");
        return NULL;
    }
    const Provenance *origin = provenance_of(coverage, access->effect);
    const Backing *backing = backing_of(coverage, origin, view);
    if (!backing)
        return NULL;
    CoverageArea **memory = &coverage->memories[(size_t)view.cta * program->allocations.storage_count + view.meta];
    CoverageArea *area = *memory;
    while (area && (area->type != access->effect->type || area->view.bits != view.bits ||
                    area->buffer->backing != backing || area->renamed != origin->renamed))
        area = area->next;
    area = area ? area : new_area(coverage, access, origin, backing, memory);
    if (area && (!area->buffer->whole || area->buffer->alias)) {
        add_view(area->buffer, origin->view);
        area->buffer->label = area->buffer->label ? area->buffer->label : origin->label;
    }
    return area;
}

/* ---- Touches -------------------------------------------------------------------------------------- */

typedef struct TouchKey {
    const CompiledEffect *effect;
    uint32_t agent;
    Word view;
} TouchKey;

static inline uint32_t touch_hash(const TouchKey *touch) {
    uint64_t key = (uint64_t)touch->view.bits ^ (uint64_t)touch->view.meta << 24 ^ (uint64_t)touch->view.cta << 48 ^
                   (uint64_t)touch->agent << 56 ^ (uint64_t)(uintptr_t)touch->effect;
    return table_hash(key ^ key >> 33);
}

#define KEY_OF(touch) ((TouchKey){(touch)->effect, (touch)->agent, (touch)->view})
TABLE(touches, TouchTable, CoverageTouch *, TouchKey, 1 << 8, *item, KEY_OF(*item), touch_hash(&key),
      (*item)->effect == key.effect && (*item)->agent == key.agent && (*item)->view.bits == key.view.bits &&
          (*item)->view.meta == key.view.meta && (*item)->view.cta == key.view.cta)

CoverageTouch *coverage_touch(Coverage *coverage, const Event *access) {
    CoverageTouch **found = touches_find(&coverage->touches, KEY_OF(access));
    if (found)
        return *found;
    CoverageArea *area = area_of(coverage, access);
    if (!area)
        return NULL;
    if (coverage->touches.count == MOST_TOUCHES) {
        coverage->stopped = "there are more accesses than are kept";
        return NULL;
    }
    CoverageTouch *touch = ARENA_NEW(coverage->arena, CoverageTouch);
    *touch = (CoverageTouch){.index = coverage->touches.count,
                             .effect = access->effect,
                             .agent = access->agent,
                             .pc = access->pc,
                             .view = access->view,
                             .area = area,
                             .next = coverage->listed,
                             .next_of_area = area->touches};
    coverage->listed = area->touches = touch;
    return *touches_put(coverage->arena, &coverage->touches, KEY_OF(touch)) = touch;
}
