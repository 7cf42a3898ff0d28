// The wait acquires nothing of what other waves wrote.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
!tile = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!pointers = tensor<64x64x!tt.ptr<f16>, #blocked>
!row = tensor<64x64xf16, #blocked>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
!cell = !ttg.memdesc<1xi64, #bar, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%value: !row) {
    %c0 = arith.constant 0 : i32
    %a = ttg.local_alloc : () -> !tile
    %bar = ttg.local_alloc : () -> !cell
    amdg.init_barrier %bar, 128 : !cell
    ttg.local_store %value, %a : !row -> !tile
    %p = amdg.arrive_barrier %bar, 1 : !cell -> i32
    amdg.wait_barrier %bar, %c0 : !cell
    %x = ttg.local_load %a : !tile -> !row
    tt.return
  }
}
