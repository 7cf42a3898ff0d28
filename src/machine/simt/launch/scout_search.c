/* Where a scout looks for a launch that goes the other way. */
#include "base/number.h"
#include "machine/simt/arith/compute.h"
#include "machine/simt/launch/scout_internal.h"

enum {
    MOST_COMPARISONS = 8, /* that a condition is made of */
    MOST_CLIMBS = 6,
    MOST_CTAS = 4096, /* of a launch that is tried */
    RANDOM_RUNS = 24,
};

/* ---- Candidates ----------------------------------------------------------------------------------- */

static int64_t power_above(int64_t number) {
    int64_t power = PTX_LANES;
    while (power <= number)
        power *= 2;
    return power;
}

/* A CTA that is not in the grid, a thread that is not in the block: they grow. */
bool scout_fits(const PtxScout *scout, int64_t *candidate) {
    const PtxLaunch *like = scout->machine->launch;
    int64_t threads = 1, ctas = 1;
    uint32_t most[3];
    for (unsigned i = 0; i < 3; i++) {
        int64_t *grid = &candidate[SCOUT_GRID + i], *block = &candidate[SCOUT_BLOCK + i];
        int64_t cta = candidate[SCOUT_CTA + i], thread = candidate[SCOUT_THREAD + i];
        int64_t cluster = like->cluster[i] ? like->cluster[i] : 1;
        if (*grid < 1 || *block < 1 || cta < 0 || thread < 0 || cta >= MOST_CTAS || thread >= FORM_MOST_THREADS)
            return false;
        if (cta >= *grid && like->chosen_grid)
            *grid = cta + 1;
        if (thread >= *block && like->chosen_block && !scout->program->required[0])
            *block = i ? thread + 1 : power_above(thread);
        *grid = rounded_up(*grid, cluster);
        if (cta >= *grid || thread >= *block || (!like->chosen_grid && *grid != like->grid[i]))
            return false;
        threads *= *block;
        ctas *= *grid;
        if (threads > FORM_MOST_THREADS || ctas > MOST_CTAS)
            return false;
    }
    if (ptx_header_numbers(scout->program->module, scout->program->entry, ".maxntid", most) &&
        threads > (int64_t)most[0] * most[1] * most[2])
        return false;
    for (uint32_t i = SCOUT_NUMBERS; i < scout->count; i++)
        if (scout->open[i] && (candidate[i] < scout->least[i] || candidate[i] > scout->most[i]))
            return false;
    return true;
}

/* One more for the next run; false: it cannot be, or there is no room. */
static bool add(PtxScout *scout, const int64_t *like, uint32_t number, int64_t value) {
    if (scout->sent == scout->lanes)
        return false;
    int64_t *to = scout->candidates[scout->sent];
    memcpy(to, like, scout->count * sizeof *to);
    to[number] = value;
    bool good = scout_fits(scout, to);
    scout->sent += good;
    return good;
}

void ptx_scout_send(PtxScout *scout, const PtxLaunch *launch) {
    int64_t *at = ARENA_ARRAY(scout->arena, int64_t, scout->count);
    uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
    for (uint32_t i = SCOUT_NUMBERS; i < scout->count; i++)
        (void)ptx_launch_number(scout->program, launch, i - SCOUT_NUMBERS, &at[i]);
    for (unsigned havoc_choice = 0; havoc_choice < 4 && scout->left; havoc_choice++) {
        scout->sent = 0;
        for (uint32_t i = 0; i < scout->lanes; i++) { /* the first two and the last of each, and some between */
            uint32_t thread = i < 2 ? i : i == 2 ? threads - 1 : i * 37 % threads;
            for (unsigned k = 0; k < 3; k++) {
                uint32_t last = launch->grid[k] - 1;
                at[SCOUT_GRID + k] = launch->grid[k];
                at[SCOUT_BLOCK + k] = launch->block[k];
                at[SCOUT_CTA + k] = i & (1u << k) ? last : havoc_choice & 1 ? last / 2 : 0;
            }
            at[SCOUT_THREAD] = thread % launch->block[0];
            at[SCOUT_THREAD + 1] = thread / launch->block[0] % launch->block[1];
            at[SCOUT_THREAD + 2] = thread / launch->block[0] / launch->block[1];
            (void)add(scout, at, SCOUT_GRID, at[SCOUT_GRID]);
        }
        if (scout->sent)
            scout_run(scout, havoc_choice);
    }
}

