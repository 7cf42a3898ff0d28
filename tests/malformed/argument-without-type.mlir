tt.func @f(%a, %b: i32) {
  tt.return
}
