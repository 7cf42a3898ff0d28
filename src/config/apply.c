/* Rules, comments and the baseline, one finding after the other. */
#include "config/apply.h"

#include "base/code.h"
#include "base/dependencies.h"
#include "base/order.h"
#include "base/rooted.h"
#include "config/baseline.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Rules ---------------------------------------------------------------------------------------- */

/* Whether a layer says anything of the rule, and whether it is on. The longer of two names that mean it wins. */
static bool layer_decides(const RuleLayer *layer, const char *id, bool *on) {
    size_t selected = rule_list_match(layer->select, id), ignored = rule_list_match(layer->ignore, id);
    *on = selected > ignored;
    return selected || ignored || layer->select;
}

/* Why the rule is off; NULL: it is on. */
static const char *why_off(const Project *project, const char *id) {
    static const char *const reasons[LAYER_COUNT][2] = {
        {"the project file does not select its rule", "the project file ignores its rule"},
        {"its rule is not selected", "its rule is ignored"}};
    bool on = true;
    for (int layer = LAYER_COUNT; layer-- > 0;)
        if (layer_decides(&project->layers[layer], id, &on))
            return on ? NULL : reasons[layer][rule_list_match(project->layers[layer].ignore, id) > 0];
    return NULL;
}

/* The change whose name means most of the rule; of equals, the last. */
static const SeverityChange *find_change(const RuleLayer *layer, const char *id) {
    const SeverityChange *found = NULL;
    size_t longest = 0;
    for (uint32_t i = 0; i < layer->change_count; i++) {
        size_t size = rule_list_match(layer->changes[i].name, id);
        if (size && size >= longest) {
            longest = size;
            found = &layer->changes[i];
        }
    }
    return found;
}

static const SeverityChange *change_of(const Project *project, RuleId rule) {
    const SeverityChange *change = NULL;
    for (int layer = LAYER_COUNT; layer-- > 0 && !change;)
        change = find_change(&project->layers[layer], rule_of(rule)->id);
    return change;
}

static void grade(const Project *project, Finding *finding) {
    const SeverityChange *change = change_of(project, finding->rule);
    if (change) {
        finding->lowered |= change->severity == SEVERITY_NOTE && finding_severity(finding) != SEVERITY_NOTE;
        finding->graded = true;
        finding->grade = change->severity;
    }
}

/* ---- Sources -------------------------------------------------------------------------------------- */

/* Stands for files that are not to be had. */
static KernelSource nowhere;

static KernelSource *open_source(Project *project, const char *ir, const char *name) {
    char *path = code_below(ir, project->source_root, name);
    KernelSource *source = path ? NULL : &nowhere;
    for (uint32_t i = 0; path && !source && i < project->source_count; i++)
        if (strcmp(project->sources[i]->path, path) == 0)
            source = project->sources[i];
    Source *text = source ? NULL : rooted_read(project->source_root, path);
    if (text) {
        source = ARENA_NEW(&project->arena, KernelSource);
        *source = (KernelSource){.path = arena_copy(&project->arena, path, strlen(path)),
                                 .name = arena_copy(&project->arena, name, strlen(name)),
                                 .digest = digest_of(text->data, text->size)};
        suppressions_read(&project->arena, text, &source->suppressions);
        *ARENA_PUSH(&project->arena, project->sources, project->source_count, project->source_capacity) = source;
    }
    source_free(text);
    free(path);
    return source ? source : &nowhere;
}

/* Comments are of use once, for all kernels of a run: a result that they may concern is not kept. */
static void depend_on(const Project *project, const char *ir, const char *name, const KernelSource *source) {
    char *path = NULL;
    if (!dependencies)
        return;
    free(code_below(ir, project->source_root, name)); /* says where it was looked for */
    if (source->suppressions.count ||
        (source->path && asprintf(&path, "%s/%s", project->source_root, source->path) < 0))
        dependencies_spoil();
    else if (source->path)
        dependency_add_digest(path, source->digest);
    free(path);
}

