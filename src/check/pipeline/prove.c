/* Whether kernels are clean at every launch: the proof of each, beside what its runs have shown. */
#include "check/pipeline/internal.h"

#include "check/certificate/certificate.h"
#include "check/prove/certificate.h"
#include "check/prove/summary.h"

/* Whether what was asked is about launches of IR at all. Of one launch alone, the proof is asked that other launches of
 * the kernel have led to. */
static bool may_be_proved(const PipelineResult *result, size_t kernel) {
    const Question *question = &result->question;
    return question->prove_seconds > 0 && !result->ptx && !result->program && !result->trail && !question->lint_only &&
           question->global && question->global_options.devices <= 1 &&
           (!question->only_launch || proof_made(result->module, result->functions[kernel]));
}

/* What is known of the launch: a file's, or what the command line says, if that has a grid: the rest may be anything.
 */
static const Launch *known_launch(PipelineResult *result, size_t kernel) {
    const Launch *given = result_given_launch(result, kernel), *fixed = given ? NULL : result_fixed(result);
    return given || !fixed || fixed->grid[0] > 0 ? (given ? given : fixed) : NULL;
}

void step_proof(void *context) {
    const Look *look = context;
    PipelineResult *result = look->result;
    Verdict *verdict = &result->verdicts[look->at];
    if (!may_be_proved(result, look->at) || verdict->kind == VERDICT_INCOMPLETE || verdict->incomplete_count ||
        verdict->closed)
        return; /* or nothing is left open that a launch gives */
    const Proof *proof = proof_of_kernel(result->module, result->functions[look->at], result->question.prove_seconds);
    verdict->proof = proof_summary(result->module, proof, verdict->arena);
    const Launch *given = known_launch(result, look->at);
    verdict->proof->fulfilled = given && proof_covers(proof, given, NULL);
}

bool is_covered(PipelineResult *result, size_t kernel) {
    const Launch *given = result->ptx ? NULL : result_given_launch(result, kernel);
    return given && result->question.only_launch && may_be_proved(result, kernel) &&
           proof_covers(proof_made(result->module, result->functions[kernel]), given, NULL);
}

/* A kernel of a result, and where its proof is written. */
typedef struct PrintedProof {
    PipelineResult *result;
    Text *to;
    bool all;
} PrintedProof;

static void print_proofs(void *context) {
    PrintedProof *printed = context;
    PipelineResult *result = printed->result;
    for (size_t i = 0; i < result->count; i++) {
        Module *module = result->module;
        const Proof *proof = proof_of_kernel(module, result->functions[i], result->question.prove_seconds);
        Str name = result_name(result, i);
        proof_print(module, proof, arena_copy(&result->arena, name.data, name.size), known_launch(result, i),
                    &result->arena, printed->to);
        printed->all &= proof->proved;
    }
}

bool result_prove(PipelineResult *result, Text *to) {
    PrintedProof printed = {.result = result, .to = to, .all = !result->ptx && !result->program};
    bool complete = !result->ptx && !result->program && result_attempt(result, print_proofs, &printed);
    result_close(result);
    return complete && printed.all;
}

/* ---- Certificates --------------------------------------------------------------------------------- */

static void certify(void *context) {
    PrintedProof *printed = context;
    PipelineResult *result = printed->result;
    text_addf(printed->to, "%s\n", certificate_first_line);
    for (size_t i = 0; i < result->count; i++) {
        Module *module = result->module;
        const Proof *proof = proof_of_kernel(module, result->functions[i], result->question.prove_seconds);
        if (proof->proved)
            proof_certificate(module, result->functions[i], proof, printed->to);
        printed->all &= proof->proved;
    }
}

bool result_certify(PipelineResult *result, Text *to) {
    PrintedProof printed = {.result = result, .to = to, .all = !result->ptx && !result->program};
    bool complete = !result->ptx && !result->program && result_attempt(result, certify, &printed);
    result_close(result);
    return complete && printed.all;
}

typedef struct Verified {
    PipelineResult *result;
    const char *name;
    Str certificate;
    Text *to;
    int answer;
} Verified;

static void verify(void *context) {
    Verified *verified = context;
    PipelineResult *result = verified->result;
    for (size_t i = 0; i < result->count && verified->answer != 2; i++) {
        Str kernel = result_name(result, i);
        CertificateVerdict verdict =
            certificate_check(result->module, result->functions[i], verified->certificate, true, &result->arena);
        int answer = verdict.answer == CERTIFICATE_HOLDS ? 0 : verdict.answer == CERTIFICATE_FAILS ? 1 : 2;
        verified->answer = answer > verified->answer ? answer : verified->answer;
        if (answer != 2)
            text_plainf(verified->to, "@%s: ", arena_copy(&result->arena, kernel.data, kernel.size));
        if (answer == 0) {
            text_addf(verified->to,
                      "the certificate holds: %u access%s, %u step%s, %u bound%s and precondition%s, %u run%s\n",
                      verdict.accesses, verdict.accesses == 1 ? "" : "es", verdict.steps, plural(verdict.steps),
                      verdict.bounds + verdict.preconditions, plural(verdict.bounds + verdict.preconditions),
                      plural(verdict.bounds + verdict.preconditions), verdict.runs, plural(verdict.runs));
            text_addf(verified->to, "  on trust: what each run showed, and for how many others it speaks\n");
        } else if (verdict.line) {
            text_plainf(verified->to, "%s:%u: %s\n", verified->name, verdict.line, verdict.why);
        } else {
            text_plainf(verified->to, "%s: %s\n", verified->name, verdict.why);
        }
    }
}

int result_verify(PipelineResult *result, const char *name, Str certificate, Text *to) {
    Verified verified = {result, name, certificate, to, result->count ? 0 : 1};
    bool complete = !result->ptx && !result->program && result_attempt(result, verify, &verified);
    if (!complete)
        text_plainf(to,
                    "%s: the certificate could not be checked: it is about Triton GPU IR, and takes so much memory\n",
                    name);
    result_close(result);
    return complete ? verified.answer : 1;
}
