/* From the registers of an access to its bytes. Pointers and offsets are tensors, gone through element by element;
 * boxes are gone through row by row. Both hand their pieces to one list of runs, which is sorted only if they did not
 * come in order. */
#include "emulate/access.h"

#include "emulate/machine_internal.h"

#include <stdlib.h>

enum { DESCRIPTOR_BYTES = 128 };

/* Larger accesses are not gone through. */
static const int64_t most_pieces = (int64_t)TENSOR_MOST_ELEMENTS;

typedef struct Access {
    const Machine *machine;
    const Event *event;
    const CompiledEffect *effect;
    const Word *words;
    const char *reason;
    Arena *arena;
    Run *runs;
    uint32_t count, capacity;
    bool disordered;
} Access;

static bool fail(Access *access, const char *reason) {
    access->reason = reason;
    return false;
}

static Word word_at(const Access *access, uint32_t reg) {
    return reg == NO_REGISTER ? word_unknown(0) : access->words[reg];
}

/* Addresses wrap round, as those of the hardware do. */
static int64_t add(int64_t address, int64_t count, int64_t bytes) {
    return (int64_t)((uint64_t)address + (uint64_t)count * (uint64_t)bytes);
}

/* ---- Runs ----------------------------------------------------------------------------------------- */

static void take(Access *access, int64_t begin, int64_t bytes) {
    Run *last = access->count ? &access->runs[access->count - 1] : NULL;
    int64_t end;
    if (bytes <= 0)
        return;
    if (__builtin_add_overflow(begin, bytes, &end))
        end = INT64_MAX;
    if (last && begin >= last->begin && begin <= last->end) {
        last->end = end > last->end ? end : last->end;
        return;
    }
    access->disordered |= last && begin < last->begin;
    if (access->count == access->capacity) {
        uint32_t capacity = access->capacity ? access->capacity * 2 : 64;
        Run *runs = ARENA_ARRAY(access->arena, Run, capacity);
        if (access->count)
            memcpy(runs, access->runs, access->count * sizeof *runs);
        access->runs = runs;
        access->capacity = capacity;
    }
    access->runs[access->count++] = (Run){begin, end};
}

