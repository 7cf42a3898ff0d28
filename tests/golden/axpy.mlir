// y = a * x + y, 128 elements per program.
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @axpy(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %a: f32, %n: i32) attributes {noinline = false} {
    %size = arith.constant 128 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<128xf32, #blocked>
    %pid = tt.get_program_id x : i32
    %start = arith.muli %pid, %size overflow<nsw> : i32
    %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked>
    %base = tt.splat %start : i32 -> tensor<128xi32, #blocked>
    %offset = arith.addi %base, %range : tensor<128xi32, #blocked>
    %limit = tt.splat %n : i32 -> tensor<128xi32, #blocked>
    %mask = arith.cmpi slt, %offset, %limit : tensor<128xi32, #blocked>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #blocked>
    %xp = tt.addptr %xs, %offset : tensor<128x!tt.ptr<f32>, #blocked>, tensor<128xi32, #blocked>
    %xv = tt.load %xp, %mask, %zero cacheModifier = ca evictionPolicy = evict_last : tensor<128x!tt.ptr<f32>, #blocked>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #blocked>
    %yp = tt.addptr %ys, %offset : tensor<128x!tt.ptr<f32>, #blocked>, tensor<128xi32, #blocked>
    %yv = tt.load %yp, %mask {isVolatile = true} : tensor<128x!tt.ptr<f32>, #blocked>
    %as = tt.splat %a : f32 -> tensor<128xf32, #blocked>
    %product = arith.mulf %as, %xv fastmath<contract> : tensor<128xf32, #blocked>
    %sum = arith.addf %product, %yv : tensor<128xf32, #blocked>
    tt.store %yp, %sum, %mask : tensor<128x!tt.ptr<f32>, #blocked>
    tt.return
  }
}
