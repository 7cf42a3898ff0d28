/* --shard K/N: which of the inputs are looked at here, and which elsewhere.
 *
 * Of all inputs, in the order of their paths, every N-th is one shard's, so that it depends on nothing but the paths,
 * and shards are of the same size. They are looked at in the order in which they were given. */
#include "cli/cli.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SHARDS = 100000 };

/* A number without a sign; 0 if there is none, or a larger one than there may be. */
static unsigned read_part(const char *text, const char **end) {
    char *after;
    errno = 0;
    unsigned long number = isdigit((unsigned char)*text) ? strtoul(text, &after, 10) : 0;
    *end = number ? after : text;
    return errno || number > MOST_SHARDS ? 0 : (unsigned)number;
}

static int by_path(const void *a, const void *b) {
    return strcmp(**(char ***)a, **(char ***)b);
}

/* Leaves those of the shard. False if there is no memory. */
static bool keep_shard(Paths *inputs, unsigned number, unsigned count) {
    char ***sorted = calloc(inputs->count + 1, sizeof *sorted);
    size_t kept = 0;
    if (!sorted)
        return false;
    for (size_t i = 0; i < inputs->count; i++)
        sorted[i] = &inputs->items[i];
    qsort(sorted, inputs->count, sizeof *sorted, by_path);
    for (size_t i = 0; i < inputs->count; i++)
        if (i % count != number - 1) {
            free(*sorted[i]);
            *sorted[i] = NULL;
        }
    for (size_t i = 0; i < inputs->count; i++)
        if (inputs->items[i])
            inputs->items[kept++] = inputs->items[i];
    inputs->count = kept;
    free(sorted);
    return true;
}

void shard_inputs(Options *options) {
    const char *text = options->shard, *end;
    if (!text)
        return;
    options->shard_number = read_part(text, &end);
    if (options->shard_number && *end == '/')
        options->shard_count = read_part(end + 1, &end);
    if (!options->shard_count || *end || options->shard_number > options->shard_count)
        wrong_usage(options, "--shard takes K/N, such as 3/16, not '%s'", text);
    if (options->update_baseline)
        wrong_usage(options, "--update-baseline needs all inputs, and cannot be combined with --shard");
    options->all_inputs = options->inputs.count;
    if (!keep_shard(&options->inputs, options->shard_number, options->shard_count)) {
        complain("there is not enough memory");
        exit(STATUS_ERROR);
    }
}
