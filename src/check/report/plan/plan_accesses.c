/* Loops, buffers and who touches them, of a kernel whose partitions are only named on its ops. */
#include "check/report/plan/plan.h"

#include "base/order.h"
#include "model/effect/unknown.h"
#include "model/flow/forwarded.h"
#include "model/layout/layout.h"

#include <stdlib.h>

void list_add(Arena *arena, List *list, uint32_t item) {
    enum { LOOK_BACK = 4 }; /* what comes twice comes soon after */
    for (uint32_t i = list->count; i > 0 && i + LOOK_BACK > list->count; i--)
        if (list->items[i - 1] == item)
            return;
    *ARENA_PUSH(arena, list->items, list->count, list->capacity) = item;
}

/* ---- Loops -------------------------------------------------------------------------------------- */

static uint32_t find_loop(const Plan *plan, const Op *op) {
    return op ? pointers_get(&plan->loop_numbers, op) : NO_INDEX;
}

static void collect_loops(Plan *plan) {
    const Op *function = plan->builder->function;
    for (const Op *op = function; op; op = op_next_in_walk(op, function)) {
        uint32_t around = find_loop(plan, enclosing_loop(op));
        if (around != NO_INDEX && plan->loops[around].end < op->offset)
            plan->loops[around].end = op->offset;
        if (!op_is_loop(op))
            continue;
        pointers_set(&plan->loop_numbers, op, plan->loop_count);
        *ARENA_PUSH(plan->arena, plan->loops, plan->loop_count, plan->loop_capacity) =
            (PlanLoop){.parent = around, .begin = op->offset, .end = op->offset, .line = op_line(plan->module, op)};
    }
    for (size_t i = plan->loop_count; i-- > 0;) {
        const PlanLoop *loop = &plan->loops[i];
        if (loop->parent != NO_INDEX && plan->loops[loop->parent].end < loop->end)
            plan->loops[loop->parent].end = loop->end;
    }
}

uint32_t plan_common_loop(const Plan *plan, uint32_t a, uint32_t b) {
    while (a != NO_INDEX && b != a && !(b != NO_INDEX && loop_delays(plan, a, plan->loops[b].begin)))
        a = plan->loops[a].parent;
    return b == NO_INDEX ? NO_INDEX : a;
}

uint32_t plan_loop_below(const Plan *plan, uint32_t loop, uint32_t outer) {
    if (loop == outer)
        return NO_INDEX;
    while (loop != NO_INDEX && plan->loops[loop].parent != outer)
        loop = plan->loops[loop].parent;
    return loop;
}

/* ---- Buffers ------------------------------------------------------------------------------------ */

static bool int_attr(const Op *op, const char *name, int64_t *value) {
    const Attr *attr = op_attr(op, name);
    if (attr && attr->kind == ATTR_ARRAY && attr->count)
        attr = attr->items[0];
    if (!attr || attr->kind != ATTR_INTEGER || !attr->exact)
        return false;
    *value = attr->integer;
    return true;
}

static PlanBuffer *add_buffer(Plan *plan, const Op *op, const Type *type) {
    PlanBuffer *buffer = ARENA_PUSH(plan->arena, plan->buffers, plan->buffer_count, plan->buffer_capacity);
    *buffer = (PlanBuffer){.op = op, .type = type ? type_resolve(plan->module, type) : NULL, .name = "", .shape = ""};
    buffer->storage = buffer->same_id = buffer->first_use = NO_INDEX;
    buffer->ring = buffer->merged = plan->buffer_count - 1;
    buffer->id = buffer->offset = buffer->size = -1;
    buffer->depth = 1;
    buffer->turns = 1;
    return buffer;
}

static void add_allocation(Plan *plan, const Allocation *allocation) {
    const Op *op = allocation->op;
    PlanBuffer *buffer = add_buffer(plan, op, op->results[0].type);
    const Layout *layout = layout_of(plan->module, op->results[0].type);
    buffer->name = name_of(plan->builder->names, op);
    buffer->shape = builder_shape(plan->builder, buffer->type, layout ? layout->rank : 2);
    buffer->space = allocation->space;
    buffer->storage = allocation->storage;
    buffer->size = allocation->size;
    buffer->begin = allocation_begin(allocation);
    buffer->end = buffer->begin + (allocation->size > 0 ? allocation->size : 0);
    int_attr(op, "buffer.id", &buffer->id);
    int_attr(op, "buffer.offset", &buffer->offset);
    buffer->depth_said = int_attr(op, "buffer.copy", &buffer->depth) && buffer->depth > 0;
    if (!buffer->depth_said) {
        buffer->depth = layout && layout->stages > 0 ? layout->stages : 1;
        buffer->depth_said = buffer->depth > 1 || (layout && buffer->type && layout->rank < buffer->type->dim_count);
    }
}

