/* What the files of the global-memory check share. */
#ifndef CHECK_TILE_GRID_INTERNAL_H
#define CHECK_TILE_GRID_INTERNAL_H

#include "check/tile/grid/check.h"
#include "machine/tile/compile/roots.h"
#include "machine/tile/grid/grid.h"
#include "machine/tile/memory/access.h"
#include "machine/tile/schedule/clocks.h"

/* An asynchronous access that nothing has waited for. */
typedef struct GridPending {
    uint64_t access;                 /* its number in the run */
    uint32_t ticket, agent, pc, age; /* age: groups committed since, its own included; 0: not committed */
    uint32_t barrier;                /* on which it reports; UINT32_MAX: on none yet */
    uint32_t outstanding, phase;     /* by which it does so, and in which phase of the barrier that came */
    uint16_t cta;                    /* of the cluster */
    uint8_t group;                   /* GroupKind; GROUP_NONE: it reports on a barrier */
    bool delivered, writes;
} GridPending;

/* A cluster that has begun. */
typedef struct GridClusterThreads {
    uint32_t *threads; /* one a CTA */
    bool *waited;      /* for the launches before, one a CTA */
    GridPending *pending;
    uint32_t count, capacity;
    /* Where something in the kernels is not known: the sites that a CTA has come by, and whether it has met others. */
    uint64_t *visited;
    bool *met;
    struct Inside *inside; /* one a CTA (inside.c) */
    Clocks *clocks;        /* of its machine, where partitions are distinguished; NULL: they are not */
    const Machine *machine;
    struct GridClusterThreads *next; /* unused ones */
} GridClusterThreads;

typedef struct LaunchState {
    GridClusterThreads **cluster_thread_sets; /* by cluster; NULL: not there */
    uint64_t first;                           /* clusters of the launches before it */
    uint32_t ctas;
    bool dependent;   /* it must wait for others by itself */
    bool alone;       /* and these are not here */
    bool forgot_wait; /* some CTA ended without having done so */
    uint32_t early;   /* the site of an access before that, + 1; 0: there was none */
} LaunchState;

/* The same two places, or the same place outside of its tensor, are reported once. */
typedef struct FoundRace {
    GsanRace race; /* its sites are the check's own */
    uint64_t times;
    bool silent;   /* the later one is a write that leaves memory as it was */
    bool reported; /* as a finding: */
    bool harmless;
    bool doubted;         /* which was taken back: an op that is not known may order the two, or data was made up */
    bool havoc_dependent; /* with other data that is not known it does not race */
    size_t finding;       /* its number in the verdict */
    /* Of two accesses of one CTA: who made them, "thread 3" or "partition0"; else NULL. */
    const char *earlier, *later;
    bool partitions; /* they are of two partitions, not of two threads of one */
    bool unsure;     /* a barrier that may be there would order them */
} FoundRace;

/* What the sampled mode knows of a race: the later access alone. */
typedef struct SampledRace {
    uint64_t access; /* its number in the run */
    uint64_t begin, end;
    uint32_t site;
    AccessKind kind, earlier;
    bool silent;
    bool at_its_end; /* it is asynchronous, and the race is with what came before it was over */
    bool confirmed;  /* by the exact mode */
    bool settled;    /* the exact run is over */
} SampledRace;

/* One step of a run, for people: an access, or what orders accesses. */
typedef enum StepKind { STEP_ACCESS, STEP_FENCE, STEP_COMPLETES, STEP_LAUNCHES } StepKind;
typedef struct GlobalStep {
    StepKind kind;
    uint32_t launch, cta, site;
    const Effect *effect;
    int64_t begin, end; /* its first byte, and the one behind its last */
    uint64_t bytes;     /* between these, in so many pieces */
    uint32_t pieces;
    bool stored;         /* not a comparison that failed */
    uint64_t of;         /* STEP_COMPLETES: the step that is complete */
    uint64_t races_with; /* a step before it; 0: none */
    const char *wrong;   /* something else; NULL: nothing */
} GlobalStep;

