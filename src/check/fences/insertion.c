/* Forward dataflow over all paths of a function: which ordinary accesses no fence has come after. Before an
 * asynchronous operation that conflicts with one of them goes a fence, which is there from then on. */
#include "check/fences/insertion.h"

#include "ir/op.h"
#include "model/effect/effect.h"
#include "model/flow/flow.h"
#include "model/flow/origin.h"
#include "model/flow/symbol.h"
#include "model/memory/placement.h"
#include "model/memory/views.h"
#include "model/target/target.h"

enum { MOST_VIEWS = 64 };

/* What is open at a location, for fences of either width. */
enum { OPEN_READ = 1, OPEN_WRITE = 2, OPEN_CTA = 3, WIDE_SHIFT = 2, OPEN_CLUSTER = OPEN_CTA << WIDE_SHIFT };

/* Something that is accessed: a view, or the scratch memory of an op. The first two stand for what a caller has open,
 * and for what a callee left open; they may be anywhere. */
enum { LOCATION_CALLER, LOCATION_CALLEE, LOCATIONS_FIXED };
typedef struct InsertionLocation {
    OriginSet origins;
    const Op *scratch;
    const Attr *offsets; /* it is this slice of its allocation; NULL: not known */
    const Type *type;
    int64_t slot; /* of its allocation; -1: not known */
} InsertionLocation;

typedef enum InsertionStepKind { STEP_ORDINARY, STEP_ASYNC, STEP_FENCE, STEP_CALL } InsertionStepKind;
typedef struct InsertionStep {
    const Op *op;
    InsertionStepKind kind;
    uint32_t location;
    uint8_t bits; /* OPEN_READ, OPEN_WRITE */
    bool wide;
} InsertionStep;

/* What a function leaves behind. */
typedef struct InsertionLeft {
    uint8_t caller; /* of what was open at its start */
    uint8_t own;
} InsertionLeft;

/* A function that was looked at, with that open at its start. */
typedef struct Called {
    const Op *function;
    uint8_t open;
    InsertionLeft left;
} Called;

/* Of all functions. */
typedef struct Points {
    FencePoint *items;
    uint32_t count, capacity;
    Called *called;
    uint32_t called_count, called_capacity;
} Points;

typedef struct InsertionPass {
    Module *module;
    Arena *arena;
    InsertionKind kind;
    Points *points;
    const Op *function;
    unsigned ctas;
    bool pairs; /* some product is of two CTAs */
    Flow flow;
    Origins origins;
    Placements placements;
    Pointers values; /* to their locations */
    InsertionLocation *locations;
    uint32_t location_count, location_capacity;
    InsertionStep *steps;
    uint32_t step_count, step_capacity;
    uint32_t *piece_steps; /* by piece, and one more: where its steps start */
    uint8_t **inputs;      /* by piece, then by location; NULL: never reached */
    uint8_t *now;
} InsertionPass;

ReleaseSet insertion_releases(InsertionKind kind) {
    switch (kind) {
    case INSERTION_WRITES:
        return (ReleaseSet)~releases_from(RELEASE_3_7_1) & RELEASES_ALL;
    case INSERTION_ALL:
        return releases_from(RELEASE_3_7_1) & (ReleaseSet)~releases_from(RELEASE_3_9);
    default:
        return releases_from(RELEASE_3_9);
    }
}

/* ---- Places --------------------------------------------------------------------------------------- */

/* The slot of a ring that constants pick; -1: none, or not known. */
static int64_t slot_of(const InsertionPass *pass, const Value *view) {
    int64_t slot = -1;
    for (int step = 0; view && step < MOST_VIEWS && view->is_result; step++) {
        const Op *op = view->owner;
        if (op_is(op, CLASS_INDEX) && (slot >= 0 || op->operand_count < 2 || !value_constant(op->operands[1], &slot)))
            return -1; /* of more than one dimension, or computed */
        view = view_source(pass->module, view);
    }
    return slot;
}

/* A slice of an allocation, and not of another slice. */
static const Attr *offsets_of(const Value *view) {
    const Op *op = value_op(view);
    const Attr *offsets = op_is(op, CLASS_PART) && op->operand_count ? op_attr(op, "offsets") : NULL;
    bool whole = offsets && !op_is(value_op(op->operands[0]), CLASS_PART);
    return whole && offsets->kind == ATTR_INTS && offsets->exact ? offsets : NULL;
}

static uint32_t add_location(InsertionPass *pass, InsertionLocation location) {
    *ARENA_PUSH(pass->arena, pass->locations, pass->location_count, pass->location_capacity) = location;
    return pass->location_count - 1;
}

