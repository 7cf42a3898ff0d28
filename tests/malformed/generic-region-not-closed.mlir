tt.func @f(%a: tensor<4xf32>) {
  %0 = "tt.reduce"(%a) <{axis = 0 : i32}> ({
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    tt.reduce.return %s : f32
  } : (tensor<4xf32>) -> f32
  tt.return
}
