/* What was written in a run of an exploration, so that a read can be given it again. */
#include "machine/simt/schedule/explore_internal.h"

static uint32_t hash_place(const void *block, uint64_t at, uint64_t more) {
    return table_hash((uint64_t)(uintptr_t)block ^ table_hash(at) ^ (uint64_t)table_hash(more) << 32);
}

TABLE(places, ValuesPlaces, ValuesPlace, ValuesPlace, 256, item->block, *item, hash_place(key.block, key.at, key.size),
      item->block == key.block && item->at == key.at && item->size == key.size)
TABLE(reads, LastReads, LastRead, LastRead, 256, item->code, *item,
      hash_place(key.block, key.at, (uint64_t)(uintptr_t)key.code + key.thread),
      item->block == key.block && item->at == key.at && item->code == key.code && item->thread == key.thread)

void values_start(Values *values, PtxMachine *machine) {
    arena_reset(&values->arena);
    values->machine = machine;
    values->written = NULL;
    values->before = (ValuesPlaces){0};
    values->reads = (LastReads){0};
    values->count = values->capacity = values->kept = 0;
    values->patched = false;
}

/* Looking and putting back are no changes of the program's own. */
static void look(Values *values, Written *written) {
    written->bytes = arena_alloc(&values->arena, written->size);
    written->states = arena_alloc(&values->arena, written->size);
    ptx_load_bytes(values->machine, (PtxLocation){written->block, written->at}, written->size, written->bytes,
                   written->states);
}

static void put(Values *values, PtxLocation location, uint32_t size, const uint8_t *bytes, const uint8_t *states) {
    uint64_t changes = values->machine->changes;
    ptx_store_bytes(values->machine, location, size, bytes, states);
    values->machine->changes = changes;
}

static const Written *find(const Values *values, PtxLocation location, uint32_t size, uint32_t write) {
    for (uint32_t i = 0; i < values->count; i++) {
        const Written *at = &values->written[i];
        bool is_it = write ? at->first < write && write <= at->last : !at->last;
        if (is_it && at->bytes && at->block == location.block && at->at <= location.offset &&
            location.offset + size <= at->at + at->size)
            return at;
    }
    return NULL;
}

static void note(Values *values, PtxLocation location, uint32_t size, uint32_t first, uint32_t last) {
    ValuesPlace place = {location.block, location.offset, size};
    ValuesPlace *known = places_put(&values->arena, &values->before, place);
    if (!known->block) {
        *known = place;
        Written *before = ARENA_PUSH(&values->arena, values->written, values->count, values->capacity);
        *before = (Written){.block = location.block, .at = location.offset, .size = size};
        look(values, before);
    }
    Written *made = ARENA_PUSH(&values->arena, values->written, values->count, values->capacity);
    *made = (Written){.first = first, .last = last, .block = location.block, .at = location.offset, .size = size};
}

void values_write(Values *values, const PtxEvent *event, uint32_t first, uint32_t last) {
    for (uint32_t i = 0; i < event->location_count; i++) {
        bool here = event->location_count > PTX_LANES || event->sizes || !event->lanes || event->lanes >> i & 1;
        if (here && event->locations[i].block)
            note(values, event->locations[i], event->sizes ? event->sizes[i] : event->access.bytes, first, last);
    }
}

bool values_give(Values *values, PtxLocation location, uint32_t size, uint32_t write) {
    const Written *from = find(values, location, size, write);
    if (!from)
        return false;
    uint64_t shift = location.offset - from->at;
    values->held = (Written){.block = location.block, .at = location.offset, .size = size};
    look(values, &values->held);
    values->patched = true;
    put(values, location, size, from->bytes + shift, from->states + shift);
    return true;
}

void values_step_over(Values *values) {
    if (values->patched)
        put(values, (PtxLocation){values->held.block, values->held.at}, values->held.size, values->held.bytes,
            values->held.states);
    values->patched = false;
    for (; values->kept < values->count; values->kept++)
        if (!values->written[values->kept].bytes)
            look(values, &values->written[values->kept]);
}

const LastRead *values_last_read(const Values *values, uint32_t thread, const PtxCode *code, PtxLocation location) {
    LastRead key = {.thread = thread, .code = code, .block = location.block, .at = location.offset};
    return reads_find(&values->reads, key);
}

void values_read(Values *values, const LastRead *read) {
    *reads_put(&values->arena, &values->reads, *read) = *read;
}
