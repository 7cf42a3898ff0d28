/* What the files share that draw a run. */
#ifndef CHECK_REPORT_TRACE_INTERNAL_H
#define CHECK_REPORT_TRACE_INTERNAL_H

#include "check/report/trace/trace_report.h"

enum {
    GRANULE = 16,      /* bytes of shared memory that are looked at together */
    GRANULE_USERS = 8, /* instructions, and warps that read, of which a granule keeps the last */
    PHASES = 4,        /* of a barrier, of which the arrivals are kept */
    MOST_ROLES = 16,   /* if more warps differ, they are told apart by less */
    MOST_PIECES = 16,  /* of one variable in shared memory, else it is one */
    MOST_DRAWN = 50000 /* events */
};

/* ---- Warps ---- */

/* What code was seen to do, over all warps. */
enum {
    DOES_SYNCHRONIZE = 1,
    DOES_FLY = 2,       /* it starts something asynchronous */
    DOES_COPY_IN = 4,   /* ... that writes shared memory */
    DOES_COPY_OUT = 8,  /* ... that reads it, and writes memory that is not */
    DOES_MULTIPLY = 16, /* ... that is an MMA */
    DOES_READ = 32,     /* memory that others may access, too */
    DOES_WRITE = 64,
};

typedef struct Actor {
    uint32_t rank, warp; /* of its CTA in the cluster; in that */
    uint32_t *times;     /* of each code: how often it ran it */
    uint32_t role;
    uint64_t now, flying; /* the next step of its lane in the picture, and of what it has in flight */
} Actor;

typedef struct Role {
    const char *name;
    uint32_t first; /* an actor that has it */
    uint32_t warps;
} Role;

/* ---- Barriers ---- */

typedef enum InstanceKind { INSTANCE_MBARRIER, INSTANCE_NAMED, INSTANCE_CLUSTER } InstanceKind;

typedef struct Arrival {
    uint32_t actor, order; /* among all events */
    uint32_t drawn;        /* 1 + its event in the picture */
    uint64_t time;         /* in the picture */
    bool flies;            /* by something asynchronous */
    const PtxCode *code;
} Arrival;

typedef struct Phase {
    Arrival *items;
    uint32_t count, capacity;
    int64_t expected, delivered; /* bytes */
} Phase;

/* Someone who arrives or waits. */
typedef struct TraceUse {
    const PtxCode *code;
    uint32_t actor;
    bool waits, passes; /* passes: the first one was over at once */
    uint8_t mechanism;  /* ReportMechanism */
    uint32_t first;     /* the phase of the first one */
    int64_t amount;     /* arrivals, or bytes */
    uint64_t times;
} TraceUse;

/* A barrier of one CTA, or of the cluster. */
typedef struct BarrierInstance {
    InstanceKind kind;
    uint32_t rank, at; /* of the CTA; address in shared memory, or number */
    int64_t count;     /* of arrivals, or of threads; -1: not known */
    const PtxCode *init;
    uint32_t phase; /* that is open */
    Phase phases[PHASES];
    uint64_t flips;
    int64_t bytes; /* of the last phase that had some; -1: none had */
    TraceUse *uses;
    uint32_t use_count, use_capacity;
    uint32_t ring, slot;
} BarrierInstance;

typedef struct TraceRing {
    const char *name, *value;
    InstanceKind kind;
    uint32_t first, last; /* addresses of its slots; or number */
    uint32_t depth;
} TraceRing;

/* ---- Memory ---- */

/* 16 bytes of one CTA's shared memory. */
typedef struct Granule {
    uint32_t writer, written;                              /* an actor, + 1; when */
    bool writer_flies;                                     /* asynchronous */
    uint32_t readers[GRANULE_USERS], reads[GRANULE_USERS]; /* actors, + 1; when */
    uint8_t next;
} Granule;

/* Who uses the same 16 bytes, in whatever CTA. */
typedef struct Touched {
    uint32_t users[GRANULE_USERS]; /* 2 * code + whether it writes, + 1; sorted */
    uint8_t count;
} Touched;

/* Code that accesses a piece of memory, and from which byte to which. */
typedef struct User {
    uint32_t code;
    bool writes;
    uint64_t from, to;
} User;

/* Memory that is accessed alike: a variable in shared memory or a part of it, what an argument points to. */
typedef struct TracePiece {
    const char *name, *value, *space; /* as of ReportBuffer */
    uint32_t first, last;             /* granules, if it is in shared memory */
    bool shared;
    uint64_t size; /* 0: not known */
    User *users;
    uint32_t user_count, user_capacity;
} TracePiece;

/* What R learned of A's doings: everything before `order`, by that barrier. */
typedef struct TraceLearned {
    uint32_t order, barrier_instance;
} TraceLearned;
typedef struct Knows {
    TraceLearned *items;
    uint32_t count, capacity;
    uint32_t link; /* the newest of theirs, + 1 */
} Knows;

/* A barrier that one actor has waited for and another has arrived at. */
typedef struct Link {
    uint32_t from, to, barrier_instance;
    uint32_t next; /* of the same two, + 1 */
    const PtxCode *out, *in;
    bool flies;           /* out does */
    uint64_t *carries[2]; /* granules: data that is ready; memory that may be used again. NULL: none */
} Link;

