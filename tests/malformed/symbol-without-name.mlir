tt.func @() {
  tt.return
}
