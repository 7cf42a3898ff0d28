/* What the commands share. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "cli/options.h"
#include "weir/weir.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Exit statuses; those of a verdict are weir_verdict_status. */
enum { STATUS_OK = 0, STATUS_ERROR = 2 };

/* One function a command; each returns the exit status. */
int command_parse(Options *options);
int command_check(Options *options);
int command_exec(Options *options);
int command_run(Options *options);
int command_report(Options *options);
int command_membar(Options *options);
int command_prove(Options *options);
int command_lint(Options *options);
int command_merge(Options *options);
int command_launch(Options *options);
int command_instrument(Options *options);
int command_nvcc(Options *options);
int command_rules(Options *options);
int command_help(Options *options);

/* ---- inputs.c: files, folders and modules ---- */
/* Adds a file as it is, a folder as every .ttgir and .mlir below it, in the order of their names. What cannot be looked
 * at does not keep the rest from it. False if there is no memory. */
bool paths_add(Paths *paths, Failures *unread, const char *path);
/* Adds a text as it is; false if there is no memory. */
bool paths_append(Paths *paths, const char *text);
void paths_free(Paths *paths);
/* Whether --module `wanted` (NULL: all), a number from 1 or the name of a pass, picks that module of the file. */
bool module_picked(weir_file *file, size_t index, const char *wanted);

/* A program that runs while its recordings are checked. */
typedef struct Early {
    const char *folder; /* into which they are written */
    int ended;          /* a byte comes when the program has ended; its end, when nothing is to be checked */
} Early;
/* As command_check, of all recordings of the folder. Those that no other launch can have to be checked together with,
 * as the log says (`over NAME`), are checked while the program runs, at low priority and on all cores but one. */
int check_while(Options *options, const Early *early);
size_t workers_wanted(const Options *options);
/* While a program runs: all cores but one, and no more memory than half of what there is, which the program needs. */
size_t workers_early(const Options *options);

/* ---- exec.c, record.c, ptxas.c: programs whose kernels are captured or recorded ---- */
/* How the name of a recording ends (trace/file.h). */
#define RECORDINGS_END ".weirrec"
#define ORDER_LOGS_END ".weirlog"
#define LAUNCHES_END   ".weirchecks"
/* Order logs of the processes of a program become one, at that path (NULL: standard output). */
bool merge_logs(const Paths *files, const char *to);
/* What processes have said of what they recorded. */
typedef struct Recorded {
    size_t begun, ended; /* processes that used a GPU; those that have said all */
    uint64_t kernels, launches, recorded, repeated, excluded;
    uint64_t libraries;  /* launches of kernels that have no PTX */
    int failed;          /* the CUDA error of a launch whose records are not there; 0: none */
    char *failed_kernel; /* NULL: it is not known */
} Recorded;
/* A number of bytes, which may end in K, M or G; false if it is none. */
bool bytes_read(const char *text, uint64_t *bytes);
/* Whether there is a GPU of NVIDIA. */
bool has_gpu(void);
/* A file beside the command, or where libraries are installed. */
bool find_beside(char *path, size_t size, const char *name);
/* standin.c: what stands in for CUDA's libraries without a GPU, by their names, in a folder there; NULL: it is not
 * there. */
char *standin_make(const char *scratch);
/* places.c: places in machine code that order logs of a folder have become lines of sources. */
void places_resolve(const char *folder);
/* Whether the program has the CUDA runtime of NVIDIA linked in: then it says what to do. `linked_in`: the program, or
 * one that it has started, that turned out to; NULL: none has. */
bool standin_say(const char *program, const char *linked_in);
/* A sentence on a library that asked for what the CUDA runtime of NVIDIA needs, if it is that, or has it and kernels in
 * it; NULL: it goes on without. */
char *standin_refused(const char *library);
/* The library that goes into programs; false if it is not there. */
bool find_library(char *path, size_t size);
/* Python looks into Weir's folder first. */
bool set_python(void);
/* Whether the options mean mode record, on this machine. */
bool record_wanted(const Options *options);
/* A folder for what is kept of a run, below another one; NULL, with a message. */
char *record_folder(const char *scratch);
/* Sets what a program is started with; false, with a message. */
bool record_environment(const Options *options, const char *folder, const char *scratch);
/* Takes a line of the log; false: it is about something else. */
bool recorded_line(Recorded *recorded, const char *word, const char *rest);
/* Why no kernel can be recorded here: there is no CUDA driver, or it is too old. NULL: neither is known. */
const char *driver_trouble(void);
void recorded_say(const Recorded *recorded, size_t files, const Options *options);
/* Of a launch that failed: says which command finds out why (again.c); or sets what the program is started with again
 * for that. */
