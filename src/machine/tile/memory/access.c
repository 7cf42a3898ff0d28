/* From the registers of an access to its bytes. Pointers and offsets are tensors, gone through row by row; boxes of
 * descriptors likewise. Of a cluster's CTAs that have one program between them each has its part of a tensor. */
#include "machine/tile/memory/access.h"

#include "ir/memo.h"
#include "machine/tile/memory/pieces.h"
#include "machine/tile/step/machine_internal.h"
#include "model/layout/distributed.h"
#include "model/layout/share.h"

enum { DESCRIPTOR_BYTES = 128 };

static const char too_many[] = "it has more elements than Weir evaluates";

typedef struct Accessed {
    const Machine *machine;
    Module *module;
    const Event *event;
    const CompiledEffect *effect;
    const Word *words;
    const char *reason;
    uint32_t cta;  /* of the cluster */
    bool any_mask; /* a mask that is not known may leave all elements */
    bool split;    /* tensors are shared out between the CTAs of a cluster */
    Runs runs;
    uint64_t elements;
    ThreadPieces *threads; /* who makes what is asked for, too; NULL: it is not */
} Accessed;

static bool fail(Accessed *access, const char *reason) {
    access->reason = reason;
    return false;
}

static Word word_at(const Accessed *access, uint32_t reg) {
    return reg == NO_REGISTER ? word_unknown(0) : access->words[reg];
}

static const Type *type_of(const Accessed *access, const Value *value) {
    return value ? type_resolve(access->module, value->type) : NULL;
}

static bool has_attribute(const Accessed *access, const char *name) {
    const Attr *attr = op_attr(access->event->op, name);
    return attr && (attr->kind != ATTR_BOOL || attr->integer);
}

/* ---- Parts ---------------------------------------------------------------------------------------- */

/* Whether of the CTAs that have the same part only the first does it: stores and atomics are not made twice, and one
 * copy serves all that it is multicast to. AMD's tensor data mover is told of no such thing. */
static bool once(const Accessed *access) {
    const Effect *effect = &access->effect->effect;
    if (effect->on_descriptor && effect->group == GROUP_AMD_TENSOR)
        return false;
    if (effect->verb == EFFECT_READ && effect->order == ORDER_WEAK)
        return effect->on_descriptor && has_attribute(access, "multicast");
    return !has_attribute(access, "ignore_cta");
}

/* How the CTAs of the cluster share out what has that type; NULL: each has all of it. *nothing: this one leaves it to
 * another. */
static bool find_share(Accessed *access, const Type *type, const Share **share, bool *nothing) {
    *share = NULL;
    *nothing = false;
    if (!access->split)
        return true;
    *share = share_of(access->module, type);
    if (!*share || !(*share)->known || UINT32_C(1) << (*share)->ctas != access->machine->program->ctas)
        return fail(access, "which part each CTA of the cluster has is not known");
    *nothing = once(access) && access->cta & (*share)->copies;
    return true;
}

/* ---- Pointers ------------------------------------------------------------------------------------- */

/* Of what a pointer, or each pointer of a tensor, points to; 0 if that has no size. */
static int64_t pointee_bytes(Module *module, const Type *type) {
    type = type_resolve(module, type);
    if (type && type->kind == TYPE_TENSOR)
        type = type->element ? type_resolve(module, type->element) : NULL;
    type = type && type_is(type, STR("tt.ptr")) && type->element ? type_resolve(module, type->element) : NULL;
    if (!type)
        return 0;
    if (type->kind == TYPE_INTEGER || type->kind == TYPE_FLOAT)
        return (type->width + 7) / 8;
    return type_is(type, STR("tt.ptr")) ? 8 : 0;
}

/* The same of what the effect is on, unless it has a size of its own, as instructions of inline assembly do. */
static int64_t element_bytes(const Accessed *access) {
    int64_t own = access->effect->effect.element_bytes;
    return own ? own : pointee_bytes(access->module, access->effect->type);
}

