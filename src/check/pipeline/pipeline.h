/* From a question about a module to its result: which functions and launches are meant, and what is done to each of
 * them, step by step. pipeline.c has the page to read first: what `weir check` does to a kernel.
 *
 * The top room of this floor: it may use all others, and none uses it. */
#ifndef CHECK_PIPELINE_PIPELINE_H
#define CHECK_PIPELINE_PIPELINE_H

#include "check/membar/report.h"
#include "check/program/check.h"
#include "check/replay/together.h"
#include "check/simt/check.h"
#include "check/tile/grid/check.h"
#include "finding/difference.h"
#include "finding/port.h"
#include "finding/report.h"
#include "model/target/release.h"
#include "model/target/target.h"
#include "ptx/ptx.h"
#include "render/trace.h"

/* What is asked of the kernels of a module. Texts outlive the result, but for the names of files. */
typedef struct Question {
    const char *kernel;           /* the only one to run; NULL: every one */
    const char *launch, *trail;   /* files, or NULL; a trail is that run, and nothing else */
    const PtxLaunch *placed;      /* of PTX, instead of a file: with memory that is there; or NULL */
    PtxProgram *prepared;         /* its kernel (check/simt/check.h); or NULL */
    const char *const *arguments; /* "NAME=VALUE" each; they go over the launch file */
    size_t argument_count;
    const char *grid;                     /* the same; or NULL */
    const char *block, *cluster, *shared; /* of PTX, the same */
    PtxComputes computes;                 /* of PTX */
    bool volatile_races;                  /* of PTX */
    const char *rules;                    /* whose findings count; NULL: all */
    const char *root;                     /* a folder below which the kernels' own source lies; NULL: none is known */
    struct Project *project;              /* what else is said of findings; or NULL */
    CheckOptions runs;                    /* without a launch */
    bool only_launch;                     /* no other than the one of the file */
    VerdictScope required;                /* of a clean verdict; a weaker one is incomplete */
    bool cross_check;                     /* proofs are held against certificates and runs */
    double prove_seconds;                 /* for a proof of each kernel for every launch; 0: none is tried */
    unsigned timeout;                     /* seconds for each kernel; 0: no bound */
    uint64_t memory;                      /* bytes for each kernel; 0: no bound but the analyses' own */
    int (*stop)(void *context);           /* whether it has to end now; or NULL */
    void *stop_context;
    int (*core)(void *context, int take); /* for another thread; or NULL */
    void *core_context;
    double core_after; /* seconds */
    bool global;       /* races in global memory are looked for: */
    GlobalOptions global_options;
    bool shows_global;           /* of one run, accesses to global memory are told, too */
    bool lint, lint_only;        /* what the hardware does not allow, too, or that alone */
    const Target *target;        /* by which lint judges; NULL: the module's own */
    ReleaseSet releases;         /* of Triton that lower the IR; 0: those that the launch file says, or the IR shows */
    bool membar, membar_summary; /* thread barriers; and a note on those that will be inserted */
    bool report;                 /* a barrier report of each kernel: */
    const char *module;          /* which module that is about, in words */
    const int64_t *buffer;       /* the buffer.id that it is about; NULL: every one */
    /* Called now and then with what is going on; may be NULL. */
    void (*progress)(void *context, const char *kernel, const char *launch, uint64_t cluster, uint64_t clusters);
    void *progress_context;
} Question;

struct Row;

/* What became of it. Where the verdict is an error, there are no functions. */
typedef struct PipelineResult {
    Module *module;
    PtxModule *ptx;        /* what was asked about is PTX, and `module` has nothing but its text; NULL: it is none */
    Recording *recording;  /* of a run of it, which alone is looked at; NULL: there is none */
    Arena *recorded;       /* ... what it has in memory */
    Source *program; /* an order log, or launches that were checked, which alone is looked at; NULL: there is none */
    /* ... finds out, of recordings that are not looked for yet, what their launches touch; or NULL */
    bool (*find_recordings)(struct PipelineResult *result, ProgramRecordings *recordings);
    TogetherKind together; /* ... and whether those that may have run at the same time were looked at with it */
    Arena arena;
    VerdictKind kind;
    const char *problem;     /* one sentence on what is wrong with what was asked for; "" if nothing is */
    Source *source;          /* the launch file or trail; NULL if none was read */
    Diagnostics diagnostics; /* about that */
    const Op **functions;    /* that were looked at; what follows has one for each, if it was asked for */
    uint32_t *entries;       /* of PTX, in their place */
    size_t count;
    /* Kernels that were run. */
    Question question;
    Launch *launch; /* from a file; NULL if none was given */
    ChosenLaunches *chosen;
    TrailFile *trail;
    ThreadsTrail *threads_trail; /* of PTX, in its place */
    Verdict *verdicts;
    struct Row **rows; /* while they are run: launches on one memory that the kernel is one of (NULL: it is in none) */
    size_t *places;    /* and its number there */
    /* Barrier reports, or one that says that there is no kernel; and a picture of a run of each. */
    Report *reports;
    Trace *traces;
    size_t report_count;
    /* Thread barriers: of a function that took too much memory there is no result. */
    const MembarResult **membars;
    MembarReport *membar_reports;
    PortReport *ports;
    const Difference *difference; /* of two kernels; NULL: none was asked for */
} PipelineResult;

