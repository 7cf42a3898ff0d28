/* The effects of an op, with their values in registers. */
#include "machine/tile/compile/program_internal.h"

#include "ir/memo.h"
#include "model/effect/inline_ptx.h"
#include "model/effect/unknown.h"
#include "model/flow/origin.h"
#include "model/layout/encoding.h"
#include "model/memory/overlay.h"
#include "model/memory/placement.h"
#include "model/memory/scratch.h"
#include "model/target/target.h"

/* ---- Effects -------------------------------------------------------------------------------------- */

/* Whether the emulator does anything about it: not views (they are values), not fences (they order accesses, not time).
 */
bool effect_runs(const Compiler *compiler, const Effect *effect) {
    switch (effect->verb) {
    case EFFECT_VIEW:
    case EFFECT_ALLOCATE:
        return false;
    case EFFECT_READ:
    case EFFECT_WRITE:
    case EFFECT_UPDATE:
        return effect->space != SPACE_GLOBAL || (compiler->flags & COMPILE_GLOBAL);
    default:
        return true;
    }
}

bool value_is_memdesc(Module *module, const Value *value) {
    const Type *type = value ? type_resolve(module, value->type) : NULL;
    return type && type_is(type, STR("ttg.memdesc"));
}

static bool is_token(Module *module, const Value *value) {
    const Type *type = value ? type_resolve(module, value->type) : NULL;
    return type && type->kind == TYPE_TENSOR;
}

/* The bits of a CTA's rank that make no difference to a barrier of that type: those that differ in them share it. */
static uint32_t shared_bits(Compiler *compiler, const Type *type) {
    const Program *program = compiler->program;
    if (program->ctas < 2 || program->ranks_are_programs)
        return 0;
    return encoding_shared_bits(compiler->module, type, program->ctas);
}

/* A commit signals the barrier of each CTA that it reaches; others of the cluster's, no matter what shares it. */
static bool is_local_arrival(const Effect *effect) {
    return effect->verb == EFFECT_ARRIVE && effect->done == DONE_COMMIT;
}

/* Whether an op does more with memory than to name a part of it, set a barrier up in it, or end its life. */
static bool uses_memory(Compiler *compiler, const Op *op) {
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(compiler->module, op, effects);
    for (unsigned i = 0; i < count; i++)
        if (effects[i].verb != EFFECT_VIEW && effects[i].verb != EFFECT_INIT && effects[i].verb != EFFECT_FREE &&
            effects[i].verb != EFFECT_INVALIDATE)
            return true;
    return !count;
}

/* Asked of each barrier, and found out once. */
static bool is_placed(Compiler *compiler, const Op *function) {
    bool fresh, *placed = module_memo(compiler->module, "placed", function, sizeof *placed, &fresh);
    if (fresh)
        *placed = memory_is_placed(function);
    return *placed;
}

/* Compilers make barriers that they then have no use for. Where memory is placed, their bytes belong to others. */
static bool is_idle(Compiler *compiler, const Value *barrier) {
    const Op *function = compiler->program->function, *allocation = origin_of(compiler->module, barrier);
    if (!allocation || !is_placed(compiler, function))
        return false;
    for (const Op *op = function; op; op = op_next_in_walk(op, function))
        for (uint32_t i = 0; i < op->operand_count; i++)
            if (value_is_memdesc(compiler->module, op->operands[i]) &&
                origin_of(compiler->module, op->operands[i]) == allocation && uses_memory(compiler, op))
                return false;
    return true;
}

static uint64_t hash_text(Str text) {
    uint64_t hash = 0;
    for (size_t i = 0; i < text.size; i++)
        hash = identity_mix(hash, (unsigned char)text.data[i]);
    return hash;
}

/* A wait for a side of an aref, or what else the op does to that side; false if it does nothing of it. */
static bool aref_effect(Module *module, const Op *op, Side side, bool waits, Effect *found) {
    Effect effects[EFFECTS_MOST];
    unsigned count = op->row && *op->row->effects ? effects_of(module, op, effects) : 0;
    for (unsigned i = 0; i < count; i++)
        if (effects[i].side == side && effects[i].verb != EFFECT_INIT && (effects[i].verb == EFFECT_WAIT) == waits &&
            !is_token(module, effects[i].on)) {
            *found = effects[i];
            return true;
        }
    return false;
}

/* Before stages and phases are assigned, arefs are written without them, or with zeros in their place: a put that waits
 * for parity 0 on a fresh barrier is none that is meant. */
