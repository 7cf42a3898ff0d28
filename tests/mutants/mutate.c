/* Faults put into kernels that have none, and whether Weir finds them.
 *
 *     mutate --list FILE                     the faults that can be put into it, numbered
 *     mutate --make N FILE                   its text with fault number N
 *     mutate [--budget N] [--most N] [--only WORD] [--log LOG] [--triton RELEASE] FILE...
 *
 * The last puts each fault into each file, and prints a table: of each kind of fault, how many
 *
 *     idle        are in what no launch runs, and were not made
 *     made        were made
 *     found       make Weir report an error
 *     incomplete  make its verdict incomplete
 *     harmless    survive: every read sees what it saw without the fault, and all is in order (order.h)
 *     other data  survive: all is in order, but a read sees something else
 *     missed      survive, and should not
 *
 * A mutant runs in the launch of its file (K.launch.json beside K.ttgir), if there is one, and in launches that Weir
 * chooses; where the file itself is not clean, that is said, and those launches are left out. LOG gets a line for each
 * mutant: file, number, kind, line, what it is about, verdict, rules or what became of it. --most: of each file only so
 * many, spread over it evenly; --only: only kinds with that word in their name.
 *
 * Faults of proxy fences are judged by what `weir lint` says of fences, of IR that the release compiles. Harmless is
 * one that no pair of accesses lacks, or that the compiler puts back; other data, one that it leaves out itself where
 * it can. Of a file that lacks fences as it is they are idle.
 *
 * Exit status: 0, 1 if a mutant was missed or could not be read, 2 if the command line is wrong, a file cannot be read,
 * or there is no memory. */
#include "fences.h"
#include "launches.h"
#include "mutations.h"
#include "order.h"
#include "uses.h"

#include "analyze/run/check.h"
#include "mlir/reader.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static const uint64_t usual_budget = 400 * 1000;
static const size_t arena_budget = (size_t)1 << 30;
static jmp_buf out_of_memory; /* set in main */

typedef struct Reading {
    Source *source;
    Module module;
    Diagnostics diagnostics;
    bool ok;
} Reading;

typedef struct Tally {
    size_t idle, made, found, incomplete, harmless, other, missed;
} Tally;

typedef struct Job {
    uint64_t budget;
    size_t most;         /* of each file; 0: all */
    const char *only;    /* a word of the kinds that are made; NULL: all */
    FILE *log;           /* NULL: none */
    ReleaseSet releases; /* of Triton that compile the files; none: those that they may be from */
    Tally tallies[MUTATION_KINDS];
    size_t unreadable;
} Job;

enum { MOST_LAUNCHES = MOST_CHOSEN + 1 };

/* A file without a fault, and the launches in which it is clean: the one beside it, and those that Weir chooses. */
typedef struct Base {
    const char *path;
    Reading *reading;
    Launch launches[MOST_LAUNCHES];
    OrderResult orders[MOST_LAUNCHES];
    size_t count;
    FenceVerdict fences;
} Base;

/* ---- Reading -------------------------------------------------------------------------------------- */

static void read_source(Reading *reading, Source *source) {
    *reading = (Reading){.source = source};
    Unit unit = {.end = source->size};
    reading->ok = read_unit(&reading->module, source, &unit, (ReadOptions){0}, &reading->diagnostics);
    reading->module.arena.budget = reading->module.arena.held + arena_budget;
    reading->module.arena.exhausted = &out_of_memory;
}

static void free_reading(Reading *reading) {
    module_free(&reading->module);
    diagnostics_free(&reading->diagnostics);
    source_free(reading->source);
}

static void say_errors(const Reading *reading) {
    Text text = {0};
    for (size_t i = 0; i < reading->diagnostics.count; i++)
        diagnostic_render(&reading->diagnostics.items[i], reading->source->name, false, &text);
    fprintf(stderr, "%.*s", (int)text.size, text.data ? text.data : "");
    text_free(&text);
}

static bool open_file(Reading *reading, const char *path) {
    const char *problem;
    Source *source = source_read(path, &problem);
    if (!source) {
        fprintf(stderr, "mutate: %s cannot be read: %s\n", path, problem);
        return false;
    }
    read_source(reading, source);
    if (!reading->ok) {
        say_errors(reading);
        free_reading(reading);
    }
    return reading->ok;
}

