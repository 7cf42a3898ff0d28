/* Other orders of what was recorded: the threads do what they did, and waits and copies come at other times.
 *
 * A wait for the phase of an mbarrier passes or hangs by when it is made: a recording has it pass, and another run of
 * the same kernel may not end. So clusters are played again, alone: with every copy as late as it can be; and for each
 * warp that waits, with its waits later than all that others can do, and copies early or late. What gets stuck then, or
 * is a fault, can happen.
 * Warps and clusters that do the same are played once, and no more than so many records of a recording.
 *
 * Threads go the ways that they went, which what they load may have decided; the order of strong accesses stays, so
 * that a cluster is not judged in which a thread waits for its turn at one. */
#include "check/replay/internal.h"

#include "base/deadline.h"

enum { MOST_RECORDS = 1 << 21, MOST_CLASSES = 64 };

/* A warp of the cluster. */
typedef struct Class {
    uint64_t hash; /* of what it does but for plain accesses */
    uint32_t warp; /* of the cluster */
} Class;

typedef struct Others {
    Player *player; /* which played it as it was */
    Player play;
    bool whole;    /* all that the threads did was recorded */
    bool found;    /* something */
    bool skips;    /* not all of it is played */
    uint64_t left; /* records that may be read */
    uint64_t *clusters;
    uint32_t cluster_count, cluster_capacity; /* hashes of those that were played */
    Class classes[MOST_CLASSES];              /* of the warps of a cluster that wait */
    uint32_t class_count;
    ModificationOrder *turns;  /* of the cluster's strong accesses */
    ModificationOrders played; /* the same, as they are played */
    uint32_t turn_count, turn_capacity;
    Arena arena; /* of the cluster */
} Others;

/* ---- What a cluster does -------------------------------------------------------------------------- */

static uint64_t mixed(uint64_t hash, uint64_t value) {
    return (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15) + (hash >> 29);
}

static bool is_mbarrier_wait(const PlaySite *site) {
    return site->object != NULL;
}

/* Of one warp: its hash, and whether it waits for an mbarrier. */
static uint64_t read_warp(Others *others, uint32_t number, uint32_t cta, RecordCursor *room, bool *waits) {
    Player *play = &others->play;
    RecordStream stream;
    Record record;
    uint64_t hash = 0;
    uint32_t strong = 0;
    record_stream(&stream, &play->reader, number, room);
    while (others->left && record_next(&stream, &record)) {
        const PlaySite *site = record.kind == RECORD_EXIT ? NULL : &play->sites->items[record.site];
        others->left--;
        if (site && (site->plain || !site->code))
            continue;
        hash = mixed(mixed(hash, (uint64_t)record.kind << 32 | record.site), record.lanes);
        if (site && is_mbarrier_wait(site)) {
            *waits = true;
            for (unsigned i = 0; i < record.part_count; i++)
                hash = mixed(hash, record.parts[i].value);
        }
        if (site && site->site->strong && record.kind == RECORD_LANE && play->turns->kept_in_order)
            *ARENA_PUSH(&others->arena, others->turns, others->turn_count, others->turn_capacity) =
                (ModificationOrder){.key = play_strong_key(play, site, &record, cta),
                                    .number = play->turns->numbers[play->first_strong[number] + strong++]};
    }
    return hash;
}

static void add_class(Others *others, uint64_t hash, uint32_t warp) {
    for (uint32_t i = 0; i < others->class_count; i++)
        if (others->classes[i].hash == hash)
            return;
    others->skips |= others->class_count == MOST_CLASSES;
    if (others->class_count < MOST_CLASSES)
        others->classes[others->class_count++] = (Class){hash, warp};
}

/* Whether it is worth it: none that was played does the same. */
static bool read_cluster(Others *others, uint32_t number) {
    Player *play = &others->play;
    uint32_t warps = play->reader.warps, size = play->machine->cluster_size;
    RecordCursor *room = ARENA_ARRAY(&others->arena, RecordCursor, RECORD_LEADERS);
    uint64_t hash = 0;
    others->class_count = others->turn_count = others->turn_capacity = 0;
    others->turns = NULL;
    record_reader_restart(&play->reader);
    for (uint32_t i = 0; i < size * warps; i++) {
        uint32_t cta = number * size + i / warps;
        bool waits = false;
        uint64_t of = read_warp(others, play_cta_id(play, cta) * warps + i % warps, cta, room, &waits);
        hash = mixed(hash, of);
        if (waits)
            add_class(others, of, i);
    }
    for (uint32_t i = 0; i < others->cluster_count; i++)
        if (others->clusters[i] == hash)
            return false;
    *ARENA_PUSH(&others->player->arena, others->clusters, others->cluster_count, others->cluster_capacity) = hash;
    return others->left > 0;
}

/* ---- A play ---------------------------------------------------------------------------------------- */

static void observe(void *observer, const PtxEvent *event) {
    Player *play = observer;
    history_see(play->check->history, event);
    if (play->sites->any_state)
        tokens_see(play, event);
}

static PlayCluster *begin(Others *others, uint32_t number) {
    Player *play = &others->play;
    arena_reset(&play->arena);
    play->clusters = ARENA_ARRAY(&play->arena, PlayCluster *, play->cluster_count);
    others->played = (ModificationOrders){.numbers = others->player->turns->numbers,
                                          .kept_in_order = others->player->turns->kept_in_order};
    play->turns = &others->played;
    turns_alone(&others->played, others->turns, others->turn_count, &play->arena);
    play->free_pending = NULL;
    play->free_clusters = play->queue = NULL;
    play->queue_end = &play->queue;
    play->tokens = (TokenTable){0};
    play->records = 0;
    play->live = 0;
    play->stops = play->lets = false;
    play->begun = number;
    ptx_machine_start(play->machine);
    history_clear(play->check->history);
    record_reader_restart(&play->reader);
    return play_begin(play);
}