bool arefs_are_unassigned(Module *module, const Op *root) {
    for (const Op *op = root; op; op = op_next_in_walk(op, root)) {
        Effect wait;
        int64_t parity;
        if (op_is(op, CLASS_AREF_ENTER) && aref_effect(module, op, SIDE_EMPTY, true, &wait) &&
            (!wait.amount || (value_constant(wait.amount, &parity) && !parity)))
            return true;
    }
    return false;
}

/* How many arrivals a phase of an aref's side takes: one for each partition that leaves it, and each way of leaving. */
static int64_t aref_arrivals(Compiler *compiler, const Op *aref, Side side) {
    enum { MOST = 64 };
    uint64_t ways[MOST];
    unsigned count = 0;
    const Op *root = compiler->program->function;
    for (const Op *op = root; op; op = op_next_in_walk(op, root)) {
        Effect leave;
        if (!aref_effect(compiler->module, op, side, false, &leave) || count == MOST ||
            origin_of(compiler->module, leave.on) != aref)
            continue;
        const Attr *kinds = op_attr(op, "async_ops");
        uint64_t way = identity_mix(partitions_of(op).mask, kinds ? hash_text(kinds->text) : 0);
        unsigned i = 0;
        while (i < count && ways[i] != way)
            i++;
        if (i == count)
            ways[count++] = way;
    }
    return count ? count : 1;
}

static void add_entry(Slice *slice, const Op *op, SlotRef entry) {
    ValueList list;
    list.items = op_operands_of(op, entry, &list.count);
    slice_add_list(slice, list);
}

/* What says which bytes of global memory are touched, beside the pointer or descriptor, and what is moved. */
static void add_access(Compiler *compiler, const Effect *effect) {
    Slice *slice = &compiler->slice;
    if (effect->space != SPACE_GLOBAL || !(compiler->flags & COMPILE_GLOBAL))
        return;
    slice_add(slice, effect->mask);
    slice_add(slice, effect->rows);
    slice_add_list(slice, effect->at);
    slice_add_list(slice, effect->offsets);
    if (!(compiler->flags & COMPILE_DATA) || !data_moves(effect))
        return;
    slice_add(slice, effect->value);
    slice_add(slice, effect->compare);
}

void effects_add(Compiler *compiler, const Op *op) {
    Slice *slice = &compiler->slice;
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(compiler->module, op, effects);
    for (unsigned i = 0; i < count; i++) {
        const Effect *effect = &effects[i];
        if (!effect_runs(compiler, effect))
            continue;
        slice_add(slice, effect->on);
        slice_add(slice, effect->amount);
        slice_add(slice, effect->expected);
        slice_add(slice, effect->through);
        slice_add(slice, effect->predicate);
        slice_add(slice, effect->second_predicate);
        slice_add(slice, effect->slot);
        slice_add(slice, effect->boxes);
        slice_add(slice, effect->rank);
        add_access(compiler, effect);
        if (reach_needs_rows(compiler, op, effect))
            slice_add(slice, effect->rows);
    }
    if ((compiler->flags & COMPILE_DATA) && is_inline_ptx(op))
        slice_add_list(slice, (ValueList){op->operands, op->operand_count});
    if (op_describes(op) == DESCRIBE_MAP) {
        const DescribeColumn *map = &op->row->describes;
        add_entry(slice, op, map->at);
        add_entry(slice, op, map->box);
        add_entry(slice, op, map->shape);
        if (compiler->flags & COMPILE_GLOBAL) {
            add_entry(slice, op, map->base);
            add_entry(slice, op, map->strides);
        }
    }
}

/* Which bytes of global memory an access touches: see access.h. */
static void compile_access(Compiler *compiler, CompiledEffect *compiled) {
    const Effect *effect = &compiled->effect;
    compiled->mask = value_register(compiler, effect->mask);
    compiled->rows = value_register(compiler, effect->rows);
    if (effect->on_descriptor)
        compiled->coordinates =
            (RegisterList){emit_list(compiler, effect->at.items, effect->at.count), effect->at.count};
    else if (effect->offsets.count)
        compiled->offsets = value_register(compiler, effect->offsets.items[0]);
}

/* An effect with nothing in registers. */
static void add_bare(Compiler *compiler, EffectVerb verb) {
    Program *program = compiler->program;
    *ARENA_PUSH(&compiler->module->arena, program->effects, program->effect_count, program->effect_capacity) =
        (CompiledEffect){.effect = {.verb = verb},
                         .on = NO_REGISTER,
                         .amount = NO_REGISTER,
                         .through = NO_REGISTER,
                         .predicate = NO_REGISTER,
                         .second_predicate = NO_REGISTER,
                         .slot = NO_REGISTER,
                         .boxes = NO_REGISTER,
                         .lands = NO_REGISTER,
                         .mask = NO_REGISTER,
                         .offsets = NO_REGISTER,
                         .rows = NO_REGISTER,
                         .transfer = NO_TRANSFER,
                         .rank = NO_REGISTER,
                         .reach = 1};
}

