/* Copies to and from LDS on AMD: what a lane can move, and what the tensor data mover can describe. */
#include "check/facts/contiguity.h"
#include "check/lint/tile/amd.h"

#include "model/flow/partition.h"
#include "model/layout/distributed.h"
#include "model/layout/encoding.h"
#include "model/layout/layout.h"

#include <inttypes.h>

/* ---- How contiguous memory is --------------------------------------------------------------------- */

/* Whether how the pointers are made, or what is said of them, shows neighbors. */
static bool is_contiguous(Lint *lint, const Value *pointers) {
    const Distributed *layout = distributed_of(lint->module, pointers->type);
    Contiguity *contiguity = contiguity_create(&lint->module->arena, lint->module, lint->facts);
    for (unsigned d = 0; layout && layout->known && layout->count[HOLD_REGISTER] && d < layout->rank; d++)
        if (layout->bases[HOLD_REGISTER][0][d])
            return runs_of(contiguity, pointers, d).contiguous > 1;
    return false;
}

/* ---- Lanes ---------------------------------------------------------------------------------------- */

/* What a kernel for other warps will become is not this kernel. */
static bool has_own_waves(const Lint *lint) {
    unsigned threads = lint->target->warp_threads;
    return module_warp_threads(lint->function, threads) == threads;
}

/* Until memory is placed, a pass of the compiler may give the copy another layout. */
static bool is_final(const Lint *lint) {
    return lint_module_integer(lint, "ttg.shared", -1) >= 0;
}

static void report_layout(Lint *lint, const Op *op, RuleId rule, const char *what) {
    if (is_final(lint))
        lint_find(lint, rule, op, "%s", what);
    else
        lint_find(lint, RULE_AMD_COPY_WIDTH_UNKNOWN, op, "review: %s, unless the compiler changes the layout", what);
}

void lint_amd_copy(Lint *lint, const Op *op) {
    AmdCopy copy;
    int64_t hint;
    if (!amd_copy_of(lint->module, op, &copy) || !has_own_waves(lint))
        return;
    AmdWidth width = amd_width_of(lint->module, op, lint->target);
    if (!width.known) {
        lint_find(lint, RULE_AMD_COPY_WIDTH_UNKNOWN, op, "review: the layouts of the copy are not understood");
    } else if (!width.most) {
        report_layout(lint, op, RULE_AMD_COPY_WIDTH,
                      verdict_text(lint->verdict,
                                   "each lane has %" PRId64 " neighboring element%s of %" PRId64
                                   " byte%s, and %s has no copy of that width",
                                   width.neighbors, width.neighbors == 1 ? "" : "s", width.element,
                                   width.element == 1 ? "" : "s", lint->target->name));
    } else if (width.scattered) {
        report_layout(lint, op, RULE_AMD_COPY_SCATTERED,
                      verdict_text(lint->verdict,
                                   "the lanes of a wave do not write %" PRId64 " bytes each side by side", width.most));
    } else if (width.least > width.element && !(op_integer(op, "contiguity", &hint) && hint > 1) &&
               !is_contiguous(lint, copy.global)) {
        lint_find(lint, RULE_AMD_COPY_WIDTH_UNKNOWN, op,
                  "review: %" PRId64 " elements must lie side by side in memory, which the IR does not say",
                  width.least / width.element);
    }
}

/* ---- The tensor data mover ------------------------------------------------------------------------ */

/* The element's bytes, and the shape, of the tile that a descriptor describes. */
static const Type *tile_of(Lint *lint, const Value *descriptor) {
    const Type *type = lint_type(lint, descriptor);
    if (type && !type->dim_count && type->element && type->element->kind == TYPE_TENSOR)
        return type->element;
    return type && type->dim_count ? type : NULL;
}

