tt.func @f(%a: i32) {
  ttng.inval_barrier %a : i32
  tt.return
}
