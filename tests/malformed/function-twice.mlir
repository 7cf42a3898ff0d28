module {
  tt.func @f() {
    tt.return
  }
  tt.func @f() {
    tt.return
  }
}
