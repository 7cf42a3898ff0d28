// Each of the three hazards, on a straight path; and a kernel that needs nothing.
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
!tile = !ttg.memdesc<128xf32, #shared, #smem, mutable>
!row = tensor<128xf32, #line>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @raw(%in: !row) -> !row {
    %tile = ttg.local_alloc : () -> !tile loc("kernel.py":2:4)
    ttg.local_store %in, %tile : !row -> !tile loc("kernel.py":3:4)
    %out = ttg.local_load %tile : !tile -> !row loc("kernel.py":4:10)
    tt.return %out : !row
  }
  tt.func public @war(%next: !row) -> !row {
    %tile = ttg.local_alloc : () -> !tile
    %out = ttg.local_load %tile : !tile -> !row
    ttg.local_store %next, %tile : !row -> !tile
    tt.return %out : !row
  }
  tt.func public @waw(%first: !row, %second: !row) {
    %tile = ttg.local_alloc : () -> !tile
    ttg.local_store %first, %tile : !row -> !tile
    ttg.local_store %second, %tile : !row -> !tile
    tt.return
  }
  tt.func public @apart(%first: !row, %second: !row) -> !row {
    %left = ttg.local_alloc : () -> !tile
    %right = ttg.local_alloc : () -> !tile
    %out = ttg.local_load %left : !tile -> !row
    ttg.local_store %second, %right : !row -> !tile
    ttg.local_dealloc %left : !tile
    ttg.local_dealloc %right : !tile
    tt.return %out : !row
  }
}
