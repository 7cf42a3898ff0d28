/* The records of all warps, in an order in which they could have happened: a warp goes on until what it does has to
 * wait for others. What is asynchronous is done when it is issued.
 *
 * A wait that succeeded is recorded behind it, so that it can be true already; everything else is recorded before.
 * Lanes of a warp that went apart are played apart: a record waits only for those before it that have lanes in common.
 */
#include "check/replay/internal.h"

#include "base/deadline.h"

enum { TURN = 512, MOST_PENDING = 4096 };

/* ---- CTAs ----------------------------------------------------------------------------------------- */

uint32_t play_cta_id(const Player *player, uint32_t number) {
    return recording_cta(&player->recording->launch, number);
}

static void enqueue(Player *player, PlayCluster *cluster) {
    if (!cluster || cluster->queued || cluster->over)
        return;
    cluster->queued = true;
    cluster->next = NULL;
    *player->queue_end = cluster;
    player->queue_end = &cluster->next;
}

static PlayCluster *dequeue(Player *player) {
    PlayCluster *cluster = player->queue;
    if (!cluster)
        return NULL;
    player->queue = cluster->next;
    if (!player->queue)
        player->queue_end = &player->queue;
    cluster->queued = false;
    return cluster;
}

static void open_warp(Player *player, PlayWarp *to, PtxWarp *warp, uint32_t id) {
    uint32_t number = id * player->reader.warps + warp->index;
    RecordCursor *room = to->room;
    if (!room && record_reader_leaders(&player->reader, number) > 1)
        room = ARENA_ARRAY(&player->arena, RecordCursor, RECORD_LEADERS);
    *to = (PlayWarp){.warp = warp, .room = room};
    record_stream(&to->stream, &player->reader, number, room);
}

PlayCluster *play_begin(Player *player) {
    PtxMachine *machine = player->machine;
    uint32_t number = player->begun++, warps = player->reader.warps;
    PlayCluster *cluster = player->free_clusters;
    if (cluster)
        player->free_clusters = cluster->next;
    else
        cluster = ARENA_NEW(&player->arena, PlayCluster);
    if (!cluster->warps) {
        cluster->warps = ARENA_ARRAY(&player->arena, PlayWarp, warps * machine->cluster_size);
        cluster->meetings = ARENA_ARRAY(&player->arena, PlayMeeting, machine->cluster_size);
    }
    cluster->number = number;
    cluster->over = cluster->queued = false;
    ptx_machine_begin(machine, number);
    for (uint32_t rank = 0; rank < machine->cluster_size; rank++) {
        PtxCta *cta = machine->ctas[number * machine->cluster_size + rank];
        uint32_t id = play_cta_id(player, cta->number);
        for (uint32_t i = 0; i < warps; i++) {
            open_warp(player, &cluster->warps[rank * warps + i], &cta->warps[i], id);
        }
    }
    for (uint32_t rank = 0; player->together && rank < machine->cluster_size; rank++)
        together_begins(player, machine->ctas[number * machine->cluster_size + rank]);
    player->clusters[number] = cluster;
    player->live++;
    enqueue(player, cluster);
    return cluster;
}

static void end_cluster(Player *player, PlayCluster *cluster) {
    player->clusters[cluster->number] = NULL;
    for (uint32_t i = 0; player->stored && i < player->machine->cluster_size; i++)
        stored_over(player, cluster->number * player->machine->cluster_size + i);
    cluster->over = true;
    player->live--;
    prepass_over(player, cluster);
    if (cluster->queued) /* it was woken by what it did itself last */
        return;
    cluster->next = player->free_clusters;
    player->free_clusters = cluster;
}

/* ---- One record ----------------------------------------------------------------------------------- */

/* It cannot be modeled: told once. */
static void note_unknown(Player *player) {
    PtxMachine *machine = player->machine;
    uint32_t at = (uint32_t)(machine->unknown - machine->program->code);
    if (!player->unknown_codes[at]++)
        threads_unmodeled(player->check);
    machine->unknown = NULL;
    machine->unknown_why = NULL;
}

