/* Scratch memory of ops: one function an op that has some, in a table. Sizes are Triton's. */
#include "model/memory/scratch.h"

#include "ir/memo.h"
#include "ir/op.h"
#include "model/flow/forwarded.h"
#include "model/layout/convert.h"
#include "model/memory/views.h"
#include "model/target/target.h"

#include <stdlib.h>

enum { SCRATCH_ALIGNMENT = 128, CAPTURE_ALIGNMENT = 8, FUNCTION_ALIGNMENT = 4 };

static const Scratch none = {0, 1, false, false};
static const Scratch unknown = {-1, SCRATCH_ALIGNMENT, false, false};

static Scratch bytes_of(int64_t bytes) {
    return bytes < 0 ? unknown : bytes ? (Scratch){.bytes = bytes, .alignment = SCRATCH_ALIGNMENT} : none;
}

/* ---- The target -------------------------------------------------------------------------------- */

/* How a conversion moves values on the target that the module of an op names. */
static ConvertMeans means_of(const Op *op, const Distributed *from, const Distributed *to, unsigned bits) {
    enum { LOAD_MATRIX_SINCE = 75, STORE_MATRIX_SINCE = 90 };
    static const uint8_t early_lanes[] = {0, 1, 4}, wide_lanes[] = {0, 1, 3, 4};
    Vendor vendor;
    unsigned number;
    bool said = target_said(op, &vendor, &number), amd = said && vendor == VENDOR_AMD, nvidia = said && !amd;
    bool wide = amd && (number == 950 || number / 10 == 125);
    bool early = amd && ((number >= 940 && number <= 942) || number / 100 == 10 || number / 100 == 11);
    ConvertMeans means = {.banks = wide ? 64 : 32, .plain = !nvidia};
    if (amd && convert_vector_bits(from, to, bits) == 128) {
        means.load_lanes = early ? early_lanes : wide ? wide_lanes : NULL;
        means.load_lane_count = early ? sizeof early_lanes : sizeof wide_lanes;
    }
    means.load_matrix = nvidia && number >= LOAD_MATRIX_SINCE && convert_reach(from, to) < REACH_CTAS;
    means.store_matrix = nvidia && number >= STORE_MATRIX_SINCE;
    return means;
}

/* ---- Effects ----------------------------------------------------------------------------------- */

/* In memory, a tensor descriptor. */
static bool makes_descriptor(const Effect *effect) {
    return effect->verb == EFFECT_FENCE_PROXY && effect->proxy == PROXY_TENSORMAP && effect->on &&
           effect->order == ORDER_RELEASE;
}

static bool has_offsets(const Effect *effect) {
    return effect->offsets.count > 0;
}

static bool gives_up(const Effect *effect) {
    return effect->gives_up;
}

static bool any_effect(Module *module, const Op *op, bool (*fits)(const Effect *effect)) {
    Effect effects[EFFECTS_MOST];
    unsigned count = *op->row->effects ? effects_of(module, op, effects) : 0;
    for (unsigned i = 0; i < count; i++)
        if (fits(&effects[i]))
            return true;
    return false;
}

/* ---- Types ------------------------------------------------------------------------------------- */

/* Of an element; pointers have 64. 0: not known. */
static unsigned element_bits(Module *module, const Type *type) {
    const Type *resolved = type_resolve(module, type);
    const Type *element = resolved && resolved->element && !type_is(resolved, STR("tt.ptr"))
                              ? type_resolve(module, resolved->element)
                              : resolved;
    if (!element)
        return 0;
    if (type_is(element, STR("tt.ptr")))
        return 64;
    return element->kind == TYPE_INTEGER || element->kind == TYPE_FLOAT ? element->width : 0;
}

/* As a tensor keeps it: at least a byte. */
static unsigned stored_bits(Module *module, const Type *type) {
    unsigned bits = element_bits(module, type);
    return bits && bits < 8 ? 8 : bits;
}

static const Distributed *layout_of_operand(Module *module, const Op *op, uint32_t index) {
    return index < op->operand_count ? distributed_of(module, op->operands[index]->type) : NULL;
}

static bool is_known(const Distributed *layout) {
    return layout && layout->known;
}

static int64_t elements_of(const Distributed *layout) {
    unsigned bits = 0;
    for (unsigned d = 0; d < layout->rank; d++)
        bits += layout->bits[d];
    return (int64_t)1 << bits;
}

/* The axis of an op, if its tensor has it. */
static bool axis_of(const Op *op, const Distributed *layout, unsigned *axis) {
    const Attr *attr = op_attr(op, "axis");
    if (!attr || attr->kind != ATTR_INTEGER || !attr->exact || attr->integer < 0 || attr->integer >= layout->rank)
        return false;
    *axis = (unsigned)attr->integer;
    return true;
}

