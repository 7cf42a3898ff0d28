#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%flag: !tt.ptr<i32>, %flags: tensor<128x!tt.ptr<i32>, #blocked>, %on: tensor<128xi1, #blocked>, %values: tensor<128xi32, #blocked>, %ratio: f32, %buffer: !ttg.memdesc<128xi32, #shared, #smem, mutable>) {
    %one = arith.constant 1 : i32
    %0 = tt.approx_divf %ratio, %ratio : f32
    tt.atomic_store release, gpu, %flag, %one : !tt.ptr<i32>
    %1 = tt.atomic_load relaxed, sys, %flags, %on : (tensor<128x!tt.ptr<i32>, #blocked>, tensor<128xi1, #blocked>) -> tensor<128xi32, #blocked>
    %2 = tt.atomic_poll acquire, gpu, %flags, %values : tensor<128x!tt.ptr<i32>, #blocked>, tensor<128xi32, #blocked> -> tensor<128xi1, #blocked>
    %3 = ttg.inline_asm "mov.b32 $0, $1;" {constraints = "=r,r", pure = true} %values : (tensor<128xi32, #blocked>) -> tensor<128xi32, #blocked>
    ttg.inline_asm "st.shared.b32 [$0], $1;" {constraints = "r,r", pure = false} %buffer, %one : (!ttg.memdesc<128xi32, #shared, #smem, mutable>, i32) -> ()
    ttng.tmem_wait load
    tti.experimental_gsan_init
    tti.experimental_gsan_init true
    tti.experimental_gsan_atomic_store release, gpu, %flags, %values, %on : tensor<128x!tt.ptr<i32>, #blocked>
    tti.experimental_gsan_atomic_poll acquire, gpu, %flags, %on : tensor<128x!tt.ptr<i32>, #blocked>
    tt.return
  }
}
