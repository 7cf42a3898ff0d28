!t = !ttg.memdesc<128x64xf32, #ttng.tmem, #ttng.tensor_memory, mutable>
!s = !ttg.memdesc<128x64xf16, #ttg.s, #ttg.shared_memory>
tt.func @f(%a: !s, %b: !s, %p: i1, %bar: !ttg.memdesc<1xi64, #ttg.s, #ttg.shared_memory>) {
  %d, %tok = ttng.tmem_alloc : () -> (!t, !ttg.async.token)
  %t0 = ttng.tc_gen5_mma %a, %b, %d[%tok], %p, %p, %bar[%p], %bar[%p] {is_async} : !s, !s, !t, !ttg.memdesc<1xi64, #ttg.s, #ttg.shared_memory>, !ttg.memdesc<1xi64, #ttg.s, #ttg.shared_memory>
  ttng.tc_gen5_mma %a, %b, %d, %p, %p : !s, !s, !t
  %r, %t1 = ttng.tmem_load %d[%t0] : !t -> tensor<128x64xf32>
  %t2 = ttng.tmem_store %r, %d[], %p : tensor<128x64xf32> -> !t
  tt.return
}