/* ---- Conversions ------------------------------------------------------------------------------- */

static Scratch of_convert(Module *module, const Op *op) {
    const Distributed *from = layout_of_operand(module, op, 0);
    const Distributed *to = op->result_count ? distributed_of(module, op->results[0].type) : NULL;
    Reach reach = convert_reach(from, to);
    unsigned bits = op->operand_count ? stored_bits(module, op->operands[0]->type) : 0;
    if (reach == REACH_UNKNOWN || !bits)
        return op->operand_count && op->result_count && op->operands[0]->type &&
                       type_agree(module, op->operands[0]->type, op->results[0].type) == AGREE
                   ? none
                   : unknown;
    if (reach <= REACH_REGISTERS || op_attr(op, "force_warp_shuffle"))
        return none;
    if (reach == REACH_LANES && convert_by_shuffles(from, to))
        return none;
    int64_t elements = convert_elements(from, to, bits, means_of(op, from, to, bits));
    Scratch scratch = bytes_of(elements < 0 ? -1 : elements * bits / 8);
    scratch.warp_synchronous = convert_within_warps(from, to);
    scratch.crosses_ctas = !convert_within_ctas(from, to);
    return scratch;
}

/* ---- Reductions -------------------------------------------------------------------------------- */

/* The holder has nothing along the axis any more; what is left there is numbered again, the registers first. */
static void fold(Distributed *layout, unsigned axis, Holder holder) {
    uint32_t next = 1;
    for (unsigned i = 0; i < layout->count[holder]; i++)
        layout->bases[holder][i][axis] = 0;
    for (unsigned h = 0; h < HOLDERS; h++)
        for (unsigned i = 0; i < layout->count[h]; i++)
            if (layout->bases[h][i][axis]) {
                layout->bases[h][i][axis] = next;
                next *= 2;
            }
    distributed_shrink(layout);
}

/* Registers that go along the axis before the others; in their order otherwise. */
static void axis_registers_first(Distributed *layout, unsigned axis) {
    Distributed old = *layout;
    unsigned next = 0;
    for (int along = 1; along >= 0; along--)
        for (unsigned i = 0; i < old.count[HOLD_REGISTER]; i++)
            if ((old.bases[HOLD_REGISTER][i][axis] != 0) == along)
                memcpy(layout->bases[HOLD_REGISTER][next++], old.bases[HOLD_REGISTER][i], sizeof old.bases[0][0]);
}

static void swap_bases(uint32_t *a, uint32_t *b) {
    uint32_t kept[DISTRIBUTED_RANK];
    memcpy(kept, a, sizeof kept);
    memcpy(a, b, sizeof kept);
    memcpy(b, kept, sizeof kept);
}

/* Changes places between lanes and what goes along the axis in warps, and in CTAs if that fits: with lanes that hold
 * copies if there are enough of those. */
static void into_lanes(Distributed *layout, unsigned axis) {
    unsigned wanted = 0, copies = 0, lanes = layout->count[HOLD_LANE], lane = 0;
    for (unsigned h = HOLD_WARP; h < HOLDERS; h++)
        for (unsigned i = 0; i < layout->count[h]; i++)
            wanted += layout->bases[h][i][axis] != 0;
    for (unsigned i = 0; i < lanes; i++)
        copies += distributed_is_copy(layout, HOLD_LANE, i);
    bool only_copies = copies >= wanted;
    Distributed old = *layout;
    for (unsigned h = HOLD_WARP; h < (wanted <= lanes ? HOLDERS : HOLD_BLOCK); h++)
        for (unsigned i = 0; i < old.count[h]; i++) {
            if (!old.bases[h][i][axis])
                continue;
            while (only_copies && lane < lanes && !distributed_is_copy(&old, HOLD_LANE, lane))
                lane++;
            if (lane < lanes)
                swap_bases(layout->bases[HOLD_LANE][lane++], layout->bases[h][i]);
        }
    distributed_shrink(layout);
}

/* Each thread and each warp reduces its own; what is then left along the axis goes through shared memory, in as many
 * steps as it takes. The largest step counts. */
