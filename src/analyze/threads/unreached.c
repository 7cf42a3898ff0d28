/* How much of a kernel was run, and what was not. */
#include "analyze/threads/internal.h"

static bool is_done(const ThreadsCheck *check, uint32_t at) {
    return check->ran[at] & PTX_RAN;
}

/* The first few of a kind that were not run, each by its line. */
typedef struct Missing {
    uint32_t count, first;
} Missing;

static void add_missing(Missing *missing, uint32_t at) {
    if (!missing->count++)
        missing->first = at;
}

static void say_missing(const ThreadsCheck *check, const Missing *missing, const char *what) {
    const PtxCode *code = &check->program->code[missing->first];
    if (missing->count)
        verdict_unreached(check->verdict, verdict_text(check->verdict, "%.*s", STR_ARG(code->form->text)),
                          code_line(check->program, code),
                          "%u %s never run at the launches that Weir chose, this one first: give a launch that does",
                          missing->count, what);
}

/* Coverage is of what launches can come to: the kernel, and the functions that it may call. With a launch that was
 * given only the counts are told. */
void threads_coverage(ThreadsCheck *check, bool chosen) {
    const PtxProgram *program = check->program;
    RunCoverage *coverage = &check->verdict->coverage;
    Missing barriers = {0}, accesses = {0};
    for (uint32_t i = 0; i < program->code_count; i++) {
        const PtxCode *code = &program->code[i];
        CodeRole role = code_role(check, code);
        if (role == ROLE_SYNCHRONIZES) {
            coverage->barrier_ops++;
            coverage->barrier_ops_run += is_done(check, i);
            if (!is_done(check, i))
                add_missing(&barriers, i);
        } else if (role == ROLE_ACCESSES) {
            coverage->accesses++;
            coverage->accesses_run += is_done(check, i);
            if (!is_done(check, i))
                add_missing(&accesses, i);
        } else if (role == ROLE_BRANCHES) {
            coverage->branches += 2;
            coverage->branches_taken += (check->ran[i] & PTX_RAN_YES ? 1u : 0) + (check->ran[i] & PTX_RAN_NO ? 1u : 0);
        }
    }
    if (!chosen)
        return;
    say_missing(check, &barriers,
                barriers.count == 1 ? "synchronizing instruction was" : "synchronizing instructions were");
    say_missing(check, &accesses, accesses.count == 1 ? "access was" : "accesses were");
}
