// A product in two stages over three slots: while the slot of an iteration is read, copies fill the one two ahead. Two
// copies may be in flight after the wait, so that what the next iteration reads has come.
#rows = #ttg.padded_shared<[32:+8] {order = [1, 0], shape = [32, 32]}>
#smem = #ttg.shared_memory
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#left = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#right = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
!ring = !ttg.memdesc<3x32x32xf16, #rows, #smem, mutable>
!slot = !ttg.memdesc<32x32xf16, #rows, #smem, mutable>
!desc = !tt.tensordesc<tensor<32x32xf16, #rows>>
!a = tensor<32x32xf16, #left>
!b = tensor<32x32xf16, #right>
!c = tensor<32x32xf32, #blocked>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @product(%a_desc: !desc, %b_desc: !desc, %tiles: i32, %zero: !c) -> !c {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %a_buffer = ttg.local_alloc : () -> !ring loc("gemm.py":8:4)
    %b_buffer = ttg.local_alloc : () -> !ring loc("gemm.py":9:4)
    %a_0 = ttg.memdesc_index %a_buffer[%c0] : !ring -> !slot
    %b_0 = ttg.memdesc_index %b_buffer[%c0] : !ring -> !slot
    %a_1 = ttg.memdesc_index %a_buffer[%c1] : !ring -> !slot
    %b_1 = ttg.memdesc_index %b_buffer[%c1] : !ring -> !slot
    %t0 = amdg.async_tdm_copy_global_to_local %a_desc into %a_0 : !desc -> !slot loc("gemm.py":11:4)
    %t1 = amdg.async_tdm_copy_global_to_local %b_desc into %b_0 : !desc -> !slot loc("gemm.py":12:4)
    %t2 = amdg.async_tdm_copy_global_to_local %a_desc into %a_1 : !desc -> !slot loc("gemm.py":13:4)
    %t3 = amdg.async_tdm_copy_global_to_local %b_desc into %b_1 : !desc -> !slot loc("gemm.py":14:4)
    %first = amdg.async_tdm_wait {num = 2 : i32} loc("gemm.py":15:4)
    ttg.barrier local loc("gemm.py":15:4)
    %sum, %last = scf.for %cons = %c0 to %tiles step %c1 iter_args(%so_far = %zero, %prod = %c2) -> (!c, i32) : i32 {
      %fill = arith.remsi %prod, %c3 : i32
      %read = arith.remsi %cons, %c3 : i32
      %x, %y = scf.execute_region -> (!a, !b) {
        %a_fill = ttg.memdesc_index %a_buffer[%fill] : !ring -> !slot
        %b_fill = ttg.memdesc_index %b_buffer[%fill] : !ring -> !slot
        %t4 = amdg.async_tdm_copy_global_to_local %a_desc into %a_fill : !desc -> !slot loc("gemm.py":18:8)
        %t5 = amdg.async_tdm_copy_global_to_local %b_desc into %b_fill : !desc -> !slot loc("gemm.py":19:8)
        %a_read = ttg.memdesc_index %a_buffer[%read] : !ring -> !slot
        %b_read = ttg.memdesc_index %b_buffer[%read] : !ring -> !slot
        %a = ttg.local_load %a_read : !slot -> !a loc("gemm.py":20:8)
        %b = ttg.local_load %b_read : !slot -> !b loc("gemm.py":21:8)
        scf.yield %a, %b : !a, !b
      }
      %done = amdg.async_tdm_wait {num = 2 : i32} loc("gemm.py":22:8)
      %next = scf.execute_region -> !c {
        %product = tt.dot %x, %y, %so_far : !a * !b -> !c loc("gemm.py":24:8)
        scf.yield %product : !c
      }
      %ahead = arith.addi %prod, %c1 : i32
      scf.yield %next, %ahead : !c, i32
    } loc("gemm.py":16:4)
    tt.return %sum : !c
  }
}
