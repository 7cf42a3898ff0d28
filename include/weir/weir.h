/* Weir's C API: read Triton GPU IR, look at it, print it, run it.
 *
 *     weir_context *weir = weir_create();
 *     weir_file *file = weir_open(weir, "kernel.ttgir");
 *     weir_module *module = file ? weir_parse(file, 0, 0) : NULL;
 *     for (const weir_op *op = weir_first_op(module); op; op = weir_next_op(op))
 *         puts(weir_op_name(op).data) ...
 *
 * Everything is behind opaque handles, and there is no state outside them: two threads may work at the same
 * time, each with a context of its own. Free what you made, in the reverse order: modules before their file, files
 * before their context. Ops and values belong to their module and are good until it is freed.
 * Strings belong to the handle they came from; those of type weir_string need not end in a zero byte. */
#ifndef WEIR_WEIR_H
#define WEIR_WEIR_H

#include <stddef.h>
#include <stdint.h>

#define WEIR_VERSION "0.1.0"

#if defined(__GNUC__)
#define WEIR_API __attribute__((visibility("default")))
#else
#define WEIR_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_context weir_context;
typedef struct weir_file weir_file;
typedef struct weir_module weir_module;
typedef struct weir_op weir_op;
typedef struct weir_value weir_value;

typedef struct weir_string {
    const char *data;
    size_t size;
} weir_string;

/* The version of the library that is linked, as opposed to WEIR_VERSION, that of this header. */
WEIR_API const char *weir_version(void);

/* ---- Contexts and files ---------------------------------------------------------------------- */

/* NULL if there is no memory. */
WEIR_API weir_context *weir_create(void);
WEIR_API void weir_destroy(weir_context *context);
/* One sentence on why the last call that returned NULL did so. */
WEIR_API const char *weir_error(const weir_context *context);

/* A file, "-" for standard input, or a buffer, which is copied. NULL on failure. Nothing is parsed yet. */
WEIR_API weir_file *weir_open(weir_context *context, const char *path);
WEIR_API weir_file *weir_open_buffer(weir_context *context, const char *name, const char *data, size_t size);
WEIR_API void weir_close(weir_file *file);

WEIR_API const char *weir_file_name(const weir_file *file);
WEIR_API size_t weir_file_size(const weir_file *file);
/* Nonzero for a log of compiler passes (MLIR_ENABLE_DUMP). */
WEIR_API int weir_file_is_pass_log(const weir_file *file);

/* A file holds several modules where `// -----` lines part them, or where it is a pass log. */
WEIR_API size_t weir_module_count(const weir_file *file);

typedef struct weir_module_info {
    weir_string header;   /* the pass log's line before it; empty if there is none */
    weir_string when;     /* "Before" or "After" */
    weir_string pass;     /* "TritonGPUPipeline" */
    weir_string argument; /* "tritongpu-pipeline" */
    uint32_t line;        /* where it starts */
    size_t size;          /* in bytes */
} weir_module_info;
WEIR_API weir_module_info weir_module_info_of(weir_file *file, size_t index);

/* ---- Parsing --------------------------------------------------------------------------------- */

enum {
    WEIR_STRICT = 1, /* an op that the op table does not know is an error, not a note */
};

/* Parses one module. NULL only if there is no memory or no such module: what is wrong with the text is in
 * the module's diagnostics. */
WEIR_API weir_module *weir_parse(weir_file *file, size_t index, unsigned flags);
WEIR_API void weir_module_free(weir_module *module);

/* Nonzero if there was no error. */
WEIR_API int weir_module_ok(const weir_module *module);
WEIR_API size_t weir_module_ops(const weir_module *module);
/* Ops that the table does not know, or not in this spelling. */
WEIR_API size_t weir_module_unknown_ops(const weir_module *module);
/* Bytes that the module takes, the file's text not counted. */
WEIR_API size_t weir_module_memory(const weir_module *module);

typedef enum weir_severity { WEIR_ERROR, WEIR_WARNING, WEIR_NOTE } weir_severity;

