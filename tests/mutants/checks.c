/* One question to the pipeline, as the command asks it. */
#include "checks.h"

#include "analyze/pipeline/pipeline.h"

typedef struct Ask {
    Result *result;
    Question question;
} Ask;

static void ask(void *context) {
    Ask *ask = context;
    result_ask(ask->result, &ask->question);
}

static void tell_rules(const Verdict *verdict, bool *seen, Text *rules) {
    for (size_t i = 0; i < verdict->finding_count; i++) {
        const Finding *finding = &verdict->findings[i];
        if (finding_severity(finding) == SEVERITY_NOTE)
            continue;
        if (!seen[finding->rule])
            text_addf(rules, "%s%s", rules->size ? "," : "", rule_of(finding->rule)->id);
        seen[finding->rule] = true;
    }
}

static void tell_reasons(const Verdict *verdict, Text *rules) {
    for (size_t i = 0; i < verdict->incomplete_count; i++)
        text_addf(rules, "%s%s", rules->size ? "; " : "", verdict->incomplete[i].reason);
}

VerdictKind check_wholly(Module *module, const CheckRequest *request, Text *rules) {
    Result result;
    bool seen[RULE_COUNT] = {false};
    result_init(&result, module);
    Ask asked = {&result,
                 {.launch = request->launch,
                  .runs = {.budget = request->budget},
                  .global = true,
                  .global_options = {.devices = 1, .budget = request->budget},
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
    for (size_t i = 0; i < result.count; i++)
        tell_rules(&result.verdicts[i], seen, rules);
    for (size_t i = 0; i < result.count && result.kind == VERDICT_INCOMPLETE; i++)
        tell_reasons(&result.verdicts[i], rules);
    text_addf(rules, "%s", result.problem);
    VerdictKind kind = result.kind;
    result_free(&result);
    return kind;
}
