/* check/prove: kernels whose stores never meet and kernels whose stores do; and random ones, each launch of which is
 * also made number by number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/diagnostics.h"
#include "check/prove/prove.h"
#include "machine/tile/compile/program.h"
#include "mlir/reader.h"

static uint64_t seed = 1;

static int64_t roll(int64_t from, int64_t to) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return from + (int64_t)((seed >> 33) % (uint64_t)(to - from + 1));
}

/* ---- Proofs of texts ------------------------------------------------------------------------------- */

typedef struct Proved {
    Source *source;
    Module module;
    Diagnostics diagnostics;
    Proof *proof;
} Proved;

static void prove_text(Proved *proved, const char *text) {
    *proved = (Proved){.source = source_copy("kernel.ttgir", text, strlen(text))};
    Unit unit = {.end = proved->source->size};
    jmp_buf out;
    const Op *kernel;
    if (!read_unit(&proved->module, proved->source, &unit, (ReadOptions){0}, &proved->diagnostics))
        fail_msg("%s", text);
    proved->module.arena.budget = proved->module.arena.held + ((size_t)1 << 28);
    proved->module.arena.exhausted = &out;
    if (setjmp(out))
        fail_msg("out of memory");
    assert_int_equal(program_kernels(&proved->module, &kernel, 1), 1);
    proved->proof = prove_kernel(&proved->module, kernel, 10);
}

static void free_proved(Proved *proved) {
    module_free(&proved->module);
    diagnostics_free(&proved->diagnostics);
    source_free(proved->source);
}

/* "where; where", or "open: reason". */
static void describe(const Proof *proof, char *room, size_t size) {
    size_t used = (size_t)snprintf(room, size, "%s", proof->proved ? "" : "open: ");
    for (uint32_t i = 0; proof->proved && i < proof->where_count && used < size; i++)
        used += (size_t)snprintf(room + used, size - used, "%s%s", i ? "; " : "", proof->where[i].text);
    if (!proof->proved)
        snprintf(room + used, size - used, "%s", proof->open[0].reason);
}

#define HEAD                                                                                                        \
    "#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>\n"       \
    "#other = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>\n"         \
    "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"                          \
    "#slots = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>\n"                        \
    "#smem = #ttg.shared_memory\n"                                                                                  \
    "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 1 : i32, ttg.target = \"cuda:90\", "        \
    "\"ttg.threads-per-warp\" = 32 : i32} {\n"                                                                      \
    "  tt.func public @kernel(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %i: !tt.ptr<i32>, %m: i32, %n: i32, %s: i32) {\n" \
    "    %x = tt.get_program_id x : i32\n"                                                                          \
    "    %y = tt.get_program_id y : i32\n"                                                                          \
    "    %nx = tt.get_num_programs x : i32\n"                                                                       \
    "    %c0 = arith.constant 0 : i32\n"                                                                            \
    "    %c1 = arith.constant 1 : i32\n"                                                                            \
    "    %c8 = arith.constant 8 : i32\n"                                                                            \
    "    %c64 = arith.constant 64 : i32\n"                                                                          \
    "    %c127 = arith.constant 127 : i32\n"                                                                        \
    "    %c128 = arith.constant 128 : i32\n"                                                                        \
    "    %f = arith.constant 1.0 : f32\n"                                                                           \
    "    %v = arith.constant dense<1.0> : tensor<128xf32, #blocked>\n"                                              \
    "    %lane = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked>\n"                    \
    "    %pp = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #blocked>\n"                                  \
    "    %qq = tt.splat %q : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #blocked>\n"
#define TAIL "    tt.return\n  }\n}\n"
/* %a = %t + lane */
#define TILE(a, t)                                                         \
    "    %" a "s = tt.splat %" t " : i32 -> tensor<128xi32, #blocked>\n"   \
    "    %" a " = arith.addi %" a "s, %lane : tensor<128xi32, #blocked>\n" \
    "    %" a "p = tt.addptr %pp, %" a " : tensor<128x!tt.ptr<f32>, #blocked>, tensor<128xi32, #blocked>\n"
#define STORE(a)         "    tt.store %" a "p, %v : tensor<128x!tt.ptr<f32>, #blocked>\n"
#define TYPE_OF_POINTERS "tensor<128x!tt.ptr<f32>, #blocked>"

/* Tiles of a loop, and one behind it, which other threads store: at 128 * %last. */
#define TILES_OF_A_LOOP(last)                                                                                        \
    HEAD "    %base = arith.muli %x, %s : i32\n" last                                                                \
         "    scf.for %k = %c0 to %n step %c1 : i32 {\n    %ka = arith.muli %k, %c128 : i32\n"                       \
         "    %t = arith.addi %base, %ka : i32\n" TILE("a", "t") STORE(                                              \
             "a") "    }\n"                                                                                          \
                  "    %ua = arith.muli %last, %c128 : i32\n    %u = arith.addi %base, %ua : i32\n" TILE(            \
                      "b",                                                                                           \
                      "u") "    %e = ttg.convert_layout %bp : " TYPE_OF_POINTERS                                     \
                           " -> tensor<128x!tt.ptr<f32>, #other>\n"                                                  \
                           "    %w = ttg.convert_layout %v : tensor<128xf32, #blocked> -> tensor<128xf32, #other>\n" \
                           "    tt.store %e, %w : tensor<128x!tt.ptr<f32>, #other>\n" TAIL

/* Tiles that a loop counts, and behind it one that other threads store: at 128 * %last, where %count is how many there
 * were. */
