/* What the commands share. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "weir/weir.h"

#include <stdbool.h>
#include <stddef.h>

/* Exit statuses; those of a verdict are weir_verdict_status. */
enum { STATUS_OK = 0, STATUS_ERROR = 2 };

/* One function a command; `arguments` starts with the command's name. */
int command_parse(int count, char **arguments);
int command_run(int count, char **arguments);
int command_rules(int count, char **arguments);

/* ---- inputs.c: files and folders ---- */
typedef struct Paths {
    char **items;
    size_t count, capacity;
} Paths;
/* Adds a file as it is, a folder as every .ttgir and .mlir below it, in the order of their names. False, with a
 * message, if it cannot be looked at. */
bool paths_add(Paths *paths, const char *path);
void paths_free(Paths *paths);
/* Whether --module `wanted` (NULL: all), a number from 1 or the name of a pass, picks that module of the file. */
bool module_picked(weir_file *file, size_t index, const char *wanted);

/* ---- output.c: where results go ---- */
/* Standard output, or a file that appears under its name only when it is complete. */
typedef struct Output Output;
Output *output_open(const char *path); /* NULL for standard output; NULL, with a message, on failure */
int output_write(void *output, const char *data, size_t size);
void output_printf(Output *output, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Keeps the file if `keep`, else removes it. False, with a message, if not everything could be written. */
bool output_close(Output *output, bool keep);

/* `weir: sentence` on standard error. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
