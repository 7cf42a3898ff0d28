/* Holds Weir's placement of thread barriers against the checker: random kernels, each with the barriers that the models
 * sync, near and async put into it.
 *
 *     compare [--seed N] [--count N] [--needless N]   kernels from number N (0) on, as many as that (3000); prints the
 *                                                     first N kernels (0) that have a barrier which parts nothing
 *     compare --print N                               kernel number N, with the barriers of async
 *
 * What must hold:
 *   sound      in no kernel does any path have a race, whichever model placed the barriers; nor after those of the text
 *              that the model calls needless are left out
 *   needed     of the barriers that async places, leaving out one gives a race, for LEAST_NEEDED percent of them; asked
 *              only of kernels that say where their allocations lie, since otherwise Weir's opinion of what overlaps is
 *              not the checker's, and whose loops run an unknown number of times
 *   no more    async places no more barriers than sync, in every kernel; and on no path are more of them met, but for
 *              paths on which an scf.for does not run once: a barrier that was moved out of it is met there
 *
 * Exit status: 0 if it holds, 1 if not, 2 if the command line is wrong. A kernel with too many paths is passed over. */
#include "sound.h"

#include "check/membar/report.h"
#include "mlir/reader.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEAST_NEEDED = 99, MODELS = MEMBAR_ASYNC + 1, MOST_PRINTED = 5 };

static const char *const model_names[MODELS] = {"sync", "near", "async"};

/* Between what a barrier is. */
typedef enum Reason { REASON_ONE_ALLOCATION, REASON_TWO_ALLOCATIONS, REASON_MBARRIER, REASONS } Reason;
static const char *const reason_names[REASONS] = {"slots of one allocation", "two allocations", "an mbarrier"};

/* One kernel, and what each model does to it. */
typedef struct Kernel {
    uint64_t seed;
    Text text, emitted; /* emitted: by async, pruned */
    SoundProgram program;
    SoundTraits traits;
    SoundPlacement placements[MODELS], pruned[MODELS];
    unsigned need_counts[MODELS];
    Reason reasons[SOUND_LINES][2]; /* of the barriers of async, before and after a line */
} Kernel;

typedef struct Tally {
    uint64_t kernels, passed_over, paths;
    uint64_t placed[MODELS], of_text[MODELS], needless_of_text[MODELS];
    uint64_t tried, needed, needless[REASONS];
    uint64_t fewer, longer_past_loops, faults;
    uint64_t needless_shown, needless_limit;
} Tally;

/* ---- Weir's opinion ---------------------------------------------------------------------------------------------- */

static unsigned line_of(Source *source, const Op *op) {
    return source_place(source, op->offset).line;
}

/* What stands first among its hazards. */
static Reason reason_of(const MembarNeed *need) {
    const MembarHazard *hazard = need->hazards;
    if (!need->hazard_count)
        return REASON_ONE_ALLOCATION;
    if (hazard->first_buffer != hazard->second_buffer)
        return REASON_TWO_ALLOCATIONS;
    return hazard->end - hazard->begin < SOUND_TILE ? REASON_MBARRIER : REASON_ONE_ALLOCATION;
}

/* A sentence if Weir could not place all that it needs. */
static const char *place(Kernel *kernel, Source *source, const MembarResult *result) {
    SoundPlacement *placement = &kernel->placements[result->model], *pruned = &kernel->pruned[result->model];
    *placement = (SoundPlacement){0};
    for (size_t i = 0; i < result->need_count; i++) {
        const MembarNeed *need = &result->needs[i];
        unsigned line = line_of(source, need->op);
        if (need->kind != MEMBAR_LOCAL)
            return "there is a barrier of a kind that nothing here needs";
        if (need->after)
            line = kernel->program.lines[line].end;
        placement->marks[line] |= need->after ? SOUND_AFTER : SOUND_BEFORE;
        kernel->reasons[line][need->after] = reason_of(need);
    }
    kernel->need_counts[result->model] = (unsigned)result->need_count;
    *pruned = *placement;
    for (size_t i = 0; i < result->present_count; i++)
        if (result->present[i].needless)
            pruned->marks[line_of(source, result->present[i].op)] |= SOUND_LEFT_OUT;
    return result->problem;
}

