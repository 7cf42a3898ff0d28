// Planned, not yet split, and what a buffer.id takes of shared memory: a and b have one id and two types, so they have one
// barrier and live side by side; u and v have one id and one type, so that they share their slots. Task 0 loads, task 1
// multiplies a with b and u with b, then v with b. Nothing is wrong.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!a_tile = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!b_tile = !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
!sums = tensor<64x128xf32, #mma>
!a_desc = !tt.tensordesc<tensor<64x64xf16, #shared>>
!b_desc = !tt.tensordesc<tensor<64x128xf16, #shared>>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @merged_live(%a_desc: !a_desc, %b_desc: !b_desc, %K: i32) attributes {noinline = false} {
    %a = ttg.local_alloc {buffer.copy = 3 : i32, buffer.id = 0 : i32} : () -> !a_tile loc("a"("merged_live.py":11:5))
    %b = ttg.local_alloc {buffer.copy = 3 : i32, buffer.id = 0 : i32} : () -> !b_tile loc("b"("merged_live.py":12:5))
    %u = ttg.local_alloc {buffer.copy = 4 : i32, buffer.id = 1 : i32} : () -> !a_tile loc("u"("merged_live.py":13:5))
    %v = ttg.local_alloc {buffer.copy = 4 : i32, buffer.id = 1 : i32} : () -> !a_tile loc("v"("merged_live.py":14:5))
    %c0 = arith.constant {async_task_id = array<i32: 0, 1>} 0 : i32
    %c64 = arith.constant {async_task_id = array<i32: 0, 1>} 64 : i32
    %none = arith.constant {async_task_id = array<i32: 1>} dense<0.000000e+00> : !sums
    %end = scf.for %k = %c0 to %K step %c64 iter_args(%sum = %none) -> (!sums) : i32 {
      %a_value = tt.descriptor_load %a_desc[%c0, %k] {async_task_id = array<i32: 0>} : !a_desc -> tensor<64x64xf16, #blocked> loc("merged_live.py":15:7)
      ttg.local_store %a_value, %a {async_task_id = array<i32: 0>} : tensor<64x64xf16, #blocked> -> !a_tile loc("merged_live.py":16:7)
      %b_value = tt.descriptor_load %b_desc[%k, %c0] {async_task_id = array<i32: 0>} : !b_desc -> tensor<64x128xf16, #blocked> loc("merged_live.py":17:7)
      ttg.local_store %b_value, %b {async_task_id = array<i32: 0>} : tensor<64x128xf16, #blocked> -> !b_tile loc("merged_live.py":18:7)
      %u_value = tt.descriptor_load %a_desc[%k, %c0] {async_task_id = array<i32: 0>} : !a_desc -> tensor<64x64xf16, #blocked> loc("merged_live.py":19:7)
      ttg.local_store %u_value, %u {async_task_id = array<i32: 0>} : tensor<64x64xf16, #blocked> -> !a_tile loc("merged_live.py":20:7)
      %v_value = tt.descriptor_load %a_desc[%k, %k] {async_task_id = array<i32: 0>} : !a_desc -> tensor<64x64xf16, #blocked> loc("merged_live.py":21:7)
      ttg.local_store %v_value, %v {async_task_id = array<i32: 0>} : tensor<64x64xf16, #blocked> -> !a_tile loc("merged_live.py":22:7)
      %dot_a = ttng.warp_group_dot %a, %b, %sum {async_task_id = array<i32: 1>, inputPrecision = 0 : i32} : !a_tile * !b_tile -> !sums loc("merged_live.py":23:7)
      %dot_u = ttng.warp_group_dot %u, %b, %dot_a {async_task_id = array<i32: 1>, inputPrecision = 0 : i32} : !a_tile * !b_tile -> !sums loc("merged_live.py":24:7)
      %dot_v = ttng.warp_group_dot %v, %b, %dot_u {async_task_id = array<i32: 1>, inputPrecision = 0 : i32} : !a_tile * !b_tile -> !sums loc("merged_live.py":25:7)
      scf.yield {async_task_id = array<i32: 1>} %dot_v : !sums
    } {async_task_id = array<i32: 0, 1>, tt.warp_specialize}
    tt.return {async_task_id = array<i32: 0, 1>}
  }
}
