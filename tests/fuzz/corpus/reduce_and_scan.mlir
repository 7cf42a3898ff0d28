tt.func @f(%x: tensor<4x8xf32>) {
  %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %2 = arith.maxnumf %a, %b : f32
    tt.reduce.return %2 : f32
  }) : (tensor<4x8xf32>) -> tensor<4xf32>
  %1 = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    %2 = arith.addf %a, %b fastmath<contract,nnan> : f32
    tt.scan.return %2 : f32
  }) {tag = 1 : i32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  tt.return
}