static const Op *function_of(Module *module) {
    for (const Item *item = module->first; item; item = item->next)
        if (item->kind == ITEM_OP)
            for (const Op *op = item->op; op; op = op_next_in_walk(op, item->op))
                if (op_function(op))
                    return op;
    return NULL;
}

static bool analyze(Kernel *kernel, Tally *tally, Text *problems) {
    Module module;
    Diagnostics diagnostics = {0};
    jmp_buf out_of_memory;
    Source *source = source_copy("kernel.mlir", kernel->text.data, kernel->text.size);
    if (!source)
        abort();
    Unit unit = {.end = source->size};
    bool good = read_unit(&module, source, &unit, (ReadOptions){.strict = true}, &diagnostics);
    for (size_t i = 0; i < diagnostics.count; i++)
        diagnostic_render(&diagnostics.items[i], source->name, false, problems);
    module.arena.exhausted = &out_of_memory;
    if (setjmp(out_of_memory)) {
        text_addf(problems, "there was too little memory\n");
        good = false;
    } else if (good) {
        const Op *function = function_of(&module);
        for (int model = 0; model < MODELS; model++) {
            const MembarResult *result = membar_analyze(&module, function, (MembarModel)model, 0);
            const char *problem = place(kernel, source, result);
            tally->placed[model] += result->need_count;
            tally->of_text[model] += result->present_count;
            for (size_t i = 0; i < result->present_count; i++)
                tally->needless_of_text[model] += result->present[i].needless;
            if (problem)
                text_addf(problems, "%s: %s\n", model_names[model], problem);
            if (model == MEMBAR_ASYNC)
                membar_emit(&module, &result, 1, true, &kernel->emitted);
        }
    }
    module_free(&module);
    diagnostics_free(&diagnostics);
    source_free(source);
    return good && !problems->size;
}

/* ---- Printing ---------------------------------------------------------------------------------------------------- */

static void print_kernel(const Kernel *kernel, const SoundPlacement *placement) {
    unsigned number = 0;
    printf("kernel %llu\n", (unsigned long long)kernel->seed);
    for (size_t i = 0, start = 0; i < kernel->text.size; i++) {
        if (kernel->text.data[i] != '\n')
            continue;
        uint8_t marks = placement->marks[++number];
        if (marks & SOUND_BEFORE)
            printf("    ttg.barrier local // placed\n");
        printf("%.*s // %u%s\n", (int)(i - start), kernel->text.data + start, number,
               marks & SOUND_LEFT_OUT ? ", left out" : "");
        if (marks & SOUND_AFTER)
            printf("    ttg.barrier local // placed\n");
        start = i + 1;
    }
}

/* Says what is wrong with a kernel; the first few are shown as well. */
static void fault(Tally *tally, const Kernel *kernel, const SoundPlacement *placement, const char *what) {
    if (tally->faults++ < MOST_PRINTED) {
        print_kernel(kernel, placement);
        printf("%s\n\n", what);
    } else {
        printf("kernel %llu: %s\n", (unsigned long long)kernel->seed, what);
    }
}

/* ---- Comparing --------------------------------------------------------------------------------------------------- */

static void check_sound(Tally *tally, const Kernel *kernel, int model, bool pruned, SoundResult *result) {
    const SoundPlacement *placement = pruned ? &kernel->pruned[model] : &kernel->placements[model];
    char what[120];
    sound_check(&kernel->program, placement, result);
    if (result->verdict == SOUND_CLEAN)
        return;
    snprintf(what, sizeof what, "%s%s: %s, lines %u and %u", model_names[model], pruned ? ", pruned" : "",
             result->verdict == SOUND_RACE ? "there is a race" : "it cannot be judged", result->first, result->second);
    fault(tally, kernel, placement, what);
}

