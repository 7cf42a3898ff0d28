/* What the files of the global-memory check share. */
#ifndef ANALYZE_GRID_INTERNAL_H
#define ANALYZE_GRID_INTERNAL_H

#include "analyze/grid/check.h"
#include "emulate/access.h"
#include "emulate/grid.h"

/* An asynchronous access that nobody has waited for. */
typedef struct Pending {
    uint64_t access;                 /* its number in the run */
    uint32_t ticket, agent, pc, age; /* age: groups committed since, its own included; 0: not committed */
    uint32_t barrier;                /* on which it reports; UINT32_MAX: on none yet */
    uint16_t cta;                    /* of the cluster */
    uint8_t group;                   /* GroupKind; GROUP_NONE: it reports on a barrier */
    bool delivered, writes;
} Pending;

/* A cluster that has begun. */
typedef struct Crew {
    uint32_t *threads; /* one a CTA */
    bool *waited;      /* for the launches before, one a CTA */
    Pending *pending;
    uint32_t count, capacity;
    struct Crew *next; /* unused ones */
} Crew;

typedef struct LaunchState {
    Crew **crews; /* by cluster; NULL: not there */
    uint32_t ctas;
    bool dependent;   /* it must wait for others by itself */
    bool forgot_wait; /* some CTA ended without having done so */
} LaunchState;

/* The same two places, or the same place outside of its tensor, are told once. */
typedef struct FoundRace {
    GsanRace race; /* its sites are the check's own */
    uint64_t times;
    bool silent; /* the later one is a write that leaves memory as it was */
    bool told;   /* as a finding */
} FoundRace;

/* What the sampled mode knows of a race: the later access alone. */
typedef struct SampledRace {
    uint64_t access; /* its number in the run */
    uint64_t begin, end;
    uint32_t site;
    GsanKind kind, earlier;
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

/* Something about one access: out of bounds, not written, not known. */
typedef struct FoundAccess {
    RuleId rule;
    uint32_t site, launch, cta;
    int64_t begin, end; /* the bytes of the run of them that shows it */
    int64_t from, to;   /* of these, what is wrong */
    GsanKind kind;
    bool told;
} FoundAccess;

struct GlobalCheck {
    Arena *arena;
    const GlobalKernel *kernels;
    size_t count;
    const GlobalOptions *options;
    const Program **programs;
    uint32_t *first_site; /* of each kernel; a site is that and the instruction */
    uint32_t site_count;
    const char **launch_texts;
    Scene scene;
    Grid *grid;
    bool has_loads, hangs;
    bool partly; /* the grid is too large, and only its first clusters are run */
    /* one run */
    Gsan *gsan;
    LaunchState *launches;
    Crew *unused;
    Arena scratch;     /* the runs of one access */
    uint64_t moments;  /* accesses, and what orders them */
    uint64_t access;   /* the number of the one that the engine judges */
    bool completing;   /* it does so because the access is over */
    bool confirming;   /* an exact run, to tell what a sampled one found */
    GlobalStep *steps; /* if they are wanted: the first moments, from number 1 on */
    uint32_t step_count, step_capacity;
    RunEnd end;
    /* what was found, in all runs */
    FoundRace races[MOST_FOUND];
    uint32_t race_count;
    SampledRace sampled[MOST_FOUND];
    uint32_t sampled_count;
    FoundAccess accesses_found[MOST_FOUND];
    uint32_t access_count;
    /* By area: what was done to it in a run (1 read, 2 written), and whether some run has written it: plain reads of
     * other areas cannot race, and the engine need not see them. */
    uint8_t *touched;
    bool *written;
    bool *loud;          /* by site: some write there has changed memory */
    const char *unknown; /* why the bytes of an access are not known; the first one */
    uint32_t unknown_site;
    uint64_t unknown_times;
};

/* ---- watch.c ---- */
/* Before a run: a new engine with all launches; false: *problem says why. */
bool global_watch_start(GlobalCheck *run, const char **problem);
void global_watch_observe(void *run, const GridEvent *event);
void global_watch_end(GlobalCheck *run);

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
typedef struct Telling {
    GridScheduleKind kind;
    uint64_t seed;
    bool communicates;
    const char *witness;
    const char **witnesses; /* one a kernel: the same, in the memory of its verdict; NULL: nobody has asked */
} Telling;
/* Says that something at a site could not be followed. */
void site_incomplete(const GlobalCheck *run, uint32_t site, const char *reason);
/* Adds findings for all that was found and not told yet. */
void tell_races(GlobalCheck *run, const Telling *telling);
void tell_accesses(GlobalCheck *run, const Telling *telling);
/* False: the grid hangs, but not because of what is in global memory. */
bool tell_hang(GlobalCheck *run, const Telling *telling);
void tell_forgotten_waits(GlobalCheck *run, const Telling *telling);

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
    return run->first_site[run->scene.inputs[event->launch]] + event->event->pc;
}
static inline uint32_t sleeper_site(const GlobalCheck *run, const Sleeper *sleeper) {
    return run->first_site[run->scene.inputs[sleeper->launch]] + sleeper->pc;
}
/* "CTA 3", "CTA 3 of consumer on device 1": as much as tells it apart. */
void cta_name(const GlobalCheck *run, uint32_t launch, uint32_t cta, Text *to);
/* "tt.store @41 (kernel.py:12)" */
void site_name(const GlobalCheck *run, uint32_t site, Text *to);

#endif
