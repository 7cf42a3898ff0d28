/* The parser: a command line, read by the table of options. */
#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define AT(field)       offsetof(Options, field)
#define FLAG(field)     .kind = FIELD_FLAG, .at = AT(field)
#define TEXT(field)     .kind = FIELD_TEXT, .at = AT(field)
#define NUMBER(field)   .kind = FIELD_NUMBER, .at = AT(field)
#define LONG(field)     .kind = FIELD_LONG, .at = AT(field)
#define WORD(field)     .kind = FIELD_WORD, .at = AT(field)
#define CHOICE(field)   .kind = FIELD_CHOICE, .at = AT(field)
#define VALUE(field)    .kind = FIELD_VALUE, .at = AT(field)
#define LIST(field)     .kind = FIELD_LIST, .at = AT(field)
#define RULE_IDS(field) .kind = FIELD_RULES, .at = AT(field)
#define BITS(field)     .kind = FIELD_BITS, .at = AT(field)
#define W(word) \
    { word, 0 }
#define V(word, value) \
    { word, value }
#define WORDS(...)         \
    (const OptionWord[]) { \
        __VA_ARGS__, {     \
            NULL, 0        \
        }                  \
    }
#define OPTION(commands_, name_, letter_, argument_, group_, sets, help_, ...) \
    {.commands = (commands_),                                                  \
     .name = (name_),                                                          \
     .letter = (letter_),                                                      \
     .argument = (argument_),                                                  \
     .group = (group_),                                                        \
     sets,                                                                     \
     .help = (help_),                                                          \
     __VA_ARGS__},
const Option option_table[] = {
#include "cli/options.def"
};
const size_t option_count = sizeof option_table / sizeof *option_table;

/* ---- What is wrong ------------------------------------------------------------------------------ */

void wrong_usage(const Options *options, const char *format, ...) {
    const char *name = commands[options->command].name;
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "weir %s: ", name);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\nTry 'weir %s --help' for more information.\n", name);
    va_end(arguments);
    exit(STATUS_ERROR);
}

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* How many letters are to be added, left out, changed or swapped with the next to make one word of the other; more than
 * a few counts as many. */
