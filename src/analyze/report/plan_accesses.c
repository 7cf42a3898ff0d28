/* Loops, buffers and who touches them, of a kernel whose partitions are only named on its ops. */
#include "analyze/report/plan.h"

#include "ir/optable.h"
#include "model/layout/layout.h"

#include <stdlib.h>

void *plan_grow(Arena *arena, void *items, size_t count, size_t *capacity, size_t size) {
    if (count < *capacity)
        return items;
    *capacity = *capacity ? 2 * *capacity : 16;
    char *larger = arena_zalloc(arena, *capacity * size);
    if (count)
        memcpy(larger, items, count * size);
    return larger;
}

void list_add(Arena *arena, List *list, uint32_t item) {
    enum { LOOK_BACK = 4 }; /* what comes twice comes soon after */
    for (uint32_t i = list->count; i > 0 && i + LOOK_BACK > list->count; i--)
        if (list->items[i - 1] == item)
            return;
    size_t capacity = list->capacity;
    list->items = plan_grow(arena, list->items, list->count, &capacity, sizeof *list->items);
    list->capacity = (uint32_t)capacity;
    list->items[list->count++] = item;
}

static bool is_op(const Op *op, OpId id) {
    return op->row && op->row->id == id;
}

uint64_t plan_mask(const Builder *builder, const Op *op) {
    Partitions partitions = partitions_of(op);
    return partitions.form == builder->form ? partitions.mask : 0;
}

/* ---- Loops -------------------------------------------------------------------------------------- */

static uint32_t find_loop(const Plan *plan, const Op *op) {
    size_t low = 0, high = plan->loop_count;
    while (op && low < high) {
        size_t middle = low + (high - low) / 2;
        if (plan->loops[middle].op == op)
            return (uint32_t)middle;
        if (plan->loops[middle].op->offset < op->offset)
            low = middle + 1;
        else
            high = middle;
    }
    return NO_INDEX;
}

static void collect_loops(Plan *plan) {
    const Op *function = plan->builder->function;
    for (const Op *op = function; op; op = op_next_in_walk(op, function)) {
        uint32_t around = find_loop(plan, enclosing_loop(op));
        if (around != NO_INDEX && plan->loops[around].end < op->offset)
            plan->loops[around].end = op->offset;
        if (!is_op(op, OP_scf_for) && !is_op(op, OP_scf_while))
            continue;
        PlanLoop *loop = PLAN_ADD(plan, loops, loop_count, loop_capacity);
        *loop = (PlanLoop){.op = op, .parent = around, .begin = op->offset, .end = op->offset};
        loop->line = source_place(plan->module->source, op->offset).line;
    }
    for (size_t i = plan->loop_count; i-- > 0;) {
        const PlanLoop *loop = &plan->loops[i];
        if (loop->parent != NO_INDEX && plan->loops[loop->parent].end < loop->end)
            plan->loops[loop->parent].end = loop->end;
    }
}

