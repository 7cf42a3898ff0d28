/* Before a recording is played, all of it is read: what threads access in global memory (footprint.h), and which
 * clusters do the same, but for where in global memory they do it.
 *
 * An access that nothing can race for does not go to the engine. And of clusters that do the same, all of whose
 * accesses to global memory are such ones, the first is played alone, where nothing orders clusters among each other:
 * no strong access but to memory that has no other ones and by which nothing is released, no sequential fence. Shared
 * memory, barriers and copies of the others are what they are in the
 * first, so that they come to the same. If there are races, some more are played, until two have them as often. What is
 * stored counts only for races. Between lanes of an instruction it counts which of them store the same; between two
 * times of it, which of all that a cluster stores is the same; if a race is another one, all are played. That two
 * clusters do the same is decided by a hash of 128 bits.
 *
 * Where something accesses global memory in a way that is not known here, nothing is left out. Where clusters are not
 * compared, it may do to know what is written: reads of anything else need no look. */
#include "check/replay/prepass.h"

#include "base/deadline.h"

/* ---- What accesses global memory ------------------------------------------------------------------ */

bool prepass_has(const Player *player, uint64_t first, uint64_t end) {
    return end <= PTX_GLOBAL_END && (player->machine->anywhere || play_has(player->machine, first, end));
}

bool prepass_is_global(const Player *player, const PlaySite *site, const Record *record, uint32_t warp_in_cta) {
    Lanes at;
    if (!site->global_part)
        return site->global;
    play_values(player, site, record, site->global_part - 1u, warp_in_cta, &at);
    for (uint32_t rest = record->lanes; rest; rest &= rest - 1)
        if (at.at[__builtin_ctz(rest)] < PLAY_WINDOWS)
            return true;
    return false;
}

/* Two lanes meet, or nothing is known of who else does. */
static void add_noise(Prepass *prepass, const PrepassFrom *from, uint64_t first, uint64_t end) {
    for (uint64_t line = first / FOOTPRINT_LINE * FOOTPRINT_LINE; line < end; line += FOOTPRINT_LINE)
        for (unsigned i = 0; i < 2; i++) /* by two operations */
            footprint_add(prepass->footprint, from->number, true, line, footprint_quarters(15));
}

/* Word by word: few bytes, and those of a site that is `again`. What a lane accesses is aligned, and so in one line. */
static bool add_each(Prepass *prepass, const PrepassFrom *from, const PlaySite *site, uint32_t lanes,
                     const uint64_t *addresses, uint32_t bytes) {
    enum { FEW = FOOTPRINT_LINE / 4 };
    const ThreadsAccess *access = &site->reported;
    bool alone = prepass_is_alone(access);
    if ((uint32_t)__builtin_popcount(lanes) * bytes > FEW && !(site->again && alone))
        return false;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        footprint_add_words(prepass->footprint, from->number, lane, alone, access->kind != KIND_READ, addresses[lane],
                            addresses[lane] + bytes);
    }
    return true;
}

static void add_reads(Prepass *prepass, const PrepassFrom *from, uint32_t lanes, const uint64_t *addresses,
                      uint32_t bytes) {
    uint64_t last = UINT64_MAX;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint64_t first = addresses[__builtin_ctz(rest)], end = first + bytes;
        for (uint64_t line = first / FOOTPRINT_LINE * FOOTPRINT_LINE; line < end; line += FOOTPRINT_LINE) {
            if (line != last)
                footprint_add(prepass->footprint, from->number, false, line, footprint_quarters(15));
            last = line;
        }
    }
}

static uint32_t sorted(uint32_t lanes, const uint64_t *addresses, uint64_t *sorted) {
    uint32_t count = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint64_t address = addresses[__builtin_ctz(rest)];
        uint32_t at = count++;
        for (; at && sorted[at - 1] > address; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = address;
    }
    return count;
}

