/* Races as they are reported: one for each two sites and reason, with how often it came up. */
#include "engine/hb/threads_attempt.h"

ThreadsSide threads_side(const Threads *threads, const ThreadsRecord *record, uint32_t lane) {
    return (ThreadsSide){
        .warp = record->cta * threads->cta_warps + record->warp,
        .lane = lane,
        .asynchronous = record->operation != 0,
        .access = {.kind = record->kind,
                   .proxy = record->proxy,
                   .order = record->order,
                   .scope = record->scope,
                   .element = record->element,
                   .read_only = record->read_only,
                   .gives = record->gives,
                   .loose = record->loose,
                   .inits = record->inits,
                   .site = record->site,
                   .silent = record->silent,
                   .bytes = record->bytes},
    };
}

TABLE(race_table, RaceTable, RaceKey, RaceKey, 64, item->index, *item,
      hashed((uint64_t)key.first << 32 | (key.second ^ key.rest << 24)),
      item->first == key.first && item->second == key.second && item->rest == key.rest)

uint32_t threads_report(Threads *threads, const ThreadsRace *race, uint32_t times) {
    RaceKey key = {.first = race->first.access.site,
                   .second = race->second.access.site,
                   .rest = race->reason | (uint32_t)race->first.asynchronous << 5 |
                           (uint32_t)race->second.asynchronous << 6 | (uint32_t)race->same_value << 7};
    RaceKey *seat = race_table_put(&threads->found, &threads->race_table, key);
    if (!seat->index) {
        *ARENA_PUSH(&threads->found, threads->races, threads->race_count, threads->race_capacity) = *race;
        key.index = threads->race_count;
        *seat = key;
    }
    threads->races[seat->index - 1].times += times;
    return seat->index - 1;
}

void threads_again(Threads *threads, uint32_t race, uint64_t times) {
    threads->races[race].times += times;
}

void threads_report_exit(Threads *threads, const ThreadsOperation *operation, uint32_t site, const ThreadsAccess *first,
                         uint64_t address) {
    ThreadsRecord record = {.cta = operation->cta, .warp = operation->warp, .operation = 1, .site = site};
    ThreadsRace race = {.first = threads_side(threads, &record, lowest(operation->lanes)),
                        .address = address,
                        .reason = THREADS_AT_EXIT};
    race.first.access = *first;
    race.first.access.site = site;
    race.second.access.site = THREADS_NONE;
    race.bytes = first->bytes;
    threads_report(threads, &race, 1);
}
