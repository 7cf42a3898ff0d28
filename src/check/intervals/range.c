/* Atoms of registers and turns, and whether numbers are in range: shown from facts, or asked of launches. */
#include "check/intervals/internal.h"

/* ---- Atoms ----------------------------------------------------------------------------------------- */

/* Makes an atom and says what it is; the first time alone. */
Quantity noted(Intervals *k, const QuantityAtom *atom, const AtomNote *note) {
    Quantities *quantities = quantities_in(k);
    uint32_t before = quantities->atom_count;
    Quantity made = quantity_atom(quantities, atom);
    if (quantities->atom_count > before)
        k->notes[before] = *note;
    return made;
}

static bool any_atom_in(Intervals *k, Quantity number, bool (*is)(const Intervals *k, uint32_t atom)) {
    Quantities *quantities = quantities_in(k);
    const Polynomial of = quantities->all[number];
    for (uint32_t i = 0; i < of.count; i++)
        for (unsigned n = 0; n < of.terms[i].count; n++) {
            uint32_t atom = of.terms[i].atoms[n];
            const QuantityAtom *made = &quantities->atoms[atom];
            bool composed = made->kind >= ATOM_DIVIDE && made->kind <= ATOM_MAXIMUM;
            if (composed ? any_atom_in(k, made->a, is) || any_atom_in(k, made->b, is) : is(k, atom))
                return true;
        }
    return false;
}

static bool varies_in_cta(const Intervals *k, uint32_t atom) {
    const QuantityAtom *made = &k->prover.proof->quantities.atoms[atom];
    return made->kind == ATOM_THREAD || (made->kind == ATOM_DATA && k->notes[atom].scope == SAME_IN_THREAD);
}
static bool is_loaded(const Intervals *k, uint32_t atom) {
    return k->notes[atom].loaded;
}
static bool is_register(const Intervals *k, uint32_t atom) {
    return k->prover.proof->quantities.atoms[atom].kind == ATOM_DATA;
}

bool same_in_cta(Intervals *k, Quantity number) {
    return number != QUANTITY_NONE && !any_atom_in(k, number, varies_in_cta);
}

bool has_register(Intervals *k, Quantity number) {
    return any_atom_in(k, number, is_register);
}

bool depends_on_data(Intervals *k, Quantity number) {
    return number != QUANTITY_NONE && any_atom_in(k, number, is_loaded);
}

static bool is_private_loop(const Intervals *k, uint32_t block) {
    for (uint32_t loop = k->flow.blocks[block].loop; loop != PTX_NONE; loop = k->flow.loops[loop].outer)
        if (!k->syncs[loop])
            return true;
    return false;
}

/* Which of the executions of a block it is about: the newest stage that began another turn of a loop around it. */
static uint32_t stage_of_block(const Intervals *k, const LoopStage *stage, uint32_t block) {
    for (; stage->before; stage = stage->before)
        if (is_in_loop(&k->flow, stage->loop, block))
            return stage->id;
    return 0;
}

unsigned register_bits(const Intervals *k, uint32_t value) {
    Str type = ptx_name(k->module, k->module->variables[k->flow.values[value].variable].type);
    if (type.size)
        type = (Str){type.data + 1, type.size - 1};
    return str_is(type, "pred") ? 1 : ptx_type_bits(type);
}

/* A register of which no more is known than its width. */
Quantity opaque(Intervals *k, const LoopStage *stage, uint32_t value, bool loaded) {
    const FlowValue *of = &k->flow.values[value];
    Form form = k->values.forms[value];
    unsigned bits = register_bits(k, value);
    bool same = k->steady && form.kind != FORM_NEVER && form_is_uniform(k->values.tables, &form) &&
                form_span(&form) <= SPAN_CTA && !form.assumes && !is_private_loop(k, of->block);
    AtomNote note = {.scope = same ? SAME_IN_CTA : SAME_IN_THREAD,
                     .loaded = loaded,
                     .block = of->block,
                     .bounded = bits <= 32,
                     .most = bits <= 32 ? (INT64_C(1) << bits) - 1 : 0};
    return noted(
        k, &(QuantityAtom){.kind = ATOM_DATA, .key = of, .of = value, .extent = stage_of_block(k, stage, of->block)},
        &note);
}

