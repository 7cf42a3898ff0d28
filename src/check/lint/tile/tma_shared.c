/* Rules of lint_tma.def about where in shared memory a copy, or the swizzled operand of a product, begins. */
#include "check/lint/tile/tma.h"

#include "model/layout/layout.h"

#include <inttypes.h>

enum { BOX_ALIGNMENT = 128, BULK_ALIGNMENT = 16, SWIZZLED_UNIT = 16 };

/* ---- Who else uses the memory --------------------------------------------------------------------- */

static void note_accesses(Lint *lint, const Op *op, Pointers *users) {
    Effects effects = lint_effects(lint, op);
    for (const Effect *effect = effects.items; effect < effects.end; effect++) {
        bool access = effect_is_access(effect) && effect->on;
        const Op *allocation = access ? place_of(lint->facts, effect->on).allocation : NULL;
        if (allocation)
            pointers_set(users, allocation, 1);
    }
}

/* Whether something else than a tensor copy reads or writes the allocation: it then assumes that the swizzle starts
 * where the buffer does. The first question looks at the whole function. */
static bool has_other_users(Lint *lint, const Op *allocation, SharedUsers *shared) {
    Copy copy;
    Pointers *users = &shared->others;
    bool asked = users->capacity != 0;
    for (const Op *op = lint->function; op && !asked; op = op_next_in_walk(op, lint->function))
        if (!tma_copy(lint, op, &copy))
            note_accesses(lint, op, users);
    if (!asked)
        pointers_set(users, lint->function, 1); /* it is no allocation; now the table is not empty */
    return pointers_get(users, allocation) != NO_NUMBER;
}

/* ---- Stages --------------------------------------------------------------------------------------- */

/* The step to the stage that a view is of, if that is not one constant; NULL if there is none. */
static const Op *moving_stage(Lint *lint, const Value *view, ViewStep *step) {
    enum { MOST_STEPS = 64 };
    for (int i = 0; i < MOST_STEPS && view; i++) {
        view = tma_source(view);
        const Op *op = value_op(view);
        if (!op || !op->row || !op->operand_count || !memdesc_space(op->operands[0]->type))
            return NULL;
        *step = view_step_of(lint->module, op);
        if (step->index && !step->problem && !known_of(lint->facts, step->index).exact)
            return op;
        view = op->operands[0];
    }
    return NULL;
}

/* Whether the stages of the ring that `memory` is of are such that not every one begins at a multiple of `boundary`. */
static const Op *uneven_stage(Lint *lint, const Value *memory, int64_t boundary, int64_t *stride) {
    ViewStep step;
    const Op *view = moving_stage(lint, memory, &step);
    if (!view)
        return NULL;
    IntDomain index = known_of(lint->facts, step.index), by = known_exact(step.stride);
    IntDomain moved = known_multiply(&index, &by, 64);
    *stride = step.stride;
    return known_is_multiple(&moved, boundary) == TRIBOOL_TRUE ? NULL : view;
}

/* Tells of a ring whose stages are too small; false if the ring is not what is wrong. */
static bool check_stages(Lint *lint, const Copy *copy) {
    int64_t stride;
    const Op *view = uneven_stage(lint, copy->memory, BOX_ALIGNMENT, &stride);
    if (!view)
        return false;
    Finding *finding =
        lint_find(lint, RULE_TMA_STAGE_STRIDE, copy->op,
                  "the stages of this ring are %" PRId64
                  " bytes apart, which is not a multiple of %d: not all of them are aligned for a TMA copy",
                  stride, BOX_ALIGNMENT);
    lint_other_place(lint, finding, "chooses the stage", view);
    return true;
}

/* ---- Places --------------------------------------------------------------------------------------- */

/* The address, as far as it is known: of the shared memory if the allocation has a place, else from an address that is
 * a multiple of its alignment. */
static IntDomain address_of(const KnownPlace *place) {
    IntDomain base = known_multiple(place->alignment);
    return place->placed ? place->byte : known_add(&base, &place->byte, 64);
}

/* What the address of the copy must be a multiple of: 128, and more if it is swizzled. */
static int64_t boundary_of(const TmaTile *memory) {
    return memory->swizzle > SWIZZLED_UNIT ? BOX_ALIGNMENT * memory->swizzle / SWIZZLED_UNIT : BOX_ALIGNMENT;
}

