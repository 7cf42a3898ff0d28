/* weir launch: a launch file for a kernel that has none. On a terminal it asks for what is open, elsewhere it is to be
 * filled in. */
#include "cli/cli.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A kernel that may be meant. */
typedef struct LaunchKernel {
    weir_module *module;
    char *name;
} LaunchKernel;

typedef struct LaunchWanted {
    const Options *options;
    const char *path; /* of the kernel's file */
    bool asks;
    LaunchKernel *kernels;
    size_t count, written;
} LaunchWanted;

/* ---- A file's names ------------------------------------------------------------------------------ */

/* Where Weir looks for the launch of K.ttgir: K.launch.json, then K.launch.2.json; to be freed. */
static char *launch_path(const char *path, size_t number) {
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    size_t size = dot ? (size_t)(dot - path) : strlen(path);
    if (size > 7 && strncmp(path + size - 7, ".launch", 7) == 0) /* it is one */
        size -= 7;
    char *name = NULL;
    if ((number > 1 ? asprintf(&name, "%.*s.launch.%zu.json", (int)size, path, number)
                    : asprintf(&name, "%.*s.launch.json", (int)size, path)) < 0)
        return NULL;
    return name;
}

/* ---- What is open -------------------------------------------------------------------------------- */

/* A place of a template's JSON. */
typedef struct TemplateWalk {
    const char *at;
    char keys[4][80]; /* of the objects around it */
    unsigned depth, item;
} TemplateWalk;

static const char *behind_text(const char *at) {
    for (at++; *at && *at != '"'; at++)
        at += *at == '\\' && at[1];
    return *at ? at + 1 : at;
}

/* To the next null, whose keys it then has; false: there is none. */
static bool next_null(TemplateWalk *walk) {
    for (; *walk->at; walk->at++) {
        const char *at = walk->at;
        if (*at == '"') {
            const char *end = behind_text(at);
            if (*end == ':' && walk->depth && walk->depth <= 4)
                snprintf(walk->keys[walk->depth - 1], sizeof walk->keys[0], "%.*s", (int)(end - at - 2), at + 1);
            walk->at = end - 1;
        } else if (*at == '{') {
            walk->depth++;
        } else if (*at == '}') {
            walk->depth -= walk->depth > 0;
        } else if (*at == '[' || *at == ',') {
            walk->item = *at == ',' ? walk->item + 1 : 0;
        } else if (strncmp(at, "null", 4) == 0) {
            return true;
        }
    }
    return false;
}

static size_t count_nulls(const char *text) {
    TemplateWalk walk = {.at = text};
    size_t count = 0;
    for (; next_null(&walk); walk.at += 4)
        count++;
    return count;
}

/* What "x-parameters" says of a parameter; no more than a pointer into the text, up to a quote. */
static const char *sentence_of(const char *text, const char *key) {
    const char *sentences = strstr(text, "\"x-parameters\"");
    char quoted[96];
    snprintf(quoted, sizeof quoted, "\"%s\": \"", key);
    const char *found = sentences ? strstr(sentences, quoted) : NULL;
    return found ? found + strlen(quoted) : NULL;
}

/* ---- Asking -------------------------------------------------------------------------------------- */

/* A line of the terminal without its blanks; NULL: there is no more. */
static char *answer(char *line, int size) {
    fflush(stderr);
    if (!fgets(line, size, stdin)) {
        fputc('\n', stderr);
        return NULL;
    }
    char *begin = line + strspn(line, " \t"), *end = begin + strlen(begin);
    while (end > begin && isspace((unsigned char)end[-1]))
        *--end = 0;
    return begin;
}

typedef enum AnswerKind { ANSWER_NUMBER, ANSWER_NUMBERS, ANSWER_TEXT } AnswerKind;

static bool is_number(const char *text, size_t size) {
    char copy[64], *end;
    snprintf(copy, sizeof copy, "%.*s", (int)size, text);
    if (strcmp(copy, "true") == 0 || strcmp(copy, "false") == 0)
        return true;
    if (!size || size >= sizeof copy || strspn(copy, "+-.0123456789eE") != size || *copy == '+' || *copy == '.')
        return false;
    strtod(copy, &end);
    return !*end;
}

