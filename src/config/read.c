/* A project file read: which keys there are, what each may hold, and what the command line says beside them. */
#include "base/near.h"
#include "config/baseline.h"
#include "config/glob.h"
#include "config/project.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { BUDGET = 256 << 20, MOST_SECONDS = 1000000 };

bool project_init(Project *project) {
    *project = (Project){.folder = ".", .source_root = ".", .timeout = -1, .budget = -1};
    arena_init(&project->arena, BUDGET);
    return pthread_mutex_init(&project->lock, NULL) == 0;
}

void project_free(Project *project) {
    pthread_mutex_destroy(&project->lock);
    diagnostics_free(&project->diagnostics);
    source_free(project->source);
    map_free(&project->names);
    if (project->baseline) {
        map_free(&project->baseline->entries);
        map_free(&project->baseline->kernels);
    }
    arena_free(&project->arena);
}

bool project_attempt(Project *project, ProjectTask *work, void *context) {
    jmp_buf exhausted;
    pthread_mutex_lock(&project->lock);
    if (setjmp(exhausted)) {
        project->arena.exhausted = NULL;
        pthread_mutex_unlock(&project->lock);
        return false;
    }
    project->arena.exhausted = &exhausted;
    work(context);
    project->arena.exhausted = NULL;
    pthread_mutex_unlock(&project->lock);
    return true;
}

/* ---- What is wrong -------------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static bool fail(Project *project, size_t offset, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    diagnostics_vadd(&project->diagnostics, SEVERITY_ERROR, project->source, offset, format, arguments);
    va_end(arguments);
    return false;
}

void project_refuse(Project *project, ProjectSetting setting, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    diagnostics_vadd(&project->diagnostics, SEVERITY_ERROR, project->source, setting.offset, format, arguments);
    va_end(arguments);
}

__attribute__((format(printf, 2, 3))) static bool refuse(Project *project, const char *format, ...) {
    Text text = {0};
    va_list arguments;
    va_start(arguments, format);
    text_vaddf(&text, format, arguments);
    va_end(arguments);
    project->problem = text_keep(&text, &project->arena);
    return false;
}

static bool is_kind(Project *project, const TomlEntry *entry, TomlKind kind) {
    if (entry->value.kind == kind)
        return true;
    return fail(project, entry->value.offset, "'%.*s' is %s, not %s", STR_ARG(entry->key), toml_kind_name(kind),
                toml_kind_name(entry->value.kind));
}

/* ---- Values --------------------------------------------------------------------------------------- */

static const char *joined(Project *project, const char *folder, const char *path) {
    Text text = {0};
    bool here = strcmp(folder, ".") == 0 || *path == '/';
    text_addf(&text, "%s%s%s", here ? "" : folder, here ? "" : "/", path);
    return text_keep(&text, &project->arena);
}

static bool read_path(Project *project, const TomlEntry *entry, const char **path) {
    if (!is_kind(project, entry, TOML_STRING))
        return false;
    if (!entry->value.text.size)
        return fail(project, entry->value.offset, "'%.*s' must be a non-empty path", STR_ARG(entry->key));
    *path = joined(project, project->folder, entry->value.text.data);
    return true;
}

