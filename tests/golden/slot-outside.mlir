// A ring of two slots: one kernel touches a slot by its argument only where the ring has it, the others the third one.
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @guarded(%slot: i32) {
    %c2_i32 = arith.constant 2 : i32
    %cst = arith.constant dense<1.000000e+00> : tensor<128xf32, #blocked>
    %ring = ttg.local_alloc : () -> !ttg.memdesc<2x128xf32, #shared, #smem, mutable>
    %one = ttg.memdesc_index %ring[%slot] : !ttg.memdesc<2x128xf32, #shared, #smem, mutable> -> !ttg.memdesc<128xf32, #shared, #smem, mutable>
    %there = arith.cmpi ult, %slot, %c2_i32 : i32
    scf.if %there {
      ttg.local_store %cst, %one : tensor<128xf32, #blocked> -> !ttg.memdesc<128xf32, #shared, #smem, mutable>
    }
    tt.return
  }
  tt.func public @memory() {
    %c2_i32 = arith.constant 2 : i32
    %cst = arith.constant dense<1.000000e+00> : tensor<128xf32, #blocked>
    %ring = ttg.local_alloc : () -> !ttg.memdesc<2x128xf32, #shared, #smem, mutable>
    %third = ttg.memdesc_index %ring[%c2_i32] : !ttg.memdesc<2x128xf32, #shared, #smem, mutable> -> !ttg.memdesc<128xf32, #shared, #smem, mutable>
    ttg.local_store %cst, %third : tensor<128xf32, #blocked> -> !ttg.memdesc<128xf32, #shared, #smem, mutable>
    tt.return
  }
  tt.func public @barrier() {
    %c2_i32 = arith.constant 2 : i32
    %ring = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64, #shared, #smem, mutable>
    %third = ttg.memdesc_index %ring[%c2_i32] : !ttg.memdesc<2x1xi64, #shared, #smem, mutable> -> !ttg.memdesc<1xi64, #shared, #smem, mutable>
    ttng.init_barrier %third, 1 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    ttng.arrive_barrier %third, 1 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    tt.return
  }
  tt.func public @last(%slot: i32) {
    %cst = arith.constant dense<1.000000e+00> : tensor<32xf32, #blocked>
    %buffer = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #shared, #smem, mutable>
    %part = ttg.memdesc_subview %buffer[%slot] : !ttg.memdesc<128xf32, #shared, #smem, mutable> -> !ttg.memdesc<32xf32, #shared, #smem, mutable>
    ttg.local_store %cst, %part : tensor<32xf32, #blocked> -> !ttg.memdesc<32xf32, #shared, #smem, mutable>
    tt.return
  }
}
