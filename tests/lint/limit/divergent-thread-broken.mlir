// The first 96 threads alone come to a barrier of the CTA.
// Wrong: the last warp does not.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() attributes {noinline = false} {
    %c96 = arith.constant 96 : index
    %thread = gpu.thread_id x
    %some = arith.cmpi ult, %thread, %c96 : index
    scf.if %some {
      ttg.barrier local
    }
    tt.return
  }
}
