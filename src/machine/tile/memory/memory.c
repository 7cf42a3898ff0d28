/* Global memory, as far as control depends on it: what the launch says it holds, what atomics leave there, and what is
 * not known and is chosen; and the tensor descriptors that lie in it. */
#include "ir/op.h"
#include "machine/tile/memory/descriptor.h"
#include "machine/tile/step/machine_internal.h"
#include "model/layout/share.h"
#include "model/number/tensor.h"

/* ---- Memory --------------------------------------------------------------------------------------- */

/* What the launch gives there. `zeros`: also where it says that memory is zero, which others may be about to change. */
static bool data_at(const Machine *machine, int64_t address, unsigned width, bool zeros, int64_t *value) {
    uint32_t index = 0;
    while (index < machine->program->parameter_count && machine->bases[index] >> AREA_SHIFT != address >> AREA_SHIFT)
        index++;
    if (index == machine->program->parameter_count)
        return false;
    const Argument *argument = machine_argument(machine->launch, machine->program->parameters[index].name);
    int64_t offset = address - machine->bases[index], bytes = width < 8 ? 1 : width / 8;
    if (!argument || offset < 0 || offset % bytes)
        return false;
    offset /= bytes;
    bool given = argument->data && (uint64_t)offset < argument->data_count;
    *value = given ? integer_wrap(argument->data[offset], width) : 0;
    return given || (zeros && argument->zero);
}

enum { MOST_GIVEN = 1 << 14 }; /* elements of a tensor that are looked up */
static const int64_t havoc_choice_values[] = {1, 0, 3, 300};
enum { HAVOC_CHOICE_VALUES = sizeof havoc_choice_values / sizeof *havoc_choice_values, MANY = 8, LARGE = 300 };

/* The first havoc choices have one number for all; of the others every second one has any small numbers. */
bool machine_havoc_choice_has_zeros(unsigned havoc_choice) {
    return havoc_choice < HAVOC_CHOICE_VALUES ? !havoc_choice_values[havoc_choice]
                                              : havoc_choice < MACHINE_LARGE_HAVOC_CHOICE && havoc_choice % 2 == 0;
}

int64_t memory_choose(Machine *machine, uint64_t identity, const Op *op) {
    if (!machine->loads_chosen++ && !machine->first_choice)
        machine->first_choice = op;
    if (machine->havoc_choice < HAVOC_CHOICE_VALUES)
        return havoc_choice_values[machine->havoc_choice];
    if (machine->havoc_choice >= MACHINE_LARGE_HAVOC_CHOICE)
        return LARGE + machine->havoc_choice - MACHINE_LARGE_HAVOC_CHOICE;
    int64_t number = (int64_t)(identity_mix(identity, machine->havoc_choice) >> 20 & 7);
    return number || machine_havoc_choice_has_zeros(machine->havoc_choice) ? number : MANY;
}

/* Other clusters may have counted before one that runs by itself: in the first havoc choice none has, nor where a
 * number is waited for. */
static AtomicCell *atomic_at(Machine *machine, int64_t address, const CompiledLoad *how) {
    for (uint32_t i = 0; i < machine->atomic_count; i++)
        if (machine->atomics[i].address == address)
            return &machine->atomics[i];
    int64_t value = 0;
    if (!data_at(machine, address, 32, false, &value) && how->atomic == ATOMIC_ADD && !machine->program->polls) {
        value = machine->havoc_choice ? memory_choose(machine, (uint64_t)address, how->op) : 0;
        machine->counted = true;
        machine->first_choice = machine->first_choice ? machine->first_choice : how->op;
    }
    AtomicCell *cell = ARENA_PUSH(machine->arena, machine->atomics, machine->atomic_count, machine->atomic_capacity);
    *cell = (AtomicCell){address, value, 0};
    return cell;
}

/* A CTA that looks at a place again and again waits for another CTA to count it up, or to set it to what a compare
 * expects. A cluster that runs by itself has no such: something has then been there. */
enum { SPIN_TIMEOUT = 16 };