typedef struct weir_diagnostic {
    weir_severity severity;
    uint32_t line, column; /* from 1; a column counts bytes */
    const char *message;   /* one sentence */
    const char *excerpt;   /* the source line and a line with a caret under the place */
} weir_diagnostic;

/* In the order of the text. At most 50 errors and 50 notes are kept; weir_error_count counts them all. */
WEIR_API size_t weir_diagnostic_count(const weir_module *module);
WEIR_API weir_diagnostic weir_diagnostic_at(const weir_module *module, size_t index);
WEIR_API size_t weir_error_count(const weir_module *module);
WEIR_API size_t weir_note_count(const weir_module *module);

/* Takes a piece of text; returns nonzero to stop. */
typedef int weir_write(void *to, const char *data, size_t size);

/* Writes all of them for a person: file, line and column, the message, the source line and a caret. 0, or -1 if
 * `write` stopped or there was no memory. */
WEIR_API int weir_report(const weir_file *file, const weir_module *module, int colour, weir_write *write, void *to);

/* ---- Looking at ops -------------------------------------------------------------------------- */

/* Every op of the module, an outer one before those in its regions; NULL at the end. */
WEIR_API const weir_op *weir_first_op(const weir_module *module);
WEIR_API const weir_op *weir_next_op(const weir_op *op);
/* The op in whose region this one is; NULL at the top. */
WEIR_API const weir_op *weir_op_parent(const weir_op *op);

WEIR_API weir_string weir_op_name(const weir_op *op);
WEIR_API uint32_t weir_op_line(weir_module *module, const weir_op *op);
/* Nonzero if the op table knows the op and its spelling. */
WEIR_API int weir_op_known(const weir_op *op);
/* Nonzero for an op that the text leaves out, such as the `scf.yield` of an empty branch. */
WEIR_API int weir_op_implicit(const weir_op *op);

WEIR_API size_t weir_operand_count(const weir_op *op);
WEIR_API const weir_value *weir_operand(const weir_op *op, size_t index);
WEIR_API size_t weir_result_count(const weir_op *op);
WEIR_API const weir_value *weir_result(const weir_op *op, size_t index);
WEIR_API size_t weir_region_count(const weir_op *op);
/* An attribute's text by its name; empty data if the op has none. */
WEIR_API weir_string weir_attribute(const weir_op *op, const char *name);

/* Without the '%'; empty if it has none. */
WEIR_API weir_string weir_value_name(const weir_value *value);
/* As it was written; empty if it is not known. */
WEIR_API weir_string weir_value_type(const weir_value *value);
/* The op whose result it is; NULL for a block's argument. */
WEIR_API const weir_op *weir_value_definition(const weir_value *value);

/* ---- Printing -------------------------------------------------------------------------------- */

typedef enum weir_form {
    WEIR_AS_WRITTEN, /* token for token */
    WEIR_GENERIC,    /* MLIR's generic form */
} weir_form;

/* 0, or -1 if `write` stopped or there was no memory. The module must be ok. */
WEIR_API int weir_print(weir_module *module, weir_form form, weir_write *write, void *to);

/* ---- What ops do ----------------------------------------------------------------------------- */

/* Writes what an op does to memory and to time, a line for each effect, and returns how many there are; -1 if `write`
 * stopped or there was no memory. With no `write` it only counts. docs/effects.md explains the lines. */
WEIR_API int weir_effects(weir_module *module, const weir_op *op, weir_write *write, void *to);
/* Writes which partition runs the op: "default", "partition0", "task 1"; nothing if no partition is said. 0 or -1. */
WEIR_API int weir_partition(const weir_op *op, weir_write *write, void *to);

/* ---- Running kernels --------------------------------------------------------------------------- */

/* Kernels are run on an emulator: who waits for whom, and whether all come to their end. docs/running.md tells how. */

/* The functions of the module that can be launched. */
WEIR_API size_t weir_kernel_count(weir_module *module);

