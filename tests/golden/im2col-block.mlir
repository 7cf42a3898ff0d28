#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#bars = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%desc: !ttng.tensordesc_im2col<16x32xf32, #tile>) attributes {noinline = false} {
    %c0 = arith.constant 0 : i32
    %o0 = arith.constant 0 : i16
    %true = arith.constant true
    %tile = ttg.local_alloc : () -> !ttg.memdesc<16x32xf32, #tile, #smem, mutable>
    %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bars, #smem, mutable>
    ttng.init_barrier %bar, 1 : !ttg.memdesc<1xi64, #bars, #smem, mutable>
    ttng.barrier_expect %bar, 2048, %true : !ttg.memdesc<1xi64, #bars, #smem, mutable>
    ttng.async_tma_copy_global_to_local %desc[%c0, %c0, %c0, %c0] offsets = [%o0, %o0] %tile, %bar, %true : !ttng.tensordesc_im2col<16x32xf32, #tile>, !ttg.memdesc<1xi64, #bars, #smem, mutable> -> !ttg.memdesc<16x32xf32, #tile, #smem, mutable>
    ttng.wait_barrier %bar, %c0 : !ttg.memdesc<1xi64, #bars, #smem, mutable>
    tt.return
  }
}
