/* Any bytes as a trail. Whatever they are, reading them ends without a fault: with a trail, or with something said. A
 * trail that was read is then run on a small kernel with two agents and a copy in flight, which ends in some way within
 * its budget, and if it got there, what is written of it reads again as the same steps. One of a whole grid is run on a
 * kernel whose programs tell each other by a flag, and what is written of it is written again with the same bytes. */
#include "check/tile/grid/check.h"
#include "mlir/reader.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST_INPUT = 64 << 10, BUDGET = 64 << 20, STEPS = 4096, MOST_LAUNCHES = 8 };

static const char kernel[] =
    "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"
    "#smem = #ttg.shared_memory\n"
    "!barrier = !ttg.memdesc<1xi64, #shared, #smem, mutable>\n"
    "!tile = !ttg.memdesc<64xf16, #shared, #smem, mutable>\n"
    "!desc = !tt.tensordesc<tensor<64xf16, #shared>>\n"
    "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32} {\n"
    "  tt.func public @k(%desc: !desc, %n: i32) {\n"
    "    %c0 = arith.constant 0 : i32\n"
    "    %c1 = arith.constant 1 : i32\n"
    "    %tile = ttg.local_alloc : () -> !tile\n"
    "    %full = ttg.local_alloc : () -> !barrier\n"
    "    ttng.init_barrier %full, 1 : !barrier\n"
    "    ttg.warp_specialize(%desc, %tile, %full, %n)\n"
    "    default {\n"
    "      scf.for %i = %c0 to %n step %c1 : i32 {\n"
    "        %phase = arith.andi %i, %c1 : i32\n"
    "        ttng.wait_barrier %full, %phase : !barrier\n"
    "      }\n"
    "      ttg.warp_yield\n"
    "    }\n"
    "    partition0(%desc_p: !desc, %tile_p: !tile, %full_p: !barrier, %n_p: i32) num_warps(1) {\n"
    "      %p0 = arith.constant 0 : i32\n"
    "      %p1 = arith.constant 1 : i32\n"
    "      %true = arith.constant true\n"
    "      scf.for %i = %p0 to %n_p step %p1 : i32 {\n"
    "        ttng.barrier_expect %full_p, 128, %true : !barrier\n"
    "        ttng.async_tma_copy_global_to_local %desc_p[%p0] %tile_p, %full_p, %true : !desc, !barrier -> !tile\n"
    "      }\n"
    "      ttg.warp_return\n"
    "    } : (!desc, !tile, !barrier, i32) -> ()\n"
    "    tt.return\n"
    "  }\n"
    "}\n";

static const char grid_kernel[] =
    "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32} {\n"
    "  tt.func public @k(%data: !tt.ptr<i32>, %flag: !tt.ptr<i32>, %n: i32) {\n"
    "    %c0 = arith.constant 0 : i32\n"
    "    %c1 = arith.constant 1 : i32\n"
    "    %true = arith.constant true\n"
    "    %pid = tt.get_program_id x : i32\n"
    "    %first = arith.cmpi eq, %pid, %c0 : i32\n"
    "    scf.if %first {\n"
    "      tt.store %data, %n : !tt.ptr<i32>\n"
    "      %before = tt.atomic_rmw exch, release, gpu, %flag, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32\n"
    "    } else {\n"
    "      scf.while : () -> () {\n"
    "        %seen = tt.atomic_rmw add, acquire, gpu, %flag, %c0, %true : (!tt.ptr<i32>, i32, i1) -> i32\n"
    "        %other = arith.cmpi ne, %seen, %c1 : i32\n"
    "        scf.condition(%other)\n"
    "      } do {\n"
    "        scf.yield\n"
    "      }\n"
    "      %value = tt.load %data : !tt.ptr<i32>\n"
    "      tt.store %data, %value : !tt.ptr<i32>\n"
    "    }\n"
    "    tt.return\n"
    "  }\n"
    "}\n";

static Source *copy(const char *data, size_t size) {
    Source *source = source_copy("fuzz", data, size);
    if (!source)
        abort();
    return source;
}

