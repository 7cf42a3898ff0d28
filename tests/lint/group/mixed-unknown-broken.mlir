// Different scopes on one tensor, at offsets that are not known.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%flag: !tt.ptr<i32>, %one: i32, %wide: i64) {
    %true = arith.constant true
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %x = tt.atomic_rmw add, acq_rel, gpu, %flag, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
    %there = tt.addptr %flag, %one : !tt.ptr<i32>, i32
    %y = tt.atomic_rmw add, acq_rel, cta, %there, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
    tt.return
  }
}