static uint32_t location_of(InsertionPass *pass, const Value *value) {
    uint32_t known = pointers_get(&pass->values, value);
    if (known != NO_NUMBER)
        return known;
    InsertionLocation location = {.origins = origins_find(&pass->origins, value),
                                  .offsets = offsets_of(value),
                                  .type = value->type ? type_canonical(pass->module, value->type) : NULL,
                                  .slot = slot_of(pass, value)};
    known = add_location(pass, location);
    pointers_set(&pass->values, value, known);
    return known;
}

/* Whether two allocations, or the scratch memory of two ops, have bytes in common. */
static bool placed_overlap(const InsertionPass *pass, const Op *a, const Op *b) {
    const Placements *placements = &pass->placements;
    if (a == b || placements->problem)
        return a == b;
    for (uint32_t i = 0; i < placements->count; i++)
        for (uint32_t k = 0; placements->items[i].op == a && k < placements->count; k++)
            if (placements->items[k].op == b && placements->items[i].begin < placements->items[k].end &&
                placements->items[k].begin < placements->items[i].end)
                return true;
    return false;
}

static bool slices_overlap(const InsertionLocation *a, const InsertionLocation *b) {
    if (!a->offsets || !b->offsets || !a->type || !b->type || a->type->encoding != b->type->encoding ||
        a->offsets->count != b->offsets->count || a->offsets->count != a->type->dim_count ||
        a->offsets->count != b->type->dim_count)
        return true;
    for (uint32_t i = 0; i < a->offsets->count; i++)
        if (a->offsets->ints[i] + a->type->dims[i] <= b->offsets->ints[i] ||
            b->offsets->ints[i] + b->type->dims[i] <= a->offsets->ints[i])
            return false;
    return true;
}

static bool is_anywhere(const InsertionPass *pass, const InsertionLocation *location) {
    bool anywhere = location->origins.anything || location < &pass->locations[LOCATIONS_FIXED];
    for (uint32_t i = 0; i < location->origins.count && !anywhere; i++)
        anywhere = !pass->origins.items[location->origins.items[i]].op;
    return anywhere;
}

static bool origins_overlap(const InsertionPass *pass, const InsertionLocation *a, const InsertionLocation *b) {
    if (a->scratch)
        return b->scratch ? placed_overlap(pass, a->scratch, b->scratch) : origins_overlap(pass, b, a);
    for (uint32_t i = 0; i < a->origins.count; i++) {
        const Op *from = pass->origins.items[a->origins.items[i]].op;
        if (b->scratch && placed_overlap(pass, from, b->scratch))
            return true;
        for (uint32_t k = 0; k < b->origins.count; k++)
            if (placed_overlap(pass, from, pass->origins.items[b->origins.items[k]].op))
                return true;
    }
    return false;
}

static bool locations_overlap(const InsertionPass *pass, uint32_t first, uint32_t second) {
    const InsertionLocation *a = &pass->locations[first], *b = &pass->locations[second];
    if (is_anywhere(pass, a) || is_anywhere(pass, b)) /* which the older pass takes for nowhere */
        return pass->kind == INSERTION_REGIONS;
    if (!origins_overlap(pass, a, b))
        return false;
    bool one = a->origins.count == 1 && b->origins.count == 1 && a->origins.items[0] == b->origins.items[0];
    if (one && pass->kind == INSERTION_REGIONS && a->slot >= 0 && b->slot >= 0 && a->slot != b->slot)
        return false;
    return !one || slices_overlap(a, b);
}

/* ---- What ops do ---------------------------------------------------------------------------------- */

static void add_step(InsertionPass *pass, InsertionStep step) {
    *ARENA_PUSH(pass->arena, pass->steps, pass->step_count, pass->step_capacity) = step;
}

static bool is_wide(const InsertionPass *pass, const Effect *effect) {
    return pass->ctas > 1 && (effect->multicast || effect->pair || effect->helper == HELPER_CLC ||
                              (pass->pairs && effect->helper == HELPER_TENSOR));
}

static void add_access(InsertionPass *pass, const Op *op, const Effect *effect) {
    uint8_t bits = effect->verb == EFFECT_READ ? OPEN_READ : effect->verb == EFFECT_WRITE ? OPEN_WRITE : OPEN_CTA;
    bool async = effect->proxy == PROXY_ASYNC;
    if (async && pass->kind == INSERTION_WRITES && (bits == OPEN_READ || effect->helper != HELPER_TMA))
        return;
    add_step(pass, (InsertionStep){op, async ? STEP_ASYNC : STEP_ORDINARY, location_of(pass, effect->on), bits,
                                   async && pass->kind == INSERTION_REGIONS && is_wide(pass, effect)});
}

