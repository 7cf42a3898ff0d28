/* Kernels with certificates, for the tests of their checker. */
#ifndef TESTS_UNIT_CERTIFIED_H
#define TESTS_UNIT_CERTIFIED_H

/* Tiles of a row, under a mask, stored in each turn of a loop. */
#define KERNEL                                                                                                \
    "#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>\n" \
    "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 1 : i32, ttg.target = \"cuda:90\", "  \
    "\"ttg.threads-per-warp\" = 32 : i32} {\n"                                                                \
    "  tt.func public @kernel(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %n: i32, %s: i32) {\n"                      \
    "    %x = tt.get_program_id x : i32\n"                                                                    \
    "    %y = tt.get_program_id y : i32\n"                                                                    \
    "    %c128 = arith.constant 128 : i32\n"                                                                  \
    "    %c0 = arith.constant 0 : i32\n"                                                                      \
    "    %c1 = arith.constant 1 : i32\n"                                                                      \
    "    %v = arith.constant dense<1.0> : tensor<128xf32, #blocked>\n"                                        \
    "    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked>\n"                 \
    "    %a = arith.muli %x, %c128 : i32\n"                                                                   \
    "    %b = arith.muli %y, %s : i32\n"                                                                      \
    "    %t = tt.splat %a : i32 -> tensor<128xi32, #blocked>\n"                                               \
    "    %o = arith.addi %t, %r : tensor<128xi32, #blocked>\n"                                                \
    "    %ns = tt.splat %n : i32 -> tensor<128xi32, #blocked>\n"                                              \
    "    %m = arith.cmpi slt, %o, %ns : tensor<128xi32, #blocked>\n"                                          \
    "    %pb = tt.addptr %p, %b : !tt.ptr<f32>, i32\n"                                                        \
    "    %ps = tt.splat %pb : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #blocked>\n"                           \
    "    %e = tt.addptr %ps, %o : tensor<128x!tt.ptr<f32>, #blocked>, tensor<128xi32, #blocked>\n"            \
    "    scf.for %i = %c0 to %n step %c1 : i32 {\n"                                                           \
    "      tt.store %e, %v, %m : tensor<128x!tt.ptr<f32>, #blocked>\n"                                        \
    "    }\n"                                                                                                 \
    "    tt.return\n"                                                                                         \
    "  }\n"                                                                                                   \
    "}\n"

/* Programs in groups of four rows, with a loop that carries its pointer: a quotient and a remainder. */
#define GROUPED                                                                                                      \
    "#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>\n"        \
    "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 1 : i32, ttg.target = \"cuda:90\", "         \
    "\"ttg.threads-per-warp\" = 32 : i32} {\n"                                                                       \
    "  tt.func public @grouped(%p: !tt.ptr<f32>, %w: i32, %s: i32, %k: i32) {\n"                                     \
    "    %x = tt.get_program_id x : i32\n"                                                                           \
    "    %c0 = arith.constant 0 : i32\n"                                                                             \
    "    %c1 = arith.constant 1 : i32\n"                                                                             \
    "    %c32 = arith.constant 32 : i32\n"                                                                           \
    "    %v = arith.constant dense<1.0> : tensor<32xf32, #blocked>\n"                                                \
    "    %step = arith.constant dense<32> : tensor<32xi32, #blocked>\n"                                              \
    "    %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #blocked>\n"                          \
    "    %row = arith.divsi %x, %w : i32\n"                                                                          \
    "    %column = arith.remsi %x, %w : i32\n"                                                                       \
    "    %a = arith.muli %row, %s : i32\n"                                                                           \
    "    %b = arith.muli %column, %k : i32\n"                                                                        \
    "    %o = arith.addi %a, %b : i32\n"                                                                             \
    "    %pb = tt.addptr %p, %o : !tt.ptr<f32>, i32\n"                                                               \
    "    %ps = tt.splat %pb : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>, #blocked>\n"                                   \
    "    %e = tt.addptr %ps, %r : tensor<32x!tt.ptr<f32>, #blocked>, tensor<32xi32, #blocked>\n"                     \
    "    %last = scf.for %i = %c0 to %k step %c32 iter_args(%at = %e) -> (tensor<32x!tt.ptr<f32>, #blocked>) : i32 " \
    "{\n"                                                                                                            \
    "      tt.store %at, %v : tensor<32x!tt.ptr<f32>, #blocked>\n"                                                   \
    "      %next = tt.addptr %at, %step : tensor<32x!tt.ptr<f32>, #blocked>, tensor<32xi32, #blocked>\n"             \
    "      scf.yield %next : tensor<32x!tt.ptr<f32>, #blocked>\n"                                                    \
    "    }\n"                                                                                                        \
    "    tt.return\n"                                                                                                \
    "  }\n"                                                                                                          \
    "}\n"

#endif
