// The next cluster is asked for eight times.
// To be looked at: after an answer that there is none it must not be.
#bars = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!barrier = !ttg.memdesc<1xi64, #bars, #smem, mutable>
!response = !ttg.memdesc<2xi64, #bars, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32, ttg.shared = 48 : i32} {
  tt.func public @kernel() attributes {noinline = false} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c8 = arith.constant 8 : i32
    %true = arith.constant true
    %response = ttg.local_alloc {allocation.offset = 16 : i32} : () -> !response
    %bar = ttg.local_alloc {allocation.offset = 32 : i32} : () -> !barrier
    ttng.init_barrier %bar, 1 : !barrier
    ttg.barrier local
    %last = scf.for %i = %c0 to %c8 step %c1 iter_args(%phase = %c0) -> (i32) : i32 {
      ttng.barrier_expect %bar, 16, %true : !barrier
      ttng.clc_try_cancel %response, %bar : !response, !barrier
      ttng.wait_barrier %bar, %phase : !barrier
      %answer = ttng.clc_load_result %response : !response -> i128
      ttng.fence_async_shared {bCluster = false}
      %found = ttng.clc_is_canceled %answer : i128 -> i1
      ttg.barrier local
      %next = arith.xori %phase, %c1 : i32
      scf.yield %next : i32
    }
    tt.return
  }
}
