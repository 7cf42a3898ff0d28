/* Memory in pieces that are accessed alike, with who writes and reads each, and what orders that. */
#include "check/report/trace/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Memory that is not shared ------------------------------------------------------------------- */

static bool is_reported(const PtxBlock *block) {
    return block->space == PTX_SPACE_GLOBAL || block->space == PTX_SPACE_TENSOR;
}

static TracePiece *piece_named(TraceReport *trace_report, const char *name, const char *space) {
    for (uint32_t i = 0; i < trace_report->piece_count; i++)
        if (strcmp(trace_report->pieces[i].name, name) == 0)
            return &trace_report->pieces[i];
    TracePiece *piece =
        ARENA_PUSH(trace_report->arena, trace_report->pieces, trace_report->piece_count, trace_report->piece_capacity);
    *piece = (TracePiece){.name = verdict_text(trace_report->check->verdict, "%s", name), .value = "", .space = space};
    return piece;
}

static void add_user(TraceReport *trace_report, TracePiece *piece, uint32_t code, bool writes, uint64_t from,
                     uint64_t to) {
    User *user = NULL;
    for (uint32_t i = 0; i < piece->user_count && !user; i++)
        if (piece->users[i].code == code && piece->users[i].writes == writes)
            user = &piece->users[i];
    if (!user) {
        user = ARENA_PUSH(trace_report->arena, piece->users, piece->user_count, piece->user_capacity);
        *user = (User){.code = code, .writes = writes, .from = from, .to = to};
    }
    user->from = from < user->from ? from : user->from;
    user->to = to > user->to ? to : user->to;
}

void trace_report_reach(TraceReport *trace_report, const PtxEvent *event, const PtxLocation *location, uint64_t bytes) {
    PtxBlock block = *location->block;
    uint64_t from = location->offset;
    if (!is_reported(&block))
        return;
    if (block.space == PTX_SPACE_GLOBAL && trace_report->check->machine->plays) {
        uint64_t address = block.base + location->offset;
        ptx_anchored(trace_report->check->machine, address, &block);
        from = address - block.base;
    }
    bool tensor = block.space == PTX_SPACE_TENSOR;
    TracePiece *piece = piece_named(trace_report,
                                    tensor       ? "tensor memory"
                                    : block.name ? block.name
                                                 : "global memory",
                                    tensor ? "tensor" : "global");
    if (event->access.kind != KIND_WRITE)
        add_user(trace_report, piece, code_number(trace_report, event->code), false, from, from + bytes);
    if (event->access.kind != KIND_READ)
        add_user(trace_report, piece, code_number(trace_report, event->code), true, from, from + bytes);
}

/* ---- Shared memory ------------------------------------------------------------------------------- */

/* Where each code is in the kernel's own source, as a number; code that has no such place has one of its own. */
static uint64_t *find_lines(const TraceReport *trace_report) {
    const PtxProgram *program = trace_report->check->program;
    uint64_t *lines = ARENA_ARRAY(trace_report->arena, uint64_t, program->code_count + 1);
    for (uint32_t i = 0; i < program->code_count; i++) {
        PtxPlace place;
        bool known =
            trace_report->does[i] && ptx_places(trace_report->check->module, program->code[i].statement, &place, 1);
        lines[i] = known ? (uint64_t)(uintptr_t)place.file.data << 24 ^ place.line : UINT64_C(1) << 63 | i;
    }
    return lines;
}

/* By whom it is used: from where it is written; if it is not, from where it is read. */
typedef struct Sort {
    uint64_t lines[GRANULE_USERS];
    uint8_t count;
} Sort;

static Sort sort_of(const Touched *touched, const uint64_t *lines) {
    Sort sort = {.count = 0};
    for (unsigned writes = 2; writes-- > 0 && !sort.count;)
        for (uint8_t i = 0; i < touched->count; i++) {
            uint32_t user = touched->users[i] - 1;
            uint64_t line = lines[user / 2];
            uint8_t at = 0;
            if (user % 2 != writes)
                continue;
            while (at < sort.count && sort.lines[at] < line)
                at++;
            if (at < sort.count && sort.lines[at] == line)
                continue;
            memmove(&sort.lines[at + 1], &sort.lines[at], (sort.count - at) * sizeof *sort.lines);
            sort.lines[at] = line;
            sort.count++;
        }
    return sort;
}

