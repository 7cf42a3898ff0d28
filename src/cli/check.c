/* weir check: every kernel of every input, several files at once, one verdict.
 *
 * Workers take the files in turn and write what is to be said of each into memory; the main thread says it in the order
 * of the inputs, so that the output does not depend on who is done first. Of a program that still runs (weir exec) they
 * take recordings as soon as no launch can come that has to be checked together with them. */
#include "cli/cli.h"

#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* What --check-time is, unless it is given: all of it takes so many times as long as the program without Weir, fewer
 * times from so many seconds on, and checks get as long as the program takes, but at least so many seconds; more if a
 * kernel hung, a launch failed or a process crashed: why is what the user waits for. The program takes no less than a
 * share of the time that it ran here; a part of this time is Weir's own start. */
enum { CHECKS_TIMES = 10, CHECKS_LONG = 50, CHECKS_LEAST = 3, CHECKS_LEAST_FAILED = 60, PLAIN_SHARE = 8 };
#define CHECKS_LONG_TIMES 2.5
#define START_SECONDS     0.2
#define ALONE_SECONDS     0.25 /* of a check before it uses other cores: most take less */
enum { STACK_SIZE = 16 << 20, LOOK_MS = 200, LOWEST_PRIORITY = 19, STATUS_INCOMPLETE = 3 };

/* ---- One file -------------------------------------------------------------------------------- */

/* A file, and what is said of it. */
typedef struct Job {
    char *path;
    struct Job *next; /* that is checked together with it; NULL: there is none behind it */
    FILE *errors;
    char *error_text;
    size_t error_size;
    char prefix[24];
    Reporter reporter;
    uint64_t like;            /* recordings of equal launches have the same; 0: not known */
    bool again;               /* one that is like it was taken */
    struct JobKernel *kernel; /* once it was asked for */
    bool over;                /* no launch can come that is to be checked together with it */
    bool stays;               /* when it was checked, for the order log of its program */
    bool queued, done;
    bool left_out; /* it was not opened for want of time, and one that is like it was checked to its end */
    bool whole;    /* it was checked to its end */
} Job;

/* Of a program: recordings of it that a thread has taken. */
typedef struct JobKernel {
    struct JobKernel *next;
    char *name;
    size_t taken;
} JobKernel;

typedef struct Workers {
    pthread_t *threads;
    size_t count;
} Workers;

typedef struct CliCheck {
    Session session; /* its teller has the sum of what was said */
    const Options *options;
    weir_kept *kept; /* NULL: results are not kept */
    bool writes;     /* what is found */
    Job **jobs;      /* in the end by their names */
    size_t count, capacity;
    Job **queue; /* the first of each group of files that are checked together */
    size_t queued, taken, queue_capacity;
    struct JobKernel *kernels;
    bool drops;           /* what was checked while the program ran is removed */
    double began, until;  /* seconds_now() when the program was started; when checks are to end; 0: whenever they do */
    double busy;          /* seconds in which the program was recorded, as its processes say */
    bool failed;          /* a kernel did not end, or a launch failed */
    long processes;       /* that have used a GPU, and have not ended as they should */
    Workers early;        /* that take files while the program runs */
    long idle;            /* cores that no thread has; less than 0 if there are more threads */
    size_t left_out;      /* files */
    bool ended, closed;   /* the program has ended; nothing is added to the queue any more */
    pthread_mutex_t lock; /* of the queue and of each job's `done` */
    pthread_cond_t finished, more;
} CliCheck;

static void check_module(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    Reporter *reporter = context;
    report_result(reporter, path, weir_run(module, options));
}

/* For how long checks of a program may go on that ran for so long, some of it being recorded. */
static double time_for(const CliCheck *check, double seconds) {
    double share = seconds / PLAIN_SHARE, own = check->busy + START_SECONDS;
    double plain = seconds - own > share ? seconds - own : share;
    double all = CHECKS_TIMES * plain,
           least = check->failed || check->processes > 0 ? CHECKS_LEAST_FAILED : CHECKS_LEAST;
    all = all < CHECKS_LONG ? all : CHECKS_LONG > CHECKS_LONG_TIMES * plain ? CHECKS_LONG : CHECKS_LONG_TIMES * plain;
    double rest = all - seconds > plain ? all - seconds : plain;
    return rest > least ? rest : least;
}