static int64_t left_by_others(int64_t old, Word compare, const CompiledLoad *how) {
    bool compares = how->atomic == ATOMIC_CAS && word_is(compare, WORD_INTEGER);
    return compares ? compare.bits : integer_wrap(old + 1, how->width);
}

static void wait_for_others(Machine *machine, AtomicCell *cell, int64_t before, Word compare, const CompiledLoad *how) {
    cell->looks = cell->value == before ? cell->looks + 1 : 0;
    if (cell->looks < SPIN_TIMEOUT)
        return;
    if (!machine->loads_chosen++ && !machine->first_choice)
        machine->first_choice = how->op;
    cell->looks = 0;
    cell->value = left_by_others(before, compare, how);
}

/* What an atomic finds in a place that is not known. */
static int64_t choose_old(Machine *machine, uint64_t identity, Word compare, const CompiledLoad *how) {
    int64_t old = memory_choose(machine, identity, how->op);
    return machine->loads_chosen % SPIN_TIMEOUT ? old : left_by_others(old, compare, how);
}

/* Whether all elements of a tensor that is loaded are what the launch gives, or what stands for those that are masked
 * off. */
static bool load_given(const Machine *machine, const CompiledLoad *how, const Evaluation *shape, Word pointer,
                       Word mask, Word other, Word *word) {
    const Tensor *at = word_is(pointer, WORD_TENSOR) && pointer.tensor->known ? pointer.tensor : NULL;
    bool masked = word_is(mask, WORD_TENSOR), replaced = word_is(other, WORD_TENSOR);
    size_t size = at ? tensor_size(at) : 0;
    if (!size || size > MOST_GIVEN || at->rank != shape->rank ||
        memcmp(at->dims, shape->dims, at->rank * sizeof *at->dims) != 0 ||
        !(masked ? mask.tensor->known : word_is(mask, WORD_NOTHING) || word_is(mask, WORD_INTEGER)) ||
        !(replaced ? other.tensor->known : word_is(other, WORD_NOTHING) || word_is(other, WORD_INTEGER)))
        return false;
    int64_t *data = ARENA_ARRAY(machine->arena, int64_t, size), place[TENSOR_MOST_DIMS] = {0};
    for (size_t i = 0; i < size; i++) {
        bool on = masked ? tensor_at(mask.tensor, place) != 0 : !word_is(mask, WORD_INTEGER) || mask.bits;
        if (on && !data_at(machine, tensor_at(at, place), how->width, true, &data[i]))
            return false;
        if (!on)
            data[i] = replaced ? tensor_at(other.tensor, place) : word_is(other, WORD_INTEGER) ? other.bits : 0;
        for (unsigned k = at->rank; k-- > 0 && ++place[k] == at->dims[k];)
            place[k] = 0;
    }
    *word = tensor_repeating(shape, data, (const bool[TENSOR_MOST_DIMS]){false}, machine->arena);
    return true;
}

