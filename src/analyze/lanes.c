/* Lanes, cut as regions appear. */
#include "analyze/lanes.h"

enum { BUCKETS = 1 << 12, MOST_RUNS = 1 << 16 };

typedef struct Piece {
    int64_t begin, end;
    uint32_t lane;
} Piece;

/* The memory of one storage in one CTA. */
typedef struct Memory {
    struct Memory *next;
    uint32_t storage, cta;
    Space space;
    Piece *pieces; /* sorted, not overlapping */
    uint32_t count, capacity;
    LaneSet *sets;
} Memory;

typedef struct LaneInfo {
    Memory *memory;
    int64_t size;
} LaneInfo;

struct Lanes {
    Arena *arena;
    Module *module;
    Consan *engine;
    LaneSet **sets; /* open addressing */
    uint32_t used;
    Memory *memories;
    LaneInfo *infos;
    int64_t *covered; /* scratch, by lane */
};

Lanes *lanes_create(Arena *arena, Module *module, Consan *engine) {
    Lanes *lanes = ARENA_NEW(arena, Lanes);
    lanes->arena = arena;
    lanes->module = module;
    lanes->engine = engine;
    lanes->sets = ARENA_ARRAY(arena, LaneSet *, BUCKETS);
    lanes->infos = ARENA_ARRAY(arena, LaneInfo, engine->lane_capacity + 1);
    lanes->covered = ARENA_ARRAY(arena, int64_t, engine->lane_capacity + 1);
    return lanes;
}

/* The lanes stay, and so do their numbers: only what the engine knows of them is forgotten. */
void lanes_reset(Lanes *lanes) {
    consan_reset(lanes->engine);
}

static Memory *memory_of(Lanes *lanes, Word view, Space space) {
    for (Memory *memory = lanes->memories; memory; memory = memory->next)
        if (memory->storage == view.meta && memory->cta == view.cta)
            return memory;
    Memory *memory = ARENA_NEW(lanes->arena, Memory);
    *memory = (Memory){.next = lanes->memories, .storage = view.meta, .cta = view.cta, .space = space};
    lanes->memories = memory;
    return memory;
}

static void insert(Lanes *lanes, Memory *memory, uint32_t at, Piece piece) {
    if (memory->count == memory->capacity) {
        uint32_t capacity = memory->capacity ? memory->capacity * 2 : 64;
        Piece *pieces = ARENA_ARRAY(lanes->arena, Piece, capacity);
        if (memory->count)
            memcpy(pieces, memory->pieces, memory->count * sizeof *pieces);
        memory->pieces = pieces;
        memory->capacity = capacity;
    }
    memmove(&memory->pieces[at + 1], &memory->pieces[at], (memory->count - at) * sizeof piece);
    memory->pieces[at] = piece;
    memory->count++;
}

static uint32_t first_ending_after(const Memory *memory, int64_t byte) {
    uint32_t low = 0, high = memory->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (memory->pieces[middle].end > byte)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* A piece that reaches across `byte` becomes two. */
static void cut_at(Lanes *lanes, Memory *memory, int64_t byte) {
    uint32_t at = first_ending_after(memory, byte);
    if (at == memory->count || memory->pieces[at].begin >= byte)
        return;
    Piece rest = memory->pieces[at];
    rest.begin = byte;
    memory->pieces[at].end = byte;
    insert(lanes, memory, at + 1, rest);
}

static void add_lane(Lanes *lanes, LaneSet *set, uint32_t lane) {
    if (set->count == set->capacity) {
        uint32_t capacity = set->capacity ? set->capacity * 2 : 4;
        uint32_t *list = ARENA_ARRAY(lanes->arena, uint32_t, capacity);
        if (set->count)
            memcpy(list, set->lanes, set->count * sizeof *list);
        set->lanes = list;
        set->capacity = capacity;
    }
    set->lanes[set->count++] = lane;
}

static bool contains(const LaneSet *set, uint32_t lane) {
    for (uint32_t i = 0; i < set->count; i++)
        if (set->lanes[i] == lane)
            return true;
    return false;
}

/* Gives the bytes of `set` that no lane has a lane of their own. */
static bool cover_gaps(Lanes *lanes, Memory *memory, const Bytes *bytes) {
    uint32_t fresh = UINT32_MAX;
    for (uint32_t i = 0; i < bytes->count; i++) {
        int64_t at = bytes->runs[i].begin, end = bytes->runs[i].end;
        while (at < end) {
            uint32_t k = first_ending_after(memory, at);
            int64_t next = k < memory->count ? memory->pieces[k].begin : INT64_MAX;
            if (next <= at) {
                at = memory->pieces[k].end;
                continue;
            }
            int64_t stop = next < end ? next : end;
            if (fresh == UINT32_MAX) {
                fresh = consan_lane(lanes->engine);
                if (fresh == UINT32_MAX)
                    return false;
                lanes->infos[fresh] = (LaneInfo){.memory = memory};
            }
            lanes->infos[fresh].size += stop - at;
            insert(lanes, memory, k, (Piece){at, stop, fresh});
            at = stop;
        }
    }
    return true;
}

/* The part of a lane that is inside the region becomes a lane of its own. */
static uint32_t split(Lanes *lanes, Memory *memory, uint32_t lane, int64_t inside) {
    uint32_t fresh = consan_split(lanes->engine, lane);
    if (fresh == UINT32_MAX)
        return fresh;
    lanes->infos[fresh] = (LaneInfo){.memory = memory, .size = inside};
    lanes->infos[lane].size -= inside;
    for (LaneSet *set = memory->sets; set; set = set->next)
        if (contains(set, lane))
            add_lane(lanes, set, fresh);
    return fresh;
}

static bool make_set(Lanes *lanes, Memory *memory, const Bytes *bytes, LaneSet *set) {
    for (uint32_t i = 0; i < bytes->count; i++) {
        cut_at(lanes, memory, bytes->runs[i].begin);
        cut_at(lanes, memory, bytes->runs[i].end);
    }
    if (!cover_gaps(lanes, memory, bytes))
        return false;
    uint32_t *touched = ARENA_ARRAY(lanes->arena, uint32_t, lanes->engine->lanes + 1);
    uint32_t *becomes = ARENA_ARRAY(lanes->arena, uint32_t, lanes->engine->lanes + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < bytes->count; i++)
        for (uint32_t k = first_ending_after(memory, bytes->runs[i].begin);
             k < memory->count && memory->pieces[k].begin < bytes->runs[i].end; k++) {
            const Piece *piece = &memory->pieces[k];
            if (!lanes->covered[piece->lane])
                touched[count++] = piece->lane;
            lanes->covered[piece->lane] += piece->end - piece->begin;
        }
    bool good = true;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t lane = touched[i];
        becomes[i] =
            lanes->covered[lane] < lanes->infos[lane].size ? split(lanes, memory, lane, lanes->covered[lane]) : lane;
        good &= becomes[i] != UINT32_MAX;
        if (good)
            add_lane(lanes, set, becomes[i]);
    }
    for (uint32_t i = 0; good && i < bytes->count; i++)
        for (uint32_t k = first_ending_after(memory, bytes->runs[i].begin);
             k < memory->count && memory->pieces[k].begin < bytes->runs[i].end; k++) {
            Piece *piece = &memory->pieces[k];
            for (uint32_t t = 0; t < count; t++)
                if (touched[t] == piece->lane && becomes[t] != piece->lane) {
                    piece->lane = becomes[t];
                    break;
                }
        }
    for (uint32_t i = 0; i < count; i++)
        lanes->covered[touched[i]] = 0;
    return good;
}

