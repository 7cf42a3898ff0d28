/* weir: finds the command and hands over to it. */
#include "cli/cli.h"
#include "weir/weir.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *what;
    int (*run)(int count, char **arguments);
} commands[] = {
    {"check", "find races, deadlocks and misused barriers in kernels", command_check},
    {"exec", "run a program, and check the Triton kernels that it launches", command_exec},
    {"run", "run kernels on an emulator, and look at a run", command_run},
    {"report", "tell how a kernel synchronises: partitions, barriers, phases, shared data", command_report},
    {"membar", "tell which thread barriers a kernel needs, has, and could do without", command_membar},
    {"lint", "tell what of a kernel the hardware does not allow", command_lint},
    {"parse", "read Triton GPU IR and print it back", command_parse},
    {"rules", "list the rules that findings are about, or explain one", command_rules},
};

static void usage(FILE *to) {
    fprintf(to, "Usage: weir COMMAND [OPTION...] FILE|DIR|-...\n"
                "Weir checks synchronization in GPU kernels.\n\nCommands:\n");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(to, "  %-8s %s\n", commands[i].name, commands[i].what);
    fprintf(to, "\n'weir COMMAND --help' tells a command's options; 'weir --version' tells the version.\n"
                "Exit status: 0 if all is well, 1 if something is wrong with a kernel, 2 if the input or the command\n"
                "line is wrong, 3 if nothing wrong was found but not everything could be looked at.\n");
}

int main(int count, char **arguments) {
    if (count < 2) {
        usage(stderr);
        return STATUS_ERROR;
    }
    const char *name = arguments[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        usage(stdout);
        return STATUS_OK;
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        printf("weir %s\n", weir_version());
        return STATUS_OK;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(name, commands[i].name) == 0)
            return commands[i].run(count - 1, arguments + 1);
    complain("there is no command '%s'; 'weir --help' lists them", name);
    return STATUS_ERROR;
}