static int by_begin(const void *a, const void *b) {
    const Run *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static void sort(Access *access) {
    uint32_t kept = 0;
    if (!access->disordered)
        return;
    qsort(access->runs, access->count, sizeof *access->runs, by_begin);
    for (uint32_t i = 1; i < access->count; i++) {
        Run *last = &access->runs[kept], next = access->runs[i];
        if (next.begin > last->end)
            access->runs[++kept] = next;
        else if (next.end > last->end)
            last->end = next.end;
    }
    access->count = kept + 1;
}

/* ---- Pointers ------------------------------------------------------------------------------------- */

/* Of what a pointer, or each pointer of a tensor, points to; 0 if that has no size. */
static int64_t pointee_bytes(Module *module, const Type *type) {
    type = type ? type_resolve(module, type) : NULL;
    if (type && type->kind == TYPE_TENSOR)
        type = type->element ? type_resolve(module, type->element) : NULL;
    type = type && type_is(type, STR("tt.ptr")) && type->element ? type_resolve(module, type->element) : NULL;
    if (!type)
        return 0;
    if (type->kind == TYPE_INTEGER || type->kind == TYPE_FLOAT)
        return (type->width + 7) / 8;
    return type_is(type, STR("tt.ptr")) ? 8 : 0;
}

/* `bytes` at each place of `index`, which counts in `scale` bytes from `base` on, where the mask (NULL: everywhere)
 * says so. */
static bool take_elements(Access *access, const Tensor *index, int64_t base, int64_t scale, const Tensor *mask,
                          int64_t bytes) {
    int64_t sizes[TENSOR_MOST_DIMS], at[TENSOR_MOST_DIMS] = {0}, pieces = 1;
    unsigned rank = index->rank;
    for (unsigned i = 0; i < rank; i++) {
        bool repeats = !index->strides[i] && (!mask || !mask->strides[i]);
        sizes[i] = repeats && index->dims[i] ? 1 : index->dims[i];
        if (__builtin_mul_overflow(pieces, sizes[i], &pieces) || pieces > most_pieces)
            return fail(access, "it has more elements than are looked at");
    }
    int64_t place = 0, mask_place = 0;
    for (int64_t left = pieces; left > 0; left--) {
        if (!mask || mask->data[mask_place])
            take(access, add(base, index->data[place], scale), bytes);
        for (unsigned i = rank; i-- > 0;) {
            bool over = ++at[i] == sizes[i];
            int64_t by = over ? 1 - sizes[i] : 1;
            place += by * index->strides[i];
            mask_place += mask ? by * mask->strides[i] : 0;
            if (!over)
                break;
            at[i] = 0;
        }
    }
    return true;
}

/* Whether the mask leaves anything: *tensor is NULL where it is the same for all. */
static bool find_mask(Access *access, const Tensor *index, const Tensor **tensor, bool *nothing) {
    *tensor = NULL;
    *nothing = false;
    if (!access->effect->effect.mask)
        return true;
    Word mask = word_at(access, access->effect->mask);
    if (word_is(mask, WORD_INTEGER)) {
        *nothing = !mask.bits;
        return true;
    }
    if (!word_is(mask, WORD_TENSOR) || !mask.tensor->known)
        return fail(access, "its mask is not known");
    if (!index || mask.tensor->rank != index->rank ||
        memcmp(mask.tensor->dims, index->dims, index->rank * sizeof *index->dims) != 0)
        return fail(access, "its mask has another shape than its addresses");
    *tensor = mask.tensor;
    return true;
}

static bool take_piece(Access *access, int64_t address) {
    int64_t bytes = access->effect->bytes;
    const Tensor *mask;
    bool nothing;
    if (bytes < 0) {
        Word size = word_at(access, access->effect->amount);
        if (!word_is(size, WORD_INTEGER))
            return fail(access, "how many bytes it touches is not known");
        bytes = size.bits;
    }
    if (!bytes && !access->effect->effect.amount)
        bytes = pointee_bytes(access->machine->program->module, access->effect->type);
    if (!bytes)
        return fail(access, "how many bytes it touches is not known");
    if (!find_mask(access, NULL, &mask, &nothing))
        return false;
    if (!nothing)
        take(access, address, bytes);
    return true;
}

static bool take_pointers(Access *access) {
    const CompiledEffect *effect = access->effect;
    Word on = access->event->view;
    Word offsets = effect->offsets == NO_REGISTER ? on : access->words[effect->offsets];
    bool pointers = effect->offsets == NO_REGISTER, nothing;
    const Tensor *mask;
    if (word_is(on, WORD_INTEGER) && pointers)
        return take_piece(access, on.bits);
    if (!word_is(offsets, WORD_TENSOR) || !offsets.tensor->known || (!pointers && !word_is(on, WORD_INTEGER)))
        return fail(access, "its addresses are not known");
    int64_t bytes = pointee_bytes(access->machine->program->module, effect->type);
    if (!bytes)
        return fail(access, "how many bytes it touches is not known");
    if (effect->bytes && tensor_size(offsets.tensor)) /* one piece, from the first pointer on */
        return take_piece(access, tensor_linear(offsets.tensor, 0));
    if (!find_mask(access, offsets.tensor, &mask, &nothing))
        return false;
    return nothing || take_elements(access, offsets.tensor, pointers ? 0 : on.bits, pointers ? 1 : bytes, mask, bytes);
}

/* ---- Boxes ---------------------------------------------------------------------------------------- */

/* What one copy through a descriptor moves: dimensions and strides, outermost first. */
typedef struct Box {
    unsigned rank;
    int64_t base, element;                                  /* address and bytes */
    int64_t begin[TENSOR_MOST_DIMS], end[TENSOR_MOST_DIMS]; /* clipped */
    int64_t strides[TENSOR_MOST_DIMS];                      /* bytes */
} Box;

/* The type that says how large the box is: the descriptor's, or that of the data if a plain pointer stands for it. */
static const Type *box_type(const Access *access) {
    Module *module = access->machine->program->module;
    const Op *op = access->event->op;
    const Type *type = access->effect->type ? type_resolve(module, access->effect->type) : NULL;
    if (type && type_is(type, STR("tt.ptr"))) {
        static const char *const names[] = {"result", "src"};
        type = op->result_count ? op->results[0].type : NULL;
        for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
            int slot = op->row ? op_slot(op->row->operands, op->row->operand_count, str_of(names[i])) : -1;
            uint32_t count = 0;
            Value **values = slot < 0 ? NULL : op_operands_at(op, (unsigned)slot, &count);
            type = count ? values[0]->type : type;
        }
        return type ? type_resolve(module, type) : NULL;
    }
    const Type *inner = type && type->element ? type_resolve(module, type->element) : NULL;
    return inner && inner->kind == TYPE_TENSOR ? inner : type;
}

