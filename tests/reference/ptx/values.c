/* Runs kernels with made-up launches, and holds what the value analysis says of every value against what it is.
 *
 *     values [OPTION...] FILE.ptx|FOLDER...
 *
 *     --checks N, --seed N, --steps N, --show N, --list, --random N, --print, --mislead
 *
 * Of each kernel as many launches as it takes for its part of N checks (100,000), each of at most --steps instructions
 * of warps (20,000). Prints what did not hold, --show instructions of each file (5) at most, and the count of it all;
 * --list prints what each kernel did. --random N: N random kernels (generate.c), too, from number --seed on; --print
 * prints those of them in which something did not hold. With --mislead the analysis is told that CTAs are 32 threads in
 * a row, and they are not, and other claims are made wrong (claims.c): every kind has to be found wrong then, which
 * tests this program. Exit status: 0 if every claim held, 1 if not, 2 if there is nothing to check or the command line
 * is wrong. */
#include "values.h"

#include "ptx/reader.h"

#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Options {
    uint64_t checks, seed, steps, random;
    unsigned show;
    bool list, mislead, print;
} Options;

static Options options = {.checks = 100000, .steps = 20000, .show = 5};
static Tally tally;
static bool first_pass = true;
static char **files;
static size_t file_count, file_capacity;

/* What stopped launches, and how often. */
typedef struct Reason {
    char text[120];
    uint64_t count;
} Reason;
static Reason reasons[64];
static unsigned reason_count;

static void note_reason(Str what) {
    char text[120];
    snprintf(text, sizeof text, "%.*s", (int)(what.size < 100 ? what.size : 100), what.data);
    for (unsigned i = 0; i < reason_count; i++)
        if (!strcmp(reasons[i].text, text)) {
            reasons[i].count++;
            return;
        }
    if (reason_count < sizeof reasons / sizeof *reasons) {
        memcpy(reasons[reason_count].text, text, sizeof text);
        reasons[reason_count++].count = 1;
    }
}

