/* The machine of PTX on litmus tests: in every order, with everything that reads may give, it has to report a race
 * exactly where there is one.
 *
 *     machine [--most RUNS] [--times] cases.tsv        kernels NAME.ptx with NAME.launch.json beside the table, which
 * says `race` or `clean` of each machine [--most RUNS] [--times] --root DIR a.csv litmus tests below DIR, named in the
 * table; translated to PTX, and held against the evaluator of tests/reference/litmus The last line is `N passed, N
 * failed`. */
#include "check/simt/watch.h"
#include "machine/simt/schedule/explore.h"
#include "ptx/reader.h"
#include "translate.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static unsigned passed, failed, skipped;
static uint64_t most = 200000;
static bool times, every;

/* What came of a kernel. */
typedef struct Outcome {
    const char *problem; /* it could not be run */
    bool race, stuck;
    PtxExplored explored;
    char example[200];
    unsigned words;        /* of an outcome; 0: nothing asks, and the first race is enough */
    char outcomes[64][64]; /* " 5,6 " */
    unsigned outcome_count;
    bool translated, decided; /* a litmus test: an outcome decides its condition */
} Outcome;

/* ---- Running ---- */

typedef struct Look {
    PtxWatch *watch;
    const PtxMachine *machine;
    Outcome *outcome;
} Look;

static void on_start(void *context) {
    ptx_watch_start(((Look *)context)->watch);
}

static void on_event(void *context, const PtxEvent *event) {
    ptx_watch_observe(((Look *)context)->watch, event);
}

/* The words that the run has left where a parameter points, the first or the second. */
static void words_at(PtxMachine *machine, unsigned parameter, int32_t *words, unsigned count) {
    uint64_t address;
    uint32_t at = 0;
    memcpy(&address, machine->launch->parameters + 8 * parameter, sizeof address);
    while (at < machine->block_count && machine->blocks[at].base != address)
        at++;
    for (unsigned i = 0; i < count; i++) {
        bool known;
        words[i] = at < machine->block_count && 4 * i < machine->blocks[at].size
                       ? (int32_t)ptx_load(machine, (PtxLocation){&machine->blocks[at], 4 * i}, 4, &known)
                       : 0;
    }
}