static bool is_symmetry(const Touched *a, const Touched *b, const uint64_t *lines) {
    Sort x = sort_of(a, lines), y = sort_of(b, lines);
    return x.count == y.count && memcmp(x.lines, y.lines, x.count * sizeof *x.lines) == 0;
}

/* The granule behind the variable that has this one. */
static uint32_t variable_end(const TraceReport *trace_report, uint32_t granule) {
    uint64_t begin = shared_begin(trace_report->check, (uint64_t)granule * GRANULE);
    uint32_t end = granule + 1;
    while (end < trace_report->granule_count && shared_begin(trace_report->check, (uint64_t)end * GRANULE) == begin)
        end++;
    return end;
}

/* The end of what is accessed as the granule is; without lines, of what is accessed at all. */
static uint32_t piece_end(const TraceReport *trace_report, uint32_t granule, uint32_t limit, const uint64_t *lines) {
    const Touched *touched = trace_report->touched;
    uint32_t end = granule + 1;
    while (end < limit && touched[end].count && (!lines || is_symmetry(&touched[granule], &touched[end], lines)))
        end++;
    return end;
}

static uint32_t count_pieces(const TraceReport *trace_report, uint32_t granule, uint32_t limit, const uint64_t *lines) {
    uint32_t count = 0;
    for (uint32_t i = granule; i < limit; i = piece_end(trace_report, i, limit, lines))
        count += trace_report->touched[i].count != 0;
    return count;
}

static void add_piece(TraceReport *trace_report, uint32_t first, uint32_t end) {
    TracePiece *piece =
        ARENA_PUSH(trace_report->arena, trace_report->pieces, trace_report->piece_count, trace_report->piece_capacity);
    *piece = (TracePiece){.name = "",
                          .value = "",
                          .space = "shared",
                          .first = first,
                          .last = end - 1,
                          .shared = true,
                          .size = (uint64_t)(end - first) * GRANULE};
    for (uint32_t i = first; i < end; i++)
        for (uint8_t k = 0; k < trace_report->touched[i].count; k++) {
            uint32_t user = trace_report->touched[i].users[k] - 1;
            uint64_t at = (uint64_t)(i - first) * GRANULE;
            add_user(trace_report, piece, user / 2, user % 2, at, at + GRANULE);
        }
}

/* "argument 2" before "argument 10" */
static int by_name(const void *a, const void *b) {
    return strverscmp(((const TracePiece *)a)->name, ((const TracePiece *)b)->name);
}

void trace_report_find_pieces(TraceReport *trace_report) {
    if (trace_report->piece_count)
        qsort(trace_report->pieces, trace_report->piece_count, sizeof *trace_report->pieces, by_name);
    const uint64_t *all = find_lines(trace_report);
    for (uint32_t i = 0, end; i < trace_report->granule_count; i = end) {
        end = variable_end(trace_report, i);
        const uint64_t *lines = count_pieces(trace_report, i, end, all) > MOST_PIECES ? NULL : all;
        for (uint32_t at = i, next; at < end; at = next) {
            next = piece_end(trace_report, at, end, lines);
            if (trace_report->touched[at].count)
                add_piece(trace_report, at, next);
        }
    }
}

/* ---- Names --------------------------------------------------------------------------------------- */

/* Rings and pieces that the variable has which begins there. */
static uint32_t count_users(const TraceReport *trace_report, uint64_t begin) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < trace_report->ring_count; i++)
        count += trace_report->rings[i].kind == INSTANCE_MBARRIER &&
                 shared_begin(trace_report->check, trace_report->rings[i].first) == begin;
    for (uint32_t i = 0; i < trace_report->piece_count; i++)
        count += trace_report->pieces[i].shared &&
                 shared_begin(trace_report->check, (uint64_t)trace_report->pieces[i].first * GRANULE) == begin;
    return count;
}

/* What has a variable for itself has its name. */
static void name_bytes(const TraceReport *trace_report, uint64_t from, uint64_t to, const char **name,
                       const char **value) {
    Verdict *verdict = trace_report->check->verdict;
    const char *variable = shared_name(trace_report->check, from);
    uint64_t begin = shared_begin(trace_report->check, from);
    *name =
        count_users(trace_report, begin) == 1 ? variable : verdict_text(verdict, "%s+%" PRIu64, variable, from - begin);
    *value = verdict_text(verdict, "bytes %" PRIu64 "-%" PRIu64 " of %s", from - begin, to - begin, variable);
}

