// A barrier of the cluster keeps both.
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
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %a = ttg.local_alloc : () -> !a
    %b = ttg.local_alloc : () -> !b
    %bar = ttg.local_alloc : () -> !bar
    ttng.init_barrier %bar, 1 : !bar
    %acc = ttng.tmem_alloc : () -> !acc
    ttng.tc_gen5_mma %a, %b, %acc, %true, %true, %bar[%true] {is_async, two_ctas} : !a, !b, !acc, !bar
    ttng.wait_barrier %bar, %c0 : !bar
    ttng.cluster_barrier
    ttng.inval_barrier %bar : !bar
    tt.return
  }
}
