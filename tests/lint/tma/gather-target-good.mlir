// For sm_100.
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#plain = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!bar = !ttg.memdesc<1xi64, #bar, #smem, mutable>
!tile = !ttg.memdesc<32x64xf16, #rows, #smem, mutable>
!desc = !tt.tensordesc<1x64xf16, #rows>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%desc: !desc) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %bar = ttg.local_alloc {allocation.offset = 65536 : i32} : () -> !bar
    ttng.init_barrier %bar, 1 : !bar
    %rows = arith.constant dense<7> : tensor<32xi32>
    %tile = ttg.local_alloc : () -> !tile
    ttng.barrier_expect %bar, 4096, %true : !bar
    ttng.async_tma_gather %desc[%rows, %c0] %tile, %bar, %true : !desc, tensor<32xi32>, i32, !bar, !tile, i1
    ttng.wait_barrier %bar, %c0 : !bar
    tt.return
  }
}
