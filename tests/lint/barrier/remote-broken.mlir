// A CTA waits for a barrier of another one.
// Wrong: it can only wait for its own.
#bars = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!far = !ttg.memdesc<1xi64, #bars, #ttng.shared_cluster_memory, mutable>
!barrier = !ttg.memdesc<1xi64, #bars, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32, "ttg.cluster-dim-x" = 2 : i32, "ttg.cluster-dim-y" = 1 : i32, "ttg.cluster-dim-z" = 1 : i32} {
  tt.func public @kernel() attributes {noinline = false} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bar = ttg.local_alloc : () -> !barrier
    ttng.init_barrier %bar, 1 : !barrier
    ttng.cluster_arrive {relaxed = false}
    ttng.cluster_wait
    %far = ttng.map_to_remote_buffer %bar, %c1 : !barrier -> !far
    ttng.arrive_barrier %bar, 1 : !barrier
    ttng.wait_barrier %far, %c0 : !far
    ttng.cluster_arrive {relaxed = false}
    ttng.cluster_wait
    tt.return
  }
}
