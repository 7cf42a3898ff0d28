/* What goes wrong in a run of a whole grid, and would not with other data than Weir made up: it is no finding, and the
 * data to give is named. So it is where the place of an access is made of such data: any two of it may be the same, or
 * none. It is none either where time does not suffice to try other data. Of hangs and races data that is 0 says
 * nothing, as there is nothing to do then; it is a place like any other.
 */
#include "check/tile/grid/internal.h"

#include "base/deadline.h"
#include "check/explain/place.h"

enum { NO_KERNEL = -1 };

static bool shows_race(const GlobalCheck *run, const GsanRace *race) {
    for (uint32_t i = 0; i < run->found.race_count; i++) {
        const GsanRace *other = &run->found.races[i].race;
        if ((other->earlier.site == race->earlier.site && other->later.site == race->later.site) ||
            (other->earlier.site == race->later.site && other->later.site == race->earlier.site))
            return true;
    }
    return false;
}

static bool shows_access(const GlobalCheck *run, const FoundAccess *found) {
    for (uint32_t i = 0; i < run->found.access_count; i++)
        if (run->found.accesses[i].site == found->site && run->found.accesses[i].rule == found->rule)
            return true;
    return false;
}

static bool is_havocked(const GlobalCheck *run, uint32_t site) {
    size_t kernel = site_kernel(run, site);
    return access_is_havocked(run->programs[kernel], run->kernels[kernel].launch, site_pc(run, site));
}

static void look_at_places(const GlobalCheck *run, GlobalFound *found) {
    for (uint32_t i = 0; i < found->race_count; i++)
        if (!found->races[i].reported)
            found->races[i].havoc_dependent = is_havocked(run, found->races[i].race.earlier.site) ||
                                              is_havocked(run, found->races[i].race.later.site);
    for (uint32_t i = 0; i < found->access_count; i++)
        if (!found->accesses[i].reported)
            found->accesses[i].havoc_dependent = is_havocked(run, found->accesses[i].site);
}

/* What this run does not show, which came to its end, comes of the data of the other. */
static void compare(const GlobalCheck *run, GlobalFound *found, bool zeros) {
    for (uint32_t i = 0; i < found->race_count && !zeros; i++)
        found->races[i].havoc_dependent |= !found->races[i].reported && !shows_race(run, &found->races[i].race);
    for (uint32_t i = 0; i < found->access_count; i++)
        found->accesses[i].havoc_dependent |= !found->accesses[i].reported && !shows_access(run, &found->accesses[i]);
}

bool havoc_dependent_settle(GlobalCheck *run, GridOptions options) {
    GlobalFound *found = ARENA_NEW(run->arena, GlobalFound);
    RunEnd end = run->end;
    unsigned own = options.havoc_choice;
    bool completes = false;
    *found = run->found; /* put aside while others are made */
    look_at_places(run, found);
    options.record = &(Turns){.arena = run->arena};
    for (unsigned havoc_choice = 0; havoc_choice < MACHINE_HAVOC_CHOICES; havoc_choice++) {
        if (havoc_choice == own)
            continue;
        bool zeros = machine_havoc_choice_has_zeros(havoc_choice);
        run->found = (GlobalFound){0};
        options.havoc_choice = havoc_choice;
        if (!global_run_watched(run, &options) || run->end != RUN_COMPLETE)
            continue;
        completes |= !zeros;
        compare(run, found, zeros);
    }
    bool settled = !deadline_look();
    for (uint32_t i = 0; i < found->race_count; i++)
        found->races[i].havoc_dependent |= !found->races[i].reported && !settled;
    for (uint32_t i = 0; i < found->access_count; i++)
        found->accesses[i].havoc_dependent |= !found->accesses[i].reported && !settled;
    run->found = *found;
    run->end = end;
    options.havoc_choice = own; /* the grid as it was: its loads, and who sleeps */
    options.observe = NULL;
    (void)grid_run(run->grid, &options);
    return (completes || !settled) && run->end == RUN_STUCK;
}

void havoc_dependent_take_back(const GlobalCheck *run, size_t kernel, const Op *op) {
    Verdict *verdict = run->kernels[kernel].verdict;
    int at = NO_KERNEL;
    for (size_t i = 0; i < run->count && at == NO_KERNEL; i++)
        for (uint32_t pc = 0; pc < run->programs[i]->code_count && at == NO_KERNEL; pc++)
            if (run->programs[i]->ops[pc] == op)
                at = (int)i;
    const Finding *finding = &verdict->findings[--verdict->finding_count];
    if (at != NO_KERNEL)
        op_havoc_dependent(run->programs[at], op, finding, verdict);
}
