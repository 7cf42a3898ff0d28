// Two CTAs share a barrier with a count of 600000 each.
// Wrong: 1200000 arrivals are more than it can count.
#both = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[0]]}>
#smem = #ttg.shared_memory
!for_both = !ttg.memdesc<1xi64, #both, #smem, mutable>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() attributes {noinline = false} {
    %c0 = arith.constant 0 : i32
    %bar = ttg.local_alloc : () -> !for_both
    ttng.init_barrier %bar, 600000 : !for_both
    ttng.fence_mbarrier_init_release_cluster
    ttng.cluster_barrier {relaxed = true}
    ttng.arrive_barrier %bar, 600000 : !for_both
    ttng.wait_barrier %bar, %c0 : !for_both
    ttng.cluster_barrier
    tt.return
  }
}
