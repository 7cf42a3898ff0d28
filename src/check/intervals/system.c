/* PairFacts of one or two threads as rows of a linear system: each product of atoms is a variable, that of another
 * thread another one, unless both threads agree in it. Rows that follow from what atoms are are added: their bounds,
 * what quotients and extremes are of, and these times what they are multiplied with, as far as that is not negative. */
#include "check/intervals/internal.h"

enum { MOST_SUM = 192, MOST_DEPTH = 1, MOST_DEGREE = 5 };

/* A product of atoms, each with whose it is: 0 both threads', 1 the first one's, 2 the second one's. */
typedef struct Product {
    uint8_t count, depth; /* depth: 0 of a row that was given; how many steps it is from one */
    struct {
        uint16_t atom;
        uint8_t whose;
    } factors[MOST_FACTORS];
} Product;

struct PairSystem {
    Intervals *k;
    Arena *arena;
    bool one_cta;
    LinearSystem linear;
    Product *products;
    uint32_t product_count, closed;
    uint8_t depth; /* of products that come in now */
    bool failed;   /* the sum that was begun is too long */
    LinearTerm sum[MOST_SUM];
    uint32_t sum_count;
    int64_t sum_constant;
    uint8_t *told;  /* of each atom, a bit for each whose: what is always so of it is a row */
    bool *positive; /* of each atom: it is known not to be negative, for another reason than its kind */
};

PairSystem *system_new(Intervals *k, Arena *arena, bool one_cta) {
    PairSystem *system = ARENA_NEW(arena, PairSystem);
    system->k = k;
    system->arena = arena;
    system->one_cta = one_cta;
    system->products = ARENA_ARRAY(arena, Product, LINEAR_MOST_VARIABLES);
    system->positive = ARENA_ARRAY(arena, bool, MOST_ATOMS);
    system->told = ARENA_ARRAY(arena, uint8_t, MOST_ATOMS);
    return system;
}

PairSystem *system_copy(const PairSystem *from) {
    PairSystem *system = ARENA_NEW(from->arena, PairSystem);
    *system = *from;
    system->products = ARENA_ARRAY(from->arena, Product, LINEAR_MOST_VARIABLES);
    memcpy(system->products, from->products, from->product_count * sizeof *from->products);
    system->positive = ARENA_ARRAY(from->arena, bool, MOST_ATOMS);
    memcpy(system->positive, from->positive, MOST_ATOMS);
    system->told = ARENA_ARRAY(from->arena, uint8_t, MOST_ATOMS);
    memcpy(system->told, from->told, MOST_ATOMS);
    system->linear.rows = ARENA_ARRAY(from->arena, LinearRow, from->linear.count + 1);
    system->linear.capacity = from->linear.count + 1;
    if (from->linear.count)
        memcpy(system->linear.rows, from->linear.rows, from->linear.count * sizeof *from->linear.rows);
    return system;
}

/* ---- Atoms ----------------------------------------------------------------------------------------- */

static bool shares_all(const PairSystem *system, Quantity number) {
    const Polynomial *of = &system->k->prover.proof->quantities.all[number];
    for (uint32_t i = 0; i < of->count; i++)
        for (unsigned n = 0; n < of->terms[i].count; n++)
            if (!system_shares(system, of->terms[i].atoms[n]))
                return false;
    return true;
}

bool system_shares(const PairSystem *system, uint32_t atom) {
    const QuantityAtom *made = &system->k->prover.proof->quantities.atoms[atom];
    switch (made->kind) {
    case ATOM_THREAD:
        return false;
    case ATOM_PROGRAM:
        return system->one_cta;
    case ATOM_DATA: {
        AtomScope scope = system->k->notes[atom].scope;
        return scope == SAME_IN_LAUNCH || (scope == SAME_IN_CTA && system->one_cta);
    }
    case ATOM_DIVIDE:
    case ATOM_REMAINDER:
    case ATOM_MINIMUM:
    case ATOM_MAXIMUM:
        return shares_all(system, made->a) && shares_all(system, made->b);
    default:
        return true;
    }
}

/* What it is by a precondition, as a number; false: any. */
static bool is_pinned(const PairSystem *system, const QuantityAtom *atom, int64_t *value) {
    const int64_t(*pinned)[3] = system->k->pinned;
    bool grid = atom->kind == ATOM_PROGRAMS || atom->kind == ATOM_PROGRAM;
    bool size = atom->kind == ATOM_PROGRAMS || atom->kind == ATOM_THREADS;
    if (!grid && !size && atom->kind != ATOM_THREAD)
        return false;
    int64_t is = pinned[grid][atom->axis];
    *value = size ? is : 0;
    return size ? is > 0 : is == 1;
}

static bool is_known_positive(const PairSystem *system, uint32_t atom) {
    const Quantities *quantities = &system->k->prover.proof->quantities;
    const AtomNote *note = &system->k->notes[atom];
    return system->positive[atom] || quantities->anywhere[atom].least >= 0 ||
           (quantities->atoms[atom].kind == ATOM_DATA && note->bounded && note->least >= 0);
}

