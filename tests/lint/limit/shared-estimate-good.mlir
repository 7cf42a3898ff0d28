// Two rings of 112 KiB that live at the same time.
// Nothing is wrong.
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
!as = !ttg.memdesc<7x128x64xf16, #shared, #smem, mutable>
!bs = !ttg.memdesc<7x128x64xf16, #shared, #smem, mutable>
!tile = !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
!values = tensor<128x64xf16, #blocked>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() attributes {noinline = false} {
    %values = arith.constant dense<1.000000e+00> : !values
    %c0 = arith.constant 0 : i32
    %a = ttg.local_alloc : () -> !as
    %b = ttg.local_alloc : () -> !bs
    %a0 = ttg.memdesc_index %a[%c0] : !as -> !tile
    %b0 = ttg.memdesc_index %b[%c0] : !bs -> !tile
    ttg.local_store %values, %a0 : !values -> !tile
    ttg.local_store %values, %b0 : !values -> !tile
    %x = ttg.local_load %a0 : !tile -> !values
    %y = ttg.local_load %b0 : !tile -> !values
    tt.return
  }
}