/* Whether checks have to end: of those that go on while the program does, that is not known before it ends. */
static int is_time_up(void *context) {
    const CliCheck *check = context;
    double until;
    __atomic_load(&check->until, &until, __ATOMIC_RELAXED);
    return until > 0 && seconds_now() > until;
}

/* Of a large recording: a thread more, or less. */
static int use_core(void *context, int take) {
    CliCheck *check = context;
    if (!take)
        __atomic_add_fetch(&check->idle, 1, __ATOMIC_RELAXED);
    else if (__atomic_sub_fetch(&check->idle, 1, __ATOMIC_RELAXED) >= 0)
        return 1;
    else
        __atomic_add_fetch(&check->idle, 1, __ATOMIC_RELAXED);
    return 0;
}

/* False: there is not enough memory. */
static bool open_job(const CliCheck *check, const weir_context *weir, Job *job) {
    const Reporter *all = &check->session.reporter;
    Reporter *reporter = &job->reporter;
    job->errors = open_memstream(&job->error_text, &job->error_size);
    if (job->errors) {
        *reporter = reporter_start(check->options, stream_write, job->errors);
        reporter->how.flags = all->how.flags;
        reporter_count(reporter);
        reporter->writer = check->writes ? weir_writer_part(&all->how) : NULL;
        reporter->also = check->writes && check->options->has_also ? weir_writer_part(&all->also_how) : NULL;
        reporter->witness_prefix = job->prefix;
        reporter->all_launches = true;
    }
    if (weir && reporter->rules && (reporter->writer || !check->writes) &&
        (reporter->also || !check->writes || !check->options->has_also))
        return true;
    complain("%s: there is not enough memory", job->path);
    reporter->verdict = WEIR_VERDICT_ERROR;
    reporter->counts[WEIR_VERDICT_ERROR]++;
    return false;
}

static void check_file(const CliCheck *check, weir_context *weir, Job *job) {
    bool kept = !is_cuda_source(job->path) && kept_can(job->path); /* what the source includes is not known */
    if (!open_job(check, weir, job) || (kept && kept_take(check->kept, job->path, &job->reporter)))
        return;
    if (kept)
        kept_begin(check->kept);
    report_modules(&job->reporter, weir, job->path, check_module, &job->reporter);
    fflush(job->errors);
    if (kept)
        kept_end(check->kept, job->path, &job->reporter, job->error_text, job->error_size);
}

/* ---- Files that are checked together --------------------------------------------------------- */

/* Recordings of launches that may have run at the same time. */
typedef struct CheckTogether {
    weir_context *weir;
    Job **files; /* that could be opened */
    weir_module **modules;
    weir_run_options *options;
    size_t count, open;
    bool reported;
} CheckTogether;

static void run_together(CheckTogether *together) {
    weir_result **results = calloc(together->open + 1, sizeof *results);
    if (results)
        weir_run_row(together->modules, together->options, together->open, results);
    for (size_t i = 0; i < together->open; i++)
        report_result(&together->files[i]->reporter, together->files[i]->path, results ? results[i] : NULL);
    together->reported = true;
    free(results);
}

static void open_next(CheckTogether *together);

/* Keeps the module, and opens the next file while it is there; with the last one all are run. */
static void keep_module(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    CheckTogether *together = context;
    (void)path;
    together->modules[together->open] = module;
    together->options[together->open++] = *options;
    open_next(together);
}

/* A file that cannot be read has said so, and the next one is in its place. */
static void open_next(CheckTogether *together) {
    while (!together->reported && together->open < together->count) {
        Job *file = together->files[together->open];
        report_modules(&file->reporter, together->weir, file->path, keep_module, together);
        if (!together->reported) {
            memmove(&together->files[together->open], &together->files[together->open + 1],
                    (together->count - together->open - 1) * sizeof *together->files);
            together->count--;
        }
    }
    if (!together->reported)
        run_together(together);
}

static void check_group(const CliCheck *check, weir_context *weir, Job *first) {
    size_t count = 0;
    for (const Job *job = first; job; job = job->next)
        count++;
    CheckTogether together = {.weir = weir, .files = calloc(count, sizeof(Job *))};
    together.modules = calloc(count, sizeof(weir_module *));
    together.options = calloc(count, sizeof *together.options);
    bool good = together.files && together.modules && together.options;
    for (Job *job = first; good && job; job = job->next)
        if (open_job(check, weir, job))
            together.files[together.count++] = job;
    if (good)
        open_next(&together);
    else
        complain("there is not enough memory");
    free(together.files);
    free(together.modules);
    free(together.options);
}