/* ---- result.c ---- */
void result_init(PipelineResult *result, Module *module);
/* Sets what is wrong with what was asked for. Returns false. */
bool result_fail(PipelineResult *result, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Calls `work` with all memory of the result and of its module bounded; false if it needs more. */
typedef void Task(void *context);
bool result_attempt(PipelineResult *result, Task *work, void *context);
/* The same of several results, and of one arena more (NULL: none). */
bool results_attempt(PipelineResult *const *results, size_t count, Arena *arena, Task *work, void *context);
/* What is wrong makes it an error. */
void result_close(PipelineResult *result);
void result_free(PipelineResult *result);

/* ---- question.c ---- */
/* Finds the kernels and the launch, or the trail, that are meant. False: something is wrong with them. */
bool result_ask(PipelineResult *result, const Question *question);

/* ---- steps.c ---- */
/* Of a recording, what its launch touches; the text has the kernel. False: it does not tell. */
bool result_touches(PipelineResult *result, ProgramRecording *recording, Arena *arena);

/* ---- processes.c ---- */
/* Of recordings of several processes, sorted by when they were launched: what they do if they run at the same time; no
 * steps: that could not be told. */
void results_steps(PipelineResult *const *results, ProgramRecording *const *items, size_t count, Arena *arena);

/* ---- pipeline.c ---- */
/* Checks the kernels, and closes the result. */
void result_check(PipelineResult *result);

/* ---- row.c ---- */
/* The same of several results, whose launches are made one after the other on one global memory. */
void results_check(PipelineResult *const *results, size_t count);

/* ---- functions.c: what is asked without a run ---- */
typedef struct MembarRequest {
    MembarModel model, other;
    bool compares;       /* with `other` */
    ReleaseSet releases; /* of Triton that lower the IR; 0: not named */
    MembarStage stage;
    uint32_t line;        /* of the IR, to be explained; 0: none */
    unsigned timeout;     /* seconds for each function; 0: no bound */
    const char *function; /* the only one to look at; NULL: every one with a body */
} MembarRequest;
/* Thread barriers of functions; what becomes of kernels on an AMD target; both close the result. */
void result_membar(PipelineResult *result, const MembarRequest *request);
void result_port(PipelineResult *result, const Target *target, const char *kernel);
/* The IR with what thread barriers, or proxy fences, it needs. False: some place could not be found. */
bool result_emit(PipelineResult *result, bool prune, Text *to);

/* ---- prove.c ---- */
/* The proof of each kernel, for people; closes the result. False: something is open. */
bool result_prove(PipelineResult *result, Text *to);
/* The certificate of the proofs; closes the result. False: a kernel is not proved. */
bool result_certify(PipelineResult *result, Text *to);
/* Whether a certificate proves the kernels, a line for each; closes the result. 0: it does; 1: it does not; 2: it is
 * none. */
int result_verify(PipelineResult *result, const char *name, Str certificate, Text *to);

/* ---- show.c ---- */
/* What a module is made into, on the way to being run: each stage for people, function by function. */
typedef enum Stage { STAGE_EFFECTS, STAGE_FLOW, STAGE_SLICE, STAGE_PROGRAM } Stage;
/* False: it takes more memory than it may. */
bool stage_print(Module *module, Stage stage, Text *to);

typedef enum ShowWhat { SHOW_STEPS, SHOW_TRACE, SHOW_STATE } ShowWhat;
/* One run, to be looked at: the one that shows the first finding; without findings, one of the launch that was given,
 * or of a chosen one. `step`: after which the state is shown. False: there is none. */
bool result_show(PipelineResult *result, ShowWhat what, uint64_t step, Text *to);
/* Of PTX: what the memory of that name holds at the end of such a run. False: there is none. */
bool result_show_memory(PipelineResult *result, const char *name, Text *to);
/* Tells, step by step, what the kernels of the results do to global memory in the run that shows the first finding, or
 * in that of a trail; false if that is a run of a single cluster, or there is none. */
bool results_show_row(PipelineResult *const *results, size_t count, Text *to);

#endif