void compile_unknown(Compiler *compiler, const Op *op, const char *reason) {
    compile_cannot(compiler, op, reason);
    add_bare(compiler, EFFECT_ANYTHING);
    compiler->program->unknowns = true;
    emit_value(compiler, CODE_EFFECTS, op, NO_REGISTER, 1, compiler->program->effect_count - 1);
}

/* Threads of a partition, and CTAs of a cluster, that exchange values meet: what each did to global memory before is
 * before what the others do after. Where it is not known whether they do, the barrier is marked as relaxed. */
void compile_meeting(Compiler *compiler, const Op *op) {
    static const EffectVerb verbs[] = {EFFECT_CLUSTER_ARRIVE, EFFECT_CLUSTER_WAIT};
    Program *program = compiler->program;
    Effect effects[EFFECTS_MOST];
    if (!(compiler->flags & COMPILE_DATA))
        return;
    Scratch scratch = scratch_of(compiler->module, op);
    uint32_t first = program->effect_count;
    if (scratch.bytes && !scratch.warp_synchronous && !effects_of(compiler->module, op, effects)) {
        add_bare(compiler, EFFECT_CTA_BARRIER);
        program->effects[first].effect.relaxed = scratch.bytes < 0;
    }
    for (unsigned i = 0; i < 2 && scratch.crosses_ctas && program->ctas > 1 && !program->ranks_are_programs; i++)
        add_bare(compiler, verbs[i]);
    if (program->effect_count > first)
        emit_value(compiler, CODE_EFFECTS, op, NO_REGISTER, program->effect_count - first, first);
}

/* Scratch memory that lies over an allocation, in which something may still be going on. */
void compile_scratch(Compiler *compiler, const Op *op) {
    if (!scratch_of(compiler->module, op).bytes)
        return;
    const Overlays *overlays = overlays_of(compiler->module, compiler->program->function);
    for (uint32_t i = 0; i < overlays->count; i++)
        if (overlays->items[i].op == op && overlays->items[i].scratch && overlays->items[i].over) {
            add_bare(compiler, EFFECT_SCRATCH);
            emit_value(compiler, CODE_EFFECTS, op, NO_REGISTER, 1, compiler->program->effect_count - 1);
            return;
        }
}

/* The write that bytes on a barrier report, in the CTAs of which they come; any other effect is its own. */
static const Effect *reported(const Effect *effects, unsigned count, const Effect *effect) {
    for (unsigned i = 0; i < count && effect->verb == EFFECT_COMPLETE; i++)
        if (effects[i].verb == EFFECT_WRITE && effects[i].done == DONE_TX && effects[i].through == effect->on &&
            effects[i].helper == effect->helper)
            return &effects[i];
    return effect;
}

/* What of the op's effects is not known, or not worked out. Its place in time is what it comes before and after, so
 * that it is known what it could have ordered. */
static void compile_unknowns(Compiler *compiler, const Op *op, const Effect *effects, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        const Effect *effect = &effects[i];
        if (effect->verb == EFFECT_ANYTHING) {
            Text reason = {0};
            unknown_reason(compiler->module, op, &reason);
            compile_unknown(compiler, op, verdict_keep(compiler->verdict, &reason));
        } else if (effect->repeats && !(compiler->flags & COMPILE_DATA)) {
            compile_unknown(compiler, op, "it polls memory in its own loop");
        } else if (effect_runs(compiler, effect) &&
                   !compile_reach(compiler, op, reported(effects, count, effect), &(CompiledEffect){0})) {
            compile_unknown(compiler, op, "which CTAs of the cluster it signals or writes is not known");
        }
    }
}

/* For how many threads a named barrier is that says nothing about it: all of the CTA; 0 if that is not known. */
static int64_t cta_threads(const Compiler *compiler) {
    const Program *program = compiler->program;
    unsigned warps = module_total_warps(program->function, 0);
    bool forks = false;
    for (const Op *op = program->function; op && !warps && !forks; op = op_next_in_walk(op, program->function))
        forks = op_is_control(op, CONTROL_FORK);
    return (int64_t)(warps ? warps : forks ? 0 : program->warps) * program->warp_threads;
}

