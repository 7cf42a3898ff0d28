/* Notes of memory: what the program never freed, and what the host accesses without a call. One note for all of it. */
#include "check/program/internal.h"

#include <stdlib.h>

void program_left(ProgramCheck *check, uint64_t address) {
    const RaceMemory *memory = program_address(check, &address, 1) ? races_memory(&check->races, address) : NULL;
    if (!memory || memory->address != address || memory->site >= check->site_count)
        return;
    check->sites[memory->site].left++;
    check->sites[memory->site].left_bytes += memory->bytes;
}

static int by_bytes(const void *one, const void *other) {
    const ProgramSite *a = *(const ProgramSite *const *)one, *b = *(const ProgramSite *const *)other;
    if (a->left_bytes != b->left_bytes)
        return a->left_bytes > b->left_bytes ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

/* "2 allocations, 8,192 bytes" */
static const char *amount(Verdict *verdict, uint64_t count, uint64_t bytes) {
    Text text = {0};
    text_number_of(&text, count, "allocation");
    text_addf(&text, ", ");
    text_number_of(&text, bytes, "byte");
    return verdict_keep(verdict, &text);
}

static Finding *note_of(Verdict *verdict, RuleId rule) {
    Finding *finding = verdict_finding(verdict);
    finding->rule = rule;
    finding->space = "global";
    finding->launch = finding->witness = finding->fingerprint = "";
    finding->schedule = "in every schedule";
    finding->times = 1;
    return finding;
}

void program_look_at_host_memory(ProgramCheck *check) {
    for (uint32_t i = 0; check->any_host_memory && i < check->touch_count; i++) {
        const RaceMemory *memory = races_memory(&check->races, check->touches[i].begin);
        if (!memory || memory->site >= check->site_count || check->touches[i].how == TOUCH_UNSEEN)
            continue;
        ProgramSite *made = &check->sites[memory->site];
        if (made->of_host && !made->user)
            made->user = check->site + 1;
    }
}

void program_report_host_memory(ProgramCheck *check) {
    Verdict *verdict = check->verdict;
    const ProgramSite *first = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < check->site_count; i++)
        if (check->sites[i].user) {
            first = first ? first : &check->sites[i];
            count++;
        }
    if (!count)
        return;
    const ProgramSite *user = &check->sites[first->user - 1];
    Finding *finding = note_of(verdict, RULE_PROGRAM_HOST_MEMORY);
    finding->message = verdict_text(
        verdict, "Weir does not see when the host accesses managed or pinned memory that %.*s accesses%s",
        STR_ARG(user->name), count > 1 ? "; the program allocates such memory at other places, too" : "");
    finding->why = "The host accesses this memory without a call. Races between the host and the device on it are not checked.";
    finding->fix = "Let the host synchronize with the stream before it accesses the memory again.";
    FindingPlace *places = finding_places(verdict, finding, 2);
    program_place(check, user, "accesses", "", &places[0]);
    program_place(check, first, "allocates", "", &places[1]);
}

void program_report_leaks(ProgramCheck *check) {
    enum { MOST_PLACES = 8 };
    Verdict *verdict = check->verdict;
    const ProgramSite **sites = ARENA_ARRAY(check->arena, const ProgramSite *, check->site_count + 1);
    uint32_t count = 0;
    uint64_t left = 0, bytes = 0;
    for (uint32_t i = 0; i < check->site_count; i++)
        if (check->sites[i].left) {
            left += check->sites[i].left;
            bytes += check->sites[i].left_bytes;
            sites[count++] = &check->sites[i];
        }
    if (!count)
        return;
    qsort(sites, count, sizeof(const ProgramSite *), by_bytes);
    Finding *finding = note_of(verdict, RULE_PROGRAM_LEAK);
    const char *all = amount(verdict, left, bytes);
    finding->message = verdict_text(verdict, "the program never frees memory that it allocates: %s%s%s", all,
                                    count > 1 ? "; here " : "",
                                    count > 1 ? amount(verdict, sites[0]->left, sites[0]->left_bytes) : "");
    finding->why =
        count > MOST_PLACES
            ? verdict_text(verdict, "It was allocated at %u places; those with the most bytes are shown.", count)
            : "The memory was still allocated when the program ended or reset the device.";
    finding->fix = "Free it if the program can do this more than once.";
    uint32_t shown = count < MOST_PLACES ? count : MOST_PLACES;
    FindingPlace *places = finding_places(verdict, finding, shown);
    for (uint32_t i = 0; i < shown; i++) {
        const ProgramSite *site = sites[i];
        const char *note = amount(verdict, site->left, site->left_bytes);
        program_place(check, site, "allocates", note, &places[i]);
        if (!places[i].line && site->where.size)
            places[i].note = verdict_text(verdict, "%s, in %.*s", note, STR_ARG(site->where));
    }
}