#define COUNTED_TILES(last)                                                                                     \
    HEAD "    %base = arith.muli %x, %s : i32\n"                                                                \
         "    %count = scf.for %k = %c0 to %n step %c8 iter_args(%now = %c0) -> (i32) : i32 {\n"                \
         "    %ka = arith.muli %now, %c128 : i32\n    %t = arith.addi %base, %ka : i32\n" TILE("a", "t")        \
             STORE("a") "    %more = arith.addi %now, %c1 : i32\n    scf.yield %more : i32\n    }\n" last       \
                        "    %ua = arith.muli %last, %c128 : i32\n    %u = arith.addi %base, %ua : i32\n" TILE( \
                            "b", "u") "    %e = ttg.convert_layout %bp : " TYPE_OF_POINTERS                     \
                                      " -> tensor<128x!tt.ptr<f32>, #other>\n"                                  \
                                      "    %w = ttg.convert_layout %v : tensor<128xf32, #blocked> -> "          \
                                      "tensor<128xf32, #other>\n"                                               \
                                      "    tt.store %e, %w : tensor<128x!tt.ptr<f32>, #other>\n" TAIL

/* To one place of all programs. */
#define ALIKE(value)                                           \
    "    %fp = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<i32>\n" \
    "    tt.store %fp, " value " : !tt.ptr<i32>\n"
#define STORED_FLOAT(value) "    tt.store %p, " value " : !tt.ptr<f32>\n"
#define MASKED_LOAD(other) \
    "    %mask = arith.cmpi slt, %m, %n : i32\n    %e = tt.load %i, %mask" other " : !tt.ptr<i32>\n"
#define SUM(with)                                                                                               \
    "    %e = \"tt.reduce\"(%lane) <{axis = 0 : i32}> ({\n    ^bb0(%c: i32, %d: i32):\n"                        \
    "      %sum = arith.addi %c, " with " : i32\n      tt.reduce.return %sum : i32\n    }) : (tensor<128xi32, " \
    "#blocked>) -> i32\n"
#define ASSEMBLY(text)                                                                                                 \
    "    %e = tt.elementwise_inline_asm \"" text "\" {constraints = \"=r,r\", packed_element = 1 : i32, pure = true} " \
    "%n : i32 -> i32\n"
#define LIBRARY(path, symbol)                                                                                    \
    "    %e = tt.extern_elementwise %n {libname = \"\", libpath = \"" path "\", pure = true, symbol = \"" symbol \
    "\"} : (i32) -> i32\n"
/* %w: the number in each element */
#define FLOATS(number)                                 \
    "    %g = arith.sitofp %" number " : i32 to f32\n" \
    "    %w = tt.splat %g : f32 -> tensor<128xf32, #blocked>\n"
#define TYPE_OF_BUFFER "!ttg.memdesc<128xf32, #shared, #smem, mutable>"
/* %h: shared memory, with what is in it at first */
#define BUFFER(value) "    %h = ttg.local_alloc " value " : (tensor<128xf32, #blocked>) -> " TYPE_OF_BUFFER "\n"
#define EMPTY         "    %h = ttg.local_alloc : () -> " TYPE_OF_BUFFER "\n"
#define FILLED(value, buffer) \
    "    ttg.local_store " value ", " buffer " : tensor<128xf32, #blocked> -> " TYPE_OF_BUFFER "\n"
/* What is in it is stored, to one place of all programs. */
#define LOADED(buffer)                                     \
    "    %l = ttg.local_load " buffer " : " TYPE_OF_BUFFER \
    " -> tensor<128xf32, #blocked>\n" TILE("a", "m") "    tt.store %ap, %l : " TYPE_OF_POINTERS "\n"
#define SLOTS "    %ring = ttg.local_alloc : () -> !ttg.memdesc<2x128xf32, #slots, #smem, mutable>\n"
#define SLOT(name, number)                             \
    "    %" name " = ttg.memdesc_index %ring[%" number \
    "] : !ttg.memdesc<2x128xf32, #slots, #smem, mutable> -> " TYPE_OF_BUFFER "\n"
#define ONE_GRID "grid.x == 1; grid.y == 1; grid.z == 1"

