/* Accesses to global memory that is kept: loads, stores, atomics and polls, element by element, on scalars and tensors.
 *
 * Integers are moved as they are. Of anything else, and where an operand is not known, identities are moved. A copy
 * that moves no registers (a TMA store, a copy from shared memory) leaves data that is not known. */
#include "machine/tile/memory/access.h"
#include "machine/tile/memory/pieces.h"
#include "machine/tile/step/global_memory.h"
#include "machine/tile/step/machine_internal.h"
#include "model/number/tensor.h"

enum { BYTES_PER_STEP = 128 }; /* of what is written: a copy takes its time, too */

/* ---- Going through the elements ------------------------------------------------------------------- */

/* An operand: a scalar is the same for every element. */
typedef struct TransferLane {
    bool known;
    int64_t scalar;
    const int64_t *data; /* NULL: `scalar`, or `at` itself is the element: */
    bool even;
    int64_t strides[TENSOR_MOST_DIMS];
    int64_t at;
    uint64_t identity; /* of what is not known */
    bool one;          /* it is a scalar */
} TransferLane;

enum { LANE_PLACE, LANE_MASK, LANE_VALUE, LANE_COMPARE, LANE_OTHER, LANES };

typedef struct TransferWalk {
    const Transfer *how;
    unsigned rank;
    int64_t dims[TENSOR_MOST_DIMS], sizes[TENSOR_MOST_DIMS], at[TENSOR_MOST_DIMS];
    bool repeats[TENSOR_MOST_DIMS];
    size_t count, done;
    int64_t base, scale; /* an element lies at base + scale * its place */
    TransferLane lanes[LANES];
    unsigned moving[LANES], moving_count; /* those that have data */
} TransferWalk;

static TransferLane lane_of(const Word *words, uint32_t reg, const Tensor *shape) {
    Word word = reg == NO_REGISTER ? (Word){.kind = WORD_NOTHING} : words[reg];
    if (word_is(word, WORD_INTEGER))
        return (TransferLane){.known = true, .scalar = word.bits, .identity = word_identity(word), .one = true};
    TransferLane lane = {.identity = word_is(word, WORD_UNKNOWN) ? (uint64_t)word.bits : word_identity(word),
                         .one = !word_is(word, WORD_TENSOR)};
    if (lane.one || !word.tensor->known || !shape || word.tensor->rank != shape->rank ||
        memcmp(word.tensor->dims, shape->dims, shape->rank * sizeof *shape->dims) != 0)
        return lane;
    lane.known = true;
    lane.even = word.tensor->even;
    lane.data = lane.even ? NULL : word.tensor->data;
    lane.at = lane.even ? word.tensor->base : 0;
    memcpy(lane.strides, lane.even ? word.tensor->steps : word.tensor->strides, sizeof lane.strides);
    return lane;
}

/* Of data that is not known, and the same in each program of the launch. */
static uint64_t alike_identity(const Machine *machine, const CompiledEffect *effect) {
    return identity_mix(0xa11ce + (uint64_t)machine->number, (uint64_t)(effect - machine->program->effects));
}

static bool lane_moves(const TransferLane *lane) {
    return lane->data || lane->even;
}

/* False if there are more elements than are gone through. Loads and stores need not do the same twice. */
static bool count_elements(TransferWalk *walk, bool each) {
    walk->count = 1;
    for (unsigned i = 0; i < walk->rank; i++) {
        walk->repeats[i] = !each;
        for (unsigned k = 0; k < LANES; k++)
            walk->repeats[i] &= !lane_moves(&walk->lanes[k]) || !walk->lanes[k].strides[i];
        walk->sizes[i] = walk->repeats[i] && walk->dims[i] ? 1 : walk->dims[i];
        if (__builtin_mul_overflow(walk->count, (size_t)walk->sizes[i], &walk->count) ||
            walk->count > TENSOR_MOST_ELEMENTS)
            return false;
    }
    return true;
}

