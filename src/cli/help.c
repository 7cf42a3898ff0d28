/* weir help, and --help of every command: the table as text. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 79, HELP_COLUMN = 29 };

static void indent_line(FILE *to, int column) {
    fprintf(to, "\n%*s", column, "");
}

void help_wrap(FILE *to, const char *text, int from, int indent, int width) {
    int column = from;
    while (*text) {
        int size = (int)strcspn(text, " \n");
        if (column > indent && column + 1 + size > width) {
            indent_line(to, indent);
            column = indent;
        } else if (column > indent) {
            fputc(' ', to);
            column++;
        }
        fprintf(to, "%.*s", size, text);
        column += size;
        text += size;
        if (*text == '\n') {
            indent_line(to, indent);
            column = indent;
        }
        text += *text != 0;
    }
    fputc('\n', to);
}

static void option_line(FILE *to, char letter, const char *name, const char *argument, bool optional,
                        const char *help) {
    char label[64], letters[8] = "   ";
    if (letter)
        snprintf(letters, sizeof letters, "-%c,", letter);
    snprintf(label, sizeof label, "  %s --%s%s%s%s%s", letters, name, optional ? "[" : "", argument ? "=" : "",
             argument ? argument : "", optional ? "]" : "");
    int column = (int)strlen(label);
    fputs(label, to);
    if (column + 2 > HELP_COLUMN)
        fputc('\n', to);
    fprintf(to, "%*s", column + 2 > HELP_COLUMN ? HELP_COLUMN : HELP_COLUMN - column, "");
    help_wrap(to, help, HELP_COLUMN, HELP_COLUMN, WIDTH);
}

static void synopsis(FILE *to, const Command *command) {
    const char *before = "Usage:";
    for (const char *form = command->operands; *form; form += form[strcspn(form, "\n")] == '\n') {
        size_t size = strcspn(form, "\n");
        fprintf(to, "%s weir %s [OPTION...] %.*s\n", before, command->name, (int)size, form);
        before = "  or: ";
        form += size;
        if (!*form)
            break;
    }
}

void help_command(FILE *to, const Command *command) {
    size_t count;
    const Option **options = options_of((CommandId)(command - commands), &count);
    synopsis(to, command);
    help_wrap(to, command->does, 0, 0, WIDTH);
    for (size_t i = 0; options && i < count; i++) {
        const Option *option = options[i];
        bool starts = i == 0 || options[i - 1]->group != option->group;
        if (starts && (i == 0 || command->groups[0]))
            fputc('\n', to);
        if (starts && command->groups[0])
            fprintf(to, " %s:\n", command->groups[option->group]);
        option_line(to, option->letter, option->name, option->argument, option->optional, option->help);
    }
    if (command->groups[0])
        fputc('\n', to);
    option_line(to, 'h', "help", NULL, false, "print this");
    option_line(to, 'V', "version", NULL, false, "print the version");
    fputc('\n', to);
    if (command->more)
        help_wrap(to, command->more, 0, 0, WIDTH);
    fputs("Exit status:", to);
    help_wrap(to, command->status, (int)strlen("Exit status:"), 0, WIDTH);
    free(options);
}

void help_overview(FILE *to) {
    fprintf(to, "Usage: weir COMMAND [OPTION...] FILE|DIR|-...\n"
                "Weir checks synchronization in GPU kernels.\n\nCommands:\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].what);
    fprintf(to, "\n'weir COMMAND --help' shows a command's options; 'weir --version' the version.\nExit status: 0 "
                "if all is well, 1 if something is wrong with a kernel, 2 if the input or the command\nline is "
                "wrong, 3 if there are no findings but some kernels could not be fully checked.\n");
}

int command_help(Options *options) {
    size_t count = options->operands.count;
    const char *name = count ? options->operands.items[0] : NULL;
    const Command *command = name ? command_find(name) : NULL;
    if (count > 1)
        wrong_usage(options, "help takes one COMMAND, and there are %zu", count);
    if (name && !command) {
        command_unknown(name);
        return STATUS_ERROR;
    }
    if (options->completion && (options->manual || name))
        wrong_usage(options, "--completion prints one script, for all commands");
    if (options->completion)
        completion_script(stdout, options->completion);
    else if (options->manual)
        manual_page(stdout, command);
    else if (command)
        help_command(stdout, command);
    else
        help_overview(stdout);
    return fflush(stdout) == 0 ? STATUS_OK : STATUS_ERROR;
}
