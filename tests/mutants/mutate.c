/* Faults put into kernels that have none, and whether Weir finds them.
 *
 *     mutate --list FILE                     the faults that can be put into it, numbered
 *     mutate --make N FILE                   its text with fault number N
 *     mutate [--budget N] [--most N] [--only WORD] [--log LOG] [--triton RELEASE] [--jobs N] FILE...
 *
 * The last puts each fault into each file, asks Weir what `weir check` says of it, twice, with the launch of the file
 * (K.launch.json beside K.ttgir), if there is one, and without any, and prints a table for each: of each kind of fault,
 * how many
 *
 *     idle        are in what no launch runs, and were not made
 *     made        were made
 *     found       make Weir report an error or a warning
 *     incomplete  matter, and make its verdict incomplete
 *     harmless    survive: every read sees what it saw without the fault, and all is in order (order.h)
 *     other data  survive: all is in order, but a read sees something else
 *     missed      survive, and should not
 *
 * and of those that matter, which all but the harmless and those of other data do, how many are found. Whether a fault
 * matters is seen at any launch: at the one that was given, and at those that Weir chooses for the file beside it and
 * without it, but for those that callers may never make (LaunchDoubt), and those at which the file itself is not clean.
 * Where the file itself has findings, that is said, and its mutants are not judged in that way.
 *
 * LOG gets a line for each mutant and each way: file, number, kind, line, what it is about, verdict, rules or what
 * became of it, `with` or `without` a launch. --most: of each file only so many, spread over it evenly; --only: only
 * kinds with that word in their name; --jobs: so many files at once.
 *
 * Whether a fault of proxy fences matters is seen by what `weir lint` says of fences, of IR that the release compiles.
 * Harmless is one that no pair of accesses lacks, or that the compiler puts back; other data, one that it leaves out
 * itself where it can. Of a file that lacks fences as it is they are idle.
 *
 * Exit status: 0, 1 if a mutant was missed or could not be read, 2 if the command line is wrong, a file cannot be read,
 * or there is no memory. */
#include "checks.h"
#include "fences.h"
#include "launches.h"
#include "mutations.h"
#include "order.h"
#include "uses.h"

#include "check/membar/report.h"
#include "check/tile/run/check.h"
#include "mlir/reader.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const uint64_t usual_budget = 400 * 1000;
static const size_t arena_budget = (size_t)1 << 30;
static jmp_buf out_of_memory; /* set in main */

typedef struct Reading {
    Source *source;
    Module module;
    Diagnostics diagnostics;
    bool ok;
} Reading;

typedef enum Way { WITH_LAUNCH, WITHOUT_LAUNCH, WAYS } Way;
static const char *const way_names[] = {"with", "without"}; /* ORDER Way */

/* Shared by all jobs, which add to it as they go. */
typedef struct Tally {
    size_t idle, made, found, incomplete, harmless, other, missed;
} Tally;

typedef struct Tallies {
    Tally kinds[WAYS][MUTATION_KINDS];
    size_t unreadable;
} Tallies;

typedef struct Job {
    uint64_t budget;
    size_t most;         /* of each file; 0: all */
    size_t jobs;         /* files at once */
    const char *only;    /* a word of the kinds that are made; NULL: all */
    FILE *log;           /* NULL: none */
    ReleaseSet releases; /* of Triton that compile the files; none: those that they may be from */
    Tallies *tallies;
} Job;

enum { MOST_LAUNCHES = 2 * MOST_CHOSEN + 1 };

/* A file without a fault, and the launches in which it is clean: the one beside it, and those that Weir chooses. */
typedef struct Base {
    const char *path;
    char launch_path[4096];
    Reading *reading;
    bool judged[WAYS]; /* it has no findings that way, but for fences */
    bool lacks_fences; /* it has findings about them, which do not count in its mutants */
    Launch launches[MOST_LAUNCHES];
    OrderResult orders[MOST_LAUNCHES];
    bool otherwise[MOST_LAUNCHES]; /* other schedules are clean, too, in the eyes of the second opinion */
    size_t count;
    FenceVerdict fences;
} Base;

static void count(size_t *tally) {
    __atomic_fetch_add(tally, 1, __ATOMIC_RELAXED);
}

/* ---- Reading -------------------------------------------------------------------------------------- */

