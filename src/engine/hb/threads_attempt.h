/* One access that is looked at, and what is before it: between the files that look at accesses. */
#ifndef ENGINE_HB_THREADS_ATTEMPT_H
#define ENGINE_HB_THREADS_ATTEMPT_H

#include "engine/hb/threads_internal.h"

#include <stddef.h>
#include <string.h>

enum { MEMO = 8, MOST_REPORTED = 4 };

/* What is known of an earlier operation: of its lanes that were asked about, which are before lane `by` of this; and
 * which have been told to race, as that race. */
typedef struct Asked {
    uint32_t record, by;
    uint32_t asked, before;
    uint32_t reported, race;
} Asked;

/* A race that came up so often at a cell. */
typedef struct Reported {
    uint32_t race, times;
} Reported;

/* What this has made of a cell, for those that are the same. */
typedef struct Step {
    ThreadsCell from, to;
    uint32_t by;      /* 0: there is none */
    uint32_t alike;   /* of a read: for which lanes of the writes' slot it is the same */
    bool any_lane;    /* it is the same for other lanes, if those of the slots are as far from them; but for: */
    bool any_readers; /* ... the lane of the readers' slot does not matter */
    uint32_t reported_count;
    Reported reported[MOST_REPORTED];
} Step;

/* What it has made of a line. */
typedef struct LineStep {
    ThreadsLine from, to;
    uint8_t lane, shift, flip; /* of who does it */
    bool any_lane;             /* it would be the same for others, if those of the slots are as far from them */
    bool used;
} LineStep;

/* Where the lanes of an access of whole lines are. */
typedef struct Seats {
    uint32_t lane; /* the first of the line */
    uint8_t shift, flip;
} Seats;

static inline bool seats_are(const Seats *seats, uint32_t slot, uint8_t shift, uint8_t flip) {
    return (slot & 31) == seats->lane && (shift & ~LINE_ALONE) == seats->shift && flip == seats->flip;
}
static inline uint8_t shift_of(uint32_t bytes) {
    return (uint8_t)__builtin_ctz(bytes);
}

/* One access of lanes that know the same. */
typedef struct Attempt {
    Threads *threads;
    Knower knower;
    uint32_t index; /* of the record */
    const ThreadsRecord *record;
    uint32_t node;    /* the list that has it alone; 0: it was not asked for */
    uint32_t by;      /* lanes that do it at the place that is looked at: one, or several that read the same */
    uint64_t address; /* of the cell */
    uint64_t place;   /* what of the address proxy fences go by: what is remembered is for it alone */
    struct {
        uint32_t known[MEMO];    /* records of which lanes are known; by record */
        uint32_t clear[MEMO];    /* lists all of which is before whatever lane */
        uint32_t put_from[MEMO]; /* lists that it was placed in front of, where the lane does not matter */
        uint32_t asked[MEMO];    /* `asked` of these records is right */
    } memos;
    uint32_t known_lanes[MEMO], put_to[MEMO];
    struct {
        uint8_t turn; /* of the lane that does it, from the list's on */
        bool alone;   /* nothing else is left in the list */
    } put_as[MEMO];
    Asked asked[MEMO];
    Step step;
    LineStep line;
    Reported reported[MOST_REPORTED]; /* races of the cell that is looked at */
    uint32_t reported_count;
    bool steady;          /* what is done to the cell depends on nothing but what is there */
    bool any_lane;        /* ... and not on which lane does it, if those of the lists are as far from it */
    bool any_readers;     /* ... nor on where those of its readers are */
    ShadowPage *page;     /* the last */
    bool whole;           /* all elements are touched */
    uint64_t home;        /* cluster_bit, if nothing is known of other CTAs; 0: something is */
    uint32_t first, last; /* CTAs of the cluster */
} Attempt;