/* ---- The picture ---- */

typedef struct Drawn {
    uint8_t kind;                                  /* TraceKind */
    uint8_t what;                                  /* PtxEventKind */
    bool flies;                                    /* in the lane of what is asynchronous */
    uint32_t actor, barrier_instance, phase, from; /* meeting: + 1; from: of the arrival that it waited for, + 1 */
    const PtxCode *code;
    uint64_t time, duration;
    int64_t amount;
} Drawn;

/* ---- All of it ---- */

struct TraceReport {
    ThreadsCheck *check;
    const Verdict *reported;
    Arena *arena;
    uint32_t cluster, warps; /* of each CTA */
    uint32_t order;          /* events so far */
    Actor *actors;
    uint32_t actor_count;
    Role *roles;
    uint32_t role_count;
    uint8_t *does;      /* of each code: DOES_... */
    uint8_t *mechanism; /* of each code that arrives for something else: ReportMechanism */
    bool *found;        /* of each code: a finding is about it */
    BarrierInstance *barrier_instances;
    uint32_t barrier_instance_count, barrier_instance_capacity;
    TraceRing *rings;
    uint32_t ring_count;
    uint32_t granule_count;
    Granule **granules; /* of each CTA */
    Touched *touched;
    TracePiece *pieces;
    uint32_t piece_count, piece_capacity;
    Knows *knows; /* actor * actors + of whom */
    Link *links;
    uint32_t link_count, link_capacity;
    Drawn *drawn;
    uint32_t drawn_count, drawn_capacity;
};

static inline uint32_t code_number(const TraceReport *trace_report, const PtxCode *code) {
    return (uint32_t)(code - trace_report->check->program->code);
}
static inline uint32_t trace_report_actor(const TraceReport *trace_report, const PtxWarp *warp) {
    return warp->cta->rank * trace_report->warps + warp->index;
}
/* Where a role runs that code, so many times. */
ReportPlace trace_report_place(const TraceReport *trace_report, const char *role, const PtxCode *code, uint64_t times);
/* How often all warps of a role ran it. */
uint64_t trace_report_times(const TraceReport *trace_report, uint32_t role, const PtxCode *code);

/* ---- roles.c ---- */
void trace_report_find_roles(TraceReport *trace_report);
void trace_report_add_roles(TraceReport *trace_report, Report *report);

/* ---- barrier_instances.c ---- */
/* Arrivals and waits, as they come; the meeting's number. */
void trace_report_sync(TraceReport *trace_report, const PtxEvent *event);
void trace_report_find_rings(TraceReport *trace_report);
/* A warp that stands at one at the end waits there, too. */
void trace_report_sync_blocked(TraceReport *trace_report);
/* "full[1]"; "barrier 0" */
const char *trace_report_slot(const TraceReport *trace_report, uint32_t barrier_instance);

/* ---- barriers.c ---- */
void trace_report_add_barriers(TraceReport *trace_report, Report *report);
/* The uses of all slots by one role at one instruction are one site. */
void trace_report_add_site(const TraceReport *trace_report, const TraceUse *use, ReportSite *sites, size_t *count);

/* ---- blocked.c ---- */
/* Where the actor stands at the end; NULL: it has ended. */
const PtxGroup *trace_report_stands(const TraceReport *trace_report, uint32_t actor);
/* The meeting that it waits at, + 1; 0: it waits for something else. */
uint32_t trace_report_stands_at(const TraceReport *trace_report, const PtxGroup *group);

/* ---- memory.c ---- */
void trace_report_access(TraceReport *trace_report, const PtxEvent *event);
/* `to` has waited for what `arrival` was an arrival of. */
void trace_report_learn(TraceReport *trace_report, const Arrival *arrival, uint32_t to, uint32_t barrier_instance,
                        const PtxCode *in);

/* ---- pieces.c ---- */
/* Memory that is not shared, as it is accessed. */
void trace_report_reach(TraceReport *trace_report, const PtxEvent *event, const PtxLocation *location, uint64_t bytes);
/* What was accessed of shared memory, in pieces. */
void trace_report_find_pieces(TraceReport *trace_report);
/* Names of rings and pieces, when all of them are known. */
void trace_report_name_all(TraceReport *trace_report);
/* Whether some of the granules are the piece's. */
bool trace_report_carries(const uint64_t *granules, const TracePiece *piece);
void trace_report_add_buffers(TraceReport *trace_report, Report *report);

/* ---- edges.c ---- */
void trace_report_add_edges(TraceReport *trace_report, Report *report);

/* ---- lanes.c ---- */
/* A step of the actor in the picture; 1 + its number, 0: there is no room for it. */
uint32_t trace_report_draw(TraceReport *trace_report, const PtxEvent *event, uint32_t barrier_instance);
/* One that waited for the arrivals of that phase. */
void trace_report_draw_wait(TraceReport *trace_report, const PtxEvent *event, uint32_t barrier_instance,
                            const Phase *phase);
void trace_report_add_lanes(TraceReport *trace_report, Trace *trace);

#endif
