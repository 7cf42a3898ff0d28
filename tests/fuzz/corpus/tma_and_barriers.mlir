!b = !ttg.memdesc<1xi64, #s, #m, mutable>
#s = #ttg.swizzled_shared<{vec = 1}>
#m = #ttg.shared_memory
tt.func @f(%d: !tt.tensordesc<4x4xf16>, %i: i32, %bar: !b, %r: !ttg.memdesc<4x4xf16, #s, #m, mutable>, %p: i1) {
  ttng.init_barrier %bar, 1 : !b
  ttng.barrier_expect %bar, 32, %p : !b
  ttng.async_tma_copy_global_to_local %d[%i, %i] %r, %bar, %p : !tt.tensordesc<4x4xf16>, !b -> !ttg.memdesc<4x4xf16, #s, #m, mutable>
  ttng.wait_barrier %bar, %i, %p deps %r, %r {c} : !ttg.memdesc<1xi64, #s, #m, mutable>, !ttg.memdesc<4x4xf16, #s, #m, mutable>, !ttg.memdesc<4x4xf16, #s, #m, mutable>
  ttng.arrive_barrier %bar, 2 : !b
  ttng.fence_async_shared {bCluster = false}
  tt.return
}
