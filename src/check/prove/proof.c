/* The frame of a proof: both halves are asked, and what they add is kept; and launches are held against it. */
#include "check/prove/prove.h"

#include "base/deadline.h"
#include "ir/location.h"
#include "ir/op.h"
#include "machine/tile/compile/program.h"

#include <stdio.h>

/* ---- What the halves add -------------------------------------------------------------------------- */

static const char *kept_text(Prover *prover, const char *format, va_list arguments) {
    Text text = {0};
    text_vaddf(&text, format, arguments);
    return text_keep(&text, prover->arena);
}

void proof_place(Prover *prover, const Op *op, const char *word, Text *to) {
    const Attr *location = kernel_location(prover->module, op->location);
    text_addf(to, "%s at ", word);
    if (location) {
        Str file = location_text(location);
        const char *slash = memrchr(file.data, '/', file.size);
        text_add_plain(to, slash ? str_between(slash + 1, file.data + file.size) : file);
        text_addf(to, ":%u (", location->line);
    }
    text_addf(to, "IR line %u%s", op_line(prover->module, op), location ? ")" : "");
}

/* What people call it. */
static const char *word_of(Prover *prover, const Op *op) {
    if (op_is_loop(op))
        return "loop";
    if (op_is_control(op, CONTROL_BRANCH))
        return "branch";
    return op_is_control(op, CONTROL_CALL) ? "call" : arena_copy(prover->arena, op->name.data, op->name.size);
}

void proof_open_text(Prover *prover, const Op *op, const char *reason, Text *text) {
    enum { MOST_OPEN = 64 };
    Proof *proof = prover->proof;
    const char *kept = text_keep(text, prover->arena);
    for (uint32_t i = 0; i < proof->open_count; i++)
        if (strcmp(proof->open[i].text, kept) == 0)
            return;
    if (proof->open_count < MOST_OPEN)
        *ARENA_PUSH(prover->arena, proof->open, proof->open_count, proof->open_capacity) =
            (ProofOpen){.op = op, .reason = reason, .text = kept};
}

void proof_open(Prover *prover, const Op *op, const char *reason, const char *format, ...) {
    Text text = {0};
    va_list arguments;
    if (op)
        proof_place(prover, op, word_of(prover, op), &text);
    text_addf(&text, "%s", op ? ": " : "");
    va_start(arguments, format);
    text_vaddf(&text, format, arguments);
    va_end(arguments);
    proof_open_text(prover, op, reason, &text);
}

static bool same_condition(const Condition *a, const Condition *b) {
    return a->kind == b->kind && a->a == b->a && a->b == b->b && a->level_count == b->level_count &&
           (!a->level_count || memcmp(a->levels, b->levels, a->level_count * sizeof *a->levels) == 0);
}

/* A copy with levels of its own. */
static Condition kept_condition(Prover *prover, const Condition *condition) {
    Condition kept = *condition;
    if (condition->level_count) {
        NestLevel *levels = ARENA_ARRAY(prover->arena, NestLevel, condition->level_count);
        memcpy(levels, condition->levels, condition->level_count * sizeof *levels);
        kept.levels = levels;
    }
    return kept;
}

void proof_require(Prover *prover, const Condition *condition, const char *subject) {
    Proof *proof = prover->proof;
    if (condition_holds(&proof->quantities, proof->quantities.anywhere, condition))
        return;
    for (uint32_t i = 0; i < proof->where_count; i++)
        if (same_condition(&proof->where[i], condition))
            return;
    Condition *kept = ARENA_PUSH(prover->arena, proof->where, proof->where_count, proof->where_capacity);
    *kept = kept_condition(prover, condition);
    if (!kept->text)
        kept->text = condition_text(&proof->quantities, kept, subject);
}

void proof_assume(Prover *prover, const char *text) {
    Proof *proof = prover->proof;
    for (uint32_t i = 0; i < proof->assume_count; i++)
        if (strcmp(proof->assumes[i], text) == 0)
            return;
    *ARENA_PUSH(prover->arena, proof->assumes, proof->assume_count, proof->assume_capacity) = text;
}