/* K.launch.json beside K.ttgir. Returns how many there are. */
static size_t read_launch(Arena *arena, const char *path, Launch *launch) {
    char name[4096];
    const char *dot = strrchr(path, '.'), *problem;
    Diagnostics diagnostics = {0};
    snprintf(name, sizeof name, "%.*s.launch.json", (int)(dot ? dot - path : (long)strlen(path)), path);
    Source *source = source_read(name, &problem);
    bool good = source && launch_read(arena, source, launch, &diagnostics);
    diagnostics_free(&diagnostics);
    if (source)
        source_free(source);
    return good;
}

/* ---- Running -------------------------------------------------------------------------------------- */

/* The verdict on every kernel of it together; the rules in `rules`, each once, separated by commas. */
static VerdictKind run(Module *module, const Launch *launch, uint64_t budget, Text *rules) {
    VerdictKind kind = VERDICT_CLEAN;
    size_t count = program_kernels(module, NULL, 0);
    const Op **kernels = ARENA_ARRAY(&module->arena, const Op *, count + 1);
    program_kernels(module, kernels, count);
    bool seen[RULE_COUNT] = {false};
    for (size_t i = 0; i < count; i++) {
        Verdict verdict = {.arena = &module->arena};
        check_runs(module, kernels[i], &(CheckOptions){.launch = launch, .budget = budget}, &verdict);
        verdict_close(&verdict);
        kind = verdict_worse(kind, verdict.kind);
        for (size_t k = 0; k < verdict.finding_count; k++) {
            RuleId rule = verdict.findings[k].rule;
            if (!seen[rule])
                text_addf(rules, "%s%s", rules->size ? "," : "", rule_of(rule)->id);
            seen[rule] = true;
        }
        for (size_t k = 0; k < verdict.incomplete_count && !verdict.finding_count; k++)
            text_addf(rules, "%s%s", rules->size ? "; " : "", verdict.incomplete[k].reason);
    }
    return kind;
}

/* What became of a mutant that is clean in Weir's eyes. */
static const char *judge_survivor(const Job *job, const Base *base, Reading *mutant, Tally *tally) {
    bool same = true, partial = false, unwritten = false;
    for (size_t i = 0; i < base->count; i++) {
        OrderResult order = order_find(&mutant->module, &base->launches[i], job->budget);
        if (order.races) {
            tally->missed++;
            return "missed";
        }
        same &= order.data == base->orders[i].data;
        partial |= order.partial;
        unwritten |= order.unwritten > base->orders[i].unwritten;
    }
    if (same && !partial) {
        tally->harmless++;
        return "harmless";
    }
    tally->other++;
    return partial ? "too large" : unwritten ? "unwritten" : "other data";
}

static const Launch *first_launch(const Base *base) {
    return base->count ? &base->launches[0] : NULL;
}

static bool is_of_fences(MutationKind kind) {
    return kind == NO_FENCE || kind == FENCE_LATE;
}

/* The verdict on a mutant that lacks a fence; *survived is what became of it, if it is clean. */
static VerdictKind judge_fences(const Job *job, const Base *base, Reading *mutant, Tally *tally, Text *rules,
                                const char **survived) {
    FenceVerdict said = fences_judge(&mutant->module, first_launch(base), job->releases, rules);
    if (said.kind != VERDICT_CLEAN)
        return said.kind;
    bool lacks = said.lacking > base->fences.lacking;
    *(!lacks || said.put_in ? &tally->harmless : said.left_out ? &tally->other : &tally->missed) += 1;
    *survived = !lacks ? "harmless" : said.put_in ? "put back" : said.left_out ? "the compiler's own" : "missed";
    return VERDICT_CLEAN;
}

