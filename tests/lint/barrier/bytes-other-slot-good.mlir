// The bytes are announced on the slot on which they come.
// Nothing is wrong.
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#bars = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!barrier = !ttg.memdesc<1xi64, #bars, #smem, mutable>
!barriers = !ttg.memdesc<2x1xi64, #bars, #smem, mutable>
!tile = !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
!desc = !tt.tensordesc<tensor<128x64xf16, #shared>>
!values = tensor<128x64xf16, #blocked>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%a_desc: !desc) attributes {noinline = false} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %tile = ttg.local_alloc : () -> !tile
    %array = ttg.local_alloc : () -> !barriers
    %first = ttg.memdesc_index %array[%c0] : !barriers -> !barrier
    %second = ttg.memdesc_index %array[%c1] : !barriers -> !barrier
    ttng.init_barrier %first, 1 : !barrier
    ttng.init_barrier %second, 1 : !barrier
    ttng.barrier_expect %first, 16384, %true : !barrier
    ttng.async_tma_copy_global_to_local %a_desc[%c0, %c0] %tile, %first, %true : !desc, !barrier -> !tile
    ttng.wait_barrier %first, %c0 : !barrier
    %values = ttg.local_load %tile : !tile -> !values
    tt.return
  }
}