enum { MOST_VIEWS = 64 };

/* The buffer of an aref that a value handed out by it is a view of. */
static const Value *aref_operand(Plan *plan, const Op *create, const Value *value) {
    uint32_t index = 0;
    for (int step = 0; value_op(value) && step < MOST_VIEWS; step++) {
        index = value->index;
        if (op_is(value->owner, CLASS_AREF_ENTER))
            break;
        value = view_source(plan->module, value);
    }
    return create->operand_count ? create->operands[index < create->operand_count ? index : 0] : NULL;
}

/* Where the plan keeps the buffers of each allocation. */
typedef struct PlanAccessCollector {
    Plan *plan;
    const Allocations *allocations;
    uint32_t *buffer_of; /* of each allocation; NO_INDEX: it holds no data */
    uint32_t of_op;      /* the first access of the op that is looked at */
} PlanAccessCollector;

static uint32_t buffer_of_root(const PlanAccessCollector *c, const Op *root) {
    const Allocation *allocation = allocation_find(c->allocations, root);
    return allocation ? c->buffer_of[allocation - c->allocations->items] : NO_INDEX;
}

static uint32_t buffer_of_value(const PlanAccessCollector *c, const Value *value) {
    const Op *root = origin_of(c->plan->module, value);
    uint32_t buffer = buffer_of_root(c, root);
    if (!op_is(root, CLASS_AREF) || buffer != NO_INDEX)
        return buffer;
    const Value *operand = aref_operand(c->plan, root, value);
    return operand ? buffer_of_root(c, origin_of(c->plan->module, operand)) : NO_INDEX;
}

/* An aref makes its buffers one ring; one whose memory cannot be seen stands for it. */
static void add_aref(PlanAccessCollector *c, uint32_t allocation) {
    Plan *plan = c->plan;
    const Op *create = c->allocations->items[allocation].op;
    uint32_t first = NO_INDEX;
    for (uint32_t i = 0; i < create->operand_count; i++) {
        uint32_t known = buffer_of_root(c, origin_of(plan->module, create->operands[i]));
        if (known == NO_INDEX || plan->buffers[known].aref)
            continue;
        plan->buffers[known].aref = create;
        first = first == NO_INDEX ? known : first;
        plan->buffers[known].ring = plan->buffers[known].merged = first;
    }
    if (first != NO_INDEX)
        return;
    const Type *type = create->operand_count ? create->operands[0]->type : NULL;
    const Layout *layout = type ? layout_of(plan->module, type) : NULL;
    PlanBuffer *buffer = add_buffer(plan, create, create->results[0].type);
    buffer->name = name_of(plan->builder->names, create);
    buffer->aref = create;
    buffer->space = SPACE_SHARED;
    buffer->depth = layout && layout->stages > 0 ? layout->stages : 1;
    buffer->depth_said = layout != NULL;
    c->buffer_of[allocation] = plan->buffer_count - 1;
}