static size_t distance(const char *word, const char *other) {
    enum { MOST = 31, MANY = 100 };
    size_t size = strlen(word), width = strlen(other), rows[3][MOST + 1];
    if (size > MOST || width > MOST)
        return MANY;
    for (size_t j = 0; j <= width; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= size; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            row[j] = least(above[j - 1] + (word[i - 1] != other[j - 1]), least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && word[i - 1] == other[j - 2] && word[i - 2] == other[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return rows[size % 3][width];
}

/* How near a name is that may have been meant: it starts like this, or a letter of three is wrong at most. */
static size_t nearness(const char *meant, const char *name) {
    size_t size = strlen(meant), far = distance(meant, name);
    if (size >= 2 && strncmp(meant, name, size) == 0)
        return 1;
    return far <= 2 && far * 3 <= size ? far : SIZE_MAX;
}

const Command *command_find(const char *name) {
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

void command_unknown(const char *name) {
    const Command *near = NULL;
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        size_t far = nearness(name, commands[i].name);
        if (far < best) {
            near = &commands[i];
            best = far;
        }
    }
    if (near)
        complain("there is no command '%s'; did you mean '%s'?", name, near->name);
    else
        complain("there is no command '%s'; 'weir --help' lists them", name);
}

/* Ends the program; a name that is wrong by a slip is set right, and one that another command takes is known. */
static _Noreturn void unknown_option(const Options *options, const char *name) {
    const Option *near = NULL;
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < option_count; i++) {
        const Option *option = &option_table[i];
        bool taken = !option->now && option->commands & 1u << options->command;
        size_t far = taken ? nearness(name, option->name) : SIZE_MAX;
        if (far < best) {
            near = option;
            best = far;
        }
    }
    if (near)
        wrong_usage(options, "unknown option '--%s'; did you mean '--%s'?", name, near->name);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (option_find((CommandId)i, name, strlen(name)))
            wrong_usage(options, "unknown option '--%s', which is one of 'weir %s'", name, commands[i].name);
    wrong_usage(options, "unknown option '--%s'", name);
}

/* ---- Setting fields ----------------------------------------------------------------------------- */

static uint64_t read_number(const Options *options, const Option *option, const char *text) {
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    uint64_t bytes;
    if (option->bytes && !bytes_read(text, &bytes))
        wrong_usage(options, "--%s is a number of bytes, such as 512M or 4G, not '%s'", option->name, text);
    if (option->bytes)
        return bytes;
    if (errno || *end || *text < '0' || *text > '9')
        wrong_usage(options, "--%s takes a number, not '%s'", option->name, text);
    if (number < option->least && option->wrong)
        wrong_usage(options, "%s", option->wrong);
    if (number < option->least || number > option->most)
        wrong_usage(options, "--%s takes a number from %llu to %llu, not '%s'", option->name,
                    (unsigned long long)option->least, (unsigned long long)option->most, text);
    return number;
}

/* "--gsan is exact, sampled or off, not 'of'" */
static _Noreturn void wrong_word(const Options *options, const Option *option, const char *text) {
    char list[256] = "";
    if (option->wrong)
        wrong_usage(options, option->wrong, text);
    for (const OptionWord *word = option->words; word->text; word++) {
        const char *before = word == option->words ? "" : word[1].text ? ", " : " or ";
        strncat(list, before, sizeof list - strlen(list) - 1);
        strncat(list, word->text, sizeof list - strlen(list) - 1);
    }
    wrong_usage(options, "--%s is %s, not '%s'", option->name, list, text);
}

static const OptionWord *read_word(const Options *options, const Option *option, const char *text) {
    const OptionWord *word = option->words;
    while (word->text && strcmp(word->text, text) != 0)
        word++;
    if (!word->text)
        wrong_word(options, option, text);
    return word;
}

char *rule_unknown(weir_string name) {
    weir_string near = weir_rule_near(name);
    char *said;
    int size = near.data
                   ? asprintf(&said, "there is no rule '%.*s'; did you mean '%.*s'?", (int)name.size, name.data,
                              (int)near.size, near.data)
                   : asprintf(&said, "there is no rule '%.*s'; 'weir rules' lists them", (int)name.size, name.data);
    return size < 0 ? NULL : said;
}

/* Rules, beside those that were given before. */
static const char *join_rules(Options *options, const char *before, const char *rules) {
    weir_string unknown = weir_rules_unknown(rules);
    char *both, *said = unknown.data ? rule_unknown(unknown) : NULL;
    if (unknown.data)
        wrong_usage(options, "%s", said ? said : "there is no such rule");
    if (!before)
        return rules;
    if (asprintf(&both, "%s,%s", before, rules) < 0 || !paths_append(&options->joined, both))
        exit(STATUS_ERROR);
    free(both);
    return options->joined.items[options->joined.count - 1];
}

/* A name that is given twice would be forgotten in silence the first time. */
static void set_text(const Options *options, const Option *option, const char **at, const char *text) {
    if (*at && strcmp(*at, text) != 0)
        wrong_usage(options, "--%s is given twice ('%s' and '%s'), and takes only one", option->name, *at, text);
    *at = text;
}

void option_apply(Options *options, const Option *option, const char *text) {
    void *at = (char *)options + option->at;
    if (option->now)
        fprintf(stderr, "weir %s: note: --%s is %s\n", commands[options->command].name, option->name, option->help);
    if (option->given)
        *(bool *)((char *)options + option->given) = true;
    switch (option->kind) {
    case FIELD_FLAG:
        *(bool *)at = true;
        break;
    case FIELD_TEXT:
        set_text(options, option, at, text);
        break;
    case FIELD_NUMBER:
        *(unsigned *)at = (unsigned)(text ? read_number(options, option, text) : option->value);
        break;
    case FIELD_LONG:
        *(uint64_t *)at = text ? read_number(options, option, text) : option->value;
        break;
    case FIELD_WORD:
        *(const char **)at = (text ? read_word(options, option, text) : option->words)->text;
        break;
    case FIELD_CHOICE:
        *(unsigned *)at = (text ? read_word(options, option, text) : option->words)->value;
        break;
    case FIELD_VALUE:
        *(unsigned *)at = (unsigned)option->value;
        break;
    case FIELD_LIST:
        if (!paths_append(at, text))
            exit(STATUS_ERROR);
        break;
    case FIELD_RULES:
        *(const char **)at = join_rules(options, *(const char **)at, text);
        break;
    case FIELD_BITS:
        *(unsigned *)at |= read_word(options, option, text)->value;
        break;
    }
}

/* ---- Finding options ---------------------------------------------------------------------------- */

const Option *option_find(CommandId command, const char *name, size_t size) {
    for (size_t i = 0; i < option_count; i++) {
        const Option *option = &option_table[i];
        bool same = strncmp(option->name, name, size) == 0 && !option->name[size];
        if (option->commands & 1u << command && (same || (size == 1 && option->letter == *name)))
            return option;
    }
    return NULL;
}

static const Command *sorted_for;
static int by_group_and_name(const void *a, const void *b) {
    const Option *x = *(const Option *const *)a, *y = *(const Option *const *)b;
    int order = sorted_for->groups[0] ? (int)x->group - (int)y->group : 0;
    return order ? order : strcmp(x->name, y->name);
}

const Option **options_of(CommandId command, size_t *count) {
    const Option **list = calloc(option_count, sizeof *list);
    *count = 0;
    for (size_t i = 0; list && i < option_count; i++)
        if (!option_table[i].now && option_table[i].commands & 1u << command)
            list[(*count)++] = &option_table[i];
    sorted_for = &commands[command];
    if (list)
        qsort(list, *count, sizeof *list, by_group_and_name);
    return list;
}

/* ---- The command line --------------------------------------------------------------------------- */

typedef struct OptionLine {
    char **words;
    int count, next;
} OptionLine;

static _Noreturn void print_and_end(const Options *options, bool version) {
    if (version)
        print_version();
    else
        help_command(stdout, &commands[options->command]);
    exit(fflush(stdout) == 0 ? STATUS_OK : STATUS_ERROR);
}

/* The word after an option, which is its argument. */
static const char *next_word(const Options *options, const Option *option, OptionLine *line) {
    if (line->next == line->count)
        wrong_usage(options, "option '--%s' requires an argument", option->name);
    return line->words[line->next++];
}

static void read_long(Options *options, char *name, OptionLine *line) {
    char *equals = strchr(name, '=');
    size_t size = equals ? (size_t)(equals - name) : strlen(name);
    const Option *option = size > 1 ? option_find(options->command, name, size) : NULL;
    if (!equals && (strcmp(name, "help") == 0 || strcmp(name, "version") == 0))
        print_and_end(options, *name == 'v');
    if (equals)
        *equals = 0; /* for messages; the argument is behind it */
    if (!option)
        unknown_option(options, name);
    if (equals && !option->argument)
        wrong_usage(options, "option '--%s' doesn't allow an argument", name);
    const char *argument = equals ? equals + 1 : NULL;
    if (option->argument && !equals && !option->optional)
        argument = next_word(options, option, line);
    option_apply(options, option, argument);
}

/* Letters in one word; what is behind one that takes an argument is that. */
static void read_letters(Options *options, const char *letters, OptionLine *line) {
    while (*letters) {
        const Option *option = option_find(options->command, letters, 1);
        if (!option && (*letters == 'h' || *letters == 'V'))
            print_and_end(options, *letters == 'V');
        if (!option)
            wrong_usage(options, "unknown option '-%c'", *letters);
        letters++;
        if (!option->argument) {
            option_apply(options, option, NULL);
            continue;
        }
        option_apply(options, option, *letters ? letters : next_word(options, option, line));
        return;
    }
}

static void read_operand(Options *options, const char *word) {
    if (!paths_append(&options->operands, word))
        exit(STATUS_ERROR);
}

/* Behind '--' stand flags of nvcc, if one of the files before it is its. */
static bool takes_flags(const Options *options) {
    bool any = false;
    for (size_t i = 0; i < options->operands.count; i++)
        any |= commands[options->command].takes == OPERANDS_FILES && is_cuda_source(options->operands.items[i]);
    return any;
}

static void read_flags(Options *options, OptionLine *line) {
    while (line->next < line->count)
        if (!paths_append(&options->compiler_words, line->words[line->next++]))
            exit(STATUS_ERROR);
}

/* Whether all words are the compiler's. To ask for help alone asks for ours. */
static bool has_no_end(const Options *options, const OptionLine *line) {
    if (line->count == 1 && (strcmp(line->words[0], "--help") == 0 || strcmp(line->words[0], "-h") == 0))
        return false;
    for (int i = 0; i < line->count; i++)
        if (strcmp(line->words[i], "--") == 0)
            return false;
    return commands[options->command].takes == OPERANDS_COMPILER;
}

static void read_words(Options *options, OptionLine *line) {
    bool only_operands = has_no_end(options, line);
    while (line->next < line->count) {
        char *word = line->words[line->next++];
        if (only_operands || word[0] != '-' || !word[1]) {
            read_operand(options, word);
            only_operands |= commands[options->command].takes == OPERANDS_PROGRAM;
        } else if (strcmp(word, "--") == 0) {
            only_operands = true;
            if (takes_flags(options))
                read_flags(options, line);
        } else if (word[1] == '-') {
            read_long(options, word + 2, line);
        } else {
            read_letters(options, word + 1, line);
        }
    }
}

/* All of a file that was named; of a folder, what the project file leaves in. */
static void add_operand(Options *options, const char *path) {
    size_t first = options->inputs.count;
    bool all =
        options->command == COMMAND_PARSE || (options->command == COMMAND_LINT && !options->emit && !options->port);
    bool runs =
        options->command == COMMAND_CHECK || options->command == COMMAND_RUN || options->command == COMMAND_REPORT;
    options->inputs.ptx = all ? PTX_ALL : runs ? PTX_ALONE : PTX_NOT; /* others do no more with it than to say so */
    if (!paths_add(&options->inputs, &options->unread, path))
        exit(STATUS_ERROR);
    bool folder = options->inputs.count != first + 1 || strcmp(options->inputs.items[first], path) != 0;
    if (folder && options->project)
        project_filter(options, first);
}

static void find_inputs(Options *options) {
    for (size_t i = 0; i < options->operands.count; i++)
        add_operand(options, options->operands.items[i]);
    if (!options->operands.count && options->project && weir_project_includes(options->project))
        add_operand(options, weir_project_folder(options->project));
    if (!options->inputs.count && options->left_out)
        wrong_usage(options, "%s excludes all files that were found: %zu", weir_project_file(options->project),
                    options->left_out);
    if (!options->inputs.count && !options->operands.count && !options->dump_ops && !options->glossary)
        wrong_usage(options, "no input file");
}

void options_read(Options *options, const Command *command, int count, char **arguments) {
    *options = (Options){
        .command = (CommandId)(command - commands), .prove_seconds = USUAL_PROVE_SECONDS, .run.timeout = USUAL_SECONDS};
    read_words(options, &(OptionLine){arguments, count, 0});
    if (options->output && strcmp(options->output, "-") == 0) /* as an input, it is no file of that name */
        options->output = NULL;
    if (options->has_also && !options->output)
        wrong_usage(options,
                    "--also prints to standard output what --output has in another format, and --output is not given");
    options->run.cross_check = options->cross_check;
    options->run.prove_time = options->prove_seconds ? (double)options->prove_seconds : -1;
    options->run.arguments = (const char *const *)options->arguments.items;
    options->run.argument_count = options->arguments.count;
    project_open(options);
    if (command->takes == OPERANDS_FILES)
        find_inputs(options);
}

void options_free(Options *options) {
    paths_free(&options->operands);
    paths_free(&options->inputs);
    paths_free(&options->unread.paths);
    paths_free(&options->unread.reasons);
    paths_free(&options->arguments);
    paths_free(&options->compiler_words);
    paths_free(&options->severities);
    paths_free(&options->joined);
    weir_project_free(options->project);
}