/* Bytes of what the pointer points to, for offsets that count elements. */
static int64_t scale_of(const Machine *machine, const CompiledEffect *effect) {
    Module *module = machine->program->module;
    const Type *type = type_resolve(module, effect->type);
    type = type && type->element ? type_resolve(module, type->element) : NULL;
    return type && (type->kind == TYPE_INTEGER || type->kind == TYPE_FLOAT) ? (type->width + 7) / 8 : 0;
}

/* False if where the elements lie is not known. */
static bool walk_start(TransferWalk *walk, const Machine *machine, uint32_t agent, const CompiledEffect *effect) {
    const Word *words = machine_words(machine, agent);
    const Transfer *how = &machine->program->transfers[effect->transfer];
    uint32_t places = effect->offsets == NO_REGISTER ? effect->on : effect->offsets;
    if (places == NO_REGISTER || effect->on == NO_REGISTER)
        return false;
    const Tensor *shape = word_is(words[places], WORD_TENSOR) ? words[places].tensor : NULL;
    *walk = (TransferWalk){.how = how, .rank = shape ? shape->rank : 0, .base = effect->effect.offset, .scale = 1};
    if (shape)
        memcpy(walk->dims, shape->dims, sizeof walk->dims);
    const uint32_t registers[LANES] = {places, effect->mask, how->value, how->compare, how->other};
    for (unsigned i = 0; i < LANES; i++) {
        walk->lanes[i] = lane_of(words, registers[i], shape);
        if (lane_moves(&walk->lanes[i]))
            walk->moving[walk->moving_count++] = i;
    }
    if (effect->alike && !how->followed)
        walk->lanes[LANE_VALUE].identity = alike_identity(machine, effect);
    if (!effect->effect.mask)
        walk->lanes[LANE_MASK] = (TransferLane){.known = true, .scalar = 1, .one = true};
    if (effect->offsets != NO_REGISTER) {
        if (!word_is(words[effect->on], WORD_INTEGER))
            return false;
        walk->base = (int64_t)((uint64_t)walk->base + (uint64_t)words[effect->on].bits);
        walk->scale = scale_of(machine, effect);
    }
    return walk->lanes[LANE_PLACE].known && walk->scale && count_elements(walk, effect->effect.verb == EFFECT_UPDATE);
}

static inline int64_t lane_number(const TransferLane *lane) {
    return lane->data ? lane->data[lane->at] : lane->even ? lane->at : lane->scalar;
}

static inline int64_t address_of(const TransferWalk *walk) {
    return (int64_t)((uint64_t)walk->base + (uint64_t)walk->scale * (uint64_t)lane_number(&walk->lanes[LANE_PLACE]));
}

/* The element of an operand as it is moved. */
static inline Word lane_word(const TransferWalk *walk, unsigned which) {
    const TransferLane *lane = &walk->lanes[which];
    if (lane->known && walk->how->integer)
        return word_integer(integer_wrap(lane_number(lane), walk->how->width));
    return word_unknown(lane->one ? lane->identity : identity_mix(lane->identity, walk->done));
}

static inline void walk_on(TransferWalk *walk) {
    walk->done++;
    for (unsigned i = walk->rank; i-- > 0;) {
        bool over = ++walk->at[i] >= walk->sizes[i];
        int64_t by = over ? 1 - walk->sizes[i] : 1;
        for (unsigned k = 0; k < walk->moving_count; k++) {
            TransferLane *lane = &walk->lanes[walk->moving[k]];
            lane->at += by * lane->strides[i];
        }
        if (!over)
            return;
        walk->at[i] = 0;
    }
}

/* The same from the start of a row of the last dimension to the next row. */
static void walk_over_row(TransferWalk *walk) {
    unsigned last = walk->rank - 1;
    int64_t by = walk->sizes[last] - 1;
    walk->done += (size_t)by;
    walk->at[last] = by;
    for (unsigned k = 0; k < walk->moving_count; k++)
        walk->lanes[walk->moving[k]].at += by * walk->lanes[walk->moving[k]].strides[last];
    walk_on(walk);
}

