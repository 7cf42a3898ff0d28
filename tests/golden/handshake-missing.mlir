// Both CTAs arrive on a barrier of the first. The compiler is done, and they do not meet.
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[0]]}>
#smem = #ttg.shared_memory
!bar = !ttg.memdesc<1xi64, #bar, #smem, mutable>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32, "ttng.two-ctas" = false, ttg.profile_scratch_memory_size = 0 : i32} {
  tt.func public @kernel() {
    %c0 = arith.constant 0 : i32
    %bar = ttg.local_alloc : () -> !bar
    ttng.init_barrier %bar, 1 : !bar loc("kernel.py":4:5)
    ttng.arrive_barrier %bar, 1 : !bar loc("kernel.py":5:5)
    ttng.wait_barrier %bar, %c0 : !bar loc("kernel.py":6:5)
    ttng.inval_barrier %bar : !bar loc("kernel.py":7:5)
    tt.return
  } loc("kernel.py":2:1)
}
