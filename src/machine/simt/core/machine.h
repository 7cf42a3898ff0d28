/* The machine of PTX: a launch, thread by thread.
 *
 * A warp is a list of groups: lanes that stand before the same instruction of the same frame. A branch may part a
 * group; groups whose lanes meet again (PtxCode.meets) become one. Where one group waits for another of its warp, each
 * goes on by itself: threads are scheduled independently. That lanes come together again is no promise to the program
 * except where PTX makes one, and nothing is ordered by it.
 *
 * A group runs until it ends, waits, or has to let others go on (machine_turn). Who has the next turn is the schedule's
 * business (schedule.h). A value that is not known (data that no launch gives, a clock, what an instruction that is not
 * modeled writes) is marked, lane by lane; where control or an address depends on one, that is noted (PtxHavoc), and a
 * verdict is not better than it.
 *
 * Everything that others may notice is told to the observer as an event, before it is done: memory and barriers are
 * then as they were before it. */
#ifndef MACHINE_SIMT_CORE_MACHINE_H
#define MACHINE_SIMT_CORE_MACHINE_H

#include "finding/finding.h"
#include "machine/simt/core/launch.h"
#include "machine/simt/decode/program.h"
#include "model/effect/effect.h"

#include <pthread.h>
#include <string.h>

/* ---- Memory ---- */

/* Of each byte of memory. */
enum {
    BYTE_NEVER = 0, /* nothing has written it */
    BYTE_KNOWN = 1,
    BYTE_UNKNOWN = 2, /* written, or there before the run; it is not known with what */
};
static inline bool bytes_known(const uint8_t *states, size_t count) {
    const uint64_t known = UINT64_C(0x0101010101010101) * BYTE_KNOWN;
    uint64_t wrong = 0;
    for (; count >= 8; states += 8, count -= 8) {
        uint64_t some;
        memcpy(&some, states, 8);
        wrong |= some ^ known;
    }
    for (; count; ++states, --count)
        wrong |= *states ^ BYTE_KNOWN;
    return !wrong;
}

/* A piece of memory that is addressed: a buffer of a launch, a variable in global or const memory, the shared memory of
 * a CTA, the local memory of a thread, the parameters. */
typedef struct PtxBlock {
    PtxSpace space;
    uint64_t base, size;     /* base: its first address in its space; of global memory it is generic, too */
    uint8_t *bytes, *states; /* states: BYTE_...; NULL: made when first written, until then all `fill` */
    uint8_t fill;
    /* Of a large block where few CTAs run: pages of its addresses, made when first written; until then all `fill`. */
    struct PtxBlock **pages;
    struct PtxHost *host; /* memory of this process that it is in place; NULL */
    bool other;           /* what is not known is something else than usual (other.h) */
    bool heap;            /* a kernel got it by malloc */
    uint64_t freed;       /* ... and has freed it: how many bytes it had; `size` is 0 */
    const char *name;     /* of the argument or variable; for people */
    uint32_t cta;         /* shared memory: whose, in the grid; else PTX_NONE */
} PtxBlock;

/* An address of a thread, resolved. */
typedef struct PtxLocation {
    PtxBlock *block;
    uint64_t offset; /* in it */
} PtxLocation;

/* ---- Warps ---- */

typedef struct PtxFrame {
    const PtxRoutine *routine;
    struct PtxFrame *caller; /* NULL: it is the kernel's */
    uint32_t back;           /* code behind the call */
    uint32_t users;          /* groups and frames above that refer to it */
    uint32_t lanes;          /* that made the call */
    Lanes *rows;
    uint32_t *masks; /* predicates */
    uint32_t *row_unknown,
        *mask_unknown;             /* lanes, of each row and mask; registers that nothing was written to are so, too */
    uint32_t carry, carry_unknown; /* of add.cc */
    uint8_t *params;               /* param_bytes for each lane, one lane after the other */
    uint8_t *param_states;         /* BYTE_... of them */
    uint32_t *stack;               /* alloca: each lane's top of local memory; NULL: none was made */
    uint64_t serial;               /* of the run: no other has it, though memory of frames is used again */
    uint32_t depth;                /* frames below it */
    uint32_t local_at;             /* where its local variables begin in each thread's local memory */
} PtxFrame;

