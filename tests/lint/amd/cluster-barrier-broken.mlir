// The last arrival is not waited for.
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%some: i1) {
    scf.if %some {
      amdg.cluster_barrier_arrive
      amdg.cluster_barrier_wait
    }
    amdg.cluster_barrier_arrive
    tt.return
  }
}
