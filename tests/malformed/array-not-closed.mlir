tt.func @f(%a: tensor<8x4xf32>) {
  %0 = tt.trans %a {order = array<i32: 1, 0} : tensor<8x4xf32> -> tensor<4x8xf32>
  tt.return
}