typedef enum PtxStatus {
    PTX_IS_READY,
    PTX_IS_MEETS, /* stands where others of its warp will come: goes on with them, or when nothing else of the warp can
                   */
    PTX_IS_LANES_MEET, /* for lanes of a mask: bar.warp.sync, shfl.sync, ... */
    PTX_IS_NAMED,      /* at bar.sync */
    PTX_IS_CLUSTER,    /* at barrier.cluster.wait */
    PTX_IS_MBARRIER,   /* a wait that blocks: of try_wait, which may give up, only in gear where it does not */
    PTX_IS_GROUP_WAIT, /* for its copies or MMAs */
    PTX_IS_SPINS,      /* it would come to the same state again as long as nothing changes (machine->changes) */
    PTX_IS_REGISTERS,  /* setmaxnreg: for registers of the pool; tcgen05.alloc: for columns */
    PTX_IS_LAUNCHES,   /* griddepcontrol.wait */
    PTX_IS_DONE,
} PtxStatus;

typedef struct PtxGroup {
    struct PtxGroup *next; /* of the warp */
    struct PtxWarp *warp;
    PtxFrame *frame;
    uint32_t lanes;
    uint32_t pc;        /* code */
    uint32_t meet;      /* PTX_IS_MEETS: top of the places where it is waited for; see control.c */
    uint8_t status;     /* PtxStatus */
    uint32_t waits_for; /* a barrier's number, a mask of lanes */
    uint64_t place;     /* PTX_IS_MBARRIER: see PtxEvent.place, PTX_NO_PLACE: lanes wait for several */
    uint64_t since;     /* machine->changes when it began to spin */
    uint64_t gave_up; /* machine->changes + 1 when a wait that is made once gave up last, with no thread to wait for */
    uint32_t gave_up_pc;
    uint64_t fingerprint; /* of its state when it last jumped back; see livelock.c */
    uint32_t fingerprint_pc;
    void *parts; /* control.c: where its lanes diverged from others */
    void *spin;  /* livelock.c: its state when it jumped back */
} PtxGroup;

typedef struct PtxWarp {
    struct PtxCta *cta;
    uint32_t index;    /* in the CTA */
    uint32_t launched; /* lanes that there are */
    uint32_t exited;   /* lanes that ended */
    uint32_t passed;   /* lanes that went on behind where others wait for them, at an instruction whose mask has them */
    PtxGroup *groups;
    void *sync; /* barriers.c: groups of copies and MMAs, lane by lane, phases of the cluster barrier */
    uint8_t (*visits)[PTX_LANES]; /* havocs.c: of each condition that is not known, how often lanes came to it */
    uint32_t visit_capacity;
} PtxWarp;

typedef struct PtxCta {
    uint32_t number;        /* in the grid, clusters one after the other: cluster * size + rank */
    uint32_t id[3];         /* %ctaid */
    uint32_t rank, cluster; /* in its cluster; its cluster in the grid */
    PtxBlock shared;
    PtxBlock *locals; /* of each thread; made when used */
    PtxWarp *warps;
    uint32_t warp_count, threads, live; /* live: threads that have not ended */
    void *sync;                         /* barriers.c: named barriers, mbarriers */
    void *tensor;                       /* tensor.c: tensor memory */
    bool over;                          /* all of its threads have ended, and what they had in flight */
} PtxCta;

/* ---- What is in flight ---- */

/* An asynchronous operation. It reads and writes memory when it lands; what it does is up to the family that made it.
 *
 * Of cp.async, one outstanding operation is those of all lanes of an instruction, each with a copy of its own: its
 * events have these lanes, and locations are by lane, 32 of them, as those of threads' own accesses. All others are one
 * operation. */
