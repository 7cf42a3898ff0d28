// A tile is stored into another CTA, and the CTAs meet at a relaxed barrier before it is read.
// Wrong: that publishes nothing.
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
!tile = !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
!values = tensor<128x64xf16, #blocked>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32, "ttg.cluster-dim-x" = 2 : i32, "ttg.cluster-dim-y" = 1 : i32, "ttg.cluster-dim-z" = 1 : i32, ttg.shared = 16384 : i32} {
  tt.func public @kernel() attributes {noinline = false} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %ones = arith.constant dense<1.000000e+00> : !values
    %tile = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !tile
    ttng.cluster_arrive {relaxed = false}
    ttng.cluster_wait
    ttg.remote_shmem_store %ones, rank %c1, %tile : !values -> !tile
    ttng.cluster_barrier {relaxed = true}
    %values = ttg.local_load %tile : !tile -> !values
    ttng.cluster_arrive {relaxed = false}
    ttng.cluster_wait
    tt.return
  }
}
