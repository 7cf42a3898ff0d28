// Eight and four warps are given 240 and 64 registers a thread.
// Wrong: that is more than 65536.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%n: i32) attributes {noinline = false} {
    ttg.warp_specialize(%n) attributes {actualRegisters = array<i32: 240, 64>, warpGroupStartIds = array<i32: 8>}
    default {
      ttg.warp_yield
    }
    partition0(%n_p0: i32) num_warps(4) {
      %x0 = arith.addi %n_p0, %n_p0 : i32
      ttg.warp_return
    } : (i32) -> ()
    tt.return
  }
}
