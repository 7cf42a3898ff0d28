// Counts, sizes and slots that no hardware has.
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!barrier = !ttg.memdesc<1xi64, #shared, #smem, mutable>
!barriers = !ttg.memdesc<9223372036854775807x2x1xi64, #shared, #smem, mutable>
!tile = !ttg.memdesc<64xf16, #shared, #smem, mutable>
!desc = !tt.tensordesc<tensor<64xf16, #shared>>
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func @init(%n: i32 {tt.divisibility = 9223372036854775807 : i64}) {
    %0 = ttg.local_alloc : () -> !barrier
    ttng.init_barrier %0, -1 : !barrier
    scf.for %i = %n to %n step %n : i32 {
    }
    tt.return
  }
  tt.func @arrive() {
    %0 = ttg.local_alloc : () -> !barrier
    ttng.init_barrier %0, 1 : !barrier
    ttng.arrive_barrier %0, 2147483647 {perThread} : !barrier
    tt.return
  }
  tt.func @expect(%desc: !desc) {
    %c0 = arith.constant 0 : i32
    %true = arith.constant true
    %0 = ttg.local_alloc : () -> !barrier
    %1 = ttg.local_alloc : () -> !tile
    ttng.init_barrier %0, 2 : !barrier
    ttng.async_tma_copy_global_to_local %desc[%c0] %1, %0, %true : !desc, !barrier -> !tile
    "ttng.barrier_expect"(%0, %true) <{size = -9223372036854775808 : i64}> : (!barrier, i1) -> ()
    tt.return
  }
  tt.func @slot() {
    %most = arith.constant 2147483647 : i32
    %0 = ttg.local_alloc : () -> !barriers
    %1 = ttg.memdesc_index %0[%most] : !barriers -> !ttg.memdesc<2x1xi64, #shared, #smem, mutable>
    %2 = ttg.memdesc_index %1[%most] : !ttg.memdesc<2x1xi64, #shared, #smem, mutable> -> !barrier
    ttng.init_barrier %2, 1 : !barrier
    ttng.arrive_barrier %2, 1 : !barrier
    tt.return
  }
}
