// Loads and stores count together here, and 70 is more than vmcnt holds.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @kernel() {
    amdg.memory_counter_wait load(40) store(30)
    tt.return
  }
}
