/* Writing certificates: the numbers, the accesses, what is asked of a launch, and the steps of each pair. */
#include "check/prove/certificate.h"

#include "check/prove/access.h"
#include "ir/op.h"
#include "machine/tile/compile/program.h"

#include <inttypes.h>

typedef struct Writer {
    const Op *function;
    const Proof *proof;
    Text *to;
    Arena *arena;
    uint32_t numbers[MOST_ATOMS]; /* of atoms, as the certificate has them; UINT32_MAX: not there yet */
    uint32_t atom_count;
    Condition *asked; /* one of each */
    uint32_t asked_count, asked_capacity;
} Writer;

/* The place of an op in the kernel's text. */
static uint32_t op_place(const Writer *writer, const Op *wanted) {
    uint32_t at = 0;
    for (const Op *op = writer->function; op && op != wanted; op = op_next_in_walk(op, writer->function))
        at++;
    return at;
}

/* ---- Numbers -------------------------------------------------------------------------------------- */

static void write_number(const Writer *writer, Quantity quantity) {
    const Polynomial *of = quantity == QUANTITY_NONE ? NULL : &writer->proof->quantities.all[quantity];
    if (!of || !of->count)
        text_addf(writer->to, of ? "0" : "none");
    for (uint32_t i = of ? of->count : 0; i-- > 0;) { /* the constant last */
        const Monomial *term = &of->terms[i];
        text_addf(writer->to, "%s", i + 1 < of->count && term->factor > 0 ? "+" : "");
        bool shown = !term->count || (term->factor != 1 && term->factor != -1);
        if (shown)
            text_addf(writer->to, "%" PRId64, term->factor);
        else if (term->factor < 0)
            text_char(writer->to, '-');
        for (unsigned k = 0; k < term->count; k++)
            text_addf(writer->to, "%sa%u", shown || k ? "*" : "", writer->numbers[term->atoms[k]]);
    }
}

static void need_atoms(Writer *writer, Quantity quantity);

static void write_lanes(const Writer *writer, uint32_t map) {
    const Quantity *at;
    uint32_t rank = prover_coordinates(writer->proof, map, &at);
    for (uint32_t i = 0; i < rank; i++) {
        text_addf(writer->to, i ? " , " : " : ");
        write_number(writer, at[i]);
    }
}

static void need_lanes(Writer *writer, uint32_t map) {
    const Quantity *at;
    uint32_t rank = prover_coordinates(writer->proof, map, &at);
    for (uint32_t i = 0; i < rank; i++)
        need_atoms(writer, at[i]);
}

/* "17 0": an op, and which of its results or arguments. */
static void write_value(const Writer *writer, const Value *value) {
    const Op *op = value_op(value);
    text_addf(writer->to, "%s%u %u", op ? "" : "@ ", op_place(writer, op ? op : value_holder(value)), value->index);
}

/* The line of an atom, behind those that it is made of. */
static void need_atom(Writer *writer, uint32_t number) {
    static const char *const words[] = {"argument", "shape",  "stride",    "programs", "program", "lane",
                                        "trip",     "divide", "remainder", "minimum",  "maximum", "data"};
    const QuantityAtom *atom = &writer->proof->quantities.atoms[number];
    if (writer->numbers[number] != UINT32_MAX)
        return;
    bool made = atom->kind >= ATOM_TRIP && atom->kind <= ATOM_MAXIMUM;
    if (made) {
        need_atoms(writer, atom->a);
        need_atoms(writer, atom->b);
    } else if (atom->kind == ATOM_DATA) {
        need_lanes(writer, (uint32_t)atom->extent);
    }
    writer->numbers[number] = writer->atom_count++;
    text_addf(writer->to, "a%u %s ", writer->numbers[number], words[atom->kind]);
    switch (atom->kind) {
    case ATOM_ARGUMENT:
        text_addf(writer->to, "%u", atom->of);
        break;
    case ATOM_SHAPE:
    case ATOM_STRIDE:
        text_addf(writer->to, "%u %u", atom->of, atom->axis);
        break;
    case ATOM_PROGRAMS:
    case ATOM_PROGRAM:
        text_addf(writer->to, "%u", atom->axis);
        break;
    case ATOM_LANE:
        text_addf(writer->to, "%u %" PRId64, atom->axis, atom->extent - 1);
        break;
    case ATOM_DATA:
        write_value(writer, atom->key);
        write_lanes(writer, (uint32_t)atom->extent);
        break;
    default:
        if (atom->kind == ATOM_TRIP)
            text_addf(writer->to, "%u ", op_place(writer, atom->key));
        write_number(writer, atom->a);
        text_addf(writer->to, " , ");
        write_number(writer, atom->b);
        break;
    }
    text_char(writer->to, '\n');
}