/* Whether an answer is what JSON may have there: a number, several with commas, or a text. */
static bool is_answer(const char *text, AnswerKind kind) {
    if (kind == ANSWER_TEXT)
        return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEF0123456789") == strlen(text);
    for (;;) {
        const char *comma = kind == ANSWER_NUMBERS ? strchr(text, ',') : NULL;
        size_t size = comma ? (size_t)(comma - text) : strlen(text);
        while (size && text[size - 1] == ' ')
            size--;
        if (!is_number(text, size))
            return false;
        if (!comma)
            return true;
        text = comma + 1 + strspn(comma + 1, " ");
    }
}

/* "grid.x", "count", "input.shape" */
static AnswerKind put_question(const TemplateWalk *walk, const char *text) {
    const char *key = walk->keys[walk->depth - 1], *argument = walk->depth > 1 ? walk->keys[1] : key;
    const char *sentence = walk->depth > 1 ? sentence_of(text, argument) : NULL;
    bool shape = strcmp(key, "shape") == 0, type = strcmp(key, "dtype") == 0 || strcmp(key, "bytes") == 0;
    bool first = walk->depth <= 2 || (shape && walk->item == 0) || strcmp(key, "bytes") == 0;
    bool alone = shape && walk->at[-1] == '[' && walk->at[4] == ']';
    if (walk->depth == 1 && (strcmp(key, "grid") == 0 || strcmp(key, "block") == 0 || strcmp(key, "cluster") == 0))
        fprintf(stderr, "%s.%c: ", key, "xyz"[walk->item % 3]);
    else if (walk->depth <= 2)
        fprintf(stderr, sentence ? "%s (%.*s): " : "%s: ", argument, sentence ? (int)strcspn(sentence, "\"") : 0,
                sentence);
    else {
        if (first && sentence)
            fprintf(stderr, "%s: %.*s\n", argument, (int)strcspn(sentence, "\""), sentence);
        fprintf(stderr, "%s.%s%s: ", argument, key,
                alone  ? " (64, or 64, 32, ...)"
                : type ? strcmp(key, "dtype") == 0 ? " (f32, i32, ...)" : " (in hexadecimal)"
                       : "");
    }
    return alone ? ANSWER_NUMBERS : type ? ANSWER_TEXT : ANSWER_NUMBER;
}

/* A template with answers in place of what is open; to be freed. Enter leaves it open. */
static char *filled_in(const char *text) {
    char line[512], *all = NULL, *said = line;
    size_t size;
    FILE *to = open_memstream(&all, &size);
    TemplateWalk walk = {.at = text};
    const char *from = text;
    if (to)
        fprintf(stderr, "Enter alone leaves a value open.\n");
    while (to && said && next_null(&walk)) {
        AnswerKind kind = put_question(&walk, text);
        while ((said = answer(line, sizeof line)) && *said && !is_answer(said, kind))
            fprintf(stderr, kind == ANSWER_TEXT ? "letters and digits: " : "a number%s: ",
                    kind == ANSWER_NUMBERS ? ", or several with commas" : "");
        fwrite(from, 1, (size_t)(walk.at - from), to);
        fprintf(to, kind == ANSWER_TEXT && said && *said ? "\"%s\"" : "%s", said && *said ? said : "null");
        from = walk.at += 4;
    }
    if (to)
        fputs(from, to);
    return to && fclose(to) == 0 ? all : NULL;
}

/* ---- Writing ------------------------------------------------------------------------------------- */

