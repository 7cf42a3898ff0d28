tt.func @f(%a: tensor<128 x f32>) {
  tt.return
}
