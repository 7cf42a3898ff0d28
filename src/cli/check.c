/* weir check: every kernel of every input, several files at once, one verdict.
 *
 * Workers take the files in turn and write what is to be said of each into memory; the main thread says it in the order
 * of the inputs, so that the output does not depend on who is done first. */
#include "cli/cli.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STACK_SIZE = 16 << 20 };

/* ---- One file -------------------------------------------------------------------------------- */

/* A file, and what is said of it. */
typedef struct Job {
    FILE *errors;
    char *error_text;
    size_t error_size;
    char prefix[24];
    Teller teller;
    bool done;
} Job;

typedef struct Check {
    Session session; /* its teller has the sum of what was said */
    const Options *options;
    Job *jobs;
    size_t count, taken;
    pthread_mutex_t lock; /* of `taken` and of each job's `done` */
    pthread_cond_t finished;
} Check;

static void check_module(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    Teller *teller = context;
    tell_result(teller, path, weir_run(module, options));
}

static void check_file(Check *check, weir_context *weir, size_t index) {
    const Options *options = check->options;
    Job *job = &check->jobs[index];
    job->errors = open_memstream(&job->error_text, &job->error_size);
    Teller *teller = &job->teller;
    if (job->errors) {
        *teller = teller_start(options, stream_write, job->errors);
        teller->rules = calloc(weir_rule_count(), sizeof *teller->rules);
        teller->writer = check->session.teller.writer ? weir_writer_part(&check->session.teller.how) : NULL;
        if (check->count > 1)
            snprintf(job->prefix, sizeof job->prefix, "%zu-", index + 1);
        teller->witness_prefix = job->prefix;
        teller->all_launches = true;
    }
    if (weir && teller->rules && (teller->writer || !check->session.teller.writer)) {
        tell_modules(teller, weir, options->inputs.items[index], check_module, teller);
    } else {
        complain("%s: there is not enough memory", options->inputs.items[index]);
        teller->verdict = WEIR_VERDICT_ERROR;
        teller->counts[WEIR_VERDICT_ERROR]++;
    }
}

static void *work(void *argument) {
    Check *check = argument;
    weir_context *weir = weir_create();
    pthread_mutex_lock(&check->lock);
    while (check->taken < check->count) {
        size_t index = check->taken++;
        pthread_mutex_unlock(&check->lock);
        check_file(check, weir, index);
        pthread_mutex_lock(&check->lock);
        check->jobs[index].done = true;
        pthread_cond_signal(&check->finished);
    }
    pthread_mutex_unlock(&check->lock);
    weir_destroy(weir);
    return NULL;
}

/* ---- All files ------------------------------------------------------------------------------- */

static void add_up(Teller *all, Teller *part) {
    all->verdict = weir_verdict_worse(all->verdict, part->verdict);
    all->kernels += part->kernels;
    all->kernel_found |= part->kernel_found;
    for (weir_severity i = WEIR_ERROR; i <= WEIR_NOTE; i++)
        all->severities[i] += part->severities[i];
    for (weir_verdict i = WEIR_VERDICT_CLEAN; i <= WEIR_VERDICT_ERROR; i++)
        all->counts[i] += part->counts[i];
    for (size_t i = 0; part->rules && i < weir_rule_count(); i++)
        all->rules[i] += part->rules[i];
    coverage_add(&all->coverage, &part->coverage);
    for (size_t i = 0; i < part->reasons.count; i++) {
        const Count *reason = &part->reasons.items[i];
        tally_add(&all->reasons, (weir_string){reason->text, strlen(reason->text)}, reason->times);
    }
    teller_free(part);
}

static void say_job(Check *check, Job *job) {
    progress_clear(&check->session.progress);
    if (!job->errors || fclose(job->errors) != 0)
        job->teller.verdict = WEIR_VERDICT_ERROR;
    if (job->error_text)
        stream_write(stderr, job->error_text, job->error_size);
    if (job->teller.writer)
        weir_writer_join(check->session.teller.writer, job->teller.writer);
    add_up(&check->session.teller, &job->teller);
    free(job->error_text);
}

/* Returns when the job is done; meanwhile tells whoever watches a terminal how far things are. */
static void await(Check *check, size_t index) {
    pthread_mutex_lock(&check->lock);
    while (!check->jobs[index].done) {
        struct timespec soon;
        clock_gettime(CLOCK_REALTIME, &soon);
        soon.tv_nsec += 100 * 1000 * 1000;
        soon.tv_sec += soon.tv_nsec / 1000000000;
        soon.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&check->finished, &check->lock, &soon);
        size_t done = index;
        for (size_t i = index; i < check->taken; i++)
            done += check->jobs[i].done;
        if (progress_due(&check->session.progress))
            fprintf(stderr, "%zu of %zu files checked; at %.100s", done, check->count,
                    check->options->inputs.items[index]);
    }
    pthread_mutex_unlock(&check->lock);
}

static size_t core_count(void) {
    cpu_set_t cores;
    return sched_getaffinity(0, sizeof cores, &cores) == 0 ? (size_t)CPU_COUNT(&cores) : 1;
}

static bool check_all(Check *check) {
    size_t wanted = check->options->jobs ? check->options->jobs : core_count(), started = 0;
    if (wanted > check->count)
        wanted = check->count;
    pthread_t *workers = calloc(wanted, sizeof *workers);
    pthread_attr_t attributes;
    if (!workers || pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    while (started < wanted && pthread_create(&workers[started], &attributes, work, check) == 0)
        started++;
    for (size_t i = 0; started && i < check->count; i++) {
        await(check, i);
        say_job(check, &check->jobs[i]);
    }
    for (size_t i = 0; i < started; i++)
        pthread_join(workers[i], NULL);
    pthread_attr_destroy(&attributes);
    free(workers);
    return started > 0;
}

/* ---- The command ----------------------------------------------------------------------------- */

int command_check(Options *options) {
    options->run.lint = WEIR_LINT_ALSO;
    options->run.membar = options->verbose ? WEIR_MEMBAR_SUMMARY : WEIR_MEMBAR_FINDINGS;
    Check check = {.options = options,
                   .count = options->inputs.count,
                   .lock = PTHREAD_MUTEX_INITIALIZER,
                   .finished = PTHREAD_COND_INITIALIZER};
    Teller *all = &check.session.teller;
    if (!session_open(&check.session, options, "run"))
        return STATUS_ERROR;
    options->run.progress = NULL; /* workers are not watched one by one */
    all->how.flags |= options->verbose ? 0 : WEIR_SKIP_CLEAN;
    all->rules = calloc(weir_rule_count(), sizeof *all->rules);
    check.jobs = calloc(check.count, sizeof *check.jobs);
    bool good = all->rules && check.jobs && session_write(&check.session, WEIR_VERDICTS) && check_all(&check);
    if (!good)
        complain("there is not enough memory");
    else
        tell_passed_over(all);
    if (good && !options->format && !options->quiet)
        session_summary(&check.session);
    free(check.jobs);
    return session_close(&check.session, good, true);
}