/* Goes on at another address. */
void attempt_move(Attempt *attempt, uint64_t place);
static inline void attempt_at(Attempt *attempt, uint64_t address) {
    uint64_t place = attempt->threads->acquires_at ? address >> 7 : address >> 62 ? address >> 28 : 0;
    attempt->address = address;
    if (place != attempt->place)
        attempt_move(attempt, place);
}
static inline ShadowPage *attempt_page(Attempt *attempt, uint64_t address) {
    if (!attempt->page || attempt->page->number != address / SHADOW_PAGE)
        attempt->page = threads_page_lines(attempt->threads, address, true);
    return attempt->page;
}
static inline uint32_t attempt_node(Attempt *attempt) {
    if (!attempt->node)
        attempt->node = threads_node_alone(attempt->threads, attempt->index);
    return attempt->node;
}
void attempt_begin(Attempt *attempt, Threads *threads, const Knower *knower, const ThreadsAccess *access,
                   uint32_t epoch);
/* The same in two steps: its record, and the rest. */
static inline uint32_t threads_record(Threads *threads, const Knower *knower, const ThreadsAccess *access,
                                      uint32_t epoch) {
    enum { AS_REPORTED = offsetof(ThreadsAccess, inits) + sizeof access->inits };
    _Static_assert(!offsetof(ThreadsAccess, kind) &&
                       offsetof(ThreadsRecord, inits) - offsetof(ThreadsRecord, kind) + sizeof access->inits ==
                           AS_REPORTED,
                   "they are in the same order");
    uint32_t index = swept_take(threads, &threads->records);
    ThreadsRecord *record = record_at(threads, index);
    threads->record_count++;
    record->cta = knower->cta;
    record->warp = knower->warp;
    record->epoch = epoch;
    record->operation = knower->operation;
    record->instruction = threads->instructions;
    record->site = access->site;
    record->silent = access->kind == KIND_READ ? 0 : access->silent;
    record->bytes = access->bytes ? access->bytes : 1;
    memcpy((char *)record + offsetof(ThreadsRecord, kind), access, AS_REPORTED);
    record->gives &= access->kind != KIND_WRITE;
    record->level = (uint8_t)level_of(access->scope);
    record->stays = true;
    record->node = 0;
    bool other = knower->operation || access->proxy != PROXY_GENERIC;
    *stamp_at(threads, index) = (Stamp){knower->cta, epoch, other ? STAMP_OTHER : knower->warp};
    return index;
}
void attempt_begin_as(Attempt *attempt, Threads *threads, const Knower *knower, const ThreadsAccess *access,
                      uint32_t record);
/* Whether all of the list is of clusters of which nothing is known: none of it is before this, nor is there. */
static inline bool attempt_is_foreign(const Attempt *attempt, uint32_t slot) {
    if (!slot || !attempt->home)
        return false;
    const Node *node = node_at(attempt->threads, slot >> 5);
    return !(node->clusters & attempt->home) || node->least > attempt->last || node->most < attempt->first;
}
/* Whether everything of the list is before whatever lane does this. */
bool attempt_is_clear(Attempt *attempt, uint32_t slot);
/* Whether the same lanes have read it in the same epoch in the same way: nothing is new then. *any_lane is false
 * afterwards if that depends on the lane. */
bool attempt_is_there(const Attempt *attempt, uint32_t slot, bool *any_lane);
/* Whether what stays of an element of a list does not depend on which lane does this, other than how far from it the
 * slot's is. */
bool attempt_is_any_lane(Attempt *attempt, const Node *node);
/* The next of a list, of which `at` have been looked at. */
static inline uint32_t list_next(const Threads *threads, uint32_t first, uint32_t index, uint32_t at) {
    const Node *head = node_at(threads, first);
    return head->cut && at == MOST_RACING ? head->pruned : node_at(threads, index)->next;
}
/* The list with this access in front, without those that it stands for. *any_lane (NULL: it is not asked for): what
 * stays of the list does not depend on which lane does it, other than that it is the slot's. */
uint32_t attempt_put(Attempt *attempt, uint32_t slot, bool *any_lane);
uint32_t attempt_put_again(Attempt *attempt, uint32_t slot, bool *any_lane);
/* These bytes, cell by cell, by attempt->by. */
void attempt_touch(Attempt *attempt, uint64_t begin, uint64_t end);
/* Whole lines, if it is of such alone; false: it is not, and nothing was done. */
bool attempt_lines(Attempt *attempt, const ThreadsAccess *access, uint32_t lanes, const uint64_t *addresses);
/* Whether an access can be of whole lines at all. What a write that changes nothing leaves there is found cell by cell.
 */
