/* weir: finds the command, reads its command line, and hands over to it. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Between releases, of which commit it is: the Makefile says so. */
#ifndef WEIR_COMMIT
#define WEIR_COMMIT ""
#endif

void print_version(void) {
    printf("weir %s%s\n", weir_version(), *WEIR_COMMIT ? " (commit " WEIR_COMMIT ")" : "");
}

/* Where both go to one file or pipe, each writes whole lines, so that none of the one ends in the middle of one of the
 * other. A terminal has whole lines as it is. */
static void write_whole_lines(void) {
    enum { LONGEST = 1 << 16 };
    struct stat out, error;
    bool both = fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &error) == 0;
    if (!both || out.st_dev != error.st_dev || out.st_ino != error.st_ino || isatty(STDOUT_FILENO))
        return;
    setvbuf(stdout, NULL, _IOLBF, LONGEST);
    setvbuf(stderr, NULL, _IOLBF, LONGEST);
}

int main(int count, char **arguments) {
    write_whole_lines();
    if (count && is_ptxas(arguments[0]))
        return run_ptxas(count, arguments);
    if (count < 2) {
        help_overview(stderr);
        return STATUS_ERROR;
    }
    const char *name = arguments[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        help_overview(stdout);
        return STATUS_OK;
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        print_version();
        return STATUS_OK;
    }
    const Command *command = command_find(name);
    if (!command) {
        command_unknown(name);
        return STATUS_ERROR;
    }
    Options options;
    options_read(&options, command, count - 2, arguments + 2);
    int status = command->run(&options);
    options_free(&options);
    return status;
}
