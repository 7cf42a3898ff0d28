// The first warp alone comes to a barrier of the CTA.
// Wrong: it waits for the others for ever.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() attributes {noinline = false} {
    %c0 = arith.constant 0 : i32
    %warp = ttg.warp_id
    %first = arith.cmpi eq, %warp, %c0 : i32
    scf.if %first {
      ttg.barrier local
    }
    tt.return
  }
}
