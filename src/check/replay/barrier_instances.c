/* Barriers at which all threads of a CTA meet, which are most of them: the engine gets it when the last warp has come,
 * of all at once, and the machine not at all. Whatever else may happen to such a barrier (threads end, or come to one
 * in another way; or nothing goes on any more) is the machine's to judge: it first gets the threads that stand there,
 * in the order in which they came. */
#include "check/replay/internal.h"

static PlayCluster *cluster_of(const Player *player, const PtxCta *cta) {
    return player->clusters[cta->cluster];
}

static PlayMeeting *meeting_of(const Player *player, const PtxCta *cta) {
    return &cluster_of(player, cta)->meetings[cta->rank];
}

static PlayWarp *warps_of(const Player *player, const PtxCta *cta) {
    return &cluster_of(player, cta)->warps[cta->rank * player->reader.warps];
}

/* Whether those who come there, of whom there is nothing else to do, need not be told to the machine. */
static bool can_overlap(const Player *player, const PlayWarp *warp, const PlaySite *site) {
    const PtxCta *cta = warp->warp->cta;
    const PlayMeeting *meeting = meeting_of(player, cta);
    if (warp->parts || player->other || (player->seen && player->seen->see) || !site->code ||
        cta->live != cta->warp_count * PTX_LANES)
        return false;
    const PtxNamed *named = ptx_named_at(cta, site->barrier);
    return meeting->count ? meeting->barrier == site->barrier : !named || !named->expected;
}

static void come(Player *player, PlayWarp *warp, const PlaySite *site) {
    PlayMeeting *meeting = meeting_of(player, warp->warp->cta);
    play_ran(player->machine, site->code, UINT32_MAX);
    warp->met = site;
    warp->met_as = meeting->count++;
    meeting->barrier = site->barrier;
}

/* Who goes on to the next barrier, and does nothing before it, has come there, too: loops that poll are so, for all
 * warps but the one that does. `last`: where the last of those came, by whom it is known that others can. */
static void come_again(Player *player, PlayWarp *warp, const PlaySite **last) {
    uint32_t next = warp->pending ? UINT32_MAX : record_peek(&warp->stream);
    const PlaySite *site = next == UINT32_MAX ? NULL : &player->sites->items[next];
    if (!site || (site != *last && (!site->meets || !can_overlap(player, warp, site))))
        return;
    record_pass(&warp->stream);
    player->records++;
    come(player, warp, site);
    *last = site;
}

/* Each comes, it flips, and each goes on. */
static void all_meet(Player *player, const PtxCta *cta) {
    PlayWarp *warps = warps_of(player, cta);
    PlayMeeting *meeting = meeting_of(player, cta);
    while (meeting->count == player->reader.warps) {
        ptx_watch_meet(player->watch, cta, meeting->barrier);
        if (player->apart)
            ptx_watch_meet(player->apart, cta, meeting->barrier);
        player->check->events += 2 * player->reader.warps + 1;
        meeting->count = 0;
        const PlaySite *last = NULL;
        for (uint32_t i = 0; i < player->reader.warps; i++)
            warps[i].met = NULL;
        for (uint32_t i = 0; i < player->reader.warps; i++)
            come_again(player, &warps[i], &last);
    }
}

bool meet_comes(Player *player, PlayWarp *warp, const PlaySite *site, const Record *record) {
    bool alone = !warp->pending || (&warp->pending->record == record && !warp->pending->next);
    if (record->lanes != UINT32_MAX || record->torn || record->kind == RECORD_GIVES_UP || !alone ||
        !can_overlap(player, warp, site))
        return false;
    come(player, warp, site);
    all_meet(player, warp->warp->cta);
    return true;
}

/* Who came as that. */
static PlayWarp *who_came(PlayWarp *warps, uint32_t count, uint32_t as) {
    for (uint32_t i = 0; i < count; i++)
        if (warps[i].met && warps[i].met_as == as)
            return &warps[i];
    return NULL;
}

bool overlap_part(Player *player, const PtxCta *cta) {
    PlayMeeting *meeting = cluster_of(player, cta) ? meeting_of(player, cta) : NULL;
    uint32_t count = meeting ? meeting->count : 0;
    if (!count)
        return false;
    meeting->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        PlayWarp *warp = who_came(warps_of(player, cta), player->reader.warps, i);
        Record record = {
            .kind = RECORD_PLAIN, .site = (uint32_t)(warp->met - player->sites->items), .lanes = UINT32_MAX};
        PtxGroup *group = NULL;
        warp->met = NULL;
        warp->parts = true;
        if (!play_try(player, warp, &record, &group))
            play_wait(player, warp, &record, group);
        warp->parts = false;
    }
    return true;
}

bool overlap_part_all(Player *player) {
    bool any = false;
    for (uint32_t i = 0; i < player->cluster_count; i++)
        for (uint32_t k = 0; player->clusters[i] && k < player->machine->cluster_size; k++)
            if (player->clusters[i]->meetings[k].count) {
                overlap_part(player, player->machine->ctas[i * player->machine->cluster_size + k]);
                play_wake(player, player->first_cluster + i);
                any = true;
            }
    return any;
}
