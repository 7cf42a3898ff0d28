/* Global memory that programs allocate for themselves: no area of a launch. Each op that does so has a number behind
 * the areas, and its memory addresses that no other cluster has: what threads and partitions of one CTA do there, and
 * what copies do, is followed like accesses to arguments. */
#include "check/tile/grid/internal.h"

#include "ir/op.h"

void own_set_up(GlobalCheck *run) {
    for (size_t i = 0; i < run->count; i++)
        run->scratches =
            run->programs[i]->scratch_count > run->scratches ? run->programs[i]->scratch_count : run->scratches;
}

uint32_t area_count(const GlobalCheck *run) {
    return global_area_count(run->launch_sequence.memory) + run->scratches;
}

uint32_t area_number(const GlobalCheck *run, int64_t address) {
    int64_t offset;
    if (run->scratches && address_is_scratch(address))
        return global_area_count(run->launch_sequence.memory) + address_scratch(address, &offset) % run->scratches;
    uint32_t number = global_area_number(address);
    return number < global_area_count(run->launch_sequence.memory) ? number : NO_AREA;
}

void area_name(const GlobalCheck *run, int64_t address, Text *to) {
    int64_t offset;
    if (!run->scratches || !address_is_scratch(address)) {
        global_name(run->launch_sequence.memory, address, to);
        return;
    }
    uint32_t number = address_scratch(address, &offset) % run->scratches;
    text_addf(to, "scratch %u", number);
    if (offset)
        text_addf(to, " + %lld byte%s", (long long)offset, plural(offset));
}

bool own_address(const GlobalCheck *run, const GridEvent *event, int64_t *address) {
    return !address_is_scratch(*address) ||
           scratch_of_cluster(run->launches[event->launch].first + event->cluster, run->scratches, address);
}

/* NULL: it is inside of what was allocated, and the CTA's own. */
static const char *outside(const GridEvent *event, const Run *run) {
    const Program *program = event->machine->program;
    int64_t begin, end, bytes;
    uint32_t number = address_scratch(run->begin, &begin), last = address_scratch(run->end - 1, &end);
    const Op *op = number < program->scratch_count ? program->scratches[number] : NULL;
    int64_t base = address_scratch_base(event->machine, event->event->agent);
    if (op && program->ctas > 1 && op_attr(op, "shared_cluster_state"))
        return "the CTAs of a cluster share the memory that it allocates";
    bool inside = op && number == last && op_integer(op, "nbytes", &bytes) && begin >= base && end - base < bytes;
    return inside ? NULL : "it is outside of the memory that the kernel allocates";
}

bool own_bytes(const GlobalCheck *run, const GridEvent *event, Bytes *bytes, const char **reason) {
    for (uint32_t i = 0; i < bytes->count; i++) {
        Run *piece = &bytes->runs[i];
        int64_t begin = piece->begin;
        if (!address_is_scratch(begin))
            continue;
        if ((*reason = outside(event, piece)))
            return false;
        *reason = "there are too many CTAs";
        if (!own_address(run, event, &piece->begin))
            return false;
        piece->end += piece->begin - begin;
    }
    return true;
}
