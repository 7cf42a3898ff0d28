/* The proof of one PTX kernel, step by step; and as data and lines. */
#include "check/intervals/internal.h"

#include "base/deadline.h"

/* ---- What is added --------------------------------------------------------------------------------- */

static const char *plain_name(Str path) {
    const char *slash = memrchr(path.data, '/', path.size);
    return slash ? slash + 1 : path.data;
}

uint32_t line_of(const Intervals *k, uint32_t statement) {
    return source_place(k->module->source, k->module->statements[statement].begin).line;
}

/* "st.global.f32 at vadd.cu:12" */
static void add_place(Intervals *k, uint32_t statement, Text *to) {
    const PtxStatement *at = &k->module->statements[statement];
    PtxPlace place;
    if (at->kind == PTX_INSTRUCTION)
        text_add_plain(to, k->module->forms[at->what].text);
    if (ptx_places(k->module, statement, &place, 1)) {
        const char *name = plain_name(place.file);
        text_addf(to, " at ");
        text_add_plain(to, str_between(name, place.file.data + place.file.size));
        text_addf(to, ":%u", place.line);
    } else {
        text_addf(to, " at PTX line %u", line_of(k, statement));
    }
}

void leave_open(Intervals *k, uint32_t statement, const char *reason, const char *format, ...) {
    Text text = {0};
    va_list arguments;
    Proof *proof = k->prover.proof;
    if (statement != PTX_NONE) {
        add_place(k, statement, &text);
        text_addf(&text, ": ");
    }
    va_start(arguments, format);
    text_vaddf(&text, format, arguments);
    va_end(arguments);
    const char *kept = text_keep(&text, k->arena);
    uint32_t before = proof->open_count;
    proof_open(&k->prover, NULL, reason, "%s", kept);
    if (proof->open_count > before && statement != PTX_NONE)
        proof->open[before].statement = statement;
}

/* "block.x <= 16"; NULL: not of that form. */
static const char *limit_text(Intervals *k, const Condition *condition) {
    Quantities *quantities = quantities_in(k);
    int64_t most;
    Text text = {0};
    if (condition->kind != CONDITION_AT_LEAST || !quantity_is_constant(quantities, condition->a, &most))
        return NULL;
    quantity_print(quantities, condition->b, &text);
    text_addf(&text, " <= ");
    quantity_print(quantities, condition->a, &text);
    return text_keep(&text, k->arena);
}

/* A limit of what has one already: the smaller one is kept. */
static bool is_limited(Intervals *k, const Condition *condition) {
    Quantities *quantities = quantities_in(k);
    Proof *proof = k->prover.proof;
    int64_t now, before;
    if (condition->kind != CONDITION_AT_LEAST || !quantity_is_constant(quantities, condition->a, &now))
        return false;
    for (uint32_t i = 0; i < proof->where_count; i++) {
        Condition *other = &proof->where[i];
        if (other->kind != CONDITION_AT_LEAST || other->b != condition->b ||
            !quantity_is_constant(quantities, other->a, &before))
            continue;
        if (now < before) {
            other->a = condition->a;
            other->text = limit_text(k, condition);
        }
        return true;
    }
    return false;
}

void require(Intervals *k, const Condition *condition, uint32_t statement) {
    Quantities *quantities = quantities_in(k);
    int64_t value;
    if (!is_limited(k, condition)) {
        Condition kept = *condition;
        kept.text = limit_text(k, condition);
        kept.statement = statement == PTX_NONE ? 0 : statement;
        proof_require(&k->prover, &kept, "");
    }
    if (condition->kind == CONDITION_AT_LEAST)
        add_fact(k, &k->launch, quantity_add(quantities, condition->b, condition->a, -1), FACT_AT_MOST);
    if (condition->kind != CONDITION_EQUAL || !quantity_is_constant(quantities, condition->b, &value))
        return;
    const QuantityAtom *atom = &quantities->atoms[quantities->all[condition->a].terms[0].atoms[0]];
    k->pinned[atom->kind == ATOM_PROGRAMS][atom->axis] = value;
}

/* The most threads that a CTA may have along an axis by the preconditions. */
static int64_t most_along(Intervals *k, unsigned axis) {
    const Proof *proof = k->prover.proof;
    int64_t most = axis == 2 ? 64 : 1024, limit;
    if (k->pinned[0][axis])
        return k->pinned[0][axis];
    for (uint32_t i = 0; i < proof->where_count; i++) {
        const Condition *condition = &proof->where[i];
        const Polynomial *of = &proof->quantities.all[condition->b];
        if (condition->kind != CONDITION_AT_LEAST || of->count != 1 || of->terms[0].count != 1 ||
            of->terms[0].factor != 1 || !quantity_is_constant(&proof->quantities, condition->a, &limit))
            continue;
        const QuantityAtom *atom = &proof->quantities.atoms[of->terms[0].atoms[0]];
        if (atom->kind == ATOM_THREADS && atom->axis == axis && limit < most)
            most = limit;
    }
    return most;
}