static Tensor narrowed(const Tensor *tensor, const int64_t *begin, const int64_t *end) {
    Tensor part = *tensor;
    for (unsigned i = 0; i < part.rank; i++) {
        if (part.data)
            part.data += begin[i] * part.strides[i];
        part.base += begin[i] * part.steps[i];
        part.dims[i] = end[i] - begin[i];
    }
    return part;
}

/* By the layout of a tensor type: the first thread that has each element, in row-major order. */
typedef struct Owners {
    const uint16_t *threads; /* NULL: not known */
    size_t size;
    bool copies;
} Owners;

/* The element of a basis, as a number: sizes are powers of two, so that these are put together by XOR, too. */
static uint32_t basis_element(const Distributed *layout, const uint32_t *basis) {
    uint32_t element = 0;
    for (unsigned d = 0; d < layout->rank; d++)
        element = element << layout->bits[d] | basis[d];
    return element;
}

/* Each element that the holders have, from `holder` on; the first thread that comes to it has it. */
static void spread_owners(const Distributed *layout, unsigned holder, uint32_t element, uint32_t thread,
                          uint16_t *threads) {
    static const Holder order[] = {HOLD_WARP, HOLD_LANE, HOLD_REGISTER, HOLD_BLOCK};
    if (holder == HOLDERS) {
        threads[element] = thread < threads[element] ? (uint16_t)thread : threads[element];
        return;
    }
    unsigned count = layout->count[order[holder]];
    for (uint32_t bits = 0; bits < UINT32_C(1) << count; bits++) {
        uint32_t at = element;
        for (unsigned i = 0; i < count; i++)
            if (bits >> i & 1)
                at ^= basis_element(layout, layout->bases[order[holder]][i]);
        spread_owners(layout, holder + 1, at, holder < 2 ? thread << count | bits : thread, threads);
    }
}

static bool threads_have_copies(const Distributed *layout) {
    bool any = false;
    for (unsigned h = HOLD_LANE; h <= HOLD_WARP; h++)
        for (unsigned i = 0; i < layout->count[h]; i++)
            any |= distributed_is_copy(layout, (Holder)h, i);
    return any;
}

static const Owners *owners_of(Module *module, const Type *tensor) {
    enum { MOST_BITS = 24, MOST_THREAD_BITS = 15 };
    const Distributed *layout = tensor ? distributed_of(module, tensor) : NULL;
    bool fresh;
    if (!layout || !layout->known)
        return NULL;
    Owners *owners = module_memo(module, "owners", layout, sizeof *owners, &fresh);
    if (!fresh)
        return owners->threads ? owners : NULL;
    unsigned bits = 0, held = 0;
    for (unsigned d = 0; d < layout->rank; d++)
        bits += layout->bits[d];
    for (unsigned h = 0; h < HOLDERS; h++)
        held += layout->count[h];
    if (held > MOST_BITS || bits > MOST_BITS || layout->count[HOLD_WARP] + layout->count[HOLD_LANE] > MOST_THREAD_BITS)
        return NULL;
    uint16_t *threads = ARENA_ARRAY(&module->arena, uint16_t, (size_t)1 << bits);
    memset(threads, 0xff, ((size_t)1 << bits) * sizeof *threads);
    spread_owners(layout, 0, 0, 0, threads);
    *owners = (Owners){.threads = threads, .size = (size_t)1 << bits, .copies = threads_have_copies(layout)};
    return owners;
}

static void add_piece(Accessed *access, int64_t begin, int64_t bytes, uint32_t thread) {
    ThreadPieces *to = access->threads;
    *ARENA_PUSH(access->runs.arena, to->items, to->count, to->capacity) =
        (ThreadPiece){.begin = begin, .bytes = (uint32_t)bytes, .thread = thread};
}

