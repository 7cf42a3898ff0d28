/* How often the sampled mode of the check of global memory finds something: runs kernels in a row with one seed after
 * the other.
 *
 *     rates --seeds N [OPTION...] FILE.ttgir...
 *
 * Each file is launched as the FILE.launch.json beside it says. Options are those of weir run: --slots, --ring,
 * --schedules, --devices, --grid, --arg (once), --rules. Prints in how many of the seeds 1 to N something was found,
 * and in how many nothing was but not everything could be looked at. Exit status 2 if a file cannot be run. */
#include <weir/weir.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILES = 16 };

typedef struct Rates {
    weir_context *weir;
    weir_run_options run;
    const char *argument;
    unsigned long seeds;
    char **files;
    size_t count;
    char *launches[MOST_FILES];
} Rates;

static void give_up(const char *what, const char *why) {
    fprintf(stderr, "rates: %s: %s\n", what, why);
    exit(2);
}

static char *launch_beside(const char *file) {
    const char *dot = strrchr(file, '.');
    char *path = NULL;
    if (asprintf(&path, "%.*s.launch.json", (int)(dot ? (size_t)(dot - file) : strlen(file)), file) < 0)
        give_up(file, "there is not enough memory");
    return path;
}

/* What all kernels together got with a seed. */
static weir_verdict run_row(const Rates *rates, uint64_t seed) {
    weir_file *files[MOST_FILES];
    weir_module *modules[MOST_FILES];
    weir_result *results[MOST_FILES];
    weir_run_options options[MOST_FILES];
    weir_verdict verdict = WEIR_VERDICT_CLEAN;
    for (size_t i = 0; i < rates->count; i++) {
        files[i] = weir_open(rates->weir, rates->files[i]);
        modules[i] = files[i] ? weir_parse(files[i], 0, 0) : NULL;
        if (!modules[i])
            give_up(rates->files[i], "cannot be read");
        options[i] = rates->run;
        options[i].seed = seed;
        options[i].launch = rates->launches[i];
    }
    if (weir_run_row(modules, options, rates->count, results) != 0)
        give_up(rates->files[0], "there is not enough memory");
    for (size_t i = 0; i < rates->count; i++) {
        verdict = weir_verdict_worse(verdict, weir_result_verdict(results[i]));
        weir_result_free(results[i]);
    }
    for (size_t i = 0; i < rates->count; i++) {
        weir_module_free(modules[i]);
        weir_close(files[i]);
    }
    if (verdict == WEIR_VERDICT_ERROR)
        give_up(rates->files[0], "cannot be run");
    return verdict;
}

static void parse(Rates *rates, int count, char **arguments) {
    static const struct option options[] = {
        {"seeds", required_argument, NULL, 'n'},
        {"slots", required_argument, NULL, 's'},
        {"ring", required_argument, NULL, 'r'},
        {"schedules", required_argument, NULL, 'o'},
        {"devices", required_argument, NULL, 'd'},
        {"grid", required_argument, NULL, 'g'},
        {"arg", required_argument, NULL, 'a'},
        {"rules", required_argument, NULL, 'R'},
        {0},
    };
    weir_run_options *run = &rates->run;
    for (int option; (option = getopt_long(count, arguments, "", options, NULL)) != -1;) {
        unsigned long number = strtoul(optarg ? optarg : "", NULL, 10);
        switch (option) {
        case 'n':
            rates->seeds = number;
            break;
        case 's':
            run->slots = (unsigned)number;
            break;
        case 'r':
            run->ring = (unsigned)number;
            break;
        case 'o':
            run->schedules = (unsigned)number;
            break;
        case 'd':
            run->devices = (unsigned)number;
            break;
        case 'g':
            run->grid = optarg;
            break;
        case 'a':
            rates->argument = optarg;
            break;
        case 'R':
            run->rules = optarg;
            break;
        default:
            exit(2);
        }
    }
    rates->files = arguments + optind;
    rates->count = (size_t)(count - optind);
}

int main(int count, char **arguments) {
    Rates rates = {.weir = weir_create(), .run = {.gsan = "sampled"}};
    unsigned long found = 0, incomplete = 0;
    parse(&rates, count, arguments);
    if (!rates.weir || !rates.count || rates.count > MOST_FILES)
        give_up("usage", "rates --seeds N [OPTION...] FILE.ttgir...");
    if (rates.argument) {
        rates.run.arguments = &rates.argument;
        rates.run.argument_count = 1;
    }
    for (size_t i = 0; i < rates.count; i++)
        rates.launches[i] = launch_beside(rates.files[i]);
    for (unsigned long seed = 1; seed <= rates.seeds; seed++) {
        weir_verdict verdict = run_row(&rates, seed);
        found += verdict == WEIR_VERDICT_FINDINGS;
        incomplete += verdict == WEIR_VERDICT_INCOMPLETE;
    }
    printf("%lu %lu\n", found, incomplete);
    for (size_t i = 0; i < rates.count; i++)
        free(rates.launches[i]);
    weir_destroy(rates.weir);
    return 0;
}
