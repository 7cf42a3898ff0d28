// The wait is for the counter of the tensor data mover.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
!tile = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!pointers = tensor<64x64x!tt.ptr<f16>, #blocked>
!row = tensor<64x64xf16, #blocked>
!desc = !tt.tensordesc<64x64xf16, #shared>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%desc: !desc) {
    %a = ttg.local_alloc : () -> !tile
    %t = amdg.async_tdm_copy_global_to_local %desc into %a : !desc -> !tile
    %w = amdg.async_tdm_wait %t {num = 0 : i32}
    %x = ttg.local_load %a token %w : !tile -> !row
    tt.return
  }
}
