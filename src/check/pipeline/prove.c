/* Whether kernels are clean at every launch: the proof of each, beside what its runs have shown. */
#include "check/pipeline/internal.h"

#include "check/certificate/certificate.h"
#include "check/explain/place.h"
#include "check/intervals/intervals.h"
#include "check/prove/certificate.h"
#include "check/prove/summary.h"
#include "config/project.h"
#include "ir/op.h"

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

/* ---- Promises ------------------------------------------------------------------------------------- */

static bool is_promised(const Requirement *all, size_t count, const char *text) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].text, text) == 0)
            return true;
    return false;
}

/* What the project and the launch say that callers of the kernel promise. */
static Promises promises_of(PipelineResult *result, size_t kernel) {
    const Question *question = &result->question;
    const Launch *given = result_given_launch(result, kernel);
    size_t of_project = 0, of_launch = given ? given->require_count : 0;
    const Requirement *first = NULL;
    if (question->project)
        first = project_requires(question->project, result_name(result, kernel), &result->arena, &of_project);
    Requirement *all = ARENA_ARRAY(&result->arena, Requirement, of_project + of_launch + 1);
    if (of_project)
        memcpy(all, first, of_project * sizeof *all);
    size_t count = of_project;
    for (size_t i = 0; i < of_launch; i++)
        if (!is_promised(all, count, given->requires[i].text))
    all[count++] = given->requires[i];
    return (Promises){all, count};
}

/* The kernel itself. */
static void set_kernel_place(PipelineResult *result, size_t kernel, FindingPlace *place) {
    if (!result->ptx) {
        op_place_set(result->module, result->functions[kernel], place, &result->verdicts[kernel]);
        return;
    }
    const PtxFunction *function = &result->ptx->functions[result->entries[kernel]];
    Place line = source_place(result->ptx->source, result->ptx->statements[function->begin].begin);
    place->ir_line = line.line;
    place->ir_column = line.column;
}

/* "train.py:40" */
static bool set_call_place(Str at, FindingPlace *place, Arena *arena) {
    const char *colon = at.size ? memrchr(at.data, ':', at.size) : NULL;
    int64_t line;
    if (!colon || !str_to_int(str_between(colon + 1, at.data + at.size), &line) || line < 1 || line > INT32_MAX)
        return false;
    place->file = arena_copy(arena, at.data, (size_t)(colon - at.data));
    place->line = (uint32_t)line;
    return true;
}

static void find_broken(PipelineResult *result, size_t kernel, const Requirement *promise, const Launch *launch) {
    Verdict *verdict = &result->verdicts[kernel];
    Text values = {0};
    promise_values(promise, launch, &values);
    Finding *finding = verdict_finding(verdict);
    finding->rule = RULE_PROMISE_BROKEN;
    finding->space = "global";
    finding->message = verdict_text(verdict, "the launch breaks what @%.*s requires of its callers: %s%s%.*s",
                                    STR_ARG(result_name(result, kernel)), promise->text, values.size ? ": " : "",
                                    (int)values.size, values.size ? values.data : "");
    text_free(&values);
    finding->why = *promise->from ? verdict_text(verdict, "%s says that callers promise it.", promise->from)
                                  : "The kernel says that its callers promise it.";
    finding->fix =
        "Launch it with values that fulfill the requirement, or remove the requirement if the kernel does not need "
        "it.";
    finding->launch = launch_text(launch, &result->arena);
    finding->times = 1;
    FindingPlace *places = finding_places(verdict, finding, 2);
    bool called = set_call_place(launch->at, &places[0], verdict->arena);
    set_kernel_place(result, kernel, &places[called]);
    places[called].role = called ? "requires it" : "";
    finding->place_count = 1u + called;
}

/* Holds the launch that was given against what is promised. */
static void hold_launch(PipelineResult *result, size_t kernel, Promises promises, const Launch *launch) {
    Verdict *verdict = &result->verdicts[kernel];
    const Proof *proof = result->ptx ? NULL : proof_made(result->module, result->functions[kernel]);
    for (size_t i = 0; i < promises.count; i++) {
        const Requirement *promise = &promises.all[i];
        PromiseAnswer answer = promise_kept(promise, proof, launch);
        if (answer == PROMISE_BROKEN)
            find_broken(result, kernel, promise, launch);
        else if (answer == PROMISE_UNKNOWN)
            verdict_note(verdict,
                         "whether the launch keeps a promise is not known, since it does not give all of its "
                         "values: %s",
                         promise->text);
    }
}

