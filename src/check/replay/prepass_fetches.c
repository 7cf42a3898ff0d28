/* Copies to shared memory (cp.async) in kernels whose clusters are all played, as strong accesses order them: where
 * nothing else accesses shared memory, those of clusters that do the same there are played for one of them.
 *
 * What a copy writes is its cluster's own, and can race only with other copies of that. How these are ordered is told
 * by barriers, waits and the order of the program, which are the same in clusters of which the sum is: all records of
 * them but for accesses to global memory. Of strong accesses this holds where one thread of the cluster makes all of
 * them: whatever it learns by them of others of its own cluster, it knew when it made an earlier one. So copies are
 * left out once all those of the first such cluster have been told, and nothing was found until then. */
#include "check/replay/prepass.h"

#include "ptx/effects.h"

/* Whether the instruction orders threads, and accesses nothing. */
static bool only_orders(const ThreadsCheck *check, const PtxCode *code) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    unsigned count = ptx_effects_of(check->module, &check->module->statements[code->statement], effects);
    for (unsigned i = 0; i < count; i++)
        switch (effects[i].effect.verb) {
        case EFFECT_COMMIT:
        case EFFECT_AWAIT:
        case EFFECT_CTA_BARRIER:
        case EFFECT_NAMED_ARRIVE:
        case EFFECT_NAMED_SYNC:
        case EFFECT_FENCE_ORDER:
        case EFFECT_WARP_SYNC:
        case EFFECT_CONVERGED:
            break;
        default:
            return false;
        }
    return true;
}

static bool is_elsewhere(const PlaySite *site) {
    return site->site->strong ? site->space == PTX_SPACE_GLOBAL : site->plain && site->access.space == PTX_SPACE_GLOBAL;
}

bool fetches_can(const Player *player) {
    const PlaySites *sites = player->sites;
    bool any = false;
    for (uint32_t i = 0; i < sites->sites.count; i++) {
        const PlaySite *site = &sites->items[i];
        if (!site->code || site->site->ends || site->site->only_emits)
            continue;
        if (!site->copies && !is_elsewhere(site) && !only_orders(player->check, site->code))
            return false;
        any |= site->copies;
    }
    return any && !sites->any_sequential && !player->stored;
}

void fetches_read(const PlaySite *site, const Record *record, const PrepassFrom *from, Duplicate *duplicate) {
    if (site && site->site->strong) {
        uint32_t thread = from->number * PTX_LANES + (uint32_t)__builtin_ctz(record->lanes) + 1;
        duplicate->strong = !duplicate->strong || duplicate->strong == thread ? thread : UINT32_MAX;
        if (record->lanes & (record->lanes - 1))
            duplicate->strong = UINT32_MAX;
    }
    if (site && is_elsewhere(site))
        return;
    duplicate->fetches += site && site->copies;
    prepass_mix(&duplicate->sum,
                (uint64_t)record->kind << 56 | (uint64_t)record->lanes << 24 | (site ? record->site : 0));
    for (unsigned i = 0; site && i < record->part_count; i++)
        if (!site->copies || i != site->from_part)
            prepass_mix_part(&duplicate->sum, &site->site->parts[i], &record->parts[i], record->lanes);
}

bool fetches_known(Player *player, uint32_t cluster) {
    Prepass *prepass = player->prepass;
    if (!prepass || !prepass->fetches)
        return false;
    Duplicate *first = &prepass->duplicates[prepass->duplicates[cluster].first];
    if (first == &prepass->duplicates[cluster] || first->fetched < first->fetches)
        return false;
    if (!first->looked) {
        uint32_t races = 0;
        ptx_watch_end(player->watch);
        ptx_watch_races(player->watch, &races);
        first->looked = true;
        first->clean = !races;
    }
    return first->clean;
}

void fetches_reported(Player *player, uint32_t cluster) {
    if (player->prepass && player->prepass->fetches)
        player->prepass->duplicates[cluster].fetched++;
}
