/* The simplex method over fractions, and its answer added up again. */
#include "check/intervals/linear.h"

#include <stdlib.h>
#include <string.h>

/* ---- Rows ------------------------------------------------------------------------------------------ */

static int64_t common_divisor(int64_t a, int64_t b) {
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

static int by_variable(const void *a, const void *b) {
    const LinearTerm *left = a, *right = b;
    return left->variable < right->variable ? -1 : left->variable > right->variable;
}

/* Divided by what all factors have in common, and the constant rounded up. */
static void tighten(LinearSystem *system, LinearTerm *terms, LinearRow *row) {
    int64_t divisor = 0;
    for (uint32_t i = 0; i < row->count; i++)
        divisor = common_divisor(divisor, terms[i].factor);
    if (!divisor) {
        system->impossible |= row->equal ? row->constant != 0 : row->constant > 0;
        return;
    }
    if (row->equal && row->constant % divisor) {
        system->impossible = true;
        return;
    }
    for (uint32_t i = 0; i < row->count; i++)
        terms[i].factor /= divisor;
    int64_t rest = row->constant % divisor;
    row->constant = row->constant / divisor + (rest > 0);
}

static bool is_there(const LinearSystem *system, const LinearRow *row) {
    for (uint32_t i = 0; i < system->count; i++) {
        const LinearRow *other = &system->rows[i];
        if (other->count == row->count && other->equal == row->equal && other->constant >= row->constant &&
            (!row->equal || other->constant == row->constant) &&
            memcmp(other->terms, row->terms, row->count * sizeof *row->terms) == 0)
            return true;
    }
    return false;
}

void linear_add(LinearSystem *system, Arena *arena, const LinearTerm *terms, uint32_t count, int64_t constant,
                bool equal) {
    static const int64_t largest = INT64_C(1) << 61;
    LinearTerm *kept = ARENA_ARRAY(arena, LinearTerm, count + 1);
    uint32_t left = 0;
    if (system->count >= LINEAR_MOST_ROWS || constant > largest || constant < -largest)
        return;
    if (count)
        memcpy(kept, terms, count * sizeof *kept);
    qsort(kept, count, sizeof *kept, by_variable);
    for (uint32_t i = 0; i < count; i++) {
        bool more = left && kept[left - 1].variable == kept[i].variable;
        int64_t factor = more ? kept[left - 1].factor : 0;
        left -= more;
        if (__builtin_add_overflow(factor, kept[i].factor, &factor) || factor > largest || factor < -largest)
            return;
        if (factor)
            kept[left++] = (LinearTerm){kept[i].variable, factor};
    }
    LinearRow row = {.terms = kept, .count = left, .constant = constant, .equal = equal};
    tighten(system, kept, &row);
    if (row.count && !is_there(system, &row))
        *ARENA_PUSH(arena, system->rows, system->count, system->capacity) = row;
}

/* ---- Fractions ------------------------------------------------------------------------------------- */

typedef struct Fraction {
    int64_t above, below; /* below > 0, and nothing in common */
} Fraction;

static Fraction fraction_of(int64_t number) {
    return (Fraction){number, 1};
}

/* A fraction of 128 bits, shortened; *good is false from then on if it does not fit. */
static Fraction shortened(__int128 above, __int128 below, bool *good) {
    __int128 a = above < 0 ? -above : above, b = below;
    while (b) {
        __int128 rest = a % b;
        a = b;
        b = rest;
    }
    above /= a;
    below /= a;
    static const int64_t largest = INT64_MAX / 2;
    if (above > largest || above < -largest || below > largest) {
        *good = false;
        return fraction_of(0);
    }
    return (Fraction){(int64_t)above, (int64_t)below};
}

static Fraction plus(Fraction a, Fraction b, bool *good) {
    if (a.below == 1 && b.below == 1)
        return shortened((__int128)a.above + b.above, 1, good);
    return shortened((__int128)a.above * b.below + (__int128)b.above * a.below, (__int128)a.below * b.below, good);
}

static Fraction times(Fraction a, Fraction b, bool *good) {
    if (!a.above || !b.above)
        return fraction_of(0);
    return shortened((__int128)a.above * b.above, (__int128)a.below * b.below, good);
}

static Fraction inverse(Fraction a) {
    return a.above < 0 ? (Fraction){-a.below, -a.above} : (Fraction){a.below, a.above};
}

static Fraction negative(Fraction a) {
    return (Fraction){-a.above, a.below};
}

static bool is_more(Fraction a, Fraction b) {
    return (__int128)a.above * b.below > (__int128)b.above * a.below;
}

/* ---- The simplex method ---------------------------------------------------------------------------- */

/* Each row of the system has a variable of its own, behind those of the system: the sum of its terms, which is at most
 * -constant, and with `equal` at least that, too. The table says what the basic variables are, as sums of the others.
 */
typedef struct Simplex {
    const LinearSystem *system;
    uint32_t columns, rows;
    Fraction *table;  /* rows * columns */
    uint32_t *basic;  /* of each row of the table, the variable */
    uint32_t *others; /* of each column */
    Fraction *values; /* of each variable */
    bool good;
} Simplex;

static Fraction *cell(const Simplex *simplex, uint32_t row, uint32_t column) {
    return &simplex->table[(size_t)row * simplex->columns + column];
}

static const LinearRow *row_of(const Simplex *simplex, uint32_t variable) {
    return variable < simplex->columns ? NULL : &simplex->system->rows[variable - simplex->columns];
}

static bool may_grow(const Simplex *simplex, uint32_t variable) {
    const LinearRow *row = row_of(simplex, variable);
    return !row || is_more(fraction_of(-row->constant), simplex->values[variable]);
}

static bool may_shrink(const Simplex *simplex, uint32_t variable) {
    const LinearRow *row = row_of(simplex, variable);
    return !row || !row->equal || is_more(simplex->values[variable], fraction_of(-row->constant));
}

/* The basic variable with the smallest number that is out of its bounds; *above says on which side. */
static bool find_wrong(const Simplex *simplex, uint32_t *place, bool *above) {
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < simplex->rows; i++) {
        uint32_t variable = simplex->basic[i];
        const LinearRow *row = row_of(simplex, variable);
        if (!row || variable >= best)
            continue;
        Fraction bound = fraction_of(-row->constant);
        bool over = is_more(simplex->values[variable], bound);
        if (!over && !(row->equal && is_more(bound, simplex->values[variable])))
            continue;
        best = variable;
        *place = i;
        *above = over;
    }
    return best != UINT32_MAX;
}