static int note_file(const char *path, const struct stat *status, int kind, struct FTW *walk) {
    (void)status;
    (void)walk;
    size_t size = strlen(path);
    if (kind != FTW_F || size < 4 || strcmp(path + size - 4, ".ptx") != 0)
        return 0;
    if (file_count == file_capacity)
        files = realloc(files, (file_capacity = file_capacity ? 2 * file_capacity : 64) * sizeof *files);
    files[file_count++] = strdup(path);
    return 0;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static uint64_t seed_of(const char *file, uint32_t kernel, unsigned launch) {
    uint64_t seed = options.seed + 1;
    const char *slash = strrchr(file, '/');
    for (const char *at = slash ? slash + 1 : file; *at; at++)
        seed = (seed ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    return (seed ^ kernel) * UINT64_C(0x100000001b3) + launch * UINT64_C(0x9e3779b97f4a7c15);
}

/* Launches of one kernel, for one shape that the analysis is told or for none, until there were `wanted` checks. */
static void run_shape(Machine *machine, PtxModule *module, uint32_t kernel, const char *file, bool shaped,
                      uint64_t wanted) {
    HavocDependent made;
    enum { MOST_LAUNCHES = 24 };
    uint64_t until = tally.checks + wanted;
    if (!make_up_launch(machine, module, kernel, shaped, NULL, seed_of(file, kernel, shaped ? 1000 : 0), &made))
        return;
    PtxBlockShape given = made.given, lie = {.x = 32, .y = 1, .z = 1};
    Claims *claims = claims_new(module, file, options.mislead ? &lie : &given, &tally, options.show, options.mislead);
    Watcher watcher = claims_watcher(claims);
    free(made.parameters);
    for (unsigned i = 0; i < MOST_LAUNCHES && tally.checks < until; i++) {
        make_up_launch(machine, module, kernel, shaped, &given, seed_of(file, kernel, i + (shaped ? 1000 : 0)), &made);
        made.launch.steps = options.steps;
        End end = machine_run(machine, &made.launch, &watcher);
        claims_next(claims);
        tally.launches++;
        tally.steps += end.steps;
        tally.ends[end.kind]++;
        tally.forced += end.forced;
        if (end.kind == END_STOPPED)
            note_reason(end.what);
        free(made.parameters);
    }
    claims_free(claims);
}

static void run_kernel(Machine *machine, PtxModule *module, uint32_t kernel, const char *file, uint64_t wanted) {
    Tally before = tally;
    tally.kernels += first_pass;
    if (!options.mislead)
        run_shape(machine, module, kernel, file, false, wanted);
    for (unsigned i = 0; i < 2; i++)
        if (tally.checks < before.checks + 2 * wanted)
            run_shape(machine, module, kernel, file, true, wanted / 2);
    if (options.list)
        printf("%s %.*s: %" PRIu64 " launches, %" PRIu64 " steps, %" PRIu64 " checks, %" PRIu64 " of spans, %" PRIu64
               " violations, %" PRIu64 " broken assumptions, ends %" PRIu64 "/%" PRIu64 "/%" PRIu64 "/%" PRIu64 "\n",
               file, STR_ARG(ptx_name(module, module->functions[kernel].name)), tally.launches - before.launches,
               tally.steps - before.steps, tally.checks - before.checks, tally.spans - before.spans,
               tally.violations - before.violations, tally.broken - before.broken, tally.ends[0] - before.ends[0],
               tally.ends[1] - before.ends[1], tally.ends[2] - before.ends[2], tally.ends[3] - before.ends[3]);
    fflush(stdout);
}

/* How many kernels a text has: what it is worth. */
static uint64_t kernels_in(const char *file) {
    const char *problem;
    uint64_t count = 0;
    Source *source = source_read(file, &problem);
    for (const char *at = source ? source->data : NULL; at; count += at != NULL)
        if ((at = strstr(at, ".entry ")))
            at++;
    source_free(source);
    return count;
}

static void run_module(Source *source, const char *file, uint64_t wanted) {
    PtxModule module;
    Diagnostics diagnostics = {0};
    if (ptx_read(&module, source, false, &diagnostics)) {
        Machine *machine = machine_new(&module);
        for (uint32_t f = 0; f < module.functions_count; f++)
            if (module.functions[f].entry && module.functions[f].body)
                run_kernel(machine, &module, f, file, wanted);
        machine_free(machine);
    } else if (options.list) {
        printf("%s: it is no PTX that can be read: %s\n", file, diagnostics.items[0].message);
    }
    ptx_free(&module);
    diagnostics_free(&diagnostics);
    source_free(source);
}

static bool run_file(const char *file, uint64_t wanted) {
    const char *problem;
    Source *source = source_read(file, &problem);
    if (source)
        run_module(source, file, wanted);
    else
        fprintf(stderr, "%s: %s\n", file, problem);
    return source != NULL;
}

static void run_random(void) {
    enum { CHECKS_EACH = 1500 };
    uint64_t first = options.seed;
    options.seed = 0; /* launches go by the kernel's number alone, so that one by itself is the same as among others */
    for (uint64_t i = 0; i < options.random; i++) {
        char name[40];
        Text text = {0};
        uint64_t before = tally.violations, kernels = tally.kernels;
        snprintf(name, sizeof name, "random-%" PRIu64, first + i);
        generate_kernel(first + i, &text);
        run_module(source_copy(name, text.data, text.size), name, CHECKS_EACH);
        if ((options.print && tally.violations != before) || tally.kernels == kernels)
            printf("%.*s", (int)text.size, text.data);
        text_free(&text);
    }
    options.seed = first;
}

static bool take_arguments(int count, char **arguments) {
    static const struct {
        const char *name;
        uint64_t *to;
    } numbers[] = {{"--checks", &options.checks},
                   {"--seed", &options.seed},
                   {"--steps", &options.steps},
                   {"--random", &options.random}};
    for (int i = 1; i < count; i++) {
        bool taken = false;
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
            if (!strcmp(arguments[i], numbers[k].name) && i + 1 < count) {
                *numbers[k].to = strtoull(arguments[++i], NULL, 10);
                taken = true;
                break;
            }
        if (taken)
            continue;
        if (!strcmp(arguments[i], "--show") && i + 1 < count)
            options.show = (unsigned)strtoul(arguments[++i], NULL, 10);
        else if (!strcmp(arguments[i], "--list"))
            options.list = true;
        else if (!strcmp(arguments[i], "--mislead"))
            options.mislead = true;
        else if (!strcmp(arguments[i], "--print"))
            options.print = true;
        else if (arguments[i][0] == '-' || nftw(arguments[i], note_file, 16, 0))
            return false;
    }
    qsort(files, file_count, sizeof *files, by_name);
    return file_count > 0 || options.random > 0;
}

static void print_count(void) {
    printf("%zu files, %" PRIu64 " kernels, %" PRIu64 " launches: %" PRIu64 " ended, %" PRIu64
           " ran out of steps, %" PRIu64 " trapped, %" PRIu64 " stopped; %" PRIu64 " times barriers were opened\n",
           file_count, tally.kernels, tally.launches, tally.ends[END_REACHED], tally.ends[END_STEPS],
           tally.ends[END_TRAP], tally.ends[END_STOPPED], tally.forced);
    for (unsigned i = 0; i < reason_count; i++)
        printf("    stopped %" PRIu64 " times: %s\n", reasons[i].count, reasons[i].text);
    printf("%" PRIu64 " instructions of warps, %" PRIu64 " checks of %" PRIu64 " values of lanes, %" PRIu64
           " with another warp; nothing is said of %" PRIu64 ", %" PRIu64 " are undefined\n",
           tally.steps, tally.checks, tally.lanes, tally.spans, tally.unclaimed, tally.undefined);
    printf("%" PRIu64 " times an index wrapped that was assumed not to; behind that, %" PRIu64
           " claims that assume it were passed over, and %" PRIu64 " that do not say so did not hold\n",
           tally.broken, tally.excused, tally.behind);
    static const char *const kinds[CLAIM_KINDS] = {"constant",       "uniform",   "table",       "affine",
                                                   "affine in bits", "some bits", "state space", "block"};
    for (unsigned i = 0; i < CLAIM_KINDS; i++)
        printf("    %-15s %12" PRIu64 " checks %10" PRIu64 " violations\n", kinds[i], tally.kinds[i], tally.wrong[i]);
    printf("%" PRIu64 " violations\n", tally.violations);
}

/* Each kind of claim was found wrong. */
static int status_of_lies(void) {
    for (unsigned i = 0; i < CLAIM_KINDS; i++)
        if (!tally.wrong[i])
            return 1;
    return 0;
}

int main(int count, char **arguments) {
    if (!take_arguments(count, arguments)) {
        fprintf(stderr, "values [--checks N] [--seed N] [--steps N] [--show N] [--list] [--mislead] [--random N] "
                        "[--print] FILE.ptx|FOLDER...\n");
        return 2;
    }
    uint64_t kernels = 0;
    run_random();
    options.checks += tally.checks; /* those are beside the ones of files */
    for (size_t i = 0; i < file_count; i++)
        kernels += kernels_in(files[i]);
    for (unsigned pass = 0; pass < 8 && tally.checks < options.checks && kernels; pass++) {
        uint64_t wanted = (options.checks - tally.checks) / kernels / 2 + 1;
        for (size_t i = 0; i < file_count; i++)
            if (!run_file(files[i], wanted))
                return 2;
        options.seed++;
        first_pass = false;
    }
    print_count();
    if (options.mislead)
        return status_of_lies();
    return tally.violations ? 1 : tally.checks ? 0 : 2;
}
