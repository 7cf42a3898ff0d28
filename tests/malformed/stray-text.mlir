module {
  hello world
  tt.func @f() {
    tt.return
  }
}
