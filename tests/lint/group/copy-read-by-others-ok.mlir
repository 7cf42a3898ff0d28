// A barrier after the wait.
#line = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#other = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!tile = !ttg.memdesc<512xf32, #shared, #smem, mutable>
!ptrs = tensor<512x!tt.ptr<f32>, #line>
module attributes {ttg.shared = 2048 : i32, "ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%source: !ptrs, %target: tensor<512x!tt.ptr<f32>, #other>) {
    %tile = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !tile
    %copy = ttg.async_copy_global_to_local %source, %tile : !ptrs -> !tile
    %group = ttg.async_commit_group tokens %copy
    %done = ttg.async_wait %group {num = 0 : i32}
    ttg.barrier local
    %value = ttg.local_load %tile token %done : !tile -> tensor<512xf32, #other>
    tt.store %target, %value : tensor<512x!tt.ptr<f32>, #other>

    tt.return
  }
}
