// Warps below some argument come to a barrier of the CTA.
// To be looked at: it depends on the argument.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%n: i32) attributes {noinline = false} {
    %warp = ttg.warp_id
    %some = arith.cmpi slt, %warp, %n : i32
    scf.if %some {
      ttg.barrier local
    }
    tt.return
  }
}