static void check_block(Lint *lint, const Op *op, const Type *tile) {
    enum { MOST_DIMENSIONS = 5, LARGEST_DIMENSION = 65535 };
    if (tile->dim_count > MOST_DIMENSIONS)
        lint_find(lint, RULE_AMD_TDM_BLOCK, op, "the tile has %u dimensions, and at most %u are supported",
                  tile->dim_count, MOST_DIMENSIONS);
    for (uint32_t d = 0; d < tile->dim_count; d++)
        if (tile->dims[d] > LARGEST_DIMENSION)
            lint_find(lint, RULE_AMD_TDM_BLOCK, op,
                      "dimension %u of the tile has %" PRId64 " elements, and at most %u are supported", d,
                      tile->dims[d], LARGEST_DIMENSION);
}

static void check_padding(Lint *lint, const Op *op, const Layout *layout, const Type *tile, bool whole_rows) {
    enum { LEAST_INTERVAL = 2, MOST_INTERVAL = 256, MOST_PADDING = 128, DWORD = 32 };
    for (unsigned i = 0; i < layout->padding_count; i++) {
        int64_t bits = layout->element_bits, interval = layout->paddings[i].interval * bits;
        int64_t amount = layout->paddings[i].amount * bits;
        bool fits = is_power(layout->paddings[i].interval) && interval >= LEAST_INTERVAL * DWORD &&
                    interval <= MOST_INTERVAL * DWORD && amount >= DWORD && amount <= MOST_PADDING * DWORD;
        if (!fits)
            lint_find(lint, RULE_AMD_TDM_PADDING, op,
                      "%" PRId64 " bits of padding after every %" PRId64
                      " bits: it must be 1 to 128 dwords after every 2 to 256, a power of two",
                      amount, interval);
    }
    if (whole_rows && layout->padding_count > 1)
        lint_find(lint, RULE_AMD_TDM_PADDING, op, "a store takes one kind of padding, and this buffer has %u",
                  layout->padding_count);
    int64_t row = tile && tile->dim_count ? tile->dims[tile->dim_count - 1] : 0;
    if (whole_rows && layout->padding_count == 1 && row && layout->paddings[0].interval != row &&
        module_ctas(lint->function) == 1)
        lint_find(lint, RULE_AMD_TDM_PADDING, op,
                  "a store takes padding after each row of %" PRId64 " elements, and here it is after every %" PRId64,
                  row, layout->paddings[0].interval);
}

static void check_buffer(Lint *lint, const Op *op, const Value *buffer, const Type *tile, bool whole_rows) {
    const Type *type = lint_type(lint, buffer);
    const Layout *layout = type ? layout_of(lint->module, type) : NULL;
    if (!layout || type->param_count < 2)
        return;
    Encoding encoding = encoding_read(lint->module, type->params[1]);
    int64_t phases = encoding_is(&encoding, "swizzled_shared") ? encoding_int(&encoding, "maxPhase", 1) : 1;
    if (phases > 1)
        lint_find(lint, RULE_AMD_TDM_SWIZZLE, op, "the buffer is swizzled in %" PRId64 " phases", phases);
    if (layout->known)
        check_padding(lint, op, layout, tile, whole_rows);
}

static void check_rows(Lint *lint, const Op *op, const Value *rows, const Type *tile) {
    const Type *type = lint_type(lint, rows);
    if (tile && tile->dim_count != 2)
        lint_find(lint, RULE_AMD_TDM_ROWS, op, "the tile has %u dimensions, and row copies take two", tile->dim_count);
    else if (tile && tile->element && tile->element->width && tile->element->width < 8)
        lint_find(lint, RULE_AMD_TDM_ROWS, op, "the elements have %u bits, and at least 8 are required",
                  tile->element->width);
    else if (type && type->kind == TYPE_TENSOR && type->dim_count != 1)
        lint_find(lint, RULE_AMD_TDM_ROWS, op, "the row numbers have %u dimensions instead of one", type->dim_count);
    else if (type && type->kind == TYPE_TENSOR && !is_power(type->dims[0]))
        lint_find(lint, RULE_AMD_TDM_ROWS, op, "there are %" PRId64 " row numbers, which is not a power of two",
                  type->dims[0]);
    else if (type && type->element && type->element->kind == TYPE_INTEGER && type->element->width != 16 &&
             type->element->width != 32)
        lint_find(lint, RULE_AMD_TDM_ROWS, op, "the row numbers have %u bits instead of 16 or 32",
                  type->element->width);
}

