// A number is loaded after the wait for the kernel before this one.
// Nothing is wrong.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%p: !tt.ptr<i32>) attributes {noinline = false} {
    tt.grid_dependency_wait
    %value = tt.load %p : !tt.ptr<i32>
    tt.return
  }
}
