/* Results of inputs that have not changed: what a reporter counted of them beside what was written. */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Where, and what they depend on --------------------------------------------------------------- */

/* To be freed. NULL: there is no such folder, or none is wanted. */
static char *folder_of(const Options *options) {
    const char *given = getenv("WEIR_CACHE"), *caches = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char *folder = NULL;
    int size = -1;
    if (options->cache)
        return strdup(options->cache);
    if (given)
        return *given ? strdup(given) : NULL;
    if (caches && *caches == '/')
        size = asprintf(&folder, "%s/weir/verdicts", caches);
    else if (home && *home == '/' && access(home, W_OK) == 0) /* a home that is not there is not made */
        size = asprintf(&folder, "%s/.cache/weir/verdicts", home);
    return size < 0 ? NULL : folder;
}

/* A stream whose bytes are a key. */
static void add_text(FILE *key, const char *text) {
    fprintf(key, "%zd:%s;", text ? (ssize_t)strlen(text) : (ssize_t)-1, text ? text : "");
}

/* What an option sets, by the table: one that is new is part of the key by itself. */
static void add_option(FILE *key, const Options *options, const Option *option) {
    const void *at = (const char *)options + option->at;
    const Paths *list = at;
    fprintf(key, "%s=", option->name);
    switch (option->kind) {
    case FIELD_FLAG:
        fprintf(key, "%d;", *(const bool *)at);
        break;
    case FIELD_TEXT:
    case FIELD_WORD:
    case FIELD_RULES:
        add_text(key, *(const char *const *)at);
        break;
    case FIELD_NUMBER:
    case FIELD_CHOICE:
    case FIELD_VALUE:
    case FIELD_BITS:
        fprintf(key, "%u;", *(const unsigned *)at);
        break;
    case FIELD_LONG:
        fprintf(key, "%llu;", (unsigned long long)*(const uint64_t *)at);
        break;
    case FIELD_LIST:
        for (size_t i = 0; i < list->count; i++)
            add_text(key, list->items[i]);
        break;
    }
}

static void add_how(FILE *key, const weir_write_options *how) {
    if (how)
        fprintf(key, "%d,%d,%u,%u,%u;", how->subject, how->format, how->flags, how->width, how->findings);
    add_text(key, how ? how->source_root : NULL);
}

/* What has no part in a result: where it goes, and how fast it comes. */
static bool is_aside(const Option *option) {
    static const char *const names[] = {"cache", "no-cache", "jobs", "output", "shard"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(option->name, names[i]) == 0)
            return true;
    return option->now;
}

weir_kept *kept_open(const Options *options, const weir_write_options *how, const weir_write_options *also_how) {
    char *folder = options->no_cache || options->witness ? NULL : folder_of(options), *key = NULL;
    size_t size = 0;
    FILE *stream = folder ? open_memstream(&key, &size) : NULL;
    weir_kept *kept = NULL;
    if (stream) {
        for (size_t i = 0; i < option_count; i++)
            if (option_table[i].commands & 1u << options->command && !is_aside(&option_table[i]))
                add_option(stream, options, &option_table[i]);
        add_how(stream, how);
        add_how(stream, also_how);
        fprintf(stream, "%d,%d;", color_wanted(options, STDERR_FILENO, NULL), options->inputs.count < 2);
        if (fclose(stream) == 0)
            kept = weir_kept_open(folder, options->project, key, size);
    }
    if (options->cache && !options->no_cache && !options->witness && !kept)
        complain("%s: results cannot be kept there", options->cache);
    free(folder);
    free(key);
    return kept;
}

/* ---- What was counted ----------------------------------------------------------------------------- */

typedef struct Counted {
    weir_verdict verdict;
    bool kernel_found;
    size_t kernels, programs[WEIR_VERDICT_ERROR], counts[WEIR_VERDICT_ERROR + 1], scopes[WEIR_SCOPE_EVERY_LAUNCH + 1];
    size_t severities[WEIR_NOTE + 1], suppressed, baselined, ignored;
    weir_coverage coverage;
} Counted;

