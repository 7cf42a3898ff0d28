// A matmul of three tasks, planned: task 0 loads, task 1 multiplies, task 2 stores the result. a and b have one
// buffer.id and are taken by one MMA, so one barrier passes both: 128 * 64 * 2 + 64 * 128 * 2 bytes.
#rows = #ttg.blocked<{sizePerThread = [1, 128], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#load = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
!a = !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
!b = !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
!acc = !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @merged(%a_desc: !tt.tensordesc<128x64xf16, #shared>, %b_desc: !tt.tensordesc<64x128xf16, #shared>, %out: tensor<128x128x!tt.ptr<f32>, #rows>, %n: i32) {
    %a = ttg.local_alloc {buffer.copy = 3 : i32, buffer.id = 0 : i32} : () -> !a
    %b = ttg.local_alloc {buffer.copy = 3 : i32, buffer.id = 0 : i32} : () -> !b
    %acc, %made = ttng.tmem_alloc {buffer.copy = 1 : i32, buffer.id = 1 : i32} : () -> (!acc, !ttg.async.token)
    %c0 = arith.constant {async_task_id = array<i32: 0, 1, 2>} 0 : i32
    %c1 = arith.constant {async_task_id = array<i32: 0, 1, 2>} 1 : i32
    %true = arith.constant {async_task_id = array<i32: 1>} true
    %false = arith.constant {async_task_id = array<i32: 1>} false
    scf.for %tile = %c0 to %n step %c1 : i32 {
      %last:2 = scf.for %k = %c0 to %n step %c1 iter_args(%use = %false, %token = %made) -> (i1, !ttg.async.token) : i32 {
        %x = tt.descriptor_load %a_desc[%tile, %k] {async_task_id = array<i32: 0>} : !tt.tensordesc<128x64xf16, #shared> -> tensor<128x64xf16, #load>
        ttg.local_store %x, %a {async_task_id = array<i32: 0>} : tensor<128x64xf16, #load> -> !a
        %y = tt.descriptor_load %b_desc[%k, %tile] {async_task_id = array<i32: 0>} : !tt.tensordesc<64x128xf16, #shared> -> tensor<64x128xf16, #load>
        ttg.local_store %y, %b {async_task_id = array<i32: 0>} : tensor<64x128xf16, #load> -> !b
        %done = ttng.tc_gen5_mma %a, %b, %acc[%token], %use, %true {async_task_id = array<i32: 1>} : !a, !b, !acc
        scf.yield {async_task_id = array<i32: 1>} %true, %done : i1, !ttg.async.token
      } {async_task_id = array<i32: 0, 1, 2>}
      %result, %read = ttng.tmem_load %acc[%last#1] {async_task_id = array<i32: 2>} : !acc -> tensor<128x128xf32, #rows>
      tt.store %out, %result {async_task_id = array<i32: 2>} : tensor<128x128x!tt.ptr<f32>, #rows>
    } {async_task_id = array<i32: 0, 1, 2>, tt.warp_specialize}
    tt.return
  }
}
