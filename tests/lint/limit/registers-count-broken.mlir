// A partition is given 20 registers a thread.
// Wrong: it has 24 at least.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%n: i32) attributes {noinline = false} {
    ttg.warp_specialize(%n) attributes {actualRegisters = array<i32: 240, 20>, requestedRegisters = array<i32: 24>, warpGroupStartIds = array<i32: 4>}
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
