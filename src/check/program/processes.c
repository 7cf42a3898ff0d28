/* Processes of a program: each has addresses, streams, threads and events of its own. What they share has a key: memory
 * is (allocation, offset), whatever its address is in each of them; events; messages, by which one thread learns what
 * another one knew. */
#include "check/program/internal.h"

#include "base/array.h"

#include <stdlib.h>

ProgramProcess *program_process(ProgramCheck *check) {
    return &check->processes[check->process];
}

bool program_enter(ProgramCheck *check, uint64_t id) {
    uint32_t index = 0;
    bool first = check->process_count == 1 && !check->processes[0].named; /* what has no process is the first one's */
    while (index < check->process_count && check->processes[index].id != id && !first)
        index++;
    if (index == check->process_count &&
        (index == MOST_PROCESSES || !ARRAY_ROOM(check->processes, check->process_count, check->process_capacity, 4)))
        return false;
    if (index == check->process_count)
        check->processes[check->process_count++] = (ProgramProcess){0};
    check->process = check->order.process = index;
    ProgramProcess *process = &check->processes[index];
    process->id = id;
    process->named = true;
    if (!process->thread)
        process->thread = order_thread(&check->order, 0);
    check->races.failed |= !process->thread;
    check->thread = process->thread;
    return process->thread;
}

const char *program_process_name(const ProgramCheck *check, uint32_t index) {
    const ProgramProcess *process = &check->processes[index];
    if (process->name.size)
        return verdict_text(check->verdict, "%.*s", STR_ARG(process->name));
    return verdict_text(check->verdict, "process %llu", (unsigned long long)process->id);
}

/* ---- Calls ---------------------------------------------------------------------------------------- */

void program_calls(ProgramCheck *check) {
    ProgramProcess *process = program_process(check);
    process->called = process->called ? process->called : ARENA_NEW(check->arena, OrderClock);
    *process->called = check->order.hosts;
    process->caller = check->thread;
}

void program_learns(ProgramCheck *check) {
    ProgramProcess *process = program_process(check);
    if (process->caller == check->thread)
        process->caller = NULL;
}

const OrderClock *program_issued(ProgramCheck *check) {
    const ProgramProcess *process = program_process(check);
    return process->caller && process->caller == check->thread ? process->called : &check->order.hosts;
}

/* ---- Addresses ---------------------------------------------------------------------------------------- */

static ProgramMapping *mapping_at(ProgramProcess *process, uint64_t address) {
    for (uint32_t i = process->mapping_count; i-- > 0;)
        if (address - process->mappings[i].address < process->mappings[i].bytes)
            return &process->mappings[i];
    return NULL;
}

bool program_address(ProgramCheck *check, uint64_t *address, uint64_t reach) {
    ProgramProcess *process = program_process(check);
    const ProgramMapping *mapping = process->mapping_count ? mapping_at(process, *address) : NULL;
    if (mapping) {
        uint64_t offset = *address - mapping->address;
        *address = mapping->to + offset;
        return reach <= mapping->bytes - offset;
    }
    bool fits = !(*address >> ADDRESS_BITS) || !check->process;
    *address += (uint64_t)check->process << ADDRESS_BITS;
    return fits;
}

bool program_has_key(ProgramCheck *check, uint64_t address) {
    ProgramProcess *process = program_process(check);
    return process->mapping_count && mapping_at(process, address);
}

/* ---- Memory with a key -------------------------------------------------------------------------------- */

static ProgramShared *shared_of(ProgramCheck *check, Str key) {
    void **seat = map_put(&check->shared_map, key);
    check->races.failed |= !seat;
    if (seat && !*seat)
        *seat = ARENA_NEW(check->arena, ProgramShared);
    return seat ? *seat : NULL;
}