static const char *place_words(Lint *lint, const KnownPlace *place, const IntDomain *address) {
    if (place->placed)
        return verdict_text(lint->verdict, "byte %s of shared memory", tma_words(lint, address));
    return verdict_text(lint->verdict, "byte %s of an allocation aligned to %" PRId64 " bytes",
                        tma_words(lint, &place->byte), place->alignment);
}

/* Something swizzled whose start is not, or not known to be, where the swizzle starts. Of a copy it does not matter
 * where nothing else uses the memory; `users` is NULL for the operand of a product. */
static void check_swizzle(Lint *lint, const Op *op, const Value *memory, const KnownPlace *place, const TmaTile *tile,
                          SharedUsers *users) {
    static const struct {
        const char *what, *ring;
        RuleId rule, unknown;
    } kinds[] = {{"an operand", "an operand's ring", RULE_PRODUCT_SWIZZLE_BASE, RULE_PRODUCT_SWIZZLE_BASE_UNKNOWN},
                 {"the copy", "this ring", RULE_TMA_SWIZZLE_BASE, RULE_TMA_BOX_ADDRESS_UNKNOWN}};
    unsigned kind = users != NULL;
    IntDomain address = address_of(place);
    int64_t stride = 0, boundary = boundary_of(tile);
    Tribool tribool = known_is_multiple(&address, boundary);
    if (tribool == TRIBOOL_TRUE)
        return;
    bool never = tribool == TRIBOOL_FALSE;
    const Op *stage = never ? NULL : uneven_stage(lint, memory, boundary, &stride);
    const char *where = place_words(lint, place, &address);
    Finding *finding = NULL;
    if ((never || stage) && users && !has_other_users(lint, place->allocation, users))
        return;
    if (never)
        finding = lint_find(lint, kinds[kind].rule, op,
                            "%s starts at %s, but a swizzle of %" PRId64 " bytes repeats every %" PRId64,
                            kinds[kind].what, where, tile->swizzle, boundary);
    else if (stage)
        finding = lint_find(lint, kinds[kind].rule, op,
                            "the stages of %s are %" PRId64 " bytes apart, but a swizzle of %" PRId64
                            " bytes repeats every %" PRId64,
                            kinds[kind].ring, stride, tile->swizzle, boundary);
    else
        finding = lint_find(lint, kinds[kind].unknown, op,
                            "review: %s starts at %s; whether that is a multiple of %" PRId64 " is not known",
                            kinds[kind].what, where, boundary);
    lint_other_place(lint, finding, stage ? "chooses the stage" : "allocates", stage ? stage : place->allocation);
}

void lint_tma_shared(Lint *lint, const Copy *copy, SharedUsers *users) {
    if (!copy->memory || (!tma_stores(copy) && !copy->barrier)) /* buffers of arefs have no place of their own yet */
        return;
    KnownPlace place = place_of(lint->facts, copy->memory);
    TmaTile memory = tma_tile(lint->module, copy->memory->type);
    IntDomain address = address_of(&place);
    if (!place.allocation) {
        lint_find(lint, RULE_TMA_BOX_ADDRESS_UNKNOWN, copy->op,
                  "review: which allocation this copy uses is not known, so neither is its alignment");
        return;
    }
    pointers_set(&users->copied, place.allocation, 1);
    Tribool box = known_is_multiple(&address, BOX_ALIGNMENT);
    if (box == TRIBOOL_TRUE) {
        check_swizzle(lint, copy->op, copy->memory, &place, &memory, users);
        return;
    }
    if (box == TRIBOOL_UNKNOWN && check_stages(lint, copy))
        return;
    Finding *finding;
    if (box == TRIBOOL_FALSE)
        finding = lint_find(lint, RULE_TMA_BOX_ADDRESS, copy->op,
                            "the copy starts at %s, which is not a multiple of "
                            "%d",
                            place_words(lint, &place, &address), BOX_ALIGNMENT);
    else
        finding = lint_find(lint, RULE_TMA_BOX_ADDRESS_UNKNOWN, copy->op,
                            "review: the copy starts at %s; whether that is a multiple of %d is not known",
                            place_words(lint, &place, &address), BOX_ALIGNMENT);
    lint_other_place(lint, finding, "allocates", place.allocation);
}