/* From `from` on as many as the box has, within the shape. */
static void clip(const Descriptor *descriptor, unsigned dimension, int64_t from, int64_t size, Box *box) {
    int64_t end, shape = descriptor->shape[dimension];
    unsigned inner = descriptor->rank - 1u - dimension;
    if (descriptor->boxed && inner < descriptor->box_rank) { /* whole boxes */
        int64_t piece = descriptor->box[inner];
        if (descriptor->element_bits < 8 && inner == 0)
            piece = (piece + 1) / 2;
        size = size / piece * piece + (size % piece ? piece : 0);
    }
    if (__builtin_add_overflow(from, size, &end) || end > shape)
        end = shape;
    box->begin[dimension] = from < 0 ? 0 : from;
    box->end[dimension] = end;
    box->strides[dimension] = descriptor->strides[dimension];
}

static const Descriptor *find_descriptor(Access *access) {
    Word word = access->event->view;
    if (word_is(word, WORD_INTEGER))
        word = memory_descriptor_at(access->machine, word);
    if (!word_is(word, WORD_DESCRIPTOR)) {
        fail(access, "its descriptor is not known");
        return NULL;
    }
    const Descriptor *descriptor = machine_descriptor(access->machine, word.meta);
    if (descriptor->unknown) {
        fail(access, descriptor->unknown);
        return NULL;
    }
    return descriptor;
}

/* Coordinate `index` of the op; where it has none, 0. */
static bool coordinate(Access *access, uint32_t index, int64_t *value) {
    const CompiledEffect *effect = access->effect;
    *value = 0;
    if (!effect->coordinate_count)
        return true;
    Word word = word_at(access, access->machine->program->lists[effect->coordinates + index]);
    if (!word_is(word, WORD_INTEGER))
        return fail(access, "its coordinates are not known");
    *value = word.bits;
    return true;
}

