/* prove [--global|--sync] [--examples N] [--others N] [--certificates [--corrupt N]] [--seed S] [--seconds S] FILE...:
 * what the proof of each kernel says, as a line of JSON each, for scripts/tests/prove: its class (docs/proofs.md),
 * whether it is proved, with which preconditions, whether the launch beside the file fulfills them, what is open, how
 * long it took, launches that are covered, and others.
 *
 * --certificates: whether the certificate holds; of N with a fault, how many are refused; those that hold though they
 * prove something else are written to standard error.
 * --global: the half about global memory alone: what the other half leaves open does not count. --sync: the other. */
#include "../unit/corrupting.h"
#include "base/deadline.h"
#include "base/diagnostics.h"
#include "base/json.h"
#include "check/certificate/certificate.h"
#include "check/prove/certificate.h"
#include "ir/op.h"
#include "machine/tile/compile/program.h"
#include "mlir/reader.h"
#include "model/effect/effect.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct ProveOptions {
    double seconds;
    uint64_t seed;
    unsigned examples, others, corruptions;
    bool global, sync, certificates;
} ProveOptions;

/* "covered", what is lacking, or "no launch". */
static const char *coverage_of(const Proof *proof, const char *path, Arena *arena) {
    char name[4096];
    Launch launch = {0};
    const char *problem, *result = "no launch", *dot = strrchr(path, '.');
    Diagnostics diagnostics = {0};
    snprintf(name, sizeof name, "%.*s.launch.json", (int)(dot ? dot - path : (long)strlen(path)), path);
    Source *source = source_read(name, &problem);
    if (source && launch_read(arena, source, &launch, &diagnostics)) {
        const char *lacks;
        result = proof_covers(proof, &launch, &lacks) ? "covered" : arena_copy(arena, lacks, strlen(lacks));
    }
    if (source)
        source_free(source);
    diagnostics_free(&diagnostics);
    return result;
}

static void add_example(Json *json, const Proof *proof, const LaunchNumbers *launch) {
    json_begin(json, NULL);
    json_begin_list(json, "grid");
    for (unsigned i = 0; i < 3; i++)
        json_number(json, NULL, (uint64_t)launch->grid[i]);
    json_end_list(json);
    json_begin(json, "args");
    for (uint32_t i = 0; i < proof->name_count; i++) {
        const LaunchNumber *argument = &launch->arguments[i];
        if (i && strcmp(proof->names[i], proof->names[i - 1]) == 0) /* a part of a descriptor, which has it */
            continue;
        json_begin(json, proof->names[i]);
        json_number(json, "value", (uint64_t)argument->value);
        json_begin_list(json, "shape");
        for (unsigned k = 0; k < argument->rank; k++)
            json_number(json, NULL, (uint64_t)argument->shape[k]);
        json_end_list(json);
        json_begin_list(json, "strides");
        for (unsigned k = 0; k < argument->rank; k++)
            json_number(json, NULL, (uint64_t)argument->strides[k]);
        json_end_list(json);
        json_end(json);
    }
    json_end(json);
    json_end(json);
}

/* Launches that are covered, or not: most of them of small numbers, so that they can be run. */
static void add_examples(Json *json, const Proof *proof, const char *name, unsigned count, bool covered, uint64_t seed,
                         LaunchNumber *room) {
    static const int64_t mosts[] = {64, 256, 1024, INT64_MAX};
    LaunchNumbers launch;
    json_begin_list(json, name);
    for (unsigned i = 0; proof->proved && i < count; i++) {
        unsigned size = i % 3;
        while (size < 4 && !proof_example(proof, &seed, mosts[size], covered, room, &launch))
            size++;
        if (size == 4)
            break;
        add_example(json, proof, &launch);
    }
    json_end_list(json);
}

/* Nanoseconds that it takes to ask a launch: the least of several rounds, as others use the processor, too. */
static uint64_t time_of_asking(const Proof *proof, LaunchNumber *room) {
    enum { ROUNDS = 5, TIMES = 40 };
    uint64_t seed = 1;
    double least = 1;
    LaunchNumbers launch;
    if (!proof->proved || !proof_example(proof, &seed, INT64_MAX, true, room, &launch))
        return 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        double started = clock_seconds();
        for (unsigned i = 0; i < TIMES; i++)
            proof_covers_numbers(proof, &launch, NULL);
        double taken = clock_seconds() - started;
        least = taken < least ? taken : least;
    }
    return (uint64_t)(least * 1e9 / TIMES);
}

/* Counts of certificates with a fault: how many were refused, by kind, and of those that hold, how many say the same.
 * Each of the others is printed. */
static CertificateVerdict check(Module *module, const Op *function, Str text, bool whole, Arena *arena) {
    arena_reset(arena);
    return certificate_check(module, function, text, whole, arena);
}

