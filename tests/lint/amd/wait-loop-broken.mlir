// Where the branch is not taken only one copy, of four instructions, comes after the one that is waited for.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
!tile = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!pointers = tensor<64x64x!tt.ptr<f16>, #blocked>
!row = tensor<64x64xf16, #blocked>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%in: !pointers, %n: i32, %odd: i1) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = ttg.local_alloc : () -> !tile
    %b = ttg.local_alloc : () -> !tile
    %ta = ttg.async_copy_global_to_local %in, %a {contiguity = 8 : i32} : !pointers -> !tile
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%t = %ta) -> (!ttg.async.token) : i32 {
      %tb = ttg.async_copy_global_to_local %in, %b {contiguity = 8 : i32} : !pointers -> !tile
      scf.if %odd {
        %tc = ttg.async_copy_global_to_local %in, %b {contiguity = 8 : i32} : !pointers -> !tile
      }
      %w = amdg.async_wait %t {num_inst = 8 : i32}
      %x = ttg.local_load %a token %w : !tile -> !row
      scf.yield %tb : !ttg.async.token
    }
    tt.return
  }
}
