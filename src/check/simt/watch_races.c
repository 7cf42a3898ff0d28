/* Races as the engine tells them, made into those of the machine: instructions, threads, places. */
#include "check/simt/watch_internal.h"

static RaceReason reason_of(ThreadsReason reason) {
    static const RaceReason reasons[] = {
        [THREADS_UNORDERED] = REASON_UNORDERED,   [THREADS_SAME_INSTRUCTION] = REASON_SAME_INSTRUCTION,
        [THREADS_SAME_WARP] = REASON_SAME_WARP,   [THREADS_TOO_NARROW] = REASON_SCOPE,
        [THREADS_OTHER_PROXY] = REASON_PROXY,     [THREADS_IN_FLIGHT] = REASON_IN_FLIGHT,
        [THREADS_MIXED_SIZE] = REASON_MIXED_SIZE, [THREADS_AT_EXIT] = REASON_EXIT,
        [THREADS_READ_ONLY] = REASON_READ_ONLY,
    };
    return reasons[reason];
}

static RuleId rule_for(const ThreadsRace *race) {
    AccessKind first = race->first.access.kind, second = race->second.access.kind;
    if (race->reason == THREADS_AT_EXIT)
        return first == KIND_READ ? RULE_RACE_EXIT_STORE : RULE_RACE_EXIT;
    if (race->reason == THREADS_READ_ONLY)
        return RULE_ACCESS_READ_ONLY;
    if (race->reason == THREADS_MIXED_SIZE)
        return RULE_RACE_MIXED_SIZE;
    if (race->reason == THREADS_IN_FLIGHT)
        return RULE_RACE_INFLIGHT;
    if (race->same_value)
        return RULE_RACE_SAME_VALUE;
    return second == KIND_READ ? RULE_RACE_RAW : first == KIND_READ ? RULE_RACE_WAR : RULE_RACE_WAW;
}

static RaceSide side_of(const PtxWatch *watch, const ThreadsSide *side) {
    const ThreadsAccess *access = &side->access;
    const WatchSlot *seat = watch->options.seat;
    uint32_t cta = side->warp / watch->cta_warps, size = watch->machine->cluster_size;
    if (seat)
        cta = (cta - seat->first_cta) / seat->cluster * size + (cta - seat->first_cta) % seat->cluster;
    return (RaceSide){
        .code = &watch->machine->program->code[access->site - (seat ? seat->first_site : 0)],
        .cta = cta,
        .thread = side->warp % watch->cta_warps * PTX_LANES + side->lane,
        .asynchronous = side->asynchronous,
        .access = {.kind = access->kind,
                   .proxy = access->proxy,
                   .order = access->order,
                   .scope = access->scope,
                   .strong = access->order != ORDER_WEAK,
                   .read_only = access->read_only,
                   .element = access->element ? access->element : access->bytes,
                   .bytes = access->bytes,
                   .used = UINT32_MAX},
    };
}

void ptx_anchored(const PtxMachine *machine, uint64_t address, PtxBlock *block) {
    static const uint64_t far = UINT64_C(1) << 36;
    const PtxLaunch *launch = machine->launch;
    *block = (PtxBlock){.space = PTX_SPACE_GLOBAL, .name = "global memory", .cta = PTX_NONE};
    for (uint32_t i = 0; i < machine->block_count; i++)
        if (address >= machine->blocks[i].base && address - machine->blocks[i].base < machine->blocks[i].size)
            *block = machine->blocks[i];
    for (uint32_t i = 0; i < launch->anchor_count; i++) {
        const PtxAnchor *anchor = &launch->anchors[i];
        if (anchor->address > address || anchor->address < block->base || address - anchor->address >= far)
            continue;
        block->base = anchor->address;
        block->name = anchor->name;
    }
}

