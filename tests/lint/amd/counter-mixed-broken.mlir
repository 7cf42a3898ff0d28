// Scalar loads count on the same counter, in any order.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @kernel() {
    amdg.memory_counter_wait ds(4)
    tt.return
  }
}
