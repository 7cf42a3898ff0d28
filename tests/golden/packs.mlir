tt.func @packs(%t: tensor<8x2xf32>) -> tensor<8xf32> {
  %0:2 = tt.split %t : tensor<8x2xf32> -> tensor<8xf32>
  %left, %right = tt.split %t : tensor<8x2xf32> -> tensor<8xf32>
  %1 = arith.addf %0#0, %0#1 : tensor<8xf32>
  %2 = arith.addf %0, %left#0 : tensor<8xf32>
  %3:1 = "one"() : () -> f32
  %4, %5:2, %6 = "four"() : () -> (i1, i2, i3, i4)
  "use"(%4, %5#0, %5#1, %6) : (i1, i2, i3, i4) -> ()
  tt.return %2 : tensor<8xf32>
}
