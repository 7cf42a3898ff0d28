// No document says that so many can be left.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() {
    rocdl.s.wait.tensorcnt 64
    tt.return
  }
}