Quantity turn_of(Intervals *k, const LoopStage *stage, uint32_t loop) {
    uint32_t header = k->flow.loops[loop].header, id = 0;
    for (; stage->before && !id; stage = stage->before) {
        if (stage->loop == loop)
            return stage->turn;
        if (is_in_loop(&k->flow, stage->loop, header))
            id = stage->id;
    }
    AtomNote note = {.scope = k->syncs[loop] && !is_private_loop(k, header) ? SAME_IN_CTA : SAME_IN_THREAD,
                     .block = header,
                     .bounded = true,
                     .most = BOUND_NONE - 1};
    return noted(k, &(QuantityAtom){.kind = ATOM_DATA, .key = &k->flow.loops[loop], .of = loop, .extent = id}, &note);
}

/* ---- Ranges ---------------------------------------------------------------------------------------- */

/* The terms of a number that are the same in the whole launch, and a launch has; *rest: the others. */
static Quantity launch_part(Intervals *k, Quantity number, Quantity *rest) {
    Quantities *quantities = quantities_in(k);
    const Polynomial of = quantities->all[number];
    Quantity fixed = QUANTITY_ZERO;
    for (uint32_t i = 0; i < of.count; i++) {
        Quantity product = quantity_constant(quantities, of.terms[i].factor);
        bool varies = false;
        for (unsigned n = 0; n < of.terms[i].count; n++) {
            varies |= quantities->atoms[of.terms[i].atoms[n]].varies;
            product = quantity_multiply(quantities, product,
                                        quantity_atom(quantities, &quantities->atoms[of.terms[i].atoms[n]]));
        }
        if (!varies)
            fixed = quantity_add(quantities, fixed, product, 1);
    }
    *rest = quantity_add(quantities, number, fixed, -1);
    return fixed;
}

/* It is asked of launches that the number is so, whatever its atoms are; which is a fact from then on. */
static void ask(Intervals *k, Quantity number, int64_t least, int64_t most) {
    Quantities *quantities = quantities_in(k);
    static const int64_t far = INT64_C(1) << 48;
    quantity_bound(quantities, number, least, most);
    if (least > -far)
        add_fact(k, &k->asked, quantity_add(quantities, quantity_constant(quantities, least), number, -1),
                 FACT_AT_MOST);
    if (most < far)
        add_fact(k, &k->asked, quantity_add(quantities, number, quantity_constant(quantities, most), -1), FACT_AT_MOST);
}

/* Whether usual launches have the number in range. */
static bool is_usual(Intervals *k, Quantity number, int64_t least, int64_t most) {
    enum { USUAL = 1000 };
    Interval atoms[MOST_ATOMS];
    uint32_t count = k->prover.proof->name_count;
    LaunchNumber *arguments = ARENA_ARRAY(&k->solve, LaunchNumber, count + 1);
    for (uint32_t i = 0; i < count; i++)
        arguments[i] = (LaunchNumber){.known = true, .value = USUAL};
    LaunchNumbers launch = {.arguments = arguments, .count = count};
    for (unsigned axis = 0; axis < 3; axis++) {
        launch.block[axis] = k->pinned[0][axis] ? k->pinned[0][axis] : axis ? 4 : 64;
        launch.grid[axis] = k->pinned[1][axis] ? k->pinned[1][axis] : 3;
    }
    quantities_at(quantities_in(k), &launch, atoms);
    Interval interval = quantity_interval(quantities_in(k), atoms, number);
    return interval.least >= least && interval.most <= most && interval.least > -BOUND_NONE &&
           interval.most < BOUND_NONE;
}

/* Whether an atom's bounds are those of the launch. */
static bool is_launched(Intervals *k, uint32_t atom) {
    const QuantityAtom *made = &k->prover.proof->quantities.atoms[atom];
    bool composed = made->kind >= ATOM_DIVIDE && made->kind <= ATOM_MAXIMUM;
    return !made->varies || made->kind == ATOM_THREAD || made->kind == ATOM_PROGRAM ||
           (composed && !has_register(k, made->a) && !has_register(k, made->b));
}

