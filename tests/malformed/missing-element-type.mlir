tt.func @f(%a: tensor<128x64>) {
  tt.return
}
