/* Projects for callers: their file, what goes over it, and what is to be said of them at the end. */
#include "api/internal.h"

#include "base/json.h"
#include "config/apply.h"
#include "config/baseline.h"

#include <stdlib.h>

weir_project *weir_project_create(void) {
    weir_project *project = calloc(1, sizeof *project);
    if (project && project_init(&project->project))
        return project;
    free(project);
    return NULL;
}

void weir_project_free(weir_project *project) {
    if (project) {
        project_free(&project->project);
        dependencies_free(&project->files);
    }
    free(project);
}

/* What only floors above the reader of the file can tell. */
static void check_settings(Project *project) {
    static const char *const modes[] = {"exact", "sampled", "off", NULL}, *const orders[] = {"issue", "waits", NULL},
                             *const scopes[] = {"every-launch", "given-launch", "tried-launches", NULL};
    const struct {
        ProjectSetting setting;
        const char *const *words;
        const char *problem;
    } words[] = {
        {project->gsan, modes, "'gsan' must be \"exact\", \"sampled\" or \"off\""},
        {project->mma_order, orders, "'mma-order' must be \"issue\" or \"waits\""},
        {project->require, scopes, "'require' must be \"every-launch\", \"given-launch\" or \"tried-launches\""}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *const *word = words[i].words;
        while (words[i].setting.text && *word && strcmp(*word, words[i].setting.text) != 0)
            word++;
        if (!*word)
            project_refuse(project, words[i].setting, "%s", words[i].problem);
    }
    if (project->triton.text && !releases_named(str_of(project->triton.text)))
        project_refuse(project, project->triton,
                       "'triton' must be a release from 3.5 on, such as \"3.6\" or "
                       "\"3.7.1\"");
    if (project->target.text && !target_named(str_of(project->target.text))) {
        Text names = {0};
        targets_list(&names);
        project_refuse(project, project->target, "'target' must be one of %.*s", (int)names.size, names.data);
        text_free(&names);
    }
}

int weir_project_read(weir_project *project, const char *path) {
    Dependencies *outer = dependencies;
    const char *problem = NULL;
    dependencies = &project->files;
    char *found = path ? NULL : project_find(&problem);
    bool good = true;
    if (problem)
        project->project.problem = problem, good = false;
    else if (path || found)
        good = project_read(&project->project, path ? path : found);
    if (good && project->project.source)
        check_settings(&project->project);
    dependencies = outer;
    free(found);
    return good && !project->project.diagnostics.errors ? 0 : -1;
}

const char *weir_project_file(const weir_project *project) {
    return project->project.file;
}

const char *weir_project_folder(const weir_project *project) {
    return project->project.folder;
}

int weir_project_set(weir_project *project, const char *key, const char *value) {
    return project_set(&project->project, key, value) ? 0 : -1;
}

int weir_project_baseline(weir_project *project, int update) {
    Dependencies *outer = dependencies;
    dependencies = &project->files;
    bool good = project_read_baseline(&project->project, update);
    dependencies = outer;
    return good ? 0 : -1;
}

int weir_project_write_baseline(weir_project *project) {
    return project->project.baseline && project_write_baseline(&project->project) ? 0 : -1;
}

int weir_project_errors(const weir_project *project, unsigned flags, weir_write *write, void *to) {
    Text out = SINK_TEXT(write, to);
    const Project *all = &project->project;
    if (all->diagnostics.errors)
        report_diagnostics(&all->diagnostics, all->source->name, flags & WEIR_COLOR, &out);
    else if (all->problem)
        text_plainf(&out, "weir: %s\n", all->problem);
    return sink_finish(&out);
}

/* ---- What it says beside rules -------------------------------------------------------------------- */

static void set_text(const char **option, ProjectSetting setting) {
    if (!*option)
        *option = setting.text;
}

void weir_project_options(weir_project *project, weir_run_options *options) {
    const Project *all = &project->project;
    options->project = project;
    set_text(&options->triton, all->triton);
    set_text(&options->target, all->target);
    set_text(&options->gsan, all->gsan);
    set_text(&options->mma_order, all->mma_order);
    set_text(&options->require, all->require);
    if (!options->source_root)
        options->source_root = all->source_root;
    if (!options->budget && all->budget > 0)
        options->budget = (uint64_t)all->budget;
    if (!options->timeout && all->timeout > 0)
        options->timeout = (unsigned)all->timeout;
}

int weir_project_timeout(const weir_project *project, unsigned *seconds) {
    bool says = project->project.timeout >= 0;
    if (says)
        *seconds = (unsigned)project->project.timeout;
    return says;
}

const char *weir_project_launch(const weir_project *project, const char *path) {
    return project_launch(&project->project, path);
}

typedef struct Required {
    weir_project *project;
    const char *kernel;
    Json json;
} Required;

static void write_required(void *context) {
    Required *required = context;
    Project *project = &required->project->project;
    size_t count;
    const Requirement *all = project_requires(project, str_of(required->kernel), &project->arena, &count);
    json_begin_list(&required->json, NULL);
    for (size_t i = 0; i < count; i++)
        json_text(&required->json, NULL, all[i].text);
    json_end_list(&required->json);
}

int weir_project_requires(weir_project *project, const char *kernel, weir_write *write, void *to) {
    Text out = SINK_TEXT(write, to);
    Required required = {.project = project, .kernel = kernel, .json = {.to = &out}};
    bool good = project_attempt(&project->project, write_required, &required);
    return sink_finish(&out) == 0 && good ? 0 : -1;
}

int weir_project_means(const weir_project *project, const char *path) {
    return project_means(&project->project, path);
}

int weir_project_includes(const weir_project *project) {
    return project->project.include.count > 0;
}

/* ---- At the end ----------------------------------------------------------------------------------- */

size_t weir_project_remarks(weir_project *project) {
    project->remark_count = project_remarks(&project->project, &project->remarks);
    return project->remark_count;
}

weir_remark weir_project_remark_at(const weir_project *project, size_t index) {
    if (index >= project->remark_count)
        return (weir_remark){WEIR_NOTE, "", 0, ""};
    const Remark *remark = &project->remarks[index];
    return (weir_remark){(weir_severity)remark->severity, remark->file, remark->line, remark->text};
}
