/* Man pages, in mdoc: the table as troff. */
#include "cli/cli.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char date[] = "November 15, 2026";

/* A text line: what troff would take for its own is written so that it does not. */
static void add_text(FILE *to, const char *text, size_t size) {
    if (size && (*text == '.' || *text == '\''))
        fputs("\\&", to);
    for (size_t i = 0; i < size; i++)
        switch (text[i]) {
        case '\\':
            fputs("\\e", to);
            break;
        case '-':
            fputs("\\-", to);
            break;
        case '"':
            fputs(i && text[i - 1] != ' ' ? "\\(rq" : "\\(lq", to);
            break;
        default:
            fputc(text[i], to);
        }
}

/* A sentence a line, as troff wants it. */
static void add_sentences(FILE *to, const char *text) {
    while (*text) {
        size_t size = 0;
        while (text[size] && text[size] != '\n' &&
               !(text[size] == ' ' && size && strchr(".?", text[size - 1]) && isupper((unsigned char)text[size + 1])))
            size++;
        add_text(to, text, size);
        fputc('\n', to);
        text += size;
        if (*text == '\n')
            fputs(".Pp\n", to);
        text += *text != 0;
    }
}

/* A phrase of the help as a sentence. */
static void add_phrase(FILE *to, const char *help) {
    bool name = strncmp(help, "async", 5) == 0; /* words that are values stay as they are */
    char first = (char)(name ? *help : toupper((unsigned char)*help));
    fputc(first, to);
    add_text(to, help + 1, strlen(help + 1));
    fputs(".\n", to);
}

static void add_option(FILE *to, char letter, const char *name, const char *argument, bool optional) {
    fputs(".It", to);
    if (letter && argument)
        fprintf(to, " Fl %c Ar \"%s\" ,", letter, argument);
    else if (letter)
        fprintf(to, " Fl %c ,", letter);
    fprintf(to, " Fl -%s", name);
    if (argument)
        fprintf(to, optional ? " Ns Op = Ns Ar \"%s\"" : " Ar \"%s\"", argument);
    fputc('\n', to);
}

static void add_options(FILE *to, const Command *command) {
    size_t count;
    const Option **options = options_of((CommandId)(command - commands), &count);
    fputs(".Sh OPTIONS\n", to);
    for (size_t i = 0; options && i < count; i++) {
        const Option *option = options[i];
        bool starts = i == 0 || (command->groups[0] && options[i - 1]->group != option->group);
        if (starts && i)
            fputs(".El\n", to);
        if (starts && command->groups[0])
            fprintf(to, ".Ss \\&%s\n", command->groups[option->group]);
        if (starts)
            fputs(".Bl -tag -width Ds\n", to);
        add_option(to, option->letter, option->name, option->argument, option->optional);
        add_phrase(to, option->help);
        if (option->more)
            add_sentences(to, option->more);
    }
    fputs(count ? ".El\n" : "", to);
    if (command->groups[0])
        fputs(".Ss Everywhere\n", to);
    fputs(".Bl -tag -width Ds\n", to);
    add_option(to, 'h', "help", NULL, false);
    fputs("Print a summary of the options.\n", to);
    add_option(to, 'V', "version", NULL, false);
    fputs("Print the version.\n.El\n", to);
    free(options);
}

static void add_example(FILE *to, const Example *example) {
    add_sentences(to, example->what);
    fputs(".Pp\n", to);
    for (size_t i = 0; i < sizeof example->lines / sizeof *example->lines && example->lines[i]; i++) {
        fputs(".Dl $ ", to);
        add_text(to, example->lines[i], strlen(example->lines[i]));
        fputc('\n', to);
    }
}

/* Those of some commands. */
static void add_examples(FILE *to, const Command *first, const Command *end) {
    const char *between = ".Sh EXAMPLES\n";
    for (const Command *command = first; command < end; command++)
        for (const Example *example = command->examples; example && example->what; example++) {
            fputs(between, to);
            add_example(to, example);
            between = ".Pp\n";
        }
}