static void need_atoms(Writer *writer, Quantity quantity) {
    const Polynomial *of = quantity == QUANTITY_NONE ? NULL : &writer->proof->quantities.all[quantity];
    for (uint32_t i = 0; of && i < of->count; i++)
        for (unsigned k = 0; k < of->terms[i].count; k++)
            need_atom(writer, of->terms[i].atoms[k]);
}

/* ---- What is asked -------------------------------------------------------------------------------- */

static bool same_condition(const Condition *a, const Condition *b) {
    return a->kind == b->kind && a->a == b->a && a->b == b->b && a->level_count == b->level_count &&
           (!a->level_count || memcmp(a->levels, b->levels, a->level_count * sizeof *a->levels) == 0);
}

/* Its number among all that are asked, or hold anyway. */
static uint32_t asked_number(Writer *writer, const Condition *condition) {
    uint32_t at = 0;
    while (at < writer->asked_count && !same_condition(&writer->asked[at], condition))
        at++;
    if (at == writer->asked_count)
        *ARENA_PUSH(writer->arena, writer->asked, writer->asked_count, writer->asked_capacity) = *condition;
    return at;
}

static void need_condition(Writer *writer, const Condition *condition) {
    need_atoms(writer, condition->a);
    need_atoms(writer, condition->b);
    for (uint32_t i = 0; i < condition->level_count; i++) {
        const NestLevel *level = &condition->levels[i];
        need_atoms(writer, level->factor);
        for (unsigned side = 0; side < 2; side++) {
            need_atoms(writer, level->value[side]);
            need_atoms(writer, level->least[side]);
            need_atoms(writer, level->most[side]);
        }
    }
}

static void write_condition(const Writer *writer, const Condition *condition) {
    const Quantities *quantities = &writer->proof->quantities;
    bool anywhere = condition_holds(quantities, quantities->anywhere, condition);
    text_addf(writer->to, anywhere ? "free" : "where");
    if (condition->kind != CONDITION_NEST) {
        text_addf(writer->to, condition->kind == CONDITION_EQUAL ? " equal " : " least ");
        write_number(writer, condition->a);
        text_addf(writer->to, " , ");
        write_number(writer, condition->b);
    } else {
        text_addf(writer->to, " nest");
    }
    for (uint32_t i = 0; i < condition->level_count; i++) {
        const NestLevel *level = &condition->levels[i];
        text_addf(writer->to, i ? " ; " : " ");
        write_number(writer, level->factor);
        for (unsigned side = 0; side < 2; side++) {
            const Quantity parts[] = {level->value[side], level->least[side], level->most[side]};
            for (unsigned k = 0; k < 3; k++) {
                text_addf(writer->to, " , ");
                write_number(writer, parts[k]);
            }
        }
    }
    text_char(writer->to, '\n');
}

static void write_limit(const Writer *writer, int64_t limit, bool none) {
    text_addf(writer->to, none ? " none" : " %" PRId64, limit);
}

/* All bounds of one number together, as far as they do not hold anyway. */
static void write_bounds(Writer *writer) {
    const Quantities *quantities = &writer->proof->quantities;
    for (uint32_t i = 0; i < quantities->bound_count; i++) {
        QuantityBound bound = quantities->bounds[i];
        bool before = false;
        for (uint32_t k = 0; k < quantities->bound_count; k++) {
            const QuantityBound *other = &quantities->bounds[k];
            before |= other->what == bound.what && k < i;
            bound.least = other->what == bound.what && other->least > bound.least ? other->least : bound.least;
            bound.most = other->what == bound.what && other->most < bound.most ? other->most : bound.most;
        }
        Interval anywhere = quantity_interval(quantities, quantities->anywhere, bound.what);
        bool below = bound.least <= anywhere.least, above = bound.most >= anywhere.most;
        if (before || (below && above))
            continue;
        need_atoms(writer, bound.what);
        text_addf(writer->to, "bound");
        write_limit(writer, bound.least, below);
        write_limit(writer, bound.most, above);
        text_addf(writer->to, " : ");
        write_number(writer, bound.what);
        text_char(writer->to, '\n');
    }
}

