// The flag has scope gpu.
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
!ptrs = tensor<128x!tt.ptr<f32>, #line>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%data: !tt.ptr<f32>, %flag: !tt.ptr<i32>) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %ones = arith.constant dense<1.000000e+00> : tensor<128xf32, #line>
    %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #line>
    %base = tt.splat %data : !tt.ptr<f32> -> !ptrs
    %tile = tt.addptr %base, %range : !ptrs, tensor<128xi32, #line>
    %me = tt.get_program_id x : i32
    %writes = arith.cmpi eq, %me, %c0 : i32
    scf.if %writes {
      tt.store %tile, %ones : !ptrs
      %old = tt.atomic_rmw exch, release, gpu, %flag, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32
    } else {
      %there = tt.atomic_poll acquire, gpu, %flag, %c1 : !tt.ptr<i32>, i32 -> i1
      %value = tt.load %tile : !ptrs
    }
    tt.return
  }
}