/* The column with the smallest variable that can move the basic one back; false: there is none. */
static bool find_column(const Simplex *simplex, uint32_t row, bool above, uint32_t *column) {
    uint32_t best = UINT32_MAX;
    for (uint32_t k = 0; k < simplex->columns; k++) {
        Fraction factor = *cell(simplex, row, k);
        uint32_t variable = simplex->others[k];
        if (!factor.above || variable >= best)
            continue;
        bool up = (factor.above > 0) != above;
        if (up ? may_grow(simplex, variable) : may_shrink(simplex, variable)) {
            best = variable;
            *column = k;
        }
    }
    return best != UINT32_MAX;
}

/* The basic variable of the row gets the value, and leaves; that of the column comes in. */
static void pivot(Simplex *simplex, uint32_t row, uint32_t column, Fraction value) {
    bool *good = &simplex->good;
    uint32_t leaves = simplex->basic[row], comes = simplex->others[column];
    Fraction by = inverse(*cell(simplex, row, column));
    Fraction step = times(plus(value, negative(simplex->values[leaves]), good), by, good);
    simplex->values[leaves] = value;
    simplex->values[comes] = plus(simplex->values[comes], step, good);
    for (uint32_t k = 0; k < simplex->columns; k++)
        *cell(simplex, row, k) = k == column ? by : negative(times(*cell(simplex, row, k), by, good));
    for (uint32_t i = 0; i < simplex->rows && *good; i++) {
        Fraction factor = *cell(simplex, i, column);
        if (i == row || !factor.above)
            continue;
        simplex->values[simplex->basic[i]] = plus(simplex->values[simplex->basic[i]], times(factor, step, good), good);
        *cell(simplex, i, column) = fraction_of(0);
        for (uint32_t k = 0; k < simplex->columns; k++)
            if (cell(simplex, row, k)->above)
                *cell(simplex, i, k) = plus(*cell(simplex, i, k), times(factor, *cell(simplex, row, k), good), good);
    }
    simplex->basic[row] = comes;
    simplex->others[column] = leaves;
}