uint32_t plan_common_loop(const Plan *plan, uint32_t a, uint32_t b) {
    while (a != NO_INDEX && b != a && !(b != NO_INDEX && loop_holds(plan, a, plan->loops[b].begin)))
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

/* "128x64xf16" of the last `rank` dimensions. */
static const char *shape_text(Plan *plan, const Type *type, unsigned rank) {
    Text text = {0};
    for (unsigned d = type && type->dim_count > rank ? type->dim_count - rank : 0; type && d < type->dim_count; d++)
        text_addf(&text, "%lldx", (long long)type->dims[d]);
    if (type && type->element)
        text_add_plain(&text, type->element->text);
    return verdict_keep(plan->builder->verdict, &text);
}

static PlanBuffer *add_buffer(Plan *plan, const Op *op, const Type *type) {
    PlanBuffer *buffer = PLAN_ADD(plan, buffers, buffer_count, buffer_capacity);
    *buffer = (PlanBuffer){.op = op, .type = type ? type_resolve(plan->module, type) : NULL, .name = "", .shape = ""};
    buffer->storage = buffer->same_id = buffer->first_use = NO_INDEX;
    buffer->ring = buffer->merged = (uint32_t)(plan->buffer_count - 1);
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
    buffer->shape = shape_text(plan, buffer->type, layout ? layout->rank : 2);
    buffer->space = allocation->space;
    buffer->storage = allocation->storage;
    buffer->size = allocation->size;
    buffer->begin = allocation->space == SPACE_TENSOR ? allocation->offset.base & 0xffff : allocation->offset.base;
    buffer->end = buffer->begin + (allocation->size > 0 ? allocation->size : 0);
    int_attr(op, "buffer.id", &buffer->id);
    int_attr(op, "buffer.offset", &buffer->offset);
    buffer->depth_said = int_attr(op, "buffer.copy", &buffer->depth) && buffer->depth > 0;
    if (!buffer->depth_said) {
        buffer->depth = layout && layout->stages > 0 ? layout->stages : 1;
        buffer->depth_said = buffer->depth > 1 || (layout && buffer->type && layout->rank < buffer->type->dim_count);
    }
}

/* Which of the allocations in the order of the text; NO_INDEX if it is none. */
static uint32_t find_allocation(const Allocations *allocations, const Op *op) {
    uint32_t low = 0, high = allocations->count;
    while (op && low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (allocations->items[middle].op == op)
            return middle;
        if (allocations->items[middle].op->offset < op->offset)
            low = middle + 1;
        else
            high = middle;
    }
    return NO_INDEX;
}

static bool is_barrier_verb(EffectVerb verb) {
    return verb >= EFFECT_INIT && verb <= EFFECT_WAIT;
}

/* The buffer of an aref that a value handed out by it is a view of. */
static const Value *aref_operand(Plan *plan, const Op *create, const Value *value) {
    enum { MOST_VIEWS = 64 };
    uint32_t index = 0;
    for (int step = 0; value && value->is_result && step < MOST_VIEWS; step++) {
        const Op *op = value->owner;
        index = value->index;
        if (is_op(op, OP_nvws_aref_put_enter) || is_op(op, OP_nvws_aref_get_enter) || is_op(op, OP_nvws_aref_buffer))
            break;
        Effect effects[EFFECTS_MOST];
        unsigned count = effects_of(plan->module, op, effects);
        const Value *before = NULL;
        for (unsigned i = 0; i < count && !before; i++)
            if (effects[i].verb == EFFECT_VIEW && effects[i].on == value)
                before = effects[i].amount;
        value = before;
    }
    return create->operand_count ? create->operands[index < create->operand_count ? index : 0] : NULL;
}

/* Where the plan keeps the buffers of each allocation. */
typedef struct Collector {
    Plan *plan;
    const Allocations *allocations;
    uint32_t *buffer_of; /* of each allocation; NO_INDEX: it holds no data */
    uint32_t of_op;      /* the first access of the op that is looked at */
} Collector;

static uint32_t buffer_of_root(const Collector *c, const Op *root) {
    uint32_t allocation = find_allocation(c->allocations, root);
    return allocation == NO_INDEX ? NO_INDEX : c->buffer_of[allocation];
}

static uint32_t buffer_of_value(const Collector *c, const Value *value) {
    const Op *root = origin_of(c->plan->module, value);
    uint32_t buffer = buffer_of_root(c, root);
    if (!root || !is_op(root, OP_nvws_aref_create) || buffer != NO_INDEX)
        return buffer;
    const Value *operand = aref_operand(c->plan, root, value);
    return operand ? buffer_of_root(c, origin_of(c->plan->module, operand)) : NO_INDEX;
}

/* An aref makes its buffers one ring; one whose memory cannot be seen stands for it. */
static void add_aref(Collector *c, uint32_t allocation) {
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
    c->buffer_of[allocation] = (uint32_t)(plan->buffer_count - 1);
}

static void collect_buffers(Collector *c) {
    Plan *plan = c->plan;
    const Op *function = plan->builder->function;
    uint32_t count = c->allocations->count;
    c->buffer_of = ARENA_ARRAY(plan->arena, uint32_t, count + 1);
    bool *barriers = ARENA_ARRAY(plan->arena, bool, count + 1);
    for (const Op *op = function; op; op = op_next_in_walk(op, function)) {
        Effect effects[EFFECTS_MOST];
        unsigned made = effects_of(plan->module, op, effects);
        for (unsigned i = 0; i < made; i++) {
            if (!is_barrier_verb(effects[i].verb) || !effects[i].on)
                continue;
            uint32_t allocation = find_allocation(c->allocations, origin_of(plan->module, effects[i].on));
            if (allocation != NO_INDEX)
                barriers[allocation] = true;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        const Allocation *allocation = &c->allocations->items[i];
        bool memory = is_op(allocation->op, OP_ttg_local_alloc) || is_op(allocation->op, OP_ttng_tmem_alloc);
        bool data = memory && !barriers[i] && allocation->space != SPACE_NONE;
        c->buffer_of[i] = data ? (uint32_t)plan->buffer_count : NO_INDEX;
        if (data)
            add_allocation(plan, allocation);
    }
    for (uint32_t i = 0; i < count; i++)
        if (is_op(c->allocations->items[i].op, OP_nvws_aref_create))
            add_aref(c, i);
}

/* ---- Accesses ----------------------------------------------------------------------------------- */

static bool is_mma(const Op *op) {
    return is_op(op, OP_ttng_tc_gen5_mma) || is_op(op, OP_ttng_tc_gen5_mma_scaled) || is_op(op, OP_ttng_tmem_copy);
}

static bool loads_by_descriptor(const Value *value) {
    const Op *op = value && value->is_result ? value->owner : NULL;
    return op && (is_op(op, OP_tt_descriptor_load) || is_op(op, OP_tt_descriptor_gather) ||
                  is_op(op, OP_tt_experimental_descriptor_load) || is_op(op, OP_tt_experimental_descriptor_gather));
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
    enum { MOST_VIEWS = 64 };
    for (int step = 0; value && value->is_result && step < MOST_VIEWS; step++) {
        if (value->owner == allocation)
            return op;
        op = value->owner;
        Effect effects[EFFECTS_MOST];
        unsigned count = effects_of(plan->module, op, effects);
        const Value *before = NULL;
        for (unsigned i = 0; i < count && !before; i++)
            if (effects[i].verb == EFFECT_VIEW && effects[i].on == value)
                before = effects[i].amount;
        value = before;
    }
    return NULL;
}

static PlanAccess *add_access(Collector *c, const Op *op, uint32_t buffer) {
    Plan *plan = c->plan;
    for (size_t i = c->of_op; i < plan->access_count; i++)
        if (plan->accesses[i].buffer == buffer)
            return &plan->accesses[i];
    PlanAccess *access = PLAN_ADD(plan, accesses, access_count, access_capacity);
    *access = (PlanAccess){.op = op, .use = op, .buffer = buffer, .order = op->offset, .bytes = -1, .expected = -1};
    access->mask = plan_mask(plan->builder, op);
    access->loop = find_loop(plan, enclosing_loop(op));
    access->mma = is_mma(op);
    return access;
}

static void add_effect(Collector *c, const Op *op, const Effect *effect) {
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
        access->tma |= loads_by_descriptor(op->operands[i]);
    if (access->tma)
        access->bytes = memdesc_transfer_bytes(plan->module, effect->on->type);
    int_attr(op, "txCount", &access->expected);
}

/* To enter an aref is to write, or to read, all its buffers. */
static void add_enter(Collector *c, const Op *op) {
    const Op *create = op->operand_count ? origin_of(c->plan->module, op->operands[0]) : NULL;
    if (!create || !is_op(create, OP_nvws_aref_create))
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
        access->writes = access->whole = is_op(op, OP_nvws_aref_put_enter);
        access->reads = !access->writes;
    }
}

static void collect_accesses(Collector *c) {
    const Op *function = c->plan->builder->function;
    for (const Op *op = function; op; op = op_next_in_walk(op, function)) {
        c->of_op = (uint32_t)c->plan->access_count;
        if (is_op(op, OP_nvws_aref_put_enter) || is_op(op, OP_nvws_aref_get_enter)) {
            add_enter(c, op);
            continue;
        }
        Effect effects[EFFECTS_MOST];
        unsigned count = effects_of(c->plan->module, op, effects);
        for (unsigned i = 0; i < count; i++)
            if (effects[i].verb <= EFFECT_UPDATE && effects[i].on && !effects[i].on_descriptor &&
                (effects[i].space == SPACE_SHARED || effects[i].space == SPACE_TENSOR))
                add_effect(c, op, &effects[i]);
    }
}

/* ---- Values that cross -------------------------------------------------------------------------- */

/* The op that makes a value, through what loops and conditions hand on. */
static const Op *maker_of(const Value *value) {
    enum { MOST_STEPS = 64 };
    for (int step = 0; value && step < MOST_STEPS; step++) {
        const Op *op = value->is_result ? value->owner : ((const Block *)value->owner)->region->op;
        bool loop = op && is_op(op, OP_scf_for), hands_on = loop || (op && is_op(op, OP_scf_if));
        if (!hands_on)
            return value->is_result ? op : NULL;
        uint32_t index = value->is_result ? value->index : value->index - 1; /* after the induction variable */
        const Op *end = op->region_count && op->regions[0].first ? op->regions[0].first->last : NULL;
        value = end && index < end->operand_count ? end->operands[index] : NULL;
    }
    return NULL;
}

/* Buffers must have names of their own: a value that is called like something else says which one it is. */
static int by_name(const void *a, const void *b) {
    const PlanBuffer *x = *(PlanBuffer *const *)a, *y = *(PlanBuffer *const *)b;
    int order = strcmp(x->name, y->name);
    return order ? order : x < y ? -1 : x > y;
}

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
                                        value_text(plan->arena, buffer->value),
                                        source_place(plan->module->source, buffer->op->offset).line);
    }
}

