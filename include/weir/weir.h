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

#define WEIR_VERSION "0.2.0"

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
/* What tells bytes from others: of an image that a program loads. */
WEIR_API uint64_t weir_hash(const void *bytes, size_t size);

/* Options are structures whose first field is their size, and zeros are the usual. A program that is to run with later
 * releases of the library, too, sets it: {.size = sizeof(weir_run_options), ...}. Fields are added at the end alone; a
 * library that is older than the header does what it is asked, or says that it cannot. 0: as the library has them. */

/* ---- Contexts and files ---------------------------------------------------------------------- */

/* NULL if there is no memory. */
WEIR_API weir_context *weir_create(void);
WEIR_API void weir_destroy(weir_context *context);
/* One sentence on why the last call that returned NULL did so. */
WEIR_API const char *weir_error(const weir_context *context);

/* A file, "-" for standard input, or a buffer, which is copied. NULL on failure. Nothing is parsed yet. */
WEIR_API weir_file *weir_open(weir_context *context, const char *path);
WEIR_API weir_file *weir_open_buffer(weir_context *context, const char *name, const char *data, size_t size);
/* The PTX of a file, also of a log that has IR in it; NULL if there is none. */
WEIR_API weir_file *weir_open_ptx(weir_context *context, const char *path);
WEIR_API void weir_close(weir_file *file);

WEIR_API const char *weir_file_name(const weir_file *file);
WEIR_API size_t weir_file_size(const weir_file *file);
/* Nonzero for a log of compiler passes (MLIR_ENABLE_DUMP). */
WEIR_API int weir_file_is_pass_log(const weir_file *file);

/* Nonzero for PTX: its text starts with .version, or its name ends so, or it has images. It is read and printed; what
 * is asked of it but lint alone (WEIR_LINT_ONLY) gives a result whose verdict is WEIR_VERDICT_ERROR. */
WEIR_API int weir_file_is_ptx(const weir_file *file);

/* Nonzero for a fatbin, and for an ELF file: an object, a library, a program, or a cubin. */
WEIR_API int weir_file_has_images(const weir_file *file);

typedef enum weir_image_kind {
    WEIR_IMAGE_PTX,
    WEIR_IMAGE_CUBIN,
    WEIR_IMAGE_OTHER,
    WEIR_IMAGE_DAMAGED, /* `problem` says what cannot be read */
} weir_image_kind;

typedef enum weir_packing {
    WEIR_PACKED_NOT,
    WEIR_PACKED_LZ4,
    WEIR_PACKED_ZSTD,
    WEIR_PACKED_OTHER, /* in a way that is not known */
} weir_packing;

typedef struct weir_image {
    weir_image_kind kind;
    weir_packing packing;
    unsigned capability; /* 90 of sm_90; 0: not said */
    size_t stored, size; /* bytes in the file, and unpacked */
    size_t module;       /* which module of the file it is, counted from 1; 0: none, it is not read */
    weir_string member;  /* of an archive: the object that it is in; empty: the file is none */
    int kept;            /* 1: PTX that ptxas kept in a cubin; `stored` is that cubin's if it is compressed */
    const char *problem; /* empty: none known before it is read */
} weir_image;
WEIR_API size_t weir_image_count(const weir_file *file);
WEIR_API weir_image weir_image_at(const weir_file *file, size_t index);

/* A file holds several modules where it has several images of PTX, where `// -----` lines part them, or where it is a
 * pass log. */
WEIR_API size_t weir_module_count(const weir_file *file);

typedef struct weir_module_info {
    weir_string header;   /* the pass log's line before it; empty if there is none */
    weir_string when;     /* "Before" or "After" */
    weir_string pass;     /* "TritonGPUPipeline" */
    weir_string argument; /* "tritongpu-pipeline" */
    uint32_t line;        /* where it starts */
    size_t size;          /* in bytes */
    size_t compilation;   /* of a pass log with several: which one, from 0 on; the modules of one follow each other */
} weir_module_info;
WEIR_API weir_module_info weir_module_info_of(weir_file *file, size_t index);

/* ---- Parsing --------------------------------------------------------------------------------- */

