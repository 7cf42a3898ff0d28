// A number is loaded before the wait for the kernel before this one.
// To be looked at: that kernel may write it.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%p: !tt.ptr<i32>) attributes {noinline = false} {
    %value = tt.load %p : !tt.ptr<i32>
    tt.grid_dependency_wait
    tt.return
  }
}