/* The block of an address. Those of CTAs are used again for others, so it is a copy. */
static PtxLocation location_of(const PtxWatch *watch, uint64_t address) {
    const PtxMachine *machine = watch->machine;
    PtxBlock *copy = ARENA_NEW(watch->arena, PtxBlock);
    if (address >> 62) {
        uint32_t cta = (uint32_t)(address >> 28);
        *copy = (PtxBlock){.space = address >> 63 ? PTX_SPACE_TENSOR : PTX_SPACE_SHARED,
                           .name = address >> 63 ? "tensor memory" : "shared memory",
                           .cta = cta};
        if (!(address >> 63) && machine->ctas[cta])
            *copy = machine->ctas[cta]->shared;
        return (PtxLocation){copy, address & ((UINT64_C(1) << 28) - 1)};
    }
    if (machine->plays) {
        ptx_anchored(machine, address, copy);
        return (PtxLocation){copy, address - copy->base};
    }
    for (uint32_t i = 0; i < machine->block_count; i++)
        if (address >= machine->blocks[i].base && address - machine->blocks[i].base < machine->blocks[i].size) {
            *copy = machine->blocks[i];
            break;
        }
    return (PtxLocation){copy, address - copy->base};
}

static const PtxStores *stores_of(const PtxWatch *watch, const ThreadsAccess *access) {
    const WatchSlot *seat = watch->options.seat;
    return &watch->stores[access->site - (seat ? seat->first_site : 0)];
}

/* Whether two writes that no values were recorded of store the same, by what the instructions say. They are of the same
 * launch, or of two. */
static bool stores_same(const PtxWatch *of_first, const PtxWatch *of_second, const ThreadsRace *race) {
    const ThreadsAccess *first = &race->first.access, *second = &race->second.access;
    if (!of_first->stores || !of_second->stores || first->kind != KIND_WRITE || second->kind != KIND_WRITE ||
        race->first.asynchronous || race->second.asynchronous)
        return false;
    const PtxStores *one = stores_of(of_first, first), *other = stores_of(of_second, second);
    if (one->how == STORES_CONSTANT && other->how == STORES_CONSTANT)
        return one->value == other->value && first->bytes == second->bytes;
    return first->site == second->site &&
           (one->how == STORES_SAME || (one->how == STORES_SYMMETRY && race->reason == THREADS_SAME_INSTRUCTION));
}

/* A recording is of one run: that a write changes nothing for who reads, it does not say of others. */
static bool is_same(const PtxWatch *of_first, const PtxWatch *of_second, const ThreadsRace *race) {
    bool reads = race->first.access.kind == KIND_READ || race->second.access.kind == KIND_READ;
    if (of_first->stores && reads)
        return false;
    return race->same_value || stores_same(of_first, of_second, race);
}

static bool is_unknown(const PtxWatch *watch, const ThreadsRace *race) {
    return watch->stores && race->reason == THREADS_SAME_INSTRUCTION && race->first.access.kind == KIND_WRITE &&
           stores_of(watch, &race->first.access)->how == STORES_ROWS;
}

/* Whether tensor memory has that pair among its races already, whatever orders them: then it is no fence that is
 * missing. */
static bool is_race_already(const PtxWatch *watch, const PtxRace *race) {
    for (uint32_t i = 0; i < watch->race_count; i++)
        if (watch->races[i].role == WATCHES_TENSOR &&
            ((watch->races[i].first.code == race->first.code && watch->races[i].second.code == race->second.code) ||
             (watch->races[i].first.code == race->second.code && watch->races[i].second.code == race->first.code)))
            return true;
    return false;
}

static void take(PtxWatch *watch, const PtxWatch *from, uint32_t index, const ThreadsRace *found) {
    ThreadsRace same = *found;
    const ThreadsRace *race = &same;
    same.same_value = is_same(watch, watch, found);
    bool alone = race->reason == THREADS_AT_EXIT, canonical = from->role == WATCHES_CANONICAL;
    bool starts = from->role == WATCHES_STARTS;
    if (watches_tensor(from) && (!(race->address >> 63) || (canonical && alone)))
        return;
    if (starts && (alone || race->address >> 62 != 1 || (uint32_t)race->address << 4))
        return;
    PtxRace taken = {
        .rule = canonical ? RULE_FENCE_TENSOR
                : starts  ? RULE_CLUSTER_START
                          : rule_for(race),
        .first = side_of(watch, &race->first),
        .second = side_of(watch, alone ? &race->first : &race->second),
        .location = location_of(watch, race->address),
        .bytes = race->bytes,
        .reason = canonical ? REASON_TENSOR_FENCE
                  : starts  ? REASON_START
                            : reason_of(race->reason),
        .same_value = race->same_value,
        .waited = race->waited,
        .unknown = is_unknown(watch, race),
        .step = watch->machine->thread_instructions,
        .role = (uint8_t)from->role,
        .index = index,
    };
    if (!canonical || !is_race_already(watch, &taken))
        *ARENA_PUSH(watch->arena, watch->races, watch->race_count, watch->race_capacity) = taken;
}