/* ---- Who does what --------------------------------------------------------------------------- */

static bool job_add(CliCheck *check, const char *path, bool over) {
    if (check->count == check->capacity) {
        size_t wanted = check->capacity ? 2 * check->capacity : 64;
        Job **more = realloc(check->jobs, wanted * sizeof *more);
        if (!more)
            return false;
        check->jobs = more;
        check->capacity = wanted;
    }
    Job *job = calloc(1, sizeof *job);
    if (!job || !(job->path = strdup(path))) {
        free(job);
        return false;
    }
    job->over = over;
    check->jobs[check->count++] = job;
    return true;
}

/* The lock is held. */
static bool queue_add(CliCheck *check, Job *first) {
    if (check->queued == check->queue_capacity) {
        size_t wanted = check->queue_capacity ? 2 * check->queue_capacity : 64;
        Job **more = realloc(check->queue, wanted * sizeof *more);
        if (!more)
            return false;
        check->queue = more;
        check->queue_capacity = wanted;
    }
    for (size_t i = 0; first->like && i < check->taken; i++)
        first->again |= check->queue[i]->like == first->like;
    check->queue[check->queued++] = first;
    pthread_cond_signal(&check->more);
    return true;
}

/* Queues one group of those that are not queued yet: members have the index of the first. */
static bool queue_group(CliCheck *check, Job **jobs, const size_t *groups, size_t count, size_t first, bool all) {
    bool good = true, over = true;
    Job **next = &jobs[first]->next;
    for (size_t i = first; i < count; i++)
        over &= groups[i] != first || jobs[i]->over;
    if (!all && !over)
        return true;
    for (size_t i = first; i < count; i++) {
        if (groups[i] != first)
            continue;
        jobs[i]->queued = true;
        if (i > first) {
            *next = jobs[i];
            next = &jobs[i]->next;
        }
    }
    pthread_mutex_lock(&check->lock);
    good = queue_add(check, jobs[first]);
    pthread_mutex_unlock(&check->lock);
    return good;
}

/* Whether another file like it comes before it. */
static bool has_like(const CliCheck *check, const Job *job) {
    for (size_t i = 0; job->like && check->jobs[i] != job; i++)
        if (check->jobs[i]->like == job->like)
            return true;
    return false;
}

/* Queues the groups of what is not queued yet; without `all`, those that no file can come to. Of equal launches one
 * comes before the others. */
static bool queue_groups(CliCheck *check, bool all) {
    Job **jobs = calloc(check->count + 1, sizeof *jobs);
    const char **paths = calloc(check->count + 1, sizeof *paths);
    size_t *groups = calloc(check->count + 1, sizeof *groups), count = 0;
    bool good = jobs && paths && groups;
    for (size_t i = 0; good && i < check->count; i++)
        if (!check->jobs[i]->queued) {
            paths[count] = check->jobs[i]->path;
            jobs[count++] = check->jobs[i];
        }
    good = good && weir_group_recordings(paths, count, groups) == 0;
    for (int again = 0; again < 2; again++)
        for (size_t i = 0; good && i < count; i++)
            good =
                groups[i] != i || has_like(check, jobs[i]) != again || queue_group(check, jobs, groups, count, i, all);
    free(jobs);
    free(paths);
    free(groups);
    return good;
}

static void check_jobs(CliCheck *check, weir_context *weir, Job *first, bool early) {
    if (first->next)
        check_group(check, weir, first);
    else
        check_file(check, weir, first);
    for (const Job *job = first; early && check->drops && job; job = job->next)
        if (!job->stays)
            unlink(job->path);
}

/* Whether one that is like it was checked to its end. The lock is held. */
static bool is_spare(const CliCheck *check, const Job *job) {
    for (size_t i = 0; job->like && i < check->count; i++) {
        const Job *other = check->jobs[i];
        if (other != job && other->like == job->like && other->done && other->whole)
            return true;
    }
    return false;
}

