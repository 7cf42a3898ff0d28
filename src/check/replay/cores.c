/* A large recording is played by several threads, where clusters have nothing to do with each other: there is no strong
 * access, and no word of global memory that one writes and another accesses.
 *
 * Each thread has a machine and an engine of its own, and takes the next few clusters that none has taken. What the
 * others report is no more than how much they have played: if anything else is to be reported by one of them, a race or
 * something that is not known, all is played again by one thread. So no output depends on how many there were. */
#include "base/deadline.h"
#include "check/replay/prepass.h"

#include <pthread.h>
#include <stdlib.h>

enum {
    STACK_SIZE = 16 << 20,
    MOST_THREADS = 63,
    MOST_AT_ONCE = 64, /* clusters that are taken */
    SHARES = 256,      /* ... or that part of all, if it is less */
    WORDS_BUDGET = 64 << 20,
};

/* What the threads share. */
typedef struct CoreShared {
    const Recording *recording; /* as it was given */
    const Player *player;       /* of the thread that has begun */
    const Prepass *reads;       /* what that reads; NULL: clusters are played */
    uint32_t next, end;         /* clusters that none has taken yet */
    uint32_t at_once;
    bool odd;           /* something is to be reported */
    bool late, stopped; /* a thread's time was up */
} CoreShared;

/* Another thread. */
typedef struct CoreThread {
    ThreadsCheck check; /* first: runs_with_arena has that */
    CoreShared *shared;
    pthread_t handle;
    Deadline deadline; /* its end is the time that is left */
    ThreadsOptions options;
    Arena words; /* of its verdict, which is not read */
    Verdict verdict;
    Recording recording;
    PlaySites sites;
    Player player;
    ModificationOrders turns;
    Prepass prepass;
    Duplicate *duplicates;
    bool opened, done; /* done: all that it took was played, and there is nothing to report */
    uint64_t events, instructions, records;
} CoreThread;

/* ---- What a thread plays --------------------------------------------------------------------------- */

/* Those that none has taken; false: one could not be read. */
static bool read_shares(CoreShared *shared, Prepass *prepass, RecordCursor *room) {
    while (!__atomic_load_n(&shared->odd, __ATOMIC_RELAXED)) {
        uint32_t first = __atomic_fetch_add(&shared->next, shared->at_once, __ATOMIC_RELAXED);
        for (uint32_t i = first; i < first + shared->at_once && i < shared->end; i++)
            if (!prepass_read(prepass, i, room))
                return false;
        if (first >= shared->end)
            return true;
    }
    return false;
}

static bool take_some(CoreShared *shared, Player *player) {
    if (__atomic_load_n(&shared->odd, __ATOMIC_RELAXED))
        return false;
    uint32_t first = __atomic_fetch_add(&shared->next, shared->at_once, __ATOMIC_RELAXED);
    if (first >= shared->end)
        return false;
    player->begun = first;
    player->cluster_count = shared->end - first < shared->at_once ? shared->end : first + shared->at_once;
    return true;
}

bool play_is_odd(const Player *player, PtxEnd end, size_t reasons) {
    const ThreadsCheck *check = player->check;
    uint32_t races = 0, loose = 0;
    ptx_watch_end(player->watch);
    (void)ptx_watch_races(player->watch, &races);
    if (play_is_blind(player)) /* volatile accesses may be ordered, too */
        (void)ptx_watch_loose(player->watch, &player->check->arena, &loose);
    return loose || end != PTX_END_COMPLETE || races || ptx_watch_problem(player->watch) || player->reader.damaged ||
           player->reader.missing || player->reader.problem || player->lapped || player->machine->havoc_count ||
           history_overwrite(check->history).code || check->verdict->incomplete_count != reasons;
}

/* ---- Threads --------------------------------------------------------------------------------------- */

static void take_prepass(CoreThread *thread) {
    thread->prepass.player = &thread->player;
    thread->prepass.duplicates = thread->duplicates;
    thread->player.prepass = &thread->prepass;
    thread->player.footprint = thread->shared->player->footprint;
    thread->player.loose = thread->shared->player->loose;
    ptx_watch_blind(thread->player.watch, play_is_blind(&thread->player));
}

static void play_some(CoreThread *thread) {
    Player *player = &thread->player;
    ThreadsCheck *check = &thread->check;
    bool odd = !playing_start(player);
    size_t reasons = thread->verdict.incomplete_count;
    Player *alone = player;
    quick_find(player);
    take_prepass(thread);
    if (player->loose)
        player->turns = &thread->turns; /* there are none */
    else
        turns_read(&thread->turns, &alone, 1);
    while (!odd && take_some(thread->shared, player))
        odd = play_is_odd(player, play(player), reasons);
    thread->events = check->events;
    thread->instructions = check->machine->thread_instructions;
    thread->records = player->records;
    thread->done = !odd;
}

