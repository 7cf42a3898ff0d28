// Two partitions meet at a barrier whose number is an argument.
// To be looked at: it may be any.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%n: i32) attributes {noinline = false} {
    ttg.warp_specialize(%n)
    default {
      %threads = arith.constant 256 : i32
      ttng.wait_barrier_named %n, %threads : i32, i32
      ttg.warp_yield
    }
    partition0(%n_p: i32) num_warps(4) {
      %threads_p = arith.constant 256 : i32
      ttng.arrive_barrier_named %n_p, %threads_p : i32, i32
      ttg.warp_return
    } : (i32) -> ()
    tt.return
  }
}
