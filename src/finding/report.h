/* What the barrier report says about one kernel: plain data, which renderers write out.
 *
 * Like a finding, a report holds texts and numbers and no ops, so that it outlives the module. A text that is not known
 * is "", never NULL; a number that is not known is -1 where its comment says so. Names of partitions, barriers and
 * buffers are unique within a report, and are how its parts refer to each other. Everything is in the arena of the
 * verdict. docs/report.md explains the sections; glossary.def the words. */
#ifndef FINDING_REPORT_H
#define FINDING_REPORT_H

#include "finding/finding.h"

/* An op, and who runs it. */
typedef struct ReportPlace {
    const char *partition; /* "default", "partition0", "partition0.tma"; "" if none is said */
    const char *op;        /* "ttng.wait_barrier"; "" if it is no op */
    const char *detail;    /* what it does there: "16384 bytes"; "" if there is nothing to say */
    const char *file;      /* of the kernel's own source; "" if the IR does not say */
    uint32_t line, column;
    uint32_t ir_line; /* 0 if none */
    bool ptx;         /* that is a line of PTX */
    uint64_t times;   /* how often it was seen to happen, in the run that the report is about */
} ReportPlace;

typedef struct ReportCount {
    const char *name;
    uint64_t count;
} ReportCount;

/* ---- What comes first ---- */

/* The five lines that every report begins with. Of a kernel that fails they are about one finding, the one that
 * explains the others; of one that is clean, about what was run. */
typedef struct ReportHead {
    const char *verdict; /* "hangs", "can hang and races", "misuses a barrier", "clean (this launch)", "incomplete" */
    const char *rule;    /* of that finding; "" if there is none */
    const char *what;    /* happens, or ran */
    const char *where;   /* "kernel.py:20 (IR line 50), nvws.producer_acquire of partition0" */
    const char *why;
    const char *fix;        /* what to change */
    const Finding *finding; /* that one; NULL if there is none */
} ReportHead;

/* ---- 1. Partitions ---- */

typedef struct ReportPartition {
    const char *name; /* "default", "partition0", "task 1" */
    const char *role; /* "MMA", "TMA load (q, k, v)", "softmax", "epilogue store"; several are joined by ", " */
    const char *type; /* what the compiler calls it (ttg.partition.types); "" if it does not */
    const ReportCount *key_ops; /* the ops that make it what it is, in the order of the text, without their dialect */
    size_t key_op_count;
    int warps;     /* -1: not known */
    int registers; /* a thread, as requested; -1: not said */
    int stage;     /* ttg.partition.stages; -1: not said */
    uint32_t ir_line;
} ReportPartition;

/* ---- 2., 3. Barriers ---- */

/* One op that arrives on a barrier, or waits for it, with the slots and phases that were seen there. */
typedef struct ReportSite {
    ReportPlace place;
    const char *mechanism; /* "TMA mbarrier", see REPORT_MECHANISMS */
    const char *index;     /* "accumCnt(loop@41) % 3", "0"; "" if it never ran */
    const char *phase;     /* waits: "(accumCnt(loop@41) / 3) & 1", "NOT ((accumCnt(loop@41) / 3) & 1)", "0" */
    const char *index_as_written, *phase_as_written; /* as the IR computes them: "%cnt % 3" */
    int64_t stagger;     /* how many slots behind the first op of its ring it starts; 0: with it */
    int64_t stride;      /* how far it goes each time, in slots; 0: it stays, or does not follow a count */
    int first_parity;    /* waits: of the first one; -1: not seen */
    bool passes_at_once; /* waits: the first one needs no arrival */
    int64_t amount;      /* arrivals or bytes each time; -1: neither */
    uint64_t intended;   /* if the run hangs: how often it would happen, past the waits that block; else 0 */
    const char *part;    /* of a loop that was peeled: "prologue", "loop", "epilogue"; "" if it was not */
} ReportSite;

typedef struct ReportAlias {
    const char *value; /* "%arg35" */
    const char
        *how; /* "allocation", "argument of partition0", "iter_arg of the loop", "view [%idx]", "result of ..." */
    const char *partition;
    uint32_t ir_line;
    uint32_t level; /* how many steps from the allocation, 0 for it */
} ReportAlias;

typedef struct ReportBytes {
    const char *name; /* of the buffer */
    const char *text; /* "128x64xf16" */
    int64_t bytes;
    uint32_t ir_line; /* of the copy */
} ReportBytes;