enum { MOST_FOUND = 64, AREA_READ = 1, AREA_WRITTEN = 2 };

/* Something about one access: out of range, not written, not known. */
typedef struct FoundAccess {
    RuleId rule;
    uint32_t site, launch, cta;
    int64_t begin, end; /* the bytes of the run of them that shows it */
    int64_t from, to;   /* of these, what is wrong */
    AccessKind kind;
    bool reported;
    bool havoc_dependent; /* with other data that is not known it is not so */
} FoundAccess;

/* A copy that reads what threads wrote, without a proxy fence in between. */
typedef struct FoundUnfenced {
    uint32_t launch, cta, site, write_cta, write_site;
    int64_t address;
    uint64_t times;
    bool reported;
} FoundUnfenced;

/* What runs have found. */
typedef struct GlobalFound {
    FoundRace races[MOST_FOUND];
    FoundAccess accesses[MOST_FOUND];
    FoundUnfenced unfenced[MOST_FOUND];
    uint32_t race_count, access_count, unfenced_count;
} GlobalFound;

typedef struct GlobalWrite GlobalWrite; /* proxies.c */

/* Who touches an area, and how: of each launch, in all runs. */
enum { USE_READ = 1, USE_WRITE = 2, USE_ATOMIC = 4, USE_ASYNC = 8 };
typedef struct AreaUse {
    uint8_t how;     /* USE_*; an atomic that does not reach all CTAs of its device is a write */
    bool by_several; /* CTAs, or partitions of one */
    uint64_t actor;  /* the first of them */
} AreaUse;

/* An access whose bytes are not known, at one site of one launch. */
typedef struct UnknownAccess {
    uint32_t site, launch;
    const char *reason;
    Roots roots;  /* whose memory it may be in */
    bool loose;   /* its bytes may be any of that memory */
    bool masked;  /* only its mask is not known, and the engine saw all that it can touch: */
    bool met;     /* another CTA's access that nothing orders, among these */
    bool threads; /* it may meet other threads of its partition, which nothing orders */
    uint8_t how;
    uint64_t times;
} UnknownAccess;

enum { FORESEEN_RACE = 1, FORESEEN_OUTSIDE = 2 };

