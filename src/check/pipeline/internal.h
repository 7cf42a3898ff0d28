/* What the files of the pipeline share. */
#ifndef CHECK_PIPELINE_INTERNAL_H
#define CHECK_PIPELINE_INTERNAL_H

#include "check/pipeline/pipeline.h"

/* How much an arena may grow beyond its budget, to say that it is used up. */
enum { LAST_WORDS = 64 << 10 };

/* One function of a result, for a Task. */
typedef struct Look {
    PipelineResult *result;
    size_t at;
    const void *request;
    bool covered; /* what a run decides is known */
} Look;

/* ---- question.c ---- */
/* The name of a kernel. */
Str result_name(const PipelineResult *result, size_t kernel);
/* Leaves the functions of that name (with or without '@'); false: there is none, and all are left. */
bool result_keep(PipelineResult *result, Str name);
/* "@a, @b" */
const char *result_names(PipelineResult *result);
/* Sets what the command line says over a launch. */
bool result_set_arguments(PipelineResult *result, Launch *launch);
/* The launch that was given for a kernel; NULL if none was, or for another kernel. */
const Launch *result_given_launch(const PipelineResult *result, size_t kernel);
/* What the command line says of a launch, and nothing else: a grid of zeros is not given. NULL if it says nothing. */
const Launch *result_fixed(PipelineResult *result);

/* Launches for a kernel without a launch, without those that callers may never make unless there are no others; or
 * beside the one that was given, such ones last: how many; none if it cannot be run. */
const Launch *result_choose(PipelineResult *result, size_t kernel, size_t *count);

/* ---- cross_check.c ---- */
/* Holds the proof of the kernel against its certificate, and against runs, if that was asked for: a proof that is wrong
 * is withdrawn. It takes its time beside that of a check, and is no Task. */
void result_cross_check(PipelineResult *result, size_t kernel);

/* ---- shadowed.c ---- */
/* Of a launch in mode shadow what its cells said of memory that processes share, and what may order it and launches of
 * other processes; false: it does not say that. */
bool result_shadow_touches(PipelineResult *result, ProgramRecording *recording, Arena *arena);

/* ---- steps.c ---- */
/* What the hardware does not allow, read off the IR. */
void step_lint(PipelineResult *result, size_t kernel);
/* The launch that was given, or those that are chosen: compiles the kernel, runs every cluster in the schedules that
 * matter, and tells who waits forever and what is not ordered; with the barrier report, if that was asked for. */
void step_runs(PipelineResult *result, size_t kernel);
/* In its place, of a launch that need not be run. */
void step_covered(PipelineResult *result, size_t kernel);
/* The same of PTX, thread by thread, or the run of its trail. */
void step_threads(PipelineResult *result, size_t kernel);
ThreadsOptions result_threads(PipelineResult *result, size_t kernel);
/* A recording, to be checked with others. */
RecordedLaunch result_recorded(PipelineResult *result, ThreadsOptions *options);
/* The operations of a program, by its order log, and what orders them. */
void step_program(PipelineResult *result, size_t kernel);
/* The recording's chunks are opened. False: they cannot be, and it is said why, unless the time is up. */
bool result_open(PipelineResult *result, size_t kernel);
/* The run of a trail, and nothing else. */
void step_trail(PipelineResult *result, size_t kernel);
/* Thread barriers, over all paths; of functions that kernels call, with the first kernel. */
void step_left_out(PipelineResult *result, size_t kernel);
void step_barriers(PipelineResult *result, size_t kernel);
/* Findings of rules that were not asked for do not count. */
void step_rules(PipelineResult *result, size_t kernel);
/* Tasks. Texts of findings name the kernel's own source lines, of a Look; and of the reports of a Result, keeps what is
 * about the buffers with the buffer.id that was asked for, and no kernel that has none. */
void step_lines(void *look);
/* The same: a clean verdict says what it covers; if that is less than what is required, it is incomplete. */
void step_scope(void *look);
/* The same: the report of a verdict that is closed gets the lines that it begins with. */
void step_head(void *look);
/* The same: the report says which lines of the kernel's own source its text comes from (code_lines.c). */
void step_code(void *look);
void step_buffer(void *result);

/* ---- prove.c, and recorded.c ---- */
/* A Task. Whether the kernel of a Look is clean at every launch, unless its verdict is incomplete. */
void step_proof(void *look);
/* The same, behind step_proof: what callers promise is held against the launch that was given, and against the proof.
 */
void step_promises(void *look);
/* The same: whether a proof for every launch covers the one that a recording is of, and what that says of what was not
 * looked at. */
void step_recorded_proof(void *look);
/* Whether the launch, which is one of several of its kernel, is covered by the proof that was made at the first. */
bool is_covered(PipelineResult *result, size_t kernel);

/* ---- project.c ---- */
/* Which findings count, and how grave they are, by what the project says; nothing without one. */
void step_project(PipelineResult *result, size_t kernel);
/* The same of what was found so far, for those who stop where something counts (CheckOptions.settle); of a Look. */
void settle_findings(void *look, Verdict *verdict);

/* ---- fingerprints.c ---- */
/* Gives findings their fingerprints (finding/fingerprint.h): the kernel's own source is read, if it is there. */
void step_fingerprints(PipelineResult *result, size_t kernel);
/* The same within an attempt (result_attempt). */
void add_fingerprints(PipelineResult *result, size_t kernel);

/* ---- pipeline.c ---- */
/* Says of a kernel that the time for it (Question.timeout) was up before all of it was looked at. */
void result_is_late(PipelineResult *result, size_t kernel, bool stopped);
/* Its time and memory begin (base/deadline.h, base/arena.h). */
void result_starts(const PipelineResult *result);
/* They end. Whether time was up. */
bool result_ends(void);

/* ---- row.c ---- */
/* Kernels that share one global memory, and what was found when they ran on it. */
typedef struct Row {
    Arena arena;
    GlobalKernel *kernels;
    size_t count;
    GlobalOptions options;
    GlobalCheck *check;
    GlobalCheck *chosen[CHOSEN_CHECKS]; /* of launches that were not given */
} Row;

/* Runs kernels of these results in a row, on one global memory: of each result kernel `first` and those after it,
 * `most` at most. What it finds goes to their verdicts. */
void row_run(Row *row, PipelineResult *const *results, size_t count, size_t first, size_t most);
/* The same of one kernel without a launch, or not wholly: with memory that is chosen. After row_run: of launches
 * beside the one that was given. */
void row_run_chosen(Row *row, PipelineResult *result, size_t kernel);
void row_free(Row *row);

#endif
