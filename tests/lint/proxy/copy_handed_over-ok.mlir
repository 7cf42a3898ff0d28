// The threads copy with cp.async, wait for it, fence and arrive.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%target: !tt.tensordesc<tensor<64x64xf16, #shared>>, %source: !tt.ptr<f16>) {
    %c0 = arith.constant 0 : i32
    %true = arith.constant true
    %ones = arith.constant dense<1.000000e+00> : tensor<64x64xf16, #blocked>
    %tile = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %ready = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.init_barrier %ready, 1 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    %from = tt.splat %source : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #blocked>
    ttg.warp_specialize(%target, %tile, %ready)
    default {
      %copy = ttg.async_copy_global_to_local %from, %tile : tensor<64x64x!tt.ptr<f16>, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %group = ttg.async_commit_group tokens %copy
      %done = ttg.async_wait %group {num = 0 : i32}
      ttng.fence_async_shared {bCluster = false}
      ttng.arrive_barrier %ready, 1, %true : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
      ttg.warp_yield
    }
    partition0(%desc: !tt.tensordesc<tensor<64x64xf16, #shared>>, %buffer: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %full: !ttg.memdesc<1xi64, #shared1, #smem, mutable>) num_warps(4) {
      %zero = arith.constant 0 : i32
      %yes = arith.constant true
      ttng.wait_barrier %full, %zero, %yes : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
      ttng.async_tma_copy_local_to_global %desc[%zero, %zero] %buffer : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      ttng.async_tma_store_wait {pendings = 0 : i32}
      ttg.warp_return
    } : (!tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, !ttg.memdesc<1xi64, #shared1, #smem, mutable>) -> ()
    tt.return
  }
}
