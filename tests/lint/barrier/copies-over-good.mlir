// 128 threads arrive by their copies on a barrier of 128.
// Nothing is wrong.
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#bars = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!barrier = !ttg.memdesc<1xi64, #bars, #smem, mutable>
!tile = !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
!values = tensor<128x64xf16, #blocked>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%a: tensor<128x64x!tt.ptr<f16>, #blocked>) attributes {noinline = false} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %tile = ttg.local_alloc : () -> !tile
    %bar = ttg.local_alloc : () -> !barrier
    ttng.init_barrier %bar, 128 : !barrier
    %0 = ttg.async_copy_global_to_local %a, %tile : tensor<128x64x!tt.ptr<f16>, #blocked> -> !tile
    ttng.async_copy_mbarrier_arrive %bar {noIncrement} : !barrier
    ttng.wait_barrier %bar, %c0 : !barrier
    %values = ttg.local_load %tile : !tile -> !values
    tt.return
  }
}
