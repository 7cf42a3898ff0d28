/* What buffers and barriers are used for: who waits and then reads, who writes and then arrives, what is copied where.
 */
#include "model/names/internal.h"

/* ---- How they are used ----------------------------------------------------------------------------------------- */

typedef enum UseAccess { ACCESS_NONE, ACCESS_READ, ACCESS_WRITE, ACCESS_COPY } UseAccess;

/* What the last ops of a block did that says what a barrier is for: a wait, and the accesses after it. */
typedef struct Usage {
    const Block *block;
    const Value *waits[MOST_USES]; /* barriers, the last one last; none: something else came in between */
    uint32_t wait_count;
    const Value *accessed[MOST_USES];
    uint32_t access_count;
    UseAccess access;
    const Value *copy_barrier;
} Usage;

/* Where a view begins, in parts of its buffer, and whether it is one: slots of a ring are none. */
static bool part_of(Names *names, const Value *value, int64_t *begin) {
    bool part = false;
    *begin = 0;
    for (int step = 0; value && step < MOST_STEPS; step++) {
        const Op *op = value_op(value);
        if (!op) {
            const Value *in = value_forwarded(value, FORWARDED_IN);
            value = in ? in : value_forwarded(value, FORWARDED_CAPTURE);
            continue;
        }
        const Value *source = view_source(names->module, value);
        if (source && (op_is(op, CLASS_PART) || op_is(op, CLASS_REUSE))) {
            *begin += view_step_of(names->module, op).add;
            part = true;
        }
        value = source;
    }
    return part;
}

static PartName *find_part(Names *names, const Op *root, int64_t begin) {
    for (uint32_t i = 0; i < names->part_count; i++)
        if (names->parts[i].root == root && names->parts[i].begin == begin)
            return &names->parts[i];
    return NULL;
}

/* What is stored into a part gives it its name, if that is always the same. */
static void note_part(Names *names, const Effect *effect) {
    int64_t begin;
    bool stored = effect_is_local(effect) && effect->verb == EFFECT_WRITE && effect->value && effect->on;
    if (!stored || !part_of(names, effect->on, &begin))
        return;
    const Op *root = data_root(names->module, effect->on);
    const char *name = stored_name(names, effect->value);
    PartName *known = find_part(names, root, begin);
    if (known)
        known->name = strcmp(known->name, name) == 0 ? name : "";
    else if (names->part_count < MOST_PART_NAMES)
        names->parts[names->part_count++] = (PartName){root, begin, name};
}

/* NULL: it is no part, or has no name. */
static const char *part_name(Names *names, const Value *value) {
    int64_t begin;
    if (!part_of(names, value, &begin))
        return NULL;
    const PartName *known = find_part(names, data_root(names->module, value), begin);
    return known && *known->name ? known->name : NULL;
}

static const Value *index_of(const Value *view) {
    const Op *op = value_op(view);
    return op_is(op, CLASS_INDEX) && op->operand_count == 2 ? op->operands[1] : NULL;
}

static void add_use(NamesEntry *of, Use use) {
    for (uint32_t i = 0; i < of->use_count; i++)
        if (of->uses[i].buffer == use.buffer && of->uses[i].part == use.part) {
            of->uses[i].said_by |= use.said_by;
            return;
        }
    if (of->use_count < MOST_USES)
        of->uses[of->use_count++] = use;
}

/* That a barrier says when a buffer is full, or empty: they are used together, at the same slot. */
static void note_use(Names *names, const Value *barrier, const Value *buffer, bool full, int evidence,
                     unsigned said_by) {
    const Value *slot = index_of(barrier), *other = index_of(buffer);
    NamesEntry *of = names_entry(names, origin_of(names->module, barrier)), *used = names_entry_of(names, buffer);
    if (!of || !used || (slot && other && slot != other) || of->kind == KIND_BUFFER || used->kind != KIND_BUFFER ||
        evidence < of->evidence)
        return;
    if (evidence > of->evidence) {
        of->evidence = evidence;
        of->full = of->empty = false;
        of->use_count = 0;
    }
    of->full |= full;
    of->empty |= !full;
    add_use(of, (Use){used, part_name(names, buffer), said_by});
}

