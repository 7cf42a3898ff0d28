/* Goes through all ops of a function: each is one of those that do the same in every program. */
#include "model/memory/alike.h"

#include "base/pointers.h"
#include "ir/memo.h"
#include "ir/op.h"
#include "model/effect/effect.h"
#include "model/effect/inline_ptx.h"
#include "model/flow/forwarded.h"
#include "model/memory/views.h"
#include "model/target/target.h"

enum { NO_WRITE = UINT32_MAX, MOST_WRITES = 64 /* of one view that are looked at */ };

/* An op fills all of a buffer, or of a view of one. */
typedef struct WholeWrite {
    const Op *op;
    uint32_t next; /* the one of the same view behind it; or NO_WRITE */
} WholeWrite;

/* What is found out once about a function. */
typedef struct AlikeFunction {
    bool alike;   /* no program goes another way than others, nor has other numbers in its own memory */
    Pointers own; /* values in registers that may differ from program to program */
} AlikeFunction;

typedef struct AlikeSearch {
    Module *module;
    const Op *function;
    AlikeFunction *found;
    WholeWrite *writes;
    uint32_t write_count, write_capacity;
    Pointers first, last; /* of a view: which comes first in the text, and last */
    Pointers numbers;     /* of ops, in the order of the text */
} AlikeSearch;

enum { MOST_NAMES = 64 /* of one piece of memory, one after the other */ };

/* Neither loops nor branches to a block are around it. */
static bool runs_once(const Op *op, const Op *function) {
    for (; op && op != function; op = op_parent(op))
        if (op_is_loop(op) || !op->block || op->block->region->block_count > 1)
            return false;
    return true;
}

/* ---- Memory that was filled ---------------------------------------------------------------------- */

/* How many elements a tensor, a buffer, or the box of a descriptor has; -1: it is none of them. */
static int64_t elements_of(Module *module, const Value *value) {
    const Type *type = value ? type_resolve(module, value->type) : NULL;
    const Type *inner = type && type_is_descriptor(type) && type->element ? type_resolve(module, type->element) : type;
    int64_t elements = 1;
    if (!inner || !inner->dim_count || (inner->kind != TYPE_TENSOR && !type_is(inner, STR("ttg.memdesc"))))
        return -1;
    for (unsigned i = 0; i < inner->dim_count; i++)
        if (inner->dims[i] <= 0 || __builtin_mul_overflow(elements, inner->dims[i], &elements))
            return -1;
    return elements;
}

/* How many elements are there to be written: of the tensor, or of what a copy reads. */
static int64_t elements_for(Module *module, const Op *op, const Effect *effects, unsigned count, const Effect *write) {
    if (write->value)
        return elements_of(module, write->value);
    if (op_is(op, CLASS_TCGEN05))
        return elements_of(module, write->on);
    for (unsigned i = 0; i < count; i++) {
        const Effect *read = &effects[i];
        bool tile = read->on_descriptor || write->done != DONE_TX;
        if (read->verb == EFFECT_READ && read->proxy != PROXY_TENSORMAP && tile && !read->rows && !read->mask)
            return elements_of(module,
                               read->offsets.count == 1 && !read->on_descriptor ? read->offsets.items[0] : read->on);
    }
    return -1;
}

static bool is_always(const Value *predicate) {
    int64_t number;
    return !predicate || (value_constant(predicate, &number) && number);
}

static bool fills(Module *module, const Op *op, const Effect *effects, unsigned count, const Effect *effect) {
    bool own = !effect->rank && !effect->multicast && !effect->pair && !effect->from_some && !effect->to_ctas;
    return effect_is_local(effect) && effect->verb == EFFECT_WRITE && own && !effect->mask && !effect->rows &&
           !effect->offset && !effect->amount && is_always(effect->predicate) && is_always(effect->second_predicate) &&
           elements_of(module, effect->on) > 0 &&
           elements_for(module, op, effects, count, effect) == elements_of(module, effect->on);
}

static const Value *first_name(const Value *value) {
    const Value *same;
    for (unsigned i = 0; i < MOST_NAMES && (same = value_always(value)); i++)
        value = same;
    return value;
}