static void collect_buffers(PlanAccessCollector *c) {
    Plan *plan = c->plan;
    const Op *function = plan->builder->function;
    uint32_t count = c->allocations->count;
    c->buffer_of = ARENA_ARRAY(plan->arena, uint32_t, count + 1);
    bool *barriers = ARENA_ARRAY(plan->arena, bool, count + 1);
    for (const Op *op = function; op; op = op_next_in_walk(op, function)) {
        Effect effects[EFFECTS_MOST];
        unsigned made = effects_of(plan->module, op, effects);
        for (unsigned i = 0; i < made; i++) {
            const Value *on = effect_is_barrier(&effects[i]) ? effects[i].on : NULL;
            const Allocation *allocation = allocation_of(c->allocations, plan->module, on);
            if (allocation)
                barriers[allocation - c->allocations->items] = true;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        const Allocation *allocation = &c->allocations->items[i];
        bool data = op_is(allocation->op, CLASS_LOCAL_ALLOC) && !barriers[i] && allocation->space != SPACE_NONE;
        c->buffer_of[i] = data ? plan->buffer_count : NO_INDEX;
        if (data)
            add_allocation(plan, allocation);
    }
    for (uint32_t i = 0; i < count; i++)
        if (op_is(c->allocations->items[i].op, CLASS_AREF))
            add_aref(c, i);
}

/* ---- Accesses ----------------------------------------------------------------------------------- */

static bool is_by_tensor_core(const Effect *effect) {
    return effect_is_access(effect) && effect->helper == HELPER_TENSOR;
}

static bool is_load_by_descriptor(const Effect *effect) {
    return effect->verb == EFFECT_READ && effect->on_descriptor;
}

static int64_t elements(Module *module, const Type *type, unsigned rank) {
    type = type ? type_resolve(module, type) : NULL;
    if (!type)
        return 0;
    int64_t product = 1;
    for (unsigned d = type->dim_count > rank ? type->dim_count - rank : 0; d < type->dim_count; d++)
        if (type->dims[d] <= 0 || __builtin_mul_overflow(product, type->dims[d], &product))
            return 0;
    return product;
}

/* Whether a view is as large as a slot of its buffer. */
static bool covers(Plan *plan, const PlanBuffer *buffer, const Value *view) {
    const Layout *layout = buffer->type ? layout_of(plan->module, buffer->type) : NULL;
    unsigned rank = layout ? layout->rank : LAYOUT_RANK;
    int64_t slot = elements(plan->module, buffer->type, rank);
    return slot > 0 && elements(plan->module, view->type, LAYOUT_RANK) >= slot;
}

/* The first op on the way from the allocation to a view of it, where that way is views only. */
static const Op *first_use(Plan *plan, const Op *op, const Value *value, const Op *allocation) {
    for (int step = 0; value_op(value) && step < MOST_VIEWS; step++) {
        if (value->owner == allocation)
            return op;
        op = value->owner;
        value = view_source(plan->module, value);
    }
    return NULL;
}

static PlanAccess *add_access(PlanAccessCollector *c, const Op *op, uint32_t buffer) {
    Plan *plan = c->plan;
    for (size_t i = c->of_op; i < plan->access_count; i++)
        if (plan->accesses[i].buffer == buffer)
            return &plan->accesses[i];
    PlanAccess *access = ARENA_PUSH(plan->arena, plan->accesses, plan->access_count, plan->access_capacity);
    *access = (PlanAccess){.op = op, .use = op, .buffer = buffer, .order = op->offset, .bytes = -1, .expected = -1};
    access->mask = builder_runners(plan->builder, op);
    access->loop = find_loop(plan, enclosing_loop(op));
    access->mma = op_any_effect(plan->module, op, is_by_tensor_core);
    return access;
}

static void add_effect(PlanAccessCollector *c, const Op *op, const Effect *effect) {
    Plan *plan = c->plan;
    uint32_t index = buffer_of_value(c, effect->on);
    if (index == NO_INDEX)
        return;
    const PlanBuffer *buffer = &plan->buffers[index];
    PlanAccess *access = add_access(c, op, index);
    const Op *use = first_use(plan, op, effect->on, buffer->op);
    if (use)
        access->use = use;
    access->reads |= effect->verb != EFFECT_WRITE;
    access->writes |= effect->verb != EFFECT_READ;
    access->accumulates |= effect->verb == EFFECT_UPDATE;
    access->whole |= covers(plan, buffer, effect->on);
    access->listed_only = buffer->aref != NULL;
    if (effect->verb == EFFECT_READ) {
        access->asynchronous |= access->mma || effect->done != DONE_NOW;
        return;
    }
    access->tma = effect->helper == HELPER_TMA;
    for (uint32_t i = 0; i < op->operand_count; i++)
        access->tma |= op_any_effect(plan->module, value_op(op->operands[i]), is_load_by_descriptor);
    if (access->tma)
        access->bytes = memdesc_transfer_bytes(plan->module, effect->on->type);
    int_attr(op, "txCount", &access->expected);
}

/* To enter an aref is to write, or to read, all its buffers. */
static void add_enter(PlanAccessCollector *c, const Op *op, bool puts) {
    const Op *create = op->operand_count ? origin_of(c->plan->module, op->operands[0]) : NULL;
    if (!op_is(create, CLASS_AREF))
        return;
    uint32_t itself = buffer_of_root(c, create);
    uint32_t count = itself != NO_INDEX ? 1 : create->operand_count;
    count = count < EFFECTS_MOST ? count : EFFECTS_MOST;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t buffer =
            itself != NO_INDEX ? itself : buffer_of_root(c, origin_of(c->plan->module, create->operands[i]));
        if (buffer == NO_INDEX)
            continue;
        PlanAccess *access = add_access(c, op, buffer);
        access->writes = access->whole = puts;
        access->reads = !puts;
    }
}