/* Who arrives on a barrier, and who waits for it. */
static void note_partition(Names *names, const Op *op, const Effect *effect) {
    bool arrives = effect->verb == EFFECT_ARRIVE || effect->verb == EFFECT_EXPECT;
    NamesEntry *of = (arrives || effect->verb == EFFECT_WAIT) && effect->on && effect->side == SIDE_NONE
                         ? names_entry(names, origin_of(names->module, effect->on))
                         : NULL;
    if (!of)
        return;
    Partitions by = partitions_of(op), *all = arrives ? &of->arrives : &of->waits;
    all->form = by.form;
    all->mask |= by.mask;
}

static void add_source(const Value **list, uint32_t *count, const Value *value) {
    for (uint32_t i = 0; i < *count; i++)
        if (list[i] == value)
            return;
    if (*count < MOST_USES)
        list[(*count)++] = value;
}

static void see_access(Names *names, Usage *usage, const Value *on, UseAccess access, const Value *through) {
    bool goes_on = usage->access == access && (access != ACCESS_COPY || usage->copy_barrier == through);
    if (usage->access != ACCESS_NONE && !goes_on)
        usage->wait_count = 0;
    if (!goes_on)
        usage->access_count = 0;
    usage->access = access;
    usage->copy_barrier = through;
    if (usage->access_count < MOST_USES)
        usage->accessed[usage->access_count++] = on;
    if (through)
        note_use(names, through, on, true, EVIDENCE_BYTES, SAID_BY_ARRIVE);
    /* Who reads has waited last for what he reads; who overwrites, for all that were in the way. */
    uint32_t first = access == ACCESS_COPY || !usage->wait_count ? 0 : usage->wait_count - 1;
    for (uint32_t i = first; i < usage->wait_count; i++)
        note_use(names, usage->waits[i], on, access == ACCESS_READ,
                 access == ACCESS_COPY ? EVIDENCE_COPY : EVIDENCE_NEAR, SAID_BY_WAIT);
}

static void see_wait(Usage *usage, const Value *barrier) {
    if (usage->access != ACCESS_NONE || usage->wait_count == MOST_USES)
        *usage = (Usage){.block = usage->block};
    usage->waits[usage->wait_count++] = barrier;
}

static void see_arrive(Names *names, Usage *usage, const Effect *effect) {
    bool plain_access = usage->access == ACCESS_READ || usage->access == ACCESS_WRITE;
    for (uint32_t i = 0; effect->done == DONE_NOW && plain_access && i < usage->access_count; i++)
        note_use(names, effect->on, usage->accessed[i], usage->access == ACCESS_WRITE, EVIDENCE_NEAR, SAID_BY_ARRIVE);
    *usage = (Usage){.block = usage->block};
}

/* What is multiplied into an accumulator. A barrier that the product itself arrives on is at least for that. */
static void note_product(NamesEntry *accumulator, const Op *op, const Effect *effects, unsigned count) {
    if (!op_is(op, CLASS_PRODUCT))
        return;
    accumulator->accumulates = true;
    for (unsigned i = 0; i < count; i++)
        if (effects[i].verb == EFFECT_READ && effect_is_local(&effects[i]))
            add_source(accumulator->operands, &accumulator->operand_count, effects[i].on);
}

