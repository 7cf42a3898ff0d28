/* Plain loads and stores, and cp.async, which are most of what a recording has: from the record to the engine, without
 * the machine; strong loads and atomics of one lane, without its groups and registers. */
#include "check/replay/internal.h"
#include "check/replay/order/order.h"

/* Of all lanes, as a table tells them: in one go. */
static bool reach_table(const SitePart *part, const RecordPart *from, uint32_t first_thread, uint64_t plus,
                        uint64_t mask, PlayReach *restrict reach) {
    if (from->kind != RECORD_WARP || part->shape != PART_TABLE || part->bits < 32 ||
        first_thread + PTX_LANES > part->threads)
        return false;
    const uint64_t *restrict offsets = &part->offsets[first_thread];
    uint64_t base = from->value + plus - offsets[0], least = UINT64_MAX, most = 0, bits = 0;
    for (unsigned i = 0; i < PTX_LANES; i++) {
        uint64_t at = (base + offsets[i]) & mask;
        reach->at.at[i] = at;
        least = at < least ? at : least;
        most = at > most ? at : most;
        bits |= at;
    }
    reach->least = least;
    reach->most = most;
    reach->bits = bits;
    return true;
}

void play_reach(const Player *player, const PlaySite *site, const Record *record, uint32_t warp, unsigned part,
                int64_t plus, PlayReach *reach) {
    uint64_t offset = (uint64_t)plus;
    uint64_t mask = site->site->parts[part].bits == 32 ? UINT32_MAX : UINT64_MAX;
    uint64_t least = UINT64_MAX, most = 0, bits = 0;
    bool all = record->lanes == UINT32_MAX;
    if (all && !(site->generic >> part & 1) &&
        reach_table(&site->site->parts[part], &record->parts[part], warp * PTX_LANES, offset, mask, reach))
        return;
    play_values(player, site, record, part, warp, &reach->at);
    for (unsigned i = 0; i < PTX_LANES; i++) {
        uint64_t at = (reach->at.at[i] + offset) & mask, in = (uint64_t)0 - (record->lanes >> i & 1);
        uint64_t low = at | ~in, high = at & in;
        reach->at.at[i] = at;
        least = low < least ? low : least;
        most = high > most ? high : most;
        bits |= high;
    }
    reach->least = least;
    reach->most = most;
    reach->bits = bits;
}

/* Of a variable: all lanes have the same. */
static void find_symbol(const Player *player, const PlaySite *site, const PtxCta *cta, PlayReach *reach) {
    const PtxProgram *program = player->machine->program;
    const PtxArgument *base = site->access.base;
    uint64_t at = program->seats[base->slot].at + (uint64_t)base->offset;
    if (program->module->capability >= 90)
        at |= (uint64_t)cta->rank << PTX_RANK_SHIFT;
    at = (at + (uint64_t)site->access.offset) & (base->bits == 32 ? UINT32_MAX : UINT64_MAX);
    for (unsigned i = 0; i < PTX_LANES; i++)
        reach->at.at[i] = at;
    reach->least = reach->most = reach->bits = at;
}

static bool is_aligned(const PlayReach *reach, uint32_t align) {
    return !(reach->bits & (align - 1));
}

/* Whether all of it is the CTA's own shared memory, of which `least` and `most` of the reach are offsets then; *from:
 * what its lanes are behind. */
static bool is_own_shared(const PtxMachine *machine, const PtxCta *cta, uint32_t bytes, PlayReach *reach,
                          uint64_t *from) {
    bool ranked = machine->program->module->capability >= 90;
    uint64_t base = ranked ? (uint64_t)cta->rank << PTX_RANK_SHIFT : 0;
    if (reach->least < base || reach->most - base + bytes > cta->shared.size ||
        (ranked && reach->least - base < PTX_SHARED_FIRST))
        return false;
    reach->least -= base;
    reach->most -= base;
    *from = base;
    return true;
}

