// A matmul whose rows are cut in two: a0 and a1 meet the same b. All three have one buffer.id and the same type, so they
// take turns in one ring of three slots: b at the count, a0 one after it, a1 two after it.
#rows = #ttg.blocked<{sizePerThread = [1, 128], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#load = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
!tile = !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
!turned = !ttg.memdesc<64x128xf16, #shared1, #smem, mutable>
!acc = !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @staggered(%a_desc: !tt.tensordesc<128x64xf16, #shared>, %b_desc: !tt.tensordesc<128x64xf16, #shared>, %n: i32) {
    %b = ttg.local_alloc {buffer.copy = 3 : i32, buffer.id = 2 : i32} : () -> !tile
    %a1 = ttg.local_alloc {buffer.copy = 3 : i32, buffer.id = 2 : i32} : () -> !tile
    %a0 = ttg.local_alloc {buffer.copy = 3 : i32, buffer.id = 2 : i32} : () -> !tile
    %acc0 = ttng.tmem_alloc {buffer.copy = 1 : i32, buffer.id = 3 : i32} : () -> !acc
    %acc1 = ttng.tmem_alloc {buffer.copy = 1 : i32, buffer.id = 4 : i32} : () -> !acc
    %c0 = arith.constant {async_task_id = array<i32: 0, 1>} 0 : i32
    %c1 = arith.constant {async_task_id = array<i32: 0, 1>} 1 : i32
    %true = arith.constant {async_task_id = array<i32: 1>} true
    scf.for %k = %c0 to %n step %c1 : i32 {
      %0 = tt.descriptor_load %a_desc[%c0, %k] {async_task_id = array<i32: 0>} : !tt.tensordesc<128x64xf16, #shared> -> tensor<128x64xf16, #load>
      %1 = tt.descriptor_load %a_desc[%c1, %k] {async_task_id = array<i32: 0>} : !tt.tensordesc<128x64xf16, #shared> -> tensor<128x64xf16, #load>
      ttg.local_store %0, %a0 {async_task_id = array<i32: 0>} : tensor<128x64xf16, #load> -> !tile
      ttg.local_store %1, %a1 {async_task_id = array<i32: 0>} : tensor<128x64xf16, #load> -> !tile
      %2 = tt.descriptor_load %b_desc[%c0, %k] {async_task_id = array<i32: 0>} : !tt.tensordesc<128x64xf16, #shared> -> tensor<128x64xf16, #load>
      ttg.local_store %2, %b {async_task_id = array<i32: 0>} : tensor<128x64xf16, #load> -> !tile
      %turned = ttg.memdesc_trans %b {async_task_id = array<i32: 1>, order = array<i32: 1, 0>} : !tile -> !turned
      ttng.tc_gen5_mma %a0, %turned, %acc0, %true, %true {async_task_id = array<i32: 1>} : !tile, !turned, !acc
      ttng.tc_gen5_mma %a1, %turned, %acc1, %true, %true {async_task_id = array<i32: 1>} : !tile, !turned, !acc
    } {async_task_id = array<i32: 0, 1>, tt.warp_specialize}
    tt.return
  }
}