typedef struct PtxOutstanding {
    uint32_t sequence; /* of issue, from 1 */
    const PtxCode *code;
    PtxWarp *warp;
    uint32_t lane;   /* that issued it; of several the lowest */
    uint32_t lanes;  /* all of them; 0 is `lane` alone */
    uint8_t group;   /* GroupKind in which it is waited for; GROUP_NONE: an mbarrier says when it is over, or nothing */
    uint32_t groups; /* groups of that kind that its lanes had committed before; set by ptx_fly */
    uint64_t place;  /* of the mbarrier that is told; PTX_NO_PLACE: none */
    void (*land)(struct PtxMachine *machine, struct PtxOutstanding *outstanding); /* does it, and tells the events */
    void *detail;
    uint32_t
        after; /* sequence of another outstanding operation that has to land first, and is ordered before it; 0: none */
    uint32_t behind; /* one that lands first in this machine, which orders nothing; 0: none */
    bool landed;
} PtxOutstanding;
#define PTX_NO_PLACE UINT64_MAX

/* ---- Events ---- */

typedef enum PtxEventKind {
    PTX_EVENT_ACCESS, /* reads, writes, updates: of threads, or of an asynchronous operation (outstanding operation) */
    PTX_EVENT_FENCE,  /* order, scope; or proxy */
    PTX_EVENT_WARP_SYNC,      /* bar.warp.sync: all of `lanes` have come */
    PTX_EVENT_NAMED_ARRIVE,   /* barrier: id; lanes; count: threads that take part */
    PTX_EVENT_NAMED_COMPLETE, /* all have come: everyone who arrived is ordered before everyone who syncs */
    PTX_EVENT_NAMED_SYNC,     /* lanes go on */
    PTX_EVENT_CLUSTER_ARRIVE, /* order: release, or relaxed */
    PTX_EVENT_CLUSTER_COMPLETE,
    PTX_EVENT_CLUSTER_WAIT, /* lanes go on; order: acquire, or relaxed */
    PTX_EVENT_INIT,         /* mbarrier at `place`: count */
    PTX_EVENT_INVALIDATE,
    PTX_EVENT_EXPECT,   /* count: bytes of each lane; with `arrives` an arrival of each, too: order, scope */
    PTX_EVENT_ARRIVE,   /* count: arrivals of each lane; order, scope */
    PTX_EVENT_COMPLETE, /* bytes have come: of an outstanding operation, or of a thread that says so (each lane) */
    PTX_EVENT_FLIP,     /* a phase completed, by the event before; phase: which, from 0 */
    PTX_EVENT_TEST,     /* a wait that failed: it orders nothing */
    PTX_EVENT_WAIT,     /* a wait that succeeded; phase: which it waited for; order, scope */
    PTX_EVENT_ISSUE,    /* outstanding operation begins, after what its thread did before (of wgmma: not so) */
    PTX_EVENT_LAND,     /* outstanding operation is over; its reads and writes were events between */
    PTX_EVENT_COMMIT,   /* lanes close a group of `group` */
    PTX_EVENT_AWAIT,    /* lanes know that all but the last `count` groups are over; read_only: as far as they read */
    PTX_EVENT_TRACK,    /* cp.async.mbarrier.arrive: an arrival when the copies so far are over; that comes as ARRIVE of
                           the outstanding operation that this begins, which has these lanes */
    PTX_EVENT_COMMIT_TO, /* tcgen05.commit: an arrival when the MMAs so far are over */
    PTX_EVENT_PEER,      /* lanes do what the other CTA of a pair takes part in: place: that CTA << 32 */
    PTX_EVENT_AWAIT_LAUNCHES,
    PTX_EVENT_TRIGGER_LAUNCHES, /* launches that depend on this one need not wait for the CTA any more */
    PTX_EVENT_EXIT,             /* lanes end */
    PTX_EVENT_CTA_OVER,
    PTX_EVENT_UNKNOWN, /* an instruction that is not modeled, and could do anything */
} PtxEventKind;