static void corrupt_some(Json *json, Module *module, const Op *function, Str text, uint64_t seed, unsigned count,
                         Arena *arena) {
    unsigned made[CORRUPTIONS] = {0}, none = 0, same = 0, others = 0;
    Text bad = {0};
    for (unsigned i = 0; i < count; i++) {
        Corruption kind = (Corruption)corrupt_pick(&seed, CORRUPTIONS);
        if (!corrupt(text, kind, &seed, &bad))
            continue;
        made[kind]++;
        CertificateVerdict verdict = check(module, function, (Str){bad.data, bad.size}, true, arena);
        none += verdict.answer == CERTIFICATE_IS_NONE;
        if (verdict.answer != CERTIFICATE_HOLDS)
            continue;
        if (corrupt_same(text, (Str){bad.data, bad.size})) {
            same++;
        } else {
            fprintf(stderr, "%s: accepted %s\n%.*s", corruption_names[kind], module->source->name, (int)bad.size,
                    bad.data);
            others++;
        }
    }
    text_free(&bad);
    json_begin(json, "corrupted");
    for (unsigned i = 0; i < CORRUPTIONS; i++)
        json_number(json, corruption_names[i], made[i]);
    json_end(json);
    json_number(json, "unreadable", none);
    json_number(json, "same", same);
    json_number(json, "accepted", others);
}

/* "holds", or why its certificate does not prove the kernel. */
static void add_certificate(Json *json, Module *module, const Op *function, const Proof *proof,
                            const ProveOptions *options) {
    Text text = {0}, why = {0};
    Arena arena;
    if (!proof->proved)
        return;
    arena_init(&arena, (size_t)1 << 30);
    arena.exhausted = module->arena.exhausted;
    text_addf(&text, "weir certificate 1\n");
    proof_certificate(module, function, proof, &text);
    CertificateVerdict verdict = check(module, function, (Str){text.data, text.size}, !options->global, &arena);
    if (verdict.answer == CERTIFICATE_HOLDS)
        text_addf(&why, "holds");
    else
        text_addf(&why, "line %u: %s", verdict.line, verdict.why);
    json_text(json, "certificate", text_keep(&why, &module->arena));
    if (verdict.answer == CERTIFICATE_HOLDS && options->corruptions)
        corrupt_some(json, module, function, (Str){text.data, text.size}, options->seed, options->corruptions, &arena);
    arena_free(&arena);
    text_free(&text);
}

/* ---- Classes -------------------------------------------------------------------------------------- */

/* Whether it orders threads or accesses, or is over later. */
static bool steers(Module *module, const Op *op) {
    Effect effects[EFFECTS_MOST];
    unsigned count = op->row ? effects_of(module, op, effects) : 0;
    for (unsigned i = 0; i < count; i++)
        if (verb_is(effects[i].verb, VERB_SYNCS) || (effect_is_access(&effects[i]) && effects[i].done != DONE_NOW))
            return true;
    return false;
}

/* What decides how often a loop runs: 'B' a constant, 'C' arguments, 'D' program ids or the grid, 'E' data, 'F': it
 * does not count. */
static char class_of_loop(Prover *prover, const Op *loop) {
    Quantities *quantities = &prover->proof->quantities;
    Quantity trips = op_is_control(loop, CONTROL_LOOP) ? prover_trips(prover, loop) : QUANTITY_NONE;
    int64_t constant;
    if (!op_is_control(loop, CONTROL_LOOP))
        return 'F';
    if (quantity_is_constant(quantities, trips, &constant))
        return 'B';
    if (quantity_has_data(quantities, trips))
        return 'E';
    for (uint32_t i = 0; i < quantities->atom_count; i++) {
        AtomKind kind = quantities->atoms[i].kind;
        if ((kind == ATOM_PROGRAM || kind == ATOM_PROGRAMS || kind == ATOM_TRIP) &&
            quantity_mentions(quantities, trips, i))
            return 'D';
    }
    return 'C';
}

/* The worst class of all loops around what steers; 'A': there is nothing that does. */
static char class_of(Module *module, const Op *function) {
    Prover prover = {.module = module,
                     .function = function,
                     .arena = &module->arena,
                     .proof = ARENA_NEW(&module->arena, Proof),
                     .end = deadline_now() + UINT64_C(1000000000)};
    uint32_t count;
    char class = 'A';
    quantities_init(&prover.proof->quantities, prover.arena);
    prover.parameters = program_parameters(module, function, &count);
    prover.proof->name_count = count;
    for (const Op *op = function; op; op = op_next_in_walk(op, function)) {
        if (!steers(module, op))
            continue;
        class = class == 'A' ? 'B' : class;
        for (const Op *around = op_parent(op); around && around != function; around = op_parent(around)) {
            char of = around->block && around->block->region->block_count > 1 ? 'F'
                      : op_is_loop(around)                                    ? class_of_loop(&prover, around)
                                                                              : 'A';
            class = of > class ? of : class;
        }
    }
    return class;
}

