tt.func @f(%d: !tt.tensordesc<4x4xf16>, %i: i32, %p: i1, %b: !ttg.memdesc<1xi64, #ttg.s, #ttg.m>, %r: !ttg.memdesc<4x4xf16, #ttg.s, #ttg.m>) {
  ttng.async_tma_copy_global_to_local %d[%i, %i] %r, %b, %p, %i {multicast} : !tt.tensordesc<4x4xf16>, !ttg.memdesc<1xi64, #ttg.s, #ttg.m> -> !ttg.memdesc<4x4xf16, #ttg.s, #ttg.m>
  tt.return
}