/* How memory is accessed; PTX's words. */
typedef struct PtxAccess {
    uint8_t kind;  /* EFFECT_READ, EFFECT_WRITE, EFFECT_UPDATE of model/effect/effect.h */
    uint8_t proxy; /* Proxy of effect.h */
    uint8_t order; /* weak, relaxed, acquire, ...: see effect.h; volatile is relaxed with `is_volatile` */
    uint8_t scope;
    bool strong, is_volatile;
    bool read_only;   /* ld.global.nc: nothing may write it while the kernel runs */
    uint32_t element; /* bytes of a scalar element: those of a vector are apart from each other */
    uint32_t bytes;   /* of each lane, altogether */
    uint32_t used;    /* mask of elements that are used (used_bytes_mask, _ in vectors) */
} PtxAccess;

typedef struct PtxEvent {
    PtxEventKind kind;
    const PtxCode *code;
    PtxWarp *warp;
    uint32_t lanes;
    const PtxOutstanding *outstanding; /* NULL: it is the threads' own */
    /* accesses: block and offset for each lane; of outstanding operations `location_count` pieces of `access.bytes`
     * bytes, or more than that if `sizes` is there */
    PtxAccess access;
    const PtxLocation *locations;
    uint32_t location_count; /* threads: 32 */
    const uint32_t *sizes;   /* outstanding operations: bytes of each piece; NULL: access.bytes each */
    uint32_t changes;        /* writes: lanes whose write changes memory; updates: lanes that store */
    /* barriers */
    uint64_t place;   /* mbarrier: CTA << 32 | its address in shared memory of that */
    uint32_t barrier; /* named: id */
    int64_t count;
    uint32_t phase;
    uint8_t order, scope;
    uint8_t group; /* GroupKind of effect.h */
    bool read_only;
    bool arrives, drops; /* expect: it arrives; arrivals: they are expected no more from the next phase on */
    /* fences */
    uint8_t proxy;   /* fence.proxy: between this and the generic one; else the generic one: order and scope count */
    PtxSpace space;  /* fence.proxy: of which memory alone; PTX_SPACE_UNKNOWN: all */
    bool sequential; /* fence.sc */
    bool inits;      /* fence.mbarrier_init */
} PtxEvent;

typedef void PtxObserve(void *observer, const PtxEvent *event);

/* ---- The machine ---- */

/* Why it cannot go on: the program did what it must not do. An outstanding operation that lands may do so, too. */
typedef struct PtxFault {
    RuleId rule;
    const PtxCode *code; /* NULL: there is none */
    const PtxWarp *warp;
    uint32_t lanes;
    uint64_t address;      /* as the program has it; or place of an mbarrier */
    const PtxBlock *block; /* NULL: none is there */
    int64_t amount, other;
    const PtxSymbolSlot
        *within;      /* shared memory: the variable that the address is of, and beyond or before which it leads */
    const char *what; /* one clause, for people: "16 bytes behind the end of %out" */
} PtxFault;

/* Something that is not known decided what was run: a condition, which went some way; or an address, and then the
 * access of those lanes was left out. */
typedef struct PtxHavoc {
    const PtxCode *code;   /* a branch, something that is guarded, an access */
    const PtxCode *source; /* where it came from, if that is known: a load, a clock; NULL */
    uint64_t times;
    bool left_out; /* it is no condition */
    bool first;    /* which way it went first */
    uint8_t went;  /* all ways: PTX_RAN_YES, PTX_RAN_NO */
} PtxHavoc;

/* How conditions that are not known go, in a run: PtxMachine.world. A thread goes that way the first times that it
 * comes to one; later now one way and now the other, so that no loop goes on forever by it. Conditions are numbered as
 * the run comes to them.
 *
 * Plain havoc choices: 0 and 1 say no and yes to all, 2 and 3 to every other one; 4 to 7 go by their number's second
 * bit, too, so that any three of the first four conditions go through every combination. HAVOC_CHOICE_CHOSEN: bit i is
 * the way of condition i, all others say no. HAVOC_CHOICE_MIXED: threads, warps or CTAs for which it may differ
 * (machine->spans) go by a bit of their number, 2 * bit + 1: the other way round; of any two, there is a havoc choice
 * in which they part. What is the same for all goes by turns. With HAVOC_CHOICE_RANDOM as the bit, everyone goes at
 * random from time to time. */
