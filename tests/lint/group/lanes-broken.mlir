// Two warps cannot load all lanes.
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#reg = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [0, 64], [64, 0]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0]], block = []}>
!acc = !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() {
    %acc = ttng.tmem_alloc : () -> !acc
    ttg.warp_specialize(%acc)
    default {
      ttg.warp_yield
    }
    partition0(%sum: !acc) num_warps(2) {
      %value = ttng.tmem_load %sum : !acc -> tensor<128x128xf32, #reg>
      ttg.warp_return
    } : (!acc) -> ()
    tt.return
  }
}