static Scratch of_reduce(Module *module, const Op *op) {
    enum { MOST_STEPS = 8 };
    const Distributed *source = layout_of_operand(module, op, 0);
    unsigned axis;
    if (!is_known(source) || !axis_of(op, source, &axis))
        return unknown;
    Distributed layout = *source;
    distributed_drop_copies(&layout);
    axis_registers_first(&layout, axis);
    fold(&layout, axis, HOLD_REGISTER);
    distributed_drop_copies(&layout);
    fold(&layout, axis, HOLD_LANE);
    int64_t largest = 0;
    for (int step = 0; layout.bits[axis]; step++) {
        Distributed lanes = layout;
        into_lanes(&lanes, axis);
        int64_t bytes = 0;
        for (uint32_t i = 0; i < op->operand_count; i++) {
            unsigned bits = stored_bits(module, op->operands[i]->type);
            ConvertMeans means = bits ? means_of(op, &layout, &lanes, bits) : (ConvertMeans){0};
            means.plain = true;
            int64_t elements = bits ? convert_elements(&layout, &lanes, bits, means) : -1;
            if (elements < 0 || step == MOST_STEPS)
                return unknown;
            bytes += elements * (bits / 8);
        }
        largest = bytes > largest ? bytes : largest;
        layout = lanes;
        fold(&layout, axis, HOLD_LANE);
    }
    Scratch scratch = bytes_of(largest);
    scratch.crosses_ctas = distributed_along(source, HOLD_BLOCK, axis) > 1;
    return scratch;
}

/* How many elements a thread has one after the other in each dimension, the dimensions in the order in which its
 * registers go along them. */
static void contiguous(const Distributed *layout, int64_t *sizes) {
    unsigned order[DISTRIBUTED_RANK], seen = 0, count = 0, next = 0;
    for (unsigned i = 0; i < layout->count[HOLD_REGISTER]; i++)
        for (unsigned d = 0; d < layout->rank; d++)
            if (layout->bases[HOLD_REGISTER][i][d]) {
                if (!(seen >> d & 1))
                    order[count++] = d;
                seen |= 1u << d;
                break;
            }
    for (unsigned d = layout->rank; d-- > 0;)
        if (!(seen >> d & 1))
            order[count++] = d;
    for (unsigned k = 0; k < layout->rank; k++) {
        unsigned d = order[k];
        for (sizes[d] = 1; next < layout->count[HOLD_REGISTER]; next++, sizes[d] *= 2) {
            const uint32_t *basis = layout->bases[HOLD_REGISTER][next];
            uint32_t others = 0;
            for (unsigned other = 0; other < layout->rank; other++)
                others |= other == d ? 0 : basis[other];
            if (others || basis[d] != sizes[d])
                break;
        }
    }
}

/* One value for each warp and each row of it that goes along the axis. */
static Scratch of_scan(Module *module, const Op *op) {
    const Distributed *source = layout_of_operand(module, op, 0);
    unsigned axis;
    if (!is_known(source) || !axis_of(op, source, &axis))
        return unknown;
    if (!source->blocked || distributed_along(source, HOLD_WARP, axis) == 1)
        return none;
    Distributed layout = *source;
    distributed_drop_copies(&layout);
    int64_t sizes[DISTRIBUTED_RANK], elements = 1, bytes = 0;
    contiguous(&layout, sizes);
    for (unsigned d = 0; d < layout.rank; d++) {
        int64_t lanes = distributed_along(&layout, HOLD_LANE, d), warps = distributed_along(&layout, HOLD_WARP, d);
        int64_t covered = sizes[d] * lanes * warps, whole = (int64_t)1 << layout.bits[d];
        elements *= warps * ((whole + covered - 1) / covered) * (d == axis ? 1 : lanes * sizes[d]);
    }
    for (uint32_t i = 0; i < op->operand_count; i++) {
        unsigned bits = element_bits(module, op->operands[i]->type);
        if (!bits)
            return unknown;
        bytes += (bits + 7) / 8;
    }
    return bytes_of(bytes * elements);
}

/* ---- Gathers and histograms -------------------------------------------------------------------- */

/* Whether a holder's bases are the same in both, the axis aside. */
static bool same_aside(const Distributed *a, const Distributed *b, Holder holder, unsigned axis) {
    if (a->count[holder] != b->count[holder])
        return false;
    for (unsigned i = 0; i < a->count[holder]; i++)
        for (unsigned d = 0; d < a->rank; d++)
            if (d != axis && a->bases[holder][i][d] != b->bases[holder][i][d])
                return false;
    return true;
}

/* The warp that has an index has all the elements that it may mean. */
static bool gathers_within_warp(const Distributed *source, const Distributed *indices, unsigned axis) {
    for (unsigned h = HOLD_WARP; h < HOLDERS; h++)
        if (distributed_along(source, (Holder)h, axis) > 1 || distributed_along(indices, (Holder)h, axis) > 1)
            return false;
    return same_aside(source, indices, HOLD_BLOCK, axis) && same_aside(source, indices, HOLD_WARP, axis) &&
           same_aside(source, indices, HOLD_LANE, axis);
}

