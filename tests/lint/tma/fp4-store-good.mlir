// Of bytes.
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#plain = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!bar = !ttg.memdesc<1xi64, #bar, #smem, mutable>
#packed = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8}>
!tile = !ttg.memdesc<128x128xi8, #packed, #smem, mutable>
!desc = !tt.tensordesc<128x128xi8, #packed>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%desc: !desc) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %at = arith.constant 0 : i32
    %tile = ttg.local_alloc : () -> !tile
    ttng.async_tma_copy_local_to_global %desc[%c0, %at] %tile : !desc, !tile
    ttng.async_tma_store_wait {pendings = 0 : i32}
    tt.return
  }
}
