/* What is not known, and what is made of it: conditions go the way that the world says (WORLD_... of machine.h),
 * accesses are left out; either is noted. */
#include "machine/simt/core/internal.h"

static PtxGuess *guess_at(PtxMachine *machine, const PtxCode *code, bool left_out) {
    for (uint32_t i = 0; i < machine->guess_count; i++)
        if (machine->guesses[i].code == code && machine->guesses[i].left_out == left_out)
            return &machine->guesses[i];
    PtxGuess *guess = ARENA_PUSH(&machine->arena, machine->guesses, machine->guess_count, machine->guess_capacity);
    *guess = (PtxGuess){.code = code, .left_out = left_out};
    return guess;
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
    uint64_t cta = (uint64_t)warp->cta->number << WORLD_CTA_BIT, in_cta = (uint64_t)warp->index << WORLD_WARP_BIT;
    switch ((FormSpan)span) {
    case SPAN_GRID:
        return 0;
    case SPAN_CLUSTER:
        return cta - ((uint64_t)warp->cta->rank << WORLD_CTA_BIT);
    case SPAN_CTA:
        return cta;
    case SPAN_WARP:
        return cta | in_cta;
    default:
        return cta | in_cta | lane;
    }
}

static bool goes_mixed(const PtxMachine *machine, const PtxWarp *warp, uint64_t place, uint32_t lane, unsigned visit) {
    unsigned span = machine->spans ? machine->spans[place] : SPAN_GRID, kind = machine->world & ~WORLD_MIXED;
    uint64_t number = span == SPAN_GRID ? visit << kind / 2 : number_of(warp, span, lane);
    if (kind / 2 == WORLD_RANDOM)
        number = mix(number_of(warp, span, lane) + mix(place + 1) + visit);
    return (number >> kind / 2 & 1) != (kind & 1);
}

static bool goes(const PtxMachine *machine, uint32_t index) {
    unsigned world = machine->world;
    if (world & WORLD_CHOSEN)
        return index < WORLD_CHOICES && world >> index & 1;
    bool by_first = (world & 2) && index & 1, by_second = (world & 4) && index >> 1 & 1;
    return (world & 1) != (by_first != by_second);
}

uint32_t ptx_guess(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t unknown) {
    enum { FIRST_TIMES = 4 };
    PtxGuess *guess = guess_at(machine, code, false);
    uint64_t place = (uint64_t)(code - machine->program->code);
    uint32_t index = (uint32_t)(guess - machine->guesses), yes = 0;
    uint8_t *visits = visits_of(machine, group->warp, index);
    for (uint32_t rest = unknown; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        unsigned visit = visits[lane]++;
        bool way =
            machine->world & WORLD_MIXED ? goes_mixed(machine, group->warp, place, lane, visit) : goes(machine, index);
        if (visit >= FIRST_TIMES) {
            uint64_t mixed = (visit + 1 + place) * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)machine->world << 47;
            way = (mixed >> 40 & 3) == 0;
        }
        yes |= (uint32_t)way << lane;
    }
    if (!guess->times++)
        guess->first = yes;
    guess->went |= (yes ? PTX_RAN_YES : 0) | (unknown & ~yes ? PTX_RAN_NO : 0);
    spin_forget(group);
    return yes;
}

void ptx_leave_out(PtxMachine *machine, PtxGroup *group, const PtxCode *code) {
    guess_at(machine, code, true)->times++;
    spin_forget(group);
}
