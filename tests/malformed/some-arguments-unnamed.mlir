tt.func @f(%a: i32, f32) {
  tt.return
}
