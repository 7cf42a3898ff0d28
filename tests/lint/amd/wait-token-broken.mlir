// One group is committed after the one that is waited for, and two may be left.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
!tile = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!pointers = tensor<64x64x!tt.ptr<f16>, #blocked>
!row = tensor<64x64xf16, #blocked>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @kernel(%in: !pointers) {
    %a = ttg.local_alloc : () -> !tile
    %b = ttg.local_alloc : () -> !tile
    %ta = ttg.async_copy_global_to_local %in, %a {contiguity = 8 : i32} : !pointers -> !tile
    %ga = ttg.async_commit_group tokens %ta
    %tb = ttg.async_copy_global_to_local %in, %b {contiguity = 8 : i32} : !pointers -> !tile
    %gb = ttg.async_commit_group tokens %tb
    %w = ttg.async_wait %ga {num = 2 : i32}
    %x = ttg.local_load %a token %w : !tile -> !row
    tt.return
  }
}
