/* Weir lint, with rules about fences alone; and beside it the pairs that lack one in plain runs. */
#include "fences.h"

#include "check/fences/proxies_run.h"
#include "check/lint/tile/lint.h"
#include "machine/tile/compile/program.h"

static void count(FenceRuns *runs, Proxies *proxies, void *context) {
    FenceVerdict *said = context;
    uint32_t found;
    (void)fence_runs_again(runs);
    const Breach *breaches = proxies_found(proxies, &found);
    for (uint32_t i = 0; i < found; i++)
        said->lacking += breaches[i].kind < BREACH_LATE && !breaches[i].reads;
}

/* Keeps what is about fences, and says which rules that is. */
static void keep_fences(Verdict *verdict, FenceVerdict *said, Text *rules) {
    size_t kept = 0;
    for (size_t i = 0; i < verdict->finding_count; i++) {
        RuleId rule = verdict->findings[i].rule;
        if (!rule_listed("fence", rule_of(rule)->id))
            continue;
        said->insert |= rule == RULE_FENCE_PENDING;
        said->left_out |= rule == RULE_FENCE_COMPILER;
        if (rule_of(rule)->severity != SEVERITY_NOTE)
            text_addf(rules, "%s%s", rules->size ? "," : "", rule_of(rule)->id);
        verdict->findings[kept++] = verdict->findings[i];
    }
    verdict->finding_count = kept;
}

FenceVerdict fences_judge(Module *module, const Launch *launch, ReleaseSet releases, Text *rules) {
    FenceVerdict said = {.kind = VERDICT_CLEAN};
    if (!releases && launch)
        releases = releases_named(launch->triton);
    size_t kernels = program_kernels(module, NULL, 0);
    const Op **functions = ARENA_ARRAY(&module->arena, const Op *, kernels + 1);
    program_kernels(module, functions, kernels);
    for (size_t i = 0; i < kernels; i++) {
        Verdict verdict = {.arena = &module->arena}, aside = {.arena = &module->arena};
        lint_check(module, functions[i], &(LintOptions){.launch = launch, .releases = releases, .alone = true},
                   &verdict);
        keep_fences(&verdict, &said, rules);
        verdict_close(&verdict);
        said.kind = verdict_worse(said.kind, verdict.kind);
        if (proxies_matter(module, functions[i]))
            fence_runs(module, functions[i], (FenceLaunch){.launch = launch}, &aside, count, &said);
    }
    return said;
}
