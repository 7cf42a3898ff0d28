tt.func @f(a: i32) {
  tt.return
}
