// A cluster of 2 CTAs, for sm_120.
// To be looked at: sources disagree whether it has clusters.
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:120", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%n: i32) attributes {noinline = false} {
    %x = arith.addi %n, %n : i32
    tt.return
  }
}
