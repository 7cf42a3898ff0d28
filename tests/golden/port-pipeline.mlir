// Two stages of cp.async in flight, written for NVIDIA: what AMD would wait for.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
!ring = !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
!tile = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!pointers = tensor<64x64x!tt.ptr<f16>, #blocked>
!row = tensor<64x64xf16, #blocked>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.shared = 24576 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @pipeline(%in: !pointers, %out: !pointers, %n: i32, %odd: i1) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %ring = ttg.local_alloc : () -> !ring
    %first = ttg.memdesc_index %ring[%c0] : !ring -> !tile
    %t0 = ttg.async_copy_global_to_local %in, %first {contiguity = 8 : i32} : !pointers -> !tile
    %g0 = ttg.async_commit_group tokens %t0
    %second = ttg.memdesc_index %ring[%c1] : !ring -> !tile
    %t1 = ttg.async_copy_global_to_local %in, %second {contiguity = 8 : i32} : !pointers -> !tile
    %g1 = ttg.async_commit_group tokens %t1
    scf.for %i = %c0 to %n step %c1 : i32 {
      %w = ttg.async_wait {num = 1 : i32}
      %slot = arith.remui %i, %c3 : i32
      %full = ttg.memdesc_index %ring[%slot] : !ring -> !tile
      %x = ttg.local_load %full token %w : !tile -> !row
      tt.store %out, %x : !pointers
      %next = arith.addi %i, %c2 : i32
      %free = arith.remui %next, %c3 : i32
      %empty = ttg.memdesc_index %ring[%free] : !ring -> !tile
      %t = ttg.async_copy_global_to_local %in, %empty {contiguity = 8 : i32} : !pointers -> !tile
      %g = ttg.async_commit_group tokens %t
    }
    scf.if %odd {
      %t = ttg.async_copy_global_to_local %in, %first {contiguity = 8 : i32} : !pointers -> !tile
    }
    %rest = ttg.async_commit_group
    %done = ttg.async_wait {num = 1 : i32}
    %all = ttg.async_wait {num = 0 : i32}
    tt.return
  }
}