/* Both ways. */
static void count(Reporter *reporter, Counted *counted, bool back) {
#define FIELD(name)                                                                                          \
    memcpy(back ? (void *)&reporter->name : (void *)&counted->name, back ? &counted->name : &reporter->name, \
           sizeof counted->name);
    FIELD(verdict)
    FIELD(kernel_found)
    FIELD(kernels)
    FIELD(programs)
    FIELD(counts)
    FIELD(scopes)
    FIELD(severities)
    FIELD(suppressed)
    FIELD(baselined)
    FIELD(ignored)
    FIELD(coverage)
#undef FIELD
}

static bool ends_with(const char *path, const char *ending) {
    size_t size = strlen(path), length = strlen(ending);
    return size >= length && strcmp(path + size - length, ending) == 0;
}

/* A file that can be read again, and is no recording. */
bool kept_can(const char *path) {
    return strcmp(path, "-") != 0 && !ends_with(path, RECORDINGS_END) && !ends_with(path, ORDER_LOGS_END);
}

static weir_kept_input input_of(const char *path) {
    weir_kept_input input = {.path = path};
    for (char *beside; (beside = launch_beside(path, (unsigned)input.launches + 1)); free(beside))
        input.launches++;
    return input;
}

/* Its parts: as many as are written. */
static size_t parts_of(const Reporter *reporter, weir_writer *parts[2]) {
    size_t written = 0;
    if (reporter->writer)
        parts[written++] = reporter->writer;
    if (reporter->also)
        parts[written++] = reporter->also;
    return written;
}

/* Behind what was counted: findings by rule; how many reasons there are, and how often each came up; what was said of
 * errors. */
static int take_rest(void *context, const char *data, size_t size) {
    Reporter *reporter = context;
    const char *end = data + size;
    size_t rules = weir_rule_count() * sizeof *reporter->rules, reasons, times;
    if (size < rules + sizeof reasons)
        return -1;
    memcpy(reporter->rules, data, rules);
    memcpy(&reasons, data + rules, sizeof reasons);
    data += rules + sizeof reasons;
    for (size_t i = 0; i < reasons; i++) {
        const char *text = data + sizeof times, *stop = text < end ? memchr(text, 0, (size_t)(end - text)) : NULL;
        if (!stop)
            return -1;
        memcpy(&times, data, sizeof times);
        tally_add(&reporter->reasons, (weir_string){text, (size_t)(stop - text)}, times);
        data = stop + 1;
    }
    return reporter->write_error(reporter->error_to, data, (size_t)(end - data));
}

bool kept_take(weir_kept *kept, const char *path, Reporter *reporter) {
    weir_writer *parts[2];
    Counted counted;
    if (!kept)
        return false;
    weir_kept_input input = input_of(path);
    if (!weir_kept_take(kept, &input, parts, parts_of(reporter, parts), &counted, sizeof counted, take_rest, reporter))
        return false;
    count(reporter, &counted, true);
    reporter->kept = 1;
    return true;
}

void kept_begin(const weir_kept *kept) {
    if (kept)
        weir_kept_begin();
}

void kept_end(weir_kept *kept, const char *path, const Reporter *reporter, const char *errors, size_t size) {
    weir_writer *parts[2];
    Counted counted;
    char *data = NULL;
    size_t bytes = 0;
    if (!kept)
        return;
    memset(&counted, 0, sizeof counted);
    count((Reporter *)reporter, &counted, false);
    FILE *stream = open_memstream(&data, &bytes);
    bool good = stream != NULL;
    if (stream) {
        fwrite(&counted, sizeof counted, 1, stream);
        fwrite(reporter->rules, sizeof *reporter->rules, weir_rule_count(), stream);
        fwrite(&reporter->reasons.count, sizeof reporter->reasons.count, 1, stream);
        for (size_t i = 0; i < reporter->reasons.count; i++) {
            const Count *reason = &reporter->reasons.items[i];
            fwrite(&reason->times, sizeof reason->times, 1, stream);
            fwrite(reason->text, strlen(reason->text) + 1, 1, stream);
        }
        fwrite(errors, 1, size, stream);
        good = fclose(stream) == 0;
    }
    bool keep = good && !reporter->aside && !reporter->unseen.count && !reporter->suppressed &&
                !reporter->baselined;
    weir_kept_input input = input_of(path);
    weir_kept_end(keep ? kept : NULL, &input, parts, parts_of(reporter, parts), data, bytes);
    free(data);
}
