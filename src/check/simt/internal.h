/* What the files that check PTX share. */
#ifndef CHECK_SIMT_INTERNAL_H
#define CHECK_SIMT_INTERNAL_H

#include "check/simt/check.h"
#include "check/simt/watch.h"
#include "machine/simt/decode/replicas.h"
#include "machine/simt/schedule/schedule.h"
#include "model/effect/ptx_column.h"

/* What cannot be told for sure, by why: it is told once, with how often it was there. */
typedef enum DoubtKind {
    DOUBTED_LAUNCH, /* a race at a launch that was not given */
    DOUBTED_DATA,   /* ... for some choices of data that is not known */
    DOUBTED_VALUES, /* threads write to the same place by one instruction, and whether that is the same is not known */
    DOUBTED_FIT,    /* a launch that was not given does not fit the kernel */
    DOUBTED_KINDS,
} DoubtKind;
typedef struct SimtDoubt {
    uint32_t count, line;
    const char *text;
} SimtDoubt;

/* A kernel while it is checked. */
typedef struct ThreadsCheck {
    PtxModule *module;
    uint32_t entry;
    const ThreadsOptions *options;
    Verdict *verdict;
    Arena arena; /* of the program and the launches */
    PtxProgram *program;
    uint8_t *ran; /* of each code: PTX_RAN_... over all runs */
    /* Of each code that is a condition that is not known: which ways it went over all runs, PTX_RAN_YES and _NO; a
     * havoc choice in which it goes the way that it has not gone, 0: none is known. */
    uint8_t *went;
    unsigned *ways;
    PtxRace *always; /* races that every run so far has had, whichever way such conditions went */
    uint32_t always_count;
    uint8_t *spans;             /* machine->spans */
    bool *dead;                 /* of each code: no launch comes to it; NULL: nothing is known of that */
    uint8_t *matters;           /* of each code, which outcomes matter (outcomes.c); NULL: that was not asked */
    struct PtxScout *scout;     /* NULL: there is none */
    uint64_t spent;             /* instructions of all runs */
    uint64_t odd_budget;        /* instructions of a run of a launch that callers may not make; 0: it is another one */
    uint64_t odd_spent;         /* instructions of all such runs */
    bool open;                  /* what some launch does depends on orders or on data that is not known */
    bool once;                  /* one run of the launch is made, and no other order or havoc choice */
    bool stopped;               /* a run took more instructions than it may */
    struct ThreadsCheck *outer; /* that of the same launch with less than all values; NULL: there is none */
    /* The launch that is run. */
    const PtxLaunch *launch;
    PtxMachine *machine;
    PtxWatch **watches; /* of that machine */
    uint32_t watch_count, watch_capacity;
    const PtxWatch *explores; /* one of them, whose limits are not told: beyond them other runs are made */
    struct SimtHistory *history;
    uint64_t events;
    size_t runs;
    size_t completed; /* launches whose first run ended as it should */
    SimtDoubt doubts[DOUBTED_KINDS];
    size_t doubted_launches; /* reasons of the verdict that are about launches alone, not about what is not known */
    PtxReplicas replicas;    /* of the launch; opened when asked for */
    size_t classes;          /* of CTAs in the last run; 0: all were run */
    bool havocked;           /* in the run of some class */
    bool hung;               /* in some order */
    uint64_t first_used;     /* instructions of the first run */
    bool recorded;           /* a recording is played */
    const char *unordered;   /* why it may be that CTAs are ordered, though it does not seem so; NULL: it may not */
    bool unordered_within;   /* ... and threads of one CTA may be, too: of any, or */
    const uint32_t *unordered_ctas; /* ... of these alone */
    uint32_t unordered_cta_count;
    bool unordered_counts; /* ... and pairs that may be are only counted: one line says what is missing */
    uint32_t unordered_count;
} ThreadsCheck;

/* ---- words.c: who and what, for people ---- */

