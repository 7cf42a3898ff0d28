// The rest of the wait is written in assembly.
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#plain = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!bar = !ttg.memdesc<1xi64, #bar, #smem, mutable>
!tile = !ttg.memdesc<64x64xf16, #rows, #smem, mutable>
!desc = !tt.tensordesc<64x64xf16, #rows>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%desc: !desc, %flag: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %tile = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !tile
    ttng.async_tma_copy_local_to_global %desc[%c0, %c0] %tile : !desc, !tile
    ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
    %rest = tt.elementwise_inline_asm "cp.async.bulk.wait_group 0; // $0" {constraints = "=r", packed_element = 1 : i32, pure = false} -> i32
    %old = tt.atomic_rmw exch, release, gpu, %flag, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32
    tt.return
  }
}