static void set_registers(Player *player, PtxGroup *group, const PlaySite *site, const Record *record) {
    for (unsigned i = 0; i < record->part_count; i++) {
        Lanes values;
        if (!site->arguments[i]) /* what it stores */
            continue;
        play_values(player, site, record, i, group->warp->index, &values);
        play_set(player->machine, group, site->arguments[i], &values, record->lanes);
    }
}

void play_forget_parts(PtxGroup *group, const PlaySite *site) {
    for (unsigned i = 0; i < site->site->part_count; i++)
        if (site->arguments[i])
            play_forget(group, site->arguments[i]);
}

/* Runs what the group stands before. False: it waits. */
static bool run_group(Player *player, PtxGroup *group, const PlaySite *site, const Record *record) {
    PtxMachine *machine = player->machine;
    machine->map = record->map;
    machine->stores = play_stores(site, record);
    player->site = site;
    player->record = record;
    PtxStep step = play_run(machine, group, site->code);
    machine->map = NULL;
    play_forget_parts(group, site);
    if (step == PTX_STEP_WAITS && !machine->unknown)
        return false;
    if (step == PTX_STEP_FAULT || machine->fault.code)
        player->stops = true;
    else if (machine->unknown)
        note_unknown(player);
    play_done(machine, group);
    return true;
}

static bool try_site(Player *player, PlayWarp *warp, const PlaySite *site, const Record *record, PtxGroup **group) {
    if (*group && !ptx_group_can_go(player->machine, *group))
        return false;
    if (!*group)
        *group = play_group(player->machine, warp->warp, site->code, record->lanes);
    set_registers(player, *group, site, record);
    if (site->state)
        tokens_set(player, *group, site, record);
    if (!run_group(player, *group, site, record))
        return false;
    *group = NULL;
    return true;
}

/* Lanes look at mbarriers: whether in vain is told behind it, if not. */
static void test_mbarriers(Player *player, PlayWarp *warp, const PlaySite *site, const Record *record) {
    PtxMachine *machine = player->machine;
    PtxGroup *group = play_group(machine, warp->warp, site->code, record->lanes);
    PtxEvent event = {.kind = PTX_EVENT_TEST, .code = site->code, .warp = warp->warp};
    PtxLocation location;
    set_registers(player, group, site, record);
    for (uint32_t left = record->lanes; left; left &= left - 1)
        if (play_location(machine, group, site->code, site->tested, (uint32_t)__builtin_ctz(left), &location)) {
            uint64_t place = ptx_place(location);
            if (event.lanes && event.place != place) {
                ptx_emit(machine, &event);
                event.lanes = 0;
            }
            event.place = place;
            event.lanes |= left & -left;
        }
    if (event.lanes)
        ptx_emit(machine, &event);
    play_forget_parts(group, site);
    play_done(machine, group);
}

/* A strong access that is not in its turn: it orders nothing. */
static bool try_blind(Player *player, PlayWarp *warp, const PlaySite *site, Record *record, PtxGroup **group) {
    ptx_watch_blind(player->watch, true);
    if (player->apart)
        ptx_watch_blind(player->apart, true);
    bool done = try_site(player, warp, site, record, group);
    ptx_watch_blind(player->watch, false);
    if (player->apart)
        ptx_watch_blind(player->apart, false);
    return done;
}

static bool try_strong(Player *player, PlayWarp *warp, const PlaySite *site, Record *record, PtxGroup **group) {
    if (play_is_left_out(player, site, record, warp->warp->cta->number)) {
        player->check->events++;
        play_ran(player->machine, site->code, record->lanes);
        return true;
    }
    if (player->loose_shared && !play_has_turns(player, site))
        return try_blind(player, warp, site, record, group);
    if (player->loose)
        return (!*group && play_strong(player, warp->warp, site, record)) ||
               try_site(player, warp, site, record, group);
    StrongPlace *place = turns_place(player, site, record, warp->warp->cta->number);
    if (!turn_has_come(player, place, record->turn, warp->warp->cta->cluster))
        return false;
    if (!(!*group && play_strong(player, warp->warp, site, record)) && !try_site(player, warp, site, record, group))
        return false;
    uint32_t woken = turns_pass(player, place);
    if (woken)
        play_wake(player, woken - 1);
    return true;
}