/* A line is written once by an instruction: those quarters of it that some lane writes in. */
static void add_writes(Prepass *prepass, const PrepassFrom *from, uint32_t lanes, const uint64_t *addresses,
                       uint32_t bytes) {
    enum { QUARTER = FOOTPRINT_LINE / 4 };
    uint64_t at[PTX_LANES], line = UINT64_MAX;
    uint32_t count = sorted(lanes, addresses, at), quarters = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i && at[i] < at[i - 1] + bytes)
            add_noise(prepass, from, at[i], at[i] + bytes);
        for (uint64_t k = at[i] / QUARTER; k * QUARTER < at[i] + bytes; k++) {
            if (k / 4 != line && quarters)
                footprint_add(prepass->footprint, from->number, true, line * FOOTPRINT_LINE,
                              footprint_quarters(quarters));
            quarters = (k / 4 == line ? quarters : 0) | 1U << k % 4;
            line = k / 4;
        }
    }
    if (quarters)
        footprint_add(prepass->footprint, from->number, true, line * FOOTPRINT_LINE, footprint_quarters(quarters));
}

/* Whether a plain access is to global memory; *known: all of it is recorded. */
static bool add_plain(Prepass *prepass, const PlaySite *site, const Record *record, const PrepassFrom *from,
                      bool *known) {
    const Player *player = prepass->player;
    const PlayAccess *access = &site->access;
    uint32_t bytes = access->access.bytes;
    uint64_t first, all = (uint64_t)bytes * PTX_LANES;
    bool generic = site->generic & 1, aligned;
    PlayReach reach;
    if (access->space != PTX_SPACE_GLOBAL && access->space != PTX_SPACE_UNKNOWN)
        return false;
    if (!(bytes & (bytes - 1)) && play_is_beside(site, record, &first) && !(first & (access->align - 1)) &&
        first % bytes == 0 && first < PTX_GLOBAL_END && prepass_has(player, first, first + all) &&
        (!generic || (play_generic(player, first) == first && play_generic(player, first + all) == first + all))) {
        footprint_add_beside(prepass->footprint, from->number, site->reported.kind != KIND_READ, first, bytes,
                             prepass_is_alone(&site->reported));
        return true;
    }
    play_reach(player, site, record, from->index, 0, access->offset, &reach);
    if (access->space == PTX_SPACE_UNKNOWN && reach.least >= PLAY_WINDOWS)
        return false;
    aligned = !(reach.bits & (access->align - 1));
    *known = aligned && reach.most < PTX_GLOBAL_END - bytes && prepass_has(player, reach.least, reach.most + bytes);
    if (!*known)
        return true;
    if (add_each(prepass, from, site, record->lanes, reach.at.at, bytes))
        return true;
    if (site->reported.kind == KIND_READ)
        add_reads(prepass, from, record->lanes, reach.at.at, bytes);
    else
        add_writes(prepass, from, record->lanes, reach.at.at, bytes);
    return true;
}

/* What a cp.async reads. */
static bool add_copies(Prepass *prepass, const PlaySite *site, const Record *record, const PrepassFrom *from) {
    const Player *player = prepass->player;
    const PlayCopy *copy = &site->copy;
    PlayReach reach;
    uint32_t lanes = record->lanes;
    if (copy->limit) {
        Lanes sizes;
        play_values(player, site, record, site->limit_part, from->index, &sizes);
        for (uint32_t rest = record->lanes; rest; rest &= rest - 1)
            if (!(uint32_t)sizes.at[__builtin_ctz(rest)])
                lanes &= ~(rest & -rest);
    }
    play_reach(player, site, record, from->index, site->from_part, copy->from.offset, &reach);
    if (copy->from.space != PTX_SPACE_GLOBAL || reach.bits & (copy->bytes - 1))
        return false;
    for (uint32_t rest = lanes; rest && lanes != record->lanes; rest &= rest - 1) {
        uint64_t at = reach.at.at[__builtin_ctz(rest)];
        if (at >= PTX_GLOBAL_END || !prepass_has(player, at, at + copy->bytes))
            return false;
    }
    if (lanes == record->lanes &&
        (reach.most >= PTX_GLOBAL_END || !prepass_has(player, reach.least, reach.most + copy->bytes)))
        return false;
    add_reads(prepass, from, lanes, reach.at.at, copy->bytes);
    return true;
}