/* Where the engine has it. False: the machine has to look at it. */
static bool place(const Player *player, const PtxWarp *warp, const PlayAccess *access, PlayReach *reach) {
    const PtxMachine *machine = player->machine;
    uint32_t bytes = access->access.bytes;
    PtxSpace space = access->space;
    if (space == PTX_SPACE_UNKNOWN) {
        bool low = reach->least >= PLAY_WINDOWS, high = reach->most >= PLAY_WINDOWS;
        if (low != high || (low && reach->most - PLAY_WINDOWS >= PTX_WINDOW_SIZE))
            return false;
        for (unsigned i = 0; low && i < PTX_LANES; i++)
            reach->at.at[i] -= PLAY_WINDOWS;
        reach->least -= low ? PLAY_WINDOWS : 0;
        reach->most -= low ? PLAY_WINDOWS : 0;
        space = low ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL;
    }
    if (space == PTX_SPACE_GLOBAL && reach->most >= PTX_GLOBAL_END - bytes)
        return false;
    if (space == PTX_SPACE_GLOBAL && player->copies && copies_near(player, reach->least, reach->most + bytes))
        return false;
    if (space == PTX_SPACE_GLOBAL)
        return machine->anywhere || play_has(player->machine, reach->least, reach->most + bytes);
    uint64_t from;
    if (space != PTX_SPACE_SHARED || !is_own_shared(machine, warp->cta, bytes, reach, &from))
        return false;
    if (access->access.kind != KIND_READ && history_near(player->check->history, reach->least, reach->most + bytes))
        return false;
    uint64_t base = threads_shared(ptx_watch_cta(player->watch, warp->cta->number), 0) - from;
    for (unsigned i = 0; i < PTX_LANES; i++)
        reach->at.at[i] += base;
    return true;
}

bool play_is_beside(const PlaySite *site, const Record *record, uint64_t *first) {
    const SitePart *part = &site->site->parts[0];
    *first = record->parts[0].value + (uint64_t)site->access.offset;
    if (part->bits == 32)
        *first = (uint32_t)*first;
    return record->lanes == UINT32_MAX && record->parts[0].kind == RECORD_WARP && part->shape == PART_STRIDE &&
           part->stride == site->access.access.bytes;
}

/* Whether nothing can race for anything from `least` on, before `end`, in global memory, and that is decided soon. */
static bool is_quiet_between(const Player *player, uint64_t least, uint64_t end) {
    enum { NEAR = 1 << 18 }; /* bytes that are sooner looked at as a whole */
    return footprint_is_far(player->footprint, least, end) ||
           (end - least < NEAR && footprint_is_quiet(player->footprint, least, end));
}

/* The same of what the lanes access. */
static bool is_quiet(const Player *player, uint32_t lanes, const PlayReach *reach, uint32_t bytes) {
    if (!player->footprint || reach->at.at[__builtin_ctz(lanes)] >> 62)
        return false;
    return is_quiet_between(player, reach->least, reach->most + bytes) ||
           footprint_are_quiet(player->footprint, lanes, reach->at.at, bytes);
}

/* All lanes, each beside the one before: nothing is looked at lane by lane. */
static bool play_beside(Player *player, PtxWarp *warp, const PlaySite *site, const Record *record) {
    const PlayAccess *access = &site->access;
    uint32_t bytes = access->access.bytes;
    uint64_t first, all = (uint64_t)bytes * PTX_LANES;
    if (player->apart || !play_is_beside(site, record, &first))
        return false;
    PtxSpace space = access->space;
    if (site->generic & 1) {
        if (play_generic(player, first) != first || play_generic(player, first + all) != first + all)
            return false;
        space = PTX_SPACE_GLOBAL;
    }
    if (space == PTX_SPACE_SHARED) {
        PlayReach reach = {.least = first, .most = first + all - bytes};
        uint64_t from;
        if (!is_own_shared(player->machine, warp->cta, bytes, &reach, &from) ||
            (access->access.kind != KIND_READ && history_near(player->check->history, reach.least, reach.most + bytes)))
            return false;
        if (player->stored && access->access.kind != KIND_READ)
            return false;
        first = threads_shared(ptx_watch_cta(player->watch, warp->cta->number), reach.least);
    } else if (space != PTX_SPACE_GLOBAL || first >= PTX_GLOBAL_END - all ||
               !(player->machine->anywhere || play_has(player->machine, first, first + all)) ||
               (player->copies && copies_near(player, first, first + all))) {
        return false;
    } else if (player->footprint && first % bytes == 0 && footprint_is_quiet(player->footprint, first, first + all)) {
        return true;
    }
    return ptx_watch_beside(player->watch, warp, &site->reported, first);
}

