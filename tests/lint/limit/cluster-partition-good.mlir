// All threads come to a cluster barrier after their partitions.
// Nothing is wrong.
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() attributes {noinline = false} {
    %n = arith.constant 0 : i32
    ttg.warp_specialize(%n)
    default {
      %c1 = arith.constant 1 : i32
      ttg.warp_yield
    }
    partition0(%n_p: i32) num_warps(4) {
      %c2 = arith.constant 2 : i32
      ttg.warp_return
    } : (i32) -> ()
    ttng.cluster_barrier
    tt.return
  }
}
