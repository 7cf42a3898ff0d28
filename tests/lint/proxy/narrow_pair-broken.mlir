// The tensor cores of two CTAs together read what threads wrote; the fence is for the own CTA only.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 1]]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[1, 0]]}>
#shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[0, 1]]}>
#shared2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#smem = #ttg.shared_memory
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1, CGALayout = [[1, 0]], twoCTAs = true>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.shared = 32784 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() {
    %c0 = arith.constant 0 : i32
    %true = arith.constant true
    %false = arith.constant false
    %left = arith.constant dense<1.000000e+00> : tensor<256x64xf16, #blocked>
    %right = arith.constant dense<1.000000e+00> : tensor<64x128xf16, #blocked1>
    %a = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<256x64xf16, #shared, #smem, mutable>
    %b = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> !ttg.memdesc<64x128xf16, #shared1, #smem, mutable>
    %done = ttg.local_alloc {allocation.offset = 32768 : i32} : () -> !ttg.memdesc<2xi64, #shared2, #smem, mutable>
    %sum = ttng.tmem_alloc {tensor_memory_col_offset = 0 : i32, tensor_memory_row_offset = 0 : i32} : () -> !ttg.memdesc<256x128xf32, #tmem, #ttng.tensor_memory, mutable>
    ttng.init_barrier %done, 1 : !ttg.memdesc<2xi64, #shared2, #smem, mutable>
    ttng.fence_mbarrier_init_release_cluster
    ttng.cluster_barrier {relaxed = true}
    ttg.local_store %left, %a : tensor<256x64xf16, #blocked> -> !ttg.memdesc<256x64xf16, #shared, #smem, mutable>
    ttg.local_store %right, %b : tensor<64x128xf16, #blocked1> -> !ttg.memdesc<64x128xf16, #shared1, #smem, mutable>
    ttng.fence_async_shared {bCluster = false}
    ttng.cluster_barrier
    ttng.tc_gen5_mma %a, %b, %sum, %false, %true, %done[%true] {is_async, two_ctas} : !ttg.memdesc<256x64xf16, #shared, #smem, mutable>, !ttg.memdesc<64x128xf16, #shared1, #smem, mutable>, !ttg.memdesc<256x128xf32, #tmem, #ttng.tensor_memory, mutable>, !ttg.memdesc<2xi64, #shared2, #smem, mutable>
    ttng.wait_barrier %done, %c0, %true : !ttg.memdesc<2xi64, #shared2, #smem, mutable>
    ttng.cluster_barrier
    tt.return
  }
}
