tt.func @f() {
  %0 = arith.constant dense<0.0>
  tt.return
}