void system_set_positive(PairSystem *system, uint32_t atom) {
    system->positive[atom] = true;
}

bool system_is_positive(PairSystem *system, const Monomial *product) {
    for (unsigned i = 0; i < product->count; i++)
        if (!is_known_positive(system, product->atoms[i]))
            return false;
    return true;
}

/* ---- Sums ------------------------------------------------------------------------------------------ */

static uint32_t variable_of(PairSystem *system, const Product *product) {
    for (uint32_t i = 0; i < system->product_count; i++) {
        Product *other = &system->products[i];
        bool same = other->count == product->count;
        for (unsigned n = 0; n < product->count && same; n++)
            same = other->factors[n].atom == product->factors[n].atom &&
                   other->factors[n].whose == product->factors[n].whose;
        if (same) {
            other->depth = product->depth < other->depth ? product->depth : other->depth;
            return i;
        }
    }
    if (system->product_count == LINEAR_MOST_VARIABLES)
        return UINT32_MAX;
    system->products[system->product_count] = *product;
    return system->product_count++;
}

static bool add_factor(Product *product, uint32_t atom, uint8_t whose) {
    unsigned at = product->count;
    if (at == MOST_DEGREE)
        return false;
    for (; at && (product->factors[at - 1].atom > atom ||
                  (product->factors[at - 1].atom == atom && product->factors[at - 1].whose > whose));
         at--)
        product->factors[at] = product->factors[at - 1];
    product->factors[at].atom = (uint16_t)atom;
    product->factors[at].whose = whose;
    product->count++;
    return true;
}

void system_begin(PairSystem *system) {
    system->sum_count = 0;
    system->sum_constant = 0;
    system->failed = false;
}

static void add_to_sum(PairSystem *system, const Product *product, int64_t factor) {
    if (!product->count) {
        system->failed |= __builtin_add_overflow(system->sum_constant, factor, &system->sum_constant);
        return;
    }
    uint32_t variable = variable_of(system, product);
    if (variable == UINT32_MAX || system->sum_count == MOST_SUM)
        system->failed = true;
    else
        system->sum[system->sum_count++] = (LinearTerm){variable, factor};
}

/* Adds times * number * by, of a thread; `by` is a product with whose its atoms are. */
static void add_number(PairSystem *system, Quantity number, unsigned side, int64_t times, const Product *by) {
    const Quantities *quantities = &system->k->prover.proof->quantities;
    if (number == QUANTITY_NONE) {
        system->failed = true;
        return;
    }
    const Polynomial *of = &quantities->all[number];
    for (uint32_t i = 0; i < of->count; i++) {
        Product product = by ? *by : (Product){0};
        int64_t factor, value;
        product.depth = system->depth;
        system->failed |= __builtin_mul_overflow(of->terms[i].factor, times, &factor);
        for (unsigned n = 0; n < of->terms[i].count; n++) {
            uint32_t atom = of->terms[i].atoms[n];
            if (is_pinned(system, &quantities->atoms[atom], &value))
                system->failed |= __builtin_mul_overflow(factor, value, &factor);
            else
                system->failed |= !add_factor(&product, atom, system_shares(system, atom) ? 0 : (uint8_t)(side + 1));
        }
        if (factor)
            add_to_sum(system, &product, factor);
    }
}

void system_term(PairSystem *system, Quantity number, unsigned side, int64_t times) {
    add_number(system, number, side, times, NULL);
}

void system_term_by(PairSystem *system, Quantity number, unsigned side, int64_t times, const Monomial *by) {
    const Quantities *quantities = &system->k->prover.proof->quantities;
    Product product = {0};
    for (unsigned i = 0; i < by->count; i++) {
        int64_t value;
        if (is_pinned(system, &quantities->atoms[by->atoms[i]], &value))
            system->failed |= __builtin_mul_overflow(times, value, &times);
        else
            system->failed |= !add_factor(&product, by->atoms[i], 0);
    }
    if (!system->failed)
        add_number(system, number, side, times, &product);
}

void system_follow(PairSystem *system, bool follows) {
    system->depth = follows;
}

void system_row(PairSystem *system, int64_t constant, bool equal) {
    if (system->failed || __builtin_add_overflow(constant, system->sum_constant, &constant))
        return;
    linear_add(&system->linear, system->arena, system->sum, system->sum_count, constant, equal);
}

void system_facts(PairSystem *system, const PairFacts *facts, unsigned side) {
    for (uint32_t i = 0; i < facts->count; i++) {
        if (facts->all[i].kind == FACT_NOT_ZERO)
            continue;
        system_begin(system);
        system_term(system, facts->all[i].left, side, 1);
        system_row(system, 0, facts->all[i].kind == FACT_ZERO);
    }
}

/* ---- What atoms are -------------------------------------------------------------------------------- */

/* times_a * a + times_b * b + constant <= 0, all of it times the product. */
static void add_times(PairSystem *system, const Product *by, unsigned side, Quantity a, int64_t times_a, Quantity b,
                      int64_t times_b, int64_t constant) {
    system_begin(system);
    add_number(system, a, side, times_a, by);
    if (times_b)
        add_number(system, b, side, times_b, by);
    Product product = *by;
    product.depth = system->depth;
    if (constant)
        add_to_sum(system, &product, constant);
    system_row(system, 0, false);
}

