/* Whether programs are twins: they go the same way, and what they write differs only by numbers in registers. The ops
 * are gone through in the order in which a program comes to them, with a stack of the memory that was filled on each
 * way to there. */
#include "check/certificate/internal.h"

#include "base/pointers.h"
#include "ir/op.h"
#include "model/effect/inline_ptx.h"
#include "model/flow/forwarded.h"

typedef struct Twins {
    Module *module;
    Arena *arena;
    const Value **filled;
    uint32_t count, capacity;
    Pointers places; /* of what is filled, in the stack; or was */
    Pointers others; /* numbers in registers that may be another one in another program */
    const char *wrong;
} Twins;

/* ---- Memory --------------------------------------------------------------------------------------- */

static int64_t size_of(Twins *twins, const Value *value) {
    const Type *type = value ? type_resolve(twins->module, value->type) : NULL;
    if (type && type_is_descriptor(type))
        type = type->element ? type_resolve(twins->module, type->element) : NULL;
    bool shaped = type && type->dim_count && (type->kind == TYPE_TENSOR || type_is(type, STR("ttg.memdesc")));
    int64_t size = shaped ? 1 : 0;
    for (unsigned i = 0; shaped && i < type->dim_count; i++)
        if (type->dims[i] < 1 || __builtin_mul_overflow(size, type->dims[i], &size))
            return 0;
    return size;
}

static const Value *behind(const Value *value) {
    const Value *other = value_always(value);
    for (unsigned i = 0; other && i < 100; i++) {
        value = other;
        other = value_always(value);
    }
    return value;
}

static bool is_filled(const Twins *twins, const Value *view) {
    uint32_t place = pointers_get(&twins->places, view);
    return place < twins->count && twins->filled[place] == view;
}

static void fill(Twins *twins, const Value *view) {
    if (is_filled(twins, view))
        return;
    pointers_set(&twins->places, view, twins->count);
    *ARENA_PUSH(twins->arena, twins->filled, twins->count, twins->capacity) = view;
}

/* What the view is a part of, element by element; NULL: it is no view, or has other elements. */
static const Value *whole_of(Twins *twins, const Value *view) {
    const Op *op = value_op(view);
    Effect effects[EFFECTS_MOST];
    unsigned count = op && !op_is(op, CLASS_REUSE) ? effects_of(twins->module, op, effects) : 0;
    for (unsigned i = 0; i < count; i++)
        if (effects[i].verb == EFFECT_VIEW && effects[i].on == view && !effects[i].rank)
            return effects[i].amount;
    return NULL;
}

static bool holds_numbers(Twins *twins, const Value *view) {
    for (unsigned i = 0; view && i < 100; i++) {
        view = behind(view);
        if (is_filled(twins, view))
            return true;
        view = whole_of(twins, view);
    }
    return false;
}

static bool is_true(const Value *predicate) {
    int64_t number = 1;
    return !predicate || (value_constant(predicate, &number) && number != 0);
}

/* What the op writes there comes from registers, by an MMA, or from as many elements elsewhere. */
static bool writes_all(Twins *twins, const Op *op, const Effect *all, unsigned count, const Effect *write) {
    int64_t size = size_of(twins, write->on);
    if (!size || write->mask || write->rows || write->rank || write->offset || write->amount || write->multicast ||
        write->pair || write->from_some || write->to_ctas || !is_true(write->predicate) ||
        !is_true(write->second_predicate))
        return false;
    if (write->value)
        return size_of(twins, write->value) == size;
    if (op_is(op, CLASS_TCGEN05))
        return true;
    for (unsigned i = 0; i < count; i++) {
        const Effect *from = &all[i];
        if (from->verb != EFFECT_READ || from->proxy == PROXY_TENSORMAP)
            continue;
        if (from->mask || from->rows || (write->done == DONE_TX && !from->on_descriptor))
            return false;
        bool apart = from->offsets.count == 1 && !from->on_descriptor;
        return size_of(twins, apart ? from->offsets.items[0] : from->on) == size;
    }
    return false;
}

/* ---- Ops ------------------------------------------------------------------------------------------ */