/* ---- Results -------------------------------------------------------------------------------------- */

/* What the elements gave, until it is one word. */
typedef struct TransferFound {
    int64_t *data; /* of a tensor */
    Word last;
    bool known, stored;
    uint64_t identity;
} TransferFound;

static TransferFound found_start(const Machine *machine, const TransferWalk *walk) {
    bool tensor = walk->rank && walk->how->result != NO_REGISTER && walk->how->integer;
    return (TransferFound){.data = tensor ? arena_alloc(machine->arena, (walk->count + 1) * sizeof(int64_t)) : NULL,
                           .known = true,
                           .identity = 0x6f0d,
                           .last = word_integer(0)};
}

static inline void found_add(TransferFound *found, const TransferWalk *walk, Word word) {
    found->last = word;
    found->known &= word_is(word, WORD_INTEGER);
    found->identity = identity_mix(found->identity, (uint64_t)word.bits);
    if (found->data)
        found->data[walk->done] = word.bits;
}

/* The width of the result in its register: of a boolean it is 1. */
static unsigned result_width(const Machine *machine, const Transfer *how) {
    const Type *type = type_resolve(machine->program->module, how->type);
    if (type && type->kind == TYPE_TENSOR && type->element)
        type = type_resolve(machine->program->module, type->element);
    return type && type->kind == TYPE_INTEGER && type->width < how->width ? type->width : how->width;
}

static Word found_word(Machine *machine, const TransferWalk *walk, const TransferFound *found) {
    unsigned width = result_width(machine, walk->how);
    if (!walk->rank) {
        if (word_is(found->last, WORD_INTEGER))
            return word_integer(integer_wrap(found->last.bits, width));
        return found->last;
    }
    Evaluation shape = {.tensor = true, .rank = (uint8_t)walk->rank, .width = (uint8_t)width};
    memcpy(shape.dims, walk->dims, sizeof shape.dims);
    if (!found->known || !found->data || !walk->count)
        return tensor_unknown(&shape, found->identity, machine->arena);
    for (size_t i = 0; i < walk->count && width < 8; i++)
        found->data[i] = integer_wrap(found->data[i], width);
    return tensor_repeating(&shape, found->data, walk->repeats, machine->arena);
}

/* ---- One element ---------------------------------------------------------------------------------- */

/* 1: it is touched, 0: masked off, -1: not known. */
static inline int is_touched(const TransferWalk *walk) {
    const TransferLane *mask = &walk->lanes[LANE_MASK];
    return mask->known ? lane_number(mask) != 0 : -1;
}

static void load_element(Machine *machine, const TransferWalk *walk, TransferFound *found) {
    int touched = is_touched(walk);
    bool other = walk->how->other != NO_REGISTER;
    Word word = touched ? global_read(machine->memory, address_of(walk), walk->how->width)
                : other ? lane_word(walk, LANE_OTHER)
                        : word_integer(0);
    if (word_is(word, WORD_INTEGER) && (touched < 0 || !walk->how->integer))
        word = word_unknown(identity_mix(walk->how->width, (uint64_t)word.bits));
    found_add(found, walk, word);
}

static void store_element(Machine *machine, const TransferWalk *walk, bool alike) {
    int touched = is_touched(walk);
    Word word = lane_word(walk, LANE_VALUE);
    if (touched < 0 && !alike)
        word = word_unknown(identity_mix(machine->serial, walk->done));
    if (touched)
        global_write(machine->memory, address_of(walk), walk->how->width, word);
}