/* Descriptors and tensors that go into a buffer, or come out of it. */
static void note_sources(Names *names, const Op *op, const Effect *effects, unsigned count) {
    const Value *descriptor = NULL, *source = NULL;
    bool to_global = false, allocates = op_is(op, CLASS_LOCAL_ALLOC);
    for (unsigned i = 0; i < count; i++) {
        bool global = effects[i].space == SPACE_GLOBAL && effects[i].on &&
                      (effects[i].on_descriptor || effects[i].group == GROUP_CP_ASYNC);
        if (allocates || (effects[i].space == SPACE_SHARED && effects[i].done == DONE_NOW && !effects[i].rank))
            source = effects[i].value ? effects[i].value : source;
        if (!global)
            continue;
        descriptor = effects[i].on;
        to_global = effects[i].verb != EFFECT_READ;
    }
    for (unsigned i = 0; i < count; i++) {
        NamesEntry *entry = effect_is_local(&effects[i]) && (descriptor || source || effects[i].helper == HELPER_TENSOR)
                                ? names_entry_of(names, effects[i].on)
                                : NULL;
        if (!entry || entry->kind != KIND_BUFFER)
            continue;
        bool writes = effects[i].verb != EFFECT_READ;
        if (writes && effects[i].helper == HELPER_TENSOR && effects[i].space == SPACE_TENSOR)
            note_product(entry, op, effects, count);
        else if (writes && descriptor)
            add_source(entry->fillers, &entry->filler_count, descriptor);
        else if (writes && source)
            add_source(entry->tensors, &entry->tensor_count, source);
        else if (!writes && to_global)
            add_source(entry->drains, &entry->drain_count, descriptor);
    }
}

static void see_effects(Names *names, Usage *usage, const Effect *effects, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        const Effect *effect = &effects[i];
        bool by_itself = effect->helper == HELPER_BASE && effect->done == DONE_NOW;
        if (effect->verb == EFFECT_WAIT)
            see_wait(usage, effect->on);
        else if (effect->verb == EFFECT_ARRIVE)
            see_arrive(names, usage, effect);
        else if (effect_is_local(effect) && effect->verb == EFFECT_WRITE && effect->helper == HELPER_TMA)
            see_access(names, usage, effect->on, ACCESS_COPY, effect->done == DONE_TX ? effect->through : NULL);
        else if (effect_is_local(effect) && by_itself && effect->verb != EFFECT_UPDATE)
            see_access(names, usage, effect->on, effect->verb == EFFECT_READ ? ACCESS_READ : ACCESS_WRITE, NULL);
        else if (effect_is_local(effect) && effect->helper == HELPER_TENSOR)
            *usage = (Usage){.block = usage->block};
    }
}

/* A barrier of which nothing else is known is full when the product that arrives on it is done. */
static void note_done(Names *names, const Op *op, const Effect *effects, unsigned count) {
    const Value *accumulator = NULL;
    for (unsigned i = 0; i < count && op_is(op, CLASS_PRODUCT); i++)
        if (effects[i].verb != EFFECT_READ && effects[i].space == SPACE_TENSOR && effect_is_local(&effects[i]))
            accumulator = effects[i].on;
    for (unsigned i = 0; accumulator && i < count; i++)
        if (effects[i].verb == EFFECT_ARRIVE && effects[i].on)
            note_use(names, effects[i].on, accumulator, true, EVIDENCE_DONE, SAID_BY_ARRIVE);
}

void names_look_at_uses(Names *names, const Op *function) {
    Effect effects[EFFECTS_MOST];
    Usage usage = {0};
    for (const Op *op = op_next_in_walk(function, function); op; op = op_next_in_walk(op, function)) {
        unsigned count = op->row ? effects_of(names->module, op, effects) : 0;
        for (unsigned i = 0; i < count; i++)
            note_part(names, &effects[i]);
    }
    for (const Op *op = op_next_in_walk(function, function); op; op = op_next_in_walk(op, function)) {
        unsigned count = op->row ? effects_of(names->module, op, effects) : 0;
        if (!count)
            continue;
        if (usage.block != op->block)
            usage = (Usage){.block = op->block};
        for (unsigned i = 0; i < count; i++)
            note_partition(names, op, &effects[i]);
        note_sources(names, op, effects, count);
        note_done(names, op, effects, count);
        see_effects(names, &usage, effects, count);
    }
}