static Scratch of_gather(Module *module, const Op *op) {
    const Distributed *source = layout_of_operand(module, op, 0), *indices = layout_of_operand(module, op, 1);
    unsigned axis, bits = op->operand_count ? element_bits(module, op->operands[0]->type) : 0;
    if (!is_known(source) || !is_known(indices) || source->rank != indices->rank || !axis_of(op, source, &axis) ||
        !bits)
        return unknown;
    return gathers_within_warp(source, indices, axis) ? none : bytes_of(elements_of(source) * ((bits + 7) / 8));
}

static Scratch of_histogram(Module *module, const Op *op) {
    const Type *type = op->result_count && op->results[0].type ? type_resolve(module, op->results[0].type) : NULL;
    unsigned bits = type ? stored_bits(module, type) : 0;
    int64_t bins = 1, lanes = module_warp_threads(op, 32);
    if (!bits)
        return unknown;
    for (unsigned d = 0; d < type->dim_count; d++)
        if (type->dims[d] <= 0 || __builtin_mul_overflow(bins, type->dims[d], &bins) || bins >> 40)
            return unknown;
    return bytes_of((bins > lanes ? bins : lanes) * bits / 8);
}

/* ---- Atomics ----------------------------------------------------------------------------------- */

/* Results that is used, of those ops of a function whose scratch memory depends on it; sorted. */
typedef struct Used {
    const Value **items;
    uint32_t count;
} Used;

static bool is_atomic(const Op *op) {
    return op_is(op, CLASS_ATOMIC) || op_is(op, CLASS_LOCAL_ATOMIC) || op_is(op, CLASS_POLL);
}

static int by_address(const void *a, const void *b) {
    const Value *const *x = a, *const *y = b;
    return (*x > *y) - (*x < *y);
}

static bool is_used(Module *module, const Op *op) {
    const Op *root = op;
    while (op_parent(root) && !op_function(root))
        root = op_parent(root);
    bool fresh;
    Used *used = module_memo(module, "used", root, sizeof *used, &fresh);
    for (int fill = 0; fresh && fill < 2; fill++) {
        uint32_t count = 0;
        for (const Op *user = root; user; user = op_next_in_walk(user, root))
            for (uint32_t i = 0; i < user->operand_count; i++) {
                const Value *value = user->operands[i];
                if (!value->is_result || !is_atomic(value->owner))
                    continue;
                if (fill)
                    used->items[count] = value;
                count++;
            }
        if (!fill)
            used->items = ARENA_ARRAY(&module->arena, const Value *, count + 1);
        used->count = count;
    }
    if (fresh)
        qsort(used->items, used->count, sizeof *used->items, by_address);
    const Value *result = &op->results[0];
    return bsearch(&result, used->items, used->count, sizeof *used->items, by_address) != NULL;
}

/* Whether threads share elements, so that one of them has to tell the others. */
static bool has_copies(const Distributed *layout, Holder first) {
    for (unsigned h = first; h < HOLDERS; h++)
        for (unsigned i = 0; i < layout->count[h]; i++)
            if (distributed_is_copy(layout, (Holder)h, i))
                return true;
    return false;
}

/* The thread that did it hands the old value to all that hold the result. */
static Scratch of_atomic(Module *module, const Op *op) {
    bool buffer = any_effect(module, op, has_offsets); /* by AMD's buffer instructions */
    if (!op->result_count || !op->operand_count || !op->results[0].type || !is_used(module, op))
        return none;
    const Type *result = type_resolve(module, op->results[0].type), *memory = op->operands[0]->type;
    const Type *pointee = memory ? type_pointee(module, memory) : NULL;
    unsigned bits = stored_bits(module, buffer || op_is(op, CLASS_POLL) ? result : pointee ? pointee : memory);
    int64_t elements = 1;
    bool tensor = result && result->kind == TYPE_TENSOR, crosses = module_ctas(op) > 1;
    if (!bits || !result)
        return unknown;
    if (!tensor && buffer)
        return none;
    if (tensor) {
        const Distributed *layout = distributed_of(module, result);
        if (!is_known(layout))
            return unknown;
        if (!has_copies(layout, HOLD_REGISTER))
            return none;
        elements = elements_of(layout);
        for (unsigned d = 0; d < layout->rank; d++)
            elements /= distributed_along(layout, HOLD_BLOCK, d);
        crosses &= has_copies(layout, HOLD_BLOCK);
    }
    Scratch scratch = bytes_of(elements * (bits / 8));
    scratch.crosses_ctas = crosses;
    return scratch;
}

