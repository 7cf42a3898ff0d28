// By 128.
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#plain = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!bar = !ttg.memdesc<1xi64, #bar, #smem, mutable>
#packed = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8, fp4Padded = true}>
!tile = !ttg.memdesc<128x64xi8, #packed, #smem, mutable>
!desc = !tt.tensordesc<128x64xi8, #packed>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%desc: !desc, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %bar = ttg.local_alloc {allocation.offset = 65536 : i32} : () -> !bar
    ttng.init_barrier %bar, 1 : !bar
    %at = arith.constant 128 : i32
    %tile = ttg.local_alloc : () -> !tile
    ttng.barrier_expect %bar, 8192, %true : !bar
    ttng.async_tma_copy_global_to_local %desc[%c0, %at] %tile, %bar, %true : !desc, !bar -> !tile
    ttng.wait_barrier %bar, %c0 : !bar
    tt.return
  }
}
