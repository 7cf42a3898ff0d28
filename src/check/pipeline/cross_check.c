/* --cross-check: a proof held against what else there is. Its certificate is checked, and launches that it covers are
 * run on the machine. If either disagrees, something is wrong in Weir, which is said, and the kernel is not proved. */
#include "check/pipeline/internal.h"

#include "base/deadline.h"
#include "check/certificate/certificate.h"
#include "check/prove/certificate.h"

enum { LAUNCHES_TRIED = 3, SECONDS_EACH = 10 };
static const uint64_t steps_of_a_grid = 4000000, steps_of_a_run = 400000;
static const size_t tried_budget = (size_t)1 << 30;

typedef struct CrossCheck {
    PipelineResult *result;
    const Op *function;
    const Proof *proof;
    const char *wrong; /* NULL: nothing disagrees */
    uint64_t seed;
    unsigned run; /* launches, to their end */
    Arena arena;  /* of one launch */
    GlobalCheck *check;
} CrossCheck;

static void make_proof(void *context) {
    CrossCheck *cross = context;
    PipelineResult *result = cross->result;
    cross->proof = proof_of_kernel(result->module, cross->function, result->question.prove_seconds);
}

static void check_certificate(void *context) {
    CrossCheck *cross = context;
    PipelineResult *result = cross->result;
    Text text = {0}, why = {0};
    text_addf(&text, "%s\n", certificate_first_line);
    proof_certificate(result->module, cross->function, cross->proof, &text);
    Str all = {text_keep(&text, &result->arena), 0};
    all.size = strlen(all.data);
    CertificateVerdict verdict = certificate_check(result->module, cross->function, all, true, &result->arena);
    if (verdict.answer == CERTIFICATE_HOLDS)
        return;
    text_addf(&why, "its certificate does not hold: line %u: %s", verdict.line, verdict.why);
    cross->wrong = text_keep(&why, &result->arena);
}

static void say_wrong(CrossCheck *cross, const Launch *launch, const char *what) {
    Text why = {0};
    text_addf(&why, "a launch that it covers has %s: ", what);
    launch_describe(launch, &why);
    cross->wrong = text_keep(&why, &cross->result->arena);
}

static void try_launch(void *context) {
    CrossCheck *cross = context;
    PipelineResult *result = cross->result;
    Launch launch;
    Verdict verdict = {.arena = &cross->arena, .kernel = ""};
    if (!proof_example_launch(result->module, cross->function, cross->proof, &cross->seed, &launch, &cross->arena))
        return;
    GlobalKernel kernel = {result->module, cross->function, &launch, &verdict};
    cross->check = global_check_new(&cross->arena);
    global_check_run(cross->check, &kernel, 1, &(GlobalOptions){.budget = steps_of_a_grid});
    check_runs(result->module, cross->function,
               &(CheckOptions){.launch = &launch, .only_launch = true, .budget = steps_of_a_run}, &verdict);
    const char *what = verdict_faults(&verdict, "race")       ? "a race"
                       : verdict_faults(&verdict, "deadlock") ? "a deadlock"
                       : verdict_faults(&verdict, "barrier")  ? "a misused barrier"
                                                              : NULL;
    if (what)
        say_wrong(cross, &launch, what);
    cross->run += !verdict.incomplete_count;
}

void result_cross_check(PipelineResult *result, size_t kernel) {
    CrossCheck cross = {.result = result, .seed = 11};
    if (!result->question.cross_check || result->question.prove_seconds <= 0 || result->ptx || result->program ||
        result->trail || result->question.lint_only || result->question.only_launch)
        return;
    cross.function = result->functions[kernel];
    if (!result_attempt(result, make_proof, &cross) || !cross.proof->proved)
        return;
    for (unsigned i = 0; i < LAUNCHES_TRIED && !cross.wrong; i++) {
        deadline_start(SECONDS_EACH, NULL, NULL);
        arena_init(&cross.arena, tried_budget);
        (void)results_attempt(&result, 1, &cross.arena, try_launch, &cross); /* without memory, it shows nothing */
        global_check_free(cross.check);
        cross.check = NULL;
        arena_free(&cross.arena);
        (void)deadline_end();
    }
    if (!cross.wrong && !result_attempt(result, check_certificate, &cross))
        cross.wrong = "there is no memory for its certificate";
    if (cross.wrong)
        proof_withdraw(result->module, cross.function, cross.wrong);
    else
        proof_confirm(result->module, cross.function, cross.run, LAUNCHES_TRIED);
}