/* ---- Lanes that have to come together ------------------------------------------------------------- */

uint32_t play_live(const PtxWarp *warp) {
    return warp->launched & ~warp->exited;
}

uint32_t play_mask(const Player *player, const PlayWarp *warp, const PlaySite *site, const Record *record) {
    Lanes values;
    if (site->mask->kind == ARGUMENT_CONSTANT)
        return (uint32_t)player->check->program->constants[site->mask->slot].at[0];
    if (!record->part_count)
        return play_live(warp->warp);
    if (record->parts[0].kind == RECORD_UNIFORM && !(site->generic & 1))
        return (uint32_t)record->parts[0].value;
    play_values(player, site, record, 0, warp->warp->index, &values);
    return (uint32_t)values.at[__builtin_ctz(record->lanes)];
}

/* Lanes that the record's instruction is for. */
static uint32_t wanted_lanes(const Player *player, const PlayWarp *warp, const PlaySite *site, const Record *record) {
    return play_live(warp->warp) & (site->mask ? play_mask(player, warp, site, record) : UINT32_MAX);
}

static bool comes_together(const Player *player, const PlayWarp *warp, const PlaySite *site, const Record *record,
                           const ReplayPending *other) {
    const PlaySite *there = other->record.site < player->sites->sites.count && other->record.kind <= RECORD_LANE
                                ? &player->sites->items[other->record.site]
                                : NULL;
    if (!there || !other->ready || other->group)
        return false;
    if (!site->mask)
        return there == site;
    return there->mask && there->hands == site->hands &&
           play_mask(player, warp, there, &other->record) == play_mask(player, warp, site, record);
}

static void drop_pending(Player *player, ReplayPending **at) {
    ReplayPending *pending = *at;
    *at = pending->next;
    pending->next = player->free_pending;
    player->free_pending = pending;
}

/* A record of several, whose values are the same in all lanes: it is run again when its wait is over. */
static void make_uniform(const Player *player, const PlayWarp *warp, const PlaySite *site, Record *record,
                         uint32_t lanes) {
    for (unsigned i = 0; i < record->part_count; i++) {
        Lanes values;
        play_values(player, site, record, i, warp->warp->index, &values);
        record->parts[i] = (RecordPart){.kind = RECORD_UNIFORM, .value = values.at[__builtin_ctz(record->lanes)]};
    }
    record->lanes = lanes;
}

/* Lanes came whose masks, which are known without a record, lack them. */
static bool fault_unnamed(Player *player, PlayWarp *warp, const PlaySite *site, const Record *record) {
    PtxMachine *machine = player->machine;
    PtxGroup *group = play_group(machine, warp->warp, site->code, record->lanes);
    ptx_unnamed(machine, group, site->code, record->lanes & site->site->unnamed);
    player->stops = true;
    play_done(machine, group);
    return true;
}

/* All lanes have come: those of `record`, and of what is pending with it, which is taken out. */
static bool run_together(Player *player, PlayWarp *warp, const PlaySite *site, Record *record, uint32_t lanes,
                         PtxGroup **group) {
    PtxMachine *machine = player->machine;
    if (site->mask && !site->hands) {
        ptx_emit(machine,
                 &(PtxEvent){.kind = PTX_EVENT_WARP_SYNC, .code = site->code, .warp = warp->warp, .lanes = lanes});
    } else if (!site->mask) {
        *group = play_group(machine, warp->warp, site->code, lanes);
        set_registers(player, *group, site, record);
    }
    for (ReplayPending **at = &warp->pending; *at;) {
        if (&(*at)->record == record || !comes_together(player, warp, site, record, *at)) {
            at = &(*at)->next;
            continue;
        }
        if (*group)
            set_registers(player, *group, site, &(*at)->record);
        drop_pending(player, at);
    }
    if (site->mask)
        return true;
    if (run_group(player, *group, site, record)) {
        *group = NULL;
        return true;
    }
    make_uniform(player, warp, site, record, lanes);
    return false;
}

