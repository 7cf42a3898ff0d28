/* What the files of the membar analysis share: a function compiled to accesses, the accesses that are pending at a
 * point, and a run of the dataflow.
 *
 *   ops.c      what an op is to the analysis: where it synchronizes, which pairs need no barrier
 *   compile.c  a function as nodes with accesses
 *   view.c     which part of its allocation a view is
 *   call.c     what a call does, as accesses of the caller
 *   overlap.c  whether two accesses conflict
 *   state.c    sets of pending accesses
 *   merge.c    what is done where there are too many of them
 *   run.c      the dataflow
 *   place.c    where barriers go, and which can be left out
 *   membar.c   functions and what they call, and the result
 *   why.c      what is pending at an op, as text */
#ifndef CHECK_MEMBAR_INTERNAL_H
#define CHECK_MEMBAR_INTERNAL_H

#include "check/membar/membar.h"
#include "ir/op.h"
#include "ir/optable.h"
#include "model/flow/flow.h"
#include "model/flow/origin.h"
#include "model/memory/handshake.h"
#include "model/memory/placement.h"
#include "model/memory/thread_barriers.h"
#include "model/number/slots.h"

typedef struct Membar Membar;

/* ---- Memory ---------------------------------------------------------------------------------------------------- */

/* Memory that accesses are made to. */
typedef struct MembarBuffer {
    const Op *op; /* the allocation, or whose scratch memory it is; NULL: not this function's */
    Space space;
    int64_t begin, end;    /* bytes of the frame; tensor memory: columns, each storage 2^32 after the one before */
    uint8_t rows;          /* tensor memory: bit 0 for rows 0 to 63, bit 1 for the others */
    bool scratch;          /* an op's own, not an allocation */
    bool everywhere;       /* not known which memory it is */
    bool of_caller;        /* an argument points to it: it may be any memory of the caller, none of the frame */
    uint32_t argument;     /* which */
    uint32_t neighborhood; /* buffers of different neighborhoods have no bytes in common */
} MembarBuffer;

/* Why a function was not looked at in full, if the time for it was up. */
extern const char membar_too_late[];

/* ---- Accesses -------------------------------------------------------------------------------------------------- */

enum { ACCESS_READ = 1, ACCESS_WRITE = 2 };

/* When an access is over. */
typedef enum MembarOutstanding {
    OUTSTANDING_NONE,     /* when the op is */
    OUTSTANDING_GROUP,    /* when its group was waited for; the thread that waited knows, the others do not */
    OUTSTANDING_MBARRIER, /* when every thread has waited for an mbarrier */
} MembarOutstanding;

/* What an access to an mbarrier does. */
typedef enum MbarrierUse {
    MBARRIER_NONE,   /* it is to data */
    MBARRIER_LIFE,   /* begins or ends it */
    MBARRIER_SIGNAL, /* an arrival, or bytes that come */
    MBARRIER_WAIT,
} MbarrierUse;

/* What an op is to the target's exemptions (ops.c). */
enum {
    ROLE_ONE_THREAD = 1 << 0, /* the same elected thread does it */
    ROLE_TMA_LOAD = 1 << 1,
    ROLE_WAIT = 1 << 2,
    ROLE_ATOMIC = 1 << 3,      /* an integer atomic that commutes with its like, its result unused */
    ROLE_ASYNC_LOAD = 1 << 4,  /* AMD: a copy to shared memory that a token stands for */
    ROLE_WAITED_LOAD = 1 << 5, /* AMD: a load whose token comes from a wait */
    ROLE_AMD_BARRIER = 1 << 6,
};