/* The memory that the process has there, if it has all of it; else memory of its own, with what has touched parts. */
static void place_shared(ProgramCheck *check, ProgramShared *shared, uint64_t address, uint64_t bytes, uint64_t offset,
                         uint64_t total, uint32_t site) {
    uint64_t there = address;
    RaceMemory *memory = program_address(check, &there, bytes) ? races_memory(&check->races, there) : NULL;
    if (memory && there - memory->address >= offset && memory->bytes - (there - memory->address - offset) >= total) {
        memory->lane = NULL; /* it is given out again when all processes are done with it */
        memory->shared = true;
        memory->shared_from = check->number;
        shared->to = there - offset;
        return;
    }
    shared->to = (uint64_t)KEYED << ADDRESS_BITS | check->keyed;
    check->keyed += total;
    races_allocate(&check->races, shared->to, total, NULL, check->thread, site);
    memory = races_memory(&check->races, shared->to);
    if (!memory)
        return;
    memory->shared = true;
    memory->shared_from = check->number;
    races_adopt(&check->races, memory, there, bytes, offset);
}

void program_share(ProgramCheck *check, const OrderLine *line, uint32_t site) {
    static const uint64_t most = UINT64_C(1) << 48;
    uint64_t address = line->numbers[0], bytes = line->numbers[1], offset = line->numbers[2], total = line->numbers[3];
    ProgramProcess *process = program_process(check);
    bool fits = bytes && bytes <= total && offset <= total - bytes && total < most && address + bytes > address;
    ProgramShared *shared = fits && check->keyed < most ? shared_of(check, line->texts[0]) : NULL;
    program_together(check);
    if (shared && !shared->bytes)
        place_shared(check, shared, address, bytes, offset, total, site);
    if (shared && !shared->bytes)
        shared->bytes = total;
    if (shared && shared->bytes == total &&
        ARRAY_ROOM(process->mappings, process->mapping_count, process->mapping_capacity, 8)) {
        shared->users++;
        process->mappings[process->mapping_count++] =
            (ProgramMapping){.address = address, .bytes = bytes, .to = shared->to + offset, .shared = shared};
        return;
    }
    verdict_incomplete(check->verdict, "", 0,
                       "memory that processes share, at line %u of the log, was not taken in: its races were not "
                       "looked for",
                       line->line);
}

bool program_unmap(ProgramCheck *check, uint64_t address) {
    ProgramProcess *process = program_process(check);
    ProgramMapping *mapping = process->mapping_count ? mapping_at(process, address) : NULL;
    if (!mapping || mapping->address != address)
        return false;
    ProgramShared *shared = mapping->shared;
    *mapping = process->mappings[--process->mapping_count];
    if (!--shared->users) {
        races_free(&check->races, shared->to, check->thread, 0);
        shared->bytes = 0; /* the key may come again */
    }
    return true;
}

/* ---- Messages ------------------------------------------------------------------------------------------ */

/* NULL: there is no memory. */
static ProgramMessage *message_of(ProgramCheck *check, Str key) {
    void **seat = map_put(&check->message_map, key);
    check->races.failed |= !seat;
    if (seat && !*seat) {
        ProgramMessage *message = ARENA_NEW(check->arena, ProgramMessage);
        message->next = check->messages;
        *seat = check->messages = message;
    }
    return seat ? *seat : NULL;
}

void program_send(ProgramCheck *check, const OrderLine *line) {
    ProgramMessage *message = message_of(check, line->texts[0]);
    if (!message)
        return;
    if (!message->clock && !(message->clock = calloc(1, sizeof *message->clock))) {
        check->races.failed = true;
        return;
    }
    message->left = line->numbers[0];
    lanes_join(&check->order, message->clock, &check->thread->knows);
}

void program_receive(ProgramCheck *check, const OrderLine *line) {
    ProgramMessage *message = map_get(&check->message_map, line->texts[0]);
    if (!message || !message->clock)
        return;
    thread_waits(&check->order, check->thread, message->clock);
    if (message->left && --message->left)
        return;
    free(message->clock);
    message->clock = NULL;
}

void program_release_processes(ProgramCheck *check) {
    for (ProgramMessage *message = check->messages; message; message = message->next)
        free(message->clock);
    for (uint32_t i = 0; i < check->process_count; i++) {
        free(check->processes[i].mappings);
        free(check->processes[i].signals);
    }
    free(check->processes);
    map_free(&check->shared_map);
    map_free(&check->message_map);
}
