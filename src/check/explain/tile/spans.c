/* Spans, cut as regions appear. */
#include "check/explain/tile/spans.h"

#include "base/bisect.h"
#include "check/explain/place.h"
#include "model/names/names.h"

enum { BUCKETS = 1 << 12 /* of each CTA */, MOST_RUNS = 1 << 16 };

typedef struct SpanPiece {
    int64_t begin, end;
    uint32_t span;
} SpanPiece;

/* The memory of one storage in one CTA. */
typedef struct SpanMemory {
    struct SpanMemory *next;
    uint32_t storage, cta;
    Space space;
    SpanPiece *pieces; /* sorted, not overlapping */
    uint32_t count, capacity;
    SpanSet *sets;
} SpanMemory;

typedef struct SpanInfo {
    SpanMemory *memory;
    int64_t size;
} SpanInfo;

struct Spans {
    Arena *arena;
    Module *module;
    Consan *engine;
    SpanSet **sets;         /* open addressing */
    uint32_t used, buckets; /* buckets: a power of two */
    SpanMemory *memories;
    SpanInfo *infos;
    int64_t *covered; /* scratch, by span */
};

Spans *spans_create(Arena *arena, Module *module, Consan *engine) {
    Spans *spans = ARENA_NEW(arena, Spans);
    spans->arena = arena;
    spans->module = module;
    spans->engine = engine;
    size_t most_spans = (size_t)engine->word_capacity * CONSAN_LANES;
    for (spans->buckets = BUCKETS; spans->buckets < BUCKETS * engine->homes;)
        spans->buckets *= 2;
    spans->sets = ARENA_ARRAY(arena, SpanSet *, spans->buckets);
    spans->infos = ARENA_ARRAY(arena, SpanInfo, most_spans);
    spans->covered = ARENA_ARRAY(arena, int64_t, most_spans);
    return spans;
}

/* The spans stay, and so do their numbers: only what the engine knows of them is forgotten. */
void spans_reset(Spans *spans) {
    consan_reset(spans->engine);
}

static SpanMemory *memory_of(Spans *spans, Word view, Space space) {
    for (SpanMemory *memory = spans->memories; memory; memory = memory->next)
        if (memory->storage == view.meta && memory->cta == view.cta)
            return memory;
    SpanMemory *memory = ARENA_NEW(spans->arena, SpanMemory);
    *memory = (SpanMemory){.next = spans->memories, .storage = view.meta, .cta = view.cta, .space = space};
    spans->memories = memory;
    return memory;
}

static void insert(Spans *spans, SpanMemory *memory, uint32_t at, SpanPiece piece) {
    ARENA_PUSH(spans->arena, memory->pieces, memory->count, memory->capacity);
    memmove(&memory->pieces[at + 1], &memory->pieces[at], (memory->count - 1 - at) * sizeof piece);
    memory->pieces[at] = piece;
}

static uint32_t first_ending_after(const SpanMemory *memory, int64_t byte) {
    uint32_t low;
    BISECT(low, 0, memory->count, memory->pieces[low].end <= byte);
    return low;
}

/* A piece that reaches across `byte` becomes two. */
static void cut_at(Spans *spans, SpanMemory *memory, int64_t byte) {
    uint32_t at = first_ending_after(memory, byte);
    if (at == memory->count || memory->pieces[at].begin >= byte)
        return;
    SpanPiece rest = memory->pieces[at];
    rest.begin = byte;
    memory->pieces[at].end = byte;
    insert(spans, memory, at + 1, rest);
}

static void add_span(Spans *spans, SpanSet *set, uint32_t span) {
    *ARENA_PUSH(spans->arena, set->spans, set->count, set->capacity) = span;
}

static bool contains(const SpanSet *set, uint32_t span) {
    for (uint32_t i = 0; i < set->count; i++)
        if (set->spans[i] == span)
            return true;
    return false;
}

/* Gives the bytes of `set` that no span has a span of their own. */
static bool cover_gaps(Spans *spans, SpanMemory *memory, const Bytes *bytes) {
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
                fresh = consan_span(spans->engine, memory->cta);
                if (fresh == UINT32_MAX)
                    return false;
                spans->infos[fresh] = (SpanInfo){.memory = memory};
            }
            spans->infos[fresh].size += stop - at;
            insert(spans, memory, k, (SpanPiece){at, stop, fresh});
            at = stop;
        }
    }
    return true;
}

/* The part of a span that is inside the region becomes a span of its own. */
static uint32_t split(Spans *spans, SpanMemory *memory, uint32_t span, int64_t inside) {
    uint32_t fresh = consan_split(spans->engine, span);
    if (fresh == UINT32_MAX)
        return fresh;
    spans->infos[fresh] = (SpanInfo){.memory = memory, .size = inside};
    spans->infos[span].size -= inside;
    for (SpanSet *set = memory->sets; set; set = set->next)
        if (contains(set, span))
            add_span(spans, set, fresh);
    return fresh;
}

