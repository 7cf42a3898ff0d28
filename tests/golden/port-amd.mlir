// Waits in AMD's own terms: one too weak, one that waits for more than it has to, one on the tensor data mover.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
!tile = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!pointers = tensor<64x64x!tt.ptr<f16>, #blocked>
!row = tensor<64x64xf16, #blocked>
!desc = !tt.tensordesc<64x64xf16, #shared>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @amd(%in: !pointers, %desc: !desc) {
    %a = ttg.local_alloc : () -> !tile
    %b = ttg.local_alloc : () -> !tile
    %c = ttg.local_alloc : () -> !tile
    %t0 = ttg.async_copy_global_to_local %in, %a {contiguity = 8 : i32} : !pointers -> !tile
    %t1 = ttg.async_copy_global_to_local %in, %b {contiguity = 8 : i32} : !pointers -> !tile
    %t2 = amdg.async_tdm_copy_global_to_local %desc into %c : !desc -> !tile
    %w0 = amdg.async_wait %t0 {num_inst = 6 : i32}
    %x = ttg.local_load %a token %w0 : !tile -> !row
    %w1 = amdg.async_wait %t0 {num_inst = 0 : i32}
    %y = ttg.local_load %a token %w1 : !tile -> !row
    %w2 = amdg.async_tdm_wait %t2 {num = 0 : i32}
    %z = ttg.local_load %c token %w2 : !tile -> !row
    %w3 = amdg.async_tdm_wait {num = 1 : i32}
    tt.return
  }
}