struct GlobalCheck {
    Arena *arena;
    const GlobalKernel *kernels;
    size_t count;
    const GlobalOptions *options;
    const Program **programs;
    uint32_t *first_site; /* of each kernel; a site is that and the instruction */
    uint32_t site_count;
    uint32_t scratches; /* memory that a program allocates for itself, so many at most (own.c) */
    const char **launch_texts;
    LaunchSequence launch_sequence;
    Grid *grid;
    bool has_loads, hangs;
    const LoadLog *
        *first_loads; /* of each launch: what its first cluster found when it went on alone; NULL: as others */
    bool havocked;    /* some run has chosen data that control depends on */
    bool decided;     /* ... and that matters to no place of an access (flags.c) */
    bool partly;      /* the grid is too large, and only its first clusters are run */
    /* Clusters that speak for all of the launch (representatives.c), in order; NULL: all are run. */
    const uint64_t *only;
    uint64_t only_count;
    uint32_t class_count;
    uint8_t foreseen; /* FORESEEN_*: what a run of them must show */
    /* one run */
    Gsan *gsan;
    LaunchState *launches;
    GridClusterThreads *unused;
    Arena scratch;     /* the runs of one access */
    uint64_t moments;  /* accesses, and what orders them */
    uint64_t access;   /* the number of the one that the engine judges */
    bool completing;   /* it does so because the access is over */
    bool confirming;   /* an exact run, to tell what a sampled one found */
    GlobalStep *steps; /* if they are wanted: the first moments, from number 1 on */
    uint32_t step_count, step_capacity;
    RunEnd end;
    GlobalFound found; /* in all runs */
    SampledRace sampled[MOST_FOUND];
    uint32_t sampled_count;
    /* proxies.c */
    bool copies_in;      /* some copy reads global memory */
    uint8_t *proxied;    /* by area: what was done to it in a run (1 copied from, 2 written by threads) */
    bool *mixed;         /* by area: both, and so writes to it are kept */
    GlobalWrite *writes; /* of the run, to such areas */
    uint32_t write_count, write_capacity;
    bool writes_left_out; /* there were too many */
    bool probing;         /* the engine is only asked what is ordered */
    uint32_t probes;
    /* By area: what was done to it in a run (1 read, 2 written), and whether some run has written it: plain reads of
     * other areas cannot race, and the engine need not see them. */
    uint8_t *touched;
    bool *written;
    Run *loud;                  /* by launch and site: between which bytes writes there have changed memory */
    bool *reached;              /* by site: some access was made there */
    bool has_unknowns;          /* ops that are not known (may_order.c): */
    uint32_t unknown_ran;       /* the site of one that was run; UINT32_MAX: none was */
    uint8_t *barrier_instances; /* by site: whether some CTA has met others before it, and after it */
    /* By launch, and in it by area; behind the last area, what lies in none. */
    AreaUse *uses;
    UnknownAccess unknown[MOST_FOUND];
    uint32_t unknown_count;
    /* inside.c */
    bool inside_matters; /* what threads and partitions of one CTA do to global memory */
    uint8_t *stages;     /* by site: where all threads of the partition meet */
    bool *inside_areas;  /* by area: the threads of a CTA may meet in it, and are followed */
    bool *inside_wanted; /* the same of the run that is made */
    uint32_t *granules;  /* by area: bytes by which threads are distinguished */
    uint64_t inside_work;
    bool inside_cut;                /* there was too much of it */
    bool needs_wanted, needs_found; /* where the compiler inserts barriers for shared memory */
    struct Slice **places;          /* by kernel; NULL: not computed */
};

/* ---- own.c ---- */
void own_set_up(GlobalCheck *run);
/* Areas, and behind them one for each op by which a program allocates global memory of its own. */
uint32_t area_count(const GlobalCheck *run);
/* That of an address; NO_AREA: none. */
uint32_t area_number(const GlobalCheck *run, int64_t address);
void area_name(const GlobalCheck *run, int64_t address, Text *to);
/* Where the access is to memory that each CTA has of its own: addresses that no other cluster has. False, of bytes:
 * they are outside of it, or it is not each CTA's own: *reason. */
bool own_address(const GlobalCheck *run, const GridEvent *event, int64_t *address);
bool own_bytes(const GlobalCheck *run, const GridEvent *event, Bytes *bytes, const char **reason);

/* ---- copies.c ---- */
/* Whether it matters what each thread finds that holds a copy of what the access loads. */
bool copies_matter(GlobalCheck *run, uint32_t site);

/* ---- representatives.c ---- */
/* Whether the launch is so large that not all of its CTAs are run if that can be helped. */
bool representatives_is_large(const GlobalCheck *run);
/* Finds CTAs that speak for all of a large launch: they are run from then on, and no others. False: there are none. */
bool representatives_decide(GlobalCheck *run);
/* Whether the run has shown what was to be expected of it. */
bool representatives_confirmed(const GlobalCheck *run);
/* A run of such a launch that is repeated has the CTAs that it had. */
void representatives_replay(GlobalCheck *run);
/* Says so. */
void representatives_report(const GlobalCheck *run);
/* ---- check.c ---- */
/* A run, watched by an engine of its own; false: there is none, and it is said why. How it ended is in run->end. */
bool global_run_watched(GlobalCheck *run, const GridOptions *options);
/* One run with one schedule; reports its findings. False if the run did not finish. */
bool global_run_so(GlobalCheck *run, GridOptions options);

/* ---- havocked.c ---- */
/* Runs the grid again with other data for what is not known, and marks findings that are not reported yet, and that
 * this run does not have. Whether the run hangs, and does not with other data. */
