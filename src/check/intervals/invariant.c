/* What values that loops carry always are: guessed, and shown by induction.
 *
 * Guesses are what a value is at first, that it never is less (or more) than that, that it is at least 1, and what the
 * end of the loop asks of the next turn. All are taken for granted, and each is held against the way into the loop and
 * against each way around it; one that cannot be shown is dropped, and all others are looked at again. */
#include "check/intervals/internal.h"

enum { MOST_GUESSES = 96 };

/* number <= 0, of the value of a loop's header. */
typedef struct LoopGuess {
    uint32_t value, loop, atom;
    Quantity left; /* of the atom */
    bool dropped;
} LoopGuess;

typedef struct Guesses {
    Intervals *k;
    LoopGuess all[MOST_GUESSES];
    uint32_t count;
} Guesses;

/* All that was found out with what is taken for granted now is forgotten. */
static void forget(Intervals *k) {
    k->stage_count = 0;
    memset(k->counts.state, 0, k->flow.value_count);
}

/* Whether the atom is in it, and in no quotient or extreme. */
static bool is_plain_in(Intervals *k, Quantity left, uint32_t atom) {
    Quantities *quantities = quantities_in(k);
    const Polynomial *of = &quantities->all[left];
    bool found = false;
    for (uint32_t i = 0; i < of->count; i++)
        for (unsigned n = 0; n < of->terms[i].count; n++) {
            uint32_t at = of->terms[i].atoms[n];
            const QuantityAtom *made = &quantities->atoms[at];
            found |= at == atom;
            if (at != atom && made->kind >= ATOM_DIVIDE && made->kind <= ATOM_MAXIMUM &&
                (quantity_mentions(quantities, made->a, atom) || quantity_mentions(quantities, made->b, atom)))
                return false;
        }
    return found;
}

static void guess(Guesses *guesses, uint32_t value, uint32_t loop, uint32_t atom, Quantity left) {
    if (left == QUANTITY_NONE || guesses->count == MOST_GUESSES || !is_plain_in(guesses->k, left, atom))
        return;
    for (uint32_t i = 0; i < guesses->count; i++)
        if (guesses->all[i].atom == atom && guesses->all[i].left == left)
            return;
    guesses->all[guesses->count++] = (LoopGuess){value, loop, atom, left, false};
}

/* What is not 0 is less, or more. */
static void guess_sides(Guesses *guesses, uint32_t value, uint32_t loop, uint32_t atom, Quantity left,
                        PairFactKind kind) {
    Quantities *quantities = quantities_in(guesses->k);
    if (left == QUANTITY_NONE || kind == FACT_ZERO)
        return;
    if (kind == FACT_AT_MOST) { /* and of a loop whose first turn asks nothing */
        guess(guesses, value, loop, atom, left);
        guess(guesses, value, loop, atom, quantity_add(quantities, left, QUANTITY_ONE, -1));
        return;
    }
    guess(guesses, value, loop, atom, quantity_add(quantities, left, QUANTITY_ONE, 1));
    guess(guesses, value, loop, atom, quantity_add(quantities, QUANTITY_ONE, left, -1));
}

/* The number in a turn, with another in place of its atom. */
static Quantity with(Intervals *k, Quantity left, uint32_t atom, Quantity by) {
    return quantity_substitute(quantities_in(k), left, atom, by);
}

/* What is known at the end of a way to the header. */
static PairFacts facts_of_way(Intervals *k, uint32_t from, uint32_t to) {
    Context *context = context_at(k, first_stage(k), from);
    PairFacts facts = {0};
    for (uint32_t i = 0; i < context->facts.count; i++)
        add_fact(k, &facts, context->facts.all[i].left, context->facts.all[i].kind);
    add_edge(k, context, from, to, &facts);
    return facts;
}

/* What the atom of the value is on that way: the next turn, or the register. */
static Quantity atom_on_way(Intervals *k, const LoopGuess *of, uint32_t way) {
    const PtxFlow *flow = &k->flow;
    const FlowValue *phi = &flow->values[of->value];
    uint32_t from = flow->edges[flow->blocks[phi->block].predecessors + way];
    Quantity atom;
    if (is_counting(k, of->value, of->loop)) {
        atom_carried(k, of->value, of->loop, &atom);
        return is_in_loop(flow, of->loop, from) ? quantity_add(quantities_in(k), atom, QUANTITY_ONE, 1) : QUANTITY_ZERO;
    }
    Quantity next = number_of_register(k, context_at(k, first_stage(k), from), flow->inputs[phi->inputs + way]);
    Context *context = context_at(k, first_stage(k), from);
    return number_in_range(k, &context->facts, next, 32, false);
}