void again_say(const Recorded *recorded, const Options *options);
bool again_environment(const Recorded *recorded);
/* Sets the environment for records in host memory. */
bool record_on_host(void);
/* Whether this command was started as Triton's ptxas; then what it does as that: its status. */
bool is_ptxas(const char *name);
int run_ptxas(int count, char **arguments);

/* ---- project.c: what a project file says, and the options that go over it ---- */
/* Makes the project of a command that takes one, and sets what its file says of other options. Ends the program, with a
 * message, if something is wrong. */
void project_open(Options *options);
/* Of the inputs from the first on, leaves out those that the project file does. */
void project_filter(Options *options, size_t first);
/* At the end: writes the baseline, if all went well, and says what is to be said of comments and entries. False, with a
 * message, if it could not be written. */
bool project_close(const Options *options, bool good);

/* ---- shard.c ---- */
/* Leaves of the inputs those that --shard means; ends the program, with a message, if it means none. */
void shard_inputs(Options *options);

/* ---- port.c ---- */
/* `weir lint --port TARGET`. */
int port_kernels(Options *options);

/* ---- output.c: where results go ---- */
/* Standard output, or a file that appears under its name only when it is complete. */
typedef struct Output Output;
Output *output_open(const char *path); /* NULL for standard output; NULL, with a message, on failure */
int output_write(void *output, const char *data, size_t size);
void output_printf(Output *output, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Keeps the file if `keep`, else removes it. False, with a message, if not everything could be written. */
bool output_close(Output *output, bool keep);
/* A file, or a folder with such files alone, that a signal which ends this process removes, until it is forgotten. */
void temporary_note(const char *path);
void temporary_forget(const char *path);

/* ---- nvcc.c: CUDA sources ---- */
bool is_cuda_source(const char *path);
/* An input as weir_open has it; of a CUDA source the PTX that nvcc makes of it, under the name that it would have beside
 * it. `said`: what nvcc wrote; `why`: why there is none. Both are to be freed, and may be NULL. */
weir_file *input_open(weir_context *weir, const Options *options, const char *path, char **said, char **why);

/* Whether what goes to that stream, or to the file that was named instead of it, is colored. */
bool color_wanted(const Options *options, int fd, const char *path);

/* How many columns of text fit: those of the terminal, or 80 where it is none. */
unsigned output_width(const char *path);

/* ---- tally.c: how often texts came up ---- */
typedef struct Count {
    char *text;
    size_t times;
} Count;
typedef struct Tally {
    Count *items;
    size_t count, capacity;
} Tally;
void tally_add(Tally *tally, weir_string text, size_t times);
/* A line for each, most often first, or for so many of them (0: all); nothing is added after that. */
void tally_print(Tally *tally, Output *output, size_t most);
void tally_free(Tally *tally);

/* ---- verdicts.c: what is said of results, and what they come to ---- */
/* Which module of one compilation of a pass log is meant, where none was named; *why says so, in a few words. */
typedef size_t PickModule(weir_file *file, size_t first, size_t end, const char **why);

/* Where it goes, and what was said so far. */
typedef struct Reporter {
    const Options *options;
    weir_write_options how;
    weir_writer *writer; /* NULL: nothing is written */
    weir_write_options also_how;
    weir_writer *also; /* of --also; NULL: it was not given */
    weir_write *write_error;
    void *error_to;
    const char *doing;          /* what is done with a module: "run" */
    PickModule *pick;           /* NULL: the last with a kernel */
    const char *witness_prefix; /* of the names of witness files; "" if there is none */
    size_t witnesses;           /* written */
    weir_verdict verdict;
    size_t kept; /* inputs whose results were kept */
    size_t kernels;
    size_t programs[WEIR_VERDICT_ERROR];        /* whose operations were looked at, by verdict */
    size_t counts[WEIR_VERDICT_ERROR + 1];      /* kernels by verdict; of errors: inputs and modules */
    size_t scopes[WEIR_SCOPE_EVERY_LAUNCH + 1]; /* clean ones by scope */
    size_t *rules;                              /* findings by rule; NULL: not counted, and neither are reasons */
    size_t severities[WEIR_NOTE + 1];           /* findings by severity; counted with the rules */
    size_t suppressed, baselined, ignored;      /* findings that do not count */
    Tally reasons;                              /* why something is incomplete */
    size_t aside;                               /* recordings of kernels without PTX that need not count; then: */
    Tally unseen;                               /* these kernels, by launches */
    weir_coverage coverage;                     /* of all kernels */
    bool all_launches;                          /* that lie beside a file are meant, and not only the first; then: */
    weir_result *held;                          /* what those so far have shown of a module */
    bool kernel_found;                          /* the one that was asked for */
} Reporter;

/* Of what goes to standard output, or to the file that was named; colors if that is a terminal. */
Reporter reporter_start(const Options *options, weir_write *write_error, void *error_to);
void reporter_free(Reporter *reporter);
/* From now on findings are counted by rule; false: there is no memory. */
bool reporter_count(Reporter *reporter);
/* Says why an input cannot be looked at. */
void report_failure(Reporter *reporter, const char *path, const char *sentence);
/* The same of what was found to be so when the inputs were looked for. */
void report_unread(Reporter *reporter);
/* At the end: says so if no input has the kernel that was asked for. */
void report_passed_over(Reporter *reporter);
/* What is wrong, witness files, and the count of it; false if a file could not be written. */
bool report_verdict(Reporter *reporter, weir_result *result);
/* All there is to say of a result, which is freed; NULL: there was no memory for it. With all_launches, when the last
 * launch of its module is done. */
void report_result(Reporter *reporter, const char *path, weir_result *result);
/* Calls `work` with each module of the file that is meant, and how to run it; tells what is wrong with the file. */
typedef void ModuleWork(void *context, const char *path, weir_module *module, const weir_run_options *options);
void report_modules(Reporter *reporter, weir_context *weir, const char *path, ModuleWork *work, void *context);
/* K.launch.json beside K.ttgir, or K.launch.2.json and so on; NULL if there is none. To be freed. */
char *launch_beside(const char *path, unsigned number);
/* A weir_write for a FILE. */
int stream_write(void *stream, const char *data, size_t size);

/* ---- kept.c: results of inputs that have not changed ---- */
/* NULL: results are not kept. `how` and `also_how` are those of all parts; NULL: nothing is written so. */
weir_kept *kept_open(const Options *options, const weir_write_options *how, const weir_write_options *also_how);
/* Whether results of it can be kept. */
bool kept_can(const char *path);
/* What is said of the input, if it is kept; true: the reporter has said it all. */
bool kept_take(weir_kept *kept, const char *path, Reporter *reporter);
/* Before what is to be kept is looked for, and behind it; `errors`: what was written to the reporter's. */
void kept_begin(const weir_kept *kept);
void kept_end(weir_kept *kept, const char *path, const Reporter *reporter, const char *errors, size_t size);

/* ---- progress.c: how far things are ---- */
typedef struct Progress {
    double started, shown;
    bool showing;
    size_t file, files; /* at which of how many */
} Progress;
double seconds_now(void);
/* Of processor time, of the thread that asks: what a kernel has is not less where other things run. */
double seconds_worked(void);
Progress progress_start(void);
double progress_seconds(const Progress *progress);
/* Whether to print now what is going on, to standard error and without a newline: for a terminal, after a second, and
 * not too often. */
bool progress_due(Progress *progress);
void progress_clear(Progress *progress);
/* For weir_run_options.progress, and a weir_write for standard error; the context of both is a Progress. */
void progress_show(void *progress, const char *kernel, const char *launch, uint64_t cluster, uint64_t clusters);
int progress_write_error(void *progress, const char *data, size_t size);

/* ---- session.c, summary.c: a command at work ---- */
typedef struct Session {
    Options *options;
    weir_context *weir;
    Output *output, *also; /* also: of --also, or NULL */
    Output *certificate;   /* prove: of --certificate, or NULL */
    Progress progress;
    Reporter reporter;
    size_t emitted; /* modules, as IR */
} Session;

/* False, with a message, if the output cannot be opened. `doing`: what is done with a module. */
bool session_open(Session *session, Options *options, const char *doing);
/* What is written, and how: for parts of results before that. */
void session_how(Session *session, weir_subject subject);
/* Begins to write results, unless nothing is to be printed or IR is, with the inputs that cannot be looked at; false if
 * there is no memory. */
bool session_write(Session *session, weir_subject subject);
/* Calls `work` with the modules of every input; its context is the session, which may be the first member of more. */
void session_inputs(Session *session, ModuleWork *work);
/* As report_result. */
void session_report(Session *session, const char *path, weir_result *result);
/* Says what is wrong, and prints the IR with what it needs; as weir_emit. */
int session_emit(Session *session, weir_result *result, unsigned flags);
/* The table at the end, of a teller that counts rules. The time taken is in it for a terminal. */
void session_summary(Session *session);
/* " (1 every launch, 2 tried launches)", of clean kernels by scope; "" if there is none. */
enum { SCOPES_SIZE = 160 };
void scopes_describe(const size_t scopes[WEIR_SCOPE_EVERY_LAUNCH + 1], char *to, size_t size);
void coverage_add(weir_coverage *all, const weir_coverage *part);
/* Ends what is written, and keeps it if `keep`. The exit status: that of an error, unless `good`. */
int session_close(Session *session, bool good, bool keep);

/* What a message says, for standard error: one line, whatever is in the names of files. To be freed; NULL if there is
 * no memory. */
char *message_text(const char *format, va_list arguments);
/* `weir: sentence` on standard error. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