/* Its kernel: recordings of programs are called KERNEL-PROCESS-NUMBER. */
static JobKernel *kernel_of(CliCheck *check, const Job *job) {
    const char *slash = strrchr(job->path, '/'), *name = slash ? slash + 1 : job->path;
    size_t length = strlen(name);
    for (int dashes = 0; length && dashes < 2;)
        dashes += name[--length] == '-';
    JobKernel *kernel = check->kernels;
    while (kernel && (strncmp(kernel->name, name, length) != 0 || kernel->name[length]))
        kernel = kernel->next;
    if (!kernel && (kernel = calloc(1, sizeof *kernel))) {
        *kernel = (JobKernel){.next = check->kernels, .name = strndup(name, length)};
        if (!kernel->name) {
            free(kernel);
            return NULL;
        }
        check->kernels = kernel;
    }
    return kernel;
}

static bool comes_before(CliCheck *check, Job *job, Job *other) {
    job->kernel = job->kernel ? job->kernel : kernel_of(check, job);
    other->kernel = other->kernel ? other->kernel : kernel_of(check, other);
    if (job->again != other->again)
        return other->again;
    return job->kernel && other->kernel && job->kernel->taken < other->kernel->taken;
}

/* The next one. Of a program each kernel is to be looked at before time is up: one of those of which the fewest were
 * taken; and of equal launches one before the others. The lock is held. */
static Job *take_next(CliCheck *check) {
    enum { WINDOW = 1024 };
    size_t best = check->taken, end = check->queued - best > WINDOW ? best + WINDOW : check->queued;
    for (size_t i = best + 1; i < end && check->queue[check->taken]->like; i++)
        if (check->queue[i]->like && comes_before(check, check->queue[i], check->queue[best]))
            best = i;
    Job *job = check->queue[best];
    memmove(check->queue + check->taken + 1, check->queue + check->taken, (best - check->taken) * sizeof(Job *));
    check->queue[check->taken++] = job;
    if (job->kernel)
        job->kernel->taken++;
    for (size_t i = check->taken; job->like && i < check->queued; i++)
        check->queue[i]->again |= check->queue[i]->like == job->like;
    return job;
}

static void take_jobs(CliCheck *check, bool early) {
    weir_context *weir = weir_create();
    pthread_mutex_lock(&check->lock);
    while (!(early && check->ended)) {
        if (check->taken == check->queued && check->closed)
            break;
        if (check->taken == check->queued) {
            pthread_cond_wait(&check->more, &check->lock);
            continue;
        }
        Job *first = take_next(check);
        first->left_out = is_time_up(check) && !first->next && is_spare(check, first);
        pthread_mutex_unlock(&check->lock);
        __atomic_sub_fetch(&check->idle, 1, __ATOMIC_RELAXED);
        if (!first->left_out)
            check_jobs(check, weir, first, early);
        __atomic_add_fetch(&check->idle, 1, __ATOMIC_RELAXED);
        pthread_mutex_lock(&check->lock);
        for (Job *job = first; job; job = job->next) {
            job->whole = !job->left_out && !job->reporter.counts[WEIR_VERDICT_INCOMPLETE] &&
                         !job->reporter.counts[WEIR_VERDICT_ERROR];
            job->done = true;
        }
        pthread_cond_signal(&check->finished);
    }
    pthread_mutex_unlock(&check->lock);
    weir_destroy(weir);
}

static void *work(void *check) {
    take_jobs(check, false);
    return NULL;
}

/* While the program runs. The priority is that of the thread. */
static void *work_early(void *check) {
    setpriority(PRIO_PROCESS, 0, LOWEST_PRIORITY);
    take_jobs(check, true);
    return NULL;
}

static Workers start_workers(CliCheck *check, size_t wanted, void *(*work)(void *)) {
    Workers workers = {.threads = calloc(wanted + 1, sizeof(pthread_t))};
    pthread_attr_t attributes;
    if (!workers.threads || pthread_attr_init(&attributes) != 0)
        return workers;
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    while (workers.count < wanted && pthread_create(&workers.threads[workers.count], &attributes, work, check) == 0)
        workers.count++;
    pthread_attr_destroy(&attributes);
    return workers;
}

static void join_workers(Workers *workers) {
    for (size_t i = 0; i < workers->count; i++)
        pthread_join(workers->threads[i], NULL);
    free(workers->threads);
}

/* ---- All files ------------------------------------------------------------------------------- */