static void check_written(Arena *arena, Machine *machine, const TrailFile *file) {
    Text text = {0};
    TrailFile again;
    Diagnostics diagnostics = {0};
    trail_write(machine, &file->rerun, &file->trail, &text);
    Source *source = copy(text.data, text.size);
    if (!trail_read(arena, source, &again, &diagnostics) || again.trail.count != file->trail.count ||
        memcmp(again.trail.steps, file->trail.steps, again.trail.count * sizeof *again.trail.steps) != 0) {
        fprintf(stderr, "what was written reads as something else:\n%.*s\n", (int)text.size, text.data);
        abort();
    }
    diagnostics_free(&diagnostics);
    source_free(source);
    text_free(&text);
}

static void run(Module *module, const Op *function, TrailFile *file) {
    Verdict verdict = {.arena = &module->arena};
    Machine *machine;
    file->rerun.budget = STEPS;
    RunEnd end = check_rerun(module, function, &file->rerun, NULL, NULL, &verdict, &machine);
    if (machine && (end == RUN_COMPLETE || end == RUN_STUCK))
        check_written(&module->arena, machine, file);
}

/* ---- Of a whole grid --------------------------------------------------------------------------- */

static void check_grid_written(Arena *arena, const GridTrail *trail) {
    Text once = {0}, twice = {0};
    TrailFile again;
    Diagnostics diagnostics = {0};
    grid_trail_write(trail, &once);
    Source *source = copy(once.data, once.size);
    bool good = trail_read(arena, source, &again, &diagnostics) && again.whole;
    if (good)
        grid_trail_write(&again.grid, &twice);
    if (!good || once.size != twice.size || memcmp(once.data, twice.data, once.size) != 0) {
        fprintf(stderr, "what was written is written differently:\n%.*s\n", (int)once.size, once.data);
        abort();
    }
    diagnostics_free(&diagnostics);
    source_free(source);
    text_free(&once);
    text_free(&twice);
}

static GlobalCheck *check; /* here, since memory that ends jumps over the one that else would free it */

static void run_grid(Module *module, const Op *function, TrailFile *file) {
    Verdict verdict = {.arena = &module->arena};
    GlobalKernel kernels[MOST_LAUNCHES];
    const GridTrail *trail = &file->grid;
    for (uint32_t i = 0; i < trail->count && i < MOST_LAUNCHES; i++)
        kernels[i] =
            (GlobalKernel){.module = module, .function = function, .launch = &trail->launches[i], .verdict = &verdict};
    check = global_check_new(&module->arena);
    global_check_run(
        check, kernels, trail->count < MOST_LAUNCHES ? trail->count : MOST_LAUNCHES,
        &(GlobalOptions){.devices = trail->devices, .resident = trail->resident, .budget = STEPS, .replay = trail});
}

/* ---- Any --------------------------------------------------------------------------------------- */

static void run_on(const char *text, size_t size, TrailFile *file,
                   void work(Module *module, const Op *function, TrailFile *file)) {
    Source *source = copy(text, size);
    Module module;
    Diagnostics diagnostics = {0};
    jmp_buf exhausted;
    const Op *function;
    if (!read_unit(&module, source, &(Unit){.end = source->size}, (ReadOptions){0}, &diagnostics))
        abort();
    module.arena.budget = BUDGET;
    module.arena.exhausted = &exhausted;
    if (!setjmp(exhausted) && program_kernels(&module, &function, 1) == 1)
        work(&module, function, file);
    global_check_free(check);
    check = NULL;
    diagnostics_free(&diagnostics);
    module_free(&module);
    source_free(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > LARGEST_INPUT)
        return 0;
    Arena arena;
    Diagnostics diagnostics = {0};
    TrailFile file;
    Source *source = copy((const char *)data, size);
    arena_init(&arena, BUDGET);
    bool good = trail_read(&arena, source, &file, &diagnostics);
    if (good == (diagnostics.errors > 0))
        abort();
    if (good && file.whole) {
        check_grid_written(&arena, &file.grid);
        run_on(grid_kernel, sizeof grid_kernel - 1, &file, run_grid);
    } else if (good) {
        run_on(kernel, sizeof kernel - 1, &file, run);
    }
    diagnostics_free(&diagnostics);
    source_free(source);
    arena_free(&arena);
    return 0;
}