/* What the IR calls `file`: one name may be several files, beside one IR and another. */
static KernelSource *source_of(Project *project, const char *ir, Str file) {
    const char *slash = strrchr(ir, '/');
    Text text = {0};
    if (memchr(file.data, 0, file.size))
        return &nowhere;
    const char *name = arena_copy(&project->arena, file.data, file.size);
    if (!str_ends(file, STR(".py")) && !code_is_cpp(name))
        return &nowhere;
    text_add(&text, ir, slash ? (size_t)(slash - ir) : 0);
    text_char(&text, '\n');
    size_t folder = text.size;
    text_str(&text, file);
    KernelSource *known = text.failed ? &nowhere : map_get(&project->names, (Str){text.data, text.size});
    if (known) {
        text_char(&text, 0);
        if (!text.failed)
            depend_on(project, ir, text.data + folder, known);
        text_free(&text);
        return known;
    }
    size_t size = text.size;
    Str key = {text_keep(&text, &project->arena), size};
    KernelSource *found = open_source(project, ir, key.data + folder);
    depend_on(project, ir, key.data + folder, found);
    void **place = map_put(&project->names, key);
    if (place)
        *place = found;
    return found;
}

/* The comment that is about the line and the rule, which is then of use; NULL if there is none. */
static const Suppression *find_comment(KernelSource *source, uint32_t line, const char *id) {
    const Suppression *found = NULL;
    for (uint32_t i = 0; i < source->suppressions.count; i++) {
        Suppression *comment = &source->suppressions.items[i];
        if (comment->target == line && !comment->problem && rule_listed(comment->rules, id)) {
            comment->used = true;
            found = found ? found : comment;
        }
    }
    return found;
}

/* ---- A verdict ------------------------------------------------------------------------------------ */

typedef struct Application {
    Project *project;
    Verdict *verdict;
    const char *ir;
    Str file;
    uint32_t line;
} Application;

static void suppress(Finding *finding, SuppressionKind kind, const char *reason) {
    if (reason && !finding->suppressed) {
        finding->suppressed = kind;
        finding->reason = reason;
    }
}

static const char *comment_reason(const Application *to, const Finding *finding) {
    const Suppression *found = NULL;
    for (size_t i = 0; i < finding->place_count; i++) {
        const FindingPlace *place = &finding->places[i];
        if (!place->file || !*place->file || !place->line)
            continue;
        KernelSource *source = source_of(to->project, to->ir, str_of(place->file));
        const Suppression *here = find_comment(source, place->line, rule_of(finding->rule)->id);
        found = found ? found : here;
    }
    return found ? found->reason : NULL;
}

/* Where a finding is, as every machine would have it: from the source root on, else without its folder. */
static const char *file_of(const Application *to, const Finding *finding) {
    const char *file = finding->place_count ? finding->places[0].file : "";
    char *below =
        *file ? code_below(to->ir, to->project->source_root, file) : path_below(to->project->source_root, to->ir);
    const char *name = below ? below : path_name(*file ? file : to->ir);
    const char *copy = arena_copy(&to->project->arena, name, strlen(name));
    free(below);
    return copy;
}

/* Why the baseline says that it does not count; NULL: it does. */
static const char *baseline_reason(const Application *to, const Finding *finding) {
    Project *project = to->project;
    Arena *arena = &project->arena;
    if (!project->baseline || !*finding->fingerprint)
        return NULL;
    if (!baseline_find(project->baseline, finding)) {
        if (!project->updates || finding->suppressed || finding_severity(finding) == SEVERITY_NOTE)
            return NULL;
        BaselineEntry entry = {.file = file_of(to, finding),
                               .kernel = arena_copy(arena, to->verdict->kernel, strlen(to->verdict->kernel)),
                               .rule = rule_of(finding->rule)->id,
                               .fingerprint = arena_copy(arena, finding->fingerprint, strlen(finding->fingerprint)),
                               .text = arena_copy(arena, finding->message, strlen(finding->message)),
                               .seen = true};
        baseline_add(project, &entry);
    }
    return project->baseline_file;
}

static void apply(void *context) {
    const Application *to = context;
    for (size_t i = 0; i < to->verdict->finding_count; i++) {
        Finding *finding = &to->verdict->findings[i];
        grade(to->project, finding);
        suppress(finding, SUPPRESSED_CONFIG, why_off(to->project, rule_of(finding->rule)->id));
        suppress(finding, SUPPRESSED_SOURCE, comment_reason(to, finding));
        suppress(finding, SUPPRESSED_BASELINE, baseline_reason(to, finding));
    }
}

