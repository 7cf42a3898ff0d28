/* Barriers of effects, by their views. */
#include "machine/tile/schedule/barrier_ops.h"

#include "ir/op.h"
#include "model/flow/forwarded.h"
#include "model/memory/views.h"

enum { MOST_STEPS = 32, BARRIER_BYTES = 8 };

/* Where in its allocation a view begins, if only constants say so; -1: that is not known. */
static int64_t constant_byte(const Program *program, const Value *view) {
    int64_t byte = 0;
    for (unsigned i = 0; i < MOST_STEPS; i++) {
        if (view->is_result && allocation_find(&program->allocations, view->owner))
            return byte;
        const Value *captured = value_forwarded(view, FORWARDED_CAPTURE), *source = NULL;
        if (!captured && view->is_result)
            source = view_source(program->module, view);
        if (!captured && !source)
            return -1;
        if (source) {
            ViewStep step = view_step_of(program->module, view->owner);
            int64_t index = 0;
            if (step.problem || step.flip || (step.index && !value_constant(step.index, &index)))
                return -1;
            byte += index * step.stride + step.add;
        }
        view = captured ? captured : source;
    }
    return -1;
}

BarrierRange effect_barriers(const Program *program, const Effect *effect) {
    const Allocation *allocation = allocation_of(&program->allocations, program->module, effect->on);
    if (!allocation)
        return (BarrierRange){0};
    int64_t begin = allocation->offset.base, size = allocation->size;
    if (effect->side != SIDE_NONE) { /* both rings of a token are in one allocation */
        size /= 2;
        return (BarrierRange){true, allocation->storage, begin + (effect->side == SIDE_EMPTY ? size : 0),
                              begin + (effect->side == SIDE_EMPTY ? 2 * size : size)};
    }
    int64_t byte = constant_byte(program, effect->on);
    if (byte >= 0 && byte < size)
        return (BarrierRange){true, allocation->storage, begin + byte, begin + byte + BARRIER_BYTES};
    return (BarrierRange){true, allocation->storage, begin, begin + size};
}

static bool range_has_place(const BarrierRange *range, uint64_t place) {
    int64_t byte = (int32_t)(uint32_t)place;
    return range->any && place >> 32 == range->storage && byte >= range->begin && byte < range->end;
}

bool range_has(const Machine *machine, const BarrierRange *range, uint32_t barrier) {
    return range_has_place(range, machine->slot_places[barrier % machine->slots_per_cta]);
}

bool ranges_overlap(const BarrierRange *range, const BarrierRange *other) {
    return range->any && other->any && range->storage == other->storage && range->begin < other->end &&
           other->begin < range->end;
}

uint32_t range_first(const Machine *machine, const BarrierRange *range) {
    for (uint32_t slot = 0; slot < machine->slots_used; slot++)
        if (range_has_place(range, machine->slot_places[slot]))
            return slot;
    return NO_BARRIER;
}

bool effect_signals(const Effect *effect) {
    return effect->verb == EFFECT_ARRIVE || effect->verb == EFFECT_EXPECT || effect->verb == EFFECT_COMPLETE;
}

/* Whatever op picks its barrier at run time may mean any of them. */
BarrierRange barrier_channel(const Machine *machine, uint32_t barrier) {
    const Program *program = machine->program;
    uint64_t place = machine->slot_places[barrier % machine->slots_per_cta];
    int64_t byte = (int32_t)(uint32_t)place;
    BarrierRange channel = {true, (uint32_t)(place >> 32), byte, byte + BARRIER_BYTES};
    for (uint32_t i = 0; i < program->effect_count; i++) {
        const Effect *effect = &program->effects[i].effect;
        if (effect->verb != EFFECT_WAIT && !effect_signals(effect))
            continue;
        BarrierRange range = effect_barriers(program, effect);
        if (range_has_place(&range, place) && range.end - range.begin > channel.end - channel.begin)
            channel = range;
    }
    return channel;
}

void channel_name(const Machine *machine, uint32_t barrier, Text *to) {
    BarrierRange channel = barrier_channel(machine, barrier);
    BarrierPlace place = barrier_place(machine, barrier);
    ring_name(machine, barrier, to);
    if (place.allocation && place.depth > 1 && channel.end - channel.begin <= BARRIER_BYTES)
        text_addf(to, "[%lld]", (long long)place.slot);
}

uint32_t strand_end(const Program *program, uint32_t strand) {
    return strand + 1 < program->strand_count ? program->strands[strand + 1].entry : program->code_count;
}

static bool does_at(const Machine *machine, uint32_t pc, bool waits, const BarrierRange *channel) {
    const Program *program = machine->program;
    const Instruction *instruction = &program->code[pc];
    for (uint32_t i = 0; instruction->code == CODE_EFFECTS && i < instruction->a; i++) {
        const Effect *effect = &program->effects[instruction->aux + i].effect;
        if (waits ? effect->verb != EFFECT_WAIT : effect->verb != EFFECT_ARRIVE && effect->verb != EFFECT_EXPECT)
            continue;
        BarrierRange range = effect_barriers(program, effect);
        if (ranges_overlap(&range, channel))
            return true;
    }
    return false;
}

static uint32_t find_op(const Machine *machine, uint32_t strand, uint32_t barrier, bool waits, uint32_t from) {
    const Program *program = machine->program;
    BarrierRange channel = barrier_channel(machine, barrier);
    uint32_t found = NO_PC, begin = strand == ANY_STRAND ? 0 : program->strands[strand].entry;
    uint32_t end = strand == ANY_STRAND ? program->code_count : strand_end(program, strand);
    for (uint32_t pc = begin; pc < end; pc++)
        if ((found == NO_PC || pc >= from) && does_at(machine, pc, waits, &channel)) {
            found = pc;
            if (pc >= from)
                break;
        }
    return found;
}

uint32_t strand_waits(const Machine *machine, uint32_t strand, uint32_t barrier) {
    return find_op(machine, strand, barrier, true, 0);
}

uint32_t strand_arrives(const Machine *machine, uint32_t strand, uint32_t barrier, uint32_t pc) {
    return find_op(machine, strand, barrier, false, pc);
}
