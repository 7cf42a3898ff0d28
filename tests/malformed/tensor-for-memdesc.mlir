tt.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = ttg.local_load %a : tensor<4xf32> -> tensor<4xf32>
  tt.return %0 : tensor<4xf32>
}