static void bound_atom(PairSystem *system, const Product *by, unsigned side, uint32_t at) {
    Intervals *k = system->k;
    Quantities *quantities = quantities_in(k);
    const QuantityAtom atom = quantities->atoms[at];
    const AtomNote *note = &k->notes[at];
    Quantity self = quantity_atom(quantities, &atom);
    int64_t least = quantities->anywhere[at].least, most = quantities->anywhere[at].most;
    if (atom.kind == ATOM_DATA && note->bounded) {
        least = note->least;
        most = note->most;
    }
    if (atom.kind == ATOM_THREADS && k->most_threads && k->most_threads < most)
        most = k->most_threads;
    static const int64_t far = INT64_C(1) << 48;
    bool sized = atom.kind == ATOM_THREAD || atom.kind == ATOM_PROGRAM; /* its end is a size */
    if (sized || (by->count && most > 1024))
        most = far;
    if (least > -far && (!by->count || least >= 0))
        add_times(system, by, side, self, -1, QUANTITY_ZERO, 0, least);
    if (most < far)
        add_times(system, by, side, self, 1, QUANTITY_ZERO, 0, -most);
    switch (atom.kind) {
    case ATOM_THREAD:
    case ATOM_PROGRAM: {
        QuantityAtom size = {.kind = atom.kind == ATOM_THREAD ? ATOM_THREADS : ATOM_PROGRAMS, .axis = atom.axis};
        Quantity count = size.kind == ATOM_THREADS && k->fixed[atom.axis]
                             ? quantity_constant(quantities, k->fixed[atom.axis])
                             : quantity_atom(quantities, &size);
        add_times(system, by, side, self, 1, count, -1, 1);
        break;
    }
    case ATOM_DIVIDE: { /* 0 <= a - b * self <= b - 1 */
        Quantity whole = quantity_multiply(quantities, atom.b, self);
        add_times(system, by, side, whole, 1, atom.a, -1, 0);
        if (whole != QUANTITY_NONE)
            add_times(system, by, side, quantity_add(quantities, atom.a, whole, -1), 1, atom.b, -1, 1);
        break;
    }
    case ATOM_MINIMUM:
    case ATOM_MAXIMUM: {
        int64_t sign = atom.kind == ATOM_MINIMUM ? 1 : -1;
        add_times(system, by, side, self, sign, atom.a, -sign, 0);
        add_times(system, by, side, self, sign, atom.b, -sign, 0);
        break;
    }
    default:
        break;
    }
}

/* What is always so of an atom, once for each thread. */
static void add_atom_facts(PairSystem *system, uint32_t at, uint8_t whose) {
    static const Product one = {.count = 0};
    const AtomNote *note = &system->k->notes[at];
    if (system->told[at] >> whose & 1)
        return;
    system->told[at] |= (uint8_t)(1u << whose);
    for (uint32_t i = 0; i < note->facts.count; i++)
        add_times(system, &one, whose ? whose - 1u : 0, note->facts.all[i].left, 1, QUANTITY_ZERO, 0, 0);
}

/* What its factors are, each times the others. */
static void bound_product(PairSystem *system, uint32_t variable) {
    const Product product = system->products[variable];
    for (unsigned i = 0; i < product.count; i++)
        add_atom_facts(system, product.factors[i].atom, product.factors[i].whose);
    if (product.count > 1 && product.depth >= MOST_DEPTH)
        return;
    system->depth = (uint8_t)(product.depth + 1);
    for (unsigned i = 0; i < product.count; i++) {
        Product others = {0};
        bool positive = true;
        for (unsigned n = 0; n < product.count; n++) {
            if (n == i)
                continue;
            positive &= is_known_positive(system, product.factors[n].atom);
            add_factor(&others, product.factors[n].atom, product.factors[n].whose);
        }
        uint8_t whose = product.factors[i].whose;
        if (positive)
            bound_atom(system, &others, whose ? whose - 1u : 0, product.factors[i].atom);
    }
    system->depth = 0;
}

void system_close(PairSystem *system) {
    while (system->closed < system->product_count)
        bound_product(system, system->closed++);
}

bool system_refuted(PairSystem *system) {
    Intervals *k = system->k;
    if (prover_is_late(&k->prover))
        return false;
    arena_reset(&k->solve);
    return linear_refuted(&system->linear, &k->solve);
}

bool facts_exclude(Intervals *k, const PairFacts *facts, Quantity left, PairFactKind kind) {
    if (left == QUANTITY_NONE)
        return false;
    arena_reset(&k->ranges);
    PairSystem *system = system_new(k, &k->ranges, true);
    system_facts(system, facts, 0);
    system_facts(system, &k->launch, 0);
    system_facts(system, &k->asked, 0);
    system_begin(system);
    system_term(system, left, 0, 1);
    bool good = !system->failed;
    system_row(system, 0, kind == FACT_ZERO);
    system_close(system);
    return good && system_refuted(system);
}