Word memory_load(Machine *machine, uint32_t agent, const CompiledLoad *how, Word pointer, Word operand, Word other) {
    uint64_t identity =
        identity_mix(0x10ad, pointer.kind == WORD_TENSOR ? pointer.tensor->identity : (uint64_t)pointer.bits);
    if (how->type && how->type->kind == TYPE_TENSOR) {
        Evaluation nothing = {
            .code = EVALUATE_NONE, .tensor = true, .width = (uint8_t)how->width, .identity = identity};
        for (; nothing.rank < how->type->dim_count && nothing.rank < TENSOR_MOST_DIMS; nothing.rank++)
            nothing.dims[nothing.rank] = how->type->dims[nothing.rank];
        Word given;
        if (how->untouched && load_given(machine, how, &nothing, pointer, operand, other, &given))
            return given;
        return evaluate(&nothing, &pointer, 1, machine->arena);
    }
    Word given;
    if (how->integer && machine->loads && loads_take(machine, agent, how->op, &given))
        return given;
    if (!how->integer || how->given)
        return word_unknown(identity);
    bool known = word_is(pointer, WORD_INTEGER);
    if (how->atomic != ATOMIC_NONE) {
        if (!known || !word_is(operand, WORD_INTEGER) || how->atomic > ATOMIC_CAS)
            return word_integer(choose_old(machine, identity, other, how));
        AtomicCell *cell = atomic_at(machine, pointer.bits, how);
        int64_t old = cell->value;
        if (how->atomic == ATOMIC_ADD)
            cell->value = integer_wrap((int64_t)((uint64_t)old + (uint64_t)operand.bits), how->width);
        else if (how->atomic == ATOMIC_EXCHANGE || (word_is(other, WORD_INTEGER) && other.bits == old))
            cell->value = operand.bits;
        wait_for_others(machine, cell, old, other, how);
        return word_integer(old);
    }
    int64_t value;
    if (word_is(operand, WORD_INTEGER) && !operand.bits) /* masked off */
        return word_is(other, WORD_NOTHING) ? word_integer(0) : other;
    for (uint32_t i = 0; known && i < machine->atomic_count; i++)
        if (machine->atomics[i].address == pointer.bits)
            return word_integer(machine->atomics[i].value);
    if (known && data_at(machine, pointer.bits, how->width, false, &value))
        return word_integer(value);
    return word_integer(integer_wrap(memory_choose(machine, identity, how->op), how->width));
}

/* ---- Descriptors ---------------------------------------------------------------------------------- */

/* Bits in memory of an element of what a descriptor of that type describes; 0 if the type does not say. */
static uint16_t element_bits(const Machine *machine, const Type *type) {
    Module *module = machine->program->module;
    for (type = type_resolve(module, type); type && type->element;)
        type = type_resolve(module, type->element);
    if (!type || (type->kind != TYPE_INTEGER && type->kind != TYPE_FLOAT))
        return 0;
    return type->width < 8 ? 8 : type->width;
}

Descriptor memory_launched_descriptor(const Machine *machine, uint32_t parameter, const Argument *argument) {
    Descriptor descriptor = {.base = machine->bases[parameter],
                             .element_bits = element_bits(machine, machine->program->parameters[parameter].type)};
    if (!argument || argument->kind != ARGUMENT_DESCRIPTOR || !descriptor.element_bits) {
        descriptor.unknown = "the launch does not say what its descriptor describes";
        return descriptor;
    }
    descriptor.rank = argument->rank;
    for (unsigned k = 0; k < argument->rank; k++) {
        descriptor.shape[k] = argument->shape[k];
        descriptor.strides[k] = (int64_t)((uint64_t)argument->strides[k] * (descriptor.element_bits / 8));
    }
    return descriptor;
}

/* The numbers of a map's element types are those of PTX's tensormap.replace; 0: not known. */
static uint16_t map_element_bits(const Op *op) {
    static const uint8_t bits[] = {8, 16, 32, 32, 64, 64, 16, 32, 32, 64, 16, 32, 32, 4, 4};
    const Attr *type = op_attr_of(op, op->row->describes.element);
    bool known = type && type->kind == ATTR_INTEGER && type->integer >= 0 && type->integer < (int64_t)sizeof bits;
    return known ? bits[type->integer] : 0;
}

/* A map in the hardware's own form: its strides are bytes without that of the innermost dimension, and that comes
 * first. */
static const char *read_map(const Maker *maker, const int64_t *shape, const int64_t *strides, Descriptor *descriptor) {
    uint32_t steps;
    Value **step = op_operands_of(maker->op, maker->op->row->describes.steps, &steps);
    descriptor->element_bits = map_element_bits(maker->op);
    if (!descriptor->element_bits)
        return "the element type of its descriptor is not known";
    int64_t size;
    for (uint32_t i = 0; i < steps; i++)
        if (!value_constant(step[i], &size) || size != 1)
            return "its descriptor may skip elements";
    bool halves = descriptor->element_bits < 8;
    for (unsigned i = 0; i < descriptor->rank; i++) {
        unsigned to = descriptor->rank - 1u - i;
        descriptor->shape[to] = halves && i == 0 ? shape[i] / 2 : shape[i];
        descriptor->strides[to] = i ? strides[i - 1] : halves ? 1 : descriptor->element_bits / 8;
    }
    return NULL;
}