static void collect_accesses(PlanAccessCollector *c) {
    const Op *function = c->plan->builder->function;
    for (const Op *op = function; op; op = op_next_in_walk(op, function)) {
        c->of_op = c->plan->access_count;
        Effect effects[EFFECTS_MOST];
        unsigned count = effects_of(c->plan->module, op, effects);
        for (unsigned i = 0; i < count; i++)
            if (effect_is_local(&effects[i]) && !effects[i].on_descriptor)
                add_effect(c, op, &effects[i]);
            else if (effects[i].verb == EFFECT_WAIT && op_is(op, CLASS_AREF_ENTER))
                add_enter(c, op, effects[i].side == SIDE_EMPTY);
    }
}

/* ---- Values that cross -------------------------------------------------------------------------- */

/* The op that makes a value, through what loops and conditions hand on. */
static const Op *maker_of(const Value *value) {
    enum { MOST_STEPS = 64 };
    for (int step = 0; value && step < MOST_STEPS; step++) {
        const Op *op = value_op(value);
        if (op && !op_is_loop(op) && !op_is_control(op, CONTROL_BRANCH))
            return op;
        value = op ? forwarded_over(op, 0, value->index) : value_forwarded(value, FORWARDED_ROUND);
    }
    return NULL;
}

/* Buffers must have names of their own: a value that is called like something else says which one it is. */
ORDER_POINTERS(by_name, PlanBuffer, BY_TEXT(name) BY_PLACE)

static void part_names(Plan *plan) {
    PlanBuffer **sorted = ARENA_ARRAY(plan->arena, PlanBuffer *, plan->buffer_count + 1);
    for (size_t i = 0; i < plan->buffer_count; i++)
        sorted[i] = &plan->buffers[i];
    qsort(sorted, plan->buffer_count, sizeof *sorted, by_name);
    const char *last = "";
    for (size_t i = 0; i < plan->buffer_count; i++) {
        PlanBuffer *buffer = sorted[i];
        bool again = buffer->value && strcmp(buffer->name, last) == 0;
        last = buffer->name;
        if (again)
            buffer->name = verdict_text(plan->builder->verdict, "%s (%s of line %u)", buffer->name,
                                        value_text(plan->arena, buffer->value), op_line(plan->module, buffer->op));
    }
}

/* A value that is made again in each partition needs no way to another. What an unknown op does is not done twice. */
static bool is_cloned(const Plan *plan, const Op *maker) {
    return !maker->operand_count && !maker->region_count && !op_is_unknown(plan->module, maker);
}

/* A schedule hands on numbers, too: as a tensor of one element. */
static bool can_cross(const Plan *plan, const Value *value) {
    const Type *type = value && value->type ? type_resolve(plan->module, value->type) : NULL;
    bool number = type && (type->kind == TYPE_INTEGER || type->kind == TYPE_FLOAT);
    return type && (type->kind == TYPE_TENSOR || (number && plan->builder->form == PARTITION_SCHEDULED));
}

typedef struct Crossing {
    const Value *value;
    const Op *maker, *user;
    uint32_t key; /* where the value comes from in the text */
} Crossing;

ORDER(by_value, Crossing, BY(key) BY_MOST(value->is_result) BY(value->index) BY(user->offset))

static bool crosses(const Plan *plan, const Op *user, uint64_t mask, const Value *value, Crossing *found) {
    if (!mask || !can_cross(plan, value))
        return false;
    const Op *maker = maker_of(value);
    uint64_t made = maker && !is_cloned(plan, maker) ? builder_runners(plan->builder, maker) : 0;
    if (!made || !(mask & ~made))
        return false;
    const Op *owner = value->is_result ? value->owner : ((const Block *)value->owner)->region->op;
    *found = (Crossing){.value = value, .maker = maker, .user = user, .key = owner->offset};
    return true;
}

