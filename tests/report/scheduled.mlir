// As the partition scheduler leaves it: every op of the loop says which partitions run it, the loop says what they are
// and how many stages each lies behind; there are no barriers yet. The token of the tmem_load is carried to the next
// tmem_store, so that the accumulator is not zeroed before it is read.
#blocked = #ttg.blocked<{sizePerThread = [1, 128], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#shared2 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
!token = !ttg.async.token
!tile = !ttg.memdesc<128x64xf16, #shared, #smem>
!turned = !ttg.memdesc<64x128xf16, #shared2, #smem>
!sum = !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>
!values = tensor<128x64xf16, #blocked1>
!desc = !tt.tensordesc<tensor<128x64xf16, #shared>>
!c_desc = !tt.tensordesc<tensor<128x128xf16, #shared>>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @scheduled(%a_desc: !desc, %b_desc: !desc, %c_desc: !c_desc, %tiles: i32, %steps: i32) attributes {noinline = false} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %c128 = arith.constant 128 : i32
    %true = arith.constant true
    %zeros = arith.constant dense<0.000000e+00> : tensor<128x128xf32, #blocked>
    %acc, %acc_token = ttng.tmem_alloc : () -> (!sum, !token) loc("acc"("scheduled.py":11:5))
    %end = scf.for %tile = %c0 to %tiles step %c1 iter_args(%read_before = %acc_token) -> (!token) : i32 {
      %row = arith.muli %tile, %c128 {ttg.partition = array<i32: 0, 2>} : i32
      %acc_zero = ttng.tmem_store %zeros, %acc[%read_before], %true {ttg.partition = array<i32: 0>} : tensor<128x128xf32, #blocked> -> !sum loc("scheduled.py":12:7)
      %made = scf.for %i = %c0 to %steps step %c1 iter_args(%made_before = %acc_zero) -> (!token) : i32 {
        %k = arith.muli %i, %c64 {ttg.partition = array<i32: 2>} : i32
        %a_value = tt.descriptor_load %a_desc[%row, %k] {ttg.partition = array<i32: 2>} : !desc -> !values loc("a"("scheduled.py":13:9))
        %b_value = tt.descriptor_load %b_desc[%c0, %k] {ttg.partition = array<i32: 2>} : !desc -> !values loc("b"("scheduled.py":14:9))
        %a = ttg.local_alloc %a_value {ttg.partition = array<i32: 2>} : (!values) -> !tile loc("a"("scheduled.py":15:9))
        %b = ttg.local_alloc %b_value {ttg.partition = array<i32: 2>} : (!values) -> !tile loc("b"("scheduled.py":16:9))
        %b_turned = ttg.memdesc_trans %b {order = array<i32: 1, 0>, ttg.partition = array<i32: 1>} : !tile -> !turned
        %made_now = ttng.tc_gen5_mma %a, %b_turned, %acc[%made_before], %true, %true {ttg.partition = array<i32: 1>} : !tile, !turned, !sum loc("scheduled.py":17:9)
        scf.yield {ttg.partition = array<i32: 1>} %made_now : !token
      } {ttg.partition = array<i32: 1, 2>, ttg.partition.outputs = [array<i32: 1>]}
      %value, %read = ttng.tmem_load %acc[%made] {ttg.partition = array<i32: 0>} : !sum -> tensor<128x128xf32, #blocked> loc("scheduled.py":18:7)
      %value_16 = arith.truncf %value {ttg.partition = array<i32: 0>} : tensor<128x128xf32, #blocked> to tensor<128x128xf16, #blocked>
      tt.descriptor_store %c_desc[%row, %c0], %value_16 {ttg.partition = array<i32: 0>} : !c_desc, tensor<128x128xf16, #blocked> loc("scheduled.py":19:7)
      scf.yield {ttg.partition = array<i32: 0, 1, 2>} %read : !token
    } {tt.warp_specialize, ttg.partition = array<i32: 0, 1, 2>, ttg.partition.outputs = [array<i32: 0>], ttg.partition.stages = [0 : i32, 1 : i32, 0 : i32], ttg.partition.types = ["epilogue", "gemm", "load"], ttg.warp_specialize.tag = 0 : i32}
    tt.return
  }
}
