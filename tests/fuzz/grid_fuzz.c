/* Any bytes as IR, and every kernel that reads without errors launched on two CTAs, twice in a row, on one global
 * memory. Whatever it is, that ends without a fault, with a verdict that can be put into words which move nothing on a
 * terminal; and of each finding holds: its witness is a trail of a grid, and the run of that trail shows it again. */
#include "check/tile/grid/check.h"
#include "mlir/reader.h"
#include "render/text.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST_INPUT = 64 << 10, MOST_MODULES = 4, MOST_KERNELS = 4, STEPS = 20000, LAUNCHES = 2 };
static const size_t reading_budget = (size_t)64 << 20, running_budget = (size_t)512 << 20;

/* Here, since memory that ends jumps over the one that else would free it. */
static GlobalCheck *check;

static void forget_check(void) {
    global_check_free(check);
    check = NULL;
}

static void give_up(const char *why, const Finding *finding) {
    fprintf(stderr, "%s: %s\n%s\n", rule_of(finding->rule)->id, why, finding->witness);
    abort();
}

/* What is found when the kernel is launched so, in the run of a trail or in those that are made without one. */
static void run_row(Module *module, const Op *function, const Launch *launches, const GridTrail *replay,
                    Verdict *verdict) {
    GlobalKernel kernels[LAUNCHES];
    for (size_t i = 0; i < LAUNCHES; i++)
        kernels[i] = (GlobalKernel){.module = module, .function = function, .launch = &launches[i], .verdict = verdict};
    check = global_check_new(&module->arena);
    global_check_run(check, kernels, LAUNCHES, &(GlobalOptions){.budget = STEPS, .replay = replay});
    forget_check();
    verdict_close(verdict);
}

static void check_witness(Module *module, const Op *function, const Finding *finding) {
    TrailFile file;
    Verdict verdict = {.arena = &module->arena};
    if (!grid_trail_read_text(&module->arena, finding->witness, &file) || file.grid.count != LAUNCHES)
        give_up("its witness is no trail of a grid", finding);
    run_row(module, function, file.grid.launches, &file.grid, &verdict);
    for (size_t i = 0; i < verdict.finding_count; i++)
        if (verdict.findings[i].rule == finding->rule &&
            verdict.findings[i].places[0].ir_line == finding->places[0].ir_line)
            return;
    give_up("its witness does not show it", finding);
}

static void check_text(const Module *module, const Verdict *verdict) {
    Text text = {0};
    render_text(verdict, module->source, (TextOptions){.launches = true}, &text);
    for (size_t i = 0; i < text.size; i++)
        if ((unsigned char)text.data[i] < ' ' && text.data[i] != '\n') {
            fprintf(stderr, "a verdict has control characters\n%.*s\n", (int)text.size, text.data);
            abort();
        }
    text_free(&text);
}

static void run(Module *module, const Op *function) {
    const Launch launches[LAUNCHES] = {{.kernel = STR(""), .grid = {2, 1, 1}},
                                       {.kernel = STR(""), .grid = {2, 1, 1}, .stream = 1}};
    Verdict verdict = {.arena = &module->arena};
    run_row(module, function, launches, NULL, &verdict);
    check_text(module, &verdict);
    for (size_t i = 0; i < verdict.finding_count; i++)
        if (*verdict.findings[i].witness)
            check_witness(module, function, &verdict.findings[i]);
}

static void run_module(Source *source, const Unit *unit, bool dump) {
    Module module;
    Diagnostics diagnostics = {0};
    jmp_buf exhausted;
    const Op *functions[MOST_KERNELS];
    if (read_unit(&module, source, unit, (ReadOptions){.dump = dump, .budget = reading_budget}, &diagnostics)) {
        module.arena.budget = module.arena.held + running_budget;
        module.arena.exhausted = &exhausted;
        if (!setjmp(exhausted)) {
            size_t count = program_kernels(&module, functions, MOST_KERNELS);
            for (size_t i = 0; i < count && i < MOST_KERNELS; i++)
                run(&module, functions[i]);
        }
        forget_check();
    }
    diagnostics_free(&diagnostics);
    module_free(&module);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > LARGEST_INPUT)
        return 0;
    Source *source = source_copy("fuzz", (const char *)data, size);
    Units units;
    if (!source || !units_find(source, &units))
        abort();
    for (size_t i = 0; i < units.count && i < MOST_MODULES; i++)
        run_module(source, &units.items[i], units.dump);
    units_free(&units);
    source_free(source);
    return 0;
}