/* What the operands of its maker say; a reason if they do not. */
static const char *read_maker(const Machine *machine, const Maker *maker, const Word *words, Descriptor *descriptor) {
    bool map = op_describes(maker->op) == DESCRIBE_MAP;
    int64_t shape[8], strides[8];
    if (maker->shape.count > 8 || maker->strides.count + map != maker->shape.count)
        return "its descriptor has no shape that fits its strides";
    if (!descriptor_read_list(machine, maker->shape, words, shape) ||
        !descriptor_read_list(machine, maker->strides, words, strides))
        return "the shape or the strides of its descriptor are not known";
    if (maker->base == NO_REGISTER || !word_is(words[maker->base], WORD_INTEGER))
        return "the address of its descriptor's memory is not known";
    descriptor->base = words[maker->base].bits;
    if (map)
        return read_map(maker, shape, strides, descriptor);
    descriptor->element_bits = element_bits(machine, maker->op->results[0].type);
    if (!descriptor_read_list(machine, maker->offsets, words, descriptor->at))
        return "the start of its block is not known";
    for (unsigned i = 0; i < descriptor->rank; i++) {
        descriptor->shape[i] = shape[i];
        descriptor->strides[i] = (int64_t)((uint64_t)strides[i] * (descriptor->element_bits / 8));
    }
    return descriptor->element_bits ? NULL : "the element type of its descriptor is not known";
}

static bool same_descriptor(const Descriptor *a, const Descriptor *b) {
    return a->rank == b->rank && a->base == b->base && a->element_bits == b->element_bits && a->boxed == b->boxed &&
           a->box_rank == b->box_rank && a->unknown == b->unknown && a->address == b->address &&
           memcmp(a->shape, b->shape, sizeof a->shape) == 0 && memcmp(a->strides, b->strides, sizeof a->strides) == 0 &&
           memcmp(a->box, b->box, sizeof a->box) == 0 && memcmp(a->at, b->at, sizeof a->at) == 0 && a->off == b->off;
}

/* The index of a descriptor that lives as long as the run: older values of its maker may still be in use. One that lies
 * in memory takes the place of what lay there. Any other is looked for among the last ones alone: a loop may make a new
 * one each time round. */
static uint32_t keep_descriptor(Machine *machine, const Descriptor *descriptor) {
    enum { LATEST = 64 };
    uint32_t first = !descriptor->address && machine->made_count > LATEST ? machine->made_count - LATEST : 0;
    for (uint32_t i = machine->made_count; i-- > first;) {
        Descriptor *made = &machine->made[i];
        bool in_place = descriptor->address && made->address == descriptor->address;
        if (!in_place && !same_descriptor(made, descriptor))
            continue;
        *made = *descriptor;
        return machine->descriptor_count + i;
    }
    *ARENA_PUSH(machine->arena, machine->made, machine->made_count, machine->made_capacity) = *descriptor;
    return machine->descriptor_count + machine->made_count - 1;
}

/* The box of the map that it makes. One of elements of 4 bits is told in the bytes that the copy moves: a barrier
 * counts those of packed elements, padded in shared memory or not. */
static void read_box(const Machine *machine, const Maker *maker, const Word *words, Descriptor *descriptor) {
    descriptor->boxed = maker->box.count > 0 && maker->box.count <= 8;
    descriptor->box_rank = (uint8_t)(descriptor->boxed ? maker->box.count : 0);
    for (uint32_t i = 0; i < descriptor->box_rank; i++) {
        uint32_t reg = machine->program->lists[maker->box.first + i];
        Word size = reg == NO_REGISTER ? word_unknown(0) : words[reg];
        descriptor->boxed &= word_is(size, WORD_INTEGER) && size.bits > 0;
        descriptor->box[i] = size.bits;
    }
    if (descriptor->boxed && map_element_bits(maker->op) == 4)
        descriptor->box[0] = descriptor->box[0] / 2 + descriptor->box[0] % 2;
}