/* A launch that fulfills all of it, so that nothing is asked in vain. */
static void write_launch(const Writer *writer) {
    LaunchNumbers launch;
    LaunchNumber *room = ARENA_ARRAY(writer->arena, LaunchNumber, writer->proof->name_count + 1);
    uint64_t seed = 1;
    if (!proof_example(writer->proof, &seed, INT64_MAX, true, room, &launch))
        return;
    text_addf(writer->to, "launch %" PRId64 " %" PRId64 " %" PRId64, launch.grid[0], launch.grid[1], launch.grid[2]);
    for (uint32_t i = 0; i < launch.count; i++) {
        text_addf(writer->to, " ; %" PRId64 " %u", room[i].value, room[i].rank);
        for (unsigned k = 0; k < 2u * room[i].rank; k++)
            text_addf(writer->to, " %" PRId64, k < room[i].rank ? room[i].shape[k] : room[i].strides[k - room[i].rank]);
    }
    text_char(writer->to, '\n');
}

/* ---- Accesses and steps --------------------------------------------------------------------------- */

static void write_access(Writer *writer, const ProofAccess *access, uint32_t effect) {
    need_atoms(writer, access->offset);
    for (uint32_t i = 0; i < access->guards.count; i++)
        need_atoms(writer, access->guards.all[i].left);
    text_addf(writer->to, "access %u %u %d %" PRId64 " : ", op_place(writer, access->op), effect, access->root,
              access->bytes);
    write_number(writer, access->offset);
    for (uint32_t i = 0; i < access->guards.count; i++) {
        text_addf(writer->to, " ; ");
        write_number(writer, access->guards.all[i].left);
    }
    text_char(writer->to, '\n');
}

static void write_step(Writer *writer, const ProofStep *step) {
    static const char *const axes[] = {"known", "pinned", "one"};
    switch (step->kind) {
    case PROOF_PAIR:
        text_addf(writer->to, "pair %u %u", step->a, step->b);
        break;
    case PROOF_NEST:
        text_addf(writer->to, "by %u %u", step->a, asked_number(writer, &step->condition));
        break;
    case PROOF_APART:
        text_addf(writer->to, "apart %u", step->a);
        break;
    case PROOF_JOIN:
        text_addf(writer->to, "join a%u , a%u", writer->numbers[step->a], writer->numbers[step->b]);
        break;
    case PROOF_KNOWN:
    case PROOF_PINNED:
        text_addf(writer->to, "axis %u %s", step->a, axes[step->kind - PROOF_KNOWN]);
        break;
    case PROOF_ONE:
        text_addf(writer->to, "axis %u one %u", step->a, asked_number(writer, &step->condition));
        break;
    case PROOF_ALIKE:
        text_addf(writer->to, "alike");
        break;
    case PROOF_SAME:
        text_addf(writer->to, "same");
        break;
    case PROOF_ORDERED:
        text_addf(writer->to, "ordered");
        break;
    }
    text_char(writer->to, '\n');
}

/* Calls `each` with the steps that matter: those of a pair that is never to one element end there. */
static void walk_steps(Writer *writer, void (*each)(Writer *writer, const ProofStep *step)) {
    bool apart = false;
    for (uint32_t i = 0; i < writer->proof->taken_count; i++) {
        const ProofStep *step = &writer->proof->taken[i];
        apart &= step->kind != PROOF_PAIR;
        if (!apart)
            each(writer, step);
        apart |= step->kind == PROOF_APART;
    }
}

static void need_step(Writer *writer, const ProofStep *step) {
    if (step->kind == PROOF_NEST || step->kind == PROOF_ONE) {
        need_condition(writer, &step->condition);
        (void)asked_number(writer, &step->condition);
    } else if (step->kind == PROOF_JOIN) {
        need_atom(writer, step->a);
        need_atom(writer, step->b);
    }
}