/* ---- What a condition is made of ------------------------------------------------------------------ */

typedef struct ScoutSearchMade {
    uint32_t comparisons[MOST_COMPARISONS];
    uint32_t count;
} ScoutSearchMade;

static void find_made(const PtxScout *scout, uint32_t value, unsigned depth, ScoutSearchMade *made) {
    enum { DEEPEST = 12 };
    const PtxFlow *flow = &scout->flow;
    const PtxModule *module = flow->module;
    if (value == PTX_NONE || depth == DEEPEST || made->count == MOST_COMPARISONS)
        return;
    const FlowValue *at = &flow->values[value];
    if (at->kind == VALUE_PHI)
        for (uint32_t i = 0; i < flow->blocks[at->block].predecessor_count; i++)
            find_made(scout, flow->inputs[at->inputs + i], depth + 1, made);
    if (at->kind != VALUE_RESULT)
        return;
    uint32_t code = scout->program->routines[scout->program->entry].begin + at->instruction;
    if (scout->comparisons[code]) {
        bool known = false;
        for (uint32_t i = 0; i < made->count; i++)
            known |= made->comparisons[i] == code;
        if (!known)
            made->comparisons[made->count++] = code;
    }
    find_made(scout, at->before, depth + 1, made);
    const PtxStatement *statement = &module->statements[flow->instructions[at->instruction]];
    for (uint32_t i = statement->first; i < statement->first + statement->count; i++) {
        uint32_t read = flow_value(flow, i);
        if (read != PTX_NONE && read != value)
            find_made(scout, read, depth + 1, made);
    }
}

/* Of a guard, of the predicate of a choice, or of a comparison itself. */
static ScoutSearchMade made_of(const PtxScout *scout, uint32_t code) {
    ScoutSearchMade made = {.count = 0};
    const PtxRoutine *routine = &scout->program->routines[scout->program->entry];
    if (code < routine->begin || code - routine->begin >= scout->flow.instruction_count)
        return made;
    const PtxStatement *statement =
        &scout->program->module->statements[scout->flow.instructions[code - routine->begin]];
    uint32_t operand = statement->first;
    if (scout->comparisons[code])
        made.comparisons[made.count++] = code;
    if (!(statement->flags & PTX_GUARDED) || scout->program->code[code].form->evaluator == PTX_EVALUATE_SELP)
        operand = statement->first + statement->count - 1;
    find_made(scout, flow_value(&scout->flow, operand), 0, &made);
    return made;
}

bool ptx_scout_empty(const PtxScout *scout, uint32_t code, const int64_t *candidate) {
    ScoutSearchMade made = made_of(scout, code);
    bool empty = false, orders = made.count > 0;
    for (uint32_t i = SCOUT_NUMBERS; i < scout->count; i++)
        empty |= scout->open[i] && candidate[i] <= 0;
    for (uint32_t i = 0; i < made.count; i++) {
        const Compute *how = scout->program->code[made.comparisons[i]].detail;
        unsigned accepts = how->accepts & (IS_LESS | IS_EQUAL | IS_GREATER);
        orders &= accepts != IS_EQUAL && accepts != (IS_LESS | IS_GREATER);
    }
    return empty && orders;
}

/* ---- Looking -------------------------------------------------------------------------------------- */

static bool is_found(const PtxScout *scout, uint32_t wanted) {
    return scout->known[wanted];
}

