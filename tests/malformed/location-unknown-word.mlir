tt.func @f() {
  tt.return loc(kernel)
}
