// The kernel before is waited for, and the next one let go.
// Nothing is wrong.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%p: !tt.ptr<i32>) attributes {noinline = false} {
    tt.grid_dependency_wait
    %value = tt.load %p : !tt.ptr<i32>
    tt.grid_dependency_launch_dependents
    tt.return
  }
}