enum {
    HAVOC_CHOICE_PLAIN = 8,
    HAVOC_CHOICE_CHOICES = 24,
    HAVOC_CHOICE_WARP_BIT = 5,
    HAVOC_CHOICE_CTA_BIT = 10,
    HAVOC_CHOICE_RANDOM = 31
};
#define HAVOC_CHOICE_CHOSEN (1u << 31)
#define HAVOC_CHOICE_MIXED  (1u << 30)

/* The first read of bytes that nothing has written, in shared or local memory, or in a buffer that is written only; one
 * for each instruction. */
typedef struct PtxUnset {
    const PtxCode *code;
    uint32_t cta, thread;
    PtxSpace space;
    const char *name; /* of the block */
    uint64_t offset;
    uint64_t times;
} PtxUnset;

typedef enum PtxComputes { COMPUTES_ALL, COMPUTES_NEEDED } PtxComputes;

/* Machines that run CTAs of one launch at the same time, each in a thread of its own, on the memory of this process
 * (claims.c). */
typedef struct PtxTeam {
    bool stop;            /* it turned out that the order of CTAs may matter, or a member failed; atomic */
    pthread_mutex_t lock; /* of pages that are kept, and of states */
} PtxTeam;
enum { PTX_TEAM_MEMBERS = 64 };

typedef struct PtxMachine {
    const PtxProgram *program;
    const PtxLaunch *launch;
    Arena arena; /* of the run */
    PtxComputes computes;
    PtxBlock *blocks; /* global and const memory, sorted by base */
    uint32_t block_count, block_capacity;
    PtxBlock parameters;
    PtxCta **ctas; /* of the grid, by number; NULL: not begun, or over */
    uint32_t cta_count, cluster_size, threads_per_cta;
    PtxOutstanding **outstanding_ops; /* not landed, the oldest first */
    uint32_t outstanding_count, outstanding_capacity, next_sequence;
    uint64_t budget, used; /* instructions of groups */
    uint64_t thread_instructions;
    uint64_t changes;      /* of memory and mbarriers: what others may notice */
    uint64_t meetings;     /* at barriers of threads, which are afterwards as they were before */
    uint64_t clock;        /* instructions so far: what %clock gives, marked as not known */
    uint64_t clock_begin;  /* ... and with what it begins: where launches are run one after the other */
    unsigned havoc_choice; /* what is not known is chosen; havoc choices differ in how: WORLD_... */
    const uint8_t *spans;  /* of each code, FormSpan: over which threads its condition is the same; NULL: the grid */
    /* The run is made for its results: what is not known has the value that it happens to have, and an instruction
     * whose result cannot be computed stops it. */
    bool results;
    PtxTeam *team;  /* that it is a member of; NULL: none */
    uint8_t member; /* its number in the team */
    bool ordered;   /* which CTAs had run before mattered, other than by memory of this process */
    bool immediate; /* what is asynchronous lands when it is issued */
    bool timed; /* %globaltimer is known, a microsecond for each instruction; and waits fail where they would sleep */
    bool lanes_meet;   /* lanes that come together at a shuffle, vote, ... are reported to have met (WARP_SYNC) */
    bool gives_up;     /* a wait that is made once (PtxCode.once) has no timeout: it fails if the phase is not over */
    bool step_visible; /* a turn ends before each visible instruction but the first */
    bool sparse;       /* few CTAs are run: what they do not write of large buffers takes no memory */
    /* A recording is played (play.h): memory is not kept, what is loaded is not known, and every wait blocks. */
    bool plays;
    bool unlisted;      /* plays: there is global memory that the launch does not list */
    PtxBlock *anywhere; /* that; NULL: there is none */
    bool passes;        /* plays: a wait for a phase of an mbarrier is over, whatever the phase is */
    uint32_t stores;    /* plays: lanes of an atomic that store */
    const uint8_t *map; /* plays: the tensor map of the instruction that is run; NULL: it is in memory */
    uint64_t windows;   /* generic addresses: where that of shared memory begins, and the others behind it */
    PtxHavoc *havocs;
    uint32_t havoc_count, havoc_capacity;
    PtxUnset *unset;
    uint32_t unset_count, unset_capacity;
    PtxFault fault;
    const PtxCode *unknown; /* an instruction that cannot be run; unknown_why: a sentence, or NULL */
    const char *unknown_why;
    const char *asserted; /* what threads whose assertion failed print; NULL: none did */
    Text *printed;        /* what the kernel prints; NULL: nowhere */
    PtxObserve *observe;
    void *observer;
    const struct PtxOther *other; /* data is not that of the launch (other.h); NULL: it is */
    uint8_t *ran;                 /* of each code: PTX_RAN_... of all runs so far; NULL: not wanted */
    struct PtxSymmetry *symmetry; /* the CTAs for which the run speaks (symmetry.h); NULL: not wanted */
    struct PtxScout *scout;       /* lanes are threads of different launches (scout.h); NULL: they are not */
    void *grid;  /* barriers.c: clusters, outstanding operations that can be used again; NULL when a run starts */
    void *tiles; /* matrix_descriptor.c: where tiles are that were looked for; NULL when a run starts */
} PtxMachine;