/* Preconditions of the proof that no caller promises. */
static void find_missing(PipelineResult *result, size_t kernel, const ProofSummary *proof) {
    Verdict *verdict = &result->verdicts[kernel];
    Text missing = {0}, pasted = {0};
    size_t count = 0;
    for (size_t i = 0; i < proof->where_count; i++) {
        if (proof->where[i].promised)
            continue;
        text_plainf(&missing, "%s%s", count ? ", " : "", proof->where[i].text);
        text_plainf(&pasted, "%s\"%s\"", count++ ? ", " : "", proof->where[i].text);
    }
    const char *names = verdict_keep(verdict, &missing), *quoted = verdict_keep(verdict, &pasted);
    if (!count)
        return;
    Finding *finding = verdict_finding(verdict);
    finding->rule = RULE_PROMISE_MISSING;
    finding->space = "global";
    finding->message = verdict_text(verdict,
                                    "the proof for every launch needs a condition that no caller promises: "
                                    "%s",
                                    names);
    finding->why = "The proof does not cover launches that do not fulfill it.";
    finding->fix = verdict_text(verdict,
                                "If callers must fulfill it, declare it: @weir.requires(%s), or requires = [%s] in "
                                "weir.toml.",
                                quoted, quoted);
    finding->times = 1;
    set_kernel_place(result, kernel, finding_places(verdict, finding, 1));
}

void step_promises(void *context) {
    const Look *look = context;
    PipelineResult *result = look->result;
    const Question *question = &result->question;
    if (result->program || result->trail || result->threads_trail || result->recording || question->lint_only)
        return;
    Promises promises = promises_of(result, look->at);
    const Launch *given = known_launch(result, look->at);
    const ProofSummary *proof = result->verdicts[look->at].proof;
    if (given)
        hold_launch(result, look->at, promises, given);
    if (proof && proof->proved && !proof->narrow && !result->ptx)
        find_missing(result, look->at, proof);
    if (proof && proof->vain)
        verdict_note(&result->verdicts[look->at], PROMISED_IN_VAIN);
}

/* ---- Proofs --------------------------------------------------------------------------------------- */

/* The same of PTX: what a recording has is one launch, and a log of a program has no kernel. */
static bool may_threads_be_proved(const PipelineResult *result) {
    const Question *question = &result->question;
    return question->prove_seconds > 0 && result->ptx && !result->program && !result->recording &&
           !result->threads_trail && !question->lint_only && !question->only_launch;
}

static const Proof *threads_proof(PipelineResult *result, size_t kernel) {
    return prove_threads(result->ptx, result->entries[kernel], &result->module->arena, result->question.prove_seconds);
}

static void step_threads_proof(PipelineResult *result, size_t kernel) {
    Verdict *verdict = &result->verdicts[kernel];
    const Proof *proof = threads_proof(result, kernel);
    const Launch *given = known_launch(result, kernel);
    verdict->proof = threads_summary(result->ptx, proof, verdict->arena);
    verdict->proof->fulfilled = given && proof_covers(proof, given, NULL);
}

void step_proof(void *context) {
    const Look *look = context;
    PipelineResult *result = look->result;
    Verdict *verdict = &result->verdicts[look->at];
    if (may_threads_be_proved(result) && verdict->kind != VERDICT_INCOMPLETE && !verdict->incomplete_count &&
        !verdict->closed) {
        step_threads_proof(result, look->at);
        return;
    }
    if (!may_be_proved(result, look->at) || verdict->kind == VERDICT_INCOMPLETE || verdict->incomplete_count ||
        verdict->closed)
        return; /* or nothing is left open that a launch gives */
    const Proof *proof = proof_of_kernel(result->module, result->functions[look->at], result->question.prove_seconds);
    if (proof->withdrawn)
        verdict_incomplete(verdict, NULL, 0, "internal error: the proof for every launch is wrong: %s",
                           proof->withdrawn);
    verdict->proof = proof_summary(result->module, proof, promises_of(result, look->at), known_launch(result, look->at),
                                   verdict->arena);
    verdict->proof->outside &= result_given_launch(result, look->at) != NULL; /* else it is not all known */
}