/* The memory whose bytes a completion counts: named as their amount, or what the op writes that is done with them. */
static const Value *written_with(Compiler *compiler, const Effect *effects, unsigned count, const Effect *complete) {
    if (complete->amount && value_is_memdesc(compiler->module, complete->amount))
        return complete->amount;
    for (unsigned i = 0; i < count; i++)
        if (effects[i].verb == EFFECT_WRITE && effects[i].done == DONE_TX && effects[i].through == complete->on &&
            effects[i].helper == complete->helper)
            return effects[i].on;
    return NULL;
}

/* The copy to shared memory that an effect is, or whose bytes it completes; NULL: none. */
static const Effect *copy_of(const Effect *effects, unsigned count, const Effect *effect) {
    if (is_copy_to_shared(effect))
        return effect;
    for (unsigned i = 0; i < count && effect->verb == EFFECT_COMPLETE; i++)
        if (is_copy_to_shared(&effects[i]) && effects[i].through == effect->on)
            return &effects[i];
    return NULL;
}

void compile_effects(Compiler *compiler, const Op *op) {
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(compiler->module, op, effects);
    Program *program = compiler->program;
    compile_unknowns(compiler, op, effects, count);
    uint32_t first = program->effect_count;
    for (unsigned i = 0; i < count; i++) {
        const Effect *effect = &effects[i];
        if (effect->verb == EFFECT_ANYTHING || !effect_runs(compiler, effect))
            continue;
        CompiledEffect compiled = {.effect = *effect,
                                   .on = value_register(compiler, effect->on),
                                   .amount = value_register(compiler, effect->amount),
                                   .through = value_register(compiler, effect->through),
                                   .predicate = value_register(compiler, effect->predicate),
                                   .second_predicate = value_register(compiler, effect->second_predicate),
                                   .slot = value_register(compiler, effect->slot),
                                   .boxes = value_register(compiler, effect->boxes),
                                   .lands = NO_REGISTER,
                                   .mask = NO_REGISTER,
                                   .offsets = NO_REGISTER,
                                   .rows = NO_REGISTER,
                                   .transfer = NO_TRANSFER,
                                   .rank = value_register(compiler, effect->rank),
                                   .type = effect->on ? effect->on->type : NULL,
                                   .bytes = effect->count};
        if (compiler->unassigned && effect->side != SIDE_NONE && !is_token(compiler->module, effect->on))
            compiled.slot = compiled.amount = NO_REGISTER;
        (void)compile_reach(compiler, op, reported(effects, count, effect), &compiled);
        if (compiler->waiting && effect->done == DONE_COMMIT && effect->helper == HELPER_TENSOR)
            compiled.effect.done = DONE_NOW;
        if (effect->space == SPACE_GLOBAL && effect_is_access(effect)) {
            compile_access(compiler, &compiled);
            if (compiler->flags & COMPILE_DATA)
                data_compile(compiler, op, i, &compiled);
        }
        if (effect->amount && value_is_memdesc(compiler->module, effect->amount))
            compiled.bytes = memdesc_transfer_bytes(compiler->module, effect->amount->type);
        if (effect_is_named(effect) && !effect->amount && !effect->count)
            compiled.effect.count = cta_threads(compiler);
        const Value *landing = effect->verb == EFFECT_COMPLETE ? written_with(compiler, effects, count, effect) : NULL;
        if (landing) {
            compiled.lands = value_register(compiler, landing);
            compiled.landing = landing->type;
        }
        const Effect *copy = copy_of(effects, count, effect);
        if (copy)
            compiled.landings = find_landings(compiler, copy->on);
        if (effect->verb == EFFECT_INIT && op_is(op, CLASS_AREF))
            compiled.effect.count = aref_arrivals(compiler, op, effect->side);
        if (value_is_memdesc(compiler->module, effect->on) && !effect_is_access(effect)) {
            compiled.shared_bits = is_local_arrival(effect) ? 0 : shared_bits(compiler, effect->on->type);
            compiled.idle =
                (effect->verb == EFFECT_INIT || effect->verb == EFFECT_INVALIDATE) && is_idle(compiler, effect->on);
            if (effect->verb == EFFECT_INIT && compiled.shared_bits) {
                const Type *type = type_resolve(compiler->module, effect->on->type);
                int64_t parts = type->dim_count ? type->dims[type->dim_count - 1] : 1;
                if (__builtin_mul_overflow(effect->count, parts > 0 ? program->ctas / parts : program->ctas,
                                           &compiled.effect.count))
                    compiled.effect.count = -1;
            }
        }
        *ARENA_PUSH(&compiler->module->arena, program->effects, program->effect_count, program->effect_capacity) =
            compiled;
    }
    if (program->effect_count > first)
        emit_value(compiler, CODE_EFFECTS, op, NO_REGISTER, program->effect_count - first, first);
}