typedef struct Access {
    const Op *op;    /* in this function, or in one that it calls */
    uint32_t number; /* of the node that makes it */
    uint32_t buffer;
    int64_t begin, end; /* the part of it: bytes of the frame, or columns */
    uint8_t kind;       /* ACCESS_ bits */
    uint8_t roles;
    uint8_t group; /* GroupKind of OUTSTANDING_GROUP */
    AtomicKind atomic;
    MembarOutstanding outstanding;
    MbarrierUse mbarrier;
    bool copy;                /* a write by an asynchronous copy */
    bool tensor_core;         /* by the tensor core: what depends on it waits for an mbarrier anyway */
    bool distributed;         /* other CTAs of the cluster take part */
    bool foreign;             /* stands for what a caller has in flight */
    const Value *slot;        /* the index of its slot; NULL: it picks none, or that says nothing here */
    const Type *type;         /* of the view; NULL: not known */
    const Value *ring;        /* what `slot` is a slot of */
    const Attr *offsets;      /* the view is this static slice of what it is a view of; NULL: not known */
    const OriginSet *through; /* OUTSTANDING_MBARRIER: the barrier; NULL: one that a later commit names */
    uint32_t alike;           /* the access that stands for this and its like; 0: there is none */
} Access;

/* ---- Nodes ----------------------------------------------------------------------------------------------------- */

/* Which of the three questions a run asks. */
enum { PASS_CLUSTER = 1, PASS_TENSOR = 2, PASS_SHARED = 4, PASS_THREADS = PASS_TENSOR | PASS_SHARED };

typedef enum MembarStepKind { STEP_COMMIT, STEP_AWAIT, STEP_MBARRIER } MembarStepKind;

/* What an op does to accesses in flight. */
typedef struct OutstandingStep {
    MembarStepKind kind;
    GroupKind group;
    bool uncertain;           /* await: of some, and it is not known of which */
    uint32_t count;           /* await: of the youngest groups that may be left */
    const OriginSet *through; /* mbarrier: the barrier that is waited for */
} OutstandingStep;

/* What a call does, as accesses of the caller. */
typedef struct CallEffect {
    uint32_t first_entry, entry_count; /* accesses before any barrier on some path */
    uint32_t first_exit, exit_count;   /* accesses since the last barrier on some path */
    uint32_t first_outstanding;        /* those in flight at the end, with their ages in `ages` */
    uint32_t outstanding_count;
    const uint8_t (*ages)[2];
    bool synced;                /* every way through it meets a barrier */
    bool promotes[GROUP_KINDS]; /* what the caller has in flight may be over, and pending, at the end */
    bool awaits[GROUP_KINDS];   /* it is over at the end, on every way */
} CallEffect;

/* What one op is to the analysis, besides its accesses (ops.c). */
typedef struct OpFacts {
    uint8_t stages;
    bool atomic;    /* an atomic that orders memory, or a poll: counts for tensor memory, too */
    bool waits;     /* for copies, with a barrier after it in Triton */
    bool present;   /* a barrier of threads, and nothing else */
    bool removable; /* ... for shared and tensor memory alone */
    bool cluster;   /* synchronizes the cluster */
    bool free;      /* it neither touches memory nor orders anything */
} OpFacts;

/* Barriers that were put at an op. */
typedef struct Placing {
    uint8_t before, after; /* PASS_ bits of the run that put them there */
    uint32_t reason;       /* why the first one was put before it: index of a hazard, plus 1 */
} Placing;

/* An op that matters. */
typedef struct MembarNode {
    const Op *op;
    uint32_t number;       /* in the order of the text */
    uint32_t first, count; /* accesses */
    uint32_t scratch;      /* the write of its scratch memory, the read stands after it; 0: it has none */
    uint32_t first_step, step_count;
    const CallEffect *call;
    OpFacts is;
    bool deferred; /* the barrier behind a wait is one that a later barrier stands for */
    bool serves;   /* is such a later barrier */
    bool removed;  /* a present barrier that was found to be needless */
    bool returns;
    bool automatic; /* the barrier after it is there because it is a wait */
    Placing placing;
} MembarNode;

/* ---- Pending accesses ------------------------------------------------------------------------------------------ */