/* ---- Operands of products ------------------------------------------------------------------------- */

/* The view from whose start the swizzle is counted: that of the stage, or of what lays out the memory again. Slices and
 * transposed views are of the same pattern. */
static const Value *pattern_of(const Value *view) {
    enum { MOST_STEPS = 64 };
    for (int i = 0; i < MOST_STEPS; i++) {
        view = tma_source(view);
        const Op *op = value_op(view);
        if (!op_is(op, CLASS_SAME_PATTERN) || !op->operand_count)
            return view;
        view = op->operands[0];
    }
    return view;
}

static void check_operand(Lint *lint, const Op *op, const Value *operand, const SharedUsers *users) {
    const Value *memory = pattern_of(operand);
    TmaTile tile = tma_tile(lint->module, memory ? memory->type : NULL);
    if (!tile.swizzle)
        return;
    KnownPlace place = place_of(lint->facts, memory);
    /* What a copy uses, too, is told there. */
    if (place.allocation && pointers_get(&users->copied, place.allocation) == NO_NUMBER)
        check_swizzle(lint, op, memory, &place, &tile, NULL);
}

void lint_tma_operands(Lint *lint, const Op *op, const SharedUsers *users) {
    for (int i = 0; op_is(op, CLASS_PRODUCT) && op->form != FORM_OPAQUE && i < 2; i++) {
        const Value *operand = op_operand_named(op, i ? "b" : "a");
        if (operand && memdesc_space(operand->type) == SPACE_SHARED)
            check_operand(lint, op, operand, users);
    }
}

/* ---- Plain bytes ---------------------------------------------------------------------------------- */

static void check_bulk_size(Lint *lint, const Op *op, const Value *source, const Value *bytes) {
    enum { BULK_MOST = (1 << 20) - 16 };
    IntDomain size = known_of(lint->facts, bytes);
    int64_t held = memdesc_bytes(lint->module, source->type);
    Tribool even = known_is_multiple(&size, BULK_ALIGNMENT);
    if (even == TRIBOOL_FALSE)
        lint_find(lint, RULE_TMA_BULK_SIZE, op, "a bulk copy of %s bytes, which is not a multiple of 16",
                  tma_words(lint, &size));
    else if (even == TRIBOOL_UNKNOWN)
        lint_find(lint, RULE_TMA_BULK_UNKNOWN, op,
                  "review: whether the size of this copy is a multiple of 16 is not known");
    if (size.least > BULK_MOST || (held >= 0 && size.least > held))
        lint_find(lint, RULE_TMA_BULK_RANGE, op, "a bulk copy of %" PRId64 " bytes from a buffer of %" PRId64,
                  size.least, held);
}

void lint_tma_bulk(Lint *lint, const Op *op) {
    const Effect *write = tma_bulk_store(lint, op), *read = lint_effect(lint, op, EFFECT_READ);
    if (!write || !read)
        return;
    check_bulk_size(lint, op, read->on, write->amount);
    KnownPlace place = place_of(lint->facts, read->on);
    IntDomain from = address_of(&place), to = known_of(lint->facts, write->on);
    Tribool source_even = place.allocation ? known_is_multiple(&from, BULK_ALIGNMENT) : TRIBOOL_UNKNOWN;
    Tribool target_even = known_is_multiple(&to, BULK_ALIGNMENT);
    if (source_even == TRIBOOL_FALSE)
        lint_find(lint, RULE_TMA_BULK_ADDRESS, op, "a bulk copy from %s, which is not a multiple of 16",
                  place_words(lint, &place, &from));
    else if (target_even == TRIBOOL_FALSE)
        lint_find(lint, RULE_TMA_BULK_ADDRESS, op, "a bulk copy to an address that is %s, so not a multiple of 16",
                  tma_words(lint, &to));
    else if (source_even == TRIBOOL_UNKNOWN || target_even == TRIBOOL_UNKNOWN)
        lint_find(lint, RULE_TMA_BULK_UNKNOWN, op,
                  "review: whether the %s of this copy is at a multiple of 16 bytes is not known",
                  source_even == TRIBOOL_UNKNOWN ? "source" : "destination");
}