static void note_outcome(const Look *look) {
    PtxMachine *machine = (PtxMachine *)look->machine;
    Outcome *outcome = look->outcome;
    char text[64] = " ";
    int32_t out[256], mem[256];
    words_at(machine, 0, out, 256);
    words_at(machine, 1, mem, 256);
    if (outcome->translated)
        outcome->decided |= litmus_decides(out, mem);
    for (unsigned i = 0; i < outcome->words; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d", i ? "," : "", out[i]);
    strncat(text, " ", sizeof text - strlen(text) - 1);
    unsigned i = 0;
    while (i < outcome->outcome_count && strcmp(outcome->outcomes[i], text))
        i++;
    if (i == outcome->outcome_count && i < 64)
        strcpy(outcome->outcomes[outcome->outcome_count++], text);
}

static bool on_end(void *context, PtxEnd end, const Trail *trail) {
    Look *look = context;
    Outcome *outcome = look->outcome;
    (void)trail;
    ptx_watch_end(look->watch);
    outcome->stuck |= end == PTX_END_STUCK;
    if (end == PTX_END_FAULT)
        outcome->problem = look->machine->fault.what ? look->machine->fault.what : "fault";
    if (end == PTX_END_UNKNOWN)
        outcome->problem = look->machine->unknown_why ? look->machine->unknown_why : "an instruction is not known";
    uint32_t count;
    const PtxRace *races = ptx_watch_races(look->watch, &count);
    if (count) {
        outcome->race = true;
        snprintf(outcome->example, sizeof outcome->example, "lines %u and %u, reason %d",
                 code_line(look->machine->program, races[0].first.code),
                 races[0].second.code ? code_line(look->machine->program, races[0].second.code) : 0, races[0].reason);
    }
    if (end == PTX_END_COMPLETE)
        note_outcome(look);
    return outcome->problem || (outcome->race && !outcome->words);
}

static void explore(PtxMachine *machine, Outcome *outcome) {
    Arena arena;
    arena_init(&arena, (size_t)1 << 30);
    Look look = {.machine = machine, .outcome = outcome};
    look.watch = ptx_watch(&arena, machine, &(PtxWatchOptions){.history = true}, &outcome->problem);
    PtxExplorer explorer = {&look, on_start, on_event, ptx_watch_reads(look.watch), on_end, every};
    if (look.watch)
        ptx_explore(machine, &explorer, most, &outcome->explored);
    if (!outcome->problem && !outcome->race && look.watch && !outcome->explored.complete)
        outcome->problem = outcome->explored.left;
    ptx_watch_free(look.watch);
    arena_free(&arena);
}

static uint32_t entry_of(const PtxModule *module) {
    uint32_t kernel = 0;
    while (kernel < module->functions_count && !module->functions[kernel].entry)
        kernel++;
    return kernel;
}

static void run_sources(Source *text, Source *launch_text, Outcome *outcome) {
    Arena arena;
    arena_init(&arena, (size_t)1 << 30);
    PtxModule module;
    Diagnostics diagnostics = {0};
    Launch given = {0};
    PtxLaunch *launch = ARENA_NEW(&arena, PtxLaunch);
    if (!ptx_read(&module, text, false, &diagnostics)) {
        outcome->problem = "the PTX cannot be read";
    } else if (!launch_read(&arena, launch_text, &given, &diagnostics)) {
        outcome->problem = "its launch cannot be read";
    } else {
        PtxProgram *program = ptx_program(&arena, &module, entry_of(&module), SIZE_MAX, &outcome->problem);
        PtxMachine *machine = NULL;
        if (program && ptx_launch_bind(&arena, program, &given, launch, &outcome->problem))
            machine = ptx_machine(program, launch, COMPUTES_ALL, &outcome->problem);
        if (machine)
            explore(machine, outcome);
        ptx_machine_free(machine);
        ptx_free(&module);
    }
    arena_free(&arena);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* ---- Verdicts ---- */

/* Nothing but what the model allows; of a clean kernel all of it. */
static const char *compare_outcomes(const Outcome *outcome, const char *allowed) {
    static char text[200];
    char padded[512];
    snprintf(padded, sizeof padded, " %s ", allowed);
    for (unsigned i = 0; i < outcome->outcome_count; i++)
        if (!strstr(padded, outcome->outcomes[i])) {
            snprintf(text, sizeof text, "outcome%sis not allowed", outcome->outcomes[i]);
            return text;
        }
    unsigned expected = 0;
    for (const char *at = allowed; *at; at += strspn(at, " "), expected++)
        at += strcspn(at, " ");
    if (outcome->race || expected == outcome->outcome_count)
        return NULL;
    snprintf(text, sizeof text, "%u outcomes, not %u", outcome->outcome_count, expected);
    return text;
}

/* `race`: there is one; `in_order`: one that has to be found. */
static void judge(const char *name, bool race, bool in_order, const Outcome *outcome, double seconds) {
    bool fine = !outcome->problem && (outcome->race ? race : !in_order);
    if (!fine)
        printf("failed: %s: %s%s%s%s\n", name, race ? "a race is expected" : "no race is expected",
               outcome->problem ? ": " : "", outcome->problem ? outcome->problem : "",
               outcome->race ? outcome->example : "");
    if (times) {
        printf("%s\t%s\t%llu runs, %llu left\t%.3f s\t", name, outcome->race ? outcome->example : "clean",
               (unsigned long long)outcome->explored.runs, (unsigned long long)outcome->explored.pruned, seconds);
        for (unsigned i = 0; i < outcome->outcome_count; i++)
            printf("%s", outcome->outcomes[i]);
        printf("\n");
    }
    *(fine ? &passed : &failed) += 1;
}

static void case_line(const char *folder, char *text) {
    char path[4096];
    const char *name = strsep(&text, "\t"), *verdict = strsep(&text, "\t"), *allowed = strsep(&text, "\t");
    const char *problem = NULL;
    Outcome outcome = {.words = 1};
    if (name[0] == '#' || !allowed)
        return;
    for (const char *at = allowed; *at && *at != ' '; at++)
        outcome.words += *at == ',';
    snprintf(path, sizeof path, "%s/%s.ptx", folder, name);
    Source *ptx = source_read(path, &problem);
    snprintf(path, sizeof path, "%s/%s.launch.json", folder, name);
    Source *launch = source_read(path, &problem);
    double begin = now();
    if (ptx && launch)
        run_sources(ptx, launch, &outcome);
    else
        outcome.problem = problem;
    if (!outcome.problem)
        outcome.problem = compare_outcomes(&outcome, allowed);
    judge(name, !strcmp(verdict, "race"), !strcmp(verdict, "race"), &outcome, now() - begin);
    source_free(ptx);
    source_free(launch);
}

/* `everything`: races in executions with a cycle have to be found, too; the tests in tables have none that are only
 * there. */
static void run_translated(const char *name, const Translated *translated, bool everything) {
    Outcome outcome = {.translated = true};
    Source *ptx = source_copy(name, translated->text, strlen(translated->text));
    Source *launch = source_copy(name, translated->launch, strlen(translated->launch));
    double begin = now();
    run_sources(ptx, launch, &outcome);
    bool reached = litmus_holds(true) == translated->holds; /* by the evaluator */
    if (!outcome.problem && !outcome.race && outcome.decided && !reached)
        outcome.problem = "an outcome is not allowed";
    if (everything && !outcome.problem && !outcome.race && !outcome.decided && reached) {
        printf("%s: an outcome comes from executions with a cycle alone, which are not explored\n", name);
    }
    judge(name, translated->race, everything ? translated->race : translated->in_order, &outcome, now() - begin);
    source_free(ptx);
    source_free(launch);
}

static void litmus_file(const char *name, const char *path) {
    static Translated translated;
    const char *problem = NULL;
    Source *source = source_read(path, &problem);
    if (source)
        litmus_translate(source->data, &translated);
    problem = source ? translated.unread : problem;
    if (problem) {
        printf("failed: %s: %s\n", path, problem);
        failed++;
    } else if (translated.problem) {
        skipped++;
        if (times)
            printf("%s\tleft out\t%s\n", name, translated.problem);
    } else {
        run_translated(name, &translated, true);
    }
    source_free(source);
}

/* FILE,1 */
static void litmus_line(const char *root, char *text) {
    char path[4096], *comma = strrchr(text, ',');
    if (!comma)
        return;
    *comma = '\0';
    snprintf(path, sizeof path, "%s/%s", root, text);
    litmus_file(text, path);
}

/* NAME, and what the evaluator says of it */
static void model_line(const char *folder, char *text) {
    char path[4096];
    const char *name = strsep(&text, "\t");
    if (name[0] == '#' || !text)
        return;
    snprintf(path, sizeof path, "%s/%s.litmus", folder, name);
    litmus_file(name, path);
}

static void table(const char *root, const char *path) {
    const char *problem = NULL;
    Source *source = source_read(path, &problem);
    char folder[4096], *rest = source ? source->data : NULL;
    if (!source) {
        printf("failed: %s: %s\n", path, problem);
        failed++;
        return;
    }
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    *(slash ? slash : folder) = '\0';
    bool model = strstr(path, "expected.tsv");
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n"))
        (root ? litmus_line : model ? model_line : case_line)(root ? root : folder, line);
    source_free(source);
}

static void run_random(uint64_t first, uint64_t count) {
    static Translated translated;
    char text[4096], name[64];
    for (uint64_t seed = first; seed < first + count; seed++) {
        unsigned before = failed;
        litmus_random(seed, text, sizeof text);
        litmus_translate(text, &translated);
        snprintf(name, sizeof name, "random test %llu", (unsigned long long)seed);
        if (translated.unread) {
            printf("failed: %s: %s\n", name, translated.unread);
            failed++;
        } else if (!translated.problem) {
            run_translated(name, &translated, false);
        }
        if (failed > before)
            printf("%s", text);
    }
}

int main(int count, char **arguments) {
    const char *root = NULL;
    uint64_t seed = 1;
    for (int i = 1; i < count; i++) {
        if (!strcmp(arguments[i], "--root") && i + 1 < count)
            root = arguments[++i];
        else if (!strcmp(arguments[i], "--most") && i + 1 < count)
            most = strtoull(arguments[++i], NULL, 10);
        else if (!strcmp(arguments[i], "--random") && i + 1 < count)
            run_random(seed, strtoull(arguments[++i], NULL, 10));
        else if (!strcmp(arguments[i], "--seed") && i + 1 < count)
            seed = strtoull(arguments[++i], NULL, 10);
        else if (!strcmp(arguments[i], "--times"))
            times = true;
        else if (!strcmp(arguments[i], "--every"))
            every = true;
        else
            table(root, arguments[i]);
    }
    if (skipped)
        printf("%u tests are not for this machine: several GPUs, other proxies, aliases, barriers that PTX does not "
               "have\n",
               skipped);
    printf("%u passed, %u failed\n", passed, failed);
    return failed || !passed;
}
