// Fourteen partitions beside the default one.
// Nothing is wrong.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() attributes {noinline = false} {
    ttg.warp_specialize()
    default {
      ttg.warp_yield
    }
    partition0() num_warps(1) {
      ttg.warp_return
    }
    partition1() num_warps(1) {
      ttg.warp_return
    }
    partition2() num_warps(1) {
      ttg.warp_return
    }
    partition3() num_warps(1) {
      ttg.warp_return
    }
    partition4() num_warps(1) {
      ttg.warp_return
    }
    partition5() num_warps(1) {
      ttg.warp_return
    }
    partition6() num_warps(1) {
      ttg.warp_return
    }
    partition7() num_warps(1) {
      ttg.warp_return
    }
    partition8() num_warps(1) {
      ttg.warp_return
    }
    partition9() num_warps(1) {
      ttg.warp_return
    }
    partition10() num_warps(1) {
      ttg.warp_return
    }
    partition11() num_warps(1) {
      ttg.warp_return
    }
    partition12() num_warps(1) {
      ttg.warp_return
    }
    partition13() num_warps(1) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}