bool havoc_dependent_settle(GlobalCheck *run, GridOptions options);
/* The kernel's last finding is none: the verdict is incomplete for it, and names what `op` has loaded. */
void havoc_dependent_take_back(const GlobalCheck *run, size_t kernel, const Op *op);

/* ---- watch.c ---- */
/* Before a run: a new engine with all launches; false: *problem says why. */
bool global_watch_start(GlobalCheck *run, const char **problem);
void global_watch_observe(void *run, const GridEvent *event);
void global_watch_end(GlobalCheck *run);
/* Two accesses that nothing orders, their sites the check's own: the first such of its two places is kept. */
void global_keep_race(GlobalCheck *run, const FoundRace *race);

/* ---- proxies.c ---- */
/* Before the first run. */
void proxies_set_up(GlobalCheck *run);
/* After a run: whether there were writes that have to be kept, and were not; they are from now on. */
bool proxies_left_out(GlobalCheck *run);
void proxies_access(GlobalCheck *run, const GridEvent *event, uint32_t thread, const Bytes *bytes);
/* A plain read of an area that nothing has written yet. */
void proxies_read(GlobalCheck *run, const Effect *effect, uint32_t area);
void proxies_fence(GlobalCheck *run, const GridEvent *event, uint32_t thread);
/* Whether the two are in no order anyway, which is reported as a race. */
bool proxies_raced(const GlobalCheck *run, const FoundUnfenced *found);

/* ---- inside.c ---- */
/* Before the first run. */
void inside_set_up(GlobalCheck *run);
/* After a run: whether threads may meet in areas where they were not followed; they are from now on. */
bool inside_left_out(GlobalCheck *run);
void inside_begin(GlobalCheck *run, const GridEvent *event, GridClusterThreads *cluster_threads, uint32_t rank,
                  uint32_t most);
/* Before and after what else is made of an event. */
void inside_before(GlobalCheck *run, const GridEvent *event, GridClusterThreads *cluster_threads, uint32_t rank);
void inside_after(GlobalCheck *run, const GridEvent *event, GridClusterThreads *cluster_threads, uint32_t rank);
/* An access to known bytes of an area. */
void inside_access(GlobalCheck *run, const GridEvent *event, GridClusterThreads *cluster_threads, uint32_t rank,
                   const Bytes *bytes, AccessKind kind);
/* After the last run. */
/* A read of an area that no known access writes. */
void inside_read(GlobalCheck *run, const GridEvent *event, GridClusterThreads *cluster_threads, uint32_t rank,
                 uint32_t area);
/* The same of an access of which more than its mask is not known, or nothing but its mask: then `bytes` are all that it
 * can touch. */
void inside_loose(GlobalCheck *run, const GridEvent *event, GridClusterThreads *cluster_threads, uint32_t rank,
                  UnknownAccess *unknown);
void inside_masked(GlobalCheck *run, const GridEvent *event, GridClusterThreads *cluster_threads, uint32_t rank,
                   UnknownAccess *unknown, const Bytes *bytes);
void inside_report(const GlobalCheck *run);

/* ---- tickets.c ---- */
/* How accesses depend on which CTA an atomic gave which number. */
typedef enum Tickets {
    TICKETS_SYMMETRY, /* not, or nothing else distinguishes CTAs */
    TICKETS_GUARDED,  /* whether an access is made depends on the number, and where on the program id */
    TICKETS_MIXED,    /* one value depends on both */
    TICKETS_ENDLESS,  /* the same, and a CTA gets several numbers */
} Tickets;
Tickets tickets_of(const Program *program);
enum { TICKETS_PAIRS = 16, TICKETS_MOST = 64 /* clusters of which any two, or each, get any number */ };
bool tickets_order(uint64_t count, uint64_t number, uint64_t *order);

