// The write of an iteration comes after the read of the one before: around the back edge.
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
!tile = !ttg.memdesc<128xf32, #shared, #smem, mutable>
!row = tensor<128xf32, #line>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @carried(%in: !row, %count: i32) -> !row {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %tile = ttg.local_alloc : () -> !tile loc("kernel.py":3:4)
    %sum = scf.for %i = %c0 to %count step %c1 iter_args(%so_far = %in) -> (!row) : i32 {
      ttg.local_store %so_far, %tile : !row -> !tile loc("kernel.py":5:8)
      ttg.barrier local
      %read = ttg.local_load %tile : !tile -> !row loc("kernel.py":6:8)
      %next = arith.addf %so_far, %read : !row
      scf.yield %next : !row
    } loc("kernel.py":4:4)
    tt.return %sum : !row
  }
}