/* ---- Fused copies --------------------------------------------------------------------------------- */

/* Whether the waves of the mask differ in no more bits of their numbers than as many waves need. */
static bool is_aligned(uint32_t mask) {
    uint32_t first = (uint32_t)__builtin_ctz(mask), differing = 0;
    for (uint32_t wave = 0; wave < 32; wave++)
        if (mask >> wave & 1)
            differing |= wave ^ first;
    return is_power(__builtin_popcount(mask)) && __builtin_popcount(mask) == 1 << __builtin_popcount(differing);
}

static void check_fused(Lint *lint, const Op *op, const Value *const *descriptors, uint32_t count) {
    const Attr *hints = op_attr(op, "warp_used_hints");
    unsigned waves = partition_warps(op);
    uint32_t taken = 0;
    if (count < 2 || count > 4)
        lint_find(lint, RULE_AMD_TDM_FUSED, op, "%u copies are fused, and 2 to 4 can be", count);
    for (uint32_t i = 1; i < count; i++) {
        const Type *first = tile_of(lint, descriptors[0]), *other = tile_of(lint, descriptors[i]);
        if (first && other && first->dim_count != other->dim_count)
            lint_find(lint, RULE_AMD_TDM_FUSED, op, "copies of tiles with %u and with %u dimensions are fused",
                      first->dim_count, other->dim_count);
    }
    for (uint32_t i = 0; hints && hints->kind == ATTR_INTS && i < hints->count; i++) {
        int64_t hint = hints->ints[i];
        bool beyond = hint <= 0 || hint > UINT32_MAX || (waves < 32 && hint >> waves);
        if (beyond)
            lint_find(lint, RULE_AMD_TDM_FUSED, op,
                      "copy %u is for the waves of mask %" PRId64 ", and there are %u waves", i, hint, waves);
        else if (taken & (uint32_t)hint)
            lint_find(lint, RULE_AMD_TDM_FUSED, op, "copy %u uses waves that another copy also uses (mask %" PRId64 ")",
                      i, hint);
        else if (!is_aligned((uint32_t)hint))
            lint_find(lint, RULE_AMD_TDM_FUSED, op, "the waves of copy %u (mask %" PRId64 ") are not an aligned set", i,
                      hint);
        taken |= beyond ? 0 : (uint32_t)hint;
    }
}

/* ---- One op of the mover -------------------------------------------------------------------------- */

void lint_amd_move(Lint *lint, const Op *op) {
    Effects effects = lint_effects(lint, op);
    const Value *descriptors[EFFECTS_MOST], *buffers[EFFECTS_MOST];
    const Value *rows = NULL;
    uint32_t descriptor_count = 0, buffer_count = 0;
    bool store = false;
    for (const Effect *effect = effects.items; effect < effects.end; effect++) {
        if (!effect_is_access(effect) || effect->group != GROUP_AMD_TENSOR)
            continue;
        *(effect->on_descriptor ? &descriptors[descriptor_count++] : &buffers[buffer_count++]) = effect->on;
        store |= effect->on_descriptor && effect->verb == EFFECT_WRITE;
        rows = effect->rows ? effect->rows : rows;
    }
    for (uint32_t i = 0; i < descriptor_count && i < buffer_count; i++) {
        const Type *tile = tile_of(lint, descriptors[i]);
        if (tile)
            check_block(lint, op, tile);
        check_buffer(lint, op, buffers[i], tile, store);
        if (rows)
            check_rows(lint, op, rows, tile);
    }
    if (descriptor_count && op_attr(op, "warp_used_hints"))
        check_fused(lint, op, descriptors, descriptor_count);
}