/* It ran; its guard held in some lane; did not in some lane; it stored what is not known; a choice gave its first
 * operand in some lane; its second. */
enum { PTX_RAN = 1, PTX_RAN_YES = 2, PTX_RAN_NO = 4, PTX_RAN_UNKNOWN = 8, PTX_RAN_FIRST = 16, PTX_RAN_SECOND = 32 };
static inline void ptx_note_unknown(const PtxMachine *machine, const PtxCode *code) {
    if (machine->ran)
        machine->ran[code - machine->program->code] |= PTX_RAN_UNKNOWN;
}

/* All memory of a machine is its arena. NULL, with a sentence, if the launch does not fit the kernel. */
PtxMachine *ptx_machine(const PtxProgram *program, const PtxLaunch *launch, PtxComputes computes, const char **problem);
/* Memory and everything else as the launch says; what was run is forgotten, but for `ran`. */
void ptx_machine_start(PtxMachine *machine);
void ptx_machine_free(PtxMachine *machine);
/* A cluster of the grid begins: its CTAs stand before their first instruction. */
void ptx_machine_begin(PtxMachine *machine, uint32_t cluster);

typedef enum PtxTurn {
    PTX_TURN_OVER,  /* it can go on, others may now */
    PTX_TURN_WAITS, /* it waits, or ended */
    PTX_TURN_FAULT,
    PTX_TURN_UNKNOWN,
    PTX_TURN_BUDGET,
} PtxTurn;
/* Whether the group could go on now. */
bool ptx_group_can_go(const PtxMachine *machine, const PtxGroup *group);
/* Runs the group until it waits, ends, is about to do something visible (step_visible), or has jumped back often enough
 * to let others go on. */
PtxTurn ptx_group_turn(PtxMachine *machine, PtxGroup *group);
/* Groups that stand still for others of their warp that will not come go on alone. Returns whether some do; it is a
 * fault if lanes that they leave behind wait for them at an instruction that is for the warp together, and none of the
 * warp waits for anything else. */
bool ptx_warp_release(PtxMachine *machine, PtxWarp *warp);
bool ptx_outstanding_can_complete(const PtxMachine *machine, const PtxOutstanding *outstanding);
void ptx_outstanding_complete(PtxMachine *machine, uint32_t index);
/* The heap as the launch has left it so far. */
PtxHeap ptx_heap(PtxMachine *machine);
/* The number of a thread in a trail: CTA number * threads of a CTA, + the thread's own. */
uint32_t ptx_thread_number(const PtxMachine *machine, const PtxWarp *warp, uint32_t lane);

/* ---- For the families ---- */

/* Values of an argument in all lanes, zero-extended: a pointer to where they are, or to `scratch`. *unknown: lanes
 * whose value is not known (added to what it has). Of 128 bits `half` 1 is the upper one. */
const Lanes *ptx_fetch(PtxMachine *machine, PtxGroup *group, const PtxArgument *argument, unsigned half, Lanes *scratch,
                       uint32_t *unknown);