static bool land_oldest(PtxMachine *machine) {
    for (uint32_t i = 0; i < machine->outstanding_count; i++)
        if (ptx_outstanding_can_complete(machine, machine->outstanding_ops[i])) {
            ptx_outstanding_complete(machine, i);
            return true;
        }
    return false;
}

static bool turns(Player *play, PlayCluster *cluster) {
    uint32_t warps = play->reader.warps * play->machine->cluster_size;
    bool any = false;
    for (uint32_t i = 0; i < warps && !play->stops; i++)
        any |= play_turn(play, &cluster->warps[i]);
    return any;
}

static bool let_held(Player *play) {
    play->lets = play->held != NULL;
    bool any = play->lets && play_turn(play, play->held);
    play->lets = false;
    return any;
}

/* Until nothing can go on. */
static PtxEnd go_on(Player *play, PlayCluster *cluster) {
    PtxMachine *machine = play->machine;
    bool any = true;
    while (any && !play->stops) {
        if (deadline_passed())
            return PTX_END_TIME;
        any = turns(play, cluster);
        any = any || (!play->stops && let_held(play));
        any = any || (!play->stops && land_oldest(machine));
        play->stops |= machine->fault.code != NULL;
    }
    if (play->stops)
        return PTX_END_FAULT;
    return play_ended(play, cluster) ? PTX_END_COMPLETE : PTX_END_STUCK;
}

/* ---- What comes of it ------------------------------------------------------------------------------ */

static const char *order_words(const Others *others, const PlayWarp *held) {
    ThreadsCheck *check = others->play.check;
    if (!held)
        return "another order of the recorded operations: copies complete as late as possible";
    uint32_t first = held->warp->index * PTX_LANES, threads[PTX_LANES], count = 0;
    for (uint32_t lane = 0; lane < PTX_LANES; lane++)
        if (held->warp->launched >> lane & 1)
            threads[count++] = first + lane;
    return verdict_text(check->verdict, "another order of the recorded operations: %s %s slow to wait%s",
                        threads_words(check, held->warp->cta->number, threads, count), count == 1 ? "is" : "are",
                        check->machine->immediate ? "" : ", and copies complete as late as possible");
}

static void judge(Others *others, PlayCluster *cluster, PtxEnd end) {
    ThreadsCheck *check = others->play.check;
    ThreadsRun run = {0};
    Finding *finding = NULL;
    if (end == PTX_END_FAULT && !check->machine->unknown)
        finding = threads_fault(check, &run.schedule, run.havoc_choice);
    else if (end == PTX_END_STUCK && others->whole && !play_takes_turns(&others->play, cluster)) {
        play_stand(&others->play);
        finding = threads_blocked(check, &run.schedule, run.havoc_choice);
    }
    if (finding)
        finding->schedule = order_words(others, others->play.held);
    others->found = finding != NULL;
}

/* Each way of playing the cluster, until one finds something. False: nothing more is looked for. */
static bool play_cluster(Others *others, uint32_t number) {
    Player *play = &others->play;
    for (uint32_t i = 0; i <= 2 * others->class_count && others->left; i++) {
        play->machine->immediate = i % 2;
        PlayCluster *cluster = begin(others, number);
        play->held = i ? &cluster->warps[others->classes[(i - 1) / 2].warp] : NULL;
        PtxEnd end = go_on(play, cluster);
        others->left -= play->records < others->left ? play->records : others->left;
        judge(others, cluster, end);
        if (end == PTX_END_TIME || others->found)
            return false;
    }
    return true;
}

static void play_all(Others *others) {
    for (uint32_t i = 0; i < others->play.cluster_count && others->left; i++) {
        arena_reset(&others->arena);
        if (read_cluster(others, i) && !play_cluster(others, i))
            return;
    }
}

static bool any_waits(const PlaySites *sites) {
    for (uint32_t i = 0; i < sites->sites.count; i++)
        if (is_mbarrier_wait(&sites->items[i]))
            return true;
    return false;
}

bool play_alternatives(Player *player, bool whole) {
    enum { BUDGET = 1 << 30 };
    PtxMachine *machine = player->machine;
    const RecordingLaunch *launch = &player->recording->launch;
    if (!any_waits(player->sites) || is_sampled(launch))
        return false;
    uint64_t budget = player->check->options->budget;
    Others others = {.player = player, .play = *player, .whole = whole, .left = budget ? budget : MOST_RECORDS};
    jmp_buf *before = machine->arena.exhausted, here;
    arena_init(&others.arena, BUDGET);
    arena_init(&others.play.arena, BUDGET);
    others.arena.exhausted = others.play.arena.exhausted = player->arena.exhausted = machine->arena.exhausted = &here;
    others.play.other = true;
    machine->observe = observe;
    machine->observer = &others.play;
    if (!setjmp(here))
        play_all(&others);
    else
        others.skips = true;
    if (!others.found && (others.skips || !others.left))
        verdict_note(player->check->verdict,
                     "not all orders of the waits were tried: the recording is too long (raise --budget)");
    machine->arena.exhausted = before;
    machine->immediate = true;
    arena_free(&others.arena);
    arena_free(&others.play.arena);
    return others.found;
}