bool is_covered(PipelineResult *result, size_t kernel) {
    const Launch *given = result->ptx ? NULL : result_given_launch(result, kernel);
    if (!given || !result->question.only_launch || !may_be_proved(result, kernel))
        return false;
    const Proof *proof = proof_made(result->module, result->functions[kernel]);
    bool noted = proof->alike && (given->grid[0] > 1 || given->grid[1] > 1 || given->grid[2] > 1);
    return !noted && proof_covers(proof, given, NULL);
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
        if (result->ptx) {
            const Proof *threads = threads_proof(result, i);
            Str kernel = result_name(result, i);
            threads_proof_print(result->ptx, threads, arena_copy(&result->arena, kernel.data, kernel.size),
                                known_launch(result, i), &result->arena, printed->to);
            printed->all &= threads->proved;
            continue;
        }
        const Proof *proof = proof_of_kernel(module, result->functions[i], result->question.prove_seconds);
        Str name = result_name(result, i);
        proof_print(module, proof, arena_copy(&result->arena, name.data, name.size), promises_of(result, i),
                    known_launch(result, i), &result->arena, printed->to);
        printed->all &= proof->proved;
    }
}

static void cross_check_all(PipelineResult *result) {
    for (size_t i = 0; i < result->count; i++)
        result_cross_check(result, i);
}

bool result_prove(PipelineResult *result, Text *to) {
    PrintedProof printed = {.result = result, .to = to, .all = !result->program && !result->recording};
    if (!result->ptx)
        cross_check_all(result);
    bool complete = !result->program && !result->recording && result_attempt(result, print_proofs, &printed);
    result_close(result);
    return complete && printed.all;
}

/* ---- Certificates --------------------------------------------------------------------------------- */

/* The certificate of a kernel, if the checker takes it for a proof. */
static bool write_certificate(PipelineResult *result, size_t kernel, const Proof *proof, Text *to) {
    Text own = {0};
    text_addf(&own, "%s\n", certificate_first_line);
    size_t begin = own.size;
    proof_certificate(result->module, result->functions[kernel], proof, &own);
    const char *text = text_keep(&own, &result->arena);
    CertificateVerdict verdict =
        certificate_check(result->module, result->functions[kernel], str_of(text), true, &result->arena);
    bool holds = verdict.answer == CERTIFICATE_HOLDS;
    if (holds)
        text_add(to, text + begin, strlen(text + begin));
    return holds;
}

static void certify(void *context) {
    PrintedProof *printed = context;
    PipelineResult *result = printed->result;
    text_addf(printed->to, "%s\n", certificate_first_line);
    for (size_t i = 0; i < result->count; i++) {
        Module *module = result->module;
        const Proof *proof = proof_of_kernel(module, result->functions[i], result->question.prove_seconds);
        printed->all &= proof->proved && write_certificate(result, i, proof, printed->to);
    }
}

bool result_certify(PipelineResult *result, Text *to) {
    PrintedProof printed = {.result = result, .to = to, .all = !result->ptx && !result->program};
    cross_check_all(result);
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

/* A certificate is about this kernel only if its runs, made again, show what it says; NULL: they do. */
static const char *runs_differ(PipelineResult *result, size_t kernel, Str certificate) {
    const Op *function = result->functions[kernel];
    const Proof *half = prove_sync_half(result->module, function, result->question.prove_seconds);
    if (half->open_count)
        return half->open[0].text;
    return proof_has_runs(result->module, function, half, certificate) ? NULL : "they are others, or speak for others";
}

static void verify(void *context) {
    Verified *verified = context;
    PipelineResult *result = verified->result;
    for (size_t i = 0; i < result->count && verified->answer != 2; i++) {
        Str kernel = result_name(result, i);
        CertificateVerdict verdict =
            certificate_check(result->module, result->functions[i], verified->certificate, true, &result->arena);
        int answer = verdict.answer == CERTIFICATE_HOLDS ? 0 : verdict.answer == CERTIFICATE_FAILS ? 1 : 2;
        const char *differ = answer ? NULL : runs_differ(result, i, verified->certificate);
        answer = differ ? 1 : answer;
        verified->answer = answer > verified->answer ? answer : verified->answer;
        if (answer != 2)
            text_plainf(verified->to, "@%s: ", arena_copy(&result->arena, kernel.data, kernel.size));
        if (answer == 0) {
            text_addf(verified->to,
                      "the certificate holds: %u access%s, %u step%s, %u bound%s and precondition%s, %u run%s\n",
                      verdict.accesses, verdict.accesses == 1 ? "" : "es", verdict.steps, plural(verdict.steps),
                      verdict.bounds + verdict.preconditions, plural(verdict.bounds + verdict.preconditions),
                      plural(verdict.bounds + verdict.preconditions), verdict.runs, plural(verdict.runs));
            text_addf(verified->to, "  runs: made again, and they show what it says\n");
        } else if (differ) {
            text_plainf(verified->to, "%s: its runs were made again, and do not show what it says: %s\n",
                        verified->name, differ);
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
