tt.func @f(%a: tensor<128xf32, #blocked>) {
  tt.return
}