const LaneSet *lanes_of(Lanes *lanes, Word view, const Type *type, const char **problem) {
    uint64_t key =
        ((uint64_t)view.bits ^ (uint64_t)view.meta << 24 ^ (uint64_t)view.cta << 48 ^ (uint64_t)(uintptr_t)type) *
        0x9e3779b97f4a7c15u;
    uint32_t at = (uint32_t)(key >> 40) & (BUCKETS - 1);
    for (; lanes->sets[at]; at = (at + 1) & (BUCKETS - 1)) {
        LaneSet *set = lanes->sets[at];
        if (set->type == type && set->view.bits == view.bits && set->view.meta == view.meta &&
            set->view.cta == view.cta)
            return set;
    }
    if (lanes->used * 2 >= BUCKETS) {
        *problem = "more regions of memory are accessed than the race engine keeps";
        return NULL;
    }
    Offset offset = {(int32_t)(view.bits & UINT32_MAX), (int32_t)(view.bits >> 32)};
    Bytes bytes;
    if (!region_bytes(lanes->module, type, offset, lanes->arena, &bytes) || bytes.count > MOST_RUNS) {
        *problem = "where it lies in memory is not known (its encoding is not understood)";
        return NULL;
    }
    Memory *memory = memory_of(lanes, view, memdesc_space(type));
    LaneSet *set = ARENA_NEW(lanes->arena, LaneSet);
    *set = (LaneSet){.type = type, .view = view, .bytes = bytes};
    if (!make_set(lanes, memory, &bytes, set)) {
        *problem = "memory is accessed in more pieces than the race engine keeps";
        return NULL;
    }
    set->next = memory->sets;
    memory->sets = set;
    lanes->sets[at] = set;
    lanes->used++;
    return set;
}

Space lanes_space(const Lanes *lanes, uint32_t lane) {
    return lanes->infos[lane].memory->space;
}

void lanes_describe(const Lanes *lanes, const Machine *machine, uint32_t lane, Text *to) {
    const LaneInfo *info = &lanes->infos[lane];
    const Program *program = machine->program;
    bool tensor = info->memory->space == SPACE_TENSOR;
    int64_t begin = 0, end = 0;
    for (uint32_t i = 0; i < info->memory->count && !end; i++)
        if (info->memory->pieces[i].lane == lane) {
            begin = info->memory->pieces[i].begin;
            end = info->memory->pieces[i].end;
        }
    if (tensor) { /* of one row */
        begin &= 0xffff;
        end = ((end - 1) & 0xffff) + 1;
    }
    const Allocation *best = NULL;
    for (uint32_t i = 0; i < program->allocations.count; i++) {
        const Allocation *allocation = &program->allocations.items[i];
        if (allocation->storage == info->memory->storage && allocation->offset.base <= begin &&
            (!best || allocation->offset.base > best->offset.base))
            best = allocation;
    }
    const Value *value = best && best->op->result_count ? &best->op->results[0] : NULL;
    int64_t base = best ? best->offset.base : 0;
    text_addf(to, tensor ? "columns %lld-%lld of " : "bytes %lld-%lld of ", (long long)(begin - base),
              (long long)(end - base - 1));
    text_char(to, '%');
    if (value && value->name)
        text_add_plain(to, value->name->text);
    else
        text_char(to, '?');
    if (program->ctas > 1)
        text_addf(to, " in cta%u", info->memory->cta);
}