static bool try_together(Player *player, PlayWarp *warp, const PlaySite *site, Record *record, PtxGroup **group) {
    if (*group)
        return try_site(player, warp, site, record, group);
    uint32_t wanted = wanted_lanes(player, warp, site, record), here = record->lanes;
    if (record->lanes & ~wanted) /* its mask lacks a lane of its own, which is a fault */
        return try_site(player, warp, site, record, group);
    for (const ReplayPending *other = warp->pending; (wanted & ~here) && other; other = other->next)
        if (&other->record != record && comes_together(player, warp, site, record, other))
            here |= other->record.lanes;
    return !(wanted & ~here) && run_together(player, warp, site, record, here, group);
}

/* `joined`: others have joined it, and it is before what waits for them. */
static ReplayPending *keep(Player *player, PlayWarp *warp, const Record *record, PtxGroup *group, bool joined) {
    ReplayPending *pending = player->free_pending, **at = &warp->pending;
    if (pending)
        player->free_pending = pending->next;
    else
        pending = ARENA_NEW(&player->arena, ReplayPending);
    record_copy(&pending->record, record);
    pending->group = group;
    pending->ready = false;
    while (!joined && *at)
        at = &(*at)->next;
    pending->next = *at;
    return *at = pending;
}

/* Lanes of a bar.warp.sync or the like may have different masks: those of each are a record of their own. `record`
 * becomes the last of them; the others are kept. */
static void part_masks(Player *player, PlayWarp *warp, const PlaySite *site, Record *record) {
    Lanes masks;
    if (!record->part_count || record->parts[0].kind == RECORD_UNIFORM)
        return;
    play_values(player, site, record, 0, warp->warp->index, &masks);
    for (uint32_t rest = record->lanes; rest;) {
        uint32_t mask = (uint32_t)masks.at[__builtin_ctz(rest)], same = 0;
        for (uint32_t more = rest; more; more &= more - 1)
            same |= (uint32_t)masks.at[__builtin_ctz(more)] == mask ? more & -more : 0;
        Record part = *record;
        part.parts[0] = (RecordPart){.kind = RECORD_UNIFORM, .value = mask};
        part.lanes = same;
        rest &= ~same;
        if (rest)
            keep(player, warp, &part, NULL, false);
        else
            *record = part;
    }
}

/* A wait of a thread that waits only when it is allowed to. */
static bool try_held(Player *player, PlayWarp *warp, const PlaySite *site, const Record *record, PtxGroup **group) {
    if (!player->lets || !try_site(player, warp, site, record, group))
        return false;
    player->lets = false;
    return true;
}

/* ---- All kinds ------------------------------------------------------------------------------------ */

/* Whether something wants to see plain accesses of the warp. */
static bool is_seen(const Player *player, const PtxWarp *warp) {
    const RecordingSeen *seen = player->seen;
    return seen && seen->see && (seen->all || warp->cta->cluster == seen->cluster);
}

/* Whether an address of it is that of no memory, for which some of it need not be missing. */
static bool is_null(const PlaySite *site, const Record *record) {
    enum { NULL_PAGE = 1 << 16 };
    for (unsigned i = 0; i < record->part_count; i++)
        if (site->site->parts[i].bits == 64 && record->parts[i].value < NULL_PAGE)
            return true;
    return false;
}

/* Whether it is a fence that is to come when nothing else can go on. */
static bool is_late(const Player *player, const PlayWarp *warp, const PlaySite *site) {
    return site->sequential && player->late == warp->warp->cta->cluster + 1;
}