static void add_up(Reporter *all, Reporter *part) {
    all->verdict = weir_verdict_worse(all->verdict, part->verdict);
    all->kept += part->kept;
    all->kernels += part->kernels;
    for (weir_verdict i = WEIR_VERDICT_CLEAN; i < WEIR_VERDICT_ERROR; i++)
        all->programs[i] += part->programs[i];
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
    reporter_free(part);
}

static void say_job(CliCheck *check, Job *job) {
    progress_clear(&check->session.progress);
    check->left_out += job->left_out;
    if (job->left_out)
        return;
    if (!job->errors || fclose(job->errors) != 0)
        job->reporter.verdict = WEIR_VERDICT_ERROR;
    if (job->error_text)
        stream_write(stderr, job->error_text, job->error_size);
    if (job->reporter.writer)
        weir_writer_join(check->session.reporter.writer, job->reporter.writer);
    if (job->reporter.also)
        weir_writer_join(check->session.reporter.also, job->reporter.also);
    add_up(&check->session.reporter, &job->reporter);
    free(job->error_text);
}

/* Returns when the job is done; meanwhile shows the progress on a terminal. */
static void await(CliCheck *check, size_t index) {
    pthread_mutex_lock(&check->lock);
    while (!check->jobs[index]->done) {
        struct timespec soon;
        clock_gettime(CLOCK_REALTIME, &soon);
        soon.tv_nsec += 100 * 1000 * 1000;
        soon.tv_sec += soon.tv_nsec / 1000000000;
        soon.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&check->finished, &check->lock, &soon);
        size_t done = index;
        for (size_t i = index; i < check->count; i++)
            done += check->jobs[i]->done;
        if (progress_due(&check->session.progress))
            fprintf(stderr, "%zu of %zu files checked; at %.100s", done, check->count, check->jobs[index]->path);
    }
    pthread_mutex_unlock(&check->lock);
}

/* All that there are, in their order. */
static bool check_all(CliCheck *check) {
    size_t wanted = workers_wanted(check->options);
    for (size_t i = 0; i < check->count && check->count > 1; i++)
        if (!check->jobs[i]->queued)
            snprintf(check->jobs[i]->prefix, sizeof check->jobs[i]->prefix, "%zu-", i + 1);
    if (!queue_groups(check, true))
        return false;
    pthread_mutex_lock(&check->lock);
    check->closed = true;
    pthread_mutex_unlock(&check->lock);
    __atomic_add_fetch(&check->idle, (long)wanted - (long)check->early.count, __ATOMIC_RELAXED);
    Workers workers = start_workers(check, wanted < check->count ? wanted : check->count, work);
    for (size_t i = 0; workers.count && i < check->count; i++) {
        await(check, i);
        say_job(check, check->jobs[i]);
    }
    join_workers(&workers);
    return workers.count > 0;
}

/* ---- Files that come while a program runs ------------------------------------------------------ */

static Job *find_job(const CliCheck *check, const char *path) {
    for (size_t i = check->count; i-- > 0;)
        if (strcmp(check->jobs[i]->path, path) == 0)
            return check->jobs[i];
    return NULL;
}

static bool ends_with(const char *name, const char *ending) {
    size_t length = strlen(name), size = strlen(ending);
    return length > size && strcmp(name + length - size, ending) == 0;
}

/* Adds recordings of the folder that are not known yet, and order logs if the program has ended: then those of all
 * processes are one. False: there is not enough memory. */
static bool add_recordings(CliCheck *check, const char *folder, bool ended) {
    DIR *directory = opendir(folder);
    bool good = true;
    for (struct dirent *entry; good && directory && (entry = readdir(directory));) {
        char *path = NULL;
        if (!ends_with(entry->d_name, RECORDINGS_END) && !(ended && ends_with(entry->d_name, ORDER_LOGS_END)))
            continue;
        good = asprintf(&path, "%s/%s", folder, entry->d_name) >= 0 &&
               (find_job(check, path) || job_add(check, path, false));
        free(path);
    }
    if (directory)
        closedir(directory);
    return good;
}

/* NULL: there is not enough memory. */
static Job *job_named(CliCheck *check, const char *folder, const char *name) {
    char *path = NULL;
    bool good = asprintf(&path, "%s/%s", folder, name) >= 0;
    Job *job = good ? find_job(check, path) : NULL;
    if (good && !job && job_add(check, path, false))
        job = check->jobs[check->count - 1];
    free(path);
    return job;
}