/* What has to be done next. */
static void say_next(const LaunchWanted *wanted, const char *to, size_t open) {
    char *place = launch_path(wanted->path, 1); /* where it is found */
    bool standard = strcmp(wanted->path, "-") == 0;
    fputs("weir: ", stderr);
    if (open)
        fprintf(stderr, "%zu value%s null: replace %s, or delete the parameter, and Weir chooses it; ", open,
                open == 1 ? " is" : "s are", open == 1 ? "it" : "each");
    if (standard)
        fputs("weir check --launch FILE takes it\n", stderr);
    else if (!to && place)
        fprintf(stderr, "save it as %s, where weir check finds it\n", place);
    else if (to && place && strcmp(to, place) != 0)
        fprintf(stderr, "weir check --launch %s %s takes it\n", to, wanted->path);
    else
        fprintf(stderr, "weir check %s takes it\n", wanted->path);
    free(place);
}

static bool write_launch(LaunchWanted *wanted, const char *text) {
    const Options *options = wanted->options;
    const char *path = options->output;
    char line[512], *asked = NULL, *numbered = NULL;
    if (wanted->asks && !path && isatty(STDOUT_FILENO)) {
        asked = launch_path(wanted->path, 1);
        fprintf(stderr, "file (%s; - prints it): ", asked ? asked : "");
        char *said = answer(line, sizeof line);
        path = said && *said ? said : asked;
        path = path && strcmp(path, "-") == 0 ? NULL : path;
    } else if (path && wanted->written) {
        path = numbered = launch_path(path, wanted->written + 1);
    }
    Output *output = output_open(path);
    bool good = output && output_write(output, text, strlen(text)) == 0;
    if (output)
        good &= output_close(output, good);
    if (good && !options->launch_template && (wanted->asks || !wanted->written))
        say_next(wanted, path, count_nulls(text));
    wanted->written++;
    free(asked);
    free(numbered);
    return good;
}

/* ---- The kernel ---------------------------------------------------------------------------------- */

static bool fail(const char *path, const char *sentence) {
    complain("%s: %s", path, sentence);
    return false;
}

static bool write_template(LaunchWanted *wanted, const LaunchKernel *kernel) {
    char *text = NULL, *filled = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    bool good = to && weir_launch_template(kernel->module, kernel->name, stream_write, to) == 0;
    good &= to && fclose(to) == 0;
    if (good && wanted->asks && count_nulls(text))
        good = (filled = filled_in(text)) != NULL;
    good =
        good ? write_launch(wanted, filled ? filled : text) : fail(wanted->path, "the template could not be written");
    free(filled);
    free(text);
    return good;
}

/* Their names, as their source has them and as --kernel takes them. */
static void list_kernels(const LaunchWanted *wanted, const char *before, const char *between, bool numbered) {
    for (size_t i = 0; i < wanted->count; i++) {
        const char *name = wanted->kernels[i].name;
        fputs(i ? between : before, stderr);
        if (numbered)
            fprintf(stderr, "%3zu  ", i + 1);
        weir_demangle((weir_string){name, strlen(name)}, 0, stream_write, stderr);
    }
    fputc('\n', stderr);
}

/* By its number, or a name that one alone has; NULL: none was chosen. */
static const LaunchKernel *ask_kernel(const LaunchWanted *wanted) {
    char line[512], *said;
    list_kernels(wanted, "", "\n", true);
    for (;;) {
        const LaunchKernel *named = NULL;
        fprintf(stderr, "kernel (1 to %zu, or a name): ", wanted->count);
        if (!(said = answer(line, sizeof line)))
            return NULL;
        size_t number = strtoul(said, NULL, 10), meant = 0;
        if (number >= 1 && number <= wanted->count)
            return &wanted->kernels[number - 1];
        for (size_t i = 0; i < wanted->count; i++) {
            const char *name = wanted->kernels[i].name;
            if (!weir_name_meant((weir_string){name, strlen(name)}, said))
                continue;
            named = &wanted->kernels[i];
            meant++;
        }
        if (meant == 1)
            return named;
    }
}