typedef struct ReportBarrier {
    const char *name;      /* "full", "named barrier 9" */
    const char *value;     /* "%12"; "" if it is no value */
    const char *kind;      /* "mbarrier", "named", "token", "aref", "cluster", "planned", "tmem token" */
    const char *mechanism; /* those of its arrivals, joined by ", " */
    const char *direction; /* "forward": data is ready; "backward": memory may be used again; "both"; "" not known */
    int64_t depth;         /* slots; -1: not known */
    int64_t count;         /* arrivals a phase takes, of named barriers threads; -1: not known */
    const char *index, *phase;        /* of the ring as a whole, as in a site: "accumCnt % 3" */
    bool inverted;                    /* its first waits pass on a fresh barrier */
    const char *offset;               /* stagger in words: "a0 +1, a1 +2"; "" if there is none */
    int64_t expect_bytes, data_bytes; /* in one phase: announced, and delivered by copies; -1: it counts no bytes */
    const ReportBytes *bytes;         /* what makes up data_bytes, together or each in its turn */
    size_t byte_count;
    uint64_t iterations; /* that index and phase were seen over: waits of one partition, arrivals if there are none */
    uint64_t flips;      /* phases completed, of all slots together */
    const char *cadence; /* flips in words: "each slot flips once in 3 iterations of the loop at line 41" */
    const ReportSite *arrives, *waits;
    size_t arrive_count, wait_count;
    const ReportPlace *others; /* init, invalidate */
    size_t other_count;
    const char *const *protects; /* names of buffers */
    size_t protect_count;
    const char *pair; /* the barrier of the other direction of the same ring; "" if there is none */
    const ReportAlias *aliases;
    size_t alias_count;
    const char *const *issues; /* "depth 1: nothing overlaps", "arrives are never waited for"; sentences */
    size_t issue_count;
    const char *participants; /* of a named barrier: "partition0 (128, waiting) + partition1 (128, arriving) = 256" */
    uint64_t intended;        /* if the run hangs: flips that there would be, past the waits that block; else 0 */
} ReportBarrier;

typedef struct ReportEdge {
    const char *from, *to; /* partitions */
    const char *barrier;   /* "" for an SSA value */
    const char *mechanism; /* see REPORT_MECHANISMS */
    const char *direction; /* "forward" or "backward" */
    const char *carries;   /* the buffers or values: "a, b (2 x 128x64xf16)"; "" if nothing is known */
    const char *note;      /* "unused token: ..."; "" if there is nothing to say */
    ReportPlace out, in;   /* one op of each side: the arrive and the wait */
} ReportEdge;

/* Every mechanism that an arrive, an edge or a planned channel can have. ORDER: as in docs/report.md. */
#define REPORT_MECHANISMS(M)            \
    M(TMA, "TMA mbarrier")              \
    M(ARRIVE, "explicit mbarrier")      \
    M(COMMIT, "tcgen05 commit")         \
    M(MMA, "MMA barrier operand")       \
    M(NAMED, "named barrier")           \
    M(TOKEN, "producer/consumer token") \
    M(AREF, "aref")                     \
    M(CP_ASYNC, "async-copy arrive")    \
    M(TMEM_TOKEN, "TMEM token")         \
    M(CLUSTER, "cluster barrier")       \
    M(REMOTE, "remote store")           \
    M(CLC, "cluster launch control")    \
    M(STORE, "TMA store group")         \
    M(VALUE, "SSA value")

typedef enum ReportMechanism {
#define MECHANISM(id, text) MECHANISM_##id,
    REPORT_MECHANISMS(MECHANISM)
#undef MECHANISM
        MECHANISM_COUNT
} ReportMechanism;
const char *report_mechanism(ReportMechanism mechanism);
/* Whether the buffers of `bytes` take turns, one in each phase: then they do not add up to data_bytes. */
bool report_bytes_take_turns(const ReportBarrier *barrier);

/* ---- 4. Shared data ---- */

typedef struct ReportBuffer {
    const char *name, *value; /* "a", "%a_bufs" */
    const char *space;        /* "shared", "tensor", "register" (a value that crosses partitions) */
    const char *storage;      /* its type */
    int64_t id, offset;       /* buffer.id, buffer.offset; -1: none */
    int64_t depth;            /* slots; 1 if it is no ring */
    int64_t size;             /* bytes; tensor memory: columns; -1: not known */
    const ReportPlace *writers, *readers;
    size_t writer_count, reader_count;
    const char *barrier;      /* names of those that protect it, joined by ", "; "" if none does */
    const char *const *notes; /* "merged with b: one barrier, 32768 bytes", "shares its memory with p (columns 0-63)" */
    size_t note_count;
    const ReportAlias *aliases;
    size_t alias_count;
} ReportBuffer;

/* ---- 6. Deadlocks ---- */

/* An agent that waits forever. */
typedef struct ReportBlocked {
    ReportPlace place;        /* the wait; its partition is the agent */
    const char *waits_for;    /* "full[1]", "named barrier 9" */
    int parity;               /* that it waits for; -1: it is no mbarrier */
    int phase;                /* phase bit now: the wait goes on when it is not `parity`; -1 */
    int64_t pending;          /* arrivals still to come; -1 */
    int64_t bytes;            /* still to come; 0: none */
    int64_t flips;            /* phases completed; -1 */
    const ReportPlace *could; /* who could flip it; `detail` says why it does not: "would, but waits itself at IR line
                                 50" of who is the next to complete the phase, "is in this phase already" */
    size_t could_count;
    const char *why;     /* in one sentence */
    const char *held_by; /* the agent whose arrival it waits for, which waits itself; "" if none does */
} ReportBlocked;

