/* Memory in pieces that are accessed alike, with who writes and reads each, and what orders that. */
#include "check/report/trace/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Memory that is not shared ------------------------------------------------------------------- */

static bool is_told(const PtxBlock *block) {
    return block->space == PTX_SPACE_GLOBAL || block->space == PTX_SPACE_TENSOR;
}

static Piece *piece_named(Portrait *portrait, const char *name, const char *space) {
    for (uint32_t i = 0; i < portrait->piece_count; i++)
        if (strcmp(portrait->pieces[i].name, name) == 0)
            return &portrait->pieces[i];
    Piece *piece = ARENA_PUSH(portrait->arena, portrait->pieces, portrait->piece_count, portrait->piece_capacity);
    *piece = (Piece){.name = verdict_text(portrait->check->verdict, "%s", name), .value = "", .space = space};
    return piece;
}

static void add_user(Portrait *portrait, Piece *piece, uint32_t code, bool writes, uint64_t from, uint64_t to) {
    User *user = NULL;
    for (uint32_t i = 0; i < piece->user_count && !user; i++)
        if (piece->users[i].code == code && piece->users[i].writes == writes)
            user = &piece->users[i];
    if (!user) {
        user = ARENA_PUSH(portrait->arena, piece->users, piece->user_count, piece->user_capacity);
        *user = (User){.code = code, .writes = writes, .from = from, .to = to};
    }
    user->from = from < user->from ? from : user->from;
    user->to = to > user->to ? to : user->to;
}

void portrait_reach(Portrait *portrait, const PtxEvent *event, const PtxSpot *spot, uint64_t bytes) {
    PtxBlock block = *spot->block;
    uint64_t from = spot->offset;
    if (!is_told(&block))
        return;
    if (block.space == PTX_SPACE_GLOBAL && portrait->check->machine->plays) {
        uint64_t address = block.base + spot->offset;
        ptx_anchored(portrait->check->machine, address, &block);
        from = address - block.base;
    }
    bool tensor = block.space == PTX_SPACE_TENSOR;
    Piece *piece = piece_named(portrait,
                               tensor       ? "tensor memory"
                               : block.name ? block.name
                                            : "global memory",
                               tensor ? "tensor" : "global");
    if (event->access.kind != EFFECT_WRITE)
        add_user(portrait, piece, code_number(portrait, event->code), false, from, from + bytes);
    if (event->access.kind != EFFECT_READ)
        add_user(portrait, piece, code_number(portrait, event->code), true, from, from + bytes);
}

/* ---- Shared memory ------------------------------------------------------------------------------- */

/* Where each code is in the kernel's own source, as a number; code that has no such place has one of its own. */
static uint64_t *find_lines(const Portrait *portrait) {
    const PtxProgram *program = portrait->check->program;
    uint64_t *lines = ARENA_ARRAY(portrait->arena, uint64_t, program->code_count + 1);
    for (uint32_t i = 0; i < program->code_count; i++) {
        PtxPlace place;
        bool known = portrait->does[i] && ptx_places(portrait->check->module, program->code[i].statement, &place, 1);
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

static bool is_alike(const Touched *a, const Touched *b, const uint64_t *lines) {
    Sort x = sort_of(a, lines), y = sort_of(b, lines);
    return x.count == y.count && memcmp(x.lines, y.lines, x.count * sizeof *x.lines) == 0;
}

/* The granule behind the variable that has this one. */
static uint32_t variable_end(const Portrait *portrait, uint32_t granule) {
    uint64_t begin = shared_begin(portrait->check, (uint64_t)granule * GRANULE);
    uint32_t end = granule + 1;
    while (end < portrait->granule_count && shared_begin(portrait->check, (uint64_t)end * GRANULE) == begin)
        end++;
    return end;
}

/* The end of what is accessed as the granule is; without lines, of what is accessed at all. */
static uint32_t piece_end(const Portrait *portrait, uint32_t granule, uint32_t limit, const uint64_t *lines) {
    const Touched *touched = portrait->touched;
    uint32_t end = granule + 1;
    while (end < limit && touched[end].count && (!lines || is_alike(&touched[granule], &touched[end], lines)))
        end++;
    return end;
}

static uint32_t count_pieces(const Portrait *portrait, uint32_t granule, uint32_t limit, const uint64_t *lines) {
    uint32_t count = 0;
    for (uint32_t i = granule; i < limit; i = piece_end(portrait, i, limit, lines))
        count += portrait->touched[i].count != 0;
    return count;
}

static void add_piece(Portrait *portrait, uint32_t first, uint32_t end) {
    Piece *piece = ARENA_PUSH(portrait->arena, portrait->pieces, portrait->piece_count, portrait->piece_capacity);
    *piece = (Piece){.name = "",
                     .value = "",
                     .space = "shared",
                     .first = first,
                     .last = end - 1,
                     .shared = true,
                     .size = (uint64_t)(end - first) * GRANULE};
    for (uint32_t i = first; i < end; i++)
        for (uint8_t k = 0; k < portrait->touched[i].count; k++) {
            uint32_t user = portrait->touched[i].users[k] - 1;
            uint64_t at = (uint64_t)(i - first) * GRANULE;
            add_user(portrait, piece, user / 2, user % 2, at, at + GRANULE);
        }
}

/* "argument 2" before "argument 10" */
static int by_name(const void *a, const void *b) {
    return strverscmp(((const Piece *)a)->name, ((const Piece *)b)->name);
}

void portrait_find_pieces(Portrait *portrait) {
    if (portrait->piece_count)
        qsort(portrait->pieces, portrait->piece_count, sizeof *portrait->pieces, by_name);
    const uint64_t *all = find_lines(portrait);
    for (uint32_t i = 0, end; i < portrait->granule_count; i = end) {
        end = variable_end(portrait, i);
        const uint64_t *lines = count_pieces(portrait, i, end, all) > MOST_PIECES ? NULL : all;
        for (uint32_t at = i, next; at < end; at = next) {
            next = piece_end(portrait, at, end, lines);
            if (portrait->touched[at].count)
                add_piece(portrait, at, next);
        }
    }
}

/* ---- Names --------------------------------------------------------------------------------------- */

/* Rings and pieces that the variable has which begins there. */
static uint32_t count_users(const Portrait *portrait, uint64_t begin) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < portrait->ring_count; i++)
        count += portrait->rings[i].kind == MEET_MBARRIER &&
                 shared_begin(portrait->check, portrait->rings[i].first) == begin;
    for (uint32_t i = 0; i < portrait->piece_count; i++)
        count += portrait->pieces[i].shared &&
                 shared_begin(portrait->check, (uint64_t)portrait->pieces[i].first * GRANULE) == begin;
    return count;
}