static void command_page(FILE *to, const Command *command) {
    fprintf(to, ".Dd %s\n.Dt WEIR-", date);
    for (const char *at = command->name; *at; at++)
        fputc(toupper((unsigned char)*at), to);
    fprintf(to, " 1\n.Os\n.Sh NAME\n.Nm weir-%s\n.Nd ", command->name);
    add_text(to, command->what, strlen(command->what));
    fputs("\n.Sh SYNOPSIS\n", to);
    for (const char *form = command->operands; *form;
         form += form[strcspn(form, "\n")] ? strcspn(form, "\n") + 1 : strlen(form)) {
        fprintf(to, ".Nm weir %s\n.Op Ar OPTION ...\n", command->name);
        add_text(to, form, strcspn(form, "\n"));
        fputc('\n', to);
    }
    fputs(".Sh DESCRIPTION\n", to);
    add_sentences(to, command->does);
    if (command->manual) {
        fputs(".Pp\n", to);
        add_sentences(to, command->manual);
    }
    if (command->more) {
        fputs(".Pp\n", to);
        add_sentences(to, command->more);
    }
    add_options(to, command);
    fputs(".Sh EXIT STATUS\n", to);
    add_sentences(to, command->status);
    add_examples(to, command, command + 1);
    fputs(".Sh SEE ALSO\n.Xr weir 1\n", to);
}

static const char about[] =
    ".Nm\n"
    "reads a GPU kernel as its compiler left it, and runs it to find races, deadlocks and misused barriers.\n"
    "No GPU is needed.\n"
    ".Pp\n"
    "The input is Triton GPU IR, in MLIR's textual form: a\n.Pa .ttgir\nor\n.Pa .mlir\n"
    "file, a compiler's dump log with many modules, a directory of such files, or\n.Sq -\nfor standard input.\n";

static const char statuses[] = ".Sh EXIT STATUS\n.Bl -tag -width Ds\n.It 0\nAll inputs were read, and every kernel "
                               "is clean.\n.It 1\nThere are findings.\n.It 2\nThe input or the command line is "
                               "wrong.\n.It 3\nThere are no findings, but some kernels could not be fully "
                               "checked.\n.El\n.Pp\nIf there are several inputs, the worst status counts: 2, then "
                               "1, then 3.\n";

static const char environment[] = ".Sh ENVIRONMENT\n.Bl -tag -width Ds\n.It Ev NO_COLOR\n"
                                  "If it is set and not empty, nothing is colored, unless\n.Fl -color\nsays so.\n.El\n";

static const char diagnostics[] =
    ".Sh DIAGNOSTICS\nErrors are printed on standard error, with their place and the line of the input:\n.Bd "
    "-literal -offset indent\nkernel.ttgir:14:21: error: '%row' is not defined\n        %1 = arith.addi %row, %0 : "
    "i32\n                        ^\n.Ed\n";

static void overview_page(FILE *to) {
    fprintf(to,
            ".Dd %s\n.Dt WEIR 1\n.Os\n.Sh NAME\n.Nm weir\n.Nd check the synchronization of GPU kernels\n"
            ".Sh SYNOPSIS\n.Nm\n.Ar COMMAND\n.Op Ar OPTION ...\n.Ar FILE Ns | Ns Ar DIR Ns | Ns Fl Ar ...\n"
            ".Nm\n.Cm help\n.Op Ar COMMAND\n.Nm\n.Fl -help | Fl -version\n.Sh DESCRIPTION\n%s.Sh COMMANDS\n",
            date, about);
    fputs("Each has a page of its own, with its options.\n.Bl -tag -width Ds\n", to);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        fprintf(to, ".It Cm %s\n", commands[i].name);
        add_sentences(to, commands[i].does);
        fprintf(to, "See\n.Xr weir-%s 1 .\n", commands[i].name);
    }
    fprintf(to, ".El\n%s%s", environment, statuses);
    add_examples(to, commands, commands + COMMAND_COUNT);
    fprintf(to, "%s.Sh SEE ALSO\n", diagnostics);
    const char *last = "";
    for (size_t i = 0; i < COMMAND_COUNT; i++) { /* by the alphabet, as mandoc asks for */
        const char *next = NULL;
        for (size_t k = 0; k < COMMAND_COUNT; k++)
            if (strcmp(commands[k].name, last) > 0 && (!next || strcmp(commands[k].name, next) < 0))
                next = commands[k].name;
        fprintf(to, ".Xr weir-%s 1%s\n", next, i + 1 < COMMAND_COUNT ? " ," : "");
        last = next;
    }
}

void manual_page(FILE *to, const Command *command) {
    if (command)
        command_page(to, command);
    else
        overview_page(to);
}
