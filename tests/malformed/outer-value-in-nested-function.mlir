module {
  %n = arith.constant 4 : i32
  tt.func @f() -> i32 {
    tt.return %n : i32
  }
}
