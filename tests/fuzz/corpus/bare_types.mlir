tt.func @f(%m: !ttg.memdesc<2x4xf16, #ttg.s, #ttg.m, mutable>, %i: i32) {
  %0 = ttg.memdesc_index %m[%i] : <2x4xf16, #ttg.s, #ttg.m, mutable> -> <4xf16, #ttg.s, #ttg.m, mutable, 2x4>
  %1 = ttg.local_load %0 : <4xf16, #ttg.s, #ttg.m, mutable, 2x4> -> tensor<4xf16>
  ttg.local_store %1, %0 : tensor<4xf16> -> <4xf16, #ttg.s, #ttg.m, mutable, 2x4>
  tt.return
}