/* ---- Warp specialization ----------------------------------------------------------------------- */

/* What a partition is handed of a captured value; -1: not known. */
static int64_t capture_bytes(Module *module, const Type *type, bool amd) {
    enum { POINTER = 8, OFFSET = 4, DESCRIPTOR_WORDS = 12, DEEP_DESCRIPTOR_WORDS = 20 };
    const Type *resolved = type ? type_canonical(module, type) : NULL;
    if (!resolved)
        return -1;
    if (resolved->kind == TYPE_INTEGER || resolved->kind == TYPE_FLOAT)
        return (resolved->width + 7) / 8;
    if (type_is(resolved, STR("tt.ptr")))
        return POINTER;
    if (type_is_descriptor(resolved))
        return amd ? 4 * (resolved->dim_count > 2 ? DEEP_DESCRIPTOR_WORDS : DESCRIPTOR_WORDS) : POINTER;
    switch (memdesc_space(resolved)) {
    case SPACE_SHARED:
        return POINTER + OFFSET * resolved->dim_count;
    case SPACE_TENSOR:
        return POINTER;
    default:
        return -1;
    }
}

static Scratch of_fork(Module *module, const Op *op) {
    const Op *holder = region_end(op, 1);
    const Op *captures = op_is_control(holder, CONTROL_PARTITIONS) ? captures_of(holder) : op;
    bool amd = str_starts(target_text(op), STR("hip:"));
    int64_t bytes = 0;
    if (!op_integer(op, "consan.extra_capture_bytes", &bytes) || bytes < 0 || bytes >= 1 << 20)
        bytes = 0;
    for (uint32_t i = 0; i < captures->operand_count; i++) {
        int64_t size = capture_bytes(module, captures->operands[i]->type, amd);
        if (size < 0)
            return unknown;
        bytes += size;
    }
    Scratch scratch = bytes_of(bytes);
    scratch.alignment = CAPTURE_ALIGNMENT;
    return scratch;
}

/* A byte for each warp of the partitions, for the whole function: it tells them what to do. */
static Scratch of_function(const Op *function) {
    int64_t most = 0;
    for (const Op *op = function; op; op = op_next_in_walk(op, function)) {
        const Attr *warps = op_is_control(op, CONTROL_FORK) ? op_attr(op, "partitionNumWarps") : NULL;
        int64_t total = 0;
        for (uint32_t i = 0; warps && warps->kind == ATTR_INTS && i < warps->count; i++)
            total += warps->ints[i] > 0 && warps->ints[i] <= 64 ? warps->ints[i] : 0;
        most = total > most ? total : most;
    }
    return most ? (Scratch){.bytes = most, .alignment = FUNCTION_ALIGNMENT} : none;
}

/* ---- All of them ------------------------------------------------------------------------------- */

static Scratch compute(Module *module, const Op *op) {
    enum { TENSORMAP = 128 };
    switch (op_control(op)) {
    case CONTROL_FORK:
        return of_fork(module, op);
    case CONTROL_FUNCTION:
        return of_function(op);
    default:
        break;
    }
    switch (op_evaluator(op)) {
    case EVALUATE_REDUCE:
        return of_reduce(module, op);
    case EVALUATE_SCAN:
        return of_scan(module, op);
    case EVALUATE_GATHER:
        return of_gather(module, op);
    default:
        break;
    }
    if (op_is(op, CLASS_CONVERT))
        return of_convert(module, op);
    if (op_is(op, CLASS_HISTOGRAM))
        return of_histogram(module, op);
    if (any_effect(module, op, makes_descriptor))
        return bytes_of(TENSORMAP);
    bool waits_forever = op_is(op, CLASS_POLL) && !any_effect(module, op, gives_up); /* what it gives is known */
    return is_atomic(op) && !waits_forever ? of_atomic(module, op) : none;
}

Scratch scratch_of(Module *module, const Op *op) {
    if (!op->row || op_is_control(op, CONTROL_CALL) || op->form == FORM_OPAQUE)
        return none;
    Scratch scratch = compute(module, op);
    int64_t size;
    const Attr *said = op_attr(op, "allocation.size");
    if (said && said->exact && op_integer(op, "allocation.size", &size) && size >= 0 && size < INT64_C(1) << 40) {
        scratch.bytes = size;
        if (scratch.alignment < 1 || !scratch.bytes)
            scratch.alignment = 1;
    }
    return scratch;
}