typedef struct ReportDeadlock {
    const char *rule, *message, *why, *fix, *schedule, *launch;
    const ReportBlocked *blocked; /* everyone who waits */
    size_t blocked_count;
} ReportDeadlock;

/* What a count of arrives and waits would call suspicious, and why it is none. */
typedef struct ReportCandidate {
    const char *barrier;
    const char *counts;  /* "2 waits and 1 arrive in an iteration" */
    const char *verdict; /* "redundant", "one-shot", "balanced", "primed", "own", "unused", "deadlock" */
    const char *why;     /* one sentence */
    const ReportPlace *places;
    size_t place_count;
} ReportCandidate;

/* ---- 7. Coverage ---- */

typedef enum ReportOrder {
    COVERAGE_ORDERED,
    COVERAGE_MISSING,
    COVERAGE_PLANNED, /* not separated yet: a back edge will be needed */
    COVERAGE_UNSEEN,  /* never overwritten after it was read, in what was run */
} ReportOrder;

typedef struct ReportRow {
    const char *extent;   /* "column 64", "bytes 0-16383" */
    const char *name;     /* the buffer */
    const char *consumer; /* a partition */
    ReportPlace read;     /* the op that reads */
    const char *cadence;  /* "each iteration of the loop at line 41", "once" */
    ReportOrder order;
    const char *by; /* "program order", "partition0 waits for acc_empty, IR line 81"; of what is missing: which edge */
    uint64_t times; /* how often it was overwritten after a read */
} ReportRow;

typedef struct ReportCoverage {
    const char *storage; /* "buffer.id 8", "%ring"; with its size: "buffer.id 8 (tensor, 128 columns)" */
    const char *owner;   /* the buffer whose memory it is */
    ReportPlace writer;
    const char *extent; /* that it overwrites */
    bool whole;         /* all of the storage (or slot) */
    const ReportRow *rows;
    size_t row_count;
} ReportCoverage;

/* ---- Limits ---- */

typedef struct ReportLimit {
    const char *name; /* "shared memory", "tensor memory", "warps", "registers" */
    const char *unit; /* "bytes", "columns", "" */
    int64_t used, most;
} ReportLimit;

/* ---- All of it ---- */

typedef struct Report {
    const char *file, *kernel;
    const char *form;      /* "lowered", "tokens", "aref", "planned", "scheduled", "tasks", "plain" */
    const char *form_text; /* one sentence: what that form is, and what the report can say of it */
    const char *target;    /* "cuda:100"; "" if the module does not say */
    const char *module;    /* which module of a file with several: "3: after TritonGPUPipeline"; "" if it has one */
    const char *nothing;   /* one sentence, where there is nothing to report; "" else */
    bool ptx;              /* lines are of PTX, not of the IR */
    const Verdict *verdict;
    ReportHead head;
    bool hung;          /* that run hangs: slots, phases and edges are of one that goes on past the waits that block */
    const char *launch; /* of the run that slots, phases, edges and the picture are from; "" if nothing was run */
    uint64_t cluster;   /* CTAs that run together; 0 if nothing was run */
    const ReportPartition *partitions;
    size_t partition_count;
    const ReportBarrier *barriers;
    size_t barrier_count;
    const ReportEdge *edges;
    size_t edge_count;
    const ReportBuffer *buffers;
    size_t buffer_count;
    const char *deadlock_verdict; /* "none", "found", "unknown" */
    const char *deadlock_reason;  /* by the phase model, in a sentence or two */
    const ReportDeadlock *deadlocks;
    size_t deadlock_count;
    const ReportCandidate *candidates;
    size_t candidate_count;
    const ReportCoverage *coverage;
    size_t coverage_count;
    const char *coverage_note; /* why there are no tables, or over how many runs they were made; a sentence */
    const ReportLimit *limits;
    size_t limit_count;
    const char *const
        *messages; /* of the findings, with the report's names of barriers and buffers; NULL: as they are */
    const char *const *witness_files; /* of the findings, where witnesses were written to files; NULL where not */
} Report;

/* ---- The glossary ---- */

typedef struct Term {
    const char *id; /* "phase": what links lead to */
    const char *word;
    const char *text; /* two or three sentences */
} Term;

const Term *glossary(size_t *count);

/* One that says nothing yet, about a verdict; and a barrier of which nothing is known. */
Report report_blank(const char *file, const Verdict *verdict);
ReportBarrier report_barrier_blank(void);
/* The deadlocks among the findings of the verdict, in its arena, as the report's. */
void report_add_deadlocks(Report *report, Verdict *verdict);

#endif