void proof_step(Prover *prover, const char *format, ...) {
    Proof *proof = prover->proof;
    va_list arguments;
    va_start(arguments, format);
    *ARENA_PUSH(prover->arena, proof->steps, proof->step_count, proof->step_capacity) =
        kept_text(prover, format, arguments);
    va_end(arguments);
}

void proof_take(Prover *prover, ProofStepKind kind, uint32_t a, uint32_t b, const Condition *condition) {
    Proof *proof = prover->proof;
    ProofStep *step = ARENA_PUSH(prover->arena, proof->taken, proof->taken_count, proof->taken_capacity);
    *step = (ProofStep){.kind = kind, .a = a, .b = b};
    if (condition)
        step->condition = kept_condition(prover, condition);
}

bool prover_is_late(Prover *prover) {
    if (!prover->late && deadline_now() > prover->end) {
        prover->late = true;
        proof_open(prover, NULL, "time", "there was no time left for the proof (raise --prove-time)");
    }
    return prover->late;
}

/* ---- The proof ------------------------------------------------------------------------------------ */

static void name_parameters(Prover *prover) {
    Proof *proof = prover->proof;
    uint32_t count;
    const Parameter *parameters = program_parameters(prover->module, prover->function, &count);
    prover->parameters = parameters;
    const char **names = ARENA_ARRAY(prover->arena, const char *, count + 1);
    for (uint32_t i = 0; i < count; i++)
        names[i] = parameters[i].name;
    proof->names = names;
    proof->name_count = count;
    proof->quantities.parameters = names;
}

/* Whether a precondition leaves one value of something. */
static bool pins(const Proof *proof, const Condition *condition) {
    int64_t value;
    const Polynomial *of = &proof->quantities.all[condition->a];
    return condition->kind == CONDITION_EQUAL && quantity_is_constant(&proof->quantities, condition->b, &value) &&
           of->count == 1 && of->terms[0].count == 1;
}

/* Whether only one grid, or one value of an argument, is left. */
static bool is_narrow(const Proof *proof) {
    unsigned axes = 0;
    for (uint32_t i = 0; i < proof->where_count; i++) {
        const Condition *condition = &proof->where[i];
        if (!pins(proof, condition))
            continue;
        const QuantityAtom *atom = &proof->quantities.atoms[proof->quantities.all[condition->a].terms[0].atoms[0]];
        if (atom->kind == ATOM_PROGRAMS)
            axes |= 1u << atom->axis;
        else if (atom->kind != ATOM_THREADS) /* a CTA of one size is what many kernels are written for */
            return true;
    }
    return axes == 7;
}

/* What is asked of launches must not be asked in vain. */
static void look_for_example(Prover *prover) {
    Proof *proof = prover->proof;
    uint64_t seed = 1;
    LaunchNumbers launch;
    LaunchNumber *room = ARENA_ARRAY(prover->arena, LaunchNumber, proof->name_count + 1);
    if (proof->where_count && !proof_example(proof, &seed, INT64_MAX, true, room, &launch))
        proof_open(prover, NULL, "preconditions", "no launch was found that fulfills what the proof asks");
    proof->proved = !proof->open_count;
}

/* What launches are asked about is known from here on. */
static void settle(Proof *proof) {
    Quantities *quantities = &proof->quantities;
    for (uint32_t i = 0; i < proof->where_count; i++) {
        const Condition *condition = &proof->where[i];
        quantity_need(quantities, condition->a);
        quantity_need(quantities, condition->b);
        for (uint32_t k = 0; k < condition->level_count; k++) {
            const NestLevel *level = &condition->levels[k];
            quantity_need(quantities, level->factor);
            for (unsigned side = 0; side < 2; side++) {
                quantity_need(quantities, level->value[side]);
                quantity_need(quantities, level->least[side]);
                quantity_need(quantities, level->most[side]);
            }
        }
    }
    quantities_settle(quantities);
}