PtxRace ptx_watch_between(const PtxWatch *first, const PtxWatch *second, const ThreadsRace *found) {
    ThreadsRace reported = *found;
    const ThreadsRace *race = &reported;
    uint64_t address = race->address;
    reported.same_value = is_same(first, second, found);
    if (address >> 62 == 0 && address >= PTX_GLOBAL_END)
        address -= second->options.seat->variables;
    return (PtxRace){
        .rule = rule_for(race),
        .first = side_of(first, &race->first),
        .second = side_of(second, &race->second),
        .location = location_of(second, address),
        .bytes = race->bytes,
        .reason = reason_of(race->reason),
        .same_value = race->same_value,
        .times = race->times,
    };
}

const PtxRace *ptx_watch_loose(const PtxWatch *watch, Arena *arena, uint32_t *count) {
    const ThreadsRace *found = threads_loose(watch->engine, count);
    PtxRace *races = ARENA_ARRAY(arena, PtxRace, *count + 1);
    for (uint32_t i = 0; i < *count; i++)
        races[i] = (PtxRace){
            .rule = rule_for(&found[i]),
            .first = side_of(watch, &found[i].first),
            .second = side_of(watch, &found[i].second),
            .location = location_of(watch, found[i].address),
            .bytes = found[i].bytes,
            .reason = reason_of(found[i].reason),
            .times = found[i].times,
        };
    return races;
}

static void take_from(PtxWatch *watch, PtxWatch *from) {
    uint32_t count, news = threads_news(from->engine);
    if (news == from->news)
        return;
    const ThreadsRace *races = threads_races(from->engine, &count);
    from->news = news;
    for (; from->taken < count; from->taken++)
        take(watch, from, from->taken, &races[from->taken]);
}

static bool has_others(const PtxWatch *watch) {
    return watch->others[WATCHES_TENSOR] || watch->others[WATCHES_STARTS];
}

void watch_take_races(PtxWatch *watch, const PtxEvent *event) {
    (void)event;
    if (watch->options.seat || (threads_news(watch->engine) == watch->news && !has_others(watch)))
        return;
    take_from(watch, watch);
    for (unsigned i = 0; i < WATCH_ROLES; i++)
        if (watch->others[i])
            take_from(watch, watch->others[i]);
    if (!watch->order_matters && threads_order_matters(watch->engine) != THREADS_NONE)
        watch->order_matters = &watch->machine->program->code[threads_order_matters(watch->engine)];
}

void ptx_watch_values(PtxWatch *watch, const PtxStores *stores) {
    watch->stores = stores;
}

void ptx_watch_end(PtxWatch *watch) {
    watch_take_races(watch, NULL);
    watch_late_end(watch);
}

static Threads *engine_of(const PtxWatch *watch, const PtxRace *race) {
    return race->role == WATCHES_MEMORY ? watch->engine : watch->others[race->role]->engine;
}

const PtxRace *ptx_watch_races(const PtxWatch *watch, uint32_t *count) {
    for (uint32_t i = 0; i < watch->race_count; i++)
        if (watch->races[i].role != WATCH_ROLES)
            watch->races[i].times =
                threads_races(engine_of(watch, &watch->races[i]), count)[watch->races[i].index].times;
    *count = watch->race_count;
    return watch->races;
}

void ptx_watch_again(PtxWatch *watch, uint32_t race, uint64_t times) {
    threads_again(engine_of(watch, &watch->races[race]), watch->races[race].index, times);
}

const PtxCode *ptx_watch_order_matters(const PtxWatch *watch) {
    return watch->order_matters;
}