enum { MARK_NONE = 0, MARK_STALE = 1, MARK_LOOP = 2 /* + loop: around its back edge, `turns` times */ };
enum { TURNS_MOST = 3 /* so often, or more often */, TRIPS_MOST = 2 /* beyond that, nothing is known */ };
enum { AGE_MOST = 32 /* no function has a higher `age_most` */, SINCE_UNKNOWN = UINT32_MAX };

/* An access that was made and not separated from here by a barrier. */
typedef struct Entry {
    uint32_t access;
    uint32_t mark; /* whether its index was computed in an earlier iteration */
    uint8_t turns; /* of the loop that `mark` says */
    /* Loops that were entered since then, the latest first, and how often each has gone around; 0, or its number + 1.
     * Not of accesses that pick no slot, which it does not matter to. */
    uint8_t trips[SLOTS_ENTERED];
    uint32_t entered[SLOTS_ENTERED];
    uint32_t tag;   /* the one barrier since then, plus 1; 0: none */
    uint32_t since; /* the node that made it pending: its own, or the wait; SINCE_UNKNOWN */
    bool flying;    /* not over yet; `tag` and `since` mean nothing */
    /* Flying in a group: between how many groups were closed since, `age_most` at most. In the set that is worked on,
     * less those closed until now (Work.closed), so that closing one changes nothing else. */
    int32_t young, old;
} Entry;

typedef struct MembarState {
    uint32_t count;
    bool synced; /* every way from the function's start met a barrier */
    Entry entries[];
} MembarState;

typedef struct Summary {
    uint32_t *entry, entry_count; /* accesses */
    const MembarState *exit;      /* NULL: it never returns */
} Summary;

/* ---- One function ---------------------------------------------------------------------------------------------- */

typedef struct MembarBarrier {
    uint32_t alone;        /* hazards that only this one parts */
    bool for_callers;      /* it parts what the function does from what its callers do */
    bool pinned;           /* not all that it parts is known */
    uint32_t kept;         /* of them in `hazards` */
    MembarHazard *hazards; /* NULL, or MEMBAR_MOST_HAZARDS */
    bool tensor_only;      /* they are all in tensor memory */
    uint32_t hoist;        /* the outermost loop that it can be moved out of; FLOW_NONE: none */
    bool hoist_known;
    bool untagged;   /* something comes to it that no barrier before it has separated */
    uint32_t before; /* a barrier before it, with only accesses that do not matter between; plus 1 */
    uint32_t next;   /* the last one that was noted as the next one; plus 1 */
} MembarBarrier;

typedef struct NextPair {
    uint32_t from, to;
} NextPair;

/* What a run found, once it settled. */
typedef struct Notes {
    MembarBarrier *barriers; /* 2 * node, and 2 * node + 1 for the one after it */
    NextPair *pairs;         /* barriers with no other between them, on some way, and accesses before the first */
    uint32_t pair_count, pair_capacity;
    uint32_t open; /* hazards that no barrier parts */
} Notes;