enum {
    WEIR_MEMBAR_FINDINGS = 1, /* findings on thread barriers, where the IR is past the stage that puts them in */
    WEIR_MEMBAR_SUMMARY = 2,  /* those, and at earlier stages a note on how many will be put in */
};

/* How to run. All zero, as NULL for all of it, is a good start: every kernel of the module, with launches that Weir
 * chooses. */
/* For weir_run_options.lint: what the hardware does not allow is looked for, too, or nothing else is. */
enum { WEIR_LINT_ALSO = 1, WEIR_LINT_ONLY };

typedef struct weir_run_options {
    const char *launch;           /* a launch file (docs/launch.md), or NULL */
    const char *const *arguments; /* "NAME=VALUE" each; they go over the launch file */
    size_t argument_count;
    const char *grid;      /* "X", "X,Y" or "X,Y,Z"; goes over the launch file; or NULL */
    const char *kernel;    /* the only one to run; NULL: every one of the module */
    const char *schedule;  /* "directed" (or NULL), "eager", "lazy", "round-robin", "random", "all" */
    const char *mma_order; /* how tensor-core work is ordered: "issue" (or NULL), or "waits": by waits alone */
    const char *rules;     /* "race,deadlock.lapped": findings of other rules and families are left out; or NULL */
    const char *replay;    /* a trail file: that run, and nothing else; or NULL */
    uint64_t seed;         /* of the first random schedule */
    uint64_t budget;       /* steps of one run, or states for "all"; 0: 4 million, 200,000 */
    unsigned schedules;    /* how many random ones; 0: 8 */
    int global;            /* nonzero: weir_steps tells of accesses to global memory, too, byte for byte */
    /* Races in global memory, where a launch was given (docs/gsan.md). */
    const char *gsan;   /* "exact" (or NULL), "sampled", or "off" */
    unsigned devices;   /* on each of which every launch is made; 0: 1 */
    unsigned resident;  /* clusters of a device that are there at once; 0: all */
    unsigned granule;   /* bytes that are told apart: 1, 2, 4 or 16; 0: 1 if exact, else 4 */
    unsigned slots;     /* of "sampled": readers of a granule that are kept; 0: 4 */
    unsigned ring;      /* of "sampled": clocks that a CTA keeps for its releases; 0: 1024 */
    const char *target; /* by whose limits lint judges: "sm_90a", "gfx950"; NULL: the module's own */
    int lint;           /* WEIR_LINT_ALSO or WEIR_LINT_ONLY; 0: legality and fences are not looked at */
    int membar;         /* WEIR_MEMBAR_FINDINGS or WEIR_MEMBAR_SUMMARY; 0: thread barriers are not looked at */
    /* Called now and then with what is going on; may be NULL. */
    void (*progress)(void *context, const char *kernel, const char *launch, uint64_t cluster, uint64_t clusters);
    void *progress_context;
} weir_run_options;

typedef struct weir_outcome weir_outcome;

/* Runs the kernels of a module. NULL only if there is no memory: an option that makes no sense, a launch file that
 * cannot be read, a module with errors or without kernels give an outcome whose verdict is WEIR_VERDICT_ERROR. An
 * outcome is freed before its module. A module is run by one thread at a time. */
WEIR_API weir_outcome *weir_run(weir_module *module, const weir_run_options *options);
WEIR_API void weir_outcome_free(weir_outcome *outcome);
/* The same of several modules, whose launches are made one after the other on one global memory: launch files share
 * what they give the same "buffer". `options` has one for each module. Fills `outcomes`, one for each; 0, or -1 if
 * there is no memory (then some are NULL). */
WEIR_API int weir_run_row(weir_module *const *modules, const weir_run_options *options, size_t count,
                          weir_outcome **outcomes);
/* Nonzero if the launch file names a buffer, so that its launch can share memory with others. */
WEIR_API int weir_launch_shares(const char *path);

/* Writes the IR of the outcome's module with the fewest proxy fences with which none is missing in the kernels that
 * were looked at: what is missing is put in, what is needless left out. 0; 1 if some place could not be found; -1 if it
 * could not be written, or the verdict is an error. */
