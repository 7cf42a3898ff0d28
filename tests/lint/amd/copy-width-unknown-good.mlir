// The columns are a range, so that elements lie side by side in memory.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.slice<{dim = 0, parent = #blocked}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
!tile = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!pointers = tensor<64x64x!tt.ptr<f16>, #blocked>
!row = tensor<64x64xf16, #blocked>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @kernel(%base: !tt.ptr<f16>) {
    %a = ttg.local_alloc : () -> !tile
    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #columns>
    %row = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32, #columns> -> tensor<1x64xi32, #blocked>
    %offsets = tt.broadcast %row : tensor<1x64xi32, #blocked> -> tensor<64x64xi32, #blocked>
    %bases = tt.splat %base : !tt.ptr<f16> -> !pointers
    %in = tt.addptr %bases, %offsets : !pointers, tensor<64x64xi32, #blocked>
    %t = ttg.async_copy_global_to_local %in, %a : !pointers -> !tile
    tt.return
  }
}
