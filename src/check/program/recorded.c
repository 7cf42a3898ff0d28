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

void program_take_recorded(ProgramCheck *check) {
    const ProgramRecorded *last = check->recorded_count ? &check->recorded[check->recorded_count - 1] : NULL;
    const ProgramRecording *known = last && last->operation == check->number ? find(check->recordings, last) : NULL;
    OrderLine *operation = &check->operation;
    if (!known || !known->known)
        return;
    check->touch_count = 0;
    for (uint32_t i = 0; i < known->touch_count; i++)
        program_touch(check, known->touches[i]);
    if (operation->verb == ORDER_UNKNOWN)
        operation->verb = known->dependent ? ORDER_DEPENDENT : ORDER_LAUNCH;
    operation->numbers[1] = known->waits;
    operation->number_count = 2;
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
