// Shared memory is placed, and nothing says whether the barriers are in.
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
!tile = !ttg.memdesc<128xf32, #shared, #smem, mutable>
!row = tensor<128xf32, #line>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.shared = 512 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @missing(%in: !row) -> !row {
    %tile = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !tile loc("kernel.py":2:4)
    ttg.local_store %in, %tile : !row -> !tile loc("kernel.py":3:4)
    %out = ttg.local_load %tile : !tile -> !row loc("kernel.py":4:10)
    tt.return %out : !row
  }
}