WEIR_API int weir_fences_emit(weir_outcome *outcome, weir_write *write, void *to);

typedef enum weir_verdict {
    WEIR_VERDICT_CLEAN,      /* nothing wrong was found in what was run, and all that matters was looked at */
    WEIR_VERDICT_FINDINGS,   /* something is wrong */
    WEIR_VERDICT_INCOMPLETE, /* nothing wrong was found, but something that could matter was not looked at */
    WEIR_VERDICT_ERROR,      /* the input, or what was asked for, is wrong */
} weir_verdict;

/* On all kernels of the module together. */
WEIR_API weir_verdict weir_outcome_verdict(const weir_outcome *outcome);
/* How many kernels were run, and how many of them got that verdict. */
WEIR_API size_t weir_outcome_kernels(const weir_outcome *outcome);
WEIR_API size_t weir_outcome_count(const weir_outcome *outcome, weir_verdict verdict);

/* "clean", "findings", "incomplete", "error"; the exit status that stands for it: 0, 1, 3, 2; and of two inputs
 * together: error before findings before incomplete before clean. */
WEIR_API const char *weir_verdict_name(weir_verdict verdict);
WEIR_API int weir_verdict_status(weir_verdict verdict);
WEIR_API weir_verdict weir_verdict_worse(weir_verdict a, weir_verdict b);

typedef struct weir_finding {
    const char *kernel, *rule; /* "deadlock.lapped" */
    weir_severity severity;
    const char *message, *why, *fix;
    const char *file; /* of the kernel's own source; "" and 0 if the IR does not say */
    uint32_t line, column, ir_line;
    const char *witness; /* the text of a trail file, which `replay` runs again; "" if there is none */
} weir_finding;

WEIR_API size_t weir_finding_count(const weir_outcome *outcome);
WEIR_API weir_finding weir_finding_at(const weir_outcome *outcome, size_t index);
/* Says under which name the witness was written, for whoever reads the outcome below. The name is copied. */
WEIR_API void weir_finding_keep_witness(weir_outcome *outcome, size_t index, const char *path);

/* Something that could matter and was not looked at. */
typedef struct weir_incomplete {
    const char *kernel, *reason;
    const char *op; /* "" and 0 if it is about no op */
    uint32_t ir_line;
} weir_incomplete;

WEIR_API size_t weir_incomplete_count(const weir_outcome *outcome);
WEIR_API weir_incomplete weir_incomplete_at(const weir_outcome *outcome, size_t index);

enum {
    WEIR_COLOUR = 1,
    WEIR_LAUNCHES = 2,   /* list the launches that were run */
    WEIR_SKIP_CLEAN = 4, /* say nothing of kernels that are clean */
};

/* For a person: what is wrong with the input or the options, where the verdict is an error; and the verdicts. Each
 * returns 0, or -1 if `write` stopped or there was no memory. */
WEIR_API int weir_outcome_errors(const weir_outcome *outcome, unsigned flags, weir_write *write, void *to);
WEIR_API int weir_outcome_text(const weir_outcome *outcome, unsigned flags, weir_write *write, void *to);

/* For programs: one object about any number of outcomes (docs/findings.md). NULL if there is no memory. The end frees
 * it. An input for which there is no outcome, since it could not be opened, is an error. */
typedef struct weir_json weir_json;
WEIR_API weir_json *weir_json_begin(weir_write *write, void *to);
WEIR_API void weir_json_add(weir_json *json, const weir_outcome *outcome);
WEIR_API void weir_json_error(weir_json *json, const char *file, const char *sentence);
WEIR_API int weir_json_end(weir_json *json);
/* A part of such an object, which another thread may make: things are added to it as to the whole, then it is joined,
 * which frees it. */
WEIR_API weir_json *weir_json_part(void);
WEIR_API void weir_json_join(weir_json *json, weir_json *part);

