/* The sampled mode's races, which do not say what the earlier access was: they are kept until the same run, made once
 * more in the exact mode, has reported the rest of them.
 *
 * Both runs make the same accesses in the same order, so that an access has the same number in both. To be told of a
 * race of that very access, and not only of the first one between two places, the exact run gives it a site of its
 * own. */
#include "check/tile/grid/internal.h"

static bool same_race(const SampledRace *known, const SampledRace *race) {
    return known->site == race->site && known->kind == race->kind && known->earlier == race->earlier &&
           known->silent == race->silent;
}

void sampled_keep(GlobalCheck *run, const GsanRace *race) {
    SampledRace now = {.access = run->access,
                       .site = race->later.site >> 1,
                       .kind = race->later.kind,
                       .earlier = race->earlier.kind,
                       .begin = race->begin,
                       .end = race->end,
                       .silent = race->later.site & 1,
                       .at_its_end = run->completing};
    for (uint32_t i = 0; i < run->sampled_count; i++)
        if (same_race(&run->sampled[i], &now))
            return;
    if (run->sampled_count < MOST_FOUND)
        run->sampled[run->sampled_count++] = now;
}

bool sampled_is_open(const GlobalCheck *run) {
    for (uint32_t i = 0; i < run->sampled_count; i++)
        if (!run->sampled[i].settled)
            return true;
    return false;
}

uint32_t sampled_site(const GlobalCheck *run, uint32_t site) {
    for (uint32_t i = 0; run->confirming && i < run->sampled_count; i++)
        if (!run->sampled[i].settled && run->sampled[i].access == run->access)
            return run->site_count + i;
    return site;
}

uint32_t own_site(const GlobalCheck *run, uint32_t site) {
    if (site == UINT32_MAX)
        return site;
    site >>= 1;
    return site < run->site_count ? site : run->sampled[site - run->site_count].site;
}

/* Marks those of an access that the race is. An asynchronous access that the sampled mode looked at when it was over
 * may come first in the exact mode, which looks at all that came meanwhile. */
static bool confirm_access(GlobalCheck *run, const GsanRace *race, const GsanActor *actor, bool is_later) {
    uint32_t number = actor->site == UINT32_MAX ? 0 : actor->site >> 1;
    bool found = false;
    if (number < run->site_count)
        return false;
    uint64_t access = run->sampled[number - run->site_count].access;
    for (uint32_t i = 0; i < run->sampled_count; i++) {
        SampledRace *sampled = &run->sampled[i];
        if (sampled->settled || sampled->access != access || (!is_later && !sampled->at_its_end) ||
            sampled->kind != actor->kind || race->begin >= sampled->end || sampled->begin >= race->end)
            continue;
        sampled->confirmed = true;
        found = true;
    }
    return found;
}

bool sampled_confirms(GlobalCheck *run, const GsanRace *race) {
    bool later = confirm_access(run, race, &race->later, true),
         earlier = confirm_access(run, race, &race->earlier, false);
    return later || earlier;
}

void sampled_settle(GlobalCheck *run) {
    for (uint32_t i = 0; i < run->sampled_count; i++) {
        SampledRace *race = &run->sampled[i];
        if (!race->settled && !race->confirmed)
            site_incomplete(run, race->site,
                            "races in global memory: the sampled mode found one here that the exact mode does not "
                            "show");
        race->settled = true;
    }
}