struct Membar {
    Module *module;
    const Op *function;
    MembarModel model;
    ReleaseSet releases;
    Arena *arena; /* of the analysis, not the module's */
    Arena *run;   /* of the last run: the next one empties it */
    bool amd;
    bool clusters; /* more than one CTA */
    bool called;   /* it is called, so that copies may be in flight when it starts */
    bool public;   /* a kernel */
    Flow flow;
    Origins origins, views;
    Placements placements;
    Pointers allocated, scratched, framed; /* ops to indices of `placements` */
    uint32_t *buffer_of;                   /* by origin */
    uint32_t somewhere[2];                 /* buffers for memory that is not known: shared, tensor; plus 1 */
    MembarBuffer *buffers;
    uint32_t buffer_count, buffer_capacity, neighborhood_count;
    Access *accesses; /* number 0 is none */
    uint32_t access_count, access_capacity;
    int32_t age_most; /* groups that are older count as so old: no wait here tells them apart */
    OutstandingStep *steps;
    uint32_t step_count, step_capacity;
    MembarNode *nodes;
    uint32_t node_count, node_capacity;
    uint32_t *piece_nodes;         /* by piece, and one more: where its nodes start */
    uint32_t foreign[GROUP_KINDS]; /* accesses that stand for what a caller has in flight; 0: none */
    uint32_t callers;              /* the access that stands for what a caller did before; 0: nothing calls it */
    MembarHazard *reasons;
    uint32_t reason_count, reason_capacity;
    Summary summary;
    bool *written;        /* by neighborhood: something writes there */
    uint32_t *loop_nodes; /* by loop */
    bool two_ctas;
    Handshake handshake;        /* what the cluster needs once its mbarriers are set up */
    const MembarState **inputs; /* by piece, of the last run; NULL: never reached */
    bool *pinned; /* by barrier, of a run that notes: not all that it parts is known, and it stays; else NULL */
    uint32_t *alike_counts; /* all 0; by access and whether it flies. NULL: there are never too many */
    Slots *slots;
    struct SlotCache *slot_answers;
    uint64_t work, slot_work;
    uint64_t work_limit; /* 0: the usual one */
    bool improving;      /* what is placed is enough already: only so much is spent on making it less */
    bool gave_up;        /* that was not enough */
    const char *problem;
    const Op *problem_op;
    /* proofs of the run that notes */
    MembarProof *proofs;
    uint32_t proof_count, proof_capacity;
};