static const struct {
    const char *what, *text, *expected;
} cases[] = {
    {"tiles of a loop, and the last again behind it", TILES_OF_A_LOOP("    %last = arith.subi %n, %c1 : i32\n"),
     "open: two threads of a program may come to the same element"},
    {"tiles of a loop, and the next one behind it", COUNTED_TILES("    %last = arith.addi %count, %c0 : i32\n"),
     "strides of p nest; grid.y == 1; grid.z == 1; strides of p nest; strides of p nest"},
    {"tiles of a loop, and one more is left out", COUNTED_TILES("    %last = arith.addi %count, %c8 : i32\n"),
     "strides of p nest; grid.y == 1; grid.z == 1; strides of p nest; strides of p nest"},
    {"tiles of a loop, and the one before them behind it", COUNTED_TILES("    %last = arith.subi %c0, %c1 : i32\n"),
     "strides of p nest; grid.y == 1; grid.z == 1; strides of p nest; strides of p nest"},
    {"tiles of a loop, and its last behind it", COUNTED_TILES("    %last = arith.subi %count, %c1 : i32\n"),
     "open: two threads of a program may come to the same element"},
    {"tiles of a loop, and its first behind it", COUNTED_TILES("    %last = arith.addi %c0, %c0 : i32\n"),
     "open: two threads of a program may come to the same element"},
    {"tiles of a loop, and any behind it", COUNTED_TILES("    %last = arith.addi %m, %c0 : i32\n"),
     "open: two threads of a program may come to the same element"},
    {"tiles of a loop, and one for the program behind it", COUNTED_TILES("    %last = arith.addi %count, %y : i32\n"),
     "open: the address does not determine the program id"},
    {"tiles that overlap, and wrap around",
     HEAD "    %z = arith.muli %x, %c64 : i32\n    %t = arith.remsi %z, %n : i32\n" TILE("a", "t") STORE("a") TAIL,
     "open: the address does not determine the program id"},
    {"a tile for each program", HEAD "    %t = arith.muli %x, %c128 : i32\n" TILE("a", "t") STORE("a") TAIL,
     "grid.y == 1; grid.z == 1"},
    {"tiles that overlap", HEAD "    %t = arith.muli %x, %c64 : i32\n" TILE("a", "t") STORE("a") TAIL,
     "open: tiles of two programs overlap, or elements of one tile do"},
    {"every program stores the same", HEAD TILE("a", "m") STORE("a") TAIL, ""},
    {"every program stores how many there are", HEAD ALIKE("%nx") TAIL, ""},
    {"each program stores its number", HEAD ALIKE("%x") TAIL, ONE_GRID},
    {"each program stores what it has of its number",
     HEAD "    %d = arith.addi %x, %n : i32\n    %e = arith.muli %d, %d : i32\n" ALIKE("%e") TAIL, ONE_GRID},
    {"every program stores what it reads elsewhere",
     HEAD "    %e = tt.load %i : !tt.ptr<i32>\n    %g = arith.sitofp %e : i32 to f32\n" STORED_FLOAT("%g") TAIL, ""},
    {"every program changes what is there",
     HEAD "    %e = tt.load %p : !tt.ptr<f32>\n    %g = arith.addf %e, %f : f32\n" STORED_FLOAT("%g") TAIL,
     "open: two threads of a program may come to the same element"},
    {"what is read where a number of the program says",
     HEAD "    %ix = tt.addptr %i, %x : !tt.ptr<i32>, i32\n    %e = tt.load %ix : !tt.ptr<i32>\n" ALIKE("%e") TAIL,
     ONE_GRID},
    {"what is read where data says",
     HEAD "    %d = tt.load %i : !tt.ptr<i32>\n    %id = tt.addptr %i, %d : !tt.ptr<i32>, i32\n"
          "    %e = tt.load %id : !tt.ptr<i32>\n" ALIKE("%e") TAIL,
     ""},
    {"a mask, and what is there without it", HEAD MASKED_LOAD(", %c8") ALIKE("%e") TAIL, ""},
    {"a block, and nothing is there outside of the tensor",
     HEAD "    %e = tt.load %i {boundaryCheck = array<i32: 0>} : !tt.ptr<i32>\n" ALIKE("%e") TAIL, ONE_GRID},
    {"a mask, and nothing is there without it", HEAD MASKED_LOAD("") ALIKE("%e") TAIL, ONE_GRID},
    {"what a loop carries",
     HEAD "    %e = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %c0) -> (i32) : i32 {\n"
          "      %d = arith.addi %sum, %m : i32\n      scf.yield %d : i32\n    }\n" ALIKE("%e") TAIL,
     ""},
    {"what a loop carries, as often as a number of the program says",
     HEAD "    %e = scf.for %k = %c0 to %x step %c1 iter_args(%sum = %c0) -> (i32) : i32 {\n"
          "      %d = arith.addi %sum, %m : i32\n      scf.yield %d : i32\n    }\n" ALIKE("%e") TAIL,
     ONE_GRID},
    {"turns of a loop to one place", HEAD "    scf.for %k = %c0 to %n step %c1 : i32 {\n" ALIKE("%k") "    }\n" TAIL,
     ONE_GRID},
    {"what a branch gives",
     HEAD "    %first = arith.cmpi eq, %x, %c0 : i32\n    %e = scf.if %first -> (i32) {\n      scf.yield %c0 : i32\n"
          "    } else {\n      scf.yield %c8 : i32\n    }\n" ALIKE("%e") TAIL,
     ONE_GRID},
    {"what a select chooses by a number of the program",
     HEAD "    %first = arith.cmpi eq, %x, %c0 : i32\n    %e = arith.select %first, %c0, %c8 : i32\n" ALIKE("%e") TAIL,
     ONE_GRID},
    {"what an atomic finds",
     HEAD "    %e = tt.atomic_rmw add, relaxed, gpu, %i, %c1 : (!tt.ptr<i32>, i32) -> i32\n" ALIKE("%e") TAIL,
     ONE_GRID},
    {"the same, beside an atomic: programs may talk to each other",
     HEAD "    %e = tt.atomic_rmw add, relaxed, gpu, %i, %c1 : (!tt.ptr<i32>, i32) -> i32\n" ALIKE("%n") TAIL,
     ONE_GRID},
    {"what assembly gives",
     HEAD
     "    %e = tt.elementwise_inline_asm \"mov.u32 $0, %ctaid.x;\" {constraints = \"=r\", packed_element = 1 : i32, "
     "pure = true} -> i32\n" ALIKE("%e") TAIL,
     ONE_GRID},
    {"what assembly makes of an argument", HEAD ASSEMBLY("add.s32 $0, $1, 1;") ALIKE("%e") TAIL, ""},
    {"what assembly makes of an argument and the time", HEAD ASSEMBLY("add.s32 $0, $1, %clock;") ALIKE("%e") TAIL,
     ONE_GRID},
    {"what the compiler's library gives", HEAD LIBRARY("", "__nv_abs") ALIKE("%e") TAIL, ""},
    {"what another library gives", HEAD LIBRARY("/mine.bc", "__nv_abs") ALIKE("%e") TAIL, ONE_GRID},
    {"what another function of a library gives", HEAD LIBRARY("", "which_program") ALIKE("%e") TAIL, ONE_GRID},
    {"two numbers to one place, the same of all programs",
     HEAD STORED_FLOAT("%f") "    %g = arith.addf %f, %f : f32\n" STORED_FLOAT("%g") TAIL,
     "open: two threads of a program may come to the same element"},
    {"a sum of elements", HEAD SUM("%d") ALIKE("%e") TAIL, ""},
    {"a sum of elements and the program's number", HEAD SUM("%x") ALIKE("%e") TAIL, ONE_GRID},
    {"shared memory", HEAD BUFFER("%v") LOADED("%h") TAIL, ""},
    {"shared memory that the program's number fills", HEAD FLOATS("x") BUFFER("%w") LOADED("%h") TAIL, ONE_GRID},
    {"shared memory that is filled later", HEAD EMPTY FILLED("%v", "%h") LOADED("%h") TAIL, ""},
    {"shared memory that nothing fills", HEAD EMPTY LOADED("%h") TAIL, ONE_GRID},
    {"shared memory that is filled too late", HEAD EMPTY LOADED("%h") FILLED("%v", "%h") TAIL, ONE_GRID},
    {"shared memory that an argument fills, or nothing",
     HEAD EMPTY
     "    %less = arith.cmpi slt, %m, %n : i32\n    scf.if %less {\n" FILLED("%v", "%h") "    }\n" LOADED("%h") TAIL,
     ONE_GRID},
    {"shared memory that an argument fills again",
     HEAD BUFFER("%v") FLOATS("n") "    %less = arith.cmpi slt, %m, %n : i32\n    scf.if %less {\n" FILLED(
         "%w", "%h") "    }\n" LOADED("%h") TAIL,
     ""},
    {"shared memory that the program's number fills again",
     HEAD BUFFER("%v") FLOATS("n") "    %first = arith.cmpi eq, %x, %c0 : i32\n    scf.if %first {\n" FILLED(
         "%w", "%h") "    }\n" LOADED("%h") TAIL,
     ONE_GRID},
    {"shared memory that a loop of no turns fills",
     HEAD EMPTY "    scf.for %k = %c0 to %n step %c1 : i32 {\n" FILLED("%v", "%h") "    }\n" LOADED("%h") TAIL,
     ONE_GRID},
    {"shared memory that a loop of as many turns as the program's number fills",
     HEAD BUFFER("%v")
         FLOATS("n") "    scf.for %k = %c0 to %x step %c1 : i32 {\n" FILLED("%w", "%h") "    }\n" LOADED("%h") TAIL,
     ONE_GRID},
    {"a slot that is filled", HEAD SLOTS SLOT("k", "c0") FILLED("%v", "%k") LOADED("%k") TAIL, ""},
    {"another slot than is filled", HEAD SLOTS SLOT("k", "c0") SLOT("j", "c1") FILLED("%v", "%k") LOADED("%j") TAIL,
     ONE_GRID},
    {"a slot that an argument says", HEAD SLOTS SLOT("k", "c0") SLOT("j", "m") FILLED("%v", "%k") LOADED("%j") TAIL,
     "open: unknown"},
    {"what is in shared memory at the program's number",
     HEAD "    %r = tt.splat %x : i32 -> tensor<128xi32, #blocked>\n" BUFFER(
         "%v") "    %w2 = ttg.local_gather %h[%r] {axis = 0 : i32} : !ttg.memdesc<128xf32, #shared, #smem, mutable>, "
               "tensor<128xi32, #blocked> -> tensor<128xf32, #blocked>\n" TILE(
                   "a", "m") "    tt.store %ap, %w2 : " TYPE_OF_POINTERS "\n" TAIL,
     ONE_GRID},
    {"shared memory, and a masked load without a number fills it",
     HEAD "    %less = arith.cmpi slt, %m, %n : i32\n    %mask = tt.splat %less : i1 -> tensor<128xi1, #blocked>\n"
          "    %d = tt.load %qq, %mask : " TYPE_OF_POINTERS "\n" BUFFER("%d") LOADED("%h") TAIL,
     ONE_GRID},
    {"shared memory, and a masked load with a number fills it",
     HEAD "    %less = arith.cmpi slt, %m, %n : i32\n    %mask = tt.splat %less : i1 -> tensor<128xi1, #blocked>\n"
          "    %d = tt.load %qq, %mask, %v : " TYPE_OF_POINTERS "\n" BUFFER("%d") LOADED("%h") TAIL,
     ""},
    {"shared memory, and a load at the program's number fills it",
     HEAD "    %qx = tt.splat %x : i32 -> tensor<128xi32, #blocked>\n"
          "    %qp = tt.addptr %qq, %qx : " TYPE_OF_POINTERS ", tensor<128xi32, #blocked>\n"
          "    %d = tt.load %qp : " TYPE_OF_POINTERS "\n" BUFFER("%d") LOADED("%h") TAIL,
     ONE_GRID},
    {"shared memory, beside a store of the program's number",
     HEAD "    %own = tt.addptr %i, %x : !tt.ptr<i32>, i32\n    tt.store %own, %x : !tt.ptr<i32>\n" BUFFER("%v")
         LOADED("%h") TAIL,
     "grid.y == 1; grid.z == 1"},
    {"shared memory, beside a load of what is stored",
     HEAD "    %own = tt.addptr %i, %x : !tt.ptr<i32>, i32\n    tt.store %own, %x : !tt.ptr<i32>\n"
          "    %e = tt.load %own : !tt.ptr<i32>\n" BUFFER("%v") LOADED("%h") TAIL,
     "open: two threads of a program may come to the same element"},
    {"shared memory, beside an atomic",
     HEAD "    %e = tt.atomic_rmw add, relaxed, gpu, %i, %c1 : (!tt.ptr<i32>, i32) -> i32\n" BUFFER("%v") LOADED("%h")
         TAIL,
     ONE_GRID},
    {"shared memory, stored in turns of a loop",
     HEAD BUFFER("%v") "    scf.for %k = %c0 to %n step %c1 : i32 {\n" LOADED("%h") "    }\n" TAIL, ONE_GRID},
    {"two elements of a tile to one place",
     HEAD "    %half = arith.constant dense<2> : tensor<128xi32, #blocked>\n"
          "    %d = arith.divsi %lane, %half : tensor<128xi32, #blocked>\n"
          "    %dp = tt.addptr %pp, %d : " TYPE_OF_POINTERS ", tensor<128xi32, #blocked>\n"
          "    tt.store %dp, %v : " TYPE_OF_POINTERS "\n" TAIL,
     "open: two threads of a program may come to the same element"},
    {"tiles in a loop over programs",
     HEAD "    scf.for %k = %x to %n step %nx : i32 {\n"
          "    %t = arith.muli %k, %c128 : i32\n" TILE("a", "t") STORE("a") "    }\n" TAIL,
     "strides of p nest; grid.y == 1; grid.z == 1"},
    {"rows and columns by a quotient and a remainder",
     HEAD "    %r = arith.divsi %x, %n : i32\n    %c = arith.remsi %x, %n : i32\n"
          "    %rs = arith.muli %r, %s : i32\n    %cs = arith.muli %c, %c128 : i32\n"
          "    %t = arith.addi %rs, %cs : i32\n" TILE("a", "t") STORE("a") TAIL,
     "strides of p nest; grid.y == 1; grid.z == 1"},
    {"a quotient without its remainder",
     HEAD "    %r = arith.divsi %x, %c8 : i32\n    %t = arith.muli %r, %c128 : i32\n" TILE("a", "t") STORE("a") TAIL,
     "open: the address does not determine the program id"},
    {"two stores to halves of a tile",
     HEAD "    %c256 = arith.constant 256 : i32\n    %t = arith.muli %x, %c256 : i32\n"
          "    %u = arith.addi %t, %c128 : i32\n" TILE("a", "t") TILE("b", "u") STORE("a") STORE("b") TAIL,
     "grid.y == 1; grid.z == 1"},
    {"two stores to halves of overlapping tiles",
     HEAD "    %t = arith.muli %x, %c128 : i32\n"
          "    %u = arith.addi %t, %c128 : i32\n" TILE("a", "t") TILE("b", "u") STORE("a") STORE("b") TAIL,
     "open: the address does not determine the program id"},
    {"an address from memory", HEAD "    %d = tt.load %i : !tt.ptr<i32>\n" TILE("a", "d") STORE("a") TAIL,
     "open: the address depends on data"},
    {"in place, by the same thread",
     HEAD "    %t = arith.muli %x, %c128 : i32\n" TILE("a", "t") "    %l = tt.load %ap : " TYPE_OF_POINTERS
                                                                 "\n" STORE("a") TAIL,
     "grid.y == 1; grid.z == 1"},
    {"in place, by another thread",
     HEAD "    %t = arith.muli %x, %c128 : i32\n" TILE(
         "a", "t") "    %e = ttg.convert_layout %ap : tensor<128x!tt.ptr<f32>, #blocked> -> tensor<128x!tt.ptr<f32>, "
                   "#other>\n"
                   "    %l = tt.load %e : tensor<128x!tt.ptr<f32>, #other>\n" STORE("a") TAIL,
     "open: two threads of a program may come to the same element"},
    {"a neighbor's element is read",
     HEAD "    %t = arith.muli %x, %c128 : i32\n    %u = arith.addi %t, %c1 : i32\n" TILE("a", "t")
         TILE("b", "u") "    %l = tt.load %bp : " TYPE_OF_POINTERS "\n" STORE("a") TAIL,
     "open: tiles of two programs overlap, or elements of one tile do"},
    {"another tensor is read",
     HEAD "    %t = arith.muli %x, %c128 : i32\n" TILE(
         "a", "t") "    %b = tt.addptr %qq, %lane : " TYPE_OF_POINTERS ", tensor<128xi32, #blocked>\n"
                   "    %l = tt.load %b : " TYPE_OF_POINTERS "\n" STORE("a") TAIL,
     "grid.y == 1; grid.z == 1"},
    {"one program alone stores",
     HEAD
     "    %first = arith.cmpi eq, %x, %c0 : i32\n    scf.if %first {\n    tt.store %p, %f : !tt.ptr<f32>\n    }\n" TAIL,
     ""},
    {"one program alone stores, along one axis",
     HEAD "    %first = arith.cmpi eq, %x, %c0 : i32\n    scf.if %first {\n" ALIKE("%y") "    }\n" TAIL,
     "grid.y == 1; grid.z == 1"},
    {"atomics alone", HEAD "    %o = tt.atomic_rmw fadd, relaxed, gpu, %p, %f : (!tt.ptr<f32>, f32) -> f32\n" TAIL, ""},
    {"atomics of a CTA's scope",
     HEAD "    %o = tt.atomic_rmw fadd, relaxed, cta, %p, %f : (!tt.ptr<f32>, f32) -> f32\n" TAIL,
     "grid.x == 1; grid.y == 1; grid.z == 1"},
    {"an atomic and a load",
     HEAD "    %o = tt.atomic_rmw fadd, relaxed, gpu, %p, %f : (!tt.ptr<f32>, f32) -> f32\n"
          "    %l = tt.load %p : !tt.ptr<f32>\n" TAIL,
     "open: two threads of a program may come to the same element"},
    {"a mask bounds rows",
     HEAD "    %t = arith.muli %y, %s : i32\n    %k = arith.muli %x, %c128 : i32\n" TILE(
         "b", "k") "    %ns = tt.splat %n : i32 -> tensor<128xi32, #blocked>\n"
                   "    %mask = arith.cmpi slt, %b, %ns : tensor<128xi32, #blocked>\n"
                   "    %ts = tt.splat %t : i32 -> tensor<128xi32, #blocked>\n"
                   "    %o = arith.addi %ts, %b : tensor<128xi32, #blocked>\n"
                   "    %op = tt.addptr %pp, %o : " TYPE_OF_POINTERS ", tensor<128xi32, #blocked>\n"
                   "    tt.store %op, %v, %mask : " TYPE_OF_POINTERS "\n" TAIL,
     "s > n - 1; grid.z == 1"},
    {"an unsigned quotient of negative numbers, rounded up",
     HEAD "    %c = arith.constant dense<64> : tensor<128xi32, #blocked>\n"
          "    %c4 = arith.constant dense<4> : tensor<128xi32, #blocked>\n"
          "    %c32 = arith.constant dense<32> : tensor<128xi32, #blocked>\n"
          "    %d = arith.subi %lane, %c32 : tensor<128xi32, #blocked>\n"
          "    %e = arith.ceildivui %d, %c : tensor<128xi32, #blocked>\n"
          "    %l = arith.muli %lane, %c4 : tensor<128xi32, #blocked>\n"
          "    %le = arith.addi %l, %e : tensor<128xi32, #blocked>\n"
          "    %t = arith.muli %x, %s : i32\n"
          "    %ts = tt.splat %t : i32 -> tensor<128xi32, #blocked>\n"
          "    %o = arith.addi %ts, %le : tensor<128xi32, #blocked>\n"
          "    %op = tt.addptr %pp, %o : " TYPE_OF_POINTERS ", tensor<128xi32, #blocked>\n"
          "    tt.store %op, %v : " TYPE_OF_POINTERS "\n" TAIL,
     "open: preconditions"},
};