/* What an atomic leaves. */
static int64_t combine(const Transfer *how, int64_t old, int64_t by) {
    uint64_t unsigned_old = integer_unsigned(old, how->width), unsigned_by = integer_unsigned(by, how->width);
    switch (how->atomic) {
    case ATOMIC_ADD:
        return (int64_t)((uint64_t)old + (uint64_t)by * how->times);
    case ATOMIC_AND:
        return old & by;
    case ATOMIC_OR:
        return old | by;
    case ATOMIC_XOR:
        return how->times % 2 ? old ^ by : old;
    case ATOMIC_MAXIMUM:
        return old > by ? old : by;
    case ATOMIC_MINIMUM:
        return old < by ? old : by;
    case ATOMIC_MAXIMUM_UNSIGNED:
        return unsigned_old > unsigned_by ? old : by;
    case ATOMIC_MINIMUM_UNSIGNED:
        return unsigned_old < unsigned_by ? old : by;
    case ATOMIC_INCREMENT:
        return unsigned_old >= unsigned_by ? 0 : old + 1;
    case ATOMIC_DECREMENT:
        return !old || unsigned_old > unsigned_by ? by : old - 1;
    default:
        return by; /* exchanges, and compares that succeed */
    }
}

static void update_element(Machine *machine, const TransferWalk *walk, const Op *op, TransferFound *found) {
    const Transfer *how = walk->how;
    int touched = is_touched(walk);
    if (!touched) {
        found_add(found, walk, word_integer(0));
        return;
    }
    int64_t address = address_of(walk);
    Word old = global_read(machine->memory, address, how->width), by = lane_word(walk, LANE_VALUE);
    Word compare = lane_word(walk, LANE_COMPARE);
    if (!walk->rank && how->integer && word_is(old, WORD_UNKNOWN)) { /* a counter, or a lock, that is not described */
        if (!machine->loads_chosen++ && !machine->first_choice)
            machine->first_choice = op;
        old = word_integer(0);
    }
    bool known = how->integer && word_is(old, WORD_INTEGER) && touched > 0;
    bool compares = how->atomic == ATOMIC_CAS;
    bool settled = known && word_is(by, WORD_INTEGER) && how->atomic != ATOMIC_OTHER;
    if (compares)
        settled = known && word_is(compare, WORD_INTEGER);
    if (how->atomic == ATOMIC_EXCHANGE)
        settled = touched > 0;
    found_add(found, walk, how->integer ? old : word_unknown((uint64_t)old.bits));
    if (compares && settled && compare.bits != old.bits)
        return;
    Word word = word_unknown(identity_mix(identity_mix((uint64_t)old.bits, (uint64_t)by.bits), how->atomic));
    if (settled)
        word = compares || how->atomic == ATOMIC_EXCHANGE
                   ? by
                   : word_integer(integer_wrap(combine(how, old.bits, by.bits), how->width));
    global_write(machine->memory, address, how->width, word);
    found->stored = true;
}

/* ---- Accesses ------------------------------------------------------------------------------------- */

/* All bytes of the access are written with data that is not known. */
static void write_unknown(Machine *machine, const Event *event) {
    Bytes bytes;
    const char *reason;
    if (!access_ranges(machine, event, machine->arena, &bytes, &reason))
        return;
    uint64_t identity = event->effect->alike ? alike_identity(machine, event->effect)
                                             : identity_mix(identity_mix(machine->serial, event->agent),
                                                            identity_mix(event->pc, machine->used));
    for (uint32_t i = 0; i < bytes.count; i++) {
        global_write_unknown(machine->memory, bytes.runs[i].begin, bytes.runs[i].end, identity_mix(identity, i));
        machine->used += (uint64_t)(bytes.runs[i].end - bytes.runs[i].begin) / BYTES_PER_STEP;
    }
}

/* Whether a tensor is stored of which nothing is known, nor compares it with what others store: its bytes are
 * enough. */
static bool is_vague(const TransferWalk *walk) {
    const TransferLane *value = &walk->lanes[LANE_VALUE];
    return walk->rank && !value->one && !(value->known && walk->how->integer) && !walk->how->followed &&
           walk->lanes[LANE_MASK].known;
}

