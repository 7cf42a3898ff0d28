/* When nothing goes on any more: where those stand who wait, who ran, and who had not begun. */
#include "check/replay/internal.h"

/* Lanes that gave up at an mbarrier wait for it still. */
static void stand_at_mbarrier(Player *player, const PlaySite *site, const Record *record, PtxGroup *group) {
    PtxLocation location;
    Lanes values;
    if (site->site->part_count) {
        play_values(player, site, record, 0, group->warp->index, &values);
        play_set(player->machine, group, site->arguments[0], &values, record->lanes);
    }
    if (play_location(player->machine, group, site->code, site->object, (uint32_t)__builtin_ctz(record->lanes),
                      &location)) {
        group->status = PTX_IS_MBARRIER;
        group->place = ptx_place(location);
    }
    play_forget_parts(group, site);
}

/* Where lanes stand that have no group: to explain why they wait. */
static void stand(Player *player, PlayWarp *warp) {
    for (ReplayPending *pending = warp->pending; pending; pending = pending->next) {
        if (pending->group || !pending->ready || pending->record.kind == RECORD_EXIT)
            continue;
        const PlaySite *site = &player->sites->items[pending->record.site];
        if (!site->code)
            continue;
        pending->group = play_group(player->machine, warp->warp, site->code, pending->record.lanes);
        bool meets = site->gathers || site->mask;
        pending->group->status = meets ? PTX_IS_LANES_MEET : PTX_IS_SPINS;
        pending->group->waits_for = site->mask ? play_mask(player, warp, site, &pending->record)
                                    : meets    ? play_live(warp->warp)
                                               : 0;
        if (pending->record.kind == RECORD_GIVES_UP && site->site->waits && site->object)
            stand_at_mbarrier(player, site, &pending->record, pending->group);
    }
}

void play_stand(Player *player) {
    uint32_t warps = player->reader.warps * player->machine->cluster_size;
    for (uint32_t i = 0; i < player->cluster_count; i++)
        for (uint32_t k = 0; player->clusters[i] && k < warps; k++)
            stand(player, &player->clusters[i]->warps[k]);
}

static bool has_begun(const Player *player, const PtxWarp *warp) {
    uint32_t id = play_cta_id(player, warp->cta->number);
    return record_begun(player->recording, id * player->reader.warps + warp->index);
}

/* Lanes of which nothing says that they wait. Where some wait for others by a mask, each says where it is; elsewhere
 * one speaks for all. */
static uint32_t running_lanes(const Player *player, const PlayWarp *warp) {
    uint32_t wait = 0;
    bool apart = false;
    for (const ReplayPending *pending = warp->pending; pending; pending = pending->next) {
        wait |= pending->record.lanes;
        apart |= pending->ready && pending->record.kind != RECORD_EXIT && pending->record.kind != RECORD_GIVES_UP &&
                 player->sites->items[pending->record.site].mask;
    }
    return apart || !wait ? play_live(warp->warp) & ~wait : 0;
}

const PtxWarp *play_running(const Player *player, uint32_t *lane) {
    uint32_t warps = player->reader.warps * player->machine->cluster_size;
    for (uint32_t i = 0; i < player->cluster_count; i++)
        for (uint32_t k = 0; player->clusters[i] && k < warps; k++) {
            const PlayWarp *warp = &player->clusters[i]->warps[k];
            uint32_t lanes = running_lanes(player, warp);
            if (lanes && has_begun(player, warp->warp)) {
                *lane = (uint32_t)__builtin_ctz(lanes);
                return warp->warp;
            }
        }
    return NULL;
}

/* Whether the last access to a place leaves something else than what was found there before. */
static bool leaves_other(const Strong *last, uint64_t found) {
    switch (last->kind) {
    case STRONG_WRITE:
        return last->written != found;
    case STRONG_READ:
        return last->finds && last->found != found;
    case STRONG_CAS:
        return last->finds && (last->found == last->compared ? last->written : last->found) != found;
    case STRONG_ADD:
        return last->finds && (last->written || last->found != found);
    default:
        return false;
    }
}

/* The last look of a thread at memory; NULL: it made none. */
static const Strong *last_look(const ModificationOrders *turns, uint32_t thread) {
    const Strong *last = NULL;
    for (uint32_t i = 0; i < turns->read_count; i++)
        if (turns->read[i].thread == thread && (!last || turns->read[i].index > last->index))
            last = &turns->read[i];
    return last;
}

/* Whether there is something else now than what that look found. */
static bool changed_behind(const ModificationOrders *turns, const Strong *look) {
    const Strong *last = look;
    for (uint32_t i = 0; i < turns->read_count; i++)
        if (turns->read[i].key == look->key && turns->numbers[turns->read[i].index] > turns->numbers[last->index])
            last = &turns->read[i];
    return last != look && leaves_other(last, look->found);
}

const PtxWarp *play_served(const Player *player, uint32_t *lane) {
    enum { MOST_ASKED = 64 }; /* of those who gave up */
    uint32_t warps = player->reader.warps * player->machine->cluster_size, asked = 0;
    for (uint32_t i = 0; i < player->cluster_count; i++)
        for (uint32_t k = 0; player->clusters[i] && k < warps; k++) {
            const PlayWarp *warp = &player->clusters[i]->warps[k];
            for (const ReplayPending *pending = warp->pending; pending && asked < MOST_ASKED; pending = pending->next) {
                if (pending->record.kind != RECORD_GIVES_UP || !player->sites->items[pending->record.site].site->strong)
                    continue;
                asked++;
                *lane = (uint32_t)__builtin_ctz(pending->record.lanes);
                const Strong *look =
                    last_look(player->turns, player->first_thread + warp->stream.warp * RECORD_LANES + *lane);
                if (look && look->finds && changed_behind(player->turns, look))
                    return warp->warp;
            }
        }
    return NULL;
}

uint32_t play_not_begun(const Player *player, uint32_t *clusters) {
    uint32_t count = 0, warps = player->reader.warps * player->machine->cluster_size;
    for (uint32_t i = 0; i < player->cluster_count; i++) {
        bool begun = !player->clusters[i];
        for (uint32_t k = 0; !begun && k < warps; k++)
            begun = has_begun(player, player->clusters[i]->warps[k].warp);
        if (!begun)
            clusters[count++] = i;
    }
    return count;
}
