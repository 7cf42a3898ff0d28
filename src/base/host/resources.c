/* What of the machine programs can have: cores and memory. */
#include "base/host/resources.h"

#include <sched.h>
#include <stdio.h>
#include <unistd.h>

size_t resources_cores(void) {
    cpu_set_t cores;
    return sched_getaffinity(0, sizeof cores, &cores) == 0 ? (size_t)CPU_COUNT(&cores) : 1;
}

uint64_t resources_memory(void) {
    uint64_t bytes = (uint64_t)sysconf(_SC_AVPHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    unsigned long long kilobytes;
    char line[128];
    FILE *from = fopen("/proc/meminfo", "re");
    while (from && fgets(line, sizeof line, from))
        if (sscanf(line, "MemAvailable: %llu", &kilobytes) == 1)
            bytes = (uint64_t)kilobytes << 10;
    if (from)
        fclose(from);
    return bytes;
}