/* ---- Runs ----------------------------------------------------------------------------------------- */

/* The precondition that excludes smaller numbers; NULL: there is none. */
static const Condition *least_of(const Writer *writer, const ProofCount *count) {
    for (uint32_t i = 0; i < writer->proof->where_count && count->least > count->from; i++)
        if (writer->proof->where[i].kind == CONDITION_AT_LEAST && writer->proof->where[i].op == count->loop)
            return &writer->proof->where[i];
    return NULL;
}

/* Whether numbers that grow with it could wrap around at some launch. */
static bool growth_is_asked(const Writer *writer, const ProofCount *count) {
    const Quantities *quantities = &writer->proof->quantities;
    Interval trips = quantity_interval(quantities, quantities->anywhere, count->trips);
    return trips.most > count->limit / count->fastest;
}

/* Whether a run with these numbers is one with all of them: up to there no decision depends on them. */
static bool is_unlimited(const ProofRun *run, uint32_t axis) {
    return run->reach[axis] == INT64_MAX;
}

/* Of runs with the same conditions and the same trip counts before `axis`, what is needed: of those that differ in
 * later counts alone, what all of them say; and only the last of the others, until they fill a period, speak for longer
 * ones, and no further than that. */
static void keep_needed(const Proof *proof, uint32_t axis, ProofRun *runs, uint32_t count) {
    int64_t left = axis < proof->count_count ? proof->counts[axis].period : 0;
    uint32_t start = count, before;
    for (uint32_t i = 0, end; i < count && axis < proof->count_count; i = end) {
        ProofRun *first = &runs[i];
        for (end = i;
             end < count && runs[end].trips[axis] == first->trips[axis] && runs[end].down[axis] == first->down[axis];
             end++) {
            first->reach[axis] =
                runs[end].reach[axis] < first->reach[axis] ? runs[end].reach[axis] : first->reach[axis];
            first->speaks[axis] &= runs[end].speaks[axis];
        }
        keep_needed(proof, axis + 1, first, end - i);
        first->reach[axis] = first->down[axis] ? 0 : first->reach[axis];
        for (uint32_t k = i + 1; k < end; k++) {
            runs[k].reach[axis] = first->reach[axis];
            runs[k].speaks[axis] = first->speaks[axis];
        }
    }
    if (axis >= proof->count_count)
        return;
    bool all = is_unlimited(&runs[count - 1], axis);
    while (!all && start && runs[start - 1].speaks[axis] && !runs[start - 1].down[axis])
        start--;
    for (uint32_t i = 0; i < count; i++)
        runs[i].speaks[axis] = runs[i].down[axis] || is_unlimited(&runs[i], axis) || i >= start;
    for (uint32_t i = start; i < count; i = before) {
        for (before = i; before < count && runs[before].trips[axis] == runs[i].trips[axis]; before++)
            runs[before].reach[axis] = runs[before].reach[axis] < left ? runs[before].reach[axis] : left - 1;
        left -= runs[i].reach[axis] + 1;
    }
}

static void write_runs(Writer *writer) {
    const Proof *proof = writer->proof;
    ProofRun *runs = ARENA_ARRAY(writer->arena, ProofRun, proof->run_count + 1);
    for (uint32_t i = 0; i < proof->count_count; i++) {
        const ProofCount *count = &proof->counts[i];
        const Condition *least = least_of(writer, count);
        bool grows = count->fastest && growth_is_asked(writer, count);
        text_addf(
            writer->to,
            "count %u %s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64,
            op_place(writer, count->loop), count->counts ? "turns" : "number", count->factor, count->more, count->step,
            count->from, count->period, count->least, grows ? count->fastest : 0, grows ? count->limit : 0);
        if (least)
            text_addf(writer->to, " where %u", asked_number(writer, least));
        text_char(writer->to, '\n');
    }
    if (proof->run_count)
        text_addf(writer->to, "runs %u\n", proof->condition_count);
    for (uint32_t i = 0; i < proof->run_count; i++)
        runs[i] = proof->runs[i];
    for (uint32_t i = 0, end; i < proof->run_count; i = end) {
        for (end = i + 1; end < proof->run_count && runs[end].conditions == runs[i].conditions;)
            end++;
        keep_needed(proof, 0, &runs[i], end - i);
    }
    for (uint32_t i = 0; i < proof->run_count; i++) {
        text_addf(writer->to, "run %u", runs[i].conditions);
        for (uint32_t k = 0; k < proof->count_count; k++) {
            text_addf(writer->to, " ; %s %" PRId64, runs[i].down[k] ? "down" : "up", runs[i].trips[k]);
            write_limit(writer, runs[i].reach[k], runs[i].reach[k] == INT64_MAX);
            text_addf(writer->to, runs[i].speaks[k] ? " speaks" : " alone");
        }
        text_char(writer->to, '\n');
    }
}

