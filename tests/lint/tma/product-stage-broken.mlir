// A ring of operands whose stages have 60 rows: the swizzle repeats every 8.
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
!tile = !ttg.memdesc<60x64xf16, #rows, #smem, mutable>
!ring = !ttg.memdesc<2x60x64xf16, #rows, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() {
    %c1 = arith.constant 1 : i32
    %program = tt.get_program_id x : i32
    %slot = arith.andi %program, %c1 : i32
    %ones = arith.constant dense<1.000000e+00> : tensor<64x64xf16, #blocked>
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %a = ttg.local_alloc {allocation.offset = 1024 : i32} : () -> !tile
    %ring = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> !ring
    %b = ttg.memdesc_index %ring[%slot] : !ring -> !tile
    ttg.local_store %ones, %a : tensor<64x64xf16, #blocked> -> !tile
    ttg.local_store %ones, %b : tensor<64x64xf16, #blocked> -> !tile
    ttng.fence_async_shared {bCluster = false}
    ttg.barrier local
    %sum = ttng.warp_group_dot %a, %b, %zero : !tile * !tile -> tensor<64x64xf32, #mma>
    tt.return
  }
}