/* A value that only fills an allocation will be handed over in that memory: it is read until the last use of it. */
static void add_uses(PlanAccessCollector *c, const Op *allocation, uint32_t buffer) {
    Plan *plan = c->plan;
    uint32_t filled = op_is(allocation, CLASS_LOCAL_ALLOC) ? buffer_of_root(c, allocation) : NO_INDEX;
    uint32_t count = plan->access_count, loop = find_loop(plan, enclosing_loop(allocation));
    for (uint32_t i = 0; filled != NO_INDEX && i < count; i++) {
        const PlanAccess access = plan->accesses[i]; /* they may move */
        if (access.buffer != filled || !access.reads || access.op == allocation || access.loop != loop)
            continue;
        c->of_op = plan->access_count;
        add_access(c, access.op, buffer)->reads = true;
    }
}

static void add_crossing(PlanAccessCollector *c, const Crossing *crossing, bool first) {
    Plan *plan = c->plan;
    if (first) {
        PlanBuffer *buffer = add_buffer(plan, crossing->maker, crossing->value->type);
        buffer->value = crossing->value;
        buffer->name = operand_name(plan->builder->names, crossing->value);
        if (!*buffer->name)
            buffer->name = value_text(plan->arena, crossing->value);
        buffer->shape = builder_shape(plan->builder, buffer->type, LAYOUT_RANK);
        c->of_op = plan->access_count;
        PlanAccess *write = add_access(c, crossing->maker, plan->buffer_count - 1);
        write->writes = write->whole = true;
        write->tma = op_any_effect(plan->module, value_op(crossing->value), is_load_by_descriptor);
    }
    c->of_op = plan->access_count;
    add_access(c, crossing->user, plan->buffer_count - 1)->reads = true;
    add_uses(c, crossing->user, plan->buffer_count - 1);
}

static void collect_crossings(PlanAccessCollector *c) {
    Plan *plan = c->plan;
    const Op *function = plan->builder->function;
    Crossing *items = NULL;
    uint32_t count = 0, capacity = 0;
    for (const Op *op = function; op; op = op_next_in_walk(op, function)) {
        bool structure = op_is_terminator(op) || op_is_loop(op) || op_is_control(op, CONTROL_BRANCH);
        uint64_t mask = structure ? 0 : builder_runners(plan->builder, op);
        for (uint32_t i = 0; mask && i < op->operand_count; i++) {
            Crossing found;
            if (crosses(plan, op, mask, op->operands[i], &found))
                *ARENA_PUSH(plan->arena, items, count, capacity) = found;
        }
    }
    if (count)
        qsort(items, count, sizeof *items, by_value);
    for (size_t i = 0; i < count; i++)
        if (!i || items[i].value != items[i - 1].value || items[i].user != items[i - 1].user)
            add_crossing(c, &items[i], !i || items[i].value != items[i - 1].value);
}

/* ---- All of it ---------------------------------------------------------------------------------- */

/* Accesses of one buffer side by side, each in the order of the text. */
static void sort_accesses(Plan *plan) {
    PlanAccess *sorted = ARENA_ARRAY(plan->arena, PlanAccess, plan->access_count + 1);
    for (size_t i = 0; i < plan->access_count; i++)
        plan->buffers[plan->accesses[i].buffer].count++;
    uint32_t first = 0;
    for (size_t i = 0; i < plan->buffer_count; i++) {
        plan->buffers[i].first = first;
        first += plan->buffers[i].count;
        plan->buffers[i].count = 0;
    }
    for (size_t i = 0; i < plan->access_count; i++) {
        PlanBuffer *buffer = &plan->buffers[plan->accesses[i].buffer];
        uint32_t at = buffer->first + buffer->count++;
        for (; at > buffer->first && sorted[at - 1].order > plan->accesses[i].order; at--)
            sorted[at] = sorted[at - 1]; /* the maker of a value may stand after those that take it */
        sorted[at] = plan->accesses[i];
    }
    plan->accesses = sorted;
}

void plan_collect(Plan *plan) {
    collect_loops(plan);
    PlanAccessCollector c = {.plan = plan, .allocations = &plan->builder->allocations};
    collect_buffers(&c);
    collect_accesses(&c);
    collect_crossings(&c);
    part_names(plan);
    sort_accesses(plan);
}