static bool is_folder(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool read_root(Project *project, const TomlEntry *entry) {
    if (!read_path(project, entry, &project->source_root))
        return false;
    return is_folder(project->source_root) ||
           fail(project, entry->value.offset, "there is no such folder: %s", project->source_root);
}

static bool read_setting(Project *project, const TomlEntry *entry, ProjectSetting *setting) {
    if (!is_kind(project, entry, TOML_STRING))
        return false;
    *setting = (ProjectSetting){entry->value.text.data, entry->value.offset};
    return true;
}

static bool read_number(Project *project, const TomlEntry *entry, int64_t most, int64_t *number) {
    if (!is_kind(project, entry, TOML_INTEGER))
        return false;
    *number = entry->value.integer;
    return (*number >= 0 && *number <= most) ||
           fail(project, entry->value.offset, "'%.*s' must be from 0 to %" PRId64, STR_ARG(entry->key), most);
}

static bool read_pattern(Project *project, const TomlEntry *entry, Str *pattern) {
    const TomlValue *value = &entry->value;
    const char *problem = glob_problem(value->text);
    *pattern = value->text;
    return !problem || fail(project, value->offset, "%s", problem);
}

static bool read_patterns(Project *project, const TomlEntry *list, Patterns *patterns) {
    if (!is_kind(project, list, TOML_ARRAY))
        return false;
    for (const TomlEntry *entry = list->value.first; entry; entry = entry->next) {
        if (entry->value.kind != TOML_STRING)
            return fail(project, entry->value.offset, "'%.*s' must be a list of path patterns in quotes",
                        STR_ARG(list->key));
        if (!read_pattern(project, entry,
                          ARENA_PUSH(&project->arena, patterns->items, patterns->count, patterns->capacity)))
            return false;
    }
    return true;
}

/* ---- Rules ---------------------------------------------------------------------------------------- */

/* ", did you mean ...?", or where rules are listed. */
static const char *instead(Project *project, Str name) {
    Str meant = rule_near(name);
    Text text = {0};
    if (meant.data)
        text_addf(&text, "did you mean '%.*s'?", STR_ARG(meant));
    else
        text_addf(&text, "'weir rules' lists them");
    return text_keep(&text, &project->arena);
}

static bool is_rule(Project *project, Str name, size_t offset) {
    bool comma = memchr(name.data, ',', name.size);
    if (name.size && !comma && !rule_list_unknown(name.data).data)
        return true;
    return fail(project, offset, "there is no rule '%.*s'; %s", STR_ARG(name), instead(project, name));
}

static const char *listed(Project *project, const char *list, const char *more) {
    Text text = {0};
    if (list)
        text_addf(&text, "%s,", list);
    text_addf(&text, "%s", more);
    return text_keep(&text, &project->arena);
}

static bool read_rules(Project *project, const TomlEntry *list, const char **rules) {
    Text text = {0};
    if (!is_kind(project, list, TOML_ARRAY))
        return false;
    for (const TomlEntry *entry = list->value.first; entry; entry = entry->next) {
        if (entry->value.kind != TOML_STRING
                ? !fail(project, entry->value.offset, "'%.*s' must be a list of rules in quotes", STR_ARG(list->key))
                : !is_rule(project, entry->value.text, entry->value.offset)) {
            text_free(&text);
            return false;
        }
        text_addf(&text, "%s%s", text.size ? "," : "", entry->value.text.data);
    }
    *rules = text_keep(&text, &project->arena);
    return true;
}

static const char *const severities[] = {"error", "warning", "note", NULL}; /* ORDER Severity */

static bool add_change(Project *project, RuleLayer *layer, const char *name, const char *word) {
    size_t severity = 0;
    while (severities[severity] && strcmp(severities[severity], word) != 0)
        severity++;
    if (!severities[severity])
        return false;
    *ARENA_PUSH(&project->arena, layer->changes, layer->change_count, layer->change_capacity) =
        (SeverityChange){name, (Severity)severity};
    return true;
}

/* `race.war = "note"` is a table in a table; its keys together are the rule. */
static bool read_severities(Project *project, const TomlEntry *table, const char *before) {
    if (!is_kind(project, table, TOML_TABLE))
        return false;
    for (const TomlEntry *entry = table->value.first; entry; entry = entry->next) {
        Text text = {0};
        text_addf(&text, "%s%s%.*s", before, *before ? "." : "", STR_ARG(entry->key));
        const char *name = text_keep(&text, &project->arena);
        const TomlValue *value = &entry->value;
        if (strlen(name) > 200 || !is_rule(project, str_of(name), entry->key_offset))
            return false;
        if (value->kind == TOML_TABLE) {
            if (!read_severities(project, entry, name))
                return false;
        } else if (value->kind != TOML_STRING ||
                   !add_change(project, &project->layers[LAYER_FILE], name, value->text.data)) {
            return fail(project, value->offset, "a severity must be \"error\", \"warning\" or \"note\"");
        }
    }
    return true;
}

/* ---- Keys ----------------------------------------------------------------------------------------- */

typedef bool ReadKey(Project *project, const TomlEntry *entry, void *to);

typedef struct KeyReader {
    const char *key;
    ReadKey *read;
} KeyReader;

/* Hands each member of a table to the function of its key, of a list that one without a key ends. */
static bool read_table(Project *project, const TomlValue *table, const KeyReader *keys, void *to) {
    enum { MOST_KEYS = 16 };
    for (const TomlEntry *entry = table->first; entry; entry = entry->next) {
        const char *names[MOST_KEYS + 1] = {NULL};
        size_t i = 0;
        for (; keys[i].key && !str_is(entry->key, keys[i].key); i++)
            names[i] = keys[i].key;
        if (keys[i].key) {
            if (!keys[i].read(project, entry, to))
                return false;
            continue;
        }
        const char *meant = near_word(entry->key, names);
        Text all = {0};
        for (i = 0; keys[i].key; i++)
            text_addf(&all, "%s%s", i ? ", " : "", keys[i].key);
        const char *list = text_keep(&all, &project->arena);
        return meant ? fail(project, entry->key_offset, "there is no key '%.*s' here; did you mean '%s'?",
                            STR_ARG(entry->key), meant)
                     : fail(project, entry->key_offset, "there is no key '%.*s' here; there is: %s",
                            STR_ARG(entry->key), list);
    }
    return true;
}

#define KEY_READER(name, expression)                                       \
    static bool name(Project *project, const TomlEntry *entry, void *to) { \
        (void)to;                                                          \
        return expression;                                                 \
    }

KEY_READER(read_source_root, read_root(project, entry))
KEY_READER(read_baseline, read_path(project, entry, &project->baseline_file))
KEY_READER(read_triton, read_setting(project, entry, &project->triton))
KEY_READER(read_target, read_setting(project, entry, &project->target))
KEY_READER(read_gsan, read_setting(project, entry, &project->gsan))
KEY_READER(read_mma_order, read_setting(project, entry, &project->mma_order))
KEY_READER(read_require, read_setting(project, entry, &project->require))
KEY_READER(read_timeout, read_number(project, entry, MOST_SECONDS, &project->timeout))
KEY_READER(read_budget, read_number(project, entry, INT64_MAX / 2, &project->budget))
KEY_READER(read_include, read_patterns(project, entry, &project->include))
KEY_READER(read_exclude, read_patterns(project, entry, &project->exclude))
KEY_READER(read_select, read_rules(project, entry, &project->layers[LAYER_FILE].select))
KEY_READER(read_ignore, read_rules(project, entry, &project->layers[LAYER_FILE].ignore))
KEY_READER(read_severity, read_severities(project, entry, ""))

static bool read_paths(Project *project, const TomlEntry *entry, void *to) {
    static const KeyReader keys[] = {{"include", read_include}, {"exclude", read_exclude}, {0}};
    return is_kind(project, entry, TOML_TABLE) && read_table(project, &entry->value, keys, to);
}

static bool read_rule_table(Project *project, const TomlEntry *entry, void *to) {
    static const KeyReader keys[] = {{"select", read_select}, {"ignore", read_ignore}, {0}};
    return is_kind(project, entry, TOML_TABLE) && read_table(project, &entry->value, keys, to);
}

static bool read_launch_path(Project *project, const TomlEntry *entry, void *to) {
    ProjectLaunch *launch = to;
    return is_kind(project, entry, TOML_STRING) && read_pattern(project, entry, &launch->pattern);
}

static bool read_launch_file(Project *project, const TomlEntry *entry, void *to) {
    ProjectLaunch *launch = to;
    return read_path(project, entry, &launch->file);
}

static bool read_launches(Project *project, const TomlEntry *list, void *to) {
    static const KeyReader keys[] = {{"path", read_launch_path}, {"file", read_launch_file}, {0}};
    (void)to;
    if (!is_kind(project, list, TOML_ARRAY))
        return false;
    for (const TomlEntry *entry = list->value.first; entry; entry = entry->next) {
        ProjectLaunch launch = {0};
        if (entry->value.kind != TOML_TABLE)
            return fail(project, entry->value.offset, "launches are tables, [[launch]]");
        if (!read_table(project, &entry->value, keys, &launch))
            return false;
        if (!launch.pattern.size || !launch.file)
            return fail(project, entry->value.offset, "a launch needs a 'path', a pattern of inputs, and a 'file'");
        *ARENA_PUSH(&project->arena, project->launches, project->launch_count, project->launch_capacity) = launch;
    }
    return true;
}

static bool read_kernel_name(Project *project, const TomlEntry *entry, void *to) {
    ProjectKernel *kernel = to;
    return is_kind(project, entry, TOML_STRING) && read_pattern(project, entry, &kernel->pattern);
}

static bool read_requires(Project *project, const TomlEntry *list, void *to) {
    ProjectKernel *kernel = to;
    if (!is_kind(project, list, TOML_ARRAY))
        return false;
    for (const TomlEntry *entry = list->value.first; entry; entry = entry->next) {
        size_t at;
        if (entry->value.kind != TOML_STRING)
            return fail(project, entry->value.offset, "'requires' must be a list of requirements in quotes");
        Requirement *requires = ARENA_PUSH(&project->arena, kernel->requires, kernel->count, kernel->capacity);
        const char *problem = requirement_read(&project->arena, entry->value.text, requires, &at);
        if (problem)
            return fail(project, entry->value.offset + 1 + at, "%s", problem);
        Text from = {0};
        text_addf(&from, "%s:%u", project->file, source_place(project->source, entry->value.offset).line);
        requires->from = text_keep(&from, &project->arena);
    }
    return true;
}

static bool read_kernels(Project *project, const TomlEntry *list, void *to) {
    static const KeyReader keys[] = {{"name", read_kernel_name}, {"requires", read_requires}, {0}};
    (void)to;
    if (!is_kind(project, list, TOML_ARRAY))
        return false;
    for (const TomlEntry *entry = list->value.first; entry; entry = entry->next) {
        ProjectKernel kernel = {0};
        if (entry->value.kind != TOML_TABLE)
            return fail(project, entry->value.offset, "kernels are tables, [[kernel]]");
        if (!read_table(project, &entry->value, keys, &kernel))
            return false;
        if (!kernel.pattern.size || !kernel.count)
            return fail(project, entry->value.offset,
                        "a kernel needs a 'name', which may be a pattern, and 'requires'");
        *ARENA_PUSH(&project->arena, project->kernels, project->kernel_count, project->kernel_capacity) = kernel;
    }
    return true;
}

static const KeyReader top_keys[] = {
    {"rules", read_rule_table},        {"severity", read_severity}, {"paths", read_paths},
    {"launch", read_launches},         {"kernel", read_kernels},    {"baseline", read_baseline},
    {"source-root", read_source_root}, {"triton", read_triton},     {"target", read_target},
    {"timeout", read_timeout},         {"budget", read_budget},     {"gsan", read_gsan},
    {"mma-order", read_mma_order},     {"require", read_require},   {0}};

/* ---- The file and the command line ---------------------------------------------------------------- */

typedef struct ConfigReading {
    Project *project;
    const char *path, *key, *value;
    bool good;
} ConfigReading;

/* A project file is small, and no device or pipe. */
static bool open_file(Project *project, const char *path) {
    struct stat status;
    const char *problem = NULL;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return refuse(project, "%s: it is not a regular file", path);
    project->source = source_read(path, &problem);
    return project->source || refuse(project, "%s: cannot be read: %s", path, problem);
}

/* [tool.weir] of a pyproject.toml; else all of it. NULL: there is none, or something is wrong with it. */
static const TomlValue *read_root_table(Project *project, bool part) {
    static const char *const names[] = {"tool", "weir"};
    if (part) {
        Source *own = pyproject_part(project->source);
        if (!own) {
            refuse(project, "%s: there is no [tool.weir] in it", project->file);
            return NULL;
        }
        source_free(project->source);
        project->source = own;
    }
    const TomlValue *root = toml_read(&project->arena, project->source, &project->diagnostics);
    for (unsigned i = 0; part && root && i < 2; i++) {
        const TomlEntry *entry = root->first;
        while (entry && !str_is(entry->key, names[i]))
            entry = entry->next;
        root = entry && entry->value.kind == TOML_TABLE ? &entry->value : NULL;
        if (!root)
            fail(project, entry ? entry->value.offset : 0, "[tool.weir] must be a table");
    }
    return root;
}

static void read_file(void *context) {
    ConfigReading *reading = context;
    Project *project = reading->project;
    const char *slash = strrchr(reading->path, '/');
    project->file = arena_copy(&project->arena, reading->path, strlen(reading->path));
    if (slash)
        project->folder =
            slash == reading->path ? "/" : arena_copy(&project->arena, reading->path, (size_t)(slash - reading->path));
    project->source_root = project->folder;
    if (!project->source && !open_file(project, reading->path))
        return;
    const TomlValue *root = read_root_table(project, strcmp(slash ? slash + 1 : reading->path, "pyproject.toml") == 0);
    reading->good = root && read_table(project, root, top_keys, NULL);
}

static bool read_project(Project *project, const char *path) {
    ConfigReading reading = {.project = project, .path = path};
    if (!project_attempt(project, read_file, &reading))
        project->problem = "there is not enough memory for the project file";
    return reading.good;
}

bool project_read(Project *project, const char *path) {
    return read_project(project, path);
}

bool project_read_text(Project *project, Source *source) {
    project->source = source;
    return read_project(project, source->name);
}

static bool set_severity(Project *project, RuleLayer *layer, const char *value) {
    const char *equals = strchr(value, '=');
    const char *name = equals ? arena_copy(&project->arena, value, (size_t)(equals - value)) : "";
    if (!equals || !*name || !equals[1])
        return refuse(project, "--severity takes RULE=error, RULE=warning or RULE=note, not '%s'", value);
    Str unknown = rule_list_unknown(name);
    if (unknown.data)
        return refuse(project, "there is no rule '%.*s'; %s", STR_ARG(unknown), instead(project, unknown));
    return add_change(project, layer, name, equals + 1) ||
           refuse(project, "a severity must be error, warning or note, not '%s'", equals + 1);
}

static bool set_rules(Project *project, const char **list, const char *value) {
    Str unknown = rule_list_unknown(value);
    if (unknown.data)
        return refuse(project, "there is no rule '%.*s'; %s", STR_ARG(unknown), instead(project, unknown));
    *list = listed(project, *list, value);
    return true;
}

static bool set_path(Project *project, const char **path, const char *value) {
    *path = arena_copy(&project->arena, value, strlen(value));
    return *value || refuse(project, "a path must not be empty");
}

static bool set_root(Project *project, const char *value) {
    return set_path(project, &project->source_root, value) &&
           (is_folder(value) || refuse(project, "%s: no such source folder", value));
}

static void set_value(void *context) {
    ConfigReading *reading = context;
    Project *project = reading->project;
    RuleLayer *layer = &project->layers[LAYER_COMMAND];
    const char *value = reading->value;
    if (strcmp(reading->key, "select") == 0)
        reading->good = set_rules(project, &layer->select, value);
    else if (strcmp(reading->key, "ignore") == 0)
        reading->good = set_rules(project, &layer->ignore, value);
    else if (strcmp(reading->key, "severity") == 0)
        reading->good = set_severity(project, layer, value);
    else if (strcmp(reading->key, "source-root") == 0)
        reading->good = set_root(project, value);
    else if (strcmp(reading->key, "baseline") == 0)
        reading->good = set_path(project, &project->baseline_file, value);
    else if (strcmp(reading->key, "require") == 0)
        reading->good = set_path(project, &project->require.text, value);
    else
        refuse(project, "a project has no option '%s'", reading->key);
}

bool project_set(Project *project, const char *key, const char *value) {
    ConfigReading reading = {.project = project, .key = key, .value = value};
    if (!project_attempt(project, set_value, &reading))
        project->problem = "there is not enough memory";
    return reading.good;
}