static void find_writes(AlikeSearch *search) {
    Effect effects[EFFECTS_MOST];
    uint32_t number = 0;
    search->first.arena = search->last.arena = search->numbers.arena = &search->module->arena;
    for (const Op *op = search->function; op; op = op_next_in_walk(op, search->function)) {
        unsigned count = is_inline_ptx(op) ? 0 : effects_of(search->module, op, effects);
        pointers_set(&search->numbers, op, number++);
        for (unsigned i = 0; i < count; i++) {
            if (!fills(search->module, op, effects, count, &effects[i]))
                continue;
            const Value *view = first_name(effects[i].on);
            uint32_t last = pointers_get(&search->last, view), write = search->write_count;
            *ARENA_PUSH(&search->module->arena, search->writes, search->write_count, search->write_capacity) =
                (WholeWrite){op, NO_WRITE};
            if (last == NO_NUMBER)
                pointers_set(&search->first, view, write);
            else
                search->writes[last].next = write;
            pointers_set(&search->last, view, write);
        }
    }
}

/* Whether `before` is run each time that `op` is, and is run first. */
static bool comes_before(const AlikeSearch *search, const Op *before, const Op *op) {
    while (op && (!op->block || op->block->region != before->block->region))
        op = op_parent(op);
    if (op && op->block == before->block)
        return pointers_get(&search->numbers, before) < pointers_get(&search->numbers, op);
    return op && before->block == before->block->region->first;
}

/* Whether all of the memory was written before the op: the same view, or one that it is a part of. */
static bool was_filled(const AlikeSearch *search, const Op *op, const Value *memory) {
    for (unsigned i = 0; i < MOST_NAMES && memory; i++) {
        memory = first_name(memory);
        uint32_t at = pointers_get(&search->first, memory);
        for (unsigned k = 0; at != NO_WRITE && k < MOST_WRITES; k++, at = search->writes[at].next)
            if (comes_before(search, search->writes[at].op, op))
                return true;
        if (op_is(value_op(memory), CLASS_REUSE)) /* other elements: of what there may be between those that it had */
            return false;
        memory = view_source(search->module, memory);
    }
    return false;
}

/* ---- Ops ----------------------------------------------------------------------------------------- */

static bool is_known_control(Control kind) {
    return kind != CONTROL_UNKNOWN && kind != CONTROL_CALL && kind != CONTROL_FUNCTION && kind != CONTROL_MODULE &&
           kind != CONTROL_TILES && kind != CONTROL_GROUPS;
}

/* A function of the compiler's own library, which has nothing but its operands. */
static bool is_of_library(const Op *op) {
    Str symbol = op_string(op, "symbol");
    return op_flag(op, "pure") && !op_string(op, "libpath").size &&
           (str_starts(symbol, STR("__nv_")) || str_starts(symbol, STR("__ocml_")));
}

/* Whether the results of an op without effects follow from its operands. */
static bool is_function(Module *module, const Op *op) {
    if (is_inline_ptx(op))
        return op->operand_count && inline_ptx_is_pure(op) && !inline_ptx_names_registers(module, op, false);
    for (uint32_t i = 0; i < op->result_count; i++) {
        Evaluator how = op_evaluator_at(op, i);
        bool none = how == EVALUATE_NONE && op_is_control(op, CONTROL_NONE);
        if (how == EVALUATE_POISON || (how >= EVALUATE_PROGRAM_ID && how != EVALUATE_PROGRAM_COUNT) ||
            (none && (!op->operand_count || op_is(op, CLASS_FIXED) || (*op->row->effects && !is_of_library(op)))))
            return false;
    }
    return true;
}

/* Whether the results are of MMAs that may not be done yet. */
static bool is_under_way(Module *module, const Op *op) {
    Effect effects[EFFECTS_MOST];
    bool waits = op_is(op, CLASS_WGMMA_WAIT);
    unsigned count = waits || op_is(op, CLASS_WGMMA) ? effects_of(module, op, effects) : 0;
    for (unsigned i = 0; i < count; i++)
        if (waits ? effects[i].verb == EFFECT_AWAIT && effects[i].count : effects[i].verb == EFFECT_COMMIT)
            return true;
    return false;
}

/* Whether one of the operands may differ from program to program. */
static bool takes_own(const AlikeSearch *search, const Op *op) {
    bool mma = op_is(op, CLASS_WGMMA) || op_is(op, CLASS_WGMMA_WAIT);
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (pointers_get(&search->found->own, op->operands[i]) != NO_NUMBER ||
            (!mma && is_under_way(search->module, value_op(op->operands[i]))))
            return true;
    return false;
}

