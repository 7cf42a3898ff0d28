/* Launches that a proof covers, found by trying: so that what it asks is not asked in vain, and so that a launch can be
 * made to try the proof. */
#include "check/prove/prove.h"

#include "machine/tile/compile/program.h"

static int64_t pick(uint64_t *seed, int64_t from, int64_t to) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return from + (int64_t)((*seed >> 33) % (uint64_t)(to - from + 1));
}

/* Whether one program along the axis is asked for. */
static bool is_pinned(const Proof *proof, unsigned axis) {
    for (uint32_t i = 0; i < proof->where_count; i++) {
        const Condition *condition = &proof->where[i];
        const Polynomial *of = condition->kind == CONDITION_EQUAL ? &proof->quantities.all[condition->a] : NULL;
        if (!of || condition->b != QUANTITY_ONE || of->count != 1 || of->terms[0].count != 1)
            continue;
        const QuantityAtom *atom = &proof->quantities.atoms[of->terms[0].atoms[0]];
        if (atom->kind == ATOM_PROGRAMS && atom->axis == axis)
            return true;
    }
    return false;
}

/* A size, a stride, a flag: numbers of many magnitudes, most of them multiples of others. */
static int64_t some_number(uint64_t *seed, int64_t most) {
    static const int64_t usual[] = {1, 1, 2, 3, 8, 16, 64, 100, 128, 256, 1000, 1024, 4096, 65536, 1 << 20};
    int64_t count = sizeof usual / sizeof *usual;
    while (count > 1 && usual[count - 1] > most)
        count--;
    return usual[pick(seed, 0, count - 1)];
}

static LaunchNumber some_argument(uint64_t *seed, int64_t most) {
    LaunchNumber argument = {.known = true, .value = some_number(seed, most), .rank = LAUNCH_MOST_DIMS};
    for (unsigned i = 0; i < LAUNCH_MOST_DIMS; i++)
        argument.shape[i] = pick(seed, 1, most < 700 ? most : 700);
    return argument;
}

/* Of a descriptor of that rank: as memory is laid out, the last dimension's elements side by side. */
static void lay_out(LaunchNumber *argument, unsigned rank) {
    int64_t stride = 1;
    argument->rank = (uint8_t)rank;
    for (unsigned i = rank; i-- > 0; stride *= argument->shape[i])
        argument->strides[i] = stride;
}

/* Dimensions of a descriptor that the proof asks about. */
static unsigned rank_of(const Proof *proof, uint32_t parameter) {
    unsigned rank = 0;
    for (uint32_t i = 0; i < proof->quantities.atom_count; i++) {
        const QuantityAtom *atom = &proof->quantities.atoms[i];
        if ((atom->kind == ATOM_SHAPE || atom->kind == ATOM_STRIDE) && atom->of == parameter && atom->axis >= rank)
            rank = atom->axis + 1u;
    }
    return rank;
}

/* What a precondition says that a CTA has along the axis; 0: nothing. */
static int64_t pinned_threads(const Proof *proof, unsigned axis) {
    int64_t value;
    for (uint32_t i = 0; i < proof->where_count; i++) {
        const Condition *condition = &proof->where[i];
        const Polynomial *of = condition->kind == CONDITION_EQUAL ? &proof->quantities.all[condition->a] : NULL;
        if (!of || of->count != 1 || of->terms[0].count != 1 || of->terms[0].factor != 1 ||
            !quantity_is_constant(&proof->quantities, condition->b, &value))
            continue;
        const QuantityAtom *atom = &proof->quantities.atoms[of->terms[0].atoms[0]];
        if (atom->kind == ATOM_THREADS && atom->axis == axis)
            return value;
    }
    return 0;
}

static bool asks_block(const Proof *proof) {
    for (uint32_t i = 0; i < proof->quantities.atom_count; i++)
        if (proof->quantities.atoms[i].kind == ATOM_THREADS)
            return true;
    return false;
}

/* Threads of a CTA: as they are usual, 1,024 at most. */
static void pick_block(const Proof *proof, uint64_t *seed, int64_t block[3]) {
    static const int64_t usual[] = {1, 2, 4, 7, 8, 16, 16, 32, 32, 33, 64, 96, 100, 128, 256, 512, 1024};
    int64_t left = 1024;
    for (unsigned axis = 0; axis < 3; axis++) {
        int64_t pinned = pinned_threads(proof, axis);
        block[axis] = pinned ? pinned : usual[pick(seed, 0, (int64_t)(sizeof usual / sizeof *usual) - 1)];
        if (!pinned && (block[axis] > left || (axis == 2 && block[axis] > 64)))
            block[axis] = 1;
        left = block[axis] ? left / block[axis] : left;
    }
}

