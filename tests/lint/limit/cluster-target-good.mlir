// A barrier of the CTA, for sm_80.
// Nothing is wrong.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() attributes {noinline = false} {
    ttg.barrier local
    tt.return
  }
}