/* Does what the record says. False: it has to wait; *group says what for, if the machine knows. */
static bool try_record(Player *player, PlayWarp *warp, Record *record, PtxGroup **group) {
    if (record->kind == RECORD_EXIT) {
        overlap_part(player, warp->warp->cta);
        play_exit(player->machine, warp->warp, record->lanes);
        return true;
    }
    const PlaySite *site = &player->sites->items[record->site];
    if (record->kind == RECORD_GIVES_UP) {
        warp->gave_up |= record->lanes;
        return false;
    }
    if (!site->code || record->lanes & ~play_live(warp->warp)) {
        player->reader.damaged++;
        player->reader.problem = "the recording is damaged: its threads do impossible things";
        return true;
    }
    bool seen = is_seen(player, warp->warp);
    bool lacks = record->torn && !is_null(site, record);
    if (site->plain && /* as most are */
        (lacks || player->other || (!seen && play_plain(player, warp->warp, site, record))))
        return true;
    if (site->meets && !*group && meet_comes(player, warp, site, record))
        return true;
    if (site->at_named)
        overlap_part(player, warp->warp->cta);
    if (record->lanes & site->site->unnamed)
        return fault_unnamed(player, warp, site, record);
    if (lacks)
        return true;
    if (site->symbol && !player->other && !seen && play_plain(player, warp->warp, site, record))
        return true;
    if (site->copies && !player->other && !player->apart && !seen && play_copies(player, warp->warp, site, record))
        return true;
    if (site->awaits && player->together && !together_may_go_on(player))
        return false;
    if (warp == player->held && site->object)
        return try_held(player, warp, site, record, group);
    if (site->site->strong)
        return try_strong(player, warp, site, record, group);
    if (is_late(player, warp, site)) {
        if (!player->lets)
            return false;
        player->lets = false;
    }
    if (site->tested) {
        test_mbarriers(player, warp, site, record);
        return true;
    }
    if (site->gathers || site->mask)
        return try_together(player, warp, site, record, group);
    return try_site(player, warp, site, record, group);
}

bool play_try(Player *player, PlayWarp *warp, Record *record, PtxGroup **group) {
    return try_record(player, warp, record, group);
}

void play_wait(Player *player, PlayWarp *warp, const Record *record, PtxGroup *group) {
    keep(player, warp, record, group, false)->ready = true;
}

/* Those that have waited. Lanes that still do. */
static uint32_t retry(Player *player, PlayWarp *warp, bool *any, uint32_t *count) {
    for (bool again = true; again;) {
        uint32_t blocked = 0;
        again = false;
        *count = 0;
        for (ReplayPending *pending = warp->pending; pending; pending = pending->next) {
            pending->ready = !(pending->record.lanes & blocked);
            blocked |= pending->record.lanes;
            ++*count;
        }
        for (ReplayPending *pending = warp->pending; pending && !player->stops && !again; pending = pending->next) {
            uint32_t lanes = pending->record.lanes;
            bool done = pending->ready && try_record(player, warp, &pending->record, &pending->group);
            if (!done && pending->record.lanes == lanes)
                continue;
            ReplayPending **at = &warp->pending;
            while (*at != pending)
                at = &(*at)->next;
            if (done) {
                drop_pending(player, at);
            } else { /* others have joined it: it is before what waits for them */
                *at = pending->next;
                pending->next = warp->pending;
                warp->pending = pending;
            }
            *any = again = true;
            break;
        }
        if (!again)
            return blocked;
    }
    return 0;
}

bool play_turn(Player *player, PlayWarp *warp) {
    bool any = false;
    uint32_t count = 0, blocked = warp->pending ? retry(player, warp, &any, &count) : 0;
    for (unsigned i = 0; i < TURN && !warp->drained && !warp->met && !player->stops; i++) {
        Record record;
        PtxGroup *group = NULL;
        uint32_t taken = record_has_value(&warp->stream) ? quick_play(player, warp, TURN - i) : 0;
        if (taken) {
            any = true;
            i += taken - 1;
            continue;
        }
        if (blocked && (!(play_live(warp->warp) & ~blocked) || count >= MOST_PENDING))
            break;
        if (!record_next(&warp->stream, &record)) {
            warp->drained = true;
            break;
        }
        any = true;
        player->records++;
        if (record.kind == RECORD_LANE)
            turns_take(player, warp, &record);
        const PlaySite *site = record.kind == RECORD_EXIT ? NULL : &player->sites->items[record.site];
        if (site && site->mask) {
            part_masks(player, warp, site, &record);
            blocked = warp->pending ? retry(player, warp, &any, &count) : blocked;
        }
        uint32_t lanes = record.lanes;
        if (!(record.lanes & blocked) && try_record(player, warp, &record, &group)) {
            if (warp->pending)
                blocked = retry(player, warp, &any, &count);
            continue;
        }
        ReplayPending *pending = keep(player, warp, &record, group, record.lanes != lanes);
        pending->ready = record.lanes != lanes || !(record.lanes & blocked);
        blocked |= record.lanes;
        count++;
    }
    return any;
}

