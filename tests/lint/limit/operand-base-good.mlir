// The operand is at byte 1024, where the swizzle starts.
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!bar = !ttg.memdesc<1xi64, #bar, #smem, mutable>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
!tile = !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
!desc = !tt.tensordesc<64x64xf16, #rows>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%desc: !desc) {
    %c0 = arith.constant 0 : i32
    %true = arith.constant true
    %bar = ttg.local_alloc {allocation.offset = 65536 : i32} : () -> !bar
    ttng.init_barrier %bar, 1 : !bar
    %tile = ttg.local_alloc {allocation.offset = 1024 : i32} : () -> !tile
    ttng.barrier_expect %bar, 8192, %true : !bar
    ttng.async_tma_copy_global_to_local %desc[%c0, %c0] %tile, %bar, %true : !desc, !bar -> !tile
    ttng.wait_barrier %bar, %c0 : !bar
    %zeros = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %product = ttng.warp_group_dot %tile, %tile, %zeros {inputPrecision = 0 : i32} : !tile * !tile -> tensor<64x64xf32, #mma>
    tt.return
  }
}
