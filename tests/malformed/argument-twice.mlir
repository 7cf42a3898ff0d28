tt.func @add(%a: i32, %b: i32, %a: f32) {
  tt.return
}
