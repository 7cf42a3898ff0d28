"t.types"() : () -> (i1, si8, ui16, i128, index, none, f16, bf16, f32, f64, tf32, f8E4M3FN, f8E5M2,
  f4E2M1FN, tensor<4x?xf32>, tensor<*xf32>, tensor<f32>, vector<4x[8]xi1>, memref<2x?xi8, affine_map<(d0, d1) -> (d0)>, 3>,
  complex<f32>, tuple<i32, tuple<>>, () -> (), (i32) -> f32, (i32) -> (f32, f32), !tt.ptr<f32>, !tt.ptr<tensor<4xf32>, 3>,
  !ttg.memdesc<2x4xf16, #ttg.shared, #ttg.smem, mutable, 2x8>, !llvm.struct<(i32, ptr<3>)>, !llvm.array<4 x i8>,
  !tt.tensordesc<tensor<4xf32>>, !ttg.async.token, !nvws.aref<[!ttg.memdesc<1x4xf16, #ttg.s, #ttg.m>]>)