/* What a scalar gave, where it must be known. */
static Word settle(Machine *machine, const Transfer *how, Word word, Word pointer, const Op *op) {
    if (!how->steers || !how->integer || !word_is(word, WORD_UNKNOWN))
        return word;
    uint64_t identity = identity_mix(0x10ad, (uint64_t)pointer.bits);
    return word_integer(integer_wrap(memory_choose(machine, identity, op), result_width(machine, how)));
}

static void give_result(Machine *machine, const Event *event, const Transfer *how, Word word) {
    const Op *op = machine->program->ops[event->pc];
    if (!word_is(word, WORD_TENSOR) && how->integer && machine->kept)
        loads_note(machine->kept, event->agent, op, word);
    if (how->result != NO_REGISTER)
        machine_words(machine, event->agent)[how->result] = word;
}

static bool cluster_is_split(const Machine *machine) {
    return machine->program->ctas > 1 && !machine->program->ranks_are_programs;
}

static bool is_split_atomic(const Machine *machine, const CompiledEffect *effect) {
    return cluster_is_split(machine) && effect->effect.verb == EFFECT_UPDATE && effect->transfer != NO_TRANSFER;
}

bool transfer_is_shared(const Machine *machine, uint32_t agent, const CompiledEffect *effect) {
    return is_split_atomic(machine, effect) && agent_cta(machine, agent) != 0;
}

SharedResult *transfer_result(const Machine *machine, uint32_t agent) {
    for (uint32_t i = 0; i < machine->result_count; i++)
        if (machine->results[i].agent == agent % machine->program->agents_per_cta &&
            machine->results[i].number == machine->state->agents[agent].atomics)
            return &machine->results[i];
    return NULL;
}

static void share_result(Machine *machine, uint32_t agent, Word word, bool stored) {
    machine->results = arena_grown(machine->arena, machine->results, machine->result_count, &machine->result_capacity,
                                   sizeof *machine->results);
    machine->results[machine->result_count++] = (SharedResult){.agent = agent % machine->program->agents_per_cta,
                                                               .number = machine->state->agents[agent].atomics++,
                                                               .left = machine->program->ctas - 1,
                                                               .stored = stored,
                                                               .word = word};
}

static void take_result(Machine *machine, const Event *event, const Transfer *how) {
    SharedResult *result = transfer_result(machine, event->agent);
    machine->state->agents[event->agent].atomics++;
    if (!result)
        return;
    give_result(machine, event, how, result->word);
    if (--result->left == 0)
        *result = machine->results[--machine->result_count];
}

/* Whether a lane is the same number for all elements: that one. */
static bool lane_is(const TransferLane *lane, unsigned rank, bool on) {
    for (unsigned i = 0; i < rank && lane_moves(lane); i++)
        if (lane->strides[i])
            return false;
    return lane->known && (lane_number(lane) != 0) == on;
}

/* What a load of anything but integers gives: of evenly spaced elements the bytes tell enough, run by run. False if
 * they must be gone through one by one. */
static bool load_as_a_whole(Machine *machine, const TransferWalk *walk, Word *word) {
    const TransferLane *place = &walk->lanes[LANE_PLACE];
    Runs runs = {.arena = machine->arena};
    uint64_t elements = 0, identity = 0x6f0d;
    Tensor index = {.known = true, .even = true, .rank = (uint8_t)walk->rank, .base = place->at};
    if (!walk->rank || walk->how->integer || !place->even || walk->how->atomic != ATOMIC_NONE ||
        !lane_is(&walk->lanes[LANE_MASK], walk->rank, true))
        return false;
    memcpy(index.dims, walk->dims, sizeof index.dims);
    memcpy(index.steps, place->strides, sizeof index.steps);
    const PieceUnit unit = {.base = walk->base, .scale = walk->scale, .bytes = walk->how->width / 8};
    if (!pieces_of_tensor(&index, NULL, &unit, &runs, &elements))
        return false;
    identity = identity_mix(identity, (uint64_t)address_of(walk));
    for (unsigned i = 0; i < walk->rank; i++)
        identity = identity_mix(identity, (uint64_t)(index.steps[i] * walk->scale));
    for (uint32_t i = 0; i < runs.count; i++)
        identity = identity_mix(identity, global_identity(machine->memory, runs.runs[i].begin, runs.runs[i].end));
    Evaluation shape = {
        .tensor = true, .rank = (uint8_t)walk->rank, .width = (uint8_t)result_width(machine, walk->how)};
    memcpy(shape.dims, walk->dims, sizeof shape.dims);
    *word = tensor_unknown(&shape, identity, machine->arena);
    return true;
}

