/* The baseline read and written. */
#include "config/baseline.h"

#include "base/json.h"
#include "base/order.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGEST = 64 << 20, VERSION = 1 };

/* ---- Entries -------------------------------------------------------------------------------------- */

const BaselineEntry *baseline_find(Baseline *baseline, const Finding *finding) {
    BaselineEntry *entry = map_get(&baseline->entries, str_of(finding->fingerprint));
    if (!entry || strcmp(entry->rule, rule_of(finding->rule)->id) != 0)
        return NULL;
    entry->seen = true;
    return entry;
}

BaselineEntry *baseline_add(Project *project, const BaselineEntry *entry) {
    Baseline *baseline = project->baseline;
    BaselineEntry *added = ARENA_NEW(&project->arena, BaselineEntry);
    *added = *entry;
    void **place = map_put(&baseline->entries, str_of(added->fingerprint));
    if (place && !*place)
        *place = added;
    *ARENA_PUSH(&project->arena, baseline->items, baseline->count, baseline->capacity) = added;
    return added;
}

bool baseline_looked_at(Project *project, const char *kernel) {
    Baseline *baseline = project->baseline;
    bool any = project->updates;
    for (uint32_t i = 0; i < baseline->count && !any; i++)
        any = strcmp(baseline->items[i]->kernel, kernel) == 0;
    if (map_get(&baseline->kernels, str_of(kernel)))
        return any;
    void **place = map_put(&baseline->kernels, str_of(arena_copy(&project->arena, kernel, strlen(kernel))));
    if (place)
        *place = baseline;
    return any;
}

bool baseline_is_gone(const Baseline *baseline, const BaselineEntry *entry) {
    return !entry->seen && map_get(&baseline->kernels, str_of(entry->kernel));
}

/* ---- Reading -------------------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static bool refuse(Project *project, const char *file, const char *format, ...) {
    Text text = {0};
    va_list arguments;
    va_start(arguments, format);
    text_addf(&text, "%s: ", file);
    text_vaddf(&text, format, arguments);
    va_end(arguments);
    project->problem = text_keep(&text, &project->arena);
    return false;
}

static const char *kept(Project *project, const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    const char *text = json_string_value(value);
    return text ? arena_copy(&project->arena, text, json_string_length(value)) : NULL;
}

/* Where a fingerprint stands in the file, which has it once. */
static uint32_t line_of(Source *source, const char *fingerprint) {
    const char *at = memmem(source->data, source->size, fingerprint, strlen(fingerprint));
    return at ? source_place(source, (size_t)(at - source->data)).line : 0;
}

static bool read_entry(Project *project, Source *source, const json_t *object, size_t number) {
    BaselineEntry entry = {.file = kept(project, object, "file"),
                           .kernel = kept(project, object, "kernel"),
                           .rule = kept(project, object, "rule"),
                           .fingerprint = kept(project, object, "fingerprint"),
                           .text = kept(project, object, "text")};
    if (!entry.file || !entry.kernel || !entry.rule || !entry.fingerprint || !entry.text || !*entry.fingerprint)
        return refuse(project, source->name,
                      "finding %zu of it needs 'file', 'kernel', 'rule', 'fingerprint' and 'text', in quotes",
                      number + 1);
    if (map_get(&project->baseline->entries, str_of(entry.fingerprint)))
        return true; /* twice the same */
    entry.line = line_of(source, entry.fingerprint);
    baseline_add(project, &entry);
    return true;
}

static bool read_entries(Project *project, Source *source, const json_t *root) {
    const json_t *version = json_object_get(root, "weir-baseline"), *list = json_object_get(root, "findings");
    if (!json_is_integer(version) || !json_is_array(list))
        return refuse(project, source->name, "it is not a baseline: it has no 'weir-baseline' and 'findings'");
    if (json_integer_value(version) != VERSION)
        return refuse(project, source->name, "it is a baseline of version %lld, and this Weir reads version %d",
                      (long long)json_integer_value(version), VERSION);
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!read_entry(project, source, json_array_get(list, i), i))
            return false;
    return true;
}

typedef struct BaselineReading {
    Project *project;
    Source *source;
    json_t *root;
    bool update, good;
} BaselineReading;

/* Opens the file; false: there is none, which may be right, or it cannot be read. */
static bool open_baseline(BaselineReading *reading) {
    Project *project = reading->project;
    const char *problem = NULL, *file = project->baseline_file;
    struct stat status;
    reading->good = reading->update && access(file, F_OK) != 0 && errno == ENOENT;
    if (reading->good)
        return false;
    if (stat(file, &status) == 0 && (!S_ISREG(status.st_mode) || status.st_size > LARGEST))
        return refuse(project, file, "a baseline is a regular file of at most %d bytes", LARGEST);
    reading->source = source_read(file, &problem);
    return reading->source || refuse(project, file, "cannot be read: %s (--update-baseline writes it)", problem);
}

