// Their buffers are beside each other.
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bars = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tmem16 = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#reg = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
!a = !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
!b = !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
!acc = !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>
!acc2 = !ttg.memdesc<2x128x128xf32, #tmem, #ttng.tensor_memory, mutable>
!p = !ttg.memdesc<128x64xf16, #tmem16, #ttng.tensor_memory, mutable>
!bar = !ttg.memdesc<1xi64, #bars, #smem, mutable>
!value = tensor<128x128xf32, #reg>
module attributes {ttg.tensor_memory_size = 256 : i32, "ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() {
    ttg.warp_specialize()
    default {
      %one = ttng.tmem_alloc {tensor_memory_col_offset = 0 : i32, tensor_memory_row_offset = 0 : i32} : () -> !acc
      %value = ttng.tmem_load %one : !acc -> !value
      ttg.warp_yield
    }
    partition0() num_warps(4) {
      %true = arith.constant true
      %zeros = arith.constant dense<0.000000e+00> : !value
      %two = ttng.tmem_alloc {tensor_memory_col_offset = 128 : i32, tensor_memory_row_offset = 0 : i32} : () -> !acc
      ttng.tmem_store %zeros, %two, %true : !value -> !acc
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}
