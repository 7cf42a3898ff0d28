/* What shells complete command lines with: the table as a script for bash, zsh or fish. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

/* What a word may be, where it is one of a list: for --rule those that `weir rules` prints. */
static const char rule_names[] = "$(weir rules 2>/dev/null | cut -d ' ' -f 1)";
static const char made[] = "made from src/cli/options.def by make docs; do not edit.";

typedef void CompletionRow(FILE *to, const Command *command, const Option *option);

static void each_option(FILE *to, const Command *command, CompletionRow *row) {
    size_t count;
    const Option **options = options_of((CommandId)(command - commands), &count);
    for (size_t i = 0; options && i < count; i++)
        row(to, command, options[i]);
    free(options);
}

static void print_words(FILE *to, const OptionWord *words) {
    for (const OptionWord *word = words; word->text; word++)
        fprintf(to, "%s%s", word == words ? "" : " ", word->text);
}

static void print_commands(FILE *to) {
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(to, "%s%s", i ? " " : "", commands[i].name);
}

/* Text in a script's single quotes; characters of `special` get a backslash. */
static void print_quoted(FILE *to, const char *text, const char *special) {
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", to);
        else
            fprintf(to, "%s%c", strchr(special, *text) ? "\\" : "", *text);
    }
}

/* ---- bash ---------------------------------------------------------------------------------------- */

static void bash_name(FILE *to, const Command *command, const Option *option) {
    (void)command;
    fprintf(to, " --%s%s", option->name, option->optional ? " " : "");
    if (option->optional)
        fprintf(to, "--%s=", option->name);
    if (option->letter)
        fprintf(to, " -%c", option->letter);
}

/* What comes after an option that takes an argument in the next word. */
static void bash_argument(FILE *to, const Command *command, const Option *option) {
    if (!option->argument || option->optional)
        return;
    fprintf(to, "    \"%s --%s\"", command->name, option->name);
    if (option->letter)
        fprintf(to, " | \"%s -%c\"", command->name, option->letter);
    fputs(")", to);
    if (option->words) {
        fputs(" _weir_words \"", to);
        print_words(to, option->words);
        fputs("\" && return", to);
    } else if (option->completes == COMPLETE_RULES) {
        fprintf(to, " _weir_words \"%s\" && return", rule_names);
    } else if (option->completes) {
        fprintf(to, " mapfile -t COMPREPLY < <(compgen -%c -- \"$word\") && return",
                option->completes == COMPLETE_FOLDERS ? 'd' : 'f');
    } else {
        fputs(" return", to);
    }
    fputs(" ;;\n", to);
}

static void bash_operands(FILE *to, const Command *command) {
    static const char *const what[] = {[OPERANDS_FILES] = "_weir_files",
                                       [OPERANDS_RESULTS] = "mapfile -t COMPREPLY < <(compgen -f -- \"$word\")",
                                       [OPERANDS_RULES] = "_weir_words \"$(weir rules 2>/dev/null | cut -d ' ' -f 1)\"",
                                       [OPERANDS_COMMANDS] = "_weir_words \"$commands\"",
                                       [OPERANDS_COMPILER] = "mapfile -t COMPREPLY < <(compgen -f -- \"$word\")",
                                       [OPERANDS_PROGRAM] = "mapfile -t COMPREPLY < <(compgen -cf -- \"$word\")"};
    fprintf(to, "    %s) %s ;;\n", command->name, what[command->takes]);
}

static void print_bash(FILE *to) {
    fprintf(to,
            "# Bash completion for weir: commands, their options, and input files;\n# %s\n\n"
            "_weir_words() { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$word\"); }\n\n"
            "_weir_files() {\n"
            "    mapfile -t COMPREPLY < <(\n"
            "        compgen -d -- \"$word\"\n"
            "        for suffix in ttgir mlir log; do compgen -f -X \"!*.$suffix\" -- \"$word\"; done\n"
            "    )\n}\n\n"
            "_weir() {\n"
            "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} "
            "command=${COMP_WORDS[1]}\n    local commands=\"",
            made);
    print_commands(to);
    fputs("\"\n    local -A options=(\n", to);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        fprintf(to, "        [%s]=\"--help -h --version -V", commands[i].name);
        each_option(to, &commands[i], bash_name);
        fputs("\"\n", to);
    }
    fputs("    )\n\n    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
          "        _weir_words \"$commands --help --version\"\n        return\n    fi\n"
          "    case \"$command $before\" in\n",
          to);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        each_option(to, &commands[i], bash_argument);
    fputs("    esac\n    if [[ $word = -* ]]; then\n        _weir_words \"${options[$command]}\"\n        return\n"
          "    fi\n    case $command in\n",
          to);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        bash_operands(to, &commands[i]);
    fputs("    esac\n}\n\ncomplete -o filenames -F _weir weir\n", to);
}

/* ---- zsh ----------------------------------------------------------------------------------------- */

static void zsh_argument(FILE *to, const Option *option) {
    fprintf(to, "%s:", option->optional ? ":" : "");
    print_quoted(to, option->argument, ":[]\\");
    fputs(":", to);
    if (option->words) {
        fputs("(", to);
        print_words(to, option->words);
        fputs(")", to);
    } else if (option->completes == COMPLETE_RULES) {
        fputs("_weir__rules", to);
    } else if (option->completes) {
        fputs(option->completes == COMPLETE_FOLDERS ? "_files -/" : "_files", to);
    } else {
        fputc(' ', to);
    }
}

