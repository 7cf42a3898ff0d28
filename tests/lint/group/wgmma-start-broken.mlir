// The partition starts at warp 6.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!tile = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() {
    %a = ttg.local_alloc : () -> !tile
    %b = ttg.local_alloc : () -> !tile
    ttg.warp_specialize(%a, %b) attributes {warpGroupStartIds = array<i32: 6>}
    default {
      ttg.warp_yield
    }
    partition0(%x: !tile, %y: !tile) num_warps(4) {
      %zeros = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
      %product = ttng.warp_group_dot %x, %y, %zeros {inputPrecision = 0 : i32} : !tile * !tile -> tensor<64x64xf32, #mma>
      ttg.warp_return
    } : (!tile, !tile) -> ()
    tt.return
  }
}