enum { SMALLEST_LANE = 4 };
static inline bool threads_has_lines(const Threads *threads, const ThreadsAccess *access) {
    uint32_t bytes = access->bytes;
    bool plain = !(access->order | access->proxy | access->object | access->inits | access->silent); /* weak, generic */
    return plain && bytes >= SMALLEST_LANE && bytes <= SHADOW_LINE && !(bytes & (bytes - 1)) &&
           !threads->shape.history && !threads->shape.by_word && (!access->used || threads_is_whole(access));
}
/* Lines one behind the other, of lanes each `per` farther than the one before. */
void attempt_touch_lines(Attempt *attempt, uint64_t address, uint32_t count, uint32_t lane, uint32_t per,
                         uint8_t shift);
/* Both slots of a line at once. */
static inline uint64_t slots_of(const ThreadsLine *line) {
    uint64_t both;
    memcpy(&both, line, sizeof both);
    return both;
}

/* Lines behind one that was done, of such lanes: as many as are as that one was; they become what it has become. */
static inline uint32_t threads_lines_again(const LineStep *step, ThreadsLine *lines, uint32_t count, uint32_t per) {
    const ThreadsLine from = step->from, to = step->to;
    const ThreadsLine from_on = {.writes = from.writes ? per : 0, .reads = from.reads ? per : 0};
    const ThreadsLine to_on = {.writes = to.writes ? per : 0, .reads = to.reads ? per : 0};
    uint64_t before = slots_of(&from), after = slots_of(&to);
    uint32_t done = 0;
    while (per && ((from.writes && (from.writes & 31) + count * per > 31) ||
                   (from.reads && (from.reads & 31) + count * per > 31)))
        count--;
    for (; done < count; done++) {
        ThreadsLine *line = &lines[done];
        before += slots_of(&from_on);
        after += slots_of(&to_on);
        if (slots_of(line) != before || line->seats != from.seats)
            break;
        memcpy(line, &after, sizeof after);
        line->seats = to.seats;
    }
    return done;
}
/* Bytes of one lane, attempt->by: whole lines of them, and what is left at the ends. */
void attempt_piece(Attempt *attempt, const ThreadsAccess *access, uint64_t begin, uint64_t end);
/* One side of a race; and the race, which may be there already: its number. */
ThreadsSide threads_side(const Threads *threads, const ThreadsRecord *record, uint32_t lane);
uint32_t threads_report(Threads *threads, const ThreadsRace *race, uint32_t times);
/* What is not ordered, and conflicts: a race, or two that are morally strong. Lanes that it turns out are before, too,
 * because something has observed them, are taken out. */
uint32_t attempt_judge(Attempt *attempt, uint32_t index, uint32_t lanes);
/* Whether the two are morally strong, and no more is asked: it need not be looked at. */
bool attempt_is_settled(const Attempt *attempt, const ThreadsRecord *earlier);
/* The number of the race. */
uint32_t attempt_report(Attempt *attempt, uint32_t index, uint32_t lane, uint32_t by, ThreadsReason reason);
/* That race came up so often more at the cell. */
void attempt_again(Attempt *attempt, uint32_t race, uint32_t times);
/* The keys of fences for a proxy at the place. */
uint32_t attempt_keys_at(uint64_t address, uint8_t proxy, uint64_t keys[4]);
/* Whether a proxy fence has to stand between the two. */
bool attempt_needs_fence(const Attempt *attempt, const ThreadsRecord *earlier);
/* Lanes of the earlier access that are before this one, whichever lane does it; behind a fence if it needs one. Of an
 * operation those, too, that it does not have. */
uint32_t attempt_over_lanes(Attempt *attempt, uint32_t index, const ThreadsRecord *earlier);
bool attempt_same_warp(const Attempt *attempt, const ThreadsRecord *earlier);
/* Whether lane `lane` of the earlier access is before this one by lane `by`; it is not known to all of them. */
bool attempt_lane_before(Attempt *attempt, uint32_t index, uint32_t lane, uint32_t by);
/* What is remembered of an earlier operation. */
Asked *attempt_asked(Attempt *attempt, uint32_t index, uint32_t by);
/* Of `lanes` of the earlier access, those that are not before all that is done here. */
uint32_t attempt_unordered(Attempt *attempt, uint32_t index, uint32_t lanes);

#endif