/* Clusters are read for the prepass, each thread with a footprint of its own. */
static void read_some(CoreThread *thread) {
    Player *player = &thread->player;
    CoreShared *shared = thread->shared;
    Prepass *prepass = &thread->prepass;
    prepass->player = player;
    prepass->names = (PrepassNames){0};
    prepass->tensor_count = 0;
    if (!playing_start(player))
        return;
    uint32_t warps = player->reader.warps * player->machine->cluster_size;
    prepass->footprint = footprint_new(&player->arena, player->cluster_count * warps, warps, prepass->only_writes);
    RecordCursor *room = ARENA_ARRAY(&player->arena, RecordCursor, RECORD_LEADERS);
    quick_find(player);
    thread->done = read_shares(shared, prepass, room) && !player->reader.damaged && !player->reader.missing;
}

static void help(ThreadsCheck *check) {
    CoreThread *thread = (CoreThread *)check;
    const char *problem = "";
    PtxWatch *watch = NULL;
    if (playing_prepare(check, &thread->recording, &thread->sites, &problem) &&
        runs_open(check, recording_launch(check, &thread->recording)))
        watch = runs_watch(check, false);
    if (watch) {
        playing_open(&thread->player, check, &thread->recording, &thread->sites, watch);
        thread->opened = true;
        thread->player.arena.exhausted = check->machine->arena.exhausted = check->arena.exhausted;
        if (thread->shared->reads)
            read_some(thread);
        else
            play_some(thread);
        check->machine->observe = NULL;
    }
    runs_close(check);
}

static void *run_thread(void *of) {
    CoreThread *thread = of;
    CoreShared *shared = thread->shared;
    deadline = thread->deadline;
    if (deadline.end && deadline.end != UINT64_MAX)
        deadline.end += deadline_now();
    runs_with_arena(&thread->check, help);
    if (deadline.missed)
        __atomic_store_n(&shared->late, true, __ATOMIC_RELAXED);
    if (deadline.stopped)
        __atomic_store_n(&shared->stopped, true, __ATOMIC_RELAXED);
    if (!thread->done)
        __atomic_store_n(&shared->odd, true, __ATOMIC_RELAXED);
    deadline = (Deadline){0};
    if (thread->opened && !shared->reads) /* what it has read is still to be merged */
        arena_free(&thread->player.arena);
    arena_free(&thread->words);
    thread->options.core(thread->options.core_context, 0);
    return NULL;
}

/* Clusters that do the same as one before are compared with those that the thread itself has played. */
static Duplicate *copy_duplicates(const Player *player) {
    uint32_t count = player->machine->cta_count / player->machine->cluster_size;
    Duplicate *duplicates = calloc(count + 1, sizeof *duplicates);
    for (uint32_t i = 0; duplicates && i < count; i++) {
        duplicates[i] = player->prepass->duplicates[i];
        duplicates[i].played = duplicates[i].steady = false;
        duplicates[i].counts = NULL;
    }
    return duplicates;
}

static uint64_t time_left(void) {
    uint64_t now = deadline_now();
    return !deadline.end || deadline.end == UINT64_MAX ? deadline.end : deadline.end > now ? deadline.end - now : 1;
}

static CoreThread *start_thread(CoreShared *shared) {
    const ThreadsCheck *check = shared->player->check;
    CoreThread *thread = calloc(1, sizeof *thread);
    pthread_attr_t attributes;
    if (!thread || (!shared->reads && !(thread->duplicates = copy_duplicates(shared->player))) ||
        pthread_attr_init(&attributes) != 0) {
        free(thread ? thread->duplicates : NULL);
        free(thread);
        return NULL;
    }
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    arena_init(&thread->words, WORDS_BUDGET);
    thread->shared = shared;
    thread->deadline = (Deadline){.end = time_left(), .stop = deadline.stop, .context = deadline.context};
    thread->options = *check->options;
    thread->options.progress = NULL;
    thread->verdict = (Verdict){.arena = &thread->words, .kernel = check->verdict->kernel};
    thread->recording = *shared->recording;
    thread->prepass = shared->reads ? *shared->reads : *shared->player->prepass;
    thread->check = (ThreadsCheck){.module = check->module,
                                   .entry = check->entry,
                                   .options = &thread->options,
                                   .verdict = &thread->verdict,
                                   .recorded = true};
    bool good = pthread_create(&thread->handle, &attributes, run_thread, thread) == 0;
    pthread_attr_destroy(&attributes);
    if (good)
        return thread;
    arena_free(&thread->words);
    free(thread->duplicates);
    free(thread);
    return NULL;
}

