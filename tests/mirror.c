/* Whether a verdict depends on the order in which agents have their turns: checks each kernel with its agents from the
 * first to the last, and from the last to the first, as if its partitions and CTAs stood the other way round.
 *
 *     mirror FILE...
 *
 * With K.launch.json beside K.ttgir that launch is run, else those that Weir chooses. Which of two accesses that
 * nothing orders comes first is luck, so that a read after a write may become a write after a read; and so is which of
 * several agents that hang is told of. But whether there is a race, a hang or a misuse of a barrier at all is the same.
 * Prints each file of which it is not, then `N passed, N failed`; exit status 1 if some failed. */
#include "check/tile/run/check.h"
#include "explore/launch/launch.h"
#include "mlir/reader.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static const size_t arena_budget = (size_t)1 << 31;

typedef struct Judgment {
    VerdictKind kind;
    bool races, hangs, faults;
    Text rules;
} Judgment;

/* The launch beside the file, if there is one. */
static bool read_launch(Arena *arena, const char *path, Launch *launch) {
    char name[4096];
    const char *dot = strrchr(path, '.'), *problem;
    Diagnostics diagnostics = {0};
    snprintf(name, sizeof name, "%.*s.launch.json", (int)(dot ? dot - path : (long)strlen(path)), path);
    Source *source = source_read(name, &problem);
    bool good = source && launch_read(arena, source, launch, &diagnostics);
    diagnostics_free(&diagnostics);
    if (source)
        source_free(source);
    return good;
}

static void add_findings(const Verdict *verdict, Judgment *judgment) {
    for (size_t i = 0; i < verdict->finding_count; i++) {
        RuleId rule = verdict->findings[i].rule;
        const char *id = rule_of(rule)->id;
        text_addf(&judgment->rules, " %s", id);
        if (strncmp(id, "race.", 5) == 0)
            judgment->races = true;
        else if (strncmp(id, "deadlock.", 9) == 0)
            judgment->hangs = true;
        else
            judgment->faults = true;
    }
    for (size_t i = 0; i < verdict->incomplete_count; i++)
        text_addf(&judgment->rules, " (%s)", verdict->incomplete[i].reason);
}

static void check_kernels(Module *module, const char *path, bool mirrored, Judgment *judgment) {
    Launch launch = {0};
    bool given = read_launch(&module->arena, path, &launch);
    size_t count = program_kernels(module, NULL, 0);
    const Op **kernels = ARENA_ARRAY(&module->arena, const Op *, count + 1);
    program_kernels(module, kernels, count);
    for (size_t i = 0; i < count; i++) {
        Verdict verdict = {.arena = &module->arena};
        check_runs(module, kernels[i], &(CheckOptions){.launch = given ? &launch : NULL, .mirrored = mirrored},
                   &verdict);
        verdict_close(&verdict);
        judgment->kind = verdict_worse(judgment->kind, verdict.kind);
        add_findings(&verdict, judgment);
    }
}

static Judgment judge(const char *path, bool mirrored) {
    Judgment judgment = {.kind = VERDICT_CLEAN};
    Module module = {0};
    Diagnostics diagnostics = {0};
    const char *problem;
    Source *source = source_read(path, &problem);
    Unit unit = {.end = source ? source->size : 0};
    jmp_buf out_of_memory;
    if (!source || !read_unit(&module, source, &unit, (ReadOptions){0}, &diagnostics)) {
        judgment.kind = VERDICT_ERROR;
    } else {
        module.arena.budget = module.arena.held + arena_budget;
        module.arena.exhausted = &out_of_memory;
        if (setjmp(out_of_memory) == 0)
            check_kernels(&module, path, mirrored, &judgment);
        else
            judgment.kind = VERDICT_ERROR;
    }
    module_free(&module);
    diagnostics_free(&diagnostics);
    if (source)
        source_free(source);
    text_char(&judgment.rules, 0);
    return judgment;
}

int main(int count, char **paths) {
    unsigned passed = 0, failed = 0;
    for (int i = 1; i < count; i++) {
        Judgment plain = judge(paths[i], false), mirrored = judge(paths[i], true);
        bool same = plain.kind == mirrored.kind && plain.races == mirrored.races && plain.hangs == mirrored.hangs &&
                    plain.faults == mirrored.faults && plain.kind != VERDICT_ERROR;
        if (!same)
            printf("failed: %s: %s,%s; mirrored: %s,%s\n", paths[i], verdict_kind_name(plain.kind), plain.rules.data,
                   verdict_kind_name(mirrored.kind), mirrored.rules.data);
        passed += same;
        failed += !same;
        text_free(&plain.rules);
        text_free(&mirrored.rules);
    }
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