void proof_begin(Prover *prover, Arena *arena, double seconds) {
    prover->arena = arena;
    prover->proof = ARENA_NEW(arena, Proof);
    prover->proof->seconds = clock_seconds();
    prover->end = deadline_now() + (uint64_t)(seconds * 1e9);
    quantities_init(&prover->proof->quantities, arena);
}

void proof_end(Prover *prover) {
    Proof *proof = prover->proof;
    prover_is_late(prover);
    if (proof->quantities.bound_count)
        proof_assume(prover, "integers do not wrap around, and sizes and divisors are positive");
    settle(proof);
    proof->proved = !proof->open_count;
    if (proof->proved)
        look_for_example(prover);
    proof->narrow = is_narrow(proof);
    proof->seconds = clock_seconds() - proof->seconds;
}

/* Both halves, or one of them. */
static Proof *prove_halves(Module *module, const Op *function, double seconds, bool sync, bool global) {
    Prover prover = {.module = module, .function = function};
    proof_begin(&prover, &module->arena, seconds);
    name_parameters(&prover);
    proof_assume(&prover, "arguments that are pointers point to memory that does not overlap and is large enough");
    if (sync)
        prove_sync(&prover);
    if (global)
        prove_global(&prover);
    proof_end(&prover);
    return prover.proof;
}

Proof *prove_kernel(Module *module, const Op *function, double seconds) {
    return prove_halves(module, function, seconds, true, true);
}

typedef struct KernelProof {
    const Op *function;
    const Proof *proof;
    struct KernelProof *next;
} KernelProof;

const Proof *proof_made(const Module *module, const Op *function) {
    const KernelProof *made = module->proofs;
    while (made && made->function != function)
        made = made->next;
    return made ? made->proof : NULL;
}

const Proof *proof_of_kernel(Module *module, const Op *function, double seconds) {
    const Proof *proof = proof_made(module, function);
    if (proof)
        return proof;
    proof = prove_kernel(module, function, seconds);
    KernelProof *made = ARENA_NEW(&module->arena, KernelProof);
    *made = (KernelProof){function, proof, module->proofs};
    module->proofs = made;
    return proof;
}

void proof_withdraw(Module *module, const Op *function, const char *why) {
    Proof *proof = (Proof *)proof_made(module, function);
    if (!proof)
        return;
    Prover prover = {.module = module, .function = function, .arena = proof->quantities.arena, .proof = proof};
    proof_open(&prover, NULL, "internal", "internal error: the proof is wrong: %s", why);
    proof->withdrawn = why;
    proof->proved = false;
}

void proof_confirm(Module *module, const Op *function, unsigned run, unsigned launches) {
    Proof *proof = (Proof *)proof_made(module, function);
    if (!proof)
        return;
    Prover prover = {.module = module, .function = function, .arena = proof->quantities.arena, .proof = proof};
    proof_step(
        &prover,
        "cross-checked: its certificate holds, and of %u launches that it covers %u ran to the end, with nothing wrong",
        launches, run);
}

Proof *prove_global_half(Module *module, const Op *function, double seconds) {
    return prove_halves(module, function, seconds, false, true);
}

Proof *prove_sync_half(Module *module, const Op *function, double seconds) {
    return prove_halves(module, function, seconds, true, false);
}

/* ---- Launches ------------------------------------------------------------------------------------- */

static bool bounds_hold(const Quantities *quantities, const Interval *atoms) {
    for (uint32_t i = 0; i < quantities->bound_count; i++) {
        const QuantityBound *bound = &quantities->bounds[i];
        Interval interval = quantity_interval(quantities, atoms, bound->what);
        if (interval.least < bound->least || interval.most > bound->most || interval.least <= -BOUND_NONE ||
            interval.most >= BOUND_NONE)
            return false;
    }
    return true;
}

