// Two have scope gpu; the third has scope sys, which includes the same threads of the kernel.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%flag: !tt.ptr<i32>, %one: i32, %wide: i64) {
    %true = arith.constant true
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %x = tt.atomic_rmw add, acq_rel, gpu, %flag, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
    %y = tt.atomic_rmw add, acq_rel, gpu, %flag, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
    %z = tt.atomic_rmw add, acq_rel, sys, %flag, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
    tt.return
  }
}