enum {
    WEIR_STRICT = 1, /* an op that the op table does not know is an error, not a note */
    WEIR_LOG_LATER =
        2, /* an order log is read as weir_run checks it, not once before: that says what is wrong with it */
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
WEIR_API int weir_report(const weir_file *file, const weir_module *module, int color, weir_write *write, void *to);

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

WEIR_API size_t weir_op_operand_count(const weir_op *op);
WEIR_API const weir_value *weir_op_operand(const weir_op *op, size_t index);
WEIR_API size_t weir_op_result_count(const weir_op *op);
WEIR_API const weir_value *weir_op_result(const weir_op *op, size_t index);
WEIR_API size_t weir_op_region_count(const weir_op *op);
/* An attribute's text by its name; empty data if the op has none. */
WEIR_API weir_string weir_op_attribute(const weir_op *op, const char *name);

/* Without the '%'; empty if it has none. */
WEIR_API weir_string weir_value_name(const weir_value *value);
/* As it was written; empty if it is not known. */
WEIR_API weir_string weir_value_type(const weir_value *value);
/* The op whose result it is; NULL for a block's argument. */
WEIR_API const weir_op *weir_value_definition(const weir_value *value);

/* ---- Printing -------------------------------------------------------------------------------- */

typedef enum weir_form {
    WEIR_AS_WRITTEN, /* token for token */
    WEIR_GENERIC,    /* MLIR's generic form; of PTX: from what was understood, a statement a line */
    /* What Weir makes of it (docs/running.md). */
    WEIR_EFFECTS, /* of each op: what it does to memory and to time */
    /* Of each function: pieces of straight-line code, and what leads from one to the other; of PTX with the SSA values
     * of its registers (docs/ptx.md). */
    WEIR_FLOW,
    WEIR_SLICE,   /* of each kernel: the values that a run depends on */
    WEIR_PROGRAM, /* of each kernel: what is run, in registers and jumps */
    /* Of each function of PTX: what is known of its values across the lanes of a warp (docs/ptx.md). */
    WEIR_VALUES,
} weir_form;

/* 0, or -1 if `write` stopped or there was no memory. The module must be ok. Of PTX there are no effects, slices and
 * programs, and of MLIR no values: -1. */
WEIR_API int weir_print(weir_module *module, weir_form form, weir_write *write, void *to);

/* ---- What ops do ----------------------------------------------------------------------------- */

/* Writes what an op does to memory and to time, a line for each effect, and returns how many there are; -1 if `write`
 * stopped or there was no memory. With no `write` it only counts. docs/effects.md explains the lines. */
WEIR_API int weir_effects(weir_module *module, const weir_op *op, weir_write *write, void *to);
/* Writes which partition runs the op: "default", "partition0", "task 1"; nothing if no partition is said. 0 or -1. */
WEIR_API int weir_partition(const weir_op *op, weir_write *write, void *to);

/* ---- Questions ---------------------------------------------------------------------------------- */

/* What is asked of a module gives a result. NULL only if there is no memory: an option that makes no sense, a launch
 * file that cannot be read, a module with errors or without kernels give one whose verdict is WEIR_VERDICT_ERROR. A
 * result is freed before its module. Of a module one thing is asked at a time. */
typedef struct weir_result weir_result;

WEIR_API void weir_result_free(weir_result *result);

/* The functions of the module that can be launched. */
WEIR_API size_t weir_kernel_count(weir_module *module);
/* The name of one of them; no data if there are not so many. */
WEIR_API weir_string weir_kernel_name(weir_module *module, size_t index);

/* For weir_run_options.membar. */
enum {
    WEIR_MEMBAR_FINDINGS = 1, /* findings on thread barriers, where the IR is past the stage that puts them in */
    WEIR_MEMBAR_SUMMARY = 2,  /* those, and at earlier stages a note on how many will be inserted */
};

/* For weir_run_options.lint: what the hardware does not allow is looked for, too, or nothing else is. */
enum { WEIR_LINT_ALSO = 1, WEIR_LINT_ONLY };

/* How to run. All zero, as NULL for all of it, is a good start: every kernel of the module, with launches that Weir
 * chooses. */
typedef struct weir_run_options {
    size_t size;
    const char *source_root;      /* a folder below which the kernels' own source is looked for, too; or NULL */
    const char *launch;           /* a launch file (docs/launch.md), or NULL */
    const char *const *arguments; /* "NAME=VALUE" each; they go over the launch file */
    size_t argument_count;
    const char *grid;     /* "X", "X,Y" or "X,Y,Z"; goes over the launch file; or NULL */
    int order_log;        /* nonzero: the order log of the program is looked at, too, and has what launches before do */
    int only_launch;      /* nonzero: no other launch than the one that `launch` gives */
    const char *kernel;   /* the only one to run; NULL: every one of the module */
    const char *schedule; /* "directed" (or NULL), "eager", "lazy", "round-robin", "random", "all" */
    const char *mma_order; /* how tensor-core work is ordered: "issue" (or NULL), or "waits": by waits alone */
    const char *rules;     /* "race,deadlock.lapped": findings of other rules and families do not count; or NULL */
    struct weir_project *project; /* what else counts (weir_project_create); or NULL */
    const char *replay;           /* a trail file: that run, and nothing else; or NULL */
    uint64_t seed;                /* of the first random schedule */
    uint64_t budget;              /* steps of one run, or states for "all"; 0: 4 million, 200,000 */
    unsigned schedules;           /* how many random ones; 0: 8 */
    unsigned timeout;             /* seconds for each kernel, after which its verdict is incomplete; 0: no bound */
    int global;                   /* nonzero: weir_steps tells of accesses to global memory, too, byte for byte */
    /* Races in global memory (docs/gsan.md). */
    const char *gsan;   /* "exact" (or NULL), "sampled", or "off" */
    unsigned devices;   /* on each of which every launch is made; 0: 1 */
    unsigned resident;  /* clusters of a device that are there at once; 0: all */
    unsigned granule;   /* bytes that are told apart: 1, 2, 4 or 16; 0: 1 if exact, else 4 */
    unsigned slots;     /* of "sampled": readers of a granule that are kept; 0: 4 */
    unsigned ring;      /* of "sampled": clocks that a CTA keeps for its releases; 0: 1024 */
    const char *target; /* by whose limits lint judges: "sm_90a", "gfx950"; NULL: the module's own */
    const char *triton; /* the release that lowers the IR: "3.6", "3.7.1"; NULL: what the launch file or the IR shows */
    int lint;           /* WEIR_LINT_ALSO or WEIR_LINT_ONLY; 0: legality and fences are not looked at */
    int membar;         /* WEIR_MEMBAR_FINDINGS or WEIR_MEMBAR_SUMMARY; 0: thread barriers are not looked at */
    /* Barrier reports: how a kernel synchronizes, its partitions, who signals whom, the slots and phases of every
     * barrier, shared data, deadlocks, and whether all that is overwritten was waited for (docs/report.md). */
    int report;      /* nonzero: one of each kernel; of a module without kernels one that says so. Not with `replay` */
    const char *why; /* the module was picked (weir_pick_module); NULL: it was not */
    const int64_t *buffer; /* only the buffers with that buffer.id, and the kernels that have one; NULL: all */
    /* Called now and then with what is going on; may be NULL. */
    void (*progress)(void *context, const char *kernel, const char *launch, uint64_t cluster, uint64_t clusters);
    void *progress_context;
    /* Of PTX (docs/ptx.md). */
    const char *block;   /* threads of a CTA: as `grid`; or NULL */
    const char *cluster; /* CTAs of a cluster: as `grid`; or NULL */
    const char *shared;  /* bytes of dynamic shared memory; or NULL */
    const char *values;  /* "all" (or NULL): every value is computed; "needed": those of addresses and control */
    int volatile_races;  /* nonzero: volatile accesses are not synchronization, and can race */
    const char *require; /* the least scope of a clean verdict, by its name: with less it is incomplete; or NULL */
    /* Asked now and then, by the threads that run: nonzero ends the run, and the verdict is incomplete. May be NULL. */
    int (*stop)(void *context);
    void *stop_context;
    /* Of a large recording: `take` nonzero asks for a further thread, and gets nonzero if it may be started; 0 says
     * that such a thread has ended. The verdict does not depend on it. NULL: the thread that calls is the only one. */
    int (*core)(void *context, int take);
    void *core_context;
    double core_after; /* seconds of a check before it is asked: a thread takes some time to start */
    int cross_check;   /* nonzero: proofs are held against their certificates and against runs of launches they cover */
    double prove_time; /* seconds for a proof that a kernel is clean at every launch; 0: 2, negative: none is tried */
    uint64_t memory;   /* bytes for each kernel, beyond which its verdict is incomplete; 0: no bound but Weir's own */
} weir_run_options;

/* Runs the kernels of a module on an emulator: who waits for whom, whether all finish, and what is not
 * ordered. docs/running.md tells how. */
WEIR_API weir_result *weir_run(weir_module *module, const weir_run_options *options);
/* Writes the proofs of the kernels of a module for every launch, and what is open (docs/proofs.md). Nothing is run. 0;
 * 1 if something is open; -1 if it could not be written, or something is wrong with the module or the options. */
WEIR_API int weir_prove(weir_module *module, const weir_run_options *options, weir_write *write, void *to);
/* Writes the certificate of the proofs of a module's kernels, as far as weir_verify takes them for proofs
 * (docs/proofs.md). 0; 1 if there is none of a kernel; -1 as above. */
WEIR_API int weir_certify(weir_module *module, const weir_run_options *options, weir_write *write, void *to);
/* Checks the certificate in the file `certificate` against the kernels of a module, by other means than those that
 * prove, and writes a line for each kernel. 0: it proves all; 1: it does not; 2: the file is no certificate; -1 as
 * above. */
WEIR_API int weir_verify(weir_module *module, const weir_run_options *options, const char *certificate,
                         weir_write *write, void *to);
/* A proof that a kernel is clean at every launch, whose launches can be asked whether it covers them (docs/proofs.md).
 * `kernel`: NULL if there is one alone; `seconds`: 0: 2. Goes before its module does. NULL: there is no memory. */
typedef struct weir_proof weir_proof;
WEIR_API weir_proof *weir_proof_make(weir_module *module, const char *kernel, double seconds);
WEIR_API void weir_proof_free(weir_proof *proof);
/* 0: it is not proved; 1: for one grid, or one value of an argument; 2: for every launch that fulfills what is asked.
 */
WEIR_API int weir_proof_scope(const weir_proof *proof);
/* Whether a launch is covered, as a launch file has it (docs/launch.md): 1; 0, and *lacks (or NULL) says why not, as
 * long as the proof is there; -1: it cannot be read. One thread at a time. */
WEIR_API int weir_proof_covers(weir_proof *proof, const char *launch, size_t size, const char **lacks);
/* What is wrong with a text that says what a kernel requires of its callers ("K % 64 == 0", docs/proofs.md): one
 * sentence, and at which byte; NULL: nothing is. */
WEIR_API const char *weir_requirement_problem(const char *text, size_t size, size_t *at);
/* weir_run of several modules, whose launches are made one after the other on one global memory: launch files share
 * what they give the same "buffer". `options` has one for each module. Fills `results`, one for each; 0, or -1 if
 * there is no memory (then all are NULL). */
WEIR_API int weir_run_row(weir_module *const *modules, const weir_run_options *options, size_t count,
                          weir_result **results);
/* Of recordings among these files: groups[i] is the first of those that may have run at the same time as it, or behind
 * each other with one of those between; else i. weir_run_row of such a group looks for races between them, too. 0, or
 * -1 if there is no memory. */
WEIR_API int weir_group_recordings(const char *const *paths, size_t count, size_t *groups);
/* Nonzero if the launch file names a buffer, so that its launch can share memory with others. */
WEIR_API int weir_launch_shares(const char *path);
/* Writes the name of a kernel as its source has it: "scale<float, 64>" of _Z5scaleIfLi64EEvPT_S0_, or, `whole`, what
 * c++filt says of it; of a name that no compiler of C++ has mangled itself. 0; -1 if it could not be written. */
WEIR_API int weir_demangle(weir_string name, int whole, weir_write *write, void *to);
/* Nonzero if a user who says `wanted` means this name: itself, or any form of what its source calls it. */
WEIR_API int weir_name_meant(weir_string name, const char *wanted);
/* A launch file for a kernel of the module (NULL: its only one), to be filled in: what is not known is null, and
 * "x-parameters" says what there is to know of it. 0; 1 if there is no such kernel; -1 if it could not be written. */
WEIR_API int weir_launch_template(weir_module *module, const char *kernel, weir_write *write, void *to);
/* Of a file with several modules, which one has most to report: the latest with partitions and barriers, else with
 * tasks and barriers, and so on. *why says so in a few words. */
WEIR_API size_t weir_pick_module(weir_file *file, const char **why);
/* The same of those from `first` on up to `end`, such as those of one compilation. */
WEIR_API size_t weir_pick_module_of(weir_file *file, size_t first, size_t end, const char **why);

typedef struct weir_membar_options {
    size_t size;
    const char *model;    /* "async" (or NULL), "near" or "sync" */
    const char *compare;  /* another model, to tell the difference; or NULL */
    const char *function; /* the only one to look at; NULL: every one with a body */
    const char *stage;    /* "inserted": the IR claims to have its barriers, "before": it does not; NULL: as it says */
    uint32_t line;        /* of the IR, to be explained; 0: none */
    unsigned timeout;     /* seconds for each function, after which it is incomplete; 0: no bound */
    const char *triton;   /* the release that lowers the IR, "3.6"; NULL: barriers that only some emit count as there */
} weir_membar_options;

/* Where the threads of a CTA need a barrier between accesses to shared or tensor memory, which barriers are there, and
 * which of those are needless. Nothing is run. docs/membar.md explains the models. A module without functions is no
 * error. */
WEIR_API weir_result *weir_membar(weir_module *module, const weir_membar_options *options);

/* What becomes of kernels on an AMD target: of each op, and of each wait. Nothing is run. docs/porting.md explains it.
 * `target` is "gfx942", "gfx950" or "gfx1250"; `kernel` the only one to look at, or NULL. */
WEIR_API weir_result *weir_port(weir_module *module, const char *target, const char *kernel);

/* Two kernels that have reports, compared by what their partitions do, not by names and numbers: what is not the same,
 * by level ("partitions", "channels"), the level that brings about the others first. NULL, too, if there is no such
 * kernel. It is freed before the two. */
WEIR_API weir_result *weir_compare(const weir_result *old_result, size_t old_kernel, const weir_result *new_result,
                                   size_t new_kernel);

/* ---- Projects ------------------------------------------------------------------------------------ */

/* What a project has decided about findings (docs/config.md): which rules count, how grave they are, comments in
 * kernels' own sources, a baseline of findings that are known; and what its file says of paths, launches and options.
 * It is set up by one thread; then any number may run kernels with it (weir_run_options.project). Results that were
 * made with it are freed before it. */
typedef struct weir_project weir_project;

/* NULL if there is no memory. */
WEIR_API weir_project *weir_project_create(void);
WEIR_API void weir_project_free(weir_project *project);
/* Reads a project file. NULL: the one that holds for the current folder, if there is one: weir.toml or .weir there, or
 * in a folder above it up to the repository's root. 0, or -1: weir_project_errors tells. */
WEIR_API int weir_project_read(weir_project *project, const char *path);
/* The file that was read, or NULL; and the folder that its paths are relative to. */
WEIR_API const char *weir_project_file(const weir_project *project);
WEIR_API const char *weir_project_folder(const weir_project *project);
/* What goes over the file: "select" and "ignore" (rules and families, "race,deadlock.lapped"; several calls add up),
 * "severity" ("race=note"), "source-root" (below which kernels' own sources are opened), "baseline". 0 or -1. */
WEIR_API int weir_project_set(weir_project *project, const char *key, const char *value);
/* Reads the baseline, if the project has one. `update` nonzero: it need not be there, findings are added to it, and do
 * not count; weir_project_write_baseline writes it, whole or not at all. 0 or -1. */
WEIR_API int weir_project_baseline(weir_project *project, int update);
WEIR_API int weir_project_write_baseline(weir_project *project);
/* For a person: what is wrong. 0 or -1. */
WEIR_API int weir_project_errors(const weir_project *project, unsigned flags, weir_write *write, void *to);

/* Sets `project`, and what the file says of options that are 0 or NULL. */
WEIR_API void weir_project_options(weir_project *project, weir_run_options *options);
/* Nonzero if the file says how long a kernel may take, which may be 0: forever. */
WEIR_API int weir_project_timeout(const weir_project *project, unsigned *seconds);
/* The launch file that the project has for an input; NULL: none. */
WEIR_API const char *weir_project_launch(const weir_project *project, const char *path);
/* Writes what the project says that callers of a kernel promise, a list of texts in JSON. Nonzero if it could not. */
WEIR_API int weir_project_requires(weir_project *project, const char *kernel, weir_write *write, void *to);
/* Nonzero if a file that was found in a folder is to be checked; whether the file says at all which are. */
WEIR_API int weir_project_means(const weir_project *project, const char *path);
WEIR_API int weir_project_includes(const weir_project *project);

/* Something about comments, or about the baseline: a warning where a comment is not honored, a note where it, or an
 * entry, is of no use any more. */
typedef struct weir_remark {
    weir_severity severity;
    const char *file;
    uint32_t line; /* 0: it is about the whole file */
    const char *text;
} weir_remark;
/* After all kernels: how many there are; and one of them. */
WEIR_API size_t weir_project_remarks(weir_project *project);
WEIR_API weir_remark weir_project_remark_at(const weir_project *project, size_t index);

/* ---- Results ------------------------------------------------------------------------------------- */

typedef enum weir_verdict {
    WEIR_VERDICT_CLEAN,      /* nothing wrong was found in what was run, and all that matters was looked at */
    WEIR_VERDICT_FINDINGS,   /* something is wrong, or two kernels differ */
    WEIR_VERDICT_INCOMPLETE, /* nothing wrong was found, but something that could matter was not looked at */
    WEIR_VERDICT_ERROR,      /* the input, or what was asked for, is wrong */
} weir_verdict;

/* What a clean verdict covers, the weakest first (docs/checking.md, "Scopes"). */
typedef enum weir_scope {
    WEIR_SCOPE_NONE,           /* the verdict is not clean, or no launch was run */
    WEIR_SCOPE_TRIED_LAUNCHES, /* no launch was given; those that Weir chose are clean */
    WEIR_SCOPE_GIVEN_LAUNCH,   /* the launch that was given is, in all schedules that matter */
    WEIR_SCOPE_EVERY_LAUNCH,   /* every launch is */
} weir_scope;

/* On all kernels of the module together; its scope is the weakest of theirs. */
WEIR_API weir_verdict weir_result_verdict(const weir_result *result);
WEIR_API weir_scope weir_result_scope(const weir_result *result);

/* "every-launch", "given-launch", "tried-launches", and "" of none; for people: "every launch", "this launch", "tried
 * launches". */
WEIR_API const char *weir_scope_name(weir_scope scope);
WEIR_API const char *weir_scope_words(weir_scope scope);

/* "clean", "findings", "incomplete", "error"; the exit status that stands for it: 0, 1, 3, 2; and of two inputs
 * together: error before findings before incomplete before clean. */
WEIR_API const char *weir_verdict_name(weir_verdict verdict);
WEIR_API int weir_verdict_status(weir_verdict verdict);
WEIR_API weir_verdict weir_verdict_worse(weir_verdict a, weir_verdict b);

/* How much of a kernel was run, over all launches; what no launch can come to is in none of it. */
typedef struct weir_coverage {
    size_t barrier_ops, barrier_ops_run; /* ops that synchronize */
    size_t accesses, accesses_run;       /* ops that only touch memory */
    size_t branches, branches_taken;     /* branch outcomes */
    size_t rings, rings_turned;          /* loops with a ring in them; those that went round it more than once */
    size_t launches;
    size_t covered; /* launches that were not run: a proof covers them, and their PTX is clean */
    size_t proved;  /* launches of recordings that a proof covers, too */
} weir_coverage;

/* A kernel that was looked at; of weir_membar, a function. */
typedef struct weir_kernel {
    const char *name;
    weir_verdict verdict;
    weir_scope scope;       /* weir_run */
    weir_coverage coverage; /* weir_run */
    int only_launch;        /* weir_run: nothing is said of other launches than the one that was given */
    /* weir_membar */
    int inserted;             /* nonzero: the IR claims to have its barriers */
    size_t needed, missing;   /* that are not there; and which therefore are an error */
    size_t present, needless; /* that are there */
    size_t answers;           /* ops that start on the line that was asked about */
    /* weir_port */
    size_t exact, stage_level, none, unknown; /* ops */
    size_t waits;
    /* weir_run, of a recording: it is about kernels without PTX alone (WEIR_ITEM_UNSEEN), each of whose launches is
     * ordered with those that were looked at. It is incomplete by itself, and need not count beside other kernels. */
    int aside;
    /* weir_run, of an order log: it is no kernel, but the operations of a program that ran, and what orders them. */
    int program;
} weir_kernel;

/* How many there are; none if the verdict is WEIR_VERDICT_ERROR. */
WEIR_API size_t weir_result_kernels(const weir_result *result);
WEIR_API weir_kernel weir_kernel_at(const weir_result *result, size_t index);
/* How many barrier reports there are: one a kernel, or one that says that there is none. */
WEIR_API size_t weir_report_count(const weir_result *result);

typedef enum weir_item_kind {
    WEIR_ITEM_FINDING,    /* something is wrong; or is worth a note, by its severity */
    WEIR_ITEM_INCOMPLETE, /* something that could matter was not looked at */
    WEIR_ITEM_NOTE,       /* how something was looked at */
    WEIR_ITEM_LAUNCH,     /* was run */
    WEIR_ITEM_BARRIER,    /* weir_membar: one that is needed */
    WEIR_ITEM_DIFFERENCE, /* weir_compare */
    WEIR_ITEM_UNSEEN,     /* a kernel that a program launched, and that has no PTX */
} weir_item_kind;

/* Texts that an item of its kind does not have are "", and numbers 0. */
typedef struct weir_item {
    const char *kernel;
    const char *name;       /* of a rule, "deadlock.lapped"; the kind of a barrier, "local", "tensor" or "cluster"; the
                               level of a difference, "channels" */
    const char *text;       /* what happens, why it was not looked at, the note, the launch, what differs */
    const char *why, *fix;  /* of a finding */
    const char *old_text;   /* of a difference; "": it is not there */
    const char *new_text;   /* the same */
    const char *op;         /* that it is about; a barrier goes right before it, or right after it */
    const char *file;       /* of the kernel's own source; "" and 0 if the IR does not say */
    const char *witness;    /* the text of a trail file, which `replay` runs again */
    weir_severity severity; /* of a finding */
    uint32_t line, column;  /* in that file */
    uint32_t ir_line;       /* in the IR */
    int after, missing;     /* of a barrier: it goes after the op; the IR claims to have it */
    int automatic;          /* the same: no hazard needs it, the model's rule for waits does */
    size_t conflicts;       /* the same: pairs of accesses that it parts */
    /* Of a finding: 16 hex digits by which it is known again when lines have moved or values have other numbers. Of
     * rule, kernel, file, and what the source's line says where that can be read (weir_run_options.source_root), else
     * which of the function's ops of that name it is. No two findings of a kernel have the same (docs/findings.md). */
    const char *fingerprint;
    /* Of a finding that is there, but does not count: "config" (its rule is off), "inSource" (a comment in the kernel's
     * own source) or "baseline"; and why, in words. Else "". */
    const char *suppressed, *reason;
    uint64_t times; /* of a kernel without PTX: launches */
} weir_item;

/* Those of one kind, of all kernels, in their order. */
WEIR_API size_t weir_item_count(const weir_result *result, weir_item_kind kind);
WEIR_API weir_item weir_item_at(const weir_result *result, weir_item_kind kind, size_t index);
/* Adds to a result what another run of the same module has shown at other launches: each finding once, with the
 * launches that show it. Both are of weir_run, not errors, and of neither a witness was kept yet. `more` is freed with
 * the result from then on. 0, or -1: they are not such results, and nothing has changed; or there is not enough memory,
 * and then the result is only good to be freed, with `more`. */
WEIR_API int weir_result_join(weir_result *result, weir_result *more);
/* Says under which name a finding's witness was written, for those who read the result below. The name is copied. */
WEIR_API void weir_keep_witness(weir_result *result, size_t finding, const char *path);

/* ---- Writing results ----------------------------------------------------------------------------- */

/* What of a result is written. */
typedef enum weir_subject {
    WEIR_VERDICTS,    /* of weir_run: findings (docs/findings.md) */
    WEIR_REPORTS,     /* of weir_run: barrier reports (docs/report.md) */
    WEIR_BARRIERS,    /* of weir_membar (docs/membar.md) */
    WEIR_PORTS,       /* of weir_port (docs/porting.md) */
    WEIR_DIFFERENCES, /* of weir_compare */
} weir_subject;

typedef enum weir_format {
    WEIR_TEXT,
    WEIR_JSON,     /* for programs */
    WEIR_MARKDOWN, /* reports and differences */
    WEIR_DOT,      /* reports: for Graphviz, who signals whom, in one kernel */
    WEIR_HTML,     /* reports: a page that needs nothing beside it, about one kernel */
    /* Verdicts, for continuous integration (docs/ci.md). */
    WEIR_SARIF,      /* 2.1.0, one run: for GitHub's code scanning, and editors */
    WEIR_GITHUB,     /* workflow commands: annotations in the log of a job */
    WEIR_GITLAB,     /* a code quality report */
    WEIR_JUNIT,      /* a test case for each kernel */
    WEIR_CHECKSTYLE, /* an error for each finding: for Jenkins */
} weir_format;

enum {
    WEIR_COLOR = 1,
    WEIR_LAUNCHES = 2,     /* list the launches that were run */
    WEIR_SKIP_CLEAN = 4,   /* say nothing of kernels that are clean, unless findings do not count */
    WEIR_PRUNE = 8,        /* for weir_emit */
    WEIR_SUPPRESSED = 16,  /* a line for each finding that does not count */
    WEIR_SUMMARY = 32,     /* of reports no more than fits on a screen */
    WEIR_REQUIRE_ALL = 64, /* kernels without PTX count (weir_kernel.aside) */
    WEIR_BRIEF = 128,      /* a line for each finding */
    WEIR_OPEN = 256        /* of clean kernels, what is open in the proof for every launch, and what it assumes */
};

/* The sections of a report (docs/report.md). */
typedef enum weir_section {
    WEIR_PARTITIONS = 1,
    WEIR_DEPENDENCIES = 2,
    WEIR_PHASES = 4,
    WEIR_SHARED = 8,
    WEIR_ALIASES = 16,
    WEIR_DEADLOCKS = 32,
    WEIR_COVERAGE = 64,
    WEIR_LIMITS = 128
} weir_section;

typedef struct weir_write_options {
    size_t size;
    weir_subject subject;
    weir_format format;
    unsigned flags; /* of text */
    unsigned width; /* of text; 0: lines are as long as they are */
    /* Of the formats for continuous integration: the folder that paths are relative to; NULL: the current one. */
    const char *source_root;
    /* Of JSON and SARIF, where this is one of several parts of the inputs: which one, from 1, of how many (0: it is all
     * of them), and how many inputs there are in all. weir_merge sees by them whether a part is missing. */
    unsigned shard, shards;
    size_t inputs;
    unsigned sections; /* of reports as text: bits of weir_section; 0: all */
    unsigned findings; /* of verdicts as text: at most so many of a kernel, and how many more there are; 0: all */
    /* Of JSON and SARIF, where the inputs are those of a program that ran: launches that it made, and those of them
     * that a proof covers (weir_proof_covers). 0: not known. */
    size_t launches, covered;
} weir_write_options;

/* All of a result. 0, or -1 if `write` stopped, there was no memory, there is no such format of the subject, or there
 * are several kernels and the format is for one. */
WEIR_API int weir_result_write(const weir_result *result, const weir_write_options *options, weir_write *write,
                               void *to);

/* Any number of results, written as they come: JSON is one object about all of them. NULL if there is no memory, or the
 * options are those of a newer header. The end frees it, and returns as above. An input for which there is no result,
 * since it could not be opened, is an error; text does not tell of those. */
typedef struct weir_writer weir_writer;
WEIR_API weir_writer *weir_writer_begin(const weir_write_options *options, weir_write *write, void *to);
WEIR_API void weir_writer_add(weir_writer *writer, const weir_result *result);
WEIR_API void weir_writer_error(weir_writer *writer, const char *file, const char *sentence);
WEIR_API int weir_writer_end(weir_writer *writer);
/* Of results of recordings as text: those of one kernel are put together, and written here, or at the end. */
WEIR_API void weir_writer_settle(weir_writer *writer);
/* A part of what is written about verdicts, which another thread may make: results are added to it as to the whole,
 * then it is joined, which frees it. */
WEIR_API weir_writer *weir_writer_part(const weir_write_options *options);
WEIR_API void weir_writer_join(weir_writer *writer, weir_writer *part);

/* ---- Results that are kept ------------------------------------------------------------------------ */

/* What parts of writers have about an input is kept in a folder, with what the caller adds, and is given again while
 * all files that it was made from are as they were, and Weir is the same build. Not kept is what depended on time or
 * memory, on comments that suppress findings, or on the baseline, and recordings. Threads may share a `weir_kept`. */
typedef struct weir_kept weir_kept;
typedef struct weir_kept_input {
    const char *path;
    size_t launches; /* launch files that were found beside it */
} weir_kept_input;
/* `key`: what else results depend on, such as options; the current folder and the files of the project are part of it.
 * NULL: nothing can be kept there, or by this build. Closing removes what was of no use for 30 days. */
WEIR_API weir_kept *weir_kept_open(const char *folder, const weir_project *project, const void *key, size_t size);
WEIR_API void weir_kept_close(weir_kept *kept);
/* 1: there is a result; the parts, which were empty, have it, `data` has the first `size` bytes that the caller added,
 * and `more` was given the rest, and did not return -1. */
WEIR_API int weir_kept_take(weir_kept *kept, const weir_kept_input *input, weir_writer *const *parts, size_t count,
                            void *data, size_t size, weir_write *more, void *to);
/* What this thread looks at from `begin` on is what the result depends on; `end` keeps it: 0, or -1 if it is not kept.
 * `kept` NULL: the end alone. */
WEIR_API void weir_kept_begin(void);
WEIR_API int weir_kept_end(weir_kept *kept, const weir_kept_input *input, weir_writer *const *parts, size_t count,
                           const void *data, size_t size);

/* What several writers have written, of parts of the inputs: all as JSON or all as SARIF, verdicts alone. */
typedef struct weir_merged {
    weir_verdict verdict;                       /* on all of it; if a shard is missing, incomplete at best */
    weir_scope scope;                           /* the weakest of all */
    size_t kernels[WEIR_VERDICT_ERROR + 1];     /* by verdict; of errors: inputs and modules */
    size_t scopes[WEIR_SCOPE_EVERY_LAUNCH + 1]; /* clean ones by scope */
    size_t findings, notes, suppressed;         /* that count; and that do not */
    size_t left_out;                            /* of SARIF: results beyond those that code scanning takes */
} weir_merged;
/* Writes one document of the same format: what several say of the same is in it once, SARIF has one run. 0, or -1 if a
 * file is not what was written, if they do not belong together, if there is no scope of the name `require` (else NULL),
 * or if `write` stopped; weir_error says why. After 0, too, it has a sentence if a shard is missing, and else is "". */
WEIR_API int weir_merge(weir_context *context, const char *const *paths, size_t count, const char *require,
                        weir_write *write, void *to, weir_merged *merged);

/* Order logs (.weirlog) of the processes of one program, written as one log, which is checked as a whole. 0, or -1 if a
 * file cannot be read or is no order log, or if `write` stopped; weir_error says why. */
WEIR_API int weir_merge_logs(weir_context *context, const char *const *paths, size_t count, weir_write *write,
                             void *to);

/* For a person: what is wrong with the input or the options, where the verdict is an error. 0 or -1. */
WEIR_API int weir_result_errors(const weir_result *result, unsigned flags, weir_write *write, void *to);

/* The IR of the module with what it needs, otherwise token for token. Of weir_membar: with the thread barriers
 * inserted; `flags` WEIR_PRUNE: and without the needless ones. Of weir_run: with the fewest proxy fences with which
 * none is missing in its kernels. 0; 1 if some place could not be found; -1 if it could not be written, or the verdict
 * is an error. */
WEIR_API int weir_emit(weir_result *result, unsigned flags, weir_write *write, void *to);

/* One run of weir_run, to be looked at: the one that shows its first finding; without findings, one of the launch
 * that was given, or of a chosen one. As lines for a person, or as a trace for ui.perfetto.dev. 0 or -1. */
WEIR_API int weir_steps(weir_result *result, weir_write *write, void *to);
WEIR_API int weir_trace(weir_result *result, weir_write *write, void *to);
/* Of PTX: what the memory of an argument (its number or name) or of a variable holds at the end of that run, in
 * hexadecimal; ?? where that is not known. */
WEIR_API int weir_memory(weir_result *result, const char *name, weir_write *write, void *to);
/* The same as lines, of results that weir_run_row has filled together; -1, too, if the first finding is one of a
 * single kernel, or there is none, or a verdict is an error: then weir_steps tells of each. */
WEIR_API int weir_row_steps(weir_result *const *results, size_t count, weir_write *write, void *to);
/* What the race engine knows after that step of it (UINT64_MAX: at the end), as tables (docs/running.md). -1, too, if
 * it does not watch such runs: those in which copies do not complete at once. */
WEIR_API int weir_state(weir_result *result, uint64_t step, weir_write *write, void *to);

/* The words that reports use, for a person. 0 or -1. */
WEIR_API int weir_glossary(unsigned width, weir_write *write, void *to);

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
/* The rule or family whose name is nearest to one that there is not; no data if none is near. */
WEIR_API weir_string weir_rule_near(weir_string name);
/* The name that a rule or family has now, if `name` is one that it had before; else `name`. */
WEIR_API const char *weir_rule_name(const char *name);

#ifdef __cplusplus
}
#endif

#endif