/* What the end of the loop says of the next value, said of this one. */
static void guess_of_ends(Guesses *guesses, uint32_t value, uint32_t loop, uint32_t atom, Quantity self) {
    Intervals *k = guesses->k;
    Quantities *quantities = quantities_in(k);
    const FlowBlock *block = &k->flow.blocks[k->flow.values[value].block];
    LoopGuess of = {.value = value, .loop = loop, .atom = atom};
    for (uint32_t i = 0; i < block->predecessor_count; i++) {
        uint32_t from = k->flow.edges[block->predecessors + i];
        if (!is_in_loop(&k->flow, loop, from))
            continue;
        PairFacts facts = facts_of_way(k, from, k->flow.values[value].block);
        Quantity next = atom_on_way(k, &of, i);
        for (uint32_t n = 0; n < facts.count && next != QUANTITY_NONE; n++) {
            if (is_counting(k, value, loop)) { /* one turn back */
                if (is_plain_in(k, facts.all[n].left, atom))
                    guess_sides(guesses, value, loop, atom,
                                with(k, facts.all[n].left, atom, quantity_add(quantities, self, QUANTITY_ONE, -1)),
                                facts.all[n].kind);
                continue;
            }
            if (facts.all[n].kind != FACT_AT_MOST)
                continue;
            for (int sign = -1; sign <= 1; sign += 2) {
                Quantity rest = quantity_add(quantities, facts.all[n].left, next, sign);
                if (rest != QUANTITY_NONE && !quantity_varies(quantities, rest))
                    guess(guesses, value, loop, atom, quantity_add(quantities, rest, self, -sign));
            }
        }
    }
}

static void guess_of_value(Guesses *guesses, uint32_t value, uint32_t loop) {
    Intervals *k = guesses->k;
    Quantities *quantities = quantities_in(k);
    const FlowValue *phi = &k->flow.values[value];
    const FlowBlock *block = &k->flow.blocks[phi->block];
    Quantity self;
    uint32_t atom = atom_carried(k, value, loop, &self);
    if (atom == UINT32_MAX)
        return;
    LoopGuess of = {.value = value, .loop = loop, .atom = atom};
    guess_of_ends(guesses, value, loop, atom, self);
    if (is_counting(k, value, loop))
        return;
    guess(guesses, value, loop, atom, quantity_add(quantities, QUANTITY_ONE, self, -1));
    guess(guesses, value, loop, atom, quantity_add(quantities, self, QUANTITY_ONE, -1));
    for (uint32_t i = 0; i < block->predecessor_count; i++) {
        if (is_in_loop(&k->flow, loop, k->flow.edges[block->predecessors + i]))
            continue;
        Quantity first = atom_on_way(k, &of, i);
        if (first == QUANTITY_NONE || quantity_mentions(quantities, first, atom))
            continue;
        guess(guesses, value, loop, atom, quantity_add(quantities, self, first, -1));
        guess(guesses, value, loop, atom, quantity_add(quantities, first, self, -1));
    }
}

static void take_for_granted(Guesses *guesses) {
    Intervals *k = guesses->k;
    for (uint32_t i = 0; i < guesses->count; i++)
        k->notes[guesses->all[i].atom].facts.count = 0;
    for (uint32_t i = 0; i < guesses->count; i++)
        if (!guesses->all[i].dropped)
            add_fact(k, &k->notes[guesses->all[i].atom].facts, guesses->all[i].left, FACT_AT_MOST);
}