/* One run of the outcome, to be looked at: the one that shows its first finding; without findings, one of the launch
 * that was given, or of a chosen one. As lines for a person, or as a trace for ui.perfetto.dev. 0 or -1. */
WEIR_API int weir_steps(weir_outcome *outcome, weir_write *write, void *to);
WEIR_API int weir_trace(weir_outcome *outcome, weir_write *write, void *to);
/* The same as lines, of outcomes that weir_run_row has filled together; -1, too, if the first finding is one of a
 * single kernel, or there is none: then weir_steps tells of each. */
WEIR_API int weir_row_steps(weir_outcome *const *outcomes, size_t count, weir_write *write, void *to);
/* What the race engine knows after that step of it (UINT64_MAX: at the end), as tables (docs/running.md). -1, too, if
 * it does not watch such runs: those in which copies do not complete at once, or of more than 16 agents. */
WEIR_API int weir_state(weir_outcome *outcome, uint64_t step, weir_write *write, void *to);

/* ---- Barrier reports ---------------------------------------------------------------------------- */

/* How a kernel synchronises: its partitions, who signals whom, the slots and phases of every barrier, shared data,
 * deadlocks, and whether all that is overwritten was waited for. docs/report.md explains the sections. */
typedef struct weir_barrier_report weir_barrier_report;

/* Runs the kernels of a module as weir_run does, with the same options (`replay` is none of them), and makes a report
 * of each. NULL only if there is no memory. A module without kernels gives one report, which says so. A report is freed
 * before its module. */
WEIR_API weir_barrier_report *weir_barrier_report_make(weir_module *module, const weir_run_options *options);
WEIR_API void weir_barrier_report_free(weir_barrier_report *report);
/* What the runs came to: the verdict, findings, what is wrong with the options. It belongs to the report. */
WEIR_API weir_outcome *weir_barrier_report_outcome(weir_barrier_report *report);
/* How many reports there are, one a kernel; none if the verdict is WEIR_VERDICT_ERROR. */
WEIR_API size_t weir_barrier_report_count(const weir_barrier_report *report);

/* Of a file with several modules, which one has most to report: the latest with partitions and barriers, else with
 * tasks and barriers, and so on. *why says so in a few words, for weir_barrier_report_explain, which adds to what a
 * report says of its module why it was chosen. */
WEIR_API size_t weir_barrier_report_module(weir_file *file, const char **why);
WEIR_API void weir_barrier_report_explain(weir_barrier_report *report, const char *why);
/* Leaves what is about the buffers with that buffer.id, and no kernel that has none. 0, or -1 if no kernel has: the
 * verdict of the outcome is an error then. */
WEIR_API int weir_barrier_report_keep_buffer(weir_barrier_report *report, int64_t id);

typedef enum weir_report_format {
    WEIR_REPORT_TEXT,
    WEIR_REPORT_MARKDOWN,
    WEIR_REPORT_JSON, /* docs/report.md */
    WEIR_REPORT_DOT,  /* for Graphviz: who signals whom, in one kernel */
    WEIR_REPORT_HTML, /* a page that needs nothing beside it, about one kernel */
} weir_report_format;

typedef struct weir_report_options {
    weir_report_format format;
    unsigned flags; /* WEIR_COLOUR, of text */
    unsigned width; /* of text; 0: lines are as long as they are */
} weir_report_options;

/* All kernels of the report. 0, or -1 if `write` stopped, there was no memory, or there are several kernels and the
 * format is for one. */
WEIR_API int weir_barrier_report_write(const weir_barrier_report *report, const weir_report_options *options,
                                       weir_write *write, void *to);

/* Any number of reports, written as they come. JSON is the object of a kernel if there is one, else an object with a
 * list of them. NULL if there is no memory. The end frees it, and returns as above. An input for which there is no
 * report, since it could not be opened, is an error; only JSON tells of those. */
