// Stages of 128 bytes.
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#plain = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!bar = !ttg.memdesc<1xi64, #bar, #smem, mutable>
!ring = !ttg.memdesc<3x64xf16, #plain, #smem, mutable>
!tile = !ttg.memdesc<64xf16, #plain, #smem, mutable>
!desc = !tt.tensordesc<64xf16, #plain>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%desc: !desc, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %bar = ttg.local_alloc {allocation.offset = 65536 : i32} : () -> !bar
    ttng.init_barrier %bar, 1 : !bar
    %ring = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ring
    scf.for %i = %c0 to %n step %c1 : i32 {
      %c3 = arith.constant 3 : i32
      %slot = arith.remui %i, %c3 : i32
      %parity = arith.andi %i, %c1 : i32
      %tile = ttg.memdesc_index %ring[%slot] : !ring -> !tile
      ttng.barrier_expect %bar, 128, %true : !bar
      ttng.async_tma_copy_global_to_local %desc[%i] %tile, %bar, %true : !desc, !bar -> !tile
      ttng.wait_barrier %bar, %parity : !bar
    }
    tt.return
  }
}
