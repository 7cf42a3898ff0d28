module {
}
// -----
module {
  tt.func @f() -> i32 {
    tt.return %x : i32
  }
}
