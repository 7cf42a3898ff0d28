/* Sequential fences (membar, fence.sc) in another order. They are in one order, which is not recorded: what they alone
 * order in the order in which they were played may not be ordered in another one.
 *
 * The recording is played again, with the fences of a CTA as late as they can be: when nothing else can go on. Strong
 * accesses keep their turns, so that this is a run in which every one of them finds what it found. What races there
 * does so in that order of the fences, in which they take part as they do in any. */
#include "check/replay/internal.h"

enum { MOST_RECORDS = 1 << 21, MOST_PLAYS = 8 };

static bool is_same(const PtxRace *a, const PtxRace *b) {
    return (a->first.code == b->first.code && a->second.code == b->second.code) ||
           (a->first.code == b->second.code && a->second.code == b->first.code);
}

/* Tells those of the races that were found, and takes them out. How many are left. */
static uint32_t report(ThreadsCheck *check, const PtxWatch *watch, uint32_t late, PtxRace *races, uint32_t count) {
    uint32_t found_count = 0, left = 0;
    const PtxRace *found = ptx_watch_races(watch, &found_count);
    ThreadsRun run = {0};
    for (uint32_t i = 0; i < count; i++) {
        const PtxRace *race = NULL;
        for (uint32_t k = 0; k < found_count && !race; k++)
            race = found[k].first.cta != found[k].second.cta && is_same(&found[k], &races[i]) ? &found[k] : NULL;
        Finding *finding = race ? threads_race(check, race, &run.schedule, run.havoc_choice) : NULL;
        if (finding)
            finding->schedule =
                verdict_text(check->verdict,
                             "another order of the recorded operations, in which the sequential fences of CTA %u "
                             "are late",
                             late * check->machine->cluster_size);
        if (!race)
            races[left++] = races[i];
    }
    return left;
}

static PtxEnd play_again(Player *again, ModificationOrders *turns) {
    jmp_buf here;
    again->machine->arena.exhausted = again->arena.exhausted = &here;
    if (setjmp(here) || !playing_start(again))
        return PTX_END_BUDGET;
    turns_read(turns, &again, 1);
    return play(again);
}

/* False: there is no such run, or no memory for it. A wait whose phase had gone by would have hung in it. */
static bool play_late(const Player *player, PtxWatch *watch, uint32_t late, uint64_t *records) {
    Player again;
    ModificationOrders turns;
    PtxMachine *machine = player->machine;
    jmp_buf *before = machine->arena.exhausted;
    playing_open(&again, player->check, player->recording, player->sites, watch);
    again.late = late + 1;
    PtxEnd end = play_again(&again, &turns);
    ptx_watch_end(watch);
    *records += again.records;
    machine->arena.exhausted = before;
    machine->observe = NULL;
    arena_free(&again.arena);
    return end == PTX_END_COMPLETE && !again.lapped;
}

uint32_t fences_report(const Player *player, PtxRace *races, uint32_t count) {
    ThreadsCheck *check = player->check;
    uint32_t size = player->machine->cluster_size, asked[MOST_PLAYS], plays = 0;
    uint64_t records = player->records, budget = check->options->budget ? check->options->budget : MOST_RECORDS;
    for (uint32_t i = 0; i < 2 * count && plays < MOST_PLAYS && records < budget;) {
        uint32_t late = (i % 2 ? races[i / 2].second.cta : races[i / 2].first.cta) / size, before = count;
        bool was = false;
        for (uint32_t k = 0; k < plays; k++)
            was |= asked[k] == late;
        if (was) {
            i++;
            continue;
        }
        PtxWatch *watch = runs_watch(check, false);
        asked[plays++] = late;
        if (watch && play_late(player, watch, late, &records))
            count = report(check, watch, late, races, count);
        i = count == before ? i + 1 : 0;
    }
    return count;
}