/* "thread 37 of CTA 2", or without the CTA where there is one alone. */
const char *thread_words(const ThreadsCheck *check, uint32_t cta, uint32_t thread);
/* "threads 0-31 and 40" of one CTA. */
const char *threads_words(const ThreadsCheck *check, uint32_t cta, const uint32_t *threads, uint32_t count);
/* "CTAs 3, 8-15" */
const char *ctas_words(const ThreadsCheck *check, const uint32_t *ctas, uint32_t count);
/* "bytes 128-131 of tile", "bytes 0-3 of argument 1". */
const char *location_words(const ThreadsCheck *check, PtxLocation location, uint32_t bytes);
/* The variable that has that byte of shared memory: where it begins, and its name; "smem" of dynamic shared memory. */
uint64_t shared_begin(const ThreadsCheck *check, uint64_t at);
const char *shared_name(const ThreadsCheck *check, uint64_t at);
/* "k.cu:12 (PTX line 40)", or "PTX line 40". */
const char *code_words(const ThreadsCheck *check, const PtxCode *code);
/* Where code is, in PTX and in the kernel's own source. Texts are left "" but for the instruction. Those that it was
 * inlined at go to `inlined`; returns how many there are. */
uint32_t code_place(const ThreadsCheck *check, const PtxCode *code, FindingPlace *place, FindingPlace *inlined);
/* The places of a finding: each code's, with those that it was inlined at behind it. Returns each code's own. */
FindingPlace **code_places(const ThreadsCheck *check, Finding *finding, const PtxCode *const *codes, uint32_t count);
/* A finding of this launch, without its texts and places. `times`: 0 counts as 1. */
Finding *threads_finding(const ThreadsCheck *check, RuleId rule, const char *space, const PtxSchedule *schedule,
                         unsigned havoc_choice, uint64_t times);
/* The schedule in words. */
const char *schedule_words(const ThreadsCheck *check, const PtxSchedule *schedule);
/* The witness of a recording that is played together with that of another launch. */
const char *witness_between(const ThreadsCheck *check, uint64_t launch);

/* ---- effects.c: what an instruction is for ---- */

typedef enum CodeRole {
    ROLE_OTHER,
    ROLE_SYNCHRONIZES, /* barriers, fences, waits, groups */
    ROLE_ACCESSES,     /* memory that others may access, too */
    ROLE_BRANCHES,     /* a way that not all threads need take */
} CodeRole;
CodeRole code_role(const ThreadsCheck *check, const PtxCode *code);
/* The effect of an instruction with that verb; false: it has none. */
bool code_effect(const ThreadsCheck *check, const PtxCode *code, EffectVerb verb, PtxEffect *found);

/* ---- races.c ---- */
/* At a launch whose block Weir chose an error is a warning: callers may launch other blocks. */
void threads_grade(const ThreadsCheck *check, Finding *finding);
/* What it is called. */
RuleId threads_race_rule(const ThreadsCheck *check, const PtxRace *race);
/* Whether the two are ordered, and that a fence between them is missing is a note. */
bool threads_fence_is_note(const ThreadsCheck *check, const PtxRace *race);
/* Whether one side of a handover between CTAs has its fence, and the other has none: which, and what to do. */
bool threads_side_missing(const ThreadsCheck *check, const PtxRace *race, const char **why, const char **fix);
/* Volatile accesses that only being volatile keeps from racing: one finding for all of them. */
void threads_volatile(ThreadsCheck *check, const PtxWatch *watch, const PtxSchedule *schedule, unsigned havoc_choice);
/* Whether the compiler omitted the proxy fence that this race lacks, and the author could place none. */
bool threads_is_omitted(const ThreadsCheck *check, const PtxRace *race);
/* Adds a finding; NULL where it is none that counts. */
Finding *threads_race(ThreadsCheck *check, const PtxRace *race, const PtxSchedule *schedule, unsigned havoc_choice);

/* Of two launches: what they are called, of the first in which file it is (NULL: it is that of the second), and the
 * number of its launch. */
typedef struct RaceNames {
    const char *first, *second, *file;
    uint64_t number;
} RaceNames;
/* The second side is of `check`, the first of `other`, whose verdict is that of `check`, too. */
Finding *threads_race_between(const ThreadsCheck *check, const ThreadsCheck *other, const PtxRace *race,
                              const RaceNames *names);