static bool take_owned(Accessed *access, const Type *type, const Tensor *index, const Tensor *mask,
                       const PieceUnit *unit) {
    size_t size = tensor_size(index);
    const Owners *owners = owners_of(access->module, type_resolve(access->module, type));
    bool known = owners && owners->size == size;
    if (size > TENSOR_MOST_ELEMENTS)
        return fail(access, too_many);
    access->threads->copies |= known && owners->copies;
    for (size_t k = 0; k < size; k++)
        if (!mask || tensor_linear(mask, k))
            add_piece(access, address_add(unit->base, tensor_linear(index, k), unit->scale), unit->bytes,
                      known ? owners->threads[k] : THREAD_UNKNOWN);
    return true;
}

static bool take_elements(Accessed *access, const Type *type, const Tensor *index, const Tensor *mask,
                          const PieceUnit *unit) {
    if (access->threads)
        return take_owned(access, type, index, mask, unit);
    return pieces_of_tensor(index, mask, unit, &access->runs, &access->elements) || fail(access, too_many);
}

/* A mask that is on where the CTA has the element, and `mask` (NULL: everywhere) is. */
static bool mask_of_part(Accessed *access, const Share *share, const Tensor *mask, const Tensor *index, Tensor *to) {
    size_t size = tensor_size(index);
    int64_t at[TENSOR_MOST_DIMS] = {0};
    if (size > TENSOR_MOST_ELEMENTS)
        return fail(access, too_many);
    int64_t *data = ARENA_ARRAY(access->runs.arena, int64_t, size + 1);
    *to = (Tensor){.known = true, .rank = index->rank, .width = 1, .data = data};
    for (unsigned i = index->rank, stride = 1; i-- > 0; stride *= (unsigned)index->dims[i]) {
        to->dims[i] = index->dims[i];
        to->strides[i] = stride;
    }
    for (size_t k = 0; k < size; k++) {
        data[k] = share_has(share, access->cta, at) && (!mask || tensor_at(mask, at));
        for (unsigned i = index->rank; i-- > 0 && ++at[i] == index->dims[i];)
            at[i] = 0;
    }
    return true;
}

/* The part of a tensor of that type that the CTA has. */
static bool take_part(Accessed *access, const Type *type, const Tensor *index, const Tensor *mask,
                      const PieceUnit *unit) {
    const Share *share;
    bool nothing;
    if (!find_share(access, type, &share, &nothing))
        return false;
    if (nothing || !share)
        return nothing || take_elements(access, type, index, mask, unit);
    if (share->rank != index->rank || memcmp(share->size, index->dims, share->rank * sizeof *index->dims) != 0)
        return fail(access, "which part each CTA of the cluster has is not known");
    if (!share->boxes || access->threads) {
        Tensor chosen;
        return mask_of_part(access, share, mask, index, &chosen) && take_elements(access, type, index, &chosen, unit);
    }
    int64_t begin[TENSOR_MOST_DIMS], end[TENSOR_MOST_DIMS];
    share_box(share, access->cta, begin, end);
    Tensor part = narrowed(index, begin, end), masked;
    if (mask)
        masked = narrowed(mask, begin, end);
    return take_elements(access, type, &part, mask ? &masked : NULL, unit);
}

/* Whether the mask leaves anything: *tensor is NULL where it is the same for all. */
static bool find_mask(Accessed *access, const Tensor *index, const Tensor **tensor, bool *nothing) {
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
        return access->any_mask || fail(access, "its mask is not known");
    if (!index || mask.tensor->rank != index->rank ||
        memcmp(mask.tensor->dims, index->dims, index->rank * sizeof *index->dims) != 0)
        return fail(access, "its mask and its addresses have different shapes");
    *tensor = mask.tensor;
    return true;
}

/* ---- Boxes ---------------------------------------------------------------------------------------- */

/* The type of what is moved between memory and the tensor or the shared memory of the op; NULL if it moves several. */
static const Type *data_type(const Accessed *access) {
    const Effect *effect = &access->effect->effect;
    return type_of(access, effect->end ? effect->end : effect->value ? effect->value : effect->gives);
}

