// After.
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#plain = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!bar = !ttg.memdesc<1xi64, #bar, #smem, mutable>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
!tile = !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
!desc = !tt.tensordesc<64x64xf16, #rows>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%desc: !desc) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %value = arith.constant dense<1.0> : tensor<64x64xf16, #blocked>
    %tile = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !tile
    ttg.local_store %value, %tile : tensor<64x64xf16, #blocked> -> !tile
    ttng.fence_async_shared {bCluster = false}
    ttg.barrier local
    ttng.async_tma_copy_local_to_global %desc[%c0, %c0] %tile : !desc, !tile
    ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
    ttg.barrier local
    ttg.local_store %value, %tile : tensor<64x64xf16, #blocked> -> !tile
    ttng.async_tma_store_wait {pendings = 0 : i32}
    tt.return
  }
}
