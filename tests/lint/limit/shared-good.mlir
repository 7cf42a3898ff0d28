// A kernel needs 227 KiB of shared memory.
// Nothing is wrong.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32, ttg.shared = 232448 : i32} {
  tt.func public @kernel(%n: i32) attributes {noinline = false} {
    %x = arith.addi %n, %n : i32
    tt.return
  }
}