/* As many as there are cores that have nothing to do, and clusters that are left. */
static uint32_t add_threads(CoreShared *shared, CoreThread **threads, uint32_t count) {
    const ThreadsOptions *options = shared->player->check->options;
    while (count < MOST_THREADS && __atomic_load_n(&shared->next, __ATOMIC_RELAXED) < shared->end &&
           options->core(options->core_context, 1)) {
        threads[count] = start_thread(shared);
        if (!threads[count]) {
            options->core(options->core_context, 0);
            break;
        }
        count++;
    }
    return count;
}

static void join_threads(CoreShared *shared, Player *player, CoreThread **threads, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        CoreThread *thread = threads[i];
        pthread_join(thread->handle, NULL);
        player->check->events += thread->events;
        player->machine->thread_instructions += thread->instructions;
        player->records += thread->records;
        free(thread->duplicates);
        free(thread);
    }
    deadline.missed |= shared->late;
    deadline.stopped |= shared->stopped;
}

/* ---- Which clusters have something to do with each other ------------------------------------------- */

/* All that is seen of an access is the cluster that makes it. */
static void add_bytes(Footprint *clusters, uint32_t cluster, bool writes, uint64_t first, uint64_t end) {
    for (uint64_t next; first < end; first = next) {
        next = first / FOOTPRINT_LINE * FOOTPRINT_LINE + FOOTPRINT_LINE;
        next = next < end ? next : end;
        footprint_add_words(clusters, cluster, 0, true, writes, first, next);
    }
}

/* What a record accesses of global memory, where others may, too. False: that is not known. */
static bool add_record(Footprint *clusters, const Player *player, uint32_t cluster, uint32_t warp,
                       const Record *record) {
    const PlaySite *site = record->kind < RECORD_EXIT ? &player->sites->items[record->site] : NULL;
    if (!site || !prepass_is_global(player, site, record, warp))
        return true;
    const PlayAccess *access = site->copies ? &site->copy.from : &site->access;
    uint32_t bytes = site->copies ? site->copy.bytes : access->access.bytes;
    PlayReach reach;
    if (site->site->strong)
        return play_is_left_out(player, site, record, cluster * player->machine->cluster_size);
    if (!site->plain && !site->copies)
        return false;
    play_reach(player, site, record, warp, site->copies ? site->from_part : 0, access->offset, &reach);
    if (access->space == PTX_SPACE_UNKNOWN && reach.least >= PLAY_WINDOWS)
        return true;
    if (reach.most >= PTX_GLOBAL_END - bytes)
        return false;
    if (footprint_is_far(player->footprint, reach.least, reach.most + bytes) ||
        footprint_are_quiet(player->footprint, record->lanes, reach.at.at, bytes))
        return true;
    for (uint32_t rest = record->lanes; rest; rest &= rest - 1) {
        uint64_t first = reach.at.at[__builtin_ctz(rest)];
        add_bytes(clusters, cluster, !site->copies && site->reported.kind != KIND_READ, first, first + bytes);
    }
    return true;
}

static bool add_cluster(Footprint *clusters, Player *player, uint32_t number, RecordCursor *room) {
    uint32_t warps = player->reader.warps, size = player->machine->cluster_size;
    for (uint32_t i = 0; i < size * warps; i++) {
        RecordStream stream;
        Record record;
        uint32_t id = play_cta_id(player, number * size + i / warps);
        record_stream(&stream, &player->reader, id * warps + i % warps, room);
        while (record_next(&stream, &record))
            if (deadline_passed() || !add_record(clusters, player, number, i % warps, &record))
                return false;
    }
    return true;
}

/* Whether none accesses a word that another one writes. */
static bool are_apart(Player *player, uint32_t count) {
    RecordCursor *room = ARENA_ARRAY(&player->arena, RecordCursor, RECORD_LEADERS);
    Footprint *clusters = footprint_new(&player->arena, count, 1, false);
    const char *problem = player->reader.problem;
    bool apart = clusters != NULL;
    record_reader_restart(&player->reader);
    for (uint32_t i = 0; i < count && apart; i++)
        apart = footprint_cluster_is_quiet(player->footprint, i) ||
                (add_cluster(clusters, player, i, room) && !footprint_is_full(clusters));
    for (uint32_t i = 0; i < count && apart; i++)
        apart = footprint_cluster_is_quiet(clusters, i);
    apart = apart && !player->reader.damaged && !player->reader.missing;
    player->reader.problem = problem;
    record_reader_restart(&player->reader);
    return apart;
}

