/* Kernels of PTX that are proved, and launches that their proofs cover, made on the machine: none may have a race, a
 * deadlock or a misused barrier. */
#ifndef TESTS_PTX_COVERED_H
#define TESTS_PTX_COVERED_H

#include "check/intervals/intervals.h"
#include "check/simt/check.h"
#include "ptx/reader.h"

#include <inttypes.h>

static uint64_t covered_seed = 1;

static inline unsigned covered_roll(unsigned most) {
    covered_seed = covered_seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(covered_seed >> 33) % (most + 1);
}

/* ---- One kernel ------------------------------------------------------------------------------------ */

typedef struct CoveredKernel {
    Arena arena;
    Source *source;
    PtxModule module;
    Diagnostics diagnostics;
    uint32_t entry;
    const Proof *proof;
} CoveredKernel;

static inline bool covered_open(CoveredKernel *kernel, const char *text, size_t size) {
    static const double seconds = 2;
    *kernel = (CoveredKernel){.source = source_copy("kernel.ptx", text, size), .entry = PTX_NONE};
    arena_init(&kernel->arena, SIZE_MAX);
    if (!ptx_read(&kernel->module, kernel->source, false, &kernel->diagnostics))
        return false;
    for (uint32_t i = 0; i < kernel->module.functions_count && kernel->entry == PTX_NONE; i++)
        if (kernel->module.functions[i].entry && kernel->module.functions[i].body)
            kernel->entry = i;
    if (kernel->entry == PTX_NONE)
        return false;
    kernel->proof = prove_threads(&kernel->module, kernel->entry, &kernel->arena, seconds);
    return true;
}

static inline void covered_close(CoveredKernel *kernel) {
    ptx_free(&kernel->module);
    arena_free(&kernel->arena);
    diagnostics_free(&kernel->diagnostics);
    source_free(kernel->source);
}

/* ---- Launches -------------------------------------------------------------------------------------- */

static inline int64_t covered_size(const int64_t *sizes, unsigned count) {
    return sizes[covered_roll(count - 1)];
}

/* A launch that the proof covers; false: none was found. */
static inline bool covered_launch(const CoveredKernel *kernel, LaunchNumbers *launch, LaunchNumber *arguments) {
    static const int64_t threads[] = {1, 2, 3, 8, 16, 32, 32, 64, 64, 128, 256}, few[] = {1, 1, 1, 2, 4, 8, 16},
                         ctas[] = {1, 1, 2, 3},
                         numbers[] = {0, 1, 2, 3, 5, 8, 16, 31, 32, 33, 64, 64, 100, 128, 200, 256};
    enum { TRIES = 3000 };
    PtxBlockShape fixed = ptx_block_shape(&kernel->module, kernel->entry);
    for (unsigned n = 0; n < TRIES; n++) {
        *launch = (LaunchNumbers){.arguments = arguments, .count = kernel->proof->name_count};
        for (unsigned axis = 0; axis < 3; axis++) {
            launch->grid[axis] = covered_size(ctas, 4);
            launch->block[axis] = axis ? covered_size(few, 7) : covered_size(threads, 11);
        }
        if (fixed.x) {
            launch->block[0] = fixed.x;
            launch->block[1] = fixed.y;
            launch->block[2] = fixed.z;
        }
        for (uint32_t i = 0; i < launch->count; i++)
            arguments[i] = (LaunchNumber){.known = true, .value = covered_size(numbers, 16)};
        if (launch->block[0] * launch->block[1] * launch->block[2] <= 512 &&
            proof_covers_numbers(kernel->proof, launch, NULL))
            return true;
    }
    return false;
}

static inline void covered_print(const CoveredKernel *kernel, const LaunchNumbers *launch, Text *to) {
    const PtxFunction *function = &kernel->module.functions[kernel->entry];
    text_addf(
        to, "{\"grid\": [%" PRId64 ", %" PRId64 ", %" PRId64 "], \"block\": [%" PRId64 ", %" PRId64 ", %" PRId64 "], ",
        launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0], launch->block[1], launch->block[2]);
    text_addf(to, "\"shared\": 200000, \"args\": [");
    for (uint32_t i = 0; i < launch->count; i++) {
        Str type = ptx_name(&kernel->module, kernel->module.variables[function->parameters + i].type);
        text_addf(to, "%s", i ? ", " : "");
        if (str_ends(type, STR("64")) && type.data[1] != 'f')
            text_addf(to, "{\"tensor\": {\"shape\": [1048576], \"dtype\": \"i32\", \"zero\": true}}");
        else if (type.data[1] == 'f')
            text_addf(to, "1.5");
        else
            text_addf(to, "%" PRId64, launch->arguments[i].value);
    }
    text_addf(to, "]}");
}

/* What goes wrong at a launch that the proof excludes; NULL: nothing. */
static inline const char *covered_broken(CoveredKernel *kernel, const Text *json, Arena *arena, bool *complete) {
    Source *source = source_copy("launch.json", json->data, json->size);
    Launch given = {0};
    Diagnostics diagnostics = {0};
    Verdict verdict = {.arena = arena, .kernel = "k"};
    const char *broken = NULL;
    *complete = false;
    if (launch_read(arena, source, &given, &diagnostics)) {
        ThreadsOptions options = {.launch = &given, .only_launch = true, .computes = COMPUTES_ALL, .budget = 300000};
        threads_check(&kernel->module, kernel->entry, &options, &verdict);
        *complete = !verdict.incomplete_count;
        for (size_t i = 0; i < verdict.finding_count && !broken; i++) {
            Str id = str_of(rule_of(verdict.findings[i].rule)->id);
            if (str_starts(id, STR("race")) || str_starts(id, STR("deadlock")) || str_starts(id, STR("barrier")) ||
                str_starts(id, STR("threads")) || str_is(id, "shared.out-of-bounds"))
                broken = arena_copy(arena, id.data, id.size);
        }
    }
    diagnostics_free(&diagnostics);
    source_free(source);
    return broken;
}

#endif
