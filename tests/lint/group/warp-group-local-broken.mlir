// Each warp group waits for its own product, and the operand of both is overwritten.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!tile = !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
!factor = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!sum = tensor<128x64xf32, #mma>
module attributes {ttg.shared = 24576 : i32, "ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%out: tensor<128x64x!tt.ptr<f32>, #mma>) {
    %zeros = arith.constant dense<0.000000e+00> : !sum
    %ones = arith.constant dense<1.000000e+00> : tensor<64x64xf16, #rows>
    %a = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !tile
    %b = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> !factor
    %product = ttng.warp_group_dot %a, %b, %zeros {inputPrecision = 0 : i32, isAsync = true} : !tile * !factor -> !sum
    %result = ttng.warp_group_dot_wait %product {pendings = 0 : i32, warpGroupLocal} : !sum

    ttg.local_store %ones, %b : tensor<64x64xf16, #rows> -> !factor
    tt.store %out, %result : tensor<128x64x!tt.ptr<f32>, #mma>
    tt.return
  }
}
