/* The public API: a proof that a kernel is clean at every launch, kept so that its launches can be asked. */
#include "api/internal.h"

#include "check/intervals/intervals.h"
#include "check/prove/promise.h"
#include "explore/launch/launch.h"
#include "machine/tile/launch/launch_template.h"

#include <stdlib.h>

struct weir_proof {
    weir_module *module;
    const char *kernel; /* NULL: the only one */
    double seconds;
    const Proof *proof; /* NULL: there is none */
    /* While a launch is asked. */
    Arena arena;
    Source *source;
    Diagnostics diagnostics;
    int answer;
    const char *lacks;
};

static void make_proof(void *context) {
    weir_proof *made = context;
    Module *module = &made->module->module;
    uint32_t entry;
    if (made->module->ptx) {
        if (question_entries(made->module->ptx, made->kernel, &entry) == 1)
            made->proof = prove_threads(made->module->ptx, entry, &module->arena, made->seconds);
        return;
    }
    size_t count = program_kernels(module, NULL, 0), found = 0;
    const Op **kernels = ARENA_ARRAY(&module->arena, const Op *, count + 1), *kernel = NULL;
    program_kernels(module, kernels, count);
    for (size_t i = 0; i < count; i++)
        if (!made->kernel || strcmp(program_name(module, kernels[i]), made->kernel) == 0) {
            kernel = kernels[i];
            found++;
        }
    if (found == 1)
        made->proof = proof_of_kernel(module, kernel, made->seconds);
}

weir_proof *weir_proof_make(weir_module *module, const char *kernel, double seconds) {
    static const double usual = 2;
    weir_proof *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    *made = (weir_proof){.module = module, .kernel = kernel, .seconds = seconds > 0 ? seconds : usual};
    if (module->ok && !module->program && !results_attempt(NULL, 0, &module->module.arena, make_proof, made))
        made->proof = NULL;
    made->kernel = NULL;
    return made;
}

void weir_proof_free(weir_proof *proof) {
    free(proof);
}

int weir_proof_scope(const weir_proof *proof) {
    if (!proof->proof || !proof->proof->proved)
        return 0;
    return proof->proof->narrow ? 1 : 2;
}

const char *weir_requirement_problem(const char *text, size_t size, size_t *at) {
    static const size_t budget = 1 << 20;
    Arena arena;
    jmp_buf exhausted;
    arena_init(&arena, budget);
    arena.exhausted = &exhausted;
    const char *volatile problem = "there is no memory to read it";
    Requirement requirement;
    if (!setjmp(exhausted))
        problem = requirement_read(&arena, (Str){text, size}, &requirement, at);
    arena_free(&arena);
    return problem;
}

/* What is promised is not what the proof covers, and a launch that breaks it is to be looked at. */
static bool keeps_promises(weir_proof *asked, const Launch *launch) {
    for (size_t i = 0; i < launch->require_count; i++)
        if (promise_kept(&launch->requires[i], asked -> proof, launch) == PROMISE_BROKEN)
            return false;
    return true;
}

static void ask(void *context) {
    weir_proof *asked = context;
    Launch launch = {0};
    if (!launch_read(&asked->arena, asked->source, &launch, &asked->diagnostics))
        return;
    asked->lacks = "it breaks what the kernel requires of its callers";
    asked->answer = keeps_promises(asked, &launch) && proof_covers(asked->proof, &launch, &asked->lacks);
}

const Proof *proof_behind(const weir_proof *proof) {
    return proof->proof;
}

int weir_proof_covers(weir_proof *proof, const char *launch, size_t size, const char **lacks) {
    static const size_t budget = (size_t)256 << 20;
    proof->answer = -1;
    proof->lacks = "the launch cannot be read";
    proof->source = source_copy("launch", launch, size);
    arena_init(&proof->arena, budget);
    if (!proof->proof) {
        proof->answer = 0;
        proof->lacks = "it is not proved";
    } else if (proof->source && !results_attempt(NULL, 0, &proof->arena, ask, proof)) {
        proof->answer = -1;
    }
    arena_free(&proof->arena);
    diagnostics_free(&proof->diagnostics);
    proof->diagnostics = (Diagnostics){0};
    if (proof->source)
        source_free(proof->source);
    if (lacks)
        *lacks = proof->lacks;
    return proof->answer;
}
