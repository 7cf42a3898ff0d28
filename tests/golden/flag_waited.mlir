// A flag in memory is waited for, and nothing here sets it.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @waits(%flag: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    scf.while : () -> () {
      %seen = tt.atomic_rmw add, acquire, gpu, %flag, %c0, %true : (!tt.ptr<i32>, i32, i1) -> i32
      %again = arith.cmpi ne, %seen, %c1 : i32
      scf.condition(%again)
    } do {
      scf.yield
    }
    tt.return
  }
}
