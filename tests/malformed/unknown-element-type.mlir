tt.func @f(%a: tensor<128xfp16>) {
  tt.return
}
