// All 128 threads come to a barrier of the CTA.
// Nothing is wrong.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() attributes {noinline = false} {
    %c128 = arith.constant 128 : index
    %thread = gpu.thread_id x
    %some = arith.cmpi ult, %thread, %c128 : index
    scf.if %some {
      ttg.barrier local
    }
    tt.return
  }
}
