// A function that nothing launches calls itself; functions that the kernel calls do so in a circle, until nothing is left;
// and a kernel is called by a function that it calls.
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!barrier = !ttg.memdesc<1xi64, #shared, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func private @unused(%n: i32, %bar: !barrier) {
    %c0 = arith.constant 0 : i32
    %less = arith.cmpi slt, %n, %c0 : i32
    scf.if %less {
      ttng.arrive_barrier %bar, 1 : !barrier
      tt.call @unused(%c0, %bar) : (i32, !barrier) -> ()
    }
    tt.return
  }
  tt.func private @down(%n: i32, %bar: !barrier) attributes {noinline = true} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %more = arith.cmpi sgt, %n, %c0 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      ttng.arrive_barrier %bar, 1, %more : !barrier
    }
    scf.if %more {
      %less = arith.subi %n, %c1 : i32
      tt.call @up(%less, %bar) : (i32, !barrier) -> ()
    }
    tt.return
  }
  tt.func private @up(%n: i32, %bar: !barrier) attributes {noinline = true} {
    tt.call @down(%n, %bar) : (i32, !barrier) -> ()
    tt.return
  }
  tt.func public @counts_down(%n: i32) {
    %bar = ttg.local_alloc : () -> !barrier
    ttng.init_barrier %bar, 1 : !barrier
    tt.call @up(%n, %bar) : (i32, !barrier) -> ()
    tt.return
  }
  tt.func private @again(%n: i32) {
    tt.call @circle(%n) : (i32) -> ()
    tt.return
  }
  tt.func public @circle(%n: i32) {
    tt.call @again(%n) : (i32) -> ()
    tt.return
  }
}