/* The innermost dimension at one place of all others. */
static void take_row(Access *access, const Box *box, int64_t address) {
    unsigned last = box->rank - 1;
    int64_t count = box->end[last] - box->begin[last];
    address = add(address, box->begin[last], box->strides[last]);
    if (box->strides[last] == box->element) {
        take(access, address, count * box->element);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        take(access, add(address, i, box->strides[last]), box->element);
}

static bool take_box(Access *access, const Box *box) {
    int64_t at[TENSOR_MOST_DIMS], pieces = 1;
    if (!box->rank) {
        take(access, box->base, box->element);
        return true;
    }
    for (unsigned i = 0; i < box->rank; i++)
        if (box->end[i] <= box->begin[i])
            return true;
    for (unsigned i = 0; i < box->rank; i++) {
        at[i] = box->begin[i];
        if (__builtin_mul_overflow(pieces, box->end[i] - box->begin[i], &pieces) || pieces > most_pieces)
            return fail(access, "it has more elements than are looked at");
    }
    for (bool more = true; more;) {
        int64_t address = box->base;
        for (unsigned i = 0; i + 1 < box->rank; i++)
            address = add(address, at[i], box->strides[i]);
        take_row(access, box, address);
        more = false;
        for (unsigned i = box->rank - 1; i-- > 0 && !more;) {
            more = ++at[i] < box->end[i];
            at[i] = more ? at[i] : box->begin[i];
        }
    }
    return true;
}

/* A gather or scatter: one row of the box at each of the rows, which hold the tensor's own order. */
static bool take_rows(Access *access, const Descriptor *descriptor, Box *box) {
    Word rows = word_at(access, access->effect->rows);
    if (!word_is(rows, WORD_TENSOR) || !rows.tensor->known)
        return fail(access, "its rows are not known");
    if (box->rank != 2 || tensor_size(rows.tensor) > TENSOR_MOST_ELEMENTS)
        return fail(access, "its rows are not those of a matrix");
    size_t count = tensor_size(rows.tensor);
    for (size_t i = 0; i < count && box->end[1] > box->begin[1]; i++) {
        int64_t row = tensor_linear(rows.tensor, i);
        if (row >= 0 && row < descriptor->shape[0])
            take_row(access, box, add(box->base, row, box->strides[0]));
    }
    return true;
}

static bool take_tile(Access *access) {
    const CompiledEffect *effect = access->effect;
    const Type *type = box_type(access);
    if (effect->type &&
        type_is(type_resolve(access->machine->program->module, effect->type), STR("ttng.tensordesc_im2col")))
        return fail(access, "the boxes of im2col are not worked out");
    const Descriptor *descriptor = find_descriptor(access);
    if (!descriptor)
        return false;
    bool gathers = effect->rows != NO_REGISTER;
    if (!type || type->dim_count != descriptor->rank ||
        (effect->coordinate_count && effect->coordinate_count != (gathers ? 1 : descriptor->rank)))
        return fail(access, "its box has another rank than its descriptor");
    Box box = {.rank = descriptor->rank,
               .base = descriptor->base,
               .element = descriptor->element_bits < 8 ? 1 : descriptor->element_bits / 8};
    for (unsigned i = 0; i < box.rank; i++) {
        bool row = gathers && i + 1 < box.rank;
        int64_t from = 0;
        if (type->dims[i] < 0)
            return fail(access, "how large its box is is not known");
        if (!row && !coordinate(access, gathers ? 0 : i, &from))
            return false;
        clip(descriptor, i, from, type->dims[i], &box);
    }
    return gathers ? take_rows(access, descriptor, &box) : take_box(access, &box);
}

/* The copy engine reads the descriptor. One that the launch made lies in the parameters, which nobody writes. */
static bool take_descriptor(Access *access) {
    Word on = access->event->view;
    if (word_is(on, WORD_DESCRIPTOR))
        on = word_integer(machine_descriptor(access->machine, on.meta)->address);
    if (!word_is(on, WORD_INTEGER))
        return fail(access, "its descriptor is not known");
    if (on.bits)
        take(access, on.bits, DESCRIPTOR_BYTES);
    return true;
}

/* ---- Accesses ------------------------------------------------------------------------------------- */

bool access_ranges(const Machine *machine, const Event *event, Arena *arena, Bytes *bytes, const char **reason) {
    const Effect *effect = &event->effect->effect;
    Access access = {.machine = machine,
                     .event = event,
                     .effect = event->effect,
                     .words = machine_words(machine, event->agent),
                     .arena = arena};
    bool split = machine->program->ctas > 1 && !machine->program->ranks_are_programs;
    bool known;
    if (effect->proxy == PROXY_TENSORMAP && !effect->on_descriptor)
        known = take_descriptor(&access);
    else if (split &&
             (effect->on_descriptor || !word_is(event->view, WORD_INTEGER) || event->effect->offsets != NO_REGISTER))
        known = fail(&access, "which part each CTA of the cluster has is not worked out");
    else
        known = effect->on_descriptor ? take_tile(&access) : take_pointers(&access);
    *bytes = (Bytes){0};
    *reason = access.reason;
    if (!known)
        return false;
    sort(&access);
    *bytes = (Bytes){access.runs, access.count};
    return true;
}

bool address_argument(const Machine *machine, int64_t address, uint32_t *argument, int64_t *offset) {
    const int64_t half = INT64_C(1) << (PARAMETER_SHIFT - 1);
    int64_t index = address > INT64_MAX - half ? 0 : (address + half) >> PARAMETER_SHIFT;
    if (index < 1 || index > (int64_t)machine->program->parameter_count)
        return false;
    *argument = (uint32_t)(index - 1);
    *offset = address - (index << PARAMETER_SHIFT);
    return true;
}

/* ---- Printing ------------------------------------------------------------------------------------- */

/* Where a run lies: an argument, scratch memory, or none of both. Two runs of one place have the same number. */
static int64_t print_place(const Machine *machine, int64_t address, int64_t before, int64_t *offset, Text *to) {
    uint32_t argument;
    if (address_argument(machine, address, &argument, offset)) {
        const char *name = machine->program->parameters[argument].name;
        if (before != argument) {
            text_char(to, '%');
            text_add_plain(to, str_of(*name ? name : "?"));
            text_addf(to, " + ");
        }
        return argument;
    }
    int64_t scratch = (address - SCRATCH_BASE) >> SCRATCH_SHIFT;
    if (address >= SCRATCH_BASE && scratch < (int64_t)machine->program->scratch_count) {
        *offset = address - SCRATCH_BASE - (scratch << SCRATCH_SHIFT);
        if (before != UINT32_MAX + scratch)
            text_addf(to, "scratch %lld + ", (long long)scratch);
        return UINT32_MAX + scratch;
    }
    *offset = address;
    return -1;
}

void access_print(const Machine *machine, const Bytes *bytes, uint32_t most, Text *to) {
    int64_t place = -1, offset;
    if (!bytes->count)
        text_addf(to, "nothing");
    for (uint32_t i = 0; i < bytes->count && i < most; i++) {
        const Run *run = &bytes->runs[i];
        text_addf(to, "%s", i ? ", " : "");
        place = print_place(machine, run->begin, place, &offset, to);
        if (place < 0)
            text_addf(to, "0x%llx..0x%llx", (unsigned long long)run->begin, (unsigned long long)run->end - 1);
        else
            text_addf(to, "%lld..%lld", (long long)offset, (long long)(offset + (run->end - run->begin - 1)));
    }
    if (bytes->count > most)
        text_addf(to, " and %u more", bytes->count - most);
}