static void kernels_are_judged(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Proved proved;
        char found[1024];
        prove_text(&proved, cases[i].text);
        describe(proved.proof, found, sizeof found);
        if (strcmp(found, cases[i].expected) != 0)
            fail_msg("%s: %s, and not: %s", cases[i].what, found, cases[i].expected);
        free_proved(&proved);
    }
}

/* ---- Random kernels -------------------------------------------------------------------------------- */

enum { LANES = 8 /* 4 rows of 2 */, MOST_NODES = 96, MOST_PLACES = 1 << 14 };

typedef enum NodeKind {
    CONSTANT,
    ARGUMENT,
    PROGRAM,
    PROGRAMS,
    LANE,
    TURN,
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    REST,
    LEAST
} NodeKind;

typedef struct Node {
    NodeKind kind;
    int64_t value; /* or axis */
    unsigned a, b;
} Node;

typedef struct Kernel {
    Node nodes[MOST_NODES];
    unsigned count, stores, offsets[2], masks[2]; /* masks: less than argument 2; 0: none */
    bool loops, strides;                          /* strides: from the program id on, by how many there are */
    enum { UNGUARDED, IF_FIRST, IF_LESS, UNLESS_LESS } guard; /* on the program id along x */
} Kernel;

static unsigned add_node(Kernel *kernel, NodeKind kind, int64_t value, unsigned a, unsigned b) {
    if (kernel->count == MOST_NODES)
        return 0;
    kernel->nodes[kernel->count] = (Node){kind, value, a, b};
    return kernel->count++;
}

