/* What goes wrong in a run of a whole grid, and would not with other data than Weir made up: it is no finding, and the
 * data to give is named. So it is where the place of an access is made of such data: any two of it may be the same, or
 * none. Of hangs and races data that is 0 says nothing, as there is nothing to do then; it is a place like any other.
 */
#include "analyze/grid/internal.h"

#include "analyze/telling/place.h"

enum { NO_KERNEL = -1 };

/* What the runs before have found, put aside while others are made. */
typedef struct Aside {
    FoundRace races[MOST_FOUND];
    FoundAccess accesses[MOST_FOUND];
    FoundUnfenced unfenced[MOST_FOUND];
    uint32_t race_count, access_count, unfenced_count;
    RunEnd end;
} Aside;

static void put_aside(GlobalCheck *run, Aside *aside) {
    memcpy(aside->races, run->races, sizeof run->races);
    memcpy(aside->accesses, run->accesses_found, sizeof run->accesses_found);
    memcpy(aside->unfenced, run->unfenced, sizeof run->unfenced);
    aside->race_count = run->race_count;
    aside->access_count = run->access_count;
    aside->unfenced_count = run->unfenced_count;
    aside->end = run->end;
}

static void put_back(GlobalCheck *run, const Aside *aside) {
    memcpy(run->races, aside->races, sizeof run->races);
    memcpy(run->accesses_found, aside->accesses, sizeof run->accesses_found);
    memcpy(run->unfenced, aside->unfenced, sizeof run->unfenced);
    run->race_count = aside->race_count;
    run->access_count = aside->access_count;
    run->unfenced_count = aside->unfenced_count;
    run->end = aside->end;
}

static bool shows_race(const GlobalCheck *run, const GsanRace *race) {
    for (uint32_t i = 0; i < run->race_count; i++) {
        const GsanRace *other = &run->races[i].race;
        if ((other->earlier.site == race->earlier.site && other->later.site == race->later.site) ||
            (other->earlier.site == race->later.site && other->later.site == race->earlier.site))
            return true;
    }
    return false;
}

static bool shows_access(const GlobalCheck *run, const FoundAccess *found) {
    for (uint32_t i = 0; i < run->access_count; i++)
        if (run->accesses_found[i].site == found->site && run->accesses_found[i].rule == found->rule)
            return true;
    return false;
}

static bool is_guessed(const GlobalCheck *run, uint32_t site) {
    size_t kernel = site_kernel(run, site);
    return access_is_guessed(run->programs[kernel], run->kernels[kernel].launch, site_pc(run, site));
}

static void look_at_places(const GlobalCheck *run, Aside *aside) {
    for (uint32_t i = 0; i < aside->race_count; i++)
        if (!aside->races[i].told)
            aside->races[i].made_up =
                is_guessed(run, aside->races[i].race.earlier.site) || is_guessed(run, aside->races[i].race.later.site);
    for (uint32_t i = 0; i < aside->access_count; i++)
        if (!aside->accesses[i].told)
            aside->accesses[i].made_up = is_guessed(run, aside->accesses[i].site);
}

/* What this run does not show, which came to its end, comes of the data of the other. */
static void compare(const GlobalCheck *run, Aside *aside, bool zeros) {
    for (uint32_t i = 0; i < aside->race_count && !zeros; i++)
        aside->races[i].made_up |= !aside->races[i].told && !shows_race(run, &aside->races[i].race);
    for (uint32_t i = 0; i < aside->access_count; i++)
        aside->accesses[i].made_up |= !aside->accesses[i].told && !shows_access(run, &aside->accesses[i]);
}

bool made_up_settle(GlobalCheck *run, GridOptions options) {
    Aside *aside = ARENA_NEW(run->arena, Aside);
    bool completes = false;
    put_aside(run, aside);
    look_at_places(run, aside);
    options.record = &(Turns){.arena = run->arena};
    for (unsigned world = 1; world < MACHINE_WORLDS; world++) {
        bool zeros = machine_world_has_zeros(world);
        run->race_count = run->access_count = run->unfenced_count = 0;
        options.world = world;
        if (!global_run_watched(run, &options) || run->end != RUN_COMPLETE)
            continue;
        completes |= !zeros;
        compare(run, aside, zeros);
    }
    put_back(run, aside);
    options.world = 0; /* the grid as it was: its loads, and who sleeps */
    options.observe = NULL;
    (void)grid_run(run->grid, &options);
    return completes && run->end == RUN_STUCK;
}

void made_up_take_back(const GlobalCheck *run, size_t kernel, const Op *op) {
    Verdict *verdict = run->kernels[kernel].verdict;
    int at = NO_KERNEL;
    for (size_t i = 0; i < run->count && at == NO_KERNEL; i++)
        for (uint32_t pc = 0; pc < run->programs[i]->code_count && at == NO_KERNEL; pc++)
            if (run->programs[i]->ops[pc] == op)
                at = (int)i;
    const Finding *finding = &verdict->findings[--verdict->finding_count];
    if (at != NO_KERNEL)
        op_made_up(run->programs[at], op, finding, verdict);
}