/* A value that is made anew in each partition needs no way to another. */
static bool is_cloned(const Op *maker) {
    return !maker->operand_count && !maker->region_count;
}

typedef struct Crossing {
    const Value *value;
    const Op *maker, *user;
    uint32_t key; /* where the value comes from in the text */
} Crossing;

static int by_value(const void *a, const void *b) {
    const Crossing *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->value->is_result != y->value->is_result)
        return x->value->is_result ? -1 : 1;
    if (x->value->index != y->value->index)
        return x->value->index < y->value->index ? -1 : 1;
    return x->user->offset < y->user->offset ? -1 : x->user->offset > y->user->offset;
}

static bool crosses(const Plan *plan, const Op *user, uint64_t mask, const Value *value, Crossing *found) {
    const Type *type = value && value->type ? type_resolve(plan->module, value->type) : NULL;
    if (!mask || !type || type->kind != TYPE_TENSOR)
        return false;
    const Op *maker = maker_of(value);
    uint64_t made = maker && !is_cloned(maker) ? plan_mask(plan->builder, maker) : 0;
    if (!made || !(mask & ~made))
        return false;
    const Op *owner = value->is_result ? value->owner : ((const Block *)value->owner)->region->op;
    *found = (Crossing){.value = value, .maker = maker, .user = user, .key = owner->offset};
    return true;
}

