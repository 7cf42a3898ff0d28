// Waits that leave more products, copies or stores pending than can be counted, or fewer than none.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!tile = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!sum = tensor<64x64xf32, #mma>
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func @kernel() {
    %zero = arith.constant dense<0.000000e+00> : !sum
    %tile = ttg.local_alloc : () -> !tile
    %0 = ttng.warp_group_dot %tile, %tile, %zero {isAsync = true} : !tile * !tile -> !sum
    %1 = "ttng.warp_group_dot_wait"(%0) <{pendings = 9223372036854775807 : i64}> : (!sum) -> !sum
    %2 = "ttng.warp_group_dot_wait"(%1) <{pendings = -9223372036854775808 : i64}> : (!sum) -> !sum
    "ttng.async_tma_store_wait"() <{pendings = -1 : i32}> : () -> ()
    %3 = "ttg.async_wait"() <{num = 9223372036854775807 : i64}> : () -> !ttg.async.token
    tt.return
  }
}