static bool is_weak(const Effect *effect) {
    return effect->on && effect->order == ORDER_WEAK && !effect->rank && !effect->repeats && !effect->expected;
}

static const char *access_differs(Twins *twins, const Op *op, const Effect *effect) {
    if (!is_weak(effect))
        return "it may talk to others";
    switch (effect->space) {
    case SPACE_GLOBAL:
        if (effect->verb == EFFECT_UPDATE)
            return "it finds what other programs left";
        return effect->verb == EFFECT_READ && (op_attr(op, "boundaryCheck") || (effect->mask && !effect->otherwise))
                   ? "it reads what is not known"
                   : NULL;
    case SPACE_SHARED:
    case SPACE_TENSOR:
        if (effect->verb == EFFECT_WRITE)
            return NULL;
        if (effect->verb == EFFECT_UPDATE && effect->space != SPACE_TENSOR)
            return "its threads come there in any order";
        return effect->rows || !holds_numbers(twins, effect->on) ? "it reads what was not written" : NULL;
    default:
        return "it is not known which memory it accesses";
    }
}

static const char *effects_differ(Twins *twins, const Op *op, const Effect *effects, unsigned count) {
    const char *wrong = is_inline_ptx(op) && count ? "it is assembly that does more than to compute" : NULL;
    for (unsigned i = 0; i < count && !wrong; i++) {
        const Effect *effect = &effects[i];
        if (effect_is_access(effect))
            wrong = access_differs(twins, op, effect);
        else if (!verb_is(effect->verb, VERB_BARRIER | VERB_SYNCS | VERB_LIFE) ||
                 (effect->verb == EFFECT_ALLOCATE && effect->space == SPACE_GLOBAL))
            wrong = "it is not known what it does, or its memory is another one in each program";
    }
    return wrong;
}

/* An MMA that may still be at work on its result, or a wait that leaves some at work. */
static bool is_unfinished(Twins *twins, const Value *value) {
    const Op *op = value_op(value);
    Effect effects[EFFECTS_MOST];
    unsigned count = op_is(op, CLASS_WGMMA) || op_is(op, CLASS_WGMMA_WAIT) ? effects_of(twins->module, op, effects) : 0;
    bool unfinished = false;
    for (unsigned i = 0; i < count; i++)
        unfinished |= effects[i].verb == EFFECT_COMMIT || (effects[i].verb == EFFECT_AWAIT && effects[i].count != 0);
    return unfinished;
}

/* Whether an operand may be another one in another program. */
static bool is_given_other(Twins *twins, const Op *op) {
    bool waits = op_is(op, CLASS_WGMMA) || op_is(op, CLASS_WGMMA_WAIT);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (!waits && is_unfinished(twins, op->operands[i]))
            return true;
        if (pointers_get(&twins->others, op->operands[i]) != NO_NUMBER)
            return true;
    }
    return false;
}

/* A result that says more than operands and effects do. */
static bool says_more(Twins *twins, const Op *op, const Effect *effects, unsigned count, uint32_t result) {
    const Type *type = type_resolve(twins->module, op->results[result].type);
    Evaluator how = op_evaluator_at(op, result);
    if ((type && (type_is(type, STR("ttg.memdesc")) || type_is(type, STR("ttg.async.token")))) ||
        op_is(op, CLASS_WGMMA) || op_is(op, CLASS_WGMMA_WAIT))
        return false;
    for (unsigned i = 0; i < count; i++)
        if (effects[i].verb == EFFECT_READ && effects[i].gives == &op->results[result])
            return false;
    if (count || how == EVALUATE_POISON)
        return true;
    if (how != EVALUATE_NONE)
        return how >= EVALUATE_PROGRAM_ID && how != EVALUATE_PROGRAM_COUNT;
    if (!op_is_control(op, CONTROL_NONE))
        return false;
    if (is_inline_ptx(op))
        return !op->operand_count || !inline_ptx_is_pure(op) || inline_ptx_names_registers(twins->module, op, false);
    Str symbol = op_string(op, "symbol");
    bool library = op_flag(op, "pure") && !op_string(op, "libpath").size &&
                   (str_starts(symbol, STR("__nv_")) || str_starts(symbol, STR("__ocml_")));
    return !op->operand_count || op_is(op, CLASS_FIXED) || (op->row->effects[0] && !library);
}