/* Something like a tile's number. */
static unsigned some_tile(Kernel *kernel) {
    unsigned program = add_node(kernel, PROGRAM, 0, 0, 0), other = add_node(kernel, PROGRAM, 1, 0, 0);
    unsigned by =
        roll(0, 1) ? add_node(kernel, ARGUMENT, roll(0, 1), 0, 0) : add_node(kernel, CONSTANT, roll(1, 5), 0, 0);
    unsigned turn = kernel->loops ? add_node(kernel, TURN, 0, 0, 0) : program;
    switch (roll(0, 9)) {
    case 0:
        return add_node(kernel, DIVIDE, 0, program, by);
    case 1:
    case 2:
        return add_node(kernel, REST, 0, program, by);
    case 3:
        return other;
    case 4:
        return turn;
    case 5:
        return add_node(kernel, DIVIDE, 0, turn, by);
    case 6:
        return add_node(kernel, REST, 0, turn, by);
    case 7:
        return add_node(kernel, LEAST, 0, program, by);
    default:
        return program;
    }
}

static unsigned some_factor(Kernel *kernel) {
    static const int64_t sizes[] = {1, 2, 3, 4, 8, 12, 16};
    unsigned size = add_node(kernel, CONSTANT, sizes[roll(0, 6)], 0, 0);
    unsigned argument = add_node(kernel, ARGUMENT, roll(0, 1), 0, 0);
    return roll(0, 2) ? size : roll(0, 1) ? argument : add_node(kernel, MULTIPLY, 0, argument, size);
}