/* Whether it writes to global memory: a kernel that does not is part of one, or a test of a compiler's pass. */
static bool has_result(Module *module, const Op *function) {
    Effect effects[EFFECTS_MOST];
    for (const Op *op = function; op; op = op_next_in_walk(op, function)) {
        unsigned count = op->row ? effects_of(module, op, effects) : 0;
        for (unsigned i = 0; i < count; i++)
            if (effect_is_access(&effects[i]) && effects[i].space == SPACE_GLOBAL && effects[i].verb != EFFECT_READ)
                return true;
    }
    return false;
}

/* ---- Kernels -------------------------------------------------------------------------------------- */

static void prove_one(const char *path, Module *module, const Op *function, const ProveOptions *options) {
    Text text = {0};
    Json json = {.to = &text};
    Proof *proof = (options->global ? prove_global_half
                    : options->sync ? prove_sync_half
                                    : prove_kernel)(module, function, options->seconds);
    json_begin(&json, NULL);
    json_text(&json, "file", path);
    json_text(&json, "kernel", program_name(module, function));
    json_text(&json, "class", (const char[]){class_of(module, function), 0});
    json_truth(&json, "result", has_result(module, function));
    json_truth(&json, "proved", proof->proved);
    json_truth(&json, "narrow", proof->narrow);
    if (options->certificates)
        add_certificate(&json, module, function, proof, options);
    json_text(&json, "launch", coverage_of(proof, path, &module->arena));
    json_number(&json, "microseconds", (uint64_t)(1e6 * proof->seconds));
    LaunchNumber *room = ARENA_ARRAY(&module->arena, LaunchNumber, proof->name_count + 1);
    json_number(&json, "asking", time_of_asking(proof, room));
    json_begin_list(&json, "where");
    for (uint32_t i = 0; i < proof->where_count; i++)
        json_text(&json, NULL, proof->where[i].text);
    json_end_list(&json);
    json_begin_list(&json, "steps");
    for (uint32_t i = 0; i < proof->step_count; i++)
        json_text(&json, NULL, proof->steps[i]);
    json_end_list(&json);
    json_begin_list(&json, "open");
    for (uint32_t i = 0; i < proof->open_count; i++) {
        json_begin(&json, NULL);
        json_text(&json, "reason", proof->open[i].reason);
        json_text(&json, "text", proof->open[i].text);
        json_end(&json);
    }
    json_end_list(&json);
    add_examples(&json, proof, "examples", options->examples, true, options->seed, room);
    add_examples(&json, proof, "others", options->others, false, options->seed, room);
    json_end(&json);
    printf("%.*s\n", (int)text.size, text.data);
    text_free(&text);
}

static void prove_unit(const char *path, Source *source, const Unit *unit, const ProveOptions *options) {
    Module module;
    Diagnostics diagnostics = {0};
    const Op *kernels[64];
    if (read_unit(&module, source, unit, (ReadOptions){0}, &diagnostics)) {
        jmp_buf out;
        size_t count = program_kernels(&module, kernels, 64);
        module.arena.budget = module.arena.held + ((size_t)1 << 30);
        module.arena.exhausted = &out;
        if (!setjmp(out))
            for (size_t i = 0; i < count && i < 64; i++)
                prove_one(path, &module, kernels[i], options);
    }
    module_free(&module);
    diagnostics_free(&diagnostics);
}

static void prove_file(const char *path, const ProveOptions *options) {
    const char *problem;
    Source *source = source_read(path, &problem);
    Units units = {0};
    if (!source)
        return;
    if (units_find(source, &units))
        for (uint32_t i = 0; i < units.count; i++)
            prove_unit(path, source, &units.items[i], options);
    units_free(&units);
    source_free(source);
}

int main(int count, char **arguments) {
    ProveOptions options = {.seconds = 2, .seed = 1};
    for (int i = 1; i < count; i++) {
        bool more = i + 1 < count;
        if (strcmp(arguments[i], "--seconds") == 0 && more)
            options.seconds = strtod(arguments[++i], NULL);
        else if (strcmp(arguments[i], "--examples") == 0 && more)
            options.examples = (unsigned)strtoul(arguments[++i], NULL, 10);
        else if (strcmp(arguments[i], "--others") == 0 && more)
            options.others = (unsigned)strtoul(arguments[++i], NULL, 10);
        else if (strcmp(arguments[i], "--seed") == 0 && more)
            options.seed = strtoull(arguments[++i], NULL, 10);
        else if (strcmp(arguments[i], "--corrupt") == 0 && more)
            options.corruptions = (unsigned)strtoul(arguments[++i], NULL, 10);
        else if (strcmp(arguments[i], "--global") == 0)
            options.global = true;
        else if (strcmp(arguments[i], "--certificates") == 0)
            options.certificates = true;
        else if (strcmp(arguments[i], "--sync") == 0)
            options.sync = true;
        else
            prove_file(arguments[i], &options);
    }
    return 0;
}
