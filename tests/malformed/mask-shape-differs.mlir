tt.func @f(%p: tensor<64x!tt.ptr<f32>>, %m: tensor<32xi1>) {
  %0 = tt.load %p, %m : tensor<64x!tt.ptr<f32>>
  tt.return
}
