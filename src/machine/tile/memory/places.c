/* Whose memory an address lies in, and how that is printed. */
#include "machine/tile/memory/access.h"
#include "machine/tile/step/machine_internal.h"

bool address_argument(const Machine *machine, int64_t address, uint32_t *argument, int64_t *offset) {
    for (uint32_t i = 0; i < machine->program->parameter_count; i++) {
        int64_t from = (int64_t)((uint64_t)address - (uint64_t)machine->bases[i]);
        if (from < -AREA_HALF || from >= AREA_HALF)
            continue;
        *argument = i;
        *offset = from;
        return true;
    }
    return false;
}

bool address_is_scratch(int64_t address) {
    return address >= SCRATCH_BASE;
}

uint32_t address_scratch(int64_t address, int64_t *offset) {
    *offset = (address - SCRATCH_BASE) & ((INT64_C(1) << SCRATCH_SHIFT) - 1);
    return (uint32_t)((address - SCRATCH_BASE) >> SCRATCH_SHIFT);
}

int64_t address_scratch_base(const Machine *machine, uint32_t agent) {
    return (int64_t)agent_cta(machine, agent) << SCRATCH_CTA_SHIFT;
}

bool scratch_of_cluster(uint64_t cluster, uint32_t scratches, int64_t *address) {
    uint64_t most = (uint64_t)(INT64_MAX - SCRATCH_BASE) >> SCRATCH_SHIFT;
    if (cluster >= most / scratches)
        return false;
    *address += (int64_t)(cluster * scratches << SCRATCH_SHIFT);
    return true;
}

/* ---- Printing ------------------------------------------------------------------------------------- */

/* Where a run lies: an argument, scratch memory, or none of both. Two runs of one place have the same number. */
static int64_t print_place(const Machine *machine, int64_t address, int64_t before, int64_t *offset, Text *to) {
    uint32_t argument;
    if (address_argument(machine, address, &argument, offset)) {
        const char *name = machine->program->parameters[argument].name;
        if (before != argument) {
            text_char(to, '%');
            text_add_plain(to, str_of(*name ? name : "?"));
            text_addf(to, " + ");
        }
        return argument;
    }
    int64_t scratch = address_is_scratch(address) ? address_scratch(address, offset) : INT64_MAX;
    if (scratch < (int64_t)machine->program->scratch_count) {
        if (before != UINT32_MAX + scratch)
            text_addf(to, "scratch %lld + ", (long long)scratch);
        return UINT32_MAX + scratch;
    }
    *offset = address;
    return -1;
}

void access_print(const Machine *machine, const Bytes *bytes, uint32_t most, Text *to) {
    int64_t place = -1, offset;
    if (!bytes->count)
        text_addf(to, "nothing");
    for (uint32_t i = 0; i < bytes->count && i < most; i++) {
        const Run *run = &bytes->runs[i];
        text_addf(to, "%s", i ? ", " : "");
        place = print_place(machine, run->begin, place, &offset, to);
        if (place < 0)
            text_addf(to, "0x%llx..0x%llx", (unsigned long long)run->begin, (unsigned long long)run->end - 1);
        else
            text_addf(to, "%lld..%lld", (long long)offset, (long long)(offset + (run->end - run->begin - 1)));
    }
    if (bytes->count > most)
        text_addf(to, " and %u more", bytes->count - most);
}