/* Adds a multiple of a row of the system to a sum; false: it is used in the direction in which it says nothing. */
static bool add_multiple(const Simplex *simplex, uint32_t variable, Fraction factor, Fraction *sum, bool *good) {
    const LinearRow *row = row_of(simplex, variable);
    if (!row || (factor.above < 0 && !row->equal))
        return false;
    for (uint32_t i = 0; i < row->count; i++)
        sum[row->terms[i].variable] =
            plus(sum[row->terms[i].variable], times(factor, fraction_of(row->terms[i].factor), good), good);
    sum[simplex->columns] = plus(sum[simplex->columns], times(factor, fraction_of(row->constant), good), good);
    return *good;
}

/* Whether the rows of the system, with the factors that a row of the table says, add up to 1 <= 0. */
static bool adds_up(const Simplex *simplex, uint32_t place, bool above, Arena *scratch) {
    bool good = true;
    Fraction *sum = ARENA_ARRAY(scratch, Fraction, simplex->columns + 1);
    for (uint32_t i = 0; i <= simplex->columns; i++)
        sum[i] = fraction_of(0);
    if (!add_multiple(simplex, simplex->basic[place], fraction_of(above ? 1 : -1), sum, &good))
        return false;
    for (uint32_t k = 0; k < simplex->columns; k++) {
        Fraction factor = *cell(simplex, place, k);
        if (factor.above && !add_multiple(simplex, simplex->others[k], above ? negative(factor) : factor, sum, &good))
            return false;
    }
    for (uint32_t i = 0; i < simplex->columns; i++)
        if (sum[i].above)
            return false;
    return good && sum[simplex->columns].above > 0;
}

bool linear_refuted(const LinearSystem *system, Arena *scratch) {
    enum { MOST_STEPS = 300 };
    uint32_t columns = 0, place, column;
    bool above;
    if (system->impossible)
        return true;
    for (uint32_t i = 0; i < system->count; i++)
        for (uint32_t k = 0; k < system->rows[i].count; k++)
            if (system->rows[i].terms[k].variable >= columns)
                columns = system->rows[i].terms[k].variable + 1;
    if (!columns || columns > LINEAR_MOST_VARIABLES)
        return false;
    Simplex simplex = {.system = system, .columns = columns, .rows = system->count, .good = true};
    simplex.table = ARENA_ARRAY(scratch, Fraction, (size_t)columns * system->count);
    simplex.basic = ARENA_ARRAY(scratch, uint32_t, system->count);
    simplex.others = ARENA_ARRAY(scratch, uint32_t, columns);
    simplex.values = ARENA_ARRAY(scratch, Fraction, columns + system->count);
    for (size_t i = 0; i < (size_t)columns * system->count; i++)
        simplex.table[i] = fraction_of(0);
    for (uint32_t i = 0; i < columns + system->count; i++)
        simplex.values[i] = fraction_of(0);
    for (uint32_t k = 0; k < columns; k++)
        simplex.others[k] = k;
    for (uint32_t i = 0; i < system->count; i++) {
        simplex.basic[i] = columns + i;
        for (uint32_t k = 0; k < system->rows[i].count; k++)
            *cell(&simplex, i, system->rows[i].terms[k].variable) = fraction_of(system->rows[i].terms[k].factor);
    }
    for (unsigned steps = 0; steps < MOST_STEPS && simplex.good; steps++) {
        if (!find_wrong(&simplex, &place, &above))
            return false;
        if (!find_column(&simplex, place, above, &column))
            return adds_up(&simplex, place, above, scratch);
        pivot(&simplex, place, column, fraction_of(-row_of(&simplex, simplex.basic[place])->constant));
    }
    return false;
}