/* Along each number: where the distance would be 0 if it were linear. Returns a candidate that is nearer; NULL. */
static const int64_t *step_nearer(PtxScout *scout, uint32_t wanted, uint32_t comparison, const int64_t *from,
                                  uint32_t first, uint32_t last) {
    static const int64_t steps[] = {1, 16, 1000};
    enum { STEPS = sizeof steps / sizeof *steps };
    uint32_t numbers[PTX_LANES + 1];
    int64_t values[PTX_LANES + 1], havocs[3 * PTX_LANES];
    uint32_t about[3 * PTX_LANES], havoc_count = 0;
    const ScoutComparison *at = scout->comparisons[comparison];
    scout->sent = 0;
    if (!add(scout, from, first, from[first]))
        return NULL;
    for (uint32_t i = first; i < last; i++)
        for (unsigned k = 0; scout->open[i] && k <= STEPS; k++) {
            int64_t step = k < STEPS ? steps[k] : from[i] / 2 + 1;
            if (from[i] > INT64_MAX - step)
                continue;
            numbers[scout->sent] = i;
            values[scout->sent] = step;
            (void)add(scout, from, i, from[i] + step);
        }
    scout_run(scout, 0);
    if (is_found(scout, wanted) || !(at->seen & 1))
        return NULL;
    int64_t here = at->distance[0];
    for (uint32_t i = 1; i < scout->sent; i++) {
        __int128 change = (__int128)at->distance[i] - here;
        if (!(at->seen >> i & 1) || !change)
            continue;
        __int128 target = from[numbers[i]] - (__int128)here * values[i] / change;
        if (target < INT64_MIN / 2 || target > INT64_MAX / 2)
            continue;
        for (int k = -1; k <= 1 && havoc_count < 3 * PTX_LANES; k++) {
            about[havoc_count] = numbers[i];
            havocs[havoc_count++] = (int64_t)target + k;
        }
    }
    const int64_t *nearest = NULL;
    uint64_t best = here < 0 ? 0 - (uint64_t)here : (uint64_t)here;
    for (uint32_t i = 0; i < havoc_count && scout->left;) {
        scout->sent = 0;
        for (; i < havoc_count && scout->sent < scout->lanes; i++)
            (void)add(scout, from, about[i], havocs[i]);
        if (!scout->sent)
            break;
        scout_run(scout, 0);
        if (is_found(scout, wanted))
            return NULL;
        for (uint32_t k = 0; k < scout->sent; k++) {
            int64_t there = at->distance[k];
            uint64_t far = there < 0 ? 0 - (uint64_t)there : (uint64_t)there;
            if (!(at->seen >> k & 1) || far >= best)
                continue;
            int64_t *copy = ARENA_ARRAY(scout->arena, int64_t, scout->count);
            memcpy(copy, scout->candidates[k], scout->count * sizeof *copy);
            nearest = copy;
            best = far;
        }
    }
    return nearest;
}

static void climb(PtxScout *scout, uint32_t wanted, uint32_t comparison, const int64_t *from) {
    enum { AT_ONCE = 7 }; /* numbers whose steps fit a run */
    for (unsigned i = 0; i < MOST_CLIMBS && from && !is_found(scout, wanted) && scout->left; i++) {
        const int64_t *nearer = NULL;
        for (uint32_t first = 0; first < scout->count && !is_found(scout, wanted) && !nearer;) {
            uint32_t last = first, some = 0;
            for (; last < scout->count && some < AT_ONCE; last++)
                some += scout->open[last];
            if (some)
                nearer = step_nearer(scout, wanted, comparison, from, first, last);
            first = last;
        }
        from = nearer;
    }
}

/* Numbers that programs like, one after the other. */
static void try_usual(PtxScout *scout, uint32_t wanted, const int64_t *from) {
    static const int64_t usual[] = {0,    1,    2,    3,     4,     5,     6,     7,     8,      9,       15,     16,
                                    17,   31,   32,   33,    63,    64,    65,    96,    127,    128,     129,    192,
                                    255,  256,  257,  511,   512,   1023,  1024,  -1,    -2,     10,      12,     20,
                                    24,   40,   48,   80,    100,   160,   384,   640,   768,    1000,    2048,   4096,
                                    4097, 5000, 8192, 10000, 16384, 32768, 65535, 65536, 100000, 1 << 20, 1 << 24};
    enum { USUAL = sizeof usual / sizeof *usual };
    for (uint32_t i = 0; i < scout->count; i++)
        for (unsigned k = 0; scout->open[i] && k < USUAL && scout->left && !is_found(scout, wanted);) {
            scout->sent = 0;
            for (; k < USUAL && scout->sent < scout->lanes; k++)
                (void)add(scout, from, i, usual[k]);
            if (scout->sent)
                scout_run(scout, 0);
        }
}

