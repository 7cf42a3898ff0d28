// Which waves come to which barrier is not to be seen.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @kernel(%some: i1, %other: i1) {
    %c0 = arith.constant 0 : i32
    %c256 = arith.constant 256 : i32
    %thread = rocdl.workitem.id.x : i32
    %low = arith.cmpi slt, %thread, %c256 : i32
    %high = arith.cmpi sge, %thread, %c256 : i32
    amdg.cond_barrier %some
    amdg.cond_barrier %other
    tt.return
  }
}