/* A recording, and what those of equal launches have in common: "NAME NUMBER". */
static void add_like(CliCheck *check, const char *folder, char *said) {
    char *number = strrchr(said, ' ');
    if (!number)
        return;
    *number++ = 0;
    Job *job = job_named(check, folder, said);
    if (job)
        job->like = strtoull(number, NULL, 16);
}

/* What the log says since it was last read: which recordings are alike, for how long the program was recorded, and
 * whether some are over, whose names are kept. */
static bool read_over(CliCheck *check, const char *folder, FILE *log, Paths *over) {
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    bool any = false;
    long at = ftell(log);
    double seconds;
    clearerr(log);
    while ((length = getline(&line, &size, log)) > 0 && line[length - 1] == '\n') {
        at = ftell(log);
        line[length - 1] = 0;
        bool stays = strncmp(line, "over-kept ", 10) == 0;
        if (stays || strncmp(line, "over ", 5) == 0)
            any |= paths_append(over, strchr(line, ' ') + 1);
        Job *kept = stays ? job_named(check, folder, line + 10) : NULL;
        if (kept)
            kept->stays = true;
        if (strncmp(line, "like ", 5) == 0)
            add_like(check, folder, line + 5);
        else if (sscanf(line, "busy %*d %lf", &seconds) == 1)
            check->busy += seconds;
        else if (strncmp(line, "hung ", 5) == 0 || strncmp(line, "launch-failed ", 14) == 0)
            check->failed = true;
        else
            check->processes += (strncmp(line, "cuda ", 5) == 0) - (strncmp(line, "recorded ", 9) == 0);
    }
    fseek(log, at, SEEK_SET); /* what has no end yet is read again */
    free(line);
    return any;
}

/* The log is read before the folder: what it says to be over was written before that, and so was all that may be
 * checked together with it. */
static bool take_early(CliCheck *check, const Early *early, FILE *log) {
    Paths over = {0};
    bool good = true, any = read_over(check, early->folder, log, &over);
    if (any)
        good = add_recordings(check, early->folder, false);
    for (size_t i = 0; good && i < over.count; i++) {
        char *path = NULL;
        good = asprintf(&path, "%s/%s", early->folder, over.items[i]) >= 0;
        Job *job = good ? find_job(check, path) : NULL;
        if (job)
            job->over = true;
        free(path);
    }
    paths_free(&over);
    return good && (!any || queue_groups(check, false));
}

/* Names of witness files, and which inputs there are, are known in the end only. */
static bool can_be_early(const Options *options) {
    return !options->witness && !options->run.kernel && !options->module;
}

/* Until the program has ended; false: it was not started. Early workers bring what they have to its end. */
static bool watch(CliCheck *check, const Early *early) {
    struct pollfd ended = {.fd = early->ended, .events = POLLIN};
    char *path = NULL, go = 0;
    FILE *log = asprintf(&path, "%s/capture.log", early->folder) >= 0 ? fopen(path, "r") : NULL;
    bool good = log && can_be_early(check->options);
    check->began = seconds_now();
    size_t wanted = workers_early(check->options);
    __atomic_store_n(&check->idle, (long)wanted, __ATOMIC_RELAXED);
    check->early = start_workers(check, wanted, work_early);
    while (poll(&ended, 1, LOOK_MS) == 0)
        good = good && take_early(check, early, log);
    double now = seconds_now(), until = 0;
    if (log) /* the last of it */
        read_over(check, early->folder, log, &(Paths){0});
    if (check->options->check_time_given)
        until = check->options->check_time ? now + check->options->check_time : 0;
    else
        until = now + time_for(check, now - check->began);
    pthread_mutex_lock(&check->lock);
    __atomic_store(&check->until, &until, __ATOMIC_RELAXED);
    check->ended = true;
    pthread_cond_broadcast(&check->more);
    pthread_mutex_unlock(&check->lock);
    if (log)
        fclose(log);
    free(path);
    return read(early->ended, &go, 1) == 1;
}

static int by_path(const void *a, const void *b) {
    return strcmp((*(Job *const *)a)->path, (*(Job *const *)b)->path);
}

