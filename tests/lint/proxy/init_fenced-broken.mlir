// One thread initialises the barrier, all threads fence it for the async proxy, and wait for it.
// Wrong: a fence lets nobody wait, so some may look at it before it is initialised.
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bars = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!barrier = !ttg.memdesc<1xi64, #bars, #smem, mutable>
!tile = !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32, ttg.shared = 16392 : i32} {
  tt.func public @kernel() attributes {noinline = false} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %tile = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !tile
    %bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> !barrier
    ttng.init_barrier %bar, 1 : !barrier
    ttng.fence_async_shared {bCluster = false}
    ttng.wait_barrier %bar, %c1 : !barrier

    ttg.barrier local
    ttng.inval_barrier %bar : !barrier
    tt.return
  }
}