/* A number of the launch that an atom is at most, by one of the facts; QUANTITY_NONE: none says so. */
static Quantity limit_in(Intervals *k, const PairFacts *all, const PairFacts *facts, uint32_t atom) {
    Quantities *quantities = quantities_in(k);
    Quantity self = quantity_atom(quantities, &quantities->atoms[atom]);
    for (uint32_t i = 0; i < facts->count; i++) {
        Quantity varying;
        if (facts->all[i].kind == FACT_NOT_ZERO || !quantity_mentions(quantities, facts->all[i].left, atom))
            continue;
        Quantity limit = quantity_add(quantities, QUANTITY_ZERO, launch_part(k, facts->all[i].left, &varying), -1);
        Quantity above = quantity_add(quantities, quantity_add(quantities, limit, QUANTITY_ONE, 1), self, -1);
        if (above != QUANTITY_NONE && facts_exclude(k, all, above, FACT_AT_MOST))
            return limit;
    }
    return QUANTITY_NONE;
}

/* Something that a number is at most, with bounds that a launch has: turns of loops and registers give way to what
 * facts say that they go up to. QUANTITY_NONE: there is no such thing. */
static Quantity reach_of(Intervals *k, const PairFacts *facts, Quantity number) {
    Quantities *quantities = quantities_in(k);
    const Polynomial of = quantities->all[number];
    Quantity sum = QUANTITY_ZERO;
    for (uint32_t i = 0; i < of.count; i++) {
        Quantity product = quantity_constant(quantities, of.terms[i].factor);
        unsigned limited = 0;
        bool positive = true;
        for (unsigned n = 0; n < of.terms[i].count; n++) {
            uint32_t atom = of.terms[i].atoms[n];
            Quantity factor = quantity_atom(quantities, &quantities->atoms[atom]);
            positive &= quantities->anywhere[atom].least >= 0 ||
                        (k->notes[atom].bounded && k->notes[atom].least >= 0) ||
                        facts_exclude(k, facts, quantity_add(quantities, factor, QUANTITY_ONE, 1), FACT_AT_MOST);
            if (!is_launched(k, atom)) {
                limited++;
                factor = limit_in(k, facts, facts, atom);
                if (factor == QUANTITY_NONE)
                    factor = limit_in(k, facts, &k->notes[atom].facts, atom);
            }
            product = quantity_multiply(quantities, product, factor);
        }
        if (limited && !positive)
            return QUANTITY_NONE;
        if (limited && of.terms[i].factor < 0) /* it is no more than 0 */
            continue;
        sum = quantity_add(quantities, sum, product, 1);
    }
    return sum;
}

/* Asks a launch for one end of what facts say that a number goes up (or down) to. */
static bool ask_by_facts(Intervals *k, const PairFacts *facts, Quantity fixed, Quantity rest, int64_t end, bool upper) {
    Quantities *quantities = quantities_in(k);
    int64_t least = upper ? -BOUND_NONE : end, most = upper ? end : BOUND_NONE;
    for (uint32_t i = 0; i < facts->count; i++) {
        Quantity varying, other;
        if (facts->all[i].kind == FACT_NOT_ZERO || rest == QUANTITY_ZERO)
            continue;
        other = launch_part(k, facts->all[i].left, &varying);
        /* upper: varying + other <= 0, so fixed + rest <= fixed - other */
        if (quantity_add(quantities, rest, varying, upper ? -1 : 1) != QUANTITY_ZERO)
            continue;
        Quantity reaches = quantity_add(quantities, fixed, other, upper ? -1 : 1);
        if (reaches == QUANTITY_NONE || !is_usual(k, reaches, least, most))
            continue;
        ask(k, reaches, least, most);
        return true;
    }
    return false;
}

/* The same by what is always so of its atoms. */
static bool ask_by_atoms(Intervals *k, Quantity fixed, Quantity rest, int64_t end, bool upper) {
    const Polynomial of = quantities_in(k)->all[rest];
    for (uint32_t i = 0; i < of.count; i++)
        for (unsigned n = 0; n < of.terms[i].count; n++)
            if (ask_by_facts(k, &k->notes[of.terms[i].atoms[n]].facts, fixed, rest, end, upper))
                return true;
    return false;
}

