// One group is committed, and the wait leaves one pending.
#line = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!tile = !ttg.memdesc<512xf32, #shared, #smem, mutable>
!ptrs = tensor<512x!tt.ptr<f32>, #line>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%data: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #line>
    %from = tt.splat %data : !tt.ptr<f32> -> !ptrs
    %source = tt.addptr %from, %range : !ptrs, tensor<512xi32, #line>
    %to = tt.splat %out : !tt.ptr<f32> -> !ptrs
    %target = tt.addptr %to, %range : !ptrs, tensor<512xi32, #line>
    %tile = ttg.local_alloc : () -> !tile
    %copy = ttg.async_copy_global_to_local %source, %tile : !ptrs -> !tile
    %group = ttg.async_commit_group tokens %copy
    %done = ttg.async_wait %group {num = 1 : i32}
    %value = ttg.local_load %tile token %done : !tile -> tensor<512xf32, #line>
    tt.store %target, %value : !ptrs
    tt.return
  }
}