static void read_baseline(void *context) {
    BaselineReading *reading = context;
    Project *project = reading->project;
    json_error_t error;
    project->baseline = ARENA_NEW(&project->arena, Baseline);
    project->updates = reading->update;
    if (!reading->source && !open_baseline(reading))
        return;
    reading->root = json_loadb(reading->source->data, reading->source->size, JSON_REJECT_DUPLICATES, &error);
    if (reading->root)
        reading->good = read_entries(project, reading->source, reading->root);
    else
        refuse(project, reading->source->name, "line %d: it is not JSON: %s", error.line, error.text);
}

static bool attempt(BaselineReading *reading) {
    Project *project = reading->project;
    if (!project_attempt(project, read_baseline, reading)) {
        project->problem = "there is not enough memory for the baseline";
        reading->good = false;
    }
    json_decref(reading->root);
    source_free(reading->source);
    return reading->good;
}

bool project_read_baseline(Project *project, bool update) {
    if (!project->baseline_file && update)
        project->problem = "--update-baseline needs --baseline FILE, or 'baseline' in the project file";
    if (!project->baseline_file)
        return !update;
    return attempt(&(BaselineReading){.project = project, .update = update});
}

bool project_read_baseline_text(Project *project, Source *source) {
    return attempt(&(BaselineReading){.project = project, .source = source});
}

/* ---- Writing -------------------------------------------------------------------------------------- */

ORDER_POINTERS(by_name, BaselineEntry, BY_TEXT(file) BY_TEXT(kernel) BY_TEXT(rule) BY_TEXT(fingerprint))

static void write_entries(const Baseline *baseline, Text *to) {
    Json json = {.to = to};
    json_begin(&json, NULL);
    json_number(&json, "weir-baseline", VERSION);
    json_begin_list(&json, "findings");
    for (uint32_t i = 0; i < baseline->count; i++) {
        const BaselineEntry *entry = baseline->items[i];
        if (baseline_is_gone(baseline, entry))
            continue;
        json_line(&json, 0);
        json_begin(&json, NULL);
        json_text(&json, "file", entry->file);
        json_text(&json, "kernel", entry->kernel);
        json_text(&json, "rule", entry->rule);
        json_text(&json, "fingerprint", entry->fingerprint);
        json_text(&json, "text", entry->text);
        json_end(&json);
    }
    text_char(to, '\n');
    json_end_list(&json);
    json_end(&json);
    text_char(to, '\n');
}

/* Writes all of it to a file of its own, which then takes the name. 0, or what went wrong. */
static int replace_file(const char *path, const char *temporary, int fd, Text *text) {
    size_t written = 0;
    int error = text->failed ? ENOMEM : 0;
    struct stat status;
    mode_t mask = umask(0);
    umask(mask);
    mode_t mode = stat(path, &status) == 0 ? status.st_mode & 0777 : 0666 & ~mask;
    while (!error && written < text->size) {
        ssize_t wrote = write(fd, text->data + written, text->size - written);
        if (wrote < 0 && errno != EINTR)
            error = errno;
        written += wrote > 0 ? (size_t)wrote : 0;
    }
    if (!error && (fchmod(fd, mode) != 0 || fsync(fd) != 0))
        error = errno;
    if (close(fd) != 0 && !error)
        error = errno;
    if (!error && rename(temporary, path) != 0)
        error = errno;
    if (error)
        unlink(temporary);
    return error;
}

typedef struct BaselineWriting {
    Project *project;
    bool good;
} BaselineWriting;

static void write_baseline(void *context) {
    BaselineWriting *writing = context;
    Project *project = writing->project;
    Baseline *baseline = project->baseline;
    Text name = {0}, text = {0};
    text_addf(&name, "%s.XXXXXX", project->baseline_file);
    char *temporary = arena_copy(&project->arena, name.data ? name.data : "", name.size);
    text_free(&name);
    if (baseline->count)
        qsort(baseline->items, baseline->count, sizeof *baseline->items, by_name);
    int fd = mkstemp(temporary), error = fd < 0 ? errno : 0;
    if (!error) {
        write_entries(baseline, &text);
        error = replace_file(project->baseline_file, temporary, fd, &text);
    }
    text_free(&text);
    writing->good = !error || refuse(project, project->baseline_file, "cannot be written: %s", strerror(error));
}

bool project_write_baseline(Project *project) {
    BaselineWriting writing = {.project = project};
    if (!project_attempt(project, write_baseline, &writing))
        project->problem = "there is not enough memory for the baseline";
    return writing.good;
}
