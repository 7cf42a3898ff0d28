/* One check of an order log: check.c goes through the lines, explain.c says what was found. */
#ifndef CHECK_PROGRAM_INTERNAL_H
#define CHECK_PROGRAM_INTERNAL_H

#include "base/map.h"
#include "check/program/check.h"
#include "engine/hb/gsan.h"
#include "engine/order/races.h"
#include "render/trace.h"
#include "trace/order_log.h"

/* In the engine, an address has the number of its process above it; memory that is known by a key is in a range of its
 * own, and so are places of allocations (together.c). */
enum { ADDRESS_BITS = 56, MOST_PROCESSES = 254, PLACED = MOST_PROCESSES, KEYED };

/* A place of the program that does something: an operation of one name in one stream, or an allocation. */
typedef struct ProgramSite {
    OrderVerb verb;
    Str name, where;
    OrderVerb lifetime; /* it allocates memory or frees it (ORDER_ALLOCATES, ORDER_FREES); 0: it reads or writes */
    uint32_t stream;    /* index of it */
    uint32_t process;
    uint32_t line;             /* of the log, the first one */
    uint32_t next;             /* the one that was looked for after it */
    uint32_t line_of;          /* the first site of the same line of the program, + 1; 0: it was not looked for */
    uint64_t left, left_bytes; /* allocations of this site that were never freed */
    bool of_host;              /* the host accesses what is allocated here without a call */
    uint32_t user;             /* the first site that accesses such memory, + 1; 0: none does */
} ProgramSite;

typedef struct ProgramStream {
    uint64_t id;
    uint32_t process;
    uint64_t context;
    bool legacy;
    Str where;       /* it is made; "": the default stream, or not known */
    OrderLane *lane; /* NULL: it was destroyed */
    uint32_t track;  /* of the timeline: the number of its lane, which another stream may have afterwards */
} ProgramStream;

typedef struct ProgramEvent {
    struct ProgramEvent *next;
    uint64_t key[2];       /* its number, and the process */
    bool shared;           /* processes know it by a key */
    OrderClock *clock;     /* NULL: it was never recorded */
    const OrderLane *lane; /* that recorded it */
} ProgramEvent;

typedef struct ProgramTimeline ProgramTimeline;
typedef struct ProgramTogether ProgramTogether;

/* Memory that processes know by a key. */
typedef struct ProgramShared {
    uint64_t to, bytes; /* where it is for the engine; bytes 0: it is not there */
    uint32_t users;     /* mappings of it */
} ProgramShared;

/* Where a process has some of it. */
typedef struct ProgramMapping {
    uint64_t address, bytes, to;
    ProgramShared *shared;
} ProgramMapping;

/* An operation that may signal other processes. */
typedef struct ProgramSignal {
    uint32_t lane;
    uint64_t number;
} ProgramSignal;

typedef struct ProgramProcess {
    uint64_t id;
    bool named; /* the log says which one it is */
    Str name;
    uint64_t time;             /* of what follows in it */
    OrderThread *thread;       /* that does what follows in it */
    const OrderThread *caller; /* that is in the call of its next operation; NULL: none is known to be */
    OrderClock *called;        /* what threads of the host knew when it began */
    ProgramMapping *mappings;
    uint32_t mapping_count, mapping_capacity;
    ProgramSignal *signals; /* operations that may signal other processes: the last one of each lane */
    uint32_t signal_count, signal_capacity;
    uint64_t first_signal, last_signal; /* their numbers */
} ProgramProcess;

/* What the threads knew that have sent it. */
typedef struct ProgramMessage {
    struct ProgramMessage *next;
    OrderClock *clock; /* NULL: it was not sent, or is received by all */
    uint64_t left;     /* so often it is received */
} ProgramMessage;

/* An operation that was recorded. */
typedef struct ProgramRecorded {
    uint64_t operation, process, number;
} ProgramRecorded;

typedef struct ProgramCheck {
    Verdict *verdict;
    Arena *arena; /* the verdict's */
    ProgramOrder order;
    Races races;
    ProgramStream *streams;
    uint32_t stream_count, stream_capacity;
    ProgramSite *sites;
    uint32_t site_count, site_capacity;
    uint32_t last_site; /* that was looked for */
    Map site_map, event_map;
    Text key;          /* of a site that is looked for */
    Map event_key_map; /* of events that processes share */
    Map pair_map;      /* of two sites that were reported: the number of the finding, from 1 */
    ProgramEvent *events;
    ProgramProcess *processes;
    uint32_t process_count, process_capacity, process; /* process: that does what follows */
    Map shared_map, message_map;
    ProgramMessage *messages;
    uint64_t keyed; /* bytes of memory with keys that no process has allocated in the log */
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
    bool any_host_memory;             /* the host accesses some without a call */
    ProgramTimeline *timeline;        /* NULL: no picture is wanted */
    ProgramTogether *together;        /* NULL: no memory is shared by processes */
    bool several_devices;             /* a process has */
    ProgramRecordings *recordings;
    ProgramRecording *known;   /* that of the operation that is done; NULL: there is none */
    ProgramRecorded *recorded; /* by their operations */
    uint32_t recorded_count, recorded_capacity;
    bool ended, too_many; /* too_many: streams, or processes */
    bool open;            /* anything may be ordered by what is not seen */
} ProgramCheck;