static void show_needless(Tally *tally, const Kernel *kernel, unsigned line, bool after) {
    Reason reason = kernel->reasons[line][after];
    tally->needless[reason]++;
    if (tally->needless_shown == tally->needless_limit)
        return;
    tally->needless_shown++;
    print_kernel(kernel, &kernel->placements[MEMBAR_ASYNC]);
    printf("the barrier %s line %u, for %s, parts nothing\n\n", after ? "after" : "before", line, reason_names[reason]);
}

/* Leaves out each barrier that async placed, one at a time. */
static void check_needed(Tally *tally, const Kernel *kernel) {
    SoundPlacement placement = kernel->placements[MEMBAR_ASYNC];
    for (unsigned line = 1; line <= kernel->program.line_count; line++)
        for (uint8_t mark = SOUND_BEFORE; mark <= SOUND_AFTER; mark <<= 1) {
            SoundResult result;
            if (!(placement.marks[line] & mark))
                continue;
            placement.marks[line] ^= mark;
            sound_check(&kernel->program, &placement, &result);
            placement.marks[line] ^= mark;
            tally->tried++;
            if (result.verdict == SOUND_RACE)
                tally->needed++;
            else
                show_needless(tally, kernel, line, mark == SOUND_AFTER);
        }
}

static void check_no_more(Tally *tally, const Kernel *kernel, const SoundResult *sync, const SoundResult *async) {
    bool longer = false, passed_by = false;
    if (kernel->need_counts[MEMBAR_ASYNC] > kernel->need_counts[MEMBAR_SYNC])
        fault(tally, kernel, &kernel->placements[MEMBAR_ASYNC], "async places more barriers than sync");
    tally->fewer += kernel->need_counts[MEMBAR_ASYNC] < kernel->need_counts[MEMBAR_SYNC];
    if (sync->verdict != SOUND_CLEAN || async->verdict != SOUND_CLEAN)
        return;
    for (unsigned i = 0; i < async->path_count; i++) {
        bool more = async->barriers[i] > sync->barriers[i];
        longer |= more && !async->passed_by[i];
        passed_by |= more && async->passed_by[i];
    }
    if (longer)
        fault(tally, kernel, &kernel->placements[MEMBAR_ASYNC], "async meets more barriers than sync on some path");
    tally->longer_past_loops += passed_by;
}

/* The printed kernel, read again, has the same number of barriers on each path and no race either. */
static void check_emitted(Tally *tally, const Kernel *kernel, const SoundResult *right) {
    static const SoundPlacement none;
    static SoundProgram program;
    SoundResult result = {.verdict = SOUND_UNDEFINED};
    if (sound_read((Str){kernel->emitted.data, kernel->emitted.size}, &program))
        sound_check(&program, &none, &result);
    if (result.verdict == right->verdict && result.path_count == right->path_count &&
        memcmp(result.barriers, right->barriers, sizeof result.barriers) == 0)
        return;
    printf("%.*s", (int)kernel->emitted.size, kernel->emitted.data);
    fault(tally, kernel, &kernel->pruned[MEMBAR_ASYNC], "what was printed is another kernel");
}

static void check_kernel(Tally *tally, Kernel *kernel) {
    SoundResult results[MODELS], pruned;
    for (int model = 0; model < MODELS; model++) {
        check_sound(tally, kernel, model, false, &results[model]);
        check_sound(tally, kernel, model, true, &pruned);
    }
    check_emitted(tally, kernel, &pruned);
    tally->paths += results[MEMBAR_ASYNC].path_count;
    check_no_more(tally, kernel, &results[MEMBAR_SYNC], &results[MEMBAR_ASYNC]);
    if (kernel->traits.offsets && !kernel->traits.constant_ends && results[MEMBAR_ASYNC].verdict == SOUND_CLEAN)
        check_needed(tally, kernel);
}

/* False if it has too many paths. */
static bool make_kernel(Kernel *kernel, uint64_t seed) {
    static const SoundPlacement none;
    SoundPlacement everywhere;
    SoundResult result;
    kernel->text.size = kernel->emitted.size = 0;
    kernel->seed = seed;
    kernel->traits = sound_generate(seed, &kernel->text);
    if (!sound_read((Str){kernel->text.data, kernel->text.size}, &kernel->program)) {
        print_kernel(kernel, &none);
        printf("line %u: %s\n", kernel->program.line_count, kernel->program.problem);
        abort();
    }
    memset(&everywhere, SOUND_BEFORE, sizeof everywhere);
    sound_check(&kernel->program, &everywhere, &result);
    return result.verdict != SOUND_TOO_LARGE;
}