static void run_mutant(Job *job, const Base *base, size_t number, const Mutation *mutation) {
    Text text = {0}, rules = {0};
    mutation_apply(mutation, base->reading->source, &text);
    Source *source = source_copy(base->path, text.data, text.size);
    text_free(&text);
    if (!source)
        longjmp(out_of_memory, 1);
    Reading mutant;
    read_source(&mutant, source);
    Tally *tally = &job->tallies[mutation->kind];
    const char *name = mutation_kind_name(mutation->kind);
    uint32_t line = source_place(base->reading->source, mutation->op->offset).line;
    if (!mutant.ok) {
        job->unreadable++;
        fprintf(stderr, "mutate: fault %zu (%s, line %u) of %s cannot be read\n", number, name, line, base->path);
        say_errors(&mutant);
    } else {
        VerdictKind kind = VERDICT_CLEAN;
        const char *survived = "";
        if (is_of_fences(mutation->kind))
            kind = judge_fences(job, base, &mutant, tally, &rules, &survived);
        for (size_t i = 0; i < base->count && kind == VERDICT_CLEAN && !is_of_fences(mutation->kind); i++)
            kind = run(&mutant.module, &base->launches[i], job->budget, &rules);
        tally->made++;
        tally->found += kind == VERDICT_FINDINGS;
        tally->incomplete += kind == VERDICT_INCOMPLETE || kind == VERDICT_ERROR;
        if (kind == VERDICT_CLEAN && !is_of_fences(mutation->kind))
            survived = judge_survivor(job, base, &mutant, tally);
        if (job->log)
            fprintf(job->log, "%s\t%zu\t%s\t%u\t%.*s\t%s\t%.*s%s\n", base->path, number, name, line,
                    (int)mutation->about.size, mutation->about.data, verdict_kind_name(kind), (int)rules.size,
                    rules.data ? rules.data : "", survived);
    }
    text_free(&rules);
    free_reading(&mutant);
}

static void run_mutants(Job *job, Base *base) {
    Module *module = &base->reading->module;
    Mutations mutations = {0};
    Uses uses = uses_create(module);
    mutations_find(module, &mutations);
    for (size_t i = 0; i < base->count; i++) {
        uses_find(&uses, module, &base->launches[i], job->budget);
        base->orders[i] = order_find(module, &base->launches[i], job->budget);
        if (base->orders[i].races)
            printf("%s has races by its plain order: lines %u and %u\n", base->path, base->orders[i].line,
                   base->orders[i].other_line);
    }
    Text rules = {0};
    base->fences = fences_judge(module, first_launch(base), job->releases, &rules);
    text_free(&rules);
    size_t count = job->most && mutations.count > job->most ? job->most : mutations.count;
    for (size_t i = 0; i < count; i++) {
        size_t number = i * mutations.count / count;
        const Mutation *mutation = &mutations.items[number];
        if (job->only && !strstr(mutation_kind_name(mutation->kind), job->only))
            continue;
        bool lacks = is_of_fences(mutation->kind) && base->fences.kind != VERDICT_CLEAN;
        if (uses_has(&uses, mutation->op, mutation->operand) && !lacks)
            run_mutant(job, base, number + 1, mutation);
        else
            job->tallies[mutation->kind].idle++;
    }
}

/* Keeps a launch if the file is clean in it; says so if there are findings. */
static void add_launch(const Job *job, Base *base, const Launch *launch) {
    Reading reading;
    Text rules = {0};
    if (!open_file(&reading, base->path))
        return;
    VerdictKind kind = run(&reading.module, launch, job->budget, &rules);
    if (kind == VERDICT_CLEAN) {
        base->launches[base->count++] = *launch;
    } else if (kind == VERDICT_FINDINGS) {
        Text text = {0};
        launch_describe(launch, &text);
        printf("%s is not clean: %.*s (%.*s)\n", base->path, (int)rules.size, rules.data, (int)text.size,
               text.data ? text.data : "");
        text_free(&text);
    }
    text_free(&rules);
    free_reading(&reading);
}

static bool run_file(Job *job, const char *path) {
    Reading original;
    Arena arena;
    if (!open_file(&original, path))
        return false;
    arena_init(&arena, arena_budget);
    arena.exhausted = &out_of_memory;
    Base *base = ARENA_NEW(&arena, Base);
    Launch *launches = ARENA_ARRAY(&arena, Launch, MOST_LAUNCHES);
    *base = (Base){.path = path, .reading = &original};
    size_t count = read_launch(&arena, path, &launches[0]);
    count += launches_choose(&original.module, launches + count);
    for (size_t i = 0; i < count; i++)
        add_launch(job, base, &launches[i]);
    run_mutants(job, base);
    arena_free(&arena);
    free_reading(&original);
    return true;
}