bool play_ended(const Player *player, const PlayCluster *cluster) {
    for (uint32_t i = 0; i < player->reader.warps * player->machine->cluster_size; i++)
        if (cluster->warps[i].pending || !cluster->warps[i].drained || play_live(cluster->warps[i].warp))
            return false;
    return true;
}

bool play_takes_turns(const Player *player, const PlayCluster *cluster) {
    for (uint32_t i = 0; i < player->reader.warps * player->machine->cluster_size; i++)
        for (const ReplayPending *pending = cluster->warps[i].pending; pending; pending = pending->next)
            if (pending->ready && pending->record.kind == RECORD_LANE &&
                player->sites->items[pending->record.site].site->strong)
                return true;
    return false;
}

/* For progress: clusters that are over. */
static void report_progress(Player *player) {
    enum { PASSES = 64 };
    const ThreadsOptions *options = player->check->options;
    if (options->progress && ++player->passes % PASSES == 0)
        options->progress(options->context, player->check->launch->text, player->begun - player->live,
                          player->cluster_count);
}

static void run_cluster(Player *player, PlayCluster *cluster) {
    PtxMachine *machine = player->machine;
    uint32_t warps = player->reader.warps * machine->cluster_size;
    for (bool any = true; any && !player->stops && !deadline_passed();) {
        any = false;
        report_progress(player);
        for (uint32_t i = 0; i < warps && !player->stops && !deadline_passed(); i++) {
            PlayWarp *warp = &cluster->warps[i];
            if (warp->pending || (!warp->drained && !warp->met))
                any |= play_turn(player, warp);
        }
    }
    if (!player->stops && play_ended(player, cluster) && play_end(machine, cluster->number))
        end_cluster(player, cluster);
}

/* ---- All of it ------------------------------------------------------------------------------------ */

/* A wait whose phase has gone by in this order, as those who arrive were faster than on the GPU: it is over. */
static bool pass_warp(Player *player, PlayCluster *cluster, PlayWarp *warp) {
    for (ReplayPending *pending = warp->pending; pending; pending = pending->next) {
        const PtxGroup *group = pending->group;
        if (!group || group->status != PTX_IS_MBARRIER || group->place == PTX_NO_PLACE ||
            pending->record.kind == RECORD_GIVES_UP)
            continue;
        const PtxCta *cta = player->machine->ctas[group->place >> 32];
        const PtxMbarrier *mbarrier = cta ? ptx_mbarrier_at(cta, (uint32_t)group->place) : NULL;
        if (!mbarrier || !mbarrier->live || mbarrier->phase < 2)
            continue;
        const PlaySite *site = &player->sites->items[pending->record.site];
        player->lapped = player->lapped ? player->lapped : site->code;
        set_registers(player, pending->group, site, &pending->record);
        player->machine->passes = true;
        bool done = run_group(player, pending->group, site, &pending->record);
        player->machine->passes = false;
        pending->group = done ? NULL : pending->group;
        for (ReplayPending **at = &warp->pending; done && *at; at = &(*at)->next)
            if (*at == pending) {
                drop_pending(player, at);
                break;
            }
        enqueue(player, cluster);
        return done;
    }
    return false;
}

