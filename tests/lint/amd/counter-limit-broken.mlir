// The instruction holds 63 at most.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() {
    rocdl.s.wait.asynccnt 64
    tt.return
  }
}