static void add_effect(InsertionPass *pass, const Op *op, const Effect *effect) {
    bool shared = effect->space == SPACE_SHARED;
    if (effect_is_access(effect) && shared && effect->on) {
        add_access(pass, op, effect);
    } else if (effect->verb == EFFECT_FENCE_PROXY && effect->proxy == PROXY_ASYNC &&
               (shared || effect->space == SPACE_NONE) && !op_is(op, CLASS_INLINE_PTX)) { /* which it does not read */
        add_step(pass, (InsertionStep){.op = op, .kind = STEP_FENCE, .wide = effect->scope != SCOPE_CTA});
    } else if ((effect->verb == EFFECT_INIT || effect->verb == EFFECT_INVALIDATE) && effect->side == SIDE_NONE &&
               effect->on && pass->kind == INSERTION_REGIONS) {
        add_step(pass, (InsertionStep){op, STEP_ORDINARY, location_of(pass, effect->on), OPEN_WRITE, false});
    }
}

static void add_scratch(InsertionPass *pass, const Op *op) {
    for (uint32_t i = 0; i < pass->placements.count; i++)
        if (pass->placements.items[i].kind == PLACED_SCRATCH && pass->placements.items[i].op == op) {
            uint8_t bits = pass->kind == INSERTION_REGIONS ? OPEN_CTA : OPEN_READ;
            add_step(pass,
                     (InsertionStep){op, STEP_ORDINARY,
                                     add_location(pass, (InsertionLocation){.scratch = op, .slot = -1}), bits, false});
        }
}

static void add_op(InsertionPass *pass, const Op *op) {
    Effect effects[EFFECTS_MOST];
    unsigned count = op->row && op->form != FORM_OPAQUE ? effects_of(pass->module, op, effects) : 0;
    for (unsigned i = 0; i < count; i++)
        add_effect(pass, op, &effects[i]);
    add_scratch(pass, op);
    if (op_is_control(op, CONTROL_CALL) && pass->kind == INSERTION_REGIONS)
        add_step(pass, (InsertionStep){.op = op, .kind = STEP_CALL});
}

static bool is_pair(const Effect *effect) {
    return effect->pair;
}

static void compile(InsertionPass *pass) {
    const Flow *flow = &pass->flow;
    pass->ctas = module_ctas(pass->function) * module_cluster(pass->function);
    for (uint32_t i = 0; i < flow->op_count && !pass->pairs; i++)
        pass->pairs = op_any_effect(pass->module, flow->ops[i].op, is_pair);
    for (unsigned i = 0; i < LOCATIONS_FIXED; i++)
        (void)add_location(pass, (InsertionLocation){.slot = -1});
    pass->piece_steps = ARENA_ARRAY(pass->arena, uint32_t, flow->piece_count + 1);
    for (uint32_t i = 0; i < flow->piece_count; i++) {
        pass->piece_steps[i] = pass->step_count;
        for (uint32_t k = 0; k < flow->pieces[i].count; k++)
            add_op(pass, flow->ops[flow->pieces[i].first + k].op);
    }
    pass->piece_steps[flow->piece_count] = pass->step_count;
}

/* ---- Steps ---------------------------------------------------------------------------------------- */

static void put_before(InsertionPass *pass, const Op *op, bool wide) {
    Points *points = pass->points;
    for (size_t i = 0; i < points->count; i++)
        if (points->items[i].op == op) {
            points->items[i].wide |= wide;
            return;
        }
    *ARENA_PUSH(pass->arena, points->items, points->count, points->capacity) = (FencePoint){op, false, wide};
}

/* Up to 3.8 a fence is one, whatever its width. */
static void fence(InsertionPass *pass, bool wide) {
    uint8_t left = wide || pass->kind != INSERTION_REGIONS ? 0 : OPEN_CLUSTER;
    for (uint32_t i = 0; i < pass->location_count; i++)
        pass->now[i] &= left;
}

static bool conflicts(const InsertionPass *pass, const InsertionStep *step) {
    uint8_t with = step->bits & OPEN_WRITE ? OPEN_CTA : OPEN_WRITE;
    if (step->wide)
        with = (uint8_t)(with << WIDE_SHIFT);
    for (uint32_t i = 0; i < pass->location_count; i++)
        if (pass->now[i] & with && locations_overlap(pass, i, step->location))
            return true;
    return false;
}

static InsertionLeft analyze(Module *module, const Op *function, InsertionKind kind, Points *points, uint8_t open);

static void call(InsertionPass *pass, const InsertionStep *step) {
    const Op *callee = call_target(pass->module, step->op);
    uint8_t open = 0;
    if (!callee)
        return;
    for (uint32_t i = 0; i < pass->location_count; i++)
        open |= pass->now[i];
    InsertionLeft left = analyze(pass->module, callee, pass->kind, pass->points, open);
    for (uint32_t i = 0; i < pass->location_count; i++)
        pass->now[i] &= left.caller;
    pass->now[LOCATION_CALLEE] |= left.own;
}

