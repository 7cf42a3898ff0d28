/* How many files weir check checks at once: by cores, and by memory while a program runs beside it. */
#include "cli/cli.h"

#include <sched.h>
#include <stdio.h>

size_t workers_wanted(const Options *options) {
    cpu_set_t cores;
    if (options->jobs)
        return options->jobs;
    return sched_getaffinity(0, sizeof cores, &cores) == 0 ? (size_t)CPU_COUNT(&cores) : 1;
}

/* Bytes that programs can have, without others being swapped out. */
static uint64_t available_memory(void) {
    unsigned long long kilobytes = 0;
    char line[128];
    FILE *from = fopen("/proc/meminfo", "r");
    while (from && fgets(line, sizeof line, from) && sscanf(line, "MemAvailable: %llu", &kilobytes) != 1)
        continue;
    if (from)
        fclose(from);
    return (uint64_t)kilobytes << 10;
}

size_t workers_early(const Options *options) {
    static const uint64_t most_each = (uint64_t)4 << 30;
    size_t cores = workers_wanted(options), wanted = cores > 1 ? cores - 1 : 1;
    uint64_t fit = available_memory() / 2 / most_each;
    return fit < wanted ? (fit ? (size_t)fit : 1) : wanted;
}