/* Lanes that write to shared memory what is there. */
static uint32_t stored_silent(Player *player, const PtxWarp *warp, const PlaySite *site, const Record *record,
                              const Lanes *addresses, uint32_t bytes) {
    uint64_t base = threads_shared(ptx_watch_cta(player->watch, warp->cta->number), 0), offsets[PTX_LANES];
    if (addresses->at[__builtin_ctz(record->lanes)] < base)
        return 0;
    for (unsigned i = 0; i < PTX_LANES; i++)
        offsets[i] = addresses->at[i] - base;
    return stored_put(player, warp->cta->number, record->lanes, offsets, bytes, site, record, warp->index);
}

bool play_plain(Player *player, PtxWarp *warp, const PlaySite *site, const Record *record) {
    PlayReach reach;
    if (!site->symbol && play_beside(player, warp, site, record)) {
        player->check->events++;
        player->machine->thread_instructions += PTX_LANES;
        return true;
    }
    if (site->symbol)
        find_symbol(player, site, warp->cta, &reach);
    else
        play_reach(player, site, record, warp->index, 0, site->access.offset, &reach);
    if (!is_aligned(&reach, site->access.align) || !place(player, warp, &site->access, &reach))
        return false;
    uint32_t lanes = (uint32_t)__builtin_popcount(record->lanes);
    ThreadsAccess reported = site->reported;
    player->check->events++;
    player->machine->thread_instructions += lanes;
    if (is_quiet(player, record->lanes, &reach, site->access.access.bytes))
        return true;
    if (player->stored && reported.kind == KIND_WRITE)
        reported.silent = stored_silent(player, warp, site, record, &reach.at, site->access.access.bytes);
    ptx_watch_access(player->watch, warp, record->lanes, &reported, reach.at.at);
    if (player->apart)
        ptx_watch_access(player->apart, warp, record->lanes, &reported, reach.at.at);
    return true;
}

/* Whether a part is the same in all lanes of the record, as can be seen without a look at each: *value. */
static bool is_uniform(const PlaySite *site, const Record *record, unsigned index, uint32_t *value) {
    const RecordPart *part = &record->parts[index];
    const SitePart *about = &site->site->parts[index];
    uint32_t bits = part->kind == RECORD_BITS ? (uint32_t)(part->value >> 32) & record->lanes : 0;
    *value = (uint32_t)part->value + (bits ? (uint32_t)about->stride : 0);
    if (site->generic >> index & 1)
        return false;
    return part->kind == RECORD_BITS
               ? !bits || bits == record->lanes
               : part->kind == RECORD_UNIFORM || (part->kind == RECORD_WARP && about->shape == PART_UNIFORM);
}

bool play_is_left_out(const Player *player, const PlaySite *site, const Record *record, uint32_t cta) {
    uint64_t address;
    if (!player->loose || record->kind != RECORD_LANE || record->lanes & (record->lanes - 1) ||
        play_key_place(play_strong_key(player, site, record, cta), &address) != PLACE_GLOBAL)
        return false;
    return address % site->strong_bytes == 0 &&
           footprint_is_quiet(player->footprint, address, address + site->strong_bytes * site->strong_count);
}

bool play_strong(Player *player, PtxWarp *warp, const PlaySite *site, const Record *record) {
    uint64_t address;
    if (record->kind != RECORD_LANE || site->space != PTX_SPACE_GLOBAL || record->lanes & (record->lanes - 1) ||
        !play_strong_address(player, site, record, &address))
        return false;
    player->site = site;
    player->record = record;
    return play_lane(player->machine, warp, site->code, (uint32_t)__builtin_ctz(record->lanes), address,
                     play_stores(site, record) != 0);
}

