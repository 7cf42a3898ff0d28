tt.func @f(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>, %s: tensor<16x2xi8>, %u: i1) {
  %0 = tt.dot %a, %a, %c, inputPrecision = tf32 {maxNumImpreciseAcc = 0 : i32} : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %1 = tt.dot_scaled %a scale %s, %a, %c lhs = e4m3 rhs = bf16 {fastMath = true} : tensor<16x16xf16>, tensor<16x2xi8> * tensor<16x16xf16> -> tensor<16x16xf32>
  %2 = ttng.warp_group_dot %a, %a, %c, %u {isAsync = true} : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %3:2 = ttng.warp_group_dot_wait %2, %0 {pendings = 0 : i32} : tensor<16x16xf32>, tensor<16x16xf32>
  tt.return
}
