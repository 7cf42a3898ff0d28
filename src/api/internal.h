/* What the handles of the public API hold, and how its files write. */
#ifndef API_INTERNAL_H
#define API_INTERNAL_H

#include "analyze/grid/check.h"
#include "analyze/lint/lint.h"
#include "analyze/run/trail.h"
#include "finding/report.h"
#include "mlir/reader.h"
#include "render/trace.h"
#include "weir/weir.h"

struct weir_context {
    char error[256];
};

struct weir_file {
    weir_context *context;
    Source *source;
    Units units;
};

struct weir_module {
    Module module;
    Diagnostics diagnostics;
    bool ok;
    size_t number;  /* among the modules of its file, from 1; 0 if it is the only one */
    Str when, pass; /* of a pass log: as in weir_module_info */
};

/* Kernels that share one global memory, and what was found when they ran on it. */
typedef struct Row {
    Arena arena;
    GlobalKernel *kernels;
    size_t kernel_count;
    GlobalOptions options;
    GlobalCheck *check;
} Row;

struct weir_outcome {
    weir_module *module;
    Arena arena;
    VerdictKind kind;
    const char *problem;     /* one sentence on what is wrong with what was asked for; "" if nothing is */
    Source *source;          /* the launch file or trail; NULL if none was read */
    Diagnostics diagnostics; /* about that */
    const Op **kernels;      /* that were run, and what about them */
    Verdict *verdicts;
    size_t kernel_count;
    const char **witness_files; /* one a finding, in the order of the kernels; NULL where there is none */
    /* How they were run. */
    CheckOptions options; /* without a launch */
    const char *const *arguments;
    size_t argument_count;
    const char *grid;
    const char *rules; /* whose findings are kept; NULL: all */
    Launch *launch;    /* from a file; NULL if none was given */
    TrailFile *trail;
    bool global; /* weir_steps tells of global memory, too */
    /* Races in global memory: how they are looked for; and while kernels are run, for each the row that it is in (NULL:
     * it is in none) and its number there. */
    bool looks_at_global;
    GlobalOptions global_options;
    Row **rows;
    size_t *places;
    int membar;           /* as in weir_run_options */
    int lint;             /* the same */
    const Target *target; /* by which lint judges; NULL: the module's own */
    /* For a barrier report: one a kernel, or one that says that there is none; and a picture of a run of each. */
    bool reporting;
    Report *reports;
    Trace *traces;
    size_t report_count;
};

struct weir_barrier_report {
    weir_outcome *outcome;
};

/* ---- attempt.c ---- */
/* Calls `work` with the memory of the module and the arena bounded; false if it needs more. */
typedef void Task(void *context);
bool attempt(weir_module *module, Arena *arena, Task *work, void *context);
/* "@a, @b" */
void list_functions(const Op *const *functions, size_t count, Text *to);

/* ---- run.c ---- */
/* As weir_run; `reporting`: with barrier reports. */
weir_outcome *outcome_make(weir_module *module, const weir_run_options *options, bool reporting);
/* Sets what is wrong with what was asked for. Returns false. */
bool outcome_fail(weir_outcome *outcome, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Calls `work` with all memory of the outcome bounded; false if it needs more. */
typedef void Work(weir_outcome *outcome, void *context);
bool outcome_attempt(weir_outcome *outcome, Work *work, void *context);
/* The launch to look at, where none goes wrong: the one that was given, or one of those that are chosen. */
const Launch *outcome_launch(weir_outcome *outcome, size_t kernel);
/* The launch that was given for a kernel; NULL if none was, or for another kernel. */
const Launch *outcome_given_launch(const weir_outcome *outcome, size_t kernel);
/* How much an arena may grow beyond its budget, to say that it is used up. */
enum { LAST_WORDS = 64 << 10 };

/* ---- row.c ---- */
/* Runs kernels of these outcomes in a row, on one global memory: of each outcome kernel `first` and those after it,
 * `most` at most. What it finds goes to their verdicts. */
void row_run(Row *row, weir_outcome *const *outcomes, size_t count, size_t first, size_t most);
void row_free(Row *row);
/* Tells, step by step, what the kernels of the outcomes do to global memory in the run that shows the first finding, or
 * in that of a trail; false if that is a run of a single cluster, or there is none. */
bool row_show(weir_outcome *const *outcomes, size_t count, Text *to);

/* ---- membar.c ---- */
/* Adds what there is to say of a kernel's thread barriers to its verdict. Both arenas must be able to jump. */
void outcome_membar(weir_outcome *outcome, size_t kernel, bool summary);

/* ---- outcome.c ---- */
/* One sentence on what is wrong, where the verdict is an error. */
void outcome_problem(const weir_outcome *outcome, Text *to);

/* ---- report.c ---- */
/* A report that says nothing yet, about a verdict. */
Report report_blank(const Verdict *verdict);

/* ---- weir.c ---- */
/* A caller's function as the end of a Text: `Text out = {.sink = sink_pass, .to = &sink}`. */
typedef struct Sink {
    weir_write *write;
    void *to;
} Sink;

bool sink_pass(void *sink, const char *data, size_t size);
/* Empties the buffer and frees it; 0, or -1 if not all went well. */
int sink_finish(Text *out);
/* Diagnostics for a person; 50 of each kind at most, and how many more there are. */
void report_diagnostics(const Diagnostics *diagnostics, const char *file, bool colour, Text *to);
/* The same for one sentence about a file. */
void report_sentence(const char *file, const char *sentence, bool colour, Text *to);
/* The first error of them, on one line; false if there is none. */
bool first_error(const Diagnostics *diagnostics, const char *file, Text *to);

#endif
