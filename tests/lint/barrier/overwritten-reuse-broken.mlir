// Data is written to the memory of a barrier that nobody waits for any more.
// Wrong: it was not invalidated.
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#bars = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!barrier = !ttg.memdesc<1xi64, #bars, #smem, mutable>
!tile = !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
!desc = !tt.tensordesc<tensor<128x64xf16, #shared>>
!values = tensor<128x64xf16, #blocked>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32, ttg.shared = 49152 : i32} {
  tt.func public @kernel(%a_desc: !desc) attributes {noinline = false} {
    %c0 = arith.constant 0 : i32
    %true = arith.constant true
    %ones = arith.constant dense<1.000000e+00> : !values
    %tile = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !tile
    %bar = ttg.local_alloc {allocation.offset = 32768 : i32} : () -> !barrier
    %other = ttg.local_alloc {allocation.offset = 32768 : i32} : () -> !tile
    ttng.init_barrier %bar, 1 : !barrier
    ttg.barrier local
    ttng.barrier_expect %bar, 16384, %true : !barrier
    ttng.async_tma_copy_global_to_local %a_desc[%c0, %c0] %tile, %bar, %true : !desc, !barrier -> !tile
    ttng.wait_barrier %bar, %c0 : !barrier
    ttg.barrier local
    ttg.local_store %ones, %other : !values -> !tile
    tt.return
  }
}
