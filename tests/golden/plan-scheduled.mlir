// Partitions on ops, memory and arefs not planned yet: partition 2 loads, partition 1 multiplies, partition 0 takes the
// result, of which %doubled goes on to partition 2 as a value.
#rows = #ttg.blocked<{sizePerThread = [1, 128], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#load = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
!a = !ttg.memdesc<128x64xf16, #shared, #smem>
!b = !ttg.memdesc<64x128xf16, #shared, #smem>
!acc = !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @scheduled(%a_desc: !tt.tensordesc<128x64xf16, #shared>, %b_desc: !tt.tensordesc<64x128xf16, #shared>, %out: tensor<128x128x!tt.ptr<f32>, #rows>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %false = arith.constant false
    %acc, %made = ttng.tmem_alloc : () -> (!acc, !ttg.async.token)
    scf.for %k = %c0 to %n step %c1 : i32 {
      %x = tt.descriptor_load %a_desc[%c0, %k] {ttg.partition = array<i32: 2>} : !tt.tensordesc<128x64xf16, #shared> -> tensor<128x64xf16, #load>
      %a = ttg.local_alloc %x {ttg.partition = array<i32: 2>} : (tensor<128x64xf16, #load>) -> !a
      %y = tt.descriptor_load %b_desc[%k, %c0] {ttg.partition = array<i32: 2>} : !tt.tensordesc<64x128xf16, #shared> -> tensor<64x128xf16, #load>
      %b = ttg.local_alloc %y {ttg.partition = array<i32: 2>} : (tensor<64x128xf16, #load>) -> !b
      %done = ttng.tc_gen5_mma %a, %b, %acc[%made], %false, %true {ttg.partition = array<i32: 1>} : !a, !b, !acc
      %result, %read = ttng.tmem_load %acc[%done] {ttg.partition = array<i32: 0>} : !acc -> tensor<128x128xf32, #rows>
      %doubled = arith.addf %result, %result {ttg.partition = array<i32: 0>} : tensor<128x128xf32, #rows>
      tt.store %out, %doubled {ttg.partition = array<i32: 2>} : tensor<128x128x!tt.ptr<f32>, #rows>
    } {tt.warp_specialize, ttg.partition = array<i32: 0, 1, 2>, ttg.partition.stages = [0 : i32, 1 : i32, 0 : i32]}
    tt.return
  }
}