/* Whether it is to global memory. Where strong accesses do not race with each other, they are like those of one thread.
 */
static bool add_strong(Prepass *prepass, const PlaySite *site, const Record *record, const PrepassFrom *from) {
    uint64_t address, bytes = (uint64_t)site->strong_bytes * site->strong_count;
    PlayPlace place = play_key_place(play_strong_key(prepass->player, site, record, from->cta), &address);
    if (place == PLACE_GLOBAL && prepass->strong && address % bytes == 0 && bytes <= FOOTPRINT_LINE &&
        prepass_has(prepass->player, address, address + bytes))
        footprint_add_words(prepass->footprint, prepass->strong, 0, true, true, address, address + bytes);
    else if (place == PLACE_GLOBAL)
        add_noise(prepass, from, address, address + bytes);
    else if (place == PLACE_NAMED) /* of which the footprint has nothing */
        prepass->compares = false;
    return place == PLACE_GLOBAL;
}

/* ---- What clusters do ----------------------------------------------------------------------------- */

void prepass_mix(PrepassSum *sum, uint64_t value) {
    sum->one = (sum->one ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    sum->one ^= sum->one >> 32;
    sum->two = (sum->two + value) * UINT64_C(0xD6E8FEB86659FD93);
    sum->two ^= sum->two >> 29;
}

static void mix_bytes(PrepassSum *sum, const uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i += 4) {
        uint32_t word;
        memcpy(&word, bytes + i, sizeof word);
        prepass_mix(sum, word);
    }
}

static void mix_corners(PrepassSum *sum, const uint8_t *list) {
    uint64_t values[RECORD_CORNER_LANES];
    memcpy(values, list, sizeof values);
    for (unsigned i = 1; i < RECORD_CORNER_LANES; i++)
        prepass_mix(sum, values[i] - values[0]);
}

void prepass_mix_part(PrepassSum *sum, const SitePart *about, const RecordPart *part, uint32_t lanes) {
    prepass_mix(sum, (uint64_t)part->kind << 1 | (part->also != NULL));
    prepass_mix(sum, part->value);
    if (part->kind == RECORD_LIST)
        mix_bytes(sum, part->list, (size_t)__builtin_popcount(lanes) * (about->bits == 64 ? 8 : 4));
    else if (part->kind == RECORD_EVERY)
        mix_bytes(sum, part->list, RECORD_EVERY_BYTES);
    else if (part->kind == RECORD_CORNERS)
        mix_corners(sum, part->list);
    if (part->kind == RECORD_CORNERS && part->also)
        mix_corners(sum, part->also);
}

/* Lanes that store what a lane before them has just stored at the same place. *odd: some overlap in part. */
static uint32_t stored_again(const Lanes *places, const Lanes *values, uint32_t lanes, uint32_t bytes, bool *odd) {
    uint32_t again = 0;
    for (uint32_t rest = lanes & (lanes - 1); rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        for (uint32_t before = lanes & ((1U << lane) - 1); before;) {
            unsigned other = 31 - (unsigned)__builtin_clz(before);
            before &= ~(1U << other);
            if (places->at[other] == places->at[lane]) {
                again |= (uint32_t)(values->at[other] == values->at[lane]) << lane;
                break;
            }
            *odd |= places->at[lane] - places->at[other] + bytes - 1 < 2 * (uint64_t)bytes - 1;
        }
    }
    return again;
}

TABLE(names, PrepassNames, struct PrepassName, uint32_t, 1024, item->stamp == table->stamp, item->value,
      key *RECORD_HASH_FACTOR >> 7, item->value == key)

/* The values of a cluster are numbered as they come; those that instructions have keep their own. */
static uint64_t name_of(PrepassNames *names, uint32_t value, Arena *arena) {
    struct PrepassName *name = names_put(arena, names, value);
    if (name->stamp != names->stamp)
        *name = (struct PrepassName){value, names->stamp, names->count};
    return name->number;
}

