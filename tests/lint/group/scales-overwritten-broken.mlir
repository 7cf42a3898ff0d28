// New scale factors are copied over those that a product in flight reads.
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8}>
#plain = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#bars = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#scales = #ttng.tensor_memory_scales_encoding<>
!a = !ttg.memdesc<128x128xf8E5M2, #shared, #smem, mutable>
!acc = !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>
!scale = !ttg.memdesc<128x4xi8, #scales, #ttng.tensor_memory, mutable>
!bar = !ttg.memdesc<1xi64, #bars, #smem, mutable>
!source = !ttg.memdesc<128x4xi8, #plain, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %a = ttg.local_alloc : () -> !a
    %b = ttg.local_alloc : () -> !a
    %source = ttg.local_alloc : () -> !source
    %bar = ttg.local_alloc : () -> !bar
    ttng.init_barrier %bar, 1 : !bar
    %acc = ttng.tmem_alloc : () -> !acc
    %a_scale = ttng.tmem_alloc : () -> !scale
    %b_scale = ttng.tmem_alloc : () -> !scale
    ttng.tmem_copy %source, %a_scale : !source, !scale
    ttng.tc_gen5_mma_scaled %a, %b, %acc, %a_scale, %b_scale, %true, %true lhs = e5m2 rhs = e5m2, %bar[%true] {is_async} : !a, !a, !acc, !scale, !scale, !bar

    ttng.tmem_copy %source, %a_scale : !source, !scale
    tt.return
  }
}
