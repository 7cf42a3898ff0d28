tt.func @f() {
  tt.return loc("kernel.py":12)
}