static void begin_names(Prepass *prepass) {
    const PlaySites *sites = prepass->player->sites;
    prepass->names.count = 0;
    prepass->names.stamp++;
    for (uint32_t i = 0; i < sites->sites.count && sites->any_data; i++)
        if (sites->items[i].constant)
            name_of(&prepass->names, sites->items[i].stored, &prepass->player->arena);
}

/* What it stores: which lanes the same, if they meet. */
static void mix_stored(Prepass *prepass, const PlaySite *site, const Record *record, const PrepassFrom *from,
                       Duplicate *duplicate) {
    const Player *player = prepass->player;
    Lanes values;
    PlayReach reach = {0};
    duplicate->stores = true;
    play_values(player, site, record, site->data - 1u, from->index, &values);
    for (uint32_t rest = record->lanes; rest; rest &= rest - 1)
        prepass_mix(&duplicate->stored,
                    name_of(&prepass->names, (uint32_t)values.at[__builtin_ctz(rest)], &prepass->player->arena));
    duplicate->opaque |= !site->plain && !site->symbol;
    if (duplicate->opaque)
        return;
    if (site->plain)
        play_reach(player, site, record, from->index, 0, site->access.offset, &reach);
    prepass_mix(&duplicate->sum,
                stored_again(&reach.at, &values, record->lanes, site->access.access.bytes, &duplicate->opaque));
}

/* Where it writes global memory; false: that is not known. */
static bool read_writes(Prepass *prepass, const PlaySite *site, const Record *record, const PrepassFrom *from) {
    PrepassSum sum = {0};
    uint32_t left_out = 0;
    bool known = true;
    if (site->site->strong)
        add_strong(prepass, site, record, from);
    else if (site->plain && site->reported.kind != KIND_READ)
        add_plain(prepass, site, record, from, &known);
    else if (!site->plain && !site->copies && site->global & 2 &&
             prepass_is_global(prepass->player, site, record, from->index))
        known = prepass_tile(prepass, site, record, from, &sum, &left_out);
    return known;
}

/* Whether lanes hand registers to each other, and all have come that their mask names: that is no fault, and orders
 * nothing. How often they do so in a loop that looks at what other clusters have done depends on these. */
static bool hands_on(const Player *player, const PlaySite *site, const Record *record) {
    if (!site->hands || !site->mask || record->lanes & site->site->unnamed)
        return false;
    if (site->mask->kind == ARGUMENT_CONSTANT)
        return (uint32_t)player->check->program->constants[site->mask->slot].at[0] == record->lanes;
    return record->part_count && record->parts[0].kind == RECORD_UNIFORM && record->parts[0].value == record->lanes;
}

/* False: it accesses global memory, and where is not known. */
static bool read_record(Prepass *prepass, const Record *record, const PrepassFrom *from, Duplicate *duplicate) {
    PrepassSum *sum = &duplicate->sum;
    const PlaySite *site = record->kind == RECORD_EXIT ? NULL : &prepass->player->sites->items[record->site];
    uint32_t left_out = 0; /* parts that say where in global memory it is, or what is stored there */
    bool known = true;
    if (record->kind == RECORD_GIVES_UP || record->torn || (site && !site->code))
        return false;
    if (prepass->fetches)
        fetches_read(site, record, from, duplicate);
    if (prepass->only_writes)
        return !site || read_writes(prepass, site, record, from);
    bool apart = site && site->site->strong && add_strong(prepass, site, record, from);
    if (apart || (site && prepass->strong && hands_on(prepass->player, site, record)))
        return true;
    if (prepass->compares)
        prepass_mix(sum, (uint64_t)record->kind << 56 | (uint64_t)record->lanes << 24 | (site ? record->site : 0));
    if (site && site->site->strong)
        prepass_mix(sum, play_stores(site, record));
    else if (site && site->plain)
        left_out = add_plain(prepass, site, record, from, &known);
    else if (site && site->copies && (known = add_copies(prepass, site, record, from)))
        left_out = 1U << site->from_part;
    else if (site && prepass_is_global(prepass->player, site, record, from->index))
        known = prepass_tile(prepass, site, record, from, sum, &left_out);
    if (!prepass->compares)
        return known;
    if (site && site->data) {
        left_out |= 1U << (site->data - 1);
        mix_stored(prepass, site, record, from, duplicate);
    }
    if (site && site->state_part)
        left_out |= 1U << (site->state_part - 1);
    for (unsigned i = 0; site && known && i < record->part_count; i++)
        if (!(left_out >> i & 1))
            prepass_mix_part(sum, &site->site->parts[i], &record->parts[i], record->lanes);
    if (record->map)
        mix_bytes(sum, record->map, RECORD_MAP_BYTES);
    return known;
}