/* A store of anything but integers to elements that lie side by side along the last dimension: row by row. False if
 * they must be gone through one by one. */
static bool store_rows(Machine *machine, TransferWalk *walk) {
    const TransferLane *place = &walk->lanes[LANE_PLACE], *value = &walk->lanes[LANE_VALUE];
    unsigned last = walk->rank - 1;
    if (!walk->rank || !place->even || value->one || (value->known && walk->how->integer) ||
        place->strides[last] * walk->scale != walk->how->width / 8 || walk->repeats[last] ||
        !lane_is(&walk->lanes[LANE_MASK], walk->rank, true))
        return false;
    int64_t row = walk->sizes[last];
    while (walk->done < walk->count) {
        global_write_row(machine->memory, address_of(walk), walk->how->width, (uint64_t)row, value->identity,
                         walk->done);
        walk_over_row(walk);
    }
    return true;
}

void transfer_perform(Machine *machine, const Event *event) {
    const CompiledEffect *effect = event->effect;
    EffectVerb verb = effect->effect.verb;
    const Transfer *how = effect->transfer == NO_TRANSFER ? NULL : &machine->program->transfers[effect->transfer];
    TransferWalk walk;
    if (how && transfer_is_shared(machine, event->agent, effect)) {
        take_result(machine, event, how);
        return;
    }
    if (how && verb == EFFECT_READ && how->result == NO_REGISTER)
        return;
    bool known = how && walk_start(&walk, machine, event->agent, effect);
    bool vague = known && verb == EFFECT_WRITE && is_vague(&walk);
    if ((!known || vague) && verb != EFFECT_READ)
        write_unknown(machine, event);
    if (!how || vague)
        return;
    Word pointer = event->view, word = word_unknown(identity_mix(machine->serial, event->pc));
    bool stored = true;
    if (known && verb == EFFECT_READ && load_as_a_whole(machine, &walk, &word)) {
        machine->used += walk.count / 32;
    } else if (known && verb == EFFECT_WRITE && store_rows(machine, &walk)) {
        machine->used += walk.count / 32;
    } else if (known) {
        const Op *op = machine->program->ops[event->pc];
        TransferFound found = found_start(machine, &walk);
        machine->used += walk.count / 32;
        while (walk.done < walk.count) {
            if (verb == EFFECT_READ)
                load_element(machine, &walk, &found);
            else if (verb == EFFECT_WRITE)
                store_element(machine, &walk, effect->alike);
            else
                update_element(machine, &walk, op, &found);
            walk_on(&walk);
        }
        word = found_word(machine, &walk, &found);
        stored = found.stored;
        if (!walk.rank)
            word = settle(machine, how, word, pointer, op);
    }
    if (how->polls && !how->finds)
        word = word_integer(1);
    if (verb != EFFECT_WRITE)
        give_result(machine, event, how, word);
    if (is_split_atomic(machine, effect) && machine->program->ctas > 1)
        share_result(machine, event->agent, word, stored);
}

