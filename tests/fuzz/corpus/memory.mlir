#e = #ttg.blocked<{order = [0]}>
tt.func @f(%p: tensor<4x!tt.ptr<f16>, #e>, %m: tensor<4xi1, #e>, %o: tensor<4xf16, #e>, %s: !tt.ptr<i32>, %v: i32) {
  %0 = tt.load %p : tensor<4x!tt.ptr<f16>, #e>
  %1 = tt.load %p, %m, %o cacheModifier = ca evictionPolicy = evict_last {isVolatile = true} : tensor<4x!tt.ptr<f16>, #e>
  tt.store %p, %1, %m evictionPolicy = evict_first cacheModifier = wb : tensor<4x!tt.ptr<f16>, #e>
  %2 = tt.atomic_rmw fadd, acq_rel, gpu, %p, %0, %m : (tensor<4x!tt.ptr<f16>, #e>, tensor<4xf16, #e>, tensor<4xi1, #e>) -> tensor<4xf16, #e>
  %3 = tt.atomic_cas relaxed, cta, %s, %v, %v : (!tt.ptr<i32>, i32, i32) -> i32
  tt.return
}