/* Records of which there is little to ask. */
static void read_ahead(Prepass *prepass, RecordStream *stream, const PrepassFrom *from, Duplicate *duplicate) {
    Player *player = prepass->player;
    bool quick = player->quick && !prepass->compares;
    do
        if (prepass->idle)
            record_skip(stream, prepass->idle);
    while (prepass_read_run(prepass, stream, &duplicate->sum) ||
           (quick && record_has_value(stream) && quick_read(player, prepass->footprint, from->number, stream)));
}

static bool read_cluster(Prepass *prepass, uint32_t number, RecordCursor *room, Duplicate *duplicate) {
    enum { LOOK_WARPS = 16 };
    Player *player = prepass->player;
    const RecordingLaunch *launch = &player->recording->launch;
    uint32_t warps = player->reader.warps, size = player->machine->cluster_size;
    begin_names(prepass);
    for (uint32_t i = 0; i < size * warps; i++) {
        if (i % LOOK_WARPS == 0 && deadline_look())
            return false;
        PrepassFrom from = {number * size + i / warps, i % warps, number * size * warps + i};
        uint32_t id = play_cta_id(player, from.cta);
        RecordStream stream;
        Record record;
        prepass_mix(&duplicate->sum, (uint64_t)sample_has(launch, id) << 32 | i);
        record_stream(&stream, &player->reader, id * warps + from.index, room);
        if (prepass->reading)
            turns_begin(prepass->reading, player, stream.warp);
        read_ahead(prepass, &stream, &from, duplicate);
        while (record_next(&stream, &record)) {
            if (deadline_passed() || !read_record(prepass, &record, &from, duplicate))
                return false;
            if (prepass->reading)
                turns_see(prepass->reading, player, stream.warp, from.cta, &record);
            read_ahead(prepass, &stream, &from, duplicate);
        }
    }
    return true;
}

/* ---- Which of them do the same -------------------------------------------------------------------- */

typedef TABLE_OF(Duplicate *) PrepassDuplicates;
TABLE(duplicates, PrepassDuplicates, Duplicate *, PrepassSum, 16, *item, (*item)->sum, (uint32_t)key.one,
      (*item)->sum.one == key.one && (*item)->sum.two == key.two)

static void find_duplicates(Prepass *prepass, uint32_t count, Arena *arena) {
    PrepassDuplicates table = {0};
    for (uint32_t i = 0; i < count; i++) {
        Duplicate *own = &prepass->duplicates[i], **first = &own;
        if (prepass->fetches ? own->strong != UINT32_MAX : footprint_cluster_is_quiet(prepass->footprint, i)) {
            first = duplicates_put(arena, &table, own->sum);
            *first = *first ? *first : own;
        }
        own->first = (uint32_t)(*first - prepass->duplicates);
    }
}

/* The shared-memory side of a cp.async is replayed in any case, and that of global memory is a read: where all
 * clusters are played, it does not pay to ask for more than what is written. */
static bool asks_for_writes(const Prepass *prepass) {
    const PlaySites *sites = prepass->player->sites;
    for (uint32_t i = 0; !prepass->compares && i < sites->sites.count; i++)
        if (sites->items[i].copies)
            return true;
    return false;
}

/* Sites of which nothing is asked: barriers, for instance, where all clusters are played. */
static const bool *find_idle(const Prepass *prepass) {
    const PlaySites *sites = prepass->player->sites;
    bool *idle = ARENA_ARRAY(&prepass->player->arena, bool, sites->sites.count + 1);
    for (uint32_t i = 0; i < sites->sites.count; i++) {
        const PlaySite *site = &sites->items[i];
        idle[i] = site->code && !site->site->strong && !site->plain && !site->copies && !site->global;
    }
    return prepass->compares || prepass->fetches ? NULL : idle;
}