uint32_t ptx_fetch_mask(PtxMachine *machine, PtxGroup *group, const PtxArgument *argument, uint32_t *unknown);
/* Writes a register (a sink: nothing), in those lanes. Values have to be zero-extended to the register's width already.
 */
void ptx_put(PtxMachine *machine, PtxGroup *group, const PtxArgument *argument, unsigned half, const Lanes *values,
             uint32_t lanes, uint32_t unknown);
void ptx_put_mask(PtxMachine *machine, PtxGroup *group, const PtxArgument *argument, uint32_t mask, uint32_t lanes,
                  uint32_t unknown);

/* The addresses of an [a + 4], in the space that the form says or else generic ones. */
const Lanes *ptx_fetch_address(PtxMachine *machine, PtxGroup *group, const PtxArgument *argument, Lanes *scratch,
                               uint32_t *unknown);
/* Resolves them: false, with a fault, where one is out of range, misaligned, in no memory, or in a CTA that has ended.
 * `space`: PTX_SPACE_UNKNOWN of generic ones. Lanes whose address is not known are taken out of *lanes, and noted. */
bool ptx_resolve(PtxMachine *machine, PtxGroup *group, const PtxCode *code, PtxSpace space, const Lanes *addresses,
                 uint32_t unknown, uint32_t bytes, uint32_t align, uint32_t *lanes, PtxLocation locations[PTX_LANES]);
/* One of them, for callers that have an address of its own (a copy's source). */
bool ptx_resolve_one(PtxMachine *machine, const PtxCode *code, PtxWarp *warp, uint32_t lane, PtxSpace space,
                     uint64_t address, uint64_t bytes, uint32_t align, PtxLocation *location);
/* Memory, at most 8 bytes; *known: false if some byte is not. ptx_write counts a change. */
uint64_t ptx_load(PtxMachine *machine, PtxLocation location, unsigned bytes, bool *known);
void ptx_store(PtxMachine *machine, PtxLocation location, unsigned bytes, uint64_t value, bool known);
/* Pieces of any size; states may be NULL (all known, or not asked). */
void ptx_load_bytes(PtxMachine *machine, PtxLocation location, size_t count, uint8_t *bytes, uint8_t *states);
/* What stands there for bytes that are not known. */
void ptx_unknown_bytes(const PtxBlock *block, uint64_t offset, size_t count, uint8_t *bytes);
void ptx_store_bytes(PtxMachine *machine, PtxLocation location, size_t count, const uint8_t *bytes,
                     const uint8_t *states);

void ptx_emit(PtxMachine *machine, const PtxEvent *event);
PtxStep ptx_fault(PtxMachine *machine, PtxGroup *group, RuleId rule, const PtxCode *code, uint32_t lanes,
                  const char *what);
PtxStep ptx_stop(PtxMachine *machine, const PtxCode *code, const char *why);
/* Lanes whose store of `count` bytes changes memory, one after the other: PtxEvent.changes. Those of `unknown` store
 * what is not known, and so something else, unless the run is one with other data. `pitch`: from the bytes of a lane to
 * those of the next. */
uint32_t memory_changes(const PtxMachine *machine, const PtxCode *code, uint32_t lanes, uint32_t unknown,
                        const PtxLocation *locations, size_t count, const uint8_t *bytes, size_t pitch);
/* A lane reads bytes that nothing has written. */
void ptx_note_unset(PtxMachine *machine, const PtxCode *code, const PtxWarp *warp, uint32_t lane, PtxLocation location);
/* A condition that is not known: it is noted, and the havoc choice says which way. The lanes of `unknown` that go
 * "yes". */
uint32_t ptx_havoc(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t unknown);
/* Something of an access is not known, and it is not made, or not as it would be: that is noted. */
void ptx_leave_out(PtxMachine *machine, PtxGroup *group, const PtxCode *code);
/* Here it matters which CTAs of the launch have run before, and which run at the same time (claims.c): it does not come
 * back where some do. */
