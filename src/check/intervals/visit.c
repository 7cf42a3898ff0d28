/* Which accesses a thread can make between two barriers, and at which addresses. */
#include "check/intervals/internal.h"

/* ---- Addresses ------------------------------------------------------------------------------------- */

/* The part of an address that says which memory it is in: the address of a variable, or a parameter that is a pointer.
 * QUANTITY_NONE: there is none, or several. */
static Quantity root_of(Intervals *k, Quantity address) {
    Quantities *quantities = quantities_in(k);
    const Polynomial of = quantities->all[address];
    Quantity variable = QUANTITY_NONE, pointer = QUANTITY_NONE, marked = QUANTITY_NONE;
    unsigned variables = 0, pointers = 0, marks = 0;
    for (uint32_t i = 0; i < of.count; i++) {
        if (of.terms[i].count != 1)
            continue;
        uint32_t at = of.terms[i].atoms[0];
        const QuantityAtom atom = quantities->atoms[at];
        bool parameter = (atom.kind == ATOM_ARGUMENT && atom.width == 64) ||
                         (atom.kind == ATOM_DATA && k->notes[at].parameter && !k->notes[at].bounded);
        bool loaded = atom.kind == ATOM_DATA && !parameter && !k->notes[at].bounded; /* it may be the pointer */
        if (loaded)
            pointers += 2;
        if (atom.kind != ATOM_ADDRESS && !parameter)
            continue;
        Quantity self = quantity_atom(quantities, &atom);
        if (atom.kind == ATOM_ADDRESS && of.terms[i].factor == 1) {
            variable = self;
            variables++;
        } else if (atom.kind == ATOM_ADDRESS) {
            return QUANTITY_NONE;
        } else if (k->pointer[at]) {
            marked = self;
            marks += of.terms[i].factor == 1 ? 1 : 2;
        } else if (of.terms[i].factor == 1) {
            pointer = self;
            pointers++;
        }
    }
    if (variables || marks)
        return variables + marks == 1 ? (variables ? variable : marked) : QUANTITY_NONE;
    return pointers == 1 ? pointer : QUANTITY_NONE;
}

static bool is_address(Intervals *k, Quantity number) {
    Quantities *quantities = quantities_in(k);
    const Polynomial *of = &quantities->all[number];
    for (uint32_t i = 0; i < of->count; i++)
        for (unsigned n = 0; n < of->terms[i].count; n++) {
            uint32_t at = of->terms[i].atoms[n];
            if (quantities->atoms[at].kind == ATOM_ADDRESS || k->pointer[at])
                return true;
        }
    return false;
}

static void find_address(Intervals *k, Visit *visit) {
    const ThreadAccess *access = &k->accesses[visit->access];
    Quantities *quantities = quantities_in(k);
    Context *context = (Context *)visit->context;
    Quantity address = number_of_address(k, context, access->address);
    visit->root = visit->offset = QUANTITY_NONE;
    visit->problem = "the address is not understood";
    if (address == QUANTITY_NONE)
        return;
    visit->loaded = depends_on_data(k, address);
    visit->root = root_of(k, address);
    if (visit->loaded)
        visit->problem = "the address depends on data";
    if (visit->root == QUANTITY_NONE)
        return;
    Quantity offset = quantity_add(quantities, address, visit->root, -1);
    if (offset == QUANTITY_NONE || is_address(k, offset)) {
        visit->root = QUANTITY_NONE;
        return;
    }
    if (visit->loaded)
        return;
    unsigned width = access->space == PTX_SPACE_SHARED || access->space == PTX_SPACE_CLUSTER ? 32 : 64;
    if (number_in_range(k, &context->facts, offset, width, true) == QUANTITY_NONE) {
        visit->problem = "the address may wrap around";
        return;
    }
    visit->offset = offset;
    visit->problem = NULL;
}

/* ---- Walks ----------------------------------------------------------------------------------------- */

/* Where a walk has been: a block in a stage. */
typedef struct IntervalStep {
    const LoopStage *stage;
    uint32_t block;
} IntervalStep;

