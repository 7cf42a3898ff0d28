tt.func @f(%a: tensor<8x2xf32>) {
  %x = tt.split %a : tensor<8x2xf32> -> tensor<8xf32>
  tt.return
}
