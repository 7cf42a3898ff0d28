tt.func @f(%a: !row) {
  tt.return
}
