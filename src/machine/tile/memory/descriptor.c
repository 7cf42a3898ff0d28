/* Steps from one descriptor to the next. */
#include "machine/tile/memory/descriptor.h"

#include "ir/op.h"
#include "machine/tile/step/machine_internal.h"

bool descriptor_read_list(const Machine *machine, RegisterList list, const Word *words, int64_t *numbers) {
    memset(numbers, 0, 8 * sizeof *numbers);
    if (list.count > 8)
        return false;
    for (uint32_t i = 0; i < list.count; i++) {
        uint32_t reg = machine->program->lists[list.first + i];
        if (reg == NO_REGISTER || !word_is(words[reg], WORD_INTEGER))
            return false;
        numbers[i] = words[reg].bits;
    }
    return true;
}

bool descriptor_is_step(const Maker *maker) {
    return maker->op->row->describes.of.column != REF_NONE;
}

/* As in 32 bits: they wrap round. */
static int64_t plus(int64_t a, int64_t b) {
    return integer_wrap((int64_t)((uint64_t)a + (uint64_t)b), 32);
}

/* The address is moved, and the shape only if it is to say how much is left from there; a move backwards leaves
 * nothing. */
static void move(const int64_t *by, bool clamps, Descriptor *descriptor) {
    for (unsigned i = 0; i < descriptor->rank; i++) {
        descriptor->base = (int64_t)((uint64_t)descriptor->base + (uint64_t)by[i] * (uint64_t)descriptor->strides[i]);
        if (clamps)
            descriptor->shape[i] = by[i] < 0 || by[i] > descriptor->shape[i] ? 0 : descriptor->shape[i] - by[i];
    }
}

static const char *update(const Machine *machine, const Maker *maker, const Word *words, const int64_t *by,
                          Descriptor *descriptor) {
    int64_t bounds[8];
    if (!descriptor_read_list(machine, maker->bounds, words, bounds))
        return "the bounds of its descriptor are not known";
    if (maker->bounds.count && maker->bounds.count != descriptor->rank)
        return "its descriptor has no shape that fits its strides";
    move(by, op_attr_of(maker->op, maker->op->row->describes.clamps) != NULL, descriptor);
    if (maker->bounds.count)
        memcpy(descriptor->shape, bounds, sizeof bounds);
    if (!op_operand_of(maker->op, maker->op->row->describes.predicate))
        return NULL;
    if (maker->predicate == NO_REGISTER || !word_is(words[maker->predicate], WORD_INTEGER))
        return "the predicate of its descriptor is not known";
    descriptor->off = !(words[maker->predicate].bits & 1);
    return NULL;
}

const char *descriptor_step(const Machine *machine, const Maker *maker, const Word *words, Descriptor *descriptor) {
    Word from = maker->base == NO_REGISTER ? word_unknown(0) : words[maker->base];
    int64_t by[8];
    if (!word_is(from, WORD_DESCRIPTOR))
        return "its descriptor is not known";
    *descriptor = *machine_descriptor(machine, from.meta);
    descriptor->address = 0; /* a value of its own */
    if (descriptor->unknown)
        return descriptor->unknown;
    if (!descriptor_read_list(machine, maker->offsets, words, by))
        return "the offset of its descriptor is not known";
    if (maker->offsets.count && maker->offsets.count != descriptor->rank)
        return "its descriptor has no shape that fits its strides";
    if (op_describes(maker->op) == DESCRIBE_MOVED)
        return update(machine, maker, words, by, descriptor);
    for (unsigned i = 0; i < descriptor->rank; i++)
        descriptor->at[i] = plus(descriptor->at[i], by[i]);
    return NULL;
}
