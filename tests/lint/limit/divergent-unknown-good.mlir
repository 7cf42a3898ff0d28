// All warps come to a barrier of the CTA, or none, as an argument says.
// Nothing is wrong.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%n: i32) attributes {noinline = false} {
    %c0 = arith.constant 0 : i32
    %some = arith.cmpi slt, %c0, %n : i32
    scf.if %some {
      ttg.barrier local
    }
    tt.return
  }
}