/* All recordings, in the order of their names; false: there is nothing to be checked. */
static bool gather(CliCheck *check, const Early *early, Options *options) {
    void (*interrupt)(int) = signal(SIGINT, SIG_IGN); /* which a terminal sends to all, and is the program's */
    void (*quit)(int) = signal(SIGQUIT, SIG_IGN);
    bool good = watch(check, early) && add_recordings(check, early->folder, true);
    signal(SIGINT, interrupt);
    signal(SIGQUIT, quit);
    pthread_mutex_lock(&check->lock);
    if (check->count)
        qsort(check->jobs, check->count, sizeof *check->jobs, by_path);
    pthread_mutex_unlock(&check->lock);
    for (size_t i = 0; good && i < check->count; i++)
        good = paths_append(&options->inputs, check->jobs[i]->path);
    return good && check->count;
}

/* ---- The command ----------------------------------------------------------------------------- */

static void check_free(CliCheck *check) {
    join_workers(&check->early);
    for (size_t i = 0; i < check->count; i++) {
        free(check->jobs[i]->path);
        free(check->jobs[i]);
    }
    free(check->jobs);
    while (check->kernels) {
        JobKernel *next = check->kernels->next;
        free(check->kernels->name);
        free(check->kernels);
        check->kernels = next;
    }
    free(check->queue);
}

/* `early`: NULL if all files are there. */
static int check_files(Options *options, const Early *early) {
    options->run.lint = WEIR_LINT_ALSO;
    options->run.membar = options->verbose ? WEIR_MEMBAR_SUMMARY : WEIR_MEMBAR_FINDINGS;
    CliCheck check = {.options = options,
                      .writes = !options->quiet,
                      .drops = early && !options->keep,
                      .lock = PTHREAD_MUTEX_INITIALIZER,
                      .finished = PTHREAD_COND_INITIALIZER,
                      .more = PTHREAD_COND_INITIALIZER};
    Reporter *all = &check.session.reporter;
    if (!session_open(&check.session, options, "run"))
        return STATUS_ERROR;
    options->run.progress = NULL; /* workers are not watched one by one */
    options->run.stop = early ? is_time_up : NULL;
    options->run.stop_context = &check;
    options->run.core = use_core;
    options->run.core_context = &check;
    options->run.core_after = ALONE_SECONDS;
    all->how.flags |= options->verbose ? WEIR_SUPPRESSED : WEIR_SKIP_CLEAN;
    all->how.flags |= options->require_all ? WEIR_REQUIRE_ALL : 0;
    session_how(&check.session, WEIR_VERDICTS);
    bool good = reporter_count(all);
    if (early && !gather(&check, early, options)) {
        check_free(&check);
        session_close(&check.session, false, false);
        return STATUS_INCOMPLETE;
    }
    if (!early)
        check.kept = kept_open(options, check.writes ? &all->how : NULL,
                               check.writes && options->has_also ? &all->also_how : NULL);
    check.session.progress = progress_start();
    for (size_t i = 0; !early && good && i < options->inputs.count; i++)
        good = job_add(&check, options->inputs.items[i], false);
    good = good && session_write(&check.session, WEIR_VERDICTS) &&
           (!check.count || check_all(&check)); /* a shard may have no file */
    if (!good)
        complain("there is not enough memory");
    else
        report_passed_over(all);
    if (check.left_out)
        fprintf(
            stderr,
            "weir: %zu recording%s left out for want of time (--check-time): an equal launch was checked to its end\n",
            check.left_out, check.left_out > 1 ? "s were" : " was");
    bool any = all->kernels;
    for (weir_verdict i = WEIR_VERDICT_CLEAN; i < WEIR_VERDICT_ERROR; i++)
        any |= all->programs[i] > 0;
    if (all->aside && !any) /* nothing else was looked at */
        all->verdict = weir_verdict_worse(all->verdict, WEIR_VERDICT_INCOMPLETE);
    weir_kept_close(check.kept);
    if (all->writer)
        weir_writer_settle(all->writer);
    if (all->also)
        weir_writer_settle(all->also);
    if (good)
        session_summary(&check.session);
    check_free(&check);
    return session_close(&check.session, good, true);
}

int command_check(Options *options) {
    shard_inputs(options);
    return check_files(options, NULL);
}

int check_while(Options *options, const Early *early) {
    return check_files(options, early);
}