/* An access of a thread, or what it has issued, and something that is none of a kernel, which nothing orders. */
typedef struct OutsideRace {
    RaceSide side;
    PtxLocation location;
    uint32_t bytes;
    bool writes;      /* the other */
    bool later;       /* ... and was made later */
    bool returned;    /* ... by a call that has no stream, and does not wait for it */
    bool freed;       /* ... and was over before: the memory is not there any more */
    const char *noun; /* what it does; NULL: it reads or writes */
    const char *what; /* that is: "the copy 5 (cuMemcpyHtoDAsync)" */
    uint64_t times;
} OutsideRace;
Finding *threads_race_outside(const ThreadsCheck *check, const OutsideRace *race);

/* ---- same_value.c ---- */
/* Whether threads of a CTA that write to the same place by one instruction may write the same: the data is not known.
 */
bool threads_may_be_same(ThreadsCheck *check, const PtxRace *race);

/* ---- history.c: what led to a run that went wrong ---- */

enum { HISTORY_ARRIVERS = 4, HISTORY_WAITERS = 32 };
/* What was done to an mbarrier. */
typedef struct MbarrierHistory {
    uint64_t place;
    const PtxCode *init, *expect;
    struct {
        const PtxCode *code;
        const PtxWarp *warp;
        uint32_t lane;
    } arrivers[HISTORY_ARRIVERS]; /* the last ones, by instruction */
    uint32_t arriver_count;
    uint64_t arrivals; /* in the phase that is not complete */
    uint64_t flips;
    bool over; /* it was invalidated */
    struct {
        const PtxWarp *warp;
        uint64_t seen; /* phases that it waited for; others passed before it looked */
        uint32_t last; /* the number of the last one, from 1 */
    } waiters[HISTORY_WAITERS];
    uint32_t waiter_count;
} MbarrierHistory;
typedef struct SimtHistory SimtHistory;
SimtHistory *history_new(Arena *arena);
void history_clear(SimtHistory *history);
void history_see(SimtHistory *history, const PtxEvent *event);
const MbarrierHistory *history_of(const SimtHistory *history, uint64_t place);

/* Data written over an mbarrier that is in use; code NULL: none was. */
typedef struct Overwrite {
    const PtxCode *code;
    uint32_t cta, thread;
    uint64_t place; /* of the mbarrier */
} Overwrite;
Overwrite history_overwrite(const SimtHistory *history);
/* What a warp looked at last that others may change: memory, by a strong access, or an mbarrier that was not complete.
 */
typedef struct SimtLook {
    const PtxCode *code;  /* NULL: at nothing */
    PtxLocation location; /* block NULL: an mbarrier */
    uint32_t bytes;
    uint64_t place; /* of the mbarrier */
} SimtLook;
SimtLook history_look(const SimtHistory *history, const PtxWarp *warp);
/* Whether those bytes of shared memory, of whatever CTA, may be an mbarrier's. */
bool history_near(const SimtHistory *history, uint64_t begin, uint64_t end);
/* Whether there are mbarriers at all. */
bool history_any(const SimtHistory *history);
/* For each place where threads waited for an mbarrier or arrived, in whatever run since the history is new: orders
 * in which they are slow there, in the first CTA that was seen. Returns how many. */
uint32_t history_delays(const SimtHistory *history, const ThreadsCheck *check, PtxSchedule *list, uint32_t most);

/* ---- blocked.c ---- */
/* The machine is stuck: why. */
Finding *threads_blocked(ThreadsCheck *check, const PtxSchedule *schedule, unsigned havoc_choice);

/* ---- faults.c ---- */
/* The machine stopped with a fault. NULL: at a chosen launch it is none, and what to give is said. */
Finding *threads_fault(ThreadsCheck *check, const PtxSchedule *schedule, unsigned havoc_choice);
/* Something that cannot be run; guesses that the machine made. */
void threads_unmodeled(ThreadsCheck *check);
void threads_havocs(ThreadsCheck *check);

/* ---- unreached.c ---- */
/* What was run of the kernel, and what was not. `asked`: whether what was not run is said, too: at launches that Weir
 * chose all of it, at one that was given what data that is not known might have led to. */
void threads_coverage(ThreadsCheck *check, bool asked);

#endif
