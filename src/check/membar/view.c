/* Which part of its allocation a view is, as far as that is written in the text: a static slice, a slot whose index is
 * a constant. */
#include "check/membar/internal.h"

#include "model/memory/views.h"

/* The shape that a memory descriptor's allocation has, as it is written; empty: the same as its own. */
static Str allocation_shape(const Type *memdesc) {
    Str last = memdesc->param_count ? memdesc->params[memdesc->param_count - 1] : (Str){0};
    return last.size && last.data[0] >= '0' && last.data[0] <= '9' && memdesc->param_count > 1 ? last : (Str){0};
}

static bool shape_is(const Type *type, Str written) {
    const char *at = written.data, *end = at + written.size;
    for (uint32_t i = 0; i < type->dim_count; i++) {
        const char *start = at;
        while (at < end && *at != 'x')
            at++;
        int64_t size;
        if (!str_to_int(str_between(start, at), &size) || size != type->dims[i])
            return false;
        at += at < end;
    }
    return at == end;
}

static bool is_small(const Attr *offsets, const Type *type) {
    const int64_t most = INT64_C(1) << 40;
    for (uint32_t i = 0; i < offsets->count; i++)
        if (offsets->ints[i] < 0 || offsets->ints[i] > most || type->dims[i] < 0 || type->dims[i] > most)
            return false;
    return true;
}

/* What the view is a view of; NULL: it is none. */
static const Value *source_of(Membar *membar, const Value *view) {
    Effect effects[EFFECTS_MOST];
    const Op *op = value_op(view);
    unsigned count = op ? effects_of(membar->module, op, effects) : 0;
    for (unsigned i = 0; i < count; i++)
        if (effects[i].verb == EFFECT_VIEW && effects[i].on == view)
            return effects[i].amount;
    return NULL;
}

/* The static offsets of a view that is a slice of what has the shape of its allocation; else NULL. */
const Attr *membar_view_offsets(Membar *membar, const Value *view) {
    const Op *op = value_op(view);
    if (!op || !op->operand_count || !op->operands[0]->type || !view->type || !source_of(membar, view))
        return NULL;
    const Type *source = type_canonical(membar->module, op->operands[0]->type);
    const Type *result = type_canonical(membar->module, view->type);
    const Attr *offsets = op_attr(op, "offsets");
    if (!source || !result || !offsets || offsets->kind != ATTR_INTS || !offsets->exact ||
        offsets->count != result->dim_count || source->dim_count != result->dim_count)
        return NULL;
    Str shape = allocation_shape(result);
    bool same = shape.size ? shape_is(source, shape)
                           : source->dim_count == result->dim_count &&
                                 memcmp(source->dims, result->dims, sizeof *source->dims * source->dim_count) == 0;
    return same && is_small(offsets, result) ? offsets : NULL;
}

/* The steps by which a view picks slots of its allocation. */
enum { MOST_VIEWS = 64, MOST_SLOTS = 8 };

void membar_view_narrow(Membar *membar, const Value *view, Access *access) {
    const Op *picks[MOST_SLOTS];
    uint32_t count = 0;
    const Op *allocation = membar->buffers[access->buffer].op;
    for (int step = 0; view && step < MOST_VIEWS && view->is_result && view->owner != allocation; step++) {
        if (op_is(view->owner, CLASS_INDEX)) {
            if (count == MOST_SLOTS)
                return;
            picks[count++] = view->owner;
        }
        view = source_of(membar, view);
    }
    if (!view || !view->is_result || view->owner != allocation)
        return;
    while (count) { /* from the allocation to the view */
        const Op *pick = picks[--count];
        ViewStep step = view_step_of(membar->module, pick);
        int64_t index;
        if (step.problem || step.stride <= 0 || !value_constant(pick->operands[1], &index) || index < 0 ||
            index >= (access->end - access->begin) / step.stride)
            return;
        access->begin += index * step.stride;
        access->end = access->begin + step.stride;
    }
}
