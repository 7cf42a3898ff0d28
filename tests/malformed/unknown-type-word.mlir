tt.func @f(%a: int32) {
  tt.return
}
