// The first CTA alone comes to a cluster barrier.
// Wrong: it waits for the other for ever.
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() attributes {noinline = false} {
    %c0 = arith.constant 0 : i32
    %rank = nvg.cluster_id
    %first = arith.cmpi eq, %rank, %c0 : i32
    scf.if %first {
      ttng.cluster_barrier
    }
    tt.return
  }
}