/* The type that says how large the box is: the descriptor's, or that of the data if a plain pointer stands for it. */
static const Type *box_type(const Accessed *access) {
    const Type *type = type_resolve(access->module, access->effect->type);
    if (type && type_is(type, STR("tt.ptr")))
        return data_type(access);
    const Type *inner = type && type->element ? type_resolve(access->module, type->element) : NULL;
    return inner && inner->kind == TYPE_TENSOR ? inner : type;
}

/* The type whose sizes count: a copy moves what its memory in the CTA holds, which may be less than a block. */
static const Type *tile_type(const Accessed *access, const Type *type, const Type *data, const Descriptor *descriptor) {
    bool memory = data && type_is(data, STR("ttg.memdesc")) && data->dim_count == type->dim_count && data->element;
    const Type *element = memory ? type_resolve(access->module, data->element) : NULL;
    return element && element->width == descriptor->element_bits ? data : type;
}

/* From `from` on as many as the box has, within the shape. */
static void clip(const Descriptor *descriptor, unsigned dimension, int64_t from, int64_t size, Box *box) {
    int64_t end, shape = descriptor->shape[dimension];
    unsigned inner = descriptor->rank - 1u - dimension;
    if (descriptor->boxed && inner < descriptor->box_rank) { /* whole boxes */
        int64_t piece = descriptor->box[inner];
        size = size / piece * piece + (size % piece ? piece : 0);
    }
    if (__builtin_add_overflow(from, size, &end) || end > shape)
        end = shape;
    box->begin[dimension] = from < 0 ? 0 : from;
    box->end[dimension] = end;
}

static Box box_on(const Descriptor *descriptor) {
    Box box = {.rank = descriptor->rank,
               .base = descriptor->base,
               .element = descriptor->element_bits < 8 ? 1 : descriptor->element_bits / 8};
    memcpy(box.strides, descriptor->strides, sizeof box.strides);
    return box;
}

/* The CTA's part of what `data` is the type of, in the coordinates of a box of that many dimensions; dimensions that
 * the data does not have are whole. */
typedef struct AccessPart {
    bool nothing;
    int64_t begin[TENSOR_MOST_DIMS], size[TENSOR_MOST_DIMS];
} AccessPart;

static bool find_part(Accessed *access, const Type *data, const int64_t *dims, unsigned rank, AccessPart *part) {
    const Share *share;
    int64_t begin[CTAS_RANK], end[CTAS_RANK];
    for (unsigned i = 0; i < rank; i++) {
        part->begin[i] = 0;
        part->size[i] = dims[i];
    }
    if (!find_share(access, data, &share, &part->nothing))
        return false;
    if (!share)
        return true;
    bool fits = share->boxes && share->rank <= rank;
    if (fits)
        share_box(share, access->cta, begin, end);
    for (unsigned d = 0; fits && d < share->rank; d++) {
        unsigned to = rank - share->rank + d;
        fits = share->size[d] == dims[to];
        part->begin[to] = begin[d];
        part->size[to] = end[d] - begin[d];
    }
    return fits || fail(access, "which part each CTA of the cluster has is not known");
}

