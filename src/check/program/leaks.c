/* Memory that a program has allocated and never freed: one note for all of it. */
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
    Finding *finding = verdict_finding(verdict);
    finding->rule = RULE_PROGRAM_LEAK;
    finding->space = "global";
    finding->launch = finding->witness = finding->fingerprint = "";
    finding->schedule = "in every schedule";
    finding->times = 1;
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