void proof_some_launch(const Proof *proof, uint64_t *seed, int64_t most, LaunchNumber *room, LaunchNumbers *launch) {
    *launch = (LaunchNumbers){.arguments = room, .count = proof->name_count};
    for (unsigned axis = 0; axis < 3; axis++)
        launch->grid[axis] = is_pinned(proof, axis) ? 1 : pick(seed, 2, 6);
    if (asks_block(proof))
        pick_block(proof, seed, launch->block);
    for (uint32_t i = 0; i < proof->name_count; i++) {
        room[i] = some_argument(seed, most);
        lay_out(&room[i], rank_of(proof, i));
    }
}

bool proof_example(const Proof *proof, uint64_t *seed, int64_t most, bool covered, LaunchNumber *room,
                   LaunchNumbers *launch) {
    enum { TRIES = 4000 };
    for (unsigned n = 0; n < TRIES; n++) {
        proof_some_launch(proof, seed, most, room, launch);
        if (proof_covers_numbers(proof, launch, NULL) == covered)
            return true;
    }
    return false;
}

/* Of a parameter with that number. False: nothing can be made for it. */
static bool make_argument(Module *module, const Parameter *parameter, const LaunchNumber *number, Argument *argument) {
    enum { ELEMENTS_BITS = 33 }; /* so many that nothing is out of range */
    const Type *type = parameter->type, *element = type && type->element ? type_resolve(module, type->element) : NULL;
    *argument = (Argument){.name = str_of(parameter->name), .kind = ARGUMENT_INTEGER, .integer = number->value};
    if (!type || !*parameter->name)
        return false;
    bool descriptor = type_is_descriptor(type), pointer = type_is(type, STR("tt.ptr"));
    if (type->kind == TYPE_FLOAT) {
        argument->kind = ARGUMENT_FLOAT;
        argument->number = 1;
    }
    if (type->kind == TYPE_INTEGER && type->width == 1)
        argument->integer = number->value & 1;
    if (!descriptor && !pointer)
        return type->kind == TYPE_INTEGER || type->kind == TYPE_INDEX || type->kind == TYPE_FLOAT;
    element = element && element->element ? type_resolve(module, element->element) : element;
    argument->element_bits = element && element->width ? (uint16_t)(element->width < 8 ? 8 : element->width) : 32;
    argument->rank = 1;
    argument->shape[0] = INT64_C(1) << ELEMENTS_BITS;
    argument->strides[0] = 1;
    argument->kind = descriptor ? ARGUMENT_DESCRIPTOR : ARGUMENT_TENSOR;
    const Type *block = descriptor ? parameter_block(module, parameter) : NULL;
    if (!descriptor)
        return true;
    if (!block || !number->rank || number->rank != block->dim_count || number->rank > ARGUMENT_MOST_DIMS)
        return false;
    argument->rank = argument->block_rank = number->rank;
    for (unsigned i = 0; i < number->rank; i++) {
        argument->shape[i] = number->shape[i];
        argument->strides[i] = number->strides[i];
        argument->block[i] = block->dims[i];
    }
    return true;
}

bool proof_example_launch(Module *module, const Op *function, const Proof *proof, uint64_t *seed, Launch *launch,
                          Arena *arena) {
    uint32_t count;
    LaunchNumbers numbers;
    const Parameter *parameters = program_parameters(module, function, &count);
    LaunchNumber *room = ARENA_ARRAY(arena, LaunchNumber, proof->name_count + 1);
    if (!proof_example(proof, seed, INT64_MAX, true, room, &numbers))
        return false;
    *launch = (Launch){.grid = {numbers.grid[0], numbers.grid[1], numbers.grid[2]}};
    for (uint32_t i = 0; i < count && i < proof->name_count; i++) {
        if (parameters[i].descriptor >= 0) /* its descriptor has it */
            continue;
        Argument *argument = ARENA_PUSH(arena, launch->arguments, launch->count, launch->capacity);
        if (!make_argument(module, &parameters[i], &room[i], argument))
            return false;
    }
    return proof_covers(proof, launch, NULL);
}