/* A proof for CTAs that are hardly ever launched says nothing, nor does one for less threads than the kernel says. */
static void look_at_size(Intervals *k) {
    enum { FEWEST = 32 };
    int64_t most = most_along(k, 0) * most_along(k, 1) * most_along(k, 2);
    int64_t fewest = k->most_threads ? k->most_threads : FEWEST;
    if (!k->fixed[0] && most < fewest)
        leave_open(k, PTX_NONE, "preconditions", "it would hold for CTAs of less than %d threads alone", (int)fewest);
}

/* ---- The proof ------------------------------------------------------------------------------------- */

static bool takes_nothing(const PtxValues *values) {
    for (uint32_t i = 0; i < values->flow->instruction_count; i++)
        if (values->assumed[i])
            return false;
    return true;
}

/* The parameters' names, as launches have them. */
static void name_parameters(Intervals *k) {
    const PtxFunction *function = &k->module->functions[k->function];
    Proof *proof = k->prover.proof;
    const char **names = ARENA_ARRAY(k->arena, const char *, function->parameter_count + 1);
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        Str name = ptx_parameter_name(k->module, function->parameters + i);
        names[i] = arena_copy(k->arena, name.data, name.size);
    }
    names[function->parameter_count] = "parameter";
    proof->names = names;
    proof->name_count = function->parameter_count;
    proof->quantities.parameters = names;
}

static void read_header(Intervals *k) {
    PtxBlockShape shape = ptx_block_shape(k->module, k->function);
    const uint32_t sizes[3] = {shape.x, shape.y, shape.z};
    uint32_t most[3] = {0};
    ptx_header_numbers(k->module, k->function, ".maxntid", most); /* of all axes together */
    k->most_threads = most[0] * most[1] * most[2];
    for (unsigned axis = 0; axis < 3; axis++) {
        k->fixed[axis] = sizes[axis];
        k->pinned[0][axis] = sizes[axis];
    }
}

/* Which parameters are accessed, and written, for launches. */
static void note_pointers(Intervals *k, const Visits *visits) {
    const Quantities *quantities = quantities_in(k);
    Proof *proof = k->prover.proof;
    proof->pointers = ARENA_ARRAY(k->arena, bool, proof->name_count + 1);
    proof->writes = ARENA_ARRAY(k->arena, bool, proof->name_count + 1);
    for (uint32_t i = 0; i < visits->count; i++) {
        const Visit *visit = &visits->all[i];
        bool writes = k->accesses[visit->access].writes;
        const Polynomial *root = visit->root == QUANTITY_NONE ? NULL : &quantities->all[visit->root];
        const QuantityAtom *atom = root ? &quantities->atoms[root->terms[0].atoms[0]] : NULL;
        if (!atom || atom->kind == ATOM_DATA)
            proof->structured |= atom != NULL;
        else if (atom->kind == ATOM_ARGUMENT && atom->of < proof->name_count)
            proof->pointers[atom->of] = true;
        for (uint32_t n = 0; n < proof->name_count && writes; n++) /* not known: it may be any */
            proof->writes[n] |= !atom || (atom->kind == ATOM_ARGUMENT && atom->of == n);
    }
}

static void prove(Intervals *k) {
    proof_assume(&k->prover, "arguments that are pointers point to memory that does not overlap and is large enough");
    proof_assume(&k->prover, "threads of other launches and of the host do not access it meanwhile");
    if (!look_at_control(k))
        return;
    Visits anywhere = visits_anywhere(k);
    note_pointers(k, &anywhere);
    for (uint32_t i = 0; i <= k->barrier_count && !prover_is_late(&k->prover); i++) {
        Visits visits = visits_from(k, i < k->barrier_count ? k->barriers[i] : PTX_NONE);
        prove_places(k, &visits);
        prove_interval(k, &visits);
    }
    prove_ctas(k, &anywhere);
    look_at_size(k);
    proof_step(&k->prover, "barriers: %u, at which all threads of a CTA meet in the same turns", k->barrier_count);
}