typedef struct weir_reports weir_reports;
WEIR_API weir_reports *weir_reports_begin(const weir_report_options *options, weir_write *write, void *to);
WEIR_API void weir_reports_add(weir_reports *reports, const weir_barrier_report *report);
WEIR_API void weir_reports_error(weir_reports *reports, const char *file, const char *sentence);
WEIR_API int weir_reports_end(weir_reports *reports);

/* The words that reports use, for a person. 0 or -1. */
WEIR_API int weir_glossary(unsigned width, weir_write *write, void *to);

/* Two kernels compared by what their partitions do, not by names and numbers: what is not the same, by level
 * ("partitions", "channels"), the level that brings about the others first. NULL if there is no memory or no such
 * kernel. A difference is freed before the reports. */
typedef struct weir_difference weir_difference;
WEIR_API weir_difference *weir_difference_make(const weir_barrier_report *old_report, size_t old_kernel,
                                               const weir_barrier_report *new_report, size_t new_kernel);
WEIR_API void weir_difference_free(weir_difference *difference);

typedef struct weir_difference_row {
    const char *level, *what;
    const char *before, *after; /* "" if it is not there */
} weir_difference_row;

/* 0 rows: there is no difference. */
WEIR_API size_t weir_difference_count(const weir_difference *difference);
WEIR_API weir_difference_row weir_difference_at(const weir_difference *difference, size_t index);
/* As text, Markdown or JSON. 0 or -1. */
WEIR_API int weir_difference_write(const weir_difference *difference, const weir_report_options *options,
                                   weir_write *write, void *to);

/* ---- Thread barriers ----------------------------------------------------------------------------- */

/* Where the threads of a CTA need a barrier between accesses to shared or tensor memory, which barriers are there, and
 * which of those are needless. Nothing is run. docs/membar.md explains the models. */
typedef struct weir_membar weir_membar;

typedef struct weir_membar_options {
    const char *model;    /* "async" (or NULL), "near" or "sync" */
    const char *compare;  /* another model, to tell the difference; or NULL */
    const char *function; /* the only one to look at; NULL: every one with a body */
    const char *stage;    /* "inserted": the IR claims to have its barriers, "before": it does not; NULL: as it says */
    uint32_t line;        /* of the IR, to be explained; 0: none */
} weir_membar_options;

/* NULL only if there is no memory; an option that makes no sense and a module with errors give one whose verdict is
 * WEIR_VERDICT_ERROR, a module without functions one without any. It is freed before its module. */
WEIR_API weir_membar *weir_membar_make(weir_module *module, const weir_membar_options *options);
WEIR_API void weir_membar_free(weir_membar *membar);
/* Findings: a barrier is missing where the IR claims to have them all. Incomplete: not all could be looked at. */
WEIR_API weir_verdict weir_membar_verdict(const weir_membar *membar);

typedef struct weir_membar_function {
    const char *name;
    weir_verdict verdict;
    int inserted;             /* nonzero: the IR claims to have its barriers */
    size_t needed, missing;   /* that are not there; and which therefore are an error */
    size_t present, needless; /* that are there */
    size_t answers;           /* ops that start on the line that was asked about */
    const char *problem;      /* "" if all could be looked at */
} weir_membar_function;

WEIR_API size_t weir_membar_count(const weir_membar *membar);
WEIR_API weir_membar_function weir_membar_at(const weir_membar *membar, size_t index);

typedef struct weir_membar_need {
    const char *op;   /* the barrier goes right before it, or right after it */
    const char *kind; /* "local", "tensor" or "cluster" */
    int after, missing, automatic;
    const char *file; /* of the kernel's own source; "" and 0 if the IR does not say */
    uint32_t line, ir_line;
    size_t conflicts; /* pairs of accesses that it parts */
} weir_membar_need;

WEIR_API weir_membar_need weir_membar_need_at(const weir_membar *membar, size_t function, size_t index);

/* What is wrong with the input or the options, where the verdict is an error. 0 or -1. */
WEIR_API int weir_membar_errors(const weir_membar *membar, unsigned flags, weir_write *write, void *to);
/* The module with the barriers that it needs put in, otherwise token for token; `prune`: and without the needless
 * ones. 0 or -1. */
