/* One check of an order log: check.c goes through the lines, explain.c says what was found. */
#ifndef CHECK_PROGRAM_INTERNAL_H
#define CHECK_PROGRAM_INTERNAL_H

#include "base/map.h"
#include "check/program/check.h"
#include "engine/order/races.h"
#include "render/trace.h"
#include "trace/order_log.h"

/* A place of the program that does something: an operation of one name in one stream, or an allocation. */
typedef struct ProgramSite {
    OrderVerb verb;
    Str name, where;
    uint32_t stream; /* index of it */
    uint32_t line;   /* of the log, the first one */
} ProgramSite;

typedef struct ProgramStream {
    uint64_t id;
    Str where;       /* it is made; "": the default stream, or not known */
    OrderLane *lane; /* NULL: it was destroyed */
    uint32_t track;  /* of the timeline: the number of its lane, which another stream may have afterwards */
} ProgramStream;

typedef struct ProgramEvent {
    struct ProgramEvent *next;
    uint64_t id;
    OrderClock *clock;     /* NULL: it was never recorded */
    const OrderLane *lane; /* that recorded it */
} ProgramEvent;

typedef struct ProgramTimeline ProgramTimeline;

typedef struct ProgramCheck {
    Verdict *verdict;
    Arena *arena; /* the verdict's */
    ProgramOrder order;
    Races races;
    ProgramStream *streams;
    uint32_t stream_count, stream_capacity;
    ProgramSite *sites;
    uint32_t site_count, site_capacity;
    Map site_map, event_map;
    Map pair_map; /* of two sites that were reported: the number of the finding, from 1 */
    ProgramEvent *events;
    OrderThread *thread;
    OrderLane **hosts; /* of each thread that accessed memory, by the number of the thread; NULL: it has not */
    uint32_t host_count;
    uint64_t number; /* of the operation */
    OrderLine operation;
    bool is_open; /* the lines after `operation` say what it touches */
    uint32_t site;
    Touch *touches;
    uint32_t touch_count, touch_capacity;
    uint64_t operations, launches;
    uint64_t
        unknown[ORDER_LANES]; /* of each lane: the last operation, + 1, of which it is not known what it touches; */
    uint32_t unknown_at[ORDER_LANES]; /* and its site */
    bool any_unknown;                 /* there is one */
    ProgramTimeline *timeline;        /* NULL: no picture is wanted */
    bool ended, too_many;             /* too_many: streams */
    bool open;                        /* anything may be ordered by what is not seen */
} ProgramCheck;

/* ---- explain.c ---- */
void program_report_race(void *check, const OrderRace *race);
void program_report_reuse(void *check, const RaceMemory *memory, uint32_t freed_at, const TouchMark *user, bool open);
/* "stream 2 (made at app.py:11)", "the default stream" */
const char *program_stream_name(const ProgramCheck *check, uint32_t stream);
/* A dependent launch that ends without having waited. */
void program_report_no_wait(ProgramCheck *check);

/* ---- timeline.c ---- */
ProgramTimeline *program_timeline(Arena *arena);
/* A lane waits for another one; the operation that is being done begins once the clock's are over; one races with an
 * earlier one. Without a timeline these do nothing. */
void program_timeline_waits(ProgramTimeline *timeline, const OrderLane *lane, const OrderLane *other);
void program_timeline_operation(ProgramTimeline *timeline, const ProgramCheck *check, const OrderLane *lane,
                                const OrderClock *begun);
void program_timeline_race(ProgramTimeline *timeline, uint64_t earlier, uint64_t later, const char *message);
void program_timeline_close(const ProgramCheck *check, const char *file, Trace *trace);

#endif
