// Where the elements begin is an argument, and it is aligned.
#line = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%data: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %stride: i32 {tt.divisibility = 16 : i32}) {
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #line>
    %from = tt.splat %data : !tt.ptr<f16> -> tensor<512x!tt.ptr<f16>, #line>
    %tile = ttg.local_alloc : () -> !ttg.memdesc<512xf16, #shared, #smem, mutable>
    %strides = tt.splat %stride : i32 -> tensor<512xi32, #line>
    %offsets = arith.addi %range, %strides : tensor<512xi32, #line>
    %source = tt.addptr %from, %offsets : tensor<512x!tt.ptr<f16>, #line>, tensor<512xi32, #line>
    %copy = ttg.async_copy_global_to_local %source, %tile : tensor<512x!tt.ptr<f16>, #line> -> !ttg.memdesc<512xf16, #shared, #smem, mutable>
    %group = ttg.async_commit_group tokens %copy
    %done = ttg.async_wait %group {num = 0 : i32}
    tt.return
  }
}