static void take_step(InsertionPass *pass, const InsertionStep *step) {
    switch (step->kind) {
    case STEP_ORDINARY:
        pass->now[step->location] |= (uint8_t)(step->bits | step->bits << WIDE_SHIFT);
        break;
    case STEP_ASYNC:
        if (conflicts(pass, step)) {
            put_before(pass, step->op, step->wide);
            fence(pass, step->wide);
        }
        break;
    case STEP_FENCE:
        fence(pass, step->wide);
        break;
    case STEP_CALL:
        call(pass, step);
        break;
    }
}

/* ---- Pieces --------------------------------------------------------------------------------------- */

/* Adds to what comes to a piece; whether that is new. */
static bool join(InsertionPass *pass, uint32_t piece) {
    uint8_t **input = &pass->inputs[piece];
    bool news = !*input;
    if (!*input)
        *input = ARENA_ARRAY(pass->arena, uint8_t, pass->location_count);
    for (uint32_t i = 0; i < pass->location_count; i++) {
        news |= (pass->now[i] & ~(*input)[i]) != 0;
        (*input)[i] |= pass->now[i];
    }
    return news;
}

/* Where control goes on when a partition that ends here, and all others, have: from 3.9 on their accesses count there.
 * FLOW_NONE: it is no such end. */
static uint32_t behind_partitions(const InsertionPass *pass, uint32_t piece) {
    const Flow *flow = &pass->flow;
    const Op *last = flow->ops[flow->pieces[piece].first + flow->pieces[piece].count - 1].op;
    const Op *partitions = op_parent(last), *next;
    if (pass->kind != INSERTION_REGIONS || flow->pieces[piece].edge_count ||
        !op_is_control(partitions, CONTROL_PARTITIONS))
        return FLOW_NONE;
    const Op *fork = op_parent(partitions);
    if (!(next = fork ? fork->next : NULL))
        return FLOW_NONE;
    for (uint32_t i = 0; i < flow->piece_count; i++)
        if (flow->ops[flow->pieces[i].first].op == next)
            return i;
    return FLOW_NONE;
}

static InsertionLeft settle(InsertionPass *pass, uint8_t open) {
    const Flow *flow = &pass->flow;
    InsertionLeft left = {0};
    pass->now = ARENA_ARRAY(pass->arena, uint8_t, pass->location_count);
    pass->inputs = ARENA_ARRAY(pass->arena, uint8_t *, flow->piece_count + 1);
    pass->now[LOCATION_CALLER] = open;
    for (uint32_t i = 0; i < flow->piece_count; i++)
        if (flow->pieces[i].entry)
            (void)join(pass, i);
    for (bool again = true; again;) {
        again = false;
        left = (InsertionLeft){0};
        for (uint32_t i = 0; i < flow->piece_count; i++) {
            if (!pass->inputs[i])
                continue;
            memcpy(pass->now, pass->inputs[i], pass->location_count);
            for (uint32_t k = pass->piece_steps[i]; k < pass->piece_steps[i + 1]; k++)
                take_step(pass, &pass->steps[k]);
            for (uint32_t e = 0; e < flow->pieces[i].edge_count; e++)
                again |= join(pass, flow->edges[flow->pieces[i].first_edge + e].to);
            uint32_t behind = behind_partitions(pass, i);
            again |= behind != FLOW_NONE && join(pass, behind);
            for (uint32_t k = 0; flow->pieces[i].returns && k < pass->location_count; k++)
                *(k == LOCATION_CALLER ? &left.caller : &left.own) |= pass->now[k];
        }
    }
    return left;
}

/* A fence that was inserted stays, though what it was inserted for may come to nothing: so does the compiler's. While a
 * function is looked at it counts as one that does nothing, which stops those that call themselves. */
static InsertionLeft analyze(Module *module, const Op *function, InsertionKind kind, Points *points, uint8_t open) {
    Arena *arena = &module->arena;
    for (uint32_t i = 0; i < points->called_count; i++)
        if (points->called[i].function == function && points->called[i].open == open)
            return points->called[i].left;
    uint32_t number = points->called_count;
    *ARENA_PUSH(arena, points->called, points->called_count, points->called_capacity) =
        (Called){function, open, {.caller = open}};
    InsertionPass pass = {.module = module,
                          .arena = arena,
                          .kind = kind,
                          .points = points,
                          .function = function,
                          .flow = flow_of(function, arena),
                          .origins = origins_of(module, function, arena),
                          .placements = placements_of(module, function),
                          .values = {.arena = arena}};
    compile(&pass);
    return points->called[number].left = settle(&pass, open);
}

Insertion insertion_of(Module *module, const Op *function, InsertionKind kind) {
    Points points = {0};
    (void)analyze(module, function, kind, &points, 0);
    return (Insertion){points.items, points.count};
}