static unsigned some_term(Kernel *kernel) {
    unsigned tile = some_tile(kernel), factor = some_factor(kernel);
    return add_node(kernel, MULTIPLY, 0, tile, factor);
}

/* Both parts of a number, as grouped programs have them. */
static unsigned some_pair(Kernel *kernel) {
    unsigned of = roll(0, 1) && kernel->loops ? add_node(kernel, TURN, 0, 0, 0) : add_node(kernel, PROGRAM, 0, 0, 0);
    unsigned by =
        roll(0, 1) ? add_node(kernel, ARGUMENT, roll(0, 1), 0, 0) : add_node(kernel, CONSTANT, roll(1, 5), 0, 0);
    unsigned whole = add_node(kernel, DIVIDE, 0, of, by), rest = add_node(kernel, REST, 0, of, by);
    return add_node(kernel, ADD, 0, add_node(kernel, MULTIPLY, 0, whole, some_factor(kernel)),
                    add_node(kernel, MULTIPLY, 0, rest, some_factor(kernel)));
}

/* Grouped programs: rows of a group, of which the last has fewer, in either of the two ways that kernels have them. */
static unsigned some_group(Kernel *kernel) {
    unsigned of = roll(0, 1) && kernel->loops ? add_node(kernel, TURN, 0, 0, 0) : add_node(kernel, PROGRAM, 0, 0, 0);
    unsigned columns = add_node(kernel, ARGUMENT, 0, 0, 0), rows = add_node(kernel, ARGUMENT, 1, 0, 0);
    unsigned size = add_node(kernel, CONSTANT, roll(1, 3), 0, 0);
    unsigned in_group = add_node(kernel, MULTIPLY, 0, columns, size);
    unsigned group = add_node(kernel, DIVIDE, 0, of, in_group), rest = add_node(kernel, REST, 0, of, in_group);
    unsigned first = add_node(kernel, MULTIPLY, 0, group, size);
    unsigned left = add_node(kernel, LEAST, 0, add_node(kernel, SUBTRACT, 0, rows, first), size);
    unsigned row = add_node(kernel, ADD, 0, first, add_node(kernel, REST, 0, roll(0, 1) ? of : rest, left));
    unsigned column = add_node(kernel, DIVIDE, 0, roll(0, 5) ? rest : of, left);
    return add_node(kernel, ADD, 0, add_node(kernel, MULTIPLY, 0, row, some_factor(kernel)),
                    add_node(kernel, MULTIPLY, 0, column, some_factor(kernel)));
}

