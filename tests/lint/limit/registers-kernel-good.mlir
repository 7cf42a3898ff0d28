// Sixteen warps may have 128 registers a thread.
// Nothing is wrong.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 16 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32, ttg.maxnreg = 128 : i32} {
  tt.func public @kernel(%n: i32) attributes {noinline = false} {
    %x = arith.addi %n, %n : i32
    tt.return
  }
}
