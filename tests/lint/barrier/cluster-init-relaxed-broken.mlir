// Both CTAs meet at a relaxed cluster barrier, without the fence.
// Wrong: a relaxed barrier publishes nothing.
#pair = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#smem = #ttg.shared_memory
!per_cta = !ttg.memdesc<2xi64, #pair, #smem, mutable>
module attributes {ttg.profile_scratch_memory_size = 0 : i32, "ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32, ttg.shared = 8 : i32} {
  tt.func public @kernel() attributes {noinline = false} {
    %c0 = arith.constant 0 : i32
    %bar = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !per_cta
    ttng.init_barrier %bar, 2 : !per_cta
    ttng.cluster_barrier {relaxed = true}
    ttng.arrive_barrier %bar, 1 {multicastCTA = 1 : i32} : !per_cta
    ttng.wait_barrier %bar, %c0 : !per_cta
    ttng.cluster_barrier
    tt.return
  }
}