static void read_source(Reading *reading, Source *source) {
    *reading = (Reading){.source = source};
    Unit unit = {.end = source->size};
    reading->ok = read_unit(&reading->module, source, &unit, (ReadOptions){0}, &reading->diagnostics);
    reading->module.arena.budget = reading->module.arena.held + arena_budget;
    reading->module.arena.exhausted = &out_of_memory;
}

/* With the meetings of clusters that the compiler has yet to insert, as `weir check` runs it. */
static void complete(Reading *reading) {
    size_t count = reading->ok ? program_kernels(&reading->module, NULL, 0) : 0;
    const Op **kernels = ARENA_ARRAY(&reading->module.arena, const Op *, count + 1);
    program_kernels(&reading->module, kernels, count);
    for (size_t i = 0; i < count; i++)
        membar_complete(&reading->module, kernels[i], 0);
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
static size_t read_launch(Arena *arena, Base *base, Launch *launch) {
    const char *path = base->path, *dot = strrchr(path, '.'), *problem;
    Diagnostics diagnostics = {0};
    snprintf(base->launch_path, sizeof base->launch_path, "%.*s.launch.json",
             (int)(dot ? dot - path : (long)strlen(path)), path);
    Source *source = source_read(base->launch_path, &problem);
    bool good = source && launch_read(arena, source, launch, &diagnostics);
    diagnostics_free(&diagnostics);
    if (source)
        source_free(source);
    return good;
}

/* ---- Mutants -------------------------------------------------------------------------------------- */

/* The text of a file, with a fault or (NULL) without one. */
typedef struct Variant {
    const Base *base;
    const Mutation *mutation;
} Variant;

/* Read again: what a module was used for leaves its traces in it. */
static void read_variant(Reading *reading, const Variant *variant) {
    const Source *original = variant->base->reading->source;
    Text text = {0};
    if (variant->mutation)
        mutation_apply(variant->mutation, original, &text);
    Source *source = variant->mutation ? source_copy(variant->base->path, text.data, text.size)
                                       : source_copy(variant->base->path, original->data, original->size);
    text_free(&text);
    if (!source)
        longjmp(out_of_memory, 1);
    read_source(reading, source);
    if (reading->ok)
        complete(reading);
}

/* What `weir check` says of it. */
static VerdictKind ask(const Job *job, const Variant *variant, Way way, Text *rules) {
    Reading reading;
    read_variant(&reading, variant);
    CheckRequest request = {.launch = way == WITH_LAUNCH ? variant->base->launch_path : NULL,
                            .releases = job->releases,
                            .fences = !variant->base->lacks_fences};
    VerdictKind kind = check_wholly(&reading.module, &request, rules);
    free_reading(&reading);
    return kind;
}

static OrderResult find_order(const Job *job, const Variant *variant, const Launch *launch, bool otherwise) {
    Reading reading;
    read_variant(&reading, variant);
    OrderResult order = otherwise ? order_find_otherwise(&reading.module, launch, job->budget)
                                  : order_find(&reading.module, launch, job->budget);
    free_reading(&reading);
    return order;
}

static const Launch *first_launch(const Base *base) {
    return base->count ? &base->launches[0] : NULL;
}

static bool is_of_fences(MutationKind kind) {
    return kind == NO_FENCE || kind == FENCE_LATE;
}

/* What a fault does, whatever Weir says of it. */
typedef enum Harm { NOT_LOOKED_AT, HARMLESS, OTHER_DATA, HARMFUL } Harm;
typedef struct Judgment {
    Harm harm;
    char text[256];
} Judgment;

static Judgment judge_order(const Job *job, const Variant *mutant) {
    const Base *base = mutant->base;
    Judgment said = {HARMLESS, "harmless"};
    for (size_t i = 0; i < base->count && said.harm != HARMFUL; i++) {
        OrderResult order = find_order(job, mutant, &base->launches[i], false);
        if (!order.races && !order.stuck && base->otherwise[i]) {
            OrderResult other = find_order(job, mutant, &base->launches[i], true);
            order.races = other.races;
            order.stuck = other.stuck;
            order.line = other.line;
            order.other_line = other.other_line;
        }
        bool same = order.data == base->orders[i].data, unwritten = order.unwritten > base->orders[i].unwritten;
        if (order.races || order.stuck) {
            Text text = {0};
            launch_describe(&base->launches[i], &text);
            said.harm = HARMFUL;
            snprintf(said.text, sizeof said.text, "%s, lines %u and %u (%.*s)", order.races ? "race" : "stuck",
                     order.line, order.other_line, (int)text.size, text.data);
            text_free(&text);
        } else if (order.partial) {
            said = (Judgment){OTHER_DATA, "too large"};
        } else if (!same && said.harm == HARMLESS) {
            said = unwritten ? (Judgment){OTHER_DATA, "unwritten"} : (Judgment){OTHER_DATA, "other data"};
        }
    }
    return said;
}

static Judgment judge_fences(const Job *job, const Variant *mutant) {
    Text rules = {0};
    Reading reading;
    read_variant(&reading, mutant);
    FenceVerdict said = fences_judge(&reading.module, first_launch(mutant->base), job->releases, &rules);
    free_reading(&reading);
    text_free(&rules);
    if (said.lacking <= mutant->base->fences.lacking)
        return (Judgment){HARMLESS, "harmless"};
    if (said.kind != VERDICT_CLEAN) /* it depends on the release */
        return (Judgment){HARMFUL, "a fence lacks"};
    if (said.insert)
        return (Judgment){HARMLESS, "put back"};
    return said.left_out ? (Judgment){OTHER_DATA, "the compiler's own"} : (Judgment){HARMFUL, "a fence lacks"};
}

/* Asked once, for both ways. */
static const Judgment *judge(const Job *job, const Variant *mutant, Judgment *said) {
    if (said->harm == NOT_LOOKED_AT)
        *said = is_of_fences(mutant->mutation->kind) ? judge_fences(job, mutant) : judge_order(job, mutant);
    return said;
}

static void tally_mutant(Job *job, const Variant *mutant, Way way, VerdictKind kind, Harm harm) {
    Tally *tally = &job->tallies->kinds[way][mutant->mutation->kind];
    count(&tally->made);
    count(kind == VERDICT_FINDINGS ? &tally->found
          : harm == HARMLESS       ? &tally->harmless
          : harm == OTHER_DATA     ? &tally->other
          : kind == VERDICT_CLEAN  ? &tally->missed
                                   : &tally->incomplete);
}

/* What is found one way matters the other way, too: a second opinion is asked where it is found in none. */
static void run_mutant(Job *job, const Variant *mutant, size_t number, uint32_t line) {
    const Base *base = mutant->base;
    const Mutation *mutation = mutant->mutation;
    Judgment said = {NOT_LOOKED_AT, ""};
    VerdictKind kinds[WAYS];
    Text rules[WAYS] = {{0}};
    for (Way way = WITH_LAUNCH; way < WAYS; way++) {
        kinds[way] = base->judged[way] ? ask(job, mutant, way, &rules[way]) : VERDICT_CLEAN;
        if (kinds[way] == VERDICT_FINDINGS)
            said = (Judgment){HARMFUL, "found the other way"};
    }
    for (Way way = WITH_LAUNCH; way < WAYS; way++) {
        bool found = kinds[way] == VERDICT_FINDINGS, clean = kinds[way] == VERDICT_CLEAN;
        Harm harm = base->judged[way] && !found ? judge(job, mutant, &said)->harm : NOT_LOOKED_AT;
        if (base->judged[way])
            tally_mutant(job, mutant, way, kinds[way], harm);
        if (!found)
            text_addf(&rules[way], "%s%s",
                      rules[way].size            ? ": "
                      : clean && harm == HARMFUL ? "missed: "
                                                 : "",
                      said.text);
        if (job->log && base->judged[way])
            fprintf(job->log, "%s\t%zu\t%s\t%u\t%.*s\t%s\t%.*s\t%s\n", base->path, number,
                    mutation_kind_name(mutation->kind), line, (int)mutation->about.size, mutation->about.data,
                    verdict_kind_name(kinds[way]), (int)rules[way].size, rules[way].data, way_names[way]);
        text_free(&rules[way]);
    }
}

/* False, and said: it is no module. */
static bool is_readable(Job *job, const Variant *mutant, size_t number, uint32_t line) {
    Reading reading;
    read_variant(&reading, mutant);
    bool ok = reading.ok;
    if (!ok) {
        count(&job->tallies->unreadable);
        fprintf(stderr, "mutate: fault %zu (%s, line %u) of %s cannot be read\n", number,
                mutation_kind_name(mutant->mutation->kind), line, mutant->base->path);
        say_errors(&reading);
    }
    free_reading(&reading);
    return ok;
}

static void count_idle(Job *job, const Base *base, MutationKind kind) {
    for (Way way = WITH_LAUNCH; way < WAYS; way++)
        if (base->judged[way])
            count(&job->tallies->kinds[way][kind].idle);
}

/* A loop is used if anything in it is. */
static bool is_used(const Uses *uses, const Mutation *mutation) {
    const Op *loop = mutation->op;
    bool used = uses_has(uses, loop, mutation->operand);
    for (const Op *op = loop->region_count ? loop : NULL; op && !used; op = op_next_in_walk(op, loop))
        used = uses_has(uses, op, NULL);
    return used;
}

static void run_mutants(Job *job, const Base *base, const Uses *uses) {
    Mutations mutations = {0};
    mutations_find(&base->reading->module, &mutations);
    size_t made = job->most && mutations.count > job->most ? job->most : mutations.count;
    for (size_t i = 0; i < made; i++) {
        size_t number = i * mutations.count / made;
        const Mutation *mutation = &mutations.items[number];
        if (job->only && !strstr(mutation_kind_name(mutation->kind), job->only))
            continue;
        bool lacks = is_of_fences(mutation->kind) && base->lacks_fences;
        uint32_t line = source_place(base->reading->source, mutation->op->offset).line;
        Variant mutant = {base, mutation};
        if (!is_used(uses, mutation) || lacks)
            count_idle(job, base, mutation->kind);
        else if (is_readable(job, &mutant, number + 1, line))
            run_mutant(job, &mutant, number + 1, line);
    }
}

/* ---- Files ---------------------------------------------------------------------------------------- */

/* Whether the runs of that launch alone are clean. */
static bool is_clean_in(const Job *job, const Variant *original, const Launch *launch) {
    Reading reading;
    read_variant(&reading, original);
    Module *module = &reading.module;
    VerdictKind kind = VERDICT_CLEAN;
    size_t kernels = program_kernels(module, NULL, 0);
    const Op **functions = ARENA_ARRAY(&module->arena, const Op *, kernels + 1);
    program_kernels(module, functions, kernels);
    for (size_t i = 0; i < kernels; i++) {
        Verdict verdict = {.arena = &module->arena};
        check_runs(module, functions[i], &(CheckOptions){.launch = launch, .only_launch = true, .budget = job->budget},
                   &verdict);
        verdict_close(&verdict);
        kind = verdict_worse(kind, verdict.kind);
    }
    free_reading(&reading);
    return kind == VERDICT_CLEAN;
}

/* Keeps a launch if it is another one than those before, and the file is clean in it. */
static void add_launch(const Job *job, Base *base, const Launch *launch) {
    Variant original = {base, NULL};
    Text text = {0}, other = {0};
    bool is_new = true;
    launch_describe(launch, &text);
    for (size_t i = 0; i < base->count && is_new; i++) {
        text_free(&other);
        launch_describe(&base->launches[i], &other);
        is_new = other.size != text.size || memcmp(other.data, text.data, text.size) != 0;
    }
    text_free(&text);
    text_free(&other);
    if (!is_new || !is_clean_in(job, &original, launch))
        return;
    size_t at = base->count++;
    base->launches[at] = *launch;
    base->orders[at] = find_order(job, &original, launch, false);
    OrderResult otherwise = find_order(job, &original, launch, true);
    base->otherwise[at] = !otherwise.races && !otherwise.stuck;
    if (base->orders[at].races)
        printf("%s has races by its plain order: lines %u and %u\n", base->path, base->orders[at].line,
               base->orders[at].other_line);
}

/* What Weir says of the file itself; false: it has findings, and nothing can be said of its mutants. */
static bool is_judged(const Job *job, const Base *base, Way way) {
    Text rules = {0};
    VerdictKind kind = ask(job, &(Variant){base, NULL}, way, &rules);
    bool judged = kind == VERDICT_CLEAN || kind == VERDICT_INCOMPLETE;
    if (!judged)
        printf("%s is not clean %s a launch: %.*s\n", base->path, way_names[way], (int)rules.size, rules.data);
    text_free(&rules);
    return judged;
}

static bool run_file(Job *job, const char *path) {
    Reading original, run; /* which ops are put into permanently: they are no faults to make */
    Arena arena;
    if (!open_file(&original, path))
        return false;
    arena_init(&arena, arena_budget);
    arena.exhausted = &out_of_memory;
    Base *base = ARENA_NEW(&arena, Base);
    Launch *launches = ARENA_ARRAY(&arena, Launch, MOST_LAUNCHES);
    *base = (Base){.path = path, .reading = &original};
    read_variant(&run, &(Variant){base, NULL});
    size_t given = read_launch(&arena, base, &launches[0]), chosen = given;
    if (given)
        chosen += launches_choose(&run.module, &launches[0], launches + chosen);
    chosen += launches_choose(&run.module, NULL, launches + chosen);
    for (size_t i = 0; i < chosen; i++)
        add_launch(job, base, &launches[i]);
    Uses uses = uses_create(&run.module);
    for (size_t i = 0; i < base->count; i++)
        uses_find(&uses, &run.module, &base->launches[i], job->budget);
    Text rules = {0};
    base->fences = fences_judge(&run.module, first_launch(base), job->releases, &rules);
    base->lacks_fences = base->fences.kind != VERDICT_CLEAN;
    text_free(&rules);
    base->judged[WITH_LAUNCH] = given && is_judged(job, base, WITH_LAUNCH);
    base->judged[WITHOUT_LAUNCH] = is_judged(job, base, WITHOUT_LAUNCH);
    run_mutants(job, base, &uses);
    arena_free(&arena);
    free_reading(&run);
    free_reading(&original);
    return true;
}

static void print_tally(const char *name, const Tally *tally) {
    printf("%-20s %8zu %8zu %8zu %12zu %10zu %10zu %8zu\n", name, tally->idle, tally->made, tally->found,
           tally->incomplete, tally->harmless, tally->other, tally->missed);
}

/* Returns how many were missed. */
static size_t print_table(const Job *job, Way way) {
    Tally all = {0};
    bool any = false;
    for (unsigned kind = 0; kind < MUTATION_KINDS; kind++)
        any |= job->tallies->kinds[way][kind].made || job->tallies->kinds[way][kind].idle;
    if (!any)
        return 0;
    printf("%s a launch\n%-20s %8s %8s %8s %12s %10s %10s %8s\n", way_names[way], "fault", "idle", "made", "found",
           "incomplete", "harmless", "other data", "missed");
    for (unsigned kind = 0; kind < MUTATION_KINDS; kind++) {
        const Tally *tally = &job->tallies->kinds[way][kind];
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
    size_t matter = all.found + all.incomplete + all.missed;
    printf("of %zu that matter %zu are found: %.1f %%\n", matter, all.found,
           matter ? 100.0 * (double)all.found / (double)matter : 100.0);
    return all.missed;
}

/* The files whose turn it is: one in `jobs`, from the first on. */
static int run_turn(Job *job, char **paths, size_t paths_count, size_t first) {
    if (setjmp(out_of_memory)) {
        fprintf(stderr, "mutate: there is no memory\n");
        return 2;
    }
    for (size_t i = first; i < paths_count; i += job->jobs) {
        if (!run_file(job, paths[i]))
            return 2;
        fflush(stdout);
    }
    return 0;
}

static int run_files(Job *job, char **paths, size_t paths_count) {
    int status = 0, ended;
    job->tallies = mmap(NULL, sizeof *job->tallies, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (job->tallies == MAP_FAILED)
        return 2;
    fflush(stdout);
    for (size_t i = 1; i < job->jobs; i++) {
        pid_t child = fork();
        if (child == 0)
            exit(run_turn(job, paths, paths_count, i));
        status = child < 0 ? 2 : status;
    }
    if (run_turn(job, paths, paths_count, 0) != 0)
        status = 2;
    while (wait(&ended) > 0)
        if (ended != 0)
            status = 2;
    size_t missed = 0;
    for (Way way = WITH_LAUNCH; way < WAYS && status == 0; way++)
        missed += print_table(job, way);
    return status ? status : job->tallies->unreadable || missed ? 1 : 0;
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
                    "[--triton RELEASE] [--jobs N] FILE...\n");
    return 2;
}

static int obey(int count, char **arguments) {
    Job job = {.budget = usual_budget, .jobs = 1};
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
            setvbuf(job.log, NULL, _IOLBF, 1 << 16); /* several jobs write to it */
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
        else if (strcmp(option, "jobs") == 0)
            job.jobs = (size_t)number;
        else
            return usage();
    }
    if (at == count)
        return usage();
    int status = run_files(&job, arguments + at, (size_t)(count - at));
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
