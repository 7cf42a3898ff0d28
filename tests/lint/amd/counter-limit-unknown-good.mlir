// The other counters hold as much.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() {
    rocdl.s.wait.tensorcnt 63
    tt.return
  }
}