static bool holds(Intervals *k, const LoopGuess *of) {
    Quantities *quantities = quantities_in(k);
    const FlowBlock *block = &k->flow.blocks[k->flow.values[of->value].block];
    for (uint32_t i = 0; i < block->predecessor_count; i++) {
        uint32_t from = k->flow.edges[block->predecessors + i];
        Quantity there = atom_on_way(k, of, i);
        Quantity left = there == QUANTITY_NONE ? there : with(k, of->left, of->atom, there);
        if (left == QUANTITY_NONE || prover_is_late(&k->prover))
            return false;
        PairFacts facts = facts_of_way(k, from, k->flow.values[of->value].block);
        if (!facts_exclude(k, &facts, quantity_add(quantities, QUANTITY_ONE, left, -1), FACT_AT_MOST)) /* left >= 1 */
            return false;
    }
    return true;
}

/* The bits of a register for whole numbers; 0: it is for others. */
static unsigned bits_of_number(const Intervals *k, uint32_t value) {
    Str type = ptx_name(k->module, k->module->variables[k->flow.values[value].variable].type);
    if (type.size != 4 || type.data[1] == 'f')
        return 0;
    return str_ends(type, STR("32")) ? 32 : str_ends(type, STR("64")) ? 64 : 0;
}

/* Whether the value becomes more in each turn (sign 1), or less, as a number with or without a sign. */
static bool goes_on(Intervals *k, uint32_t value, uint32_t loop, unsigned bits, bool is_signed, int sign) {
    const PtxFlow *flow = &k->flow;
    const FlowValue *phi = &flow->values[value];
    const FlowBlock *block = &flow->blocks[phi->block];
    Quantities *quantities = quantities_in(k);
    Quantity self = number_of_register(k, context_at(k, first_stage(k), phi->block), value);
    for (uint32_t i = 0; i < block->predecessor_count; i++) {
        uint32_t from = flow->edges[block->predecessors + i];
        if (!is_in_loop(flow, loop, from))
            continue;
        PairFacts facts = facts_of_way(k, from, phi->block);
        Quantity next = number_of_register(k, context_at(k, first_stage(k), from), flow->inputs[phi->inputs + i]);
        Quantity now = number_in_range(k, &facts, self, bits, is_signed);
        next = now == QUANTITY_NONE ? now : number_in_range(k, &facts, next, bits, is_signed);
        Quantity more = next == QUANTITY_NONE ? next : quantity_add(quantities, next, now, -1);
        if (more == QUANTITY_NONE)
            return false;
        more = sign > 0 ? more : quantity_add(quantities, QUANTITY_ZERO, more, -1);
        if (!facts_exclude(k, &facts, more, FACT_AT_MOST))
            return false;
    }
    return true;
}

bool loop_ends(Intervals *k, uint32_t loop) {
    const FlowBlock *block = &k->flow.blocks[k->flow.loops[loop].header];
    for (uint32_t i = 0; i < block->phi_count; i++) {
        unsigned bits = bits_of_number(k, block->phis + i);
        for (unsigned way = 0; way < 4 && bits; way++)
            if (goes_on(k, block->phis + i, loop, bits, way / 2, way % 2 ? -1 : 1))
                return true;
    }
    return false;
}

void find_invariants(Intervals *k) {
    const PtxFlow *flow = &k->flow;
    Guesses *guesses = ARENA_NEW(k->arena, Guesses);
    bool quiet = k->quiet, again = true;
    guesses->k = k;
    k->quiet = k->trusting = true;
    for (uint32_t i = 0; i < flow->order_count; i++) {
        const FlowBlock *block = &flow->blocks[flow->order[i]];
        uint32_t loop = loop_headed_by(k, flow->order[i]);
        for (uint32_t n = 0; loop != PTX_NONE && n < block->phi_count; n++) {
            unsigned bits = bits_of_number(k, block->phis + n);
            if (bits == 32 || (bits == 64 && is_counting(k, block->phis + n, loop)))
                guess_of_value(guesses, block->phis + n, loop);
        }
    }
    k->trusting = false;
    k->quiet = quiet;
    take_for_granted(guesses);
    forget(k);
    for (uint32_t i = 0; i < guesses->count; i++) /* what is asked of launches on the way is known from then on */
        holds(k, &guesses->all[i]);
    while (again) {
        again = false;
        take_for_granted(guesses);
        forget(k);
        for (uint32_t i = 0; i < guesses->count; i++)
            if (!guesses->all[i].dropped && !holds(k, &guesses->all[i]))
                again = guesses->all[i].dropped = true;
    }
    forget(k);
    k->quiet = quiet;
}
