// Single arrivals, for sm_80.
// Nothing is wrong.
#bars = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!barrier = !ttg.memdesc<1xi64, #bars, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() attributes {noinline = false} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bar = ttg.local_alloc : () -> !barrier
    ttng.init_barrier %bar, 2 : !barrier
    ttng.arrive_barrier %bar, 1 : !barrier
    ttng.arrive_barrier %bar, 1 : !barrier
    ttng.wait_barrier %bar, %c0 : !barrier
    tt.return
  }
}
