tt.func @f() {
  tt.return loc(#loc3)
}