/* Whether it saves more than it takes: where all are played, and half of the accesses are to noisy lines, it does not.
 */
static bool pays(const Prepass *prepass, uint32_t read) {
    bool compares = prepass->compares && !prepass->player->sites->any_order; /* else that is tried */
    return compares || prepass->only_writes || !read || read != prepass->player->cluster_count / 16 ||
           !footprint_is_loud(prepass->footprint);
}

bool prepass_read(Prepass *prepass, uint32_t cluster, RecordCursor *room) {
    return !deadline_passed() && pays(prepass, cluster) &&
           read_cluster(prepass, cluster, room, &prepass->duplicates[cluster]) &&
           !footprint_is_full(prepass->footprint);
}

static bool read_all(Prepass *prepass, const Recording *recording) {
    Player *player = prepass->player;
    RecordReader *reader = &player->reader;
    const char *problem = reader->problem;
    prepass->duplicates = ARENA_ARRAY(&player->arena, Duplicate, player->cluster_count + 1);
    bool known = cores_read(prepass, recording);
    known = known && !reader->damaged;
    if (reader->missing) /* clusters that end early may do the same until then, and no more is known of them */
        prepass->compares = prepass->fetches = false;
    prepass->seen = ARENA_ARRAY(&player->arena, uint8_t, player->recording->more_count + 1);
    memcpy(prepass->seen, reader->seen, player->recording->more_count);
    reader->problem = problem;
    record_reader_restart(reader);
    return known;
}

/* Whether half of the clusters access no memory that others write: then those few that do may well be ordered by
 * barriers alone. */
static bool are_mostly_quiet(const Prepass *prepass) {
    uint32_t count = prepass->player->cluster_count, quiet = 0;
    for (uint32_t i = 0; i < count && prepass->strong; i++)
        quiet += footprint_cluster_is_quiet(prepass->footprint, i);
    return prepass->strong && 2 * quiet >= count;
}

void prepass_make(Player *player, const Recording *recording) {
    uint32_t size = player->machine->cluster_size, warps = player->reader.warps * size;
    uint64_t all = (uint64_t)player->cluster_count * warps;
    const RecordingLaunch *launch = &player->recording->launch;
    if (player->together || player->copies || player->seen || all >= FOOTPRINT_WARPS ||
        launch->flags & (RECORDING_CUT | RECORDING_HUNG) || !(launch->spaces & RECORDING_GLOBAL))
        return;
    Prepass *prepass = ARENA_NEW(&player->arena, Prepass);
    prepass->player = player;
    bool any = player->sites->any_strong, sequential = player->sites->any_sequential && player->machine->cta_count > 1;
    bool loose = any && player->sites->strong_alike && (!player->sites->any_order || player->may_be_loose);
    prepass->compares = loose || (!any && !sequential);
    prepass->only_writes = asks_for_writes(prepass);
    prepass->strong = loose && !prepass->only_writes ? (uint32_t)all : 0;
    prepass->footprint = footprint_new(&player->arena, (uint32_t)all, warps, prepass->only_writes);
    prepass->fetches = prepass->only_writes && fetches_can(player);
    prepass->reading = loose ? NULL : turns_reading(player);
    prepass->idle = find_idle(prepass);
    prepass->runs = prepass_runs(prepass);
    if (!read_all(prepass, recording))
        return;
    if (prepass->strong && !footprint_cluster_is_quiet(prepass->footprint, player->cluster_count))
        prepass->compares = false; /* whose strong accesses those are is not known */
    if (loose && player->sites->any_order && !are_mostly_quiet(prepass))
        prepass->compares = false;
    player->prepass = prepass;
    player->read = prepass->reading;
    player->footprint = prepass->footprint;
    player->loose = prepass->strong && (!player->sites->any_order || prepass->compares);
    if (prepass->compares || prepass->fetches)
        find_duplicates(prepass, player->cluster_count, &player->arena);
}