/* Asks a launch for one end of a range: of the number itself, or of what is known that it goes up (or down) to. */
static bool ask_end(Intervals *k, const PairFacts *facts, Quantity number, int64_t end, bool upper) {
    int64_t least = upper ? -BOUND_NONE : end, most = upper ? end : BOUND_NONE;
    Quantity rest, fixed;
    if (k->trusting)
        return true;
    if (k->quiet)
        return false;
    if (is_usual(k, number, least, most)) {
        ask(k, number, least, most);
        return true;
    }
    fixed = launch_part(k, number, &rest);
    return ask_by_facts(k, facts, fixed, rest, end, upper) || ask_by_atoms(k, fixed, rest, end, upper);
}

/* The upper end by what it reaches. */
static bool reaches_no_more(Intervals *k, const PairFacts *facts, Quantity number, int64_t most) {
    Quantities *quantities = quantities_in(k);
    Quantity reach = has_register(k, number) ? reach_of(k, facts, number) : QUANTITY_NONE;
    if (reach == QUANTITY_NONE)
        return false;
    if (quantity_interval(quantities, quantities->anywhere, reach).most <= most)
        return true;
    if (k->quiet || !is_usual(k, reach, -BOUND_NONE + 1, most))
        return false;
    ask(k, reach, -BOUND_NONE, most);
    return true;
}

bool is_in_range(Intervals *k, const PairFacts *facts, Quantity number, int64_t least, int64_t most) {
    Quantities *quantities = quantities_in(k);
    if (number == QUANTITY_NONE)
        return false;
    Interval interval = quantity_interval(quantities, quantities->anywhere, number);
    bool low = interval.least >= least, high = interval.most <= most || most >= BOUND_NONE - 1;
    if (!low) {
        Quantity below = quantity_add(quantities, number, quantity_constant(quantities, least - 1), -1);
        low = facts_exclude(k, facts, below, FACT_AT_MOST);
    }
    if (!high) {
        Quantity above = quantity_add(quantities, quantity_constant(quantities, most + 1), number, -1);
        high = facts_exclude(k, facts, above, FACT_AT_MOST);
    }
    return (low || ask_end(k, facts, number, least, false)) &&
           (high || ask_end(k, facts, number, most, true) || reaches_no_more(k, facts, number, most));
}

/* A loaded register by itself, as a number with a sign: another atom, which is the same modulo 2^32. */
static Quantity with_sign(Intervals *k, Quantity number) {
    Quantities *quantities = quantities_in(k);
    const Polynomial of = quantities->all[number];
    if (of.count != 1 || of.terms[0].count != 1 || of.terms[0].factor != 1)
        return number;
    uint32_t at = of.terms[0].atoms[0];
    QuantityAtom atom = quantities->atoms[at];
    AtomNote note = k->notes[at];
    if (atom.kind != ATOM_DATA || !note.loaded || !note.bounded || note.most != UINT32_MAX || atom.axis)
        return number;
    atom.axis = 1;
    note.least = INT32_MIN;
    note.most = INT32_MAX;
    return noted(k, &atom, &note);
}

Quantity number_in_range(Intervals *k, const PairFacts *facts, Quantity number, unsigned width, bool is_signed) {
    int64_t constant, least = -(INT64_C(1) << 50), most = INT64_C(1) << 50; /* of 64 bits: far from both ends */
    if (number == QUANTITY_NONE || !width)
        return QUANTITY_NONE;
    if (width < 62) {
        least = is_signed ? -(INT64_C(1) << (width - 1)) : 0;
        most = (INT64_C(1) << (is_signed ? width - 1 : width)) - 1;
    } else if (!is_signed) {
        least = 0;
    }
    if (quantity_is_constant(quantities_in(k), number, &constant) && width < 62) {
        uint64_t bits = (uint64_t)constant & (((uint64_t)1 << width) - 1);
        int64_t value = is_signed && bits >> (width - 1) ? (int64_t)bits - (INT64_C(1) << width) : (int64_t)bits;
        return quantity_constant(quantities_in(k), value);
    }
    if (width == 32 && is_signed)
        number = with_sign(k, number);
    bool quiet = k->quiet;
    k->quiet |= width < 32; /* what is cut off on purpose is no number that wraps around */
    bool fits = is_in_range(k, facts, number, least, most);
    k->quiet = quiet;
    return fits ? number : QUANTITY_NONE;
}