static double percent(uint64_t part, uint64_t whole) {
    return whole ? 100.0 * (double)part / (double)whole : 100.0;
}

static int report(const Tally *tally) {
    double needed = percent(tally->needed, tally->tried);
    printf("%llu kernels (%llu passed over), %llu paths\n", (unsigned long long)tally->kernels,
           (unsigned long long)tally->passed_over, (unsigned long long)tally->paths);
    for (int model = 0; model < MODELS; model++)
        printf("%-5s places %llu barriers and calls %llu of %llu in the text needless\n", model_names[model],
               (unsigned long long)tally->placed[model], (unsigned long long)tally->needless_of_text[model],
               (unsigned long long)tally->of_text[model]);
    printf("async: fewer than sync in %llu kernels; more on some path past a loop that does not run in %llu\n",
           (unsigned long long)tally->fewer, (unsigned long long)tally->longer_past_loops);
    printf("async: %llu of %llu barriers are needed (%.2f %%)\n", (unsigned long long)tally->needed,
           (unsigned long long)tally->tried, needed);
    for (int reason = 0; reason < REASONS; reason++)
        printf("async: %llu that are not are there for %s\n", (unsigned long long)tally->needless[reason],
               reason_names[reason]);
    if (needed < LEAST_NEEDED)
        printf("too few of them: %d %% should be\n", LEAST_NEEDED);
    printf("%llu faults\n", (unsigned long long)tally->faults);
    return tally->faults || needed < LEAST_NEEDED;
}

static int compare(uint64_t seed, uint64_t count, uint64_t needless) {
    static Kernel kernel;
    Tally tally = {.needless_limit = needless};
    for (; tally.kernels < count; seed++) {
        Text problems = {0};
        if (!make_kernel(&kernel, seed)) {
            tally.passed_over++;
            continue;
        }
        tally.kernels++;
        if (analyze(&kernel, &tally, &problems)) {
            check_kernel(&tally, &kernel);
        } else {
            text_char(&problems, '\0');
            fault(&tally, &kernel, &kernel.placements[MEMBAR_ASYNC], problems.data);
        }
        text_free(&problems);
    }
    text_free(&kernel.text);
    text_free(&kernel.emitted);
    return report(&tally);
}

static int print_one(uint64_t seed) {
    static Kernel kernel;
    Tally tally = {0};
    Text problems = {0};
    bool small = make_kernel(&kernel, seed);
    analyze(&kernel, &tally, &problems);
    print_kernel(&kernel, &kernel.placements[MEMBAR_ASYNC]);
    printf("%s%.*s", small ? "" : "too many paths\n", (int)problems.size, problems.data);
    text_free(&problems);
    text_free(&kernel.text);
    text_free(&kernel.emitted);
    return 0;
}

int main(int count, char **arguments) {
    uint64_t seed = 0, kernels = 3000, needless = 0;
    bool print = false;
    for (int i = 1; i < count; i += 2) {
        int64_t number;
        if (i + 1 == count || !str_to_int(str_of(arguments[i + 1]), &number) || number < 0) {
            fprintf(stderr, "compare: %s needs a number\n", arguments[i]);
            return 2;
        }
        if (strcmp(arguments[i], "--count") == 0) {
            kernels = (uint64_t)number;
        } else if (strcmp(arguments[i], "--needless") == 0) {
            needless = (uint64_t)number;
        } else if (strcmp(arguments[i], "--seed") == 0 || strcmp(arguments[i], "--print") == 0) {
            seed = (uint64_t)number;
            print = strcmp(arguments[i], "--print") == 0;
        } else {
            fprintf(stderr, "Usage: compare [--seed N] [--count N] [--needless N] | --print N\n");
            return 2;
        }
    }
    return print ? print_one(seed) : compare(seed, kernels, needless);
}
