// Sixteen warps may have 168 registers a thread.
// Wrong: that is more than 65536.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 16 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32, ttg.maxnreg = 168 : i32} {
  tt.func public @kernel(%n: i32) attributes {noinline = false} {
    %x = arith.addi %n, %n : i32
    tt.return
  }
}