/* ---- sampled.c ---- */
/* Keeps a race of the sampled mode for the exact run. */
void sampled_keep(GlobalCheck *run, const GsanRace *race);
/* Whether there are races that no exact run has looked at. */
bool sampled_is_open(const GlobalCheck *run);
/* The site of the access that is judged now: in the exact run one of its own, if the sampled run had a race of it. */
uint32_t sampled_site(const GlobalCheck *run, uint32_t site);
/* The check's own site for one of the engine's (engine_site); UINT32_MAX stays. */
uint32_t own_site(const GlobalCheck *run, uint32_t site);
/* Whether a race of the exact run is one of the sampled run: the same later access, and bytes of both. */
bool sampled_confirms(GlobalCheck *run, const GsanRace *race);
/* After the exact run: what it has not shown is told as something that was not followed. */
void sampled_settle(GlobalCheck *run);

/* ---- may_order.c ---- */
void grid_may_order_set_up(GlobalCheck *run);
/* A CTA begins; `most`: CTAs that a set of the cluster's threads may have. */
void grid_may_order_begin(GlobalCheck *run, GridClusterThreads *cluster_threads, uint32_t rank, uint32_t most);
void grid_may_order_note(GlobalCheck *run, const GridEvent *event, GridClusterThreads *cluster_threads, uint32_t rank);
/* Whether an op that is not known may have ordered the two. */
bool grid_may_order_race(const GlobalCheck *run, const GsanRace *race);
/* The kernel's last finding is none, since such an op was run: the verdict is incomplete for it. */
void grid_may_order_take_back(const GlobalCheck *run, size_t kernel);

/* ---- unknown.c ---- */
/* Before the first run. */
void unknown_start(GlobalCheck *run);
/* Bytes of an area are touched; UINT32_MAX: of memory that is no argument's. */
void unknown_use(GlobalCheck *run, const GridEvent *event, uint32_t area);
/* Areas, and behind them what lies in none. */
uint32_t area_slots(const GlobalCheck *run);
uint8_t use_kind(const Event *event);
/* Calls `visit` for each slot that the access may be in. */
typedef void VisitArea(GlobalCheck *run, uint32_t area, void *context);
void visit_areas(GlobalCheck *run, const UnknownAccess *unknown, VisitArea *visit, void *context);
/* An access whose bytes are not known. */
UnknownAccess *unknown_keep(GlobalCheck *run, const GridEvent *event, const char *reason);
/* The same where only the mask is not known. The engine is shown all that the access can touch; what it objects to is
 * no race then, and true is returned. */
UnknownAccess *unknown_keep_mask(GlobalCheck *run, const GridEvent *event);
bool unknown_meets(GlobalCheck *run, const GsanRace *race);
/* After the last run: what could matter makes the verdicts incomplete. */
void unknown_report(GlobalCheck *run);
/* Whether accesses of these kinds (USE_*), by several CTAs or asynchronous, can race. */
bool uses_can_race(uint8_t how);

/* ---- ways.c ---- */
/* Numbers, and a grid if it is another one, at which something that addresses are made of comes out otherwise. */
typedef struct GlobalWay {
    Launch numbers; /* its arguments alone */
    int64_t grid[3];
    bool other_grid;
} GlobalWay;
/* Those that the launch `run` does not show; `given`: what stays as it is. Returns how many, `most` at most. *open: a
 * choice that has another outcome, for which there is none; NULL: there is no such. */
size_t global_ways(Arena *arena, const Program *program, const Launch *run, const Launch *given, GlobalWay *items,
                   size_t most, const Op **open);

/* ---- flags.c ---- */
/* Runs the grid with other choices where places hang on conditions that are not known. */
void flags_run(GlobalCheck *run);

/* ---- unreached.c ---- */
/* What an access can meet. */
typedef enum Meets {
    MEETS_ANY,    /* whatever any CTA does */
    MEETS_SAME,   /* the same, but two writes are of the same value (program_is_uniform) */
    MEETS_OTHERS, /* other accesses of its partition of its CTA, by other threads */
} Meets;
/* The first access that could race and was made in no run of a whole grid; `reached` is by instruction. NULL: all were.
 */
