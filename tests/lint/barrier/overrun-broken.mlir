// Two phases complete, and only the second is waited for.
// Wrong: nobody has seen the first.
#bars = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!barrier = !ttg.memdesc<1xi64, #bars, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() attributes {noinline = false} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    %full = ttg.local_alloc : () -> !barrier
    ttng.init_barrier %full, 1 : !barrier
    %empty = ttg.local_alloc : () -> !barrier
    ttng.init_barrier %empty, 1 : !barrier
    ttg.warp_specialize(%full, %empty)
    default {
      ttng.wait_barrier %empty, %c0 : !barrier
      ttng.wait_barrier %full, %c1 : !barrier
      ttg.warp_yield
    }
    partition0(%full_p: !barrier, %empty_p: !barrier) num_warps(4) {
      %c0_p = arith.constant 0 : i32
      %c1_p = arith.constant 1 : i32
      %c4_p = arith.constant 4 : i32
      ttng.arrive_barrier %full_p, 1 : !barrier
      ttng.arrive_barrier %full_p, 1 : !barrier
      ttng.arrive_barrier %empty_p, 1 : !barrier
      ttg.warp_return
    } : (!barrier, !barrier) -> ()
    tt.return
  }
}