static void zsh_option(FILE *to, const Command *command, const Option *option) {
    bool again = option->kind == FIELD_LIST || option->kind == FIELD_RULES || option->kind == FIELD_BITS;
    (void)command;
    fputs("        ", to);
    if (option->letter)
        fprintf(to, "'(-%c --%s)'{-%c%s,--%s%s}'[", option->letter, option->name, option->letter,
                option->argument ? "+" : "", option->name, option->argument ? "=" : "");
    else
        fprintf(to, "'%s--%s%s[", again ? "*" : "", option->name,
                !option->argument  ? ""
                : option->optional ? "=-"
                                   : "=");
    print_quoted(to, option->help, "[]\\");
    fputs("]", to);
    if (option->argument)
        zsh_argument(to, option);
    fputs("' \\\n", to);
}

static void print_zsh(FILE *to) {
    static const char *const operands[] = {[OPERANDS_FILES] = "*:file:_files -g \"*.(ttgir|mlir|ptx|cu|log)(-.)\"",
                                           [OPERANDS_RESULTS] = "*:file:_files",
                                           [OPERANDS_RULES] = "*:rule:_weir__rules",
                                           [OPERANDS_COMMANDS] = "1:command:_weir__commands",
                                           [OPERANDS_COMPILER] = "*:file:_files",
                                           [OPERANDS_PROGRAM] = "*::program:_normal"};
    fprintf(to,
            "#compdef weir\n# Zsh completion for weir: commands, their options, and input files;\n# %s\n\n"
            "_weir__rules() {\n    local -a rules=(${(f)\"$(weir rules 2>/dev/null | cut -d ' ' -f 1)\"})\n"
            "    compadd -a rules\n}\n\n_weir__commands() {\n    local -a commands=(\n",
            made);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        fprintf(to, "        '%s:", commands[i].name);
        print_quoted(to, commands[i].what, ":\\");
        fputs("'\n", to);
    }
    fputs("    )\n    _describe command commands\n}\n\n", to);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        fprintf(to, "_weir_%s() {\n    _arguments -s -S \\\n", commands[i].name);
        each_option(to, &commands[i], zsh_option);
        fprintf(to,
                "        '(-h --help)'{-h,--help}'[print a summary of the options]' \\\n"
                "        '(-V --version)'{-V,--version}'[print the version]' \\\n        '%s'\n}\n\n",
                operands[commands[i].takes]);
    }
    fputs("_weir() {\n    if (( CURRENT == 2 )); then\n"
          "        _weir__commands\n        compadd -- --help --version\n        return\n    fi\n"
          "    local command=$words[2]\n    shift words\n    (( CURRENT-- ))\n"
          "    (( $+functions[_weir_$command] )) && _weir_$command\n}\n\n"
          "if [ \"$funcstack[1]\" = _weir ]; then _weir \"$@\"; else compdef _weir weir; fi\n",
          to);
}

/* ---- fish ---------------------------------------------------------------------------------------- */

static void fish_start(FILE *to, const Command *command) {
    fprintf(to, "complete -c weir -n '__fish_seen_subcommand_from %s'", command->name);
}

static void fish_option(FILE *to, const Command *command, const Option *option) {
    fish_start(to, command);
    fprintf(to, " -l %s", option->name);
    if (option->letter)
        fprintf(to, " -s %c", option->letter);
    if (option->argument && !option->optional)
        fputs(option->completes == COMPLETE_FILES ? " -rF" : " -x", to);
    if (option->words) {
        fputs(" -a '", to);
        print_words(to, option->words);
        fputs("'", to);
    } else if (option->completes == COMPLETE_RULES) {
        fputs(" -a '(weir rules 2>/dev/null | cut -d \" \" -f 1)'", to);
    } else if (option->completes == COMPLETE_FOLDERS) {
        fputs(" -a '(__fish_complete_directories)'", to);
    }
    fputs(" -d '", to);
    for (const char *at = option->help; *at; at++)
        fprintf(to, "%s%c", *at == '\'' || *at == '\\' ? "\\" : "", *at);
    fputs("'\n", to);
}

static void fish_operands(FILE *to, const Command *command) {
    static const char *const what[] = {[OPERANDS_FILES] = " -k -a '(__fish_complete_suffix .ttgir .mlir .log)'",
                                       [OPERANDS_RESULTS] = " -F",
                                       [OPERANDS_RULES] = " -f -a '(weir rules 2>/dev/null | cut -d \" \" -f 1)'",
                                       [OPERANDS_COMMANDS] = " -f -a \"$weir_commands\"",
                                       [OPERANDS_COMPILER] = " -F",
                                       [OPERANDS_PROGRAM] = " -F"};
    fish_start(to, command);
    fprintf(to, "%s\n", what[command->takes]);
    fish_start(to, command);
    fputs(" -l help -s h -d 'print a summary of the options'\n", to);
    fish_start(to, command);
    fputs(" -l version -s V -d 'print the version'\n", to);
}

static void print_fish(FILE *to) {
    fprintf(to, "# Fish completion for weir: commands, their options, and input files;\n# %s\n\nset -l weir_commands ",
            made);
    print_commands(to);
    fputs("\n", to);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        fprintf(to, "complete -c weir -f -n \"not __fish_seen_subcommand_from $weir_commands\" -a %s -d '",
                commands[i].name);
        print_quoted(to, commands[i].what, "");
        fputs("'\n", to);
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        each_option(to, &commands[i], fish_option);
        fish_operands(to, &commands[i]);
    }
}

void completion_script(FILE *to, const char *shell) {
    if (strcmp(shell, "bash") == 0)
        print_bash(to);
    else if (strcmp(shell, "zsh") == 0)
        print_zsh(to);
    else
        print_fish(to);
}