typedef struct IntervalWalk {
    Intervals *k;
    Visits visits;
    IntervalStep *steps;
    uint32_t step_count, step_capacity;
} IntervalWalk;

/* The context of an access, with what its guard says. */
static const Context *guarded_context(Intervals *k, Context *context, const PtxStatement *statement) {
    if (!(statement->flags & PTX_GUARDED))
        return context;
    Context *guarded = ARENA_NEW(k->arena, Context);
    *guarded = *context;
    guarded->facts = (PairFacts){0};
    guarded->memo = ARENA_SPARSE(k->arena, Quantity, k->flow.value_count + 1);
    for (uint32_t i = 0; i < context->facts.count; i++)
        add_fact(k, &guarded->facts, context->facts.all[i].left, context->facts.all[i].kind);
    add_guard(k, guarded, statement, true, &guarded->facts);
    memset(guarded->memo, 0, k->flow.value_count * sizeof *guarded->memo);
    return guarded;
}

static void visit_accesses(IntervalWalk *walk, const LoopStage *stage, uint32_t block, uint32_t begin, uint32_t end) {
    Intervals *k = walk->k;
    for (uint32_t i = 0; i < k->access_count; i++) {
        const ThreadAccess *access = &k->accesses[i];
        if (access->block != block || access->instruction < begin || access->instruction >= end)
            continue;
        const Context *context =
            guarded_context(k, context_at(k, stage, block), &k->module->statements[access->statement]);
        Visit *visit = ARENA_PUSH(k->arena, walk->visits.all, walk->visits.count, walk->visits.capacity);
        *visit = (Visit){.access = i, .context = context};
        find_address(k, visit);
    }
}

/* The first barrier among instructions, or `end`. */
static uint32_t barrier_in(const Intervals *k, uint32_t begin, uint32_t end) {
    uint32_t first = end;
    for (uint32_t i = 0; i < k->barrier_count; i++)
        if (k->barriers[i] >= begin && k->barriers[i] < first)
            first = k->barriers[i];
    return first;
}

static void walk_to(IntervalWalk *walk, const LoopStage *stage, uint32_t block) {
    for (uint32_t i = 0; i < walk->step_count; i++)
        if (walk->steps[i].stage == stage && walk->steps[i].block == block)
            return;
    *ARENA_PUSH(walk->k->arena, walk->steps, walk->step_count, walk->step_capacity) = (IntervalStep){stage, block};
}

static void walk_through(IntervalWalk *walk, const LoopStage *stage, uint32_t block, uint32_t begin) {
    Intervals *k = walk->k;
    const FlowBlock *at = &k->flow.blocks[block];
    uint32_t end = barrier_in(k, begin, at->end);
    visit_accesses(walk, stage, block, begin, end);
    if (end != at->end)
        return;
    for (uint32_t i = 0; i < at->successor_count; i++) {
        uint32_t to = k->flow.edges[at->successors + i];
        walk_to(walk, next_stage(k, stage, block, to), to);
    }
}

Visits visits_from(Intervals *k, uint32_t barrier) {
    IntervalWalk walk = {.k = k};
    if (barrier == PTX_NONE)
        walk_to(&walk, first_stage(k), 0);
    else
        walk_through(&walk, first_stage(k), k->flow.block_of[barrier], barrier + 1);
    for (uint32_t i = 0; i < walk.step_count && !prover_is_late(&k->prover); i++)
        walk_through(&walk, walk.steps[i].stage, walk.steps[i].block, k->flow.blocks[walk.steps[i].block].begin);
    return walk.visits;
}

Visits visits_anywhere(Intervals *k) {
    IntervalWalk walk = {.k = k};
    for (uint32_t i = 0; i < k->flow.order_count; i++) {
        uint32_t block = k->flow.order[i];
        visit_accesses(&walk, first_stage(k), block, k->flow.blocks[block].begin, k->flow.blocks[block].end);
    }
    return walk.visits;
}