static uint64_t next_random(PtxScout *scout) {
    scout->random = scout->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return scout->random >> 33;
}

static void try_random(PtxScout *scout, uint32_t wanted, const int64_t *from) {
    for (unsigned i = 0; i < RANDOM_RUNS && scout->left && !is_found(scout, wanted); i++) {
        scout->sent = 0;
        for (unsigned k = 0; k < 4 * PTX_LANES && scout->sent < scout->lanes; k++) {
            uint32_t number = (uint32_t)(next_random(scout) % scout->count);
            if (scout->open[number])
                (void)add(scout, from, number, (int64_t)(next_random(scout) & ((UINT64_C(2) << (k & 15)) - 1)));
        }
        if (!scout->sent)
            return;
        scout_run(scout, i & 3);
    }
}

static void look_for(PtxScout *scout, uint32_t wanted, const int64_t *from, const ScoutSearchMade *made) {
    for (uint32_t i = 0; i < made->count; i++)
        climb(scout, wanted, made->comparisons[i], from);
}

/* Between a launch that goes the other way and one that goes this way: the one that is least different. */
static void shrink(PtxScout *scout, uint32_t wanted, const int64_t *other) {
    int64_t *found = scout->known[wanted], *from = ARENA_ARRAY(scout->arena, int64_t, scout->count);
    for (uint32_t i = 0; i < scout->count; i++) {
        for (unsigned k = 0; k < 2 && scout->open[i] && scout->left; k++) {
            int64_t low = other[i], high = found[i];
            if (low == high || high - low == 1 || low - high == 1)
                break;
            memcpy(from, found, scout->count * sizeof *from);
            for (unsigned axis = SCOUT_GRID; axis < SCOUT_CTA; axis++)
                if (i >= SCOUT_CTA && i < SCOUT_NUMBERS)
                    from[axis] = other[axis]; /* they grow with what is in them */
            scout->sent = 0;
            for (unsigned lane = 1; lane < scout->lanes; lane++)
                (void)add(scout, from, i, low + (int64_t)((__int128)(high - low) * lane / (scout->lanes - 1)));
            if (!scout->sent)
                break;
            scout_run(scout, 0);
            if (!scout->went[wanted])
                break;
            memcpy(found, scout->candidates[__builtin_ctz(scout->went[wanted])], scout->count * sizeof *found);
        }
    }
}

const int64_t *ptx_scout_find(PtxScout *scout, uint32_t code, bool way) {
    uint32_t wanted = 2 * code + way, other = 2 * code + !way;
    if (scout->known[wanted] || scout->tried[wanted] || !scout->known[other])
        return scout->known[wanted];
    scout->tried[wanted] = true;
    ScoutSearchMade made = made_of(scout, code);
    look_for(scout, wanted, scout->known[other], &made);
    /* of several conditions together, each by itself first, and then the others from there */
    for (uint32_t i = 0; made.count > 1 && i < made.count && !is_found(scout, wanted); i++)
        for (unsigned k = 0; k < 2 && !is_found(scout, wanted); k++) {
            uint32_t part = 2 * made.comparisons[i] + k;
            if (!scout->known[part] && scout->known[part ^ 1])
                climb(scout, part, made.comparisons[i], scout->known[part ^ 1]);
            if (scout->known[part])
                look_for(scout, wanted, scout->known[part], &made);
        }
    if (!is_found(scout, wanted))
        try_usual(scout, wanted, scout->known[other]);
    if (!is_found(scout, wanted))
        try_random(scout, wanted, scout->known[other]);
    if (is_found(scout, wanted))
        shrink(scout, wanted, scout->known[other]);
    return scout->known[wanted];
}