bool proof_covers_numbers(const Proof *proof, const LaunchNumbers *launch, const char **lacks) {
    Interval atoms[MOST_ATOMS];
    const char *unused;
    lacks = lacks ? lacks : &unused;
    *lacks = "it is not proved";
    if (!proof->proved)
        return false;
    quantities_at(&proof->quantities, launch, atoms);
    *lacks = "an integer may wrap around, or a size or divisor is not positive";
    if (!bounds_hold(&proof->quantities, atoms))
        return false;
    for (uint32_t i = 0; i < proof->where_count; i++) {
        *lacks = proof->where[i].text;
        if (!condition_holds(&proof->quantities, atoms, &proof->where[i]))
            return false;
    }
    *lacks = NULL;
    return true;
}

/* Whether two arguments may share memory: they name one buffer, or their addresses are too near. */
static bool may_share(const Argument *a, const Argument *b) {
    if (a->buffer.size && str_equal(a->buffer, b->buffer))
        return true;
    if (!a->address || !b->address)
        return false;
    const Argument *low = a->address <= b->address ? a : b, *high = low == a ? b : a;
    int64_t elements = argument_elements(low), bytes = (low->element_bits + 7) / 8;
    return elements < 0 || !bytes || low->address + elements * bytes > high->address;
}

/* Whether the kernel may write memory behind the argument. */
static bool may_be_written(const Proof *proof, const Launch *launch, uint32_t argument) {
    for (uint32_t i = 0; proof->writes && i < proof->name_count; i++)
        if (launch_argument_of(launch, proof->names[i], i) == &launch->arguments[argument])
            return proof->writes[i];
    return true;
}

/* Whether the kernel accesses memory by the argument. What a launch file says of memory alone is of no parameter. */
static bool is_accessed(const Proof *proof, const Launch *launch, uint32_t argument) {
    bool any = !proof->pointers;
    for (uint32_t i = 0; proof->pointers && i < proof->name_count; i++)
        any |= proof->pointers[i] && launch_argument_of(launch, proof->names[i], i) == &launch->arguments[argument];
    return any && launch->arguments[argument].kind != ARGUMENT_INTEGER;
}

bool proof_covers(const Proof *proof, const Launch *launch, const char **lacks) {
    enum { MOST_ARGUMENTS = 256 };
    LaunchNumber room[MOST_ARGUMENTS];
    const char *unused;
    lacks = lacks ? lacks : &unused;
    *lacks = "it has too many arguments";
    if (proof->name_count > MOST_ARGUMENTS)
        return false;
    *lacks = "it may overlap the launch before it";
    if (launch->dependent)
        return false;
    LaunchNumbers numbers = launch_numbers(launch, proof->names, proof->name_count, room);
    if (!proof_covers_numbers(proof, &numbers, lacks))
        return false;
    *lacks = "other processes write its memory while it runs";
    for (uint32_t i = 0; i < launch->count; i++)
        if (launch->arguments[i].peers)
            return false;
    *lacks = "a pointer lies in a structure";
    for (uint32_t i = 0; i < launch->count; i++)
        if (proof->structured || (launch->arguments[i].kind == ARGUMENT_RAW && launch->arguments[i].part_count))
            return false;
    *lacks = "it is not known which memory a pointer leads to";
    for (uint32_t i = 0; proof->pointers && i < proof->name_count; i++) {
        const Argument *argument = launch_argument_of(launch, proof->names[i], i);
        if (proof->pointers[i] && argument && argument->kind != ARGUMENT_TENSOR)
            return false;
    }
    *lacks = "two arguments share memory that is written";
    for (uint32_t i = 0; i < launch->count; i++)
        for (uint32_t k = i + 1; k < launch->count; k++)
            if (is_accessed(proof, launch, i) && is_accessed(proof, launch, k) &&
                may_share(&launch->arguments[i], &launch->arguments[k]) &&
                (may_be_written(proof, launch, i) || may_be_written(proof, launch, k)))
                return false;
    *lacks = NULL;
    return true;
}