/* ---- The play ------------------------------------------------------------------------------------- */

/* So far. False: there are too many races. */
static bool count(const Player *player, Counts *counts) {
    uint32_t races = 0;
    ptx_watch_end(player->watch);
    const PtxRace *items = ptx_watch_races(player->watch, &races);
    if (races > PREPASS_RACES)
        return false;
    counts->events = player->check->events;
    counts->instructions = player->machine->thread_instructions;
    counts->records = player->records;
    counts->race_count = races;
    for (uint32_t i = 0; i < races; i++)
        counts->races[i] = items[i].times;
    return true;
}

static void count_from(Counts *now, const Counts *before) {
    now->events -= before->events;
    now->instructions -= before->instructions;
    now->records -= before->records;
    for (uint32_t i = 0; i < before->race_count; i++)
        now->races[i] -= before->races[i];
}

static bool counts_equal(const Counts *one, const Counts *other) {
    return one->events == other->events && one->instructions == other->instructions && one->records == other->records &&
           one->race_count == other->race_count &&
           memcmp(one->races, other->races, one->race_count * sizeof *one->races) == 0;
}

/* Whether a race depends on nothing of what is stored but on what is known to be the same. */
static bool is_reported(const PtxRace *race, const Duplicate *first, const Duplicate *duplicate,
                        const Duplicate *last) {
    if (!first->stores || (race->reason == REASON_SAME_INSTRUCTION && !first->opaque))
        return true;
    return race->first.code == race->second.code && duplicate->stored.one == last->stored.one &&
           duplicate->stored.two == last->stored.two;
}

/* Whether what is counted of the last one is so of this, too. */
static bool can_pass(const Player *player, const Duplicate *first, const Duplicate *duplicate) {
    uint32_t races = 0;
    const PtxRace *items = ptx_watch_races(player->watch, &races);
    if (!races || !first->played)
        return first->played;
    for (uint32_t i = 0; first->steady && i < first->counts->race_count; i++)
        if (first->counts->races[i] &&
            !is_reported(&items[i], first, duplicate, &player->prepass->duplicates[first->last]))
            return false;
    return first->steady;
}

bool prepass_passes(Player *player) {
    Prepass *prepass = player->prepass;
    if (!prepass || !prepass->compares)
        return false;
    const Duplicate *first = &prepass->duplicates[prepass->duplicates[player->begun].first];
    if (!can_pass(player, first, &prepass->duplicates[player->begun])) {
        prepass->alone = !player->live && footprint_cluster_is_quiet(prepass->footprint, player->begun) &&
                         count(player, &prepass->before);
        return false;
    }
    player->check->events += first->counts->events;
    player->machine->thread_instructions += first->counts->instructions;
    player->records += first->counts->records;
    for (uint32_t i = 0; i < first->counts->race_count; i++)
        if (first->counts->races[i])
            ptx_watch_again(player->watch, i, first->counts->races[i]);
    player->begun++;
    prepass->any_passed = true;
    return true;
}

void prepass_over(Player *player, const PlayCluster *cluster) {
    Prepass *prepass = player->prepass;
    if (!prepass || !prepass->compares || !prepass->alone || player->begun != cluster->number + 1 ||
        !count(player, &prepass->now))
        return;
    Duplicate *first = &prepass->duplicates[prepass->duplicates[cluster->number].first];
    count_from(&prepass->now, &prepass->before);
    if (!first->counts)
        first->counts = ARENA_NEW(&player->arena, Counts);
    first->steady = first->played && counts_equal(first->counts, &prepass->now);
    memcpy(first->counts, &prepass->now,
           offsetof(Counts, races) + prepass->now.race_count * sizeof *prepass->now.races);
    first->played = true;
    first->last = cluster->number;
}

void prepass_end(Player *player) {
    const Prepass *prepass = player->prepass;
    for (size_t i = 0; prepass && prepass->any_passed && i < player->recording->more_count; i++)
        player->reader.seen[i] |= prepass->seen[i];
}
