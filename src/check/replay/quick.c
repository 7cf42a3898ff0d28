/* Plain accesses of all lanes to global memory, one beside the other, or all to the same place: most of what many
 * recordings have. They are taken from the stream by site and address alone, without a record of them being made. Where
 * anything is not as it is as a rule, nothing is taken, and the caller handles it as any record. */
#include "check/replay/prepass.h"

typedef enum QuickHow {
    QUICK_NOT,
    QUICK_BESIDE, /* each lane beside the one before */
    QUICK_SAME    /* all read the same */
} QuickHow;

typedef struct PlayQuick {
    uint64_t offset; /* added to what the record says */
    uint64_t odd;    /* bits that the address must not have */
    uint32_t bytes;  /* of a lane */
    uint32_t all;    /* of all of them */
    uint8_t how;     /* QuickHow */
    bool writes;
    bool alone; /* what each lane does so is ordered with what else it does */
} PlayQuick;

static PlayQuick quick_of(const PlaySite *site) {
    const PlayAccess *access = &site->access;
    const SitePart *part = &site->site->parts[0];
    uint32_t bytes = access->access.bytes;
    PlayQuick quick = {.offset = (uint64_t)access->offset, .bytes = bytes};
    if (!site->code || !site->plain || site->site->strong || site->data || site->generic || part->bits != 64 ||
        access->space != PTX_SPACE_GLOBAL || bytes < 2 || bytes > FOOTPRINT_LINE || bytes & (bytes - 1))
        return quick;
    quick.odd = (access->align - 1) | (bytes - 1);
    quick.writes = site->reported.kind != KIND_READ;
    quick.alone = prepass_is_alone(&site->reported);
    if (part->shape == PART_STRIDE && part->stride == bytes)
        quick.how = QUICK_BESIDE;
    else if (part->shape == PART_UNIFORM && !quick.writes)
        quick.how = QUICK_SAME;
    quick.all = quick.how == QUICK_BESIDE ? bytes * PTX_LANES : bytes;
    return quick;
}

void quick_find(Player *player) {
    const PlaySites *sites = player->sites;
    if (player->together || player->apart || player->copies || player->seen)
        return;
    PlayQuick *quick = ARENA_ARRAY(&player->arena, PlayQuick, sites->sites.count + 1);
    for (uint32_t i = 0; i < sites->sites.count; i++)
        quick[i] = quick_of(&sites->items[i]);
    player->quick = quick;
}

/* The next record, if it is such an access; *first: to which byte. */
static inline __attribute__((always_inline)) const PlayQuick *quick_next(const Player *player,
                                                                         const RecordStream *stream, uint32_t *site,
                                                                         uint64_t *first) {
    if (!record_peek_value(stream, site, first))
        return NULL;
    const PlayQuick *quick = &player->quick[*site];
    *first += quick->offset;
    bool can = quick->how && !(*first & quick->odd) && *first < PTX_GLOBAL_END - quick->all &&
               (player->machine->anywhere || play_has(player->machine, *first, *first + quick->all));
    return can ? quick : NULL;
}

bool quick_read(const Player *player, Footprint *footprint, uint32_t warp, RecordStream *stream) {
    const PlayQuick *quick;
    uint64_t first;
    uint32_t site;
    bool any = false;
    while ((quick = quick_next(player, stream, &site, &first))) {
        if (quick->how == QUICK_BESIDE)
            footprint_add_beside(footprint, warp, quick->writes, first, quick->bytes, quick->alone);
        else
            footprint_add(footprint, warp, false, first, footprint_quarters(15));
        record_pass_value(stream);
        any = true;
    }
    return any;
}

uint32_t quick_play(Player *player, PlayWarp *warp, uint32_t most) {
    const Footprint *footprint = player->footprint;
    uint32_t count = 0, site;
    uint64_t first;
    if (!player->quick || player->other || warp->pending || play_live(warp->warp) != UINT32_MAX)
        return 0;
    for (; count < most && !player->stops; count++) {
        const PlayQuick *quick = quick_next(player, &warp->stream, &site, &first);
        if (!quick)
            break;
        bool quiet = footprint && footprint_is_quiet(footprint, first, first + quick->all);
        if (!quiet && (quick->how == QUICK_SAME ||
                       !ptx_watch_beside(player->watch, warp->warp, &player->sites->items[site].reported, first)))
            break;
        record_pass_value(&warp->stream);
    }
    player->check->events += count;
    player->machine->thread_instructions += (uint64_t)count * PTX_LANES;
    player->records += count;
    return count;
}