const Op *unreached_access(const Program *program, const bool *reached, Meets meets);
/* Whether a CTA may come to the op more than once: it is in a loop, of whatever form, or in a function that is called.
 */
bool op_may_repeat(const Program *program, const Op *op);
/* Whether two accesses of one CTA could race at all. */
bool accesses_may_overlap(const Program *program);
/* Whether the place of an access of that instruction is made of data that the launch does not give. */
bool access_is_havocked(const Program *program, const Launch *launch, uint32_t pc);
/* Says so; and of accesses that were made, whether their place comes from data that is not known. `havocked`: the
 * launch of a run for which such data was chosen; NULL: there is none. */
void unreached_report(const Program *program, const bool *reached, Meets meets, const Launch *havocked,
                      Verdict *verdict);

/* ---- steps.c ---- */
/* The next moment of the run, which is kept as a step if steps are wanted. */
void step_access(GlobalCheck *run, const GridEvent *event, const Bytes *bytes);
void step_order(GlobalCheck *run, const GridEvent *event, StepKind kind, uint64_t of);
/* About the access that is judged now. */
void step_races(GlobalCheck *run, const GsanRace *race);
void step_is_wrong(GlobalCheck *run, RuleId rule);
/* After the run. */
void global_steps_write(const GlobalCheck *run, RunEnd end);

/* ---- findings.c ---- */
typedef struct Reporting {
    GridScheduleKind kind;
    uint64_t seed;
    bool communicates;
    bool hang_havoc_dependent; /* it does not hang with other data that is not known */
    const Op *havoc_dependent; /* the first op of the run whose value was made up */
    bool cancels;              /* clusters did the work of others that had not begun */
    const char *witness;
    const char **witnesses; /* one a kernel: the same, in the memory of its verdict; NULL: not computed */
} Reporting;
/* Says that something at a site could not be followed. */
void site_incomplete(const GlobalCheck *run, uint32_t site, const char *reason);
/* Adds findings for all that was found and not reported yet. */
void report_races(GlobalCheck *run, const Reporting *reporting);
void report_accesses(GlobalCheck *run, const Reporting *reporting);
void report_unfenced(GlobalCheck *run, const Reporting *reporting);
/* False: the grid hangs, but not because of what is in global memory. */
bool report_hang(GlobalCheck *run, const Reporting *reporting);
void report_forgotten_waits(GlobalCheck *run, const Reporting *reporting);
/* After the last run: of dependent launches, accesses before the wait. */
void report_early(const GlobalCheck *run);

/* To the engine a write that leaves memory as it was has a site of its own, so that it stands for no other. */
static inline uint32_t engine_site(uint32_t site, bool silent) {
    return site << 1 | silent;
}
static inline size_t site_kernel(const GlobalCheck *run, uint32_t site) {
    size_t kernel = run->count - 1;
    while (kernel && site < run->first_site[kernel])
        kernel--;
    return kernel;
}
static inline uint32_t site_pc(const GlobalCheck *run, uint32_t site) {
    return site - run->first_site[site_kernel(run, site)];
}
static inline uint32_t site_of(const GlobalCheck *run, const GridEvent *event) {
    return run->first_site[run->launch_sequence.inputs[event->launch]] + event->event->pc;
}
static inline uint32_t sleeper_site(const GlobalCheck *run, const Sleeper *sleeper) {
    return run->first_site[run->launch_sequence.inputs[sleeper->launch]] + sleeper->pc;
}
/* "CTA 3", "CTA 3 of consumer on device 1": as much as tells it apart. */
void cta_name(const GlobalCheck *run, uint32_t launch, uint32_t cta, Text *to);
/* "tt.store @41 (kernel.py:12)" */
void site_name(const GlobalCheck *run, uint32_t site, Text *to);

#endif