static unsigned some_offset(Kernel *kernel) {
    unsigned lane = add_node(kernel, LANE, 0, 0, 0), column = add_node(kernel, LANE, 1, 0, 0);
    unsigned row =
        add_node(kernel, MULTIPLY, 0, lane, roll(0, 5) ? add_node(kernel, CONSTANT, 2, 0, 0) : some_factor(kernel));
    lane =
        add_node(kernel, ADD, 0, row, roll(0, 5) ? column : add_node(kernel, MULTIPLY, 0, column, some_factor(kernel)));
    unsigned sum = roll(0, 3) ? lane : add_node(kernel, MULTIPLY, 0, lane, some_factor(kernel));
    if (roll(0, 2) == 0)
        return add_node(kernel, ADD, 0, sum, some_group(kernel));
    for (int64_t i = roll(1, 3); i > 0; i--)
        sum =
            add_node(kernel, roll(0, 12) ? ADD : SUBTRACT, 0, sum, roll(0, 2) ? some_term(kernel) : some_pair(kernel));
    return sum;
}

static Kernel some_kernel(void) {
    Kernel kernel = {.loops = roll(0, 2) == 0, .strides = roll(0, 1), .stores = (unsigned)roll(1, 2)};
    kernel.guard = roll(0, 3) ? UNGUARDED : (unsigned)roll(IF_FIRST, UNLESS_LESS);
    add_node(&kernel, CONSTANT, 0, 0, 0);
    for (unsigned i = 0; i < kernel.stores; i++) {
        bool again = i && roll(0, 1);
        kernel.offsets[i] =
            again ? add_node(&kernel, ADD, 0, kernel.offsets[0], add_node(&kernel, CONSTANT, roll(0, 24), 0, 0))
                  : some_offset(&kernel);
        kernel.masks[i] = roll(0, 2) ? 0 : roll(0, 1) ? kernel.offsets[i] : add_node(&kernel, LANE, roll(0, 1), 0, 0);
    }
    return kernel;
}

/* ---- The same as text ------------------------------------------------------------------------------ */

static void write_node(const Kernel *kernel, unsigned at, Text *to) {
    static const char *const ops[] = {[ADD] = "addi",     [SUBTRACT] = "subi", [MULTIPLY] = "muli",
                                      [DIVIDE] = "divsi", [REST] = "remsi",    [LEAST] = "minsi"};
    const Node *node = &kernel->nodes[at];
    const char *tensor = "tensor<4x2xi32, #blocked>";
    switch (node->kind) {
    case CONSTANT:
        text_addf(to, "    %%v%u = arith.constant dense<%d> : %s\n", at, (int)node->value, tensor);
        break;
    case ARGUMENT:
        text_addf(to, "    %%v%u = tt.splat %%a%d : i32 -> %s\n", at, (int)node->value, tensor);
        break;
    case PROGRAM:
        text_addf(to, "    %%v%u = tt.splat %%pid%d : i32 -> %s\n", at, (int)node->value, tensor);
        break;
    case PROGRAMS:
        break;
    case LANE:
        text_addf(to,
                  "    %%r%u = tt.make_range {end = %d : i32, start = 0 : i32} : tensor<%dxi32, #ttg.slice<{dim = %d, "
                  "parent = "
                  "#blocked}>>\n"
                  "    %%e%u = tt.expand_dims %%r%u {axis = %d : i32} : tensor<%dxi32, #ttg.slice<{dim = %d, parent = "
                  "#blocked}>> -> tensor<%sxi32, #blocked>\n"
                  "    %%v%u = tt.broadcast %%e%u : tensor<%sxi32, #blocked> -> %s\n",
                  at, node->value ? 2 : 4, node->value ? 2 : 4, node->value ? 0 : 1, at, at, node->value ? 0 : 1,
                  node->value ? 2 : 4, node->value ? 0 : 1, node->value ? "1x2" : "4x1", at, at,
                  node->value ? "1x2" : "4x1", tensor);
        break;
    case TURN:
        text_addf(to, "    %%v%u = tt.splat %%k : i32 -> %s\n", at, tensor);
        break;
    default:
        text_addf(to, "    %%v%u = arith.%s %%v%u, %%v%u : %s\n", at, ops[node->kind], node->a, node->b, tensor);
        break;
    }
}

static void write_kernel(const Kernel *kernel, Text *to) {
    text_addf(to,
              "#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 1], order "
              "= [1, 0]}>\n"
              "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 1 : i32, ttg.target = \"cuda:90\", "
              "\"ttg.threads-per-warp\" = 32 : i32} {\n"
              "  tt.func public @kernel(%%p: !tt.ptr<i32>, %%a0: i32, %%a1: i32, %%a2: i32) {\n"
              "    %%pid0 = tt.get_program_id x : i32\n"
              "    %%pid1 = tt.get_program_id y : i32\n"
              "    %%n0 = tt.get_num_programs x : i32\n"
              "    %%c0 = arith.constant 0 : i32\n"
              "    %%c1 = arith.constant 1 : i32\n"
              "    %%w = arith.constant dense<1> : tensor<4x2xi32, #blocked>\n"
              "    %%pp = tt.splat %%p : !tt.ptr<i32> -> tensor<4x2x!tt.ptr<i32>, #blocked>\n"
              "    %%bound = tt.splat %%a2 : i32 -> tensor<4x2xi32, #blocked>\n");
    if (kernel->guard)
        text_addf(to, "    %%guard = arith.cmpi %s, %%pid0, %s : i32\n    scf.if %%guard {\n",
                  kernel->guard == IF_FIRST  ? "eq"
                  : kernel->guard == IF_LESS ? "slt"
                                             : "sge",
                  kernel->guard == IF_FIRST ? "%c1" : "%a2");
    if (kernel->loops)
        text_addf(to, "    scf.for %%k = %s to %%a2 step %s : i32 {\n", kernel->strides ? "%pid0" : "%c0",
                  kernel->strides ? "%n0" : "%c1");
    for (unsigned i = 0; i < kernel->count; i++)
        write_node(kernel, i, to);
    for (unsigned i = 0; i < kernel->stores; i++) {
        text_addf(to,
                  "    %%q%u = tt.addptr %%pp, %%v%u : tensor<4x2x!tt.ptr<i32>, #blocked>, tensor<4x2xi32, #blocked>\n",
                  i, kernel->offsets[i]);
        if (kernel->masks[i])
            text_addf(to, "    %%m%u = arith.cmpi slt, %%v%u, %%bound : tensor<4x2xi32, #blocked>\n", i,
                      kernel->masks[i]);
        if (kernel->masks[i])
            text_addf(to, "    tt.store %%q%u, %%w, %%m%u : tensor<4x2x!tt.ptr<i32>, #blocked>\n", i, i);
        else
            text_addf(to, "    tt.store %%q%u, %%w : tensor<4x2x!tt.ptr<i32>, #blocked>\n", i);
    }
    text_addf(to, "%s%s    tt.return\n  }\n}\n", kernel->loops ? "    }\n" : "", kernel->guard ? "    }\n" : "");
    text_char(to, 0);
}

