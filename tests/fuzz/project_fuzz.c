/* Any bytes as a project file, as the Python source of a kernel, and as a baseline. Whatever they are, reading them
 * ends without a fault: with something that can be used, or with something said. */
#include "config/apply.h"
#include "config/baseline.h"
#include "config/glob.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST_INPUT = 64 << 10, BUDGET = 64 << 20 };

static Source *named(const char *name, const uint8_t *data, size_t size) {
    Source *source = source_copy(name, (const char *)data, size);
    if (!source)
        abort();
    return source;
}

static Source *copy(const uint8_t *data, size_t size) {
    return named("fuzz", data, size);
}

/* A verdict of every rule, to which the project is then applied. */
static void apply_to_all(Project *project) {
    static FindingPlace place = {.role = "", .agent = "", .op = "", .note = "", .file = "k.py", .line = 1};
    Arena arena;
    arena_init(&arena, BUDGET);
    Verdict verdict = {.arena = &arena, .kernel = "k"};
    for (RuleId rule = 0; rule < RULE_COUNT; rule++) {
        Finding *finding = verdict_finding(&verdict);
        finding->rule = rule;
        finding->places = &place;
        finding->place_count = 1;
        finding->fingerprint = "0123456789abcdef";
    }
    project_apply(project, &verdict, "k.ttgir");
    for (size_t i = 0; i < verdict.finding_count; i++)
        if ((verdict.findings[i].suppressed != SUPPRESSED_NOT) != (verdict.findings[i].reason != NULL))
            abort(); /* nothing is left out without a word */
    verdict_close(&verdict);
    arena_free(&arena);
}

static void read_project(const char *name, const uint8_t *data, size_t size) {
    Project project;
    if (!project_init(&project))
        abort();
    bool good = project_read_text(&project, named(name, data, size));
    if (good != (project.diagnostics.errors == 0 && !project.problem))
        abort();
    project.source_root = "/nowhere/at/all";
    if (good)
        apply_to_all(&project);
    if (good) {
        project_means(&project, "kernels/k.ttgir");
        project_launch(&project, "kernels/k.ttgir");
    }
    project_free(&project);
}

static void read_comments(const uint8_t *data, size_t size) {
    SuppressionList list = {0};
    Arena arena;
    jmp_buf exhausted;
    Source *source = copy(data, size);
    arena_init(&arena, BUDGET);
    arena.exhausted = &exhausted;
    if (!setjmp(exhausted))
        suppressions_read(&arena, source, &list);
    source_place(source, 0);
    for (uint32_t i = 0; i < list.count; i++) {
        const Suppression *item = &list.items[i];
        if (item->line < 1 || item->line > source->line_count || item->target < item->line ||
            item->target > source->line_count || item->first > item->target || item->last < item->first)
            abort();
        if (!item->problem && (!*item->rules || !*item->reason))
            abort();
    }
    source_free(source);
    arena_free(&arena);
}

static void read_baseline(const uint8_t *data, size_t size) {
    Project project;
    const Remark *remarks;
    if (!project_init(&project))
        abort();
    project.baseline_file = "fuzz.baseline.json";
    if (project_read_baseline_text(&project, copy(data, size)) == (project.problem != NULL))
        abort();
    apply_to_all(&project);
    project_looked_at(&project, &(Verdict){.kernel = "k"});
    project_remarks(&project, &remarks);
    project_free(&project);
}

static void match(const uint8_t *data, size_t size) {
    const char *text = (const char *)data, *slash = memchr(text, '\n', size);
    Str pattern = {text, slash ? (size_t)(slash - text) : size};
    if (!glob_problem(pattern))
        glob_matches(pattern, slash ? str_between(slash + 1, text + size) : STR("kernels/k.ttgir"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > LARGEST_INPUT)
        return 0;
    read_project("fuzz", data, size);
    read_project("pyproject.toml", data, size);
    read_comments(data, size);
    read_baseline(data, size);
    match(data, size);
    return 0;
}