/* Whether what differs may come in here: an op that computes, reads or writes global memory, and does nothing else. */
static bool may_differ(const Op *op, const Effect *effects, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        if (effects[i].space != SPACE_GLOBAL || !is_weak(&effects[i]) || effects[i].verb != effects[0].verb ||
            (effects[i].verb != EFFECT_WRITE && (effects[i].verb != EFFECT_READ || !effects[i].gives)))
            return false;
    return op_is_control(op, CONTROL_NONE) || (!count && op_is_control(op, CONTROL_COMBINE));
}

static const char *op_differs(Twins *twins, const Op *op) {
    Effect effects[EFFECTS_MOST];
    Control control = op_control(op);
    if (control == CONTROL_UNKNOWN || control == CONTROL_CALL || control == CONTROL_FUNCTION ||
        control == CONTROL_MODULE || control == CONTROL_TILES || control == CONTROL_GROUPS)
        return "what it does is not known";
    unsigned count = effects_of(twins->module, op, effects);
    const char *wrong = effects_differ(twins, op, effects, count);
    for (uint32_t i = 0; i < op->result_count && !wrong; i++)
        if (says_more(twins, op, effects, count, i))
            wrong = "its result may differ from program to program";
    if (!wrong && is_given_other(twins, op))
        wrong = "what it takes may differ from program to program";
    if (wrong && may_differ(op, effects, count) && !op_is_control(op_parent(op), CONTROL_COMBINE)) {
        for (uint32_t i = 0; i < op->result_count; i++)
            pointers_set(&twins->others, &op->results[i], 0);
        return NULL;
    }
    for (unsigned i = 0; i < count && !wrong; i++)
        if (effect_is_local(&effects[i]) && effects[i].verb == EFFECT_WRITE &&
            writes_all(twins, op, effects, count, &effects[i]))
            fill(twins, behind(effects[i].on));
    return wrong;
}

/* What a region fills may be left out, and so may what a block does but the first. */
static const char *region_differs(Twins *twins, const Region *region) {
    uint32_t before = twins->count;
    const char *wrong = NULL;
    for (const Block *block = region->first; block && !wrong; block = block->next) {
        uint32_t here = twins->count;
        for (const Op *op = block->first; op && !wrong; op = op->next) {
            wrong = op_differs(twins, op);
            for (uint32_t i = 0; i < op->region_count && !wrong; i++)
                wrong = region_differs(twins, &op->regions[i]);
        }
        twins->count = block == region->first ? twins->count : here;
    }
    twins->count = before;
    return wrong;
}

static const char *tensors_differ(const CertificateChecker *checker) {
    Pointers written = {.arena = checker->arena};
    for (uint32_t i = 0; i < checker->touch_count; i++) {
        if (checker->touches[i].root < 0)
            return "it is not known in which tensor an address lies";
        if (checker->touches[i].writes)
            pointers_set(&written, &checker->parameters[checker->touches[i].root], 0);
    }
    for (uint32_t i = 0; i < checker->touch_count; i++)
        if (!checker->touches[i].writes &&
            pointers_get(&written, &checker->parameters[checker->touches[i].root]) != NO_NUMBER)
            return "a tensor is read that is written, too";
    return NULL;
}

const char *programs_differ(CertificateChecker *checker, const Op *write) {
    Twins *twins = checker->twins;
    if (!twins) {
        twins = checker->twins = ARENA_NEW(checker->arena, Twins);
        *twins = (Twins){.module = checker->module, .arena = checker->arena};
        twins->places.arena = twins->others.arena = checker->arena;
        twins->wrong = tensors_differ(checker);
        if (!twins->wrong)
            twins->wrong = region_differs(twins, &checker->function->regions[0]);
    }
    return twins->wrong || !is_given_other(twins, write) ? twins->wrong
                                                         : "what is written may differ from program to program";
}
