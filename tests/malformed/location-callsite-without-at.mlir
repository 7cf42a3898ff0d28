tt.func @f() {
  tt.return loc(callsite("inner" "outer"))
}
