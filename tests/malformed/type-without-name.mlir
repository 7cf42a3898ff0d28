tt.func @f(%a: !<f32>) {
  tt.return
}
