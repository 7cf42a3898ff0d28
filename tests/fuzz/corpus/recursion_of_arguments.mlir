// Arguments that follow from themselves by recursion, and calls in a circle without a condition.
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!barrier = !ttg.memdesc<1xi64, #shared, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func private @one(%n: i32, %is: i1, %bar: !barrier) -> i32 {
    %c1 = arith.constant 1 : i32
    %more = tt.call @two(%n, %is, %bar) : (i32, i1, !barrier) -> i32
    scf.if %is {
      ttng.arrive_barrier %bar, 1, %is : !barrier
    }
    %other = tt.call @one(%more, %is, %bar) : (i32, i1, !barrier) -> i32
    tt.return %other : i32
  }
  tt.func private @two(%n: i32, %is: i1, %bar: !barrier) -> i32 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%at = %n) -> (i32) : i32 {
      %not = arith.cmpi ne, %at, %i : i32
      %next = tt.call @one(%at, %not, %bar) : (i32, i1, !barrier) -> i32
      scf.yield %next : i32
    }
    ttng.wait_barrier %bar, %last, %is : !barrier
    tt.return %last : i32
  }
  tt.func public @kernel(%n: i32) {
    %c0 = arith.constant 0 : i32
    %is = arith.cmpi sgt, %n, %c0 : i32
    %bar = ttg.local_alloc : () -> !barrier
    ttng.init_barrier %bar, 1 : !barrier
    %a = tt.call @two(%n, %is, %bar) : (i32, i1, !barrier) -> i32
    %b = tt.call @one(%a, %is, %bar) : (i32, i1, !barrier) -> i32
    tt.return
  }
}