/* The place of a new last item of array `many`, with `one`_count and `one`_capacity beside it. */
#define MEMBAR_PUSH(membar, many, one) \
    ARENA_PUSH((membar)->arena, (membar)->many, (membar)->one##_count, (membar)->one##_capacity)

/* What was not looked at; the first that is said is kept. */
void membar_problem(Membar *membar, const Op *op, const char *sentence);

/* ---- ops.c ---- */
OpFacts membar_facts(Membar *membar, const Op *op, const Effect *effects, unsigned count, Scratch scratch);
/* Whether, from behind an op on, `next` stops a search for a later barrier, and how. */
typedef enum Later { LATER_NO, LATER_YES, LATER_LOOK_ON } Later;
Later membar_later(const Op *next, const OpFacts *facts);
/* `used`: results of atomics that is used. */
uint8_t membar_roles(Membar *membar, const Op *op, const Pointers *used);
bool membar_exempt(const Membar *membar, const Access *first, const Access *second);
bool membar_distributed(const Membar *membar, const Op *op, const Effect *effects, unsigned count);

/* ---- compile.c ---- */
/* `callees` has the numbers of the analyses of those functions that it calls, by their ops; other calls are not looked
 * into. */
void membar_compile(Membar *membar, const Pointers *callees, Membar *const *analyses);
uint32_t membar_add_buffer(Membar *membar, MembarBuffer buffer);
/* The buffer for memory that is not known; one for each space. */
uint32_t membar_somewhere(Membar *membar, Space space);

/* An access to all of its buffer; gives back its number. */
uint32_t membar_add_access(Membar *membar, Access access);

/* ---- view.c ---- */
/* The static offsets of a view that is a slice of what has the shape of its allocation; else NULL. */
const Attr *membar_view_offsets(Membar *membar, const Value *view);
/* Makes an access through a view to its allocation one to those slots that constants pick. */
void membar_view_narrow(Membar *membar, const Value *view, Access *access);

/* ---- call.c ---- */
/* What a call of the function does, in terms of the caller's memory. */
const CallEffect *membar_call(Membar *caller, const Op *call, const Membar *callee);

/* ---- overlap.c ---- */
/* What two accesses are to each other. */
typedef enum MembarOverlap {
    OVERLAP_CONFLICT,
    OVERLAP_READS,  /* neither writes */
    OVERLAP_BYTES,  /* they touch no byte in common */
    OVERLAP_EXEMPT, /* the target needs no barrier between such two */
    OVERLAP_SLICES, /* they are different slices of one allocation */
    OVERLAP_SLOTS,  /* they are provably different slots of a ring */
} MembarOverlap;
/* Of the entry's access and `second`, which is made now by the op of that number. With `proof`, it is noted if only
 * their slots tell them apart. */
MembarOverlap membar_overlap(Membar *membar, const Entry *entry, const Access *second, uint32_t number, unsigned passes,
                             bool proof);
/* The loop around whose back edge the entry came to an op of that number, which is in it; NULL: none. */
const FlowLoop *membar_loop_around(const Membar *membar, const Entry *entry, uint32_t number);
bool membar_takes_part(const Membar *membar, const Access *access, unsigned passes);
MembarHazardKind membar_hazard_kind(const Access *first, const Access *second);
MembarHazard membar_hazard(const Membar *membar, const Entry *entry, const Access *second, uint32_t number);

/* ---- run.c ---- */
typedef enum RunMode {
    RUN_INSERT, /* a conflict puts a barrier before the op */
    RUN_NOTE,   /* barriers stay as they are; what each of them parts is noted */
} RunMode;

/* Runs until nothing changes. With RUN_NOTE, fills `notes` and the function's summary. */
void membar_run(Membar *membar, unsigned passes, RunMode mode, Notes *notes);
/* What is pending right before op number `number` of a piece, with barriers as they are: after a run with RUN_NOTE.
 * NULL: never reached. */
const MembarState *membar_state_at(Membar *membar, unsigned passes, uint32_t piece, uint32_t number);

/* ---- state.c ---- */
/* The entry before one, plus 1; 0: none. */
typedef struct WorkLink {
    uint32_t of_access, in_list;
} WorkLink;

/* The set that a run works on. */
typedef struct MembarWork {
    Membar *membar;
    Entry *entries;  /* pending and in flight */
    WorkLink *links; /* of each of them */
    uint32_t entry_count, entry_capacity, link_capacity;
    uint32_t *of_access;          /* by access: its newest entry, plus 1 */
    uint32_t *reads, *writes;     /* by neighborhood: pending ones, plus 1 */
    uint32_t closed[GROUP_KINDS]; /* since the set was loaded */
    bool synced;
} MembarWork;

MembarWork membar_work_new(Membar *membar);
void membar_work_load(MembarWork *work, const MembarState *state);
const MembarState *membar_work_freeze(MembarWork *work);
/* Adds an entry; one that is there already grows to hold it. Its ages are less what was closed. */
void membar_work_add(MembarWork *work, Entry entry);
/* Keeps what `keep` says, which may change it. */
void membar_work_filter(MembarWork *work, bool (*keep)(Entry *entry, void *context), void *context);
/* The age that an entry of the set has as `young` or `old`. */
int32_t membar_work_age(const MembarWork *work, const Entry *entry, int32_t kept);
/* The other way round. */
int32_t membar_work_keep(const MembarWork *work, const Entry *entry, int32_t age);
/* The union; one of the two, if it holds the other. NULL is nothing. */
const MembarState *membar_state_join(Membar *membar, const MembarState *a, const MembarState *b);
/* What is pending behind the edge. */
const MembarState *membar_state_over(Membar *membar, const MembarState *state, const FlowEdge *edge);
bool membar_state_equal(const MembarState *a, const MembarState *b);
/* Puts the entries in order; those that differ in nothing but their ages become one. */
void membar_state_sort(MembarState *state);

/* ---- merge.c ---- */
/* Once all accesses are known. */
void membar_find_alike(Membar *membar);
/* Whether the entry stands for several. */
bool membar_is_common(const Membar *membar, const Entry *entry);
/* Makes fewer of too many entries, which are in order and stay so. */
void membar_merge(Membar *membar, MembarState *state);

/* ---- place.c ---- */
void membar_place_barriers(Membar *membar);
typedef struct Needless {
    const Op *covered_by;
    const char *why;
} Needless;
/* Present barriers that can go: marks them removed, and says why, by node. */
Needless *membar_find_needless(Membar *membar);

/* ---- why.c ---- */
typedef struct WhyQuestion {
    const Op *op;
    Text *to;
} WhyQuestion;
/* `question` is a WhyQuestion. */
void membar_report_why(Membar *membar, void *question);

#endif
