#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
!tile = !ttg.memdesc<128xf32, #shared, #smem, mutable>
!row = tensor<128xf32, #line>
!pointers = tensor<128x!tt.ptr<f32>, #line>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @copied(%from: !pointers) -> !row {
    %tile = ttg.local_alloc : () -> !tile loc("kernel.py":2:4)
    %copy = ttg.async_copy_global_to_local %from, %tile : !pointers -> <128xf32, #shared, #smem, mutable> loc("kernel.py":3:4)
    %group = ttg.async_commit_group tokens %copy loc("kernel.py":4:4)
    %done = ttg.async_wait %group {num = 0 : i32} loc("kernel.py":5:4)
    ttg.barrier local loc("kernel.py":6:10)
    %out = ttg.local_load %tile token %done : !tile -> !row loc("kernel.py":6:10)
    tt.return %out : !row
  }
  tt.func public @other_buffer(%from: !pointers) -> !row {
    %tile = ttg.local_alloc : () -> !tile loc("kernel.py":9:4)
    %other = ttg.local_alloc : () -> !tile loc("kernel.py":10:4)
    %copy = ttg.async_copy_global_to_local %from, %tile : !pointers -> <128xf32, #shared, #smem, mutable> loc("kernel.py":11:4)
    %group = ttg.async_commit_group tokens %copy loc("kernel.py":12:4)
    %done = ttg.async_wait %group {num = 0 : i32} loc("kernel.py":13:4)
    %out = ttg.local_load %other : !tile -> !row loc("kernel.py":14:10)
    ttg.local_dealloc %tile : !tile
    ttg.local_dealloc %other : !tile
    tt.return %out : !row
  }
}
