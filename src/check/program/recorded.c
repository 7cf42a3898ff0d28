/* Launches of which the log says where they may access memory, and a recording what they do. Recordings are looked at
 * for those alone of which it matters. */
#include "check/program/internal.h"

#include "base/array.h"

void program_recorded(ProgramCheck *check, const OrderLine *line) {
    if (!check->is_open ||
        (check->recorded_count && check->recorded[check->recorded_count - 1].operation == check->number))
        return;
    *ARENA_PUSH(check->arena, check->recorded, check->recorded_count, check->recorded_capacity) =
        (ProgramRecorded){check->number, line->numbers[0], line->numbers[1]};
}

static ProgramRecording *find(const ProgramRecordings *all, const ProgramRecorded *of) {
    for (uint32_t i = 0; i < all->count; i++)
        if (all->items[i].number == of->number && all->items[i].process == of->process)
            return &all->items[i];
    return NULL;
}

static bool was_looked_at(const ProgramRecording *known, uint64_t address, uint64_t bytes) {
    for (uint32_t i = 0; i < known->looked_at_count; i++) {
        const Touch *place = &known->looked_at[i];
        if (address - place->begin < place->bytes && bytes <= place->bytes - (address - place->begin))
            return true;
    }
    return false;
}

/* Whether bytes that the engine has there are known by the cells of the launch. */
static bool is_known(ProgramCheck *check, const Touch *touch) {
    const ProgramProcess *process = program_process(check);
    uint64_t reach = (touch->count - 1) * touch->stride + touch->bytes;
    for (uint32_t i = 0; i < process->mapping_count; i++) {
        const ProgramMapping *mapping = &process->mappings[i];
        if (touch->begin - mapping->to < mapping->bytes)
            return was_looked_at(check->known, mapping->address + (touch->begin - mapping->to), reach);
    }
    return false;
}

/* What the log says that the operation may touch stays, where its cells do not know better. */
static void keep_unknown(ProgramCheck *check) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < check->touch_count; i++)
        if (!(check->touches[i].how & TOUCH_MAY) || !is_known(check, &check->touches[i]))
            check->touches[kept++] = check->touches[i];
    check->touch_count = kept;
}

/* Whether all memory that its process shares was looked at. */
static bool knows_all_shared(ProgramCheck *check, const ProgramRecording *known) {
    const ProgramProcess *process = program_process(check);
    for (uint32_t i = 0; i < process->mapping_count; i++)
        if (!was_looked_at(known, process->mappings[i].address, process->mappings[i].bytes))
            return false;
    return true;
}

void program_take_recorded(ProgramCheck *check) {
    const ProgramRecorded *last = check->recorded_count ? &check->recorded[check->recorded_count - 1] : NULL;
    ProgramRecording *known = last && last->operation == check->number ? find(check->recordings, last) : NULL;
    OrderLine *operation = &check->operation;
    bool takes = known && known->known &&
                 (!known->of_shared || operation->verb != ORDER_UNKNOWN || knows_all_shared(check, known));
    check->known = takes ? known : NULL;
    if (!check->known)
        return;
    if (known->steps)
        program_together_steps(check, known);
    if (known->of_shared)
        keep_unknown(check);
    else
        check->touch_count = 0;
    for (uint32_t i = 0; i < known->touch_count; i++)
        program_touch(check, known->touches[i]);
    if (operation->verb == ORDER_UNKNOWN)
        operation->verb = known->dependent ? ORDER_DEPENDENT : ORDER_LAUNCH;
    operation->numbers[1] = known->waits;
    operation->number_count = 2;
}

void program_stand(ProgramCheck *check, const OrderLane *lane, const OrderClock *begun) {
    ProgramRecording *known = check->known;
    const ProgramProcess *process = program_process(check);
    if (!known || known->of_shared || known->stand.begun || !program_touches_shared(check, TOUCH_STRONG))
        return;
    OrderClock *clock = ARENA_NEW(check->arena, OrderClock);
    *clock = *begun;
    ProgramPlace *places = ARENA_ARRAY(check->arena, ProgramPlace, process->mapping_count + 1);
    for (uint32_t i = 0; i < process->mapping_count; i++)
        places[i] = (ProgramPlace){process->mappings[i].address, process->mappings[i].bytes, process->mappings[i].to};
    known->stand = (ProgramStand){.operation = check->number,
                                  .lane = lane->index,
                                  .process = check->process,
                                  .begun = clock,
                                  .places = places,
                                  .place_count = process->mapping_count};
}

bool program_is_before(const ProgramStand *one, const ProgramStand *other) {
    return clock_has(other->begun, one->lane, one->operation);
}

void program_wants(ProgramCheck *check, uint64_t operation) {
    enum { MOST = 256 };
    uint32_t low = 0, high = check->recorded_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (check->recorded[middle].operation < operation)
            low = middle + 1;
        else
            high = middle;
    }
    ProgramRecordings *all = check->recordings;
    const ProgramRecorded *of = low < check->recorded_count ? &check->recorded[low] : NULL;
    if (!of || of->operation != operation || all->count == MOST || find(all, of))
        return;
    *ARENA_PUSH(check->arena, all->items, all->count, all->capacity) =
        (ProgramRecording){.process = of->process, .number = of->number};
}