static void print_tally(const char *name, const Tally *tally) {
    printf("%-20s %8zu %8zu %8zu %12zu %10zu %10zu %8zu\n", name, tally->idle, tally->made, tally->found,
           tally->incomplete, tally->harmless, tally->other, tally->missed);
}

static int run_files(Job *job, char **paths, int count) {
    for (int i = 0; i < count; i++)
        if (!run_file(job, paths[i]))
            return 2;
    Tally all = {0};
    printf("%-20s %8s %8s %8s %12s %10s %10s %8s\n", "fault", "idle", "made", "found", "incomplete", "harmless",
           "other data", "missed");
    for (unsigned kind = 0; kind < MUTATION_KINDS; kind++) {
        const Tally *tally = &job->tallies[kind];
        if (tally->made || tally->idle)
            print_tally(mutation_kind_name((MutationKind)kind), tally);
        all.idle += tally->idle;
        all.made += tally->made;
        all.found += tally->found;
        all.incomplete += tally->incomplete;
        all.harmless += tally->harmless;
        all.other += tally->other;
        all.missed += tally->missed;
    }
    print_tally("all", &all);
    return job->unreadable || all.missed ? 1 : 0;
}

/* ---- Command line --------------------------------------------------------------------------------- */

/* `number` 0: the list of them all. */
static int show(const char *path, size_t number) {
    Reading reading;
    Mutations mutations = {0};
    if (!open_file(&reading, path))
        return 2;
    mutations_find(&reading.module, &mutations);
    for (size_t i = 0; i < mutations.count && !number; i++) {
        const Mutation *mutation = &mutations.items[i];
        Str name = mutation->op->name;
        printf("%zu\t%s\t%u\t%.*s\t%.*s\n", i + 1, mutation_kind_name(mutation->kind),
               source_place(reading.source, mutation->op->offset).line, (int)name.size, name.data,
               (int)mutation->about.size, mutation->about.data);
    }
    int status = 0;
    if (number && number <= mutations.count) {
        Text text = {0};
        mutation_apply(&mutations.items[number - 1], reading.source, &text);
        fwrite(text.data, 1, text.size, stdout);
        text_free(&text);
    } else if (number) {
        fprintf(stderr, "mutate: %s has %zu faults\n", path, mutations.count);
        status = 2;
    }
    free_reading(&reading);
    return status;
}

static int usage(void) {
    fprintf(stderr, "Usage: mutate --list FILE | --make N FILE | [--budget N] [--most N] [--only WORD] [--log LOG] "
                    "[--triton RELEASE] FILE...\n");
    return 2;
}

static int obey(int count, char **arguments) {
    Job job = {.budget = usual_budget};
    int at = 1;
    for (; at < count && strncmp(arguments[at], "--", 2) == 0; at += 2) {
        int64_t number = 0;
        const char *option = arguments[at] + 2;
        if (at + 1 == count)
            return usage();
        if (strcmp(option, "list") == 0)
            return show(arguments[at + 1], 0);
        if (strcmp(option, "log") == 0) {
            if (!(job.log = fopen(arguments[at + 1], "w"))) {
                fprintf(stderr, "mutate: %s cannot be written\n", arguments[at + 1]);
                return 2;
            }
            continue;
        }
        if (strcmp(option, "only") == 0) {
            job.only = arguments[at + 1];
            continue;
        }
        if (strcmp(option, "triton") == 0) {
            if (!(job.releases = releases_named(str_of(arguments[at + 1]))))
                return usage();
            continue;
        }
        if (!str_to_int(str_of(arguments[at + 1]), &number) || number < 1)
            return usage();
        if (strcmp(option, "make") == 0)
            return at + 3 == count ? show(arguments[at + 2], (size_t)number) : usage();
        if (strcmp(option, "budget") == 0)
            job.budget = (uint64_t)number;
        else if (strcmp(option, "most") == 0)
            job.most = (size_t)number;
        else
            return usage();
    }
    if (at == count)
        return usage();
    int status = run_files(&job, arguments + at, count - at);
    if (job.log && fclose(job.log) != 0)
        status = 2;
    return status;
}

int main(int count, char **arguments) {
    if (setjmp(out_of_memory) == 0)
        return obey(count, arguments);
    fprintf(stderr, "mutate: there is no memory\n");
    return 2;
}