/* Where memory runs out, what is left counts. */
void project_apply(Project *project, Verdict *verdict, const char *ir) {
    Application to = {.project = project, .verdict = verdict, .ir = ir};
    project_attempt(project, apply, &to);
    const SeverityChange *same = change_of(project, RULE_RACE_SAME_VALUE);
    if (verdict->proof && verdict->proof->alike && same && same->severity != SEVERITY_NOTE)
        verdict->proof->narrow = true; /* what it takes for a note is none here */
}

static void look_at_line(void *context) {
    const Application *to = context;
    SuppressionList *list = &source_of(to->project, to->ir, to->file)->suppressions;
    for (uint32_t i = 0; i < list->count; i++)
        list->items[i].looked_at |= to->line >= list->items[i].first && to->line <= list->items[i].last;
}

void project_looked_at_line(Project *project, const char *ir, Str file, uint32_t line) {
    Application to = {.project = project, .ir = ir, .file = file, .line = line};
    project_attempt(project, look_at_line, &to);
}

static void look_at_kernel(void *context) {
    const Application *to = context;
    if (to->project->baseline && baseline_looked_at(to->project, to->verdict->kernel))
        dependencies_spoil(); /* its entries no longer occur, or they do: this is said at the end */
}

void project_looked_at(Project *project, Verdict *verdict) {
    Application to = {.project = project, .verdict = verdict};
    project_attempt(project, look_at_kernel, &to);
}

/* ---- Remarks -------------------------------------------------------------------------------------- */

typedef struct Remarks {
    Project *project;
    Remark *items;
    uint32_t count, capacity;
} Remarks;

ORDER(by_place, Remark, BY_TEXT(file) BY(line) BY_TEXT(text))

static void add_gone(Remarks *remarks, const BaselineEntry *entry) {
    Arena *arena = &remarks->project->arena;
    Text text = {0};
    text_addf(&text, "this entry no longer occurs: %s in @%s of %s; --update-baseline removes it", entry->rule,
              entry->kernel, entry->file);
    Remark remark = {SEVERITY_NOTE, remarks->project->baseline_file, entry->line, text_keep(&text, arena)};
    *ARENA_PUSH(arena, remarks->items, remarks->count, remarks->capacity) = remark;
}

static void add_remark(Remarks *remarks, const KernelSource *source, const Suppression *comment) {
    Arena *arena = &remarks->project->arena;
    Remark remark = {.file = source->name, .line = comment->line};
    Text text = {0};
    if (comment->problem) {
        remark.severity = SEVERITY_WARNING;
        text_addf(&text, "this suppression is not honored: %s", comment->problem);
    } else if (comment->looked_at && !comment->used) {
        remark.severity = SEVERITY_NOTE;
        text_addf(&text, "this suppression is unused: there is no finding of %s on line %u", comment->rules,
                  comment->target);
    } else {
        return;
    }
    remark.text = text_keep(&text, arena);
    *ARENA_PUSH(arena, remarks->items, remarks->count, remarks->capacity) = remark;
}

static void collect(void *context) {
    Remarks *remarks = context;
    const Project *project = remarks->project;
    for (uint32_t i = 0; i < project->source_count; i++)
        for (uint32_t k = 0; k < project->sources[i]->suppressions.count; k++)
            add_remark(remarks, project->sources[i], &project->sources[i]->suppressions.items[k]);
    const Baseline *baseline = project->updates ? NULL : project->baseline;
    for (uint32_t i = 0; baseline && i < baseline->count; i++)
        if (baseline_is_gone(baseline, baseline->items[i]))
            add_gone(remarks, baseline->items[i]);
    if (remarks->count)
        qsort(remarks->items, remarks->count, sizeof *remarks->items, by_place);
}

size_t project_remarks(Project *project, const Remark **remarks) {
    Remarks all = {.project = project};
    project_attempt(project, collect, &all);
    *remarks = all.items;
    return all.count;
}