static Writer *new_writer(Module *module, const Op *function, const Proof *proof, Text *to) {
    Writer *writer = ARENA_NEW(&module->arena, Writer);
    *writer = (Writer){.function = function, .proof = proof, .to = to, .arena = &module->arena};
    memset(writer->numbers, 0xff, sizeof writer->numbers);
    text_addf(to, "kernel %s\n", program_name(module, function));
    return writer;
}

static void need_counts(Writer *writer) {
    for (uint32_t i = 0; i < writer->proof->count_count; i++) {
        const Condition *least = least_of(writer, &writer->proof->counts[i]);
        if (least) {
            need_condition(writer, least);
            (void)asked_number(writer, least);
        }
    }
}

/* The next line about runs, without the precondition that it names; NULL: there is none. */
static Str next_run_line(Str *rest) {
    while (rest->size) {
        const char *end = memchr(rest->data, '\n', rest->size);
        Str line = {rest->data, end ? (size_t)(end - rest->data) : rest->size};
        size_t past = line.size + (end != NULL), where = 0;
        *rest = (Str){rest->data + past, rest->size - past};
        if (str_starts(line, STR("end")))
            break;
        if (!str_starts(line, STR("count ")) && !str_starts(line, STR("run")))
            continue;
        while (where < line.size && !str_starts((Str){line.data + where, line.size - where}, STR(" where")))
            where++;
        return (Str){line.data, where};
    }
    return (Str){0};
}

/* What is behind the line that names the kernel. */
static Str part_of(Str text, const char *kernel) {
    Text line = {0};
    text_addf(&line, "\nkernel %s\n", kernel);
    while (text.size && !str_starts(text, (Str){line.data, line.size}))
        text = (Str){text.data + 1, text.size - 1};
    size_t size = text.size ? line.size : 0;
    text_free(&line);
    return (Str){text.data + size, text.size - size};
}

bool proof_has_runs(Module *module, const Op *function, const Proof *proof, Str certificate) {
    Text text = {0};
    Writer *writer = new_writer(module, function, proof, &text);
    need_counts(writer);
    write_runs(writer);
    Str own = {text.data, text.size}, other = part_of(certificate, program_name(module, function)), a, b;
    bool same = true;
    do {
        a = next_run_line(&own);
        b = next_run_line(&other);
        same = a.size == b.size && (!a.size || memcmp(a.data, b.data, a.size) == 0);
    } while (same && a.size);
    text_free(&text);
    return same;
}

void proof_certificate(Module *module, const Op *function, const Proof *proof, Text *to) {
    Writer *writer = new_writer(module, function, proof, to);
    for (uint32_t i = 0; i < proof->carried_count; i++) {
        const ProofCarried *carried = &proof->carried[i];
        need_atoms(writer, carried->number);
        need_lanes(writer, carried->map);
        text_addf(to, "turns ");
        write_value(writer, carried->argument);
        write_lanes(writer, carried->map);
        text_addf(to, " = ");
        write_number(writer, carried->number);
        text_char(to, '\n');
    }
    for (uint32_t i = 0, effect = 0; i < proof->access_count; i++) {
        effect = i && proof->accesses[i - 1].op == proof->accesses[i].op ? effect + 1 : 0;
        write_access(writer, &proof->accesses[i], effect);
    }
    walk_steps(writer, need_step);
    need_counts(writer);
    for (uint32_t i = 0; i < writer->asked_count; i++)
        write_condition(writer, &writer->asked[i]);
    write_bounds(writer);
    write_launch(writer);
    write_runs(writer);
    walk_steps(writer, write_step);
    text_addf(to, "end\n");
}