static const Descriptor *find_descriptor(Accessed *access) {
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
static bool coordinate(Accessed *access, uint32_t index, int64_t *value) {
    const CompiledEffect *effect = access->effect;
    *value = 0;
    if (!effect->coordinates.count)
        return true;
    Word word = word_at(access, access->machine->program->lists[effect->coordinates.first + index]);
    if (!word_is(word, WORD_INTEGER))
        return fail(access, "its coordinates are not known");
    *value = word.bits;
    return true;
}

static bool take_box(Accessed *access, const Box *box) {
    return pieces_of_box(box, &access->runs, &access->elements) || fail(access, too_many);
}

/* The rows of a gather or scatter, which hold the tensor's own order; NULL if they are not known. */
static const Tensor *find_rows(Accessed *access, unsigned rank) {
    Word word = word_at(access, access->effect->rows);
    if (!word_is(word, WORD_TENSOR) || !word.tensor->known) {
        fail(access, "its rows are not known");
        return NULL;
    }
    if (rank != 2 || word.tensor->rank != 1 || word.tensor->dims[0] > (int64_t)TENSOR_MOST_ELEMENTS) {
        fail(access, "its descriptor is not two-dimensional");
        return NULL;
    }
    return word.tensor;
}

/* One row of the box at each of the CTA's rows. AMD's are numbers without a sign. */
static bool take_rows(Accessed *access, const Descriptor *descriptor, Box box, const Tensor *rows,
                      const AccessPart *part) {
    bool natural = access->effect->effect.group == GROUP_AMD_TENSOR;
    for (int64_t i = 0; i < part->size[0]; i++) {
        int64_t row = tensor_at(rows, (const int64_t[]){part->begin[0] + i});
        row = natural ? (int64_t)integer_unsigned(row, rows->width) : row;
        if (row < 0 || row >= descriptor->shape[0])
            continue;
        box.begin[0] = row;
        box.end[0] = row + 1;
        if (!take_box(access, &box))
            return false;
    }
    return true;
}

static bool take_tile(Accessed *access) {
    const CompiledEffect *effect = access->effect;
    const Type *type = box_type(access), *data = data_type(access);
    if (effect->type && type_is(type_resolve(access->module, effect->type), STR("ttng.tensordesc_im2col")))
        return fail(access, "a launch file cannot give the bounding box of an im2col descriptor");
    const Descriptor *descriptor = find_descriptor(access);
    if (!descriptor)
        return false;
    bool gathers = effect->rows != NO_REGISTER;
    if (!type || type->dim_count != descriptor->rank ||
        (effect->coordinates.count && effect->coordinates.count != (gathers ? 1 : descriptor->rank)))
        return fail(access, "its box and its descriptor have different ranks");
    Box box = box_on(descriptor);
    const Tensor *rows = gathers ? find_rows(access, box.rank) : NULL;
    int64_t dims[TENSOR_MOST_DIMS];
    AccessPart part;
    if (gathers && !rows)
        return false;
    const Type *tile = tile_type(access, type, data, descriptor);
    for (unsigned i = 0; i < box.rank; i++) {
        if (tile->dims[i] < 0)
            return fail(access, "the size of its box is not known");
        dims[i] = rows && i == 0 ? rows->dims[0] : tile->dims[i];
    }
    if (!find_part(access, data ? data : type, dims, box.rank, &part))
        return false;
    if (part.nothing || descriptor->off)
        return true;
    for (unsigned i = rows ? 1 : 0; i < box.rank; i++) {
        int64_t from = 0;
        if (!coordinate(access, rows ? 0 : i, &from))
            return false;
        clip(descriptor, i, address_add(from, part.begin[i], 1), part.size[i], &box);
    }
    return rows ? take_rows(access, descriptor, box, rows, &part) : take_box(access, &box);
}

/* The TMA unit reads the descriptor. One that the launch made lies in the parameters, which nothing writes. */
static bool take_descriptor(Accessed *access) {
    Word on = access->event->view;
    if (word_is(on, WORD_DESCRIPTOR))
        on = word_integer(machine_descriptor(access->machine, on.meta)->address);
    if (!word_is(on, WORD_INTEGER))
        return fail(access, "its descriptor is not known");
    if (on.bits) {
        runs_take(&access->runs, on.bits, DESCRIPTOR_BYTES);
        access->elements++;
    }
    return true;
}

/* ---- Block pointers ------------------------------------------------------------------------------- */

/* Whether elements outside of the shape are left out in that dimension. */
static bool is_checked(const Accessed *access, unsigned dimension) {
    const Attr *checks = op_attr(access->event->op, "boundaryCheck");
    for (uint32_t i = 0; checks && checks->kind == ATTR_INTS && i < checks->count; i++)
        if (checks->ints[i] == (int64_t)dimension)
            return true;
    return false;
}

/* A load or store through a pointer to a tensor. */
static bool take_block(Accessed *access) {
    const Type *type = type_resolve(access->module, access->effect->type);
    type = type && type->element ? type_resolve(access->module, type->element) : NULL;
    const Descriptor *descriptor = find_descriptor(access);
    AccessPart part;
    if (!descriptor)
        return false;
    if (!type || type->kind != TYPE_TENSOR || type->dim_count != descriptor->rank)
        return fail(access, "its block and its pointer have different ranks");
    if (!find_part(access, type, type->dims, descriptor->rank, &part))
        return false;
    Box box = box_on(descriptor);
    for (unsigned i = 0; i < box.rank; i++) {
        int64_t from = address_add(descriptor->at[i], part.begin[i], 1);
        if (is_checked(access, i)) {
            clip(descriptor, i, from, part.size[i], &box);
        } else {
            box.begin[i] = from;
            box.end[i] = address_add(from, part.size[i], 1);
        }
    }
    return part.nothing || take_box(access, &box);
}

/* ---- Pointers of an op ---------------------------------------------------------------------------- */

/* Whether an element for each pointer is touched, and not so many bytes as `amount` says. */
static bool is_elements(const CompiledEffect *effect) {
    return !effect->bytes && !effect->effect.amount;
}

static bool take_piece(Accessed *access, int64_t address) {
    int64_t bytes = access->effect->bytes;
    const Tensor *mask;
    bool nothing, element = is_elements(access->effect);
    if (bytes < 0) {
        Word size = word_at(access, access->effect->amount);
        if (!word_is(size, WORD_INTEGER))
            return fail(access, "the number of bytes it accesses is not known");
        bytes = size.bits;
    }
    if (element)
        bytes = element_bytes(access);
    if (!bytes)
        return fail(access, "the number of bytes it accesses is not known");
    if (!find_mask(access, NULL, &mask, &nothing))
        return false;
    if (nothing || (element && access->split && access->cta && once(access)))
        return true;
    address = address_add(address, access->effect->effect.offset, 1);
    if (access->threads && element) {
        access->threads->copies = true;
        add_piece(access, address, bytes, 0);
        return true;
    }
    runs_take(&access->runs, address, bytes);
    access->elements++;
    return true;
}

static bool take_pointers(Accessed *access) {
    const CompiledEffect *effect = access->effect;
    Word on = access->event->view;
    Word offsets = effect->offsets == NO_REGISTER ? on : access->words[effect->offsets];
    bool pointers = effect->offsets == NO_REGISTER, nothing;
    const Tensor *mask;
    if (word_is(on, WORD_DESCRIPTOR) && pointers)
        return take_block(access);
    if (word_is(on, WORD_INTEGER) && pointers)
        return take_piece(access, on.bits);
    if (!word_is(offsets, WORD_TENSOR) || !offsets.tensor->known || (!pointers && !word_is(on, WORD_INTEGER)))
        return fail(access, "its addresses are not known");
    int64_t bytes = element_bytes(access);
    if (!bytes)
        return fail(access, "the number of bytes it accesses is not known");
    if (effect->bytes && tensor_size(offsets.tensor)) /* one piece, from the first pointer on */
        return take_piece(access, tensor_linear(offsets.tensor, 0));
    if (!find_mask(access, offsets.tensor, &mask, &nothing))
        return false;
    PieceUnit unit = {.base = address_add(pointers ? 0 : on.bits, effect->effect.offset, 1),
                      .scale = pointers ? 1 : bytes,
                      .bytes = bytes};
    const Type *type = pointers ? effect->type : type_of(access, effect->effect.offsets.items[0]);
    return nothing || take_part(access, type, offsets.tensor, mask, &unit);
}

/* ---- Accesses ------------------------------------------------------------------------------------- */

static Accessed access_of(const Machine *machine, const Event *event, Arena *arena) {
    return (Accessed){.machine = machine,
                      .module = machine->program->module,
                      .event = event,
                      .effect = event->effect,
                      .words = machine_words(machine, event->agent),
                      .cta = agent_cta(machine, event->agent),
                      .split = machine->program->ctas > 1 && !machine->program->ranks_are_programs,
                      .runs = {.arena = arena}};
}

static bool take_access(Accessed *access) {
    const Effect *effect = &access->effect->effect;
    if (effect->proxy == PROXY_TENSORMAP && !effect->on_descriptor)
        return take_descriptor(access);
    return effect->on_descriptor ? take_tile(access) : take_pointers(access);
}

bool access_elements(const Machine *machine, const Event *event, Arena *arena, Bytes *bytes, uint64_t *elements,
                     const char **reason) {
    Accessed access = access_of(machine, event, arena);
    bool known = take_access(&access);
    *bytes = (Bytes){0};
    *elements = 0;
    *reason = access.reason;
    if (!known)
        return false;
    runs_sort(&access.runs);
    *bytes = (Bytes){access.runs.runs, access.runs.count};
    *elements = access.elements;
    return true;
}

bool access_threads(const Machine *machine, const Event *event, Arena *arena, ThreadPieces *pieces) {
    Accessed access = access_of(machine, event, arena);
    const Effect *effect = &event->effect->effect;
    *pieces = (ThreadPieces){0};
    access.threads = pieces;
    if (!take_access(&access))
        return false;
    /* What is no element of a tensor is a box, or one piece. */
    for (uint32_t i = 0; i < access.runs.count; i++)
        add_piece(&access, access.runs.runs[i].begin, access.runs.runs[i].end - access.runs.runs[i].begin,
                  effect->proxy == PROXY_ASYNC ? THREAD_ENGINE : THREAD_UNKNOWN);
    return true;
}

uint64_t access_mapping(const Machine *machine, const Event *event) {
    const CompiledEffect *effect = event->effect;
    Accessed access = access_of(machine, event, NULL);
    Word on = event->view, offsets = effect->offsets == NO_REGISTER ? on : access.words[effect->offsets];
    if (effect->effect.on_descriptor || effect->bytes || effect->effect.amount)
        return 0;
    const Type *type =
        effect->offsets == NO_REGISTER ? effect->type : type_of(&access, effect->effect.offsets.items[0]);
    if (!word_is(offsets, WORD_TENSOR) || !offsets.tensor->known || !offsets.tensor->even)
        return 0;
    const Distributed *layout = distributed_of(access.module, type_resolve(access.module, type));
    if (!layout || !layout->known || threads_have_copies(layout))
        return 0;
    uint64_t mapping = identity_mix((uint64_t)(uintptr_t)layout, (uint64_t)element_bytes(&access));
    mapping = identity_mix(mapping, (uint64_t)offsets.tensor->base);
    if (effect->offsets != NO_REGISTER)
        mapping = identity_mix(mapping, (uint64_t)on.bits);
    for (unsigned i = 0; i < offsets.tensor->rank; i++)
        mapping = identity_mix(mapping, (uint64_t)offsets.tensor->steps[i]);
    return mapping | 1;
}

bool access_hull(const Machine *machine, const Event *event, Arena *arena, Run *hull) {
    Accessed access = access_of(machine, event, arena);
    access.runs.hull = true;
    *hull = (Run){0};
    if (!take_access(&access))
        return false;
    for (uint32_t i = 0; i < access.runs.count; i++) {
        const Run *run = &access.runs.runs[i];
        hull->begin = i && hull->begin < run->begin ? hull->begin : run->begin;
        hull->end = i && hull->end > run->end ? hull->end : run->end;
    }
    return true;
}

bool access_ranges(const Machine *machine, const Event *event, Arena *arena, Bytes *bytes, const char **reason) {
    uint64_t elements;
    return access_elements(machine, event, arena, bytes, &elements, reason);
}

bool access_most(const Machine *machine, const Event *event, Arena *arena, Bytes *bytes) {
    Accessed access = access_of(machine, event, arena);
    access.any_mask = true;
    *bytes = (Bytes){0};
    if (!take_access(&access))
        return false;
    runs_sort(&access.runs);
    *bytes = (Bytes){access.runs.runs, access.runs.count};
    return true;
}

uint32_t access_element(const Machine *machine, const Event *event) {
    Accessed access = access_of(machine, event, NULL);
    const Effect *effect = &access.effect->effect;
    if (effect->on_descriptor || word_is(event->view, WORD_DESCRIPTOR)) {
        const Descriptor *descriptor = find_descriptor(&access);
        return descriptor ? descriptor->element_bits / 8 : 0;
    }
    return is_elements(access.effect) ? (uint32_t)element_bytes(&access) : 0;
}

/* ---- Forms ---------------------------------------------------------------------------------------- */

/* One dimension of a box: what is inside of the tensor stays inside, what is behind it stays there; what is clipped
 * does not move. */
static AffineForm tile_form(Accessed *access, const AffineForm *forms, const Descriptor *descriptor, unsigned dimension,
                            int64_t size) {
    Symmetry *symmetry = &access->machine->symmetry->box;
    const CompiledEffect *effect = access->effect;
    AffineForm form = {.loose = false}, scaled;
    Box box;
    if (!effect->coordinates.count)
        return form;
    uint32_t reg = access->machine->program->lists[effect->coordinates.first + dimension];
    int64_t from;
    if (reg == NO_REGISTER || !coordinate(access, dimension, &from))
        return form;
    if (from >= descriptor->shape[dimension]) { /* nothing is touched */
        symmetry_keep(symmetry, &forms[reg], from, descriptor->shape[dimension], INT64_MAX);
        return form;
    }
    clip(descriptor, dimension, 0, size, &box);
    int64_t last = descriptor->shape[dimension] - box.end[dimension];
    if (box.end[dimension] < size || from < 0 || from > last)
        symmetry_pin(symmetry, &forms[reg]);
    else
        symmetry_keep(symmetry, &forms[reg], from, 0, last);
    if (symmetry_is_fixed(symmetry, &forms[reg]))
        return form;
    if (symmetry_combine(&form, &forms[reg], descriptor->strides[dimension], &scaled))
        return scaled;
    symmetry_pin(symmetry, &forms[reg]);
    return form;
}

static AffineForm box_form(Accessed *access, const AffineForm *forms) {
    const CompiledEffect *effect = access->effect;
    const Type *type = box_type(access);
    const Descriptor *descriptor = find_descriptor(access);
    AffineForm form = {.loose = false};
    bool boxes = descriptor && type && type->dim_count == descriptor->rank && effect->rows == NO_REGISTER &&
                 effect->coordinates.count == descriptor->rank;
    for (uint32_t i = 0; i < effect->coordinates.count; i++) {
        uint32_t reg = access->machine->program->lists[effect->coordinates.first + i];
        if (!boxes && reg != NO_REGISTER)
            symmetry_pin(&access->machine->symmetry->box, &forms[reg]);
    }
    if (!boxes)
        return form;
    const Type *tile = tile_type(access, type, data_type(access), descriptor);
    for (unsigned i = 0; i < descriptor->rank; i++) {
        AffineForm part = tile_form(access, forms, descriptor, i, tile->dims[i]), both;
        if (symmetry_combine(&form, &part, 1, &both))
            form = both;
        else
            symmetry_pin(&access->machine->symmetry->box, &part);
    }
    return form;
}

AffineForm access_form(const Machine *machine, const Event *event) {
    Accessed access = access_of(machine, event, NULL);
    const CompiledEffect *effect = event->effect;
    const AffineForm *forms = symmetry_forms(machine, event->agent);
    AffineForm form = effect->on == NO_REGISTER ? (AffineForm){.loose = false} : forms[effect->on], moved;
    if (effect->effect.on_descriptor) {
        symmetry_pin(&machine->symmetry->box, &form);
        return box_form(&access, forms);
    }
    if (effect->offsets != NO_REGISTER) {
        if (!symmetry_combine(&form, &forms[effect->offsets], element_bytes(&access), &moved))
            moved.loose = true;
        form = moved;
    }
    if (form.loose)
        symmetry_pin(&machine->symmetry->box, &form);
    return form.loose ? (AffineForm){.loose = false} : form;
}
