/* One question to the pipeline, as the command asks it. */
#include "checks.h"

#include "check/pipeline/pipeline.h"

typedef struct Ask {
    PipelineResult *result;
    Question question;
} Ask;

static void ask(void *context) {
    Ask *ask = context;
    result_ask(ask->result, &ask->question);
}

static bool counts(const Finding *finding, const CheckRequest *request) {
    return finding_severity(finding) != SEVERITY_NOTE &&
           (request->fences || !rule_listed("fence", rule_of(finding->rule)->id));
}

static void report_rules(const Verdict *verdict, const CheckRequest *request, bool *seen, Text *rules) {
    for (size_t i = 0; i < verdict->finding_count; i++) {
        const Finding *finding = &verdict->findings[i];
        if (!counts(finding, request))
            continue;
        if (!seen[finding->rule])
            text_addf(rules, "%s%s", rules->size ? "," : "", rule_of(finding->rule)->id);
        seen[finding->rule] = true;
    }
}

static void report_reasons(const Verdict *verdict, Text *rules) {
    for (size_t i = 0; i < verdict->incomplete_count; i++)
        text_addf(rules, "%s%s", rules->size ? "; " : "", verdict->incomplete[i].reason);
}

VerdictKind check_wholly(Module *module, const CheckRequest *request, Text *rules) {
    PipelineResult result;
    bool seen[RULE_COUNT] = {false};
    result_init(&result, module);
    Ask asked = {&result,
                 {.launch = request->launch,
                  .global = true,
                  .global_options = {.devices = 1},
                  .lint = true,
                  .releases = request->releases,
                  .membar = true,
                  .timeout = 60}};
    if (!result_attempt(&result, ask, &asked))
        result.problem = "there is not enough memory";
    if (*result.problem || result.diagnostics.errors)
        result_close(&result);
    else
        result_check(&result);
    VerdictKind kind = result.kind;
    for (size_t i = 0; i < result.count; i++)
        report_rules(&result.verdicts[i], request, seen, rules);
    if (kind == VERDICT_FINDINGS && !rules->size) /* of fences alone */
        kind = VERDICT_CLEAN;
    for (size_t i = 0; i < result.count && kind != VERDICT_FINDINGS; i++)
        if (result.verdicts[i].incomplete_count) {
            kind = VERDICT_INCOMPLETE;
            report_reasons(&result.verdicts[i], rules);
        }
    text_addf(rules, "%s", result.problem);
    result_free(&result);
    return kind;
}
