tt.func @f(%n: i64) {
  %c = arith.constant 1 : i32
  scf.for %i = %c to %n step %c : i32 {
  }
  tt.return
}
