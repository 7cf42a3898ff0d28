tt.func @f(%a: tensor<4xf32, #>) {
  tt.return
}
