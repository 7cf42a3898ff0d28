// Tensor memory that is packed: qk owns 128 columns of buffer.id 8; p lies in columns 0 to 63 of it, alpha in column 64,
// m in 65, l in 66. The MMA of task 1 writes qk from zero in the inner loop, over all of them; m and l are read by
// task 0 once for each iteration of the outer loop.
#rows = #ttg.blocked<{sizePerThread = [1, 128], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#column = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#load = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tmem1 = #ttng.tensor_memory_encoding<blockM = 128, blockN = 1, colStride = 1>
!tile = !ttg.memdesc<128x128xf16, #shared, #smem, mutable>
!qk = !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>
!p = !ttg.memdesc<128x128xf16, #tmem, #ttng.tensor_memory, mutable>
!scalar = !ttg.memdesc<128x1xf32, #tmem1, #ttng.tensor_memory, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @packed(%k_desc: !tt.tensordesc<128x128xf16, #shared>, %x: tensor<128x1xf32, #column>, %y: tensor<128x128xf16, #rows>, %out: tensor<128x1x!tt.ptr<f32>, #column>, %n: i32) {
    %q = ttg.local_alloc {buffer.copy = 1 : i32, buffer.id = 0 : i32} : () -> !tile
    %k = ttg.local_alloc {buffer.copy = 2 : i32, buffer.id = 1 : i32} : () -> !tile
    %alpha = ttng.tmem_alloc {buffer.copy = 1 : i32, buffer.id = 8 : i32, buffer.offset = 64 : i32} : () -> !scalar
    %qk, %made = ttng.tmem_alloc {buffer.copy = 1 : i32, buffer.id = 8 : i32} : () -> (!qk, !ttg.async.token)
    %p = ttng.tmem_alloc {buffer.copy = 1 : i32, buffer.id = 8 : i32, buffer.offset = 0 : i32} : () -> !p
    %m = ttng.tmem_alloc {buffer.copy = 1 : i32, buffer.id = 8 : i32, buffer.offset = 65 : i32} : () -> !scalar
    %l = ttng.tmem_alloc {buffer.copy = 1 : i32, buffer.id = 8 : i32, buffer.offset = 66 : i32} : () -> !scalar
    %acc, %begun = ttng.tmem_alloc {buffer.copy = 1 : i32, buffer.id = 9 : i32} : () -> (!qk, !ttg.async.token)
    %c0 = arith.constant {async_task_id = array<i32: 0, 1, 2, 3>} 0 : i32
    %c1 = arith.constant {async_task_id = array<i32: 0, 1, 2, 3>} 1 : i32
    %true = arith.constant {async_task_id = array<i32: 1, 3>} true
    %false = arith.constant {async_task_id = array<i32: 1>} false
    scf.for %tile = %c0 to %n step %c1 : i32 {
      %0 = tt.descriptor_load %k_desc[%tile, %c0] {async_task_id = array<i32: 2>} : !tt.tensordesc<128x128xf16, #shared> -> tensor<128x128xf16, #load>
      ttg.local_store %0, %q {async_task_id = array<i32: 2>} : tensor<128x128xf16, #load> -> !tile
      %tokens:2 = scf.for %i = %c0 to %n step %c1 iter_args(%free = %made, %sum = %begun) -> (!ttg.async.token, !ttg.async.token) : i32 {
        %1 = tt.descriptor_load %k_desc[%i, %c0] {async_task_id = array<i32: 2>} : !tt.tensordesc<128x128xf16, #shared> -> tensor<128x128xf16, #load>
        ttg.local_store %1, %k {async_task_id = array<i32: 2>} : tensor<128x128xf16, #load> -> !tile
        %2 = ttng.tc_gen5_mma %q, %k, %qk[%free], %false, %true {async_task_id = array<i32: 1>} : !tile, !tile, !qk
        %scores, %3 = ttng.tmem_load %qk[%2] {async_task_id = array<i32: 3>} : !qk -> tensor<128x128xf32, #rows>
        ttng.tmem_store %x, %alpha, %true {async_task_id = array<i32: 3>} : tensor<128x1xf32, #column> -> !scalar
        ttng.tmem_store %y, %p, %true {async_task_id = array<i32: 3>} : tensor<128x128xf16, #rows> -> !p
        %scale, %4 = ttng.tmem_load %alpha[] {async_task_id = array<i32: 0>} : !scalar -> tensor<128x1xf32, #column>
        tt.store %out, %scale {async_task_id = array<i32: 0>} : tensor<128x1x!tt.ptr<f32>, #column>
        %5 = ttng.tc_gen5_mma %p, %k, %acc[%sum], %true, %true {async_task_id = array<i32: 1>} : !p, !tile, !qk
        scf.yield {async_task_id = array<i32: 1, 3>} %3, %5 : !ttg.async.token, !ttg.async.token
      } {async_task_id = array<i32: 0, 1, 2, 3>}
      ttng.tmem_store %x, %m, %true {async_task_id = array<i32: 3>} : tensor<128x1xf32, #column> -> !scalar
      ttng.tmem_store %x, %l, %true {async_task_id = array<i32: 3>} : tensor<128x1xf32, #column> -> !scalar
      %most, %6 = ttng.tmem_load %m[] {async_task_id = array<i32: 0>} : !scalar -> tensor<128x1xf32, #column>
      tt.store %out, %most {async_task_id = array<i32: 0>} : tensor<128x1x!tt.ptr<f32>, #column>
      %total, %7 = ttng.tmem_load %l[] {async_task_id = array<i32: 0>} : !scalar -> tensor<128x1xf32, #column>
      tt.store %out, %total {async_task_id = array<i32: 0>} : tensor<128x1x!tt.ptr<f32>, #column>
    } {async_task_id = array<i32: 0, 1, 2, 3>, tt.warp_specialize}
    tt.return
  }
}
