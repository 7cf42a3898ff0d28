tt.func @f(%p: !tt.ptr<f16>, %o: tensor<4xi32>, %m: tensor<4xi1>, %v: tensor<4xf16>, %s: i32) {
  %0 = amdg.buffer_load %p[%o], %m, %v cacheModifier = ca stride = %s : tensor<4xf16>
  amdgpu.buffer_store %0, %p[%o] : tensor<4xf16>
  amdg.memory_counter_wait ds(0) load(3)
  rocdl.sched.barrier 0
  rocdl.sched.barrier none
  tt.return
}