bool play_pass(Player *player) {
    uint32_t warps = player->reader.warps * player->machine->cluster_size;
    const RecordingLaunch *launch = &player->recording->launch;
    if (launch->flags & RECORDING_HUNG || launch->dropped & RECORD_DROPPED_PLACE || player->reader.missing)
        return false; /* those who arrive may not have been recorded */
    for (uint32_t i = 0; i < player->cluster_count; i++)
        for (uint32_t k = 0; player->clusters[i] && k < warps; k++)
            if (pass_warp(player, player->clusters[i], &player->clusters[i]->warps[k]))
                return true;
    return false;
}

void play_wake(Player *player, uint32_t cluster) {
    Player *of = player->together ? together_player(player, &cluster) : player;
    enqueue(of, of->clusters[cluster]);
}

void play_wake_all(Player *player) {
    for (uint32_t i = 0; i < player->cluster_count; i++)
        enqueue(player, player->clusters[i]);
}

bool play_is_over(const Player *player) {
    return player->begun == player->cluster_count && !player->live;
}

/* A sample has whole clusters. */
static bool is_recorded(const Player *player, uint32_t cluster) {
    return sample_has(&player->recording->launch, play_cta_id(player, cluster * player->machine->cluster_size));
}

bool play_on(Player *player) {
    while (!player->stops) {
        PlayCluster *cluster = dequeue(player);
        if (deadline_passed())
            return false;
        if (cluster && cluster->over)
            continue;
        if (cluster)
            run_cluster(player, cluster);
        else if (player->begun < player->cluster_count && !is_recorded(player, player->begun))
            player->begun++;
        else if (player->begun < player->cluster_count && prepass_passes(player))
            continue;
        else if (player->begun < player->cluster_count)
            play_begin(player);
        else if (!overlap_part_all(player))
            break;
    }
    return true;
}

bool play_skip(Player *player) {
    uint32_t woken = 0;
    bool any = polls_skip(player->turns, &woken);
    if (woken)
        play_wake(player, woken - 1);
    return any;
}

/* One of the fences that are to be late comes. Whether there was one. */
static bool let_late(Player *player) {
    PlayCluster *cluster = player->late ? player->clusters[player->late - 1] : NULL;
    player->lets = false;
    for (uint32_t i = 0; cluster && i < player->reader.warps * player->machine->cluster_size; i++)
        for (const ReplayPending *pending = cluster->warps[i].pending; pending; pending = pending->next)
            player->lets |= pending->ready && pending->record.kind < RECORD_EXIT &&
                            player->sites->items[pending->record.site].sequential;
    if (player->lets)
        enqueue(player, cluster);
    return player->lets;
}

/* Orders of strong accesses are sought place by place. Where what was found lets several be right (lanes of a warp
 * that take no notice of each other, in volatile memory), those of two places may not fit each other, and threads wait
 * for each other's turns. Then one of them goes on, and the order is in doubt. */
static bool overrule(Player *player) {
    uint32_t warps = player->reader.warps * player->machine->cluster_size;
    for (uint32_t i = 0; player->overrules && i < player->cluster_count; i++)
        for (uint32_t k = 0; player->clusters[i] && k < warps; k++) {
            PlayWarp *warp = &player->clusters[i]->warps[k];
            for (ReplayPending *pending = warp->pending; pending; pending = pending->next) {
                const PlaySite *site = &player->sites->items[pending->record.site];
                if (!pending->ready || pending->record.kind != RECORD_LANE || !site->site->strong || !site->code)
                    continue;
                StrongPlace *place = turns_place(player, site, &pending->record, warp->warp->cta->number);
                player->overrules--;
                turns_overrule(player->turns, place, pending->record.turn);
                enqueue(player, player->clusters[i]);
                return true;
            }
        }
    return false;
}

PtxEnd play(Player *player) {
    do
        if (!play_on(player))
            return PTX_END_TIME;
    while (!player->stops && player->live &&
           (let_late(player) || play_skip(player) || play_pass(player) || overrule(player)));
    if (player->stops)
        return PTX_END_FAULT;
    if (!player->live)
        return PTX_END_COMPLETE;
    play_stand(player);
    return PTX_END_STUCK;
}