/* ---- check.c ---- */
/* The operation that is open touches that, at an address of its process. */
void program_touch(ProgramCheck *check, Touch touch);

/* ---- explain.c ---- */
void program_place(const ProgramCheck *check, const ProgramSite *site, const char *role, const char *note,
                   FindingPlace *place);
void program_report_race(void *check, const OrderRace *race);
void program_report_reuse(void *check, const RaceMemory *memory, uint32_t freed_at, const TouchMark *user, bool open);
/* "stream 2 (made at app.py:11)", "the default stream" */
const char *program_stream_name(const ProgramCheck *check, uint32_t stream);
/* Of memory that processes share. */
typedef struct SharedRace {
    uint32_t earlier, later;                                        /* sites */
    uint64_t earlier_number, number;                                /* of the operations */
    Str earlier_where, later_where, released_where, acquired_where; /* in the kernels; empty: not known */
    const GsanRace *race;
    const RaceMemory *memory; /* NULL: it is not known */
    uint64_t offset;
    bool communicates; /* both have atomics, of which it is not known what they order */
    bool open;         /* what cannot be seen may order the two */
} SharedRace;
void program_report_shared(ProgramCheck *check, const SharedRace *shared);
/* A dependent launch that ends without having waited. */
void program_report_no_wait(ProgramCheck *check);

/* ---- notes.c ---- */
/* The memory at that address was never freed. */
void program_left(ProgramCheck *check, uint64_t address);
void program_report_leaks(ProgramCheck *check);
/* The operation that is done may touch memory that the host accesses without a call. */
void program_look_at_host_memory(ProgramCheck *check);
void program_report_host_memory(ProgramCheck *check);

/* ---- recorded.c ---- */
/* The operation that is open was recorded. */
void program_recorded(ProgramCheck *check, const OrderLine *line);
/* It is closed: what its recording says is taken, if that is known. */
void program_take_recorded(ProgramCheck *check);
/* The operation that is done was recorded, and begins when the clock is over. */
void program_stand(ProgramCheck *check, const OrderLane *lane, const OrderClock *begun);
/* It would matter what the operation of that number touches. */
void program_wants(ProgramCheck *check, uint64_t operation);

/* ---- processes.c ---- */
ProgramProcess *program_process(ProgramCheck *check);
/* What follows is done by that process; false: there are too many. */
bool program_enter(ProgramCheck *check, uint64_t id);
const char *program_process_name(const ProgramCheck *check, uint32_t index);
/* This thread is in the call that makes its next operation; it has made it, or waited for something meanwhile. */
void program_calls(ProgramCheck *check);
void program_learns(ProgramCheck *check);
/* What threads of the host may have told this one before the operation that is being done. */
const OrderClock *program_issued(ProgramCheck *check);
/* An address of this process as the engine has it; false: not all of `reach` bytes from there on are in the memory that
 * it is of. */
bool program_address(ProgramCheck *check, uint64_t *address, uint64_t reach);
/* Whether it is in memory that processes know by a key. */
bool program_has_key(ProgramCheck *check, uint64_t address);
void program_share(ProgramCheck *check, const OrderLine *line, uint32_t site);
/* Whether memory with a key is there, which is not there for this process any more. */
bool program_unmap(ProgramCheck *check, uint64_t address);
void program_send(ProgramCheck *check, const OrderLine *line);
void program_receive(ProgramCheck *check, const OrderLine *line);
void program_release_processes(ProgramCheck *check);

/* ---- together.c ---- */
ProgramTogether *program_together(ProgramCheck *check);
void program_together_line(ProgramCheck *check, const OrderLine *line);
/* Steps of the operation that is open. */
void program_together_steps(ProgramCheck *check, ProgramRecording *recorded);
bool program_touches_shared(const ProgramCheck *check, uint32_t hows);
/* The operation that is done may signal other processes. */
void program_together_may_signal(ProgramCheck *check, const OrderLane *lane);
/* The operation that is being done, of that lane. */
void program_together_operation(ProgramCheck *check, const OrderLane *lane);
/* Whether some operation may signal others in memory that processes share. */
bool program_together_signals(const ProgramCheck *check);
void program_together_gone(void *check, const RaceMemory *memory);
void program_together_end(ProgramCheck *check);
void program_together_release(ProgramCheck *check);

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