/* Those that may be meant: the one of just that name, or all that it may stand for. */
static void add_kernels(LaunchWanted *wanted, weir_module *module) {
    const char *kernel = wanted->options->run.kernel;
    size_t count = weir_kernel_count(module);
    bool exact = false;
    for (size_t i = 0; i < count && kernel; i++) {
        weir_string name = weir_kernel_name(module, i);
        exact |= name.size == strlen(kernel) && memcmp(name.data, kernel, name.size) == 0;
    }
    LaunchKernel *kernels = realloc(wanted->kernels, (wanted->count + count + 1) * sizeof *kernels);
    for (size_t i = 0; i < count && kernels; i++) {
        weir_string name = weir_kernel_name(module, i);
        bool same = kernel && name.size == strlen(kernel) && memcmp(name.data, kernel, name.size) == 0;
        if (!kernel || same || (!exact && weir_name_meant(name, kernel)))
            kernels[wanted->count++] = (LaunchKernel){module, strndup(name.data, name.size)};
    }
    wanted->kernels = kernels ? kernels : wanted->kernels;
}

static bool choose_and_write(LaunchWanted *wanted) {
    const Options *options = wanted->options;
    bool each = options->launch_template && options->output && !options->run.kernel, good = true;
    const LaunchKernel *chosen = wanted->kernels;
    if (!wanted->count)
        return fail(wanted->path, options->run.kernel ? "there is no such kernel in it" : "there is no kernel in it");
    if (wanted->count > 1 && wanted->asks)
        chosen = ask_kernel(wanted);
    if (!chosen)
        return false;
    if (wanted->count > 1 && !wanted->asks && !each) {
        fprintf(stderr, "weir: %s: a launch file is for one kernel; --kernel or --module picks one of these",
                wanted->path);
        list_kernels(wanted, ": ", ", ", false);
        return false;
    }
    for (size_t i = 0; i < (each ? wanted->count : 1) && good; i++)
        good = write_template(wanted, &chosen[i]);
    return good;
}

/* Of a pass log the module with most to report, unless one was named. */
static bool template_of_file(LaunchWanted *wanted, weir_file *file) {
    const Options *options = wanted->options;
    const char *why;
    bool good = true, log = weir_file_is_pass_log(file) && !options->module;
    size_t only = log ? weir_pick_module(file, &why) : 0, count = weir_module_count(file);
    weir_module **modules = calloc(count + 1, sizeof *modules);
    for (size_t i = 0; i < count && modules; i++) {
        if (log ? i != only : !module_picked(file, i, options->module))
            continue;
        modules[i] = weir_parse(file, i, 0);
        if (modules[i] && weir_module_ok(modules[i]))
            add_kernels(wanted, modules[i]);
        else if (modules[i])
            weir_report(file, modules[i], color_wanted(options, STDERR_FILENO, NULL), stream_write, stderr);
        else
            fail(wanted->path, "there is not enough memory");
        good &= modules[i] && weir_module_ok(modules[i]);
    }
    good = modules && good && choose_and_write(wanted);
    for (size_t i = 0; i < count && modules; i++)
        weir_module_free(modules[i]);
    for (size_t i = 0; i < wanted->count; i++)
        free(wanted->kernels[i].name);
    free(wanted->kernels);
    free(modules);
    return good;
}

int command_launch(Options *options) {
    if (options->operands.count > 1 || options->inputs.count > 1)
        wrong_usage(options, "a template is for one FILE");
    for (size_t i = 0; i < options->unread.paths.count; i++)
        fail(options->unread.paths.items[i], options->unread.reasons.items[i]);
    weir_context *weir = weir_create();
    const char *path = options->inputs.count ? options->inputs.items[0] : NULL;
    char *said = NULL, *why = NULL;
    weir_file *file = weir && path ? input_open(weir, options, path, &said, &why) : NULL;
    if (said)
        fputs(said, stderr);
    if (path && !file)
        complain("%s: %s", path, why ? why : "there is not enough memory");
    free(said);
    free(why);
    bool terminal = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
    LaunchWanted wanted = {.options = options,
                           .path = path,
                           .asks = terminal && !options->launch_template && path && strcmp(path, "-") != 0};
    bool good = file && template_of_file(&wanted, file);
    weir_close(file);
    weir_destroy(weir);
    return good ? STATUS_OK : STATUS_ERROR;
}
