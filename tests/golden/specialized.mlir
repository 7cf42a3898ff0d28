// One partition fills a ring of two buffers, another empties it; the default partition waits for both.
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func @ring(%desc: !tt.tensordesc<tensor<64x64xf16, #shared>>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %ring = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
    %full = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #bar, #smem, mutable>
    %empty = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #bar, #smem, mutable>
    %done = ttg.local_alloc {allocation.offset = 65536 : i32} : () -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
    %f0 = ttg.memdesc_index %full[%c0] : !ttg.memdesc<2xi64, #bar, #smem, mutable> -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.init_barrier %f0, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.init_barrier %done, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    %r = ttg.warp_specialize(%ring, %full, %desc, %n, %done) attributes {requestedRegisters = array<i32: 24, 152>}
    default {
      ttng.wait_barrier %done, %c0 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
      ttg.warp_yield %n : i32
    }
    partition0(%b: !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, %f: !ttg.memdesc<2xi64, #bar, #smem, mutable>, %d: !tt.tensordesc<tensor<64x64xf16, #shared>>, %k: i32, %e: !ttg.memdesc<1xi64, #bar, #smem, mutable>) num_warps(1) {
      %zero = arith.constant 0 : i32
      %yes = arith.constant true
      %slot = ttg.memdesc_index %b[%zero] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %ready = ttg.memdesc_index %f[%zero] : !ttg.memdesc<2xi64, #bar, #smem, mutable> -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
      ttng.barrier_expect %ready, 8192, %yes : !ttg.memdesc<1xi64, #bar, #smem, mutable>
      ttng.async_tma_copy_global_to_local %d[%zero, %k] %slot, %ready, %yes : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      ttg.warp_return
    }
    partition1(%b: !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, %f: !ttg.memdesc<2xi64, #bar, #smem, mutable>, %d: !tt.tensordesc<tensor<64x64xf16, #shared>>, %k: i32, %e: !ttg.memdesc<1xi64, #bar, #smem, mutable>) num_warps(4) {
      %zero = arith.constant 0 : i32
      %slot = ttg.memdesc_index %b[%zero] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %ready = ttg.memdesc_index %f[%zero] : !ttg.memdesc<2xi64, #bar, #smem, mutable> -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
      ttng.wait_barrier %ready, %zero deps %slot : !ttg.memdesc<1xi64, #bar, #smem, mutable>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %tile = ttg.local_load %slot : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
      ttng.fence_async_shared {bCluster = false}
      ttng.arrive_barrier %e, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
      ttg.warp_return
    } : (!ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, !ttg.memdesc<2xi64, #bar, #smem, mutable>, !tt.tensordesc<tensor<64x64xf16, #shared>>, i32, !ttg.memdesc<1xi64, #bar, #smem, mutable>) -> i32
    ttng.inval_barrier %f0 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttg.local_dealloc %ring : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
    tt.return
  }
}
