// What the wait returns is used.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!tile = !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
!factor = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!sum = tensor<128x64xf32, #mma>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%out: tensor<128x64x!tt.ptr<f32>, #mma>) {
    %zeros = arith.constant dense<0.000000e+00> : !sum
    %a = ttg.local_alloc : () -> !tile
    %b = ttg.local_alloc : () -> !factor
    %first = ttng.warp_group_dot %a, %b, %zeros {inputPrecision = 0 : i32, isAsync = true} : !tile * !factor -> !sum
    %waited = ttng.warp_group_dot_wait %first {pendings = 0 : i32} : !sum
    %result = arith.addf %waited, %zeros : !sum
    tt.store %out, %result : tensor<128x64x!tt.ptr<f32>, #mma>
    tt.return
  }
}
