/* What is not known, and what is made of it: conditions go the way that the havoc choice says (WORLD_... of machine.h),
 * accesses are left out; either is noted. */
#include "machine/simt/core/internal.h"

static PtxHavoc *havoc_at(PtxMachine *machine, const PtxCode *code, bool left_out) {
    for (uint32_t i = 0; i < machine->havoc_count; i++)
        if (machine->havocs[i].code == code && machine->havocs[i].left_out == left_out)
            return &machine->havocs[i];
    PtxHavoc *havoc = ARENA_PUSH(&machine->arena, machine->havocs, machine->havoc_count, machine->havoc_capacity);
    *havoc = (PtxHavoc){.code = code, .left_out = left_out};
    return havoc;
}

/* How often each lane of the warp came to the condition: by this, and not by how often any lane did, so that all who go
 * the same way do so whatever the order. */
static uint8_t *visits_of(PtxMachine *machine, PtxWarp *warp, uint32_t index) {
    enum { LEAST = 4 };
    if (index >= warp->visit_capacity) {
        uint32_t capacity = index < LEAST ? LEAST : 2 * index;
        uint8_t(*more)[PTX_LANES] = arena_alloc(&machine->arena, sizeof *more * capacity);
        memset(more, 0, sizeof *more * capacity);
        if (warp->visit_capacity)
            memcpy(more, warp->visits, sizeof *more * warp->visit_capacity);
        warp->visits = more;
        warp->visit_capacity = capacity;
    }
    return warp->visits[index];
}

static uint64_t mix(uint64_t number) {
    number = (number ^ number >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    return number ^ number >> 29;
}

/* Who a condition is of: threads that have the same value of it have the same number. */
static uint64_t number_of(const PtxWarp *warp, unsigned span, uint32_t lane) {
    uint64_t cta = (uint64_t)warp->cta->number << HAVOC_CHOICE_CTA_BIT,
             in_cta = (uint64_t)warp->index << HAVOC_CHOICE_WARP_BIT;
    switch ((FormSpan)span) {
    case SPAN_GRID:
        return 0;
    case SPAN_CLUSTER:
        return cta - ((uint64_t)warp->cta->rank << HAVOC_CHOICE_CTA_BIT);
    case SPAN_CTA:
        return cta;
    case SPAN_WARP:
        return cta | in_cta;
    default:
        return cta | in_cta | lane;
    }
}

static bool goes_mixed(const PtxMachine *machine, const PtxWarp *warp, uint64_t place, uint32_t lane, unsigned visit) {
    unsigned span = machine->spans ? machine->spans[place] : SPAN_GRID,
             kind = machine->havoc_choice & ~HAVOC_CHOICE_MIXED;
    uint64_t number = span == SPAN_GRID ? visit << kind / 2 : number_of(warp, span, lane);
    if (kind / 2 == HAVOC_CHOICE_RANDOM)
        number = mix(number_of(warp, span, lane) + mix(place + 1) + visit);
    return (number >> kind / 2 & 1) != (kind & 1);
}

static bool goes(const PtxMachine *machine, uint32_t index) {
    unsigned havoc_choice = machine->havoc_choice;
    if (havoc_choice & HAVOC_CHOICE_CHOSEN)
        return index < HAVOC_CHOICE_CHOICES && havoc_choice >> index & 1;
    bool by_first = (havoc_choice & 2) && index & 1, by_second = (havoc_choice & 4) && index >> 1 & 1;
    return (havoc_choice & 1) != (by_first != by_second);
}

uint32_t ptx_havoc(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t unknown) {
    enum { FIRST_TIMES = 4 };
    PtxHavoc *havoc = havoc_at(machine, code, false);
    uint64_t place = (uint64_t)(code - machine->program->code);
    uint32_t index = (uint32_t)(havoc - machine->havocs), yes = 0;
    uint8_t *visits = visits_of(machine, group->warp, index);
    for (uint32_t rest = unknown; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        unsigned visit = visits[lane]++;
        bool way = machine->havoc_choice & HAVOC_CHOICE_MIXED ? goes_mixed(machine, group->warp, place, lane, visit)
                                                              : goes(machine, index);
        if (visit >= FIRST_TIMES) {
            uint64_t mixed = (visit + 1 + place) * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)machine->havoc_choice << 47;
            way = (mixed >> 40 & 3) == 0;
        }
        yes |= (uint32_t)way << lane;
    }
    if (!havoc->times++)
        havoc->first = yes;
    havoc->went |= (yes ? PTX_RAN_YES : 0) | (unknown & ~yes ? PTX_RAN_NO : 0);
    spin_forget(group);
    return yes;
}

void ptx_leave_out(PtxMachine *machine, PtxGroup *group, const PtxCode *code) {
    havoc_at(machine, code, true)->times++;
    spin_forget(group);
}
