// Two partitions meet at barrier 15, with 256 threads.
// Nothing is wrong.
#bars = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!barrier = !ttg.memdesc<1xi64, #bars, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() attributes {noinline = false} {
    %ready = ttg.local_alloc : () -> !barrier
    ttg.warp_specialize(%ready)
    default {
      %id = arith.constant 15 : i32
      %threads = arith.constant 256 : i32
      ttng.wait_barrier_named %id, %threads : i32, i32
      ttg.warp_yield
    }
    partition0(%ready_p: !barrier) num_warps(4) {
      %id_p = arith.constant 15 : i32
      %threads_p = arith.constant 256 : i32
      ttng.arrive_barrier_named %id_p, %threads_p : i32, i32
      ttg.warp_return
    } : (!barrier) -> ()
    tt.return
  }
}