/* What has a variable for itself has its name. */
static void name_bytes(const Portrait *portrait, uint64_t from, uint64_t to, const char **name, const char **value) {
    Verdict *verdict = portrait->check->verdict;
    const char *variable = shared_name(portrait->check, from);
    uint64_t begin = shared_begin(portrait->check, from);
    *name = count_users(portrait, begin) == 1 ? variable : verdict_text(verdict, "%s+%" PRIu64, variable, from - begin);
    *value = verdict_text(verdict, "bytes %" PRIu64 "-%" PRIu64 " of %s", from - begin, to - begin, variable);
}

void portrait_name_all(Portrait *portrait) {
    for (uint32_t i = 0; i < portrait->ring_count; i++) {
        Ring *ring = &portrait->rings[i];
        ring->value = "";
        if (ring->kind == MEET_MBARRIER)
            name_bytes(portrait, ring->first, ring->last + 7, &ring->name, &ring->value);
        else
            ring->name = ring->kind == MEET_CLUSTER ? "cluster barrier"
                                                    : verdict_text(portrait->check->verdict, "barrier %u", ring->first);
    }
    for (uint32_t i = 0; i < portrait->piece_count; i++) {
        Piece *piece = &portrait->pieces[i];
        if (piece->shared)
            name_bytes(portrait, (uint64_t)piece->first * GRANULE, (uint64_t)(piece->last + 1) * GRANULE - 1,
                       &piece->name, &piece->value);
    }
}

bool portrait_carries(const uint64_t *granules, const Piece *piece) {
    for (uint32_t i = piece->first; granules && piece->shared && i <= piece->last; i++)
        if (granules[i / 64] >> i % 64 & 1)
            return true;
    return false;
}

/* ---- What is told -------------------------------------------------------------------------------- */

static const ReportPlace *places_of(const Portrait *portrait, const Piece *piece, bool writes, size_t *count) {
    Verdict *verdict = portrait->check->verdict;
    ReportPlace *places =
        ARENA_ARRAY(verdict->arena, ReportPlace, (size_t)piece->user_count * portrait->role_count + 1);
    *count = 0;
    for (uint32_t i = 0; i < piece->user_count; i++) {
        const User *user = &piece->users[i];
        const PtxCode *code = &portrait->check->program->code[user->code];
        for (uint32_t role = 0; role < portrait->role_count && user->writes == writes; role++) {
            uint64_t times = portrait_times(portrait, role, code);
            if (!times)
                continue;
            places[*count] = portrait_place(portrait, portrait->roles[role].name, code, times);
            if (user->to - user->from != piece->size)
                places[*count].detail = verdict_text(verdict, "bytes %" PRIu64 "-%" PRIu64, user->from, user->to - 1);
            ++*count;
        }
    }
    return places;
}

/* The barriers that make one warp wait for another to use it. */
static const char *barriers_of(const Portrait *portrait, const Piece *piece) {
    Text text = {0};
    for (uint32_t i = 0; i < portrait->ring_count; i++) {
        bool orders = false;
        for (uint32_t k = 0; k < portrait->link_count && !orders; k++) {
            const Link *link = &portrait->links[k];
            orders = portrait->meetings[link->meeting].ring == i &&
                     (portrait_carries(link->carries[0], piece) || portrait_carries(link->carries[1], piece));
        }
        if (orders)
            text_addf(&text, "%s%s", text.size ? ", " : "", portrait->rings[i].name);
    }
    return verdict_keep(portrait->check->verdict, &text);
}

void portrait_tell_buffers(Portrait *portrait, Report *report) {
    ReportBuffer *buffers = ARENA_ARRAY(portrait->check->verdict->arena, ReportBuffer, portrait->piece_count + 1);
    for (uint32_t i = 0; i < portrait->piece_count; i++) {
        const Piece *piece = &portrait->pieces[i];
        ReportBuffer *buffer = &buffers[i];
        *buffer = (ReportBuffer){.name = piece->name,
                                 .value = piece->value,
                                 .space = piece->space,
                                 .storage = "",
                                 .id = -1,
                                 .offset = -1,
                                 .depth = -1,
                                 .size = piece->shared ? (int64_t)piece->size : -1,
                                 .barrier = barriers_of(portrait, piece)};
        buffer->writers = places_of(portrait, piece, true, &buffer->writer_count);
        buffer->readers = places_of(portrait, piece, false, &buffer->reader_count);
    }
    report->buffers = buffers;
    report->buffer_count = portrait->piece_count;
}
