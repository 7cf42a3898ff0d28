tt.func @f(%a: tensor<8x2xf32>) {
  %x:2 = tt.split %a : tensor<8x2xf32> -> tensor<8xf32>
  %y = arith.addf %x#0, %x#2 : tensor<8xf32>
  tt.return
}
