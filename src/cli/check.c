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
    size_t *groups; /* of each file: the first of those that are checked together with it, which may be itself */
    size_t count, taken;
    pthread_mutex_t lock; /* of `taken` and of each job's `done` */
    pthread_cond_t finished;
} Check;

static void check_module(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    Teller *teller = context;
    tell_result(teller, path, weir_run(module, options));
}

/* False: there is not enough memory. */
static bool open_job(const Check *check, const weir_context *weir, size_t index) {
    Job *job = &check->jobs[index];
    const Teller *all = &check->session.teller;
    Teller *teller = &job->teller;
    job->errors = open_memstream(&job->error_text, &job->error_size);
    if (job->errors) {
        *teller = teller_start(check->options, stream_write, job->errors);
        teller->how.flags = all->how.flags;
        teller_count(teller);
        teller->writer = all->writer ? weir_writer_part(&all->how) : NULL;
        teller->also = all->also ? weir_writer_part(&all->also_how) : NULL;
        if (check->count > 1)
            snprintf(job->prefix, sizeof job->prefix, "%zu-", index + 1);
        teller->witness_prefix = job->prefix;
        teller->all_launches = true;
    }
    if (weir && teller->rules && (teller->writer || !all->writer) && (teller->also || !all->also))
        return true;
    complain("%s: there is not enough memory", check->options->inputs.items[index]);
    teller->verdict = WEIR_VERDICT_ERROR;
    teller->counts[WEIR_VERDICT_ERROR]++;
    return false;
}

static void check_file(Check *check, weir_context *weir, size_t index) {
    Teller *teller = &check->jobs[index].teller;
    if (open_job(check, weir, index))
        tell_modules(teller, weir, check->options->inputs.items[index], check_module, teller);
}

/* ---- Files that are checked together --------------------------------------------------------- */

/* Recordings of launches that may have run at the same time. */
typedef struct Together {
    Check *check;
    weir_context *weir;
    size_t *files; /* that could be opened */
    weir_module **modules;
    weir_run_options *options;
    size_t count, open;
    bool told;
} Together;

static void run_together(Together *together) {
    weir_result **results = calloc(together->open + 1, sizeof *results);
    if (results)
        weir_run_row(together->modules, together->options, together->open, results);
    for (size_t i = 0; i < together->open; i++)
        tell_result(&together->check->jobs[together->files[i]].teller,
                    together->check->options->inputs.items[together->files[i]], results ? results[i] : NULL);
    together->told = true;
    free(results);
}

static void open_next(Together *together);

/* Keeps the module, and opens the next file while it is there; with the last one all are run. */
static void keep_module(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    Together *together = context;
    (void)path;
    together->modules[together->open] = module;
    together->options[together->open++] = *options;
    open_next(together);
}

/* A file that cannot be read has said so, and the next one is in its place. */
static void open_next(Together *together) {
    Check *check = together->check;
    while (!together->told && together->open < together->count) {
        size_t file = together->files[together->open];
        tell_modules(&check->jobs[file].teller, together->weir, check->options->inputs.items[file], keep_module,
                     together);
        if (!together->told) {
            memmove(&together->files[together->open], &together->files[together->open + 1],
                    (together->count - together->open - 1) * sizeof *together->files);
            together->count--;
        }
    }
    if (!together->told)
        run_together(together);
}

static void check_group(Check *check, weir_context *weir, size_t first) {
    Together together = {.check = check, .weir = weir, .files = calloc(check->count, sizeof(size_t))};
    together.modules = calloc(check->count, sizeof(weir_module *));
    together.options = calloc(check->count, sizeof *together.options);
    bool good = together.files && together.modules && together.options;
    for (size_t i = first; good && i < check->count; i++)
        if (check->groups[i] == first && open_job(check, weir, i))
            together.files[together.count++] = i;
    if (good)
        open_next(&together);
    else
        complain("there is not enough memory");
    free(together.files);
    free(together.modules);
    free(together.options);
}

/* ---- Who does what --------------------------------------------------------------------------- */

/* The first file of a group stands for all of it. */
static void check_one(Check *check, weir_context *weir, size_t index) {
    bool several = false;
    for (size_t i = index + 1; i < check->count && !several; i++)
        several = check->groups[i] == index;
    if (several)
        check_group(check, weir, index);
    else
        check_file(check, weir, index);
}

static void *work(void *argument) {
    Check *check = argument;
    weir_context *weir = weir_create();
    pthread_mutex_lock(&check->lock);
    while (check->taken < check->count) {
        size_t index = check->taken++;
        if (check->groups[index] != index)
            continue;
        pthread_mutex_unlock(&check->lock);
        check_one(check, weir, index);
        pthread_mutex_lock(&check->lock);
        for (size_t i = index; i < check->count; i++)
            check->jobs[i].done |= check->groups[i] == index;
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
    for (weir_scope i = WEIR_SCOPE_NONE; i <= WEIR_SCOPE_EVERY_LAUNCH; i++)
        all->scopes[i] += part->scopes[i];
    for (size_t i = 0; part->rules && i < weir_rule_count(); i++)
        all->rules[i] += part->rules[i];
    all->aside += part->aside;
    for (size_t i = 0; i < part->unseen.count; i++) {
        const Count *kernel = &part->unseen.items[i];
        tally_add(&all->unseen, (weir_string){kernel->text, strlen(kernel->text)}, kernel->times);
    }
    all->suppressed += part->suppressed;
    all->baselined += part->baselined;
    all->ignored += part->ignored;
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
    if (job->teller.also)
        weir_writer_join(check->session.teller.also, job->teller.also);
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
    shard_inputs(options);
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
    all->how.flags |= options->verbose ? WEIR_SUPPRESSED : WEIR_SKIP_CLEAN;
    all->how.flags |= options->require_all ? WEIR_REQUIRE_ALL : 0;
    teller_count(all);
    check.jobs = calloc(check.count + 1, sizeof *check.jobs);
    check.groups = calloc(check.count + 1, sizeof *check.groups);
    bool good = all->rules && check.jobs && check.groups &&
                weir_group_recordings((const char *const *)options->inputs.items, check.count, check.groups) == 0 &&
                session_write(&check.session, WEIR_VERDICTS) &&
                (!check.count || check_all(&check)); /* a shard may have no file */
    if (!good)
        complain("there is not enough memory");
    else
        tell_passed_over(all);
    if (all->aside && !all->kernels) /* nothing else was looked at */
        all->verdict = weir_verdict_worse(all->verdict, WEIR_VERDICT_INCOMPLETE);
    if (all->writer)
        weir_writer_settle(all->writer);
    if (all->also)
        weir_writer_settle(all->also);
    if (good)
        session_summary(&check.session);
    free(check.jobs);
    free(check.groups);
    return session_close(&check.session, good, true);
}
