/* Global memory, as far as control depends on it: what the launch says it holds, what atomics leave there, and what
 * nobody knows and is chosen; and the tensor descriptors that lie in it. */
#include "emulate/machine_internal.h"

/* ---- Memory --------------------------------------------------------------------------------------- */

static bool data_at(const Machine *machine, int64_t address, unsigned width, int64_t *value) {
    int64_t index = address >> PARAMETER_SHIFT;
    if (index < 1 || index > (int64_t)machine->program->parameter_count)
        return false;
    const Argument *argument = machine_argument(machine->launch, machine->program->parameters[index - 1].name);
    int64_t offset = address - (index << PARAMETER_SHIFT);
    if (!argument || !argument->data || offset % (width / 8))
        return false;
    offset /= width / 8;
    if (offset < 0 || (uint64_t)offset >= argument->data_count)
        return false;
    *value = integer_wrap(argument->data[offset], width);
    return true;
}

/* An integer in memory that nobody described: the same for every agent, different from world to world. */
static int64_t chosen_data(Machine *machine, uint64_t identity, const Op *op) {
    static const int64_t values[] = {1, 0, 3, 300};
    if (!machine->loads_chosen++ && !machine->first_choice)
        machine->first_choice = op;
    if (machine->world < sizeof values / sizeof *values)
        return values[machine->world];
    return (int64_t)(identity_mix(identity, machine->world) >> 20 & 7);
}

static AtomicCell *atomic_at(Machine *machine, int64_t address) {
    for (uint32_t i = 0; i < machine->atomic_count; i++)
        if (machine->atomics[i].address == address)
            return &machine->atomics[i];
    if (machine->atomic_count == machine->atomic_capacity) {
        uint32_t capacity = machine->atomic_capacity ? machine->atomic_capacity * 2 : 64;
        AtomicCell *atomics = ARENA_ARRAY(machine->arena, AtomicCell, capacity);
        if (machine->atomic_count)
            memcpy(atomics, machine->atomics, machine->atomic_count * sizeof *atomics);
        machine->atomics = atomics;
        machine->atomic_capacity = capacity;
    }
    int64_t value = 0;
    (void)data_at(machine, address, 32, &value);
    machine->atomics[machine->atomic_count] = (AtomicCell){address, value};
    return &machine->atomics[machine->atomic_count++];
}

Word memory_load(Machine *machine, const CompiledLoad *how, Word pointer, Word operand, Word other) {
    uint64_t identity =
        identity_mix(0x10ad, pointer.kind == WORD_TENSOR ? pointer.tensor->identity : (uint64_t)pointer.bits);
    if (how->type && how->type->kind == TYPE_TENSOR) {
        Evaluation nothing = {.code = EVALUATE_NONE,
                              .tensor = true,
                              .rank = (uint8_t)how->type->dim_count,
                              .width = (uint8_t)how->width,
                              .identity = identity};
        for (uint32_t i = 0; i < how->type->dim_count && i < TENSOR_MOST_DIMS; i++)
            nothing.dims[i] = how->type->dims[i];
        return evaluate(&nothing, &pointer, 1, machine->arena);
    }
    if (!how->integer)
        return word_unknown(identity);
    bool known = word_is(pointer, WORD_INTEGER);
    if (how->atomic != ATOMIC_NONE) {
        if (!known || !word_is(operand, WORD_INTEGER) || how->atomic == ATOMIC_OTHER)
            return word_integer(chosen_data(machine, identity, how->op));
        AtomicCell *cell = atomic_at(machine, pointer.bits);
        int64_t old = cell->value;
        if (how->atomic == ATOMIC_ADD)
            cell->value = integer_wrap((int64_t)((uint64_t)old + (uint64_t)operand.bits), how->width);
        else if (how->atomic == ATOMIC_EXCHANGE || (word_is(other, WORD_INTEGER) && other.bits == old))
            cell->value = operand.bits;
        return word_integer(old);
    }
    int64_t value;
    if (word_is(operand, WORD_INTEGER) && !operand.bits) /* masked off */
        return word_is(other, WORD_NOTHING) ? word_integer(0) : other;
    for (uint32_t i = 0; known && i < machine->atomic_count; i++)
        if (machine->atomics[i].address == pointer.bits)
            return word_integer(machine->atomics[i].value);
    if (known && data_at(machine, pointer.bits, how->width, &value))
        return word_integer(value);
    return word_integer(integer_wrap(chosen_data(machine, identity, how->op), how->width));
}

/* ---- Descriptors ---------------------------------------------------------------------------------- */

void memory_make_descriptor(Machine *machine, uint32_t agent, const Instruction *instruction) {
    const Program *program = machine->program;
    const Maker *maker = &program->makers[instruction->aux];
    Word *words = machine_words(machine, agent);
    uint32_t index = program->parameter_count + instruction->aux * machine->agent_count + agent;
    Descriptor *descriptor = &machine->descriptors[index];
    *descriptor = (Descriptor){.rank = (uint8_t)(maker->rank > 8 ? 8 : maker->rank)};
    descriptor->boxed = maker->box_count > 0 && maker->box_count <= 8;
    descriptor->box_rank = (uint8_t)(descriptor->boxed ? maker->box_count : 0);
    for (uint32_t i = 0; i < descriptor->box_rank; i++) {
        uint32_t reg = program->lists[maker->box + i];
        Word size = reg == NO_REGISTER ? word_unknown(0) : words[reg];
        descriptor->boxed &= word_is(size, WORD_INTEGER) && size.bits > 0;
        descriptor->box[i] = size.bits;
    }
    if (maker->pointer != NO_REGISTER && word_is(words[maker->pointer], WORD_INTEGER))
        descriptor->address = words[maker->pointer].bits;
    if (instruction->dst != NO_REGISTER)
        words[instruction->dst] = (Word){.kind = WORD_DESCRIPTOR, .meta = index};
}

Word memory_descriptor_at(const Machine *machine, Word pointer) {
    for (uint32_t i = machine->program->parameter_count;
         word_is(pointer, WORD_INTEGER) && i < machine->descriptor_count; i++)
        if (machine->descriptors[i].address == pointer.bits && pointer.bits)
            return (Word){.kind = WORD_DESCRIPTOR, .meta = i};
    return word_unknown(0xdec);
}

/* What a copy through the descriptor delivers: as many boxes as cover the tile. */
int64_t memory_bytes_delivered(const Machine *machine, const CompiledEffect *effect, const Word *words) {
    Word word = effect->descriptor == NO_REGISTER ? word_unknown(0) : words[effect->descriptor];
    if (!word_is(word, WORD_DESCRIPTOR) || !machine->descriptors[word.meta].boxed || !effect->effect.amount)
        return effect->bytes;
    const Descriptor *descriptor = &machine->descriptors[word.meta];
    const Type *tile = type_resolve(machine->program->module, effect->effect.amount->type);
    int64_t elements = 1, tile_elements = 1;
    for (unsigned i = 0; i < descriptor->box_rank; i++) { /* the box's innermost dimension comes first */
        int64_t size = i < tile->dim_count ? tile->dims[tile->dim_count - 1 - i] : 1;
        elements *= descriptor->box[i] * ((size + descriptor->box[i] - 1) / descriptor->box[i]);
        tile_elements *= size;
    }
    return tile_elements > 0 ? effect->bytes / tile_elements * elements : effect->bytes;
}
