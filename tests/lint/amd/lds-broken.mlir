// A kernel needs 66 KiB of LDS.
// Wrong: a workgroup has 64.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32, ttg.shared = 67584 : i32} {
  tt.func public @kernel(%n: i32) attributes {noinline = false} {
    %x = arith.addi %n, %n : i32
    tt.return
  }
}