void trace_report_name_all(TraceReport *trace_report) {
    for (uint32_t i = 0; i < trace_report->ring_count; i++) {
        TraceRing *ring = &trace_report->rings[i];
        ring->value = "";
        if (ring->kind == INSTANCE_MBARRIER)
            name_bytes(trace_report, ring->first, ring->last + 7, &ring->name, &ring->value);
        else
            ring->name = ring->kind == INSTANCE_CLUSTER
                             ? "cluster barrier"
                             : verdict_text(trace_report->check->verdict, "barrier %u", ring->first);
    }
    for (uint32_t i = 0; i < trace_report->piece_count; i++) {
        TracePiece *piece = &trace_report->pieces[i];
        if (piece->shared)
            name_bytes(trace_report, (uint64_t)piece->first * GRANULE, (uint64_t)(piece->last + 1) * GRANULE - 1,
                       &piece->name, &piece->value);
    }
}

bool trace_report_carries(const uint64_t *granules, const TracePiece *piece) {
    for (uint32_t i = piece->first; granules && piece->shared && i <= piece->last; i++)
        if (granules[i / 64] >> i % 64 & 1)
            return true;
    return false;
}

/* ---- What is shown -------------------------------------------------------------------------------- */

static const ReportPlace *places_of(const TraceReport *trace_report, const TracePiece *piece, bool writes,
                                    size_t *count) {
    Verdict *verdict = trace_report->check->verdict;
    ReportPlace *places =
        ARENA_ARRAY(verdict->arena, ReportPlace, (size_t)piece->user_count * trace_report->role_count + 1);
    *count = 0;
    for (uint32_t i = 0; i < piece->user_count; i++) {
        const User *user = &piece->users[i];
        const PtxCode *code = &trace_report->check->program->code[user->code];
        for (uint32_t role = 0; role < trace_report->role_count && user->writes == writes; role++) {
            uint64_t times = trace_report_times(trace_report, role, code);
            if (!times)
                continue;
            places[*count] = trace_report_place(trace_report, trace_report->roles[role].name, code, times);
            if (user->to - user->from != piece->size)
                places[*count].detail = verdict_text(verdict, "bytes %" PRIu64 "-%" PRIu64, user->from, user->to - 1);
            ++*count;
        }
    }
    return places;
}

/* The barriers that make one warp wait for another to use it. */
static const char *barriers_of(const TraceReport *trace_report, const TracePiece *piece) {
    Text text = {0};
    for (uint32_t i = 0; i < trace_report->ring_count; i++) {
        bool orders = false;
        for (uint32_t k = 0; k < trace_report->link_count && !orders; k++) {
            const Link *link = &trace_report->links[k];
            orders = trace_report->barrier_instances[link->barrier_instance].ring == i &&
                     (trace_report_carries(link->carries[0], piece) || trace_report_carries(link->carries[1], piece));
        }
        if (orders)
            text_addf(&text, "%s%s", text.size ? ", " : "", trace_report->rings[i].name);
    }
    return verdict_keep(trace_report->check->verdict, &text);
}

void trace_report_add_buffers(TraceReport *trace_report, Report *report) {
    ReportBuffer *buffers =
        ARENA_ARRAY(trace_report->check->verdict->arena, ReportBuffer, trace_report->piece_count + 1);
    for (uint32_t i = 0; i < trace_report->piece_count; i++) {
        const TracePiece *piece = &trace_report->pieces[i];
        ReportBuffer *buffer = &buffers[i];
        *buffer = (ReportBuffer){.name = piece->name,
                                 .value = piece->value,
                                 .space = piece->space,
                                 .storage = "",
                                 .id = -1,
                                 .offset = -1,
                                 .depth = -1,
                                 .size = piece->shared ? (int64_t)piece->size : -1,
                                 .barrier = barriers_of(trace_report, piece)};
        buffer->writers = places_of(trace_report, piece, true, &buffer->writer_count);
        buffer->readers = places_of(trace_report, piece, false, &buffer->reader_count);
    }
    report->buffers = buffers;
    report->buffer_count = trace_report->piece_count;
}