/* How many of its bytes each lane reads: all, or none. False: some read others. */
static bool reads_symmetry(const Player *player, const PtxWarp *warp, const PlaySite *site, const Record *record,
                           uint32_t *bytes) {
    Lanes sizes;
    uint32_t differs = 0;
    *bytes = site->copy.bytes;
    if (!site->copy.limit)
        return true;
    if (is_uniform(site, record, site->limit_part, bytes))
        return !*bytes || *bytes == site->copy.bytes;
    play_values(player, site, record, site->limit_part, warp->index, &sizes);
    *bytes = (uint32_t)sizes.at[__builtin_ctz(record->lanes)];
    for (unsigned i = 0; i < PTX_LANES; i++)
        differs |= record->lanes >> i & 1 ? (uint32_t)sizes.at[i] ^ *bytes : 0;
    return !differs && (!*bytes || *bytes == site->copy.bytes);
}

/* The same of what a cp.async reads, told by the corners of its lanes alone: each is a sum of what these add. */
static bool reads_quiet(const Player *player, const PlaySite *site, const Record *record) {
    const PlayCopy *copy = &site->copy;
    const RecordPart *part = &record->parts[site->from_part];
    uint64_t adds[RECORD_CORNER_LANES - 1], least = part->value + (uint64_t)copy->from.offset, most = least;
    uint64_t bits = least;
    if (!player->footprint || part->kind != RECORD_CORNERS || record->lanes != UINT32_MAX ||
        copy->from.space != PTX_SPACE_GLOBAL || site->site->parts[site->from_part].bits != 64)
        return false;
    record_corners(part, adds);
    for (unsigned i = 0; i + 1 < RECORD_CORNER_LANES; i++) {
        bool down = adds[i] >> 63;
        if ((down ? -adds[i] : adds[i]) >= PTX_GLOBAL_END || (down && -adds[i] > least))
            return false;
        least += down ? adds[i] : 0;
        most += down ? 0 : adds[i];
        bits |= adds[i];
    }
    uint64_t end = most + copy->bytes;
    return !(bits & (copy->bytes - 1)) && most < PTX_GLOBAL_END - copy->bytes &&
           !(player->copies && copies_near(player, least, end)) &&
           (player->machine->anywhere || play_has(player->machine, least, end)) && is_quiet_between(player, least, end);
}

static void count_copies(Player *player, const Record *record, bool reads) {
    enum { EVENTS = 3 }; /* as the machine has them: it is issued, writes, and lands; and reads, if it does */
    player->check->events += EVENTS + reads;
    player->machine->thread_instructions += (uint32_t)__builtin_popcount(record->lanes);
}

bool play_copies(Player *player, PtxWarp *warp, const PlaySite *site, const Record *record) {
    const PlayCopy *copy = &site->copy;
    uint32_t read;
    PlayReach from, to;
    if (player->apart || !reads_symmetry(player, warp, site, record, &read))
        return false;
    PtxCopySide reads = {.span = {UINT64_MAX, 0}};
    if (!read || !reads_quiet(player, site, record)) {
        play_reach(player, site, record, warp->index, site->from_part, copy->from.offset, &from);
        PtxCopySide all = {&site->reads, from.at.at, {from.least, from.most + copy->bytes}};
        if (!is_aligned(&from, copy->bytes) || (read && !place(player, warp, &copy->from, &from)))
            return false;
        if (read && !is_quiet(player, record->lanes, &from, copy->bytes))
            reads = all;
    }
    if (!reads.reported && fetches_known(player, warp->cta->cluster)) {
        count_copies(player, record, read != 0);
        return true;
    }
    play_reach(player, site, record, warp->index, site->to_part, copy->to.offset, &to);
    PtxCopySide writes = {&site->writes, to.at.at, {to.least, to.most + copy->bytes}};
    if (!is_aligned(&to, copy->bytes) || !place(player, warp, &copy->to, &to))
        return false;
    if (!ptx_watch_copy(player->watch, warp, record->lanes, &reads, &writes))
        return false;
    if (player->stored) /* what it brings is not known */
        stored_silent(player, warp, site, record, &to.at, copy->bytes);
    fetches_reported(player, warp->cta->cluster);
    count_copies(player, record, read != 0);
    return true;
}

/* Of 16 bytes there is a hash, which is taken for them. */
uint32_t play_stores(const PlaySite *site, const Record *record) {
    bool fails = site->strong_kind == STRONG_CAS && site->finds && record->found != record->compared;
    return fails ? 0 : UINT32_MAX;
}