void ptx_ordered(PtxMachine *machine);
/* Puts an operation in flight, and tells that; it lands at once if everything does. False: machine->fault. */
bool ptx_fly(PtxMachine *machine, const PtxOutstanding *outstanding);
/* The place of an mbarrier at an address that was resolved. */
static inline uint64_t ptx_place(PtxLocation location) {
    return (uint64_t)location.block->cta << 32 | (uint32_t)(location.block->base + location.offset);
}
/* Arrivals, bytes to come or that have come at the mbarrier event->place: what an event of kind ARRIVE, EXPECT or
 * COMPLETE says. Told, done, and phases that are complete with it told. False: machine->fault. */
bool ptx_mbarrier_bring(PtxMachine *machine, const PtxEvent *event);
/* The special register `special` of the table, part, as a row. */
void ptx_special_values(PtxMachine *machine, PtxGroup *group, uint32_t special, uint32_t number, unsigned part,
                        Lanes *values, uint32_t *unknown);
/* Lanes that the group's instruction needs together (bar.warp.sync, shfl.sync, mma.sync of a mask): true if all of
 * `mask` that have not ended stand here, and are in this group now; else the group waits. */
bool ptx_gather(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t mask);
/* Lanes run an instruction whose mask does not name them: a fault. */
PtxStep ptx_unnamed(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes);
/* An instruction that each lane does on its own: `run` is handed a lane, as long as the ones before it have gone on. */
static inline PtxStep ptx_lane_by_lane(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes,
                                       PtxRun *run) {
    PtxStep step = PTX_STEP_NEXT;
    for (; lanes && step == PTX_STEP_NEXT; lanes &= lanes - 1)
        step = run(machine, group, code, (uint32_t)__builtin_ctz(lanes));
    return step;
}
/* Lanes end; the group is gone if none is left. */
void ptx_exit(PtxMachine *machine, PtxGroup *group, uint32_t lanes);

/* ---- What families hold in `sync` and `tensor`, for callers (barriers.c, tensor.c) ---- */

typedef struct PtxMbarrier {
    uint32_t offset; /* its address in shared memory of its CTA */
    uint32_t count, pending;
    int64_t bytes;
    uint32_t phase; /* completed so far */
    bool live;
} PtxMbarrier;
/* The mbarrier there (offset: its shared address); NULL: there never was one. */
const PtxMbarrier *ptx_mbarrier_at(const PtxCta *cta, uint32_t offset);
typedef struct PtxNamed {
    uint32_t arrived, expected; /* threads; expected 0: no thread is there */
    uint64_t warps;             /* that have come */
} PtxNamed;
const PtxNamed *ptx_named_at(const PtxCta *cta, uint32_t id);

/* Called by the machine where it has to be known to families: a CTA begins, threads end, a CTA ends, a run starts. */
void barriers_cta_begin(PtxMachine *machine, PtxCta *cta);
void barriers_cta_end(PtxMachine *machine, PtxCta *cta); /* with all of its cluster */
void barriers_exit(PtxMachine *machine, PtxWarp *warp, uint32_t lanes);
void tensor_cta_begin(PtxMachine *machine, PtxCta *cta);
/* A group that waits for columns of tensor memory (PTX_IS_REGISTERS, waits_for has this bit, and how many): whether
 * they are free. */
#define PTX_WAITS_COLUMNS (UINT32_C(1) << 31)
bool tensor_has_columns(const PtxMachine *machine, const PtxGroup *group);
/* Whether the wait of a group that has such a status is over. Its instruction is then run again, with any status. */
bool barriers_passes(const PtxMachine *machine, const PtxGroup *group);
/* Part of a warp is at an instruction that is for all of it together: that is a fault. */
PtxStep barriers_divergent(PtxMachine *machine, const PtxGroup *group, const PtxCode *code);
/* Whether a request of another cluster took this one: it never begins. */
bool barriers_canceled(const PtxMachine *machine, uint32_t cluster);
/* Whether something of the CTA is in flight; it is over when that has landed. */
bool outstanding_ops_of_cta(const PtxMachine *machine, const PtxCta *cta);

#endif