static void give_own(AlikeSearch *search, const Op *op) {
    for (uint32_t i = 0; i < op->result_count; i++)
        pointers_set(&search->found->own, &op->results[i], 0);
}

static bool is_data(Module *module, const Value *value) {
    const Type *type = value->type ? type_resolve(module, value->type) : NULL;
    return !type || !(type_is(type, STR("ttg.memdesc")) || type_is(type, STR("ttg.async.token")));
}

/* Whether the op has results that do not follow from memory that it reads. */
static bool gives_more(Module *module, const Op *op, const Effect *effects, unsigned count) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        bool given = op_is(op, CLASS_WGMMA) || op_is(op, CLASS_WGMMA_WAIT) || !is_data(module, &op->results[i]);
        for (unsigned k = 0; k < count && !given; k++)
            given = effects[k].verb == EFFECT_READ && effects[k].gives == &op->results[i] && !effects[k].expected;
        if (!given)
            return true;
    }
    return false;
}

static bool is_weak_global(const Effect *effect, EffectVerb verb) {
    return effect->verb == verb && effect->space == SPACE_GLOBAL && effect->on && effect->order == ORDER_WEAK &&
           !effect->rank && !effect->repeats && !effect->expected;
}

/* An effect that does the same in every program, with operands that are the same. */
static bool is_plain(const AlikeSearch *search, const Op *op, const Effect *effect) {
    if (verb_is(effect->verb, VERB_BARRIER | VERB_SYNCS | VERB_LIFE))
        return effect->verb != EFFECT_ALLOCATE || effect->space != SPACE_GLOBAL;
    if (is_weak_global(effect, EFFECT_WRITE))
        return true;
    if (is_weak_global(effect, EFFECT_READ))
        return !op_attr(op, "boundaryCheck") && (!effect->mask || effect->otherwise);
    if (!effect_is_local(effect) || effect->rank || effect->repeats || effect->order != ORDER_WEAK ||
        (effect->verb == EFFECT_UPDATE && effect->space != SPACE_TENSOR))
        return false;
    return effect->verb == EFFECT_WRITE || (!effect->rows && was_filled(search, op, effect->on));
}

/* An op that computes, or part of a function of two elements. */
static bool look_at_function(AlikeSearch *search, const Op *op) {
    bool own = takes_own(search, op) || !is_function(search->module, op);
    if (own && op_is_control(op_parent(op), CONTROL_COMBINE))
        return false;
    if (own)
        give_own(search, op);
    return true;
}

/* False: from here on, programs may go different ways. */
static bool look_at(AlikeSearch *search, const Op *op) {
    Effect effects[EFFECTS_MOST];
    if (!op->row || !is_known_control(op_control(op)))
        return false;
    unsigned count = effects_of(search->module, op, effects);
    bool computes = op_is_control(op, CONTROL_NONE) || op_is_control(op, CONTROL_COMBINE), plain = true;
    if (!count && computes)
        return look_at_function(search, op);
    bool own = takes_own(search, op), loads = count != 0, stores = count != 0;
    for (unsigned i = 0; i < count; i++) {
        plain &= !is_inline_ptx(op) && is_plain(search, op, &effects[i]);
        loads &= is_weak_global(&effects[i], EFFECT_READ) && effects[i].gives;
        stores &= is_weak_global(&effects[i], EFFECT_WRITE);
    }
    bool more = count && gives_more(search->module, op, effects, count);
    if (loads && computes && (own || !plain || more))
        give_own(search, op);
    return (computes && (loads || stores)) || (plain && !own && !more);
}

static void look(AlikeSearch *search) {
    if (module_ctas(search->function) > 1 || module_cluster(search->function) > 1)
        return;
    find_writes(search);
    for (const Op *op = op_next_in_walk(search->function, search->function); op;
         op = op_next_in_walk(op, search->function))
        if (!look_at(search, op))
            return;
    search->found->alike = true;
}

bool op_is_alike(Module *module, const Op *function, const Op *op) {
    bool fresh;
    AlikeFunction *found = module_memo(module, "alike", function, sizeof *found, &fresh);
    AlikeSearch search = {.module = module, .function = function, .found = found};
    if (fresh) {
        found->own.arena = &module->arena;
        look(&search);
    }
    return found->alike && runs_once(op, function) && !takes_own(&search, op);
}