Proof *prove_threads(PtxModule *module, uint32_t entry, Arena *arena, double seconds) {
    static const size_t scratch = (size_t)256 << 20;
    static const PtxBlockShape any = {.rows = ROWS_ANY, .unsteady = true},
                               whole = {.rows = ROWS_WHOLE, .unsteady = true};
    Intervals *k = ARENA_NEW(arena, Intervals);
    const char *problem;
    PtxFlow flow_of_whole;
    *k = (Intervals){.module = module, .function = entry, .arena = arena};
    proof_begin(&k->prover, arena, seconds);
    arena_init(&k->pair, scratch);
    arena_init(&k->ranges, scratch);
    arena_init(&k->solve, scratch);
    k->pair.exhausted = k->ranges.exhausted = k->solve.exhausted = arena->exhausted;
    name_parameters(k);
    read_header(k);
    k->pointer = ARENA_ARRAY(arena, bool, MOST_ATOMS);
    if (!ptx_flow_values(&k->flow, &k->values, module, entry, &any, 0, &problem)) {
        leave_open(k, PTX_NONE, "size", "%s", problem);
    } else {
        k->steady = takes_nothing(&k->values);
        k->counts.state = ARENA_ARRAY(arena, uint8_t, k->flow.value_count + 1);
        k->counts.step = ARENA_ARRAY(arena, Quantity, k->flow.value_count + 1);
        if (ptx_flow_values(&flow_of_whole, &k->whole, module, entry, &whole, 0, &problem)) {
            k->whole_steady = takes_nothing(&k->whole);
            prove(k);
            ptx_flow_values_free(&flow_of_whole, &k->whole);
        } else {
            leave_open(k, PTX_NONE, "size", "%s", problem);
        }
        ptx_flow_values_free(&k->flow, &k->values);
    }
    arena_free(&k->pair);
    arena_free(&k->ranges);
    proof_end(&k->prover);
    arena_free(&k->solve);
    return k->prover.proof;
}

/* ---- As data and lines ----------------------------------------------------------------------------- */

static ProofLine line_at(PtxModule *module, uint32_t statement, const char *text, Arena *arena) {
    PtxPlace place;
    ProofLine line = {.text = arena_copy(arena, text, strlen(text)), .file = ""};
    if (!statement)
        return line;
    line.ir_line = source_place(module->source, module->statements[statement].begin).line;
    if (ptx_places(module, statement, &place, 1)) {
        line.file = arena_copy(arena, place.file.data, place.file.size);
        line.line = place.line;
    }
    return line;
}

ProofSummary *threads_summary(PtxModule *module, const Proof *proof, Arena *arena) {
    ProofSummary *summary = ARENA_NEW(arena, ProofSummary);
    *summary = (ProofSummary){.proved = proof->proved,
                              .narrow = proof->narrow,
                              .where = ARENA_ARRAY(arena, ProofLine, proof->where_count + 1),
                              .open = ARENA_ARRAY(arena, ProofLine, proof->open_count + 1),
                              .assumes = ARENA_ARRAY(arena, const char *, proof->assume_count + 1),
                              .where_count = proof->where_count,
                              .open_count = proof->open_count,
                              .assume_count = proof->assume_count,
                              .seconds = proof->seconds};
    for (uint32_t i = 0; i < proof->where_count; i++)
        summary->where[i] = line_at(module, proof->where[i].statement, proof->where[i].text, arena);
    for (uint32_t i = 0; i < proof->open_count; i++)
        summary->open[i] = line_at(module, proof->open[i].statement, proof->open[i].text, arena);
    for (uint32_t i = 0; i < proof->assume_count; i++)
        summary->assumes[i] = arena_copy(arena, proof->assumes[i], strlen(proof->assumes[i]));
    return summary;
}

static void print_lines(const char *head, const ProofLine *lines, size_t count, Text *to) {
    for (size_t i = 0; i < count; i++) {
        text_plainf(to, "  %s%s", head, lines[i].text);
        if (lines[i].ir_line)
            text_addf(to, " (PTX line %u)", lines[i].ir_line);
        text_char(to, '\n');
    }
}

void threads_proof_print(PtxModule *module, const Proof *proof, const char *kernel, const Launch *launch, Arena *arena,
                         Text *to) {
    const ProofSummary *summary = threads_summary(module, proof, arena);
    const char *lacks;
    text_plainf(to, "@%s: ", kernel);
    text_addf(to, !proof->proved       ? "not proved\n"
                  : proof->narrow      ? "proved, for one grid or one value of an argument\n"
                  : proof->where_count ? "proved for every launch that fulfills what is asked\n"
                                       : "proved for every launch\n");
    print_lines("open: ", summary->open, summary->open_count, to);
    print_lines("where ", summary->where, summary->where_count, to);
    for (uint32_t i = 0; i < proof->step_count; i++)
        text_plainf(to, "  %s\n", proof->steps[i]);
    for (size_t i = 0; i < summary->assume_count; i++)
        text_plainf(to, "  assumed: %s\n", summary->assumes[i]);
    if (launch && proof->proved) {
        bool covers = proof_covers(proof, launch, &lacks);
        text_plainf(to, covers ? "  the launch is covered\n" : "  the launch is not covered: %s\n", lacks);
    }
}