static void add_crossing(Collector *c, const Crossing *crossing, bool first) {
    Plan *plan = c->plan;
    if (first) {
        PlanBuffer *buffer = add_buffer(plan, crossing->maker, crossing->value->type);
        buffer->value = crossing->value;
        buffer->name = operand_name(plan->builder->names, crossing->value);
        if (!*buffer->name)
            buffer->name = value_text(plan->arena, crossing->value);
        buffer->shape = shape_text(plan, buffer->type, LAYOUT_RANK);
        c->of_op = (uint32_t)plan->access_count;
        PlanAccess *write = add_access(c, crossing->maker, (uint32_t)(plan->buffer_count - 1));
        write->writes = write->whole = true;
        write->tma = loads_by_descriptor(crossing->value);
    }
    c->of_op = (uint32_t)plan->access_count;
    add_access(c, crossing->user, (uint32_t)(plan->buffer_count - 1))->reads = true;
}

static void collect_crossings(Collector *c) {
    Plan *plan = c->plan;
    const Op *function = plan->builder->function;
    Crossing *items = NULL;
    size_t count = 0, capacity = 0;
    for (const Op *op = function; op; op = op_next_in_walk(op, function)) {
        bool structure = !op->row || op->row->traits & TERMINATOR || is_op(op, OP_scf_for) || is_op(op, OP_scf_if) ||
                         is_op(op, OP_scf_while);
        uint64_t mask = structure && op->row ? 0 : plan_mask(plan->builder, op);
        for (uint32_t i = 0; mask && i < op->operand_count; i++) {
            Crossing found;
            if (!crosses(plan, op, mask, op->operands[i], &found))
                continue;
            items = plan_grow(plan->arena, items, count, &capacity, sizeof *items);
            items[count++] = found;
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
    Collector c = {.plan = plan, .allocations = &plan->builder->allocations};
    collect_buffers(&c);
    collect_accesses(&c);
    collect_crossings(&c);
    part_names(plan);
    sort_accesses(plan);
}