void memory_make_descriptor(Machine *machine, uint32_t agent, const Instruction *instruction) {
    const Program *program = machine->program;
    const Maker *maker = &program->makers[instruction->aux];
    Word *words = machine_words(machine, agent);
    uint32_t index = program->parameter_count + instruction->aux * machine->agent_count + agent;
    Descriptor made = {.rank = (uint8_t)(maker->shape.count > 8 ? 8 : maker->shape.count)};
    read_box(machine, maker, words, &made);
    if (maker->pointer != NO_REGISTER && word_is(words[maker->pointer], WORD_INTEGER))
        made.address = words[maker->pointer].bits;
    if (program->global) {
        made.unknown = descriptor_is_step(maker) ? descriptor_step(machine, maker, words, &made)
                                                 : read_maker(machine, maker, words, &made);
        index = keep_descriptor(machine, &made);
    } else {
        machine->descriptors[index] = made;
    }
    if (instruction->dst != NO_REGISTER)
        words[instruction->dst] = (Word){.kind = WORD_DESCRIPTOR, .meta = index};
}

Word memory_descriptor_at(const Machine *machine, Word pointer) {
    for (uint32_t i = machine->program->parameter_count;
         word_is(pointer, WORD_INTEGER) && i < machine->descriptor_count + machine->made_count; i++)
        if (machine_descriptor(machine, i)->address == pointer.bits && pointer.bits)
            return (Word){.kind = WORD_DESCRIPTOR, .meta = i};
    return word_unknown(0xdec);
}

/* The sizes of what one CTA has of a tile, the outermost dimension first; false if that cannot be decided. */
static bool part_sizes(const Program *program, const Type *tile, int64_t *sizes) {
    const Share *share = program->ctas > 1 ? share_of(program->module, tile) : NULL;
    if (tile->dim_count > CTAS_RANK || (program->ctas > 1 && (!share || !share->known || !share->boxes)))
        return false;
    for (unsigned i = 0; i < tile->dim_count; i++)
        sizes[i] = tile->dims[i];
    if (!share)
        return true;
    int64_t begin[CTAS_RANK], end[CTAS_RANK];
    share_box(share, 0, begin, end);
    for (unsigned i = 0, outer = tile->dim_count - share->rank; i < share->rank; i++)
        sizes[outer + i] = end[i] - begin[i];
    return true;
}

/* What a copy through the descriptor delivers: as many boxes as cover a CTA's part of the tile; -1 if that cannot be
 * decided.
 */
int64_t memory_bytes_delivered(const Machine *machine, const CompiledEffect *effect, const Word *words) {
    Word word = effect->boxes == NO_REGISTER ? word_unknown(0) : words[effect->boxes];
    if (!word_is(word, WORD_DESCRIPTOR) || !machine_descriptor(machine, word.meta)->boxed || !effect->effect.amount)
        return effect->bytes;
    const Descriptor *descriptor = machine_descriptor(machine, word.meta);
    const Type *tile = type_resolve(machine->program->module, effect->effect.amount->type);
    int64_t elements = 1, tile_elements = 1, bytes, sizes[CTAS_RANK];
    if (!part_sizes(machine->program, tile, sizes))
        return -1;
    for (unsigned i = 0; i < descriptor->box_rank; i++) { /* the box's innermost dimension comes first */
        int64_t size = i < tile->dim_count ? sizes[tile->dim_count - 1 - i] : 1, box = descriptor->box[i], whole;
        if (size <= 0 || __builtin_mul_overflow(box, size / box + (size % box != 0), &whole) ||
            __builtin_mul_overflow(elements, whole, &elements) ||
            __builtin_mul_overflow(tile_elements, size, &tile_elements))
            return -1;
    }
    return __builtin_mul_overflow(effect->bytes / tile_elements, elements, &bytes) ? -1 : bytes;
}