bool transfer_stores(const Machine *machine, uint32_t agent, const CompiledEffect *effect) {
    if (effect->effect.verb != EFFECT_UPDATE)
        return effect->effect.verb == EFFECT_WRITE;
    if (effect->transfer == NO_TRANSFER)
        return true;
    if (transfer_is_shared(machine, agent, effect)) {
        const SharedResult *result = transfer_result(machine, agent);
        return !result || result->stored;
    }
    TransferWalk walk;
    if (machine->program->transfers[effect->transfer].atomic != ATOMIC_CAS ||
        !walk_start(&walk, machine, agent, effect))
        return true;
    for (; walk.done < walk.count; walk_on(&walk)) {
        Word compare = lane_word(&walk, LANE_COMPARE), found;
        found = global_read(machine->memory, address_of(&walk), walk.how->width);
        if (!walk.rank && word_is(found, WORD_UNKNOWN))
            found = word_integer(0);
        if (!word_is(compare, WORD_INTEGER) || !word_is(found, WORD_INTEGER) || compare.bits == found.bits)
            return true;
    }
    return false;
}

/* Whether another program has written all bytes of the access as this one is about to (write_unknown). */
static bool is_written_alike(Machine *machine, const Event *event) {
    Bytes bytes;
    const char *reason;
    if (!access_ranges(machine, event, machine->arena, &bytes, &reason))
        return false;
    uint64_t identity = alike_identity(machine, event->effect);
    for (uint32_t i = 0; i < bytes.count; i++)
        if (address_is_scratch(bytes.runs[i].begin) ||
            !global_holds(machine->memory, bytes.runs[i].begin, bytes.runs[i].end, identity_mix(identity, i)))
            return false;
    return true;
}

bool transfer_is_silent(Machine *machine, const Event *event) {
    const CompiledEffect *effect = event->effect;
    TransferWalk walk;
    if (effect->effect.verb != EFFECT_WRITE)
        return false;
    bool known = effect->transfer != NO_TRANSFER && walk_start(&walk, machine, event->agent, effect);
    if (effect->alike && (!known || is_vague(&walk)))
        return is_written_alike(machine, event);
    if (!known || !(walk.how->followed || effect->alike))
        return false;
    if (walk.rank && cluster_is_split(machine)) /* each CTA writes the parts of all, here */
        return false;
    for (; walk.done < walk.count; walk_on(&walk)) {
        int touched = is_touched(&walk);
        if (!touched)
            continue;
        if (address_is_scratch(address_of(&walk))) /* of which nothing is kept */
            return false;
        Word word = lane_word(&walk, LANE_VALUE),
             found = global_read(machine->memory, address_of(&walk), walk.how->width);
        if ((touched < 0 && !effect->alike) || word.kind != found.kind || word.bits != found.bits)
            return false;
    }
    return true;
}

/* ---- Polls ---------------------------------------------------------------------------------------- */

bool transfer_place(const Machine *machine, uint32_t agent, const CompiledEffect *effect, int64_t *address,
                    unsigned *width) {
    TransferWalk walk;
    if (effect->transfer == NO_TRANSFER || !walk_start(&walk, machine, agent, effect) || walk.count != 1)
        return false;
    *address = address_of(&walk);
    *width = walk.how->width;
    return true;
}

bool transfer_poll_passes(const Machine *machine, uint32_t agent, const CompiledEffect *effect) {
    const Transfer *how = &machine->program->transfers[effect->transfer];
    Word until = how->until == NO_REGISTER ? word_unknown(0) : machine_words(machine, agent)[how->until];
    int64_t address;
    unsigned width;
    if (!word_is(until, WORD_INTEGER) || !transfer_place(machine, agent, effect, &address, &width))
        return true;
    Word found = global_read(machine->memory, address, width);
    if (!word_is(found, WORD_INTEGER))
        return true;
    int64_t wanted = integer_wrap(until.bits, width);
    return integer_compare(how->relation, found.bits, wanted, integer_unsigned(found.bits, width),
                           integer_unsigned(wanted, width));
}

void transfer_give_up(Machine *machine, uint32_t agent, const CompiledEffect *effect) {
    const Transfer *how = &machine->program->transfers[effect->transfer];
    give_result(machine, &(Event){.agent = agent, .pc = machine->state->agents[agent].pc}, how, word_integer(0));
}