static bool make_set(Spans *spans, SpanMemory *memory, const Bytes *bytes, SpanSet *set) {
    for (uint32_t i = 0; i < bytes->count; i++) {
        cut_at(spans, memory, bytes->runs[i].begin);
        cut_at(spans, memory, bytes->runs[i].end);
    }
    if (!cover_gaps(spans, memory, bytes))
        return false;
    uint32_t *touched = ARENA_ARRAY(spans->arena, uint32_t, memory->count);
    uint32_t *becomes = ARENA_ARRAY(spans->arena, uint32_t, memory->count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < bytes->count; i++)
        for (uint32_t k = first_ending_after(memory, bytes->runs[i].begin);
             k < memory->count && memory->pieces[k].begin < bytes->runs[i].end; k++) {
            const SpanPiece *piece = &memory->pieces[k];
            if (!spans->covered[piece->span])
                touched[count++] = piece->span;
            spans->covered[piece->span] += piece->end - piece->begin;
        }
    bool good = true;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t span = touched[i];
        becomes[i] =
            spans->covered[span] < spans->infos[span].size ? split(spans, memory, span, spans->covered[span]) : span;
        good &= becomes[i] != UINT32_MAX;
        if (good)
            add_span(spans, set, becomes[i]);
    }
    for (uint32_t i = 0; good && i < bytes->count; i++)
        for (uint32_t k = first_ending_after(memory, bytes->runs[i].begin);
             k < memory->count && memory->pieces[k].begin < bytes->runs[i].end; k++) {
            SpanPiece *piece = &memory->pieces[k];
            for (uint32_t t = 0; t < count; t++)
                if (touched[t] == piece->span && becomes[t] != piece->span) {
                    piece->span = becomes[t];
                    break;
                }
        }
    for (uint32_t i = 0; i < count; i++)
        spans->covered[touched[i]] = 0;
    return good;
}

const SpanSet *spans_of(Spans *spans, Word view, const Type *type, const char **problem) {
    return spans_of_part(spans, view, type, NULL, problem);
}

const SpanSet *spans_of_part(Spans *spans, Word view, const Type *type, const ViewPart *part, const char **problem) {
    uint64_t key = ((uint64_t)view.bits ^ (uint64_t)view.meta << 24 ^ (uint64_t)view.cta << 48 ^
                    (uint64_t)(uintptr_t)type ^ (uint64_t)(uintptr_t)part << 8) *
                   0x9e3779b97f4a7c15u;
    uint32_t at = (uint32_t)(key >> 40) & (spans->buckets - 1);
    for (; spans->sets[at]; at = (at + 1) & (spans->buckets - 1)) {
        SpanSet *set = spans->sets[at];
        if (set->type == type && set->part == part && set->view.bits == view.bits && set->view.meta == view.meta &&
            set->view.cta == view.cta)
            return set;
    }
    if (spans->used * 2 >= spans->buckets) {
        *problem = "more regions of memory are accessed than the race engine keeps";
        return NULL;
    }
    Offset offset = {(int32_t)(view.bits & UINT32_MAX), (int32_t)(view.bits >> 32)};
    Bytes bytes;
    if (!view_part_bytes(spans->module, type, offset, part, spans->arena, &bytes) || bytes.count > MOST_RUNS) {
        *problem = "where it lies in memory is not known (its encoding is not understood)";
        return NULL;
    }
    SpanMemory *memory = memory_of(spans, view, memdesc_space(type));
    SpanSet *set = ARENA_NEW(spans->arena, SpanSet);
    *set = (SpanSet){.type = type, .part = part, .view = view, .bytes = bytes};
    if (!make_set(spans, memory, &bytes, set)) {
        *problem = "memory is accessed in more pieces than the race engine keeps";
        return NULL;
    }
    set->next = memory->sets;
    memory->sets = set;
    spans->sets[at] = set;
    spans->used++;
    return set;
}

uint32_t spans_next(const Spans *spans, uint32_t storage, uint32_t cta, uint32_t *at, Run *bytes) {
    const SpanMemory *memory = spans->memories;
    while (memory && (memory->storage != storage || memory->cta != cta))
        memory = memory->next;
    if (!memory || *at >= memory->count)
        return UINT32_MAX;
    const SpanPiece *piece = &memory->pieces[(*at)++];
    *bytes = (Run){piece->begin, piece->end};
    return piece->span;
}

Space spans_space(const Spans *spans, uint32_t span) {
    return spans->infos[span].memory->space;
}

uint32_t spans_cta(const Spans *spans, uint32_t span) {
    return spans->infos[span].memory->cta;
}

bool spans_together(const Spans *spans, uint32_t a, uint32_t b) {
    return spans->infos[a].memory == spans->infos[b].memory;
}

void spans_describe(const Spans *spans, const Machine *machine, uint32_t span, Text *to) {
    const SpanInfo *info = &spans->infos[span];
    const Program *program = machine->program;
    bool tensor = info->memory->space == SPACE_TENSOR;
    int64_t begin = 0, end = 0;
    for (uint32_t i = 0; i < info->memory->count && !end; i++)
        if (info->memory->pieces[i].span == span) {
            begin = info->memory->pieces[i].begin;
            end = info->memory->pieces[i].end;
        }
    if (tensor) { /* of one row */
        begin &= 0xffff;
        end = ((end - 1) & 0xffff) + 1;
    }
    const Allocation *best = allocation_at(&program->allocations, info->memory->storage, begin);
    int64_t base = best ? best->offset.base : 0;
    text_extent(to, tensor ? "column" : "byte", begin - base, end - base);
    text_addf(to, " of ");
    if (best && best->op->result_count)
        name_print(program->module, best->op, to);
    else
        text_addf(to, "%%?");
    if (program->ctas > 1)
        text_addf(to, " in cta%u", info->memory->cta);
}
