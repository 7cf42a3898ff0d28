/* How a kernel is launched: its grid and its arguments, from a launch file, from the command line, or chosen.
 *
 * A launch file is JSON: {"kernel", "grid": [x, y, z], "args": {NAME: number | true | {"tensor": {"shape", "strides",
 * "dtype", "data"}} | {"descriptor": {"shape", "strides", "block", "dtype", "data"}}}}; "data", optional, is a
 * flat list of integers, what the memory holds in the order of the addresses. Of the rest a shape alone must be there.
 * Keys that Weir does not know are passed over. docs/launch.md says it at length. */
#ifndef EMULATE_LAUNCH_H
#define EMULATE_LAUNCH_H

#include "base/arena.h"
#include "base/diagnostics.h"

typedef enum ArgumentKind { ARGUMENT_INTEGER, ARGUMENT_FLOAT, ARGUMENT_TENSOR, ARGUMENT_DESCRIPTOR } ArgumentKind;

enum { ARGUMENT_MOST_DIMS = 8 };

typedef struct Argument {
    Str name;
    ArgumentKind kind;
    int64_t integer; /* booleans too */
    double number;
    uint8_t rank;
    uint16_t element_bits; /* in memory, where a boolean has 8; 0: not said */
    int64_t shape[ARGUMENT_MOST_DIMS], strides[ARGUMENT_MOST_DIMS];
    int64_t block[ARGUMENT_MOST_DIMS]; /* of a descriptor; zeros: not said */
    const int64_t *data;               /* NULL: nobody knows */
    size_t data_count;                 /* may be less than there is memory: nobody knows the rest */
} Argument;

typedef struct Launch {
    Str kernel; /* "" if not said */
    int64_t grid[3];
    Argument *arguments;
    size_t count, capacity;
    bool chosen; /* by Weir */
} Launch;

/* Reads a launch file. On failure reports where (file, line, caret) and returns false. Everything goes to the arena. */
bool launch_read(Arena *arena, Source *source, Launch *launch, Diagnostics *diagnostics);
/* "NAME=VALUE" with an integer, a float, true or false; "NAME=[1,2,3]" gives memory that holds these. On a text that is
 * none, returns a sentence, else NULL. Replaces an argument of that name. */
const char *launch_set(Arena *arena, Launch *launch, const char *text);
/* "X", "X,Y" or "X,Y,Z" ("x" for "," too). */
const char *launch_set_grid(Launch *launch, const char *text);
const Argument *launch_find(const Launch *launch, Str name);
/* "grid 32x1x1, N_CTX = 1024, desc_q = descriptor 8192x64": one line. */
void launch_describe(const Launch *launch, Text *to);
/* As the JSON of a launch file, on one line. */
void launch_write(const Launch *launch, Text *to);

#endif
