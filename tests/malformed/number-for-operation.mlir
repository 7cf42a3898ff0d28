tt.func @f(%a: i32) {
  42
  tt.return
}
