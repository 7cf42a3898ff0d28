tt.func @f(%a: tensor<128*64xf32>) {
  tt.return
}