/* ---- The play -------------------------------------------------------------------------------------- */

bool cores_can(const Player *player) {
    const Prepass *prepass = player->prepass;
    uint32_t classes = 0;
    if (!player->check->options->core || !prepass || !prepass->compares)
        return false;
    for (uint32_t i = 0; i < player->cluster_count; i++)
        classes += prepass->duplicates[i].first == i;
    return classes > 1; /* others are like the first */
}

static bool has_core(const ThreadsOptions *options) {
    bool has = options->core(options->core_context, 1);
    if (has)
        options->core(options->core_context, 0);
    return has;
}

/* All chunks were read before. */
static void see_all(Player *player) {
    for (size_t i = 0; i < player->recording->more_count; i++)
        player->reader.seen[i] |= player->prepass->seen[i];
}

static uint32_t at_once(uint32_t all) {
    uint32_t share = all / SHARES;
    return share < 1 ? 1 : share < MOST_AT_ONCE ? share : MOST_AT_ONCE;
}

/* What a thread has read is added. */
static void merge_read(Prepass *prepass, CoreThread *thread) {
    RecordReader *reader = &prepass->player->reader;
    for (size_t i = 0; thread->done && i < prepass->player->recording->more_count; i++)
        reader->seen[i] |= thread->player.reader.seen[i];
    if (thread->done)
        footprint_merge(prepass->footprint, thread->prepass.footprint);
    prepass->compares &= thread->prepass.compares;
    if (thread->opened)
        arena_free(&thread->player.arena);
}

bool cores_read(Prepass *prepass, const Recording *recording) {
    enum { BEGUN = 8 }; /* until that part of all is read, it may turn out not to pay */
    Player *player = prepass->player;
    const ThreadsOptions *options = player->check->options;
    RecordCursor *room = ARENA_ARRAY(&player->arena, RecordCursor, RECORD_LEADERS);
    uint32_t all = player->cluster_count, count = 0;
    CoreThread *threads[MOST_THREADS];
    CoreShared shared = {
        .recording = recording, .player = player, .reads = prepass, .end = all, .at_once = at_once(all)};
    double began = clock_seconds();
    bool known = true;
    /* Strong accesses are read in the order of the grid. */
    while (known && !count && shared.next < all) { /* others take from it, once there are some */
        known = prepass_read(prepass, shared.next++, room);
        if (known && options->core && !prepass->reading && shared.next > all / BEGUN &&
            clock_seconds() - began > options->core_after)
            count = add_threads(&shared, threads, 0);
    }
    known = known && read_shares(&shared, prepass, room);
    if (!known)
        __atomic_store_n(&shared.odd, true, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < count; i++) {
        pthread_join(threads[i]->handle, NULL);
        known = known && threads[i]->done;
        merge_read(prepass, threads[i]);
        free(threads[i]);
    }
    deadline.missed |= shared.late;
    deadline.stopped |= shared.stopped;
    return known && !footprint_is_full(prepass->footprint);
}

PtxEnd cores_play(Player *player, const Recording *recording, bool *again) {
    uint32_t all = player->cluster_count, count = 0;
    CoreThread *threads[MOST_THREADS];
    CoreShared shared = {.recording = recording, .player = player, .end = all, .at_once = at_once(all)};
    size_t reasons = player->check->verdict->incomplete_count;
    double began = clock_seconds();
    PtxEnd end = PTX_END_COMPLETE;
    bool odd = false, known = false, apart = true;
    while (!odd && apart && take_some(&shared, player)) {
        end = play(player);
        odd = play_is_odd(player, end, reasons);
        if (odd || clock_seconds() - began < player->check->options->core_after || !has_core(player->check->options))
            continue;
        apart = known || are_apart(player, all);
        known = true;
        count = apart ? add_threads(&shared, threads, count) : 0;
    }
    if (odd)
        __atomic_store_n(&shared.odd, true, __ATOMIC_RELAXED);
    join_threads(&shared, player, threads, count);
    player->cluster_count = all;
    if (deadline.missed)
        return PTX_END_TIME;
    if (!count && end == PTX_END_COMPLETE &&
        !(odd && play_is_blind(player))) { /* the rest, if there is something to report, or they are not apart */
        end = play(player);
    } else {
        *again = shared.odd;
        player->begun = all;
    }
    see_all(player);
    return end;
}