/* ---- The same number by number --------------------------------------------------------------------- */

typedef struct Moment {
    int64_t arguments[3], grid[3], program[2], turn, lane;
} Moment;

static int64_t value_of(const Kernel *kernel, unsigned at, const Moment *moment, bool *good) {
    const Node *node = &kernel->nodes[at];
    int64_t a = node->kind >= ADD ? value_of(kernel, node->a, moment, good) : 0;
    int64_t b = node->kind >= ADD ? value_of(kernel, node->b, moment, good) : 0;
    switch (node->kind) {
    case CONSTANT:
        return node->value;
    case ARGUMENT:
        return moment->arguments[node->value];
    case PROGRAM:
        return moment->program[node->value];
    case PROGRAMS:
        return moment->grid[node->value];
    case LANE:
        return node->value ? moment->lane % 2 : moment->lane / 2;
    case TURN:
        return moment->turn;
    case ADD:
        return a + b;
    case SUBTRACT:
        return a - b;
    case MULTIPLY:
        return a * b;
    case DIVIDE:
    case REST:
        *good &= b != 0;
        return !b ? 0 : node->kind == DIVIDE ? a / b : a % b;
    case LEAST:
        return a < b ? a : b;
    }
    return 0;
}

/* Who has come to an element. */
typedef struct Visit {
    int64_t element;
    int x, y, lane;
} Visit;

static int compare_visits(const void *a, const void *b) {
    int64_t x = ((const Visit *)a)->element, y = ((const Visit *)b)->element;
    return x < y ? -1 : x > y;
}

/* Whether two programs, or two lanes of one, come to one element. */
static bool visits_meet(const Kernel *kernel, const Moment *launch) {
    static Visit visits[MOST_PLACES];
    size_t count = 0;
    Moment moment = *launch;
    for (moment.program[0] = 0; moment.program[0] < launch->grid[0]; moment.program[0]++)
        for (moment.program[1] = 0; moment.program[1] < launch->grid[1]; moment.program[1]++) {
            int64_t x = moment.program[0], bound = launch->arguments[2];
            if (kernel->guard && !(kernel->guard == IF_FIRST  ? x == 1
                                   : kernel->guard == IF_LESS ? x < bound
                                                              : x >= bound))
                continue;
            int64_t from = kernel->strides ? moment.program[0] : 0, step = kernel->strides ? launch->grid[0] : 1;
            for (moment.turn = from; kernel->loops ? moment.turn < launch->arguments[2] : moment.turn == from;
                 moment.turn += step)
                for (moment.lane = 0; moment.lane < LANES; moment.lane++)
                    for (unsigned i = 0; i < kernel->stores; i++) {
                        bool good = true;
                        int64_t element = value_of(kernel, kernel->offsets[i], &moment, &good);
                        bool made = !kernel->masks[i] ||
                                    value_of(kernel, kernel->masks[i], &moment, &good) < launch->arguments[2];
                        if (!good)
                            return true;
                        if (made && count < MOST_PLACES)
                            visits[count++] =
                                (Visit){element, (int)moment.program[0], (int)moment.program[1], (int)moment.lane};
                    }
        }
    qsort(visits, count, sizeof *visits, compare_visits);
    for (size_t i = 1; i < count; i++) {
        const Visit *a = &visits[i - 1], *b = &visits[i];
        if (a->element == b->element && (a->x != b->x || a->y != b->y || a->lane != b->lane))
            return true;
    }
    return false;
}

static void covered_launches_never_meet(void **state) {
    (void)state;
    unsigned proofs = 0, covered = 0, several = 0, met = 0;
    for (unsigned round = 0; round < 6000; round++) {
        Kernel kernel = some_kernel();
        Proved proved;
        Text text = {0};
        if (kernel.count == MOST_NODES)
            continue;
        write_kernel(&kernel, &text);
        prove_text(&proved, text.data);
        proofs += proved.proof->proved;
        for (unsigned i = 0; proved.proof->proved && i < 24; i++) {
            Moment launch = {.arguments = {roll(-1, 20), roll(0, 40), roll(0, 9)}, .grid = {roll(1, 6), roll(1, 3), 1}};
            LaunchNumber numbers[4] = {{0}};
            for (unsigned k = 0; k < 3; k++)
                numbers[k + 1] = (LaunchNumber){.known = true, .value = launch.arguments[k]};
            LaunchNumbers given = {.grid = {launch.grid[0], launch.grid[1], 1}, .arguments = numbers, .count = 4};
            bool covers = proof_covers_numbers(proved.proof, &given, NULL), meet = visits_meet(&kernel, &launch);
            if (covers && meet)
                fail_msg("grid %d,%d, arguments %d,%d,%d is covered, and two meet:\n%s", (int)launch.grid[0],
                         (int)launch.grid[1], (int)launch.arguments[0], (int)launch.arguments[1],
                         (int)launch.arguments[2], text.data);
            covered += covers;
            several += covers && launch.grid[0] > 1;
            met += meet;
        }
        free_proved(&proved);
        text_free(&text);
    }
    print_message("%u proofs, %u launches covered, %u of them with several programs, %u that meet\n", proofs, covered,
                  several, met);
    assert_true(proofs > 500 && covered > 2000 && several > 500 && met > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_are_judged),
        cmocka_unit_test(covered_launches_never_meet),
    };
    return cmocka_run_group_tests_name("prove", tests, NULL, NULL);
}
