// However wide the second copy is, it is four instructions at least.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
!tile = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!pointers = tensor<64x64x!tt.ptr<f16>, #blocked>
!row = tensor<64x64xf16, #blocked>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%in: !pointers {tt.contiguity = dense<[1, 8]> : tensor<2xi32>}) {
    %a = ttg.local_alloc : () -> !tile
    %b = ttg.local_alloc : () -> !tile
    %ta = ttg.async_copy_global_to_local %in, %a : !pointers -> !tile
    %ga = ttg.async_commit_group tokens %ta
    %tb = ttg.async_copy_global_to_local %in, %b : !pointers -> !tile
    %gb = ttg.async_commit_group tokens %tb
    %w = amdg.async_wait %ga {num_inst = 4 : i32}
    %x = ttg.local_load %a token %w : !tile -> !row
    tt.return
  }
}