WEIR_API int weir_membar_emit(const weir_membar *membar, int prune, weir_write *write, void *to);

/* Any number of them, written as they come: as text (`flags`: WEIR_COLOUR) or as JSON (docs/membar.md). NULL if there
 * is no memory. The end frees it, and returns 0 or -1. An input that could not be opened is an error; only JSON tells
 * of those. */
typedef struct weir_membars weir_membars;
WEIR_API weir_membars *weir_membars_begin(int json, unsigned flags, weir_write *write, void *to);
WEIR_API void weir_membars_add(weir_membars *membars, const weir_membar *membar);
WEIR_API void weir_membars_error(weir_membars *membars, const char *file, const char *sentence);
WEIR_API int weir_membars_end(weir_membars *membars);

/* ---- Ports ---------------------------------------------------------------------------------------- */

/* What becomes of kernels on an AMD target: of each op, and of each wait. Nothing is run. docs/porting.md explains it.
 */
typedef struct weir_port weir_port;

/* `target` is "gfx942", "gfx950" or "gfx1250"; `kernel` the only one to look at, or NULL. NULL only if there is no
 * memory; a target that makes no sense, and a module with errors or without kernels, give one whose verdict is
 * WEIR_VERDICT_ERROR. It is freed before its module. */
WEIR_API weir_port *weir_port_make(weir_module *module, const char *target, const char *kernel);
WEIR_API void weir_port_free(weir_port *port);
/* Findings: a wait that is written for AMD covers less than its tokens need. Incomplete: not all could be looked at. */
WEIR_API weir_verdict weir_port_verdict(const weir_port *port);

typedef struct weir_port_kernel {
    const char *name;
    weir_verdict verdict;
    size_t exact, stage_level, none, unknown; /* ops */
    size_t waits;
} weir_port_kernel;

WEIR_API size_t weir_port_count(const weir_port *port);
WEIR_API weir_port_kernel weir_port_at(const weir_port *port, size_t index);
/* What is wrong with the input or the target, where the verdict is an error. 0 or -1. */
WEIR_API int weir_port_errors(const weir_port *port, unsigned flags, weir_write *write, void *to);

/* Any number of them, written as they come: as text (`flags`: WEIR_COLOUR; `width`: of its lines, 0: as long as they
 * are) or as JSON (docs/porting.md). NULL if there is no memory. The end frees it, and returns 0 or -1. An input that
 * could not be opened is an error; only JSON tells of those. */
typedef struct weir_ports weir_ports;
WEIR_API weir_ports *weir_ports_begin(int json, unsigned flags, unsigned width, weir_write *write, void *to);
WEIR_API void weir_ports_add(weir_ports *ports, const weir_port *port);
WEIR_API void weir_ports_error(weir_ports *ports, const char *file, const char *sentence);
WEIR_API int weir_ports_end(weir_ports *ports);

/* ---- The op table ---------------------------------------------------------------------------- */

typedef struct weir_table_row {
    const char *name, *operands, *attributes, *results;
    const char *const *formats;                 /* ended by NULL */
    const char *evaluate, *effects, *ptx, *amd; /* "" where the row says nothing of that */
} weir_table_row;

WEIR_API size_t weir_table_size(void);
WEIR_API weir_table_row weir_table_at(size_t index);

/* ---- The rules that findings are about --------------------------------------------------------- */

typedef struct weir_rule {
    const char *id; /* "deadlock.lapped"; stable */
    weir_severity severity;
    const char *summary; /* one line */
    const char *text;    /* Markdown: what happens, how it is decided, causes, fixes, what is not this */
} weir_rule;

WEIR_API size_t weir_rule_count(void);
WEIR_API weir_rule weir_rule_at(size_t index);
/* The first name in a list such as "race,deadlock.lapped" that is neither a rule's nor a family's; no data if all are.
 */
WEIR_API weir_string weir_rules_unknown(const char *rules);

#ifdef __cplusplus
}
#endif

#endif
